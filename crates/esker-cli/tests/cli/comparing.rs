//! `esker run --compare`: how much values change from one version or window to another.

use crate::place::Place;

/// Three versions: a path, one more edge, and a vertex that goes.
fn versions() -> Place {
    let place = Place::new();
    place.file("a.csv", "from,to,at\na,b,10\nb,c,20\n");
    place.ok("import a.csv a.esker --time at");
    place.file("b.csv", "from,to,at\na,d,30\na,c,40\n");
    place.ok("add a.esker b.csv");
    place.ok("tag a.esker latest grown");
    place.file("gone", "b\n");
    place.ok("delete a.esker --vertices gone");
    place
}

#[test]
fn the_greatest_change_comes_first_and_vertices_of_one_version_are_missing_in_the_other() {
    let place = versions();
    let table = place.ok("run degrees a.esker -q --compare 1 grown --direction out");
    let words = |table: &str| -> Vec<Vec<String>> {
        table.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let expected: [&[&str]; 5] = [
        &["vertex", "a", "b", "change"],
        &["a", "1", "3", "2.0"],
        &["d", "missing", "0"],
        &["b", "1", "1", "0.0"],
        &["c", "0", "0", "0.0"],
    ];
    assert_eq!(words(&table), expected);
    let csv = place.ok("run degrees a.esker -q --compare 2 3 --direction out --output -");
    let csv: Vec<&str> = csv.lines().collect();
    let expected =
        ["vertex,a,b,change,in_a,in_b", "a,3,2,-1.0,1,1", "b,1,,,1,0", "c,0,0,0.0,1,1", "d,0,0,0.0,1,1"];
    assert_eq!(csv, expected);
    let facts = place.run("run degrees a.esker --compare 2 latest --direction out --top 1");
    let facts = String::from_utf8(facts.stderr).unwrap();
    let fact = |name: &str| {
        let line = facts.lines().find(|line| line.starts_with(name)).expect(&facts);
        line[name.len()..].trim().to_owned()
    };
    assert_eq!(
        (fact("changed"), fact("missing in a"), fact("missing in b")),
        ("2".into(), "0".into(), "1".into())
    );
}

#[test]
fn files_and_json_have_all_rows() {
    let place = versions();
    let found = place.json("run degrees a.esker --compare 1 2 --direction out --json --top 1");
    assert_eq!(
        found[0],
        serde_json::json!({"vertex": "a", "a": 1, "b": 3, "change": 2.0, "in_a": 1, "in_b": 1})
    );
    for name in ["all.csv", "all.json", "all.jsonl", "all.parquet", "all.arrow"] {
        place.ok(&format!("run degrees a.esker --compare 1 2 --direction out --output {name}"));
        assert!(std::fs::metadata(place.path().join(name)).unwrap().len() > 50, "{name}");
    }
    let json = std::fs::read_to_string(place.path().join("all.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json.as_array().unwrap().len(), &json[1]["vertex"], &json[1]["a"]),
        (4, &"d".into(), &().into())
    );
}

#[test]
fn groups_are_compared_by_their_members() {
    let place = versions();
    let csv = place.ok("run wcc a.esker -q --compare 1 2 --output -");
    let changes: Vec<(&str, &str)> = csv
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0], cells[3])
        })
        .collect();
    // One more vertex is in the component of the others, whatever it is called.
    assert_eq!(changes, [("a", "0.25"), ("b", "0.25"), ("c", "0.25"), ("d", "")]);
}

#[test]
fn windows_are_compared_by_their_ends() {
    let place = Place::new();
    place.file(
        "t.csv",
        "from,to,at\na,b,2024-01-01\na,c,2024-01-02\na,b,2024-01-08\na,c,2024-01-09\na,d,2024-01-09\n",
    );
    place.ok("import t.csv t.esker --time at --duplicates keep");
    let line = "run degrees t.esker -q --direction out --window 7d --compare 2024-01-03 2024-01-10 --top 1 --format csv";
    let csv = place.ok(line);
    assert_eq!(csv.lines().nth(1), Some("a,2,3,1.0,1,1"), "{csv}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let place = versions();
    place.fails(
        2,
        "run msf a.esker --as-undirected --compare 1 2",
        "--compare needs a value for each vertex",
    );
    place.fails(2, "run wcc a.esker --compare 1", "2 values");
    place.fails(2, "run wcc a.esker --compare 1 2 --at 1", "cannot be used with");
    place.fails(2, "run wcc a.esker --compare 1 2 --store group", "values of one version");
    place.fails(1, "run wcc a.esker --compare 1 9", "9");
    place.fails(2, "run wcc a.esker --compare 1 2 --store group", "with --at, in place of --compare");
    place.fails(2, "run wcc a.esker --compare 1 2 --explain", "with --at, in place of --compare");
    place.fails(
        2,
        "run wcc a.esker --compare 1 2 --json -o a.json",
        "--json has no effect on --output FILE of --compare",
    );
    place.fails(1, "run bfs a.esker --source d --compare 1 2", "esker: version 1: ");
    place.fails(1, "run wcc a.csv --compare 1 2", "not a database");
}
