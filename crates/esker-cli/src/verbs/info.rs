//! `esker info`: describes a database.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use esker::change::reading_json;
use esker::graph::{Direction, Run, VertexId};
use esker::selection::{KindCount, count_kinds};
use esker::store::format::{Encoding, EventTimes, HeadOrder, LayerRecord, MISSING_TEXT, WriteOptions};
use esker::store::headed::StoredHeads;
use esker::store::manifest::format_time;
use esker::store::{Store, Version};
use esker::window::Declared;
use serde_json::json;

use crate::args::at::{AtArgs, InLog};
use crate::args::encoding::name_of;
use crate::args::heads::{missing as missing_heads, order_name};
use crate::args::remembered::describe_reading;
use crate::args::size::{bytes, count, counted, seconds};
use crate::args::write_options::{describe, describe_stream, stream_json, to_json};
use crate::failure::{Failure, Outcome};
use crate::language::said;
use crate::show::text;

/// Describe a database
///
/// Shows the size, properties, ids, versions and encoding of a database. If the log holds over four million
/// changes that are in no layer, describes the newest version in a layer, unless --at names one.
#[derive(Debug, Args)]
pub(crate) struct InfoCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    at: AtArgs,
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
        // Describing the newest version must not take as long as reading a long log.
        let version = match self.at.at.is_some() || InLog::of(&store)?.are_few() {
            true => self.at.version(&store)?,
            false => store.frozen()?,
        };
        if self.json {
            self.print_json(&store, &version, &files, total, opened)
        } else {
            self.print(&store, &version, total, opened)
        }
    }

    fn print(&self, store: &Store, version: &Version, total: u64, opened: f64) -> Outcome {
        let kind = if version.is_directed() { "directed" } else { "undirected" };
        let in_edges = match (version.is_directed(), version.has(Direction::In)) {
            (false, _) => String::new(),
            (true, true) => ", in-edges stored".to_owned(),
            (true, false) => ", in-edges not stored".to_owned(),
        };
        let mut rows = vec![
            ("vertices".to_owned(), describe_vertices(version)?),
            ("edges".to_owned(), format!("{} {kind}{in_edges}", count(version.num_edges()))),
            ("self-loops".to_owned(), count(version.record().num_loops)),
            ("version".to_owned(), describe_version(version)),
            ("versions".to_owned(), describe_versions(store, version)?),
            ("ids".to_owned(), describe_ids(version)),
        ];
        // Most databases have the defaults, and need no line for them.
        let options = store.manifest().options();
        if options != WriteOptions::default() {
            rows.push(("options".to_owned(), describe(&options)));
        }
        if let Some(stream) = describe_stream(&Declared::of(store.manifest())) {
            rows.push(("stream".to_owned(), stream));
        }
        if let Some(reading) = describe_reading(store.manifest().reading.as_ref()) {
            rows.push(("files".to_owned(), reading));
        }
        if store.manifest().event_times() == EventTimes::Given {
            rows.push(("event times".to_owned(), "given with each commit".to_owned()));
        }
        rows.extend(property_rows(version)?);
        rows.push(("lists".to_owned(), describe_lists(version)));
        let tiles = tile_bytes(version);
        match &tiles {
            Ok(None) => {}
            Ok(Some(tiles)) => {
                let described = format!("{}{}", bytes(*tiles), share_of_arc(version, *tiles));
                rows.push(("tiles".to_owned(), described));
            }
            Err(problem) => {
                rows.push(("tiles".to_owned(), format!("UNREADABLE: {}", said(&problem.message()))));
            }
        }
        match version.stored_heads() {
            Ok(heads) => rows.extend(heads.map(heads_row)),
            Err(problem) => {
                rows.push(("heads".to_owned(), format!("UNREADABLE: {}", said(&problem.message()))));
            }
        }
        if let Some(length) = store.manifest().missing_heads() {
            let words = format!("none: {}", missing_heads(length, &self.database));
            rows.push(("heads".to_owned(), words));
        }
        rows.push(("on disk".to_owned(), format!("{}{}", bytes(total), share_of_arc(version, total))));
        rows.push(("opened in".to_owned(), seconds(opened)));
        text::facts(&rows)?;
        fail_without(tiles)
    }

    fn print_json(
        &self,
        store: &Store,
        version: &Version,
        files: &[(PathBuf, u64)],
        total: u64,
        opened: f64,
    ) -> Outcome {
        let properties: Vec<_> = version
            .edge_properties()
            .map(|property| {
                json!({ "name": property.name, "type": property.type_name(), "weight": property.weight, "kind": property.kind })
            })
            .collect();
        let vertex_properties: Vec<_> = version
            .vertex_properties()
            .map(|property| json!({ "name": property.name, "type": property.type_name() }))
            .collect();
        let files: Vec<_> = files
            .iter()
            .map(|(path, bytes)| {
                let name = path.strip_prefix(&self.database).unwrap_or(path);
                json!({ "file": name.display().to_string(), "bytes": bytes })
            })
            .collect();
        let tiles = tile_bytes(version);
        let tile_bytes = tiles.as_ref().ok().copied().flatten();
        text::json(&json!({
            "database": self.database.display().to_string(),
            "version": version.number(),
            "message": version.record().message,
            "vertices": version.num_present(&Run::with_threads(1)?)?,
            "vertex_numbers": version.num_vertices(),
            "edges": version.num_edges(),
            "arcs": version.num_arcs(),
            "self_loops": version.record().num_loops,
            "directed": version.is_directed(),
            "in_edges": version.has(Direction::In),
            "vertex_order": format!("{:?}", version.manifest().ids.order).to_lowercase(),
            "ids": version.manifest().ids.kind.name(),
            "vertex_id_bytes": size_of::<VertexId>(),
            "edge_properties": properties,
            "kinds": kinds_json(version)?,
            "vertex_properties": vertex_properties,
            "time": format_time(version.record().time_ms),
            "committed": format_time(version.record().committed_ms),
            "duplicates": version.manifest().duplicates().name(),
            "options": to_json(&store.manifest().options()),
            "stream": stream_json(&Declared::of(store.manifest())),
            "reading": reading_json(store.manifest().reading.as_ref()),
            "event_times": store.manifest().event_times().name(),
            "versions": store.versions()?.len(),
            "commits_in_log": InLog::of(store)?.commits,
            "changes_in_log": InLog::of(store)?.changes,
            "layers": store.manifest().layers.len(),
            "encoding": name_of(base_layer(version).encoding),
            "list_bytes_per_arc": list_bytes_per_arc(version),
            "tile_bytes_per_arc": tile_bytes.map(|tiles| per_arc(version, tiles)),
            "head_length": version.stored_heads()?.map(StoredHeads::head_len),
            "head_order": version.stored_heads()?.map(|heads| order_name(heads.order())),
            "head_length_missing": store.manifest().missing_heads(),
            "head_bytes": version.stored_heads()?.map(StoredHeads::file_bytes),
            "tiles_problem": tiles.as_ref().err().map(ToString::to_string),
            "multigraph": version.layer().multigraph,
            "bytes": total,
            "files": files,
            "open_seconds": opened,
        }))?;
        fail_without(tiles)
    }
}

/// The properties, and the kinds of edges.
fn property_rows(version: &Version) -> Result<Vec<(String, String)>, Failure> {
    let mut rows = Vec::new();
    for property in version.edge_properties() {
        let values = match version.dictionary(property.number) {
            Some(texts) => {
                // A missing value has a text in the dictionary, and is none.
                let has_missing = property.optional && texts.code_of(MISSING_TEXT)?.is_some();
                format!("text, {} distinct", count((texts.len() - usize::from(has_missing)) as u64))
            }
            None => property.type_name(),
        };
        let role = match (property.weight, property.kind) {
            (true, _) => ", weight",
            (_, true) => ", kind",
            (false, false) => "",
        };
        rows.push(("edge property".to_owned(), format!("{} ({values}{role})", property.name)));
    }
    for KindCount { kind, edges } in count_kinds(version, &Run::with_threads(1)?)? {
        rows.push(("edge kind".to_owned(), format!("{kind} ({})", counted(edges, "edge", "edges"))));
    }
    for property in version.vertex_properties() {
        rows.push(("vertex property".to_owned(), format!("{} ({})", property.name, property.type_name())));
    }
    Ok(rows)
}

/// The number of edges of each kind.
fn kinds_json(version: &Version) -> Result<serde_json::Map<String, serde_json::Value>, Failure> {
    let counted = count_kinds(version, &Run::with_threads(1)?)?;
    Ok(counted.into_iter().map(|KindCount { kind, edges }| (kind, json!(edges))).collect())
}

/// The base layer.
fn base_layer(version: &Version) -> &LayerRecord {
    version.stack().layers()[0].record()
}

/// Bytes per arc of the lists in the base layer, including their index but not properties.
fn list_bytes_per_arc(version: &Version) -> f64 {
    let layer = &version.stack().layers()[0];
    let sections = || [Some(layer.out()), layer.incoming()].into_iter().flatten();
    let arcs: usize = sections().map(|section| section.main().num_arcs()).sum();
    layer.list_bytes(|_| true) as f64 / arcs.max(1) as f64
}

fn describe_lists(version: &Version) -> String {
    let lists = match base_layer(version).encoding {
        Encoding::Tiles => "tiles only",
        encoding @ (Encoding::Plain | Encoding::Compressed) => name_of(encoding),
    };
    match version.num_arcs() {
        0 => lists.to_owned(),
        _ => format!("{lists}, {:.2} bytes/arc", list_bytes_per_arc(version)),
    }
}

fn heads_row(heads: &StoredHeads) -> (String, String) {
    let which = match heads.order() {
        HeadOrder::First => "the first ones of each list",
        HeadOrder::Degree => "those of highest degree",
    };
    let described = format!(
        "of at most {}, {which}, {}",
        counted(heads.head_len() as u64, "neighbour", "neighbours"),
        bytes(heads.file_bytes())
    );
    ("heads".to_owned(), described)
}

/// Bytes of the tiles; `None` if the version is not kept as tiles.
fn tile_bytes(version: &Version) -> esker::store::Result<Option<u64>> {
    match version.tiles() {
        Ok(tiles) => Ok(Some(tiles.file_bytes())),
        Err(esker::store::Error::Invalid(_)) => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The failure of a command that has shown everything but the tiles.
fn fail_without(tiles: esker::store::Result<Option<u64>>) -> Outcome {
    let remedy = "the lists are intact as far as they were read; `esker compact --encoding tiles` makes the tiles anew";
    tiles
        .map(drop)
        .map_err(|problem| Failure::Failed(format!("the tiles are unreadable: {problem} ({remedy})")))
}

/// `, 4.20 bytes/arc`; nothing for a graph without arcs.
fn share_of_arc(version: &Version, bytes: u64) -> String {
    match version.num_arcs() {
        0 => String::new(),
        _ => format!(", {:.2} bytes/arc", per_arc(version, bytes)),
    }
}

fn per_arc(version: &Version, bytes: u64) -> f64 {
    bytes as f64 / version.num_arcs().max(1) as f64
}

fn describe_version(version: &Version) -> String {
    let record = version.record();
    let tags = version.manifest().tags.iter().filter(|(_, number)| **number == record.number);
    let tags: String = tags.map(|(name, _)| format!(" [{name}]")).collect();
    let committed = match record.committed_ms == record.time_ms {
        true => String::new(),
        false => format!(" (committed {})", format_time(record.committed_ms)),
    };
    format!("{}{tags}, {}{committed}: {}", record.number, format_time(record.time_ms), record.message)
}

fn describe_versions(store: &Store, version: &Version) -> Result<String, Failure> {
    let (versions, layers) = (store.versions()?, store.manifest().layers.len());
    let newest = versions.last().map_or(0, |version| version.number);
    let in_log = match InLog::of(store)? {
        InLog { commits: 0, .. } => String::new(),
        InLog { commits, changes } => {
            let commits = counted(commits as u64, "commit", "commits");
            match version.number() < newest {
                false => format!(" and {commits} in the log"),
                true => {
                    let changes = counted(changes, "change", "changes");
                    format!(
                        " and {commits} in the log with {changes}; --at latest describes version {newest}"
                    )
                }
            }
        }
    };
    Ok(format!("{} in {}{in_log}", count(versions.len() as u64), counted(layers as u64, "layer", "layers")))
}

fn describe_vertices(version: &Version) -> Result<String, Failure> {
    let present = version.num_present(&Run::with_threads(1)?)?;
    let removed = version.num_vertices() - present;
    let shown = count(present as u64);
    Ok(if removed == 0 { shown } else { format!("{shown} (and {} removed)", count(removed as u64)) })
}

fn describe_ids(version: &Version) -> String {
    let ids = &version.manifest().ids;
    let kind = match ids.kind {
        kind if kind.is_text() => "text",
        // Commits may have added others.
        _ if version.ids().dense_base().is_some() => "consecutive integers",
        _ => "integers with gaps",
    };
    format!("{kind}, vertex order {:?}", ids.order).to_lowercase()
}
