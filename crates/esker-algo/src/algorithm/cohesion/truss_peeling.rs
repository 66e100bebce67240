//! Truss peeling, for `truss`: removes edges by ascending number of triangles, all of one number in parallel
//! rounds.
//!
//! The edges removed in a round are grouped by their earlier ends, which have the longer lists: the
//! neighbours of the earlier end are marked once, then the list of each edge's later end is scanned for
//! marked vertices. A list is compacted once a quarter of it is removed, so scans read little more than the
//! remaining entries.

use parking_lot::Mutex;

use esker_graph::{NONE, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use crate::primitive::{EarlierNeighbours, VertexArray};

/// Flag of removed edges.
const REMOVED: VertexId = 1 << (VertexId::BITS - 1);
/// Flag of edges being removed in this round.
const REMOVING: VertexId = REMOVED >> 1;
/// An exclusive upper bound of the number of edges. Support is less than half of it, so support has neither
/// flag bit.
pub(crate) const EDGES_END: VertexId = REMOVED;

/// The edges of a graph, numbered by their earlier ends, and the neighbours of every vertex.
pub(crate) struct TrussEdges {
    /// The earlier and the later end of each edge, ascending.
    pub(crate) ends: Vec<(VertexId, VertexId)>,
    /// Triangles of each edge, with the flags [`REMOVED`] and [`REMOVING`].
    support: VertexArray,
    starts: Vec<u64>,
    lens: Vec<VertexId>,
    /// Remaining neighbours of each vertex.
    left: Vec<VertexId>,
    /// The neighbours of each vertex, ascending, each with the number of its edge.
    neighbours: Vec<(VertexId, VertexId)>,
}

impl TrussEdges {
    /// Builds the edges from `lists`, which have no repetitions; `supports` has the triangles of each of
    /// their entries.
    pub(crate) fn new<E: EarlierNeighbours>(
        lists: &E,
        run: &Run,
        supports: &VertexArray,
    ) -> Result<Self, E::Error> {
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
            // From here on, `later` holds the number of the next edge to a later neighbour.
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
        // In order of later ends, so each vertex gets first its earlier and then its later neighbours.
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

    /// The neighbours of `v`, possibly including removed edges.
    #[inline(always)]
    fn of(&self, v: VertexId) -> &[(VertexId, VertexId)] {
        let start = self.starts[v as usize] as usize;
        &self.neighbours[start..start + self.lens[v as usize] as usize]
    }

    /// Removes all edges; called on a thread of the run. Returns the support of each edge at its removal.
    pub(crate) fn peel(mut self, run: &Run) -> Result<Vec<VertexId>, Stop> {
        let scratches = Mutex::new(Vec::new());
        let mut rest: Vec<VertexId> = (0..self.ends.len()).map(vertex).collect();
        let mut removed = 0;
        while let Some(first) = rest.iter().map(|&edge| self.support.get(edge)).min() {
            // Edges of the next few levels are kept apart, so that later ones are rarely scanned.
            let end = first.saturating_add(WINDOW);
            let mut near: Vec<VertexId> = rest.extract_if(.., |edge| self.support.get(*edge) < end).collect();
            let mut entered = Vec::new();
            for level in first..end {
                let is_next = |edge: &mut VertexId| self.support.get(*edge) == level;
                let mut removing: Vec<VertexId> = near.extract_if(.., is_next).collect();
                while !removing.is_empty() {
                    run.round(removing.len())?;
                    run.set_done(removed, self.ends.len() as u64);
                    removed += removing.len() as u64;
                    removing.par_sort_unstable();
                    removing.iter().for_each(|&edge| self.support.set(edge, level | REMOVING));
                    let found = TrussRound { edges: &self, level, end }.round(run, &removing, &scratches)?;
                    self.mark_removed(&removing, level);
                    removing.clear();
                    for mut found in found {
                        removing.append(&mut found.sunk.removing);
                        entered.append(&mut found.sunk.near);
                    }
                }
                // Some of the entered edges have already sunk to the level and were removed.
                near.extend(entered.drain(..).filter(|&edge| self.support.get(edge) < REMOVED));
            }
            rest.retain(|&edge| self.support.get(edge) < REMOVED);
        }
        Ok(self.support.iter().map(|support| support & !REMOVED).collect())
    }

    /// Marks edges as removed and compacts lists that have lost many.
    fn mark_removed(&mut self, removing: &[VertexId], level: VertexId) {
        for &edge in removing {
            self.support.set(edge, level | REMOVED);
            let (u, v) = self.ends[edge as usize];
            self.left[u as usize] -= 1;
            self.left[v as usize] -= 1;
        }
        for &edge in removing {
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
            len += usize::from(self.support.get(entry.1) < REMOVED);
        }
        self.lens[v] = vertex(len);
    }
}

/// Levels whose edges are kept apart.
const WINDOW: VertexId = 8;
/// Edges per unit of parallel work.
const UNIT: usize = 1024;
/// The cost of marking and clearing a neighbour, in steps of a binary search.
const MARK_STEPS: usize = 2;

/// A round of peeling.
struct TrussRound<'a> {
    edges: &'a TrussEdges,
    level: VertexId,
    /// Edges of this and later levels are not kept apart.
    end: VertexId,
}

/// Buffers of a worker, kept between rounds.
#[derive(Default)]
struct TrussScratch {
    /// For each marked vertex, the edge to it and the triangles that edge has lost; [`REMOVING`] if it is
    /// being removed.
    marks: Vec<(VertexId, VertexId)>,
    /// The marked neighbours of a later end, and the edges to them.
    triangles: Vec<(VertexId, VertexId)>,
    lowered: Vec<VertexId>,
}

/// The state of a worker in a round.
#[derive(Default)]
struct TrussWorker {
    scratch: TrussScratch,
    sunk: SunkEdges,
}

/// Edges whose support a worker lowered in a round.
#[derive(Default)]
struct SunkEdges {
    /// Edges that sank to the level.
    removing: Vec<VertexId>,
    /// Edges that came near the level.
    near: Vec<VertexId>,
}

impl TrussRound<'_> {
    /// Subtracts the triangles of the edges in `removing`, which ascends, from their other edges.
    fn round(
        &self,
        run: &Run,
        removing: &[VertexId],
        scratches: &Mutex<Vec<TrussScratch>>,
    ) -> Result<Vec<TrussWorker>, Stop> {
        let kept = || scratches.lock();
        let new_state = || {
            let mut scratch = kept().pop().unwrap_or_default();
            scratch.marks.resize(self.edges.lens.len(), (NONE, 0));
            TrussWorker { scratch, ..TrussWorker::default() }
        };
        let mut found = run.share(removing.len().div_ceil(UNIT), new_state, |found, unit| {
            let part = &removing[unit * UNIT..removing.len().min((unit + 1) * UNIT)];
            let earlier = |edge: &VertexId| self.edges.ends[*edge as usize].0;
            part.chunk_by(|a, b| earlier(a) == earlier(b)).for_each(|group| self.remove(group, found));
            Ok::<(), Stop>(())
        })?;
        kept().extend(found.iter_mut().map(|found| std::mem::take(&mut found.scratch)));
        Ok(found)
    }

    /// Removes a group of edges that share their earlier end.
    fn remove(&self, group: &[VertexId], found: &mut TrussWorker) {
        let (u, _) = self.edges.ends[group[0] as usize];
        let list = self.edges.of(u);
        let later = |edge: &VertexId| self.edges.of(self.edges.ends[*edge as usize].1);
        // A binary search takes one step per halving.
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
            if state < REMOVED {
                found.scratch.marks[w as usize] = (edge, state & REMOVING);
            }
        }
        for edge in group {
            self.probe_marked(*edge, later(edge), &mut found.scratch);
            let TrussWorker { scratch, sunk } = found;
            scratch.lowered.iter().for_each(|&other| self.lower(other, 1, sunk));
        }
        for &(w, edge) in list {
            let (_, lost) = std::mem::replace(&mut found.scratch.marks[w as usize], (NONE, 0));
            if lost & !REMOVING > 0 {
                self.lower(edge, lost & !REMOVING, &mut found.sunk);
            }
        }
    }

    /// Finds the triangles of an edge from the marked vertices in the list of its later end, and the edges
    /// that lose one.
    #[inline(always)]
    fn probe_marked(&self, edge: VertexId, list: &[(VertexId, VertexId)], scratch: &mut TrussScratch) {
        let TrussScratch { marks, triangles, lowered } = scratch;
        // In separate passes, so that no step waits for memory.
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
            // If two edges of a triangle are removed together, the one with the lesser number lowers the
            // third.
            let (one_removing, two_removing) = (*lost & REMOVING != 0, state & REMOVING != 0);
            if state >= REMOVED || one_removing && *one < edge || two_removing && two < edge {
                continue;
            }
            *lost += VertexId::from(!one_removing);
            if state > self.level && state < REMOVING {
                lowered.push(two);
            }
        }
    }

    /// Finds the triangles of an edge by searching for the entries of `short` in `long`.
    fn search(
        &self,
        edge: VertexId,
        short: &[(VertexId, VertexId)],
        long: &[(VertexId, VertexId)],
        found: &mut TrussWorker,
    ) {
        for &(w, one) in short {
            let Ok(at) = long.binary_search_by_key(&w, |entry| entry.0) else { continue };
            let two = long[at].1;
            let states = [one, two].map(|other| self.edges.support.get(other));
            let removed_first = |other, state: VertexId| state & REMOVING != 0 && other < edge;
            if states.iter().any(|&state| state >= REMOVED)
                || removed_first(one, states[0])
                || removed_first(two, states[1])
            {
                continue;
            }
            for other in [one, two] {
                self.lower(other, 1, &mut found.sunk);
            }
        }
    }

    /// Subtracts triangles from an edge, unless it is being removed or is already at the level.
    #[inline(always)]
    fn lower(&self, edge: VertexId, lost: VertexId, sunk: &mut SunkEdges) {
        let support = &self.edges.support;
        loop {
            let state = support.get(edge);
            if state <= self.level || state >= REMOVING {
                return;
            }
            let new = state.saturating_sub(lost).max(self.level);
            if support.claim(edge, state, new) {
                if new == self.level {
                    sunk.removing.push(edge);
                } else if state >= self.end && new < self.end {
                    sunk.near.push(edge);
                }
                return;
            }
        }
    }
}
