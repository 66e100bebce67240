//! What changed between two versions.

use esker::differences::value_json;
use esker::graph::VertexId;
use esker::store::diff::{DiffEdge, Difference, diff};
use esker::store::format::PropertyRecord;
use esker::store::manifest::VersionSelector;
use esker::store::property::PropertyValue;
use esker::store::{self, Version};
use serde_json::{Map, Value, json};

use crate::ask::Ask;
use crate::failure::Outcome;
use crate::query::Parameter;
use crate::shape::Shape;

/// The parameters of [`differences`].
pub(crate) const OF_DIFFERENCES: &[Parameter] = &[
    Parameter::text("from", "The former version: a number, a tag, or a time").required(),
    Parameter::text("to", "The later version").required(),
    Parameter::count("limit", 1000, 100_000, "The greatest number of entries of all lists together"),
];

/// The answer of [`differences`].
pub(crate) const DIFFERENCES: Shape = Shape::Object(&[
    ("added", Shape::List(&ENTRY)),
    ("removed", Shape::List(&ENTRY)),
    ("changed", Shape::List(&ENTRY)),
    ("shown", Shape::Count),
    ("found", Shape::Count),
]);
/// An edge or a vertex; of a property that changed, the values before and after.
const ENTRY: Shape = Shape::Partial(
    &[],
    &[
        ("source", Shape::Text),
        ("target", Shape::Text),
        ("vertex", Shape::Text),
        ("properties", Shape::Named(&Shape::Any)),
        ("property", Shape::Text),
        ("old", Shape::Any),
        ("new", Shape::Any),
    ],
);

/// Differences by what they are. An edge with several properties that changed has an entry for each.
#[derive(Default)]
struct Lists {
    /// The greatest number of entries of all lists together.
    limit: usize,
    /// All entries, also those beyond the limit.
    found: usize,
    added: Vec<Value>,
    removed: Vec<Value>,
    changed: Vec<Value>,
}

impl Lists {
    /// Counts an entry. Returns whether it is shown.
    fn count(&mut self) -> bool {
        self.found += 1;
        self.found <= self.limit
    }
}

/// The two versions, and the properties of edges that both have.
struct Compared<'a> {
    former: &'a Version,
    later: &'a Version,
    properties: Vec<PropertyRecord>,
}

/// Lists the differences from one version to another.
pub(crate) fn differences(ask: &Ask<'_>) -> Outcome {
    let version = |name: &str| -> Outcome<Version> {
        let selector: VersionSelector = ask.query.required(name).parse()?;
        ask.served.version(Some(&selector))
    };
    let (former, later) = (version("from")?, version("to")?);
    let properties = former.edge_properties().cloned().collect();
    let compared = Compared { former: &former, later: &later, properties };
    let mut lists = Lists { limit: ask.query.count("limit"), ..Lists::default() };
    diff(&former, &later, ask.run, |difference| compared.take(&difference, &mut lists))?;
    Ok(json!({
        "added": lists.added,
        "removed": lists.removed,
        "changed": lists.changed,
        "shown": lists.found.min(lists.limit),
        "found": lists.found,
    }))
}

impl Compared<'_> {
    fn take(&self, difference: &Difference<'_>, lists: &mut Lists) -> store::Result<()> {
        if let Difference::EdgeChanged(old, new) = difference {
            return self.take_changes(old, new, lists);
        }
        if !lists.count() {
            return Ok(());
        }
        match difference {
            Difference::VertexAdded(v) => lists.added.push(json!({ "vertex": self.id(*v)? })),
            Difference::VertexRemoved(v) => lists.removed.push(json!({ "vertex": self.id(*v)? })),
            Difference::ValueChanged(v, property, old, new) => {
                let shown =
                    |value: &Option<PropertyValue<'_>>| value.as_ref().map_or(Value::Null, value_json);
                lists.changed.push(json!({
                    "vertex": self.id(*v)?,
                    "property": property.name,
                    "old": shown(old),
                    "new": shown(new),
                }));
            }
            Difference::EdgeAdded(edge) => lists.added.push(self.edge(edge)?),
            Difference::EdgeRemoved(edge) => lists.removed.push(self.edge(edge)?),
            Difference::EdgeChanged(..) => {}
        }
        Ok(())
    }

    /// An entry for each property of an edge that changed.
    fn take_changes(&self, old: &DiffEdge<'_>, new: &DiffEdge<'_>, lists: &mut Lists) -> store::Result<()> {
        let (before, after) = (self.values(old)?, self.values(new)?);
        for (property, value) in &after {
            let old = before.get(property).unwrap_or(&Value::Null);
            if old != value && lists.count() {
                let (source, target) = (self.id(new.source)?, self.id(new.target)?);
                lists.changed.push(json!({
                    "source": source, "target": target, "property": property, "old": old, "new": value,
                }));
            }
        }
        Ok(())
    }

    fn edge(&self, edge: &DiffEdge<'_>) -> store::Result<Value> {
        Ok(json!({
            "source": self.id(edge.source)?,
            "target": self.id(edge.target)?,
            "properties": self.values(edge)?,
        }))
    }

    fn values(&self, edge: &DiffEdge<'_>) -> store::Result<Map<String, Value>> {
        let value = |one: &PropertyRecord| Ok((one.name.clone(), value_json(&edge.value(one)?)));
        self.properties.iter().map(value).collect()
    }

    /// The id of a vertex, which the later version may have forgotten.
    fn id(&self, v: VertexId) -> store::Result<String> {
        let version = if (v as usize) < self.later.num_vertices() { self.later } else { self.former };
        Ok(version.ids().external_of(v)?.to_string())
    }
}
