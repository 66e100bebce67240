//! A filter of the edges that the layers above the complete one may hold, so that a freeze need not search
//! every fragment of a chain for each new edge.

use std::collections::HashSet;

use esker_format::Result;
use esker_format::memory::filled;
use esker_graph::{Direction, Reservation, Run, VertexId};
use esker_layers::ids::hash_int;
use esker_layers::layer::PlainLayer;
use esker_layers::stack::Stack;

/// Arcs for each 64-bit word. At most about one unknown arc in 300 then appears to be known.
const ARCS_PER_WORD: usize = 3;
/// Gathering the arcs of layers is worthwhile once there was one change for this many of them.
const ARCS_PER_CHANGE: usize = 16;

/// The edges of all layers but the complete one, as a Bloom filter that sets bits in one word for each arc.
/// One freeze passes it to the next, which adds the edges of new layers.
///
/// Without the filter, an edge that does not exist takes a search in each fragment: 200 searches in a chain
/// of 200 fragments, which would be nearly all the work of freezing over many layers. Memory: 3 to 6 bytes
/// for each arc of these layers.
#[derive(Debug, Default)]
pub struct KnownEdges {
    /// The numbers of the layers whose edges are in the filter.
    layers: HashSet<u32>,
    words: Vec<u64>,
    _memory: Option<Reservation>,
    num_arcs: usize,
    /// The number of changes since the filter last learned a layer.
    num_changes: usize,
}

impl KnownEdges {
    /// Adds the edges of a stack's new layers, if that is worthwhile for `num_changes` changes and those of
    /// earlier calls. Returns whether the filter now covers the stack.
    ///
    /// Time: linear in the arcs of the new layers; occasionally in the arcs of all layers.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; cancellation.
    pub(crate) fn learn(&mut self, stack: &Stack, num_changes: usize, run: &Run) -> Result<bool> {
        if stack.rank().is_some() {
            return Ok(false);
        }
        let later = &stack.layers()[1..];
        let arcs_of = |layer: &PlainLayer| layer.record().out.arcs as usize;
        let all: usize = later.iter().map(|layer| arcs_of(layer)).sum();
        let is_new = |layer: &PlainLayer| !self.layers.contains(&layer.record().number);
        let new: usize = later.iter().filter(|layer| is_new(layer)).map(|layer| arcs_of(layer)).sum();
        let words = (2 * all).div_ceil(ARCS_PER_WORD).max(1);
        // Merged layers are new too. The arcs of the layers that they replaced stay until the filter is
        // full and is rebuilt.
        let is_full = self.num_arcs + new > self.words.len() * ARCS_PER_WORD;
        self.num_changes += num_changes;
        if new / ARCS_PER_CHANGE > self.num_changes {
            return Ok(false);
        }
        self.num_changes = 0;
        if is_full {
            // With room for twice the arcs, so that it fills up only after as many more.
            *self = Self::default();
            let Some(memory) = run.budget().try_reserve(words as u64 * 8) else { return Ok(false) };
            *self = Self { words: filled(0, words)?, _memory: Some(memory), ..Self::default() };
        }
        for layer in later {
            run.check()?;
            if self.layers.insert(layer.record().number) {
                let lists = layer.out().main();
                let (vertices, all) = (lists.vertices(run)?.unwrap_or(&[]), lists.all(run)?);
                let window = all.window(0..vertices.len())?;
                for (slot, &v) in vertices.iter().enumerate() {
                    let targets = window.targets(all.extents().range(slot));
                    targets.iter().for_each(|&target| self.insert(v, target));
                }
            }
        }
        Ok(true)
    }

    fn insert(&mut self, source: VertexId, target: VertexId) {
        let (word, bits) = word_and_bits(source, target, self.words.len());
        self.words[word] |= bits;
        self.num_arcs += 1;
    }

    /// Whether an arc may be in one of the layers; `false` is certain.
    #[inline]
    pub(super) fn may_have(&self, direction: Direction, v: VertexId, neighbour: VertexId) -> bool {
        let (source, target) = if direction == Direction::Out { (v, neighbour) } else { (neighbour, v) };
        if self.words.is_empty() {
            return false;
        }
        let (word, bits) = word_and_bits(source, target, self.words.len());
        self.words[word] & bits == bits
    }
}

/// The index of an arc's word, and its bits in that word.
#[inline]
fn word_and_bits(source: VertexId, target: VertexId, words: usize) -> (usize, u64) {
    let hash = hash_int(hash_int(source as usize as u64) ^ target as usize as u64);
    let word = (u128::from(hash) * words as u128) >> 64;
    let bits = [0, 6, 12, 18].iter().fold(0, |bits, shift| bits | 1 << ((hash >> shift) & 63));
    (word as usize, bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_arcs_are_known_and_few_others_are() {
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
