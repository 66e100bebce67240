//! What the first rows of a table tell of a column: its name, its values, and how they are written.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::notation::ColumnNotation;
use esker_format::value::name::place_of_name;
use esker_format::{Error, PropertyType};
use esker_graph::{Message, message};

use super::blocks::{excerpt, input_error};
use super::shape::TableShape;
use crate::columns::names::called_alike;
use crate::columns::types;
use crate::read::format::ReadOptions;

/// Why the columns of a table cannot be taken, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// An option names a column that does not exist.
    Option(Message),
    /// The table leaves open what is what.
    Table(Message),
    /// It does as far as it is known: more rows may tell.
    Sample(Message),
}

impl<M: Into<Message>> From<M> for Unfit {
    fn from(reason: M) -> Self {
        Self::Table(reason.into())
    }
}

impl Unfit {
    /// The error for an input.
    pub(crate) fn error(self, path: &Arc<PathBuf>) -> Error {
        match self {
            Self::Option(reason) => Error::usage(message![format!("{}: ", path.display()), reason]),
            Self::Table(reason) | Self::Sample(reason) => input_error(path, None, b"", reason),
        }
    }
}

/// The names of columns for a message: as much as fits a line.
pub(super) fn listed(header: &[String]) -> String {
    excerpt(header.join(", ").as_bytes())
}

/// The fields of a column in the sample.
pub(super) fn fields(shape: &TableShape, column: usize) -> impl Iterator<Item = &[u8]> + Clone {
    shape.rows.iter().filter_map(move |row| row.get(column)).map(Vec::as_slice)
}

/// The values of a column in the sample; words for no value are empty.
pub(crate) fn values(shape: &TableShape, column: usize) -> impl Iterator<Item = &[u8]> + Clone {
    let rows = shape.rows.iter().enumerate().filter_map(move |(index, row)| Some((index, row.get(column)?)));
    let is_word = move |index: usize| !shape.words.is_empty() && shape.words.contains(&(index, column));
    rows.map(move |(index, field)| if is_word(index) { &[][..] } else { field.as_slice() })
}

/// How a column writes its values, by the sample.
pub(super) fn notation(shape: &TableShape, column: usize, options: &ReadOptions) -> ColumnNotation {
    let is_own = |name: &str| find(shape, name).is_ok_and(|found| found == column);
    options.notation.of_column(is_own, values(shape, column))
}

/// The type of a column, by the sample.
pub(super) fn sniffed(shape: &TableShape, column: usize, options: &ReadOptions) -> Option<PropertyType> {
    let given: Vec<&[u8]> = values(shape, column).collect();
    // Texts would keep the words.
    if shape.columns_with_words.contains(&column) && given.iter().all(|value| value.is_empty()) {
        return None;
    }
    types::sniffed(&given, &notation(shape, column, options))
}

pub(super) fn name_of(shape: &TableShape, column: usize, otherwise: &str) -> String {
    match shape.header.as_ref().and_then(|header| header.get(column)) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => otherwise.to_owned(),
    }
}

/// The column with this name, which may stand in double quotes, or with this number from 1.
pub(super) fn find(shape: &TableShape, name: &str) -> Result<usize, Unfit> {
    let header = shape.header.as_deref().unwrap_or_default();
    if let Some(column) = place_of_name(name, header.iter().map(String::as_str)) {
        return match called_alike(header.iter().map(String::as_str), column) {
            None => Ok(column),
            Some(reason) => Err(Unfit::Option(reason.into())),
        };
    }
    let reason = match name.parse::<usize>() {
        // An empty input has no columns, and asks for none.
        Ok(number) if number >= 1 && (number <= shape.columns || shape.columns == 0) => {
            return Ok(number - 1);
        }
        Ok(_) if shape.columns == 0 => "columns are numbered from 1".to_owned(),
        _ if shape.header.is_some() => {
            format!("there is no column {name:?}; the columns are {}", listed(header))
        }
        Ok(_) => format!("there is no column {name}; the last column is {}", shape.columns),
        Err(_) => format!(
            "there is no column {name:?}, for no header names the columns; give a number from 1 to {}",
            shape.columns
        ),
    };
    Err(Unfit::Option(reason.into()))
}
