//! The figures of an answer as a row, after the sizes of its graph.

use esker::answer::Answer;
use esker::catalogue::Entry;
use esker::store::View;
use serde_json::json;

use crate::show::answer_rows::fact_json;
use crate::show::rows::RowTable;

/// The numbers of vertices and edges of a graph, which is a version or a part of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphSize {
    pub(crate) vertices: usize,
    pub(crate) edges: u64,
}

/// The name of the column with the number of edges. An undirected view joins edges of both directions, and
/// the number of its edges is not known: it shows the number of directed ones.
pub(crate) fn edges_name(view: &View) -> &'static str {
    if view.drops_directions() { "directed_edges" } else { "edges" }
}

/// The figures of an answer, after the size of its graph.
pub(crate) fn sized_figures(entry: &Entry, view: &View, size: GraphSize, answer: &Answer) -> RowTable {
    let mut rows =
        RowTable::of(["vertices", edges_name(view)].into_iter().chain(entry.figures.iter().copied()));
    let figure = |name: &&str| {
        let fact = answer.facts.iter().find(|(known, _)| known == name);
        fact.map_or(serde_json::Value::Null, |(_, fact)| fact_json(fact))
    };
    let sizes = [json!(size.vertices), json!(size.edges)];
    rows.push(sizes.into_iter().chain(entry.figures.iter().map(figure)).collect());
    rows
}
