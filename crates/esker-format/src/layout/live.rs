//! Files of the states of live answers. `esker/src/follow` says what is in them.

use std::path::{Path, PathBuf};

use esker_graph::{Reservation, Run};

use crate::error::{Error, Result};
use crate::file::field::{FieldInput, FieldValue, layout};
use crate::file::header::{DatabaseId, header_page, read_header_page};
use crate::file::size::{FORMAT_VERSION, PAGE_BYTES};
use crate::io::Disk;
use crate::memory::filled;

/// The directory of these files in that of a database.
pub const LIVE_DIRECTORY: &str = "live";
/// What separates the name of a state from that of the file in which its next one is written, before it takes
/// its place.
const NEW: &str = ".new";
/// Random hexadecimal digits at the end of the name of such a file.
const NONCE_DIGITS: usize = 16;
/// How often a state is written again because a writer took its file for one that was left.
const ATTEMPTS: usize = 5;
/// The most memory for each byte of a file: its content as it is stored, as words, and as values.
const MEMORY_PARTS: u64 = 3;
const LIVE_MAGIC: [u8; 8] = *b"Eskerliv";

layout! {
    /// The start of a file `live/<name>`. Zeros follow up to byte 4092, which begins the CRC-32C of all bytes
    /// before it. From byte 4096 on: a `LiveContent`, up to the end of the file.
    pub(crate) struct LiveHeader {
        /// `Eskerliv`.
        magic: [u8; 8],
        /// Version of the format.
        format_version: u32,
        /// The database.
        database: DatabaseId,
        /// Bytes of the content.
        content_bytes: u64,
        /// CRC-32C of the content.
        content_checksum: u32,
    }
}

layout! {
    /// The state of a live answer at a version.
    pub struct LiveContent {
        /// What is followed, as the follower words it; another one is not resumed.
        declaration: String,
        /// How the vertices are numbered, in words: a compaction that renumbers them makes the state useless.
        numbering: String,
        /// Number of the version.
        version: u64,
        /// Time of its commit: milliseconds since 1970, UTC.
        committed_ms: u64,
        /// The checksum in the header of the log record of its commit; 0: an import. It tells the version
        /// from one of the same number in a copy of the database that took another course.
        commit: u32,
        /// The window: edges at this time are not in it.
        after: Option<u64>,
        /// The last time in the window, as a two's complement, and so is `after`.
        until: Option<u64>,
        /// Arrays of 64-bit words. What they are depends on the algorithm.
        arrays: Vec<LiveArray>,
    }
}

layout! {
    /// An array of a state.
    pub struct LiveArray {
        /// The words.
        words: Vec<u64>,
    }
}

/// What was found of a state.
#[derive(Debug)]
pub enum LiveFound {
    /// It was not kept.
    Nothing,
    /// Its file is damaged, or of another database or version of Esker: why.
    Unusable(String),
    /// The state, and memory for it and for the values that are made of it.
    State(LiveContent, Reservation),
}

impl LiveContent {
    /// The name of the file for what is followed, which `words` tell from anything else.
    pub fn file_name(algorithm: &str, words: &str) -> String {
        format!("{algorithm}-{:08x}", crc32c::crc32c(words.as_bytes()))
    }

    /// Writes it to a file of its own beside the one at `path`, which it then replaces, durably. Other
    /// processes may do the same.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Invalid`] if it is too large.
    pub fn write(&self, disk: &dyn Disk, path: &Path, database: DatabaseId) -> Result<()> {
        if self.arrays.iter().any(|array| u32::try_from(array.words.len()).is_err()) {
            return Err(Error::invalid(format!("the state is too large for {}", path.display())));
        }
        let mut content = Vec::new();
        self.put(&mut content);
        let header = LiveHeader {
            magic: LIVE_MAGIC,
            format_version: FORMAT_VERSION,
            database,
            content_bytes: content.len() as u64,
            content_checksum: crc32c::crc32c(&content),
        };
        let directory = path.parent().unwrap_or(Path::new(""));
        expect_directory(disk, directory)?;
        let mut attempts = 1;
        loop {
            let new = new_path(path);
            match put_in_place(disk, [&new, path], &header_page(&header), &content) {
                Ok(()) => return disk.sync_directory(directory),
                Err(error) if error.is_not_found() && attempts < ATTEMPTS => attempts += 1,
                Err(error) => {
                    // Best effort: the next writer of the database removes what is left.
                    let _ = disk.remove_file(&new);
                    return Err(error);
                }
            }
        }
    }

    /// Reads a file, within the memory of a run. Damage is no error: the state can be computed anew.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Stop`] if the budget has no room for it; [`Error::Invalid`] if the system has
    /// none.
    pub fn read(disk: &dyn Disk, path: &Path, database: DatabaseId, run: &Run) -> Result<LiveFound> {
        let file = match disk.open(path) {
            Err(error) if error.is_not_found() => return Ok(LiveFound::Nothing),
            file => file?,
        };
        let (length, mut read) = (file.len()?, 0);
        let memory = run.budget().reserve("a state that was kept", length.saturating_mul(MEMORY_PARTS))?;
        let mut bytes = filled(0, length as usize)?;
        while read < bytes.len() {
            match file.read_at(&mut bytes[read..], read as u64)? {
                0 => break,
                count => read += count,
            }
        }
        bytes.truncate(read);
        Ok(match Self::decode(path, &bytes, database) {
            Ok(content) => LiveFound::State(content, memory),
            Err(Error::Corrupt { offset, reason, .. }) => LiveFound::Unusable(format!(
                "{} is damaged at byte {offset}: {reason}; the file may be removed",
                path.display()
            )),
            Err(error) => LiveFound::Unusable(error.to_string()),
        })
    }

    /// The content of a file.
    fn decode(path: &Path, bytes: &[u8], database: DatabaseId) -> Result<Self> {
        let header: LiveHeader = read_header_page(path, bytes, LIVE_MAGIC)?;
        if header.database != database {
            return Err(Error::invalid(format!("{} belongs to another database", path.display())));
        }
        let content = &bytes[PAGE_BYTES..];
        if (content.len() as u64, crc32c::crc32c(content)) != (header.content_bytes, header.content_checksum)
        {
            let reason = "the length or the checksum of its content does not match";
            return Err(Error::corrupt(path, PAGE_BYTES as u64, reason));
        }
        let mut input = FieldInput::new(path, content, PAGE_BYTES as u64);
        let found = Self::take(&mut input)?;
        input.finish()?;
        Ok(found)
    }
}

/// Creates the directory of these files, durably, if it is not there. Another process may create it
/// meanwhile.
fn expect_directory(disk: &dyn Disk, directory: &Path) -> Result<()> {
    if disk.look(directory)?.is_some() {
        return Ok(());
    }
    if let Err(error) = disk.create_directory(directory)
        && disk.look(directory)?.is_none()
    {
        return Err(error);
    }
    disk.sync_directory(directory.parent().unwrap_or(Path::new("")))
}

/// Writes a file at the first path, which then replaces the one at the second.
fn put_in_place(disk: &dyn Disk, [new, path]: [&Path; 2], header: &[u8], content: &[u8]) -> Result<()> {
    let file = disk.create(new)?;
    file.write_at(header, 0)?;
    file.write_at(content, PAGE_BYTES as u64)?;
    file.sync()?;
    disk.replace(new, path)
}

/// Where a file is written before it replaces the one at `path`: another one each time.
fn new_path(path: &Path) -> PathBuf {
    let (mut name, nonce) = (path.as_os_str().to_owned(), DatabaseId::random().to_string());
    name.push(format!("{NEW}-{}", &nonce[..NONCE_DIGITS]));
    name.into()
}

/// The files in the directory of states that replaced no other, and their bytes: a process that wrote one
/// died, or is writing it.
///
/// # Errors
/// [`Error::Io`].
pub fn left_live_files(disk: &dyn Disk, directory: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let entries = match disk.list(directory) {
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        entries => entries?,
    };
    let left =
        entries.into_iter().filter(|entry| is_new(&entry.name) && !entry.is_directory && !entry.is_link);
    Ok(left.map(|entry| (directory.join(entry.name), entry.bytes)).collect())
}

/// Whether a file has the name of one that is to replace a state, such as
/// `wcc-0123abcd.new-0123456789abcdef`.
fn is_new(name: &str) -> bool {
    let is_hex = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    // Without a nonce: as former versions wrote it.
    name.split_once(NEW).is_some_and(|(state, nonce)| {
        let is_nonce = nonce.strip_prefix('-').is_some_and(|nonce| is_hex(nonce, NONCE_DIGITS));
        let is_state = state.rsplit_once('-').is_some_and(|(_, sum)| is_hex(sum, 2 * size_of::<u32>()));
        is_state && (nonce.is_empty() || is_nonce)
    })
}

#[cfg(test)]
mod tests {
    use esker_graph::{Budget, RunOptions};

    use crate::io::{Files, MemoryDisk};

    use super::*;

    const PATH: &str = "/db/live/wcc-0123abcd";

    fn content(version: u64) -> LiveContent {
        LiveContent {
            declaration: "wcc".to_owned(),
            numbering: String::new(),
            version,
            committed_ms: 5,
            commit: 6,
            after: Some(-1_i64 as u64),
            until: None,
            arrays: vec![LiveArray { words: vec![0, 1, u64::MAX] }, LiveArray { words: Vec::new() }],
        }
    }

    fn database() -> MemoryDisk {
        let disk = MemoryDisk::new();
        disk.create_directory(Path::new("/db")).unwrap();
        disk
    }

    fn run(bytes: u64) -> Run {
        Run::new(RunOptions { threads: 1, budget: Budget::new(bytes), ..RunOptions::default() }).unwrap()
    }

    #[test]
    fn a_state_is_read_as_it_was_written_and_damage_is_found() {
        let (disk, path, run) = (database(), Path::new(PATH), run(1 << 20));
        let id = DatabaseId::random();
        assert!(matches!(LiveContent::read(&disk, path, id, &run).unwrap(), LiveFound::Nothing));
        let read = || match LiveContent::read(&disk, path, id, &run).unwrap() {
            LiveFound::State(content, memory) => {
                assert!(memory.bytes() >= 3 * PAGE_BYTES as u64);
                Ok(content)
            }
            LiveFound::Unusable(reason) => Err(reason),
            LiveFound::Nothing => panic!("there is no file"),
        };
        for version in 1..3 {
            content(version).write(&disk, path, id).unwrap();
            assert_eq!(read(), Ok(content(version)));
        }
        let other = LiveContent::read(&disk, path, DatabaseId::random(), &run).unwrap();
        assert!(format!("{other:?}").contains("another database"), "{other:?}");
        let file = disk.open_for_writing(path).unwrap();
        let bytes = file.len().unwrap();
        for offset in (0..40).chain(PAGE_BYTES as u64 - 4..bytes) {
            let mut byte = [0];
            file.read_at(&mut byte, offset).unwrap();
            file.write_at(&[byte[0] ^ 1], offset).unwrap();
            let reason = read().unwrap_err();
            assert!(reason.contains("damaged") && reason.contains("may be removed"), "{reason}");
            assert!(!reason.contains("import"), "only the state is lost: {reason}");
            file.write_at(&byte, offset).unwrap();
        }
        read().unwrap();
    }

    #[test]
    fn a_state_for_which_there_is_no_memory_is_not_read() {
        let (disk, path, id) = (database(), Path::new(PATH), DatabaseId::random());
        content(1).write(&disk, path, id).unwrap();
        let narrow = LiveContent::read(&disk, path, id, &run(PAGE_BYTES as u64)).unwrap_err();
        assert!(matches!(narrow, Error::Stop(_)), "{narrow}");
        LiveContent::read(&disk, path, id, &run(4 * PAGE_BYTES as u64)).unwrap();
        // What cannot be read is an error too, not damage.
        let directory = Path::new("/db/live");
        let unreadable = LiveContent::read(&disk, directory, id, &run(1 << 20)).unwrap_err();
        assert!(matches!(unreadable, Error::Io { .. }), "{unreadable}");
    }

    #[test]
    fn followers_keep_the_same_state_at_the_same_time() {
        let (disk, path, id) = (database(), Path::new(PATH), DatabaseId::random());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (1..100).for_each(|version| content(version).write(&disk, path, id).unwrap()));
            }
        });
        let found = LiveContent::read(&disk, path, id, &run(1 << 20)).unwrap();
        assert!(matches!(found, LiveFound::State(found, _) if found == content(99)));
        let names: Vec<_> = disk.list(Path::new("/db/live")).unwrap();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn only_files_that_were_to_replace_a_state_are_left() {
        let (disk, directory) = (database(), Path::new("/db/live"));
        assert_eq!(left_live_files(&disk, directory).unwrap(), []);
        disk.create_directory(directory).unwrap();
        let new = new_path(Path::new(PATH));
        let old = directory.join("k-core-0123abcd.new");
        for path in
            [&new, &old, Path::new(PATH), &directory.join("notes.new"), &directory.join("a-0123abcd.newer")]
        {
            disk.create(path).unwrap().write_at(b"12", 0).unwrap();
        }
        let mut left = left_live_files(&disk, directory).unwrap();
        left.sort();
        assert_eq!(left, [(old, 2), (new, 2)]);
    }
}
