//! Tables of vertices in files of types: a column has their ids, the others are properties.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::ArrowError;
use arrow_select::filter::filter;
use esker_format::{LogicalType, PropertyType, Result};

use super::contain::damaged;
use super::converted::{as_ids, as_values};
use super::holds::Holds;
use super::region::unusable;
use super::runs::BatchOrigin;
use super::table::{self, Picked, checked};
use crate::columns::names::vertex_id_column;
use crate::read::format::ReadOptions;
use crate::read::source::{EdgeBatch, IdKind, Numbers, Reader, VertexColumn, with_nulls};
use crate::read::typed::is_unsigned;

/// What the rows of files are.
#[derive(Clone, Copy)]
pub(super) enum RowsAre<'o> {
    /// Edges, whose columns options choose.
    Edges(&'o ReadOptions),
    /// Vertices.
    Vertices,
}

impl RowsAre<'_> {
    /// Chooses the columns of a file.
    ///
    /// # Errors
    /// If a column that was asked for is not there or cannot serve, or the ids cannot be told.
    pub(super) fn choose(
        self,
        path: &Arc<PathBuf>,
        names: &[(String, Holds)],
        types: &[Option<PropertyType>],
        said_weight: Option<&str>,
    ) -> Result<Picked> {
        match self {
            Self::Edges(options) => table::choose(path, names, types, said_weight, options),
            Self::Vertices => choose(path, names, types),
        }
    }
}

/// Files of vertices that were opened, the columns of the first, and what its ids are.
pub(super) struct OpenedVertices {
    pub(super) reader: Box<dyn Reader>,
    pub(super) chosen: Picked,
    pub(super) holds: Holds,
    pub(super) path: Arc<PathBuf>,
}

/// Chooses the columns of a table of vertices: the ids by their name, or else the first; the others become
/// properties.
///
/// # Errors
/// If the column of ids cannot hold ids, or two columns have the same name.
fn choose(path: &Arc<PathBuf>, names: &[(String, Holds)], types: &[Option<PropertyType>]) -> Result<Picked> {
    let header: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    let id = vertex_id_column(&header).unwrap_or(0);
    let Some((name, holds)) = names.get(id) else {
        return Err(unusable(path, "it has no column for the ids of vertices"));
    };
    if !matches!(holds, Holds::Numbers | Holds::Fractions | Holds::Texts) {
        let reason = format!("the column {name:?} holds no ids of vertices; call the one that does \"id\"");
        return Err(unusable(path, reason));
    }
    if let Some(twice) = (1..header.len()).find(|&column| header[..column].contains(&header[column])) {
        let reason = format!("two columns are called {:?}: give one of them another name", header[twice]);
        return Err(unusable(path, reason));
    }
    let mut chosen = Picked::of_ids(id, name);
    for (column, (name, holds)) in names.iter().enumerate().filter(|(column, _)| *column != id) {
        match holds {
            Holds::Other => chosen.left_out.push(name.clone()),
            Holds::Spans(_) => chosen.spans.push(name.clone()),
            _ => {
                chosen.columns.push(column);
                chosen.properties.push(name.clone());
                chosen.types.push(types[column].clone());
            }
        }
    }
    Ok(chosen)
}

/// A column of values as one of vertices: without those that are missing.
fn vertex_column(
    name: &str,
    own: Option<&PropertyType>,
    values: &ArrayRef,
) -> std::result::Result<VertexColumn, ArrowError> {
    let is_given = |row: &usize| values.is_valid(*row);
    let rows = (0..values.len()).filter(is_given).map(|row| row as u32).collect();
    let given = match values.nulls() {
        Some(nulls) if nulls.null_count() > 0 => {
            let given = filter(values, &BooleanArray::new(nulls.inner().clone(), None))?;
            with_nulls(&given, None)
        }
        _ => with_nulls(values, None),
    };
    let is_truth = own.is_some_and(|own| own.logical == LogicalType::Boolean);
    let values: ArrayRef = match given.as_primitive_opt::<Int64Type>() {
        Some(bits) if is_truth => {
            Arc::new(bits.values().iter().map(|&bit| Some(bit != 0)).collect::<BooleanArray>())
        }
        _ => given,
    };
    let is_text = values.as_binary_opt::<i32>().is_some();
    let property_type = own.cloned().or_else(|| is_text.then(PropertyType::text));
    Ok(VertexColumn { name: name.into(), property_type, rows, values })
}

/// Makes a batch of vertices of columns of equal length: the ids, then the properties of `chosen`.
///
/// # Errors
/// If the columns are not of equal length, which only damage can cause.
pub(super) fn vertex_batch(
    origin: &BatchOrigin<'_>,
    ids: IdKind,
    chosen: &Picked,
    mut columns: Vec<ArrayRef>,
    num_edge_properties: usize,
) -> Result<EdgeBatch> {
    let mut rejected = checked(origin, ids, chosen, &mut columns, 1)?;
    // No edge comes before a vertex.
    rejected.iter_mut().for_each(|row| row.edges_before = 0);
    let vertices = as_ids(&columns[0], ids);
    let named = chosen.properties.iter().zip(&chosen.types).zip(&columns[1..]);
    let of_column = |((name, own), values): ((&String, &Option<PropertyType>), &ArrayRef)| {
        let values = as_values(values, own.as_ref().is_some_and(is_unsigned));
        vertex_column(name, own.as_ref(), &values).map_err(|error| damaged(origin.path, error))
    };
    let vertex_values = named.map(of_column).collect::<Result<_>>()?;
    Ok(EdgeBatch {
        source: vertices.slice(0, 0),
        target: vertices.slice(0, 0),
        properties: vec![Numbers::Int(Vec::new()).finish(); num_edge_properties],
        vertices: Some(vertices),
        vertex_values,
        rejected,
        wide: Vec::new(),
        input_bytes: origin.input_bytes,
    })
}
