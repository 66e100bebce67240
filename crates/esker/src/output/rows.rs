//! The rows of an answer in their order.

use std::ops::Range;

use esker_graph::{VertexId, vertex};
use esker_store::ids::{ExternalId, IdMap};

use crate::answer::Column;
use crate::error::{Error, Result};

/// Rows that are made at a time.
pub(super) const CHUNK_ROWS: usize = 1 << 16;

/// Columns and the ids beside them.
pub(super) struct Rows<'a> {
    pub(super) ids: &'a IdMap,
    pub(super) columns: &'a [Column],
}

impl<'a> Rows<'a> {
    pub(super) fn new(ids: &'a IdMap, columns: &'a [Column]) -> Self {
        Self { ids, columns }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.num_vertices()
    }

    /// The names of the columns.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self.columns {
            [_] => vec!["value"],
            columns => columns.iter().map(|column| column.name).collect(),
        }
    }

    /// Ranges of rows, in order.
    pub(super) fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let rows = self.len();
        (0..rows.div_ceil(CHUNK_ROWS)).map(move |i| i * CHUNK_ROWS..rows.min((i + 1) * CHUNK_ROWS))
    }

    /// The vertex of each of these rows.
    pub(super) fn vertices(&self, rows: Range<usize>) -> Result<Vec<VertexId>> {
        let Some(base) = self.ids.dense_base() else { return Ok(rows.map(vertex).collect()) };
        let vertex_of = |row: usize| -> Result<VertexId> {
            let id = base.wrapping_add(row as u64);
            let found = self.ids.vertex_of(ExternalId::Int(id))?;
            found.ok_or_else(|| Error::Usage(format!("no vertex has the id {id}, though ids are dense")))
        };
        rows.map(vertex_of).collect()
    }

    /// The id of a vertex where ids are integers.
    pub(super) fn int_id(&self, v: VertexId) -> Result<u64> {
        match self.ids.external_of(v)? {
            ExternalId::Int(id) => Ok(id),
            ExternalId::Text(_) => Err(Error::Usage(format!("the id of vertex {v} is a text"))),
        }
    }
}
