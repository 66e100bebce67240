//! Commits a stream of timed edges as it comes.
//!
//! The *watermark* is the last time of which all edges have come, if edges come in order but for a delay: the moment before the greatest
//! time less the delay. Each version has the watermark of its commit as its event time. An edge is *late* if its time is not after the
//! watermark of the version before it: a window that ended there was answered without it. The message of a version says how far the input was read, so that a stream that was
//! stopped or killed goes on with the first edge that no version has.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use esker_graph::Cancel;
use esker_import::options::BadLines;
use esker_store::format::{Duplicates, ElementType};
use esker_store::property::PropertyValue;
use esker_store::{CommitOptions, Database, Error, Result};

use super::columns::EdgeInput;
use super::feed::{Course, FedEdge, FeedOptions, FeedReport, feed_by};
use super::position::Position;
use super::rejects::Rejects;
use super::target::Target;
use crate::window::{Span, TimeUnit};

/// Edges between two looks at the clock.
const LOOK_EVERY: u64 = 64;
/// Time between two reports of the state.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// When a stream commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitEvery {
    /// After so many edges.
    Edges(u64),
    /// When the first edge that is not committed came so long ago.
    Time(Duration),
}

/// How fast a stream is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// So many edges a second.
    PerSecond(f64),
    /// So many times as fast as the edges happened.
    Replay(f64),
}

/// What becomes of late edges. All are counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Late {
    /// The next version gets them.
    #[default]
    Next,
    /// They are appended to a CSV file instead.
    Reject(PathBuf),
    /// They end the stream.
    Refuse,
}

/// The state of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamState {
    /// Number of edges taken.
    pub edges: u64,
    /// Number of edges committed.
    pub committed: u64,
    /// Number of late edges, those of earlier runs of this stream included.
    pub late: u64,
    /// The newest version that the stream made.
    pub version: Option<u64>,
    /// The watermark, and the unit of the times; `None` without times or edges.
    pub watermark: Option<(i64, TimeUnit)>,
    /// How long the oldest edge of the last commit waited until it was durable.
    pub lag: Duration,
}

/// Called with the state once a second.
pub type OnStream = Arc<dyn Fn(&StreamState) + Send + Sync>;

/// Options of [`stream`].
#[derive(Clone)]
pub struct StreamOptions {
    /// When to commit.
    pub every: CommitEvery,
    /// How fast to read; `None`: as fast as possible.
    pub pace: Option<Pace>,
    /// The edge property that holds the times; `None`: the only one that can, but for the weight. Without one, the event time is that of
    /// the commit.
    pub time: Option<String>,
    /// The unit of the times; `None`: guessed from the first.
    pub unit: Option<TimeUnit>,
    /// By how much edges may be out of order.
    pub delay: Option<Span>,
    /// What becomes of late edges.
    pub late: Late,
    /// The name under which versions say how far the input was read; `None` for one that cannot be read again.
    pub source: Option<String>,
    /// Whether to read the input from its start, also if versions say that it was read before.
    pub from_start: bool,
    /// What becomes of edges that exist or are given several times; `None`: the rule of the database.
    pub duplicates: Option<Duplicates>,
    /// What to do with malformed lines.
    pub bad_lines: BadLines,
    /// Ends the stream after a last commit of what was read.
    pub stop: Cancel,
    /// Told of the state.
    pub on_state: Option<OnStream>,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            every: CommitEvery::Time(Duration::from_secs(1)),
            pace: None,
            time: None,
            unit: None,
            delay: None,
            late: Late::Next,
            source: None,
            from_start: false,
            duplicates: None,
            bad_lines: BadLines::Stop,
            stop: Cancel::default(),
            on_state: None,
        }
    }
}

impl fmt::Debug for StreamOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { every, pace, time, unit, delay, late, source, from_start, duplicates, bad_lines, .. } =
            self;
        f.debug_struct("StreamOptions")
            .field("every", every)
            .field("pace", pace)
            .field("time", time)
            .field("unit", unit)
            .field("delay", delay)
            .field("late", late)
            .field("source", source)
            .field("from_start", from_start)
            .field("duplicates", duplicates)
            .field("bad_lines", bad_lines)
            .finish_non_exhaustive()
    }
}

/// Report of [`stream`].
#[derive(Debug, Clone, PartialEq)]
pub struct StreamReport {
    /// What was committed.
    pub fed: FeedReport,
    /// Number of edges of the input that earlier versions had.
    pub passed_over: u64,
    /// The state at the end.
    pub state: StreamState,
}

/// Commits the edges of `input` as they come, until its end or until `options.stop`. After a failure, `report` describes what was
/// committed: complete commits only.
///
/// Memory: one commit, see [`esker_store::Batch`].
///
/// # Errors
/// As [`super::feed()`]; [`Error::Invalid`] if the property of times is not known, a late edge is refused, or the input is shorter than what
/// versions say was read of it.
pub fn stream(
    database: &Database,
    target: &Target,
    input: EdgeInput,
    options: &StreamOptions,
    report: &mut Option<StreamReport>,
) -> Result<()> {
    let mut course = StreamCourse::new(database, target, options)?;
    let feeding = FeedOptions {
        duplicates: options.duplicates,
        bad_lines: options.bad_lines,
        ..FeedOptions::default()
    };
    let mut fed = FeedReport::default();
    let done = feed_by(database, target, input, &feeding, &mut course, &mut fed).and_then(|()| course.end());
    let passed_over = course.begun_at - course.to_pass;
    *report = Some(StreamReport { fed, passed_over, state: course.state() });
    done
}

/// The property of times, and what is known of the times.
struct Clock {
    place: usize,
    /// Unless it is known, guessed from the first edge.
    unit: Option<TimeUnit>,
    asked_delay: Option<Span>,
    /// In the unit of the times.
    delay: i64,
    first: Option<i64>,
    greatest: Option<i64>,
}

struct StreamCourse<'a> {
    options: &'a StreamOptions,
    clock: Option<Clock>,
    rejects: Option<Rejects>,
    /// How far the input was read, counting what is not committed yet.
    position: Position,
    /// The position at which this run began.
    begun_at: u64,
    /// Edges to pass over until there.
    to_pass: u64,
    /// The event time of the newest version.
    newest_ms: u64,
    begun: Instant,
    /// When the first edge that is not committed came.
    waiting_since: Option<Instant>,
    told: Instant,
    taken: u64,
    committed: u64,
    version: Option<u64>,
    lag: Duration,
}

impl<'a> StreamCourse<'a> {
    fn new(database: &Database, target: &Target, options: &'a StreamOptions) -> Result<Self> {
        let clock = Clock::of(target, options)?;
        let position = position_of(database, options);
        let rejects = match &options.late {
            Late::Reject(path) => {
                let names = target.edge_properties.iter().map(|property| property.name.as_str());
                Some(Rejects::open(path, names)?)
            }
            _ => None,
        };
        let now = Instant::now();
        Ok(Self {
            options,
            clock,
            rejects,
            position,
            begun_at: position.edges,
            to_pass: position.edges,
            newest_ms: target.newest.version().time_ms,
            begun: now,
            waiting_since: None,
            told: now,
            taken: 0,
            committed: 0,
            version: None,
            lag: Duration::ZERO,
        })
    }

    /// The end of the input, or of the stream.
    fn end(&mut self) -> Result<()> {
        if let Some(rejects) = &mut self.rejects {
            rejects.flush()?;
        }
        if self.to_pass > 0 && !self.options.stop.is_cancelled() {
            let source = self.options.source.as_deref().unwrap_or("the input");
            return Err(Error::Invalid(format!(
                "{source} has {} edges, but a version of the database says that {} were read: the file was replaced; read it from \
                 its start, or restore it",
                self.begun_at - self.to_pass,
                self.begun_at
            )));
        }
        Ok(())
    }

    fn state(&self) -> StreamState {
        let watermark = self.clock.as_ref().and_then(|clock| Some((clock.watermark()?, clock.unit?)));
        StreamState {
            edges: self.taken,
            committed: self.committed,
            late: self.position.late,
            version: self.version,
            watermark,
            lag: self.lag,
        }
    }

    /// Tells the state now and then.
    fn tell(&mut self, now: Instant) {
        if let (Some(tell), true) = (&self.options.on_state, now - self.told >= TELL_EVERY) {
            tell(&self.state());
            self.told = now;
        }
    }
}

/// How far versions say that the input was read. The watermark is that of the newest version that has one, whatever its input.
fn position_of(database: &Database, options: &StreamOptions) -> Position {
    let versions = database.versions();
    let known = || versions.iter().rev().filter_map(|version| Position::parse(&version.message));
    let own = |source: &str| known().find(|(name, _)| *name == source).map(|(_, position)| position);
    let position = options.source.as_deref().filter(|_| !options.from_start).and_then(own);
    Position {
        watermark: known().find_map(|(_, position)| position.watermark),
        ..position.unwrap_or_default()
    }
}

impl Course for StreamCourse<'_> {
    fn passes_over(&mut self) -> bool {
        let passes = self.to_pass > 0;
        self.to_pass -= u64::from(passes);
        passes
    }

    fn wait(&mut self, edge: &FedEdge<'_>) -> Duration {
        let due = match (self.options.pace, &mut self.clock) {
            (None, _) => return Duration::ZERO,
            (Some(Pace::PerSecond(rate)), _) => self.taken as f64 / rate,
            (Some(Pace::Replay(speed)), Some(clock)) => clock.seconds_since_first(edge) / speed,
            (Some(Pace::Replay(_)), None) => 0.0,
        };
        Duration::from_secs_f64(due.clamp(0.0, 1e9)).saturating_sub(self.begun.elapsed())
    }

    fn admits(&mut self, edge: &FedEdge<'_>) -> Result<bool> {
        self.position.edges += 1;
        self.taken += 1;
        if self.waiting_since.is_none() {
            self.waiting_since = Some(Instant::now());
        }
        let Some(clock) = &mut self.clock else { return Ok(true) };
        let time = clock.take(edge)?;
        if self.position.watermark.is_none_or(|mark| time > mark) {
            return Ok(true);
        }
        self.position.late += 1;
        match (&self.options.late, &mut self.rejects) {
            (Late::Next, _) => Ok(true),
            (Late::Reject(_), Some(rejects)) => rejects.write(edge).map(|()| false),
            _ => {
                let unit = clock.unit.unwrap_or(TimeUnit::Seconds);
                let mark = self.position.watermark.unwrap_or(i64::MIN);
                Err(Error::Invalid(format!(
                    "the edge from {} to {} is late: its time is {}, but a version says that all edges until {} have come; allow a \
                     longer delay, or take late edges",
                    edge.source,
                    edge.target,
                    unit.format(time),
                    unit.format(mark)
                )))
            }
        }
    }

    fn is_due(&mut self, pending: u64, is_idle: bool) -> bool {
        if let CommitEvery::Edges(limit) = self.options.every
            && pending >= limit
        {
            return true;
        }
        // The clock is not read for each edge.
        if !is_idle && !self.taken.is_multiple_of(LOOK_EVERY) {
            return false;
        }
        let now = Instant::now();
        self.tell(now);
        match self.options.every {
            CommitEvery::Edges(_) => false,
            CommitEvery::Time(limit) => {
                pending > 0 && self.waiting_since.is_some_and(|since| now - since >= limit)
            }
        }
    }

    fn is_over(&self) -> bool {
        self.options.stop.is_cancelled()
    }

    fn options(&mut self, _part: usize) -> Result<CommitOptions> {
        // What was rejected is on the disk before a version says that it was read.
        if let Some(rejects) = &mut self.rejects {
            rejects.flush()?;
        }
        let mut time_ms = None;
        if let Some(clock) = &self.clock {
            self.position.watermark = self.position.watermark.max(clock.watermark());
            let watermark_ms =
                clock.unit.zip(self.position.watermark).and_then(|(unit, mark)| unit.to_ms(mark));
            time_ms = Some(watermark_ms.unwrap_or(0).max(self.newest_ms));
        }
        let message = self.position.message(self.options.source.as_deref());
        Ok(CommitOptions { message, time_ms, ..CommitOptions::default() })
    }

    fn committed(&mut self, version: u64, edges: u64) {
        self.version = Some(version);
        self.committed += edges;
        self.lag = self.waiting_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        if let Some(clock) = &self.clock {
            let unit = clock.unit;
            let mark = self.position.watermark.zip(unit).and_then(|(mark, unit)| unit.to_ms(mark));
            self.newest_ms = self.newest_ms.max(mark.unwrap_or(0));
        }
        self.tell(Instant::now());
    }
}

impl Clock {
    fn of(target: &Target, options: &StreamOptions) -> Result<Option<Self>> {
        let newest = &target.newest;
        let name = match &options.time {
            Some(name) => name.clone(),
            None => match &newest.time_properties().filter(|one| !one.weight).collect::<Vec<_>>()[..] {
                [only] => only.name.clone(),
                [] if options.delay.is_some() || matches!(options.pace, Some(Pace::Replay(_))) => {
                    return Err(Error::Invalid(
                        "no edge property but the weight can hold times: without times there is no delay and no replay"
                            .to_owned(),
                    ));
                }
                [] => return Ok(None),
                several => {
                    let names: Vec<_> = several.iter().map(|one| one.name.as_str()).collect();
                    return Err(Error::Invalid(format!(
                        "several edge properties can hold times: name one of {}",
                        names.join(", ")
                    )));
                }
            },
        };
        let found = newest.time_properties().find(|one| one.name == name).ok_or_else(|| {
            Error::Invalid(format!(
                "{name:?} is no edge property that can hold times: {}",
                target.describe_edges()
            ))
        })?;
        let place = target.edge_properties.iter().position(|one| one.number == found.number).unwrap_or(0);
        let unit = TimeUnit::of(found).or(options.unit);
        Ok(Some(Self { place, unit, asked_delay: options.delay, delay: 0, first: None, greatest: None }))
    }

    /// Notes the time of an edge, and returns it.
    fn take(&mut self, edge: &FedEdge<'_>) -> Result<i64> {
        let time = self.of_edge(edge);
        let unit = *self.unit.get_or_insert_with(|| TimeUnit::guess(time));
        if let Some(delay) = self.asked_delay.take() {
            self.delay = unit.length(delay).map_err(|error| Error::Invalid(error.to_string()))?;
        }
        self.greatest = Some(self.greatest.map_or(time, |greatest| greatest.max(time)));
        Ok(time)
    }

    fn of_edge(&self, edge: &FedEdge<'_>) -> i64 {
        match edge.values[self.place] {
            PropertyValue::I32(time) => i64::from(time),
            PropertyValue::U32(time) => i64::from(time),
            time if time.element() == Some(ElementType::I64) => time.bits().unwrap_or(0).cast_signed(),
            time => i64::try_from(time.bits().unwrap_or(0)).unwrap_or(i64::MAX),
        }
    }

    fn seconds_since_first(&mut self, edge: &FedEdge<'_>) -> f64 {
        let time = self.of_edge(edge);
        let first = *self.first.get_or_insert(time);
        let unit = *self.unit.get_or_insert_with(|| TimeUnit::guess(time));
        unit.seconds(time.saturating_sub(first))
    }

    fn watermark(&self) -> Option<i64> {
        // More edges of the greatest time may come.
        self.greatest.map(|greatest| greatest.saturating_sub(self.delay).saturating_sub(1))
    }
}
