//! Reads LDBC Graphalytics graphs: `name.v` with one id a line, `name.e` with `source target [weight]` lines,
//! and `name.properties`, which says how many there are and whether edges are directed.
//!
//! A. Iosup et al., "LDBC Graphalytics: A Benchmark for Large-Scale Graph Analysis on Parallel and
//! Distributed Platforms", VLDB 2016, and its specification, section 2.4: ids are sparse 64-bit integers, an
//! undirected edge stands once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::{Error, Result, value::decimal};
use esker_graph::Message;

use super::blocks::input_error;
use super::shape::LIST;
use super::table::{TableReader, TableStyle};
use super::tally::BlockTally;
use super::vertices::WithVertices;
use crate::read::format::{PickIds, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput};
use crate::read::source::{BlockParser, EdgeBatch, InputBlock, Reader, Schema};

/// `.v`, `.e` and `.properties` side by side.
pub(crate) static GRAPHALYTICS: InputFormat = InputFormat {
    endings: &["properties"],
    is_part,
    ..InputFormat::new("graphalytics", "Graphalytics graph", Choices::Lines, open)
};

/// Endings that compression adds to a name.
const COMPRESSED: [&str; 4] = ["", ".gz", ".zst", ".bz2"];

/// Bytes that a properties file may have.
const PROPERTIES_BYTES_MAX: usize = 1 << 20;

/// What the properties say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PromisedProperties {
    directed: Option<bool>,
    vertices: Option<u64>,
    edges: Option<u64>,
    vertex_file: Option<String>,
    edge_file: Option<String>,
}

/// Whether `input` is one of the files of such a graph: a `.v` or `.e` that has the other beside it.
fn is_part(input: &Input) -> bool {
    match ending(&input.path()) {
        Some(".v") => find(input, &input.path(), ".e").is_some(),
        Some(".e") => find(input, &input.path(), ".v").is_some(),
        _ => false,
    }
}

/// Any of the files of one graph.
///
/// # Errors
/// If they are of several.
fn any_of(inputs: &[Input]) -> Result<&Input> {
    let stem_of = |input: &Input| stem(&input.path()).map(|(stem, _)| stem);
    match inputs {
        [first, others @ ..] if others.iter().all(|other| stem_of(other) == stem_of(first)) => Ok(first),
        _ => Err(Error::invalid("the inputs are of several Graphalytics graphs; import one")),
    }
}

/// Opens a graph; the inputs are any of its three files.
///
/// # Errors
/// If the edges are not there, or a count of the properties is wrong.
fn open(inputs: &[Input], _head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let input = any_of(inputs)?;
    let base = input.path();
    let properties = match part(input, &base, None, ".properties") {
        Some(file) => read_properties(&file)?,
        None => PromisedProperties::default(),
    };
    let Some(edges) = part(input, &base, properties.edge_file.as_deref(), ".e") else {
        let reason = "there is no file of edges beside it, which ends in .e";
        return Err(input_error(&base, None, b"", reason));
    };
    let vertices = part(input, &base, properties.vertex_file.as_deref(), ".v");
    let table = ReadOptions {
        delimiter: Some(options.delimiter.unwrap_or(b' ')),
        header: Some(options.header.unwrap_or(false)),
        quotes: Some(options.quotes.unwrap_or(false)),
        ids: if options.ids == PickIds::Text { PickIds::Text } else { PickIds::Int },
        ..options.clone()
    };
    let style = TableStyle { format: &GRAPHALYTICS, separators: LIST, is_weighted: false };
    let (reader, notes) =
        TableReader::open(std::slice::from_ref(&edges), InputHead::read(&edges)?, style, &table)?;
    let schema = Schema { directed: properties.directed, ..reader.schema().clone() };
    let tally = properties.edges.map(|promised| BlockTally::new(edges.path(), "edges", promised));
    let counted = CountedTable {
        schema,
        parser: Arc::new(CountedTableParser { table: reader.parser(), tally }),
        table: reader,
        handed_out: 0,
    };
    let kind = match properties.directed {
        Some(true) => "; directed",
        Some(false) => "; undirected",
        None => "; without properties, so directed unless named otherwise",
    };
    let notes = notes.into_iter().map(|note| note.and(kind)).collect();
    let reader: Box<dyn Reader> = match vertices {
        Some(vertices) => {
            let head = InputHead::read(&vertices)?;
            Box::new(WithVertices::open(&vertices, head, Box::new(counted), properties.vertices, &table)?)
        }
        None => Box::new(counted),
    };
    Ok(OpenedInput { reader, notes })
}

fn stem(path: &Path) -> Option<(String, &'static str)> {
    let name = path.file_name()?.to_str()?;
    let plain = COMPRESSED[1..].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    [".properties", ".v", ".e"].into_iter().find_map(|end| Some((plain.strip_suffix(end)?.to_owned(), end)))
}

fn ending(path: &Path) -> Option<&'static str> {
    stem(path).map(|(_, end)| end)
}

/// The file of the graph with this ending: `input` itself, or the one that the properties name, or its
/// sibling.
fn part(input: &Input, base: &Path, named: Option<&str>, end: &str) -> Option<Input> {
    if ending(base) == Some(end) {
        return Some(input.clone());
    }
    let named =
        named.and_then(|name| Path::new(name).file_name()).and_then(|name| input.sibling(Path::new(name)));
    named.or_else(|| find(input, base, end))
}

fn find(input: &Input, base: &Path, end: &str) -> Option<Input> {
    let (stem, _) = stem(base)?;
    COMPRESSED.iter().find_map(|compressed| input.sibling(&PathBuf::from(format!("{stem}{end}{compressed}"))))
}

fn read_properties(input: &Input) -> Result<PromisedProperties> {
    let mut head = InputHead::read(input)?;
    head.extend(PROPERTIES_BYTES_MAX)?;
    let failed = |reason: String| input_error(&input.path(), None, b"", reason);
    let text = String::from_utf8_lossy(&head.bytes);
    let mut values = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!'])) {
        if let Some((key, value)) = line.split_once('=') {
            // `graph.NAME.directed`: a name may hold points, so keys are told by their end.
            values.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    let get = |end: &str| {
        let found = values.iter().find(|(key, _)| key.starts_with("graph.") && key.ends_with(end));
        found.map(|(_, value)| value.clone())
    };
    if !values.keys().any(|key| key.starts_with("graph.")) {
        return Err(failed(
            "no line of it begins with graph., so these are not the properties of a Graphalytics graph"
                .into(),
        ));
    }
    let count = |end: &str| match get(end).map(|value| (decimal::id(value.as_bytes()).ok(), value)) {
        Some((None, value)) => {
            Err(failed(format!("{value:?} stands where the number of {} belongs", &end[6..])))
        }
        Some((count, _)) => Ok(count),
        None => Ok(None),
    };
    let directed = match get(".directed").as_deref() {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(other) => return Err(failed(format!("directed is {other:?}, neither true nor false"))),
    };
    let (vertices, edges) = (count(".meta.vertices")?, count(".meta.edges")?);
    Ok(PromisedProperties {
        directed,
        vertices,
        edges,
        vertex_file: get(".vertex-file"),
        edge_file: get(".edge-file"),
    })
}

/// A table whose lines are counted.
struct CountedTable {
    schema: Schema,
    table: TableReader,
    handed_out: u64,
    parser: Arc<CountedTableParser>,
}

struct CountedTableParser {
    table: Arc<dyn BlockParser>,
    tally: Option<Arc<BlockTally>>,
}

impl Reader for CountedTable {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        self.table.limit_memory(bytes, threads)
    }

    fn notes(&self) -> Vec<Message> {
        self.table.notes()
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let block = self.table.next_block()?;
        match (&block, &self.parser.tally) {
            (Some(_), _) => self.handed_out += 1,
            (None, Some(tally)) => tally.finish(self.handed_out)?,
            (None, None) => {}
        }
        Ok(block)
    }
}

impl BlockParser for CountedTableParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let batch = self.table.parse(block)?;
        if let Some(tally) = &self.tally {
            tally.parsed((batch.len() + batch.rejected.len()) as u64)?;
        }
        Ok(batch)
    }

    fn warnings(&self) -> Vec<Message> {
        self.table.warnings()
    }
}
