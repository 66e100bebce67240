//! One direction of a merged layer: its columns, verified, and cursors for passes over its vertices.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{Run, VertexId};
use esker_layers::layer::{AllLists, CodeSlice, ListColumns, ListTargets, PlainLayer, Section};

use super::versions::MergedVersions;

/// Verified lists.
#[derive(Debug)]
pub(super) struct InputLists<'a> {
    pub(super) columns: &'a ListColumns,
    /// The directory; empty if every vertex has a list.
    pub(super) vertices: &'a [VertexId],
    pub(super) all: AllLists<'a>,
    /// All targets, if they are a plain array; only a complete layer may have compressed lists or tiles
    /// instead, whose targets come in windows.
    pub(super) targets: &'a [VertexId],
}

impl<'a> InputLists<'a> {
    fn new(columns: &'a ListColumns, run: &Run) -> Result<Self> {
        let all = columns.all_as_read(run)?;
        let targets = all.arrays().map_or(&[][..], |(_, targets)| targets);
        Ok(Self { columns, vertices: columns.vertices(run)?.unwrap_or(&[]), all, targets })
    }

    #[inline]
    pub(super) fn range(&self, slot: usize) -> Range<usize> {
        self.all.extents().range(slot)
    }

    /// The slot of the first vertex that is not below `v`.
    pub(super) fn slot_from(&self, v: usize) -> usize {
        if self.columns.is_dense() {
            v.min(self.all.extents().len())
        } else {
            self.vertices.partition_point(|&listed| (listed as usize) < v)
        }
    }

    /// The targets of the lists of a range of vertices.
    ///
    /// # Errors
    /// [`Error::Corrupt`], of lists in tiles alone.
    pub(super) fn window(&self, vertices: Range<usize>) -> Result<ListTargets<'a>> {
        self.all.window(self.slot_from(vertices.start)..self.slot_from(vertices.end))
    }

    /// The number of lists and arcs of vertices below `v`.
    fn entries_before(&self, v: usize) -> usize {
        let slot = self.slot_from(v);
        slot + self.all.extents().before(slot)
    }

    /// The list of `v`, if it has one. `slot` must be at or before it, and advances to it.
    #[inline]
    fn seek(&self, slot: &mut usize, v: VertexId) -> Option<Range<usize>> {
        while self.vertices.get(*slot).is_some_and(|&listed| listed < v) {
            *slot += 1;
        }
        (self.vertices.get(*slot) == Some(&v)).then(|| self.range(*slot))
    }
}

/// The tombstones.
#[derive(Debug)]
pub(super) struct InputTombstones<'a> {
    pub(super) lists: InputLists<'a>,
    pub(super) died: Option<CodeSlice<'a>>,
}

/// The past arcs.
#[derive(Debug)]
pub(super) struct InputPast<'a> {
    pub(super) lists: InputLists<'a>,
    pub(super) born: CodeSlice<'a>,
    pub(super) died: CodeSlice<'a>,
}

/// One direction of a layer to merge.
#[derive(Debug)]
pub(super) struct MergeInput<'a> {
    layer: &'a PlainLayer,
    pub(super) main: InputLists<'a>,
    pub(super) born: Option<CodeSlice<'a>>,
    /// The degrees and links of the fragments; empty in a complete layer.
    pub(super) degrees: &'a [VertexId],
    pub(super) previous: &'a [u64],
    pub(super) dead: Option<InputTombstones<'a>>,
    pub(super) past: Option<InputPast<'a>>,
    /// For each version code, the code in the merged layer.
    codes: Vec<u32>,
    /// Whether the merged layer distinguishes a version before the range of this input.
    pub(super) has_before: bool,
}

/// The progress of a pass over the vertices of an input.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InputCursor {
    dead: usize,
    past: usize,
}

impl<'a> MergeInput<'a> {
    pub(super) fn new(
        layer: &'a PlainLayer,
        section: &'a Section,
        versions: &MergedVersions,
        run: &Run,
    ) -> Result<Self> {
        let (degrees, previous) = section.links(run)?.unwrap_or((&[], &[]));
        let dead = section.dead().map(|dead| {
            let died = dead.codes.as_ref().map(|codes| codes.all(run)).transpose()?;
            Ok::<_, Error>(InputTombstones { lists: InputLists::new(&dead.lists, run)?, died })
        });
        let past = section.past().map(|past| {
            let (born, died) = (past.born.all(run)?, past.died.all(run)?);
            Ok::<_, Error>(InputPast { lists: InputLists::new(&past.lists, run)?, born, died })
        });
        Ok(Self {
            layer,
            main: InputLists::new(section.main(), run)?,
            born: section.born().map(|born| born.all(run)).transpose()?,
            degrees,
            previous,
            dead: dead.transpose()?,
            past: past.transpose()?,
            codes: versions.codes_of(layer)?,
            has_before: versions.is_any_before(layer.record().first_version),
        })
    }

    pub(super) fn is_complete(&self) -> bool {
        self.main.columns.is_dense()
    }

    /// Whether a fragment is the whole list.
    pub(super) fn is_whole(&self, slot: usize) -> bool {
        self.previous.get(slot).is_none_or(|&previous| previous == 0)
    }

    /// The merged layer's code for one of this layer's codes.
    #[inline]
    pub(super) fn code(&self, code: u32) -> Result<u32> {
        self.codes.get(code as usize).copied().ok_or_else(|| {
            let reason = format!(
                "version code {code} in a layer of {}",
                esker_graph::counted(self.codes.len() - 1, "version", "versions")
            );
            Error::corrupt(self.layer.directory(), 0, reason)
        })
    }

    /// The merged layer's code for the first version that this layer distinguishes.
    pub(super) fn first_code(&self) -> u32 {
        self.codes[1]
    }

    /// The number of lists and entries of all kinds for vertices below `v`.
    pub(super) fn entries_before(&self, v: usize) -> usize {
        let dead = self.dead.as_ref().map_or(0, |dead| dead.lists.entries_before(v));
        let past = self.past.as_ref().map_or(0, |past| past.lists.entries_before(v));
        self.main.entries_before(v) + dead + past
    }

    /// A cursor at the first vertex that is not below `v`.
    pub(super) fn cursor(&self, v: usize) -> InputCursor {
        InputCursor {
            dead: self.dead.as_ref().map_or(0, |dead| dead.lists.slot_from(v)),
            past: self.past.as_ref().map_or(0, |past| past.lists.slot_from(v)),
        }
    }

    /// The tombstones of `v`.
    pub(super) fn dead_of(
        &self,
        cursor: &mut InputCursor,
        v: VertexId,
    ) -> Option<(&InputTombstones<'a>, Range<usize>)> {
        let dead = self.dead.as_ref()?;
        dead.lists.seek(&mut cursor.dead, v).map(|range| (dead, range))
    }

    /// The past arcs of `v`.
    pub(super) fn past_of(
        &self,
        cursor: &mut InputCursor,
        v: VertexId,
    ) -> Option<(&InputPast<'a>, Range<usize>)> {
        let past = self.past.as_ref()?;
        past.lists.seek(&mut cursor.past, v).map(|range| (past, range))
    }
}
