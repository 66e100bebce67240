//! Tests of output: answers are written and, where a reader exists, read back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMillisecondType, UInt64Type};
use arrow_array::{Array, RecordBatch};
use esker_graph::{NONE, VertexId};
use esker_store::format::{DatabaseId, IdMapKind, IdSecret, Origin};
use esker_store::ids::{IdFiles, IdHasher, IdMap, IndexWriter, IntegersWriter, TextsWriter};
use esker_store::io::{Disk, RealDisk};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::answer::{AnswerColumn, Ranking, Values};

fn columns() -> Vec<AnswerColumn> {
    vec![
        AnswerColumn { name: "depth", values: Values::Index(vec![0, NONE, 2]), ranking: Ranking::Largest },
        AnswerColumn { name: "parent", values: Values::Vertex(vec![0, NONE, 1]), ranking: Ranking::Largest },
        AnswerColumn {
            name: "score",
            values: Values::Float(vec![0.1, f64::INFINITY, 1e-300]),
            ranking: Ranking::Largest,
        },
        AnswerColumn {
            name: "distance",
            values: Values::Integer(vec![-5, Values::NO_INTEGER, 7]),
            ranking: Ranking::Largest,
        },
        AnswerColumn {
            name: "count",
            values: Values::Count(vec![1, u64::MAX, 3]),
            ranking: Ranking::Largest,
        },
    ]
}

fn answer(columns: Vec<AnswerColumn>) -> Answer {
    Answer { columns, ..Answer::default() }
}

/// Creates an id map of text ids or of sparse integer ids in a directory.
fn mapped(place: &Path, kind: IdMapKind) -> IdMap {
    let origin = Origin::of_import(DatabaseId([7; 16]));
    let hasher = IdHasher::new(IdSecret([0; 16]));
    let files = IdFiles { disk: &RealDisk, directory: place, origin, hasher };
    let mut hashes: Vec<(u64, VertexId)> = match kind {
        IdMapKind::Texts => {
            let texts = ["a", "b, c", "say \"d\""].map(str::as_bytes);
            let mut writer = TextsWriter::create(&files).unwrap();
            texts.iter().for_each(|text| writer.push(text).unwrap());
            writer.finish().unwrap();
            texts.map(|text| hasher.text(text)).into_iter().zip(0..).collect()
        }
        _ => {
            let integers = [1 << 40, 5, 77];
            let mut writer = IntegersWriter::create(&files).unwrap();
            integers.iter().for_each(|&id| writer.push(id).unwrap());
            writer.finish().unwrap();
            integers.map(|id| hasher.integer(id)).into_iter().zip(0..).collect()
        }
    };
    hashes.sort_unstable();
    let mut index = IndexWriter::create(&files, 3).unwrap();
    hashes.iter().for_each(|&(hash, v)| index.push(hash, v).unwrap());
    index.finish().unwrap();
    IdMap::open(&files, kind, 0, 3).unwrap()
}

#[test]
fn csv_has_ids_and_empty_fields() {
    let place = tempfile::tempdir().unwrap();
    let ids = mapped(place.path(), IdMapKind::Texts);
    let path = place.path().join("a.csv");
    let text = |columns: &[AnswerColumn], ids: &IdMap| {
        let options = ExportOptions { overwrite: true, ..ExportOptions::default() };
        write(&path, ids, &answer(columns.to_vec()), &options).unwrap();
        String::from_utf8(RealDisk.read(&path).unwrap()).unwrap()
    };
    assert_eq!(
        text(&columns(), &ids),
        "vertex,depth,parent,score,distance,count\na,0,a,0.1,-5,1\n\"b, c\",,,,,\n\
         \"say \"\"d\"\"\",2,\"b, c\",1e-300,7,3\n"
    );
    assert_eq!(
        text(&columns()[..1], &IdMap::identity(10, 3, IdHasher::new(IdSecret([0; 16])))),
        "vertex,value\n10,0\n11,\n12,2\n"
    );
}

fn check_table(batch: &RecordBatch) {
    let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["vertex", "depth", "parent", "score", "distance", "count"]);
    let texts: Vec<_> =
        batch.column(0).as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect();
    assert_eq!(texts, ["a", "b, c", "say \"d\""]);
    let depths: Vec<_> = batch.column(1).as_primitive::<Int64Type>().iter().collect();
    assert_eq!(depths, [Some(0), None, Some(2)]);
    assert_eq!(
        batch.column(2).as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some("a"), None, Some("b, c")]
    );
    let scores: Vec<_> = batch.column(3).as_primitive::<Float64Type>().iter().collect();
    assert_eq!(scores, [Some(0.1), None, Some(1e-300)]);
    assert!((1..6).all(|column| batch.column(column).null_count() == 1));
}

#[test]
fn tables_read_back() {
    let place = tempfile::tempdir().unwrap();
    let ids = mapped(place.path(), IdMapKind::Texts);
    let write = |name: &str| {
        let path = place.path().join(name);
        write(&path, &ids, &answer(columns()), &ExportOptions::default()).unwrap();
        RealDisk.read(&path).unwrap()
    };
    let arrow = write("a.arrow");
    let mut reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(arrow), None).unwrap();
    check_table(&reader.next().unwrap().unwrap());
    // The reader of the parquet crate reads files only.
    let path = place.path().join("a.parquet");
    write("a.parquet");
    #[allow(clippy::disallowed_types)] // a file of the test
    let file = std::fs::File::open(path).unwrap();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    check_table(&reader.next().unwrap().unwrap());
}

#[test]
fn npy_arrays() {
    let place = tempfile::tempdir().unwrap();
    let written = |name: &str, ids: &IdMap, columns: &[AnswerColumn]| {
        let path = place.path().join(name);
        write(&path, ids, &answer(columns.to_vec()), &ExportOptions::default())
            .map(|path| RealDisk.read(&path).unwrap())
    };
    let split = |bytes: Vec<u8>| {
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((&bytes[..8], (10 + length) % 64), (&b"\x93NUMPY\x01\x00"[..], 0));
        let text = String::from_utf8(bytes[10..10 + length].to_vec()).unwrap().trim_end().to_owned();
        let words: Vec<_> =
            bytes[10 + length..].as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b)).collect();
        (text, words)
    };
    let dense = IdMap::identity(1, 3, IdHasher::new(IdSecret([0; 16])));
    let (text, words) = split(written("a.npy", &dense, &columns()[1..2]).unwrap());
    assert_eq!(text, "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }");
    assert_eq!(words, [1, -1, 2]);
    let (text, words) = split(written("b.npy", &dense, &columns()[2..4]).unwrap());
    assert_eq!(
        text,
        "{'descr': [('score', '<f8'), ('distance', '<i8')], 'fortran_order': False, 'shape': (3,), }"
    );
    assert_eq!((words[0], words[1], words[3]), (0.1_f64.to_bits() as i64, -5, -1));
    assert!(f64::from_bits(words[2] as u64).is_nan());
    let sparse = mapped(place.path(), IdMapKind::Integers);
    let (text, words) = split(written("c.npy", &sparse, &columns()[..1]).unwrap());
    assert!(text.starts_with("{'descr': [('vertex', '<i8'), ('value', '<i8')], "), "{text}");
    assert_eq!(words, [1 << 40, 0, 5, -1, 77, 2]);
    let directory = place.path().join("texts");
    RealDisk.create_directory(&directory).unwrap();
    let error = written("d.npy", &mapped(&directory, IdMapKind::Texts), &columns()).unwrap_err().to_string();
    assert!(error.contains("write .csv, .parquet or .arrow"), "{error}");
}

#[test]
fn edges_have_two_ids() {
    let place = tempfile::tempdir().unwrap();
    let ids = mapped(place.path(), IdMapKind::Integers);
    let written = |name: &str, columns: Vec<AnswerColumn>, edges: &[(VertexId, VertexId)]| {
        let answer = Answer { edges: Some(edges.to_vec()), ..answer(columns) };
        let path = place.path().join(name);
        write(&path, &ids, &answer, &ExportOptions::default()).map(|path| RealDisk.read(&path).unwrap())
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let edges = [(0, 2), (1, 2)];
    let forest = text(written("a.csv", Vec::new(), &edges).unwrap());
    assert_eq!(forest, "source,target\n1099511627776,77\n5,77\n");
    let weights = || {
        vec![AnswerColumn {
            name: "weight",
            values: Values::Float(vec![0.5, 2.0]),
            ranking: Ranking::Largest,
        }]
    };
    let weighted = text(written("b.csv", weights(), &edges).unwrap());
    assert_eq!(weighted, "source,target,weight\n1099511627776,77,0.5\n5,77,2\n");
    let array = text(written("c.npy", weights(), &edges).unwrap());
    assert!(
        array.contains("('source', '<i8'), ('target', '<i8'), ('weight', '<f8')") && array.contains("(2,)")
    );
    let arrow = written("d.arrow", weights(), &edges).unwrap();
    let mut reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(arrow), None).unwrap();
    let batch = reader.next().unwrap().unwrap();
    let ends = |column: usize| batch.column(column).as_primitive::<Int64Type>().values().to_vec();
    assert_eq!((ends(0), ends(1)), (vec![1 << 40, 5], vec![77, 77]));
    let beyond = written("e.csv", Vec::new(), &[(0, 3)]).unwrap_err().to_string();
    assert!(beyond.contains("numbers of vertices differ"), "{beyond}");
    let ranked = crate::top::top(
        &Answer { edges: Some(edges.to_vec()), ..answer(weights()) },
        1,
        &esker_graph::Cancel::default(),
    )
    .unwrap();
    assert_eq!(ranked[0].key, crate::answer::Value::Edge(1, 2));
}

#[test]
fn a_file_of_steps_has_the_rows_of_each_under_its_step() {
    let place = tempfile::tempdir().unwrap();
    let ids = mapped(place.path(), IdMapKind::Texts);
    let hour = crate::window::Times {
        property: "sent".to_owned(),
        unit: crate::window::EpochUnit::Seconds,
        range: None,
        rules: crate::window::WindowRules::default(),
    };
    let written = |name: &str| {
        let path = place.path().join(name);
        let mut file = StepsFile::create(&path, &ExportOptions::default()).unwrap();
        for (until, kept) in [(3_600, &[0, 2][..]), (7_200, &[]), (10_800, &[1])] {
            let counts = kept.iter().map(|&v| u64::from(v) + 10).collect();
            let column =
                AnswerColumn { name: "count", values: Values::Count(counts), ranking: Ranking::Largest };
            let answer = Answer { vertices: Some(Arc::from(kept)), ..answer(vec![column]) };
            file.add(&hour.step_columns(until, "1h".parse().unwrap()), &ids, &answer).unwrap();
        }
        file.finish().unwrap();
        path
    };
    let text = String::from_utf8(RealDisk.read(&written("a.csv")).unwrap()).unwrap();
    assert_eq!(
        text,
        "until,length,vertex,value\n1970-01-01T01:00:00Z,1h,a,10\n1970-01-01T01:00:00Z,1h,\"say \"\"d\"\"\",12\n\
         1970-01-01T03:00:00Z,1h,\"b, c\",11\n"
    );
    #[allow(clippy::disallowed_types)] // a file of the test
    let file = std::fs::File::open(written("a.parquet")).unwrap();
    let mut parquet = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let all: RecordBatch = parquet.next().unwrap().unwrap();
    let arrow = RealDisk.read(&written("a.arrow")).unwrap();
    let mut arrow = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(arrow), None).unwrap();
    let first: RecordBatch = arrow.next().unwrap().unwrap();
    // Parquet has no seconds.
    let untils = [3_600_000, 3_600_000, 10_800_000];
    for (batch, untils) in [(all, &untils[..]), (first, &untils[..2])] {
        assert_eq!(batch.column(0).as_primitive::<TimestampMillisecondType>().values(), untils);
        assert!(batch.column(1).as_string::<i32>().iter().all(|length| length == Some("1h")));
        assert_eq!(batch.column(2).as_string::<i32>().value(1), "say \"d\"");
        assert_eq!(batch.column(3).as_primitive::<UInt64Type>().values()[..2], [10, 12]);
    }
    let refused = |name: &str| StepsFile::create(&place.path().join(name), &ExportOptions::default());
    assert!(refused("b.npy").unwrap_err().to_string().contains("which step a row is of"));
    assert!(refused("a.csv").unwrap_err().to_string().contains("exists already"));
    let mut mixed = refused("m.csv").unwrap();
    let mut add = |name: &'static str, count: usize| {
        let column =
            |name| AnswerColumn { name, values: Values::Count(vec![1; 3]), ranking: Ranking::Largest };
        let columns = [name, "other"].into_iter().take(count).map(column).collect();
        mixed.add(&hour.step_columns(3_600, "1h".parse().unwrap()), &ids, &answer(columns))
    };
    add("count", 1).unwrap();
    let other = add("count", 2).unwrap_err().to_string();
    assert!(
        other.contains("until, length, vertex, value, of this one until, length, vertex, count, other"),
        "{other}"
    );
    let empty = refused("c.csv").unwrap().finish().unwrap_err().to_string();
    assert!(empty.contains("there are no steps"), "{empty}");
}

#[test]
fn a_file_of_versions_has_their_numbers() {
    let place = tempfile::tempdir().unwrap();
    let ids = IdMap::identity(0, 2, IdHasher::new(IdSecret([0; 16])));
    let written = |name: &str| {
        let path = place.path().join(name);
        let mut file = StepsFile::create(&path, &ExportOptions::default()).unwrap();
        for number in [7, u64::MAX] {
            let column =
                AnswerColumn { name: "count", values: Values::Count(vec![1, 2]), ranking: Ranking::Largest };
            let step = StepColumn { name: "version", value: StepValue::Number(number) };
            file.add(&[step], &ids, &answer(vec![column])).unwrap();
        }
        file.finish().unwrap();
        RealDisk.read(&path).unwrap()
    };
    let text = String::from_utf8(written("a.csv")).unwrap();
    assert_eq!(
        text,
        "version,vertex,value\n7,0,1\n7,1,2\n18446744073709551615,0,1\n18446744073709551615,1,2\n"
    );
    let array = String::from_utf8(written("a.json")).unwrap();
    let array: serde_json::Value = serde_json::from_str(&array).unwrap();
    assert_eq!(array[3], serde_json::json!({ "version": u64::MAX, "vertex": 1, "value": 2 }));
    let lines = String::from_utf8(written("a.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(serde_json::Value::from(lines), array);
    let arrow = std::io::Cursor::new(written("a.arrow"));
    let mut arrow = arrow_ipc::reader::FileReader::try_new(arrow, None).unwrap();
    let second: RecordBatch = arrow.nth(1).unwrap().unwrap();
    assert_eq!(second.column(0).as_primitive::<UInt64Type>().values(), &[u64::MAX; 2]);
}

#[test]
fn unwritable_answers_are_errors() {
    let place = tempfile::tempdir().unwrap();
    let options = ExportOptions { disk: Arc::new(RealDisk), ..ExportOptions::default() };
    let ids = IdMap::identity(0, 3, IdHasher::new(IdSecret([0; 16])));
    let error = |name: &str, columns: &[AnswerColumn]| {
        write(&place.path().join(name), &ids, &answer(columns.to_vec()), &options).unwrap_err().to_string()
    };
    assert!(error("a.txt", &columns()).contains("use .csv, .json, .jsonl, .parquet, .arrow or .npy"));
    assert!(error("a.csv", &[]).contains("no values per vertex"));
    let short = [AnswerColumn { name: "x", values: Values::Count(vec![1]), ranking: Ranking::Largest }];
    assert!(error("a.csv", &short).contains("numbers of vertices differ"));
    write(&place.path().join("a.csv"), &ids, &answer(columns()), &options).unwrap();
    assert!(error("a.csv", &columns()).contains("exists already"));
}
