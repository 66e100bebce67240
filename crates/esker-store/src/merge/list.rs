//! Merges the arcs between one vertex and one target.
//!
//! The arcs of a vertex are gathered from its fragments, oldest first, and sorted by target; each target is
//! then a small history. A tombstone kills every living copy. A whole fragment says which copies that were
//! alive before it continue: its arcs without a birth of their own. Each of these takes over the birth of a
//! copy with the same properties. All other copies died unseen in the first version that the fragment's layer
//! distinguishes, because otherwise they would be among its past arcs.

use std::ops::Range;

use esker_format::{Result, ValueSlice};
use esker_graph::VertexId;
use esker_layers::layer::{ArcChunk, ListColumns};

/// The birth of an arc of a whole fragment that is older than the fragment's layer.
pub(super) const OLDER: u32 = u32::MAX;

/// Where an arc and its properties are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArcLocation {
    /// The index of the lists in [`TargetHistory::lists`].
    pub(super) lists: u32,
    /// The index of the arc in the lists.
    pub(super) at: usize,
}

/// An arc with its birth.
#[derive(Debug, Clone, Copy)]
pub(super) struct BornArc {
    pub(super) target: VertexId,
    /// The version code of its birth.
    pub(super) born: u32,
    pub(super) source: ArcLocation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A tombstone.
    Dead,
    /// An arc that is alive at the end of its layer.
    Main,
    /// An arc that died within the range of its layer.
    Past,
}

/// An arc or tombstone of a fragment. Codes are those of the merged layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct HistoryEntry {
    pub(super) target: VertexId,
    /// The position of the fragment among those of the vertex.
    pub(super) fragment: u32,
    pub(super) kind: EntryKind,
    pub(super) born: u32,
    pub(super) died: u32,
    pub(super) source: ArcLocation,
}

/// A fragment that is the whole list.
#[derive(Debug, Clone, Copy)]
pub(super) struct WholeFragment {
    pub(super) fragment: u32,
    /// The code of the first version that its layer distinguishes.
    pub(super) first_code: u32,
    /// The birth of an older arc that no known older fragment contains.
    pub(super) unmatched: u32,
}

/// The arcs that lead from one vertex to one target.
#[derive(Debug)]
pub(super) struct TargetHistory<'a> {
    pub(super) lists: &'a [&'a ListColumns],
    /// The whole fragments of the vertex, oldest first.
    pub(super) wholes: Vec<WholeFragment>,
    /// The largest code; the merge undoes changes with larger ones.
    pub(super) newest: u32,
    /// Whether tombstones stay for older layers, because there are arcs below that the merge does not read.
    pub(super) is_chained: bool,
    /// Whether several arcs may lead to the same target.
    pub(super) multigraph: bool,
    /// Births and locations of the living copies.
    pub(super) alive: Vec<(u32, ArcLocation)>,
    /// The copies that were alive before the current fragment.
    pub(super) before: Vec<(u32, ArcLocation)>,
    /// Births, deaths and locations of the dead copies.
    pub(super) past: Vec<(u32, u32, ArcLocation)>,
    /// The version since which the arcs in older layers are dead.
    pub(super) died: Option<u32>,
}

impl TargetHistory<'_> {
    /// Merges the entries of a target. `alive` must hold the copies known to be alive before.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    pub(super) fn apply(&mut self, mut entries: &[HistoryEntry]) -> Result<()> {
        let mut wholes = 0;
        while let Some(entry) = entries.first() {
            if let Some(&whole) = self.wholes.get(wholes).filter(|whole| whole.fragment <= entry.fragment) {
                let count = entries.partition_point(|entry| entry.fragment == whole.fragment);
                let (own, rest) = entries.split_at(count);
                self.replace(whole, own)?;
                (entries, wholes) = (rest, wholes + 1);
                continue;
            }
            match entry.kind {
                EntryKind::Dead => self.kill(entry.died),
                EntryKind::Main => self.alive.push((entry.born, entry.source)),
                EntryKind::Past => self.bury(entry.born, entry.died, entry.source),
            }
            entries = &entries[1..];
        }
        while let Some(&whole) = self.wholes.get(wholes) {
            self.replace(whole, &[])?;
            wholes += 1;
        }
        Ok(())
    }

    fn kill(&mut self, died: u32) {
        let older_live = self.alive.is_empty() || self.multigraph;
        if self.is_chained && older_live {
            self.died.get_or_insert(died);
        }
        self.lay_aside();
        while let Some((born, source)) = self.before.pop() {
            self.bury(born, died, source);
        }
    }

    /// Adds a past arc if a version saw it; keeps it alive if the merge undoes its death.
    fn bury(&mut self, born: u32, died: u32, source: ArcLocation) {
        if died > self.newest {
            self.alive.push((born, source));
        } else if born.max(1) < died {
            self.past.push((born, died, source));
        }
    }

    /// Moves all living copies to `before`, which must be empty.
    fn lay_aside(&mut self) {
        std::mem::swap(&mut self.before, &mut self.alive);
    }

    /// Replaces the living copies by the entries of a whole fragment.
    fn replace(&mut self, whole: WholeFragment, own: &[HistoryEntry]) -> Result<()> {
        self.lay_aside();
        for entry in own {
            let born = match entry.born {
                OLDER => self.birth(entry.source)?.unwrap_or(whole.unmatched),
                born => born,
            };
            match entry.kind {
                EntryKind::Main => self.alive.push((born, entry.source)),
                EntryKind::Past => self.bury(born, entry.died, entry.source),
                EntryKind::Dead => {}
            }
        }
        while let Some((born, source)) = self.before.pop() {
            self.bury(born, whole.first_code, source);
        }
        Ok(())
    }

    /// Removes a copy with the same properties as `source` from `before`, and returns its birth.
    fn birth(&mut self, source: ArcLocation) -> Result<Option<u32>> {
        for index in 0..self.before.len() {
            if self.is_same(self.before[index].1, source)? {
                return Ok(Some(self.before.swap_remove(index).0));
            }
        }
        Ok(None)
    }

    fn is_same(&self, one: ArcLocation, other: ArcLocation) -> Result<bool> {
        let lists = |source: ArcLocation| self.lists[source.lists as usize];
        let bits = |source: ArcLocation, number: usize| {
            lists(source).property(number).map_or(Ok(0), |values| values.bits_at(source.at))
        };
        let count = lists(one).properties().len().max(lists(other).properties().len());
        for number in 0..count {
            if bits(one, number)? != bits(other, number)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The locations of a chunk's arcs, as runs. At the end of the chunk their properties are copied run by run.
#[derive(Debug, Default)]
pub(super) struct PropertyRuns {
    runs: Vec<(u32, Range<usize>)>,
}

impl PropertyRuns {
    /// Records that the chunk's next arcs are those of a range of some lists.
    pub(super) fn note(&mut self, lists: u32, range: Range<usize>) {
        match self.runs.last_mut() {
            Some((last, run)) if *last == lists && run.end == range.start => run.end = range.end,
            _ => self.runs.push((lists, range)),
        }
    }

    /// Copies the properties of all recorded arcs. `verified` are the properties of the first lists.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    pub(super) fn finish(
        self,
        lists: &[&ListColumns],
        verified: &[Vec<ValueSlice<'_>>],
        chunk: &mut ArcChunk,
    ) -> Result<()> {
        for (number, bits) in chunk.properties.iter_mut().enumerate() {
            bits.reserve(chunk.targets.len());
            for (which, range) in &self.runs {
                let which = *which as usize;
                match (verified.get(which), lists[which].property(number)) {
                    (Some(verified), Some(_)) => verified[number].append_bits(range.clone(), bits),
                    (None, Some(values)) => values.append_bits(range.clone(), bits)?,
                    // The property was defined after these lists were written.
                    (_, None) => bits.resize(bits.len() + range.len(), 0),
                }
            }
        }
        Ok(())
    }
}
