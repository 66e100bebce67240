//! Tables of vertices in files of types: a column has their ids, the others are properties.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::filter;
use esker_format::{LogicalType, PropertyType, Result};
use esker_graph::{Message, Setting, message};

use super::batch::checked;
use super::contain::damaged;
use super::converted::{as_ids, as_values};
use super::holds::Holds;
use super::region::unusable;
use super::runs::BatchOrigin;
use super::table::{self, Picked};
use super::vectors::{are_vectors, vector_type};
use crate::columns::names::vertex_id_column;
use crate::read::format::{Declaration, ReadOptions};
use crate::read::source::{
    EdgeBatch, IdKind, Numbers, Reader, RejectedText, VertexColumn, VertexPlaces, with_nulls,
};
use crate::read::typed::{is_unsigned, type_of};

/// What the rows of files are.
#[derive(Clone, Copy)]
pub(super) enum RowsAre<'o> {
    /// Edges, whose columns options choose.
    Edges(&'o ReadOptions),
    /// Vertices.
    Vertices(&'o WantedVertices<'o>),
}

impl RowsAre<'_> {
    /// Whether they are vertices.
    pub(super) fn are_vertices(self) -> bool {
        matches!(self, Self::Vertices(_))
    }

    /// What a column of an Arrow type holds. Only vertices have vectors.
    pub(super) fn holds(self, data_type: &DataType) -> Holds {
        match self {
            Self::Vertices(_) if are_vectors(data_type) => Holds::Vectors,
            _ => Holds::of(data_type),
        }
    }

    /// The type of such a column, if it is more than a number or a text.
    pub(super) fn type_of(self, data_type: &DataType) -> Option<PropertyType> {
        match self {
            Self::Vertices(_) if are_vectors(data_type) => vector_type(data_type),
            _ => type_of(data_type),
        }
    }

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
            Self::Vertices(wanted) => choose(path, names, types, wanted),
        }
    }
}

/// Gives the properties whose lists may be of any length the type of the first list, which `first` finds in
/// a column of the file. Columns without one are left out.
///
/// # Errors
/// Those of `first`.
pub(super) fn settle_vectors(
    chosen: &mut Picked,
    names: &[(String, Holds)],
    mut first: impl FnMut(usize) -> Result<Option<PropertyType>>,
) -> Result<()> {
    let mut place = 1;
    while place < chosen.columns.len() {
        let is_open = names[chosen.columns[place]].1 == Holds::Vectors && chosen.types[place - 1].is_none();
        match is_open.then(|| first(chosen.columns[place])).transpose()? {
            None => place += 1,
            Some(Some(found)) => {
                chosen.types[place - 1] = Some(found);
                place += 1;
            }
            Some(None) => {
                chosen.columns.remove(place);
                chosen.types.remove(place - 1);
                chosen.left_out.push(chosen.properties.remove(place - 1));
            }
        }
    }
    Ok(())
}

/// How files of vertices are to be read.
pub(super) struct WantedVertices<'o> {
    /// What their ids become.
    pub(super) ids: IdKind,
    /// How many properties the edges have that come behind them.
    pub(super) num_edge_properties: usize,
    /// The types of properties.
    pub(super) declared: &'o [Declaration],
    /// Whether they go to a database whose integer ids can become texts.
    pub(super) ids_can_become_texts: bool,
    /// How much is kept of rows that are rejected.
    pub(super) rejected: RejectedText,
}

/// Files of vertices that were opened, the columns of the first, and what its ids are.
pub(super) struct OpenedVertices {
    pub(super) reader: Box<dyn Reader>,
    pub(super) chosen: Picked,
    pub(super) holds: Holds,
    pub(super) path: Arc<PathBuf>,
}

impl OpenedVertices {
    /// How the files are read.
    pub(super) fn note(&self) -> Message {
        let Self { chosen, path, .. } = self;
        let of = |(name, own): (&String, &Option<PropertyType>)| match own {
            Some(own) if !own.logical.is_number() => format!("{name} as {own}"),
            _ => name.clone(),
        };
        let properties: Vec<String> = chosen.properties.iter().zip(&chosen.types).map(of).collect();
        let listed = if properties.is_empty() { "none".to_owned() } else { properties.join(", ") };
        format!("Reading {} as vertices: id {}, properties {listed}", path.display(), chosen.ends[0]).into()
    }

    /// What is not read of the files.
    pub(super) fn warnings(&self) -> Vec<Message> {
        let unread =
            self.chosen.left_out.iter().map(|name| (name, "holds lists or records that are no vectors"));
        let spans = self.chosen.spans.iter().map(|name| (name, "holds times of day or lengths of time"));
        let told = |(name, what): (&String, &str)| {
            format!("{}: the column {name:?} {what}, so it is not read", self.path.display()).into()
        };
        unread.chain(spans).map(told).collect()
    }

    /// Checks that ids which are texts are wanted as texts; `others` are those that they meet.
    pub(super) fn expect_ids(&self, ids: IdKind, others: &str) -> Result<()> {
        if ids == IdKind::Text || self.holds != Holds::Texts {
            return Ok(());
        }
        let name = &self.chosen.ends[0];
        let reason = format!(
            "the ids of the column {name:?} are texts, but those of {others} are integers; take all as texts with "
        );
        Err(unusable(&self.path, message![reason, Setting::Ids.to("text")]))
    }
}

/// Chooses the columns of a table of vertices: the ids by their name, or else the first; the others become
/// properties, of the declared types if they have any.
///
/// # Errors
/// If the column of ids cannot hold ids, two columns have the same name, or a declared one is not there.
fn choose(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    types: &[Option<PropertyType>],
    wanted: &WantedVertices<'_>,
) -> Result<Picked> {
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
    let mut chosen = Picked::of_ids(id, name, wanted.ids_can_become_texts);
    for (column, (name, holds)) in names.iter().enumerate().filter(|(column, _)| *column != id) {
        let said = wanted.declared.iter().find(|one| one.name == *name).map(|one| one.property_type.clone());
        match holds {
            Holds::Other => chosen.left_out.push(name.clone()),
            Holds::Spans(_) if said.is_none() => chosen.spans.push(name.clone()),
            _ => {
                chosen.columns.push(column);
                chosen.properties.push(name.clone());
                chosen.types.push(said.or_else(|| types[column].clone()));
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
    let mut refused = rejected.iter().map(|row| row.line).peekable();
    let is_taken = |row: &u64| refused.next_if_eq(row).is_none();
    let lines = (origin.first_row..).filter(is_taken).take(vertices.len()).collect();
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
        vertex_places: Some(VertexPlaces { path: Arc::clone(origin.path), lines }),
        rejected,
        wide: Vec::new(),
        input_bytes: origin.input_bytes,
    })
}
