//! Writing the manifest: appending records, and rewriting the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::Edit;
use esker_format::io::{Disk, File};
use esker_format::{Error, Result};

use super::content::Manifest;
use super::names::{BACKUP_NAME, MANIFEST_NAME};
use super::records::{put_record, read};
use crate::holding::{GrowingFile, NEW_NAME, WriterLock};

/// Minimum number of dead edits for rewriting the file.
const DEAD_EDITS_MIN: usize = 256;

/// The manifest of a database, open for writing by one process.
///
/// After a failed write or sync, all calls return errors, because the state of the disk is unknown. Reopen
/// the database to recover.
#[derive(Debug)]
pub(crate) struct ManifestWriter {
    lock: WriterLock,
    disk: Arc<dyn Disk>,
    database: PathBuf,
    path: PathBuf,
    file: Arc<dyn File>,
    /// Offset of the next record.
    end: u64,
    /// Number of edits in the file.
    num_edits: usize,
    /// Number of edits from which on to retry after a failed rewrite.
    num_edits_min: usize,
    manifest: Arc<Manifest>,
    /// The message of the first failure.
    failure: Option<String>,
}

impl Manifest {
    /// Encodes it as one record that has the number and the chain value of the last one.
    ///
    /// # Errors
    /// As [`Manifest::encode`].
    pub(crate) fn encode_whole(&self) -> Result<Vec<u8>> {
        Self::encode_as(self.database, self.created_ms, self.head(), &self.to_edits())
    }
}

/// A rewritten manifest that does not have its name yet.
struct NewFile {
    file: Arc<dyn File>,
    bytes: u64,
}

impl ManifestWriter {
    /// Puts a manifest of this state in the place of the one of the locked database, which may be missing or
    /// damaged, durably.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Invalid`] if the state exceeds 4 GiB; as [`WriterLock::expect`].
    pub(crate) fn write_anew(lock: &WriterLock, manifest: &Manifest) -> Result<()> {
        let (disk, database) = (lock.disk(), lock.database());
        remove_leftover(disk.as_ref(), database)?;
        let new = database.join(NEW_NAME);
        let file = disk.create(&new)?;
        file.write_at(&manifest.encode_whole()?, 0)?;
        file.sync()?;
        disk.replace(&new, &database.join(MANIFEST_NAME))?;
        disk.sync_directory(database)
    }

    /// Opens the manifest of the database that is locked, truncates an incomplete last record, and makes the
    /// rest durable.
    ///
    /// # Errors
    /// As [`Manifest::read`]; [`Error::Io`] if a write fails.
    pub(crate) fn open(lock: &WriterLock) -> Result<Self> {
        let (disk, database) = (lock.disk(), lock.database());
        let path = database.join(MANIFEST_NAME);
        let file = lock.open(GrowingFile::Manifest, &path)?;
        let backup = database.join(BACKUP_NAME);
        if disk.look(&backup)?.is_some() {
            // From here on it may have what no other database has.
            disk.remove_file(&backup)?;
            disk.sync_directory(database)?;
        }
        let contents = read(disk.as_ref(), &path)?;
        let (end, last_start, num_edits) = (contents.end, contents.last_start, contents.edits.len());
        let manifest = Arc::new(Manifest::assemble(&path, contents)?);
        // After a failed sync in a process that died, the last record may exist only in the page cache, where
        // a later sync succeeds without writing it: rewrite the record, and set the length again.
        file.set_length(end)?;
        let mut last = vec![0; (end - last_start) as usize];
        file.read_exact_at(&mut last, last_start)?;
        file.write_at(&last, last_start)?;
        lock.note_written(GrowingFile::Manifest, end);
        file.sync()?;
        disk.sync_directory(database)?;
        remove_leftover(disk.as_ref(), database)?;
        let writer = Self {
            lock: lock.clone(),
            disk,
            database: database.to_owned(),
            path,
            file,
            end,
            num_edits,
            num_edits_min: 0,
            manifest,
            failure: None,
        };
        writer.seal();
        Ok(writer)
    }

    /// An error if the writer has failed: it is then unknown what the manifest on the disk says, and which
    /// files it names.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the first failure.
    pub(crate) fn expect_sound(&self) -> Result<()> {
        let Some(first) = &self.failure else { return Ok(()) };
        let path = self.path.display();
        Err(Error::invalid(format!("{path} is closed after a failure: {first}; open the database again")))
    }

    /// The current state.
    pub(crate) fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// Appends a record whose edits take effect together or not at all, and returns the new, durable state.
    /// Time: as [`Manifest::with`], plus two writes and a sync; sometimes rewrites the file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the edits contradict the state (then writes nothing), or if the writer has
    /// failed; [`Error::Io`] if writing fails, and as [`WriterLock::expect`], which make the writer fail.
    pub(crate) fn append(&mut self, edits: &[Edit]) -> Result<&Arc<Manifest>> {
        self.expect_sound()?;
        if edits.is_empty() {
            return Ok(&self.manifest);
        }
        let refused = |reason| Error::invalid(format!("cannot change {}: {reason}", self.path.display()));
        let mut record = Vec::new();
        put_record(&mut record, self.manifest.records + 1, edits)?;
        let next = self.manifest.after(edits, &record).map_err(refused)?;
        let written = self.write(&record);
        written.map_err(|error| self.fail(error))?;
        self.end += record.len() as u64;
        self.num_edits += edits.len();
        self.manifest = Arc::new(next);
        // The edits are now durable. The next call reports a failure from here on.
        self.seal();
        if let Err(error) = self.rewrite_if_sparse() {
            self.fail(error);
        }
        Ok(&self.manifest)
    }

    /// Writes a record, durably. It counts if the file is still the database's.
    fn write(&self, record: &[u8]) -> Result<()> {
        self.lock.expect()?;
        self.file.write_at(record, self.end)?;
        self.lock.note_written(GrowingFile::Manifest, self.end + record.len() as u64);
        self.file.sync()?;
        self.lock.expect()
    }

    /// Writes a seal: it confirms that the last record was synced, so that damage to that record is told from
    /// a torn write. The seal is not synced, and the next record overwrites it. A failed or torn seal does no
    /// harm.
    fn seal(&self) {
        let mut seal = Vec::new();
        let _ = put_record(&mut seal, self.manifest.records, &[])
            .and_then(|()| self.file.write_at(&seal, self.end));
    }

    /// Rewrites the manifest as a new file once more than half of its edits are dead.
    fn rewrite_if_sparse(&mut self) -> Result<()> {
        let num_live = self.manifest.num_edits();
        let num_dead = self.num_edits.saturating_sub(num_live);
        if num_dead < num_live.max(DEAD_EDITS_MIN) || self.num_edits < self.num_edits_min {
            return Ok(());
        }
        let Ok(new) = self.write_new(&self.manifest) else {
            // For example, the disk is full. The old file stays valid.
            let _ = remove_leftover(self.disk.as_ref(), &self.database);
            self.num_edits_min = self.num_edits * 2;
            return Ok(());
        };
        self.replace(new)
    }

    /// Puts a new file in the place of the old one.
    fn replace(&mut self, new: NewFile) -> Result<()> {
        let lock = self.lock.lock_file(new.file.as_ref())?;
        self.lock.replace(GrowingFile::Manifest, &self.database.join(NEW_NAME), &self.path, lock)?;
        self.lock.note_written(GrowingFile::Manifest, new.bytes);
        self.disk.sync_directory(&self.database)?;
        self.lock.expect()?;
        (self.file, self.end, self.num_edits) = (new.file, new.bytes, self.manifest.num_edits());
        self.seal();
        Ok(())
    }

    fn write_new(&self, manifest: &Manifest) -> Result<NewFile> {
        remove_leftover(self.disk.as_ref(), &self.database)?;
        let content = manifest.encode_whole()?;
        let file = self.disk.create(&self.database.join(NEW_NAME))?;
        file.write_at(&content, 0)?;
        file.sync()?;
        Ok(NewFile { file, bytes: content.len() as u64 })
    }

    fn fail(&mut self, error: Error) -> Error {
        self.failure.get_or_insert_with(|| error.to_string());
        error
    }
}

fn remove_leftover(disk: &dyn Disk, database: &Path) -> Result<()> {
    let path = database.join(NEW_NAME);
    if disk.look(&path)?.is_some() { disk.remove_file(&path) } else { Ok(()) }
}
