//! Stable parallel radix sort of fixed-width records in memory.

use bytemuck::Pod;
use esker_format::{Error, Result};
use esker_graph::Run;

/// A key that radix sort can take digits of. Its order is that of the integers.
pub(crate) trait RadixKey: Copy + Ord + Send + Sync + 'static {
    /// Number of bits.
    const BITS: u32;
    /// All bits zero.
    const ZERO: Self;

    /// Bits `shift..shift + 11`, fewer at the top.
    fn digit(self, shift: u32) -> usize;

    /// Bits that are set in both.
    fn and(self, other: Self) -> Self;

    /// Bits that are set in either.
    fn or(self, other: Self) -> Self;

    /// Bits that differ.
    fn xor(self, other: Self) -> Self;

    /// Number of zero bits above the highest set one.
    fn leading_zeros(self) -> u32;
}

macro_rules! radix_key {
    ($($t:ty)*) => {$(
        impl RadixKey for $t {
            const BITS: u32 = <$t>::BITS;
            const ZERO: Self = 0;
            #[inline(always)]
            fn digit(self, shift: u32) -> usize {
                (self >> shift) as usize & (RADIX - 1)
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn leading_zeros(self) -> u32 {
                <$t>::leading_zeros(self)
            }
        }
    )*};
}

radix_key!(u32 u64 u128);

const DIGIT_BITS: u32 = 11;
const RADIX: usize = 1 << DIGIT_BITS;

/// Below this length a comparison sort is faster.
const SMALL: usize = 256;

/// Below this number of bytes a slice is sorted by one thread.
const ALONE_BYTES: usize = 1 << 20;

/// Sorts `records` by `key`, stably, on one thread, with `spare` of the same length as the other half of each
/// pass. Work: 11 bits of those in which the keys differ a pass.
pub(crate) fn sort_alone<T: Pod, K: RadixKey>(records: &mut [T], spare: &mut [T], key: impl Fn(&T) -> K) {
    debug_assert_eq!(records.len(), spare.len());
    if records.len() < SMALL {
        records.sort_by_key(|r| key(r));
        return;
    }
    let (differ, sorted) = differing_bits(records, &key);
    if sorted {
        return;
    }
    let (mut from, mut to) = (records, spare);
    let mut swapped = false;
    let mut counts = vec![0u32; RADIX];
    let top = K::BITS - differ.leading_zeros();
    let mut shift = 0;
    while shift < top {
        if differ.digit(shift) == 0 {
            shift += DIGIT_BITS;
            continue;
        }
        pass(from, to, &mut counts, |r| key(r).digit(shift));
        std::mem::swap(&mut from, &mut to);
        swapped = !swapped;
        shift += DIGIT_BITS;
    }
    if swapped {
        to.copy_from_slice(from);
    }
}

/// The bits in which keys differ, and whether the records are in order already.
fn differing_bits<T, K: RadixKey>(records: &[T], key: &impl Fn(&T) -> K) -> (K, bool) {
    let Some(first) = records.first() else { return (K::ZERO, true) };
    let first = key(first);
    let (mut all, mut any, mut sorted, mut last) = (first, first, true, first);
    for record in records {
        let k = key(record);
        all = all.and(k);
        any = any.or(k);
        sorted &= last <= k;
        last = k;
    }
    (all.xor(any), sorted)
}

/// One stable scatter of `from` into `to` by `digit`. Slices are shorter than 2^32.
#[inline(always)]
fn pass<T: Copy>(from: &[T], to: &mut [T], counts: &mut [u32], digit: impl Fn(&T) -> usize) {
    counts.fill(0);
    for record in from {
        counts[digit(record)] += 1;
    }
    let mut sum = 0;
    for count in counts.iter_mut() {
        (*count, sum) = (sum, sum + *count);
    }
    for record in from {
        let place = &mut counts[digit(record)];
        to[*place as usize] = *record;
        *place += 1;
    }
}

/// Sorts `records` by `key`, stably, on the threads of `run`. The result lies in `records`; `spare` has the
/// same length.
///
/// Work: one parallel scatter by the highest differing bits, then each part alone, in cache when it fits.
///
/// # Errors
/// Cancellation, within some milliseconds.
pub(crate) fn sort_parallel<T: Pod + Send + Sync, K: RadixKey>(
    run: &Run,
    records: &mut [T],
    spare: &mut [T],
    key: impl Fn(&T) -> K + Sync,
) -> Result<()> {
    if size_of_val(records) <= ALONE_BYTES {
        sort_alone(records, spare, key);
        return Ok(run.check()?);
    }
    let pieces = run.threads();
    let piece_len = records.len().div_ceil(pieces);
    let differ = run.share(
        pieces,
        || K::ZERO,
        |differ, i| {
            let start = (i * piece_len).min(records.len());
            let piece = &records[start..(start + piece_len).min(records.len())];
            let across = piece.first().map_or(K::ZERO, |first| key(first).xor(key(&records[0])));
            *differ = differ.or(across).or(differing_bits(piece, &key).0);
            Ok::<(), Error>(())
        },
    )?;
    let differ = differ.into_iter().fold(K::ZERO, K::or);
    let top = K::BITS - differ.leading_zeros();
    if top == 0 {
        return Ok(());
    }
    let shift = top.saturating_sub(DIGIT_BITS);
    let parts = scatter_parallel(run, records, spare, piece_len, |r| key(r).digit(shift))?;
    sort_parts(run, records, spare, &parts, &key)
}

/// Scatters `from` into `to` by `digit`; returns the length of each digit's part.
fn scatter_parallel<T: Pod + Send + Sync>(
    run: &Run,
    from: &[T],
    to: &mut [T],
    piece_len: usize,
    digit: impl Fn(&T) -> usize + Sync,
) -> Result<Vec<usize>> {
    let pieces: Vec<&[T]> = from.chunks(piece_len).collect();
    let mut counts = run.share(pieces.len(), Vec::new, |counted: &mut Vec<(usize, Vec<usize>)>, i| {
        let mut counts = vec![0usize; RADIX];
        for record in pieces[i] {
            counts[digit(record)] += 1;
        }
        counted.push((i, counts));
        Ok::<(), Error>(())
    })?;
    let mut counts: Vec<(usize, Vec<usize>)> = counts.iter_mut().flat_map(std::mem::take).collect();
    counts.sort_by_key(|&(i, _)| i);

    // Within the part of each digit, the pieces' shares lie in the order of the pieces.
    let mut shares: Vec<Vec<&mut [T]>> =
        counts.iter().map(|(_, of_piece)| Vec::with_capacity(of_piece.len())).collect();
    let mut rest = to;
    let mut parts = vec![0; RADIX];
    for (d, part) in parts.iter_mut().enumerate() {
        for (share, (_, of_piece)) in shares.iter_mut().zip(&counts) {
            let (own, others) = rest.split_at_mut(of_piece[d]);
            share.push(own);
            rest = others;
            *part += of_piece[d];
        }
    }
    let shares: Vec<_> = shares.into_iter().map(parking_lot::Mutex::new).collect();
    run.share(
        pieces.len(),
        || vec![0usize; RADIX],
        |at, i| {
            at.fill(0);
            let mut share = shares[i].lock();
            for record in pieces[i] {
                let d = digit(record);
                share[d][at[d]] = *record;
                at[d] += 1;
            }
            Ok::<(), Error>(())
        },
    )?;
    Ok(parts)
}

/// Sorts each part of `scattered` and puts it where it belongs in `records`.
fn sort_parts<T: Pod + Send + Sync, K: RadixKey>(
    run: &Run,
    records: &mut [T],
    scattered: &mut [T],
    parts: &[usize],
    key: &(impl Fn(&T) -> K + Sync),
) -> Result<()> {
    let mut tasks = Vec::new();
    let (mut to, mut from) = (records, scattered);
    for &len in parts.iter().filter(|&&len| len > 0) {
        let (own_to, rest_to) = to.split_at_mut(len);
        let (own_from, rest_from) = from.split_at_mut(len);
        tasks.push(parking_lot::Mutex::new((own_to, own_from)));
        (to, from) = (rest_to, rest_from);
    }
    run.share(
        tasks.len(),
        || (),
        |(), i| {
            let mut task = tasks[i].lock();
            let (to, from) = &mut *task;
            sort_alone(from, to, key);
            to.copy_from_slice(from);
            Ok::<(), Error>(())
        },
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use esker_graph::random::hash;

    use super::*;

    fn check<K: RadixKey>(len: u64, threads: usize, key: impl Fn(&[u64; 2]) -> K + Sync) {
        let run = Run::with_threads(threads).unwrap();
        let mut records: Vec<[u64; 2]> = (0..len).map(|i| [hash(i), i]).collect();
        let mut expected = records.clone();
        expected.sort_by_key(|r| key(r));
        let mut spare = records.clone();
        sort_parallel(&run, &mut records, &mut spare, key).unwrap();
        assert!(records == expected, "len {len}, threads {threads}");
    }

    #[test]
    fn sorts_stably_keys_of_every_width() {
        for threads in [1, 2, 7] {
            for len in [0, 1, 2, 255, 300, 70_000, 200_000] {
                check(len, threads, |r| r[0]);
                check(len, threads, |r| r[0] % 5);
                check(len, threads, |r| (r[0] >> 40) as u32);
                check(len, threads, |r| u128::from(r[0] % 77) << 90 | u128::from(r[0] >> 60));
                check(len, threads, |_| 7u32);
                check(len, threads, |r| r[1]);
            }
        }
    }
}
