//! New numbers for the vertices of a merged layer, without those that are left out.

use std::ops::Range;

use esker_graph::{Remaining, VertexId, vertex};
use esker_layers::layer::SectionChunk;

/// Gives the vertices of a chunk of a complete layer, which holds a list for each vertex of `range`, their
/// new numbers, and leaves out the lists of the others. The order of vertices stays, so lists stay sorted.
///
/// # Errors
/// If a vertex that is left out has edges, or a target is not a vertex.
pub(super) fn renumber(
    chunk: &mut SectionChunk,
    range: Range<usize>,
    remaining: &Remaining,
) -> Result<(), String> {
    let main = &mut chunk.main;
    let (mut kept, mut start) = (0, 0);
    for (at, v) in range.map(vertex).enumerate() {
        let end = main.ends[at];
        if remaining.place(v).is_some() {
            main.ends[kept] = end;
            kept += 1;
        } else if end != start {
            return Err(has_edges(v));
        }
        start = end;
    }
    main.ends.truncate(kept);
    [&mut main.targets, &mut chunk.past_vertices, &mut chunk.past.targets].into_iter().flatten().try_for_each(
        |v| {
            let known = ((*v as usize) < remaining.num_before()).then_some(*v);
            let known =
                known.ok_or_else(|| format!("an edge has the end {v}, but there is no such vertex"))?;
            *v = remaining.place(known).ok_or_else(|| has_edges(known))?;
            Ok(())
        },
    )
}

fn has_edges(v: VertexId) -> String {
    format!("vertex {v} is removed in all versions but has edges: verify the database")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(ends: &[u64], targets: &[VertexId]) -> SectionChunk {
        let mut chunk = SectionChunk::default();
        chunk.main.ends = ends.to_vec();
        chunk.main.targets = targets.to_vec();
        (chunk.past_vertices, chunk.past.targets) = (vec![12], vec![15, 19]);
        chunk
    }

    #[test]
    fn lists_of_left_out_vertices_go_and_targets_get_new_numbers() {
        let remaining = Remaining::new(20, &[3, 11, 13, 14]).unwrap();
        let mut merged = chunk(&[2, 2, 3, 3, 3, 4], &[0, 15, 4, 19]);
        renumber(&mut merged, 10..16, &remaining).unwrap();
        assert_eq!(merged.main.ends, [2, 3, 4]);
        assert_eq!(merged.main.targets, [0, 11, 3, 15]);
        assert_eq!((&merged.past_vertices[..], &merged.past.targets[..]), (&[10][..], &[11, 15][..]));
    }

    #[test]
    fn edges_of_left_out_vertices_are_refused() {
        let remaining = Remaining::new(20, &[3, 11]).unwrap();
        for (ends, targets, expected) in [
            (&[0, 1, 1][..], &[4][..], "vertex 11 is removed in all versions but has edges"),
            (&[1, 1, 1], &[3], "vertex 3 is removed in all versions but has edges"),
            (&[1, 1, 1], &[20], "the end 20, but there is no such vertex"),
        ] {
            let refused = renumber(&mut chunk(ends, targets), 10..13, &remaining).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
