//! The changes that later layers make to a complete layer: arcs that they add and arcs that they delete.

use std::sync::Arc;

use esker_format::Result;
use esker_graph::{Direction, Reservation, Run, VertexId};

use super::gather::ChangeGatherer;
use super::later::LaterRows;
use super::needs::Bounds;
use super::overlay::{FoundChanges, Overlay, WHAT};
use crate::graph::versions::layered::Layered;
use crate::graph::weight::ColumnWeight;
use crate::stack::{ListTable, NewestDegrees, Stack};
use crate::tiles::TileEdges;

/// The lists of one direction of a version.
pub(super) struct VersionSide<'a> {
    pub(super) stack: &'a Stack,
    pub(super) direction: Direction,
    table: VersionTable,
    pub(super) property: u32,
    /// Arcs of the version.
    pub(super) num_arcs: u64,
    /// Whether its complete layer is read from tiles.
    from_tiles: bool,
    bounds: Bounds,
}

/// The degrees of all vertices, and where their chains begin if that is needed.
enum VersionTable {
    /// Chains may have to be followed.
    Whole(Arc<ListTable>),
    /// Later layers are gathered vertex by vertex, in memory that is reserved.
    Degrees(Arc<NewestDegrees>),
}

/// The memory of what changed since the complete layer.
pub(super) struct ChangeMemory {
    left_out: Reservation,
    /// For what later layers add; `None`: there is no room, or nothing is added.
    added: Option<Reservation>,
}

/// The changes since the complete layer.
pub(super) struct LayerChanges<'a, W> {
    /// The arcs and lists that it lacks.
    pub(super) overlay: Overlay<W>,
    /// The later layers, or the past of the complete one.
    pub(super) later: Later<'a, W>,
}

/// The arcs that are read beside the complete layer's lists.
pub(super) enum Later<'a, W> {
    /// Gathered in memory.
    Rows(LaterRows<W>),
    /// Gathered in memory, in the order of tiles.
    Tiles(TileEdges<W>),
    /// Mapped, and swept in each scan.
    Swept(Box<Layered<'a, W>>),
}

impl<'a> VersionSide<'a> {
    /// Also returns the memory for the changes. Arcs that later layers add are gathered if there is room for
    /// them.
    pub(super) fn new<W: ColumnWeight>(
        stack: &'a Stack,
        direction: Direction,
        property: u32,
        num_arcs: u64,
        from_tiles: bool,
        run: &Run,
    ) -> Result<(Self, ChangeMemory)> {
        let bounds = Bounds::for_version(stack, direction, num_arcs)?;
        let mut memory = ChangeMemory::reserve::<W>(stack, &bounds, from_tiles, run)?;
        let degrees = match memory.added.is_some() && stack.suffices_degrees() {
            true => stack.degrees_if_room(direction, run)?,
            false => None,
        };
        let table = match degrees {
            Some(degrees) => VersionTable::Degrees(degrees),
            None => VersionTable::Whole(stack.table(direction, run).or_else(|refused| {
                // Sweeping needs no memory for what is added.
                memory.added.take().ok_or(refused)?;
                stack.table(direction, run)
            })?),
        };
        Ok((Self { stack, direction, table, property, num_arcs, from_tiles, bounds }, memory))
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        match &self.table {
            VersionTable::Whole(table) => table.degree(v),
            VersionTable::Degrees(degrees) => degrees.degree(v),
        }
    }

    /// Reads all lists that changed. `memory` is that of [`VersionSide::new`]; `None` if an earlier call
    /// failed with it.
    pub(super) fn changes<W: ColumnWeight>(
        &self,
        memory: Option<ChangeMemory>,
        run: &Run,
    ) -> Result<LayerChanges<'a, W>> {
        let Self { stack, direction, property, bounds, from_tiles, .. } = *self;
        let reserve = || ChangeMemory::reserve::<W>(stack, &bounds, from_tiles, run);
        let ChangeMemory { left_out, added } = memory.map_or_else(reserve, Ok)?;
        match &self.table {
            VersionTable::Degrees(_) => {
                let bytes = bounds.added_bytes(from_tiles, size_of::<W>() as u64);
                let added = added.map_or_else(|| run.budget().reserve(WHAT, bytes), Ok)?;
                let gatherer = ChangeGatherer::without_table(stack, direction, property, run)?;
                self.gathered(&gatherer, left_out, added, run)
            }
            VersionTable::Whole(table) => {
                let layers = Layered::above(1, stack, direction, Arc::clone(table), property, run)?;
                match added {
                    Some(added) => {
                        let gatherer = ChangeGatherer::new(&layers, property, run)?;
                        self.gathered(&gatherer, left_out, added, run)
                    }
                    None => self.swept(layers, left_out, run),
                }
            }
        }
    }

    /// In memory.
    fn gathered<W: ColumnWeight>(
        &self,
        gatherer: &ChangeGatherer<'_, 'a, W>,
        left_out: Reservation,
        added: Reservation,
        run: &Run,
    ) -> Result<LayerChanges<'a, W>> {
        if self.from_tiles && self.bounds.compares {
            let (edges, dead) = gatherer.tiles(run)?;
            let overlay = Overlay::of_tiles(dead, vec![left_out, added]);
            return Ok(LayerChanges { overlay, later: Later::Tiles(edges) });
        }
        let (rows, found) = gatherer.rows(added, run)?;
        let Self { stack, direction, property, from_tiles, .. } = *self;
        let found = FoundChanges::Ranges(found);
        let overlay = Overlay::new(stack, direction, property, found, from_tiles, left_out, run)?;
        Ok(LayerChanges { overlay, later: Later::Rows(rows) })
    }

    /// Swept in each scan, from mapped files. What is left out of the complete layer then takes more memory:
    /// whole lists that were replaced.
    fn swept<W: ColumnWeight>(
        &self,
        layers: Layered<'a, W>,
        left_out: Reservation,
        run: &Run,
    ) -> Result<LayerChanges<'a, W>> {
        let Self { stack, direction, property, bounds, from_tiles, .. } = *self;
        let memory = if bounds.compares {
            drop(left_out);
            Overlay::<W>::reserve(&bounds.swept(), from_tiles, run)?
        } else {
            left_out
        };
        let found = match stack.rank().filter(|_| stack.layers().len() == 1) {
            Some(rank) => FoundChanges::Births(rank),
            None => FoundChanges::Chains(&layers.table),
        };
        let overlay = Overlay::new(stack, direction, property, found, from_tiles, memory, run)?;
        Ok(LayerChanges { overlay, later: Later::Swept(Box::new(layers)) })
    }
}

impl ChangeMemory {
    fn reserve<W: ColumnWeight>(stack: &Stack, bounds: &Bounds, from_tiles: bool, run: &Run) -> Result<Self> {
        let left_out = Overlay::<W>::reserve(bounds, from_tiles, run)?;
        // The past of the complete layer is not on chains.
        let added = if stack.layers().len() > 1 {
            run.budget().try_reserve(bounds.added_bytes(from_tiles, size_of::<W>() as u64))
        } else {
            None
        };
        Ok(Self { left_out, added })
    }
}
