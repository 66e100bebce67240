//! Triangle counting: how many triangles the undirected simple graph that underlies a graph has.
//!
//! Directions, self-loops and parallel edges are ignored. Each triangle {w < u < v} is found once, at `v`, where the
//! earlier neighbours of `v` meet those of `u` [1]. The first vertices have rows of bits (`Hubs`): there, two long
//! lists are intersected by AND and population count at up to 512 bits an instruction, short ones by single loads;
//! other lists are probed against a set of the neighbours of `v`.
//!
//! The cost depends on the order of the vertices; by descending degree, lists of earlier neighbours have at most
//! sqrt(2m) entries [2]. An undirected graph whose order serves is read in place; otherwise (`VertexOrder`) the
//! algorithm works on a copy. Work O(m^1.5) in degree order, divided by up to 512. Memory: rows of at most 64 MiB and
//! than the lists take; per thread n/8 bytes and an id a neighbour; for a copy an id an edge, 16 bytes and four ids a
//! vertex. Reads: in place, every list once for its own vertex, those beyond the hubs once more for each later
//! neighbour; a copy, every list two times. The answer never depends on threads.
//!
//! [1] M. Latapy, "Main-memory triangle computations for very large (sparse (power-law)) graphs", TCS 407, 2008.
//! [2] T. Schank, D. Wagner, "Finding, counting and listing all triangles in large graphs", WEA 2005.

use esker_graph::{Lists, Run, Stop, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    Earlier, Hubs, InPlace, Kernel, Line, Orientation, Oriented, bit, clear_word, full_degree,
    renumbering_pays, set_bit, with_vectors,
};

/// In which order an algorithm that intersects lists takes the vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VertexOrder {
    /// By degree, on a copy, if a sample of the lists says that it pays and the copy fits the memory limit; as
    /// numbered otherwise.
    #[default]
    Auto,
    /// As numbered in the graph.
    Given,
    /// By descending degree, on a copy.
    Degree,
}

/// How triangles are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TrianglesOptions {
    /// In which order vertices are taken.
    pub order: VertexOrder,
}

/// The answer of a triangle count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangles {
    /// Number of triangles.
    pub triangles: u64,
    /// Whether the lists were copied and renumbered by degree.
    pub renumbered: bool,
    /// Vertices that had rows of bits.
    pub hubs: usize,
}

/// What a count will take on `threads` threads. Memory is an upper bound, and for [`VertexOrder::Auto`] what is taken
/// if the copy pays; reading is that of a copy, or in place what is read at least.
pub fn estimate(shape: Shape, options: &TrianglesOptions, threads: usize) -> Estimate {
    let by_degree = options.order != VertexOrder::Given;
    let copied = by_degree || shape.directed;
    let lists = if shape.directed { 2 } else { 1 };
    Estimate {
        memory_bytes: bound(options.order, |by_degree| memory_bytes(shape, by_degree, threads)),
        read_bytes: shape.list_bytes() * lists * if copied { 2 } else { 1 },
    }
}

/// The most that a run takes whichever order it ends up with: in place, the longest list may be longer.
pub(super) fn bound(order: VertexOrder, memory_bytes: impl Fn(bool) -> u64) -> u64 {
    match order {
        VertexOrder::Auto => memory_bytes(true).max(memory_bytes(false)),
        VertexOrder::Given => memory_bytes(false),
        VertexOrder::Degree => memory_bytes(true),
    }
}

fn memory_bytes(shape: Shape, by_degree: bool, threads: usize) -> u64 {
    let (n, arcs) = (shape.num_vertices, shape.num_arcs);
    let id = size_of::<VertexId>() as u64;
    let copy = if by_degree || shape.directed {
        Oriented::<Stop>::memory_bytes(n, arcs, shape.directed, Orientation { by_degree, mutual: false })
    } else {
        0
    };
    let longest = if by_degree { n.min((2 * arcs).isqrt() + 1) } else { n.min(arcs) };
    let hubs = hub_bytes_max(shape);
    copy + hubs + threads as u64 * (n / 8 + 8 + longest * id + hubs.isqrt() / 2 + 64)
}

/// The most bytes that rows of hubs may take: no more than the lists, and no more than a last-level cache can help.
pub(super) fn hub_bytes_max(shape: Shape) -> u64 {
    shape.list_bytes().min(64 << 20)
}

/// Vertices with shorter lists are not worth a row of bits.
const HUB_DEGREE_MIN: usize = 32;

/// Number of vertices that get rows of bits, within `bytes`.
pub(super) fn num_hubs<G: Lists>(graph: &G, run: &Run, bytes: u64) -> Result<usize, Stop> {
    let n = graph.num_vertices();
    let worth = run.share_ranges(
        n,
        1 << 14,
        || 0,
        |count, range| {
            *count += range.filter(|&v| full_degree(graph, vertex(v)) >= HUB_DEGREE_MIN).count();
            Ok::<(), Stop>(())
        },
    )?;
    Ok(worth.iter().sum::<usize>().min(Hubs::len_within(bytes)))
}

/// Counts the triangles.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph without in-edges; [`Stop::OverBudget`]; the first list that cannot be
/// read; cancellation.
pub fn triangles<G: Lists>(graph: &G, run: &Run, options: &TrianglesOptions) -> Result<Triangles, G::Error> {
    let shape = Shape::of(graph);
    let renumber = begin(graph, run, options.order, "triangle count", |by_degree| {
        memory_bytes(shape, by_degree, run.threads())
    })?;
    let hubs = num_hubs(graph, run, hub_bytes_max(shape))?;
    run.round(graph.num_vertices())?;
    let triangles = if renumber || graph.is_directed() {
        let orientation = Orientation { by_degree: renumber, mutual: false };
        count(&Oriented::new(graph, run, orientation)?, run, hubs)?
    } else {
        count(&InPlace(graph), run, hubs)?
    };
    Ok(Triangles { triangles, renumbered: renumber, hubs })
}

/// Decides whether vertices are renumbered, and begins the run with the memory that it then takes.
pub(super) fn begin<G: Lists>(
    graph: &G,
    run: &Run,
    order: VertexOrder,
    what: &str,
    memory_bytes: impl Fn(bool) -> u64,
) -> Result<bool, G::Error> {
    if !graph.has(esker_graph::Direction::In) {
        return Err(Stop::Unsuitable(format!(
            "{what} of a directed graph needs its in-edges: import it with them, or as undirected"
        ))
        .into());
    }
    let wanted = match order {
        VertexOrder::Auto => renumbering_pays(graph)?,
        VertexOrder::Given => false,
        VertexOrder::Degree => true,
    };
    match run.begin(what, memory_bytes(wanted)) {
        Err(Stop::OverBudget { .. }) if wanted && order == VertexOrder::Auto => {
            run.begin(what, memory_bytes(false))?;
            Ok(false)
        }
        begun => Ok(begun.map(|()| wanted)?),
    }
}

/// Vertices that are handed to a worker at a time.
const GRAIN: usize = 64;

fn count<E: Earlier>(lists: &E, run: &Run, hubs: usize) -> Result<u64, E::Error> {
    let hubs = Hubs::new(lists, run, hubs, false)?;
    let counter = Counter { lists, run, hubs };
    let sums = run.share_ranges(
        lists.num_vertices(),
        GRAIN,
        || (0, Scratch::new(lists.num_vertices(), counter.hubs.len())),
        |(sum, scratch), range| {
            for v in range.map(vertex) {
                *sum += counter.at(v, scratch)?;
            }
            Ok::<(), E::Error>(())
        },
    )?;
    Ok(sums.iter().map(|(sum, _)| sum).sum())
}

/// What one worker keeps: the earlier neighbours of its vertex as a list, as bits over the hubs, as bits over all.
struct Scratch {
    list: Vec<VertexId>,
    row: Vec<Line>,
    marks: Vec<u64>,
}

impl Scratch {
    fn new(n: usize, hubs: usize) -> Self {
        Self {
            list: Vec::new(),
            row: vec![Line::default(); hubs.div_ceil(crate::primitive::LINE_BITS)],
            marks: vec![0; n.div_ceil(64)],
        }
    }
}

struct Counter<'a, E> {
    lists: &'a E,
    run: &'a Run,
    hubs: Hubs,
}

impl<E: Earlier> Counter<'_, E> {
    /// Triangles of which `v` is the last vertex.
    fn at(&self, v: VertexId, scratch: &mut Scratch) -> Result<u64, E::Error> {
        let Scratch { list, row, marks } = scratch;
        list.clear();
        self.lists.with_earlier(v, |earlier, _| list.extend_from_slice(earlier))?;
        list.dedup();
        if list.len() < 2 {
            return Ok(0);
        }
        self.run.check()?;
        let in_hubs = list.partition_point(|&u| (u as usize) < self.hubs.len());
        let mut count = with_vectors(AmongHubs { hubs: &self.hubs, list: &list[..in_hubs], row, v });
        if in_hubs < list.len() {
            count += self.beyond_hubs(list, in_hubs, marks)?;
        }
        Ok(count)
    }

    /// Triangles whose middle vertex is not a hub.
    fn beyond_hubs(&self, list: &[VertexId], in_hubs: usize, marks: &mut [u64]) -> Result<u64, E::Error> {
        for &u in list {
            marks[u as usize / 64] |= 1 << (u % 64);
        }
        let mut count = 0;
        for i in in_hubs.max(1)..list.len() {
            self.run.check()?;
            count += self.lists.with_earlier(list[i], |others, _| common(&list[..i], others, marks))?;
        }
        for &u in list {
            marks[u as usize / 64] = 0;
        }
        Ok(count)
    }
}

/// How many times longer a list must be for binary searches in it to beat a pass over it.
const SEARCH_RATIO: usize = 16;

/// Size of the intersection of `list`, which is distinct, with `others`, which may repeat. `marks` has the bits of
/// `list` and perhaps further ones that are not in `others`.
fn common(list: &[VertexId], others: &[VertexId], marks: &[u64]) -> u64 {
    if list.len() * SEARCH_RATIO < others.len() {
        return list.iter().filter(|w| others.binary_search(w).is_ok()).count() as u64;
    }
    let mut count = 0;
    let mut last = esker_graph::NONE;
    for &w in others {
        count += (marks[w as usize / 64] >> (w % 64) & 1) & u64::from(w != last);
        last = w;
    }
    count
}

/// Triangles of `v` whose other two vertices are hubs.
struct AmongHubs<'a> {
    hubs: &'a Hubs,
    list: &'a [VertexId],
    row: &'a mut [Line],
    v: VertexId,
}

/// Single loads that cost about as much as the AND of a line.
const PROBES_PER_LINE: usize = 3;

impl Kernel for AmongHubs<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Self { hubs, list, row, v } = self;
        let is_hub = (v as usize) < hubs.len();
        if !is_hub {
            for &u in list {
                set_bit(row, u);
            }
        }
        let own = if is_hub { hubs.row(v) } else { &*row };
        let mut count = 0;
        for i in 1..list.len() {
            let other = hubs.row(list[i]);
            if i < other.len() * PROBES_PER_LINE {
                count += list[..i].iter().map(|&w| bit(other, w)).sum::<u64>();
            } else {
                count += and_count(own, other);
            }
        }
        if !is_hub {
            for &u in list {
                clear_word(row, u);
            }
        }
        count
    }
}

/// Number of bits that are set in both rows.
#[inline(always)]
fn and_count(a: &[Line], b: &[Line]) -> u64 {
    let mut counts = [0; 8];
    for (a, b) in a.iter().zip(b) {
        for (k, count) in counts.iter_mut().enumerate() {
            *count += u64::from((a.0[k] & b.0[k]).count_ones());
        }
    }
    counts.iter().sum()
}
