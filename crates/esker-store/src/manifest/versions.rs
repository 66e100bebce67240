//! The versions of a database, in a persistent trie: a change costs O(log(number)) and shares the rest.
//!
//! The trie is keyed by version number, six bits a level. Clones share nodes. A change copies only the nodes
//! on the path to the version, of up to 64 pointers each, so ten thousand freezes do not copy ten thousand
//! versions each.

use std::fmt;
use std::sync::Arc;

use esker_format::VersionRecord;

/// Bits of a number per level.
const LEVEL_BITS: u32 = 6;

/// Versions by number, ascending. Cloning copies a pointer.
#[derive(Clone, Default)]
pub struct Versions {
    root: Option<Arc<TrieNode>>,
    /// Number of levels above the leaves.
    height: u32,
    len: usize,
}

#[derive(Clone)]
enum TrieNode {
    /// Versions whose numbers differ only in the last bits.
    Leaf(Vec<Arc<VersionRecord>>),
    /// Children, by the next bits of the numbers. No child is empty.
    Inner(Vec<(u64, Arc<TrieNode>)>),
}

/// The bits of a number above those used by the levels up to `height`.
fn above(number: u64, height: u32) -> u64 {
    number.checked_shr((height + 1) * LEVEL_BITS).unwrap_or(0)
}

/// The bits of a number used by the level `height`.
fn digit(number: u64, height: u32) -> u64 {
    number.checked_shr(height * LEVEL_BITS).unwrap_or(0) & ((1 << LEVEL_BITS) - 1)
}

impl Versions {
    /// Number of versions.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no versions.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The version with a number. Time: O(log(number)).
    pub(crate) fn get(&self, number: u64) -> Option<&VersionRecord> {
        if above(number, self.height) > 0 {
            return None;
        }
        let (mut node, mut height) = (self.root.as_deref()?, self.height);
        loop {
            match node {
                TrieNode::Leaf(records) => {
                    let found = records.binary_search_by_key(&number, |record| record.number);
                    return found.ok().map(|at| &*records[at]);
                }
                TrieNode::Inner(nodes) => {
                    let found = nodes.binary_search_by_key(&digit(number, height), |node| node.0);
                    node = &nodes[found.ok()?].1;
                    height -= 1;
                }
            }
        }
    }

    /// The oldest version.
    pub(crate) fn first(&self) -> Option<&VersionRecord> {
        self.iter().next()
    }

    /// The newest version.
    pub fn last(&self) -> Option<&VersionRecord> {
        self.iter().next_back()
    }

    /// All versions, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &VersionRecord> {
        self.root.iter().flat_map(|root| root.records())
    }

    /// Adds a version, or replaces the one with its number; returns whether it is new. Time: O(log(number)).
    pub(crate) fn insert(&mut self, record: VersionRecord) -> bool {
        while above(record.number, self.height) > 0 {
            self.root = self.root.take().map(|root| Arc::new(TrieNode::Inner(vec![(0, root)])));
            self.height += 1;
        }
        let height = self.height;
        let root = self.root.get_or_insert_with(|| Arc::new(TrieNode::empty(height)));
        let is_new = Arc::make_mut(root).insert(record, height);
        self.len += usize::from(is_new);
        is_new
    }

    /// Removes a version; returns whether it existed. Time: O(log(number)).
    pub(crate) fn remove(&mut self, number: u64) -> bool {
        if self.get(number).is_none() {
            return false;
        }
        if let Some(root) = &mut self.root
            && Arc::make_mut(root).remove(number, self.height)
        {
            self.root = None;
        }
        self.len -= 1;
        true
    }
}

impl TrieNode {
    fn empty(height: u32) -> Self {
        if height == 0 { Self::Leaf(Vec::new()) } else { Self::Inner(Vec::new()) }
    }

    fn records(&self) -> Box<dyn DoubleEndedIterator<Item = &VersionRecord> + '_> {
        match self {
            Self::Leaf(records) => Box::new(records.iter().map(|record| &**record)),
            Self::Inner(nodes) => Box::new(nodes.iter().flat_map(|(_, node)| node.records())),
        }
    }

    fn insert(&mut self, record: VersionRecord, height: u32) -> bool {
        match self {
            Self::Leaf(records) => {
                match records.binary_search_by_key(&record.number, |record| record.number) {
                    Ok(at) => {
                        records[at] = Arc::new(record);
                        false
                    }
                    Err(at) => {
                        records.insert(at, Arc::new(record));
                        true
                    }
                }
            }
            Self::Inner(nodes) => {
                let digit = digit(record.number, height);
                let at = nodes.binary_search_by_key(&digit, |node| node.0).unwrap_or_else(|at| {
                    nodes.insert(at, (digit, Arc::new(Self::empty(height - 1))));
                    at
                });
                Arc::make_mut(&mut nodes[at].1).insert(record, height - 1)
            }
        }
    }

    /// Removes an existing version; returns whether the node is now empty.
    fn remove(&mut self, number: u64, height: u32) -> bool {
        match self {
            Self::Leaf(records) => {
                records.retain(|record| record.number != number);
                records.is_empty()
            }
            Self::Inner(nodes) => {
                if let Ok(at) = nodes.binary_search_by_key(&digit(number, height), |node| node.0)
                    && Arc::make_mut(&mut nodes[at].1).remove(number, height - 1)
                {
                    nodes.remove(at);
                }
                nodes.is_empty()
            }
        }
    }
}

impl PartialEq for Versions {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Eq for Versions {}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    pub(in super::super) fn version(number: u64, time_ms: u64) -> VersionRecord {
        let message = String::new();
        let committed_ms = time_ms;
        VersionRecord {
            number,
            time_ms,
            committed_ms,
            message,
            commit: 0,
            num_vertices: 0,
            num_edges: 0,
            num_arcs: 0,
            num_loops: 0,
        }
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn it_behaves_as_a_map_and_clones_do_not_change(
            steps in prop::collection::vec((any::<bool>(), 0_u32..64, 0_u64..200), 0..300),
        ) {
            let (mut versions, mut model) = (Versions::default(), BTreeMap::new());
            let mut older = Vec::new();
            for (time, &(insert, shift, number)) in (0..).zip(&steps) {
                // Mostly small numbers, some huge.
                let number = if shift % 8 == 0 { number << (shift % 57) } else { number };
                if insert {
                    prop_assert_eq!(versions.insert(version(number, time)), model.insert(number, time).is_none());
                } else {
                    prop_assert_eq!(versions.remove(number), model.remove(&number).is_some());
                }
                older.push((versions.clone(), model.clone()));
            }
            for (versions, model) in older {
                let found = versions.iter().map(|version| (version.number, version.time_ms));
                prop_assert!(found.eq(model.iter().map(|(&number, &time)| (number, time))));
                prop_assert!(versions.iter().rev().map(|version| version.number).eq(model.keys().rev().copied()));
                prop_assert_eq!(versions.len(), model.len());
                prop_assert_eq!(versions.is_empty(), model.is_empty());
                prop_assert_eq!(versions.first().map(|version| version.number), model.keys().next().copied());
                prop_assert_eq!(versions.last().map(|version| version.number), model.keys().next_back().copied());
                for number in (0..200).chain([1 << 40, u64::MAX]) {
                    prop_assert_eq!(versions.get(number).map(|version| version.time_ms), model.get(&number).copied());
                }
            }
        }
    }

    #[test]
    fn a_change_copies_only_the_path_to_it() {
        let mut versions = Versions::default();
        (1..=10_000).for_each(|number| assert!(versions.insert(version(number, 0))));
        let before = versions.clone();
        versions.insert(version(10_001, 0));
        let shared = |number: u64| std::ptr::eq(before.get(number).unwrap(), versions.get(number).unwrap());
        assert!((1..=10_000).all(shared));
        let nodes = |versions: &Versions| match versions.root.as_deref() {
            Some(TrieNode::Inner(nodes)) => nodes.iter().map(|node| Arc::as_ptr(&node.1)).collect::<Vec<_>>(),
            _ => panic!("the root is not an inner node"),
        };
        let changed = nodes(&before).iter().zip(nodes(&versions)).filter(|(a, b)| **a != *b).count();
        assert_eq!(changed, 1);
    }
}
