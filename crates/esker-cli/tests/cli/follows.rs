//! Answers that follow the versions of a database: `follow`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use esker::graph::random::Random;

use crate::place::{Place, limited};

fn graph() -> Place {
    let place = Place::new();
    place.file("a.csv", "from,to\nann,bob\nbob,cid\ndan,eve\n");
    place.ok("import a.csv g.esker");
    place
}

fn edge(place: &Place, verb: &str, from: &str, to: &str) {
    place.file("one.csv", &format!("from,to\n{from},{to}\n"));
    place.ok(&format!("{verb} g.esker one.csv"));
}

fn start(place: &Place, line: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
    command.args(line.split(' ')).current_dir(place.path());
    limited(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

fn read_line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line
}

#[test]
fn commits_of_other_processes_are_followed_until_a_signal() {
    let place = graph();
    let mut child = start(&place, "follow wcc g.esker");
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("following wcc from version 1: components 2"), "{line}");
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    let mut read = || read_line(&mut shown);
    edge(&place, "add", "cid", "dan");
    assert_eq!(read(), "{\"new\":\"ann\",\"old\":\"dan\",\"version\":2,\"vertex\":\"dan\"}\n");
    assert_eq!(read(), "{\"new\":\"ann\",\"old\":\"dan\",\"version\":2,\"vertex\":\"eve\"}\n");
    // The layers are replaced between the commits.
    place.ok("compact g.esker");
    edge(&place, "delete", "dan", "eve");
    assert_eq!(read(), "{\"new\":\"eve\",\"old\":\"ann\",\"version\":3,\"vertex\":\"eve\"}\n");
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    line.clear();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("followed 2 versions"), "{line}");
}

#[test]
fn an_undone_version_is_taken_back_whether_it_is_noticed_at_once_or_after_the_next_commit() {
    let place = graph();
    let mut child = start(&place, "follow wcc g.esker --quiet");
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    let mut read = || read_line(&mut shown);
    edge(&place, "add", "cid", "dan");
    assert_eq!(read(), "{\"new\":\"ann\",\"old\":\"dan\",\"version\":2,\"vertex\":\"dan\"}\n");
    read();
    place.ok("forget g.esker 2");
    assert_eq!(read(), "{\"new\":\"dan\",\"old\":\"ann\",\"version\":1,\"vertex\":\"dan\"}\n");
    read();
    edge(&place, "add", "eve", "fay");
    assert_eq!(read(), "{\"new\":\"dan\",\"old\":null,\"version\":3,\"vertex\":\"fay\"}\n");
    // Version 3 is undone and another comes while the follower stands still.
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::STOP).unwrap();
    place.ok("forget g.esker 3");
    edge(&place, "add", "ann", "gus");
    rustix::process::kill_process(id, rustix::process::Signal::CONT).unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(
        said.contains("version 3, which added vertices, is not part of the history of version 4"),
        "{said}"
    );
}

#[test]
fn what_each_version_changed_is_told_from_any_version_on() {
    let place = graph();
    edge(&place, "add", "cid", "dan");
    edge(&place, "add", "fay", "gus");
    edge(&place, "delete", "ann", "bob");
    let rows = place.ok("follow wcc g.esker --from 1 --once --format csv");
    assert_eq!(
        rows,
        "version,vertex,old,new\n2,dan,dan,ann\n2,eve,dan,ann\n3,fay,,fay\n3,gus,,fay\n\
         4,bob,ann,bob\n4,cid,ann,bob\n4,dan,ann,bob\n4,eve,ann,bob\n"
    );
    let table = place.ok("follow wcc g.esker --from 3 --once");
    assert_eq!(table.lines().next().map(str::trim), Some("version  vertex  old  new"), "{table}");
    let top = place.ok("follow wcc g.esker --from 1 --once --top 1 --format csv");
    // The third version leaves the largest component as it is.
    assert_eq!(top, "version,component,vertices\n1,ann,3\n2,ann,5\n4,bob,4\n");
    let steps = place.ok("follow bfs g.esker -p source=ann --from 1 --once --format csv");
    assert_eq!(
        steps, "version,vertex,old,new\n2,dan,,3\n2,eve,,4\n4,bob,1,\n4,cid,2,\n4,dan,3,\n4,eve,4,\n",
        "what cannot be reached any longer has no value"
    );
    let ranks = place.ok("follow pagerank g.esker -p tolerance=1e-9 --once --top 2 --format csv");
    let expected = place.ok("run pagerank g.esker --tolerance 1e-12 --top 2 --output -");
    for (row, expected) in ranks.lines().skip(1).zip(expected.lines().skip(1)) {
        let (fields, expected): (Vec<&str>, Vec<&str>) =
            (row.split(',').collect(), expected.split(',').collect());
        let [found, expected_rank] = [fields[2], expected[1]].map(|rank| rank.parse::<f64>().unwrap());
        assert!(fields[1] == expected[0] && (found - expected_rank).abs() < 1e-9, "{row}");
    }
    let figures = place.ok("follow triangles g.esker --from 3 --once --format csv");
    assert_eq!(figures, "version,triangles\n3,0\n");
    place.fails(2, "follow bfs g.esker", "bfs needs -p source=ID: ");
    place.fails(2, "follow wcc g.esker --format table", "--once");
    place.fails(2, "follow nothing g.esker", "nothing");
    place.fails(2, "follow wcc g.esker --every 1h", "--window");
    place.fails(2, "follow wcc g.esker --copies distinct", "--window");
    place.fails(2, "follow wcc g.esker --window 1h", "no edge property can hold times");
}

#[test]
fn a_top_that_has_no_rows_any_longer_is_a_row_without_values() {
    let place = Place::new();
    place.file("a.csv", "from,to\nann,bob\n");
    place.ok("import a.csv g.esker");
    place.file("none.csv", "id\nann\nbob\n");
    place.ok("delete g.esker --vertices none.csv");
    let top = place.ok("follow pagerank g.esker --from 1 --once --top 1 --format csv");
    let lines: Vec<&str> = top.lines().collect();
    assert!(lines.len() == 3 && lines[1].starts_with("1,") && lines[2] == "2,,", "{top}");
}

#[test]
fn a_live_answer_ends_where_vertices_were_renumbered() {
    let place = Place::new();
    place.file("a.csv", "from,to\nann,bob\nbob,cid\n");
    place.ok("import a.csv g.esker");
    let mut child = start(&place, "follow wcc g.esker");
    let mut said = BufReader::new(child.stderr.take().unwrap());
    read_line(&mut said);
    place.file("gone.csv", "id\nann\n");
    place.ok("retain g.esker last 1");
    place.ok("delete g.esker --vertices gone.csv");
    place.ok("compact g.esker");
    edge(&place, "add", "cid", "dan");
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("a compaction renumbered the vertices of g.esker"), "{rest}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn weights_of_a_wider_type_change_no_distance_that_stays() {
    let place = Place::new();
    place.file("a.csv", "from,to,weight\nann,bob,2\nbob,cid,3\n");
    place.ok("import a.csv g.esker --directed");
    place.file("b.csv", "from,to,weight\nann,cid,2.5\n");
    let mut child = start(&place, "follow sssp g.esker -p source=ann");
    let mut said = BufReader::new(child.stderr.take().unwrap());
    read_line(&mut said);
    place.ok("add g.esker b.csv");
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(read_line(&mut shown), "{\"new\":2.5,\"old\":5,\"version\":2,\"vertex\":\"cid\"}\n");
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    child.wait().unwrap();
}

/// A stream of three commits: edges at 10 and 20, at 70, and at 130.
fn timed() -> Place {
    let place = Place::new();
    place.file("a.csv", "from,to,time\nann,bob,10\nbob,cid,20\n");
    place.ok("import a.csv t.esker --directed --time time --duplicates keep");
    for (from, to, time) in [("cid", "dan", 70), ("dan", "eve", 130)] {
        place.file("one.csv", &format!("from,to,time\n{from},{to},{time}\n"));
        place.ok("add t.esker one.csv");
    }
    place
}

#[test]
fn a_window_is_followed_as_it_moves() {
    let place = timed();
    let rows = place.ok("follow wcc t.esker --window 60 --time-unit s --from 1 --once --format csv");
    // (-40, 20], then (10, 70], then (70, 130].
    let [first, second] = ["1970-01-01T00:01:10Z", "1970-01-01T00:02:10Z"];
    let expected = format!(
        "version,until,vertex,old,new\n2,{first},ann,ann,\n2,{first},bob,ann,bob\n2,{first},cid,ann,bob\n\
         2,{first},dan,,bob\n3,{second},bob,bob,\n3,{second},cid,bob,\n3,{second},dan,bob,dan\n\
         3,{second},eve,,dan\n"
    );
    assert_eq!(rows, expected);
    let top =
        place.ok("follow pagerank t.esker --window 60 --time-unit s --from 1 --once --top 2 --format csv");
    let newest: Vec<&str> = top.lines().filter_map(|line| line.strip_prefix("3,")).collect();
    let expected =
        place.ok("run pagerank t.esker --window 60 --time-unit s --top 2 --tolerance 1e-12 --output -");
    let expected: Vec<String> = expected.lines().skip(1).map(|row| format!("{second},{row}")).collect();
    assert_eq!(newest.len(), 2);
    for (row, expected) in newest.iter().zip(&expected) {
        let [(vertex, rank), (wanted, exact)] = [*row, &**expected].map(|row| row.rsplit_once(',').unwrap());
        let [rank, exact]: [f64; 2] = [rank, exact].map(|rank| rank.parse().unwrap());
        // What the default tolerance allows for all ranks together.
        assert!(vertex == wanted && (rank - exact).abs() < 1e-6, "{row}, not {expected}");
    }
}

/// Conditions are those of each version's window, not of the first alone.
#[test]
fn a_window_that_is_followed_keeps_its_conditions() {
    let place = Place::new();
    place.file(
        "w.csv",
        "source,target,time,kind,w\n1,2,1700000000,a,1\n2,3,1700000001,b,5\n3,4,1700000002,a,7\n",
    );
    place.ok("import w.csv w.esker --time time --property all --kind kind");
    place.file("script", "+ 5 6 time=1700000003 kind=a w=1");
    place.ok("commit w.esker script");
    for algorithm in ["degrees", "kcore", "leiden --as-undirected"] {
        for chosen in ["--where w>=5", "--kind b"] {
            for window in ["", "--copies weighted", "--every-edges 1"] {
                let chosen = format!("--window 1h {window} {chosen}");
                let line = format!("follow {algorithm} w.esker {chosen} --once --format csv -q --from");
                let vertices = |from: &str| {
                    let rows = place.ok(&format!("{line} {from} --initial"));
                    let newest = rows.lines().filter(|row| row.starts_with("2,"));
                    newest.map(|row| row.split(',').nth(2).unwrap().to_owned()).collect::<Vec<_>>()
                };
                // The edge that came meets neither condition.
                assert_eq!(vertices("1"), [""; 0], "{algorithm} {chosen}");
                assert!(!vertices("2").is_empty(), "{algorithm} {chosen}");
            }
        }
    }
}

#[test]
fn a_window_that_moves_in_steps_stays_until_its_end_has_passed() {
    let place = timed();
    let rows = place.ok(
        "follow wcc t.esker --window 60 --every 60 --time-unit s --all-vertices --from 1 --once --format csv",
    );
    // Ends at 0, at 60 once 70 has come, and at 120 once 130 has.
    let ends: Vec<&str> = rows.lines().skip(1).map(|row| row.split(',').nth(1).unwrap()).collect();
    assert!(ends.contains(&"1970-01-01T00:01:00Z") && ends.contains(&"1970-01-01T00:02:00Z"), "{rows}");
    place.file("one.csv", "from,to,time\nann,eve,140\n");
    place.ok("add t.esker one.csv");
    let same = place.ok(
        "follow wcc t.esker --window 60 --every 60 --time-unit s --all-vertices --from 3 --once --format csv",
    );
    assert_eq!(same, "", "the end at 180 has not passed");
}

#[test]
fn degrees_and_the_largest_of_them_are_followed() {
    let place = graph();
    edge(&place, "add", "cid", "dan");
    edge(&place, "add", "cid", "eve");
    edge(&place, "delete", "cid", "dan");
    let rows = place.ok("follow degrees g.esker --from 1 --once --format csv");
    assert_eq!(rows, "version,vertex,old,new\n2,cid,0,1\n3,cid,1,2\n4,cid,2,1\n");
    let top = place.ok("follow degrees g.esker -p direction=in --from 1 --once --top 2 --format csv");
    // Versions that leave the first rows as they are print none.
    assert_eq!(top, "version,vertex,value\n1,bob,1\n1,cid,1\n3,eve,2\n3,bob,1\n");
    let said = place.run("follow degrees g.esker --from 1 --once").stderr;
    assert!(!String::from_utf8_lossy(&said).contains("anew at each step"));
    place.fails(2, "follow degrees g.esker -p direction=up", "direction");
}

#[test]
fn any_algorithm_is_followed_and_says_that_it_is_computed_anew() {
    let place = graph();
    edge(&place, "add", "cid", "dan");
    let said = place.run("follow kcore g.esker --from 1 --once").stderr;
    assert!(!String::from_utf8_lossy(&said).contains("anew at each step"));
    let done = place.run("follow cdlp g.esker --from 1 --once");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("computed anew at each step"), "{said}");
    place.fails(2, "follow forest g.esker", "answers with edges and cannot be followed");
}

#[test]
fn answers_on_edges_without_their_directions_are_followed() {
    let place = timed();
    // The state of the directed graph is not taken for the other's.
    place.ok("follow kcore t.esker --once --keep");
    for rest in ["", "--window 60 --time-unit s"] {
        for algorithm in ["kcore", "matching"] {
            let line = format!(
                "follow {algorithm} t.esker --as-undirected {rest} --keep --once --initial --format csv"
            );
            let done = place.run(&line);
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.success() && said.contains("computed anew at each step"), "{said}");
            let rows = String::from_utf8(done.stdout).unwrap();
            let followed: Vec<String> = rows
                .lines()
                .skip(1)
                .map(|row| {
                    let fields: Vec<&str> = row.split(',').collect();
                    format!("{},{}", fields[fields.len() - 3], fields[fields.len() - 1])
                })
                .collect();
            let run = place.ok(&format!("run {algorithm} t.esker --as-undirected {rest} --output -"));
            let expected: Vec<&str> = run.lines().skip(1).filter(|row| !row.ends_with(',')).collect();
            assert!(!expected.is_empty());
            assert_eq!(followed, expected, "{line}");
        }
    }
    let rows = place.ok("follow kcore t.esker --as-undirected --from 1 --once --format csv");
    assert_eq!(rows, "version,vertex,old,new\n2,dan,,1\n3,eve,,1\n");
    place.fails(1, "follow matching t.esker", "--as-undirected");
}

#[test]
fn the_first_values_are_printed_on_request_and_what_is_no_database_is_named() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\nc,d\n");
    place.file("b.csv", "source,target\nb,c\n");
    place.ok("import a.csv g.esker");
    place.ok("add g.esker b.csv");
    let rows = place.ok("follow wcc g.esker --from 1 --once --format csv");
    assert_eq!(rows, "version,vertex,old,new\n2,c,c,a\n2,d,c,a\n");
    let json = place.ok("follow wcc g.esker --from 1 --once --json");
    let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert_eq!((rows.len(), rows[0]["vertex"].as_str(), rows[0]["new"].as_str()), (2, Some("c"), Some("a")));
    let rows = place.ok("follow wcc g.esker --from 1 --once --format csv --initial");
    assert_eq!(rows, "version,vertex,old,new\n1,a,,a\n1,b,,a\n1,c,,c\n1,d,,c\n2,c,c,a\n2,d,c,a\n");
    let unreached = place.ok("follow bfs g.esker -p source=c --once --format csv --initial");
    assert_eq!(unreached, "version,vertex,old,new\n2,c,,0\n2,d,,1\n");
    place.fails(2, "follow wcc g.esker --initial --top 3", "--top");
    place.fails(1, "follow wcc nosuch.esker --once", "nosuch.esker does not exist: check the path");
}

#[test]
fn a_state_that_was_kept_is_gone_on_from() {
    let place = graph();
    assert_eq!(place.ok("follow wcc g.esker --keep --once --format csv"), "");
    edge(&place, "add", "cid", "dan");
    assert_eq!(
        place.ok("follow wcc g.esker --once --format csv"),
        "",
        "without it, the newest version is the first"
    );
    let rows = "version,vertex,old,new\n2,dan,dan,ann\n2,eve,dan,ann\n";
    assert_eq!(place.ok("follow wcc g.esker --keep --once --format csv"), rows);
    assert_eq!(place.ok("follow wcc g.esker --keep --once --format csv"), "", "the end is kept too");
    edge(&place, "delete", "cid", "dan");
    // Another algorithm, and other options, have no state yet.
    assert_eq!(place.ok("follow pagerank g.esker --keep --once --top 1 --format csv").lines().count(), 2);
    let state = std::fs::read_dir(place.path().join("g.esker/live")).unwrap();
    let paths: Vec<_> = state.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(paths.len(), 2, "{paths:?}");
    for path in paths {
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    let output = place.run("follow wcc g.esker --keep --once --format csv");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("of no use") && said.contains("checksum"), "{said}");
    // The state of the other algorithm is damaged until it is followed again.
    let output = place.run("check g.esker");
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("g.esker has 1 problem") && said.contains("live/pagerank"), "{said}");
    place.ok("follow pagerank g.esker --keep --once");
    place.ok("check g.esker");
    let output = place.run("follow cdlp g.esker --keep --once");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--keep has no effect: the state of cdlp is not kept"), "{said}");
}

/// The changes between the version of a state and the newest were lost where retention had forgotten the
/// former.
#[test]
fn changes_since_a_version_that_was_forgotten_are_printed() {
    let place = graph();
    let followed = ["wcc", "bfs -p source=ann", "degrees", "kcore", "colouring -p passes=1", "pagerank"];
    let values = |algorithm: &str| {
        let rows = place.ok(&format!("follow {algorithm} g.esker --once --initial --format csv"));
        let mut answer = BTreeMap::new();
        take_rows(&mut answer, &rows);
        answer
    };
    let follow = |algorithm: &str| {
        let output = place.run(&format!("follow {algorithm} g.esker --keep --once --format csv"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    edge(&place, "add", "cid", "fay");
    place.file("v", "bob\n");
    place.ok("delete g.esker --vertices v");
    let mut answers = followed.map(|algorithm| {
        follow(algorithm);
        values(algorithm)
    });
    // One vertex goes, one comes, and one comes back.
    edge(&place, "add", "cid", "dan");
    place.file("v", "fay\n");
    place.ok("delete g.esker --vertices v");
    edge(&place, "add", "zoe", "bob");
    place.ok("retain g.esker last 1");
    for (algorithm, answer) in followed.iter().zip(&mut answers) {
        let before = answer.clone();
        let (rows, said) = follow(algorithm);
        assert!(
            said.contains("was forgotten; computing it anew, and printing what has changed since version 3"),
            "{said}"
        );
        take_rows(answer, &rows);
        assert_eq!(*answer, values(algorithm), "{algorithm}: {rows}");
        for row in rows.lines().skip(1) {
            let [_, vertex, old, new] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
            assert_eq!(before.get(vertex).map_or("", String::as_str), old, "{algorithm}: {row}");
            assert_ne!(old, new, "{row}");
        }
        // The search reaches neither.
        let is_reached = !algorithm.starts_with("bfs");
        assert_eq!(
            (rows.contains(",fay,"), rows.contains(",zoe,,")),
            (is_reached, is_reached),
            "{algorithm}: {rows}"
        );
        assert_eq!(follow(algorithm).0, "");
    }
    // Where the values are lost too, all are printed.
    for entry in std::fs::read_dir(place.path().join("g.esker/live")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    let (rows, said) = follow("degrees");
    assert!(said.contains("printing all values, as changes from nothing"), "{said}");
    let mut all = BTreeMap::new();
    take_rows(&mut all, &rows);
    assert_eq!(all, values("degrees"));
}

#[test]
fn a_window_that_moves_far_is_kept_at_the_end() {
    let place = Place::new();
    let edges = |times: std::ops::Range<u32>| {
        let rows = times.map(|time| format!("v{},v{},{time}\n", time % 7, time % 11));
        place.file("edges.csv", &format!("from,to,time\n{}", rows.collect::<String>()));
    };
    edges(0..360);
    place.ok("import edges.csv g.esker --time time --duplicates keep");
    let follow = || {
        let command =
            "follow degrees g.esker --window 360s --time time --time-unit s --keep --once --format csv";
        let output = place.run(command);
        assert!(output.status.success() && !String::from_utf8_lossy(&output.stderr).contains("--keep"));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(follow(), "");
    // A sixth of the window is too far for an update, so the answer is computed anew, without a state.
    for version in 2..5 {
        edges(60 * version + 240..60 * version + 300);
        place.ok("add g.esker edges.csv");
        let rows = follow();
        let versions = rows.lines().skip(1).map(|row| row.split_once(',').unwrap().0);
        assert!(rows.lines().count() > 1 && { versions }.all(|shown| shown == version.to_string()), "{rows}");
        assert_eq!(follow(), "", "version {version} was printed before");
    }
    // Also while a follower waits, for a state that is computed to be kept is not computed after a signal.
    let line = "follow degrees g.esker --window 360s --time time --time-unit s --keep --format csv";
    let mut child = start(&place, line);
    edges(540..600);
    place.ok("add g.esker edges.csv");
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    read_line(&mut shown);
    let state = || {
        let files = std::fs::read_dir(place.path().join("g.esker/live")).unwrap().map(|file| file.unwrap());
        let kept = files.filter(|file| file.file_name().to_str().is_some_and(|name| !name.contains(".new")));
        kept.filter_map(|file| file.metadata().ok()?.modified().ok()).max()
    };
    let (before, begin) = (state(), std::time::Instant::now());
    while state() == before && begin.elapsed() < std::time::Duration::from_secs(20) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(follow(), "", "version 5 was printed before");
}

#[test]
fn kills_of_a_follower_lose_no_change() {
    let place = graph();
    let initial = place.ok("run wcc g.esker --output -");
    let mut answer: BTreeMap<String, String> = initial
        .lines()
        .skip(1)
        .filter_map(|row| row.split_once(','))
        .map(|(vertex, label)| (vertex.to_owned(), label.to_owned()))
        .collect();
    place.ok("follow wcc g.esker --keep --once --format csv");
    for round in 0..10 {
        let mut child = start(&place, "follow wcc g.esker --keep --format csv");
        let mut shown = BufReader::new(child.stdout.take().unwrap());
        for step in 0..3 {
            let (from, to) = (format!("v{}", round * 7 % 5), format!("v{}", (round * 3 + step) % 11));
            edge(&place, "add", &from, &to);
            if (round + step) % 4 == 3 {
                edge(&place, "delete", &from, &to);
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(round * 13 % 60));
        if round % 3 == 2 {
            let id = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        } else {
            child.kill().unwrap();
        }
        let mut rows = String::new();
        shown.read_to_string(&mut rows).unwrap();
        child.wait().unwrap();
        take_rows(&mut answer, &rows);
    }
    take_rows(&mut answer, &place.ok("follow wcc g.esker --keep --once --format csv"));
    let expected = place.ok("run wcc g.esker --output -");
    let found: String = answer.iter().map(|(vertex, label)| format!("{vertex},{label}\n")).collect();
    let mut rows: Vec<&str> = expected.lines().skip(1).collect();
    rows.sort_unstable();
    assert_eq!(found.lines().collect::<Vec<_>>(), rows);
}

/// Takes whole rows of changes into an answer.
fn take_rows(answer: &mut BTreeMap<String, String>, rows: &str) {
    let whole = rows.rfind('\n').map_or("", |end| &rows[..end]);
    for row in whole.lines().filter(|row| !row.starts_with("version")) {
        let [_, vertex, _, new] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        match new {
            "" => drop(answer.remove(vertex)),
            new => drop(answer.insert(vertex.to_owned(), new.to_owned())),
        }
    }
}

/// A state was not found once weights had come or changed their type, though few answers read them, and
/// nothing was said.
#[test]
fn a_state_outlives_weights_that_the_answer_does_not_read_and_is_refused_where_it_reads_them() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,3\n");
    place.file("b.csv", "source,target,weight\n2,3,0.5\n");
    place.ok("import a.csv d.esker");
    for algorithm in ["wcc", "sssp -p source=1"] {
        place.ok(&format!("follow {algorithm} d.esker --once --keep --format csv"));
    }
    place.ok("add d.esker b.csv");
    let rows = place.ok("follow wcc d.esker --once --keep --format csv");
    assert_eq!(rows, "version,vertex,old,new\n2,3,,1\n");
    let output = place.run("follow sssp d.esker -p source=1 --once --keep --format csv");
    let [rows, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(rows, "version,vertex,old,new\n2,1,,0.0\n2,2,,3.0\n2,3,,3.5\n");
    assert!(said.contains("the weights have another type since"), "{said}");
}

/// What a vertex gives its neighbours may be less than before: sums over tiles are of either sign.
#[test]
fn ranks_are_followed_alike_over_every_encoding() {
    let place = Place::new();
    let mut random = Random::new(5);
    let mut edge = || format!("{} {}\n", random.below(9), random.below(9));
    let (edges, later): (String, [String; 4]) =
        ((0..12).map(|_| edge()).collect(), std::array::from_fn(|_| (0..4).map(|_| edge()).collect()));
    place.file("edges.txt", &edges);
    for direction in ["", "--undirected"] {
        let mut answers = Vec::new();
        for encoding in ["plain", "compressed", "tiles", "tiles --only"] {
            place.ok(&format!(
                "import edges.txt g.esker --force --ids text {direction} --encoding {encoding}"
            ));
            for edges in &later {
                place.file("later.txt", edges);
                place.ok("add g.esker later.txt");
            }
            let rows = place.ok("follow pagerank g.esker --from 1 --initial --once --format csv");
            let mut ranks = BTreeMap::new();
            for row in rows.lines().skip(1) {
                let cells: Vec<_> = row.split(',').collect();
                ranks.insert(cells[1].to_owned(), cells[3].parse::<f64>().unwrap());
            }
            answers.push(ranks);
        }
        for answer in &answers[1..] {
            assert!(answer.keys().eq(answers[0].keys()));
            let error: f64 = answer.values().zip(answers[0].values()).map(|(a, b)| (a - b).abs()).sum();
            assert!(error < 1e-5, "{direction}: {error}");
        }
    }
}
