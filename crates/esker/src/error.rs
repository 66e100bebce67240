//! What can go wrong when algorithms meet the store.

use esker_graph::Stop;

/// An error of the facade.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store's.
    #[error(transparent)]
    Store(#[from] esker_store::Error),
    /// A request that makes no sense: the message says what would.
    #[error("{0}")]
    Usage(String),
    /// The verifier found an answer wrong: a defect of Esker.
    #[error("the answer of {algorithm} is wrong: {reason}; please report this with the graph")]
    Wrong {
        /// The algorithm.
        algorithm: &'static str,
        /// What the verifier found.
        reason: String,
    },
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        Self::Store(stop.into())
    }
}

impl Error {
    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Store(esker_store::Error::Stop(Stop::Cancelled)))
    }
}

/// The facade's result.
pub type Result<T> = std::result::Result<T, Error>;
