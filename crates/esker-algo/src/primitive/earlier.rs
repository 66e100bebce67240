//! Each edge once, at its later end: the lists in which triangles are counted.
//!
//! A triangle {w < u < v} is found at `v`, by intersecting the *earlier* neighbours of `v` with those of `u`.
//! If vertices are in order of descending degree, a list of earlier neighbours has at most sqrt(2m) entries,
//! even at a hub. [`InPlaceLists`] reads the lists from the graph; [`Oriented`] copies them, renumbered by
//! degree if that pays.

use parking_lot::Mutex;

use esker_graph::{BATCH_LEN, Direction, Lists, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use super::array::VertexValues;
use super::neighbours::neighbourhood_directions;

/// Earlier neighbours of each vertex in the undirected simple graph that underlies a graph.
pub(crate) trait EarlierNeighbours: Sync {
    /// Why a list cannot be read.
    type Error: From<Stop> + Send;

    /// Number of vertices.
    fn num_vertices(&self) -> usize;

    /// Calls `f` with the neighbours of `v` that are less than `v`, ascending; a parallel edge may repeat a
    /// neighbour. The second slice is parallel to the first if the copy has `mutual` marks: 1 where edges
    /// lead both ways, else 0.
    fn with_earlier<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[u8]) -> R)
    -> Result<R, Self::Error>;

    /// See [`Lists::touch`].
    fn touch(&self, batch: &[VertexId]);

    /// The graph's id of the vertex with id `v` here.
    fn original(&self, v: VertexId) -> VertexId;
}

/// Entries of a few cache lines.
const SHORT_LEN: usize = 64;

/// The lists of an undirected graph, without a copy.
pub(crate) struct InPlaceLists<'a, G>(pub(crate) &'a G);

impl<G: Lists> EarlierNeighbours for InPlaceLists<'_, G> {
    type Error = G::Error;

    fn num_vertices(&self) -> usize {
        self.0.num_vertices()
    }

    #[inline(always)]
    fn with_earlier<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[u8]) -> R) -> Result<R, G::Error> {
        self.0.with_list(Direction::Out, v, |list, _| {
            // A search in a short list would read its middle first, which is not in a cache yet.
            let earlier = if list.len() <= SHORT_LEN {
                list.iter().take_while(|&&u| u < v).count()
            } else {
                list.partition_point(|&u| u < v)
            };
            f(&list[..earlier], &[])
        })
    }

    #[inline(always)]
    fn touch(&self, batch: &[VertexId]) {
        self.0.touch(Direction::Out, batch);
    }

    fn original(&self, v: VertexId) -> VertexId {
        v
    }
}

/// A copy of the earlier neighbours in memory. Its size: [`Oriented::memory_bytes`].
pub(crate) struct Oriented<E> {
    /// Vertices by descending degree; `None` if the graph's own numbering is kept.
    order: Option<Vec<VertexId>>,
    starts: Vec<u64>,
    lens: Vec<VertexId>,
    targets: Vec<VertexId>,
    /// Per entry, 1 if edges lead both ways. Empty unless requested.
    mutual: Vec<u8>,
    error: std::marker::PhantomData<fn() -> E>,
}

/// The contents of an [`Oriented`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrientedOptions {
    /// Whether to renumber vertices by descending degree.
    pub(crate) by_degree: bool,
    /// Whether to mark the pairs that have edges both ways.
    pub(crate) mutual: bool,
}

/// Entries per unit of parallel copying.
const UNIT_ENTRIES: u64 = 1 << 15;

impl<E> Oriented<E> {
    /// The most bytes that making and keeping a copy takes, for `n` vertices and `arcs` arcs: one id per edge
    /// (plus one byte with `mutual`), and 16 bytes and up to four ids per vertex.
    pub(crate) fn memory_bytes(n: u64, arcs: u64, directed: bool, orientation: OrientedOptions) -> u64 {
        let id = size_of::<VertexId>() as u64;
        let edges = if directed { arcs } else { arcs / 2 };
        let renumbering = if orientation.by_degree { 2 * id } else { 0 };
        edges * (id + u64::from(orientation.mutual)) + n * (16 + 2 * id + renumbering)
    }
}

impl<E: From<Stop> + Send> EarlierNeighbours for Oriented<E> {
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
    fn touch(&self, batch: &[VertexId]) {
        let mut starts = [0; BATCH_LEN];
        for (start, &v) in starts.iter_mut().zip(batch) {
            *start = self.starts[v as usize] as usize;
        }
        for &start in &starts[..batch.len()] {
            std::hint::black_box(self.targets.get(start).copied());
        }
    }

    #[inline(always)]
    fn original(&self, v: VertexId) -> VertexId {
        self.order.as_ref().map_or(v, |order| order[v as usize])
    }
}

impl<E: From<Stop> + Send> Oriented<E> {
    /// Copies the earlier neighbours. Reads every list twice; a directed graph needs its in-lists.
    pub(crate) fn new<G: Lists<Error = E>>(
        graph: &G,
        run: &Run,
        orientation: OrientedOptions,
    ) -> Result<Self, E> {
        let n = graph.num_vertices();
        let order = if orientation.by_degree { Some(degree_order(graph, run)?) } else { None };
        let rank = order.as_ref().map(|order| ranks(run, order)).transpose()?;
        let renumbering = Renumbering { order: order.as_deref(), rank: rank.as_ref() };
        let mut starts = count(graph, run, &renumbering)?;
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        let mut targets = vec![0; sum as usize];
        let mut mutual = vec![0; if orientation.mutual { sum as usize } else { 0 }];
        let mut lens = vec![0; n];
        let units = split_units(&starts, &mut lens, &mut targets, &mut mutual);
        run.share(units.len(), ListBuffers::default, |buffers, i| {
            let mut unit = units[i].lock();
            fill(graph, run, &renumbering, &starts, &mut unit, buffers)
        })?;
        drop(units);
        drop(rank);
        Ok(Self { order, starts, lens, targets, mutual, error: std::marker::PhantomData })
    }
}

/// Maps between the graph's ids and the copy's ids.
struct Renumbering<'a> {
    order: Option<&'a [VertexId]>,
    rank: Option<&'a VertexValues<VertexId>>,
}

impl Renumbering<'_> {
    #[inline(always)]
    fn original(&self, v: VertexId) -> VertexId {
        self.order.map_or(v, |order| order[v as usize])
    }

    #[inline(always)]
    fn renumbered(&self, original: VertexId) -> VertexId {
        self.rank.map_or(original, |rank| rank.get(original))
    }
}

/// Vertices by descending degree (out plus in); ties by ascending id.
fn degree_order<G: Lists>(graph: &G, run: &Run) -> Result<Vec<VertexId>, G::Error> {
    let mut order: Vec<VertexId> = (0..graph.num_vertices()).map(vertex).collect();
    run.check()?;
    run.install(|| order.par_sort_unstable_by_key(|&v| (std::cmp::Reverse(full_degree(graph, v)), v)));
    run.check()?;
    Ok(order)
}

/// Length of the list of `v`; in a directed graph, of its out-list and in-list together.
pub(crate) fn full_degree<G: Lists>(graph: &G, v: VertexId) -> usize {
    let incoming = if graph.is_directed() { graph.degree(Direction::In, v) } else { 0 };
    graph.degree(Direction::Out, v) + incoming
}

/// The position of each vertex in `order`.
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

/// The number of earlier neighbours of each vertex, repetitions included, followed by a zero.
fn count<G: Lists>(graph: &G, run: &Run, renumbering: &Renumbering<'_>) -> Result<Vec<u64>, G::Error> {
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
                for &direction in neighbourhood_directions(graph) {
                    count += graph.with_list(direction, renumbering.original(v), |list, _| {
                        list.iter().filter(|&&u| renumbering.renumbered(u) < v).count() as u64
                    })?;
                }
                counts.set(v, count);
            }
            Ok::<(), G::Error>(())
        },
    )?;
    Ok(counts.into_vec())
}

/// Consecutive vertices and the space for their lists.
struct CopyUnit<'a> {
    first: usize,
    lens: &'a mut [VertexId],
    targets: &'a mut [VertexId],
    mutual: &'a mut [u8],
}

/// Divides the arrays into units that different workers can fill.
fn split_units<'a>(
    starts: &[u64],
    mut lens: &'a mut [VertexId],
    mut targets: &'a mut [VertexId],
    mut mutual: &'a mut [u8],
) -> Vec<Mutex<CopyUnit<'a>>> {
    let mut units = Vec::new();
    let mut first = 0;
    while !lens.is_empty() {
        let wanted = starts[first] + UNIT_ENTRIES;
        let end = (first + 1).max(first + starts[first..starts.len() - 1].partition_point(|&s| s < wanted));
        let entries = (starts[end] - starts[first]) as usize;
        let marked = entries.min(mutual.len());
        units.push(Mutex::new(CopyUnit {
            first,
            lens: lens.split_off_mut(..end - first).expect("the range ends within the array"),
            targets: targets.split_off_mut(..entries).expect("the array has the counted size"),
            mutual: mutual.split_off_mut(..marked).expect("the array has the counted size"),
        }));
        first = end;
    }
    units
}

/// The buffers of one worker.
#[derive(Default)]
struct ListBuffers {
    out: Vec<VertexId>,
    incoming: Vec<VertexId>,
}

/// Fills the lists of one unit.
fn fill<G: Lists>(
    graph: &G,
    run: &Run,
    renumbering: &Renumbering<'_>,
    starts: &[u64],
    unit: &mut CopyUnit<'_>,
    buffers: &mut ListBuffers,
) -> Result<(), G::Error> {
    let base = starts[unit.first];
    for i in 0..unit.lens.len() {
        run.check()?;
        let v = vertex(unit.first + i);
        gather(graph, renumbering, Direction::Out, v, &mut buffers.out)?;
        if graph.is_directed() {
            gather(graph, renumbering, Direction::In, v, &mut buffers.incoming)?;
        }
        let start = (starts[v as usize] - base) as usize;
        let targets = &mut unit.targets[start..];
        let mutual = unit.mutual.get_mut(start..).unwrap_or_default();
        unit.lens[i] = vertex(unite(&buffers.out, &buffers.incoming, targets, mutual));
    }
    Ok(())
}

/// The distinct earlier neighbours of `v` in one direction, by the copy's ids, ascending.
fn gather<G: Lists>(
    graph: &G,
    renumbering: &Renumbering<'_>,
    direction: Direction,
    v: VertexId,
    buffer: &mut Vec<VertexId>,
) -> Result<(), G::Error> {
    buffer.clear();
    graph.with_list(direction, renumbering.original(v), |list, _| {
        buffer.extend(list.iter().map(|&u| renumbering.renumbered(u)).filter(|&u| u < v));
    })?;
    if renumbering.rank.is_some() {
        buffer.sort_unstable();
    }
    buffer.dedup();
    Ok(())
}

/// Merges two ascending lists without repetitions into `targets` and returns the length.
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

/// Vertices sampled to compare the two orders.
const SAMPLES: u64 = 512;
/// Neighbours sampled per vertex.
const SAMPLE_NEIGHBOURS: usize = 512;

/// Whether ordering by degree saves enough wedge checks, compared with the given order, to pay for a copy.
///
/// Reads the lists of at most 512 vertices, chosen with probability proportional to their degree.
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
        let (earlier, higher) = fractions_before(graph, v)?;
        given += weight * (earlier * degree as f64).powi(2) / 2.0;
        by_degree += weight * (higher * degree as f64).powi(2) / 2.0;
    }
    Ok(given - by_degree > 8.0 * graph.num_arcs() as f64 && given > 2.0 * by_degree)
}

/// The fractions of the neighbours of `v` that come before it in the given order and in degree order.
fn fractions_before<G: Lists>(graph: &G, v: VertexId) -> Result<(f64, f64), G::Error> {
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
