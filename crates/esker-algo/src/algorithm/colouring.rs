//! Graph colouring: a colour for each vertex, such that neighbours differ, with few colours.
//!
//! First-fit in a fixed order, in parallel [1]: a vertex waits for its neighbours that come before it, and then takes the
//! least colour that none of them has. So colours depend on the order alone, not on threads or timing. Of the orders by
//! name, LLF is as Sage has it; largest first tends to need fewer colours and more rounds; smallest last, the reverse of a degeneracy
//! order, needs at most one more than the degeneracy. Then all get their colours once more, those of the last colours first [2]: that never
//! takes more colours, and mostly fewer. One pass alone gives the colouring that the greedy method gives one vertex after the other.
//!
//! A word a vertex tells its colour, or for how many it waits. A neighbour that has a colour came before and one that has
//! none comes after, so one pass over the list of a vertex both finds its colour and tells those that wait for it. A list that
//! does not come to one worker in one go is read again, for 64 colours at a time.
//!
//! Edges count whichever way they go; loops do not. Work O(n + m), and as many rounds as the longest chains of vertices
//! that wait for each other. Memory, bytes a vertex: an id for colours, 8 for the order while who waits is counted, and
//! then 8 for lists in pieces, up to two ids for rounds; smallest last, that of k-core first. Reads, each pass: all lists once to
//! count, and each list once more, when its vertex gets its colour.
//!
//! [1] W. Hasenplaugh, T. Kaler, T. Schardl, C. Leiserson, "Ordering Heuristics for Parallel Graph Coloring", SPAA 2014.
//! [2] J. Culberson, "Iterated Greedy Graph Coloring and the Difficulty Landscape", TR 92-07, University of Alberta, 1992.

use std::num::NonZeroU32;

use esker_graph::{
    Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use super::kcore;
use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    Draws, Value, VertexArray, VertexValues, both_ways, concat, edge_sum, is_small, num_entries,
    scan_neighbours,
};

/// In which order vertices get their colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColouringOrder {
    /// LLF: largest logarithm of the degree first, ties at random.
    #[default]
    LargestLogFirst,
    /// LF: largest degree first, ties at random.
    LargestFirst,
    /// SL: the vertex that is left with the fewest neighbours when those after it are gone comes last.
    SmallestLast,
    /// R: at random, by the seed of the run.
    Random,
}

/// Who comes first of those with equally large degrees, or logarithms of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// A random one, by the seed of the run: few rounds whatever the numbers.
    #[default]
    Random,
    /// That of the lesser number, as a sort that keeps ties would have it; a path numbered along it takes a round a vertex.
    Number,
}

/// How colours are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColouringOptions {
    /// The order that decides the colours.
    pub order: ColouringOrder,
    /// How the orders by degree part equals.
    pub ties: Ties,
    /// How often colours are given: each pass after the first begins with those of the last colours.
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

/// A colouring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Colouring {
    /// The colour of each vertex: a number from 0 on. It has a neighbour of each lesser colour.
    pub colours: Vec<VertexId>,
    /// Number of colours.
    pub count: usize,
    /// Rounds, in each of which all vertices that wait for none got their colours.
    pub rounds: usize,
}

/// What colouring will take; the reading is exact, but for lists in pieces.
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

/// Colours the vertices.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph that is kept without its in-edges; [`Stop::OverBudget`]; the first list that
/// cannot be read; cancellation.
pub fn colouring<G: Graph>(graph: &G, run: &Run, options: &ColouringOptions) -> Result<Colouring, G::Error> {
    run.begin("colouring", estimate(Shape::of(graph), options).memory_bytes)?;
    run.install(|| first_fit(graph, run, options))
}

/// In the word of a vertex without a colour: this bit, and for how many it waits.
const WAITS: VertexId = 1 << (VertexId::BITS - 1);
/// Added to a number, it makes it one less.
const LESS_ONE: VertexId = VertexId::MAX;
/// What is drawn for.
const PURPOSE: u64 = 0x636f_6c6f;
/// Neighbours looked at side by side.
const CHUNK: usize = 64;

fn first_fit<G: Graph>(graph: &G, run: &Run, options: &ColouringOptions) -> Result<Colouring, G::Error> {
    let ways = both_ways(graph)?;
    let mut colours = give(graph, run, ways, waiting(graph, run, ways, options)?)?;
    for _ in 1..options.passes.get() {
        // As those of one colour are no neighbours, none needs a larger number than there are colours before its own and its own.
        let again = count(graph, run, ways, &colours)?;
        drop(colours);
        colours = give(graph, run, ways, again)?;
    }
    let colours = colours.into_vec();
    let count = colours.iter().max().map_or(0, |&most| most as usize + 1);
    Ok(Colouring { colours, count, rounds: run.rounds() })
}

/// The colours of vertices that wait for others.
fn give<G: Graph>(
    graph: &G,
    run: &Run,
    ways: &'static [Direction],
    words: VertexArray,
) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    let mut masks = None;
    let mut ready = share_vertices(run, n, |v| words.get(v) == WAITS)?;
    while !ready.is_empty() {
        run.round(ready.len())?;
        let colours = FirstFit { graph, ways, words: &words };
        let found = if is_small(graph, run, ways, &ready) {
            scan_neighbours(graph, run.alone(), ways, Select::List(&ready), &Give::<G, true>(colours))?
        } else {
            scan_neighbours(graph, run, ways, Select::List(&ready), &Give::<G, false>(colours))?
        };
        ready.retain(|&v| words.get(v) == WAITS);
        if !ready.is_empty() {
            let masks = masks.get_or_insert_with(|| VertexValues::filled(run, n, 0));
            give_in_pieces(graph, run, ways, &words, masks, ready)?;
        }
        ready = concat(found.into_iter().map(|worker| worker.ready));
    }
    Ok(words)
}

/// The vertices of `0..n` for which `is` holds.
fn share_vertices(run: &Run, n: usize, is: impl Fn(VertexId) -> bool + Sync) -> Result<Vec<VertexId>, Stop> {
    let found = run.share_ranges::<Vec<VertexId>, Stop>(n, 1 << 14, Vec::new, |found, range| {
        found.extend(range.map(vertex).filter(|&v| is(v)));
        Ok(())
    })?;
    Ok(concat(found))
}

/// For how many neighbours each vertex waits; those without neighbours have their colour.
fn waiting<G: Graph>(
    graph: &G,
    run: &Run,
    ways: &'static [Direction],
    options: &ColouringOptions,
) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    let degree = |v: usize| num_entries(graph, ways, vertex(v)) as u64;
    let draws = Draws::new(run.seed(), PURPOSE);
    let random = |v: usize, bits: u32| draws.at(v as u64) >> (u64::BITS - bits);
    let part = |v: usize, bits: u32| if options.ties == Ties::Random { random(v, bits) } else { 0 };
    match options.order {
        ColouringOrder::LargestLogFirst => {
            let key = |v| (degree(v) + 1).next_power_of_two().ilog2() << 26 | part(v, 26) as u32;
            count(graph, run, ways, &VertexValues::from_fn(run, n, key))
        }
        ColouringOrder::LargestFirst => {
            let key = |v| degree(v).min(u64::from(u32::MAX)) << 32 | part(v, 32);
            count(graph, run, ways, &VertexValues::from_fn(run, n, key))
        }
        ColouringOrder::Random => {
            count(graph, run, ways, &VertexValues::from_fn(run, n, |v| random(v, 32) as u32))
        }
        ColouringOrder::SmallestLast => {
            let last = kcore::peel(graph, run)?.order;
            let keys = VertexArray::filled(run, n, 0);
            last.into_iter().enumerate().for_each(|(place, v)| keys.set(v, vertex(place)));
            count(graph, run, ways, &keys)
        }
    }
}

/// Counts for each vertex the neighbours that have larger keys, or the same and lesser numbers.
fn count<K: Value, G: Graph>(
    graph: &G,
    run: &Run,
    ways: &'static [Direction],
    keys: &VertexValues<K>,
) -> Result<VertexArray, G::Error> {
    let degree = |v| num_entries(graph, ways, vertex(v));
    let most = (0..keys.len()).map(degree).max().unwrap_or(0) as u64;
    if most >= u64::from(WAITS) {
        return Err(Stop::Unsuitable(format!("a vertex has {most} neighbours, too many to count")).into());
    }
    let words = VertexArray::from_fn(run, keys.len(), |v| if degree(v) == 0 { 0 } else { WAITS });
    edge_sum(graph, run, ways, Select::All, &words, |v, targets, _| {
        let own = keys.get(v);
        let before = |&u: &VertexId| {
            let key = keys.get(u);
            VertexId::from((key > own) | ((key == own) & (u < v)))
        };
        targets.iter().map(before).sum()
    })?;
    Ok(words)
}

#[derive(Clone, Copy)]
struct FirstFit<'a, G> {
    graph: &'a G,
    ways: &'static [Direction],
    words: &'a VertexArray,
}

/// What one worker has of the vertex at hand, and what it found.
struct Worker {
    v: VertexId,
    /// Entries of its lists seen so far.
    seen: usize,
    /// At 1 more than each colour the vertex for which it was last seen to be taken, by its turn; at 0 rubbish.
    taken: Vec<u32>,
    turn: u32,
    /// Vertices that wait no longer.
    ready: Vec<VertexId>,
}

impl Worker {
    /// Begins with another vertex.
    fn begin(&mut self, v: VertexId) {
        (self.v, self.seen) = (v, 0);
        self.turn = self.turn.wrapping_add(1);
        if self.turn == 0 {
            self.taken.fill(0);
            self.turn = 1;
        }
    }

    /// The least colour not taken.
    fn free(&self) -> VertexId {
        let free = self.taken.iter().skip(1).position(|&turn| turn != self.turn);
        vertex(free.unwrap_or(self.taken.len() - 1))
    }
}

/// Gives colours to vertices that wait for none.
struct Give<'a, G, const ALONE: bool>(FirstFit<'a, G>);

impl<W: Weight, G: Graph, const ALONE: bool> Visitor<W> for Give<'_, G, ALONE> {
    type State = Worker;

    fn new_state(&self) -> Worker {
        Worker { v: NONE, seen: 0, taken: vec![0; 64], turn: 0, ready: Vec::new() }
    }

    #[inline(always)]
    fn visit(&self, worker: &mut Worker, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let FirstFit { graph, ways, words } = self.0;
        if worker.v != v {
            worker.begin(v);
        }
        worker.seen += piece.targets.len();
        for targets in piece.targets.chunks(CHUNK) {
            // Who has a colour cannot be predicted, so they are told apart without branches.
            let mut after = [0; CHUNK];
            let mut count = 0;
            for &u in targets {
                let word = words.get(u);
                let index = if word < WAITS { word as usize + 1 } else { 0 };
                if index >= worker.taken.len() {
                    worker.taken.resize(index + 64, 0);
                }
                worker.taken[index] = worker.turn;
                after[count % CHUNK] = u;
                count += usize::from(word >= WAITS);
            }
            for &u in after[..count].iter().filter(|&&u| u != v) {
                let word = if ALONE {
                    let word = words.get(u);
                    words.set(u, word - 1);
                    word
                } else {
                    words.add(u, LESS_ONE)
                };
                if word == WAITS + 1 {
                    worker.ready.push(u);
                }
            }
        }
        if worker.seen == num_entries(graph, ways, v) {
            words.set(v, worker.free());
            worker.v = NONE;
        }
        Flow::More
    }
}

/// Colours vertices of which no worker had the whole list: looks for 64 colours at a time which are taken.
fn give_in_pieces<G: Graph>(
    graph: &G,
    run: &Run,
    ways: &[Direction],
    words: &VertexArray,
    masks: &VertexValues<u64>,
    mut vertices: Vec<VertexId>,
) -> Result<(), G::Error> {
    let mut first = 0;
    while !vertices.is_empty() {
        run.check()?;
        scan_neighbours(graph, run, ways, Select::List(&vertices), &Taken { words, masks, first })?;
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
struct Taken<'a> {
    words: &'a VertexArray,
    masks: &'a VertexValues<u64>,
    first: VertexId,
}

impl<W: Weight> Visitor<W> for Taken<'_> {
    type State = ();

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
