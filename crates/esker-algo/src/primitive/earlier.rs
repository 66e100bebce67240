//! Each edge once, at its later end: the lists that triangles are found in.
//!
//! A triangle {w < u < v} is found at `v`, in the *earlier* neighbours of `v` and of `u`. If vertices stand in order
//! of descending degree, a list of earlier neighbours has at most sqrt(2m) entries, however many a hub has in all.
//! [`InPlace`] reads them from the graph itself; [`Oriented`] is a copy, renumbered by degree if that pays.

use std::sync::Mutex;

use esker_graph::{Direction, Lists, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use super::array::VertexValues;

/// The neighbours of each vertex that come before it, in the undirected simple graph that underlies a graph.
pub(crate) trait Earlier: Sync {
    /// What can go wrong.
    type Error: From<Stop> + Send;

    /// Number of vertices.
    fn num_vertices(&self) -> usize;

    /// Calls `f` with the neighbours of `v` that are less than `v`, ascending; parallel edges may repeat one. Beside
    /// them, if the copy was made with them: 1 where edges lead both ways, otherwise 0.
    fn with_earlier<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[u8]) -> R)
    -> Result<R, Self::Error>;

    /// The vertex of the graph that is called `v` here.
    fn original(&self, v: VertexId) -> VertexId;
}

/// The lists of an undirected graph, as they lie.
pub(crate) struct InPlace<'a, G>(pub(crate) &'a G);

impl<G: Lists> Earlier for InPlace<'_, G> {
    type Error = G::Error;

    fn num_vertices(&self) -> usize {
        self.0.num_vertices()
    }

    #[inline(always)]
    fn with_earlier<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[u8]) -> R) -> Result<R, G::Error> {
        self.0.with_list(Direction::Out, v, |list, _| f(&list[..list.partition_point(|&u| u < v)], &[]))
    }

    fn original(&self, v: VertexId) -> VertexId {
        v
    }
}

/// A copy in memory: see [`Oriented::memory_bytes`].
pub(crate) struct Oriented<E> {
    /// Vertices by descending degree; `None`: as numbered in the graph.
    order: Option<Vec<VertexId>>,
    starts: Vec<u64>,
    lens: Vec<VertexId>,
    targets: Vec<VertexId>,
    /// 1 where edges lead both ways; empty unless asked for.
    mutual: Vec<u8>,
    error: std::marker::PhantomData<fn() -> E>,
}

/// What an [`Oriented`] is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Orientation {
    /// Whether vertices are renumbered by descending degree.
    pub(crate) by_degree: bool,
    /// Whether it is kept for each pair if edges lead both ways.
    pub(crate) mutual: bool,
}

/// Entries that one unit of building holds.
const UNIT_ENTRIES: u64 = 1 << 15;

impl<E> Oriented<E> {
    /// The most bytes that making and keeping a copy takes, for a graph of `n` vertices and `arcs` arcs: an id for
    /// each edge (and a byte if mutual edges are told apart), 16 bytes and four ids a vertex.
    pub(crate) fn memory_bytes(n: u64, arcs: u64, directed: bool, orientation: Orientation) -> u64 {
        let id = size_of::<VertexId>() as u64;
        let edges = if directed { arcs } else { arcs / 2 };
        let renumbering = if orientation.by_degree { 2 * id } else { 0 };
        edges * (id + u64::from(orientation.mutual)) + n * (16 + 2 * id + renumbering)
    }
}

impl<E: From<Stop> + Send> Earlier for Oriented<E> {
    type Error = E;

    fn num_vertices(&self) -> usize {
        self.lens.len()
    }

    #[inline(always)]
    fn with_earlier<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[u8]) -> R) -> Result<R, E> {
        let start = self.starts[v as usize] as usize;
        let range = start..start + self.lens[v as usize] as usize;
        let mutual = self.mutual.get(range.clone()).unwrap_or_default();
        Ok(f(&self.targets[range], mutual))
    }

    #[inline(always)]
    fn original(&self, v: VertexId) -> VertexId {
        self.order.as_ref().map_or(v, |order| order[v as usize])
    }
}

impl<E: From<Stop> + Send> Oriented<E> {
    /// Copies a graph. Reads every list twice; a directed graph needs its in-lists.
    pub(crate) fn new<G: Lists<Error = E>>(
        graph: &G,
        run: &Run,
        orientation: Orientation,
    ) -> Result<Self, E> {
        let n = graph.num_vertices();
        let order = if orientation.by_degree { Some(degree_order(graph, run)?) } else { None };
        let rank = order.as_ref().map(|order| ranks(run, order)).transpose()?;
        let naming = Naming { order: order.as_deref(), rank: rank.as_ref() };
        let mut starts = count(graph, run, &naming)?;
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        let mut targets = vec![0; sum as usize];
        let mut mutual = vec![0; if orientation.mutual { sum as usize } else { 0 }];
        let mut lens = vec![0; n];
        let units = cut(&starts, &mut lens, &mut targets, &mut mutual);
        run.share(units.len(), Buffers::default, |buffers, i| {
            let mut unit = units[i].lock().expect("no holder panics");
            fill(graph, run, &naming, &starts, &mut unit, buffers)
        })?;
        drop(units);
        drop(rank);
        Ok(Self { order, starts, lens, targets, mutual, error: std::marker::PhantomData })
    }
}

/// How the vertices of the graph are called in the copy.
struct Naming<'a> {
    order: Option<&'a [VertexId]>,
    rank: Option<&'a VertexValues<VertexId>>,
}

impl Naming<'_> {
    #[inline(always)]
    fn original(&self, v: VertexId) -> VertexId {
        self.order.map_or(v, |order| order[v as usize])
    }

    #[inline(always)]
    fn name(&self, original: VertexId) -> VertexId {
        self.rank.map_or(original, |rank| rank.get(original))
    }
}

/// Vertices by descending degree (out and in), ties by ascending number.
fn degree_order<G: Lists>(graph: &G, run: &Run) -> Result<Vec<VertexId>, G::Error> {
    let mut order: Vec<VertexId> = (0..graph.num_vertices()).map(vertex).collect();
    run.check()?;
    run.install(|| order.par_sort_unstable_by_key(|&v| (std::cmp::Reverse(full_degree(graph, v)), v)));
    run.check()?;
    Ok(order)
}

/// Length of the list of `v`, or of both of its lists in a directed graph.
pub(crate) fn full_degree<G: Lists>(graph: &G, v: VertexId) -> usize {
    let incoming = if graph.is_directed() { graph.degree(Direction::In, v) } else { 0 };
    graph.degree(Direction::Out, v) + incoming
}

/// Where each vertex stands in `order`.
fn ranks(run: &Run, order: &[VertexId]) -> Result<VertexValues<VertexId>, Stop> {
    let rank = VertexValues::filled(run, order.len(), 0);
    run.share_ranges(
        order.len(),
        1 << 14,
        || (),
        |(), range| {
            for r in range {
                rank.set(order[r], vertex(r));
            }
            Ok::<(), Stop>(())
        },
    )?;
    Ok(rank)
}

/// The lists of `v` that make up its neighbourhood.
fn directions<G: Lists>(graph: &G) -> &'static [Direction] {
    if graph.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
}

/// Entries of the earlier neighbours of each vertex, repetitions included, and a zero at the end.
fn count<G: Lists>(graph: &G, run: &Run, naming: &Naming<'_>) -> Result<Vec<u64>, G::Error> {
    let n = graph.num_vertices();
    let counts = VertexValues::<u64>::filled(run, n + 1, 0);
    run.share_ranges(
        n,
        256,
        || (),
        |(), range| {
            for v in range.map(vertex) {
                run.check()?;
                let mut count = 0;
                for &direction in directions(graph) {
                    count += graph.with_list(direction, naming.original(v), |list, _| {
                        list.iter().filter(|&&u| naming.name(u) < v).count() as u64
                    })?;
                }
                counts.set(v, count);
            }
            Ok::<(), G::Error>(())
        },
    )?;
    Ok(counts.into_vec())
}

/// Successive vertices and the room for their lists.
struct Unit<'a> {
    first: usize,
    lens: &'a mut [VertexId],
    targets: &'a mut [VertexId],
    mutual: &'a mut [u8],
}

/// Cuts the arrays into units that different workers may fill.
fn cut<'a>(
    starts: &[u64],
    mut lens: &'a mut [VertexId],
    mut targets: &'a mut [VertexId],
    mut mutual: &'a mut [u8],
) -> Vec<Mutex<Unit<'a>>> {
    let mut units = Vec::new();
    let mut first = 0;
    while !lens.is_empty() {
        let wanted = starts[first] + UNIT_ENTRIES;
        let end = (first + 1).max(first + starts[first..starts.len() - 1].partition_point(|&s| s < wanted));
        let entries = (starts[end] - starts[first]) as usize;
        let marked = entries.min(mutual.len());
        units.push(Mutex::new(Unit {
            first,
            lens: lens.split_off_mut(..end - first).expect("the end is within"),
            targets: targets.split_off_mut(..entries).expect("as many were counted"),
            mutual: mutual.split_off_mut(..marked).expect("as many were counted"),
        }));
        first = end;
    }
    units
}

#[derive(Default)]
struct Buffers {
    out: Vec<VertexId>,
    incoming: Vec<VertexId>,
}

/// Writes the lists of one unit.
fn fill<G: Lists>(
    graph: &G,
    run: &Run,
    naming: &Naming<'_>,
    starts: &[u64],
    unit: &mut Unit<'_>,
    buffers: &mut Buffers,
) -> Result<(), G::Error> {
    let base = starts[unit.first];
    for i in 0..unit.lens.len() {
        run.check()?;
        let v = vertex(unit.first + i);
        gather(graph, naming, Direction::Out, v, &mut buffers.out)?;
        if graph.is_directed() {
            gather(graph, naming, Direction::In, v, &mut buffers.incoming)?;
        }
        let start = (starts[v as usize] - base) as usize;
        let targets = &mut unit.targets[start..];
        let mutual = unit.mutual.get_mut(start..).unwrap_or_default();
        unit.lens[i] = vertex(unite(&buffers.out, &buffers.incoming, targets, mutual));
    }
    Ok(())
}

/// The distinct earlier neighbours of `v` in one direction, by their names here, ascending.
fn gather<G: Lists>(
    graph: &G,
    naming: &Naming<'_>,
    direction: Direction,
    v: VertexId,
    buffer: &mut Vec<VertexId>,
) -> Result<(), G::Error> {
    buffer.clear();
    graph.with_list(direction, naming.original(v), |list, _| {
        buffer.extend(list.iter().map(|&u| naming.name(u)).filter(|&u| u < v));
    })?;
    if naming.rank.is_some() {
        buffer.sort_unstable();
    }
    buffer.dedup();
    Ok(())
}

/// Merges two ascending lists without repetition into `targets`; returns the length.
fn unite(a: &[VertexId], b: &[VertexId], targets: &mut [VertexId], mutual: &mut [u8]) -> usize {
    let (mut i, mut j, mut len) = (0, 0, 0);
    while i < a.len() || j < b.len() {
        let from_a = j == b.len() || i < a.len() && a[i] <= b[j];
        let both = from_a && j < b.len() && a[i] == b[j];
        targets[len] = if from_a { a[i] } else { b[j] };
        if let Some(mark) = mutual.get_mut(len) {
            *mark = u8::from(both);
        }
        i += usize::from(from_a);
        j += usize::from(!from_a || both);
        len += 1;
    }
    len
}

/// Vertices sampled to compare orders.
const SAMPLES: u64 = 512;
/// Neighbours looked at for each of them.
const SAMPLE_NEIGHBOURS: usize = 512;

/// Whether so many more wedges have to be closed in the given order than by degree that a copy pays.
///
/// Reads the lists of at most 512 vertices, chosen with a chance proportional to their degree.
pub(crate) fn renumbering_pays<G: Lists>(graph: &G) -> Result<bool, G::Error> {
    let directed = if graph.is_directed() { 2 } else { 1 };
    let stride = (graph.num_arcs() * directed / SAMPLES).max(1);
    let (mut passed, mut next) = (0, stride / 2);
    let (mut given, mut by_degree) = (0.0, 0.0);
    for v in (0..graph.num_vertices()).map(vertex) {
        let degree = full_degree(graph, v);
        passed += degree as u64;
        if passed <= next {
            continue;
        }
        let times = (passed - next).div_ceil(stride);
        next += times * stride;
        let weight = (times * stride) as f64 / degree as f64;
        let (earlier, higher) = shares(graph, v)?;
        given += weight * (earlier * degree as f64).powi(2) / 2.0;
        by_degree += weight * (higher * degree as f64).powi(2) / 2.0;
    }
    Ok(given - by_degree > 8.0 * graph.num_arcs() as f64 && given > 2.0 * by_degree)
}

/// Of the out-neighbours of `v`, which share comes before it, and which would by degree.
fn shares<G: Lists>(graph: &G, v: VertexId) -> Result<(f64, f64), G::Error> {
    let key = |u: VertexId| (std::cmp::Reverse(full_degree(graph, u)), u);
    let own = key(v);
    let direction = if graph.degree(Direction::Out, v) > 0 { Direction::Out } else { Direction::In };
    graph.with_list(direction, v, |list, _| {
        let step = list.len().div_ceil(SAMPLE_NEIGHBOURS).max(1);
        let looked = list.len().div_ceil(step).max(1) as f64;
        let count = |before: &dyn Fn(VertexId) -> bool| {
            list.iter().step_by(step).filter(|&&u| before(u)).count() as f64 / looked
        };
        (count(&|u| u < v), count(&|u| key(u) < own))
    })
}
