//! The header of files of the ninth DIMACS challenge: `c` comments, `p sp vertices arcs`, then `a source
//! target weight` lines, 1-based.
//!
//! C. Demetrescu, A. Goldberg, D. Johnson, "The Shortest Path Problem: Ninth DIMACS Implementation
//! Challenge", 2009.

use super::headed::{Header, content_line, count};
use super::line::Comments;
use crate::read::format::Format;

/// Finds the header; see [`super::headed::ParseHeader`].
///
/// # Errors
/// If it is no such header.
pub(crate) fn parse(head: &[u8], whole: bool) -> Result<Option<Header>, String> {
    let Some((words, end)) = content_line(head, whole, 0, b'c') else { return Ok(None) };
    if words[0] != "p" || words.get(1).is_none_or(|word| word != "sp") || words.len() != 4 {
        return Err(format!(
            "the first line is {:?}, but a DIMACS-9 graph begins with: p sp vertices arcs",
            words.join(" ")
        ));
    }
    Ok(Some(Header {
        format: Format::Dimacs,
        num_vertices: count(&words, 2, "vertices")?,
        lines: count(&words, 3, "arcs")?,
        what: "arcs",
        weighted: true,
        directed: Some(true),
        skew: false,
        mark: Some(b'a'),
        comments: Comments::Letter,
        end,
    }))
}
