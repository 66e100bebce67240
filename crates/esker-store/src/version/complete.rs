//! The complete layer of a version: in which encodings its lists are stored.

use esker_format::{Error, PropertyRecord, Result};
use esker_graph::{Operation, Setting, VertexId, message};
use esker_layers::graph::bounded::headed::StoredHeads;
use esker_layers::layer::{PlainLayer, Section, TiledLists};
use esker_layers::tiles::Tiles;

use super::state::Version;

impl Version {
    /// The oldest layer, which has a list for each vertex that there was.
    pub fn complete_layer(&self) -> &PlainLayer {
        &self.stack().layers()[0]
    }

    /// Whether the complete layer keeps its lists as tiles alone.
    pub fn keeps_only_tiles(&self) -> bool {
        self.complete_layer().out().main().tiles().is_some()
    }

    /// Bytes of the lists that are kept decoded where the complete layer has tiles alone, at most.
    pub fn decoded_bytes_max(&self) -> u64 {
        let layer = self.complete_layer();
        let sections = [Some(layer.out()), layer.incoming()].into_iter().flatten().map(Section::main);
        let tiled = sections.filter(|lists| lists.tiles().is_some());
        tiled
            .map(|lists| lists.num_arcs().min(TiledLists::KEPT_ARCS_MAX) * size_of::<VertexId>())
            .sum::<usize>() as u64
    }

    /// The tiles of the complete layer.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are none; [`Error::Io`]; [`Error::Corrupt`].
    pub fn tiles(&self) -> Result<&Tiles> {
        let found = self.state().tiles_of(self.complete_layer().record().number)?;
        found.ok_or_else(|| {
            let tiles = Operation::Compact.with(Setting::Encoding.to("tiles"));
            let path = self.path().display();
            Error::invalid(message![format!("{path} is not kept as tiles: "), tiles, " makes them"])
        })
    }

    /// The tiles of the complete layer, with the values of a property.
    ///
    /// # Errors
    /// As [`Version::tiles`]; [`Error::Invalid`] if they have not the property.
    pub fn tiles_with(&self, property: Option<&PropertyRecord>) -> Result<&Tiles> {
        let tiles = self.tiles()?;
        match property.filter(|property| !tiles.has_property(property.number, property.element)) {
            None => Ok(tiles),
            Some(property) => Err(Error::invalid(message![
                format!(
                    "the tiles of {} are without the values of {:?}: ",
                    self.path().display(),
                    property.name
                ),
                Operation::Compact.with(Setting::Encoding.to("tiles")),
                " makes them with these",
            ])),
        }
    }

    /// The stored heads of the lists of its oldest layer; `None` if there are none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`].
    pub fn stored_heads(&self) -> Result<Option<&StoredHeads>> {
        self.state().heads_of(self.stack().layers()[0].record().number)
    }
}
