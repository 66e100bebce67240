//! Heads in files beside the lists, so that runs need not gather them.
//!
//! Taking them from their files reads only them; gathering them reads all lists.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Archive, Column, ColumnKind, ColumnSpec, HeadOrder, HeadsRecord, Origin, Result};
use esker_graph::{Direction, Run, VertexId};

use super::degrees::{ListDegrees, WantedHeads};
use super::lists::directions;
use crate::graph::mapped::dense::DenseLists;
use crate::layer::PlainLayer;

/// The archive of the heads in the directory of a layer.
pub fn heads_directory(layer: &Path) -> PathBuf {
    layer.join("heads")
}

/// The stored heads of a complete layer, all files mapped.
#[derive(Debug)]
pub struct StoredHeads {
    head_len: usize,
    order: HeadOrder,
    origin: Origin,
    archive: Archive,
    out: StoredSide,
    /// `None`: the layer has no in-lists, or they are its out-lists.
    incoming: Option<StoredSide>,
}

/// The stored heads of one direction.
#[derive(Debug)]
pub(crate) struct StoredSide {
    /// All heads, one after another.
    pub(super) heads: Column<VertexId>,
    /// The checksum of each page of the tails' file.
    pub(super) sums: Column<u32>,
    /// Neighbours in each head, at most.
    pub(super) head_len: usize,
    /// The neighbours that heads hold.
    pub(super) order: HeadOrder,
}

/// The columns of a direction: their names, and their kinds.
pub(super) fn columns(direction: Direction) -> [(&'static str, ColumnKind); 2] {
    match direction {
        Direction::Out => [("out.heads", ColumnKind::OutHeads), ("out.sums", ColumnKind::OutPageSums)],
        Direction::In => [("in.heads", ColumnKind::InHeads), ("in.sums", ColumnKind::InPageSums)],
    }
}

impl StoredHeads {
    /// Opens the heads in the directory of a layer that `record` describes. `in_edges`: whether the layer
    /// stores in-lists.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`]; [`esker_format::Error::Corrupt`] if the header of a file is damaged.
    pub fn open(
        disk: &Arc<dyn Disk>,
        layer: &Path,
        origin: Origin,
        record: &HeadsRecord,
        in_edges: bool,
    ) -> Result<Self> {
        let directory = heads_directory(layer);
        let archive = Archive::open(disk, &directory)?;
        let side = |direction| {
            let [(heads, heads_kind), (sums, sums_kind)] = columns(direction);
            let spec = |kind| ColumnSpec { origin, kind };
            Ok::<_, esker_format::Error>(StoredSide {
                heads: Column::open(&archive, &directory.join(heads), spec(heads_kind))?,
                sums: Column::open(&archive, &directory.join(sums), spec(sums_kind))?,
                head_len: record.head_len as usize,
                order: record.order,
            })
        };
        let out = side(Direction::Out)?;
        let incoming = in_edges.then(|| side(Direction::In)).transpose()?;
        Ok(Self { head_len: record.head_len as usize, order: record.order, origin, archive, out, incoming })
    }

    /// Neighbours in each head, at most.
    pub fn head_len(&self) -> usize {
        self.head_len
    }

    /// The neighbours that heads hold.
    pub fn order(&self) -> HeadOrder {
        self.order
    }

    /// Binds them to their record in the manifest.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// All columns.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Bytes of all files.
    pub fn file_bytes(&self) -> u64 {
        let bytes = |side: &StoredSide| side.heads.file_bytes() + side.sums.file_bytes();
        bytes(&self.out) + self.incoming.as_ref().map_or(0, bytes)
    }

    pub(crate) fn side(&self, direction: Direction) -> Option<&StoredSide> {
        match direction {
            Direction::Out => Some(&self.out),
            Direction::In => self.incoming.as_ref(),
        }
    }

    /// Compares them with the lists of their layer. Reads both, at a time a part of each.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`] that names the file if they differ, or a file is damaged;
    /// cancellation.
    pub fn verify(&self, disk: &dyn Disk, layer: &PlainLayer, run: &Run) -> Result<()> {
        let wanted = WantedHeads {
            head_len: self.head_len,
            order: self.order,
            degrees: ListDegrees::for_layer(layer, run)?,
        };
        for (direction, section) in directions(layer) {
            let (lists, stored) = (DenseLists::new(section.main(), run)?, self.side(direction));
            stored.map_or(Ok(()), |stored| stored.verify(disk, lists, &wanted, run))?;
        }
        Ok(())
    }
}
