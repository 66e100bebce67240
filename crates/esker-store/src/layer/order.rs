//! Work that is done in any order, and handed over in its own.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker_graph::Run;

use crate::error::Result;

/// How often a waiting thread looks for cancellation.
const PATIENCE: Duration = Duration::from_millis(20);

struct Line<T> {
    /// What is handed over next.
    next: usize,
    waiting: BTreeMap<usize, T>,
    is_busy: bool,
    has_failed: bool,
}

/// Makes `0..count` on the threads of `run`, and calls `put` with each in order, while further ones are made. Whoever made one that is
/// due hands over all that are. Nobody goes on who is more than twice the number of threads ahead: so many wait at most.
///
/// # Errors
/// The first error of `make` or `put`; cancellation.
pub(super) fn in_order<T: Send>(
    run: &Run,
    count: usize,
    make: impl Fn(usize) -> Result<T> + Sync,
    put: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let line = Mutex::new(Line { next: 0, waiting: BTreeMap::new(), is_busy: false, has_failed: false });
    let (moved, put) = (Condvar::new(), Mutex::new(put));
    let ahead_max = 2 * run.threads();
    let lock = || -> MutexGuard<'_, Line<T>> { line.lock().unwrap_or_else(PoisonError::into_inner) };
    let deliver = |index: usize, made: T| -> Result<()> {
        let mut line = lock();
        // The one that is due is never waited for here: indices are given out in ascending order.
        while index > line.next + ahead_max && !line.has_failed {
            run.check()?;
            line = moved.wait_timeout(line, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        line.waiting.insert(index, made);
        while !line.is_busy && !line.has_failed {
            let next = line.next;
            let Some(due) = line.waiting.remove(&next) else { break };
            line.is_busy = true;
            drop(line);
            let done = put.lock().unwrap_or_else(PoisonError::into_inner)(due);
            line = lock();
            (line.is_busy, line.next, line.has_failed) = (false, next + 1, done.is_err());
            moved.notify_all();
            done?;
        }
        Ok(())
    };
    let step = |index: usize| {
        let done = make(index).and_then(|made| deliver(index, made));
        if done.is_err() {
            lock().has_failed = true;
            moved.notify_all();
        }
        done
    };
    run.share(count, || (), |(), index| step(index)).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::Error;

    #[test]
    fn what_is_made_is_handed_over_in_order_and_little_waits() {
        for threads in [1, 2, 4] {
            let run = Run::with_threads(threads).unwrap();
            let (made, most, mut seen) = (AtomicUsize::new(0), AtomicUsize::new(0), Vec::new());
            let make = |index: usize| {
                if index.is_multiple_of(10) {
                    // Others go on meanwhile, but not for long.
                    std::thread::sleep(Duration::from_millis(2));
                }
                made.fetch_add(1, Ordering::Relaxed);
                Ok(index)
            };
            in_order(&run, 200, make, |index| {
                most.fetch_max(made.load(Ordering::Relaxed) - seen.len(), Ordering::Relaxed);
                seen.push(index);
                Ok(())
            })
            .unwrap();
            assert!(seen.into_iter().eq(0..200));
            let most = most.into_inner();
            assert!(most <= 3 * threads + 2, "{most} at once with {threads} threads");
        }
    }

    #[test]
    fn a_failure_ends_it() {
        let run = Run::with_threads(3).unwrap();
        let wrong = |index: usize| Error::Invalid(format!("{index} is wrong"));
        let made =
            in_order(&run, 1000, |index| if index == 50 { Err(wrong(index)) } else { Ok(index) }, |_| Ok(()));
        assert_eq!(made.unwrap_err().to_string(), "50 is wrong");
        let put = in_order(&run, 1000, Ok, |index| if index == 70 { Err(wrong(index)) } else { Ok(()) });
        assert_eq!(put.unwrap_err().to_string(), "70 is wrong");
    }
}
