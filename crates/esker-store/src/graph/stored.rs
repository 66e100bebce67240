//! A stored graph as the algorithms see it.
//!
//! Algorithms are compiled for this type alone. Its scans are compiled for each visitor where one complete layer is mapped, plain or
//! compressed; whatever streams its lists is a boxed [`Source`].

use std::sync::{Arc, OnceLock};

use esker_graph::{
    AnyVisitor, CsrGraph, Direction, DynVisitor, Graph, Lists, Remaining, Rows, Run, Select, Source, Stop,
    VertexId, Visitor, collect, take_once,
};

use super::compressed::Compressed;
use super::headed::{HeadedNeeds, HeadedSource};
use super::induced::InducedSide;
use super::layered::Layered;
use super::points::PointReads;
use super::pooled::PooledSide;
use super::residency::HeadedOptions;
use super::tiled::TiledSide;
use super::weight::StoredWeight;
use crate::error::{Error, Result};
use crate::io::Disk;
use crate::layer::{Arrays, Body, Coded, Index, List, ListColumns, PlainLayer, Section};
use crate::pool::PoolOptions;
use crate::stack::{Stack, Table};
use crate::tiles::{TileScan, Tiles};

/// A version of the graph in a database, with weights of type `W`. Memory: none of its own if the version is one layer; else
/// the vertex table, see [`Table`].
///
/// The first scan of a direction verifies all of its lists; [`StoredGraph::prepare`] does the same ahead of time.
pub struct StoredGraph<'a, W> {
    num_vertices: usize,
    num_arcs: u64,
    directed: bool,
    out: Side<'a, W>,
    /// `None`: not kept, or (undirected) the same as `out`.
    incoming: Option<Side<'a, W>>,
}

/// The lists of one direction.
pub(super) enum Side<'a, W> {
    /// One complete layer, plain.
    Plain(PlainSide<'a, W>),
    /// One complete layer, compressed.
    Compressed(CompressedSide<'a, W>),
    /// Anything else.
    Source(Box<dyn Source<W, Error> + 'a>),
}

pub(super) struct PlainSide<'a, W> {
    section: &'a Section,
    arrays: &'a Arrays,
    /// Verified, ascending from 0 to the number of arcs.
    offsets: &'a [u64],
    /// Number of the property that is the weight; nobody looks if `W` is `()`.
    property: u32,
    /// Set once all is verified.
    rows: OnceLock<Rows<'a, W>>,
}

pub(super) struct CompressedSide<'a, W> {
    section: &'a Section,
    coded: &'a Coded,
    /// Verified.
    index: Index<'a>,
    property: u32,
    /// Set once all is verified.
    lists: OnceLock<Compressed<'a, W>>,
}

struct LayeredSide<'a, W> {
    stack: &'a Stack,
    direction: Direction,
    table: Arc<Table>,
    property: u32,
    /// Set once all is verified.
    lists: OnceLock<Layered<'a, W>>,
}

impl<'a, W: StoredWeight> StoredGraph<'a, W> {
    /// The lists of a version, mapped. `property` is the number of the weight.
    pub(crate) fn mapped(stack: &'a Stack, num_arcs: u64, property: u32, run: &Run) -> Result<Self> {
        let directed = stack.layers()[0].is_directed();
        let two = directed && stack.has(Direction::In);
        Ok(Self {
            num_vertices: stack.num_vertices(),
            num_arcs,
            directed,
            out: Side::mapped(stack, Direction::Out, property, run)?,
            incoming: two.then(|| Side::mapped(stack, Direction::In, property, run)).transpose()?,
        })
    }

    /// The tiles of the only layer, mapped or in a fixed memory. In-lists are at hand even if they are not stored, but for point reads.
    pub(crate) fn tiled(
        stack: &'a Stack,
        tiles: &'a Tiles,
        pool: Option<&PoolOptions>,
        property: u32,
        run: &Run,
    ) -> Result<Self> {
        let scan = TileScan::new(tiles, W::of_tiles(tiles, property)?, run)?;
        let scan = Arc::new(match pool {
            Some(options) => scan.pooled(options)?,
            None => scan,
        });
        let side = |direction| {
            let section = if stack.has(direction) { Some(stack.section(0, direction)?) } else { None };
            let points = section.map(|section| PointReads::new(section.main(), property, pool.is_some()));
            Ok::<_, Error>(Side::source(TiledSide { scan: Arc::clone(&scan), points, direction }))
        };
        let (shape, out) = (tiles.shape(), side(Direction::Out)?);
        let incoming = shape.directed.then(|| side(Direction::In)).transpose()?;
        let num_arcs = stack.layers()[0].record().num_arcs;
        Ok(Self { num_vertices: stack.num_vertices(), num_arcs, directed: shape.directed, out, incoming })
    }

    /// A complete layer, parts of its lists in a fixed memory, which both directions share equally.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the layer is not complete, or the memory is too little (see [`super::PooledNeeds`]); [`Error::Corrupt`];
    /// [`Error::Io`]; cancellation.
    pub fn pooled(
        disk: &Arc<dyn Disk>,
        layer: &'a PlainLayer,
        property: u32,
        options: &PoolOptions,
        run: &Run,
    ) -> Result<Self> {
        let directions = 1 + u64::from(layer.incoming().is_some());
        let options = PoolOptions { bytes: options.bytes / directions, ..*options };
        Self::of_layer(layer, |lists| {
            Ok(Side::source(PooledSide::<W>::new(disk, lists, property, &options, run)?))
        })
    }

    /// A complete plain layer, the heads of its lists in memory. Reads all lists once to gather the heads.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] if the memory is too little (see [`super::HeadedNeeds`]); [`Error::Invalid`] if the layer is not complete or
    /// not plain; [`Error::Corrupt`]; [`Error::Io`]; cancellation.
    pub fn headed(
        disk: &Arc<dyn Disk>,
        layer: &'a PlainLayer,
        property: u32,
        options: HeadedOptions,
        run: &Run,
    ) -> Result<Self> {
        let heads = HeadedNeeds::of(layer, run.threads())?.heads(layer, options, run)?;
        Self::of_layer(layer, |lists| {
            Ok(Side::source(HeadedSource::gather(disk, lists, property, heads.length, run)?))
        })
    }

    fn of_layer(
        layer: &'a PlainLayer,
        side: impl Fn(&'a ListColumns) -> Result<Side<'a, W>>,
    ) -> Result<Self> {
        let (out, incoming) = (layer.out().main(), layer.incoming().map(Section::main));
        Ok(Self {
            num_vertices: out.num_lists(),
            num_arcs: out.num_arcs() as u64,
            directed: layer.is_directed(),
            out: side(out)?,
            incoming: incoming.map(side).transpose()?,
        })
    }

    /// The graph over the remaining vertices, renumbered. Removed vertices must have no edges.
    #[must_use]
    pub fn induced(self, remaining: &'a Remaining) -> Self {
        let num_vertices = self.num_vertices;
        let side = |inner| Side::source(InducedSide { inner, remaining, num_vertices });
        let (out, incoming) = (side(self.out), self.incoming.map(side));
        Self { num_vertices: remaining.len(), out, incoming, ..self }
    }

    /// Bytes that scans of pooled lists have read from the disk so far.
    pub fn read_bytes(&self) -> u64 {
        let read = |side: &Side<'_, W>| match side {
            Side::Plain(_) | Side::Compressed(_) => 0,
            Side::Source(source) => source.read_bytes(),
        };
        read(&self.out) + self.incoming.as_ref().map_or(0, read)
    }

    /// Verifies all lists of a direction, and the weights beside them, unless that was done before. Scans do it by
    /// themselves; algorithms that begin with [`Lists::with_list`] are faster if it was done.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation; [`Stop::Unsuitable`] if the direction is not kept.
    pub fn prepare(&self, run: &Run, direction: Direction) -> Result<()> {
        self.side(direction)?.prepare(run)
    }

    /// The same graph over plain slices, after verifying all of it; `None` if its lists do not lie in one piece each.
    ///
    /// # Errors
    /// As [`StoredGraph::prepare`].
    pub fn csr(&self, run: &Run) -> Result<Option<CsrGraph<'a, W>>> {
        let rows = |side: &Side<'a, W>| match side {
            Side::Plain(side) => side.rows(run).map(|rows| Some(*rows)),
            Side::Compressed(_) | Side::Source(_) => Ok(None),
        };
        let Some(out) = rows(&self.out)? else { return Ok(None) };
        if !self.directed {
            return Ok(Some(CsrGraph::undirected(out)));
        }
        let incoming = self.incoming.as_ref().map(rows).transpose()?;
        Ok(Some(CsrGraph::directed(out, incoming.flatten())))
    }

    #[inline(always)]
    fn kept(&self, direction: Direction) -> Option<&Side<'a, W>> {
        match (direction, self.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    #[inline(always)]
    fn side(&self, direction: Direction) -> Result<&Side<'a, W>> {
        self.kept(direction)
            .ok_or_else(|| Stop::Unsuitable("the graph is stored without its in-edges".to_owned()).into())
    }
}

impl<'a, W: StoredWeight> Side<'a, W> {
    fn mapped(stack: &'a Stack, direction: Direction, property: u32, run: &Run) -> Result<Self> {
        if !stack.is_plain() {
            let table = stack.table(direction, run)?;
            return Ok(Self::source(LayeredSide {
                stack,
                direction,
                table,
                property,
                lists: OnceLock::new(),
            }));
        }
        let section = stack.section(0, direction)?;
        Ok(match section.main().body() {
            Body::Arrays(arrays) => {
                let offsets = arrays.offsets(run)?;
                Self::Plain(PlainSide { section, arrays, offsets, property, rows: OnceLock::new() })
            }
            Body::Coded(coded) => {
                let index = coded.index(run)?;
                Self::Compressed(CompressedSide { section, coded, index, property, lists: OnceLock::new() })
            }
        })
    }

    fn source(source: impl Source<W, Error> + 'a) -> Self {
        Self::Source(Box::new(source))
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        match self {
            Self::Plain(PlainSide { offsets, .. }) => {
                (offsets[v as usize + 1] - offsets[v as usize]) as usize
            }
            Self::Compressed(side) => side.index.degree(v as usize),
            Self::Source(source) => source.degree(v),
        }
    }

    pub(super) fn is_scattered(&self) -> bool {
        matches!(self, Self::Source(source) if source.is_scattered())
    }

    pub(super) fn prepare(&self, run: &Run) -> Result<()> {
        match self {
            Self::Plain(side) => side.rows(run).map(drop),
            Self::Compressed(side) => side.lists(run).map(drop),
            Self::Source(source) => source.prepare(run),
        }
    }

    fn scan<V: Visitor<W>>(&self, run: &Run, select: Select<'_>, visitor: &V) -> Result<Vec<V::State>> {
        match self {
            Self::Plain(side) => Ok(side.rows(run)?.scan(run, select, visitor)?),
            Self::Compressed(side) => Ok(side.lists(run)?.scan(run, select, visitor)?),
            Self::Source(source) => collect(visitor, |visitor| source.scan(run, select, visitor)),
        }
    }

    /// Scans with a visitor of any type.
    pub(super) fn scan_any(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        match self {
            Self::Source(source) => source.scan(run, select, visitor),
            _ if visitor.stops() => self.scan(run, select, &DynVisitor::<_, true>(visitor)).map(drop),
            _ => self.scan(run, select, &DynVisitor::<_, false>(visitor)).map(drop),
        }
    }

    #[inline]
    pub(super) fn with_list<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[W]) -> R) -> Result<R> {
        match self {
            Self::Plain(side) => {
                let (targets, weights) = match side.rows.get() {
                    Some(rows) => rows.list(v),
                    None => side.list(v)?,
                };
                Ok(f(targets, weights))
            }
            Self::Compressed(side) => match side.lists.get() {
                Some(lists) => Ok(lists.with_list(v, f)),
                None => side.list(v).map(|(list, weights)| f(&list.targets, weights)),
            },
            Self::Source(source) => take_once(f, |take| source.with_list(v, take)),
        }
    }
}

impl<'a, W: StoredWeight> PlainSide<'a, W> {
    fn rows(&self, run: &Run) -> Result<&Rows<'a, W>> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows);
        }
        let targets = self.arrays.targets(run)?;
        let weights = W::all(self.section.main(), self.property, run)?;
        let rows = Rows::new(self.offsets, targets, weights)?;
        Ok(self.rows.get_or_init(|| rows))
    }

    /// A list before everything was verified.
    #[cold]
    fn list(&self, v: VertexId) -> Result<(&'a [VertexId], &'a [W])> {
        let lists = self.section.main();
        let range = self.arrays.range(v as usize)?;
        Ok((self.arrays.some_targets(range.clone())?, W::some(lists, self.property, range)?))
    }
}

impl<'a, W: StoredWeight> CompressedSide<'a, W> {
    fn lists(&self, run: &Run) -> Result<&Compressed<'a, W>> {
        if let Some(lists) = self.lists.get() {
            return Ok(lists);
        }
        let weights = W::all(self.section.main(), self.property, run)?;
        let lists = Compressed::new(self.coded.all(run)?, weights);
        Ok(self.lists.get_or_init(|| lists))
    }

    /// A list before everything was verified.
    #[cold]
    fn list(&self, v: VertexId) -> Result<(List<'a>, &'a [W])> {
        let lists = self.section.main();
        let list = lists.list(v as usize)?;
        let weights = W::some(lists, self.property, list.start..list.start + list.targets.len())?;
        Ok((list, weights))
    }
}

impl<'a, W: StoredWeight> LayeredSide<'a, W> {
    fn lists(&self, run: &Run) -> Result<&Layered<'a, W>> {
        if let Some(lists) = self.lists.get() {
            return Ok(lists);
        }
        let lists = Layered::new(self.stack, self.direction, Arc::clone(&self.table), self.property, run)?;
        Ok(self.lists.get_or_init(|| lists))
    }
}

impl<W: StoredWeight> Source<W, Error> for LayeredSide<'_, W> {
    fn degree(&self, v: VertexId) -> usize {
        self.table.degree(v)
    }

    fn prepare(&self, run: &Run) -> Result<()> {
        self.lists(run).map(drop)
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        self.lists(run)?.scan(run, select, visitor)
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        match self.lists.get() {
            Some(lists) => lists.with_list(v, take),
            // There is no run here, and one thread of its own verifies all lists.
            None => self.lists(&Run::with_threads(1)?)?.with_list(v, take),
        }
    }
}

impl<W> std::fmt::Debug for StoredGraph<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredGraph").field("num_arcs", &self.num_arcs).finish_non_exhaustive()
    }
}

impl<W: StoredWeight> Graph for StoredGraph<'_, W> {
    type Weight = W;
    type Error = Error;

    fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    fn is_scattered(&self) -> bool {
        self.out.is_scattered()
    }

    fn words_apart(&self) -> bool {
        !matches!(&self.out, Side::Source(source) if !source.words_apart())
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

impl<W: StoredWeight> Lists for StoredGraph<'_, W> {
    #[inline]
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R> {
        self.side(direction)?.with_list(v, f)
    }
}
