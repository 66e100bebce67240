//! Windows of time: `run --window`, `estimate --window` and `window`.

use crate::place::Place;

/// Three days of messages, in seconds since 1970, the first and the second of January 2024 and the fourth.
const DAY: i64 = 86_400;
const FIRST: i64 = 1_704_067_200;

fn messages() -> Place {
    let place = Place::new();
    let rows = [
        ("ann", "bob", 0, 3),
        ("ann", "bob", 3600, 4),
        ("bob", "cid", DAY - 1, 1),
        ("cid", "ann", DAY, 5),
        ("ann", "bob", DAY + 7200, 2),
        ("dan", "eve", 3 * DAY + 60, 9),
    ];
    let rows: Vec<String> =
        rows.iter().map(|(from, to, at, length)| format!("{from},{to},{},{length}", FIRST + at)).collect();
    place.file("m.csv", &format!("from,to,sent,length\n{}\n", rows.join("\n")));
    place.ok("import m.csv m.esker --duplicates keep --time sent --weight length");
    place
}

#[test]
fn a_run_sees_the_edges_of_a_window_alone() {
    let place = messages();
    let report = |line: &str| place.json(&format!("{line} --json"));
    // The last day is that of the latest edge; vertices without an edge in it are not there.
    let last = report("run wcc m.esker --window 1d");
    assert_eq!((&last["vertices"], &last["edges"]), (&2.into(), &1.into()));
    assert_eq!(last["window"]["until"], FIRST + 3 * DAY + 60);
    assert_eq!(last["window"]["unit"], "seconds");
    // A day that is named is that day, from its first second to its last.
    let first = report("run wcc m.esker --window 1d --at 2024-01-01 --verify");
    assert_eq!((&first["vertices"], &first["edges"]), (&3.into(), &3.into()));
    assert_eq!(first["window"]["after"], FIRST - 1);
    let second = report("run wcc m.esker --window 86400 --at 2024-01-02 --all-vertices");
    assert_eq!((&second["vertices"], &second["edges"]), (&5.into(), &2.into()));
    let names = place.ok("run wcc m.esker --window 1d --at 2024-01-02 --output -");
    assert_eq!(names, "vertex,value\nann,ann\nbob,ann\ncid,ann\n");
    place.fails(
        1,
        "run bfs m.esker --window 1d --at 2024-01-01 --source dan",
        "\"dan\" has no edge in the window: name another, or keep all vertices",
    );
    let estimate = report("estimate wcc m.esker --window 1d --at 2024-01-01");
    // Three arcs in either direction, of four bytes.
    assert_eq!(estimate["graph_bytes"], 24 * size_of::<esker::graph::VertexId>() / 4);
}

#[test]
fn edges_between_two_vertices_are_joined_as_copies_says() {
    let place = messages();
    let distance = |copies: &str| {
        let line =
            format!("run sssp m.esker --source ann --window 2d --at 2024-01-02 --verify --output - {copies}");
        let rows = place.ok(&line);
        rows.lines().find_map(|row| row.strip_prefix("bob,")).unwrap().to_owned()
    };
    for (copies, expected) in [
        ("", "2"),
        ("--copies all", "2"),
        ("--copies distinct", "2"),
        ("--copies weighted", "3"),
        ("--copies weighted --combine sum", "9"),
        ("--copies weighted --combine min", "2"),
        ("--copies weighted --combine max", "4"),
        ("--copies weighted --combine last", "2"),
    ] {
        assert_eq!(distance(copies), expected, "{copies}");
    }
    let edges = |copies: &str| {
        place.json(&format!("run wcc m.esker --window 2d --at 2024-01-02 --json {copies}"))["edges"].clone()
    };
    assert_eq!(
        (edges(""), edges("--copies distinct"), edges("--copies weighted")),
        (5.into(), 3.into(), 3.into())
    );
}

#[test]
fn tiles_alone_without_in_edges_have_all_copies_of_windows() {
    let place = messages();
    place.ok("import m.csv t.esker --duplicates keep --time sent --weight length --no-in-edges --encoding tiles --only");
    for copies in ["all", "distinct", "weighted"] {
        for algorithm in ["wcc", "sssp --source ann", "degrees"] {
            let window = format!("--window 2d --at 2024-01-02 --copies {copies} --output -");
            let expected = place.ok(&format!("run {algorithm} m.esker {window}"));
            for encoding in ["", "--encoding lists"] {
                let found = place.ok(&format!("run {algorithm} t.esker {window} {encoding}"));
                assert_eq!(found, expected, "{algorithm} {copies} {encoding}");
            }
        }
    }
    // Ranks are pushed here, and pulled there. With `all` edges and no weights, tiles are scanned.
    place.ok("run pagerank t.esker --window 2d --at 2024-01-02 --verify");
    place.ok("run wcc t.esker --window 2d --at 2024-01-02 --copies all --encoding tiles --verify");
}

#[test]
fn windows_follow_each_other_along_the_calendar() {
    let place = messages();
    let days = place.ok("window wcc m.esker --length 1d --format csv");
    assert_eq!(
        days,
        "until,length,vertices,edges,components\n\
         2024-01-01T23:59:59Z,1d,3,3,1\n\
         2024-01-02T23:59:59Z,1d,3,2,1\n\
         2024-01-03T23:59:59Z,1d,0,0,0\n\
         2024-01-04T23:59:59Z,1d,2,1,1\n"
    );
    let json = place.ok("window wcc m.esker --length 1d --json");
    let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (rows.len(), rows[0]["components"].as_u64(), rows[3]["vertices"].as_u64()),
        (4, Some(1), Some(2))
    );
    place.fails(2, "window wcc m.esker --length 1d --json --format csv", "--json");
    let two = place.ok("window wcc m.esker --length 1d --length 2d --every 1d --from 2024-01-02 --to 2024-01-02 --format csv");
    assert_eq!(
        two,
        "until,length,vertices,edges,components\n2024-01-02T23:59:59Z,1d,3,2,1\n2024-01-02T23:59:59Z,2d,3,5,1\n"
    );
    let top = place
        .ok("window pagerank m.esker --length 2d --copies weighted -p damping=0.5 --top 1 --format jsonl");
    // Two days at a time, counted from 1970.
    assert_eq!(top.lines().count(), 3, "{top}");
    assert!(top.lines().all(|line| line.contains("\"until\"") && line.contains("\"value\"")), "{top}");
}

#[test]
fn all_values_of_all_windows_are_written_with_their_steps() {
    let place = messages();
    let days = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"];
    // Together, and one by one; ranks, labels, and edges as rows.
    for (algorithm, of_run, of_window) in [
        ("wcc", "", ""),
        ("bfs", "--source ann", "-p source=ann"),
        ("degrees", "", ""),
        ("pagerank", "--damping 0.5", "-p damping=0.5"),
        ("kcore", "", ""),
        ("forest", "--as-undirected", "--as-undirected"),
    ] {
        let line = format!("window {algorithm} m.esker --length 1d {of_window}");
        let shown = place.ok(&format!("{line} --output {algorithm}.csv"));
        assert_eq!(shown, place.ok(&line), "figures are shown as ever");
        place.ok(&format!("{line} --output {algorithm}.parquet --top 1"));
        let written = std::fs::read_to_string(place.path().join(format!("{algorithm}.csv"))).unwrap();
        assert_eq!(written, place.ok(&format!("{line} --output -")));
        let mut expected = String::new();
        for day in days {
            let run =
                place.run(&format!("run {algorithm} m.esker --window 1d --at {day} {of_run} --output -"));
            let rows = String::from_utf8(run.stdout).unwrap();
            let step = format!("{day}T23:59:59Z,1d,");
            if expected.is_empty() {
                expected = format!("until,length,{}\n", rows.lines().next().unwrap());
            }
            expected.extend(rows.lines().skip(1).map(|row| format!("{step}{row}\n")));
        }
        assert_eq!(written, expected, "{algorithm}");
    }
    // All rows in the forms for programs, a form for all ways to print them.
    let lines = place.ok("window wcc m.esker --length 1d --to 2024-01-01 --output - --format jsonl");
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.lines().all(|line| line.contains("\"vertex\"") && line.contains("\"until\"")), "{lines}");
    let top = place.ok("window wcc m.esker --length 1d --to 2024-01-01 --output - --top 1");
    assert_eq!(top, "until,length,component,vertices\n2024-01-01T23:59:59Z,1d,ann,3\n");
    let on = "m.esker --length 1d";
    for (code, line, fragment) in [
        (2, format!("window triangles {on} --output t.csv"), "--output has no effect"),
        (2, format!("window wcc {on} --output w.npy"), "which step a row is of"),
        (1, format!("window wcc {on} --output wcc.csv"), "--force"),
        (2, format!("window wcc {on} --output f.csv --follow"), "--output - prints all values"),
        (2, format!("window wcc {on} --force"), "--output"),
    ] {
        place.fails(code, &line, fragment);
    }
    place.ok(&format!("window wcc {on} --output wcc.csv --force --from 2024-01-04"));
    let written = std::fs::read_to_string(place.path().join("wcc.csv")).unwrap();
    assert_eq!(written.lines().count(), 3, "{written}");
}

#[test]
fn windows_are_aligned_to_the_first_edge_or_to_a_time() {
    let place = Place::new();
    // The first edge is half an hour after midnight.
    let rows: Vec<String> =
        [1_800, 5_399, 5_400, 9_000].iter().map(|at| format!("ann,bob,{}\n", FIRST + at)).collect();
    place.file("m.csv", &format!("from,to,sent\n{}", rows.concat()));
    place.ok("import m.csv m.esker --duplicates keep --time sent");
    let ends = |align: &str| -> Vec<String> {
        let rows = place.ok(&format!("window wcc m.esker --length 1h --format csv {align}"));
        let fields = rows.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
        fields.map(|row| format!("{} {}", &row[0][11..19], row[3])).collect()
    };
    assert_eq!(ends(""), ["00:59:59 1", "01:59:59 2", "02:59:59 1"]);
    assert_eq!(ends("--align calendar"), ends(""));
    assert_eq!(ends("--align first"), ["01:29:59 2", "02:29:59 1", "03:29:59 1"]);
    assert_eq!(ends("--align 2024-01-01T01:00:01"), ["01:00:00 1", "02:00:00 2", "03:00:00 1"]);
    // From a time on, as aligned as before.
    assert_eq!(ends("--align first --from 2024-01-01T02:00"), ["02:29:59 1", "03:29:59 1"]);
    place.fails(2, "window wcc m.esker --length 1h --align soon", "or calendar, or first");
    place.fails(2, "window wcc m.esker --length 1h --every-edges 2 --align first", "--align");
    place.fails(
        2,
        "window wcc m.esker --length 1h --every-edges 2 --closed left",
        "--closed left cannot be kept",
    );
    let follow = "follow wcc m.esker --window 1h --every-edges 2 --once --closed left";
    place.fails(2, follow, "--closed left cannot be kept");
    place.ok("window wcc m.esker --length 1h --every-edges 2 --closed right");
}

#[test]
fn windows_are_read_as_undirected() {
    let place = messages();
    for algorithm in ["matching", "kcore", "forest", "wcc"] {
        let line =
            format!("window {algorithm} m.esker --length 2d --align 2024-01-01 --as-undirected --output -");
        let written = place.ok(&line);
        let mut expected = String::new();
        for day in ["2024-01-02", "2024-01-04"] {
            let rows = place
                .ok(&format!("run {algorithm} m.esker --window 2d --at {day} --as-undirected --output -"));
            if expected.is_empty() {
                expected = format!("until,length,{}\n", rows.lines().next().unwrap());
            }
            expected.extend(rows.lines().skip(1).map(|row| format!("{day}T23:59:59Z,2d,{row}\n")));
        }
        assert_eq!(written, expected, "{algorithm}");
    }
    let figures = place.ok("window kcore m.esker --length 2d --as-undirected --format csv");
    assert!(figures.starts_with("until,length,vertices,directed_edges,"), "{figures}");
    place.fails(1, "window forest m.esker --length 2d", "--as-undirected");
}

#[test]
fn a_window_is_of_any_version() {
    let place = messages();
    place.file("late.csv", &format!("from,to,sent,length\nfay,ann,{},1\n", FIRST + DAY + 1));
    place.ok("add m.esker late.csv");
    place.file("gone.csv", "from,to\nann,bob\n");
    place.ok("delete m.esker gone.csv");
    let edges = |line: &str| place.json(&format!("{line} --window 1d --json"))["edges"].clone();
    // Of the newest version, without the version of that day: there is none.
    assert_eq!(edges("run wcc m.esker --at 2024-01-02"), 2);
    place.ok("tag m.esker 2 late");
    let rows = |at: &str| {
        let line = format!(
            "window wcc m.esker --length 1d --from 2024-01-02 --to 2024-01-02 --format csv --at {at}"
        );
        place.ok(&line).lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(rows("1"), "2024-01-02T23:59:59Z,1d,3,2,1");
    assert_eq!(rows("late"), "2024-01-02T23:59:59Z,1d,4,3,1");
    assert_eq!(rows("3"), "2024-01-02T23:59:59Z,1d,3,2,1");
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let place = messages();
    place.file("plain.csv", "from,to\n1,2\n");
    place.ok("import plain.csv plain.esker");
    place.file("two.csv", "from,to,a,b\n1,2,5,6\n");
    place.ok("import two.csv two.esker --property a --property b");
    for (code, line, fragment) in [
        (2, "run wcc plain.esker --window 1h", "no edge property can hold times"),
        (2, "run wcc two.esker --window 1h", "name the edge property that holds the times with --time: a, b"),
        (2, "run wcc two.esker --window 1h --time c", "they have a, b"),
        (2, "run wcc m.esker --copies distinct", "--window"),
        (2, "run wcc m.esker --window 1h --combine sum", "--combine has no effect without --copies weighted"),
        (2, "run wcc m.esker --window 1y", "is not a length of time"),
        (2, "run wcc m.esker --window 0s", "more than 0"),
        (2, "run wcc m.esker --window 1500ms", "must be a whole number"),
        (2, "window pagerang m.esker --length 1d", "pagerank"),
        (2, "window pagerank m.esker --length 1d -p dampin=1", "dampin"),
        (2, "window pagerank m.esker --length 1d -p damping", "NAME=VALUE"),
        (2, "window triangles m.esker --length 1d --top 3", "--top has no effect"),
        (2, "window wcc m.esker --length 1d --from yesterday", "is not a time"),
        (2, "window wcc m.esker --length 1d --explain", "ask `esker run --window`"),
        (
            2,
            "window wcc m.esker --length 1s --every 1s --from 1970-01-01 --to 2024-03-01",
            "windows, but 4194304 is the most",
        ),
        (2, "window wcc m.esker --length 1d --weight length", "does not read the weights"),
    ] {
        place.fails(code, line, fragment);
    }
}

#[test]
fn the_unit_of_timestamps_is_known() {
    let place = Place::new();
    let rows = ["a,b,1970-01-01T10:00:00,1", "b,c,1970-01-02T09:00:00,2", "c,d,1970-01-03T08:00:00,3"];
    place.file("t.csv", &format!("from,to,sent,day\n{}\n", rows.join("\n")));
    place.ok("import t.csv t.esker --time sent --schema sent:timestamp[ms],day:text");
    let report = place.json("run wcc t.esker --window 1d --json");
    assert_eq!((&report["edges"], &report["window"]["unit"]), (&2.into(), &"milliseconds".into()));
    let day = place.json("run wcc t.esker --window 1d --at 1970-01-01 --json");
    assert_eq!(day["edges"], 1);
    place.fails(
        2,
        "run wcc t.esker --window 1d --time-unit s",
        "the times in \"sent\" are in milliseconds, not in seconds",
    );
    place.fails(2, "run wcc t.esker --window 1d --time day", "\"day\" holds texts and cannot be a time");
}

#[test]
fn ends_of_windows_are_exact_to_the_microsecond() {
    let place = Place::new();
    place.file(
        "a.csv",
        "source,target,sent\na,b,2024-03-01T12:00:00.000001Z\nb,c,2024-03-01T12:00:00.000002Z\nc,d,2024-03-01T12:00:00.000010Z\n",
    );
    place.ok("import a.csv a.esker --duplicates keep --time sent --event-time 2024-01-01");
    for (at, length, edges) in [
        ("12:00:00.000001", "1d", 1),
        ("12:00:00.000002", "1d", 2),
        ("12:00:00.000009", "1d", 2),
        ("12:00:00.000010", "5us", 1),
        ("12:00", "1d", 3),
    ] {
        let report = place.ok(&format!("run wcc a.esker --window {length} --at 2024-03-01T{at} --json"));
        assert!(report.contains(&format!("\"edges\": {edges},")), "{at}: {report}");
    }
}

#[test]
fn windows_end_with_every_so_many_edges() {
    let place = messages();
    let rows = |line: &str| {
        let found = place.ok(&format!("window wcc m.esker --length 1d --format csv {line}"));
        found.lines().skip(1).map(|row| row.split(',').next().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    // The last edge alone is the rest.
    let ends = ["2024-01-01T23:59:59Z", "2024-01-02T02:00:00Z", "2024-01-04T00:01:00Z"];
    assert_eq!(rows("--every-edges 3 --to 2024-01-02"), [ends[0], ends[1]]);
    assert_eq!(rows("--every-edges 5"), [ends[1], ends[2]]);
    assert_eq!(rows("--every-edges 3 --from 2024-01-01T01:00"), ["2024-01-02T00:00:00Z", ends[2]]);
    place.fails(2, "window wcc m.esker --length 1d --every-edges 0", "--every-edges");
    place.fails(2, "window wcc m.esker --length 1d --every 1d --every-edges 5", "cannot be used with");
    place.file("n.csv", &format!("from,to,sent,length\nann,eve,{},1\n", FIRST + 3 * DAY + 70));
    place.ok("add m.esker n.csv");
    place.file("o.csv", &format!("from,to,sent,length\nann,dan,{},1\n", FIRST + 3 * DAY + 80));
    place.ok("add m.esker o.csv");
    // The window of version 1 ends with the fourth edge; the next end is the eighth.
    let steps = place.ok("follow wcc m.esker --window 1d --every-edges 4 --from 1 --once --format csv");
    let until = "2024-01-04T00:01:20Z";
    let changed = [("bob", "ann", ""), ("cid", "ann", ""), ("dan", "", "ann"), ("eve", "", "ann")];
    let rows = changed.map(|(vertex, old, new)| format!("3,{until},{vertex},{old},{new}"));
    let mut found: Vec<_> = steps.lines().skip(1).collect();
    found.sort_unstable();
    assert_eq!(found, rows, "{steps}");
}

#[test]
fn pagerank_follows_the_weights_of_the_last_edges() {
    let place = Place::new();
    place.file("p.csv", "source,target,weight,time\n1,2,171,100\n1,0,611,105\n0,2,499,106\n2,3,5,107\n");
    place.ok("import p.csv p.esker --undirected --time time --duplicates keep --event-time 1970-01-01");
    let ranks = |combine: &str| {
        let window = "--window 10 --time-unit s --copies weighted";
        place.ok(&format!("run pagerank p.esker {window} --combine {combine} --output - -q"))
    };
    assert_eq!(ranks("last"), ranks("sum"), "each pair has one edge");
    assert_ne!(ranks("last"), ranks("count"));
}

/// The first window without the source ended the command.
#[test]
fn a_window_without_the_source_has_an_empty_answer() {
    let place = messages();
    // The source has edges on the first two days, its neighbours on the first; the last day has others.
    let window = |algorithm: &str, rest: &str| {
        let output = place.run(&format!("window {algorithm} m.esker --length 1d --format csv {rest}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    let ends =
        ["2024-01-01T23:59:59Z", "2024-01-02T23:59:59Z", "2024-01-03T23:59:59Z", "2024-01-04T23:59:59Z"];
    let figures = |rows: &str| -> Vec<String> {
        rows.lines().skip(1).map(|row| row.split(',').skip(2).take(3).collect::<Vec<_>>().join(",")).collect()
    };
    // Together, and one by one.
    for (rest, second) in [
        ("-p source=cid", "3,2,3"),
        ("-p source=cid --encoding lists", "3,2,3"),
        ("-p source=cid -p target=ann", "3,2,2"),
    ] {
        let (rows, said) = window("bfs", rest);
        assert_eq!(figures(&rows), ["3,3,1", second, "0,0,", "2,1,"], "{rest}: {rows}");
        for end in &ends[2..] {
            let lacks = format!("the window of 1d until {end} has no answer: it has no edge of \"cid\"");
            assert!(said.contains(&lacks), "{said}");
        }
        assert_eq!(said.matches("has no answer").count(), 2, "{said}");
        let (rows, _) = window("bfs", &format!("{rest} --top 5"));
        assert!(rows.contains(ends[1]) && !rows.contains(ends[2]) && !rows.contains(ends[3]), "{rows}");
    }
    // A target that is not there ends no search; of several sources, those that are there count.
    for (rest, expected) in [
        ("-p source=ann -p target=dan", ["3,3,3", "3,2,2", "0,0,", "2,1,"]),
        ("-p source=cid -p source=dan", ["3,3,1", "3,2,3", "0,0,", "2,1,2"]),
        ("-p source=cid -p source=dan -p parents=true", ["3,3,1", "3,2,3", "0,0,", "2,1,2"]),
    ] {
        assert_eq!(figures(&window("bfs", rest).0), expected, "{rest}");
    }
    let (rows, _) = window("sssp", "-p source=cid");
    assert_eq!(figures(&rows)[2..], ["0,0,", "2,1,"], "{rows}");
    place.fails(1, "window bfs m.esker --length 1d -p source=zoe", "zoe");
}

/// The integer chose the version of that time, and the window ended with the latest edge.
#[test]
fn a_window_does_not_end_at_an_integer() {
    let place = Place::new();
    place.file("e.csv", "src,dst,t\n1,2,1700000100\n2,3,1700000200\n3,4,1700000300\n");
    place.ok("import e.csv g.esker --time t --event-time 2020-01-01");
    for verb in ["run", "estimate"] {
        let line = format!("{verb} degrees g.esker --window 100 --at 1700000250");
        place.fails(2, &line, "--at 1700000250 is a time, and does not say where the window ends");
    }
    let degrees = place.ok("run degrees g.esker --window 100 --at 2023-11-14T22:17:30Z -q -o -");
    assert_eq!(degrees.lines().count(), 3, "{degrees}");
    place.ok("run degrees g.esker --window 100 --at 1");
}

#[test]
fn days_are_those_of_a_zone() {
    let place = Place::new();
    // Summer time begins on 2026-03-29: that day has 23 hours.
    let local = ["03-28 12:00", "03-29 00:00", "03-29 23:59", "03-30 00:00"];
    let rows: Vec<String> = (1..).zip(local).map(|(v, at)| format!("{v},{},2026-{at}", v + 1)).collect();
    place.file("local.csv", &format!("from,to,at\n{}\n", rows.join("\n")));
    let seconds = [1_774_695_600, 1_774_738_800, 1_774_821_540, 1_774_821_600];
    let rows: Vec<String> = (1..).zip(seconds).map(|(v, at)| format!("{v},{},{at}", v + 1)).collect();
    place.file("numbers.csv", &format!("from,to,at\n{}\n", rows.join("\n")));
    place.ok("import local.csv local.esker --time at --timezone Europe/Berlin");
    place.ok("import numbers.csv numbers.esker --time at");
    let days = |fraction: &str| {
        let row = |until: &str, edges: &str| format!("2026-03-{until}:59:59{fraction},1d,{edges}");
        [row("28T23", "1"), row("29T23", "2"), row("30T23", "1")]
    };
    for (line, fraction) in [
        ("window triangles local.esker --length 1d", ".999999"),
        ("window triangles numbers.esker --length 1d --timezone Europe/Berlin", ""),
    ] {
        let found = place.ok(&format!("{line} --format csv"));
        let zones = ["+01:00", "+02:00", "+02:00"];
        for (day, zone) in days(fraction).iter().zip(zones) {
            let (until, rest) = day.split_once(',').unwrap();
            let (_, edges) = rest.split_once(',').unwrap();
            let row = found.lines().find(|row| row.starts_with(&format!("{until}{zone},1d,")));
            let row = row.unwrap_or_else(|| panic!("{line}: no {until}{zone} in {found}"));
            assert_eq!(row.split(',').nth(3), Some(edges), "{line}: {row}");
        }
        // A time without an offset is of the zone.
        let from = place.ok(&format!("{line} --format csv --from 2026-03-29 --to 2026-03-29"));
        assert_eq!(from.lines().count(), 2, "{line}: {from}");
    }
    assert!(place.ok("window triangles numbers.esker --length 1d --format csv").contains("T23:59:59Z"));
    place.fails(2, "window wcc numbers.esker --length 1d --timezone Berlin", "such as Europe/Berlin");
}

#[test]
fn the_closed_end_of_a_window_is_chosen() {
    let place = messages();
    let edges = |line: &str| place.json(&format!("run wcc m.esker --json {line}"))["edges"].clone();
    // Edges at 00:00 and 01:00: a window from one to the other has the one, or the other.
    assert_eq!(edges("--window 1h --at 2024-01-01T01:00:00"), 1);
    assert_eq!(edges("--window 1h --at 2024-01-01T01:00:00 --closed right"), 1);
    assert_eq!(edges("--window 3601s --at 2024-01-01T01:00:00 --closed right"), 2);
    assert_eq!(edges("--window 1h --at 2024-01-01T01:00:00 --closed left"), 1);
    assert_eq!(edges("--window 3599s --at 2024-01-01T01:00:00 --closed left --all-vertices"), 0);
    // The latest edge is not before itself.
    assert_eq!(edges("--window 1d --closed left --all-vertices"), 0);
    let ends = |closed: &str| {
        let rows = place.ok(&format!("window triangles m.esker --length 1d --format csv {closed}"));
        rows.lines().skip(1).map(|row| row[..20].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ends("")[0], "2024-01-01T23:59:59Z");
    assert_eq!(ends("--closed left"), ends(""));
    assert_eq!(ends("--closed right")[0], "2024-01-01T00:00:00Z");
    place.fails(2, "run wcc m.esker --closed left", "--window");
}

/// As a source, a target that is required; not one at which a search may stop.
#[test]
fn a_window_without_a_vertex_that_a_run_needs_has_an_empty_row() {
    let place = Place::new();
    place.file("f.csv", "src,dst,weight,ts\n1,2,1,1000\n1,3,1,1010\n");
    place.ok("import f.csv f.esker --time ts --time-unit s");
    let on = "f.esker --length 10s --every 10s";
    for ends in ["source=1 -p target=2", "source=2 -p target=1"] {
        let told = place.ok(&format!("window flow {on} -p {ends} --format jsonl --output -"));
        assert!(!told.is_empty(), "{ends}");
    }
    place.ok(&format!("window bfs {on} -p source=1 -p target=2 --output -"));
    place.ok("follow flow f.esker -p source=1 -p target=2 --window 10s --once");
}

#[test]
fn choices_without_effect_on_a_part_are_refused() {
    let place = Place::new();
    place.file("f.csv", "src,dst,weight,ts\n1,2,4,1000\n1,2,1,1001\n1,3,1,1010\n");
    place.ok("import f.csv f.esker --time ts --time-unit s --duplicates keep");
    let counted = "run harmonic f.esker --window 100s --copies weighted --weight weight";
    place.fails(2, counted, "--weight weight has no effect");
    place.ok(&format!("{counted} --combine sum"));
    place.ok("follow wcc f.esker --where weight>1 --all-vertices --once");
    place.fails(2, "follow wcc f.esker --all-vertices --once", "--all-vertices has no effect");
}

#[test]
fn a_last_window_that_is_not_over_is_said_to_be_partial() {
    let place = messages();
    let said = |options: &str| {
        let output = place.command(&format!("window wcc m.esker --length 1d {options}")).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let partial = "partial: it ends 2024-01-04T23:59:59Z, and the newest edge is of 2024-01-04T00:01:00Z";
    assert!(said("").contains(partial), "{}", said(""));
    for over in ["--to 2024-01-02", "--every-edges 2"] {
        assert!(!said(over).contains("partial"), "{over}: {}", said(over));
    }
}
