//! Clique counting: the number of sets of `k` pairwise adjacent vertices in the undirected simple graph that
//! underlies a graph.
//!
//! Vertices are taken in order of descending degree [1], so none has more than sqrt(2m) earlier neighbours. A
//! clique is counted at its last vertex `v`, among the earlier neighbours of `v`. Each of these has a row of
//! bits that marks the earlier neighbours of `v` adjacent to it; the rows come from the adjacency rows of
//! hubs (see `triangles`) or from lists. Smaller cliques are counted by intersecting rows, down to pairs,
//! with AND and population count at up to 512 bits an instruction.
//!
//! Outside the semi-asymmetric model: unless the graph is already numbered by descending degree, the
//! algorithm works on a copy of half its lists. State: a count per worker. Work: O(m s^(k-2)), divided by up
//! to 512, where s is the longest list of earlier neighbours. Memory: the copy, at one id per edge plus 16
//! bytes and four ids per vertex; rows of hubs, at most 64 MiB; per thread, an id per vertex and up to m/4
//! bytes; s² / 8 of them are used. Reads: every list twice; in place, the lists of vertices beyond the hubs
//! once more per later neighbour. The result does not depend on threads.
//!
//! [1] J. Shi, L. Dhulipala, J. Shun, "Parallel Clique Counting and Peeling Algorithms", ACDA 2021.

use esker_graph::{Lists, Run, Stop, VertexId, vertex};

use crate::algorithm::cohesion::triangles::{hub_bytes_max, num_hubs};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    BitLine, EarlierNeighbours, HubAdjacency, InPlaceLists, LINE_BITS, Oriented, OrientedOptions, VectorLoop,
    clear_word, full_degree, need_in_edges, set_bit, with_vectors,
};

/// Options of [`cliques`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CliquesOptions {
    /// Number of vertices in a clique; at least 1.
    pub k: usize,
}

impl Default for CliquesOptions {
    fn default() -> Self {
        Self { k: 4 }
    }
}

/// The result of a clique count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cliques {
    /// Number of cliques.
    pub cliques: u64,
    /// Whether the lists were copied and renumbered by degree.
    pub renumbered: bool,
    /// The largest number of earlier neighbours of a vertex.
    pub longest: usize,
}

/// Estimates memory and reads on `threads` threads. Memory is an upper bound; reads are those with a copy.
pub fn estimate(shape: Shape, threads: usize) -> Estimate {
    let (n, arcs) = (shape.num_vertices, shape.num_arcs);
    let id = size_of::<VertexId>() as u64;
    let orientation = OrientedOptions { by_degree: true, mutual: false };
    let copy = Oriented::<Stop>::memory_bytes(n, arcs, shape.directed, orientation);
    let hubs = hub_bytes_max(shape);
    let longest = n.min((2 * arcs).isqrt() + 1);
    // Rows for the longest list, as much again for the sets of each search level, and the row of one vertex.
    let line = |bits: u64| (bits / LINE_BITS as u64 + 1) * 64;
    let worker = n * id + longest * (line(longest) + id) + 2 * line(longest) * 64 + hubs.isqrt() / 2 + 64;
    Estimate {
        memory_bytes: copy + hubs + threads as u64 * worker,
        read_bytes: shape.list_bytes() * if shape.directed { 4 } else { 2 },
    }
}

/// Vertices per unit of parallel work.
const GRAIN: usize = 64;

/// The number of cliques, `None` if 2^64 or more, and the length of the longest list of earlier neighbours.
fn count<E: EarlierNeighbours>(
    lists: &E,
    run: &Run,
    hubs: usize,
    k: usize,
) -> Result<(Option<u64>, usize), E::Error> {
    let n = lists.num_vertices();
    run.round(n)?;
    let hubs = HubAdjacency::new(lists, run, hubs, false)?;
    let sums = run.measured().share_ranges(
        n,
        GRAIN,
        || (Some(0), 0, CliqueWorker::new(n, hubs.len())),
        |(sum, longest, worker): &mut (Option<u64>, usize, CliqueWorker), range| {
            for v in range.map(vertex) {
                worker.list.clear();
                lists.with_earlier(v, |earlier, _| worker.list.extend_from_slice(earlier))?;
                worker.list.dedup();
                *longest = worker.list.len().max(*longest);
                let found = worker.cliques_at(lists, run, &hubs, v, k)?;
                *sum = sum.zip(found).and_then(|(sum, found)| sum.checked_add(found));
            }
            Ok::<(), E::Error>(())
        },
    )?;
    let total = sums.iter().try_fold(0u64, |sum, part| sum.checked_add(part.0?));
    Ok((total, sums.iter().map(|part| part.1).max().unwrap_or(0)))
}

/// The state of one worker: the earlier neighbours of the current vertex, and buffers.
struct CliqueWorker {
    list: Vec<VertexId>,
    /// The index in `list` of each of its vertices; other values have no meaning.
    positions: Vec<VertexId>,
    /// The hubs in `list`, as bits.
    own: Vec<BitLine>,
    /// For each vertex of `list`, a row of the earlier ones that are its neighbours.
    rows: Vec<BitLine>,
    /// Lines per row.
    width: usize,
    /// One set per level of the search.
    sets: Vec<BitLine>,
}

impl CliqueWorker {
    fn new(n: usize, hubs: usize) -> Self {
        Self {
            list: Vec::new(),
            positions: vec![0; n],
            own: vec![BitLine::default(); hubs.div_ceil(LINE_BITS)],
            rows: Vec::new(),
            width: 0,
            sets: Vec::new(),
        }
    }

    /// The number of cliques whose last vertex is `v`; `None` if 2^64 or more.
    fn cliques_at<E: EarlierNeighbours>(
        &mut self,
        lists: &E,
        run: &Run,
        hubs: &HubAdjacency,
        v: VertexId,
        k: usize,
    ) -> Result<Option<u64>, E::Error> {
        let len = self.list.len();
        if k <= 2 || len < k - 1 {
            return Ok(Some(if k == 1 {
                1
            } else if k == 2 {
                len as u64
            } else {
                0
            }));
        }
        run.check()?;
        self.width = len.div_ceil(LINE_BITS);
        self.rows.clear();
        self.rows.resize(len * self.width, BitLine::default());
        let in_hubs = self.list.partition_point(|&u| (u as usize) < hubs.len());
        self.rows_of_hubs(hubs, in_hubs);
        if in_hubs < len {
            self.rows_of_others(lists, run, in_hubs)?;
        }
        // The current vertex and the final pairs account for three levels.
        let levels = k.saturating_sub(3).min(len);
        self.sets.clear();
        self.sets.resize(levels * self.width, BitLine::default());
        let mut all = vec![BitLine::default(); self.width];
        (0..len).for_each(|i| set_bit(&mut all, vertex(i)));
        let search = CliqueSearch { rows: &self.rows, width: self.width, run };
        debug_assert!(v as usize >= len);
        Ok(search.count(&all, k - 1, &mut self.sets)?)
    }

    fn rows_of_hubs(&mut self, hubs: &HubAdjacency, in_hubs: usize) {
        for &u in &self.list[..in_hubs] {
            set_bit(&mut self.own, u);
        }
        let mut words = Vec::new();
        let mut before = 0;
        for &u in &self.list[..in_hubs] {
            let at = u as usize / 64;
            let bits = self.own[at / 8].0[at % 8];
            if bits != 0 {
                words.push(RowWord { at, bits, before });
                before += bits.count_ones() as usize;
                clear_word(&mut self.own, u);
            }
        }
        let (list, width) = (&self.list[..in_hubs], self.width);
        with_vectors(CompactHubRows { hubs, list, words: &words, rows: &mut self.rows, width });
    }

    /// Makes the rows of the vertices from index `first` on, which are not hubs.
    fn rows_of_others<E: EarlierNeighbours>(
        &mut self,
        lists: &E,
        run: &Run,
        first: usize,
    ) -> Result<(), E::Error> {
        for (i, &u) in self.list.iter().enumerate() {
            self.positions[u as usize] = vertex(i);
        }
        for (i, &u) in self.list.iter().enumerate().skip(first) {
            run.check()?;
            let row = &mut self.rows[i * self.width..(i + 1) * self.width];
            lists.with_earlier(u, |others, _| {
                for &w in others {
                    let place = self.positions[w as usize];
                    if self.list.get(place as usize) == Some(&w) {
                        set_bit(row, place);
                    }
                }
            })?;
        }
        Ok(())
    }
}

/// A nonzero word of the current vertex's row over the hubs, and the number of set bits in the words before
/// it.
struct RowWord {
    at: usize,
    bits: u64,
    before: usize,
}

/// Copies from each hub row the bits of the hubs in `list`, renumbered to indices in `list`.
struct CompactHubRows<'a> {
    hubs: &'a HubAdjacency,
    list: &'a [VertexId],
    words: &'a [RowWord],
    rows: &'a mut [BitLine],
    width: usize,
}

impl VectorLoop for CompactHubRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (i, &u) in self.list.iter().enumerate().skip(1) {
            let other = self.hubs.row(u);
            let row = &mut self.rows[i * self.width..(i + 1) * self.width];
            for word in self.words {
                let Some(line) = other.get(word.at / 8) else { break };
                let mut both = line.0[word.at % 8] & word.bits;
                while both != 0 {
                    let below = (both & both.wrapping_neg()) - 1;
                    let place = word.before + (word.bits & below).count_ones() as usize;
                    row[place / LINE_BITS].0[place / 64 % 8] |= 1 << (place % 64);
                    both &= both - 1;
                }
            }
        }
    }
}

/// Counts cliques by intersecting rows.
struct CliqueSearch<'a> {
    rows: &'a [BitLine],
    width: usize,
    run: &'a Run,
}

/// The members of a set, ascending.
#[inline(always)]
fn members(set: &[BitLine]) -> impl Iterator<Item = usize> + '_ {
    set.iter().flat_map(|line| line.0).enumerate().flat_map(|(at, mut bits)| {
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                at * 64 + bit
            })
        })
    })
}

impl CliqueSearch<'_> {
    fn row(&self, i: usize) -> &[BitLine] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }

    /// The number of cliques of `k >= 2` members of `set`; `None` if 2^64 or more. `sets` is space for the
    /// deeper levels.
    fn count(&self, set: &[BitLine], k: usize, sets: &mut [BitLine]) -> Result<Option<u64>, Stop> {
        if k == 2 {
            return Ok(Some(with_vectors(CountPairs { search: self, set })));
        }
        self.run.check()?;
        let Some((next, rest)) = sets.split_at_mut_checked(self.width) else {
            // There are more levels than members.
            return Ok(Some(0));
        };
        let mut sum = Some(0u64);
        for i in members(set) {
            let mut size = 0;
            for ((line, row), set) in next.iter_mut().zip(self.row(i)).zip(set) {
                for word in 0..8 {
                    line.0[word] = row.0[word] & set.0[word];
                    size += line.0[word].count_ones() as usize;
                }
            }
            if size >= k - 1 {
                let found = self.count(next, k - 1, rest)?;
                sum = sum.zip(found).and_then(|(sum, found)| sum.checked_add(found));
            }
        }
        Ok(sum)
    }
}

/// Counts the adjacent pairs in a set.
struct CountPairs<'a> {
    search: &'a CliqueSearch<'a>,
    set: &'a [BitLine],
}

impl VectorLoop for CountPairs<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Self { search, set } = self;
        let mut counts = [0u64; 8];
        for i in members(set) {
            // A row has no bits at or after its own vertex.
            let row = &search.rows[i * search.width..=i * search.width + i / LINE_BITS];
            for (row, set) in row.iter().zip(set) {
                for (k, count) in counts.iter_mut().enumerate() {
                    *count += u64::from((row.0[k] & set.0[k]).count_ones());
                }
            }
        }
        counts.iter().sum()
    }
}

/// Counts the cliques of `k` vertices.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph without in-edges, for k = 0, and if there are 2^64 cliques or
/// more; [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn cliques<G: Lists>(graph: &G, run: &Run, options: &CliquesOptions) -> Result<Cliques, G::Error> {
    if options.k == 0 {
        return Err(Stop::unsuitable("k is 0, but a clique has at least one vertex".to_owned()).into());
    }
    need_in_edges(graph, "clique count")?;
    let run = &run.begin("clique count", estimate(Shape::of(graph), run.threads()).memory_bytes)?;
    run.round(graph.num_vertices())?;
    let hubs = num_hubs(graph, run, hub_bytes_max(Shape::of(graph)))?;
    let degree = |v| full_degree(graph, vertex(v));
    let in_order = (1..graph.num_vertices()).all(|v| degree(v - 1) >= degree(v));
    let (cliques, longest) = if in_order && !graph.is_directed() {
        count(&InPlaceLists(graph), run, hubs, options.k)?
    } else {
        let orientation = OrientedOptions { by_degree: true, mutual: false };
        count(&Oriented::new(graph, run, orientation)?, run, hubs, options.k)?
    };
    let too_many = || Stop::unsuitable("cannot count 2^64 cliques or more".to_owned());
    let renumbered = !in_order || graph.is_directed();
    Ok(Cliques { cliques: cliques.ok_or_else(too_many)?, renumbered, longest })
}
