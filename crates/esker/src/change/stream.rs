//! Commits a stream of timed edges as it comes.
//!
//! The *watermark* is the time up to which all edges have come, if edges come in order but for a delay: the
//! moment before the greatest time less the delay. Each version has the watermark of its commit as its event
//! time. An edge is *late* if its time is not after the watermark of the version before it: a window that
//! ended there was answered without it. The message of a version says how far the input was read, so that a
//! stream that was stopped or killed goes on with the first edge that no version has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use esker_graph::{Run, Setting, message};
use esker_import::read::operation::RowOperation;
use esker_store::format::Duplicates;
use esker_store::manifest::KEPT_MESSAGES_MAX;
use esker_store::position::StreamPosition;
use esker_store::{CommitOptions, Committed, Database, Error, Result};

use super::clock::Clock;
use super::columns::EdgeInput;
use super::expiry::{expire, is_expiry};
use super::feed::feed_with;
use super::feed_options::{FeedOptions, FeedReport};
use super::feed_policy::{FedEdge, FedEdges, FeedPolicy, within};
use super::fingerprint::{fingerprint, has_fingerprint};
use super::present::has_edge;
use super::rejects::Rejects;
use super::stream_files::StreamReport;
use super::stream_options::{CommitEvery, Expiry, Late, Pace, StreamOptions, StreamState};
use super::target::Target;
use crate::error::Error as FacadeError;
use crate::window::{Declared, EpochUnit};

/// So many edges are taken one by one between two looks at the clock.
const LOOK_EVERY: u64 = 64;
/// Old edges are removed each time that this part of their greatest age has passed.
const EXPIRE_SHARE: i64 = 16;
/// Time between two reports of the state.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Commits the edges of `input` as they come, until its end or until `options.stop`. After a failure,
/// `report` describes what was committed: complete commits only.
///
/// Memory: one commit, see [`esker_store::Batch`].
///
/// # Errors
/// As [`super::feed()`]; [`Error::Invalid`] if the property of times is not known, a late edge is refused,
/// the input is shorter than what versions say was read of it, or each edge is to stand in it at both of its
/// ends: a commit may come between its rows, so that none can be checked against the other.
pub fn stream(
    database: &Database,
    target: &Target,
    input: EdgeInput,
    options: &StreamOptions,
    report: &mut Option<StreamReport>,
) -> Result<()> {
    if input.reader.table().is_some_and(|table| table.both_ends) {
        return Err(Error::invalid(
            "each edge is read as standing at both of its ends, and a stream may end between its rows: add whole \
             files, or let the database forget how files are read and stream each edge once",
        ));
    }
    let mut policy = StreamPolicy::new(database, target, options)?;
    let feeding = FeedOptions {
        duplicates: options.duplicates,
        bad_lines: options.bad_lines,
        rejects: options.rejects.clone(),
        // What is not there cannot be removed, and is counted.
        allow_unknown: true,
        ..FeedOptions::default()
    };
    let mut fed = FeedReport::default();
    let done = feed_with(database.into(), target, input, &feeding, &mut policy, &mut fed)
        .and_then(|()| policy.end());
    let done = done.and(options.rejects.as_ref().map_or(Ok(()), |file| file.flush()));
    let passed_over = policy.begun_at - policy.to_pass;
    *report = Some(StreamReport { fed, passed_over, state: policy.state() });
    done
}

struct StreamPolicy<'a> {
    database: &'a Database,
    target: &'a Target,
    options: &'a StreamOptions,
    clock: Option<Clock>,
    expiry: Option<Expiry>,
    rejects: Option<Rejects>,
    /// How far the input was read, counting what is not committed yet.
    position: StreamPosition,
    /// The position at which this run began.
    begun_at: u64,
    /// Edges to pass over until there.
    to_pass: u64,
    /// Whether the next edge is the first of an input that no version says was read, so the database should
    /// not have it yet.
    is_first: bool,
    /// The event time of the newest version.
    newest_ms: u64,
    begun: Instant,
    /// When the first edge that is not committed came.
    waiting_since: Option<Instant>,
    told: Instant,
    taken: u64,
    /// What `taken` was at the last look at the clock.
    looked_at: u64,
    committed: u64,
    version: Option<u64>,
    lag: Duration,
    /// The greatest time of the edges that this run committed.
    committed_until: Option<i64>,
    /// That when edges were last removed.
    expired_at: Option<i64>,
    expired: u64,
    removed: u64,
    not_found: u64,
}

impl<'a> StreamPolicy<'a> {
    fn new(database: &'a Database, target: &'a Target, options: &'a StreamOptions) -> Result<Self> {
        let clock = Clock::of(target, options)?;
        let position = position_of(database, options)?;
        let rejects = match &options.late {
            Late::Reject(path) => {
                let names = target.given_properties().map(|property| property.name.as_str());
                Some(Rejects::open(path, database.path(), names, options.op.as_deref())?)
            }
            _ => None,
        };
        let now = Instant::now();
        let rule = options.duplicates.unwrap_or(database.batch().duplicates());
        let adds_again = matches!(rule, Duplicates::Keep | Duplicates::Sum);
        let is_known = options.from_start || options.is_successor;
        let is_unread = options.source.is_some() && !is_known && position.edges == 0;
        Ok(Self {
            database,
            target,
            options,
            clock,
            expiry: expiry_of(target, options)?,
            rejects,
            position,
            begun_at: position.edges,
            to_pass: position.edges,
            is_first: is_unread && adds_again,
            newest_ms: target.newest.record().time_ms,
            begun: now,
            waiting_since: None,
            told: now,
            taken: 0,
            looked_at: 0,
            committed: 0,
            version: None,
            lag: Duration::ZERO,
            committed_until: None,
            expired_at: None,
            expired: 0,
            removed: 0,
            not_found: 0,
        })
    }

    /// Removes edges that are too old, if enough time has passed since that was last done; at the end, if any
    /// has.
    fn expire(&mut self, is_end: bool) -> Result<()> {
        let (Some(expiry), Some(clock)) = (&self.expiry, &self.clock) else { return Ok(()) };
        let unit = match self.committed_until {
            Some(greatest) => {
                let unit = clock.unit.unwrap_or_else(|| EpochUnit::guess(greatest));
                let length = unit.length(expiry.length).map_err(of_store)?;
                let is_due = |last: i64| {
                    let passed = greatest.saturating_sub(last);
                    passed >= (length / EXPIRE_SHARE).max(1) || is_end && passed > 0
                };
                if !self.expired_at.is_none_or(is_due) {
                    return Ok(());
                }
                Some(unit)
            }
            // A run before this one may have been killed between its last commit and the expiry at its end.
            None if is_end => clock.unit,
            None => return Ok(()),
        };
        let time = Some(clock.property(self.target));
        let options =
            CommitOptions { time_ms: Some(self.newest_ms), raises_time: true, ..CommitOptions::default() };
        let report =
            expire(self.database, time, unit, expiry.length, &options, &expiry.run).map_err(of_store)?;
        self.expired += report.edges;
        self.version = report.version.or(self.version);
        self.expired_at = self.committed_until;
        Ok(())
    }

    /// The end of the input, or of the stream.
    fn end(&mut self) -> Result<()> {
        self.expire(true)?;
        if let Some(rejects) = &mut self.rejects {
            rejects.flush()?;
        }
        if self.to_pass > 0 && !self.options.stop.is_cancelled() {
            return Err(self.replaced(&format!(
                "it has {} now",
                esker_graph::counted(self.begun_at - self.to_pass, "edge", "edges")
            )));
        }
        Ok(())
    }

    /// Versions have the first edges of another input.
    fn replaced(&self, how: &str) -> Error {
        let source = self.options.source.as_deref().unwrap_or("the input");
        let read = esker_graph::counted(self.begun_at, "edge", "edges");
        Error::invalid(message![
            format!("versions of the database have the first {read} of {source}, but {how}: "),
            "the file was replaced or changed; read it from its start with ",
            Setting::FromStart.to(true),
            ", or restore it",
        ])
    }

    /// The input begins with an edge that the database has, so an import may have read it.
    fn known_already(&self) -> Error {
        let source = self.options.source.as_deref().unwrap_or("the input");
        Error::invalid(message![
            format!("the database has the first edge of {source} already, as after an import of it, "),
            "and would have its edges twice: stream what came later, or read it all the same with ",
            Setting::FromStart.to(true),
        ])
    }

    fn state(&self) -> StreamState {
        let unit = self.clock.as_ref().and_then(|clock| clock.unit);
        let watermark = self.position.watermark.filter(|_| self.clock.is_some());
        let watermark = watermark.map(|mark| (mark, unit.unwrap_or_else(|| EpochUnit::guess(mark))));
        StreamState {
            edges: self.taken,
            committed: self.committed,
            removed: self.removed,
            not_found: self.not_found,
            expired: self.expired,
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

    /// Whether an edge is taken at its time.
    fn admits_time(&mut self, edge: &FedEdge<'_>) -> Result<bool> {
        let Some(clock) = &mut self.clock else { return Ok(true) };
        let Some(time) = clock.take(edge)? else { return Ok(true) };
        if self.position.watermark.is_none_or(|mark| time > mark) {
            return Ok(true);
        }
        self.position.late += 1;
        match (&self.options.late, &mut self.rejects) {
            (Late::Next, _) => Ok(true),
            (Late::Reject(_), Some(rejects)) => rejects.write(edge).map(|()| false),
            _ => {
                let unit = clock.unit.unwrap_or(EpochUnit::Seconds);
                let mark = self.position.watermark.unwrap_or(i64::MIN);
                let late = format!("the edge from {} to {} is late: ", edge.source, edge.target);
                let (time, mark) = (unit.format(time), unit.format(mark));
                Err(Error::invalid(message![
                    late,
                    format!("its time is {time}, but a version says that all edges until {mark} have come; "),
                    "take late edges with ",
                    Setting::Late.to("next"),
                    ", or set them apart with ",
                    Setting::Late.to_some("reject:FILE"),
                ]))
            }
        }
    }
}

/// As asked for, or at the age that the database keeps.
fn expiry_of(target: &Target, options: &StreamOptions) -> Result<Option<Expiry>> {
    if let Some(asked) = &options.expire {
        return Ok(Some(asked.clone()));
    }
    let Some(length) = Declared::of(target.newest.manifest()).expire else { return Ok(None) };
    Ok(Some(Expiry { length, run: Arc::new(Run::with_threads(1)?) }))
}

/// An error of the facade as one of the store.
fn of_store(error: FacadeError) -> Error {
    match error {
        FacadeError::Store(error) => error,
        other => Error::invalid(other.message()),
    }
}

/// How far versions say that the input was read. The watermark is that of the newest version that has one,
/// whatever its input.
fn position_of(database: &Database, options: &StreamOptions) -> Result<StreamPosition> {
    let known = database.stream_positions();
    let source = options.source.as_deref().filter(|_| !options.from_start);
    // A file that was renamed is known all the same.
    let by_file = || known.iter().find(|(_, position)| position.file == options.file);
    let by_file = || options.file.and_then(|_| by_file());
    let by_name = |source: &str| known.iter().find(|(name, _)| *name == source);
    let by_name = |source| Some(source).filter(|_| !options.is_successor).and_then(by_name);
    let position = source.and_then(|source| by_file().or_else(|| by_name(source))).map(|known| known.1);
    let has_all = database.manifest().messages.len() < KEPT_MESSAGES_MAX;
    if let (Some(source), None, false) = (source.filter(|_| !options.is_successor), position, has_all) {
        return Err(Error::invalid(message![
            format!("{} was read from more inputs than it keeps in mind once ", database.path().display()),
            format!(
                "their versions are forgotten, and maybe from {source}: to read it from its start, pass "
            ),
            Setting::FromStart.to(true),
        ]));
    }
    let watermark = known.iter().find_map(|(_, position)| position.watermark);
    Ok(StreamPosition { watermark, file: options.file, ..position.unwrap_or_default() })
}

/// Refuses the message of a version if it has the form of those by which a stream finds its position, or
/// windows the versions that removed edges.
///
/// # Errors
/// [`Error::Invalid`] if it has.
pub fn check_message(message: &str) -> Result<()> {
    if is_expiry(message) {
        return Err(Error::invalid(format!(
            "the message {message:?} would say which edges have expired, which only an expiry may say: choose other words"
        )));
    }
    match StreamPosition::parse(message) {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!(
            "the message {message:?} would say how far a stream was read, which only a stream may say: choose other words"
        ))),
    }
}

/// The watermark in the first of some messages of versions that a stream made.
pub fn newest_watermark<'m>(messages: impl IntoIterator<Item = &'m str>) -> Option<i64> {
    messages.into_iter().find_map(|message| StreamPosition::parse(message)?.1.watermark)
}

impl FeedPolicy for StreamPolicy<'_> {
    fn passes_over(&mut self) -> bool {
        // The last of them is looked at.
        let passes = self.to_pass > 1;
        self.to_pass -= u64::from(passes);
        passes
    }

    fn left_to_pass(&self) -> u64 {
        self.to_pass
    }

    fn wait(&mut self, edge: &FedEdge<'_>) -> Duration {
        let due = match (self.options.pace, &mut self.clock) {
            (None, _) => return Duration::ZERO,
            _ if self.to_pass > 0 => return Duration::ZERO,
            (Some(Pace::PerSecond(rate)), _) => self.taken as f64 / rate,
            (Some(Pace::Replay(speed)), Some(clock)) => clock.seconds_since_first(edge) / speed,
            (Some(Pace::Replay(_)), None) => 0.0,
        };
        Duration::from_secs_f64(due.clamp(0.0, 1e9)).saturating_sub(self.begun.elapsed())
    }

    fn admits(&mut self, edge: &FedEdge<'_>) -> Result<bool> {
        if self.to_pass > 0 {
            self.to_pass -= 1;
            if self.position.mark.is_some_and(|known| !has_fingerprint(edge, known)) {
                return Err(self.replaced(&format!("edge {} of it is another one now", self.begun_at)));
            }
            return Ok(false);
        }
        let is_first = std::mem::take(&mut self.is_first) && edge.operation != RowOperation::Remove;
        if is_first && has_edge(&self.target.newest, edge)? {
            return Err(self.known_already());
        }
        let before = self.position;
        self.position.mark = Some(fingerprint(edge));
        self.position.edges += 1;
        self.taken += 1;
        if self.waiting_since.is_none() {
            self.waiting_since = Some(Instant::now());
        }
        let is_admitted = self.admits_time(edge);
        if is_admitted.is_err() {
            // The stream goes on with the edge that ended it.
            self.position = before;
        }
        is_admitted
    }

    fn together(&self, pending: u64, count: usize) -> usize {
        match self.options.pace.is_some() || self.to_pass > 0 || self.is_first {
            true => 0,
            false => within(self.commit_edges(), pending, count),
        }
    }

    fn admits_together(&mut self, edges: &FedEdges<'_>) -> Result<bool> {
        let mark = self.position.watermark;
        if self.clock.as_mut().is_some_and(|clock| !clock.take_later(edges, mark)) {
            return Ok(false);
        }
        self.position.mark = Some(fingerprint(&edges.last));
        self.position.edges += edges.count as u64;
        self.taken += edges.count as u64;
        self.waiting_since.get_or_insert_with(Instant::now);
        Ok(true)
    }

    fn is_due(&mut self, pending: u64, is_idle: bool) -> bool {
        if let CommitEvery::Edges(limit) = self.options.every
            && pending >= limit
        {
            return true;
        }
        // The clock is not read for each edge.
        if !is_idle && self.taken - self.looked_at < LOOK_EVERY {
            return false;
        }
        self.looked_at = self.taken;
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
        // Only committed edges can expire: those about to be committed are among the newest.
        self.expire(false)?;
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
        // Other processes may have committed meanwhile.
        Ok(CommitOptions { message, time_ms, raises_time: true, ..CommitOptions::default() })
    }

    fn commits_before_failure(&self) -> bool {
        true
    }

    fn commits_when_full(&self) -> bool {
        matches!(self.options.every, CommitEvery::Time(_))
    }

    fn commit_edges(&self) -> Option<u64> {
        match self.options.every {
            CommitEvery::Edges(edges) => Some(edges),
            CommitEvery::Time(_) => None,
        }
    }

    fn time_place(&self) -> Option<usize> {
        self.clock.as_ref().map(Clock::place)
    }

    fn committed(&mut self, committed: &Committed, edges: u64) {
        self.version = Some(committed.version);
        self.committed += edges;
        // Where no row removes an edge, the commit does not count.
        self.removed += committed.not_found.and(committed.removed).unwrap_or(0);
        self.not_found += committed.not_found.unwrap_or(0);
        self.lag = self.waiting_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        if let Some(clock) = &self.clock {
            self.committed_until = clock.greatest();
            let unit = clock.unit;
            let mark = self.position.watermark.zip(unit).and_then(|(mark, unit)| unit.to_ms(mark));
            self.newest_ms = self.newest_ms.max(mark.unwrap_or(0));
        }
        self.tell(Instant::now());
    }
}
