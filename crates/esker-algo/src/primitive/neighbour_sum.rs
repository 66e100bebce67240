//! Sums over neighbours: every vertex gives a share to each neighbour and receives the sum of its neighbours' shares.
//!
//! Pulls along in-edges where they are kept, else pushes along out-edges. The sum of a list that comes in one piece is a sum of doubles in
//! list order. A worker that holds a vertex alone adds up its pieces, in doubles, in a block of vertices that fits its cache. When the
//! worker leaves the block, it finishes the vertices whose lists are complete. The remaining pieces are summed in fixed-point, so results
//! are bit-equal for any number of threads. Graphs that hand over their lists in parts all over a scan use [`Flows`].
//!
//! Memory: see [`NeighbourSum::vertex_bytes`].

use std::marker::PhantomData;

use esker_graph::{
    Bitmap, Direction, Flow, Graph, Patch, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use super::array::VertexValues;
use super::flows::{FlowWorker, Flows, from_fixed, to_fixed};

/// Vertices of a block that a worker adds up: their sums fit a first- or second-level cache.
const BLOCK_LEN: usize = 1 << 13;
/// Arcs of a piece that a worker adds up in a block, at most: a block counts arcs in 32 bits.
const LEN_MAX: usize = u32::MAX as usize;
/// Vertices in one unit of work without lists.
const GRAIN: usize = 1 << 14;

/// How precisely shares are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// 32 bits: a relative error of 2^-24 at most.
    Single,
    /// 64 bits.
    Double,
}

enum Shares {
    Single(VertexValues<f32>),
    Double(VertexValues<f64>),
}

impl Shares {
    fn new(run: &Run, n: usize, precision: Precision) -> Self {
        match precision {
            Precision::Single => Self::Single(VertexValues::filled(run, n, 0.0)),
            Precision::Double => Self::Double(VertexValues::filled(run, n, 0.0)),
        }
    }

    #[inline(always)]
    fn get(&self, v: VertexId) -> f64 {
        match self {
            Self::Single(values) => f64::from(values.get(v)),
            Self::Double(values) => values.get(v),
        }
    }

    #[inline(always)]
    fn set(&self, v: VertexId, share: f64) {
        match self {
            Self::Single(values) => values.set(v, share as f32),
            Self::Double(values) => values.set(v, share),
        }
    }

    #[inline(always)]
    fn sum_over(&self, vertices: &[VertexId]) -> f64 {
        match self {
            Self::Single(values) => values.sum_over(vertices),
            Self::Double(values) => values.sum_over(vertices),
        }
    }
}

/// Where shares and sums lie.
enum Memory {
    /// Shares of this round and of the next. `open`: the vertices that no worker finishes during a scan, for no list comes for them or it
    /// comes to several workers; `sums`: theirs, fixed-point, zero between rounds.
    Apart { now: Shares, next: Shares, sums: VertexValues<u64>, open: Bitmap },
    /// Share and sum of each vertex side by side.
    Paired(Flows),
}

/// The shares that vertices give, and the sums that they receive.
pub(crate) struct NeighbourSum<'g, G> {
    graph: &'g G,
    memory: Memory,
}

impl NeighbourSum<'_, ()> {
    /// Bytes a vertex, besides a bit.
    pub(crate) fn vertex_bytes(scattered: bool, precision: Precision) -> u64 {
        match (scattered, precision) {
            (true, _) => 16,
            (false, Precision::Single) => 16,
            (false, Precision::Double) => 24,
        }
    }
}

impl<'g, G: Graph> NeighbourSum<'g, G> {
    /// Shares of zero.
    pub(crate) fn new(graph: &'g G, run: &Run, precision: Precision) -> Self {
        let n = graph.num_vertices();
        if graph.is_scattered() {
            return Self { graph, memory: Memory::Paired(Flows::new(run, n)) };
        }
        let open = Bitmap::new(n);
        let is_open = |v| !graph.has(Direction::In) || graph.degree(Direction::In, v) == 0;
        (0..n).map(vertex).filter(|&v| is_open(v)).for_each(|v| open.insert_alone(v));
        let (now, next) = (Shares::new(run, n, precision), Shares::new(run, n, precision));
        Self { graph, memory: Memory::Apart { now, next, sums: VertexValues::filled(run, n, 0), open } }
    }

    /// Whether [`NeighbourSum::share`] returns the share as it was given, to 2^-62.
    pub(crate) fn keeps_shares(&self) -> bool {
        matches!(self.memory, Memory::Paired(_))
    }

    /// The share that `v` gives in this round; once `v` is finished, in the next.
    #[inline(always)]
    pub(crate) fn share(&self, v: VertexId) -> f64 {
        match &self.memory {
            Memory::Apart { now, .. } => now.get(v),
            Memory::Paired(flows) => from_fixed(flows.given(v)),
        }
    }

    /// Sets the share that `v` gives in the next round; in 0..4.
    #[inline(always)]
    pub(crate) fn give(&self, v: VertexId, share: f64) {
        match &self.memory {
            Memory::Apart { next, .. } => next.set(v, share),
            Memory::Paired(flows) => flows.give(v, to_fixed(share)),
        }
    }

    /// A value for each vertex and its share, in the memory of the shares where possible.
    pub(crate) fn into_values(self, f: impl Fn(VertexId, f64) -> f64) -> Vec<f64> {
        match self.memory {
            Memory::Apart { now, .. } => {
                (0..self.graph.num_vertices()).map(|v| f(vertex(v), now.get(vertex(v)))).collect()
            }
            Memory::Paired(flows) => flows.into_given(f),
        }
    }

    /// One round: calls `finish` with every vertex and the sum that it received, once each, in parallel. `finish` gives the share of the
    /// next round. The states of all workers.
    ///
    /// # Errors
    /// As [`Graph::scan`].
    pub(crate) fn round<T: Default + Send>(
        &mut self,
        run: &Run,
        finish: impl Fn(&Self, &mut T, VertexId, f64) + Sync,
    ) -> Result<Vec<T>, G::Error> {
        let (graph, n) = (self.graph, self.graph.num_vertices());
        let pulls = graph.has(Direction::In);
        if let Memory::Apart { now, next, .. } = &mut self.memory {
            std::mem::swap(now, next);
        }
        let this = &*self;
        let mut totals = Vec::new();
        match &this.memory {
            Memory::Paired(flows) => {
                if pulls {
                    let workers = graph.scan(run, Direction::In, Select::All, &PullPaired(flows))?;
                    workers.into_iter().for_each(|mut worker| worker.leave(flows));
                } else {
                    graph.scan(run, Direction::Out, Select::All, &PushPaired(flows))?;
                }
                Ok(each(run, n, |totals, v| finish(this, totals, v, from_fixed(flows.take(v))))?)
            }
            Memory::Apart { now, sums, open, .. } => {
                if pulls {
                    let pull = SharePull { of: this, now, sums, open, finish: &finish, totals: PhantomData };
                    for mut block in graph.scan(run, Direction::In, Select::All, &pull)? {
                        pull.leave(&mut block);
                        totals.push(block.totals);
                    }
                } else {
                    graph.scan(run, Direction::Out, Select::All, &SharePush { now, sums })?;
                }
                totals.extend(run.share_ranges::<_, Stop>(n, GRAIN, T::default, |totals, range| {
                    for v in open.iter_range(range) {
                        finish(this, totals, v, from_fixed(sums.get(v)));
                        sums.set(v, 0);
                    }
                    Ok(())
                })?);
                Ok(totals)
            }
        }
    }
}

/// Calls `f` with every vertex, in parallel. The states of all workers.
///
/// # Errors
/// Cancellation.
pub(crate) fn each<T: Default + Send>(
    run: &Run,
    n: usize,
    f: impl Fn(&mut T, VertexId) + Sync,
) -> Result<Vec<T>, Stop> {
    run.share_ranges::<_, Stop>(n, GRAIN, T::default, |totals, range| {
        range.map(vertex).for_each(|v| f(totals, v));
        Ok(())
    })
}

/// Pulls shares along in-edges.
struct SharePull<'a, 'g, G, T, F> {
    of: &'a NeighbourSum<'g, G>,
    now: &'a Shares,
    sums: &'a VertexValues<u64>,
    open: &'a Bitmap,
    finish: &'a F,
    totals: PhantomData<fn() -> T>,
}

/// The state of one worker: its totals, and the block of vertices whose lists it holds in part.
#[derive(Default)]
struct Block<T> {
    totals: T,
    first: usize,
    /// Of each vertex of the block, the sum so far and the arcs in it; empty before the first block.
    sums: Vec<f64>,
    arcs: Vec<u32>,
}

impl<'g, G, T, F> SharePull<'_, 'g, G, T, F>
where
    G: Graph,
    F: Fn(&NeighbourSum<'g, G>, &mut T, VertexId, f64) + Sync,
{
    /// Finishes the vertices of a block whose lists are complete, and leaves the others open.
    fn leave(&self, block: &mut Block<T>) {
        let Block { totals, first, sums, arcs } = block;
        for (i, (arcs, sum)) in arcs.iter_mut().zip(sums).enumerate().filter(|(_, (arcs, _))| **arcs > 0) {
            let (v, len, sum) = (vertex(*first + i), std::mem::take(arcs) as usize, std::mem::take(sum));
            if len == self.of.graph.degree(Direction::In, v) {
                (self.finish)(self.of, totals, v, sum);
            } else {
                self.leave_open(v, sum);
            }
        }
    }

    #[inline(always)]
    fn leave_open(&self, v: VertexId, sum: f64) {
        self.open.insert(v);
        self.sums.add(v, to_fixed(sum));
    }

    /// Makes the block that of `v`.
    #[cold]
    #[inline(never)]
    fn enter(&self, block: &mut Block<T>, v: VertexId) {
        self.leave(block);
        block.first = v as usize - v as usize % BLOCK_LEN;
        block.sums.resize(BLOCK_LEN, 0.0);
        block.arcs.resize(BLOCK_LEN, 0);
    }
}

impl<'g, G, T, F> Visitor<G::Weight> for SharePull<'_, 'g, G, T, F>
where
    G: Graph,
    T: Default + Send,
    F: Fn(&NeighbourSum<'g, G>, &mut T, VertexId, f64) + Sync,
{
    type State = Block<T>;

    const STOPS: bool = false;

    fn new_state(&self) -> Block<T> {
        Block { totals: T::default(), first: 0, sums: Vec::new(), arcs: Vec::new() }
    }

    #[inline(always)]
    fn visit(&self, block: &mut Block<T>, v: VertexId, piece: Piece<'_, G::Weight>) -> Flow {
        let sum = self.now.sum_over(piece.targets);
        let len = piece.targets.len();
        // Once a list has come in part, the worker adds up block by block.
        let in_blocks = !block.arcs.is_empty();
        if !piece.exclusive || self.open.get(v) || len > LEN_MAX {
            self.leave_open(v, sum);
        } else if !in_blocks && len == self.of.graph.degree(Direction::In, v) {
            (self.finish)(self.of, &mut block.totals, v, sum);
        } else {
            if (v as usize).wrapping_sub(block.first) >= block.arcs.len() {
                self.enter(block, v);
            }
            let i = v as usize - block.first;
            block.sums[i] += sum;
            block.arcs[i] = block.arcs[i].saturating_add(len as u32);
        }
        Flow::More
    }
}

/// Pushes shares along out-edges.
struct SharePush<'a> {
    now: &'a Shares,
    sums: &'a VertexValues<u64>,
}

impl<W: Weight> Visitor<W> for SharePush<'_> {
    type State = ();

    const STOPS: bool = false;

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), u: VertexId, piece: Piece<'_, W>) -> Flow {
        let share = to_fixed(self.now.get(u));
        for &v in piece.targets {
            self.sums.add(v, share);
        }
        Flow::More
    }
}

/// Pulls shares along in-edges that come from both ends.
struct PullPaired<'a>(&'a Flows);

impl<W: Weight> Visitor<W> for PullPaired<'_> {
    type State = FlowWorker;

    const STOPS: bool = false;

    fn new_state(&self) -> FlowWorker {
        FlowWorker::default()
    }

    fn visit(&self, _: &mut FlowWorker, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let sum = piece.targets.iter().map(|&u| self.0.given(u)).sum();
        self.0.add(v, sum, piece.exclusive);
        Flow::More
    }

    fn visit_patch(&self, worker: &mut FlowWorker, patch: &Patch<'_, W>) {
        worker.along(self.0, patch);
    }
}

/// Pushes shares along out-edges whose other ends are not handed over.
struct PushPaired<'a>(&'a Flows);

impl<W: Weight> Visitor<W> for PushPaired<'_> {
    type State = ();

    const STOPS: bool = false;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), u: VertexId, piece: Piece<'_, W>) -> Flow {
        let share = self.0.given(u);
        piece.targets.iter().for_each(|&v| self.0.add(v, share, false));
        Flow::More
    }
}
