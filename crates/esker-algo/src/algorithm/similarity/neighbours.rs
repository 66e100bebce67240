//! Similarity of all vertices to one: how much their neighbours are the same.
//!
//! The neighbours of a vertex are the distinct vertices at the other ends of its edges, in either direction,
//! without itself. N is those of the source, N' those of another vertex.
//!
//! * Jaccard: |N and N'| / |N or N'|.
//! * Overlap: |N and N'| / min(|N|, |N'|).
//! * Cosine: |N and N'| / root(|N| |N'|), also called Salton's.
//! * Adamic-Adar [1]: the sum of 1 / ln |N(w)| over the common neighbours w.
//! * Resource allocation [2]: the sum of 1 / |N(w)|.
//! * Preferential attachment: |N| |N'|.
//!
//! Only vertices with a common neighbour are looked at, except by preferential attachment. Sums are made in
//! the order of the common neighbours, so the answer never varies. One thread does it: the neighbourhood of
//! one vertex is small.
//!
//! Work: the lengths of the lists of the neighbours of the source, and of those of the vertices that they
//! lead to; for preferential attachment O(m). Memory: 8 bytes a vertex of the answer and 8 of counts, an id a
//! vertex that is met, and the entries of the longest two neighbourhoods. Reads: these lists.
//!
//! [1] L. Adamic, E. Adar, "Friends and neighbors on the Web", Social Networks 25, 2003.
//! [2] T. Zhou, L. Lü, Y.-C. Zhang, "Predicting missing links via local information", Eur. Phys. J. B 71,
//!     2009.

use esker_graph::{Direction, Lists, Run, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{need_in_edges, need_source, neighbourhood_directions};

/// How similarity is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SimilarityMeasure {
    /// Common neighbours as a share of all.
    #[default]
    Jaccard,
    /// As a share of the neighbours of the vertex that has fewer.
    Overlap,
    /// As a share of the geometric mean.
    Cosine,
    /// Common neighbours, those of few neighbours more.
    AdamicAdar,
    /// The same, more so.
    ResourceAllocation,
    /// The product of the numbers of neighbours.
    PreferentialAttachment,
}

impl SimilarityMeasure {
    /// What a common neighbour of `degree` neighbours counts.
    fn part(self, degree: usize) -> f64 {
        match self {
            Self::AdamicAdar => 1.0 / (degree as f64).ln(),
            Self::ResourceAllocation => 1.0 / degree as f64,
            _ => 1.0,
        }
    }

    /// The similarity of vertices with `a` and `b` neighbours.
    fn score(self, common: f64, a: usize, b: usize) -> f64 {
        let (a, b) = (a as f64, b as f64);
        match self {
            Self::Jaccard => common / (a + b - common),
            Self::Overlap => common / a.min(b),
            Self::Cosine => common / (a * b).sqrt(),
            Self::AdamicAdar | Self::ResourceAllocation => common,
            Self::PreferentialAttachment => a * b,
        }
    }

    /// Whether the score depends on the number of neighbours of the vertex.
    fn needs_degree(self) -> bool {
        !matches!(self, Self::AdamicAdar | Self::ResourceAllocation)
    }
}

/// Vertices between two checks for cancellation.
const UNCHECKED: usize = 1 << 8;

/// Estimates memory, an upper bound, and reads, those of the whole graph.
pub fn estimate(shape: Shape) -> Estimate {
    let id = size_of::<VertexId>() as u64;
    let entries = (shape.num_arcs * if shape.directed { 2 } else { 1 }).min(2 * shape.num_vertices);
    Estimate {
        memory_bytes: shape.num_vertices * (16 + 2 * id) + 4 * entries * id,
        read_bytes: shape.list_bytes() * if shape.directed { 2 } else { 1 },
    }
}

/// Reads neighbourhoods.
struct Neighbourhoods<'a, G> {
    graph: &'a G,
    directions: &'static [Direction],
}

impl<G: Lists> Neighbourhoods<'_, G> {
    /// The neighbours of a vertex, ascending.
    fn read(&self, v: VertexId, into: &mut Vec<VertexId>) -> Result<(), G::Error> {
        into.clear();
        for &direction in self.directions {
            self.graph.with_list(direction, v, |list, _| {
                into.extend(list.iter().copied().filter(|&u| u != v));
            })?;
        }
        into.sort_unstable();
        into.dedup();
        Ok(())
    }
}

/// Finds the similarity of each vertex to `source`; NaN for the source itself, and where nothing is common.
///
/// ```
/// use esker_algo::algorithm::similarity::neighbours::{SimilarityMeasure, similarity};
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::undirected(4, &[(0, 1, ()), (0, 2, ()), (3, 1, ())])?;
/// let found = similarity(&csr.graph(), &Run::with_threads(1)?, 0, SimilarityMeasure::Jaccard)?;
/// assert_eq!(found[3], 0.5); // 1 is common to both, 2 is not
/// assert!(found[0].is_nan() && found[1].is_nan());
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a source that is not a vertex, and a directed graph stored without
/// in-edges; [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn similarity<G: Lists>(
    graph: &G,
    run: &Run,
    source: VertexId,
    measure: SimilarityMeasure,
) -> Result<Vec<f64>, G::Error> {
    let run = &run.begin("similarity", estimate(Shape::of(graph)).memory_bytes)?;
    let n = graph.num_vertices();
    need_source(source, n)?;
    need_in_edges(graph, "similarity")?;
    run.round(n)?;
    let of = Neighbourhoods { graph, directions: neighbourhood_directions(graph) };
    let (mut own, mut list) = (Vec::new(), Vec::new());
    of.read(source, &mut own)?;
    let mut scores = vec![f64::NAN; n];
    let mut met = Vec::new();
    if measure == SimilarityMeasure::PreferentialAttachment {
        met.extend((0..n).map(vertex).filter(|&v| v != source));
        met.iter().for_each(|&v| scores[v as usize] = 0.0);
    } else {
        for (i, &w) in own.iter().enumerate() {
            if i.is_multiple_of(UNCHECKED) {
                run.check()?;
            }
            of.read(w, &mut list)?;
            let part = measure.part(list.len());
            for &u in list.iter().filter(|&&u| u != source) {
                let score = &mut scores[u as usize];
                if score.is_nan() {
                    *score = 0.0;
                    met.push(u);
                }
                *score += part;
            }
        }
    }
    for (i, &u) in met.iter().enumerate() {
        if i.is_multiple_of(UNCHECKED) {
            run.check()?;
        }
        if measure.needs_degree() {
            of.read(u, &mut list)?;
            scores[u as usize] = measure.score(scores[u as usize], own.len(), list.len());
        }
    }
    Ok(scores)
}
