//! What the database is: its size, properties, times and versions.

use std::collections::BTreeMap;

use esker::selection::kinds_of;
use esker::store::format::{LogicalType, VersionRecord};
use esker::store::{Store, Version};
use esker::window::{Declared, EpochUnit, Times};
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::failure::Outcome;
use crate::query::Parameter;
use crate::shape::Shape;

const PROPERTY: Shape = Shape::Object(&[("name", Shape::Text), ("type", Shape::Text)]);
const EVENT_TIMES: Shape =
    Shape::Object(&[("property", Shape::Text), ("unit", Shape::Text), ("from", MOMENT), ("to", MOMENT)]);
/// A time: the number in the unit of the times, and a text that windows take.
pub(crate) const MOMENT: Shape = Shape::Object(&[("value", Shape::Count), ("text", Shape::Text)]);

/// The answer of [`database`].
pub(crate) const DATABASE: Shape = Shape::Object(&[
    ("name", Shape::Text),
    ("esker_version", Shape::Text),
    ("latest", Shape::Count),
    ("directed", Shape::Flag),
    ("weighted", Shape::Flag),
    ("vertices", Shape::Count),
    ("edges", Shape::Count),
    ("edge_properties", Shape::List(&PROPERTY)),
    ("vertex_properties", Shape::List(&PROPERTY)),
    ("kinds", Shape::Maybe(&Shape::List(&Shape::Text))),
    ("event_times", Shape::Maybe(&EVENT_TIMES)),
    ("writable", Shape::Flag),
]);

/// Describes the newest version.
pub(crate) fn database(ask: &Ask<'_>) -> Outcome {
    let version = ask.served.version(None)?;
    let edge_properties = version.edge_properties();
    let edge_properties: Vec<Value> =
        edge_properties.map(|one| json!({ "name": one.name, "type": one.type_name() })).collect();
    let vertex_properties = version.vertex_properties();
    let vertex_properties: Vec<Value> =
        vertex_properties.map(|one| json!({ "name": one.name, "type": one.type_name() })).collect();
    let kinds = version.kind_property().map(|_| kinds_of(&version)).transpose()?;
    Ok(json!({
        "name": ask.served.name(),
        "esker_version": env!("CARGO_PKG_VERSION"),
        "latest": version.number(),
        "directed": version.is_directed(),
        "weighted": version.edge_properties().any(|property| property.weight),
        "vertices": version.num_present(ask.run)?,
        "edges": version.num_edges(),
        "edge_properties": edge_properties,
        "vertex_properties": vertex_properties,
        "kinds": kinds,
        "event_times": event_times(ask, &version)?,
        "writable": false,
    }))
}

/// The times of the edges, if they are known to be times: the database remembers which property holds them,
/// or it holds nothing else. An integer that nobody called a time may be anything.
pub(crate) fn known_times(ask: &Ask<'_>, version: &Version) -> Outcome<Option<Times>> {
    let times = match Times::of(&version.view(), None, None, ask.run) {
        Ok(times) => times,
        Err(esker::Error::Usage(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_declared = Declared::of(version.manifest()).time.is_some();
    let property = &version.edge_property(&times.property)?.logical;
    let is_time = matches!(property, LogicalType::Timestamp { .. } | LogicalType::Date);
    Ok(Some(times).filter(|_| is_declared || is_time))
}

fn event_times(ask: &Ask<'_>, version: &Version) -> Outcome {
    let Some(times) = known_times(ask, version)? else { return Ok(Value::Null) };
    let Some((from, to)) = times.range else { return Ok(Value::Null) };
    Ok(json!({
        "property": times.property,
        "unit": EpochUnit::ALL.iter().find(|(_, unit)| *unit == times.unit).map(|(symbol, _)| symbol),
        "from": moment(&times, from),
        "to": moment(&times, to),
    }))
}

/// A time as number and text.
pub(crate) fn moment(times: &Times, time: i64) -> Value {
    json!({ "value": time, "text": times.format(time) })
}

/// The parameters of [`versions`].
pub(crate) const OF_VERSIONS: &[Parameter] =
    &[Parameter::count("limit", 1000, 100_000, "The greatest number of versions, the newest")];

/// The answer of [`versions`].
pub(crate) const VERSIONS: Shape =
    Shape::Object(&[("versions", Shape::List(&VERSION)), ("shown", Shape::Count), ("found", Shape::Count)]);
const VERSION: Shape = Shape::Object(&[
    ("version", Shape::Count),
    ("time", Shape::Count),
    ("vertices", Shape::Count),
    ("edges", Shape::Count),
    ("tag", Shape::Maybe(&Shape::Text)),
    ("message", Shape::Maybe(&Shape::Text)),
]);

/// Lists the newest versions, the newest last.
pub(crate) fn versions(ask: &Ask<'_>) -> Outcome {
    let (records, newest) = ask.served.versions()?;
    let mut tags: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for (name, &version) in newest.manifest().tags.iter() {
        tags.entry(version).or_default().push(name);
    }
    let removed = Store::open(ask.served.path())?.removed_by_version(ask.run)?;
    let removed_in = |version: u64| {
        let place = removed.partition_point(|&(since, _)| since <= version);
        place.checked_sub(1).map_or(0, |last| removed[last].1)
    };
    let skipped = records.len().saturating_sub(ask.query.count("limit"));
    let shown: Vec<Value> = records[skipped..]
        .iter()
        .map(|record: &VersionRecord| {
            json!({
                "version": record.number,
                "time": record.time_ms,
                "vertices": record.num_vertices.saturating_sub(removed_in(record.number)),
                "edges": record.num_edges,
                "tag": tags.get(&record.number).map(|names| names.join(", ")),
                "message": Some(&record.message).filter(|message| !message.is_empty()),
            })
        })
        .collect();
    Ok(json!({ "shown": shown.len(), "found": records.len(), "versions": shown }))
}
