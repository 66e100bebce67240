//! The memory that the changes since a complete layer need.

use esker_format::Result;
use esker_graph::Direction;

use super::overlay::bytes;
use crate::graph::points::PointReads;
use crate::layer::{ListColumns, Section};
use crate::stack::Stack;

/// The memory that a version needs next to the pool, the heads or the tiles of its complete layer, and its vertex tables; nothing if the
/// complete layer is the whole version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StackedNeeds {
    /// Bytes of what the version leaves out of the complete layer, and mapped bytes of point reads until they are released.
    pub fixed_bytes: u64,
    /// Mapped bytes: the later layers, and the codes that tell when arcs were born. A scan touches all of them.
    pub mapped_bytes: u64,
}

impl StackedNeeds {
    /// The needs of a version of `num_arcs` arcs, with weights of `weight_bytes`.
    ///
    /// # Errors
    /// None, if the layers of the stack fit each other.
    pub fn of(stack: &Stack, num_arcs: u64, weight_bytes: u64) -> Result<Self> {
        let mut needs = Self::default();
        if stack.is_plain() {
            return Ok(needs);
        }
        let two = stack.layers()[0].is_directed() && stack.has(Direction::In);
        let directions = if two { &[Direction::Out, Direction::In][..] } else { &[Direction::Out] };
        let of_lists = |lists: &ListColumns| lists.list_bytes() + lists.num_arcs() as u64 * weight_bytes;
        for &direction in directions {
            // A selection as a bitmap, for the complete layer and for the later ones.
            needs.fixed_bytes += bytes(stack, direction, num_arcs)?
                + 2 * PointReads::TOUCHED_BYTES_MAX
                + stack.num_vertices() as u64 / 4;
            let count = stack.layers().len();
            for layer in 0..count {
                let section = stack.section(layer, direction)?;
                if layer > 0 {
                    needs.mapped_bytes += of_lists(section.main())
                        + section.links_bytes()
                        + section.dead().map_or(0, |dead| of_lists(&dead.lists));
                }
                if stack.rank().is_some() && layer + 1 == count {
                    needs.mapped_bytes += codes_bytes(section, of_lists);
                }
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
