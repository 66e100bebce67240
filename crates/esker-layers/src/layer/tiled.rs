//! The lists of a layer that keeps only tiles: their offsets are stored, their targets are decoded when they
//! are read.
//!
//! A read decodes a *part*: the lists of a strip of 65536 vertices, or half or a quarter of a strip, and so
//! on, where these have many arcs. The parts that were read last stay in memory: reading lists in order
//! decodes each part once, reading them at random many times.

use parking_lot::Mutex;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use esker_format::{Column, PageHint, Result};
use esker_graph::{Direction, Run, STRIP_LEN, VertexId};

use super::offsets::{ListCounts, Offsets};
use crate::tiles::Tiles;

/// Arcs of a part, at most, unless it is one list: 8 MiB with 32-bit ids. Few in tests, so that there are
/// several parts.
const PART_ARCS: usize = if cfg!(test) { 1 << 9 } else { 1 << 21 };

/// The lists of a direction of a complete layer that is kept only as tiles.
#[derive(Debug)]
pub struct TiledLists {
    offsets: Offsets,
    tiles: Arc<Tiles>,
    direction: Direction,
    /// The parts read last, oldest first.
    parts: Mutex<Vec<Arc<DecodedPart>>>,
}

/// The targets of successive lists.
#[derive(Debug)]
struct DecodedPart {
    slots: Range<usize>,
    first_arc: usize,
    num_arcs: usize,
    targets: OnceLock<Vec<VertexId>>,
    /// Held while the targets are decoded.
    decoding: Mutex<()>,
}

impl TiledLists {
    /// Arcs of the parts of a direction that stay in memory, at most, beside a longer list: 32 MiB with
    /// 32-bit ids.
    pub const KEPT_ARCS_MAX: usize = 4 * PART_ARCS;

    /// Checks that the column length matches the manifest. The tiles are those of the layer.
    pub(super) fn new(
        offsets: Column<u64>,
        tiles: Arc<Tiles>,
        direction: Direction,
        counts: ListCounts,
    ) -> Result<Self> {
        let offsets = Offsets::new(offsets, counts)?;
        Ok(Self { offsets, tiles, direction, parts: Mutex::default() })
    }

    pub(super) fn num_lists(&self) -> usize {
        self.offsets.num_lists()
    }

    pub(super) fn num_arcs(&self) -> usize {
        self.offsets.num_arcs()
    }

    /// The column of offsets.
    pub fn offsets_column(&self) -> &Column<u64> {
        self.offsets.column()
    }

    /// The tiles.
    pub fn tiles(&self) -> &Arc<Tiles> {
        &self.tiles
    }

    /// All offsets. The first call verifies their checksums and that they ascend from 0 to the number of
    /// arcs.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; cancellation.
    pub fn offsets(&self, run: &Run) -> Result<&[u64]> {
        self.offsets.all(run)
    }

    /// As [`TiledLists::offsets`], and verifies the checksums of the tiles. Their edges are verified as they
    /// are decoded.
    pub(super) fn verified_offsets(&self, run: &Run) -> Result<&[u64]> {
        let offsets = self.offsets(run)?;
        self.tiles.data().all(run)?;
        Ok(offsets)
    }

    /// The range of arcs of a list, for the properties.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`], also if there is no such slot.
    #[inline]
    pub(super) fn range(&self, slot: usize) -> Result<Range<usize>> {
        self.offsets.range(slot)
    }

    /// The first arc of a list, and its targets.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`], also if there is no such slot.
    pub(super) fn list(&self, slot: usize) -> Result<(usize, Vec<VertexId>)> {
        let range = self.range(slot)?;
        let mut targets = Vec::new();
        if !range.is_empty() {
            self.part(slot)?.append(range.clone(), &mut targets);
        }
        Ok((range.start, targets))
    }

    /// The targets of successive lists.
    pub(super) fn targets_of(&self, slots: Range<usize>) -> Result<Vec<VertexId>> {
        let mut targets = Vec::new();
        let mut slot = slots.start;
        while slot < slots.end {
            let part = self.part(slot)?;
            let end = part.slots.end.min(slots.end);
            let arcs = self.range(slot)?.start..self.range(end - 1)?.end;
            part.append(arcs, &mut targets);
            slot = end;
        }
        Ok(targets)
    }

    /// Gives the system a hint about the pages of mapped files; decoded parts stay. Tiles ignore
    /// [`PageHint::AtRandom`]: they are read in order.
    pub(super) fn hint(&self, hint: PageHint) {
        self.offsets.column().hint(hint);
        if hint == PageHint::Release {
            self.tiles.data().release();
        }
    }

    /// The part of a list, decoded.
    fn part(&self, slot: usize) -> Result<Arc<DecodedPart>> {
        let part = self.find_or_add(slot)?;
        if part.targets.get().is_none() {
            let _decoding = part.decoding.lock();
            if part.targets.get().is_none() {
                let offsets = self.offsets.slice(part.slots.clone())?;
                let targets = self.tiles.lists_of(self.direction, part.slots.start, offsets)?;
                part.targets.get_or_init(|| targets);
            }
        }
        Ok(part)
    }

    fn find_or_add(&self, slot: usize) -> Result<Arc<DecodedPart>> {
        let mut parts = self.parts.lock();
        if let Some(at) = parts.iter().rposition(|part| part.slots.contains(&slot)) {
            // Moves it behind the others.
            parts[at..].rotate_left(1);
            return Ok(Arc::clone(&parts[parts.len() - 1]));
        }
        let (slots, arcs) = self.slots_of_part(slot)?;
        let part = DecodedPart {
            slots,
            first_arc: arcs.start,
            num_arcs: arcs.len(),
            targets: OnceLock::new(),
            decoding: Mutex::default(),
        };
        let mut kept: usize = part.num_arcs;
        let first = parts.iter().rposition(|part| {
            kept += part.num_arcs;
            kept > Self::KEPT_ARCS_MAX
        });
        parts.drain(..first.map_or(0, |first| first + 1));
        parts.push(Arc::new(part));
        Ok(Arc::clone(&parts[parts.len() - 1]))
    }

    /// The slots of the part of a list, and their arcs: those of the strip, halved until they are few.
    fn slots_of_part(&self, slot: usize) -> Result<(Range<usize>, Range<usize>)> {
        let start = slot / STRIP_LEN * STRIP_LEN;
        let mut slots = start..self.num_lists().min(start + STRIP_LEN);
        loop {
            let arcs = self.range(slots.start)?.start..self.range(slots.end - 1)?.end;
            if arcs.len() <= PART_ARCS || slots.len() == 1 {
                return Ok((slots, arcs));
            }
            let middle = slots.start + slots.len() / 2;
            slots = if slot < middle { slots.start..middle } else { middle..slots.end };
        }
    }
}

impl DecodedPart {
    /// Appends a range of its arcs, counted over all lists.
    fn append(&self, arcs: Range<usize>, into: &mut Vec<VertexId>) {
        let targets = self.targets.get().map_or(&[][..], Vec::as_slice);
        into.extend_from_slice(&targets[arcs.start - self.first_arc..arcs.end - self.first_arc]);
    }
}
