//! Writes neighbour lists in the encoding of a layer.

use esker_format::{ColumnWriter, Result};
use esker_graph::{Direction, VertexId};

use super::coded::Coder;
use super::columns::SectionColumn;
use super::plain::PlainWriter;

/// Writes lists in the order of their slots.
#[derive(Debug)]
pub enum BodyWriter {
    /// Plain arrays.
    Arrays {
        /// The offset of each list.
        offsets: ColumnWriter<u64>,
        /// The targets of all lists.
        targets: ColumnWriter<VertexId>,
        /// Number of arcs written so far.
        num_arcs: u64,
    },
    /// Compressed blocks.
    Coded(Box<CodedWriter>),
}

/// Writes compressed lists.
#[derive(Debug)]
pub struct CodedWriter {
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
        let mut offsets = writer.section(direction, offsets)?;
        offsets.append(&[0])?;
        Ok(Self::Arrays { offsets, targets: writer.section(direction, targets)?, num_arcs: 0 })
    }

    /// Creates the files of the compressed lists of all vertices.
    pub fn coded(writer: &PlainWriter<'_>, direction: Direction) -> Result<Self> {
        Ok(Self::Coded(Box::new(CodedWriter {
            coder: Coder::default(),
            groups: writer.section(direction, SectionColumn::Groups)?,
            sizes: writer.section(direction, SectionColumn::Sizes)?,
            lists: writer.section(direction, SectionColumn::Lists)?,
            blocks: writer.section(direction, SectionColumn::Blocks)?,
        })))
    }

    /// Appends lists: `ends` says where each list ends in `targets`. The list behind the last end goes on in the next call.
    pub fn append(&mut self, ends: &[u64], targets: &[VertexId]) -> Result<()> {
        match self {
            Self::Arrays { offsets, targets: column, num_arcs } => {
                let ends: Vec<u64> = ends.iter().map(|end| *num_arcs + end).collect();
                offsets.append(&ends)?;
                column.append(targets)?;
                *num_arcs += targets.len() as u64;
                Ok(())
            }
            Self::Coded(coded) => {
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
        match self {
            Self::Arrays { offsets, targets, .. } => {
                offsets.finish()?;
                targets.finish()?;
            }
            Self::Coded(mut coded) => {
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
