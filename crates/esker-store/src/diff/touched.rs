//! Finds the vertices whose lists may differ between two versions: those that a layer changed in between.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use esker_format::Result;
use esker_graph::{Direction, Run, VertexId, vertex};
use esker_layers::layer::{CodeSlice, Section};
use esker_layers::stack::Stack;

use super::cache::{ChangedCodes, DiffCache};

/// Iterates over the touched vertices, ascending and distinct, by merging the directories of the layers that
/// end after the older version. If a layer begins before that version, its version codes select the vertices.
/// Memory: a few words a layer; of a layer that a cache knows, the touched vertices, for which it reserved
/// room.
pub(crate) struct TouchedVertices<'a> {
    layers: Vec<TouchedLayer<'a>>,
    /// The next vertex of each layer.
    heap: BinaryHeap<Reverse<(VertexId, usize)>>,
}

/// The vertices of one layer.
enum TouchedLayer<'a> {
    /// They are found by their codes.
    Searched(SearchedLayer<'a>),
    Known(std::vec::IntoIter<VertexId>),
}

/// A layer whose lists are searched for codes.
struct SearchedLayer<'a> {
    section: &'a Section,
    /// The directory; `None`: all vertices.
    vertices: Option<&'a [VertexId]>,
    next_slot: usize,
    num_slots: usize,
    /// The codes of the versions in between; `None`: all codes are.
    changed: Option<ChangedCodes>,
    /// Whether the older version ends before this layer, which is not complete. Where a list stands whole in
    /// a merged layer, no code says what the layer's first version changed of it. The arcs of that version
    /// may have the code 0, as those of older layers, and arcs that are gone have none. Such a list counts as
    /// changed.
    follows: bool,
}

impl<'a> TouchedVertices<'a> {
    /// The vertices whose lists the layers of `stack` changed after version `since`. Of a layer that a cache
    /// knows, they are not searched.
    pub(crate) fn new(
        stack: &'a Stack,
        since: u64,
        mut cache: Option<&mut DiffCache>,
        run: &Run,
    ) -> Result<Self> {
        let mut touched = Self { layers: Vec::new(), heap: BinaryHeap::new() };
        for (index, layer) in stack.layers().iter().enumerate() {
            if layer.record().last_version <= since {
                continue;
            }
            let section = stack.section(index, Direction::Out)?;
            let newest = index + 1 == stack.layers().len();
            let last_rank = stack.rank().filter(|_| newest).unwrap_or(u32::MAX);
            let (mut changed, mut follows) = (None, false);
            // The directory of a complete layer lists all vertices; the codes tell only if the range
            // begins at or before `since`.
            let codes_tell = !layer.record().complete || layer.record().first_version <= since;
            if section.born().is_some() && codes_tell {
                // A version that the layer forgot counts as the next one that it distinguishes, so
                // the rank never excludes a change.
                let rank = layer.versions()?.partition_point(|&version| version <= since) as u32;
                changed = Some(ChangedCodes { above: rank, up_to: last_rank });
                follows = rank == 0 && !layer.record().complete;
            }
            if let (Some(cache), Some(changed), false) = (cache.as_deref_mut(), changed, follows)
                && let Some(known) = cache.touched(layer, section, changed, run)?
            {
                touched.layers.push(TouchedLayer::Known(known.into_iter()));
                continue;
            }
            let vertices = section.main().vertices(run)?;
            let num_slots = section.main().num_lists();
            let searched = SearchedLayer { section, vertices, next_slot: 0, num_slots, changed, follows };
            touched.layers.push(TouchedLayer::Searched(searched));
        }
        for layer in 0..touched.layers.len() {
            touched.advance(layer)?;
        }
        Ok(touched)
    }

    /// An upper bound of the number of touched vertices.
    pub(super) fn len_max(&self) -> usize {
        let len_max = |layer: &TouchedLayer<'_>| match layer {
            TouchedLayer::Searched(layer) => layer.num_slots,
            TouchedLayer::Known(vertices) => vertices.len(),
        };
        self.layers.iter().map(len_max).sum()
    }

    /// The vertex that [`TouchedVertices::next`] returns next.
    pub(super) fn peek(&self) -> Option<VertexId> {
        self.heap.peek().map(|&Reverse((v, _))| v)
    }

    /// Returns the next vertex, and advances.
    pub(crate) fn next(&mut self) -> Result<Option<VertexId>> {
        let Some(v) = self.peek() else { return Ok(None) };
        while let Some(&Reverse((other, layer))) = self.heap.peek()
            && other == v
        {
            self.heap.pop();
            self.advance(layer)?;
        }
        Ok(Some(v))
    }

    fn advance(&mut self, index: usize) -> Result<()> {
        let next = match &mut self.layers[index] {
            TouchedLayer::Searched(layer) => layer.next()?,
            TouchedLayer::Known(vertices) => vertices.next(),
        };
        if let Some(v) = next {
            self.heap.push(Reverse((v, index)));
        }
        Ok(())
    }
}

impl SearchedLayer<'_> {
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
        let (Some(changed), Some(born)) = (self.changed, self.section.born()) else { return Ok(true) };
        if self.follows && self.section.previous_at(slot)?.is_none() {
            return Ok(true);
        }
        let main = self.section.main().range(slot)?;
        if has_code(born.get(main.clone())?, main.len(), changed) {
            return Ok(true);
        }
        if let Some(dead) = self.section.dead()
            && let (Some(codes), Some(slot)) = (&dead.codes, dead.lists.slot_of(v)?)
        {
            let range = dead.lists.range(slot)?;
            if has_code(codes.get(range.clone())?, range.len(), changed) {
                return Ok(true);
            }
        }
        if let Some(past) = self.section.past()
            && let Some(slot) = past.lists.slot_of(v)?
        {
            let range = past.lists.range(slot)?;
            return Ok(has_code(past.born.get(range.clone())?, range.len(), changed)
                || has_code(past.died.get(range.clone())?, range.len(), changed));
        }
        Ok(false)
    }
}

fn has_code(codes: CodeSlice<'_>, len: usize, changed: ChangedCodes) -> bool {
    (0..len).any(|index| changed.contains(codes.at(index)))
}
