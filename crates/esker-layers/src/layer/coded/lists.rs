//! Compressed lists: verifies their columns before use, and decodes them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use esker_format::{Column, Error, Result};
use esker_graph::{Flow, Run, VertexId, vertex};

use super::block::{AHEAD_BYTES, BLOCK_LEN, BlockHeader, ROOM, end_of};
use super::index::{CodedList, GROUP_LEN, GroupRecord, GroupSizes, Index, ListPlace, ListPlaces, RECORD_LEN};
use super::vector::Decoder;
use crate::layer::offsets::ListCounts;

/// Groups verified as one unit of parallel work.
const UNIT_GROUPS: usize = 256;
/// Lists and arcs verified as one unit of parallel work.
const UNIT_ENTRIES: usize = 1 << 18;
/// Arcs decoded at once when a list need not be whole: a multiple of the block length.
const CHUNK_LEN: usize = 64 * BLOCK_LEN;
/// Arcs of several lists decoded together: half of a first-level cache.
const GROUP_ARCS_MAX: usize = 1 << 12;
/// Bytes before the first block of a list of several blocks: the index of its entries in `blocks`.
const LINK_BYTES: usize = size_of::<u64>();

/// The columns of compressed lists: the head of this module describes them.
#[derive(Debug)]
pub struct CodedColumns {
    /// Three numbers for each group, and three more at the end.
    pub groups: Column<u64>,
    /// The degrees and lengths of each group.
    pub sizes: Column<u8>,
    /// The encoded lists.
    pub lists: Column<u8>,
    /// The start of each block of long lists but the first.
    pub blocks: Column<u64>,
}

/// The compressed lists of all vertices.
#[derive(Debug)]
pub struct Coded {
    columns: CodedColumns,
    num_lists: usize,
    num_arcs: usize,
    num_vertices: u64,
    decoder: Decoder,
    index_sound: AtomicBool,
    lists_sound: AtomicBool,
}

/// Verified compressed lists: all, or those within a range of bytes.
#[derive(Debug, Clone, Copy)]
pub struct CodedLists<'a> {
    index: Index<'a>,
    bytes: &'a [u8],
    /// The position of `bytes` in the column of lists.
    first_byte: usize,
    /// Empty if these are the lists within a range of bytes.
    blocks: &'a [u64],
    decoder: Decoder,
}

impl Coded {
    /// Checks the lengths that the manifest gives.
    pub(crate) fn new(columns: CodedColumns, num_vertices: u64, counts: ListCounts) -> Result<Self> {
        let groups = counts.lists.div_ceil(GROUP_LEN as u64);
        columns.groups.expect_len(groups.saturating_add(1).saturating_mul(RECORD_LEN as u64))?;
        let (num_lists, num_arcs) = (counts.lists as usize, counts.arcs as usize);
        let [index_sound, lists_sound] = [(); 2].map(|()| AtomicBool::new(false));
        let decoder = Decoder::best();
        Ok(Self { columns, num_lists, num_arcs, num_vertices, decoder, index_sound, lists_sound })
    }

    pub(crate) fn num_lists(&self) -> usize {
        self.num_lists
    }

    pub(crate) fn num_arcs(&self) -> usize {
        self.num_arcs
    }

    /// The columns.
    pub fn columns(&self) -> &CodedColumns {
        &self.columns
    }

    fn num_groups(&self) -> usize {
        self.num_lists.div_ceil(GROUP_LEN)
    }

    /// The index of all lists. The first call verifies it.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn index(&self, run: &Run) -> Result<Index<'_>> {
        let (groups, sizes) = (self.columns.groups.all(run)?, self.columns.sizes.all(run)?);
        let index = Index { groups, sizes, num_lists: self.num_lists };
        if !self.index_sound.load(Ordering::Acquire) {
            self.check_ends()?;
            run.share_ranges(
                self.num_groups(),
                UNIT_GROUPS,
                || (),
                |(), range| {
                    for group in range {
                        self.group(group)?;
                    }
                    Ok::<(), Error>(())
                },
            )?;
            self.index_sound.store(true, Ordering::Release);
        }
        Ok(index)
    }

    /// All lists. The first call verifies their checksums and that they hold vertex ids in ascending order.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn all(&self, run: &Run) -> Result<CodedLists<'_>> {
        let index = self.index(run)?;
        let blocks = self.columns.blocks.all(run)?;
        if !self.lists_sound.load(Ordering::Acquire) {
            let units = index.entries().div_ceil(UNIT_ENTRIES);
            run.share(
                units,
                || vec![0; CHUNK_LEN + ROOM],
                |buffer, unit| {
                    let bound = |unit: usize| index.slot_at_entry(unit * UNIT_ENTRIES);
                    self.check_lists(index, bound(unit)..bound(unit + 1), buffer)
                },
            )?;
            self.lists_sound.store(true, Ordering::Release);
        }
        let bytes = self.columns.lists.all(run)?;
        Ok(CodedLists { index, bytes, first_byte: 0, blocks, decoder: self.decoder })
    }

    /// Verifies the lists of whole groups. Reads their bytes once, for the checksums and the contents.
    fn check_lists(&self, index: Index<'_>, slots: Range<usize>, buffer: &mut [VertexId]) -> Result<()> {
        let record = |slot: usize| index.record(slot.div_ceil(GROUP_LEN));
        self.columns.lists.will_need(record(slots.start).bytes as usize..record(slots.end).bytes as usize);
        index.try_for_each(slots, |slot, place| {
            let length = index.sizes(slot / GROUP_LEN).length(slot % GROUP_LEN);
            self.check_list(CodedList { slot, place, length }, buffer)
        })
    }

    /// The first arc of a list, and its targets. Verifies its sizes and bytes.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot.
    pub(crate) fn list(&self, slot: usize) -> Result<(usize, Vec<VertexId>)> {
        if let Some(lists) = self.if_sound().filter(|_| slot < self.num_lists) {
            let mut targets = Vec::new();
            lists.decode_all(slot..slot + 1, &mut targets);
            return Ok((lists.index.before(slot), targets));
        }
        let (place, length) = self.place(slot)?;
        let mut targets = Vec::new();
        let list = CodedList { slot, place, length };
        self.check_list(list, &mut vec![0; place.degree.min(CHUNK_LEN) + ROOM])?;
        if place.degree > 0 {
            targets.resize(place.degree + ROOM, 0);
            let bytes = self.columns.lists.get(place.byte..place.byte + length + AHEAD_BYTES)?;
            let start = if place.degree > BLOCK_LEN { LINK_BYTES } else { 0 };
            self.decoder.decode(bytes, start, vertex(slot), place.degree, &mut targets);
            targets.truncate(place.degree);
        }
        Ok((place.arc, targets))
    }

    /// The lists within `bytes`, which begin at `first_byte` of the column and include the bytes that
    /// decoders read ahead. [`Coded::visit_list`] has verified these lists. [`CodedLists::piece`] works only
    /// on the first block of a list.
    pub(crate) fn some<'a>(&'a self, index: Index<'a>, first_byte: usize, bytes: &'a [u8]) -> CodedLists<'a> {
        CodedLists { index, bytes, first_byte, blocks: &[], decoder: self.decoder }
    }

    /// All lists, if they are already verified.
    fn if_sound(&self) -> Option<CodedLists<'_>> {
        if !self.lists_sound.load(Ordering::Acquire) {
            return None;
        }
        let CodedColumns { groups, sizes, lists, blocks } = &self.columns;
        let (groups, sizes) = (groups.if_complete()?, sizes.if_complete()?);
        let index = Index { groups, sizes, num_lists: self.num_lists };
        let (bytes, blocks) = (lists.if_complete()?, blocks.if_complete()?);
        Some(CodedLists { index, bytes, first_byte: 0, blocks, decoder: self.decoder })
    }

    /// The arcs of a list.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot.
    pub(crate) fn range(&self, slot: usize) -> Result<Range<usize>> {
        self.place(slot).map(|(place, _)| place.arc..place.arc + place.degree)
    }

    /// The place of a list, and its length in bytes.
    fn place(&self, slot: usize) -> Result<(ListPlace, usize)> {
        if slot >= self.num_lists {
            return Err(self.no_list(slot));
        }
        let (group, index) = (slot / GROUP_LEN, slot % GROUP_LEN);
        let sizes = match self.if_sound() {
            Some(lists) => lists.index.sizes(group),
            None => self.group(group)?,
        };
        let (arc, byte) = (sizes.arcs_before(index) as usize, sizes.bytes_before(index) as usize);
        Ok((ListPlace { arc, byte, degree: sizes.degree(index) }, sizes.length(index)))
    }

    pub(crate) fn no_list(&self, slot: usize) -> Error {
        self.columns.groups.corrupt(slot / GROUP_LEN * RECORD_LEN, format!("there is no list {slot}"))
    }

    fn record(&self, group: usize) -> Result<GroupRecord> {
        let at = group * RECORD_LEN;
        let words = self.columns.groups.get(at..at + RECORD_LEN)?;
        words.first_chunk().and_then(GroupRecord::check).ok_or_else(|| self.bad_group(group))
    }

    fn bad_group(&self, group: usize) -> Error {
        let reason = format!(
            "the index of the lists from {} on contradicts the other columns or the manifest",
            group * GROUP_LEN
        );
        self.columns.groups.corrupt(group * RECORD_LEN, reason)
    }

    /// Checks that the sums begin with 0 and end with the totals of the manifest and the columns.
    fn check_ends(&self) -> Result<()> {
        let groups = self.num_groups();
        let (first, last) = (self.record(0)?, self.record(groups)?);
        let starts_at_zero = (first.arcs, first.bytes, first.place) == (0, 0, 0);
        let bytes = last.bytes.checked_add(AHEAD_BYTES as u64);
        let ends_at_totals = last.arcs == self.num_arcs as u64
            && bytes == Some(self.columns.lists.len() as u64)
            && last.place == self.columns.sizes.len() as u64;
        if starts_at_zero && ends_at_totals {
            Ok(())
        } else {
            Err(self.bad_group(if starts_at_zero { groups } else { 0 }))
        }
    }

    /// The sizes of the lists of a group. Checks that they agree with the sums before and after the group and
    /// stay within all arcs and bytes.
    fn group(&self, group: usize) -> Result<GroupSizes<'_>> {
        let (record, next) = (self.record(group)?, self.record(group + 1)?);
        let bytes = record.sizes_bytes() as u64;
        if record.place.checked_add(bytes) != Some(next.place) || next.place > self.columns.sizes.len() as u64
        {
            return Err(self.bad_group(group));
        }
        let sizes =
            GroupSizes::new(record, self.columns.sizes.get(record.place as usize..next.place as usize)?);
        let listed = (self.num_lists - group * GROUP_LEN).min(GROUP_LEN);
        let is_sound = sizes.arcs_before(GROUP_LEN) == next.arcs
            && sizes.bytes_before(GROUP_LEN) == next.bytes
            && sizes.arcs_before(listed) == next.arcs
            && next.arcs <= self.num_arcs as u64
            && next.bytes <= (self.columns.lists.len() - AHEAD_BYTES.min(self.columns.lists.len())) as u64;
        if is_sound { Ok(sizes) } else { Err(self.bad_group(group)) }
    }

    /// Verifies a list: its blocks fill it, the index of blocks finds them, the targets ascend and are vertex
    /// ids. `buffer` has room for the arcs of the list, or [`CHUNK_LEN`] if that is less, plus [`ROOM`].
    fn check_list(&self, list: CodedList, buffer: &mut [VertexId]) -> Result<()> {
        let CodedList { slot, place, length } = list;
        if place.degree == 0 {
            return self.expect_no_bytes(list);
        }
        let bytes = self.columns.lists.get(place.byte..place.byte + length + AHEAD_BYTES)?;
        let mut starts: &[u64] = &[];
        if place.degree > BLOCK_LEN {
            let truncated = || self.wrong(slot, place, 0, "is truncated");
            let word = bytes[..length].first_chunk().ok_or_else(truncated)?;
            let link = u64::from_le_bytes(*word) as usize;
            starts =
                self.columns.blocks.get(link..link.saturating_add(place.degree.div_ceil(BLOCK_LEN) - 1))?;
        }
        self.walk(list, bytes, Some(starts), buffer, |_, _| Flow::More)
    }

    /// Verifies a list and hands over its targets, at most [`CHUNK_LEN`] at a time, each time with the number
    /// of targets before them, until `take` returns [`Flow::Enough`]. `bytes` are those of the list and the
    /// bytes that decoders read ahead; `None`: read them from the map.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn visit_list(
        &self,
        list: CodedList,
        bytes: Option<&[u8]>,
        buffer: &mut Vec<VertexId>,
        take: impl FnMut(usize, &[VertexId]) -> Flow,
    ) -> Result<()> {
        if list.place.degree == 0 {
            return self.expect_no_bytes(list);
        }
        let start = list.place.byte;
        let bytes = match bytes {
            Some(bytes) => bytes,
            None => self.columns.lists.get(start..start + list.length + AHEAD_BYTES)?,
        };
        if buffer.len() < CHUNK_LEN + ROOM {
            buffer.resize(CHUNK_LEN + ROOM, 0);
        }
        self.walk(list, bytes, None, buffer, take)
    }

    /// Checks that a list without arcs has no bytes.
    fn expect_no_bytes(&self, list: CodedList) -> Result<()> {
        if list.length == 0 {
            Ok(())
        } else {
            Err(self.wrong(list.slot, list.place, 0, "is empty but has bytes"))
        }
    }

    /// A corruption error about the list of a vertex.
    fn wrong(&self, slot: usize, place: ListPlace, at: usize, what: &str) -> Error {
        self.columns.lists.corrupt(place.byte + at, format!("the list of vertex {slot} {what}"))
    }

    /// As [`Coded::visit_list`] for a list with arcs; `starts` are the indexed starts of its blocks except
    /// the first.
    fn walk(
        &self,
        list: CodedList,
        bytes: &[u8],
        starts: Option<&[u64]>,
        buffer: &mut [VertexId],
        mut take: impl FnMut(usize, &[VertexId]) -> Flow,
    ) -> Result<()> {
        let CodedList { slot, place, length } = list;
        let wrong = |at: usize, what: &str| self.wrong(slot, place, at, what);
        let mut at = if place.degree > BLOCK_LEN { LINK_BYTES } else { 0 };
        let mut last = 0;
        for first in (0..place.degree).step_by(CHUNK_LEN) {
            let len = (place.degree - first).min(CHUNK_LEN);
            let start = at;
            for in_chunk in (0..len).step_by(BLOCK_LEN) {
                let block = (first + in_chunk) / BLOCK_LEN;
                if block > 0 && starts.is_some_and(|starts| starts[block - 1] != (place.byte + at) as u64) {
                    return Err(wrong(at, "has a block that the index of blocks does not point to"));
                }
                at = end_of(&bytes[..length], at, (len - in_chunk).min(BLOCK_LEN))
                    .ok_or_else(|| wrong(at, "does not end where the index says"))?;
            }
            self.decoder.decode(bytes, start, vertex(slot), len, buffer);
            let targets = &buffer[..len];
            // Without a branch per arc, so that the compiler vectorises it.
            let ascends = targets.windows(2).fold(last <= targets[0], |all, pair| all & (pair[0] <= pair[1]));
            last = targets[len - 1];
            if !ascends || u64::from(last) >= self.num_vertices {
                let what = if ascends { "holds a target that is not a vertex" } else { "does not ascend" };
                return Err(wrong(start, what));
            }
            if take(first, targets) == Flow::Enough {
                return Ok(());
            }
        }
        if at == length { Ok(()) } else { Err(wrong(at, "does not end where the index says")) }
    }
}

impl<'a> CodedLists<'a> {
    /// The index of the lists.
    #[inline(always)]
    pub(crate) fn index(&self) -> Index<'a> {
        self.index
    }

    /// Decodes the first `len` arcs of the list of `v` to the start of `out`, which has [`ROOM`] entries
    /// more.
    #[inline]
    pub(crate) fn decode(&self, v: VertexId, place: ListPlace, len: usize, out: &mut [VertexId]) {
        if len > 0 {
            self.decoder.decode(self.bytes, self.start(place), v, len, out);
        }
    }

    /// The position in `bytes` of the first block of a list.
    #[inline(always)]
    fn start(&self, place: ListPlace) -> usize {
        place.byte - self.first_byte + if place.degree > BLOCK_LEN { LINK_BYTES } else { 0 }
    }

    /// Fills `places` with the places of the lists of the group that begins with slot `first`.
    #[inline]
    pub(crate) fn places(&self, first: usize, places: &mut ListPlaces) {
        places.first = first;
        self.decoder.places(self.index.sizes(first / GROUP_LEN), places);
    }

    /// The first two targets of a list; the second is arbitrary if the list has only one.
    #[inline(always)]
    pub(crate) fn first_two(&self, v: VertexId, place: ListPlace) -> [VertexId; 2] {
        let head = BlockHeader::read(self.bytes, self.start(place), v);
        [head.first, head.first.wrapping_add(head.difference(self.bytes))]
    }

    /// Decodes lists of the group at `places`, one after another, to the start of `buffer`: those whose bits
    /// are set in `wanted`, up to the first list longer than `longest` or until the buffer is full enough.
    /// Returns the bits of the decoded lists.
    pub(crate) fn decode_group(
        &self,
        places: &ListPlaces,
        mut wanted: u64,
        longest: usize,
        buffer: &mut Vec<VertexId>,
    ) -> u64 {
        let (mut done, mut len) = (0, 0);
        while wanted != 0 {
            let (bit, index) = (wanted & wanted.wrapping_neg(), wanted.trailing_zeros() as usize);
            let place = places.at(index);
            if place.degree > longest || len > 0 && len + place.degree > GROUP_ARCS_MAX {
                break;
            }
            if buffer.len() < len + place.degree + ROOM {
                buffer.resize(len + place.degree + ROOM, 0);
            }
            self.decode(vertex(places.first + index), place, place.degree, &mut buffer[len..]);
            len += place.degree;
            wanted ^= bit;
            done |= bit;
        }
        done
    }

    /// Decodes a range of arcs of a list into `buffer`, beginning with the block that holds the first of
    /// them.
    pub(crate) fn piece<'b>(
        &self,
        v: VertexId,
        place: ListPlace,
        arcs: Range<usize>,
        buffer: &'b mut Vec<VertexId>,
    ) -> &'b [VertexId] {
        if arcs.is_empty() {
            // Behind a full last block there is no further block to find.
            return &[];
        }
        let (block, skipped) = (arcs.start / BLOCK_LEN, arcs.start % BLOCK_LEN);
        let len = skipped + arcs.len();
        if buffer.len() < len + ROOM {
            buffer.resize(len + ROOM, 0);
        }
        if block == 0 {
            self.decode(v, place, len, buffer);
        } else {
            let word = self.bytes[place.byte - self.first_byte..].first_chunk().expect("verified");
            let start = self.blocks[u64::from_le_bytes(*word) as usize + block - 1];
            self.decoder.decode(self.bytes, start as usize - self.first_byte, v, len, buffer);
        }
        &buffer[skipped..len]
    }

    /// Appends the targets of all lists in `slots` to `out`.
    pub(crate) fn decode_all(&self, slots: Range<usize>, out: &mut Vec<VertexId>) {
        let arcs = self.index.before(slots.start)..self.index.before(slots.end);
        let base = out.len();
        out.resize(base + arcs.len() + ROOM, 0);
        let done: std::result::Result<(), std::convert::Infallible> =
            self.index.try_for_each(slots, |slot, place| {
                let first = base + place.arc - arcs.start;
                self.decode(vertex(slot), place, place.degree, &mut out[first..]);
                Ok(())
            });
        let Ok(()) = done;
        out.truncate(base + arcs.len());
    }

    /// Reads the first byte of a list, to bring it into the cache before it is needed.
    #[inline(always)]
    pub(crate) fn touch(&self, place: ListPlace) {
        std::hint::black_box(self.bytes.get(place.byte - self.first_byte));
    }
}
