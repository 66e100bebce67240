//! Databases that become clusters, and clusters that become databases.

use super::*;
use crate::process::reshard::{NewShards, merge, rebalance, split};

/// The edges of a database by external id, with the bits of their weights as numbers; undirected ones with
/// the lesser end first.
fn edges_of(version: &Version) -> BTreeSet<(OwnedId, OwnedId, String)> {
    let ids = ids_of(version);
    let mut edges = BTreeSet::new();
    for (v, id) in ids.iter().enumerate() {
        let list = version.edges(Direction::Out, vertex(v)).expect("list");
        for (place, &target) in list.targets().iter().enumerate() {
            let weight = version.weight_property().map_or_else(String::new, |weight| {
                let bits = list.bits(weight.number, place).expect("weight");
                esker_store::property::PropertyValue::from_stored(weight, bits).to_string()
            });
            let (source, target) = (id.clone(), ids[target as usize].clone());
            match version.is_directed() || source <= target {
                true => edges.insert((source, target, weight)),
                false => edges.insert((target, source, weight)),
            };
        }
    }
    edges
}

#[test]
fn a_database_that_is_split_and_merged_is_the_same() {
    let mut random = Random::new(53);
    let run = Run::with_threads(1).expect("run");
    for case in 0..8_usize {
        let (directed, is_text) = (case % 2 == 0, case / 2 % 2 == 1);
        let place = tempfile::tempdir().expect("directory");
        let (path, input) = (|name: &str| place.path().join(name), place.path().join("edges.csv"));
        let mut text = edges(&mut random, 40, 300, is_text);
        if case >= 4 {
            let weight = |line: &str| match line.starts_with("source") {
                true => format!("{line},weight\n"),
                false => format!("{line},{}\n", random.below(99) as f64 / if is_text { 8.0 } else { 1.0 }),
            };
            text = text.lines().map(weight).collect();
        }
        std::fs::write(&input, &text).expect("write");
        let alone = single(&path("alone"), &input, directed, is_text);
        let database = Store::open(path("alone")).expect("open");
        let hub_degree = [0, 5, 3][case % 3];
        let cut = NewShards { shards: 1 + case % 4, seed: 3, hub_degree };
        let (cluster, left_out) = split(&database, 1, &path("c"), cut, &run).expect("split");
        assert!(left_out.is_empty());
        assert_eq!(check(&cluster, &run).expect("check").problems, Vec::<String>::new());
        let (_, whole) = counts(&cluster, 1).expect("counts");
        assert_eq!((whole.vertices, whole.edges), (alone.num_vertices() as u64, alone.num_edges()));
        expect_same_answers(&cluster, 1, &alone);
        // From so many shards to more, to fewer, and to as many with another hash.
        let wider = rebalance(&cluster, 1, &path("wider"), 1 + (case + 2) % 5, 8, &run).expect("rebalance");
        assert_eq!(check(&wider, &run).expect("check").problems, Vec::<String>::new());
        let (_, whole) = counts(&wider, 1).expect("counts");
        assert_eq!((whole.vertices, whole.edges), (alone.num_vertices() as u64, alone.num_edges()));
        assert_eq!(wider.manifest().newest().edges_given, alone.num_edges());
        expect_same_answers(&wider, 1, &alone);
        let cluster = if case % 2 == 0 { wider } else { cluster };
        merge(&cluster, 1, &path("merged"), &run).expect("merge");
        let merged = Store::open(path("merged")).and_then(|store| store.latest()).expect("open");
        assert_eq!(edges_of(&merged), edges_of(&alone), "case {case}");
        let sorted = |version| ids_of(version).into_iter().collect::<BTreeSet<_>>();
        assert_eq!(sorted(&merged), sorted(&alone));
    }
}

#[test]
fn a_split_database_can_be_added_to_and_vertices_without_edges_stay() {
    let place = tempfile::tempdir().expect("directory");
    let (path, run) = (|name: &str| place.path().join(name), Run::with_threads(1).expect("run"));
    std::fs::write(path("a.csv"), "source,target\n1,2\n2,3\n").expect("write");
    drop(single(&path("alone"), &path("a.csv"), true, false));
    let database = esker_store::Database::open(path("alone"), esker_store::DatabaseOptions::default());
    let database = database.expect("open");
    let mut batch = database.batch();
    batch.add_vertex(7_u64).expect("vertex");
    batch.remove_vertex(3_u64).expect("vertex");
    let version = database.commit(batch, "change").expect("commit");
    database.close().expect("close");
    let store = Store::open(path("alone")).expect("open");
    let cut = NewShards { shards: 2, seed: 3, hub_degree: 0 };
    let (cluster, _) = split(&store, version, &path("c"), cut, &run).expect("split");
    std::fs::write(path("b.csv"), "source,target\n7,8\n").expect("write");
    let cluster = add_all(cluster, &path("b.csv"), 0);
    let (_, whole) = counts(&cluster, 2).expect("counts");
    assert_eq!((whole.vertices, whole.edges), (4, 2), "1 -> 2, 7 -> 8, and no vertex 3");
    assert_eq!(
        cluster.manifest().versions[0].message,
        format!("split {} version 2", path("alone").display())
    );
}

#[test]
fn streams_go_on_in_a_rebalanced_cluster_where_its_version_was() {
    let place = tempfile::tempdir().expect("directory");
    let (path, run) = (|name: &str| place.path().join(name), Run::with_threads(1).expect("run"));
    let options =
        CreateOptions { shards: 2, directed: true, text_ids: false, weights: None, seed: 2, hub_degree: 0 };
    let mut cluster = Cluster::create(&path("c"), &options).expect("create");
    for message in ["stream a: 5 edges", "stream b: 1 edge, mark f", "add x", "stream a: 9 edges, mark 3"] {
        cluster.publish(vec![1, 1], 4, message).expect("publish");
    }
    let messages = |version| {
        let name = path(&format!("of-{version}"));
        let made = rebalance(&cluster, version, &name, 3, 7, &run).expect("rebalance");
        let versions = &made.manifest().versions;
        assert!(versions[1..].iter().all(|version| version.edges_given == 0 && version.shards == [1, 1, 1]));
        versions[1..].iter().map(|version| version.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(messages(5), ["stream b: 1 edge, mark f", "stream a: 9 edges, mark 3"]);
    assert_eq!(messages(4), ["stream a: 5 edges", "stream b: 1 edge, mark f"]);
    assert_eq!(messages(1), Vec::<String>::new());
}
