//! What power iterations share.

/// When a power iteration ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iterations {
    /// The change of all scores together at which it ends, divided by the number of vertices.
    pub tolerance: f64,
    /// The most rounds.
    pub rounds_max: usize,
}

/// The root of the sum of squares.
pub(super) fn length(scores: &[f64]) -> f64 {
    scores.iter().map(|score| score * score).sum::<f64>().sqrt()
}
