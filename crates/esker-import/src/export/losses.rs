//! What a format cannot keep of a graph.

use super::graph::ExportGraph;
use super::options::ExportOptions;
use crate::format::Format;

/// Which edge properties a format keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeptProperties {
    All,
    Weight,
    Nothing,
}

fn kept(format: Format) -> KeptProperties {
    match format {
        Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow => KeptProperties::All,
        Format::WeightedEdgeList
        | Format::MatrixMarket
        | Format::Metis
        | Format::Dimacs
        | Format::Adjacency
        | Format::Graphalytics
        | Format::Wsg => KeptProperties::Weight,
        Format::EdgeList | Format::Snap | Format::Sg | Format::Graph500 | Format::Graph500Wide => {
            KeptProperties::Nothing
        }
    }
}

/// Whether a reader of the format learns that a graph is undirected.
fn says_undirected(format: Format) -> bool {
    use Format::{Arrow, Graph500, Graph500Wide, Graphalytics, MatrixMarket, Metis, Parquet, Sg, Wsg};
    matches!(
        format,
        MatrixMarket | Metis | Graphalytics | Sg | Wsg | Graph500 | Graph500Wide | Parquet | Arrow
    )
}

/// What an export leaves out that was not asked to be left out, a sentence each.
pub(super) fn of(graph: &dyn ExportGraph, format: Format, options: &ExportOptions) -> Vec<String> {
    let mut losses = Vec::new();
    let title = format.title();
    let properties = graph.properties().iter().enumerate();
    let is_lost = |index: usize| match kept(format) {
        KeptProperties::All => false,
        KeptProperties::Weight => graph.weight() != Some(index),
        KeptProperties::Nothing => true,
    };
    let lost: Vec<&str> =
        properties.filter(|(index, _)| is_lost(*index)).map(|(_, property)| property.name.as_str()).collect();
    if options.properties && !lost.is_empty() {
        losses.push(format!(
            "Edge properties not written, as {title} has no place for them: {}; CSV, Parquet and Arrow have",
            lost.join(", ")
        ));
    }
    let vertex_properties = graph.vertex_properties();
    if options.properties && !vertex_properties.is_empty() {
        losses.push(format!(
            "Vertex properties not written: {}; --vertex-properties FILE writes a CSV for `esker set`",
            vertex_properties.join(", ")
        ));
    }
    if !graph.is_directed() && !says_undirected(format) {
        losses
            .push(format!("{title} does not say that the graph is undirected: import it with --undirected"));
    }
    losses
}
