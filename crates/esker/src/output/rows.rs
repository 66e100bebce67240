//! The rows of an answer in their order.

use std::ops::Range;

use esker_graph::{VertexId, vertex};
use esker_store::ids::{ExternalId, IdMap};

use crate::answer::{Answer, Column};
use crate::error::{Error, Result};

/// Rows that are made at a time.
pub(super) const CHUNK_ROWS: usize = 1 << 16;

/// Columns and the ids beside them.
pub(super) struct Rows<'a> {
    pub(super) ids: &'a IdMap,
    pub(super) columns: &'a [Column],
    /// The vertices that are there, if some are removed.
    vertices: Option<&'a [VertexId]>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(ids: &'a IdMap, answer: &'a Answer) -> Self {
        Self { ids, columns: &answer.columns, vertices: answer.vertices.as_deref() }
    }

    pub(super) fn len(&self) -> usize {
        self.vertices.map_or(self.ids.num_vertices(), <[_]>::len)
    }

    /// If the ids of the rows are exactly the integers `base..base + len`, the base.
    pub(super) fn dense_base(&self) -> Option<u64> {
        self.ids.dense_base().filter(|_| self.vertices.is_none())
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

    /// The vertex of each of these rows, and its place in the columns.
    pub(super) fn vertices(&self, rows: Range<usize>) -> Result<Vec<(VertexId, usize)>> {
        if let Some(vertices) = self.vertices {
            return Ok(rows.map(|row| (vertices[row], row)).collect());
        }
        let Some(base) = self.dense_base() else { return Ok(rows.map(|row| (vertex(row), row)).collect()) };
        let vertex_of = |row: usize| -> Result<(VertexId, usize)> {
            let id = base.wrapping_add(row as u64);
            let found = self.ids.vertex_of(ExternalId::Int(id))?;
            let v = found
                .ok_or_else(|| Error::Usage(format!("no vertex has the id {id}, though ids are dense")))?;
            Ok((v, v as usize))
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
