//! A stored graph as the algorithms see it: mapped arrays behind the trait. One complete layer is scanned by the code that scans
//! arrays in memory, or by `compressed`; several layers, or a version in the middle of one, by `layered`.

use std::sync::{Arc, OnceLock};

use esker_graph::{CsrGraph, Direction, Graph, Lists, Rows, Run, Select, Stop, VertexId, Visitor};

use super::compressed::Compressed;
use super::layered::Layered;
use super::points::PointReads;
use super::tiled::TiledSide;
use super::weight::StoredWeight;
use crate::error::{Error, Result};
use crate::format::PropertyRecord;
use crate::layer::{Arrays, Body, Coded, Index, List, Section};
use crate::pool::PoolOptions;
use crate::stack::{Stack, Table};
use crate::tiles::{TileScan, Tiles};

/// A version of the graph in a database, with weights of type `W`. Memory: none of its own if the version is one layer; else
/// the vertex table, see [`Table`].
///
/// The first scan of a direction verifies all of its lists; [`StoredGraph::prepare`] does the same ahead of time.
#[derive(Debug)]
pub struct StoredGraph<'a, W> {
    num_vertices: usize,
    num_arcs: u64,
    directed: bool,
    out: Side<'a, W>,
    /// `None`: not kept, or (undirected) the same as `out`.
    incoming: Option<Side<'a, W>>,
}

/// The lists of one direction.
#[derive(Debug)]
enum Side<'a, W> {
    /// One complete layer, read as a whole.
    Plain(PlainSide<'a, W>),
    /// One complete layer, read as a whole, whose lists are coded.
    Compressed(CompressedSide<'a, W>),
    /// Anything else.
    Layered(LayeredSide<'a, W>),
    /// One complete layer, as tiles.
    Tiled(TiledSide<'a, W>),
}

#[derive(Debug)]
struct PlainSide<'a, W> {
    section: &'a Section,
    arrays: &'a Arrays,
    /// Verified, ascending from 0 to the number of arcs.
    offsets: &'a [u64],
    /// Number of the property that is the weight; nobody looks if `W` is `()`.
    property: u32,
    /// Set once all is verified.
    rows: OnceLock<Rows<'a, W>>,
}

#[derive(Debug)]
struct CompressedSide<'a, W> {
    section: &'a Section,
    coded: &'a Coded,
    /// Verified.
    index: Index<'a>,
    property: u32,
    /// Set once all is verified.
    lists: OnceLock<Compressed<'a, W>>,
}

#[derive(Debug)]
struct LayeredSide<'a, W> {
    stack: &'a Stack,
    direction: Direction,
    table: Arc<Table>,
    property: u32,
    /// Set once all is verified.
    lists: OnceLock<Layered<'a, W>>,
}

impl<'a, W: StoredWeight> StoredGraph<'a, W> {
    /// With the given property as the weight.
    pub(super) fn new(
        stack: &'a Stack,
        num_arcs: u64,
        weight: Option<&PropertyRecord>,
        run: &Run,
    ) -> Result<Self> {
        let property = check_weight::<W>(weight)?;
        let directed = stack.layers()[0].is_directed();
        let two = directed && stack.has(Direction::In);
        Ok(Self {
            num_vertices: stack.num_vertices(),
            num_arcs,
            directed,
            out: Side::new(stack, Direction::Out, property, run)?,
            incoming: two.then(|| Side::new(stack, Direction::In, property, run)).transpose()?,
        })
    }

    /// The same over the tiles of the only layer: mapped, or in a fixed memory. In-lists are at hand then even if they are not kept, but for
    /// those who want single ones.
    pub(super) fn tiled(
        stack: &'a Stack,
        tiles: &'a Tiles,
        pool: Option<&PoolOptions>,
        weight: Option<&PropertyRecord>,
        run: &Run,
    ) -> Result<Self> {
        let property = check_weight::<W>(weight)?;
        let scan = TileScan::new(tiles, W::of_tiles(tiles, property)?, run)?;
        let scan = Arc::new(match pool {
            Some(options) => scan.pooled(options)?,
            None => scan,
        });
        let side = |direction| {
            let section = if stack.has(direction) { Some(stack.section(0, direction)?) } else { None };
            let points = section.map(|section| PointReads::new(section.main(), property, pool.is_some()));
            Ok::<_, Error>(Side::Tiled(TiledSide { scan: Arc::clone(&scan), points, direction }))
        };
        let (shape, out) = (tiles.shape(), side(Direction::Out)?);
        let incoming = shape.directed.then(|| side(Direction::In)).transpose()?;
        let num_arcs = stack.layers()[0].record().num_arcs;
        Ok(Self { num_vertices: stack.num_vertices(), num_arcs, directed: shape.directed, out, incoming })
    }

    /// Verifies all lists of a direction, and the weights beside them, unless that was done before. Scans do it by
    /// themselves; algorithms that begin with [`Lists::with_list`] are faster if it was done.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation; [`Stop::Unsuitable`] if the direction is not kept.
    pub fn prepare(&self, run: &Run, direction: Direction) -> Result<()> {
        match self.side(direction)? {
            Side::Plain(side) => side.rows(run).map(|_| ()),
            Side::Compressed(side) => side.lists(run).map(|_| ()),
            Side::Layered(side) => side.lists(run).map(|_| ()),
            // Chunks are verified as they are read.
            Side::Tiled(_) => Ok(()),
        }
    }

    /// The same graph over plain slices, after verifying all of it; `None` if its lists do not lie in one piece each.
    ///
    /// # Errors
    /// As [`StoredGraph::prepare`].
    pub fn csr(&self, run: &Run) -> Result<Option<CsrGraph<'a, W>>> {
        let rows = |side: &Side<'a, W>| match side {
            Side::Plain(side) => side.rows(run).map(|rows| Some(*rows)),
            Side::Compressed(_) | Side::Layered(_) | Side::Tiled(_) => Ok(None),
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

/// The number of the property that is the weight, which must be of the type that is wanted.
pub(super) fn check_weight<W: StoredWeight>(weight: Option<&PropertyRecord>) -> Result<u32> {
    if let (Some(record), Some(wanted)) = (weight, W::ELEMENT)
        && (record.texts || record.element != wanted)
    {
        let found = if record.texts { "texts" } else { record.element.name() };
        let message = format!("the edge property {:?} holds {found}, not {}", record.name, wanted.name());
        return Err(Error::Invalid(message));
    }
    Ok(weight.map_or(0, |record| record.number))
}

impl<'a, W: StoredWeight> Side<'a, W> {
    fn new(stack: &'a Stack, direction: Direction, property: u32, run: &Run) -> Result<Self> {
        if stack.is_plain() {
            let section = stack.section(0, direction)?;
            return Ok(match section.main().body() {
                Body::Arrays(arrays) => {
                    let offsets = arrays.offsets(run)?;
                    Self::Plain(PlainSide { section, arrays, offsets, property, rows: OnceLock::new() })
                }
                Body::Coded(coded) => {
                    let index = coded.index(run)?;
                    Self::Compressed(CompressedSide {
                        section,
                        coded,
                        index,
                        property,
                        lists: OnceLock::new(),
                    })
                }
            });
        }
        let table = stack.table(direction, run)?;
        Ok(Self::Layered(LayeredSide { stack, direction, table, property, lists: OnceLock::new() }))
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

impl<W: StoredWeight> Graph for StoredGraph<'_, W> {
    type Weight = W;
    type Error = Error;

    fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    fn is_scattered(&self) -> bool {
        matches!(self.out, Side::Tiled(_))
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
        match self.kept(direction).expect("the direction is kept") {
            Side::Plain(PlainSide { offsets, .. }) => {
                (offsets[v as usize + 1] - offsets[v as usize]) as usize
            }
            Side::Compressed(side) => side.index.degree(v as usize),
            Side::Layered(side) => side.table.degree(v),
            Side::Tiled(side) => side.degree(v),
        }
    }

    fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
        match self.side(direction)? {
            Side::Plain(side) => Ok(side.rows(run)?.scan(run, select, visitor)?),
            Side::Compressed(side) => Ok(side.lists(run)?.scan(run, select, visitor)?),
            Side::Layered(side) => side.lists(run)?.scan(run, select, visitor),
            Side::Tiled(side) => side.scan(run, select, visitor),
        }
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
        match self.side(direction)? {
            Side::Plain(side) => {
                let (targets, weights) = match side.rows.get() {
                    Some(rows) => rows.list(v),
                    None => side.list(v)?,
                };
                Ok(f(targets, weights))
            }
            Side::Compressed(side) => match side.lists.get() {
                Some(lists) => Ok(lists.with_list(v, f)),
                None => side.list(v).map(|(list, weights)| f(&list.targets, weights)),
            },
            // Verifying all is what one thread can do here without a pool of its own.
            Side::Layered(side) => match side.lists.get() {
                Some(lists) => lists.with_list(v, f),
                None => side.lists(&Run::with_threads(1)?)?.with_list(v, f),
            },
            Side::Tiled(side) => side.with_list(v, f),
        }
    }
}
