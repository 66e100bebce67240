//! Exact text of small graphs in every format, and random graphs written and read back.

use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::LargeBinaryArray;
use arrow_array::builder::{Float64Builder, Int64Builder, UInt32Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use esker_format::LogicalType;
use esker_format::io::{Disk, RealDisk};
use esker_graph::random::Random;
use esker_graph::{Direction, VertexId, vertex};

use super::*;
use crate::open::{open_inputs, open_reader};
use crate::read::format::{PickProperties, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::source::{EdgeBatch, Reader};
use crate::text::tests::testing::shown;

/// A graph in memory: an arc is source, target, weight and a code of the dictionary `x`, `y z`.
struct Small {
    ids: Vec<String>,
    directed: bool,
    arcs: Vec<(usize, usize, f64, u32)>,
    properties: Vec<PropertyInfo>,
    weight: Option<usize>,
}

impl Small {
    /// Every given edge; of an undirected graph at both ends.
    fn new(
        ids: &[&str],
        directed: bool,
        edges: &[(usize, usize, f64, u32)],
        weight: Option<PropertyKind>,
    ) -> Self {
        let mut arcs = edges.to_vec();
        if !directed {
            arcs.extend(edges.iter().filter(|e| e.0 != e.1).map(|&(u, v, w, c)| (v, u, w, c)));
        }
        let mut properties: Vec<_> = weight
            .iter()
            .map(|&kind| PropertyInfo {
                name: "weight".into(),
                kind,
                logical: LogicalType::Number,
                optional: false,
            })
            .collect();
        if weight.is_some() {
            properties.push(PropertyInfo {
                name: "the, kind".into(),
                kind: PropertyKind::Text,
                logical: LogicalType::Text,
                optional: false,
            });
        }
        let ids = ids.iter().map(|&id| id.to_owned()).collect();
        Self { ids, directed, arcs, properties, weight: weight.map(|_| 0) }
    }

    fn entries(&self, direction: Direction, v: VertexId) -> Vec<(u64, f64, u32)> {
        let mut list: Vec<_> = match direction {
            Direction::Out => {
                self.arcs.iter().filter(|a| a.0 == v as usize).map(|a| (a.1 as u64, a.2, a.3)).collect()
            }
            Direction::In => {
                self.arcs.iter().filter(|a| a.1 == v as usize).map(|a| (a.0 as u64, a.2, a.3)).collect()
            }
        };
        list.sort_by_key(|entry| entry.0);
        list
    }
}

impl ExportGraph for Small {
    fn num_vertices(&self) -> u64 {
        self.ids.len() as u64
    }

    fn num_arcs(&self) -> u64 {
        self.arcs.len() as u64
    }

    fn is_directed(&self) -> bool {
        self.directed
    }

    fn has(&self, _direction: Direction) -> bool {
        true
    }

    fn properties(&self) -> &[PropertyInfo] {
        &self.properties
    }

    fn expect_values(&self, property: usize) -> Result<()> {
        match self.properties[property].name.as_str() {
            "lacking" => Err(Error::invalid("an edge has no value of \"lacking\"")),
            _ => Ok(()),
        }
    }

    fn weight(&self) -> Option<usize> {
        self.weight
    }

    fn dictionary(&self, _property: usize) -> Result<LargeBinaryArray> {
        Ok(LargeBinaryArray::from_iter_values(["x", "y z"]))
    }

    fn degree(&self, direction: Direction, v: VertexId) -> Result<u64> {
        Ok(self.entries(direction, v).len() as u64)
    }

    fn list(
        &self,
        direction: Direction,
        v: VertexId,
        range: Range<u64>,
        least: u64,
        out: &mut BlockBuilder,
    ) -> Result<()> {
        let entries = &self.entries(direction, v)[range.start as usize..range.end as usize];
        for &(target, weight, code) in entries.iter().filter(|entry| entry.0 >= least) {
            out.targets.push(target);
            for values in &mut out.properties {
                let values = values.as_any_mut();
                if let Some(values) = values.downcast_mut::<Int64Builder>() {
                    values.append_value(weight as i64);
                } else if let Some(values) = values.downcast_mut::<Float64Builder>() {
                    values.append_value(weight);
                } else {
                    values.downcast_mut::<UInt32Builder>().unwrap().append_value(code);
                }
            }
        }
        Ok(())
    }

    fn has_text_ids(&self) -> bool {
        self.ids.iter().any(|id| id.parse::<u64>().is_err())
    }

    fn dense_base(&self) -> Option<u64> {
        let mut numbers: Vec<u64> = self.ids.iter().map(|id| id.parse().ok()).collect::<Option<_>>()?;
        numbers.sort_unstable();
        let base = *numbers.first()?;
        numbers.iter().enumerate().all(|(i, &id)| id == base + i as u64).then_some(base)
    }

    fn least_id(&self) -> Option<u64> {
        self.dense_base()
    }

    fn int_id(&self, v: VertexId) -> Result<u64> {
        Ok(self.ids[v as usize].parse().unwrap())
    }

    fn write_id(&self, v: VertexId, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(self.ids[v as usize].as_bytes());
        Ok(())
    }

    fn vertex_of_number(&self, number: u64) -> Result<VertexId> {
        let base = self.dense_base().unwrap();
        Ok(vertex(self.ids.iter().position(|id| *id == (base + number).to_string()).unwrap()))
    }
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Exports and reads the file, decompressed.
    fn export(&self, graph: &Small, name: &str, options: &ExportOptions) -> Result<Vec<u8>> {
        let report = export(graph, &self.path(name), options)?;
        let mut bytes = Vec::new();
        let file = Input::File(Arc::new(report.files[0].clone()));
        file.open()?.read_to_end(&mut bytes).unwrap();
        Ok(bytes)
    }

    fn text(&self, graph: &Small, name: &str) -> String {
        String::from_utf8(self.export(graph, name, &ExportOptions::default()).unwrap()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        RealDisk.list(self.0.path()).unwrap().into_iter().map(|entry| entry.name).collect()
    }
}

#[test]
fn directed_text_formats() {
    let place = Place::new();
    let edges = [(0, 1, 2.0, 0), (0, 2, 7.0, 1), (2, 2, 1.0, 0)];
    let plain = Small::new(&["10", "20", "30"], true, &edges, None);
    assert_eq!(place.text(&plain, "a.el"), "10 20\n10 30\n30 30\n");
    assert_eq!(place.text(&plain, "a.el.gz"), "10 20\n10 30\n30 30\n");
    assert_eq!(place.text(&plain, "a.el.zst"), "10 20\n10 30\n30 30\n");
    assert_eq!(place.text(&plain, "a.el.bz2"), "10 20\n10 30\n30 30\n");
    let snap = "# Directed graph\n# Nodes: 3 Edges: 3\n# FromNodeId\tToNodeId\n10\t20\n10\t30\n30\t30\n";
    assert_eq!(place.text(&plain, "a.txt"), snap);
    assert_eq!(
        place.text(&plain, "a.mtx"),
        "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n1 3\n3 3\n"
    );
    assert_eq!(place.text(&plain, "a.gr"), "p sp 3 3\na 1 2 1\na 1 3 1\na 3 3 1\n");
    assert_eq!(place.text(&plain, "a.adj"), "AdjacencyGraph\n3\n3\n0\n2\n2\n1\n2\n2\n");

    let weighted = Small::new(&["10", "20", "30"], true, &edges, Some(PropertyKind::F64));
    assert_eq!(place.text(&weighted, "b.wel"), "10 20 2.0\n10 30 7.0\n30 30 1.0\n");
    assert_eq!(
        place.text(&weighted, "b.csv"),
        "source,target,weight,\"the, kind\"\n10,20,2.0,x\n10,30,7.0,y z\n30,30,1.0,x\n"
    );
    assert!(
        place
            .text(&weighted, "b.mtx")
            .starts_with("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 2.0\n")
    );
    assert_eq!(place.text(&weighted, "b.adj"), "WeightedAdjacencyGraph\n3\n3\n0\n2\n2\n1\n2\n2\n2\n7\n1\n");
    assert_eq!(place.text(&weighted, "b.v"), "10\n20\n30\n");
    let read = |name: &str| String::from_utf8(RealDisk.read(&place.path(name)).unwrap()).unwrap();
    assert_eq!(read("b.e"), "10 20 2.0\n10 30 7.0\n30 30 1.0\n");
    assert_eq!(
        read("b.properties"),
        "graphs = b\ngraph.b.vertex-file = b.v\ngraph.b.edge-file = b.e\ngraph.b.meta.vertices = 3\n\
         graph.b.meta.edges = 3\ngraph.b.directed = true\ngraph.b.edge-properties.names = weight\n\
         graph.b.edge-properties.types = real\n"
    );
}

#[test]
fn undirected_edges_stand_once_or_twice_as_formats_have_it() {
    let place = Place::new();
    let edges = [(1, 0, 2.0, 0), (1, 2, 3.0, 1), (1, 2, 4.0, 1)];
    let graph = Small::new(&["0", "1", "2"], false, &edges, Some(PropertyKind::I32));
    assert_eq!(place.text(&graph, "a.el"), "0 1\n1 2\n1 2\n");
    assert_eq!(
        place.text(&graph, "a.mtx"),
        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 2\n3 2 3\n3 2 4\n"
    );
    assert_eq!(
        place.text(&graph, "a.gr"),
        "p sp 3 6\na 1 2 2\na 2 1 2\na 2 3 3\na 2 3 4\na 3 2 3\na 3 2 4\n"
    );
    assert_eq!(place.text(&graph, "a.graph"), "3 3 1\n2 2\n1 2 3 3 3 4\n2 3 2 4\n");
    let both = ExportOptions { both_ends: Some(true), properties: false, ..ExportOptions::default() };
    let csv = place.export(&graph, "a.csv", &both).unwrap();
    assert_eq!(String::from_utf8(csv).unwrap(), "source,target\n0,1\n1,0\n1,2\n1,2\n2,1\n2,1\n");
    let looped = Small::new(&["0", "1"], false, &[(0, 0, 1.0, 0), (0, 1, 1.0, 0)], None);
    assert_eq!(place.text(&looped, "b.el"), "0 0\n0 1\n");
    let error = export(&looped, &place.path("b.graph"), &ExportOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("a METIS graph has no self-loops, but the graph has 1"), "{error}");
}

#[test]
fn dense_ids_number_the_vertices_whatever_their_order_in_the_store() {
    let place = Place::new();
    // The store has 7 first; numbers are 5 -> 1, 6 -> 2, 7 -> 3.
    let graph = Small::new(
        &["7", "5", "6"],
        true,
        &[(0, 1, 4.0, 0), (0, 2, 9.0, 0), (1, 2, 8.0, 0)],
        Some(PropertyKind::I32),
    );
    let mtx = "%%MatrixMarket matrix coordinate integer general\n3 3 3\n3 1 4\n3 2 9\n1 2 8\n";
    assert_eq!(place.text(&graph, "a.mtx"), mtx);
    assert_eq!(place.text(&graph, "a.adj"), "WeightedAdjacencyGraph\n3\n3\n0\n1\n1\n1\n0\n1\n8\n4\n9\n");
    let numbers = ExportOptions { ids: WriteIds::Numbers, ..ExportOptions::default() };
    let adj = place.export(&graph, "b.adj", &numbers).unwrap();
    assert_eq!(String::from_utf8(adj).unwrap(), "WeightedAdjacencyGraph\n3\n3\n0\n2\n3\n1\n2\n2\n4\n9\n8\n");
    let csv = place.export(&graph, "b.el", &numbers).unwrap();
    assert_eq!(String::from_utf8(csv).unwrap(), "0 1\n0 2\n1 2\n");
}

#[test]
fn texts_are_quoted_or_refused() {
    let place = Place::new();
    let graph =
        Small::new(&["a", "b c", "say \"x\", y", "#d"], true, &[(0, 1, 1.0, 0), (2, 3, 1.0, 0)], None);
    assert_eq!(place.text(&graph, "a.csv"), "source,target\na,b c\n\"say \"\"x\"\", y\",\"#d\"\n");
    for (name, expected) in [
        ("a.el", "the id \"b c\" cannot stand in a plain edge list"),
        ("a.graph500", "the ids of the graph are texts, but Graph500 edges of 12 bytes has integers"),
        ("a.v", "the ids of the graph are texts, but Graphalytics graph has integers"),
        ("a.wel", "weighted edge list needs weights, but the graph has none"),
        ("a.wsg", "GAP serialised weighted graph needs weights"),
        ("a.graph", "a METIS graph is undirected"),
        ("a.csv", "exists already"),
        ("a.what", "names no format to write"),
    ] {
        let error = export(&graph, &place.path(name), &ExportOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(place.names(), ["a.csv"], "no half-written file is left");
    let force = ExportOptions { overwrite: true, properties: false, ..ExportOptions::default() };
    place.export(&graph, "a.csv", &force).unwrap();
    assert_eq!(place.names(), ["a.csv"]);
    let cancelled = ExportOptions::default();
    cancelled.cancel.cancel();
    assert!(export(&graph, &place.path("b.csv"), &cancelled).is_err());
    assert_eq!(place.names(), ["a.csv"]);
}

#[test]
fn only_formats_without_a_place_for_a_missing_value_refuse_it() {
    let mut graph = Small::new(&["1", "2"], false, &[(0, 1, 1.0, 0)], Some(PropertyKind::I32));
    for lacking in [1, 0] {
        graph.properties[lacking].name = "lacking".into();
        for (name, properties, is_written) in [
            ("a.csv", true, false),
            ("a.parquet", true, false),
            ("a.net", true, lacking == 0),
            ("a.graph", true, lacking == 0),
            ("a.graph", false, false),
            ("a.npz", true, lacking == 0),
            ("a.g6", true, false),
            ("a.el", true, false),
        ] {
            let options = ExportOptions { properties, overwrite: true, ..ExportOptions::default() };
            let refused =
                Place::new().export(&graph, name, &options).map_err(|error| error.to_string()).err();
            let is_refused = refused.as_ref().is_some_and(|error| error.contains("no value of"));
            assert_eq!((is_refused, refused.is_some()), (is_written, is_written), "{name}: {refused:?}");
        }
    }
}

/// Edges as text: ids and properties.
fn read_back(reader: &mut dyn Reader) -> Vec<String> {
    let parser = reader.parser();
    let mut lines = Vec::new();
    while let Some(block) = reader.next_block().unwrap() {
        let batch: EdgeBatch = parser.parse(block).unwrap();
        assert_eq!(batch.rejected, []);
        let columns = [&batch.source, &batch.target].into_iter().chain(&batch.properties);
        let columns: Vec<Vec<String>> = columns.map(shown).collect();
        let line =
            |row: usize| columns.iter().map(|column| column[row].as_str()).collect::<Vec<_>>().join(" ");
        lines.extend((0..batch.len()).map(line));
    }
    lines.sort();
    lines
}

fn random_graph(seed: u64, text_ids: bool, kind: Option<PropertyKind>) -> Small {
    let mut numbers = Random::new(seed);
    let mut random = |below: usize| numbers.index(below);
    let n = 1 + random(40);
    let m = random(120);
    let edges: Vec<_> = (0..m)
        .map(|_| {
            let weight = random(1000) as f64 - 500.0;
            let weight = if kind == Some(PropertyKind::F64) { weight / 8.0 } else { weight };
            (random(n), random(n), weight, random(2) as u32)
        })
        .collect();
    let ids: Vec<String> =
        (0..n).map(|v| if text_ids { format!("v, {v}") } else { ((v * 7 + 3) % 41).to_string() }).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    Small::new(&ids, seed.is_multiple_of(2), &edges, kind)
}

#[test]
fn random_graphs_read_back_from_binary_formats() {
    let place = Place::new();
    for seed in 0..60 {
        let kind = [None, Some(PropertyKind::I32), Some(PropertyKind::F64), Some(PropertyKind::I64)]
            [seed as usize % 4];
        let graph = random_graph(seed, seed % 3 == 0, kind);
        let name = |v: usize| graph.ids[v].clone();
        let expected = |with: bool, both: bool, ids: bool| {
            let mut lines: Vec<String> = graph
                .arcs
                .iter()
                .filter(|arc| both || graph.directed || arc.0 <= arc.1)
                .map(|&(u, v, w, code)| {
                    let ends = if ids { format!("{} {}", name(u), name(v)) } else { format!("{u} {v}") };
                    let kind = ["x", "y z"][code as usize];
                    if with && graph.weight.is_some() { format!("{ends} {w} {kind}") } else { ends }
                })
                .collect();
            lines.sort();
            lines
        };
        let options = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
        let write = |name: &str| {
            let overwrite = ExportOptions { overwrite: true, ..ExportOptions::default() };
            let report = export(&graph, &place.path(name), &overwrite).unwrap();
            assert_eq!(report.vertices, graph.num_vertices());
            Input::File(Arc::new(report.files[0].clone()))
        };
        let open = |name: &str| {
            let (inputs, format) = ([write(name)], named(name).unwrap());
            (format.input().open)(&inputs, InputHead::read(&inputs[0]).unwrap(), &options).unwrap().reader
        };
        let mut reader = open("g.parquet");
        assert_eq!(read_back(reader.as_mut()), expected(true, false, true), "parquet {seed}");
        let mut reader = open("g.arrow");
        assert_eq!(read_back(reader.as_mut()), expected(true, false, true), "arrow {seed}");
        let mut reader = open("g.sg");
        let renumbered = graph.dense_base().is_some();
        if !renumbered {
            assert_eq!(read_back(reader.as_mut()), expected(false, true, false), "sg {seed}");
        }
        if !graph.has_text_ids() {
            for name in ["g.graph500", "g2.graph500.gz"] {
                let mut reader = open(name);
                assert_eq!(read_back(reader.as_mut()), expected(false, false, true), "{name} {seed}");
            }
        }
        if kind == Some(PropertyKind::I32) {
            let mut reader = open("g.wsg");
            let found = read_back(reader.as_mut());
            assert_eq!(found.len(), graph.arcs.len(), "wsg {seed}");
            if !renumbered {
                let expected: Vec<_> = {
                    let mut lines: Vec<String> =
                        graph.arcs.iter().map(|&(u, v, w, _)| format!("{u} {v} {w}")).collect();
                    lines.sort();
                    lines
                };
                assert_eq!(found, expected, "wsg {seed}");
            }
        }
    }
}

/// What a reader gives of a graph: its edges as text, an undirected one from its smaller number or name.
fn read_file(path: &Path, directed: bool) -> Vec<String> {
    // Only tables have properties to choose from.
    let name = path.file_name().unwrap().to_string_lossy();
    let is_table = name.contains("csv") || name.contains("tsv");
    let properties = if is_table { PickProperties::All } else { PickProperties::None };
    let options = ReadOptions { properties, ..ReadOptions::default() };
    let mut reader = open_reader(&[path.to_str().unwrap()], &options).unwrap();
    let said = reader.schema().directed;
    assert!(said.is_none_or(|said| said == directed), "{}: {said:?}", path.display());
    let lines = read_back(reader.as_mut());
    if directed { lines } else { lines.iter().map(|line| smaller_first(line)).collect() }
}

fn smaller_first(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    if words[0] > words[1] {
        words.swap(0, 1);
    }
    words.join(" ")
}

/// How a format is expected to give a graph back.
struct Expected {
    name: &'static str,
    /// First number, if the format has numbers instead of ids.
    numbers_from: Option<u64>,
    both_ends: bool,
    weights: bool,
    kinds: bool,
}

#[test]
fn random_graphs_read_back_from_text_formats() {
    let place = Place::new();
    let format = |name, numbers_from, both_ends, weights, kinds| Expected {
        name,
        numbers_from,
        both_ends,
        weights,
        kinds,
    };
    let formats = [
        format("g.el", None, false, false, false),
        format("g.txt.gz", None, false, false, false),
        format("g.wel", None, false, true, false),
        format("g.csv", None, false, true, true),
        format("g.tsv.zst", None, false, true, true),
        format("g.mtx", Some(1), false, true, false),
        format("g.gr.bz2", Some(1), true, true, false),
        format("g.graph", Some(1), true, true, false),
        format("g.adj", Some(0), true, true, false),
        format("g.properties", None, false, true, false),
    ];
    let overwrite = ExportOptions { overwrite: true, ..ExportOptions::default() };
    let mut compared = [0; 10];
    for seed in 0..40 {
        let kind = [None, Some(PropertyKind::I32), Some(PropertyKind::F64)][seed as usize % 3];
        let mut graph = random_graph(seed, seed % 5 == 0, kind);
        if graph.arcs.is_empty() {
            continue;
        }
        if graph.has_text_ids() {
            graph.ids.iter_mut().for_each(|id| *id = id.replace(", ", "-"));
        }
        for (index, format) in formats.iter().enumerate() {
            if index == 7 && seed % 4 != 2 {
                graph.arcs.retain(|arc| arc.0 != arc.1);
            }
            let report = match export(&graph, &place.path(format.name), &overwrite) {
                Ok(report) => report,
                Err(Error::Invalid(_)) => continue,
                Err(error) => panic!("{} {seed}: {error}", format.name),
            };
            compared[index] += 1;
            let base = graph.dense_base();
            let name = |v: usize| match (format.numbers_from, base) {
                (None, _) => graph.ids[v].clone(),
                (Some(first), None) => (v as u64 + first).to_string(),
                (Some(first), Some(base)) => (graph.int_id(vertex(v)).unwrap() - base + first).to_string(),
            };
            let mut expected = Vec::new();
            for &(u, v, weight, code) in &graph.arcs {
                if !(graph.directed || format.both_ends || u <= v) {
                    continue;
                }
                let mut line = format!("{} {}", name(u), name(v));
                match graph.weight {
                    Some(_) if format.weights => line += &format!(" {weight}"),
                    None if format.name == "g.gr.bz2" => line += " 1",
                    _ => {}
                }
                if format.kinds && graph.weight.is_some() {
                    line += [" x", " y z"][code as usize];
                }
                expected.push(if graph.directed { line } else { smaller_first(&line) });
            }
            expected.sort();
            // DIMACS-9 has arcs only, which says nothing of what they were.
            let directed = graph.directed || format.name == "g.gr.bz2";
            let mut found = read_file(&report.files[report.files.len() - 1], directed);
            if !graph.directed {
                found = found.iter().map(|line| smaller_first(line)).collect();
            }
            found.sort();
            assert_eq!(found, expected, "{} {seed}", format.name);
        }
    }
    assert!(compared.iter().all(|&count| count >= 3), "{compared:?}");
}

#[test]
fn generated_edges_need_no_database() {
    use esker_graph::generate::{Generator, Model, Weighting};
    let place = Place::new();
    let generator = Generator::new(&Model::Complete(300), Weighting::Int { max: 255 }, 5).unwrap();
    let expected: Vec<String> = {
        let mut stream = GeneratorExport::new(&generator, false);
        let mut lines = Vec::new();
        while let Some(block) = stream.next().unwrap() {
            let weights = block.properties[0].as_primitive::<Int64Type>().values();
            lines.extend(
                (0..block.len()).map(|i| format!("{} {} {}", block.sources[i], block.targets[i], weights[i])),
            );
        }
        lines
    };
    assert_eq!(expected.len(), 300 * 299 / 2);
    let write = |name: &str| {
        let report = export_stream(
            &mut GeneratorExport::new(&generator, false),
            &place.path(name),
            &ExportOptions::default(),
        );
        report.map(|report| report.files[0].clone())
    };
    let text = String::from_utf8(RealDisk.read(&write("a.wel").unwrap()).unwrap()).unwrap();
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    let mut sorted = expected;
    sorted.sort();
    let input = Input::File(Arc::new(write("a.parquet").unwrap()));
    let mut reader = open_inputs(&[input], &ReadOptions::default()).unwrap().reader;
    assert_eq!(read_back(reader.as_mut()), sorted);
    let error = write("a.sg").unwrap_err().to_string();
    assert!(error.contains("make a database of it first"), "{error}");
}

#[test]
fn an_export_removes_what_killed_ones_to_the_same_file_left() {
    let place = Place::new();
    // No process has this number: it is beyond the most that Linux gives.
    let dead = place.path(".a.el.4194999.part");
    let kept =
        [".b.el.4194999.part", ".a.el.x.part", ".a.el.4194999.parts", "a.el.4194999.part", ".a.el.1.part"];
    for name in kept.iter().map(|name| place.path(name)).chain([dead.clone()]) {
        drop(RealDisk.try_lock(&name).unwrap());
    }
    let graph = Small::new(&["1", "2"], true, &[(0, 1, 1.0, 0)], None);
    place.text(&graph, "a.el");
    let names = place.names();
    assert!(kept.iter().all(|name| names.iter().any(|other| other == name)), "{names:?}");
    assert_eq!(names.len(), kept.len() + 1, "{names:?}");
    // One that another process of another machine writes has a lock.
    let held = RealDisk.try_lock(&dead).unwrap();
    place.text(&graph, "a2.el");
    let options = ExportOptions { overwrite: true, ..ExportOptions::default() };
    place.export(&graph, "a.el", &options).unwrap();
    assert!(place.names().contains(&".a.el.4194999.part".to_owned()));
    drop(held);
    place.export(&graph, "a.el", &options).unwrap();
    assert!(!place.names().contains(&".a.el.4194999.part".to_owned()));
}
