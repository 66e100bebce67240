//! Removed vertices are in no answer and no export: on a database from which vertices were removed, every
//! algorithm answers what it answers on one that never had them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::answer::{Answer, Fact, Value, Values};
use esker::catalogue::{CATALOGUE, Job, Params, find};
use esker::export::{ExportOptions, StoredExport, export};
use esker::graph::Run;
use esker::import::install::import;
use esker::import::open::open_reader;
use esker::import::options::{ImportOptions, NumberingOrder};
use esker::import::read::format::ReadOptions;
use esker::output::write;
use esker::session::Selection;
use esker::store::ids::ExternalId;
use esker::store::io::{Disk, RealDisk};
use esker::store::manifest::StagingOptions;
use esker::store::{Database, DatabaseOptions, ErrorKind, Store, Version};
use esker::top::top;
use esker_graph::random::hash;

/// Imports vertices and weighted edges.
fn database(
    place: &Path,
    vertices: impl Iterator<Item = u64>,
    edges: &[(u64, u64, u64)],
    directed: bool,
    order: NumberingOrder,
) -> PathBuf {
    std::fs::create_dir(place).unwrap();
    let vertices: String = vertices.map(|v| format!("{v}\n")).collect();
    let edges: String = edges.iter().map(|(u, v, w)| format!("{u} {v} {w}\n")).collect();
    std::fs::write(place.join("g.v"), vertices).unwrap();
    std::fs::write(place.join("g.e"), edges).unwrap();
    let reader = open_reader(&[place.join("g.v").to_str().unwrap()], &ReadOptions::default()).unwrap();
    let options = ImportOptions {
        directed: Some(directed),
        order,
        threads: 2,
        memory_bytes: 64 << 20,
        ..ImportOptions::default()
    };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let path = place.join("g.esker");
    import(&disk, reader, &path, &options, StagingOptions::default()).unwrap();
    path
}

fn open(path: &Path) -> Database {
    Database::open(path, DatabaseOptions { threads: 2, ..DatabaseOptions::default() }).unwrap()
}

fn remove(database: &Database, vertices: impl Iterator<Item = u64>) -> u64 {
    let mut batch = database.batch();
    vertices.for_each(|v| batch.remove_vertex(v).unwrap());
    database.commit(batch, "fewer").unwrap()
}

fn answer(version: &Version, run: &Run, algorithm: &str, params: &Params) -> Answer {
    let job = Job { view: &version.view(), run, params, verify: true };
    find(algorithm).unwrap().run(&job).unwrap_or_else(|error| panic!("{algorithm}: {error}"))
}

fn id_of(version: &Version, v: esker::graph::VertexId) -> u64 {
    match version.ids().external_of(v).unwrap() {
        ExternalId::Int(id) => id,
        ExternalId::Text(text) => panic!("a text: {text:?}"),
    }
}

fn key(version: &Version, answer: &Answer, place: usize) -> u64 {
    match answer.key(place) {
        Value::Vertex(v) => id_of(version, v),
        other => panic!("{other:?} is no vertex"),
    }
}

/// The values of each column by external id. Labels that are vertices become the least id of the group that
/// shares one.
fn by_id(version: &Version, answer: &Answer) -> Vec<BTreeMap<u64, Value>> {
    let column = |values: &Values| {
        let mut found: BTreeMap<u64, Value> =
            (0..values.len()).map(|i| (key(version, answer, i), values.get(i))).collect();
        assert_eq!(found.len(), values.len());
        if matches!(values, Values::Vertex(_)) {
            let mut least: Vec<(Value, u64)> = Vec::new();
            for (&id, value) in &mut found {
                let group = least.iter().find(|(label, _)| label == value).map(|group| group.1);
                least.extend(group.is_none().then_some((*value, id)));
                *value = Value::Count(group.unwrap_or(id));
            }
        }
        found
    };
    answer.columns.iter().map(|c| column(&c.values)).collect()
}

fn agree(algorithm: &str, [a, b]: [(&Version, &Answer); 2]) {
    let (left, right) = (by_id(a.0, a.1), by_id(b.0, b.1));
    assert_eq!(left.len(), right.len());
    for (left, right) in left.iter().zip(&right) {
        assert!(left.keys().eq(right.keys()), "{algorithm}: {:?} and {:?}", left.keys(), right.keys());
        for (id, value) in left {
            match (value, right[id]) {
                (Value::Float(x), Value::Float(y)) => {
                    assert!((x - y).abs() < 1e-6, "{algorithm} of {id}: {x} and {y}");
                }
                (x, y) => assert_eq!(*x, y, "{algorithm} of {id}"),
            }
        }
    }
    for (left, right) in a.1.facts.iter().zip(&b.1.facts) {
        if !matches!(left.1, Fact::Float(_)) {
            assert_eq!(left, right, "{algorithm}");
        }
    }
}

const VERTICES: u64 = 400;

/// Sparse ids.
fn id(v: u64) -> u64 {
    10 * v + 7
}

/// Which vertices are removed.
type IsRemoved = fn(u64) -> bool;

/// Long stretches, single ones, the first and the last.
fn many(v: u64) -> bool {
    v == 0 || v.is_multiple_of(7) || (130..210).contains(&v) || v == VERTICES - 1
}

/// So few that graphs may keep them as vertices without edges.
fn few(v: u64) -> bool {
    v == 0 || v.is_multiple_of(31) || (130..142).contains(&v) || v == VERTICES - 1
}

/// Edges among all, and some vertices that have only removed neighbours.
fn edges(is_removed: IsRemoved) -> Vec<(u64, u64, u64)> {
    let lonely = |v: u64| v % 50 == 3;
    let mut edges = Vec::new();
    for i in 0..4000u64 {
        let noise = hash(i);
        let (u, v) = ((noise >> 40) % VERTICES, (noise >> 20) % VERTICES * ((noise >> 8) % 16) / 16);
        if u != v && [(u, v), (v, u)].iter().all(|&(u, v)| !lonely(u) || is_removed(v)) {
            edges.push((id(u), id(v), i % 9 + 1));
        }
    }
    let mut seen = BTreeSet::new();
    edges.retain(|&(u, v, _)| seen.insert((u.min(v), u.max(v))));
    edges
}

/// Algorithms whose answers depend on the numbers of vertices: they are verified only.
const VARYING: &[&str] = &[
    "biconnectivity",
    "colouring",
    "cycle",
    "densest",
    "forest",
    "ldd",
    "leiden",
    "louvain",
    "matching",
    "mis",
    "msf",
    "setcover",
    "spanner",
    "truss",
];

/// What to run: each algorithm, with a source if it takes one, and without if it can.
fn requests() -> Vec<(&'static str, Params)> {
    let sourced =
        |name: &str| CATALOGUE.iter().any(|e| e.name == name && e.options.iter().any(|o| o.name == "source"));
    let source = || Params::default().with("source", id(8).to_string());
    let mut requests: Vec<_> = CATALOGUE
        .iter()
        .map(|entry| (entry.name, if sourced(entry.name) { source() } else { Params::default() }))
        .map(|(name, params)| {
            (name, if name == "flow" { params.with("target", id(9).to_string()) } else { params })
        })
        .collect();
    requests.push(("betweenness", Params::default()));
    let two = Params::default().with("teleport-to", id(8).to_string()).with("teleport-to", id(9).to_string());
    requests.push(("pagerank", two));
    requests.push(("wcc", Params::default().with("method", "contraction")));
    requests
}

#[test]
fn answers_are_those_of_a_graph_that_never_had_them() {
    compare(many);
}

#[test]
fn answers_are_those_of_a_graph_that_never_had_them_where_few_are_removed() {
    compare(few);
}

/// Compares a graph with one that never had the removed vertices.
fn compare(is_removed: IsRemoved) {
    let place = tempfile::tempdir().unwrap();
    let run = Run::with_threads(2).unwrap();
    let edges = edges(is_removed);
    for directed in [false, true] {
        for order in [NumberingOrder::Keep, NumberingOrder::Degree] {
            let name = |which: &str| place.path().join(format!("{which}-{directed}-{order:?}"));
            let whole = database(&name("whole"), (0..VERTICES).map(id), &edges, directed, order);
            let left: BTreeSet<u64> = (0..VERTICES).filter(|&v| !is_removed(v)).map(id).collect();
            let mut kept = edges.clone();
            kept.retain(|(u, v, _)| left.contains(u) && left.contains(v));
            let never = database(&name("never"), left.iter().copied(), &kept, directed, order);
            let never = Store::open(&never).unwrap().latest().unwrap();
            let db = open(&whole);
            compare_left_out(&db.latest().unwrap(), &never, is_removed, &run);
            remove(&db, (0..VERTICES).filter(|&v| is_removed(v)).map(id));
            for frozen in [false, true] {
                if frozen {
                    db.freeze(&run).unwrap();
                }
                let version = db.latest().unwrap();
                assert_eq!(version.num_present(&run).unwrap(), left.len());
                assert_eq!(version.num_vertices() as u64, VERTICES);
                let count = VERTICES as usize - left.len();
                let keeps = version.view().keeping_removed(true).keeps_removed(&run).unwrap();
                assert_eq!(keeps, count <= VERTICES as usize / 8);
                for (algorithm, params) in requests() {
                    let undirected =
                        find(algorithm).unwrap().undirected || params.text("method") == Some("contraction");
                    if directed && undirected {
                        continue;
                    }
                    let found = answer(&version, &run, algorithm, &params);
                    if VARYING.contains(&algorithm) {
                        continue;
                    }
                    let expected = answer(&never, &run, algorithm, &params);
                    assert_eq!(expected.vertices, None);
                    agree(algorithm, [(&version, &found), (&never, &expected)]);
                }
            }
        }
    }
}

/// Compares views that leave out the vertices of a version that has them with a graph that never had them.
fn compare_left_out(whole: &Version, never: &Version, is_removed: IsRemoved, run: &Run) {
    let left_out = (0..VERTICES).filter(|&v| is_removed(v)).map(|v| id(v).to_string());
    let view = Selection::latest().without(left_out).of(whole, run).unwrap().view;
    assert_eq!(view.num_edges(), never.num_edges());
    assert_eq!(view.num_present(run).unwrap(), never.num_vertices());
    for (algorithm, params) in requests() {
        let entry = find(algorithm).unwrap();
        let undirected = entry.undirected || params.text("method") == Some("contraction");
        if whole.is_directed() && undirected {
            continue;
        }
        let found = entry.run(&Job { view: &view, run, params: &params, verify: true });
        let found = found.unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        if !VARYING.contains(&algorithm) {
            agree(algorithm, [(whole, &found), (never, &answer(never, run, algorithm, &params))]);
        }
    }
}

/// A path 0-1-2-3-4 whose middle is removed.
fn broken_path(place: &Path, order: NumberingOrder) -> Database {
    let edges = [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1)];
    let db = open(&database(&place.join(format!("{order:?}")), 0..5, &edges, false, order));
    remove(&db, [2].into_iter());
    db
}

#[test]
fn files_and_rankings_have_the_ids_of_those_that_are_left() {
    let place = tempfile::tempdir().unwrap();
    let run = Run::with_threads(1).unwrap();
    for order in [NumberingOrder::Keep, NumberingOrder::Degree] {
        let version = broken_path(place.path(), order).latest().unwrap();
        let found = answer(&version, &run, "bfs", &Params::default().with("source", "4"));
        let write = |name: &str| {
            let path = place.path().join(format!("{order:?}-{name}"));
            write(&path, version.ids(), &found, &ExportOptions::default()).unwrap();
            std::fs::read(path).unwrap()
        };
        let text = String::from_utf8(write("a.csv")).unwrap();
        let lines: BTreeSet<&str> = text.lines().collect();
        assert_eq!(lines, BTreeSet::from(["0,", "1,", "3,1", "4,0", "vertex,value"]));
        // Ids have a gap, so the array says which is which.
        let array = String::from_utf8_lossy(&write("a.npy")).into_owned();
        assert!(array.contains("('vertex', '<i8'), ('value', '<i8')") && array.contains("(4,)"), "{array}");
        write("a.parquet");
        let ranked = top(&found, 10, run.cancel()).unwrap();
        let Value::Vertex(first) = ranked[0].key else { panic!("{ranked:?}") };
        assert_eq!((ranked.len(), id_of(&version, first)), (2, 3));
    }
}

#[test]
fn a_removed_vertex_is_unknown_until_it_is_added_again() {
    let place = tempfile::tempdir().unwrap();
    let run = Run::with_threads(1).unwrap();
    let db = broken_path(place.path(), NumberingOrder::Keep);
    let mut batch = db.batch();
    batch.add_vertex(2_u64).unwrap();
    let revived = db.commit(batch, "again").unwrap();
    for (number, present) in [(1, 5), (2, 4), (revived, 5)] {
        let version = db.at(number).unwrap();
        assert_eq!(version.num_present(&run).unwrap(), present);
        let params = Params::default().with("source", "2");
        let job = Job { view: &version.view(), run: &run, params: &params, verify: true };
        let searched = find("bfs").unwrap().run(&job);
        if number == 2 {
            let error = searched.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::VertexNotFound);
            assert!(error.to_string().contains("\"2\" in version 2: it was removed"), "{error}");
            continue;
        }
        let searched = searched.unwrap();
        assert_eq!(searched.facts[0].1, Fact::Count(if number == 1 { 5 } else { 1 }));
        assert_eq!((searched.vertices, searched.columns[0].values.len()), (None, 5));
    }
}

#[test]
fn exports_leave_them_out_and_number_densely() {
    let place = tempfile::tempdir().unwrap();
    let run = Run::with_threads(1).unwrap();
    for order in [NumberingOrder::Keep, NumberingOrder::Degree] {
        let version = broken_path(place.path(), order).latest().unwrap();
        let view = version.view();
        let graph = StoredExport::new(&view, &run).unwrap();
        let written = |name: &str| {
            let path = place.path().join(format!("{order:?}-{name}"));
            let options = ExportOptions { properties: false, ..ExportOptions::default() };
            let report = export(&graph, &path, &options).unwrap();
            assert_eq!(report.vertices, 4, "{name}");
            std::fs::read(path).unwrap()
        };
        let text = |name: &str| String::from_utf8(written(name)).unwrap();
        let edges: BTreeSet<Vec<u64>> = text("g.el")
            .lines()
            .map(|line| {
                let mut ends: Vec<u64> = line.split_whitespace().map(|end| end.parse().unwrap()).collect();
                ends.sort_unstable();
                ends
            })
            .collect();
        assert_eq!(edges, BTreeSet::from([vec![0, 1], vec![3, 4]]));
        let metis = text("g.graph");
        let lines: Vec<&str> = metis.lines().filter(|line| !line.starts_with('%')).collect();
        assert_eq!((lines[0], lines.len()), ("4 2", 5));
        assert!(lines[1..].iter().all(|line| (1..=4).contains(&line.trim().parse::<u64>().unwrap())));
        let market = text("g.mtx");
        assert!(market.lines().any(|line| line.trim() == "4 4 2"), "{market}");
        written("g.sg");
    }
}
