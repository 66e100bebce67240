//! Copies sorted lists without their deleted targets.

use esker_graph::{NONE, VertexId};

use crate::tiles::gallop;

/// Entries that are compared, and copied, together.
const STRIDE: usize = 16;
/// Strides that are compared one after another, before a longer way is sought by halving.
const STRIDES_MAX: usize = 4;

/// Number of entries at the start of a sorted list that are below `target`. Fast if they are few: arcs that
/// were deleted are seldom so far apart in a list that a binary search pays.
#[inline]
pub(crate) fn below(list: &[VertexId], target: VertexId) -> usize {
    let mut count = 0;
    for stride in list.as_chunks::<STRIDE>().0.iter().take(STRIDES_MAX) {
        // Sixteen comparisons are few instructions.
        let found = stride.iter().filter(|&&other| other < target).count();
        count += found;
        if found < STRIDE {
            return count;
        }
    }
    count + gallop(&list[count..], |other| other < target)
}

/// Number of copies of `target` at the start of a list.
#[inline(always)]
fn copies(list: &[VertexId], target: VertexId) -> usize {
    list.iter().take_while(|&&other| other == target).count()
}

/// The part of the ascending `dead` targets that a sorted list may hold.
fn near<'d>(list: &[VertexId], dead: &'d [VertexId]) -> &'d [VertexId] {
    let (Some(&first), Some(&last)) = (list.first(), list.last()) else { return &[] };
    let dead = &dead[dead.partition_point(|&target| target < first)..];
    &dead[..dead.partition_point(|&target| target <= last)]
}

/// A buffer for lists without their deleted targets.
#[derive(Debug, Default)]
pub(crate) struct LivingTargets(Vec<VertexId>);

impl LivingTargets {
    /// A sorted list without all copies of the ascending `dead` targets.
    pub(crate) fn copy_living<'l>(&'l mut self, list: &'l [VertexId], dead: &[VertexId]) -> &'l [VertexId] {
        let dead = near(list, dead);
        if dead.is_empty() {
            return list;
        }
        let targets = &mut self.0;
        if targets.len() < list.len() + STRIDE {
            targets.resize(list.len() + STRIDE, 0);
        }
        let (mut start, mut len) = (0, 0);
        for &target in dead {
            let end = start + below(&list[start..], target);
            copy(&list[start..], end - start, &mut targets[len..]);
            len += end - start;
            start = end + copies(&list[end..], target);
        }
        let rest = list.len() - start;
        copy(&list[start..], rest, &mut targets[len..]);
        &targets[..len + rest]
    }
}

/// Copies the first `len` entries to a place with room for [`STRIDE`] more.
#[inline(always)]
fn copy(from: &[VertexId], len: usize, to: &mut [VertexId]) {
    match (from.first_chunk::<STRIDE>(), to.first_chunk_mut::<STRIDE>()) {
        // A copy of a fixed number of bytes takes no call.
        (Some(from), Some(to)) if len <= STRIDE => *to = *from,
        _ => to[..len].copy_from_slice(&from[..len]),
    }
}

/// Removes all copies of the ascending `dead` targets from a list: the others move to the front, and [`NONE`]
/// fills the rest.
pub(crate) fn leave_out(list: &mut [VertexId], is_sorted: bool, dead: &[VertexId]) {
    let mut len = 0;
    if is_sorted {
        let mut start = 0;
        for &target in near(list, dead) {
            let end = start + below(&list[start..], target);
            list.copy_within(start..end, len);
            len += end - start;
            start = end + copies(&list[end..], target);
        }
        list.copy_within(start.., len);
        len += list.len() - start;
    } else {
        for i in 0..list.len() {
            if dead.binary_search(&list[i]).is_err() {
                list[len] = list[i];
                len += 1;
            }
        }
    }
    list[len..].fill(NONE);
}

/// A list without the [`NONE`] at its end.
#[inline(always)]
pub(crate) fn without_none(list: &[VertexId]) -> &[VertexId] {
    let last = list.iter().rposition(|&target| target != NONE);
    &list[..last.map_or(0, |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn what_is_left_is_not_dead(
            mut list in prop::collection::vec(0 as VertexId..400, 0..300),
            dead in prop::collection::btree_set(0 as VertexId..400, 0..80),
            earlier in 0_usize..400,
        ) {
            let dead: Vec<VertexId> = dead.into_iter().collect();
            let is_dead = |target: &VertexId| dead.contains(target);
            let mut unsorted = list.clone();
            leave_out(&mut unsorted, false, &dead);
            let expected: Vec<_> = list.iter().copied().filter(|target| !is_dead(target)).collect();
            prop_assert_eq!(without_none(&unsorted), &expected);
            prop_assert_eq!(unsorted.len(), list.len());
            list.sort_unstable();
            let expected: Vec<_> = list.iter().copied().filter(|target| !is_dead(target)).collect();
            // Room that an earlier list left behind does not matter.
            let mut room = LivingTargets(vec![7; earlier]);
            prop_assert_eq!(room.copy_living(&list, &dead), &expected);
            leave_out(&mut list, true, &dead);
            prop_assert_eq!(without_none(&list), &expected);
        }
    }
}
