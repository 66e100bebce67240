//! Graphs of the second DIMACS challenge: `c` comments, `p edge vertices edges`, then `e u v` lines, 1-based.
//! Lines `n`, `d`, `v` and `x` describe vertices and are not read.
//!
//! D. Johnson, M. Trick, "Cliques, Coloring, and Satisfiability: Second DIMACS Implementation Challenge",
//! 1996.

use esker_format::Result;

use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one, without_mark};
use crate::text::headed::{HeadedInput, HeadedReader, begins_with, content_line, count};
use crate::text::line::Comments;

/// DIMACS-2 graphs to be coloured. Some files say `col` for `edge`.
pub(crate) static COL: InputFormat = InputFormat {
    endings: &["col", "clq"],
    begins: |head| ["edge", "col", "edges"].iter().any(|kind| begins_with(without_mark(head), kind)),
    always_begins_so: true,
    ..InputFormat::new("col", "DIMACS-2 graph", Choices::Nothing, open)
};

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let reader = HeadedReader::open(one(inputs, COL.title)?, head, parse, options)?;
    Ok(OpenedInput::titled(Box::new(reader), inputs, &COL))
}

fn parse(head: &[u8], whole: bool) -> std::result::Result<Option<HeadedInput>, String> {
    let Some((words, end)) = content_line(head, whole, 0, b'c') else { return Ok(None) };
    if words.len() != 4 || words[0] != "p" || !matches!(words[1].as_str(), "edge" | "col" | "edges") {
        let found = words.join(" ");
        return Err(format!(
            "the first line is {found:?}, but a DIMACS-2 graph begins with: p edge vertices edges"
        ));
    }
    // Some programs write weights.
    let mut at = end;
    let weighted = loop {
        match content_line(head, whole, at, b'c') {
            Some((words, next)) if words[0] != "e" && words[0].len() == 1 => at = next,
            Some((words, _)) => break words.len() == 4,
            None if whole => break false,
            None => return Ok(None),
        }
    };
    Ok(Some(HeadedInput {
        format: COL.name,
        num_vertices: count(&words, 2, "vertices")?,
        lines: count(&words, 3, "edges")?,
        what: "edges",
        weighted,
        directed: Some(false),
        skew: false,
        entries_add_up: false,
        mark: Some(b'e'),
        comments: Comments::Colouring,
        end,
    }))
}
