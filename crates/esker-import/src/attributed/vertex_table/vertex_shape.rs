//! Whether a file of vertices is a table, and of which shape.

use crate::columns::names::vertex_id_column;
use crate::columns::neo4j::vertex_columns;
use crate::read::format::ReadOptions;
use crate::text::line::Separator;
use crate::text::shape::{TableShape, shape};

/// Whether at least so many rows have as many columns as is usual, several.
fn is_regular(shape: &TableShape, least: usize) -> bool {
    let regular = shape.rows.iter().filter(|row| row.len() == shape.columns).count();
    shape.columns > 1 && regular > 0 && regular >= least
}

/// Whether the first row names one of several columns as those of ids are.
fn names_ids(shape: &TableShape) -> bool {
    let text = |field: &Vec<u8>| String::from_utf8_lossy(field).into_owned();
    let first: Vec<String> = shape.rows.iter().take(1).flatten().map(text).collect();
    first.len() > 1 && (vertex_id_column(&first).is_some() || vertex_columns(&first).is_some())
}

/// The shape of a table of vertices: tabs, commas, semicolons or bars separate its columns. `None`: the lines
/// have one column. A header names a column as those of ids are; without one, all lines have as many columns,
/// or three in four do: the others are rows to be rejected.
pub(super) fn vertex_shape(
    head: &[u8],
    whole: bool,
    lines_max: usize,
    options: &ReadOptions,
) -> Option<TableShape> {
    static SEPARATORS: [Separator; 4] =
        [Separator::Byte(b'\t'), Separator::Byte(b','), Separator::Byte(b';'), Separator::Byte(b'|')];
    let remembered = options.expected.iter().flat_map(|expected| &expected.nulls);
    let options = ReadOptions {
        delimiter: None,
        header: Some(false),
        expected: None,
        quotes: options.quotes,
        nulls: options.nulls.iter().chain(remembered).cloned().collect(),
        ..ReadOptions::default()
    };
    let of =
        |separator| shape(head, whole, std::slice::from_ref(separator), lines_max, &options).ok().flatten();
    let shapes: Vec<TableShape> = SEPARATORS.iter().filter_map(of).collect();
    let tests: [fn(&TableShape) -> bool; 3] = [
        |shape| is_regular(shape, shape.rows.len()),
        names_ids,
        |shape| is_regular(shape, (3 * shape.rows.len()).div_ceil(4)),
    ];
    let found = tests.into_iter().find_map(|test| shapes.iter().position(test))?;
    let found = shapes.into_iter().nth(found)?;
    if !names_ids(&found) {
        return Some(found);
    }
    let named =
        ReadOptions { header: Some(true), delimiter: Some(found.dialect.separator.byte()), ..options };
    shape(head, whole, &SEPARATORS, lines_max, &named).ok().flatten()
}
