//! Commits that other processes hand to the one that writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use esker_graph::random::Random;
use esker_graph::{Cancel, VertexId};
use esker_import::Input;
use esker_import::read::format::{PickProperties, ReadOptions};
use esker_store::format::{Duplicates, ElementType, ErrorKind, PropertyRecord};
use esker_store::property::PropertyValue;
use esker_store::{Batch, CommitOptions, Database, DatabaseOptions, Error, QueuedDatabase};

fn import(directory: &Path, content: &'static [u8]) -> PathBuf {
    let path = directory.join("web.esker");
    let inputs = [Input::memory("web.csv", content)];
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    esker_import::import_inputs(&inputs, &path, &read, &Default::default()).unwrap();
    path
}

fn open(path: &Path) -> Database {
    Database::open(path, DatabaseOptions::default()).unwrap()
}

/// Waits until somebody serves the queue.
fn queued(path: &Path, withdrawal: &Cancel) -> QueuedDatabase {
    loop {
        match QueuedDatabase::open(path, DatabaseOptions::default(), withdrawal.clone()).unwrap() {
            Some(queued) => return queued,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Runs `work` while another thread serves the queue.
fn serving<T>(database: &Database, work: impl FnOnce() -> T) -> (T, u64) {
    let stop = Cancel::default();
    std::thread::scope(|scope| {
        let server = scope.spawn(|| database.serve_queue(&stop));
        let done = work();
        stop.cancel();
        (done, server.join().unwrap().unwrap().unwrap())
    })
}

type Weighted = BTreeMap<(String, String), i64>;

fn edges_of(database: &Database) -> Weighted {
    let version = database.latest().unwrap();
    let weight = version.edge_property("weight").unwrap().number;
    let mut edges = Weighted::new();
    for source in 0..version.num_vertices() {
        let source = VertexId::try_from(source).unwrap();
        let list = version.edges(esker_graph::Direction::Out, source).unwrap();
        for (index, &target) in list.targets().iter().enumerate() {
            let id = |v| version.ids().external_of(v).unwrap().to_string();
            let bits = list.bits(weight, index).unwrap();
            edges.insert((id(source), id(target)), bits.cast_signed());
        }
    }
    edges
}

#[test]
fn writers_of_several_threads_and_handles_lose_nothing_and_do_nothing_twice() {
    let directory = tempfile::tempdir().unwrap();
    let path = import(directory.path(), b"source,target,weight\na,b,5000000000\n");
    let database = open(&path);
    let accepted = AtomicU64::new(0);
    let (per_writer, commits) = serving(&database, || {
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4_u64)
                .map(|writer| {
                    let (path, accepted, own) = (&path, &accepted, &database);
                    scope.spawn(move || {
                        let mut random = Random::new(writer);
                        let other = queued(path, &Cancel::default());
                        let mut model = Weighted::from([]);
                        for _ in 0..25 {
                            let change = |mut batch: Batch, model: &mut Weighted, random: &mut Random| {
                                for _ in 0..1 + random.below(4) {
                                    let ends = [random.below(6), random.below(6)];
                                    let [u, v] = ends.map(|end| format!("{writer}-{end}"));
                                    if random.below(3) == 0 {
                                        batch.remove_edge(u.as_str(), v.as_str()).unwrap();
                                        model.remove(&(u, v));
                                    } else {
                                        let weight = random.below(1 << 40).cast_signed();
                                        batch.add_edge(u.as_str(), v.as_str(), &[weight.into()]).unwrap();
                                        model.insert((u, v), weight);
                                    }
                                }
                                batch
                            };
                            if writer == 0 {
                                let batch = change(own.batch(), &mut model, &mut random);
                                own.commit(batch, "own").unwrap();
                            } else {
                                let batch = change(other.batch().unwrap(), &mut model, &mut random);
                                other.commit_with(batch, &CommitOptions::default()).unwrap();
                                accepted.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        model
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
        })
    });
    assert_eq!(commits, accepted.into_inner());
    assert_eq!(database.versions().len() as u64, 1 + 4 * 25);
    let mut expected: Weighted = per_writer.into_iter().flatten().collect();
    expected.insert(("a".to_owned(), "b".to_owned()), 5_000_000_000);
    assert_eq!(edges_of(&database), expected);
    database.close().unwrap();
    assert_eq!(edges_of(&open(&path)), expected);
    let left: Vec<_> =
        std::fs::read_dir(path.join("queue")).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["served"], "nothing of a request stays");
}

#[test]
fn every_kind_of_change_arrives_as_it_was_made() {
    let directory = tempfile::tempdir().unwrap();
    let content = b"source,target,note,weight\na,b,first,1\nb,c,,2\nc,d,\"x,y\",3\n";
    let path = import(directory.path(), content);
    let change = |mut batch: Batch| {
        let text = |text: &'static str| PropertyValue::Text(text.as_bytes());
        batch.add_edge("a", "e", &[7_i64.into(), text("new")]).unwrap();
        batch.add_edge("e", "f", &[2.5.into(), PropertyValue::Missing]).unwrap(); // a wider type
        batch.replace_edge("a", "b", &[9_i64.into(), text("second")]).unwrap();
        batch.remove_edge("b", "c").unwrap();
        batch.remove_edge("b", "nobody").unwrap();
        batch.add_vertex("lonely").unwrap();
        batch.remove_vertex("d").unwrap();
        batch.define_vertex_property("age", ElementType::I32);
        batch.set_vertex("a", "age", Some(31.into())).unwrap();
        batch.set_vertex("e", "age", Some(40_000_000_000_i64.into())).unwrap();
        batch.set_vertex("b", "age", None).unwrap();
        batch.count_removed();
        batch
    };
    let apart = tempfile::tempdir().unwrap();
    let expected = open(&import(apart.path(), content));
    let options =
        CommitOptions { message: "all".to_owned(), time_ms: Some(4_000_000_000_000), ..Default::default() };
    let wanted = expected.commit_with(change(expected.batch()), &options).unwrap();

    let database = open(&path);
    let (committed, commits) = serving(&database, || {
        let other = queued(&path, &Cancel::default());
        let committed = other.commit_with(change(other.batch().unwrap()), &options).unwrap();
        assert_eq!(other.latest().unwrap().number(), committed.version, "the handle sees it");
        committed
    });
    assert_eq!((committed, commits), (wanted, 1));
    let rows = |database: &Database| {
        let version = database.latest().unwrap();
        let run = esker_graph::Run::with_threads(1).unwrap();
        let removed = version.removed(&run).unwrap();
        let mut rows = BTreeSet::new();
        for source in (0..version.num_vertices()).map(|v| VertexId::try_from(v).unwrap()) {
            let id = |v| version.ids().external_of(v).unwrap().to_string();
            let age = version.vertex_property("age").unwrap().get(source).unwrap().map(|age| age.to_string());
            rows.insert(format!("{} {age:?} {}", id(source), removed.is_removed(source)));
            let list = version.edges(esker_graph::Direction::Out, source).unwrap();
            for (index, &target) in list.targets().iter().enumerate() {
                let value = |property: &PropertyRecord| {
                    let bits = list.bits(property.number, index).unwrap();
                    format!("{:?}", version.edge_value(property, bits).unwrap())
                };
                let values: Vec<_> = version.edge_properties().map(value).collect();
                rows.insert(format!("{} {} {values:?}", id(source), id(target)));
            }
        }
        let record = version.record();
        (rows, record.message.clone(), record.time_ms)
    };
    assert_eq!(rows(&database), rows(&expected));
}

#[test]
fn what_the_holder_refuses_is_refused_with_its_reason_and_nothing_happens() {
    let directory = tempfile::tempdir().unwrap();
    let path = import(directory.path(), b"source,target\na,b\n");
    let database = open(&path);
    let (error, commits) = serving(&database, || {
        let other = queued(&path, &Cancel::default());
        let mut batch = other.batch().unwrap();
        batch.remove_vertex("nobody").unwrap();
        batch.refuse_unknown();
        let error = other.commit_with(batch, &CommitOptions::default()).unwrap_err();
        let early = CommitOptions { time_ms: Some(0), ..CommitOptions::default() };
        let mut batch = other.batch().unwrap();
        batch.add_edge("b", "c", &[]).unwrap();
        let before = other.commit_with(batch, &early).unwrap_err();
        assert!(before.to_string().contains("is before"), "{before}");
        error
    });
    assert!(error.to_string().contains("nobody"), "{error}");
    assert_eq!((commits, database.versions().len()), (0, 1));
    let mut batch = database.batch();
    batch.set_duplicates(Duplicates::First).unwrap();
    batch.add_edge("b", "c", &[]).unwrap();
    assert_eq!(database.commit(batch, "").unwrap(), 2, "the number of the refused version is free");
}

#[test]
fn without_a_holder_the_handle_commits_itself_and_without_a_server_there_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = import(directory.path(), b"source,target\na,b\n");
    let none = || QueuedDatabase::open(&path, DatabaseOptions::default(), Cancel::default()).unwrap();
    assert!(none().is_none());
    let database = open(&path);
    assert!(none().is_none(), "nobody serves the queue");
    let (other, _) = serving(&database, || queued(&path, &Cancel::default()));
    database.close().unwrap();
    let mut batch = other.batch().unwrap();
    batch.add_edge("b", "c", &[]).unwrap();
    assert_eq!(other.commit_with(batch, &CommitOptions::default()).unwrap().version, 2);
    assert_eq!(open(&path).latest().unwrap().num_edges(), 2);
}

#[test]
fn what_is_withdrawn_in_time_does_not_happen() {
    let directory = tempfile::tempdir().unwrap();
    let path = import(directory.path(), b"source,target\na,b\n");
    let database = open(&path);
    let withdrawal = Cancel::default();
    // Nobody serves the queue any more, but the database is still open.
    let (other, _) = serving(&database, || queued(&path, &withdrawal));
    let mut batch = other.batch().unwrap();
    batch.add_edge("b", "c", &[]).unwrap();
    let error = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.commit_with(batch, &CommitOptions::default()));
        std::thread::sleep(Duration::from_millis(120));
        assert!(!waiting.is_finished());
        withdrawal.cancel();
        waiting.join().unwrap().unwrap_err()
    });
    assert!(matches!(error, Error::Stop(esker_graph::Stop::Cancelled)), "{error}");
    let ((), commits) = serving(&database, || std::thread::sleep(Duration::from_millis(50)));
    assert_eq!((commits, database.versions().len()), (0, 1));
}

#[test]
fn a_holder_that_has_stopped_taking_requests_is_not_waited_for_forever() {
    let directory = tempfile::tempdir().unwrap();
    let path = import(directory.path(), b"source,target\na,b\n");
    let database = open(&path);
    let (other, _) = serving(&database, || queued(&path, &Cancel::default()));
    let mut batch = other.batch().unwrap();
    batch.add_edge("b", "c", &[]).unwrap();
    let error = other.commit_with(batch, &CommitOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    let ((), commits) = serving(&database, || std::thread::sleep(Duration::from_millis(50)));
    assert_eq!((commits, database.versions().len()), (0, 1), "the changes were taken back");
}

/// The request that waits in the queue of a database, once there is one.
fn request_in(path: &Path) -> PathBuf {
    loop {
        let names = std::fs::read_dir(path.join("queue")).unwrap().map(|one| one.unwrap().path());
        match names.into_iter().find(|name| name.extension().is_some_and(|end| end == "request")) {
            Some(request) => return request,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[test]
fn an_answer_that_cannot_be_written_comes_as_soon_as_it_can() {
    let directory = tempfile::tempdir().unwrap();
    let path = import(directory.path(), b"source,target\na,b\n");
    let database = open(&path);
    let (other, _) = serving(&database, || queued(&path, &Cancel::default()));
    let mut batch = other.batch().unwrap();
    batch.add_edge("b", "c", &[]).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.commit_with(batch, &CommitOptions::default()));
        let blocked = request_in(&path).with_extension("new");
        std::fs::create_dir(&blocked).unwrap();
        serving(&database, || {
            while database.versions().len() < 2 {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(100));
            assert!(!waiting.is_finished());
            std::fs::remove_dir(&blocked).unwrap();
            assert_eq!(waiting.join().unwrap().unwrap().version, 2);
        });
    });
    assert_eq!(database.versions().len(), 2);
}

#[test]
fn a_batch_is_refused_if_a_vertex_is_gone_and_takes_the_types_that_properties_have_by_then() {
    let directory = tempfile::tempdir().unwrap();
    let path = import(directory.path(), b"source,target\na,b\n");
    let database = open(&path);
    serving(&database, || {
        let other = queued(&path, &Cancel::default());
        let set = |id: &str, value: PropertyValue<'static>, kind: ElementType| {
            let mut batch = other.batch().unwrap();
            batch.suggest_vertex_property("q", kind);
            batch.expect_vertex(id).unwrap();
            batch.set_vertex(id, "q", Some(value)).unwrap();
            batch
        };
        let (first, second) = (
            set("a", PropertyValue::F64(2.5), ElementType::F64),
            set("b", PropertyValue::I64(2), ElementType::I64),
        );
        let late = set("b", PropertyValue::I64(3), ElementType::I64);
        other.commit_with(first, &CommitOptions::default()).unwrap();
        other.commit_with(second, &CommitOptions::default()).unwrap();
        let mut removal = other.batch().unwrap();
        removal.remove_vertex("b").unwrap();
        other.commit_with(removal, &CommitOptions::default()).unwrap();
        let error = other.commit_with(late, &CommitOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::VertexNotFound, "{error}");
        assert!(error.to_string().contains("no vertex has the id \"b\" any more"), "{error}");
        // Of changes in one batch the later sees the earlier.
        let mut both = other.batch().unwrap();
        both.add_vertex("b").unwrap();
        both.expect_vertex("b").unwrap();
        other.commit_with(both, &CommitOptions::default()).unwrap();
        let mut both = other.batch().unwrap();
        both.remove_vertex("b").unwrap();
        both.expect_vertex("b").unwrap();
        other.commit_with(both, &CommitOptions::default()).unwrap_err();
    });
    let value = |version: u64, id: &str| {
        let version = database.at(version).unwrap();
        let vertex = version.ids().find(id).unwrap();
        let property = version.vertex_property("q").unwrap();
        let value = property.get(vertex).unwrap();
        value.map(|value| value.to_string())
    };
    assert_eq!(value(3, "a").as_deref(), Some("2.5"));
    assert_eq!(value(3, "b").as_deref(), Some("2"));
    assert_eq!(value(5, "b"), None);
    assert_eq!(database.versions().len(), 5);
}

/// A holder dies after each of its steps; the next one, or the client itself, ends what it began.
#[test]
fn a_holder_that_dies_at_any_step_leaves_one_commit() {
    let steps = ["request", "taken", "2.taken before", "2.taken after", "2.taken after half an answer"];
    for step in steps.into_iter().chain(["2.taken after an answer that cannot be written"]) {
        let directory = tempfile::tempdir().unwrap();
        let path = import(directory.path(), b"source,target\na,b\n");
        let database = open(&path);
        let (other, _) = serving(&database, || queued(&path, &Cancel::default()));
        let mut batch = other.batch().unwrap();
        batch.add_edge("b", "c", &[]).unwrap();
        let version = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| other.commit_with(batch, &CommitOptions::default()));
            let request = request_in(&path);
            if let Some(taken) = step.split(' ').next().filter(|step| *step != "request") {
                std::fs::rename(&request, request.with_extension(taken)).unwrap();
            }
            if step.ends_with("half an answer") {
                std::fs::write(request.with_extension("new"), b"ESK").unwrap();
            }
            if step.ends_with("cannot be written") {
                std::fs::create_dir(request.with_extension("new")).unwrap();
            }
            if step.starts_with("2.taken after") {
                let mut batch = database.batch();
                batch.add_edge("b", "c", &[]).unwrap();
                database.commit(batch, "").unwrap();
            }
            database.close().unwrap();
            waiting.join().unwrap().unwrap().version
        });
        let database = open(&path);
        assert_eq!((version, database.versions().len()), (2, 2), "{step}");
        assert_eq!(database.latest().unwrap().num_edges(), 2, "{step}");
    }
}

#[test]
fn bytes_that_are_no_request_and_requests_of_nobody_do_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    let path = import(directory.path(), b"source,target\na,b\n");
    let queue = path.join("queue");
    std::fs::create_dir(&queue).unwrap();
    let id = "0123456789abcdef0123456789abcdef";
    for name in ["request", "taken", "7.taken", "answer", "new", "client"] {
        std::fs::write(queue.join(format!("{id}.{name}")), b"anything").unwrap();
    }
    std::fs::write(queue.join("notes.txt"), b"of the user").unwrap();
    // What cannot be locked or removed keeps nobody from the database.
    let strange = queue.join("fedcba9876543210fedcba9876543210.client");
    std::fs::create_dir(&strange).unwrap();
    std::fs::write(strange.with_extension("request"), b"anything").unwrap();
    let database = open(&path);
    let ((), commits) = serving(&database, || {
        let other = queued(&path, &Cancel::default());
        std::fs::write(queue.join(format!("{id}.request")), b"anything").unwrap();
        let mut batch = other.batch().unwrap();
        batch.add_edge("b", "c", &[]).unwrap();
        other.commit_with(batch, &CommitOptions::default()).unwrap();
    });
    assert_eq!((commits, database.latest().unwrap().num_edges()), (1, 2));
    let mut left: Vec<_> = std::fs::read_dir(&queue).unwrap().map(|one| one.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["fedcba9876543210fedcba9876543210.client", "notes.txt", "served"]);
}
