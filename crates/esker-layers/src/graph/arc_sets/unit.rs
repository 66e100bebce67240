//! Which of some consecutive vertices have lists, and where the list of each ends.

use std::ops::Range;

use esker_graph::VertexId;

/// Vertices of a unit, which is made by one thread.
pub(crate) const UNIT_LEN: usize = 1 << 13;
const UNIT_WORDS: usize = UNIT_LEN / 64;

/// Which vertices of a unit have lists, and where the list of each ends.
///
/// Memory: 16 bytes for each 64 vertices, and 2 bytes a list; 4 bytes a list where the lists of the unit have
/// more than 2^16 entries together.
#[derive(Debug, Default)]
pub(crate) struct UnitLists {
    /// For each 64 vertices: a bit for each that has a list, and the number of lists before them. Empty if
    /// there are no lists.
    words: Box<[(u64, u16)]>,
    ends: ListEnds,
}

/// Where each list ends.
#[derive(Debug)]
enum ListEnds {
    Short(Box<[u16]>),
    Long(Box<[u32]>),
}

impl Default for ListEnds {
    fn default() -> Self {
        Self::Short(Box::default())
    }
}

impl UnitLists {
    /// From the vertices with lists, ascending, and where the list of each ends.
    pub(crate) fn new(lists: &[(VertexId, u32)]) -> Self {
        let Some(&(_, last)) = lists.last() else { return Self::default() };
        let mut words = vec![(0, 0); UNIT_WORDS].into_boxed_slice();
        for &(v, _) in lists {
            words[v as usize % UNIT_LEN / 64].0 |= 1_u64 << (v % 64);
        }
        let mut count = 0;
        for (word, before) in &mut words {
            *before = count;
            count += word.count_ones() as u16;
        }
        let ends = match u16::try_from(last) {
            Ok(_) => ListEnds::Short(lists.iter().map(|list| list.1 as u16).collect()),
            Err(_) => ListEnds::Long(lists.iter().map(|list| list.1).collect()),
        };
        Self { words, ends }
    }

    /// Bytes for `num_lists` lists of `num_entries` entries together, in a graph of `num_vertices` vertices.
    pub(crate) fn bytes(num_vertices: u64, num_lists: u64, num_entries: u64) -> u64 {
        let units = num_vertices.div_ceil(UNIT_LEN as u64).min(num_lists);
        let words = units * (UNIT_WORDS * size_of::<(u64, u16)>()) as u64;
        // Few units have this many entries.
        let in_long_units = num_lists.min((num_entries >> u16::BITS).saturating_mul(UNIT_LEN as u64));
        let more = (size_of::<u32>() - size_of::<u16>()) as u64;
        words + num_lists * size_of::<u16>() as u64 + in_long_units * more
    }

    /// Whether a vertex, by its place in the unit, has a list.
    #[inline(always)]
    pub(crate) fn has(&self, within: usize) -> bool {
        self.words.get(within / 64).is_some_and(|(word, _)| word >> (within % 64) & 1 == 1)
    }

    /// The entries of the list of a vertex; none if it has no list.
    #[inline(always)]
    pub(crate) fn entries(&self, within: usize) -> Range<usize> {
        let Some(&(word, before)) = self.words.get(within / 64) else { return 0..0 };
        if word >> (within % 64) & 1 == 0 {
            return 0..0;
        }
        let below = (word & ((1 << (within % 64)) - 1)).count_ones();
        self.range(usize::from(before) + below as usize)
    }

    /// The entries of a list by its number.
    #[inline(always)]
    fn range(&self, at: usize) -> Range<usize> {
        self.start(at)..self.end(at)
    }

    #[inline(always)]
    fn end(&self, at: usize) -> usize {
        match &self.ends {
            ListEnds::Short(ends) => usize::from(ends[at]),
            ListEnds::Long(ends) => ends[at] as usize,
        }
    }

    /// Number of words of 64 vertices each; 0 if there are no lists.
    pub(crate) fn num_words(&self) -> usize {
        self.words.len()
    }

    /// The entries of all lists of a range of words.
    pub(crate) fn entries_of_words(&self, words: Range<usize>) -> Range<usize> {
        let start = |word: usize| match self.words.get(word) {
            Some(&(_, before)) => self.start(usize::from(before)),
            None => self.start(self.len()),
        };
        start(words.start)..start(words.end)
    }

    /// Where a list begins. One past the last list: where the last one ends.
    #[inline(always)]
    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.end(before))
    }

    /// Number of lists.
    fn len(&self) -> usize {
        match &self.ends {
            ListEnds::Short(ends) => ends.len(),
            ListEnds::Long(ends) => ends.len(),
        }
    }

    /// Each vertex of a range of words that has a list, and the entries of the list.
    pub(crate) fn iter_words(&self, words: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let mut end = self.entries_of_words(words.clone()).start;
        let words = self.words[words.clone()].iter().zip(words);
        let members = words.flat_map(|(&(word, before), at)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                let below = (word & ((1 << bit) - 1)).count_ones() as usize;
                Some((at * 64 + bit, usize::from(before) + below))
            })
        });
        members.map(move |(within, at)| {
            let start = std::mem::replace(&mut end, self.end(at));
            (within, start..end)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_by_their_vertices_and_by_words() {
        for len in [3, 30_000] {
            let vertices = [3, 63, 64, 199, UNIT_LEN - 1];
            let ends: Vec<_> =
                (1..).zip(vertices).map(|(i, v)| ((2 * UNIT_LEN + v) as VertexId, i * len)).collect();
            let lists = UnitLists::new(&ends);
            let expected: Vec<_> =
                (0..).zip(vertices).map(|(i, v)| (v, (i * len) as usize..((i + 1) * len) as usize)).collect();
            for v in 0..UNIT_LEN {
                let range = expected.iter().find(|list| list.0 == v).map_or(0..0, |list| list.1.clone());
                assert_eq!((lists.has(v), lists.entries(v)), (!range.is_empty(), range));
            }
            let words = lists.num_words();
            assert!(lists.iter_words(0..words).eq(expected.iter().cloned()));
            assert!(lists.iter_words(1..words).eq(expected[2..].iter().cloned()));
            assert_eq!(lists.entries_of_words(0..1), 0..2 * len as usize);
            assert_eq!(lists.entries_of_words(1..words), 2 * len as usize..5 * len as usize);
        }
        let none = UnitLists::new(&[]);
        assert_eq!((none.num_words(), none.entries(5), none.iter_words(0..0).count()), (0, 0..0, 0));
    }
}
