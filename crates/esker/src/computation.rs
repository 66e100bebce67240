//! An algorithm on a view: its plan, the view as the plan reads it, and its answer.

use esker_algo::Estimate;
use esker_graph::{Language, Run, Setting, Stop, message};
use esker_store::View;
use serde_json::Value;

use crate::answer::Answer;
use crate::catalogue::{Entry, Job, OptKind, Params, Resources};
use crate::error::{Error, Result};
use crate::plan::{Plan, Request, estimate_on, plan};

/// An algorithm with its options, and how it is to read its graph.
///
/// All runs go this way: [`Computation::plan`] chooses how a view is read, [`Planned::run`] computes.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::catalogue::{Params, Resources, find};
/// use esker::computation::Computation;
/// use esker::graph::Run;
///
/// let (run, params) = (Run::with_threads(1)?, Params::default());
/// let ranks = Computation::of(find("pagerank")?, &params);
/// let planned = ranks.plan(&version.view(), &Resources::of(&run))?;
/// assert!(planned.plan.fits);
/// assert_eq!(planned.run(&run)?.columns[0].values.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Computation<'c> {
    /// The algorithm.
    pub entry: &'static Entry,
    /// Its options.
    pub params: &'c Params,
    /// The wanted encoding and residency.
    pub request: Request,
    /// Whether the serial verifier checks the answer.
    pub verify: bool,
}

impl<'c> Computation<'c> {
    /// Of an algorithm, with everything else left open.
    pub fn of(entry: &'static Entry, params: &'c Params) -> Self {
        Self { entry, params, request: Request::default(), verify: false }
    }

    /// The same, in a wanted encoding or residency.
    #[must_use]
    pub fn reading(self, request: Request) -> Self {
        Self { request, ..self }
    }

    /// The same, with its answer verified.
    #[must_use]
    pub fn verified(self, verify: bool) -> Self {
        Self { verify, ..self }
    }

    /// Refuses what a run on a view would refuse once it reads: options that are missing, vertices and
    /// properties that there are not, a choice of weights that the algorithm does not read, and a directed
    /// graph if it takes none.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker::import::Input::memory("web.csv", csv)];
    /// # esker::import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let version = esker::store::Store::open(&path)?.latest()?;
    /// use esker::catalogue::{Params, find};
    /// use esker::computation::Computation;
    /// use esker::graph::Run;
    ///
    /// let (run, params) = (Run::with_threads(1)?, Params::default().with("source", "nobody"));
    /// let refused = Computation::of(find("bfs")?, &params).check(&version.view(), &run).unwrap_err();
    /// assert!(refused.to_string().contains("nobody"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Computation::run`], but for its memory.
    pub fn check(&self, view: &View, run: &Run) -> Result<()> {
        let Self { entry, params, .. } = self;
        entry.check_params(params)?;
        entry.check_weight(view.is_weight_chosen())?;
        for option in entry.options {
            for value in params.all(option.name) {
                match option.kind {
                    OptKind::Vertex => {
                        view.find_vertex(value, run)?;
                    }
                    OptKind::Property => {
                        view.version().vertex_property(value)?;
                    }
                    OptKind::Integer | OptKind::Float | OptKind::Flag | OptKind::Choice(_) => {}
                }
            }
        }
        let is_directed = view.version().is_directed() && !view.drops_directions();
        if is_directed && entry.needs_undirected(params) {
            let name = entry.name;
            return Err(Stop::unsuitable(message![
                format!("{name} needs an undirected graph: import the edges as undirected, or run it with "),
                Setting::AsUndirected.to(true),
            ])
            .into());
        }
        Ok(())
    }

    /// What the algorithm's own arrays take, and what it reads at most, on a view.
    ///
    /// # Errors
    /// As [`estimate_on`].
    pub fn estimate(&self, view: &View, resources: &Resources) -> Result<Estimate> {
        estimate_on(view, self.entry, self.params, resources)
    }

    /// Plans the run on a view. Nothing is read yet but the shape of the graph.
    ///
    /// # Errors
    /// As [`plan()`].
    pub fn plan(&self, view: &View, resources: &Resources) -> Result<Planned<'c>> {
        let plan = plan(view, self.entry, self.params, &self.request, resources)?;
        Ok(Planned { computation: *self, view: plan.apply(view)?, plan, resources: *resources })
    }

    /// The same within what is free of the budget of a run, beside others that draw from it.
    ///
    /// # Errors
    /// As [`plan()`]; a refusal is one of the whole limit.
    pub fn plan_beside(&self, view: &View, resources: &Resources, run: &Run) -> Result<Planned<'c>> {
        let memory = resources.memory.at_most(run.budget().free_bytes());
        let planned = self.plan(view, &Resources { memory, ..*resources });
        planned.map_err(|error| error.of_whole_limit(run.budget()))
    }

    /// Computes on a view as it is read now, without a plan.
    ///
    /// # Errors
    /// As [`Entry::run`]. A refusal names a limit that suffices for the whole run: a graph that is read as
    /// undirected reserves memory before the algorithm does.
    pub fn run(&self, view: &View, run: &Run) -> Result<Answer> {
        let job = Job { view, run, params: self.params, verify: self.verify };
        self.entry.run(&job).or_else(|error| Err(self.with_whole_need(error, view, run)?))
    }

    fn with_whole_need(&self, error: Error, view: &View, run: &Run) -> Result<Error> {
        Ok(match error {
            Error::Store(esker_store::Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes }))
                if view.drops_directions() =>
            {
                let all = self.estimate(view, &Resources::of(run))?.memory_bytes;
                let needed_bytes = needed_bytes.max(all);
                Stop::OverBudget { what, needed_bytes, budget_bytes }.into()
            }
            other => other,
        })
    }
}

/// A run that is planned: the view, read as the plan says.
#[derive(Debug, Clone)]
pub struct Planned<'c> {
    computation: Computation<'c>,
    /// What was chosen, and why.
    pub plan: Plan,
    /// The view, read as the plan says.
    pub view: View,
    /// The resources that it was planned for.
    pub resources: Resources,
}

impl Planned<'_> {
    /// Computes the answer.
    ///
    /// # Errors
    /// As [`Computation::run`].
    pub fn run(&self, run: &Run) -> Result<Answer> {
        self.computation.run(&self.view, run)
    }

    /// Corrects the rates that are kept for the user by what the run of an answer reached: see
    /// [`Plan::learn`].
    pub fn learn(&self, answer: &Answer, run: &Run) {
        self.plan.learn(&self.view, self.computation.entry, answer, run.threads());
    }

    /// The plan as JSON; `language` has the words for settings.
    ///
    /// # Errors
    /// As [`Plan::to_json`].
    pub fn to_json(&self, language: &dyn Language) -> Result<Value> {
        self.plan.to_json(&self.view, &self.resources, language)
    }
}
