//! The entry of similarity.

use esker_algo::algorithm::similarity::neighbours::{self, SimilarityMeasure, similarity};
use esker_algo::check;
use esker_graph::Graph;

use crate::answer::{Answer, AnswerColumn, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::Opt;
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const SIMILARITY: Entry = Entry {
    name: "similarity",
    summary: "Similarity of all vertices to one, by their common neighbours",
    question: Question::Similarity,
    options: &[
        Opt::vertex("source", "Vertex to which others are compared").required(),
        Opt::choice(
            "measure",
            &[
                "jaccard",
                "overlap",
                "cosine",
                "adamic-adar",
                "resource-allocation",
                "preferential-attachment",
            ],
            "What is made of the common neighbours",
        ),
    ],
    reads: GraphReads::points(ListReads::BothNeeded).ignoring_isolated(),
    work: |_, _| Ok(Workload::new(0.1, 0.5, 0.5)),
    undirected: false,
    columns: &["similarity"],
    figures: &[],
    edges: false,
    verifies: "Similarities equal those by the sets of common neighbours",
    run: run_similarity,
    estimate: |shape, _, _| Ok(neighbours::estimate(shape)),
};

fn measure(params: &Params) -> SimilarityMeasure {
    match params.text("measure") {
        Some("overlap") => SimilarityMeasure::Overlap,
        Some("cosine") => SimilarityMeasure::Cosine,
        Some("adamic-adar") => SimilarityMeasure::AdamicAdar,
        Some("resource-allocation") => SimilarityMeasure::ResourceAllocation,
        Some("preferential-attachment") => SimilarityMeasure::PreferentialAttachment,
        _ => SimilarityMeasure::Jaccard,
    }
}

fn run_similarity(job: &Job<'_>) -> Result<Answer> {
    let (graph, source, measure) = (job.graph::<()>()?, job.vertex("source")?, measure(job.params));
    let (scores, seconds) = timed(|| similarity(&graph, job.run, source, measure));
    let scores = scores?;
    job.verify("similarity", &graph, |out, _| {
        let name = job.params.text("measure").unwrap_or("jaccard");
        check::similarity(out, source, name, &scores)
    })?;
    let values = Values::numbers(scores);
    Ok(Answer {
        columns: vec![AnswerColumn { name: "similarity", values, ranking: Ranking::Largest }],
        rounds: 1,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}
