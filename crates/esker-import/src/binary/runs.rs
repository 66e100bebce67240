//! Blocks that are notes: a run of rows that a parser reads for itself.

use std::sync::Arc;

use esker_format::Result;

use crate::source::{Block, BlockParser, Reader, Schema};

/// Rows (or edges) of one block: as many as make about a mebibyte of columns.
pub(super) const RUN_ROWS: u64 = 1 << 17;

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
    pub(super) fn into_block(self, first_row: u64, input_bytes: u64) -> Block {
        let bytes = [self.section, self.start, self.rows].into_iter().flat_map(u64::to_le_bytes).collect();
        Block { bytes, first_line: first_row, file: self.file, input_bytes }
    }

    /// The note that [`RowRun::into_block`] wrote.
    pub(super) fn of_block(block: &Block) -> Self {
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
pub(super) struct Section {
    /// Index of the file.
    pub(super) file: usize,
    /// Index of the section in the file.
    pub(super) section: u64,
    /// Its rows.
    pub(super) rows: u64,
    /// Rows of the file before it.
    pub(super) rows_before: u64,
    /// Bytes that it takes in the file, for progress.
    pub(super) bytes: u64,
}

/// A reader whose sections are all known, in order, and only need cutting.
pub(super) struct SectionReader {
    schema: Schema,
    parser: Arc<dyn BlockParser>,
    sections: std::vec::IntoIter<Section>,
    current: Option<(Section, u64)>,
}

impl SectionReader {
    pub(super) fn new(schema: Schema, parser: Arc<dyn BlockParser>, sections: Vec<Section>) -> Self {
        Self { schema, parser, sections: sections.into_iter(), current: None }
    }
}

impl Reader for SectionReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser)
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        loop {
            if let Some((section, start)) = &mut self.current
                && *start < section.rows
            {
                let (first, rows) = (*start, RUN_ROWS.min(section.rows - *start));
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
