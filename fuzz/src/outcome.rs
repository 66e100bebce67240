//! The outcome of reading an input, when the reader kept its promises.

/// The outcome of reading an input.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The reader accepted it.
    Read {
        /// Number of edges.
        edges: u64,
        /// The reason why the reader left out the first rejected line.
        rejected: Option<String>,
    },
    /// The reader refused it, with this message.
    Refused(String),
}
