//! What a run costs: the seconds and the bytes from the disk that a candidate is predicted to take.
//!
//! This is the one place where costs are computed. They follow from three things: the rates of the machine
//! ([`Rates`]), the work of the algorithm as its catalogue entry gives it ([`Workload`]), and the graph in
//! the encoding and residency of the candidate. Where the rates were never measured, their constants stand in
//! for them. `bench/predictions.py` measures how well that predicts; `docs/decisions/predicted-times.md` has
//! the figures.

use std::path::Path;

use esker_graph::{Direction, vertex};
use esker_store::io::{Disk, RealDisk, cached_share};
use esker_store::layer::TiledLists;
use esker_store::pool::PoolOptions;
use esker_store::{GraphEncoding, View};

use crate::catalogue::Workload;
use crate::error::Result;
use crate::rates::{Rate, Rates};

/// What a run is predicted to take: seconds of each part, one after another, and bytes from the disk.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Price {
    /// Opening the layers, and finding the newest list of each vertex in them.
    pub opening: f64,
    /// Waiting for the disk.
    pub reading: f64,
    /// Comparing checksums before the algorithm begins.
    pub verifying: f64,
    /// Copying lists to memory, or gathering heads or what later layers hold.
    pub gathering: f64,
    /// The algorithm itself.
    pub computing: f64,
    /// Bytes from the disk; those that the page cache holds are none.
    pub disk_bytes: u64,
}

impl Price {
    /// All parts together.
    pub fn seconds(&self) -> f64 {
        self.opening + self.reading + self.verifying + self.gathering + self.computing
    }

    /// The parts with their names.
    pub fn parts(&self) -> [(&'static str, f64); 5] {
        [
            ("opening", self.opening),
            ("reading", self.reading),
            ("verifying", self.verifying),
            ("gathering", self.gathering),
            ("computing", self.computing),
        ]
    }
}

/// What the prices of all candidates depend on.
pub(super) struct Costs<'a> {
    pub(super) rates: &'a Rates,
    pub(super) work: Workload,
    /// Threads of the run.
    pub(super) threads: usize,
    pub(super) num_vertices: u64,
    /// Arcs of the directions that are read.
    pub(super) num_arcs: u64,
    pub(super) degrees: DegreeSample,
    pub(super) num_layers: usize,
    /// Bytes of the layers above the complete one, and of the codes of births of a layer that is read in
    /// part.
    pub(super) later_bytes: u64,
    pub(super) is_compressed: bool,
    /// What a scan of the lists of this version loses against one of plain lists in a single layer, as a part
    /// of what it loses in eleven layers.
    pub(super) chains: f64,
    /// Whether single lists are decoded from tiles.
    pub(super) decodes_tiles: bool,
    /// Whether both lists of a vertex are merged: a scan decodes tiles by rows and again by columns, and
    /// reads tails whole.
    pub(super) merges_directions: bool,
    /// Bytes of the lists and weights as they are stored, and those of them that lie on the disk and not in
    /// the page cache.
    pub(super) lists: Stored,
    /// The same of tiles.
    pub(super) tiles: Stored,
    /// Bytes of the places where lists begin.
    pub(super) offset_bytes: u64,
    /// Bytes of stored heads, if there are any.
    pub(super) head_bytes: Option<u64>,
}

/// Bytes of files.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Stored {
    /// All.
    pub(super) bytes: u64,
    /// Those of weights, which are mapped beside pools and heads.
    pub(super) weight_bytes: u64,
    /// Those that the page cache does not hold.
    pub(super) uncached_bytes: u64,
}

impl Stored {
    /// Of this number of bytes, in files of the complete layer of a version whose names begin with a prefix.
    pub(super) fn of(view: &View, bytes: u64, weight_bytes: u64, prefixes: &[String]) -> Self {
        let number = view.version().complete_layer().record().number;
        let share = share_on_disk(&view.version().path().join(format!("layers/{number}")), prefixes);
        let weight_bytes = weight_bytes.min(bytes);
        Self { bytes, weight_bytes, uncached_bytes: (bytes as f64 * share) as u64 }
    }
}

/// Vertices whose degrees are looked at.
const DEGREE_SAMPLES: u64 = 256;
/// The ratio of the average degree to the middle one at which a graph counts as wholly skewed.
const SKEWED_RATIO: f64 = 4.0;
/// Each sample of the first half of the vertices is compared with one of the second half. Degrees descend if
/// at most one in this many is the lower one.
const ASCENTS_SHARE: usize = 16;

/// What is known of the degrees of a graph, from those of 256 vertices.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct DegreeSample {
    /// How unequal they are: 0 if a vertex in the middle has as many arcs as the average, 1 if it has a
    /// quarter or less. See [`Workload::nanoseconds`].
    pub(super) skew: f64,
    /// Whether vertices are numbered by descending degree, with few exceptions.
    pub(super) descend: bool,
}

impl DegreeSample {
    /// Those of the graph of a version.
    ///
    /// # Errors
    /// [`esker_store::Error::Corrupt`]; [`esker_store::Error::Io`].
    pub(super) fn of(view: &View) -> Result<Self> {
        let n = view.version().stack().num_vertices() as u64;
        let direction = if view.reads(Direction::Out) { Direction::Out } else { Direction::In };
        let count = DEGREE_SAMPLES.min(n);
        let degree = |i: u64| view.version().degree(direction, vertex((n / count * i) as usize));
        let mut degrees = (0..count).map(degree).collect::<std::result::Result<Vec<_>, _>>()?;
        let (former, latter) = degrees.split_at(degrees.len() / 2);
        let ascents = former.iter().zip(latter).filter(|(first, later)| first < later).count();
        let descend = ascents * ASCENTS_SHARE <= former.len();
        degrees.sort_unstable();
        let middle = degrees.get(degrees.len() / 2).map_or(1.0, |&degree| degree.max(1) as f64);
        // Of the whole version, as the degrees are, also where a window leaves few arcs.
        let average = view.version().num_arcs() as f64 / n.max(1) as f64;
        Ok(Self { skew: (average / middle).max(1.0).log(SKEWED_RATIO).min(1.0), descend })
    }
}

/// The share of files, by bytes, that the page cache does not hold; 0 if the system does not say.
fn share_on_disk(directory: &Path, prefixes: &[String]) -> f64 {
    let entries = RealDisk.list(directory).unwrap_or_default();
    let (mut all, mut missing) = (0.0, 0.0);
    for entry in
        entries.iter().filter(|entry| prefixes.iter().any(|prefix| entry.name.starts_with(prefix.as_str())))
    {
        let bytes = entry.bytes as f64;
        all += bytes;
        missing += bytes * (1.0 - cached_share(&directory.join(&entry.name)).unwrap_or(1.0));
    }
    if all > 0.0 { missing / all } else { 0.0 }
}

/// Bytes of later layers whose lists are found in a second, by two threads.
const LATER_FOUND: f64 = 1.0e9;
/// Bytes of later layers that are gathered in a second beside a pool, heads or tiles, by two threads.
const LATER_GATHERED: f64 = 1.5e9;

/// Arcs that one thread decodes in a second from tiles to lists.
const DECODED: f64 = 3.0e8;
/// Parts of the lists that stay decoded.
const PARTS_KEPT: f64 = 4.0;

/// The memory for the graph of a candidate that needs at least `least_bytes`: what is more than the least,
/// and the smallest pool, which the least includes.
pub(super) fn graph_memory_bytes(least_bytes: u64, memory_bytes: u64) -> u64 {
    memory_bytes.saturating_sub(least_bytes).saturating_add(PoolOptions::default().bytes_min())
}

impl Costs<'_> {
    /// Seconds to open the layers, and to find the newest lists.
    pub(super) fn opening(&self) -> f64 {
        self.num_layers as f64 / self.rates.of(Rate::OpenLayers) + self.of_later(LATER_FOUND)
    }

    /// Seconds in which what later layers changed is gathered beside a pool, heads or tiles.
    pub(super) fn gathering_later(&self) -> f64 {
        self.of_later(LATER_GATHERED)
    }

    /// The files of an encoding.
    pub(super) fn stored(&self, encoding: GraphEncoding) -> Stored {
        match encoding {
            GraphEncoding::Tiles => self.tiles,
            GraphEncoding::Lists => self.lists,
        }
    }

    /// Scans of all lists that the algorithm makes.
    pub(super) fn scans(&self) -> f64 {
        self.work.scans_on(self.degrees.skew)
    }

    /// What it costs to read mapped files, if one thread takes `decoding` seconds to decode lists from
    /// tiles where these are kept alone.
    pub(super) fn reading_mapped(&self, encoding: GraphEncoding, decoding: f64) -> Price {
        let stored = self.stored(encoding);
        let decodes = self.decodes_tiles && encoding == GraphEncoding::Lists;
        Price {
            disk_bytes: stored.uncached_bytes,
            reading: self.seconds(stored.uncached_bytes, Rate::ReadBytes),
            verifying: self.verifying(stored.bytes.saturating_add(self.offset_bytes)),
            gathering: if decodes { self.threaded(decoding) } else { 0.0 },
            ..Price::default()
        }
    }

    /// Seconds in which one thread decodes lists from tiles: all of them in order, this many times, and with
    /// `at_random`, for each list that is read at random those around it, unless they are among those
    /// decoded last.
    pub(super) fn decoding(&self, in_order: f64, at_random: bool) -> f64 {
        let (arcs, kept) = (self.num_arcs as f64, TiledLists::KEPT_ARCS_MAX as f64);
        let at_random = self.work.reads_points() && at_random;
        let missed = if at_random { arcs * (1.0 - kept / arcs.max(1.0)).max(0.0) } else { 0.0 };
        (in_order * arcs + missed * (kept / PARTS_KEPT).min(arcs)) / DECODED
    }

    /// Seconds that point reads take if this part of the lists (0 to 1) is not in the pool.
    pub(super) fn points(&self, outside: f64) -> f64 {
        // The figures were measured with half of the lists outside.
        let ns = self.work.point_ns_on(self.degrees.skew) * 2.0 * outside.max(0.0);
        self.threaded(self.machine() * self.num_arcs as f64 * ns * 1e-9)
    }

    /// Seconds that later layers take, if two threads read `bytes_per_second`.
    fn of_later(&self, bytes_per_second: f64) -> f64 {
        self.threaded(self.later_bytes as f64 / bytes_per_second * self.machine())
    }

    /// The algorithm's own time: over plain lists, and what each scan of another source takes beyond that.
    pub(super) fn computing(&self, encoding: GraphEncoding) -> f64 {
        let (rate, scans) = match encoding {
            GraphEncoding::Tiles if self.merges_directions => (Rate::ScanTiles, 2.0 * self.work.tiles),
            GraphEncoding::Tiles => (Rate::ScanTiles, self.work.tiles),
            GraphEncoding::Lists if self.chains > 0.0 => (Rate::ScanLayers, self.work.layers * self.chains()),
            GraphEncoding::Lists if self.is_compressed => (Rate::ScanCompressed, self.scans()),
            GraphEncoding::Lists => (Rate::ScanPlain, 0.0),
        };
        self.threaded(self.own() + scans * self.num_arcs as f64 * self.beyond_plain(rate))
    }

    /// The algorithm's own time over plain lists in memory.
    pub(super) fn computing_in_memory(&self) -> f64 {
        self.threaded(self.own())
    }

    /// The time of two threads over plain lists.
    fn own(&self) -> f64 {
        self.work.nanoseconds(self.num_vertices, self.num_arcs, self.degrees.skew) * 1e-9 * self.machine()
    }

    /// Seconds that an arc takes at this rate of scans, beyond those of plain lists.
    pub(super) fn beyond_plain(&self, rate: Rate) -> f64 {
        (1.0 / self.rates.of(rate) - 1.0 / self.rates.of(Rate::ScanPlain)).max(0.0)
    }

    /// What a scan loses by layers, where it is the same lists that a copy reads: in one layer less, as a
    /// copy of it takes less.
    fn chains(&self) -> f64 {
        let is_single = self.num_layers == 1;
        self.chains
            * if is_single { self.rates.of(Rate::CopyLayers) / self.rates.of(Rate::Copy) } else { 1.0 }
    }

    /// By how much this machine is slower than the one on which work was measured.
    pub(super) fn machine(&self) -> f64 {
        Rates::default().of(Rate::ScanPlain) / self.rates.of(Rate::ScanPlain)
    }

    pub(super) fn verifying(&self, bytes: u64) -> f64 {
        self.threaded(self.seconds(bytes, Rate::VerifyBytes))
    }

    pub(super) fn seconds(&self, bytes: u64, rate: Rate) -> f64 {
        bytes as f64 / self.rates.of(rate)
    }

    /// What takes so long with the threads that the rates were measured with, with those of the run.
    pub(super) fn threaded(&self, seconds: f64) -> f64 {
        seconds * self.rates.threads as f64 / self.threads.max(1) as f64
    }
}
