//! What becomes of duplicate edges, and when the changes of a version happened: the same options for the
//! first edges and for later ones.

use serde_json::json;

use crate::place::Place;

fn said(place: &Place, line: &str) -> String {
    let output = place.run(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

/// The weight of the edge from 1 to 2 in the newest version.
fn weight(place: &Place) -> String {
    place.ok("export d.esker out.csv --force");
    let out = std::fs::read_to_string(place.path().join("out.csv")).unwrap();
    out.lines().find_map(|line| line.strip_prefix("1,2,")).unwrap_or("none").to_owned()
}

#[test]
fn the_rule_of_an_import_holds_for_later_edges() {
    let place = Place::new();
    place.file("a.wel", "1 2 5\n2 3 1\n1 2 7\n");
    place.file("b.wel", "1 2 4\n1 2 9\n");
    for (rule, first, then) in
        [("last", "7", "9"), ("first", "5", "5"), ("sum", "12", "25"), ("min", "5", "4"), ("max", "7", "9")]
    {
        place.ok(&format!("import a.wel d.esker --force --duplicates {rule}"));
        assert_eq!(weight(&place), first, "{rule}");
        let report = place.json("add d.esker b.wel --json");
        assert_eq!(weight(&place), then, "{rule}");
        assert_eq!(report["duplicates"], if rule == "last" { 1 } else { 2 }, "{rule}");
        assert_eq!(place.json("info d.esker --json")["duplicates"], rule);
    }
    place.ok("import a.wel d.esker --force");
    assert_eq!(weight(&place), "7", "the default is that of later edges");
    assert!(place.ok("add d.esker b.wel").contains("Skipped 1 duplicate edge\n"));
    place.ok("add d.esker b.wel --duplicates sum");
    assert_eq!(weight(&place), "22");
    let told = "the edge from 1 to 2 exists already and is added again, as edge 1 of the commit";
    place.fails(1, "add d.esker b.wel --duplicates error", told);
    place.fails(1, "add d.esker b.wel --duplicates keep", "one edge between two vertices");
    let told = "the edge from 1 to 2 is in the input more than once, first as edges 1 and 3";
    place.fails(1, "import a.wel e.esker --duplicates error", told);
    place.file("a.csv", "source,target\nzoe,yan\nann,bob\nbob,ann\nbob,ann\n");
    let told = "the edge from bob to ann is in the input more than once, first as edges 3 and 4";
    place.fails(1, "import a.csv e.esker --duplicates error", told);
    let told = "the edge from bob to ann is in the input more than once, first as edges 2 and 3";
    place.fails(1, "import a.csv e.esker --duplicates error --undirected", told);
    place.file("b.csv", "source,target\n5,9000000000\n70,5\n70,5\n");
    let told = "the edge from 70 to 5 is in the input more than once, first as edges 2 and 3";
    place.fails(1, "import b.csv e.esker --duplicates error", told);
}

#[test]
fn a_default_that_leaves_out_many_edges_says_so_and_offers_to_keep_them() {
    let place = Place::new();
    place.file("calls.csv", "source,target,timestamp\n1,2,100\n1,2,200\n2,3,300\n");
    let warning = said(&place, "import calls.csv d.esker");
    for part in ["1 row (33% of the rows)", "the last of each", "each timestamp", "--duplicates keep"] {
        assert!(warning.contains(part), "{warning}");
    }
    assert!(!said(&place, "import calls.csv d.esker --force --duplicates last").contains("repeat an edge"));
    assert!(!said(&place, "import calls.csv d.esker --force --duplicates keep").contains("repeat an edge"));
    assert_eq!(place.json("info d.esker --json")["edges"], 3);
}

#[test]
fn a_history_is_loaded_with_the_times_of_its_events() {
    let place = Place::new();
    place.file("a.el", "1 2\n");
    place.file("b.el", "2 3\n");
    place.ok("import a.el d.esker --event-time 2011-06-01");
    place.ok("add d.esker b.el --event-time 2012-01-01T12:00:00Z");
    place.file("script", "+ 5 6\n");
    place.ok("commit d.esker script --event-time 2012-01-01T12:00:00Z");
    place.ok("delete d.esker b.el --event-time @1400000000000");
    place.file("ages.csv", "id,age\n1,40\n");
    place.fails(2, "set d.esker ages.csv", "--event-time TIME, or --event-time now");
    place.ok("options d.esker --event-times now");
    place.ok("set d.esker ages.csv");
    let edges = |at: &str| place.json(&format!("info d.esker --at {at} --json"))["edges"].clone();
    assert_eq!(edges("2011-06-01"), json!(1));
    assert_eq!(edges("2012-01-01"), json!(3));
    assert_eq!(edges("2014-06-01"), json!(2));
    place.fails(1, "info d.esker --at 2011-05-31", "2011-06-01T00:00:00Z");
    place.fails(1, "add d.esker b.el --event-time 2013-01-01", "is before");
    place.fails(2, "add d.esker b.el --event-time yesterday", "is not a time");
    let log = place.json("log d.esker --json");
    let versions = log["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 5);
    assert_eq!(versions[4]["time"], "2011-06-01T00:00:00Z");
    assert!(versions[4]["committed"].as_str().unwrap() > "2026");
    assert_eq!(versions[0]["time"], versions[0]["committed"]);
    let shown = place.ok("log d.esker");
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[4].contains("2011-06-01T00:00:00Z") && lines[4].contains("(committed 20"), "{shown}");
    assert!(!lines[0].contains("(committed"), "{shown}");
    let info = place.ok("info d.esker --at 1");
    assert!(info.contains("2011-06-01T00:00:00Z (committed 20"), "{info}");
    place.ok("compact d.esker");
    place.ok("check d.esker");
    let times = |log: &serde_json::Value| -> Vec<[serde_json::Value; 2]> {
        let versions = log["versions"].as_array().unwrap().iter();
        versions.map(|version| [version["time_ms"].clone(), version["committed_ms"].clone()]).collect()
    };
    assert_eq!(times(&place.json("log d.esker --json")), times(&log));
}

#[test]
fn a_diff_is_replayed_whatever_the_rule_for_duplicates_or_refused() {
    let place = Place::new();
    place.file("one.csv", "source,target,weight\n1,2,3\n");
    for rule in ["min", "max", "sum", "first", "last"] {
        place.ok(&format!("import one.csv {rule}.esker --duplicates {rule} --force"));
        place.ok(&format!("import one.csv other-{rule}.esker --duplicates {rule} --force"));
        place.file("change.txt", "- 1 2\n+ 1 2 weight=8\n");
        place.ok(&format!("commit {rule}.esker change.txt"));
        let diff = place.ok(&format!("diff {rule}.esker 1 2 -q"));
        assert!(diff.starts_with("~ 1 2"), "{diff}");
        place.file("diff.txt", &diff);
        place.ok(&format!("commit other-{rule}.esker diff.txt"));
        let exported = place.ok(&format!("export other-{rule}.esker - --format csv -q"));
        assert!(exported.contains("1,2,8"), "{rule}: {exported}");
    }
    place.ok("import one.csv many.esker --duplicates keep");
    place.file("change.txt", "- 1 2\n+ 1 2 weight=8\n");
    place.ok("commit many.esker change.txt");
    // Where edges may be parallel, a line says how many it means.
    let diff = place.ok("diff many.esker 1 2 -q");
    assert_eq!(diff, "-1 1 2 weight=3\n+ 1 2 weight=8\n");
    place.file("diff.txt", &diff);
    place.ok("import one.csv others.esker --duplicates keep");
    place.ok("commit others.esker diff.txt");
    assert!(place.ok("export others.esker - --format csv -q").ends_with("\n1,2,8\n"));
    place.file("change.txt", "~ 1 2 weight=8 -> 9\n");
    place.fails(1, "commit others.esker change.txt", "how many of several parallel edges change");
}

#[test]
fn the_greatest_id_is_a_label_of_communities() {
    let place = Place::new();
    place.file("u.csv", "source,target\n18446744073709551615,18446744073709551614\n");
    let rows = place.ok("run cdlp u.csv --undirected --output - --verify -q");
    assert_eq!(rows.matches("18446744073709551615").count(), 2, "{rows}");
    assert_eq!(rows.matches("18446744073709551614").count(), 2, "{rows}");
}
