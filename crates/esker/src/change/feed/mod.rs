//! Commits the edges of files and streams. A `FeedPolicy` decides which edges are taken and when to commit.

mod batch_policy;
mod left_out;

use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use esker_import::options::BadLines;
use esker_import::read::source::{
    EdgeBatch, IdKind, id_at as external_id, integer_ids, limit_decoding, told_of_panics,
};
use esker_store::format::{Duplicates, PropertyRecord};
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{CommitSizing, EdgeMatch, Error, Result};

use batch_policy::BatchPolicy;
use left_out::{LeftOut, count_rejected, is_loop};

use super::clock::DeclaredTimes;
use super::columns::{EdgeInput, Purpose, directions, id_at, not_taken, refuse_vertices, stopped_by};
use super::copies::Copies;
use super::feed_options::{FeedOptions, FeedReport};
use super::feed_policy::{FedEdge, FedEdges, FeedPolicy};
use super::given::GivenProperties;
use super::remembered::remember;
use super::room::expect_borne_out;
use super::target::Target;
use super::value::{InputValue, convert_or_widen};
use crate::change::destination::Destination;

/// The most blocks of about 100 000 edges that are parsed ahead: enough while a million edges are committed.
const BLOCKS_AHEAD: u64 = 12;
/// Approximate memory of a parsed block.
const BLOCK_BYTES: u64 = 4 << 20;
/// Blocks parsed ahead may take the memory limit divided by this, which is not reserved. Under a low limit
/// that is less than one block: then the parser waits until its block is wanted.
const AHEAD_PARTS: u64 = 64;
/// Interval between checks for cancellation while waiting for input.
const CANCEL_EVERY: Duration = Duration::from_millis(50);
/// The longest sleep before an edge whose time has not come.
const WAIT_AT_MOST: Duration = Duration::from_millis(10);
/// Vertices between two checks for cancellation.
const CANCEL_EVERY_VERTICES: u64 = 1 << 16;
/// Number of changes after which their memory is reserved.
const ROOM_EVERY: usize = 1 << 12;

/// Commits the edges and vertices of an input. After a failure or cancellation, `report` describes what was
/// committed: complete commits only.
///
/// Time: that of reading; a thread parses ahead. Memory: one commit, see [`esker_store::Batch`].
///
/// # Errors
/// Those of the reader; [`Error::Input`] for a malformed line, also if none but such lines were there.
/// [`Error::Invalid`] if a value does not have the type of its property, a time seems to be in a smaller
/// unit than the declared one, or a vertex to be removed does not exist, or of an input that has each
/// edge at both of its ends some stand at one end only. [`Error::Usage`] if the database wants an event
/// time. Those of [`esker_store::Database::commit`]; cancellation.
pub fn feed<'a>(
    database: impl Into<Destination<'a>>,
    target: &Target,
    input: EdgeInput,
    options: &FeedOptions,
    report: &mut FeedReport,
) -> Result<()> {
    let database = database.into();
    target.expect_event_time(&options.commit)?;
    let mut policy = BatchPolicy { options, times: DeclaredTimes::of(target)? };
    let before = [report.rejected, report.edges + report.vertices];
    let num_samples = report.rejected_sample.len();
    if options.batch_edges.is_some() {
        let rule = options.duplicates.map_or_else(|| database.batch().map(|batch| batch.duplicates()), Ok)?;
        input.expect_both_ends(target, rule, &options.cancel)?;
    }
    feed_with(database, target, input, options, &mut policy, report)?;
    let rejected = report.rejected - before[0];
    match report.rejected_sample.get(num_samples).or(report.rejected_sample.last()) {
        Some(first) if rejected > 0 && report.edges + report.vertices == before[1] => {
            Err(first.of_all(rejected))
        }
        _ => Ok(()),
    }
}

/// As [`feed`], with a policy of the caller's choice, which replaces `options.commit` and `batch_edges`.
pub(super) fn feed_with(
    database: Destination<'_>,
    target: &Target,
    input: EdgeInput,
    options: &FeedOptions,
    policy: &mut dyn FeedPolicy,
    report: &mut FeedReport,
) -> Result<()> {
    let EdgeInput { mut reader, warnings, purpose, properties, places, .. } = input;
    refuse_vertices(reader.schema(), purpose)?;
    let reading = target.to_remember(reader.as_ref()).filter(|_| purpose == Purpose::Add);
    let mut batch = database.batch()?;
    options.duplicates.map_or(Ok(()), |rule| batch.set_duplicates(rule))?;
    let rule = batch.duplicates();
    report.rule = Some(rule);
    if !options.allow_unknown {
        batch.refuse_unknown();
    }
    let (total, reverse, once) = directions(target, reader.as_ref(), rule, purpose);
    limit_decoding(reader.as_mut(), database.budget().limit_bytes(), 1)?;
    let counted = match reader.schema().ids {
        IdKind::Numbered { first, num_vertices } if purpose == Purpose::Add => {
            first..first.saturating_add(num_vertices)
        }
        _ => 0..0,
    };
    expect_borne_out(counted.end - counted.start, total.unwrap_or(0), database.budget().limit_bytes())?;
    let ahead = database.budget().limit_bytes() / AHEAD_PARTS / BLOCK_BYTES;
    let (sender, receiver) = sync_channel(ahead.min(BLOCKS_AHEAD) as usize);
    let (parser, warning_source) = (reader.parser(), reader.parser());
    let mut feeder = Feeder {
        database,
        target,
        purpose,
        properties,
        places,
        reverse,
        drops_self_loops: purpose == Purpose::Add && target.drops_self_loops(),
        once: once.then(Copies::default),
        options,
        policy,
        batch,
        given: GivenProperties::new(target),
        rule,
        left_out: LeftOut::default(),
        pending: FeedReport::default(),
        report,
        reserved_len: 0,
        sizing: None,
    };
    // Not joined, since it may block on an input that never ends. It stops when the receiver is dropped.
    std::thread::Builder::new()
        .name("esker-read".to_owned())
        .spawn(move || {
            loop {
                let next = || reader.next_block()?.map(|block| parser.parse(block)).transpose();
                let Some(rows) = told_of_panics(next).transpose() else { return };
                let failed = rows.is_err();
                if sender.send(rows).is_err() || failed {
                    return;
                }
            }
        })
        .map_err(|error| Error::invalid(format!("cannot start a thread to read the input: {error}")))?;
    let fed = feeder.add_counted(counted).and_then(|()| feeder.take_all(&receiver, total));
    report.warnings.extend(warnings.into_iter().chain(warning_source.warnings()));
    fed.and_then(|()| remember(database, reading, &report.versions))
}

struct Feeder<'a> {
    /// The number of changes in `batch` when their memory was last reserved.
    reserved_len: usize,
    database: Destination<'a>,
    target: &'a Target,
    purpose: Purpose,
    /// The edge properties that are read, and the place of each in a block.
    properties: Vec<PropertyRecord>,
    places: Vec<usize>,
    /// Add each edge in both directions: the input is undirected, the database directed.
    reverse: bool,
    /// Leave out self-loops, as the import did.
    drops_self_loops: bool,
    /// Skips one of the two copies of undirected edges listed in both directions, if the rule counts.
    once: Option<Copies>,
    options: &'a FeedOptions,
    policy: &'a mut dyn FeedPolicy,
    batch: esker_store::Batch,
    given: GivenProperties<'a>,
    rule: Duplicates,
    /// Set once a commit did not fit. From then on nothing is committed; the rest of the input is read only
    /// to find the limit that would suffice.
    sizing: Option<CommitSizing>,
    left_out: LeftOut,
    /// Counts of the current batch.
    pending: FeedReport,
    report: &'a mut FeedReport,
}

impl Feeder<'_> {
    /// Adds the vertices of a format that states their number, because some may have no edge.
    fn add_counted(&mut self, ids: Range<u64>) -> Result<()> {
        for id in ids {
            if id % CANCEL_EVERY_VERTICES == 0 {
                self.options.cancel.check()?;
            }
            match self.target.text_ids {
                true => self.batch.add_vertex(ExternalId::Text(id.to_string().as_bytes()))?,
                false => self.batch.add_vertex(id)?,
            }
        }
        Ok(())
    }

    /// Takes all blocks and commits them.
    fn take_all(&mut self, blocks: &Receiver<Result<EdgeBatch>>, total: Option<u64>) -> Result<()> {
        let taken = self.take_blocks(blocks, total);
        match taken.is_ok() || self.policy.commits_before_failure() {
            // Commits even after a failure of the input, whose error comes first.
            true => taken.and(self.commit()),
            false => taken,
        }?;
        self.sizing.map_or(Ok(()), |sizing| Err(self.database.refusal(sizing, 0)))
    }

    fn take_blocks(&mut self, blocks: &Receiver<Result<EdgeBatch>>, total: Option<u64>) -> Result<()> {
        let mut read = 0;
        loop {
            self.options.cancel.check()?;
            let rows = match blocks.recv_timeout(CANCEL_EVERY) {
                Ok(rows) => rows?,
                Err(RecvTimeoutError::Timeout) if self.commit_if_due(true)? => continue,
                Err(RecvTimeoutError::Disconnected) if !self.policy.commits_before_failure() => {
                    return self.once.as_ref().map_or(Ok(()), Copies::expect_both);
                }
                Err(_) => return Ok(()),
            };
            read += rows.input_bytes;
            if !self.take(&rows)? {
                return Ok(());
            }
            if let Some(tell) = &self.options.on_progress {
                let fraction = total.filter(|&total| total > 0).map(|total| read as f64 / total as f64);
                tell(fraction, self.report.edges + self.pending.edges);
            }
        }
    }

    /// Commits if a commit is due. Returns false once the policy ends the input.
    fn commit_if_due(&mut self, is_idle: bool) -> Result<bool> {
        if self.policy.is_due(self.pending.edges, is_idle) {
            self.options.cancel.check()?;
            self.commit()?;
        }
        Ok(!self.policy.is_over())
    }

    /// Takes the rows of a block. Returns false if the policy ended the input before the last row.
    fn take(&mut self, rows: &EdgeBatch) -> Result<bool> {
        let bad = rows.rejected.first().filter(|_| self.options.bad_lines == BadLines::Stop);
        let edges = match bad {
            None => rows.len(),
            Some(bad) if self.policy.commits_before_failure() => bad.edges_before.min(rows.len()),
            Some(bad) => return Err(stopped_by(bad)),
        };
        self.report.note_columns(&rows.vertex_values);
        if let Some(vertices) = &rows.vertices {
            let mut text = String::new();
            for index in 0..vertices.len() {
                let id = id_at(vertices, index, self.target.text_ids, &mut text);
                match self.purpose {
                    Purpose::Add => self.given.add(&mut self.batch, id, rows, index)?,
                    Purpose::Remove => self.batch.remove_vertex(id)?,
                }
                self.pending.vertices += 1;
                self.reserve_if_due()?;
            }
        }
        let rejected = if self.options.rejects.is_some() { &rows.rejected[..] } else { &[] };
        self.left_out.begin(rejected, self.policy.left_to_pass());
        // The policy is asked about each edge before `one_by_one_end`.
        let (mut index, mut one_by_one_end) = (0, if self.takes_columns(rows) { 0 } else { edges });
        while index < edges {
            if index >= one_by_one_end {
                let end = index + self.policy.together(self.pending.edges, (edges - index).min(ROOM_EVERY));
                if end > index + 1 && self.take_many(rows, index..end)? {
                    (index, self.left_out.taken_before) = (end, end);
                    self.reserve_if_due()?;
                    if !self.commit_if_due(false)? {
                        return Ok(false);
                    }
                    continue;
                }
                one_by_one_end = end;
            }
            index += 1;
            if self.policy.passes_over() {
                continue;
            }
            if !self.take_edge(rows, index - 1)? {
                return Ok(false);
            }
            self.left_out.taken_before = index;
            self.reserve_if_due()?;
            if !self.commit_if_due(false)? {
                return Ok(false);
            }
        }
        match bad {
            Some(bad) => Err(stopped_by(bad)),
            None => {
                count_rejected(self.report, &rows.rejected);
                self.left_out.keep(self.options.rejects.as_deref(), usize::MAX)?;
                // Even a few rows may hold long texts.
                self.reserve()?;
                Ok(true)
            }
        }
    }

    /// Whether edges of a block may be taken many at a time: added as read, none of them reversed or skipped.
    fn takes_columns(&self, rows: &EdgeBatch) -> bool {
        let are_texts = [&rows.source, &rows.target].map(|ids| integer_ids(ids).is_none());
        let as_read = self.purpose == Purpose::Add && !self.reverse && self.once.is_none();
        let has_loop = || (0..rows.len()).any(|row| is_loop(rows, row));
        as_read && !(self.drops_self_loops && has_loop()) && are_texts == [self.target.text_ids; 2]
    }

    /// Takes a range of edges at once. Returns false, having taken none, if they must be taken one by one.
    fn take_many(&mut self, rows: &EdgeBatch, indexes: Range<usize>) -> Result<bool> {
        // A value cannot be converted. Taken one by one, the edges before it are not lost.
        let Ok(values) = self.values_of(rows, indexes.clone()) else { return Ok(false) };
        let last = indexes.end - 1;
        let of_last: Vec<_> = values.iter().map(|values| values[values.len() - 1]).collect();
        let (source, target) = (external_id(&rows.source, last), external_id(&rows.target, last));
        let last = FedEdge { source, target, values: &of_last };
        if !self.policy.admits_together(&FedEdges { count: indexes.len(), values: &values, last })? {
            return Ok(false);
        }
        match (integer_ids(&rows.source), integer_ids(&rows.target)) {
            (Some(from), Some(to)) => {
                self.batch.add_integer_edges(&from[indexes.clone()], &to[indexes.clone()], &values)?;
            }
            _ => {
                let (from, to) = (rows.source.as_binary::<i32>(), rows.target.as_binary::<i32>());
                let ends = indexes.clone().map(|index| [from.value(index), to.value(index)]);
                self.batch.add_text_edges(&ends.collect::<Vec<_>>(), &values)?;
            }
        }
        self.pending.edges += indexes.len() as u64;
        Ok(true)
    }

    /// The values of a range of edges, for each property.
    fn values_of<'r>(&self, rows: &'r EdgeBatch, edges: Range<usize>) -> Result<Vec<Vec<PropertyValue<'r>>>> {
        let text_ids = self.target.text_ids;
        let columns = self.properties.iter().zip(&self.places);
        let column = |(property, &place): (&PropertyRecord, &usize)| {
            InputValue::all(&rows.properties[place], edges.clone())
                .zip(edges.clone())
                .map(|(given, index)| {
                    convert_or_widen(property, given)
                        .map_err(|error| not_taken(self.purpose, rows, place, index, text_ids, &error))
                })
                .collect()
        };
        columns.map(column).collect()
    }

    /// Reserves the memory of the changes so far, every [`ROOM_EVERY`] changes.
    fn reserve_if_due(&mut self) -> Result<()> {
        // No remainder: an edge may be two changes and skip a multiple. After a commit the number is 0 again.
        match self.batch.len().abs_diff(self.reserved_len) < ROOM_EVERY {
            true => Ok(()),
            false => self.reserve(),
        }
    }

    /// Reserves the memory of the changes so far.
    fn reserve(&mut self) -> Result<()> {
        self.reserved_len = self.batch.len();
        if let Some(sizing) = &mut self.sizing {
            self.reserved_len = 0;
            return self.database.size(sizing, &mut self.batch);
        }
        if self.policy.commits_when_full() && self.database.fills_half(&self.batch) {
            return self.commit();
        }
        match self.database.make_room(&mut self.batch) {
            Err(error) if CommitSizing::is_refusal(&error) => self.begin_sizing(error),
            made => made,
        }
    }

    /// Goes on without committing, to find the limit that the refused commit and later ones need. An input
    /// that may never end cannot be read for that: an error.
    fn begin_sizing(&mut self, error: Error) -> Result<()> {
        if !self.policy.has_an_end() {
            return Err(match self.policy.commit_edges() {
                Some(edges) => self.database.projected(&mut self.batch, edges)?.unwrap_or(error),
                None => error,
            });
        }
        self.reserved_len = 0;
        let sizing = self.sizing.insert(CommitSizing::default());
        self.database.size(sizing, &mut self.batch)
    }

    /// Waits until the policy wants the edge, and takes it. False if the policy ended the input before.
    fn take_edge(&mut self, rows: &EdgeBatch, index: usize) -> Result<bool> {
        let is_left_out = self.drops_self_loops && is_loop(rows, index);
        let (mut from, mut to) = (String::new(), String::new());
        let source = id_at(&rows.source, index, self.target.text_ids, &mut from);
        let target = id_at(&rows.target, index, self.target.text_ids, &mut to);
        let (text_ids, mut values) = (self.target.text_ids, Vec::with_capacity(self.places.len()));
        for (property, &place) in self.properties.iter().zip(&self.places) {
            let given = InputValue::of(&rows.properties[place], index);
            let value = convert_or_widen(property, given)
                .map_err(|error| not_taken(self.purpose, rows, place, index, text_ids, &error))?;
            values.push(value);
        }
        if self.once.as_mut().is_some_and(|copies| copies.skips(source, target, &values)) {
            return Ok(true);
        }
        let edge = FedEdge { source, target, values: &values };
        loop {
            let wait = self.policy.wait(&edge);
            if wait.is_zero() {
                break;
            }
            std::thread::sleep(wait.min(WAIT_AT_MOST));
            if !self.commit_if_due(true)? {
                return Ok(false);
            }
        }
        // Also of an edge that is left out, the position in the input counts.
        let is_admitted = self.purpose == Purpose::Remove || self.policy.admits(&edge)?;
        if is_left_out {
            self.report.self_loops += 1;
            // As an import does, which names the vertex all the same.
            if is_admitted {
                self.batch.add_vertex(source)?;
            }
        } else if is_admitted {
            self.change(&edge)?;
            self.pending.edges += 1;
        }
        Ok(true)
    }

    /// Adds or removes an edge.
    fn change(&mut self, edge: &FedEdge<'_>) -> Result<()> {
        let &FedEdge { source, target, values } = edge;
        let directions = [(source, target), (target, source)];
        let count = if self.reverse && source != target { 2 } else { 1 };
        directions[..count].iter().try_for_each(|&(source, target)| match self.purpose {
            Purpose::Remove => self.remove(source, target, values),
            Purpose::Add => self.batch.add_edge(source, target, values),
        })
    }

    /// Removes the edges from `source` to `target`; if there are `values`, only those that have them.
    fn remove(
        &mut self,
        source: ExternalId<'_>,
        target: ExternalId<'_>,
        values: &[PropertyValue<'_>],
    ) -> Result<()> {
        if values.is_empty() {
            return self.batch.remove_edge(source, target);
        }
        let numbers = self.properties.iter().map(|property| property.number);
        let values: Vec<(u32, PropertyValue<'_>)> = numbers.zip(values.iter().copied()).collect();
        self.batch.remove_edges(source, target, &EdgeMatch { values: &values, ..EdgeMatch::default() })
    }

    fn commit(&mut self) -> Result<()> {
        if let Some(sizing) = &mut self.sizing {
            self.pending = FeedReport::default();
            return self.database.size(sizing, &mut self.batch).map(|()| sizing.end_commit());
        }
        if self.batch.is_empty() {
            return Ok(());
        }
        if self.policy.has_an_end() && !self.database.fits(&self.batch)? {
            self.sizing = Some(CommitSizing::default());
            return self.commit();
        }
        // On the disk before a version says that the input was read up to here.
        let before = self.left_out.taken_before;
        self.left_out.keep(self.options.rejects.as_deref(), before)?;
        self.options.rejects.as_ref().map_or(Ok(()), |file| file.flush())?;
        let mut next = self.database.batch()?;
        next.set_duplicates(self.rule)?;
        if !self.options.allow_unknown {
            next.refuse_unknown();
        }
        let batch = std::mem::replace(&mut self.batch, next);
        let part = self.report.versions.len() + 1;
        let options = self.policy.options(part)?;
        let committed = self.database.commit_with(batch, &options)?;
        let pending = std::mem::take(&mut self.pending);
        self.policy.committed(committed.version, pending.edges);
        self.report.versions.push(committed.version);
        self.report.duplicates += committed.duplicates;
        self.report.edges += pending.edges;
        self.report.vertices += pending.vertices;
        Ok(())
    }
}
