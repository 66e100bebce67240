//! Clusters with delegates against a cluster of one shard, which has none: random additions and removals,
//! directed and undirected, with integer and text ids, with and without weights.

use super::*;
use crate::process::reshard::{merge, rebalance};

const PARAMETERS_OF_CDLP: &[(&str, &str)] = &[("iterations", "3")];

/// A file of changes: a few sources and targets are hubs.
fn draw(random: &mut Random, known: &mut Vec<String>, text_ids: bool, removes: bool) -> String {
    let mut text = "source,target,weight\n".to_owned();
    let rows = edges(random, 14, 60, text_ids) + &edges(random, 14, 60, text_ids)["source,target\n".len()..];
    for (index, row) in rows.lines().skip(1).enumerate() {
        let (source, target) = row.split_once(',').expect("two ends");
        // Hubs are targets there.
        let (source, target) = if index % 2 == 0 { (source, target) } else { (target, source) };
        let row = match removes && !known.is_empty() && random.below(3) > 0 {
            true => known.swap_remove(random.below(known.len() as u64) as usize),
            false => format!("{source},{target}"),
        };
        text.push_str(&format!("{row},{}\n", random.below(20)));
        known.push(row);
    }
    text
}

/// Compares all answers of a version.
fn expect_equal(cluster: &Cluster, alone: &Cluster, version: u64, source: &str, case: u64) {
    let directed = cluster.manifest().directed;
    let mut runs: Vec<(&str, &[(&str, &str)])> = vec![
        ("degrees", &[]),
        ("wcc", &[]),
        ("pagerank", &[]),
        ("triangles", &[]),
        ("cdlp", PARAMETERS_OF_CDLP),
    ];
    if !directed {
        runs.extend([("kcore", &[][..]), ("colouring", &[])]);
    }
    let from = [("source", source)];
    let narrow = [("source", source), ("delta", "2.5")];
    runs.extend([("bfs", &from[..]), ("sssp", &from), ("sssp", &narrow)]);
    for (algorithm, params) in runs {
        let (found, expected) =
            (run_all(cluster, algorithm, params, version), run_all(alone, algorithm, params, version));
        assert_eq!(found, expected, "case {case}: {algorithm} of version {version}");
    }
    let whole = |cluster: &Cluster| {
        let (_, whole) = counts(cluster, version).expect("counts");
        (whole.vertices, whole.edges)
    };
    assert_eq!(whole(cluster), whole(alone), "case {case}, version {version}");
    assert_eq!(lines(cluster, version), lines(alone, version), "case {case}, version {version}");
}

/// The lines of an export, sorted; undirected edges with the lesser end first.
fn lines(cluster: &Cluster, version: u64) -> Vec<String> {
    let (run, mut out) = (Run::with_threads(1).expect("run"), Vec::new());
    export(cluster, version, Path::new("out"), &mut out, &run).expect("export");
    let mut lines: Vec<String> = String::from_utf8(out).expect("text").lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn expect_sound(cluster: &Cluster) {
    let run = Run::with_threads(1).expect("run");
    assert_eq!(check(cluster, &run).expect("check").problems, Vec::<String>::new());
}

#[test]
fn answers_do_not_depend_on_delegates() {
    let (mut random, mut delegates) = (Random::new(97), 0);
    for case in 0..12_u64 {
        let (directed, text_ids) = (case % 2 == 0, case / 2 % 2 == 1);
        let weights = [None, Some(WeightKind::Int), Some(WeightKind::Float)][case as usize % 3];
        let place = tempfile::tempdir().expect("directory");
        let create = |shards, hub_degree| {
            let options = CreateOptions { shards, directed, text_ids, weights, seed: case, hub_degree };
            Cluster::create(&place.path().join(format!("of-{shards}")), &options).expect("create")
        };
        let shards = [2, 3, 8][case as usize / 4];
        let mut cluster = create(shards, [3, 8, 15][case as usize % 3]);
        let (mut alone, mut known, path) = (create(1, 0), Vec::new(), place.path().join("edges.csv"));
        for step in 0..5 {
            let removes = step == 3;
            std::fs::write(&path, draw(&mut random, &mut known, text_ids, removes)).expect("write");
            let job = ChangeJob { removes, ..job_of(&path) };
            (cluster, alone) = (change_all(cluster, &job), change_all(alone, &job));
            expect_sound(&cluster);
        }
        let source = known[0].split(',').next().expect("an end").to_owned();
        (2..=6).for_each(|version| expect_equal(&cluster, &alone, version, &source, case));
        let since: Vec<u64> = cluster.manifest().delegates.iter().map(|delegate| delegate.since).collect();
        assert!(
            since.iter().all(|&since| since > 2 && since != 5),
            "not before the second addition: {since:?}"
        );
        delegates += since.len();
        // Delegates of the old cluster are delegates of the new one.
        let (run, path) = (Run::with_threads(1).expect("run"), |name: &str| place.path().join(name));
        let other = rebalance(&cluster, 6, &path("other"), shards % 4 + 1, 5, &run).expect("rebalance");
        expect_sound(&other);
        assert_eq!(lines(&other, 1), lines(&alone, 6), "case {case}");
        assert_eq!(run_all(&other, "pagerank", &[], 1), run_all(&alone, "pagerank", &[], 6), "case {case}");
        merge(&other, 1, &path("merged"), &run).expect("merge");
        let merged = Store::open(path("merged")).and_then(|store| store.latest()).expect("open");
        let (_, whole) = counts(&alone, 6).expect("counts");
        assert_eq!((merged.num_vertices() as u64, merged.num_edges()), (whole.vertices, whole.edges));
    }
    assert!(delegates > 100, "too few delegates to show anything: {delegates}");
}

#[test]
fn a_hub_that_grows_in_one_addition_is_spread_over_the_shards() {
    for directed in [true, false] {
        let place = tempfile::tempdir().expect("directory");
        let path = place.path().join("edges.csv");
        // Every other edge is one of the hub, in several rounds of three processes.
        let far = 1_000_000_000_000_000_000;
        let edge = |index: u64| match index % 2 {
            0 => (far, far + 1000 + index),
            _ => (far + 1000 + index * index % 100_000, far + 1000 + index),
        };
        let rows = (0..260_000).map(edge).map(|(source, target)| format!("{source},{target}\n"));
        std::fs::write(&path, format!("source,target\n{}", rows.collect::<String>())).expect("write");
        let options = CreateOptions {
            shards: 3,
            directed,
            text_ids: false,
            weights: None,
            seed: 2,
            hub_degree: 20_000,
        };
        let cluster = add_all(Cluster::create(&place.path().join("c"), &options).expect("create"), &path, 0);
        let delegates = &cluster.manifest().delegates;
        assert_eq!(delegates.iter().map(|one| one.id.clone()).collect::<Vec<_>>(), [OwnedId::Int(far)]);
        let newest = cluster.manifest().newest().number;
        assert!(delegates[0].since > 2 && delegates[0].since <= newest, "a version was made for the hub");
        let given: u64 = cluster.manifest().versions.iter().map(|version| version.edges_given).sum();
        assert_eq!(given, 260_000);
        let expected: BTreeSet<String> = (0..260_000)
            .map(edge)
            .map(|(a, b)| if directed { (a, b) } else { (a.min(b), a.max(b)) })
            .map(|(source, target)| format!("{source},{target}"))
            .collect();
        let mut found: BTreeSet<String> = lines(&cluster, newest).into_iter().collect();
        assert!(found.remove("source,target") && found == expected, "the edges are those that were given");
        let (shards, _) = counts(&cluster, newest).expect("counts");
        let edges: Vec<u64> = shards.iter().map(|shard| shard.edges).collect();
        let mean = edges.iter().sum::<u64>() / 3;
        assert!(edges.iter().all(|&one| one < mean * 5 / 4), "{edges:?}");
        expect_sound(&cluster);
        let degrees = run_all(&cluster, "degrees", &[], newest);
        assert_eq!(degrees[&OwnedId::Int(far)][0], Cell::Count(130_000));
    }
}
