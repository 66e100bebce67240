//! What becomes of the arcs between one vertex and one target, when its fragments are merged.
//!
//! The arcs of a vertex are gathered from its fragments, oldest first, and sorted by target; then each target is a small history of its
//! own. Tombstones kill every copy that is alive. A whole fragment says which of the copies alive before it go on: its arcs without
//! a birth of their own; each takes over the birth of a copy with the same properties. All other copies died unseen, in the first version
//! that its layer tells apart, for else they would stand in its past.

use std::ops::Range;

use esker_graph::VertexId;

use crate::error::Result;
use crate::format::ValueSlice;
use crate::layer::{ArcChunk, ListColumns};

/// The birth of an arc of a whole fragment that is older than the layer.
pub(super) const OLDER: u32 = u32::MAX;

/// Where an arc and its properties lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Source {
    /// Position of the lists in [`Target::lists`].
    pub(super) lists: u32,
    /// Position in the lists.
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A tombstone.
    Dead,
    /// An arc that is alive at the end of its layer.
    Main,
    /// An arc that is not.
    Past,
}

/// Something that a fragment says of a target. Codes are those of the merged layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) target: VertexId,
    /// Position of the fragment among those of the vertex.
    pub(super) fragment: u32,
    pub(super) kind: Kind,
    pub(super) born: u32,
    pub(super) died: u32,
    pub(super) source: Source,
}

/// A fragment that stands for the whole list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    pub(super) fragment: u32,
    /// The code of the first version that its layer tells apart.
    pub(super) first_code: u32,
    /// The birth of an older arc of which no older fragment is known.
    pub(super) unmatched: u32,
}

/// The arcs of one target.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) lists: &'a [&'a ListColumns],
    /// The whole fragments of the vertex, oldest first.
    pub(super) wholes: Vec<Whole>,
    /// Largest code; above it is what the merge undoes.
    pub(super) newest: u32,
    /// Whether tombstones go on to older layers: there are arcs below that the merge does not see.
    pub(super) is_chained: bool,
    /// Whether several arcs may lead to the same target.
    pub(super) multigraph: bool,
    /// Births and places of the copies alive.
    pub(super) alive: Vec<(u32, Source)>,
    /// The copies that were alive before a fragment, while it is looked at.
    pub(super) before: Vec<(u32, Source)>,
    /// Births, deaths and places of those that are not.
    pub(super) past: Vec<(u32, u32, Source)>,
    /// Since when arcs in older layers are dead.
    pub(super) died: Option<u32>,
}

impl Target<'_> {
    /// Tells the history of a target, after `alive` was filled with what is known to be alive before.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`].
    pub(super) fn tell(&mut self, mut entries: &[Entry]) -> Result<()> {
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
                Kind::Dead => self.kill(entry.died),
                Kind::Main => self.alive.push((entry.born, entry.source)),
                Kind::Past => self.bury(entry.born, entry.died, entry.source),
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

    /// Puts an arc into the past, if a version ever saw it; back among the living, if its death is undone.
    fn bury(&mut self, born: u32, died: u32, source: Source) {
        if died > self.newest {
            self.alive.push((born, source));
        } else if born.max(1) < died {
            self.past.push((born, died, source));
        }
    }

    /// Moves all copies alive to `before`, which is empty.
    fn lay_aside(&mut self) {
        std::mem::swap(&mut self.before, &mut self.alive);
    }

    /// Replaces all that is alive by what a whole fragment says.
    fn replace(&mut self, whole: Whole, own: &[Entry]) -> Result<()> {
        self.lay_aside();
        for entry in own {
            let born = match entry.born {
                OLDER => self.birth(entry.source)?.unwrap_or(whole.unmatched),
                born => born,
            };
            match entry.kind {
                Kind::Main => self.alive.push((born, entry.source)),
                Kind::Past => self.bury(born, entry.died, entry.source),
                Kind::Dead => {}
            }
        }
        while let Some((born, source)) = self.before.pop() {
            self.bury(born, whole.first_code, source);
        }
        Ok(())
    }

    /// Takes a copy with the same properties as `source` out of `before`.
    fn birth(&mut self, source: Source) -> Result<Option<u32>> {
        for index in 0..self.before.len() {
            if self.is_same(self.before[index].1, source)? {
                return Ok(Some(self.before.swap_remove(index).0));
            }
        }
        Ok(None)
    }

    fn is_same(&self, one: Source, other: Source) -> Result<bool> {
        let lists = |source: Source| self.lists[source.lists as usize];
        let bits = |source: Source, number: usize| {
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

/// Arcs on their way into a chunk. Their properties are copied at its end, in runs.
#[derive(Debug, Default)]
pub(super) struct Copied {
    runs: Vec<(u32, Range<usize>)>,
}

impl Copied {
    /// Notes that the next arcs lie in a range of some lists.
    pub(super) fn note(&mut self, lists: u32, range: Range<usize>) {
        match self.runs.last_mut() {
            Some((last, run)) if *last == lists && run.end == range.start => run.end = range.end,
            _ => self.runs.push((lists, range)),
        }
    }

    /// Copies the properties of all noted arcs. `verified` are those of the first lists.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`].
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
                    // The property was defined later.
                    (_, None) => bits.resize(bits.len() + range.len(), 0),
                }
            }
        }
        Ok(())
    }
}
