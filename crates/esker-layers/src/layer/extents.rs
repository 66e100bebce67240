//! Verified lists, however they are stored.

use std::borrow::Cow;
use std::ops::Range;

use esker_format::Result;
use esker_graph::VertexId;

use super::coded::{CodedLists, Index};
use super::tiled::TiledLists;

/// One list.
#[derive(Debug, Clone)]
pub struct List<'a> {
    /// Its first arc, counted over all lists.
    pub(crate) start: usize,
    /// Its targets, ascending.
    pub targets: Cow<'a, [VertexId]>,
}

/// The range of arcs of each list, verified.
#[derive(Debug, Clone, Copy)]
pub enum ListExtents<'a> {
    /// The offset of each list, then the number of arcs.
    Offsets(&'a [u64]),
    /// The index of compressed lists.
    Index(Index<'a>),
}

impl<'a> ListExtents<'a> {
    /// Number of lists.
    #[allow(clippy::len_without_is_empty)] // A layer of no lists is no special case.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Self::Offsets(offsets) => offsets.len() - 1,
            Self::Index(index) => index.len(),
        }
    }

    /// Number of arcs of the list in `slot`. Panics if there is no such list.
    #[inline(always)]
    pub fn degree(&self, slot: usize) -> usize {
        match self {
            Self::Offsets(offsets) => (offsets[slot + 1] - offsets[slot]) as usize,
            Self::Index(index) => index.degree(slot),
        }
    }

    /// The arcs of the list in `slot`. Panics if there is no such list.
    #[inline(always)]
    pub fn range(&self, slot: usize) -> Range<usize> {
        match self {
            Self::Offsets(offsets) => offsets[slot] as usize..offsets[slot + 1] as usize,
            Self::Index(index) => index.range(slot),
        }
    }

    /// Number of arcs in the lists before `slot`; `slot` may equal the number of lists.
    #[inline(always)]
    pub fn before(&self, slot: usize) -> usize {
        match self {
            Self::Offsets(offsets) => offsets[slot] as usize,
            Self::Index(index) => index.before(slot),
        }
    }
}

/// All lists of a section, verified.
#[derive(Debug, Clone, Copy)]
pub enum AllLists<'a> {
    /// Plain arrays.
    Arrays {
        /// The offset of each list, then the number of arcs.
        offsets: &'a [u64],
        /// The targets of all lists, concatenated.
        targets: &'a [VertexId],
    },
    /// Compressed blocks.
    Coded(CodedLists<'a>),
    /// Only tiles.
    Tiled {
        /// The offset of each list, then the number of arcs.
        offsets: &'a [u64],
        /// Decodes targets.
        lists: &'a TiledLists,
    },
}

/// The targets of consecutive lists.
#[derive(Debug, Clone, Default)]
pub struct ListTargets<'a> {
    first: usize,
    targets: Cow<'a, [VertexId]>,
}

impl<'a> AllLists<'a> {
    /// The range of arcs of each list.
    #[inline(always)]
    pub fn extents(&self) -> ListExtents<'a> {
        match *self {
            Self::Arrays { offsets, .. } | Self::Tiled { offsets, .. } => ListExtents::Offsets(offsets),
            Self::Coded(lists) => ListExtents::Index(lists.index()),
        }
    }

    /// The offsets and the targets, if the lists are plain arrays.
    pub fn arrays(&self) -> Option<(&'a [u64], &'a [VertexId])> {
        match *self {
            Self::Arrays { offsets, targets } => Some((offsets, targets)),
            Self::Coded(_) | Self::Tiled { .. } => None,
        }
    }

    /// The targets of the lists in `slots`: borrowed from plain arrays, decoded into memory from other
    /// lists. Panics if a slot does not exist.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`], of lists that are kept only as tiles.
    pub fn window(&self, slots: Range<usize>) -> Result<ListTargets<'a>> {
        Ok(match *self {
            Self::Arrays { offsets, targets } => {
                let arcs = offsets[slots.start] as usize..offsets[slots.end] as usize;
                ListTargets { first: arcs.start, targets: Cow::Borrowed(&targets[arcs]) }
            }
            Self::Coded(lists) => {
                let mut targets = Vec::new();
                lists.decode_all(slots.clone(), &mut targets);
                ListTargets { first: lists.index().before(slots.start), targets: Cow::Owned(targets) }
            }
            Self::Tiled { offsets, lists } => {
                let first = offsets[slots.start] as usize;
                ListTargets { first, targets: Cow::Owned(lists.targets_of(slots)?) }
            }
        })
    }
}

impl ListTargets<'_> {
    /// The targets of a range of arcs, counted over all lists. Panics if the range is not within the window.
    #[inline(always)]
    pub fn targets(&self, arcs: Range<usize>) -> &[VertexId] {
        // An empty range may lie outside the window.
        if arcs.is_empty() {
            return &[];
        }
        &self.targets[arcs.start - self.first..arcs.end - self.first]
    }
}

/// A part of `targets`, borrowed if they are.
pub fn part_of<'a>(targets: &Cow<'a, [VertexId]>, range: Range<usize>) -> Cow<'a, [VertexId]> {
    match targets {
        Cow::Borrowed(targets) => Cow::Borrowed(&targets[range]),
        Cow::Owned(targets) => Cow::Owned(targets[range].to_vec()),
    }
}
