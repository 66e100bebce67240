//! Edges without a value in files that are added, deleted or streamed later, and what runs make of them.

use std::path::{Path, PathBuf};

use esker::change::{FeedOptions, FeedReport, Purpose, Target, feed, open_edges};
use esker::export::{ExportOptions, StoredExport, export};
use esker::graph::Run;
use esker::import::{Duplicates, ImportOptions, PickProperties, ReadOptions, import_files};
use esker::store::{Database, DatabaseOptions, Store};
use tempfile::TempDir;

/// A database of a table of payments, and the folder of both.
struct World {
    place: TempDir,
    database: PathBuf,
}

fn all() -> ReadOptions {
    ReadOptions { properties: PickProperties::All, ..ReadOptions::default() }
}

impl World {
    fn new(table: &str, read: &ReadOptions, options: &ImportOptions) -> Self {
        let place = TempDir::new().unwrap();
        let database = place.path().join("pays.esker");
        let world = Self { place, database };
        let file = world.file("first.csv", table);
        import_files(&[file], &world.database, read, options).unwrap();
        world
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.place.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Adds the edges of a file, or removes them; the number of edges then, or why not.
    fn feed(&self, name: &str, text: &str, read: &ReadOptions, purpose: Purpose) -> Result<u64, String> {
        let file = self.file(name, text);
        let database = Database::open(&self.database, DatabaseOptions::default()).unwrap();
        let target = Target::of(&database).unwrap();
        let run = || {
            let input = open_edges(&target, &[file], read, purpose)?;
            feed(&database, &target, input, &FeedOptions::default(), &mut FeedReport::default())
        };
        let fed = run().map_err(|error| error.to_string());
        let edges = database.latest().unwrap().num_edges();
        database.close().unwrap();
        fed.map(|_| edges)
    }

    fn shown(&self) -> String {
        shown(&self.database)
    }
}

/// The edges as a sorted CSV, without its header, on one line.
fn shown(database: &Path) -> String {
    let view = Store::open(database).unwrap().latest().unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    let file = database.with_extension("csv");
    export(&graph, &file, &ExportOptions { overwrite: true, ..ExportOptions::default() }).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    lines.join(" ")
}

#[test]
fn later_files_lack_values_as_the_first_does() {
    for first in ["a,b,1,x\n", "a,b,,\n", "a,b,none,none\n"] {
        let options = ImportOptions { duplicates: Duplicates::Keep, threads: 1, ..ImportOptions::default() };
        let read = ReadOptions { nulls: vec!["none".to_owned()], ..all() };
        let table = format!("source,target,weight,note\nc,d,7,y\n{first}");
        let world = World::new(&table, &read, &options);
        // The word is remembered, and a text among others without it.
        let none = ReadOptions::default();
        world
            .feed("more.csv", "source,target,weight,note\ne,f,none,none\ng,h,5,NA\n", &none, Purpose::Add)
            .unwrap();
        let json = r#"{"nodes":[],"links":[{"source":"i","target":"j","weight":null,"note":"z"},{"source":"k","target":"l"}]}"#;
        world.feed("more.json", json, &none, Purpose::Add).unwrap();
        let kept = if first == "a,b,1,x\n" { "a,b,1,x" } else { "a,b,," };
        assert_eq!(world.shown(), format!("{kept} c,d,7,y e,f,, g,h,5,\"NA\" i,j,,z k,l,,"));
        // Those without the value are meant where a file names it so.
        let of_weight = ReadOptions {
            weight: esker::import::Pick::Column("weight".to_owned()),
            ..ReadOptions::default()
        };
        let text = "source,target,weight\ne,f,none\nc,d,\n";
        assert_eq!(world.feed("less.csv", text, &of_weight, Purpose::Remove), Ok(5));
        assert_eq!(world.shown(), format!("{kept} c,d,7,y g,h,5,\"NA\" i,j,,z k,l,,"));
        let view = Store::open(&world.database).unwrap().latest().unwrap().view();
        let refused = view.graph::<i64>(&Run::with_threads(1).unwrap()).unwrap_err().to_string();
        assert!(refused.contains("has no value of \"weight\""), "{refused}");
    }
}

#[test]
fn later_edges_need_a_kind() {
    let options = ImportOptions { kind: Some("type".to_owned()), threads: 1, ..ImportOptions::default() };
    let world = World::new("source,target,type\na,b,x\n", &ReadOptions::default(), &options);
    let add = |text: &str, read: &ReadOptions| world.feed("more.csv", text, read, Purpose::Add);
    let refused = add("source,target,type\na,c,y\na,d,\n", &ReadOptions::default()).unwrap_err();
    assert!(refused.contains("the edge has no kind"), "{refused}");
    assert_eq!(world.shown(), "a,b,x");
}
