//! The front door: a database that is opened, selected from, computed on and changed, with one memory limit.
//!
//! ```
//! use esker::{Params, Selection, Session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let (file, path) = (directory.path().join("links.csv"), directory.path().join("web.esker"));
//! std::fs::write(&file, "source,target\nblog,wiki\nwiki,docs\ndocs,wiki\n")?;
//! esker::import(&file, &path)?;
//!
//! let session = Session::open(&path)?;
//! let ranks = session.latest()?.run("pagerank", &Params::default())?;
//! assert_eq!(ranks.top(1)?[0].0, "wiki");
//!
//! let (view, params) = (session.view(&Selection::version(1).undirected())?, Params::default());
//! let planned = view.plan("wcc", &params)?; // nothing is read yet
//! assert!(planned.plan.fits);
//! assert_eq!(view.verify("wcc", &params)?.top(1)?.len(), 1); // checked by a serial verifier
//! # Ok(())
//! # }
//! ```

mod options;
mod versions;
mod selection;
mod importing;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use esker_algo::Estimate;
use esker_graph::{Cancel, Run};
use esker_store::format::VersionRecord;
use esker_store::{Batch, Database, DatabaseOptions, Store, View};

use crate::answer::{Answer, Value};
use crate::catalogue::{Params, Resources, find};
use crate::compare::{ComparedAnswers, compare};
use crate::computation::{Computation, Planned};
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::top::top;
use crate::window::Times;

pub use importing::{NewDatabase, import, import_with};
pub use options::SessionOptions;
pub use selection::{LocalSelection, Selected, Selection, WindowSelection, check_all_vertices};
pub use versions::VersionSource;

/// An open database, with the threads and the memory limit of all that is computed on it.
///
/// A session reads the limit once. Plans, runs and commits keep to it.
pub struct Session {
    opened: Opened,
    resources: Resources,
    run: Arc<Run>,
}

/// How the database is open.
enum Opened {
    Reading(Store),
    Writing(Database),
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl Session {
    /// Opens a database for reading, with the defaults of [`SessionOptions`]. Any number of processes may
    /// read, also while one writes. The session shows the versions that there are now.
    ///
    /// # Errors
    /// As [`Store::open`]; if the system refuses threads.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &SessionOptions::default())
    }

    /// The same, with options.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker::import::Input::memory("web.csv", csv)];
    /// # esker::import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// use esker::{MemoryLimit, Session, SessionOptions};
    ///
    /// let options = SessionOptions { threads: 1, ..SessionOptions::within(MemoryLimit::of(64 << 20)) };
    /// let session = Session::open_with(&path, &options)?;
    /// assert_eq!(session.resources().memory.bytes(), 64 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &SessionOptions) -> Result<Self> {
        let run = Arc::new(options.start()?);
        let store = Store::open(path)?.under(Arc::clone(&run));
        Ok(Self { opened: Opened::Reading(store), resources: options.resources(), run })
    }

    /// Opens a database for reading and writing. One process at a time writes; commits draw from the memory
    /// limit.
    ///
    /// # Errors
    /// As [`Database::open`]; if the system refuses threads.
    pub fn open_to_write(path: impl AsRef<Path>, options: &SessionOptions) -> Result<Self> {
        let run = Arc::new(options.start()?);
        let database = DatabaseOptions {
            threads: options.threads,
            budget: run.budget().clone(),
            scratch: false, // Only with the allocator of the command.
            ..DatabaseOptions::default()
        };
        let database = Database::open_under(path, database, &run)?;
        Ok(Self { opened: Opened::Writing(database), resources: options.resources(), run })
    }

    /// Makes a database without vertices and edges, and opens it for writing.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("new.esker");
    /// use esker::{NewDatabase, Params, Session, SessionOptions};
    ///
    /// let created = NewDatabase { edge_properties: vec!["km:f64".parse()?], ..NewDatabase::default() };
    /// let session = Session::create(&path, &created, &SessionOptions::default())?;
    /// let mut batch = session.batch()?;
    /// batch.add_edge("paris", "lyon", &[465.0.into()])?;
    /// let version = session.commit(batch, "the first road")?;
    /// assert_eq!(session.at(&version.to_string())?.num_edges(), 1);
    /// assert_eq!(session.latest()?.run("wcc", &Params::default())?.top(1)?.len(), 1);
    /// session.close()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] if the weight is not declared; if something stands at `path`; as
    /// [`Session::open_to_write`].
    pub fn create(path: impl AsRef<Path>, created: &NewDatabase, options: &SessionOptions) -> Result<Self> {
        created.create(path.as_ref(), options)?;
        Self::open_to_write(path, options)
    }

    /// The directory of the database.
    pub fn path(&self) -> &Path {
        match &self.opened {
            Opened::Reading(store) => store.path(),
            Opened::Writing(database) => database.path(),
        }
    }

    /// Threads, memory limit and rates of its runs.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// The run that all of its computations share: threads, budget, cancellation.
    pub fn run(&self) -> &Arc<Run> {
        &self.run
    }

    fn source(&self) -> &dyn VersionSource {
        match &self.opened {
            Opened::Reading(store) => store,
            Opened::Writing(database) => database,
        }
    }

    /// All versions, oldest first.
    ///
    /// # Errors
    /// As [`Store::versions`].
    pub fn versions(&self) -> Result<Vec<VersionRecord>> {
        Ok(self.source().records()?)
    }

    /// The newest version, as it is stored.
    ///
    /// # Errors
    /// As [`Store::latest`].
    pub fn latest(&self) -> Result<SessionView<'_>> {
        self.view(&Selection::latest())
    }

    /// A version by number, tag or time, as it is stored.
    ///
    /// # Errors
    /// [`esker_store::Error::Invalid`] if there is none; as [`Store::at`].
    pub fn at(&self, version: &str) -> Result<SessionView<'_>> {
        self.view(&Selection::at(version)?)
    }

    /// The view that is selected.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target,sent\n1,2,36\n2,3,72\n3,4,5000\n");
    /// # let file = directory.path().join("mails.csv");
    /// # std::fs::write(&file, csv)?;
    /// # let path = directory.path().join("mails.esker");
    /// # esker::import(&file, &path)?;
    /// use esker::{Params, Selection, Session};
    ///
    /// let session = Session::open(&path)?;
    /// let recent = session.view(&Selection::latest().window("1h")?.filtered("sent>4000")?)?;
    /// assert_eq!(recent.num_edges(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::at`] and [`Selection::of`].
    pub fn view(&self, selection: &Selection) -> Result<SessionView<'_>> {
        let version = self.source().selected(selection.selector())?;
        Ok(SessionView { session: self, selected: selection.of(&version, &self.run)? })
    }

    /// Runs an algorithm on two selections, and compares the answers vertex by vertex, as
    /// [`compare()`] says.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let (file, path) = (directory.path().join("links.csv"), directory.path().join("web.esker"));
    /// # std::fs::write(&file, "source,target\na,b\nb,c\n")?;
    /// # esker::import(&file, &path)?;
    /// use esker::{Params, Selection, Session, SessionOptions, Value};
    ///
    /// let session = Session::open_to_write(&path, &SessionOptions::default())?;
    /// let mut batch = session.batch()?;
    /// batch.add_edge("a", "c", &[])?;
    /// session.commit(batch, "one more")?;
    ///
    /// let (old, new) = (Selection::version(1), Selection::latest());
    /// let found = session.compare("degrees", &Params::default(), &old, &new)?;
    /// let first = found.answer.key(0).to_text(found.version.ids())?;
    /// assert_eq!((first.as_str(), found.answer.columns[2].values.get(0)), ("a", Value::Float(1.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::view`], [`SessionView::run`] and [`compare()`].
    pub fn compare(
        &self,
        algorithm: &str,
        params: &Params,
        a: &Selection,
        b: &Selection,
    ) -> Result<ComparedAnswers> {
        let views = [self.view(a)?, self.view(b)?];
        compare([&views[0], &views[1]], &self.run, |view| Ok(views[view].run(algorithm, params)?.answer))
    }

    /// The handle to write with.
    ///
    /// # Errors
    /// [`Error::Usage`] if the database is open for reading.
    pub fn database(&self) -> Result<&Database> {
        match &self.opened {
            Opened::Writing(database) => Ok(database),
            Opened::Reading(store) => {
                let path = store.path().display();
                Err(Error::usage(format!("{path} is open for reading: open it with Session::open_to_write")))
            }
        }
    }

    /// A batch of changes.
    ///
    /// # Errors
    /// As [`Session::database`].
    pub fn batch(&self) -> Result<Batch> {
        Ok(self.database()?.batch())
    }

    /// Commits a batch durably; returns the number of the version.
    ///
    /// # Errors
    /// As [`Session::database`] and [`Database::commit`].
    pub fn commit(&self, batch: Batch, message: &str) -> Result<u64> {
        Ok(self.database()?.commit(batch, message)?)
    }

    /// Ends the session, and reports errors of work in the background, which dropping it does not.
    ///
    /// # Errors
    /// As [`Database::close`].
    pub fn close(self) -> Result<()> {
        match self.opened {
            Opened::Reading(_) => Ok(()),
            Opened::Writing(database) => Ok(database.close()?),
        }
    }
}

/// A view in a session. It is also a [`View`], for algorithms as functions.
#[derive(Debug)]
pub struct SessionView<'s> {
    session: &'s Session,
    selected: Selected,
}

impl Deref for SessionView<'_> {
    type Target = View;

    fn deref(&self) -> &View {
        &self.selected.view
    }
}

impl SessionView<'_> {
    /// The times of the edges, if there is a window.
    pub fn times(&self) -> Option<&Times> {
        self.selected.times.as_ref()
    }

    /// The view with its times and notes, for longer than the session.
    pub fn into_selected(self) -> Selected {
        self.selected
    }

    /// What a person should know of the selection: conditions that no edge can meet, and why there are no
    /// edges.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.selected.warnings.iter().chain(&self.selected.note).map(String::as_str)
    }

    /// What an algorithm's own arrays take, and what it reads at most.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown algorithm or options that make no sense.
    pub fn estimate(&self, algorithm: &str, params: &Params) -> Result<Estimate> {
        Computation::of(find(algorithm)?, params).estimate(self, &self.session.resources)
    }

    /// Plans a run within what is free of the memory limit of the session: views take some of it. Nothing is
    /// computed yet.
    ///
    /// # Errors
    /// As [`Computation::plan_beside`].
    pub fn plan<'p>(&self, algorithm: &str, params: &'p Params) -> Result<Planned<'p>> {
        let computation = Computation::of(find(algorithm)?, params);
        computation.plan_beside(self, &self.session.resources, &self.session.run)
    }

    /// Runs an algorithm of the catalogue.
    ///
    /// # Errors
    /// As [`Computation::plan`] and [`Computation::run`].
    pub fn run(&self, algorithm: &str, params: &Params) -> Result<SessionAnswer> {
        self.compute(&Computation::of(find(algorithm)?, params))
    }

    /// The same; the answer is checked by the serial verifier of the algorithm.
    ///
    /// # Errors
    /// As [`SessionView::run`]; [`Error::Wrong`].
    pub fn verify(&self, algorithm: &str, params: &Params) -> Result<SessionAnswer> {
        self.compute(&Computation::of(find(algorithm)?, params).verified(true))
    }

    /// Runs a computation, which may ask for an encoding and a residency.
    ///
    /// # Errors
    /// As [`Computation::plan`] and [`Computation::run`].
    pub fn compute(&self, computation: &Computation<'_>) -> Result<SessionAnswer> {
        let run = &self.session.run;
        let planned = computation.plan_beside(self, &self.session.resources, run)?;
        let answer = planned.run(run)?;
        Ok(SessionAnswer { answer, plan: planned.plan, view: planned.view, cancel: run.cancel().clone() })
    }
}

/// An answer in a session, with the plan of its run.
#[derive(Debug)]
pub struct SessionAnswer {
    /// The answer.
    pub answer: Answer,
    /// What was read, and why.
    pub plan: Plan,
    view: View,
    cancel: Cancel,
}

impl Deref for SessionAnswer {
    type Target = Answer;

    fn deref(&self) -> &Answer {
        &self.answer
    }
}

impl SessionAnswer {
    /// The first `count` rows by descending value, or groups by descending size: the external id of each
    /// vertex, or the label of the group, and the value or size. See [`top()`].
    ///
    /// # Errors
    /// If ids cannot be read; cancellation.
    pub fn top(&self, count: usize) -> Result<Vec<(String, Value)>> {
        let ids = self.view.version().ids();
        let rows = top(&self.answer, count, &self.cancel)?;
        rows.into_iter().map(|row| Ok((row.key.to_text(ids)?, row.value))).collect()
    }
}
