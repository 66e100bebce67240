//! What is fed at a moment: a batch, what is counted of it, and its commit.

use std::ops::Range;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use esker_import::read::operation::{RowOperation, expect_operation};
use esker_import::read::source::EdgeBatch;
use esker_store::format::{Duplicates, PropertyRecord};
use esker_store::{CommitSizing, Error, Result};

use super::left_out::LeftOut;
use crate::change::columns::Purpose;
use crate::change::copies::Copies;
use crate::change::destination::Destination;
use crate::change::feed_options::{FeedOptions, FeedReport};
use crate::change::feed_policy::FeedPolicy;
use crate::change::given::GivenProperties;
use crate::change::target::Target;

/// Number of changes after which their memory is reserved.
pub(super) const ROOM_EVERY: usize = 1 << 12;

/// Feeds the edges of an input.
pub(super) struct Feeder<'a> {
    /// The number of changes in `batch` when their memory was last reserved.
    pub(super) reserved_len: usize,
    pub(super) database: Destination<'a>,
    pub(super) target: &'a Target,
    pub(super) purpose: Purpose,
    /// The edge properties that are read, and the place of each in a block.
    pub(super) properties: Vec<PropertyRecord>,
    pub(super) places: Vec<usize>,
    /// The place in a block of the column that says what happens to each edge.
    pub(super) operation: Option<usize>,
    /// What happens to the edges of the block in hand; none where all are added.
    pub(super) operations: Vec<RowOperation>,
    /// Add each edge in both directions: the input is undirected, the database directed.
    pub(super) reverse: bool,
    /// Leave out self-loops, as the import did.
    pub(super) drops_self_loops: bool,
    /// Skips one of the two copies of undirected edges listed in both directions, if the rule counts.
    pub(super) once: Option<Copies>,
    pub(super) options: &'a FeedOptions,
    pub(super) policy: &'a mut dyn FeedPolicy,
    pub(super) batch: esker_store::Batch,
    pub(super) given: GivenProperties<'a>,
    pub(super) rule: Duplicates,
    /// Set once a commit did not fit. From then on nothing is committed; the rest of the input is read only
    /// to find the limit that would suffice.
    pub(super) sizing: Option<CommitSizing>,
    pub(super) left_out: LeftOut,
    /// Counts of the current batch.
    pub(super) pending: FeedReport,
    pub(super) report: &'a mut FeedReport,
}

impl Feeder<'_> {
    /// Learns what happens to the edges of a block.
    pub(super) fn learn_operations(&mut self, rows: &EdgeBatch) -> Result<()> {
        let Some(place) = self.operation else { return Ok(()) };
        let words = rows.properties[place].as_binary_opt::<i32>();
        let operation = |row: usize| {
            let word = words.filter(|words| words.is_valid(row)).map(|words| words.value(row));
            // The reader has left out the others.
            expect_operation(word, "operation", true).map_err(Error::invalid)
        };
        self.operations = (0..rows.len()).map(operation).collect::<Result<_>>()?;
        Ok(())
    }

    /// What happens to an edge of the block in hand.
    pub(super) fn operation_of(&self, index: usize) -> RowOperation {
        match self.purpose {
            Purpose::Remove => RowOperation::Remove,
            Purpose::Add => self.operations.get(index).copied().unwrap_or(RowOperation::Add),
        }
    }

    /// How many of some edges of the block in hand come before the first that is removed.
    pub(super) fn before_removal(&self, edges: Range<usize>) -> usize {
        let operations = self.operations.get(edges.clone()).unwrap_or_default();
        operations.iter().position(|own| *own == RowOperation::Remove).unwrap_or(edges.len())
    }

    /// Commits if a commit is due. Returns false once the policy ends the input.
    pub(super) fn commit_if_due(&mut self, is_idle: bool) -> Result<bool> {
        if self.policy.is_due(self.pending.edges, is_idle) {
            self.options.cancel.check()?;
            self.commit()?;
        }
        Ok(!self.policy.is_over())
    }

    /// Reserves the memory of the changes so far, every [`ROOM_EVERY`] changes.
    pub(super) fn reserve_if_due(&mut self) -> Result<()> {
        // No remainder: an edge may be two changes and skip a multiple. After a commit the number is 0 again.
        match self.batch.len().abs_diff(self.reserved_len) < ROOM_EVERY {
            true => Ok(()),
            false => self.reserve(),
        }
    }

    /// Reserves the memory of the changes so far.
    pub(super) fn reserve(&mut self) -> Result<()> {
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
    pub(super) fn begin_sizing(&mut self, error: Error) -> Result<()> {
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

    pub(super) fn commit(&mut self) -> Result<()> {
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
        self.policy.committed(&committed, pending.edges);
        self.report.versions.push(committed.version);
        self.report.count_duplicates(&committed);
        self.report.edges += pending.edges;
        self.report.vertices += pending.vertices;
        Ok(())
    }
}
