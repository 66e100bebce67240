//! Changes against a map of edges: random additions, also of known edges with other weights, and removals,
//! also of unknown edges.

use std::collections::BTreeMap;

use super::*;
use crate::disk::job::StreamJob;

/// The edges that there should be, with their weights as text. Undirected ones have the lesser end first.
type Expected = BTreeMap<(u64, u64), String>;

/// Draws a file of changes, and applies them.
fn draw(random: &mut Random, expected: &mut Expected, weights: Option<WeightKind>, removes: bool) -> String {
    let mut text = "from,to,cost\n".to_owned();
    for _ in 0..1 + random.below(120) {
        let (source, target) = (random.below(25), random.below(25));
        let weight = match weights {
            Some(WeightKind::Float) => format!("{}", random.below(1000) as f64 / 8.0),
            _ => format!("{}", random.below(1000) as i64 - 300),
        };
        text.push_str(&format!("{source},{target},{weight}\n"));
        match removes {
            true => drop(expected.remove(&(source, target))),
            false => drop(expected.insert((source, target), weight)),
        }
    }
    text
}

fn exported(cluster: &Cluster, version: u64) -> Expected {
    let (run, mut out) = (Run::with_threads(1).expect("run"), Vec::new());
    export(cluster, version, Path::new("out"), &mut out, &run).expect("export");
    let text = String::from_utf8(out).expect("text");
    let rows = text.lines().skip(1).map(|line| {
        let mut fields = line.split(',');
        let mut end = || fields.next().expect("two ends").parse().expect("an id");
        ((end(), end()), fields.next().unwrap_or_default().to_owned())
    });
    rows.collect()
}

#[test]
fn additions_and_removals_are_those_of_a_map_of_edges() {
    let mut random = Random::new(29);
    for case in 0..6_usize {
        let (weights, shards) =
            ([None, Some(WeightKind::Int), Some(WeightKind::Float)][case / 2], 1 + case % 5 % 4);
        let place = tempfile::tempdir().expect("directory");
        let options = CreateOptions {
            shards,
            directed: true,
            text_ids: false,
            weights,
            seed: case as u64,
            hub_degree: [0, 4][case % 2],
        };
        let mut cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
        assert_eq!(crate::process::requests::weights(&cluster).expect("weights"), weights);
        let (mut expected, mut versions) = (Expected::new(), Vec::new());
        for step in 0..5 {
            let removes = step % 3 == 2;
            let path = place.path().join(format!("{step}.csv"));
            std::fs::write(&path, draw(&mut random, &mut expected, weights, removes)).expect("write");
            let job = ChangeJob { removes, weight: weights.map(|_| "cost".to_owned()), ..job_of(&path) };
            cluster = change_all(cluster, &job);
            versions.push((cluster.manifest().newest().number, expected.clone()));
        }
        for (version, mut expected) in versions {
            if weights.is_none() {
                expected.values_mut().for_each(String::clear);
            }
            assert_eq!(exported(&cluster, version), expected, "case {case}, version {version}");
        }
        let run = Run::with_threads(1).expect("run");
        assert_eq!(check(&cluster, &run).expect("check").problems, Vec::<String>::new());
    }
}

#[test]
fn a_memory_limit_makes_more_versions_of_the_same_edges_and_too_small_a_limit_is_refused() {
    let place = tempfile::tempdir().expect("directory");
    let path = place.path().join("edges.csv");
    // Long ids, so that the edges of one round take less than a quarter of the limit.
    let id = |number: u64| (1 << 60) + number;
    let edge = |number: u64| (id(number % 50_000), id(number * number % 49_999));
    let rows = (0..300_000).map(edge).map(|(source, target)| format!("{source},{target}\n"));
    std::fs::write(&path, format!("source,target\n{}", rows.collect::<String>())).expect("write");
    let options =
        CreateOptions { shards: 2, directed: true, text_ids: false, weights: None, seed: 2, hub_degree: 0 };
    let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
    let whole = |cluster: &Cluster| exported(cluster, cluster.manifest().newest().number);
    let limited = ChangeJob { memory_bytes: Some(32 << 20), ..job_of(&path) };
    let changed = change_all(cluster.clone(), &limited);
    assert!(changed.manifest().newest().number > 2, "half of the limit is more than one version");
    let expected: BTreeSet<_> = (0..300_000).map(edge).collect();
    assert_eq!(whole(&changed).into_keys().collect::<BTreeSet<_>>(), expected);
    let tiny = ChangeJob { memory_bytes: Some(1 << 16), ..job_of(&path) };
    let failed = run_threads(2, move |engine| change(&changed, engine, &tiny, &mut Never));
    let message = failed.expect_err("refused").to_string();
    assert!(message.contains("the limit is 65536 bytes") || message.contains("memory limit"), "{message}");
}

#[test]
fn an_undirected_edge_is_removed_from_either_end_and_its_vertices_stay() {
    let place = tempfile::tempdir().expect("directory");
    let options =
        CreateOptions { shards: 3, directed: false, text_ids: false, weights: None, seed: 2, hub_degree: 0 };
    let mut cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
    let path = place.path().join("edges.csv");
    for (removes, text) in [(false, "1,2\n2,3\n3,4\n4,1\n"), (true, "2,1\n3,4\n7,8\n")] {
        std::fs::write(&path, format!("source,target\n{text}")).expect("write");
        cluster = change_all(cluster, &ChangeJob { removes, ..job_of(&path) });
    }
    assert_eq!(exported(&cluster, 3).into_keys().collect::<Vec<_>>(), [(1, 4), (2, 3)]);
    let (_, whole) = counts(&cluster, 3).expect("counts");
    assert_eq!((whole.vertices, whole.edges), (4, 2), "the removal of an unknown edge makes no vertices");
}

#[test]
fn a_file_without_weights_and_a_weight_of_another_kind_are_refused() {
    let place = tempfile::tempdir().expect("directory");
    let path = place.path().join("edges.csv");
    let weights = Some(WeightKind::Int);
    let options =
        CreateOptions { shards: 1, directed: true, text_ids: false, weights, seed: 2, hub_degree: 0 };
    let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
    let refused = |text: &str| {
        std::fs::write(&path, text).expect("write");
        let (job, copy) = (job_of(&path), cluster.clone());
        let failed = run_threads(1, move |engine| change(&copy, engine, &job, &mut Never));
        failed.expect_err("refused").to_string()
    };
    let message = refused("source,target\n1,2\n");
    assert!(
        message.contains("edges.csv has no column of weights") && message.contains("`weight`"),
        "{message}"
    );
    let message = refused("source,target,weight\n1,2,3\n4,5,0.5\n");
    assert!(message.contains("the edge from 4 to 5 has the weight 0.5"), "{message}");
}

/// A file that states more vertices than go into one round, and has one edge.
fn matrix(place: &Path, vertices: u64) -> std::path::PathBuf {
    let path = place.join("matrix.mtx");
    let head = "%%MatrixMarket matrix coordinate pattern general";
    std::fs::write(&path, format!("{head}\n{vertices} {vertices} 1\n1 2\n")).expect("write");
    path
}

#[test]
fn all_vertices_that_a_header_states_arrive_and_count_towards_a_version() {
    for (case, stream) in [None, Some(StreamJob::default())].into_iter().enumerate() {
        for batch_edges in [0, 50_000] {
            let place = tempfile::tempdir().expect("directory");
            let options = CreateOptions {
                shards: 2,
                directed: true,
                text_ids: false,
                weights: None,
                seed: 2,
                hub_degree: 0,
            };
            let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
            let job = job_of(&matrix(place.path(), 150_000));
            let cluster = change_all(cluster, &ChangeJob { batch_edges, stream: stream.clone(), ..job });
            let newest = cluster.manifest().newest().number;
            let (_, whole) = counts(&cluster, newest).expect("counts");
            assert_eq!((whole.vertices, whole.edges), (150_000, 1), "case {case}, {batch_edges}");
            let is_one = newest == 2;
            assert_eq!(is_one, batch_edges == 0, "case {case}: {newest} versions");
        }
    }
}

#[test]
fn a_header_that_states_billions_of_vertices_is_refused() {
    let place = tempfile::tempdir().expect("directory");
    let options =
        CreateOptions { shards: 1, directed: true, text_ids: false, weights: None, seed: 2, hub_degree: 0 };
    let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
    let job = job_of(&matrix(place.path(), 2_000_000_000));
    let failed = run_threads(1, move |engine| change(&cluster, engine, &job, &mut Never));
    let message = failed.expect_err("refused").to_string();
    assert!(message.contains("states 2000000000 vertices: correct that number"), "{message}");
}

/// Each process cuts the files itself, so other bytes on another machine would lose and double edges.
#[test]
fn processes_that_read_different_files_publish_nothing() {
    let place = tempfile::tempdir().expect("directory");
    let options =
        CreateOptions { shards: 2, directed: true, text_ids: false, weights: None, seed: 4, hub_degree: 0 };
    let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
    let paths = ["a.csv", "b.csv"].map(|name| place.path().join(name));
    for (path, last) in paths.iter().zip(["3,4", "3,5"]) {
        std::fs::write(path, format!("source,target\n1,2\n{last}\n")).expect("write");
    }
    let prepared = vec![Prepared { shard_version: 0, edges_given: 0, mark: None, delegates: Vec::new() }; 2];
    let (parts, meeting) = (Mutex::new(prepared), Barrier::new(2));
    let together = Arc::new(Together { cluster: Mutex::new(cluster.clone()), parts, meeting });
    let (shared, copy) = (Arc::clone(&together), cluster.clone());
    let refusals = run_threads(2, move |engine| {
        let mut member = Member { shard: engine.index(), together: Arc::clone(&shared) };
        let job = job_of(&paths[engine.index()]);
        Ok(change(&copy, engine, &job, &mut member).err().map(|error| error.to_string()))
    });
    for refusal in refusals.expect("both end") {
        let refusal = refusal.expect("refused");
        assert!(refusal.contains("the worker of shard 1 read other bytes than that of shard 0"), "{refusal}");
    }
    assert_eq!(together.cluster.lock().manifest().newest().number, 1);
}
