//! Leiden and Louvain on random graphs of many kinds, and on graphs with known communities.

use esker_algo::algorithm::communities::leiden::{
    Communities, CommunityMethod, LeidenOptions, Objective, leiden,
};
use esker_algo::check::{self, CommunityClaim};
use esker_graph::random::Random;
use esker_graph::{Budget, Csr, Direction, Lists, Run, RunOptions, Stop, VertexId, vertex};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

use esker_algo::primitive::Ranked;

fn claim<'a>(found: &'a Communities, options: &LeidenOptions) -> CommunityClaim<'a> {
    CommunityClaim {
        labels: &found.labels,
        is_cpm: options.objective == Objective::Cpm,
        resolution: options.resolution,
        quality: found.quality,
        is_connected: options.method == CommunityMethod::Leiden,
        is_settled: found.converged,
    }
}

fn checked<W: Ranked, G: Lists<Weight = W, Error = Stop>>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    options: &LeidenOptions,
) -> Communities {
    let found = leiden(graph, run, options).expect("communities");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::communities(out, &claim(&found, options)).expect("a right answer");
    let mut names = found.labels.clone();
    names.sort_unstable();
    names.dedup();
    assert_eq!(found.communities, names.len());
    found
}

fn all_options(resolution: f64, iterations: usize) -> Vec<LeidenOptions> {
    let mut all = Vec::new();
    for method in [CommunityMethod::Leiden, CommunityMethod::Louvain] {
        for objective in [Objective::Modularity, Objective::Cpm] {
            all.push(LeidenOptions { method, objective, resolution, iterations });
        }
    }
    all
}

/// One answer for any number of threads, in any form, with and without room for smaller graphs.
fn same_everywhere<W: Ranked>(csr: &Csr<W>, seed: u64, options: &LeidenOptions) {
    let graph = csr.graph();
    let expected = checked(&graph, csr, &common::run(1, false), options);
    for threads in [2, 3] {
        assert_eq!(checked(&graph, csr, &common::run(threads, true), options), expected);
    }
    let shape = esker_algo::Shape::of(&graph);
    let needed = esker_algo::algorithm::communities::leiden::estimate(shape, options, 2).memory_bytes;
    let budget = Budget::new(needed);
    let tight =
        Run::new(RunOptions { threads: 2, seed: 5, budget, ..RunOptions::default() }).expect("threads");
    assert_eq!(checked(&graph, csr, &tight, options), expected);
    each_form!(csr, seed, |form| assert_eq!(checked(form, csr, &common::run(2, false), options), expected));
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn right_and_the_same_on_every_kind_of_graph(
        sample in common::undirected(),
        resolution in prop_oneof![Just(1.0), 0.01..4.0_f64],
        iterations in 1usize..4,
    ) {
        for options in all_options(resolution, iterations) {
            same_everywhere(&sample.csr(|_| ()), sample.seed, &options);
            same_everywhere(&sample.csr(f64::from), sample.seed, &options);
        }
    }
}

/// Weights near the ends of the range of floating-point numbers: a right answer with a finite quality, or a
/// refusal that says why.
#[test]
fn extreme_weights_have_a_finite_quality_or_are_refused() {
    let (mut refused, mut answered) = (0, 0);
    for weight in [f64::MAX, 1.5e308, 8e307, 1e300, 1.0, 1e-250, 1e-290, 1e-308, 5e-324] {
        for edges in 1..5_u32 {
            let edges: Vec<_> = (0..edges).map(|v| (v as VertexId, (v + 1) as VertexId, weight)).collect();
            let csr = Csr::undirected(6, &edges).expect("the ends are vertices");
            for options in [1e-3, 1.0, 1e300].iter().flat_map(|&resolution| all_options(resolution, 2)) {
                match leiden(&csr.graph(), &common::run(1, false), &options) {
                    Ok(_) => {
                        let found = checked(&csr.graph(), &csr, &common::run(1, false), &options);
                        assert!(found.quality.is_finite(), "{weight}, {options:?}: {}", found.quality);
                        answered += 1;
                    }
                    Err(stop) => {
                        let is_cpm = options.objective == Objective::Cpm;
                        assert!(
                            is_cpm && stop.to_string().contains("with these weights"),
                            "{stop}, {options:?}"
                        );
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 10 && answered > refused, "{refused} refused, {answered} answered");
}

proptest! {
    #![proptest_config(common::cases(100))]
    /// The unit of weights is of no account: neither where it is the least double, nor where it is huge.
    #[test]
    fn weights_of_any_size_have_the_same_communities(sample in common::undirected(), resolution in 0.01..4.0_f64) {
        for options in all_options(resolution, 2).into_iter().filter(|one| one.objective == Objective::Modularity) {
            let found = [0, -1074, -963, -600, 900].map(|exponent: i32| {
                // In two steps: the power may be less than all doubles but the least.
                let half = 2.0_f64.powi(exponent / 2);
                let csr = sample.csr(|weight| f64::from(weight) * half * 2.0_f64.powi(exponent - exponent / 2));
                checked(&csr.graph(), &csr, &common::run(2, false), &options)
            });
            found.iter().for_each(|other| assert_eq!(other, &found[0]));
        }
    }
}

/// `groups` groups of `size` vertices, in which each vertex has about `inside` edges within its group and
/// `outside` to others. Vertices of a group do not follow one another.
fn planted(groups: usize, size: usize, inside: usize, outside: usize, seed: u64) -> (Csr, Vec<usize>) {
    let n = groups * size;
    let mut random = Random::new(seed);
    let truth: Vec<usize> = (0..n).map(|v| v % groups).collect();
    let mut edges = Vec::new();
    for (v, group) in truth.iter().enumerate() {
        for _ in 0..inside.div_ceil(2) {
            edges.push((vertex(v), vertex(group + groups * random.index(size)), ()));
        }
        for _ in 0..outside.div_ceil(2) {
            edges.push((vertex(v), vertex(random.index(n)), ()));
        }
    }
    (Csr::undirected(n, &edges).expect("the ends are vertices"), truth)
}

#[test]
fn planted_groups_are_found_by_any_number_of_threads() {
    let (csr, truth) = planted(40, 100, 16, 4, 7);
    for method in [CommunityMethod::Leiden, CommunityMethod::Louvain] {
        let options = LeidenOptions { method, ..LeidenOptions::default() };
        let found = checked(&csr.graph(), &csr, &common::run(1, false), &options);
        assert_eq!(checked(&csr.graph(), &csr, &common::run(3, false), &options), found);
        assert!(found.converged && found.communities <= 40, "{}", found.communities);
        // Most pairs of a group are together.
        let together = (0..truth.len() - 40).filter(|&v| found.labels[v] == found.labels[v + 40]).count();
        assert!(together as f64 > 0.97 * truth.len() as f64, "{together} of {}", truth.len());
    }
}

#[test]
fn a_graph_that_threads_share_has_one_answer() {
    let csr = common::skewed(10_000, 74_000, false, 3);
    let options = LeidenOptions { iterations: 1, ..LeidenOptions::default() };
    let answers = [1, 3].map(|threads| checked(&csr.graph(), &csr, &common::run(threads, false), &options));
    assert_eq!(answers[0], answers[1]);
}

/// Zachary's karate club, of which the highest modularity is known: 0.41979.
#[test]
fn the_karate_club_has_its_best_communities() {
    let others: [&[VertexId]; 34] = [
        &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
        &[2, 3, 7, 13, 17, 19, 21, 30],
        &[3, 7, 8, 9, 13, 27, 28, 32],
        &[7, 12, 13],
        &[6, 10],
        &[6, 10, 16],
        &[16],
        &[],
        &[30, 32, 33],
        &[33],
        &[],
        &[],
        &[],
        &[33],
        &[32, 33],
        &[32, 33],
        &[],
        &[],
        &[32, 33],
        &[33],
        &[32, 33],
        &[],
        &[32, 33],
        &[25, 27, 29, 32, 33],
        &[25, 27, 31],
        &[31],
        &[29, 33],
        &[33],
        &[31, 33],
        &[32, 33],
        &[32, 33],
        &[32, 33],
        &[33],
        &[],
    ];
    let edges: Vec<_> =
        (0..).zip(others).flat_map(|(u, list)| list.iter().map(move |&v| (u, v, ()))).collect();
    assert_eq!(edges.len(), 78);
    let csr = Csr::undirected(34, &edges).unwrap();
    let found = checked(&csr.graph(), &csr, &Run::with_threads(2).unwrap(), &LeidenOptions::default());
    assert!(found.quality > 0.4197, "{}", found.quality);
    assert_eq!((found.communities, found.converged), (4, true));
}

/// Loops, parallel edges, one community: `1 - resolution`; a loop counts twice in a strength.
#[test]
fn modularity_is_that_of_the_definition() {
    let run = Run::with_threads(2).unwrap();
    // Strengths 3, 4, 3: 0-0, 0-1, 1-2 three times; W is 10.
    let edges = [(0, 0, ()), (0, 1, ()), (1, 2, ()), (1, 2, ()), (1, 2, ())];
    let csr = Csr::undirected(3, &edges).unwrap();
    let found = checked(&csr.graph(), &csr, &run, &LeidenOptions::default());
    assert_eq!(found.labels, [0, 1, 1]);
    assert!((found.quality - (0.8 - 0.09 - 0.49)).abs() < 1e-12, "{}", found.quality);
    let one = LeidenOptions { resolution: 0.01, ..LeidenOptions::default() };
    let found = checked(&csr.graph(), &csr, &run, &one);
    assert_eq!((found.labels, found.communities), (vec![1; 3], 1));
    assert!((found.quality - 0.99).abs() < 1e-12);
    let potts = LeidenOptions { objective: Objective::Cpm, resolution: 2.5, ..one };
    let found = checked(&csr.graph(), &csr, &run, &potts);
    assert_eq!((found.labels, found.quality), (vec![0, 1, 1], 1.0 + 3.0 - 2.5));
}

#[test]
fn empty_graphs_and_bad_requests() {
    let run = common::run(2, false);
    let options = LeidenOptions::default();
    for n in [0, 1, 5] {
        let none = Csr::<f64>::undirected(n, &[]).unwrap();
        let found = checked(&none.graph(), &none, &run, &options);
        assert_eq!((found.communities, found.quality, found.converged), (n, 0.0, true));
    }
    let refused = |weight: f64| {
        let csr = Csr::undirected(2, &[(0, 1, weight)]).unwrap();
        leiden(&csr.graph(), &run, &options).unwrap_err().to_string()
    };
    assert_eq!(refused(-1.0), "cannot find communities by the weight -1: weights must not be negative");
    assert!(refused(f64::NAN).contains("no finite number"), "{}", refused(f64::NAN));
    let csr = Csr::directed(2, &[(0, 1, ())]).unwrap();
    assert!(leiden(&csr.graph(), &run, &options).unwrap_err().to_string().contains("undirected"));
    let csr = Csr::undirected(2, &[(0, 1, ())]).unwrap();
    let none = LeidenOptions { resolution: 0.0, ..options };
    assert!(leiden(&csr.graph(), &run, &none).unwrap_err().to_string().contains("resolution"));
    run.cancel().cancel();
    assert_eq!(leiden(&csr.graph(), &run, &options), Err(Stop::Cancelled));
}

#[test]
fn the_verifier_finds_faults() {
    // Two triangles joined by an edge, and a vertex by itself.
    let edges = [(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ()), (3, 4, ()), (4, 5, ()), (5, 3, ())];
    let csr = Csr::undirected(7, &edges).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let right = CommunityClaim {
        labels: &[2, 2, 2, 3, 3, 3, 6],
        is_cpm: false,
        resolution: 1.0,
        quality: 5.0 / 14.0,
        is_connected: true,
        is_settled: true,
    };
    check::communities(out, &right).unwrap();
    let fault = |claim: CommunityClaim<'_>, words: &str| {
        let error = check::communities(out, &claim).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    fault(CommunityClaim { labels: &[2; 6], ..right }, "6 labels");
    fault(CommunityClaim { labels: &[0, 0, 0, 3, 3, 3, 6], ..right }, "should be called");
    fault(CommunityClaim { labels: &[2, 2, 2, 3, 3, 3, 0], ..right }, "not in itself");
    fault(CommunityClaim { labels: &[2, 2, 2, 3, 3, 3, 2], ..right }, "no path");
    fault(CommunityClaim { quality: 0.36, ..right }, "the quality is");
    let split = CommunityClaim { labels: &[2, 1, 2, 3, 3, 3, 6], quality: 17.0 / 98.0, ..right };
    fault(split, "vertex 0 gains");
    check::communities(out, &CommunityClaim { is_settled: false, ..split }).unwrap();
    let potts = CommunityClaim { is_cpm: true, quality: 6.0 - 6.0, is_settled: false, ..right };
    check::communities(out, &potts).unwrap();
    fault(
        CommunityClaim { is_settled: true, resolution: 3.0, quality: 6.0 - 18.0, ..potts },
        "one of its own",
    );
}

/// Edges that weigh nothing were left out of the levels in memory only, so that without room for these other
/// vertices were visited.
#[test]
fn edges_without_weight_are_the_same_with_and_without_room_for_levels() {
    let sparse = vec![(8, 49), (17, 1), (17, 29), (26, 18), (6, 35), (31, 9), (4, 9), (1, 23), (38, 1)];
    let tree = vec![(9, 0), (9, 2), (5, 0), (4, 1), (9, 4)];
    let samples = [(50, sparse, 15_561_584_007_193_192_035), (10, tree, 7_229_927_938_048_933_312)];
    for (num_vertices, edges, seed) in samples {
        let sample = common::Sample { num_vertices, directed: false, edges, seed };
        for iterations in 1..4 {
            for options in all_options(1.0, iterations) {
                same_everywhere(&sample.csr(f64::from), sample.seed, &options);
            }
        }
    }
}
