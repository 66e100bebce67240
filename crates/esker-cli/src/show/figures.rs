//! The figures of an answer as a row, after the sizes of its graph.

use esker::answer::Answer;
use esker::catalogue::Entry;
use esker::store::Snapshot;
use serde_json::json;

use crate::show::answer_rows::fact_json;
use crate::show::rows::Rows;

/// What the edges of a version are called beside their number: those of an undirected view are not counted,
/// for edges in both directions are one in it.
pub(crate) fn edges_name(snapshot: &Snapshot) -> &'static str {
    if snapshot.drops_directions() { "directed_edges" } else { "edges" }
}

/// The figures of an answer, after the numbers of vertices and edges of its graph, which is a version or a
/// part of one.
pub(crate) fn sized_figures(
    entry: &Entry,
    snapshot: &Snapshot,
    (vertices, edges): (usize, u64),
    answer: &Answer,
) -> Rows {
    let mut rows =
        Rows::of(["vertices", edges_name(snapshot)].into_iter().chain(entry.figures.iter().copied()));
    let figure = |name: &&str| {
        let fact = answer.facts.iter().find(|(known, _)| known == name);
        fact.map_or(serde_json::Value::Null, |(_, fact)| fact_json(fact))
    };
    let sizes = [json!(vertices), json!(edges)];
    rows.push(sizes.into_iter().chain(entry.figures.iter().map(figure)).collect());
    rows
}
