//! Every kind of graph, exported to every format and imported again, is the same but for the losses that the
//! export reported.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use esker_graph::Run;
use esker_import::export::{ExportOptions, Loss, StoredExport, export};
use esker_import::install::import;
use esker_import::open::open_reader;
use esker_import::options::ImportOptions;
use esker_import::read::format::{Format, ReadOptions};
use esker_store::Store;
use esker_store::io::{Disk, RealDisk};
use esker_store::manifest::StagingOptions;

/// A format and the end of its files' names.
const FORMATS: [(&str, &str); 34] = [
    ("el", "el"),
    ("wel", "wel"),
    ("snap", "txt"),
    ("csv", "csv"),
    ("tsv", "tsv"),
    ("mtx", "mtx"),
    ("metis", "graph"),
    ("dimacs", "gr"),
    ("adj", "adj"),
    ("graphalytics", "properties"),
    ("sg", "sg"),
    ("wsg", "wsg"),
    ("graph500", "graph500"),
    ("graph500-64", "packed"),
    ("parquet", "parquet"),
    ("arrow", "arrow"),
    ("graphml", "graphml"),
    ("gexf", "gexf"),
    ("node-link", "json"),
    ("cytoscape", "cyjs"),
    ("networkx", "edgelist"),
    ("gml", "gml"),
    ("pajek", "net"),
    ("dot", "dot"),
    ("leda", "leda"),
    ("ncol", "ncol"),
    ("lgl", "lgl"),
    ("sif", "sif"),
    ("graph6", "g6"),
    ("sparse6", "s6"),
    ("digraph6", "d6"),
    ("col", "col"),
    ("max", "max"),
    ("npz", "npz"),
];
/// Five ends of edges, and two vertices that have none.
const IDS: [[&str; 7]; 6] = [
    ["0", "1", "2", "3", "4", "5", "6"],
    ["1", "2", "3", "4", "5", "6", "7"],
    ["5", "6", "7", "8", "9", "10", "11"],
    ["3", "10", "44", "99999999999", "1000", "12", "77"],
    ["b", "a", "zed", "x", "q-7", "d", "é"],
    ["b", "a", "z d", "x,y", "\"q\"", "c#d", "é"],
];
const ENDS: [(usize, usize); 6] = [(0, 1), (1, 2), (2, 0), (3, 1), (4, 0), (3, 3)];
const WEIGHTS: [Option<[&str; 6]>; 3] =
    [None, Some(["3", "1", "2", "5", "4", "7"]), Some(["0.5", "1.25", "2", "-3.5", "1e300", "0.1"])];

/// What has to come back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    directed: bool,
    vertices: BTreeSet<String>,
    /// The ends, in order if the graph is undirected, and the bits of the weight.
    edges: BTreeSet<(String, String, Option<u64>)>,
}

impl Content {
    fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        let vertices = self.vertices.iter().map(|id| name(id)).collect();
        let edges = self.edges.iter().map(|(a, b, weight)| (name(a), name(b), *weight)).collect();
        Self { directed: self.directed, vertices, edges }.ordered()
    }

    fn ordered(mut self) -> Self {
        if !self.directed {
            let ordered = |(a, b, weight)| if a <= b { (a, b, weight) } else { (b, a, weight) };
            self.edges = self.edges.into_iter().map(ordered).collect();
        }
        self
    }

    fn without(&self, loss: &Loss) -> Self {
        let mut left = self.clone();
        match loss {
            Loss::EdgeProperties(..) => left.edges = reweighted(&self.edges, None),
            Loss::Weights(_) => left.edges = reweighted(&self.edges, Some(1.0_f64.to_bits())),
            Loss::Vertices(..) => {
                left.vertices = self.edges.iter().flat_map(|edge| [edge.0.clone(), edge.1.clone()]).collect();
            }
            Loss::Undirected(_) | Loss::Directed(_) | Loss::Ids(..) => {}
            other => panic!("this graph cannot lose that: {other}"),
        }
        left
    }
}

fn reweighted(
    edges: &BTreeSet<(String, String, Option<u64>)>,
    weight: Option<u64>,
) -> BTreeSet<(String, String, Option<u64>)> {
    edges.iter().map(|(a, b, _)| (a.clone(), b.clone(), weight)).collect()
}

fn load(file: &Path, database: &Path, read: &ReadOptions, directed: Option<bool>) {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let reader = open_reader(&[file.to_str().unwrap()], read).unwrap();
    let staging = StagingOptions { replace: true, ..StagingOptions::default() };
    let options = ImportOptions { directed, threads: 1, ..ImportOptions::default() };
    import(&disk, reader, database, &options, staging).unwrap();
}

/// Writes a database to a file, and the ids of its vertices to another if a path for them is given.
fn save(
    database: &Path,
    file: &Path,
    format: &str,
    vertices: Option<&Path>,
) -> esker_store::Result<Vec<Loss>> {
    let version = Store::open(database)?.latest()?;
    let run = Run::with_threads(1)?;
    let options = ExportOptions {
        format: Some(format.parse()?),
        overwrite: true,
        vertices: vertices.map(Path::to_owned),
        ..ExportOptions::default()
    };
    Ok(export(&StoredExport::new(&version.view(), &run)?, file, &options)?.losses)
}

/// The ids of a file of vertices, which is a table without a header. It has one column, so nothing separates
/// two.
fn listed(vertices: &Path) -> Vec<String> {
    let mut rows =
        csv::ReaderBuilder::new().has_headers(false).delimiter(b'\x01').from_path(vertices).unwrap();
    rows.records().map(|row| row.unwrap()[0].to_owned()).collect()
}

/// The graph of a database, through a CSV.
fn content(database: &Path) -> Content {
    let (edges, vertices) = (database.with_extension("rows"), database.with_extension("ids"));
    save(database, &edges, "csv", Some(&vertices)).unwrap();
    let mut rows = csv::Reader::from_path(&edges).unwrap();
    let edge = |row: csv::StringRecord| {
        let weight = row.get(2).map(|weight| weight.parse::<f64>().unwrap().to_bits());
        (row[0].to_owned(), row[1].to_owned(), weight)
    };
    let edges = rows.records().map(|row| edge(row.unwrap())).collect();
    let directed = Store::open(database).unwrap().latest().unwrap().is_directed();
    Content { directed, vertices: listed(&vertices).into_iter().collect(), edges }.ordered()
}

/// Whether a graph is directed, its weights, its ids, and whether it has vertices without edges.
type Kind = (bool, usize, usize, bool);

fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for directed in [true, false] {
        for weights in 0..WEIGHTS.len() {
            for ids in 0..IDS.len() {
                // Two kinds of ids with everything; the others without fractions, and with vertices without
                // edges.
                let is_full = ids % 4 == 0;
                if weights < 2 || is_full {
                    kinds.push((directed, weights, ids, true));
                }
                if is_full {
                    kinds.push((directed, weights, ids, false));
                }
            }
        }
    }
    kinds
}

/// Why a format has no place for a graph; `None` if it has.
fn refusal(format: Format, (directed, weights, ids, _): Kind) -> Option<&'static str> {
    let needs_weights = matches!(format, Format::WeightedEdgeList | Format::Wsg);
    let needs_integers = matches!(format, Format::Metis | Format::Dimacs | Format::Wsg);
    let needs_ids = matches!(format, Format::Graphalytics | Format::Graph500 | Format::Graph500Wide);
    let is_plain = matches!(format, Format::EdgeList | Format::WeightedEdgeList | Format::Snap);
    match () {
        () if needs_weights && weights == 0 => Some("needs weights"),
        () if needs_integers && weights == 2 => Some("integer weights"),
        () if format == Format::Metis && directed => Some("is undirected"),
        () if matches!(format, Format::Graph6 | Format::Sparse6 | Format::Colouring | Format::Lgl)
            && directed =>
        {
            Some("is undirected")
        }
        () if format == Format::Digraph6 && !directed => Some("is directed"),
        () if matches!(format, Format::Ncol | Format::Lgl) && ids == 5 => Some("cannot stand in"),
        () if needs_ids && ids >= 4 => Some("are texts"),
        () if is_plain && ids == 5 => Some("cannot stand in a plain edge list"),
        () if format == Format::NetworkxList && ids == 5 => Some("cannot stand in a NetworkX list"),
        () => None,
    }
}

#[test]
fn every_graph_comes_back_from_every_format_but_for_what_the_export_said() {
    let kinds = kinds();
    std::thread::scope(|scope| {
        // More threads than processors: imports wait for the disk.
        for part in kinds.chunks(kinds.len().div_ceil(4)) {
            scope.spawn(move || part.iter().for_each(|&kind| all_formats(kind)));
        }
    });
}

fn all_formats(kind: Kind) {
    let (directed, weights, ids, isolated) = kind;
    let (ids, weights) = (&IDS[ids][..if isolated { 7 } else { 5 }], WEIGHTS[weights]);
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    // A file of vertices is a table of one column: an id with quotes is quoted.
    let mut vertices = csv::Writer::from_path(path("in.ids")).unwrap();
    ids.iter().for_each(|id| vertices.write_record([id]).unwrap());
    vertices.flush().unwrap();
    // METIS has no self-loops; the other formats are tried with them.
    for loops in if directed { &[true][..] } else { &[true, false] } {
        let count = ENDS.len() - usize::from(!loops);
        let mut input = csv::Writer::from_path(path("in.csv")).unwrap();
        let head = ["source", "target", "weight"];
        input.write_record(&head[..2 + usize::from(weights.is_some())]).unwrap();
        for (at, (a, b)) in ENDS.into_iter().enumerate().take(count) {
            let weight = weights.map(|weights| weights[at]);
            input.write_record([ids[a], ids[b]].into_iter().chain(weight)).unwrap();
        }
        input.flush().unwrap();
        let vertices = Some(path("in.ids").to_str().unwrap().to_owned());
        let read = ReadOptions { format: Some(Format::Csv), vertices, ..ReadOptions::default() };
        load(&path("in.csv"), &path("g.esker"), &read, Some(directed));
        let original = content(&path("g.esker"));
        assert_eq!((original.vertices.len(), original.edges.len()), (ids.len(), count));
        for (format, end) in FORMATS {
            if *loops != (matches!(format, "metis" | "graph6") && !directed) {
                returns(place.path(), &original, (format, end), kind);
            }
        }
    }
}

/// Exports `g.esker`, imports the file again, and compares.
fn returns(place: &Path, original: &Content, (format, end): (&str, &str), kind: Kind) {
    let what = format!("{format}, (directed, weights, ids, isolated) {kind:?}");
    let (database, file, ids) =
        (place.join("g.esker"), place.join("x").with_extension(end), place.join("x.ids"));
    let saved = save(&database, &file, format, None);
    if let Some(reason) = refusal(format.parse().unwrap(), kind) {
        let error = saved.expect_err(&what).to_string();
        assert!(error.contains(reason), "{what}: {error}");
        return;
    }
    let losses = saved.unwrap_or_else(|error| panic!("{what}: {error}"));
    let distinct: BTreeSet<_> = losses.iter().map(std::mem::discriminant).map(|d| format!("{d:?}")).collect();
    assert_eq!(distinct.len(), losses.len(), "{what}: {losses:?}");
    let directed = losses.iter().find_map(|loss| match loss {
        Loss::Undirected(_) => Some(false),
        Loss::Directed(_) => Some(true),
        _ => None,
    });
    let read = ReadOptions { format: Some(format.parse().unwrap()), ..ReadOptions::default() };
    load(&file, &place.join("again.esker"), &read, directed);
    let mut again = content(&place.join("again.esker"));
    let expected = losses.iter().fold(original.clone(), |left, loss| left.without(loss));
    for loss in &losses {
        let is_real = match loss {
            Loss::Ids(..) => again != expected,
            // Once for each format is enough.
            Loss::Undirected(_) | Loss::Directed(_) if kind.2 > 0 => true,
            Loss::Undirected(_) | Loss::Directed(_) => {
                load(&file, &place.join("plain.esker"), &read, None);
                content(&place.join("plain.esker")).directed != original.directed
            }
            other => original.without(other) != *original,
        };
        assert!(is_real, "{what}: {loss}");
    }
    if let Some(Loss::Ids(_, first)) = losses.iter().find(|loss| matches!(loss, Loss::Ids(..))) {
        let losses = save(&database, &file, format, Some(&ids)).unwrap();
        assert!(!losses.iter().any(|loss| matches!(loss, Loss::Ids(..))), "{what}");
        let names = listed(&ids);
        again = again.renamed(|number| names[(number.parse::<u64>().unwrap() - first) as usize].clone());
    }
    assert_eq!(again, expected, "{what}: {losses:?}");
    if losses.iter().any(|loss| matches!(loss, Loss::Vertices(..))) {
        save(&database, &file, format, Some(&ids)).unwrap();
        let vertices = Some(ids.to_str().unwrap().to_owned());
        load(&file, &place.join("again.esker"), &ReadOptions { vertices, ..read }, directed);
        assert_eq!(content(&place.join("again.esker")).vertices, original.vertices, "{what}");
    }
}
