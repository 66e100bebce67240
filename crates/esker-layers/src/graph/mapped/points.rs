//! Reads single lists from the mapped file, of graphs whose scans read a pool, heads or tiles.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_format::{BLOCK_BYTES, Error, Result};
use esker_graph::{AnyVisitor, Operation, Piece, Run, Select, Setting, Sink, VertexId, message};

use crate::graph::weight::ColumnWeight;
use crate::layer::ListColumns;

/// A selection is read list by list if it has at most this fraction of all arcs ...
const FEW_DIVISOR: u64 = 64;
/// ... and at most this number.
const FEW_ARCS_MAX: u64 = 1 << 16;
/// Vertices that a thread takes of a selection at a time.
const PART_LEN: usize = 1 << 7;

/// The selected vertices, if their lists are a small part of those of `num_edges` edges.
pub(crate) fn few<'s>(
    select: Select<'s>,
    num_edges: u64,
    degree: impl Fn(VertexId) -> usize,
) -> Option<&'s [VertexId]> {
    let Select::List(list) = select else { return None };
    let max = FEW_ARCS_MAX.min(num_edges / FEW_DIVISOR);
    let mut arcs = list.len() as u64;
    let few = arcs <= max
        && list.iter().all(|&v| {
            arcs += degree(v) as u64;
            arcs <= max
        });
    few.then_some(list)
}

/// Calls `take` for each wanted one of a few vertices, ascending, with the thread's sink and the block that
/// it read last: vertices that share a block read it once.
pub(crate) fn share_few<W: ColumnWeight>(
    run: &Run,
    list: &[VertexId],
    visitor: &dyn AnyVisitor<W>,
    take: impl Fn(&mut (dyn Sink<W> + '_), VertexId, &mut usize) -> Result<()> + Sync,
) -> Result<()> {
    run.check()?;
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    let parts: Vec<_> = sorted.chunks(PART_LEN).collect();
    run.share(
        parts.len(),
        || (visitor.sink(), usize::MAX),
        |(sink, block), part| {
            parts[part].iter().filter(|&&v| visitor.wants(v)).try_for_each(|&v| take(&mut **sink, v, block))
        },
    )?;
    Ok(())
}

/// The error about lists that are kept only as tiles.
pub(crate) fn only_tiles(what: &str) -> Error {
    Error::invalid(message![
        format!("the lists are kept as tiles only, so {what}: run it with "),
        Setting::Encoding.to("tiles"),
        ", or make lists with ",
        Operation::Compact.with(Setting::Encoding.to("plain")),
    ])
}

/// The error about a list that does not fit its degree.
pub(crate) fn odd_list(v: VertexId) -> Error {
    let list = format!("the list of vertex {v} is not as long as its degree: run ");
    Error::invalid(message![list, Operation::Check])
}

/// Reads single lists from the map.
#[derive(Debug)]
pub(crate) struct PointReads<'a> {
    lists: &'a ListColumns,
    /// Number of the property that is the weight; unused if the weight is `()`.
    property: u32,
    /// Bytes that reads have brought to memory, at most, since they were given up last; `None`: the system
    /// decides.
    touched: Option<AtomicU64>,
}

impl<'a> PointReads<'a> {
    /// Bytes that a point read brings to memory beside the list: a block with its offsets, and the rest of
    /// the block that the list is in.
    pub(crate) const LIST_BYTES: usize = 2 * BLOCK_BYTES;

    /// Bytes that reads bring to memory where that is limited.
    pub(crate) const TOUCHED_BYTES_MAX: u64 = 8 << 20;

    /// Reads from `lists`. If `limited`, their memory is released again and again.
    pub(crate) fn new(lists: &'a ListColumns, property: u32, limited: bool) -> Self {
        Self { lists, property, touched: limited.then(|| AtomicU64::new(0)) }
    }

    /// Whether a single list is read without decoding those of a whole strip.
    pub(crate) fn are_cheap(&self) -> bool {
        self.lists.tiles().is_none()
    }

    /// Calls `f` with a list.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    pub(crate) fn with_list<W: ColumnWeight, R>(
        &self,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R> {
        let list = self.lists.list(v as usize)?;
        let weights = W::some(self.lists, self.property, list.start..list.start + list.targets.len())?;
        let result = f(&list.targets, weights);
        let arc_bytes = size_of::<VertexId>() + size_of::<W>();
        self.touch((Self::LIST_BYTES + list.targets.len() * arc_bytes) as u64);
        Ok(result)
    }

    /// As [`PointReads::with_list`], where lists are read in ascending order. `block` is the block of targets
    /// that was read last. A vertex that the layer does not have has no list.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    pub(crate) fn with_next_list<W: ColumnWeight, R>(
        &self,
        v: VertexId,
        block: &mut usize,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R> {
        if v as usize >= self.lists.num_lists() {
            return Ok(f(&[], &[]));
        }
        let list = self.lists.list(v as usize)?;
        let weights = W::some(self.lists, self.property, list.start..list.start + list.targets.len())?;
        let result = f(&list.targets, weights);
        let arc_bytes = size_of::<VertexId>() + size_of::<W>();
        let own = std::mem::replace(block, list.start * arc_bytes / BLOCK_BYTES);
        let rest = if own == *block { 0 } else { Self::LIST_BYTES };
        self.touch((rest + list.targets.len() * arc_bytes) as u64);
        Ok(result)
    }

    /// Hands over the lists of a few vertices, one by one, in their order.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; cancellation.
    pub(crate) fn scan<W: ColumnWeight>(
        &self,
        run: &Run,
        list: &[VertexId],
        visitor: &dyn AnyVisitor<W>,
    ) -> Result<()> {
        share_few(run, list, visitor, |sink, v, block| {
            self.with_next_list(v, block, |targets, weights| {
                if !targets.is_empty() {
                    sink.visit_one(v, Piece { targets, weights, exclusive: true });
                }
            })
        })
    }

    /// Counts bytes of the columns that were read, and releases their memory when they are many.
    pub(crate) fn touch(&self, bytes: u64) {
        let Some(touched) = &self.touched else { return };
        if touched.fetch_add(bytes, Relaxed) + bytes > Self::TOUCHED_BYTES_MAX {
            self.release();
        }
    }

    /// Gives up the memory of the columns.
    pub(crate) fn release(&self) {
        if let Some(touched) = &self.touched {
            touched.store(0, Relaxed);
            self.lists.release();
        }
    }
}
