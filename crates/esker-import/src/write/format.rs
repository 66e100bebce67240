//! A format as an output: its writer, and what a file of it cannot say of a graph.

use std::path::{Path, PathBuf};

use esker_format::Result;

use super::elements::MakeStyle;
use super::graph::{EdgeStream, ExportGraph, PropertyInfo};
use super::options::ExportOptions;
use super::sink::OutputFile;
use super::writer::{EdgeWriter, ExportShape};

/// Begins a file of edges: writes its head and returns the writer of the rest.
pub(crate) type BeginEdges = for<'a> fn(&ExportShape, &'a mut OutputFile) -> Result<Box<dyn EdgeWriter + 'a>>;

/// Writes edges to several files, whose names follow from a path; the files and how many edges were written.
pub(crate) type WriteFiles =
    fn(&mut dyn EdgeStream, &ExportShape, &Path, &ExportOptions) -> Result<(Vec<PathBuf>, u64)>;

/// Writes the neighbours of each vertex; how many arcs were written.
pub(crate) type WriteLists = fn(&dyn ExportGraph, &ExportOptions, &mut OutputFile) -> Result<u64>;

/// How a format is written.
#[derive(Clone, Copy)]
pub(crate) enum WriteGraph {
    /// Edge by edge, to one file.
    Edges(BeginEdges),
    /// Edge by edge, to several files.
    Files(WriteFiles),
    /// All vertices, then edge by edge, to one file.
    Elements(MakeStyle),
    /// List by list, to one file. A stream of edges has no lists.
    Lists(WriteLists),
    /// Not at all: the format is read only.
    Nothing,
}

/// Which edge properties a format keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptProperties {
    All,
    Weight,
    /// The one that is called so.
    Called(&'static str),
    Nothing,
}

impl KeptProperties {
    /// Whether the property at `index` is kept, where the weight is at `weight`.
    pub(crate) fn has(self, index: usize, property: &PropertyInfo, weight: Option<usize>) -> bool {
        match self {
            Self::All => true,
            Self::Weight => weight == Some(index),
            Self::Called(own) => property.name == own,
            Self::Nothing => false,
        }
    }
}

/// How a reader of a file takes the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadAs {
    /// As the file says.
    Told,
    /// As the file says, but as directed if undirected edges stand at both of their ends.
    ToldUnlessBothEnds,
    /// As directed, unless its user says otherwise.
    Directed,
    /// As undirected, unless its user says otherwise.
    Undirected,
}

impl ReadAs {
    /// Whether a reader takes the graph as directed; `None`: the file says. `both_ends`: the graph is
    /// undirected, and each edge stands at both of its ends.
    pub(crate) fn directed(self, both_ends: bool) -> Option<bool> {
        match self {
            Self::Told => None,
            Self::ToldUnlessBothEnds => both_ends.then_some(true),
            Self::Directed => Some(true),
            Self::Undirected => Some(false),
        }
    }
}

/// Whether a file has each undirected edge at both of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndsWritten {
    /// If the user asks for it.
    IfAsked,
    /// Unless the user asks for the contrary: the format has arcs only.
    ByDefault,
    /// Always, as lists of neighbours have it, and a reader joins the two.
    Joined,
    /// Always, and a reader takes the two for parallel edges.
    Apart,
}

/// What a reader of a file of text guesses from its first lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Guessed {
    /// Nothing: the format says it.
    Nothing,
    /// The types of ids and values.
    Types,
    /// Types, and whether the first line is a header; ids stand without quotes.
    TypesAndHeader,
}

/// A format as an output.
#[derive(Clone, Copy)]
pub(crate) struct ExportFormat {
    /// The writer.
    pub(crate) write: WriteGraph,
    /// Which edge properties a file has.
    pub(crate) keeps: KeptProperties,
    /// What a reader takes the graph for.
    pub(crate) read_as: ReadAs,
    /// At which ends undirected edges stand.
    pub(crate) ends: EndsWritten,
    /// Endings that ask for the format, beside those by which an import recognises it.
    pub(crate) endings: &'static [&'static str],
    /// What a reader guesses.
    pub(crate) guessed: Guessed,
    /// Whether a reader needs many places of a file at once, so that it cannot be compressed as a whole.
    pub(crate) is_read_anywhere: bool,
    /// Whether a file states how many vertices there are, so that those without edges are not lost.
    pub(crate) states_vertices: bool,
    /// The number of the first vertex, if the format has numbers instead of ids.
    pub(crate) first_number: Option<u64>,
    /// Whether ids have to be integers.
    pub(crate) has_integer_ids: bool,
    /// Whether each edge has a weight: 1 if the graph has none.
    pub(crate) invents_weights: bool,
    /// Whether a reader takes an edge without a weight for one of weight 1.
    pub(crate) expects_weights: bool,
    /// Whether a file has the properties of vertices.
    pub(crate) keeps_vertex_properties: bool,
}

impl ExportFormat {
    /// A format without further properties: its ids may be texts, and a file with a reader's ending
    /// has edges only.
    pub(crate) const fn new(
        write: WriteGraph,
        keeps: KeptProperties,
        read_as: ReadAs,
        ends: EndsWritten,
    ) -> Self {
        Self {
            write,
            keeps,
            read_as,
            ends,
            endings: &[],
            guessed: Guessed::Nothing,
            is_read_anywhere: false,
            states_vertices: false,
            first_number: None,
            has_integer_ids: false,
            invents_weights: false,
            expects_weights: false,
            keeps_vertex_properties: false,
        }
    }

    /// Whether an edge may be without a value of a property that the format keeps. The only one has its place
    /// in each line, so that no other has it.
    pub(crate) fn may_lack(&self, is_weight: bool) -> bool {
        self.keeps == KeptProperties::All && !(is_weight && self.expects_weights)
    }

    /// Whether a file that lists edges has undirected ones at both of their ends.
    pub(crate) fn lists_both_ends(&self, options: &ExportOptions) -> bool {
        options.both_ends.unwrap_or(self.ends == EndsWritten::ByDefault)
    }

    /// Whether a file of an undirected graph has each edge at both of its ends, and does not say so.
    pub(crate) fn hides_both_ends(&self, options: &ExportOptions) -> bool {
        match self.ends {
            EndsWritten::IfAsked | EndsWritten::ByDefault => self.lists_both_ends(options),
            EndsWritten::Joined => false,
            EndsWritten::Apart => true,
        }
    }
}

/// A format that is read and not written.
pub(crate) static UNWRITTEN: ExportFormat =
    ExportFormat::new(WriteGraph::Nothing, KeptProperties::Nothing, ReadAs::Told, EndsWritten::IfAsked);
