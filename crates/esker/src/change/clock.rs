//! The times of a stream, and its watermark.

use esker_graph::{Message, Run, Setting, message};
use esker_import::read::format::ReadOptions;
use esker_import::read::operation::{OperationColumn, RowOperation};
use esker_store::format::{Duplicates, ElementType, PropertyRecord};
use esker_store::manifest::check_event_time;
use esker_store::property::PropertyValue;
use esker_store::{Error, Result, Version};

use super::feed_policy::{FedEdge, FedEdges};
use super::stream_options::{Late, Pace, StreamOptions};
use super::target::Target;
use crate::window::{Declared, EpochUnit, Span};

/// The property of times, and what is known of the times.
pub(super) struct Clock {
    place: usize,
    /// Unless it is known, guessed from the first edge.
    pub(super) unit: Option<EpochUnit>,
    /// How the times look that the database has.
    known: KnownTimes,
    asked_delay: Option<Span>,
    /// In the unit of the times.
    delay: i64,
    first: Option<i64>,
    greatest: Option<i64>,
}

/// The place of the times of a stream among the properties that its edges are given, if it has times: no edge
/// may be without one.
pub fn place_of_times(target: &Target, options: &StreamOptions) -> Option<usize> {
    Clock::of(target, options).ok().flatten().map(|clock| clock.place())
}

/// The options that read the rows of a stream of files: those without a time are rejected, and a column may
/// say what happens to the edge of each.
pub fn reading_of_rows(target: &Target, options: &StreamOptions, read: ReadOptions) -> ReadOptions {
    let place = place_of_times(target, options);
    let timed = place.and_then(|place| target.given_properties().nth(place));
    let rule = options.duplicates.unwrap_or(target.newest.manifest().duplicates());
    let may_replace = rule == Duplicates::Last;
    let operation = options.op.clone().map(|column| OperationColumn { column, may_replace });
    ReadOptions { timed: timed.map(|property| property.name.clone()), operation, ..read }
}

impl Clock {
    pub(super) fn of(target: &Target, options: &StreamOptions) -> Result<Option<Self>> {
        let newest = &target.newest;
        let declared = Declared::of(newest.manifest());
        let name = match options.time.as_ref().or(declared.time.as_ref()) {
            Some(name) => name.clone(),
            None => match &newest.time_properties().filter(|one| !one.weight).collect::<Vec<_>>()[..] {
                [only] => only.name.clone(),
                [] if options.delay.is_some()
                    || options.late != Late::Next
                    || options.expire.is_some()
                    || matches!(options.pace, Some(Pace::Replay(_))) =>
                {
                    return Err(Error::invalid(
                        "no edge property but the weight can hold times: without times there is no delay, no replay, nothing late \
                         and nothing expires"
                            .to_owned(),
                    ));
                }
                [] => return Ok(None),
                several => {
                    let names: Vec<_> = several.iter().map(|one| one.name.as_str()).collect();
                    return Err(Error::usage(message![
                        "several edge properties can hold times: name one with ",
                        Setting::Time,
                        format!(": {}", names.join(", ")),
                    ]));
                }
            },
        };
        let found = newest.time_properties().find(|one| one.name == name).ok_or_else(|| {
            Error::invalid(format!(
                "{name:?} is no edge property that can hold times: {}",
                target.describe_edges()
            ))
        })?;
        let place = target.given_properties().position(|one| one.number == found.number).unwrap_or(0);
        let unit = EpochUnit::of(found).or(declared.unit_of(&name)).or(options.unit);
        if let (Some(unit), Some(given)) = (unit, options.unit.filter(|&given| unit != Some(given))) {
            let (kept, given) = (unit.name(), given.name());
            return Err(Error::usage(format!(
                "the times in {name:?} are in {kept}, not in {given}: convert those that come"
            )));
        }
        let known = KnownTimes::of(newest, found, unit)?;
        let asked_delay = options.delay.or(declared.delay);
        Ok(Some(Self { place, unit, known, asked_delay, delay: 0, first: None, greatest: None }))
    }

    /// The place of the times among the properties of edges.
    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// Notes the time of an edge, and returns it; `None` of a removal without one.
    pub(super) fn take(&mut self, edge: &FedEdge<'_>) -> Result<Option<i64>> {
        let Some(time) = self.of_edge(edge) else {
            let time = &edge.values[self.place];
            if time.is_missing() && edge.operation == RowOperation::Remove {
                return Ok(None);
            }
            if time.is_missing() {
                return Err(Error::invalid(message![
                    format!(
                        "the edge from {} to {} has no time: give it one, or those without one with ",
                        edge.source, edge.target
                    ),
                    Setting::Default.to_some("NAME=TIME"),
                ]));
            }
            return Err(Error::invalid(format!(
                "the edge from {} to {} has the time {time}, and a time is an integer below 2^63 in one unit: convert the times, as to milliseconds",
                edge.source, edge.target
            )));
        };
        let unit = match self.unit {
            Some(unit) => {
                expect_credible(edge, unit, time, &Message::default())?;
                self.known.expect(time, &Message::default())?;
                unit
            }
            None => {
                self.known.expect(time, &message![", or state their unit with ", Setting::TimeUnit])?;
                let unit = EpochUnit::guess(time);
                let remedy = message![" to one unit, or state theirs with ", Setting::TimeUnit];
                expect_credible(edge, unit, time, &remedy)?;
                *self.unit.insert(unit)
            }
        };
        if let Some(delay) = self.asked_delay.take() {
            self.delay = unit.length(delay).map_err(|error| Error::invalid(error.message()))?;
        }
        self.greatest = Some(self.greatest.map_or(time, |greatest| greatest.max(time)));
        Ok(Some(time))
    }

    /// Notes the times of edges if all of them are after `mark` and the unit is known; else false, and each
    /// has to be looked at.
    pub(super) fn take_later(&mut self, edges: &FedEdges<'_>, mark: Option<i64>) -> bool {
        let Some(unit) = self.unit.filter(|_| self.asked_delay.is_none()) else { return false };
        let mut greatest = self.greatest;
        for &value in &edges.values[self.place] {
            let Some(time) = time_of(value).filter(|&time| mark.is_none_or(|mark| time > mark)) else {
                return false;
            };
            if !self.known.admit(time) {
                return false;
            }
            greatest = greatest.max(Some(time));
        }
        if !is_credible(unit, greatest.unwrap_or(0)) {
            return false;
        }
        self.greatest = greatest;
        true
    }

    fn of_edge(&self, edge: &FedEdge<'_>) -> Option<i64> {
        time_of(edge.values[self.place])
    }

    pub(super) fn seconds_since_first(&mut self, edge: &FedEdge<'_>) -> f64 {
        let Some(time) = self.of_edge(edge) else { return 0.0 };
        let first = *self.first.get_or_insert(time);
        let unit = self.unit.unwrap_or_else(|| EpochUnit::guess(time));
        unit.seconds(time.saturating_sub(first))
    }

    /// The name of the property.
    pub(super) fn property<'t>(&self, target: &'t Target) -> &'t str {
        target.given_properties().nth(self.place).map_or("", |one| &one.name)
    }

    /// The greatest time so far.
    pub(super) fn greatest(&self) -> Option<i64> {
        self.greatest
    }

    pub(super) fn watermark(&self) -> Option<i64> {
        // More edges of the greatest time may come.
        self.greatest.map(|greatest| greatest.saturating_sub(self.delay).saturating_sub(1))
    }
}

/// How the times look that a database has: by their size, a time since 1973 shows its unit.
struct KnownTimes {
    /// The latest of them, and the unit in which it seems to be; `None` if the property says its unit, or
    /// nothing is there to compare with.
    latest: Option<(i64, EpochUnit)>,
}

impl KnownTimes {
    /// `unit` is that of the times, if it is known.
    fn of(newest: &Version, property: &PropertyRecord, unit: Option<EpochUnit>) -> Result<Self> {
        if EpochUnit::of(property).is_some() {
            return Ok(Self { latest: None });
        }
        let latest = newest.latest_time(&property.name, &Run::with_threads(1)?)?.filter(|&latest| latest > 0);
        let latest = latest.map(|latest| (latest, EpochUnit::guess(latest)));
        // Times that do not look like their unit show nothing.
        Ok(Self { latest: latest.filter(|(_, seems)| unit.is_none_or(|unit| unit == *seems)) })
    }

    /// Whether a time seems to be in the same unit. One that is not after 1970 shows nothing.
    fn admit(&self, time: i64) -> bool {
        time <= 0 || self.latest.is_none_or(|(_, seems)| EpochUnit::guess(time) == seems)
    }

    /// Refuses a time that seems to be in another unit.
    fn expect(&self, time: i64, remedy: &Message) -> Result<()> {
        match self.latest {
            Some((latest, seems)) if !self.admit(time) => Err(Error::invalid(message![
                format!(
                    "the time {time} looks as if it were in {}, but {latest}, the latest in the database, as if it were in {}: \
                     convert the times",
                    EpochUnit::guess(time).name(),
                    seems.name()
                ),
                remedy,
            ])),
            _ => Ok(()),
        }
    }
}

/// The property of times that a database has declared, and its unit.
pub(super) struct DeclaredTimes {
    place: usize,
    unit: Option<EpochUnit>,
    known: KnownTimes,
}

impl DeclaredTimes {
    /// `None` if no property is declared.
    ///
    /// # Errors
    /// If the times of the database cannot be read.
    pub(super) fn of(target: &Target) -> Result<Option<Self>> {
        let newest = &target.newest;
        let declared = Declared::of(newest.manifest());
        let Some(name) = declared.time.as_deref() else { return Ok(None) };
        let Some(found) = newest.time_properties().find(|one| one.name == name) else { return Ok(None) };
        let unit = EpochUnit::of(found).or(declared.unit_of(name));
        let place = target.given_properties().position(|one| one.number == found.number);
        let known = KnownTimes::of(newest, found, unit)?;
        Ok(place.map(|place| Self { place, unit, known }))
    }

    /// Refuses an edge with a time in another unit, as it looks.
    pub(super) fn expect(&self, edge: &FedEdge<'_>) -> Result<()> {
        let Some(time) = edge.values.get(self.place).and_then(|&value| time_of(value)) else { return Ok(()) };
        self.unit.map_or(Ok(()), |unit| expect_credible(edge, unit, time, &Message::default()))?;
        self.known.expect(time, &Message::default())
    }

    /// Whether none of the edges would be refused.
    pub(super) fn admit(&self, edges: &FedEdges<'_>) -> bool {
        let is_right = |&value| {
            time_of(value).is_none_or(|time| {
                self.unit.is_none_or(|unit| is_credible(unit, time)) && self.known.admit(time)
            })
        };
        edges.values.get(self.place).is_none_or(|times| times.iter().all(is_right))
    }
}

fn expect_credible(edge: &FedEdge<'_>, unit: EpochUnit, time: i64, remedy: &Message) -> Result<()> {
    if is_credible(unit, time) {
        return Ok(());
    }
    let late = format!(
        "the edge from {} to {} has the time {time}, which in {} is after the year 9999: convert the times",
        edge.source,
        edge.target,
        unit.name()
    );
    Err(Error::invalid(message![late, remedy]))
}

/// Whether a time is not after the year 9999, as one in a smaller unit looks. It would make all other edges
/// old.
fn is_credible(unit: EpochUnit, time: i64) -> bool {
    time <= 0 || unit.to_ms(time).is_some_and(|ms| check_event_time(ms).is_ok())
}

/// `None` for a number with a fraction, or beyond 64 bits with a sign.
fn time_of(value: PropertyValue<'_>) -> Option<i64> {
    match value {
        PropertyValue::I32(time) => Some(i64::from(time)),
        PropertyValue::U32(time) => Some(i64::from(time)),
        PropertyValue::F32(_) | PropertyValue::F64(_) => None,
        time if time.element() == Some(ElementType::I64) => time.bits().map(u64::cast_signed),
        time => i64::try_from(time.bits()?).ok(),
    }
}
