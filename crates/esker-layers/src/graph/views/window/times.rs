//! Compares the times of arcs with the ends of a window.
//!
//! Counting and gathering a window spend their time here and in reading memory. Lists are short, and which of
//! their arcs lie in the window is as good as random: a loop over single times mispredicts, and one with
//! vector instructions for whole vectors alone seldom meets any. So where the processor has AVX-512, sixteen
//! times at once are compared, the last ones of a list under a mask.
// Calls of functions with vector instructions, once the processor is known to have them.
#![allow(unsafe_code)]

use esker_graph::VertexId;

use super::copies::TimeWindow;
#[cfg(target_arch = "x86_64")]
use super::vector;
use super::vector::{LANES, WORD_BITS};
use crate::graph::weight::ColumnWeight;

/// The type of a column of times.
pub(super) trait Time: ColumnWeight + Ord {
    /// The least and the greatest time of the type.
    const ENDS: [i64; 2];

    /// As 64 bits.
    fn wide(self) -> i64;

    /// The time of that value, which lies between the ends.
    fn from_wide(value: i64) -> Self;

    /// The times as one of both types.
    fn slice(times: &[Self]) -> TimeSlice<'_>;
}

/// Times of either type.
#[derive(Clone, Copy)]
pub(super) enum TimeSlice<'t> {
    Narrow(&'t [i32]),
    Wide(&'t [i64]),
}

macro_rules! times {
    ($($type:ty => $slice:ident),*) => {$(
        impl Time for $type {
            const ENDS: [i64; 2] = [<$type>::MIN as i64, <$type>::MAX as i64];

            #[inline(always)]
            fn wide(self) -> i64 {
                i64::from(self)
            }

            #[inline(always)]
            fn from_wide(value: i64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn slice(times: &[Self]) -> TimeSlice<'_> {
                TimeSlice::$slice(times)
            }
        }
    )*};
}

times!(i32 => Narrow, i64 => Wide);

/// The least and the greatest time of a window; the least is greater if no time of the type lies in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeBounds<T> {
    least: T,
    last: T,
}

impl<T: Time> TimeBounds<T> {
    pub(super) fn new(window: &TimeWindow) -> Self {
        let [first, last] = T::ENDS;
        let least = window.after.saturating_add(1).max(first);
        if window.after >= window.until || least > last || window.until < least {
            return Self { least: T::from_wide(last), last: T::from_wide(first) };
        }
        Self { least: T::from_wide(least), last: T::from_wide(window.until.min(last)) }
    }

    #[inline(always)]
    pub(super) fn contain(&self, time: T) -> bool {
        self.least <= time && time <= self.last
    }

    /// Marks those of some times that lie in the window: bit `i % 64` of word `i / 64`.
    pub(super) fn mark(&self, times: &[T], words: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
            let (least, last) = (self.least.wide(), self.last.wide());
            // SAFETY: the processor has the instructions.
            unsafe {
                match T::slice(times) {
                    TimeSlice::Narrow(times) => {
                        vector::mark_narrow(times, [least as i32, last as i32], words);
                    }
                    TimeSlice::Wide(times) => vector::mark_wide(times, [least, last], words),
                }
            }
            return;
        }
        mark(times, |time| self.contain(time), words);
    }
}

/// Marks those of some times that are wanted: bit `i % 64` of word `i / 64`.
pub(super) fn mark<T: Copy>(times: &[T], is_wanted: impl Fn(T) -> bool, words: &mut [u64]) {
    for (times, word) in times.chunks(WORD_BITS).zip(words) {
        *word = times.iter().rev().fold(0, |word, &time| word << 1 | u64::from(is_wanted(time)));
    }
}

/// Times that are marked at once where marks are only counted: these fit a cache, however long a list is. Few
/// in tests, so that lists are longer.
const MARKED_LEN: usize = if cfg!(test) { 1 << 5 } else { 1 << 16 };

/// Which arcs of successive lists are wanted. Lists are short, so their arcs are marked as they lie, and
/// marks are counted at the ends of the lists: no loop is as long as a list, and mispredicts its end.
///
/// Memory: two bits for each arc that is looked at, and 8 bytes a list.
#[derive(Debug, Default)]
pub(super) struct WantedRanks {
    words: Vec<u64>,
    /// Marks before each word.
    sums: Vec<u64>,
    /// Wanted arcs before each of some offsets.
    ranks: Vec<u64>,
}

impl WantedRanks {
    /// The number of wanted arcs in each of some lists, whose offsets these are, with the end of the last.
    /// `mark` marks times.
    pub(super) fn counts<T>(
        &mut self,
        times: &[T],
        offsets: &[u64],
        mark: impl Fn(&[T], &mut [u64]),
    ) -> impl Iterator<Item = u64> + '_ {
        let (first, end) = ends(offsets);
        self.ranks.clear();
        let (mut remaining, mut before) = (offsets, 0);
        for start in (first..end).step_by(MARKED_LEN) {
            let next = end.min(start + MARKED_LEN);
            let inside = remaining.partition_point(|&offset| (offset as usize) < next);
            let (those, later) = remaining.split_at(inside);
            before = self.rank_some(&times[start..next], start, before, those, &mark);
            remaining = later;
        }
        // Those at the end of all.
        self.ranks.resize(offsets.len(), before);
        self.ranks.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// As [`WantedRanks::counts`]; the marks and the numbers of wanted arcs before each offset are kept.
    pub(super) fn rank<T>(&mut self, times: &[T], offsets: &[u64], mark: impl Fn(&[T], &mut [u64])) {
        let (first, end) = ends(offsets);
        self.ranks.clear();
        self.rank_some(&times[first..end], first, 0, offsets, mark);
    }

    /// Marks some times, the first of which is at `start`, and appends the numbers of marks before some
    /// offsets among these; `before` is added to each. Returns that and all marks.
    fn rank_some<T>(
        &mut self,
        times: &[T],
        start: usize,
        before: u64,
        offsets: &[u64],
        mark: impl Fn(&[T], &mut [u64]),
    ) -> u64 {
        self.words.clear();
        // One word more than times may fill, so that an offset at their end has a word.
        self.words.resize(times.len() / WORD_BITS + 1, 0);
        mark(times, &mut self.words);
        let ranked = self.ranks.len();
        self.ranks.resize(ranked + offsets.len(), 0);
        let ranks = &mut self.ranks[ranked..];
        rank(&self.words, &mut self.sums, start as u64, before, offsets, ranks);
        let last = self.words.last().map_or(0, |word| u64::from(word.count_ones()));
        self.sums.last().map_or(before, |sum| sum + last)
    }

    /// The number of wanted arcs before each of the offsets that were ranked last.
    pub(super) fn ranks(&self) -> &[u64] {
        &self.ranks
    }

    /// Appends the targets of the wanted arcs, in order: `targets` are those of all arcs that were ranked
    /// last.
    pub(super) fn select(&self, targets: &[VertexId], into: &mut Vec<VertexId>) {
        let (start, count) = (into.len(), self.ranks.last().map_or(0, |&count| count as usize));
        into.resize(start + count + LANES, 0);
        let end = start + select(targets, &self.words, &mut into[start..]);
        into.truncate(end);
    }
}

/// Writes the targets that are marked; returns how many. There is room for as many, and for [`LANES`] more.
fn select(targets: &[VertexId], words: &[u64], into: &mut [VertexId]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
        // SAFETY: the processor has the instructions.
        return unsafe { vector::select(targets, words, into) };
    }
    let mut len = 0;
    for (targets, &word) in targets.chunks(WORD_BITS).zip(words) {
        let mut remaining = word;
        while remaining != 0 {
            into[len] = targets[remaining.trailing_zeros() as usize];
            len += 1;
            remaining &= remaining - 1;
        }
    }
    len
}

/// The first and the last of some offsets.
fn ends(offsets: &[u64]) -> (usize, usize) {
    let first = offsets.first().copied().unwrap_or(0);
    (first as usize, offsets.last().copied().unwrap_or(first) as usize)
}

/// Counts the marks before each of some offsets, from `start` on, and adds `before` to each.
fn rank(words: &[u64], sums: &mut Vec<u64>, start: u64, before: u64, offsets: &[u64], ranks: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the instruction.
        return unsafe { rank_by_popcnt(words, sums, start, before, offsets, ranks) };
    }
    rank_inline(words, sums, start, before, offsets, ranks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn rank_by_popcnt(
    words: &[u64],
    sums: &mut Vec<u64>,
    start: u64,
    before: u64,
    offsets: &[u64],
    ranks: &mut [u64],
) {
    rank_inline(words, sums, start, before, offsets, ranks);
}

#[inline(always)]
fn rank_inline(
    words: &[u64],
    sums: &mut Vec<u64>,
    start: u64,
    before: u64,
    offsets: &[u64],
    ranks: &mut [u64],
) {
    let mut sum = before;
    sums.clear();
    sums.extend(words.iter().map(|word| {
        let before = sum;
        sum += u64::from(word.count_ones());
        before
    }));
    for (rank, offset) in ranks.iter_mut().zip(offsets) {
        let (word, bit) = ((offset - start) as usize / WORD_BITS, (offset - start) % WORD_BITS as u64);
        *rank = sums[word] + u64::from((words[word] & ((1 << bit) - 1)).count_ones());
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::vertex;
    use proptest::prelude::*;

    use super::*;
    use crate::graph::views::window::copies::Copies;

    fn assert_selected<T: Time>(times: &[i64], [after, until]: [i64; 2]) {
        let window = TimeWindow { after, until, copies: Copies::All };
        let column: Vec<T> = times.iter().map(|&time| T::from_wide(time)).collect();
        let targets: Vec<_> = (0..times.len()).map(vertex).collect();
        let bounds = TimeBounds::<T>::new(&window);
        let inside = |target: &&VertexId| window.contains(column[**target as usize].wide());
        let expected: Vec<_> = targets.iter().filter(inside).copied().collect();
        // The same times as lists of several lengths, with one before that does not count.
        let padded: Vec<T> =
            std::iter::once(T::from_wide(after.clamp(-5, 5))).chain(column.iter().copied()).collect();
        let mut offsets: Vec<u64> = (1..=padded.len() as u64).filter(|i| i % 3 > 0 && i % 7 < 4).collect();
        offsets.insert(0, 1);
        offsets.push(padded.len() as u64);
        let counts = |mark: &dyn Fn(&[T], &mut [u64])| -> Vec<u64> {
            WantedRanks::default().counts(&padded, &offsets, mark).collect()
        };
        let in_list = |pair: &[u64]| {
            let list = &padded[pair[0] as usize..pair[1] as usize];
            list.iter().filter(|time| window.contains(time.wide())).count() as u64
        };
        let of_lists: Vec<u64> = offsets.windows(2).map(in_list).collect();
        assert_eq!(counts(&|times, words| bounds.mark(times, words)), of_lists);
        assert_eq!(counts(&|times, words| mark(times, |time| bounds.contain(time), words)), of_lists);
        let (mut found, mut ranks) = (vec![7], WantedRanks::default());
        ranks.rank(&column, &[0, column.len() as u64], |times, words| bounds.mark(times, words));
        ranks.select(&targets, &mut found);
        assert_eq!((found[0], &found[1..]), (7, &expected[..]));
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(300))]
        #[test]
        fn times_in_a_window_are_counted_and_selected(
            times in prop::collection::vec(prop_oneof![-9..9_i64, Just(i64::from(i32::MIN)), Just(i64::from(i32::MAX))], 0..200),
            ends in (
                prop_oneof![-12..12_i64, Just(i64::MIN), Just(i64::from(i32::MIN)), Just(1 << 40), Just(i64::MAX)],
                prop_oneof![-12..12_i64, Just(i64::MIN), Just(i64::from(i32::MAX)), Just(-1 << 40), Just(i64::MAX)],
            ),
        ) {
            assert_selected::<i32>(&times, ends.into());
            assert_selected::<i64>(&times, ends.into());
        }
    }
}
