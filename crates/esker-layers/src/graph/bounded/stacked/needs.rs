//! The memory that the changes since a complete layer need.

use esker_format::{Column, Result};
use esker_graph::{Direction, STRIP_LEN, VertexId};

use super::growing::GROWTH;
use super::hidden_lists::HiddenLists;
use super::later::LaterRows;
use crate::graph::arc_sets::dead_arcs::DeadArcs;
use crate::graph::mapped::points::PointReads;
use crate::layer::{ListColumns, Section};
use crate::stack::Stack;

/// Mapped bytes of later layers that are read before they are released, so that they and what is gathered are
/// not in memory together.
pub(super) const MAPPED_BYTES: u64 = 16 << 20;
/// Arcs of later layers that all threads together read at a time while lists are gathered, about.
pub(super) const PARTS_ARCS: u64 = 1 << 21;
/// Bytes of a tile with edges in memory: an entry in its strip, and a chunk for scans.
const TILE_BYTES: u64 = 48;

/// The memory that a version needs next to the pool, the heads or the tiles of its complete layer, and its
/// vertex tables; nothing if the complete layer is the whole version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StackedNeeds {
    /// Bytes of the arcs that later layers add to lists and leave out of them, and mapped bytes of point
    /// reads until these are released.
    pub rows_bytes: u64,
    /// `rows_bytes` where the complete layer is read from tiles.
    pub tiles_bytes: u64,
    /// Bytes that are needed beside `rows_bytes` until all is gathered.
    pub rows_gathering_bytes: u64,
    /// `rows_gathering_bytes` where the complete layer is read from tiles.
    pub tiles_gathering_bytes: u64,
    /// Bytes of the later layers, all of which are read once, and of the codes that tell when arcs were born.
    pub later_bytes: u64,
    /// Mapped bytes of these codes and of past arcs in the middle of a layer that is the only one: a scan
    /// touches all of them.
    pub mapped_bytes: u64,
}

/// The most that a version changes of the lists of its complete layer, of one direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    num_vertices: u64,
    directed: bool,
    /// Whether copied lists are compared with those of the complete layer.
    pub(super) compares: bool,
    added_arcs: u64,
    dead_arcs: u64,
    /// Vertices with dead arcs.
    dead_lists: u64,
    /// Number of self-loops among the arcs that later layers added or deleted, at most.
    loops: u64,
}

impl Bounds {
    /// The bounds for a version of `num_arcs` arcs.
    pub(super) fn for_version(stack: &Stack, direction: Direction, num_arcs: u64) -> Result<Self> {
        let base = stack.section(0, direction)?;
        let (base_arcs, base_lists) = (base.main().num_arcs() as u64, base.main().num_lists() as u64);
        let (mut tombstones, mut lists, mut added, mut held) = (0, 0, 0, 0);
        for layer in 1..stack.layers().len() {
            let section = stack.section(layer, direction)?;
            if let Some(dead) = section.dead() {
                tombstones += dead.lists.num_arcs() as u64;
                lists += dead.lists.num_lists() as u64;
            }
            added += stack.layers()[layer].added_arcs(direction);
            held += section.main().num_arcs() as u64;
            held += section.past().map_or(0, |past| past.lists.num_arcs() as u64);
        }
        let compares = stack.layers().len() > 1 && compares(stack);
        let (added_arcs, dead_arcs, dead_lists) = match stack.rank() {
            Some(_) if stack.layers().len() == 1 => {
                let past = base.past().map_or(0, |past| past.lists.num_arcs());
                let dead = (base_arcs + past as u64).saturating_sub(num_arcs);
                (0, dead, dead)
            }
            // What is not there now, though it was, was deleted.
            _ if compares => {
                let dead = (base_arcs + added).saturating_sub(num_arcs).min(base_arcs + tombstones);
                (added.min(held), dead, dead)
            }
            _ => (held, tombstones, lists),
        };
        Ok(Self {
            num_vertices: base_lists.max(stack.num_vertices() as u64),
            directed: stack.layers()[0].is_directed(),
            compares,
            added_arcs,
            dead_arcs,
            dead_lists: dead_lists.min(base_lists),
            loops: stack.layers().iter().map(|layer| layer.record().num_loops).sum(),
        })
    }

    /// The bounds if later layers are swept in each scan.
    pub(super) fn swept(self) -> Self {
        Self { compares: false, ..self }
    }

    /// The edges of some arcs: an undirected one is in the lists of both ends, a loop in one.
    fn edges(&self, arcs: u64) -> u64 {
        if self.directed { arcs } else { arcs.min(arcs / 2 + self.loops) }
    }

    /// Bytes of edges in the order of tiles.
    fn tiles_bytes(&self, arcs: u64, weight_bytes: u64) -> u64 {
        let (edges, strips) = (self.edges(arcs), self.num_vertices.div_ceil(STRIP_LEN as u64));
        edges * (size_of::<u32>() as u64 + weight_bytes)
            + TILE_BYTES * edges.min(strips.saturating_mul(strips))
    }

    /// Bytes of what is left out of the complete layer's lists, which are read from tiles or not.
    pub(super) fn left_out_bytes(&self, with_tiles: bool) -> u64 {
        let Self { num_vertices, dead_arcs, dead_lists, .. } = *self;
        if with_tiles && self.compares {
            return self.tiles_bytes(dead_arcs, 0);
        }
        // Put in order for tiles, an arc takes four numbers.
        let in_order = if with_tiles { 4 * dead_arcs * size_of::<u32>() as u64 } else { 0 };
        HiddenLists::bytes(num_vertices) + DeadArcs::bytes(num_vertices, dead_lists, dead_arcs) + in_order
    }

    /// Bytes of what later layers add, with weights of `weight_bytes`.
    pub(super) fn added_bytes(&self, with_tiles: bool, weight_bytes: u64) -> u64 {
        match with_tiles && self.compares {
            true => self.tiles_bytes(self.added_arcs, weight_bytes),
            false => {
                LaterRows::<()>::bytes(self.num_vertices, self.added_arcs) + self.added_arcs * weight_bytes
            }
        }
    }

    /// Bytes of what is gathered in parts before it is stored, in vectors that are half full, and of the room
    /// that growing lists have left. A list that is longer than a part, and shorter than all lists before it
    /// in its unit of vertices, is in memory twice for a moment; that is not counted.
    fn parts_bytes(&self, weight_bytes: u64) -> u64 {
        let id_bytes = size_of::<VertexId>() as u64;
        let all = self.added_arcs * (id_bytes + weight_bytes) + self.dead_arcs * id_bytes;
        2 * all.min(PARTS_ARCS * (id_bytes + weight_bytes)) + all / (2 * GROWTH as u64)
    }

    /// Bytes of what is gathered by a thread, before it is stored: of few vertices with many of the changes.
    fn buffer_bytes(&self, weight_bytes: u64) -> u64 {
        let edge_bytes = 2 * size_of::<u32>() as u64;
        (self.edges(self.added_arcs) * (edge_bytes + weight_bytes) + self.edges(self.dead_arcs) * edge_bytes)
            / 2
    }
}

/// Whether lists that were copied are compared with those of the complete layer: not where scans leave layers
/// out.
pub(super) fn compares(stack: &Stack) -> bool {
    (0..stack.layers().len()).all(|layer| !stack.is_left_out(layer))
}

impl StackedNeeds {
    /// The needs of a version of `num_arcs` arcs, with weights of `weight_bytes`.
    ///
    /// # Errors
    /// [`Error`](esker_format::Error) if the layers of the stack do not fit each other.
    pub fn for_version(stack: &Stack, num_arcs: u64, weight_bytes: u64) -> Result<Self> {
        let mut needs = Self::default();
        if stack.is_plain() {
            return Ok(needs);
        }
        let two = stack.layers()[0].is_directed() && stack.has(Direction::In);
        let directions = if two { &[Direction::Out, Direction::In][..] } else { &[Direction::Out] };
        let of_lists = |lists: &ListColumns| {
            let vertices = lists.vertices_column().map_or(0, Column::file_bytes);
            vertices + lists.list_bytes() + lists.num_arcs() as u64 * weight_bytes
        };
        for &direction in directions {
            let bounds = Bounds::for_version(stack, direction, num_arcs)?;
            let count = stack.layers().len();
            let (mut largest, mut later) = (0, 0);
            for layer in 0..count {
                let section = stack.section(layer, direction)?;
                let codes = match stack.rank() {
                    Some(_) if layer + 1 == count => codes_bytes(section, of_lists),
                    _ => 0,
                };
                let dead = section.dead().map_or(0, |dead| of_lists(&dead.lists));
                let bytes =
                    if layer == 0 { 0 } else { of_lists(section.main()) + section.links_bytes() + dead };
                later += bytes + codes;
                largest = largest.max(bytes + codes);
                if count == 1 {
                    needs.mapped_bytes += codes;
                }
            }
            needs.later_bytes += later;
            // A selection as a bitmap, for the complete layer and for the later ones; what point reads touch
            // of both.
            let mapped = MAPPED_BYTES.min(later);
            let fixed = 2 * PointReads::TOUCHED_BYTES_MAX + mapped + stack.num_vertices() as u64 / 4;
            let of_kind = |tiles| bounds.left_out_bytes(tiles) + bounds.added_bytes(tiles, weight_bytes);
            needs.rows_bytes += fixed + of_kind(false);
            needs.tiles_bytes += fixed + of_kind(true);
            if count > 1 {
                // A layer is verified at a time. Directions are gathered one after another.
                let of_buffers = |bytes| largest.max(mapped + bytes);
                let tiles = of_buffers(bounds.buffer_bytes(weight_bytes));
                let rows = if stack.suffices_degrees() {
                    of_buffers(bounds.parts_bytes(weight_bytes))
                } else {
                    tiles
                };
                needs.tiles_gathering_bytes = needs.tiles_gathering_bytes.max(tiles);
                needs.rows_gathering_bytes = needs.rows_gathering_bytes.max(rows);
            }
        }
        Ok(needs)
    }
}

/// Bytes of the codes that tell when arcs were born, and of past arcs.
fn codes_bytes(section: &Section, of_lists: impl Fn(&ListColumns) -> u64) -> u64 {
    let past = section.past().map_or(0, |past| {
        of_lists(&past.lists) + past.born.column().file_bytes() + past.died.column().file_bytes()
    });
    past + section.born().map_or(0, |born| born.column().file_bytes())
}
