//! The layers of a version, and how the list of a vertex is found in them.
//!
//! A stack is a complete layer and later ones over it, each with fragments of the lists that changed. The list of a
//! vertex is a chain of fragments, newest first (LLAMA, thesis, 4.4.2: explicit linking), less what tombstones say. Only the
//! newest layer can be *partial*: the version lies within its range, and codes of versions say what counts.

mod marks;
mod table;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker_graph::{Direction, Flow, Run, Stop, VertexId};

use crate::error::{Error, Result};
use crate::layer::{Address, ListColumns, PlainLayer, Section, for_runs};

pub use marks::Marks;
pub use table::Table;

/// Which of the lists of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Area {
    /// The arcs alive at the end of the range.
    Main,
    /// The arcs that lived and died within it.
    Past,
}

/// A stretch of arcs of one vertex that are visible in a version.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<'a> {
    /// Position of the layer in the stack.
    pub layer: usize,
    /// Where in the layer.
    pub area: Area,
    /// The lists of the area.
    pub lists: &'a ListColumns,
    /// The first of its arcs among the targets and properties of the lists.
    pub start: usize,
    /// Its targets, ascending.
    pub targets: &'a [VertexId],
}

/// The layers that a version is made of.
#[derive(Debug)]
pub struct Stack {
    /// Oldest first; the first is complete, the others are not.
    layers: Vec<Arc<PlainLayer>>,
    positions: HashMap<u32, usize>,
    /// The rank of the version in the newest layer, if that is partial.
    rank: Option<u32>,
    num_vertices: usize,
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
        Ok(Self { layers, positions, rank, num_vertices: num_vertices as usize, tables })
    }

    /// The layers, oldest first.
    pub fn layers(&self) -> &[Arc<PlainLayer>] {
        &self.layers
    }

    /// The rank of the version in the newest layer, if that is partial.
    pub fn rank(&self) -> Option<u32> {
        self.rank
    }

    /// Number of vertices of the version.
    pub fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    /// Whether it is one complete layer, read as a whole: then lists are as they stand in it.
    pub fn is_plain(&self) -> bool {
        self.layers.len() == 1
            && self.rank.is_none()
            && self.num_vertices == self.layers[0].out().main().num_lists()
    }

    /// Whether lists of this direction are kept.
    pub fn has(&self, direction: Direction) -> bool {
        self.layers[0].section(direction).is_some()
    }

    /// The lists of a direction of a layer.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if they are not kept.
    pub fn section(&self, layer: usize, direction: Direction) -> Result<&Section> {
        self.layers[layer].section(direction).ok_or_else(|| {
            Stop::Unsuitable("the graph is stored without its in-edges: import it again with them".to_owned())
                .into()
        })
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
        self.visit_from(head.transpose()?.flatten(), direction, v, take)
    }

    /// As [`Stack::visit`], with the newest fragment of `v` given.
    pub(crate) fn visit_from<'a>(
        &'a self,
        mut place: Option<(usize, usize)>,
        direction: Direction,
        v: VertexId,
        take: impl FnMut(Stretch<'a>) -> Result<Flow>,
    ) -> Result<()> {
        let mut walk = Walk { v, take, dead: Vec::new(), enough: false };
        while let Some((layer, slot)) = place {
            let section = self.section(layer, direction)?;
            let rank = self.rank.filter(|_| layer + 1 == self.layers.len());
            walk.fragment(section, layer, slot, rank)?;
            let Some(previous) = section.previous_at(slot)? else { break };
            if walk.enough {
                break;
            }
            walk.bury(section, rank)?;
            place = self.place(layer, previous, direction, v)?;
        }
        Ok(())
    }

    /// Layer and slot of an address found in layer `above`. If its layer was merged away, whatever holds the next
    /// older fragment of `v` now.
    pub(crate) fn place(
        &self,
        above: usize,
        address: Address,
        direction: Direction,
        v: VertexId,
    ) -> Result<Option<(usize, usize)>> {
        match self.positions.get(&address.layer()) {
            Some(&layer) if layer < above => Ok(Some((layer, address.slot()))),
            _ => self.search(above, direction, v),
        }
    }

    /// The newest fragment of `v` in layers below `above`.
    fn search(&self, above: usize, direction: Direction, v: VertexId) -> Result<Option<(usize, usize)>> {
        for layer in (0..above).rev() {
            if let Some(slot) = self.section(layer, direction)?.main().slot_of(v)? {
                return Ok(Some((layer, slot)));
            }
        }
        Ok(None)
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
        match self.search(self.layers.len(), direction, v)? {
            Some((layer, slot)) if self.rank.is_none() || layer + 1 < self.layers.len() => {
                self.section(layer, direction)?.degree_at(slot)
            }
            place => self.count(place, direction, v),
        }
    }

    fn count(&self, place: Option<(usize, usize)>, direction: Direction, v: VertexId) -> Result<usize> {
        let mut count = 0;
        self.visit_from(place, direction, v, |stretch| {
            count += stretch.targets.len();
            Ok(Flow::More)
        })?;
        Ok(count)
    }

    fn expect_vertex(&self, v: VertexId) -> Result<()> {
        if (v as usize) < self.num_vertices {
            return Ok(());
        }
        Err(Error::Invalid(format!("there is no vertex {v}: the graph has {}", self.num_vertices)))
    }

    /// The table of a direction, if it was made already.
    fn table_if_made(&self, direction: Direction) -> Option<Arc<Table>> {
        self.slot(direction).made.clone()
    }

    fn slot(&self, direction: Direction) -> MutexGuard<'_, TableSlot> {
        let directed = self.layers[0].is_directed();
        let index = usize::from(directed && direction == Direction::In);
        self.tables[index].lock().unwrap_or_else(PoisonError::into_inner)
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
}

/// The way along the chain of one vertex.
struct Walk<F> {
    v: VertexId,
    take: F,
    /// Targets that newer layers declared dead, ascending.
    dead: Vec<VertexId>,
    enough: bool,
}

impl<'a, F: FnMut(Stretch<'a>) -> Result<Flow>> Walk<F> {
    fn fragment(&mut self, section: &'a Section, layer: usize, slot: usize, rank: Option<u32>) -> Result<()> {
        let lists = section.main();
        let range = lists.range(slot)?;
        match (rank, section.born()) {
            (Some(rank), Some(born)) => {
                let codes = born.get(range.clone())?;
                for_runs(range, |i| codes.at(i) <= rank, |run| self.stretch(layer, Area::Main, lists, run))?;
                section.past_runs(self.v, rank, |past, run| self.stretch(layer, Area::Past, &past.lists, run))
            }
            _ => self.stretch(layer, Area::Main, lists, range),
        }
    }

    /// Remembers the tombstones of a layer for those below.
    fn bury(&mut self, section: &Section, rank: Option<u32>) -> Result<()> {
        let before = self.dead.len();
        section.dead_targets(self.v, rank, &mut self.dead)?;
        if before > 0 && self.dead.len() > before {
            self.dead.sort_unstable();
        }
        Ok(())
    }

    /// Hands over a range, less the dead.
    fn stretch(
        &mut self,
        layer: usize,
        area: Area,
        lists: &'a ListColumns,
        range: Range<usize>,
    ) -> Result<()> {
        let targets = lists.some_targets(range.clone())?;
        let mut start = 0;
        for at in 0..self.dead.len() {
            let dead = self.dead[at];
            let end = start + targets[start..].partition_point(|&target| target < dead);
            self.give(layer, area, lists, range.start + start, &targets[start..end])?;
            start = end + targets[end..].partition_point(|&target| target == dead);
        }
        self.give(layer, area, lists, range.start + start, &targets[start..])
    }

    fn give(
        &mut self,
        layer: usize,
        area: Area,
        lists: &'a ListColumns,
        start: usize,
        targets: &'a [VertexId],
    ) -> Result<()> {
        if !self.enough && !targets.is_empty() {
            self.enough = (self.take)(Stretch { layer, area, lists, start, targets })? == Flow::Enough;
        }
        Ok(())
    }
}
