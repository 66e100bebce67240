//! Delta-stepping: distances from one vertex over weighted edges, for `sssp`.
//!
//! Delta-stepping [1] in windows of [`BINS`] buckets. Within a window, buckets of width `delta` are settled one after
//! another by relaxing *light* edges, those no longer than the window. A small bucket stays on the calling thread and
//! costs one function call, which is the purpose of bucket fusion [2]. A *heavy* edge leads out of the window, so the
//! heavy edges of settled vertices wait for the window's end [1]. By then most targets are settled and need no
//! relaxation: heavy edges are pushed from the settled vertices or pulled by the unsettled ones, whichever have fewer
//! arcs [3]. Vertices beyond the window wait in one list.
//!
//! State: a distance per vertex, and the bins of vertices to settle. Memory and reads: see `sssp`.
//!
//! [1] U. Meyer, P. Sanders, "Δ-stepping: a parallelizable shortest path algorithm", Journal of Algorithms 49(1), 2003.
//! [2] Y. Zhang et al., "Optimizing Ordered Graph Algorithms with GraphIt", CGO 2020.
//! [3] V. Chakaravarthy et al., "Scalable Single Source Shortest Path Algorithms for Massively Parallel Systems",
//!     IPDPS 2014.

use std::sync::Mutex;

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor};
use rayon::prelude::*;

use crate::lengths::{Length, Reach};
use crate::primitive::{ArrayValue, VertexValues};

/// Buckets per window.
pub(super) const BINS: usize = 16;

/// Why distances could not be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum DistanceFault {
    #[default]
    None,
    Overflow,
    Negative,
}

/// Where a search begins, and where it may end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub(super) source: VertexId,
    /// The search ends once this vertex is settled.
    pub(super) target: Option<VertexId>,
}

/// The distances, and the vertices that wait to be settled.
pub(super) struct DeltaStepping<W, D: ArrayValue> {
    distances: VertexValues<D>,
    /// Width of a bucket.
    step: D,
    /// Width of a window.
    span: D,
    /// Vertices with heavy edges settled in this window. Threads racing on a word may lose bits.
    settled: Bitmap,
    /// Vertices added to the current bucket while it is being settled.
    pending: Bitmap,
    /// The bins of all workers, between rounds.
    bins: Mutex<Vec<Bins>>,
    weight: std::marker::PhantomData<fn() -> W>,
}

/// The vertices that one worker found.
#[derive(Debug, Default)]
struct Bins {
    /// For each bucket of the window, vertices whose distance came to be in it.
    window: [Vec<VertexId>; BINS],
    /// Vertices whose first distance was beyond the window; all workers together list each vertex once.
    beyond: Vec<VertexId>,
    /// Vertices with heavy edges settled in this window, and the number of arcs that leave them.
    settled: Vec<VertexId>,
    settled_arcs: u64,
    fault: DistanceFault,
}

impl<W: Length, D: Reach<W>> DeltaStepping<W, D> {
    pub(super) fn new(run: &Run, n: usize, delta: f64) -> Self {
        let step = D::near(delta);
        Self {
            distances: VertexValues::filled(run, n, D::FAR),
            step,
            span: (0..BINS).fold(D::ZERO, |span, _| {
                let longer = span.plus(step);
                if span < longer && longer < D::FAR { longer } else { span }
            }),
            settled: Bitmap::new(n),
            pending: Bitmap::new(n),
            bins: Mutex::default(),
            weight: std::marker::PhantomData,
        }
    }

    pub(super) fn answer(self, run: &Run) -> Vec<W::Distance> {
        let distances = self.distances.into_vec();
        run.install(|| distances.into_par_iter().map(D::give).collect())
    }

    /// Computes the distances, or returns the fault that prevents it. With a target, those up to its distance.
    pub(super) fn find<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        ends: Ends,
    ) -> Result<DistanceFault, G::Error> {
        self.distances.set(ends.source, D::ZERO);
        let mut remaining_arcs = graph.num_arcs();
        let mut beyond = vec![ends.source];
        let mut start = D::ZERO;
        while !beyond.is_empty() {
            let window = BucketWindow { search: self, start, end: start.beyond(self.span), bin: 0 };
            let mut bins = self.take_bins();
            window.fill(&mut bins, beyond);
            self.put_bins([bins]);
            let found = window.settle(graph, run, ends.target)?;
            if !found {
                window.relax_heavy(graph, run, &mut remaining_arcs)?;
            }
            let mut all = self.bins.lock().expect("no worker panicked");
            let fault = all.iter().map(|bins| bins.fault).max().unwrap_or_default();
            if fault != DistanceFault::None {
                return Ok(fault);
            }
            if found {
                break;
            }
            beyond = Vec::new();
            start = D::FAR;
            for bins in &mut *all {
                start = window.keep_beyond(&mut bins.beyond, start);
                beyond.append(&mut bins.beyond);
            }
        }
        Ok(DistanceFault::None)
    }

    /// Removes repeated vertices. Borrows the set of settled vertices, which is empty between windows.
    fn remove_repeats(&self, vertices: &mut Vec<VertexId>) {
        vertices.retain(|&v| {
            let first = !self.settled.get(v);
            self.settled.insert_alone(v);
            first
        });
        clear(&self.settled, vertices);
    }

    /// Moves one bin of all workers to `frontier`, where each vertex occurs once. Some have since moved to an earlier
    /// bin.
    fn take_bucket(&self, bin: usize, frontier: &mut Vec<VertexId>) {
        frontier.clear();
        for bins in &mut *self.bins.lock().expect("no worker panicked") {
            frontier.append(&mut bins.window[bin]);
        }
    }

    fn take_bins(&self) -> Bins {
        self.bins.lock().expect("no worker panicked").pop().unwrap_or_default()
    }

    fn put_bins(&self, bins: impl IntoIterator<Item = Bins>) {
        self.bins.lock().expect("no worker panicked").extend(bins);
    }
}

/// Empties a set whose only members are `members`.
fn clear(set: &Bitmap, members: &[VertexId]) {
    if members.len() < set.num_words() {
        members.iter().for_each(|&v| set.set_word(v as usize / 64, 0));
    } else {
        (0..set.num_words()).for_each(|word| set.set_word(word, 0));
    }
}

/// Adds `v` to a set. Returns whether this call did. `ALONE`: no other thread accesses the set meanwhile.
#[inline(always)]
fn insert<const ALONE: bool>(set: &Bitmap, v: VertexId) -> bool {
    if !ALONE {
        return set.insert(v);
    }
    let is_new = !set.get(v);
    set.insert_alone(v);
    is_new
}

/// A range of consecutive buckets, one of which is being settled.
struct BucketWindow<'a, W, D: ArrayValue> {
    search: &'a DeltaStepping<W, D>,
    start: D,
    end: D,
    bin: usize,
}

impl<W: Length, D: Reach<W>> BucketWindow<'_, W, D> {
    #[inline(always)]
    fn bin_of(&self, distance: D) -> usize {
        distance.steps_from(self.start, self.search.step).min(BINS - 1)
    }

    /// Puts vertices inside the window into its bins; the others keep waiting.
    fn fill(&self, bins: &mut Bins, vertices: Vec<VertexId>) {
        for v in vertices {
            let distance = self.search.distances.get(v);
            if distance < self.end {
                bins.window[self.bin_of(distance)].push(v);
            } else {
                bins.beyond.push(v);
            }
        }
    }

    /// Removes from `vertices` those no longer beyond the window. Returns the minimum of the others' distances and
    /// `least`.
    fn keep_beyond(&self, vertices: &mut Vec<VertexId>, mut least: D) -> D {
        vertices.retain(|&v| {
            let distance = self.search.distances.get(v);
            let stays = distance >= self.end;
            if stays && distance < least {
                least = distance;
            }
            stays
        });
        least
    }

    /// Settles the buckets of the window one after another, over light edges only, up to that of `target`. Returns whether it
    /// was met.
    fn settle<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        target: Option<VertexId>,
    ) -> Result<bool, G::Error> {
        let is_settled = |bin| {
            let distance = target.map(|target| self.search.distances.get(target));
            distance.is_some_and(|distance| distance < self.end && self.bin_of(distance) <= bin)
        };
        let mut frontier = Vec::new();
        for bin in 0..BINS {
            self.search.take_bucket(bin, &mut frontier);
            while !frontier.is_empty() {
                run.round(frontier.len())?;
                let window = BucketWindow { bin, ..*self };
                let select = Select::List(&frontier);
                let states = if run.threads() == 1 || is_small(graph, run, &frontier) {
                    let light = RelaxLight::<W, D, G, true> { graph, window };
                    graph.scan(run.alone(), Direction::Out, select, &light)?
                } else {
                    graph.scan(
                        run,
                        Direction::Out,
                        select,
                        &RelaxLight::<W, D, G, false> { graph, window },
                    )?
                };
                self.search.put_bins(states);
                self.search.take_bucket(bin, &mut frontier);
                clear(&self.search.pending, &frontier);
            }
            if is_settled(bin) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Relaxes the heavy edges of all vertices settled in the window, if there are any.
    fn relax_heavy<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        remaining_arcs: &mut u64,
    ) -> Result<(), G::Error> {
        let (mut settled, mut arcs) = (Vec::new(), 0);
        for bins in &mut *self.search.bins.lock().expect("no worker panicked") {
            settled.append(&mut bins.settled);
            arcs += std::mem::take(&mut bins.settled_arcs);
        }
        clear(&self.search.settled, &settled);
        *remaining_arcs -= arcs.min(*remaining_arcs);
        if !settled.is_empty() {
            let window = BucketWindow { ..*self };
            let states = if graph.has(Direction::In) && arcs > *remaining_arcs {
                graph.scan(run, Direction::In, Select::All, &PullHeavy(window))?
            } else {
                self.search.remove_repeats(&mut settled);
                graph.scan(run, Direction::Out, Select::List(&settled), &PushHeavy(window))?
            };
            self.search.put_bins(states);
        }
        Ok(())
    }

    /// Lowers the distance of `dst` to that over an edge from a vertex at distance `from`, and updates its bucket.
    #[inline(always)]
    fn relax<const ALONE: bool>(&self, bins: &mut Bins, from: D, dst: VertexId, edge: W) {
        let Some(distance) = from.after(edge) else {
            bins.fault = bins.fault.max(fault_of(edge));
            return;
        };
        let distances = &self.search.distances;
        let old = if ALONE { distances.lower_alone(dst, distance) } else { distances.lower(dst, distance) };
        let Some(old) = old else { return };
        if distance >= self.end {
            // With its first distance a vertex enters the list, and it stays there until a window begins that holds it.
            if old == D::FAR {
                bins.beyond.push(dst);
            }
            return;
        }
        let bin = self.bin_of(distance);
        let new = if bin == self.bin {
            insert::<ALONE>(&self.search.pending, dst)
        } else {
            old >= self.end || bin != self.bin_of(old)
        };
        if new {
            bins.window[bin].push(dst);
        }
    }
}

#[cold]
fn fault_of<W: Length>(edge: W) -> DistanceFault {
    if edge.to_f64() >= 0.0 { DistanceFault::Overflow } else { DistanceFault::Negative }
}

/// Relaxes the light edges of a bucket.
struct RelaxLight<'a, W, D: ArrayValue, G, const ALONE: bool> {
    graph: &'a G,
    window: BucketWindow<'a, W, D>,
}

impl<W: Length, D: Reach<W>, G: Graph, const ALONE: bool> Visitor<W> for RelaxLight<'_, W, D, G, ALONE> {
    type State = Bins;

    // Distances wider than lengths are a second attempt, after an overflow.
    const BOXED: bool = size_of::<D>() > size_of::<W>();

    fn new_state(&self) -> Bins {
        self.window.search.take_bins()
    }

    /// Whether `v` is still in the bucket.
    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        let distance = self.window.search.distances.get(v);
        // A pool also asks for vertices that are not selected, which may be nearer than the window.
        distance >= self.window.start && self.window.bin_of(distance) == self.window.bin
    }

    #[inline(always)]
    fn visit(&self, bins: &mut Bins, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let search = self.window.search;
        let from = search.distances.get(v);
        let mut has_heavy = false;
        for (targets, edges) in piece.targets.chunks(CHUNK).zip(piece.weights.chunks(CHUNK)) {
            let heavy = edges.iter().fold(false, |heavy, &edge| heavy | search.span.is_shorter_than(edge));
            if !heavy {
                for (&dst, &edge) in targets.iter().zip(edges) {
                    self.window.relax::<ALONE>(bins, from, dst, edge);
                }
                continue;
            }
            has_heavy = true;
            // Whether an edge is light is unpredictable, so light edges are selected without branches.
            let mut light = [0u8; CHUNK];
            let mut count = 0;
            for (i, &edge) in edges.iter().enumerate() {
                light[count % CHUNK] = i as u8;
                count += usize::from(!search.span.is_shorter_than(edge));
            }
            for &i in &light[..count] {
                let (dst, edge) = (targets[usize::from(i)], edges[usize::from(i)]);
                self.window.relax::<ALONE>(bins, from, dst, edge);
            }
        }
        // Plain accesses: a lost bit of another thread lists a vertex twice, which costs less than an atomic operation.
        if has_heavy && !search.settled.get(v) {
            search.settled.insert_alone(v);
            bins.settled.push(v);
            bins.settled_arcs += self.graph.degree(Direction::Out, v) as u64;
        }
        Flow::More
    }
}

/// Whether a bucket, by its vertices and their out-arcs, is small enough for the calling thread: more so while other threads sleep.
fn is_small<G: Graph>(graph: &G, run: &Run, bucket: &[VertexId]) -> bool {
    const AWAKE_ENTRIES_MAX: usize = 1 << 8;
    const ASLEEP_ENTRIES_MAX: usize = 1 << 10;
    let mut entries = bucket.len();
    let are_few = entries <= ASLEEP_ENTRIES_MAX
        && bucket.iter().all(|&v| {
            entries += graph.degree(Direction::Out, v);
            entries <= ASLEEP_ENTRIES_MAX
        });
    are_few && (entries <= AWAKE_ENTRIES_MAX || !run.short_step())
}

/// Edges divided into light and heavy at a time.
const CHUNK: usize = 64;

/// Pushes along the heavy edges of settled vertices.
struct PushHeavy<'a, W, D: ArrayValue>(BucketWindow<'a, W, D>);

impl<W: Length, D: Reach<W>> Visitor<W> for PushHeavy<'_, W, D> {
    type State = Bins;

    // Distances wider than lengths are a second attempt, after an overflow.
    const BOXED: bool = size_of::<D>() > size_of::<W>();

    fn new_state(&self) -> Bins {
        self.0.search.take_bins()
    }

    #[inline(always)]
    fn visit(&self, bins: &mut Bins, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let from = self.0.search.distances.get(v);
        for (&dst, &edge) in piece.targets.iter().zip(piece.weights) {
            if self.0.search.span.is_shorter_than(edge) {
                self.0.relax::<false>(bins, from, dst, edge);
            }
        }
        Flow::More
    }
}

/// Pulls along heavy edges from settled vertices, for each vertex beyond the window.
struct PullHeavy<'a, W, D: ArrayValue>(BucketWindow<'a, W, D>);

impl<W: Length, D: Reach<W>> Visitor<W> for PullHeavy<'_, W, D> {
    type State = Bins;

    // Distances wider than lengths are a second attempt, after an overflow.
    const BOXED: bool = size_of::<D>() > size_of::<W>();

    fn new_state(&self) -> Bins {
        self.0.search.take_bins()
    }

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.0.search.distances.get(v) >= self.0.end
    }

    #[inline(always)]
    fn visit(&self, bins: &mut Bins, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let search = self.0.search;
        let mut least = D::FAR;
        for (&src, &edge) in piece.targets.iter().zip(piece.weights) {
            let from = search.distances.get(src);
            if from < self.0.end && search.span.is_shorter_than(edge) {
                match from.after(edge) {
                    Some(distance) if distance < least => least = distance,
                    Some(_) => {}
                    None => bins.fault = bins.fault.max(fault_of(edge)),
                }
            }
        }
        if search.distances.lower(v, least) == Some(D::FAR) {
            bins.beyond.push(v);
        }
        Flow::More
    }
}
