//! `esker get`: what a database holds about vertices.

use clap::Args;
use esker::differences::value_json;
use esker::graph::VertexId;
use esker::local::{PrefixMatches, degrees, with_prefix};
use serde_json::{Value, json};

use crate::args::grouping::LISTED_ROWS;
use crate::args::selecting::IdsFromArg;
use crate::args::size::{count, counted};
use crate::failure::{Failure, Outcome};
use crate::session::asking::{AskArgs, Asked};
use crate::show::rows::RowTable;
use crate::show::text;

/// Show vertices: their properties and degrees
///
/// A property that is called like another column is shown with `property.` before its name, as in
/// `property.vertex`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker get web.esker alice bob
  esker get web.esker --prefix ali --top 5
  cut -d, -f1 people.csv | esker get web.esker --ids-from -")]
pub(crate) struct GetCommand {
    #[command(flatten)]
    ask: AskArgs,
    /// Ids of the vertices
    #[arg(required_unless_present_any = ["ids_from", "prefix"], value_name = "VERTEX")]
    vertices: Vec<String>,
    #[command(flatten)]
    ids: IdsFromArg,
    /// Vertices whose ids begin with this text, in the order of their ids; reads all ids
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["vertices", "ids_from"])]
    prefix: Option<String>,
    /// Show at most N vertices of --prefix, and say how many there are [default: 20]
    #[arg(long, value_name = "N", requires = "prefix", conflicts_with_all = ["vertices", "ids_from"])]
    top: Option<usize>,
}

impl GetCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let asked = self.ask.open()?;
        let version = &asked.version;
        let names: Vec<String> = version.vertex_properties().map(|property| property.name.clone()).collect();
        let properties =
            names.iter().map(|name| version.vertex_property(name)).collect::<Result<Vec<_>, _>>()?;
        let counts = if version.is_directed() { &["out_degree", "in_degree"][..] } else { &["degree"] };
        let mut rows =
            RowTable::of(["vertex"].iter().chain(counts).map(|&name| name.to_owned()).chain(names));
        let (vertices, all) = self.chosen(&asked)?;
        let shown = vertices.len() as u64;
        for v in vertices {
            let (out, incoming) = degrees(asked.graph(), v)?;
            let mut row = vec![asked.id(v)?, json!(out)];
            if version.is_directed() {
                row.push(json!(incoming));
            }
            for property in &properties {
                row.push(property.get(v)?.as_ref().map_or(Value::Null, value_json));
            }
            rows.push(row);
        }
        self.ask.print(&rows)?;
        match &self.prefix {
            Some(prefix) if all == 0 => text::remark(&format!("no id begins with {prefix:?}")),
            _ if shown < all => {
                let all = counted(all, "vertex", "vertices");
                text::remark(&format!("the first {} of {all}; --top N shows more", count(shown)));
            }
            _ => {}
        }
        Ok(())
    }

    /// The vertices to show, and how many there are.
    fn chosen(&self, asked: &Asked) -> Result<(Vec<VertexId>, u64), Failure> {
        let Some(prefix) = &self.prefix else {
            let vertices = asked.vertices(&self.ids.after(&self.vertices, |id| asked.vertex(id).is_ok())?)?;
            let all = vertices.len() as u64;
            return Ok((vertices, all));
        };
        let top = self.top.unwrap_or(LISTED_ROWS);
        let PrefixMatches { vertices, count } = with_prefix(&asked.version.view(), prefix, top, &asked.run)?;
        Ok((vertices, count))
    }
}
