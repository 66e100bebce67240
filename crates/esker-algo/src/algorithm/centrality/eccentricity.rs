//! Eccentricities: for each vertex the steps to the farthest vertex of its component. The greatest is the
//! diameter, the least the radius.
//!
//! A search from s, whose eccentricity is e, bounds that of a vertex v at distance d of s: it is at least the
//! greater of d and e - d, and at most e + d. Vertices whose bounds meet need no search of their own [1]. The
//! next sources are those of greatest upper and of least lower bounds, half of each, and at first those of
//! greatest degree. Searches from 64 sources of each component run together [2], twice: first they find how
//! far each gets, then they set the bounds, so distances are not kept.
//!
//! Work: two searches, O(n + m), for each source; all vertices of a ring are sources. Memory per vertex: 56
//! bytes and up to ten ids. Reads: the lists, for each batch of sources as often as two searches read them.
//! The answer never varies.
//!
//! [1] F. Takes, W. Kosters, "Computing the Eccentricity Distribution of Large Graphs", Algorithms 6, 2013.
//! [2] M. Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", VLDB 2014.

use std::cmp::Reverse;

use esker_graph::{Direction, Graph, NONE, Run, VertexId, vertex};

use crate::algorithm::components::wcc::{WccOptions, unite};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{ManySearches, SEARCHES_MAX, VertexArray, need_undirected};

/// The eccentricities of an undirected graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Eccentricity {
    /// For each vertex the steps to the farthest vertex of its component.
    pub eccentricities: Vec<VertexId>,
    /// The greatest of them; 0 without vertices.
    pub diameter: u64,
    /// The least of them; 0 without vertices.
    pub radius: u64,
    /// Number of components.
    pub components: usize,
    /// Number of vertices from which the graph was searched.
    pub sources: u64,
    /// Number of rounds over all batches of sources.
    pub rounds: usize,
}

/// Estimates memory, an upper bound, and reads, those of a few batches of sources.
pub fn estimate(shape: Shape) -> Estimate {
    const BATCHES: u64 = 4;
    let id_bytes = size_of::<VertexId>() as u64;
    // Labels, bounds, open vertices, their slots, sources with a number each, and how far those get.
    let arrays = shape.num_vertices * (6 * id_bytes + 2 * size_of::<(VertexId, usize)>() as u64);
    Estimate {
        memory_bytes: arrays + ManySearches::bytes(shape.num_vertices),
        read_bytes: shape.list_bytes().saturating_mul(2 * BATCHES),
    }
}

/// What is known of each vertex.
struct Bounds {
    lower: VertexArray,
    upper: VertexArray,
}

impl Bounds {
    fn set(&self, v: VertexId, eccentricity: VertexId) {
        self.lower.set(v, eccentricity);
        self.upper.set(v, eccentricity);
    }

    /// Narrows the bounds of `v`, which is at `distance` from a vertex of this `eccentricity`.
    fn narrow(&self, v: VertexId, eccentricity: VertexId, distance: VertexId) {
        let least = distance.max(eccentricity - distance);
        self.lower.set(v, self.lower.get(v).max(least));
        self.upper.set(v, self.upper.get(v).min(eccentricity + distance));
    }

    fn are_open(&self, v: VertexId) -> bool {
        self.lower.get(v) < self.upper.get(v)
    }
}

/// The sources of a batch.
struct BatchSources {
    /// Each with its number among those of its component.
    starts: Vec<(VertexId, usize)>,
    /// The place of the first source of each component, by the label of the component.
    first: VertexArray,
    /// For each source, by its place in `starts`, the steps to the vertex farthest from it.
    farthest: VertexArray,
}

/// Finds the eccentricities.
///
/// ```
/// use esker_algo::algorithm::centrality::eccentricity::eccentricity;
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::undirected(5, &[(0, 1, ()), (1, 2, ()), (2, 3, ())])?;
/// let found = eccentricity(&csr.graph(), &Run::with_threads(2)?)?;
/// assert_eq!(found.eccentricities, [3, 2, 2, 3, 0]);
/// assert_eq!((found.diameter, found.components), (3, 2));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph; [`esker_graph::Stop::OverBudget`]; the first list
/// that cannot be read; cancellation.
pub fn eccentricity<G: Graph>(graph: &G, run: &Run) -> Result<Eccentricity, G::Error> {
    let run = &run.begin("eccentricities", estimate(Shape::of(graph)).memory_bytes)?;
    need_undirected(graph, "eccentricities")?;
    run.install(|| search(graph, run))
}

fn search<G: Graph>(graph: &G, run: &Run) -> Result<Eccentricity, G::Error> {
    let n = graph.num_vertices();
    let found = unite(graph, run, &WccOptions::default())?;
    let labels = found.labels;
    let filled = |value| VertexArray::filled(run, n, value);
    let bounds = Bounds { lower: filled(0), upper: filled(NONE) };
    let is_isolated = |v: VertexId| graph.degree(Direction::Out, v) == 0;
    (0..n).map(vertex).filter(|&v| is_isolated(v)).for_each(|v| bounds.set(v, 0));
    let mut open: Vec<VertexId> = (0..n).map(vertex).filter(|&v| !is_isolated(v)).collect();
    open.sort_unstable_by_key(|&v| (labels[v as usize], v));
    let (all, mut num_sources) = (open.len() as u64, 0);
    let mut searches = ManySearches::new(run, n);
    let mut sources = BatchSources { starts: Vec::new(), first: filled(0), farthest: filled(0) };
    while !open.is_empty() {
        run.set_done(all - open.len() as u64, all);
        sources.choose(graph, &mut open, &labels, &bounds);
        num_sources += sources.starts.len() as u64;
        sources.search(graph, run, &mut searches, &labels, &bounds)?;
        open.retain(|&v| bounds.are_open(v));
    }
    let eccentricities = bounds.lower.into_vec();
    Ok(Eccentricity {
        diameter: u64::from(eccentricities.iter().copied().max().unwrap_or(0)),
        radius: u64::from(eccentricities.iter().copied().min().unwrap_or(0)),
        eccentricities,
        components: found.components,
        sources: num_sources,
        rounds: run.rounds(),
    })
}

impl BatchSources {
    /// Chooses the next sources of each component among its open vertices, which stand together in `open`.
    fn choose<G: Graph>(&mut self, graph: &G, open: &mut [VertexId], labels: &[VertexId], bounds: &Bounds) {
        const HALF: usize = SEARCHES_MAX / 2;
        let degree = |v: VertexId| Reverse(graph.degree(Direction::Out, v));
        self.starts.clear();
        for part in open.chunk_by_mut(|&a, &b| labels[a as usize] == labels[b as usize]) {
            if part.len() > SEARCHES_MAX {
                part.select_nth_unstable_by_key(HALF, |&v| (Reverse(bounds.upper.get(v)), degree(v), v));
                let rest = &mut part[HALF..];
                rest.select_nth_unstable_by_key(HALF, |&v| (bounds.lower.get(v), degree(v), v));
            }
            let place = self.starts.len();
            self.first.set(labels[part[0] as usize], vertex(place));
            self.starts.extend(part.iter().take(SEARCHES_MAX).enumerate().map(|(number, &v)| (v, number)));
        }
        (0..self.starts.len()).for_each(|place| self.farthest.set(vertex(place), 0));
    }

    /// Finds how far each source gets, then narrows the bounds of all that they reach.
    fn search<G: Graph>(
        &self,
        graph: &G,
        run: &Run,
        searches: &mut ManySearches,
        labels: &[VertexId],
        bounds: &Bounds,
    ) -> Result<(), G::Error> {
        let each_place = |v: VertexId, reaching: u64, f: &dyn Fn(VertexId)| {
            let first = self.first.get(labels[v as usize]);
            let mut left = reaching;
            while left != 0 {
                f(first + vertex(left.trailing_zeros() as usize));
                left &= left - 1;
            }
        };
        // Distances ascend, so the last is the greatest.
        searches.search(graph, run, &self.starts, |v, reaching, distance| {
            each_place(v, reaching, &|place| self.farthest.set(place, vertex(distance as usize)));
        })?;
        for (place, &(source, _)) in self.starts.iter().enumerate() {
            bounds.set(source, self.farthest.get(vertex(place)));
        }
        searches.search(graph, run, &self.starts, |v, reaching, distance| {
            let distance = vertex(distance as usize);
            each_place(v, reaching, &|place| bounds.narrow(v, self.farthest.get(place), distance));
        })
    }
}
