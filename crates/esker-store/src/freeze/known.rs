//! Which edges the layers over the complete one may have, so that a freeze need not look for each new edge in every fragment of
//! a chain.

use std::collections::HashSet;

use esker_graph::{Direction, Run, VertexId};

use crate::error::Result;
use crate::ids::hash_int;
use crate::layer::PlainLayer;
use crate::memory::{filled, has_room};
use crate::stack::Stack;

/// Arcs for each word of 64 bits: so at most one unknown arc in 300 or so is taken for a known one.
const ARCS_PER_WORD: usize = 3;
/// The arcs of layers are worth gathering once there was one change for so many of them.
const ARCS_PER_CHANGE: usize = 16;

/// The edges of all layers of a graph but the complete one, as a Bloom filter of one word an arc. It is kept from one
/// freeze to the next, and learns the edges of layers that are new.
///
/// A chain of 200 fragments is searched 200 times for an edge that is not there; without this, that is nearly all that freezing does
/// over many layers. Memory: 3 to 6 bytes for each arc of these layers.
#[derive(Debug, Default)]
pub struct KnownEdges {
    /// Numbers of the layers whose edges are known.
    layers: HashSet<u32>,
    words: Vec<u64>,
    num_arcs: usize,
    /// Changes since something was learned.
    num_changes: usize,
}

impl KnownEdges {
    /// Learns the edges of the layers of a stack, if that is worth it for so many changes and those of the calls before; whether it
    /// knows all of them then.
    ///
    /// Time: for the arcs of new layers; now and then, of all.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`]; cancellation.
    pub fn learn(&mut self, stack: &Stack, num_changes: usize, run: &Run) -> Result<bool> {
        if stack.rank().is_some() {
            return Ok(false);
        }
        let later = &stack.layers()[1..];
        let arcs_of = |layer: &PlainLayer| layer.record().out.arcs as usize;
        let all: usize = later.iter().map(|layer| arcs_of(layer)).sum();
        let is_new = |layer: &PlainLayer| !self.layers.contains(&layer.record().number);
        let new: usize = later.iter().filter(|layer| is_new(layer)).map(|layer| arcs_of(layer)).sum();
        let words = (2 * all).div_ceil(ARCS_PER_WORD).max(1);
        if !has_room(run, "the edges of layers", words.max(self.words.len()) * 8) {
            *self = Self::default();
            return Ok(false);
        }
        // Layers that were merged are new, too. What they took the place of goes when there is no room for more.
        let is_full = self.num_arcs + new > self.words.len() * ARCS_PER_WORD;
        self.num_changes += num_changes;
        if new / ARCS_PER_CHANGE > self.num_changes {
            return Ok(false);
        }
        self.num_changes = 0;
        if is_full {
            // Not full again before as many arcs were learned once more.
            *self = Self { words: filled(0, words)?, ..Self::default() };
        }
        for layer in later {
            run.check()?;
            if self.layers.insert(layer.record().number) {
                let lists = layer.out().main();
                let (vertices, all) = (lists.vertices(run)?.unwrap_or(&[]), lists.all(run)?);
                let window = all.window(0..vertices.len());
                for (slot, &v) in vertices.iter().enumerate() {
                    let targets = window.targets(all.extents().range(slot));
                    targets.iter().for_each(|&target| self.insert(v, target));
                }
            }
        }
        Ok(true)
    }

    fn insert(&mut self, source: VertexId, target: VertexId) {
        let (word, bits) = place_of(source, target, self.words.len());
        self.words[word] |= bits;
        self.num_arcs += 1;
    }

    /// Whether an arc may be in one of the layers. `false` is certain.
    #[inline]
    pub(super) fn may_have(&self, direction: Direction, v: VertexId, neighbour: VertexId) -> bool {
        let (source, target) = if direction == Direction::Out { (v, neighbour) } else { (neighbour, v) };
        if self.words.is_empty() {
            return false;
        }
        let (word, bits) = place_of(source, target, self.words.len());
        self.words[word] & bits == bits
    }
}

/// Where among so many words an arc belongs, and its bits there.
#[inline]
fn place_of(source: VertexId, target: VertexId, words: usize) -> (usize, u64) {
    let hash = hash_int(hash_int(source as usize as u64) ^ target as usize as u64);
    let word = (u128::from(hash) * words as u128) >> 64;
    let bits = [0, 6, 12, 18].iter().fold(0, |bits, shift| bits | 1 << ((hash >> shift) & 63));
    (word as usize, bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_is_known_and_little_else() {
        let count = 300_000;
        let words = vec![0; count / ARCS_PER_WORD];
        let mut known = KnownEdges { words, ..KnownEdges::default() };
        let edges = || (0..count as VertexId).map(|i| (i, i / 3));
        edges().for_each(|(u, v)| known.insert(u, v));
        assert!(edges().all(|(u, v)| known.may_have(Direction::Out, u, v)));
        assert!(edges().all(|(u, v)| known.may_have(Direction::In, v, u)));
        let mistaken = edges().filter(|&(u, v)| known.may_have(Direction::Out, u, v + 1)).count();
        assert!(mistaken < count / 300, "{mistaken}");
        assert!(!KnownEdges::default().may_have(Direction::Out, 1, 2));
    }
}
