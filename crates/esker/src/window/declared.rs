//! The declaration of a stream that a database stores.

use esker_graph::{Setting, message};

use esker_store::format::{SpanRecord, SpanUnit, StreamRecord, StreamUnit, VersionRecord};
use esker_store::manifest::{Manifest, VersionSelector};
use esker_store::{Database, View};

use super::units::{EpochUnit, Span, TIME_MIN};
use crate::error::{Error, Result};

/// The declaration of a stream: defaults for all commands that read the times of its edges, and the age from
/// which edges are removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declared {
    /// The edge property that holds the times; `None`: the only one that can.
    pub time: Option<String>,
    /// The unit of the times; `None`: that of the property, or guessed.
    pub unit: Option<EpochUnit>,
    /// By how much edges may be out of order.
    pub delay: Option<Span>,
    /// The age from which edges are removed, counted from the latest edge: by streams, and when layers are
    /// compacted.
    pub expire: Option<Span>,
}

const UNITS: [(StreamUnit, EpochUnit); 4] = [
    (StreamUnit::Seconds, EpochUnit::Seconds),
    (StreamUnit::Milliseconds, EpochUnit::Milliseconds),
    (StreamUnit::Microseconds, EpochUnit::Microseconds),
    (StreamUnit::Nanoseconds, EpochUnit::Nanoseconds),
];

impl From<EpochUnit> for StreamUnit {
    fn from(unit: EpochUnit) -> Self {
        UNITS.iter().find(|known| known.1 == unit).map_or(Self::Guessed, |known| known.0)
    }
}

impl Declared {
    /// What a manifest has of it; nothing if it declares no stream.
    pub fn of(manifest: &Manifest) -> Self {
        let Some(stream) = &manifest.stream else { return Self::default() };
        Self {
            time: Some(stream.time.clone()),
            unit: UNITS.iter().find(|known| known.0 == stream.unit).map(|known| known.1),
            delay: span_of(stream.delay),
            expire: span_of(stream.expire),
        }
    }

    /// The same with another property or unit of the times, where they are given. The unit of other times is
    /// not kept.
    #[must_use]
    pub fn with_times(self, time: Option<String>, unit: Option<EpochUnit>) -> Self {
        let kept = self.unit.filter(|_| time.is_none() || time == self.time);
        Self { time: time.or(self.time), unit: unit.or(kept), ..self }
    }

    /// The unit of the times in a property, if it is the one that was declared.
    pub(crate) fn unit_of(&self, property: &str) -> Option<EpochUnit> {
        self.unit.filter(|_| self.time.as_deref() == Some(property))
    }

    /// Makes the database keep this. Later processes obey it, and so does a stream that begins later.
    ///
    /// # Errors
    /// [`Error::Usage`] if no edge property of the name can hold times, several can and none is named, or the
    /// unit or the lengths do not fit the times; [`Database::declare_stream`].
    pub fn keep(&self, database: &Database) -> Result<()> {
        let newest = database.latest()?;
        let time = match &self.time {
            Some(name) => holding_times(&newest.view(), name)?,
            None => {
                let time = only_time(&newest.view())?;
                expect_no_weight(&newest.view(), &time)?;
                time
            }
        };
        let unit = known_unit(&newest.view(), &time, self.unit)?.or(self.unit);
        for length in self.delay.iter().chain(&self.expire) {
            unit.map(|unit| unit.length(*length)).transpose()?;
        }
        let unit = self.unit.map_or(StreamUnit::Guessed, StreamUnit::from);
        let (delay, expire) = (record_of(self.delay), record_of(self.expire));
        Ok(database.declare_stream(StreamRecord { time, unit, delay, expire })?)
    }
}

/// The number of the version that a user selects. An integer that is no number of a version may be a time, as
/// the edges of a stream have it: in the unit that was declared for them, or in the one that it seems to be
/// in.
///
/// # Errors
/// As [`VersionSelector::resolve`].
pub fn select_version(
    selector: &VersionSelector,
    versions: &[VersionRecord],
    manifest: &Manifest,
) -> esker_store::Result<u64> {
    let newest = versions.last().map_or(0, |version| version.number);
    match *selector {
        VersionSelector::Number(number) if number > newest.max(TIME_MIN) => {
            let time = i64::try_from(number).unwrap_or(i64::MAX);
            let unit = Declared::of(manifest).unit.unwrap_or_else(|| EpochUnit::guess(time));
            // The last nanosecond of the unit.
            let until = (i128::from(time) + 1) * unit.nanoseconds() - 1;
            VersionSelector::Time(until).resolve(versions, &manifest.tags)
        }
        _ => selector.resolve(versions, &manifest.tags),
    }
}

/// The unit of the times in a property, if its type says so.
pub(super) fn known_unit(view: &View, property: &str, given: Option<EpochUnit>) -> Result<Option<EpochUnit>> {
    let known = EpochUnit::of(view.version().edge_property(property)?);
    if let (Some(known), Some(given)) = (known, given.filter(|&given| known != Some(given))) {
        let (known, given) = (known.name(), given.name());
        return Err(Error::usage(format!("the times in {property:?} are in {known}, not in {given}")));
    }
    Ok(known)
}

pub(super) fn only_time(view: &View) -> Result<String> {
    let mut names: Vec<&str> =
        view.version().time_properties().map(|property| property.name.as_str()).collect();
    if names.len() > 1 {
        let weight = view.weight_property().map(|property| property.name.as_str());
        names.retain(|name| Some(*name) != weight);
    }
    match names[..] {
        [name] => Ok(name.to_owned()),
        [] => Err(Error::usage(message![
            "no edge property can hold times: a window needs one with whole numbers or timestamps, as ",
            Setting::Time,
            " of an import makes of dates",
        ])),
        _ => Err(Error::usage(message![
            "name the edge property that holds the times with ",
            Setting::Time,
            format!(": {}", names.join(", ")),
        ])),
    }
}

/// Refuses the weight as the times by which edges are to be removed, unless it was named: few weights are
/// times.
pub(crate) fn expect_no_weight(view: &View, property: &str) -> Result<()> {
    match view.weight_property() {
        Some(weight) if weight.name == property => Err(Error::usage(message![
            "no edge property but the weight can hold times: name it with ",
            Setting::Time.to_name(property),
            " if it does",
        ])),
        _ => Ok(()),
    }
}

/// The name, if it is that of an edge property that can hold times.
fn holding_times(view: &View, name: &str) -> Result<String> {
    let known: Vec<&str> = view.version().time_properties().map(|property| property.name.as_str()).collect();
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    let names =
        if known.is_empty() { "none can".to_owned() } else { format!("name one of {}", known.join(", ")) };
    Err(Error::usage(format!("{name:?} is no edge property that can hold times: {names}")))
}

fn span_of(SpanRecord { number, unit }: SpanRecord) -> Option<Span> {
    let symbol = SpanUnit::ALL.iter().find(|known| known.0 == unit)?.1;
    format!("{number}{symbol}").parse().ok().filter(|_| number > 0)
}

fn record_of(span: Option<Span>) -> SpanRecord {
    let Some(span) = span else { return SpanRecord { number: 0, unit: SpanUnit::OfTimes } };
    let unit = SpanUnit::ALL.iter().find(|known| known.1 == span.symbol());
    SpanRecord { number: span.number(), unit: unit.map_or(SpanUnit::OfTimes, |known| known.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_survive_their_records() {
        for text in ["7", "1ns", "2us", "3ms", "4s", "5m", "6h", "7d", "8w"] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span_of(record_of(Some(span))), Some(span), "{text}");
        }
        assert_eq!(span_of(record_of(None)), None);
    }
}
