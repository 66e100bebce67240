//! Kinds of edges: what `--kind` reads is the graph of these edges alone.

use esker::graph::random::Random;

use crate::place::Place;

/// Edges between few vertices, of which many are parallel, with a kind each.
fn edges(seed: u64, count: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let mut next = |bound: u64| random.below(bound);
    let kinds = ["calls", "likes", "sends"];
    let row = |time| {
        let (u, v, weight, kind) = (next(9), next(9), 1 + next(5), kinds[next(3) as usize]);
        format!("{u},{v},{weight},{},{kind}\n", 100 + 10 * time)
    };
    (0..count).map(row).collect()
}

fn file(place: &Place, name: &str, rows: &[String], kinds: &[&str]) {
    let is_wanted = |row: &&String| kinds.iter().any(|kind| row.trim_end().ends_with(kind));
    let rows: String = rows.iter().filter(is_wanted).cloned().collect();
    place.file(name, &format!("source,target,weight,time,what\n{rows}"));
}

/// The rows of a run, in the order of the ids.
fn rows(place: &Place, line: &str) -> Vec<String> {
    let found = place.ok(&format!("run {line} -q -o -"));
    let mut rows: Vec<String> = found.lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(name)).unwrap()
}

const ALL: [&str; 3] = ["calls", "likes", "sends"];

/// A database of all kinds beside databases of one kind alone: in each version, encoding and direction the
/// view is that of the database of one kind.
#[test]
fn a_view_of_a_kind_is_the_graph_of_that_kind() {
    let stored = ["", "--encoding compressed", "--encoding tiles", "--encoding tiles --only --no-in-edges"];
    let rules = ["last", "sum", "min", "rows"];
    for (((place, encoding), rule), seed) in
        [0; 4].map(|_| Place::new()).iter().zip(stored).zip(rules).zip(7..)
    {
        let (first, later) = (edges(seed, 60), edges(seed + 100, 30));
        let undirected = if seed % 2 == 0 { "--undirected" } else { "" };
        let undirected = if encoding.contains("in-edges") { "" } else { undirected };
        let options = format!("--duplicates {rule} --order keep --time time {undirected}");
        for (name, kinds) in [("all", &ALL[..]), ("calls", &ALL[..1])] {
            file(place, &format!("{name}.csv"), &first, kinds);
            file(place, &format!("{name}2.csv"), &later, kinds);
            let how = if name == "all" { encoding } else { "" };
            let column = if name == "all" { "--kind" } else { "--property" };
            place.ok(&format!("import {name}.csv {name}.esker {options} {column} what {how}"));
            place.ok(&format!("add {name}.esker {name}2.csv --freeze"));
        }
        let source = first.iter().find(|row| row.contains("calls")).and_then(|row| row.split(',').next());
        let paths = format!("--source {}", source.unwrap());
        let compare = |algorithm: &str, version: u64| {
            let expected = rows(place, &format!("{algorithm} calls.esker --at {version}"));
            let found = rows(place, &format!("{algorithm} all.esker --at {version} --kind calls"));
            assert_eq!(found, expected, "{algorithm} of version {version}, {encoding} {rule}");
        };
        let choices: &[&str] =
            if undirected.is_empty() { &["", "--as-undirected", "--reverse"] } else { &[""] };
        for choice in choices {
            compare(&format!("degrees {choice}"), 1);
            compare(&format!("sssp {choice} {paths}"), 2);
        }
        place.ok("compact all.esker");
        for (access, choice) in ["--residency mapped", "--residency memory", ""].iter().zip(choices) {
            compare(&format!("degrees {choice} {access}"), 2);
        }
        for window in ["--window 200", "--window 300 --copies weighted"] {
            let window = format!("{window} --time-unit s --at 1970-01-01T00:09:00Z");
            let expected = rows(place, &format!("degrees calls.esker {window}"));
            assert_eq!(
                rows(place, &format!("degrees all.esker {window} --kind calls")),
                expected,
                "{window}"
            );
        }
        let series = "--length 200 --every 100 --time-unit s --from 100 --to 700 --format csv";
        let expected = place.ok(&format!("window wcc calls.esker {series}"));
        assert_eq!(place.ok(&format!("window wcc all.esker {series} --kind calls")), expected);
        // Two ways to say it.
        let said = ["--kind likes,calls", "--kind calls --kind likes", "--where what!=sends"];
        let found = said.map(|kinds| rows(place, &format!("wcc all.esker {kinds}")));
        assert!(found[0] == found[1] && found[1] == found[2], "{found:?}");
    }
}

#[test]
fn kinds_are_counted_listed_and_asked_about() {
    let place = Place::new();
    place.file("a.csv", "source,target,kind\nann,bob,likes\nann,bob,calls\nann,bob,likes\nbob,cid,calls\n");
    place.ok("import a.csv a.esker --kind kind");
    let info = place.json("info a.esker --json");
    assert_eq!(info["kinds"], serde_json::json!({ "calls": 2, "likes": 1 }));
    let shown = place.ok("info a.esker");
    assert!(shown.contains("kind (text, 2 distinct, kind)") && shown.contains("calls (2 edges)"), "{shown}");
    let csv = |line: &str| place.ok(&format!("{line} --format csv"));
    assert_eq!(csv("neighbors a.esker ann --kind likes"), "source,target,kind\nann,bob,likes\n");
    assert_eq!(csv("degree a.esker ann"), "vertex,out_degree,in_degree\nann,2,0\n");
    assert_eq!(csv("degree a.esker ann --kind calls"), "vertex,out_degree,in_degree\nann,1,0\n");
    assert_eq!(csv("get a.esker bob --kind likes"), "vertex,out_degree,in_degree\nbob,0,1\n");
    assert_eq!(csv("subgraph a.esker ann bob cid --kind calls").lines().count(), 3);
    assert_eq!(csv("subgraph a.esker ann --radius 2 --kind likes").lines().count(), 2);
    assert_eq!(csv("path a.esker ann cid --kind calls").lines().count(), 4);
    place.fails(1, "path a.esker ann cid --kind likes", "no path leads");
    place.fails(
        2,
        "run wcc a.esker --kind mails",
        "there is no kind of edges \"mails\" in version 1; there are calls, likes",
    );
    place.file("plain.csv", "source,target\n1,2\n");
    place.ok("import plain.csv plain.esker");
    place.fails(2, "run wcc plain.esker --kind mails", "have no kinds: import them with --kind");
    place.fails(2, "import a.csv b.esker --kind color", "color");
    place.file("empty.csv", "source,target,kind\n1,2,a\n1,2,\n");
    place.fails(
        1,
        "import empty.csv b.esker --kind kind",
        "empty.csv:3: the edge has no kind, as its \"kind\" is missing; give such edges one with --default kind=KIND",
    );
    place.file("quoted.csv", "source,target,kind\n1,2,a\n1,2,\"\"\n");
    place.fails(
        1,
        "import quoted.csv b.esker --kind kind",
        "some edges have no \"kind\", which is their kind",
    );
    place.file("empty.txt", "+ ann bob kind=\"\"\n");
    place.fails(1, "commit a.esker empty.txt", "an edge needs a kind");
    place.ok("export a.esker likes.csv --kind likes");
    let said = |line: &str| String::from_utf8_lossy(&place.run(line).stderr).into_owned();
    assert!(said("export a.esker all.csv").contains("import it with --kind kind"));
    assert!(!said("export a.esker likes.csv --kind likes --force").contains("parallel"));
    assert_eq!(read(&place, "likes.csv"), "source,target,kind\nann,bob,likes\n");
    // Deletion of one kind, and of all; a script that changes an edge of a kind.
    place.file("gone.csv", "source,target,kind\nann,bob,calls\n");
    place.ok("delete a.esker gone.csv --property kind");
    assert_eq!(place.ok("diff a.esker 1"), "-1 ann bob kind=calls\n");
    assert_eq!(place.ok("diff a.esker 1 --kind likes"), "");
    assert_eq!(place.json("diff a.esker 1 --kind calls --json")["summary"]["edges_removed"], 1);
    place.file("pairs.csv", "source,target\nann,bob\n");
    place.ok("delete a.esker pairs.csv");
    assert_eq!(place.json("info a.esker --json")["kinds"], serde_json::json!({ "calls": 1 }));
}

/// A kind that an earlier version lacks, on all doors that read several versions; and differences that show
/// only edges of it.
#[test]
fn a_kind_may_be_that_of_some_versions_only() {
    for rule in ["keep", "last"] {
        let place = Place::new();
        place.file("a.csv", "source,target,w,kind\n1,2,1,a\n2,1,2,a\n");
        place.ok(&format!("import a.csv a.esker --property all --kind kind --duplicates {rule}"));
        place.file("script", "- 1 2\n+ 1 2 w=5 kind=b\n");
        place.ok("commit a.esker script");
        assert_eq!(place.ok("diff a.esker 1 2 --kind a"), "-1 1 2 w=1 kind=a\n");
        assert_eq!(place.ok("diff a.esker 1 2 --kind b"), "+ 1 2 w=5 kind=b\n");
        assert_eq!(place.ok("diff a.esker 2 1 --kind b"), "-1 1 2 w=5 kind=b\n");
        assert_eq!(place.ok("diff a.esker 1 2 --where w>=5"), "+ 1 2 w=5 kind=b\n");
        assert_eq!(place.ok("diff a.esker 1 2 --where kind=b"), "+ 1 2 w=5 kind=b\n");
        assert_eq!(place.json("diff a.esker 1 2 --kind a --json")["summary"]["edges_added"], 0);
        for versions in ["--each-version", "--versions 1..2"] {
            let found = place.ok(&format!("run wcc a.esker {versions} --kind b --format csv"));
            assert_eq!(found.lines().count(), 3, "{found}");
            place.fails(
                2,
                &format!("run wcc a.esker {versions} --kind c"),
                "in versions 1 and 2; there are a, b",
            );
        }
        let followed = place.ok("follow degrees a.esker --from 1 --once --kind b --format csv -q");
        assert_eq!(followed, "version,vertex,old,new\n2,1,,1\n2,2,,0\n");
        place.fails(2, "follow degrees a.esker --from 1 --once --kind c", "there is no kind of edges");
        let said =
            String::from_utf8_lossy(&place.run("run wcc a.esker --at 1 --where kind=b").stderr).into_owned();
        assert!(said.contains("no edge of version 1 has the text \"b\" as its kind"), "{said}");
    }
}

#[test]
fn each_kind_may_have_a_file() {
    let place = Place::new();
    place.file("follows.csv", "source,target,weight,at\nann,bob,1,7\nann,bob,2,8\nbob,cid,3,9\n");
    place.file("likes.tsv", "at\tweight\ttarget\tsource\n5\t4\tbob\tann\n");
    let files = "--kind follows=follows.csv --kind likes=likes.tsv --property at";
    place.ok(&format!("import a.esker {files} --duplicates sum"));
    assert_eq!(place.json("info a.esker --json")["kinds"], serde_json::json!({ "follows": 2, "likes": 1 }));
    assert_eq!(
        place.ok("neighbors a.esker ann --format csv"),
        "source,target,weight,at,kind\nann,bob,3,7,follows\nann,bob,4,5,likes\n"
    );
    let matrix = |values: [u8; 2]| {
        let [a, b] = values;
        format!("%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 {a}\n1 2 {b}\n")
    };
    place.file("x.mtx", &matrix([3, 4]));
    place.file("y.mtx", &matrix([5, 6]));
    place.ok("import sums.esker --kind x=x.mtx --kind y=y.mtx");
    assert_eq!(
        place.ok("neighbors sums.esker 1 --format csv"),
        "source,target,weight,kind\n1,2,7,x\n1,2,11,y\n"
    );
    place.file("ints.csv", "source,target\n1,2\n");
    place.fails(2, "import b.esker --kind a=follows.csv --kind b=ints.csv", "differ in their ids");
    place.fails(
        2,
        "import b.esker --kind a=follows.csv --kind b=ints.csv --ids text",
        "differ in the properties",
    );
    place.fails(2, "import follows.csv b.esker --kind a=likes.tsv", "names the files");
    place.fails(2, "import b.esker --kind a=likes.tsv --kind at", "once with a column, or for each kind");
    let stops = place.run("import b.esker --kind a=follows.csv --kind b=bad.csv");
    assert!(String::from_utf8_lossy(&stops.stderr).contains("bad.csv"));
}

/// A script from `esker diff`, committed to a copy, makes the same graph, whatever the rule.
#[test]
fn differences_of_kinds_are_replayed() {
    for rule in ["last", "first", "sum", "min", "max", "rows", "keep"] {
        let place = Place::new();
        let (first, later) = (edges(3, 50), edges(4, 30));
        file(&place, "a.csv", &first, &ALL);
        file(&place, "more.csv", &later, &ALL);
        for copy in ["a", "b"] {
            place.ok(&format!("import a.csv {copy}.esker --kind what --time time --duplicates {rule}"));
        }
        place.ok("add a.esker more.csv");
        let script = place.ok("diff a.esker 1");
        place.file("script.txt", &script);
        place.ok("commit b.esker script.txt");
        let exported = |name: &str| {
            place.ok(&format!("export {name}.esker {name}-out.csv --force"));
            let mut lines: Vec<String> =
                read(&place, &format!("{name}-out.csv")).lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(exported("b"), exported("a"), "{rule}");
        place.file("back.txt", &place.ok("diff a.esker 2 1"));
        place.ok("commit b.esker back.txt");
        assert_eq!(place.ok("diff b.esker 1"), "", "{rule}");
        assert!(script.is_empty() || !exported("a").is_empty());
    }
    let place = Place::new();
    place.file("a.csv", "source,target,weight,what\n1,2,5,calls\n1,2,6,likes\n");
    place.ok("import a.csv a.esker --kind what --duplicates sum");
    place.file("change.txt", "~ 1 2 what=calls weight=9\n");
    place.ok("commit a.esker change.txt");
    assert_eq!(place.ok("diff a.esker 1"), "-1 1 2 weight=5 what=calls\n+ 1 2 weight=9 what=calls\n");
    for (line, told) in [
        ("~ 1 2 weight=9", "does not say how many"),
        ("~ 1 2 weight=9 -> 7 what=calls -> likes", "the kind of an edge cannot change"),
        ("- 1 2 what=calls -> likes", "the kind of an edge cannot change"),
        ("+2 1 2 weight=1 what=calls -> likes", "the kind of an edge cannot change"),
    ] {
        place.file("change.txt", &format!("{line}\n"));
        place.fails(1, "commit a.esker change.txt", told);
    }
}

/// Files of one kind each could be imported so, but neither added nor synced.
#[test]
fn files_of_one_kind_each_are_added_deleted_and_synced() {
    let place = Place::new();
    place.file("follows.csv", "source,target,since\na,b,1\nb,c,2\n");
    place.file("likes.csv", "since,target,source\n3,b,a\n");
    place.file("all.csv", "source,target,since,what\na,b,1,follows\nb,c,2,follows\na,b,3,likes\n");
    place.ok("import --kind follows=follows.csv --kind likes=likes.csv --property since g.esker");
    let edges = |database: &str| {
        let rows = place.ok(&format!("edges {database} --format csv -q"));
        let mut lines: Vec<&str> = rows.lines().collect();
        lines[1..].sort_unstable();
        lines.join("\n") + "\n"
    };
    let all = edges("g.esker");
    assert_eq!(all.matches("likes").count(), 1, "{all}");
    place.ok("sync g.esker --kind follows=follows.csv --kind likes=likes.csv");
    assert_eq!(place.json("info g.esker --json")["version"], 1);
    place.ok("sync g.esker --kind follows=follows.csv");
    assert!(!edges("g.esker").contains("likes"));
    place.ok("add g.esker --kind likes=likes.csv --kind follows=follows.csv");
    assert_eq!(edges("g.esker"), all);
    place.ok("delete g.esker --kind follows=follows.csv");
    assert_eq!(edges("g.esker"), "source,target,since,kind\na,b,3,likes\n");
    assert!(place.ok("log g.esker").contains("delete follows.csv"));
    // The property of kinds may have any name.
    place.ok("import all.csv h.esker --kind what --property since");
    place.ok("sync h.esker --kind likes=likes.csv");
    assert_eq!(edges("h.esker"), "source,target,since,what\na,b,3,likes\n");
    place.ok("import follows.csv none.esker");
    place.fails(2, "add none.esker --kind likes=likes.csv", "have no kinds");
    place.fails(2, "add h.esker all.csv --kind likes=likes.csv", "cannot be used with");
    place.fails(2, "sync h.esker --kind likes", "is not KIND=FILE");
    place.fails(2, "sync h.esker none.csv --rejects h.esker/bad.csv", "lies in the database itself");
}

/// The reader of vertices was given to each kind, and its thread died: nothing was added, with exit code 0.
#[test]
fn vertices_go_beside_files_of_one_kind_each() {
    let place = Place::new();
    place.file("f.csv", "source,target,w\na,b,1\nb,c,2\n");
    place.file("l.csv", "source,target,w\na,b,5\nc,d,6\n");
    place.file("v.csv", "id,age\na,5\nlone,6\n");
    place.ok("import z.esker --kind follows=f.csv --kind likes=l.csv --vertices v.csv --property w");
    let info = place.json("info z.esker --json");
    assert_eq!((info["vertices"].as_u64(), info["edges"].as_u64()), (Some(5), Some(4)), "{info}");
    assert!(place.ok("get z.esker lone").contains("age"));
    // Changes of one and of the other are commands of their own.
    place.file("m.csv", "source,target\na,b\n");
    place.file("ids.csv", "lone\n");
    for line in [
        "add z.esker --kind likes=l.csv --vertices v.csv",
        "delete z.esker --kind likes=m.csv --vertices ids.csv",
        "delete z.esker --kind likes=m.csv --ids-from ids.csv",
        "sync z.esker --kind likes=l.csv --vertices v.csv",
    ] {
        place.fails(2, line, "change the vertices by themselves");
    }
    assert_eq!(place.json("info z.esker --json")["version"], 1);
}

/// A kind that no edge ever had is a slip of the pen at every door: `delete` made an empty version of it, and
/// `add` a new kind.
#[test]
fn an_unknown_kind_is_refused_wherever_one_is_named() {
    let place = Place::new();
    place.file("all.csv", "source,target,since,what\na,b,1,follows\nb,c,2,likes\n");
    place.file("new.csv", "source,target,since\na,c,4\n");
    place.file("gone.csv", "source,target,what\na,b,hates\n");
    place.file("none.csv", "source,target,what\na,b,\n");
    place.file("gone.txt", "- a b what=hates\n");
    for rule in ["keep", "rows", "last", "sum"] {
        let weight = if rule == "sum" { "--weight since" } else { "--property since" };
        place.ok(&format!("import all.csv g.esker --kind what --duplicates {rule} {weight} --force"));
        let known = "there is no kind of edges \"hates\" in";
        for line in [
            "delete g.esker --kind hates=new.csv",
            "delete g.esker --kind follows=new.csv --kind hates=new.csv",
            "delete g.esker --kind hates=new.csv --each-file",
            "delete g.esker --kind hates=new.csv --rejects bad.csv",
            "add g.esker --kind hates=new.csv",
            "add g.esker --kind likes=new.csv --kind hates=new.csv",
            "sync g.esker --kind hates=new.csv",
            "run wcc g.esker --kind hates",
            "estimate wcc g.esker --kind hates",
            "follow degrees g.esker --once --kind hates",
            "window wcc g.esker --time since --time-unit s --length 1 --kind hates",
            "get g.esker a --kind hates",
            "degree g.esker --kind hates",
            "neighbors g.esker a --kind hates",
            "edges g.esker --kind hates",
            "path g.esker a b --kind hates",
            "subgraph g.esker a --kind hates",
            "draw g.esker --kind hates -o g.svg",
            "plot degrees g.esker --kind hates -o g.svg",
            "export g.esker out.csv --kind hates",
            "diff g.esker 1 1 --kind hates",
        ] {
            let told = String::from_utf8_lossy(&place.run(line).stderr).into_owned();
            assert!(told.contains(known) && told.contains("follows, likes"), "{line}: {told}");
            place.fails(2, line, known);
        }
        place.fails(1, "delete g.esker gone.csv", known);
        place.fails(1, "delete g.esker gone.csv --new", known);
        place.fails(1, "delete g.esker none.csv", "there is no kind of edges \"\" in");
        place.fails(1, "commit g.esker gone.txt", known);
        place.fails(2, "add g.esker --kind hates=new.csv", "use --new-kinds to begin a new kind");
        assert_eq!(place.json("info g.esker --json")["version"], 1);
        // One that is known may have no such edge; a new one is begun on purpose.
        place.ok("delete g.esker --kind likes=new.csv");
        place.ok("add g.esker --kind hates=new.csv --new-kinds");
        place.ok("sync g.esker --kind hates=new.csv --kind loves=new.csv --new-kinds");
        assert_eq!(place.json("info g.esker --json")["kinds"], serde_json::json!({ "hates": 1, "loves": 1 }));
        place.ok("delete g.esker gone.csv --new");
        place.fails(2, "add g.esker new.csv --new-kinds", "cannot be used with");
    }
    // The first kinds of a database are new of necessity.
    place.file("empty.csv", "source,target,since,what\n");
    place.ok("import empty.csv e.esker --kind what --property since --ids text");
    place.ok("add e.esker --kind follows=new.csv");
    place.fails(2, "add e.esker --kind hates=new.csv", "there are follows");
}

#[test]
fn deletion_says_which_rows_it_rejects() {
    let help = Place::new().ok("delete --help");
    let text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("name unknown kinds, or without --new vertices that do not exist"), "{help}");
    assert!(text.contains("and delete what the others name"), "{help}");
}

/// One slip of the pen in a file does not keep the other rows from being deleted.
#[test]
fn rows_of_unknown_kinds_are_rejected_like_others() {
    let place = Place::new();
    place.file("a.csv", "source,target,kind\n1,2,follows\n2,3,likes\n3,1,likes\n");
    place.file("gone.csv", "source,target,kind\n1,2,follows\n2,3,lieks\n3,1,likes\n");
    place.ok("import gone.csv table.esker --kind kind");
    place.ok("export table.esker gone.parquet");
    for (file, flag) in [("gone.csv", ""), ("gone.parquet", ""), ("gone.csv", " --new")] {
        place.ok("import a.csv g.esker --kind kind --force");
        place.fails(1, &format!("delete g.esker {file}{flag}"), "there is no kind of edges \"lieks\"");
        place.ok(&format!("delete g.esker {file} --rejects bad.csv --json{flag}"));
        let bad = std::fs::read_to_string(place.path().join("bad.csv")).unwrap();
        assert_eq!(bad.lines().count(), 2, "{bad}");
        assert!(
            bad.contains("there is no kind of edges \"\"lieks\"\" in g.esker; there are follows, likes"),
            "{bad}"
        );
        assert_eq!(
            place.ok("edges g.esker --format csv -q").lines().skip(1).collect::<Vec<_>>(),
            ["2,3,likes"]
        );
        std::fs::remove_file(place.path().join("bad.csv")).unwrap();
    }
}
