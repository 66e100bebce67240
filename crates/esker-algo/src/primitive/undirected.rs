//! The check of algorithms that are defined on undirected graphs only.

use esker_graph::{Graph, Stop};

/// An error that says what to do, unless `graph` is undirected. `what` names the algorithm.
pub(crate) fn need_undirected<G: Graph>(graph: &G, what: &str) -> Result<(), Stop> {
    if graph.is_directed() {
        return Err(Stop::Unsuitable(format!(
            "{what} needs an undirected graph: import the edges as undirected"
        )));
    }
    Ok(())
}
