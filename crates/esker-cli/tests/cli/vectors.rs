//! Vectors of fixed length as properties of vertices, through the doors of the command.

use serde_json::{Value, json};

use crate::place::Place;

/// A graph whose vertices have vectors of 32 and of 64 bits; `c` has none.
fn place() -> Place {
    let place = Place::new();
    place.file("edges.csv", "source,target\na,b\nb,c\nc,a\n");
    place.file(
        "vectors.csv",
        "id,small,large\na,\"[0.1,-1,2e3]\",\"[0.1,1e300]\"\nb,\"[ 1, 2, 3 ]\",\"[3,4]\"\n",
    );
    place.ok("import edges.csv g.esker");
    place.ok("set g.esker vectors.csv --schema small:vector[3] --schema large:vector[f64,2]");
    place
}

fn shown(place: &Place, vertex: &str) -> Value {
    let rows: Value = place.json(&format!("get g.esker {vertex} --json"));
    json!([rows[0]["small"], rows[0]["large"]])
}

#[test]
fn vectors_are_set_changed_frozen_merged_and_shown() {
    let place = place();
    let first = json!([[0.1, -1.0, 2000.0], [0.1, 1e300]]);
    for step in ["options g.esker", "compact g.esker", "check g.esker"] {
        place.ok(step);
        assert_eq!(shown(&place, "a"), first, "{step}");
        assert_eq!(shown(&place, "c"), json!([null, null]), "{step}");
    }
    // A script sets one anew and takes one away.
    place.file("script", "c small=[7,8,9]\nb large=~\n");
    place.ok("commit g.esker script");
    let told = place.ok("diff g.esker 2 3");
    assert!(told == "~ b large=[3.0,4.0] ->\nc small=[7.0,8.0,9.0]\n", "{told}");
    // The difference is a script: it makes the same of a copy.
    place.ok("import edges.csv copy.esker");
    place.ok("set copy.esker vectors.csv --schema small:vector[3],large:vector[f64,2]");
    place.file("again", &told);
    place.ok("commit copy.esker again");
    assert_eq!(place.ok("get g.esker a b c --json"), place.ok("get copy.esker a b c --json"));
    for step in ["check g.esker", "compact g.esker", "check g.esker"] {
        place.ok(step);
        assert_eq!(shown(&place, "c"), json!([[7.0, 8.0, 9.0], null]), "{step}");
        assert_eq!(shown(&place, "b"), json!([[1.0, 2.0, 3.0], null]), "{step}");
    }
}

#[test]
fn exports_hold_vectors_as_lists_and_read_them_back() {
    let place = place();
    let told = place.run("export g.esker edges2.csv --vertex-properties values.csv");
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("small:vector[f32,3]"), "{told}");
    place.ok("import edges2.csv h.esker");
    place.ok("import edges2.csv plain.esker");
    place.ok("set h.esker values.csv --schema small:vector[f32,3],large:vector[f64,2]");
    assert_eq!(place.ok("get g.esker a b c --json"), place.ok("get h.esker a b c --json"));
    for format in ["json", "graphml", "gexf", "gml", "dot"] {
        place.ok(&format!("export g.esker out.{format} --force"));
        let text = std::fs::read_to_string(place.path().join(format!("out.{format}"))).unwrap();
        assert!(text.contains("[1.0,2.0,3.0]"), "{format}: {text}");
        // Only JSON has lists.
        assert_eq!(text.contains("\"small\": [1.0,2.0,3.0]"), format == "json", "{text}");
        place.ok(&format!("import out.{format} again.esker --force"));
        // These state the types.
        if ["json", "graphml"].contains(&format) {
            let shown = |database: &str| place.ok(&format!("get {database} a b c --json"));
            assert_eq!(shown("again.esker"), shown("g.esker"), "{format}");
            place.ok(&format!("add h.esker out.{format}"));
            place.ok(&format!("add plain.esker out.{format}"));
            assert_eq!(shown("h.esker"), shown("g.esker"), "{format}");
            assert_eq!(shown("plain.esker"), shown("g.esker"), "{format}");
            let wrong = text.replace("[1.0,2.0,3.0]", "[1.0,2.0]");
            place.file(&format!("wrong.{format}"), &wrong);
            let reason =
                "vertex property \"small\" is of type vector[f32, 3], but \"[1.0,2.0]\" has 2 numbers, not 3";
            place.fails(1, &format!("import wrong.{format} wrong.esker"), reason);
        }
    }
}

#[test]
fn what_is_no_vector_of_the_type_is_refused_with_its_line() {
    let place = place();
    for (value, reason) in [
        ("[1,2]", "has 2 numbers, not 3"),
        ("1", "is no list of numbers such as [0.5,-1,2]"),
        ("[1,2,x]", "has \"x\", which is no finite number of the type"),
        ("[1,2,1e39]", "has \"1e39\", which is no finite number of the type"),
    ] {
        place.file("wrong.csv", &format!("id,small\na,\"{value}\"\n"));
        let output = place.run("set g.esker wrong.csv");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("wrong.csv:2: ") && said.contains(reason), "{said}");
    }
    place.file("script", "a small=[1,2]\n");
    place.fails(1, "commit g.esker script", "has 2 numbers, not 3");
    place.file("typed.csv", "source,target,v\na,b,\"[1]\"\n");
    let edges = "the edge property \"v\" cannot hold vectors, which vertices have";
    place.fails(2, "import typed.csv n.esker --schema v:vector[1]", edges);
    place.fails(1, "add g.esker typed.csv --define v:vector[1]", edges);
    place.fails(2, "set g.esker vectors.csv --schema small:vector[0]", "the length of a vector is 1 to 8192");
}
