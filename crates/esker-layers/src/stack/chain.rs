//! The chains of fragments of a version: where a vertex's list continues, and which of its arcs are visible.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{Direction, Flow, Stop, VertexId};

use crate::layer::{Address, List, ListColumns, PlainLayer, Section, for_runs, part_of};

/// Selects lists of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Area {
    /// The arcs alive at the end of the layer's range.
    Main,
    /// The arcs that lived and died within the range.
    Past,
}

/// A piece of the list of one vertex whose arcs are all visible in the version.
#[derive(Debug, Clone)]
pub struct ChainStretch<'a> {
    /// Position of the layer in the stack.
    pub layer: usize,
    /// The area of the layer.
    pub(crate) area: Area,
    /// The lists that contain the arcs.
    pub lists: &'a ListColumns,
    /// The index of its first arc among the targets and properties of `lists`.
    pub start: usize,
    /// Its targets, ascending.
    pub targets: Cow<'a, [VertexId]>,
}

/// Takes the pieces of a list. A chain is followed through a pointer, so that the walk is compiled once.
pub type TakeStretch<'f, 'a> = dyn FnMut(ChainStretch<'a>) -> Result<Flow> + 'f;

/// The layers of a version, with the lookups that follow the chains.
#[derive(Debug, Clone)]
pub struct Chains {
    /// Oldest first; the first is complete, the others are not.
    pub(super) layers: Vec<Arc<PlainLayer>>,
    pub(super) positions: HashMap<u32, usize>,
    /// The rank of the version in the newest layer, if that layer is partial.
    pub(super) rank: Option<u32>,
    pub(super) num_vertices: usize,
    /// The layers whose arcs scans leave out; empty: none.
    pub(super) left_out: Box<[bool]>,
}

impl Chains {
    /// The layers, oldest first.
    pub fn layers(&self) -> &[Arc<PlainLayer>] {
        &self.layers
    }

    /// The rank of the version in the newest layer, if that layer is partial.
    pub fn rank(&self) -> Option<u32> {
        self.rank
    }

    /// Number of vertices of the version.
    pub fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    /// Whether the stack is one complete layer, all of it visible; then its lists are those of the version.
    pub fn is_plain(&self) -> bool {
        self.layers.len() == 1
            && !self.is_left_out(0)
            && self.rank.is_none()
            && self.num_vertices == self.layers[0].out().main().num_lists()
    }

    /// The error of a layer above the complete one that does not say which vertices it has lists of.
    pub(crate) fn no_directory(&self, layer: usize) -> Error {
        let path = self.layers[layer].directory();
        Error::corrupt(path, 0, "a layer above the complete one has no directory of vertices")
    }

    /// Whether scans leave out the arcs of a layer: see [`Stack::within`](super::Stack::within).
    pub(crate) fn is_left_out(&self, layer: usize) -> bool {
        self.left_out.get(layer).is_some_and(|&left_out| left_out)
    }

    /// Whether lists of this direction are stored.
    pub fn has(&self, direction: Direction) -> bool {
        self.layers[0].section(direction).is_some()
    }

    /// The lists of one direction of a layer.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if the graph is stored without this direction.
    pub fn section(&self, layer: usize, direction: Direction) -> Result<&Section> {
        self.layers[layer].section(direction).ok_or_else(|| {
            Stop::unsuitable("the graph is stored without its in-edges: import it again with them".to_owned())
                .into()
        })
    }

    /// Calls `take` with the pieces of the list of `v`; `fragment` is its newest fragment.
    pub fn visit_from<'a>(
        &'a self,
        fragment: Option<(usize, usize)>,
        direction: Direction,
        v: VertexId,
        take: &mut TakeStretch<'_, 'a>,
    ) -> Result<()> {
        self.visit_above(0, fragment, direction, v, take).map(drop)
    }

    /// As [`Chains::visit_from`], without the layers below `floor`. Returns the targets of the tombstones for
    /// those layers, ascending; `None` if the chain does not reach them, or `take` has enough.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; what `take` returns.
    pub fn visit_above<'a>(
        &'a self,
        floor: usize,
        mut fragment: Option<(usize, usize)>,
        direction: Direction,
        v: VertexId,
        take: &mut TakeStretch<'_, 'a>,
    ) -> Result<Option<Vec<VertexId>>> {
        let mut walk = ChainWalk { v, take, dead: Vec::new(), enough: false };
        while let Some((layer, slot)) = fragment {
            if layer < floor {
                return Ok(Some(walk.dead));
            }
            let section = self.section(layer, direction)?;
            let rank = self.rank.filter(|_| layer + 1 == self.layers.len());
            walk.fragment(section, layer, slot, rank)?;
            let Some(previous) = section.previous_at(slot)? else { break };
            if walk.enough {
                break;
            }
            walk.collect_dead(section, rank)?;
            fragment = self.place(layer, previous, direction, v)?;
        }
        Ok(None)
    }

    /// The layer and slot of an address found in layer `above`. If a merge has replaced the layer, the next
    /// older fragment of `v`, found by search.
    pub fn place(
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

    /// The newest fragment of `v` in the layers below `above`.
    pub fn search(&self, above: usize, direction: Direction, v: VertexId) -> Result<Option<(usize, usize)>> {
        for layer in (0..above).rev() {
            if let Some(slot) = self.section(layer, direction)?.main().slot_of(v)? {
                return Ok(Some((layer, slot)));
            }
        }
        Ok(None)
    }

    /// The degree of `v`, found by a search in every layer.
    pub fn degree_along(&self, direction: Direction, v: VertexId) -> Result<usize> {
        match self.search(self.layers.len(), direction, v)? {
            Some((layer, slot)) if self.rank.is_none() || layer + 1 < self.layers.len() => {
                self.section(layer, direction)?.degree_at(slot)
            }
            fragment => self.count(fragment, direction, v),
        }
    }

    pub(super) fn count(
        &self,
        fragment: Option<(usize, usize)>,
        direction: Direction,
        v: VertexId,
    ) -> Result<usize> {
        let mut count = 0;
        self.visit_from(fragment, direction, v, &mut |stretch| {
            count += stretch.targets.len();
            Ok(Flow::More)
        })?;
        Ok(count)
    }

    pub(super) fn expect_vertex(&self, v: VertexId) -> Result<()> {
        if (v as usize) < self.num_vertices {
            return Ok(());
        }
        Err(Error::invalid(format!("there is no vertex {v}: the graph has {}", self.num_vertices)))
    }
}

/// Follows the chain of one vertex.
struct ChainWalk<'f, 'a> {
    v: VertexId,
    take: &'f mut TakeStretch<'f, 'a>,
    /// Targets of the tombstones in newer layers, ascending.
    dead: Vec<VertexId>,
    enough: bool,
}

impl<'a> ChainWalk<'_, 'a> {
    fn fragment(&mut self, section: &'a Section, layer: usize, slot: usize, rank: Option<u32>) -> Result<()> {
        let lists = section.main();
        let list = lists.list(slot)?;
        match (rank, section.born()) {
            (Some(rank), Some(born)) => {
                let codes = born.get(list.start..list.start + list.targets.len())?;
                for_runs(
                    0..list.targets.len(),
                    |i| codes.at(i) <= rank,
                    |run| self.stretch(layer, Area::Main, lists, part(&list, run)),
                )?;
                section.past_runs(self.v, rank, |lists, list, run| {
                    self.stretch(layer, Area::Past, lists, part(list, run))
                })
            }
            _ => self.stretch(layer, Area::Main, lists, list),
        }
    }

    /// Adds the tombstones of a layer to those for the older layers.
    fn collect_dead(&mut self, section: &Section, rank: Option<u32>) -> Result<()> {
        let before = self.dead.len();
        section.dead_targets(self.v, rank, &mut self.dead)?;
        if before > 0 && self.dead.len() > before {
            // Two sorted runs: a stable sort merges them.
            self.dead.sort();
        }
        Ok(())
    }

    /// Hands over arcs, except those that tombstones delete.
    fn stretch(&mut self, layer: usize, area: Area, lists: &'a ListColumns, list: List<'a>) -> Result<()> {
        if self.dead.is_empty() {
            return self.give(layer, area, lists, list);
        }
        let targets = &*list.targets;
        let mut start = 0;
        for at in 0..self.dead.len() {
            let dead = self.dead[at];
            let end = start + targets[start..].partition_point(|&target| target < dead);
            self.give(layer, area, lists, part(&list, start..end))?;
            start = end + targets[end..].partition_point(|&target| target == dead);
        }
        self.give(layer, area, lists, part(&list, start..targets.len()))
    }

    fn give(&mut self, layer: usize, area: Area, lists: &'a ListColumns, list: List<'a>) -> Result<()> {
        let List { start, targets } = list;
        if !self.enough && !targets.is_empty() {
            self.enough = (self.take)(ChainStretch { layer, area, lists, start, targets })? == Flow::Enough;
        }
        Ok(())
    }
}

/// A range of the arcs of a list.
fn part<'a>(list: &List<'a>, range: Range<usize>) -> List<'a> {
    List { start: list.start + range.start, targets: part_of(&list.targets, range) }
}
