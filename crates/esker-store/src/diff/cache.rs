//! Remembers which vertices each version of a layer touched.

use std::sync::{Arc, Weak};

use esker_format::Result;
use esker_graph::{Reservation, Run, VertexId, vertex};
use esker_layers::layer::{Codes, ListColumns, PlainLayer, Section};

/// The number of lists between two checks for cancellation.
const CHECK_LISTS: usize = 1024;

/// The part of the free budget that a cache may take: what it serves needs the rest.
const BUDGET_PART: u64 = 4;

/// Compares versions one after another, as a follower does.
///
/// [`super::diff`] reads the codes of all lists of a layer of several versions. From the second difference
/// within such a layer on, this knows the vertices that each later version touched, so a difference takes
/// time linear in the changes. Memory: 12 bytes (24 with 64-bit ids) for each arc that these versions added
/// or deleted, up to twice as much while it is found. It is reserved from the budget of the run, of which it
/// takes at most a quarter of what is free. Where that has no room, codes are read each time.
#[derive(Debug, Default)]
pub struct DiffCache {
    /// The layer of the last difference.
    layer: Weak<PlainLayer>,
    touched: Touched,
}

/// The codes of the versions of a layer between two versions.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangedCodes {
    /// The code of the older version.
    pub(super) above: u32,
    /// The code of the newer version.
    pub(super) up_to: u32,
}

impl ChangedCodes {
    #[inline]
    pub(super) fn contains(self, code: u32) -> bool {
        self.above < code && code <= self.up_to
    }
}

/// What is known of the layer.
#[derive(Debug, Default)]
enum Touched {
    /// It was read once at most.
    #[default]
    NotYet,
    /// The budget has no room for it.
    NoRoom,
    Known(TouchedByCode),
}

impl DiffCache {
    /// The vertices, ascending and distinct, whose lists have one of these codes; `None` if they are not
    /// known.
    pub(super) fn touched(
        &mut self,
        layer: &Arc<PlainLayer>,
        section: &Section,
        changed: ChangedCodes,
        run: &Run,
    ) -> Result<Option<Vec<VertexId>>> {
        if !std::ptr::eq(self.layer.as_ptr(), Arc::as_ptr(layer)) {
            *self = Self { layer: Arc::downgrade(layer), touched: Touched::NotYet };
            return Ok(None);
        }
        if matches!(self.touched, Touched::NotYet) {
            let known = TouchedByCode::of(section, changed.above, run)?;
            self.touched = known.map_or(Touched::NoRoom, Touched::Known);
        }
        Ok(match &self.touched {
            Touched::Known(known) => known.vertices(changed),
            Touched::NotYet | Touched::NoRoom => None,
        })
    }

    /// Gives back its memory if the layer is gone.
    pub(super) fn forget_gone(&mut self) {
        if self.layer.strong_count() == 0 {
            *self = Self::default();
        }
    }
}

/// The vertices whose lists have a code, by code.
#[derive(Debug)]
struct TouchedByCode {
    /// Codes up to this one are left out.
    above: u32,
    /// Ascending and distinct.
    pairs: Vec<(u32, VertexId)>,
    /// Of the pairs, and of as many vertices, which a difference takes.
    _memory: Reservation,
}

impl TouchedByCode {
    /// Reads all codes of a section, and keeps those above a number; `None` if the budget has no room.
    fn of(section: &Section, above: u32, run: &Run) -> Result<Option<Self>> {
        let bytes_max = run.budget().free_bytes() / BUDGET_PART;
        let Some(mut memory) = run.budget().try_reserve(0) else { return Ok(None) };
        let mut pairs = Vec::new();
        let (dead, past) = (section.dead(), section.past());
        let columns = [
            section.born().map(|born| (section.main(), born)),
            dead.and_then(|dead| dead.codes.as_ref().map(|codes| (&dead.lists, codes))),
            past.map(|past| (&past.lists, &past.born)),
            past.map(|past| (&past.lists, &past.died)),
        ];
        for (lists, codes) in columns.into_iter().flatten() {
            let fits = for_each_above(lists, codes, above, run, |pair| {
                pairs.last() == Some(&pair) || memory.push(&mut pairs, pair, 1) && memory.bytes() <= bytes_max
            })?;
            if !fits {
                return Ok(None);
            }
        }
        run.check()?;
        pairs.sort_unstable();
        pairs.dedup();
        pairs.shrink_to_fit();
        let bytes = size_of_val(&pairs[..]) + pairs.len() * size_of::<VertexId>();
        Ok(memory.resize(bytes as u64).then_some(Self { above, pairs, _memory: memory }))
    }

    /// The vertices whose lists have one of these codes; `None` if some of the codes were left out.
    fn vertices(&self, changed: ChangedCodes) -> Option<Vec<VertexId>> {
        if changed.above < self.above {
            return None;
        }
        let end_of = |code| self.pairs.partition_point(|pair| pair.0 <= code);
        let pairs = &self.pairs[end_of(changed.above)..end_of(changed.up_to)];
        let mut vertices: Vec<VertexId> = pairs.iter().map(|pair| pair.1).collect();
        vertices.sort_unstable();
        vertices.dedup();
        Some(vertices)
    }
}

/// Calls `take` with the codes above a number and their vertices, until it returns `false`. Returns what it
/// returned last.
fn for_each_above(
    lists: &ListColumns,
    codes: &Codes,
    above: u32,
    run: &Run,
    mut take: impl FnMut((u32, VertexId)) -> bool,
) -> Result<bool> {
    let vertices = lists.vertices(run)?;
    for slot in 0..lists.num_lists() {
        if slot % CHECK_LISTS == 0 {
            run.check()?;
        }
        let v = vertices.map_or_else(|| vertex(slot), |vertices| vertices[slot]);
        let range = lists.range(slot)?;
        let codes = codes.get(range.clone())?;
        let mut codes = (0..range.len()).map(|index| codes.at(index)).filter(|&code| code > above);
        if !codes.all(|code| take((code, v))) {
            return Ok(false);
        }
    }
    Ok(true)
}
