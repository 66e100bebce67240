//! Edge properties that get a wider type because a later value needs it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_graph::{Direction, Run};
use esker_import::install::import;
use esker_import::open::open_reader;
use esker_import::options::ImportOptions;
use esker_import::read::format::{PickProperties, ReadOptions};
use esker_store::format::{ElementType, Encoding};
use esker_store::ids::ExternalId;
use esker_store::io::{Disk, RealDisk};
use esker_store::manifest::StagingOptions;
use esker_store::property::PropertyValue;
use esker_store::{Database, DatabaseOptions, Store, Version};

fn import_edges(directory: &Path, directed: bool, encoding: Encoding) -> PathBuf {
    let (input, target) = (directory.join("in.csv"), directory.join("out.esker"));
    std::fs::write(&input, "source,target,weight,kind,x\n1,2,-5,a,0.5\n2,3,7,b,1.5\n3,1,9,a,2.5\n").unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let reader = open_reader(&[input.to_str().unwrap()], &read).unwrap();
    let options = ImportOptions { directed: Some(directed), encoding, ..ImportOptions::default() };
    import(&disk, reader, &target, &options, StagingOptions { replace: true, ..Default::default() }).unwrap();
    target
}

fn options() -> DatabaseOptions {
    DatabaseOptions { threads: 1, auto_merge: Some(false), ..DatabaseOptions::default() }
}

/// The types of weight and x.
fn types(version: &Version) -> Vec<ElementType> {
    let numbers = version.edge_properties().filter(|property| !property.is_text());
    numbers.map(|property| property.element).collect()
}

/// All edges with their values as text, in both directions.
fn contents(version: &Version) -> Vec<String> {
    let properties: Vec<_> = version.edge_properties().cloned().collect();
    let mut found = Vec::new();
    for direction in [Direction::Out, Direction::In] {
        for v in (0..version.num_vertices()).map(esker_graph::vertex) {
            let edges = version.edges(direction, v).unwrap();
            for (index, target) in edges.targets().iter().enumerate() {
                let values = properties.iter().map(|property| {
                    let bits = edges.bits(property.number, index).unwrap();
                    match version.dictionary(property.number) {
                        Some(texts) => {
                            String::from_utf8(texts.text(bits as usize).unwrap().to_vec()).unwrap()
                        }
                        None => PropertyValue::from_bits(property.element, bits).to_string(),
                    }
                });
                found.push(format!("{direction:?} {v} {target} {}", values.collect::<Vec<_>>().join(" ")));
            }
        }
    }
    found
}

fn add(db: &Database, (u, v): (u64, u64), weight: PropertyValue<'_>, x: PropertyValue<'_>) -> u64 {
    let mut batch = db.batch();
    let names: Vec<_> = batch.edge_properties().iter().map(|property| property.name.clone()).collect();
    let value = |name: &String| match &**name {
        "weight" => weight,
        "kind" => PropertyValue::Text(b"c"),
        _ => x,
    };
    batch.add_edge(u, v, &names.iter().map(value).collect::<Vec<_>>()).unwrap();
    db.commit(batch, "").unwrap()
}

#[test]
fn a_property_becomes_as_wide_as_its_values_in_every_version() {
    use ElementType::{F32, F64, I32, I64};
    let (directory, run) = (tempfile::tempdir().unwrap(), Run::with_threads(1).unwrap());
    for directed in [true, false] {
        for encoding in [Encoding::Plain, Encoding::Compressed] {
            let target = import_edges(directory.path(), directed, encoding);
            let db = Database::open(&target, options()).unwrap();
            let half = PropertyValue::F64(0.5);
            add(&db, (1, 3), PropertyValue::I32(4), half);
            db.freeze(&run).unwrap();
            add(&db, (1, 2), PropertyValue::I64(6), half);
            assert_eq!(types(&db.latest().unwrap()), [I32, F32]);
            let versions = || -> Vec<Vec<String>> {
                db.versions().iter().map(|version| contents(&db.at(version.number).unwrap())).collect()
            };
            let before = versions();
            let big = 1 << 40;
            assert_eq!(add(&db, (4, 5), PropertyValue::I64(big), half), 4);
            assert_eq!(types(&db.latest().unwrap()), [I64, F32]);
            assert_eq!(versions()[..3], before);
            assert!(contents(&db.latest().unwrap()).iter().any(|edge| edge.contains(&big.to_string())));
            add(&db, (4, 6), PropertyValue::F64(0.25), PropertyValue::F64(0.1));
            assert_eq!(types(&db.latest().unwrap()), [F64, F64]);
            assert_eq!(versions()[..3], before);
            assert!(contents(&db.latest().unwrap()).iter().any(|edge| edge.ends_with("0.25 c 0.1")));
            let after = versions();
            db.close().unwrap();
            let store = Store::open(&target).unwrap();
            assert!(store.check(&run).unwrap().problems.is_empty());
            let read = store.versions().unwrap();
            let read: Vec<_> =
                read.iter().map(|version| contents(&store.at(version.number).unwrap())).collect();
            assert_eq!(read, after, "{directed} {encoding:?}");
        }
    }
}

#[test]
fn a_batch_that_began_before_a_property_was_widened_is_converted() {
    let directory = tempfile::tempdir().unwrap();
    let db = Database::open(import_edges(directory.path(), true, Encoding::Plain), options()).unwrap();
    let half = PropertyValue::F64(0.5);
    let mut batch = db.batch();
    batch.add_edge(8_u64, 9_u64, &[PropertyValue::I32(3), PropertyValue::Text(b"a"), half]).unwrap();
    add(&db, (4, 5), PropertyValue::F64(0.25), half);
    db.commit(batch, "").unwrap();
    assert!(contents(&db.latest().unwrap()).iter().any(|edge| edge.ends_with(" 3 a 0.5")));
}

#[test]
fn values_that_no_type_holds_together_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let db = Database::open(import_edges(directory.path(), true, Encoding::Plain), options()).unwrap();
    let half = PropertyValue::F64(0.5);
    add(&db, (4, 5), PropertyValue::I64((1 << 53) + 1), half);
    let before = contents(&db.latest().unwrap());
    let mut batch = db.batch();
    batch.add_edge(6_u64, 7_u64, &[half, PropertyValue::Text(b"a"), half]).unwrap();
    let error = db.commit(batch, "").unwrap_err().to_string();
    assert!(error.contains("9007199254740993"), "{error}");
    assert_eq!((contents(&db.latest().unwrap()), db.versions().len()), (before, 2));
    let mut batch = db.batch();
    let text = PropertyValue::Text(b"far");
    let error = batch.add_edge(6_u64, 7_u64, &[text, text, half]).unwrap_err().to_string();
    assert!(error.contains("takes i64"), "{error}");
    add(&db, (6, 7), PropertyValue::I64(1), half);
}

#[test]
fn a_vertex_property_becomes_as_wide_as_its_values_in_every_version() {
    let (directory, run) = (tempfile::tempdir().unwrap(), Run::with_threads(1).unwrap());
    let target = import_edges(directory.path(), true, Encoding::Plain);
    let db = Database::open(&target, options()).unwrap();
    let set = |v: u64, value: PropertyValue<'_>| {
        let mut batch = db.batch();
        batch.set_vertex(v, "age", Some(value)).unwrap();
        db.commit(batch, "").unwrap()
    };
    let mut batch = db.batch();
    batch.define_vertex_property("age", ElementType::I32);
    batch.set_vertex(1_u64, "age", Some(PropertyValue::I32(-5))).unwrap();
    db.commit(batch, "").unwrap();
    db.freeze(&run).unwrap();
    set(2, PropertyValue::I32(7));
    let shown = |version: &Version| -> Vec<Option<String>> {
        let property = version.vertex_property("age").unwrap();
        (0..3).map(|v| property.get(v).unwrap().map(|value| value.to_string())).collect()
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(set(3, PropertyValue::I64(1 << 40)), 4);
    set(2, PropertyValue::F64(0.5));
    let newest = [text("-5"), text("0.5"), text("1099511627776")];
    assert_eq!(shown(&db.latest().unwrap()), newest);
    assert_eq!(shown(&db.at(3).unwrap()), [text("-5"), text("7"), None]);
    assert_eq!(db.latest().unwrap().vertex_properties().next().unwrap().type_name(), "f64");
    let array = |db: &Database| -> Vec<Option<f64>> {
        let version = db.latest().unwrap();
        version.vertex_property("age").unwrap().array::<f64>(&run).unwrap().iter().collect()
    };
    assert_eq!(array(&db), [Some(-5.0), Some(0.5), Some(1_099_511_627_776.0)]);
    db.compact(&run).unwrap();
    assert_eq!(shown(&db.latest().unwrap()), newest);
    assert_eq!(array(&db), [Some(-5.0), Some(0.5), Some(1_099_511_627_776.0)]);
    set(1, PropertyValue::F64(1e300));
    db.close().unwrap();
    let store = Store::open(&target).unwrap();
    assert!(store.check(&run).unwrap().problems.is_empty());
    assert_eq!(shown(&store.at(5).unwrap()), newest);
}

#[test]
fn a_vertex_property_defined_and_widened_by_one_batch_has_the_wide_type() {
    let directory = tempfile::tempdir().unwrap();
    let db = Database::open(import_edges(directory.path(), true, Encoding::Plain), options()).unwrap();
    let mut batch = db.batch();
    batch.define_vertex_property("score", ElementType::I64);
    batch.set_vertex(1_u64, "score", Some(PropertyValue::I64(1))).unwrap();
    batch.set_vertex(2_u64, "score", Some(PropertyValue::F64(0.5))).unwrap();
    db.commit(batch, "").unwrap();
    assert_eq!(db.latest().unwrap().vertex_properties().next().unwrap().type_name(), "f64");
    let mut batch = db.batch();
    batch.set_vertex(1_u64, "score", Some(PropertyValue::I64((1 << 53) + 1))).unwrap();
    let error = db.commit(batch, "").unwrap_err().to_string();
    assert!(error.contains("takes f64, not 9007199254740993"), "{error}");
}

/// Their shortest digits as floats of 32 bits are other numbers as floats of 64.
#[test]
fn floats_of_32_bits_keep_their_value_where_the_same_batch_widens_the_property() {
    let directory = tempfile::tempdir().unwrap();
    let db = Database::open(import_edges(directory.path(), true, Encoding::Plain), options()).unwrap();
    let mut batch = db.batch();
    batch.define_vertex_property("score", ElementType::F32);
    batch.set_vertex(1_u64, "score", Some(PropertyValue::F32(1.5))).unwrap();
    db.commit(batch, "").unwrap();
    let floats: Vec<f32> = (27..70).map(|power| 2_f32.powi(power)).chain([0.1, -0.0, 123_456.79]).collect();
    let mut batch = db.batch();
    batch.set_vertex(2_u64, "score", Some(PropertyValue::F64(0.1))).unwrap();
    for (id, &value) in (10_u64..).zip(&floats) {
        batch.set_vertex(id, "score", Some(PropertyValue::F32(value))).unwrap();
    }
    db.commit(batch, "").unwrap();
    let version = db.latest().unwrap();
    let property = version.vertex_property("score").unwrap();
    for (id, &value) in (10_u64..).zip(&floats) {
        let v = version.ids().vertex_of(ExternalId::Int(id)).unwrap().unwrap();
        let Some(PropertyValue::F64(found)) = property.get(v).unwrap() else { panic!("{value}") };
        assert_eq!(found.to_bits(), f64::from(value).to_bits(), "{value}");
    }
}
