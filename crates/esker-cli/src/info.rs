//! `esker info`: what is in a database.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use esker::graph::{Direction, VertexId};
use esker::store::property::Dictionary;
use esker::store::{Snapshot, Store};
use serde_json::json;

use crate::failure::Outcome;
use crate::size::{bytes, count, seconds};
use crate::text;

/// What a database holds: counts, properties, ids, sizes.
#[derive(Debug, Args)]
pub(crate) struct InfoCommand {
    /// The database
    database: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl InfoCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let begin = Instant::now();
        let store = Store::open(&self.database)?;
        let opened = begin.elapsed().as_secs_f64();
        let files: Vec<(PathBuf, u64)> = store.files()?;
        let total: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        let snapshot = store.snapshot()?;
        if self.json {
            self.print_json(&snapshot, &files, total, opened)
        } else {
            self.print(&snapshot, total, opened)
        }
    }

    fn print(&self, snapshot: &Snapshot, total: u64, opened: f64) -> Outcome {
        let kind = if snapshot.is_directed() { "directed" } else { "undirected" };
        let in_edges = match (snapshot.is_directed(), snapshot.has(Direction::In)) {
            (false, _) => String::new(),
            (true, true) => ", in-edges kept".to_owned(),
            (true, false) => ", in-edges not kept".to_owned(),
        };
        let arcs = snapshot.num_arcs().max(1);
        let mut rows = vec![
            ("vertices".to_owned(), count(snapshot.num_vertices() as u64)),
            ("edges".to_owned(), format!("{} {kind}{in_edges}", count(snapshot.num_edges()))),
            ("self-loops".to_owned(), count(snapshot.layer().num_loops)),
            ("version".to_owned(), format!("{} ({})", snapshot.version().number, snapshot.version().message)),
            ("ids".to_owned(), describe_ids(snapshot)),
        ];
        for property in snapshot.edge_properties() {
            let texts = snapshot.dictionary(property.number).map(Dictionary::len);
            let kind = match texts {
                Some(texts) => format!("text, {texts} distinct"),
                None => format!("{:?}", property.element).to_lowercase(),
            };
            let role = if property.weight { ", the weight" } else { "" };
            rows.push(("edge property".to_owned(), format!("{} ({kind}{role})", property.name)));
        }
        rows.push((
            "on disk".to_owned(),
            format!("{}, {:.2} bytes an arc", bytes(total), total as f64 / arcs as f64),
        ));
        rows.push(("opened in".to_owned(), seconds(opened)));
        text::facts(&rows)
    }

    fn print_json(&self, snapshot: &Snapshot, files: &[(PathBuf, u64)], total: u64, opened: f64) -> Outcome {
        let properties: Vec<_> = snapshot
            .edge_properties()
            .map(|property| {
                json!({
                    "name": property.name,
                    "type": if property.texts { "text".to_owned() } else { format!("{:?}", property.element).to_lowercase() },
                    "weight": property.weight,
                })
            })
            .collect();
        let files: Vec<_> = files
            .iter()
            .map(|(path, bytes)| {
                let name = path.strip_prefix(&self.database).unwrap_or(path);
                json!({ "file": name.display().to_string(), "bytes": bytes })
            })
            .collect();
        text::json(&json!({
            "database": self.database.display().to_string(),
            "version": snapshot.version().number,
            "message": snapshot.version().message,
            "vertices": snapshot.num_vertices(),
            "edges": snapshot.num_edges(),
            "arcs": snapshot.num_arcs(),
            "self_loops": snapshot.layer().num_loops,
            "directed": snapshot.is_directed(),
            "in_edges": snapshot.has(Direction::In),
            "vertex_order": format!("{:?}", snapshot.manifest().ids.order).to_lowercase(),
            "ids": format!("{:?}", snapshot.manifest().ids.kind).to_lowercase(),
            "vertex_id_bytes": size_of::<VertexId>(),
            "edge_properties": properties,
            "bytes": total,
            "files": files,
            "open_seconds": opened,
        }))
    }
}

fn describe_ids(snapshot: &Snapshot) -> String {
    let ids = &snapshot.manifest().ids;
    let kind = if snapshot.ids().is_text() { "texts" } else { "integers" };
    format!("{kind} ({:?}), vertices in {:?} order", ids.kind, ids.order).to_lowercase()
}
