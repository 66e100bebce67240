//! Signals: the first Ctrl-C cancels the work, the second ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use esker::graph::{Cancel, Stop};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

/// Exit code after SIGINT, as shells report it.
pub(crate) const EXIT_INTERRUPTED: i32 = 130;

/// How often a signal is looked for: its handler can only set a flag.
const SIGNAL_EVERY: Duration = Duration::from_millis(20);

/// How long after a signal another one may still be part of it: `timeout` sends each twice.
const SAME_SIGNAL: Duration = Duration::from_millis(500);

/// The time before work begins that ends in good order.
static EARLY: OnceLock<Early> = OnceLock::new();

/// See [`EARLY`].
#[derive(Debug)]
struct Early {
    /// Whether a signal came.
    asked: Arc<AtomicBool>,
    /// Whether the work has begun.
    has_begun: AtomicBool,
    /// Says that the process was interrupted and ends it.
    end_process: fn() -> !,
}

/// Has SIGINT and SIGTERM end the process with a message and an exit code, as long as it has begun nothing.
/// SIGXFSZ is no signal any more: a write beyond the greatest size of files fails, as on a full disk. Called
/// first of all.
pub(crate) fn end_before_work(end_process: fn() -> !) {
    let early =
        EARLY.get_or_init(|| Early { asked: Arc::default(), has_begun: AtomicBool::new(false), end_process });
    // If the system refuses a handler, the signal ends the process as it does without.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    for signal in [SIGINT, SIGTERM] {
        let _ = signal_hook::flag::register(signal, Arc::clone(&early.asked));
    }
    std::thread::spawn(|| {
        while !early.has_begun.load(Ordering::SeqCst) {
            early.end_if_asked();
            std::thread::sleep(SIGNAL_EVERY);
        }
    });
}

impl Early {
    fn end_if_asked(&self) {
        if self.asked.load(Ordering::SeqCst) {
            (self.end_process)()
        }
    }
}

/// Leaves signals to handlers that were registered since. Ends the process if one came before.
pub(crate) fn work_begins() {
    if let Some(early) = EARLY.get() {
        early.has_begun.store(true, Ordering::SeqCst);
        early.end_if_asked();
    }
}

/// Returns a token that SIGINT, SIGTERM and SIGHUP cancel, for work that then ends in good order. A second
/// signal, some time later, ends the process at once.
///
/// # Errors
/// If the system refuses the signal handlers.
pub(crate) fn stop_on_signals() -> std::io::Result<Cancel> {
    let cancel = Cancel::default();
    watch_signals(cancel.clone())?;
    Ok(cancel)
}

fn watch_signals(token: Cancel) -> std::io::Result<()> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    work_begins();
    // A signal handler can only set a flag; this thread passes it on to the token.
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
        EARLY.get().map_or_else(|| std::process::exit(EXIT_INTERRUPTED), |early| (early.end_process)())
    });
    Ok(())
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

/// As [`stop_on_signals`], of the token that the whole process shares: [`token`].
///
/// # Errors
/// If the system refuses the signal handlers.
pub(crate) fn cancel_on_signals() -> std::io::Result<Cancel> {
    let cancel = token().clone();
    watch_signals(cancel.clone())?;
    Ok(cancel)
}
