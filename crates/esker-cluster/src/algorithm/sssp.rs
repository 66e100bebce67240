//! Shortest paths from one source over edges with lengths: the weights of the cluster, or 1 if edges have
//! none.
//!
//! Distances are settled in windows, the same for all processes: a window begins at the least distance that
//! is not settled anywhere. Inside a shard the vertices of a window wait in buckets, which are settled one
//! after another: all edges of the vertices of a bucket are relaxed together, and again those of vertices
//! that came nearer meanwhile. Ghosts within the window that came nearer are told to their owners, which may
//! open the window again; it is over when no ghost came nearer anywhere, and nothing is left. A process that
//! has relaxed many edges tells what it has before it goes on: else the others would wait meanwhile, and then
//! better the distances that it has worked with. The ghosts of a delegate are told when it comes nearer, and
//! settle their part of its list. The distances are a least fixed point: they do not depend on the number of
//! processes or the width of the windows, and are those of one machine bit for bit.
//!
//! Work O(n + m) for random lengths. Messages: 12 bytes for each ghost and round in which it comes nearer.
//! Memory: 8 bytes a vertex, an id for each that is reached, 16 for an entry of a bucket.

use parking_lot::Mutex;

use esker_algo::lengths::{Length, Reach};
use esker_algo::primitive::VertexValues;
use esker_format::{ElementType, Error, Result};
use esker_graph::{
    Bitmap, Direction, Flow, Graph, Lists, Piece, Select, Setting, VertexId, Visitor, message,
};

use super::entry::{ClusterAlgorithm, RunOption};
use super::local::{FoundValues, Local, Options, unsuitable};
use crate::exchange::routes::Routes;
use crate::model::answer::{Cell, ColumnKind, Outline};
use crate::model::needs::{AlgorithmNeeds, Sends, ShardShape};
use crate::net::engine::Engine;

/// Edges from which the default width of a window is taken, in each process.
const SAMPLE_LEN: usize = 1 << 12;
/// Buckets of a window.
const BUCKETS: usize = 64;
/// A process that has relaxed so many edges hears of the others before it goes on. Fewer in tests, whose
/// graphs are small.
const ROUND_ARCS: usize = if cfg!(test) { 1 << 5 } else { 1 << 18 };
/// Entries that a bucket has room for at first.
const ROOM_MIN: usize = 1 << 6;

/// Distances as keys that have the same order.
trait Keyed: Copy {
    const KIND: ColumnKind;
    fn to_key(self) -> u64;
    fn of_key(key: u64) -> Self;
    fn to_cell(self) -> Cell;
}

macro_rules! integer_keyed {
    ($type:ty) => {
        #[allow(clippy::cast_lossless, clippy::unnecessary_cast)] // Of one of the types.
        impl Keyed for $type {
            const KIND: ColumnKind = ColumnKind::Count;

            fn to_key(self) -> u64 {
                self as u64
            }

            fn of_key(key: u64) -> Self {
                key as Self
            }

            fn to_cell(self) -> Cell {
                Cell::Count(self as u64)
            }
        }
    };
}

integer_keyed!(u32);
integer_keyed!(u64);

impl Keyed for f64 {
    const KIND: ColumnKind = ColumnKind::Float;

    /// Bits of floats from zero have their order.
    fn to_key(self) -> u64 {
        self.to_bits()
    }

    fn of_key(key: u64) -> Self {
        Self::from_bits(key)
    }

    fn to_cell(self) -> Cell {
        Cell::Float(self)
    }
}

/// What distances over edges with these weights are computed in.
type Distance<W> = <W as Length>::Wide;

/// Its entry in the catalogue.
pub(crate) const ENTRY: ClusterAlgorithm = ClusterAlgorithm {
    name: "sssp",
    about: "length of the shortest path from a vertex to each vertex that it reaches",
    options: &[
        RunOption {
            name: "source",
            value_name: "ID",
            about: "the vertex to begin with (required)",
            is_list: false,
        },
        RunOption {
            name: "delta",
            value_name: "WIDTH",
            about: "width of the windows of distances that are settled together, or auto [default: auto: the mean length]",
            is_list: false,
        },
    ],
    reads_weights: true,
    needs,
    run: sssp,
};

fn needs(shape: &ShardShape) -> AlgorithmNeeds {
    let (n, id) = (shape.vertices(), size_of::<VertexId>() as u64);
    AlgorithmNeeds {
        array_bytes: (8 + 2 * id) * n + 32 * shape.arcs.min(4 * n) + shape.full_degrees_bytes(),
        sends: Sends::ARound((12 * shape.ghosts).max(shape.ghost_id_bytes) + shape.delegate_bytes()),
    }
}

fn sssp(local: &Local<'_, '_>, engine: &mut Engine<'_>, options: &Options<'_>) -> Result<FoundValues> {
    match local.version.view().weight_type() {
        None => search(local, local.graph, engine, options),
        Some(ElementType::I64) => {
            search(local, &local.version.view().graph::<i64>(local.run)?, engine, options)
        }
        Some(ElementType::F64) => {
            search(local, &local.version.view().graph::<f64>(local.run)?, engine, options)
        }
        Some(other) => Err(unsuitable(message![
            format!("cannot take weights of the type {} as lengths: make a cluster with ", other.name()),
            Setting::Weights.to("int"),
            " or ",
            Setting::Weights.to("float"),
        ])),
    }
}

fn search<W: Length<Wide: Keyed>, G: Lists<Weight = W, Error = Error>>(
    local: &Local<'_, '_>,
    graph: &G,
    engine: &mut Engine<'_>,
    options: &Options<'_>,
) -> Result<FoundValues> {
    let source = options.text("source").ok_or_else(|| {
        Error::usage(message!["sssp needs a vertex to begin with: give its id with ", Setting::Source])
    })?;
    let (zero, far) = (Distance::<W>::ZERO, Distance::<W>::FAR);
    let distances = VertexValues::filled(local.run, graph.num_vertices(), far);
    let mut waiting = Box::new(Waiting::new());
    let unsaid = Bitmap::new(graph.num_vertices());
    let start = local.find_owned(source)?;
    let mean = mean_length(local, graph, engine)?;
    let width = if options.text("delta") == Some("auto") { mean } else { options.number("delta", mean)? };
    if width <= 0.0 {
        return Err(Error::usage(format!("delta={width} is not a width of a window: give a number above 0")));
    }
    if let Some(v) = start {
        distances.set(v, zero);
        waiting.beyond.push(v);
    }
    let (mut rounds, mut windows) = (0, 0);
    loop {
        let least = waiting.beyond.iter().map(|&v| distances.get(v).to_key()).min();
        let least = engine.gather(least.unwrap_or(far.to_key()))?.into_iter().min().unwrap_or(far.to_key());
        if least == far.to_key() {
            break;
        }
        windows += 1;
        let window =
            DistanceWindow::<W>::new(local, &distances, &unsaid, Distance::<W>::of_key(least), width);
        for v in std::mem::take(&mut waiting.beyond) {
            window.sort_in(&mut waiting, v);
        }
        loop {
            let is_left = window.settle(local, graph, &mut waiting)?;
            rounds += 1;
            if !window.exchange(engine, &mut waiting, is_left)? {
                break;
            }
        }
        waiting.beyond.retain(|&v| distances.get(v) >= window.end);
    }
    let reached = local.routes.owned().filter(|&v| distances.get(v) != far).count();
    let [reached] = engine.sum([reached as u64])?;
    let outline = Outline::new(&[("distance", Distance::<W>::KIND)], rounds)
        .with_fact("reached", reached as f64)
        .with_fact("windows", f64::from(windows));
    let cell = move |v: VertexId| match distances.get(v) {
        distance if distance == far => Cell::Missing,
        distance => distance.to_cell(),
    };
    Ok((outline, Box::new(move |v, row| row.push(cell(v)))))
}

/// The mean length of the first edges of all processes, in the same order everywhere; 1 if there are none.
fn mean_length<G: Lists<Weight: Length, Error = Error>>(
    local: &Local<'_, '_>,
    graph: &G,
    engine: &mut Engine<'_>,
) -> Result<f64> {
    let (mut count, mut sum) = (0, 0.0);
    for v in local.routes.owned() {
        if count >= SAMPLE_LEN {
            break;
        }
        graph.with_list(Direction::Out, v, |_, weights| {
            for weight in weights.iter().take(SAMPLE_LEN - count) {
                sum += weight.to_f64();
                count += 1;
            }
        })?;
    }
    let mean = if G::Weight::UNIT { 1.0 } else { sum / count.max(1) as f64 };
    let means = engine.gather(mean.to_bits())?;
    let sum: f64 = means.iter().map(|&bits| f64::from_bits(bits)).sum();
    let mean = sum / means.len() as f64;
    Ok(if mean.is_finite() && mean > 0.0 { mean } else { 1.0 })
}

/// The vertices of a shard that came nearer.
struct Waiting<D> {
    /// For each bucket of the window, vertices whose lists are to be read, and their distances. An entry no
    /// longer counts once its vertex is nearer; a later entry holds the vertex.
    buckets: [Vec<(VertexId, D)>; BUCKETS],
    /// Vertices whose first distance was beyond the window, each once.
    beyond: Vec<VertexId>,
    /// Ghosts within the window that came nearer since their owners were told.
    nearer: Vec<VertexId>,
    /// Own delegates within the window that came nearer since their ghosts were told.
    delegates: Vec<VertexId>,
    /// Edges relaxed since then.
    relaxed: usize,
    /// Why distances cannot be computed.
    fault: Option<&'static str>,
}

impl<D> Waiting<D> {
    fn new() -> Self {
        let buckets = std::array::from_fn(|_| Vec::new());
        let (beyond, nearer, delegates) = (Vec::new(), Vec::new(), Vec::new());
        Self { buckets, beyond, nearer, delegates, relaxed: 0, fault: None }
    }

    /// Adds what another thread found.
    fn append(&mut self, other: &mut Self) {
        self.buckets.iter_mut().zip(&mut other.buckets).for_each(|(all, more)| all.append(more));
        self.beyond.append(&mut other.beyond);
        self.nearer.append(&mut other.nearer);
        self.delegates.append(&mut other.delegates);
        self.relaxed += other.relaxed;
        self.fault = self.fault.or(other.fault);
    }
}

/// The vertices of a list, each once, ascending.
fn take_once(list: &mut Vec<VertexId>) -> Vec<VertexId> {
    let mut taken = std::mem::take(list);
    taken.sort_unstable();
    taken.dedup();
    taken
}

/// A range of distances that are settled together.
struct DistanceWindow<'a, W: Length> {
    /// The distance of each vertex; of a ghost the least that this shard knows.
    distances: &'a VertexValues<Distance<W>>,
    /// The ghosts in [`Waiting::nearer`].
    unsaid: &'a Bitmap,
    routes: &'a Routes,
    /// Whether one thread relaxes all edges.
    is_alone: bool,
    start: Distance<W>,
    end: Distance<W>,
    /// Width of a bucket.
    step: Distance<W>,
}

impl<'a, W: Length<Wide: Keyed>> DistanceWindow<'a, W> {
    fn new(
        local: &'a Local<'_, '_>,
        distances: &'a VertexValues<Distance<W>>,
        unsaid: &'a Bitmap,
        start: Distance<W>,
        width: f64,
    ) -> Self {
        let end = start.beyond(Distance::<W>::near(width));
        let step = Distance::<W>::near(width / BUCKETS as f64);
        let is_alone = local.run.threads() == 1;
        Self { distances, unsaid, routes: local.routes, is_alone, start, end, step }
    }

    /// Puts a vertex that came nearer, and is within the window, where it waits.
    fn enter(&self, waiting: &mut Waiting<Distance<W>>, v: VertexId, distance: Distance<W>) {
        if self.routes.is_owned(v) {
            self.put(waiting, v, distance);
            if self.routes.is_own_delegate(v) {
                waiting.delegates.push(v);
            }
        } else if self.unsaid.insert(v) {
            waiting.nearer.push(v);
        }
    }

    fn put(&self, waiting: &mut Waiting<Distance<W>>, v: VertexId, distance: Distance<W>) {
        let steps = if distance > self.start { distance.steps_from(self.start, self.step) } else { 0 };
        let bucket = &mut waiting.buckets[steps.min(BUCKETS - 1)];
        if bucket.len() == bucket.capacity() {
            // Room for the vertices, not for each edge that makes one nearer.
            bucket.retain(|&(v, distance)| self.distances.get(v) == distance);
            bucket.reserve(bucket.len().max(ROOM_MIN));
        }
        bucket.push((v, distance));
    }

    /// Puts a vertex that was beyond the last window where it waits in this one.
    fn sort_in(&self, waiting: &mut Waiting<Distance<W>>, v: VertexId) {
        match self.distances.get(v) {
            distance if distance >= self.end => waiting.beyond.push(v),
            distance => self.enter(waiting, v, distance),
        }
    }

    /// Takes a distance of a vertex, if it makes that nearer.
    #[inline(always)]
    fn come_nearer(&self, waiting: &mut Waiting<Distance<W>>, v: VertexId, distance: Distance<W>) {
        let lowered = if self.is_alone {
            self.distances.lower_alone(v, distance)
        } else {
            self.distances.lower(v, distance)
        };
        let Some(old) = lowered else { return };
        if distance < self.end {
            self.enter(waiting, v, distance);
        } else if old == Distance::<W>::FAR {
            // It stays there until a window begins that holds it.
            waiting.beyond.push(v);
        }
    }

    /// Settles what waits in the buckets, and what comes nearer by that, until so much was done that others
    /// are to be heard. Whether something is left.
    fn settle<G: Graph<Weight = W, Error = Error>>(
        &self,
        local: &Local<'_, '_>,
        graph: &G,
        waiting: &mut Box<Waiting<Distance<W>>>,
    ) -> Result<bool> {
        let mut frontier = Vec::new();
        waiting.relaxed = 0;
        for bucket in 0..BUCKETS {
            while !waiting.buckets[bucket].is_empty() {
                if waiting.relaxed >= ROUND_ARCS {
                    return Ok(true);
                }
                let entries = std::mem::take(&mut waiting.buckets[bucket]).into_iter();
                frontier.clear();
                frontier.extend(
                    entries.filter(|&(v, distance)| self.distances.get(v) == distance).map(|(v, _)| v),
                );
                if frontier.is_empty() {
                    continue;
                }
                local.run.check()?;
                let held = std::mem::replace(waiting, Box::new(Waiting::new()));
                let relax = Relax { window: self, held: Mutex::new(Some(held)) };
                let found = graph.scan(local.run, Direction::Out, Select::List(&frontier), &relax)?;
                let unused = relax.held.into_inner();
                let mut found = found.into_iter().chain(unused);
                *waiting = found.next().unwrap_or_else(|| Box::new(Waiting::new()));
                found.for_each(|mut found| waiting.append(&mut found));
                if let Some(fault) = waiting.fault {
                    return Err(unsuitable(fault));
                }
            }
        }
        Ok(false)
    }

    /// Tells owners which of their vertices came nearer, and ghosts of delegates. Whether any did, or
    /// something `is_left`, in any process.
    fn exchange(
        &self,
        engine: &mut Engine<'_>,
        waiting: &mut Waiting<Distance<W>>,
        is_left: bool,
    ) -> Result<bool> {
        let mut told = std::mem::take(&mut waiting.nearer);
        told.sort_unstable();
        told.iter().for_each(|&v| self.unsaid.set_word(v as usize / 64, 0));
        let pairs = told.iter().map(|&v| (v, self.distances.get(v).to_key()));
        let active = told.len() as u64 + u64::from(is_left);
        let active = self.routes.tell_owners(engine, active, pairs, |v, key| {
            self.come_nearer(waiting, v, Distance::<W>::of_key(key));
        })?;
        let told = take_once(&mut waiting.delegates);
        let nearer = |v| told.binary_search(&v).is_ok().then(|| self.distances.get(v).to_key());
        let spread = self.routes.to_delegates(engine, told.len() as u64, nearer, |ghost, key| {
            let distance = Distance::<W>::of_key(key);
            // At the distance that the owner knows, the ghost settles its part of the list.
            if distance <= self.distances.get(ghost) {
                self.distances.set(ghost, distance);
                self.put(waiting, ghost, distance);
            }
        })?;
        Ok(active + spread > 0)
    }
}

/// Relaxes the edges of the vertices of a bucket.
struct Relax<'a, W: Length> {
    window: &'a DistanceWindow<'a, W>,
    /// What waits, until a thread goes on with it.
    held: Mutex<Option<Box<Waiting<Distance<W>>>>>,
}

impl<W: Length<Wide: Keyed>> Visitor<W> for Relax<'_, W> {
    type State = Box<Waiting<Distance<W>>>;

    const STOPS: bool = false;
    const BOXED: bool = true;

    fn new_state(&self) -> Self::State {
        let held = self.held.lock().take();
        held.unwrap_or_else(|| Box::new(Waiting::new()))
    }

    fn visit(&self, waiting: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let from = self.window.distances.get(v);
        waiting.relaxed += piece.targets.len();
        for (&target, &weight) in piece.targets.iter().zip(piece.weights) {
            match from.sum(weight) {
                (distance, true) => self.window.come_nearer(waiting, target, distance),
                _ => waiting.fault = fault_of(weight).or(waiting.fault),
            }
        }
        Flow::More
    }
}

/// The error of an edge whose length is invalid or overflows a path; `None` if it is infinite, which leads
/// nowhere.
#[cold]
fn fault_of<W: Length>(weight: W) -> Option<&'static str> {
    let length = weight.to_f64();
    if length.is_nan() || length < 0.0 {
        return Some("cannot compute shortest paths: an edge has a length that is negative or not a number");
    }
    // Which paths are the shortest is not known yet.
    if W::INTEGRAL {
        return Some("cannot compute shortest paths: a path is longer than 63 bits hold");
    }
    (length < f64::INFINITY).then_some("cannot compute shortest paths: a path is longer than a double holds")
}
