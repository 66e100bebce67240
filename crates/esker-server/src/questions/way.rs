//! The shortest path between two vertices.

use esker::graph::VertexId;
use esker::local::{PathOptions, paths};
use serde_json::{Value, json};

use super::amounts::amount_json;
use super::vertices::Around;
use crate::ask::Ask;
use crate::failure::Outcome;
use crate::query::Parameter;
use crate::selecting::Selecting;
use crate::shape::Shape;

/// Steps of the longest path that is looked for, if it is bounded.
const STEPS_MAX: usize = 1_000_000;

/// The parameters of [`path`].
pub(crate) const OF_PATH: &[Parameter] = &[
    Parameter::text("from", "The id of the vertex where the path begins").required(),
    Parameter::text("to", "The id of the vertex where it ends").required(),
    Parameter::text("weight", "The edge property that is the length of an edge; one step without it"),
    Parameter::count("max_steps", STEPS_MAX, STEPS_MAX, "The greatest number of edges"),
    Parameter::text("avoid", "A vertex that the path may not meet").repeatable(),
];

/// The answer of [`path`].
pub(crate) const PATH: Shape = Shape::Object(&[
    ("found", Shape::Flag),
    ("length", Shape::Maybe(&Shape::Number)),
    ("vertices", Shape::List(&Shape::Text)),
    ("edges", Shape::List(&STEP)),
]);
const STEP: Shape =
    Shape::Partial(&[("source", Shape::Text), ("target", Shape::Text)], &[("weight", Shape::Number)]);

/// The shortest path.
pub(crate) fn path(ask: &Ask<'_>) -> Outcome {
    let query = ask.query;
    let around = Around::in_directions(ask, Selecting::of_query(query)?)?;
    let (version, graph) = (&around.version, around.graph());
    let weight = query.text("weight").map(|name| version.edge_property(name)).transpose()?;
    let ends = ["from", "to"].map(|end| around.vertex(ask, query.required(end)));
    let [from, to] = ends;
    let (from, to) = (from?, to?);
    let avoid = query.all("avoid").map(|id| around.vertex(ask, id)).collect::<Outcome<Vec<VertexId>>>()?;
    let options = PathOptions {
        count: 1,
        weight,
        direction: around.edges.direction,
        avoid: &avoid,
        max_steps: query.text("max_steps").map(|_| query.count("max_steps")),
    };
    let Some(path) = paths(graph, from, to, options, ask.run)?.into_iter().next() else {
        let nothing: [Value; 0] = [];
        return Ok(json!({ "found": false, "length": null, "vertices": nothing, "edges": nothing }));
    };
    let ids = path.vertices.iter().map(|&v| around.id(v)).collect::<Outcome<Vec<String>>>()?;
    let steps = ids.windows(2).zip(&path.steps).map(|(ends, &length)| {
        let mut step = json!({ "source": ends[0], "target": ends[1] });
        if weight.is_some() {
            step["weight"] = amount_json(length);
        }
        step
    });
    let edges: Vec<Value> = steps.collect();
    Ok(json!({ "found": true, "length": amount_json(path.length()), "vertices": ids, "edges": edges }))
}
