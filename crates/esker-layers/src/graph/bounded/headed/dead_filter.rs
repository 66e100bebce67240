//! Leaves deleted arcs out of heads and tails.

use esker_format::{Error, HeadOrder, Result};
use esker_graph::{Run, VertexId, vertex};

use super::head_lengths::head_units;
use super::side::HeadedSide;
use crate::graph::arc_sets::dead_arcs::DeadArcs;
use crate::graph::versions::living::{LivingTargets, leave_out, without_none};

/// The deleted arcs, which scans leave out of the lists.
#[derive(Debug, Default)]
pub(super) struct DeadFilter(Option<DeadArcs>);

impl DeadFilter {
    /// Removes the deleted arcs from the heads.
    pub(super) fn new(side: &mut HeadedSide<'_>, dead: DeadArcs, run: &Run) -> Result<Self> {
        let is_sorted = side.order == HeadOrder::First;
        let (extents, head_len) = (&side.lists.extents(), side.starts.head_len());
        let units = head_units(extents, head_len, &mut side.heads);
        run.share(
            units.len(),
            || (),
            |(), unit| {
                run.check()?;
                let mut unit = units[unit].lock();
                let (vertices, own) = &mut *unit;
                let mut rest = std::mem::take(own);
                for v in vertices.clone() {
                    let (head, others) = rest.split_at_mut(extents.degree(v).min(head_len));
                    rest = others;
                    let dead = dead.targets(vertex(v));
                    if !dead.is_empty() {
                        leave_out(head, is_sorted, dead);
                    }
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(Self((!dead.is_empty()).then_some(dead)))
    }

    /// Whether there are any.
    #[inline(always)]
    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// A head without the room of its deleted arcs.
    #[inline(always)]
    pub(super) fn living_head<'h>(&self, head: &'h [VertexId]) -> &'h [VertexId] {
        if self.0.is_some() { without_none(head) } else { head }
    }

    /// A part of the list of `v` without its deleted arcs, in the order of the list.
    #[inline]
    pub(super) fn living_part<'l>(
        &self,
        v: VertexId,
        part: &'l [VertexId],
        room: &'l mut LivingTargets,
    ) -> &'l [VertexId] {
        match &self.0 {
            Some(dead) => room.copy_living(part, dead.targets(v)),
            None => part,
        }
    }
}
