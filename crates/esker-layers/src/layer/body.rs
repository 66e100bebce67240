//! Writes neighbour lists in the encoding of a layer.

use esker_format::{ColumnWriter, Result};
use esker_graph::{Direction, VertexId};

use super::coded::Coder;
use super::columns::SectionColumn;
use super::plain::PlainWriter;

/// Writes lists in the order of their slots.
#[derive(Debug)]
pub struct BodyWriter(EncodedWriter);

#[derive(Debug)]
enum EncodedWriter {
    Arrays(Box<ArraysWriter>),
    Coded(Box<CodedWriter>),
}

/// Writes plain arrays.
#[derive(Debug)]
struct ArraysWriter {
    offsets: ColumnWriter<u64>,
    /// `None`: the targets are in tiles.
    targets: Option<ColumnWriter<VertexId>>,
    num_arcs: u64,
}

/// Writes compressed lists.
#[derive(Debug)]
struct CodedWriter {
    coder: Coder,
    groups: ColumnWriter<u64>,
    sizes: ColumnWriter<u8>,
    lists: ColumnWriter<u8>,
    blocks: ColumnWriter<u64>,
}

impl BodyWriter {
    /// Creates the files of plain arrays.
    pub fn arrays(
        writer: &PlainWriter<'_>,
        direction: Direction,
        offsets: SectionColumn,
        targets: SectionColumn,
    ) -> Result<Self> {
        Self::arrays_with(writer, direction, offsets, Some(targets))
    }

    /// Creates the files of plain arrays, or only their offsets.
    pub(super) fn arrays_with(
        writer: &PlainWriter<'_>,
        direction: Direction,
        offsets: SectionColumn,
        targets: Option<SectionColumn>,
    ) -> Result<Self> {
        let mut offsets = writer.section(direction, offsets)?;
        offsets.append(&[0])?;
        let targets = targets.map(|targets| writer.section(direction, targets)).transpose()?;
        Ok(Self(EncodedWriter::Arrays(Box::new(ArraysWriter { offsets, targets, num_arcs: 0 }))))
    }

    /// Creates the files of the compressed lists of all vertices.
    pub fn coded(writer: &PlainWriter<'_>, direction: Direction) -> Result<Self> {
        Ok(Self(EncodedWriter::Coded(Box::new(CodedWriter {
            coder: Coder::default(),
            groups: writer.section(direction, SectionColumn::Groups)?,
            sizes: writer.section(direction, SectionColumn::Sizes)?,
            lists: writer.section(direction, SectionColumn::Lists)?,
            blocks: writer.section(direction, SectionColumn::Blocks)?,
        }))))
    }

    /// Appends lists: `ends` says where each list ends in `targets`. The list behind the last end goes on in
    /// the next call.
    pub fn append(&mut self, ends: &[u64], targets: &[VertexId]) -> Result<()> {
        match &mut self.0 {
            EncodedWriter::Arrays(arrays) => {
                let ends: Vec<u64> = ends.iter().map(|end| arrays.num_arcs + end).collect();
                arrays.offsets.append(&ends)?;
                if let Some(column) = &mut arrays.targets {
                    column.append(targets)?;
                }
                arrays.num_arcs += targets.len() as u64;
                Ok(())
            }
            EncodedWriter::Coded(coded) => {
                let mut start = 0;
                for &end in ends {
                    coded.coder.append(&targets[start..end as usize]);
                    coded.coder.end_list();
                    start = end as usize;
                }
                coded.coder.append(&targets[start..]);
                coded.write()
            }
        }
    }

    /// Completes and syncs the files.
    pub fn finish(self) -> Result<()> {
        match self.0 {
            EncodedWriter::Arrays(arrays) => {
                arrays.offsets.finish()?;
                arrays.targets.map_or(Ok(0), ColumnWriter::finish)?;
            }
            EncodedWriter::Coded(mut coded) => {
                coded.coder.finish();
                coded.write()?;
                let CodedWriter { groups, sizes, lists, blocks, .. } = *coded;
                groups.finish()?;
                sizes.finish()?;
                lists.finish()?;
                blocks.finish()?;
            }
        }
        Ok(())
    }
}

impl CodedWriter {
    fn write(&mut self) -> Result<()> {
        let parts = self.coder.parts();
        self.groups.append(&parts.groups)?;
        self.sizes.append(&parts.sizes)?;
        self.lists.append(&parts.lists)?;
        self.blocks.append(&parts.blocks)?;
        self.coder.clear();
        Ok(())
    }
}
