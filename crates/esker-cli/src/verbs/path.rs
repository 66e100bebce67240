//! `esker path`: the shortest paths between two vertices.

use std::path::PathBuf;

use clap::{Arg, Args};
use esker::local::{PathLength, PathOptions, paths};
use serde_json::{Value, json};

use crate::args::at::AtArgs;
use crate::args::choice::{ChoiceArgs, needs_window};
use crate::args::selecting::QuotedList;
use crate::args::size::counted;
use crate::args::window_args::TIME_HELP;
use crate::failure::{Failure, Outcome};
use crate::session::asking::{Asked, FormArgs};
use crate::show::rows::RowTable;

/// Show the shortest paths between two vertices
///
/// The length of an edge is one step, or with --weight a property. A path meets no vertex twice and is told
/// by its vertices: of parallel edges only the shortest counts. A negative length is an error, wherever in
/// the graph it lies. Exit code 1 if there is no path.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker path web.esker alice dave
  esker path friends.esker alice carol --weight weight --count 3
  esker path web.esker alice dave --avoid bob,carol --max-steps 4 --as-undirected")]
#[command(mut_args(of_single_edges))]
pub(crate) struct PathCommand {
    /// The database
    database: PathBuf,
    /// Id of the vertex where paths begin
    from: String,
    /// Id of the vertex where they end
    to: String,
    /// Number of paths, the shortest first
    #[arg(long, visible_alias = "k", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Edge property that is the length of an edge [default: each edge is one step]
    #[arg(long, value_name = "PROPERTY")]
    weight: Option<String>,
    /// Ids of vertices that no path may meet, separated by commas; quotes hold a comma of an id, as in
    /// '"a,b",c'; may be repeated
    #[arg(long, value_name = "ID,...")]
    avoid: Vec<QuotedList>,
    /// Only paths of at most N edges, whatever their lengths
    #[arg(long, value_name = "N")]
    max_steps: Option<u32>,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    #[arg(long, value_name = "NAME", help = TIME_HELP, help_heading = "Windows")]
    time: Option<String>,
    #[command(flatten)]
    form: FormArgs,
}

/// Hides the choices that are refused: a path leads over single edges.
fn of_single_edges(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "copies" | "combine" | "all_vertices" | "without" => argument.hide(true),
        _ => needs_window(argument),
    }
}

impl PathCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.form.round.apply();
        let selection = self.choice.selection(&self.at, None, self.time.as_deref())?;
        let asked = Asked::open(&self.database, &selection)?;
        let weight = self.weight.as_ref().map(|name| asked.version.edge_property(name)).transpose()?;
        let (from, to) = (asked.vertex(&self.from)?, asked.vertex(&self.to)?);
        let avoided: Vec<String> = self.avoid.iter().flat_map(|list| list.0.iter().cloned()).collect();
        let options = PathOptions {
            count: self.count as usize,
            weight,
            direction: asked.direction(),
            avoid: &asked.vertices(&avoided)?,
            max_steps: self.max_steps.map(|steps| steps as usize),
        };
        let found = paths(asked.graph(), from, to, options, &asked.run)?;
        let number = (self.count > 1).then_some("path");
        let length = if weight.is_some() { "distance" } else { "steps" };
        let mut rows = RowTable::of(number.into_iter().chain(["vertex", length]));
        if found.is_empty() {
            // A program that reads JSON reads an answer without paths.
            self.form.print_if_json(&rows)?;
            return Err(self.no_path(&avoided));
        }
        for (place, path) in found.iter().enumerate() {
            for (&v, &length) in path.vertices.iter().zip(&path.lengths) {
                let mut row: Vec<Value> = number.map(|_| json!(place + 1)).into_iter().collect();
                row.extend([asked.id(v)?, length_json(length)]);
                rows.push(row);
            }
        }
        self.form.print(&rows)
    }

    fn no_path(&self, avoided: &[String]) -> Failure {
        let steps = self.max_steps.map(|max| format!(" of at most {}", counted(max.into(), "step", "steps")));
        let without = match avoided {
            [] => String::new(),
            ids => {
                format!(" without {}", ids.iter().map(|id| format!("{id:?}")).collect::<Vec<_>>().join(", "))
            }
        };
        let (from, to, steps) = (&self.from, &self.to, steps.unwrap_or_default());
        Failure::Failed(format!("no path{steps} leads from {from:?} to {to:?}{without}"))
    }
}

/// A length as JSON; an integer that does not fit in 64 bits as a text, which is exact.
fn length_json(length: PathLength) -> Value {
    match length {
        PathLength::Whole(whole) => {
            u64::try_from(whole).map_or_else(|_| json!(whole.to_string()), |whole| json!(whole))
        }
        PathLength::Real(real) => json!(real),
    }
}
