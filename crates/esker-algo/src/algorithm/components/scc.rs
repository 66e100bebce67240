//! Strongly connected components: two vertices are in the same component if paths lead from each to the
//! other.
//!
//! Three steps, as in the Multistep method [1]. *Trim*: a vertex without in-edges or without out-edges is a
//! component by itself; removing it may free others. Counters of remaining edges make this linear, without
//! rounds. *Forward-backward* [2]: the vertices reachable from a pivot of high degree that also reach the
//! pivot form one component, usually the giant one. This repeats while it removes a large fraction of the
//! remaining vertices. *Tarjan's* algorithm, in Pearce's form [3] and without recursion, handles the rest:
//! the vertices reached by the last pivot and the others at the same time, as no component contains vertices
//! of both.
//!
//! The first two steps use all threads, the third at most two: a graph with many components of medium size
//! takes the time of a good serial algorithm. Without in-edges the third step does everything on one thread.
//!
//! State: the label of each vertex's component, `NONE` until it is known. Work: O(n + m). Memory: at most 6
//! ids and two bytes per vertex, and n/4 bytes. Reads: every list at most twice in each direction, plus
//! random reads of the lists that forward-backward searches reach; Tarjan's step reads a list again after
//! each new vertex found in it. The result does not depend on threads.
//!
//! [1] G. Slota, S. Rajamanickam, K. Madduri, "BFS and Coloring-Based Parallel Algorithms for Strongly
//!     Connected Components and Related Problems", IPDPS 2014.
//! [2] L. Fleischer, B. Hendrickson, A. Pınar, "On identifying strongly connected components in
//!     parallel", 2000.
//! [3] D. Pearce, "A space-efficient algorithm for finding strongly connected components", IPL 116, 2016.

use std::sync::atomic::{AtomicUsize, Ordering};

use esker_graph::{Bitmap, Direction, Lists, NONE, Run, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{VertexArray, reach, vertex_count};

/// Strongly connected components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scc {
    /// The least vertex of each vertex's component.
    pub components: Vec<VertexId>,
    /// Number of components.
    pub count: usize,
    /// Number of vertices of the largest component.
    pub largest: usize,
    /// Vertices that trimming found to be components by themselves.
    pub trimmed: usize,
    /// Number of pivots whose components were found.
    pub pivots: usize,
    /// Vertices left to the serial step.
    pub serial: usize,
}

/// Estimates memory and reads; both are upper bounds for two pivots. Further pivots read the lists they
/// reach.
pub fn estimate(shape: Shape) -> Estimate {
    let n = shape.num_vertices;
    Estimate {
        memory_bytes: n * (6 * size_of::<VertexId>() as u64 + 2) + 2 * (n / 8 + 8),
        read_bytes: shape.list_bytes() * if shape.in_edges { 6 } else { 1 },
    }
}

/// Vertices per unit of parallel work.
const GRAIN: usize = 1 << 10;

/// Makes a component of each vertex without in-edges or without out-edges among the remaining vertices,
/// repeatedly. Returns their number.
fn trim<G: Lists>(graph: &G, run: &Run, components: &VertexArray) -> Result<usize, G::Error> {
    let n = graph.num_vertices();
    let degrees = |direction| VertexArray::from_fn(run, n, |v| vertex(graph.degree(direction, vertex(v))));
    // Remaining edges of each vertex, to be lowered by a scan of the other direction.
    let remaining = [(Direction::Out, degrees(Direction::In)), (Direction::In, degrees(Direction::Out))];
    let workers = run.share_ranges(
        n,
        GRAIN,
        || (0, Vec::new()),
        |(trimmed, open): &mut (usize, Vec<VertexId>), range| {
            for v in range.map(vertex) {
                if remaining.iter().any(|(_, edges)| edges.get(v) == 0) && components.claim(v, NONE, v) {
                    open.push(v);
                }
                while let Some(v) = open.pop() {
                    run.check()?;
                    *trimmed += 1;
                    for (direction, edges) in &remaining {
                        graph.with_list(*direction, v, |list, _| {
                            let freed =
                                |&&u: &&VertexId| edges.add(u, NONE) == 1 && components.claim(u, NONE, u);
                            open.extend(list.iter().filter(freed));
                        })?;
                    }
                }
            }
            Ok::<(), G::Error>(())
        },
    )?;
    Ok(workers.iter().map(|(trimmed, _)| trimmed).sum())
}

/// With fewer remaining vertices, everything is left to the serial step.
const PIVOT_VERTICES_MIN: usize = 1 << 12;
/// Another pivot is tried if the last component had at least one in this many of the remaining vertices.
const PIVOT_SHARE: usize = 8;

/// Finds the components of pivots of high degree while that removes a large fraction of the `left` vertices.
/// Returns the number of pivots. `forward` becomes the set reachable from the last pivot.
fn forward_backward<G: Lists>(
    graph: &G,
    run: &Run,
    components: &VertexArray,
    forward: &mut Bitmap,
    mut left: usize,
) -> Result<usize, G::Error> {
    let mut pivots = 0;
    let mut backward = Bitmap::new(graph.num_vertices());
    while left >= PIVOT_VERTICES_MIN {
        run.round(left)?;
        let Some(pivot) = pivot(graph, run, components)? else { break };
        forward.clear();
        backward.clear();
        reach(graph, run, Direction::Out, pivot, forward, |v| components.get(v) == NONE)?;
        // Vertices in `forward` have no component yet.
        reach(graph, run, Direction::In, pivot, &backward, |v| forward.get(v))?;
        let label = backward.iter().next().unwrap_or(pivot);
        let found = vertex_count(run, graph.num_vertices(), |v| {
            let inside = backward.get(v);
            if inside {
                components.set(v, label);
            }
            inside
        })?;
        pivots += 1;
        if found < left / PIVOT_SHARE {
            break;
        }
        left -= found;
    }
    Ok(pivots)
}

/// The vertex without a component that has the largest product of degrees, the least one on ties.
fn pivot<G: Lists>(graph: &G, run: &Run, components: &VertexArray) -> Result<Option<VertexId>, G::Error> {
    let product = |v| graph.degree(Direction::Out, v) as u128 * graph.degree(Direction::In, v) as u128;
    let best = run.share_ranges(
        graph.num_vertices(),
        GRAIN,
        || None,
        |best, range| {
            let alive = range.map(vertex).filter(|&v| components.get(v) == NONE);
            *best = alive.map(|v| (product(v), std::cmp::Reverse(v))).max().max(*best);
            Ok::<(), G::Error>(())
        },
    )?;
    Ok(best.into_iter().flatten().max().map(|(_, std::cmp::Reverse(v))| v))
}

/// Finds the components of all vertices that have none yet: those in `forward` and the others at the same
/// time.
fn finish<G: Lists>(
    graph: &G,
    run: &Run,
    components: &VertexArray,
    forward: &Bitmap,
) -> Result<(), G::Error> {
    let n = graph.num_vertices();
    let indices = VertexArray::filled(run, n, 0);
    run.share(
        2,
        || (),
        |(), part| {
            let inside = |v| components.get(v) == NONE && forward.get(v) == (part == 1);
            let mut tarjan = Tarjan::new(graph, run, components, &indices, inside);
            (0..n).map(vertex).try_for_each(|v| tarjan.search(v))
        },
    )?;
    Ok(())
}

/// Tarjan's algorithm on a subset of the vertices.
///
/// The index of a vertex is 0 until it is found. Then it is its number in order of discovery among the
/// vertices with incomplete components, lowered to that of the earliest such vertex known to be reachable
/// from it.
struct Tarjan<'a, G, I> {
    graph: &'a G,
    run: &'a Run,
    components: &'a VertexArray,
    indices: &'a VertexArray,
    /// Whether a vertex is in the subset and has no component yet.
    inside: I,
    /// The path from the root of the search to the current vertex.
    path: Vec<VertexId>,
    /// For each vertex of the path, whether no earlier vertex is known to be reachable from it.
    is_root: Vec<bool>,
    /// Vertices that the path has left and whose components are incomplete.
    pending: Vec<VertexId>,
    /// Number of vertices on the path or pending.
    found: VertexId,
}

/// Vertices visited between two checks for cancellation.
const VERTICES_UNCHECKED: VertexId = 1 << 12;

impl<'a, G: Lists, I: Fn(VertexId) -> bool> Tarjan<'a, G, I> {
    fn new(
        graph: &'a G,
        run: &'a Run,
        components: &'a VertexArray,
        indices: &'a VertexArray,
        inside: I,
    ) -> Self {
        let (path, is_root, pending) = (Vec::new(), Vec::new(), Vec::new());
        Self { graph, run, components, indices, inside, path, is_root, pending, found: 0 }
    }

    /// Completes the components of all vertices that are reachable from `root`.
    fn search(&mut self, root: VertexId) -> Result<(), G::Error> {
        if root.is_multiple_of(VERTICES_UNCHECKED) {
            self.run.check()?;
        }
        if self.indices.get(root) != 0 || !(self.inside)(root) {
            return Ok(());
        }
        self.enter(root);
        let mut after = None;
        let mut steps = 0;
        while let Some(&v) = self.path.last() {
            steps += 1;
            if steps % VERTICES_UNCHECKED == 0 {
                self.run.check()?;
            }
            match self.next_unfound(v, after)? {
                Some(u) => {
                    self.enter(u);
                    after = None;
                }
                None => {
                    self.leave(v);
                    // The list of the previous vertex was scanned up to `v`.
                    after = Some(v);
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, v: VertexId) {
        self.found += 1;
        self.indices.set(v, self.found);
        self.path.push(v);
        self.is_root.push(true);
    }

    /// The first undiscovered neighbour of `v`, at or after `after` if given. The discovered ones before it
    /// lower the index of `v`.
    fn next_unfound(&mut self, v: VertexId, after: Option<VertexId>) -> Result<Option<VertexId>, G::Error> {
        let (indices, inside) = (self.indices, &self.inside);
        let mut lowest = indices.get(v);
        let next = self.graph.with_list(Direction::Out, v, |list, _| {
            let start = after.map_or(0, |last| list.partition_point(|&u| u < last));
            for &u in list[start..].iter().filter(|&&u| inside(u)) {
                match indices.get(u) {
                    0 => return Some(u),
                    index => lowest = lowest.min(index),
                }
            }
            None
        })?;
        if lowest < indices.get(v) {
            indices.set(v, lowest);
            *self.is_root.last_mut().expect("v is on the path") = false;
        }
        Ok(next)
    }

    /// Backtracks from `v`, the last vertex of the path. Completes its component if no earlier vertex is
    /// reachable.
    fn leave(&mut self, v: VertexId) {
        self.path.pop();
        if !self.is_root.pop().expect("as long as the path") {
            self.pending.push(v);
            return;
        }
        let index = self.indices.get(v);
        let members = self.pending.iter().rev().take_while(|&&u| self.indices.get(u) >= index).count();
        let members = self.pending.len() - members..;
        let label = self.pending[members.clone()].iter().copied().fold(v, VertexId::min);
        for u in self.pending.drain(members).chain([v]) {
            self.components.set(u, label);
            self.found -= 1;
        }
    }
}

/// Number of vertices of the largest component.
fn largest(run: &Run, components: &VertexArray) -> Result<usize, esker_graph::Stop> {
    let sizes = VertexArray::filled(run, components.len(), 0);
    let largest = AtomicUsize::new(0);
    run.share_ranges(
        components.len(),
        GRAIN * 16,
        || (),
        |(), range| {
            // Consecutive vertices are often in the same component: one addition per stretch.
            let mut rest = range.map(|v| components.get(vertex(v))).peekable();
            while let Some(label) = rest.next() {
                let mut stretch = 1;
                while rest.next_if_eq(&label).is_some() {
                    stretch += 1;
                }
                let size = sizes.add(label, stretch) + stretch;
                largest.fetch_max(size as usize, Ordering::Relaxed);
            }
            Ok::<(), esker_graph::Stop>(())
        },
    )?;
    Ok(largest.into_inner())
}

/// Finds the strongly connected components; in an undirected graph, the connected components.
///
/// ```
/// use esker_algo::algorithm::components::scc::scc;
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::directed(4, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ())])?;
/// let found = scc(&csr.graph(), &Run::with_threads(2)?)?;
/// assert_eq!((found.count, found.largest), (2, 3));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn scc<G: Lists>(graph: &G, run: &Run) -> Result<Scc, G::Error> {
    let n = graph.num_vertices();
    let run = &run.begin("strongly connected components", estimate(Shape::of(graph)).memory_bytes)?;
    let components = VertexArray::filled(run, n, NONE);
    let mut forward = Bitmap::new(n);
    let (mut trimmed, mut pivots) = (0, 0);
    if graph.has(Direction::In) {
        run.round(n)?;
        trimmed = trim(graph, run, &components)?;
        pivots = forward_backward(graph, run, &components, &mut forward, n - trimmed)?;
    }
    let serial = vertex_count(run, n, |v| components.get(v) == NONE)?;
    if serial > 0 {
        run.round(serial)?;
        finish(graph, run, &components, &forward)?;
    }
    let count = vertex_count(run, n, |v| components.get(v) == v)?;
    let largest = largest(run, &components)?;
    Ok(Scc { components: components.into_vec(), count, largest, trimmed, pivots, serial })
}
