//! A set of vertices, one bit each, that many threads can modify.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::id::{VertexId, vertex};

/// A set of integers in `0..len`, one bit each. All operations take `&self` and use `Relaxed` accesses; the
/// joins between threads order them.
///
/// ```
/// use esker_graph::Bitmap;
///
/// let set = Bitmap::new(200);
/// assert!(set.insert(7)); // any thread may insert
/// assert!(!set.insert(7));
/// set.insert(130);
/// assert!(set.get(130) && !set.get(131));
/// assert_eq!(set.iter().collect::<Vec<_>>(), [7, 130]);
/// ```
#[derive(Debug)]
pub struct Bitmap {
    words: Vec<AtomicU64>,
    len: usize,
}

impl Bitmap {
    /// The empty subset of `0..len`. Memory: len/8 bytes.
    pub fn new(len: usize) -> Self {
        Self { words: (0..len.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(), len }
    }

    /// The bound given to [`Bitmap::new`].
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the bound is zero.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `v` is in the set.
    #[inline(always)]
    pub fn get(&self, v: VertexId) -> bool {
        self.words[v as usize / 64].load(Ordering::Relaxed) >> (v % 64) & 1 != 0
    }

    /// Adds `v`. Returns whether this call added it. Other threads may set bits of the same word at the same
    /// time.
    #[inline(always)]
    pub fn insert(&self, v: VertexId) -> bool {
        let bit = 1 << (v % 64);
        let word = &self.words[v as usize / 64];
        // A plain load first: in dense sets most bits are set already, and a load keeps the cache line
        // shared.
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Adds `v` by a plain store. No other thread may write the same word at the same time (see
    /// [`crate::Run::share_ranges`]): otherwise bits are lost, though memory stays safe.
    #[inline(always)]
    pub fn insert_alone(&self, v: VertexId) {
        let word = &self.words[v as usize / 64];
        word.store(word.load(Ordering::Relaxed) | 1 << (v % 64), Ordering::Relaxed);
    }

    /// The vertices in `first..end`, at most 64 and `first` a multiple of 64, that are in a set, or all if
    /// there is none; a bit each.
    #[inline(always)]
    pub fn selected(set: Option<&Self>, first: usize, end: usize) -> u64 {
        set.map_or(u64::MAX, |set| set.word(first / 64)) & u64::MAX >> (64 - (end - first).min(64))
    }

    /// The 64 bits from `64 * index`.
    #[inline(always)]
    pub fn word(&self, index: usize) -> u64 {
        self.words[index].load(Ordering::Relaxed)
    }

    /// Replaces the 64 bits from `64 * index`; bits at or past the bound must be zero.
    #[inline(always)]
    pub fn set_word(&self, index: usize, bits: u64) {
        self.words[index].store(bits, Ordering::Relaxed);
    }

    /// Number of 64-bit words.
    pub fn num_words(&self) -> usize {
        self.words.len()
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        for word in &mut self.words {
            *word.get_mut() = 0;
        }
    }

    /// Number of members.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    /// Members in `range`, ascending. The range must start at a multiple of 64 or be empty.
    pub fn iter_range(&self, range: Range<usize>) -> impl Iterator<Item = VertexId> + '_ {
        let end = range.end.min(self.len);
        debug_assert!(range.start.is_multiple_of(64) || range.start >= end);
        // An empty range may be inside the last word, whose members must not be returned.
        let words = if range.start < end { range.start / 64..end.div_ceil(64) } else { 0..0 };
        words.flat_map(move |index| {
            let mut bits = self.word(index);
            if (index + 1) * 64 > end {
                bits &= u64::MAX >> (64 - (end - index * 64));
            }
            std::iter::from_fn(move || {
                (bits != 0).then(|| {
                    let bit = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    vertex(index * 64 + bit)
                })
            })
        })
    }

    /// Members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = VertexId> + '_ {
        self.iter_range(0..self.len)
    }
}
