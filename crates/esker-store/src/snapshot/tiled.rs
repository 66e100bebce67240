//! A graph of which analyses read the tiles, and everything else the lists.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_graph::{Direction, Piece, Run, Select, VertexId, Visitor};

use super::weight::StoredWeight;
use crate::error::{Error, Result};
use crate::format::BLOCK_BYTES;
use crate::layer::Section;
use crate::tiles::TileScan;

/// A selection is read from lists if so many times its arcs are not more than all edges...
const FEW_FRACTION: u64 = 64;
/// ... and they are not more than this: a thread reads them alone.
const FEW_ARCS_MAX: u64 = 1 << 16;

/// Bytes that a point read brings to memory beside the list: a block with its offsets, and the rest of the block that the list is in.
const READ_BYTES: usize = 2 * BLOCK_BYTES;
/// Bytes that point reads may bring to memory where that is limited.
const TOUCHED_BYTES_MAX: u64 = 16 << 20;

/// One direction.
#[derive(Debug)]
pub(super) struct TiledSide<'a, W> {
    pub(super) scan: Arc<TileScan<'a, W>>,
    /// The lists, if they are kept.
    pub(super) section: Option<&'a Section>,
    pub(super) direction: Direction,
    /// Number of the property that is the weight; nobody looks if `W` is `()`.
    pub(super) property: u32,
    /// Bytes of lists that point reads have brought to memory, at most, since they were given up last; `None`: the system decides.
    pub(super) touched: Option<AtomicU64>,
}

impl<W: StoredWeight> TiledSide<'_, W> {
    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        self.scan.degree(self.direction, v)
    }

    /// The lists of a few vertices are read one by one, all others with their tiles.
    pub(super) fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
        let Some(list) = self.few(select) else {
            return self.scan.scan(run, self.direction, select, visitor);
        };
        run.check()?;
        let mut state = visitor.new_state();
        for &v in list.iter().filter(|&&v| visitor.wants(v)) {
            self.with_list(v, |targets, weights| {
                if !targets.is_empty() {
                    visitor.visit(&mut state, v, Piece { targets, weights, exclusive: true });
                }
            })?;
        }
        Ok(vec![state])
    }

    fn few<'s>(&self, select: Select<'s>) -> Option<&'s [VertexId]> {
        let Select::List(list) = select else { return None };
        let max = FEW_ARCS_MAX.min(self.scan.tiles().shape().num_edges / FEW_FRACTION);
        let mut arcs = list.len() as u64;
        let few = arcs <= max
            && list.iter().all(|&v| {
                arcs += self.degree(v) as u64;
                arcs <= max
            });
        (few && self.section.is_some()).then_some(list)
    }

    /// A point read.
    pub(super) fn with_list<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[W]) -> R) -> Result<R> {
        let section = self.section.ok_or_else(|| {
            Error::Invalid("the graph is stored without its in-edges, which this needs as lists".to_owned())
        })?;
        let lists = section.main();
        let list = lists.list(v as usize)?;
        let weights = W::some(lists, self.property, list.start..list.start + list.targets.len())?;
        let result = f(&list.targets, weights);
        if let Some(touched) = &self.touched {
            let arc_bytes = size_of::<VertexId>() + size_of::<W>();
            let bytes = (READ_BYTES + list.targets.len() * arc_bytes) as u64;
            if touched.fetch_add(bytes, Relaxed) + bytes > TOUCHED_BYTES_MAX {
                touched.store(0, Relaxed);
                lists.release();
            }
        }
        Ok(result)
    }
}
