//! The order of the vertices, if it is not that of their ids.

use esker_format::Result;
use esker_graph::{Reservation, VertexId};

use crate::sort::scratch::Workspace;
use crate::sort::spool::Spool;

/// New numbers of the vertices.
pub(crate) enum Renumbered {
    No,
    /// In memory: applied as edges are divided.
    Memory(Vec<VertexId>, Reservation),
    /// Too many for that: applied to the edges already.
    Disk(Spool<VertexId>),
}

impl Renumbered {
    /// The vertex of each number, if it is not the number itself.
    pub(crate) fn into_spool(self, work: &Workspace) -> Result<Option<Spool<VertexId>>> {
        match self {
            Self::No => Ok(None),
            Self::Disk(spool) => Ok(Some(spool)),
            Self::Memory(vertices, room) => {
                drop(room);
                let mut spool = Spool::new(work, 0);
                spool.push_block(vertices)?;
                Ok(Some(spool))
            }
        }
    }
}
