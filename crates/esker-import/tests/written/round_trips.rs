//! From a database to a file of a format with attributes, and back.

use std::path::Path;

use esker_graph::Run;
use esker_graph::random::hash;
use esker_import::export::{ExportOptions, StoredExport, export};
use esker_import::{
    Duplicates, ImportOptions, Input, PickProperties, ReadOptions, import_files, import_inputs,
};
use esker_store::Store;
use esker_store::format::{ElementType, LogicalType, PropertyType, TimeUnit};
use esker_store::property::PropertyValue;
use esker_store::{CommitOptions, Database, DatabaseOptions};

use super::shown;

/// Endings of formats that keep everything.
const ENDINGS: [&str; 7] = ["graphml", "gexf", "json", "cyjs", "gml", "net", "dot"];

/// Exports a database in each format and compares what is read back.
#[track_caller]
fn round_trip(database: &Path) {
    let directory = tempfile::tempdir().unwrap();
    let view = Store::open(database).unwrap().latest().unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    let expected = shown(database);
    for ending in ENDINGS {
        let file = directory.path().join(format!("out.{ending}"));
        export(&graph, &file, &ExportOptions::default()).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        for block_bytes in [100, 1 << 20] {
            let back = directory.path().join(format!("{ending}{block_bytes}.esker"));
            let read = ReadOptions { block_bytes, ..ReadOptions::default() };
            let options = ImportOptions { duplicates: Duplicates::Keep, ..ImportOptions::default() };
            import_files(&[file.to_string_lossy()], &back, &read, &options).unwrap();
            assert_eq!(shown(&back), expected, "{ending}: {text}");
        }
    }
}

/// Sets a value of each type for some vertices.
fn give_properties(path: &Path, text_ids: bool) {
    let database = Database::open(path, DatabaseOptions::default()).unwrap();
    let mut batch = database.batch();
    let zone = "Europe/Berlin".to_owned();
    let types: [(&str, PropertyType); 9] = [
        ("small", ElementType::I32.into()),
        ("age", ElementType::I64.into()),
        ("wide", ElementType::U64.into()),
        ("single", ElementType::F32.into()),
        ("score", ElementType::F64.into()),
        ("active", LogicalType::Boolean.into()),
        ("born", LogicalType::Date.into()),
        ("seen", LogicalType::Timestamp { unit: TimeUnit::Micro, zone }.into()),
        ("label", PropertyType::text()),
    ];
    for (name, property_type) in types {
        batch.define_vertex_property(name, property_type);
    }
    let texts: [&[u8]; 6] =
        [b"plain", b"", b" two  blanks ", b"<&>\"'", "line\r\nand\ttab \u{1f980}".as_bytes(), b"null"];
    for (number, text) in texts.iter().enumerate() {
        let id = number.to_string();
        let text_id = format!("v{number}");
        let id = match text_ids {
            true => esker_store::ids::ExternalId::Text(text_id.as_bytes()),
            false => esker_store::ids::ExternalId::Int(id.parse().unwrap()),
        };
        batch.set_vertex(id, "label", Some(PropertyValue::Text(text))).unwrap();
        let value = number as i64;
        batch.set_vertex(id, "small", Some(PropertyValue::I32(-(value as i32)))).unwrap();
        if number % 2 == 0 {
            batch.set_vertex(id, "age", Some(PropertyValue::I64(value << 60))).unwrap();
            batch.set_vertex(id, "wide", Some(PropertyValue::U64(u64::MAX - number as u64))).unwrap();
            batch.set_vertex(id, "single", Some(PropertyValue::F32(0.1 * number as f32))).unwrap();
        } else {
            batch.set_vertex(id, "score", Some(PropertyValue::F64(1e300 / number as f64))).unwrap();
            batch.set_vertex(id, "active", Some(PropertyValue::Boolean(number == 1))).unwrap();
            batch.set_vertex(id, "born", Some(PropertyValue::Date(-700 * value as i32))).unwrap();
        }
    }
    database.commit_with(batch, &CommitOptions::default()).unwrap();
}

/// Ids, directions, property types, missing values, parallel edges, loops, vertices without edges, odd texts.
#[test]
fn everything_comes_back() {
    for text_ids in [false, true] {
        for directed in [false, true] {
            let mut csv = "source,target,w,n,b,d,t,x\n".to_owned();
            for edge in 0..60_u64 {
                let random = hash(edge);
                let (u, v) = (random >> 33 & 7, random >> 40 & 7);
                let name = |v: u64| if text_ids { format!("v{v}") } else { v.to_string() };
                let given = |column: u64, value: String| match column == edge % 9 && directed == text_ids {
                    true => String::new(),
                    false => value,
                };
                let texts = ["a", "\"two\nlines\"", "\"<x & \"\"y\"\">\"", "ü", "\"\"", "NaN"];
                csv += &format!(
                    "{},{},{edge}.25,{},{},{},{},{}\n",
                    name(u),
                    name(v),
                    given(0, (edge << (edge % 50)).to_string()),
                    given(1, (edge % 2 == 0).to_string()),
                    given(2, format!("2024-02-{:02}", edge % 28 + 1)),
                    given(3, format!("2024-01-01T00:00:{:02}.5", edge % 60)),
                    given(4, texts[edge as usize % texts.len()].to_owned()),
                );
            }
            let vertices = (0..12).map(|v| if text_ids { format!("v{v}\n") } else { format!("{v}\n") });
            let directory = tempfile::tempdir().unwrap();
            let ids = directory.path().join("ids.txt");
            std::fs::write(&ids, vertices.collect::<String>()).unwrap();
            let database = directory.path().join("all.esker");
            let read = ReadOptions {
                properties: PickProperties::All,
                vertices: Some(ids.to_string_lossy().into_owned()),
                weight: esker_import::Pick::Column("w".to_owned()),
                ..ReadOptions::default()
            };
            let options = ImportOptions {
                duplicates: Duplicates::Keep,
                directed: Some(directed),
                ..ImportOptions::default()
            };
            import_inputs(&[Input::memory("a.csv", csv.as_bytes())], &database, &read, &options).unwrap();
            round_trip(&database);
            give_properties(&database, text_ids);
            round_trip(&database);
        }
    }
}

#[test]
fn a_graph_without_edges_or_vertices_comes_back() {
    for text in [
        "{\"directed\": false, \"nodes\": [{\"id\": \"a\", \"x\": 1}], \"edges\": []}",
        "{\"nodes\": [], \"edges\": []}",
    ] {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("few.esker");
        let input = Input::memory("a.json", text.as_bytes());
        import_inputs(&[input], &database, &ReadOptions::default(), &ImportOptions::default()).unwrap();
        round_trip(&database);
    }
}
