//! Masks that leave single edges out of decoded batches.
//!
//! Positions and the edges to leave out ascend alike, so sixteen positions are compared with the few edges
//! that lie among them, and a mask of those that remain moves positions and weights together.

use crate::tiles::codings::vector::{compress_by_sixteen, find_by_sixteen};

/// Positions compared at a time.
const STRIDE: usize = 16;

/// A mask of the edges of a batch that remain.
#[derive(Debug, Default)]
pub(crate) struct BatchMask {
    /// A mask for each [`STRIDE`] positions.
    masks: Vec<u16>,
}

impl BatchMask {
    /// Finds the `positions` that are among `left_out`, which then begins with the first edge that the next
    /// batch may hold. Both ascend. Returns whether there are any.
    pub(crate) fn leave_out(&mut self, positions: &[u32], left_out: &mut &[u32]) -> bool {
        let (Some(&first), Some(&last)) = (positions.first(), positions.last()) else { return false };
        let mut at = gallop(left_out, |edge| edge < first);
        if left_out.get(at).is_none_or(|&edge| edge > last) {
            *left_out = &left_out[at..];
            return false;
        }
        self.masks.clear();
        at = find_by_sixteen(positions, left_out, at, &mut self.masks).unwrap_or(at);
        for stride in positions[self.masks.len() * STRIDE..].chunks(STRIDE) {
            let end = stride[stride.len() - 1];
            let mut out = 0;
            while let Some(&edge) = left_out.get(at).filter(|&&edge| edge <= end) {
                out |= equal(stride, edge);
                at += 1;
            }
            // Further copies of it may begin the next positions.
            at -= usize::from(at > 0 && left_out[at - 1] == end);
            self.masks.push(!out);
        }
        *left_out = &left_out[at..];
        self.masks.iter().any(|&mask| mask != u16::MAX)
    }

    /// Retains the values of the positions that remain.
    pub(crate) fn retain<T: Copy>(&self, values: &mut Vec<T>) {
        let mut len = 0;
        for (stride, &mask) in self.masks.iter().enumerate() {
            let start = stride * STRIDE;
            for i in 0..STRIDE.min(values.len() - start) {
                values[len] = values[start + i];
                len += usize::from(mask >> i & 1);
            }
        }
        values.truncate(len);
    }

    /// Retains the positions that remain, sixteen at a time if the processor can.
    pub(crate) fn retain_positions(&self, positions: &mut Vec<u32>) {
        match compress_by_sixteen(positions, &self.masks) {
            Some(len) => positions.truncate(len),
            None => self.retain(positions),
        }
    }
}

/// The places of a number among at most [`STRIDE`], a bit each.
#[inline(always)]
fn equal(stride: &[u32], number: u32) -> u16 {
    let mut places = 0;
    match stride.first_chunk::<STRIDE>() {
        // Sixteen comparisons are few instructions.
        Some(stride) => (0..STRIDE).for_each(|i| places |= u16::from(stride[i] == number) << i),
        None => {
            stride.iter().enumerate().for_each(|(i, &other)| places |= u16::from(other == number) << i);
        }
    }
    places
}

/// Number of elements at the start for which `below` holds; it holds for those at the start only. A galloping
/// search: fast if they are few.
#[inline]
pub(crate) fn gallop<T: Copy>(sorted: &[T], below: impl Fn(T) -> bool) -> usize {
    let mut step = 1;
    while sorted.get(step - 1).is_some_and(|&other| below(other)) {
        step *= 2;
    }
    let low = step / 2;
    low + sorted[low..sorted.len().min(step)].partition_point(|&other| below(other))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn edges_that_remain_are_not_among_those_left_out(
            mut positions in prop::collection::vec(0_u32..300, 0..200),
            left_out in prop::collection::btree_set(0_u32..300, 0..100),
            batch_len in 1_usize..70,
        ) {
            positions.sort_unstable();
            let all: Vec<u32> = left_out.iter().copied().collect();
            let (mut remaining, mut remaining_weights) = (Vec::new(), Vec::new());
            let (mut mask, mut rest) = (BatchMask::default(), &all[..]);
            for batch in positions.chunks(batch_len) {
                let (mut batch, mut weights) = (batch.to_vec(), batch.iter().map(|&p| f64::from(p)).collect());
                if mask.leave_out(&batch, &mut rest) {
                    mask.retain(&mut weights);
                    let mut portable = batch.clone();
                    mask.retain(&mut portable);
                    mask.retain_positions(&mut batch);
                    prop_assert_eq!(&portable, &batch);
                }
                remaining.extend(batch);
                remaining_weights.extend(weights);
            }
            positions.retain(|position| !left_out.contains(position));
            let expected: Vec<f64> = positions.iter().map(|&p| f64::from(p)).collect();
            prop_assert_eq!(remaining, positions);
            prop_assert_eq!(remaining_weights, expected);
        }
    }
}
