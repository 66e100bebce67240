//! The catalogue of formats: one entry for each, with its reader and its writer. Everything that depends on
//! a format asks its entry.

use std::fmt;
use std::str::FromStr;

use esker_format::Error;

use crate::attributed;
use crate::binary;
use crate::read::format::Format;
use crate::read::input_format::{Choices, InputFormat};
use crate::text;
use crate::write::{self, ExportFormat};

/// A format: how it is read, and how it is written.
pub(crate) struct FormatEntry {
    pub(crate) format: Format,
    pub(crate) input: &'static InputFormat,
    pub(crate) export: &'static ExportFormat,
}

/// All formats, in the order of [`Format`], in which help lists them.
pub(crate) static FORMATS: [FormatEntry; Format::COUNT] = [
    entry(Format::EdgeList, &text::EL, &write::EL),
    entry(Format::WeightedEdgeList, &text::WEL, &write::WEL),
    entry(Format::Snap, &text::SNAP, &write::SNAP),
    entry(Format::Csv, &text::CSV, &write::CSV),
    entry(Format::Tsv, &text::TSV, &write::TSV),
    entry(Format::MatrixMarket, &text::MTX, &write::MTX),
    entry(Format::Metis, &text::METIS, &write::METIS),
    entry(Format::Dimacs, &text::DIMACS, &write::DIMACS),
    entry(Format::Adjacency, &text::ADJ, &write::ADJ),
    entry(Format::Graphalytics, &text::GRAPHALYTICS, &write::GRAPHALYTICS),
    entry(Format::Sg, &binary::SG, &write::SG),
    entry(Format::Wsg, &binary::WSG, &write::WSG),
    entry(Format::Graph500, &binary::GRAPH500, &write::GRAPH500),
    entry(Format::Graph500Wide, &binary::GRAPH500_64, &write::GRAPH500_64),
    entry(Format::Parquet, &binary::PARQUET, &write::PARQUET),
    entry(Format::Arrow, &binary::ARROW, &write::ARROW),
    entry(Format::GraphMl, &attributed::GRAPHML, &write::GRAPHML),
    entry(Format::Gexf, &attributed::GEXF, &write::GEXF),
    entry(Format::NodeLink, &attributed::NODE_LINK, &write::NODE_LINK),
    entry(Format::Cytoscape, &attributed::CYTOSCAPE, &write::CYTOSCAPE),
    entry(Format::NetworkxList, &attributed::NETWORKX, &write::NETWORKX),
    entry(Format::Gml, &attributed::GML, &write::GML),
    entry(Format::Pajek, &attributed::PAJEK, &write::PAJEK),
    entry(Format::Dot, &attributed::DOT, &write::DOT),
    entry(Format::Leda, &attributed::LEDA, &write::LEDA),
    entry(Format::Ncol, &attributed::NCOL, &write::NCOL),
    entry(Format::Lgl, &attributed::LGL, &write::LGL),
    entry(Format::Sif, &attributed::SIF, &write::SIF),
    entry(Format::Graph6, &attributed::GRAPH6, &write::GRAPH6),
    entry(Format::Sparse6, &attributed::SPARSE6, &write::SPARSE6),
    entry(Format::Digraph6, &attributed::DIGRAPH6, &write::DIGRAPH6),
    entry(Format::Colouring, &text::COL, &write::COL),
    entry(Format::MaxFlow, &attributed::MAX, &write::MAX),
    entry(Format::Npz, &binary::NPZ, &write::NPZ),
    entry(Format::XStream, &binary::X_STREAM, &write::UNWRITTEN),
    entry(Format::Gbbs, &binary::GBBS, &write::UNWRITTEN),
    entry(Format::GbbsBytes, &binary::GBBS_BYTES, &write::UNWRITTEN),
    entry(Format::GraphFrames, &binary::GRAPH_FRAMES, &write::GRAPH_FRAMES),
];

const fn entry(format: Format, input: &'static InputFormat, export: &'static ExportFormat) -> FormatEntry {
    FormatEntry { format, input, export }
}

/// The place of an entry is the number of its format: checked when this is compiled.
const _: () = {
    let mut place = 0;
    while place < FORMATS.len() {
        assert!(FORMATS[place].format as usize == place, "an entry stands in another place than its format");
        place += 1;
    }
};

impl Format {
    /// All formats, in the order in which help lists them.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|entry| entry.format)
    }

    /// The name that `--format` takes.
    pub fn name(self) -> &'static str {
        self.input().name
    }

    /// What a person calls it.
    pub fn title(self) -> &'static str {
        self.input().title
    }

    /// Whether nothing can be chosen about its columns and the type of its ids.
    pub fn has_fixed_columns(self) -> bool {
        self.input().choices < Choices::Columns
    }

    /// The format that the end of a file's name promises, compression suffixes left aside. Names that many
    /// formats share (`.txt`, `.graph`, `.e`) promise nothing alone; `.graph` is taken as METIS.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let ending = ending(&name)?;
        Self::all().find(|format| format.input().endings.contains(&ending))
    }

    /// Whether a file names vertices besides edges, and their properties.
    pub fn names_vertices(self) -> bool {
        self.input().takes_defaults
    }

    /// How it is read.
    pub(crate) fn input(self) -> &'static InputFormat {
        FORMATS[self as usize].input
    }

    /// How it is written.
    pub(crate) fn export(self) -> &'static ExportFormat {
        FORMATS[self as usize].export
    }
}

/// The end of a name behind its last point, compression suffixes left aside.
pub(crate) fn ending(name: &str) -> Option<&str> {
    let plain = [".gz", ".zst", ".bz2"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    Some(plain.rsplit_once('.')?.1)
}

/// The names of all formats, in one line.
pub(crate) fn names() -> String {
    Format::all().map(Format::name).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wanted = text.to_ascii_lowercase();
        let is_called =
            |input: &InputFormat| input.name == wanted || input.aliases.contains(&wanted.as_str());
        Self::all().find(|format| is_called(format.input())).ok_or_else(|| {
            Error::invalid(format!("no format is called {text:?}; the formats are {}", names()))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_reads_back() {
        for format in Format::all() {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
            assert_eq!(format.to_string(), format.name());
        }
        assert_eq!("Matrix-Market".parse::<Format>().unwrap(), Format::MatrixMarket);
        let error = "xml".parse::<Format>().unwrap_err().to_string();
        assert!(error.starts_with("no format is called \"xml\"; the formats are el, wel, snap,"), "{error}");
    }

    #[test]
    fn names_promise_formats() {
        assert_eq!(Format::from_name("web.WEL.gz"), Some(Format::WeightedEdgeList));
        assert_eq!(Format::from_name("a/b.c/web.csv"), Some(Format::Csv));
        assert_eq!(Format::from_name("web.txt"), None);
        assert_eq!(Format::from_name("web"), None);
    }

    #[test]
    fn no_two_formats_share_a_name_or_an_ending() {
        let (mut names, mut endings) = (BTreeSet::new(), BTreeSet::new());
        for entry in &FORMATS {
            for name in [entry.input.name].iter().chain(entry.input.aliases) {
                assert!(names.insert(*name), "{name}");
            }
            for ending in entry.input.endings.iter().chain(entry.export.endings) {
                assert!(endings.insert(*ending), "{ending}");
            }
        }
    }
}
