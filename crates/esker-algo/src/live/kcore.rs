//! Coreness, kept up to date in a degeneracy order.
//!
//! The order has the vertices of each coreness, a *shell*, one after another, and no vertex has more later
//! neighbours than its coreness [1]. Edges are taken in one by one: those that went, then those that came.
//! Lists are those of that moment: of the new version, with the changes that are still to come taken back.
//!
//! An edge that comes gives its earlier end one more later neighbour. Only if these are now more than its
//! coreness k, vertices may rise, to k + 1: it, and vertices of its shell behind it with enough later
//! neighbours and earlier ones that may rise. They are looked at in order. One that cannot rise takes support
//! from those that could, and what is left with too little moves behind it. The rest rises, to the beginning
//! of the next shell. An edge that goes takes support from its end of lower coreness k, or from both. An end
//! with fewer than k neighbours of coreness k or more falls to the end of the shell below, and takes support
//! from its neighbours in turn.
//!
//! Work: O(1) for most edges, of hubs too; the lists of the vertices that are looked at in turn, which are
//! few more than those that change [1]. Memory: 9 bytes and six ids a vertex, the lists of the vertices that
//! may rise or that fall, and the ends of the edges that changed, by vertex.
//!
//! [1] Y. Zhang et al., "A Fast Order-Based Approach for Core Maintenance", ICDE 2017.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::ops::Range;

use esker_graph::{Flow, Graph, NONE, Piece, Run, Select, VertexId, Visitor, Weight};

#[cfg(doc)]
use super::graph::Halt;
use super::graph::{BoundedReader, LiveGraph, UpdateResult};
use super::moment::{AheadKind, ChangesAhead, MomentLists};
use super::shells::ShellOrder;
use crate::primitive::{VertexArray, neighbourhood_directions, scan_neighbours};

/// The coreness of the vertices of a version.
#[derive(Debug, Clone)]
pub struct LiveCores {
    cores: Vec<VertexId>,
    /// The number of vertices of each coreness.
    sizes: Vec<usize>,
    order: ShellOrder,
    /// The number of neighbours that come later in the order.
    later: Vec<VertexId>,
    /// The number of neighbours whose coreness is at least that of the vertex.
    support: Vec<VertexId>,
    /// While an edge is taken in: what was found of each vertex, and its earlier neighbours that may rise.
    found: Vec<Standing>,
    earlier: Vec<VertexId>,
}

/// What was found of a vertex while an edge is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Nothing,
    /// It has its turn later.
    Waiting,
    /// It may rise.
    Rising,
    /// It may not rise any longer, which its neighbours do not know yet.
    Leaving,
    /// It does not rise.
    Staying,
}

impl LiveCores {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        ShellOrder::bytes(n) + (n * (4 * size_of::<VertexId>() + size_of::<Standing>())) as u64
    }

    /// The state of a version, from the coreness of each vertex and a degeneracy order: see
    /// [`KCore`](crate::algorithm::cohesion::kcore::KCore). `None` if they are not of this graph.
    ///
    /// # Errors
    /// As [`Graph::scan`]; [`esker_graph::Stop::OverBudget`].
    pub fn new<G: Graph>(
        graph: &G,
        run: &Run,
        cores: Vec<VertexId>,
        order: &[VertexId],
    ) -> Result<Option<Self>, G::Error> {
        let n = graph.num_vertices();
        let run = &run.begin("the order of cores", (n * 3 * size_of::<VertexId>()) as u64)?;
        let mut ranks = vec![NONE; n];
        for (rank, &v) in (0..).zip(order) {
            match ranks.get_mut(v as usize) {
                Some(known) if *known == NONE => *known = rank,
                _ => return Ok(None),
            }
        }
        let core = |v: &VertexId| cores[*v as usize];
        if cores.len() != n || order.len() != n || !order.is_sorted_by_key(core) {
            return Ok(None);
        }
        let (later, support) = run.install(|| {
            let zeros = || VertexArray::filled(run, n, 0);
            let counts = NeighbourCounts { cores: &cores, ranks: &ranks, later: zeros(), support: zeros() };
            scan_neighbours(graph, run, neighbourhood_directions(graph), Select::All, &counts)?;
            Ok::<_, G::Error>((counts.later.into_vec(), counts.support.into_vec()))
        })?;
        // No coreness is more than the later neighbours allow, nor less than the neighbours support.
        if (0..n).any(|v| later[v] > cores[v] || support[v] < cores[v]) {
            return Ok(None);
        }
        let mut sizes = vec![0; 1 + cores.iter().copied().max().unwrap_or(0) as usize];
        cores.iter().for_each(|&core| sizes[core as usize] += 1);
        let order = ShellOrder::new(order, &cores);
        let (found, earlier) = (vec![Standing::Nothing; n], vec![0; n]);
        Ok(Some(Self { cores, sizes, order, later, support, found, earlier }))
    }

    /// The coreness of each vertex.
    pub fn cores(&self) -> &[VertexId] {
        &self.cores
    }

    /// All vertices in a degeneracy order.
    pub fn order(&self) -> Vec<VertexId> {
        self.order.vertices().collect()
    }

    /// The largest coreness.
    pub fn largest(&self) -> usize {
        self.sizes.iter().rposition(|&size| size > 0).unwrap_or(0)
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose coreness may have
    /// changed, each at least once.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] for a directed graph without in-lists.
    pub fn update<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        let changes = reader.changes();
        let (n, mut changed) = reader.new_vertices(self.cores.len());
        self.order.grow(n, &changed);
        for array in [&mut self.cores, &mut self.later, &mut self.support, &mut self.earlier] {
            array.resize(n, 0);
        }
        self.found.resize(n, Standing::Nothing);
        self.sizes[0] += changed.len();
        let mut lists = MomentLists { reader, ahead: ChangesAhead::new(changes), arcs: Vec::new() };
        for &(u, v, _) in changes.removed.iter().filter(|(u, v, _)| u != v) {
            lists.ahead.pass(u, v, AheadKind::Going);
            self.take_away(&mut lists, u, v, &mut changed)?;
        }
        for &(u, v, _) in changes.added.iter().filter(|(u, v, _)| u != v) {
            lists.ahead.pass(u, v, AheadKind::Coming);
            self.take_in(&mut lists, u, v, &mut changed)?;
        }
        Ok(changed)
    }

    /// The ends of an edge in order.
    fn in_order(&self, u: VertexId, v: VertexId) -> (VertexId, VertexId) {
        let key = |v: VertexId| (self.cores[v as usize], self.order.place(v));
        if key(u) < key(v) { (u, v) } else { (v, u) }
    }

    fn set(&mut self, v: VertexId, core: VertexId) {
        let before = std::mem::replace(&mut self.cores[v as usize], core);
        self.sizes[before as usize] -= 1;
        if self.sizes.len() <= core as usize {
            self.sizes.resize(core as usize + 1, 0);
        }
        self.sizes[core as usize] += 1;
    }

    /// Takes in an edge that came.
    fn take_in<G: LiveGraph>(
        &mut self,
        lists: &mut MomentLists<'_, '_, G>,
        u: VertexId,
        v: VertexId,
        changed: &mut Vec<VertexId>,
    ) -> UpdateResult<(), G> {
        let (u, v) = self.in_order(u, v);
        let core = self.cores[u as usize];
        self.later[u as usize] += 1;
        self.support[u as usize] += 1;
        self.support[v as usize] += VertexId::from(self.cores[v as usize] == core);
        lists.reader.count(1)?;
        if self.later[u as usize] <= core {
            return Ok(());
        }
        let mut rise = Rise::new(core);
        self.wait(&mut rise, u);
        lists.arcs.clear();
        while let Some(Reverse((_, w))) = rise.queue.pop() {
            let earlier = self.earlier[w as usize];
            if self.later[w as usize] + earlier > core {
                self.found[w as usize] = Standing::Rising;
                let list = lists.read(w)?;
                for &x in &lists.arcs[list.clone()] {
                    if self.cores[x as usize] == core && self.order.place(x) > self.order.place(w) {
                        self.wait(&mut rise, x);
                        self.earlier[x as usize] += 1;
                    }
                }
                rise.seen.push(w);
                rise.lists.insert(w, list);
            } else {
                self.found[w as usize] = Standing::Staying;
                if earlier > 0 {
                    self.stay(lists, &mut rise, w)?;
                }
            }
        }
        let steps = self.raise(&rise, &lists.arcs, changed);
        for v in rise.touched {
            (self.found[v as usize], self.earlier[v as usize]) = (Standing::Nothing, 0);
        }
        lists.reader.count(steps)
    }

    /// Gives a vertex its turn, unless it had or has one.
    fn wait(&mut self, rise: &mut Rise, v: VertexId) {
        if self.found[v as usize] == Standing::Nothing {
            self.found[v as usize] = Standing::Waiting;
            rise.queue.push(Reverse((self.order.place(v), v)));
            rise.touched.push(v);
        }
    }

    /// Takes the support of `w`, which does not rise, from its neighbours that might. Those that do not rise
    /// without it move behind it.
    fn stay<G: LiveGraph>(
        &mut self,
        lists: &mut MomentLists<'_, '_, G>,
        rise: &mut Rise,
        w: VertexId,
    ) -> UpdateResult<(), G> {
        // Those that may rise do so to the next shell, or move behind it: they are later in either case.
        self.later[w as usize] += std::mem::take(&mut self.earlier[w as usize]);
        let (mut leaving, mut left) = (VecDeque::new(), Vec::new());
        let list = lists.read(w)?;
        for &x in &lists.arcs[list.clone()] {
            if matches!(self.found[x as usize], Standing::Rising | Standing::Leaving) {
                self.later[x as usize] -= 1;
                self.leave_if_weak(rise.core, x, &mut leaving);
            }
        }
        lists.arcs.truncate(list.start);
        while let Some(c) = leaving.pop_front() {
            // Those before it that may rise come later now.
            self.later[c as usize] += std::mem::take(&mut self.earlier[c as usize]);
            self.found[c as usize] = Standing::Staying;
            left.push(c);
            let Some(list) = rise.lists.remove(&c) else { continue };
            lists.reader.count(list.len())?;
            for &x in &lists.arcs[list] {
                let is_behind = self.order.place(x) > self.order.place(c);
                match self.found[x as usize] {
                    Standing::Waiting => self.earlier[x as usize] -= 1,
                    Standing::Rising | Standing::Leaving => {
                        let count = if is_behind { &mut self.earlier } else { &mut self.later };
                        count[x as usize] -= 1;
                        self.leave_if_weak(rise.core, x, &mut leaving);
                    }
                    Standing::Nothing | Standing::Staying => {}
                }
            }
        }
        rise.left.push((w, left));
        Ok(())
    }

    /// Has a vertex leave those that may rise, if it no longer may.
    fn leave_if_weak(&mut self, core: VertexId, x: VertexId, leaving: &mut VecDeque<VertexId>) {
        let is_weak = self.later[x as usize] + self.earlier[x as usize] <= core;
        if is_weak && self.found[x as usize] == Standing::Rising {
            self.found[x as usize] = Standing::Leaving;
            leaving.push_back(x);
        }
    }

    /// Moves what does not rise, and raises what does. Returns the number of steps.
    fn raise(&mut self, rise: &Rise, arcs: &[VertexId], changed: &mut Vec<VertexId>) -> usize {
        let (core, mut steps) = (rise.core, 0);
        for (w, left) in &rise.left {
            left.iter().for_each(|&v| self.order.remove(core, v));
            steps += self.order.insert(core, *w, left);
        }
        let is_rising = |&v: &VertexId| self.found[v as usize] == Standing::Rising;
        let risen: Vec<VertexId> = rise.seen.iter().copied().filter(is_rising).collect();
        for &v in &risen {
            self.order.remove(core, v);
            self.set(v, core + 1);
        }
        for &v in &risen {
            let mut support = 0;
            let list = &arcs[rise.lists[&v].clone()];
            for &x in list {
                support += VertexId::from(self.cores[x as usize] > core);
                if self.cores[x as usize] == core + 1 && self.found[x as usize] != Standing::Rising {
                    self.support[x as usize] += 1;
                }
            }
            self.support[v as usize] = support;
            steps += list.len();
        }
        changed.extend_from_slice(&risen);
        steps + self.order.insert(core + 1, NONE, &risen)
    }

    /// Takes away an edge that went.
    fn take_away<G: LiveGraph>(
        &mut self,
        lists: &mut MomentLists<'_, '_, G>,
        u: VertexId,
        v: VertexId,
        changed: &mut Vec<VertexId>,
    ) -> UpdateResult<(), G> {
        let (u, v) = self.in_order(u, v);
        let core = self.cores[u as usize];
        self.later[u as usize] -= 1;
        self.support[u as usize] -= 1;
        self.support[v as usize] -= VertexId::from(self.cores[v as usize] == core);
        lists.reader.count(1)?;
        let mut falling: Vec<(VertexId, Range<usize>)> = Vec::new();
        for v in [u, v] {
            self.fall_if_weak(core, v, &mut falling);
        }
        lists.arcs.clear();
        let mut next = 0;
        while next < falling.len() {
            let list = lists.read(falling[next].0)?;
            for &x in &lists.arcs[list.clone()] {
                if self.cores[x as usize] == core && self.found[x as usize] == Standing::Nothing {
                    self.support[x as usize] -= 1;
                    self.fall_if_weak(core, x, &mut falling);
                }
            }
            falling[next].1 = list;
            next += 1;
        }
        for (v, list) in &falling {
            self.lower(*v, core, &lists.arcs[list.clone()]);
            changed.push(*v);
        }
        falling.iter().for_each(|&(v, _)| self.found[v as usize] = Standing::Nothing);
        Ok(())
    }

    /// Has a vertex of a shell fall, if too few neighbours are as high as itself.
    fn fall_if_weak(&mut self, core: VertexId, v: VertexId, falling: &mut Vec<(VertexId, Range<usize>)>) {
        let is_weak = self.cores[v as usize] == core && self.support[v as usize] < core;
        if is_weak && self.found[v as usize] == Standing::Nothing {
            self.found[v as usize] = Standing::Leaving;
            falling.push((v, 0..0));
        }
    }

    /// Moves a vertex from its shell to the end of the one below. Those that are still to fall come later
    /// than it.
    fn lower(&mut self, v: VertexId, core: VertexId, list: &[VertexId]) {
        let (mut later, mut support) = (0, 0);
        for &x in list {
            let other = self.cores[x as usize];
            later += VertexId::from(other >= core);
            support += VertexId::from(other + 1 >= core);
            let stays = other == core && self.found[x as usize] == Standing::Nothing;
            if stays && self.order.place(x) < self.order.place(v) {
                self.later[x as usize] -= 1;
            }
        }
        (self.later[v as usize], self.support[v as usize]) = (later, support);
        self.order.remove(core, v);
        self.set(v, core - 1);
        self.order.append(core - 1, &[v]);
    }
}

/// Vertices of one shell that may rise because an edge came.
struct Rise {
    core: VertexId,
    /// Vertices to look at, by their places.
    queue: BinaryHeap<Reverse<(i64, VertexId)>>,
    /// Vertices that had or have a turn.
    touched: Vec<VertexId>,
    /// Those that may rise, or did once, in order.
    seen: Vec<VertexId>,
    /// Where the lists of those that may rise lie.
    lists: HashMap<VertexId, Range<usize>>,
    /// Vertices that do not rise, with those that move behind them.
    left: Vec<(VertexId, Vec<VertexId>)>,
}

impl Rise {
    fn new(core: VertexId) -> Self {
        let (touched, seen, left) = (Vec::new(), Vec::new(), Vec::new());
        Self { core, queue: BinaryHeap::new(), touched, seen, lists: HashMap::new(), left }
    }
}

/// Counts the later neighbours of each vertex, and those whose coreness is at least its own.
struct NeighbourCounts<'a> {
    cores: &'a [VertexId],
    ranks: &'a [VertexId],
    later: VertexArray,
    support: VertexArray,
}

impl<W: Weight> Visitor<W> for NeighbourCounts<'_> {
    type State = ();
    const STOPS: bool = false;
    const BOXED: bool = true;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let (core, rank) = (self.cores[v as usize], self.ranks[v as usize]);
        let (mut later, mut support) = (0, 0);
        for &u in piece.targets {
            later += VertexId::from(self.ranks[u as usize] > rank);
            support += VertexId::from(u != v && self.cores[u as usize] >= core);
        }
        self.later.add(v, later);
        self.support.add(v, support);
        Flow::More
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use esker_graph::Csr;

    use super::super::graph::ChangedEdges;
    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::cohesion::kcore::kcore;

    fn state(csr: &Csr<()>, run: &Run) -> LiveCores {
        let found = kcore(&csr.graph(), run).unwrap();
        LiveCores::new(&csr.graph(), run, found.coreness, &found.order).unwrap().unwrap()
    }

    #[test]
    fn every_version_of_a_random_stream_is_as_computed_anew() {
        let run = Run::with_threads(1).unwrap();
        let mut most = 0;
        for seed in 0..30 {
            let mut stream = EdgeChurn::new(seed, 30, seed % 2 == 0, |_| ());
            stream.grow(20 * (seed as usize % 5));
            let mut live = state(&stream.graph(), &run);
            let mut given = live.cores.clone();
            for step in 0..60 {
                let changes = stream.step(1 << (step % 6));
                let csr = stream.graph();
                let changed = live.update(&mut BoundedReader::new(&csr.graph(), &changes, u64::MAX)).unwrap();
                let expected = kcore(&csr.graph(), &run).unwrap();
                assert_eq!(live.cores(), expected.coreness, "seed {seed}, step {step}");
                assert_eq!(live.largest(), expected.k_max as usize);
                given.resize(stream.num_vertices, 0);
                changed.iter().for_each(|&v| given[v as usize] = live.cores()[v as usize]);
                assert_eq!(given, expected.coreness, "seed {seed}, step {step}: what changed");
                // The order is a degeneracy order, and the counts are those of it.
                let (cores, order) = (live.cores.clone(), live.order());
                let counted = LiveCores::new(&csr.graph(), &run, cores, &order).unwrap();
                let counted = counted.unwrap_or_else(|| panic!("seed {seed}, step {step}: {order:?}"));
                assert_eq!(live.later, counted.later, "seed {seed}, step {step}");
                assert_eq!(live.support, counted.support, "seed {seed}, step {step}");
                assert!(live.found.iter().all(|&found| found == Standing::Nothing));
                assert!(live.earlier.iter().all(|&earlier| earlier == 0));
                most = most.max(live.largest());
            }
        }
        assert!(most >= 6, "{most}");
    }

    #[test]
    fn edges_around_a_hub_do_not_cost_its_list() {
        let (run, n) = (Run::with_threads(1).unwrap(), 1000);
        let mut edges: Vec<(VertexId, VertexId, ())> = (1..n).map(|v| (0, v, ())).collect();
        edges.push((1, 2, ()));
        let mut live = state(&Csr::undirected(n as usize, &edges).unwrap(), &run);
        // The ends fall by lists of their own.
        let gone = ChangedEdges { removed: vec![(0, 7, ())], ..ChangedEdges::default() };
        edges.retain(|edge| edge.1 != 7);
        let csr = Csr::undirected(n as usize, &edges).unwrap();
        let changed = live.update(&mut BoundedReader::new(&csr.graph(), &gone, 10)).unwrap();
        assert_eq!((changed, live.cores()[7]), (vec![7], 0));
        // Only what rises has its list read.
        let come = ChangedEdges { added: vec![(2, 3, ())], ..ChangedEdges::default() };
        edges.push((2, 3, ()));
        let csr = Csr::undirected(n as usize, &edges).unwrap();
        let changed = live.update(&mut BoundedReader::new(&csr.graph(), &come, 50)).unwrap();
        assert_eq!((changed, live.cores()[3], live.cores()[4]), (vec![3], 2, 1));
    }

    #[test]
    fn a_star_that_goes_or_comes_at_once_costs_no_search_for_each_of_its_edges() {
        let (run, n) = (Run::with_threads(1).unwrap(), 100_000);
        let edges: Vec<(VertexId, VertexId, ())> = (1..n).map(|v| (0, v, ())).collect();
        let (star, none) =
            (Csr::undirected(n as usize, &edges).unwrap(), Csr::undirected(n as usize, &[]).unwrap());
        let begin = Instant::now();
        let mut live = state(&star, &run);
        let anew = begin.elapsed();
        let begin = Instant::now();
        let gone = ChangedEdges { removed: edges.clone(), ..ChangedEdges::default() };
        live.update(&mut BoundedReader::new(&none.graph(), &gone, 10 * n as u64)).unwrap();
        assert!(live.cores().iter().all(|&core| core == 0));
        let come = ChangedEdges { added: edges, ..ChangedEdges::default() };
        live.update(&mut BoundedReader::new(&star.graph(), &come, 10 * n as u64)).unwrap();
        assert!(live.cores().iter().all(|&core| core == 1));
        // Some 20 times; a search for each edge takes more than a minute, a thousand times. Other programs
        // slow both down.
        let taken = begin.elapsed();
        assert!(taken < 200 * anew, "{taken:?}, and {anew:?} anew");
    }

    #[test]
    fn edges_that_are_still_to_go_count_where_a_list_is_read() {
        // A hub with leaves is in a triangle that breaks up first. The hub falls, and reads the leaves, which
        // go later.
        let (run, leaves) = (Run::with_threads(1).unwrap(), 1000);
        let mut edges: Vec<(VertexId, VertexId, ())> = vec![(1, 2, ()), (0, 2, ()), (0, 1, ())];
        edges.extend((3..3 + leaves).map(|v| (0, v, ())));
        let csr = |edges: &[_]| Csr::undirected(3 + leaves as usize, edges).unwrap();
        let mut live = state(&csr(&edges), &run);
        let gone = ChangedEdges { removed: edges[2..].to_vec(), ..ChangedEdges::default() };
        let left = csr(&edges[..2]);
        let graph = left.graph();
        let mut reader = BoundedReader::new(&graph, &gone, u64::MAX);
        live.update(&mut reader).unwrap();
        assert_eq!(live.cores()[..4], [1, 1, 1, 0]);
        // Each leaf is an edge, an empty list, and an entry of the list of the hub.
        assert!(reader.read() >= 3 * leaves as u64, "{}", reader.read());
    }

    #[test]
    fn a_coreness_or_an_order_of_another_graph_is_no_state() {
        let run = Run::with_threads(1).unwrap();
        let csr = Csr::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ())]).unwrap();
        let is_state = |cores: &[VertexId], order: &[VertexId]| {
            LiveCores::new(&csr.graph(), &run, cores.to_vec(), order).unwrap().is_some()
        };
        assert!(is_state(&[2, 2, 2, 1], &[3, 0, 1, 2]));
        assert!(!is_state(&[2, 2, 2, 1], &[0, 1, 2, 3]), "the shells ascend");
        assert!(!is_state(&[2, 2, 2, 1], &[3, 0, 1, 1]) && !is_state(&[2, 2, 2, 1], &[3, 0, 1, 9]));
        assert!(!is_state(&[2, 2, 2], &[0, 1, 2]), "a vertex is missing");
        assert!(!is_state(&[1, 1, 1, 1], &[3, 0, 1, 2]), "0 has two later neighbours");
        assert!(!is_state(&[2, 2, 3, 1], &[3, 0, 1, 2]), "2 has too few neighbours as high as itself");
    }
}
