//! Integers that are no ids of databases of integers: negative ones, and those of 2^64 and more. Every format
//! refuses the first with the same words, and takes both as texts where it is told to.

use crate::place::Place;

/// The files of the edges `first` to 2 and 2 to 3, by name.
fn files(first: &str) -> Vec<(&'static str, String)> {
    let table = |separator: &str| format!("source{separator}target\n{first}{separator}2\n2{separator}3\n");
    let of_lines = |text: &str| text.replace("ID", first);
    vec![
        ("e.csv", table(",")),
        ("e.tsv", table("\t")),
        ("e.el", of_lines("ID 2\n2 3\n")),
        ("e.wel", of_lines("ID 2 0.5\n2 3 1\n")),
        ("snap.txt", of_lines("# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\nID\t2\n2\t3\n")),
        (
            "e.json",
            of_lines(
                r#"{"directed": true, "multigraph": false, "nodes": [{"id": ID}, {"id": 2}, {"id": 3}], "edges": [{"source": ID, "target": 2}, {"source": 2, "target": 3}]}"#,
            ),
        ),
        (
            "e.cyjs",
            of_lines(
                r#"{"data": [], "directed": true, "multigraph": false, "elements": {"nodes": [{"data": {"id": "ID"}}, {"data": {"id": "2"}}, {"data": {"id": "3"}}], "edges": [{"data": {"source": "ID", "target": "2"}}, {"data": {"source": "2", "target": "3"}}]}}"#,
            ),
        ),
        (
            "e.graphml",
            of_lines(
                r#"<graphml><graph edgedefault="directed"><node id="ID"/><node id="2"/><node id="3"/><edge source="ID" target="2"/><edge source="2" target="3"/></graph></graphml>"#,
            ),
        ),
        (
            "e.gexf",
            of_lines(
                r#"<gexf version="1.2"><graph defaultedgetype="directed"><nodes><node id="ID"/><node id="2"/><node id="3"/></nodes><edges><edge id="0" source="ID" target="2"/><edge id="1" source="2" target="3"/></edges></graph></gexf>"#,
            ),
        ),
        ("e.dot", of_lines("digraph { \"ID\" -> 2; 2 -> 3 }")),
        ("e.sif", of_lines("ID pp 2\n2 pp 3\n")),
        ("e.ncol", of_lines("ID 2\n2 3\n")),
        ("e.lgl", of_lines("# ID\n2\n# 2\n3\n")),
        ("adj.txt", of_lines("#x.py\n# GMT Mon Nov 30 22:43:23 2026\n# \nID 2\n2 3\n3\n")),
    ]
}

#[test]
fn every_format_says_the_same_of_negative_ids_and_takes_them_as_texts() {
    let place = Place::new();
    place.file("known.csv", "source,target\n1,2\n");
    place.ok("import known.csv ints.esker -q");
    for (name, content) in files("-7") {
        place.file(name, &content);
        let format = if name == "adj.txt" { " --format networkx" } else { "" };
        for ids in ["", " --ids int"] {
            let line = format!("import {name} a.esker{ids}{format} -q");
            place.fails(1, &line, "is negative; import with --ids text to take all ids as texts");
            place.fails(1, &line, &format!("{name}:"));
        }
        // A column of weights is none of those that the database remembers.
        let columns = if name == "e.wel" { " --src 1 --dst 2" } else { "" };
        place.fails(
            1,
            &format!("add ints.esker {name}{format}{columns} -q"),
            "is negative; make the ids of the database texts with `esker options --ids text`",
        );
        place.ok(&format!("import {name} b.esker --ids text{format} -q --force"));
        assert_eq!(place.ok("get b.esker -- -7 2 3").lines().count(), 4, "{name}");
        assert_eq!(place.json("info b.esker --json")["edges"], 2, "{name}");
    }
    assert_eq!(place.json("info ints.esker --json")["edges"], 1);
    place.ok("options ints.esker --ids text");
    for (name, _) in files("-7") {
        let format = if name == "adj.txt" { " --format networkx" } else { "" };
        let columns = if name == "e.wel" { " --src 1 --dst 2" } else { "" };
        place.ok(&format!("add ints.esker {name}{format}{columns} -q"));
        assert_eq!(place.ok("get ints.esker -- -7").lines().count(), 2, "{name}");
    }
}

#[test]
fn integers_that_are_too_large_for_ids_become_texts_with_a_warning() {
    let place = Place::new();
    for (name, content) in files("18446744073709551616") {
        // A number of JSON beyond 64 bits is a float.
        if name == "e.json" {
            continue;
        }
        place.file(name, &content);
        let format = if name == "adj.txt" { " --format networkx" } else { "" };
        let output = place.run(&format!("import {name} a.esker --force{format}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {said}");
        let told = format!(
            "warning: {name}: all ids are taken as texts, for some are no integers, such as \"18446744073709551616\"; --ids int \
             refuses these lines"
        );
        assert!(said.contains(&told), "{name}: {said}");
        assert_eq!(place.ok("get a.esker 18446744073709551616").lines().count(), 2, "{name}");
        let line = format!("import {name} b.esker --ids int{format} -q");
        place.fails(1, &line, "is larger than 18446744073709551615; import with --ids text");
        place.file(name, &content.replace("18446744073709551616", "18446744073709551615"));
        place.ok(&format!("import {name} a.esker --force{format} --ids int -q"));
        assert_eq!(place.ok("get a.esker 18446744073709551615").lines().count(), 2, "{name}");
    }
}
