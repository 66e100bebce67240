//! Inputs: files, patterns, standard input; compressed or not; read once, front to back, in bounded memory.

use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use esker_format::io::{Disk, InputId, RealDisk, input_bytes, input_id, open_input};
use esker_format::{Error, Result};
use esker_graph::Cancel;

use crate::read::waiting::WaitingInput;

/// Bytes that a decompressor reads at a time.
const COMPRESSED_BUFFER_BYTES: usize = 1 << 18;

/// The largest window that a `.zst` input may ask for, as a power of two: 128 MiB, what `zstd` itself allows.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Where bytes come from.
#[derive(Debug, Clone)]
pub enum Input {
    /// A file.
    File(Arc<PathBuf>),
    /// Standard input, which can be read only once. A cancelled token ends a wait for it.
    Stdin(Cancel),
    /// Bytes in memory under a name. The path is for messages and its ending for the sniffer.
    Memory(Arc<PathBuf>, Arc<[u8]>),
}

impl Input {
    /// An input in memory.
    pub fn memory(name: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self::Memory(Arc::new(PathBuf::from(name)), bytes.into())
    }

    /// The path for messages; `-` for standard input.
    pub fn path(&self) -> Arc<PathBuf> {
        match self {
            Self::File(path) | Self::Memory(path, _) => Arc::clone(path),
            Self::Stdin(_) => Arc::new(PathBuf::from("-")),
        }
    }

    /// The name, whose ending may promise a format.
    pub fn name(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }

    /// Whether it can be opened more than once: not standard input, nor a pipe.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Self::File(path) => input_bytes(path).is_some(),
            Self::Stdin(_) => false,
            Self::Memory(..) => true,
        }
    }

    /// Bytes as stored, if known.
    pub(crate) fn stored_bytes(&self) -> Option<u64> {
        match self {
            Self::File(path) => input_bytes(path),
            Self::Stdin(_) => None,
            Self::Memory(_, bytes) => Some(bytes.len() as u64),
        }
    }

    /// What its name names now; `None` if it is no file, or there is none.
    pub(crate) fn file_id(&self) -> Option<InputId> {
        match self {
            Self::File(path) => input_id(path),
            _ => None,
        }
    }

    /// The input beside this one with another ending, if there is one: `web.e` for `web.v`.
    pub(crate) fn sibling(&self, name: &Path) -> Option<Self> {
        match self {
            Self::File(path) => {
                let path = path.with_file_name(name);
                input_bytes(&path).map(|_| Self::File(Arc::new(path)))
            }
            _ => None,
        }
    }

    /// Opens it for reading from its start, decompressed.
    ///
    /// # Errors
    /// If it is not there, may not be read, or is a directory.
    pub fn open(&self) -> Result<InputStream> {
        let path = self.path();
        let raw: Box<dyn Read + Send> = match self {
            Self::File(path) => {
                if RealDisk.look(path)?.is_some_and(|entry| entry.is_directory) {
                    return Err(Error::invalid(format!(
                        "{0} is a directory; name its files, for example '{0}/*.csv'",
                        path.display()
                    )));
                }
                open_input(path)?
            }
            Self::Stdin(cancel) => Box::new(WaitingInput::new(io::stdin(), cancel.clone())),
            Self::Memory(_, bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        };
        InputStream::new(path, raw, self.file_id())
    }
}

/// What the user named, as inputs in order: `-` is standard input, a name that is no file but has `*`, `?` or
/// `[` in it is a pattern, whose files come in the order of their names.
///
/// # Errors
/// If there is nothing, a pattern matches no file or is malformed, or standard input is named twice.
pub fn expand<S: AsRef<str>>(names: &[S], cancel: &Cancel) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for name in names.iter().map(AsRef::as_ref) {
        if name == "-" {
            if inputs.iter().any(|input| matches!(input, Input::Stdin(_))) {
                return Err(Error::invalid("standard input (-) is named twice; it can be read only once"));
            }
            inputs.push(Input::Stdin(cancel.clone()));
        } else if name.contains(['*', '?', '[']) && RealDisk.look(Path::new(name))?.is_none() {
            let before = inputs.len();
            let matches =
                glob::glob(name).map_err(|e| Error::invalid(format!("{name} is not a pattern: {e}")))?;
            for path in matches {
                let path = path.map_err(|e| {
                    let path = e.path().to_path_buf();
                    Error::Io { action: "read", path, source: e.into() }
                })?;
                if input_bytes(&path).is_some() {
                    inputs.push(Input::File(Arc::new(path)));
                }
            }
            if inputs.len() == before {
                return Err(Error::invalid(format!("no file matches the pattern {name}")));
            }
        } else {
            inputs.push(Input::File(Arc::new(PathBuf::from(name))));
        }
    }
    refuse_pipes_named_twice(&inputs)?;
    if inputs.is_empty() {
        return Err(Error::invalid("no input is named; give a file, a pattern, or - for standard input"));
    }
    Ok(inputs)
}

/// Refuses a pipe among inputs that is named twice: its second reader would wait for ever.
fn refuse_pipes_named_twice(inputs: &[Input]) -> Result<()> {
    let is_there = |path: &Path| matches!(RealDisk.look(path), Ok(Some(entry)) if !entry.is_directory);
    let is_pipe = |input: &&Input| match input {
        Input::File(path) => is_there(path) && !input.is_repeatable(),
        Input::Stdin(_) | Input::Memory(..) => false,
    };
    let mut known = Vec::new();
    for pipe in inputs.iter().filter(is_pipe) {
        // It may have several names.
        let id = RealDisk.identify(&pipe.path())?.map(|named| named.id);
        if known.contains(&id) {
            return Err(Error::invalid(format!(
                "{} is named twice; a pipe can be read only once",
                pipe.name()
            )));
        }
        known.push(id);
    }
    Ok(())
}

/// How an input is compressed, told by its first bytes and never by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, of one or many members.
    Gzip,
    /// Zstandard, of one or many frames.
    Zstd,
    /// bzip2, of one or many streams.
    Bzip2,
}

impl Compression {
    /// What the first bytes of an input say.
    pub(crate) fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            // A skippable frame, as parallel compressors put first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => Self::Bzip2,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, ..] => Self::Bzip2,
            _ => Self::None,
        }
    }

    /// Its name for messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "uncompressed",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// Counts what passes, as stored on disk.
struct CountingReader<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// An open input, decompressed. Memory: a buffer of 256 KiB and the window of the decompressor, if
/// compressed.
pub struct InputStream {
    path: Arc<PathBuf>,
    file_id: Option<InputId>,
    compression: Compression,
    inner: Box<dyn Read + Send>,
    count: Arc<AtomicU64>,
    reported: u64,
}

impl InputStream {
    fn new(path: Arc<PathBuf>, raw: Box<dyn Read + Send>, file_id: Option<InputId>) -> Result<Self> {
        let count = Arc::new(AtomicU64::new(0));
        let mut raw = CountingReader { inner: raw, count: Arc::clone(&count) };
        let mut head = Vec::with_capacity(8);
        (&mut raw).take(8).read_to_end(&mut head).map_err(Error::io("read", path.as_path()))?;
        let compression = Compression::of(&head);
        let whole = Cursor::new(head).chain(raw);
        let buffered = |whole| BufReader::with_capacity(COMPRESSED_BUFFER_BYTES, whole);
        let inner: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(whole),
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(whole))),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(whole))),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(buffered(whole))
                    .map_err(Error::io("read", path.as_path()))?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(Error::io("read", path.as_path()))?;
                Box::new(decoder)
            }
        };
        Ok(Self { path, file_id, compression, inner, count, reported: 0 })
    }

    /// The path, for messages.
    pub(crate) fn path(&self) -> &Arc<PathBuf> {
        &self.path
    }

    /// How it is compressed.
    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// The file that was opened, if it is one.
    pub(crate) fn file_id(&self) -> Option<InputId> {
        self.file_id
    }

    /// Bytes taken from the input as stored.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Bytes taken from the input as stored, since the last call.
    pub(crate) fn take_stored_bytes(&mut self) -> u64 {
        let now = self.stored_bytes();
        let new = now - self.reported;
        self.reported = now;
        new
    }

    /// Fills `buffer` from `filled` on, and returns how far it is filled then: less than all only at the end.
    ///
    /// # Errors
    /// If reading fails, or the compressed data is damaged or ends too early.
    pub(crate) fn fill(&mut self, buffer: &mut [u8], mut filled: usize) -> Result<usize> {
        while filled < buffer.len() {
            match self.read_some(&mut buffer[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(filled)
    }

    /// Reads what there is, at most until `buffer` is full, and returns how much; 0 only at the end.
    ///
    /// # Errors
    /// As [`InputStream::fill`].
    pub(crate) fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.inner.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(|error| self.explain(error)),
            }
        }
    }

    fn explain(&self, error: io::Error) -> Error {
        if self.compression == Compression::None {
            return Error::io("read", self.path.as_path())(error);
        }
        let name = self.compression.name();
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("the {name} data ends too early: the file is cut short; copy or download it again")
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::Other => {
                format!("the {name} data is damaged ({error}); copy or download it again")
            }
            _ => return Error::io("read", self.path.as_path())(error),
        };
        Error::input(self.path.as_path(), reason)
    }
}

impl Read for InputStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(bytes: Vec<u8>) -> std::result::Result<Vec<u8>, String> {
        let mut stream = Input::memory("web.el", bytes).open().map_err(|error| error.to_string())?;
        let mut all = vec![0; 1 << 20];
        let filled = stream.fill(&mut all, 0).map_err(|error| error.to_string())?;
        all.truncate(filled);
        Ok(all)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compression_is_told_by_magic_and_may_come_in_pieces() {
        let text: Vec<u8> = (0..40_000u32).flat_map(|i| format!("{i} {}\n", i * 7).into_bytes()).collect();
        let (first, second) = text.split_at(text.len() / 3);
        for pack in [gzip, bzip2, zstd] {
            assert_eq!(read(pack(&text)).unwrap(), text);
            assert_eq!(read([pack(first), pack(second)].concat()).unwrap(), text);
            let packed = pack(&text);
            for cut in [20, packed.len() / 2, packed.len() - 3] {
                let error = read(packed[..cut].to_vec()).map(|bytes| bytes.len()).unwrap_err();
                assert!(
                    error.contains("data ends too early: the file is cut short; copy or download it again"),
                    "{error}"
                );
            }
            let mut damaged = packed.clone();
            let middle = damaged.len() / 2;
            damaged[middle..middle + 40].fill(0x55);
            let error = read(damaged).map(|bytes| bytes.len()).unwrap_err();
            assert!(
                error.starts_with("web.el: the ") && error.ends_with("copy or download it again"),
                "{error}"
            );
            assert_eq!(read(pack(b"")).unwrap(), b"");
        }
        assert_eq!(read(text.clone()).unwrap(), text);
        assert_eq!(read(b"\x1f\x8b".to_vec()).unwrap(), b"\x1f\x8b", "too short to be gzip");
    }

    #[test]
    fn progress_counts_stored_bytes() {
        let packed = gzip(&[b'7'; 100_000]);
        let mut stream = Input::memory("a", packed.clone()).open().unwrap();
        let mut buffer = vec![0; 200_000];
        assert_eq!(stream.fill(&mut buffer, 0).unwrap(), 100_000);
        assert_eq!((stream.take_stored_bytes(), stream.take_stored_bytes()), (packed.len() as u64, 0));
    }

    #[test]
    fn names_and_patterns() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        for name in ["b.csv", "a.csv", "c.txt", "odd[1].csv"] {
            RealDisk.write(&place.join(name), b"1,2\n").unwrap();
        }
        let names = |pattern: &str| -> std::result::Result<Vec<String>, String> {
            let inputs = expand(&[place.join(pattern).to_str().unwrap()], &Cancel::default())
                .map_err(|error| error.to_string())?;
            let name = |input: &Input| input.path().file_name().unwrap().to_string_lossy().into_owned();
            Ok(inputs.iter().map(name).collect())
        };
        assert_eq!(names("?.csv").unwrap(), ["a.csv", "b.csv"]);
        assert_eq!(names("odd[1].csv").unwrap(), ["odd[1].csv"], "a file of that very name is no pattern");
        assert!(names("*.mtx").unwrap_err().starts_with("no file matches the pattern "));
        assert!(names("***").unwrap_err().contains("is not a pattern"));
        let failed = |names: &[&str]| expand(names, &Cancel::default()).unwrap_err().to_string();
        assert_eq!(failed(&["-", "-"]), "standard input (-) is named twice; it can be read only once");
        assert!(failed(&[]).starts_with("no input is named"));
        let open = |name: &str| {
            expand(&[place.join(name).to_str().unwrap()], &Cancel::default()).unwrap()[0]
                .open()
                .err()
                .unwrap()
                .to_string()
        };
        assert!(open("").contains("is a directory; name its files, for example"), "{}", open(""));
        assert!(open("none.csv").starts_with("cannot open "), "{}", open("none.csv"));
    }
}
