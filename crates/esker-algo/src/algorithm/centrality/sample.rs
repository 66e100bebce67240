//! Vertices that an algorithm starts from: all, given ones, or a random sample.

use esker_graph::random::Random;
use esker_graph::{Stop, VertexId, vertex};

use crate::primitive::need_source;

/// The vertices from which shortest paths are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sources {
    /// Every vertex: exact.
    All,
    /// This many distinct vertices, sampled with the seed of the run; all vertices if there are no more.
    Sample(usize),
    /// These vertices; a repeated one counts repeatedly.
    These(Vec<VertexId>),
}

impl Sources {
    /// The number of sources in a graph of `num_vertices` vertices.
    pub(crate) fn count(&self, num_vertices: u64) -> u64 {
        match self {
            Self::All => num_vertices,
            Self::Sample(count) => num_vertices.min(*count as u64),
            Self::These(list) => list.len() as u64,
        }
    }
}

/// The list of sources.
pub(crate) fn resolve(n: usize, seed: u64, sources: &Sources) -> Result<Vec<VertexId>, Stop> {
    match sources {
        Sources::Sample(count) if *count < n => Ok(sample(n, *count, seed)),
        Sources::These(list) => {
            list.iter().try_for_each(|&source| need_source(source, n))?;
            Ok(list.clone())
        }
        _ => Ok((0..n).map(vertex).collect()),
    }
}

/// `count` distinct vertices of `0..n`, ascending, uniformly at random (R. Floyd; J. Bentley, CACM 30(9),
/// 1987).
pub(crate) fn sample(n: usize, count: usize, seed: u64) -> Vec<VertexId> {
    let mut random = Random::new(seed);
    let mut picked = std::collections::BTreeSet::new();
    for top in n - count..n {
        let draw = random.index(top + 1);
        if !picked.insert(vertex(draw)) {
            picked.insert(vertex(top));
        }
    }
    picked.into_iter().collect()
}
