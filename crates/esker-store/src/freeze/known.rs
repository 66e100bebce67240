//! Which edges the layers over the complete one may have, so that a freeze need not look for each new edge in every fragment of
//! a chain.

use std::collections::HashSet;

use esker_graph::{Direction, Run, VertexId};

use crate::error::Result;
use crate::ids::hash_int;
use crate::stack::Stack;

/// Edges for each word of 64 bits of a filter: 10.7 bits an edge, of which an unknown one is taken for known in 1 case of 60.
const EDGES_PER_WORD: usize = 6;
/// Words of the first filter; each further one has twice as many as that before.
const WORDS_MIN: usize = 1 << 14;
/// Gathering the edges of layers is worth it for at least one change in so many of them.
const EDGES_PER_CHANGE: usize = 16;

/// The edges of all layers of a graph but the complete one, as Bloom filters of one word an edge. It is kept from one
/// freeze to the next, and learns the edges of layers that are new.
///
/// A chain of 200 fragments is searched 200 times for an edge that is not there; without this, that is nearly all that freezing does
/// over many layers. Memory: 11 to 22 bits for each arc of these layers.
#[derive(Debug, Default)]
pub struct KnownEdges {
    /// Numbers of the layers whose edges are known.
    layers: HashSet<u32>,
    /// The last one has room for some more.
    filters: Vec<Vec<u64>>,
    /// Arcs in the last filter, and in all.
    in_last: usize,
    total: usize,
}

impl KnownEdges {
    /// Learns the edges of the layers of a stack, if that is worth it for so many changes; whether it knows all of them then.
    ///
    /// Time: for the arcs of new layers. Where layers were merged, or most of what is known is gone, from the beginning.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`]; cancellation.
    pub fn learn(&mut self, stack: &Stack, num_changes: usize, run: &Run) -> Result<bool> {
        if stack.rank().is_some() {
            return Ok(false);
        }
        let later = &stack.layers()[1..];
        let arcs = |known: bool| -> usize {
            let layers = later.iter().map(|layer| layer.record());
            let wanted = layers.filter(|record| self.layers.contains(&record.number) == known);
            wanted.map(|record| record.out.arcs as usize).sum()
        };
        let (known, new) = (arcs(true), arcs(false));
        if new / EDGES_PER_CHANGE > num_changes {
            return Ok(false);
        }
        if self.total > 2 * (known + new) {
            if (known + new) / EDGES_PER_CHANGE > num_changes {
                return Ok(false);
            }
            *self = Self::default();
        }
        for layer in later {
            let number = layer.record().number;
            if self.layers.contains(&number) {
                continue;
            }
            run.check()?;
            let lists = layer.out().main();
            let (vertices, offsets, targets) =
                (lists.vertices(run)?, lists.offsets(run)?, lists.targets(run)?);
            for (&v, bounds) in vertices.unwrap_or(&[]).iter().zip(offsets.windows(2)) {
                for &target in &targets[bounds[0] as usize..bounds[1] as usize] {
                    self.insert(hash_of(v, target));
                }
            }
            self.layers.insert(number);
        }
        Ok(true)
    }

    fn insert(&mut self, hash: u64) {
        if self.filters.last().is_none_or(|words| self.in_last >= words.len() * EDGES_PER_WORD) {
            self.filters.push(vec![0; WORDS_MIN << self.filters.len()]);
            self.in_last = 0;
        }
        if let Some(words) = self.filters.last_mut() {
            let (word, bits) = place_of(hash, words.len());
            words[word] |= bits;
        }
        self.in_last += 1;
        self.total += 1;
    }

    /// Whether an arc may be in one of the layers. `false` is certain.
    #[inline]
    pub(super) fn may_have(&self, direction: Direction, v: VertexId, neighbour: VertexId) -> bool {
        let hash = match direction {
            Direction::Out => hash_of(v, neighbour),
            Direction::In => hash_of(neighbour, v),
        };
        self.filters.iter().rev().any(|words| {
            let (word, bits) = place_of(hash, words.len());
            words[word] & bits == bits
        })
    }
}

#[inline]
fn hash_of(source: VertexId, target: VertexId) -> u64 {
    hash_int(hash_int(source as usize as u64) ^ target as usize as u64)
}

/// Where in a filter of so many words an arc belongs, and its bits there.
#[inline]
fn place_of(hash: u64, words: usize) -> (usize, u64) {
    let word = ((hash >> 32) * words as u64) >> 32;
    let bits = [0, 6, 12, 18].iter().fold(0, |bits, shift| bits | 1 << ((hash >> shift) & 63));
    (word as usize, bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_is_known_and_little_else() {
        let mut known = KnownEdges::default();
        let edges = 300_000;
        for i in 0..edges {
            known.insert(hash_of(i, i / 3));
        }
        assert!(known.filters.len() > 1, "it grew");
        assert!((0..edges).all(|i| known.may_have(Direction::Out, i, i / 3)));
        assert!((0..edges).all(|i| known.may_have(Direction::In, i / 3, i)));
        let mistaken = (0..edges).filter(|&i| known.may_have(Direction::Out, i, i / 3 + 1)).count();
        assert!(mistaken < edges as usize / 15, "{mistaken}");
    }
}
