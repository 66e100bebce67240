//! The targets of the fuzzer: each reader of an input format, given bytes and one of several ways to read
//! them.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use esker_import::open::open_inputs;
use esker_import::read::format::{Format, PickIds, PickProperties, ReadOptions};
use esker_import::read::input::Input;
use esker_import::read::source::{self, EdgeBatch, IdKind, Schema, integer_ids};
use esker_store::Error;

use crate::database;
use crate::log;
use crate::outcome::Outcome;
use crate::seeds;

/// A reader under test.
pub struct Target {
    /// Its name on the command line and in the corpus.
    pub name: &'static str,
    /// The name of the input; the sniffer may look at its ending.
    pub file: &'static str,
    /// The format, or `None` to let the sniffer decide.
    pub format: Option<Format>,
    /// Whether the mutations for texts apply. Then small blocks must give the same edges as large ones.
    pub text: bool,
    /// Well-formed inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

const fn target(
    name: &'static str,
    file: &'static str,
    format: Option<Format>,
    text: bool,
    seeds: fn() -> Vec<Vec<u8>>,
) -> Target {
    Target { name, file, format, text, seeds }
}

/// The targets that are not readers of a format: the files of a database, and its log.
const DATABASE: &str = "database";
const LOG: &str = "log";

/// Every reader, the files of a database, and its log.
pub const TARGETS: [Target; 43] = [
    target("el", "web.el", Some(Format::EdgeList), true, seeds::edge_list),
    target("wel", "web.wel", Some(Format::WeightedEdgeList), true, seeds::weighted_edge_list),
    target("snap", "web.txt", Some(Format::Snap), true, seeds::snap),
    target("csv", "web.csv", Some(Format::Csv), true, seeds::csv),
    target("tsv", "web.tsv", Some(Format::Tsv), true, seeds::tsv),
    target("mtx", "web.mtx", Some(Format::MatrixMarket), true, seeds::matrix_market),
    target("metis", "web.graph", Some(Format::Metis), true, seeds::metis),
    target("dimacs", "web.gr", Some(Format::Dimacs), true, seeds::dimacs),
    target("adj", "web.adj", Some(Format::Adjacency), true, seeds::adjacency),
    target("graphalytics", "web.properties", Some(Format::Graphalytics), true, seeds::graphalytics),
    target("sg", "web.sg", Some(Format::Sg), false, seeds::sg),
    target("wsg", "web.wsg", Some(Format::Wsg), false, seeds::wsg),
    target("graph500", "web.graph500", Some(Format::Graph500), false, seeds::graph500),
    target("graph500-64", "web.packed", Some(Format::Graph500Wide), false, seeds::graph500_wide),
    target("parquet", "web.parquet", Some(Format::Parquet), false, seeds::parquet),
    target("arrow", "web.arrow", Some(Format::Arrow), false, seeds::arrow),
    target("graphml", "web.graphml", Some(Format::GraphMl), true, seeds::graphml),
    target("gexf", "web.gexf", Some(Format::Gexf), true, seeds::gexf),
    target("node-link", "web.json", Some(Format::NodeLink), true, seeds::node_link),
    target("cytoscape", "web.cyjs", Some(Format::Cytoscape), true, seeds::cytoscape),
    target("networkx", "web.adjlist", Some(Format::NetworkxList), true, seeds::networkx),
    target("gml", "web.gml", Some(Format::Gml), true, seeds::gml),
    target("pajek", "web.net", Some(Format::Pajek), true, seeds::pajek),
    target("dot", "web.dot", Some(Format::Dot), true, seeds::dot),
    target("leda", "web.leda", Some(Format::Leda), true, seeds::leda),
    target("ncol", "web.ncol", Some(Format::Ncol), true, seeds::ncol),
    target("lgl", "web.lgl", Some(Format::Lgl), true, seeds::lgl),
    target("sif", "web.sif", Some(Format::Sif), true, seeds::sif),
    target("graph6", "web.g6", Some(Format::Graph6), true, seeds::graph6),
    target("sparse6", "web.s6", Some(Format::Sparse6), true, seeds::graph6),
    target("digraph6", "web.d6", Some(Format::Digraph6), true, seeds::graph6),
    target("col", "web.col", Some(Format::Colouring), true, seeds::colouring),
    target("max", "web.max", Some(Format::MaxFlow), true, seeds::max_flow),
    target("npz", "web.npz", Some(Format::Npz), false, seeds::npz),
    target("x-stream", "web.xs", Some(Format::XStream), false, seeds::x_stream),
    target("gbbs-binary", "web.bin", Some(Format::Gbbs), false, seeds::gbbs),
    target("gbbs-bytes", "web.bytepda", Some(Format::GbbsBytes), false, seeds::gbbs_bytes),
    target("gzip", "web.csv.gz", None, false, seeds::gzip),
    target("zstd", "web.csv.zst", None, false, seeds::zstd),
    target("bzip2", "web.csv.bz2", None, false, seeds::bzip2),
    target("sniffed", "web", None, true, seeds::sniffed),
    target(DATABASE, "", None, false, database::seeds),
    target(LOG, "", None, false, log::seeds),
];

/// Bytes of a block: larger than most inputs, and small enough to allocate quickly.
const BLOCK_BYTES: usize = 1 << 14;

/// Number of ways to read an input.
pub const WAYS: usize = database::WAYS;

/// Everything that a reader gave, in order.
#[derive(Debug, Default, PartialEq)]
struct Edges {
    ends: Vec<(Vec<u8>, Vec<u8>)>,
    /// By property.
    values: Vec<Vec<String>>,
    rejected: Vec<(u64, String)>,
}

impl Target {
    /// Bytes at the start of an input that mutations leave alone: the name of the file, for files of a
    /// database.
    pub fn fixed_bytes(&self, bytes: &[u8]) -> usize {
        let name = bytes.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if self.name == DATABASE || self.name == LOG { name } else { 0 }
    }

    /// Reads `bytes` in one of the [`WAYS`].
    ///
    /// # Errors
    /// The promise that the reader broke, in words.
    pub fn examine(&self, bytes: &Arc<[u8]>, way: usize) -> Result<Outcome, String> {
        if self.name == DATABASE {
            return database::examine(bytes, way);
        }
        if self.name == LOG {
            return log::examine(bytes, way);
        }
        let usual = ReadOptions { format: self.format, block_bytes: BLOCK_BYTES, ..ReadOptions::default() };
        let mut options = usual.clone();
        match way {
            1 => options.block_bytes = 48,
            2 => (options.properties, options.ids) = (PickProperties::All, PickIds::Text),
            3 => (options.format, options.ids) = (None, PickIds::Int),
            _ => {}
        }
        let outcome = self.read(bytes, &options);
        if way == 1 && self.text {
            let whole = self.read(bytes, &usual);
            compare(&outcome, &whole)?;
        }
        match outcome {
            Ok(read) => Ok(Outcome::Read {
                edges: read.ends.len() as u64,
                rejected: read.rejected.into_iter().next().map(|(_, reason)| reason),
            }),
            Err(Failure::Broken(promise)) => Err(promise),
            Err(Failure::Refused(error)) => Ok(Outcome::Refused(checked_message(&error)?)),
        }
    }

    fn read(&self, bytes: &Arc<[u8]>, options: &ReadOptions) -> Result<Edges, Failure> {
        let input = if self.format == Some(Format::Graphalytics) {
            three_files(bytes)
        } else {
            Input::memory(self.file, Arc::clone(bytes))
        };
        let mut reader = open_inputs(&[input], options)?.reader;
        let (schema, parser) = (reader.schema().clone(), reader.parser());
        let mut edges = Edges::default();
        while let Some(block) = reader.next_block()? {
            take(&schema, &parser.parse(block)?, &mut edges)?;
        }
        Ok(edges)
    }
}

/// Writes the parts of `bytes` between [`seeds::SEPARATOR`]s as the files of a Graphalytics graph, to a
/// directory of this thread.
fn three_files(bytes: &[u8]) -> Input {
    let thread = format!("esker-fuzz-{}-{:?}", std::process::id(), std::thread::current().id());
    let directory = std::env::temp_dir().join(thread);
    let mut rest = bytes;
    let written = std::fs::create_dir_all(&directory).and_then(|()| {
        ["web.properties", "web.v", "web.e"].iter().try_for_each(|name| {
            let end = rest.windows(seeds::SEPARATOR.len()).position(|window| window == seeds::SEPARATOR);
            let part = &rest[..end.unwrap_or(rest.len())];
            rest = end.map_or(&[], |end| &rest[end + seeds::SEPARATOR.len()..]);
            std::fs::write(directory.join(name), part)
        })
    });
    // Without the files there is nothing to test.
    written.unwrap_or_else(|error| panic!("cannot write to {}: {error}", directory.display()));
    Input::File(Arc::new(directory.join("web.properties")))
}

#[derive(Debug)]
enum Failure {
    Refused(Error),
    Broken(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// The edges of a text must not depend on its division into blocks. The exception is a quote that never
/// closes: the reader guesses how much such a line swallows, and searches for its end no further than a
/// block.
fn compare(small: &Result<Edges, Failure>, large: &Result<Edges, Failure>) -> Result<(), String> {
    let open_quote = |read: &Result<Edges, Failure>| {
        read.as_ref()
            .is_ok_and(|read| read.rejected.iter().any(|(_, reason)| reason.contains("never closes")))
    };
    match (small, large) {
        _ if open_quote(small) || open_quote(large) => Ok(()),
        (Ok(small), Ok(large)) if small != large => {
            Err(format!("small blocks give {small:?}, large ones {large:?}"))
        }
        // Two numbers of which no type holds both: in different blocks, the import refuses them once all
        // blocks are read.
        (Ok(_), Err(Failure::Refused(error))) if error.to_string().contains("holds both exactly") => Ok(()),
        (Ok(_), Err(Failure::Refused(error))) => Err(format!("refused only in large blocks: {error}")),
        (Err(Failure::Refused(error)), Ok(_)) => Err(format!("refused only in small blocks: {error}")),
        _ => Ok(()),
    }
}

/// A message must name the input and say something.
fn checked_message(error: &Error) -> Result<String, String> {
    let message = error.to_string();
    if let Error::Corrupt { .. } = error {
        return Err(format!("an input was taken for a file of a database: {message}"));
    }
    if message.len() > 2000 {
        return Err(format!("a message of {} bytes: {message:.200}", message.len()));
    }
    Ok(message)
}

/// Checks that a batch keeps the contract between readers and import, and adds it to the edges.
fn take(schema: &Schema, batch: &EdgeBatch, edges: &mut Edges) -> Result<(), Failure> {
    let (sources, targets) = (texts(schema, &batch.source)?, texts(schema, &batch.target)?);
    promise(sources.len() == targets.len(), || {
        format!("{} sources, {} targets", sources.len(), targets.len())
    })?;
    promise(batch.properties.len() == schema.properties.len(), || "columns are missing".to_owned())?;
    edges.values.resize(schema.properties.len(), Vec::new());
    for (column, kept) in batch.properties.iter().zip(&mut edges.values) {
        let values = values(column)?;
        promise(values.len() == sources.len(), || {
            format!("{} values, {} edges", values.len(), sources.len())
        })?;
        kept.extend(values);
    }
    if let Some(vertices) = &batch.vertices {
        texts(schema, vertices)?;
    }
    edges.ends.extend(sources.into_iter().zip(targets));
    for rejected in &batch.rejected {
        let good = !rejected.reason.is_empty() && rejected.text.as_bytes().len() <= 400 && rejected.line > 0;
        promise(good, || format!("an odd report: {rejected:?}"))?;
        edges.rejected.push((rejected.line, rejected.reason.to_string()));
    }
    Ok(())
}

fn promise(kept: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failure> {
    if kept { Ok(()) } else { Err(Failure::Broken(otherwise())) }
}

fn texts(schema: &Schema, column: &ArrayRef) -> Result<Vec<Vec<u8>>, Failure> {
    let ids = integer_ids(column);
    match (ids, schema.ids) {
        (Some(ids), IdKind::Numbered { first, num_vertices }) => {
            let outside = ids.iter().find(|id| id.checked_sub(first).is_none_or(|id| id >= num_vertices));
            promise(outside.is_none(), || format!("{outside:?} is not among {num_vertices} from {first}"))?;
        }
        (Some(_), IdKind::Int) | (None, IdKind::Text) => {}
        _ => promise(false, || "ids are not what the schema says".to_owned())?,
    }
    Ok(match ids {
        Some(ids) => ids.iter().map(|id| id.to_le_bytes().to_vec()).collect(),
        None => source::texts(column).into_iter().flatten().map(<[u8]>::to_vec).collect(),
    })
}

fn values(column: &ArrayRef) -> Result<Vec<String>, Failure> {
    if let Some(texts) = source::texts(column) {
        return Ok(texts.map(|text| format!("{text:?}")).collect());
    }
    if let Some(values) = column.as_primitive_opt::<Int64Type>() {
        // A small block may have integers where a larger one has floats, because of one float in it.
        return Ok(values.values().iter().map(|&value| (value as f64).to_string()).collect());
    }
    let values = column.as_primitive::<Float64Type>().values();
    promise(values.iter().all(|value| !value.is_nan()), || "a value is not a number".to_owned())?;
    Ok(values.iter().map(f64::to_string).collect())
}
