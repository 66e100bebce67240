//! Which graph of a version a run computes on.

use clap::Args;
use esker::store::Snapshot;

use crate::failure::Failure;

/// Choices beside the version.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ChoiceArgs {
    /// Read a directed graph as undirected: `a -> b` and `b -> a` become one edge with the smaller weight; if parallel edges are kept,
    /// each stays an edge
    #[arg(long)]
    as_undirected: bool,
}

impl ChoiceArgs {
    /// The version with these choices and this weight.
    ///
    /// # Errors
    /// No such property, or no numbers in it.
    pub(crate) fn of(self, snapshot: Snapshot, weight: Option<&str>) -> Result<Snapshot, Failure> {
        let snapshot = match weight {
            Some(name) => snapshot.weighted_by(name)?,
            None => snapshot,
        };
        Ok(if self.as_undirected { snapshot.as_undirected() } else { snapshot })
    }
}
