//! `esker path`: the shortest paths between two vertices, or between those of many pairs.

use std::path::PathBuf;

use clap::{Arg, Args};
use esker::local::{PathLength, PathOptions, paths};
use serde_json::{Value, json};

use crate::args::at::AtArgs;
use crate::args::choice::{ChoiceArgs, needs_window};
use crate::args::selecting::{QuotedList, pairs_of};
use crate::args::size::counted;
use crate::args::window_args::TIME_HELP;
use crate::failure::{Failure, Outcome};
use crate::session::asking::{Asked, FormArgs};
use crate::show::rows::RowTable;

/// Show the shortest paths between two vertices
///
/// The length of an edge is one step, or with --weight a property. A path meets no vertex twice and is told
/// by its vertices: of parallel edges only the shortest counts. A negative length is an error, wherever in
/// the graph it lies. With --ids-from, rows begin with the ends of their pair, and a pair without a path has
/// none. Exit code 1 if a path is missing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker path web.esker alice dave
  esker path friends.esker alice carol --weight weight --count 3
  esker path web.esker alice dave --avoid bob,carol --max-steps 4 --as-undirected
  esker path web.esker --ids-from pairs.csv")]
#[command(mut_args(of_single_edges))]
pub(crate) struct PathCommand {
    /// The database
    database: PathBuf,
    /// Id of the vertex where paths begin
    #[arg(required_unless_present = "ids_from")]
    from: Option<String>,
    /// Id of the vertex where they end
    #[arg(required_unless_present = "ids_from")]
    to: Option<String>,
    /// Read more pairs of ids from this file, one a line, separated by tabs, commas or blanks as in the first
    /// line, after the one that is given; `-` is standard input. The file may be compressed. A first line
    /// such as `from,to` names the columns, unless both are vertices
    #[arg(long, value_name = "FILE")]
    ids_from: Option<String>,
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
        let pairs = self.pairs(&asked)?;
        let avoided: Vec<String> = self.avoid.iter().flat_map(|list| list.0.iter().cloned()).collect();
        let options = PathOptions {
            count: self.count as usize,
            weight,
            direction: asked.direction(),
            avoid: &asked.vertices(&avoided)?,
            max_steps: self.max_steps.map(|steps| steps as usize),
        };
        let ends: &[&str] = if self.ids_from.is_some() { &["from", "to"] } else { &[] };
        let number = (self.count > 1).then_some("path");
        let length = if weight.is_some() { "distance" } else { "steps" };
        let mut rows = RowTable::of(ends.iter().copied().chain(number).chain(["vertex", length]));
        let mut missing: Vec<&[String; 2]> = Vec::new();
        for pair in &pairs {
            let (from, to) = (asked.vertex(&pair[0])?, asked.vertex(&pair[1])?);
            let found = paths(asked.graph(), from, to, options, &asked.run)?;
            if found.is_empty() {
                missing.push(pair);
            }
            let own = if ends.is_empty() { Vec::new() } else { vec![asked.id(from)?, asked.id(to)?] };
            for (place, path) in found.iter().enumerate() {
                for (&v, &length) in path.vertices.iter().zip(&path.lengths) {
                    let number = number.map(|_| json!(place + 1));
                    let own = own.iter().cloned().chain(number);
                    rows.push(own.chain([asked.id(v)?, length_json(length)]).collect());
                }
            }
        }
        if missing.len() == pairs.len() && !pairs.is_empty() {
            // A program that reads JSON reads an answer without paths.
            self.form.print_if_json(&rows)?;
        } else {
            self.form.print(&rows)?;
        }
        match missing.split_first() {
            None => Ok(()),
            Some((first, others)) => Err(self.no_path(first, others.len(), &avoided)),
        }
    }

    /// The ends of the paths: those that are given, and then those of the file.
    fn pairs(&self, asked: &Asked) -> Result<Vec<[String; 2]>, Failure> {
        let mut pairs = Vec::new();
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => pairs.push([from.clone(), to.clone()]),
            (Some(from), None) => {
                return Err(Failure::Usage(format!(
                    "a path that begins at {from:?} has to end at a vertex: give it, too"
                )));
            }
            (None, _) => {}
        }
        if let Some(file) = &self.ids_from {
            pairs.extend(pairs_of(file, |id| asked.vertex(id).is_ok())?);
        }
        Ok(pairs)
    }

    /// The failure that a pair has no path, nor have so many others.
    fn no_path(&self, pair: &[String; 2], others: usize, avoided: &[String]) -> Failure {
        let steps = self.max_steps.map(|max| format!(" of at most {}", counted(max.into(), "step", "steps")));
        let without = match avoided {
            [] => String::new(),
            ids => {
                format!(" without {}", ids.iter().map(|id| format!("{id:?}")).collect::<Vec<_>>().join(", "))
            }
        };
        let more = match others {
            0 => String::new(),
            others => format!(", nor between {}", counted(others as u64, "other pair", "other pairs")),
        };
        let ([from, to], steps) = (pair, steps.unwrap_or_default());
        Failure::Failed(format!("no path{steps} leads from {from:?} to {to:?}{without}{more}"))
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
