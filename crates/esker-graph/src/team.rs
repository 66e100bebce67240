//! A team: threads that stay in a run over many short steps, and take part in each without a queue.
//!
//! A thread of a pool that finds no work falls asleep within some microseconds, and waking it takes as long
//! as a short step does. Even while it is awake, a task takes some microseconds from one thread to another
//! through the queues of the pool. A search of a grid has thousands of such steps, one after another. So a
//! run that shares one of them asks its other threads to *watch*: to look at one word of memory, where the
//! thread that leads a step shows it to the others, until there was no step for [`WATCH`].
//!
//! A step has a slot for each other thread of the run, its *members*. A member takes a slot, calls the
//! closure and leaves; no thread waits for a member that did not take one. When the leader has done its own
//! part, it withdraws the slots that are left, and waits only for those who took one. Items of work are
//! handed out one by one ([`crate::Run::share`]), so a leader whose members were set aside by the system has
//! done all items itself by then.
//!
//! Where other programs need the processors, watching takes their time and gains nothing, for the threads do
//! not run when they are needed. A watching thread notices that the system set it aside; then no thread of
//! the run watches for [`PAUSE`].

#![allow(unsafe_code)] // Members call a closure that the leader borrows: see `Team::lead`.

use parking_lot::Mutex;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a thread watches without work.
const WATCH: Duration = Duration::from_micros(100);
/// A thread that does nothing for so long between two looks at the clock was set aside.
const SET_ASIDE: Duration = Duration::from_micros(500);
/// How long no thread watches after the system set one aside.
const PAUSE: Duration = Duration::from_millis(20);
/// Looks at the word of the team between two looks at the clock and at the queues of the pool.
const LOOKS: usize = 32;
/// Looks of a leader at what its members do, before it lets other threads of the machine run between two
/// looks.
const LEADER_LOOKS: usize = 1 << 12;
/// The low bits of the word count free slots, the others steps.
const SLOTS: u64 = u16::MAX as u64;

thread_local! {
    static WATCHES: Cell<bool> = const { Cell::new(false) };
}

/// A value on cache lines of its own: those that write and read its neighbours do not wait for it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct CacheLine<T>(T);

/// What the threads of a pool know of the step that is shared, and of each other.
#[derive(Debug)]
pub(crate) struct Team {
    /// The number of the step and its free slots; no slots between steps.
    word: CacheLine<AtomicU64>,
    /// Members that left the step.
    left: CacheLine<AtomicUsize>,
    /// What a step calls, while it lasts.
    work: AtomicPtr<SharedCall<'static>>,
    /// Whether a thread leads a step.
    is_led: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Short steps so far, those included that were not shared.
    steps: AtomicU64,
    /// Threads that watch.
    present: AtomicUsize,
    /// Threads that were asked to watch and have not come yet.
    asked: AtomicUsize,
    began: Instant,
    /// Microseconds after `began` until which no thread watches.
    paused_until: AtomicU64,
}

/// A thin pointer is to lead to it.
struct SharedCall<'w>(&'w (dyn Fn(usize) + Sync));

impl Default for Team {
    fn default() -> Self {
        Self {
            word: CacheLine::default(),
            left: CacheLine::default(),
            work: AtomicPtr::new(ptr::null_mut()),
            is_led: AtomicBool::new(false),
            panic: Mutex::new(None),
            steps: AtomicU64::new(0),
            present: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
            began: Instant::now(),
            paused_until: AtomicU64::new(0),
        }
    }
}

impl Team {
    /// Notes a short step on a thread of `pool`, and asks the other threads to watch unless they do. Returns
    /// whether they watch or will soon; they do not on a busy machine, nor for a thread of another pool.
    pub(crate) fn step(self: &Arc<Self>, pool: &rayon::ThreadPool) -> bool {
        // Two computations of one run may lose a step between them, which does no harm.
        self.steps.store(self.steps.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        let others = pool.current_num_threads() - 1;
        if self.others_present() + self.asked.load(Ordering::Relaxed) >= others {
            return true;
        }
        let paused = || self.microseconds() < self.paused_until.load(Ordering::Relaxed);
        if pool.current_thread_index().is_none() || paused() {
            return false;
        }
        self.ask(pool);
        true
    }

    /// Asks all other threads of `pool` to watch.
    fn ask(self: &Arc<Self>, pool: &rayon::ThreadPool) {
        let (others, own) = (pool.current_num_threads() - 1, pool.current_thread_index());
        if self.asked.compare_exchange(0, others, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let team = Arc::clone(self);
            pool.spawn_broadcast(move |thread| {
                // The calling thread comes here when its computation is done.
                if Some(thread.index()) != own {
                    team.asked.fetch_sub(1, Ordering::Relaxed);
                    team.watch();
                }
            });
        }
    }

    /// Threads that watch, besides this one: a thread that watches may have taken over the computation that
    /// leads a step.
    fn others_present(&self) -> usize {
        self.present.load(Ordering::SeqCst).saturating_sub(usize::from(WATCHES.get()))
    }

    fn microseconds(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }

    /// Calls `work(0)` here and `work(1..workers)` on those other threads of the pool that come while it
    /// lasts; each number at most once. Returns false, without a call, unless all of them watch, the calling
    /// thread is of the pool, and no other leads a step.
    ///
    /// # Panics
    /// If a call panics; after all calls have ended.
    pub(crate) fn lead(
        self: &Arc<Self>,
        pool: &rayon::ThreadPool,
        workers: usize,
        work: &(dyn Fn(usize) + Sync),
    ) -> bool {
        let others = pool.current_num_threads() - 1;
        let slots = workers as u64 - 1;
        let can_lead =
            self.others_present() >= others && slots <= SLOTS && pool.current_thread_index().is_some();
        if !can_lead || self.is_led.swap(true, Ordering::Acquire) {
            return false;
        }
        let work = SharedCall(work);
        self.work.store(ptr::from_ref(&work).cast_mut().cast(), Ordering::Relaxed);
        self.left.0.store(0, Ordering::Relaxed);
        let number = (self.word.0.load(Ordering::Relaxed) | SLOTS).wrapping_add(1);
        self.word.0.store(number | slots, Ordering::SeqCst);
        // Nothing may unwind from here until all members have left.
        let own = catch_unwind(AssertUnwindSafe(|| {
            // A member that stopped watching meanwhile either saw the step or is missed here.
            if self.others_present() < others {
                self.ask(pool);
            }
            (work.0)(0);
        }));
        let free = self.word.0.swap(number, Ordering::AcqRel) & SLOTS;
        self.wait_for((slots - free) as usize);
        let theirs = self.panic.lock().take();
        self.is_led.store(false, Ordering::Release);
        if let Some(panic) = own.err().or(theirs) {
            resume_unwind(panic);
        }
        true
    }

    /// Waits until this many members have left the step.
    fn wait_for(&self, members: usize) {
        let mut looks = 0;
        while self.left.0.load(Ordering::Acquire) < members {
            looks += 1;
            match looks {
                0..LEADER_LOOKS => std::hint::spin_loop(),
                _ => std::thread::yield_now(),
            }
        }
    }

    /// Takes part in the step if it has a free slot. Returns whether it had.
    #[inline]
    fn enter(&self) -> bool {
        let word = self.word.0.load(Ordering::SeqCst);
        let slot = word & SLOTS;
        if slot == 0
            || self.word.0.compare_exchange(word, word - 1, Ordering::AcqRel, Ordering::Relaxed).is_err()
        {
            return false;
        }
        // SAFETY: the slot was taken by the exchange from a word that `lead` stored after `work`, and before
        // it withdrew the slots. It counts the slots taken, and does not return until as many members have
        // left. So what `work` points to and what that borrows live at least until the member is counted
        // below. A word with this number and slots is never stored again.
        let work = unsafe { &*self.work.load(Ordering::Relaxed) };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (work.0)(slot as usize))) {
            self.panic.lock().get_or_insert(panic);
        }
        self.left.0.fetch_add(1, Ordering::Release);
        true
    }

    /// Looks for work until there is none for [`WATCH`].
    fn watch(&self) {
        if WATCHES.replace(true) {
            return;
        }
        self.present.fetch_add(1, Ordering::SeqCst);
        let (mut since, mut steps) = (Instant::now(), self.steps.load(Ordering::Relaxed));
        let mut last = since;
        loop {
            let mut worked = (0..LOOKS).any(|_| {
                std::hint::spin_loop();
                self.enter()
            });
            worked |= rayon::yield_now() == Some(rayon::Yield::Executed);
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
        }
        self.present.fetch_sub(1, Ordering::SeqCst);
        WATCHES.set(false);
        // A leader may have counted on this thread just before.
        self.enter();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
    }

    /// Calls `f` on a thread of the pool while other threads take part in steps, however busy the machine is.
    fn with_members(pool: &rayon::ThreadPool, team: &Arc<Team>, f: impl Fn() + Sync) {
        let others = pool.current_num_threads() - 1;
        let ended = AtomicBool::new(false);
        team.present.store(others, Ordering::Relaxed);
        std::thread::scope(|scope| {
            for _ in 0..others {
                scope.spawn(|| {
                    while !ended.load(Ordering::Relaxed) {
                        team.enter();
                        std::thread::yield_now();
                    }
                });
            }
            let done = catch_unwind(AssertUnwindSafe(|| pool.install(&f)));
            ended.store(true, Ordering::Relaxed);
            if let Err(panic) = done {
                resume_unwind(panic);
            }
        });
    }

    #[test]
    fn threads_watch_for_a_while_and_leave() {
        let (pool, team) = (pool(2), Arc::new(Team::default()));
        assert!(!team.step(&pool), "the calling thread is not of the pool");
        assert_eq!(team.present.load(Ordering::Relaxed), 0);
        for _ in 0..3 {
            team.paused_until.store(0, Ordering::Relaxed);
            assert!(pool.install(|| team.step(&pool)));
            let began = Instant::now();
            while team.present.load(Ordering::Relaxed) + team.asked.load(Ordering::Relaxed) > 0 {
                assert!(began.elapsed() < Duration::from_secs(60), "they watch for ever");
                std::thread::yield_now();
            }
        }
        team.paused_until.store(u64::MAX, Ordering::Relaxed);
        assert!(!pool.install(|| team.step(&pool)), "nobody watches in a pause");
    }

    #[test]
    fn each_worker_is_called_at_most_once_a_step_and_none_after_it() {
        let (pool, team) = (pool(3), Arc::new(Team::default()));
        let (shared, members) = (AtomicUsize::new(0), AtomicUsize::new(0));
        with_members(&pool, &team, || {
            for step in 0..1000 {
                let calls = [(); 3].map(|()| AtomicUsize::new(0));
                let ended = AtomicBool::new(false);
                let led = team.lead(&pool, 2 + step % 2, &|worker| {
                    assert!(!ended.load(Ordering::Relaxed), "a call after the step");
                    calls[worker].fetch_add(1, Ordering::Relaxed);
                    // Most steps are over before a member comes.
                    while step % 10 == 0
                        && worker == 0
                        && calls[1..].iter().all(|c| c.load(Ordering::Relaxed) == 0)
                    {
                        std::thread::yield_now();
                    }
                });
                ended.store(true, Ordering::Relaxed);
                let calls = calls.map(|calls| calls.load(Ordering::Relaxed));
                assert_eq!(calls[0], usize::from(led));
                assert!(calls.iter().all(|&calls| calls <= 1));
                assert!(calls[2 + step % 2..].iter().all(|&calls| calls == 0));
                shared.fetch_add(usize::from(led), Ordering::Relaxed);
                members.fetch_add(calls[1..].iter().sum(), Ordering::Relaxed);
            }
        });
        assert_eq!(shared.load(Ordering::Relaxed), 1000);
        assert!(members.load(Ordering::Relaxed) >= 100);
    }

    #[test]
    fn a_panic_of_any_worker_reaches_the_leader_after_all_have_ended() {
        let (pool, team) = (pool(2), Arc::new(Team::default()));
        for panicking in [0, 1, 0, 1] {
            with_members(&pool, &team, || {
                let (began, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let step = || {
                    team.lead(&pool, 2, &|worker| {
                        began.fetch_add(1, Ordering::Relaxed);
                        // The leader waits for its member.
                        while worker == 0 && began.load(Ordering::Relaxed) < 2 {
                            std::thread::yield_now();
                        }
                        ended.fetch_add(1, Ordering::Relaxed);
                        assert!(worker != panicking, "worker {worker}");
                    })
                };
                let panic = catch_unwind(AssertUnwindSafe(step)).expect_err("a worker panics");
                assert_eq!(panic.downcast_ref::<String>(), Some(&format!("worker {panicking}")));
                assert_eq!(ended.load(Ordering::Relaxed), 2);
            });
        }
    }

    #[test]
    fn a_step_within_a_step_is_not_shared() {
        let (pool, team) = (pool(2), Arc::new(Team::default()));
        with_members(&pool, &team, || {
            team.lead(&pool, 2, &|_| assert!(!team.lead(&pool, 2, &|_| panic!("two leaders"))));
        });
    }
}
