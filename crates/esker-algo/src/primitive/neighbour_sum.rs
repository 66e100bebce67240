//! Sums over neighbours: every vertex gives a share to each neighbour and receives the sum of its neighbours'
//! shares, each times the weight of the arc if weights count.
//!
//! A round has two steps. A scan pulls along in-edges where they are kept, else pushes along out-edges, and
//! leaves a sum for each vertex. Then chunks of vertices are finished: a chunk's sums become its shares of
//! the next round. A chunk is plain slices of numbers, so that the compiler can use vector instructions, and
//! chunks do not depend on the number of threads.
//!
//! The sum of a list that comes in one piece is a sum of doubles, in an order that its length decides
//! (`share_sums.rs`). A worker that holds a vertex alone adds up its pieces, in doubles, in a block of
//! vertices that fits its cache. The remaining pieces are summed in fixed-point. So results are bit-equal for
//! any number of threads if lists come whole; where they come in pieces, the last digits depend on which
//! worker holds which piece. Graphs that hand over their lists in parts all over a scan use [`Flows`], unless
//! weights count.
//!
//! Memory: see [`NeighbourSum::vertex_bytes`].

use parking_lot::Mutex;
use std::marker::PhantomData;
use std::sync::OnceLock;

use esker_graph::{
    Bitmap, Direction, Flow, Graph, Patch, Piece, RowBlock, Run, Select, Stop, VertexId, Visitor, Weight,
    vertex,
};

use super::array::{ArrayValue, VertexValues};
use super::flows::{FlowWorker, Flows, from_signed, to_signed};
use super::rank::Ranked;
use super::share_sums::{Alike, ByWeight, Weighing};
use super::shares::{Precision, Shares};

/// Vertices of a block that a worker adds up: their sums fit a first- or second-level cache.
const BLOCK_LEN: usize = 1 << 13;
/// Arcs of a piece that a worker adds up in a block, at most: a block counts arcs in 32 bits.
const LEN_MAX: usize = u32::MAX as usize;
/// Vertices in one unit of work without lists.
const GRAIN: usize = 1 << 14;
/// Vertices that are finished at once: what is kept of them meanwhile fits the first-level cache.
pub(crate) const CHUNK_LEN: usize = 1 << 9;

/// Where shares and sums lie.
enum Memory {
    Apart(Apart),
    /// Share and sum of each vertex side by side.
    Paired(Flows),
}

/// Shares and sums in arrays of their own.
struct Apart {
    shares: Shares,
    /// Of the vertices that are not open.
    sums: VertexValues<f64>,
    /// The vertices whose lists came to several workers, or were pushed.
    open: Bitmap,
    /// The sums of those, fixed-point; zero between rounds. Made once a vertex is open.
    parts: OnceLock<VertexValues<u64>>,
}

/// Vertices that are finished at once.
pub(crate) struct VertexChunk<'a> {
    /// The first of the vertices.
    pub(crate) first: usize,
    /// The caller's values for the vertices; if it has none, the share that each gave last, if
    /// [`NeighbourSum::keeps_shares`].
    pub(crate) values: &'a mut [f64],
    /// The sum that each received, to be replaced by the share that it gives next. Sums and shares are of a
    /// magnitude less than 2.
    pub(crate) flows: &'a mut [f64],
}

/// The shares that vertices give, and the sums that they receive.
pub(crate) struct NeighbourSum<'g, G, K = Alike> {
    graph: &'g G,
    memory: Memory,
    weighing: PhantomData<K>,
}

impl NeighbourSum<'_, ()> {
    /// Bytes a vertex, besides a bit.
    pub(crate) fn vertex_bytes(scattered: bool, precision: Precision) -> u64 {
        match (scattered, precision) {
            (true, _) => 16,
            (false, Precision::Single) => 20,
            (false, Precision::Double) => 24,
        }
    }
}

impl<'g, G: Graph> NeighbourSum<'g, G> {
    /// Shares of zero, which count alike along each arc.
    pub(crate) fn new(graph: &'g G, run: &Run) -> Self {
        if graph.is_scattered() {
            let memory = Memory::Paired(Flows::new(run, graph.num_vertices()));
            return Self { graph, memory, weighing: PhantomData };
        }
        Self::apart(graph, run)
    }
}

impl<'g, G: Graph<Weight: Ranked>> NeighbourSum<'g, G, ByWeight> {
    /// Shares of zero, which count along each arc as much as its weight. The sums must be of a magnitude less
    /// than 2.
    pub(crate) fn by_weight(graph: &'g G, run: &Run) -> Self {
        Self::apart(graph, run)
    }
}

impl<'g, G: Graph, K: Weighing<G::Weight>> NeighbourSum<'g, G, K> {
    fn apart(graph: &'g G, run: &Run) -> Self {
        let n = graph.num_vertices();
        let open = Bitmap::new(n);
        if !graph.has(Direction::In) {
            (0..n).for_each(|v| open.insert_alone(vertex(v)));
        }
        let (shares, sums) = (Shares::new(0, Precision::Single), VertexValues::filled(run, n, 0.0));
        let memory = Memory::Apart(Apart { shares, sums, open, parts: OnceLock::new() });
        Self { graph, memory, weighing: PhantomData }
    }

    /// The graph.
    pub(crate) fn graph(&self) -> &'g G {
        self.graph
    }

    /// Whether the share that a vertex gave is kept to 2^-62 until the vertex is finished again.
    pub(crate) fn keeps_shares(&self) -> bool {
        matches!(self.memory, Memory::Paired(_))
    }

    /// A value for each vertex and the share that it gives, in the memory of the shares where possible.
    pub(crate) fn into_values(self, f: impl Fn(VertexId, f64) -> f64) -> Vec<f64> {
        match self.memory {
            Memory::Apart(Apart { shares, .. }) => {
                (0..self.graph.num_vertices()).map(|v| f(vertex(v), shares.get(vertex(v)))).collect()
            }
            Memory::Paired(flows) => flows.into_given(f),
        }
    }

    /// One round: calls `finish` with every vertex once, in chunks and in parallel. Shares of the next round
    /// are kept with the given precision. `values`: one a vertex, or none. The states of all workers.
    ///
    /// # Errors
    /// As [`Graph::scan`].
    pub(crate) fn round<T: Default + Send>(
        &mut self,
        run: &Run,
        precision: Precision,
        values: &mut [f64],
        finish: impl Fn(&mut T, VertexChunk<'_>) + Sync,
    ) -> Result<Vec<T>, G::Error> {
        let graph = self.graph;
        let pulls = graph.has(Direction::In);
        match &self.memory {
            Memory::Paired(flows) if pulls => {
                let workers = graph.scan(run, Direction::In, Select::All, &PullPaired(flows))?;
                workers.into_iter().for_each(|mut worker| worker.leave(flows));
            }
            Memory::Paired(flows) => {
                graph.scan(run, Direction::Out, Select::All, &PushPaired(flows))?;
            }
            Memory::Apart(apart) if pulls => {
                let some_open = apart.parts.get().is_some();
                let pull = SharePull::<G, K> {
                    graph,
                    apart,
                    shares: &apart.shares,
                    some_open,
                    weighing: PhantomData,
                };
                let blocks = graph.scan(run, Direction::In, Select::All, &pull)?;
                blocks.into_iter().for_each(|mut block| pull.leave(&mut block));
            }
            Memory::Apart(apart) => {
                let push =
                    SharePush::<K> { shares: &apart.shares, sums: apart.parts(), weighing: PhantomData };
                graph.scan(run, Direction::Out, Select::All, &push)?;
            }
        }
        Ok(self.finish(run, precision, values, finish)?)
    }

    /// As [`NeighbourSum::round`], before the first: every sum is zero.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn finish<T: Default + Send>(
        &mut self,
        run: &Run,
        precision: Precision,
        values: &mut [f64],
        finish: impl Fn(&mut T, VertexChunk<'_>) + Sync,
    ) -> Result<Vec<T>, Stop> {
        let n = self.graph.num_vertices();
        match &mut self.memory {
            Memory::Paired(flows) => {
                let flows = &*flows;
                each_chunk(run, n, values, &mut [(); 0], |totals, (first, values, _), sums| {
                    let mut shares = [0.0; CHUNK_LEN];
                    let vertices = || (first..).map(vertex);
                    for ((sum, share), v) in sums.iter_mut().zip(&mut shares).zip(vertices()) {
                        (*share, *sum) = (from_signed(flows.given(v)), from_signed(flows.take(v)));
                    }
                    let values = if values.is_empty() { &mut shares[..sums.len()] } else { values };
                    finish(totals, VertexChunk { first, values, flows: sums });
                    vertices().zip(&*sums).for_each(|(v, &share)| flows.give(v, to_signed(share)));
                })
            }
            Memory::Apart(Apart { shares, sums, open, parts }) => {
                shares.keep_with(precision, n);
                let received = Received { sums, open, parts: parts.get() };
                match shares {
                    Shares::Single(shares) => {
                        each_chunk(run, n, values, shares, |totals, (first, values, shares), flows| {
                            received.take(first, flows);
                            finish(totals, VertexChunk { first, values, flows });
                            shares.iter_mut().zip(flows).for_each(|(share, flow)| *share = *flow as f32);
                        })
                    }
                    Shares::Double(shares) => {
                        each_chunk(run, n, values, shares, |totals, (first, values, shares), flows| {
                            received.take(first, flows);
                            finish(totals, VertexChunk { first, values, flows });
                            shares.copy_from_slice(flows);
                        })
                    }
                }
            }
        }
    }
}

/// Calls `f` with each chunk of `0..n`, in parallel: its first vertex, its parts of two arrays (of `n`
/// elements, or none), and a number for each of its vertices. The states of all workers.
fn each_chunk<T: Default + Send, S: Send>(
    run: &Run,
    n: usize,
    values: &mut [f64],
    shares: &mut [S],
    f: impl Fn(&mut T, (usize, &mut [f64], &mut [S]), &mut [f64]) + Sync,
) -> Result<Vec<T>, Stop> {
    let (mut values, mut shares) = (values.chunks_mut(GRAIN), shares.chunks_mut(GRAIN));
    let parts = (0..n).step_by(GRAIN).map(|first| {
        let part = (values.next().unwrap_or_default(), shares.next().unwrap_or_default());
        (first, Mutex::new(part))
    });
    let parts: Vec<_> = parts.collect();
    run.share(parts.len(), T::default, |totals, i| {
        let (first, part) = &parts[i];
        let mut part = part.lock();
        let (values, shares) = &mut *part;
        let (mut values, mut shares) = (values.chunks_mut(CHUNK_LEN), shares.chunks_mut(CHUNK_LEN));
        let mut flows = [0.0; CHUNK_LEN];
        let end = n.min(first + GRAIN);
        for first in (*first..end).step_by(CHUNK_LEN) {
            let chunk = (first, values.next().unwrap_or_default(), shares.next().unwrap_or_default());
            f(totals, chunk, &mut flows[..CHUNK_LEN.min(end - first)]);
        }
        Ok(())
    })
}

/// The sums after a scan.
struct Received<'a> {
    sums: &'a VertexValues<f64>,
    open: &'a Bitmap,
    parts: Option<&'a VertexValues<u64>>,
}

impl Received<'_> {
    /// Copies the sums of the vertices from `first` on, and empties those that are fixed-point.
    fn take(&self, first: usize, flows: &mut [f64]) {
        for (flow, sum) in flows.iter_mut().zip(&self.sums.cells()[first..]) {
            *flow = f64::load(sum);
        }
        let Some(parts) = self.parts else { return };
        for v in self.open.iter_range(first..first + flows.len()) {
            flows[v as usize - first] = from_signed(parts.get(v));
            parts.set(v, 0);
        }
    }
}

/// Pulls shares along in-edges.
struct SharePull<'a, G, K> {
    graph: &'a G,
    apart: &'a Apart,
    shares: &'a Shares,
    /// Whether some vertex was open before this scan.
    some_open: bool,
    weighing: PhantomData<K>,
}

/// The state of one worker: the block of vertices whose lists it holds in part.
#[derive(Default)]
struct OpenBlock {
    first: usize,
    /// Of each vertex of the block, the sum so far and the arcs in it; empty before the first block.
    sums: Vec<f64>,
    arcs: Vec<u32>,
}

impl Apart {
    fn parts(&self) -> &VertexValues<u64> {
        self.parts.get_or_init(|| vec![0; self.sums.len()].into())
    }

    #[cold]
    #[inline(never)]
    fn leave_open(&self, v: VertexId, sum: f64) {
        self.open.insert(v);
        self.parts().add(v, to_signed(sum));
    }
}

impl<G: Graph, K: Weighing<G::Weight>> SharePull<'_, G, K> {
    /// Finishes the vertices of a block whose lists are complete, and leaves the others open.
    fn leave(&self, block: &mut OpenBlock) {
        let OpenBlock { first, sums, arcs } = block;
        for (i, (arcs, sum)) in arcs.iter_mut().zip(sums).enumerate().filter(|(_, (arcs, _))| **arcs > 0) {
            let (v, len, sum) = (vertex(*first + i), std::mem::take(arcs) as usize, std::mem::take(sum));
            if len == self.graph.degree(Direction::In, v) {
                self.apart.sums.set(v, sum);
            } else {
                self.apart.leave_open(v, sum);
            }
        }
    }

    /// Makes the block that of `v`.
    #[cold]
    #[inline(never)]
    fn enter(&self, block: &mut OpenBlock, v: VertexId) {
        self.leave(block);
        block.first = v as usize - v as usize % BLOCK_LEN;
        block.sums.resize(BLOCK_LEN, 0.0);
        block.arcs.resize(BLOCK_LEN, 0);
    }

    /// Adds to the sum of a vertex whose list comes in part.
    #[inline(always)]
    fn add(&self, block: &mut OpenBlock, v: VertexId, sum: f64, len: usize) {
        if (v as usize).wrapping_sub(block.first) >= block.arcs.len() {
            self.enter(block, v);
        }
        let i = v as usize - block.first;
        block.sums[i] += sum;
        block.arcs[i] = block.arcs[i].saturating_add(len as u32);
    }
}

impl<G: Graph, K: Weighing<G::Weight>> Visitor<G::Weight> for SharePull<'_, G, K> {
    type State = OpenBlock;

    const STOPS: bool = false;

    const ROWS: bool = true;

    fn new_state(&self) -> OpenBlock {
        OpenBlock::default()
    }

    #[inline(always)]
    fn visit_rows(&self, block: &mut OpenBlock, rows: RowBlock<'_, G::Weight>) {
        if self.some_open {
            return rows.each_row(|v, piece| {
                self.visit(block, v, piece);
            });
        }
        let sums = &self.apart.sums.cells()[rows.first as usize..];
        let factors = K::factors(rows.weights, rows.targets.len());
        self.shares.sum_rows(rows.offsets, rows.targets, factors, sums);
    }

    #[inline(always)]
    fn visit(&self, block: &mut OpenBlock, v: VertexId, piece: Piece<'_, G::Weight>) -> Flow {
        let len = piece.targets.len();
        let sum = self.shares.sum_over(piece.targets, K::factors(piece.weights, len));
        if !piece.exclusive || self.some_open && self.apart.open.get(v) || len > LEN_MAX {
            self.apart.leave_open(v, sum);
        } else if len == self.graph.degree(Direction::In, v) {
            self.apart.sums.set(v, sum);
        } else if self.apart.open.get(v) {
            self.apart.leave_open(v, sum);
        } else {
            self.add(block, v, sum, len);
        }
        Flow::More
    }
}

/// Pushes shares along out-edges.
struct SharePush<'a, K> {
    shares: &'a Shares,
    sums: &'a VertexValues<u64>,
    weighing: PhantomData<K>,
}

impl<W: Weight, K: Weighing<W>> Visitor<W> for SharePush<'_, K> {
    type State = ();

    const STOPS: bool = false;

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), u: VertexId, piece: Piece<'_, W>) -> Flow {
        let share = self.shares.get(u);
        for (&v, factor) in piece.targets.iter().zip(K::factors(piece.weights, piece.targets.len())) {
            self.sums.add(v, to_signed(share * factor.as_f64()));
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
        let given = piece.targets.iter().map(|&u| self.0.given(u));
        // What is given may be negative, and is so in two's complement.
        let sum = given.fold(0, u64::wrapping_add);
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
