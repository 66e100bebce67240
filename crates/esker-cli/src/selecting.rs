//! `--where`: conditions on edges, and the part of a graph that meets them in a temporary database.

use std::sync::Arc;

use clap::Args;
use esker::graph::{Cancel, Direction, Run};
use esker::selection::{Condition, Conditions, SelectionReader, notes};
use esker::store::io::TemporaryDirectory;
use esker::store::{Snapshot, Store};

use crate::failure::{Failure, Outcome};
use crate::importing::{DuplicatesArg, OrderArg, PolicyArgs, import_reader};
use crate::resources::ResourceArgs;
use crate::text;

/// Conditions on edges.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhereArgs {
    /// Only edges whose property meets a condition: kind=depends, kind!=breaks, since>=2011 and so on; all of several. Vertices without such
    /// an edge are left out
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
}

/// A selection, and the temporary database that holds it until it is dropped.
pub(crate) struct Selected {
    pub(crate) snapshot: Snapshot,
    _temporary: TemporaryDirectory,
}

impl WhereArgs {
    /// The conditions on the edges of a version; `None` if there are none.
    pub(crate) fn on(&self, snapshot: &Snapshot) -> Result<Option<Arc<Conditions>>, Failure> {
        text::warn_of(&notes(&self.conditions, snapshot)?);
        Ok(Conditions::of(&self.conditions, snapshot)?)
    }

    /// Refuses `--all-vertices` where nothing leaves edges out.
    pub(crate) fn check_all_vertices(&self, all_vertices: bool, has_window: bool) -> Outcome {
        if all_vertices && !has_window && self.conditions.is_empty() {
            let message = "--all-vertices has no effect: only --window and --where leave out edges, and with them vertices";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(())
    }

    /// The selection of a version, copied; `None` if everything is selected.
    pub(crate) fn copy(
        &self,
        snapshot: &Snapshot,
        all_vertices: bool,
        resources: &ResourceArgs,
        cancel: &Cancel,
    ) -> Result<Option<Selected>, Failure> {
        self.check_all_vertices(all_vertices, false)?;
        let Some(conditions) = self.on(snapshot)? else { return Ok(None) };
        let run = Run::with_threads(1)?;
        let reader = SelectionReader::new(snapshot, &conditions, all_vertices, &run)?;
        let temporary = TemporaryDirectory::new()?;
        let target = temporary.path().join("selection.esker");
        // Whatever the version has is kept: duplicates were dealt with when it was made.
        let mut policy = PolicyArgs::default();
        policy.duplicates = snapshot.layer().multigraph.then_some(DuplicatesArg::Keep);
        policy.order = OrderArg::Keep;
        policy.no_in_edges = !snapshot.has(Direction::In);
        import_reader(Box::new(reader), &target, &policy, resources, cancel, false)?;
        Ok(Some(Selected { snapshot: Store::open(&target)?.snapshot()?, _temporary: temporary }))
    }
}
