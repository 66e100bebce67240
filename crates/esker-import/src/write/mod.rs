//! What an export writes: blocks of edges, where they come from, files, and a writer of each format.

mod graph;
mod stored;
mod generated;
mod digits;
mod options;
mod terminal;
mod sink;
mod writer;
mod elements;
mod format;
mod vertices;
mod lines;
mod tables;
mod documents;
mod adjacency;
mod graph6;
mod npz;
mod graphalytics;
mod graph_frames;

pub(crate) use adjacency::{ADJ, METIS, SG, WSG};
pub use digits::push_f64;
pub(crate) use documents::{
    CYTOSCAPE, DOT, GEXF, GML, GRAPHML, LEDA, LGL, NCOL, NETWORKX, NODE_LINK, PAJEK, SIF,
};
pub(crate) use elements::write as write_elements;
pub(crate) use format::{ExportFormat, Guessed, UNWRITTEN, WriteGraph};
pub(crate) use generated::GeneratorExport;
pub use graph::{BlockBuilder, ExportBlock, ExportGraph, PropertyInfo, PropertyKind};
pub(crate) use graph::{EdgeStream, ListExport};
pub(crate) use graph_frames::GRAPH_FRAMES;
pub(crate) use graph6::{DIGRAPH6, GRAPH6, SPARSE6};
pub(crate) use graphalytics::GRAPHALYTICS;
pub(crate) use lines::{COL, CSV, DIMACS, EL, GRAPH500, GRAPH500_64, MAX, MTX, SNAP, TSV, WEL};
pub(crate) use npz::NPZ;
pub use options::{ExportOptions, OutputCompression, WriteIds};
pub use sink::OutputFile;
pub use stored::{StoredExport, nulls};
pub(crate) use tables::{ARROW, PARQUET};
pub use terminal::{Escaped, escaped};
pub(crate) use vertices::write as write_vertices;
pub(crate) use writer::{ExportShape, VertexNames, pump};
pub use writer::{push_quoted, push_text};
