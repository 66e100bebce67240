//! The formats that can be read and written, and the choices that a user can make about reading.

use std::borrow::Cow;
use std::str::FromStr;

use esker_format::notation::Notation;
use esker_format::value::name::{plain, quoted_start, split_name};
use esker_format::{PropertyType, Result, TableRecord};
use esker_graph::Cancel;

use crate::read::input::Input;
use crate::read::known_kinds::KnownKinds;
use crate::read::known_vertices::KnownVertices;
use crate::read::live::GrowingInput;
use crate::read::operation::OperationColumn;
use crate::read::source::RejectedText;

/// A format of files. Its entry in the catalogue (`formats.rs`) has its names, its reader and its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `u v` a line.
    EdgeList,
    /// `u v w` a line.
    WeightedEdgeList,
    /// Tabs or spaces between columns, `#` comments, sparse ids.
    Snap,
    /// Columns with any delimiter, with or without a header, with quotes.
    Csv,
    /// Columns separated by tabs.
    Tsv,
    /// Matrix Market: a banner, `rows columns entries`, then 1-based `i j [value]` lines.
    MatrixMarket,
    /// METIS and DIMACS-10: `n m [fmt [ncon]]`, then the 1-based neighbours of each vertex on its line.
    Metis,
    /// DIMACS-9 shortest paths: `p sp n m`, then `a u v w` lines.
    Dimacs,
    /// Ligra and GBBS: `AdjacencyGraph` or `WeightedAdjacencyGraph`, then one number a line.
    Adjacency,
    /// LDBC Graphalytics: `.v`, `.e` and `.properties` beside each other.
    Graphalytics,
    /// GAP's serialised graph without weights.
    Sg,
    /// GAP's serialised graph with 32-bit integer weights.
    Wsg,
    /// Graph500 edges packed in 12 bytes: 48 bits for each end.
    Graph500,
    /// Graph500 edges as two 64-bit integers.
    Graph500Wide,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow's IPC file or stream.
    Arrow,
    /// GraphML: an XML document of nodes and edges with attributes.
    GraphMl,
    /// GEXF: an XML document of nodes and edges with attributes, as Gephi writes it.
    Gexf,
    /// JSON with arrays of nodes and of edges or links.
    NodeLink,
    /// JSON with the elements of Cytoscape.
    Cytoscape,
    /// Lists of NetworkX: edges with dictionaries, and adjacency lists.
    NetworkxList,
    /// GML: nested lists of keys and values.
    Gml,
    /// Pajek: numbered vertices, then arcs and edges.
    Pajek,
    /// Graphviz DOT.
    Dot,
    /// LEDA: vertices with labels, then edges with labels.
    Leda,
    /// NCOL: two names a line, and perhaps a weight.
    Ncol,
    /// LGL: `# name`, then a neighbour a line.
    Lgl,
    /// Cytoscape's SIF: `source interaction target`.
    Sif,
    /// graph6: a bit for each pair of vertices of an undirected graph.
    Graph6,
    /// sparse6: some bits for each edge of an undirected graph.
    Sparse6,
    /// digraph6: a bit for each pair of vertices of a directed graph.
    Digraph6,
    /// DIMACS-2 graphs to be coloured: `p edge n m`, then `e u v` lines.
    Colouring,
    /// DIMACS networks of a maximum flow: `p max n m`, then `a u v capacity` lines.
    MaxFlow,
    /// SciPy's sparse matrices: arrays of NumPy in a zip archive.
    Npz,
    /// X-Stream's edges of 12 bytes, with weights.
    XStream,
    /// GBBS's binary graphs.
    Gbbs,
    /// GBBS's byte-coded graphs.
    GbbsBytes,
    /// GraphFrames of Spark: a folder of vertices and one of edges, of Parquet files.
    GraphFrames,
}

impl Format {
    /// How many there are.
    pub(crate) const COUNT: usize = Self::GraphFrames as usize + 1;
}

/// Which column to take for something that an input may or may not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Pick {
    /// The one that the format, or the usual name, says; none if there is none.
    #[default]
    Auto,
    /// None, even if the input has one.
    Skip,
    /// This one: a name from the header, or a number from 1.
    Column(String),
}

/// Which columns besides weight and time become edge properties.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PickProperties {
    /// No others.
    #[default]
    None,
    /// Every other column.
    All,
    /// These: names from the header, or numbers from 1. `:number` or a type such as `:text` or `:date` at the
    /// end of a name fixes its type, which is otherwise decided on a sample.
    Columns(Vec<String>),
}

/// What a name of a column says of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Suffix {
    /// Nothing.
    None,
    /// Numbers of whatever type.
    Number,
    /// This type.
    Type(PropertyType),
}

/// The name of a column without the type that may follow it.
pub fn without_type(name: &str) -> &str {
    split_type(name).0
}

/// Splits a name of a column from its type.
pub(crate) fn split_type(name: &str) -> (&str, Suffix) {
    match split_last_colon(name) {
        Some((name, "number")) => (name, Suffix::Number),
        Some((before, suffix)) => match suffix.parse() {
            Ok(property_type) => (before, Suffix::Type(property_type)),
            Err(_) => (name, Suffix::None),
        },
        None => (name, Suffix::None),
    }
}

/// A name that is not empty, and what stands behind the colon that ends it. The zone of a timestamp may have
/// another, as in `t:timestamp[us, +02:00]`.
fn split_last_colon(text: &str) -> Option<(&str, &str)> {
    let before_zone = text.rfind('[').filter(|_| text.ends_with(']')).unwrap_or(text.len());
    let colon = text[..before_zone].rfind(':').filter(|&at| at > 0)?;
    Some((&text[..colon], &text[colon + 1..]))
}

/// A declared property, written `NAME:TYPE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The name of the property, and of its column.
    pub name: String,
    /// The type of its values.
    pub property_type: PropertyType,
}

impl FromStr for Declaration {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, property_type) = split_last_colon(text)
            .ok_or_else(|| format!("{text:?} has no name and type; write NAME:TYPE, as in since:date"))?;
        Ok(Self { name: plain(name), property_type: property_type.parse()? })
    }
}

/// What edges get that have no value of a property, written `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultValue {
    /// The name of the property.
    pub name: String,
    /// The value, as a field of a CSV would have it: nothing for none, `""` for an empty text.
    pub value: String,
}

impl DefaultValue {
    /// The value; `None` if edges get none.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.value.as_str() {
            "" => None,
            "\"\"" => Some(""),
            value => Some(value),
        }
    }
}

impl FromStr for DefaultValue {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match split_name(text, '=') {
            Some((name, value)) => Ok(Self { name, value: value.to_owned() }),
            None => Err(format!("{text:?} has no name and value; write NAME=VALUE, as in weight=1")),
        }
    }
}

/// Declared properties, written `NAME:TYPE[,NAME:TYPE…]`.
///
/// # Errors
/// Why `text` is no such list.
pub fn parse_schema(text: &str) -> std::result::Result<Vec<Declaration>, String> {
    let (mut depth, mut from, mut found) = (0, 0, Vec::new());
    let mut name_end = end_of_quoted(text, 0);
    for (at, c) in text.char_indices().chain([(text.len(), ',')]) {
        match c {
            // A name in quotes may have commas and brackets.
            _ if at < name_end => {}
            '[' => depth += 1,
            ']' => depth -= 1,
            // The comma of `timestamp[us, UTC]` does not separate.
            ',' if depth <= 0 || at == text.len() => {
                found.push(text[from..at].trim().parse()?);
                from = at + 1;
                name_end = end_of_quoted(text, from);
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The end of the name in quotes that begins behind blanks at a place; the place if none does.
fn end_of_quoted(text: &str, from: usize) -> usize {
    let behind = text.get(from..).unwrap_or_default().trim_start();
    quoted_start(behind).map_or(from, |(_, after)| text.len() - after.len())
}

/// What ids are to be taken for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PickIds {
    /// Integers if the ids of a sample are, else texts.
    #[default]
    Auto,
    /// Integers; a line with another id is rejected.
    Int,
    /// Texts.
    Text,
}

/// Bytes of a block where rejected rows are kept: each takes many times the bytes of a short line.
const KEEPING_BLOCK_BYTES: usize = 1 << 16;

/// Bytes that a line of text may have, of a table as of a script.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// How to read inputs. The default leaves everything to the sniffer.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Ends a wait for standard input.
    pub cancel: Cancel,
    /// The format; sniffed if `None`.
    pub format: Option<Format>,
    /// Column of the source: a name from the header, or a number from 1.
    pub source: Option<String>,
    /// Column of the target.
    pub target: Option<String>,
    /// Column of the weight.
    pub weight: Pick,
    /// Column of the time.
    pub time: Pick,
    /// Other columns to keep.
    pub properties: PickProperties,
    /// Values for edges that lack one.
    pub defaults: Vec<DefaultValue>,
    /// Words that stand for no value in every column of a table of text, as an empty field does; in columns
    /// of texts, only without quotes.
    pub nulls: Vec<String>,
    /// The property that holds the kinds of edges: no edge is without one.
    pub kind: Option<String>,
    /// The property that holds the times of a stream: no edge is without one.
    pub timed: Option<String>,
    /// The column that says what happens to the edge of each row, in a stream that has one.
    pub operation: Option<OperationColumn>,
    /// Whether rows of vertices that [`Self::known_vertices`] lack are rejected.
    pub only_known: bool,
    /// The types of properties; a column that is declared becomes a property.
    pub schema: Vec<Declaration>,
    /// Whether the edges go to a database, whose properties have their types already. Then no message
    /// proposes another type.
    pub types_are_fixed: bool,
    /// Whether the edges are to be removed: what their ends and values match.
    pub removes: bool,
    /// Whether the edges go to a database whose integer ids can become texts, which those of clusters cannot.
    /// Then messages propose it.
    pub ids_can_become_texts: bool,
    /// The vertices of the database that the edges go to, if there is one.
    pub known_vertices: KnownVertices,
    /// The kinds of edges that rows may name, if rows of others are rejected.
    pub known_kinds: Option<KnownKinds>,
    /// How the table of the import was read, if the edges go to a database that remembers it. Columns are
    /// found by it; other options go before it.
    pub expected: Option<TableRecord>,
    /// The edge properties of that database of which some edges have no value.
    pub incomplete: Vec<String>,
    /// What ids are.
    pub ids: PickIds,
    /// How values are written.
    pub notation: Notation,
    /// The byte between columns of a CSV; sniffed if `None`. A space stands for any run of spaces and tabs.
    pub delimiter: Option<u8>,
    /// Whether the first line of a CSV names the columns; sniffed if `None`.
    pub header: Option<bool>,
    /// Whether `"` quotes fields; sniffed if `None`.
    pub quotes: Option<bool>,
    /// Whether the edges are to be directed, if that is known. Else a column of types, as Gephi writes it,
    /// decides.
    pub directed: Option<bool>,
    /// A file with one vertex id a line, for vertices without edges; or a number `n`: the vertices are
    /// `0..n`.
    pub vertices: Option<String>,
    /// A table of vertices in memory, which [`table_in_memory`](crate::binary::table_in_memory) makes, beside
    /// the edges.
    pub vertex_table: Option<Input>,
    /// Whether the input has each undirected edge at both of its ends, where the format does not say so.
    pub both_ends: bool,
    /// Bytes of a block, about. Tests make it small.
    pub block_bytes: usize,
    /// Bytes that one line may have. A longer one is an error.
    pub line_bytes_max: usize,
    /// A memory limit. What opening an input reads and keeps, such as a file of the ids of vertices, stays
    /// within its share of it.
    pub memory_bytes: u64,
    /// How much is kept of the rows that are rejected.
    pub rejected: RejectedText,
    /// If the input is still being written: how to read it.
    pub live: Option<GrowingInput>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            cancel: Cancel::default(),
            format: None,
            source: None,
            target: None,
            weight: Pick::Auto,
            time: Pick::Auto,
            properties: PickProperties::None,
            defaults: Vec::new(),
            nulls: Vec::new(),
            kind: None,
            timed: None,
            operation: None,
            only_known: false,
            schema: Vec::new(),
            types_are_fixed: false,
            removes: false,
            ids_can_become_texts: false,
            known_vertices: KnownVertices::default(),
            known_kinds: None,
            expected: None,
            incomplete: Vec::new(),
            ids: PickIds::Auto,
            notation: Notation::default(),
            delimiter: None,
            header: None,
            quotes: None,
            directed: None,
            vertices: None,
            vertex_table: None,
            both_ends: false,
            block_bytes: 1 << 20,
            line_bytes_max: LINE_BYTES_MAX,
            memory_bytes: u64::MAX,
            rejected: RejectedText::Excerpts,
            live: None,
        }
    }
}

impl ReadOptions {
    /// Whether the user did not choose which columns become properties, so that what is left out is told.
    pub(crate) fn tells_unread(&self) -> bool {
        self.properties == PickProperties::None || self.types_are_fixed
    }

    /// These options for a table of text, whose values are written as the database remembers it where nothing
    /// else is chosen.
    pub(crate) fn in_remembered_notation(&self) -> Result<Cow<'_, Self>> {
        match &self.expected {
            None => Ok(Cow::Borrowed(self)),
            Some(table) => {
                let notation = self.notation.over(&table.notation)?;
                Ok(Cow::Owned(Self { notation, ..self.clone() }))
            }
        }
    }

    /// These options, with a column that holds the kinds of edges: texts.
    pub fn with_kind(mut self, column: Option<&str>) -> Self {
        let Some(column) = column else { return self };
        self.kind = Some(column.to_owned());
        if !self.schema.iter().any(|declared| declared.name == column) {
            self.schema.push(Declaration { name: column.to_owned(), property_type: PropertyType::text() });
        }
        self
    }

    /// These options, with all rows that are rejected kept.
    pub fn keeping_rejected(self) -> Self {
        let block_bytes = self.block_bytes.min(KEEPING_BLOCK_BYTES);
        Self { rejected: RejectedText::Rows, block_bytes, ..self }
    }

    /// The vertices that rows may name, if they are limited to those of the database.
    pub(crate) fn nameable(&self) -> Option<KnownVertices> {
        self.only_known.then(|| self.known_vertices.clone())
    }

    /// The number of properties that options ask for.
    pub(crate) fn num_asked(&self) -> usize {
        let has_properties = self.expected.as_ref().is_some_and(|table| !table.properties.is_empty());
        let is_asked = |pick: &&Pick| match pick {
            Pick::Column(_) => true,
            Pick::Auto => has_properties,
            Pick::Skip => false,
        };
        let picks = [&self.weight, &self.time].into_iter().filter(is_asked);
        let properties = match &self.properties {
            PickProperties::Columns(names) => names.len(),
            PickProperties::None | PickProperties::All => 0,
        };
        picks.count() + properties + usize::from(self.operation.is_some())
    }

    /// The columns that options name, or number.
    pub(crate) fn named_columns(&self) -> impl Iterator<Item = &str> {
        let ends = [&self.source, &self.target].into_iter().flatten().map(String::as_str);
        let picked = [&self.weight, &self.time].into_iter().filter_map(|pick| match pick {
            Pick::Column(name) => Some(name.as_str()),
            Pick::Auto | Pick::Skip => None,
        });
        let properties = match &self.properties {
            PickProperties::Columns(names) => names.as_slice(),
            PickProperties::None | PickProperties::All => &[],
        };
        let declared = self.schema.iter().map(|declaration| declaration.name.as_str());
        let operation = self.operation.iter().map(|operation| operation.column.as_str());
        ends.chain(picked)
            .chain(properties.iter().map(|name| split_type(name).0))
            .chain(declared)
            .chain(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_lists_of_names_and_types() {
        let shown = |text: &str| {
            let all = parse_schema(text)?.into_iter();
            Ok(all.map(|one| format!("{}={}", one.name, one.property_type)).collect::<Vec<_>>())
        };
        let expected = ["a=date".to_owned(), "b:c=timestamp[us, UTC]".to_owned(), "w=f64".to_owned()];
        assert_eq!(shown("a:date,b:c:timestamp[us, UTC], w:f64"), Ok(expected.to_vec()));
        let expected = ["a[1]=i64".to_owned(), "t=timestamp[ms, +02:00]".to_owned()];
        assert_eq!(shown("a[1]:i64,t:timestamp[ms,+02:00]"), Ok(expected.to_vec()));
        for wrong in ["a", "a:", ":date", "a:date,", "a:int"] {
            assert!(shown(wrong).is_err_and(|error: String| error.contains("type")), "{wrong}");
        }
    }
}
