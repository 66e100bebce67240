//! A stored graph as the algorithms see it.
//!
//! Algorithms are compiled only for this type. Its scans are compiled for each visitor where one complete
//! layer is mapped, plain or compressed; whatever streams its lists is a boxed [`Source`].

use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Error, Result};
use esker_graph::{
    CsrGraph, Direction, Graph, Lists, Remaining, Reservation, Run, Select, Stop, VertexId, Visitor,
};

use super::bounded::headed::{HeadSpec, HeadedNeeds, HeadedSource, ListDegrees, StoredHeads};
use super::bounded::pooled::PooledSide;
use super::bounded::stacked::StackedSide;
use super::copied::{copied_bytes, copy};
use super::mapped::points::PointReads;
use super::residency::HeadedOptions;
use super::side::GraphSide;
use super::tiled::TiledSide;
use super::views::induced::InducedSide;
use super::views::symmetric::SymmetricSide;
use super::views::widened::WidenedSide;
use super::weight::{ArcWeights, ColumnWeight};
use crate::pool::PoolOptions;
use crate::stack::Stack;
use crate::tiles::{TileScan, Tiles};

/// A version of the graph in a database, with weights of type `W`. Memory: none of its own if the version is
/// one layer; else the vertex table, see [`crate::stack::ListTable`].
///
/// The first scan of a direction verifies all of its lists; [`StoredGraph::prepare`] does the same ahead of
/// time.
pub struct StoredGraph<'a, W> {
    pub(super) num_vertices: usize,
    pub(super) num_arcs: u64,
    pub(super) directed: bool,
    pub(super) out: GraphSide<'a, W>,
    /// `None`: not kept, or (undirected) the same as `out`.
    pub(super) incoming: Option<GraphSide<'a, W>>,
    /// Memory of a pool, of heads or of copied lists.
    pub(super) _memory: Option<Reservation>,
}

/// The encoding and residency of the lists of the complete layer of a version. Lists of later layers are
/// mapped.
#[derive(Clone, Copy)]
pub enum CompleteLists<'a, 'o> {
    /// The lists, mapped; lists that are kept only as tiles are read from these.
    Mapped,
    /// As `Mapped`, for a window, which counts degrees of its own: no vertex table is made unless a scan
    /// needs it.
    Windowed,
    /// Tiles, mapped or in a pool. If the layer is the whole version, in-lists are at hand even if they are
    /// not stored, but for point reads.
    Tiled(&'a Tiles, Option<&'o PoolOptions>),
    /// The lists, in a fixed memory that the directions share equally.
    Pooled(&'o Arc<dyn Disk>, &'o PoolOptions),
    /// The lists, whose heads lie in memory: the stored heads of the layer; if there are none, or they are
    /// shorter than the heads wanted, all lists of the layer are read once to gather them.
    Headed(&'o Arc<dyn Disk>, Option<&'o StoredHeads>, HeadedOptions),
}

impl<'a, W: ColumnWeight> GraphSide<'a, W> {
    /// The lists of a version, if these are those of its complete layer.
    fn with_changes(
        self,
        stack: &'a Stack,
        direction: Direction,
        weight: ArcWeights,
        run: &Run,
    ) -> Result<Self> {
        if stack.is_plain() {
            return Ok(self);
        }
        Ok(Self::source(StackedSide::new(self, stack, direction, weight.property, weight.num_arcs, run)?))
    }
}

impl<'a, W: ColumnWeight> StoredGraph<'a, W> {
    /// [`super::StoredWeight::open`].
    pub(super) fn build(
        stack: &'a Stack,
        weight: ArcWeights,
        lists: CompleteLists<'a, '_>,
        only: Option<Direction>,
        run: &Run,
    ) -> Result<Self> {
        let layer = &stack.layers()[0];
        let lists = match (lists, layer.out().main().tiles()) {
            (CompleteLists::Mapped | CompleteLists::Windowed, Some(tiles)) if !stack.leaves_out_oldest() => {
                CompleteLists::Tiled(tiles, None)
            }
            (lists, _) => lists,
        };
        let has_degrees = !matches!(lists, CompleteLists::Windowed);
        let mapped = |direction| GraphSide::mapped(stack, direction, weight.property, has_degrees, run);
        let is_read = |direction| only.is_none_or(|only| only == direction);
        match lists {
            CompleteLists::Mapped | CompleteLists::Windowed => Self::of_sides(stack, None, weight, mapped),
            CompleteLists::Tiled(tiles, pool) => Self::tiled(stack, tiles, pool, weight, run),
            CompleteLists::Pooled(disk, options) => {
                let memory = run.budget().reserve("a pool of lists", options.bytes)?;
                let directions = 1 + u64::from(only.is_none() && layer.incoming().is_some());
                let options = PoolOptions { bytes: options.bytes / directions, ..*options };
                Self::of_sides(stack, Some(memory), weight, |direction| {
                    if !is_read(direction) {
                        return mapped(direction);
                    }
                    let lists = stack.section(0, direction)?.main();
                    let base = PooledSide::<W>::new(disk, lists, weight.property, &options, run)?;
                    GraphSide::source(base).with_changes(stack, direction, weight, run)
                })
            }
            CompleteLists::Headed(disk, stored, options) => {
                let needs = HeadedNeeds::for_direction(only, layer, stored, run.threads())?;
                let heads = needs.heads(layer, options, run)?;
                let memory = run.budget().reserve("heads of lists", heads.memory_bytes)?;
                let degrees = ListDegrees::for_layer(layer, run)?;
                Self::of_sides(stack, Some(memory), weight, |direction| {
                    if !is_read(direction) {
                        return mapped(direction);
                    }
                    let lists = stack.section(0, direction)?.main();
                    let stored = stored.and_then(|stored| stored.side(direction));
                    let kept = HeadSpec { length: heads.length, order: heads.order, degrees, stored };
                    let base = HeadedSource::new(disk, lists, weight.property, &kept, run)?;
                    StackedSide::over_heads(base, stack, direction, weight.property, weight.num_arcs, run)
                })
            }
        }
    }

    /// The lists of a version, one direction or both as they are stored.
    fn of_sides(
        stack: &'a Stack,
        memory: Option<Reservation>,
        weight: ArcWeights,
        side: impl Fn(Direction) -> Result<GraphSide<'a, W>>,
    ) -> Result<Self> {
        let directed = stack.layers()[0].is_directed();
        let two = directed && stack.has(Direction::In);
        let (out, incoming) = (side(Direction::Out)?, two.then(|| side(Direction::In)).transpose()?);
        let num_vertices = stack.num_vertices();
        Ok(Self { num_vertices, num_arcs: weight.num_arcs, directed, out, incoming, _memory: memory })
    }

    /// A version whose complete layer is read from tiles.
    fn tiled(
        stack: &'a Stack,
        tiles: &'a Tiles,
        pool: Option<&PoolOptions>,
        weight: ArcWeights,
        run: &Run,
    ) -> Result<Self> {
        let ArcWeights { property, num_arcs } = weight;
        let memory =
            pool.map(|options| run.budget().reserve("a pool of tiles", options.bytes)).transpose()?;
        let scan = TileScan::new(tiles, W::of_tiles(tiles, property)?, run)?;
        let scan = Arc::new(match pool {
            Some(options) => scan.pooled(options, run)?,
            None => scan,
        });
        let side = |direction| {
            let section = if stack.has(direction) { Some(stack.section(0, direction)?) } else { None };
            let points = section.map(|section| PointReads::new(section.main(), property, pool.is_some()));
            let base = GraphSide::source(TiledSide { scan: Arc::clone(&scan), points, direction });
            base.with_changes(stack, direction, weight, run)
        };
        let directed = tiles.shape().directed;
        let two = directed && (stack.is_plain() || stack.has(Direction::In));
        let (out, incoming) = (side(Direction::Out)?, two.then(|| side(Direction::In)).transpose()?);
        let num_vertices = stack.num_vertices();
        Ok(Self { num_vertices, num_arcs, directed, out, incoming, _memory: memory })
    }

    /// [`super::StoredWeight::with_in_lists`].
    pub(super) fn build_with_in_lists(self, reads_single: bool, run: &Run) -> Result<Self> {
        let Self { num_vertices, num_arcs, directed, out, incoming, _memory: before } = self;
        let suffices = |side: &GraphSide<'_, W>| !reads_single || side.has_lists();
        if !directed || incoming.as_ref().is_some_and(suffices) {
            return Ok(Self { num_vertices, num_arcs, directed, out, incoming, _memory: before });
        }
        let sides = if matches!(out, GraphSide::Gathered(_)) { 1 } else { 2 };
        let bytes = sides * copied_bytes(num_vertices as u64, num_arcs, size_of::<W>() as u64);
        let mut memory = run.budget().reserve("lists in memory", bytes)?;
        let out = match out {
            GraphSide::Gathered(lists) => lists,
            other => copy(&other, num_vertices, run)?,
        };
        let incoming = Some(GraphSide::Gathered(out.transposed(run)?));
        if let Some(before) = before {
            memory.absorb(before);
        }
        let out = GraphSide::Gathered(out);
        Ok(Self { num_vertices, num_arcs, directed, out, incoming, _memory: Some(memory) })
    }

    /// [`super::StoredWeight::reversed`].
    pub(super) fn build_reversed(self) -> Result<Self> {
        if !self.directed {
            return Ok(self);
        }
        let out = self.incoming.ok_or_else(no_in_edges)?;
        Ok(Self { out, incoming: Some(self.out), ..self })
    }

    /// [`super::StoredWeight::undirected`].
    pub(super) fn build_undirected(self, multigraph: bool, run: &Run) -> Result<Self> {
        if !self.directed {
            return Ok(self);
        }
        let incoming = self.incoming.ok_or_else(no_in_edges)?;
        let (n, arcs) = (self.num_vertices, self.num_arcs);
        let side = SymmetricSide::new(self.out, incoming, n, arcs, multigraph, run)?;
        let num_arcs = side.num_arcs();
        Ok(Self { num_arcs, directed: false, out: GraphSide::source(side), incoming: None, ..self })
    }

    /// [`super::StoredWeight::copied`].
    pub(super) fn build_copied(self, only: Option<Direction>, run: &Run) -> Result<Self> {
        let Self { num_vertices, num_arcs, directed, out, incoming, _memory: before } = self;
        // Tiles serve scans of in-edges, but hold no lists of them: these are made of the others.
        let is_made = incoming.as_ref().is_some_and(|side| !side.has_lists());
        let is_asked = |direction| only.is_none_or(|only| only == direction);
        let is_made = is_made && is_asked(Direction::In);
        let is_read = |direction| is_asked(direction) || is_made;
        let sides =
            u64::from(is_read(Direction::Out)) + u64::from(is_read(Direction::In) && incoming.is_some());
        let bytes = sides * copied_bytes(num_vertices as u64, num_arcs, size_of::<W>() as u64);
        let mut memory = run.budget().reserve("lists in memory", bytes)?;
        let side = |side: GraphSide<'a, W>, direction| {
            if !is_read(direction) || matches!(side, GraphSide::Gathered(_)) {
                return Ok(side);
            }
            copy(&side, num_vertices, run).map(GraphSide::Gathered)
        };
        let out = side(out, Direction::Out)?;
        let incoming = match &out {
            GraphSide::Gathered(lists) if is_made => Some(GraphSide::Gathered(lists.transposed(run)?)),
            _ => incoming.map(|incoming| side(incoming, Direction::In)).transpose()?,
        };
        if let Some(before) = before {
            memory.absorb(before);
        }
        Ok(Self { num_vertices, num_arcs, directed, out, incoming, _memory: Some(memory) })
    }

    /// [`super::StoredWeight::induced`].
    #[must_use]
    pub(super) fn build_induced(self, remaining: &'a Remaining) -> Self {
        let num_vertices = self.num_vertices;
        let side = |inner| GraphSide::source(InducedSide { inner, remaining, num_vertices });
        let (out, incoming) = (side(self.out), self.incoming.map(side));
        Self { num_vertices: remaining.len(), out, incoming, ..self }
    }

    /// Bytes that scans of pooled lists have read from the disk so far.
    pub fn read_bytes(&self) -> u64 {
        self.out.read_bytes() + self.incoming.as_ref().map_or(0, GraphSide::read_bytes)
    }

    /// Single pooled lists that were read from the pool so far, and those that were not in it.
    pub fn point_reads(&self) -> (u64, u64) {
        let (out, incoming) =
            (self.out.point_reads(), self.incoming.as_ref().map_or((0, 0), GraphSide::point_reads));
        (out.0 + incoming.0, out.1 + incoming.1)
    }

    /// Verifies all lists of a direction, and the weights beside them, unless that was done before. Scans do
    /// it by themselves; algorithms that begin with [`Lists::with_list`] are faster if it was done.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation; [`Stop::Unsuitable`] if the direction is not kept.
    pub fn prepare(&self, run: &Run, direction: Direction) -> Result<()> {
        self.side(direction)?.prepare(run)
    }

    /// Whether single lists of a direction can be read; else they are only scanned, as those that only tiles
    /// have.
    pub fn has_lists(&self, direction: Direction) -> bool {
        self.kept(direction).is_some_and(GraphSide::has_lists)
    }

    /// The graph as plain slices, after verifying all of it; `None` if its lists do not lie in one
    /// piece each.
    ///
    /// # Errors
    /// As [`StoredGraph::prepare`].
    pub fn csr(&self, run: &Run) -> Result<Option<CsrGraph<'a, W>>> {
        let Some(out) = self.out.rows(run)? else { return Ok(None) };
        if !self.directed {
            return Ok(Some(CsrGraph::undirected(out)));
        }
        let incoming = self.incoming.as_ref().map(|side| side.rows(run)).transpose()?;
        Ok(Some(CsrGraph::directed(out, incoming.flatten())))
    }

    #[inline(always)]
    fn kept(&self, direction: Direction) -> Option<&GraphSide<'a, W>> {
        match (direction, self.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    /// The side that says how lists are read: the in-lists where they were copied to memory, since the
    /// out-lists may not have been.
    fn leading(&self) -> &GraphSide<'a, W> {
        match &self.incoming {
            Some(incoming @ GraphSide::Gathered(_)) => incoming,
            _ => &self.out,
        }
    }

    #[inline(always)]
    fn side(&self, direction: Direction) -> Result<&GraphSide<'a, W>> {
        self.kept(direction)
            .ok_or_else(|| Stop::unsuitable("the graph is stored without its in-edges".to_owned()).into())
    }
}

/// The error of a view that needs in-lists which are not kept.
fn no_in_edges() -> Error {
    let message = "the graph is stored without its in-edges, which this view needs: import it again with in-edges, or as undirected";
    Stop::unsuitable(message.to_owned()).into()
}

impl<'a> StoredGraph<'a, i32> {
    /// The graph with 64-bit weights.
    #[must_use]
    pub fn widened(self) -> StoredGraph<'a, i64> {
        let Self { num_vertices, num_arcs, directed, out, incoming, _memory } = self;
        let side = |side| WidenedSide::side(side);
        StoredGraph {
            num_vertices,
            num_arcs,
            directed,
            out: side(out),
            incoming: incoming.map(side),
            _memory,
        }
    }
}

impl<W> std::fmt::Debug for StoredGraph<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredGraph").field("num_arcs", &self.num_arcs).finish_non_exhaustive()
    }
}

impl<W: ColumnWeight> Graph for StoredGraph<'_, W> {
    type Weight = W;
    type Error = Error;

    fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    fn is_scattered(&self) -> bool {
        self.leading().is_scattered()
    }

    fn is_at_hand(&self) -> bool {
        matches!(self.leading(), GraphSide::Plain(_) | GraphSide::Compressed(_) | GraphSide::Gathered(_))
    }

    fn words_apart(&self) -> bool {
        let is_apart =
            |side: &GraphSide<'_, W>| !matches!(side, GraphSide::Source(source, _) if !source.words_apart());
        is_apart(&self.out) && self.incoming.as_ref().is_none_or(is_apart)
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

impl<W: ColumnWeight> Lists for StoredGraph<'_, W> {
    #[inline]
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R> {
        self.side(direction)?.with_list(v, f)
    }

    #[inline(always)]
    fn touch(&self, direction: Direction, batch: &[VertexId]) {
        if let Some(side) = self.kept(direction) {
            side.touch(batch);
        }
    }
}
