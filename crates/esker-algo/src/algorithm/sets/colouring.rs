//! Graph colouring: a colour for each vertex such that neighbours have different colours, with few colours.
//!
//! Parallel first-fit in a fixed order [1]: a vertex waits for its earlier neighbours and then takes the
//! least colour that none of its neighbours has. So colours depend only on the order, not on threads or
//! timing. Among the orders, LLF is Sage's; largest first tends to need fewer colours and more rounds;
//! smallest last, a reversed degeneracy order, needs at most one colour more than the degeneracy. Further
//! passes recolour all vertices, those of the last colours first [2]: this never needs more colours and
//! usually fewer. A single pass gives the colouring of the serial greedy method.
//!
//! One word per vertex holds either its colour or the number of neighbours that it waits for. A coloured
//! neighbour is earlier and an uncoloured one is later, so one pass over a list both finds the vertex's
//! colour and decrements the counts of waiting neighbours. A list that reaches no single worker as a whole is
//! read again, for 64 colours at a time.
//!
//! Edges count in both directions; self-loops do not count. Work: O(n + m), in as many rounds as the longest
//! chain of waiting vertices. Memory per vertex: one id for colours, 8 bytes for the order while counting and
//! then for lists in pieces, up to two ids for rounds; for smallest last, that of k-core first. Reads per
//! pass: all lists once to count, and each list once more to colour its vertex.
//!
//! [1] W. Hasenplaugh, T. Kaler, T. Schardl, C. Leiserson, "Ordering Heuristics for Parallel Graph Coloring",
//!     SPAA 2014.
//! [2] J. Culberson, "Iterated Greedy Graph Coloring and the Difficulty Landscape", TR 92-07, University of
//!     Alberta, 1992.

use std::num::NonZeroU32;

use esker_graph::random::RandomKey;
use esker_graph::{
    Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use crate::algorithm::cohesion::kcore;
use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    ArrayValue, VertexArray, VertexValues, concat, edge_sum, filter_list, is_small, need_in_edges,
    neighbourhood_directions, num_entries, scan_neighbours,
};

/// The order in which vertices are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColouringOrder {
    /// LLF: largest logarithm of the degree first, ties at random.
    #[default]
    LargestLogFirst,
    /// LF: largest degree first, ties at random.
    LargestFirst,
    /// SL: repeatedly removing the vertex with the fewest remaining neighbours gives the order, from last to
    /// first.
    SmallestLast,
    /// R: a random order from the seed of the run.
    Random,
}

/// The order among vertices with equal degrees, or equal logarithms of degrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// Random, from the seed of the run: few rounds for any numbering.
    #[default]
    Random,
    /// Lesser vertex id first, as in a stable sort. A path numbered in path order takes one round per vertex.
    Number,
}

/// Options of [`colouring`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColouringOptions {
    /// The order of colouring.
    pub order: ColouringOrder,
    /// How orders by degree break ties.
    pub ties: Ties,
    /// The number of passes. Each pass after the first starts with the vertices of the last colours.
    pub passes: NonZeroU32,
}

impl Default for ColouringOptions {
    fn default() -> Self {
        Self {
            order: ColouringOrder::default(),
            ties: Ties::default(),
            passes: NonZeroU32::MIN.saturating_add(1),
        }
    }
}

/// A colouring of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Colouring {
    /// The colour of each vertex, from 0. Each vertex has a neighbour of every lesser colour.
    pub colours: Vec<VertexId>,
    /// Number of colours.
    pub count: usize,
    /// Number of rounds. Each round colours all vertices that wait for no neighbour.
    pub rounds: usize,
}

/// Estimates memory and reads. Reads are exact, except for lists in pieces.
pub fn estimate(shape: Shape, options: &ColouringOptions) -> Estimate {
    let n = shape.num_vertices;
    let id_bytes = size_of::<VertexId>() as u64;
    let lists = u64::from(options.passes.get()) * if shape.directed { 4 } else { 2 };
    let own = Estimate { memory_bytes: n * (3 * id_bytes + 8), read_bytes: shape.list_bytes() * lists };
    if options.order != ColouringOrder::SmallestLast {
        return own;
    }
    let cores = kcore::estimate(shape);
    Estimate {
        memory_bytes: own.memory_bytes.max(cores.memory_bytes),
        read_bytes: own.read_bytes + cores.read_bytes,
    }
}

/// Set in the word of an uncoloured vertex; the other bits count the neighbours that it waits for.
const WAITS: VertexId = 1 << (VertexId::BITS - 1);
/// Adding this subtracts one.
const MINUS_ONE: VertexId = VertexId::MAX;
/// The purpose of the random numbers.
const PURPOSE: u64 = 0x636f_6c6f;
/// Neighbours examined together.
const CHUNK: usize = 64;

/// Assigns colours to all vertices. `words` counts the neighbours that each waits for.
fn assign<G: Graph>(
    graph: &G,
    run: &Run,
    directions: &'static [Direction],
    words: VertexArray,
) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    let mut masks = None;
    let mut ready = filter_list(run, n, vertex, |v| words.get(v) == WAITS)?;
    while !ready.is_empty() {
        run.round(ready.len())?;
        let colours = FirstFit { graph, directions, words: &words };
        let found = if is_small(graph, run, directions, &ready) {
            scan_neighbours(
                graph,
                run.single_threaded(),
                directions,
                Select::List(&ready),
                &AssignColours::<G, true>(colours),
            )?
        } else {
            scan_neighbours(
                graph,
                run,
                directions,
                Select::List(&ready),
                &AssignColours::<G, false>(colours),
            )?
        };
        ready.retain(|&v| words.get(v) == WAITS);
        if !ready.is_empty() {
            let masks = masks.get_or_insert_with(|| VertexValues::filled(run, n, 0));
            assign_from_pieces(graph, run, directions, &words, masks, ready)?;
        }
        ready = concat(found.into_iter().map(|worker| worker.ready));
    }
    Ok(words)
}

/// Bits of a random number that decide among vertices whose degrees have the same logarithm.
const TIE_BITS: u32 = 26;

/// The key of a vertex by the logarithm of its degree, then by a number of [`TIE_BITS`].
fn by_log(degree: u64, tie: u64) -> u32 {
    (degree + 1).next_power_of_two().ilog2() << TIE_BITS | tie as u32
}

/// The key of a vertex in the default order, with ties at random from a seed: that with the larger key is
/// coloured first, of equal ones that with the lesser id.
pub(crate) fn default_key(seed: u64, v: VertexId, degree: usize) -> u32 {
    by_log(degree as u64, RandomKey::new(seed, PURPOSE).at(v as u64) >> (u64::BITS - TIE_BITS))
}

/// The word of each vertex before colouring. Vertices without neighbours have colour 0 already.
fn count_earlier_by_order<G: Graph>(
    graph: &G,
    run: &Run,
    directions: &'static [Direction],
    options: &ColouringOptions,
) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    let degree = |v: usize| num_entries(graph, directions, vertex(v)) as u64;
    let rng = RandomKey::new(run.seed(), PURPOSE);
    let random = |v: usize, bits: u32| rng.at(v as u64) >> (u64::BITS - bits);
    let part = |v: usize, bits: u32| if options.ties == Ties::Random { random(v, bits) } else { 0 };
    match options.order {
        ColouringOrder::LargestLogFirst => {
            let key = |v| by_log(degree(v), part(v, TIE_BITS));
            count_earlier(graph, run, directions, &VertexValues::from_fn(run, n, key))
        }
        ColouringOrder::LargestFirst => {
            let key = |v| degree(v).min(u64::from(u32::MAX)) << 32 | part(v, 32);
            count_earlier(graph, run, directions, &VertexValues::from_fn(run, n, key))
        }
        ColouringOrder::Random => {
            count_earlier(graph, run, directions, &VertexValues::from_fn(run, n, |v| random(v, 32) as u32))
        }
        ColouringOrder::SmallestLast => {
            let last = kcore::peel(graph, run)?.order;
            let keys = VertexArray::filled(run, n, 0);
            last.into_iter().enumerate().for_each(|(place, v)| keys.set(v, vertex(place)));
            count_earlier(graph, run, directions, &keys)
        }
    }
}

/// Counts for each vertex the neighbours with a larger key, or with an equal key and a lesser id.
fn count_earlier<K: ArrayValue, G: Graph>(
    graph: &G,
    run: &Run,
    directions: &'static [Direction],
    keys: &VertexValues<K>,
) -> Result<VertexArray, G::Error> {
    let degree = |v| num_entries(graph, directions, vertex(v));
    let most = (0..keys.len()).map(degree).max().unwrap_or(0) as u64;
    if most >= u64::from(WAITS) {
        let message =
            format!("cannot colour the graph: a vertex has {most} neighbours, more than a count can hold");
        return Err(Stop::unsuitable(message).into());
    }
    let words = VertexArray::from_fn(run, keys.len(), |v| if degree(v) == 0 { 0 } else { WAITS });
    edge_sum(graph, run, directions, Select::All, &words, |v, targets, _| {
        let own = keys.get(v);
        let before = |&u: &VertexId| {
            let key = keys.get(u);
            VertexId::from((key > own) | ((key == own) & (u < v)))
        };
        targets.iter().map(before).sum()
    })?;
    Ok(words)
}

/// The arguments of a colouring round.
#[derive(Clone, Copy)]
struct FirstFit<'a, G> {
    graph: &'a G,
    directions: &'static [Direction],
    words: &'a VertexArray,
}

/// The state of one worker: what it knows of the current vertex, and the vertices it made ready.
struct ColouringWorker {
    v: VertexId,
    /// Entries of the lists of `v` seen so far.
    seen: usize,
    /// At index colour + 1, the stamp of the vertex that last saw the colour taken. Index 0 is a dummy.
    taken: Vec<u32>,
    stamp: u32,
    /// Vertices that no longer wait.
    ready: Vec<VertexId>,
}

impl ColouringWorker {
    /// Starts the next vertex.
    fn begin(&mut self, v: VertexId) {
        (self.v, self.seen) = (v, 0);
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.taken.fill(0);
            self.stamp = 1;
        }
    }

    /// The least colour that is not taken.
    fn free(&self) -> VertexId {
        let free = self.taken.iter().skip(1).position(|&stamp| stamp != self.stamp);
        vertex(free.unwrap_or(self.taken.len() - 1))
    }
}

/// Colours vertices that wait for no neighbour.
struct AssignColours<'a, G, const ALONE: bool>(FirstFit<'a, G>);

impl<W: Weight, G: Graph, const ALONE: bool> Visitor<W> for AssignColours<'_, G, ALONE> {
    type State = ColouringWorker;

    fn new_state(&self) -> ColouringWorker {
        ColouringWorker { v: NONE, seen: 0, taken: vec![0; 64], stamp: 0, ready: Vec::new() }
    }

    #[inline(always)]
    fn visit(&self, worker: &mut ColouringWorker, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let FirstFit { graph, directions, words } = self.0;
        if worker.v != v {
            worker.begin(v);
        }
        worker.seen += piece.targets.len();
        for targets in piece.targets.chunks(CHUNK) {
            // Whether a neighbour is coloured is unpredictable, so they are separated without branches.
            let mut after = [0; CHUNK];
            let mut count = 0;
            for &u in targets {
                let word = words.get(u);
                let index = if word < WAITS { word as usize + 1 } else { 0 };
                if index >= worker.taken.len() {
                    worker.taken.resize(index + 64, 0);
                }
                worker.taken[index] = worker.stamp;
                after[count % CHUNK] = u;
                count += usize::from(word >= WAITS);
            }
            for &u in after[..count].iter().filter(|&&u| u != v) {
                let word = if ALONE {
                    let word = words.get(u);
                    words.set(u, word - 1);
                    word
                } else {
                    words.add(u, MINUS_ONE)
                };
                if word == WAITS + 1 {
                    worker.ready.push(u);
                }
            }
        }
        if worker.seen == num_entries(graph, directions, v) {
            words.set(v, worker.free());
            worker.v = NONE;
        }
        Flow::More
    }
}

/// Colours vertices whose list no worker had as a whole, testing 64 colours at a time.
fn assign_from_pieces<G: Graph>(
    graph: &G,
    run: &Run,
    directions: &[Direction],
    words: &VertexArray,
    masks: &VertexValues<u64>,
    mut vertices: Vec<VertexId>,
) -> Result<(), G::Error> {
    let mut first = 0;
    while !vertices.is_empty() {
        run.check()?;
        scan_neighbours(graph, run, directions, Select::List(&vertices), &MarkTaken { words, masks, first })?;
        vertices.retain(|&v| {
            let taken = masks.get(v);
            masks.set(v, 0);
            if taken != u64::MAX {
                words.set(v, first + VertexId::from(taken.trailing_ones() as u8));
            }
            taken == u64::MAX
        });
        first += 64;
    }
    Ok(())
}

/// Marks which of 64 colours the neighbours of each vertex have.
struct MarkTaken<'a> {
    words: &'a VertexArray,
    masks: &'a VertexValues<u64>,
    first: VertexId,
}

impl<W: Weight> Visitor<W> for MarkTaken<'_> {
    type State = ();

    const BOXED: bool = true;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let mut taken = 0;
        for &u in piece.targets {
            let colour = self.words.get(u).wrapping_sub(self.first);
            taken |= if colour < 64 { 1 << colour } else { 0 };
        }
        self.masks.unite(v, taken);
        if self.masks.get(v) == u64::MAX { Flow::Enough } else { Flow::More }
    }
}

/// Colours the vertices.
///
/// ```
/// use esker_algo::algorithm::sets::colouring::{ColouringOptions, colouring};
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::undirected(3, &[(0, 1, ()), (1, 2, ()), (2, 0, ())])?;
/// let found = colouring(&csr.graph(), &Run::with_threads(2)?, &ColouringOptions::default())?;
/// assert_eq!(found.count, 3); // a triangle needs three colours
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph stored without in-edges; [`Stop::OverBudget`]; the first list
/// that cannot be read; cancellation.
pub fn colouring<G: Graph>(graph: &G, run: &Run, options: &ColouringOptions) -> Result<Colouring, G::Error> {
    let run = &run.begin("colouring", estimate(Shape::of(graph), options).memory_bytes)?;
    run.install(|| first_fit(graph, run, options))
}

fn first_fit<G: Graph>(graph: &G, run: &Run, options: &ColouringOptions) -> Result<Colouring, G::Error> {
    need_in_edges(graph, "colouring")?;
    let directions = neighbourhood_directions(graph);
    let mut colours =
        assign(graph, run, directions, count_earlier_by_order(graph, run, directions, options)?)?;
    for _ in 1..options.passes.get() {
        // Vertices of one colour are not adjacent, so each needs at most one more colour than there are
        // colours before its own.
        let again = count_earlier(graph, run, directions, &colours)?;
        drop(colours);
        colours = assign(graph, run, directions, again)?;
    }
    let colours = colours.into_vec();
    let count = colours.iter().max().map_or(0, |&most| most as usize + 1);
    Ok(Colouring { colours, count, rounds: run.rounds() })
}
