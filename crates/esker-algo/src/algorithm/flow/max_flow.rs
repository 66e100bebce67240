//! Maximum flow and minimum cut between two vertices.
//!
//! Each edge lets as much through as its weight, or 1 without weights; an undirected one in either direction.
//! Parallel edges add up. The flow is the most that can go from the source to the target; by the theorem of
//! Ford and Fulkerson the cut, the edges from the vertices that the source still reaches to the others, lets
//! no more through. No cut lets less, so each proves the other.
//!
//! Dinic's algorithm [1] on one thread: levels by breadth-first search, then flows along paths of these
//! levels until each is blocked, O(n^2 m) at worst, and far less on most graphs. All of it is in memory,
//! which is outside the model of O(n) words.
//!
//! Work: the lists once, then that of the paths. Memory: 80 bytes an arc,
//! and 4 ids and 24 bytes a vertex. Reads: all out-lists once, with weights twice.
//!
//! [1] E. Dinitz, "Algorithm for solution of a problem of maximum flow in a network with power estimation",
//!     Soviet Math. Doklady 11, 1970.

use esker_graph::{Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Ranked, need_source, need_target, unit_of};

/// A flow and a cut that proves it greatest.
#[derive(Debug, Clone, PartialEq)]
pub struct MaxFlow {
    /// How much flows. 0 from a vertex to itself.
    pub value: f64,
    /// Whether each vertex is on the side of the source.
    pub source_side: Vec<bool>,
    /// The arcs from the side of the source to the other.
    pub cut_arcs: u64,
    /// Number of rounds.
    pub rounds: usize,
}

/// Bytes of an arc: itself, with room of a list that grows, and twice its target, capacity and twin.
const ARC_BYTES: u64 = 80;

/// Estimates memory, an upper bound, and reads, which are exact.
pub fn estimate(shape: Shape) -> Estimate {
    let id = size_of::<VertexId>() as u64;
    Estimate {
        memory_bytes: shape.num_arcs * ARC_BYTES + shape.num_vertices * (4 * id + 24),
        read_bytes: shape.weighted_list_bytes() * (1 + u64::from(shape.weight_bytes > 0)),
    }
}

/// Collects arcs.
struct CollectArcs;

/// Source, target and capacity.
type CapacityArc = (VertexId, VertexId, f64);

impl<W: Ranked> Visitor<W> for CollectArcs {
    type State = Vec<CapacityArc>;

    const BOXED: bool = true;
    const STOPS: bool = false;

    fn new_state(&self) -> Vec<CapacityArc> {
        Vec::new()
    }

    fn visit(&self, arcs: &mut Vec<CapacityArc>, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let each = piece.targets.iter().zip(piece.weights);
        arcs.extend(each.filter(|(u, _)| **u != v).map(|(&u, weight)| (v, u, weight.as_f64())));
        Flow::More
    }
}

/// What each arc still lets through. Each stands beside its twin, in the other direction.
struct Residual {
    /// Where the arcs of each vertex begin, and where the last end.
    starts: Vec<usize>,
    heads: Vec<VertexId>,
    capacities: Vec<f64>,
    twins: Vec<usize>,
}

impl Residual {
    fn new(n: usize, arcs: &[CapacityArc]) -> Self {
        let mut starts = vec![0; n + 1];
        for &(u, v, _) in arcs {
            starts[u as usize + 1] += 1;
            starts[v as usize + 1] += 1;
        }
        (0..n).for_each(|v| starts[v + 1] += starts[v]);
        let mut places = starts[..n].to_vec();
        let len = 2 * arcs.len();
        let (mut heads, mut capacities, mut twins) = (vec![0; len], vec![0.0; len], vec![0; len]);
        for &(u, v, capacity) in arcs {
            let (at, twin) = (places[u as usize], places[v as usize]);
            places[u as usize] += 1;
            places[v as usize] += 1;
            (heads[at], heads[twin]) = (v, u);
            (twins[at], twins[twin]) = (twin, at);
            capacities[at] = capacity;
        }
        Self { starts, heads, capacities, twins }
    }

    fn tail(&self, arc: usize) -> VertexId {
        self.heads[self.twins[arc]]
    }
}

/// A flow that grows, and what the search for paths keeps.
struct Dinic<'a> {
    run: &'a Run,
    residual: Residual,
    source: VertexId,
    target: VertexId,
    /// The steps of each vertex from the source; [`NONE`] where nothing gets any more.
    levels: Vec<VertexId>,
    /// The next arc of each vertex.
    next: Vec<usize>,
    queue: Vec<VertexId>,
    value: f64,
}

/// Steps between two checks for cancellation.
const UNCHECKED: usize = 1 << 14;

impl Dinic<'_> {
    /// Finds the level of each vertex that the source reaches. Whether the target is one.
    fn set_levels(&mut self) -> bool {
        self.levels.fill(NONE);
        self.levels[self.source as usize] = 0;
        self.queue.clear();
        self.queue.push(self.source);
        let mut at = 0;
        while at < self.queue.len() {
            let u = self.queue[at] as usize;
            at += 1;
            for arc in self.residual.starts[u]..self.residual.starts[u + 1] {
                let v = self.residual.heads[arc];
                if self.residual.capacities[arc] > 0.0 && self.levels[v as usize] == NONE {
                    self.levels[v as usize] = self.levels[u] + 1;
                    self.queue.push(v);
                }
            }
        }
        self.levels[self.target as usize] != NONE
    }

    /// The next arc of `u` to the next level that lets something through.
    fn arc_from(&mut self, u: VertexId) -> Option<usize> {
        let u = u as usize;
        while self.next[u] < self.residual.starts[u + 1] {
            let arc = self.next[u];
            let level = self.levels[self.residual.heads[arc] as usize];
            if self.residual.capacities[arc] > 0.0 && level != NONE && level == self.levels[u] + 1 {
                return Some(arc);
            }
            self.next[u] += 1;
        }
        None
    }

    /// Sends flows along paths of levels until each is blocked.
    fn block(&mut self) -> Result<(), Stop> {
        self.next.copy_from_slice(&self.residual.starts[..self.levels.len()]);
        let (mut path, mut u, mut steps) = (Vec::new(), self.source, 0_usize);
        loop {
            steps += 1;
            if steps.is_multiple_of(UNCHECKED) {
                self.run.check()?;
            }
            if u == self.target {
                u = self.send(&mut path);
            } else if let Some(arc) = self.arc_from(u) {
                path.push(arc);
                u = self.residual.heads[arc];
            } else if let Some(arc) = path.pop() {
                self.levels[u as usize] = NONE;
                u = self.residual.tail(arc);
            } else {
                return Ok(());
            }
        }
    }

    /// Sends as much as a path lets through, and goes back to before its first arc that is full.
    fn send(&mut self, path: &mut Vec<usize>) -> VertexId {
        let residual = &mut self.residual;
        let amount = path.iter().map(|&arc| residual.capacities[arc]).fold(f64::INFINITY, f64::min);
        for &arc in path.iter() {
            residual.capacities[arc] -= amount;
            residual.capacities[residual.twins[arc]] += amount;
        }
        self.value += amount;
        let full = path.iter().position(|&arc| residual.capacities[arc] == 0.0).unwrap_or(0);
        let u = residual.tail(path[full]);
        path.truncate(full);
        u
    }
}

/// Finds the most that can flow from `source` to `target`.
///
/// ```
/// use esker_algo::algorithm::flow::max_flow::max_flow;
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::directed(4, &[(0, 1, 3), (0, 2, 2), (1, 3, 2), (2, 3, 4)])?;
/// let found = max_flow(&csr.graph(), &Run::with_threads(1)?, 0, 3)?;
/// assert_eq!((found.value, found.cut_arcs), (4.0, 2));
/// assert_eq!(found.source_side, [true, true, false, false]);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for a source or target that is not a vertex, and for a weight that is negative or no
/// finite number, or a flow that is none; [`Stop::OverBudget`]; the first list that cannot be read;
/// cancellation.
pub fn max_flow<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    target: VertexId,
) -> Result<MaxFlow, G::Error> {
    let run = &run.begin("flow", estimate(Shape::of(graph)).memory_bytes)?;
    let n = graph.num_vertices();
    need_source(source, n)?;
    need_target(target, n)?;
    run.round(n)?;
    unit_of(graph, run, "send a flow")?;
    let mut arcs = graph.scan(run, Direction::Out, Select::All, &CollectArcs)?.concat();
    // In an order that depends on no thread.
    arcs.sort_unstable_by_key(|&(u, v, capacity)| (u, v, capacity.to_bits()));
    let residual = Residual::new(n, &arcs);
    if source == target {
        let source_side = (0..n).map(|v| vertex(v) == source).collect();
        return Ok(MaxFlow { value: 0.0, source_side, cut_arcs: 0, rounds: run.rounds() });
    }
    let (levels, next, queue) = (vec![NONE; n], vec![0; n], Vec::with_capacity(n));
    let mut dinic = Dinic { run, residual, source, target, levels, next, queue, value: 0.0 };
    while dinic.set_levels() {
        run.round(dinic.queue.len())?;
        dinic.block()?;
    }
    if dinic.value.is_infinite() {
        let reason = "the flow is more than a number of 64 bits holds";
        return Err(Stop::unsuitable(reason.to_owned()).into());
    }
    let source_side: Vec<bool> = dinic.levels.iter().map(|&level| level != NONE).collect();
    let crosses = |&&(u, v, _): &&CapacityArc| source_side[u as usize] && !source_side[v as usize];
    let cut_arcs = arcs.iter().filter(crosses).count() as u64;
    Ok(MaxFlow { value: dinic.value, source_side, cut_arcs, rounds: run.rounds() })
}
