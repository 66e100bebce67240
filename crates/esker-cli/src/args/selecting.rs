//! `--where` and `--kind`: conditions on edges and their ends.

use std::sync::Arc;

use clap::Args;
use esker::graph::Run;
use esker::selection::{Condition, Conditions, notes};
use esker::session::check_all_vertices;
use esker::store::{Version, View};

use crate::failure::Failure;
use crate::show::text;

/// Conditions on edges.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhereArgs {
    /// Only edges that meet a condition, in the words of SQL, such as since>=2011, "amount > 100 and not kind
    /// = 'fee'", "currency in ('EUR', 'CHF')", "source.country = 'DE'" or "vertex.group is null"; all of
    /// several
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) conditions: Vec<Condition>,
    #[command(flatten)]
    pub(crate) kinds: KindArgs,
}

/// `--kind`: kinds of edges.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct KindArgs {
    /// Only edges of these kinds, separated by commas
    #[arg(long = "kind", value_name = "KIND,...", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
}

impl WhereArgs {
    /// The conditions on the edges of a version; `None` if there are none.
    pub(crate) fn on(&self, version: &Version, run: &Run) -> Result<Option<Arc<Conditions>>, Failure> {
        let notes = notes(&self.conditions, version)?;
        notes.iter().for_each(|note| text::warn(&format!("warning: {note}")));
        self.quietly_on(version, run)
    }

    /// The same without warnings.
    pub(crate) fn quietly_on(
        &self,
        version: &Version,
        run: &Run,
    ) -> Result<Option<Arc<Conditions>>, Failure> {
        Ok(Conditions::with_kinds(&self.conditions, &self.kinds.kinds, version, run)?)
    }

    /// The version, of whose edges those remain that meet the conditions.
    pub(crate) fn select(&self, view: View, all_vertices: bool, run: &Run) -> Result<View, Failure> {
        check_all_vertices(all_vertices, !self.conditions.is_empty() || !self.kinds.kinds.is_empty())?;
        match self.on(view.version(), run)? {
            Some(conditions) => Ok(view.filtered(conditions, None, all_vertices, run)?),
            None => Ok(view),
        }
    }
}
