//! Ctrl-C: the first sets the cancel token, a second ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use esker::graph::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Exit code after SIGINT, as shells report it.
pub(crate) const EXIT_INTERRUPTED: i32 = 130;

/// A token that is cancelled when the process is asked to end.
///
/// # Errors
/// If the system refuses the handlers.
pub(crate) fn cancel_on_signals() -> std::io::Result<Cancel> {
    let cancel = Cancel::default();
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Registered first, so that it sees the flag as the previous signal left it.
        signal_hook::flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED, Arc::clone(&asked))?;
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    let token = cancel.clone();
    // The handler may only set a flag; this thread carries it over to the token.
    std::thread::spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        token.cancel();
    });
    Ok(cancel)
}
