//! `esker_vertices('web.esker', filter := 'age > 30')`: a row for each vertex.

use std::sync::Arc;

use esker::graph::{Run, VertexId, vertex};
use esker::grouping::{VertexConditions, vertex_columns};
use esker::guarded;
use esker::selection::Condition;
use esker::store::Version;
use esker::store::property::{PropertyValue, VertexProperty};

use crate::arguments::{open, said};
use crate::columns::{ColumnType, TableColumn};
use crate::table::{ArgumentType, Given, NamedArgument, Rows, Table};

/// The vertices of a version.
pub(crate) struct VerticesTable {
    version: Version,
    conditions: Vec<Condition>,
    names: Vec<String>,
}

/// One reading of the vertices.
pub(crate) struct VerticesScan {
    version: Version,
    /// Those that meet the conditions.
    vertices: Vec<VertexId>,
    names: Vec<String>,
}

/// The rows that are left.
pub(crate) struct VerticesPart {
    scan: Arc<VerticesScan>,
    next: usize,
}

impl Table for VerticesTable {
    type Scan = VerticesScan;
    type Part = VerticesPart;

    const NAME: &'static str = "esker_vertices";
    const POSITIONAL: usize = 1;
    const THREADS: u64 = 1;

    fn named() -> Vec<NamedArgument> {
        let text = |name: &str| NamedArgument { name: name.to_owned(), kind: ArgumentType::Text };
        vec![text("version"), text("filter")]
    }

    fn bind(given: &Given) -> Result<Self, String> {
        let session = open(given)?;
        let version = match given.text("version") {
            Some(version) => session.at(version),
            None => session.latest(),
        };
        let version = version.map_err(said)?.version().clone();
        let conditions = given.text("filter").map(str::parse).transpose()?;
        let names = version.vertex_properties().map(|property| property.name.clone()).collect();
        Ok(Self { version, conditions: conditions.into_iter().collect(), names })
    }

    fn columns(&self) -> Vec<(String, ColumnType)> {
        let types = self.version.vertex_properties().map(ColumnType::of);
        let id = std::iter::once(ColumnType::of_ids(&self.version));
        vertex_columns(&self.version).into_iter().zip(id.chain(types)).collect()
    }

    fn rows(&self) -> u64 {
        self.version.num_vertices() as u64
    }

    fn scan(&self) -> Result<VerticesScan, String> {
        let found = || {
            let run = Run::with_threads(1)?;
            let conditions = VertexConditions::of(&self.conditions, &self.version, &run)?;
            let removed = self.version.removed(&run)?;
            let mut vertices = Vec::new();
            for v in (0..self.version.num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v)) {
                if conditions.keeps(v)? {
                    vertices.push(v);
                }
            }
            Ok::<_, esker::Error>(vertices)
        };
        let vertices = guarded(self.version.path(), found).map_err(said)?;
        Ok(VerticesScan { version: self.version.clone(), vertices, names: self.names.clone() })
    }

    fn part(&self, scan: &Arc<VerticesScan>) -> VerticesPart {
        VerticesPart { scan: Arc::clone(scan), next: 0 }
    }
}

impl Rows for VerticesPart {
    fn next(
        &mut self,
        room: usize,
        columns: &[usize],
        into: &mut [TableColumn<'_>],
    ) -> Result<usize, String> {
        let scan = &self.scan;
        let rows = self.next..scan.vertices.len().min(self.next + room);
        let vertices = &scan.vertices[rows.clone()];
        let put = |error: esker::store::Error| said(error.into());
        for (&column, into) in columns.iter().zip(into) {
            let Some(place) = column.checked_sub(1) else {
                into.put_ids(&scan.version, vertices)?;
                continue;
            };
            let Some(name) = scan.names.get(place) else { continue };
            let property = scan.version.vertex_property(name).map_err(put)?;
            for (row, &v) in vertices.iter().enumerate() {
                put_value(&property, v, row, into)?;
            }
        }
        self.next = rows.end;
        Ok(rows.len())
    }
}

fn put_value(
    property: &VertexProperty,
    v: VertexId,
    row: usize,
    into: &mut TableColumn<'_>,
) -> Result<(), String> {
    let value = property.get(v).map_err(|error| said(error.into()))?;
    match value {
        None | Some(PropertyValue::Missing) => into.put_null(row),
        Some(PropertyValue::Text(text)) => into.put_text(row, text)?,
        Some(PropertyValue::Vector(vector)) => into.put_bytes(row, vector.bytes()),
        Some(value) => match value.bits() {
            Some(bits) => into.put_bits(row, bits),
            None => into.put_null(row),
        },
    }
    Ok(())
}
