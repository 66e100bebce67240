//! The levels of a search, kept for the way back of betweenness.

use esker_graph::{Direction, Graph, Run, Select, Stop, VertexId, vertex};

use crate::algorithm::centrality::path_numbers::COUNT_SCALE;
use crate::primitive::{Frontier, vertex_map};

/// The vertices at one distance.
pub(crate) enum BfsLevel<'a> {
    Small(&'a [VertexId]),
    Large(&'a Frontier),
}

impl BfsLevel<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Small(list) => list.len(),
            Self::Large(frontier) => frontier.len(),
        }
    }

    /// The number of arcs that leave them.
    pub(crate) fn arcs<G: Graph>(&self, graph: &G) -> u64 {
        match self {
            Self::Small(list) => list.iter().map(|&v| graph.degree(Direction::Out, v) as u64).sum(),
            Self::Large(frontier) => frontier.arcs(),
        }
    }

    pub(crate) fn select(&self) -> Select<'_> {
        match self {
            Self::Small(list) => Select::List(list),
            Self::Large(frontier) => frontier.select(),
        }
    }

    /// Calls `f` with each, in parallel unless there are few.
    pub(crate) fn each(&self, run: &Run, f: impl Fn(VertexId) + Sync) -> Result<(), Stop> {
        match self {
            Self::Small(list) => list.iter().for_each(|&v| f(v)),
            Self::Large(frontier) => vertex_map(run, frontier, f)?,
        }
        Ok(())
    }
}

/// The least number of vertices of a level that is stored as a frontier of its own.
pub(crate) const LARGE_LEN_MIN: usize = 1 << 10;

/// The vertices at each distance. Small levels share one array, as there may be as many levels as vertices.
#[derive(Default)]
pub(crate) struct BfsLevels {
    small: Vec<VertexId>,
    /// The length of `small` after each level.
    ends: Vec<VertexId>,
    /// Large levels with their distance.
    large: Vec<(usize, Frontier)>,
    /// The distances of the levels whose numbers of paths were scaled.
    pub(crate) scaled: Vec<VertexId>,
}

impl BfsLevels {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn push(&mut self, level: Frontier) {
        let distance = self.ends.len();
        match level.select() {
            Select::List(list) if list.len() < LARGE_LEN_MIN => self.small.extend_from_slice(list),
            _ => self.large.push((distance, level)),
        }
        self.ends.push(vertex(self.small.len()));
    }

    pub(crate) fn get(&self, distance: usize) -> BfsLevel<'_> {
        if let Ok(at) = self.large.binary_search_by_key(&distance, |large| large.0) {
            return BfsLevel::Large(&self.large[at].1);
        }
        let start = distance.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        BfsLevel::Small(&self.small[start..self.ends[distance] as usize])
    }

    /// The factor by which the numbers of a level were scaled.
    pub(crate) fn scale(&self, distance: usize) -> f64 {
        self.scaled.binary_search(&vertex(distance)).map_or(1.0, |_| COUNT_SCALE)
    }
}
