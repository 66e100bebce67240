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
    let report = place.json("export g.esker z.mtx --no-properties --vertices z.ids --json");
    assert_eq!(report["losses"], serde_json::json!([]));
}

#[test]
fn what_a_reader_would_take_for_something_else_is_said() {
    let place = Place::new();
    place.file(
        "ids.csv",
        "source,target,kind,at\n1,2,7,2024-02-29T10:00:00+01:00\n2,3,8,2024-02-29T10:00:00Z\n",
    );
    place.ok("import ids.csv g.esker --ids text --schema kind:text,at:timestamp[us,Europe/Berlin]");
    let said = |line: &str| {
        let output = place.run(line);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        said.lines().filter(|line| !line.starts_with("Wrote")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        said("export g.esker x.csv"),
        [
            "Nothing in CSV says that these edge properties are texts: kind: import it with --schema NAME:text",
            "CSV has no names of time zones, so times have offsets: at; Parquet and Arrow have them",
            "Nothing in CSV says that the ids are texts: import it with --ids text",
        ]
    );
    assert_eq!(said("export g.esker x.parquet"), [""; 0]);
    assert!(place.ok("export g.esker - --format csv").contains("2024-02-29T11:00:00+01:00"));
    place.ok("import x.csv again.esker --ids text --schema kind:text,at:timestamp[us,Europe/Berlin]");
    assert_eq!(place.ok("export again.esker - --format csv"), place.ok("export g.esker - --format csv"));
    // A reader takes ids with zeros in front for texts by itself.
    place.file("padded.csv", "source,target\n01,2\n2,03\n");
    place.ok("import padded.csv padded.esker --ids text");
    assert_eq!(said("export padded.esker padded-again.csv"), [""; 0]);
    place.ok("import padded-again.csv again.esker --force");
    assert_eq!(place.ok("export again.esker - --format csv"), place.ok("export padded.esker - --format csv"));
    place.file("d.csv", "source,target\n5,6\n6,7\n");
    place.ok("import d.csv d.esker");
    assert_eq!(
        said("export d.esker d.gr"),
        [
            "DIMACS-9 graph has a weight for each edge: all are 1, as the graph has none",
            "DIMACS-9 graph has numbers instead of ids, from 1 on: --vertices FILE writes the id of each, in order",
        ]
    );
    assert_eq!(
        said("export d.esker d.gr --force --vertices d.ids"),
        ["DIMACS-9 graph has a weight for each edge: all are 1, as the graph has none"]
    );
    assert_eq!(
        said("export d.esker d.graph500"),
        ["Nothing in Graph500 edges of 12 bytes says that the graph is directed: import it with --directed"]
    );
}

#[test]
fn a_first_edge_that_reads_as_a_header_is_said_and_comes_back() {
    let place = Place::new();
    let edges = [("source", "target"), ("from", "to"), ("name", "x")];
    for (rest, is_header) in [("x,y", [true, true, false]), ("1,2", [true, true, true])] {
        for ((from, to), is_header) in edges.into_iter().zip(is_header) {
            place.file("g.csv", &format!("a,b\n{from},{to}\n{rest}\n"));
            place.ok("import g.csv g.esker --src a --dst b --ids text --force --directed --no-weight");
            for file in ["g.el", "g.txt"] {
                let report = place.json(&format!("export g.esker {file} --force --json"));
                let told = report["losses"].to_string();
                let remedy = if told.contains("import it with --no-header") { "--no-header" } else { "" };
                assert_eq!(remedy.is_empty(), !is_header, "{from} {to} {rest} {file}: {told}");
                place.ok(&format!("import {file} again.esker --force --ids text --directed {remedy}"));
                let again = place.ok("export again.esker - --format csv");
                assert_eq!(again, place.ok("export g.esker - --format csv"), "{file}: {told}");
            }
        }
    }
}

#[test]
fn ids_with_separators_come_back_from_a_list_of_edges() {
    let place = Place::new();
    for (ids, is_said) in [
        (["a,b", "c,d", "e,f"], true),
        (["1,2", "3", "4,5"], true),
        (["a;b", "c|d", "e"], true),
        (["a", "b", "c,d"], false),
    ] {
        let [a, b, c] = ids;
        place.file("g.csv", &format!("source,target\n\"{a}\",\"{b}\"\n\"{b}\",\"{c}\"\n"));
        place.ok("import g.csv g.esker --ids text --force --directed");
        for (file, is_said) in [("g.txt", is_said), ("g.el", false)] {
            let told = place.json(&format!("export g.esker {file} --force --json"))["losses"].to_string();
            let remedy = if told.contains("import it with --format snap") { "--format snap" } else { "" };
            assert_eq!(!remedy.is_empty(), is_said, "{ids:?} {file}: {told}");
            place.ok(&format!("import {file} again.esker --force --ids text --directed {remedy}"));
            assert_eq!(
                place.ok("export again.esker - --format csv"),
                place.ok("export g.esker - --format csv"),
                "{file}: {told}"
            );
        }
    }
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
fn types_of_vertex_properties_that_a_table_does_not_tell_are_said_and_come_back() {
    let place = Place::new();
    place.file("e.csv", "source,target\na,b\n");
    place.file(
        "v.csv",
        "id,zip,flag,big,wide,whole,small,day,at,plain\n\
         a,7,true,3e20,18446744073709551615,2,0.5,2026-11-29,2026-11-29T08:00:00Z,x\n\
         b,8,false,18446744073709551616,5,9007199254740994,16777216,2026-11-30,,\n",
    );
    place.ok("import e.csv g.esker --directed");
    let schema = "zip:text,flag:text,wide:u64,whole:f64,small:f32,at:timestamp[us,Europe/Berlin]";
    place.ok(&format!("set g.esker v.csv --schema {schema}"));
    let report = place.json("export g.esker x.csv --vertex-properties values.csv --json");
    let lost = "zip:text,flag:text,wide:u64,at:timestamp[us,Europe/Berlin]";
    let said = report["losses"][0].as_str().unwrap();
    let remedy = format!("`esker set` with --schema '{lost}' sets them");
    assert_eq!(said, format!("The CSV of vertex properties does not tell all types: {remedy}"));
    place.ok("import x.csv again.esker --directed");
    place.fails(1, "set again.esker values.csv", "\"wide\" holds numbers");
    let get = |database: &str| {
        let mut types = place.json(&format!("info {database} --json"))["vertex_properties"].clone();
        // Numbers of other widths are the same numbers.
        types.as_array_mut().unwrap().retain(|one| one["name"] != "small");
        (types, ["a", "b"].map(|id| place.ok(&format!("get {database} {id} --json"))))
    };
    // All types are needed: without one of them, its values come back as something else.
    for without in ["", "zip:text,", "flag:text,", ",at:timestamp[us,Europe/Berlin]"] {
        place.ok("import x.csv again.esker --directed --force");
        place.ok(&format!("set again.esker values.csv --schema {}", lost.replace(without, "")));
        assert_eq!(get("again.esker") == get("g.esker"), without.is_empty(), "{without}");
    }
    for (schema, why) in [
        ("age:text", "there is no column \"age\" to declare; the columns are zip, flag"),
        ("id:text", "there is no column \"id\""),
        ("zip:text,zip:i64", "--schema names \"zip\" twice: leave one out"),
        ("zip:i64", "the vertex property \"zip\" has the type text, not i64"),
    ] {
        let refused = place.run(&format!("set g.esker v.csv --schema {schema}"));
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(why), "{refused:?}");
    }
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

#[test]
fn an_export_of_parallel_edges_says_how_to_get_them_back() {
    let place = Place::new();
    place.file("m.csv", "a,b,1\nb,a,2\na,a,3\na,a,4\n");
    place.ok("import m.csv m.esker --undirected --duplicates keep");
    for file in ["m.parquet", "m2.csv", "m.mtx"] {
        let output = place.run(&format!("export m.esker {file}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.matches("parallel edges: import it with --duplicates keep").count(), 1, "{said}");
    }
    place.ok("import m.parquet again.esker --duplicates keep");
    assert_eq!(place.ok("export again.esker - --format csv"), place.ok("export m.esker - --format csv"));
    place.ok("import m.csv simple.esker");
    let output = place.run("export simple.esker s.parquet");
    assert!(!String::from_utf8(output.stderr).unwrap().contains("parallel"));
}

#[test]
fn an_export_that_nobody_can_read_or_an_option_without_effect_is_refused() {
    let place = Place::new();
    place.file("d.csv", "source,target\n5,6\n6,7\n");
    place.ok("import d.csv d.esker");
    for (line, words) in [
        ("export d.esker x.parquet.gz", "x.parquet.gz would be compressed as a whole"),
        ("export d.esker x.sg.zst", "leave out the ending .gz, .zst or .bz2"),
        ("export d.esker y.csv --both-ends", "--both-ends) has no effect on a directed graph"),
    ] {
        let output = place.run(line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(words), "{line}: {said}");
    }
    assert!(!place.path().join("x.parquet.gz").exists() && !place.path().join("y.csv").exists());
    place.ok("export d.esker x.csv.gz");
    place.ok("import x.csv.gz again.esker");
}

/// A graph to export: what its edges are, and how it was imported.
struct Exported {
    directed: bool,
    keeps: bool,
    weighted: bool,
    loops: bool,
}

impl Exported {
    /// All graphs, each with edges that are given in both directions and twice.
    fn all() -> Vec<Self> {
        let is = |number: usize, bit: usize| number >> bit & 1 == 1;
        let graph = |n| Self { directed: is(n, 0), keeps: is(n, 1), weighted: is(n, 2), loops: is(n, 3) };
        (0..16).map(graph).collect()
    }

    fn rows(&self) -> Vec<(u32, u32, u32)> {
        let mut rows = vec![(5, 6, 1), (6, 7, 2), (5, 6, 3), (5, 6, 3), (7, 5, 4)];
        if self.directed {
            rows.push((7, 6, 5));
        }
        if self.loops {
            rows.extend([(6, 6, 6), (6, 6, 7)]);
        }
        if !self.keeps {
            // The last of the edges between two vertices stays, so one is enough.
            rows.drain(2..4);
            rows.retain(|row| row.2 != 6);
        }
        rows
    }

    fn import(&self, place: &Place) {
        let mut text = String::from(if self.weighted { "source,target,weight\n" } else { "source,target\n" });
        for (u, v, weight) in self.rows() {
            text += &if self.weighted { format!("{u},{v},{weight}\n") } else { format!("{u},{v}\n") };
        }
        place.file("rows.csv", &text);
        let direction = if self.directed { "--directed" } else { "--undirected" };
        let rule = if self.keeps { "--duplicates keep" } else { "" };
        place.ok(&format!("import rows.csv g.esker --force {direction} {rule}"));
    }

    /// The edges in order, those of `rows` or of an export; of an undirected one its smaller end is the
    /// first.
    fn sorted(&self, mut edges: Vec<(u32, u32, u32)>) -> Vec<(u32, u32, u32)> {
        if !self.directed {
            edges.iter_mut().for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1), edge.2));
        }
        edges.sort_unstable();
        edges
    }
}

/// The edges of a database as an export gives them; 0 where there is no weight.
fn edges_of(place: &Place, database: &str) -> Vec<(u32, u32, u32)> {
    let text = place.ok(&format!("export {database} - --format csv"));
    let number = |field: Option<&str>| field.map_or(0, |field| field.parse().unwrap());
    let edge = |line: &str| {
        let mut fields = line.split(',');
        (number(fields.next()), number(fields.next()), number(fields.next()))
    };
    text.lines().skip(1).map(edge).collect()
}

/// Exports, imports as the notes say, and compares; false if the format refuses the graph.
fn comes_back(place: &Place, graph: &Exported, file: &str, options: &str) -> bool {
    let output = place.run(&format!("export g.esker {file} --force --json --vertices ids.txt {options}"));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        assert!(told.contains("METIS") || told.contains("has no effect on a directed"), "{file}: {told}");
        return false;
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let losses: Vec<&str> =
        report["losses"].as_array().unwrap().iter().map(|loss| loss.as_str().unwrap()).collect();
    let remedies: Vec<&str> = losses.iter().filter_map(|loss| loss.split("import it with ").nth(1)).collect();
    let loses_weights = losses.iter().any(|loss| loss.contains("weight"));
    place.ok(&format!("import {file} again.esker --force --vertices ids.txt {}", remedies.join(" ")));
    let weight = |weight: u32| if graph.weighted && !loses_weights { weight } else { 0 };
    let least = if options.contains("--where") { 2 } else { 0 };
    let rows = graph.rows().into_iter().filter(|row| row.2 >= least);
    let expected = graph.sorted(rows.map(|(u, v, w)| (u, v, weight(w))).collect());
    let found = edges_of(place, "again.esker").into_iter().map(|(u, v, w)| (u, v, weight(w)));
    let found = graph.sorted(found.collect());
    let what = (graph.directed, graph.keeps, graph.weighted, graph.loops);
    assert_eq!(found, expected, "{file} {options} {what:?} {losses:?}");
    let info = place.json("info again.esker --json");
    assert_eq!(info["directed"], graph.directed, "{file} {options} {what:?} {losses:?}");
    let keeps = losses.iter().any(|loss| loss.contains("parallel edges"));
    assert_eq!(keeps, graph.keeps, "{file} {options} {what:?} {losses:?}");
    true
}

#[test]
fn an_export_comes_back_as_its_own_notes_say() {
    const FILES: [&str; 12] = [
        "x.el",
        "x.csv",
        "x.tsv",
        "x.txt",
        "x.mtx",
        "x.graph",
        "x.gr",
        "x.adj",
        "x.sg",
        "x.parquet",
        "x.arrow",
        "x.graph500",
    ];
    let place = Place::new();
    let mut refused = 0;
    for (number, graph) in Exported::all().into_iter().enumerate() {
        graph.import(&place);
        for (at, file) in FILES.into_iter().enumerate() {
            refused += usize::from(!comes_back(&place, &graph, file, ""));
            // Each format with each option for some graphs.
            if graph.weighted && (at + number) % 3 == 0 {
                refused += usize::from(!comes_back(&place, &graph, file, "--where weight>=2"));
            }
            if !graph.directed && (graph.keeps || at == number % FILES.len()) {
                refused += usize::from(!comes_back(&place, &graph, file, "--both-ends"));
            }
        }
    }
    assert!(refused < 40, "{refused}");
}

/// Formats without ids number vertices by their ids where these are dense, whatever their order in the
/// database.
#[test]
fn a_file_of_vertices_is_in_the_order_of_the_numbers_of_its_export() {
    let place = Place::new();
    place.file("e.csv", "src,dst\n0,1\n1,2\n2,0\n2,3\n");
    for order in ["keep", "degree"] {
        place.ok(&format!("import e.csv g.esker --force --order {order}"));
        for file in ["y.mtx", "y.gr", "y.adj", "y.sg"] {
            place.ok(&format!("export g.esker {file} --vertices v.txt --force"));
            place.ok(&format!("import {file} r.esker --vertices v.txt --force"));
            let edges = place.ok("export r.esker - --format csv");
            let mut edges: Vec<&str> = edges.lines().skip(1).map(|line| &line[..3]).collect();
            edges.sort_unstable();
            assert_eq!(edges, ["0,1", "1,2", "2,0", "2,3"], "{order}, {file}");
        }
    }
}

#[test]
fn blanks_of_ids_and_texts_come_back_from_every_table() {
    let place = Place::new();
    place.file("e.csv", "src,dst\n\" a\",b\na,b\n");
    place.ok("import e.csv g.esker");
    place.file("s.csv", "id,note\n\" a\",\" n \"\n");
    place.ok("set g.esker s.csv");
    place.ok("export g.esker x.csv --vertex-properties p.csv --vertices v.csv");
    place.ok("import x.csv r.esker --vertices v.csv");
    place.ok("set r.esker p.csv");
    let properties = |database: &str| {
        place.ok(&format!("export {database} - --format csv --vertex-properties q.csv --force"))
            + &std::fs::read_to_string(place.path().join("q.csv")).unwrap()
    };
    assert_eq!(properties("g.esker"), properties("r.esker"));
    assert!(properties("r.esker").contains("\" a\",\" n \"\n"), "{}", properties("r.esker"));
    place.ok("run degrees g.esker -o d.csv");
    place.ok("set g.esker d.csv");
    assert!(place.ok("neighbors g.esker b --direction in --format csv").contains("\" a\""));
}

#[test]
fn times_in_seconds_come_back_from_parquet() {
    let place = Place::new();
    place.file("c.csv", "src,dst,p\n1,2,2024-02-29T10:00:00\n");
    place.ok("import c.csv c.esker --schema p:timestamp[s]");
    place.ok("export c.esker c.parquet");
    place.ok("import c.parquet r.esker --property p");
    assert!(place.ok("export r.esker - --format csv").contains("1,2,2024-02-29T10:00:00"));
}
