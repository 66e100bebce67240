//! `--store`: a run whose values become a vertex property.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use esker::answer::Answer;
use esker::catalogue::Entry;
use esker::change::{StoredColumn, store_answer};
use esker::store::View;

use crate::args::resources::ResourceArgs;
use crate::args::size::counted;
use crate::failure::{Failure, Outcome};
use crate::session::committing::Commits;
use crate::session::writing::{WriteArgs, parse_event_time};
use crate::show::text;

/// Where the values of a run are stored.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Store the values in the database, as a vertex property of this name, in a new version; COLUMN=NAME
    /// stores a further column, and the option may be repeated. Vertices without a value lose the one that
    /// an earlier run stored
    #[arg(long, value_name = "NAME")]
    store: Vec<String>,
    /// With --store: when what the version records happened, as in `esker add`
    #[arg(long, value_name = "TIME", value_parser = parse_event_time, requires = "store")]
    event_time: Option<u64>,
}

impl StoreArgs {
    /// Refuses what cannot be stored, before the run.
    pub(crate) fn check(&self, entry: &Entry, inputs: &[String], spans_versions: bool) -> Outcome {
        if self.store.is_empty() {
            return Ok(());
        }
        let refuse = |reason: String| Err(Failure::Usage(format!("--store has no effect: {reason}")));
        if spans_versions {
            let reason = "a property has the values of one version; name it with --at, in place of --compare, --versions and --each-version";
            return refuse(reason.to_owned());
        }
        if let Some(file) = inputs.iter().find(|input| !Path::new(input).is_dir()) {
            return refuse(format!("{file} is no database; import it first"));
        }
        if entry.edges || !entry.has_rows() {
            return refuse(format!("{} has no value for each vertex", entry.name));
        }
        for stored in self.columns() {
            if stored.property.is_empty() {
                return refuse("the property has no name".to_owned());
            }
            if let Some(column) = stored.column.filter(|column| !entry.columns.contains(column)) {
                let known = entry.columns.join(", ");
                return refuse(format!("{} has no column {column}; it has {known}", entry.name));
            }
        }
        Ok(())
    }

    /// Stores the values of a run; nothing if that is not asked for.
    pub(crate) fn store(
        &self,
        entry: &Entry,
        view: &View,
        answer: &Answer,
        inputs: &[String],
        resources: &ResourceArgs,
    ) -> Outcome {
        let columns = self.columns();
        let ([database], false) = (inputs, columns.is_empty()) else { return Ok(()) };
        let path = Path::new(database);
        let commits = Commits::end_on_signals(path, true)?;
        let stored = self.commit(path, &commits, entry, view, answer, resources);
        stored.map_err(|failure| commits.failed(failure))
    }

    fn commit(
        &self,
        path: &Path,
        commits: &Arc<Commits>,
        entry: &Entry,
        view: &View,
        answer: &Answer,
        resources: &ResourceArgs,
    ) -> Outcome {
        let columns = self.columns();
        let write = WriteArgs::of_time(self.event_time, resources);
        let writing = write.open(path, commits)?;
        let commit = write.commit(|| format!("store {} of {}", self.store.join(", "), entry.name));
        let (database, target) = (writing.destination(), &writing.target);
        let report = store_answer(database, target, view.version(), answer, &columns, &commit)?;
        if report.rejected > 0 {
            let values = counted(report.rejected, "value", "values");
            text::warn(&format!("warning: {values} of vertices that are no longer there are not stored"));
        }
        if report.version.is_none() {
            text::remark("nothing is stored: no vertex has a value");
        }
        write.finish(writing, report.set + report.unset, report.version.as_slice())?;
        Ok(())
    }

    /// The columns that are stored, each under the name of a property.
    fn columns(&self) -> Vec<StoredColumn<'_>> {
        let parts = self.store.iter().map(|stored| (stored, stored.split_once('=')));
        let columns = parts.map(|(stored, parts)| match parts {
            Some((column, property)) => StoredColumn { column: Some(column), property },
            None => StoredColumn { column: None, property: stored },
        });
        columns.collect()
    }
}
