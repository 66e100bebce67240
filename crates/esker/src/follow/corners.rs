//! Live answers about triangles and their corners.

use std::time::Instant;

use esker_algo::algorithm::cohesion::lcc::{LccOptions, lcc};
use esker_algo::algorithm::cohesion::triangles::{TrianglesOptions, triangles};
use esker_algo::live::{LiveClustering, LiveTriangles};
use esker_graph::{NONE, VertexId, vertex};

use super::change::VersionChange;
use super::live::{At, Live, Updated, updated_within, values_of, words_of};
use crate::answer::{Fact, Value, Values};
use crate::error::Result;

/// Bytes that an update holds for each arc that it reads, at most: entries of lists that grow, and the
/// vertices that it touches.
const HELD_BYTES: u64 = 4 * size_of::<(VertexId, u8)>() as u64;

/// The most that an update may read: what it holds fits in what is free.
fn read_max(at: At<'_>) -> u64 {
    at.run.budget().free_bytes() / HELD_BYTES
}

#[derive(Default)]
pub(super) struct TrianglesAnswer {
    state: Option<LiveTriangles>,
}

impl Live for TrianglesAnswer {
    fn bytes(&self, _: usize) -> u64 {
        0
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let graph = at.view.graph::<()>(at.run)?;
        self.state = Some(LiveTriangles(triangles(&graph, at.run, &TrianglesOptions::default())?.triangles));
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        updated_within::<_, ()>(&mut self.state, at, change, deadline, read_max(at), |state, reader| {
            state.update(reader).map(|()| Vec::new())
        })
    }

    fn num_words(&self, _: usize) -> usize {
        1
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        self.state.map(|state| vec![vec![state.0]])
    }

    fn restore(&mut self, _: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        let count = words.first().and_then(|array| array.first());
        self.state = count.map(|&count| LiveTriangles(count));
        Ok(self.state.is_some())
    }

    fn values(&self) -> Option<Values> {
        None
    }

    fn value(&self, _: VertexId) -> Value {
        Value::Missing
    }

    fn facts(&self, _: usize) -> Vec<(&'static str, Fact)> {
        vec![("triangles", Fact::Count(self.state.map_or(0, |state| state.0)))]
    }
}

/// Local clustering coefficients.
#[derive(Default)]
pub(super) struct Clustering {
    state: Option<LiveClustering>,
}

impl Clustering {
    /// The state of a graph with `n` vertices from its words.
    fn of_words(n: usize, words: &[Vec<u64>]) -> Option<LiveClustering> {
        let [linked, neighbours, rest] = words else { return None };
        let neighbours = values_of(neighbours, n, n as u64).filter(|numbers| !numbers.contains(&NONE))?;
        let &[triangles, directed @ (0 | 1)] = &rest[..] else { return None };
        LiveClustering::of_counts(directed == 1, n, linked.clone(), neighbours, triangles)
    }

    fn coefficients(state: &LiveClustering) -> Values {
        Values::Float((0..state.num_vertices()).map(|v| state.coefficient(vertex(v))).collect())
    }
}

impl Live for Clustering {
    fn bytes(&self, n: usize) -> u64 {
        LiveClustering::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let graph = at.view.graph::<()>(at.run)?;
        let found = lcc(&graph, at.run, &LccOptions::default())?;
        self.state = Some(LiveClustering::new(&graph, at.run, &found)?);
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        updated_within::<_, ()>(&mut self.state, at, change, deadline, read_max(at), LiveClustering::update)
    }

    fn num_words(&self, n: usize) -> usize {
        2 * n + 2
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        self.state.as_ref().map(|state| {
            let (linked, neighbours, triangles) = state.counts();
            vec![linked.to_vec(), words_of(neighbours), vec![triangles, state.is_directed().into()]]
        })
    }

    fn restore(&mut self, at: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        let state = Self::of_words(at.view.version().num_vertices(), words);
        self.state = state.filter(|state| state.is_directed() == at.view.version().is_directed());
        Ok(self.state.is_some())
    }

    fn shown(&self, words: &[Vec<u64>]) -> Option<Values> {
        Self::of_words(words.first()?.len(), words).as_ref().map(Self::coefficients)
    }

    fn values(&self) -> Option<Values> {
        self.state.as_ref().map(Self::coefficients)
    }

    fn value(&self, v: VertexId) -> Value {
        self.state.as_ref().map_or(Value::Missing, |state| Value::Float(state.coefficient(v)))
    }

    fn facts(&self, removed: usize) -> Vec<(&'static str, Fact)> {
        let Some(state) = &self.state else { return Vec::new() };
        let (average, triangles) = (state.average(removed), state.triangles());
        vec![("average", Fact::Float(average)), ("triangles", Fact::Count(triangles))]
    }
}
