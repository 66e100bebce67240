//! What a walk through many versions, one after another, knows of the layer that it is in.

use std::sync::{Arc, Weak};

use esker_format::Result;
use esker_graph::{Reservation, Run, VertexId, vertex};
use esker_layers::layer::{Codes, ListColumns, PlainLayer, Section};

/// The number of lists between two checks for cancellation.
const CHECK_LISTS: usize = 1024;

/// Compares versions one after another, as a follower does.
///
/// [`super::diff`] reads the codes of all lists of a layer of several versions. From the second difference within such a layer on, this
/// knows the vertices that each version touched, so a difference takes time linear in the changes. Memory: 8 bytes (16 with 64-bit ids) for
/// each arc that these versions added or deleted, up to twice as much while it is found; reserved from the budget of the run. Where that has
/// no room, codes are read each time.
#[derive(Debug, Default)]
pub struct DiffWalk {
    /// The layer of the last difference.
    layer: Weak<PlainLayer>,
    touched: Touched,
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

impl DiffWalk {
    /// The vertices, ascending and distinct, whose lists have a code above the first number and up to the second; `None` if they are not
    /// known.
    pub(super) fn touched(
        &mut self,
        layer: &Arc<PlainLayer>,
        section: &Section,
        between: (u32, u32),
        run: &Run,
    ) -> Result<Option<Vec<VertexId>>> {
        if !std::ptr::eq(self.layer.as_ptr(), Arc::as_ptr(layer)) {
            *self = Self { layer: Arc::downgrade(layer), touched: Touched::NotYet };
            return Ok(None);
        }
        if matches!(self.touched, Touched::NotYet) {
            self.touched = TouchedByCode::of(section, run)?.map_or(Touched::NoRoom, Touched::Known);
        }
        Ok(match &self.touched {
            Touched::Known(known) => Some(known.between(between)),
            Touched::NotYet | Touched::NoRoom => None,
        })
    }
}

/// The vertices whose lists have a code, by code.
#[derive(Debug)]
struct TouchedByCode {
    /// Ascending and distinct. Without the code 0, which is of earlier versions.
    pairs: Vec<(u32, VertexId)>,
    _memory: Reservation,
}

impl TouchedByCode {
    /// Reads all codes of a section; `None` if the budget has no room.
    fn of(section: &Section, run: &Run) -> Result<Option<Self>> {
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
            if !collect(lists, codes, run, &mut pairs, &mut memory)? {
                return Ok(None);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.shrink_to_fit();
        memory.shrink_to(size_of_val(&pairs[..]) as u64);
        Ok(Some(Self { pairs, _memory: memory }))
    }

    fn between(&self, (above, up_to): (u32, u32)) -> Vec<VertexId> {
        let end_of = |code| self.pairs.partition_point(|pair| pair.0 <= code);
        let pairs = &self.pairs[end_of(above)..end_of(up_to)];
        let mut vertices: Vec<VertexId> = pairs.iter().map(|pair| pair.1).collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }
}

/// Appends the codes of lists with their vertices. Returns whether there was room.
fn collect(
    lists: &ListColumns,
    codes: &Codes,
    run: &Run,
    pairs: &mut Vec<(u32, VertexId)>,
    memory: &mut Reservation,
) -> Result<bool> {
    let vertices = lists.vertices(run)?;
    for slot in 0..lists.num_lists() {
        if slot % CHECK_LISTS == 0 {
            run.check()?;
        }
        let v = vertices.map_or_else(|| vertex(slot), |vertices| vertices[slot]);
        let range = lists.range(slot)?;
        let codes = codes.get(range.clone())?;
        for code in (0..range.len()).map(|index| codes.at(index)) {
            let is_new = code > 0 && pairs.last() != Some(&(code, v));
            if is_new && !memory.push(pairs, (code, v), 1) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
