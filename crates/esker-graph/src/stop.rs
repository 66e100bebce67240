//! Why a computation ends without an answer.

use crate::counted::counted;
use crate::message::Message;

/// Why a run ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The cancel token of the run was set.
    #[error("cancelled")]
    Cancelled,
    /// An array would not fit the memory that the run was given.
    #[error(
        "{what} needs {} of memory, but the limit is {}: raise the limit to at least {}",
        amount(*needed_bytes, true),
        amount(*budget_bytes, false),
        amount(*needed_bytes, true)
    )]
    OverBudget {
        /// What was to be allocated.
        what: String,
        /// The limit that would have sufficed.
        needed_bytes: u64,
        /// The limit that the run has.
        budget_bytes: u64,
    },
    /// The graph or the options do not allow the computation.
    #[error("{0}")]
    Unsuitable(Message),
    /// The threads of the run could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

impl Stop {
    /// The graph or the options do not allow the computation, for this reason.
    pub fn unsuitable(reason: impl Into<Message>) -> Self {
        Self::Unsuitable(reason.into())
    }

    /// What it says.
    pub fn message(&self) -> Message {
        match self {
            Self::Unsuitable(reason) => reason.clone(),
            other => other.to_string().into(),
        }
    }
}

/// Bytes for people: in MiB if there are several, rounded so that a limit of what is said would do.
fn amount(bytes: u64, is_needed: bool) -> String {
    let (mib, rest) = (bytes >> 20, bytes % (1 << 20));
    match mib + u64::from(is_needed && rest > 0) {
        ..8 => counted(bytes, "byte", "bytes"),
        mib => format!("{mib} MiB"),
    }
}
