//! Atomic creation of a database: a crash at any moment leaves either the whole database or none.
//!
//! ```ignore
//! let staging = Staging::begin(disk, Path::new("web.esker"), StagingOptions::default())?;
//! let layer = staging.plain_layer();               // a PlainWriter for layers/1
//! let mut targets = layer.targets(Direction::Out)?; // append, finish; likewise offsets and properties
//! staging.install(&[Edit::AddLayer(..), Edit::SetIdMap(..), Edit::AddProperty(..), Edit::AddVersion(..)])?;
//! ```
//!
//! Files are written in `.web.esker.staging-<random>` next to the target. Installing syncs all directories
//! and then renames the staging directory. The next staging of the same target, or its next opening for
//! writing, removes what a crash left: it finds such directories by name, and checks that no process holds
//! their lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

use esker_format::io::Disk;
use esker_format::{
    ArchiveWriter, DatabaseId, Edit, Encoding, IdSecret, LayerRecord, Origin, PropertyRecord, Result, Stamp,
};
use esker_graph::Run;
use esker_layers::FormFiles;
use esker_layers::ids::{IdFiles, IdHasher};
use esker_layers::layer::PlainWriter;
use esker_layers::property::PropertyFiles;

use super::account::{Header, write_account};
use super::content::Manifest;
use super::names::{MANIFEST_NAME, ids_directory, layer_directory};
use super::staged::StagedDirectory;
use crate::conversion::{FormReport, WantedForms, write_forms, write_tiles_of};
use crate::temporary_targets::TemporaryTargets;

/// Options for creating a database.
#[derive(Debug, Clone, Copy, Default)]
pub struct StagingOptions {
    /// The id of the database; `None` chooses a random one. Databases with equal content, id, secret and time
    /// of creation have equal files.
    pub database: Option<DatabaseId>,
    /// The secret that keys the hash of external ids; `None` chooses a random one. For tests only: who knows
    /// the secret can make ids that collide.
    pub id_secret: Option<IdSecret>,
    /// Time of creation, in milliseconds since 1970, UTC; `None` takes the current time.
    pub created_ms: Option<u64>,
    /// Whether to replace a database at the target. Other files and directories are never replaced.
    pub replace: bool,
}

/// A database under construction. Dropping it without installing removes its files.
#[derive(Debug)]
pub struct Staging {
    disk: Arc<dyn Disk>,
    directory: StagedDirectory,
    database: DatabaseId,
    id_secret: IdSecret,
    created_ms: u64,
    /// Whether the layer says of itself what MANIFEST will say.
    is_described: AtomicBool,
    layer: ArchiveWriter,
    ids: ArchiveWriter,
}

impl Staging {
    /// Creates the staging directory.
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] if `target` exists and may not be replaced, or another process is
    /// writing to it; [`esker_format::Error::Io`].
    pub fn begin(disk: Arc<dyn Disk>, target: &Path, options: StagingOptions) -> Result<Self> {
        let directory = StagedDirectory::begin(&disk, target, options.replace)?;
        let database = options.database.unwrap_or_else(DatabaseId::random);
        let id_secret = options.id_secret.unwrap_or_else(IdSecret::random);
        let layer = ArchiveWriter::new(&disk, &layer_directory(directory.path(), 1));
        let ids = ArchiveWriter::new(&disk, &ids_directory(directory.path()));
        let now_ms = || UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis() as u64);
        let created_ms = options.created_ms.unwrap_or_else(now_ms);
        let is_described = AtomicBool::new(false);
        let staging = Self { disk, directory, database, id_secret, created_ms, is_described, layer, ids };
        staging.subdirectory("layers")?;
        Ok(staging)
    }

    /// Creates a directory in the staging directory, for temporary files. The caller removes it before
    /// installing.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub fn subdirectory(&self, name: &str) -> Result<PathBuf> {
        let path = self.directory.path().join(name);
        self.disk.create_directory(&path)?;
        Ok(path)
    }

    /// Prepares for a layer with `count` edge properties in each direction. To be called before its writer is
    /// made.
    pub fn expect_properties(&mut self, count: usize) {
        // Beside them offsets, targets, and the dictionaries.
        self.layer.expect_files(2 * (2 * count + 4));
    }

    /// What binds all files to their records.
    fn origin(&self) -> Origin {
        Origin::of_import(self.database)
    }

    /// The number of the set of all files, for their records.
    pub fn stamp(&self) -> Stamp {
        self.origin().stamp
    }

    /// A writer for layer 1.
    pub fn plain_layer(&self) -> PlainWriter<'_> {
        PlainWriter::new(&self.layer, self.layer.directory(), self.origin())
    }

    /// The files of a vertex property in layer 1.
    pub fn property_files<'a>(&'a self, record: &'a PropertyRecord) -> PropertyFiles<'a> {
        PropertyFiles { disk: &self.layer, directory: self.layer.directory(), origin: self.origin(), record }
    }

    /// The files of layer 1, if its lists are to be kept as tiles alone: see [`Staging::make_forms`].
    pub fn targets_apart(&self) -> TemporaryTargets<'_> {
        TemporaryTargets { files: &self.layer, disk: &self.disk, directory: self.layer.directory() }
    }

    /// A writer for layer 1, whose lists are to have this encoding.
    pub fn layer_for<'a>(&'a self, encoding: Encoding, apart: &'a TemporaryTargets<'_>) -> PlainWriter<'a> {
        match encoding {
            Encoding::Tiles => PlainWriter::new(apart, self.layer.directory(), self.origin()),
            Encoding::Plain | Encoding::Compressed => self.plain_layer(),
        }
    }

    /// Has layer 1 say of itself what `edits` say, which lack the secret of ids. To be called before
    /// [`Staging::make_forms`].
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub fn describe(&self, edits: &[Edit]) -> Result<()> {
        let edits = [&[Edit::SetIdSecret(self.id_secret)], edits].concat();
        let header = Header { database: self.database, created_ms: self.created_ms, records: 1 };
        write_account(&self.layer, self.layer.directory(), &header, &edits)?;
        self.is_described.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the second forms of layer 1, whose columns are all finished. Lists of the encoding
    /// [`Encoding::Tiles`] were written with [`Staging::layer_for`]; their targets go. The edits that add the
    /// forms are [`FormReport::edits`].
    ///
    /// # Errors
    /// As [`write_tiles`](esker_layers::tiles::write_tiles) and
    /// [`HeadedNeeds::heads`](esker_layers::graph::bounded::headed::HeadedNeeds::heads).
    pub fn make_forms(
        &self,
        record: &LayerRecord,
        properties: &[PropertyRecord],
        wanted: WantedForms,
        run: &Run,
    ) -> Result<FormReport> {
        self.layer.finish()?;
        let files = FormFiles { disk: &self.disk, directory: self.layer.directory(), origin: self.origin() };
        write_forms(files, record, properties, wanted, run, |lists, options| {
            write_tiles_of(files, lists, properties, options, None, run)
        })
    }

    /// The hash of external ids.
    pub fn hasher(&self) -> IdHasher {
        IdHasher::new(self.id_secret)
    }

    /// The files of the id map.
    pub fn id_files(&self) -> IdFiles<'_> {
        let (directory, origin) = (self.ids.directory(), self.origin());
        IdFiles { disk: &self.ids, directory, origin, hasher: self.hasher() }
    }

    /// Installs the database at its target and returns the total size of its files. `edits` lack the secret
    /// of ids. The caller has finished all columns (with [`esker_format::ColumnWriter::finish`]) and left no
    /// other files in the staging directory.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`], also if the target was created meanwhile;
    /// [`esker_format::Error::Invalid`] if somebody removed or replaced the staging directory, or the
    /// database to be replaced. Nothing is then installed, unless only the last step failed, the sync of the
    /// parent directory: then the database is installed, but a power failure may lose it.
    pub fn install(self, edits: &[Edit]) -> Result<u64> {
        let disk = self.disk.as_ref();
        if !self.is_described.load(Ordering::Relaxed) {
            self.describe(edits)?;
        }
        self.layer.finish()?;
        self.ids.finish()?;
        let edits = [&[Edit::SetIdSecret(self.id_secret)], edits].concat();
        let manifest = Manifest::encode(self.database, self.created_ms, &edits)?;
        disk.write(&self.directory.path().join(MANIFEST_NAME), &manifest)?;
        self.directory.install()
    }
}
