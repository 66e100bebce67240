//! The layers of a version, and how the list of a vertex is found in them.
//!
//! A stack is a complete layer and later ones over it, each with fragments of the lists that changed. The list of a
//! vertex is a chain of fragments, newest first (LLAMA, thesis, 4.4.2: explicit linking), less what tombstones say. Only the
//! newest layer can be *partial*: the version lies within its range, and codes of versions say what counts.

mod marks;
mod chain;
mod copies;
mod table;

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker_graph::{Direction, Flow, Run, VertexId};

use crate::error::{Error, Result};
use crate::layer::{ListColumns, PlainLayer};

pub use chain::{Area, Chains, Stretch};
pub use marks::Marks;
pub use table::Table;

/// The layers that a version is made of, with the vertex tables that were made of them.
#[derive(Debug)]
pub struct Stack {
    chains: Chains,
    /// By direction: made when first needed.
    tables: [Mutex<TableSlot>; 2],
}

/// A table that was made, or what to make it from.
#[derive(Debug, Default)]
struct TableSlot {
    made: Option<Arc<Table>>,
    /// The table of so many of the layers.
    base: Option<(usize, Arc<Table>)>,
}

impl Deref for Stack {
    type Target = Chains;

    fn deref(&self) -> &Chains {
        &self.chains
    }
}

impl Stack {
    /// Those of `layers` (oldest first, the first complete, ranges one after another) that version `version` with
    /// `num_vertices` vertices is made of.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if they are no such layers; [`Error::Invalid`] if the version was forgotten.
    pub fn new(layers: &[Arc<PlainLayer>], version: u64, num_vertices: u64) -> Result<Self> {
        let count = layers.partition_point(|layer| layer.record().first_version <= version);
        let layers = layers[..count].to_vec();
        let (Some(first), Some(newest)) = (layers.first(), layers.last()) else {
            return Err(Error::Invalid(format!("version {version} is older than all that is kept")));
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
        let chains = Chains { layers, positions, rank, num_vertices: num_vertices as usize };
        Ok(Self { chains, tables })
    }

    /// Bytes of the vertex tables that analyses need, at most, if there are few fragments; none if the stack is one complete layer.
    pub fn table_bytes(&self) -> u64 {
        if self.is_plain() {
            return 0;
        }
        let directions = if self.layers[0].is_directed() && self.has(Direction::In) { 2 } else { 1 };
        (directions * Table::bytes_for(self.num_vertices)) as u64
    }

    /// Calls `take` with the stretches of the list of `v`, those of newer layers first, until it has enough.
    /// Verifies what it reads. Takes time by the length of the chain; without a table, also by the number of layers.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; what `take` returns; [`Error::Invalid`] if there is no such vertex.
    pub fn visit<'a>(
        &'a self,
        direction: Direction,
        v: VertexId,
        take: impl FnMut(Stretch<'a>) -> Result<Flow>,
    ) -> Result<()> {
        self.expect_vertex(v)?;
        let table = self.table_if_made(direction);
        let head = match &table {
            Some(table) => table.head(v).map(|address| self.place(self.layers.len(), address, direction, v)),
            None => Some(self.search(self.layers.len(), direction, v)),
        };
        self.chains.visit_from(head.transpose()?.flatten(), direction, v, take)
    }

    /// Calls `take` with each copy of the edge from `v` to `target` in the lists of a direction, until it has enough: the lists it stands
    /// in, and its place there. Takes a binary search for each fragment of `v`.
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
        let place = self.newest_fragment(direction, v)?;
        self.chains.visit_copies_from(place, direction, v, target, take)
    }

    /// The newest fragment of `v`: position of its layer and slot.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if there is no such vertex.
    pub fn newest_fragment(&self, direction: Direction, v: VertexId) -> Result<Option<(usize, usize)>> {
        match self.table_if_made(direction) {
            Some(table) => match table.head(v) {
                Some(address) => self.place(self.layers.len(), address, direction, v),
                None => Ok(None),
            },
            None => self.search(self.layers.len(), direction, v),
        }
    }

    /// Length of the list of `v`.
    ///
    /// # Errors
    /// As [`Stack::visit`].
    pub fn degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        self.expect_vertex(v)?;
        if let Some(table) = self.table_if_made(direction) {
            return Ok(table.degree(v));
        }
        self.chains.degree_along(direction, v)
    }

    /// Remembers the tables of another stack: if this one is the same with layers added, only what these changed is made anew.
    pub fn inherit(&self, older: &Self) {
        let numbers =
            |stack: &Self| stack.layers.iter().map(|layer| layer.record().number).collect::<Vec<_>>();
        if older.rank.is_some() || !numbers(self).starts_with(&numbers(older)) {
            return;
        }
        // A partial newest layer that was read as a whole before is another matter.
        if self.rank.is_some() && self.layers.len() == older.layers.len() {
            return;
        }
        for direction in [Direction::Out, Direction::In] {
            if let Some(table) = older.table_if_made(direction) {
                self.slot(direction).base = Some((older.layers.len(), table));
            }
        }
    }

    /// The table of a direction, made if necessary: in time by the number of vertices and fragments.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn table(&self, direction: Direction, run: &Run) -> Result<Arc<Table>> {
        if let Some(table) = self.table_if_made(direction) {
            return Ok(table);
        }
        let base = self.slot(direction).base.take();
        let table = Arc::new(match base {
            Some((layers, table)) => table.extended(self, layers, direction, run)?,
            None => Table::new(self, direction, run)?,
        });
        self.slot(direction).made = Some(Arc::clone(&table));
        Ok(table)
    }

    /// The table of a direction, if it was made already.
    pub(crate) fn table_if_made(&self, direction: Direction) -> Option<Arc<Table>> {
        self.slot(direction).made.clone()
    }

    fn slot(&self, direction: Direction) -> MutexGuard<'_, TableSlot> {
        let directed = self.layers[0].is_directed();
        let index = usize::from(directed && direction == Direction::In);
        self.tables[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
