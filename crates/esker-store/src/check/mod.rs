//! Checks that a database is sound: every checksum, and the relations between its arrays.
//!
//! Every byte of every file that the manifest names has a checksum or is part of one, and all are compared:
//! those of all layers, of their tiles and of the map of ids. [`crate::Store::check_log`] checks those of the
//! log and of MANIFEST. The relations are checked in one version, those of tiles and of vertex properties in
//! their layer.
//!
//! Memory: a few numbers a thread, whatever the size. The check reads every file once for its checksums, and
//! the lists once more for their order and to compare the directions: in-lists must be the transpose of
//! out-lists, and the lists of an undirected graph must be symmetric. It compares sums of hashes, which miss
//! a difference with a probability of 2^-64.

mod report;
mod columns;
mod files;
#[cfg(test)]
mod tests;

use std::ops::Range;

use esker_format::{Error, Result, Values};
use esker_graph::random::hash;
use esker_graph::{Direction, Flow, Run, VertexId, vertex};
use esker_layers::layer::{Body, CodedColumns, ListColumns, PlainLayer, Section};

use crate::manifest::ids_directory;
use crate::version::Version;

pub(crate) use columns::verify_columns;
use files::{check_archive, check_heads, check_layers, check_tiles};
pub use report::Report;

/// The number of vertices that a worker takes at a time.
const UNIT_VERTICES: usize = 1 << 12;

/// Checks a version of a database and all files of its state, and continues after a problem wherever it can.
///
/// # Errors
/// Cancellation. Problems of the database are in the report.
pub fn check(version: &Version, run: &Run) -> Result<Report> {
    let mut report = Report::default();
    check_ids(version, run, &mut report)?;
    check_dictionaries(version, &mut report, run)?;
    let out = check_direction(version, Direction::Out, run, &mut report)?;
    let incoming = if version.is_directed() && version.has(Direction::In) {
        check_direction(version, Direction::In, run, &mut report)?
    } else {
        None
    };
    check_layers(version.state(), run, &mut report)?;
    check_tiles(version.state(), run, &mut report)?;
    check_heads(version.state(), run, &mut report)?;
    let Some(out) = out else {
        return Ok(report.conclude());
    };
    let record = version.record();
    let path = || version.path().to_owned();
    let wrong = |reason: String| Error::corrupt(path(), 0, reason);
    report.expect(out.loops == record.num_loops, "the number of self-loops matches the manifest", || {
        wrong(format!(
            "the lists have {} self-loops, but the manifest records {}",
            out.loops, record.num_loops
        ))
    });
    let edges = if version.is_directed() {
        record.num_arcs
    } else {
        out.loops + record.num_arcs.saturating_sub(out.loops) / 2
    };
    report.expect(edges == record.num_edges, "the number of edges matches the manifest", || {
        wrong(format!(
            "the lists have {}, but the manifest records {}",
            esker_graph::counted(edges, "edge", "edges"),
            record.num_edges
        ))
    });
    if !version.is_directed() {
        report.expect(
            out.forward == out.backward,
            "the lists of both ends contain each edge with the same properties",
            || wrong("the lists of an undirected graph are not symmetric".to_owned()),
        );
    }
    if let Some(incoming) = incoming {
        let same = out.forward.wrapping_add(out.backward) == incoming.forward.wrapping_add(incoming.backward);
        report.expect(
            same,
            "the in-lists contain the edges of the out-lists, with the same properties",
            || wrong("the in-lists are not the transpose of the out-lists".to_owned()),
        );
    }
    Ok(report.conclude())
}

/// Verifies the files of the id map, and that it maps each vertex to an id and that id back to the vertex.
fn check_ids(version: &Version, run: &Run, report: &mut Report) -> Result<()> {
    match version.state().ids_archive() {
        Some(archive) => {
            if !check_archive(archive, version.manifest().ids_origin(), run, report)? {
                return Ok(());
            }
        }
        None if version.manifest().ids.kind.is_in_layers() => {}
        None => return Ok(()),
    }
    let check_range = |range: Range<usize>| {
        for v in range.map(vertex) {
            let id = version.ids().external_of(v)?;
            if version.ids().vertex_of(id)? != Some(v) {
                let reason = format!("the id {id} of vertex {v} does not map back to it");
                return Err(Error::corrupt(ids_directory(version.path()), 0, reason));
            }
        }
        Ok(())
    };
    let checked =
        run.share_ranges(version.num_vertices(), UNIT_VERTICES, || (), |(), range| check_range(range));
    if report.note(checked.map(|_| ()))? {
        report.sound.push("each vertex has an id that maps back to it".to_owned());
    }
    Ok(())
}

fn check_dictionaries(version: &Version, report: &mut Report, run: &Run) -> Result<()> {
    for property in version.edge_properties() {
        if let Some(dictionary) = version.dictionary(property.number) {
            report.note(dictionary.verify(run))?;
        }
    }
    Ok(())
}

/// Sums over the lists of one direction.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    loops: u64,
    /// The sum of the hashes of edges from a lesser to a greater vertex, and in a directed graph of
    /// self-loops.
    forward: u64,
    /// The sum of the hashes of edges from a greater to a lesser vertex; in an undirected graph they are
    /// hashed as if reversed.
    backward: u64,
}

/// Verifies the files of a direction, then sums its lists; `None` if they cannot be read.
fn check_direction(
    version: &Version,
    direction: Direction,
    run: &Run,
    report: &mut Report,
) -> Result<Option<Sums>> {
    let mut readable = true;
    for (position, layer) in version.stack().layers().iter().enumerate() {
        let section = version.stack().section(position, direction)?;
        readable &= check_section(version, layer, section, run, report)?;
    }
    if !readable {
        return Ok(None);
    }
    let lists = VersionLists { version, direction };
    let sums = run.share_ranges(version.num_vertices(), UNIT_VERTICES, Sums::default, |sums, range| {
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

/// Verifies the files of one direction of a layer; returns whether they can be read.
fn check_section(
    version: &Version,
    layer: &PlainLayer,
    section: &Section,
    run: &Run,
    report: &mut Report,
) -> Result<bool> {
    let mut readable = check_lists(version, section.main(), run, report)?;
    let (dead, past) = (section.dead(), section.past());
    let more = dead.map(|dead| &dead.lists).into_iter().chain(past.map(|past| &past.lists));
    for lists in more {
        readable &= check_lists(version, lists, run, report)?;
    }
    let codes = section.born().into_iter().chain(dead.and_then(|dead| dead.codes.as_ref()));
    let codes = codes.chain(past.into_iter().flat_map(|past| [&past.born, &past.died]));
    let versions = u64::from(layer.record().num_versions) + 1;
    for codes in codes {
        let intact = report.column(codes.column(), codes.column().verify(run))?;
        readable &= intact;
        if intact {
            readable &= report.note(check_codes(codes.column(), versions, "a version code", run))?;
        }
    }
    if !layer.record().complete {
        let links = section.links(run).map(|_| ());
        readable &= report.note(links)?;
    }
    if layer.record().num_versions > 1 {
        readable &= report.note(layer.versions().map(|_| ()))?;
    }
    Ok(readable)
}

/// Verifies the files of some lists; returns whether they can be read.
fn check_lists(version: &Version, lists: &ListColumns, run: &Run, report: &mut Report) -> Result<bool> {
    let mut readable = true;
    match lists.body() {
        Body::Arrays(arrays) => {
            let (offsets, targets) = (arrays.offsets_column(), arrays.targets_column());
            readable &= report.column(offsets, arrays.offsets(run).map(|_| ()))?;
            readable &= report.column(targets, arrays.targets(run).map(|_| ()))?;
        }
        Body::Coded(coded) => {
            // Verifying stops at the first damage in any of the four.
            let sound = report.note(coded.all(run).map(|_| ()))?;
            let CodedColumns { groups, sizes, lists, blocks } = coded.columns();
            if sound {
                report.column(groups, Ok(()))?;
                report.column(sizes, Ok(()))?;
                report.column(lists, Ok(()))?;
                report.column(blocks, Ok(()))?;
            }
            readable &= sound;
        }
        Body::Tiled(tiled) => {
            readable &= report.column(tiled.offsets_column(), tiled.offsets(run).map(|_| ()))?;
            for data in tiled.tiles().data().columns() {
                readable &= report.column(data, data.all(run).map(|_| ()))?;
            }
        }
    }
    if let Some(column) = lists.vertices_column() {
        readable &= report.column(column, lists.vertices(run).map(|_| ()))?;
    }
    for (property, values) in version.edge_properties().zip(lists.properties()) {
        let intact = report.column(values, values.verify(run))?;
        readable &= intact;
        if let Some(dictionary) = version.dictionary(property.number).filter(|_| intact) {
            report.note(check_codes(
                values,
                dictionary.len() as u64,
                "the code of a text in the dictionary",
                run,
            ))?;
        }
    }
    Ok(readable)
}

fn check_codes(values: &Values, codes: u64, what: &str, run: &Run) -> Result<()> {
    run.share_ranges(
        values.len(),
        UNIT_VERTICES,
        || (),
        |(), range| {
            for index in range {
                let code = values.bits_at(index)?;
                if code >= codes {
                    let reason =
                        format!("value {index} is {code}, which is not {what}: there are only {codes}");
                    return Err(Error::corrupt(values.path(), 0, reason));
                }
            }
            Ok(())
        },
    )
    .map(|_| ())
}

/// The lists of one direction of a version; all their files are verified.
struct VersionLists<'a> {
    version: &'a Version,
    direction: Direction,
}

impl VersionLists<'_> {
    fn add(&self, sums: &mut Sums, vertices: Range<usize>) -> Result<()> {
        let stack = self.version.stack();
        for v in vertices.map(vertex) {
            let mut count = 0;
            stack.visit(self.direction, v, |stretch| {
                if let Some(wrong) = stretch.targets.windows(2).position(|pair| pair[0] > pair[1]) {
                    let reason = format!("the list of vertex {v} does not ascend");
                    return Err(stretch.lists.corrupt(stretch.start + wrong + 1, reason));
                }
                count += stretch.targets.len();
                for (index, &w) in (stretch.start..).zip(&*stretch.targets) {
                    let properties = hash_properties(stretch.lists, index)?;
                    sums.loops += u64::from(v == w);
                    let (from, to) = if self.direction == Direction::Out { (v, w) } else { (w, v) };
                    self.add_edge(sums, from, to, properties);
                }
                Ok(Flow::More)
            })?;
            let recorded = stack.degree(self.direction, v)?;
            if recorded != count {
                let reason =
                    format!("vertex {v} has {count} neighbours, but its recorded degree is {recorded}");
                return Err(Error::corrupt(self.version.path(), 0, reason));
            }
        }
        Ok(())
    }

    fn add_edge(&self, sums: &mut Sums, from: VertexId, to: VertexId, properties: u64) {
        let is_reversed = from > to && !self.version.is_directed();
        let (a, b) = if is_reversed { (to, from) } else { (from, to) };
        let hash = hash(hash(hash(u64::from(a)) ^ u64::from(b)) ^ properties);
        match from.cmp(&to) {
            std::cmp::Ordering::Less => sums.forward = sums.forward.wrapping_add(hash),
            std::cmp::Ordering::Greater => sums.backward = sums.backward.wrapping_add(hash),
            // An undirected graph contains a self-loop once, so there is no counterpart to compare
            // with.
            std::cmp::Ordering::Equal if self.version.is_directed() => {
                sums.forward = sums.forward.wrapping_add(hash);
            }
            std::cmp::Ordering::Equal => {}
        }
    }
}

fn hash_properties(lists: &ListColumns, index: usize) -> Result<u64> {
    lists.properties().iter().try_fold(0, |state, values| Ok(hash(state ^ values.bits_at(index)?)))
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
