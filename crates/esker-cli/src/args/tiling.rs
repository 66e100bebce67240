//! How tiles are described.

use esker::store::tiles::TileReport;

use crate::args::size::{bytes, counted};

/// `tiles: 12 edges, 24 B`.
pub(crate) fn describe(tiles: &TileReport) -> String {
    format!("{}, {}", counted(tiles.num_edges, "edge", "edges"), bytes(tiles.data_bytes))
}
