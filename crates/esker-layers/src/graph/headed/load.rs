//! Taking heads from their files, and comparing them with the lists.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use esker_format::io::Disk;
use esker_format::{Column, Error, HeadOrder, Result};
use esker_graph::{Run, VertexId, vertex};

use super::gather::WantedHeads;
use super::share::{HeadStarts, LastHead, entries};
use super::side::{HeadedSide, TailFile, room_for};
use super::stored::StoredSide;
use crate::layer::Arrays;

/// Vertices whose heads a thread takes at a time. Few in tests, so that there are several units.
const UNIT_VERTICES: usize = if cfg!(test) { 64 } else { 1 << 14 };
/// Pages that are compared with their checksums at a time.
const UNIT_PAGES: usize = 1 << 10;

impl<'a> HeadedSide<'a> {
    /// Takes heads of length `head_len` from a file of heads of length `stored_len`, which is not less. With `ascending`, heads of whole lists
    /// are put in the order of the lists.
    pub(super) fn load(
        disk: &Arc<dyn Disk>,
        offsets: &'a [u64],
        targets: &Column<VertexId>,
        (stored, stored_len, order): (&StoredSide, usize, HeadOrder),
        (head_len, ascending): (usize, bool),
        run: &Run,
    ) -> Result<Self> {
        let mut file = TailFile::open(disk.as_ref(), targets)?;
        file.set_checksums(stored.sums(file.num_pages(), run)?.to_vec());
        let (starts, places) = (HeadStarts::new(offsets, head_len), stored.places(offsets, stored_len)?);
        let mut heads = room_for(entries(&[offsets], head_len as u64) as usize)?;
        let mut rest = heads.as_mut_slice();
        let mut units = Vec::new();
        for vertices in units_of(offsets.len() - 1) {
            let len = entries(&[&offsets[vertices.start..=vertices.end]], head_len as u64) as usize;
            let (own, others) = std::mem::take(&mut rest).split_at_mut(len);
            units.push(Mutex::new((vertices, own)));
            rest = others;
        }
        run.share(
            units.len(),
            || (),
            |(), unit| {
                let mut unit = units[unit].lock().unwrap_or_else(PoisonError::into_inner);
                let (vertices, own) = &mut *unit;
                let found = stored.some(offsets, &places, vertices.clone())?;
                let offsets = &offsets[vertices.start..=vertices.end];
                take_first(found, own, offsets, (stored_len, head_len));
                if ascending && order != HeadOrder::First {
                    sort_whole_lists(own, offsets, head_len);
                }
                Ok::<(), Error>(())
            },
        )?;
        let name = |path: &std::path::Path| path.display().to_string();
        let bytes = (stored.heads.len() * size_of::<VertexId>()) as u64;
        run.reads().of(name(stored.heads.path()), "stored heads").add_read(bytes);
        file.count = run.reads().of(name(file.path()), "tails");
        // They are in memory now; the pages of their file need not be.
        stored.heads.release();
        Ok(Self { offsets, starts, order, heads, file })
    }
}

impl StoredSide {
    /// The checksums of all pages with tails.
    fn sums(&self, num_pages: usize, run: &Run) -> Result<&[u32]> {
        self.sums.expect_len(num_pages as u64)?;
        self.sums.all(run)
    }

    /// Where each head begins.
    fn places(&self, offsets: &[u64], head_len: usize) -> Result<HeadStarts> {
        self.heads.expect_len(entries(&[offsets], head_len as u64))?;
        Ok(HeadStarts::new(offsets, head_len))
    }

    /// The heads of some vertices, verified.
    fn some(&self, offsets: &[u64], places: &HeadStarts, vertices: Range<usize>) -> Result<&[VertexId]> {
        let start = places.at(offsets, vertex(vertices.start), &mut LastHead::default());
        let len = entries(&[&offsets[vertices.start..=vertices.end]], places.head_len() as u64) as usize;
        self.heads.will_need(start..start + len);
        let heads = self.heads.get(start..start + len)?;
        let num_vertices = offsets.len() - 1;
        match heads.iter().position(|&target| target as usize >= num_vertices) {
            None => Ok(heads),
            Some(at) => {
                let reason = format!(
                    "vertex {} in a graph of {}",
                    heads[at],
                    esker_graph::counted(num_vertices, "vertex", "vertices")
                );
                Err(self.heads.corrupt(start + at, reason))
            }
        }
    }

    /// Compares the heads with the lists, and the checksums with the pages.
    pub(super) fn verify(
        &self,
        disk: &dyn Disk,
        lists: &Arrays,
        wanted: &WantedHeads<'_>,
        run: &Run,
    ) -> Result<()> {
        let (offsets, head_len) = (lists.offsets(run)?, wanted.head_len);
        let places = self.places(offsets, head_len)?;
        let mut file = TailFile::open(disk, lists.targets_column())?;
        let num_pages = file.num_pages();
        file.set_checksums(self.sums(num_pages, run)?.to_vec());
        run.share_ranges(num_pages, UNIT_PAGES, || (), |(), pages| file.verify_pages(pages))?;
        let units: Vec<_> = units_of(offsets.len() - 1).collect();
        run.share(
            units.len(),
            || (wanted.choice(), Vec::new()),
            |(choice, chosen), unit| {
                let mut found = self.some(offsets, &places, units[unit].clone())?;
                for v in units[unit].clone() {
                    let (start, end) = (offsets[v] as usize, offsets[v + 1] as usize);
                    let len = (end - start).min(head_len);
                    let (head, others) = found.split_at(len);
                    found = others;
                    let (is_right, expected) = match wanted.order {
                        HeadOrder::First => (
                            head == lists.some_targets(start..start + len)?,
                            "is not the beginning of its list",
                        ),
                        HeadOrder::Degree => {
                            choice.add(lists.some_targets(start..end)?);
                            chosen.resize(len, 0);
                            choice.finish(chosen);
                            (head == chosen.as_slice(), "does not hold its neighbours of highest degree")
                        }
                    };
                    if !is_right {
                        let at = places.at(offsets, vertex(v), &mut LastHead::default());
                        return Err(self.heads.corrupt(at, format!("the head of vertex {v} {expected}")));
                    }
                }
                Ok(())
            },
        )?;
        Ok(())
    }
}

fn units_of(num_vertices: usize) -> impl Iterator<Item = Range<usize>> {
    (0..num_vertices).step_by(UNIT_VERTICES).map(move |first| first..num_vertices.min(first + UNIT_VERTICES))
}

/// Takes the first entries of each head. `offsets` are those of the lists of these vertices.
fn take_first(
    heads: &[VertexId],
    own: &mut [VertexId],
    offsets: &[u64],
    (stored_len, head_len): (usize, usize),
) {
    if stored_len == head_len {
        own.copy_from_slice(heads);
        return;
    }
    let (mut from, mut to) = (0, 0);
    for pair in offsets.windows(2) {
        let degree = (pair[1] - pair[0]) as usize;
        let len = degree.min(head_len);
        own[to..to + len].copy_from_slice(&heads[from..from + len]);
        (from, to) = (from + degree.min(stored_len), to + len);
    }
}

/// Puts the heads that hold whole lists in the order of the lists. `offsets` are those of the lists of these vertices.
fn sort_whole_lists(mut heads: &mut [VertexId], offsets: &[u64], head_len: usize) {
    for pair in offsets.windows(2) {
        let degree = (pair[1] - pair[0]) as usize;
        let (head, rest) = std::mem::take(&mut heads).split_at_mut(degree.min(head_len));
        heads = rest;
        if degree <= head_len {
            head.sort_unstable();
        }
    }
}
