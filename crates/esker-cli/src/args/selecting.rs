//! `--where`: conditions on edges.

use std::sync::Arc;

use clap::Args;
use esker::graph::Run;
use esker::selection::{Condition, Conditions, notes};
use esker::session::check_all_vertices;
use esker::store::View;

use crate::failure::Failure;
use crate::show::text;

/// Conditions on edges.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhereArgs {
    /// Only edges whose property meets a condition: kind=depends, kind!=breaks, since>=2011 and so on; all of
    /// several. Vertices without such an edge are left out
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) conditions: Vec<Condition>,
}

impl WhereArgs {
    /// The conditions on the edges of a version; `None` if there are none.
    pub(crate) fn on(&self, view: &View) -> Result<Option<Arc<Conditions>>, Failure> {
        let notes = notes(&self.conditions, view.version())?;
        notes.iter().for_each(|note| text::warn(&format!("warning: {note}")));
        Ok(Conditions::of(&self.conditions, view.version())?)
    }

    /// The version, of whose edges those remain that meet the conditions.
    pub(crate) fn select(&self, view: View, all_vertices: bool, run: &Run) -> Result<View, Failure> {
        check_all_vertices(all_vertices, !self.conditions.is_empty())?;
        match self.on(&view)? {
            Some(conditions) => Ok(view.filtered(conditions, None, all_vertices, run)?),
            None => Ok(view),
        }
    }
}
