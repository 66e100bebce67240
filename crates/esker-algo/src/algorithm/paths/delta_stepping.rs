//! Delta-stepping: distances from one vertex over weighted edges, for `sssp`.
//!
//! Delta-stepping [1] in windows of [`BINS`] buckets. Within a window, buckets of width `delta` are settled
//! one after another by relaxing *light* edges, those no longer than the window. A vertex that is found
//! nearer within the bucket that is being settled is relaxed *again*. A thread goes on with those that it
//! found, as long as they are few, before all threads meet: bucket fusion [2]. A *heavy* edge leads out of
//! the window, so the heavy edges of settled vertices wait for the window's end [1]. By then most targets are
//! settled and need no relaxation: heavy edges are pushed from the settled vertices or pulled by the
//! unsettled ones, whichever have fewer arcs [3]. Vertices beyond the window wait in one list.
//!
//! State: a distance per vertex, and the bins of vertices to settle. Memory and reads: see `sssp`.
//!
//! [1] U. Meyer, P. Sanders, "Δ-stepping: a parallelizable shortest path algorithm", Journal of Algorithms
//!     49(1), 2003.
//! [2] Y. Zhang et al., "Optimizing Ordered Graph Algorithms with GraphIt", CGO 2020.
//! [3] V. Chakaravarthy et al., "Scalable Single Source Shortest Path Algorithms for Massively Parallel
//!     Systems", IPDPS 2014.

use parking_lot::Mutex;

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor};
use rayon::prelude::*;

use crate::algorithm::paths::delta_bins::{BINS, Bins, BucketWorkers, DistanceFault, fault_of};
use crate::lengths::{Length, Reach};
use crate::primitive::{ArrayValue, VertexValues};

/// Where a search begins, and where it may end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchEnds {
    pub(crate) source: VertexId,
    /// The search ends once this vertex is settled.
    pub(crate) target: Option<VertexId>,
}

/// The distances, and the vertices that wait to be settled.
pub(crate) struct DeltaStepping<W, D: ArrayValue> {
    distances: VertexValues<D>,
    /// Width of a bucket.
    step: D,
    /// Width of a window.
    span: D,
    /// Vertices with heavy edges settled in this window. Threads racing on a word may lose bits.
    settled: Bitmap,
    /// The bins of all workers, between rounds.
    #[allow(clippy::vec_box)] // They move between this list, workers and scans, once a bucket.
    bins: Mutex<Vec<Box<Bins<D>>>>,
    weight: std::marker::PhantomData<fn() -> W>,
}

impl<W: Length, D: Reach<W>> DeltaStepping<W, D> {
    pub(crate) fn new(run: &Run, n: usize, delta: f64) -> Self {
        let step = D::near(delta);
        Self {
            distances: VertexValues::filled(run, n, D::FAR),
            step,
            span: (0..BINS).fold(D::ZERO, |span, _| {
                let longer = span.plus(step);
                if span < longer && longer < D::FAR { longer } else { span }
            }),
            settled: Bitmap::new(n),
            bins: Mutex::default(),
            weight: std::marker::PhantomData,
        }
    }

    pub(crate) fn answer(self, run: &Run) -> Vec<W::Distance> {
        let distances = self.distances.into_vec();
        run.install(|| distances.into_par_iter().map(D::give).collect())
    }

    /// Computes the distances and returns the worst fault met; a fault of `least` or worse ends the search.
    /// With a target, those up to its distance. A distance that overflows is left out.
    pub(crate) fn find<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        ends: SearchEnds,
        least: DistanceFault,
    ) -> Result<DistanceFault, G::Error> {
        self.distances.set(ends.source, D::ZERO);
        let mut remaining_arcs = graph.num_arcs();
        let mut beyond = vec![ends.source];
        let mut start = D::ZERO;
        let mut fault = DistanceFault::None;
        while !beyond.is_empty() {
            let end = start.beyond(self.span);
            let window = BucketWindow { search: self, start, end, width: start.width_to(end), bin: 0 };
            let mut bins = self.take_bins();
            window.fill(&mut bins, beyond);
            self.put_bins([bins]);
            let found = window.settle(graph, run, ends.target)?;
            if !found {
                window.relax_heavy(graph, run, &mut remaining_arcs)?;
            }
            let mut all = self.bins.lock();
            fault = all.iter().map(|bins| bins.fault).max().unwrap_or_default();
            if found || fault >= least {
                break;
            }
            beyond = Vec::new();
            start = D::FAR;
            for bins in &mut *all {
                start = window.keep_beyond(&mut bins.beyond, start);
                beyond.append(&mut bins.beyond);
            }
        }
        Ok(fault)
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

    /// Moves one bin of all workers to `frontier`, where each vertex occurs once.
    fn take_bucket(&self, bin: usize, frontier: &mut Vec<VertexId>) {
        frontier.clear();
        for bins in &mut *self.bins.lock() {
            self.take_found(&mut bins.window[bin], frontier);
        }
    }

    /// Moves the vertices of a bin to `list`. Distances only fall, so each vertex has one entry that counts.
    fn take_found(&self, entries: &mut Vec<(VertexId, D)>, list: &mut Vec<VertexId>) {
        let entries = entries.drain(..);
        list.extend(entries.filter(|&(v, distance)| self.distances.get(v) == distance).map(|(v, _)| v));
    }

    /// Makes room in a bin: entries that no longer count are left out, so there is room for the vertices, not
    /// for each edge that makes one nearer.
    #[cold]
    #[inline(never)]
    fn make_room(&self, entries: &mut Vec<(VertexId, D)>) {
        entries.retain(|&(v, distance)| self.distances.get(v) == distance);
        entries.reserve(entries.len().max(ROOM_MIN));
    }

    fn take_bins(&self) -> Box<Bins<D>> {
        self.bins.lock().pop().unwrap_or_default()
    }

    fn put_bins(&self, bins: impl IntoIterator<Item = Box<Bins<D>>>) {
        self.bins.lock().extend(bins);
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

/// A range of consecutive buckets, one of which is being settled.
struct BucketWindow<'a, W, D: ArrayValue> {
    search: &'a DeltaStepping<W, D>,
    start: D,
    end: D,
    /// Longer edges lead out of the window.
    width: D,
    bin: usize,
}

impl<W: Length, D: Reach<W>> BucketWindow<'_, W, D> {
    #[inline(always)]
    fn bin_of(&self, distance: D) -> usize {
        distance.steps_from(self.start, self.search.step).min(BINS - 1)
    }

    /// Puts vertices inside the window into its bins; the others keep waiting.
    fn fill(&self, bins: &mut Bins<D>, vertices: Vec<VertexId>) {
        for v in vertices {
            let distance = self.search.distances.get(v);
            if distance < self.end {
                bins.window[self.bin_of(distance)].push((v, distance));
            } else {
                bins.beyond.push(v);
            }
        }
    }

    /// Removes from `vertices` those no longer beyond the window. Returns the minimum of the others'
    /// distances and `least`.
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

    /// Settles the buckets of the window one after another, over light edges only, up to that of `target`.
    /// Returns whether it was met.
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
            let window = BucketWindow { bin, ..*self };
            self.search.take_bucket(bin, &mut frontier);
            while !frontier.is_empty() {
                run.round(frontier.len())?;
                match BucketWorkers::choose(graph, run, &frontier) {
                    BucketWorkers::One => window.go_on::<G, true>(graph, run, &frontier)?,
                    BucketWorkers::Fused => window.go_on_in_parts(graph, run, &frontier)?,
                    BucketWorkers::All => {
                        let light = RelaxLight::<W, D, G, false> {
                            graph,
                            window: BucketWindow { ..window },
                            bins: None,
                        };
                        let states = graph.scan(run, Direction::Out, Select::List(&frontier), &light)?;
                        self.search.put_bins(states);
                    }
                }
                self.search.take_bucket(bin, &mut frontier);
            }
            if is_settled(bin) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Relaxes the light edges of the vertices of the bucket, each thread those of one part.
    fn go_on_in_parts<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        vertices: &[VertexId],
    ) -> Result<(), G::Error> {
        let parts: Vec<_> = vertices.chunks(vertices.len().div_ceil(run.threads())).collect();
        run.share(parts.len(), || (), |(), i| self.go_on::<G, false>(graph, run, parts[i]))?;
        Ok(())
    }

    /// Relaxes the light edges of vertices of the bucket on this thread, and of those that it finds again, as
    /// long as these are few. `ALONE`: no other thread does so meanwhile.
    fn go_on<G: Graph<Weight = W>, const ALONE: bool>(
        &self,
        graph: &G,
        run: &Run,
        vertices: &[VertexId],
    ) -> Result<(), G::Error> {
        let mut found = Vec::new();
        let mut vertices = vertices;
        let mut bins = self.search.take_bins();
        loop {
            run.check()?;
            let bins_for_scan = Some(Mutex::new(Some(bins)));
            let light =
                RelaxLight::<W, D, G, ALONE> { graph, window: BucketWindow { ..*self }, bins: bins_for_scan };
            let mut states =
                graph.scan(run.single_threaded(), Direction::Out, Select::List(vertices), &light)?;
            bins = states.pop().unwrap_or_else(|| self.search.take_bins());
            self.search.put_bins(states);
            let entries = &mut bins.window[self.bin];
            if entries.is_empty() || entries.len() > FUSED_MAX {
                break;
            }
            found.clear();
            self.search.take_found(entries, &mut found);
            vertices = &found;
        }
        self.search.put_bins([bins]);
        Ok(())
    }

    /// Relaxes the heavy edges of all vertices settled in the window, if there are any.
    fn relax_heavy<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        remaining_arcs: &mut u64,
    ) -> Result<(), G::Error> {
        let (mut settled, mut arcs) = (Vec::new(), 0);
        for bins in &mut *self.search.bins.lock() {
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

    /// Lowers the distance of `dst` to that over an edge from a vertex at distance `from`, and updates its
    /// bucket.
    #[inline(always)]
    fn relax<const ALONE: bool>(&self, bins: &mut Bins<D>, from: D, dst: VertexId, edge: W) {
        let Some(distance) = from.after(edge) else {
            bins.fault = bins.fault.max(fault_of(edge));
            return;
        };
        let distances = &self.search.distances;
        let old = if ALONE { distances.lower_alone(dst, distance) } else { distances.lower(dst, distance) };
        let Some(old) = old else { return };
        if distance >= self.end {
            // With its first distance a vertex enters the list, and it stays there until a window begins that
            // holds it.
            if old == D::FAR {
                bins.beyond.push(dst);
            }
            return;
        }
        let entries = &mut bins.window[self.bin_of(distance)];
        if entries.len() == entries.capacity() {
            self.search.make_room(entries);
        }
        entries.push((dst, distance));
    }
}

/// Entries that a bin has room for at first.
const ROOM_MIN: usize = 1 << 6;
/// A thread that found more vertices again leaves them for all threads.
const FUSED_MAX: usize = 1 << 10;

/// Relaxes the light edges of a bucket.
struct RelaxLight<'a, W, D: ArrayValue, G, const ALONE: bool> {
    graph: &'a G,
    window: BucketWindow<'a, W, D>,
    /// Those of the first worker, if the caller holds them.
    bins: Option<Mutex<Option<Box<Bins<D>>>>>,
}

impl<W: Length, D: Reach<W>, G: Graph, const ALONE: bool> Visitor<W> for RelaxLight<'_, W, D, G, ALONE> {
    type State = Box<Bins<D>>;

    // Distances wider than lengths are a second attempt, after an overflow.
    const BOXED: bool = size_of::<D>() > size_of::<W>();

    fn new_state(&self) -> Box<Bins<D>> {
        let held = self.bins.as_ref().and_then(|bins| bins.lock().take());
        held.unwrap_or_else(|| self.window.search.take_bins())
    }

    /// Whether `v` is still in the bucket.
    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        let distance = self.window.search.distances.get(v);
        // A pool also asks for vertices that are not selected, which may be nearer than the window.
        distance >= self.window.start
            && (self.graph.is_at_hand() || self.window.bin_of(distance) == self.window.bin)
    }

    #[inline(always)]
    fn visit(&self, bins: &mut Box<Bins<D>>, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let search = self.window.search;
        let from = search.distances.get(v);
        let mut has_heavy = false;
        for (targets, edges) in piece.targets.chunks(CHUNK).zip(piece.weights.chunks(CHUNK)) {
            let heavy =
                edges.iter().fold(false, |heavy, &edge| heavy | self.window.width.is_shorter_than(edge));
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
                count += usize::from(!self.window.width.is_shorter_than(edge));
            }
            for &i in &light[..count] {
                let (dst, edge) = (targets[usize::from(i)], edges[usize::from(i)]);
                self.window.relax::<ALONE>(bins, from, dst, edge);
            }
        }
        // Plain accesses: a lost bit of another thread lists a vertex twice, which costs less than an atomic
        // operation.
        if has_heavy && !search.settled.get(v) {
            search.settled.insert_alone(v);
            bins.settled.push(v);
            bins.settled_arcs += self.graph.degree(Direction::Out, v) as u64;
        }
        Flow::More
    }
}

/// Edges divided into light and heavy at a time.
const CHUNK: usize = 64;

/// Pushes along the heavy edges of settled vertices.
struct PushHeavy<'a, W, D: ArrayValue>(BucketWindow<'a, W, D>);

impl<W: Length, D: Reach<W>> Visitor<W> for PushHeavy<'_, W, D> {
    type State = Box<Bins<D>>;

    // Distances wider than lengths are a second attempt, after an overflow.
    const BOXED: bool = size_of::<D>() > size_of::<W>();

    fn new_state(&self) -> Box<Bins<D>> {
        self.0.search.take_bins()
    }

    #[inline(always)]
    fn visit(&self, bins: &mut Box<Bins<D>>, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let from = self.0.search.distances.get(v);
        for (&dst, &edge) in piece.targets.iter().zip(piece.weights) {
            if self.0.width.is_shorter_than(edge) {
                self.0.relax::<false>(bins, from, dst, edge);
            }
        }
        Flow::More
    }
}

/// Pulls along heavy edges from settled vertices, for each vertex beyond the window.
struct PullHeavy<'a, W, D: ArrayValue>(BucketWindow<'a, W, D>);

impl<W: Length, D: Reach<W>> Visitor<W> for PullHeavy<'_, W, D> {
    type State = Box<Bins<D>>;

    // Distances wider than lengths are a second attempt, after an overflow.
    const BOXED: bool = size_of::<D>() > size_of::<W>();

    fn new_state(&self) -> Box<Bins<D>> {
        self.0.search.take_bins()
    }

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.0.search.distances.get(v) >= self.0.end
    }

    #[inline(always)]
    fn visit(&self, bins: &mut Box<Bins<D>>, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let search = self.0.search;
        let mut least = D::FAR;
        for (&src, &edge) in piece.targets.iter().zip(piece.weights) {
            let from = search.distances.get(src);
            if from < self.0.end && self.0.width.is_shorter_than(edge) {
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
