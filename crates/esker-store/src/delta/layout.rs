//! The layout of a table's three arrays in one allocation: payloads, then records, then control bytes.

use std::mem::{align_of, size_of};

use bytemuck::Pod;

use super::robin::{Slots, SlotsMut};

/// The payload of an edge: any fixed-size value without padding, aligned to at most 8 bytes. `()` takes no
/// memory.
pub trait Payload: Pod + Send + Sync {}

impl<T: Pod + Send + Sync> Payload for T {}

/// The offsets of the arrays of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TableLayout {
    pub(super) capacity: usize,
    /// The maximum number of used slots: 90 %, and never all.
    pub(super) used_max: usize,
    records_at: usize,
    control_at: usize,
}

impl TableLayout {
    /// The layout for exactly `capacity` slots.
    pub(super) fn with_capacity<R: Pod, P: Pod>(capacity: usize) -> Self {
        const { assert!(align_of::<P>() <= 8 && align_of::<R>() <= 8, "at most 8-byte alignment") };
        let records_at = (capacity * size_of::<P>()).next_multiple_of(align_of::<R>());
        let used_max = (capacity - capacity / 10).min(capacity.saturating_sub(1));
        Self { capacity, used_max, records_at, control_at: records_at + capacity * size_of::<R>() }
    }

    /// The layout for as many slots as fit `bytes`.
    pub(super) fn within<R: Pod, P: Pod>(bytes: usize) -> Self {
        let mut capacity = bytes / (1 + size_of::<R>() + size_of::<P>());
        while Self::with_capacity::<R, P>(capacity).bytes() > bytes {
            capacity -= 1;
        }
        Self::with_capacity::<R, P>(capacity)
    }

    /// Total size of the arrays.
    pub(super) fn bytes(&self) -> usize {
        self.control_at + self.capacity
    }

    /// The slots in `bytes`, which has at least [`TableLayout::bytes`] bytes.
    #[inline(always)]
    pub(super) fn slots<'a, R: Pod, P: Pod>(&self, bytes: &'a [u8], seed: u32) -> Slots<'a, R, P> {
        let records = &bytes[self.records_at..self.control_at];
        Slots {
            control: &bytes[self.control_at..self.control_at + self.capacity],
            records: bytemuck::cast_slice(records),
            payloads: match size_of::<P>() {
                0 => units(self.capacity),
                size => bytemuck::cast_slice(&bytes[..self.capacity * size]),
            },
            seed,
        }
    }

    /// As [`TableLayout::slots`], mutable.
    #[inline(always)]
    pub(super) fn slots_mut<'a, R: Pod, P: Pod>(&self, bytes: &'a mut [u8], seed: u32) -> SlotsMut<'a, R, P> {
        let (front, control) = bytes.split_at_mut(self.control_at);
        let (payloads, records) = front.split_at_mut(self.records_at);
        SlotsMut {
            control: &mut control[..self.capacity],
            records: bytemuck::cast_slice_mut(records),
            payloads: match size_of::<P>() {
                0 => units(self.capacity),
                size => bytemuck::cast_slice_mut(&mut payloads[..self.capacity * size]),
            },
            seed,
        }
    }
}

/// `count` values of a zero-sized type.
#[inline(always)]
fn units<'a, P: Pod>(count: usize) -> &'a mut [P] {
    assert_eq!(size_of::<P>(), 0);
    Vec::leak(vec![P::zeroed(); count])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_fit_their_bytes_and_do_not_overlap() {
        fn check<R: Pod, P: Pod + PartialEq + std::fmt::Debug>(record: R, payload: P) {
            for bytes in [32, 48, 64, 4096] {
                let layout = TableLayout::within::<R, P>(bytes);
                assert!(layout.bytes() <= bytes && layout.capacity > 0, "{layout:?}");
                let mut words = vec![0_u64; bytes / 8];
                let slots = layout.slots_mut::<R, P>(bytemuck::cast_slice_mut(&mut words), 0);
                slots.control.fill(0xff);
                slots.records.fill(record);
                slots.payloads.fill(payload);
                let slots = layout.slots::<R, P>(bytemuck::cast_slice(&words), 0);
                assert_eq!(slots.control, vec![0xff; layout.capacity]);
                assert_eq!(slots.records.len(), layout.capacity);
                assert_eq!(slots.payloads, vec![payload; layout.capacity]);
            }
        }
        check(1_u32, ());
        check(1_u64, 2_u8);
        check([3_u32; 2], 4.0_f64);
        check(1_u32, [5_u8; 3]);
    }
}
