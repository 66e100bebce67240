//! Differences of random histories against a model.

use std::collections::BTreeMap;

use esker_graph::{Run, VertexId};
use proptest::prelude::*;

use super::touched::Touched;
use super::{Difference, EdgeOf, diff};
use crate::freeze::CopyPolicy;
use crate::property::PropertyValue;
use crate::snapshot::Snapshot;
use crate::snapshot::layered_tests::{Edges, History, Op, ops};

/// Edges by their ends, with what became of their weights: how many copies of each came or went, and changes.
#[derive(Debug, Default, PartialEq)]
struct Changes {
    copies: BTreeMap<(VertexId, VertexId, i32), i64>,
    changed: BTreeMap<(VertexId, VertexId), (i32, i32)>,
}

fn by_model(a: &Edges, b: &Edges) -> Changes {
    let mut changes = Changes::default();
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

fn weight(snapshot: &Snapshot, edge: EdgeOf<'_>) -> i32 {
    let property = snapshot.edge_properties().next().unwrap();
    match edge.value(property).unwrap() {
        PropertyValue::I32(weight) => weight,
        other => panic!("a weight is no {other:?}"),
    }
}

fn found(a: &Snapshot, b: &Snapshot, run: &Run) -> Changes {
    let mut changes = Changes::default();
    let mut last = 0;
    let summary = diff(a, b, run, |difference| {
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
            other => panic!("{other:?}: nothing happens to vertices"),
        };
        assert!(source >= last, "differences come in the order of vertices");
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
    #![proptest_config(crate::cases::of(60))]
    #[test]
    fn differences_of_all_pairs_of_versions_are_those_of_their_edges(
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
        for a in 1..=history.versions.len() {
            for b in 1..=history.versions.len() {
                let expected = by_model(&history.versions[a - 1], &history.versions[b - 1]);
                let found = found(&history.snapshot(a as u64), &history.snapshot(b as u64), &run);
                prop_assert_eq!(found, expected, "from {} to {}", a, b);
            }
        }
    }
}

#[test]
fn near_versions_cost_what_changed_between_them() {
    let run = Run::with_threads(1).unwrap();
    let mut history = History::new(1000, 5000, true, false, 7);
    let commit = |v: VertexId| -> Vec<Op> { vec![(v, v + 1, Some(3)), (v + 500, v, None)] };
    history.freeze(&(0..100).map(commit).collect::<Vec<_>>(), CopyPolicy::Mixed, &run);
    history.freeze(&(100..110).map(commit).collect::<Vec<_>>(), CopyPolicy::Mixed, &run);
    for (a, b) in [(50, 51), (51, 53), (101, 102), (110, 111)] {
        let newer = history.snapshot(b);
        let mut touched = Touched::new(newer.stack(), a, &run).unwrap();
        let mut vertices = Vec::new();
        while let Some(v) = touched.next().unwrap() {
            vertices.push(u64::from(v));
        }
        // Version 2 changed vertices 0 and perhaps 500, which may have had no such edge.
        let possible = |v: u64| (a - 1..b - 1).contains(&(v % 500));
        assert!(vertices.len() as u64 >= b - a && vertices.iter().all(|&v| possible(v)), "{vertices:?}");
    }
}
