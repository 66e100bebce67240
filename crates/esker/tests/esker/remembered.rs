//! Later files are read as the import was: files of every format and shape after every other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use esker::change::{FeedOptions, FeedReport, Purpose, Target, feed, open_edges};
use esker::graph::{Run, vertex};
use esker::import::{ImportOptions, Pick, ReadOptions, import_files};
use esker::local::{Incidence, edges_of};
use esker::store::format::EventTimes;
use esker::store::property::PropertyValue;
use esker::store::{CommitOptions, Database, DatabaseOptions, EdgeMatch, Store};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use tempfile::TempDir;

/// A payment: who pays, who is paid, how much.
type Payment = (String, String, i64);

/// What stands in a file, from its name's end to the order of its columns.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// The end of the name.
    end: &'static str,
    delimiter: &'static str,
    has_names: bool,
    /// The columns: p(ayer), q (payee), w(eight), n(ote), and x and y for ends with
    /// other names, s and t for those with the names of an export.
    columns: &'static str,
}

const fn text(end: &'static str, delimiter: &'static str, has_names: bool, columns: &'static str) -> Shape {
    Shape { end, delimiter, has_names, columns }
}

const fn binary(end: &'static str, columns: &'static str) -> Shape {
    Shape { end, delimiter: "", has_names: true, columns }
}

fn name(column: char) -> &'static str {
    match column {
        'p' => "payer",
        'q' => "payee",
        'w' => "weight",
        'n' => "note",
        'x' => "alpha",
        'y' => "beta",
        's' => "source",
        _ => "target",
    }
}

fn cell(column: char, (payer, payee, weight): &Payment) -> String {
    match column {
        'p' | 'x' | 's' => payer.clone(),
        'q' | 'y' | 't' => payee.clone(),
        'w' => weight.to_string(),
        _ => "none".to_owned(),
    }
}

impl Shape {
    fn write(self, place: &Path, stem: &str, payments: &[Payment]) -> String {
        let path = place.join(format!("{stem}.{}", self.end));
        if self.delimiter.is_empty() {
            self.write_binary(&path, payments);
        } else {
            let joined = |cells: Vec<String>| cells.join(self.delimiter) + "\n";
            let names = self.columns.chars().map(|column| name(column).to_owned());
            let mut content = if self.has_names { joined(names.collect()) } else { String::new() };
            for payment in payments {
                content += &joined(self.columns.chars().map(|column| cell(column, payment)).collect());
            }
            std::fs::write(&path, content).unwrap();
        }
        path.display().to_string()
    }

    fn write_binary(self, path: &Path, payments: &[Payment]) {
        let array = |column: char| -> ArrayRef {
            let cells: Vec<String> = payments.iter().map(|payment| cell(column, payment)).collect();
            let numbers: Option<Vec<i64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
            match numbers {
                Some(numbers) => Arc::new(Int64Array::from(numbers)),
                None => Arc::new(StringArray::from(cells)),
            }
        };
        let columns = self.columns.chars().map(|column| (name(column), array(column)));
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = std::fs::File::create(path).unwrap();
        if self.end == "parquet" {
            let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
        } else {
            let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
        }
    }

    /// Whether a file of this shape fits a database that was imported from one of `imported`. Edges of a file
    /// with names may lack the weight.
    fn fits(self, imported: Self) -> bool {
        let has = |column: char| self.columns.contains(column);
        let has_ends = has('p') && has('q') || has('s') && has('t');
        let (count, before) = (self.columns.len(), imported.columns.len());
        let is_usual = self.columns == "pqw";
        match (self.has_names, imported.has_names) {
            (true, _) => has_ends,
            (false, true) if count == before => self.columns == imported.columns,
            (false, false) if count == before => is_usual,
            (false, _) => is_usual,
        }
    }
}

const IMPORTED: &[Shape] = &[
    text("csv", ",", true, "pqw"),
    text("csv", ";", true, "wqp"),
    text("tsv", "\t", true, "npqw"),
    binary("parquet", "wqp"),
    binary("arrow", "npqw"),
    text("csv", ",", false, "pqw"),
    text("wel", " ", false, "pqw"),
    text("txt", "\t", false, "pqw"),
];

const ADDED: &[Shape] = &[
    text("csv", ",", true, "pqw"),
    text("csv", "|", true, "wqp"),
    text("csv", ";", true, "qnwp"),
    text("csv", ",", true, "pq"),
    text("csv", ",", true, "xyw"),
    text("csv", ",", true, "stw"),
    text("tsv", "\t", true, "wqp"),
    binary("parquet", "qwp"),
    binary("parquet", "xyw"),
    binary("arrow", "npqw"),
    binary("arrow", "pq"),
    text("csv", ",", false, "pqw"),
    text("csv", ";", false, "npqw"),
    text("csv", ",", false, "pq"),
    text("wel", " ", false, "pqw"),
    text("txt", "\t", false, "pqw"),
];

fn import(place: &Path, file: String) -> PathBuf {
    import_as(place, file, &ReadOptions::default())
}

fn import_as(place: &Path, file: String, read: &ReadOptions) -> PathBuf {
    let path = place.join("graph.esker");
    let options = ImportOptions { threads: 1, ..ImportOptions::default() };
    import_files(&[file], &path, read, &options).unwrap();
    path
}

/// Adds a file or removes its edges; returns what was said.
fn change(database: &Database, file: &str, read: &ReadOptions, purpose: Purpose) -> Result<String, String> {
    let target = Target::of(database).unwrap();
    let input = open_edges(&target, &[file.to_owned()], read, purpose).map_err(|error| error.to_string())?;
    let said: Vec<String> = input.notes.iter().chain(&input.warnings).map(ToString::to_string).collect();
    let fed = feed(database, &target, input, &FeedOptions::default(), &mut FeedReport::default());
    fed.map(|()| said.join("\n")).map_err(|error| error.to_string())
}

fn add(database: &Database, file: &str) -> Result<String, String> {
    change(database, file, &ReadOptions::default(), Purpose::Add)
}

/// Stands for the weight of an edge that has none.
const NO_WEIGHT: i64 = -1;

fn payments(database: &Database) -> BTreeSet<Payment> {
    let version = database.latest().unwrap();
    let name = |v| version.ids().external_of(v).unwrap().to_string();
    let mut found = BTreeSet::new();
    for v in (0..version.num_vertices()).map(vertex) {
        for edge in edges_of(&version, v, Incidence::Out).unwrap() {
            let weight = match edge.values[0] {
                PropertyValue::I32(weight) => i64::from(weight),
                PropertyValue::I64(weight) => weight,
                PropertyValue::Missing => NO_WEIGHT,
                other => panic!("{other:?} is no weight"),
            };
            found.insert((name(v), name(edge.target), weight));
        }
    }
    found
}

fn payment(payer: usize, payee: usize, weight: usize, texts: bool) -> Payment {
    let id = |number: usize| if texts { format!("p{number}") } else { number.to_string() };
    (id(payer), id(payee), weight as i64)
}

#[test]
fn a_file_of_any_shape_after_one_of_any_other_is_read_rightly_or_refused() {
    for (number, &imported) in IMPORTED.iter().enumerate() {
        let place = TempDir::new().unwrap();
        let texts = number % 2 == 0;
        let mut expected: BTreeSet<Payment> =
            (0..3).map(|i| payment(i, i + 1, 7, texts)).chain([payment(2, 0, 9, texts)]).collect();
        let first: Vec<Payment> = expected.iter().cloned().collect();
        let path = import(place.path(), imported.write(place.path(), "first", &first));
        let database = Database::open(&path, DatabaseOptions::default()).unwrap();
        for (index, &added) in ADDED.iter().enumerate() {
            let new = [payment(100 + index, 1, index, texts), payment(2, 100 + index, 5, texts)];
            let file = added.write(place.path(), &format!("added{index}"), &new);
            let told = add(&database, &file);
            assert_eq!(told.is_ok(), added.fits(imported), "{added:?} after {imported:?}: {told:?}");
            let has_weight = added.columns.contains('w');
            if let Ok(told) = &told {
                assert_eq!(told.contains("no column \"weight\""), !has_weight, "{added:?}: {told}");
                let given = |(u, v, weight)| (u, v, if has_weight { weight } else { NO_WEIGHT });
                expected.extend(new.map(given));
            }
            assert_eq!(payments(&database), expected, "{added:?} after {imported:?}");
        }
    }
}

#[test]
fn a_refusal_says_what_was_expected_what_was_found_and_the_remedy() {
    let place = TempDir::new().unwrap();
    let file = |name: &str, content: &str| {
        let path = place.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let path = import(place.path(), file("a.csv", "id,payer,payee,weight\n1,a,b,3\n2,b,c,4\n"));
    let database = Database::open(&path, DatabaseOptions::default()).unwrap();
    let ends = "source_column` and `target_column";
    let flows = "ts,orig_h,resp_h,weight\n1,h,i,3\n";
    let table: &[(&str, &str, &[&str])] = &[
        ("flows.csv", flows, &["expected source payer, target payee, weight; found ts, orig_h", ends]),
        ("three.csv", "a,b\nb,c\na,c\n", &["found 2 columns without names", ends]),
        ("five.csv", "ann,bob,x,3,y\n", &["expected source payer", "found 5 columns without names", ends]),
        ("unclear.csv", "ann,bob\n", &["names the columns or is an edge", "header = false"]),
    ];
    for (name, content, parts) in table {
        let error = add(&database, &file(name, content)).unwrap_err();
        for part in *parts {
            assert!(error.contains(part), "{name}: {part}: {error}");
        }
    }
    let read = ReadOptions {
        source: Some("orig_h".to_owned()),
        target: Some("resp_h".to_owned()),
        ..ReadOptions::default()
    };
    let said = change(&database, &file("flows.csv", flows), &read, Purpose::Add).unwrap();
    assert!(said.contains("source_column = orig_h` in place of payer"), "{said}");
    let named = ReadOptions { weight: Pick::Column("cost".to_owned()), ..ReadOptions::default() };
    let costs = file("cost.csv", "cost,weight,payee,payer\n8,1,a,c\n");
    let said = change(&database, &costs, &named, Purpose::Add).unwrap();
    assert!(said.contains("weight = cost` in place of weight"), "{said}");
    assert!(payments(&database).contains(&("c".to_owned(), "a".to_owned(), 8)));
    let rows = file("rows.csv", "3,c,d,1\n4,d,e,1\n");
    assert!(add(&database, &rows).unwrap().contains("in the order of the import"));
    let gone = file("gone.csv", "payee,payer\nb,a\n");
    change(&database, &gone, &ReadOptions::default(), Purpose::Remove).unwrap();
    assert!(!payments(&database).contains(&("a".to_owned(), "b".to_owned(), 3)));
}

#[test]
fn what_is_remembered_is_shown_forgotten_and_remembered_anew() {
    let place = TempDir::new().unwrap();
    let first = text("csv", ";", true, "wqp").write(place.path(), "first", &[payment(1, 2, 3, false)]);
    let path = import(place.path(), first);
    let database = Database::open(&path, DatabaseOptions::default()).unwrap();
    let table = || database.manifest().reading.clone().and_then(|reading| reading.table);
    let remembered = table().unwrap();
    assert_eq!((remembered.source.name.as_str(), remembered.source.place), ("payer", 2));
    assert_eq!((remembered.columns, remembered.named, remembered.delimiter), (3, true, Some(b';')));
    database.set_reading(None).unwrap();
    assert_eq!(table(), None);
    let other = text("csv", ",", true, "xyw").write(place.path(), "other", &[payment(4, 2, 3, false)]);
    add(&database, &other).unwrap();
    assert_eq!(table().map(|table| table.target.name), Some("beta".to_owned()));
    database.close().unwrap();
    let reopened = Store::open(&path).unwrap();
    let reading = reopened.manifest().reading.clone().unwrap();
    assert_eq!((reading.format.as_str(), reading.table.map(|table| table.columns)), ("csv", Some(3)));
}

#[test]
fn a_history_wants_the_event_time_of_each_version() {
    let place = TempDir::new().unwrap();
    let first = text("csv", ",", true, "pqw").write(place.path(), "first", &[payment(1, 2, 3, false)]);
    let path = place.path().join("graph.esker");
    let options = ImportOptions { time_ms: Some(1000), threads: 1, ..ImportOptions::default() };
    import_files(&[&first], &path, &ReadOptions::default(), &options).unwrap();
    let database = Database::open(&path, DatabaseOptions::default()).unwrap();
    assert_eq!(database.manifest().event_times(), EventTimes::Given);
    let error = add(&database, &first).unwrap_err();
    assert!(error.contains("`event_time = TIME`, or `event_time = now`"), "{error}");
    let target = Target::of(&database).unwrap();
    let input =
        open_edges(&target, std::slice::from_ref(&first), &ReadOptions::default(), Purpose::Add).unwrap();
    let commit = CommitOptions { time_ms: Some(2000), ..CommitOptions::default() };
    let options = FeedOptions { commit, ..FeedOptions::default() };
    feed(&database, &target, input, &options, &mut FeedReport::default()).unwrap();
    database.set_event_times(EventTimes::Committed).unwrap();
    add(&database, &first).unwrap();
    assert!(database.latest().unwrap().record().time_ms > 1_700_000_000_000);
}

#[test]
fn integer_ids_become_texts_in_all_versions() {
    let place = TempDir::new().unwrap();
    let shape = text("csv", ",", true, "pqw");
    let ids: Vec<Payment> =
        [(7, 300), (300, 1 << 40), (12, 7)].map(|(u, v)| payment(u, v, 3, false)).to_vec();
    let path = import(place.path(), shape.write(place.path(), "first", &ids));
    let database = Database::open(&path, DatabaseOptions::default()).unwrap();
    let run = Run::with_threads(1).unwrap();
    let more = [payment(7, 9, 5, false)];
    add(&database, &shape.write(place.path(), "second", &more)).unwrap();
    let words = shape.write(place.path(), "words", &[("ann".to_owned(), "7".to_owned(), 2)]);
    let refused = add(&database, &words).unwrap_err();
    assert!(refused.contains("`options (ids = text)`"), "{refused}");
    let before = database.latest().unwrap();
    let mut batches = [0; 4].map(|_| database.batch());
    let [edge, edges, vertex, _] = &mut batches;
    edge.remove_edge(7_u64, 300_u64).unwrap();
    edges.remove_edges(7_u64, 300_u64, &EdgeMatch::default()).unwrap();
    vertex.remove_vertex(7_u64).unwrap();
    assert!(database.make_ids_texts(&run).unwrap());
    for batch in batches {
        let refused = database.commit(batch, "").unwrap_err().to_string();
        assert!(refused.contains("are not texts") && refused.contains("create a new batch"), "{refused}");
    }
    assert!(!database.make_ids_texts(&run).unwrap());
    let mut expected: BTreeSet<Payment> = ids.iter().chain(&more).cloned().collect();
    assert_eq!(payments(&database), expected);
    assert!(!before.ids().is_text() && database.at(1).unwrap().ids().is_text());
    assert_eq!((database.at(1).unwrap().num_edges(), database.latest().unwrap().number()), (3, 2));
    add(&database, &words).unwrap();
    expected.insert(("ann".to_owned(), "7".to_owned(), 2));
    database.freeze(&run).unwrap();
    database.compact(&run).unwrap();
    database.close().unwrap();
    let database = Database::open(&path, DatabaseOptions::default()).unwrap();
    assert_eq!(payments(&database), expected);
    for id in ["7", "1099511627776", "ann"] {
        assert!(database.latest().unwrap().ids().find(id).is_ok(), "{id}");
    }
}

/// The columns of a file with all three, with names and without.
const WHOLE: [Shape; 4] = [
    text("csv", ",", true, "pqw"),
    text("csv", ";", true, "wqp"),
    text("csv", ",", false, "pqw"),
    text("wel", " ", false, "pqw"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn an_add_of_a_file_equals_an_import_of_both_files_together(
        rows in prop::collection::vec((0_usize..12, 0_usize..12, 0_usize..99), 2..20),
        cut in 1_usize..19,
        shape in 0_usize..4,
        texts: bool,
    ) {
        let shape = WHOLE[shape];
        let rows: Vec<Payment> = rows.into_iter().map(|(u, v, w)| payment(u, v, w, texts)).collect();
        let (first, second) = rows.split_at(cut.min(rows.len() - 1));
        let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let options = DatabaseOptions::default;
        // Three columns of numbers do not always tell which of them are the ends.
        let mut read = ReadOptions::default();
        if shape.end == "csv" && !shape.has_names {
            (read.source, read.target) = (Some("1".to_owned()), Some("2".to_owned()));
        }
        let whole = import_as(one.path(), shape.write(one.path(), "whole", &rows), &read);
        let whole = Database::open(&whole, options()).unwrap();
        let parts = import_as(two.path(), shape.write(two.path(), "first", first), &read);
        let parts = Database::open(&parts, options()).unwrap();
        add(&parts, &shape.write(two.path(), "second", second)).unwrap();
        prop_assert_eq!(payments(&whole), payments(&parts));
    }
}
