//! Questions on threads of their own: bounded in number and time, and cancelled when nobody waits for them.

use std::io::Write;
use std::sync::Arc;

use axum::http::StatusCode;
use esker::graph::{Cancel, Run};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::failure::{Failure, Outcome};
use crate::limits::{ANSWER_BYTES_MAX, ANSWER_TIME_MAX, LONG_QUESTIONS_MAX, QUESTIONS_MAX, WAIT_TIME_MAX};
use crate::served::Served;
use crate::shape::with_safe_numbers;

/// How much a question reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// A few lists or columns.
    Small,
    /// A large part of the graph or of an answer.
    Large,
}

/// The threads that answer questions.
pub(crate) struct Workers {
    free: Arc<Semaphore>,
    /// Those that large questions may take.
    free_for_large: Arc<Semaphore>,
}

impl Default for Workers {
    fn default() -> Self {
        Self {
            free: Arc::new(Semaphore::new(QUESTIONS_MAX)),
            free_for_large: Arc::new(Semaphore::new(LONG_QUESTIONS_MAX)),
        }
    }
}

/// Cancels a question when it is dropped, as hyper does with the future of a client that went away.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Workers {
    /// A place for a question; large ones wait for each other first.
    async fn permits(&self, effort: Effort) -> Option<Vec<OwnedSemaphorePermit>> {
        let mut permits = Vec::new();
        if effort == Effort::Large {
            permits.push(Arc::clone(&self.free_for_large).acquire_owned().await.ok()?);
        }
        permits.push(Arc::clone(&self.free).acquire_owned().await.ok()?);
        Some(permits)
    }

    /// Answers a question on another thread.
    pub(crate) async fn answer<T: Send + 'static>(
        &self,
        served: &Arc<Served>,
        effort: Effort,
        question: impl FnOnce(&Served, &Run) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let Ok(Some(permits)) = timeout(WAIT_TIME_MAX, self.permits(effort)).await else {
            return Err(Failure::refused(
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                "too many questions are being answered: ask again later",
            ));
        };
        let guard = CancelOnDrop(Cancel::default());
        let (served, cancel) = (Arc::clone(served), guard.0.clone());
        let work = tokio::task::spawn_blocking(move || {
            // Until the work has ended, whether or not somebody waits for it.
            let _permits = permits;
            let run = served.question(&cancel);
            esker::check_maps(served.path())?;
            esker::guarded(served.path(), || question(&served, &run))
        });
        match timeout(ANSWER_TIME_MAX, work).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Failure::refused(
                StatusCode::INTERNAL_SERVER_ERROR,
                "fault",
                "the server met a fault of its own: please report it",
            )),
            Err(_) => Err(Failure::refused(
                StatusCode::UNPROCESSABLE_ENTITY,
                "too_long",
                "the answer takes too long: ask for less, or run it as an algorithm",
            )),
        }
    }
}

/// An answer as text, within the greatest size.
pub(crate) fn written(answer: Value) -> Outcome<Vec<u8>> {
    let mut out = Bounded(Vec::new());
    serde_json::to_writer(&mut out, &with_safe_numbers(answer)).map_err(|_| {
        let message = "the answer is too large: ask for less";
        Failure::refused(StatusCode::UNPROCESSABLE_ENTITY, "too_large", message)
    })?;
    Ok(out.0)
}

/// Bytes up to the greatest size of an answer.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > ANSWER_BYTES_MAX {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
