//! The graph as the algorithms see it.

use std::marker::PhantomData;
use std::sync::Arc;

use esker_graph::{Direction, Graph, Lists, Run, Select, Stop, VertexId, Visitor};

use super::side::PooledSide;
use crate::error::{Error, Result};
use crate::io::Disk;
use crate::layer::{Body, ListColumns, PlainLayer, Section};
use crate::pool::PoolOptions;
use crate::snapshot::{PointReads, Snapshot, StoredWeight};

/// What a thread decodes into, at most.
const WORKER_BYTES: u64 = 1 << 20;

/// The memory that a layer takes with parts of its lists in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PooledNeeds {
    /// Bytes of memory beside the parts: buffers, a bit a vertex, what point reads and weights bring to memory before it is given up.
    pub fixed_bytes: u64,
    /// Bytes of where lists lie, which is mapped, and in the end in memory.
    pub mapped_bytes: u64,
    /// Bytes of parts, at least.
    pub least_bytes: u64,
    /// Bytes of all lists: of all parts, were nothing left on disk.
    pub list_bytes: u64,
}

impl PooledNeeds {
    /// Of a complete layer.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is none.
    pub fn of(layer: &PlainLayer, threads: usize) -> Result<Self> {
        let mut needs = Self {
            fixed_bytes: WORKER_BYTES * threads as u64 + layer.out().main().num_lists() as u64 / 8,
            mapped_bytes: 0,
            least_bytes: 0,
            list_bytes: 0,
        };
        for lists in sides(layer) {
            if !lists.is_dense() {
                return Err(Error::Invalid("only complete layers are kept in parts".to_owned()));
            }
            let (mapped, kept) = match lists.body() {
                Body::Arrays(arrays) => {
                    (arrays.offsets_column().file_bytes(), arrays.targets_column().file_bytes())
                }
                Body::Coded(coded) => {
                    let columns = coded.columns();
                    (columns.groups.file_bytes() + columns.sizes.file_bytes(), columns.lists.file_bytes())
                }
            };
            needs.fixed_bytes += PointReads::TOUCHED_BYTES_MAX;
            needs.mapped_bytes += mapped;
            needs.least_bytes += PoolOptions::of_lists().bytes_min();
            needs.list_bytes += kept;
        }
        Ok(needs)
    }
}

fn sides(layer: &PlainLayer) -> impl Iterator<Item = &ListColumns> {
    std::iter::once(layer.out()).chain(layer.incoming()).map(Section::main)
}

/// A complete layer, parts of its lists in memory. Both directions have equal parts of that.
pub struct PooledGraph<'a, W> {
    out: PooledSide<'a>,
    /// `None`: not kept, or (undirected) the same as `out`.
    incoming: Option<PooledSide<'a>>,
    directed: bool,
    num_vertices: usize,
    num_arcs: u64,
    weight: PhantomData<fn() -> W>,
}

impl<W> std::fmt::Debug for PooledGraph<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PooledGraph").field("num_arcs", &self.num_arcs).finish_non_exhaustive()
    }
}

impl<'a, W: StoredWeight> PooledGraph<'a, W> {
    /// The graph of a version that is one complete layer. Verifies where its lists lie.
    ///
    /// # Errors
    /// As [`PooledGraph::new`]; [`Error::Invalid`] also if the edges have no such weight.
    pub fn of(snapshot: &'a Snapshot, options: &PoolOptions, run: &Run) -> Result<Self> {
        let layer = snapshot.complete_layer()?;
        Self::new(snapshot.state().disk(), layer, snapshot.weight_number::<W>()?, options, run)
    }

    /// The graph of a layer. `property` is the number of the weight.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the layer is not complete, or the memory is less than [`PooledNeeds::least_bytes`];
    /// [`Error::Corrupt`]; [`Error::Io`]; cancellation.
    pub fn new(
        disk: &Arc<dyn Disk>,
        layer: &'a PlainLayer,
        property: u32,
        options: &PoolOptions,
        run: &Run,
    ) -> Result<Self> {
        let options = PoolOptions { bytes: options.bytes / sides(layer).count() as u64, ..*options };
        let side = |lists: &'a ListColumns| PooledSide::new(disk, lists, property, &options, run);
        let (out, incoming) = (layer.out().main(), layer.incoming().map(Section::main));
        Ok(Self {
            out: side(out)?,
            incoming: incoming.map(side).transpose()?,
            directed: layer.is_directed(),
            num_vertices: out.num_lists(),
            num_arcs: out.num_arcs() as u64,
            weight: PhantomData,
        })
    }

    /// Bytes that scans have read from the disk so far.
    pub fn read_bytes(&self) -> u64 {
        self.out.read_bytes() + self.incoming.as_ref().map_or(0, PooledSide::read_bytes)
    }

    #[inline(always)]
    fn kept(&self, direction: Direction) -> Option<&PooledSide<'a>> {
        match (direction, self.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    fn side(&self, direction: Direction) -> Result<&PooledSide<'a>> {
        self.kept(direction)
            .ok_or_else(|| Stop::Unsuitable("the graph is stored without its in-edges".to_owned()).into())
    }
}

impl<W: StoredWeight> Graph for PooledGraph<'_, W> {
    type Weight = W;
    type Error = Error;

    fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    fn num_arcs(&self) -> u64 {
        self.num_arcs
    }

    fn is_directed(&self) -> bool {
        self.directed
    }

    fn has(&self, direction: Direction) -> bool {
        self.kept(direction).is_some()
    }

    #[inline(always)]
    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.kept(direction).expect("the direction is kept").degree(v)
    }

    fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
        self.side(direction)?.scan(run, select, visitor)
    }
}

impl<W: StoredWeight> Lists for PooledGraph<'_, W> {
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R> {
        self.side(direction)?.with_list(v, f)
    }
}
