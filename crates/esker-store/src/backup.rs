//! Copies of a database, made while others read and write it.
//!
//! A copy is made in a directory beside its place (`StagedDirectory`) and takes its place in one step, once
//! it is verified:
//!
//! 1. MANIFEST is read: it names the files of layers, which never change.
//! 2. These are taken from the copy that was made before, if they are the same there (`is_same`), or shared
//!    with the database as clones (reflinks) or hard links, or copied.
//! 3. The complete records of the log are copied.
//! 4. MANIFEST is read again. If a writer has changed it meanwhile, the steps are repeated; files that are
//!    the same stay. Else log and layers are of one state, and MANIFEST is written anew for it, with the last
//!    commit of the copied log as its mark.
//! 5. What is new is verified, and the log.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, copy, expect_outside_databases, parent};
use esker_format::{Error, PAGE_BYTES, Result, VersionRecord, archived_name};
use esker_graph::Run;

use crate::check::verify_columns;
use crate::commit::LoggedCommit;
use crate::log::{LogReader, copy_log};
use crate::manifest::{BACKUP_NAME, MANIFEST_NAME, Manifest, StagedDirectory, expect_database, named_files};
use crate::store::Store;
use crate::version::State;

/// How often the steps are repeated.
const ATTEMPTS_MAX: u32 = 100;
/// Files up to this size, and archives, are compared whole; of longer ones the header and at least this much
/// of the end, with the checksums of all their blocks.
const COMPARED_BYTES: u64 = 1 << 20;
/// A file has one byte of checksums for more than this many bytes.
const BYTES_PER_CHECKSUM_BYTE: u64 = 1 << 10;

/// How a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupOptions {
    /// Whether to copy all files that are new, instead of sharing their blocks on the disk, or the files,
    /// with the database. An earlier copy that shares files is then copied anew; one that shares blocks as
    /// clones is not, because these cannot be told apart from copies.
    pub apart: bool,
}

/// Files, and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileCount {
    /// The number of files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl FileCount {
    fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// What a copy holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupReport {
    /// Its newest version.
    pub version: u64,
    /// The files that the copy before it had already.
    pub kept: FileCount,
    /// The files whose blocks on the disk it shares with the database.
    pub cloned: FileCount,
    /// The files that it shares with the database, as hard links.
    pub linked: FileCount,
    /// The files that were copied, MANIFEST and those of the log among them.
    pub copied: FileCount,
    /// The bytes of the files that were verified.
    pub verified_bytes: u64,
}

/// Makes a copy of the database at `database`, or brings the copy up to date that an earlier call made at
/// `target`. A writer goes on meanwhile. The copy has all versions that were committed when it was made. It
/// is a database that can be read; once it is opened for writing, it is no backup any more, and is not
/// replaced by a later call. States of live answers are not copied.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let edges = [esker_import::Input::memory("web.csv", csv)];
/// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
/// use std::sync::Arc;
///
/// use esker_store::Store;
/// use esker_store::backup::{BackupOptions, backup};
/// use esker_store::io::{Disk, RealDisk};
///
/// let (disk, copy): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), directory.path().join("copy.esker"));
/// let run = esker_graph::Run::with_threads(1)?;
/// let report = backup(&disk, &path, &copy, BackupOptions::default(), &run)?;
/// assert_eq!(report.version, 1);
/// assert_eq!(Store::open(&copy)?.latest()?.num_edges(), 2); // a backup can be read
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Invalid`] if something else is at `target`, or a backup with versions that the database does not
/// have; [`Error::Corrupt`] and [`Error::Lost`] if a file that must be copied is damaged; the old copy stays;
/// [`Error::Io`]; cancellation.
pub fn backup(
    disk: &Arc<dyn Disk>,
    database: &Path,
    target: &Path,
    options: BackupOptions,
    run: &Run,
) -> Result<BackupReport> {
    expect_database(disk.as_ref(), database)?;
    expect_outside(disk.as_ref(), database, target)?;
    expect_outside_databases(disk.as_ref(), target)?;
    let earlier = disk.look(target)?.is_some();
    if earlier {
        expect_backup(disk.as_ref(), database, target)?;
    }
    let staged = StagedDirectory::begin(disk, target, earlier)?;
    let earlier = earlier.then(|| disk.follow(target)).transpose()?;
    if let Some(earlier) = &earlier {
        // Now that no writer can open it: one may have written to it until then.
        expect_backup(disk.as_ref(), database, earlier)?;
        expect_same_history(disk, database, earlier, run)?;
    }
    let copying =
        Copying { disk, from: database, to: staged.path(), earlier: earlier.as_deref(), options, run };
    let report = copying.make()?;
    disk.write(&staged.path().join(BACKUP_NAME), &[])?;
    staged.install()?;
    Ok(report)
}

/// Makes a database at `target` of a backup, or of any other database, whose files are all verified.
/// `replace` says whether to replace a database at `target`.
///
/// # Errors
/// [`Error::Invalid`] if something is at `target` that may not be replaced; otherwise as [`backup`].
pub fn restore(
    disk: &Arc<dyn Disk>,
    backup: &Path,
    target: &Path,
    replace: bool,
    options: BackupOptions,
    run: &Run,
) -> Result<BackupReport> {
    expect_database(disk.as_ref(), backup)?;
    if is_same_database(disk.as_ref(), backup, target)? {
        return Err(Error::invalid(format!(
            "{} is the backup itself: choose another name",
            target.display()
        )));
    }
    expect_outside_databases(disk.as_ref(), target)?;
    let staged = StagedDirectory::begin(disk, target, replace)?;
    let copying = Copying { disk, from: backup, to: staged.path(), earlier: None, options, run };
    let report = copying.make()?;
    staged.install()?;
    Ok(report)
}

/// Whether two paths lead to one database.
fn is_same_database(disk: &dyn Disk, a: &Path, b: &Path) -> Result<bool> {
    is_one_file(disk, &a.join(MANIFEST_NAME), &b.join(MANIFEST_NAME))
}

/// Whether two paths name one file.
fn is_one_file(disk: &dyn Disk, a: &Path, b: &Path) -> Result<bool> {
    let [a, b] = [a, b].map(|path| disk.identify(path));
    Ok(matches!((a?, b?), (Some(a), Some(b)) if a.id == b.id))
}

/// An error if `target` lies in the database, or is a symbolic link that leads nowhere.
fn expect_outside(disk: &dyn Disk, database: &Path, target: &Path) -> Result<()> {
    let name = target.display();
    let end = disk.follow(target).map_err(|error| match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => Error::invalid(format!(
            "{name} is a symbolic link that leads nowhere: remove it, or choose another name"
        )),
        error => error,
    })?;
    let inside = disk.identify(database)?.map(|directory| directory.id);
    for above in disk.absolute(&end).ancestors().skip(1) {
        if disk.identify(above)?.is_some_and(|directory| Some(directory.id) == inside) {
            return Err(Error::invalid(format!(
                "{name} lies in the database {}: choose a name outside",
                database.display()
            )));
        }
    }
    Ok(())
}

/// That a backup cannot be made at `target`, because it `is` something else.
fn refused(target: &Path, is: &str) -> Error {
    Error::invalid(format!("{} {is}: choose another name", target.display()))
}

/// An error unless there is a backup at `target`, of this database or another.
fn expect_backup(disk: &dyn Disk, database: &Path, target: &Path) -> Result<()> {
    if is_same_database(disk, database, target)? {
        return Err(refused(target, "is the database itself"));
    }
    match disk.look(&target.join(BACKUP_NAME))? {
        Some(_) => Ok(()),
        None => Err(refused(target, "exists and is no backup, or was written to since it was made")),
    }
}

/// An error unless a database has, or had, all versions of an earlier backup.
fn expect_same_history(disk: &Arc<dyn Disk>, database: &Path, target: &Path, run: &Run) -> Result<()> {
    let [source, earlier] = [database, target].map(|path| history(disk, path, run));
    let ((source, versions), (earlier, earlier_versions)) = (source?, earlier?);
    if source.database != earlier.database {
        return Err(refused(target, &format!("is a backup of another database than {}", database.display())));
    }
    let mark = |version: &VersionRecord| (version.committed_ms, version.commit);
    let last = versions.last().map_or(0, |version| version.number);
    // The newest may be forgotten; the versions up to the start of the log were in layers.
    let newest = last.max(source.log_start().first_version - 1);
    let versions: BTreeMap<u64, (u64, u32)> =
        versions.iter().map(|version| (version.number, mark(version))).collect();
    for version in earlier_versions {
        let is_missing = version.number > newest;
        let is_other = versions.get(&version.number).is_some_and(|known| *known != mark(&version));
        if is_missing || is_other {
            let (number, name) = (version.number, database.display());
            return Err(refused(target, &format!("has a version {number} that {name} does not have")));
        }
    }
    Ok(())
}

/// The manifest of a database, and the versions that it and the log have. Opens no layers: an earlier backup
/// with damage there is replaced.
fn history(disk: &Arc<dyn Disk>, database: &Path, run: &Run) -> Result<(Manifest, Vec<VersionRecord>)> {
    expect_database(disk.as_ref(), database)?;
    let (manifest, logged) = Manifest::read_with(disk.as_ref(), database, |manifest| {
        let mut log =
            LogReader::open(Arc::clone(disk), database, manifest.log_start())?.with_cancel(run.cancel());
        let mut versions = Vec::new();
        while let Some(record) = log.read_summary()? {
            versions.push(LoggedCommit::of(&record, database)?.record());
        }
        Ok(versions)
    })?;
    let versions = manifest.versions.iter().cloned().chain(logged).collect();
    Ok((manifest, versions))
}

/// A copy that is being made.
struct Copying<'a> {
    disk: &'a Arc<dyn Disk>,
    from: &'a Path,
    to: &'a Path,
    /// The copy that was made before.
    earlier: Option<&'a Path>,
    options: BackupOptions,
    run: &'a Run,
}

/// How a file came into a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyOrigin {
    Kept,
    Cloned,
    Linked,
    Copied,
}

/// The files of a copy, by their paths in it, with their bytes.
type Placed = BTreeMap<PathBuf, (CopyOrigin, u64)>;

impl Copying<'_> {
    /// Makes and verifies the copy.
    fn make(&self) -> Result<BackupReport> {
        let path = self.from.join(MANIFEST_NAME);
        let mut placed = Placed::new();
        self.create_directory(&self.to.join("layers"))?;
        for _ in 0..ATTEMPTS_MAX {
            let manifest = Manifest::read(self.disk.as_ref(), &path)?;
            let outcome = self.copy_state(&manifest, &mut placed);
            let now = Manifest::read(self.disk.as_ref(), &path)?;
            match outcome {
                Err(Error::Stop(stop)) => return Err(stop.into()),
                outcome if (now.database, now.head()) == (manifest.database, manifest.head()) => {
                    outcome?;
                    return self.verify(&placed);
                }
                // A writer has changed the layers meanwhile.
                _ => {}
            }
        }
        Err(Error::invalid(format!(
            "{} changed again and again while it was copied: try again when less is written",
            self.from.display()
        )))
    }

    /// Copies the files of a manifest, the log, and the manifest.
    fn copy_state(&self, manifest: &Manifest, placed: &mut Placed) -> Result<()> {
        let files = named_files(self.disk.as_ref(), self.from, manifest)?;
        let name_of = |file: &Path| file.strip_prefix(self.from).unwrap_or(file).to_owned();
        let names: BTreeSet<PathBuf> = files.iter().map(|(file, _)| name_of(file)).collect();
        // `placed` is true after each step: where one fails, the next attempt goes on from what is there.
        for gone in placed.keys().filter(|&name| !names.contains(name)).cloned().collect::<Vec<_>>() {
            self.disk.remove_file(&self.to.join(&gone))?;
            placed.remove(&gone);
        }
        for (file, bytes) in files {
            self.run.check()?;
            let name = name_of(&file);
            let to = self.to.join(&name);
            if let Some(&(origin, _)) = placed.get(&name)
                && is_same(self.disk.as_ref(), &file, &to, bytes)?
            {
                placed.insert(name, (origin, bytes));
                continue;
            }
            // Another file of this name, or what an attempt that failed has left.
            if self.disk.look(&to)?.is_some() {
                self.disk.remove_file(&to)?;
            }
            placed.remove(&name);
            let origin = self.place(&file, &name, bytes)?;
            placed.insert(name, (origin, bytes));
        }
        let log = self.to.join("log");
        for old in [&log, &self.to.join(MANIFEST_NAME)] {
            match self.disk.look(old)? {
                Some(entry) if entry.is_directory => self.disk.remove_directory(old)?,
                Some(_) => self.disk.remove_file(old)?,
                None => {}
            }
        }
        let mark = copy_log(self.disk, self.from, &log, manifest.log_start(), self.run)?;
        let copied = Manifest { log: mark.or(manifest.log), ..manifest.clone() };
        self.disk.write(&self.to.join(MANIFEST_NAME), &copied.encode_whole()?)
    }

    /// Puts a file into the copy.
    fn place(&self, file: &Path, name: &Path, bytes: u64) -> Result<CopyOrigin> {
        let disk = self.disk.as_ref();
        let to = self.to.join(name);
        self.create_directory(&parent(&to))?;
        if let Some(earlier) = self.earlier.map(|earlier| earlier.join(name))
            && !(self.options.apart && is_one_file(disk, file, &earlier)?)
            && is_same(disk, file, &earlier, bytes)?
            && disk.link(&earlier, &to)?
        {
            return Ok(CopyOrigin::Kept);
        }
        if !self.options.apart {
            if disk.clone_file(file, &to)? {
                return Ok(CopyOrigin::Cloned);
            }
            if disk.link(file, &to)? {
                return Ok(CopyOrigin::Linked);
            }
        }
        copy(disk, file, &to, bytes, || Ok(self.run.check()?))?;
        Ok(CopyOrigin::Copied)
    }

    /// Creates a directory of the copy, and those above it, unless they exist.
    fn create_directory(&self, path: &Path) -> Result<()> {
        if self.disk.look(path)?.is_some() {
            return Ok(());
        }
        self.create_directory(&parent(path))?;
        self.disk.create_directory(path)
    }

    /// Verifies what the copy before it did not have, and counts the files.
    fn verify(&self, placed: &Placed) -> Result<BackupReport> {
        let mut report = BackupReport::default();
        for (origin, bytes) in placed.values() {
            match origin {
                CopyOrigin::Kept => report.kept.add(*bytes),
                CopyOrigin::Cloned => report.cloned.add(*bytes),
                CopyOrigin::Linked => report.linked.add(*bytes),
                CopyOrigin::Copied => report.copied.add(*bytes),
            }
        }
        let is_new = |file: &Path| {
            let name = file.strip_prefix(self.to).ok().and_then(|name| placed.get(name));
            name.is_none_or(|(origin, _)| *origin != CopyOrigin::Kept)
        };
        let state = State::read(Arc::clone(self.disk), self.to)?;
        report.verified_bytes = verify_columns(&state, &is_new, self.run)?;
        drop(state);
        let store = Store::open_on(Arc::clone(self.disk), self.to)?;
        store.check_log(self.run)?;
        report.version = store.versions()?.last().map_or(0, |newest| newest.number);
        for (file, bytes) in store.files()? {
            let name = file.strip_prefix(self.to).unwrap_or(&file);
            if name == Path::new(MANIFEST_NAME) || name.starts_with("log") {
                report.copied.add(bytes);
                report.verified_bytes += bytes;
            }
        }
        Ok(report)
    }
}

/// Whether two files hold the same, by what proves it: they are one file; or they have the same length,
/// header and checksums of all blocks. Short files and archives are compared whole. `bytes` is the length of
/// the first.
fn is_same(disk: &dyn Disk, a: &Path, b: &Path, bytes: u64) -> Result<bool> {
    let (Some(first), Some(second)) = (disk.identify(a)?, disk.identify(b)?) else { return Ok(false) };
    if first.id == second.id {
        return Ok(true);
    }
    let (a_file, b_file) = (disk.open(a)?, disk.open(b)?);
    if a_file.len()? != bytes || b_file.len()? != bytes {
        return Ok(false);
    }
    let name = a.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_archive = archived_name(name) != name;
    let end = match is_archive || bytes <= COMPARED_BYTES {
        true => 0,
        false => bytes - COMPARED_BYTES.max(bytes / BYTES_PER_CHECKSUM_BYTE),
    };
    let mut pieces = [vec![0; COMPARED_BYTES as usize], vec![0; COMPARED_BYTES as usize]];
    let mut position = 0;
    while position < bytes {
        let len = if position < end { PAGE_BYTES as u64 } else { COMPARED_BYTES.min(bytes - position) };
        let [ours, theirs] = &mut pieces;
        let (ours, theirs) = (&mut ours[..len as usize], &mut theirs[..len as usize]);
        a_file.read_exact_at(ours, position)?;
        b_file.read_exact_at(theirs, position)?;
        if ours != theirs {
            return Ok(false);
        }
        position = if position < end { end } else { position + len };
    }
    Ok(true)
}
