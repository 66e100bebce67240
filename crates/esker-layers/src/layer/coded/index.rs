//! The index of compressed lists: sizes in groups of 64 lists, and sums before each group.

use std::ops::Range;

/// Lists of a group.
pub(super) const GROUP_LEN: usize = 64;

/// Numbers of a record in `groups`.
pub(super) const RECORD_LEN: usize = 3;

/// The record of a group in `groups`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupRecord {
    /// Arcs before the group.
    pub(super) arcs: u64,
    /// Bytes of lists before the group.
    pub(super) bytes: u64,
    /// Start of the group's sizes in `sizes`.
    pub(super) place: u64,
    /// Binary logarithms of the widths of degrees and lengths.
    pub(super) widths: [u32; 2],
}

/// The largest binary logarithm of a width.
const WIDTH_LOG_MAX: u32 = 3;

impl GroupRecord {
    pub(super) fn to_words(self) -> [u64; RECORD_LEN] {
        let widths = u64::from(self.widths[0] | self.widths[1] << 4);
        [self.arcs, self.bytes, self.place << 8 | widths]
    }

    #[inline(always)]
    pub(super) fn read(words: &[u64; RECORD_LEN]) -> Self {
        let [arcs, bytes, place] = *words;
        let widths = [place as u32 & 3, (place >> 4) as u32 & 3];
        Self { arcs, bytes, place: place >> 8, widths }
    }

    /// As [`GroupRecord::read`]; `None` if the encoder cannot have written such a record.
    pub(super) fn check(words: &[u64; RECORD_LEN]) -> Option<Self> {
        Some(Self::read(words)).filter(|record| record.to_words() == *words)
    }

    /// Bytes of the group's sizes.
    #[inline(always)]
    pub(super) fn sizes_bytes(&self) -> usize {
        (GROUP_LEN << self.widths[0]) + (GROUP_LEN << self.widths[1])
    }
}

/// The binary logarithm of the width, in bytes, of the largest of `sizes`.
pub(super) fn width_log(sizes: &[u64; GROUP_LEN]) -> u32 {
    let any = sizes.iter().fold(0, |any, size| any | size);
    match any {
        0..=0xFF => 0,
        0x100..=0xFFFF => 1,
        0x1_0000..=0xFFFF_FFFF => 2,
        _ => WIDTH_LOG_MAX,
    }
}

/// The size at `index` of a group.
#[inline(always)]
fn size_at(sizes: &[u8], width_log: u32, index: usize) -> u64 {
    match width_log {
        0 => u64::from(sizes[index]),
        1 => u64::from(u16::from_le_bytes(*sizes[2 * index..].first_chunk().expect("64 of them"))),
        2 => u64::from(u32::from_le_bytes(*sizes[4 * index..].first_chunk().expect("64 of them"))),
        _ => u64::from_le_bytes(*sizes[8 * index..].first_chunk().expect("64 of them")),
    }
}

/// The sum of the first `count` sizes of a group.
#[inline(always)]
fn sum_before(sizes: &[u8], width_log: u32, count: usize) -> u64 {
    match width_log {
        0 => {
            // Eight at a time: adds pairs of neighbours to 16-bit sums, which cannot overflow.
            const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
            let (words, rest) = sizes[..count].as_chunks::<8>();
            let sums = words.iter().fold(0, |sums, word| {
                let word = u64::from_le_bytes(*word);
                sums + (word & EVEN) + (word >> 8 & EVEN)
            });
            let rest: u64 = rest.iter().map(|&size| u64::from(size)).sum();
            (sums.wrapping_mul(0x0001_0001_0001_0001) >> 48) + rest
        }
        1 => {
            let sizes = sizes[..2 * count].as_chunks().0;
            u64::from(sizes.iter().map(|&size| u32::from(u16::from_le_bytes(size))).sum::<u32>())
        }
        2 => sizes[..4 * count].as_chunks().0.iter().map(|&size| u64::from(u32::from_le_bytes(size))).sum(),
        _ => {
            let sizes = sizes[..8 * count].as_chunks().0;
            sizes.iter().fold(0, |sum: u64, &size| sum.saturating_add(u64::from_le_bytes(size)))
        }
    }
}

/// The sizes of the lists of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupSizes<'a> {
    record: GroupRecord,
    degrees: &'a [u8],
    lengths: &'a [u8],
}

impl<'a> GroupSizes<'a> {
    /// The sizes of the group of `record`; `sizes` begins with them.
    #[inline(always)]
    pub(super) fn new(record: GroupRecord, sizes: &'a [u8]) -> Self {
        let (degrees, lengths) = sizes[..record.sizes_bytes()].split_at(GROUP_LEN << record.widths[0]);
        Self { record, degrees, lengths }
    }

    /// Computes the places of the lists of the group. `sums_up`, if given, computes the 65 prefix sums of 64
    /// sizes of one or two bytes, starting from a number.
    pub(super) fn places(
        &self,
        sums_up: Option<&impl Fn(&[u8], u32, u64, &mut [u64; GROUP_LEN + 1])>,
        places: &mut ListPlaces,
    ) {
        let GroupRecord { arcs, bytes, widths, .. } = self.record;
        let sides = [(self.degrees, arcs, &mut places.arcs), (self.lengths, bytes, &mut places.bytes)];
        for ((sizes, before, sums), width_log) in sides.into_iter().zip(widths) {
            match sums_up {
                Some(sums_up) if width_log < 2 => sums_up(sizes, width_log, before, sums),
                _ => {
                    sums[0] = before;
                    for i in 0..GROUP_LEN {
                        sums[i + 1] = sums[i] + size_at(sizes, width_log, i);
                    }
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn degree(&self, index: usize) -> usize {
        size_at(self.degrees, self.record.widths[0], index) as usize
    }

    #[inline(always)]
    pub(super) fn length(&self, index: usize) -> usize {
        size_at(self.lengths, self.record.widths[1], index) as usize
    }

    /// Arcs before a list, including those before the group.
    #[inline(always)]
    pub(super) fn arcs_before(&self, index: usize) -> u64 {
        self.record.arcs.saturating_add(sum_before(self.degrees, self.record.widths[0], index))
    }

    /// Bytes before a list, including those before the group.
    #[inline(always)]
    pub(super) fn bytes_before(&self, index: usize) -> u64 {
        self.record.bytes.saturating_add(sum_before(self.lengths, self.record.widths[1], index))
    }
}

/// The position of a list among all arcs and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListPlace {
    /// Its first arc, counted over all lists.
    pub(crate) arc: usize,
    /// Its first byte.
    pub(crate) byte: usize,
    /// The number of its arcs.
    pub(crate) degree: usize,
}

/// One of the compressed lists, and where it lies.
#[derive(Debug, Clone, Copy)]
pub struct CodedList {
    /// The slot of the list: its vertex.
    pub(crate) slot: usize,
    /// Its position among all arcs and bytes.
    pub(crate) place: ListPlace,
    /// The number of its bytes.
    pub(crate) length: usize,
}

impl CodedList {
    /// The list in `slot`, which lies at `place` and takes `length` bytes.
    pub fn new(slot: usize, place: ListPlace, length: usize) -> Self {
        Self { slot, place, length }
    }
}

/// The positions of the lists of a group.
#[derive(Debug)]
pub(crate) struct ListPlaces {
    /// The slot of the first list.
    pub(super) first: usize,
    /// The first arc of each list, then the end of the last.
    pub(super) arcs: [u64; GROUP_LEN + 1],
    /// The first byte of each list, then the end of the last.
    pub(super) bytes: [u64; GROUP_LEN + 1],
}

impl Default for ListPlaces {
    fn default() -> Self {
        Self { first: 0, arcs: [0; GROUP_LEN + 1], bytes: [0; GROUP_LEN + 1] }
    }
}

impl ListPlaces {
    /// The slot of the first list of the group.
    #[inline(always)]
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// A list, by its index in the group.
    #[inline(always)]
    pub(crate) fn list(&self, index: usize) -> CodedList {
        let place = self.at(index);
        CodedList { slot: self.first + index, place, length: self.end_byte(index) - place.byte }
    }

    /// The position of a list, by its index in the group.
    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> ListPlace {
        let (arc, end) = (self.arcs[index] as usize, self.arcs[index + 1] as usize);
        ListPlace { arc, byte: self.bytes[index] as usize, degree: end - arc }
    }

    /// The first arcs of `len` lists from `index` on, and the end of the last.
    #[inline(always)]
    pub(crate) fn bounds(&self, index: usize, len: usize) -> &[u64] {
        &self.arcs[index..=index + len]
    }

    /// The end of the bytes of a list.
    #[inline(always)]
    pub(crate) fn end_byte(&self, index: usize) -> usize {
        self.bytes[index + 1] as usize
    }
}

/// The verified index of compressed lists.
#[derive(Debug, Clone, Copy)]
pub struct Index<'a> {
    pub(super) groups: &'a [u64],
    pub(super) sizes: &'a [u8],
    pub(super) num_lists: usize,
}

impl<'a> Index<'a> {
    /// Number of lists.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.num_lists
    }

    #[inline(always)]
    pub(super) fn record(&self, group: usize) -> GroupRecord {
        let words = self.groups[group * RECORD_LEN..].first_chunk().expect("one more than there are groups");
        GroupRecord::read(words)
    }

    #[inline(always)]
    pub(super) fn sizes(&self, group: usize) -> GroupSizes<'a> {
        let record = self.record(group);
        GroupSizes::new(record, &self.sizes[record.place as usize..])
    }

    /// Number of arcs of a list.
    #[inline(always)]
    pub fn degree(&self, slot: usize) -> usize {
        let record = self.record(slot / GROUP_LEN);
        size_at(&self.sizes[record.place as usize..], record.widths[0], slot % GROUP_LEN) as usize
    }

    /// The arcs of a list.
    #[inline]
    pub(crate) fn range(&self, slot: usize) -> Range<usize> {
        let sizes = self.sizes(slot / GROUP_LEN);
        let (index, start) = (slot % GROUP_LEN, sizes.arcs_before(slot % GROUP_LEN) as usize);
        start..start + sizes.degree(index)
    }

    /// Number of arcs in the lists before `slot`; `slot` may equal the number of lists.
    #[inline]
    pub(crate) fn before(&self, slot: usize) -> usize {
        match slot % GROUP_LEN {
            0 => self.record(slot / GROUP_LEN).arcs as usize,
            index => self.sizes(slot / GROUP_LEN).arcs_before(index) as usize,
        }
    }

    /// The position of a list.
    #[inline]
    pub fn place(&self, slot: usize) -> ListPlace {
        let (sizes, index) = (self.sizes(slot / GROUP_LEN), slot % GROUP_LEN);
        let (arc, byte) = (sizes.arcs_before(index) as usize, sizes.bytes_before(index) as usize);
        ListPlace { arc, byte, degree: sizes.degree(index) }
    }

    /// The bytes of a list.
    #[inline]
    pub(crate) fn bytes(&self, slot: usize) -> Range<usize> {
        let (sizes, index) = (self.sizes(slot / GROUP_LEN), slot % GROUP_LEN);
        let start = sizes.bytes_before(index) as usize;
        start..start + sizes.length(index)
    }

    /// The number of lists plus the number of arcs.
    pub(crate) fn entries(&self) -> usize {
        self.num_lists + self.record(self.num_lists.div_ceil(GROUP_LEN)).arcs as usize
    }

    /// The first slot of the first group that has at least `entry` lists and arcs before it, or the number of
    /// lists.
    pub(crate) fn slot_at_entry(&self, entry: usize) -> usize {
        let (mut low, mut high) = (0, self.num_lists.div_ceil(GROUP_LEN));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.record(middle).arcs as usize + middle * GROUP_LEN < entry {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low * GROUP_LEN).min(self.num_lists)
    }

    /// The first slot whose list begins at or after `byte`, or the number of lists.
    pub(crate) fn slot_at_byte(&self, byte: usize) -> usize {
        let (mut low, mut high) = (0, self.num_lists.div_ceil(GROUP_LEN));
        while low < high {
            let middle = low + (high - low) / 2;
            if (self.record(middle).bytes as usize) < byte { low = middle + 1 } else { high = middle }
        }
        // That list may be in the previous group.
        let Some(group) = low.checked_sub(1) else { return 0 };
        let sizes = self.sizes(group);
        let slots = group * GROUP_LEN..(low * GROUP_LEN).min(self.num_lists);
        let is_before = |slot: &usize| (sizes.bytes_before(slot % GROUP_LEN) as usize) < byte;
        slots.clone().find(|slot| !is_before(slot)).unwrap_or(slots.end)
    }

    /// A cursor for ascending slots.
    pub(crate) fn walk(&self) -> GroupWalk<'a> {
        GroupWalk { index: *self, group: usize::MAX, sizes: None, next: 0, arc: 0, byte: 0 }
    }

    /// Calls `take` with each list of `slots` and its position, until `take` fails.
    #[inline(always)]
    pub(crate) fn try_for_each<E>(
        &self,
        slots: Range<usize>,
        mut take: impl FnMut(usize, ListPlace) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut walk = self.walk();
        slots.into_iter().try_for_each(|slot| take(slot, walk.place(slot)))
    }
}

/// Finds lists in ascending order, reusing the sums of the previous list.
#[derive(Debug)]
pub(crate) struct GroupWalk<'a> {
    index: Index<'a>,
    /// The group of `sizes`.
    group: usize,
    sizes: Option<GroupSizes<'a>>,
    /// Index in the group of the next list.
    next: usize,
    /// Arcs before that list.
    arc: usize,
    /// Bytes before that list.
    byte: usize,
}

impl GroupWalk<'_> {
    /// The position of a list. Slots must ascend, at least within a group; others take longer.
    #[inline(always)]
    pub(crate) fn place(&mut self, slot: usize) -> ListPlace {
        let (group, index) = (slot / GROUP_LEN, slot % GROUP_LEN);
        let sizes = match self.sizes {
            Some(sizes) if group == self.group && index >= self.next => sizes,
            _ => {
                let sizes = self.index.sizes(group);
                (self.group, self.sizes, self.next) = (group, Some(sizes), 0);
                (self.arc, self.byte) = (sizes.record.arcs as usize, sizes.record.bytes as usize);
                sizes
            }
        };
        while self.next < index {
            self.arc += sizes.degree(self.next);
            self.byte += sizes.length(self.next);
            self.next += 1;
        }
        ListPlace { arc: self.arc, byte: self.byte, degree: sizes.degree(index) }
    }
}
