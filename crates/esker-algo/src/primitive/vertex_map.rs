//! Maps and filters over vertices; they read no lists.

use esker_graph::{Direction, Graph, Run, Select, Stop, VertexId};

use super::frontier::{Frontier, SERIAL_LEN_MAX, all_vertices};

/// Calls `f` once for each of `0..num_vertices`, in parallel. Each thread takes ascending ranges that start
/// at multiples of 64.
///
/// ```
/// use esker_algo::primitive::{VertexArray, each_vertex};
/// use esker_graph::Run;
///
/// let run = Run::with_threads(2)?;
/// let squares = VertexArray::filled(&run, 5, 0);
/// each_vertex(&run, 5, |v| squares.set(v, v * v))?;
/// assert_eq!(squares.into_vec(), [0, 1, 4, 9, 16]);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Cancelled`].
pub fn each_vertex(run: &Run, num_vertices: usize, f: impl Fn(VertexId) + Sync) -> Result<(), Stop> {
    let grain = grain(run, num_vertices);
    run.share_ranges::<(), Stop>(
        num_vertices,
        grain,
        || (),
        |(), range| {
            all_vertices(range).for_each(&f);
            Ok(())
        },
    )?;
    Ok(())
}

/// The number of vertices in `0..num_vertices` for which `f` is true.
///
/// ```
/// use esker_algo::primitive::vertex_count;
/// use esker_graph::Run;
///
/// assert_eq!(vertex_count(&Run::with_threads(2)?, 100, |v| v % 3 == 0)?, 34);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Cancelled`].
pub fn vertex_count(
    run: &Run,
    num_vertices: usize,
    f: impl Fn(VertexId) -> bool + Sync,
) -> Result<usize, Stop> {
    let grain = grain(run, num_vertices);
    let counts = run.share_ranges::<usize, Stop>(
        num_vertices,
        grain,
        || 0,
        |count, range| {
            *count += all_vertices(range).filter(|&v| f(v)).count();
            Ok(())
        },
    )?;
    Ok(counts.into_iter().sum())
}

/// Calls `f` once for each member of `frontier`; in parallel unless there are few.
///
/// ```
/// use esker_algo::primitive::{Frontier, VertexArray, vertex_map};
/// use esker_graph::{Csr, Run};
///
/// let (csr, run) = (Csr::directed(4, &[(0, 1, ())])?, Run::with_threads(1)?);
/// let visits = VertexArray::filled(&run, 4, 0);
/// let frontier = Frontier::from_list(&csr.graph(), vec![3, 1]);
/// vertex_map(&run, &frontier, |v| _ = visits.add(v, 1))?;
/// assert_eq!(visits.into_vec(), [0, 1, 0, 1]);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Cancelled`].
pub fn vertex_map(run: &Run, frontier: &Frontier, f: impl Fn(VertexId) + Sync) -> Result<(), Stop> {
    visit(run, frontier, || (), |(), v| f(v))?;
    Ok(())
}

/// The members of `frontier` for which `keep` is true. Takes O(members), plus O(n/64) for a bitmap.
///
/// ```
/// use esker_algo::primitive::{Frontier, vertex_filter};
/// use esker_graph::{Csr, Run};
///
/// let (csr, run) = (Csr::directed(4, &[(1, 0, ()), (3, 0, ())])?, Run::with_threads(1)?);
/// let graph = csr.graph();
/// let odd = vertex_filter(&graph, &run, &Frontier::all(&graph), |v| v % 2 == 1)?;
/// assert_eq!((odd.len(), odd.arcs()), (2, 2));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Cancelled`].
pub fn vertex_filter<G: Graph>(
    graph: &G,
    run: &Run,
    frontier: &Frontier,
    keep: impl Fn(VertexId) -> bool + Sync,
) -> Result<Frontier, Stop> {
    let found = visit(run, frontier, FoundMembers::default, |found, v| {
        if keep(v) {
            found.push(v, graph.degree(Direction::Out, v));
        }
    })?;
    Ok(FoundMembers::join(frontier.num_vertices(), found))
}

/// The members of the next frontier that one worker found. All workers together hold each vertex at most
/// once, so they take O(n) memory however many arcs they follow.
#[derive(Debug, Default)]
pub(super) struct FoundMembers {
    list: Vec<VertexId>,
    /// Sum of the out-degrees of the first `counted` vertices of the list.
    arcs: u64,
    counted: usize,
}

/// Vertices whose degrees are read together.
const COUNT_LEN: usize = 64;

impl FoundMembers {
    /// Nothing, with room for some vertices.
    pub(super) fn with_room(room: usize) -> Self {
        Self { list: Vec::with_capacity(room), ..Self::default() }
    }

    /// Adds a vertex without its degree: see [`FoundMembers::count`].
    #[inline(always)]
    pub(super) fn add(&mut self, v: VertexId) {
        self.list.push(v);
    }

    /// Adds up the degrees of the vertices added since, if there are many. They lie anywhere. Reads of many
    /// together miss the caches at the same time; a read after each claim would wait for it, since claims are
    /// atomic updates.
    #[inline(always)]
    pub(super) fn count_many<G: Graph>(&mut self, graph: &G) {
        if self.list.len() - self.counted >= COUNT_LEN {
            self.count(graph);
        }
    }

    /// As [`FoundMembers::count_many`], however few they are.
    pub(super) fn count<G: Graph>(&mut self, graph: &G) {
        let degrees = self.list[self.counted..].iter().map(|&v| graph.degree(Direction::Out, v) as u64);
        self.arcs += degrees.sum::<u64>();
        self.counted = self.list.len();
    }

    /// Adds a vertex and its degree.
    #[inline(always)]
    pub(super) fn push(&mut self, v: VertexId, degree: usize) {
        debug_assert_eq!(self.counted, self.list.len(), "all before it are counted");
        self.list.push(v);
        self.arcs += degree as u64;
        self.counted = self.list.len();
    }

    /// Joins the lists of all workers into a frontier. Copies nothing if only one worker found any.
    pub(super) fn join(num_vertices: usize, found: Vec<Self>) -> Frontier {
        let arcs = found.iter().map(|f| f.arcs).sum();
        let len: usize = found.iter().map(|f| f.list.len()).sum();
        let mut lists = found.into_iter().map(|f| f.list).filter(|list| !list.is_empty());
        let mut all = lists.next().unwrap_or_default();
        all.reserve_exact(len - all.len());
        lists.for_each(|list| all.extend_from_slice(&list));
        Frontier::from_counted_list(num_vertices, all, arcs)
    }
}

fn visit<S: Send>(
    run: &Run,
    frontier: &Frontier,
    new_state: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, VertexId) + Sync,
) -> Result<Vec<S>, Stop> {
    match frontier.select() {
        Select::List(list) => {
            run.share_ranges(list.len(), grain(run, list.len()), new_state, |state, range| {
                list[range].iter().for_each(|&v| f(state, v));
                Ok(())
            })
        }
        Select::Bits(bits) => {
            run.share_ranges(bits.len(), grain(run, bits.len()), new_state, |state, range| {
                bits.iter_range(range).for_each(|v| f(state, v));
                Ok(())
            })
        }
        Select::All => {
            let n = frontier.num_vertices();
            run.share_ranges(n, grain(run, n), new_state, |state, range| {
                all_vertices(range).for_each(|v| f(state, v));
                Ok(())
            })
        }
    }
}

/// Vertices per unit of work: all if there are few, else small enough to balance uneven units.
fn grain(run: &Run, len: usize) -> usize {
    if len <= SERIAL_LEN_MAX { len } else { (len / (run.threads() * 8)).clamp(1 << 10, 1 << 16) }
}
