//! How a computation is carried out: its threads, seed, budget, progress and cancellation.

use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::budget::{Budget, Reservation};
use crate::reads::ReadLog;
use crate::stop::Stop;
use crate::team::Team;

/// A flag that stops a run from another thread. Clones share the flag.
///
/// ```
/// use esker_graph::{Cancel, Run, RunOptions, Stop};
///
/// let cancel = Cancel::default();
/// let run = Run::new(RunOptions { threads: 1, cancel: cancel.clone(), ..RunOptions::default() })?;
/// assert!(run.check().is_ok());
/// cancel.cancel(); // from any thread
/// assert!(matches!(run.check(), Err(Stop::Cancelled)));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks whatever runs with this token to stop; it does within 100 ms.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Cancel::cancel`] was called.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// `Err(Stop::Cancelled)` once [`Cancel::cancel`] was called.
    #[inline]
    pub fn check(&self) -> Result<(), Stop> {
        if self.is_cancelled() { Err(Stop::Cancelled) } else { Ok(()) }
    }
}

/// What a progress callback is told at the start of each round, and as parts of the work are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is computed; empty if the run was not told.
    pub stage: &'a str,
    /// Rounds started so far, this one included.
    pub round: usize,
    /// Vertices active in this round, in the algorithm's own sense.
    pub active: usize,
    /// The parts of the stage that are done, and the number of all parts, if that is known.
    pub done: Option<(u64, u64)>,
}

impl Progress<'_> {
    /// How much of the stage is done, 0 to 1, if that is known.
    pub fn fraction(&self) -> Option<f64> {
        self.done.map(|(done, total)| done as f64 / total as f64)
    }
}

/// A callback for progress; called on any thread of the run.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use esker_graph::{Run, RunOptions};
///
/// let told = Arc::new(AtomicUsize::new(0));
/// let count = Arc::clone(&told);
/// let on_progress: esker_graph::OnProgress = Arc::new(move |progress| {
///     count.store(progress.round, Ordering::Relaxed);
/// });
/// let options = RunOptions { threads: 1, on_progress: Some(on_progress), ..RunOptions::default() };
/// let run = Run::new(options)?;
/// run.round(10)?; // algorithms call this at the start of each round
/// assert_eq!(told.load(Ordering::Relaxed), 1);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
pub type OnProgress = Arc<dyn Fn(Progress<'_>) + Send + Sync>;

/// The settings of a [`Run`].
#[derive(Clone, Default)]
pub struct RunOptions {
    /// Worker threads; 0 takes as many as the machine has processors.
    pub threads: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Memory for all large arrays of the run.
    pub budget: Budget,
    /// Whether the answer must not depend on the number of threads or on timing.
    pub deterministic: bool,
    /// The token that stops the run.
    pub cancel: Cancel,
    /// Told of each round, and of parts that are done.
    pub on_progress: Option<OnProgress>,
    /// Counts what the run reads past the page cache.
    pub reads: ReadLog,
}

/// A pool of threads and the settings under which an algorithm computes on it.
///
/// One run may serve many computations; each is a run of its own while it lasts: see [`Run::begin`]. Threads
/// are its own: the global pool of rayon is never used.
pub struct Run {
    options: RunOptions,
    pool: Arc<rayon::ThreadPool>,
    team: Arc<Team>,
    stage: Arc<Stage>,
    /// Whether the items that [`Run::share`] hands out are the parts of the stage.
    measured: bool,
    /// Bytes reserved for this computation, by itself and by the one that it is a part of.
    reserved_bytes: u64,
    /// The part of those that this computation reserved itself.
    _reservation: Option<Reservation>,
    /// The same run on the calling thread alone; `None` in that one itself.
    single_threaded: Option<Box<Run>>,
}

/// Counts the rounds and parts of a computation, and the rounds of the one that it is a part of.
#[derive(Default)]
struct Stage {
    name: Box<str>,
    rounds: AtomicUsize,
    /// Active vertices in the newest round.
    active: AtomicUsize,
    done: AtomicU64,
    /// Number of parts; 0 if it is not known.
    total: AtomicU64,
    outer: Option<Arc<Stage>>,
}

/// A stage reports its parts no more often than this many times.
const REPORTS_MAX: u64 = 1000;

impl Stage {
    fn within(outer: &Arc<Stage>, name: &str) -> Self {
        Self { name: name.into(), outer: Some(Arc::clone(outer)), ..Self::default() }
    }

    fn count_round(&self, active: usize) {
        if let Some(outer) = &self.outer {
            outer.count_round(active);
        }
        self.rounds.fetch_add(1, Ordering::Relaxed);
        self.active.store(active, Ordering::Relaxed);
    }

    /// Notes that `done` of `total` parts are done, or more. Returns whether that is worth a report.
    fn set_done(&self, done: u64, total: u64) -> bool {
        let step = |done: u64| (u128::from(done) * u128::from(REPORTS_MAX)) / u128::from(total.max(1));
        // Threads come here for every part, so most calls only read what they share.
        if self.total.load(Ordering::Relaxed) != total {
            self.total.store(total, Ordering::Relaxed);
            self.done.store(done, Ordering::Relaxed);
            return true;
        }
        // They may come in another order than they took their parts.
        step(self.done.load(Ordering::Relaxed)) < step(done)
            && step(self.done.fetch_max(done, Ordering::Relaxed)) < step(done)
    }

    /// The outermost stage whose parts are known, else this one.
    fn progress(&self) -> Progress<'_> {
        let mut shown = self;
        let mut next = Some(self);
        while let Some(stage) = next {
            if stage.total.load(Ordering::Relaxed) > 0 {
                shown = stage;
            }
            next = stage.outer.as_deref();
        }
        let total = shown.total.load(Ordering::Relaxed);
        Progress {
            stage: &shown.name,
            round: shown.rounds.load(Ordering::Relaxed),
            active: shown.active.load(Ordering::Relaxed),
            done: (total > 0).then(|| (shown.done.load(Ordering::Relaxed).min(total), total)),
        }
    }
}

impl Run {
    /// Starts the threads.
    ///
    /// ```
    /// use esker_graph::{Budget, Run, RunOptions};
    ///
    /// let options = RunOptions {
    ///     threads: 2,
    ///     budget: Budget::new(1 << 30), // at most 1 GiB for all large arrays
    ///     deterministic: true,          // the same answer whatever the timing
    ///     ..RunOptions::default()
    /// };
    /// let run = Run::new(options)?;
    /// assert_eq!((run.threads(), run.budget().free_bytes()), (2, 1 << 30));
    /// # Ok::<(), esker_graph::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::Threads`] if the system refuses them.
    pub fn new(options: RunOptions) -> Result<Self, Stop> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads)
            .thread_name(|i| format!("esker-{i}"))
            .build()
            .map_err(|e| Stop::Threads(e.to_string()))?;
        let pool = Arc::new(pool);
        Ok(Self::of(options, pool, Arc::default(), Arc::default(), 0, None))
    }

    fn of(
        options: RunOptions,
        pool: Arc<rayon::ThreadPool>,
        team: Arc<Team>,
        stage: Arc<Stage>,
        reserved_bytes: u64,
        reservation: Option<Reservation>,
    ) -> Self {
        let alone = Self {
            options: options.clone(),
            pool: Arc::clone(&pool),
            team: Arc::clone(&team),
            stage: Arc::clone(&stage),
            measured: false,
            reserved_bytes,
            _reservation: None,
            single_threaded: None,
        };
        let alone = Some(Box::new(alone));
        Self {
            options,
            pool,
            team,
            stage,
            measured: false,
            reserved_bytes,
            _reservation: reservation,
            single_threaded: alone,
        }
    }

    /// A run with `threads` threads and defaults for the rest.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn with_threads(threads: usize) -> Result<Self, Stop> {
        Self::new(RunOptions { threads, ..RunOptions::default() })
    }

    /// Number of worker threads, at least 1.
    pub fn threads(&self) -> usize {
        if self.single_threaded.is_some() { self.pool.current_num_threads() } else { 1 }
    }

    /// This run with one thread, the caller's, whichever that is: for steps too small to share. A scan with
    /// it hands over everything on the calling thread, so visitors need no atomic updates.
    pub fn single_threaded(&self) -> &Self {
        self.single_threaded.as_deref().unwrap_or(self)
    }

    /// Seed of everything random in this run.
    pub fn seed(&self) -> u64 {
        self.options.seed
    }

    /// Whether answers must not depend on threads or timing.
    pub fn deterministic(&self) -> bool {
        self.options.deterministic
    }

    /// What this run has read past the page cache, and so have those that it is a part of.
    pub fn reads(&self) -> &ReadLog {
        &self.options.reads
    }

    /// The token that stops this run.
    pub fn cancel(&self) -> &Cancel {
        &self.options.cancel
    }

    /// Calls `f` on a thread of the run's pool. Everything parallel inside uses that pool.
    ///
    /// A computation of many short rounds should run inside as a whole: a parallel step that begins on a
    /// thread of the pool never waits for another thread to wake up, but does the work itself if none comes.
    pub fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        if self.single_threaded.is_none() {
            return f();
        }
        let (mut f, mut result) = (Some(f), None);
        self.install_pointer(&mut || result = f.take().map(|f| f()));
        result.expect("the pool called the closure")
    }

    /// As [`Run::install`]: the pool sees a pointer, since it makes several kilobytes of code from each
    /// closure.
    fn install_pointer(&self, f: &mut (dyn FnMut() + Send)) {
        self.pool.install(f);
    }

    /// Begins a computation: a run with the same threads and settings that counts its own rounds, and holds
    /// `needed_bytes` of the budget until it is dropped. A computation that is a part of another draws from
    /// the bytes of that one first.
    ///
    /// ```
    /// use esker_graph::{Budget, Run, RunOptions};
    ///
    /// let budget = Budget::new(1000);
    /// let run = Run::new(RunOptions { threads: 1, budget, ..RunOptions::default() })?;
    /// let search = run.begin("a search", 600)?;
    /// assert_eq!(run.budget().free_bytes(), 400);
    /// assert!(search.begin("a part of it", 500).is_ok()); // draws from the 600
    /// assert!(run.begin("another search", 500).is_err());
    /// drop(search);
    /// assert_eq!(run.budget().free_bytes(), 1000);
    /// # Ok::<(), esker_graph::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::OverBudget`] with the limit that would suffice; [`Stop::Cancelled`].
    pub fn begin(&self, what: &str, needed_bytes: u64) -> Result<Self, Stop> {
        let more_bytes = needed_bytes.saturating_sub(self.reserved_bytes);
        let reservation = self.options.budget.reserve(what, more_bytes)?;
        self.check()?;
        let reserved_bytes = needed_bytes.max(self.reserved_bytes);
        let stage = Arc::new(Stage::within(&self.stage, what));
        Ok(self.derived(self.options.clone(), stage, reserved_bytes, Some(reservation)))
    }

    fn derived(
        &self,
        options: RunOptions,
        stage: Arc<Stage>,
        reserved_bytes: u64,
        reservation: Option<Reservation>,
    ) -> Self {
        let (pool, team) = (Arc::clone(&self.pool), Arc::clone(&self.team));
        let mut run = Self::of(options, pool, team, stage, reserved_bytes, reservation);
        if self.single_threaded.is_none() {
            run.single_threaded = None;
        }
        run
    }

    /// This run for one long step: the items that [`Run::share`] hands out, and so the units of a scan, are
    /// the parts that progress callbacks are told of.
    pub fn measured(&self) -> Self {
        let run = self.derived(self.options.clone(), Arc::clone(&self.stage), self.reserved_bytes, None);
        Self { measured: true, ..run }
    }

    /// This run, stopped by another token than its own.
    pub fn stopped_by(&self, cancel: &Cancel) -> Self {
        let options = RunOptions { cancel: cancel.clone(), ..self.options.clone() };
        self.derived(options, Arc::clone(&self.stage), self.reserved_bytes, None)
    }

    /// Begins a round: reports it and returns an error if the run was cancelled.
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    pub fn round(&self, active: usize) -> Result<(), Stop> {
        self.stage.count_round(active);
        self.report();
        self.check()
    }

    /// Notes that `done` of the `total` parts of this computation are done, such as the sources of searches.
    /// Progress callbacks are told so now or in the next round.
    pub fn set_done(&self, done: u64, total: u64) {
        if self.stage.set_done(done, total) {
            self.report();
        }
    }

    fn report(&self) {
        if let Some(report) = &self.options.on_progress {
            report(self.stage.progress());
        }
    }

    /// Rounds begun so far, in this run and in the computations that it began.
    pub fn rounds(&self) -> usize {
        self.stage.rounds.load(Ordering::Relaxed)
    }

    /// The memory that everything large in this run draws from.
    pub fn budget(&self) -> &Budget {
        &self.options.budget
    }

    /// An error if the run was cancelled. Cheap enough for every few thousand edges.
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    #[inline]
    pub fn check(&self) -> Result<(), Stop> {
        self.options.cancel.check()
    }

    /// Hands the numbers `0..count` to the run's threads, each number once, in increasing order of taking;
    /// returns the state of every worker that took part, that of the calling thread first.
    ///
    /// Each worker makes a state with `new_state` and passes it to each call of `work`. Cancellation is
    /// checked before each number. With one thread or one number everything happens on the caller's.
    ///
    /// ```
    /// use esker_graph::{Run, Stop};
    ///
    /// let run = Run::with_threads(2)?;
    /// let sums = run.share(100, || 0, |sum, number| {
    ///     *sum += number;
    ///     Ok::<(), Stop>(())
    /// })?;
    /// assert_eq!(sums.into_iter().sum::<usize>(), 4950); // each worker had a sum of its own
    /// # Ok::<(), esker_graph::Stop>(())
    /// ```
    ///
    /// # Errors
    /// The first error of `work`, or [`Stop::Cancelled`].
    pub fn share<S, E>(
        &self,
        count: usize,
        new_state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
    ) -> Result<Vec<S>, E>
    where
        S: Send,
        E: From<Stop> + Send,
    {
        let items = Items { count, next: AtomicUsize::new(0), failed: AtomicBool::new(false) };
        let workers = self.threads().min(count);
        if workers <= 1 {
            let mut state = new_state();
            items.take(self, &mut |item| work(&mut state, item))?;
            return Ok(vec![state]);
        }
        let done = Mutex::new(((0..workers).map(|_| None).collect::<Vec<_>>(), None));
        self.on_each(workers, &|worker| {
            let mut state = new_state();
            let result = items.take(self, &mut |item| work(&mut state, item));
            let mut done = done.lock();
            match result {
                Ok(()) => done.0[worker] = Some(state),
                Err(error) => done.1 = done.1.take().or(Some(error)),
            }
        });
        match done.into_inner() {
            (states, None) => Ok(states.into_iter().flatten().collect()),
            (_, Some(error)) => Err(error),
        }
    }

    /// Says that the next [`Run::share`] is a step of some ten microseconds that probably follows and
    /// precedes others. Returns whether the threads of the run are awake, and stay so for a while. They are
    /// not on a busy machine, nor for callers outside [`Run::install`].
    pub fn short_step(&self) -> bool {
        self.threads() > 1 && self.team.step(&self.pool)
    }

    /// Calls `work` on `workers` threads with the number of the worker; 0 is the calling thread. A thread
    /// pool makes several kilobytes of code from a closure, and there are hundreds of callers, so the pool
    /// sees a pointer.
    fn on_each(&self, workers: usize, work: &(dyn Fn(usize) + Sync)) {
        self.install(|| {
            if self.team.lead(&self.pool, workers, work) {
                return;
            }
            rayon::scope(|scope| {
                for worker in 1..workers {
                    scope.spawn(move |_| work(worker));
                }
                work(0);
            });
        });
    }

    /// Cuts `0..len` into ranges of about `grain` and shares them as [`Run::share`] does. Ranges begin at
    /// multiples of 64, so that no two workers write to the same word of a bitmap.
    ///
    /// # Errors
    /// The first error of `work`, or [`Stop::Cancelled`].
    pub fn share_ranges<S, E>(
        &self,
        len: usize,
        grain: usize,
        new_state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, Range<usize>) -> Result<(), E> + Sync,
    ) -> Result<Vec<S>, E>
    where
        S: Send,
        E: From<Stop> + Send,
    {
        let grain = grain.next_multiple_of(64).max(64);
        self.share(len.div_ceil(grain), new_state, |state, i| {
            work(state, i * grain..((i + 1) * grain).min(len))
        })
    }
}

/// Numbers that threads take, one after another.
struct Items {
    count: usize,
    next: AtomicUsize,
    failed: AtomicBool,
}

impl Items {
    /// Takes numbers until none is left or one failed. Compiled for each type of error, not for each caller.
    #[inline(never)]
    fn take<E: From<Stop>>(&self, run: &Run, work: &mut dyn FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        let _ending = EndOnPanic(&self.failed);
        while !self.failed.load(Ordering::Relaxed) {
            let item = self.next.fetch_add(1, Ordering::Relaxed);
            if item >= self.count {
                break;
            }
            if run.measured {
                run.set_done(item as u64, self.count as u64);
            }
            let done = run.check().map_err(E::from).and_then(|()| work(item));
            if let Err(error) = done {
                self.failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
            // The last one saves a look at a word that another thread may have written.
            if item + 1 == self.count {
                break;
            }
        }
        Ok(())
    }
}

/// Ends what others do when a thread panics.
struct EndOnPanic<'a>(&'a AtomicBool);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
