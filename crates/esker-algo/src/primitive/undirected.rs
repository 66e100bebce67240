//! The demand of problems that are defined on undirected graphs.

use esker_graph::{Graph, Stop};

/// An error that says what to do, unless `graph` is undirected.
pub(crate) fn need_undirected<G: Graph>(graph: &G, what: &str) -> Result<(), Stop> {
    if graph.is_directed() {
        return Err(Stop::Unsuitable(format!(
            "{what} is of undirected graphs: import the edges as undirected"
        )));
    }
    Ok(())
}
