//! What a step of a live answer says.

use esker_graph::VertexId;

use crate::answer::Value;

/// A vertex whose value changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Changed {
    /// The vertex.
    pub vertex: VertexId,
    /// Its value before; missing if it was not there or had none.
    pub old: Value,
    /// Its value now; missing if it was removed or has none.
    pub new: Value,
}

/// How a step was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Nothing that the algorithm reads changed.
    Unchanged,
    /// The state was updated.
    Update,
    /// The answer was computed anew.
    Recompute,
}

/// How a live answer chooses its method. Measurements and tests force one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MethodChoice {
    /// The method that should be cheaper.
    #[default]
    Cheaper,
    /// An update wherever there is one.
    Update,
    /// Always a recomputation.
    Recompute,
}

/// What a step from one version to a later one changed.
#[derive(Debug, Clone)]
pub struct FollowStep {
    /// The later version.
    pub version: u64,
    /// The vertices with another value, ascending.
    pub changed: Vec<Changed>,
    /// How it was done.
    pub method: Method,
    /// The number of edges that were added, removed, or given another weight; 0 if all weights got another type.
    pub num_edges: usize,
    /// Seconds for the differences between the versions.
    pub diff_seconds: f64,
    /// Seconds for the update or the recomputation.
    pub seconds: f64,
}
