//! The figures of an answer as a row, after the sizes of its graph.

use esker::answer::Answer;
use esker::catalogue::Entry;
use esker::store::View;
use serde_json::json;

use crate::show::answer_rows::figure_cell;
use crate::show::rounding;
use crate::show::rows::{RowFormat, RowTable};

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
pub(crate) fn sized_figures(
    entry: &Entry,
    view: &View,
    size: GraphSize,
    answer: &Answer,
    format: RowFormat,
) -> RowTable {
    let mut rows =
        RowTable::of(["vertices", edges_name(view)].into_iter().chain(entry.figures.iter().copied()));
    let figure = |name: &&str| {
        let fact = answer.facts.iter().find(|(known, _)| known == name);
        fact.map_or(serde_json::Value::Null, |(_, fact)| figure_cell(fact, format))
    };
    let sizes = [json!(size.vertices), json!(size.edges)];
    rows.push(sizes.into_iter().chain(entry.figures.iter().map(figure)).collect());
    rows
}

/// A figure for people: no digit before the point is lost, but of very large numbers, and of small ones the
/// first digits are shown.
pub(crate) fn float_text(value: f64) -> String {
    if let Some(text) = rounding::float_text(value) {
        return text;
    }
    match value.abs() {
        size if (1e9..1e15).contains(&size) => format!("{value:.0}"),
        size if size >= 1e15 => format!("{value:.5e}"),
        size if size > 0.0 && size < 1e-3 => format!("{value:.2e}"),
        _ => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::float_text;

    #[test]
    fn figures_keep_the_digits_before_the_point() {
        let table = [
            (0.0, "0"),
            (12_345.678, "12345.678"),
            (50_312_345_678.4, "50312345678"),
            (-1_234_567_890.0, "-1234567890"),
            (1.234_567_8e18, "1.23457e18"),
            (0.000_001_234, "1.23e-6"),
        ];
        for (value, expected) in table {
            assert_eq!(float_text(value), expected);
        }
    }
}
