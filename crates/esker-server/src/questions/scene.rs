//! Pictures: which vertices are drawn, where, and how; and the edges among some vertices.

use std::collections::BTreeMap;

use esker::algo::drawing::forces::ForceOptions;
use esker::drawing::{Arrangement, Look, Paint, Picture, Scene};
use esker::graph::VertexId;
use esker::local::between;
use serde_json::{Value, json};

use super::vertices::{Around, is_unknown};
use crate::ask::Ask;
use crate::failure::{Failure, Outcome};
use crate::query::Parameter;
use crate::selecting::{SELECTION, Selecting};
use crate::shape::Shape;

/// Vertices of the greatest picture.
const VERTICES_MAX: usize = 5000;
/// Vertices of [`subgraph`].
const SUBGRAPH_MAX: usize = 2000;

/// The parameters of [`scene`].
pub(crate) const OF_SCENE: &[Parameter] = &[
    Parameter::text("ego", "Draw what is around this vertex").repeatable(),
    Parameter::count("hops", 1, 10, "The greatest number of steps from the vertices of `ego`"),
    Parameter::some("vertices", 200, VERTICES_MAX, "The greatest number of vertices"),
    Parameter::choice("layout", &["forces", "layers"], "How vertices are placed"),
    Parameter::count("rounds", 300, 2000, "Rounds of the forces"),
    Parameter::text("colour", "`communities` of what is drawn, or a vertex property"),
    Parameter::text("size", "A vertex property that is the size; the number of edges without it"),
];

/// The answer of [`scene`].
pub(crate) const SCENE: Shape = Shape::Object(&[
    ("shown", Shape::Count),
    ("found", Shape::Count),
    ("vertices", Shape::List(&VERTEX)),
    ("edges", Shape::List(&EDGE)),
    ("legend", Shape::Maybe(&Shape::List(&LEGEND))),
    ("lines", Shape::Count),
]);
const VERTEX: Shape = Shape::Object(&[
    ("id", Shape::Text),
    ("x", Shape::Number),
    ("y", Shape::Number),
    ("size", Shape::Number),
    ("colour", Shape::Text),
    ("group", Shape::Maybe(&Shape::Count)),
    ("label", Shape::Text),
    ("degree", Shape::Count),
    ("properties", Shape::Named(&Shape::Any)),
]);
const EDGE: Shape =
    Shape::Object(&[("source", Shape::Count), ("target", Shape::Count), ("count", Shape::Count)]);
const LEGEND: Shape =
    Shape::Object(&[("group", Shape::Count), ("label", Shape::Text), ("colour", Shape::Text)]);

/// Places vertices and gives them looks.
pub(crate) fn scene(ask: &Ask<'_>) -> Outcome {
    ask.query.needs("hops", "ego")?;
    let around = Around::of(ask)?;
    let (graph, query) = (around.graph(), ask.query);
    let middle = query.all("ego").map(|id| around.vertex(ask, id)).collect::<Outcome<Vec<VertexId>>>()?;
    let most = query.count("vertices");
    if middle.is_empty() && around.version.num_present(ask.run)? == 0 {
        let nothing: [Value; 0] = [];
        return Ok(json!({
            "shown": 0, "found": 0, "vertices": nothing, "edges": nothing, "legend": null, "lines": 0,
        }));
    }
    let scene = match middle.is_empty() {
        true => Scene::whole(graph, most, ask.run)?,
        false => Scene::around(graph, &middle, query.count("hops"), most, ask.run)?,
    };
    let arrangement = match query.choice("layout") {
        "layers" => Arrangement::Layers,
        _ => Arrangement::Forces(ForceOptions { rounds: query.count("rounds"), ..ForceOptions::default() }),
    };
    let paint = match query.text("colour") {
        None => Paint::Plain,
        Some("communities") => Paint::Communities,
        Some(name) => Paint::Property(name.to_owned()),
    };
    let look = Look { paint, size: query.text("size").map(str::to_owned) };
    let picture = Picture::new(graph, scene, arrangement, &look, ask.run)?;
    drawn(&around, &picture)
}

fn drawn(around: &Around, picture: &Picture) -> Outcome {
    let scene = picture.scene();
    let legend = picture.legend();
    // Other groups and vertices without a value share a colour, and so the first entry with it.
    let group_of = |colour: &str| legend.iter().position(|(known, _)| known == colour);
    let looks = picture.colours().iter().zip(picture.sizes());
    let placed = scene.vertices.iter().zip(picture.places()).zip(looks);
    let vertices = placed.map(|((&v, (id, [x, y])), (colour, size))| {
        Ok(json!({
            "id": id,
            "x": x,
            "y": y,
            "size": 0.5 + size.sqrt(),
            "colour": colour,
            "group": group_of(colour),
            "label": id,
            "degree": around.degree(v)?,
            "properties": around.properties(v)?,
        }))
    });
    let vertices = vertices.collect::<Outcome<Vec<Value>>>()?;
    let edge = |edge: &esker::drawing::SceneEdge| json!({ "source": edge.source, "target": edge.target, "count": edge.count });
    let edges: Vec<Value> = scene.edges.iter().map(edge).collect();
    let entries = legend.iter().enumerate();
    let entries: Vec<Value> = entries
        .map(|(group, (colour, label))| json!({ "group": group, "label": label, "colour": colour }))
        .collect();
    Ok(json!({
        "shown": vertices.len(),
        "found": scene.found,
        "vertices": vertices,
        "lines": edges.len(),
        "edges": edges,
        "legend": Some(entries).filter(|entries| !entries.is_empty()),
    }))
}

/// The body of [`subgraph`].
pub(crate) const OF_SUBGRAPH: Shape =
    Shape::Partial(&[("vertices", Shape::List(&Shape::Text))], &[("selection", SELECTION)]);

/// The answer of [`subgraph`].
pub(crate) const SUBGRAPH: Shape =
    Shape::Object(&[("edges", Shape::List(&EDGE_OF_IDS)), ("shown", Shape::Count), ("found", Shape::Count)]);
const EDGE_OF_IDS: Shape =
    Shape::Object(&[("source", Shape::Text), ("target", Shape::Text), ("count", Shape::Count)]);

/// The edges among some vertices; ids of no vertex are left out.
pub(crate) fn subgraph(ask: &Ask<'_>) -> Outcome {
    let selecting = Selecting::of_body(ask.body.get("selection").unwrap_or(&Value::Null))?;
    let around = Around::selected(ask, selecting)?;
    let listed = ask.body.get("vertices").and_then(Value::as_array);
    let ids = listed.and_then(|ids| ids.iter().map(Value::as_str).collect::<Option<Vec<&str>>>());
    let ids = ids.ok_or_else(|| Failure::usage("the body has `vertices`, a list of ids, which are texts"))?;
    if ids.len() > SUBGRAPH_MAX {
        return Err(Failure::usage(format!(
            "{} vertices are given, at most {SUBGRAPH_MAX} are taken",
            ids.len()
        )));
    }
    let mut vertices = Vec::new();
    for id in ids {
        match around.version.find_vertex(id, ask.run) {
            Ok(v) => vertices.push(v),
            Err(error) if is_unknown(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    vertices.sort_unstable();
    vertices.dedup();
    let mut counts: BTreeMap<(VertexId, VertexId), u64> = BTreeMap::new();
    for edge in between(around.graph(), &vertices, ask.run)? {
        *counts.entry((edge.source, edge.target)).or_default() += 1;
    }
    let row = |((source, target), count): ((VertexId, VertexId), u64)| {
        Ok(json!({ "source": around.id(source)?, "target": around.id(target)?, "count": count }))
    };
    let edges = counts.into_iter().map(row).collect::<Outcome<Vec<Value>>>()?;
    Ok(json!({ "shown": edges.len(), "found": edges.len(), "edges": edges }))
}
