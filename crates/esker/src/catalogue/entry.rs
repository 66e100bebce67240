//! One algorithm of the catalogue.

use esker_algo::{Estimate, Shape};
use esker_graph::{Direction, Setting, message};
use esker_store::View;
use esker_store::format::MemoryLimit;

use super::job::Job;
use super::option::Opt;
use super::params::Params;
use super::question::Question;
use super::work::Workload;
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::rates::Rates;

/// One algorithm: everything that the command, Python, the planner, tests and documents know of it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// The question that it answers.
    pub question: Question,
    /// The options it has.
    pub options: &'static [Opt],
    /// What it reads of a graph.
    pub reads: GraphReads,
    /// Whether it is defined for undirected graphs only, and refuses others.
    pub undirected: bool,
    /// The columns of its answers, the principal one first. Which of them an answer has depends on the
    /// options.
    pub columns: &'static [&'static str],
    /// The figures of its answers: the names of their facts.
    pub figures: &'static [&'static str],
    /// Whether the rows of its answers are edges.
    pub edges: bool,
    /// The property of an answer that `--verify` checks.
    pub verifies: &'static str,
    pub(super) run: fn(&Job<'_>) -> Result<Answer>,
    pub(super) work: fn(&Params, &Shape) -> Result<Workload>,
    pub(super) estimate: fn(Shape, &Params, &Resources) -> Result<Estimate>,
}

/// What an algorithm reads of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphReads {
    /// The lists.
    pub lists: ListReads,
    /// Whether it reads the weights of edges.
    pub weights: WeightReads,
    /// The order in which it reads lists.
    pub pattern: ReadPattern,
    /// Whether it orders vertices by their external ids.
    pub ids: bool,
    /// Whether vertices without edges change nothing of its answer but rows of their own. Removed vertices
    /// may then stay in the graph, so that lists are read as they are stored; their rows are left out of the
    /// answer.
    pub ignores_isolated: bool,
    /// Whether several edges from one vertex to another count as several, or their weights differ in what
    /// they do. If not, the answer on a window that joins them is that on all edges of the window.
    pub counts_copies: bool,
}

/// Whether an algorithm reads the weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightReads {
    /// Never.
    Never,
    /// Those of a property that the user names; else it takes every edge alike.
    IfChosen,
    /// Where edges have weights.
    Always,
}

/// The directions of lists that an algorithm reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListReads {
    /// Out-lists only.
    Out,
    /// In-lists where they are stored, else out-lists; with weights, both.
    In,
    /// Out-lists, and in-lists where they are stored.
    Both,
    /// Out-lists and in-lists. Where in-lists are not stored, they are made in memory, or read from tiles of
    /// one layer, which hold both.
    BothNeeded,
}

/// The order in which an algorithm reads lists. A plan depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPattern {
    /// Scans of most lists in each round.
    Scans,
    /// The lists of few vertices in most rounds, or few neighbours of each: heads hold most of them, and
    /// tiles are decoded as a whole.
    Few,
    /// Point reads of single lists: tiles hold none and are refused, and heads are of no use.
    Points,
}

impl GraphReads {
    const fn of(lists: ListReads, pattern: ReadPattern) -> Self {
        let (weights, ids, ignores_isolated, counts_copies) = (WeightReads::Never, false, false, false);
        Self { lists, weights, pattern, ids, ignores_isolated, counts_copies }
    }

    /// Scans of lists in these directions, without weights.
    pub(super) const fn scans(lists: ListReads) -> Self {
        Self::of(lists, ReadPattern::Scans)
    }

    /// Few lists a round.
    pub(super) const fn few(lists: ListReads) -> Self {
        Self::of(lists, ReadPattern::Few)
    }

    /// Point reads.
    pub(super) const fn points(lists: ListReads) -> Self {
        Self::of(lists, ReadPattern::Points)
    }

    /// In the order of external ids.
    pub(super) const fn with_ids(self) -> Self {
        Self { ids: true, ..self }
    }

    /// Of an algorithm whose answer for other vertices does not depend on those without edges.
    pub(super) const fn ignoring_isolated(self) -> Self {
        Self { ignores_isolated: true, ..self }
    }

    /// Of an algorithm for which several edges are more than one.
    pub(super) const fn counting_copies(self) -> Self {
        Self { counts_copies: true, ..self }
    }

    /// With weights.
    pub(super) const fn weighted(self) -> Self {
        Self { weights: WeightReads::Always, ..self }
    }

    /// With weights if the user names them.
    pub(super) const fn weighted_if_chosen(self) -> Self {
        Self { weights: WeightReads::IfChosen, ..self }
    }

    /// In words: `out-lists and in-lists, with weights`.
    pub fn describe(&self) -> String {
        let lists = match self.lists {
            ListReads::Out => "out-lists",
            ListReads::In => "in-lists",
            ListReads::Both => "out-lists and in-lists",
            ListReads::BothNeeded => "out-lists and in-lists, both needed",
        };
        let weights = match self.weights {
            WeightReads::Never => "",
            WeightReads::IfChosen if self.lists == ListReads::In => {
                ", with weights chosen also out-lists and weights"
            }
            WeightReads::IfChosen => ", with weights chosen also weights",
            WeightReads::Always => ", with weights",
        };
        let pattern = match self.pattern {
            ReadPattern::Scans => "in scans",
            ReadPattern::Few => "of few vertices in most rounds",
            ReadPattern::Points => "by point reads",
        };
        format!("{lists}{weights}, {pattern}")
    }
}

/// The resources of a run: what estimates and plans depend on besides the graph and the options.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resources {
    /// Worker threads.
    pub threads: usize,
    /// Whether the run is deterministic.
    pub deterministic: bool,
    /// The memory limit.
    pub memory: MemoryLimit,
    /// How fast the machine is.
    pub rates: Rates,
}

impl Entry {
    /// Whether its answers have a row for each vertex or edge, and not figures alone.
    pub fn has_rows(&self) -> bool {
        self.edges || !self.columns.is_empty()
    }

    /// The option of that name.
    pub fn option(&self, name: &str) -> Option<&'static Opt> {
        self.options.iter().find(|option| option.name == name)
    }

    /// Runs the algorithm. Values are by vertex; the caller translates them to external ids.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let read = esker::import::ReadOptions {
    /// #     properties: esker::import::PickProperties::All,
    /// #     ..Default::default()
    /// # };
    /// # let edges = [esker::import::Input::memory("web.csv", csv)];
    /// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
    /// # let version = esker::store::Store::open(&path)?.latest()?;
    /// use esker::answer::Value;
    /// use esker::catalogue::{Job, Params, find};
    /// use esker::graph::Run;
    ///
    /// let run = Run::with_threads(2)?;
    /// let params = Params::default().with("source", "alice");
    /// let view = version.view();
    /// let job = Job { view: &view, run: &run, params: &params, verify: true };
    /// let answer = find("bfs")?.run(&job)?;
    /// let carol = version.ids().find("carol")?;
    /// assert_eq!(answer.columns[0].values.get(carol as usize), Value::Count(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for options that are unknown, missing or make no sense, and for a choice of
    /// weights that the algorithm does not read; what the store or the run reports; [`crate::Error::Wrong`]
    /// if the job asks for verification and it fails.
    pub fn run(&self, job: &Job<'_>) -> Result<Answer> {
        self.check_params(job.params)?;
        self.check_weight(job.view.is_weight_chosen())?;
        // A run of its own counts the rounds of this job alone.
        let run = job.run.begin(self.name, 0)?;
        let view = &self.reading(job.view);
        let job = Job { view, run: &run, ..*job };
        let answer = guarded(view.version().path(), || (self.run)(&job))?;
        Ok(match job.remaining()? {
            Some(remaining) => answer.put_back(remaining),
            None if !job.kept_removed()?.is_empty() => answer.without_removed(view.remaining(&run)?),
            None => answer,
        })
    }

    /// Checks the options of a run: names, values, and that what is required is there.
    ///
    /// # Errors
    /// [`crate::Error::Usage`].
    pub fn check_params(&self, params: &Params) -> Result<()> {
        params.check(self.name, self.options)?;
        params.check_required(self.name, self.options)
    }

    /// Whether a run on this version reads weights, if edges have them.
    pub fn reads_weights(&self, view: &View) -> bool {
        match self.reads.weights {
            WeightReads::Never => false,
            WeightReads::IfChosen => view.asks_for_weights(),
            WeightReads::Always => true,
        }
    }

    /// The version, of which the lists that the algorithm reads take memory and are verified, and whose
    /// removed vertices stay where that changes nothing.
    pub fn reading(&self, view: &View) -> View {
        let only = match self.reads.lists {
            ListReads::Out => Some(Direction::Out),
            ListReads::In if !self.reads_weights(view) => Some(Direction::In),
            ListReads::In | ListReads::Both | ListReads::BothNeeded => None,
        };
        view.clone().reading(only).keeping_removed(self.reads.ignores_isolated)
    }

    /// Whether a run needs the in-lists of a directed graph. Where a graph has none, the plan makes them in
    /// memory.
    pub fn needs_in_lists(&self, params: &Params) -> bool {
        let asks = |option: &Opt| {
            params.all(option.name).iter().any(|value| option.in_lists.contains(&value.as_str()))
        };
        self.reads.lists == ListReads::BothNeeded || self.options.iter().any(asks)
    }

    /// Whether a run refuses directed graphs.
    pub fn needs_undirected(&self, params: &Params) -> bool {
        let asks = |option: &Opt| {
            params.all(option.name).iter().any(|value| option.undirected.contains(&value.as_str()))
        };
        self.undirected || self.options.iter().any(asks)
    }

    /// Refuses a choice of weights if the algorithm does not read any.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] that says what to do.
    pub fn check_weight(&self, is_chosen: bool) -> Result<()> {
        if is_chosen && self.reads.weights == WeightReads::Never {
            let name = self.name;
            let reason = format!("{name} does not read the weights of edges: run it without ");
            return Err(Error::usage(message![reason, Setting::Weight]));
        }
        Ok(())
    }

    /// How much a run does on a graph of this shape.
    ///
    /// # Errors
    /// As [`Entry::estimate`].
    pub fn work(&self, shape: &Shape, params: &Params) -> Result<Workload> {
        params.check(self.name, self.options)?;
        (self.work)(params, shape)
    }

    /// The memory and reading that a run will need. Required options may be missing.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for options that are unknown or make no sense.
    pub fn estimate(&self, shape: Shape, params: &Params, resources: &Resources) -> Result<Estimate> {
        params.check(self.name, self.options)?;
        (self.estimate)(shape, params, resources)
    }
}
