//! Sessions give what views made by hand and runs of the catalogue give, and refuse what makes no sense.

use std::path::{Path, PathBuf};

use esker::answer::{Answer, Value};
use esker::catalogue::Job;
use esker::graph::{Run, Stop};
use esker::import::{Input, Pick, PickProperties, ReadOptions, import_inputs};
use esker::selection::{Condition, Conditions};
use esker::store::property::PropertyValue;
use esker::store::windows::{Copies, TimeWindow};
use esker::store::{Store, Version, View};
use esker::{Error, MemoryLimit, NewDatabase, Params, Selection, Session, SessionOptions, Value as Cell};

use crate::encodings::requests_from;
use crate::matrix::covering::covering;

const NUM_VERTICES: u64 = 24;
/// The newest version has three times as many hours of edges as this window.
const HOURS: i64 = 20;

fn options(memory_bytes: u64) -> SessionOptions {
    let within = SessionOptions::within(MemoryLimit::of(memory_bytes));
    SessionOptions { threads: 1, deterministic: true, ..within }
}

/// A database of three versions, the second of them with a tag. Every edge has a weight, a kind and a time.
fn database(directory: &Path, directed: bool) -> PathBuf {
    let edge = |i: u64| (i % NUM_VERTICES, (i * i + 1 + i / NUM_VERTICES) % NUM_VERTICES);
    let kind = |i: u64| if i.is_multiple_of(3) { "a" } else { "b" };
    let mut csv = "source,target,weight,kind,sent\n".to_owned();
    for i in 0..40 {
        let (u, v) = edge(i);
        csv += &format!("{u},{v},{},{},{}\n", i % 5 + 1, kind(i), 1_772_352_000 + i * 3600);
    }
    let (path, read) = (
        directory.join("graph.esker"),
        ReadOptions {
            properties: PickProperties::All,
            time: Pick::Column("sent".to_owned()),
            ..ReadOptions::default()
        },
    );
    let input = Input::memory("edges.csv", csv.into_bytes());
    let import =
        esker::import::ImportOptions { directed: Some(directed), ..options(1 << 30).import_options() };
    import_inputs(&[input], &path, &read, &import).expect("an import");
    let session = Session::open_to_write(&path, &options(1 << 30)).expect("a writer");
    let newest = session.latest().expect("a version");
    let names: Vec<_> = newest.version().edge_properties().map(|property| property.name.clone()).collect();
    drop(newest);
    for range in [40..50, 50..60] {
        let mut batch = session.batch().expect("a batch");
        for i in range {
            let ((u, v), weight) = (edge(i), (i % 5 + 1) as i64);
            let sent = 1_772_352_000 + i as i64 * 3600;
            let values = names.iter().map(|name| -> PropertyValue<'_> {
                match &**name {
                    "weight" => weight.into(),
                    "kind" => kind(i).into(),
                    _ => sent.into(),
                }
            });
            batch.add_edge(u, v, &values.collect::<Vec<_>>()).expect("an edge");
        }
        let version = session.commit(batch, "more").expect("a commit");
        if version == 2 {
            session.database().expect("a writer").tag("monday", 2).expect("a tag");
        }
    }
    session.close().expect("no work in the background fails");
    path
}

/// What the axes say but for the algorithm.
struct Choice {
    version: (&'static str, u64),
    in_window: bool,
    condition: Option<&'static str>,
    reversed: bool,
    undirected: bool,
    weighted: bool,
}

impl Choice {
    fn of(row: &[usize]) -> Self {
        Self {
            version: [("1", 1), ("monday", 2), ("latest", 3)][row[1]],
            in_window: row[2] == 1,
            condition: [None, Some("kind=a"), Some("weight>=2")][row[3]],
            reversed: row[4] & 1 == 1,
            undirected: row[4] & 2 == 2,
            weighted: row[5] == 1,
        }
    }

    fn selection(&self) -> esker::Result<Selection> {
        let mut selection = Selection::at(self.version.0)?;
        if self.in_window {
            selection = selection.window(&format!("{HOURS}h"))?;
        }
        if let Some(condition) = self.condition {
            selection = selection.filtered(condition)?;
        }
        let weight = self.weighted.then(|| "weight".to_owned());
        let (reversed, undirected) = (self.reversed, self.undirected);
        Ok(Selection { weight, reversed, undirected, ..selection })
    }

    /// The same view by the methods of [`View`].
    fn by_hand(&self, version: &Version, run: &Run) -> esker::Result<View> {
        let view = version.view();
        let view = if self.weighted { view.weighted_by("weight")? } else { view };
        let view = if self.reversed { view.reversed() } else { view };
        let view = if self.undirected { view.as_undirected() } else { view };
        let conditions: Vec<Condition> =
            self.condition.iter().map(|text| text.parse().expect("a condition")).collect();
        let until = version.latest_time("sent", run)?.expect("edges");
        let window = TimeWindow { after: until - HOURS * 3600, until, copies: Copies::All };
        let window = self.in_window.then_some(("sent", window));
        Ok(match (Conditions::of(&conditions, version, run)?, window) {
            (Some(conditions), window) => view.filtered(conditions, window, false, run)?,
            (None, Some((time, window))) => view.window(time, window, false, run)?,
            (None, None) => view,
        })
    }
}

fn is_alike(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        _ => a == b,
    }
}

fn expect_alike(name: &str, found: &Answer, expected: &Answer) {
    assert_eq!(found.columns.len(), expected.columns.len(), "{name}");
    assert_eq!(found.edges, expected.edges, "{name}");
    for (a, b) in found.columns.iter().zip(&expected.columns) {
        assert_eq!(a.values.len(), b.values.len(), "{name}: {}", a.name);
        for i in 0..a.values.len() {
            let (a, b) = (a.values.get(i), b.values.get(i));
            assert!(is_alike(a, b), "{name}: row {i} is {a:?}, not {b:?}");
        }
    }
}

#[test]
fn a_session_answers_as_the_catalogue_does_on_a_view_made_by_hand() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = database(directory.path(), true);
    let requests = requests_from("1");
    let sizes = [requests.len(), 3, 2, 3, 4, 2];
    let (session, store) = (Session::open_with(&path, &options(1 << 30)), Store::open(&path));
    let (session, store) = (session.expect("a session"), store.expect("a store"));
    let (mut answered, mut refused) = (0, 0);
    for (i, row) in covering(&sizes, 2, &|_| true, 45).iter().enumerate() {
        let (request, choice) = (&requests[row[0]], Choice::of(row));
        let name = format!("{} {} {row:?}", request.entry.name, request.variant);
        let run = options(1 << 30).start().expect("threads");
        let version = store.at(choice.version.1).expect("a version");
        let view = choice.by_hand(&version, &run).expect("a view");
        let selected = session.view(&choice.selection().expect("a selection")).expect("a view");
        assert_eq!((selected.version().number(), selected.num_edges()), (choice.version.1, view.num_edges()));
        assert_eq!(selected.times().is_some(), choice.in_window);
        let job = Job { view: &view, run: &run, params: &request.params, verify: false };
        let found = match i % 2 {
            0 => selected.run(request.entry.name, &request.params),
            _ => selected.verify(request.entry.name, &request.params),
        };
        match (found, request.entry.run(&job)) {
            (Ok(found), Ok(expected)) => {
                expect_alike(&name, &found, &expected);
                answered += 1;
            }
            // The graph is directed.
            (Err(_), Err(_)) if request.entry.undirected && !choice.undirected => {}
            (Err(_), Err(_)) => refused += 1,
            (found, expected) => panic!("{name}: {found:?}, not {expected:?}"),
        }
    }
    assert!(answered > refused && answered > requests.len(), "{answered} answered, {refused} refused");
}

fn usage<T: std::fmt::Debug>(outcome: esker::Result<T>) -> String {
    match outcome {
        Err(Error::Usage(message)) => message.to_string(),
        other => panic!("{other:?} is no refusal"),
    }
}

#[test]
fn selections_that_make_no_sense_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let session = Session::open(database(directory.path(), false)).expect("a session");
    for unknown in ["tuesday", "4", "1999-01-01"] {
        assert!(matches!(session.at(unknown), Err(Error::Store(_))), "{unknown}");
    }
    let latest = Selection::latest;
    assert!(usage(session.view(&latest().reversed())).contains("the graph is undirected"));
    assert!(usage(session.view(&latest().with_all_vertices())).contains("has no effect"));
    let number = Selection::version(4_000_000_000).window("1h").expect("a window");
    assert!(usage(session.view(&number)).contains("where the window ends"));
    usage(latest().window("an hour"));
    usage(latest().filtered("kind"));
    assert!(session.view(&latest().filtered("size=3").expect("a condition")).is_err(), "no such property");
    assert!(usage(session.latest().expect("a view").run("best", &Params::default())).contains("best"));
    assert!(usage(session.batch().map(drop)).contains("open for reading"));
    let none = session.view(&latest().filtered("kind=c").expect("a condition")).expect("a view");
    assert_eq!((none.num_edges(), none.notes().count()), (0, 2), "no edge has the text, and none is left");
}

#[test]
fn a_time_is_the_end_of_the_window_and_selects_a_version_without_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let session = Session::open(database(directory.path(), true)).expect("a session");
    // The tenth edge is of 09:00 of that day.
    let early = Selection::at("2026-03-01T17:00:00Z").expect("a time").window("3h").expect("a window");
    let view = session.view(&early).expect("a view");
    assert_eq!((view.version().number(), view.num_edges()), (3, 3));
}

#[test]
fn a_limit_that_is_too_small_is_refused_with_one_that_suffices() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, path) = (directory.path().join("ring.csv"), directory.path().join("ring.esker"));
    let ring: String = (0..2000).map(|v| format!("{v},{}\n", (v + 1) % 2000)).collect();
    std::fs::write(&file, format!("source,target\n{ring}")).expect("a file");
    assert_eq!(esker::import(&file, &path).expect("an import").edges, 2000);
    let rank = |bytes: u64| {
        let session = Session::open_with(&path, &options(bytes))?;
        let params = Params::default();
        let plan = session.latest()?.plan("pagerank", &params)?;
        assert_eq!(plan.resources.memory, session.resources().memory);
        session.latest()?.run("pagerank", &params)
    };
    let Err(Error::Store(esker::store::Error::Stop(Stop::OverBudget { needed_bytes, budget_bytes, .. }))) =
        rank(1 << 20)
    else {
        panic!("a mebibyte suffices");
    };
    assert_eq!(budget_bytes, 1 << 20);
    assert!(rank(needed_bytes - 1).is_err());
    let ranks = rank(needed_bytes).expect("it was said to suffice");
    assert!(matches!(ranks.top(1).expect("a rank")[..], [(_, Cell::Float(_))]));
}

#[test]
fn an_empty_database_is_created_and_takes_commits() {
    let directory = tempfile::tempdir().expect("a directory");
    for (text_ids, directed) in [(true, true), (false, false)] {
        let path = directory.path().join(format!("{text_ids}.esker"));
        let properties = vec!["km:f64".parse().expect("a declaration")];
        let created =
            NewDatabase { directed, text_ids, edge_properties: properties, weight: Some("km".to_owned()) };
        let session = Session::create(&path, &created, &options(1 << 28)).expect("a database");
        let empty = session.latest().expect("a version");
        assert_eq!((empty.num_edges(), empty.version().num_vertices()), (0, 0));
        assert_eq!(empty.version().is_directed(), directed);
        let mut batch = session.batch().expect("a batch");
        match text_ids {
            true => batch.add_edge("paris", "lyon", &[465.0.into()]).expect("an edge"),
            false => batch.add_edge(7_u64, 3_u64, &[465.0.into()]).expect("an edge"),
        }
        session.commit(batch, "a road").expect("a commit");
        let source = if text_ids { "paris" } else { "7" };
        let lengths =
            session.latest().expect("a version").run("sssp", &Params::default().with("source", source));
        assert_eq!(lengths.expect("lengths").top(1).expect("a length")[0].1, Cell::Float(465.0));
        session.close().expect("no work in the background fails");
        assert!(Session::create(&path, &created, &options(1 << 28)).is_err(), "something stands there");
        let other = NewDatabase { weight: Some("miles".to_owned()), ..created };
        usage(Session::create(directory.path().join("other"), &other, &options(1 << 28)).map(drop));
    }
}
