//! Converts lists to tiles on all threads, within a given memory, and copies what did not change from older
//! tiles.
//!
//! The edges of a row of groups are counted, gathered (`gather`) and coded (`segment`), each on all threads.
//! Neither the memory nor the number of threads changes a byte of the result. Lists are read in order for
//! each row of groups, so they need not fit the memory. Work O(m), and a visit of the vertices for each time
//! that the memory is full.
//!
//! A group that did not change since older tiles were made is copied chunk by chunk (`reuse`): its lists are
//! not read, and nothing is coded.

use std::ops::Range;

use esker_format::memory::filled;
use esker_format::{Element, Error, Result};
use esker_graph::{Direction, Lists, Run, vertex};

use super::coding::{Coding, TileReport, foreign};
use super::degrees::write_degrees;
use super::gather::{GroupRow, TilePart};
use super::reuse::OldTiles;
use super::strip::STRIP_LEN;
use super::write::TileWriter;
use crate::form_files::FormFiles;

/// The most bytes that [`ConvertOptions::within`] takes: more memory makes conversions no faster.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Options of the conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvertOptions {
    /// Rows and columns of tiles in a group. With 16, twelve bytes per vertex of both sides of a group take
    /// 24 MiB.
    pub group: u32,
    /// Bytes of memory for gathered edges and their codes. The least is that of one piece of lists.
    pub memory_bytes: u64,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self { group: 16, memory_bytes: 256 << 20 }
    }
}

impl ConvertOptions {
    /// Defaults for a process with `memory_bytes` of memory: half is left to everything else.
    pub fn within(memory_bytes: u64) -> Self {
        Self { memory_bytes: (memory_bytes / 2).min(MEMORY_BYTES_MAX), ..Self::default() }
    }
}

/// The properties to copy to the tiles.
pub trait TileProperties {
    /// Writes the values of all properties, each by one call of [`PropertyWalk::write`].
    ///
    /// # Errors
    /// The errors of the calls.
    fn write(&self, walk: &PropertyWalk<'_>) -> Result<()>;
}

/// For graphs without properties.
impl TileProperties for () {
    fn write(&self, _: &PropertyWalk<'_>) -> Result<()> {
        Ok(())
    }
}

/// Writes the values of properties.
#[allow(missing_debug_implementations)] // A run has none.
pub struct PropertyWalk<'a> {
    conversion: &'a Conversion<'a>,
    writer: &'a TileWriter,
}

impl PropertyWalk<'_> {
    /// Writes the values of one property: the weights of a graph with the same lists.
    ///
    /// # Errors
    /// The first list that cannot be read; [`Error::Io`]; [`Error::Corrupt`] if older tiles lack the
    /// property.
    pub fn write<G: Lists>(&self, number: u32, graph: &G) -> Result<()>
    where
        G::Weight: Element,
        Error: From<G::Error>,
    {
        let mut column = self.writer.property(number)?;
        let old = self.conversion.old;
        let old =
            old.map(|old| Ok::<_, Error>((old, old.tiles.property::<G::Weight>(number)?))).transpose()?;
        self.conversion.walk(graph, |step| match (step, &old) {
            (Step::Edges(parts), _) => parts.iter().try_for_each(|part| column.append(part.weights)),
            (Step::Copy(chunks), Some((old, values))) => {
                let edges = old.edges(&chunks);
                column.append(values.get(edges.start as usize..edges.end as usize)?)
            }
            (Step::Copy(_), None) => Ok(()),
        })?;
        column.finish().map(drop)
    }
}

/// The options and the older tiles of a conversion.
#[derive(Clone, Copy)]
struct Conversion<'a> {
    options: &'a ConvertOptions,
    run: &'a Run,
    old: Option<&'a OldTiles<'a>>,
}

/// A step of a walk over the file.
enum Step<'a, W> {
    /// Edges, in the order of the file.
    Edges(&'a [TilePart<'a, W>]),
    /// Chunks of the old tiles.
    Copy(Range<usize>),
}

impl Conversion<'_> {
    /// Hands over everything in the order of the file. Returns the number of groups with edges that were
    /// gathered, and that were copied.
    fn walk<G: Lists>(
        &self,
        graph: &G,
        mut take: impl FnMut(Step<'_, G::Weight>) -> Result<()>,
    ) -> Result<(u64, u64)>
    where
        Error: From<G::Error>,
    {
        let group = self.options.group as usize;
        let strips = graph.num_vertices().div_ceil(STRIP_LEN);
        // Positions, weights, and the codes of positions.
        let edge_bytes = 8 + size_of::<G::Weight>() as u64;
        let len_max = (self.options.memory_bytes / edge_bytes) as usize;
        let (mut rebuilt, mut copied) = (0, 0);
        for first_row in (0..strips).step_by(group) {
            self.run.check()?;
            let rows = first_row..strips.min(first_row + group);
            let first_column = if graph.is_directed() { 0 } else { first_row };
            let ways = self.ways(first_row, first_column..strips);
            let spans: Vec<_> =
                ways.iter().filter(|(_, old)| old.is_none()).map(|(columns, _)| columns.clone()).collect();
            let row = (!spans.is_empty())
                .then(|| GroupRow::new(graph, self.run, group, rows, first_column, spans))
                .transpose()?;
            for (columns, old) in ways {
                match (old, &row) {
                    (Some(chunks), _) if chunks.is_empty() => {}
                    (Some(chunks), _) => {
                        copied += 1;
                        take(Step::Copy(chunks))?;
                    }
                    (None, Some(row)) => {
                        rebuilt += row.num_groups(&columns);
                        for window in row.windows(columns, len_max) {
                            row.gather(&window, |parts| take(Step::Edges(parts)))?;
                        }
                    }
                    (None, None) => {}
                }
            }
        }
        Ok((rebuilt, copied))
    }

    /// For each group of a row, its columns and the chunks to copy; `None` for successive groups whose edges
    /// are gathered.
    fn ways(&self, first_row: usize, columns: Range<usize>) -> Vec<(Range<usize>, Option<Range<usize>>)> {
        let group = self.options.group as usize;
        let mut ways: Vec<(Range<usize>, Option<Range<usize>>)> = Vec::new();
        for start in columns.clone().step_by(group) {
            let own = start..columns.end.min(start + group);
            let key = ((first_row / group) as u32, (start / group) as u32);
            let old = self.old.filter(|old| !old.is_changed(key)).map(|old| old.chunks(key));
            match ways.last_mut() {
                Some((last, None)) if old.is_none() => last.end = own.end,
                _ => ways.push((own, old)),
            }
        }
        ways
    }
}

/// Writes the tiles of a graph into the directory of a layer without tiles. They are durable once that
/// directory is synced. Groups that did not change since `old` tiles with groups of the same size were made
/// are copied.
///
/// # Errors
/// The first list that cannot be read; [`Error::Corrupt`] if lists are not those of a graph, or old tiles are
/// damaged; [`Error::Io`]; cancellation.
pub fn write_tiles<G: Lists>(
    graph: &G,
    properties: &impl TileProperties,
    run: &Run,
    options: &ConvertOptions,
    old: Option<&OldTiles<'_>>,
    files: FormFiles<'_>,
) -> Result<TileReport>
where
    Error: From<G::Error>,
{
    if options.group == 0 {
        return Err(Error::invalid("a group has at least one tile".to_owned()));
    }
    let conversion = Conversion { options, run, old: old.filter(|old| old.group() == options.group) };
    let counts_in = graph.is_directed() && !graph.has(Direction::In);
    let FormFiles { directory: layer, origin, .. } = files;
    let writer = TileWriter::create(files)?;
    let in_degrees = filled(0, if counts_in { graph.num_vertices() } else { 0 })?;
    let mut coding = Coding::new(writer, run, layer, counts_in.then_some(in_degrees));
    let (groups_rebuilt, groups_copied) = conversion.walk(graph, |step| match step {
        Step::Edges(parts) => coding.code(parts),
        Step::Copy(chunks) => conversion.old.map_or(Ok(()), |old| coding.copy(old, chunks)),
    })?;
    let coded = coding.finish()?;
    let (writer, num_loops) = (&coded.writer, coded.num_loops);
    let arcs = if graph.is_directed() { writer.num_edges() } else { 2 * writer.num_edges() - num_loops };
    if arcs != graph.num_arcs() {
        return Err(foreign(layer));
    }
    properties.write(&PropertyWalk { conversion: &conversion, writer })?;
    let directory = writer.archive().directory().to_owned();
    let write = |direction, degree: &dyn Fn(usize) -> u64| {
        write_degrees(writer.archive(), &directory, origin, direction, graph.num_vertices(), degree)
    };
    write(Direction::Out, &|v| graph.degree(Direction::Out, vertex(v)) as u64)?;
    if let Some(in_degrees) = &coded.in_degrees {
        write(Direction::In, &|v| u64::from(in_degrees[v]))?;
    } else if graph.is_directed() {
        write(Direction::In, &|v| graph.degree(Direction::In, vertex(v)) as u64)?;
    }
    coded.report(options.group, groups_rebuilt, groups_copied)
}
