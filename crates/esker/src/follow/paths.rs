//! Live searches from sources: bfs, sssp, widest.

use std::time::Instant;

use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker_algo::algorithm::paths::sssp::{SsspOptions, sssp};
use esker_algo::algorithm::paths::widest::{WidestOptions, widest};
use esker_algo::lengths::Length;
use esker_algo::live::{FewestRule, LivePaths, PathRule, ShortestRule, WidestRule};
use esker_algo::widths::Width;
use esker_graph::{NONE, Run, Setting, VertexId, message};
use esker_store::format::ElementType;
use esker_store::{StoredGraph, View};

use super::change::VersionChange;
use super::live::{At, Live, StateWord, Updated, updated, values_of, words_of};
use super::points::LiveWeight;
use crate::answer::{Fact, Value, Values};
use crate::catalogue::{Params, Shown};
use crate::error::{Error, Result};

/// Computes labels anew, and the vertex before each on its path.
type Compute<W, L> = fn(&StoredGraph<'_, W>, &Run, &[VertexId]) -> Result<(Vec<L>, Vec<VertexId>)>;

/// A search by a rule.
struct Paths<W: LiveWeight, R: PathRule<W>> {
    /// The ids of the sources, as a user wrote them, each once.
    sources: Vec<String>,
    /// Those of them that the version or window has.
    found: Vec<VertexId>,
    state: Option<LivePaths<W, R>>,
    compute: Compute<W, R::Label>,
    show: fn(Vec<R::Label>) -> Values,
    is_weighted: bool,
    /// Whether the label of a source, that of a path of no edges, is no value.
    hides_sources: bool,
}

impl<W: LiveWeight, R: PathRule<W, Label: StateWord>> Live for Paths<W, R> {
    fn is_weighted(&self) -> bool {
        self.is_weighted
    }

    fn bytes(&self, n: usize) -> u64 {
        LivePaths::<W, R>::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let find = |source: &String| match at.view.window_index() {
            Some(_) => at.view.version().find_vertex(source, at.run),
            None => at.view.find_vertex(source, at.run),
        };
        self.found = self.sources.iter().map(find).collect::<esker_store::Result<_>>()?;
        let removed = at.view.removed(at.run)?;
        self.found.retain(|&source| !removed.is_removed(source));
        self.found.sort_unstable();
        self.found.dedup();
        let (labels, parents) = match self.found.is_empty() {
            true => (
                vec![R::unreached(); at.view.version().num_vertices()],
                vec![NONE; at.view.version().num_vertices()],
            ),
            false => (self.compute)(&at.view.graph::<W>(at.run)?, at.run, &self.found)?,
        };
        self.state = Some(LivePaths::new(labels, parents));
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        // A search anew says which source was removed, or finds those that are in the window again.
        if self.found.len() < self.sources.len() || change.left.iter().any(|v| self.found.contains(v)) {
            return Ok(Updated::Stopped);
        }
        updated::<_, W>(&mut self.state, at, change, deadline, LivePaths::update)
    }

    fn num_words(&self, n: usize) -> usize {
        2 * n
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        let state = self.state.as_ref()?;
        Some(vec![words_of(state.labels()), words_of(state.parents()), words_of(&self.found)])
    }

    fn restore(&mut self, at: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        let [labels, parents, found] = words else { return Ok(false) };
        let n = at.view.version().num_vertices();
        let last = (n as u64).saturating_sub(1);
        let labels = labels.iter().map(|&word| StateWord::of_word(word)).collect::<Option<Vec<_>>>();
        let found = values_of(found, found.len(), last).filter(|found| !found.contains(&NONE));
        self.state = match (labels.filter(|labels| labels.len() == n), values_of(parents, n, last)) {
            (Some(labels), Some(parents)) if found.is_some() => Some(LivePaths::new(labels, parents)),
            _ => None,
        };
        self.found = found.unwrap_or_default();
        Ok(self.state.is_some())
    }

    fn shown(&self, words: &[Vec<u64>]) -> Option<Values> {
        let [labels, _, found] = words else { return None };
        let labels = labels.iter().map(|&word| StateWord::of_word(word)).collect::<Option<Vec<_>>>()?;
        let found = values_of(found, found.len(), (labels.len() as u64).checked_sub(1)?)?;
        Some(self.show_labels(labels, &found))
    }

    fn values(&self) -> Option<Values> {
        Some(self.show_labels(self.state.as_ref()?.labels().to_vec(), &self.found))
    }

    fn value(&self, v: VertexId) -> Value {
        if self.hides_sources && self.found.contains(&v) {
            return Value::Missing;
        }
        self.state.as_ref().map_or(Value::Missing, |state| (self.show)(vec![state.label(v)]).get(0))
    }

    fn facts(&self, _: usize) -> Vec<(&'static str, Fact)> {
        let reached = self.state.as_ref().map_or(0, LivePaths::reached);
        vec![("reached", Fact::Count(reached as u64))]
    }
}

impl<W: LiveWeight, R: PathRule<W>> Paths<W, R> {
    /// The values of labels, where `found` are the sources.
    fn show_labels(&self, mut labels: Vec<R::Label>, found: &[VertexId]) -> Values {
        if self.hides_sources {
            let known = found.iter().filter(|&&source| source != NONE);
            known.for_each(|&source| labels[source as usize] = R::unreached());
        }
        (self.show)(labels)
    }
}

/// The sources that were named.
fn sources(params: &Params) -> Result<Vec<String>> {
    let mut sources = params.all("source").to_vec();
    sources.sort_unstable();
    sources.dedup();
    if sources.is_empty() { Err(Error::usage(message![Setting::Source, " is missing"])) } else { Ok(sources) }
}

/// Steps from sources.
pub(super) fn by_steps(params: &Params) -> Result<Box<dyn Live>> {
    let compute: Compute<(), VertexId> = |graph, run, sources| {
        let found = bfs(graph, run, sources, &BfsOptions::default())?;
        Ok((found.depths.unwrap_or_default(), found.parents))
    };
    let (sources, found) = (sources(params)?, Vec::new());
    let paths = Paths::<(), FewestRule> {
        sources,
        found,
        state: None,
        compute,
        show: Values::Index,
        is_weighted: false,
        hides_sources: false,
    };
    Ok(Box::new(paths))
}

fn by_length<W: LiveWeight + Length<Distance: Shown + StateWord>>(params: &Params) -> Result<Box<dyn Live>> {
    let compute: Compute<W, W::Distance> = |graph, run, sources| {
        let options = SsspOptions { parents: true, ..SsspOptions::default() };
        let found = sssp(graph, run, sources[0], &options)?;
        Ok((found.distances, found.parents.unwrap_or_default()))
    };
    let (sources, found) = (sources(params)?, Vec::new());
    let paths = Paths::<W, ShortestRule> {
        sources,
        found,
        state: None,
        compute,
        show: |labels| Shown::values(labels, W::UNREACHED),
        is_weighted: true,
        hides_sources: false,
    };
    Ok(Box::new(paths))
}

fn by_width<W: LiveWeight + Width<Width: Shown + StateWord>>(params: &Params) -> Result<Box<dyn Live>> {
    let compute: Compute<W, W::Width> = |graph, run, sources| {
        let options = WidestOptions { parents: true, ..WidestOptions::default() };
        let found = widest(graph, run, sources[0], &options)?;
        let labels = found.widths.into_iter().map(W::reverse).collect();
        Ok((labels, found.parents.unwrap_or_default()))
    };
    let show =
        |labels: Vec<W::Width>| Shown::values(labels.into_iter().map(W::reverse).collect(), W::UNREACHED);
    let (sources, found) = (sources(params)?, Vec::new());
    let paths = Paths::<W, WidestRule> {
        sources,
        found,
        state: None,
        compute,
        show,
        is_weighted: true,
        hides_sources: true,
    };
    Ok(Box::new(paths))
}

/// Calls a function with the type of the weights.
macro_rules! by_weight {
    ($view:expr, $work:ident, $params:expr) => {
        match $view.weight_type() {
            None => $work::<()>($params),
            Some(ElementType::I32) => $work::<i32>($params),
            Some(ElementType::I64) => $work::<i64>($params),
            Some(ElementType::F32) => $work::<f32>($params),
            Some(ElementType::F64) => $work::<f64>($params),
            Some(other) => Err(Error::usage(format!("weights of type {other:?} are no lengths"))),
        }
    };
}

/// Distances from a source.
pub(super) fn shortest(params: &Params, view: &View) -> Result<Box<dyn Live>> {
    by_weight!(view, by_length, params)
}

/// Widths of paths from a source.
pub(super) fn widest_paths(params: &Params, view: &View) -> Result<Box<dyn Live>> {
    by_weight!(view, by_width, params)
}
