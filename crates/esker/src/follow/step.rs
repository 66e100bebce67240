//! The result of one step of a live answer.

use esker_graph::{VertexId, vertex};

use crate::answer::{Value, Values};

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
    /// The number of edges that were added, removed, or given another weight; 0 if all weights got another
    /// type.
    pub num_edges: usize,
    /// Seconds for the differences between the versions.
    pub diff_seconds: f64,
    /// Seconds for the update or the recomputation.
    pub seconds: f64,
}

/// The vertices whose values differ. There may be more vertices now.
pub(super) fn differing<'v>(old: &'v Values, new: &'v Values) -> impl Iterator<Item = Changed> + 'v {
    (0..new.len()).filter_map(|v| {
        let old = if v < old.len() { old.get(v) } else { Value::Missing };
        let (vertex, new) = (vertex(v), new.get(v));
        (!old.is_same(new)).then_some(Changed { vertex, old, new })
    })
}

/// The versions after one, ascending; if that was undone and no newer one came, the newest.
pub(super) fn ahead_of(known: u64, versions: impl DoubleEndedIterator<Item = u64>) -> Vec<u64> {
    let mut versions = versions.rev().peekable();
    let Some(&newest) = versions.peek() else { return Vec::new() };
    if newest < known {
        return vec![newest];
    }
    let mut newer: Vec<u64> = versions.take_while(|&number| number > known).collect();
    newer.reverse();
    newer
}
