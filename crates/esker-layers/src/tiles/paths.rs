//! Paths of the files of a layer's tiles.

use std::path::{Path, PathBuf};

/// Paths of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileFiles {
    /// The chunks: a file of their own, because it is read past the page cache.
    pub data: PathBuf,
    /// Everything else.
    pub directory: PathBuf,
}

impl TileFiles {
    /// The paths in the directory of a layer.
    pub fn in_layer(layer: &Path) -> Self {
        Self { data: layer.join("tiles.data"), directory: layer.join("tiles") }
    }

    /// The link, in the directory of a layer, to the chunks that the layer of a number wrote.
    pub fn shared(layer: &Path, number: u32) -> PathBuf {
        layer.join(format!("tiles.data.{number}"))
    }

    /// Whether a file in the directory of a layer holds chunks.
    pub fn is_data(name: &str) -> bool {
        let rest = name.strip_prefix("tiles.data");
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix('.').is_some_and(|number| number.parse::<u32>().is_ok())
        })
    }

    /// The column of an edge property.
    pub(crate) fn property(&self, number: u32) -> PathBuf {
        self.directory.join(format!("property.{number}"))
    }
}
