//! The lists of one direction on their way to the sink, in the encoding of the layer.

use esker_format::{Encoding, Result};
use esker_graph::{Direction, VertexId};
use esker_layers::layer::Coder;

use super::scratch::Work;
use super::sink::{ColumnKind, ColumnSink, LayerSink};

/// Offsets are handed on in portions of this many.
const OFFSETS_AT_ONCE: usize = 1 << 13;
/// Coded lists are handed on once they have so many bytes.
const CODED_AT_ONCE: usize = 1 << 18;

/// Takes lists in the order of their vertices.
pub(super) enum Body {
    /// Arrays of ids.
    Arrays {
        /// Where each list begins.
        offsets: Box<dyn ColumnSink>,
        /// Those that were not handed on yet.
        pending: Vec<u64>,
        /// All lists.
        targets: Box<dyn ColumnSink>,
        /// Vertices whose offsets are known.
        vertices: u64,
        /// Arcs so far.
        arcs: u64,
    },
    /// Differences.
    Coded {
        /// Codes the list of the vertex of a number.
        coder: Box<Coder>,
        /// The number.
        vertex: u64,
        /// Groups, sizes, lists, blocks.
        columns: [Box<dyn ColumnSink>; 4],
    },
}

impl Body {
    /// Begins the columns.
    pub(super) fn new(sink: &dyn LayerSink, direction: Direction, encoding: Encoding) -> Result<Self> {
        Ok(match encoding {
            Encoding::Plain => Self::Arrays {
                offsets: sink.column(ColumnKind::Offsets(direction))?,
                pending: Vec::with_capacity(OFFSETS_AT_ONCE),
                targets: sink.column(ColumnKind::Targets(direction))?,
                vertices: 0,
                arcs: 0,
            },
            Encoding::Compressed => Self::Coded {
                coder: Box::default(),
                vertex: 0,
                columns: [
                    sink.column(ColumnKind::Groups(direction))?,
                    sink.column(ColumnKind::Sizes(direction))?,
                    sink.column(ColumnKind::Lists(direction))?,
                    sink.column(ColumnKind::Blocks(direction))?,
                ],
            },
        })
    }

    /// Appends lists: vertices and lengths, and all targets. The list of a vertex may come in several pieces.
    pub(super) fn append(&mut self, lengths: &[(VertexId, u32)], targets: &[VertexId]) -> Result<()> {
        match self {
            Self::Arrays { .. } => {
                for &(vertex, length) in lengths {
                    self.begin(u64::from(vertex))?;
                    if let Self::Arrays { arcs, .. } = self {
                        *arcs += u64::from(length);
                    }
                }
                if let Self::Arrays { targets: column, .. } = self {
                    column.append(bytemuck::cast_slice(targets))?;
                }
            }
            Self::Coded { .. } => {
                let mut rest = targets;
                for &(vertex, length) in lengths {
                    self.begin(u64::from(vertex))?;
                    let (list, later) = rest.split_at(length as usize);
                    rest = later;
                    if let Self::Coded { coder, columns, .. } = self {
                        coder.append(list);
                        if coder.parts().lists.len() >= CODED_AT_ONCE {
                            hand_on(coder, columns)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends all lists before that of a vertex.
    fn begin(&mut self, next: u64) -> Result<()> {
        match self {
            Self::Arrays { offsets, pending, vertices, arcs, .. } => {
                while *vertices <= next {
                    pending.push(*arcs);
                    *vertices += 1;
                    if pending.len() == OFFSETS_AT_ONCE {
                        offsets.append(bytemuck::cast_slice(pending))?;
                        pending.clear();
                    }
                }
            }
            Self::Coded { coder, vertex, columns } => {
                while *vertex < next {
                    coder.end_list();
                    *vertex += 1;
                    if coder.parts().groups.len() >= OFFSETS_AT_ONCE {
                        hand_on(coder, columns)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends all columns, with lists of so many vertices.
    pub(super) fn finish(mut self, work: &Work, num_vertices: u64) -> Result<()> {
        for portion in (0..num_vertices).step_by(1 << 16) {
            work.check()?;
            self.begin(portion)?;
        }
        self.begin(num_vertices)?;
        match self {
            Self::Arrays { mut offsets, pending, targets, .. } => {
                offsets.append(bytemuck::cast_slice(&pending))?;
                offsets.finish()?;
                targets.finish()
            }
            Self::Coded { mut coder, mut columns, .. } => {
                coder.finish();
                hand_on(&mut coder, &mut columns)?;
                columns.into_iter().try_for_each(ColumnSink::finish)
            }
        }
    }
}

fn hand_on(coder: &mut Coder, columns: &mut [Box<dyn ColumnSink>; 4]) -> Result<()> {
    let parts = coder.parts();
    let [groups, sizes, lists, blocks] = columns;
    groups.append(bytemuck::cast_slice(&parts.groups))?;
    sizes.append(&parts.sizes)?;
    lists.append(&parts.lists)?;
    blocks.append(bytemuck::cast_slice(&parts.blocks))?;
    coder.clear();
    Ok(())
}
