//! Streams whose rows say what happens to their edges, against a plain list of edges.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use esker::change::{
    CommitEvery, Late, Purpose, StreamOptions, StreamReport, Target, open_edges, reading_of_rows, stream,
};
use esker::graph::random::Random;
use esker::graph::{Run, vertex};
use esker::import::options::{BadLines, Duplicates};
use esker::import::read::format::ReadOptions;
use esker::import::{ImportOptions, PickProperties, import_files};
use esker::local::{Incidence, edges_of};
use esker::store::{Database, DatabaseOptions, Result};
use tempfile::TempDir;

use crate::common::cases;

const KINDS: [&str; 3] = ["road", "rail", "sea"];

/// An edge of the model: its kind, and its weight.
type ModelEdge = (&'static str, i64);

/// A kind of database, and what its newest version holds.
#[derive(Debug)]
struct Model {
    texts: bool,
    directed: bool,
    kinds: bool,
    rule: Duplicates,
    edges: BTreeMap<(u64, u64), Vec<ModelEdge>>,
    removed: u64,
    not_found: u64,
    rejected: u64,
}

impl Model {
    fn draw(random: &mut Random) -> Self {
        use Duplicates::{First, Keep, Last, Max, Min, Rows, Sum};
        let rules = [Last, Keep, Sum, Rows, First, Min, Max];
        Self {
            texts: random.below(2) == 0,
            directed: random.below(2) == 0,
            kinds: random.below(2) == 0,
            rule: rules[random.below(rules.len() as u64) as usize],
            edges: [((100, 101), vec![(KINDS[0], 7)])].into(),
            removed: 0,
            not_found: 0,
            rejected: 0,
        }
    }

    fn id(&self, number: u64) -> String {
        if self.texts { format!("v{number}") } else { number.to_string() }
    }

    /// A database that has one edge.
    fn import(&self, folder: &Path) -> Database {
        let (file, path) = (folder.join("first.csv"), folder.join("graph.esker"));
        let (from, to) = (self.id(100), self.id(101));
        std::fs::write(&file, format!("source,target,weight,kind\n{from},{to},7,road\n")).unwrap();
        let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
        let options = ImportOptions {
            directed: Some(self.directed),
            duplicates: self.rule,
            kind: self.kinds.then(|| "kind".to_owned()),
            threads: 1,
            ..ImportOptions::default()
        };
        import_files(&[file.display().to_string()], &path, &read, &options).unwrap();
        open(&path)
    }

    fn add(&mut self, ends: (u64, u64), (kind, weight): ModelEdge, rule: Duplicates) {
        let kinds = self.kinds;
        let own = self.edges.entry(ends).or_default();
        let same = own.iter_mut().find(|(other, old)| match rule {
            Duplicates::Keep => false,
            Duplicates::Rows => (*other, *old) == (kind, weight),
            _ => !kinds || *other == kind,
        });
        let Some(same) = same else { return own.push((kind, weight)) };
        match rule {
            Duplicates::Last => *same = (kind, weight),
            Duplicates::Sum => same.1 += weight,
            Duplicates::Min if weight < same.1 => *same = (kind, weight),
            Duplicates::Max if weight > same.1 => *same = (kind, weight),
            _ => {}
        }
    }

    fn remove(&mut self, ends: (u64, u64), kind: &str) {
        let kinds = self.kinds;
        let own = self.edges.entry(ends).or_default();
        let before = own.len();
        own.retain(|(other, _)| kinds && *other != kind);
        let removed = (before - own.len()) as u64;
        self.removed += removed;
        self.not_found += u64::from(removed == 0);
    }

    /// A row that is drawn, and takes effect in the model.
    fn row(&mut self, random: &mut Random) -> String {
        // Few vertices, so that much happens to each edge.
        let (u, v) = (random.below(4), random.below(4));
        let ends = if self.directed { (u, v) } else { (u.min(v), u.max(v)) };
        let (kind, weight) = (KINDS[random.below(3) as usize], 1 + random.below(3) as i64);
        let (from, to) = (self.id(u), self.id(v));
        let word =
            |random: &mut Random, words: &[&'static str]| words[random.below(words.len() as u64) as usize];
        match random.below(12) {
            0..5 => {
                self.add(ends, (kind, weight), self.rule);
                let op = word(random, &["insert", "ADD", "i", "+", "c", "Create"]);
                format!("{op},{from},{to},{weight},{kind}")
            }
            5..10 => {
                self.remove(ends, kind);
                // What says nothing about the edge may be missing, or anything.
                let (op, weight) =
                    (word(random, &["delete", "Remove", "d", "-"]), word(random, &["", "5", "none"]));
                let kind = if self.kinds { kind } else { word(random, &["", "road"]) };
                format!("{op},{from},{to},{weight},{kind}")
            }
            10 => {
                match self.rule {
                    Duplicates::Last => self.add(ends, (kind, weight), Duplicates::Last),
                    _ => self.rejected += 1,
                }
                let op = word(random, &["update", "Upsert", "u", "REPLACE"]);
                format!("{op},{from},{to},{weight},{kind}")
            }
            _ => {
                self.rejected += 1;
                format!("{},{from},{to},{weight},{kind}", word(random, &["", "x", "gone", "0"]))
            }
        }
    }

    /// Its edges as a version lists them.
    fn content(&self) -> Vec<[String; 4]> {
        let mut rows = Vec::new();
        for (&(u, v), edges) in &self.edges {
            for (kind, weight) in edges {
                let row = |u, v| [self.id(u), self.id(v), weight.to_string(), (*kind).to_owned()];
                rows.push(row(u, v));
                if !self.directed && u != v {
                    rows.push(row(v, u));
                }
            }
        }
        rows.sort_unstable();
        rows
    }
}

fn open(path: &Path) -> Database {
    Database::open(path, DatabaseOptions { threads: 1, ..DatabaseOptions::default() }).unwrap()
}

/// The edges of the newest version: source, target, weight, kind.
fn content(database: &Database) -> Vec<[String; 4]> {
    let (version, run) = (database.latest().unwrap(), Run::with_threads(1).unwrap());
    let removed = version.removed(&run).unwrap();
    let name = |v| version.ids().external_of(v).unwrap().to_string();
    let properties: Vec<_> = version.edge_properties().map(|property| property.name.clone()).collect();
    let place = |name: &str| properties.iter().position(|own| own == name).unwrap();
    let (weight, kind) = (place("weight"), place("kind"));
    let mut rows = Vec::new();
    for v in (0..version.num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v)) {
        for edge in edges_of(&version, v, Incidence::Out).unwrap() {
            let value = |place: usize| edge.values[place].to_string();
            rows.push([name(v), name(edge.target), value(weight), value(kind)]);
        }
    }
    rows.sort_unstable();
    rows
}

fn streamed(database: &Database, file: &Path, options: &StreamOptions) -> (Result<()>, StreamReport) {
    let target = Target::of(database).unwrap();
    let options = StreamOptions { source: Some(file.display().to_string()), ..options.clone() };
    let read = reading_of_rows(&target, &options, ReadOptions::default());
    let input = open_edges(&target, &[file.display().to_string()], &read, Purpose::Add).unwrap();
    let mut report = None;
    let done = stream(database, &target, input, &options, &mut report);
    (done, report.unwrap())
}

#[test]
fn the_newest_version_has_what_the_rows_leave_in_their_order() {
    for seed in 0..cases(500).cases {
        let mut random = Random::new(seed.into());
        let mut model = Model::draw(&mut random);
        let place = TempDir::new().unwrap();
        let mut database = model.import(place.path());
        let (file, mut text) =
            (place.path().join("changes.csv"), "what,source,target,weight,kind\n".to_owned());
        let options = StreamOptions {
            op: Some("what".to_owned()),
            every: CommitEvery::Edges(1 + random.below(9)),
            bad_lines: BadLines::Skip,
            ..StreamOptions::default()
        };
        let [mut removed, mut not_found, mut passed_over] = [0; 3];
        // The stream ends anywhere, as if it had been killed behind a commit, and goes on.
        for part in 0..3 {
            for _ in 0..random.below(14) {
                writeln!(text, "{}", model.row(&mut random)).unwrap();
            }
            std::fs::write(&file, &text).unwrap();
            let (done, report) = streamed(&database, &file, &options);
            done.unwrap();
            removed += report.state.removed;
            not_found += report.state.not_found;
            let at = format!("{seed}, part {part}: {model:?}\n{text}");
            assert_eq!(content(&database), model.content(), "{at}");
            assert_eq!((removed, not_found), (model.removed, model.not_found), "{at}");
            assert_eq!(report.fed.rejected, model.rejected, "{at}");
            assert_eq!(report.passed_over, passed_over, "{at}");
            passed_over += report.fed.edges;
            if random.below(2) == 0 {
                database.freeze(&Run::with_threads(1).unwrap()).unwrap();
            }
            if random.below(2) == 0 {
                database.close().unwrap();
                database = open(&place.path().join("graph.esker"));
            }
        }
    }
}

#[test]
fn removals_are_late_by_their_time_if_they_have_one() {
    let place = TempDir::new().unwrap();
    let path = |name: &str| place.path().join(name);
    std::fs::write(path("first.csv"), "from,to,sent\n1,2,1704067200\n").unwrap();
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let options = ImportOptions { duplicates: Duplicates::Last, threads: 1, ..ImportOptions::default() };
    import_files(&[path("first.csv").display().to_string()], path("g.esker"), &read, &options).unwrap();
    let database = open(&path("g.esker"));
    let rows = "from,to,sent,op\n1,3,1704067300,+\n1,4,1704067400,+\n1,2,,-\n1,3,1704067250,-\n1,5,,+\n";
    std::fs::write(path("a.csv"), rows).unwrap();
    let late = path("late.csv");
    let options = StreamOptions {
        op: Some("op".to_owned()),
        every: CommitEvery::Edges(1),
        bad_lines: BadLines::Skip,
        late: Late::Reject(late.clone()),
        ..StreamOptions::default()
    };
    let (done, report) = streamed(&database, &path("a.csv"), &options);
    done.unwrap();
    // The removal without a time is taken; the other is late; the addition without one is a bad row.
    assert_eq!((report.state.removed, report.state.late, report.fed.rejected), (1, 1, 1));
    assert_eq!(database.latest().unwrap().num_edges(), 2);
    let set_apart = std::fs::read_to_string(&late).unwrap();
    assert_eq!(set_apart, "source,target,sent,op\n1,3,1704067250,delete\n");
    // What was set apart can be streamed.
    let options = StreamOptions { late: Late::Next, ..options };
    let (done, report) = streamed(&database, &late, &options);
    done.unwrap();
    assert_eq!((report.state.removed, database.latest().unwrap().num_edges()), (1, 1));
    // Rows without operations are not appended to it.
    std::fs::write(path("b.csv"), "from,to,sent\n1,3,1704067300\n").unwrap();
    let target = Target::of(&database).unwrap();
    let plain = StreamOptions { op: None, late: Late::Reject(late), ..options };
    let name = path("b.csv").display().to_string();
    let input = open_edges(&target, &[name], &ReadOptions::default(), Purpose::Add).unwrap();
    let refused = stream(&database, &target, input, &plain, &mut None).unwrap_err().to_string();
    assert!(refused.contains("has other columns than source, target, sent"), "{refused}");
}
