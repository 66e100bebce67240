//! Degrees: the lengths of the lists of every vertex.
//!
//! The out-list of a vertex lies whole with its owner, except that of a delegate, which lies in parts.
//! In-lists of a directed graph lie in parts with the owners of the sources: each sends the lengths of its
//! parts. One exchange of eight bytes a ghost.

use esker_format::Result;
use esker_graph::{Direction, Graph};

use super::entry::ClusterAlgorithm;
use super::local::{FoundValues, Local, Options};
use crate::model::answer::{Cell, ColumnKind, Outline};
use crate::model::needs::{AlgorithmNeeds, Sends, ShardShape};
use crate::net::engine::Engine;

/// Its entry in the catalogue.
pub(crate) const ENTRY: ClusterAlgorithm = ClusterAlgorithm {
    name: "degrees",
    about: "number of edges of each vertex",
    options: &[],
    reads_weights: false,
    needs,
    run: degrees,
};

fn needs(shape: &ShardShape) -> AlgorithmNeeds {
    let per_vertex = if shape.directed { 24 } else { 8 };
    let ghosts = if shape.directed { 8 * shape.ghosts } else { 0 };
    AlgorithmNeeds {
        array_bytes: per_vertex * shape.vertices() + shape.full_degrees_bytes(),
        sends: Sends::InAll(ghosts + shape.delegate_bytes()),
    }
}

fn degrees(local: &Local<'_, '_>, engine: &mut Engine<'_>, _: &Options<'_>) -> Result<FoundValues> {
    let (graph, routes) = (local.graph, local.routes);
    let n = graph.num_vertices();
    let out = local.out_degrees(engine)?;
    let arcs = routes.owned().map(|v| out[v as usize]).sum();
    let [arcs] = engine.sum([arcs])?;
    if !graph.is_directed() {
        let outline = Outline::new(&[("degree", ColumnKind::Count)], 1).with_fact("arcs", arcs as f64);
        return Ok((outline, Box::new(move |v, row| row.push(Cell::Count(out[v as usize])))));
    }
    let mut incoming: Vec<u64> =
        (0..n).map(|v| graph.degree(Direction::In, esker_graph::vertex(v)) as u64).collect();
    let mut parts = vec![0_u64; n];
    routes.to_owners(
        engine,
        0,
        |ghost| Some(incoming[ghost as usize]),
        |v, part| parts[v as usize] += part,
    )?;
    incoming.iter_mut().zip(parts).for_each(|(count, part)| *count += part);
    let columns =
        [("degree", ColumnKind::Count), ("out_degree", ColumnKind::Count), ("in_degree", ColumnKind::Count)];
    let outline = Outline::new(&columns, 1).with_fact("arcs", arcs as f64);
    let cells = move |v: esker_graph::VertexId| {
        let (out, incoming) = (out[v as usize], incoming[v as usize]);
        [out + incoming, out, incoming].map(Cell::Count)
    };
    Ok((outline, Box::new(move |v, row| row.extend(cells(v)))))
}
