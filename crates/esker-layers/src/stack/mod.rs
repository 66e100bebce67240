//! The layers of a version, and how to find a vertex's list in them.
//!
//! A stack is a complete layer with later layers above it, each of which holds fragments of the lists that
//! changed. The list of a vertex is a chain of fragments, newest first (LLAMA, thesis, 4.4.2: explicit
//! linking), minus the arcs that tombstones delete. Only the newest layer can be *partial*: then the version
//! lies within the layer's range, and version codes decide which entries are visible.

mod bit_set;
mod chain;
mod copies;
mod table;
mod degrees;

use parking_lot::{Mutex, MutexGuard};
use std::ops::{Deref, RangeInclusive};
use std::sync::Arc;

use esker_format::{Error, Result, united};
use esker_graph::{Direction, Flow, Reservation, Run, VertexId};

use crate::layer::{ListColumns, PlainLayer, Section};

pub(crate) use bit_set::BitSet;
pub(crate) use chain::Area;
pub use chain::Chains;
pub use chain::{ChainStretch, TakeStretch};
pub use degrees::NewestDegrees;
pub use table::ListTable;

/// The layers of a version, with the vertex tables built for them.
#[derive(Debug)]
pub struct Stack {
    chains: Chains,
    /// The vertex tables of each direction, built when first needed.
    tables: Arc<[Mutex<VertexTables>; 2]>,
}

/// The tables built for one direction.
#[derive(Debug, Default)]
struct VertexTables {
    table: TableSlot<ListTable>,
    degrees: TableSlot<NewestDegrees>,
}

/// A vertex table, or the older table to build it from.
#[derive(Debug)]
struct TableSlot<T> {
    made: Option<Arc<T>>,
    /// The table of an older stack, with the number of layers that it covers.
    base: Option<(usize, Arc<T>)>,
}

impl<T> Default for TableSlot<T> {
    fn default() -> Self {
        Self { made: None, base: None }
    }
}

impl<T> TableSlot<T> {
    /// Takes over the table that an older stack of `layers` layers has made.
    fn inherit(&mut self, layers: usize, made: Option<Arc<T>>) {
        self.base = made.map(|made| (layers, made)).or(self.base.take());
    }

    /// Stores the table, unless another thread has stored one meanwhile. Returns the stored one.
    fn store(&mut self, made: T) -> Arc<T> {
        self.base = None;
        Arc::clone(self.made.get_or_insert_with(|| Arc::new(made)))
    }
}

impl Deref for Stack {
    type Target = Chains;

    fn deref(&self) -> &Chains {
        &self.chains
    }
}

impl Stack {
    /// The stack of version `version`, which has `num_vertices` vertices. `layers` are those of the graph,
    /// oldest first: the first is complete, and their ranges follow one another.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the layers do not form such a sequence; [`Error::Invalid`] if the version was
    /// forgotten.
    pub fn new(layers: &[Arc<PlainLayer>], version: u64, num_vertices: u64) -> Result<Self> {
        let count = layers.partition_point(|layer| layer.record().first_version <= version);
        let layers = layers[..count].to_vec();
        let (Some(first), Some(newest)) = (layers.first(), layers.last()) else {
            return Err(Error::invalid(format!(
                "version {version} was forgotten: it is older than the oldest layer"
            )));
        };
        let wrong = |layer: &PlainLayer, reason: &str| Err(Error::corrupt(layer.directory(), 0, reason));
        if !first.record().complete || layers[1..].iter().any(|layer| layer.record().complete) {
            return wrong(first, "the oldest layer, and no other, must be complete");
        }
        if num_vertices > newest.record().num_vertices {
            return wrong(newest, "the version has more vertices than its newest layer");
        }
        let rank = newest.rank_of(version)?;
        let positions =
            layers.iter().enumerate().map(|(position, layer)| (layer.record().number, position)).collect();
        let tables = Default::default();
        let (num_vertices, left_out) = (num_vertices as usize, Box::default());
        Ok(Self { chains: Chains { layers, positions, rank, num_vertices, left_out }, tables })
    }

    /// The same version for scans that want only arcs whose value of an edge property lies in `range`: scans
    /// leave out the layers without such an arc, unless there is only one layer. Degrees, and everything
    /// else, stay those of the whole version, whose vertex tables are shared.
    #[must_use]
    pub fn within(&self, property: u32, range: RangeInclusive<i64>) -> Self {
        let several = self.layers.len() > 1;
        let lies_outside = |layer: &Arc<PlainLayer>| {
            let values = layer.value_range(property);
            several && values.is_some_and(|values| values.1 < *range.start() || values.0 > *range.end())
        };
        let left_out = self.layers.iter().map(lies_outside).collect();
        Self { chains: Chains { left_out, ..self.chains.clone() }, tables: Arc::clone(&self.tables) }
    }

    /// The same version for scans of all layers. Shares its vertex tables.
    #[must_use]
    pub fn with_all_layers(&self) -> Self {
        let chains = Chains { left_out: Box::default(), ..self.chains.clone() };
        Self { chains, tables: Arc::clone(&self.tables) }
    }

    /// Arcs of the layers that scans do not leave out: at least those of the version there.
    pub fn arcs_scanned(&self) -> u64 {
        let scanned = self.layers.iter().enumerate().filter(|(layer, _)| !self.is_left_out(*layer));
        scanned.map(|(_, layer)| layer.record().out.arcs + layer.record().out.past_arcs).sum()
    }

    /// Whether scans leave out the oldest layer: see [`Stack::within`].
    pub fn leaves_out_oldest(&self) -> bool {
        self.is_left_out(0)
    }

    /// The least and the greatest value of an edge property, of floats rounded down and up, in the arcs of
    /// all layers, without reading them. Arcs that the version does not have count too. `None` if there are
    /// no arcs, or a layer does not say.
    pub fn value_range(&self, property: u32) -> Option<(i64, i64)> {
        let with_arcs = |layer: &&Arc<PlainLayer>| {
            let sizes = layer.record().out;
            sizes.arcs + sizes.past_arcs > 0
        };
        let ranges = self.layers.iter().filter(with_arcs).map(|layer| layer.value_range(property));
        ranges.reduce(|one, other| united(Some(one?), Some(other?)))?
    }

    /// Whether all arcs of the layers are arcs of the version.
    pub fn has_all_arcs(&self) -> bool {
        self.is_plain() && self.layers[0].record().out.past_arcs == 0
    }

    /// The most bytes that the vertex tables for an analysis take if there are few fragments; 0 if the stack
    /// is one complete layer.
    pub fn table_bytes(&self) -> u64 {
        if self.is_plain() { 0 } else { self.num_tables() * ListTable::bytes_for(self.num_vertices) as u64 }
    }

    /// As [`Stack::table_bytes`], of an analysis that reads the complete layer from elsewhere, and so needs
    /// no more than [`NewestDegrees`] of the directions that it reads, if the version sees its later layers
    /// wholly. Another direction has its vertex table.
    pub fn degrees_bytes(&self, is_read: impl Fn(Direction) -> bool) -> u64 {
        let of_direction = |direction| match self.suffices_degrees() && is_read(direction) {
            true => NewestDegrees::bytes_for(self.num_vertices),
            false => ListTable::bytes_for(self.num_vertices),
        };
        let two = [Direction::Out, Direction::In];
        match self.num_tables() {
            _ if self.is_plain() => 0,
            2 => two.map(of_direction).iter().map(|&bytes| bytes as u64).sum(),
            // The lists of one direction are those of both.
            _ => two.map(of_direction).into_iter().min().unwrap_or(0) as u64,
        }
    }

    /// Whether later layers can be read without following chains: there are some, the version sees them
    /// wholly, and scans leave none out.
    pub(crate) fn suffices_degrees(&self) -> bool {
        let (count, rank) = (self.layers.len(), self.rank);
        let is_countable = |section: Option<&Section>| {
            section.is_none_or(|section| u32::try_from(section.main().num_lists()).is_ok())
        };
        count > 1
            && rank.is_none()
            && (0..count).all(|layer| !self.is_left_out(layer))
            && self.layers[1..]
                .iter()
                .all(|layer| is_countable(Some(layer.out())) && is_countable(layer.incoming()))
    }

    fn num_tables(&self) -> u64 {
        if self.layers[0].is_directed() && self.has(Direction::In) { 2 } else { 1 }
    }

    /// Calls `take` with the pieces of the list of `v`, those of newer layers first, until it returns
    /// [`Flow::Enough`]. Verifies what it reads. Takes time linear in the length of the chain; without a
    /// vertex table, also in the number of layers.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; what `take` returns; [`Error::Invalid`] if the version has no vertex `v`.
    pub fn visit<'a>(
        &'a self,
        direction: Direction,
        v: VertexId,
        mut take: impl FnMut(ChainStretch<'a>) -> Result<Flow>,
    ) -> Result<()> {
        self.expect_vertex(v)?;
        self.chains.visit_from(self.newest_fragment(direction, v)?, direction, v, &mut take)
    }

    /// Calls `take` with each copy of the arc from `v` to `target`, until it returns [`Flow::Enough`]. The
    /// arguments are the lists that contain the copy and its position there. Takes one binary search for each
    /// fragment of `v`.
    ///
    /// # Errors
    /// As [`Stack::visit`].
    pub fn visit_copies<'a>(
        &'a self,
        direction: Direction,
        v: VertexId,
        target: VertexId,
        take: impl FnMut(&'a ListColumns, usize) -> Result<Flow>,
    ) -> Result<()> {
        self.expect_vertex(v)?;
        let fragment = self.newest_fragment(direction, v)?;
        self.chains.visit_copies_from(fragment, direction, v, target, take)
    }

    /// The newest fragment of `v`: the position of its layer, and its slot.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if the version has no vertex `v`.
    pub fn newest_fragment(&self, direction: Direction, v: VertexId) -> Result<Option<(usize, usize)>> {
        if let Some(table) = self.table_if_made(direction) {
            return match table.head(v) {
                Some(address) => self.place(self.layers.len(), address, direction, v),
                None => Ok(None),
            };
        }
        match self.degrees_if_made(direction) {
            Some(degrees) => degrees.newest_fragment(self, direction, v),
            None => self.search(self.layers.len(), direction, v),
        }
    }

    /// The degree of `v`.
    ///
    /// # Errors
    /// As [`Stack::visit`].
    pub fn degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        self.expect_vertex(v)?;
        if let Some(table) = self.table_if_made(direction) {
            return Ok(table.degree(v));
        }
        if let Some(degrees) = self.degrees_if_made(direction) {
            return Ok(degrees.degree(v));
        }
        self.chains.degree_along(direction, v)
    }

    /// Takes over the vertex tables of another stack. If this stack is the older one with layers added,
    /// building its tables only applies those layers.
    pub fn inherit(&self, older: &Self) {
        let numbers =
            |stack: &Self| stack.layers.iter().map(|layer| layer.record().number).collect::<Vec<_>>();
        if older.rank.is_some() || !numbers(self).starts_with(&numbers(older)) {
            return;
        }
        // The older stack's table covers the whole newest layer, but this stack reads that layer in part.
        if self.rank.is_some() && self.layers.len() == older.layers.len() {
            return;
        }
        let layers = older.layers.len();
        for direction in [Direction::Out, Direction::In] {
            let (table, degrees) = (older.table_if_made(direction), older.degrees_if_made(direction));
            let mut tables = self.slot(direction);
            tables.table.inherit(layers, table);
            tables.degrees.inherit(layers, degrees);
        }
    }

    /// The vertex table of a direction. The first call builds it, in time linear in the number of vertices
    /// and fragments; its memory is reserved from the budget of that run.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Stop`] if the budget has no room; cancellation.
    pub fn table(&self, direction: Direction, run: &Run) -> Result<Arc<ListTable>> {
        if let Some(table) = self.table_if_made(direction) {
            return Ok(table);
        }
        match run.budget().reserve("a vertex table", ListTable::bytes_for(self.num_vertices()) as u64) {
            Ok(memory) => self.build_table(direction, run, memory),
            // Another thread may have built it meanwhile, and hold the memory.
            Err(refused) => self.table_if_made(direction).ok_or_else(|| refused.into()),
        }
    }

    /// As [`Stack::table`], but `None` if the budget has no room for it.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn table_if_room(&self, direction: Direction, run: &Run) -> Result<Option<Arc<ListTable>>> {
        if let Some(table) = self.table_if_made(direction) {
            return Ok(Some(table));
        }
        let memory = run.budget().try_reserve(ListTable::bytes_for(self.num_vertices()) as u64);
        memory.map(|memory| self.build_table(direction, run, memory)).transpose()
    }

    fn build_table(&self, direction: Direction, run: &Run, memory: Reservation) -> Result<Arc<ListTable>> {
        let base = self.slot(direction).table.base.clone();
        let mut table = match base {
            Some((layers, table)) => table.extended(self, layers, direction, run)?,
            None => ListTable::new(self, direction, run)?,
        };
        table.memory = Some(Arc::new(memory));
        Ok(self.slot(direction).table.store(table))
    }

    /// The vertex table of a direction, if it is already built.
    pub fn table_if_made(&self, direction: Direction) -> Option<Arc<ListTable>> {
        self.slot(direction).table.made.clone()
    }

    /// The degrees of a direction, which must [suffice](Stack::suffices_degrees); `None` if the budget has no
    /// room for them. The first call reads them from the layers; their memory is reserved from the budget of
    /// that run.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub(crate) fn degrees_if_room(
        &self,
        direction: Direction,
        run: &Run,
    ) -> Result<Option<Arc<NewestDegrees>>> {
        if let Some(degrees) = self.degrees_if_made(direction) {
            return Ok(Some(degrees));
        }
        let bytes = NewestDegrees::bytes_for(self.num_vertices()) as u64;
        let Some(memory) = run.budget().try_reserve(bytes) else {
            // Another thread may have read them meanwhile, and hold the memory.
            return Ok(self.degrees_if_made(direction));
        };
        let base = self.slot(direction).degrees.base.clone();
        let mut degrees = match base {
            Some((layers, degrees)) => degrees.extended(self, layers, direction, run)?,
            None => NewestDegrees::new(self, direction, run)?,
        };
        degrees.memory = Some(Arc::new(memory));
        Ok(Some(self.slot(direction).degrees.store(degrees)))
    }

    fn degrees_if_made(&self, direction: Direction) -> Option<Arc<NewestDegrees>> {
        self.slot(direction).degrees.made.clone()
    }

    /// Drops the vertex tables, which then give back their memory; scans that use them keep them as long.
    pub fn drop_tables(&self) {
        for direction in [Direction::Out, Direction::In] {
            *self.slot(direction) = VertexTables::default();
        }
    }

    fn slot(&self, direction: Direction) -> MutexGuard<'_, VertexTables> {
        let directed = self.layers[0].is_directed();
        let index = usize::from(directed && direction == Direction::In);
        self.tables[index].lock()
    }
}
