//! Random numbers from a seed: the one generator of Esker, SplitMix64.
//!
//! ```
//! use esker_graph::random::Random;
//!
//! let mut random = Random::new(7);
//! let die = 1 + random.below(6);
//! assert!((1..=6).contains(&die));
//! assert_eq!(Random::new(7).below(6) + 1, die); // the same seed gives the same numbers
//! ```
//!
//! **Method.** SplitMix64 [1]: a counter steps by an odd constant, and each number is the counter after
//! [`mix`], a bijection of 64 bits in which every bit of the input affects every bit of the output. Its
//! constants are variant 13 of D. Stafford [2].
//!
//! **Period.** 2^64 numbers, in which each 64-bit value occurs once. Every seed is good, also 0. Sequences of
//! different seeds are parts of the same cycle, so two of length `l` overlap with a probability of about
//! `l / 2^63`.
//!
//! **Stability.** The same seed gives the same numbers for ever, on all machines: generated graphs, samples,
//! the priorities of algorithms, the hashes of ids in databases and the owners of vertices in clusters are
//! made of them. No function here may change what it returns.
//!
//! **Not for secrets.** Anyone can compute all numbers of a sequence from one of them.
//!
//! * [`Random`] is a sequence of numbers.
//! * [`RandomKey`] gives a number, or a sequence, for each index, so that threads and blocks need no order.
//! * [`hash`] and [`mix`] spread an integer over 64 bits, for tables of keys that no adversary chooses.
//!
//! [1] G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
//! [2] D. Stafford, "Better Bit Mixing: Improving on MurmurHash3's 64-bit Finalizer", 2011.

/// The step of the counter: 2^64 divided by the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64: a bijection of 64 bits in which every bit of the input affects every bit of
/// the output. It maps 0 to 0; [`hash`] does not.
///
/// ```
/// use esker_graph::random::mix;
///
/// assert_eq!(mix(0), 0);
/// assert_eq!(mix(1), 0x5692_161d_100b_05e5);
/// ```
#[inline(always)]
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A hash of an integer: the first number of [`Random::new`]`(x)`, and a bijection.
///
/// ```
/// use esker_graph::random::{Random, hash};
///
/// assert_eq!(hash(0), 0xe220_a839_7b1d_cdaf);
/// assert_eq!(hash(42), Random::new(42).next_u64());
/// ```
#[inline(always)]
pub const fn hash(x: u64) -> u64 {
    mix(x.wrapping_add(STEP))
}

/// Scales 64 random bits to a number in `0..bound`; 0 if `bound` is 0.
///
/// The result is the upper half of the product of 128 bits, so the upper bits of `bits` decide. A number is
/// likelier than another by less than `bound / 2^64`.
///
/// ```
/// use esker_graph::random::scale;
///
/// assert_eq!([0, 1 << 63, u64::MAX].map(|bits| scale(bits, 10)), [0, 5, 9]);
/// ```
#[inline(always)]
pub const fn scale(bits: u64, bound: u64) -> u64 {
    ((bits as u128 * bound as u128) >> 64) as u64
}

/// A number in `[0, 1)` from the upper 53 bits: a multiple of 2^-53.
///
/// ```
/// use esker_graph::random::unit;
///
/// assert_eq!([0, 1 << 63].map(unit), [0.0, 0.5]);
/// assert!(unit(u64::MAX) < 1.0);
/// ```
#[inline(always)]
pub const fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A sequence of random numbers, determined by its seed, which is 0 by default.
#[derive(Debug, Clone, Default)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    ///
    /// ```
    /// use esker_graph::random::Random;
    ///
    /// let mut random = Random::new(1);
    /// let numbers = [(); 3].map(|()| random.below(100));
    /// assert_eq!(numbers, [56, 74, 97]);
    /// ```
    #[inline(always)]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    ///
    /// ```
    /// use esker_graph::random::Random;
    ///
    /// let mut random = Random::new(1_234_567);
    /// assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
    /// assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    /// ```
    #[inline(always)]
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// The next number in `0..bound`; 0 if `bound` is 0. See [`scale`].
    ///
    /// ```
    /// use esker_graph::random::Random;
    ///
    /// let mut random = Random::new(3);
    /// assert!((0..100).all(|_| random.below(10) < 10));
    /// ```
    #[inline(always)]
    pub const fn below(&mut self, bound: u64) -> u64 {
        scale(self.next_u64(), bound)
    }

    /// [`Random::below`] for sizes in memory, such as the length of a slice.
    ///
    /// ```
    /// use esker_graph::random::Random;
    ///
    /// let words = ["graph", "vertex", "edge"];
    /// let word = words[Random::new(3).index(words.len())];
    /// assert!(words.contains(&word));
    /// ```
    #[inline(always)]
    pub const fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// The next number in `[0, 1)`. See [`fn@unit`].
    ///
    /// ```
    /// use esker_graph::random::Random;
    ///
    /// let mut random = Random::new(3);
    /// let mean = (0..10_000).map(|_| random.unit()).sum::<f64>() / 10_000.0;
    /// assert!((mean - 0.5).abs() < 0.02);
    /// ```
    #[inline(always)]
    pub const fn unit(&mut self) -> f64 {
        unit(self.next_u64())
    }

    /// Brings the items of a slice into a random order (R. Fisher and F. Yates).
    ///
    /// ```
    /// use esker_graph::random::Random;
    ///
    /// let mut items: Vec<u32> = (0..20).collect();
    /// Random::new(3).shuffle(&mut items);
    /// assert!(!items.is_sorted());
    /// items.sort();
    /// assert_eq!(items, (0..20).collect::<Vec<_>>());
    /// ```
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

/// The random numbers of one seed for one purpose: a number, or a sequence of numbers, for each index.
///
/// A number depends only on the seed, the purpose and its index. So threads may draw numbers in any order,
/// and an edge can be made without those before it.
///
/// ```
/// use esker_graph::random::RandomKey;
///
/// const COLOURS: u64 = 1;
/// let colours = RandomKey::new(7, COLOURS);
/// assert_eq!(colours.at(12), RandomKey::new(7, COLOURS).at(12));
/// assert_ne!(colours.at(12), colours.at(13));
/// assert_ne!(colours.at(12), RandomKey::new(7, 2).at(12));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RandomKey(u64);

impl RandomKey {
    /// The key of `seed` for a purpose. Different purposes of one seed get unrelated numbers.
    #[inline]
    pub const fn new(seed: u64, purpose: u64) -> Self {
        Self(mix(hash(seed) ^ purpose.wrapping_mul(0xd605_bbb5_8c8a_bbfd)))
    }

    /// The 64 random bits of index `number`. They do not depend on other indices.
    #[inline(always)]
    pub const fn at(self, number: u64) -> u64 {
        mix(self.0.wrapping_add(number.wrapping_mul(STEP)))
    }

    /// The sequence of random numbers of index `number`. Its seed is [`RandomKey::at`]`(number)`.
    ///
    /// ```
    /// use esker_graph::random::RandomKey;
    ///
    /// let edges = RandomKey::new(7, 3);
    /// let mut draws = edges.sequence(1000);
    /// let (source, target) = (draws.below(50), draws.below(50));
    /// assert!(source < 50 && target < 50);
    /// ```
    #[inline(always)]
    pub const fn sequence(self, number: u64) -> Random {
        Random::new(self.at(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixed for ever: graphs, answers and files depend on them.
    #[test]
    fn numbers_never_change() {
        // The first numbers of the reference implementation for this seed.
        let mut random = Random::new(1_234_567);
        let reference = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(reference.map(|_| random.next_u64()), reference);
        let key = RandomKey::new(7, 1);
        assert_eq!((key.at(0), key.at(12)), (0xae90_8623_142a_a87c, 0xf1a3_be4f_7298_26bb));
        assert_eq!(key.sequence(12).next_u64(), hash(key.at(12)));
    }

    #[test]
    fn numbers_of_other_indices_seeds_and_purposes_differ() {
        let key = RandomKey::new(7, 1);
        for other in [key.at(13), RandomKey::new(8, 1).at(12), RandomKey::new(7, 2).at(12)] {
            assert_ne!(key.at(12), other);
        }
    }

    #[test]
    fn bits_are_balanced_along_and_across_sequences() {
        let key = RandomKey::new(1, 0);
        let mut along = key.sequence(0);
        for bits in [
            (0..10_000).map(|i| key.at(i)).collect::<Vec<_>>(),
            (0..10_000).map(|i| key.sequence(i).next_u64()).collect(),
            (0..10_000).map(|_| along.next_u64()).collect(),
        ] {
            for bit in 0..64 {
                let ones = bits.iter().filter(|&x| x >> bit & 1 == 1).count();
                // Five standard deviations.
                assert!((4750..5250).contains(&ones), "bit {bit}: {ones} of 10000");
            }
        }
    }

    #[test]
    fn scaling_reaches_both_ends() {
        assert_eq!([0, u64::MAX].map(|bits| scale(bits, 10)), [0, 9]);
        assert_eq!([0, u64::MAX].map(|bits| scale(bits, 1)), [0, 0]);
        assert_eq!([0, u64::MAX].map(|bits| scale(bits, 0)), [0, 0]);
        assert!(unit(u64::MAX) < 1.0);
    }

    #[test]
    fn each_order_of_shuffled_items_is_as_likely_as_another() {
        let mut random = Random::new(1);
        let mut counts = std::collections::BTreeMap::<_, u32>::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *counts.entry(items).or_default() += 1;
        }
        // Five standard deviations.
        assert!(counts.len() == 6 && counts.values().all(|count| (855..1145).contains(count)), "{counts:?}");
    }
}
