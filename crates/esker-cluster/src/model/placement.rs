//! Where edges lie: with the owners of their ends.
//!
//! A directed edge lies with the owner of its source, an undirected one with the owners of both ends. A
//! *delegate* is a vertex with too many edges for one shard to hold them all: its edges lie with the
//! owner of the other end. An undirected edge between two delegates lies with the owner of the lesser one. So
//! every shard has the part of a delegate's list that leads to its own vertices, but for those that are
//! delegates too.
//!
//! R. Pearce, M. Gokhale, N. Amato, "Faster Parallel Traversal of Scale Free Graphs at Extreme Scale with
//! Vertex Delegates", SC 2014.

use esker_store::ids::ExternalId;

use crate::model::owner::{OwnedId, Owners};

/// Bits of the filter before the search for a delegate, as words.
const FILTER_WORDS: usize = 64;

/// The owners of vertices, and the delegates among them, at a version of the whole.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    owners: Owners,
    directed: bool,
    /// The delegates, ascending by hash.
    delegates: Vec<(u64, OwnedId)>,
    /// A bit for the last bits of the hash of each delegate.
    filter: [u64; FILTER_WORDS],
}

/// The shards that an edge concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EdgePlace {
    /// The shard that holds it.
    pub(crate) shard: usize,
    /// The other shard that holds it.
    pub(crate) other: Option<usize>,
    /// The owner of the target, if it does not hold the edge and may not know the vertex.
    pub(crate) told: Option<usize>,
}

impl Placement {
    pub(crate) fn new(owners: Owners, directed: bool, delegates: impl IntoIterator<Item = OwnedId>) -> Self {
        let mut placement = Self { owners, directed, delegates: Vec::new(), filter: [0; FILTER_WORDS] };
        placement.extend(delegates);
        placement
    }

    /// Makes more vertices delegates.
    pub(crate) fn extend(&mut self, delegates: impl IntoIterator<Item = OwnedId>) {
        let owners = self.owners;
        self.delegates.extend(delegates.into_iter().map(|id| (owners.hash(id.as_id()), id)));
        self.delegates.sort_unstable();
        self.delegates.dedup();
        for (hash, _) in &self.delegates {
            self.filter[*hash as usize / 64 % FILTER_WORDS] |= 1 << (hash % 64);
        }
    }

    pub(crate) fn owners(&self) -> Owners {
        self.owners
    }

    /// Whether there are delegates; all processes say the same.
    pub(crate) fn has_delegates(&self) -> bool {
        !self.delegates.is_empty()
    }

    /// Number of delegates.
    pub(crate) fn num_delegates(&self) -> usize {
        self.delegates.len()
    }

    /// The delegates, in no order.
    pub(crate) fn delegates(&self) -> impl Iterator<Item = &OwnedId> {
        self.delegates.iter().map(|(_, id)| id)
    }

    pub(crate) fn is_delegate(&self, id: ExternalId<'_>) -> bool {
        self.has_delegates() && self.has(self.owners.hash(id), id)
    }

    /// As [`Placement::is_delegate`], of an id with this hash.
    #[inline]
    pub(crate) fn has(&self, hash: u64, id: ExternalId<'_>) -> bool {
        if self.filter[hash as usize / 64 % FILTER_WORDS] >> (hash % 64) & 1 == 0 {
            return false;
        }
        let from = self.delegates.partition_point(|(other, _)| *other < hash);
        let same = self.delegates[from..].iter().take_while(|(other, _)| *other == hash);
        same.into_iter().any(|(_, other)| other.as_id() == id)
    }

    /// Whether the list of a vertex in a shard has edges that count there: its own vertices do, and
    /// delegates. The lists of other ghosts of an undirected cluster repeat edges that count with their
    /// owners.
    pub(crate) fn counts_list(&self, shard: usize, id: ExternalId<'_>) -> bool {
        self.owners.of(id) == shard || self.is_delegate(id)
    }

    /// Where an edge lies.
    #[inline]
    pub(crate) fn of_edge(&self, source: ExternalId<'_>, target: ExternalId<'_>) -> EdgePlace {
        let (from, to) = (self.owners.hash(source), self.owners.hash(target));
        let (here, there) = (self.owners.of_hash(from), self.owners.of_hash(to));
        let alone = |shard: usize| EdgePlace { shard, other: None, told: None };
        if here == there {
            return alone(here);
        }
        let is_delegate = self.has(from, source);
        if self.directed {
            return if is_delegate { alone(there) } else { EdgePlace { told: Some(there), ..alone(here) } };
        }
        match (is_delegate, self.has(to, target)) {
            (false, false) => EdgePlace { other: Some(there), ..alone(here) },
            (true, false) => alone(there),
            (false, true) => alone(here),
            (true, true) => alone(if source <= target { here } else { there }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two vertices with different owners, of two shards.
    fn apart(owners: Owners) -> (u64, u64) {
        let of = |shard| (0..).find(|&id| owners.of(ExternalId::Int(id)) == shard).unwrap_or(0);
        (of(0), of(1))
    }

    #[test]
    fn edges_of_delegates_lie_with_the_other_end() {
        let owners = Owners::new(3, 2);
        let (a, b) = apart(owners);
        let place = |directed, delegates: &[u64]| {
            let delegates = delegates.iter().map(|&id| OwnedId::Int(id));
            let placement = Placement::new(owners, directed, delegates);
            let EdgePlace { shard, other, told } = placement.of_edge(ExternalId::Int(a), ExternalId::Int(b));
            (shard, other, told)
        };
        assert_eq!(place(true, &[]), (0, None, Some(1)));
        assert_eq!(place(true, &[b]), (0, None, Some(1)));
        assert_eq!(place(true, &[a]), (1, None, None));
        assert_eq!(place(true, &[a, b]), (1, None, None));
        assert_eq!(place(false, &[]), (0, Some(1), None));
        assert_eq!(place(false, &[b]), (0, None, None));
        assert_eq!(place(false, &[a]), (1, None, None));
        assert_eq!(place(false, &[a, b]), (usize::from(b < a), None, None));
    }

    #[test]
    fn delegates_are_found_among_many() {
        let owners = Owners::new(3, 4);
        let text = |number: u64| OwnedId::Text(format!("v{number}").into_bytes());
        let mut placement = Placement::new(owners, true, (0..500).map(text));
        placement.extend((400..600).map(text));
        assert_eq!(placement.num_delegates(), 600);
        for number in 0..1200 {
            assert_eq!(placement.is_delegate(text(number).as_id()), number < 600, "{number}");
        }
    }
}
