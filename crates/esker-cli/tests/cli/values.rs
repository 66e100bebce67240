//! Values that meet others: conditions, versions, times, and what is there already. docs/values.md has the
//! rules of single values.

use crate::place::Place;

/// What a command that succeeds says on standard error.
fn said(place: &Place, line: &str) -> String {
    let output = place.run(line);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}: {text}");
    text
}

#[test]
fn a_condition_that_selects_nothing_by_its_form_is_refused() {
    let place = Place::new();
    place.file("a.csv", "source,target,kind,size\na,b,depends,1\nb,c,breaks,2\n");
    place.ok("import a.csv a.esker --property all --no-weight");
    for (condition, told) in [
        ("kind==depends", "one sign compares, as in kind=depends"),
        ("size==1", "one sign compares, as in size=1"),
        ("size='1'", "it holds numbers, and '1' in quotes is a text"),
        ("size='1'", "--where size: "),
        ("size=0.5", "it holds integers, and 0.5 is none"),
        ("size!=0.5", "it holds integers, and 0.5 is none"),
        ("size<inf", "is not a finite number"),
        ("size=+1", "has a plus sign in front"),
        ("size=01", "has zeros in front"),
    ] {
        place.fails(2, &format!("run wcc a.esker --where {condition}"), told);
    }
    for condition in ["kind=depend", "kind!=depend", "kind='depend'"] {
        let told = said(&place, &format!("run wcc a.esker --where {condition}"));
        assert!(told.contains("no edge of version 1 has the text \"depend\" as its kind"), "{told}");
    }
    for condition in ["kind=depends", "kind='depends'", "kind=\"depends\"", "size<1.5", "size=1.0"] {
        assert!(
            !said(&place, &format!("run wcc a.esker --where {condition}")).contains("no edge"),
            "{condition}"
        );
    }
    place.file("big.csv", "source,target,big\na,b,9007199254740992\nb,c,9007199254740993\n");
    place.ok("import big.csv big.esker --schema big:i64");
    for (condition, count) in [
        ("big>=9007199254740992.5", 1),
        ("big<9007199254740992.5", 1),
        ("big=9007199254740993.0", 1),
        ("big>-0.5", 2),
        ("big<1e300", 2),
    ] {
        let found = place.ok(&format!("export big.esker - --where {condition} --format csv"));
        assert_eq!(found.lines().count(), 1 + count, "{condition}: {found}");
    }
    place.fails(2, "run wcc big.esker --where big=9007199254740992.5", "it holds integers");
    place.file("f.csv", "source,target,p\na,b,0.1\nb,c,0.5\n");
    place.ok("import f.csv f.esker --schema p:f32");
    let found = place.ok("export f.esker - --where p=0.1 --format csv");
    assert_eq!(found.lines().count(), 2, "a property of 32 bits holds 0.1 as near as it can: {found}");
}

#[test]
fn a_line_that_is_too_long_is_skipped_like_other_bad_lines() {
    let place = Place::new();
    let long = "x".repeat(3 << 20);
    place.file("a.csv", &format!("source,target,note\n1,2,a\n3,4,{long}\n5,6,b\n7,8,\"{long}\n9,10,c\n"));
    place.fails(1, "import a.csv a.esker", "a.csv:3: the line is longer than 1048576 bytes");
    assert_eq!(place.json("import a.csv a.esker --bad-lines skip --json")["edges"], 3);
    assert_eq!(place.json("import a.csv b.esker --bad-lines skip --property note --json")["rejected"], 2);
    place.file("ids.txt", &format!("11\n{long}\n12\n"));
    let report = place.json("add a.esker --vertices ids.txt --bad-lines skip --json");
    assert_eq!((&report["vertices"], &report["rejected"]), (&2.into(), &1.into()), "{report}");
}

#[test]
fn a_range_of_versions_has_ends_that_exist() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\n");
    place.ok("import a.csv a.esker");
    for (script, tag) in [("+ b c\n", "first"), ("+ c d\n", "my-second")] {
        place.file("s", script);
        place.ok("commit a.esker s");
        place.ok(&format!("tag a.esker latest {tag}"));
    }
    let versions = |range: &str| {
        place.ok(&format!("run wcc a.esker --versions {range} -q --format csv")).lines().count() - 1
    };
    assert_eq!([versions("first..my-second"), versions("1..first"), versions("2..latest")], [2, 2, 2]);
    place.fails(1, "run wcc a.esker --versions 1..4", "there is no version 4");
    place.fails(1, "run wcc a.esker --versions 1..none", "no version is tagged");
    place.fails(2, "run wcc a.esker --versions my-second..first", "ends before it begins");
    place.fails(1, "forget a.esker 1..9", "there is no version 9");
}

#[test]
fn an_integer_time_selects_the_version_of_a_stream() {
    let place = Place::new();
    place.file("a.csv", "source,target,time\na,b,1700000000\n");
    place.ok("import a.csv a.esker --time time --event-time 2023-11-14T22:13:20Z");
    place.file("b.csv", "source,target,time\nb,c,1700000100\nc,d,1700000200\nd,e,1700000300\n");
    place.ok("stream a.esker b.csv --commit-every 1");
    let at = |time: &str| place.json(&format!("info a.esker --at {time} --json"))["version"].clone();
    assert_eq!([at("1700000000"), at("1700000250"), at("1800000000")], [1, 3, 4]);
    place.fails(1, "info a.esker --at 99", "there is no version 99");
    place.fails(1, "info a.esker --at 1600000000", "there was no version yet");
}

#[test]
fn times_of_two_units_do_not_meet_in_one_database() {
    let place = Place::new();
    place.file("a.csv", "source,target,time\na,b,1700000000000\nb,c,1700000001000\n");
    place.ok("import a.csv a.esker --time time");
    place.file("b.csv", "source,target,time\nc,d,1700000002\n");
    let told = "the time 1700000002 looks as if it were in seconds, but 1700000001000, the latest in the database, as if it were in \
                milliseconds: convert the times";
    place.fails(1, "add a.esker b.csv", told);
    place.fails(1, "stream a.esker b.csv", told);
    place.ok("options a.esker --time time --time-unit ms");
    place.fails(1, "add a.esker b.csv", told);
    place.fails(1, "stream a.esker b.csv", told);
    place.file("c.csv", "source,target,time\nc,d,1700000002000\nd,e,0\n");
    place.ok("add a.esker c.csv");
}

#[test]
fn a_file_that_was_imported_is_not_streamed_again() {
    let place = Place::new();
    place.file("a.csv", "source,target,time\na,b,1700000000\nb,c,1700000100\n");
    place.ok("import a.csv a.esker --time time --duplicates keep");
    place.fails(1, "stream a.esker a.csv", "has the first edge of");
    assert_eq!(place.json("info a.esker --json")["edges"], 2);
    place.ok("stream a.esker a.csv --from-start");
    assert_eq!(place.json("info a.esker --json")["edges"], 4);
    // Where an edge that comes again is the same edge, nothing doubles.
    place.ok("import a.csv b.esker --time time");
    place.ok("stream b.esker a.csv");
    assert_eq!(place.json("info b.esker --json")["edges"], 2);
}

#[test]
fn ids_that_are_not_there_are_deleted_and_described_only_if_allowed() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\nb,c\n");
    place.ok("import a.csv a.esker");
    for (name, content, line, told) in [
        ("e.csv", "source,target\na,b\na,zed\n", "delete a.esker e.csv", "no vertex has this id"),
        ("v.txt", "zed\n", "delete a.esker --vertices v.txt", "\"zed\""),
        ("p", "zed age=3\n", "commit a.esker p", "no vertex has the id \"zed\""),
        ("q", "- a zed\n", "commit a.esker q", "use --new if it may be missing"),
        ("r", "- b\nb age=3\n", "commit a.esker r", "r:2: an earlier line removes the vertex b"),
    ] {
        place.file(name, content);
        place.fails(1, line, told);
        assert_eq!(place.json("info a.esker --json")["version"], 1, "{line}");
    }
    place.file("ok", "+ zed a\nzed age=3\n- zed a\n- zed\n");
    place.ok("commit a.esker ok");
    place.fails(1, "delete a.esker --vertices v.txt", "\"zed\"");
    for line in
        ["delete a.esker e.csv --new", "delete a.esker --vertices v.txt --new", "commit a.esker q --new"]
    {
        place.ok(line);
    }
    place.ok("commit a.esker p --new");
    assert_eq!(place.json("get a.esker zed --format json")[0]["age"], 3);
}

#[test]
fn a_script_says_which_values_are_missing() {
    let place = Place::new();
    place.file("t.csv", "source,target,weight,label\n1,2,3,x\n2,1,4,\n");
    for copy in ["a", "b"] {
        place.ok(&format!("import t.csv {copy}.esker --weight weight --property label"));
    }
    for line in ["+ 1 3 weight= label=x", "~ 1 2 weight=3 -> "] {
        place.file("s", &format!("{line}\n"));
        place.fails(1, "commit a.esker s", "");
    }
    place.file("s", "+ 1 3 weight= label=x\n");
    place.fails(1, "commit a.esker s", "weight=~ for an edge without one");
    let added = "+ 1 3 weight=~ label=\n+ 2 3 weight=1 label=\"~\"\n+ 1 4 weight=1 label=~\n";
    place.file("s", &format!("{added}~ 1 2 weight=3 -> ~ label=x\n"));
    place.ok("commit a.esker s");
    let script = place.ok("diff a.esker 1");
    for line in [
        "~ 1 2 weight=3 -> ~ label=x",
        "+ 1 3 weight=~ label=\"\"",
        "+ 2 3 weight=1 label=\"~\"",
        "+ 1 4 weight=1 label=~",
    ] {
        assert!(script.lines().any(|found| found == line), "{line}: {script}");
    }
    place.file("s", &script);
    place.ok("commit b.esker s");
    assert_eq!(place.ok("diff b.esker 1"), script);
    place.file("s", &place.ok("diff b.esker 2 1"));
    place.ok("commit b.esker s");
    assert_eq!(place.ok("diff b.esker 1"), "");
    // Of parallel edges, the ones with the empty text and the ones without a text.
    place.file("p.csv", "source,target,label\n1,2,\"\"\n1,2,x\n1,2,\"\"\n");
    place.ok("import p.csv p.esker --property label --duplicates keep");
    for (line, left) in
        [("-1 1 2 label=", 2), ("+ 1 2 label=~", 3), ("- 1 2 label=", 2), ("- 1 2 label=~", 1)]
    {
        place.file("s", &format!("{line}\n"));
        place.ok("commit p.esker s");
        assert_eq!(place.json("info p.esker --json")["edges"], left, "{line}");
    }
}

#[test]
fn a_file_of_vertices_may_have_a_header() {
    let place = Place::new();
    place.file("a.csv", "from,to\nann,bob\nbob,id\n");
    place.file("people.csv", "# all of them\n\"Node ID\"\neve\nann\n");
    let said = String::from_utf8(place.run("import a.csv a.esker --vertices people.csv").stderr).unwrap();
    assert!(
        said.contains("people.csv as vertices: the line \"Node ID\" names the column; --no-header"),
        "{said}"
    );
    assert_eq!(place.json("info a.esker --json")["vertices"], 4, "ann, bob, id and eve");
    place.file("gone.csv", "vertex\neve\n");
    let said = String::from_utf8(place.run("delete a.esker --vertices gone.csv").stderr).unwrap();
    assert!(said.contains("the line \"vertex\" names the column"), "{said}");
    assert_eq!(place.json("info a.esker --json")["vertices"], 3);
    place.fails(1, "delete a.esker --vertices gone.csv --no-header", "the vertex \"vertex\": no vertex");
    // A vertex may be called so.
    place.file("id.csv", "id\n");
    assert_eq!(place.ok("delete a.esker --vertices id.csv --header"), "a.esker: nothing to commit\n");
    place.file("b.csv", "from,to\nid,bob\nbob,ann\n");
    place.ok("import b.csv b.esker --order keep");
    for name in ["b.mtx", "b.el"] {
        place.ok(&format!("export b.esker {name} --vertices {name}.ids"));
        let ids = std::fs::read_to_string(place.path().join(format!("{name}.ids"))).unwrap();
        assert_eq!(ids, "id\nid\nbob\nann\n");
        place.ok(&format!("import {name} again.esker --vertices {name}.ids --force"));
        assert_eq!(place.ok("export again.esker - --format csv"), place.ok("export b.esker - --format csv"));
    }
    let said = String::from_utf8(place.run("delete a.esker --vertices id.csv").stderr).unwrap();
    assert!(said.contains("id.csv as vertices: the first line, \"id\", is a vertex"), "{said}");
    assert_eq!(place.json("info a.esker --json")["vertices"], 2);
    // The bad line is that of the file.
    place.file("c.el", "1 2\n");
    place.file("c.ids", "id\n3\nx\n");
    place.fails(1, "import c.el c.esker --vertices c.ids", "c.ids:3");
    // A header of edges may have any names.
    place.file("edges.csv", "von,nach\nann,bob\n");
    place.ok("delete a.esker edges.csv --header --src von --dst nach");
    assert_eq!(place.json("info a.esker --json")["edges"], 0);
}

#[test]
fn the_entries_of_a_matrix_for_one_pair_add_up() {
    let place = Place::new();
    let banner = "%%MatrixMarket matrix coordinate real";
    place.file("m.mtx", &format!("{banner} general\n3 3 4\n1 2 0.5\n2 3 1\n1 2 0.25\n2 1 4\n"));
    let weights = |line: &str| {
        assert!(place.ok(line).lines().any(|row| row.starts_with("edges")), "{line}");
        place.ok("export m.esker - --format wel").replace('\n', ";")
    };
    assert_eq!(weights("import m.mtx m.esker"), "1 2 0.75;2 1 4.0;2 3 1.0;");
    assert!(place.ok("import m.mtx m.esker --force").contains("duplicates  1 added up"));
    assert_eq!(weights("import m.mtx m.esker --force --duplicates last"), "1 2 0.25;2 1 4.0;2 3 1.0;");
    place.ok("import m.mtx m.esker --force");
    // Later edges replace, as after any import.
    place.file("b.wel", "1 2 9\n");
    place.ok("add m.esker b.wel");
    assert!(place.ok("export m.esker - --format wel").contains("1 2 9.0\n"));
    place.file("p.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n1 2\n");
    assert_eq!(place.json("import p.mtx p.esker --json")["edges"], 1);
    // An undirected graph has one edge for two entries that are not for one pair.
    place.file("u.mtx", &format!("{banner} symmetric\n3 3 3\n2 1 2\n2 1 3\n3 2 1\n"));
    assert_eq!(weights("import u.mtx m.esker --force"), "1 2 5;2 3 1;", "sums of integers are integers");
    place.ok("import m.mtx m.esker --force --undirected");
    assert!(place.ok("export m.esker - --format wel").contains("1 2 4.0\n"), "the last of three");
}

#[test]
fn edges_that_are_added_up_are_not_called_skipped() {
    let place = Place::new();
    place.file("a.wel", "1 2 5\n");
    place.ok("import a.wel a.esker --duplicates sum");
    assert!(place.ok("add a.esker a.wel").contains("Added up 1 duplicate edge\n"));
    assert!(place.ok("add a.esker a.wel --duplicates max").contains("Compared 1 duplicate edge\n"));
    assert!(place.ok("add a.esker a.wel --duplicates first").contains("Skipped 1 duplicate edge\n"));
}

#[test]
fn options_of_reading_that_have_no_effect_are_refused() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,5\n");
    place.ok("import a.csv a.esker");
    place.ok("export a.esker a.parquet");
    place.file("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n");
    for (line, told) in [
        ("delete a.esker a.csv --no-weight", "--no-weight has no effect: only the ends of edges are read"),
        (
            "add a.esker a.csv --no-weight",
            "--no-weight has no effect: the weight of the database is read where the files have it",
        ),
        ("import a.parquet b.esker --delimiter ;", "--delimiter has no effect on a Parquet"),
        ("import a.parquet b.esker --header", "--header has no effect on a Parquet"),
        ("import m.mtx b.esker --no-quotes", "--no-quotes has no effect on a Matrix Market"),
        ("set a.esker --vertex 1 p=1 --delimiter ;", "cannot be used with"),
    ] {
        place.fails(2, line, told);
    }
    place.fails(1, "import m.mtx b.esker --weight cost", "--weight means nothing for a Matrix Market");
}
