//! Mistakes in the command line, and what they are answered with.

use crate::place::Place;

fn fails(place: &Place, code: i32, line: &str, fragments: &[&str]) {
    let output = place.run(line);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{line}: {message}");
    for fragment in fragments {
        assert!(message.contains(fragment), "{line}: {message}");
    }
    assert!(
        !message.contains("digit found in string") && !message.contains("as a value"),
        "{line}: {message}"
    );
}

#[test]
fn numbers_that_an_option_does_not_take_are_named_with_what_it_takes() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\nb,c\n");
    place.ok("import a.csv g.esker");
    for given in ["x", "-1", "1.5"] {
        let line = format!("run pagerank g.esker --top {given}");
        fails(&place, 2, &line, &[given, "--top <N>", "it takes a whole number, 0 or more"]);
    }
    fails(&place, 2, "run pagerank g.esker --top 99999999999999999999999", &["--top <N>", "too large"]);
    fails(&place, 2, "run pagerank g.esker --rounds -1", &["-1", "--rounds"]);
    fails(&place, 2, "retain g.esker -1", &["all, last N or since TIME"]);
    fails(&place, 1, "path g.esker a -1", &["no vertex has the id \"-1\""]);
    // What was right before still is.
    place.ok("run pagerank g.esker --top 1 --damping 0.5");
    fails(&place, 2, "run pagerank g.esker --topp 1", &["--top"]);
    assert!(place.ok("run bfs --help").contains("--source"));
}

#[test]
fn a_column_that_the_input_does_not_have_is_a_wrong_option() {
    let place = Place::new();
    place.file("a.csv", "from,to,cost\na,b,1\n");
    place.file("a.el", "1 2\n");
    place.ok("import a.csv g.esker");
    place.ok("export g.esker a.parquet");
    let columns = "there is no column \"zzz\"; the columns are from, to, cost";
    for option in
        ["--src zzz", "--dst zzz", "--weight zzz", "--time zzz", "--property zzz", "--schema zzz:i64"]
    {
        fails(&place, 2, &format!("import a.csv h.esker {option}"), &["a.csv: ", columns]);
        fails(&place, 2, &format!("add g.esker a.csv {option}"), &["zzz"]);
    }
    fails(&place, 2, "run pagerank a.csv --weight zzz", &["a.csv: ", columns]);
    let properties = "the edges of g.esker have no property \"zzz\"";
    for line in ["run pagerank g.esker --weight zzz", "export g.esker b.csv --where zzz=1"] {
        fails(&place, 2, line, &[properties]);
    }
    fails(&place, 2, "import a.el h.esker --weight 3", &["a.el: there is no column 3; the last column is 2"]);
    let told = "a.parquet: there is no column \"zzz\"; the columns are ";
    fails(&place, 2, "import a.parquet h.esker --weight zzz", &[told]);
}

#[test]
fn numbers_of_one_thing_are_named_in_the_singular() {
    let place = Place::new();
    place.file("cut.sg", "x");
    let output = place.run("import cut.sg g.esker");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("1 byte long") || message.contains("1 byte,"), "{message}");
    place.file("one.csv", "source,target\n1\n");
    fails(&place, 1, "import one.csv g.esker", &["the line has 1 column and needs 2"]);
}

#[test]
fn versions_and_times_that_mean_nothing_are_answered_with_what_would() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\n");
    place.ok("import a.csv g.esker");
    fails(&place, 2, "forget g.esker 5-3", &["5-3 ends before it begins"]);
    fails(&place, 1, "forget g.esker 2026-01-01", &["2026"]);
    fails(&place, 2, "add g.esker a.csv --time 2011-06-01", &["--event-time sets the time of the version"]);
    fails(&place, 2, "run wcc g.esker --json --format csv", &["--format has no effect with --json"]);
    place.ok("run wcc g.esker --json --format csv --output -");
    let output = place.run("tag g.esker");
    assert!(output.stdout.is_empty());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "g.esker has no tags\n");
}

#[test]
fn a_form_of_rows_that_are_not_printed_is_refused() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\nb,c\n");
    place.ok("import a.csv g.esker");
    let told = ["--format has no effect", "--top N"];
    fails(&place, 2, "run pagerank g.esker --output x.csv --format json", &told);
    assert!(!place.path().join("x.csv").exists());
    let rows = place.ok("run pagerank g.esker --output x.csv --format json --top 1");
    assert!(rows.contains("\"vertex\"") && place.path().join("x.csv").exists(), "{rows}");
    let unknown = place.run("run nosuch g.esker");
    assert!(String::from_utf8(unknown.stderr).unwrap().ends_with("names all\n"), "the prompt begins a line");
}

#[test]
fn a_column_is_not_both_ends_of_an_edge() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\nb,c\n");
    let told = ["the column \"source\" cannot be both ends"];
    fails(&place, 2, "import a.csv g.esker --src source --dst source", &told);
    fails(&place, 2, "import a.csv g.esker --src source --dst 1", &["cannot be both ends"]);
    place.ok("import a.csv g.esker --src target --dst source");
    assert_eq!(place.ok("export g.esker - --format csv"), "source,target\nb,a\nc,b\n");
}

#[test]
fn a_first_line_whose_quote_never_closes_is_not_lost() {
    let place = Place::new();
    place.file("a.csv", "\"a,b\nc,d\n");
    fails(&place, 1, "import a.csv g.esker", &["a.csv:1", "a quote opens a field and never closes"]);
    let skipped = place.run("import a.csv g.esker --bad-lines skip");
    assert!(String::from_utf8(skipped.stderr).unwrap().contains("a.csv:1"), "the line is named");
    assert_eq!(place.ok("export g.esker - --format csv"), "source,target\nc,d\n");
    place.file("b.csv", "\"title, of the table\nsource,target\nc,d\n");
    fails(&place, 1, "import b.csv h.esker --bad-lines skip", &["above the header", "mend the line"]);
    // A comment may hold any quotes.
    place.file("c.csv", "# \"title, of the table\nsource,target\nc,d\n");
    place.ok("import c.csv c.esker");
    assert_eq!(place.ok("export c.esker - --format csv"), "source,target\nc,d\n");
}

#[test]
fn zeros_before_an_id_make_it_a_text() {
    let place = Place::new();
    place.file("zip.csv", "src,dst\n01,1\n1,2\n");
    place.file("calls.csv", "src,dst\n+4930,4930\n0,10\n");
    place.ok("import zip.csv zip.esker");
    assert_eq!(place.ok("export zip.esker - --format csv"), "source,target\n01,1\n1,2\n");
    // One rule through every door: integers have neither zeros nor a plus sign in front, and `--ids int` does
    // not take them away.
    fails(&place, 1, "import zip.csv numbers.esker --ids int", &["zip.csv:2", "has zeros in front"]);
    fails(
        &place,
        1,
        "import calls.csv calls.esker",
        &["calls.csv:2", "has a plus sign in front", "--ids text"],
    );
    place.ok("import calls.csv calls.esker --ids text");
    assert_eq!(place.ok("export calls.esker - --format csv"), "source,target\n+4930,4930\n0,10\n");
    place.file("plain.csv", "src,dst\n0,1\n1,10\n");
    let said = place.run("import plain.csv plain.esker").stderr;
    assert!(String::from_utf8(said).unwrap().contains("(integer ids)"), "0 itself is an integer");
}

#[test]
fn an_index_without_a_name_is_no_sign_against_a_header() {
    let place = Place::new();
    place.file("pandas.csv", ",src,dst,w\n0,a,b,1\n1,b,c,2\n");
    place.file("own.csv", ",who,whom\n0,a,b\n1,b,c\n");
    place.ok("import pandas.csv p.esker");
    assert_eq!(place.ok("export p.esker - --format csv"), "source,target,w\na,b,1\nb,c,2\n");
    place.ok("import own.csv o.esker --src who --dst whom");
    assert_eq!(place.ok("export o.esker - --format csv"), "source,target\na,b\nb,c\n");
}

#[test]
fn what_a_failed_command_committed_is_said_even_in_quiet() {
    let place = Place::new();
    place.file("a.csv", "source,target\n1,2\n");
    place.file("one.csv", "50,51\n");
    place.file("two.csv", "52,53\nx,y\n");
    place.ok("import a.csv g.esker");
    let kept = "version 2 with 1 edge had been committed before the failure and is kept";
    fails(&place, 1, "add g.esker one.csv two.csv --each-file --quiet", &[kept, "two.csv:2"]);
    let output = place.run("add g.esker two.csv --bad-lines skip --quiet");
    assert!(output.status.success(), "{output:?}");
    place.file("bad.csv", "x,y\n");
    let output = place.run("add g.esker bad.csv --no-header --bad-lines skip");
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("bad.csv:1: no row could be taken, of 1"), "{err}");
}

#[test]
fn the_remedy_for_a_weight_that_is_no_number_works() {
    let place = Place::new();
    place.file("a.csv", "src,dst,w\na,b,x\n");
    fails(&place, 1, "import a.csv g.esker", &["a.csv:2", "with --no-weight --schema w:text"]);
    place.ok("import a.csv g.esker --no-weight --schema w:text");
    assert_eq!(place.ok("export g.esker - --format csv"), "source,target,w\na,b,x\n");
}

#[test]
fn lines_that_end_in_carriage_returns_alone_are_refused() {
    let place = Place::new();
    place.file("a.csv", "1,2\r3,4\r");
    fails(&place, 1, "import a.csv g.esker", &["carriage returns", "tr "]);
    place.file("b.csv", "1,2\r\n3,4\r\n");
    place.ok("import b.csv g.esker");
    assert_eq!(place.ok("export g.esker - --format csv"), "source,target\n1,2\n3,4\n");
    place.file("c.csv", "1,2\r");
    place.ok("import c.csv c.esker");
}

#[test]
fn weights_of_vertices_that_are_not_read_are_named() {
    let place = Place::new();
    place.file("a.graph", "3 2 11\n4 2 5 3 7\n1 1 5\n9 1 7\n");
    place.file("b.graph", "3 2 1\n2 5 3 7\n1 5\n1 7\n");
    for (file, said) in [("a", true), ("b", false)] {
        let output = place.run(&format!("import {file}.graph {file}.esker"));
        let facts = String::from_utf8(output.stderr).unwrap();
        assert_eq!(facts.contains("weights of the vertices are not read"), said, "{facts}");
    }
}

#[test]
fn a_range_of_windows_that_ends_before_it_begins_is_refused() {
    let place = Place::new();
    place.file("m.csv", "source,target,sent\n1,2,1704103200\n2,3,1704189600\n");
    place.ok("import m.csv m.esker --duplicates keep --time sent");
    let line = "window wcc m.esker --time sent --length 1d";
    fails(&place, 2, &format!("{line} --from 2024-01-03 --to 2024-01-02"), &["--from is after --to"]);
    place.ok(&format!("{line} --from 2024-01-02 --to 2024-01-02"));
    assert_eq!(place.ok(&format!("{line} --from 2030-01-02 --format csv")), "", "no window, no row");
}

#[test]
fn versions_are_not_retained_since_a_time_to_come() {
    let place = Place::new();
    place.file("a.csv", "source,target\n1,2\n");
    place.file("b.csv", "2,3\n");
    place.ok("import a.csv g.esker");
    place.ok("add g.esker b.csv");
    fails(&place, 2, "retain g.esker since 2999-01-01", &["2999-01-01 is still to come", "last 1"]);
    assert_eq!(place.json("info g.esker --json")["versions"], 2);
}

#[test]
fn properties_that_are_called_like_columns_hide_none() {
    let place = Place::new();
    place.file("a.csv", "a,b,source,target\n1,2,x,y\n");
    place.ok("import a.csv g.esker --src a --dst b --property all");
    place.ok("set g.esker --vertex 1 vertex=3 out_degree=4");
    let vertex = place.json("get g.esker 1 --format json");
    let told = |name: &str| vertex[0][name].as_i64();
    assert_eq!(["vertex", "out_degree"].map(told), [Some(1), Some(1)], "{vertex}");
    assert_eq!(["property.vertex", "property.out_degree"].map(told), [Some(3), Some(4)], "{vertex}");
    assert!(place.ok("get --help").contains("`property.vertex`"));
    assert!(place.ok("neighbors --help").contains("`property.source`"));
    let edges = place.ok("neighbors g.esker 1 --format csv");
    assert_eq!(edges, "source,target,property.source,property.target\n1,2,x,y\n");
}

#[test]
fn options_of_an_algorithm_are_named_as_a_command_takes_them() {
    let place = Place::new();
    place.file("a.csv", "from,to,time\nann,bob,10\n");
    place.ok("import a.csv g.esker --time time --duplicates keep");
    for line in ["follow g.esker wcc", "window g.esker wcc --length 10"] {
        place.fails(
            2,
            line,
            "g.esker is a file, not an algorithm: the algorithm comes first, then the database",
        );
    }
    for line in ["follow bfs g.esker --once", "window bfs g.esker --length 10"] {
        fails(&place, 2, line, &["bfs needs -p source=ID: "]);
        fails(&place, 2, &format!("{line} -p damping=2"), &["it takes -p "]);
    }
}

/// Lists, tiles and answers do not depend on stored heads.
#[test]
fn heads_whose_files_are_gone_hinder_only_what_reads_them() {
    let place = Place::new();
    place.ok("generate kron --scale 7 --degree 8 g.esker --encoding tiles");
    place.ok("compact g.esker --heads 3");
    let layers = std::fs::read_dir(place.path().join("g.esker/layers")).unwrap();
    let heads = layers.map(|layer| layer.unwrap().path().join("heads.columns")).find(|path| path.exists());
    std::fs::remove_file(heads.unwrap()).unwrap();
    for way in ["", "--encoding lists --residency mapped", "--encoding tiles", "--residency pooled"] {
        place.ok(&format!("run wcc g.esker --memory 200MiB {way}"));
    }
    let remedy = "`esker compact --heads LENGTH` makes the heads anew";
    fails(&place, 1, "run wcc g.esker --residency headed --memory 200MiB", &["heads.columns", remedy]);
    let compacted = place.ok("compact g.esker");
    assert!(compacted.contains("\nheads: cannot open ") && compacted.contains(remedy), "{compacted}");
    assert!(place.ok("info g.esker").contains("UNREADABLE"));
    place.ok("compact g.esker --heads 3");
    place.ok("run wcc g.esker --residency headed --memory 200MiB");
}

#[test]
fn a_failure_is_a_line_of_json_if_the_environment_asks() {
    let place = Place::new();
    place.file("edges.csv", "source,target\n1,2\n");
    place.ok("import edges.csv web.esker");
    let failure = |line: &str| -> (Option<i32>, serde_json::Value) {
        let output = place.command(line).env("ESKER_ERRORS", "json").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), serde_json::from_str(said.lines().last().unwrap_or_default()).expect(&said))
    };
    let (code, found) = failure("info none.esker");
    assert_eq!((code, &found["error"]["kind"]), (Some(1), &"FileNotFound".into()), "{found}");
    let (code, found) = failure("run bfs web.esker --source 7");
    assert_eq!((code, &found["error"]["kind"]), (Some(1), &"VertexNotFound".into()), "{found}");
    let (code, found) = failure("import edges.csv web.esker");
    assert_eq!((code, &found["error"]["kind"]), (Some(1), &"Exists".into()), "{found}");
    let setting = serde_json::json!({ "Setting": { "setting": "Replace", "value": { "Flag": true } } });
    let parts = found["error"]["message"]["parts"].as_array().expect("parts");
    assert!(parts.contains(&setting), "{found}");
    let (code, found) = failure("run bfs web.esker --source 1 --threads x");
    let option = serde_json::json!({ "Option": { "name": "threads", "value": null } });
    assert_eq!((code, &found["error"]["message"]["parts"][1]), (Some(2), &option), "{found}");
    assert_eq!((&found["error"]["kind"], &found["done"]), (&"Usage".into(), &serde_json::Value::Null));
}
