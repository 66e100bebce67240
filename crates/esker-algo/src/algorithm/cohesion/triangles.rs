//! Triangle counting: the number of triangles in the undirected simple graph that underlies a graph.
//!
//! Directions, self-loops and parallel edges are ignored. Each triangle {w < u < v} is found once, at `v`, by
//! intersecting the earlier neighbours of `v` with those of `u` [1]. The first vertices have adjacency rows
//! of bits (`HubAdjacency`): there, two long lists are intersected by AND and population count at up to 512
//! bits an instruction, and short ones by single loads. Other lists are probed against a bit set of the
//! neighbours of `v`.
//!
//! The cost depends on the order of the vertices. By descending degree, lists of earlier neighbours have at
//! most sqrt(2m) entries [2]. An undirected graph in a suitable order is read in place; otherwise (see
//! `CountingOrder`) the algorithm works on a copy. State: a count and a scratch bit set per worker. Work:
//! O(m^1.5) in degree order, divided by up to 512. Memory: rows of at most 64 MiB and at most the size of the
//! lists; per thread, n/8 bytes and one id per neighbour; for a copy, one id per edge plus 16 bytes and four
//! ids per vertex. Reads: in place, every list once for its own vertex, and lists beyond the hubs once more
//! per later neighbour; with a copy, every list twice. The result does not depend on threads.
//!
//! [1] M. Latapy, "Main-memory triangle computations for very large (sparse (power-law)) graphs", TCS
//!     407, 2008.
//! [2] T. Schank, D. Wagner, "Finding, counting and listing all triangles in large graphs", WEA 2005.

use esker_graph::{BATCH_LEN, Lists, Run, Stop, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    BitLine, EarlierNeighbours, HubAdjacency, InPlaceLists, Oriented, OrientedOptions, VectorLoop, bit,
    clear_word, full_degree, need_in_edges, renumbering_pays, set_bit, with_vectors,
};

/// The order of vertices for algorithms that intersect lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CountingOrder {
    /// By degree, on a copy, if a sample of the lists shows that it pays and the copy fits the memory limit;
    /// otherwise as numbered in the graph.
    #[default]
    Auto,
    /// As numbered in the graph.
    Given,
    /// By descending degree, on a copy.
    Degree,
}

/// Options of [`triangles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TrianglesOptions {
    /// The order in which vertices are taken.
    pub order: CountingOrder,
}

/// The result of a triangle count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangles {
    /// Number of triangles.
    pub triangles: u64,
    /// Whether the lists were copied and renumbered by degree.
    pub renumbered: bool,
    /// Number of vertices that had rows of bits.
    pub hubs: usize,
}

/// Estimates memory and reads on `threads` threads. Memory is an upper bound, for [`CountingOrder::Auto`] of
/// either choice; reads are exact with a copy and a lower bound in place.
pub fn estimate(shape: Shape, options: &TrianglesOptions, threads: usize) -> Estimate {
    let by_degree = options.order != CountingOrder::Given;
    let copied = by_degree || shape.directed;
    let lists = if shape.directed { 2 } else { 1 };
    Estimate {
        memory_bytes: bound(options.order, |by_degree| memory_bytes(shape, by_degree, threads)),
        read_bytes: shape.list_bytes() * lists * if copied { 2 } else { 1 },
    }
}

/// The most memory for any order that a run may choose: in place, the longest list may be longer.
pub(crate) fn bound(order: CountingOrder, memory_bytes: impl Fn(bool) -> u64) -> u64 {
    match order {
        CountingOrder::Auto => memory_bytes(true).max(memory_bytes(false)),
        CountingOrder::Given => memory_bytes(false),
        CountingOrder::Degree => memory_bytes(true),
    }
}

fn memory_bytes(shape: Shape, by_degree: bool, threads: usize) -> u64 {
    let (n, arcs) = (shape.num_vertices, shape.num_arcs);
    let id = size_of::<VertexId>() as u64;
    let copy = if by_degree || shape.directed {
        Oriented::<Stop>::memory_bytes(n, arcs, shape.directed, OrientedOptions { by_degree, mutual: false })
    } else {
        0
    };
    let longest = if by_degree { n.min((2 * arcs).isqrt() + 1) } else { n.min(arcs) };
    let hubs = hub_bytes_max(shape);
    copy + hubs + threads as u64 * (n / 8 + 8 + longest * id + hubs.isqrt() / 2 + 64)
}

/// The most bytes for rows of hubs: no more than the lists, and no more than fits a last-level cache.
pub(crate) fn hub_bytes_max(shape: Shape) -> u64 {
    shape.list_bytes().min(64 << 20)
}

/// Vertices with shorter lists get no row of bits.
const HUB_DEGREE_MIN: usize = 32;

/// The number of vertices that get rows of bits, within `bytes`.
pub(crate) fn num_hubs<G: Lists>(graph: &G, run: &Run, bytes: u64) -> Result<usize, Stop> {
    let n = graph.num_vertices();
    let worth = run.share_ranges(
        n,
        1 << 14,
        || 0,
        |count, range| {
            *count += range.filter(|&v| full_degree(graph, vertex(v)) >= HUB_DEGREE_MIN).count();
            Ok::<(), Stop>(())
        },
    )?;
    Ok(worth.iter().sum::<usize>().min(HubAdjacency::len_within(bytes)))
}

/// Whether the first `count` vertices have more neighbours than others: rows of bits of any vertices are read
/// too rarely to pay.
fn begins_with_hubs<G: Lists>(graph: &G, count: usize) -> bool {
    let arcs: usize = (0..count).map(|v| full_degree(graph, vertex(v))).sum();
    let all = graph.num_arcs() as f64 * if graph.is_directed() { 2.0 } else { 1.0 };
    arcs as f64 > 1.25 * all * count as f64 / graph.num_vertices().max(1) as f64
}

/// Decides whether to renumber vertices, and begins the computation with the memory for that choice.
pub(crate) fn begin<G: Lists>(
    graph: &G,
    run: &Run,
    order: CountingOrder,
    what: &str,
    memory_bytes: impl Fn(bool) -> u64,
) -> Result<(Run, bool), G::Error> {
    need_in_edges(graph, what)?;
    let wanted = match order {
        CountingOrder::Auto => renumbering_pays(graph)?,
        CountingOrder::Given => false,
        CountingOrder::Degree => true,
    };
    match run.begin(what, memory_bytes(wanted)) {
        Err(Stop::OverBudget { .. }) if wanted && order == CountingOrder::Auto => {
            Ok((run.begin(what, memory_bytes(false))?, false))
        }
        begun => Ok((begun?, wanted)),
    }
}

/// Vertices per unit of parallel work.
const GRAIN: usize = 64;

fn count<E: EarlierNeighbours>(lists: &E, run: &Run, hubs: usize) -> Result<u64, E::Error> {
    let hubs = HubAdjacency::new(lists, run, hubs, false)?;
    let counter = TriangleCounter { lists, run, hubs };
    let sums = run.measured().share_ranges(
        lists.num_vertices(),
        GRAIN,
        || (0, TriangleScratch::new(lists.num_vertices(), counter.hubs.len())),
        |(sum, scratch), range| {
            for v in range.map(vertex) {
                *sum += counter.at(v, scratch)?;
            }
            Ok::<(), E::Error>(())
        },
    )?;
    Ok(sums.iter().map(|(sum, _)| sum).sum())
}

/// The state of one worker: the earlier neighbours of its vertex as a list, as bits over hubs, as bits over
/// all vertices.
struct TriangleScratch {
    list: Vec<VertexId>,
    row: Vec<BitLine>,
    marks: Vec<u64>,
}

impl TriangleScratch {
    fn new(n: usize, hubs: usize) -> Self {
        Self {
            list: Vec::new(),
            row: vec![BitLine::default(); hubs.div_ceil(crate::primitive::LINE_BITS)],
            marks: vec![0; n.div_ceil(64)],
        }
    }
}

/// Counts triangles by their last vertex.
struct TriangleCounter<'a, E> {
    lists: &'a E,
    run: &'a Run,
    hubs: HubAdjacency,
}

impl<E: EarlierNeighbours> TriangleCounter<'_, E> {
    /// Triangles whose last vertex is `v`.
    fn at(&self, v: VertexId, scratch: &mut TriangleScratch) -> Result<u64, E::Error> {
        let TriangleScratch { list, row, marks } = scratch;
        let mut few = [0; FEW];
        let len = self.lists.with_earlier(v, |earlier, _| {
            if earlier.len() <= FEW {
                few.iter_mut().zip(earlier).for_each(|(few, &u)| *few = u);
            } else {
                list.clear();
                list.extend_from_slice(earlier);
            }
            earlier.len()
        })?;
        if len <= FEW {
            return self.of_few(&few[..len]);
        }
        list.dedup();
        self.run.check()?;
        let in_hubs = list.partition_point(|&u| (u as usize) < self.hubs.len());
        let mut count = with_vectors(CountAmongHubs { hubs: &self.hubs, list: &list[..in_hubs], row, v });
        if in_hubs < list.len() {
            count += self.beyond_hubs(list, in_hubs, marks)?;
        }
        Ok(count)
    }

    /// Triangles of a vertex with few earlier neighbours, which may repeat: each is looked up in the lists of
    /// the others.
    #[inline(always)]
    fn of_few(&self, list: &[VertexId]) -> Result<u64, E::Error> {
        let mut count = 0;
        for i in (1..list.len()).filter(|&i| list[i] != list[i - 1]) {
            count += self.lists.with_earlier(list[i], |others, _| {
                let is_new = |k: &usize| *k == 0 || list[*k] != list[*k - 1];
                let among = |&k: &usize| match others.len() {
                    0..=SEARCH_RATIO => others.contains(&list[k]),
                    _ => others.binary_search(&list[k]).is_ok(),
                };
                (0..i).filter(is_new).filter(among).count() as u64
            })?;
        }
        Ok(count)
    }

    /// Triangles whose middle vertex is not a hub.
    fn beyond_hubs(&self, list: &[VertexId], in_hubs: usize, marks: &mut [u64]) -> Result<u64, E::Error> {
        for &u in list {
            marks[u as usize / 64] |= 1 << (u % 64);
        }
        let mut count = 0;
        for first in (in_hubs.max(1)..list.len()).step_by(BATCH_LEN) {
            self.run.check()?;
            let batch = first..list.len().min(first + BATCH_LEN);
            self.lists.touch(&list[batch.clone()]);
            for i in batch {
                count += self.lists.with_earlier(list[i], |others, _| common(&list[..i], others, marks))?;
            }
        }
        for &u in list {
            marks[u as usize / 64] = 0;
        }
        Ok(count)
    }
}

/// Earlier neighbours of a vertex for which marks do not pay.
const FEW: usize = 4;

/// How many times longer a list must be for binary searches in it to beat a pass over it.
const SEARCH_RATIO: usize = 16;

/// Size of the intersection of `list`, whose entries are distinct, with `others`, which may repeat. `marks`
/// has the bits of `list` and possibly other bits that are not in `others`.
fn common(list: &[VertexId], others: &[VertexId], marks: &[u64]) -> u64 {
    if list.len() * SEARCH_RATIO < others.len() {
        return list.iter().filter(|w| others.binary_search(w).is_ok()).count() as u64;
    }
    let mut count = 0;
    let mut last = esker_graph::NONE;
    for &w in others {
        count += (marks[w as usize / 64] >> (w % 64) & 1) & u64::from(w != last);
        last = w;
    }
    count
}

/// Counts the triangles of `v` whose other two vertices are hubs.
struct CountAmongHubs<'a> {
    hubs: &'a HubAdjacency,
    list: &'a [VertexId],
    row: &'a mut [BitLine],
    v: VertexId,
}

/// Single loads that cost about as much as the AND of one line.
const PROBES_PER_LINE: usize = 3;

impl VectorLoop for CountAmongHubs<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Self { hubs, list, row, v } = self;
        let is_hub = (v as usize) < hubs.len();
        if !is_hub {
            for &u in list {
                set_bit(row, u);
            }
        }
        let own = if is_hub { hubs.row(v) } else { &*row };
        let mut count = 0;
        for i in 1..list.len() {
            let other = hubs.row(list[i]);
            if i < other.len() * PROBES_PER_LINE {
                count += list[..i].iter().map(|&w| bit(other, w)).sum::<u64>();
            } else {
                count += and_count(own, other);
            }
        }
        if !is_hub {
            for &u in list {
                clear_word(row, u);
            }
        }
        count
    }
}

/// Number of bits set in both rows.
#[inline(always)]
fn and_count(a: &[BitLine], b: &[BitLine]) -> u64 {
    let mut counts = [0; 8];
    for (a, b) in a.iter().zip(b) {
        for (k, count) in counts.iter_mut().enumerate() {
            *count += u64::from((a.0[k] & b.0[k]).count_ones());
        }
    }
    counts.iter().sum()
}

/// Counts the triangles.
///
/// ```
/// use esker_algo::algorithm::cohesion::triangles::{TrianglesOptions, triangles};
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ()), (3, 1, ())])?;
/// let found = triangles(&csr.graph(), &Run::with_threads(2)?, &TrianglesOptions::default())?;
/// assert_eq!(found.triangles, 2);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph without in-edges; [`Stop::OverBudget`]; the first list that
/// cannot be read; cancellation.
pub fn triangles<G: Lists>(graph: &G, run: &Run, options: &TrianglesOptions) -> Result<Triangles, G::Error> {
    let shape = Shape::of(graph);
    let (run, renumber) = begin(graph, run, options.order, "triangle count", |by_degree| {
        memory_bytes(shape, by_degree, run.threads())
    })?;
    let run = &run;
    let mut hubs = num_hubs(graph, run, hub_bytes_max(shape))?;
    if !renumber && !begins_with_hubs(graph, hubs) {
        hubs = 0;
    }
    run.round(graph.num_vertices())?;
    let triangles = if renumber || graph.is_directed() {
        let orientation = OrientedOptions { by_degree: renumber, mutual: false };
        count(&Oriented::new(graph, run, orientation)?, run, hubs)?
    } else {
        count(&InPlaceLists(graph), run, hubs)?
    };
    Ok(Triangles { triangles, renumbered: renumber, hubs })
}
