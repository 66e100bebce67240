//! Changing the manifest, in place and anew.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::manifest::Manifest;
use super::names::MANIFEST_NAME;
use super::records::{put_record, read};
use crate::error::{Error, Result};
use crate::format::Edit;
use crate::io::{Disk, File};

/// Name of a manifest that is being written, and of the one that it replaced until that is removed.
const NEW_NAME: &str = "MANIFEST.new";
/// So many dead edits are not worth a new file.
const DEAD_EDITS_MIN: usize = 256;

/// The manifest of a database, for the process that writes to it.
///
/// Once a write or a sync failed, everything is refused: what the disk holds is not known any more. Opening the database
/// again finds out.
#[derive(Debug)]
pub struct ManifestWriter {
    disk: Arc<dyn Disk>,
    database: PathBuf,
    path: PathBuf,
    file: Arc<dyn File>,
    /// Where the next record begins.
    end: u64,
    /// Edits in the file.
    num_edits: usize,
    /// A rewriting that failed is not tried again before there are so many.
    num_edits_min: usize,
    manifest: Arc<Manifest>,
    /// What failed first.
    failure: Option<String>,
}

impl ManifestWriter {
    /// Opens the manifest of the database at `database` and makes durable what it says. A last record that is not whole is cut
    /// off. The caller holds the database's lock.
    ///
    /// # Errors
    /// As [`Manifest::read`], and [`Error::Io`] where something cannot be written.
    pub fn open(disk: Arc<dyn Disk>, database: &Path) -> Result<Self> {
        let path = database.join(MANIFEST_NAME);
        let contents = read(disk.as_ref(), &path)?;
        let (end, last_start, num_edits) = (contents.end, contents.last_start, contents.edits.len());
        let manifest = Arc::new(Manifest::assemble(&path, contents)?);
        let file = disk.open_for_writing(&path)?;
        // What a process that died saw may be in the page cache alone, where no sync would find it amiss: the last
        // record is written again, and its place in the file too.
        file.set_length(end)?;
        let mut last = vec![0; (end - last_start) as usize];
        file.read_exact_at(&mut last, last_start)?;
        file.write_at(&last, last_start)?;
        file.sync()?;
        disk.sync_directory(database)?;
        remove_leftover(disk.as_ref(), database)?;
        let writer = Self {
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

    /// Whether nothing has failed. If something has, it is not known what the manifest on the disk says, and which files it names.
    ///
    /// # Errors
    /// [`Error::Invalid`] with what failed.
    pub fn expect_sound(&self) -> Result<()> {
        let Some(first) = &self.failure else { return Ok(()) };
        let path = self.path.display();
        Err(Error::Invalid(format!(
            "{path} takes nothing more since this failed: {first}; open the database again"
        )))
    }

    /// What the manifest says now.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// Appends a record of edits, which hold together or not at all, and returns what the manifest says then, durably. Time: as
    /// [`Manifest::with`], and two writes and a sync; now and then, all is written to a new file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the edits contradict what the manifest says (nothing is written then), or something failed
    /// before; [`Error::Io`] if writing fails, and with it the writer.
    pub fn append(&mut self, edits: &[Edit]) -> Result<&Arc<Manifest>> {
        self.expect_sound()?;
        if edits.is_empty() {
            return Ok(&self.manifest);
        }
        let refused = |reason| Error::Invalid(format!("{} cannot say so: {reason}", self.path.display()));
        let next = self.manifest.with(edits).map_err(refused)?;
        let mut record = Vec::new();
        put_record(&mut record, next.records, edits)?;
        let written = self.file.write_at(&record, self.end).and_then(|()| self.file.sync());
        written.map_err(|error| self.fail(error))?;
        self.end += record.len() as u64;
        self.num_edits += edits.len();
        self.manifest = Arc::new(next);
        // From here on the edits hold; what fails is told by the next call.
        self.seal();
        if let Err(error) = self.perhaps_rewrite() {
            self.fail(error);
        }
        Ok(&self.manifest)
    }

    /// Says that the last record was synced, so that damage to it is told from a torn record. Needs no sync itself: the
    /// next record takes its place. So it may fail as well: what is there then is a torn record.
    fn seal(&self) {
        let mut seal = Vec::new();
        let _ = put_record(&mut seal, self.manifest.records, &[])
            .and_then(|()| self.file.write_at(&seal, self.end));
    }

    /// Writes all to a new file once more than half of the edits are dead.
    fn perhaps_rewrite(&mut self) -> Result<()> {
        let num_live = self.manifest.num_edits();
        let num_dead = self.num_edits.saturating_sub(num_live);
        if num_dead < num_live.max(DEAD_EDITS_MIN) || self.num_edits < self.num_edits_min {
            return Ok(());
        }
        let Ok((file, bytes)) = self.write_new(&self.manifest.to_edits()) else {
            // No room, say. The old file is as good as before.
            let _ = remove_leftover(self.disk.as_ref(), &self.database);
            self.num_edits_min = self.num_edits * 2;
            return Ok(());
        };
        self.disk.exchange(&self.database.join(NEW_NAME), &self.path)?;
        self.disk.sync_directory(&self.database)?;
        (self.file, self.end, self.num_edits) = (file, bytes, num_live);
        self.seal();
        // If it stays, the next rewriting or opening removes it.
        let _ = remove_leftover(self.disk.as_ref(), &self.database);
        Ok(())
    }

    fn write_new(&self, edits: &[Edit]) -> Result<(Arc<dyn File>, u64)> {
        remove_leftover(self.disk.as_ref(), &self.database)?;
        let Manifest { database, created_ms, records, .. } = *self.manifest;
        let content = Manifest::encode_as(database, created_ms, records, edits)?;
        let file = self.disk.create(&self.database.join(NEW_NAME))?;
        file.write_at(&content, 0)?;
        file.sync()?;
        Ok((file, content.len() as u64))
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
