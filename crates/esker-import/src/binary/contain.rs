//! Damage in inputs, as errors that name the file.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::{Arc, Once};

use esker_format::{Error, Result};

use super::region::unusable;

thread_local! {
    /// Whether this thread runs code whose panics become errors.
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of other crates that may panic on damaged input, which nothing short of rewriting it can
/// prevent: a panic becomes an error that names the file. The last resort; what can be checked before is.
///
/// The first call puts a panic hook before the process's own, so that a contained panic prints nothing.
///
/// # Errors
/// What `f` returns, or that it panicked.
pub(super) fn contain<T>(path: &Arc<PathBuf>, f: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IS_CONTAINED.get() {
                previous(info);
            }
        }));
    });
    let before = IS_CONTAINED.replace(true);
    // What `f` leaves half-done is dropped with the panic: callers put nothing back after an error.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    IS_CONTAINED.set(before);
    done.unwrap_or_else(|_| Err(damaged(path, "its contents contradict each other")))
}

/// An error about a damaged input.
pub(super) fn damaged(path: &Arc<PathBuf>, reason: impl std::fmt::Display) -> Error {
    unusable(
        path,
        format!("cannot be decoded: {reason}; it is damaged or of a kind not known: write it again"),
    )
}
