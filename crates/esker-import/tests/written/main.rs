//! Files that other programs wrote with their own writers, and what they mean: `generate.py` and `generate/`
//! made them.
// The tests read and write files of their own.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod settings;
mod corpus;
mod hostile;
mod lists;
mod meant;
mod round_trips;

use std::path::{Path, PathBuf};

use esker_graph::{Run, vertex};
use esker_import::export::{ExportGraph, ExportOptions, StoredExport, export};
use esker_import::{Duplicates, ImportReport};
use esker_import::{ImportOptions, Input, PickProperties, ReadOptions, import_files, import_inputs};
use esker_store::{Result, Store};

/// A file that a library wrote.
fn written(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written").join(name)
}

/// The vertices of a database and their properties, then its edges, a line each.
fn shown(database: &Path) -> String {
    let view = Store::open(database).unwrap().latest().unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    let records = graph.vertex_records();
    let mut values = vec![None; records.len()];
    let mut lines = Vec::new();
    for v in 0..graph.num_vertices() {
        let v = vertex(v as usize);
        let mut line = Vec::new();
        graph.write_id(v, &mut line).unwrap();
        let mut line = String::from_utf8(line).unwrap();
        graph.vertex_values(v, &mut values).unwrap();
        let given = records.iter().zip(&values).filter_map(|(record, value)| Some((record, value.as_ref()?)));
        let mut given: Vec<String> =
            given.map(|(record, value)| format!(" {}:{}={value}", record.name, record.type_name())).collect();
        given.sort();
        line += &given.concat();
        lines.push(line);
    }
    lines.sort();
    let file = database.with_extension("edges.csv");
    let options = ExportOptions { overwrite: true, ..ExportOptions::default() };
    export(&graph, &file, &options).unwrap();
    let mut edges: Vec<String> =
        std::fs::read_to_string(file).unwrap().lines().skip(1).map(str::to_owned).collect();
    edges.sort();
    let types: Vec<String> = view
        .version()
        .edge_properties()
        .map(|own| format!("{}:{}{}", own.name, own.type_name(), if own.weight { " (weight)" } else { "" }))
        .collect();
    let direction = if graph.is_directed() { "->" } else { "--" };
    format!("{}\n{direction} {}\n{}\n", lines.join("\n"), types.join(", "), edges.join("\n"))
}

/// What a file means, parallel edges kept.
fn meaning(name: &str) -> (String, ImportReport) {
    meaning_of(name, &ReadOptions::default()).unwrap()
}

fn meaning_of(name: &str, read: &ReadOptions) -> Result<(String, ImportReport)> {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("read.esker");
    let options = ImportOptions { duplicates: Duplicates::Keep, ..ImportOptions::default() };
    let report = import_files(&[written(name).to_string_lossy()], &database, read, &options)?;
    Ok((shown(&database), report))
}

/// What a text means as a file of this name.
fn text_meaning(name: &str, text: &str, read: &ReadOptions) -> Result<(String, ImportReport)> {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("read.esker");
    let options = ImportOptions { duplicates: Duplicates::Keep, ..ImportOptions::default() };
    let input = Input::memory(name, text.as_bytes());
    let report = import_inputs(&[input], &database, read, &options)?;
    Ok((shown(&database), report))
}

#[track_caller]
fn check(name: &str, expected: &str) {
    assert_eq!(meaning(name).0, expected, "{name}");
}

const MIXED: &str = "\
a active:bool=true age:i64=30 note:text=x & <y> score:f64=1.5
b age:i64=1099511627776
café
-> weight:f32 (weight), kind:text
a,b,2.0,likes
b,café,0.5,knows
café,a,3.0,likes
";

/// NetworkX has two keys for a weight that is an integer here and a fraction there; both are the weight.
#[test]
fn graphml_of_networkx() {
    check("networkx-3.6.1-mixed.graphml", MIXED);
    check(
        "networkx-3.6.1-numbers.graphml",
        "0\n1\n2\n3\n4\n-- weight:i64 (weight)\n0,1,1\n0,1,2\n1,3,9007199254740993\n2,2,3\n",
    );
    // NetworkX itself does not apply the default of edges.
    check(
        "networkx-3.6.1-defaults.graphml",
        "x group:text=one\ny group:text=none\nz group:text=none\n-- weight:i32 (weight)\nx,y,4\ny,z,1\n",
    );
}

#[test]
fn graphml_of_igraph() {
    check(
        "igraph-1.0.0-people.graphml",
        "n0 age:f64=30 name:text=alice\nn1 age:f64=41 name:text=bob\nn2 name:text=carol\nn3 age:f64=7 name:text=dave\n\
         -> weight:f64 (weight), kind:text\nn0,n1,1.0,a\nn1,n2,2.5,b\nn2,n0,3.0,a\nn3,n3,0.3,\"\"\n",
    );
}

/// Its namespace is misspelt, so that NetworkX refuses it.
#[test]
fn graphml_of_networkit() {
    check(
        "networkit-11.3-weights.graphml",
        "0\n1\n2\n3\n-- weight:f32 (weight)\n0,1,2.5\n0,2,12345678.0\n1,2,1.0\n",
    );
}

/// A key of vertices and one of edges may have the same id. The weights are texts.
#[test]
fn graphml_of_rustworkx() {
    check(
        "rustworkx-0.18.1-pairs.graphml",
        "n0 name:text=a size:f64=16777216\nn1 name:text=b size:f64=0.5\nn2 name:text=c size:f64=1\n\
         -> weight:f32 (weight)\nn0,n1,1.5\nn1,n2,2.0\n",
    );
}

#[test]
fn node_links_of_networkx() {
    check("networkx-3.6.1-mixed.node-link.json", MIXED);
    check(
        "networkx-3.6.1-numbers.node-link.json",
        "0\n1\n2\n3\n4\n-- weight:i64 (weight)\n0,1,1\n0,1,2\n1,3,9007199254740993\n2,2,3\n",
    );
}

#[test]
fn node_links_of_rustworkx() {
    check(
        "rustworkx-0.18.1-pairs.node-link.json",
        "0 name:text=a size:text=16777217.0\n1 name:text=b size:text=0.5\n2 name:text=c size:text=1.0\n\
         -> weight:f32 (weight)\n0,1,1.5\n1,2,2.0\n",
    );
}

#[test]
fn cytoscape_of_networkx() {
    check(
        "networkx-3.6.1-mixed.cytoscape.json",
        "a active:bool=true age:i64=30 name:text=a note:text=x & <y> score:f64=1.5\nb age:i64=1099511627776 name:text=b\n\
         café name:text=café\n-> weight:f32 (weight), kind:text\na,b,2.0,likes\nb,café,0.5,knows\ncafé,a,3.0,likes\n",
    );
}

#[test]
fn gexf_of_networkx() {
    check("networkx-3.6.1-mixed.gexf", MIXED);
    check(
        "networkx-3.6.1-numbers.gexf",
        "0\n1\n2\n3\n4\n-- weight:i64 (weight), networkx_key:i32\n0,1,1,0\n0,1,2,1\n1,3,9007199254740993,0\n2,2,3,0\n",
    );
}

/// Gephi, graphology, and others by the specification of GEXF 1.3.
#[test]
fn gexf_by_its_specification() {
    let text = r#"<?xml version="1.0"?><gexf xmlns="http://gexf.net/1.3" version="1.3"><graph>
        <nodes><node id="a" label="Anne" start="2"><viz:color r="1"/></node><node id="b"/><node id="c"/></nodes>
        <edges><edge source="a" target="b" weight="2.5"/><edge source="b" target="c" type="undirected"/></edges></graph></gexf>"#;
    let (shown, report) = text_meaning("a.gexf", text, &ReadOptions::default()).unwrap();
    assert_eq!(shown, "a label:text=Anne start:f64=2\nb\nc\n-- weight:f32 (weight)\na,b,2.5\nb,c,1.0\n");
    assert_eq!(
        report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["1 value not read that are graphics or nested elements"]
    );
    let mixed = text.replace("weight=\"2.5\"", "type=\"directed\"");
    let (shown, report) = text_meaning("a.gexf", &mixed, &ReadOptions::default()).unwrap();
    assert_eq!(shown, "a label:text=Anne start:f64=2\nb\nc\n-> \na,b\nb,c\nc,b\n");
    assert!(
        report.warnings[0].to_string().contains("1 undirected edge of a directed graph"),
        "{:?}",
        report.warnings
    );
    let mutual = text.replace("weight=\"2.5\"", "type=\"mutual\"").replace("undirected", "directed");
    assert!(text_meaning("a.gexf", &mutual, &ReadOptions::default()).unwrap().0.ends_with("a,b\nb,a\nb,c\n"));
}

/// D3 numbers nodes that have no ids; vis.js says from and to.
#[test]
fn json_of_the_browser() {
    let d3 = r#"{"nodes":[{"name":"A","group":1},{"name":"B","group":2}],"links":[{"source":0,"target":1,"value":8}]}"#;
    let (shown, _) = text_meaning("a.json", d3, &ReadOptions::default()).unwrap();
    assert_eq!(shown, "0 group:i64=1 name:text=A\n1 group:i64=2 name:text=B\n-> value:i32\n0,1,8\n");
    let vis = r#"{"nodes":[{"id":1,"label":"one"},{"id":2}],"edges":[{"from":1,"to":2}]}"#;
    assert_eq!(
        text_meaning("a.json", vis, &ReadOptions::default()).unwrap().0,
        "1 label:text=one\n2\n-> \n1,2\n"
    );
    let graphology = r#"{"options":{"type":"mixed"},"attributes":{},"nodes":[{"key":"a","attributes":{"x":1.5}},{"key":"b"}],
        "edges":[{"key":"e","source":"a","target":"b","undirected":true,"attributes":{"w":1}}]}"#;
    let (shown, _) = text_meaning("a.json", graphology, &ReadOptions::default()).unwrap();
    assert_eq!(shown, "a x:f64=1.5\nb\n-> w:i32\na,b,1\nb,a,1\n");
    let cytoscape = r#"{"elements":[{"group":"nodes","data":{"id":"a"}},{"data":{"id":"b"}},{"data":{"id":"ab","source":"a","target":"b"}}]}"#;
    assert_eq!(text_meaning("a.cyjs", cytoscape, &ReadOptions::default()).unwrap().0, "a\nb\n-> \na,b\n");
}

/// Edges may lack a value, unless there is a default.
#[test]
fn edges_without_a_value() {
    let json = r#"{"nodes":[{"id":"a","n":1},{"id":"b","n":"x"},{"id":"c","n":null}],
"edges":[{"source":"a","target":"b","weight":2},
{"source":"b","target":"c"}]}"#;
    let (shown, _) = text_meaning("a.json", json, &ReadOptions::default()).unwrap();
    assert_eq!(shown, "a n:text=1\nb n:text=x\nc\n-> weight:i64 (weight)\na,b,2\nb,c,\n");
    let read = ReadOptions { defaults: vec!["weight=1".parse().unwrap()], ..ReadOptions::default() };
    let (shown, report) = text_meaning("a.json", json, &read).unwrap();
    assert_eq!(shown, "a n:text=1\nb n:text=x\nc\n-> weight:i32 (weight)\na,b,2\nb,c,1\n");
    assert_eq!(
        report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["vertex property \"n\" has numbers and texts: all are kept as texts"]
    );
    let read = ReadOptions {
        properties: PickProperties::Columns(Vec::new()),
        weight: esker_import::Pick::Skip,
        ..ReadOptions::default()
    };
    assert!(text_meaning("a.json", json, &read).unwrap().0.ends_with("-> \na,b\nb,c\n"));
    let read = ReadOptions { defaults: vec!["weight=x".parse().unwrap()], ..ReadOptions::default() };
    assert!(text_meaning("a.json", json, &read).unwrap_err().to_string().contains("default"));
    let read = ReadOptions { defaults: vec!["weight=1".parse().unwrap()], ..ReadOptions::default() };
    let error = text_meaning("a.csv", "source,target\na,b\n", &read).unwrap_err().to_string();
    assert!(error.contains("\"weight\" is not read as a property"), "{error}");
    let error = text_meaning("a.graph", "2 1\n2\n1\n", &read).unwrap_err().to_string();
    assert!(error.contains("means nothing for a METIS"), "{error}");
}

/// The lists of NetworkX were read as tables: neighbours as weights, braces as vertices.
#[test]
fn lists_of_networkx() {
    let edges =
        "a\nb\ncafé\n-> weight:f32 (weight), kind:text\na,b,2.0,likes\nb,café,0.5,knows\ncafé,a,3.0,likes\n";
    check("networkx-3.6.1-mixed.edgelist", edges);
    check("networkx-3.6.1-mixed.multiline", edges);
    check("networkx-3.6.1-mixed.adjlist", "a\nb\ncafé\n-> \na,b\nb,café\ncafé,a\n");
    let list = "#x.py\n# GMT Sun Nov 29 16:28:29 2026\n#\n1 2 3\n2\n7\n";
    assert_eq!(
        text_meaning("a.txt", list, &ReadOptions::default()).unwrap().0,
        "1\n2\n3\n7\n-> \n1,2\n1,3\n"
    );
    let groups = "#x.py\n# GMT Sun Nov 29 16:28:29 2026\n#\n1 2\n2 {'w': np.float64(2.5)}\n3 {'w': 1}\n2 0\n3 0\n4 0\n";
    for block_bytes in [1, 1 << 20] {
        let read = ReadOptions { block_bytes, ..ReadOptions::default() };
        let shown = text_meaning("a.txt", groups, &read).unwrap().0;
        assert_eq!(shown, "1\n2\n3\n4\n-> w:f32\n1,2,2.5\n1,3,1.0\n");
    }
    let edge = r#"a b {'s': "it's {x}, \x23 é", 'n': (1, 'a}'), 'b': True, 'm': nan}"#;
    let (shown, _) = text_meaning("a.txt", edge, &ReadOptions::default()).unwrap();
    assert_eq!(shown, "a\nb\n-> s:text, n:text, b:bool\na,b,\"it's {x}, # é\",\"(1, 'a}')\",true\n");
    for (list, expected) in [
        ("a b {'w': 1}\nb c {}\n", "a,b,1\nb,c,\n"),
        ("a b {}\nb c {'w': 2}\n", "a,b,\nb,c,2\n"),
        ("a b {'w': None}\nb c {'w': 2}\n", "a,b,\nb,c,2\n"),
    ] {
        let (shown, _) = text_meaning("a.txt", list, &ReadOptions::default()).unwrap();
        assert_eq!(shown, format!("a\nb\nc\n-> w:i64\n{expected}"), "{list}");
    }
    for (list, why) in [
        ("a b {'w': 1}\nb c {'w' 2}\n", "a.txt:2: a colon is missing"),
        ("#\n# GMT x\n#\na 2\nb {}\n", "cut short"),
    ] {
        let error = text_meaning("a.txt", list, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
