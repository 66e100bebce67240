//! Options that the database keeps, and writers obey.

use std::path::Path;
use std::sync::Arc;

use esker_store::database::CommitWatch;
use esker_store::format::{
    CopyPolicy, EventTimes, ReadingRecord, SpanRecord, SpanUnit, StreamRecord, StreamUnit, WriteOptions,
};
use esker_store::io::{Disk, FaultyDisk};
use esker_store::property::PropertyValue;
use esker_store::{CommitOptions, Database, DatabaseOptions, Store};

use super::model::Edges;

const PATH: &str = "web.esker";

fn place() -> Arc<dyn Disk> {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    Edges::imported().import(&disk, Path::new(PATH));
    disk
}

fn open(disk: &Arc<dyn Disk>, options: DatabaseOptions) -> Database {
    let options = DatabaseOptions { threads: 1, ..options };
    Database::open_on(Arc::clone(disk), Path::new(PATH), options).unwrap()
}

/// Commits one edge of vertex 0, and closes the database.
fn commit(disk: &Arc<dyn Disk>, options: DatabaseOptions, target: u64) {
    let db = open(disk, options);
    let mut batch = db.batch();
    batch.add_edge(0_u64, target, &[PropertyValue::I32(1)]).unwrap();
    db.commit(batch, "one edge").unwrap();
    db.close().unwrap();
}

/// The number of layers, and of arcs in the newest.
fn layers(disk: &Arc<dyn Disk>) -> (usize, u64) {
    let store = Store::open_on(Arc::clone(disk), Path::new(PATH)).unwrap();
    let layers = &store.manifest().layers;
    (layers.len(), layers[layers.len() - 1].out.arcs)
}

#[test]
fn writers_obey_the_options_of_the_database() {
    let disk = place();
    let default = DatabaseOptions::default;
    commit(&disk, default(), 1000);
    assert_eq!(layers(&disk).0, 1, "a small commit stays in the log");

    let options = WriteOptions { policy: CopyPolicy::Chain, freeze_bytes: 1, auto_merge: false };
    let db = open(&disk, default());
    db.set_write_options(options).unwrap();
    db.close().unwrap();
    let db = open(&disk, default());
    assert_eq!(db.write_options(), options);
    db.close().unwrap();
    // Opening freezes what the log holds, because it is due by now.
    assert_eq!(layers(&disk), (2, 1));
    for target in 1001..1010 {
        commit(&disk, default(), target);
        assert_eq!(layers(&disk), (target as usize - 998, 1), "a layer a commit, with one arc");
    }

    let copy = WriteOptions { policy: CopyPolicy::Copy, ..options };
    open(&disk, default()).set_write_options(copy).unwrap();
    commit(&disk, default(), 1010);
    let (count, arcs) = layers(&disk);
    assert!(count == 12 && arcs > 10, "{arcs} arcs: the list is held whole");

    // What a handle is told holds for it alone.
    commit(&disk, DatabaseOptions { policy: Some(CopyPolicy::Chain), ..default() }, 1011);
    assert_eq!(layers(&disk), (13, 1));
    commit(&disk, DatabaseOptions { freeze_bytes: Some(1 << 20), ..default() }, 1012);
    assert_eq!(layers(&disk), (13, 1));
    commit(&disk, DatabaseOptions { auto_merge: Some(true), ..default() }, 1013);
    assert!(layers(&disk).0 < 13, "layers are merged");
    let db = open(&disk, default());
    assert_eq!(db.write_options(), copy);
    let time = db.manifest().properties[0].name.clone();
    let (delay, expire) =
        (SpanRecord { number: 0, unit: SpanUnit::OfTimes }, SpanRecord { number: 3, unit: SpanUnit::Days });
    let stream = StreamRecord { time, unit: StreamUnit::Milliseconds, delay, expire };
    db.declare_stream(stream.clone()).unwrap();
    let wrong = db.declare_stream(StreamRecord { time: "nothing".to_owned(), ..stream.clone() }).unwrap_err();
    assert!(wrong.to_string().contains("an edge property that does not exist"), "{wrong}");
    let reading = ReadingRecord { format: "csv".to_owned(), table: None, drops_self_loops: true };
    db.set_reading(Some(reading.clone())).unwrap();
    db.set_event_times(EventTimes::Given).unwrap();
    // The manifest keeps them when it is written anew.
    db.compact(&esker_graph::Run::with_threads(1).unwrap()).unwrap();
    (0..300).for_each(|number| db.tag(&format!("tag {}", number % 2), db.versions()[0].number).unwrap());
    db.close().unwrap();
    let db = open(&disk, default());
    assert_eq!((db.write_options(), db.manifest().stream.as_ref()), (copy, Some(&stream)));
    assert_eq!(
        (db.manifest().reading.as_ref(), db.manifest().event_times()),
        (Some(&reading), EventTimes::Given)
    );
    db.set_reading(None).unwrap();
    drop(db);
    assert_eq!(open(&disk, default()).manifest().reading, None);
}

#[test]
fn the_changes_of_a_commit_that_became_a_layer_at_once_are_counted() {
    let disk = place();
    let run = esker_graph::Run::with_threads(1).unwrap();
    let db = open(&disk, DatabaseOptions { freeze_bytes: Some(1), ..DatabaseOptions::default() });
    for targets in [1000..1010_u64, 1005..1012] {
        let mut batch = db.batch();
        targets.for_each(|target| batch.add_edge(0_u64, target, &[PropertyValue::I32(1)]).unwrap());
        db.commit(batch, "edges").unwrap();
    }
    // On a slow machine work in the background may have kept the second from it.
    if let Some(late) = db.freeze(&run).unwrap() {
        assert_eq!((late.added, late.unchanged, late.removed), (2, 5, 0));
    }
    let counts = db.frozen_changes().unwrap();
    assert_eq!((counts.added, counts.unchanged, counts.removed), (12, 5, 0));
    db.close().unwrap();

    let db = open(&disk, DatabaseOptions::default());
    let mut batch = db.batch();
    batch.remove_edge(0_u64, 1000_u64).unwrap();
    db.commit(batch, "no edge").unwrap();
    assert_eq!(db.frozen_changes(), None, "the commit is in no layer yet");
    db.close().unwrap();

    // A later process freezes that commit with its own, which alone it counts.
    let db = open(&disk, DatabaseOptions::default());
    let mut batch = db.batch();
    (1100..1103_u64).for_each(|target| batch.add_edge(0_u64, target, &[PropertyValue::I32(1)]).unwrap());
    db.commit(batch, "more").unwrap();
    db.freeze(&run).unwrap();
    let counts = db.frozen_changes().unwrap();
    assert_eq!((counts.added, counts.removed), (3, 0));
}

#[test]
fn a_durable_commit_that_is_cancelled_becomes_visible_in_the_background() {
    /// Cancels as soon as a commit is durable.
    #[derive(Debug)]
    struct Impatient(esker_graph::Cancel);
    impl CommitWatch for Impatient {
        fn begin(&self) {}
        fn end(&self, durable: Option<u64>) {
            assert!(durable.is_some());
            self.0.cancel();
        }
    }
    let disk = place();
    let mut early = 0;
    for round in 1..=5_u64 {
        let cancel = esker_graph::Cancel::default();
        let watch: Arc<dyn CommitWatch> = Arc::new(Impatient(cancel.clone()));
        let options =
            DatabaseOptions { freeze_bytes: Some(1), watch: Some(watch), ..DatabaseOptions::default() };
        let db = open(&disk, DatabaseOptions { auto_merge: Some(false), ..options });
        let mut batch = db.batch();
        for at in 0..100_000_u64 {
            batch.add_edge(at, 1_000_000 * round + at, &[PropertyValue::I32(1)]).unwrap();
        }
        let before = db.latest().unwrap().num_edges();
        let committed = db.commit_with(batch, &CommitOptions { cancel, ..CommitOptions::default() }).unwrap();
        assert_eq!(committed.version, round + 1, "durable, so not undone");
        // The thread in the background can have been faster, but not five times.
        early += usize::from(db.latest().unwrap().num_edges() == before);
        db.close().unwrap();
        let db = open(&disk, DatabaseOptions::default());
        assert_eq!(db.latest().unwrap().num_edges(), before + 100_000);
        db.close().unwrap();
        assert_eq!(layers(&disk).0, round as usize + 1, "closing waited for the layer");
    }
    assert!(early > 0, "the commits waited for their layers");
}
