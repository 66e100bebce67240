//! Blocks that are notes: a run of rows that a parser reads for itself.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{Error, Result, TableRecord};
use esker_graph::{Message, Stop};

use super::shared::SharedTexts;
use crate::read::source::{BlockParser, InputBlock, Reader, RejectedText, Schema};

/// Rows (or edges) of one block, at most.
pub(super) const RUN_ROWS: u64 = 1 << 17;

/// Bytes of the columns of one block, about.
const RUN_BYTES: u64 = RUN_ROWS * 16;

/// Rows of one block if a row has `row_bytes` bytes.
pub(super) fn run_rows(row_bytes: u64) -> u64 {
    let rows = (RUN_BYTES / row_bytes.max(1)).clamp(1, RUN_ROWS);
    1 << rows.ilog2()
}

/// Consecutive rows of one section (row group, record batch ...) of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowRun {
    /// Index of the file.
    pub(super) file: usize,
    /// Index of the section in the file.
    pub(super) section: u64,
    /// First row, counted from 0 in the section.
    pub(super) start: u64,
    /// How many rows.
    pub(super) rows: u64,
}

impl RowRun {
    /// The note as a block.
    pub(super) fn into_block(self, first_row: u64, input_bytes: u64) -> InputBlock {
        let bytes = [self.section, self.start, self.rows].into_iter().flat_map(u64::to_le_bytes).collect();
        InputBlock { bytes, first_line: first_row, file: self.file, input_bytes }
    }

    /// The note that [`RowRun::into_block`] wrote.
    pub(super) fn of_block(block: &InputBlock) -> Self {
        let word = |i: usize| {
            block
                .bytes
                .get(i * 8..i * 8 + 8)
                .map_or(0, |b| u64::from_le_bytes(b.try_into().unwrap_or_default()))
        };
        Self { file: block.file, section: word(0), start: word(1), rows: word(2) }
    }
}

/// Rows that a file holds in one section.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowSection {
    /// Index of the file.
    pub(super) file: usize,
    /// Index of the section in the file.
    pub(super) section: u64,
    /// Its rows.
    pub(super) rows: u64,
    /// Rows of its blocks, but for the last.
    pub(super) run_rows: u64,
    /// Rows of the file before it.
    pub(super) rows_before: u64,
    /// Bytes that it takes in the file, for progress.
    pub(super) bytes: u64,
}

/// Where a batch comes from.
#[derive(Debug)]
pub(super) struct BatchOrigin<'a> {
    pub(super) path: &'a Arc<PathBuf>,
    /// Bounds what texts take that many rows share.
    pub(super) shared: &'a SharedTexts,
    /// Number of the first row, from 1.
    pub(super) first_row: u64,
    pub(super) input_bytes: u64,
    /// How much is kept of rows that are rejected.
    pub(super) rejected: RejectedText,
}

/// Parses runs of rows.
pub(super) trait SectionParser: BlockParser {
    /// See [`Reader::limit_memory`].
    ///
    /// # Errors
    /// If `bytes` are too few.
    fn limit_memory(&self, bytes: u64, threads: usize) -> Result<u64>;
}

/// A reader whose sections are all known, in order, and only need cutting.
pub(super) struct SectionReader<P> {
    schema: Schema,
    parser: Arc<P>,
    notes: Vec<Message>,
    warnings: Vec<Message>,
    table: Option<TableRecord>,
    sections: std::vec::IntoIter<RowSection>,
    current: Option<(RowSection, u64)>,
}

impl<P> SectionReader<P> {
    pub(super) fn new(schema: Schema, parser: P, notes: Vec<Message>, sections: Vec<RowSection>) -> Self {
        let (parser, warnings) = (Arc::new(parser), Vec::new());
        let sections = sections.into_iter();
        Self { schema, parser, notes, warnings, table: None, sections, current: None }
    }

    /// The same of a table that was read so.
    pub(super) fn of_table(self, table: TableRecord) -> Self {
        Self { table: Some(table), ..self }
    }

    /// The same with what a person is to be warned of.
    pub(super) fn warning(self, warnings: Vec<Message>) -> Self {
        Self { warnings, ..self }
    }
}

/// An error if `needed_bytes` to decode `what` exceed `bytes`.
pub(super) fn check_fits(what: &str, needed_bytes: u64, bytes: u64) -> Result<()> {
    if needed_bytes <= bytes {
        return Ok(());
    }
    Err(Error::Stop(Stop::OverBudget { what: what.to_owned(), needed_bytes, budget_bytes: bytes }))
}

impl<P: SectionParser + 'static> Reader for SectionReader<P> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        self.parser.limit_memory(bytes, threads)
    }

    fn table(&self) -> Option<TableRecord> {
        self.table.clone()
    }

    fn notes(&self) -> Vec<Message> {
        self.notes.clone()
    }

    fn warnings(&self) -> Vec<Message> {
        self.warnings.clone()
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        loop {
            if let Some((section, start)) = &mut self.current
                && *start < section.rows
            {
                let (first, rows) = (*start, section.run_rows.min(section.rows - *start));
                *start += rows;
                // Rounded so that the parts add up to the whole.
                let bytes_until = |row: u64| {
                    (u128::from(section.bytes) * u128::from(row) / u128::from(section.rows)) as u64
                };
                let run = RowRun { file: section.file, section: section.section, start: first, rows };
                let bytes = bytes_until(first + rows) - bytes_until(first);
                return Ok(Some(run.into_block(section.rows_before + first + 1, bytes)));
            }
            match self.sections.next() {
                Some(section) => self.current = Some((section, 0)),
                None => return Ok(None),
            }
        }
    }
}
