//! Vertices and what is around them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use esker::differences::value_json;
use esker::drawing::Scene;
use esker::graph::VertexId;
use esker::local::{Incidence, LocalGraph, PathLength, degrees, edges_of, with_prefix};
use esker::session::LocalSelection;
use esker::store::format::PropertyRecord;
use esker::store::property::PropertyValue;
use esker::store::{self, ErrorKind, Version};
use serde_json::{Map, Value, json};

use super::amounts::{amount_json, amount_of, with_amount};
use crate::ask::Ask;
use crate::failure::{Failure, Outcome};
use crate::query::Parameter;
use crate::selecting::Selecting;
use crate::shape::Shape;

/// Vertices between two looks at the token.
const CHECK_VERTICES: usize = 1024;

/// The version that a question is about, and its edges.
pub(crate) struct Around {
    pub(crate) version: Version,
    pub(crate) edges: LocalSelection,
}

impl Around {
    pub(crate) fn of(ask: &Ask<'_>) -> Outcome<Self> {
        Self::selected(ask, Selecting::of_query(ask.query)?)
    }

    pub(crate) fn selected(ask: &Ask<'_>, selecting: Selecting) -> Outcome<Self> {
        selecting.expect_directions()?;
        Self::in_directions(ask, selecting)
    }

    /// The same with edges that lead the other way, or both ways, where that makes a difference.
    pub(crate) fn in_directions(ask: &Ask<'_>, selecting: Selecting) -> Outcome<Self> {
        let (version, selection) = selecting.resolve(ask.served, ask.run)?;
        let edges = selection.local(&version, ask.run)?;
        Ok(Self { version, edges })
    }

    pub(crate) fn graph(&self) -> LocalGraph<'_> {
        self.edges.graph(&self.version)
    }

    pub(crate) fn id(&self, v: VertexId) -> Outcome<String> {
        id_of(&self.version, v)
    }

    pub(crate) fn vertex(&self, ask: &Ask<'_>, id: &str) -> Outcome<VertexId> {
        Ok(self.version.find_vertex(id, ask.run)?)
    }

    /// The edges of a vertex in both directions.
    pub(crate) fn degree(&self, v: VertexId) -> Outcome<usize> {
        let (out, incoming) = degrees(self.graph(), v)?;
        Ok(out + incoming.filter(|_| self.version.is_directed()).unwrap_or(0))
    }

    /// The properties of a vertex.
    pub(crate) fn properties(&self, v: VertexId) -> Outcome {
        let mut found = Map::new();
        for record in self.version.vertex_properties() {
            let property = self.version.vertex_property(&record.name)?;
            let value = property.get(v)?;
            found.insert(record.name.clone(), value.as_ref().map_or(Value::Null, value_json));
        }
        Ok(found.into())
    }
}

/// The id of a vertex as text.
pub(crate) fn id_of(version: &Version, v: VertexId) -> Outcome<String> {
    Ok(version.ids().external_of(v)?.to_string())
}

/// The parameters of [`vertices`].
pub(crate) const OF_VERTICES: &[Parameter] = &[
    Parameter::text("prefix", "What ids begin with; without it, the vertices with most edges"),
    Parameter::count("limit", 20, 1000, "The greatest number of vertices"),
];

/// The answer of [`vertices`].
pub(crate) const VERTICES: Shape = Shape::Object(&[
    ("vertices", Shape::List(&Shape::Object(&[("id", Shape::Text), ("degree", Shape::Count)]))),
    ("shown", Shape::Count),
    ("found", Shape::Maybe(&Shape::Count)),
]);

/// Vertices whose ids begin so, or those with most edges.
pub(crate) fn vertices(ask: &Ask<'_>) -> Outcome {
    let around = Around::of(ask)?;
    let limit = ask.query.count("limit");
    let (found, count) = match ask.query.text("prefix").filter(|prefix| !prefix.is_empty()) {
        Some(prefix) if around.version.ids().is_text() => {
            let matches = with_prefix(&around.version.view(), prefix, limit, ask.run)?;
            (matches.vertices, Some(matches.count))
        }
        // Of integers, those that begin alike do not lie together.
        Some(number) => (same_number(ask, &around, number)?, None),
        None if around.version.num_present(ask.run)? == 0 => (Vec::new(), Some(0)),
        None => {
            let scene = Scene::whole(around.graph(), limit.max(1), ask.run)?;
            (scene.vertices, Some(scene.found as u64))
        }
    };
    let row = |&v: &VertexId| Ok(json!({ "id": around.id(v)?, "degree": around.degree(v)? }));
    let rows = found.iter().take(limit).map(row).collect::<Outcome<Vec<Value>>>()?;
    Ok(json!({ "shown": rows.len(), "found": count, "vertices": rows }))
}

fn same_number(ask: &Ask<'_>, around: &Around, number: &str) -> Outcome<Vec<VertexId>> {
    match around.version.find_vertex(number, ask.run) {
        Ok(v) => Ok(vec![v]),
        Err(error) if is_unknown(&error) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a text is the id of no vertex.
pub(crate) fn is_unknown(error: &store::Error) -> bool {
    matches!(error.kind(), ErrorKind::VertexNotFound | ErrorKind::Invalid | ErrorKind::Usage)
}

/// The parameters of [`vertex`].
pub(crate) const OF_VERTEX: &[Parameter] = &[Parameter::text("id", "The id of the vertex").required()];

/// The answer of [`vertex`].
pub(crate) const VERTEX: Shape = Shape::Object(&[
    ("id", Shape::Text),
    ("out_degree", Shape::Count),
    ("in_degree", Shape::Maybe(&Shape::Count)),
    ("properties", Shape::Named(&Shape::Any)),
]);

/// One vertex.
pub(crate) fn vertex(ask: &Ask<'_>) -> Outcome {
    let around = Around::of(ask)?;
    let v = around.vertex(ask, ask.query.required("id"))?;
    let (out, incoming) = degrees(around.graph(), v)?;
    Ok(json!({
        "id": around.id(v)?,
        "out_degree": out,
        "in_degree": incoming,
        "properties": around.properties(v)?,
    }))
}

/// The parameters of [`neighbors`].
pub(crate) const OF_NEIGHBORS: &[Parameter] = &[
    Parameter::text("id", "The id of the vertex").required(),
    Parameter::choice("direction", &["out", "in", "both"], "Which edges to follow"),
    Parameter::count("limit", 100, 10_000, "The greatest number of neighbours"),
    Parameter::text(
        "sort",
        "The most important first: by `degree`, `weight`, or an edge property of numbers",
    ),
];

/// The answer of [`neighbors`].
pub(crate) const NEIGHBORS: Shape =
    Shape::Object(&[("shown", Shape::Count), ("found", Shape::Count), ("neighbors", Shape::List(&NEIGHBOR))]);
const NEIGHBOR: Shape = Shape::Partial(
    &[
        ("id", Shape::Text),
        ("direction", Shape::Text),
        ("count", Shape::Count),
        ("degree", Shape::Count),
        ("properties", Shape::Named(&Shape::Any)),
        ("vertex_properties", Shape::Named(&Shape::Any)),
    ],
    &[("weight", Shape::Number)],
);

/// All edges to or from one neighbour.
struct Neighbor {
    /// The number of edges.
    count: u64,
    degree: usize,
    /// The sum of their weights.
    weight: Option<PathLength>,
    /// The properties of the first.
    properties: Map<String, Value>,
    /// What neighbours are sorted by; those without are last.
    importance: Option<PathLength>,
}

/// What neighbours are sorted by.
#[derive(Debug, Clone, Copy)]
enum Sorting {
    /// The number of their edges.
    Degree,
    /// The sum of the weights of the edges to them.
    Weight,
    /// The greatest value of an edge property, by its place.
    Property(usize),
}

impl Sorting {
    fn of(name: &str, properties: &[&PropertyRecord]) -> Outcome<Self> {
        match name {
            "degree" => Ok(Self::Degree),
            "weight" if properties.iter().any(|property| property.weight) => Ok(Self::Weight),
            name => {
                let place = place_of(properties, name)?;
                let property = properties[place];
                if property.is_number() {
                    return Ok(Self::Property(place));
                }
                let held = if property.is_text() { "texts".to_owned() } else { property.type_name() };
                Err(Failure::usage(format!("{name} holds {held}: neighbours are sorted by numbers")))
            }
        }
    }
}

/// The neighbours of a vertex, the most important first.
pub(crate) fn neighbors(ask: &Ask<'_>) -> Outcome {
    let around = Around::of(ask)?;
    let v = around.vertex(ask, ask.query.required("id"))?;
    if let Some(direction) = ask.query.text("direction").filter(|&direction| direction != "both")
        && !around.version.is_directed()
    {
        return Err(Failure::usage(format!(
            "direction={direction} has no effect: the edges of this graph are undirected; leave it out"
        )));
    }
    let reach = match ask.query.choice("direction") {
        "in" => Incidence::In,
        "both" => Incidence::Both,
        _ => Incidence::Out,
    };
    let properties: Vec<&PropertyRecord> = around.version.edge_properties().collect();
    let sorting = Sorting::of(ask.query.text("sort").unwrap_or("degree"), &properties)?;
    let mut found = gathered(&around, v, reach, sorting)?;
    for (place, ((other, _), neighbor)) in found.iter_mut().enumerate() {
        if place % CHECK_VERTICES == 0 {
            ask.run.check()?;
        }
        neighbor.degree = around.degree(*other)?;
        match sorting {
            Sorting::Degree => neighbor.importance = Some(PathLength::Whole(neighbor.degree as i128)),
            Sorting::Weight => neighbor.importance = neighbor.weight,
            Sorting::Property(_) => {}
        }
    }
    let count = found.len();
    let mut sorted: Vec<_> = found.into_iter().collect();
    sorted.sort_by_key(|(_, neighbor)| Reverse(neighbor.importance));
    sorted.truncate(ask.query.count("limit"));
    let rows = sorted.into_iter().map(|((other, way), neighbor)| row(&around, other, way, neighbor));
    let rows = rows.collect::<Outcome<Vec<Value>>>()?;
    Ok(json!({ "shown": rows.len(), "found": count, "neighbors": rows }))
}

/// The neighbours of a vertex, without their degrees.
fn gathered(
    around: &Around,
    v: VertexId,
    reach: Incidence,
    sorting: Sorting,
) -> Outcome<BTreeMap<(VertexId, Way), Neighbor>> {
    let properties: Vec<&PropertyRecord> = around.version.edge_properties().collect();
    let weight = properties.iter().position(|property| property.weight);
    let mut found: BTreeMap<(VertexId, Way), Neighbor> = BTreeMap::new();
    for edge in edges_of(around.graph(), v, reach)? {
        let (other, way) = match (around.version.is_directed(), edge.source == v) {
            (false, _) => (edge.target, Way::Both),
            (true, true) => (edge.target, Way::Out),
            (true, false) => (edge.source, Way::In),
        };
        let value = |place: usize| amount_of(&edge.values[place]);
        let importance = match sorting {
            Sorting::Property(place) => value(place),
            Sorting::Degree | Sorting::Weight => None,
        };
        let neighbor = found.entry((other, way)).or_insert_with(|| Neighbor {
            count: 0,
            degree: 0,
            weight: None,
            properties: properties_of(&properties, &edge.values),
            importance,
        });
        neighbor.count += 1;
        neighbor.weight = with_amount(neighbor.weight, weight.and_then(value));
        neighbor.importance = neighbor.importance.max(importance);
    }
    Ok(found)
}

fn row(around: &Around, other: VertexId, way: Way, neighbor: Neighbor) -> Outcome {
    let Neighbor { count, degree, weight, properties, .. } = neighbor;
    let mut row = json!({
        "id": around.id(other)?,
        "direction": way.name(),
        "count": count,
        "degree": degree,
        "properties": properties,
        "vertex_properties": around.properties(other)?,
    });
    if let Some(weight) = weight {
        row["weight"] = amount_json(weight);
    }
    Ok(row)
}

fn place_of(names: &[&PropertyRecord], name: &str) -> Outcome<usize> {
    names.iter().position(|property| property.name == name).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|property| property.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Failure::usage(format!("edges have no property {name:?}; they have {known}"))
    })
}

/// Which way an edge leads from the vertex that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Out,
    In,
    Both,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
            Self::Both => "both",
        }
    }
}

/// The values of edge properties by name.
pub(crate) fn properties_of(names: &[&PropertyRecord], values: &[PropertyValue<'_>]) -> Map<String, Value> {
    names.iter().zip(values).map(|(property, value)| (property.name.clone(), value_json(value))).collect()
}
