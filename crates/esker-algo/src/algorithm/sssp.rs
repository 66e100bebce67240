//! Shortest paths from one source, over edges with lengths.
//!
//! Delta-stepping [1] in windows of [`BINS`] buckets. Within a window, buckets of width `delta` are settled one after
//! another by relaxing *light* edges, those no longer than the window; buckets that stay small cost no more than a
//! call, which is what bucket fusion [2] is for. A *heavy* edge leads out of the window, so all that leave its settled
//! vertices wait for its end [1], by when most targets are settled and need none: then they are pushed from the settled
//! vertices, or pulled by those not yet settled, whichever has fewer arcs [3]. Vertices beyond the window wait in one
//! list.
//!
//! Distances do not depend on threads or timing: they are least fixed points, and integers are exact. Lengths of 32-bit
//! integers are added in 32 bits and, if that overflows, again in 64; beyond 2^63 the run stops with an error.
//!
//! Work O(n + m) on random lengths [1]. Memory: 4 to 8 bytes a vertex for distances, 8 for the answer, about five ids for
//! buckets (a vertex stands in at most [`BINS`], commonly in two). Reads: the list of each reached vertex once or a few
//! times; in-lists when pulling.
//!
//! [1] U. Meyer, P. Sanders, "Δ-stepping: a parallelizable shortest path algorithm", Journal of Algorithms 49(1), 2003.
//! [2] Y. Zhang et al., "Optimizing Ordered Graph Algorithms with GraphIt", CGO 2020.
//! [3] V. Chakaravarthy et al., "Scalable Single Source Shortest Path Algorithms for Massively Parallel Systems",
//!     IPDPS 2014.

use std::sync::Mutex;

use esker_graph::{
    Bitmap, Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, vertex,
};

use rayon::prelude::*;

use super::bfs::{BfsOptions, bfs};
use crate::estimate::{Estimate, Shape};
use crate::lengths::{Length, Reach};
use crate::primitive::{EdgeOp, Frontier, VertexArray, VertexValues, edge_map};

/// Buckets of a window.
pub const BINS: usize = 16;

/// How shortest paths are sought.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SsspOptions {
    /// Width of a bucket; `None`: chosen from a sample of the lengths and degrees. The distances do not depend on it.
    pub delta: Option<f64>,
    /// Whether the edges by which vertices are reached are wanted; for these the lists are read once more.
    pub parents: bool,
}

/// Distances from a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Sssp<W: Length> {
    /// The length of the shortest path to each vertex; [`Length::UNREACHED`] where there is none.
    pub distances: Vec<W::Distance>,
    /// For each vertex the one before it on a shortest path: itself for the source, [`NONE`] where unreached; if
    /// asked for. Of several which one may vary between runs.
    pub parents: Option<Vec<VertexId>>,
    /// Number of vertices reached, the source included.
    pub reached: usize,
    /// The width of buckets that was used.
    pub delta: f64,
    /// Buckets settled, counting each time that one was refilled.
    pub rounds: usize,
}

/// What the search will take; the reading is what is expected.
pub fn estimate(shape: Shape, options: &SsspOptions) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    let ids = 5 + 2 * u64::from(options.parents);
    Estimate {
        memory_bytes: shape.num_vertices * (16 + ids * id_bytes) + shape.num_vertices.div_ceil(64) * 8 * 3,
        read_bytes: shape.weighted_list_bytes() * (2 + u64::from(options.parents)),
    }
}

/// Finds the distances from `source`. A graph without weights has edges of length 1.
///
/// # Errors
/// [`Stop::Unsuitable`] if the source is not a vertex, an edge met is negative or not a number, or an integer distance
/// reaches 2^63; [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn sssp<G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &SsspOptions,
) -> Result<Sssp<G::Weight>, G::Error>
where
    G::Weight: Length,
{
    let n = graph.num_vertices();
    run.begin("shortest paths", estimate(Shape::of(graph), options).memory_bytes)?;
    if source as usize >= n {
        return Err(Stop::Unsuitable(format!("source {source} is not a vertex: there are {n}")).into());
    }
    if <G::Weight as Length>::UNIT {
        return hops(graph, run, source, options);
    }
    let delta = match options.delta {
        Some(delta) if delta > 0.0 && delta.is_finite() => delta,
        Some(delta) => return Err(Stop::Unsuitable(format!("a bucket cannot be {delta} wide")).into()),
        None => usual_delta(graph, run)?,
    };
    let narrow = Search::<G::Weight, <G::Weight as Length>::Narrow>::new(run, n, delta);
    let distances = match narrow.find(graph, run, source)? {
        Fault::None => narrow.answer(run),
        Fault::Negative => return Err(negative().into()),
        Fault::Overflow => {
            drop(narrow);
            let wide = Search::<G::Weight, <G::Weight as Length>::Wide>::new(run, n, delta);
            match wide.find(graph, run, source)? {
                Fault::None => wide.answer(run),
                Fault::Negative => return Err(negative().into()),
                Fault::Overflow => {
                    return Err(Stop::Unsuitable("a distance does not fit in 63 bits".to_owned()).into());
                }
            }
        }
    };
    let rounds = run.rounds();
    let reached = distances.iter().filter(|&&d| d != G::Weight::UNREACHED).count();
    let parents = if options.parents { Some(tight_parents(graph, run, source, &distances)?) } else { None };
    Ok(Sssp { distances, parents, reached, delta, rounds })
}

fn negative() -> Stop {
    Stop::Unsuitable(
        "an edge has a length that is negative or not a number, for which shortest paths are not defined here".to_owned(),
    )
}

/// Distances in a graph without weights.
fn hops<G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &SsspOptions,
) -> Result<Sssp<G::Weight>, G::Error>
where
    G::Weight: Length,
{
    let found = bfs(graph, run, &[source], &BfsOptions { depths: true })?;
    let distance = |&depth: &VertexId| {
        if depth == NONE { G::Weight::UNREACHED } else { G::Weight::of_steps(depth.into()) }
    };
    Ok(Sssp {
        distances: found.depths.iter().flatten().map(distance).collect(),
        parents: options.parents.then_some(found.parents),
        reached: found.reached,
        delta: 1.0,
        rounds: found.rounds,
    })
}

/// A width of buckets that suits the lengths and degrees of a sample of about 1000 vertices: such that a vertex has
/// [`LIGHT_EDGES`] edges no longer than a window, if it has so many.
fn usual_delta<G: Graph>(graph: &G, run: &Run) -> Result<f64, G::Error>
where
    G::Weight: Length,
{
    let n = graph.num_vertices();
    let count = n.min(1000);
    let places = (0..count).map(|i| vertex((i as u128 * n as u128 / count as u128) as usize));
    let list: Vec<_> = places.filter(|&v| graph.degree(Direction::Out, v) > 0).collect();
    let with_edges = n as f64 * list.len() as f64 / count as f64;
    let degree = graph.num_arcs() as f64 / with_edges.max(1.0);
    let lengths = graph.scan(run, Direction::Out, Select::List(&list), &SampleLengths)?;
    let lengths = lengths.concat();
    let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
    let window = 2.0 * mean * (LIGHT_EDGES / degree.max(1.0)).min(1.0);
    Ok(if window > 0.0 { window / BINS as f64 } else { 1.0 })
}

/// Edges of a vertex of average degree that are to be light.
const LIGHT_EDGES: f64 = 8.0;

struct SampleLengths;

impl<W: Length> Visitor<W> for SampleLengths {
    type State = Vec<f64>;

    fn new_state(&self) -> Vec<f64> {
        Vec::new()
    }

    fn visit(&self, lengths: &mut Vec<f64>, _: VertexId, piece: Piece<'_, W>) -> Flow {
        let found = piece.weights.iter().take(64).map(|w| w.to_f64());
        lengths.extend(found.filter(|w| w.is_finite() && *w >= 0.0));
        Flow::Enough
    }
}

/// Why distances could not be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Fault {
    #[default]
    None,
    Overflow,
    Negative,
}

/// The distances, and which vertices wait for what.
struct Search<W, D: crate::primitive::Value> {
    distances: VertexValues<D>,
    /// Width of a bucket, and of a window.
    step: D,
    span: D,
    /// Vertices that stand in a list of those beyond the window.
    waiting: Bitmap,
    /// Vertices settled in this window.
    settled: Bitmap,
    /// Vertices that came into the bucket at hand while it is being settled.
    pending: Bitmap,
    /// The bins of each worker that there was, between rounds.
    bins: Mutex<Vec<Bins>>,
    weight: std::marker::PhantomData<fn() -> W>,
}

/// What one worker found.
#[derive(Debug, Default)]
struct Bins {
    /// Vertices whose distance came to lie in each bucket of the window.
    window: [Vec<VertexId>; BINS],
    /// Vertices whose distance came to lie beyond it.
    beyond: Vec<VertexId>,
    /// Vertices settled in the window, and the arcs that leave them.
    settled: Vec<VertexId>,
    settled_arcs: u64,
    /// Whether a heavy edge was met.
    heavy: bool,
    fault: Fault,
}

impl<W: Length, D: Reach<W>> Search<W, D> {
    fn new(run: &Run, n: usize, delta: f64) -> Self {
        let step = D::near(delta);
        Self {
            distances: VertexValues::filled(run, n, D::FAR),
            step,
            span: (0..BINS).fold(D::ZERO, |span, _| {
                let longer = span.plus(step);
                if span < longer && longer < D::FAR { longer } else { span }
            }),
            waiting: Bitmap::new(n),
            settled: Bitmap::new(n),
            pending: Bitmap::new(n),
            bins: Mutex::default(),
            weight: std::marker::PhantomData,
        }
    }

    fn answer(self, run: &Run) -> Vec<W::Distance> {
        let distances = self.distances.into_vec();
        run.install(|| distances.into_par_iter().map(D::give).collect())
    }

    /// Computes the distances, unless a fault shows.
    fn find<G: Graph<Weight = W>>(&self, graph: &G, run: &Run, source: VertexId) -> Result<Fault, G::Error> {
        self.distances.set(source, D::ZERO);
        let mut remaining_arcs = graph.num_arcs();
        let mut beyond = vec![source];
        let mut start = D::ZERO;
        while !beyond.is_empty() {
            let window = Window { search: self, start, end: start.beyond(self.span), bin: 0 };
            let mut bins = self.take_bins();
            window.fill(&mut bins, beyond);
            self.put_bins([bins]);
            window.settle(graph, run)?;
            window.relax_heavy(graph, run, &mut remaining_arcs)?;
            let mut all = self.bins.lock().expect("no worker panicked");
            let fault = all.iter().map(|bins| bins.fault).max().unwrap_or_default();
            if fault != Fault::None {
                return Ok(fault);
            }
            beyond = Vec::new();
            start = D::FAR;
            for bins in &mut *all {
                start = window.keep_beyond(&mut bins.beyond, start);
                beyond.append(&mut bins.beyond);
            }
        }
        Ok(Fault::None)
    }

    /// Moves what all workers have in a bin to `frontier`. Each vertex is there once; some have since moved on to an
    /// earlier bin.
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

/// Empties a set that has no members but `members`.
fn clear(set: &Bitmap, members: &[VertexId]) {
    if members.len() < set.num_words() {
        members.iter().for_each(|&v| set.set_word(v as usize / 64, 0));
    } else {
        (0..set.num_words()).for_each(|word| set.set_word(word, 0));
    }
}

/// Removes `v` while no other thread touches the set.
fn remove(set: &Bitmap, v: VertexId) {
    let word = v as usize / 64;
    set.set_word(word, set.word(word) & !(1 << (v % 64)));
}

/// The buckets between two distances, one of which is being settled.
struct Window<'a, W, D: crate::primitive::Value> {
    search: &'a Search<W, D>,
    start: D,
    end: D,
    bin: usize,
}

impl<W: Length, D: Reach<W>> Window<'_, W, D> {
    #[inline(always)]
    fn bin_of(&self, distance: D) -> usize {
        distance.steps_from(self.start, self.search.step).min(BINS - 1)
    }

    /// Puts vertices that lie in the window into its bins; the others wait on.
    fn fill(&self, bins: &mut Bins, vertices: Vec<VertexId>) {
        for v in vertices {
            let distance = self.search.distances.get(v);
            if distance < self.end {
                remove(&self.search.waiting, v);
                bins.window[self.bin_of(distance)].push(v);
            } else {
                bins.beyond.push(v);
            }
        }
    }

    /// Leaves in `vertices` those that still lie beyond the window. The least of their distances and `least`.
    fn keep_beyond(&self, vertices: &mut Vec<VertexId>, mut least: D) -> D {
        vertices.retain(|&v| {
            let distance = self.search.distances.get(v);
            let stays = distance >= self.end;
            if !stays {
                remove(&self.search.waiting, v);
            } else if distance < least {
                least = distance;
            }
            stays
        });
        least
    }

    /// Settles the buckets of the window one after another, by light edges alone.
    fn settle<G: Graph<Weight = W>>(&self, graph: &G, run: &Run) -> Result<(), G::Error> {
        let mut frontier = Vec::new();
        for bin in 0..BINS {
            self.search.take_bucket(bin, &mut frontier);
            while !frontier.is_empty() {
                run.round(frontier.len())?;
                let light = Light { graph, window: Window { bin, ..*self } };
                let states = graph.scan(run, Direction::Out, Select::List(&frontier), &light)?;
                self.search.put_bins(states);
                self.search.take_bucket(bin, &mut frontier);
                clear(&self.search.pending, &frontier);
            }
        }
        Ok(())
    }

    /// Relaxes the heavy edges of all vertices settled in the window, if there are any.
    fn relax_heavy<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        remaining_arcs: &mut u64,
    ) -> Result<(), G::Error> {
        let (mut settled, mut arcs, mut heavy) = (Vec::new(), 0, false);
        for bins in &mut *self.search.bins.lock().expect("no worker panicked") {
            settled.append(&mut bins.settled);
            arcs += std::mem::take(&mut bins.settled_arcs);
            heavy |= std::mem::take(&mut bins.heavy);
        }
        clear(&self.search.settled, &settled);
        *remaining_arcs -= arcs.min(*remaining_arcs);
        if heavy {
            let window = Window { ..*self };
            let states = if graph.has(Direction::In) && arcs > *remaining_arcs {
                graph.scan(run, Direction::In, Select::All, &HeavyPull(window))?
            } else {
                graph.scan(run, Direction::Out, Select::List(&settled), &HeavyPush(window))?
            };
            self.search.put_bins(states);
        }
        Ok(())
    }

    /// Lowers the distance of `dst` to that over an edge from a vertex at `from`, and puts it where it then belongs.
    #[inline(always)]
    fn relax(&self, bins: &mut Bins, from: D, dst: VertexId, edge: W) {
        let Some(distance) = from.after(edge) else {
            bins.fault = bins.fault.max(fault_of(edge));
            return;
        };
        let Some(old) = self.search.distances.lower(dst, distance) else { return };
        if distance >= self.end {
            if self.search.waiting.insert(dst) {
                bins.beyond.push(dst);
            }
            return;
        }
        let bin = self.bin_of(distance);
        let new = if bin == self.bin {
            self.search.pending.insert(dst)
        } else {
            old >= self.end || bin != self.bin_of(old)
        };
        if new {
            bins.window[bin].push(dst);
        }
    }
}

#[cold]
fn fault_of<W: Length>(edge: W) -> Fault {
    if edge.to_f64() >= 0.0 { Fault::Overflow } else { Fault::Negative }
}

/// Relaxes the light edges of a bucket.
struct Light<'a, W, D: crate::primitive::Value, G> {
    graph: &'a G,
    window: Window<'a, W, D>,
}

impl<W: Length, D: Reach<W>, G: Graph> Visitor<W> for Light<'_, W, D, G> {
    type State = Bins;

    fn new_state(&self) -> Bins {
        self.window.search.take_bins()
    }

    /// Whether `v` still lies in the bucket.
    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.window.bin_of(self.window.search.distances.get(v)) == self.window.bin
    }

    #[inline(always)]
    fn visit(&self, bins: &mut Bins, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let search = self.window.search;
        if search.settled.insert(v) {
            bins.settled.push(v);
            bins.settled_arcs += self.graph.degree(Direction::Out, v) as u64;
        }
        let from = search.distances.get(v);
        for (targets, edges) in piece.targets.chunks(CHUNK).zip(piece.weights.chunks(CHUNK)) {
            // Which edges are light cannot be predicted, so they are picked without branches.
            let mut light = [0u8; CHUNK];
            let mut count = 0;
            for (i, &edge) in edges.iter().enumerate() {
                light[count % CHUNK] = i as u8;
                count += usize::from(!search.span.is_shorter_than(edge));
            }
            bins.heavy |= count < edges.len();
            for &i in &light[..count] {
                self.window.relax(bins, from, targets[usize::from(i)], edges[usize::from(i)]);
            }
        }
        Flow::More
    }
}

/// Edges that are sorted into light and heavy at a time.
const CHUNK: usize = 64;

/// Relaxes the heavy edges of settled vertices.
struct HeavyPush<'a, W, D: crate::primitive::Value>(Window<'a, W, D>);

impl<W: Length, D: Reach<W>> Visitor<W> for HeavyPush<'_, W, D> {
    type State = Bins;

    fn new_state(&self) -> Bins {
        self.0.search.take_bins()
    }

    #[inline(always)]
    fn visit(&self, bins: &mut Bins, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let from = self.0.search.distances.get(v);
        for (&dst, &edge) in piece.targets.iter().zip(piece.weights) {
            if self.0.search.span.is_shorter_than(edge) {
                self.0.relax(bins, from, dst, edge);
            }
        }
        Flow::More
    }
}

/// Relaxes the heavy edges from settled vertices to each vertex that lies beyond the window.
struct HeavyPull<'a, W, D: crate::primitive::Value>(Window<'a, W, D>);

impl<W: Length, D: Reach<W>> Visitor<W> for HeavyPull<'_, W, D> {
    type State = Bins;

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
        if search.distances.lower(v, least).is_some() && search.waiting.insert(v) {
            bins.beyond.push(v);
        }
        Flow::More
    }
}

/// A tree of edges that are as long as the difference of the distances of their ends. A search along such edges reaches
/// every vertex, by a path without circles even where edges are of length zero.
fn tight_parents<G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    distances: &[<G::Weight as Length>::Distance],
) -> Result<Vec<VertexId>, G::Error>
where
    G::Weight: Length,
{
    let parents = VertexArray::filled(run, distances.len(), NONE);
    parents.set(source, source);
    let mut frontier = Frontier::one(graph, source);
    while !frontier.is_empty() {
        run.check()?;
        frontier = edge_map(graph, run, &frontier, &Tight::<G::Weight> { parents: &parents, distances })?;
    }
    Ok(parents.into_vec())
}

struct Tight<'a, W: Length> {
    parents: &'a VertexArray,
    distances: &'a [W::Distance],
}

impl<W: Length> EdgeOp<W> for Tight<'_, W> {
    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        self.parents.get(dst) == NONE
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, edge: W) -> bool {
        let tight = W::extend(self.distances[src as usize], edge) == Some(self.distances[dst as usize]);
        tight && self.parents.claim(dst, NONE, src)
    }
}
