//! Neighbour lists in columns: the offset of each list, the targets, and the edge properties parallel to the
//! targets.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use esker_format::{Column, Error, PageHint, Result, Values};
use esker_graph::{Run, VertexId};

use super::arrays::Arrays;
use super::coded::{Coded, CodedColumns};
use super::extents::{AllLists, List, ListExtents};
use super::tiled::TiledLists;
use crate::tiles::Tiles;

/// The lists of all vertices, or of the vertices in a directory. The *slot* of a list is its index; without a
/// directory it is the vertex id.
///
/// No number read from disk serves as a position before it was checked. Methods that take a [`Run`] verify a
/// whole column once, and its numbers in the same pass; the other methods verify the blocks that they touch.
#[derive(Debug)]
pub struct ListColumns {
    /// The directory: vertices in ascending order.
    vertices: Option<Column<VertexId>>,
    body: Body,
    properties: Vec<Values>,
    /// One zero-sized weight for each arc, for unweighted scans.
    units: Vec<()>,
    /// All vertex ids are below this number.
    num_vertices: u64,
    vertices_sound: AtomicBool,
}

/// The encoding of the lists.
#[derive(Debug)]
pub enum Body {
    /// Plain arrays of ids.
    Arrays(Arrays),
    /// Compressed blocks, in a complete layer only.
    Coded(Coded),
    /// Only tiles, in a complete layer.
    Tiled(TiledLists),
}

/// The columns of a [`ListColumns`].
#[derive(Debug)]
pub(super) struct OpenedColumns {
    pub(super) vertices: Option<Column<VertexId>>,
    pub(super) body: Body,
    pub(super) properties: Vec<Values>,
}

impl ListColumns {
    /// Checks that the column lengths match the manifest.
    pub(super) fn new(columns: OpenedColumns, num_vertices: u64) -> Result<Self> {
        let OpenedColumns { vertices, body, properties } = columns;
        let (num_lists, num_arcs) = match &body {
            Body::Arrays(arrays) => (arrays.num_lists(), arrays.num_arcs()),
            Body::Coded(coded) => (coded.num_lists(), coded.num_arcs()),
            Body::Tiled(tiled) => (tiled.num_lists(), tiled.num_arcs()),
        };
        if let Some(vertices) = &vertices {
            vertices.expect_len(num_lists as u64)?;
        }
        for values in &properties {
            values.expect_len(num_arcs as u64)?;
        }
        let units = vec![(); num_arcs];
        Ok(Self { vertices, body, properties, units, num_vertices, vertices_sound: AtomicBool::new(false) })
    }

    /// Number of lists.
    pub fn num_lists(&self) -> usize {
        match &self.body {
            Body::Arrays(arrays) => arrays.num_lists(),
            Body::Coded(coded) => coded.num_lists(),
            Body::Tiled(tiled) => tiled.num_lists(),
        }
    }

    /// Number of arcs in all lists.
    pub fn num_arcs(&self) -> usize {
        self.units.len()
    }

    /// The tiles, if the lists are kept only as tiles.
    pub fn tiles(&self) -> Option<&Tiles> {
        match &self.body {
            Body::Tiled(tiled) => Some(tiled.tiles()),
            Body::Arrays(_) | Body::Coded(_) => None,
        }
    }

    /// The stored lists.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Whether every vertex has a list, so that slots are vertex ids.
    pub fn is_dense(&self) -> bool {
        self.vertices.is_none()
    }

    /// The values of an edge property, parallel to the targets.
    pub fn property(&self, number: usize) -> Option<&Values> {
        self.properties.get(number)
    }

    /// All edge properties, by number.
    pub fn properties(&self) -> &[Values] {
        &self.properties
    }

    /// One zero-sized weight for each arc.
    pub(crate) fn units(&self) -> &[()] {
        &self.units
    }

    /// The column of the directory; `None` if the lists are dense.
    pub fn vertices_column(&self) -> Option<&Column<VertexId>> {
        self.vertices.as_ref()
    }

    /// The directory; `None` if the lists are dense. The first call verifies its checksums and that it
    /// ascends.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn vertices(&self, run: &Run) -> Result<Option<&[VertexId]>> {
        let Some(column) = &self.vertices else { return Ok(None) };
        if !self.vertices_sound.load(Ordering::Acquire) {
            column.inspect(run, |vertices, range| {
                let checked = &vertices[range.start.saturating_sub(1)..range.end];
                let wrong = checked.windows(2).position(|pair| pair[0] >= pair[1]);
                let too_large = checked.last().is_some_and(|&v| u64::from(v) >= self.num_vertices);
                if wrong.is_some() || too_large {
                    let index = range.start + wrong.unwrap_or(checked.len() - 1);
                    return Err(column.corrupt(
                        index.min(vertices.len() - 1),
                        "the vertices of a directory do not ascend, or one is too large",
                    ));
                }
                Ok(())
            })?;
            self.vertices_sound.store(true, Ordering::Release);
        }
        column.all(run).map(Some)
    }

    /// The range of arcs of each list. The first call verifies the ranges.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub(crate) fn extents(&self, run: &Run) -> Result<ListExtents<'_>> {
        match &self.body {
            Body::Arrays(arrays) => arrays.offsets(run).map(ListExtents::Offsets),
            Body::Coded(coded) => coded.index(run).map(ListExtents::Index),
            Body::Tiled(tiled) => tiled.offsets(run).map(ListExtents::Offsets),
        }
    }

    /// All lists. The first call verifies their checksums and that each target is a vertex id; the latter not
    /// of lists that are kept only as tiles, which are verified as they are decoded.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn all(&self, run: &Run) -> Result<AllLists<'_>> {
        match &self.body {
            Body::Arrays(arrays) => arrays.all(run),
            Body::Coded(coded) => coded.all(run).map(AllLists::Coded),
            Body::Tiled(lists) => {
                let offsets = lists.verified_offsets(run)?;
                Ok(AllLists::Tiled { offsets, lists })
            }
        }
    }

    /// As [`ListColumns::all`], but checksums of tiles are compared as these are decoded: for callers that
    /// read few lists.
    ///
    /// # Errors
    /// As [`ListColumns::all`].
    pub fn all_as_read(&self, run: &Run) -> Result<AllLists<'_>> {
        match &self.body {
            Body::Tiled(lists) => Ok(AllLists::Tiled { offsets: lists.offsets(run)?, lists }),
            Body::Arrays(_) | Body::Coded(_) => self.all(run),
        }
    }

    /// The slot of the list of `v`; `None` if `v` has no list.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn slot_of(&self, v: VertexId) -> Result<Option<usize>> {
        let Some(vertices) = &self.vertices else {
            return Ok(((v as usize) < self.num_lists()).then_some(v as usize));
        };
        let (mut low, mut high) = (0, vertices.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match vertices.at(middle)?.cmp(&v) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// The range of arcs of a list.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot.
    #[inline]
    pub fn range(&self, slot: usize) -> Result<Range<usize>> {
        match &self.body {
            Body::Arrays(arrays) => arrays.range(slot),
            Body::Coded(coded) => coded.range(slot),
            Body::Tiled(tiled) => tiled.range(slot),
        }
    }

    /// Reads a list.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot, or an entry is not a vertex.
    #[inline]
    pub fn list(&self, slot: usize) -> Result<List<'_>> {
        match &self.body {
            Body::Arrays(arrays) => arrays.list(slot),
            Body::Coded(coded) => {
                let (start, targets) = coded.list(slot)?;
                Ok(List { start, targets: Cow::Owned(targets) })
            }
            Body::Tiled(tiled) => {
                let (start, targets) = tiled.list(slot)?;
                Ok(List { start, targets: Cow::Owned(targets) })
            }
        }
    }

    /// The arcs of a list that lead to `target`; more than one only in a multigraph. Takes time logarithmic
    /// in the list's length, or linear if the lists are compressed.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot.
    pub(crate) fn find(&self, slot: usize, target: VertexId) -> Result<Range<usize>> {
        match &self.body {
            Body::Arrays(arrays) => arrays.find(slot, target),
            Body::Coded(_) | Body::Tiled(_) => {
                let List { start, targets } = self.list(slot)?;
                let first = targets.partition_point(|&other| other < target);
                let same = targets[first..].iter().take_while(|&&other| other == target).count();
                Ok(start + first..start + first + same)
            }
        }
    }

    /// A corruption error about the target of an arc.
    pub fn corrupt(&self, arc: usize, reason: impl Into<String>) -> Error {
        match &self.body {
            Body::Arrays(arrays) => arrays.targets_column().corrupt(arc, reason),
            // Finding the byte would take a search; the reason already names the list.
            Body::Coded(coded) => coded.columns().lists.corrupt(0, reason),
            Body::Tiled(tiled) => tiled.tiles().data().corrupt(0, reason),
        }
    }

    /// Bytes of the files of the lists, without directory and properties.
    pub fn list_bytes(&self) -> u64 {
        match &self.body {
            Body::Arrays(arrays) => {
                arrays.offsets_column().file_bytes() + arrays.targets_column().file_bytes()
            }
            Body::Coded(coded) => {
                let CodedColumns { groups, sizes, lists, blocks } = coded.columns();
                groups.file_bytes() + sizes.file_bytes() + lists.file_bytes() + blocks.file_bytes()
            }
            Body::Tiled(tiled) => tiled.offsets_column().file_bytes() + tiled.tiles().file_bytes(),
        }
    }

    /// Returns to the system the memory that point reads have filled: see [`esker_format::io::Map::release`].
    pub(crate) fn release(&self) {
        self.hint(PageHint::Release);
    }

    /// Hint: the directory and the ends of these lists will be read soon, of plain lists.
    pub(crate) fn will_need_slots(&self, slots: Range<usize>) {
        self.vertices.iter().for_each(|vertices| vertices.will_need(slots.clone()));
        if let Body::Arrays(arrays) = &self.body {
            arrays.offsets_column().will_need(slots.start..slots.end + 1);
        }
    }

    /// Hint: the targets of these arcs will be read soon, of plain lists.
    pub(crate) fn will_need_targets(&self, arcs: Range<usize>) {
        if let Body::Arrays(arrays) = &self.body {
            arrays.targets_column().will_need(arcs);
        }
    }

    /// Gives the system a hint about the pages of all columns but the directory.
    pub(super) fn hint(&self, hint: PageHint) {
        match &self.body {
            Body::Arrays(arrays) => {
                arrays.offsets_column().hint(hint);
                arrays.targets_column().hint(hint);
            }
            Body::Coded(coded) => {
                let CodedColumns { groups, sizes, lists, blocks } = coded.columns();
                groups.hint(hint);
                sizes.hint(hint);
                lists.hint(hint);
                blocks.hint(hint);
            }
            Body::Tiled(tiled) => tiled.hint(hint),
        }
        self.properties.iter().for_each(|values| values.hint(hint));
    }
}
