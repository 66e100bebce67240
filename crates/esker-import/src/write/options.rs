//! The choices of an export.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::io::{Disk, RealDisk};
use esker_graph::Cancel;

use crate::read::format::Format;

/// How an output is compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutputCompression {
    /// Not at all.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// bzip2.
    Bzip2,
}

impl OutputCompression {
    /// What the ending of a name asks for.
    pub(crate) fn from_name(name: &str) -> Self {
        match name.rsplit_once('.').map(|(_, end)| end) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            Some("bz2") => Self::Bzip2,
            _ => Self::None,
        }
    }
}

/// How ids are written by formats that take any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WriteIds {
    /// As the user gave them.
    #[default]
    External,
    /// The vertices' numbers, from 0.
    Numbers,
}

/// How to export.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    /// The format; told by the file's ending if `None`.
    pub format: Option<Format>,
    /// The compression; told by the file's ending (`.gz`, `.zst`, `.bz2`) if `None`.
    pub compression: Option<OutputCompression>,
    /// What stands for a vertex.
    pub ids: WriteIds,
    /// Whether weights and other edge properties are written by formats that can hold them.
    pub properties: bool,
    /// Whether an undirected edge is written at both of its ends; as the format has it if `None`.
    pub both_ends: Option<bool>,
    /// Whether a file that exists is replaced.
    pub overwrite: bool,
    /// A file for the ids of all vertices, one a line: a list of edges does not name vertices without edges.
    /// Default: none.
    pub vertices: Option<PathBuf>,
    /// Stops the export, which then leaves no file.
    pub cancel: Cancel,
    /// Where files are written.
    pub disk: Arc<dyn Disk>,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            format: None,
            compression: None,
            ids: WriteIds::External,
            properties: true,
            both_ends: None,
            overwrite: false,
            vertices: None,
            cancel: Cancel::default(),
            disk: Arc::new(RealDisk),
        }
    }
}
