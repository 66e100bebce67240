//! Changing a graph on the command line, and looking back.

use std::path::Path;

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::place::Place;

const FRIENDS: &str = "from,to,kind,since\nalice,bob,friend,3\nbob,carol,friend,5\ncarol,alice,rival,1\n";

/// A database of friends: version 1.
fn friends() -> Place {
    let place = Place::new();
    place.file("friends.csv", FRIENDS);
    place.ok("import friends.csv f.esker --weight since --property kind --order keep");
    place
}

impl Place {
    /// What `esker commit` says of a script.
    fn commit(&self, script: &str) -> std::process::Output {
        let mut command = self.command("commit f.esker");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn diff(&self, from: &str, to: &str) -> Vec<String> {
        self.ok(&format!("diff f.esker {from} {to}")).lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_database_keeps_how_commits_become_layers() {
    let place = Place::new();
    place.file("friends.csv", "source,target\na,b\nb,c\nc,a\n");
    place.file("more.csv", "source,target\na,c\n");
    place.ok("import friends.csv f.esker");
    assert!(!place.ok("info f.esker").contains("options"), "the defaults need no line");
    let shown = place.ok("options f.esker");
    assert!(shown.starts_with("f.esker: copy mixed, freeze at 64.00 MiB, merge auto\n"), "{shown}");
    place.ok("import friends.csv g.esker --freeze-size 1 --merge never --copy chain");
    let options = serde_json::json!({ "copy": "chain", "freeze_bytes": 1, "merge": "never" });
    assert_eq!(place.json("info g.esker --json")["options"], options);
    for layers in 2..9 {
        place.ok("add g.esker more.csv --duplicates last");
        assert_eq!(place.json("info g.esker --json")["layers"], layers);
    }
    let shown = place.ok("options g.esker --merge auto --copy copy");
    assert!(shown.starts_with("g.esker: copy copy, freeze at 1 B, merge auto\n"), "{shown}");
    let shown = place.ok("info g.esker");
    assert!(shown.contains("copy copy, freeze at 1 B, merge auto"), "{shown}");
    place.ok("add g.esker more.csv");
    assert!(place.json("info g.esker --json")["layers"].as_u64().unwrap() < 8, "merged after the freeze");
    place.ok("check g.esker");
    place.ok("generate path --vertices 9 h.esker --freeze-size 16MiB");
    assert_eq!(place.json("options h.esker --json")["options"]["freeze_bytes"], 16 << 20);
    place.fails(2, "generate path --vertices 9 h.csv --merge never", "this is a file");
    place.fails(2, "options h.esker --copy some", "invalid value");
}

#[test]
fn files_are_added_and_deleted_as_versions() {
    let place = friends();
    place.file("more.csv", "to,since,from,kind\nbob,9,alice,friend\ndan,2,carol,\"old friend\"\n");
    let said = place.ok("add f.esker more.csv -m more");
    assert_eq!(said, "f.esker: version 2: 1 edge added, 1 edge changed, 1 vertex added\n");
    assert_eq!(
        place.diff("1", "2"),
        ["~ alice bob since=3 -> 9 kind=friend", "+ carol dan since=2 kind=\"old friend\"", "+ dan",]
    );
    place.file("gone.csv", "from,to\nbob,carol\nbob,nobody\n");
    place.fails(1, "delete f.esker gone.csv", "the vertex \"nobody\": no vertex has this id");
    let report = place.json("delete f.esker gone.csv --new --json --freeze");
    assert_eq!(report["versions"], json!([3]));
    assert_eq!(report["changes"]["edges_removed"], 1);
    assert_eq!(place.diff("2", "3"), ["- bob carol since=5 kind=friend"]);
    assert_eq!(place.diff("3", "2"), ["+ bob carol since=5 kind=friend"]);
    place.file("left.txt", "alice\n");
    let said = place.ok("delete f.esker --vertices left.txt");
    assert_eq!(said, "f.esker: version 4: 2 edges removed, 1 vertex removed\n");
    place.fails(1, "set f.esker --vertex alice age=30", "the vertex was removed");
    // The log tells of the vertices that are there, before and after the layers become one.
    let vertices = || {
        let log = place.json("log f.esker --json");
        let versions = log["versions"].as_array().unwrap().iter();
        versions.map(|version| version["vertices"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(vertices(), [3, 4, 4, 3]);
    let ends = place.ok("export f.esker - --format csv --at 4");
    assert_eq!(ends.lines().skip(1).collect::<Vec<_>>(), ["carol,dan,2,old friend"]);

    // Every version is as it was, before and after the layers become one.
    for _ in 0..2 {
        for (at, edges, reached) in [("1", 3, 3), ("2", 4, 4), ("3", 3, 2), ("latest", 1, 1)] {
            let info = place.json(&format!("info f.esker --json --at {at}"));
            assert_eq!(info["edges"], edges, "{at}");
            let source = if at == "latest" { "bob" } else { "alice" };
            let bfs = place.json(&format!("run bfs f.esker --source {source} --at {at} --json --verify"));
            assert_eq!(bfs["answers"]["reached"], reached, "{at}");
            assert_eq!(place.json(&format!("check f.esker --json --at {at}"))["sound"], true, "{at}");
        }
        place.ok("compact f.esker");
    }
    assert_eq!(place.json("info f.esker --json")["layers"], 1);
    assert_eq!(vertices(), [3, 4, 4, 3]);
    assert_eq!(place.diff("1", "4").len(), 6);
}

#[test]
fn parts_and_files_are_versions_of_their_own_if_asked() {
    let place = Place::new();
    place.file("a.el", "0 1\n1 2\n");
    place.ok("import a.el f.esker");
    let lines: String = (0..95).map(|i| format!("{i} {}\n", i + 7)).collect();
    place.file("b.el", &lines);
    place.file("c.el", "500 501\n");
    let report = place.json("add f.esker b.el --batch 10 --json");
    assert_eq!(report["versions"].as_array().unwrap().len(), 10);
    assert_eq!(place.json("info f.esker --json")["edges"], 97);
    let report = place.json("add f.esker [bc].el --each-file --json -m again");
    assert_eq!(report["versions"], json!([12, 13]));
    assert_eq!(report["changes"]["edges_added"], 1);
    let log = place.json("log f.esker --json --limit 2");
    assert_eq!(log["versions"][0]["message"], "again");
    assert_eq!((&log["versions"][0]["edges"], &log["versions"][1]["edges"]), (&98.into(), &97.into()));
    assert_eq!(place.json("info f.esker --json --at 4")["edges"], 32);
}

#[test]
fn edges_get_properties_that_they_did_not_have() {
    let place = Place::new();
    place.file("a.el", "0 1\n1 2\n");
    place.ok("import a.el f.esker --order keep");
    place.file("b.csv", "from,to,since,weight\n2,3,1999,1.5\n0,1,2001,2\n");
    place.fails(2, "add f.esker b.csv --property since", "--define NAME:TYPE");
    place.fails(2, "add f.esker b.csv --define since:day", "unknown type");
    place.fails(1, "add f.esker b.csv --define other:text", "no column \"other\"");
    place.fails(1, "add f.esker b.csv --define weight:text", "a weight must have type");
    assert_eq!(place.json("info f.esker --json")["edge_properties"], json!([]));
    place.ok("add f.esker b.csv --define since:i64 --define weight:f64");
    assert_eq!(
        place.diff("1", "2"),
        ["~ 0 1 since=0 -> 2001 weight=0 -> 2", "+ 2 3 since=1999 weight=1.5", "+ 3"]
    );
    let far = place.json("run sssp f.esker --source 0 --json --verify");
    assert_eq!(far["answers"]["reached"], 4);
    place.fails(1, "add f.esker b.csv --define since:i32", "already exists with type i64");
}

#[test]
fn a_bad_line_in_a_large_file_ends_the_command() {
    let place = Place::new();
    place.file("a.el", "0 1\n");
    place.ok("import a.el f.esker");
    place.file("b.el", &("1 2\n".repeat(20_000) + "x 1\n" + &"1 2\n".repeat(2_500_000)));
    place.fails(1, "add f.esker b.el", "b.el:20001");
}

#[test]
fn an_interrupted_addition_leaves_whole_commits() {
    let place = Place::new();
    place.file("a.el", "0 1\n");
    place.ok("import a.el f.esker");
    let mut command = place.command("add f.esker - --batch 1000");
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines: String = (0..500_000).map(|i| format!("{i} {}\n", i + 1)).collect();
    stdin.write_all(lines.as_bytes()).unwrap();
    // It waits for more, which does not come.
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let log = place.json("log f.esker --json");
    for version in log["versions"].as_array().unwrap() {
        let number = version["version"].as_u64().unwrap();
        // The first edge of the first commit was there.
        let expected = 1 + (number - 1) * 1000 - u64::from(number > 1);
        assert_eq!(version["edges"].as_u64().unwrap(), expected, "version {number}");
    }
    assert_eq!(place.json("check f.esker --json")["sound"], true);
}

#[test]
fn scripts_are_committed_wholly_or_not_at_all() {
    let place = friends();
    let output = place
        .commit("# a remark\n+ alice dan since=4 kind=\"best friend\"\n- carol alice\n\n+ eve\nbob age=40\n");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        said,
        "f.esker: version 2: 1 edge added, 1 edge removed, 2 vertices added, 1 vertex value changed\n"
    );
    let lines = place.diff("1", "2");
    assert!(lines.contains(&"bob age=40".to_owned()) && lines.contains(&"+ eve".to_owned()), "{lines:?}");
    for (script, fragment) in [
        ("+ a b since=1 kind=x\n+ a\tb since=1\n", "-:2: the edge has no value for kind"),
        ("+ a b since=far kind=x\n", "32-bit integers"),
        ("+ a b since=1 kind=x colour=red\n", "no edge property \"colour\""),
        ("a b\n", "expected '+ u v name=value...'"),
        ("* a b\n", "expected '+ u v name=value...'"),
        ("+ \"a b\n", "missing closing quote"),
        ("- nobody\n", "no vertex has the id \"nobody\""),
        ("bob age=old\n", "holds 64-bit integers"),
        ("bob size=\n", "cannot remove a value of \"size\""),
    ] {
        let output = place.commit(script);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{script}: {message}");
        assert!(message.contains(fragment), "{script}: {message}");
    }
    assert_eq!(place.json("log f.esker --json")["versions"].as_array().unwrap().len(), 2);

    // What a difference says repeats it, also backwards.
    place.ok("import friends.csv g.esker --weight since --property kind --order keep");
    place.file("there.txt", &place.ok("diff f.esker 1 2"));
    place.ok("commit g.esker there.txt");
    let sorted = |database: &str| {
        let text = place.ok(&format!("export {database} - --format csv"));
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted("g.esker"), sorted("f.esker"));
    place.file("back.txt", &place.ok("diff f.esker 2 1"));
    place.ok("commit f.esker back.txt");
    assert_eq!(place.diff("1", "3"), Vec::<String>::new());
}

#[test]
fn vertices_have_properties() {
    let place = friends();
    place.file("people.csv", "id,age,city,zip\nalice,31,Paris,00100\nbob,,\"New York\",10001\n");
    let said = place.ok("set f.esker people.csv");
    assert!(said.ends_with("version 2: 5 values set on 2 vertices\n"), "{said}");
    let info = place.json("info f.esker --json");
    let types: Vec<_> =
        info["vertex_properties"].as_array().unwrap().iter().map(|p| p["type"].clone()).collect();
    assert_eq!(types, ["i64", "text", "text"], "leading zeros are kept");
    place.ok("set f.esker --vertex alice age=32 city= height=1.75");
    assert_eq!(place.diff("2", "3"), ["~ alice age=31 -> 32", "~ alice city=Paris ->", "alice height=1.75"]);
    let json = place.json("diff f.esker 2 3 --json");
    assert_eq!(json["differences"][0]["new"], 32);
    assert_eq!(json["summary"]["values_changed"], 3);
    place.fails(1, "set f.esker --vertex zoe age=3", "use --new to add missing vertices");
    place.ok("set f.esker --vertex zoe age=3 --new");
    assert_eq!(place.diff("3", "4"), ["+ zoe", "zoe age=3"]);
    place.fails(1, "set f.esker --vertex alice age=old", "64-bit integers");
    place.fails(2, "set f.esker --vertex alice age", "NAME=VALUE");
    place.fails(2, "set f.esker people.csv more.csv", "one table");
    place.file("bad.csv", "id,age\nalice,1\nnobody,2\n");
    place.fails(1, "set f.esker bad.csv", "bad.csv:3");
    place.file("short.csv", "id,age\nalice\n");
    place.fails(1, "set f.esker short.csv", "short.csv:2");
    place.file("one.csv", "id\nalice\n");
    place.fails(1, "set f.esker one.csv", "at least two columns");
    assert_eq!(place.json("log f.esker --json")["versions"].as_array().unwrap().len(), 4);
    place.ok("compact f.esker");
    assert_eq!(place.diff("2", "3").len(), 3);
    place.file("gone.txt", "alice\n");
    place.ok("delete f.esker --vertices gone.txt");
    assert_eq!(place.diff("4", "5")[0], "- alice");
}

#[test]
fn compact_leaves_out_vertices_that_no_version_has() {
    let place = friends();
    place.file("gone.txt", "alice\n");
    place.ok("delete f.esker --vertices gone.txt");
    let before = place.json("info f.esker --json");
    let numbers = before["vertex_numbers"].as_u64().unwrap();
    assert_eq!(place.json("compact f.esker --renumber always --json")["vertices_left_out"], 0);
    place.ok("forget f.esker 1");
    assert_eq!(place.json("compact f.esker --renumber never --json")["vertices_left_out"], 0);
    let said = place.ok("compact f.esker --renumber always");
    assert!(said.contains("vertices: 1 removed vertex left out, the others renumbered"), "{said}");
    let after = place.json("info f.esker --json");
    assert_eq!(after["vertex_numbers"], numbers - 1);
    for same in ["vertices", "edges", "version", "ids"] {
        assert_eq!(after[same], before[same], "{same}");
    }
    place.ok("check f.esker");
    place.ok("run wcc f.esker --verify");
    place.fails(1, "neighbors f.esker alice", "alice");
    assert!(!place.path().join("f.esker/ids.columns").exists(), "layers have all ids");
    place.file("back.csv", "from,to,kind,since\nalice,bob,x,1\n");
    place.ok("add f.esker back.csv");
    assert_eq!(place.json("info f.esker --json")["vertex_numbers"], numbers);
    assert!(place.ok("neighbors f.esker alice").ends_with("\nalice   bob         1  x\n"));
    place.fails(2, "compact f.esker --renumber sometimes", "auto, always, never");
}

#[test]
fn versions_have_names_and_times_and_can_be_forgotten() {
    let place = friends();
    for i in 0..6 {
        place.file("one.csv", &format!("from,to,kind,since\nalice,v{i},x,{i}\n"));
        place.ok(&format!("add f.esker one.csv -m step{i}"));
    }
    assert_eq!(place.ok("tag f.esker 3 monday"), "monday: version 3\n");
    assert_eq!(place.ok("tag f.esker latest monday"), "monday: version 7 (was version 3)\n");
    place.ok("tag f.esker 2 early");
    assert_eq!(place.ok("tag f.esker"), "early   2\nmonday  7\n");
    assert_eq!(place.json("info f.esker --at early --json")["version"], 2);
    let time = place.json("log f.esker --json --at 4 --limit 1")["versions"][0]["time"].clone();
    let at = place.json(&format!("info f.esker --json --at {}", time.as_str().unwrap()))["version"].clone();
    assert!(at.as_u64().unwrap() >= 4, "the newest version at a time is not older than one of that time");
    assert_eq!(place.json("info f.esker --json --at 2999-01-01")["version"], 7);

    place.fails(2, "tag f.esker 3 2026-11-21", "could be mistaken for a time");
    place.fails(2, "tag f.esker 3 17", "version number");
    place.fails(2, "tag f.esker 3", "<NAME>");
    place.fails(1, "tag f.esker 99 x", "there are versions 1 to 7");
    place.fails(1, "tag f.esker --delete nothing", "nothing");
    place.fails(1, "info f.esker --at tuesday", "tags are early, monday");
    place.fails(1, "info f.esker --at 1999-01-01", "the oldest is version 1");
    place.fails(2, "info f.esker --at 2026-13-01", "is not a time");
    place.fails(2, "run wcc friends.csv --at 3", "files of edges have none");
    place.fails(1, "diff f.esker 1 99", "no version 99");

    assert_eq!(place.ok("forget f.esker 4"), "f.esker: forgot version 4, 6 left\n");
    place.fails(1, "info f.esker --at 4", "no version 4 any more: there are versions 1 to 3, 5 to 7");
    place.fails(1, "forget f.esker 7", "tag");
    place.fails(1, "forget f.esker early", "tag");
    assert_eq!(place.diff("3", "5").len(), 4);
    place.fails(2, "retain f.esker last", "last N");
    place.fails(2, "retain f.esker last 0", "1 or more");
    place.fails(2, "retain f.esker since yesterday", "is not a time");
    assert_eq!(place.ok("retain f.esker last 2"), "f.esker: retain last 2: 3 versions, 3 forgotten\n");
    assert_eq!(place.ok("retain f.esker"), "f.esker: retain last 2: 3 versions\n");
    place.ok("compact f.esker");
    let kept: Vec<u64> = place.json("log f.esker --json")["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["version"].as_u64().unwrap())
        .collect();
    assert_eq!(kept, [7, 6, 2]);
    assert_eq!(place.json("info f.esker --json --at 2")["edges"], 4);
    assert_eq!(place.json("check f.esker --json")["sound"], true);
    place.ok("tag f.esker --delete early");
    assert_eq!(place.ok("tag f.esker"), "monday  7\n");
}

#[test]
fn the_newest_version_can_be_forgotten() {
    let place = friends();
    place.fails(1, "forget f.esker 1", "the only version");
    for i in 2..5 {
        place.file("one.csv", &format!("from,to,kind,since\nalice,v{i},kind{i},{i}\n"));
        place.ok(&format!("add f.esker one.csv -m step{i}"));
    }
    let told = "f.esker: forgot version 4, 3 left; version 3 is now the newest\n";
    assert_eq!(place.ok("forget f.esker 4"), told);
    assert_eq!(place.json("info f.esker --json")["version"], 3);
    place.fails(1, "run bfs f.esker --source v4", "no vertex has the id");
    // Its number is not given to another, nor is what it did seen again.
    place.file("one.csv", "from,to,kind,since\nalice,v5,kind5,5\n");
    assert_eq!(place.json("add f.esker one.csv --json")["versions"][0], 5);
    assert_eq!(place.diff("3", "5"), ["+ alice v5 since=5 kind=kind5", "+ v5"]);
    place.fails(1, "info f.esker --at 4", "no version 4 any more");
    place.ok("compact f.esker");
    let forgotten = place.json("forget f.esker 5 3 --json");
    assert_eq!((&forgotten["versions"], &forgotten["newest"]), (&2.into(), &2.into()));
    assert_eq!(place.json("check f.esker --json")["sound"], true);
    assert_eq!(place.diff("1", "latest").len(), 2);
}

#[test]
fn changes_that_do_not_fit_are_refused_with_a_remedy() {
    let place = friends();
    place.file("bare.csv", "from,to\nalice,dan\n");
    place.file("many.csv", "from,to,kind,since\nalice,dan,x,many\n");
    place.file("big.csv", "from,to,kind,since\nalice,dan,x,3000000000\n");
    place.file("part.csv", "from,to,kind,since\na,b,x,1\na,c,x,oops\n");
    place.file("short.csv", "alice,dan,3\n");
    let cases = [
        (1, "add f.esker many.csv", "many.csv:2"),
        (1, "add f.esker part.csv", "part.csv:3"),
        (1, "add f.esker short.csv", "found 3 columns without names; name the ends with --src and --dst"),
        (2, "add f.esker friends.csv --property colour", "no edge property for --property colour"),
        (2, "add f.esker friends.csv --ids int", "leave --ids out"),
        (1, "add f.esker missing.csv", "missing.csv"),
        (2, "add f.esker", "<FILE>"),
        (2, "add f.esker friends.csv --batch 0", "--batch"),
        (1, "add nowhere.esker friends.csv", "nowhere.esker does not exist"),
        (1, "delete f.esker missing.csv", "missing.csv"),
        (1, "log nowhere.esker", "does not exist"),
        (2, "retain f.esker some", "give all, last N or since TIME"),
    ];
    for (code, line, fragment) in cases {
        place.fails(code, line, fragment);
    }
    assert_eq!(place.json("log f.esker --json")["versions"].as_array().unwrap().len(), 1);
    let report = place.json("add f.esker part.csv --bad-lines skip --json");
    assert_eq!((&report["rejected"], &report["changes"]["edges_added"]), (&1.into(), &1.into()));
    place.fails(
        1,
        "delete f.esker --vertices bare.csv --bad-lines skip",
        "\"from,to\": no vertex has this id",
    );
    let nothing = place.ok("delete f.esker --vertices bare.csv --new");
    assert!(nothing.contains("no changes"), "{nothing}");
    let type_of = || place.json("info f.esker --json")["edge_properties"][0]["type"].clone();
    assert_eq!(type_of(), "i32");
    place.ok("add f.esker big.csv");
    assert_eq!(type_of(), "i64", "a larger integer gives the property a wider type");
    place.ok("check f.esker");
}

#[test]
fn undirected_graphs_and_parallel_edges() {
    let place = Place::new();
    place.file("a.wel", "1 2 5\n2 3 5\n");
    place.file("b.wel", "3 2 7\n3 4 7\n");
    place.file("c.mtx", "%%MatrixMarket matrix coordinate real symmetric\n5 5 2\n2 1 9\n5 4 9\n");
    place.ok("import a.wel f.esker --undirected --order keep");
    place.ok("add f.esker b.wel");
    assert_eq!(place.diff("1", "2"), ["~ 2 3 weight=5 -> 7", "+ 3 4 weight=7", "+ 4"]);
    place.ok("add f.esker c.mtx");
    assert_eq!(place.diff("2", "3"), ["~ 1 2 weight=5 -> 9", "+ 4 5 weight=9", "+ 5"]);
    place.ok("import a.wel m.esker --duplicates keep");
    place.ok("add m.esker a.wel");
    assert_eq!(place.json("info m.esker --json")["edges"], 4);
    assert_eq!(place.ok("diff m.esker 1 2"), "+ 1 2 weight=5\n+ 2 3 weight=5\n");
    place.ok("delete m.esker a.wel");
    assert_eq!(place.json("info m.esker --json")["edges"], 0);
    place.file("half.wel", "1 2 0.1\n");
    place.ok("add m.esker half.wel");
    assert_eq!(
        place.json("info m.esker --json")["edge_properties"][0]["type"],
        "f64",
        "wide enough for the new value"
    );
    assert_eq!(place.ok("diff m.esker 3 4"), "+ 1 2 weight=0.1\n");
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_lost_log_is_refused_by_every_command_until_its_loss_is_accepted() {
    let place = friends();
    place.file("more.csv", "from,to,kind,since\ndan,alice,friend,9\n");
    place.ok("add f.esker more.csv");
    place.ok("tag f.esker 2 more");
    place.ok("add f.esker more.csv -m again");
    assert_eq!(
        place.ok("recover f.esker"),
        "f.esker: no version is missing; `esker check` compares all files, those of tiles and heads too\n"
    );
    let segments = std::fs::read_dir(place.path().join("f.esker/log")).unwrap();
    let segment = segments.map(|entry| entry.unwrap().path()).max().unwrap();
    std::fs::OpenOptions::new().write(true).open(&segment).unwrap().set_len(100).unwrap();
    place.fails(1, "info f.esker", &format!("f.esker/log/{} has only 100 bytes: ", name_of(&segment)));
    std::fs::remove_dir_all(place.path().join("f.esker/log")).unwrap();
    for line in ["log", "info", "tag", "retain", "options", "run wcc", "diff", "add", "check"] {
        let rest = match line {
            "diff" => " 1",
            "add" => " more.csv",
            _ => "",
        };
        let output = place.run(&format!("{line} f.esker{rest}"));
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains("f.esker/log/") && said.contains("version 3 may be lost"), "{line}: {said}");
        assert!(said.contains("`esker recover f.esker`"), "{line}: {said}");
    }
    let output = place.run("recover f.esker");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("version 2 would be the newest\nversion 3 would be lost\n"), "{said}");
    let said = place.ok("recover --accept-loss f.esker");
    assert!(said.contains("version 2 is the newest\nversion 3 is lost\n"), "{said}");
    assert_eq!(place.json("tag f.esker --json")["tags"], json!({ "more": 2 }));
    place.ok("check f.esker");
    assert!(place.ok("add f.esker more.csv").contains("version 4"), "a lost number is not used again");
}

#[test]
fn an_older_manifest_is_refused() {
    let place = friends();
    let manifest = place.path().join("f.esker/MANIFEST");
    place.ok("tag f.esker 1 first");
    let older = std::fs::read(&manifest).unwrap();
    place.ok("tag f.esker 1 second");
    place.file("more.csv", "from,to,kind,since\ndan,alice,friend,9\n");
    place.ok("add f.esker more.csv --freeze");
    std::fs::write(&manifest, older).unwrap();
    let checked = String::from_utf8(place.run("check f.esker").stdout).unwrap();
    assert!(checked.contains("PROBLEM: f.esker/MANIFEST has"), "{checked}");
    assert!(!checked.contains("the next writer removes"), "the layer is that of a lost record: {checked}");
    for line in ["tag f.esker", "info f.esker", "log f.esker", "options f.esker", "tag f.esker 1 third"] {
        place.fails(1, line, "f.esker/MANIFEST has");
    }
    place.ok("recover --accept-loss f.esker");
    let tags = place.json("tag f.esker --json");
    assert_eq!(tags["tags"], json!({ "first": 1, "second": 1 }), "the layer that came later knows all tags");
}

#[test]
fn a_time_to_come_is_said_and_so_is_what_is_left_out_of_a_list() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\n");
    place.file("script", "+ b c\n");
    let said = |line: &str| {
        let output = place.run(line);
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let told = "warning: the event time 2199-01-01T00:00:00Z is still to come";
    assert!(said("import a.csv late.esker --event-time 2199-01-01").contains(told));
    assert!(!said("import a.csv g.esker --event-time 2019-01-01").contains("warning"));
    assert!(said("commit g.esker script --event-time 2199-01-01").contains(told));
    let mut command = place.command("add g.esker a.csv --event-time 2199-01-01 -m");
    assert!(command.arg("first\nsecond").output().unwrap().status.success());
    assert!(place.ok("log g.esker").contains("first ..."));
    place.ok("tag g.esker 1 one");
    assert_eq!(place.ok("tag g.esker --delete one"), "one: deleted\n");
}

/// Layers of several removals are merged above the complete one, whose lists of at most 32 neighbours they
/// have whole. What the first version of a merged layer removed was in no difference.
#[test]
fn removals_are_differences_after_layers_were_merged() {
    const VERTICES: u64 = 6000;
    let place = Place::new();
    let edge = |v: u64, k: u64| format!("{v},{}\n", (v * 7 + k * 13) % VERTICES);
    let edges = (0..VERTICES).flat_map(|v| (1..9).map(move |k| edge(v, k)));
    place.file("g.csv", &format!("source,target\n{}", edges.collect::<String>()));
    place.ok("import g.csv g.esker --directed");
    place.ok("options g.esker --freeze-size 32KiB");
    let removed = 2..41_u64;
    let names = removed.clone().map(|version| {
        let name = format!("{version}.csv");
        let edges = (0..8).map(|at| edge(8 * version + at, 1)).collect::<String>();
        place.file(&name, &format!("source,target\n{edges}"));
        name
    });
    let names = names.collect::<Vec<_>>().join(" ");
    place.ok(&format!("delete g.esker {names} --each-file"));
    let layers = place.path().join("g.esker/layers").read_dir().expect("layers").count();
    assert!((2..10).contains(&layers), "{layers} layers: some are merged, above the complete one");
    for version in removed {
        let found = place.ok(&format!("diff g.esker {} {version}", version - 1));
        assert_eq!(found.lines().count(), 8, "of version {version}:\n{found}");
    }
}
