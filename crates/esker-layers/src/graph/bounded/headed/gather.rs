//! Gathers heads from the lists. All lists are read once, past the page cache, and verified.
//!
//! A *stretch* is a range of bytes of the targets that one thread reads page by page, so lists may begin in
//! one stretch and end in another. First neighbours can be copied part by part. Chosen heads need a whole
//! list: lists in several stretches are read once more at the end (`choose_in_parts`).

use std::ops::Range;
use std::sync::Arc;

use esker_format::io::{DIRECT_BYTES, Disk};
use esker_format::{BLOCK_BYTES, Column, HeadOrder, Result};
use esker_graph::{Run, VertexId, vertex};

use super::coded::{KEPT_BYTES, gather_coded};
use super::degrees::{HeadChoice, WantedHeads};
use super::head_lengths::{HeadStarts, LastHead, all_entries};
use super::side::{HeadedSide, TailFile, room_for};
use super::stretches::{STRETCH_BYTES, read_stretches, reading_bytes};
use crate::graph::mapped::dense::{DenseArrays, DenseLists};
use crate::layer::{Body, ListColumns, ListExtents};

/// Arcs of a list that are read at a time if the list lies in several stretches.
const PART_ARCS: u64 = 1 << 16;

impl<'a> HeadedSide<'a> {
    /// Bytes of memory needed while heads are gathered.
    pub(super) fn gather_bytes(lists: &ListColumns, threads: usize) -> u64 {
        let kept = match lists.body() {
            Body::Arrays(_) | Body::Tiled(_) => 0,
            Body::Coded(_) => KEPT_BYTES,
        };
        threads as u64 * (reading_bytes(threads) + HeadChoice::bytes() + kept)
    }

    /// Reads all lists once, verifies them, and keeps their heads.
    pub(super) fn gather(
        disk: &Arc<dyn Disk>,
        lists: DenseLists<'a>,
        wanted: &WantedHeads<'a>,
        run: &Run,
    ) -> Result<Self> {
        let extents = lists.extents();
        let starts = HeadStarts::new(&extents, wanted.head_len);
        let mut file = TailFile::open(disk.as_ref(), lists)?;
        let mut heads = room_for(all_entries(&extents, wanted.head_len))?;
        let name = file.path().display().to_string();
        file.count = run.reads().of(name.as_str(), "gathering heads");
        match lists {
            DenseLists::Arrays(dense) => {
                gather_arrays(&mut file, dense, wanted, &starts, &mut heads, run)?;
            }
            DenseLists::Coded(dense) => {
                gather_coded(&mut file, dense, wanted, &starts, &mut heads, run)?;
            }
        }
        file.count = run.reads().of(name, "tails");
        Ok(Self { lists, starts, order: wanted.order, heads, file })
    }
}

/// Gathers the heads of plain lists, and the checksums of their pages.
fn gather_arrays(
    file: &mut TailFile,
    dense: DenseArrays<'_>,
    wanted: &WantedHeads<'_>,
    starts: &HeadStarts,
    heads: &mut [VertexId],
    run: &Run,
) -> Result<()> {
    let (targets, offsets) = (dense.arrays.targets_column(), dense.offsets);
    let mut checksums = vec![0; file.num_pages()];
    let stretch_bytes = if file.is_apart() { STRETCH_BYTES } else { (checksums.len() * DIRECT_BYTES) as u64 };
    let lists = StretchedLists { offsets, starts, order: wanted.order, stretch_bytes };
    let stretches = lists.stretches(heads, &mut checksums);
    read_stretches(
        file,
        run,
        stretches,
        || wanted.choice(),
        |stretch, choice, (pages, skip)| stretch.take(pages, skip, targets, choice),
    )?;
    file.set_checksums(checksums);
    if wanted.order == HeadOrder::Degree {
        for v in lists.split() {
            let start = starts.at(&ListExtents::Offsets(offsets), v, &mut LastHead::default());
            let arcs = lists.arcs(v);
            let head = &mut heads[start..][..((arcs.end - arcs.start) as usize).min(wanted.head_len)];
            choose_in_parts(file, arcs, &mut wanted.choice(), head, run)?;
        }
    }
    Ok(())
}

/// Chooses the head of a list that lies in several stretches, reading it once more.
fn choose_in_parts(
    file: &TailFile,
    arcs: Range<u64>,
    choice: &mut HeadChoice<'_>,
    head: &mut [VertexId],
    run: &Run,
) -> Result<()> {
    for start in arcs.clone().step_by(PART_ARCS as usize) {
        run.check()?;
        file.read_some(start..arcs.end.min(start + PART_ARCS), |bytes| {
            choice.add(bytemuck::cast_slice(bytes));
            Ok(())
        })?;
    }
    choice.finish(head);
    Ok(())
}

/// Plain lists, divided into stretches of `stretch_bytes`.
#[derive(Clone, Copy)]
struct StretchedLists<'h> {
    offsets: &'h [u64],
    starts: &'h HeadStarts,
    order: HeadOrder,
    stretch_bytes: u64,
}

/// A stretch of the targets, and the heads and checksums that one thread gathers there.
struct HeadStretch<'h> {
    offsets: &'h [u64],
    head_len: usize,
    order: HeadOrder,
    heads: &'h mut [VertexId],
    checksums: &'h mut [u32],
    /// The vertices whose heads are still to be gathered here. The next bytes begin or continue the list of
    /// the first.
    lists: Range<usize>,
    /// Number of targets of the column before the next bytes.
    taken: u64,
}

impl<'h> StretchedLists<'h> {
    fn arcs(&self, v: VertexId) -> Range<u64> {
        self.offsets[v as usize]..self.offsets[v as usize + 1]
    }

    fn stretch_arcs(&self) -> u64 {
        self.stretch_bytes / size_of::<VertexId>() as u64
    }

    /// Number of lists that end at an arc or before it.
    fn ended_at(&self, arc: u64) -> usize {
        self.offsets[1..].partition_point(|&end| end <= arc)
    }

    /// Where the head of a list begins. For the list after the last one: where the heads end.
    fn start_of(&self, list: usize, num_heads: usize) -> usize {
        if list + 1 < self.offsets.len() {
            self.starts.at(&ListExtents::Offsets(self.offsets), vertex(list), &mut LastHead::default())
        } else {
            num_heads
        }
    }

    /// The vertices whose lists lie in several stretches.
    fn split(&self) -> Vec<VertexId> {
        let num_arcs = self.offsets[self.offsets.len() - 1];
        let borders = (self.stretch_arcs()..num_arcs).step_by(self.stretch_arcs() as usize);
        let split = borders.map(|border| (border, self.ended_at(border)));
        let mut split: Vec<_> =
            split.filter(|&(border, v)| self.offsets[v] < border).map(|(_, v)| vertex(v)).collect();
        split.dedup();
        split
    }

    /// All stretches of a column in order. Stretches leave out chosen heads of lists that they share: see
    /// `split`.
    fn stretches(&self, mut heads: &'h mut [VertexId], checksums: &'h mut [u32]) -> Vec<HeadStretch<'h>> {
        let (offsets, head_len, num_heads) = (self.offsets, self.starts.head_len(), heads.len());
        let mut stretches = Vec::new();
        let mut before = 0;
        let pages = self.stretch_bytes as usize / DIRECT_BYTES;
        for (number, checksums) in checksums.chunks_mut(pages).enumerate() {
            let (first, end) =
                (number as u64 * self.stretch_arcs(), (number as u64 + 1) * self.stretch_arcs());
            let (mut v, last) = (self.ended_at(first), self.ended_at(end));
            let (mut from, mut until) = (before, self.start_of(last, num_heads));
            match self.order {
                // The list of `last` ends in a later stretch. Its head up to `end` is gathered here.
                HeadOrder::First if last + 1 < offsets.len() => {
                    until += end.saturating_sub(offsets[last]).min(head_len as u64) as usize;
                }
                HeadOrder::First => {}
                HeadOrder::Degree => {
                    v += usize::from(v < last && offsets[v] < first);
                    from = self.start_of(v.min(last), num_heads);
                }
            }
            let (own, rest) = std::mem::take(&mut heads).split_at_mut(until - before);
            let own = &mut own[from - before..];
            (heads, before) = (rest, until);
            let lists = match self.order {
                HeadOrder::First => v..offsets.len() - 1,
                HeadOrder::Degree => v..last,
            };
            let (order, taken) = (self.order, first);
            stretches.push(HeadStretch { offsets, head_len, order, heads: own, checksums, lists, taken });
        }
        stretches
    }
}

impl HeadStretch<'_> {
    /// Gathers from the next pages, after verifying them. The first `skip` bytes are not targets: the first
    /// page of a column may begin with other data.
    fn take(
        &mut self,
        pages: &[u8],
        skip: usize,
        column: &Column<VertexId>,
        choice: &mut HeadChoice<'_>,
    ) -> Result<()> {
        let count = pages.len().div_ceil(DIRECT_BYTES);
        let (own, rest) = std::mem::take(&mut self.checksums).split_at_mut(count);
        self.checksums = rest;
        own.iter_mut().zip(pages.chunks(DIRECT_BYTES)).for_each(|(sum, page)| *sum = crc32c::crc32c(page));
        let bytes = &pages[skip..];
        let first_block = self.taken as usize * size_of::<VertexId>() / BLOCK_BYTES;
        for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
            column.verify_copy(first_block + number, block)?;
        }
        let targets: &[VertexId] = bytemuck::cast_slice(bytes);
        let num_vertices = self.offsets.len() - 1;
        let largest = targets.iter().fold(0, |largest, &target| largest.max(target));
        if largest as usize >= num_vertices {
            let reason = format!(
                "vertex {largest} in a graph of {}",
                esker_graph::counted(num_vertices, "vertex", "vertices")
            );
            return Err(column.corrupt(self.taken as usize, reason));
        }
        match self.order {
            HeadOrder::First => self.take_heads(targets),
            HeadOrder::Degree => self.choose_heads(targets, choice),
        }
        self.taken += targets.len() as u64;
        Ok(())
    }

    /// Takes the first neighbours of each list.
    fn take_heads(&mut self, targets: &[VertexId]) {
        let first = self.taken;
        let end = first + targets.len() as u64;
        while !self.lists.is_empty() && self.offsets[self.lists.start] < end {
            let v = self.lists.start;
            let (start, stop) = (self.offsets[v], self.offsets[v + 1]);
            let head_end = stop.min(start + self.head_len as u64);
            let from = start.max(first).min(head_end);
            let to = head_end.min(end);
            if from < to {
                let own = self.next_heads((to - from) as usize);
                own.copy_from_slice(&targets[(from - first) as usize..(to - first) as usize]);
            }
            if stop > end {
                break;
            }
            self.lists.start += 1;
        }
    }

    /// Chooses the neighbours of highest degree of each list.
    fn choose_heads(&mut self, targets: &[VertexId], choice: &mut HeadChoice<'_>) {
        let first = self.taken;
        let end = first + targets.len() as u64;
        while !self.lists.is_empty() && self.offsets[self.lists.start] < end {
            let v = self.lists.start;
            let (start, stop) = (self.offsets[v], self.offsets[v + 1]);
            choice.add(&targets[(start.max(first) - first) as usize..(stop.min(end) - first) as usize]);
            if stop > end {
                break;
            }
            let head_len = self.head_len;
            choice.finish(self.next_heads(((stop - start) as usize).min(head_len)));
            self.lists.start += 1;
        }
    }

    /// Takes the places of the next `len` neighbours in heads.
    fn next_heads(&mut self, len: usize) -> &mut [VertexId] {
        let (own, rest) = std::mem::take(&mut self.heads).split_at_mut(len);
        self.heads = rest;
        own
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::bounded::headed::degrees::ListDegrees;

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn heads_are_chosen_from_lists_in_one_stretch_and_in_several(
            lengths in prop::collection::vec(prop_oneof![8 => 0_usize..40, 1 => 0_usize..4000], 4000..4500),
            head_len in 0_usize..60,
            part_len in 1_usize..900,
        ) {
            let ends = lengths.iter().scan(0, |sum, length| {
                *sum += *length as u64;
                Some(*sum)
            });
            let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
            // Lists ascend, without repetitions.
            let targets: Vec<VertexId> = lengths.iter().flat_map(|&length| (0..length).map(vertex)).collect();
            let degrees = ListDegrees::new(&offsets);
            let wanted = WantedHeads { head_len, order: HeadOrder::Degree, degrees };
            let extents = ListExtents::Offsets(&offsets);
            let starts = HeadStarts::new(&extents, head_len);
            let (mut heads, mut expected) = (vec![0; all_entries(&extents, head_len)], Vec::new());
            let lists = StretchedLists { offsets: &offsets, starts: &starts, order: wanted.order, stretch_bytes: 8192 };
            let mut checksums = vec![0; (targets.len() * size_of::<VertexId>()).div_ceil(DIRECT_BYTES)];
            let stretch_len = lists.stretch_arcs() as usize;
            for (mut stretch, targets) in lists.stretches(&mut heads, &mut checksums).into_iter().zip(targets.chunks(stretch_len)) {
                let mut choice = wanted.choice();
                for part in targets.chunks(part_len) {
                    stretch.choose_heads(part, &mut choice);
                    stretch.taken += part.len() as u64;
                }
            }
            let split = lists.split();
            prop_assert!(split.len() > 4, "{} lists in several stretches", split.len());
            for v in (0..lengths.len()).map(vertex) {
                let arcs = lists.arcs(v);
                let list = &targets[arcs.start as usize..arcs.end as usize];
                let mut head = vec![0; list.len().min(head_len)];
                let mut choice = wanted.choice();
                choice.add(list);
                choice.finish(&mut head);
                // These are read once more.
                expected.extend(if split.contains(&v) { vec![0; head.len()] } else { head });
            }
            prop_assert_eq!(heads, expected);
        }
    }
}
