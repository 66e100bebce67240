//! Pictures: which vertices are drawn, where, and how; and the edges among some vertices.

use std::collections::BTreeMap;

use esker::algo::drawing::forces::ForceOptions;
use esker::drawing::{Arrangement, Look, Paint, Picture, PictureValues, Scene};
use esker::graph::VertexId;
use esker::local::{PathLength, between};
use serde_json::{Map, Value, json};

use super::amounts::{amount_json, amount_of, with_amount};
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
const EDGE: Shape = Shape::Partial(
    &[("source", Shape::Count), ("target", Shape::Count), ("count", Shape::Count)],
    &[("weight", Shape::Number)],
);
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
        Some(name) => Paint::Values(PictureValues::Property(name.to_owned())),
    };
    let look = Look { paint, size: query.text("size").map(|name| PictureValues::Property(name.to_owned())) };
    let picture = Picture::new(graph, scene, arrangement, &look, ask.run)?;
    drawn(ask, &around, &picture)
}

/// All edges from one vertex to another.
#[derive(Default)]
struct Bundle {
    count: u64,
    /// The sum of their weights.
    weight: Option<PathLength>,
}

/// The edges among some vertices, which ascend, by their ends.
fn bundles(
    ask: &Ask<'_>,
    around: &Around,
    vertices: &[VertexId],
) -> Outcome<BTreeMap<(VertexId, VertexId), Bundle>> {
    let weight = around.version.edge_properties().position(|property| property.weight);
    let mut bundles: BTreeMap<(VertexId, VertexId), Bundle> = BTreeMap::new();
    for edge in between(around.graph(), vertices, ask.run)? {
        let bundle = bundles.entry((edge.source, edge.target)).or_default();
        bundle.count += 1;
        bundle.weight = with_amount(bundle.weight, weight.and_then(|place| amount_of(&edge.values[place])));
    }
    Ok(bundles)
}

/// An edge of a picture or a part of the graph: its ends, with the number of edges and their weight.
fn edge_json(ends: [Value; 2], count: u64, weight: Option<PathLength>) -> Value {
    let [source, target] = ends;
    let mut edge = Map::from_iter([("source".to_owned(), source), ("target".to_owned(), target)]);
    edge.insert("count".to_owned(), json!(count));
    if let Some(weight) = weight {
        edge.insert("weight".to_owned(), amount_json(weight));
    }
    edge.into()
}

fn drawn(ask: &Ask<'_>, around: &Around, picture: &Picture) -> Outcome {
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
    let has_weights = around.version.edge_properties().any(|property| property.weight);
    let mut sorted = if has_weights { scene.vertices.clone() } else { Vec::new() };
    sorted.sort_unstable();
    let weights = bundles(ask, around, &sorted)?;
    let edge = |edge: &esker::drawing::SceneEdge| {
        let ends = [edge.source, edge.target].map(|place| scene.vertices[place as usize]);
        let weight = weights.get(&(ends[0], ends[1])).and_then(|bundle| bundle.weight);
        edge_json([edge.source.into(), edge.target.into()], edge.count.into(), weight)
    };
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
pub(crate) const SUBGRAPH: Shape = Shape::Object(&[
    ("edges", Shape::List(&EDGE_OF_IDS)),
    ("shown", Shape::Count),
    ("found", Shape::Count),
    ("unknown", Shape::List(&Shape::Text)),
]);
const EDGE_OF_IDS: Shape = Shape::Partial(
    &[("source", Shape::Text), ("target", Shape::Text), ("count", Shape::Count)],
    &[("weight", Shape::Number)],
);

/// The edges among some vertices, and the ids of no vertex.
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
    let (mut vertices, mut unknown) = (Vec::new(), Vec::new());
    for id in ids {
        match around.version.find_vertex(id, ask.run) {
            Ok(v) => vertices.push(v),
            Err(error) if is_unknown(&error) => unknown.push(id),
            Err(error) => return Err(error.into()),
        }
    }
    vertices.sort_unstable();
    vertices.dedup();
    let row = |((source, target), bundle): ((VertexId, VertexId), Bundle)| {
        let ends = [around.id(source)?.into(), around.id(target)?.into()];
        Ok(edge_json(ends, bundle.count, bundle.weight))
    };
    let edges = bundles(ask, &around, &vertices)?.into_iter().map(row).collect::<Outcome<Vec<Value>>>()?;
    Ok(json!({ "shown": edges.len(), "found": edges.len(), "edges": edges, "unknown": unknown }))
}
