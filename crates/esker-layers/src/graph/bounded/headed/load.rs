//! Loads heads from their files, and compares them with the lists.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Error, HeadOrder, Result};
use esker_graph::{Run, VertexId, vertex};

use super::degrees::WantedHeads;
use super::head_lengths::{HeadStarts, LastHead, all_entries, entries, head_units, units_of};
use super::side::{HeadedSide, TailFile, room_for};
use super::stored::StoredSide;
use crate::graph::mapped::dense::{DenseArrays, DenseLists};
use crate::layer::ListExtents;

/// Pages that are compared with their checksums at a time.
const UNIT_PAGES: usize = 1 << 10;

impl<'a> HeadedSide<'a> {
    /// Takes heads of length `head_len` from a file of heads that are not shorter. With `ascending`, heads of
    /// whole lists are put in the order of the lists.
    pub(super) fn load(
        disk: &Arc<dyn Disk>,
        lists: DenseLists<'a>,
        stored: &StoredSide,
        head_len: usize,
        ascending: bool,
        run: &Run,
    ) -> Result<Self> {
        let extents = &lists.extents();
        let mut file = TailFile::open(disk.as_ref(), lists)?;
        file.set_checksums(stored.sums(file.num_pages(), run)?.to_vec());
        let (starts, places) = (HeadStarts::new(extents, head_len), stored.places(extents)?);
        let mut heads = room_for(all_entries(extents, head_len))?;
        let units = head_units(extents, head_len, &mut heads);
        run.share(
            units.len(),
            || (),
            |(), unit| {
                let mut unit = units[unit].lock();
                let (vertices, own) = &mut *unit;
                let found = stored.some(extents, &places, vertices.clone())?;
                take_first(found, own, extents, vertices.clone(), stored.head_len, head_len);
                if ascending && stored.order != HeadOrder::First {
                    sort_whole_lists(own, extents, vertices.clone(), head_len);
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
        Ok(Self { lists, starts, order: stored.order, heads, file })
    }
}

impl StoredSide {
    /// The checksums of all pages with tails.
    fn sums(&self, num_pages: usize, run: &Run) -> Result<&[u32]> {
        self.sums.expect_len(num_pages as u64)?;
        self.sums.all(run)
    }

    /// Where each head begins.
    fn places(&self, lists: &ListExtents<'_>) -> Result<HeadStarts> {
        self.heads.expect_len(all_entries(lists, self.head_len) as u64)?;
        Ok(HeadStarts::new(lists, self.head_len))
    }

    /// The heads of some vertices, verified.
    fn some(
        &self,
        lists: &ListExtents<'_>,
        places: &HeadStarts,
        vertices: Range<usize>,
    ) -> Result<&[VertexId]> {
        let start = places.at(lists, vertex(vertices.start), &mut LastHead::default());
        let len = entries(lists, vertices, places.head_len());
        self.heads.will_need(start..start + len);
        let heads = self.heads.get(start..start + len)?;
        let num_vertices = lists.len();
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
        lists: DenseLists<'_>,
        wanted: &WantedHeads<'_>,
        run: &Run,
    ) -> Result<()> {
        let (extents, head_len) = (&lists.extents(), self.head_len);
        let places = self.places(extents)?;
        let mut file = TailFile::open(disk, lists)?;
        let num_pages = file.num_pages();
        file.set_checksums(self.sums(num_pages, run)?.to_vec());
        run.share_ranges(num_pages, UNIT_PAGES, || (), |(), pages| file.verify_pages(pages))?;
        let units: Vec<_> = units_of(extents.len()).collect();
        run.share(
            units.len(),
            || (wanted.choice(), Vec::new()),
            |(choice, chosen), unit| {
                let mut found = self.some(extents, &places, units[unit].clone())?;
                for v in units[unit].clone() {
                    let degree = extents.degree(v);
                    let len = degree.min(head_len);
                    let (head, others) = found.split_at(len);
                    found = others;
                    let (is_right, expected) = match wanted.order {
                        HeadOrder::First => {
                            (head == first_of(lists, v, len)?.as_ref(), "is not the beginning of its list")
                        }
                        HeadOrder::Degree => {
                            choice.add(&first_of(lists, v, degree)?);
                            chosen.resize(len, 0);
                            choice.finish(chosen);
                            (head == chosen.as_slice(), "does not hold its neighbours of highest degree")
                        }
                    };
                    if !is_right {
                        let at = places.at(extents, vertex(v), &mut LastHead::default());
                        return Err(self.heads.corrupt(at, format!("the head of vertex {v} {expected}")));
                    }
                }
                Ok(())
            },
        )?;
        Ok(())
    }
}

/// The first neighbours of a vertex, verified.
fn first_of<'l>(lists: DenseLists<'l>, v: usize, len: usize) -> Result<Cow<'l, [VertexId]>> {
    match lists {
        DenseLists::Arrays(DenseArrays { arrays, offsets }) => {
            let start = offsets[v] as usize;
            arrays.some_targets(start..start + len).map(Cow::Borrowed)
        }
        DenseLists::Coded(dense) => {
            let mut targets = dense.coded.list(v)?.1;
            targets.truncate(len);
            Ok(Cow::Owned(targets))
        }
    }
}

/// Takes the first entries of the heads of some vertices.
fn take_first(
    heads: &[VertexId],
    own: &mut [VertexId],
    lists: &ListExtents<'_>,
    vertices: Range<usize>,
    stored_len: usize,
    head_len: usize,
) {
    if stored_len == head_len {
        own.copy_from_slice(heads);
        return;
    }
    let (mut from, mut to) = (0, 0);
    for degree in vertices.map(|v| lists.degree(v)) {
        let len = degree.min(head_len);
        own[to..to + len].copy_from_slice(&heads[from..from + len]);
        (from, to) = (from + degree.min(stored_len), to + len);
    }
}

/// Puts the heads of some vertices that hold whole lists in the order of the lists.
fn sort_whole_lists(
    mut heads: &mut [VertexId],
    lists: &ListExtents<'_>,
    vertices: Range<usize>,
    head_len: usize,
) {
    for degree in vertices.map(|v| lists.degree(v)) {
        let (head, rest) = std::mem::take(&mut heads).split_at_mut(degree.min(head_len));
        heads = rest;
        if degree <= head_len {
            head.sort_unstable();
        }
    }
}
