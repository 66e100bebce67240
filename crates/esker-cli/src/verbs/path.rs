//! `esker path`: the shortest paths between two vertices.

use clap::Args;
use esker::local::{PathLength, PathOptions, paths};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::session::asking::AskArgs;
use crate::show::rows::RowTable;

/// Show the shortest paths between two vertices
///
/// The length of an edge is its weight, if edges have one, else one step. A path is told by its vertices: of
/// parallel edges only the shortest counts. A negative length is an error, wherever in the graph it lies.
/// Exit code 1 if there is no path.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker path web.esker alice dave
  esker path web.esker alice dave --count 3 --steps")]
pub(crate) struct PathCommand {
    #[command(flatten)]
    ask: AskArgs,
    /// Id of the vertex where paths begin
    from: String,
    /// Id of the vertex where they end
    to: String,
    /// Number of paths, the shortest first
    #[arg(long, visible_alias = "k", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Edge property that is the length of an edge [default: the weight of the database]
    #[arg(long, value_name = "PROPERTY")]
    weight: Option<String>,
    /// Count steps, whatever the weights
    #[arg(long, conflicts_with = "weight")]
    steps: bool,
}

impl PathCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let asked = self.ask.open()?;
        let version = &asked.version;
        let weight = match &self.weight {
            Some(name) => Some(version.edge_property(name)?),
            None => version.weight_property().filter(|_| !self.steps),
        };
        let (from, to) = (asked.vertex(&self.from)?, asked.vertex(&self.to)?);
        let options = PathOptions { count: self.count as usize, weight };
        let found = paths(asked.graph(), from, to, options, &asked.run)?;
        let number = (self.count > 1).then_some("path");
        let length = if weight.is_some() { "distance" } else { "steps" };
        let mut rows = RowTable::of(number.into_iter().chain(["vertex", length]));
        if found.is_empty() {
            // A program that reads JSON reads an answer without paths.
            self.ask.print_if_json(&rows)?;
            return Err(Failure::Failed(format!("no path leads from {:?} to {:?}", self.from, self.to)));
        }
        for (place, path) in found.iter().enumerate() {
            for (&v, &length) in path.vertices.iter().zip(&path.lengths) {
                let mut row: Vec<Value> = number.map(|_| json!(place + 1)).into_iter().collect();
                row.extend([asked.id(v)?, length_json(length)]);
                rows.push(row);
            }
        }
        self.ask.print(&rows)
    }
}

/// A length as JSON; an integer of more than 64 bits as a float.
fn length_json(length: PathLength) -> Value {
    match length {
        PathLength::Whole(whole) => {
            i64::try_from(whole).map_or_else(|_| json!(whole as f64), |whole| json!(whole))
        }
        PathLength::Real(real) => json!(real),
    }
}
