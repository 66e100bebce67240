//! Segments of the log under test: damages one segment, then reads the database, and opens it for writing.
//!
//! An input is the number of a database and of a segment (`0/1`), a line feed, the first bytes of the
//! segment's header page, and its records. Without repair, the database shows a prefix of the original
//! commits, each unchanged, or an error names the log. With repaired checksums, as a hostile writer would
//! leave them, other commits may appear, but nothing may panic or hang.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use esker_graph::Direction;
use esker_import::install::import;
use esker_import::open::open_inputs;
use esker_import::options::{ImportOptions, NumberingOrder};
use esker_import::read::format::{PickProperties, ReadOptions};
use esker_import::read::input::Input;
use esker_store::io::{Disk, FaultyDisk};
use esker_store::manifest::StagingOptions;
use esker_store::{Database, DatabaseOptions, Error, Store, Version};

use crate::database::{PAGE_BYTES, ROOT, damaged, disk_with, gather, read_lists, seed, with_run};
use crate::living::{commit_integers, commit_texts};
use crate::outcome::Outcome;

/// The contents of a database, by version.
type Versions = BTreeMap<u64, String>;

/// A sound database with commits in its log.
struct SoundLog {
    files: Vec<(PathBuf, Vec<u8>)>,
    versions: Versions,
}

fn sound() -> &'static [SoundLog] {
    static SOUND: OnceLock<Vec<SoundLog>> = OnceLock::new();
    SOUND.get_or_init(|| {
        let texts = "source,target,weight,kind\na,b,5,x\nb,c,1,y\nc,a,2,x\nd,d,3,z\n";
        let ints = "0 1\n1 2\n2 0\n3 1\n3 3\n4 1\n";
        // The inputs come from this file alone: a failure is an error in this file or in the store.
        let texts = make("web.csv", texts, true, commit_texts).expect("sound");
        vec![texts, make("web.el", ints, false, commit_integers).expect("sound")]
    })
}

fn options() -> DatabaseOptions {
    DatabaseOptions { threads: 1, segment_bytes: PAGE_BYTES as u64 + 600, ..DatabaseOptions::default() }
}

fn make(
    name: &str,
    text: &str,
    directed: bool,
    commit: fn(&Database) -> Result<(), Error>,
) -> Result<SoundLog, Error> {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let reader = open_inputs(&[Input::memory(name, text.as_bytes())], &read)?.reader;
    let staging = StagingOptions { created_ms: Some(1), ..StagingOptions::default() };
    let import_options = ImportOptions {
        order: NumberingOrder::Keep,
        directed: Some(directed),
        threads: 1,
        ..ImportOptions::default()
    };
    import(&disk, reader, Path::new(ROOT), &import_options, staging)?;
    let db = Database::open_on(Arc::clone(&disk), Path::new(ROOT), options())?;
    commit(&db)?;
    db.close()?;
    let mut files = Vec::new();
    gather(disk.as_ref(), Path::new(ROOT), &mut files)?;
    let versions = read_all(&disk)?;
    Ok(SoundLog { files, versions })
}

/// All segments of all logs, in the form of an input.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (number, sound) in sound().iter().enumerate() {
        let log = Path::new(ROOT).join("log");
        for (path, content) in sound.files.iter().filter(|(path, _)| path.starts_with(&log)) {
            seeds.push(seed(number, path.strip_prefix(&log).unwrap_or(path), content));
        }
    }
    seeds
}

/// Reads and opens a database after replacing one of its segments by the input.
pub(crate) fn examine(bytes: &[u8], way: usize) -> Result<Outcome, String> {
    let unknown = || Ok(Outcome::Refused("the input names no segment of a log".to_owned()));
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return unknown() };
    let name = String::from_utf8_lossy(&bytes[..end]);
    let Some((number, segment)) = name.split_once('/') else { return unknown() };
    let Some(sound) = number.parse::<usize>().ok().and_then(|number| sound().get(number)) else {
        return unknown();
    };
    let path = Path::new(ROOT).join("log").join(segment);
    let Some((_, original)) = sound.files.iter().find(|(file, _)| *file == path) else { return unknown() };
    let is_forged = way > 1;
    let content = damaged(original, &bytes[end + 1..], is_forged);
    let disk = disk_with(&sound.files, &path, &content).map_err(|error| format!("no disk: {error}"))?;
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let refused = |error: Error| refusal(&error, is_forged);
    let expected = |seen: &Versions| match seen
        .iter()
        .find(|(number, content)| sound.versions.get(number) != Some(content))
    {
        _ if is_forged => Ok(()),
        Some((number, content)) => Err(format!("version {number} is wrong: {content}")),
        None if !seen.keys().copied().eq(1..=seen.len() as u64) => Err(format!("gaps: {:?}", seen.keys())),
        None => Ok(()),
    };
    let seen = match read_all(&disk) {
        Ok(seen) => seen,
        // A writer must refuse it too.
        Err(error) if !is_forged => {
            return match open(&disk) {
                Ok(_) => Err(format!("opened for writing, though a reader says: {error}")),
                Err(_) => refused(error),
            };
        }
        Err(error) => return refused(error),
    };
    expected(&seen)?;
    match open(&disk) {
        Ok(newest) if !is_forged && Some(&newest) != seen.keys().next_back() => {
            Err(format!("a reader sees {:?}, and who writes, {newest}", seen.keys()))
        }
        Ok(_) => match read_all(&disk) {
            Ok(again) if again != seen => Err(format!("{seen:?} became {again:?} when it was opened")),
            Ok(again) => Ok(Outcome::Read { edges: again.len() as u64, rejected: None }),
            Err(error) => Err(format!("it was opened for writing, and then: {error}")),
        },
        Err(error) => refused(error),
    }
}

/// An error must name the log.
fn refusal(error: &Error, is_forged: bool) -> Result<Outcome, String> {
    let message = error.to_string();
    match error {
        _ if is_forged || message.contains("log") => Ok(Outcome::Refused(message)),
        _ => Err(format!("an error that does not say where: {message}")),
    }
}

/// Opens for writing and closes; returns the newest version.
fn open(disk: &Arc<dyn Disk>) -> Result<u64, Error> {
    let db = Database::open_on(Arc::clone(disk), Path::new(ROOT), options())?;
    let newest = db.latest()?;
    read(&newest)?;
    db.close()?;
    Ok(newest.number())
}

/// All versions, as a reader sees them.
fn read_all(disk: &Arc<dyn Disk>) -> Result<Versions, Error> {
    let store = Store::open_on(Arc::clone(disk), Path::new(ROOT))?;
    let numbers = store.versions()?.into_iter().map(|version| version.number);
    numbers.map(|number| Ok((number, read(&store.at(number)?)?))).collect()
}

fn read(version: &Version) -> Result<String, Error> {
    let mut content = format!("{:?}\n", version.record());
    for direction in [Direction::Out, Direction::In] {
        if version.has(direction) {
            read_lists(version, direction, &mut content)?;
        }
    }
    let removed = with_run(|run| version.removed(run).map(|removed| removed.list().to_vec()))?;
    content.push_str(&format!("{removed:?}\n"));
    for property in version.vertex_properties() {
        let values = version.vertex_property(&property.name)?;
        for v in (0..version.num_vertices().min(100)).map(esker_graph::vertex) {
            content.push_str(&format!("{:?} ", values.get(v)?));
        }
    }
    Ok(content)
}
