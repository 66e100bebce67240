//! `--memory` plus 64 MiB holds for inputs of every shape, or the command refuses them with the memory that
//! would do.

use std::fmt::Write as _;
use std::fs::File;
use std::process::Output;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use esker::graph::random::Random;
use parquet::arrow::ArrowWriter;

use crate::confined::run_within;
use crate::place::Place;

/// What a command may take beside its limit.
const BESIDE_BYTES: u64 = 64 << 20;

/// Runs a command with `--memory` of so many MiB, within that and [`BESIDE_BYTES`].
fn run(place: &Place, line: &str, memory_mib: u64) -> Output {
    run_beside(place, line, memory_mib, BESIDE_BYTES)
}

fn run_beside(place: &Place, line: &str, memory_mib: u64, beside_bytes: u64) -> Output {
    let command = place.command(&format!("{line} --memory {memory_mib}MiB"));
    run_within(&command, (memory_mib << 20) + beside_bytes)
}

fn holds(place: &Place, line: &str, memory_mib: u64) {
    let output = run(place, line, memory_mib);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The command refuses, and names the limit in MiB that it needs, with which it succeeds.
fn is_refused(place: &Place, line: &str, memory_mib: u64) {
    let output = run(place, line, memory_mib);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{line}: {said}");
    let needed = said.split("raise the limit to at least ").nth(1).and_then(|rest| rest.split(' ').next());
    let needed: u64 =
        needed.and_then(|needed| needed.parse().ok()).unwrap_or_else(|| panic!("{line}: {said}"));
    assert!(needed > memory_mib && needed < 16 * memory_mib, "{said}");
    holds(place, line, needed);
}

fn parquet(place: &Place, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let file = File::create(place.path().join(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
}

/// Random ends of edges.
fn ends(count: usize, vertices: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut random = Random::new(1);
    (0..count).map(move |_| (random.below(vertices), random.below(vertices)))
}

/// `ESKER_TEST_EDGES` sets their number.
#[test]
fn edges_added_and_deleted_in_batches_keep_the_limit_however_large_the_database_grows() {
    let edges: usize = std::env::var("ESKER_TEST_EDGES").map_or(200_000, |edges| edges.parse().unwrap());
    let place = Place::on_disk();
    place.file("a.el", "0 1\n1 2\n");
    place.ok("import a.el g.esker");
    let mut text = String::new();
    ends(edges, edges as u64 / 3).for_each(|(u, v)| writeln!(text, "{u} {v}").unwrap());
    place.file("many.el", &text);
    let batch = (edges / 30).max(1000);
    let memory_mib = 16 + edges as u64 / 60_000;
    holds(&place, &format!("add g.esker many.el --batch {batch}"), memory_mib);
    holds(&place, &format!("delete g.esker many.el --batch {batch}"), memory_mib);
    assert_eq!(place.json("info g.esker --json")["edges"], 2, "those of the import");
    place.ok("check g.esker");
}

/// What the allocator keeps of freed memory grows with the number of edges and would break the limit of 64
/// MiB beside only after a million of them; so few edges must leave most of that free.
#[test]
fn edges_of_every_shape_leave_no_freed_memory_behind() {
    const FEW_BESIDE_BYTES: u64 = 22 << 20;
    let edges: usize = std::env::var("ESKER_TEST_EDGES").map_or(100_000, |edges| edges.parse().unwrap());
    let (memory_mib, beside_bytes) = match edges {
        ..=100_000 => (16, FEW_BESIDE_BYTES),
        _ => (64, BESIDE_BYTES),
    };
    type Row = fn(usize, u64, u64) -> String;
    let shapes: [(&str, &str, Row); 4] = [
        ("weights", "source,target,weight", |row, u, v| format!("{u},{v},{}.5", row % 1000)),
        ("properties", "source,target,a,b,c,kind", |row, u, v| {
            format!("{u},{v},{row},{row}.5,{},kind{}", row % 7, row % 50)
        }),
        ("gaps", "source,target", |_, u, v| format!("{},{}", u * 7919 + 13, v * 7919 + 13)),
        ("texts", "source,target", |_, u, v| format!("user-{u:012},user-{v:012}")),
    ];
    for (name, header, row) in shapes {
        let place = Place::on_disk();
        let table = |count: usize| {
            let rows = ends(count, edges as u64 / 3).enumerate();
            rows.fold(header.to_owned(), |text, (number, (u, v))| text + "\n" + &row(number, u, v))
        };
        place.file("few.csv", &table(40));
        place.file("many.csv", &table(edges));
        place.ok("import few.csv g.esker --property all");
        // Single edges, batches of a fraction, and all edges at once, which may be refused.
        for (file, batch) in [("few.csv", 1), ("many.csv", edges / 20), ("many.csv", edges)] {
            for verb in ["add", "delete"] {
                let line = format!("{verb} g.esker {file} --batch {batch}");
                let output = run_beside(&place, &line, memory_mib, beside_bytes);
                let said = String::from_utf8_lossy(&output.stderr);
                let is_refused = batch == edges && said.contains("raise the limit");
                assert!(output.status.success() || is_refused, "{name}: {line}: {said}");
            }
        }
        place.ok("check g.esker");
    }
}

/// Chunks of freezes and merges did not count property values: 1 M such edges in batches of 1000 within 64
/// MiB took 174 MiB.
#[test]
fn edges_with_twenty_properties_added_in_small_batches_keep_the_limit() {
    let edges: usize = std::env::var("ESKER_TEST_EDGES").map_or(100_000, |edges| edges.parse().unwrap());
    let memory_mib = if edges <= 100_000 { 32 } else { 64 };
    let place = Place::on_disk();
    let table = |count: usize| {
        let mut text = "source,target".to_owned();
        let names = [("whole", 8), ("half", 6), ("text", 4), ("time", 2)];
        let columns =
            names.into_iter().flat_map(|(name, count)| (0..count).map(move |number| (name, number)));
        let columns: Vec<(&str, usize)> = columns.collect();
        columns.iter().for_each(|(name, number)| write!(text, ",{name}{number}").unwrap());
        for (row, (u, v)) in ends(count, edges as u64 / 3).enumerate() {
            write!(text, "\n{u},{v}").unwrap();
            for &(name, number) in &columns {
                let salt = row * 2_654_435_761 + number * 40_503;
                match name {
                    "whole" => write!(text, ",{}", salt % (1 << 40)),
                    "half" => write!(text, ",{}.5", salt % 100_000),
                    "text" => write!(text, ",text-{:06}", salt % 3000),
                    _ => write!(text, ",2024-01-{:02}T10:00:{:02}Z", 1 + salt % 28, salt % 60),
                }
                .unwrap();
            }
        }
        text
    };
    place.file("few.csv", &table(40));
    place.file("many.csv", &table(edges));
    place.file("some.csv", &table(edges / 200));
    place.ok("import few.csv g.esker --property all");
    for (file, batch) in [("many.csv", 1000), ("many.csv", 5000), ("some.csv", 1)] {
        let line = format!("add g.esker {file} --batch {batch}");
        let output = run_beside(&place, &line, memory_mib, BESIDE_BYTES);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    place.ok("check g.esker");
}

#[test]
fn many_property_columns_keep_the_limit_or_are_refused_with_what_they_need() {
    let place = Place::on_disk();
    let table = |columns: usize, rows: usize| {
        let mut text = "source,target".to_owned();
        (0..columns).for_each(|column| write!(text, ",p{column}").unwrap());
        for (row, (u, v)) in ends(rows, 5000).enumerate() {
            write!(text, "\n{u},{v}").unwrap();
            (0..columns).for_each(|column| write!(text, ",{}.5", (row * 31 + column) % 1000).unwrap());
        }
        text
    };
    place.file("fifty.csv", &table(50, 8000));
    place.file("many.csv", &table(200, 2000));
    holds(&place, "import fifty.csv fifty.esker --property all", 32);
    is_refused(&place, "import many.csv many.esker --property all", 16);
    // The same for additions.
    holds(&place, "add fifty.esker fifty.csv --batch 2000", 32);
}

#[test]
fn a_table_of_vertex_properties_is_refused_while_it_is_read() {
    let place = Place::on_disk();
    place.file("edges.csv", "source,target\nuser-0,user-1\n");
    place.ok("import edges.csv g.esker");
    let mut text = "id,a,b,c,d\n".to_owned();
    (0..120_000).for_each(|row| writeln!(text, "user-{row},{row},{row}.5,{},{}", row % 7, row % 50).unwrap());
    place.file("table.csv", &text);
    let output = run_beside(&place, "set g.esker table.csv --new", 16, 32 << 20);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the table table.csv"), "{said}");
    place.ok("set g.esker table.csv --new");
}

#[test]
fn ids_of_a_thousand_bytes_keep_the_limit() {
    let place = Place::on_disk();
    let id = |number: u64| format!("{number:08}").repeat(125);
    let mut text = "source,target\n".to_owned();
    ends(8000, 4000).for_each(|(u, v)| writeln!(text, "{},{}", id(u), id(v)).unwrap());
    place.file("long.csv", &text);
    holds(&place, "import long.csv long.esker", 16);
}

#[test]
fn a_compressed_arrow_batch_is_refused_before_it_is_decompressed() {
    let place = Place::on_disk();
    let rows = 1_000_000;
    let numbers = || -> ArrayRef { Arc::new(Int64Array::from_iter_values((0..rows).map(|row| row % 1000))) };
    let weights: ArrayRef = Arc::new(Float64Array::from_iter_values((0..rows).map(|row| (row % 7) as f64)));
    let columns = [("source", numbers()), ("target", numbers()), ("weight", weights)];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let file = File::create(place.path().join("zstd.arrow")).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &table.schema(), options).unwrap();
    writer.write(&table).unwrap();
    writer.finish().unwrap();
    is_refused(&place, "import zstd.arrow zstd.esker", 24);
}

#[test]
fn one_long_id_in_a_parquet_file_is_refused_with_what_it_needs() {
    let place = Place::on_disk();
    let long = "x".repeat(1 << 20);
    let id = |row: usize| if row == 7777 { long.clone() } else { format!("id {}", row % 5000) };
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values((0..50_000).map(id)));
    let others: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..50_000).map(|row| format!("id {}", row % 777))));
    parquet(&place, "long.parquet", vec![("source", ids), ("target", others)]);
    let output = run(&place, "import long.parquet long.esker", 32);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("raise the limit to at least "), "{said}");
    place.fails(
        1,
        "import long.parquet long.esker",
        "long.parquet:7778: the column \"source\" has a text here",
    );
}

#[test]
fn ids_and_texts_of_the_greatest_length_keep_the_limit() {
    let place = Place::on_disk();
    let long = |number: usize| format!("{number:06}{}", "x".repeat((1 << 16) - 6));
    place.file("base.csv", "source,target,note\na,b,x\n");
    let base = |name: &str| drop(place.ok(&format!("import base.csv {name} --force --schema note:text")));
    let written = |name: &str, head: &str, row: &dyn Fn(usize) -> String| {
        let mut file = File::create(place.path().join(name)).unwrap();
        std::io::Write::write_all(&mut file, head.as_bytes()).unwrap();
        (0..700).for_each(|number| std::io::Write::write_all(&mut file, row(number).as_bytes()).unwrap());
    };
    written("ids.csv", "source,target\n", &|row| format!("{},{}\n", long(row), long(row + 1)));
    written("script", "", &|row| format!("+ {} {} note=y\n", long(row), long(row + 1)));
    written("texts", "", &|row| format!("+ a b{row} note={}\n", long(row)));
    written("names.txt", "", &|row| format!("{}\n", long(row)));
    place.file("pairs.mtx", "%%MatrixMarket matrix coordinate pattern general\n700 700 1\n1 2\n");
    holds(&place, "import ids.csv n.esker", 16);
    base("t.esker");
    holds(&place, "commit t.esker script", 16);
    base("t.esker");
    is_refused(&place, "commit t.esker texts", 32);
    is_refused(&place, "import pairs.mtx n.esker --force --vertices names.txt", 24);
}

#[test]
fn a_large_dictionary_keeps_the_limit() {
    let place = Place::on_disk();
    let rows = 60_000;
    let text = |row: i64| format!("{row:0100}");
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows).map(text)));
    let ends = || -> ArrayRef { Arc::new(Int64Array::from_iter_values((0..rows).map(|row| row * 7 % 9999))) };
    parquet(&place, "texts.parquet", vec![("source", ends()), ("target", ends()), ("kind", texts)]);
    holds(&place, "import texts.parquet texts.esker --property kind", 48);
}

#[test]
fn a_long_text_that_all_rows_share_is_refused_with_its_column_and_rows() {
    let place = Place::on_disk();
    let rows = 30_000;
    let text = |code: i32| if code < 1000 { format!("kind {code}") } else { "x".repeat(1 << 16) };
    let texts = StringArray::from_iter_values((0..=1000).map(text));
    let codes = Int32Array::from_iter_values((0..rows).map(|row| row.min(1000)));
    let kinds = DictionaryArray::<Int32Type>::new(codes, Arc::new(texts));
    let ends =
        || -> ArrayRef { Arc::new(Int64Array::from_iter_values((0..i64::from(rows)).map(|row| row % 999))) };
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let columns: [(&str, ArrayRef); 3] = [("source", ends()), ("target", ends()), ("kind", Arc::new(kinds))];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let file = File::create(place.path().join("shared.arrow")).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &table.schema(), options).unwrap();
    writer.write(&table).unwrap();
    writer.finish().unwrap();
    let output = run(&place, "import shared.arrow shared.esker --property kind", 64);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("shared.arrow: column \"kind\", rows 1 to "), "{said}");
    assert!(said.contains("a text of 65536 bytes and others that many rows share"), "{said}");
}

/// The limit that a refusal named was once that of the changes so far, or of a quarter of the memory, or was
/// not named.
#[test]
fn commits_that_do_not_fit_are_refused_with_a_limit_that_is_enough() {
    let place = Place::on_disk();
    place.file("few.csv", "source,target,a,kind\n0,1,5,x\n1,2,6,y\n");
    let row = |number: usize, (u, v): (u64, u64)| format!("{u},{v},{},kind {}\n", number * 7, number % 3000);
    let rows: String = ends(60_000, 20_000).enumerate().map(|(number, ends)| row(number, ends)).collect();
    place.file("many.csv", &format!("source,target,a,kind\n{rows}"));
    let edges = ends(60_000, 20_000);
    let lines: String = edges.map(|(u, v)| format!("+ {u} {v} a=1 kind=\"{}\"\n", u % 700)).collect();
    place.file("script", &lines);
    let values: String = (0..40_000).map(|v| format!("{v},{v}.5,name {v}\n")).collect();
    place.file("values.csv", &format!("id,size,name\n{values}"));
    let lines = [
        "add g.esker many.csv",
        "add g.esker many.csv --batch 50000",
        "delete g.esker many.csv --new",
        "commit g.esker script",
        "set g.esker values.csv --new",
        "stream g.esker many.csv --commit-every 50000",
    ];
    for line in lines {
        place.ok("import few.csv g.esker --property all --force");
        is_refused(&place, &format!("{line} --no-scratch"), 12);
        place.ok("check g.esker");
    }
}

#[test]
fn additions_of_columns_that_do_not_fit_are_refused_with_a_limit_that_is_enough() {
    let place = Place::on_disk();
    place.file("few.csv", "source,target\n0,1\n");
    let rows = 300_000;
    let numbers = || -> ArrayRef { Arc::new(Int64Array::from_iter_values((0..rows).map(|row| row % 1000))) };
    let table = RecordBatch::try_from_iter([("source", numbers()), ("target", numbers())]).unwrap();
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let file = File::create(place.path().join("zstd.arrow")).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &table.schema(), options).unwrap();
    writer.write(&table).unwrap();
    writer.finish().unwrap();
    place.ok("import few.csv g.esker");
    is_refused(&place, "add g.esker zstd.arrow --batch 1000", 12);
}

/// All texts were once kept in memory, by imports and by whatever writes.
#[test]
fn texts_that_do_not_fit_the_memory_are_imported_and_added_to() {
    let place = Place::on_disk();
    let mut text = "source,target,a,b\n".to_owned();
    for (row, (u, v)) in ends(20_000, 5000).enumerate() {
        writeln!(text, "{u},{v},x{row:01000},y{:0600}", row % 7000).unwrap();
    }
    place.file("texts.csv", &text);
    place.file("few.csv", "source,target,a,b\n0,1,new,y\n");
    for line in ["import texts.csv g.esker --property all", "add g.esker few.csv", "check g.esker"] {
        let output = run(&place, line, 16);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The first refusal named what heads need beside their neighbours, the second one the rest.
#[test]
fn heads_that_do_not_fit_are_refused_with_a_limit_that_is_enough() {
    let place = Place::on_disk();
    place.ok("generate rmat --scale 15 --degree 8 --seed 2 g.esker");
    is_refused(&place, "compact g.esker --heads 3", 2);
    place.ok("check g.esker");
}

/// A limit that the first step named did not suffice for the next one.
#[test]
fn a_limit_that_is_named_suffices_for_every_algorithm() {
    let place = Place::on_disk();
    let row = |(u, v): (u64, u64)| format!("{u},{v},{}\n", 1 + (u + v) % 9);
    let table = |count, vertices| {
        let rows: String = ends(count, vertices).map(row).collect();
        format!("source,target,weight\n{rows}")
    };
    place.file("a.csv", &table(4000, 900));
    place.file("more.csv", &table(300, 1200));
    for (name, kind) in [("d.esker", ""), ("u.esker", "--undirected")] {
        place.ok(&format!("import a.csv {name} {kind}"));
        (0..3).for_each(|_| drop(place.ok(&format!("add {name} more.csv"))));
    }
    let names: Vec<String> = place
        .ok("run --list")
        .lines()
        // Other lines are the questions that the algorithms below them answer.
        .filter(|line| line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    assert!(names.len() > 20);
    place.file("timed.csv", &format!("source,target,ts\n{}", ends(4000, 900).map(row).collect::<String>()));
    place.ok("import timed.csv timed.esker --time ts --duplicates keep");
    for line in [
        "run wcc u.esker --residency pooled",
        "run triangles u.esker --residency headed",
        "run kcore u.esker --residency pooled",
        "window wcc timed.esker --length 4 --every 4 --copies distinct",
        "window pagerank timed.esker --length 4 --every 4 --copies weighted",
        "run bfs timed.esker --source 1 --window 4 --copies distinct",
    ] {
        is_refused(&place, line, 4);
    }
    let mut refused = 0;
    for name in &names {
        let [run, follow] = match name.as_str() {
            "bfs" | "sssp" | "wbfs" | "bellman-ford" | "widest" | "similarity" => {
                ["--source 1", "-p source=1"]
            }
            "flow" => ["--source 1 --target 2", "-p source=1 -p target=2"],
            _ => [""; 2],
        };
        for line in [
            format!("run {name} u.esker {run}"),
            format!("run {name} d.esker --as-undirected {run}"),
            format!("follow {name} u.esker --once {follow}"),
            format!("follow {name} u.esker --once --from 2 {follow}"),
        ] {
            let output = place.run(&format!("{line} --memory 100KiB"));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{line}: {said}");
            let named =
                said.split("raise the limit to at least ").nth(1).and_then(|rest| rest.lines().next());
            let named =
                named.unwrap_or_else(|| panic!("{line}: {said}")).trim_end_matches("bytes").replace(' ', "");
            let again = place.run(&format!("{line} --memory {named}"));
            let message = String::from_utf8_lossy(&again.stderr);
            if message.contains("answers with edges and cannot be followed") {
                continue;
            }
            assert!(again.status.success(), "{line}: at {named}, as {said:?} said: {message}");
            refused += 1;
        }
    }
    assert!(refused > 80, "{refused}");
}
