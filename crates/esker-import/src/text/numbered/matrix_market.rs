//! The header of Matrix Market files.
//!
//! R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR
//! 5935, 1996. An entry (i, j) is an edge from i to j. A symmetric matrix keeps one triangle and is an
//! undirected graph; a skew-symmetric one keeps the strict lower triangle, each entry standing for two edges
//! of opposite weight.

use esker_format::Result;

use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one, starts_with_word, without_mark};
use crate::text::headed::{HeadedInput, HeadedReader, content_line, count};
use crate::text::line::Comments;

/// A banner, `rows columns entries`, then 1-based `i j [value]` lines.
pub(crate) static MTX: InputFormat = InputFormat {
    aliases: &["matrix-market", "matrixmarket"],
    endings: &["mtx", "mm"],
    begins: |head| starts_with_word(without_mark(head), b"%%MatrixMarket"),
    ..InputFormat::new("mtx", "Matrix Market", Choices::Nothing, open)
};

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let reader = HeadedReader::open(one(inputs, MTX.title)?, head, parse, options)?;
    Ok(OpenedInput::titled(Box::new(reader), inputs, &MTX))
}

/// Finds the header; see [`crate::text::headed::ParseHeader`].
///
/// # Errors
/// If it is no such header, or describes a matrix that is no graph or is not read.
fn parse(head: &[u8], whole: bool) -> std::result::Result<Option<HeadedInput>, String> {
    // The banner begins with the comment mark, so no line is a comment yet.
    let Some((banner, at)) = content_line(head, whole, 0, 0) else { return Ok(None) };
    let banner: Vec<String> = banner.iter().map(|word| word.to_ascii_lowercase()).collect();
    let [mark, object, layout, field, symmetry] = &banner[..] else { return Err(no_banner()) };
    if mark != "%%matrixmarket" {
        return Err(no_banner());
    }
    if object != "matrix" || layout != "coordinate" {
        return Err(format!(
            "{object} {layout} is not read, only matrix coordinate: write it as a sparse matrix, for example with \
             scipy.io.mmwrite(name, scipy.sparse.coo_array(a))"
        ));
    }
    let weighted = match field.as_str() {
        "pattern" => false,
        "real" | "double" | "integer" | "unsigned-integer" => true,
        "complex" => return Err("complex weights are not read: write the matrix as real or pattern".into()),
        other => return Err(format!("there is no field {other:?}; there are pattern, real, integer")),
    };
    let (directed, skew) = match symmetry.as_str() {
        "general" => (None, false),
        "symmetric" => (Some(false), false),
        "skew-symmetric" => (Some(true), true),
        "hermitian" => {
            return Err("Hermitian matrices are not read: write the matrix as general or symmetric".into());
        }
        other => {
            return Err(format!(
                "there is no symmetry {other:?}; there are general, symmetric, skew-symmetric"
            ));
        }
    };
    if skew && !weighted {
        return Err(
            "a skew-symmetric pattern makes no sense: its values have signs; write it as general".into()
        );
    }
    let Some((size, end)) = content_line(head, whole, at, b'%') else { return Ok(None) };
    if size.len() != 3 {
        return Err(format!(
            "the size line has {} numbers, but rows, columns and entries belong there",
            size.len()
        ));
    }
    let (rows, columns) = (count(&size, 0, "rows")?, count(&size, 1, "columns")?);
    if rows != columns {
        return Err(format!(
            "the matrix is {rows} x {columns}, so it is no graph on one set of vertices; to take rows \
             and columns as two sets, add {rows} to each column and write {0} x {0}",
            rows.saturating_add(columns)
        ));
    }
    let lines = count(&size, 2, "entries")?;
    let (what, mark, comments) = ("entries", None, Comments::Marked);
    Ok(Some(HeadedInput {
        format: MTX.name,
        num_vertices: rows,
        lines,
        what,
        weighted,
        directed,
        skew,
        // The two edges of an entry of a skew-symmetric matrix are no parts of one.
        entries_add_up: !skew,
        mark,
        comments,
        end,
    }))
}

fn no_banner() -> String {
    "the first line is not a Matrix Market banner, such as: %%MatrixMarket matrix coordinate real general"
        .into()
}
