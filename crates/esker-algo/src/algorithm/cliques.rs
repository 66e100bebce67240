//! Clique counting: how many sets of `k` vertices are neighbours of one another, in the undirected simple graph that
//! underlies a graph.
//!
//! Vertices are taken in order of descending degree [1], so none has more than sqrt(2m) earlier neighbours. A clique is
//! found at its last vertex `v`: among the earlier neighbours of `v`, of which a row of bits each says which of them before
//! it are its neighbours. These rows are made from those that hubs have (see `triangles`) or from lists; smaller cliques
//! among them are counted by intersecting rows, down to pairs, by AND and population count at up to 512 bits an
//! instruction.
//!
//! Outside the semi-asymmetric model: unless the graph is numbered by descending degree already, the algorithm works on a
//! copy of half of its lists. Work O(m s^(k-2)), s the longest list of earlier neighbours, divided by up to 512. Memory: the copy, an
//! id an edge, 16 bytes and four ids a vertex; rows of hubs of at most 64 MiB; per thread an id a vertex and up to m/4
//! bytes, of which s² / 8 are used. Reads: every list twice; in place, those of vertices beyond the hubs once more for each
//! later neighbour. The answer never depends on threads.
//!
//! [1] J. Shi, L. Dhulipala, J. Shun, "Parallel Clique Counting and Peeling Algorithms", ACDA 2021.

use esker_graph::{Direction, Lists, Run, Stop, VertexId, vertex};

use super::triangles::{hub_bytes_max, num_hubs};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    Earlier, Hubs, InPlace, Kernel, LINE_BITS, Line, Orientation, Oriented, clear_word, full_degree, set_bit,
    with_vectors,
};

/// Which cliques are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CliquesOptions {
    /// Vertices of a clique, at least 1.
    pub k: usize,
}

impl Default for CliquesOptions {
    fn default() -> Self {
        Self { k: 4 }
    }
}

/// The answer of a clique count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cliques {
    /// Number of cliques.
    pub cliques: u64,
    /// Whether the lists were copied and renumbered by degree.
    pub renumbered: bool,
    /// The most earlier neighbours that a vertex had.
    pub longest: usize,
}

/// What a count will take on `threads` threads; memory is an upper bound, reading that of a copy.
pub fn estimate(shape: Shape, threads: usize) -> Estimate {
    let (n, arcs) = (shape.num_vertices, shape.num_arcs);
    let id = size_of::<VertexId>() as u64;
    let orientation = Orientation { by_degree: true, mutual: false };
    let copy = Oriented::<Stop>::memory_bytes(n, arcs, shape.directed, orientation);
    let hubs = hub_bytes_max(shape);
    let longest = n.min((2 * arcs).isqrt() + 1);
    // Rows for the longest list, as many for the sets of each level of the search, and the row of one vertex.
    let line = |bits: u64| (bits / LINE_BITS as u64 + 1) * 64;
    let worker = n * id + longest * (line(longest) + id) + 2 * line(longest) * 64 + hubs.isqrt() / 2 + 64;
    Estimate {
        memory_bytes: copy + hubs + threads as u64 * worker,
        read_bytes: shape.list_bytes() * if shape.directed { 4 } else { 2 },
    }
}

/// Counts the cliques of `k` vertices.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph without in-edges, for k = 0, and if there are 2^64 cliques or more;
/// [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn cliques<G: Lists>(graph: &G, run: &Run, options: &CliquesOptions) -> Result<Cliques, G::Error> {
    if options.k == 0 {
        return Err(Stop::Unsuitable("a clique has at least one vertex".to_owned()).into());
    }
    if !graph.has(Direction::In) {
        let what = "cliques of a directed graph need its in-edges: import it with them, or as undirected";
        return Err(Stop::Unsuitable(what.to_owned()).into());
    }
    run.begin("clique count", estimate(Shape::of(graph), run.threads()).memory_bytes)?;
    run.round(graph.num_vertices())?;
    let hubs = num_hubs(graph, run, hub_bytes_max(Shape::of(graph)))?;
    let degree = |v| full_degree(graph, vertex(v));
    let in_order = (1..graph.num_vertices()).all(|v| degree(v - 1) >= degree(v));
    let (cliques, longest) = if in_order && !graph.is_directed() {
        count(&InPlace(graph), run, hubs, options.k)?
    } else {
        let orientation = Orientation { by_degree: true, mutual: false };
        count(&Oriented::new(graph, run, orientation)?, run, hubs, options.k)?
    };
    let too_many = || Stop::Unsuitable("there are 2^64 cliques or more".to_owned());
    let renumbered = !in_order || graph.is_directed();
    Ok(Cliques { cliques: cliques.ok_or_else(too_many)?, renumbered, longest })
}

/// Vertices that are handed to a worker at a time.
const GRAIN: usize = 64;

/// The number of cliques, if it is less than 2^64, and the length of the longest list.
fn count<E: Earlier>(lists: &E, run: &Run, hubs: usize, k: usize) -> Result<(Option<u64>, usize), E::Error> {
    let n = lists.num_vertices();
    run.round(n)?;
    let hubs = Hubs::new(lists, run, hubs, false)?;
    let sums = run.share_ranges(
        n,
        GRAIN,
        || (Some(0), 0, Local::new(n, hubs.len())),
        |(sum, longest, local): &mut (Option<u64>, usize, Local), range| {
            for v in range.map(vertex) {
                local.list.clear();
                lists.with_earlier(v, |earlier, _| local.list.extend_from_slice(earlier))?;
                local.list.dedup();
                *longest = local.list.len().max(*longest);
                let found = local.cliques_at(lists, run, &hubs, v, k)?;
                *sum = sum.zip(found).and_then(|(sum, found)| sum.checked_add(found));
            }
            Ok::<(), E::Error>(())
        },
    )?;
    let total = sums.iter().try_fold(0u64, |sum, part| sum.checked_add(part.0?));
    Ok((total, sums.iter().map(|part| part.1).max().unwrap_or(0)))
}

/// What one worker keeps of the earlier neighbours of its vertex.
struct Local {
    list: Vec<VertexId>,
    /// Where vertices stand in the list: what is there for others means nothing.
    places: Vec<VertexId>,
    /// The hubs among them.
    own: Vec<Line>,
    /// For each of them a row of those before it that are its neighbours.
    rows: Vec<Line>,
    /// Lines of a row.
    width: usize,
    /// A set for each level of the search.
    sets: Vec<Line>,
}

impl Local {
    fn new(n: usize, hubs: usize) -> Self {
        Self {
            list: Vec::new(),
            places: vec![0; n],
            own: vec![Line::default(); hubs.div_ceil(LINE_BITS)],
            rows: Vec::new(),
            width: 0,
            sets: Vec::new(),
        }
    }

    /// Cliques of which `v` is the last vertex; `None` if there are 2^64 or more.
    fn cliques_at<E: Earlier>(
        &mut self,
        lists: &E,
        run: &Run,
        hubs: &Hubs,
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
        self.rows.resize(len * self.width, Line::default());
        let in_hubs = self.list.partition_point(|&u| (u as usize) < hubs.len());
        self.rows_of_hubs(hubs, in_hubs);
        if in_hubs < len {
            self.rows_of_others(lists, run, in_hubs)?;
        }
        // The chosen vertex and the pairs at the end take three levels.
        let levels = k.saturating_sub(3).min(len);
        self.sets.clear();
        self.sets.resize(levels * self.width, Line::default());
        let mut all = vec![Line::default(); self.width];
        (0..len).for_each(|i| set_bit(&mut all, vertex(i)));
        let search = Search { rows: &self.rows, width: self.width, run };
        debug_assert!(v as usize >= len);
        Ok(search.count(&all, k - 1, &mut self.sets)?)
    }

    fn rows_of_hubs(&mut self, hubs: &Hubs, in_hubs: usize) {
        for &u in &self.list[..in_hubs] {
            set_bit(&mut self.own, u);
        }
        let mut words = Vec::new();
        let mut before = 0;
        for &u in &self.list[..in_hubs] {
            let at = u as usize / 64;
            let bits = self.own[at / 8].0[at % 8];
            if bits != 0 {
                words.push(OwnWord { at, bits, before });
                before += bits.count_ones() as usize;
                clear_word(&mut self.own, u);
            }
        }
        let (list, width) = (&self.list[..in_hubs], self.width);
        with_vectors(RowsOfHubs { hubs, list, words: &words, rows: &mut self.rows, width });
    }

    /// Rows of the vertices from `first` on, which are no hubs.
    fn rows_of_others<E: Earlier>(&mut self, lists: &E, run: &Run, first: usize) -> Result<(), E::Error> {
        for (i, &u) in self.list.iter().enumerate() {
            self.places[u as usize] = vertex(i);
        }
        for (i, &u) in self.list.iter().enumerate().skip(first) {
            run.check()?;
            let row = &mut self.rows[i * self.width..(i + 1) * self.width];
            lists.with_earlier(u, |others, _| {
                for &w in others {
                    let place = self.places[w as usize];
                    if self.list.get(place as usize) == Some(&w) {
                        set_bit(row, place);
                    }
                }
            })?;
        }
        Ok(())
    }
}

/// A word of the row of a vertex over the hubs that has bits, and how many lie before it.
struct OwnWord {
    at: usize,
    bits: u64,
    before: usize,
}

/// Cuts the rows of hubs down to the hubs that are in the list.
struct RowsOfHubs<'a> {
    hubs: &'a Hubs,
    list: &'a [VertexId],
    words: &'a [OwnWord],
    rows: &'a mut [Line],
    width: usize,
}

impl Kernel for RowsOfHubs<'_> {
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

struct Search<'a> {
    rows: &'a [Line],
    width: usize,
    run: &'a Run,
}

/// Members of a set, ascending.
#[inline(always)]
fn members(set: &[Line]) -> impl Iterator<Item = usize> + '_ {
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

impl Search<'_> {
    fn row(&self, i: usize) -> &[Line] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }

    /// Cliques of `k` members of `set`, at least 2; `None` if there are 2^64 or more. `sets` has room for the levels below.
    fn count(&self, set: &[Line], k: usize, sets: &mut [Line]) -> Result<Option<u64>, Stop> {
        if k == 2 {
            return Ok(Some(with_vectors(Pairs { search: self, set })));
        }
        self.run.check()?;
        let Some((next, rest)) = sets.split_at_mut_checked(self.width) else {
            // More levels than members.
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

/// Counts the pairs of neighbours in a set.
struct Pairs<'a> {
    search: &'a Search<'a>,
    set: &'a [Line],
}

impl Kernel for Pairs<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Self { search, set } = self;
        let mut counts = [0u64; 8];
        for i in members(set) {
            // A row has no bits at or past its own vertex.
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
