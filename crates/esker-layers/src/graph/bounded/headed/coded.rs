//! Gathers the heads of compressed lists.

use std::ops::Range;

use esker_format::io::DIRECT_BYTES;
use esker_format::{BLOCK_BYTES, HeadOrder, Result};
use esker_graph::{Flow, Run, VertexId, vertex};

use super::degrees::{HeadChoice, WantedHeads};
use super::head_lengths::{HeadStarts, LastHead};
use super::side::TailFile;
use super::stretches::{READ_BYTES, STRETCH_BYTES, read_stretches};
use crate::graph::mapped::dense::DenseCoded;
use crate::layer::{AHEAD_BYTES, Index, ListExtents};

/// Longer lists are read from the map, so that a thread does not keep all of their bytes. Few in tests.
const LONG_BYTES: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// Bytes of lists that a thread keeps beside its frames: a list that it has read in part, and what it
/// read last.
pub(super) const KEPT_BYTES: u64 = (LONG_BYTES + READ_BYTES) as u64 + (1 << 16);

/// The lists that begin in a stretch of the bytes, and their heads, which one thread gathers.
struct CodedStretch<'h> {
    dense: DenseCoded<'h>,
    wanted: &'h WantedHeads<'h>,
    /// Those whose heads are still to be gathered.
    lists: Range<usize>,
    heads: &'h mut [VertexId],
    checksums: &'h mut [u32],
    /// The place of the byte behind them.
    taken: usize,
    /// Where the stretch ends.
    end: usize,
}

/// The buffers that a thread keeps from list to list.
struct State<'w> {
    choice: HeadChoice<'w>,
    decoded: Vec<VertexId>,
    /// The last bytes that were read, from the next list on.
    bytes: Vec<u8>,
}

/// Reads all lists, verifies them, and writes their heads and the checksums of their pages.
pub(super) fn gather_coded<'a>(
    file: &mut TailFile,
    dense: DenseCoded<'a>,
    wanted: &WantedHeads<'a>,
    starts: &HeadStarts,
    heads: &mut [VertexId],
    run: &Run,
) -> Result<()> {
    let DenseCoded { coded, index } = dense;
    let mut checksums = vec![0; file.num_pages()];
    let all = coded.columns().lists.len();
    let stretch_bytes = if file.is_apart() { STRETCH_BYTES as usize } else { all };
    let mut stretches = Vec::new();
    let (mut rest, mut sums, mut before) = (heads, checksums.as_mut_slice(), 0);
    for start in (0..all).step_by(stretch_bytes) {
        let end = all.min(start + stretch_bytes);
        let lists = index.slot_at_byte(start)..if end == all { index.len() } else { index.slot_at_byte(end) };
        let until =
            if lists.end == index.len() { before + rest.len() } else { head_start(starts, index, lists.end) };
        let (own, others) = rest.split_at_mut(until - before);
        (rest, before) = (others, until);
        let pages = if end == all { sums.len() } else { stretch_bytes / DIRECT_BYTES };
        let (checksums, others) = sums.split_at_mut(pages);
        sums = others;
        stretches.push(CodedStretch { dense, wanted, lists, heads: own, checksums, taken: start, end });
    }
    let state = || State { choice: wanted.choice(), decoded: Vec::new(), bytes: Vec::new() };
    read_stretches(file, run, stretches, state, |stretch, state, (pages, skip)| {
        stretch.take(pages, skip, state, run)
    })?;
    file.set_checksums(checksums);
    Ok(())
}

fn head_start(starts: &HeadStarts, index: Index<'_>, slot: usize) -> usize {
    starts.at(&ListExtents::Index(index), vertex(slot), &mut LastHead::default())
}

impl CodedStretch<'_> {
    /// Gathers from the next pages. The first `skip` bytes are not of lists.
    fn take(&mut self, pages: &[u8], skip: usize, state: &mut State<'_>, run: &Run) -> Result<()> {
        let (own, rest) =
            std::mem::take(&mut self.checksums).split_at_mut(pages.len().div_ceil(DIRECT_BYTES));
        self.checksums = rest;
        own.iter_mut().zip(pages.chunks(DIRECT_BYTES)).for_each(|(sum, page)| *sum = crc32c::crc32c(page));
        let bytes = &pages[skip..];
        for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
            self.dense.coded.columns().lists.verify_copy(self.taken / BLOCK_BYTES + number, block)?;
        }
        let mut kept = std::mem::take(&mut state.bytes);
        kept.reserve_exact(bytes.len());
        kept.extend_from_slice(bytes);
        self.taken += bytes.len();
        let start = self.taken - kept.len();
        while !self.lists.is_empty() {
            let range = self.dense.index.bytes(self.lists.start);
            let is_long = range.len() > LONG_BYTES;
            if !is_long && range.end + AHEAD_BYTES > self.taken && self.taken < self.end {
                break;
            }
            let in_hand =
                if is_long { None } else { kept.get(range.start - start..range.end + AHEAD_BYTES - start) };
            self.take_list(self.lists.start, in_hand, state)?;
            if in_hand.is_none() && !range.is_empty() {
                self.dense.coded.columns().lists.release();
                run.check()?;
            }
            self.lists.start += 1;
        }
        let next =
            if self.lists.is_empty() { self.taken } else { self.dense.index.bytes(self.lists.start).start };
        kept.drain(..next.clamp(start, self.taken) - start);
        state.bytes = kept;
        Ok(())
    }

    /// Gathers the head of a list and verifies the list. `bytes`: those of the list and the ones that
    /// decoders read behind it; `None`: they are read from the map.
    fn take_list(&mut self, slot: usize, bytes: Option<&[u8]>, state: &mut State<'_>) -> Result<()> {
        let (list, wanted) = (self.dense.list(slot), self.wanted);
        let len = list.place.degree.min(wanted.head_len);
        let (head, rest) = std::mem::take(&mut self.heads).split_at_mut(len);
        self.heads = rest;
        let State { choice, decoded, .. } = state;
        self.dense.coded.visit_list(list, bytes, decoded, |first, targets| {
            match wanted.order {
                HeadOrder::First if first < len => {
                    let count = targets.len().min(len - first);
                    head[first..first + count].copy_from_slice(&targets[..count]);
                }
                HeadOrder::First => {}
                HeadOrder::Degree => choice.add(targets),
            }
            Flow::More
        })?;
        if wanted.order == HeadOrder::Degree {
            choice.finish(head);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use esker_format::io::{Disk, MemoryDisk};
    use esker_format::{Column, ColumnKind, ColumnSpec, ColumnWriter, DatabaseId, Element, Origin};
    use proptest::prelude::*;

    use super::*;
    use crate::graph::bounded::headed::degrees::ListDegrees;
    use crate::graph::bounded::headed::side::HeadedSide;
    use crate::graph::mapped::dense::DenseLists;
    use crate::layer::{Coded, CodedColumns, Coder, ListCounts};

    const ORIGIN: Origin = Origin::of_import(DatabaseId([7; 16]));

    fn column<T: Element>(disk: &MemoryDisk, name: &str, kind: ColumnKind, values: &[T]) -> Column<T> {
        let spec = ColumnSpec { origin: ORIGIN, kind };
        let mut writer = ColumnWriter::create(disk, Path::new(name), spec).unwrap();
        writer.append(values).unwrap();
        writer.finish().unwrap();
        Column::open(disk, Path::new(name), spec).unwrap()
    }

    /// Compressed lists in files of their own.
    fn coded(disk: &MemoryDisk, lists: &[Vec<VertexId>]) -> Coded {
        let mut coder = Coder::default();
        for list in lists {
            coder.append(list);
            coder.end_list();
        }
        coder.finish();
        let parts = coder.parts();
        let columns = CodedColumns {
            groups: column(disk, "groups", ColumnKind::OutGroups, &parts.groups),
            sizes: column(disk, "sizes", ColumnKind::OutSizes, &parts.sizes),
            lists: column(disk, "lists", ColumnKind::OutLists, &parts.lists),
            blocks: column(disk, "blocks", ColumnKind::OutBlocks, &parts.blocks),
        };
        let (n, arcs) = (lists.len() as u64, lists.iter().map(Vec::len).sum::<usize>() as u64);
        Coded::new(columns, n, ListCounts { lists: n, arcs }).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn heads_are_gathered_from_lists_in_one_stretch_and_in_several(
            lengths in prop::collection::vec(prop_oneof![20 => 0_usize..300, 1 => 0_usize..3000], 3500..4500),
            (head_len, step, by_degree, threads) in (0_usize..60, 1_usize..9, any::<bool>(), 1_usize..3),
        ) {
            let n = lengths.len();
            // Ascending, with gaps of several widths.
            let list = |(v, &length): (usize, &usize)| -> Vec<VertexId> {
                let mut list: Vec<_> = (0..length.min(n)).map(|i| vertex((v * 31 + i * i % 97 + i * step) % n)).collect();
                list.sort_unstable();
                list.dedup();
                list
            };
            let lists: Vec<_> = lengths.iter().enumerate().map(list).collect();
            let disk = MemoryDisk::default();
            let coded = coded(&disk, &lists);
            let run = Run::with_threads(threads).unwrap();
            let index = coded.index(&run).unwrap();
            let bytes = coded.columns().lists.len() as u64;
            prop_assert!(bytes > STRETCH_BYTES, "{bytes} bytes in several stretches");
            let ends = lists.iter().scan(0, |sum, list| { *sum += list.len() as u64; Some(*sum) });
            let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
            let order = if by_degree { HeadOrder::Degree } else { HeadOrder::First };
            let wanted = WantedHeads { head_len, order, degrees: ListDegrees::new(&offsets) };
            let disk: Arc<dyn Disk> = Arc::new(disk);
            let side = HeadedSide::gather(&disk, DenseLists::Coded(DenseCoded { coded: &coded, index }), &wanted, &run).unwrap();
            let mut expected = Vec::new();
            for list in &lists {
                let mut head = vec![0; list.len().min(head_len)];
                let mut choice = wanted.choice();
                choice.add(list);
                choice.finish(&mut head);
                expected.extend(if by_degree { head } else { list[..list.len().min(head_len)].to_vec() });
            }
            prop_assert_eq!(&side.heads, &expected);
            side.file.verify_pages(0..side.file.num_pages()).unwrap();
        }
    }
}
