//! Commits the edges of files and streams. A `FeedPolicy` decides which edges are taken and when to commit.

mod batch_policy;
mod left_out;
mod feeder;
mod edges;

use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use esker_import::options::BadLines;
use esker_import::read::source::{EdgeBatch, IdKind, limit_decoding, told_of_panics};
use esker_store::ids::ExternalId;
use esker_store::{Error, Result};

use batch_policy::BatchPolicy;
use feeder::{Feeder, ROOM_EVERY};
use left_out::{LeftOut, count_rejected};

use super::clock::DeclaredTimes;
use super::columns::{EdgeInput, Purpose, directions, id_at, refuse_vertices, stopped_by};
use super::copies::Copies;
use super::feed_options::{FeedOptions, FeedReport};
use super::feed_policy::FeedPolicy;
use super::given::GivenProperties;
use super::remembered::remember;
use super::room::expect_borne_out;
use super::target::Target;
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
/// Vertices between two checks for cancellation.
const CANCEL_EVERY_VERTICES: u64 = 1 << 16;

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

/// How many blocks are parsed ahead under a memory limit.
fn blocks_ahead(limit_bytes: u64) -> usize {
    (limit_bytes / AHEAD_PARTS / BLOCK_BYTES).min(BLOCKS_AHEAD) as usize
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
    let EdgeInput { mut reader, warnings, purpose, properties, places, operation, .. } = input;
    refuse_vertices(reader.schema(), purpose)?;
    // A table that says what happens to edges is another one than those to come.
    let reading = target.to_remember(reader.as_ref());
    let reading = reading.filter(|_| purpose == Purpose::Add && operation.is_none());
    let mut batch = database.batch()?;
    options.duplicates.map_or(Ok(()), |rule| batch.set_duplicates(rule))?;
    let rule = *report.rule.insert(batch.duplicates());
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
    let (sender, receiver) = sync_channel(blocks_ahead(database.budget().limit_bytes()));
    let (parser, warning_source) = (reader.parser(), reader.parser());
    let mut feeder = Feeder {
        database,
        target,
        purpose,
        properties,
        places,
        operation,
        operations: Vec::new(),
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
        self.learn_operations(rows)?;
        let rejected = if self.options.rejects.is_some() { &rows.rejected[..] } else { &[] };
        self.left_out.begin(rejected, self.policy.left_to_pass());
        // The policy is asked about each edge before `one_by_one_end`.
        let (mut index, mut one_by_one_end) = (0, if self.takes_columns(rows) { 0 } else { edges });
        while index < edges {
            if index >= one_by_one_end {
                let count = self.before_removal(index..edges.min(index + ROOM_EVERY));
                let end = index + self.policy.together(self.pending.edges, count);
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
}
