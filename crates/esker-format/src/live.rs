//! Files of the states of live answers. `esker/src/follow` says what is in them.

use std::path::{Path, PathBuf};

use super::field::{FieldInput, FieldValue, layout};
use super::header::{DatabaseId, header_page, read_header_page};
use super::size::{FORMAT_VERSION, PAGE_BYTES};
use crate::error::{Error, Result};
use crate::io::Disk;
use crate::memory::reserve;

/// The directory of these files in that of a database.
pub const LIVE_DIRECTORY: &str = "live";
const LIVE_MAGIC: [u8; 8] = *b"ESKERliv";

layout! {
    /// The start of a file `live/<name>`. Zeros follow up to byte 4092, which begins the CRC-32C of all bytes before it. From byte 4096 on: a
    /// `LiveContent`, up to the end of the file.
    pub(crate) struct LiveHeader {
        /// `ESKERliv`.
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

impl LiveContent {
    /// The name of the file for what is followed.
    pub fn file_name(algorithm: &str, declaration: &str) -> String {
        format!("{algorithm}-{:08x}", crc32c::crc32c(declaration.as_bytes()))
    }

    /// Writes it to a file beside the one at `path`, which it then replaces, durably.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, disk: &dyn Disk, path: &Path, database: DatabaseId) -> Result<()> {
        if self.arrays.iter().any(|array| u32::try_from(array.words.len()).is_err()) {
            return Err(Error::Invalid(format!("the state is too large for {}", path.display())));
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
        let (directory, new) = (path.parent().unwrap_or(Path::new("")), new_path(path));
        if disk.look(directory)?.is_none() {
            disk.create_directory(directory)?;
            disk.sync_directory(directory.parent().unwrap_or(Path::new("")))?;
        }
        if disk.look(&new)?.is_some() {
            disk.remove_file(&new)?;
        }
        let file = disk.create(&new)?;
        file.write_at(&header_page(&header), 0)?;
        file.write_at(&content, PAGE_BYTES as u64)?;
        file.sync()?;
        disk.replace(&new, path)?;
        disk.sync_directory(directory)
    }

    /// Reads a file; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it is damaged; [`Error::Invalid`] if it is of another database; [`Error::Io`].
    pub fn read(disk: &dyn Disk, path: &Path, database: DatabaseId) -> Result<Option<Self>> {
        if disk.look(path)?.is_none() {
            return Ok(None);
        }
        let file = disk.open(path)?;
        let (mut bytes, mut filled) = (Vec::new(), 0);
        reserve(&mut bytes, file.len()? as usize)?;
        bytes.resize(file.len()? as usize, 0);
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], filled as u64)? {
                0 => return Err(Error::corrupt(path, filled as u64, "the file ends here")),
                count => filled += count,
            }
        }
        let header: LiveHeader = read_header_page(path, &bytes, LIVE_MAGIC)?;
        if header.database != database {
            return Err(Error::Invalid(format!("{} belongs to another database", path.display())));
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
        Ok(Some(found))
    }
}

/// Where a file is written before it replaces the one at `path`.
fn new_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

#[cfg(test)]
mod tests {
    use crate::io::MemoryDisk;

    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written_and_damage_is_found() {
        let (disk, path) = (MemoryDisk::new(), Path::new("/db/live/wcc"));
        disk.create_directory(Path::new("/db")).unwrap();
        let database = DatabaseId::random();
        assert_eq!(LiveContent::read(&disk, path, database).unwrap(), None);
        let content = |version| LiveContent {
            declaration: "wcc".to_owned(),
            numbering: String::new(),
            version,
            committed_ms: 5,
            after: Some(-1_i64 as u64),
            until: None,
            arrays: vec![LiveArray { words: vec![0, 1, u64::MAX] }, LiveArray { words: Vec::new() }],
        };
        for version in 1..3 {
            content(version).write(&disk, path, database).unwrap();
            assert_eq!(LiveContent::read(&disk, path, database).unwrap(), Some(content(version)));
        }
        let other = LiveContent::read(&disk, path, DatabaseId::random()).unwrap_err();
        assert!(other.to_string().contains("another database"), "{other}");
        let file = disk.open_for_writing(path).unwrap();
        let bytes = file.len().unwrap();
        for offset in (0..40).chain(PAGE_BYTES as u64 - 4..bytes) {
            let mut byte = [0];
            file.read_at(&mut byte, offset).unwrap();
            file.write_at(&[byte[0] ^ 1], offset).unwrap();
            LiveContent::read(&disk, path, database).unwrap_err();
            file.write_at(&byte, offset).unwrap();
        }
        LiveContent::read(&disk, path, database).unwrap();
    }
}
