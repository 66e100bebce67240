//! What later layers change of a complete layer.

use std::sync::Arc;

use esker_format::Result;
use esker_graph::{Direction, Reservation, Run};

use super::gather::ChangeGatherer;
use super::later::LaterRows;
use super::needs::Bounds;
use super::overlay::Overlay;
use crate::graph::layered::Layered;
use crate::graph::weight::ColumnWeight;
use crate::stack::{Stack, Table};
use crate::tiles::TileEdges;

/// The lists of one direction of a version.
pub(super) struct VersionSide<'a> {
    pub(super) stack: &'a Stack,
    pub(super) direction: Direction,
    pub(super) table: Arc<Table>,
    pub(super) property: u32,
    /// Arcs of the version.
    pub(super) num_arcs: u64,
    /// Whether its complete layer is read from tiles.
    from_tiles: bool,
    bounds: Bounds,
}

/// What changed since the complete layer.
pub(super) struct Changes<'a, W> {
    /// What is left out of its lists.
    pub(super) overlay: Overlay<W>,
    /// The later layers, or the past of the complete one.
    pub(super) later: Later<'a, W>,
}

/// What is read beside the complete layer's lists.
pub(super) enum Later<'a, W> {
    /// Gathered in memory.
    Rows(LaterRows<W>),
    /// The same, in the order of tiles.
    Tiles(TileEdges<W>),
    /// Mapped, and swept in each scan.
    Swept(Box<Layered<'a, W>>),
}

impl<'a> VersionSide<'a> {
    pub(super) fn new(
        stack: &'a Stack,
        direction: Direction,
        (property, num_arcs): (u32, u64),
        from_tiles: bool,
        run: &Run,
    ) -> Result<Self> {
        let table = stack.table(direction, run)?;
        let bounds = Bounds::of(stack, direction, num_arcs)?;
        Ok(Self { stack, direction, table, property, num_arcs, from_tiles, bounds })
    }

    /// The memory for what is left out of the complete layer.
    pub(super) fn reserve<W: ColumnWeight>(&self, run: &Run) -> Result<Reservation> {
        Overlay::<W>::reserve(&self.bounds, self.from_tiles, run)
    }

    /// Follows the chains of all lists that changed. `memory` is that of [`VersionSide::reserve`].
    pub(super) fn changes<W: ColumnWeight>(&self, memory: Reservation, run: &Run) -> Result<Changes<'a, W>> {
        let Self { stack, direction, property, bounds, .. } = *self;
        let layers = Layered::above(1, stack, direction, Arc::clone(&self.table), property, run)?;
        let with_tiles = self.from_tiles;
        // The past of the complete layer is not on chains.
        let added = if stack.layers().len() > 1 {
            let bytes = bounds.added_bytes(with_tiles, size_of::<W>() as u64);
            run.budget().try_reserve(bytes)
        } else {
            None
        };
        let memory = if added.is_none() && bounds.compares {
            // Swept, lists say what is left out of them; that takes more.
            drop(memory);
            Overlay::<W>::reserve(&bounds.swept(), with_tiles, run)?
        } else {
            memory
        };
        let (later, found) = match added {
            Some(added) if with_tiles && bounds.compares => {
                let (edges, dead) = ChangeGatherer::new(&layers, property, run)?.tiles(run)?;
                let overlay = Overlay::of_tiles(dead, vec![memory, added]);
                return Ok(Changes { overlay, later: Later::Tiles(edges) });
            }
            Some(added) => {
                let (rows, found) = ChangeGatherer::new(&layers, property, run)?.rows(added, run)?;
                (Later::Rows(rows), Some(found))
            }
            None => (Later::Swept(Box::new(layers)), None),
        };
        let of = (stack, &*self.table, direction);
        let overlay = Overlay::new(of, property, found, with_tiles, memory, run)?;
        Ok(Changes { overlay, later })
    }
}
