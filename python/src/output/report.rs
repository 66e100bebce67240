//! Reports on graphs, versions and imports, as JSON that Python parses into dictionaries.

use esker::change::{FeedReport, Purpose, SyncReport, Target};
use esker::differences::summary_json;
use esker::graph::{Direction, Message, VertexId};
use esker::import::options::{Duplicates, ImportReport};
use esker::import::read::source::Rejected;
use esker::store::diff::diff;
use esker::store::format::{PropertyRecord, VersionRecord};
use esker::store::{Database as Writer, View};
use esker::window::Declared;
use serde_json::{Value, json};

use crate::failure::PyOutcome;
use crate::language::said;
use crate::settings::brief;

/// With more edges than this, no versions are compared to find those that replaced others.
const COMPARED_MAX: u64 = 1 << 20;

/// Describes a graph.
pub(crate) fn graph_facts(view: &View) -> PyOutcome<String> {
    let edge_properties: Vec<Value> = view
        .version()
        .edge_properties()
        .map(|p| json!({ "name": p.name, "type": p.type_name(), "weight": p.weight }))
        .collect();
    let vertex_properties: Vec<Value> = view
        .version()
        .vertex_properties()
        .map(|p| json!({ "name": p.name, "type": p.type_name() }))
        .collect();
    let weight = view.weight_property();
    Ok(json!({
        "path": view.version().path().display().to_string(),
        "version": view.version().number(),
        "message": view.version().record().message,
        "time_ms": view.version().record().time_ms,
        "committed_ms": view.version().record().committed_ms,
        "duplicates": view.version().manifest().duplicates().name(),
        "vertices": view.num_present(&*brief()?)?,
        "vertex_numbers": view.version().num_vertices(),
        "edges": view.num_edges(),
        "arcs": view.num_arcs(),
        "self_loops": view.version().record().num_loops,
        "directed": view.version().is_directed(),
        "multigraph": view.version().layer().multigraph,
        "in_edges": view.version().has(Direction::In),
        "text_ids": view.version().ids().is_text(),
        "ids": view.version().manifest().ids.kind.name(),
        "dense_base": view.version().ids().dense_base(),
        "order": format!("{:?}", view.version().manifest().ids.order).to_lowercase(),
        "weight": weight.map(|weight| weight.name.clone()),
        "weight_type": weight.map(PropertyRecord::type_name),
        "edge_properties": edge_properties,
        "vertex_properties": vertex_properties,
        "encoding": view.version().stack().layers().first().map(|layer| format!("{:?}", layer.record().encoding).to_lowercase()),
        "layers": view.version().stack().layers().len(),
        "vertex_id_bytes": size_of::<VertexId>(),
    })
    .to_string())
}

/// Describes a version. The number of edges is unknown for versions that are only in the log.
pub(crate) fn version_facts(version: &VersionRecord, in_layers: bool) -> Value {
    json!({
        "number": version.number,
        "time_ms": version.time_ms,
        "committed_ms": version.committed_ms,
        "message": version.message,
        "vertices": version.num_vertices,
        "edges": in_layers.then_some(version.num_edges),
    })
}

fn rejected(sample: &[Rejected]) -> Vec<Value> {
    let show = |bad: &Rejected| json!({ "path": bad.path.display().to_string(), "line": bad.line, "text": bad.text.to_string(), "reason": said(&bad.reason) });
    sample.iter().map(show).collect()
}

/// Describes an import.
pub(crate) fn import_facts(
    report: &ImportReport,
    format: Option<&str>,
    notes: &[Message],
    seconds: f64,
) -> String {
    let stages: serde_json::Map<_, _> =
        report.stages.iter().map(|(name, seconds)| ((*name).to_owned(), json!(seconds))).collect();
    json!({
        "format": format,
        "notes": notes.iter().map(said).collect::<Vec<_>>(),
        "rows": report.rows,
        "vertices": report.vertices,
        "edges": report.edges,
        "directed": report.directed,
        "duplicates": report.duplicates,
        "rule": report.rule.name(),
        "time": report.time,
        "self_loops": report.self_loops,
        "rejected": report.rejected,
        "rejected_sample": rejected(&report.rejected_sample),
        "warnings": report.warnings.iter().map(said).collect::<Vec<_>>(),
        "order": format!("{:?}", report.order.order).to_lowercase(),
        "order_reason": report.order.reason,
        "versions": [1],
        "seconds": seconds,
        "stages": stages,
    })
    .to_string()
}

/// Describes an addition or removal of edges.
pub(crate) fn feed_facts(report: &FeedReport, notes: &[Message], seconds: f64) -> String {
    json!({
        "notes": notes.iter().map(said).collect::<Vec<_>>(),
        "rows": report.edges,
        "vertices": report.vertices,
        "duplicates": report.duplicates,
        "self_loops": report.self_loops,
        "rule": report.rule.map(Duplicates::name),
        "rejected": report.rejected,
        "rejected_sample": rejected(&report.rejected_sample),
        "warnings": report.warnings.iter().map(said).collect::<Vec<_>>(),
        "versions": report.versions,
        "seconds": seconds,
    })
    .to_string()
}

/// Describes what a sync has changed.
pub(crate) fn sync_facts(report: &SyncReport, notes: &[Message]) -> String {
    let SyncReport { version, changes, input } = report;
    json!({
        "notes": notes.iter().map(said).collect::<Vec<_>>(),
        "version": version,
        "changes": summary_json(changes),
        "rows": input.edges,
        "rejected": input.rejected,
        "rejected_sample": rejected(&input.rejected_sample),
        "warnings": input.warnings.iter().map(said).collect::<Vec<_>>(),
    })
    .to_string()
}

/// The warning that edges with times replaced others; of very many edges those of the same commit count
/// alone.
pub(crate) fn replaced(
    writer: &Writer,
    target: &Target,
    purpose: Purpose,
    report: &FeedReport,
) -> PyOutcome<Option<Message>> {
    let time = Declared::of(&writer.manifest()).time.filter(|_| purpose == Purpose::Add);
    let Some(time) = time.filter(|_| report.rule == Some(Duplicates::Last)) else { return Ok(None) };
    let changed = match report.edges <= COMPARED_MAX {
        true => diff(&target.newest, &writer.latest()?, &*brief()?, |_| Ok(()))?.edges_changed,
        false => writer.frozen_changes().map_or(0, |counts| counts.updated),
    };
    Ok(report.replaced(changed + report.duplicates, &time))
}
