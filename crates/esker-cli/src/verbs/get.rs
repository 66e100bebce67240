//! `esker get`: what a database holds about vertices.

use clap::Args;
use esker::differences::value_json;
use esker::local::degrees;
use serde_json::{Value, json};

use crate::failure::Outcome;
use crate::session::asking::AskArgs;
use crate::show::rows::RowTable;

/// Show vertices: their properties and degrees
///
/// A property that is called like another column is shown with `property.` before its name, as in
/// `property.vertex`.
#[derive(Debug, Args)]
#[command(after_help = "Example: esker get web.esker alice bob")]
pub(crate) struct GetCommand {
    #[command(flatten)]
    ask: AskArgs,
    /// Ids of the vertices
    #[arg(required = true, value_name = "VERTEX")]
    vertices: Vec<String>,
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
        for v in asked.vertices(&self.vertices)? {
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
        self.ask.print(&rows)
    }
}
