//! Views and their combinations: what docs/views.md says.

use crate::place::Place;

const ACCESSES: [&str; 5] =
    ["", "--encoding lists", "--residency mapped", "--residency memory", "--encoding tiles"];

/// The values of a run, without the header.
fn values(place: &Place, line: &str) -> String {
    let found = place.ok(&format!("run {line} -q -o -"));
    let values = found.lines().skip(1).map(|line| line.split_once(',').expect("two columns").1.to_owned());
    values.collect::<Vec<_>>().join(" ")
}

/// A directed graph with edges of five times, stored as tiles without in-edges.
fn timed(options: &str) -> Place {
    let place = Place::new();
    place.file("a.csv", "source,target,time\n1,2,100\n2,3,200\n3,4,300\n1,3,310\n4,1,320\n");
    let kept = "--directed --no-in-edges --duplicates keep --time time";
    place.ok(&format!("import a.csv a.esker {kept} --encoding tiles {options}"));
    place
}

#[test]
fn an_answer_without_some_vertices_is_that_of_a_database_that_lacks_them() {
    let place = Place::new();
    let rows: String = (0..60).map(|i| format!("v{},v{},{},{}\n", i % 9, i * 7 % 11, i % 4 + 1, i)).collect();
    place.file("a.csv", &format!("from,to,weight,at\n{rows}"));
    place.ok("import a.csv whole.esker --weight weight --time at");
    place.file("gone", "v3\nv7\n");
    place.ok("import a.csv less.esker --weight weight --time at");
    place.ok("delete less.esker --vertices gone");
    let without = "--what-if-without v3,v7";
    for algorithm in ["degrees", "wcc", "pagerank", "sssp --source v1", "bfs --source v1", "kcore"] {
        for view in [
            "",
            "--where weight>1",
            "--window 30",
            "--as-undirected",
            "--where weight<4 --all-vertices",
            "--reverse",
        ] {
            let view = if algorithm == "kcore" { "--as-undirected" } else { view };
            let run = |database: &str| {
                let rows = place.ok(&format!("run {algorithm} {database} {view} --deterministic --output -"));
                let mut rows: Vec<String> = rows.lines().skip(1).map(str::to_owned).collect();
                // Ranks differ in their last digits, and parents and labels where the order of vertices does.
                rows.iter_mut().for_each(|row| {
                    let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
                    if let Ok(number) = cells[1].parse::<f64>() {
                        cells[1] = format!("{number:.5}");
                    }
                    *row = cells[..2].join(",");
                });
                rows
            };
            assert_eq!(run(&format!("whole.esker {without}")), run("less.esker"), "{algorithm} {view}");
        }
    }
    place.fails(1, "run wcc whole.esker --what-if-without nobody", "nobody");
    place.fails(1, "run bfs whole.esker --source v3 --what-if-without v3", "is left out of the view");
    place.fails(2, "path whole.esker v1 v2 --what-if-without v3", "vertices are left out of whole graphs");
}

#[test]
fn a_window_has_the_in_edges_that_are_read_from_tiles() {
    for only in ["", "--only"] {
        let place = timed(only);
        for access in ACCESSES {
            let degrees =
                |options: &str| values(&place, &format!("degrees a.esker --window 150s {options} {access}"));
            // In-degrees were those of the out-lists.
            assert_eq!(degrees("--direction in"), "1 0 2 1", "{only} {access}");
            assert_eq!(degrees("--direction both"), "2 1 3 2", "{only} {access}");
            assert_eq!(degrees("--direction out"), "1 1 1 1", "{only} {access}");
            let cores = format!("kcore a.esker --window 150s --verify {access}");
            assert_eq!(values(&place, &cores), "2 1 2 2", "{only} {access}");
        }
    }
}

#[test]
fn in_edges_that_are_not_stored_are_made_in_memory_before_and_after_a_commit() {
    let place = timed("--only");
    place.file("more.csv", "source,target,time\n2,4,330\n");
    let runs =
        ["degrees a.esker --direction in", "lcc a.esker", "degrees a.esker --reverse", "kcore a.esker"];
    let before = runs.map(|run| values(&place, &format!("{run} --verify")));
    assert_eq!(before[0], "1 1 2 1");
    assert_eq!(before[2], before[0]);
    place.ok("add a.esker more.csv --freeze");
    let after = runs.map(|run| values(&place, &format!("{run} --verify")));
    assert_eq!(after[0], "1 1 2 2");
    assert_eq!(after[2], after[0]);
    let said = String::from_utf8_lossy(&place.run("run kcore a.esker --explain").stderr).into_owned();
    assert!(said.contains("in-edges made in memory"), "{said}");
    // Tiles of several layers have no in-edges: the copy stands in.
    for access in ["--encoding tiles --residency mapped", "--residency pooled --encoding tiles"] {
        let line = format!("kcore a.esker --verify {access}");
        assert_eq!(values(&place, &line), after[3], "{access}");
    }
    // A remedy is not what was asked for.
    place.fails(1, "run triangles a.esker --encoding tiles --residency mapped", "--encoding lists");
}

#[test]
fn an_undirected_view_means_the_same_with_other_views() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight,at\n1,2,5,100\n2,1,3,200\n2,3,1,300\n");
    place.ok("import a.csv a.esker --directed --time at");
    let all = ["", "--where weight>=0", "--reverse", "--where weight>=0 --reverse", "--window 1000s"];
    for access in ["", "--residency mapped", "--residency memory"] {
        for view in all {
            // Filtered and reversed copies kept both edges between 1 and 2.
            let line = format!("degrees a.esker --as-undirected {view} {access}");
            assert_eq!(values(&place, &line), "1 2 1", "{view} {access}");
            let line = format!("sssp a.esker --source 1 --as-undirected {view} {access} --verify");
            assert_eq!(values(&place, &line), "0 3 4", "{view} {access}");
        }
    }
    let files = "degrees a.csv --directed --as-undirected --where weight>=0";
    assert_eq!(values(&place, files), "1 2 1");
}

#[test]
fn views_that_leave_out_edges_leave_out_vertices_without_any() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight,at\n1,2,5,100\n2,3,3,200\n3,4,1,300\n");
    place.ok("import a.csv a.esker --directed --time at");
    for view in ["--where weight<=3", "--window 150s", "--window 150s --where weight<=3"] {
        let sizes = |options: &str| {
            let report = place.json(&format!("run wcc a.esker {view} {options} --json"));
            (report["vertices"].as_u64(), report["edges"].as_u64())
        };
        assert_eq!(sizes(""), (Some(3), Some(2)), "{view}");
        assert_eq!(sizes("--all-vertices"), (Some(4), Some(2)), "{view}");
        assert_eq!(sizes("--reverse"), (Some(3), Some(2)), "{view}");
        place.fails(1, &format!("run bfs a.esker --source 1 {view}"), "no edge in the");
    }
    assert_eq!(place.json("run wcc a.esker --reverse --json")["vertices"], 4);
    place.fails(2, "run wcc a.esker --all-vertices", "--all-vertices has no effect");
    let exported = |options: &str| {
        place.json(&format!("export a.esker b.mtx --force --json --where weight<=3 {options}"))["vertices"]
            .clone()
    };
    assert_eq!((exported(""), exported("--all-vertices")), (3.into(), 4.into()));
    place.fails(2, "export a.esker b.mtx --force --all-vertices", "--all-vertices has no effect");
}

#[test]
fn copies_of_an_edge_in_both_directions_are_joined_by_the_rule_of_the_window() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight,at\n1,2,5,100\n1,2,4,110\n2,1,3,120\n2,2,9,120\n2,2,8,130\n");
    place.ok("import a.csv a.esker --directed --duplicates keep --time at");
    for view in ["", "--where weight>0", "--reverse", "--residency mapped", "--residency memory"] {
        for (rule, length) in [
            ("weighted", "3"),
            ("weighted --combine sum", "12"),
            ("weighted --combine max", "5"),
            ("weighted --combine last", "3"),
            ("distinct", "3"),
        ] {
            let line =
                format!("sssp a.esker --source 1 --window 1000s --copies {rule} --as-undirected {view}");
            assert_eq!(values(&place, &line), format!("0 {length}"), "{rule} {view}");
        }
        let degrees = format!("degrees a.esker --window 1000s --copies distinct --as-undirected {view}");
        assert_eq!(values(&place, &degrees), "1 2", "{view}");
    }
    // Without a rule each stays an edge, where parallel edges are kept.
    assert_eq!(values(&place, "degrees a.esker --window 1000s --as-undirected"), "3 5");
}

#[test]
fn a_window_of_a_filtered_or_reversed_graph_has_the_times_that_the_database_remembers() {
    let place = Place::new();
    place.file("a.csv", "source,target,other,at\n1,2,7,100\n2,3,8,200\n3,4,9,300\n");
    place.ok("import a.csv a.esker --directed --time at --property other");
    for view in ["", "--where other>0", "--reverse", "--where other>0 --reverse"] {
        let report = place.json(&format!("run wcc a.esker --window 150s {view} --json"));
        assert_eq!((&report["edges"], &report["window"]["property"]), (&2.into(), &"at".into()), "{view}");
    }
    // The window ends with the latest edge of the version, whether or not the conditions keep it.
    assert_eq!(place.json("run wcc a.esker --window 150s --where other<9 --json")["edges"], 1);
}

#[test]
fn a_view_without_an_edge_says_so() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight,at\n1,2,5,100\n2,3,3,200\n");
    place.ok("import a.csv a.esker --directed --time at");
    let said = |line: &str| {
        let output = place.run(line);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let window = said("run wcc a.esker --window 10s --at 1970-01-01T01:00:00");
    assert!(window.contains("No edge is later than 1970-01-01T00:59:50Z"), "{window}");
    assert!(window.contains("1970-01-01T00:01:40Z to 1970-01-01T00:03:20Z"), "{window}");
    assert!(said("run wcc a.esker --where weight>5").contains("No edge meets the conditions"));
    assert!(!said("run wcc a.esker --where weight>3").contains("No edge"));
}

#[test]
fn views_run_on_each_of_several_versions() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,5\n2,3,3\n");
    place.file("b.csv", "source,target,weight\n3,4,6\n");
    place.ok("import a.csv a.esker --directed");
    place.ok("add a.esker b.csv");
    let rows =
        place.ok("run bfs a.esker --source 3 --reverse --where weight>=3 --each-version --format csv -o -");
    assert_eq!(rows, "version,vertex,value\n1,1,2\n1,2,1\n1,3,0\n2,1,2\n2,2,1\n2,3,0\n2,4,\n");
}

#[test]
fn a_copy_stands_in_where_what_is_asked_for_does_not_serve_the_view() {
    for encoding in ["plain", "compressed", "tiles"] {
        let place = Place::new();
        place.file("a.csv", "source,target,weight,kind\n1,2,5,a\n1,3,1,b\n3,2,1,b\n2,4,2,a\n3,4,9,a\n");
        place.ok(&format!(
            "import a.csv a.esker --directed --property kind --weight weight --encoding {encoding}"
        ));
        let mut accesses =
            vec!["", "--residency mapped", "--residency memory", "--residency pooled", "--residency headed"];
        if encoding == "tiles" {
            accesses.extend(["--encoding tiles", "--encoding tiles --residency pooled"]);
        }
        for access in accesses {
            let line = format!("sssp a.esker --source 1 --where weight<9 --verify {access}");
            assert_eq!(values(&place, &line), "0 2 1 4", "{encoding} {access}");
            let line = format!("degrees a.esker --where kind=a --direction in --all-vertices {access}");
            assert_eq!(values(&place, &line), "0 1 0 2", "{encoding} {access}");
        }
        let explained = |options: &str| {
            let found = place.run(&format!("run wcc a.esker --where kind=a --explain {options}"));
            format!("{}{}", String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&found.stderr))
        };
        let said = explained("--residency pooled");
        assert!(
            said.contains("3 edges copied to memory") && said.contains("does not serve this view"),
            "{said}"
        );
        assert!(!explained("").contains("does not serve this view"));
        place.fails(1, "run wcc a.esker --where kind=a --residency pooled --memory 32MiB", "raise the limit");
    }
    // What the database does not store is refused as before.
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,5\n");
    place.ok("import a.csv a.esker --directed");
    place.fails(1, "run wcc a.esker --where weight>1 --encoding tiles", "is not kept as tiles");
}

#[test]
fn copies_in_both_directions_are_joined_without_in_edges_too() {
    let edges = "1,2,5,100\n1,2,4,110\n2,1,3,120\n2,3,9,130\n3,2,8,125\n3,3,1,130\n";
    for options in ["", "--no-in-edges", "--no-in-edges --encoding tiles --only"] {
        let place = Place::new();
        place.file("a.csv", &format!("source,target,weight,at\n{edges}"));
        place.ok(&format!("import a.csv a.esker --directed --duplicates keep --time at {options}"));
        for view in ["", "--where weight>0", "--residency memory"] {
            for (rule, lengths) in [
                ("weighted", "0 3 5"),
                ("weighted --combine sum", "0 12 29"),
                ("weighted --combine min", "0 3 11"),
                ("weighted --combine last", "0 3 12"),
                ("distinct", "0 3 12"),
            ] {
                let line =
                    format!("sssp a.esker --source 1 --window 1000s --copies {rule} --as-undirected {view}");
                assert_eq!(values(&place, &line), lengths, "{options} {rule} {view}");
            }
        }
    }
}

/// Whether single in-lists can be read decides how an algorithm reads them, and must not decide whether it
/// runs.
#[test]
fn tiles_alone_without_in_edges_answer_as_lists_do() {
    let place = Place::new();
    place.file(
        "a.csv",
        "source,target,weight\n1,2,5\n2,3,1\n3,1,2\n3,4,7\n4,5,1\n5,4,3\n5,6,2\n1,6,9\n2,6,4\n6,6,1\n",
    );
    for (name, options) in [("lists.esker", ""), ("tiles.esker", "--no-in-edges --encoding tiles --only")] {
        place.ok(&format!("import a.csv {name} --directed {options}"));
    }
    let listed = place.ok("run --list");
    for change in ["", "commit NAME script", "compact NAME"] {
        place.file("script", "+ 6 1 weight=2\n- 3 4\n+ 4 7 weight=3\n");
        for name in ["lists.esker", "tiles.esker"].into_iter().filter(|_| !change.is_empty()) {
            place.ok(&change.replace("NAME", name));
        }
        let named = listed.lines().filter(|line| line.starts_with(' '));
        for algorithm in named.filter_map(|line| line.split_whitespace().next()) {
            let options = match algorithm {
                "pagerank" => "--tolerance 1e-10",
                "bfs" | "sssp" | "wbfs" | "bellman-ford" | "widest" | "betweenness" => "--source 1",
                _ => "",
            };
            for more in ["", "--residency memory", "--as-undirected", "--reverse --residency memory"] {
                let of = |name: &str| {
                    let output = ["triangles", "cliques"].contains(&algorithm);
                    let output = if output { "--json" } else { "-o -" };
                    let line =
                        format!("run {algorithm} {name} {options} {more} --deterministic -j 1 {output}");
                    let done = place.run(&line);
                    let shown = String::from_utf8_lossy(&done.stdout).into_owned();
                    let answer = serde_json::from_str::<serde_json::Value>(&shown)
                        .map(|json| json["answers"].to_string());
                    // Ranks are sums in the order of the lists.
                    let rounded = |field: &str| {
                        field.parse().map_or(field.to_owned(), |rank: f64| format!("{rank:.5}"))
                    };
                    let answer = answer.unwrap_or(shown);
                    let rows: Vec<String> = answer.split([',', '\n']).map(rounded).collect();
                    (done.status.code(), rows, String::from_utf8_lossy(&done.stderr).into_owned())
                };
                let (lists, tiles) = (of("lists.esker"), of("tiles.esker"));
                assert_eq!(
                    (lists.0, &lists.1),
                    (tiles.0, &tiles.1),
                    "{change} {algorithm} {more}: {}",
                    tiles.2
                );
            }
        }
    }
}

#[test]
fn edges_of_one_kind_are_joined_however_the_kind_is_chosen() {
    let place = Place::new();
    place.file("o.csv", "source,target,kind,w\n1,2,a,5\n2,1,a,7\n");
    place.ok("import o.csv o.esker --kind kind --weight w");
    for (chosen, degrees) in [
        (&["--kind", "a"][..], "1 1"),
        (&["--where", "kind=a", "--where", "w>1"], "1 1"),
        (&["--where", "kind like 'a'"], "1 1"),
        (&["--where", "kind=a and w>1"], "1 1"),
        (&["--where", "not kind!=a"], "1 1"),
        (&["--where", "kind=a or kind=a"], "1 1"),
        // Other versions may have other kinds, and these meet it.
        (&["--where", "kind!=b"], "2 2"),
        (&["--where", "w>1"], "2 2"),
    ] {
        let mut command = place.command("run degrees o.esker --as-undirected -q -o -");
        let found = command.args(chosen).output().unwrap();
        let found = String::from_utf8_lossy(&found.stdout).into_owned();
        let values: Vec<&str> = found.lines().skip(1).map(|row| row.split_once(',').unwrap().1).collect();
        assert_eq!(values.join(" "), degrees, "{chosen:?}");
    }
}
