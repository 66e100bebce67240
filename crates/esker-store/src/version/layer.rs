//! All that a layer holds: lists, texts, ids of new vertices, and changes of vertex properties.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{
    Archive, DatabaseId, Encoding, Error, LayerRecord, Origin, Owner, PropertyRecord, Result, TilesRecord,
};
use esker_graph::Direction;
use esker_layers::ids::{IdFiles, IdHasher, IdSegment};
use esker_layers::known_files::DirectoryKind;
use esker_layers::layer::{DictionaryFiles, PlainLayer};
use esker_layers::property::{
    DictionarySegment, PropertyColumn, PropertyFiles, REMOVED_NUMBER, removed_record,
};
use esker_layers::tiles::Tiles;

use super::forms::tile_shape;
use crate::manifest::{Manifest, Reclaim, Resource};

/// A layer with everything in it, mapped. A layer that was retired removes its files when the last version
/// that reads it is gone.
#[derive(Debug)]
pub(crate) struct Layer {
    lists: Arc<PlainLayer>,
    dictionaries: Vec<(u32, Arc<DictionarySegment>)>,
    ids: Option<Arc<IdSegment>>,
    vertex_properties: Vec<(u32, Arc<PropertyColumn>)>,
    archive: Archive,
    files: Resource<OwnFiles>,
}

/// The files of a layer, or those of the map of ids.
#[derive(Debug)]
pub(super) struct OwnFiles {
    pub(super) kind: DirectoryKind,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) directory: PathBuf,
}

impl Reclaim for OwnFiles {
    fn reclaim(&mut self) {
        // What cannot be removed now is removed when the database is opened for writing the next time.
        let _ = self.kind.remove(self.disk.as_ref(), &self.directory);
    }
}

impl Layer {
    /// Maps the files of a layer of `manifest` and checks their headers and lengths.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if a file is not what the manifest says.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        manifest: &Manifest,
        record: &LayerRecord,
    ) -> Result<Self> {
        let properties = &manifest.properties;
        let origin = Origin { database: manifest.database, stamp: record.stamp };
        let archive = Archive::open(disk, directory)?;
        // Without its tiles, a layer of which nothing else holds the lists is of no use.
        let tiles = match record.encoding {
            Encoding::Tiles => open_tiles(disk, directory, manifest, record)?.map(Arc::new),
            Encoding::Plain | Encoding::Compressed => None,
        };
        let lists = PlainLayer::open_with(&archive, directory, origin, record, tiles.as_ref(), properties)?;
        Self::of_lists(disk, directory, manifest, archive, lists)
    }

    /// As [`Layer::open`], with the lists of one direction alone, as out-lists; other columns of lists may be
    /// missing.
    ///
    /// # Errors
    /// As [`Layer::open`].
    pub(crate) fn open_only(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        manifest: &Manifest,
        record: &LayerRecord,
        direction: Direction,
    ) -> Result<Self> {
        let origin = Origin { database: manifest.database, stamp: record.stamp };
        let (archive, _) = Archive::open_left(disk, directory)?;
        let lists =
            PlainLayer::open_only(&archive, directory, origin, record, direction, &manifest.properties)?;
        Self::of_lists(disk, directory, manifest, archive, lists)
    }

    /// Opens all but the lists.
    fn of_lists(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        manifest: &Manifest,
        archive: Archive,
        lists: PlainLayer,
    ) -> Result<Self> {
        let (lists, properties) = (Arc::new(lists), &manifest.properties);
        let record = lists.record();
        let origin = Origin { database: manifest.database, stamp: record.stamp };
        let dictionaries = record.dictionaries.iter().map(|added| {
            let paths = DictionaryFiles::in_layer(directory, added.property);
            let segment = DictionarySegment::open(&archive, &paths, added, origin)?;
            Ok((added.property, Arc::new(segment)))
        });
        let dictionaries = dictionaries.collect::<Result<_>>()?;
        let mut ids = None;
        if record.num_new_ids > 0 {
            let texts = manifest.ids.kind.is_text();
            let hasher = IdHasher::new(manifest.id_secret);
            let files = IdFiles { disk: &archive, directory, origin, hasher };
            let (first, count) = first_new_id(record, directory)?;
            ids = Some(Arc::new(IdSegment::open(&files, texts, first, count)?));
        }
        let vertex_properties = record.vertex_properties.iter().map(|&number| {
            let record = vertex_property(properties, number, directory)?;
            let files = PropertyFiles { disk: &archive, directory, origin, record: &record };
            Ok((number, Arc::new(PropertyColumn::open(&files)?)))
        });
        let vertex_properties = vertex_properties.collect::<Result<_>>()?;
        let (kind, disk, directory) = (DirectoryKind::Layer, Arc::clone(disk), directory.to_owned());
        let files = Resource::new(OwnFiles { kind, disk, directory });
        Ok(Self { lists, dictionaries, ids, vertex_properties, archive, files })
    }

    /// What the manifest says of it.
    pub(crate) fn record(&self) -> &LayerRecord {
        self.lists.record()
    }

    /// All its columns but those of tiles.
    pub(crate) fn archive(&self) -> &Archive {
        &self.archive
    }

    /// What binds its files to that record.
    pub(crate) fn origin(&self, database: DatabaseId) -> Origin {
        Origin { database, stamp: self.record().stamp }
    }

    /// Its lists.
    pub(crate) fn lists(&self) -> &Arc<PlainLayer> {
        &self.lists
    }

    /// What it adds to the dictionary of an edge property.
    pub(crate) fn dictionary(&self, property: u32) -> Option<&Arc<DictionarySegment>> {
        self.dictionaries.iter().find(|(number, _)| *number == property).map(|(_, segment)| segment)
    }

    /// The external ids of the vertices that it adds.
    pub(crate) fn ids(&self) -> Option<&Arc<IdSegment>> {
        self.ids.as_ref()
    }

    /// The changes of a vertex property.
    pub(crate) fn vertex_property(&self, number: u32) -> Option<&Arc<PropertyColumn>> {
        self.vertex_properties.iter().find(|(other, _)| *other == number).map(|(_, column)| column)
    }

    /// Has the files removed once no reader needs them. The manifest does not name the layer any
    /// longer, and a state without it is shown.
    pub(crate) fn retire(&self) {
        self.files.clone().retire();
    }
}

/// The tiles of a layer that is kept in tiles alone, which opens them itself.
pub(super) fn own_tiles(layers: &[Arc<Layer>], number: u32) -> Option<&Tiles> {
    let layer = layers.iter().find(|layer| layer.record().number == number)?;
    layer.lists().out().main().tiles()
}

/// The tiles of a layer in its directory; `None` if the manifest names none.
fn open_tiles(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    manifest: &Manifest,
    record: &LayerRecord,
) -> Result<Option<Tiles>> {
    let tiles = manifest.tiles.iter().find(|tiles| tiles.layer == record.number);
    let open = |tiles: &TilesRecord| {
        let origin = Origin { database: manifest.database, stamp: tiles.stamp };
        Tiles::open(disk, directory, origin, tile_shape(record, tiles), &tiles.shared)
    };
    tiles.map(open).transpose()
}

fn first_new_id(record: &LayerRecord, directory: &Path) -> Result<(usize, usize)> {
    let first = record.num_vertices.checked_sub(record.num_new_ids);
    let first = first.ok_or_else(|| Error::corrupt(directory, 0, "it adds more vertices than there are"))?;
    Ok((first as usize, record.num_new_ids as usize))
}

/// The vertex property of a number.
pub(crate) fn vertex_property(
    properties: &[PropertyRecord],
    number: u32,
    place: &Path,
) -> Result<PropertyRecord> {
    if number == REMOVED_NUMBER {
        return Ok(removed_record());
    }
    let found =
        properties.iter().find(|property| property.owner == Owner::Vertices && property.number == number);
    found.cloned().ok_or_else(|| {
        Error::corrupt(place, 0, format!("it has values of an unknown vertex property {number}"))
    })
}
