//! `esker degree`: the degrees of vertices, or how many vertices have which degree.

use clap::Args;
use esker::catalogue::{Params, Resources, find};
use esker::computation::Computation;
use esker::graph::Direction;
use esker::histogram::Histogram;
use esker::local::{degrees, degrees_of_all};
use serde_json::json;

use crate::args::selecting::IdsFromArg;
use crate::failure::{Failure, Outcome};
use crate::session::asking::{AskArgs, Asked, DirectionArg};
use crate::show::rows::{RowTable, bars};

/// Show the degrees of vertices, or the distribution of all degrees
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker degree web.esker alice bob
  esker degree web.esker --direction in")]
pub(crate) struct DegreeCommand {
    #[command(flatten)]
    ask: AskArgs,
    /// Ids of the vertices; without any, the distribution over all
    #[arg(value_name = "VERTEX")]
    vertices: Vec<String>,
    #[command(flatten)]
    ids: IdsFromArg,
    /// Which edges the distribution counts, of a directed graph [default: out]
    #[arg(long, value_enum, conflicts_with_all = ["vertices", "ids_from"])]
    direction: Option<DirectionArg>,
}

impl DegreeCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let asked = self.ask.open()?;
        if self.vertices.is_empty() && !self.ids.is_given() {
            return self.ask.print(&bars(
                "degree",
                &Histogram::of_counts(all_degrees(&asked, self.direction)?.into_iter()),
            ));
        }
        let is_directed = asked.version.is_directed();
        let names =
            if is_directed { &["vertex", "out_degree", "in_degree"][..] } else { &["vertex", "degree"] };
        let mut rows = RowTable::of(names.iter().copied());
        for v in asked.vertices(&self.ids.after(&self.vertices, |id| asked.vertex(id).is_ok())?)? {
            let (out, incoming) = degrees(asked.graph(), v)?;
            let mut row = vec![asked.id(v)?, json!(out)];
            if is_directed {
                row.push(json!(incoming));
            }
            rows.push(row);
        }
        self.ask.print(&rows)
    }
}

/// The degrees of all vertices, in the direction that was given or along the edges; of a part of the edges,
/// those of the vertices that have one, as a run counts them.
pub(crate) fn all_degrees(asked: &Asked, given: Option<DirectionArg>) -> Result<Vec<u64>, Failure> {
    let Asked { version, selection, .. } = asked;
    let chosen = asked.direction_or(given, DirectionArg::Out)?;
    let directions = match chosen {
        _ if !version.is_directed() => &[Direction::Out][..],
        DirectionArg::Out => &[Direction::Out],
        DirectionArg::In => &[Direction::In],
        DirectionArg::Both => &[Direction::Out, Direction::In],
    };
    if let Some(_missing) = directions.iter().find(|&&direction| !version.has(direction)) {
        return Err(Failure::Usage("the database stores no in-edges: use --direction out".to_owned()));
    }
    if selection.conditions.is_empty() && selection.kinds.is_empty() {
        return Ok(degrees_of_all(asked.graph(), directions, &asked.run)?);
    }
    let view = selection.of(version, &asked.run)?.view;
    let params = match (version.is_directed(), chosen) {
        (false, _) => Params::default(),
        (true, DirectionArg::Out) => Params::default().with("direction", "out"),
        (true, DirectionArg::In) => Params::default().with("direction", "in"),
        (true, DirectionArg::Both) => Params::default().with("direction", "both"),
    };
    let planned = Computation::of(find("degrees")?, &params).plan(&view, &Resources::of(&asked.run))?;
    let answer = planned.run(&asked.run)?;
    let Some(degrees) = answer.columns.first() else { return Ok(Vec::new()) };
    let rows = (0..degrees.values.len()).map(|row| degrees.values.get(row).number());
    Ok(rows.map(|degree| degree.map_or(0, |degree| degree as u64)).collect())
}
