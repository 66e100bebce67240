//! How far streams were read stays known, whichever versions are forgotten, and no longer than their edges.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use esker_graph::random::Random;
use esker_store::format::Retention;
use esker_store::io::{Disk, FaultyDisk, InputId};
use esker_store::manifest::KEPT_MESSAGES_MAX;
use esker_store::position::StreamPosition;
use esker_store::property::PropertyValue;
use esker_store::{Database, DatabaseOptions};

use super::model::Edges;

const PATH: &str = "web.esker";

fn open(disk: &Arc<dyn Disk>) -> Database {
    let options = DatabaseOptions { threads: 1, ..DatabaseOptions::default() };
    Database::open_on(Arc::clone(disk), Path::new(PATH), options).unwrap()
}

fn place() -> Arc<dyn Disk> {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    Edges::imported().import(&disk, Path::new(PATH));
    disk
}

fn commit(db: &Database, message: &str) -> u64 {
    let mut batch = db.batch();
    let target = 1000 + db.versions().last().unwrap().number;
    batch.add_edge(0_u64, target, &[PropertyValue::I32(1)]).unwrap();
    db.commit(batch, message).unwrap()
}

/// The newest position of each input.
fn newest(db: &Database) -> BTreeMap<String, u64> {
    // Newest first: the last that is put in is the newest.
    db.stream_positions().into_iter().rev().map(|(source, position)| (source, position.edges)).collect()
}

#[test]
fn positions_outlast_the_versions_that_say_them_and_go_with_their_edges() {
    let mut undone = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let disk = place();
        let mut db = open(&disk);
        let run = esker_graph::Run::with_threads(1).unwrap();
        // The version, the input and the position of each commit that is not undone.
        let mut model: Vec<(u64, String, u64)> = Vec::new();
        for step in 0..40 {
            match random.below(10) {
                0..4 => {
                    let source = format!("/data/{}.csv", random.below(3));
                    let position = StreamPosition { edges: step + 1, ..StreamPosition::default() };
                    let message = match random.below(3) {
                        0 => format!("expire 3 edges until 2026-06-05; {}", position.message(Some(&source))),
                        _ => position.message(Some(&source)),
                    };
                    model.push((commit(&db, &message), source, step + 1));
                }
                4 => drop(commit(&db, "others")),
                5 => drop(db.freeze(&run).unwrap()),
                6 => {
                    let keep = 1 + random.below(4);
                    let all = random.below(4) == 0;
                    db.retain(if all { Retention::All } else { Retention::Last(keep) }).unwrap();
                }
                7 | 8 => {
                    let versions: Vec<u64> = db.versions().iter().map(|version| version.number).collect();
                    let newest = versions[versions.len() - 1];
                    let mut gone: Vec<u64> =
                        versions.iter().copied().filter(|_| random.below(3) == 0).collect();
                    gone.extend(Some(newest).filter(|last| random.below(2) == 0 && !gone.contains(last)));
                    if gone.is_empty() || gone.len() == versions.len() {
                        continue;
                    }
                    db.forget_all(&gone).unwrap();
                    let last = db.versions().last().unwrap().number;
                    let before = model.len();
                    model.retain(|one| one.0 <= last);
                    undone += before - model.len();
                }
                _ => {
                    if random.below(2) == 0 {
                        db.compact(&run).unwrap();
                    }
                    db.close().unwrap();
                    db = open(&disk);
                }
            }
            let expected: BTreeMap<String, u64> =
                model.iter().map(|(_, source, edges)| (source.clone(), *edges)).collect();
            assert_eq!(newest(&db), expected, "seed {seed}, step {step}");
        }
    }
    assert!(undone > 20, "{undone} positions were undone");
}

#[test]
fn a_file_is_one_input_under_any_name_and_the_oldest_inputs_are_forgotten() {
    let disk = place();
    let db = open(&disk);
    db.retain(Retention::Last(1)).unwrap();
    let of_file = |number| StreamPosition {
        edges: number,
        file: Some(InputId { device: 1, number, birth_ns: None }),
        ..StreamPosition::default()
    };
    for name in ["/log", "/log.1"] {
        commit(&db, &of_file(1).message(Some(name)));
    }
    for file in 2..=KEPT_MESSAGES_MAX as u64 + 11 {
        commit(&db, &of_file(file).message(Some("/log")));
    }
    commit(&db, "others");
    db.freeze(&esker_graph::Run::with_threads(1).unwrap()).unwrap();
    assert_eq!(db.versions().len(), 1);
    let kept: Vec<u64> = db.stream_positions().iter().map(|(_, position)| position.edges).collect();
    let expected: Vec<u64> = (12..=KEPT_MESSAGES_MAX as u64 + 11).rev().collect();
    assert_eq!(kept, expected);
}
