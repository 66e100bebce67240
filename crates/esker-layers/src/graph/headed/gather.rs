//! Gathering heads from the lists: all of them are read once, past the page cache, and verified.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use esker_format::io::{DIRECT_BYTES, Disk, Frame, Read, Reads};
use esker_format::{BLOCK_BYTES, Column, HeadOrder, Result};
use esker_graph::{Run, VertexId, vertex};

use super::degrees::{HeadChoice, ListDegrees};
use super::share::{HeadStarts, LastHead, entries};
use super::side::{HeadedSide, TailFile, room_for};

/// Bytes per read.
const GATHER_BYTES: usize = 16 * BLOCK_BYTES;
/// Reads under way, of all threads together. Each thread has at least two.
const GATHER_DEPTH: usize = 8;
/// Bytes of the stretch that a thread gathers from at a time: whole blocks. Few in tests, so that there are several.
const STRETCH_BYTES: u64 = if cfg!(test) { 2 * BLOCK_BYTES as u64 } else { 32 << 20 };
/// Arcs of a list that are read at a time if the list lies in several stretches.
const PART_ARCS: u64 = 1 << 16;

/// Which heads to gather.
#[derive(Clone, Copy)]
pub(super) struct WantedHeads<'a> {
    pub(super) head_len: usize,
    pub(super) order: HeadOrder,
    pub(super) degrees: ListDegrees<'a>,
}

impl<'a> WantedHeads<'a> {
    pub(super) fn choice(&self) -> HeadChoice<'a> {
        HeadChoice::new(self.degrees, self.head_len)
    }
}

/// Reads under way per thread while `threads` threads gather heads.
fn gather_depth(threads: usize) -> usize {
    (GATHER_DEPTH / threads).max(2)
}

impl<'a> HeadedSide<'a> {
    /// Bytes of memory needed while heads are gathered.
    pub(super) fn gather_bytes(threads: usize) -> u64 {
        threads as u64 * ((gather_depth(threads) * GATHER_BYTES) as u64 + HeadChoice::bytes())
    }

    /// Reads all lists once, verifies them, and keeps their heads.
    pub(super) fn gather(
        disk: &Arc<dyn Disk>,
        offsets: &'a [u64],
        targets: &Column<VertexId>,
        wanted: &WantedHeads<'a>,
        run: &Run,
    ) -> Result<Self> {
        let starts = HeadStarts::new(offsets, wanted.head_len);
        let mut file = TailFile::open(disk.as_ref(), targets)?;
        let mut heads = room_for(entries(&[offsets], wanted.head_len as u64) as usize)?;
        let mut checksums = vec![0; file.num_pages()];
        let stretch_bytes =
            if file.is_apart() { STRETCH_BYTES } else { (checksums.len() * DIRECT_BYTES) as u64 };
        let lists = StretchedLists { offsets, starts: &starts, order: wanted.order, stretch_bytes };
        let name = file.path().display().to_string();
        file.count = run.reads().of(name.as_str(), "gathering heads");
        if file.is_apart() {
            file.count.add_read(file.bytes());
            let stretches = lists.stretches(&mut heads, &mut checksums);
            let stretches: Vec<_> = stretches.into_iter().map(Mutex::new).collect();
            run.share(
                stretches.len(),
                || None,
                |worker: &mut Option<(Gather, HeadChoice<'_>)>, unit| {
                    let mut stretch = stretches[unit].lock().unwrap_or_else(PoisonError::into_inner);
                    let start = unit as u64 * STRETCH_BYTES;
                    let bytes = start..file.bytes().min(start + STRETCH_BYTES);
                    let (reader, choice) = match worker {
                        Some(worker) => worker,
                        None => {
                            worker.insert((Gather::new(&file, gather_depth(run.threads()))?, wanted.choice()))
                        }
                    };
                    reader.read(&file, bytes, |pages| {
                        run.check()?;
                        stretch.take(pages, 0, targets, choice)
                    })
                },
            )?;
        } else {
            // One of several small columns in a file of at most a megabyte: see `esker_format::Archive`.
            let (words, skip) = file.read_all()?;
            let pages = &bytemuck::cast_slice(&words)[..file.bytes() as usize];
            for mut stretch in lists.stretches(&mut heads, &mut checksums) {
                stretch.take(pages, skip, targets, &mut wanted.choice())?;
            }
        }
        file.set_checksums(checksums);
        if wanted.order == HeadOrder::Degree {
            for v in lists.split() {
                let start = starts.at(offsets, v, &mut LastHead::default());
                let arcs = lists.arcs(v);
                let head = &mut heads[start..][..((arcs.end - arcs.start) as usize).min(wanted.head_len)];
                choose_in_parts(&file, arcs, &mut wanted.choice(), head, run)?;
            }
        }
        file.count = run.reads().of(name, "tails");
        Ok(Self { offsets, starts, order: wanted.order, heads, file })
    }
}

/// Chooses the head of a list that is read once more.
fn choose_in_parts(
    file: &TailFile,
    arcs: Range<u64>,
    choice: &mut HeadChoice<'_>,
    head: &mut [VertexId],
    run: &Run,
) -> Result<()> {
    let mut part = Vec::new();
    for start in arcs.clone().step_by(PART_ARCS as usize) {
        run.check()?;
        part.clear();
        file.read_some(start..arcs.end.min(start + PART_ARCS), &mut part)?;
        choice.add(&part);
    }
    choice.finish(head);
    Ok(())
}

/// Lists that are gathered from in stretches of their bytes.
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
    /// The vertices whose heads are still to be gathered here. Of the first ones, the next bytes continue the list.
    lists: Range<usize>,
    /// Number of targets before the next bytes.
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

    /// Where the head of a list begins; of the list behind the last one, where the heads end.
    fn start_of(&self, list: usize, num_heads: usize) -> usize {
        if list + 1 < self.offsets.len() {
            self.starts.at(self.offsets, vertex(list), &mut LastHead::default())
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

    /// All stretches of a column in order. Chosen heads need whole lists, so stretches leave out those of the lists that they share.
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
                // Including a part of the last one.
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
    /// Gathers from the next pages. The first `skip` bytes are not targets.
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

    /// The places of the next heads.
    fn next_heads(&mut self, len: usize) -> &mut [VertexId] {
        let (own, rest) = std::mem::take(&mut self.heads).split_at_mut(len);
        self.heads = rest;
        own
    }
}

/// One thread's reader of stretches.
struct Gather {
    reads: Box<dyn Reads>,
    free: Vec<Frame>,
}

impl Gather {
    fn new(file: &TailFile, depth: usize) -> Result<Self> {
        let free = Frame::make(depth, GATHER_BYTES)?;
        Ok(Self { reads: file.reads(depth, &free)?, free })
    }

    /// Calls `take` with the bytes of a range, in order, whole blocks at a time. Must not be called again after an error.
    fn read(
        &mut self,
        file: &TailFile,
        range: Range<u64>,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Self { reads, free } = self;
        let depth = free.len();
        let count = (range.end - range.start).div_ceil(GATHER_BYTES as u64) as usize;
        let (mut asked, mut taken) = (0, 0);
        let (mut asks, mut done) = (Vec::new(), Vec::new());
        let mut ahead: Vec<Option<Read>> = (0..depth).map(|_| None).collect();
        while taken < count {
            while asked < count
                && let Some(frame) = free.pop()
            {
                let at = range.start + asked as u64 * GATHER_BYTES as u64;
                let bytes = (range.end - at).min(GATHER_BYTES as u64) as usize;
                asks.push(Read { tag: asked, frame, offset: file.base + at, bytes });
                asked += 1;
            }
            reads.begin(&mut asks)?;
            reads.finish(true, &mut done)?;
            for (read, result) in done.drain(..) {
                result?;
                let slot = read.tag % depth;
                ahead[slot] = Some(read);
            }
            while let Some(read) = ahead[taken % depth].take() {
                take(&read.frame[..read.bytes])?;
                free.push(read.frame);
                taken += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
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
            let starts = HeadStarts::new(&offsets, head_len);
            let (mut heads, mut expected) = (vec![0; entries(&[&offsets], head_len as u64) as usize], Vec::new());
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
