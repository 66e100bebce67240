//! What becomes of an input that nothing went wrong with.

/// What became of an input.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was read.
    Read {
        /// Number of edges.
        edges: u64,
        /// Reason of the first line that was left out.
        rejected: Option<String>,
    },
    /// It was refused, with this message.
    Refused(String),
}
