//! Algorithms that answer on several graphs at once: windows that share lists.

use esker_algo::algorithm::pagerank::PageRankOptions;
use esker_algo::algorithm::wcc::WccMethod;
use esker_algo::many::{self, GraphSeries, LANES};
use esker_graph::{Run, Stop, VertexId, vertex};

use super::entries::{component_method, rank_options};
use super::entry::Entry;
use super::params::Params;
use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::error::{Error, Result};

/// In how many graphs an arc has to be, on average, for computing them at once to pay. Measured at scale 18, where what one graph keeps fits a
/// cache: up to 64 graphs at once take as long as 14 to 17 alone that have all arcs.
const PAGERANK_OVERLAP_MIN: f64 = 17.0;

/// An algorithm with its options, if they suit several graphs at once.
#[derive(Debug, Clone)]
pub(crate) enum Many {
    /// Components by contraction of what graphs have in common.
    Components,
    /// PageRank with a byte for each graph.
    PageRank(PageRankOptions),
}

impl Many {
    /// What answers on several graphs as `entry` does on each; `None` if nothing does.
    pub(crate) fn of(entry: &Entry, params: &Params) -> Result<Option<Self>> {
        entry.check_params(params)?;
        Ok(match entry.name {
            "wcc" if component_method(params)? == WccMethod::UnionFind => Some(Self::Components),
            "pagerank" => {
                let options = rank_options(params)?;
                many::suits(&options).then_some(Self::PageRank(options))
            }
            _ => None,
        })
    }

    /// The most graphs at once.
    pub(crate) fn graphs_max(&self) -> usize {
        match self {
            Self::Components => 64,
            Self::PageRank(_) => LANES,
        }
    }

    /// Whether vertices receive along in-lists, if the graphs are directed.
    pub(crate) fn receives(&self) -> bool {
        matches!(self, Self::PageRank(_))
    }

    /// Whether computing these graphs at once is faster than one by one.
    pub(crate) fn pays(&self, series: &GraphSeries<'_>, run: &Run) -> bool {
        match self {
            Self::Components => true,
            Self::PageRank(_) => series.can_receive() && series.overlap(run) >= PAGERANK_OVERLAP_MIN,
        }
    }

    /// Calls `visit` with each graph, in order, and its answer. `present` says for each vertex in which graphs it is.
    pub(crate) fn answer<E: Send>(
        &self,
        series: &GraphSeries<'_>,
        present: &[u64],
        run: &Run,
        mut visit: impl FnMut(usize, Answer) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), ManyFailure<E>> {
        match self {
            Self::Components => many::components(series, run, |graph, labels| {
                visit(graph, components_answer(graph, &labels, present)).map_err(ManyFailure::Visit)
            }),
            Self::PageRank(options) => {
                let mut found = many::pagerank(series, present, run, options)?;
                (0..series.len()).try_for_each(|graph| {
                    let found = found.take(graph, present);
                    let rank = AnswerColumn {
                        name: "rank",
                        values: Values::Float(found.scores),
                        ranking: Ranking::Largest,
                    };
                    let facts = vec![
                        ("residual", Fact::Float(found.residual)),
                        ("converged", Fact::Flag(found.converged)),
                    ];
                    let answer = of_present(graph, present, rank, facts, found.rounds);
                    visit(graph, answer).map_err(ManyFailure::Visit)
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
    of_present(graph, present, column, vec![("components", Fact::Count(components as u64))], 1)
}

/// An answer with a row for each vertex of a graph.
fn of_present(
    graph: usize,
    present: &[u64],
    column: AnswerColumn,
    facts: Vec<(&'static str, Fact)>,
    rounds: usize,
) -> Answer {
    let all = column.values.len() == present.len();
    let members = || (0..present.len()).map(vertex).filter(|&v| present[v as usize] >> graph & 1 == 1);
    let vertices = (!all).then(|| members().collect());
    Answer { vertices, columns: vec![column], facts, rounds, ..Answer::default() }
}
