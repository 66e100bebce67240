//! The header of files of the ninth DIMACS challenge: `c` comments, `p sp vertices arcs`, then `a source
//! target weight` lines, 1-based.
//!
//! C. Demetrescu, A. Goldberg, D. Johnson, "The Shortest Path Problem: Ninth DIMACS Implementation
//! Challenge", 2009.

use esker_format::Result;

use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one, without_mark};
use crate::text::headed::{HeadedInput, HeadedReader, begins_with, content_line, count};
use crate::text::line::Comments;

/// DIMACS-9 shortest paths: `p sp n m`, then `a u v w` lines.
pub(crate) static DIMACS: InputFormat = InputFormat {
    aliases: &["gr", "dimacs9", "dimacs-9"],
    endings: &["gr"],
    begins: |head| begins_with(without_mark(head), "sp"),
    ..InputFormat::new("dimacs", "DIMACS-9 graph", Choices::Nothing, open)
};

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let reader = HeadedReader::open(one(inputs, DIMACS.title)?, head, parse, options)?;
    Ok(OpenedInput::titled(Box::new(reader), inputs, &DIMACS))
}

/// Finds the header; see [`crate::text::headed::ParseHeader`].
///
/// # Errors
/// If it is no such header.
fn parse(head: &[u8], whole: bool) -> std::result::Result<Option<HeadedInput>, String> {
    let Some((words, end)) = content_line(head, whole, 0, b'c') else { return Ok(None) };
    if words[0] != "p" || words.get(1).is_none_or(|word| word != "sp") || words.len() != 4 {
        return Err(format!(
            "the first line is {:?}, but a DIMACS-9 graph begins with: p sp vertices arcs",
            words.join(" ")
        ));
    }
    Ok(Some(HeadedInput {
        format: DIMACS.name,
        num_vertices: count(&words, 2, "vertices")?,
        lines: count(&words, 3, "arcs")?,
        what: "arcs",
        weighted: true,
        directed: Some(true),
        skew: false,
        entries_add_up: false,
        mark: Some(b'a'),
        comments: Comments::Letter,
        end,
    }))
}
