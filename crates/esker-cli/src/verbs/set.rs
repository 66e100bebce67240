//! `esker set`: sets properties of vertices.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use esker::change::{SetOptions, SetReport, set_from_table, set_vertex};
use esker::store::format::value::name::split_name;
use serde_json::json;

use crate::args::importing::{RejectsArg, file_names, finish_rejects};
use crate::args::notation_args::NotationArgs;
use crate::args::reading::{ReadArgs, SchemaArg};
use crate::args::size::{count, counted};
use crate::failure::{Failure, Outcome};
use crate::language::said;
use crate::session::committing::Commits;
use crate::session::writing::WriteArgs;
use crate::show::text;

/// Set properties of vertices
///
/// TABLE is a CSV or TSV file with a header, or a Parquet or Arrow file: a column with a name such as id has
/// the ids of vertices, else the first one; every other column is a property. An empty field or null leaves
/// the value as it is; with --clear-empty it removes it. The type of a new property is that of its column, in
/// a CSV the first that fits all its values: integer, number, truth value, date, time, text. All changes
/// become one version.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker set web.esker people.csv
  esker set web.esker --vertex alice age=40 city='New York' phone=")]
pub(crate) struct SetCommand {
    /// The database
    database: PathBuf,
    /// The table; `-` is standard input. With --vertex: one or more NAME=VALUE
    #[arg(required = true, value_name = "TABLE | NAME=VALUE")]
    values: Vec<String>,
    /// Set properties of this vertex only
    #[arg(long, value_name = "ID")]
    vertex: Option<String>,
    /// Add missing vertices
    #[arg(long)]
    new: bool,
    /// Character between columns; `\t` or `tab` for a tab
    #[arg(long, value_name = "CHAR", conflicts_with = "vertex")]
    delimiter: Option<String>,
    /// The first line names the columns, though it looks like values
    #[arg(long, conflicts_with = "vertex")]
    header: bool,
    /// Types of new properties, by the names of their columns, as in zip:text; others are told by their
    /// values
    #[arg(long, value_name = "NAME:TYPE,...", conflicts_with = "vertex")]
    schema: Vec<SchemaArg>,
    /// Remove the values of fields without one, instead of leaving them as they are
    #[arg(long, conflicts_with = "vertex")]
    clear_empty: bool,
    /// Word that stands for no value, as an empty field does, beside those that the database remembers;
    /// may be repeated
    #[arg(long, value_name = "WORD", allow_hyphen_values = true, conflicts_with = "vertex")]
    null: Vec<String>,
    #[command(flatten)]
    rejects: RejectsArg,
    #[command(flatten)]
    notation: NotationArgs,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    write: WriteArgs,
}

impl SetCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let values = self.pairs()?;
        let commits = Commits::end_on_signals(&self.database, true)?;
        self.set(&values, &commits).map_err(|failure| commits.failed(failure))
    }

    fn set(&self, values: &[(String, String)], commits: &Arc<Commits>) -> Outcome {
        let writing = self.write.open(&self.database, commits)?;
        let report = match &self.vertex {
            Some(id) => {
                let commit = self.write.commit(|| format!("set {id}"));
                let notation = self.notation.notation();
                set_vertex(writing.destination(), &writing.target, id, values, &notation, self.new, &commit)?
            }
            None => {
                let file = &self.values[0];
                let commit = self.write.commit(|| format!("set {}", file_names(&[file])));
                let mut options = ReadArgs::of_table(self.delimiter.as_deref())?;
                options.notation = self.notation.notation();
                options.header = self.header.then_some(true);
                options.schema = self.schema.iter().flat_map(|schema| schema.0.iter().cloned()).collect();
                options.nulls.clone_from(&self.null);
                let rejects = self.rejects.create(&self.database, &self.values, false)?;
                let set = SetOptions {
                    add_missing: self.new,
                    clears_empty: self.clear_empty,
                    rejects: rejects.clone(),
                };
                let report =
                    set_from_table(writing.destination(), &writing.target, file, &options, &set, &commit)?;
                finish_rejects(rejects.as_deref())?;
                report
            }
        };
        report.warnings.iter().for_each(|warning| text::warn(&format!("warning: {}", said(warning))));
        if report.repeated > 0 {
            text::warn(&format!(
                "warning: {} a vertex that an earlier row names too: the last values count",
                counted(report.repeated, "row names", "rows name")
            ));
        }
        if let Some(odd) = &report.odd_times {
            text::warn(&format!("warning: {odd}"));
        }
        let written = self.write.finish(writing, report.set + report.unset, report.version.as_slice())?;
        if self.json {
            return text::json(&json!({
                "database": self.database.display().to_string(),
                "version": report.version,
                "vertices": report.vertices,
                "repeated": report.repeated,
                "rejected": report.rejected,
                "set": report.set,
                "unset": report.unset,
                "new_properties": report.defined.iter().map(|(name, _)| name).collect::<Vec<_>>(),
                "changes": written.json(),
            }));
        }
        self.print(&report)
    }

    /// The names and values given with `--vertex`.
    fn pairs(&self) -> Result<Vec<(String, String)>, Failure> {
        if self.vertex.is_none() {
            return match &self.values[..] {
                [_] => Ok(Vec::new()),
                _ => Err(Failure::Usage(
                    "give one table, or --vertex ID and one or more NAME=VALUE".to_owned(),
                )),
            };
        }
        let pair = |text: &String| match split_name(text, '=') {
            Some((name, value)) => Ok((name, value.to_owned())),
            None => Err(Failure::Usage(format!("{text:?} is not NAME=VALUE, as in age=40"))),
        };
        self.values.iter().map(pair).collect()
    }

    fn print(&self, report: &SetReport) -> Outcome {
        let name = self.database.display();
        let Some(version) = report.version else {
            return text::line(&format!("{name}: nothing to commit"));
        };
        for (property, kind) in &report.defined {
            text::line(&format!("{name}: new vertex property {property} ({kind})"))?;
        }
        let unset =
            if report.unset > 0 { format!(", {} removed", count(report.unset)) } else { String::new() };
        text::line(&format!(
            "{name}: version {version}: {} set{unset} on {}",
            counted(report.set, "value", "values"),
            counted(report.vertices, "vertex", "vertices")
        ))
    }
}
