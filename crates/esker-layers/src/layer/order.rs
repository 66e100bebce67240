//! Runs work in parallel, and hands over the results in order.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::time::Duration;

use esker_format::Result;
use esker_graph::Run;

/// Interval at which a waiting thread checks for cancellation.
const PATIENCE: Duration = Duration::from_millis(20);

struct ReorderBuffer<T> {
    /// The index of the next result to hand over.
    next: usize,
    finished: BTreeMap<usize, T>,
    is_busy: bool,
    has_failed: bool,
}

/// Computes items `0..count` with `make` on the threads of `run`, and calls `put` with each in order while
/// later items are computed. The thread that finishes the next item due hands over all consecutive finished
/// items. A thread that is more than twice the number of threads ahead waits, so at most that many results
/// are held.
///
/// # Errors
/// The first error of `make` or `put`; cancellation.
pub(super) fn in_order<T: Send>(
    run: &Run,
    count: usize,
    make: impl Fn(usize) -> Result<T> + Sync,
    put: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let buffer =
        Mutex::new(ReorderBuffer { next: 0, finished: BTreeMap::new(), is_busy: false, has_failed: false });
    let (moved, put) = (Condvar::new(), Mutex::new(put));
    let ahead_max = 2 * run.threads();
    let lock = || -> MutexGuard<'_, ReorderBuffer<T>> { buffer.lock() };
    let deliver = |index: usize, made: T| -> Result<()> {
        let mut buffer = lock();
        // The item that is due never waits here, since indices are given out in ascending order.
        while index > buffer.next + ahead_max && !buffer.has_failed {
            run.check()?;
            moved.wait_for(&mut buffer, PATIENCE);
        }
        buffer.finished.insert(index, made);
        while !buffer.is_busy && !buffer.has_failed {
            let next = buffer.next;
            let Some(due) = buffer.finished.remove(&next) else { break };
            buffer.is_busy = true;
            drop(buffer);
            let done = put.lock()(due);
            buffer = lock();
            (buffer.is_busy, buffer.next, buffer.has_failed) = (false, next + 1, done.is_err());
            moved.notify_all();
            done?;
        }
        Ok(())
    };
    let process = |index: usize| {
        let done = make(index).and_then(|made| deliver(index, made));
        if done.is_err() {
            lock().has_failed = true;
            moved.notify_all();
        }
        done
    };
    run.share(count, || (), |(), index| process(index)).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use esker_format::Error;

    use super::*;

    #[test]
    fn results_arrive_in_order_and_few_are_held() {
        for threads in [1, 2, 4] {
            let run = Run::with_threads(threads).unwrap();
            let (made, most, mut seen) = (AtomicUsize::new(0), AtomicUsize::new(0), Vec::new());
            let make = |index: usize| {
                if index.is_multiple_of(10) {
                    // Other threads run ahead meanwhile, but only up to the limit.
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
            assert!(most <= 3 * threads + 2, "{most} results held at once with {threads} threads");
        }
    }

    #[test]
    fn an_error_of_make_or_put_stops_the_work() {
        let run = Run::with_threads(3).unwrap();
        let wrong = |index: usize| Error::invalid(format!("{index} is wrong"));
        let made =
            in_order(&run, 1000, |index| if index == 50 { Err(wrong(index)) } else { Ok(index) }, |_| Ok(()));
        assert_eq!(made.unwrap_err().to_string(), "50 is wrong");
        let put = in_order(&run, 1000, Ok, |index| if index == 70 { Err(wrong(index)) } else { Ok(()) });
        assert_eq!(put.unwrap_err().to_string(), "70 is wrong");
    }
}
