//! Tables as people have them: what they lack, what of them is refused, and what a refusal leaves.

use serde_json::json;

use crate::place::Place;

/// The rows of an export, sorted.
fn exported(place: &Place, database: &str) -> Vec<String> {
    place.ok(&format!("export {database} all.csv --force"));
    let text = std::fs::read_to_string(place.path().join("all.csv")).unwrap();
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    rows[1..].sort();
    rows
}

fn versions(place: &Place, database: &str) -> usize {
    place.json(&format!("log {database} --json"))["versions"].as_array().map_or(0, Vec::len)
}

/// One of two copies was taken, whatever the other said.
#[test]
fn copies_of_an_edge_at_both_ends_agree() {
    let place = Place::new();
    place.file("both.csv", "source,target,weight\na,b,1\nb,a,1\n");
    place.file("other.csv", "source,target,weight\nb,c,5\nc,b,7\n");
    place.file("same.csv", "source,target,weight\nb,c,5\nc,b,5.0\n");
    place.ok("import both.csv u.esker --undirected --both-ends --duplicates keep -q");
    for options in ["", "--batch 1"] {
        place.fails(1, &format!("add u.esker other.csv {options}"), "or with other values at the other");
        place.ok(&format!("add u.esker same.csv {options}"));
    }
    assert_eq!(place.json("info u.esker --json")["edges"], 3);
}

#[test]
fn a_file_of_which_no_row_is_taken_fails_through_every_door() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,3\n");
    place.file("bad.csv", "source,target,weight\nx,2,3\n1,y,3\n");
    place.ok("import a.csv g.esker --ids int");
    for line in ["import bad.csv b.esker --ids int", "add g.esker bad.csv", "delete g.esker bad.csv"] {
        place.fails(1, &format!("{line} --bad-lines skip"), "no row could be taken, of 2");
    }
    place.file("half.csv", "source,target,weight\nx,2,3\n1,5,3\n");
    place.ok("add g.esker half.csv --bad-lines skip");
    // Of several files, each one counts.
    place.fails(
        1,
        "add g.esker half.csv bad.csv --each-file --bad-lines skip",
        "no row could be taken, of 2",
    );
}

#[test]
fn what_stands_at_one_end_only_leaves_the_database_as_it_was() {
    let place = Place::new();
    place.file("both.csv", "source,target\n3,5\n5,3\n");
    place.ok("import both.csv u.esker --undirected --both-ends --duplicates keep");
    let rows: String = (10..60).map(|v| format!("{v},{}\n{},{v}\n", v + 100, v + 100)).collect();
    place.file("whole.csv", &format!("source,target\n{rows}"));
    place.file("broken.csv", &format!("source,target\n{rows}7,8\n"));
    let before = exported(&place, "u.esker");
    for batch in ["", "--batch 4", "--batch 1"] {
        place.fails(1, &format!("add u.esker broken.csv {batch}"), "some stand at one end only");
        assert_eq!(
            (versions(&place, "u.esker"), exported(&place, "u.esker")),
            (1, before.clone()),
            "{batch}"
        );
    }
    let mut command = place.command("add u.esker - --batch 4");
    let whole = std::fs::File::open(place.path().join("whole.csv")).unwrap();
    let output = command.stdin(whole).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("name a file"), "{output:?}");
    place.ok("add u.esker whole.csv --batch 4");
    assert_eq!(exported(&place, "u.esker").len(), before.len() + 50);
}

#[test]
fn a_replaced_edge_keeps_its_id_under_every_rule() {
    for rule in ["last", "first", "sum", "min", "max", "error"] {
        let place = Place::new();
        place.file("a.csv", "source,target,what,weight\n1,2,calls,5\n1,2,likes,6\n");
        place.ok(&format!("import a.csv g.esker --kind what --duplicates {rule} --edge-ids"));
        for (round, freeze) in ["", "--freeze", ""].into_iter().enumerate() {
            place.file("script", &format!("~ 1 2 what=calls weight=5 -> {}\n", 7 - round));
            place.ok(&format!("commit g.esker script {freeze}"));
            let expected =
                ["source,target,weight,what,edge_id".to_owned(), format!("1,2,{},calls,v1.1", 7 - round)];
            let rows = exported(&place, "g.esker");
            let mut header: Vec<&str> = rows[0].split(',').collect();
            header.sort_unstable();
            assert_eq!(header, ["edge_id", "source", "target", "weight", "what"], "{expected:?}");
            let found = place.json("neighbors g.esker 1 --json");
            let of_calls =
                found.as_array().unwrap().iter().find(|row| row["what"] == "calls").unwrap().clone();
            assert_eq!(
                (&of_calls["edge_id"], &of_calls["weight"]),
                (&json!("v1.1"), &json!(7 - round)),
                "{rule}"
            );
            assert_eq!(rows.len(), 3, "{rule}: {rows:?}");
        }
    }
}

#[test]
fn an_edge_without_a_column_of_its_file_has_no_value_or_the_default() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight,note,since\na,b,1.5,x,2020-01-01\n");
    place.ok("import a.csv g.esker --property note --property since --default note=none");
    place.file("less.csv", "since,target,source\n2021-01-01,c,b\n");
    let output = place.run("add g.esker less.csv");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    assert!(told.contains("no column \"weight\": the edges get no weight"), "{told}");
    assert!(told.contains("no column \"note\": the edges get the default \"none\""), "{told}");
    place.file("log.csv", "source,target\nc,d\n");
    let warnings = place.json("stream g.esker log.csv --json --default since=2022-01-01")["done"].clone();
    assert_eq!(warnings, json!(true));
    let rows = exported(&place, "g.esker");
    assert!(rows.contains(&"b,c,,\"none\",2021-01-01".to_owned()), "{rows:?}");
    assert!(rows.contains(&"c,d,,\"none\",2022-01-01".to_owned()), "{rows:?}");
    // What is named, the time of a stream and a kind are needed.
    place.fails(2, "add g.esker log.csv --weight cost", "there is no column \"cost\"");
    place.ok("import a.csv t.esker --time since");
    place.fails(1, "add t.esker log.csv", "no column since");
    place.ok("import a.csv k.esker --kind note");
    place.fails(1, "add k.esker log.csv", "no column note, which has the kinds of edges");
    place.file("bare.csv", "c,d,7\n");
    place.fails(1, "add g.esker bare.csv", "found 3 columns without names");
    place.fails(2, "delete g.esker log.csv --property note", "no column \"note\"");
    place.ok("check g.esker");
}

#[test]
fn defaults_and_self_loops_are_as_in_the_import() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,1,3\n1,2,\n2,3,4\n");
    place.ok("import a.csv g.esker --self-loops drop --default weight=9");
    place.file("b.csv", "source,target,weight\n4,4,1\n4,5,\n5,5,\n");
    let told = place.ok("add g.esker b.csv");
    assert!(told.contains("Left out 2 self-loops, as the import did"), "{told}");
    place.file("c.csv", "source,target,weight\n6,6,1\n6,7,\n");
    assert_eq!(place.json("stream g.esker c.csv --json")["self_loops"], json!(1));
    let rows = exported(&place, "g.esker");
    assert_eq!(rows[1..], ["1,2,9", "2,3,4", "4,5,9", "6,7,9"]);
    let shown = place.ok("options g.esker");
    assert!(shown.contains("weight \"9\" where none is given, without self-loops"), "{shown}");
    place.ok("add g.esker b.csv --default weight=2");
    assert!(exported(&place, "g.esker").contains(&"4,5,2".to_owned()));
}

#[test]
fn an_empty_field_of_set_leaves_the_value_unless_it_is_to_be_cleared() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\na,b,none\nb,c,5\n");
    place.ok("import a.csv g.esker --null none --property weight");
    place.file("people.csv", "id,age,name,city\na,40,Ann,Rome\nb,none,none,none\nc,NA,\\N,\"none\"\n");
    place.ok("set g.esker people.csv");
    let person = |id: &str| {
        let row = place.json(&format!("get g.esker {id} --json"))[0].clone();
        [row["age"].clone(), row["name"].clone(), row["city"].clone()]
    };
    assert_eq!(person("a"), [json!(40), json!("Ann"), json!("Rome")]);
    assert_eq!(person("b"), [json!(null), json!(null), json!(null)]);
    assert_eq!(person("c"), [json!(null), json!(null), json!("none")], "quotes hold a text");
    place.file("later.csv", "id,age,name,city\na,,unknown,none\n");
    place.ok("set g.esker later.csv --null unknown");
    assert_eq!(person("a"), [json!(40), json!("Ann"), json!("Rome")]);
    place.ok("set g.esker later.csv --null unknown --clear-empty");
    assert_eq!(person("a"), [json!(null), json!(null), json!(null)]);
    place.ok("set g.esker --vertex c city=");
    assert_eq!(person("c")[2], json!(null));
    place.fails(2, "set g.esker --vertex c city= --clear-empty", "--clear-empty");
}

#[test]
fn numbers_of_32_bits_are_shown_with_their_own_digits() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,0.1\n");
    place.ok("import a.csv g.esker --schema weight:f32");
    place.file("v.csv", "id,size\n1,0.1\n2,16777216\n");
    place.ok("set g.esker v.csv --schema size:f32");
    assert!(
        place.ok("get g.esker 1 --json").contains("\"size\":0.1")
            || place.ok("get g.esker 1 --json").contains("\"size\": 0.1")
    );
    assert_eq!(place.json("get g.esker 2 --json")[0]["size"], json!(16_777_216.0));
    assert_eq!(place.json("neighbors g.esker 1 --json")[0]["weight"], json!(0.1));
}

#[test]
fn a_kind_may_have_commas_and_quotes() {
    let place = Place::new();
    place.file("a.csv", "source,target,what\n1,2,\"a,b\"\n2,3,c\n3,4,\"say \"\"hi\"\"\"\n4,5,a\n");
    place.ok("import a.csv g.esker --kind what");
    for (kinds, edges) in
        [("\"a,b\"", 1), ("\"a,b\",c", 2), ("c,\"a,b\",a", 3), ("a", 1), ("c,say \"hi\"", 2)]
    {
        let mut command = place.command("export g.esker part.csv --force");
        let output = command.args(["--kind", kinds]).output().unwrap();
        assert!(output.status.success(), "{kinds}: {}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(place.path().join("part.csv")).unwrap();
        assert_eq!(text.lines().count(), edges + 1, "{kinds}: {text}");
    }
    place.fails(2, "export g.esker part.csv --force --kind \"a,b", "a quote opens and does not close");
}

#[test]
fn four_edges_with_four_numbers_are_edges_and_a_matrix_is_none() {
    let place = Place::new();
    for (name, text) in [
        ("times.txt", "1 2 5 1600000000\n2 3 4 1600000060\n3 4 1 1600000120\n4 1 7 1600000180\n"),
        ("five.txt", "1 2 5 10 3\n2 3 4 20 3\n3 4 1 30 5\n4 1 7 40 6\n5 1 7 50 3\n"),
    ] {
        place.file(name, text);
        place.ok(&format!("import {name} {name}.esker"));
        assert_eq!(place.json(&format!("info {name}.esker --json"))["edges"], json!(text.lines().count()));
    }
    for (name, text) in [
        ("distances.txt", "0 1 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0\n"),
        ("directed.txt", "0 7 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0\n"),
        ("bits.txt", "0 1 1 0\n1 1 0 0\n1 0 1 1\n0 0 1 0\n"),
        ("similar.txt", "1 0.5 0.2 0.1\n0.5 1 0.3 0.2\n0.2 0.3 1 0.4\n0.1 0.2 0.4 1\n"),
    ] {
        place.file(name, text);
        place.fails(1, &format!("import {name} m.esker"), "looks like a matrix");
    }
}

#[test]
fn lines_about_vertices_of_a_graph_to_be_coloured_are_no_bad_lines() {
    let place = Place::new();
    place.file("a.col", "c x\np edge 4 3\nn 1 2\nd 2 3\nv 1 0.5 0.5\nx mode 1\ne 1 2\ne 2 3\nn 4 1\ne 3 4\n");
    let output = place.run("import a.col g.esker --json");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["edges"], &report["vertices"]), (&json!(3), &json!(4)));
    assert!(
        report["warnings"].to_string().contains("5 lines about vertices (n, d, v, x) not read"),
        "{report}"
    );
    place.file("b.col", "p edge 2 2\nq 1 2\ne 1 2\n");
    place.fails(1, "import b.col b.esker", "b.col:2");
}

#[test]
fn case_does_not_tell_keys_of_gml_apart() {
    let place = Place::new();
    place.file(
        "a.gml",
        "graph [\n node [ ID 1 Label \"ann\" Age 40 ]\n node [ ID 2 Label \"bob\" ]\n edge [ Source 1 Target 2 ]\n]\n",
    );
    place.ok("import a.gml g.esker");
    assert_eq!(place.json("get g.esker ann --json")[0]["Age"], json!(40));
    // A property that is called almost so comes back.
    place.file("e.csv", "source,target\nx,y\n");
    place.file("v.csv", "id,Label,NAME\nx,one,three\ny,two,four\n");
    place.ok("import e.csv p.esker --vertices v.csv");
    for name in ["back.gml", "back.dot"] {
        place.ok(&format!("export p.esker {name}"));
        place.ok(&format!("import {name} {name}.esker"));
        let row = place.json(&format!("get {name}.esker x --json"))[0].clone();
        assert_eq!((&row["Label"], &row["NAME"]), (&json!("one"), &json!("three")), "{name}: {row}");
    }
}

#[test]
fn files_that_neo4j_imports_are_read_by_the_marks_of_their_headers() {
    let place = Place::new();
    place.file(
        "people.csv",
        "name,personId:ID(Person),age:int,height:float,born:date,note:IGNORE,:LABEL\n\
         Ann,p1,40,1.5,1980-02-03,x,Person;Admin\nBob,p2,,,,y,Person\n",
    );
    place.file(
        "rels.csv",
        ":START_ID(Person),since:date,:END_ID(Person),:TYPE,weight:double,n:long,code,skip:IGNORE\n\
         p1,2020-01-02,p2,KNOWS,0.5,1,007,z\np1,2020-01-03,p2,PAID,2,2,008,z\np2,,p3,KNOWS,1,3,009,z\n",
    );
    place.ok("import rels.csv g.esker --vertices people.csv");
    let info = place.json("info g.esker --json");
    assert_eq!((info["edges"].as_u64(), info["vertices"].as_u64()), (Some(3), Some(3)), "{info}");
    assert_eq!(
        exported(&place, "g.esker"),
        [
            "source,target,weight,since,type,n,code",
            "p1,p2,0.5,2020-01-02,KNOWS,1,007",
            "p1,p2,2.0,2020-01-03,PAID,2,008",
            "p2,p3,1.0,,KNOWS,3,009",
        ]
    );
    let ann = &place.json("get g.esker p1 --json")[0];
    let expected =
        [("name", json!("Ann")), ("age", json!(40)), ("height", json!(1.5)), ("born", json!("1980-02-03"))];
    for (name, value) in expected.into_iter().chain([("label", json!("Person;Admin")), ("note", json!(null))])
    {
        assert_eq!(ann[name], value, "{name}: {ann}");
    }
    // The type is the kind: edges of one are found, and a later edge replaces one of its kind only.
    assert!(place.ok("export g.esker - --format csv --kind PAID").contains("p1,p2,2.0"));
    place.file(
        "more.csv",
        ":START_ID,since:date,:END_ID,:TYPE,weight:double,n:long,code\np1,,p2,PAID,7,5,5\n",
    );
    place.ok("add g.esker more.csv");
    let all = exported(&place, "g.esker");
    assert!(all.contains(&"p1,p2,7.0,,PAID,5,5".to_owned()) && all.len() == 4, "{all:?}");
    // An edge without a type is a bad row; what an option names is as in the header.
    place.file("bad.csv", ":START_ID,:END_ID,:TYPE,n:int\na,b,,1\na,c,X,no\nb,c,Y,2\n");
    place.ok("import bad.csv bad.esker --bad-lines skip");
    assert_eq!(exported(&place, "bad.esker"), ["source,target,type,n", "b,c,Y,2"]);
    place.file("groups.csv", ":START_ID(Person),:END_ID(Post)\n1,2\n2,1\n");
    let output = place.run("import groups.csv groups.esker");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && told.contains("ids of Person and of Post are not told apart"),
        "{told}"
    );
    place.ok("import more.csv asked.esker --kind :TYPE --property n:long --no-weight");
    assert_eq!(exported(&place, "asked.esker"), ["source,target,n:long,:TYPE", "p1,p2,5,PAID"]);
}
