//! Computes how long heads can be, and where each of them begins.

use parking_lot::Mutex;
use std::ops::Range;

use esker_graph::VertexId;

use crate::layer::ListExtents;

/// Up to this length, lists are counted for each length. Longer lists are few, and each is noted by itself.
const COUNTED_LEN_MAX: u64 = 1 << 16;

/// The largest *k* for which all heads together have at most `affordable` entries, and the length of the
/// longest list. Takes the lists of each direction; reads their lengths once.
pub(super) fn head_len(sides: &[ListExtents<'_>], affordable: u64) -> (usize, usize) {
    let mut counts = vec![0_u64; COUNTED_LEN_MAX as usize + 1];
    let mut long = Vec::new();
    for degree in sides.iter().flat_map(|lists| degrees(lists, 0..lists.len())) {
        match degree {
            length @ ..=COUNTED_LEN_MAX => counts[length as usize] += 1,
            length => long.push(length),
        }
    }
    let short = counts.iter().rposition(|&count| count > 0).unwrap_or(0) as u64;
    let longest = long.iter().copied().max().unwrap_or(short);
    // Each list of this length or longer adds one entry.
    let mut more = counts[1..].iter().sum::<u64>() + long.len() as u64;
    let (mut length, mut kept) = (0, 0);
    while length < longest.min(COUNTED_LEN_MAX) && kept + more <= affordable {
        kept += more;
        length += 1;
        more -= counts[length as usize];
    }
    if length < COUNTED_LEN_MAX {
        return (length as usize, longest as usize);
    }
    // The entries of long lists grow with k.
    let kept_by = |k: u64| kept + long.iter().map(|&length| length.min(k) - COUNTED_LEN_MAX).sum::<u64>();
    let (mut low, mut high) = (length, longest);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if kept_by(middle) <= affordable {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    (low as usize, longest as usize)
}

/// The lengths of some lists.
fn degrees<'l>(lists: &'l ListExtents<'_>, slots: Range<usize>) -> impl Iterator<Item = u64> + use<'l> {
    slots.map(|slot| lists.degree(slot) as u64)
}

/// Number of entries in the heads of some lists, of length `head_len`.
pub(super) fn entries(lists: &ListExtents<'_>, slots: Range<usize>, head_len: usize) -> usize {
    degrees(lists, slots).map(|degree| degree.min(head_len as u64)).sum::<u64>() as usize
}

/// Number of entries in all heads of length `head_len`.
pub(super) fn all_entries(lists: &ListExtents<'_>, head_len: usize) -> usize {
    entries(lists, 0..lists.len(), head_len)
}

/// Vertices whose heads a thread takes at a time. Few in tests, so that there are several units.
const UNIT_VERTICES: usize = if cfg!(test) { 64 } else { 1 << 14 };

/// The vertices in units of work.
pub(super) fn units_of(num_vertices: usize) -> impl Iterator<Item = Range<usize>> {
    (0..num_vertices).step_by(UNIT_VERTICES).map(move |first| first..num_vertices.min(first + UNIT_VERTICES))
}

/// Some vertices, and their heads.
pub(super) type HeadUnit<'h> = Mutex<(Range<usize>, &'h mut [VertexId])>;

/// All heads of length `head_len`, in units of work.
pub(super) fn head_units<'h>(
    lists: &ListExtents<'_>,
    head_len: usize,
    heads: &'h mut [VertexId],
) -> Vec<HeadUnit<'h>> {
    let mut rest = heads;
    let unit = |vertices: Range<usize>| {
        let len = entries(lists, vertices.clone(), head_len);
        let (own, others) = std::mem::take(&mut rest).split_at_mut(len);
        rest = others;
        Mutex::new((vertices, own))
    };
    units_of(lists.len()).map(unit).collect()
}

/// Where the heads of each group of vertices begin. Within a group, lengths are added up.
#[derive(Debug)]
pub(super) struct HeadStarts {
    starts: Vec<u64>,
    head_len: usize,
}

/// The vertex asked for last, and where its head begins.
#[derive(Debug)]
pub(super) struct LastHead {
    v: usize,
    start: u64,
}

impl Default for LastHead {
    fn default() -> Self {
        Self { v: usize::MAX, start: 0 }
    }
}

/// Vertices of a group.
const GROUP: usize = 32;

impl HeadStarts {
    pub(super) fn new(lists: &ListExtents<'_>, head_len: usize) -> Self {
        let mut starts = Vec::with_capacity(lists.len() / GROUP + 1);
        let mut sum = 0;
        for (v, degree) in degrees(lists, 0..lists.len()).enumerate() {
            if v.is_multiple_of(GROUP) {
                starts.push(sum);
            }
            sum += degree.min(head_len as u64);
        }
        Self { starts, head_len }
    }

    /// Bytes of memory for `num_vertices` vertices.
    pub(super) fn bytes(num_vertices: usize) -> u64 {
        (num_vertices.div_ceil(GROUP) * size_of::<u64>()) as u64
    }

    pub(super) fn head_len(&self) -> usize {
        self.head_len
    }

    /// Where the head of `v` begins among all heads. If vertices are asked for in order, each length is added
    /// once.
    #[inline(always)]
    pub(super) fn at(&self, lists: &ListExtents<'_>, v: VertexId, last: &mut LastHead) -> usize {
        let v = v as usize;
        let group = v / GROUP * GROUP;
        let known = (group..=v).contains(&last.v);
        let (first, start) = if known { (last.v, last.start) } else { (group, self.starts[v / GROUP]) };
        let start = start + entries(lists, first..v, self.head_len) as u64;
        *last = LastHead { v, start };
        start as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn as_much_as_fits_is_kept(
            mut lengths in prop::collection::vec(0_u64..50, 1..200),
            long in prop::collection::vec(0_u64..200_000, 0..3),
            bytes in prop_oneof![0_u64..10_000, 0_u64..3_000_000],
        ) {
            lengths.extend(long);
            let offsets: Vec<u64> = std::iter::once(0).chain(lengths.iter().scan(0, |sum, length| {
                *sum += length;
                Some(*sum)
            })).collect();
            let longest = lengths.iter().copied().max().unwrap_or(0) as usize;
            let (lists, affordable) = (ListExtents::Offsets(&offsets), bytes / 4);
            let (len, found) = head_len(&[lists, lists], affordable);
            prop_assert_eq!(found, longest);
            let kept_by = |len| 2 * all_entries(&lists, len) as u64;
            prop_assert!(kept_by(len) <= affordable);
            prop_assert!(len == longest || kept_by(len + 1) > affordable);
            let starts = HeadStarts::new(&lists, len);
            let (mut sum, mut last) = (0, LastHead::default());
            for (v, length) in lengths.iter().enumerate() {
                prop_assert_eq!(starts.at(&lists, v as VertexId, &mut LastHead::default()), sum);
                prop_assert_eq!(starts.at(&lists, v as VertexId, &mut last), sum);
                if v % 7 == 3 {
                    prop_assert!(starts.at(&lists, (v / 2) as VertexId, &mut last) <= sum);
                }
                sum += (*length as usize).min(len);
            }
        }
    }
}
