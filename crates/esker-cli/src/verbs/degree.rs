//! `esker degree`: the degrees of vertices, or how many vertices have which degree.

use clap::Args;
use esker::graph::{Direction, vertex};
use esker::histogram::Histogram;
use esker::local::degrees;
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
            return self.ask.print(&bars("degree", &self.distribution(&asked)?));
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

    fn distribution(&self, asked: &Asked) -> Result<Histogram, Failure> {
        let version = &asked.version;
        let directions = match asked.direction_or(self.direction, DirectionArg::Out)? {
            _ if !version.is_directed() => &[Direction::Out][..],
            DirectionArg::Out => &[Direction::Out],
            DirectionArg::In => &[Direction::In],
            DirectionArg::Both => &[Direction::Out, Direction::In],
        };
        if let Some(_missing) = directions.iter().find(|&&direction| !version.has(direction)) {
            return Err(Failure::Usage("the database stores no in-edges: use --direction out".to_owned()));
        }
        let removed = version.removed(&asked.run)?;
        let mut counts = Vec::new();
        for v in (0..version.num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v)) {
            if v & 0xffff == 0 {
                asked.run.check()?;
            }
            let mut degree = 0;
            for &direction in directions {
                degree += asked.graph().degree(direction, v)? as u64;
            }
            counts.push(degree);
        }
        Ok(Histogram::of_counts(counts.into_iter()))
    }
}
