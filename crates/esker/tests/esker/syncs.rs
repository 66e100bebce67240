//! Databases that become equal to files: after a sync, the newest version is what an import of the file
//! makes.

use std::fmt::Write as _;
use std::path::Path;

use esker::change::{FeedOptions, Purpose, SyncOptions, SyncReport, Target, open_edges, sync};
use esker::graph::random::Random;
use esker::graph::{Run, vertex};
use esker::import::options::Duplicates;
use esker::import::{ImportOptions, PickProperties, ReadOptions, import_files};
use esker::local::{Incidence, edges_of};
use esker::store::diff::diff;
use esker::store::property::PropertyValue;
use esker::store::{Database, DatabaseOptions, Version};
use tempfile::TempDir;

use crate::common::cases;

/// A kind of database, and of the files for it.
#[derive(Debug)]
struct Kind {
    texts: bool,
    directed: bool,
    kinds: bool,
    duplicates: Duplicates,
}

impl Kind {
    fn draw(random: &mut Random) -> Self {
        let rules =
            [Duplicates::Last, Duplicates::Keep, Duplicates::Sum, Duplicates::Rows, Duplicates::First];
        Self {
            texts: random.below(2) == 0,
            directed: random.below(2) == 0,
            kinds: random.below(2) == 0,
            duplicates: rules[random.below(5) as usize],
        }
    }

    fn write(&self, random: &mut Random, path: &Path) -> String {
        let mut text = "source,target,weight,note,kind\n".to_owned();
        let id = |random: &mut Random| {
            let number = random.below(6) * 3;
            if self.texts { format!("v{number}") } else { number.to_string() }
        };
        for _ in 0..=random.below(13) {
            let (from, to) = (id(random), id(random));
            // A missing weight cannot be added up. The last needs a wider type.
            let weights = ["1", "2", "0.5", "4e300", ""];
            let weight = weights[random.below(if self.duplicates.needs_weight() { 3 } else { 5 }) as usize];
            let note = ["a", "b", ""][random.below(3) as usize];
            let kind = ["x", "y"][random.below(2) as usize];
            writeln!(text, "{from},{to},{weight},{note},{kind}").unwrap();
        }
        std::fs::write(path, text).unwrap();
        path.display().to_string()
    }

    fn import(&self, file: &str, path: &Path) -> Database {
        let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
        let options = ImportOptions {
            directed: Some(self.directed),
            duplicates: self.duplicates,
            kind: self.kinds.then(|| "kind".to_owned()),
            threads: 1,
            ..ImportOptions::default()
        };
        import_files(&[file], path, &read, &options).unwrap();
        Database::open(path, DatabaseOptions { threads: 1, ..DatabaseOptions::default() }).unwrap()
    }
}

fn synced(database: &Database, file: &str, options: &SyncOptions) -> esker::store::Result<SyncReport> {
    let target = Target::of(database)?;
    let input = open_edges(&target, &[file.to_owned()], &ReadOptions::default(), Purpose::Add)?;
    sync(database, &target, input, options, &Run::with_threads(1)?)
}

fn shown(value: PropertyValue<'_>) -> String {
    match value {
        PropertyValue::F32(number) => f64::from(number).to_string(),
        PropertyValue::F64(number) => number.to_string(),
        other => other.to_string(),
    }
}

/// Vertices, and edges with their values, sorted.
fn content(version: &Version, run: &Run) -> (Vec<String>, Vec<Vec<String>>) {
    let removed = version.removed(run).unwrap();
    let name = |v| version.ids().external_of(v).unwrap().to_string();
    let (mut vertices, mut edges) = (Vec::new(), Vec::new());
    for v in (0..version.num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v)) {
        vertices.push(name(v));
        for edge in edges_of(version, v, Incidence::Out).unwrap() {
            let mut row = vec![name(v), name(edge.target)];
            row.extend(edge.values.iter().map(|&value| shown(value)));
            edges.push(row);
        }
    }
    vertices.sort_unstable();
    edges.sort_unstable();
    (vertices, edges)
}

#[test]
fn after_a_sync_the_newest_version_is_what_an_import_makes() {
    let run = Run::with_threads(1).unwrap();
    for seed in 0..cases(400).cases {
        let mut random = Random::new(seed.into());
        let kind = Kind::draw(&mut random);
        let place = TempDir::new().unwrap();
        let first = kind.write(&mut random, &place.path().join("first.csv"));
        let database = kind.import(&first, &place.path().join("graph.esker"));
        for day in 0..3 {
            let file = kind.write(&mut random, &place.path().join(format!("{day}.csv")));
            let fresh = kind.import(&file, &place.path().join(format!("{day}.esker"))).latest().unwrap();
            let before = database.latest().unwrap();
            let dry =
                synced(&database, &file, &SyncOptions { dry_run: true, ..SyncOptions::default() }).unwrap();
            assert_eq!(database.latest().unwrap().number(), before.number());
            let report = synced(&database, &file, &SyncOptions::default()).unwrap();
            assert_eq!(dry.changes, report.changes, "{seed}: {kind:?}");
            let after = database.latest().unwrap();
            assert_eq!(content(&after, &run), content(&fresh, &run), "{seed}, day {day}: {kind:?}");
            assert_eq!(diff(&before, &after, &run, |_| Ok(())).unwrap(), report.changes, "{seed}: {kind:?}");
            assert_eq!(synced(&database, &file, &SyncOptions::default()).unwrap().version, None, "{seed}");
            if random.below(2) == 0 {
                database.freeze(&run).unwrap();
            }
        }
    }
}

#[test]
fn vertices_without_a_row_go_unless_they_are_kept() {
    let place = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = place.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let kind = Kind { texts: true, directed: true, kinds: false, duplicates: Duplicates::Last };
    let first = file("a.csv", "source,target,weight,note,kind\na,b,1,,x\nb,c,2,,x\nd,d,3,,x\n");
    let database = kind.import(&first, &place.path().join("graph.esker"));
    let run = Run::with_threads(1).unwrap();
    let vertices = || content(&database.latest().unwrap(), &run).0;
    let next = file("b.csv", "source,target,weight,note,kind\na,b,1,,x\nb,e,2,,x\n");
    let kept = SyncOptions { keep_vertices: true, ..SyncOptions::default() };
    let changes = synced(&database, &next, &kept).unwrap().changes;
    assert_eq!((changes.edges_removed, changes.vertices_removed, changes.vertices_added), (2, 0, 1));
    assert_eq!(vertices(), ["a", "b", "c", "d", "e"]);
    let changes = synced(&database, &next, &SyncOptions::default()).unwrap().changes;
    assert_eq!((changes.edges_removed, changes.vertices_removed), (0, 2));
    assert_eq!(vertices(), ["a", "b", "e"]);
    // A vertex that was removed comes back without what it had.
    synced(&database, &first, &SyncOptions::default()).unwrap();
    assert_eq!(vertices(), ["a", "b", "c", "d"]);
}

#[test]
fn an_input_without_edges_is_refused_unless_it_is_meant() {
    let place = TempDir::new().unwrap();
    let mut random = Random::new(1);
    let kind = Kind { texts: false, directed: false, kinds: true, duplicates: Duplicates::Last };
    let first = kind.write(&mut random, &place.path().join("first.csv"));
    let database = kind.import(&first, &place.path().join("graph.esker"));
    let empty = place.path().join("empty.csv");
    std::fs::write(&empty, "source,target,weight,note,kind\n").unwrap();
    let empty = empty.display().to_string();
    let error = synced(&database, &empty, &SyncOptions::default()).unwrap_err().to_string();
    assert!(error.contains("allow_empty"), "{error}");
    assert_eq!(database.latest().unwrap().number(), 1);
    let options = SyncOptions { allow_empty: true, feed: FeedOptions::default(), ..SyncOptions::default() };
    synced(&database, &empty, &options).unwrap();
    assert_eq!(database.latest().unwrap().num_edges(), 0);
}
