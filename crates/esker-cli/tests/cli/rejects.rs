//! Rows that cannot be read go to a file, and the others are taken.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use serde_json::json;

use crate::place::Place;

/// The rows of a file of rejected rows: file, line, reason and row.
fn rejects(place: &Place, name: &str) -> Vec<[String; 4]> {
    let mut reader = csv::Reader::from_path(place.path().join(name)).unwrap();
    assert_eq!(reader.headers().unwrap(), &csv::StringRecord::from(vec!["file", "line", "reason", "row"]));
    let records = reader.records().map(Result::unwrap);
    records.map(|row| std::array::from_fn(|column| row[column].to_owned())).collect()
}

/// Files, lines and rows alone.
fn places(place: &Place, name: &str) -> Vec<String> {
    rejects(place, name).iter().map(|[file, line, _, row]| format!("{file}:{line}:{row}")).collect()
}

fn succeeds(place: &Place, line: &str, warning: &str) {
    let output = place.run(line);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains(warning), "{line}: {output:?}");
}

/// Bytes that are no UTF-8 became question marks, and blanks at the ends went.
#[test]
fn rejected_rows_are_kept_as_the_bytes_that_came() {
    let place = Place::new();
    let write = |name: &str, bytes: &[u8]| std::fs::write(place.path().join(name), bytes).unwrap();
    let row = b"  3,M\xfcller \xff,x  ";
    let file = |header: &[u8]| [header, b"\n1,2,3\n", row, b"\r\n4,5,6\n"].concat();
    write("e.csv", &file(b"source,target,weight"));
    write("v.csv", b"id,age,size\n1,2,3\n  no,M\xfcller \xff  \r\n4,5,6\n");
    place.ok("import e.csv g.esker --ids int --rejects bad.csv -q");
    let kept = std::fs::read(place.path().join("bad.csv")).unwrap();
    let shown = String::from_utf8_lossy(&kept).into_owned();
    let expected = [b"\"", &row[..], b"\"\n"].concat();
    assert!(kept.ends_with(&expected), "{shown}");
    for (number, line) in ["add g.esker --vertices v.csv", "set g.esker v.csv --new"].iter().enumerate() {
        place.ok(&format!("{line} --rejects v{number}.csv -q"));
        let kept = std::fs::read(place.path().join(format!("v{number}.csv"))).unwrap();
        let shown = String::from_utf8_lossy(&kept).into_owned();
        assert!(kept.ends_with(b"\"  no,M\xfcller \xff  \"\n"), "{line}: {shown}");
    }
}

#[test]
fn rows_of_tables_of_text_are_rejected_whole() {
    let place = Place::new();
    let quoted = "\"two\nlines\",w,3,4";
    place.file("a.csv", &format!("note,payer,payee,amount\n\"x, y\",1,2,5\nz,one,3,6\n{quoted}\nv,4\n"));
    place.file("b.tsv", "payee\tpayer\tnote\tamount\n7\t8\t\"say \"\"so\"\"\"\t9\n9\tbad\tq\t2\n");
    let import = "import a.csv b.tsv g.esker --ids int --property note --rejects bad.csv";
    succeeds(&place, import, "warning: 4 rows could not be taken and went to bad.csv");
    let expected = ["a.csv:3:z,one,3,6".to_owned(), format!("a.csv:4:{quoted}"), "a.csv:6:v,4".to_owned()];
    assert_eq!(places(&place, "bad.csv")[..3], expected);
    assert_eq!(places(&place, "bad.csv")[3], "b.tsv:3:9\tbad\tq\t2");
    assert!(rejects(&place, "bad.csv")[0][2].contains("--ids text"), "the words of the command");
    assert_eq!(place.json("info g.esker --json")["edges"], 2);
    place.fails(1, &import.replace("g.esker", "h.esker"), "bad.csv exists already");
    place.ok(&format!("{import} --force"));
    // Without bad rows there is the header alone.
    place.file("good.csv", "source,target\n1,2\n");
    place.ok("import good.csv good.esker --rejects none.csv");
    assert_eq!(std::fs::read_to_string(place.path().join("none.csv")).unwrap(), "file,line,reason,row\n");
    for (line, why) in [
        ("import good.csv x.esker --force --rejects good.csv", "good.csv is read"),
        ("add g.esker good.csv --rejects g.esker/bad.csv", "lies in the database itself"),
        ("import good.csv x.esker --rejects x.esker", "x.esker is the database itself"),
        ("import good.csv x.esker --rejects -", "name a file"),
        ("import good.csv x.esker --rejects no/such.csv", "there is no directory"),
    ] {
        let output = place.run(line);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(why), "{line}: {told}");
    }
}

#[test]
fn what_is_the_fault_of_a_file_ends_the_import_and_leaves_nothing() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,3\nx,2,3\n");
    place.file("none.csv", "source,target,weight\nx,2,3\nx,2,3\n");
    for line in ["a.csv x.esker --weight amount", "a.csv b.csv x.esker", "none.csv x.esker --ids int"] {
        let output = place.run(&format!("import {line} --rejects bad.csv"));
        assert!(!output.status.success(), "{output:?}");
        assert!(!place.path().join("bad.csv").exists() && !place.path().join("x.esker").exists(), "{line}");
    }
    let hidden = std::fs::read_dir(place.path()).unwrap().filter_map(Result::ok);
    assert_eq!(hidden.filter(|entry| entry.file_name().to_string_lossy().ends_with(".part")).count(), 0);
}

#[test]
fn rows_are_rejected_in_order_whichever_thread_reads_them() {
    let place = Place::new();
    let row = |v: u32| if v % 7 == 3 { format!("x{v},1\n") } else { format!("{v},1\n") };
    let rows: String = (0..30_000).map(row).collect();
    place.file("a.csv", &format!("source,target\n{rows}"));
    place.ok("import a.csv g.esker --ids int --rejects one.csv --threads 1");
    place.ok("import a.csv h.esker --ids int --rejects four.csv --threads 4 --memory 16MiB");
    place.file("start.csv", "source,target\n1,2\n");
    place.ok("import start.csv s.esker");
    place.ok("add s.esker a.csv --rejects added.csv --batch 10000");
    place.ok("import start.csv t.esker");
    place.ok("stream t.esker a.csv --commit-every 12000 --rejects streamed.csv --from-start");
    place.ok("delete s.esker a.csv --rejects deleted.csv");
    // What the reason advises depends on the command.
    let rejected = |name: &str| -> Vec<[String; 3]> {
        let rows = rejects(&place, name).into_iter();
        // A stream names a file by its whole path.
        rows.map(|[file, line, _, row]| [file.rsplit('/').next().unwrap_or_default().to_owned(), line, row])
            .collect()
    };
    let expected = rejected("one.csv");
    assert_eq!(expected.len(), (0..30_000).filter(|v| v % 7 == 3).count());
    assert_eq!(expected.last().map(|row| row[2].as_str()), Some("x29998,1"));
    for name in ["four.csv", "added.csv", "streamed.csv", "deleted.csv"] {
        assert!(rejected(name) == expected, "{name}");
    }
    // What a stream has read it does not reject again; the file goes on.
    place.file("a.csv", &format!("source,target\n{rows}y,2\n5,6\nz,3\n"));
    place.ok("stream t.esker a.csv --rejects streamed.csv");
    let all = rejected("streamed.csv");
    assert_eq!(all[..expected.len()], expected);
    assert_eq!(all[expected.len()..].iter().map(|row| row[2].as_str()).collect::<Vec<_>>(), ["y,2", "z,3"]);
}

#[test]
fn rows_of_parquet_and_arrow_are_rejected_with_all_their_values() {
    let place = Place::new();
    let columns: [(&str, ArrayRef); 4] = [
        ("source", Arc::new(Int64Array::from(vec![Some(1), Some(-2), None, Some(4)]))),
        ("target", Arc::new(Int64Array::from(vec![2, 3, 4, 5]))),
        ("weight", Arc::new(Float64Array::from(vec![Some(0.5), None, Some(2.0), Some(f64::INFINITY)]))),
        ("note", Arc::new(StringArray::from(vec!["a", "b, c", "", "say \"so\""]))),
    ];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let create = |end: &str| std::fs::File::create(place.path().join(format!("t.{end}"))).unwrap();
    let mut writer = FileWriter::try_new(create("arrow"), &table.schema()).unwrap();
    writer.write(&table).unwrap();
    writer.finish().unwrap();
    let mut writer = ArrowWriter::try_new(create("parquet"), table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    for end in ["arrow", "parquet"] {
        place.fails(1, &format!("import t.{end} {end}.esker --property note"), &format!("t.{end}:2"));
        let line = format!("import t.{end} {end}.esker --property note --rejects {end}.csv");
        succeeds(&place, &line, "warning: 3 rows could not be taken");
        let rows: Vec<String> =
            rejects(&place, &format!("{end}.csv")).into_iter().map(|[.., row]| row).collect();
        assert_eq!(rows, ["-2,3,,\"b, c\"", ",4,2,\"\"", "4,5,inf,\"say \"\"so\"\"\""]);
        assert_eq!(place.json(&format!("info {end}.esker --json"))["edges"], 1);
    }
}

#[test]
fn a_sync_keeps_rows_that_it_cannot_read() {
    let place = Place::new();
    place.file("a.csv", "source,target\n1,2\n2,3\n");
    place.ok("import a.csv g.esker");
    place.file("b.csv", "source,target\n1,2\nx,3\n4,5\n");
    place.fails(1, "sync g.esker b.csv", "b.csv:3");
    succeeds(&place, "sync g.esker b.csv --dry-run --rejects dry.csv", "1 row could not be taken");
    succeeds(&place, "sync g.esker b.csv --rejects bad.csv", "1 row could not be taken and went to bad.csv");
    assert_eq!(places(&place, "bad.csv"), ["b.csv:3:x,3"]);
    assert_eq!(places(&place, "bad.csv"), places(&place, "dry.csv"));
    assert_eq!(place.json("info g.esker --json")["edges"], 2);
}

#[test]
fn rows_of_vertices_are_rejected_too() {
    let place = Place::new();
    place.file("a.csv", "source,target\n1,2\n");
    place.file("ids.txt", "5\nsix\n7\n");
    place.file("table.csv", "id,name,age\n5,Ann,40\nsix,\"B, C\",2\n8,Eve,1\n");
    place.ok("import a.csv g.esker --ids int --vertices ids.txt --rejects ids.csv");
    assert_eq!(places(&place, "ids.csv"), ["ids.txt:2:six"]);
    place.ok("import a.csv h.esker --ids int --vertices table.csv --rejects rows.csv");
    assert_eq!(places(&place, "rows.csv"), ["table.csv:3:six,\"B, C\",2"]);
    assert_eq!(place.json("get h.esker 8 --json")[0]["name"], json!("Eve"));
}

#[test]
fn rows_that_cannot_be_set_are_kept_and_the_others_set() {
    let place = Place::new();
    place.file("a.csv", "source,target\n1,2\n2,3\n");
    place.ok("import a.csv g.esker");
    place.file("v.csv", "id,age,name\n1,40,Ann\n9,30,Bob\n2,old,Cat\n3\n\"3\",20,\"Dan, Jr\"\n1,41,Ann\n");
    place.fails(1, "set g.esker v.csv --schema age:i64", "v.csv");
    let line = "set g.esker v.csv --schema age:i64 --rejects bad.csv";
    succeeds(&place, line, "warning: 3 rows could not be taken and went to bad.csv");
    assert_eq!(places(&place, "bad.csv"), ["v.csv:3:9,30,Bob", "v.csv:4:2,old,Cat", "v.csv:5:3"]);
    assert_eq!(place.json("get g.esker 1 --json")[0]["age"], json!(41));
    assert_eq!(
        place.json("get g.esker 2 --json")[0]["name"],
        json!(null),
        "no value of a rejected row is set"
    );
    assert_eq!(place.json("get g.esker 3 --json")[0]["name"], json!("Dan, Jr"));
    place.file("none.csv", "id,age\n7,1\n8,1\n");
    place.fails(1, "set g.esker none.csv --rejects none-bad.csv", "no row could be taken, of 2");
    assert!(!place.path().join("none-bad.csv").exists());
}

#[test]
fn elements_of_documents_are_rejected_by_their_places() {
    let place = Place::new();
    let nodes = "<node id=\"a\"/><node id=\"b\"/>";
    let edges = "<edge source=\"a\" target=\"b\"/>\n<edge source=\"a\"/>\n";
    place.file(
        "g.graphml",
        &format!("<graphml><graph edgedefault=\"directed\">{nodes}\n{edges}</graph></graphml>"),
    );
    place.ok("import g.graphml g.esker --rejects bad.csv");
    assert_eq!(places(&place, "bad.csv"), ["g.graphml:3:<edge source=\"a\"/>"]);
}

/// A row without a time ended the stream.
#[test]
fn rows_of_a_stream_without_a_time_are_rejected() {
    let place = Place::new();
    place.file("s.csv", "src,dst,time\na,b,100\n");
    place.file("t.csv", "src,dst,time\na,c,300\nb,a,\nc,a,400\n");
    place.ok("import s.csv s.esker --time time");
    place.fails(1, "stream s.esker t.csv", "t.csv:3: the edge has no time, as its \"time\" is missing");
    succeeds(&place, "stream s.esker t.csv --from-start --rejects bad.csv", "1 row could not be taken");
    assert_eq!(rejects(&place, "bad.csv")[0][3], "b,a,");
    assert!(place.ok("edges s.esker -q --format csv").contains("c,a,400"));
    place.ok("import s.csv d.esker --time time");
    place.ok("stream d.esker t.csv --default time=350");
    assert!(place.ok("edges d.esker -q --format csv").contains("b,a,350"));
}

/// The first id that no vertex has ended the deletion.
#[test]
fn rows_to_delete_of_unknown_vertices_are_rejected() {
    let place = Place::new();
    let ids = |kind: &str| if kind == "int" { ["1", "2", "7"] } else { ["a", "b", "q"] };
    for kind in ["int", "text"] {
        let [a, b, q] = ids(kind);
        place.file("e.csv", &format!("src,dst\n{a},{b}\n{b},{a}\n"));
        place.ok(&format!("import e.csv {kind}.esker --ids {kind}"));
        place.file("gone.csv", &format!("src,dst\n{a},{b}\n{q},{b}\n"));
        place.file("gone.txt", &format!("{q}\n{b}\n"));
        place.fails(1, &format!("delete {kind}.esker gone.csv"), &format!("the vertex \"{q}\""));
        for (files, row, reject) in
            [("gone.csv", format!("{q},{b}"), "rows.csv"), ("--vertices gone.txt", q.to_owned(), "ids.csv")]
        {
            let line = format!("delete {kind}.esker {files} --rejects {kind}-{reject}");
            succeeds(&place, &line, "1 row could not be taken");
            let rejected = rejects(&place, &format!("{kind}-{reject}"));
            assert_eq!(rejected[0][3], row, "{line}");
            assert!(rejected[0][2].contains(&format!("no vertex has the id \"{q}\"")), "{rejected:?}");
        }
        assert_eq!(place.json(&format!("info {kind}.esker --json"))["vertices"], 1);
    }
    place.file("e.csv", "src,dst\na,b\nb,a\n");
    place.ok("import e.csv p.esker");
    let ends: [(&str, ArrayRef); 2] = [
        ("source", Arc::new(StringArray::from(vec!["a", "q"]))),
        ("target", Arc::new(StringArray::from(vec!["b", "b"]))),
    ];
    let table = RecordBatch::try_from_iter(ends).unwrap();
    let file = std::fs::File::create(place.path().join("t.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    succeeds(&place, "delete p.esker t.parquet --rejects p.csv", "1 row could not be taken");
    assert_eq!(places(&place, "p.csv"), ["t.parquet:2:q,b"]);
}

#[test]
fn rejected_rows_of_set_have_their_blanks() {
    let place = Place::new();
    place.file("e.csv", "src,dst\na,b\n");
    place.ok("import e.csv e.esker");
    place.file("age.csv", "id,age\na,1\n");
    place.ok("set e.esker age.csv");
    place.file("v.csv", "id,age\na,2\n  b  , \"x\"  \r\n  q , 3 ");
    place.ok("set e.esker v.csv --rejects bad.csv");
    let rows: Vec<String> = rejects(&place, "bad.csv").into_iter().map(|[.., row]| row).collect();
    assert_eq!(rows, ["  b  , \"x\"  ", "  q , 3 "]);
}

/// Excerpts could not be mended and read again.
#[test]
fn no_file_of_rejected_rows_is_called_like_standard_output() {
    let place = Place::new();
    place.file("a.csv", "source,target,time\n1,2,3\n");
    for verb in ["import a.csv g.esker", "add g.esker a.csv", "stream g.esker a.csv --from-start"] {
        place.fails(2, &format!("{verb} --rejects -"), "- is standard output: name a file");
        place.run("import a.csv g.esker --time time -q");
    }
}

#[test]
fn rejected_elements_of_documents_are_whole() {
    let place = Place::new();
    let long = "a text that is longer than the eighty characters of which an excerpt of a row would be made";
    let edge = format!("{{\"source\": \"a\",\n \"note\": \"{long}\", \"x\": [1, {{\"y\": 2}}]}}");
    let nodes = "{\"nodes\": [{\"id\": \"a\"}, {\"id\": \"b\"}], \"links\": [{\"source\": \"a\", \"target\": \"b\"},\n";
    place.file("g.json", &format!("{nodes}{edge}]}}"));
    let xml = format!("<edge source=\"a\">\n<data key=\"k\">{long}</data></edge>");
    place.file(
        "g.graphml",
        &format!(
            "<graphml><key id=\"k\" for=\"edge\" attr.name=\"k\" attr.type=\"string\"/>\
             <graph edgedefault=\"directed\"><edge source=\"a\" target=\"b\"/>\n{xml}<node id=\"c\"/></graph></graphml>"
        ),
    );
    let gml = format!("edge [\n source 1\n label \"{long} ]\"\n]");
    place.file(
        "g.gml",
        &format!("graph [\nnode [ id 1 ]\nnode [ id 2 ]\nedge [ source 1 target 2 ]\n{gml}\n]\n"),
    );
    let gexf = format!("<edge source=\"a\" label=\"{long}\"/>");
    place.file(
        "g.gexf",
        &format!(
            "<gexf xmlns=\"http://gexf.net/1.3\"><graph><nodes><node id=\"a\"/><node id=\"b\"/></nodes>\
             <edges><edge source=\"a\" target=\"b\"/>\n{gexf}</edges></graph></gexf>"
        ),
    );
    for (end, expected) in [("json", edge), ("graphml", xml), ("gml", gml), ("gexf", gexf)] {
        place.ok(&format!("import g.{end} {end}.esker --rejects {end}.csv"));
        assert_eq!(rejects(&place, &format!("{end}.csv"))[0][3], expected, "{end}");
    }
}
