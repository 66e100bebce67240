//! Compares the differences of random histories with a model.

use std::collections::BTreeMap;

use esker_graph::{Budget, Run, RunOptions, VertexId};
use esker_layers::property::PropertyValue;
use proptest::prelude::*;

use super::touched::TouchedVertices;
use super::{DiffCache, DiffEdge, Difference};
use crate::version::Version;
use crate::view::layered_tests::{Edges, History, Op, ops};
use esker_format::CopyPolicy;

/// The differences of two versions' edges.
#[derive(Debug, Default, PartialEq)]
struct EdgeChanges {
    /// For each source, target and weight, the number of copies added (positive) or removed (negative).
    copies: BTreeMap<(VertexId, VertexId, i32), i64>,
    /// The old and new weight of each edge that changed.
    changed: BTreeMap<(VertexId, VertexId), (i32, i32)>,
}

fn by_model(a: &Edges, b: &Edges) -> EdgeChanges {
    let mut changes = EdgeChanges::default();
    for (&(u, v), weights) in a {
        weights.iter().for_each(|&weight| *changes.copies.entry((u, v, weight)).or_default() -= 1);
    }
    for (&(u, v), weights) in b {
        weights.iter().for_each(|&weight| *changes.copies.entry((u, v, weight)).or_default() += 1);
    }
    for (ends, old) in a {
        if let ([old], Some([new])) = (&old[..], b.get(ends).map(|new| &new[..]))
            && old != new
        {
            changes.copies.remove(&(ends.0, ends.1, *old));
            changes.copies.remove(&(ends.0, ends.1, *new));
            changes.changed.insert(*ends, (*old, *new));
        }
    }
    changes.copies.retain(|_, count| *count != 0);
    changes
}

fn weight(version: &Version, edge: DiffEdge<'_>) -> i32 {
    let property = version.edge_properties().next().unwrap();
    match edge.value(property).unwrap() {
        PropertyValue::I32(weight) => weight,
        other => panic!("expected a weight, found {other:?}"),
    }
}

fn found(cache: &mut DiffCache, a: &Version, b: &Version, run: &Run) -> EdgeChanges {
    let mut changes = EdgeChanges::default();
    let mut last = 0;
    let summary = cache
        .diff(a, b, run, |difference| {
            let source = match difference {
                Difference::EdgeAdded(edge) => {
                    *changes.copies.entry((edge.source, edge.target, weight(b, edge))).or_default() += 1;
                    edge.source
                }
                Difference::EdgeRemoved(edge) => {
                    *changes.copies.entry((edge.source, edge.target, weight(a, edge))).or_default() -= 1;
                    edge.source
                }
                Difference::EdgeChanged(old, new) => {
                    assert_eq!((old.source, old.target), (new.source, new.target));
                    changes.changed.insert((old.source, old.target), (weight(a, old), weight(b, new)));
                    old.source
                }
                other => panic!("unexpected difference of a vertex: {other:?}"),
            };
            assert!(source >= last, "differences must come in the order of vertices");
            last = source;
            Ok(())
        })
        .unwrap();
    let count = |sign: i64| changes.copies.values().map(|count| (count * sign).max(0)).sum::<i64>() as u64;
    assert_eq!((summary.edges_added, summary.edges_removed), (count(1), count(-1)));
    assert_eq!(summary.edges_changed, changes.changed.len() as u64);
    changes
}

proptest! {
    #![proptest_config(esker_format::testing::cases(60))]
    #[test]
    fn the_differences_of_any_two_versions_are_those_of_their_edges(
        (n, layers) in (1_usize..30).prop_flat_map(|n| (
            Just(n), prop::collection::vec(prop::collection::vec(ops(n, 20), 1..4), 1..5),
        )),
        edges in 0_usize..100, directed: bool, multigraph: bool, seed: u32,
        policy in prop::sample::select(vec![CopyPolicy::Chain, CopyPolicy::Copy, CopyPolicy::Mixed]),
    ) {
        let run = Run::with_threads(1).unwrap();
        let mut history = History::new(n, edges, directed, multigraph, seed);
        for commits in &layers {
            history.freeze(commits, policy, &run);
        }
        let mut cache = DiffCache::default();
        for a in 1..=history.versions.len() {
            for b in 1..=history.versions.len() {
                let expected = by_model(&history.versions[a - 1], &history.versions[b - 1]);
                let (old, new) = (history.version(a as u64), history.version(b as u64));
                // By itself, with what is known of the last layer, and with what it has then learned of this
                // one.
                let anew = found(&mut DiffCache::default(), &old, &new, &run);
                let answers = [anew, found(&mut cache, &old, &new, &run), found(&mut cache, &old, &new, &run)];
                for answer in answers {
                    prop_assert_eq!(&answer, &expected, "from {} to {}", a, b);
                }
            }
        }
    }
}

#[test]
fn comparing_near_versions_visits_only_vertices_changed_in_between() {
    let run = Run::with_threads(1).unwrap();
    let mut history = History::new(1000, 5000, true, false, 7);
    let commit = |v: VertexId| -> Vec<Op> { vec![(v, v + 1, Some(3)), (v + 500, v, None)] };
    history.freeze(&(0..100).map(commit).collect::<Vec<_>>(), CopyPolicy::Mixed, &run);
    history.freeze(&(100..110).map(commit).collect::<Vec<_>>(), CopyPolicy::Mixed, &run);
    for (a, b) in [(50, 51), (51, 53), (101, 102), (110, 111)] {
        let newer = history.version(b);
        let mut touched = TouchedVertices::new(newer.stack(), a, None, &run).unwrap();
        let mut vertices = Vec::new();
        while let Some(v) = touched.next().unwrap() {
            vertices.push(u64::from(v));
        }
        // Version 2 changed vertex 0, and vertex 500 if it had the edge that was removed. Of lists that the
        // first layer after a version has whole, it does not tell in which of its versions they changed.
        let until = if a == 101 { 110 } else { b - 1 };
        let possible = |v: u64| (a - 1..until).contains(&(v % 500));
        assert!(vertices.len() as u64 >= b - a && vertices.iter().all(|&v| possible(v)), "{vertices:?}");
    }
}

#[test]
fn a_cache_takes_a_quarter_of_the_budget_at_most_and_only_as_long_as_the_layer_is_there() {
    let mut history = History::new(1000, 5000, true, false, 7);
    let commit = |v: VertexId| -> Vec<Op> { vec![(v, v + 1, Some(3)), (v + 500, v, None)] };
    let plain = Run::with_threads(1).unwrap();
    history.freeze(&(0..50).map(commit).collect::<Vec<_>>(), CopyPolicy::Mixed, &plain);
    let (mut caches, mut have_taken) = (Vec::new(), Vec::new());
    for limit in [100, 1 << 14, 1 << 20] {
        let (budget, mut cache) = (Budget::new(limit), DiffCache::default());
        let options = RunOptions { threads: 1, budget: budget.clone(), ..RunOptions::default() };
        let run = Run::new(options).unwrap();
        // Backwards too: then the codes that were left out are asked for.
        for version in (20..50).chain(1..20) {
            let (old, new) = (history.version(version), history.version(version + 1));
            let anew = found(&mut DiffCache::default(), &old, &new, &plain);
            assert_eq!(found(&mut cache, &old, &new, &run), anew);
            assert!(budget.free_bytes() >= limit - limit / 4);
        }
        cache.forget_gone();
        have_taken.push(budget.free_bytes() < limit);
        caches.push((budget, cache));
    }
    assert_eq!(have_taken, [false, true, true]);
    drop(history);
    for (budget, mut cache) in caches {
        cache.forget_gone();
        assert_eq!(budget.free_bytes(), budget.limit_bytes());
    }
}
