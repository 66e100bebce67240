//! Signals: the first Ctrl-C cancels the work, the second ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use esker::graph::{Cancel, Stop};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Exit code after SIGINT, as shells report it.
pub(crate) const EXIT_INTERRUPTED: i32 = 130;

/// How often a signal is looked for: its handler can only set a flag.
const SIGNAL_EVERY: Duration = Duration::from_millis(20);

/// How long after a signal another one may still be part of it: `timeout` sends each twice.
const SAME_SIGNAL: Duration = Duration::from_millis(500);

/// Whether a signal ends the process at once: until work begins that ends in good order.
static NOTHING_BEGUN: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Has SIGINT and SIGTERM end the process with an exit code, as long as it has begun nothing. Called first of all.
pub(crate) fn end_before_work() {
    let nothing_begun = NOTHING_BEGUN.get_or_init(|| Arc::new(AtomicBool::new(true)));
    for signal in [SIGINT, SIGTERM] {
        // If the system refuses it, the signal ends the process as it does without.
        let _ = signal_hook::flag::register_conditional_shutdown(
            signal,
            EXIT_INTERRUPTED,
            Arc::clone(nothing_begun),
        );
    }
}

/// Leaves signals to handlers that were registered since.
pub(crate) fn work_begins() {
    if let Some(nothing_begun) = NOTHING_BEGUN.get() {
        nothing_begun.store(false, Ordering::SeqCst);
    }
}

/// Returns a token that SIGINT, SIGTERM and SIGHUP cancel, for work that then ends in good order. A second signal, some time later, ends the
/// process at once.
///
/// # Errors
/// If the system refuses the signal handlers.
pub(crate) fn stop_on_signals() -> std::io::Result<Cancel> {
    let cancel = Cancel::default();
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    work_begins();
    let token = cancel.clone();
    std::thread::spawn(move || {
        let wait = || {
            while !asked.swap(false, Ordering::Relaxed) {
                std::thread::sleep(SIGNAL_EVERY);
            }
        };
        wait();
        token.cancel();
        std::thread::sleep(SAME_SIGNAL);
        asked.store(false, Ordering::Relaxed);
        wait();
        std::process::exit(EXIT_INTERRUPTED)
    });
    Ok(cancel)
}

/// The token that signals cancel.
static TOKEN: OnceLock<Cancel> = OnceLock::new();

/// The token that signals cancel, once [`cancel_on_signals`] was called.
pub(crate) fn token() -> &'static Cancel {
    TOKEN.get_or_init(Cancel::default)
}

/// An error once a signal has cancelled the work: for loops over rows of output.
///
/// # Errors
/// [`Stop::Cancelled`].
pub(crate) fn check() -> Result<(), Stop> {
    token().check()
}

/// Returns a token that SIGINT, SIGTERM and SIGHUP cancel.
///
/// # Errors
/// If the system refuses the signal handlers.
pub(crate) fn cancel_on_signals() -> std::io::Result<Cancel> {
    let cancel = token().clone();
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Registered before the handler that sets the flag, so that only an earlier signal makes it exit.
        signal_hook::flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED, Arc::clone(&asked))?;
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    work_begins();
    let token = cancel.clone();
    // A signal handler can only set a flag; this thread passes it on to the token.
    std::thread::spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            std::thread::sleep(SIGNAL_EVERY);
        }
        token.cancel();
    });
    Ok(cancel)
}
