//! The entries of independent sets, colourings, matchings and set covers.

use std::num::NonZeroU32;

use esker_algo::algorithm::sets::colouring::{self, ColouringOptions, ColouringOrder, Ties, colouring};
use esker_algo::algorithm::sets::matching::{self, MatchingMethod, MatchingOptions, matching};
use esker_algo::algorithm::sets::mis::{self, MisOptions, MisOrder, mis};
use esker_algo::algorithm::sets::set_cover::{self, SetCoverOptions, set_cover};
use esker_algo::check;
use esker_graph::{Graph, Setting, message};
use esker_store::StoredGraph;

use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::{Error, Result};

pub(super) const MIS: Entry = Entry {
    name: "mis",
    summary: "Maximal independent set: no two members are neighbours, and no vertex can be added",
    question: Question::Sets,
    options: &[Opt::choice(
        "first",
        &["degree", "random"],
        "Order in which vertices are taken: by ascending degree, or at random",
    )],
    reads: GraphReads::scans(ListReads::BothNeeded).counting_copies(),
    work: |_, _| Ok(Workload::new(1.1, 1.6, 0.92).over(0.55, 3.2, 2.4).evenly(8.5, 6.9)),
    undirected: false,
    columns: &["member"],
    figures: &["size"],
    edges: false,
    verifies: "No two members are neighbours, and each other vertex has one as a neighbour",
    run: |job| {
        let options = mis_options(job.params);
        run_mis(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, _, _| Ok(mis::estimate(shape)),
};

fn mis_options(params: &Params) -> MisOptions {
    let order = match params.text("first") {
        Some("random") => MisOrder::Random,
        _ => MisOrder::ByDegree,
    };
    MisOptions { order }
}

fn run_mis(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &MisOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| mis(graph, job.run, options));
    let found = found?;
    job.verify("mis", graph, |out, _| check::mis(out, &found.members))?;
    Ok(Answer {
        columns: vec![AnswerColumn::marks("member", &found.members)],
        facts: vec![("size", Fact::Count(found.size as u64))],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const COLOURING: Entry = Entry {
    name: "colouring",
    summary: "Graph colouring: neighbours get different colours, few in all",
    question: Question::Sets,
    options: &[
        Opt::choice(
            "first",
            &["llf", "lf", "sl", "random"],
            "Who is coloured first: llf (largest log of the degree), lf (largest degree), sl (smallest last) or random",
        ),
        Opt::choice(
            "ties",
            &["random", "number"],
            "Who of equal degree (llf, lf) is first: random, or number (the first imported)",
        ),
        Opt::integer(
            "passes",
            "Passes; each after the first begins with the last colours, and may save some",
        )
        .or("2"),
    ],
    reads: GraphReads::scans(ListReads::BothNeeded).counting_copies(),
    work: |params, _| {
        Ok(Workload::new(11.0, 7.4, 4.4)
            .over(10.0, 40.0, 13.0)
            .evenly(98.0, 130.0)
            .times(f64::from(colouring_options(params)?.passes.get())))
    },
    undirected: false,
    columns: &["colour"],
    figures: &["colours"],
    edges: false,
    verifies: "No two neighbours have the same colour",
    run: |job| {
        let options = colouring_options(job.params)?;
        run_colouring(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, params, _| Ok(colouring::estimate(shape, &colouring_options(params)?)),
};

fn colouring_options(params: &Params) -> Result<ColouringOptions> {
    let order = match params.text("first") {
        Some("lf") => ColouringOrder::LargestFirst,
        Some("sl") => ColouringOrder::SmallestLast,
        Some("random") => ColouringOrder::Random,
        _ => ColouringOrder::LargestLogFirst,
    };
    let ties = match params.text("ties") {
        Some("number") => Ties::Number,
        _ => Ties::Random,
    };
    let passes = params.get_or("passes", ColouringOptions::default().passes.get())?;
    let passes =
        NonZeroU32::new(passes).ok_or_else(|| Error::usage(message![Setting::Passes, " is at least 1"]))?;
    Ok(ColouringOptions { order, ties, passes })
}

fn run_colouring(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &ColouringOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| colouring(graph, job.run, options));
    let found = found?;
    job.verify("colouring", graph, |out, _| check::colouring(out, graph.is_directed(), &found.colours))?;
    let values = Values::Index(found.colours);
    Ok(Answer {
        columns: vec![AnswerColumn { name: "colour", values, ranking: Ranking::Groups }],
        facts: vec![("colours", Fact::Count(found.count as u64))],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const MATCHING: Entry = Entry {
    name: "matching",
    summary: "Maximal matching: no two edges share a vertex, and no edge can be added",
    question: Question::Sets,
    options: &[Opt::choice(
        "method",
        &["claims", "priorities"],
        "claims, or priorities (random ones, over a filter)",
    )
    .otherwise("claims; priorities if deterministic")],
    reads: GraphReads::points(ListReads::Out),
    work: |_, _| Ok(Workload::new(0.51, 0.91, 0.35).over(0.031, 0.51, 0.53).evenly(1.1, 0.75)),
    undirected: true,
    columns: &["mate"],
    figures: &["edges"],
    edges: false,
    verifies: "Mates are neighbours of each other, and no edge could be added",
    run: |job| {
        let options = matching_options(job.params);
        run_matching(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, params, resources| {
        Ok(matching::estimate(shape, &matching_options(params), resources.deterministic))
    },
};

fn matching_options(params: &Params) -> MatchingOptions {
    let method = match params.text("method") {
        Some("claims") => MatchingMethod::Claims,
        Some("priorities") => MatchingMethod::Priorities,
        _ => MatchingOptions::default().method,
    };
    MatchingOptions { method }
}

fn run_matching(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &MatchingOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| matching(graph, job.run, options));
    let found = found?;
    job.verify("matching", graph, |out, _| check::matching(out, &found.mates, found.edges))?;
    let values = Values::Vertex(found.mates);
    Ok(Answer {
        columns: vec![AnswerColumn { name: "mate", values, ranking: Ranking::Largest }],
        facts: vec![("edges", Fact::Count(found.edges as u64))],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const SETCOVER: Entry = Entry {
    name: "setcover",
    summary: "Set cover, approximately: few vertices whose out-neighbours include every out-neighbour",
    question: Question::Sets,
    options: &[Opt::float(
        "epsilon",
        "Relative difference below which gains count as equal; larger is faster",
    )
    .within(OptRange::Above(0.0))
    .or("0.01")],
    reads: GraphReads::scans(ListReads::Out).counting_copies(),
    work: |_, _| Ok(Workload::new(11.0, 26.0, 9.4).over(28.0, 170.0, 26.0).evenly(69.0, 80.0)),
    undirected: false,
    columns: &["gain", "owner"],
    figures: &["sets", "covered"],
    edges: false,
    verifies: "Every element has an owner that contains it, and gains fall as the greedy order promises",
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
            AnswerColumn { name: "gain", values: Values::Index(gains), ranking: Ranking::Largest },
            AnswerColumn { name: "owner", values: Values::Vertex(found.owners), ranking: Ranking::Groups },
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
