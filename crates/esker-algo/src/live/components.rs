//! Weakly connected components, kept up to date: for every vertex the smallest vertex of its component.
//!
//! An added edge joins the smaller component to the larger: O(n log n) moves over any number of additions.
//! For removed edges, searches from all their ends take turns, cheapest list first; searches that meet go on
//! as one, and one that has nowhere left to go has found a component that came off. They stop when one is
//! left, so the cost is near that of the smaller parts, or of the detours around the removed edges. A
//! directed graph needs its in-lists for removals.
//!
//! Memory: 24 bytes a vertex (48 with 64-bit ids); during removals also what the searches visit.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

use esker_graph::{NONE, VertexId, vertex};

#[cfg(doc)]
use super::graph::Halt;
use super::graph::{BoundedReader, LiveGraph, UpdateResult};

/// Bytes of state a vertex.
const ARRAYS: usize = 6;

/// The components of a version.
#[derive(Debug, Clone)]
pub struct LiveComponents {
    /// The number of the component of each vertex.
    of: Vec<VertexId>,
    /// The members of a component form a ring.
    next: Vec<VertexId>,
    previous: Vec<VertexId>,
    /// By number of the component: its least member, and how many it has; 0 for a number that is not in use.
    least: Vec<VertexId>,
    size: Vec<VertexId>,
    /// Numbers that are free again, all less than `fresh`.
    free: Vec<VertexId>,
    /// Numbers from here on have not been taken since the start, but for those with a size.
    fresh: usize,
    count: usize,
    /// Components that this update gave members or took some from, with their least members before it.
    touched: BTreeMap<VertexId, VertexId>,
    /// Vertices that this update moved from one component to another.
    moved: Vec<VertexId>,
}

impl LiveComponents {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        (n * ARRAYS * size_of::<VertexId>()) as u64
    }

    /// The state of a version, from the smallest vertex of the component of each vertex.
    pub fn new(labels: &[VertexId]) -> Self {
        let n = labels.len();
        let mut state = Self {
            of: labels.to_vec(),
            next: (0..n).map(vertex).collect(),
            previous: (0..n).map(vertex).collect(),
            least: vec![NONE; n],
            size: vec![0; n],
            free: Vec::new(),
            fresh: 0,
            count: 0,
            touched: BTreeMap::new(),
            moved: Vec::new(),
        };
        for v in (0..n).map(vertex) {
            let component = labels[v as usize];
            state.count += usize::from(component == v);
            state.least[component as usize] = component;
            state.size[component as usize] += 1;
            state.link(v, component);
        }
        state
    }

    /// The smallest vertex of the component of `v`.
    pub fn label(&self, v: VertexId) -> VertexId {
        self.least[self.of[v as usize] as usize]
    }

    /// The smallest vertex of the component of every vertex.
    pub fn labels(&self) -> Vec<VertexId> {
        self.of.iter().map(|&component| self.least[component as usize]).collect()
    }

    /// Number of components.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose labels may have
    /// changed, each at least once.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] only if edges were removed.
    pub fn update<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        let changes = reader.changes();
        self.touched.clear();
        self.moved.clear();
        for v in (self.of.len()..reader.graph().num_vertices()).map(vertex) {
            self.of.push(v);
            self.next.push(v);
            self.previous.push(v);
            self.least.push(v);
            self.size.push(1);
            self.count += 1;
            self.moved.push(v);
        }
        for &(u, v, _) in &changes.added {
            self.join(reader, self.of[u as usize], self.of[v as usize])?;
        }
        let mut ends: BTreeMap<VertexId, Vec<VertexId>> = BTreeMap::new();
        for &(u, v, _) in changes.removed.iter().filter(|(u, v, _)| u != v) {
            ends.entry(self.of[u as usize]).or_default().extend([u, v]);
        }
        for (component, mut ends) in ends {
            ends.sort_unstable();
            ends.dedup();
            for part in Searches::new(reader, &ends)?.parts(reader)? {
                self.split(reader, component, &part)?;
            }
        }
        self.changed(reader)
    }

    /// The vertices whose labels may have changed.
    fn changed<G: LiveGraph>(&mut self, reader: &mut BoundedReader<'_, G>) -> UpdateResult<Vec<VertexId>, G> {
        let mut changed = std::mem::take(&mut self.moved);
        for (component, before) in std::mem::take(&mut self.touched) {
            let least = self.least[component as usize];
            if self.size[component as usize] > 0 && least != before {
                reader.count(self.size[component as usize] as usize)?;
                changed.extend(self.members(least));
            }
        }
        Ok(changed)
    }

    /// The members of the component of `v`.
    fn members(&self, v: VertexId) -> impl Iterator<Item = VertexId> {
        std::iter::successors(Some(v), move |&member| {
            Some(self.next[member as usize]).filter(|&next| next != v)
        })
    }

    fn touch(&mut self, component: VertexId) {
        self.touched.entry(component).or_insert(self.least[component as usize]);
    }

    fn join<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
        a: VertexId,
        b: VertexId,
    ) -> UpdateResult<(), G> {
        if a == b {
            return Ok(());
        }
        let (small, large) = if self.size[a as usize] < self.size[b as usize] { (a, b) } else { (b, a) };
        reader.count(self.size[small as usize] as usize)?;
        self.touch(large);
        let (first, other) = (self.least[small as usize], self.least[large as usize]);
        let start = self.moved.len();
        let mut member = first;
        loop {
            self.of[member as usize] = large;
            self.moved.push(member);
            member = self.next[member as usize];
            if member == first {
                break;
            }
        }
        debug_assert_eq!(self.moved.len() - start, self.size[small as usize] as usize);
        // Two rings become one.
        let (after, behind) = (self.next[first as usize], self.next[other as usize]);
        self.next[first as usize] = behind;
        self.previous[behind as usize] = first;
        self.next[other as usize] = after;
        self.previous[after as usize] = other;
        self.least[large as usize] = first.min(other);
        self.size[large as usize] += self.size[small as usize];
        self.size[small as usize] = 0;
        if (small as usize) < self.fresh {
            self.free.push(small);
        }
        self.count -= 1;
        Ok(())
    }

    /// Makes a part of a component, but not all of it, a component of its own.
    fn split<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
        component: VertexId,
        part: &[VertexId],
    ) -> UpdateResult<(), G> {
        self.touch(component);
        let made = self.free_number();
        let mut rest = NONE;
        for &v in part {
            let (next, previous) = (self.next[v as usize], self.previous[v as usize]);
            self.next[previous as usize] = next;
            self.previous[next as usize] = previous;
            self.of[v as usize] = made;
            rest = next;
            (self.next[v as usize], self.previous[v as usize]) = (v, v);
        }
        debug_assert_eq!(self.of[rest as usize], component, "what stood behind the last one stayed");
        let least = part.iter().copied().min().unwrap_or(NONE);
        self.least[made as usize] = least;
        for &v in part {
            self.link(v, made);
        }
        self.size[made as usize] = vertex(part.len());
        self.size[component as usize] -= vertex(part.len());
        self.moved.extend_from_slice(part);
        self.count += 1;
        if least == self.least[component as usize] {
            self.least[component as usize] = self.least_of_rest(reader, component, rest)?;
        }
        Ok(())
    }

    /// The least member of a component, of which one is known.
    fn least_of_rest<G: LiveGraph>(
        &self,
        reader: &mut BoundedReader<'_, G>,
        component: VertexId,
        known: VertexId,
    ) -> UpdateResult<VertexId, G> {
        reader.count(self.size[component as usize] as usize)?;
        debug_assert_eq!(self.of[known as usize], component);
        Ok(self.members(known).min().unwrap_or(known))
    }

    /// A number that no component has.
    fn free_number(&mut self) -> VertexId {
        if let Some(number) = self.free.pop() {
            return number;
        }
        while self.size[self.fresh] > 0 {
            self.fresh += 1;
        }
        self.fresh += 1;
        vertex(self.fresh - 1)
    }

    /// Puts a vertex that is alone into the ring of a component, behind its least member.
    fn link(&mut self, v: VertexId, component: VertexId) {
        let least = self.least[component as usize];
        if v == least {
            return;
        }
        let next = self.next[least as usize];
        self.next[least as usize] = v;
        self.previous[v as usize] = least;
        self.next[v as usize] = next;
        self.previous[next as usize] = v;
    }
}

/// Searches that take turns. Those that met share one entry.
struct Searches {
    searches: Vec<Search>,
    /// The search that each one went over to; itself if none.
    into: Vec<usize>,
    /// The search that reached a vertex first.
    reached: HashMap<VertexId, usize>,
    /// Searches by what they will have read after their next list.
    queue: BinaryHeap<Reverse<(usize, usize)>>,
    active: usize,
}

#[derive(Default)]
struct Search {
    members: Vec<VertexId>,
    waiting: VecDeque<VertexId>,
    read: usize,
}

impl Searches {
    fn new<G: LiveGraph>(reader: &BoundedReader<'_, G>, starts: &[VertexId]) -> UpdateResult<Self, G> {
        let search = |&v: &VertexId| Search { members: vec![v], waiting: VecDeque::from([v]), read: 0 };
        let mut made = Self {
            searches: starts.iter().map(search).collect(),
            into: (0..starts.len()).collect(),
            reached: starts.iter().enumerate().map(|(search, &v)| (v, search)).collect(),
            queue: BinaryHeap::new(),
            active: starts.len(),
        };
        (0..starts.len()).try_for_each(|search| made.take_turn(reader, search))?;
        Ok(made)
    }

    fn take_turn<G: LiveGraph>(
        &mut self,
        reader: &BoundedReader<'_, G>,
        search: usize,
    ) -> UpdateResult<(), G> {
        if let Some(&next) = self.searches[search].waiting.front() {
            let read = self.searches[search].read + reader.degree_around(next)?;
            self.queue.push(Reverse((read, search)));
        }
        Ok(())
    }

    fn find(&self, mut search: usize) -> usize {
        while self.into[search] != search {
            search = self.into[search];
        }
        search
    }

    /// The components that came off: those of all searches but one.
    fn parts<G: LiveGraph>(
        mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<Vec<VertexId>>, G> {
        let mut parts = Vec::new();
        while self.active > 1 {
            let Some(Reverse((_, turn))) = self.queue.pop() else { break };
            if self.into[turn] != turn {
                continue;
            }
            let Some(v) = self.searches[turn].waiting.pop_front() else { continue };
            let mut met = Vec::new();
            let (search, reached) = (&mut self.searches[turn], &mut self.reached);
            reader.each_around(v, |w, _| {
                search.read += 1;
                match reached.get(&w) {
                    Some(&other) if other != turn => met.push(other),
                    Some(_) => {}
                    None => {
                        reached.insert(w, turn);
                        search.members.push(w);
                        search.waiting.push_back(w);
                    }
                }
            })?;
            let mut search = turn;
            for other in met {
                search = self.meet(search, other);
            }
            if self.searches[search].waiting.is_empty() {
                parts.push(std::mem::take(&mut self.searches[search].members));
                self.active -= 1;
            } else {
                self.take_turn(reader, search)?;
            }
        }
        Ok(parts)
    }

    /// Makes two searches one, and returns it.
    fn meet(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return a;
        }
        let larger = |search: usize| self.searches[search].members.len();
        let (into, from) = if larger(a) >= larger(b) { (a, b) } else { (b, a) };
        self.into[from] = into;
        let Search { members, waiting, read } = std::mem::take(&mut self.searches[from]);
        let search = &mut self.searches[into];
        search.members.extend(members);
        search.waiting.extend(waiting);
        search.read += read;
        self.active -= 1;
        into
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::Run;

    use super::super::graph::{ChangedEdges, Halt};
    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::components::wcc::{WccOptions, wcc};

    #[test]
    fn every_version_of_a_random_stream_is_as_computed_anew() {
        let run = Run::with_threads(1).unwrap();
        for seed in 0..40 {
            let mut stream = EdgeChurn::new(seed, 40, seed % 2 == 0, |_| ());
            let labels =
                |stream: &EdgeChurn<()>| wcc(&stream.graph().graph(), &run, &WccOptions::default()).unwrap();
            let mut live = LiveComponents::new(&labels(&stream).labels);
            let mut given = labels(&stream).labels;
            for step in 0..60 {
                let changes = stream.step(1 << (step % 6));
                let csr = stream.graph();
                let graph = csr.graph();
                let changed = live.update(&mut BoundedReader::new(&graph, &changes, u64::MAX)).unwrap();
                let expected = labels(&stream);
                assert_eq!(live.count(), expected.components, "seed {seed}, step {step}");
                given.resize(stream.num_vertices, NONE);
                changed.iter().for_each(|&v| given[v as usize] = live.label(v));
                assert_eq!(given, expected.labels, "seed {seed}, step {step}");
            }
        }
    }

    #[test]
    fn a_leaf_that_comes_off_a_hub_does_not_cost_the_hub() {
        let n = 10_000;
        let star = |leaves: usize| (1..leaves).map(|v| (0, vertex(v), ())).collect::<Vec<_>>();
        let csr = esker_graph::Csr::undirected(n, &star(n - 1)).unwrap();
        let mut live = LiveComponents::new(&vec![0; n]);
        let changes = ChangedEdges { removed: vec![(0, vertex(n - 1), ())], ..ChangedEdges::default() };
        let graph = csr.graph();
        let mut reader = BoundedReader::new(&graph, &changes, 10);
        assert_eq!(live.update(&mut reader), Ok(vec![vertex(n - 1)]));
        assert_eq!(live.label(vertex(n - 1)), vertex(n - 1));
    }

    #[test]
    fn an_update_stops_where_it_may_read_no_more() {
        let csr = esker_graph::Csr::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 3, ())]).unwrap();
        let mut live = LiveComponents::new(&[0; 4]);
        let changes = ChangedEdges { removed: vec![(3, 0, ())], ..ChangedEdges::default() };
        let graph = csr.graph();
        assert_eq!(live.update(&mut BoundedReader::new(&graph, &changes, 2)), Err(Halt::TooMuch));
    }
}
