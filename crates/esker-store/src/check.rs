//! Whether a database is sound: every checksum, and everything that the arrays must be to one another.
//!
//! Memory: a few numbers a thread, whatever the size. Reads every file once for its checksums, and the lists once more
//! for their order and for the comparison of directions, which is by sums of hashes: in-lists are the transpose of
//! out-lists, and the lists of an undirected graph symmetric, but for a chance of 2^-64 of not noticing.

use std::ops::Range;
use std::path::PathBuf;

use esker_graph::{Direction, Run, VertexId, vertex};

use crate::error::{Error, Result};
use crate::format::{IdMapKind, Values};
use crate::io::Disk;
use crate::layer::Section;
use crate::snapshot::Snapshot;
use crate::version::ids_directory;

/// Vertices that a worker looks at before it takes others.
const UNIT_VERTICES: usize = 1 << 12;

/// What was looked at and found.
#[derive(Debug, Default)]
pub struct Report {
    /// Files whose checksums were verified.
    pub files: usize,
    /// Bytes of these files.
    pub bytes: u64,
    /// What else was found to hold.
    pub sound: Vec<String>,
    /// What is wrong. Empty: the database is sound.
    pub problems: Vec<Error>,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Notes the outcome of a check; whether it passed.
    fn note(&mut self, outcome: Result<()>) -> Result<bool> {
        match outcome {
            Ok(()) => Ok(true),
            Err(Error::Stop(stop)) => Err(stop.into()),
            Err(problem) => {
                self.problems.push(problem);
                Ok(false)
            }
        }
    }

    fn file(&mut self, bytes: u64, outcome: Result<()>) -> Result<bool> {
        self.files += 1;
        self.bytes += bytes;
        self.note(outcome)
    }

    fn expect(&mut self, holds: bool, what: &str, otherwise: impl FnOnce() -> Error) {
        if holds {
            self.sound.push(what.to_owned());
        } else {
            self.problems.push(otherwise());
        }
    }
}

/// Checks everything in a version of a database, and goes on after a problem wherever it can.
///
/// # Errors
/// Cancellation, or a directory that cannot be listed; what is wrong with the database is in the report.
pub fn check(disk: &dyn Disk, snapshot: &Snapshot, run: &Run) -> Result<Report> {
    let mut report = Report::default();
    check_ids(disk, snapshot, run, &mut report)?;
    check_dictionaries(snapshot, &mut report)?;
    let out = check_direction(snapshot, Direction::Out, run, &mut report)?;
    let incoming = if snapshot.is_directed() && snapshot.has(Direction::In) {
        check_direction(snapshot, Direction::In, run, &mut report)?
    } else {
        None
    };
    let Some(out) = out else {
        return Ok(report);
    };
    let record = snapshot.layer();
    let path = || snapshot.section(Direction::Out).map_or_else(|_| PathBuf::new(), targets_path);
    let wrong = |reason: String| Error::corrupt(path(), 0, reason);
    report.expect(out.loops == record.num_loops, "the number of self-loops is as recorded", || {
        wrong(format!("it has {} self-loops where the manifest says {}", out.loops, record.num_loops))
    });
    let edges = if record.directed {
        record.num_arcs
    } else {
        out.loops + record.num_arcs.saturating_sub(out.loops) / 2
    };
    report.expect(edges == record.num_edges, "the number of edges is as recorded", || {
        wrong(format!("it has {edges} edges where the manifest says {}", record.num_edges))
    });
    if !record.directed {
        report.expect(
            out.forward == out.backward,
            "each edge stands in the lists of both ends, with its properties",
            || wrong("the lists of an undirected graph are not symmetric".to_owned()),
        );
    }
    if let Some(incoming) = incoming {
        let same = out.forward.wrapping_add(out.backward) == incoming.forward.wrapping_add(incoming.backward);
        report.expect(same, "the in-lists hold the edges of the out-lists, with their properties", || {
            let section = snapshot.section(Direction::In);
            let reason = "the in-lists are not the transpose of the out-lists";
            Error::corrupt(section.map_or_else(|_| PathBuf::new(), targets_path), 0, reason)
        });
    }
    Ok(report)
}

/// Verifies the files of the id map, and that it leads from each vertex to an id and back.
fn check_ids(disk: &dyn Disk, snapshot: &Snapshot, run: &Run, report: &mut Report) -> Result<()> {
    let directory = ids_directory(snapshot.path());
    let entries = match disk.look(&directory)? {
        Some(_) => disk.list(&directory)?,
        None => Vec::new(),
    };
    let mut intact = true;
    for entry in entries.iter().filter(|entry| !entry.is_directory) {
        let values = Values::open_any(disk, &directory.join(&entry.name), snapshot.manifest().database);
        intact &= report.file(entry.bytes, values.and_then(|values| values.verify(run)))?;
    }
    if !intact || snapshot.manifest().ids.kind == IdMapKind::Identity {
        return Ok(());
    }
    let there_and_back = |range: Range<usize>| {
        for v in range.map(vertex) {
            let id = snapshot.ids().external_of(v)?;
            if snapshot.ids().vertex_of(id)? != Some(v) {
                let reason = format!("the id {id} of vertex {v} does not lead back to it");
                return Err(Error::corrupt(&directory, 0, reason));
            }
        }
        Ok(())
    };
    let checked =
        run.share_ranges(snapshot.num_vertices(), UNIT_VERTICES, || (), |(), range| there_and_back(range));
    if report.note(checked.map(|_| ()))? {
        report.sound.push("each vertex has an id that leads back to it".to_owned());
    }
    Ok(())
}

fn targets_path(section: &Section) -> PathBuf {
    section.targets_column().path().to_owned()
}

fn check_dictionaries(snapshot: &Snapshot, report: &mut Report) -> Result<()> {
    for property in snapshot.edge_properties() {
        if let Some(dictionary) = snapshot.dictionary(property.number) {
            report.files += 1;
            report.file(dictionary.file_bytes(), dictionary.verify())?;
        }
    }
    Ok(())
}

/// What a pass over the lists of one direction adds up to.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    loops: u64,
    /// Of hashes of edges from a lesser to a greater vertex; and of self-loops, if directed.
    forward: u64,
    /// Of hashes of edges from a greater to a lesser vertex: in an undirected graph, hashed as the former.
    backward: u64,
}

/// Verifies the files of a direction, then adds up its lists; `None` if they cannot be read.
fn check_direction(
    snapshot: &Snapshot,
    direction: Direction,
    run: &Run,
    report: &mut Report,
) -> Result<Option<Sums>> {
    let section = snapshot.section(direction)?;
    let mut readable =
        report.file(section.offsets_column().file_bytes(), section.offsets(run).map(|_| ()))?;
    readable &= report.file(section.targets_column().file_bytes(), section.targets(run).map(|_| ()))?;
    for property in snapshot.edge_properties() {
        let values = snapshot.edge_values(direction, property.number)?;
        let intact = report.file(values.file_bytes(), values.verify(run))?;
        readable &= intact;
        if let Some(dictionary) = snapshot.dictionary(property.number).filter(|_| intact) {
            report.note(check_codes(snapshot, direction, property.number, dictionary.len() as u64, run))?;
        }
    }
    if !readable {
        return Ok(None);
    }
    let lists = Lists { snapshot, section, direction };
    let sums = run.share_ranges(section.num_vertices(), UNIT_VERTICES, Sums::default, |sums, range| {
        lists.add(sums, range)
    });
    match sums {
        Ok(sums) => {
            report.sound.push(format!("the {direction:?}-lists ascend").to_lowercase());
            Ok(Some(sums.into_iter().fold(Sums::default(), Sums::plus)))
        }
        Err(problem) => report.note(Err(problem)).map(|_| None),
    }
}

fn check_codes(
    snapshot: &Snapshot,
    direction: Direction,
    property: u32,
    codes: u64,
    run: &Run,
) -> Result<()> {
    let values = snapshot.edge_values(direction, property)?;
    run.share_ranges(
        values.len(),
        UNIT_VERTICES,
        || (),
        |(), range| {
            for index in range {
                let code = values.bits_at(index)?;
                if code >= codes {
                    let reason = format!("value {index} is code {code} of a dictionary of {codes} texts");
                    return Err(Error::corrupt(values.path(), 0, reason));
                }
            }
            Ok(())
        },
    )
    .map(|_| ())
}

/// The lists of one direction, all verified.
struct Lists<'a> {
    snapshot: &'a Snapshot,
    section: &'a Section,
    direction: Direction,
}

impl Lists<'_> {
    fn add(&self, sums: &mut Sums, vertices: Range<usize>) -> Result<()> {
        for v in vertices.map(vertex) {
            let range = self.section.range(v)?;
            let list = self.section.list(v)?;
            if let Some(wrong) = list.windows(2).position(|pair| pair[0] > pair[1]) {
                let reason = format!("the list of vertex {v} does not ascend");
                return Err(self.section.targets_column().corrupt(range.start + wrong + 1, reason));
            }
            for (index, &w) in range.zip(list) {
                let properties = self.hash_properties(index)?;
                sums.loops += u64::from(v == w);
                let (from, to) = if self.direction == Direction::Out { (v, w) } else { (w, v) };
                self.add_edge(sums, from, to, properties);
            }
        }
        Ok(())
    }

    fn add_edge(&self, sums: &mut Sums, from: VertexId, to: VertexId, properties: u64) {
        let turned = from > to && !self.snapshot.is_directed();
        let (a, b) = if turned { (to, from) } else { (from, to) };
        let hash = mix(mix(mix(u64::from(a)) ^ u64::from(b)) ^ properties);
        match from.cmp(&to) {
            std::cmp::Ordering::Less => sums.forward = sums.forward.wrapping_add(hash),
            std::cmp::Ordering::Greater => sums.backward = sums.backward.wrapping_add(hash),
            // A self-loop stands once in an undirected graph, so it has no counterpart to be compared with.
            std::cmp::Ordering::Equal if self.snapshot.is_directed() => {
                sums.forward = sums.forward.wrapping_add(hash);
            }
            std::cmp::Ordering::Equal => {}
        }
    }

    fn hash_properties(&self, index: usize) -> Result<u64> {
        let mut hash = 0;
        for property in self.snapshot.edge_properties() {
            if let Some(values) = self.section.property(property.number as usize) {
                hash = mix(hash ^ values.bits_at(index)?);
            }
        }
        Ok(hash)
    }
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            loops: self.loops + other.loops,
            forward: self.forward.wrapping_add(other.forward),
            backward: self.backward.wrapping_add(other.backward),
        }
    }
}

/// The finaliser of SplitMix64 after its increment.
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
