//! What an export cannot keep is said, and what can be kept comes back.

use crate::place::Place;

/// An undirected weighted graph with properties of edges and vertices.
fn graph() -> Place {
    let place = Place::new();
    place.file("w.csv", "from,to,weight,kind\na,b,3,road\nb,c,4,rail\n");
    place.file("ages.csv", "id,age,name\na,7,\"Ann, the first\"\nb,,Bob\n");
    place.ok("import w.csv g.esker --property kind --undirected");
    place.ok("set g.esker ages.csv");
    place
}

#[test]
fn each_loss_is_said_once() {
    let place = graph();
    let cases = [
        ("x.csv", [false, true, true]),
        ("x.parquet", [false, true, false]),
        ("x.el", [true, true, true]),
        ("x.wel", [true, true, true]),
        ("x.mtx", [true, true, false]),
        ("x.graph", [true, true, false]),
        ("x.gr", [true, true, true]),
    ];
    for (file, expected) in cases {
        let output = place.run(&format!("export g.esker {file}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && output.stdout.is_empty(), "{file}: {said}");
        let words = [
            "Edge properties not written",
            "Vertex properties not written: age, name",
            "import it with --undirected",
        ];
        for (words, expected) in words.into_iter().zip(expected) {
            assert_eq!(said.matches(words).count(), usize::from(expected), "{file}, {words}: {said}");
        }
    }
    let report = place.json("export g.esker y.el --json");
    assert_eq!(report["losses"].as_array().unwrap().len(), 3, "{report}");
    let report = place.json("export g.esker z.mtx --no-properties --json");
    assert_eq!(report["losses"], serde_json::json!([]));
}

#[test]
fn vertex_properties_come_back() {
    let place = graph();
    let output = place.run("export g.esker x.csv --vertex-properties values.csv");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("Vertex properties"), "{output:?}");
    let values = std::fs::read_to_string(place.path().join("values.csv")).unwrap();
    assert_eq!(values, "vertex,age,name\na,7,\"Ann, the first\"\nb,,Bob\n");
    place.ok("import x.csv again.esker --property kind --undirected");
    place.ok("set again.esker values.csv");
    for id in ["a", "b", "c"] {
        let get = |database: &str| place.ok(&format!("get {database} {id} --format csv"));
        assert_eq!(get("again.esker"), get("g.esker"));
    }
    assert_eq!(
        place.run("export g.esker z.csv --vertex-properties values.csv").status.code(),
        Some(1),
        "it exists"
    );
    place.file("e.el", "1 2\n");
    place.ok("import e.el none.esker");
    assert_eq!(place.run("export none.esker n.csv --vertex-properties v.csv").status.code(), Some(2));
    assert!(!place.path().join("v.csv").exists());
}

#[test]
fn a_generated_undirected_graph_has_both_arcs_where_a_format_has_arcs() {
    let place = Place::new();
    place.ok("generate road --rows 5 --columns 5 --seed 3 r.gr");
    place.ok("generate road --rows 5 --columns 5 --seed 3 r.esker");
    place.ok("export r.esker again.gr");
    let sorted = |name: &str| {
        let text = std::fs::read_to_string(place.path().join(name)).unwrap();
        let mut lines: Vec<String> =
            text.lines().filter(|line| !line.starts_with('c')).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted("r.gr"), sorted("again.gr"));
}
