//! A degeneracy order that changes: the vertices of each coreness, a *shell*, in a list.
//!
//! Each vertex has a place, a number that ascends along its list, so two vertices of a shell are compared in
//! O(1). Vertices are put between two others at places between theirs. Where there are none left, the whole
//! list gets new places; a gap is halved at least 24 times before.
//!
//! Memory: 8 bytes and two ids a vertex; two ids for each coreness up to the largest.

use esker_graph::{NONE, VertexId};

/// The distance between the places of neighbours in a list that got new ones.
const GAP: i64 = 1 << 24;

/// The lists of all shells.
#[derive(Debug, Clone)]
pub(super) struct ShellOrder {
    /// The place of each vertex in its list.
    places: Vec<i64>,
    next: Vec<VertexId>,
    previous: Vec<VertexId>,
    /// The first vertex of each shell, and its last one; [`NONE`] for an empty one.
    first: Vec<VertexId>,
    last: Vec<VertexId>,
}

impl ShellOrder {
    /// The bytes for `n` vertices.
    pub(super) fn bytes(n: usize) -> u64 {
        (n * (size_of::<i64>() + 2 * size_of::<VertexId>())) as u64
    }

    /// The lists of vertices in an order in which their shells ascend. It has each vertex once.
    pub(super) fn new(order: &[VertexId], shells: &[VertexId]) -> Self {
        let n = order.len();
        let (next, previous) = (vec![NONE; n], vec![NONE; n]);
        let mut made = Self { places: vec![0; n], next, previous, first: Vec::new(), last: Vec::new() };
        for run in order.chunk_by(|&u, &v| shells[u as usize] == shells[v as usize]) {
            made.insert(shells[run[0] as usize], NONE, run);
        }
        made
    }

    /// Adds vertices without edges, from the number of those that are known on, and below `n`.
    pub(super) fn grow(&mut self, n: usize, added: &[VertexId]) {
        self.places.resize(n, 0);
        self.next.resize(n, NONE);
        self.previous.resize(n, NONE);
        self.append(0, added);
    }

    /// The place of a vertex in the list of its shell.
    pub(super) fn place(&self, v: VertexId) -> i64 {
        self.places[v as usize]
    }

    /// All vertices in order.
    pub(super) fn vertices(&self) -> impl Iterator<Item = VertexId> {
        let known = |v: VertexId| Some(v).filter(|&v| v != NONE);
        let list = move |&first: &VertexId| {
            std::iter::successors(known(first), move |&v| known(self.next[v as usize]))
        };
        self.first.iter().flat_map(list)
    }

    /// Takes a vertex out of its list.
    pub(super) fn remove(&mut self, shell: VertexId, v: VertexId) {
        let (next, previous) = (self.next[v as usize], self.previous[v as usize]);
        match previous {
            NONE => self.first[shell as usize] = next,
            _ => self.next[previous as usize] = next,
        }
        match next {
            NONE => self.last[shell as usize] = previous,
            _ => self.previous[next as usize] = previous,
        }
    }

    /// Puts vertices that are in no list at the end of one. Returns the number of steps.
    pub(super) fn append(&mut self, shell: VertexId, vertices: &[VertexId]) -> usize {
        let last = self.last.get(shell as usize).copied().unwrap_or(NONE);
        self.insert(shell, last, vertices)
    }

    /// Puts vertices that are in no list into one, behind `after`; at its beginning if that is [`NONE`].
    /// Returns the number of steps.
    pub(super) fn insert(&mut self, shell: VertexId, after: VertexId, vertices: &[VertexId]) -> usize {
        if vertices.is_empty() {
            return 0;
        }
        if self.first.len() <= shell as usize {
            self.first.resize(shell as usize + 1, NONE);
            self.last.resize(shell as usize + 1, NONE);
        }
        let behind = if after == NONE { self.first[shell as usize] } else { self.next[after as usize] };
        let place = |v: VertexId| (v != NONE).then(|| self.places[v as usize]);
        let room = room(place(after), place(behind), vertices.len());
        let (mut place, step) = room.unwrap_or((0, 0));
        let mut before = after;
        for &v in vertices {
            self.previous[v as usize] = before;
            self.places[v as usize] = place;
            place = place.wrapping_add(step); // What follows the last one is not used.
            match before {
                NONE => self.first[shell as usize] = v,
                _ => self.next[before as usize] = v,
            }
            before = v;
        }
        self.next[before as usize] = behind;
        match behind {
            NONE => self.last[shell as usize] = before,
            _ => self.previous[behind as usize] = before,
        }
        vertices.len() + if room.is_some() { 0 } else { self.spread(shell) }
    }

    /// Gives a whole list new places. Returns how many.
    fn spread(&mut self, shell: VertexId) -> usize {
        let (mut v, mut count) = (self.first[shell as usize], 0);
        while v != NONE {
            self.places[v as usize] = count as i64 * GAP;
            (v, count) = (self.next[v as usize], count + 1);
        }
        count
    }
}

/// The first of `count` places between two others, each of which may be missing, and the step from each to
/// the next; `None` if there are too few.
fn room(low: Option<i64>, high: Option<i64>, count: usize) -> Option<(i64, i64)> {
    let length = GAP.checked_mul(i64::try_from(count).ok()?)?;
    match (low, high) {
        (None, None) => Some((0, GAP)),
        (Some(low), None) => low.checked_add(length).map(|_| (low + GAP, GAP)),
        (None, Some(high)) => high.checked_sub(length).map(|first| (first, GAP)),
        (Some(low), Some(high)) => {
            let step = high.checked_sub(low)? / (count as i64 + 1);
            (step > 0).then_some((low + step, step))
        }
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::random::Random;
    use esker_graph::vertex;

    use super::*;

    #[test]
    fn lists_keep_their_order_through_all_changes() {
        let n = 60;
        let mut random = Random::new(5);
        let mut below = |bound: usize| random.index(bound);
        let shells: Vec<VertexId> = (0..n).map(|v| vertex(v * 3 / n)).collect();
        let order: Vec<VertexId> = (0..n).map(vertex).collect();
        let mut lists: Vec<Vec<VertexId>> = (0..3).map(|s| order[s * n / 3..][..n / 3].to_vec()).collect();
        let mut live = ShellOrder::new(&order, &shells);
        let mut spreads = 0;
        for _ in 0..3000 {
            let (from, to) = (below(3), below(3));
            if lists[from].is_empty() {
                continue;
            }
            let at = below(lists[from].len());
            let v = lists[from].remove(at);
            live.remove(vertex(from), v);
            // Mostly behind the same one, so that places run out there.
            let at = if below(4) > 0 { lists[to].len().min(2) } else { below(lists[to].len() + 1) };
            let after = if at == 0 { NONE } else { lists[to][at - 1] };
            spreads += usize::from(live.insert(vertex(to), after, &[v]) > 1);
            lists[to].insert(at, v);
            assert_eq!(live.vertices().collect::<Vec<_>>(), lists.concat());
            for list in &lists {
                assert!(list.is_sorted_by(|&u, &v| live.place(u) < live.place(v)), "{list:?}");
            }
        }
        assert!(spreads > 10, "{spreads}");
    }

    #[test]
    fn there_is_room_between_places_only_where_enough_are_free() {
        assert_eq!(room(Some(0), Some(4), 3), Some((1, 1)));
        assert_eq!(room(Some(0), Some(3), 3), None);
        assert_eq!(room(Some(i64::MAX - GAP), None, 2), None);
        assert_eq!(room(None, Some(i64::MIN + GAP), 2), None);
        assert_eq!(room(Some(i64::MIN), Some(i64::MAX), 1), None, "no overflow");
    }
}
