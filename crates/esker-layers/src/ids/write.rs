//! Writers for the ids of all vertices, in order of vertex.

use esker_format::{ColumnWriter, Result};
use esker_graph::VertexId;

use super::files::{IdColumnFile, IdFiles};

/// Number of elements buffered before appending them to a column.
const BUFFER_LEN: usize = 1 << 13;

/// Writes sparse integers.
pub struct IntegersWriter {
    integers: ColumnWriter<u64>,
    buffer: Vec<u64>,
}

impl IntegersWriter {
    /// Creates the file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(files: &IdFiles<'_>) -> Result<Self> {
        Self::create_as(files, IdColumnFile::Integers)
    }

    pub(super) fn create_as(files: &IdFiles<'_>, file: IdColumnFile) -> Result<Self> {
        Ok(Self { integers: files.create(file)?, buffer: Vec::with_capacity(BUFFER_LEN) })
    }

    /// Adds the integer of the next vertex.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn push(&mut self, integer: u64) -> Result<()> {
        self.buffer.push(integer);
        if self.buffer.len() == BUFFER_LEN {
            self.integers.append(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Completes and syncs the file.
    ///
    /// # Errors
    /// As [`IntegersWriter::push`].
    pub fn finish(mut self) -> Result<()> {
        self.integers.append(&self.buffer)?;
        self.integers.finish().map(drop)
    }
}

/// Writes texts.
pub struct TextsWriter {
    texts: ColumnWriter<u8>,
    ends: ColumnWriter<u64>,
    end: u64,
    buffer: Vec<u64>,
}

impl TextsWriter {
    /// Creates the files.
    ///
    /// # Errors
    /// If the files cannot be created.
    pub fn create(files: &IdFiles<'_>) -> Result<Self> {
        Self::create_as(files, IdColumnFile::Texts, IdColumnFile::TextEnds)
    }

    pub(super) fn create_as(files: &IdFiles<'_>, texts: IdColumnFile, ends: IdColumnFile) -> Result<Self> {
        let (texts, ends) = (files.create(texts)?, files.create(ends)?);
        Ok(Self { texts, ends, end: 0, buffer: Vec::with_capacity(BUFFER_LEN) })
    }

    /// Adds the text of the next vertex.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn push(&mut self, text: &[u8]) -> Result<()> {
        self.texts.append(text)?;
        self.end += text.len() as u64;
        self.buffer.push(self.end);
        if self.buffer.len() == BUFFER_LEN {
            self.ends.append(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Completes and syncs the files.
    ///
    /// # Errors
    /// As [`TextsWriter::push`].
    pub fn finish(mut self) -> Result<()> {
        self.ends.append(&self.buffer)?;
        self.texts.finish()?;
        self.ends.finish().map(drop)
    }
}

/// Writes dense integers in another order.
pub struct PermutationWriter {
    /// For each vertex, its integer less the base.
    integers: ColumnWriter<VertexId>,
    /// For each integer less the base, its vertex.
    vertices: ColumnWriter<VertexId>,
}

impl PermutationWriter {
    /// Creates the files.
    ///
    /// # Errors
    /// If the files cannot be created.
    pub fn create(files: &IdFiles<'_>) -> Result<Self> {
        let integers = files.create(IdColumnFile::Integers)?;
        Ok(Self { integers, vertices: files.create(IdColumnFile::Vertices)? })
    }

    /// Adds the integers, less the base, of the next vertices.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn integers(&mut self, integers: &[VertexId]) -> Result<()> {
        self.integers.append(integers)
    }

    /// Adds the vertices of the next integers.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn vertices(&mut self, vertices: &[VertexId]) -> Result<()> {
        self.vertices.append(vertices)
    }

    /// Completes and syncs the files.
    ///
    /// # Errors
    /// As [`PermutationWriter::integers`].
    pub fn finish(self) -> Result<()> {
        self.integers.finish()?;
        self.vertices.finish().map(drop)
    }
}
