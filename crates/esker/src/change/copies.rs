//! The two copies of each undirected edge in an input that has it at both of its ends.

use std::hash::{DefaultHasher, Hash, Hasher};

use esker_store::ids::ExternalId;
use esker_store::{Error, Result};

/// Skips one of the two copies of each edge.
#[derive(Default)]
pub(super) struct Copies {
    /// The hashes of the edges that were taken, less those of the ones that were skipped.
    difference: u64,
}

impl Copies {
    /// Whether this copy of an edge is skipped.
    pub(super) fn skips(&mut self, source: ExternalId<'_>, target: ExternalId<'_>) -> bool {
        let mut hasher = DefaultHasher::new();
        (source.min(target), source.max(target)).hash(&mut hasher);
        let hash = hasher.finish();
        if source < target {
            self.difference = self.difference.wrapping_add(hash);
        } else if source > target {
            self.difference = self.difference.wrapping_sub(hash);
        }
        source > target
    }

    /// Refuses a whole input that has one copy only of some edge. A stream may begin or end between the two.
    pub(super) fn expect_both(&self) -> Result<()> {
        match self.difference {
            0 => Ok(()),
            _ => Err(Error::invalid(
                "each edge is read as standing at both of its ends, but some stand at one end only: add their \
                 other rows, or let the database forget how files are read",
            )),
        }
    }
}
