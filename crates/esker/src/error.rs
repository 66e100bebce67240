//! Errors of the facade.

use esker_graph::{Budget, Message, Stop};
use esker_store::ErrorKind;

/// An error of the facade.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] esker_store::Error),
    /// An invalid request; the message says what is accepted.
    #[error("{0}")]
    Usage(Message),
    /// The verifier rejected an answer: a bug in Esker.
    #[error("{algorithm} gave a wrong answer: {reason}; this is a bug, please report it with the graph")]
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
    /// Makes an [`Error::Usage`].
    pub fn usage(reason: impl Into<Message>) -> Self {
        Self::Usage(reason.into())
    }

    /// What it is, without its facts.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => error.kind(),
            Self::Usage(_) => ErrorKind::Usage,
            Self::Wrong { .. } => ErrorKind::WrongAnswer,
        }
    }

    /// What it says. `Display` says the same in the words of the library.
    pub fn message(&self) -> Message {
        match self {
            Self::Store(error) => error.message(),
            Self::Usage(reason) => reason.clone(),
            Self::Wrong { .. } => self.to_string().into(),
        }
    }

    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Store(esker_store::Error::Stop(Stop::Cancelled)))
    }

    /// A refusal of what is free in a budget as one of its whole limit.
    pub(crate) fn of_whole_limit(self, budget: &Budget) -> Self {
        let used = budget.limit_bytes() - budget.free_bytes();
        match self {
            Self::Store(esker_store::Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes })) => {
                let (needed_bytes, budget_bytes) = (needed_bytes.saturating_add(used), budget_bytes + used);
                Stop::OverBudget { what, needed_bytes, budget_bytes }.into()
            }
            other => other,
        }
    }

    /// Whether a run needed more memory than its budget had.
    pub(crate) fn is_over_budget(&self) -> bool {
        matches!(self, Self::Store(esker_store::Error::Stop(Stop::OverBudget { .. })))
    }
}

/// Result with the facade's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
