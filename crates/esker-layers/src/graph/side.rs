//! The lists of one direction of a stored graph, by how they are read.

use std::sync::{Arc, OnceLock};

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Direction, Flow, ListAccess, Rows, Run, Select, Source, VertexId, Visitor, collect, take_once,
};

use super::gathered::GatheredSide;
use super::mapped::batches::{scan_compressed, scan_rows};
use super::mapped::compressed::Compressed;
use super::mapped::points::only_tiles;
use super::versions::layered::{Layered, with_joined};
use super::versions::sweep::sweep;
use super::weight::ColumnWeight;
use crate::layer::{Arrays, Body, Coded, Index, List, ListColumns, Section};
use crate::stack::{ListTable, Stack};

/// The lists of one direction.
pub(crate) enum GraphSide<'a, W> {
    /// One complete layer, plain.
    Plain(PlainSide<'a, W>),
    /// One complete layer, compressed.
    Compressed(CompressedSide<'a, W>),
    /// Several layers, or a part of one, mapped.
    Layered(Box<LayeredSide<'a, W>>),
    /// Copied to memory.
    Gathered(GatheredSide<W>),
    /// Lists from any other source. If the source reads a side with 32-bit weights and widens these, the
    /// second field is that side.
    Source(Box<dyn Source<W, Error> + 'a>, Option<Arc<GraphSide<'a, i32>>>),
}

pub(crate) struct PlainSide<'a, W> {
    section: &'a Section,
    arrays: &'a Arrays,
    /// Verified, ascending from 0 to the number of arcs.
    offsets: &'a [u64],
    /// Number of the property that is the weight; unused if `W` is `()`.
    property: u32,
    /// Set once all is verified.
    rows: OnceLock<Rows<'a, W>>,
}

pub(crate) struct CompressedSide<'a, W> {
    section: &'a Section,
    coded: &'a Coded,
    /// Verified.
    index: Index<'a>,
    property: u32,
    /// Set once all is verified.
    lists: OnceLock<Compressed<'a, W>>,
}

pub(crate) struct LayeredSide<'a, W> {
    stack: &'a Stack,
    direction: Direction,
    /// Made at once, or by the first scan.
    table: OnceLock<Arc<ListTable>>,
    property: u32,
    /// Set once all is verified.
    lists: OnceLock<Layered<'a, W>>,
}

impl<'a, W: ColumnWeight> GraphSide<'a, W> {
    /// Mapped lists. Lists that are kept only as tiles are not among them. Without `has_degrees`, the vertex
    /// table is made when a scan needs it; until then, a degree is counted along the chain of the vertex.
    pub(super) fn mapped(
        stack: &'a Stack,
        direction: Direction,
        property: u32,
        has_degrees: bool,
        run: &Run,
    ) -> Result<Self> {
        if !stack.is_plain() {
            let (table, lists) = (OnceLock::new(), OnceLock::new());
            let side = LayeredSide { stack, direction, table, property, lists };
            if has_degrees {
                side.table(run)?;
            }
            return Ok(Self::Layered(Box::new(side)));
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
            Body::Tiled(_) => return Err(only_tiles("they cannot be mapped")),
        })
    }

    pub(super) fn source(source: impl Source<W, Error> + 'a) -> Self {
        Self::Source(Box::new(source), None)
    }

    /// The side with 32-bit weights whose lists this hands over with wider ones, if it does.
    pub(super) fn narrow(&self) -> Option<&GraphSide<'a, i32>> {
        match self {
            Self::Source(_, narrow) => narrow.as_deref(),
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        match self {
            Self::Plain(PlainSide { offsets, .. }) => {
                (offsets[v as usize + 1] - offsets[v as usize]) as usize
            }
            Self::Compressed(side) => side.index.degree(v as usize),
            Self::Layered(side) => side.degree(v),
            Self::Gathered(side) => side.rows().degree(v),
            Self::Source(source, _) => source.degree(v),
        }
    }

    pub(super) fn is_scattered(&self) -> bool {
        matches!(self, Self::Source(source, _) if source.is_scattered())
    }

    pub(super) fn list_access(&self) -> ListAccess {
        match self {
            Self::Plain(_) | Self::Compressed(_) | Self::Layered(_) | Self::Gathered(_) => ListAccess::Single,
            Self::Source(source, _) => source.list_access(),
        }
    }

    /// Whether single lists can be read; else they are only scanned.
    pub(super) fn has_lists(&self) -> bool {
        match self {
            Self::Plain(_) | Self::Compressed(_) | Self::Layered(_) | Self::Gathered(_) => true,
            Self::Source(source, _) => source.has_lists(),
        }
    }

    /// Bytes that scans have read from the disk so far, past the page cache.
    pub(super) fn read_bytes(&self) -> u64 {
        match self {
            Self::Plain(_) | Self::Compressed(_) | Self::Layered(_) | Self::Gathered(_) => 0,
            Self::Source(source, _) => source.read_bytes(),
        }
    }

    pub(super) fn point_reads(&self) -> (u64, u64) {
        match self {
            Self::Plain(_) | Self::Compressed(_) | Self::Layered(_) | Self::Gathered(_) => (0, 0),
            Self::Source(source, _) => source.point_reads(),
        }
    }

    pub(super) fn prepare(&self, run: &Run) -> Result<()> {
        match self {
            Self::Plain(side) => side.rows(run).map(drop),
            Self::Compressed(side) => side.lists(run).map(drop),
            Self::Layered(side) => side.lists(run).map(drop),
            Self::Gathered(_) => Ok(()),
            Self::Source(source, _) => source.prepare(run),
        }
    }

    /// The lists as plain slices, verified; `None` if they do not lie in one piece each in a file.
    pub(super) fn rows(&self, run: &Run) -> Result<Option<Rows<'a, W>>> {
        match self {
            Self::Plain(side) => side.rows(run).map(|rows| Some(*rows)),
            Self::Gathered(_) | Self::Compressed(_) | Self::Layered(_) | Self::Source(..) => Ok(None),
        }
    }

    pub(super) fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
        match self {
            _ if W::RARE || V::BOXED => collect(visitor, |visitor| self.scan_any(run, select, visitor)),
            Self::Plain(side) => Ok(side.rows(run)?.scan(run, select, visitor)?),
            Self::Compressed(side) => Ok(side.lists(run)?.scan(run, select, visitor)?),
            Self::Layered(side) => collect(visitor, |visitor| sweep(side.lists(run)?, run, select, visitor)),
            Self::Gathered(side) => Ok(side.rows().scan(run, select, visitor)?),
            Self::Source(source, _) => collect(visitor, |visitor| source.scan(run, select, visitor)),
        }
    }

    /// Scans with a visitor of any type.
    pub(super) fn scan_any(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        match self {
            Self::Plain(side) => scan_rows(side.rows(run)?, run, select, visitor),
            Self::Compressed(side) => scan_compressed(side.lists(run)?, run, select, visitor),
            Self::Layered(side) => sweep(side.lists(run)?, run, select, visitor),
            Self::Gathered(side) => scan_rows(&side.rows(), run, select, visitor),
            Self::Source(source, _) => source.scan(run, select, visitor),
        }
    }

    /// See [`esker_graph::Lists::touch`].
    #[inline(always)]
    pub(super) fn touch(&self, batch: &[VertexId]) {
        match self {
            Self::Plain(side) => side.rows.get().into_iter().for_each(|rows| rows.touch_targets(batch)),
            Self::Gathered(side) => side.rows().touch_targets(batch),
            Self::Compressed(_) | Self::Layered(_) | Self::Source(..) => {}
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
            Self::Layered(side) => match side.lists.get() {
                Some(lists) => lists.with_list(v, f),
                None => side.with_list(v, f),
            },
            Self::Gathered(side) => {
                let (targets, weights) = side.rows().list(v);
                Ok(f(targets, weights))
            }
            Self::Source(source, _) => take_once(f, |take| source.with_list(v, take)),
        }
    }
}

impl<'a, W: ColumnWeight> PlainSide<'a, W> {
    /// The lists, and the number of the property that is the weight.
    pub(super) fn columns(&self) -> (&'a ListColumns, u32) {
        (self.section.main(), self.property)
    }

    pub(super) fn rows(&self, run: &Run) -> Result<&Rows<'a, W>> {
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

impl<'a, W: ColumnWeight> CompressedSide<'a, W> {
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

impl<'a, W: ColumnWeight> LayeredSide<'a, W> {
    /// The layers, the direction, and the number of the property that is the weight.
    pub(super) fn layers(&self) -> (&'a Stack, Direction, u32) {
        (self.stack, self.direction, self.property)
    }

    fn table(&self, run: &Run) -> Result<&Arc<ListTable>> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = self.stack.table(self.direction, run)?;
        Ok(self.table.get_or_init(|| table))
    }

    #[inline(always)]
    fn degree(&self, v: VertexId) -> usize {
        match self.table.get() {
            Some(table) => table.degree(v),
            // What cannot be read is an error of the scan.
            None => self.stack.degree(self.direction, v).unwrap_or(0),
        }
    }

    /// Calls `f` with a list before everything was verified. There is no run here whose budget could hold a
    /// vertex table, so the list is found by a search in each layer.
    #[cold]
    fn with_list<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[W]) -> R) -> Result<R> {
        let mut stretches = Vec::new();
        self.stack.visit(self.direction, v, |stretch| {
            if !self.stack.is_left_out(stretch.layer) {
                let arcs = stretch.start..stretch.start + stretch.targets.len();
                stretches.push((stretch.targets, W::some(stretch.lists, self.property, arcs)?));
            }
            Ok(Flow::More)
        })?;
        Ok(with_joined(stretches, f))
    }

    /// All lists, verified.
    pub(super) fn lists(&self, run: &Run) -> Result<&Layered<'a, W>> {
        if let Some(lists) = self.lists.get() {
            return Ok(lists);
        }
        let table = Arc::clone(self.table(run)?);
        let lists = Layered::new(self.stack, self.direction, table, self.property, run)?;
        Ok(self.lists.get_or_init(|| lists))
    }
}
