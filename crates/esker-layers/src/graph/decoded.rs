//! Lists that are kept as tiles alone, decoded in their order.
//!
//! Tiles hold no values but those that can be weights. Other values, as times of edges, lie in the order of the lists, so the lists are decoded
//! for them: those of a strip at a time, as [`crate::layer::TiledLists`] says.

use esker_format::{Error, Result};
use esker_graph::{AnyVisitor, Extents, Flow, Piece, Run, Select, Source, Units, VertexId, drive};

use super::list_by_list::ListByList;
use super::points::PointReads;
use super::weight::ColumnWeight;
use crate::layer::{ListColumns, ListExtents};

/// Arcs that are handed over at once, so that cancellation is never late.
const PIECE_LEN_MAX: usize = 1 << 20;

/// One direction.
#[derive(Debug)]
pub(super) struct DecodedSide<'a> {
    extents: ListExtents<'a>,
    points: PointReads<'a>,
}

impl<'a> DecodedSide<'a> {
    /// Verifies the offsets. `property` is the number of the weight.
    pub(super) fn new(lists: &'a ListColumns, property: u32, run: &Run) -> Result<Self> {
        Ok(Self { extents: lists.extents(run)?, points: PointReads::new(lists, property, false) })
    }
}

impl Extents for DecodedSide<'_> {
    fn num_vertices(&self) -> usize {
        self.extents.len()
    }

    fn entries_before(&self, v: usize) -> usize {
        v + self.extents.before(v)
    }

    fn degree(&self, v: VertexId) -> usize {
        self.extents.degree(v as usize)
    }
}

impl<W: ColumnWeight> Source<W, Error> for DecodedSide<'_> {
    fn degree(&self, v: VertexId) -> usize {
        Extents::degree(self, v)
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        drive(run, self, Units::default(), select, &|| {
            ListByList::boxed(visitor, move |v, sink| {
                if Extents::degree(self, v) == 0 {
                    return Ok(());
                }
                self.points.with_list(v, |targets, weights: &[W]| {
                    let pieces = targets.chunks(PIECE_LEN_MAX).zip(weights.chunks(PIECE_LEN_MAX));
                    for (targets, weights) in pieces {
                        let piece = Piece { targets, weights, exclusive: true };
                        if sink.visit_one(v, piece) == Flow::Enough {
                            break;
                        }
                    }
                })
            })
        })
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        self.points.with_list(v, take)
    }
}
