//! Lists that were verified as a whole, in whichever way they are kept.

use std::borrow::Cow;
use std::ops::Range;

use esker_graph::VertexId;

use super::coded::{CodedLists, Index};

/// A list.
#[derive(Debug, Clone)]
pub struct List<'a> {
    /// Its first arc among those of all lists.
    pub start: usize,
    /// Its targets, ascending.
    pub targets: Cow<'a, [VertexId]>,
}

/// Where lists lie among all arcs, verified.
#[derive(Debug, Clone, Copy)]
pub enum Extents<'a> {
    /// Where each begins, and the end of the last.
    Offsets(&'a [u64]),
    /// By sizes and sums.
    Index(Index<'a>),
}

impl<'a> Extents<'a> {
    /// Number of lists.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Self::Offsets(offsets) => offsets.len() - 1,
            Self::Index(index) => index.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The arcs of the list in `slot`. Panics if there is none.
    #[inline(always)]
    pub fn range(&self, slot: usize) -> Range<usize> {
        match self {
            Self::Offsets(offsets) => offsets[slot] as usize..offsets[slot + 1] as usize,
            Self::Index(index) => index.range(slot),
        }
    }

    /// Number of arcs in the lists before `slot`, which may be the number of lists.
    #[inline(always)]
    pub fn before(&self, slot: usize) -> usize {
        match self {
            Self::Offsets(offsets) => offsets[slot] as usize,
            Self::Index(index) => index.before(slot),
        }
    }
}

/// Lists, all of them verified.
#[derive(Debug, Clone, Copy)]
pub enum AllLists<'a> {
    /// As arrays.
    Arrays {
        /// Where each begins, and the end of the last.
        offsets: &'a [u64],
        /// All of them, one after another.
        targets: &'a [VertexId],
    },
    /// Coded.
    Coded(CodedLists<'a>),
}

/// The targets of consecutive lists.
#[derive(Debug, Clone, Default)]
pub struct Window<'a> {
    first: usize,
    targets: Cow<'a, [VertexId]>,
}

impl<'a> AllLists<'a> {
    /// Where they lie.
    #[inline(always)]
    pub fn extents(&self) -> Extents<'a> {
        match *self {
            Self::Arrays { offsets, .. } => Extents::Offsets(offsets),
            Self::Coded(lists) => Extents::Index(lists.index()),
        }
    }

    /// Where each begins, and all targets, if they are kept so.
    pub fn arrays(&self) -> Option<(&'a [u64], &'a [VertexId])> {
        match *self {
            Self::Arrays { offsets, targets } => Some((offsets, targets)),
            Self::Coded(_) => None,
        }
    }

    /// The targets of the lists in some slots. Time and memory by their number, unless they lie in an array. Panics if there are no such
    /// slots.
    pub fn window(&self, slots: Range<usize>) -> Window<'a> {
        match *self {
            Self::Arrays { offsets, targets } => {
                let arcs = offsets[slots.start] as usize..offsets[slots.end] as usize;
                Window { first: arcs.start, targets: Cow::Borrowed(&targets[arcs]) }
            }
            Self::Coded(lists) => {
                let mut targets = Vec::new();
                lists.decode_all(slots.clone(), &mut targets);
                Window { first: lists.index().before(slots.start), targets: Cow::Owned(targets) }
            }
        }
    }
}

impl Window<'_> {
    /// The targets of arcs, which are counted among those of all lists. Panics if they are not within the window.
    #[inline(always)]
    pub fn targets(&self, arcs: Range<usize>) -> &[VertexId] {
        // No arcs may lie anywhere.
        if arcs.is_empty() {
            return &[];
        }
        &self.targets[arcs.start - self.first..arcs.end - self.first]
    }
}

/// Part of some targets, borrowed if they are.
pub(crate) fn part_of<'a>(targets: &Cow<'a, [VertexId]>, range: Range<usize>) -> Cow<'a, [VertexId]> {
    match targets {
        Cow::Borrowed(targets) => Cow::Borrowed(&targets[range]),
        Cow::Owned(targets) => Cow::Owned(targets[range].to_vec()),
    }
}
