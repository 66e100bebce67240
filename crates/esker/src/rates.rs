//! How fast this machine reads, verifies, copies and scans: what the prices of plans are computed from.
//!
//! `esker doctor` measures the rates and keeps them in a file of the user's cache directory. Without that
//! file, prices are computed from constants: the rates of the machine that docs/performance.md names.
#![allow(clippy::disallowed_methods)] // A file of the user, of no database.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use esker_store::io::{Disk, RealDisk, parent};
use serde_json::{Map, Value, json};

use crate::error::Result;

/// The version of the file.
const FILE_VERSION: u64 = 1;
/// The key of the version, by which a file of rates is known.
const VERSION_KEY: &str = "esker_rates";
/// What can be a rate.
const PER_SECOND: RangeInclusive<f64> = 1.0..=1e18;
/// The most threads that rates can be measured with.
const THREADS_MAX: u64 = 1 << 16;
/// The name of the file in the cache directory.
const FILE_NAME: &str = "esker/rates.json";

/// One of the [`Rates`]. All are of all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// Layers opened, each with its header, table and columns.
    OpenLayers,
    /// Bytes read sequentially from the disk, past the page cache.
    ReadBytes,
    /// Blocks of 64 KiB read from the disk at random, past the page cache.
    ReadBlocks,
    /// Bytes of memory read sequentially.
    MemoryBytes,
    /// Words of memory read at random, from more than the caches hold.
    MemoryWords,
    /// Bytes compared with their checksums.
    VerifyBytes,
    /// Arcs of plain lists that a round of PageRank sums over.
    ScanPlain,
    /// The same, of compressed lists.
    ScanCompressed,
    /// The same, of tiles.
    ScanTiles,
    /// The same, of plain lists in eleven layers.
    ScanLayers,
    /// Arcs of plain lists in one layer copied to memory.
    Copy,
    /// The same, of lists in eleven layers.
    CopyLayers,
}

impl Rate {
    /// All rates, in the order of tables.
    pub const ALL: [Self; 12] = [
        Self::OpenLayers,
        Self::ReadBytes,
        Self::ReadBlocks,
        Self::MemoryBytes,
        Self::MemoryWords,
        Self::VerifyBytes,
        Self::ScanPlain,
        Self::ScanCompressed,
        Self::ScanTiles,
        Self::ScanLayers,
        Self::Copy,
        Self::CopyLayers,
    ];

    /// Its key in files and JSON: what it counts, per second.
    pub fn key(self) -> &'static str {
        match self {
            Self::OpenLayers => "open_layers",
            Self::ReadBytes => "read_bytes",
            Self::ReadBlocks => "read_blocks",
            Self::MemoryBytes => "memory_bytes",
            Self::MemoryWords => "memory_words",
            Self::VerifyBytes => "verify_bytes",
            Self::ScanPlain => "scan_plain_arcs",
            Self::ScanCompressed => "scan_compressed_arcs",
            Self::ScanTiles => "scan_tiles_arcs",
            Self::ScanLayers => "scan_layers_arcs",
            Self::Copy => "copy_arcs",
            Self::CopyLayers => "copy_layers_arcs",
        }
    }

    /// What is measured, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::OpenLayers => "opening layers",
            Self::ReadBytes => "disk, sequential",
            Self::ReadBlocks => "disk, blocks of 64 KiB at random",
            Self::MemoryBytes => "memory, sequential",
            Self::MemoryWords => "memory, words at random",
            Self::VerifyBytes => "comparing checksums",
            Self::ScanPlain => "scanning plain lists",
            Self::ScanCompressed => "scanning compressed lists",
            Self::ScanTiles => "scanning tiles",
            Self::ScanLayers => "scanning lists in 11 layers",
            Self::Copy => "copying lists to memory",
            Self::CopyLayers => "copying lists in 11 layers",
        }
    }

    /// What a second's worth of it counts: `bytes`, `arcs` and so on.
    pub fn unit(self) -> &'static str {
        match self {
            Self::OpenLayers => "layers",
            Self::ReadBytes | Self::MemoryBytes | Self::VerifyBytes => "bytes",
            Self::ReadBlocks => "reads",
            Self::MemoryWords => "words",
            Self::ScanPlain
            | Self::ScanCompressed
            | Self::ScanTiles
            | Self::ScanLayers
            | Self::Copy
            | Self::CopyLayers => "arcs",
        }
    }
}

/// The rates of a machine, per second. The default is what plans count with where nothing was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Threads that they were measured with.
    pub threads: usize,
    per_second: [f64; Rate::ALL.len()],
}

impl Default for Rates {
    /// Those of the machine that docs/performance.md names, on two threads.
    fn default() -> Self {
        Self {
            threads: 2,
            per_second: [2e4, 1.3e9, 2e4, 4.2e10, 1.9e8, 1.1e10, 3e9, 2.5e9, 1.1e9, 9.6e8, 6e8, 2e8],
        }
    }
}

impl Rates {
    /// A rate, per second.
    pub fn of(&self, rate: Rate) -> f64 {
        self.per_second[rate as usize]
    }

    /// These rates, with another one. A number that cannot be a rate (below 1, above 10^18, or none) changes
    /// nothing: a clock that stands still measures such.
    #[must_use]
    pub fn with(mut self, rate: Rate, per_second: f64) -> Self {
        if PER_SECOND.contains(&per_second) {
            self.per_second[rate as usize] = per_second;
        }
        self
    }

    /// These rates, measured with a number of threads.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The higher of each rate: other work of a machine only makes it slower.
    #[must_use]
    pub fn or_higher(self, other: Self) -> Self {
        Rate::ALL.iter().fold(self, |rates, &rate| rates.with(rate, rates.of(rate).max(other.of(rate))))
    }

    /// As an object of keys and numbers.
    pub fn to_json(&self) -> Value {
        Rate::ALL
            .iter()
            .map(|&rate| (rate.key().to_owned(), json!(self.of(rate))))
            .collect::<Map<_, _>>()
            .into()
    }
}

/// Rates, and how they are known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Known {
    /// The rates.
    pub rates: Rates,
    /// When they were measured, in milliseconds since 1970; `None` for the constants.
    pub measured_ms: Option<u64>,
    /// The directory whose file system was measured; empty for the constants.
    pub directory: String,
    /// The share of the time of all processors that other work took meanwhile, 0 to 1; `None` if that is not
    /// known.
    pub load: Option<f64>,
    /// Why a file that is there was not used, with its path.
    pub ignored: Option<String>,
}

/// Rates that were measured while other work took more than this share of the processors may be too low.
pub const LOAD_MAX: f64 = 0.1;
/// A rate that a run reached is kept if it is higher than the measured one by this factor: less is scatter.
const REACHED_MIN: f64 = 1.05;

impl Known {
    /// Rates measured now, beside other work that took this share of the processors.
    pub fn measured(rates: Rates, load: Option<f64>, directory: &Path) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let directory = directory.display().to_string();
        Self { rates, measured_ms: Some(now), directory, load, ignored: None }
    }

    /// Whether the rates may be too low, because the machine did other work meanwhile.
    pub fn is_doubtful(&self) -> bool {
        self.measured_ms.is_some() && self.load.is_some_and(|load| load > LOAD_MAX)
    }

    /// Takes in a rate that a run reached. Only doubtful rates are raised, since a run reaches no more than
    /// the machine can. Returns whether it was.
    pub fn raise(&mut self, rate: Rate, per_second: f64) -> bool {
        let is_higher = self.is_doubtful() && per_second > self.rates.of(rate) * REACHED_MIN;
        if is_higher {
            self.rates = self.rates.with(rate, per_second);
        }
        is_higher
    }

    /// The rates in the user's cache directory, else the constants.
    pub fn of_user() -> Self {
        file().map_or_else(Self::default, |path| Self::read(&path))
    }

    /// The rates in a file. Where there is none, or none that this program understands, the constants.
    pub fn read(path: &Path) -> Self {
        let ignored = |reason: String| Self { ignored: Some(reason), ..Self::default() };
        let named = |reason: String| ignored(format!("{}: {reason}", path.display()));
        match RealDisk.look(path) {
            Ok(None) => return Self::default(),
            Ok(Some(entry)) if entry.bytes > FILE_BYTES_MAX => {
                return named("it is too long for a file of rates".to_owned());
            }
            Ok(Some(_)) => {}
            Err(error) => return ignored(error.to_string()),
        }
        match RealDisk.read(path) {
            Ok(content) => parse(&content).unwrap_or_else(named),
            Err(error) => ignored(error.to_string()),
        }
    }

    /// Raises a rate in the user's cache directory that a run reached with this number of threads, as
    /// [`Known::raise`] does. A file that cannot be written stays as it is.
    pub fn learn(rate: Rate, per_second: f64, threads: usize) {
        let mut known = Self::of_user();
        if known.rates.threads == threads && known.raise(rate, per_second) {
            let _ = known.keep();
        }
    }

    /// Writes them to the user's cache directory; returns the file, or `None` if the user has no such
    /// directory.
    ///
    /// # Errors
    /// As [`Known::write`].
    pub fn keep(&self) -> Result<Option<PathBuf>> {
        let Some(path) = file() else { return Ok(None) };
        self.write(&path)?;
        Ok(Some(path))
    }

    /// Writes a file, in place of one that is there: at no moment it is half written.
    ///
    /// # Errors
    /// [`esker_store::Error::Io`].
    pub fn write(&self, path: &Path) -> Result<()> {
        let content = json!({
            VERSION_KEY: FILE_VERSION,
            "measured_ms": self.measured_ms,
            "directory": self.directory,
            "load": self.load,
            "threads": self.rates.threads,
            "per_second": self.rates.to_json(),
        });
        let directory = parent(path);
        std::fs::create_dir_all(&directory).map_err(esker_store::Error::io("create", &directory))?;
        let new = path.with_extension(format!("{}.new", std::process::id()));
        // A process of the same number may have been killed here.
        let _ = RealDisk.remove_file(&new);
        let written = RealDisk
            .write(&new, format!("{content:#}\n").as_bytes())
            .and_then(|()| RealDisk.replace(&new, path));
        if written.is_err() {
            let _ = RealDisk.remove_file(&new);
        }
        Ok(written?)
    }
}

/// Longest file that is read.
const FILE_BYTES_MAX: u64 = 1 << 16;

/// The file of rates in the user's cache directory: `$XDG_CACHE_HOME`, else `~/.cache`.
pub fn file() -> Option<PathBuf> {
    Some(cache_directory()?.join(FILE_NAME))
}

/// The user's cache directory; it need not exist.
pub fn cache_directory() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// The content of a file, or why it is not used.
fn parse(content: &[u8]) -> std::result::Result<Known, String> {
    let damaged = || "it is damaged, or no file of rates".to_owned();
    let file: Value = serde_json::from_slice(content).map_err(|_| damaged())?;
    match file[VERSION_KEY].as_u64() {
        Some(FILE_VERSION) => {}
        Some(other) => return Err(format!("another Esker wrote it, in version {other} of its form")),
        None => return Err(damaged()),
    }
    let threads = file["threads"].as_u64().filter(|threads| (1..=THREADS_MAX).contains(threads));
    let threads = threads.ok_or_else(damaged)?;
    let mut rates = Rates { threads: threads as usize, ..Rates::default() };
    for rate in Rate::ALL {
        let found = file["per_second"][rate.key()].as_f64();
        let found = found.filter(|found| PER_SECOND.contains(found)).ok_or_else(damaged)?;
        rates = rates.with(rate, found);
    }
    Ok(Known {
        rates,
        measured_ms: Some(file["measured_ms"].as_u64().ok_or_else(damaged)?),
        directory: file["directory"].as_str().unwrap_or_default().to_owned(),
        // Files of earlier programs do not say.
        load: file["load"].as_f64().filter(|load| (0.0..=1.0).contains(load)),
        ignored: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Known {
        let rates = Rate::ALL
            .iter()
            .fold(Rates::default(), |rates, &rate| rates.with(rate, 1000.5 + f64::from(rate as u32)));
        Known::measured(Rates { threads: 3, ..rates }, Some(0.25), Path::new("/data"))
    }

    #[test]
    fn rates_are_read_as_they_were_written() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("not/yet/there/rates.json");
        assert_eq!(Known::read(&path), Known::default());
        some().write(&path).unwrap();
        let first = Known::read(&path);
        assert_eq!((first.rates, first.directory.as_str(), &first.ignored), (some().rates, "/data", &None));
        assert_eq!(first.load, Some(0.25));
        let other = Known { rates: first.rates.with(Rate::Copy, 7.0), ..first.clone() };
        other.write(&path).unwrap();
        assert_eq!(Known::read(&path), other);
        let names: Vec<_> =
            RealDisk.list(&parent(&path)).unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["rates.json"], "nothing else is left");
    }

    #[test]
    fn runs_raise_the_rates_of_a_busy_machine_and_no_others() {
        let (rate, measured) = (Rate::ScanTiles, some().rates.of(Rate::ScanTiles));
        let with = |load| Known { load, ..some() };
        for load in [None, Some(0.0), Some(LOAD_MAX)] {
            let mut known = with(load);
            assert!(!known.is_doubtful() && !known.raise(rate, 9.0 * measured), "{load:?}");
            assert_eq!(known, Known { measured_ms: known.measured_ms, ..with(load) });
        }
        let mut known = with(Some(0.5));
        assert!(known.is_doubtful() && !known.raise(rate, 1.01 * measured) && !known.raise(rate, f64::NAN));
        assert!(known.raise(rate, 2.0 * measured));
        assert_eq!(known.rates, some().rates.with(rate, 2.0 * measured));
        assert!(
            !Known { load: Some(1.0), ..Known::default() }.is_doubtful(),
            "the constants are of another machine"
        );
    }

    #[test]
    fn a_file_that_does_not_say_how_busy_the_machine_was_is_used() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("rates.json");
        Known { load: None, ..some() }.write(&path).unwrap();
        let whole = String::from_utf8(RealDisk.read(&path).unwrap()).unwrap();
        std::fs::write(&path, whole.replace("\"load\": null,", "")).unwrap();
        let known = Known::read(&path);
        assert_eq!((known.rates, known.load, known.ignored), (some().rates, None, None));
    }

    #[test]
    fn damaged_and_foreign_files_are_ignored_and_named() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("rates.json");
        some().write(&path).unwrap();
        let whole = String::from_utf8(RealDisk.read(&path).unwrap()).unwrap();
        let long = whole.clone() + &" ".repeat(1 << 16);
        let cases = [
            (whole[..whole.len() / 2].to_owned(), "damaged"),
            (String::new(), "damaged"),
            ("{\"name\": \"another program\"}".to_owned(), "no file of rates"),
            (whole.replace("\"esker_rates\": 1", "\"esker_rates\": 2"), "version 2"),
            (whole.replace("copy_arcs", "copied_arcs"), "damaged"),
            (whole.replace("1000.5", "-3"), "damaged"),
            (whole.replace("1000.5", "1e-320"), "damaged"),
            (whole.replace("1000.5", "1e300"), "damaged"),
            (whole.replace("\"threads\": 3", "\"threads\": 65537"), "damaged"),
            (whole.replace("\"threads\": 3", "\"threads\": 0"), "damaged"),
            (long, "too long"),
        ];
        for (content, reason) in cases {
            std::fs::write(&path, &content).unwrap();
            let known = Known::read(&path);
            assert_eq!((known.rates, known.measured_ms), (Rates::default(), None), "{content}");
            let said = known.ignored.unwrap();
            assert!(said.contains(reason) && said.contains("rates.json"), "{said}");
        }
        // Its own target: not even its length can be read.
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&path, &path).unwrap();
        let said = Known::read(&path).ignored.unwrap();
        assert!(said.contains("look at") && said.contains("rates.json"), "{said}");
    }

    #[test]
    fn a_file_that_a_killed_process_left_is_no_obstacle_and_a_failure_leaves_none() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("rates.json");
        std::fs::write(path.with_extension(format!("{}.new", std::process::id())), "half").unwrap();
        some().write(&path).unwrap();
        assert_eq!(Known::read(&path).rates, some().rates);
        // A directory cannot be replaced by a file.
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(some().write(&path).is_err());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "the directory alone is left");
    }

    #[test]
    fn a_rate_that_cannot_be_leaves_the_others_as_they_are() {
        let rates = Rates::default();
        for wrong in [0.0, -1.0, 1e-320, 1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(rates.with(Rate::Copy, wrong), rates);
        }
        let mut keys: Vec<_> = Rate::ALL.iter().map(|rate| rate.key()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), Rate::ALL.len());
        assert!(Rate::ALL.iter().enumerate().all(|(i, &rate)| rate as usize == i));
    }
}
