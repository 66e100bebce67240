//! Runs of algorithms: apart from requests, one after another, and kept for a while.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use esker::answer::{Answer, AnswerColumn, Fact, Values};
use esker::computation::Computation;
use esker::graph::{Cancel, OnProgress, Progress, Reservation, Run, RunOptions, VertexId};
use esker::session::Selected;
use esker::store::Version;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use super::algorithms::{Wanted, selected};
use super::recipe::{command, python};
use crate::failure::{Failure, Outcome};
use crate::served::Served;
use crate::shape::{Shape, with_safe_numbers};

/// Runs that are kept, those that wait or run included; for a new one the oldest that has ended is forgotten.
const KEPT_MAX: usize = 8;
/// Runs that compute at the same time: one has all threads.
const COMPUTING_MAX: usize = 1;
/// How often a run that waits looks whether it was cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Progress is noted no more often than this: runs have thousands of rounds a second.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// The answer to a request for a run.
pub(crate) const STARTED: Shape = Shape::Object(&[("run", Shape::Text)]);

/// The events of a run. The last is one of `done`, `failed` and `cancelled`.
pub(crate) const EVENTS: Shape = Shape::Events(&[
    ("progress", Shape::Object(&[("part", Shape::Maybe(&Shape::Number)), ("text", Shape::Text)])),
    ("done", DONE),
    ("failed", Shape::Object(&[("message", Shape::Text)])),
    ("cancelled", Shape::Object(&[])),
]);
const DONE: Shape = Shape::Object(&[
    ("seconds", Shape::Number),
    ("figures", Shape::Named(&Shape::Any)),
    ("columns", Shape::List(&Shape::Object(&[("name", Shape::Text), ("type", Shape::Text)]))),
    ("rows", Shape::Count),
    ("edges", Shape::Flag),
    ("notes", Shape::List(&Shape::Text)),
    ("command", Shape::Text),
    ("python", Shape::Text),
]);

/// Where a run is: the name of its newest event, and the data.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) data: Value,
}

impl Event {
    /// Whether no other comes after it.
    pub(crate) fn is_last(&self) -> bool {
        self.name != "progress"
    }

    fn progress(part: Option<f64>, text: &str) -> Self {
        Self { name: "progress", data: json!({ "part": part, "text": text }) }
    }
}

/// A run.
pub(crate) struct Job {
    id: String,
    cancel: Cancel,
    newest: watch::Sender<Event>,
    finished: Mutex<Option<Arc<Finished>>>,
}

/// The answer of a run, and its memory.
pub(crate) struct Finished {
    /// The name of the algorithm.
    pub(crate) algorithm: &'static str,
    pub(crate) answer: Answer,
    pub(crate) version: Version,
    _memory: Reservation,
}

impl Job {
    /// Its events: the newest now, and later ones.
    pub(crate) fn events(&self) -> watch::Receiver<Event> {
        self.newest.subscribe()
    }

    /// Its answer.
    pub(crate) fn finished(&self) -> Outcome<Arc<Finished>> {
        self.finished.lock().clone().ok_or_else(|| {
            let message = "the run has no answer: it has not ended, failed or was cancelled";
            Failure::refused(StatusCode::CONFLICT, "unfinished", message)
        })
    }

    fn has_ended(&self) -> bool {
        self.newest.borrow().is_last()
    }
}

/// All runs that are kept.
pub(crate) struct Runs {
    kept: Mutex<Kept>,
    computing: Arc<Semaphore>,
}

#[derive(Default)]
struct Kept {
    /// Oldest first.
    jobs: VecDeque<Arc<Job>>,
    started: u64,
}

impl Default for Runs {
    fn default() -> Self {
        Self { kept: Mutex::default(), computing: Arc::new(Semaphore::new(COMPUTING_MAX)) }
    }
}

impl Runs {
    /// The run of that name.
    pub(crate) fn find(&self, id: &str) -> Outcome<Arc<Job>> {
        let kept = self.kept.lock();
        kept.jobs.iter().find(|job| job.id == id).cloned().ok_or_else(|| {
            let message = format!("there is no run {id:?}: it was forgotten, or never was");
            Failure::refused(StatusCode::NOT_FOUND, "run_not_found", message)
        })
    }

    /// Cancels a run and forgets it.
    pub(crate) fn forget(&self, id: &str) -> Outcome<()> {
        let job = self.find(id)?;
        job.cancel.cancel();
        self.kept.lock().jobs.retain(|one| one.id != id);
        Ok(())
    }

    /// Cancels all runs.
    pub(crate) fn end(&self) {
        self.kept.lock().jobs.iter().for_each(|job| job.cancel.cancel());
    }

    /// Forgets the oldest run that has ended. Returns whether there was one.
    fn forget_oldest(&self) -> bool {
        let mut kept = self.kept.lock();
        let place = kept.jobs.iter().position(|job| job.has_ended());
        place.is_some_and(|place| kept.jobs.remove(place).is_some())
    }

    /// Begins a run. Returns its name.
    pub(crate) fn start(self: &Arc<Self>, served: &Arc<Served>, wanted: Wanted) -> Outcome<String> {
        let is_full = || self.kept.lock().jobs.len() >= KEPT_MAX;
        while is_full() {
            if !self.forget_oldest() {
                let message = "too many runs wait: cancel one, or wait";
                return Err(Failure::refused(StatusCode::SERVICE_UNAVAILABLE, "busy", message));
            }
        }
        let job = {
            let mut kept = self.kept.lock();
            kept.started += 1;
            let waiting = Event::progress(None, "waiting for other runs");
            let job = Arc::new(Job {
                id: kept.started.to_string(),
                cancel: Cancel::default(),
                newest: watch::Sender::new(waiting),
                finished: Mutex::default(),
            });
            kept.jobs.push_back(Arc::clone(&job));
            job
        };
        let (runs, served, id) = (Arc::clone(self), Arc::clone(served), job.id.clone());
        tokio::spawn(async move {
            let event = runs.ended(&served, &job, wanted).await;
            job.newest.send_replace(event);
        });
        Ok(id)
    }

    /// Waits for its turn and computes. Returns the last event.
    async fn ended(self: &Arc<Self>, served: &Arc<Served>, job: &Arc<Job>, wanted: Wanted) -> Event {
        let permit = loop {
            if job.cancel.is_cancelled() {
                return cancelled();
            }
            if let Ok(Ok(permit)) = timeout(LOOK_EVERY, Arc::clone(&self.computing).acquire_owned()).await {
                break permit;
            }
        };
        let (runs, of_work, job) = (Arc::clone(self), Arc::clone(served), Arc::clone(job));
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let before = esker::check_maps(of_work.path()).map_err(Failure::from);
            let computed = before
                .and_then(|()| esker::guarded(of_work.path(), || runs.compute(&of_work, &job, &wanted)));
            match computed {
                Ok(done) => Event { name: "done", data: with_safe_numbers(done) },
                Err(_) if job.cancel.is_cancelled() => cancelled(),
                Err(failure) => failed(&failure.told(of_work.path()).1["error"]["message"]),
            }
        });
        work.await.unwrap_or_else(|_| failed(&json!("the server met a fault of its own: please report it")))
    }

    fn compute(&self, served: &Served, job: &Arc<Job>, wanted: &Wanted) -> Outcome {
        let name = wanted.entry.name;
        let (told, last) = (Arc::downgrade(job), Mutex::new(None::<Instant>));
        let on_progress: OnProgress = Arc::new(move |progress: Progress<'_>| {
            let mut last = last.lock();
            if last.is_some_and(|last| last.elapsed() < TELL_EVERY) {
                return;
            }
            if let Some(job) = told.upgrade() {
                *last = Some(Instant::now());
                job.newest.send_replace(Event::progress(progress.fraction(), &described(name, &progress)));
            }
        });
        let (cancel, on_progress) = (job.cancel.clone(), Some(on_progress));
        let run = Run::new(RunOptions { cancel, on_progress, ..served.run_options() })?;
        let selecting = wanted.selecting.clone();
        let Selected { view, times, warnings, note } = selected(served, selecting, &run)?;
        let window = times.as_ref().zip(view.window_index().map(|index| *index.window()));
        let computation = Computation::of(wanted.entry, &wanted.params);
        let planned = computation.plan_beside(&view, served.resources(), &run)?;
        let answer = planned.run(&run)?;
        run.check()?;
        let version = view.version().clone();
        let chosen = wanted.selecting.chosen(&version, window)?;
        let (command, python) = (command(served, wanted, &chosen), python(served, wanted, &chosen));
        let notes: Vec<String> = warnings.into_iter().chain(note).collect();
        let done = json!({
            "seconds": answer.seconds,
            "figures": figures(&answer),
            "columns": answer.columns.iter().map(column).collect::<Vec<_>>(),
            "rows": rows_of(&answer),
            "edges": answer.edges.is_some(),
            "notes": notes,
            "command": command,
            "python": python,
        });
        let memory = self.reserved(served, bytes_of(&answer))?;
        *job.finished.lock() = Some(Arc::new(Finished { algorithm: name, answer, version, _memory: memory }));
        Ok(done)
    }

    /// Memory for an answer; older ones are forgotten for it.
    fn reserved(&self, served: &Served, bytes: u64) -> Outcome<Reservation> {
        loop {
            if let Some(reserved) = served.budget().try_reserve(bytes) {
                return Ok(reserved);
            }
            if !self.forget_oldest() {
                return Ok(served.budget().reserve("the answer of the run", bytes)?);
            }
        }
    }
}

fn cancelled() -> Event {
    Event { name: "cancelled", data: json!({}) }
}

fn failed(message: &Value) -> Event {
    Event { name: "failed", data: json!({ "message": message }) }
}

/// `pagerank: round 7, 2048 vertices`.
fn described(name: &str, progress: &Progress<'_>) -> String {
    let Progress { stage, round, active, done } = *progress;
    let stage = if stage.is_empty() { name } else { stage };
    match done {
        Some((done, total)) => format!("{stage}: {done} of {total}"),
        None => format!("{stage}: round {round}, {active} active"),
    }
}

fn figures(answer: &Answer) -> Map<String, Value> {
    let fact = |fact: &Fact| match fact {
        Fact::Count(value) => json!(value),
        Fact::Float(value) => json!(value),
        Fact::Flag(value) => json!(value),
    };
    let facts = answer.facts.iter().map(|(name, value)| ((*name).to_owned(), fact(value)));
    facts.chain([("rounds".to_owned(), json!(answer.rounds))]).collect()
}

fn column(column: &AnswerColumn) -> Value {
    let kind = match column.values {
        _ if column.ranking.is_of_groups() => "group",
        Values::Vertex(_) => "text",
        Values::Index(_) | Values::Integer(_) | Values::Count(_) => "integer",
        Values::Float(_) => "number",
    };
    json!({ "name": column.name, "type": kind })
}

/// The number of rows of an answer.
pub(crate) fn rows_of(answer: &Answer) -> usize {
    let edges = answer.edges.as_ref().map(Vec::len);
    edges.or(answer.columns.first().map(|column| column.values.len())).unwrap_or(0)
}

/// Bytes of an answer in memory.
fn bytes_of(answer: &Answer) -> u64 {
    let columns = answer.columns.iter().map(|column| match &column.values {
        Values::Vertex(values) | Values::Index(values) => size_of_val(values.as_slice()),
        Values::Integer(values) => size_of_val(values.as_slice()),
        Values::Count(values) => size_of_val(values.as_slice()),
        Values::Float(values) => size_of_val(values.as_slice()),
    });
    let vertices = answer.vertices.as_ref().map_or(0, |vertices| size_of_val(&vertices[..]));
    let edges = answer.edges.as_ref().map_or(0, |edges| edges.len() * size_of::<(VertexId, VertexId)>());
    (columns.sum::<usize>() + vertices + edges) as u64
}
