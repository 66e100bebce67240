//! Atomic creation of a database: a crash at any moment leaves either the whole database or none.
//!
//! ```ignore
//! let staging = Staging::begin(disk, Path::new("web.esker"), StagingOptions::default())?;
//! let layer = staging.plain_layer();               // a PlainWriter for layers/1
//! let mut targets = layer.targets(Direction::Out)?; // append, finish; likewise offsets and properties
//! staging.install(&[Edit::AddLayer(..), Edit::SetIdMap(..), Edit::AddProperty(..), Edit::AddVersion(..)])?;
//! ```
//!
//! Files are written in `.web.esker.staging-<random>` next to the target. Installing syncs all directories and then
//! renames the staging directory. The next staging of the same target, or its next opening for writing, removes what a crash left: it
//! finds such directories by name, and checks that no process holds their lock.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

use esker_format::io::{DirectoryEntry, Disk, Lock, parent};
use esker_format::{
    ArchiveWriter, DatabaseId, Edit, Encoding, Error, IdSecret, LayerRecord, Origin, PropertyRecord, Result,
    Stamp,
};
use esker_graph::Run;
use esker_layers::ids::{IdFiles, IdHasher};
use esker_layers::layer::PlainWriter;

use super::account::{Header, write_account};
use super::manifest::Manifest;
use super::names::{MANIFEST_NAME, ids_directory, layer_directory};
use super::strays::foreign_in;
use crate::apart::TargetsApart;
use crate::conversion::{FormFiles, FormReport, WantedForms};

const LOCK_NAME: &str = "LOCK";
/// Random hexadecimal digits at the end of the name of a staging directory.
const NONCE_DIGITS: usize = 16;

/// Takes the lock for writing to the database at `path`; dropping it releases it.
///
/// # Errors
/// [`Error::Invalid`] if another process, or another handle of this one, holds it; [`Error::Io`] if the directory is not writable.
pub fn lock_writer(disk: &dyn Disk, path: &Path) -> Result<Box<dyn Lock>> {
    disk.try_lock(&path.join(LOCK_NAME))?.ok_or_else(|| {
        let holder = match disk.is_locked_here(&path.join(LOCK_NAME)) {
            true => "another handle of this process: close that one, or use it",
            false => "another process: wait until it is done",
        };
        Error::Invalid(format!("{} is being written to by {holder}", path.display()))
    })
}

/// Options for creating a database.
#[derive(Debug, Clone, Copy, Default)]
pub struct StagingOptions {
    /// The id of the database; `None` chooses a random one. Databases with equal content, id, secret and time of creation
    /// have equal files.
    pub database: Option<DatabaseId>,
    /// The secret that keys the hash of external ids; `None` chooses a random one. For tests only: who knows the secret can
    /// make ids that collide.
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
    directory: PathBuf,
    target: PathBuf,
    database: DatabaseId,
    id_secret: IdSecret,
    created_ms: u64,
    /// Whether the layer says of itself what MANIFEST will say.
    is_described: AtomicBool,
    layer: ArchiveWriter,
    ids: ArchiveWriter,
    /// The lock of the staging directory, which becomes the lock of the database.
    _lock: Box<dyn Lock>,
    /// The lock of the replaced database.
    replaced: Option<Box<dyn Lock>>,
}

impl Staging {
    /// Creates the staging directory, after removing those of earlier attempts that died. If `target` is a symbolic link, what it leads to
    /// is replaced, and the link stays.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `target` exists and may not be replaced, or another process is writing to it;
    /// [`Error::Io`].
    pub fn begin(disk: Arc<dyn Disk>, target: &Path, options: StagingOptions) -> Result<Self> {
        let target = &disk.follow(target)?;
        let replaced = check_target(disk.as_ref(), target, options.replace)?;
        let prefix = staging_prefix(target)?;
        remove_leftovers(disk.as_ref(), target, &prefix)?;
        let nonce = DatabaseId::random().to_string();
        let directory = parent(target).join(format!("{prefix}{}", &nonce[..NONCE_DIGITS]));
        match &replaced {
            Some(_) => disk.create_directory_like(&directory, target)?,
            None => disk.create_directory(&directory)?,
        }
        let lock = lock_writer(disk.as_ref(), &directory)?;
        let database = options.database.unwrap_or_else(DatabaseId::random);
        let id_secret = options.id_secret.unwrap_or_else(IdSecret::random);
        let target = target.to_owned();
        let layer = ArchiveWriter::new(&disk, &layer_directory(&directory, 1));
        let ids = ArchiveWriter::new(&disk, &ids_directory(&directory));
        let now_ms = || UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis() as u64);
        let created_ms = options.created_ms.unwrap_or_else(now_ms);
        let staging = Self {
            disk,
            directory,
            target,
            database,
            id_secret,
            created_ms,
            is_described: AtomicBool::new(false),
            layer,
            ids,
            _lock: lock,
            replaced,
        };
        staging.subdirectory("layers")?;
        if staging.replaced.is_some() {
            staging.expect_exchange()?;
        }
        Ok(staging)
    }

    /// Fails if the file system cannot exchange names: better before the work than after it.
    fn expect_exchange(&self) -> Result<()> {
        let probe = self.subdirectory("exchange")?;
        let exchanged = self.disk.exchange(&probe, &self.directory.join("layers"));
        self.disk.remove_directory(&probe)?;
        exchanged.map_err(|error| match error {
            Error::Io { source, .. }
                if matches!(source.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) =>
            {
                let name = self.target.display();
                Error::Invalid(format!(
                    "cannot replace {name} in one step: its file system cannot exchange two names ({source}); choose \
                     another name, or remove {name} first"
                ))
            }
            error => error,
        })
    }

    /// Creates a directory in the staging directory, for temporary files. The caller removes it before installing.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn subdirectory(&self, name: &str) -> Result<PathBuf> {
        let path = self.directory.join(name);
        self.disk.create_directory(&path)?;
        Ok(path)
    }

    /// Prepares for a layer with so many edge properties in each direction. To be called before its writer is.
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

    /// The files of layer 1, if its lists are to be kept as tiles alone: see [`Staging::make_forms`].
    pub fn targets_apart(&self) -> TargetsApart<'_> {
        TargetsApart { files: &self.layer, disk: &self.disk, directory: self.layer.directory() }
    }

    /// A writer for layer 1, whose lists are to have this encoding.
    pub fn layer_for<'a>(&'a self, encoding: Encoding, apart: &'a TargetsApart<'_>) -> PlainWriter<'a> {
        match encoding {
            Encoding::Tiles => PlainWriter::new(apart, self.layer.directory(), self.origin()),
            Encoding::Plain | Encoding::Compressed => self.plain_layer(),
        }
    }

    /// Has layer 1 say of itself what `edits` say, which lack the secret of ids. To be called before [`Staging::make_forms`].
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn describe(&self, edits: &[Edit]) -> Result<()> {
        let edits = [&[Edit::SetIdSecret(self.id_secret)], edits].concat();
        let header = Header { database: self.database, created_ms: self.created_ms, records: 1 };
        write_account(&self.layer, self.layer.directory(), &header, &edits)?;
        self.is_described.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the second forms of layer 1, whose columns are all finished. Lists of the encoding [`Encoding::Tiles`] were written with
    /// [`Staging::layer_for`]; their targets go. The edits that add the forms are [`FormReport::edits`].
    ///
    /// # Errors
    /// As [`write_tiles`](esker_layers::tiles::write_tiles) and [`HeadedNeeds::heads`](esker_layers::graph::headed::HeadedNeeds::heads).
    pub fn make_forms(
        &self,
        (record, properties): (&LayerRecord, &[PropertyRecord]),
        wanted: WantedForms,
        run: &Run,
    ) -> Result<FormReport> {
        self.layer.finish()?;
        let files = FormFiles { disk: &self.disk, directory: self.layer.directory(), origin: self.origin() };
        files.write((record, properties), wanted, run, |lists, options| {
            files.write_tiles(lists, properties, options, None, run)
        })
    }

    /// The hash of external ids.
    pub fn hasher(&self) -> IdHasher {
        IdHasher::new(Some(self.id_secret))
    }

    /// The files of the id map.
    pub fn id_files(&self) -> IdFiles<'_> {
        let (directory, origin) = (self.ids.directory(), self.origin());
        IdFiles { disk: &self.ids, directory, origin, hasher: self.hasher() }
    }

    /// Installs the database at its target and returns the total size of its files. `edits` lack the secret of ids. The caller has finished all columns (with
    /// [`esker_format::ColumnWriter::finish`]) and left no other files in the staging directory.
    ///
    /// # Errors
    /// [`Error::Io`], also if the target was created meanwhile. Nothing is then
    /// installed, unless only the last step failed, the sync of the parent directory: then the database is
    /// installed, but a power failure may lose it.
    pub fn install(self, edits: &[Edit]) -> Result<u64> {
        let disk = self.disk.as_ref();
        if !self.is_described.load(Ordering::Relaxed) {
            self.describe(edits)?;
        }
        self.layer.finish()?;
        self.ids.finish()?;
        let edits = [&[Edit::SetIdSecret(self.id_secret)], edits].concat();
        let manifest = Manifest::encode(self.database, self.created_ms, &edits)?;
        disk.write(&self.directory.join(MANIFEST_NAME), &manifest)?;
        let bytes = sync_tree(disk, &self.directory)?;
        if self.replaced.is_some() {
            // This gives the old database the name of the staging directory, which dropping `self` removes.
            disk.exchange(&self.directory, &self.target)?;
        } else {
            disk.rename(&self.directory, &self.target)?;
        }
        disk.sync_directory(&parent(&self.target))?;
        Ok(bytes)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After installation this name does not exist, or names the replaced database. If the removal fails, the next staging
        // removes it.
        if let Ok(Some(_)) = self.disk.look(&self.directory) {
            let _ = self.disk.remove_directory(&self.directory);
        }
    }
}

/// Checks that a database may be installed at `target`; returns the lock of the database that it replaces.
fn check_target(disk: &dyn Disk, target: &Path, replace: bool) -> Result<Option<Box<dyn Lock>>> {
    if disk.look(target)?.is_none() {
        return Ok(None);
    }
    let name = target.display();
    if disk.look(&target.join(MANIFEST_NAME))?.is_none() {
        return Err(Error::Invalid(format!("{name} exists and is not a database: choose another name")));
    }
    if !replace {
        return Err(Error::Invalid(format!(
            "{name} exists: choose another name, or replace it with --force"
        )));
    }
    let lock = lock_writer(disk, target)?;
    if let Some(foreign) = foreign_in(disk, target)?.first() {
        return Err(Error::Invalid(format!(
            "{} is not part of the database {name}, and would be removed with it: move it elsewhere, or choose another name for the \
             database",
            foreign.display()
        )));
    }
    Ok(Some(lock))
}

fn staging_prefix(target: &Path) -> Result<String> {
    match target.file_name().and_then(|name| name.to_str()) {
        Some(name) => Ok(format!(".{name}.staging-")),
        None => Err(Error::Invalid(format!("{} is not a valid name for a database", target.display()))),
    }
}

/// Removes what killed imports to the database at `path` left beside it. What cannot be read or removed stays.
pub(crate) fn remove_dead_stagings(disk: &dyn Disk, path: &Path) {
    if let Ok(target) = disk.follow(path)
        && let Ok(prefix) = staging_prefix(&target)
    {
        let _ = remove_leftovers(disk, &target, &prefix);
    }
}

/// Removes staging directories of `target` whose lock no process holds.
fn remove_leftovers(disk: &dyn Disk, target: &Path, prefix: &str) -> Result<()> {
    let directory = parent(target);
    let is_nonce = |rest: &str| {
        rest.len() == NONCE_DIGITS && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    for entry in disk.list(&directory)? {
        if entry.is_directory && entry.name.strip_prefix(prefix).is_some_and(is_nonce) {
            let leftover = directory.join(entry.name);
            let is_linked = |entry: &DirectoryEntry| entry.name == LOCK_NAME && entry.is_link;
            if disk.list(&leftover).is_ok_and(|entries| entries.iter().any(is_linked)) {
                continue;
            }
            if let Ok(Some(_lock)) = disk.try_lock(&leftover.join(LOCK_NAME)) {
                let removed = disk.remove_directory(&leftover);
                // Another process may have removed it meanwhile: the one that replaced it.
                if removed.is_err() && disk.look(&leftover)?.is_some() {
                    return removed;
                }
            }
        }
    }
    Ok(())
}

/// Syncs a directory and its subdirectories; returns the total size of the files.
fn sync_tree(disk: &dyn Disk, directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in disk.list(directory)? {
        bytes += if entry.is_directory { sync_tree(disk, &directory.join(entry.name))? } else { entry.bytes };
    }
    disk.sync_directory(directory)?;
    Ok(bytes)
}
