//! What an import makes of its input: ids, texts, columns, and files that it does not take.

use crate::place::Place;

/// The second reader waited for ever.
#[test]
fn a_pipe_is_named_once() {
    let place = Place::new();
    place.file("e.csv", "source,target\na,b\n");
    place.ok("import e.csv g.esker -q");
    assert!(std::process::Command::new("mkfifo").arg(place.path().join("p")).status().unwrap().success());
    for line in
        ["import p p h.esker", "add g.esker p p", "sync g.esker p e.csv p", "delete g.esker p --vertices p"]
    {
        place.fails(1, line, "p is named twice; a pipe can be read only once");
    }
    for line in ["import p ./p h.esker", "import --kind a=p --kind b=p h.esker"] {
        place.fails(1, line, "p is named twice; a pipe can be read only once");
    }
    place.fails(1, "add g.esker - --vertices -", "standard input (-) is named twice");
    place.fails(2, "stream g.esker e.csv p", "p is a pipe, which is streamed alone");
    place.fails(1, "add g.esker no.csv no.csv", "no.csv");
}

fn said(place: &Place, line: &str) -> String {
    let output = place.run(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn zeros_in_front_of_a_late_id_are_not_lost() {
    let place = Place::new();
    let rows: String = (0..3000).map(|row| format!("{row},{}\n", row + 1)).collect();
    for (row, late, sign) in
        [("0007,5", "source", "zeros"), ("5,0007", "target", "zeros"), ("+5,6", "source", "a plus sign")]
    {
        for end in ["\n", "\n1,2\n2,3\n3,4\n4,5\n5,6\n"] {
            place.file("a.csv", &format!("{rows}{row}{end}"));
            let told = format!("a.csv:3001: the {late} has {sign} in front");
            place.fails(1, "import a.csv g.esker", &told);
            place.fails(1, "import a.csv g.esker --ids int", &told);
        }
    }
    assert!(said(&place, "import a.csv h.esker --ids text").contains("text ids"));
    place.file("v", "1\n007\n");
    place.file("b.csv", "1,2\n");
    place.fails(1, "import b.csv i.esker --vertices v", "v:2: the vertex has zeros");
    place.file("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n01 2\n");
    place.fails(1, "import a.mtx i.esker", "a.mtx:3: the source has zeros in front");
}

#[test]
fn texts_of_vertices_that_are_not_utf8_are_kept_and_said_with_their_line() {
    let place = Place::new();
    let latin = |name: &str, text: &[u8]| std::fs::write(place.path().join(name), text).unwrap();
    place.file("e.csv", "src,dst\na,b\n");
    latin("v.csv", b"id,town\na,Bonn\nb,K\xf6ln\n");
    let said_of = |command: &str| {
        let told = said(&place, command);
        assert!(told.contains("warning: v.csv:3: the line is not UTF-8"), "{command}: {told}");
    };
    said_of("import e.csv g.esker --vertices v.csv");
    place.ok("import e.csv h.esker");
    said_of("set h.esker v.csv");
    place.ok("import e.csv i.esker");
    said_of("add i.esker e.csv --vertices v.csv");
    for database in ["g.esker", "h.esker", "i.esker"] {
        place.ok(&format!("export {database} out.csv --vertex-properties w.csv --force"));
        let written = std::fs::read(place.path().join("w.csv")).unwrap();
        assert!(written.windows(4).any(|text| text == b"K\xf6ln"), "{database}: {written:?}");
    }
    latin("ids", b"a\nK\xf6ln\n");
    let told = said(&place, "import e.csv j.esker --vertices ids");
    assert!(told.contains("warning: ids:2: the line is not UTF-8"), "{told}");
    latin("names.csv", b"id,gr\xf6\xdfe\na,1\n");
    let wrong = "names.csv:1: the name \"gr\u{fffd}\u{fffd}e\" of a column is not UTF-8; convert the file";
    place.fails(1, "import e.csv k.esker --vertices names.csv", wrong);
    place.fails(1, "set h.esker names.csv", wrong);
    latin("edges.csv", b"src,dst,gr\xf6\xdfe\na,b,1\n");
    place.ok("import edges.csv k.esker");
    place.fails(
        1,
        "import edges.csv l.esker --property all",
        "edges.csv:1: the name \"gr\u{fffd}\u{fffd}e\"",
    );
}

#[test]
fn a_value_of_a_vertex_that_its_property_does_not_hold_is_refused_with_its_line() {
    let place = Place::new();
    place.file("e.csv", "src,dst\na,b\n");
    place.file("ages.csv", "id,age\na,1\n");
    place.ok("import e.csv g.esker --vertices ages.csv");
    place.file("v.csv", "id,age\na,1\nb,x\n");
    for command in ["add g.esker e.csv --vertices v.csv", "sync g.esker e.csv --vertices v.csv"] {
        place.fails(1, command, "v.csv:3: property \"age\" holds 64-bit integers, but the value \"x\"");
    }
    let nodes =
        "{\"nodes\": [{\"id\": \"a\", \"age\": 1},\n{\"id\": \"b\", \"age\": \"x\"}],\n\"links\": []}";
    place.file("d.json", nodes);
    place.fails(1, "add g.esker d.json", "d.json:2: property \"age\" holds 64-bit integers");
}

#[test]
fn texts_that_are_not_utf8_are_said_with_their_line() {
    let place = Place::new();
    let latin = |name: &str, text: &[u8]| std::fs::write(place.path().join(name), text).unwrap();
    latin("a.csv", b"src,dst\na,b\nM\xfcller,b\nK\xf6ln,b\n");
    let told = said(&place, "import a.csv g.esker");
    assert!(
        told.contains("warning: a.csv:3: the line is not UTF-8") && told.contains("iconv -f LATIN1"),
        "{told}"
    );
    assert_eq!(told.matches("warning").count(), 1, "{told}");
    assert!(said(&place, "run wcc a.csv").contains("a.csv:3: the line is not UTF-8"));
    for command in ["add g.esker", "delete g.esker"] {
        let told = said(&place, &format!("{command} a.csv"));
        assert!(told.contains("warning: a.csv:3: the line is not UTF-8"), "{command}: {told}");
    }
    latin("b.csv", b"src,dst,name\n1,2,K\xf6ln\n");
    assert!(!said(&place, "import b.csv b.esker").contains("UTF-8"), "the column is not read");
    assert!(said(&place, "import b.csv c.esker --property name").contains("b.csv:2: the line is not UTF-8"));
    place.file("c.csv", "src,dst\nMüller,b\n");
    assert!(!said(&place, "import c.csv d.esker").contains("UTF-8"));
    place.file("e.csv", "src,dst,name\n1,2,x\n");
    for (file, database, what) in [("a.csv", "d.esker", "edge added"), ("b.csv", "e.esker", "edge changed")] {
        place.ok("import e.csv e.esker --property name --force");
        place.ok(&format!("add {database} {file}"));
        place.fails(1, &format!("diff {database} 1 2"), "is not UTF-8, so no script can hold it: --json");
        let script = place.run(&format!("diff {database} 1 2")).stdout;
        std::fs::write(place.path().join("script"), &script).unwrap();
        assert_eq!(script.is_empty(), database == "e.esker", "{script:?}");
        if !script.is_empty() {
            place.fails(1, &format!("commit {database} script"), "missing closing quote");
        }
        assert!(place.ok(&format!("diff {database} 1 2 --json")).contains(what));
    }
}

#[test]
fn the_columns_of_parquet_and_arrow_are_said_and_named() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight,kind,note\na,b,1,x,y\nb,c,2,x,z\n");
    place.ok("import a.csv g.esker --property all");
    for (file, title) in [("a.parquet", "Parquet"), ("a.arrow", "Arrow IPC")] {
        place.ok(&format!("export g.esker {file}"));
        let told = said(&place, &format!("import {file} h.esker --force --property kind"));
        let expected = format!("Reading {file} as {title}: source, target, weight, kind (text ids)\n");
        assert!(told.contains(&expected) && !told.contains("not read"), "{told}");
        let told = said(&place, &format!("run wcc {file} --src target --dst source --no-weight"));
        assert!(told.contains("source target, target source (text ids)\n"), "{told}");
        assert!(
            told.contains(&format!(
                "warning: {file}: the columns kind, note are not read; --property all stores"
            )),
            "{told}"
        );
    }
}

#[test]
fn ids_come_back_from_formats_that_have_numbers() {
    let place = Place::new();
    place.file("a.csv", "source,target\nzoe,bob\nbob,ann\nann,zoe\n");
    place.file("ids", "lonely\n");
    place.ok("import a.csv g.esker --vertices ids");
    place.file("b.csv", "source,target\n70,5\n5,9\n");
    place.ok("import b.csv b.esker");
    let sorted = |database: &str| {
        let text = place.ok(&format!("export {database} - --format csv"));
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for database in ["g.esker", "b.esker"] {
        for file in ["x.mtx", "x.graph", "x.gr", "x.adj", "x.sg"] {
            let undirected = if file == "x.graph" { " --undirected" } else { "" };
            place.ok(&format!("export {database} whole.csv --force --vertices whole.ids"));
            place.ok(&format!("import whole.csv whole.esker --force --vertices whole.ids{undirected}"));
            place.ok(&format!("export whole.esker {file} --force --vertices x.ids"));
            // DIMACS has a weight for each edge.
            let weights = if file == "x.gr" { " --no-weight" } else { "" };
            place.ok(&format!("import {file} again.esker --force --vertices x.ids{undirected}{weights}"));
            assert_eq!(sorted("again.esker"), sorted("whole.esker"), "{database} {file}");
            let vertices = |name: &str| place.json(&format!("info {name} --json"))["vertices"].clone();
            assert_eq!(vertices("again.esker"), vertices("whole.esker"), "{database} {file}");
        }
    }
    place.file("few.ids", "zoe\nbob\n");
    place.fails(1, "import x.mtx again.esker --force --vertices few.ids", "few.ids: the file has 2 ids, but");
    place.ok("import x.mtx again.esker --force --vertices x.ids --ids text");
}

#[test]
fn formats_of_other_programs_are_named_with_a_way_here() {
    let place = Place::new();
    place.file("a.jsonl", "{\"source\":\"a\",\"target\":\"b\"}\n{\"source\":\"b\",\"target\":\"c\"}\n");
    place.fails(1, "import a.jsonl g.esker", "jq -r '[.source, .target] | @csv'");
    assert!(!place.path().join("g.esker").exists());
}

#[test]
fn an_empty_database_says_what_its_ids_are() {
    let place = Place::new();
    place.file("a.csv", "source,target\n");
    let told = said(&place, "import a.csv g.esker");
    assert!(told.contains("its ids are integers, so import with --ids text if texts will follow"), "{told}");
    assert!(!said(&place, "import a.csv t.esker --ids text").contains("its ids are"));
    place.file("b.csv", "source,target\na,b\n");
    place.fails(1, "add g.esker b.csv", "`esker options --ids text`");
    place.fails(2, "add g.esker b.csv --ids text", "make them texts with `esker options g.esker --ids text`");
    place.ok("add t.esker b.csv");
}

/// An empty file became a database without the properties that options named.
#[test]
fn an_empty_file_gives_the_database_the_columns_that_are_chosen() {
    let place = Place::new();
    place.file("none.csv", "");
    let line = "import none.csv g.esker --ids int --time at --weight cost --property kind:text --duplicates keep --event-time @0";
    place.ok(line);
    place.file("a.csv", "from,to,cost,at,kind\n1,2,2.5,1704067200000,red\n");
    place.ok("stream g.esker a.csv");
    assert_eq!(
        place.ok("export g.esker - --format csv"),
        "source,target,cost,at,kind\n1,2,2.5,1704067200000,red\n"
    );
    assert_eq!(place.json("info g.esker --json")["stream"]["time"], "at");
    assert_eq!(place.json("run wcc g.esker --window 1h --json")["edges"], 1);
}

#[test]
fn duplicates_that_are_added_up_are_not_called_skipped() {
    let place = Place::new();
    place.file("a.wel", "1 2 5\n1 2 7\n");
    assert!(place.ok("import a.wel g.esker --duplicates sum").contains("1 added up"));
    assert!(place.ok("import a.wel h.esker --duplicates min").contains("1 compared"));
    assert!(place.ok("import a.wel i.esker").contains("1 skipped"));
}
