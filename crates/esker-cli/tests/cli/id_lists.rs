//! Ids of vertices from files and by their beginning.

use std::io::Write;
use std::process::Stdio;

use crate::place::Place;

/// What a command prints that reads standard input.
fn fed(place: &Place, line: &str, input: &str) -> String {
    let mut command = place.command(line);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{line}");
    String::from_utf8(output.stdout).unwrap()
}

fn gzip(place: &Place, name: &str) {
    let status = std::process::Command::new("gzip").arg("-k").arg(place.path().join(name)).status().unwrap();
    assert!(status.success());
}

#[test]
fn ids_of_files_and_of_standard_input_are_as_those_of_the_command_line() {
    let place = Place::new();
    let edges = "from,to,amount\nb,a,1\na,c,2\nc,b,4\nb,d,8\n";
    place.file("text.csv", edges);
    let numbers = edges.replace('a', "10").replace('b', "20").replace("c,", "30,").replace(",c", ",30");
    place.file("ints.csv", &numbers.replace("10mount", "amount").replace('d', "40"));
    place.file("text.txt", "\u{feff}b\r\n\r\na\r\n\"b\"");
    place.file("ints.txt", "20\n\n10\n20\n");
    for (kind, ids, other) in [("text", "b a b", "c"), ("ints", "20 10 20", "30")] {
        place.ok(&format!(
            "import {kind}.csv {kind}.esker --property all --ids {}",
            &kind[..4].replace("ints", "int")
        ));
        gzip(&place, &format!("{kind}.txt"));
        let list = std::fs::read_to_string(place.path().join(format!("{kind}.txt"))).unwrap();
        for verb in
            ["get", "degree", "neighbors", "neighbors --direction both --sum amount --count", "subgraph"]
        {
            let (verb, options) = verb.split_once(' ').unwrap_or((verb, ""));
            let line = format!("{verb} {kind}.esker {options} --format csv -q");
            let expected = place.ok(&format!("{line} {ids}"));
            assert_eq!(place.ok(&format!("{line} --ids-from {kind}.txt")), expected, "{line}");
            assert_eq!(place.ok(&format!("{line} --ids-from {kind}.txt.gz")), expected, "{line}");
            assert_eq!(fed(&place, &format!("{line} --ids-from -"), &list), expected, "{line}");
            let more = place.ok(&format!("{line} {other} {ids}"));
            assert_eq!(place.ok(&format!("{line} {other} --ids-from {kind}.txt")), more, "{line}");
        }
        let first: Vec<&str> = ids.split(' ').take(2).collect();
        place.file("two.txt", &first.join("\n"));
        for run in ["bfs", "betweenness"] {
            let sources =
                format!("run {run} {kind}.esker --source {} --source {} -q -o -", first[0], first[1]);
            let listed = format!("run {run} {kind}.esker --source {} --ids-from - -q -o -", first[0]);
            assert_eq!(fed(&place, &listed, first[1]), place.ok(&sources), "{run}");
            let listed = format!("run {run} {kind}.esker --ids-from two.txt -q -o -");
            assert_eq!(place.ok(&listed), place.ok(&sources), "{run}");
        }
        place.ok(&format!("delete {kind}.esker --ids-from two.txt"));
        assert_eq!(place.json(&format!("info {kind}.esker --json"))["vertices"], 2);
    }
}

/// A first line such as `id` was dropped though a vertex had that id, and tabs cut ids that are deleted.
#[test]
fn the_first_line_of_a_list_is_a_heading_only_where_no_vertex_is_called_so() {
    let place = Place::new();
    place.file("e.csv", "from,to\nid,a\na,vertex\na,\"x\ty\"\nx,a\n");
    place.ok("import e.csv e.esker -q");
    place.file("ids.txt", "id\na\n");
    place.file("names.txt", "node_id\na\n");
    place.file("tabs.txt", "x\ty\nvertex\n");
    let ids = |rows: &str| -> Vec<String> {
        rows.lines().skip(1).filter_map(|row| row.split(',').next()).map(str::to_owned).collect()
    };
    for (list, expected, told) in [
        ("ids.txt", &["id", "a"][..], "the first line, \"id\", is a vertex"),
        ("names.txt", &["a"], "the first line, \"node_id\", names the column"),
        ("tabs.txt", &["x\ty", "vertex"], ""),
    ] {
        for verb in ["get", "degree"] {
            let output = place.run(&format!("{verb} e.esker --ids-from {list} --format csv"));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(ids(&String::from_utf8_lossy(&output.stdout)), expected, "{verb} {list}: {said}");
            assert!(said.contains(told), "{verb} {list}: {said}");
        }
        place.ok("import e.csv gone.esker -q --force");
        let output = place.run(&format!("delete gone.esker --ids-from {list} --json"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&said);
        assert_eq!(report["changes"]["vertices_removed"], expected.len(), "{list}: {said}");
        for id in expected {
            place.fails(1, &format!("neighbors gone.esker {}", id.replace('\t', "?")), "no vertex");
        }
    }
    for verb in ["run bfs", "estimate bfs", "run bfs --each-version"] {
        let (verb, options) = verb.split_once(" --").map_or((verb, ""), |(verb, _)| (verb, "--each-version"));
        for (list, told) in
            [("ids.txt", "\"id\", is a vertex"), ("names.txt", "\"node_id\", names the column")]
        {
            let output = place.run(&format!("{verb} e.esker --ids-from {list} {options}"));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && said.contains(told), "{verb} {list}: {said}");
        }
    }
    assert_eq!(place.ok("run bfs e.esker --ids-from ids.txt -o - -q").matches(",0").count(), 2);
    place.file("heading.txt", "node_id\n");
    place.fails(2, "run bfs e.esker --ids-from heading.txt", "no ids: there must be one source");
    let output = place.run("delete e.esker --ids-from ids.txt");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the first line, \"id\", is a vertex"), "{said}");
}

#[test]
fn lists_of_ids_that_are_none_are_refused_and_empty_ones_have_no_answer() {
    let place = Place::new();
    place.file("e.csv", "from,to\na,b\n");
    place.ok("import e.csv e.esker");
    place.file("empty.txt", "\n\r\n");
    place.file("bad.txt", "a\nq\n");
    place.file("named.txt", "id\na\n");
    std::fs::write(place.path().join("bytes.txt"), b"a\nb\xff\n").unwrap();
    assert_eq!(place.ok("degree e.esker --ids-from empty.txt --format csv"), "vertex,out_degree,in_degree\n");
    assert_eq!(place.ok("neighbors e.esker --ids-from empty.txt --count --format csv"), "count\n0\n");
    assert_eq!(
        place.ok("get e.esker --ids-from named.txt --format csv"),
        "vertex,out_degree,in_degree\na,1,0\n"
    );
    for (code, line, words) in [
        (1, "get e.esker --ids-from bad.txt", "no vertex has the id \"q\""),
        (1, "get e.esker --ids-from no.txt", "no.txt"),
        (1, "get e.esker --ids-from bytes.txt", "bytes.txt"),
        (2, "get e.esker", "VERTEX"),
        (2, "run betweenness e.esker --ids-from empty.txt", "empty.txt has no ids"),
        (2, "run bfs e.esker", "--source"),
        (2, "degree e.esker --ids-from bad.txt --direction in", "--direction"),
    ] {
        place.fails(code, line, words);
    }
}

#[test]
fn differences_are_tables_and_files_too() {
    let place = Place::new();
    place.file("e.csv", "from,to,amount,old\na,b,1,x\nb,c,2,\"y,z\"\n");
    place.ok("import e.csv e.esker --property all");
    place.file("changes.txt", "+ c d amount=5 old=~\n- b c\n~ a b amount=7 old=w\n");
    place.ok("commit e.esker changes.txt --new");
    place.ok("set e.esker --vertex a age=7");
    let csv = "change,source,target,vertex,property,old,new,amount,property.old\n";
    let all = place.ok("diff e.esker 1 --format csv");
    assert!(all.starts_with(csv), "{all}");
    let mut rows: Vec<&str> = all.lines().skip(1).collect();
    rows.sort_unstable();
    assert_eq!(
        rows,
        [
            "edge added,c,d,,,,,5,",
            "edge changed,a,b,,amount,1,7,7,w",
            "edge changed,a,b,,old,x,w,7,w",
            "edge removed,b,c,,,,,2,\"y,z\"",
            "value changed,,,a,age,,7,,",
            "vertex added,,,d,,,,,",
        ]
    );
    assert_eq!(place.ok("diff e.esker 3 3 --format csv"), csv);
    let objects = place.ok("diff e.esker 1 --format jsonl");
    let lines: Vec<serde_json::Value> =
        objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let json = place.json("diff e.esker 1 --format json");
    assert_eq!(json["differences"], serde_json::Value::from(lines));
    assert_eq!(json, place.json("diff e.esker 1 --json"));
    let script = place.ok("diff e.esker 1");
    assert_eq!(script, place.ok("diff e.esker 1 --format script -o -"));
    for (name, expected) in [("d.csv", &all), ("d.jsonl", &objects), ("d.txt", &script)] {
        place.ok(&format!("diff e.esker 1 -o {name}"));
        let read = || std::fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(read(), *expected, "{name}");
        place.fails(1, &format!("diff e.esker 1 -o {name}"), "exists already");
        place.ok(&format!("diff e.esker 1 -o {name} --force --format script"));
        assert_eq!(read(), script, "{name}");
    }
    place.ok("diff e.esker 1 -o d.csv.gz");
    assert_eq!(std::fs::read(place.path().join("d.csv.gz")).unwrap()[..2], [0x1f, 0x8b]);
    for (line, words) in [
        ("--summary --format csv", "--summary"),
        ("--summary -o x.csv", "--summary"),
        ("--format csv --edge-ids", "--edge-ids"),
        ("--format csv --json", "--json"),
        ("--force", "--output"),
    ] {
        place.fails(2, &format!("diff e.esker 1 {line}"), words);
    }
}

#[test]
fn vertices_are_found_by_the_beginning_of_their_ids() {
    let place = Place::new();
    let rows: String = (0..40).map(|i| format!("lib{},x{i}\n", i * 7 % 40)).collect();
    place.file("e.csv", &format!("from,to\n{rows}Lib,lib\n"));
    place.ok("import e.csv e.esker");
    place.file("more.csv", "from,to\nlibz,libé\n");
    place.ok("add e.esker more.csv");
    place.file("gone.txt", "lib1\nlib39\n");
    place.ok("delete e.esker --vertices gone.txt");
    let found = |options: &str| {
        let rows = place.ok(&format!("get e.esker --format csv {options}"));
        rows.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = (0..40).filter(|i| ![1, 39].contains(i)).map(|i| format!("lib{i}")).collect();
    all.extend(["lib", "libz", "libé"].map(str::to_owned));
    all.sort();
    for top in [0, 1, 7, 41, 100] {
        assert_eq!(found(&format!("--prefix lib --top {top}")), all[..top.min(41)], "{top}");
    }
    assert_eq!(found("--prefix lib"), all[..20]);
    assert_eq!(found("--prefix lib --at 1 --top 99").len(), 41);
    assert_eq!(found("--prefix lib2 --top 2"), ["lib2", "lib20"]);
    assert_eq!(found("--prefix libé"), ["libé"]);
    assert_eq!(found("--prefix nothing"), [""; 0]);
    let said = |line: &str| String::from_utf8_lossy(&place.run(line).stderr).into_owned();
    assert!(said("get e.esker --prefix lib").contains("the first 20 of 41 vertices; --top N shows more"));
    assert!(said("get e.esker --prefix nothing").contains("no id begins with \"nothing\""));
    place.file("i.csv", "from,to\n1,2\n");
    place.ok("import i.csv i.esker");
    for (line, words) in [
        ("get i.esker --prefix 1", "only texts have a beginning"),
        ("get e.esker a --prefix 1", "--prefix"),
        ("get e.esker a --top 1", "--top"),
    ] {
        place.fails(2, line, words);
    }
}

#[test]
fn paths_of_pairs_in_a_file_are_those_of_one_pair_each() {
    let place = Place::new();
    place.file("e.csv", "source,target,cost\na,b,1\nb,c,2\na,c,9\nc,d,1\nx,y,1\nfrom,to,1\n");
    place.ok("import e.csv e.esker --weight cost -q");
    let pairs = [["a", "c"], ["a", "d"], ["x", "y"], ["d", "d"], ["a", "c"]];
    let file = |separator: &str, first: &str| {
        let lines = pairs.iter().map(|pair| pair.join(separator) + "\n");
        first.to_owned() + &lines.collect::<String>()
    };
    place.file("tabs.txt", &file("\t", ""));
    place.file("commas.csv", &file(",", "sender,receiver\n"));
    place.file("blanks.txt", &file(" ", "# pairs\n\n"));
    gzip(&place, "commas.csv");
    for options in [
        "",
        "--weight cost",
        "--count 2",
        "--weight cost --count 3 --max-steps 2 --as-undirected",
        "--avoid b",
    ] {
        let mut expected = String::new();
        for [from, to] in pairs {
            let alone = place.ok(&format!("path e.esker {from} {to} {options} --format csv -q"));
            if expected.is_empty() {
                expected = format!("from,to,{}\n", alone.lines().next().unwrap());
            }
            alone.lines().skip(1).for_each(|row| expected += &format!("{from},{to},{row}\n"));
        }
        let line = format!("path e.esker {options} --format csv -q");
        for list in ["tabs.txt", "commas.csv", "blanks.txt", "commas.csv.gz"] {
            assert_eq!(place.ok(&format!("{line} --ids-from {list}")), expected, "{options} {list}");
        }
        assert_eq!(fed(&place, &format!("{line} --ids-from -"), &file(" ", "")), expected, "{options}");
        place.file(
            "rest.txt",
            &file(" ", "").lines().skip(1).map(|row| format!("{row}\n")).collect::<String>(),
        );
        let given = place.ok(&format!("path e.esker a c --ids-from rest.txt {options} --format csv -q"));
        assert_eq!(given, expected, "{options}");
    }
    // What names columns is a pair where both are vertices.
    place.file("named.csv", "from,to\na,b\n");
    let output = place.run("path e.esker --ids-from named.csv --format csv");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("\"from\" and \"to\" of the first line are vertices"), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 5);
    place.file("none.csv", "");
    assert_eq!(place.ok("path e.esker --ids-from none.csv --format csv"), "from,to,vertex,steps\n");
    // A pair without a path has no rows, and is told.
    place.file("mixed.txt", "a x\na b\nd a\n");
    let output = place.run("path e.esker --ids-from mixed.txt --format csv");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no path leads from \"a\" to \"x\", nor between 1 other pair"), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "from,to,vertex,steps\na,b,a,0\na,b,b,1\n");
    place.file("one.txt", "a\n");
    place.file("unknown.txt", "a b\na q\n");
    for (code, line, words) in [
        (1, "path e.esker --ids-from one.txt", "one.txt:1: a line has the ids of two vertices"),
        (1, "path e.esker --ids-from unknown.txt", "no vertex has the id \"q\""),
        (1, "path e.esker --ids-from no.txt", "no.txt"),
        (2, "path e.esker", "FROM"),
        (2, "path e.esker a", "TO"),
        (2, "path e.esker a --ids-from mixed.txt", "has to end at a vertex"),
    ] {
        place.fails(code, line, words);
    }
}
