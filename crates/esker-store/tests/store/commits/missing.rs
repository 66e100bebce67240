//! Edges without a value of a property, in every encoding, through commits, freezes, merges and reopening.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_graph::{Direction, Run};
use esker_import::install::import;
use esker_import::open::open_reader;
use esker_import::options::ImportOptions;
use esker_import::read::format::{PickProperties, ReadOptions};
use esker_store::format::{Duplicates, ElementType, Encoding, PropertyRecord};
use esker_store::io::{Disk, RealDisk};
use esker_store::manifest::StagingOptions;
use esker_store::property::PropertyValue;
use esker_store::{Database, DatabaseOptions, EdgeMatch, Store, Version};

const COLUMNS: [&str; 5] = ["weight", "kind", "x", "flag", "day"];

/// Edges 1 -> 2, 2 -> 3 and 3 -> 1 with a property of each kind of type.
fn import_edges(directory: &Path, encoding: Encoding, duplicates: Duplicates) -> PathBuf {
    let (input, target) = (directory.join("in.csv"), directory.join("out.esker"));
    let rows = "1,2,-5,a,0.5,true,2026-01-01\n2,3,7,b,1.5,false,2026-01-02\n3,1,9,a,2.5,true,2026-01-03\n";
    std::fs::write(&input, format!("source,target,{}\n{rows}", COLUMNS.join(","))).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let reader = open_reader(&[input.to_str().unwrap()], &read).unwrap();
    let options = ImportOptions { encoding, duplicates, ..ImportOptions::default() };
    import(&disk, reader, &target, &options, StagingOptions { replace: true, ..Default::default() }).unwrap();
    target
}

fn options() -> DatabaseOptions {
    DatabaseOptions { threads: 1, auto_merge: Some(false), ..DatabaseOptions::default() }
}

/// The values of the edge between two vertices, as text; `-` for none.
fn values_of(version: &Version, source: u64, target: u64) -> Option<Vec<String>> {
    let [source, target] = [source, target].map(|id| version.ids().vertex_of(id.into()).unwrap());
    let edges = version.edges(Direction::Out, source?).unwrap();
    let index = edges.targets().iter().position(|&other| Some(other) == target)?;
    let value = |property: &PropertyRecord| {
        let bits = edges.bits(property.number, index).unwrap();
        match version.edge_value(property, bits).unwrap() {
            PropertyValue::Missing => "-".to_owned(),
            value => value.to_string(),
        }
    };
    Some(version.edge_properties().map(value).collect())
}

const FULL: [PropertyValue<'static>; 5] = [
    PropertyValue::I64(4),
    PropertyValue::Text(b"c"),
    PropertyValue::F64(0.5),
    PropertyValue::Boolean(true),
    PropertyValue::Date(9),
];

/// Those values, without the one at `missing`.
fn without(missing: usize) -> Vec<PropertyValue<'static>> {
    let mut values = FULL.to_vec();
    values[missing] = PropertyValue::Missing;
    values
}

#[test]
fn a_missing_value_stays_missing_through_layers_and_none_becomes_one() {
    let run = Run::with_threads(1).unwrap();
    for encoding in [Encoding::Plain, Encoding::Compressed, Encoding::Tiles] {
        for missing in 0..COLUMNS.len() {
            let directory = tempfile::tempdir().unwrap();
            let path = import_edges(directory.path(), encoding, Duplicates::Last);
            let db = Database::open(&path, options()).unwrap();
            let old = values_of(&db.latest().unwrap(), 1, 2).unwrap();
            let mut batch = db.batch();
            batch.add_edge(1_u64, 9_u64, &without(missing)).unwrap();
            batch.add_edge(1_u64, 3_u64, &FULL).unwrap();
            let version = db.commit(batch, "one is missing").unwrap();
            let mut expected: Vec<String> = FULL.iter().map(ToString::to_string).collect();
            let full = expected.clone();
            expected[missing] = "-".to_owned();
            let verify = |version: &Version, what: &str| {
                let what = format!("{encoding:?} {} {what}", COLUMNS[missing]);
                assert_eq!(values_of(version, 1, 9).as_ref(), Some(&expected), "{what}");
                assert_eq!(values_of(version, 1, 3).as_ref(), Some(&full), "{what}");
                assert_eq!(values_of(version, 1, 2).as_ref(), Some(&old), "{what}");
                let property = version.edge_property(COLUMNS[missing]).unwrap();
                assert!(property.optional, "{what}");
                assert_eq!(version.num_without(property, &run).unwrap(), 1, "{what}");
                let refused = version.view().expect_values(property, &run).unwrap_err().to_string();
                assert!(refused.contains("from 1 to 9 has no value"), "{what}: {refused}");
            };
            verify(&db.latest().unwrap(), "committed");
            assert_eq!(values_of(&db.at(1).unwrap(), 1, 2), Some(old.clone()), "the version before");
            db.freeze(&run).unwrap();
            verify(&db.latest().unwrap(), "frozen");
            db.merge(&run).unwrap();
            verify(&db.latest().unwrap(), "merged");
            db.compact_with(Default::default(), &run).unwrap();
            verify(&db.at(version).unwrap(), "compacted");
            db.close().unwrap();
            verify(&Store::open(&path).unwrap().latest().unwrap(), "reopened");
            // Among the edges are those without the value: they are matched, and others are not.
            let db = Database::open(&path, options()).unwrap();
            let mut batch = db.batch();
            for target in [9_u64, 3] {
                let values = [(missing as u32, PropertyValue::Missing)];
                batch.remove_edges(1_u64, target, &EdgeMatch { values: &values, at_most: None }).unwrap();
            }
            db.commit(batch, "without the missing one").unwrap();
            let newest = db.latest().unwrap();
            assert_eq!((values_of(&newest, 1, 9), values_of(&newest, 1, 3)), (None, Some(full.clone())));
            newest.view().expect_values(newest.edge_property(COLUMNS[missing]).unwrap(), &run).unwrap();
        }
    }
}

#[test]
fn weights_that_are_missing_are_refused_by_the_edge_and_times_are_in_no_window() {
    let directory = tempfile::tempdir().unwrap();
    let run = Run::with_threads(1).unwrap();
    let db = Database::open(import_edges(directory.path(), Encoding::Plain, Duplicates::Last), options());
    let db = db.unwrap();
    let mut batch = db.batch();
    batch.add_edge(2_u64, 1_u64, &without(0)).unwrap();
    db.commit(batch, "without a weight").unwrap();
    let newest = db.latest().unwrap();
    // Narrow integers have no room for a missing one.
    assert_eq!(newest.edge_property("weight").unwrap().element, ElementType::I64);
    let refused = newest.view().graph::<i64>(&run).unwrap_err().to_string();
    assert!(refused.contains("from 2 to 1 has no value of \"weight\""), "{refused}");
    assert!(newest.view().reversed().present_graph::<i64>(&run).is_err());
    newest.view().graph::<()>(&run).unwrap();
    assert_eq!(newest.time_range("weight", &run).unwrap(), Some((-5, 9)));
    assert_eq!(newest.latest_time("weight", &run).unwrap(), Some(9));
    let whole = esker_store::windows::TimeWindow::WHOLE;
    assert_eq!(newest.view().window("weight", whole, false, &run).unwrap().num_edges(), 3);
}

#[test]
fn what_stands_for_a_missing_value_is_refused_as_a_value() {
    for first in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let db = Database::open(import_edges(directory.path(), Encoding::Plain, Duplicates::Last), options());
        let db = db.unwrap();
        let mut least = FULL.to_vec();
        least[0] = PropertyValue::I64(i64::MIN);
        let (first, second) = if first { (least, without(0)) } else { (without(0), least) };
        let mut batch = db.batch();
        batch.add_edge(5_u64, 6_u64, &first).unwrap();
        db.commit(batch, "one").unwrap();
        let mut batch = db.batch();
        let added = batch.add_edge(6_u64, 7_u64, &second);
        let refused = added.and_then(|()| db.commit(batch, "the other").map(drop)).unwrap_err().to_string();
        assert!(refused.contains("-9223372036854775808"), "{refused}");
    }
    let directory = tempfile::tempdir().unwrap();
    let db = Database::open(import_edges(directory.path(), Encoding::Plain, Duplicates::Last), options());
    let mut text = FULL.to_vec();
    text[1] = PropertyValue::Text(b"\xff");
    assert!(db.unwrap().batch().add_edge(6_u64, 7_u64, &text).is_err());
}

#[test]
fn a_missing_weight_loses_to_any_and_adds_nothing() {
    let (none, some) = (PropertyValue::Missing, |weight: i64| PropertyValue::I64(weight));
    for (rule, expected) in [
        (Duplicates::First, ["-", "3", "-"]),
        (Duplicates::Last, ["3", "-", "-"]),
        (Duplicates::Min, ["3", "3", "-"]),
        (Duplicates::Max, ["3", "3", "-"]),
        (Duplicates::Sum, ["3", "3", "-"]),
    ] {
        for together in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let db =
                Database::open(import_edges(directory.path(), Encoding::Plain, rule), options()).unwrap();
            let mut batch = db.batch();
            let pairs = [(11_u64, none, some(3)), (12, some(3), none), (13, none, none)];
            for (target, weight, _) in pairs {
                batch.add_edge(1_u64, target, &[&[weight], &FULL[1..]].concat()).unwrap();
            }
            if !together {
                db.commit(std::mem::replace(&mut batch, db.batch()), "the first").unwrap();
                batch = db.batch();
            }
            for (target, _, weight) in pairs {
                batch.add_edge(1_u64, target, &[&[weight], &FULL[1..]].concat()).unwrap();
            }
            db.commit(batch, "the second").unwrap();
            let newest = db.latest().unwrap();
            let found = pairs.map(|(target, ..)| values_of(&newest, 1, target).unwrap().remove(0));
            assert_eq!(found, expected, "{rule:?} together: {together}");
        }
    }
}
