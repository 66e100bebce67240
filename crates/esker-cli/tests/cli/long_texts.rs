//! Ids and texts of the greatest length go through every door, and longer ones are refused with what, where,
//! and what to do.

use std::fs::File;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, LargeStringArray, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;

use crate::confined::run_within;
use crate::place::Place;

/// Bytes that an id or a text may have.
const LONGEST: usize = 1 << 16;

const TOLD: &str = "is longer than 65536 bytes, the most that an id or a text may have: shorten it";

/// A database with the edge from a to b, whose property `note` holds texts.
fn noted() -> Place {
    let place = Place::on_disk();
    place.file("base.csv", "source,target,note\na,b,x\n");
    place.ok("import base.csv t.esker --schema note:text");
    place.file("numbers.csv", "source,target,note\n1,2,x\n");
    place
}

/// Files that hold a long text, and the commands that read them. Those that add ids come before those that
/// expect them.
fn through_files(place: &Place, long: &str) -> Vec<String> {
    let file = |name: &str, content: String| place.file(name, &content);
    file("ids.csv", format!("source,target\nb,c\n{long},c\n"));
    file("ids.el", format!("b c\n{long} c\n"));
    file("texts.csv", format!("source,target,note\na,b,y\nb,c,{long}\n"));
    // Two quotes stand for one, which counts once.
    file("quotes.csv", format!("source,target,note\na,b,y\nb,c,\"\"\"{}\"\n", &long[1..]));
    file("add.csv", format!("source,target,note\n{long},b,y\n"));
    file("delete.csv", format!("source,target\n{long},b\n"));
    file("vertices.txt", format!("{long}\n"));
    file("names.txt", format!("a\n{long}\n"));
    file("pairs.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n".to_owned());
    file("set-id.csv", format!("id,bio\n{long},text\n"));
    file("set-text.csv", format!("id,bio\na,{long}\n"));
    file("new-vertex", format!("+ {long}\n"));
    file("edge", format!("+ a {long} note=y\n"));
    file("edge-text", format!("+ a b note={long}\n"));
    file("vertex-text", format!("a bio={long}\n"));
    file("gone", format!("- a {long}\n"));
    [
        "import ids.csv n.esker --force",
        "import ids.el n.esker --force --ids text",
        "import texts.csv n.esker --force --schema note:text",
        "import quotes.csv n.esker --force --schema note:text",
        "import pairs.mtx n.esker --force --vertices names.txt",
        "import base.csv n.esker --force --vertices vertices.txt",
        "commit t.esker new-vertex",
        "add t.esker add.csv",
        "add t.esker texts.csv",
        "add t.esker base.csv --vertices vertices.txt",
        "stream t.esker add.csv",
        "commit t.esker edge",
        "commit t.esker edge-text",
        "commit t.esker vertex-text",
        "set t.esker set-id.csv",
        "set t.esker set-text.csv",
        "commit t.esker gone",
        "delete t.esker delete.csv",
        "delete t.esker --vertices vertices.txt",
    ]
    .map(str::to_owned)
    .into()
}

/// Columns that say what their values are.
fn through_columns(place: &Place, long: &str) -> Vec<String> {
    let plain = |values: [&str; 2]| -> ArrayRef { Arc::new(StringArray::from_iter_values(values)) };
    let large = |values: [&str; 2]| -> ArrayRef { Arc::new(LargeStringArray::from_iter_values(values)) };
    let coded = |values: [&str; 2]| -> ArrayRef {
        Arc::new(values.into_iter().collect::<DictionaryArray<Int32Type>>())
    };
    let (ends, notes) = (["a", "b"], ["y", long]);
    let tables = [
        ("plain-id", [plain(["a", long]), plain(ends), plain(ends)]),
        ("large-id", [plain(ends), large(["a", long]), plain(ends)]),
        ("coded-id", [coded(["a", long]), plain(ends), plain(ends)]),
        ("plain-text", [plain(ends), plain(ends), plain(notes)]),
        ("large-text", [plain(ends), plain(ends), large(notes)]),
        ("coded-text", [plain(ends), plain(ends), coded(notes)]),
    ];
    let mut lines = Vec::new();
    for (name, [source, target, note]) in tables {
        let table =
            RecordBatch::try_from_iter([("source", source), ("target", target), ("note", note)]).unwrap();
        let create = |end: &str| File::create(place.path().join(format!("{name}.{end}"))).unwrap();
        let mut writer = FileWriter::try_new(create("arrow"), &table.schema()).unwrap();
        writer.write(&table).unwrap();
        writer.finish().unwrap();
        let mut writer = ArrowWriter::try_new(create("parquet"), table.schema(), None).unwrap();
        writer.write(&table).unwrap();
        writer.close().unwrap();
        for end in ["arrow", "parquet"] {
            lines.push(format!("import {name}.{end} n.esker --force --property note"));
            lines.push(format!("add t.esker {name}.{end}"));
        }
    }
    lines
}

#[test]
fn the_longest_texts_are_taken_and_longer_ones_refused_through_every_door() {
    for (length, is_taken) in [(LONGEST, true), (LONGEST + 1, false)] {
        let (place, long) = (noted(), "x".repeat(length));
        for line in through_files(&place, &long).into_iter().chain(through_columns(&place, &long)) {
            match is_taken {
                true => drop(place.ok(&line)),
                false => place.fails(1, &line, TOLD),
            }
        }
        let set = |words: &[&str]| {
            let output = place.command("set t.esker --vertex").args(words).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.success(), is_taken, "{said}");
            assert!(said.contains(TOLD) != is_taken && said.len() < 1000, "{said}");
        };
        set(&["a", &format!("bio={long}")]);
        set(&[&long, "bio=y", "--new"]);
        let version = place.json("info t.esker --json")["version"].as_u64().unwrap();
        assert_eq!(version > 1, is_taken, "what is refused commits nothing");
    }
}

#[test]
fn a_text_that_is_too_long_is_named_with_its_place_and_may_be_skipped() {
    let (place, long) = (noted(), "x".repeat(LONGEST + 1));
    through_files(&place, &long);
    through_columns(&place, &long);
    for (line, place_told) in [
        ("import ids.csv n.esker", "ids.csv:3: the source is"),
        ("import texts.csv n.esker --schema note:text", "texts.csv:3: note is"),
        ("import plain-text.parquet n.esker --property note", "plain-text.parquet:2: the column \"note\""),
        ("import pairs.mtx n.esker --vertices names.txt", "names.txt:2: the vertex is"),
        ("set t.esker set-text.csv", "set-text.csv:2: the property \"bio\""),
        ("commit t.esker edge-text", "edge-text:1: the property \"note\""),
    ] {
        place.fails(1, line, place_told);
    }
    for line in [
        "import ids.csv n.esker --force",
        "import texts.csv n.esker --force --schema note:text",
        "import coded-text.arrow n.esker --force --property note",
        "import large-id.arrow n.esker --force --property note",
    ] {
        let report = place.json(&format!("{line} --bad-lines skip --json"));
        assert_eq!((&report["edges"], &report["rejected"]), (&1.into(), &1.into()), "{line}");
    }
}

/// A script was once read whole, twice.
#[test]
fn a_line_of_a_script_without_an_end_takes_no_memory() {
    let place = noted();
    place.file("endless", &format!("+ a b note=y\n+ a {}", "x".repeat(96 << 20)));
    let output = run_within(&place.command("commit t.esker endless --memory 16MiB"), (16 + 48) << 20);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("endless:2: the line is longer than 1048576 bytes"), "{said}");
    // The rest of a long comment is no line of its own.
    place.file("comment", &format!("#{}\n+ a c note=y\n", " - a b".repeat(1 << 18)));
    place.fails(1, "commit t.esker comment", "comment:1: the line is longer than 1048576 bytes");
}
