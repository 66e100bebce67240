//! The ends of the edges of a JSON document.

use esker_format::Result;

use super::blocks::Section;
use super::element::{Fields, value_of};
use crate::attributed::rows::Rows;
use crate::attributed::value::Attribute;

/// Characters of an end that a message shows.
const SHOWN_MAX: usize = 40;

/// The ends of an edge.
#[derive(Clone, Copy)]
pub(super) struct Ends<'a> {
    /// Their names.
    pub(super) names: [&'static str; 2],
    pub(super) ids: [&'a str; 2],
}

/// The ends of an edge; `None` if it has none.
pub(super) fn ends_of<'a>(fields: &Fields<'a>) -> Option<Ends<'a>> {
    let find = |name: &str| fields.iter().find(|(own, _)| own == name).map(|(_, value)| *value);
    let pair = |names: [&'static str; 2]| Some(Ends { names, ids: [find(names[0])?, find(names[1])?] });
    pair(["source", "target"]).or_else(|| pair(["from", "to"])).or_else(|| pair(["fromId", "toId"]))
}

/// Whether a name of an edge is no property.
pub(super) fn is_reserved(name: &str, ends: &Ends<'_>, section: Section) -> bool {
    ends.names.contains(&name)
        || matches!(name, "id" | "key" | "directed" | "undirected")
        || (section == Section::Mixed && name == "group")
}

/// An error if the ends of an edge are no numbers of vertices, of which so many came before.
pub(super) fn check_numbers(rows: &mut Rows<'_>, at: usize, ends: &Ends<'_>, vertices: u64) -> Result<()> {
    if vertices == 0 {
        let reason =
            "the nodes stand behind the edges and have no \"id\"; give each an \"id\", or put them first";
        return Err(rows.broken(at, reason));
    }
    for end in ends.ids {
        let is_number =
            matches!(value_of(end), Some(Attribute::Int(id)) if (0..vertices.cast_signed()).contains(&id));
        if !is_number {
            let reason = format!(
                "the nodes have no \"id\", so that edges name their numbers, from 0 to {}, but this edge names {}; call \
                 what edges name \"id\" in the nodes",
                vertices - 1,
                end.chars().take(SHOWN_MAX).collect::<String>(),
            );
            return Err(rows.broken(at, reason));
        }
    }
    Ok(())
}
