//! Finds the copies of one edge in the layers of a version, without reading the rest of the list.

use esker_format::Result;
use esker_graph::{Direction, Flow, VertexId};

use super::chain::Chains;
use crate::layer::{ListColumns, Section};

impl Chains {
    /// Calls `take` with each visible copy of the arc from `v` to `target`, newest layer first, until it
    /// returns [`Flow::Enough`]. The arguments are the lists that contain the copy and its position there.
    /// `fragment` is the newest fragment of `v`. Takes one binary search for each fragment of the chain.
    pub(super) fn visit_copies_from<'a>(
        &'a self,
        mut fragment: Option<(usize, usize)>,
        direction: Direction,
        v: VertexId,
        target: VertexId,
        mut take: impl FnMut(&'a ListColumns, usize) -> Result<Flow>,
    ) -> Result<()> {
        while let Some((layer, slot)) = fragment {
            let section = self.section(layer, direction)?;
            let rank = self.rank.filter(|_| layer + 1 == self.layers.len());
            if main_copies(section, slot, target, rank, &mut take)? == Flow::Enough {
                return Ok(());
            }
            if let Some(rank) = rank
                && past_copies(section, v, target, rank, &mut take)? == Flow::Enough
            {
                return Ok(());
            }
            let Some(previous) = section.previous_at(slot)? else { break };
            // A tombstone deletes all copies in older layers.
            if section.is_dead(v, target, rank)? {
                break;
            }
            fragment = self.place(layer, previous, direction, v)?;
        }
        Ok(())
    }
}

/// The copies in a fragment.
fn main_copies<'a>(
    section: &'a Section,
    slot: usize,
    target: VertexId,
    rank: Option<u32>,
    take: &mut impl FnMut(&'a ListColumns, usize) -> Result<Flow>,
) -> Result<Flow> {
    let lists = section.main();
    for at in lists.find(slot, target)? {
        let is_born = match (section.born(), rank) {
            (Some(born), Some(rank)) => born.at(at)? <= rank,
            _ => true,
        };
        if is_born && take(lists, at)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
    }
    Ok(Flow::More)
}

/// The copies that died within the layer's range but are alive at `rank`.
fn past_copies<'a>(
    section: &'a Section,
    v: VertexId,
    target: VertexId,
    rank: u32,
    take: &mut impl FnMut(&'a ListColumns, usize) -> Result<Flow>,
) -> Result<Flow> {
    let Some(past) = section.past() else { return Ok(Flow::More) };
    let Some(slot) = past.lists.slot_of(v)? else { return Ok(Flow::More) };
    for at in past.lists.find(slot, target)? {
        let is_alive = past.born.at(at)? <= rank && rank < past.died.at(at)?;
        if is_alive && take(&past.lists, at)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
    }
    Ok(Flow::More)
}
