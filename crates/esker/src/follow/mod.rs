//! Live answers: the answer of an algorithm for the newest version, kept up to date as versions come.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use esker::catalogue::{Params, find};
//! use esker::follow::Follow;
//! use esker::graph::Run;
//! use esker::store::io::RealDisk;
//! use esker::store::Follower;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let run = Arc::new(Run::with_threads(0)?);
//! let mut database = Follower::open(Arc::new(RealDisk), "web.esker".as_ref(), Arc::clone(&run))?;
//! let newest = database.at(database.newest())?.view();
//! let mut follow = Follow::start(newest, find("wcc")?, &Params::default(), run)?;
//! loop {
//!     database.refresh()?; // what other threads and processes committed
//!     if database.newest() > follow.version() {
//!         let update = follow.advance(database.at(database.newest())?.view())?;
//!         for changed in &update.changed {
//!             println!("{}: {:?} was {:?}", changed.vertex, changed.new, changed.old);
//!         }
//!     }
//! #   break;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A step takes the differences between two versions, at a cost in proportion to what changed, and either
//! updates the state ([`esker_algo::live`]) or computes the answer anew, whichever the costs of earlier steps
//! say is cheaper. The values are those of a recomputation in either case. Algorithms without an update, and
//! windows that join edges, are computed anew at each step.

mod step;
pub mod beginning;
mod points;
mod change;
mod cost;
mod given;
mod live;
mod report;
mod ranking;
mod anew;
mod paths;
mod priorities;
mod corners;
mod answers;
mod kept;

use std::sync::Arc;
use std::time::Instant;

use esker_graph::{Cancel, Reservation, Run, VertexId};
use esker_store::View;
use esker_store::diff::DiffCache;

use crate::answer::{Answer, AnswerColumn, Fact, Value};
use crate::catalogue::{Entry, Params};
use crate::error::Result;
use crate::top::{TopVertex, top};
use anew::Anew;
use answers::live;
pub use answers::updated_names;
use change::{VersionChange, check_same_vertices, extent, is_slide};
use cost::{Choice, CostModel, DifferenceCosts, READ_SECONDS};
use given::set;
use kept::Kept;
pub use kept::KeptValues;
use live::{At, Live, Updated, recompute};
use ranking::LiveTop;
pub use step::{Changed, FollowStep, Method, MethodChoice};
use step::{ahead_of, differing};

/// Bytes of a reported value, and of another while all values are compared.
const VALUE_BYTES: usize = 16;

/// The least seconds of a recomputation that was not timed yet.
const UNTIMED_SECONDS_MIN: f64 = 1.0;

/// If more than one in this many rows changed, or are asked for, the first rows are not kept.
const MANY: usize = 8;

/// A follower that goes on from a state, and why it does not where there was one.
#[derive(Debug, Default)]
pub struct Resumed {
    /// The follower, at the version of the state; `None` if there is no such state.
    pub follow: Option<Follow>,
    /// Why a state that was kept is of no use.
    pub refused: Option<String>,
    /// The values that were shown with it, if its version was forgotten.
    pub forgotten: Option<KeptValues>,
}

/// An answer that follows the versions of a database.
///
/// Memory, from the budget of the run: the state (see `docs/tutorials/follow.md`), 8 bytes a vertex for the
/// values, as much while all are compared, the last report, and what [`DiffCache`] takes of the rest.
pub struct Follow {
    entry: &'static Entry,
    params: Params,
    live: Box<dyn Live>,
    view: View,
    run: Arc<Run>,
    /// The values as reported last.
    answer: Answer,
    /// Their first rows, if they were asked for.
    top: Option<LiveTop>,
    choice: MethodChoice,
    costs: CostModel,
    differences: DifferenceCosts,
    diff_cache: DiffCache,
    /// Whether the state is of the version: not after a step that failed.
    is_whole: bool,
    memory: Reservation,
    /// Of what the last step reported.
    changed_memory: Reservation,
}

impl std::fmt::Debug for Follow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow")
            .field("algorithm", &self.entry.name)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

impl Follow {
    /// Computes the answer for a version.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for an algorithm that answers with edges; as [`Entry::run`].
    pub fn start(view: View, entry: &'static Entry, params: &Params, run: Arc<Run>) -> Result<Self> {
        entry.check_params(params)?;
        entry.check_weight(view.is_weight_chosen())?;
        let live = live(entry, params, &view)?;
        let mut follow = Self::without_values(view, entry, params, run, live)?;
        let begin = Instant::now();
        recompute(follow.live.as_mut(), At { view: &follow.view, run: &follow.run })?;
        let seconds = begin.elapsed().as_secs_f64();
        (follow.costs, follow.differences) = (CostModel::new(seconds), DifferenceCosts::new(seconds));
        follow.take_values()?;
        Ok(follow)
    }

    /// Goes on from the state that [`Follow::keep`] left, if there is one. `newest` is a version with the
    /// window that is followed, at any position; `open` opens a version by its number. The answer is that of
    /// the state's version; [`Follow::advance`] takes it on. A state is refused that is damaged, or whose
    /// version is forgotten or undone; of the former, the values are known: see [`Follow::changed_since`].
    /// It was kept for the same `reader`, a text: who goes on from another's would miss what that was told.
    ///
    /// # Errors
    /// As [`Follow::start`]; a state that cannot be read, or for which the budget has no room.
    pub fn resume(
        newest: &View,
        open: impl FnOnce(u64) -> Result<View>,
        entry: &'static Entry,
        params: &Params,
        reader: &str,
        run: &Arc<Run>,
    ) -> Result<Resumed> {
        let (content, _memory) = match kept::find(newest, entry, params, reader, run)? {
            Kept::State(content, memory) => (content, memory),
            Kept::Nothing => return Ok(Resumed::default()),
            Kept::Refused(refused) => return Ok(Resumed { refused: Some(refused), ..Resumed::default() }),
            Kept::Forgotten(content, memory, refused) => {
                let version = content.version;
                let values = kept::shown(newest, content, entry, params)?;
                let forgotten = values.map(|values| KeptValues::new(version, values, memory));
                return Ok(Resumed { follow: None, refused: Some(refused), forgotten });
            }
        };
        let version = open(content.version)?;
        let Some((at, live)) = kept::restored(version, newest, content, entry, params, run)? else {
            let refused = "the state that was kept does not fit the version to which it belongs".to_owned();
            return Ok(Resumed { refused: Some(refused), ..Resumed::default() });
        };
        let follow = Self::of_state(at, entry, params, Arc::clone(run), live)?;
        Ok(Resumed { follow: Some(follow), ..Resumed::default() })
    }

    /// The vertices whose values are others than those of a version that was forgotten.
    pub fn changed_since(&self, forgotten: &KeptValues) -> Vec<Changed> {
        let column = self.answer.columns.first();
        column.map_or_else(Vec::new, |column| differing(forgotten.values(), &column.values).collect())
    }

    /// Keeps the state of the answer in the directory of the database, durably, for [`Follow::resume`] with
    /// the same reader. Returns whether it can be kept. After a window moved so far that its answer was
    /// computed without a state, the state is computed first.
    ///
    /// # Errors
    /// [`esker_store::Error::Io`]; [`esker_store::Error::Stop`] if the budget has no room for a copy of it;
    /// [`esker_store::Error::Invalid`] after a step that failed; as [`Follow::start`] where it computes.
    pub fn keep(&self, reader: &str) -> Result<bool> {
        if !self.is_whole {
            let message = "a step of the live answer failed, so its state is of no version: follow it anew";
            return Err(esker_store::Error::invalid(message.to_owned()).into());
        }
        let at = At { view: &self.view, run: &self.run };
        if self.live.updates() {
            return kept::keep(self.live.as_ref(), self.entry, &self.params, reader, at);
        }
        let mut live = live(self.entry, &self.params, &self.view)?;
        if !live.updates() {
            return Ok(false);
        }
        let bytes = live.bytes(self.view.version().num_vertices());
        let _memory = self.run.budget().reserve("a state of a live answer, to keep it", bytes)?;
        recompute(live.as_mut(), at)?;
        kept::keep(live.as_ref(), self.entry, &self.params, reader, at)
    }

    /// With a state of the version.
    fn of_state(
        view: View,
        entry: &'static Entry,
        params: &Params,
        run: Arc<Run>,
        live: Box<dyn Live>,
    ) -> Result<Self> {
        let mut follow = Self::without_values(view, entry, params, run, live)?;
        follow.take_values()?;
        Ok(follow)
    }

    fn without_values(
        view: View,
        entry: &'static Entry,
        params: &Params,
        run: Arc<Run>,
        live: Box<dyn Live>,
    ) -> Result<Self> {
        let memory = run.budget().reserve("the state of a live answer", 0)?;
        let changed_memory = run.budget().reserve("the changes of a live answer", 0)?;
        // Until one is timed, a recomputation counts as random reads of all arcs.
        let reads = (view.version().num_vertices() as u64).saturating_add(view.num_arcs());
        let seconds = UNTIMED_SECONDS_MIN.max(reads as f64 * READ_SECONDS);
        let (costs, differences) = (CostModel::new(seconds), DifferenceCosts::new(seconds));
        let (choice, answer, params) = (MethodChoice::default(), Answer::default(), params.clone());
        let mut follow = Self {
            entry,
            params,
            live,
            view,
            run,
            answer,
            top: None,
            choice,
            costs,
            differences,
            diff_cache: DiffCache::default(),
            is_whole: true,
            memory,
            changed_memory,
        };
        follow.reserve()?;
        Ok(follow)
    }

    /// Takes the values and the figures of the state.
    fn take_values(&mut self) -> Result<()> {
        if let Some(mut values) = self.live.values() {
            for &v in self.view.removed(&self.run)?.list() {
                set(&mut values, v, Value::Missing);
            }
            let column = AnswerColumn { name: self.entry.columns[0], values, ranking: self.live.ranking() };
            self.answer.columns = vec![column];
        }
        self.take_facts()
    }

    /// Chooses methods by `choice`.
    #[must_use]
    pub fn with_choice(self, choice: MethodChoice) -> Self {
        Self { choice, ..self }
    }

    /// The algorithm.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The number of the version of the answer.
    pub fn version(&self) -> u64 {
        self.view.version().number()
    }

    /// The view that the answer belongs to.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The answer, with a row for each vertex, also for removed ones, which have no value.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The first `count` rows of the answer, as [`top`] ranks them. The first call ranks all rows; later ones
    /// cost as much as they return, unless most rows changed.
    ///
    /// # Errors
    /// Cancellation.
    pub fn top(&mut self, count: usize, cancel: &Cancel) -> Result<Vec<TopVertex>> {
        let Some(column) = self.answer.columns.first() else { return Ok(Vec::new()) };
        if let Some(first) = self.top.as_ref().and_then(|top| top.first(column, count)) {
            return Ok(first);
        }
        // More rows are not kept than are worth it.
        if count < column.values.len() / MANY {
            self.top = LiveTop::new(column, count, &self.run, cancel)?;
        }
        match self.top.as_ref().and_then(|top| top.first(column, count)) {
            Some(first) => Ok(first),
            None => Ok(top(&self.answer, count, cancel)?),
        }
    }

    fn update_top(&mut self, changed: &[Changed]) {
        let many = self.answer.columns.first().map_or(0, |column| column.values.len() / MANY);
        self.top = self.top.take().filter(|_| changed.len() <= many);
        let changed = changed.iter().map(|changed| (changed.vertex, changed.old, changed.new));
        self.top = self.top.take().and_then(|mut top| top.update(changed).then_some(top));
    }

    /// Whether steps may be updates, and not all recomputations.
    pub fn updates(&self) -> bool {
        self.live.updates()
    }

    /// Takes the answer to a later version of the same database, or to another window.
    ///
    /// # Errors
    /// As [`Entry::run`]. The answer is of no version then: start anew.
    pub fn advance(&mut self, to: View) -> Result<FollowStep> {
        self.is_whole = false;
        let step = self.advance_to(to)?;
        self.is_whole = true;
        Ok(step)
    }

    fn advance_to(&mut self, to: View) -> Result<FollowStep> {
        if !to.version().continues(self.view.version()) {
            check_same_vertices(&self.view, &to)?;
            self.live = live(self.entry, &self.params, &to)?;
            return self.advance_anew(to);
        }
        let is_window = to.window_index().is_some();
        if self.live.is_weighted() {
            to.expect_weights(&self.run)?;
        }
        let size = extent(&self.view, &to).map_or(0, |(whole, part)| DifferenceCosts::size(whole, part));
        let keeps_weights = !self.live.is_weighted() || to.weight_type() == self.view.weight_type();
        let has_state = self.live.updates() && keeps_weights && is_slide(&self.view, &to);
        let looks = self.differences.looks(self.choice, size, is_window);
        let may_go_without = is_window && (self.live.is_as_run() || !self.live.updates());
        if !looks && may_go_without && !self.differences.measures_again() {
            self.live = Box::new(Anew::new(self.entry, &self.params)?);
        } else if !has_state {
            self.live = live(self.entry, &self.params, &to)?;
        }
        if !(looks && has_state) {
            let step = self.advance_anew(to)?;
            if !looks {
                self.differences.computed_anew(step.seconds);
            }
            return Ok(step);
        }
        let begin = Instant::now();
        let (weighted, time_max) = (self.live.is_weighted(), self.differences.search_time_max(self.choice));
        let change =
            VersionChange::between(&self.view, &to, weighted, &mut self.diff_cache, &self.run, time_max)?;
        let diff_seconds = begin.elapsed().as_secs_f64();
        let step =
            if let Some(change) = change { self.advance_by(to, &change)? } else { self.advance_anew(to)? };
        self.differences.tried(size, diff_seconds + step.seconds);
        Ok(FollowStep { diff_seconds, ..step })
    }

    /// As [`Follow::advance`], to a version with known differences.
    fn advance_by(&mut self, to: View, change: &VersionChange) -> Result<FollowStep> {
        self.view = to;
        self.reserve()?;
        let num_edges = change.num_edges();
        let begin = Instant::now();
        let (method, changed) = self.step(change)?;
        let seconds = begin.elapsed().as_secs_f64();
        self.update_top(&changed);
        self.take_facts()?;
        Ok(FollowStep { version: self.version(), changed, method, num_edges, diff_seconds: 0.0, seconds })
    }

    /// The newer ones of the ascending `versions` of the database; the newest where this one was undone.
    pub fn ahead(&self, versions: impl DoubleEndedIterator<Item = u64>) -> Vec<u64> {
        ahead_of(self.version(), versions)
    }

    /// As [`Follow::advance`], to a version with unknown differences or other weights, or a window far away.
    fn advance_anew(&mut self, to: View) -> Result<FollowStep> {
        let begin = Instant::now();
        self.view = to;
        self.reserve()?;
        let changed = self.step_anew()?;
        // The values may be of another type now, which ranks otherwise.
        self.top = None;
        self.take_facts()?;
        let (version, seconds) = (self.version(), begin.elapsed().as_secs_f64());
        if self.live.updates() {
            self.costs.computed_anew(seconds);
        }
        let method = Method::Recompute;
        Ok(FollowStep { version, changed, method, num_edges: 0, diff_seconds: 0.0, seconds })
    }

    /// Computes the state anew. Returns the vertices whose values changed.
    fn step_anew(&mut self) -> Result<Vec<Changed>> {
        recompute(self.live.as_mut(), At { view: &self.view, run: &self.run })?;
        self.report_all()
    }

    /// Updates or recomputes the state. Returns the vertices whose values changed.
    fn step(&mut self, change: &VersionChange) -> Result<(Method, Vec<Changed>)> {
        let num_edges = change.num_edges();
        if change.is_empty() {
            return Ok((Method::Unchanged, Vec::new()));
        }
        if let Choice::Update { time_max } = self.costs.choice(self.choice, num_edges) {
            let begin = Instant::now();
            let (at, deadline) = (At { view: &self.view, run: &self.run }, begin.checked_add(time_max));
            let changed = match self.live.update(at, change, deadline)? {
                Updated::Done(touched) => Some(self.report(touched, change)?),
                Updated::All => Some(self.report_all()?),
                Updated::Stopped => None,
            };
            self.costs.updated(num_edges, begin.elapsed().as_secs_f64(), changed.is_some());
            if let Some(changed) = changed {
                return Ok((Method::Update, changed));
            }
        }
        let begin = Instant::now();
        let changed = self.step_anew()?;
        let seconds = begin.elapsed().as_secs_f64();
        self.costs.recomputed(num_edges, seconds);
        // Of a window, a recomputation without a state is cheaper.
        if self.view.window_index().is_none() {
            self.differences.recomputed(seconds);
        }
        Ok((Method::Recompute, changed))
    }

    /// The changes of some vertices since the last report.
    fn report(&mut self, mut touched: Vec<VertexId>, change: &VersionChange) -> Result<Vec<Changed>> {
        touched.extend(change.left.iter().chain(&change.came));
        touched.sort_unstable();
        touched.dedup();
        report::reserve(&mut self.changed_memory, &self.run, self.entry.name, touched.len())?;
        let (removed, column) = (self.view.removed(&self.run)?, self.answer.columns.first_mut());
        Ok(column.map_or_else(Vec::new, |column| {
            report::take_some(&mut column.values, self.live.as_ref(), removed, &touched)
        }))
    }

    /// The changes of all vertices since the last report.
    fn report_all(&mut self) -> Result<Vec<Changed>> {
        let removed = self.view.removed(&self.run)?;
        let (column, values) = (self.answer.columns.first_mut(), self.live.values());
        let (Some(column), Some(mut values)) = (column, values) else { return Ok(Vec::new()) };
        removed.list().iter().for_each(|&v| set(&mut values, v, Value::Missing));
        let old = std::mem::replace(&mut column.values, values);
        let count = differing(&old, &column.values).count();
        report::reserve(&mut self.changed_memory, &self.run, self.entry.name, count)?;
        let mut changed = Vec::with_capacity(count);
        changed.extend(differing(&old, &column.values));
        Ok(changed)
    }

    fn take_facts(&mut self) -> Result<()> {
        let removed = self.view.removed(&self.run)?.count();
        self.answer.facts = self.live.facts(removed);
        Ok(())
    }

    /// The figures of the answer.
    pub fn facts(&self) -> &[(&'static str, Fact)] {
        &self.answer.facts
    }

    /// Reserves the memory of the state and of the reported values.
    fn reserve(&mut self) -> Result<()> {
        let n = self.view.version().num_vertices();
        let bytes = self.live.bytes(n) + (n * VALUE_BYTES) as u64;
        if let Some(more) = bytes.checked_sub(self.memory.bytes()).filter(|&more| more > 0) {
            let what = format!("the state of a live {}", self.entry.name);
            self.memory.absorb(self.run.budget().reserve(&what, more)?);
        }
        Ok(())
    }
}
