//! Breadth-first search on random graphs of many kinds.

use esker_algo::algorithm::paths::bfs::{Bfs, BfsOptions, bfs};
use esker_algo::check;
use esker_algo::primitive::SwitchThresholds;
use esker_graph::{Csr, Direction, Graph, Induced, NONE, Remaining, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, sources: &[VertexId]) -> Bfs {
    let found = bfs(graph, run, sources, &BfsOptions::default()).expect("a search");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::bfs(out, sources, &found.parents, found.depths.as_deref()).expect("a right answer");
    let reached = found.parents.iter().filter(|&&p| p != NONE).count();
    assert_eq!(found.reached, reached);
    let searched = found.parents.iter().zip(0..).filter(|(parent, _)| **parent != NONE);
    assert_eq!(found.arcs, searched.map(|(_, v)| graph.degree(Direction::Out, v) as u64).sum::<u64>());
    for (depths, parents) in [(true, false), (false, true), (false, false)] {
        let options = BfsOptions { depths, parents, ..BfsOptions::default() };
        let less = bfs(graph, run, sources, &options).expect("a search");
        assert_eq!(less.depths, found.depths.clone().filter(|_| depths), "as with parents");
        assert_eq!(less.parents.len(), if parents { found.parents.len() } else { 0 });
        assert_eq!((less.reached, less.arcs, less.rounds), (found.reached, found.arcs, found.rounds));
    }
    found
}

proptest! {
    #![proptest_config(common::cases(300))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), picks in prop::collection::vec(any::<u32>(), 1..3)) {
        let csr = sample.csr(|_| ());
        let graph = csr.graph();
        let sources: Vec<_> =
            picks.iter().map(|p| (*p as usize % sample.num_vertices) as VertexId).collect();
        for deterministic in [false, true] {
            let mut answers = Vec::new();
            for run in common::runs(deterministic) {
                answers.push(checked(&graph, &csr, &run, &sources));
                each_form!(csr, sample.seed, |form| answers.push(checked(form, &csr, &run, &sources)));
                answers.push(checked(&common::without_in_edges(&graph), &csr, &run, &sources));
            }
            for answer in &answers {
                prop_assert_eq!(&answer.depths, &answers[0].depths);
                prop_assert_eq!(answer.arcs, answers[0].arcs);
                if deterministic {
                    prop_assert_eq!(&answer.parents, &answers[0].parents);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn a_search_that_ends_early_is_the_whole_one_up_to_there(
        sample in common::samples(), source in any::<u32>(), target in any::<u32>(), most in 0..5u32
    ) {
        let csr = sample.csr(|_| ());
        let pick = |pick| (pick as usize % sample.num_vertices) as VertexId;
        let (source, target, most) = (pick(source), pick(target), VertexId::from(most));
        let view = csr.graph();
        let out = view.rows(Direction::Out).expect("out-lists");
        for run in common::runs(false).into_iter().chain(common::runs(true)) {
            let whole = checked(&view, &csr, &run, &[source]).depths.expect("depths");
            let at = whole[target as usize];
            for (depth_max, target, limit) in
                [(Some(most), None, most), (None, Some(target), at), (Some(most), Some(target), most.min(at))]
            {
                let options = BfsOptions { depth_max, target, ..BfsOptions::default() };
                let found = bfs(&view, &run, &[source], &options).expect("a search");
                let cut = |&depth: &VertexId| if depth <= limit { depth } else { NONE };
                let expected: Vec<_> = whole.iter().map(cut).collect();
                prop_assert_eq!(found.depths.as_ref(), Some(&expected));
                prop_assert_eq!(found.reached, expected.iter().filter(|&&depth| depth != NONE).count());
                let alone = bfs(&view, &run, &[source], &BfsOptions { parents: false, ..options }).expect("a search");
                prop_assert_eq!(alone.depths, found.depths);
                let checked = check::bfs_within(out, &[source], &found.parents, Some(&expected), limit);
                prop_assert_eq!(checked.map_err(|wrong| wrong.to_string()), Ok(()));
            }
        }
    }
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn thresholds_never_change_depths(
        sample in common::samples(), pick in any::<u32>(), alpha in 1e-3..1e4_f64, beta in 1e-3..1e4_f64
    ) {
        let csr = sample.csr(|_| ());
        let source = (pick as usize % sample.num_vertices) as VertexId;
        let view = csr.graph();
        let out = view.rows(Direction::Out).expect("out-lists");
        let options = BfsOptions { thresholds: Some(SwitchThresholds { alpha, beta }), ..BfsOptions::default() };
        for run in common::runs(false) {
            let depths = checked(&view, &csr, &run, &[source]).depths;
            let check = |found: Bfs| {
                check::bfs(out, &[source], &found.parents, found.depths.as_deref()).expect("a right answer");
                prop_assert_eq!(&found.depths, &depths);
                Ok(found.pulls)
            };
            check(bfs(&view, &run, &[source], &options).unwrap())?;
            let pulls = check(bfs(&common::without_in_edges(&view), &run, &[source], &options).unwrap())?;
            prop_assert!(pulls == 0 || !sample.directed);
        }
    }
}

/// The graph has levels of 1, 1, 8, 64, 512, 64, 8, 1, 1 and 1 vertices; each vertex has an edge to one of
/// the next level at least.
#[test]
fn thresholds_say_when_a_search_turns() {
    let levels = [1, 1, 8, 64, 512, 64, 8, 1, 1, 1];
    let mut edges = Vec::new();
    let mut begin = 0;
    for pair in levels.windows(2) {
        let next = begin + pair[0];
        edges.extend((0..pair[0].max(pair[1])).map(|i| (begin + i % pair[0], next + i % pair[1], ())));
        begin = next;
    }
    let csr = Csr::undirected(begin as usize + 1, &edges).unwrap();
    let run = common::run(2, false);
    let pulls = |thresholds: Option<(f64, f64)>| {
        let thresholds = thresholds.map(|(alpha, beta)| SwitchThresholds { alpha, beta });
        let found =
            bfs(&csr.graph(), &run, &[0], &BfsOptions { thresholds, ..BfsOptions::default() }).unwrap();
        assert_eq!((found.reached, found.rounds), (csr.graph().num_vertices(), 10));
        found.pulls
    };
    // One in twenty of what a pull reads lies between levels 2 and 3 (80 and 640 vertices and arcs), and
    // between 6 and 7 (80 and 10).
    assert_eq!(pulls(Some((20.0, 20.0))), 4);
    // By cost: 640 vertices and arcs of level 3 are pushed, since three times as many are fewer than the
    // 2,260 arcs and 587 vertices before them. Of the 1,536 of level 4, a pull looks at 123 arcs of 75
    // vertices; of the 640 of level 5, at fewer.
    assert_eq!(pulls(None), 2);
    // Where lists are not at hand, one in twenty decides.
    let (view, remaining) = (csr.graph(), Remaining::new(begin as usize + 1, &[]).unwrap());
    let wrapped = Induced::new(&view, &remaining);
    assert!(view.is_at_hand() && !wrapped.is_at_hand());
    assert_eq!(bfs(&wrapped, &run, &[0], &BfsOptions::default()).unwrap().pulls, 4);
    assert_eq!(pulls(Some((1e-6, 1.0))), 0); // Never pulls.
    assert_eq!(pulls(Some((1e6, 1e6))), 10); // Never pushes.
    // As NETALX: pulls at once. Levels 1 to 4 would be pushed by the second threshold, but they do not
    // shrink; level 6 is.
    assert_eq!(pulls(Some((4096.0, 4.0))), 6);
}

#[test]
fn a_search_reads_no_lists_beyond_its_end() {
    let edges: Vec<_> = (1..1000).map(|v| (v - 1, v, ())).collect();
    let path = Csr::undirected(1000, &edges).unwrap();
    let run = common::run(2, false);
    for options in [
        BfsOptions { depth_max: Some(3), ..BfsOptions::default() },
        BfsOptions { target: Some(3), ..BfsOptions::default() },
    ] {
        let found = bfs(&path.graph(), &run, &[0], &options).unwrap();
        assert_eq!((found.reached, found.rounds, found.arcs), (4, 4, 5));
    }
    let missing = BfsOptions { target: Some(1000), ..BfsOptions::default() };
    let error = bfs(&path.graph(), &run, &[0], &missing).unwrap_err();
    assert_eq!(error.to_string(), "target 1000 is not a vertex: the graph has 1000 vertices");
}

#[test]
fn empty_graph_and_bad_sources() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(bfs(&none.graph(), &run, &[], &BfsOptions::default()).unwrap().parents, []);
    let one = Csr::<()>::directed(1, &[(0, 0, ())]).unwrap();
    let found =
        bfs(&one.graph(), &run, &[0, 0], &BfsOptions { depths: false, ..BfsOptions::default() }).unwrap();
    assert_eq!((found.parents, found.depths, found.reached), (vec![0], None, 1));
    let error = bfs(&one.graph(), &run, &[1], &BfsOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "source 1 is not a vertex: the graph has 1 vertex");
}

#[test]
fn a_long_path_takes_a_round_a_vertex() {
    let n = 30_000;
    let edges: Vec<_> = (1..n).map(|v| (v - 1, v, ())).collect();
    let path = Csr::undirected(n as usize, &edges).unwrap();
    let found = checked(&path.graph(), &path, &common::run(2, false), &[0]);
    assert_eq!(found.rounds, n as usize);
}

#[test]
fn the_verifier_finds_faults() {
    let square = Csr::<()>::directed(4, &[(0, 1, ()), (0, 2, ()), (1, 3, ()), (2, 3, ())]).unwrap();
    let view = square.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::bfs(out, &[0], &[0, 0, 0, 2], Some(&[0, 1, 1, 2])).unwrap();
    for (parents, depths) in [
        ([0, 0, 0, 0], [0, 1, 1, 1]),
        ([0, 0, 0, NONE], [0, 1, 1, NONE]),
        ([0, 0, 0, 2], [0, 1, 1, 3]),
        ([0, 0, 0, 3], [0, 1, 1, 2]),
        ([0, 2, 0, 2], [0, 2, 1, 2]),
        ([1, 0, 0, 2], [0, 1, 1, 2]),
    ] {
        check::bfs(out, &[0], &parents, Some(&depths)).unwrap_err();
    }
    check::bfs_within(out, &[0], &[0, 0, 0, NONE], Some(&[0, 1, 1, NONE]), 1).unwrap();
    check::bfs_within(out, &[0], &[0, 0, 0, 2], Some(&[0, 1, 1, 2]), 1).unwrap_err();
    check::bfs_within(out, &[0], &[0, 0, NONE, NONE], Some(&[0, 1, NONE, NONE]), 1).unwrap_err();
}
