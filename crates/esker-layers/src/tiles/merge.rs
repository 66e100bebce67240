//! Merges older tiles with the edges that changed, group by group.
//!
//! The edges of a row of groups that changed come in any number of calls, and are sorted in memory. Then each
//! group without changes is copied, chunk by chunk; each other group is decoded, merged with its changes and
//! coded again, on all threads. Lists are not read. Where the changes of a row do not fit the memory, those
//! of the first groups are kept, and the caller brings the others in another pass.
//!
//! Neither the memory nor the number of threads changes a byte of the result, which is that of converting the
//! new lists with the old tiles at hand (`convert`). Work: that of decoding and coding the groups that
//! changed, and of copying the others.

use parking_lot::Mutex;
use std::ops::Range;
use std::path::Path;

use esker_format::memory::{filled, reserve};
use esker_format::{ElementType, Error, Result, Values, ValuesWriter};
use esker_graph::{Direction, Run, Tile, vertex};

use super::changed::{ChangedEdge, ChangedGroup, ChangedRow, PlacedEdge, TileChanges};
use super::coding::{Coding, TileReport, foreign, too_many};
use super::codings::codec::ChunkDecoder;
use super::degrees::DegreeWriter;
use super::files::Tiles;
use super::gather::TilePart;
use super::reuse::{ChangedGroups, OldTiles};
use super::strip::STRIP_LEN;
use super::write::TileWriter;
use crate::form_files::FormFiles;

/// Edges of a piece of a group, but for the last chunk. Few in tests, so that there are several pieces.
const PIECE_EDGES: u64 = if cfg!(test) { 1 << 8 } else { 1 << 18 };
/// Values of a property that are copied at a time.
const VALUES_AT_ONCE: u64 = 1 << 16;

/// A property of the tiles: its values before, and where those after go.
#[derive(Debug)]
struct MergedValues {
    old: Values,
    new: ValuesWriter,
}

/// The shape of merged tiles.
#[derive(Debug, Clone, Copy)]
pub struct MergedShape<'a> {
    /// Number of vertices after the merge.
    pub num_vertices: usize,
    /// Whether the layer has in-lists; else the degrees of a directed graph are counted here.
    pub in_lists: bool,
    /// Numbers and types of the properties that the tiles keep. The old ones have them, with the same types.
    pub properties: &'a [(u32, ElementType)],
    /// Memory for changes, and for edges and their codes.
    pub memory_bytes: u64,
}

/// Writes tiles into the directory of a layer without tiles. They are durable once that directory is synced.
#[allow(missing_debug_implementations)] // A run has none.
pub struct TileMerge<'a> {
    old: OldTiles<'a>,
    run: &'a Run,
    layer: &'a Path,
    coding: Coding<'a>,
    values: Vec<MergedValues>,
    out: DegreeWriter,
    incoming: Option<DegreeWriter>,
    /// The in-degrees of a directed graph without in-lists.
    in_degrees: Vec<u32>,
    num_vertices: usize,
    memory_bytes: u64,
    groups_rebuilt: u64,
    groups_copied: u64,
}

impl<'a> TileMerge<'a> {
    /// Creates the files.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if the old tiles are damaged, or lack a property; cancellation.
    pub fn new(old: &'a Tiles, shape: MergedShape<'_>, run: &'a Run, files: FormFiles<'a>) -> Result<Self> {
        let MergedShape { num_vertices, in_lists, properties, memory_bytes } = shape;
        let FormFiles { directory: layer, origin, .. } = files;
        let writer = TileWriter::create(files)?;
        let directory = writer.archive().directory().to_owned();
        let degrees = |direction| DegreeWriter::create(writer.archive(), &directory, origin, direction);
        let directed = old.shape().directed;
        let (out, incoming) =
            (degrees(Direction::Out)?, directed.then(|| degrees(Direction::In)).transpose()?);
        let mut values = Vec::new();
        for &(number, element) in properties {
            let (old, new) = (old.values(number, element)?, writer.values(number, element)?);
            values.push(MergedValues { old, new });
        }
        let mut in_degrees = Vec::new();
        if directed && !in_lists {
            in_degrees = filled(0, num_vertices)?;
            let before = old.degrees(Direction::In, run)?;
            let num_before = num_vertices.min(old.shape().num_vertices as usize);
            in_degrees[..num_before].iter_mut().zip(0..).for_each(|(degree, v)| {
                *degree = before.get(vertex(v)) as u32;
            });
        }
        let old = OldTiles::new(old, ChangedGroups::none_of(old, num_vertices), run)?;
        Ok(Self {
            old,
            run,
            layer,
            coding: Coding::new(writer, run, layer, None),
            values,
            out,
            incoming,
            in_degrees,
            num_vertices,
            memory_bytes,
            groups_rebuilt: 0,
            groups_copied: 0,
        })
    }

    /// The vertices of each row of groups.
    pub fn rows(&self) -> Vec<Range<usize>> {
        let len = self.old.group() as usize * STRIP_LEN;
        (0..self.num_vertices).step_by(len).map(|start| start..self.num_vertices.min(start + len)).collect()
    }

    /// Whether out-lists and in-lists differ.
    pub fn is_directed(&self) -> bool {
        self.old.tiles.shape().directed
    }

    /// Number of properties.
    pub fn num_properties(&self) -> usize {
        self.values.len()
    }

    /// A row of groups, without changes yet.
    pub fn row(&self, row: usize) -> ChangedRow {
        let row = row as u32;
        ChangedRow::new(row, self.old.group(), self.columns(row), self.memory_bytes / 2)
    }

    /// The columns of groups in a row of groups.
    fn columns(&self, row: u32) -> Range<u32> {
        let side = self.num_vertices.div_ceil(STRIP_LEN).div_ceil(self.old.group() as usize) as u32;
        if self.is_directed() { 0..side } else { row..side }
    }

    /// Counts the ends of changed edges where they are not counted elsewhere. Each change must come once.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if there is no such vertex, or it has fewer edges; [`Error::Invalid`] if it gets
    /// more than fit 32 bits.
    pub fn count(&mut self, changes: &TileChanges) -> Result<()> {
        if self.in_degrees.is_empty() {
            return Ok(());
        }
        for &ChangedEdge { target, before, after, .. } in &changes.edges {
            let degree = self.in_degrees.get_mut(target as usize).ok_or_else(|| foreign(self.layer))?;
            let others = degree.checked_sub(before).ok_or_else(|| foreign(self.layer))?;
            *degree = others.checked_add(after).ok_or_else(|| too_many(target as usize))?;
        }
        Ok(())
    }

    /// Appends the degrees of the next vertices, the ends of whose lists ascend from 0.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if there are no in-lists.
    pub fn add_degrees(&mut self, direction: Direction, ends: &[u64]) -> Result<()> {
        let starts = std::iter::once(&0).chain(ends);
        let degrees = ends.iter().zip(starts).map(|(end, start)| end - start);
        match (direction, &mut self.incoming) {
            (Direction::In, Some(incoming)) => incoming.append(degrees),
            (Direction::In, None) => Err(foreign(self.layer)),
            (Direction::Out, _) => self.out.append(degrees),
        }
    }

    /// Writes the groups of a row whose changes are known. Returns the row again, to be filled with the
    /// changes of its other groups; `None` if there are no others. Rows come in order.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if old tiles are damaged; [`Error::Io`]; cancellation.
    pub fn write(&mut self, row: ChangedRow) -> Result<Option<ChangedRow>> {
        let (number, columns, mut groups) = row.into_parts();
        for column in columns.clone() {
            let chunks = self.old.chunks((number, column));
            match groups.remove(&column) {
                Some(changes) => self.rebuild(chunks, changes)?,
                None if chunks.is_empty() => {}
                None => self.copy(chunks)?,
            }
        }
        let rest = columns.end..self.columns(number).end;
        let more = ChangedRow::new(number, self.old.group(), rest.clone(), self.memory_bytes / 2);
        Ok((!rest.is_empty()).then_some(more))
    }

    fn copy(&mut self, chunks: Range<usize>) -> Result<()> {
        let edges = self.old.edges(&chunks);
        self.coding.copy_uncounted(&self.old, chunks)?;
        let mut bits = Vec::new();
        for MergedValues { old, new } in &mut self.values {
            for start in edges.clone().step_by(VALUES_AT_ONCE as usize) {
                self.run.check()?;
                bits.clear();
                old.append_bits(start as usize..edges.end.min(start + VALUES_AT_ONCE) as usize, &mut bits)?;
                new.append(bits.iter().copied())?;
            }
        }
        self.groups_copied += 1;
        Ok(())
    }

    /// Decodes a group, merges it with its changes, and codes it again.
    fn rebuild(&mut self, chunks: Range<usize>, mut changes: ChangedGroup) -> Result<()> {
        changes.edges.sort_unstable_by_key(PlacedEdge::key);
        let pieces = self.cut(chunks, &changes.edges)?;
        let edge_bytes = 8 + 8 * self.values.len() as u64;
        let len_max = self.memory_bytes / 2 / edge_bytes;
        let mut has_edges = false;
        let mut rest = pieces.as_slice();
        while !rest.is_empty() {
            let mut len = 0;
            let fits = |piece: &&MergePiece| {
                len += piece.num_edges;
                len <= len_max
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (window, others) = rest.split_at(count);
            has_edges |= self.code(window, &changes)?;
            rest = others;
        }
        self.groups_rebuilt += u64::from(has_edges);
        Ok(())
    }

    /// Cuts the chunks of a group and its changes into pieces.
    fn cut(&self, chunks: Range<usize>, changes: &[PlacedEdge]) -> Result<Vec<MergePiece>> {
        let directory = self.old.directory;
        let (mut pieces, mut open) = (Vec::new(), MergePiece::after(chunks.start, 0));
        for chunk in chunks.clone() {
            if open.num_edges >= PIECE_EDGES {
                let tile = directory.tile(chunk);
                let goes_on = directory.tile(chunk - 1) == tile;
                let first = (tile, if goes_on { self.first_position(chunk)? } else { 0 });
                let end = changes.partition_point(|change| change.key() < first);
                let is_changed = changes.get(end).is_some_and(|change| change.key() == first);
                open.dropped = (goes_on && is_changed).then_some(first);
                (open.chunks.end, open.changes.end) = (chunk, end);
                pieces.push(std::mem::replace(&mut open, MergePiece::after(chunk, end)));
            }
            open.num_edges += directory.num_edges(chunk);
        }
        (open.chunks.end, open.changes.end) = (chunks.end, changes.len());
        pieces.push(open);
        Ok(pieces)
    }

    fn first_position(&self, chunk: usize) -> Result<u32> {
        let chunk = self.old.directory.chunk(chunk);
        let bytes = self.old.tiles.data().get(chunk.bytes.start as usize..chunk.bytes.end as usize)?;
        let (len, mut positions) = ((chunk.edges.end - chunk.edges.start) as usize, Vec::new());
        let decoded = ChunkDecoder::new(bytes, len).and_then(|mut decoder| decoder.next(&mut positions));
        let first = decoded.and_then(|()| positions.first().copied());
        first.ok_or_else(|| self.old.tiles.corrupt_chunk(&chunk))
    }

    /// Merges some pieces and codes them. Returns whether any edges are left.
    fn code(&mut self, pieces: &[MergePiece], changes: &ChangedGroup) -> Result<bool> {
        self.run.check()?;
        let slots: Vec<_> = pieces.iter().map(|_| Mutex::new(MergedEdges::default())).collect();
        self.run.share(
            slots.len(),
            || (),
            |(), slot| {
                let merged = self.merge(&pieces[slot], changes)?;
                *slots[slot].lock() = merged;
                Ok::<(), Error>(())
            },
        )?;
        let merged: Vec<MergedEdges> = slots.into_iter().map(Mutex::into_inner).collect();
        let parts: Vec<TilePart<'_, ()>> = merged.iter().flat_map(MergedEdges::parts).collect();
        self.coding.code(&parts)?;
        for merged in &merged {
            for (column, bits) in self.values.iter_mut().zip(&merged.values) {
                column.new.append(bits.iter().copied())?;
            }
        }
        Ok(!parts.is_empty())
    }

    /// The edges of a piece after its changes.
    fn merge(&self, piece: &MergePiece, changes: &ChangedGroup) -> Result<MergedEdges> {
        let mut merged =
            MergedEdges { values: vec![Vec::new(); self.values.len()], ..MergedEdges::default() };
        let mut rest = changes.edges[piece.changes.clone()].iter().peekable();
        let mut positions = Vec::new();
        for chunk in piece.chunks.clone() {
            let chunk = self.old.directory.chunk(chunk);
            let tile = chunk.tile;
            while let Some(change) = rest.next_if(|change| change.tile < tile) {
                merged.append_changed(change, changes)?;
            }
            let bytes = self.old.tiles.data().get(chunk.bytes.start as usize..chunk.bytes.end as usize)?;
            let mut first_edge = chunk.edges.start as usize;
            self.old.decode(&chunk, bytes, &mut positions, |mut positions| {
                let len = positions.len();
                if let Some((_, dropped)) = piece.dropped.filter(|dropped| dropped.0 == tile) {
                    positions = &positions[..positions.partition_point(|&position| position < dropped)];
                }
                let mut start = 0;
                while start < positions.len() {
                    let remaining = &positions[start..];
                    let change = rest.peek().filter(|change| change.tile == tile);
                    let kept = change.map_or(remaining.len(), |change| {
                        remaining.partition_point(|&position| position < change.position)
                    });
                    merged.append(tile, &remaining[..kept])?;
                    for (column, bits) in self.values.iter().zip(&mut merged.values) {
                        column.old.append_bits(first_edge + start..first_edge + start + kept, bits)?;
                    }
                    start += kept;
                    // The change replaces all edges at its position. More of them may follow in later
                    // positions.
                    let Some(change) = rest.peek().filter(|change| change.tile == tile) else { continue };
                    let same = |&&position: &&u32| position == change.position;
                    start += positions[start..].iter().take_while(same).count();
                    if start < positions.len() {
                        merged.append_changed(change, changes)?;
                        rest.next();
                    }
                }
                first_edge += len;
                Ok(())
            })?;
        }
        rest.try_for_each(|change| merged.append_changed(change, changes))?;
        Ok(merged)
    }

    /// Writes the directory of the chunks. `num_edges` are the edges that the layer says it has.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if the tiles have another number of edges or vertices.
    pub fn finish(mut self, num_edges: u64) -> Result<TileReport> {
        let group = self.old.group();
        if let (Some(incoming), false) = (&mut self.incoming, self.in_degrees.is_empty()) {
            incoming.append(self.in_degrees.iter().map(|&degree| u64::from(degree)))?;
        }
        let coded = self.coding.finish()?;
        self.values.into_iter().try_for_each(|column| column.new.finish())?;
        let degrees = [Some(self.out), self.incoming].into_iter().flatten();
        let lens = degrees.map(DegreeWriter::finish).collect::<Result<Vec<_>>>()?;
        if coded.writer.num_edges() != num_edges || lens.iter().any(|&len| len != self.num_vertices as u64) {
            return Err(foreign(self.layer));
        }
        coded.report(group, self.groups_rebuilt, self.groups_copied)
    }
}

/// Successive chunks of a group, and the changes among their edges and behind them.
#[derive(Debug)]
struct MergePiece {
    chunks: Range<usize>,
    changes: Range<usize>,
    /// Edges at this position are replaced by a change in the next piece.
    dropped: Option<(Tile, u32)>,
    num_edges: u64,
}

impl MergePiece {
    fn after(chunk: usize, change: usize) -> Self {
        Self { chunks: chunk..chunk, changes: change..change, dropped: None, num_edges: 0 }
    }
}

/// Merged edges, in the order of the file.
#[derive(Debug, Default)]
struct MergedEdges {
    /// Tiles, and where the edges of each end.
    tiles: Vec<(Tile, usize)>,
    positions: Vec<u32>,
    values: Vec<Vec<u64>>,
}

impl MergedEdges {
    /// Appends edges that do not change.
    fn append(&mut self, tile: Tile, positions: &[u32]) -> Result<()> {
        reserve(&mut self.positions, positions.len())?;
        self.positions.extend_from_slice(positions);
        self.note(tile);
        Ok(())
    }

    /// Appends the edges that a change leaves at its position.
    fn append_changed(&mut self, change: &PlacedEdge, changes: &ChangedGroup) -> Result<()> {
        let count = change.count as usize;
        reserve(&mut self.positions, count)?;
        self.positions.extend(std::iter::repeat_n(change.position, count));
        for (own, all) in self.values.iter_mut().zip(&changes.values) {
            own.extend_from_slice(&all[change.value..change.value + count]);
        }
        self.note(change.tile);
        Ok(())
    }

    /// Ends the edges of a tile for now.
    fn note(&mut self, tile: Tile) {
        let end = self.positions.len();
        match self.tiles.last_mut() {
            Some(last) if last.0 == tile => last.1 = end,
            Some(last) if last.1 == end => {}
            None if end == 0 => {}
            _ => self.tiles.push((tile, end)),
        }
    }

    fn parts(&self) -> impl Iterator<Item = TilePart<'_, ()>> {
        let starts = std::iter::once(0).chain(self.tiles.iter().map(|&(_, end)| end));
        starts.zip(&self.tiles).map(|(start, &(tile, end))| TilePart {
            tile,
            positions: &self.positions[start..end],
            weights: &[],
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use esker_format::io::{Disk, Faults, FaultyDisk, MemoryDisk};
    use esker_graph::random::Random;
    use esker_graph::{CsrGraph, Graph, Lists, VertexId};

    use super::super::strip::STRIP_BITS;
    use super::super::testing::{LAYER, ORIGIN, TileGraph, arcs_of, csr, make, make_from, random_edges};
    use super::super::{ConvertOptions, TileShape};
    use super::*;
    use crate::pool::PoolOptions;

    const N: usize = 400_000;
    const OPTIONS: ConvertOptions = ConvertOptions { group: 2, memory_bytes: 1 << 20 };
    type Edges = Vec<(VertexId, VertexId, i32)>;

    /// Edges of seven strips, and the same after changes: edges go, come, change their weights and have
    /// copies, also where there were none.
    fn before_and_after(random: &mut Random) -> (Edges, Edges) {
        let mut edges = random_edges(N, 60_000, 3);
        // A dense tile of several chunks, and copies that fill more than one piece.
        edges.extend((0..40_000).map(|k| ((k % 200) as VertexId, (200 + k / 200) as VertexId, k)));
        edges.extend((0..1000).map(|k| (70_000, 70_001, k)));
        let before = edges.clone();
        let within = [0..1 << 16, 0..N, 131_072..262_144][random.index(3)].clone();
        let is_near = |v: VertexId| within.contains(&(v as usize));
        let mut near: Vec<usize> =
            (0..edges.len()).filter(|&at| is_near(edges[at].0) && is_near(edges[at].1)).collect();
        for _ in 0..random.index(200) {
            let at = near[random.index(near.len())];
            edges[at].2 += random.index(2) as i32;
        }
        for _ in 0..random.index(200) {
            let at = near.swap_remove(random.index(near.len()));
            edges[at].2 = -1;
        }
        edges.retain(|edge| edge.2 >= 0);
        for _ in 0..random.index(200) {
            let mut end = || (within.start + random.index(within.len())) as VertexId;
            let (u, v) = (end(), end());
            edges.extend((0..1 + random.index(3)).map(|copy| (u, v, copy as i32)));
        }
        if random.index(2) == 0 {
            edges.push((70_000, 70_001, 5));
        }
        edges.push((3, N as VertexId + 70_000, 1));
        (before, edges)
    }

    fn copies(graph: &CsrGraph<'_, i32>, v: usize) -> BTreeMap<VertexId, Vec<u64>> {
        let mut copies: BTreeMap<VertexId, Vec<u64>> = BTreeMap::new();
        if v < graph.num_vertices() {
            graph
                .with_list(Direction::Out, vertex(v), |targets, weights| {
                    for (&u, &weight) in targets.iter().zip(weights) {
                        if graph.is_directed() || u as usize >= v {
                            copies.entry(u).or_default().push(u64::from(weight.cast_unsigned()));
                        }
                    }
                })
                .unwrap();
        }
        copies
    }

    fn differences(
        before: &CsrGraph<'_, i32>,
        after: &CsrGraph<'_, i32>,
        vertices: Range<usize>,
    ) -> TileChanges {
        let mut changes = TileChanges { edges: Vec::new(), values: vec![Vec::new()] };
        for v in vertices {
            let (old, new) = (copies(before, v), copies(after, v));
            for &target in old.keys().chain(new.keys().filter(|target| !old.contains_key(target))) {
                let (was, is) = (old.get(&target), new.get(&target));
                if was != is {
                    let count = |values: Option<&Vec<u64>>| values.map_or(0, Vec::len) as u32;
                    let (before, after) = (count(was), count(is));
                    changes.edges.push(ChangedEdge { source: vertex(v), target, before, after });
                    changes.values[0].extend(is.into_iter().flatten());
                }
            }
        }
        changes
    }

    /// Merges old tiles of the first graph to tiles of the second one. Returns them, and how often changes
    /// were brought.
    fn merged(
        disk: &Arc<dyn Disk>,
        name: &str,
        old: &Tiles,
        (graphs, in_lists): (&[CsrGraph<'_, i32>; 2], bool),
        memory_bytes: u64,
    ) -> (Tiles, TileReport, usize) {
        let run = Run::with_threads(2).unwrap();
        let num_vertices = graphs[1].num_vertices();
        disk.create_directory(Path::new(name)).unwrap();
        let properties = &[(3, ElementType::I32)];
        let shape = MergedShape { num_vertices, in_lists, properties, memory_bytes };
        let files = FormFiles { disk, directory: Path::new(name), origin: ORIGIN };
        let mut merge = TileMerge::new(old, shape, &run, files).unwrap();
        let mut passes = 0;
        for (number, vertices) in merge.rows().into_iter().enumerate() {
            let changes = differences(&graphs[0], &graphs[1], vertices);
            merge.count(&changes).unwrap();
            let mut rest = Some(merge.row(number));
            while let Some(mut row) = rest {
                row.add(&changes).unwrap();
                rest = merge.write(row).unwrap();
                passes += 1;
            }
        }
        let directed = graphs[1].is_directed();
        for direction in [Direction::Out, Direction::In] {
            if direction == Direction::Out || (directed && in_lists) {
                let ends = (0..num_vertices).scan(0, |sum, v| {
                    *sum += graphs[1].degree(direction, vertex(v)) as u64;
                    Some(*sum)
                });
                merge.add_degrees(direction, &ends.collect::<Vec<_>>()).unwrap();
            }
        }
        let num_edges = num_edges(&graphs[1]);
        let report = merge.finish(num_edges).unwrap();
        let shape = TileShape { num_vertices: num_vertices as u64, num_edges, directed };
        (Tiles::open(disk, Path::new(name), ORIGIN, shape, &report.shared).unwrap(), report, passes)
    }

    /// Edges of a graph; an undirected one counts once.
    fn num_edges(graph: &CsrGraph<'_, i32>) -> u64 {
        (0..graph.num_vertices()).map(|v| copies(graph, v).values().map(Vec::len).sum::<usize>() as u64).sum()
    }

    #[test]
    fn layers_share_what_did_not_change_and_outlive_one_another() {
        for directed in [false, true] {
            let mut random = Random::new(5);
            let mut edges = random_edges(N, 250_000, 3);
            let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
            let run = Run::with_threads(2).unwrap();
            let mut before = csr(directed, N, &edges);
            let mut tiles = make(&disk, Path::new("1"), &before.graph(), &OPTIONS).unwrap();
            let (mut shared, mut copied, mut rebuilt) = (0, 0, 0);
            for number in 2..10 {
                // In three tiles an edge goes, and another one comes.
                for _ in 0..3 {
                    let (row, column) = (random.index(6), random.index(6));
                    let is_in = |v: VertexId, strip: usize| v as usize >> STRIP_BITS == strip;
                    let gone = edges.iter().position(|edge| is_in(edge.0, row) && is_in(edge.1, column));
                    edges.swap_remove(gone.unwrap());
                    let mut end = |strip: usize| (strip * STRIP_LEN + random.index(STRIP_LEN)) as VertexId;
                    edges.push((end(row), end(column), number));
                }
                let after = csr(directed, N, &edges);
                let graphs = [before.graph(), after.graph()];
                let name = number.to_string();
                let (next, report, _) = merged(&disk, &name, &tiles, (&graphs, true), 1 << 20);
                tiles = next;
                disk.remove_directory(Path::new(&(number - 1).to_string())).unwrap();
                let found = TileGraph::new(&tiles, graphs[1], &run).unwrap();
                let pooled = TileGraph::new(&tiles, graphs[1], &run).unwrap();
                let options = PoolOptions { bytes: 1 << 20, ..PoolOptions::default() };
                let pooled = TileGraph { scan: pooled.scan.pooled(&options, &run).unwrap(), ..pooled };
                for direction in [Direction::Out, Direction::In] {
                    let expected = arcs_of(&graphs[1], &run, direction);
                    assert!(arcs_of(&found, &run, direction) == expected, "{number}");
                    assert!(arcs_of(&pooled, &run, direction) == expected, "{number}, pooled");
                }
                let fresh = make(&disk, Path::new(&format!("fresh {number}")), &graphs[1], &OPTIONS).unwrap();
                assert!(tiles.data().file_bytes() < 4 * fresh.data().file_bytes(), "space is bounded");
                assert_eq!(tiles.data_bytes(), report.data_bytes);
                shared += report.groups_shared;
                copied += report.groups_copied - report.groups_shared;
                rebuilt += report.groups_rebuilt;
                before = after;
            }
            assert!(shared > rebuilt && copied > 0 && rebuilt >= 8, "{shared} {copied} {rebuilt}");
        }
    }

    #[test]
    fn damage_of_a_shared_file_is_found_and_links_are_not_needed() {
        for no_links in [false, true] {
            let before = csr(false, N, &random_edges(N, 200_000, 3));
            let mut edges = random_edges(N, 200_000, 3);
            edges.push((1, 2, 3));
            let after = csr(false, N, &edges);
            let disk = FaultyDisk::new(1);
            let shared: Arc<dyn Disk> = Arc::new(disk.clone());
            let old = make(&shared, Path::new("1"), &before.graph(), &OPTIONS).unwrap();
            disk.set_faults(Faults { no_links, ..Faults::default() });
            let graphs = [before.graph(), after.graph()];
            let (tiles, report, _) = merged(&shared, "2", &old, (&graphs, false), 1 << 20);
            assert_eq!(report.groups_shared > 0, !no_links);
            assert_eq!(tiles.data().columns().count(), if no_links { 1 } else { 2 });
            let Some(linked) = tiles.data().columns().nth(1) else { continue };
            assert!(linked.path().ends_with("2/tiles.data.1"));
            disk.flip(Path::new("2/tiles.data.1"), 4096 + (linked.len() as u64) - 100, 3).unwrap();
            let run = Run::with_threads(1).unwrap();
            let shape = tiles.shape();
            let damaged = Tiles::open(&shared, Path::new("2"), ORIGIN, shape, &tiles.shared()).unwrap();
            let error = damaged.data().all(&run).unwrap_err().to_string();
            assert!(error.contains("tiles.data.1"), "{error}");
            disk.remove_file(Path::new("2/tiles.data.1")).unwrap();
            assert!(Tiles::open(&shared, Path::new("2"), ORIGIN, shape, &tiles.shared()).is_err());
        }
    }

    #[test]
    fn merged_tiles_are_those_of_the_new_lists_in_any_memory() {
        let mut passes_max = 0;
        for seed in 0..6 {
            let (directed, in_lists) = (seed % 3 > 0, seed % 3 != 2);
            let mut random = Random::new(seed);
            let (before, after) = before_and_after(&mut random);
            let (before, after) = (csr(directed, N, &before), csr(directed, N + 80_000, &after));
            let all = [before.graph(), after.graph()];
            let graphs = all.map(|graph| match in_lists {
                true => graph,
                false => CsrGraph::directed(*graph.rows(Direction::Out).unwrap(), None),
            });
            let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
            let old = make(&disk, Path::new(LAYER), &graphs[0], &OPTIONS).unwrap();
            let run = Run::with_threads(2).unwrap();
            let mut groups = ChangedGroups::none_of(&old, N + 80_000);
            let changed = differences(&graphs[0], &graphs[1], 0..N + 80_000);
            changed.edges.iter().for_each(|edge| groups.note(edge.source, edge.target));
            let reuse = OldTiles::new(&old, groups, &run).unwrap();
            let (expected, converted) =
                make_from(&disk, Path::new("converted"), &graphs[1], &OPTIONS, Some(&reuse), 2).unwrap();
            for memory_bytes in [1 << 30, 5000] {
                let name = format!("merged {memory_bytes}");
                let (found, report, passes) = merged(&disk, &name, &old, (&graphs, in_lists), memory_bytes);
                passes_max = passes_max.max(passes);
                assert_eq!(report, converted, "{seed}");
                assert!(found.data().all(&run).unwrap() == expected.data().all(&run).unwrap(), "{seed}");
                let values = |tiles: &Tiles| tiles.property::<i32>(3).unwrap().all(&run).unwrap().to_vec();
                assert!(values(&found) == values(&expected), "{seed}");
                let (one, other) = (found.directory(&run).unwrap(), expected.directory(&run).unwrap());
                assert!((0..one.len()).all(|chunk| one.chunk(chunk) == other.chunk(chunk)));
                for direction in [Direction::Out, Direction::In] {
                    let degrees = [&found, &expected].map(|tiles| tiles.degrees(direction, &run).unwrap());
                    assert!((0..N + 80_000).map(vertex).all(|v| degrees[0].get(v) == degrees[1].get(v)));
                }
            }
        }
        assert!(passes_max > 4, "some changes did not fit the memory");
    }

    #[test]
    fn tiles_with_another_number_of_edges_are_refused() {
        let graph = csr(false, N, &random_edges(N, 1000, 1));
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let old = make(&disk, Path::new(LAYER), &graph.graph(), &OPTIONS).unwrap();
        let run = Run::with_threads(1).unwrap();
        let shape = MergedShape { num_vertices: N, in_lists: false, properties: &[], memory_bytes: 1 << 20 };
        disk.create_directory(Path::new("merged")).unwrap();
        let files = FormFiles { disk: &disk, directory: Path::new("merged"), origin: ORIGIN };
        let mut merge = TileMerge::new(&old, shape, &run, files).unwrap();
        for number in 0..merge.rows().len() {
            let row = merge.row(number);
            assert!(merge.write(row).unwrap().is_none());
        }
        merge.add_degrees(Direction::Out, &vec![0; N]).unwrap();
        let error = merge.finish(old.shape().num_edges + 1).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
}
