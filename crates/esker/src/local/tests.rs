use std::collections::BTreeSet;
use std::sync::Arc;

use esker_graph::random::Random;
use esker_graph::{Direction, Run, VertexId, vertex};
use esker_import::install::import;
use esker_import::open::open_reader;
use esker_import::options::{Duplicates, ImportOptions};
use esker_import::read::format::ReadOptions;
use esker_store::io::RealDisk;
use esker_store::manifest::StagingOptions;
use esker_store::{Database, DatabaseOptions, Store, Version};

use super::search::FoundPaths;
use super::*;

/// A small graph with random weights of 0 to 9 and parallel edges, integers or floats.
fn graph(seed: u64, directed: bool, in_edges: bool, floats: bool) -> (tempfile::TempDir, Version) {
    let directory = tempfile::tempdir().unwrap();
    let mut numbers = Random::new(seed);
    let mut random = |limit: u64| numbers.below(limit);
    let mut text = String::from("source,target,weight\n");
    for _ in 0..30 {
        let (u, v, weight) = (random(9), random(9), random(10));
        text += &if floats { format!("{u},{v},{weight}.25\n") } else { format!("{u},{v},{weight}\n") };
    }
    let (file, path) = (directory.path().join("edges.csv"), directory.path().join("g.esker"));
    write(&file, &text);
    let reader = open_reader(&[file.to_str().unwrap()], &ReadOptions::default()).unwrap();
    let options = ImportOptions {
        directed: Some(directed),
        in_edges,
        duplicates: Duplicates::Keep,
        ..ImportOptions::default()
    };
    import(&(Arc::new(RealDisk) as Arc<_>), reader, &path, &options, StagingOptions::default()).unwrap();
    let version = Store::open(&path).unwrap().latest().unwrap();
    (directory, version)
}

#[allow(clippy::disallowed_methods)] // a file of this test alone
fn write(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

/// All simple paths from a vertex, with the least weights of parallel edges, by search in depth.
fn all_paths(version: &Version, from: VertexId, to: VertexId, weighted: bool) -> Vec<(f64, Vec<VertexId>)> {
    let mut found = Vec::new();
    let mut stack = vec![(0.0, vec![from])];
    while let Some((length, path)) = stack.pop() {
        let last = path[path.len() - 1];
        if last == to {
            found.push((length, path));
            continue;
        }
        let edges = edges_of(version, last, Incidence::Out).unwrap();
        let next: BTreeSet<VertexId> = edges.iter().map(|edge| edge.target).collect();
        for v in next.into_iter().filter(|v| !path.contains(v)) {
            let weight = |edge: &LocalEdge<'_>| edge.values[0].to_string().parse::<f64>().unwrap();
            let least =
                edges.iter().filter(|edge| edge.target == v).map(weight).fold(f64::INFINITY, f64::min);
            stack.push((length + if weighted { least } else { 1.0 }, [&path[..], &[v]].concat()));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

#[test]
fn paths_are_those_that_an_exhaustive_search_finds() {
    let run = Run::with_threads(1).unwrap();
    let forms = [
        (true, true, false),
        (true, false, false),
        (false, true, false),
        (true, true, true),
        (false, true, true),
    ];
    for (seed, (directed, in_edges, floats)) in (1..).zip(forms.iter().cycle().take(15).copied()) {
        let (_directory, version) = graph(seed, directed, in_edges, floats);
        for (from, to, weighted) in [(0, 5, true), (3, 1, false), (2, 2, true), (7, 0, true), (4, 8, false)] {
            let (from, to) = (vertex(from % version.num_vertices()), vertex(to % version.num_vertices()));
            let expected = all_paths(&version, from, to, weighted);
            let weight = version.weight_property().filter(|_| weighted);
            for count in [1, 3, 1000] {
                let found =
                    paths(&version, from, to, PathOptions { count, weight, ..PathOptions::default() }, &run)
                        .unwrap();
                let lengths: Vec<f64> = found.iter().map(|path| path.length().into()).collect();
                let least: Vec<f64> = expected.iter().take(count).map(|path| path.0).collect();
                assert_eq!(lengths, least, "seed {seed}, {from} to {to}, {count} paths");
                let distinct: BTreeSet<_> = found.iter().map(|path| &path.vertices).collect();
                assert_eq!(distinct.len(), found.len());
                for path in &found {
                    let length = f64::from(path.length());
                    assert!(expected.contains(&(length, path.vertices.clone())), "{path:?} is no path");
                }
            }
        }
    }
}

/// Each path was searched for deviations from its beginning, which all of them share.
#[test]
fn deviations_that_are_known_are_not_sought_again() {
    let run = Run::with_threads(1).unwrap();
    let chain = (0..20).map(|place| format!("c{place},c{},1,x\n", place + 1));
    let fan = (0..30).map(|way| format!("c20,w{way},1,x\nw{way},t,1,x\n"));
    let (_directory, version) = named(&chain.chain(fan).collect::<String>());
    let [from, to] = ["c0", "t"].map(|id| version.find_vertex(id, &run).unwrap());
    for (count, searches_max) in [(30, 100), (2, 25)] {
        let options = PathOptions { count, ..PathOptions::default() };
        let found = search::found_paths((&version).into(), from, to, options, &run).unwrap();
        let FoundPaths { paths, searches } = found;
        assert_eq!(paths.len(), count);
        assert!(searches <= searches_max, "{count} paths: {searches} searches");
    }
}

#[test]
fn edges_around_vertices_are_those_of_the_lists() {
    let run = Run::with_threads(1).unwrap();
    for directed in [true, false] {
        let (_directory, version) = graph(7, directed, true, false);
        let n = version.num_vertices();
        let everything: Vec<VertexId> = (0..n).map(vertex).collect();
        let all = between(&version, &everything, &run).unwrap();
        assert_eq!(all.len() as u64, version.num_edges());
        for v in (0..n).map(vertex) {
            let out = edges_of(&version, v, Incidence::Out).unwrap();
            assert_eq!(out.len(), degrees(&version, v).unwrap().0);
            let loops = out.iter().filter(|edge| edge.target == v).count();
            let both = edges_of(&version, v, Incidence::Both).unwrap();
            let touching = all.iter().filter(|edge| edge.source == v || edge.target == v).count();
            assert_eq!(both.len(), touching, "directed {directed}, vertex {v}, {loops} loops");
            let near = within(&version, &[v], 1, Incidence::Both, &run).unwrap();
            let mut expected: BTreeSet<VertexId> =
                both.iter().flat_map(|edge| [edge.source, edge.target]).collect();
            expected.insert(v);
            assert_eq!(near, expected.into_iter().collect::<Vec<_>>());
        }
    }
    let (_directory, version) = graph(7, true, false, false);
    assert!(!version.has(Direction::In));
    assert!(edges_of(&version, 0, Incidence::In).unwrap_err().to_string().contains("no in-edges"));
    assert_eq!(degrees(&version, 0).unwrap().1, None);
}

/// A graph with named edges, which have a weight and a kind.
fn named(edges: &str) -> (tempfile::TempDir, Version) {
    let directory = tempfile::tempdir().unwrap();
    let (file, path) = (directory.path().join("edges.csv"), directory.path().join("g.esker"));
    write(&file, &format!("source,target,weight,kind\n{edges}"));
    let options =
        ReadOptions { properties: esker_import::read::format::PickProperties::All, ..ReadOptions::default() };
    let reader = open_reader(&[file.to_str().unwrap()], &options).unwrap();
    let disk = Arc::new(RealDisk) as Arc<_>;
    import(&disk, reader, &path, &ImportOptions::default(), StagingOptions::default()).unwrap();
    let version = Store::open(&path).unwrap().latest().unwrap();
    (directory, version)
}

/// Where no search comes by, a negative length may still make a way shorter: from a to b over c it is 2, and
/// the edge is 5.
#[test]
fn a_negative_weight_anywhere_is_refused_and_the_message_names_the_edge() {
    let run = Run::with_threads(1).unwrap();
    let asked = |edges: &str, property: &str| {
        let (_directory, version) = named(edges);
        let [a, b] = ["a", "b"].map(|id| version.find_vertex(id, &run).unwrap());
        let weight = version.edge_property(property).ok();
        paths(&version, a, b, PathOptions { weight, ..PathOptions::default() }, &run)
            .map(|found| f64::from(found[0].length()))
            .map_err(|error| error.to_string())
    };
    for (negative, edges) in [("-3", "a,b,-3,x\n"), ("-4", "a,b,5,x\na,c,6,x\nc,b,-4,y\n")] {
        let told = asked(edges, "weight").unwrap_err();
        assert!(told.contains("to \"b\"") && told.contains(negative), "{told}");
    }
    let told = asked("a,b,5.5,x\na,c,6,x\nc,b,-0.25,y\n", "weight").unwrap_err();
    assert!(told.contains("\"c\" to \"b\"") && told.contains("-0.25"), "{told}");
    assert_eq!(asked("a,b,5.5,x\na,c,0.25,x\nc,b,-0.0,y\n", "weight").unwrap(), 0.25);
    assert!(asked("a,b,-3,x\n", "kind").unwrap_err().contains("kind holds texts"));
}

/// The layers state the least value of all versions.
#[test]
fn a_version_without_the_negative_weight_has_paths() {
    let run = Run::with_threads(1).unwrap();
    let (directory, _) = named("a,b,5,x\na,c,6,x\nc,b,-4,y\n");
    let path = directory.path().join("g.esker");
    let db = Database::open(&path, DatabaseOptions::default()).unwrap();
    let mut batch = db.batch();
    batch.remove_edge("c", "b").unwrap();
    db.commit(batch, "").unwrap();
    db.close().unwrap();
    let store = Store::open(&path).unwrap();
    for (version, has_path) in [(store.at(1), false), (store.latest(), true)] {
        let version = version.unwrap();
        let [a, b] = ["a", "b"].map(|id| version.find_vertex(id, &run).unwrap());
        let options = PathOptions { weight: version.weight_property(), ..PathOptions::default() };
        let found = paths(&version, a, b, options, &run);
        assert_eq!(found.ok().map(|found| f64::from(found[0].length())), has_path.then_some(5.0));
    }
}
