//! Parallel edges: a diff says how many, and one of several is deleted by its values.

use crate::place::Place;

/// A graph that keeps parallel edges: 1 -> 2 three times by road and once by rail.
fn graph(direction: &str) -> Place {
    let place = Place::new();
    place.file("e.csv", "source,target,kind\n1,2,road\n1,2,rail\n1,2,road\n1,2,road\n2,3,road\n");
    place.ok(&format!("import e.csv g.esker {direction} --duplicates keep --property kind"));
    place.ok("import e.csv copy.esker --duplicates keep --property kind --undirected");
    place
}

fn edges(place: &Place, database: &str, at: u64) -> Vec<String> {
    let text = place.ok(&format!("export {database} - --format csv --at {at}"));
    let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn a_deletion_with_a_property_deletes_the_edges_with_its_value_and_says_how_many() {
    for direction in ["--directed", "--undirected"] {
        let place = graph(direction);
        place.file("gone.csv", "source,target,kind\n1,2,rail\n2,3,sea\n");
        let said = place.ok("delete g.esker gone.csv --property kind");
        assert!(said.contains("Deleted 1 edge for 2 rows") && said.contains("1 edge removed"), "{said}");
        assert_eq!(edges(&place, "g.esker", 2), ["1,2,road", "1,2,road", "1,2,road", "2,3,road"]);
        let report = place.json("delete g.esker gone.csv --property kind --json");
        assert_eq!(report["edges_deleted"], 0, "{report}");
        assert!(place.ok("delete g.esker gone.csv").contains("Deleted 4 edges for 2 rows"));
        assert_eq!(edges(&place, "g.esker", 1).len(), 5);
        place.fails(2, "delete g.esker gone.csv --property sort", "no edge property for --property sort");
        place.file("ends.csv", "source,target\n1,2\n");
        place.fails(2, "delete g.esker ends.csv --property kind", "kind");
    }
}

#[test]
fn a_diff_says_how_many_parallel_edges_changed_and_is_replayed_exactly() {
    for direction in ["--directed", "--undirected"] {
        let place = graph(direction);
        place.ok("import e.csv again.esker --force --duplicates keep --property kind --directed");
        if direction == "--undirected" {
            place.ok("import e.csv again.esker --force --duplicates keep --property kind --undirected");
        }
        for (script, expected) in [
            ("-2 1 2 kind=road\n", "-2 1 2 kind=road\n"),
            ("- 1 2 kind=road\n+2 1 2 kind=sea\n", "-1 1 2 kind=road\n+2 1 2 kind=sea\n"),
            ("- 2 3\n+ 2 3 kind=rail\n", "+ 2 3 kind=rail\n-1 2 3 kind=road\n"),
            ("-1 1 2\n", ""),
            ("- 1 2\n+ 1 2 kind=sea\n", ""),
        ] {
            place.file("change.txt", script);
            place.ok("commit g.esker change.txt");
            let versions = place.json("log g.esker --json");
            let newest = versions["versions"].as_array().map_or(0, Vec::len) as u64;
            let diff = place.ok(&format!("diff g.esker {}", newest - 1));
            let sorted = |text: &str| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            assert!(expected.is_empty() || sorted(&diff) == sorted(expected), "{script}: {diff}");
            place.file("diff.txt", &diff);
            place.ok("commit again.esker diff.txt");
            assert_eq!(
                edges(&place, "again.esker", newest),
                edges(&place, "g.esker", newest),
                "{script}: {diff}"
            );
        }
        place.ok("compact g.esker");
        assert_eq!(edges(&place, "g.esker", 1).len(), 5);
    }
}

#[test]
fn a_number_of_edges_is_refused_where_none_are_parallel_and_ids_may_look_like_one() {
    let place = Place::new();
    place.file("e.csv", "source,target\n-2,b\n");
    place.ok("import e.csv g.esker --ids text");
    place.file("change.txt", "-1 -2 b\n");
    place.fails(1, "commit g.esker change.txt", "at most one edge from");
    place.file("change.txt", "-2 age=7\n+ -2 c\n- -2 b\n");
    place.ok("commit g.esker change.txt");
    assert!(place.ok("get g.esker -- -2").contains('7'));
    assert_eq!(edges(&place, "g.esker", 2), ["-2,c"]);
}
