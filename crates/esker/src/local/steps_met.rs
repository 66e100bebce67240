//! Vertices that a search over pairs of a vertex and a number of steps has met.

use esker_graph::VertexId;

use super::path::{Path, PathLength};

/// A vertex that was met after some steps.
pub(super) struct StepsMet {
    pub(super) v: VertexId,
    pub(super) length: PathLength,
    /// The place of the vertex before it, and the length of the edge between them.
    pub(super) previous: Option<(usize, PathLength)>,
}

impl StepsMet {
    /// The path to the vertex at a place of those that were met.
    pub(super) fn path(met: &[Self], place: usize) -> Path {
        let before = |&place: &usize| met[place].previous.map(|(place, _)| place);
        let mut places: Vec<usize> = std::iter::successors(Some(place), before).collect();
        places.reverse();
        Path {
            vertices: places.iter().map(|&place| met[place].v).collect(),
            lengths: places.iter().map(|&place| met[place].length).collect(),
            steps: places.iter().filter_map(|&place| Some(met[place].previous?.1)).collect(),
        }
    }
}
