//! Paths, their lengths, and what is asked of them.

use std::cmp::Ordering;
use std::ops::Add;

use esker_graph::VertexId;
use esker_store::format::PropertyRecord;

/// The length of a path: exact for integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PathLength {
    /// A sum of integers, or a number of steps.
    Whole(i128),
    /// A sum of floats.
    Real(f64),
}

impl PathLength {
    /// No length, of the same kind as `self`.
    pub(super) fn zero(self) -> Self {
        match self {
            Self::Whole(_) => Self::Whole(0),
            Self::Real(_) => Self::Real(0.0),
        }
    }
}

impl PathLength {
    /// What is left of it behind a part, if that is exact.
    pub(super) fn left_of(self, part: Self) -> Option<Self> {
        match (self, part) {
            (Self::Whole(whole), Self::Whole(part)) => Some(Self::Whole(whole - part)),
            _ => None,
        }
    }
}

impl Eq for PathLength {}

impl PartialOrd for PathLength {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PathLength {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(b),
            (a, b) => f64::from(*a).total_cmp(&f64::from(*b)),
        }
    }
}

impl Add for PathLength {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => Self::Whole(a + b),
            (a, b) => Self::Real(f64::from(a) + f64::from(b)),
        }
    }
}

impl From<PathLength> for f64 {
    fn from(length: PathLength) -> Self {
        match length {
            PathLength::Whole(length) => length as Self,
            PathLength::Real(length) => length,
        }
    }
}

/// A path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// Its vertices, both ends included.
    pub vertices: Vec<VertexId>,
    /// The length from its start to each of its vertices; the last is that of the path.
    pub lengths: Vec<PathLength>,
    /// The length of each of its edges, as it is stored.
    pub steps: Vec<PathLength>,
}

impl Path {
    /// Its length.
    pub fn length(&self) -> PathLength {
        self.lengths.last().copied().unwrap_or(PathLength::Whole(0))
    }
}

/// In which direction paths lead over the edges of a directed graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathDirection {
    /// From source to target.
    #[default]
    Along,
    /// From target to source.
    Against,
    /// Either way.
    Either,
}

/// What paths are asked for.
#[derive(Debug, Clone, Copy)]
pub struct PathOptions<'a> {
    /// How many, the shortest first.
    pub count: usize,
    /// The edge property that is the length of an edge; `None`: each edge is one step.
    pub weight: Option<&'a PropertyRecord>,
    /// Which way edges are taken.
    pub direction: PathDirection,
    /// Vertices that no path may meet.
    pub avoid: &'a [VertexId],
    /// The greatest number of edges of a path.
    pub max_steps: Option<usize>,
}

impl Default for PathOptions<'_> {
    /// One path along the edges, by steps.
    fn default() -> Self {
        Self { count: 1, weight: None, direction: PathDirection::default(), avoid: &[], max_steps: None }
    }
}
