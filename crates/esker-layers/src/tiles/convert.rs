//! Converts lists to tiles in two passes, within a given memory.
//!
//! Because lists are sorted, edges need no sorting. For each strip of rows and each group of tiles, the conversion reads the vertices in
//! order and takes from each list the entries in the columns of the group, continuing where the previous group ended. A first pass counts
//! the edges of each tile ([1], IV-B, does the same for the whole graph). A second pass gathers and codes as many tiles as fit the memory.
//! Lists are read in order for each group, so they need not fit the memory. Work O(n p/q + m), with p strips and groups of q.
//!
//! [1] P. Kumar, H. Huang, "G-Store: High-Performance Graph Store for Trillion-Edge Processing", SC 2016.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::memory::{filled, push};
use esker_format::{DatabaseId, Element, Error, Result};
use esker_graph::{Direction, Lists, Run, vertex};

use super::degrees::write_degrees;
use super::strip::{STRIP_BITS, STRIP_LEN};
use super::write::TileWriter;

/// Options of the conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvertOptions {
    /// Rows and columns of tiles in a group. With 16, twelve bytes per vertex of both sides of a group take 24 MiB.
    pub group: u32,
    /// Bytes of memory for gathered edges, besides [`ConvertOptions::fixed_bytes`].
    pub memory_bytes: u64,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self { group: 16, memory_bytes: 256 << 20 }
    }
}

impl ConvertOptions {
    /// Defaults for a process with `memory_bytes` of memory. Half of the memory that is not fixed is left to everything else.
    pub fn within(memory_bytes: u64) -> Self {
        let options = Self::default();
        Self { memory_bytes: memory_bytes.saturating_sub(options.fixed_bytes()) / 2, ..options }
    }

    /// Bytes of memory for the position in each list of a row of groups. They do not depend on the graph.
    pub fn fixed_bytes(&self) -> u64 {
        u64::from(self.group) * STRIP_LEN as u64 * 8
    }
}

/// What a conversion made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileReport {
    /// Number of edges; an undirected edge counts once.
    pub num_edges: u64,
    /// Number of chunks.
    pub num_chunks: u64,
    /// Bytes of the chunks.
    pub data_bytes: u64,
}

/// The properties to copy to the tiles.
pub trait TileProperties {
    /// Writes the values of all properties, each by one call of [`PropertyWalk::write`].
    ///
    /// # Errors
    /// Those of the calls.
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
    run: &'a Run,
    options: &'a ConvertOptions,
    writer: &'a TileWriter,
}

impl PropertyWalk<'_> {
    /// Writes the values of one property: the weights of a graph with the same lists.
    ///
    /// # Errors
    /// The first list that cannot be read; [`Error::Io`].
    pub fn write<G: Lists>(&self, number: u32, graph: &G) -> Result<()>
    where
        G::Weight: Element,
        Error: From<G::Error>,
    {
        let mut column = self.writer.property(number)?;
        walk(graph, self.run, self.options, |_, _, _, weights| column.append(weights))?;
        column.finish().map(drop)
    }
}

/// Writes the tiles of a graph into the directory of a layer without tiles. They are durable once that directory is synced.
///
/// # Errors
/// The first list that cannot be read; [`Error::Corrupt`] if lists are not those of a graph; [`Error::Io`]; cancellation.
pub fn write_tiles<G: Lists>(
    graph: &G,
    properties: &impl TileProperties,
    run: &Run,
    options: &ConvertOptions,
    (disk, layer, database): (&Arc<dyn Disk>, &Path, DatabaseId),
) -> Result<TileReport>
where
    Error: From<G::Error>,
{
    if options.group == 0 {
        return Err(Error::Invalid("a group has at least one tile".to_owned()));
    }
    let mut writer = TileWriter::create(disk, layer, database)?;
    let counts_in = graph.is_directed() && !graph.has(Direction::In);
    let mut in_degrees: Vec<u32> = filled(0, if counts_in { graph.num_vertices() } else { 0 })?;
    let mut num_loops = 0;
    walk(graph, run, options, |row, column, positions, _| {
        if row == column {
            num_loops +=
                positions.iter().filter(|&&position| position >> 16 == position & 0xFFFF).count() as u64;
        }
        if counts_in {
            let first = (column as usize) << STRIP_BITS;
            for &position in positions {
                let degree = in_degrees.get_mut(first + (position & 0xFFFF) as usize);
                let degree = degree.ok_or_else(|| foreign(layer))?;
                *degree = degree.checked_add(1).ok_or_else(|| too_many(first))?;
            }
        }
        writer.append(row, column, positions)
    })?;
    let arcs = if graph.is_directed() { writer.num_edges() } else { 2 * writer.num_edges() - num_loops };
    if arcs != graph.num_arcs() {
        return Err(foreign(layer));
    }
    properties.write(&PropertyWalk { run, options, writer: &writer })?;
    let directory = writer.archive().directory().to_owned();
    let write = |direction, degree: &dyn Fn(usize) -> u64| {
        write_degrees(writer.archive(), &directory, database, direction, graph.num_vertices(), degree)
    };
    write(Direction::Out, &|v| graph.degree(Direction::Out, vertex(v)) as u64)?;
    if counts_in {
        write(Direction::In, &|v| u64::from(in_degrees[v]))?;
    } else if graph.is_directed() {
        write(Direction::In, &|v| graph.degree(Direction::In, vertex(v)) as u64)?;
    }
    let (num_edges, num_chunks) = (writer.num_edges(), writer.num_chunks());
    let data_bytes = writer.finish(options.group)?;
    Ok(TileReport { num_edges, num_chunks, data_bytes })
}

fn foreign(layer: &Path) -> Error {
    Error::corrupt(layer, 0, "lists do not ascend, or are not the same from both ends of edges")
}

fn too_many(v: usize) -> Error {
    Error::Invalid(format!("a vertex from {v} on has more than {} in-edges: import with in-lists", u32::MAX))
}

/// Hands over all edges in the order of the file: strips of row and column, positions, weights. A tile takes one call or more.
fn walk<G: Lists>(
    graph: &G,
    run: &Run,
    options: &ConvertOptions,
    mut take: impl FnMut(u32, u32, &[u32], &[G::Weight]) -> Result<()>,
) -> Result<()>
where
    Error: From<G::Error>,
{
    let (n, group) = (graph.num_vertices(), options.group as usize);
    let strips = n.div_ceil(STRIP_LEN);
    let edge_bytes = 4 + size_of::<G::Weight>() as u64;
    let len_max = (options.memory_bytes / edge_bytes).max(STRIP_LEN as u64) as usize;
    let mut gather = Gather { graph, run, len_max, lefts: Vec::new(), first: 0, columns: Vec::new() };
    for first_row in (0..strips).step_by(group) {
        let rows = first_row..strips.min(first_row + group);
        gather.begin(rows.start * STRIP_LEN..n.min(rows.end * STRIP_LEN))?;
        let first_column = if graph.is_directed() { 0 } else { first_row };
        for first_column in (first_column..strips).step_by(group) {
            for row in rows.clone() {
                let columns = first_column..strips.min(first_column + group);
                gather.row(row, columns, &mut take)?;
            }
        }
    }
    Ok(())
}

/// Positions of edges, and their weights.
type Edges<W> = (Vec<u32>, Vec<W>);

/// The position in each list of some strips, and the edges being gathered.
struct Gather<'a, G: Lists> {
    graph: &'a G,
    run: &'a Run,
    /// Edges gathered at a time.
    len_max: usize,
    /// Number of entries taken from each list.
    lefts: Vec<u64>,
    /// The vertex of the first list.
    first: usize,
    /// The edges gathered for each column of tiles.
    columns: Vec<Edges<G::Weight>>,
}

impl<G: Lists> Gather<'_, G>
where
    Error: From<G::Error>,
{
    /// Begins other lists: at the diagonal, if only the upper triangle is kept.
    fn begin(&mut self, vertices: Range<usize>) -> Result<()> {
        self.first = vertices.start;
        self.lefts.clear();
        for v in vertices.map(vertex) {
            let left = if self.graph.is_directed() {
                0
            } else {
                self.graph.with_list(Direction::Out, v, |targets, _| targets.partition_point(|&u| u < v))?
            };
            push(&mut self.lefts, left as u64)?;
        }
        Ok(())
    }

    /// Hands over the entries of a strip's lists in some columns.
    fn row(
        &mut self,
        row: usize,
        columns: Range<usize>,
        take: &mut impl FnMut(u32, u32, &[u32], &[G::Weight]) -> Result<()>,
    ) -> Result<()> {
        let counts = self.count(row, &columns)?;
        let mut from = columns.start;
        while from < columns.end {
            let (mut end, mut len) = (from, 0);
            while end < columns.end && (end == from || len + counts[end - columns.start] <= self.len_max) {
                len += counts[end - columns.start];
                end += 1;
            }
            if len > 0 {
                self.gather(row, from..end, take)?;
            }
            from = end;
        }
        Ok(())
    }

    /// The number of edges of each tile.
    fn count(&self, row: usize, columns: &Range<usize>) -> Result<Vec<usize>> {
        let mut counts = vec![0; columns.len()];
        let end = columns.end * STRIP_LEN;
        for v in self.vertices(row) {
            let left = self.lefts[v - self.first] as usize;
            self.graph
                .with_list(Direction::Out, vertex(v), |targets, _| {
                    for &target in targets.get(left..)?.iter().take_while(|&&target| (target as usize) < end)
                    {
                        counts[(target as usize >> STRIP_BITS).checked_sub(columns.start)?] += 1;
                    }
                    Some(())
                })?
                .ok_or_else(unsorted)?;
        }
        Ok(counts)
    }

    fn vertices(&self, row: usize) -> Range<usize> {
        row * STRIP_LEN..self.graph.num_vertices().min((row + 1) * STRIP_LEN)
    }

    /// Gathers the edges of some tiles and hands them over. A tile that exceeds the memory is handed over in parts.
    fn gather(
        &mut self,
        row: usize,
        columns: Range<usize>,
        take: &mut impl FnMut(u32, u32, &[u32], &[G::Weight]) -> Result<()>,
    ) -> Result<()> {
        self.run.check()?;
        let end = columns.end * STRIP_LEN;
        self.columns.resize_with(self.columns.len().max(columns.len()), Edges::default);
        for v in self.vertices(row) {
            let (left, gathered) = (&mut self.lefts[v - self.first], &mut self.columns);
            let row_bits = ((v % STRIP_LEN) as u32) << STRIP_BITS;
            self.graph
                .with_list(Direction::Out, vertex(v), |targets, weights| {
                    let mut at = *left as usize;
                    while let Some(&target) = targets.get(at).filter(|&&target| (target as usize) < end) {
                        let column = target as usize >> STRIP_BITS;
                        let of_column =
                            targets[at..].iter().take_while(|&&u| u as usize >> STRIP_BITS == column);
                        let len = of_column.count();
                        let (positions, values) = &mut gathered[column.checked_sub(columns.start)?];
                        positions.extend(
                            targets[at..at + len].iter().map(|&u| row_bits | (u as usize & 0xFFFF) as u32),
                        );
                        values.extend_from_slice(&weights[at..at + len]);
                        at += len;
                    }
                    *left = at as u64;
                    Some(())
                })?
                .ok_or_else(unsorted)?;
            if columns.len() == 1 && self.columns[0].0.len() >= self.len_max {
                self.hand_over(row, columns.clone(), take)?;
            }
        }
        self.hand_over(row, columns, take)
    }

    fn hand_over(
        &mut self,
        row: usize,
        columns: Range<usize>,
        take: &mut impl FnMut(u32, u32, &[u32], &[G::Weight]) -> Result<()>,
    ) -> Result<()> {
        for (column, (positions, weights)) in columns.zip(&mut self.columns) {
            if !positions.is_empty() {
                take(row as u32, column as u32, positions, weights)?;
            }
            positions.clear();
            weights.clear();
        }
        Ok(())
    }
}

fn unsorted() -> Error {
    Error::Invalid("a list does not ascend: check the database with `esker check`".to_owned())
}
