//! Local clustering coefficient, as LDBC Graphalytics defines it [1].
//!
//! The neighbourhood of `v` is the set of vertices other than `v` that have an edge from or to `v`; let `d`
//! be its size. The coefficient of `v` is the number of ordered pairs of neighbours with an edge from the
//! first to the second, divided by `d(d-1)`; 0 if `d < 2`. In an undirected graph an edge counts for both
//! orders of its ends. Self-loops and parallel edges are ignored.
//!
//! Each triangle is found once, as in `triangles`, at the last of its vertices in their order; the others are
//! the first and the middle one. It adds a credit to the count of each vertex: 1, or in a directed graph the
//! number of edges (1 or 2) between the other two. State: an integer count per vertex; each worker has its
//! own counts of the hubs, so that threads do not contend for them. Work: O(m^1.5) in degree order. Memory: 8
//! bytes per vertex for counts and 8 for coefficients; what `triangles` takes; per thread, 8 bytes per hub;
//! for a directed graph, twice the hub rows and marks, and one byte per edge. Reads: as `triangles`, and
//! every list once more. Counts are integers, so the result does not depend on threads.
//!
//! [1] A. Iosup et al., "The LDBC Graphalytics Benchmark", arXiv:2011.15028, section 2.3.6.

use esker_graph::{Direction, Lists, NONE, Run, VertexId, vertex};

use crate::algorithm::cohesion::triangles::{CountingOrder, begin, bound, hub_bytes_max, num_hubs};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    BitLine, EarlierNeighbours, HubAdjacency, InPlaceLists, LINE_BITS, Oriented, OrientedOptions, VectorLoop,
    VertexArray, VertexValues, bit, clear_word, set_bit, with_vectors,
};

/// Options of [`lcc`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LccOptions {
    /// The order in which vertices are taken.
    pub order: CountingOrder,
}

/// Local clustering coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct Lcc {
    /// The coefficient of each vertex, from 0 to 1.
    pub coefficients: Vec<f64>,
    /// The mean coefficient; 0 without vertices.
    pub average: f64,
    /// Triangles of the undirected simple graph that underlies the graph.
    pub triangles: u64,
    /// Whether the lists were copied and renumbered by degree.
    pub renumbered: bool,
}

/// Estimates memory and reads on `threads` threads. Memory is an upper bound, for [`CountingOrder::Auto`] of
/// either choice; reads are exact with a copy and a lower bound in place.
pub fn estimate(shape: Shape, options: &LccOptions, threads: usize) -> Estimate {
    let by_degree = options.order != CountingOrder::Given;
    let copied = by_degree || shape.directed;
    let lists = if shape.directed { 2 } else { 1 };
    Estimate {
        memory_bytes: bound(options.order, |by_degree| memory_bytes(shape, by_degree, threads)),
        read_bytes: shape.list_bytes() * lists * if copied { 3 } else { 2 },
    }
}

fn memory_bytes(shape: Shape, by_degree: bool, threads: usize) -> u64 {
    let (n, arcs) = (shape.num_vertices, shape.num_arcs);
    let id = size_of::<VertexId>() as u64;
    let sets = if shape.directed { 2 } else { 1 };
    let copy = if by_degree || shape.directed {
        let orientation = OrientedOptions { by_degree, mutual: shape.directed };
        Oriented::<esker_graph::Stop>::memory_bytes(n, arcs, shape.directed, orientation)
    } else {
        0
    };
    let longest = if by_degree { n.min((2 * arcs).isqrt() + 1) } else { n.min(arcs) };
    let hubs = hub_bytes_max(shape);
    let hub_counts = (hubs * 16).isqrt() * 8;
    let worker = (n / 8 + hubs.isqrt() / 2 + 72) * sets + longest * (id + sets - 1) + hub_counts;
    16 * n + copy + hubs * sets + threads as u64 * worker
}

/// The coefficients and the number of triangles.
fn compute<G: Lists, E: EarlierNeighbours<Error = G::Error>, const DIRECTED: bool>(
    graph: &G,
    lists: &E,
    run: &Run,
    hubs: usize,
) -> Result<(Vec<f64>, u64), G::Error> {
    let n = graph.num_vertices();
    let rows = HubRows {
        any: HubAdjacency::new(lists, run, hubs, false)?,
        mutual: if DIRECTED { HubAdjacency::new(lists, run, hubs, true)? } else { HubAdjacency::none() },
    };
    let counts = VertexValues::<u64>::filled(run, n, 0);
    let finder = TriangleFinder::<E, DIRECTED> { lists, run, rows: &rows, counts: &counts };
    let workers = run.measured().share_ranges(
        n,
        GRAIN,
        || LccWorker::new(n, hubs, DIRECTED),
        |worker, range| range.map(vertex).try_for_each(|v| finder.at(v, worker)),
    )?;
    for worker in &workers {
        for (u, &count) in worker.hub_counts.iter().enumerate() {
            counts.add_exclusive(vertex(u), count);
        }
    }
    let triangles = workers.iter().map(|worker| worker.triangles).sum();
    drop(workers);
    Ok((coefficients(graph, lists, run, &counts)?, triangles))
}

/// Vertices per unit of parallel work.
const GRAIN: usize = 64;

/// Adjacency rows of the hubs: for any edge, and (in a directed graph only) for edges in both directions.
struct HubRows {
    any: HubAdjacency,
    mutual: HubAdjacency,
}

/// The earlier neighbours of one vertex as bits, over the hubs or over all vertices; `mutual` as in
/// [`HubRows`].
struct NeighbourMarks {
    any: Vec<BitLine>,
    mutual: Vec<BitLine>,
}

impl NeighbourMarks {
    fn new(len: usize, directed: bool) -> Self {
        let lines = len.div_ceil(LINE_BITS);
        Self {
            any: vec![BitLine::default(); lines],
            mutual: vec![BitLine::default(); if directed { lines } else { 0 }],
        }
    }

    #[inline(always)]
    fn set<const DIRECTED: bool>(&mut self, list: &[VertexId], mutual: &[u8]) {
        for (i, &u) in list.iter().enumerate() {
            set_bit(&mut self.any, u);
            if DIRECTED && mutual[i] != 0 {
                set_bit(&mut self.mutual, u);
            }
        }
    }

    #[inline(always)]
    fn clear<const DIRECTED: bool>(&mut self, list: &[VertexId]) {
        for &u in list {
            clear_word(&mut self.any, u);
            if DIRECTED {
                clear_word(&mut self.mutual, u);
            }
        }
    }
}

/// The state of one worker.
struct LccWorker {
    /// The earlier neighbours of the vertex at hand.
    list: Vec<VertexId>,
    /// For each of them, in a directed graph, whether edges lead both ways: 1 or 0.
    mutual: Vec<u8>,
    among_hubs: NeighbourMarks,
    among_all: NeighbourMarks,
    /// This worker's credits of the hubs. Other vertices are credited in a shared array.
    hub_counts: Vec<u64>,
    triangles: u64,
}

impl LccWorker {
    fn new(n: usize, hubs: usize, directed: bool) -> Self {
        Self {
            list: Vec::new(),
            mutual: Vec::new(),
            among_hubs: NeighbourMarks::new(hubs, directed),
            among_all: NeighbourMarks::new(n, directed),
            hub_counts: vec![0; hubs],
            triangles: 0,
        }
    }
}

/// Finds triangles and credits their corners.
struct TriangleFinder<'a, E, const DIRECTED: bool> {
    lists: &'a E,
    run: &'a Run,
    rows: &'a HubRows,
    counts: &'a VertexValues<u64>,
}

impl<E: EarlierNeighbours, const DIRECTED: bool> TriangleFinder<'_, E, DIRECTED> {
    /// Credits the triangles whose last vertex is `v`.
    fn at(&self, v: VertexId, worker: &mut LccWorker) -> Result<(), E::Error> {
        let LccWorker { list, mutual: both, among_hubs, among_all, hub_counts, triangles } = worker;
        list.clear();
        both.clear();
        self.lists.with_earlier(v, |earlier, mutual| {
            list.extend_from_slice(earlier);
            both.extend_from_slice(mutual);
        })?;
        list.dedup();
        if list.len() < 2 {
            return Ok(());
        }
        self.run.check()?;
        let in_hubs = list.partition_point(|&u| (u as usize) < self.rows.any.len());
        let mut credit = with_vectors(CreditAmongHubs::<DIRECTED> {
            rows: self.rows,
            list: &list[..in_hubs],
            mutual: both,
            marks: among_hubs,
            counts: hub_counts,
            v,
        });
        if in_hubs < list.len() {
            among_all.set::<DIRECTED>(list, both);
            for i in in_hubs.max(1)..list.len() {
                self.run.check()?;
                let weight = 1 + u64::from(DIRECTED && both[i] != 0);
                let found = self.lists.with_earlier(list[i], |others, mutual| {
                    self.beyond_hubs(others, mutual, among_all, weight, hub_counts)
                })?;
                credit.add(&found);
                if found.middle > 0 {
                    self.counts.add(list[i], found.middle);
                }
            }
            among_all.clear::<DIRECTED>(list);
        }
        *triangles += credit.triangles;
        if credit.last > 0 {
            self.counts.add(v, credit.last);
        }
        Ok(())
    }

    /// For a middle vertex that is not a hub and has the earlier neighbours `others`, credits the first
    /// vertex of each triangle and returns the credits of the other two.
    fn beyond_hubs(
        &self,
        others: &[VertexId],
        mutual: &[u8],
        marks: &NeighbourMarks,
        weight: u64,
        hub_counts: &mut [u64],
    ) -> Credit {
        let mut credit = Credit::default();
        let mut last = NONE;
        for (k, &w) in others.iter().enumerate() {
            if w == last || bit(&marks.any, w) == 0 {
                continue;
            }
            last = w;
            credit.triangles += 1;
            credit.last += 1 + u64::from(DIRECTED && mutual[k] != 0);
            credit.middle += 1 + if DIRECTED { bit(&marks.mutual, w) } else { 0 };
            match hub_counts.get_mut(w as usize) {
                Some(count) => *count += weight,
                None => _ = self.counts.add(w, weight),
            }
        }
        credit
    }
}

/// Credits of the last and the middle vertex, summed over a set of triangles.
#[derive(Default)]
struct Credit {
    triangles: u64,
    last: u64,
    middle: u64,
}

impl Credit {
    #[inline(always)]
    fn add(&mut self, other: &Self) {
        self.triangles += other.triangles;
        self.last += other.last;
        self.middle += other.middle;
    }
}

/// Credits the triangles of `v` whose other two vertices are hubs.
struct CreditAmongHubs<'a, const DIRECTED: bool> {
    rows: &'a HubRows,
    list: &'a [VertexId],
    mutual: &'a [u8],
    marks: &'a mut NeighbourMarks,
    counts: &'a mut [u64],
    v: VertexId,
}

/// Single loads that cost about as much as the AND of one line.
const PROBES_PER_LINE: usize = 3;

impl<const DIRECTED: bool> VectorLoop for CreditAmongHubs<'_, DIRECTED> {
    type Output = Credit;

    #[inline(always)]
    fn run(self) -> Credit {
        let Self { rows, list, mutual: both, marks, counts, v } = self;
        let is_hub = (v as usize) < rows.any.len();
        if !is_hub {
            marks.set::<DIRECTED>(list, both);
        }
        let any = if is_hub { rows.any.row(v) } else { &*marks.any };
        let mutual = match (DIRECTED, is_hub) {
            (false, _) => &[],
            (true, true) => rows.mutual.row(v),
            (true, false) => &*marks.mutual,
        };
        let mut credit = Credit::default();
        for i in 1..list.len() {
            let u = list[i];
            let (u_any, u_mutual) =
                (rows.any.row(u), if DIRECTED { rows.mutual.row(u) } else { &[] as &[BitLine] });
            let weight = 1 + u64::from(DIRECTED && both[i] != 0);
            let found = if i < u_any.len() * PROBES_PER_LINE {
                by_probes::<DIRECTED>(&list[..i], mutual, u_any, u_mutual, weight, counts)
            } else {
                by_lines::<DIRECTED>(any, mutual, u_any, u_mutual, weight, counts)
            };
            counts[u as usize] += found.middle;
            credit.add(&found);
        }
        if !is_hub {
            marks.clear::<DIRECTED>(list);
        }
        credit
    }
}

/// Credits the vertices of `list` that are in the row of the middle vertex `u`, by a load for each.
#[inline(always)]
fn by_probes<const DIRECTED: bool>(
    list: &[VertexId],
    mutual: &[BitLine],
    u_any: &[BitLine],
    u_mutual: &[BitLine],
    weight: u64,
    counts: &mut [u64],
) -> Credit {
    let mut credit = Credit::default();
    for &w in list {
        let hit = bit(u_any, w);
        counts[w as usize] += hit * weight;
        credit.triangles += hit;
        if DIRECTED {
            credit.last += hit + bit(u_mutual, w);
            credit.middle += hit + (hit & bit(mutual, w));
        }
    }
    if !DIRECTED {
        (credit.last, credit.middle) = (credit.triangles, credit.triangles);
    }
    credit
}

/// Credits the vertices that are in the rows of both the last vertex and the middle vertex `u`, by the AND of
/// the rows.
#[inline(always)]
fn by_lines<const DIRECTED: bool>(
    any: &[BitLine],
    mutual: &[BitLine],
    u_any: &[BitLine],
    u_mutual: &[BitLine],
    weight: u64,
    counts: &mut [u64],
) -> Credit {
    let mut credit = Credit::default();
    for (l, (a, b)) in any.iter().zip(u_any).enumerate() {
        for k in 0..8 {
            let mut word = a.0[k] & b.0[k];
            let hits = u64::from(word.count_ones());
            credit.triangles += hits;
            if DIRECTED {
                credit.last += hits + u64::from((word & u_mutual[l].0[k]).count_ones());
                credit.middle += hits + u64::from((word & mutual[l].0[k]).count_ones());
            }
            while word != 0 {
                counts[l * LINE_BITS + k * 64 + word.trailing_zeros() as usize] += weight;
                word &= word - 1;
            }
        }
    }
    if !DIRECTED {
        (credit.last, credit.middle) = (credit.triangles, credit.triangles);
    }
    credit
}

/// The coefficient of a vertex with `neighbours` neighbours and `linked` edges between them. An undirected
/// edge counts for both orders of its ends.
pub(crate) fn coefficient(linked: u64, neighbours: usize, directed: bool) -> f64 {
    let (scale, d) = (if directed { 1.0 } else { 2.0 }, neighbours as f64);
    if linked == 0 { 0.0 } else { scale * linked as f64 / (d * (d - 1.0)) }
}

/// The inverse of [`coefficient`]: the number of edges between the neighbours. Rounding makes it exact up to
/// 50 bits.
pub(crate) fn linked_of(coefficient: f64, neighbours: VertexId, directed: bool) -> u64 {
    let (scale, d) = (if directed { 1.0 } else { 2.0 }, neighbours as f64);
    if neighbours < 2 { 0 } else { (coefficient * (d * (d - 1.0)) / scale).round() as u64 }
}

/// The coefficients, from the numbers of edges between neighbours.
fn coefficients<G: Lists, E: EarlierNeighbours<Error = G::Error>>(
    graph: &G,
    lists: &E,
    run: &Run,
    counts: &VertexValues<u64>,
) -> Result<Vec<f64>, G::Error> {
    let n = graph.num_vertices();
    let coefficients = VertexValues::<f64>::filled(run, n, 0.0);
    run.share_ranges(n, 256, Vec::new, |buffer, range| {
        for v in range.map(vertex).filter(|&v| counts.get(v) > 0) {
            run.check()?;
            let original = lists.original(v);
            let neighbours = num_neighbours(graph, original, buffer)?;
            coefficients.set(original, coefficient(counts.get(v), neighbours, graph.is_directed()));
        }
        Ok::<(), G::Error>(())
    })?;
    Ok(coefficients.into_vec())
}

/// The number of distinct neighbours of each vertex in either direction.
pub(crate) fn numbers_of_neighbours<G: Lists>(graph: &G, run: &Run) -> Result<Vec<VertexId>, G::Error> {
    let numbers = VertexArray::filled(run, graph.num_vertices(), 0);
    run.share_ranges(graph.num_vertices(), 256, Vec::new, |buffer, range| {
        for v in range.map(vertex) {
            run.check()?;
            numbers.set(v, vertex(num_neighbours(graph, v, buffer)?));
        }
        Ok::<(), G::Error>(())
    })?;
    Ok(numbers.into_vec())
}

/// The number of distinct neighbours of `v` in either direction, excluding itself.
fn num_neighbours<G: Lists>(graph: &G, v: VertexId, buffer: &mut Vec<VertexId>) -> Result<usize, G::Error> {
    let distinct = |list: &[VertexId]| {
        let mut last = v;
        list.iter().filter(|&&u| u != v && std::mem::replace(&mut last, u) != u).count()
    };
    if !graph.is_directed() {
        return graph.with_list(Direction::Out, v, |list, _| distinct(list));
    }
    buffer.clear();
    graph.with_list(Direction::Out, v, |list, _| buffer.extend_from_slice(list))?;
    graph.with_list(Direction::In, v, |list, _| buffer.extend_from_slice(list))?;
    buffer.sort_unstable();
    Ok(distinct(buffer))
}

/// Computes the coefficient of every vertex.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph without in-edges;
/// [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn lcc<G: Lists>(graph: &G, run: &Run, options: &LccOptions) -> Result<Lcc, G::Error> {
    let shape = Shape::of(graph);
    let (run, renumber) = begin(graph, run, options.order, "local clustering coefficient", |by_degree| {
        memory_bytes(shape, by_degree, run.threads())
    })?;

    let run = &run;
    let hubs = num_hubs(graph, run, hub_bytes_max(shape))?;
    run.round(graph.num_vertices())?;
    let (coefficients, triangles) = if renumber || graph.is_directed() {
        let orientation = OrientedOptions { by_degree: renumber, mutual: graph.is_directed() };
        let lists = Oriented::new(graph, run, orientation)?;
        if graph.is_directed() {
            compute::<G, _, true>(graph, &lists, run, hubs)?
        } else {
            compute::<G, _, false>(graph, &lists, run, hubs)?
        }
    } else {
        compute::<G, _, false>(graph, &InPlaceLists(graph), run, hubs)?
    };
    // `sum` of no coefficients would be -0.
    let average = coefficients.iter().fold(0.0, |sum, one| sum + one) / coefficients.len().max(1) as f64;
    Ok(Lcc { coefficients, average, triangles, renumbered: renumber })
}
