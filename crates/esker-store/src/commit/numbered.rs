//! Gives the edges that a commit adds their ids.

use esker_format::memory::reserve;
use esker_format::{EdgeId, Error, Result};
use esker_graph::{Cancel, VertexId};

use super::content::Commit;
use crate::freeze::REMOVAL;

/// A change of the edges between two vertices, the smaller of an undirected edge first, and its index in the
/// commit.
pub(super) type NumberedChange = (VertexId, VertexId, u32);

/// Changes between two checks for cancellation.
const CHANGES_PER_CHECK: usize = 1 << 17;

/// Gives ids to the edges that a commit adds: its version, and their places among those between the same
/// vertices, in the order of the changes. `column` is the number of the property that has the ids. Edges that
/// have one are those that stay where others are removed.
///
/// # Errors
/// [`Error::Invalid`] if memory runs out, or a number is too large; cancellation.
pub(crate) fn number_edges(
    commit: &mut Commit,
    column: usize,
    directed: bool,
    cancel: &Cancel,
) -> Result<()> {
    let mut changes: Vec<NumberedChange> = Vec::new();
    reserve(&mut changes, commit.edges.len())?;
    changes.extend(commit.edges.iter().zip(0..).map(|(edge, index)| match directed {
        true => (edge.source, edge.target, index),
        false => (edge.source.min(edge.target), edge.source.max(edge.target), index),
    }));
    cancel.check()?;
    changes.sort_unstable();
    let mut place = 0;
    for (at, &(source, target, index)) in changes.iter().enumerate() {
        if at % CHANGES_PER_CHECK == 0 {
            cancel.check()?;
        }
        if at == 0 || (changes[at - 1].0, changes[at - 1].1) != (source, target) {
            place = 0;
        }
        let row = commit.edges[index as usize].row;
        if row == REMOVAL {
            // What the commit added before this change is not there after it.
            place = 0;
            continue;
        }
        let id = &mut commit.rows[column][row as usize];
        if *id == EdgeId::NEW.bits() {
            place += 1;
            *id = EdgeId::new(commit.version, place).ok_or_else(too_many)?.bits();
        }
    }
    Ok(())
}

fn too_many() -> Error {
    Error::invalid(format!(
        "a commit adds at most {} edges between two vertices whose edges have ids: commit them in parts",
        EdgeId::PLACE_MAX
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::CommitEdge;

    #[test]
    fn the_edges_between_two_vertices_are_numbered_in_the_order_of_the_changes() {
        let ends = [(1, 2), (2, 1), (1, 1), (1, 2), (1, 2), (2, 1)];
        let rows = [0, 1, 2, REMOVAL, 3, 4];
        let numbered = |directed: bool| {
            let mut commit = Commit::blank(7, 3, 1);
            let edges = ends.iter().zip(rows);
            commit.edges = edges.map(|(&(source, target), row)| CommitEdge { source, target, row }).collect();
            // The fourth edge is one that stays.
            commit.rows = vec![vec![0, 0, 0, EdgeId::new(3, 5).unwrap().bits(), 0]];
            number_edges(&mut commit, 0, directed, &Cancel::default()).unwrap();
            commit.rows[0].iter().map(|&bits| EdgeId::from_bits(bits).to_string()).collect::<Vec<_>>()
        };
        assert_eq!(numbered(true), ["v7.1", "v7.1", "v7.1", "v3.5", "v7.2"]);
        assert_eq!(numbered(false), ["v7.1", "v7.2", "v7.1", "v3.5", "v7.1"]);
    }
}
