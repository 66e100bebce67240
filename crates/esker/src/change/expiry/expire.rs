//! Removes the edges that are older than a length of time.
//!
//! Expiry is a commit like any other: the new version has no edge that is older, and earlier versions keep
//! theirs as long as they are retained. Once they are forgotten, the edges leave the files at the next merge.
//! So each version says the truth for ever, and a crash leaves all of an expiry or nothing of it.

use esker_graph::{Direction, Graph, Run, VertexId, vertex};
use esker_store::format::{ElementType, LogicalType};
use esker_store::position::StreamPosition;
use esker_store::property::PropertyValue;
use esker_store::windows::{Copies, TimeWindow};
use esker_store::{Batch, CommitOptions, Database, EdgeMatch, Version};

use crate::error::Result;
use crate::window::{Declared, EpochUnit, Span, Times, expect_no_weight};

/// Changes of one version at most, about: an expiry of more edges makes several versions.
const CHANGES_MAX: usize = 1 << 20;
/// Attempts while other threads commit.
const ATTEMPTS_MAX: usize = 100;
/// Changes between two reservations of the memory of a batch.
const ROOM_EVERY: usize = 1 << 10;

/// What an expiry did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpireReport {
    /// The last version that it made; `None` if no edge was old enough.
    pub version: Option<u64>,
    /// Number of edges removed.
    pub edges: u64,
    /// The greatest time that an edge may have to be removed; `None` if there are no edges.
    pub until: Option<(i64, EpochUnit)>,
}

/// Removes all edges of the newest version that are not in the window of a length that ends with the latest
/// edge: those that are older than the latest edge by the length or more. `time` names the property of the
/// times, `unit` their unit, as for [`Times::of`]. `options` has the message and the time of the version: by
/// default what was removed, with how far a stream was read as the version before says it, and the time of
/// that version.
///
/// Reads the times of the layers that have such edges, and the lists of the ends of these edges. Memory: the
/// commit, of about a million changes at most; more edges make several versions.
///
/// # Errors
/// As [`Times::of`] and [`Database::commit_with`]. If another thread commits meanwhile, the edges of the
/// version that it made are looked at anew; [`esker_store::Error::Invalid`] if that happens a hundred times
/// in a row.
pub fn expire(
    database: &Database,
    time: Option<&str>,
    unit: Option<EpochUnit>,
    length: Span,
    options: &CommitOptions,
    run: &Run,
) -> Result<ExpireReport> {
    let mut report = ExpireReport { version: None, edges: 0, until: None };
    for _ in 0..ATTEMPTS_MAX {
        if expire_newest(database, time, unit, length, options, &mut report, run)? {
            return Ok(report);
        }
        run.check()?;
    }
    Err(esker_store::Error::invalid(format!(
        "other threads committed during each of {ATTEMPTS_MAX} attempts to remove old edges: remove them between commits"
    ))
    .into())
}

/// Removes the old edges of the newest version, and reports it. Returns whether it was the newest until the
/// end: what another thread commits may change the edges, so they have to be looked at again.
fn expire_newest(
    database: &Database,
    time: Option<&str>,
    unit: Option<EpochUnit>,
    length: Span,
    options: &CommitOptions,
    report: &mut ExpireReport,
    run: &Run,
) -> Result<bool> {
    let newest = database.latest()?;
    let times = Times::ending(&newest.view(), time, unit, run)?;
    if time.is_none() && Declared::of(newest.manifest()).time.is_none() {
        expect_no_weight(&newest.view(), &times.property)?;
    }
    let Some((latest, _)) = times.range else {
        return Ok(true);
    };
    let until = times.window_until(length, latest, Copies::All)?.after;
    let old = TimeWindow { after: i64::MIN, until, copies: Copies::All };
    let windowed = newest.view().window(&times.property, old, false, run)?;
    report.until = Some((until, times.unit));
    if windowed.num_edges() == 0 {
        return Ok(true);
    }
    let mut expiry = OldEdges {
        database,
        newest: &newest,
        times: &times,
        until,
        options,
        batch: database.batch(),
        of_batch: 0,
        follows: newest.number(),
    };
    let graph = windowed.present_graph::<()>(run)?;
    let remaining = windowed.remaining(run)?;
    for place in (0..graph.num_vertices()).map(vertex) {
        if graph.degree(Direction::Out, place) == 0 {
            continue;
        }
        run.check()?;
        expiry.of_vertex(remaining.map_or(place, |remaining| remaining.origin(place)))?;
        if expiry.batch.len() >= CHANGES_MAX && !expiry.commit(report)? {
            return Ok(false);
        }
    }
    expiry.commit(report)
}

/// Removes all edges that have reached the age that the database keeps, if it keeps one.
///
/// # Errors
/// As [`expire`].
pub fn expire_as_declared(database: &Database, run: &Run) -> Result<Option<ExpireReport>> {
    let Some(length) = Declared::of(&database.manifest()).expire else { return Ok(None) };
    expire(database, None, None, length, &CommitOptions::default(), run).map(Some)
}

struct OldEdges<'a> {
    database: &'a Database,
    newest: &'a Version,
    times: &'a Times,
    until: i64,
    options: &'a CommitOptions,
    batch: Batch,
    /// Edges that the batch removes.
    of_batch: u64,
    /// The version before that of the batch.
    follows: u64,
}

impl OldEdges<'_> {
    /// Removes the old edges of a vertex. An undirected edge is removed at its lower end.
    fn of_vertex(&mut self, v: VertexId) -> Result<()> {
        let time = self.newest.edge_property(&self.times.property)?;
        let edges = self.newest.edges(Direction::Out, v)?;
        let targets = edges.targets();
        let mut start = match self.newest.is_directed() {
            true => 0,
            false => targets.partition_point(|&target| target < v),
        };
        let ids = self.newest.ids();
        let mut kept = Vec::new();
        for copies in targets[start..].chunk_by(|a, b| a == b) {
            let range = start..start + copies.len();
            start = range.end;
            kept.clear();
            for index in range.clone() {
                let bits = edges.bits(time.number, index)?;
                let found = match time.element {
                    ElementType::I32 => i64::from((bits as u32).cast_signed()),
                    _ => bits.cast_signed(),
                };
                if found > self.until || found == i64::MIN {
                    kept.push(index);
                }
            }
            if kept.len() == range.len() {
                continue;
            }
            let ends = (ids.external_of(v)?, ids.external_of(copies[0])?);
            self.of_batch += (range.len() - kept.len()) as u64;
            if let Some(named) = self.newest.edge_properties().find(|one| one.logical == LogicalType::EdgeId)
            {
                for index in range.clone().filter(|index| !kept.contains(index)) {
                    let id =
                        (named.number, PropertyValue::from_stored(named, edges.bits(named.number, index)?));
                    let wanted = EdgeMatch { values: &[id], ..EdgeMatch::default() };
                    self.batch.remove_edges(ends.0, ends.1, &wanted)?;
                }
                continue;
            }
            // Edges between two vertices are removed together; those that stay are added again.
            self.batch.remove_edge(ends.0, ends.1)?;
            for &index in &kept {
                let values = self
                    .newest
                    .edge_properties()
                    .map(|property| self.newest.edge_value(property, edges.bits(property.number, index)?));
                let values = values.collect::<esker_store::format::Result<Vec<_>>>()?;
                self.batch.add_edge(ends.0, ends.1, &values)?;
            }
            if self.batch.len().is_multiple_of(ROOM_EVERY) {
                self.database.make_room(&mut self.batch)?;
            }
        }
        Ok(())
    }

    fn is_outdated(&self) -> bool {
        self.database.versions().last().is_none_or(|newest| newest.number != self.follows)
    }

    /// Commits the batch, unless it is empty, and begins another. Returns whether it could: not if another
    /// thread has committed.
    fn commit(&mut self, report: &mut ExpireReport) -> Result<bool> {
        if self.batch.is_empty() {
            return Ok(true);
        }
        let batch = std::mem::replace(&mut self.batch, self.database.batch());
        let edges = std::mem::take(&mut self.of_batch);
        // In the time of the edges, not that of the clock: the versions of a stream go on from there.
        let time_ms = self.options.time_ms.or(Some(self.newest.record().time_ms));
        let mut options = CommitOptions { follows: Some(self.follows), time_ms, ..self.options.clone() };
        if options.message.is_empty() {
            let edges = esker_graph::counted(edges, "edge", "edges");
            options.message = format!("expire {edges} until {}", self.times.unit.format(self.until));
            // Earlier versions may be forgotten, and the stream goes on all the same.
            if let Some((source, position)) = StreamPosition::parse(&self.newest.record().message) {
                options.message += &format!("; {}", position.message(Some(source)));
            }
        }
        let committed = match self.database.commit_with(batch, &options) {
            // Nothing was committed, since the version that it was made for is not the newest any longer.
            Err(esker_store::Error::Invalid(_)) if self.is_outdated() => return Ok(false),
            committed => committed?,
        };
        self.follows = committed.version;
        (report.version, report.edges) = (Some(self.follows), report.edges + edges);
        Ok(true)
    }
}
