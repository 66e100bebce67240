//! Sets of vertices that are apart, together or enough.

use std::num::NonZeroU32;

use esker_algo::algorithm::colouring::{self, ColouringOptions, ColouringOrder, Ties, colouring};
use esker_algo::algorithm::matching::{self, MatchingMethod, MatchingOptions, matching};
use esker_algo::algorithm::mis::{self, MisOptions, MisOrder, mis};
use esker_algo::algorithm::set_cover::{self, SetCoverOptions, set_cover};
use esker_algo::check;
use esker_graph::Graph;
use esker_store::StoredGraph;

use crate::answer::{Answer, Column, Fact, Ranking, Values};
use crate::catalogue::entry::Entry;
use crate::catalogue::job::{Job, timed};
use crate::catalogue::params::{OptionSpec, Params};
use crate::error::{Error, Result};

pub(super) const MIS: Entry = Entry {
    name: "mis",
    summary: "Maximal independent set: no two neighbours, and none could be added",
    options: &[OptionSpec {
        name: "first",
        value: "NAME",
        help: "Who comes first: degree (the least) or random [default: degree]",
    }],
    weighted: false,
    undirected: false,
    run: |job| {
        let options = mis_options(job.params)?;
        run_mis(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, _, _| Ok(mis::estimate(shape)),
};

fn mis_options(params: &Params) -> Result<MisOptions> {
    let order = match params.text("first") {
        None => MisOptions::default().order,
        Some("degree") => MisOrder::ByDegree,
        Some("random") => MisOrder::Random,
        Some(other) => return Err(Error::Usage(format!("--first is degree or random, not {other:?}"))),
    };
    Ok(MisOptions { order })
}

fn run_mis(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &MisOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| mis(graph, job.run, options));
    let found = found?;
    job.verify("mis", graph, |out, _| check::mis(out, &found.members))?;
    Ok(Answer {
        columns: vec![Column::marks("member", &found.members)],
        facts: vec![("size", Fact::Count(found.size as u64))],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const COLOURING: Entry = Entry {
    name: "colouring",
    summary: "Colours such that no two neighbours have the same, few of them",
    options: &[
        OptionSpec {
            name: "first",
            value: "NAME",
            help: "Who is coloured first: llf (largest log of the degree), lf (largest degree), sl (smallest last), random [default: llf]",
        },
        OptionSpec {
            name: "ties",
            value: "NAME",
            help: "Who of equal degree (llf, lf): random, or number, the first imported [default: random]",
        },
        OptionSpec {
            name: "passes",
            value: "N",
            help: "Passes; each after the first begins with the last colours, and may save some [default: 2]",
        },
    ],
    weighted: false,
    undirected: false,
    run: |job| {
        let options = colouring_options(job.params)?;
        run_colouring(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, params, _| Ok(colouring::estimate(shape, &colouring_options(params)?)),
};

fn colouring_options(params: &Params) -> Result<ColouringOptions> {
    let order = match params.text("first").unwrap_or("llf") {
        "llf" => ColouringOrder::LargestLogFirst,
        "lf" => ColouringOrder::LargestFirst,
        "sl" => ColouringOrder::SmallestLast,
        "random" => ColouringOrder::Random,
        other => return Err(Error::Usage(format!("--first is llf, lf, sl or random, not {other:?}"))),
    };
    let ties = match params.text("ties").unwrap_or("random") {
        "random" => Ties::Random,
        "number" => Ties::Number,
        other => return Err(Error::Usage(format!("--ties is random or number, not {other:?}"))),
    };
    let passes = params.get_or("passes", ColouringOptions::default().passes.get())?;
    let passes = NonZeroU32::new(passes).ok_or_else(|| Error::Usage("--passes is at least 1".to_owned()))?;
    Ok(ColouringOptions { order, ties, passes })
}

fn run_colouring(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &ColouringOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| colouring(graph, job.run, options));
    let found = found?;
    job.verify("colouring", graph, |out, _| check::colouring(out, graph.is_directed(), &found.colours))?;
    let values = Values::Index(found.colours);
    Ok(Answer {
        columns: vec![Column { name: "colour", values, ranking: Ranking::Groups }],
        facts: vec![("colours", Fact::Count(found.count as u64))],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const MATCHING: Entry = Entry {
    name: "matching",
    summary: "Maximal matching: edges without a common end, and none could be added",
    options: &[OptionSpec {
        name: "method",
        value: "NAME",
        help: "claims, or priorities: random ones over a filter [default: claims; priorities if deterministic]",
    }],
    weighted: false,
    undirected: true,
    run: |job| {
        let options = matching_options(job.params)?;
        run_matching(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, params, resources| {
        Ok(matching::estimate(shape, &matching_options(params)?, resources.deterministic))
    },
};

fn matching_options(params: &Params) -> Result<MatchingOptions> {
    let method = match params.text("method") {
        None => MatchingOptions::default().method,
        Some("claims") => MatchingMethod::Claims,
        Some("priorities") => MatchingMethod::Priorities,
        Some(other) => {
            return Err(Error::Usage(format!("--method is claims or priorities, not {other:?}")));
        }
    };
    Ok(MatchingOptions { method })
}

fn run_matching(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &MatchingOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| matching(graph, job.run, options));
    let found = found?;
    job.verify("matching", graph, |out, _| check::matching(out, &found.mates, found.edges))?;
    let values = Values::Vertex(found.mates);
    Ok(Answer {
        columns: vec![Column { name: "mate", values, ranking: Ranking::Largest }],
        facts: vec![("edges", Fact::Count(found.edges as u64))],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const SETCOVER: Entry = Entry {
    name: "setcover",
    summary: "Set cover, approximately: few vertices whose out-neighbours are all that any vertex has",
    options: &[OptionSpec {
        name: "epsilon",
        value: "NUMBER",
        help: "How far apart gains may be that count as the same; more is faster [default: 0.01]",
    }],
    weighted: false,
    undirected: false,
    run: |job| {
        let options = set_cover_options(job.params)?;
        run_set_cover(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, _, _| Ok(set_cover::estimate(shape)),
};

fn set_cover_options(params: &Params) -> Result<SetCoverOptions> {
    Ok(SetCoverOptions { epsilon: params.get_or("epsilon", SetCoverOptions::default().epsilon)? })
}

fn run_set_cover(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &SetCoverOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| set_cover(graph, job.run, options));
    let found = found?;
    job.verify("setcover", graph, |out, _| {
        check::set_cover(out, &found.sets, &found.gains, &found.owners, 1.0 + options.epsilon)
    })?;
    let mut gains = vec![0; graph.num_vertices()];
    found.sets.iter().zip(&found.gains).for_each(|(&set, &gain)| gains[set as usize] = gain);
    Ok(Answer {
        columns: vec![
            Column { name: "gain", values: Values::Index(gains), ranking: Ranking::Largest },
            Column { name: "owner", values: Values::Vertex(found.owners), ranking: Ranking::Groups },
        ],
        facts: vec![
            ("sets", Fact::Count(found.sets.len() as u64)),
            ("covered", Fact::Count(found.covered as u64)),
        ],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}
