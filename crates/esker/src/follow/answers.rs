//! The live answers by name: how each is computed anew, updated, and shown.

use std::time::Instant;

use esker_algo::algorithm::centrality::degrees::{DegreeOf, degrees};
use esker_algo::algorithm::centrality::pagerank::PageRankOptions;
use esker_algo::algorithm::cohesion::kcore::kcore;
use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
use esker_algo::live::{
    BoundedReader, Halt, LiveComponents, LiveCores, LiveDegrees, LivePageRank, LivePageRankOptions,
};
use esker_graph::{NONE, VertexId, vertex};
use esker_store::View;
use esker_store::windows::{Copies, WindowIndex};

use super::anew::Anew;
use super::change::VersionChange;
use super::corners::{Clustering, TrianglesAnswer};
use super::live::{At, Live, Updated, copied, updated, values_of, words_of};
use super::paths;
use super::points::Points;
use super::priorities::{Colours, Mates, Members};
use crate::answer::{Fact, Ranking, Value, Values};
use crate::catalogue::{Entry, Opt, Params, degree_of, rank_options};
use crate::error::Result;

/// The algorithms whose answers are updated, and the options that each update takes. All others are computed
/// anew.
const UPDATED: &[(&str, &[&str])] = &[
    ("wcc", &[]),
    ("bfs", &["source"]),
    ("sssp", &["source"]),
    ("widest", &["source"]),
    ("pagerank", &["damping", "tolerance"]),
    ("colouring", &["passes"]),
    ("mis", &[]),
    ("matching", &["method"]),
    ("triangles", &[]),
    ("lcc", &[]),
    ("degrees", &["direction"]),
    ("kcore", &[]),
];

/// The names of the algorithms whose answers are updated.
pub fn updated_names() -> impl Iterator<Item = &'static str> {
    UPDATED.iter().map(|(name, _)| *name)
}

/// Whether there is an update of an algorithm with some options, on versions as this one.
fn has_update(entry: &Entry, params: &Params, view: &View) -> Result<bool> {
    let Some((_, options)) = UPDATED.iter().find(|(name, _)| *name == entry.name) else { return Ok(false) };
    let is_other = |option: &Opt| params.text(option.name).is_some() && !options.contains(&option.name);
    // Random ties of the vertices of a window go by their numbers in it, which slides change.
    let by_number = ["colouring", "mis", "matching"].contains(&entry.name);
    let is_suitable = |index: &WindowIndex| index.window().copies == Copies::All && !by_number;
    if !view.window_index().is_none_or(is_suitable)
        || view.drops_directions()
        || view.is_filtered()
        || entry.options.iter().any(is_other)
    {
        return Ok(false);
    }
    Ok(match entry.name {
        // Several passes recolour all vertices.
        "colouring" => params.get("passes")? == Some(1),
        // Claims depend on timing.
        "matching" => params.text("method") == Some("priorities"),
        "pagerank" => PageRanks::has_update(params, view)?,
        _ => true,
    })
}

/// The live answer of an algorithm.
pub(super) fn live(entry: &'static Entry, params: &Params, view: &View) -> Result<Box<dyn Live>> {
    if !has_update(entry, params, view)? {
        return Ok(Box::new(Anew::new(entry, params)?));
    }
    match entry.name {
        "bfs" => paths::by_steps(params),
        "sssp" => paths::shortest(params, view),
        "widest" => paths::widest_paths(params, view),
        "colouring" => Ok(Box::new(Colours::default())),
        "kcore" => Ok(Box::new(Cores::default())),
        "mis" => Ok(Box::new(Members::default())),
        "matching" => Ok(Box::new(Mates::default())),
        "triangles" => Ok(Box::new(TrianglesAnswer::default())),
        "lcc" => Ok(Box::new(Clustering::default())),
        "degrees" => Ok(Box::new(DegreesAnswer { of: degree_of(params), state: None })),
        "pagerank" => Ok(Box::new(PageRanks::new(params)?)),
        _ => Ok(Box::new(Components::default())),
    }
}

#[derive(Default)]
struct Components {
    state: Option<LiveComponents>,
}

impl Live for Components {
    fn ranking(&self) -> Ranking {
        Ranking::Groups
    }

    fn bytes(&self, n: usize) -> u64 {
        LiveComponents::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let graph = at.view.graph::<()>(at.run)?;
        self.state = Some(LiveComponents::new(&wcc(&graph, at.run, &WccOptions::default())?.labels));
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        updated::<_, ()>(&mut self.state, at, change, deadline, LiveComponents::update)
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        self.state.as_ref().map(|state| vec![words_of(&state.labels())])
    }

    fn restore(&mut self, at: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        let [labels] = words else { return Ok(false) };
        let n = at.view.version().num_vertices();
        let labels = values_of(labels, n, n as u64);
        // The least vertex of a component is in it.
        let is_least = |&label: &VertexId, labels: &[VertexId]| labels.get(label as usize) == Some(&label);
        let labels = labels.filter(|labels| labels.iter().all(|label| is_least(label, labels)));
        self.state = labels.map(|labels| LiveComponents::new(&labels));
        Ok(self.state.is_some())
    }

    fn shown(&self, words: &[Vec<u64>]) -> Option<Values> {
        let [labels] = words else { return None };
        values_of(labels, labels.len(), labels.len() as u64).map(Values::Vertex)
    }

    fn values(&self) -> Option<Values> {
        self.state.as_ref().map(|state| Values::Vertex(state.labels()))
    }

    fn value(&self, v: VertexId) -> Value {
        let label = self.state.as_ref().map_or(NONE, |state| state.label(v));
        if label == NONE { Value::Missing } else { Value::Vertex(label) }
    }

    fn facts(&self, removed: usize) -> Vec<(&'static str, Fact)> {
        let count = self.state.as_ref().map_or(0, LiveComponents::count);
        vec![("components", Fact::Count((count - removed) as u64))]
    }
}

struct PageRanks {
    options: LivePageRankOptions,
    state: Option<LivePageRank>,
}

impl PageRanks {
    /// Updates are of ranks without weights, and their certificate needs a damping below 1 and a tolerance.
    fn has_update(params: &Params, view: &View) -> Result<bool> {
        let LivePageRankOptions { damping, tolerance } = Self::new(params)?.options;
        Ok(!view.is_weight_chosen() && damping < 1.0 && tolerance > 0.0)
    }

    fn new(params: &Params) -> Result<Self> {
        let PageRankOptions { damping, tolerance, .. } = rank_options(params)?;
        Ok(Self { options: LivePageRankOptions { damping, tolerance }, state: None })
    }
}

/// Residuals are pushed along the lists of one part of the graph in this many; more are corrected by scans,
/// which read a list much faster.
const PUSHED_PARTS: u64 = 64;

impl Live for PageRanks {
    fn is_as_run(&self) -> bool {
        false
    }

    fn bytes(&self, n: usize) -> u64 {
        LivePageRank::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let (graph, removed) = (at.view.graph::<()>(at.run)?, at.view.removed(at.run)?.list());
        self.state = Some(LivePageRank::new(&graph, at.run, self.options, removed, self.state.take())?);
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        let Some(state) = &mut self.state else { return Ok(Updated::Stopped) };
        let (points, changes) = (Points::<()>::new(at.view), change.edges());
        let read_max =
            (at.view.version().num_vertices() as u64).saturating_add(at.view.num_arcs()) / PUSHED_PARTS;
        match state.update(&mut BoundedReader::new(&points, &changes, read_max).until(deadline)) {
            Ok(changed) => Ok(Updated::Done(changed)),
            Err(Halt::TooMuch) => {
                let copied = copied(at)?;
                let graph = copied.as_ref().unwrap_or(at.view).graph::<()>(at.run)?;
                state.refine(&graph, at.run)?;
                Ok(Updated::All)
            }
            Err(Halt::Unsuitable) => Ok(Updated::Stopped),
            Err(Halt::Failed(error)) => Err(error.into()),
        }
    }

    fn num_words(&self, n: usize) -> usize {
        3 * n
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        self.state.as_ref().map(LivePageRank::words)
    }

    fn restore(&mut self, at: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        self.state = LivePageRank::of_words(self.options, at.view.version().num_vertices(), words);
        Ok(self.state.is_some())
    }

    fn shown(&self, words: &[Vec<u64>]) -> Option<Values> {
        let state = LivePageRank::of_words(self.options, words.get(1)?.len(), words)?;
        Some(Values::Float((0..state.num_vertices()).map(|v| state.rank(vertex(v))).collect()))
    }

    fn values(&self) -> Option<Values> {
        let rank = |state: &LivePageRank| (0..state.num_vertices()).map(|v| state.rank(vertex(v))).collect();
        self.state.as_ref().map(|state| Values::Float(rank(state)))
    }

    fn value(&self, v: VertexId) -> Value {
        self.state.as_ref().map_or(Value::Missing, |state| Value::Float(state.rank(v)))
    }

    fn facts(&self, _: usize) -> Vec<(&'static str, Fact)> {
        self.state.iter().map(|state| ("error", Fact::Float(state.error()))).collect()
    }
}

#[derive(Default)]
struct Cores {
    state: Option<LiveCores>,
}

impl Live for Cores {
    fn bytes(&self, n: usize) -> u64 {
        LiveCores::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let graph = at.view.graph::<()>(at.run)?;
        let found = kcore(&graph, at.run)?;
        self.state = LiveCores::new(&graph, at.run, found.coreness, &found.order)?;
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        updated::<_, ()>(&mut self.state, at, change, deadline, LiveCores::update)
    }

    fn num_words(&self, n: usize) -> usize {
        2 * n
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        self.state.as_ref().map(|state| vec![words_of(state.cores()), words_of(&state.order())])
    }

    fn restore(&mut self, at: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        let [cores, order] = words else { return Ok(false) };
        let n = at.view.version().num_vertices();
        // No coreness is larger than the number of arcs.
        let (cores, order) = (values_of(cores, n, at.view.num_arcs()), values_of(order, n, n as u64));
        let (Some(cores), Some(order)) = (cores.filter(|cores| !cores.contains(&NONE)), order) else {
            return Ok(false);
        };
        self.state = LiveCores::new(&at.view.graph::<()>(at.run)?, at.run, cores, &order)?;
        Ok(self.state.is_some())
    }

    fn shown(&self, words: &[Vec<u64>]) -> Option<Values> {
        let [cores, _] = words else { return None };
        values_of(cores, cores.len(), u64::MAX).map(Values::Index)
    }

    fn values(&self) -> Option<Values> {
        self.state.as_ref().map(|state| Values::Index(state.cores().to_vec()))
    }

    fn value(&self, v: VertexId) -> Value {
        self.state.as_ref().map_or(Value::Missing, |state| Value::Count(state.cores()[v as usize] as u64))
    }

    fn facts(&self, _: usize) -> Vec<(&'static str, Fact)> {
        vec![("k_max", Fact::Count(self.state.as_ref().map_or(0, LiveCores::largest) as u64))]
    }
}

struct DegreesAnswer {
    of: DegreeOf,
    state: Option<LiveDegrees>,
}

impl Live for DegreesAnswer {
    fn reads_lists(&self) -> bool {
        false
    }

    fn bytes(&self, n: usize) -> u64 {
        LiveDegrees::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let graph = at.view.graph::<()>(at.run)?;
        self.state = Some(LiveDegrees::new(self.of, degrees(&graph, at.run, self.of)?.degrees));
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        updated::<_, ()>(&mut self.state, at, change, deadline, LiveDegrees::update)
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        self.state.as_ref().map(|state| vec![state.degrees().to_vec()])
    }

    fn restore(&mut self, at: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        let [degrees] = words else { return Ok(false) };
        let fits = degrees.len() == at.view.version().num_vertices();
        self.state = fits.then(|| LiveDegrees::new(self.of, degrees.clone()));
        Ok(fits)
    }

    fn shown(&self, words: &[Vec<u64>]) -> Option<Values> {
        let [degrees] = words else { return None };
        Some(Values::Count(degrees.clone()))
    }

    fn values(&self) -> Option<Values> {
        self.state.as_ref().map(|state| Values::Count(state.degrees().to_vec()))
    }

    fn value(&self, v: VertexId) -> Value {
        self.state.as_ref().map_or(Value::Missing, |state| Value::Count(state.degrees()[v as usize]))
    }

    fn facts(&self, _: usize) -> Vec<(&'static str, Fact)> {
        vec![("largest", Fact::Count(self.state.as_ref().map_or(0, LiveDegrees::largest)))]
    }
}
