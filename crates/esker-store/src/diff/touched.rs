//! Which vertices' lists may differ between two versions: those that some layer changed in between.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use esker_graph::{Direction, Run, VertexId, vertex};

use crate::error::Result;
use crate::layer::{CodeSlice, Section};
use crate::stack::Stack;

/// The vertices, ascending and distinct: the directories of the layers that reach beyond the older version, merged. Of a layer that
/// begins before it, only those vertices with a code of a version in between. Memory: some words a layer.
pub(super) struct Touched<'a> {
    sources: Vec<Source<'a>>,
    /// The next vertex of each source.
    heap: BinaryHeap<Reverse<(VertexId, usize)>>,
}

/// One layer.
struct Source<'a> {
    section: &'a Section,
    /// `None`: all vertices.
    vertices: Option<&'a [VertexId]>,
    next_slot: usize,
    num_slots: usize,
    /// A change with a code above the first and up to the second lies between the versions; `None`: all changes do.
    between: Option<(u32, u32)>,
}

impl<'a> Touched<'a> {
    /// What the layers of `stack` changed behind version `since`.
    pub(super) fn new(stack: &'a Stack, since: u64, run: &Run) -> Result<Self> {
        let mut touched = Self { sources: Vec::new(), heap: BinaryHeap::new() };
        for (index, layer) in stack.layers().iter().enumerate() {
            if layer.record().last_version <= since {
                continue;
            }
            let section = stack.section(index, Direction::Out)?;
            let newest = index + 1 == stack.layers().len();
            let last_rank = stack.rank().filter(|_| newest).unwrap_or(u32::MAX);
            let mut between = None;
            // A complete layer has all vertices, whether changed in its range or not.
            let codes_tell = !layer.record().complete || layer.record().first_version <= since;
            if section.born().is_some() && codes_tell {
                // Versions that the layer forgot count as the next that it tells apart, so this is none too few.
                let rank = layer.versions()?.partition_point(|&version| version <= since) as u32;
                between = Some((rank, last_rank));
            }
            let vertices = section.main().vertices(run)?;
            let num_slots = section.main().num_lists();
            touched.sources.push(Source { section, vertices, next_slot: 0, num_slots, between });
        }
        for source in 0..touched.sources.len() {
            touched.advance(source)?;
        }
        Ok(touched)
    }

    /// No more vertices than this.
    pub(super) fn len_max(&self) -> usize {
        self.sources.iter().map(|source| source.num_slots).sum()
    }

    /// The vertex that [`Touched::next`] gives.
    pub(super) fn peek(&self) -> Option<VertexId> {
        self.heap.peek().map(|&Reverse((v, _))| v)
    }

    /// The next vertex.
    pub(super) fn next(&mut self) -> Result<Option<VertexId>> {
        let Some(v) = self.peek() else { return Ok(None) };
        while let Some(&Reverse((other, source))) = self.heap.peek()
            && other == v
        {
            self.heap.pop();
            self.advance(source)?;
        }
        Ok(Some(v))
    }

    fn advance(&mut self, index: usize) -> Result<()> {
        let source = &mut self.sources[index];
        if let Some(v) = source.next()? {
            self.heap.push(Reverse((v, index)));
        }
        Ok(())
    }
}

impl Source<'_> {
    fn next(&mut self) -> Result<Option<VertexId>> {
        while self.next_slot < self.num_slots {
            let slot = self.next_slot;
            self.next_slot += 1;
            let v = self.vertices.map_or_else(|| vertex(slot), |vertices| vertices[slot]);
            if self.is_changed(v, slot)? {
                return Ok(Some(v));
            }
        }
        Ok(None)
    }

    fn is_changed(&self, v: VertexId, slot: usize) -> Result<bool> {
        let (Some(between), Some(born)) = (self.between, self.section.born()) else { return Ok(true) };
        let main = self.section.main().range(slot)?;
        if any(born.get(main.clone())?, main.len(), between) {
            return Ok(true);
        }
        if let Some(dead) = self.section.dead()
            && let (Some(codes), Some(slot)) = (&dead.codes, dead.lists.slot_of(v)?)
        {
            let range = dead.lists.range(slot)?;
            if any(codes.get(range.clone())?, range.len(), between) {
                return Ok(true);
            }
        }
        if let Some(past) = self.section.past()
            && let Some(slot) = past.lists.slot_of(v)?
        {
            let range = past.lists.range(slot)?;
            return Ok(any(past.born.get(range.clone())?, range.len(), between)
                || any(past.died.get(range.clone())?, range.len(), between));
        }
        Ok(false)
    }
}

fn any(codes: CodeSlice<'_>, len: usize, (above, up_to): (u32, u32)) -> bool {
    (0..len).any(|index| codes.at(index) > above && codes.at(index) <= up_to)
}
