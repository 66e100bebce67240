//! Lists of vertices, one after another: where each begins, their targets, and properties beside the targets.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{Run, VertexId};

use crate::error::{Error, Result};
use crate::format::{Column, Values};

/// Lists of all vertices, or of those in a directory. The *slot* of a list is its place among them: without a directory,
/// the vertex.
///
/// Nothing read from disk is used as a position before it was checked: the methods that take a [`Run`] verify all of a
/// column once, and the numbers in it during the same pass; the others verify the blocks that they touch.
#[derive(Debug)]
pub struct ListColumns {
    /// The directory: vertices, ascending.
    vertices: Option<Column<VertexId>>,
    offsets: Column<u64>,
    targets: Column<VertexId>,
    properties: Vec<Values>,
    /// A weight of no size for each arc.
    units: Vec<()>,
    /// All vertices are below.
    num_vertices: u64,
    vertices_sound: AtomicBool,
    offsets_sound: AtomicBool,
    targets_sound: AtomicBool,
}

/// The columns to make lists of.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) vertices: Option<Column<VertexId>>,
    pub(super) offsets: Column<u64>,
    pub(super) targets: Column<VertexId>,
    pub(super) properties: Vec<Values>,
}

impl ListColumns {
    /// Checks that the lengths are what the manifest says.
    pub(super) fn new(columns: Columns, num_vertices: u64, num_lists: u64, num_arcs: u64) -> Result<Self> {
        let Columns { vertices, offsets, targets, properties } = columns;
        if let Some(vertices) = &vertices {
            vertices.expect_len(num_lists)?;
        }
        offsets.expect_len(num_lists.saturating_add(1))?;
        targets.expect_len(num_arcs)?;
        for values in &properties {
            values.expect_len(num_arcs)?;
        }
        let [vertices_sound, offsets_sound, targets_sound] = [(); 3].map(|()| AtomicBool::new(false));
        let units = vec![(); targets.len()];
        Ok(Self {
            vertices,
            offsets,
            targets,
            properties,
            units,
            num_vertices,
            vertices_sound,
            offsets_sound,
            targets_sound,
        })
    }

    /// Number of lists.
    pub fn num_lists(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of arcs in all lists.
    pub fn num_arcs(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is a list for every vertex, so that slots are vertices.
    pub fn is_dense(&self) -> bool {
        self.vertices.is_none()
    }

    /// The values of an edge property, beside the targets.
    pub fn property(&self, number: usize) -> Option<&Values> {
        self.properties.get(number)
    }

    /// All edge properties, by number.
    pub fn properties(&self) -> &[Values] {
        &self.properties
    }

    /// As many weights of no size as there are arcs.
    pub fn units(&self) -> &[()] {
        &self.units
    }

    /// The column of the directory, if there is one.
    pub fn vertices_column(&self) -> Option<&Column<VertexId>> {
        self.vertices.as_ref()
    }

    /// The column of offsets.
    pub fn offsets_column(&self) -> &Column<u64> {
        &self.offsets
    }

    /// The column of targets.
    pub fn targets_column(&self) -> &Column<VertexId> {
        &self.targets
    }

    /// The directory, if there is one. The first call verifies its checksums, and that it ascends.
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
                    return Err(column
                        .corrupt(index.min(vertices.len() - 1), "vertices do not ascend as they should"));
                }
                Ok(())
            })?;
            self.vertices_sound.store(true, Ordering::Release);
        }
        column.all(run).map(Some)
    }

    /// All offsets. The first call verifies their checksums, and that they ascend from 0 to the number of arcs.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn offsets(&self, run: &Run) -> Result<&[u64]> {
        if !self.offsets_sound.load(Ordering::Acquire) {
            self.offsets.inspect(run, |offsets, range| self.inspect_offsets(offsets, range))?;
            self.offsets_sound.store(true, Ordering::Release);
        }
        self.offsets.all(run)
    }

    /// All targets. The first call verifies their checksums, and that each is a vertex.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn targets(&self, run: &Run) -> Result<&[VertexId]> {
        if !self.targets_sound.load(Ordering::Acquire) {
            self.targets
                .inspect(run, |targets, range| self.check_targets(&targets[range.clone()], range.start))?;
            self.targets_sound.store(true, Ordering::Release);
        }
        self.targets.all(run)
    }

    /// The slot of the list of `v`, if it has one.
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

    /// The vertex whose list has a slot.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot.
    pub fn vertex_at(&self, slot: usize) -> Result<VertexId> {
        match &self.vertices {
            Some(vertices) => vertices.at(slot),
            None if slot < self.num_lists() => Ok(slot as VertexId),
            None => Err(self.offsets.corrupt(slot, format!("there is no list {slot}"))),
        }
    }

    /// Where a list lies in the targets and properties.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot.
    #[inline]
    pub fn range(&self, slot: usize) -> Result<Range<usize>> {
        let bounds = self.offsets.get(slot..slot.saturating_add(2))?;
        if bounds[0] > bounds[1] || bounds[1] > self.targets.len() as u64 {
            return Err(self.bad_offset(slot + 1));
        }
        Ok(bounds[0] as usize..bounds[1] as usize)
    }

    /// Targets of a range that [`ListColumns::range`] gave, or of a part of it.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if an entry is not a vertex.
    #[inline]
    pub fn some_targets(&self, range: Range<usize>) -> Result<&[VertexId]> {
        let start = range.start;
        let targets = self.targets.get(range)?;
        if !self.targets_sound.load(Ordering::Acquire) {
            self.check_targets(targets, start)?;
        }
        Ok(targets)
    }

    fn inspect_offsets(&self, offsets: &[u64], range: Range<usize>) -> Result<()> {
        let first = range.start.saturating_sub(1);
        let checked = &offsets[first..range.end];
        if !checked.is_sorted() {
            let wrong = checked.windows(2).position(|pair| pair[0] > pair[1]).unwrap_or(0);
            return Err(self.bad_offset(first + wrong + 1));
        }
        if range.start == 0 && offsets[0] != 0 {
            return Err(self.bad_offset(0));
        }
        if range.end == offsets.len() && offsets[range.end - 1] != self.targets.len() as u64 {
            return Err(self.bad_offset(range.end - 1));
        }
        Ok(())
    }

    fn check_targets(&self, targets: &[VertexId], first: usize) -> Result<()> {
        let n = self.num_vertices;
        // A maximum is a loop without branches, which the compiler vectorises.
        let largest = targets.iter().fold(0, |largest, &target| largest.max(target));
        if targets.is_empty() || u64::from(largest) < n {
            return Ok(());
        }
        let wrong = targets.iter().position(|&target| u64::from(target) >= n).unwrap_or(0);
        Err(self.targets.corrupt(first + wrong, format!("vertex {largest} in a graph of {n} vertices")))
    }

    fn bad_offset(&self, index: usize) -> Error {
        self.offsets.corrupt(index, format!("offsets do not ascend from 0 to {}", self.targets.len()))
    }

    /// The files, for reports.
    pub fn files(&self) -> Vec<PathBuf> {
        let fixed = [self.offsets.path(), self.targets.path()];
        let vertices = self.vertices.iter().map(Column::path);
        let properties = self.properties.iter().map(Values::path);
        fixed.into_iter().chain(vertices).chain(properties).map(Path::to_owned).collect()
    }
}
