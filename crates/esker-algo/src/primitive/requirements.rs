//! Checks of what an algorithm requires of its graph and options. Each error says what to do.

use esker_graph::{Direction, Graph, Setting, Stop, VertexId, message};

/// An error unless `graph` is undirected. `what` names the algorithm.
pub(crate) fn need_undirected<G: Graph>(graph: &G, what: &str) -> Result<(), Stop> {
    if graph.is_directed() {
        return Err(Stop::unsuitable(message![
            format!("{what} needs an undirected graph: import the edges as undirected, or run it with "),
            Setting::AsUndirected.to(true),
        ]));
    }
    Ok(())
}

/// An error unless the in-lists of `graph` can be read. `what` names the algorithm.
pub(crate) fn need_in_edges<G: Graph>(graph: &G, what: &str) -> Result<(), Stop> {
    if !graph.has(Direction::In) {
        return Err(Stop::unsuitable(format!(
            "{what} on a directed graph needs in-edges: import it with in-edges, or as undirected"
        )));
    }
    Ok(())
}

/// An error unless `source` is one of the `num_vertices` vertices.
pub(crate) fn need_source(source: VertexId, num_vertices: usize) -> Result<(), Stop> {
    if source as usize >= num_vertices {
        return Err(Stop::unsuitable(format!(
            "source {source} is not a vertex: the graph has {}",
            esker_graph::counted(num_vertices, "vertex", "vertices")
        )));
    }
    Ok(())
}

/// An error unless `target` is a vertex.
pub(crate) fn need_target(target: VertexId, num_vertices: usize) -> Result<(), Stop> {
    if target as usize >= num_vertices {
        return Err(Stop::unsuitable(format!(
            "target {target} is not a vertex: the graph has {}",
            esker_graph::counted(num_vertices, "vertex", "vertices")
        )));
    }
    Ok(())
}

/// An error unless the option `name` has a positive, finite value.
pub(crate) fn need_positive(name: &str, value: f64) -> Result<(), Stop> {
    if !(value > 0.0 && value.is_finite()) {
        return Err(Stop::unsuitable(format!("{name} is {value} but must be positive and finite")));
    }
    Ok(())
}
