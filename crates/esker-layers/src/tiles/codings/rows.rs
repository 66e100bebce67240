//! Finds the rows of ascending positions, sixteen positions at a time if the processor can.

use crate::tiles::codings::vector::rows_by_sixteen;
use crate::tiles::strip::STRIP_BITS;

/// Extra elements that outputs need beyond the number of positions.
pub(crate) const ROWS_ROOM: usize = 16;
/// Positions compared at a time.
const STRIDE: usize = 16;

/// Writes the rows (within their strip) of ascending positions, and where each row ends. Returns the number
/// of rows. Both outputs must be longer than the positions by [`ROWS_ROOM`]; elements behind the rows are
/// overwritten.
pub(crate) fn find_rows(positions: &[u32], rows: &mut [u32], ends: &mut [u32]) -> usize {
    let Some(first) = positions.first() else { return 0 };
    rows[0] = first >> STRIP_BITS;
    let (at, num_rows) = rows_by_sixteen(positions, rows, ends).unwrap_or((0, 0));
    rows_portably(positions, at, num_rows, rows, ends)
}

/// Continues at position `at`, after `num_rows` rows. Long rows cost next to nothing; short ones cost no
/// branch that depends on the data.
fn rows_portably(
    positions: &[u32],
    mut at: usize,
    mut num_rows: usize,
    rows: &mut [u32],
    ends: &mut [u32],
) -> usize {
    let mut row = rows[num_rows];
    for stride in positions[at..].chunks(STRIDE) {
        if stride.last().is_some_and(|last| last >> STRIP_BITS != row) {
            for (k, position) in (at as u32..).zip(stride) {
                ends[num_rows] = k;
                num_rows += usize::from(position >> STRIP_BITS != row);
                row = position >> STRIP_BITS;
                rows[num_rows] = row;
            }
        }
        at += stride.len();
    }
    ends[num_rows] = at as u32;
    num_rows + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn rows_by_either_path(mut positions in prop::collection::vec((0..6u32, 0..8u32, 0..4u32), 1..200)) {
            positions.sort_unstable();
            let positions: Vec<u32> = positions.iter().map(|(a, b, c)| a << 29 | b << STRIP_BITS | c).collect();
            let (mut expected_rows, mut expected_ends) = (Vec::new(), Vec::new());
            for (k, position) in positions.iter().enumerate() {
                if k == 0 || position >> STRIP_BITS != positions[k - 1] >> STRIP_BITS {
                    expected_rows.push(position >> STRIP_BITS);
                    expected_ends.push(k as u32);
                } else if let Some(end) = expected_ends.last_mut() {
                    *end = k as u32;
                }
            }
            expected_ends.iter_mut().for_each(|last| *last += 1);
            let room = positions.len() + ROWS_ROOM;
            for is_portable in [false, true] {
                let (mut rows, mut ends) = (vec![9; room], vec![9; room]);
                let num_rows = if is_portable {
                    rows[0] = positions[0] >> STRIP_BITS;
                    rows_portably(&positions, 0, 0, &mut rows, &mut ends)
                } else {
                    find_rows(&positions, &mut rows, &mut ends)
                };
                prop_assert_eq!(&rows[..num_rows], &expected_rows[..]);
                prop_assert_eq!(&ends[..num_rows], &expected_ends[..]);
            }
        }
    }
}
