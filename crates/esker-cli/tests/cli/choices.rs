//! Which graph of a version a run computes on: without directions, with another weight.

use crate::place::Place;

/// A directed graph with a weight and another number on each edge: edges both ways, a self-loop, a removed
/// vertex.
fn roads() -> Place {
    let place = Place::new();
    place.file("a.csv", "from,to,weight,toll,kind\n1,2,5,1,a\n2,1,3,8,b\n2,3,4,2,a\n3,3,1,1,a\n4,3,7,0,b\n4,1,9,2,a\n5,1,1,1,a\n");
    place.ok("import a.csv g.esker --property toll --property kind");
    place.file("c.txt", "- 5\n");
    place.ok("commit g.esker c.txt");
    place
}

fn fails(place: &Place, code: i32, line: &str, fragments: &[&str]) {
    let output = place.run(line);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{line}: {message}");
    for fragment in fragments {
        assert!(message.contains(fragment), "{line}: {message}");
    }
}

#[test]
fn a_directed_graph_can_be_read_as_undirected() {
    let place = roads();
    fails(&place, 1, "run msf g.esker", &["undirected", "--as-undirected"]);
    let forest = place.json("run msf g.esker --as-undirected --verify --json --top 5");
    // 1-2 has the smaller of its two weights.
    assert_eq!(forest["answers"]["weight"], 14.0);
    assert_eq!(forest["as_undirected"], true);
    // The edges of the view, fewer where they go both ways, are not counted.
    let edges = place.json("info g.esker --json")["edges"].clone();
    assert_eq!((&forest["directed_edges"], &forest["edges"]), (&edges, &serde_json::Value::Null));
    let said = place.run("run msf g.esker --as-undirected").stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains(&format!("{edges} directed edges read as undirected, version ")), "{said}");
    let each = place.ok("run kcore g.esker --as-undirected --each-version --format csv");
    assert!(each.starts_with("version,vertices,directed_edges,"), "{each}");
    assert_eq!(forest["weight"], "weight");
    let depths = place.ok("run bfs g.esker --source 3 --as-undirected --verify --output -");
    assert_eq!(depths, "vertex,value\n1,2\n2,1\n3,0\n4,1\n");
    // Degrees are those of the undirected graph: with both arcs of 1-2, the core of 1 would be no smaller.
    let cores = place.ok("run kcore g.esker --as-undirected --verify --output -");
    assert_eq!(cores, "vertex,value\n1,2\n2,2\n3,2\n4,2\n");
    place.ok("import a.csv both.esker --duplicates keep");
    let blocks = place.json("run biconnectivity both.esker --as-undirected --verify --json");
    assert_eq!(blocks["answers"]["bridges"], 1);
    let undirected = place.ok("import a.csv u.esker --undirected");
    assert!(undirected.contains("undirected"), "{undirected}");
    place.ok("run bfs u.esker --source 3 --as-undirected --verify");
}

#[test]
fn a_graph_without_in_edges_is_read_as_undirected_from_a_copy() {
    let place = roads();
    place.ok("import a.csv out.esker --no-in-edges");
    place.ok("import a.csv both.esker");
    let expected = place.ok("run kcore both.esker --as-undirected -q -o -");
    for access in ["", "--residency pooled", "--residency headed", "--residency mapped", "--residency memory"]
    {
        let line = format!("run kcore out.esker --as-undirected --verify -q -o - {access}");
        assert_eq!(place.ok(&line), expected, "{access}");
    }
    place.ok("run msf out.esker --as-undirected --verify --residency pooled");
}

#[test]
fn a_directed_graph_is_read_as_undirected_from_tiles_a_pool_and_heads() {
    let place = roads();
    let expected =
        place.ok("run kcore g.esker --as-undirected --encoding lists --residency mapped --output -");
    place.ok("compact g.esker --encoding tiles");
    place.file("d.txt", "+ 4 2 weight=6 toll=3 kind=a\n");
    let accesses = [
        "--encoding tiles --residency mapped",
        "--encoding tiles --residency pooled",
        "--encoding lists --residency pooled",
        "--residency headed --head 1",
    ];
    for access in accesses {
        let line = format!("run kcore g.esker --as-undirected --verify --output - {access}");
        assert_eq!(place.ok(&line), expected, "{access}");
    }
    place.ok("commit g.esker d.txt");
    for access in accesses {
        let forest = place.json(&format!("run msf g.esker --as-undirected --verify --json {access}"));
        assert_eq!(forest["answers"]["weight"], 13.0, "{access}");
        assert_eq!(forest["as_undirected"], true);
    }
    let text = place.ok("estimate msf g.esker --as-undirected --residency pooled --encoding lists --explain");
    assert!(text.contains("pooled"), "{text}");
}

#[test]
fn any_numeric_edge_property_can_be_the_weight() {
    let place = roads();
    let distances =
        |options: &str| place.ok(&format!("run sssp g.esker --source 4 --verify --output - {options}"));
    assert_eq!(distances(""), "vertex,value\n1,9\n2,14\n3,7\n4,0\n");
    assert_eq!(distances("--weight toll"), "vertex,value\n1,2\n2,3\n3,0\n4,0\n");
    assert_eq!(distances("--weight toll --as-undirected"), "vertex,value\n1,2\n2,2\n3,0\n4,0\n");
    let report = place.json("run sssp g.esker --source 4 --weight toll --json");
    assert_eq!(report["weight"], "toll");
    place.ok("estimate sssp g.esker --source 1 --weight toll");
    // 2 -> 1 has two thirds of the toll of 2, so 1 gains on 3.
    let rank = |options: &str| {
        let report =
            place.json(&format!("run pagerank g.esker --verify --json --top 4 --tolerance 1e-9 {options}"));
        let top = report["top"].as_array().unwrap().clone();
        top.iter().find(|row| row["vertex"] == 1).unwrap()["value"].as_f64().unwrap()
    };
    assert!(rank("--weight toll") > rank("") + 0.01);
    place.ok("estimate pagerank g.esker --weight toll --explain");
    // Of a file, the option names the column.
    let of_file = place.ok("run pagerank a.csv --weight toll --output -");
    place.ok("import a.csv whole.esker --property toll");
    assert_eq!(of_file, place.ok("run pagerank whole.esker --weight toll --output -"));
    fails(&place, 2, "run wcc a.csv --weight toll", &["wcc does not read the weights of edges"]);
    fails(&place, 2, "run sssp g.esker --source 4 --weight kind", &["texts", "weight, toll"]);
    fails(&place, 2, "run sssp g.esker --source 4 --weight tol", &["tol", "weight, toll, kind"]);
    for verb in ["run", "estimate"] {
        let line = format!("{verb} wcc g.esker --weight toll");
        fails(&place, 2, &line, &["wcc does not read the weights of edges", "without --weight"]);
    }
}
