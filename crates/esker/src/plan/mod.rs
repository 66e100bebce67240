//! Chooses the encoding and the residency of a run.
//!
//! The candidates are what the database stores. Of those that fit in memory and suit the algorithm, the plan
//! takes the one with the shortest predicted run ([`Price::seconds`]). Mapped files fit if the whole graph
//! fits beside the algorithm's arrays. The sizes of pools and heads follow from the memory left after fixed
//! costs. If no candidate fits, the plan maps the lists, and the page cache decides which pages stay. The
//! memory limit of the run does not count mapped pages, because the system can take them back; a plan counts
//! them.

use esker_graph::{Language, Setting, message};

mod access_path;
mod price;
mod candidate;
mod windowed;
mod common;
mod residency_entry;
mod residency;
mod needs;
mod report;
mod reached;
#[cfg(test)]
mod tests;

use esker_algo::Estimate;
use esker_graph::{Direction, Run, Stop};
use esker_store::format::MemoryLimit;
use esker_store::headed::Heads;
use esker_store::{Access, GraphEncoding, Residency, View};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::catalogue::{Entry, Params, Resources};
use crate::error::{Error, Result};
use crate::rates::Known;

pub use candidate::{Candidate, Reason, Request, encoding_name};
pub use needs::{PROCESS_BYTES, estimate_on, shape_of};
pub use price::Price;
pub use residency::{RESIDENCIES, name};
pub use residency_entry::ResidencyEntry;

/// What was chosen, why, and from which candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The encoding and residency that were chosen, with the memory for the graph.
    pub access: Access,
    /// Why.
    pub reason: Reason,
    /// Whether the whole graph fits in memory.
    pub fits: bool,
    /// The direction whose lists alone the algorithm reads, or copies of a window; `None`: all.
    pub only: Option<Direction>,
    /// The needs of the algorithm itself, and of a window that is copied to memory.
    pub estimate: Estimate,
    /// Whether the edges of a window are copied to memory.
    pub gathers: bool,
    /// Whether in-lists that are not kept are made in memory, from the copy.
    pub makes_in_lists: bool,
    /// All candidates. Of two that are predicted to take the same time, the first is chosen.
    pub candidates: Vec<Candidate>,
}

impl Resources {
    /// Those of a run: its threads, and the limit of its budget, or that of the machine if it has none.
    ///
    /// ```
    /// use esker::catalogue::Resources;
    /// use esker::graph::{Budget, Run, RunOptions};
    ///
    /// let budget = Budget::new(1 << 30);
    /// let run = Run::new(RunOptions { threads: 2, budget, ..RunOptions::default() })?;
    /// let resources = Resources::of(&run);
    /// assert_eq!((resources.threads, resources.memory.bytes()), (2, 1 << 30));
    /// # Ok::<(), esker::graph::Stop>(())
    /// ```
    pub fn of(run: &Run) -> Self {
        Self::within(MemoryLimit::of_budget(run.budget()), run.threads(), run.deterministic())
    }

    /// Those of runs that are still to start: with so many threads, one a processor if 0, and with the rates
    /// that `esker doctor` measured for the user, if it did.
    pub fn within(memory: MemoryLimit, threads: usize, deterministic: bool) -> Self {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            threads => threads,
        };
        Self { threads, deterministic, memory, rates: Known::of_user().rates }
    }
}

impl Request {
    /// Whether everything is left open.
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses requests that contradict themselves.
    ///
    /// # Errors
    /// [`Error::Usage`] that says what would do.
    pub fn check(&self) -> Result<()> {
        let Some(entry) = self.wanted_residency().map(ResidencyEntry::of) else { return Ok(()) };
        if self.head_len.is_some() && !entry.keeps_heads {
            let headed = Setting::Residency.to(residency::with_heads().name);
            return Err(Error::usage(message![Setting::Head, " needs ", headed, ": only there are heads"]));
        }
        match self.encoding.and_then(|encoding| entry.refuses(encoding)) {
            Some(reason) => Err(Error::usage(reason)),
            None => Ok(()),
        }
    }

    /// The residency; a number of neighbours asks for heads.
    fn wanted_residency(&self) -> Option<Residency> {
        self.residency.or(self.head_len.map(|_| residency::with_heads().residency))
    }

    fn asks_for(&self, candidate: &Candidate) -> bool {
        self.encoding.is_none_or(|wanted| wanted == candidate.encoding)
            && self.wanted_residency().is_none_or(|wanted| wanted == candidate.residency)
    }

    /// The candidates that it asks for; and the copy in memory, if that stands in for all of them.
    fn allowed<'c>(&self, candidates: &'c [Candidate]) -> Vec<&'c Candidate> {
        let asked: Vec<_> = candidates.iter().filter(|one| self.asks_for(one)).collect();
        let is_hindered = asked.iter().all(|one| one.obstacle.is_some());
        if is_hindered && asked.iter().any(|one| one.has_substitute) {
            let is_substitute = |one: &&Candidate| self.asks_for(one) || one.residency == Residency::Memory;
            return candidates.iter().filter(is_substitute).collect();
        }
        asked
    }
}

/// Chooses encoding and residency of a run on a version.
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
/// use esker::catalogue::{Params, Resources, find};
/// use esker::graph::Run;
/// use esker::plan::{Request, plan};
///
/// let (entry, params) = (find("pagerank")?, Params::default());
/// let view = version.view();
/// let resources = Resources::of(&Run::with_threads(1)?);
/// let chosen = plan(&view, entry, &params, &Request::default(), &resources)?;
/// assert!(chosen.fits);
/// let view = chosen.apply(&view)?; // the view, read as the plan says
/// # assert_eq!(view.num_edges(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Stop::OverBudget`] with the limit that would suffice; [`Error::Usage`] for a request that contradicts
/// itself, or options of the algorithm that make no sense; [`esker_store::Error::Invalid`] if the database
/// does not have what is requested.
pub fn plan(
    view: &View,
    entry: &Entry,
    params: &Params,
    request: &Request,
    resources: &Resources,
) -> Result<Plan> {
    request.check()?;
    let view = &needs::with_in_lists(view, entry, params);
    let candidates = needs::candidates(view, entry, params, resources)?;
    let allowed = request.allowed(&candidates);
    let possible = || {
        let is_possible =
            |one: &&Candidate| one.obstacle.is_none() && one.least_bytes <= resources.memory.bytes();
        allowed.iter().copied().filter(is_possible)
    };
    let is_good =
        |one: &&Candidate| one.is_whole(resources) && (one.unsuited.is_none() || !request.is_free());
    let fastest = possible().filter(is_good).min_by(|a, b| a.price.seconds().total_cmp(&b.price.seconds()));
    let Some(chosen) = fastest.or_else(|| possible().next()) else {
        let needed_bytes = |one: &Candidate| one.needed_bytes(&entry.reading(view), request, resources);
        return Err(refusal(entry, &allowed, needed_bytes, resources, view)?);
    };
    let limit = if chosen.is_mapped() { resources.memory.mapped_bytes() } else { resources.memory.bytes() };
    let fits = chosen.whole_bytes <= limit;
    let others_fit = possible().filter(is_good).any(Candidate::is_mapped);
    let reason = match (request.is_free(), chosen.is_mapped()) {
        (false, _) if !request.asks_for(chosen) => Reason::Substitute,
        (false, _) => Reason::Asked,
        (true, true) if fits => Reason::Fits,
        (true, true) => Reason::PageCache,
        (true, false) if chosen.residency == Residency::Memory && view.makes_in_lists() => Reason::InEdges,
        (true, false) if chosen.residency == Residency::Memory => Reason::Copied,
        (true, false) if others_fit => Reason::Faster,
        (true, false) => Reason::Bounded,
    };
    let reading = entry.reading(view);
    let access = chosen.access(&reading, request, resources)?;
    let mut estimate = needs::estimate_as(chosen.path(), view, entry, params, resources)?;
    let can_be_copied = chosen.entry().follows_chains_in(chosen.encoding);
    let gathered = windowed::copied_bytes(view, entry, estimate.memory_bytes)
        .filter(|&bytes| can_be_copied && bytes <= resources.memory.bytes());
    estimate.memory_bytes = gathered.unwrap_or(estimate.memory_bytes);
    let (only, gathers) = (reading.reads_only(), gathered.is_some());
    let makes_in_lists = view.makes_in_lists() && can_be_copied;
    Ok(Plan { access, reason, fits, only, estimate, gathers, makes_in_lists, candidates })
}

/// The least memory limit with which an algorithm runs on a version, in an encoding and residency that the
/// request allows.
///
/// # Errors
/// As [`plan()`], but for its refusals.
pub fn least_bytes(
    view: &View,
    entry: &Entry,
    params: &Params,
    request: &Request,
    resources: &Resources,
) -> Result<u64> {
    let view = &needs::with_in_lists(view, entry, params);
    let candidates = needs::candidates(view, entry, params, resources)?;
    let allowed = request.allowed(&candidates);
    match allowed.into_iter().filter(|one| one.obstacle.is_none()).min_by_key(|one| one.least_bytes) {
        Some(least) => least.needed_bytes(&entry.reading(view), request, resources),
        None => Ok(PROCESS_BYTES),
    }
}

/// The error when no candidate fits.
fn refusal(
    entry: &Entry,
    candidates: &[&Candidate],
    needed_bytes: impl FnOnce(&Candidate) -> Result<u64>,
    resources: &Resources,
    view: &View,
) -> Result<Error> {
    let possible = candidates.iter().filter(|one| one.obstacle.is_none()).min_by_key(|one| one.least_bytes);
    Ok(match possible {
        None => {
            // Every database has lists, so what hinders them is nearer to what the user asks for than the
            // lack of tiles.
            let lists = |one: &&&Candidate| one.encoding == GraphEncoding::Lists;
            let nearest = candidates.iter().find(lists).or(candidates.first());
            let obstacle = nearest.and_then(|one| one.obstacle.clone()).unwrap_or_default();
            Error::Store(esker_store::Error::invalid(obstacle))
        }
        Some(one) => Stop::OverBudget {
            what: if one.is_mapped() {
                entry.name.to_owned()
            } else {
                let (encoding, residency) = (encoding_name(one.encoding), one.entry().name);
                let gathers = !one.entry().follows_chains_in(one.encoding);
                let changed = if gathers { changed(view, one.encoding)? } else { String::new() };
                format!("{} with {residency} {encoding}{changed}", entry.name)
            },
            needed_bytes: needed_bytes(one)?,
            budget_bytes: resources.memory.bytes(),
        }
        .into(),
    })
}

/// What a refusal says of the changes that are in memory beside pools, heads and tiles; nothing if they take
/// less than a MiB.
fn changed(view: &View, encoding: GraphEncoding) -> Result<String> {
    let bytes = needs::changed_bytes(view)?[usize::from(encoding == GraphEncoding::Tiles)];
    Ok(match (bytes >> 20, view.version().stack().layers().len()) {
        (0, _) => String::new(),
        (mib, 1) => format!(" and {mib} MiB of what later versions of its layer changed,"),
        (mib, _) => format!(" and {mib} MiB of changes in later layers, which a merge would join,"),
    })
}

impl Candidate {
    /// The least limit that suffices for what is requested: heads of a requested length take more than the
    /// fixed costs.
    fn needed_bytes(&self, view: &View, request: &Request, resources: &Resources) -> Result<u64> {
        if !self.entry().keeps_heads || request.head_len.is_none() {
            return Ok(self.least_bytes);
        }
        let least = Resources { memory: MemoryLimit::of(self.least_bytes), ..*resources };
        match self.access(view, request, &least) {
            Ok(_) => Ok(self.least_bytes),
            Err(Error::Store(esker_store::Error::Stop(Stop::OverBudget { needed_bytes, .. }))) => {
                Ok(needed_bytes)
            }
            Err(error) => Err(error),
        }
    }

    /// With the memory that the limit leaves next to the fixed costs.
    fn access(&self, view: &View, request: &Request, resources: &Resources) -> Result<Access> {
        (self.entry().open)(self, view, request, resources)
    }
}

impl Plan {
    /// Corrects the rates that are kept for the user by what a run of this plan reached, if they are
    /// doubtful: see [`Known::raise`].
    pub fn learn(&self, view: &View, entry: &Entry, answer: &Answer, threads: usize) {
        if let Some((rate, per_second)) = reached::reached(&self.access, view, entry, answer) {
            Known::learn(rate, per_second, threads);
        }
    }

    /// The chosen candidate.
    pub fn chosen(&self) -> &Candidate {
        let is_chosen = |one: &&Candidate| self.is_choice(one);
        self.candidates.iter().find(is_chosen).expect("the choice is one of the candidates")
    }

    /// Whether a candidate is the chosen one.
    pub fn is_choice(&self, candidate: &Candidate) -> bool {
        (candidate.encoding, candidate.residency) == (self.access.encoding(), self.access.residency())
    }

    /// Bytes of memory that the graph may take; `None` if the page cache decides.
    pub fn graph_memory_bytes(&self) -> Option<u64> {
        let chosen = self.chosen();
        self.access.memory_bytes().or_else(|| (!chosen.is_mapped()).then_some(chosen.graph_bytes))
    }

    /// The version, read with the chosen encoding and residency.
    ///
    /// # Errors
    /// As [`View::resident`].
    pub fn apply(&self, view: &View) -> Result<View> {
        let resident = view.clone().resident(self.access)?.gathered(self.gathers);
        Ok(resident.making_in_lists(self.makes_in_lists).reading(self.only))
    }

    /// The heads that lie in memory; `None` unless lists are headed. Reads where lists begin.
    ///
    /// # Errors
    /// [`Error::Store`] if that cannot be read; cancellation.
    pub fn heads(&self, view: &View, run: &Run) -> Result<Option<Heads>> {
        let Access::Headed(options) = self.access else { return Ok(None) };
        let layer = view.version().complete_layer();
        let needs = view.clone().reading(self.only).headed_needs(run.threads())?;
        Ok(Some(needs.heads(layer, options, run)?))
    }

    /// What was chosen, why, and the candidates, as JSON; `language` has the words for settings.
    ///
    /// # Errors
    /// As [`Plan::heads`].
    pub fn to_json(&self, view: &View, resources: &Resources, language: &dyn Language) -> Result<Value> {
        let heads = self.heads(view, &Run::with_threads(1)?)?;
        Ok(json!({
            "encoding": encoding_name(self.access.encoding()),
            "residency": ResidencyEntry::of(self.access.residency()).name,
            "reason": self.reason.to_string(),
            "fits": self.fits,
            "arrays_bytes": self.estimate.memory_bytes,
            "memory_limit_bytes": resources.memory.bytes(),
            "mapped_limit_bytes": resources.memory.mapped_bytes(),
            "graph_memory_bytes": self.graph_memory_bytes(),
            "predicted": self.chosen().price.to_json(),
            "heads": heads.map(|heads| json!({
                "length": heads.length,
                "share": heads.share,
                "memory_bytes": heads.memory_bytes,
            })),
            "candidates": self.candidates.iter().map(|one| one.to_json(language)).collect::<Vec<_>>(),
        }))
    }
}
