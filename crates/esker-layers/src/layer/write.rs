//! Writes the lists of one direction of a layer, in chunks of vertices that threads prepare in parallel.

use esker_format::{ColumnWriter, Element, ElementType, Encoding, Result, SectionRecord, ValuesWriter};
use esker_graph::{Direction, Run, VertexId};

use super::body::BodyWriter;
use super::columns::SectionColumn;
use super::order::in_order;
use super::plain::PlainWriter;

/// Lists of arcs of several vertices.
#[derive(Debug, Default)]
pub struct ArcChunk {
    /// For each list, its end among the targets of the chunk.
    pub ends: Vec<u64>,
    /// The targets of all lists, ascending within each list.
    pub targets: Vec<VertexId>,
    /// The code of the version in which each arc was born; empty if the layer holds a single version.
    pub born: Vec<u32>,
    /// The code of the version in which each arc died; only for tombstones and past arcs, and empty if the
    /// layer holds a single version.
    pub died: Vec<u32>,
    /// For each edge property, the bits of its values: see [`esker_format::Values::bits_at`].
    pub properties: Vec<Vec<u64>>,
}

impl ArcChunk {
    /// Ends the current list.
    pub fn end_list(&mut self) {
        self.ends.push(self.targets.len() as u64);
    }

    /// Where the current list begins.
    pub fn list_start(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }
}

/// The fragments of several vertices in ascending order, or the lists of all vertices of a range.
#[derive(Debug, Default)]
pub struct SectionChunk {
    /// The vertices.
    pub vertices: Vec<VertexId>,
    /// The degree of each vertex; unused in a complete layer.
    pub degrees: Vec<VertexId>,
    /// The address of the next older fragment of each vertex (see `Address`); unused in a complete
    /// layer.
    pub previous: Vec<u64>,
    /// The arcs of each vertex that are alive at the end of the range.
    pub main: ArcChunk,
    /// The vertices with tombstones, ascending.
    pub dead_vertices: Vec<VertexId>,
    /// Their tombstones.
    pub dead: ArcChunk,
    /// The vertices with past arcs, ascending.
    pub past_vertices: Vec<VertexId>,
    /// Their past arcs.
    pub past: ArcChunk,
}

/// The columns of a section, and their types.
#[derive(Debug, Clone)]
pub struct SectionShape {
    /// Whether every vertex has a list.
    pub complete: bool,
    /// The encoding of the main lists; plain unless every vertex has a list. Lists that are kept only as
    /// tiles are written as plain ones, from which the tiles are made; what makes the tiles then removes the
    /// targets.
    pub encoding: Encoding,
    /// Whether the targets of the main lists are left out, because their tiles are made of older ones.
    pub without_targets: bool,
    /// The type of version codes (see `code_type`); `None` if the layer holds a single version.
    pub codes: Option<ElementType>,
    /// The types of the edge properties, by number.
    pub properties: Vec<ElementType>,
}

/// Writes the columns of one set of lists.
#[derive(Debug)]
struct ArcsWriter {
    vertices: Option<ColumnWriter<VertexId>>,
    lists: BodyWriter,
    born: Option<ValuesWriter>,
    died: Option<ValuesWriter>,
    properties: Vec<ValuesWriter>,
    num_lists: u64,
    num_arcs: u64,
}

/// The names of the columns of one set of lists.
struct ArcsColumns<'a> {
    vertices: Option<SectionColumn>,
    /// The columns of offsets and, unless they are left out, of targets; `None`: compressed lists.
    arrays: Option<(SectionColumn, Option<SectionColumn>)>,
    born: Option<SectionColumn>,
    died: Option<SectionColumn>,
    property: Option<&'a dyn Fn(u32) -> SectionColumn>,
}

impl ArcsWriter {
    fn create(
        writer: &PlainWriter<'_>,
        direction: Direction,
        shape: &SectionShape,
        columns: &ArcsColumns<'_>,
    ) -> Result<Self> {
        let codes = |column: Option<SectionColumn>| {
            let wanted = column.zip(shape.codes);
            wanted.map(|(column, element)| writer.values(direction, column, element)).transpose()
        };
        let lists = match columns.arrays {
            Some((offsets, targets)) => BodyWriter::arrays_with(writer, direction, offsets, targets)?,
            None => BodyWriter::coded(writer, direction)?,
        };
        let properties = columns.property.map(|column| {
            let numbered = (0..).zip(&shape.properties);
            numbered.map(|(number, &element)| writer.values(direction, column(number), element)).collect()
        });
        Ok(Self {
            vertices: columns.vertices.map(|column| writer.section(direction, column)).transpose()?,
            lists,
            born: codes(columns.born)?,
            died: codes(columns.died)?,
            properties: properties.transpose()?.unwrap_or_default(),
            num_lists: 0,
            num_arcs: 0,
        })
    }

    fn append(&mut self, vertices: &[VertexId], chunk: &ArcChunk) -> Result<()> {
        if let Some(column) = &mut self.vertices {
            column.append(vertices)?;
        }
        self.lists.append(&chunk.ends, &chunk.targets)?;
        for (column, codes) in [(&mut self.born, &chunk.born), (&mut self.died, &chunk.died)] {
            if let Some(column) = column {
                column.append(codes.iter().map(|&code| u64::from(code)))?;
            }
        }
        for (column, bits) in self.properties.iter_mut().zip(&chunk.properties) {
            column.append(bits.iter().copied())?;
        }
        self.num_lists += chunk.ends.len() as u64;
        self.num_arcs += chunk.targets.len() as u64;
        Ok(())
    }

    /// Completes and syncs the files; returns the numbers of lists and arcs.
    fn finish(self) -> Result<(u64, u64)> {
        finish(self.vertices)?;
        self.lists.finish()?;
        self.born.into_iter().chain(self.died).chain(self.properties).try_for_each(ValuesWriter::finish)?;
        Ok((self.num_lists, self.num_arcs))
    }
}

fn finish<T: Element>(column: Option<ColumnWriter<T>>) -> Result<()> {
    column.map_or(Ok(()), |column| column.finish().map(|_| ()))
}

/// Writes the lists of one direction of a layer: append chunks in the order of their vertices, then finish.
#[derive(Debug)]
pub struct SectionWriter<'a> {
    writer: &'a PlainWriter<'a>,
    direction: Direction,
    shape: SectionShape,
    main: ArcsWriter,
    degrees: Option<ColumnWriter<VertexId>>,
    previous: Option<ColumnWriter<u64>>,
    /// Created by the first tombstone.
    dead: Option<ArcsWriter>,
    past: Option<ArcsWriter>,
}

impl<'a> SectionWriter<'a> {
    /// Creates the files.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub fn create(writer: &'a PlainWriter<'a>, direction: Direction, shape: SectionShape) -> Result<Self> {
        let sparse = !shape.complete;
        let targets = (!shape.without_targets).then_some(SectionColumn::Targets);
        let columns = ArcsColumns {
            vertices: sparse.then_some(SectionColumn::Vertices),
            arrays: (shape.encoding != Encoding::Compressed).then_some((SectionColumn::Offsets, targets)),
            born: Some(SectionColumn::Born),
            died: None,
            property: Some(&SectionColumn::Property),
        };
        let main = ArcsWriter::create(writer, direction, &shape, &columns)?;
        let degrees = sparse.then(|| writer.section(direction, SectionColumn::Degrees)).transpose()?;
        let previous = sparse.then(|| writer.section(direction, SectionColumn::Previous)).transpose()?;
        Ok(Self { writer, direction, shape, main, degrees, previous, dead: None, past: None })
    }

    /// Appends the lists of a chunk; its vertices come after those of earlier chunks.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub fn append(&mut self, chunk: &SectionChunk) -> Result<()> {
        self.main.append(&chunk.vertices, &chunk.main)?;
        if let Some(column) = &mut self.degrees {
            column.append(&chunk.degrees)?;
        }
        if let Some(column) = &mut self.previous {
            column.append(&chunk.previous)?;
        }
        if !chunk.dead_vertices.is_empty() {
            let columns = ArcsColumns {
                vertices: Some(SectionColumn::DeadVertices),
                arrays: Some((SectionColumn::DeadOffsets, Some(SectionColumn::DeadTargets))),
                born: None,
                died: Some(SectionColumn::DeadCodes),
                property: None,
            };
            self.get_or_create(Self::dead_mut, &columns)?.append(&chunk.dead_vertices, &chunk.dead)?;
        }
        if !chunk.past_vertices.is_empty() {
            let columns = ArcsColumns {
                vertices: Some(SectionColumn::PastVertices),
                arrays: Some((SectionColumn::PastOffsets, Some(SectionColumn::PastTargets))),
                born: Some(SectionColumn::PastBorn),
                died: Some(SectionColumn::PastDied),
                property: Some(&SectionColumn::PastProperty),
            };
            self.get_or_create(Self::past_mut, &columns)?.append(&chunk.past_vertices, &chunk.past)?;
        }
        Ok(())
    }

    fn dead_mut(&mut self) -> &mut Option<ArcsWriter> {
        &mut self.dead
    }

    fn past_mut(&mut self) -> &mut Option<ArcsWriter> {
        &mut self.past
    }

    fn get_or_create(
        &mut self,
        which: impl Fn(&mut Self) -> &mut Option<ArcsWriter>,
        columns: &ArcsColumns<'_>,
    ) -> Result<&mut ArcsWriter> {
        if which(self).is_none() {
            *which(self) = Some(ArcsWriter::create(self.writer, self.direction, &self.shape, columns)?);
        }
        Ok(which(self).as_mut().unwrap_or_else(|| unreachable!("created above")))
    }

    /// Completes and syncs the files; returns the counts for the manifest.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub fn finish(self) -> Result<SectionRecord> {
        let (lists, arcs) = self.main.finish()?;
        finish(self.degrees)?;
        finish(self.previous)?;
        let (dead_lists, dead_arcs) = self.dead.map_or(Ok((0, 0)), ArcsWriter::finish)?;
        let (past_lists, past_arcs) = self.past.map_or(Ok((0, 0)), ArcsWriter::finish)?;
        Ok(SectionRecord { lists, arcs, dead_lists, dead_arcs, past_lists, past_arcs })
    }

    /// Makes chunks `0..count` on the threads of `run` and appends them in order, while later chunks are
    /// made. Holds at most three chunks for each thread in memory.
    ///
    /// # Errors
    /// The first error of `make` or of writing; cancellation.
    pub fn append_all(
        &mut self,
        run: &Run,
        count: usize,
        make: impl Fn(usize) -> Result<SectionChunk> + Sync,
    ) -> Result<()> {
        self.append_each(run, count, |chunk| Ok((make(chunk)?, ())), |_, ()| Ok(()))
    }

    /// As [`SectionWriter::append_all`]; `take` gets each chunk and what else `make` made, in order.
    ///
    /// # Errors
    /// The first error of `make`, of `take` or of writing; cancellation.
    pub fn append_each<T: Send>(
        &mut self,
        run: &Run,
        count: usize,
        make: impl Fn(usize) -> Result<(SectionChunk, T)> + Sync,
        mut take: impl FnMut(&SectionChunk, T) -> Result<()> + Send,
    ) -> Result<()> {
        in_order(run, count, make, |(chunk, more)| {
            self.append(&chunk)?;
            take(&chunk, more)
        })
    }
}
