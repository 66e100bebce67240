//! `esker stream --op`: rows that say what happens to their edges.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::Place;

const ROWS: &str = "op,source,target,weight
insert,1,2,5
insert,2,3,5
delete,1,2,
+,1,2,6
UPDATE,2,3,7
d,8,9,
";

/// A database of edges with weights, and one edge that nothing changes.
fn place(options: &str) -> Place {
    let place = Place::new();
    place.file("first.csv", "source,target,weight\n4,5,1\n");
    place.ok(&format!("import first.csv g.esker {options}"));
    place
}

fn edges(place: &Place) -> Vec<String> {
    sorted(place.ok("export g.esker - --format csv").lines().skip(1).map(str::to_owned).collect())
}

fn report(place: &Place, line: &str) -> Value {
    serde_json::from_str(place.ok(line).lines().last().unwrap()).unwrap()
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(name)).unwrap()
}

const LEFT: [&str; 3] = ["1,2,6", "2,3,7", "4,5,1"];

#[test]
fn rows_insert_delete_and_update_edges_and_are_counted() {
    let place = place("--duplicates last");
    place.file("a.csv", ROWS);
    let said = place.ok("stream g.esker a.csv --op op");
    assert_eq!(edges(&place), LEFT);
    for fact in ["committed   6 edges", "removed     1 edge", "not found   1 edge to remove"] {
        assert!(said.contains(fact), "{said}");
    }
    // All of it was read, and what follows is taken alone.
    place.file("a.csv", &format!("{ROWS}remove,4,5,\nremove,4,5,1\n"));
    let found = report(&place, "stream g.esker a.csv --op op --json");
    let counts =
        ["passed_over", "committed", "removed", "not_found"].map(|name| found[name].as_u64().unwrap());
    assert_eq!(counts, [6, 2, 1, 1]);
    assert_eq!(edges(&place), LEFT[..2]);
    // Later files need no such column, and the database has no such property.
    place.file("b.csv", "source,target,weight\n4,5,1\n");
    place.ok("add g.esker b.csv");
    assert_eq!(edges(&place), LEFT);
}

#[test]
fn a_database_does_not_take_the_column_for_one_of_its_table() {
    let place = Place::new();
    place.ok("generate path g.esker --vertices 3");
    place.file("a.csv", "what,source,target\nadd,7,8\n-,0,1\n");
    place.ok("stream g.esker a.csv --op what");
    place.file("b.csv", "source,target\n8,9\n");
    place.ok("add g.esker b.csv");
    assert_eq!(sorted(edges(&place)), ["1,2", "7,8", "8,9"]);
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}

#[test]
fn tables_of_every_form_say_what_happens() {
    let place = place("--duplicates last");
    place.file("a.csv", ROWS);
    place.ok("import a.csv rows.esker --duplicates keep --property op --weight weight");
    let tabs = ROWS.replace(',', "\t");
    let bare: String = ROWS.lines().skip(1).map(|row| format!("{row}\n")).collect();
    let behind: String = bare
        .lines()
        .map(|row| row.split_once(',').unwrap())
        .map(|(op, rest)| format!("{rest},{op}\n"))
        .collect();
    place.file("a.tsv", &tabs);
    place.file("quoted.csv", &ROWS.replace("insert", "\"Insert\""));
    place.file("bare.csv", &bare);
    place.file("behind.csv", &behind);
    for (name, options) in [
        ("a.tsv", "--op op"),
        ("quoted.csv", "--op 1"),
        ("bare.csv", "--op 1 --src 2 --dst 3 --weight 4"),
        ("behind.csv", "--op 4"),
    ] {
        place.ok("import first.csv g.esker --duplicates last --force");
        place.ok(&format!("stream g.esker {name} {options}"));
        assert_eq!(edges(&place), LEFT, "{name}");
    }
    for form in ["parquet", "arrow"] {
        // Exports write edges by their vertices: an edge has one row here.
        place.file(
            "c.csv",
            "op,source,target,weight\ninsert,1,2,6\nU,2,3,7\ndelete,4,6,\n-,8,9,\nx,1,1,1\n,2,2,2\n",
        );
        place.ok("import c.csv rows.esker --property op --force");
        place.ok(&format!("export rows.esker c.{form}"));
        place.ok("import first.csv g.esker --duplicates last --force");
        place.ok(&format!("stream g.esker c.{form} --op op --rejects bad-{form}.csv"));
        assert_eq!(edges(&place), LEFT, "{form}");
        let bad = read(&place, &format!("bad-{form}.csv"));
        assert!(
            bad.contains("which is none of insert, add") && bad.contains("its \"\"op\"\" is missing"),
            "{bad}"
        );
    }
}

#[test]
fn rows_that_do_not_say_what_to_do_are_bad_lines() {
    let place = place("--duplicates keep");
    place.file(
        "a.csv",
        "source,target,weight,op\n1,2,5,insert\n1,3,5,upsert\n1,4,5,\n1,5,5,gone\n1,2,,delete\n",
    );
    place.fails(
        1,
        "stream g.esker a.csv --op op",
        "the rule for duplicates does not: --duplicates last does",
    );
    assert_eq!(edges(&place), ["1,2,5", "4,5,1"], "what came before is committed");
    let found = report(&place, "stream g.esker a.csv --op op --rejects bad.csv --json");
    assert_eq!((&found["rejected_lines"], &found["removed"]), (&3.into(), &1.into()));
    assert_eq!(edges(&place), ["4,5,1"]);
    let bad = read(&place, "bad.csv");
    for reason in
        ["the rule for duplicates does not", "its \"\"op\"\" is missing", "\"\"gone\"\", which is none of"]
    {
        assert!(bad.contains(reason), "{bad}");
    }
    // The rule of the stream decides, not that of the database.
    place.file("b.csv", "source,target,weight,op\n4,5,3,update\n");
    let place = self::place("--duplicates first");
    place.file("b.csv", "source,target,weight,op\n4,5,3,update\n");
    place.fails(1, "stream g.esker b.csv --op op", "--duplicates last does");
    place.ok("stream g.esker b.csv --op op --duplicates last");
    assert_eq!(edges(&place), ["4,5,3"]);
}

#[test]
fn a_removal_of_a_kind_leaves_the_others() {
    let place = Place::new();
    place.file("first.csv", "source,target,kind,weight\n1,2,road,1\n1,2,rail,1\n");
    for rule in ["last", "first", "sum", "min", "max", "keep"] {
        place.ok(&format!("import first.csv g.esker --kind kind --duplicates {rule} --force"));
        // In one version: the edge of a kind is added to, then another kind goes.
        place.file(
            &format!("{rule}-rows.csv"),
            "source,target,kind,weight,op\n1,2,road,4,+\n1,2,rail,,-\n1,2,air,,-\n1,2,,,-\n1,3,sea,2,+\n",
        );
        let line = format!("stream g.esker {rule}-rows.csv --op op --bad-lines skip --json");
        let found = report(&place, &line);
        let counts = ["removed", "not_found", "rejected_lines", "versions"].map(|name| found[name].as_u64());
        assert_eq!(counts, [1, 1, 1, 1].map(Some), "{rule}: {found}");
        let road = match rule {
            "last" | "max" => "1,2,4,road",
            "sum" => "1,2,5,road",
            _ => "1,2,1,road",
        };
        let mut wanted = vec![road, "1,3,2,sea"];
        wanted.extend((rule == "keep").then_some("1,2,4,road"));
        assert_eq!(sorted(edges(&place)), sorted(wanted.into_iter().map(str::to_owned).collect()), "{rule}");
    }
}

#[test]
fn what_is_no_table_and_columns_that_are_not_there_are_refused() {
    let place = place("--duplicates last");
    place.file("a.csv", ROWS);
    place.fails(2, "stream g.esker a.csv --op what", "there is no column \"what\"");
    place.fails(2, "stream g.esker a.csv --op weight", "what happens to edges is said in words");
    place.file("g.gml", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight 1 op \"d\" ] ]");
    place.fails(2, "stream g.esker g.gml --op op", "--op means nothing for a GML");
    place.file("g.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 3\n");
    place.fails(2, "stream g.esker g.mtx --op 3", "--op means nothing for a");
    assert_eq!(edges(&place), ["4,5,1"]);
}

/// Waits until `holds`; panics after a time that only a hanging command takes.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_stream_of_insertions_and_deletions_ends_with_the_same_edges() {
    let place = place("--duplicates keep");
    // Each edge comes twice, and half of them go 50 rows later.
    let mut text = "source,target,weight,op\n".to_owned();
    for i in 10..6_000_u64 {
        text += &format!("{i},{},1,+\n{i},{},2,add\n", i + 1, i + 1);
        if i >= 60 && i.is_multiple_of(2) {
            text += &format!("{},{},,delete\n", i - 50, i - 49);
        }
    }
    place.file("a.csv", &text);
    let rows = text.lines().count() - 1;
    let position = || {
        let log = place.json("log g.esker --json");
        let message = log["versions"].as_array().unwrap().iter().map(|v| v["message"].as_str().unwrap());
        let newest = message.filter(|message| message.contains("a.csv: ")).max_by_key(|message| {
            message.rsplit_once(": ").unwrap().1.split(' ').next().unwrap().parse::<usize>().unwrap()
        });
        newest.map_or(0, |message| {
            message.rsplit_once(": ").unwrap().1.split(' ').next().unwrap().parse::<usize>().unwrap()
        })
    };
    let mut kills = 0;
    while position() < rows && kills < 8 {
        let before = position();
        let line = "stream g.esker a.csv --op op --commit-every 150 --rate 15000/s";
        let child = place.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it commits", || position() > before);
        std::thread::sleep(Duration::from_millis(kills * 7 % 50));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        child.wait_with_output().unwrap();
        kills += 1;
    }
    assert!(kills >= 2, "it was killed in between");
    place.ok("stream g.esker a.csv --op op");
    let gone = |i: u64| i + 50 < 6_000 && i.is_multiple_of(2);
    let mut wanted = vec!["4,5,1".to_owned()];
    for i in (10..6_000).filter(|&i| !gone(i)) {
        wanted.extend([1, 2].map(|weight| format!("{i},{},{weight}", i + 1)));
    }
    assert_eq!(sorted(edges(&place)), sorted(wanted));
}

#[test]
fn a_pipe_and_followed_files_say_what_happens() {
    let place = place("--duplicates last");
    let mut child = place.command("stream g.esker - --op op").stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(ROWS.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(edges(&place), LEFT);
    place.file("log-1.csv", "source,target,weight,op\n7,8,1,i\n");
    place.file("log-2.csv", "op,source,target,weight\nd,7,8,\n");
    let line = "stream g.esker log-*.csv --op op --follow --commit-every 50ms";
    let child = place.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let path = place.path().join("log-2.csv");
    until("both files are read", || {
        let log = place.json("log g.esker --json").to_string();
        log.contains("log-1.csv: 1 edge") && log.contains("log-2.csv: 1 edge")
    });
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    file.write_all(b"-,4,5,\n").unwrap();
    until("the row is taken", || edges(&place) == LEFT[..2]);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}
