//! The options of compacting, and its report.

use esker_format::{Encoding, Error, KeptForms, Result};
use esker_layers::graph::HeadedOptions;
use esker_layers::tiles::ConvertOptions;

use crate::conversion::FormReport;
#[cfg(doc)]
use crate::database::handle::Database;
use crate::database::upkeep::numbering::Renumber;
use crate::database::upkeep::tiling::Tiling;
use crate::database::upkeep::written::WrittenBytes;

/// The result of [`Database::compact`].
#[derive(Debug, Clone, PartialEq)]
pub struct CompactReport {
    /// The number of layers before.
    pub layers_before: usize,
    /// The number of layers now.
    pub layers: usize,
    /// Bytes of the layers before.
    pub bytes_before: u64,
    /// Bytes of the layers now.
    pub bytes: u64,
    /// Bytes that were written.
    pub written: WrittenBytes,
    /// The tiles and heads that were made.
    pub forms: FormReport,
    /// Vertices that were removed in all versions and that are left out now, so that others have their
    /// numbers.
    pub vertices_left_out: u64,
}

/// What [`Database::compact_with`] should produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactOptions {
    /// The encoding of the lists; `None` keeps it. With [`Encoding::Tiles`] the tiles are all that is kept of
    /// the lists of the complete layer; they are made if there are none.
    pub lists: Option<Encoding>,
    /// The tiles beside them.
    pub tiles: Tiling,
    /// Heads to store in place of those that there are, and to keep from now on; `None` keeps the length that
    /// the database has.
    pub heads: Option<HeadedOptions>,
    /// The numbers of vertices.
    pub renumber: Renumber,
}

impl CompactOptions {
    /// What is meant, given the encoding of the complete layer: tiles that are kept alone have no lists from
    /// which they could be made anew.
    pub(crate) fn resolved(mut self, before: Encoding) -> Result<Self> {
        if self.lists.unwrap_or(before) == Encoding::Tiles {
            if self.heads.is_some() {
                let message = "heads are of lists, and the lists are kept as tiles only: say how to store the lists, plain or compressed";
                return Err(Error::invalid(message.to_owned()));
            }
            let is_kept = before == Encoding::Tiles;
            self.tiles = match self.tiles {
                Tiling::Remove => {
                    let message = "the lists are kept as tiles only: say how to store the lists, plain or compressed, to remove the tiles";
                    return Err(Error::invalid(message.to_owned()));
                }
                Tiling::Keep | Tiling::Make => {
                    if is_kept {
                        Tiling::Keep
                    } else {
                        Tiling::Make
                    }
                }
            };
        }
        Ok(self)
    }

    /// The second forms to keep from now on.
    pub(crate) fn forms(&self, kept: KeptForms) -> KeptForms {
        let tile_group = match self.tiles {
            Tiling::Keep => kept.tile_group,
            Tiling::Make if kept.tile_group > 0 => kept.tile_group,
            Tiling::Make => ConvertOptions::default().group,
            Tiling::Remove => 0,
        };
        let head_len = if self.lists == Some(Encoding::Tiles) { 0 } else { kept.head_len };
        KeptForms { tile_group, head_len }
    }
}
