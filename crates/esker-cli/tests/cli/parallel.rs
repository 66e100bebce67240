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
        place.file("unknown.csv", "source,target,kind\n1,99,road\n");
        place.fails(1, "delete g.esker unknown.csv --property kind", "no vertex has this id");
        place.ok("delete g.esker unknown.csv --property kind --new");
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

/// A graph whose edges have ids: 1 -> 2 three times by road and once by rail.
fn graph_with_ids(direction: &str) -> Place {
    let place = graph(direction);
    place.ok(&format!(
        "import e.csv g.esker --force {direction} --duplicates keep --property kind --edge-ids"
    ));
    place
}

#[test]
fn an_edge_is_deleted_by_its_id_and_the_others_keep_theirs() {
    for direction in ["--directed", "--undirected"] {
        let place = graph_with_ids(direction);
        let first = ["1,2,rail,v1.2", "1,2,road,v1.1", "1,2,road,v1.3", "1,2,road,v1.4", "2,3,road,v1.1"];
        assert_eq!(edges(&place, "g.esker", 1), first);
        place.file("change.txt", "- 1 2 edge_id=v1.3\n+2 1 2 kind=road\n");
        place.ok("commit g.esker change.txt");
        place.file("gone.csv", "source,target,edge_id\n1,2,v2.1\n2,3,v1.1\n");
        let said = place.ok("delete g.esker gone.csv --property edge_id");
        assert!(said.contains("Deleted 2 edges for 2 rows"), "{said}");
        let left = ["1,2,rail,v1.2", "1,2,road,v1.1", "1,2,road,v1.4", "1,2,road,v2.2"];
        for compaction in
            ["--encoding compressed", "--encoding tiles", "--encoding tiles --only", "--encoding plain"]
        {
            assert_eq!(edges(&place, "g.esker", 3), left);
            assert_eq!(edges(&place, "g.esker", 1), first);
            place.ok(&format!("compact g.esker {compaction}"));
        }
        assert!(place.ok("check g.esker").contains("ok"));
        assert_eq!(place.ok("export g.esker - --format csv --where edge_id=v2.2").lines().count(), 2);
    }
}

#[test]
fn an_id_that_no_edge_has_is_refused_and_nothing_is_committed() {
    let place = graph_with_ids("--undirected");
    for (script, reason) in [
        ("- 1 2 edge_id=v1.1\n- 1 2 edge_id=v1.1\n", "no edge from 1 to 2 has the id v1.1"),
        ("- 1 2 edge_id=v1.5\n", "no edge from 1 to 2 has the id v1.5"),
        ("- 1 2 edge_id=v1.1 kind=rail\n", "no edge from 1 to 2 has the id v1.1 and the other values"),
        ("- 1 3 edge_id=v1.1\n", "no edge from 1 to 3 has the id v1.1"),
        ("- 1 2 edge_id=1.1\n", "is not the id of an edge such as v7.2"),
        ("+ 1 2 kind=sea edge_id=v2.1\n", "the database gives edges their ids: leave edge_id out"),
        ("+1000001 1 2 kind=sea\n", "a line adds at most 1000000 edges"),
        ("1 name=x\n+ 4\n- 4 5 edge_id=v1.1\n", "no vertex has the id"),
    ] {
        place.file("change.txt", script);
        place.fails(1, "commit g.esker change.txt", reason);
    }
    place.file("new.csv", "source,target,kind,edge_id\n1,2,sea,v9.9\n");
    place.fails(2, "add g.esker new.csv --property edge_id", "the database gives edges their ids");
    assert_eq!(edges(&place, "g.esker", 1).len(), 5);
    place.fails(1, "export g.esker - --format csv --at 2", "2");
    place.ok("add g.esker new.csv");
    assert!(edges(&place, "g.esker", 2).contains(&"1,2,sea,v2.1".to_owned()));
}

#[test]
fn a_diff_names_the_edges_that_it_removes_if_asked_to() {
    let place = graph_with_ids("--directed");
    place.ok("backup g.esker same.esker");
    place.file("change.txt", "- 1 2 edge_id=v1.3\n+ 1 2 kind=sea\n");
    place.ok("commit g.esker change.txt");
    assert_eq!(place.ok("diff g.esker 1"), "-1 1 2 kind=road\n+ 1 2 kind=sea\n");
    let diff = place.ok("diff g.esker 1 --edge-ids");
    assert_eq!(diff, "-1 1 2 kind=road edge_id=v1.3\n+ 1 2 kind=sea\n");
    let told = place.json("diff g.esker 1 --json");
    assert_eq!(told["differences"][0]["values"]["edge_id"], "v1.3", "{told}");
    place.file("diff.txt", &diff);
    place.ok("commit same.esker diff.txt");
    assert_eq!(edges(&place, "same.esker", 2), edges(&place, "g.esker", 2));
}

#[test]
fn edges_get_ids_later_and_those_before_have_version_0_if_there_was_more_than_the_import() {
    for direction in ["--directed", "--undirected"] {
        let place = graph(direction);
        place.ok("options g.esker --edge-ids");
        place.ok("options g.esker --edge-ids");
        assert_eq!(edges(&place, "g.esker", 1)[0], "1,2,rail,v1.2");
        let place = graph(direction);
        place.file("change.txt", "- 1 2 kind=rail\n+ 1 2 kind=road\n");
        place.ok("commit g.esker change.txt");
        place.file("new.csv", "source,target,kind\n1,2,rail\n");
        place.ok("add g.esker new.csv --define name:edge-id");
        let found = edges(&place, "g.esker", 3);
        assert_eq!(found[0], "1,2,rail,v3.1");
        assert_eq!(found[1..5], [2, 3, 4, 5].map(|place| format!("1,2,road,v0.{place}")));
        let before = edges(&place, "g.esker", 1);
        assert!(
            before.iter().all(|line| line.contains(",v0.")) && before[0] == "1,2,rail,v0.1",
            "{before:?}"
        );
        place.file("change.txt", "- 1 2 name=v0.2\n");
        place.ok("commit g.esker change.txt");
        assert_eq!(edges(&place, "g.esker", 1), before);
        assert!(place.ok("check g.esker").contains("ok"));
    }
}

#[test]
fn ids_of_edges_are_refused_where_none_are_parallel_and_for_columns_and_vertices() {
    let place = Place::new();
    place.file("e.csv", "source,target,edge_id\n1,2,v1.1\n");
    place.fails(2, "import e.csv g.esker --edge-ids", "give --duplicates keep");
    place.fails(
        2,
        "import e.csv g.esker --property edge_id:edge-id --duplicates keep",
        "read the column as text",
    );
    place.ok("import e.csv g.esker");
    place.fails(1, "options g.esker --edge-ids", "its edges need no ids");
    place.ok("import e.csv texts.esker --duplicates keep --property edge_id");
    place.fails(1, "options texts.esker --edge-ids", "edges already have a property \"edge_id\"");
    place.file("change.txt", "+ 1 2 edge_id=x\n");
    place.ok("commit texts.esker change.txt");
}

#[test]
fn edges_that_expire_leave_the_ids_of_the_others() {
    let place = Place::new();
    place.file("e.csv", "source,target,time\n1,2,1000\n1,2,5000\n1,2,1000\n1,2,6000\n");
    place.ok("import e.csv g.esker --duplicates keep --time time --edge-ids");
    place.ok("expire g.esker 2000");
    assert_eq!(edges(&place, "g.esker", 2), ["1,2,5000,v1.2", "1,2,6000,v1.4"]);
}

/// A float of 32 bits is rarely the number that was written, but it is the nearest one.
#[test]
fn floats_of_32_bits_are_deleted_by_the_numbers_that_were_written() {
    let place = Place::new();
    place.file("e.csv", "src,dst,w\n1,2,0.1\n1,2,0.3\n2,3,0.5\n");
    place.ok("import e.csv f.esker --schema w:f32 --duplicates keep");
    place.file("d.csv", "src,dst,w\n1,2,0.1\n");
    assert!(place.ok("delete f.esker d.csv --weight w").contains("Deleted 1 edge"));
    place.file("d.txt", "-1 1 2 w=0.3\n");
    place.ok("commit f.esker d.txt");
    assert_eq!(place.json("info f.esker --json")["edges"], 1);
}
