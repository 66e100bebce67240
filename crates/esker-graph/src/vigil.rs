//! Threads that stay awake between short steps.
//!
//! A thread of a pool that finds no work falls asleep within some microseconds, and waking it takes as long as a short step does. A
//! search of a grid has thousands of such steps, one after another. So a run that shares one of them asks its other threads to watch: to go
//! on looking for work for [`WATCH`] after the last such step.
//!
//! Where other programs need the processors, watching takes their time and gains nothing, for the threads do not run when they are
//! needed. A watching thread notices that it was set aside, and then nobody watches for [`PAUSE`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a thread watches without work.
const WATCH: Duration = Duration::from_micros(100);
/// A thread that does nothing for so long between two looks was set aside.
const SET_ASIDE: Duration = Duration::from_micros(500);
/// How long nobody watches after a thread was set aside.
const PAUSE: Duration = Duration::from_millis(20);

/// What the threads of a pool know of each other's watching.
#[derive(Debug)]
pub(crate) struct Vigil {
    began: Instant,
    /// Threads that watch or were asked to.
    watching: AtomicUsize,
    /// Short steps so far.
    steps: AtomicU64,
    /// Microseconds after `began` until which nobody watches.
    paused_until: AtomicU64,
}

impl Default for Vigil {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            watching: AtomicUsize::new(0),
            steps: AtomicU64::new(0),
            paused_until: AtomicU64::new(0),
        }
    }
}

impl Vigil {
    /// Notes a short step on a thread of `pool`, and asks the other threads to watch unless they do. Returns whether they watch; they do not
    /// on a busy machine, nor for a thread of another pool.
    pub(crate) fn step(self: &Arc<Self>, pool: &rayon::ThreadPool) -> bool {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let others = pool.current_num_threads() - 1;
        if self.watching.load(Ordering::Relaxed) >= others {
            return true;
        }
        let paused = || self.microseconds() < self.paused_until.load(Ordering::Relaxed);
        if pool.current_thread_index().is_none() || paused() {
            return false;
        }
        while self.watching.fetch_add(1, Ordering::Relaxed) < others {
            let vigil = Arc::clone(self);
            pool.spawn(move || vigil.watch());
        }
        self.watching.fetch_sub(1, Ordering::Relaxed);
        true
    }

    fn microseconds(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }

    /// Looks for work until there is none for [`WATCH`].
    fn watch(&self) {
        let (mut since, mut steps) = (Instant::now(), self.steps.load(Ordering::Relaxed));
        let mut last = since;
        loop {
            let worked = rayon::yield_now() == Some(rayon::Yield::Executed);
            let now = Instant::now();
            let steps_now = self.steps.load(Ordering::Relaxed);
            if worked || steps_now != steps {
                (since, steps) = (now, steps_now);
            } else if now - last > SET_ASIDE {
                let until = self.microseconds() + PAUSE.as_micros() as u64;
                self.paused_until.store(until, Ordering::Relaxed);
                break;
            } else if now - since > WATCH {
                break;
            }
            last = now;
            std::hint::spin_loop();
        }
        self.watching.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_watch_for_a_while_and_leave() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads start");
        let vigil = Arc::new(Vigil::default());
        assert!(!vigil.step(&pool), "the calling thread is not of the pool");
        assert_eq!(vigil.watching.load(Ordering::Relaxed), 0);
        for _ in 0..3 {
            assert!(pool.install(|| vigil.step(&pool)));
            let began = Instant::now();
            while vigil.watching.load(Ordering::Relaxed) > 0 {
                assert!(began.elapsed() < Duration::from_secs(60), "they watch for ever");
                std::thread::yield_now();
            }
            // Threads that were set aside make a pause, which this test need not wait for.
            vigil.paused_until.store(0, Ordering::Relaxed);
        }
        vigil.paused_until.store(u64::MAX, Ordering::Relaxed);
        assert!(!pool.install(|| vigil.step(&pool)), "nobody watches in a pause");
    }
}
