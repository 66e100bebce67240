//! `--where` and `--reverse`: a part of a graph, or its reverse, in a temporary database.

use clap::Args;
use esker::graph::{Cancel, Direction, Run};
use esker::selection::{Condition, Selection, SelectionReader};
use esker::store::io::TemporaryDirectory;
use esker::store::{Snapshot, Store};

use crate::failure::Failure;
use crate::importing::{DuplicatesArg, OrderArg, PolicyArgs, import_reader};
use crate::resources::ResourceArgs;
use crate::text;

/// Conditions on edges.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhereArgs {
    /// Only edges whose property meets a condition: kind=depends, kind!=breaks, since>=2011 and so on; all of several. The edges are
    /// copied to a temporary database
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
}

/// A selection, and the temporary database that holds it until it is dropped.
pub(crate) struct Selected {
    pub(crate) snapshot: Snapshot,
    _temporary: TemporaryDirectory,
}

impl WhereArgs {
    /// The selection of a version; `None` if everything is selected.
    pub(crate) fn select(
        &self,
        snapshot: &Snapshot,
        reverse: bool,
        policy: &PolicyArgs,
        resources: &ResourceArgs,
        cancel: &Cancel,
    ) -> Result<Option<Selected>, Failure> {
        if self.conditions.is_empty() && !reverse {
            return Ok(None);
        }
        let selection = Selection { conditions: self.conditions.clone(), reverse };
        let reader = SelectionReader::new(snapshot, &selection, &Run::with_threads(1)?)?;
        text::warn_of(&selection.notes(snapshot)?);
        let temporary = TemporaryDirectory::new()?;
        let target = temporary.path().join("selection.esker");
        // Whatever the version has is kept: duplicates were dealt with when it was made.
        let mut policy = policy.clone();
        policy.duplicates = Some(DuplicatesArg::Keep);
        policy.order = OrderArg::Keep;
        policy.no_in_edges = !snapshot.has(Direction::In);
        import_reader(Box::new(reader), &target, &policy, resources, cancel, false)?;
        Ok(Some(Selected { snapshot: Store::open(&target)?.snapshot()?, _temporary: temporary }))
    }
}
