//! Taking edges away by ascending number of triangles, those of one number together, in rounds.
//!
//! The edges that go in a round are taken by their earlier ends, of which the lists are longer: the neighbours of such an
//! end are marked once, and the list of the later end of each of its edges is looked through for them. Lists are packed as soon as a
//! quarter of a list is gone, so that what is looked through is never much more than what is left.

use std::sync::{Mutex, PoisonError};

use esker_graph::{NONE, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use crate::primitive::{Earlier, VertexArray};

/// Of edges that were taken away.
const GONE: VertexId = 1 << (VertexId::BITS - 1);
/// Of edges that go in this round.
const GOING: VertexId = GONE >> 1;
/// There must be less edges, so that no support has these bits: that of an edge is less than half of them.
pub(super) const EDGES_END: VertexId = GONE;

/// The edges of a graph, numbered by their earlier ends, and the neighbours of every vertex.
pub(super) struct Edges {
    /// The earlier and the later end of each edge; ascending.
    pub(super) ends: Vec<(VertexId, VertexId)>,
    /// Triangles of each edge, and whether it is [`GONE`] or [`GOING`].
    support: VertexArray,
    starts: Vec<u64>,
    lens: Vec<VertexId>,
    /// How many of the neighbours of each vertex are left.
    left: Vec<VertexId>,
    /// The neighbours of each vertex, ascending, and the numbers of the edges to them.
    neighbours: Vec<(VertexId, VertexId)>,
}

impl Edges {
    /// Of `lists` without repetitions, of which `supports` says how many triangles each entry is in.
    pub(super) fn new<E: Earlier>(lists: &E, run: &Run, supports: &VertexArray) -> Result<Self, E::Error> {
        let (n, m) = (lists.num_vertices(), supports.len());
        let (mut left, mut later) = (vec![0; n], vec![0; n]);
        for v in (0..n).map(vertex) {
            lists.with_earlier(v, |earlier, _| {
                earlier.iter().for_each(|&u| later[u as usize] += 1);
                left[v as usize] = vertex(earlier.len());
            })?;
        }
        let mut starts = Vec::with_capacity(n);
        let (mut entries, mut edges) = (0u64, 0);
        for (left, later) in left.iter_mut().zip(&mut later) {
            starts.push(entries);
            *left += *later;
            entries += *left as u64;
            // From here on: the number of the next edge to a later neighbour.
            edges += std::mem::replace(later, edges);
        }
        run.check()?;
        let mut neighbours = vec![(0, 0); entries as usize];
        let (mut ends, mut lens, support) = (vec![(0, 0); m], vec![0; n], VertexArray::filled(run, m, 0));
        let mut push = |v: VertexId, u: VertexId, edge: VertexId| {
            neighbours[starts[v as usize] as usize + lens[v as usize] as usize] = (u, edge);
            lens[v as usize] += 1;
        };
        let mut supports = supports.iter();
        // In order of later ends: of each vertex first the earlier neighbours, then the later ones.
        for v in (0..n).map(vertex) {
            lists.with_earlier(v, |earlier, _| {
                for (&u, triangles) in earlier.iter().zip(&mut supports) {
                    let edge = later[u as usize];
                    later[u as usize] += 1;
                    ends[edge as usize] = (u, v);
                    support.set(edge, triangles);
                    push(v, u, edge);
                    push(u, v, edge);
                }
            })?;
        }
        Ok(Self { ends, support, starts, lens, left, neighbours })
    }

    /// The neighbours of `v`, some of them perhaps by edges that are gone.
    #[inline(always)]
    fn of(&self, v: VertexId) -> &[(VertexId, VertexId)] {
        let start = self.starts[v as usize] as usize;
        &self.neighbours[start..start + self.lens[v as usize] as usize]
    }

    /// Takes all edges away; called on a thread of the run. Returns for each the support that it had when it went.
    pub(super) fn peel(mut self, run: &Run) -> Result<Vec<VertexId>, Stop> {
        let rooms = Mutex::new(Vec::new());
        let mut rest: Vec<VertexId> = (0..self.ends.len()).map(vertex).collect();
        while let Some(first) = rest.iter().map(|&edge| self.support.get(edge)).min() {
            // Edges of a few levels are kept apart, so that those beyond are seldom looked at.
            let end = first.saturating_add(WINDOW);
            let mut near: Vec<VertexId> = rest.extract_if(.., |edge| self.support.get(*edge) < end).collect();
            let mut entered = Vec::new();
            for level in first..end {
                let is_next = |edge: &mut VertexId| self.support.get(*edge) == level;
                let mut going: Vec<VertexId> = near.extract_if(.., is_next).collect();
                while !going.is_empty() {
                    run.round(going.len())?;
                    going.par_sort_unstable();
                    going.iter().for_each(|&edge| self.support.set(edge, level | GOING));
                    let found = Peel { edges: &self, level, end }.round(run, &going, &rooms)?;
                    self.forget(&going, level);
                    going.clear();
                    for mut found in found {
                        going.append(&mut found.going);
                        entered.append(&mut found.near);
                    }
                }
                // Some of those that came near went on to the level at once.
                near.extend(entered.drain(..).filter(|&edge| self.support.get(edge) < GONE));
            }
            rest.retain(|&edge| self.support.get(edge) < GONE);
        }
        Ok(self.support.iter().map(|support| support & !GONE).collect())
    }

    /// Notes that edges are gone, and packs the lists that have lost many.
    fn forget(&mut self, going: &[VertexId], level: VertexId) {
        for &edge in going {
            self.support.set(edge, level | GONE);
            let (u, v) = self.ends[edge as usize];
            self.left[u as usize] -= 1;
            self.left[v as usize] -= 1;
        }
        for &edge in going {
            let (u, v) = self.ends[edge as usize];
            for w in [u as usize, v as usize] {
                if self.left[w] < self.lens[w] - self.lens[w] / 4 {
                    self.pack(w);
                }
            }
        }
    }

    fn pack(&mut self, v: usize) {
        let start = self.starts[v] as usize;
        let mut len = 0;
        for i in start..start + self.lens[v] as usize {
            let entry = self.neighbours[i];
            self.neighbours[start + len] = entry;
            len += usize::from(self.support.get(entry.1) < GONE);
        }
        self.lens[v] = vertex(len);
    }
}

/// Levels of which the edges are kept apart.
const WINDOW: VertexId = 8;
/// Edges that are handed to a worker at a time.
const UNIT: usize = 1024;
/// How many steps of a search a neighbour costs that is marked and cleared.
const MARK_STEPS: usize = 2;

/// A round of peeling.
struct Peel<'a> {
    edges: &'a Edges,
    level: VertexId,
    /// The first level of which edges are far.
    end: VertexId,
}

/// What a worker works in.
#[derive(Default)]
struct Room {
    /// For each vertex the edge to it, if it is marked, and how many triangles that edge has lost; [`GOING`], if it goes itself.
    marks: Vec<(VertexId, VertexId)>,
    /// Marked neighbours of a later end, and the edges to them.
    triangles: Vec<(VertexId, VertexId)>,
    lowered: Vec<VertexId>,
}

/// What a worker has found.
#[derive(Default)]
struct Found {
    room: Room,
    /// Edges that come down to the level.
    going: Vec<VertexId>,
    /// Edges that come near to it.
    near: Vec<VertexId>,
}

impl Peel<'_> {
    /// Takes the triangles of the edges that go, ascending, from their other edges.
    fn round(&self, run: &Run, going: &[VertexId], rooms: &Mutex<Vec<Room>>) -> Result<Vec<Found>, Stop> {
        let kept = || rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let new_state = || {
            let mut room = kept().pop().unwrap_or_default();
            room.marks.resize(self.edges.lens.len(), (NONE, 0));
            Found { room, ..Found::default() }
        };
        let mut found = run.share(going.len().div_ceil(UNIT), new_state, |found, unit| {
            let part = &going[unit * UNIT..going.len().min((unit + 1) * UNIT)];
            let earlier = |edge: &VertexId| self.edges.ends[*edge as usize].0;
            part.chunk_by(|a, b| earlier(a) == earlier(b)).for_each(|group| self.remove(group, found));
            Ok::<(), Stop>(())
        })?;
        kept().extend(found.iter_mut().map(|found| std::mem::take(&mut found.room)));
        Ok(found)
    }

    /// Edges with one earlier end.
    fn remove(&self, group: &[VertexId], found: &mut Found) {
        let (u, _) = self.edges.ends[group[0] as usize];
        let list = self.edges.of(u);
        let later = |edge: &VertexId| self.edges.of(self.edges.ends[*edge as usize].1);
        // A search in a list takes a step for each halving of it.
        let steps = list.len().ilog2() as usize;
        let wanted: usize = group.iter().map(|edge| later(edge).len()).sum();
        if wanted * steps < list.len() * MARK_STEPS {
            for edge in group {
                self.search(*edge, later(edge), list, found);
            }
            return;
        }
        let support = &self.edges.support;
        for &(w, edge) in list {
            let state = support.get(edge);
            if state < GONE {
                found.room.marks[w as usize] = (edge, state & GOING);
            }
        }
        for edge in group {
            self.look_up(*edge, later(edge), &mut found.room);
            let Found { room, going, near } = found;
            room.lowered.iter().for_each(|&other| self.lower(other, 1, (&mut *going, &mut *near)));
        }
        for &(w, edge) in list {
            let (_, lost) = std::mem::replace(&mut found.room.marks[w as usize], (NONE, 0));
            if lost & !GOING > 0 {
                self.lower(edge, lost & !GOING, (&mut found.going, &mut found.near));
            }
        }
    }

    /// Finds the triangles of an edge with marked vertices of the list of its later end, and what they take from whom.
    #[inline(always)]
    fn look_up(&self, edge: VertexId, list: &[(VertexId, VertexId)], room: &mut Room) {
        let Room { marks, triangles, lowered } = room;
        // In passes, so that none waits for memory at each step.
        triangles.resize(triangles.len().max(list.len()), (0, 0));
        let mut len = 0;
        for &(w, two) in list {
            triangles[len] = (w, two);
            len += usize::from(marks[w as usize].0 != NONE);
        }
        lowered.clear();
        for &(w, two) in &triangles[..len] {
            let (one, lost) = &mut marks[w as usize];
            let state = self.edges.support.get(two);
            // Of two edges of a triangle that go at once, the one with the lesser number takes it from the third.
            let (one_goes, two_goes) = (*lost & GOING != 0, state & GOING != 0);
            if state >= GONE || one_goes && *one < edge || two_goes && two < edge {
                continue;
            }
            *lost += VertexId::from(!one_goes);
            if state > self.level && state < GOING {
                lowered.push(two);
            }
        }
    }

    /// Searches for the few in `short` among the many in `long`.
    fn search(
        &self,
        edge: VertexId,
        short: &[(VertexId, VertexId)],
        long: &[(VertexId, VertexId)],
        found: &mut Found,
    ) {
        for &(w, one) in short {
            let Ok(at) = long.binary_search_by_key(&w, |entry| entry.0) else { continue };
            let two = long[at].1;
            let states = [one, two].map(|other| self.edges.support.get(other));
            let goes_before = |other, state: VertexId| state & GOING != 0 && other < edge;
            if states.iter().any(|&state| state >= GONE)
                || goes_before(one, states[0])
                || goes_before(two, states[1])
            {
                continue;
            }
            for other in [one, two] {
                self.lower(other, 1, (&mut found.going, &mut found.near));
            }
        }
    }

    /// Takes triangles from an edge, unless it goes or is down at the level: then that is of no account.
    #[inline(always)]
    fn lower(&self, edge: VertexId, lost: VertexId, (going, near): (&mut Vec<VertexId>, &mut Vec<VertexId>)) {
        let support = &self.edges.support;
        loop {
            let state = support.get(edge);
            if state <= self.level || state >= GOING {
                return;
            }
            let new = state.saturating_sub(lost).max(self.level);
            if support.claim(edge, state, new) {
                if new == self.level {
                    going.push(edge);
                } else if state >= self.end && new < self.end {
                    near.push(edge);
                }
                return;
            }
        }
    }
}
