//! Algorithms that answer on several graphs at once: windows that share lists.

use esker_algo::algorithm::centrality::degrees::DegreeOf;
use esker_algo::algorithm::centrality::pagerank::PageRankOptions;
use esker_algo::algorithm::components::wcc::WccMethod;
use esker_algo::graph_series::{self, GraphSeries, LANES};
use esker_graph::{Direction, NONE, Run, Stop, VertexId, vertex};
use esker_store::Version;

use super::entries::{
    component_method, convergence_facts, degree_of, degrees_answer, depths_answer, rank_options,
};
use super::entry::Entry;
use super::params::Params;
use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::error::{Error, Result};

/// In how many graphs an arc has to be, on average, for computing them at once to pay. Measured at scale 18,
/// where what one graph keeps fits a cache: up to 64 graphs at once take as long as 14 to 17 alone that have
/// all arcs.
const PAGERANK_OVERLAP_MIN: f64 = 17.0;

/// How many arcs the graphs together have, at least, for each in which a graph differs from the one before,
/// for updates of the coreness to pay. Measured at scale 15: with 1577 arcs for each, 64 graphs take a
/// quarter of the time that they take one by one, and with 315 three quarters.
const KCORE_ARCS_MIN: f64 = 512.0;

/// An algorithm with its options, if they suit several graphs at once.
#[derive(Debug, Clone)]
pub(crate) enum Many {
    /// Components by contraction of what graphs have in common.
    Components,
    /// PageRank with a byte for each graph.
    PageRank(PageRankOptions),
    /// Coreness, from graph to graph by what differs.
    Cores,
    /// Degrees, a byte for each graph at a time.
    Degrees(DegreeOf),
    /// Searches with a bit for each graph: from the vertices with these ids, as far as a depth.
    Search { sources: Vec<String>, depth_max: VertexId },
}

impl Many {
    /// What answers on several graphs as `entry` does on each; `None` if nothing does.
    pub(crate) fn of(entry: &Entry, params: &Params) -> Result<Option<Self>> {
        entry.check_params(params)?;
        Ok(match entry.name {
            "wcc" if component_method(params)? == WccMethod::UnionFind => Some(Self::Components),
            "pagerank" => {
                let options = rank_options(params)?;
                graph_series::suits(&options).then_some(Self::PageRank(options))
            }
            "kcore" => Some(Self::Cores),
            "degrees" => Some(Self::Degrees(degree_of(params))),
            "bfs"
                if !params.flag("parents")
                    && !["target", "alpha", "beta"].iter().any(|name| params.text(name).is_some()) =>
            {
                let depth_max = params.get::<u64>("max-depth")?;
                let depth_max = depth_max.map_or(NONE, |most| VertexId::try_from(most).unwrap_or(NONE));
                Some(Self::Search { sources: params.all("source").to_vec(), depth_max })
            }
            _ => None,
        })
    }

    /// The most graphs at once.
    pub(crate) fn graphs_max(&self) -> usize {
        match self {
            Self::Components | Self::Cores | Self::Search { .. } => 64,
            Self::PageRank(_) | Self::Degrees(_) => LANES,
        }
    }

    /// Whether vertices receive along in-lists, if the graphs are directed.
    pub(crate) fn receives(&self) -> bool {
        !matches!(self, Self::Components | Self::Degrees(DegreeOf::Out))
    }

    /// Whether computing this number of graphs at once may pay: if not, [`Many::pays`] says no.
    pub(crate) fn may_pay(&self, num_graphs: usize) -> bool {
        match self {
            // No arc is in more graphs than there are.
            Self::PageRank(_) => num_graphs as f64 >= PAGERANK_OVERLAP_MIN,
            Self::Components | Self::Cores | Self::Degrees(_) | Self::Search { .. } => true,
        }
    }

    /// Whether computing these graphs of versions of `view` at once is possible, and faster than one by
    /// one. `present` says for each vertex in which graphs it is.
    pub(crate) fn pays(
        &self,
        series: &GraphSeries<'_>,
        present: &[u64],
        version: &Version,
        run: &Run,
    ) -> bool {
        match self {
            Self::Components => true,
            Self::Cores => {
                let changes = graph_series::changes_per_graph(series, run);
                series.can_receive() && changes * KCORE_ARCS_MIN <= series.num_arcs() as f64
            }
            Self::Degrees(of) => {
                let arcs_max = u64::from(u32::MAX);
                let receives = series.can_receive() && version.has(Direction::In);
                (*of == DegreeOf::Out || receives) && series.num_arcs() < arcs_max
            }
            // A run on a graph without a source says so.
            Self::Search { sources, .. } => vertices(sources, version, run).is_some_and(|found| {
                let all = if series.len() == 64 { u64::MAX } else { (1 << series.len()) - 1 };
                found.iter().all(|&v| present.get(v as usize).is_some_and(|graphs| graphs & all == all))
            }),
            Self::PageRank(_) => series.can_receive() && series.overlap(run) >= PAGERANK_OVERLAP_MIN,
        }
    }

    /// Calls `visit` with each graph, in order, and its answer. As [`Many::pays`], which must have said yes.
    pub(crate) fn answer<E: Send>(
        &self,
        series: &GraphSeries<'_>,
        present: &[u64],
        version: &Version,
        run: &Run,
        mut visit: impl FnMut(usize, Answer) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), ManyFailure<E>> {
        match self {
            Self::Components => graph_series::components(series, run, |graph, labels| {
                visit(graph, components_answer(graph, &labels, present)).map_err(ManyFailure::Visit)
            }),
            Self::Cores => graph_series::cores(series, run, |graph, cores| {
                let cores: Vec<_> = members(graph, present).map(|v| cores[v as usize]).collect();
                visit(graph, in_graph(graph, present, cores_answer(cores))).map_err(ManyFailure::Visit)
            }),
            Self::Degrees(of) => graph_series::degrees(series, *of, run, |graph, degrees| {
                let largest = degrees.iter().copied().max().unwrap_or(0);
                let degrees = members(graph, present).map(|v| degrees[v as usize]).collect();
                let answer = in_graph(graph, present, degrees_answer(degrees, largest));
                visit(graph, answer).map_err(ManyFailure::Visit)
            }),
            Self::Search { sources, depth_max } => {
                let sources = vertices(sources, version, run).unwrap_or_default();
                let found = graph_series::search(series, present, &sources, *depth_max, run)?;
                (0..series.len()).try_for_each(|graph| {
                    run.check()?;
                    let depths = found.of_graph(graph, present, run);
                    let answer = depths_answer(depths, found.count(graph), found.rounds);
                    visit(graph, in_graph(graph, present, answer)).map_err(ManyFailure::Visit)
                })
            }
            Self::PageRank(options) => {
                let mut found = graph_series::pagerank(series, present, run, options)?;
                (0..series.len()).try_for_each(|graph| {
                    let found = found.take(graph, present);
                    let facts = convergence_facts(&found);
                    let rank = AnswerColumn {
                        name: "rank",
                        values: Values::Float(found.scores),
                        ranking: Ranking::Largest,
                    };
                    let rounds = found.rounds;
                    let answer = Answer { columns: vec![rank], facts, rounds, ..Answer::default() };
                    visit(graph, in_graph(graph, present, answer)).map_err(ManyFailure::Visit)
                })
            }
        }
    }
}

/// Why the answers on several graphs were not handed over.
pub(crate) enum ManyFailure<E> {
    /// They could not be computed.
    Compute(Error),
    /// What took them failed.
    Visit(E),
}

impl<E> From<Error> for ManyFailure<E> {
    fn from(error: Error) -> Self {
        Self::Compute(error)
    }
}

impl<E> From<Stop> for ManyFailure<E> {
    fn from(stop: Stop) -> Self {
        Self::Compute(stop.into())
    }
}

fn components_answer(graph: usize, labels: &[VertexId], present: &[u64]) -> Answer {
    let is_present = |v: &usize| present[*v] >> graph & 1 == 1;
    let of_present_vertices = || (0..labels.len()).filter(is_present);
    let components = of_present_vertices().filter(|&v| labels[v] == vertex(v)).count();
    let column = AnswerColumn {
        name: "component",
        values: Values::Vertex(of_present_vertices().map(|v| labels[v]).collect()),
        ranking: Ranking::Groups,
    };
    let facts = vec![("components", Fact::Count(components as u64))];
    in_graph(graph, present, Answer { columns: vec![column], facts, rounds: 1, ..Answer::default() })
}

fn cores_answer(coreness: Vec<VertexId>) -> Answer {
    let k_max = coreness.iter().copied().max().unwrap_or(0);
    let values = Values::Index(coreness);
    let column = AnswerColumn { name: "coreness", values, ranking: Ranking::Largest };
    let facts = vec![("k_max", Fact::Count(k_max.into()))];
    Answer { columns: vec![column], facts, rounds: 1, ..Answer::default() }
}

/// The vertices of a graph.
fn members(graph: usize, present: &[u64]) -> impl Iterator<Item = VertexId> {
    (0..present.len()).map(vertex).filter(move |&v| present[v as usize] >> graph & 1 == 1)
}

/// The vertices that a run names by their external ids; `None` if one of them is not there, which a run on
/// one graph reports.
fn vertices(names: &[String], version: &Version, run: &Run) -> Option<Vec<VertexId>> {
    names.iter().map(|name| version.find_vertex(name, run).ok()).collect()
}

/// An answer that has a row for each vertex of a graph, with the vertices of its rows.
fn in_graph(graph: usize, present: &[u64], answer: Answer) -> Answer {
    let all = answer.columns.iter().all(|column| column.values.len() == present.len());
    Answer { vertices: (!all).then(|| members(graph, present).collect()), ..answer }
}
