//! Older tiles of the same lists: their unchanged groups are copied.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use esker_format::{BLOCK_BYTES, Error, Result, SharedTiles};
use esker_graph::{Run, Tile, VertexId};

use super::codings::codec::ChunkDecoder;
use super::data::{OWN, SharedBlocks};
use super::files::{Directory, TileChunk, Tiles};
use super::strip::{STRIP_BITS, STRIP_LEN};
use super::write::TileWriter;

/// A group: its row and column among the groups.
pub(super) type GroupKey = (u32, u32);

/// More zeros at the end of a chunk than this may be unused bytes.
const ZEROS_MAX: usize = 64;

/// The groups of tiles in which edges changed. Memory: a few words for each.
#[derive(Debug, Clone)]
pub struct ChangedGroups {
    group: u32,
    directed: bool,
    /// Number of all groups.
    count: usize,
    changed: BTreeSet<GroupKey>,
    last: Option<GroupKey>,
}

impl ChangedGroups {
    /// No group of these tiles changed, in a graph of `num_vertices` vertices.
    pub fn none_of(tiles: &Tiles, num_vertices: usize) -> Self {
        let (group, directed) = (tiles.group().max(1), tiles.shape().directed);
        let side = num_vertices.div_ceil(STRIP_LEN).div_ceil(group as usize);
        let count = if directed { side * side } else { side * (side + 1) / 2 };
        Self { group, directed, count, changed: BTreeSet::new(), last: None }
    }

    /// Whether all groups changed, so that nothing can be copied.
    pub fn are_all(&self) -> bool {
        self.changed.len() >= self.count
    }

    /// Notes that an edge came, went, or has another property.
    pub fn note(&mut self, v: VertexId, u: VertexId) {
        let (v, u) = if self.directed { (v, u) } else { (v.min(u), v.max(u)) };
        let group = |v: VertexId| ((v as usize >> STRIP_BITS) / self.group as usize) as u32;
        let key = (group(v), group(u));
        // Successive changes are near one another.
        if self.last != Some(key) {
            self.last = Some(key);
            self.changed.insert(key);
        }
    }
}

/// Older tiles, and what changed since.
#[derive(Debug)]
pub struct OldTiles<'a> {
    pub(super) tiles: &'a Tiles,
    pub(super) directory: Directory<'a>,
    /// The chunks of each group.
    chunks: BTreeMap<GroupKey, Range<usize>>,
    changed: ChangedGroups,
}

impl<'a> OldTiles<'a> {
    /// Tiles to copy from. The lists must be the same in the groups that did not change.
    ///
    /// # Errors
    /// [`Error::Corrupt`](esker_format::Error::Corrupt); cancellation.
    pub fn new(tiles: &'a Tiles, changed: ChangedGroups, run: &Run) -> Result<Self> {
        let directory = tiles.directory(run)?;
        let group = tiles.group().max(1);
        let mut chunks: BTreeMap<GroupKey, Range<usize>> = BTreeMap::new();
        for chunk in 0..directory.len() {
            let Tile { row, column } = directory.tile(chunk);
            let own = chunks.entry((row / group, column / group)).or_insert(chunk..chunk);
            if own.end != chunk {
                return Err(tiles
                    .data()
                    .corrupt(0, "the chunks of a group of tiles do not follow one another"));
            }
            own.end = chunk + 1;
        }
        Ok(Self { tiles, directory, chunks, changed })
    }

    pub(super) fn group(&self) -> u32 {
        self.tiles.group()
    }

    pub(super) fn is_changed(&self, group: GroupKey) -> bool {
        self.changed.changed.contains(&group)
    }

    /// The chunks of a group; none if it has no edges.
    pub(super) fn chunks(&self, group: GroupKey) -> Range<usize> {
        self.chunks.get(&group).cloned().unwrap_or(0..0)
    }

    /// The edges of some chunks, in the order of the file.
    pub(super) fn edges(&self, chunks: &Range<usize>) -> Range<u64> {
        if chunks.is_empty() {
            return 0..0;
        }
        self.directory.chunk(chunks.start).edges.start..self.directory.chunk(chunks.end - 1).edges.end
    }

    /// Takes over chunks without writing them again: their blocks get a second name. `false` if that is not
    /// possible here.
    pub(super) fn share(&self, chunks: Range<usize>, writer: &mut TileWriter) -> Result<bool> {
        let (Some(own_number), false) = (self.tiles.layer_number(), chunks.is_empty()) else {
            return Ok(false);
        };
        let first = self.directory.chunk(chunks.start).bytes.start;
        let end = self.directory.chunk(chunks.end - 1).bytes.end;
        let data = self.tiles.data();
        let Some(SharedBlocks { segment, number, stamp, blocks }) = data.shareable(first..end) else {
            return Ok(false);
        };
        let number = if number == OWN { own_number } else { number };
        if !writer.link(SharedTiles { layer: number, stamp }, data.path_of(segment))? {
            return Ok(false);
        }
        let to = writer.share(number, blocks.start as u64..blocks.end as u64)?;
        let from = first / BLOCK_BYTES as u64 * BLOCK_BYTES as u64;
        for number in chunks {
            let chunk = self.directory.chunk(number);
            let num_edges = chunk.edges.end - chunk.edges.start;
            writer.add_shared(chunk.tile, to + (chunk.bytes.start - from), num_edges)?;
        }
        Ok(true)
    }

    /// Shows the positions of the edges of chunks in the tiles that `wants` chooses, and compares the blocks
    /// of all with their checksums.
    pub(super) fn look(
        &self,
        chunks: Range<usize>,
        wants: impl Fn(Tile) -> bool,
        mut look: impl FnMut(Tile, &[u32]) -> Result<()>,
    ) -> Result<()> {
        let mut positions = Vec::new();
        for number in chunks {
            let chunk = self.directory.chunk(number);
            let bytes = self.tiles.data().get(chunk.bytes.start as usize..chunk.bytes.end as usize)?;
            if wants(chunk.tile) {
                self.decode(&chunk, bytes, &mut positions, |positions| look(chunk.tile, positions))?;
            }
        }
        Ok(())
    }

    /// Copies chunks, byte for byte, after comparing their blocks with the checksums. `look` sees the
    /// positions of all edges of the tiles that `wants` chooses.
    pub(super) fn copy(
        &self,
        chunks: Range<usize>,
        writer: &mut TileWriter,
        wants: impl Fn(Tile) -> bool,
        mut look: impl FnMut(Tile, &[u32]) -> Result<()>,
    ) -> Result<()> {
        let mut positions = Vec::new();
        for number in chunks {
            let chunk = self.directory.chunk(number);
            let range = chunk.bytes.start as usize..chunk.bytes.end as usize;
            let mut bytes = self.tiles.data().get(range)?;
            let wanted = wants(chunk.tile);
            let zeros = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
            // Behind shared chunks may lie others that are not in use.
            if wanted || zeros > ZEROS_MAX || !self.tiles.data().is_one() {
                let len = self.decode(&chunk, bytes, &mut positions, |positions| {
                    if wanted { look(chunk.tile, positions) } else { Ok(()) }
                })?;
                bytes = &bytes[..len.min(bytes.len())];
            }
            writer.append_chunk(chunk.tile, bytes, chunk.edges.end - chunk.edges.start)?;
        }
        Ok(())
    }

    /// Decodes a chunk. Returns the bytes that it has.
    pub(super) fn decode(
        &self,
        chunk: &TileChunk,
        bytes: &[u8],
        positions: &mut Vec<u32>,
        mut look: impl FnMut(&[u32]) -> Result<()>,
    ) -> Result<usize> {
        let damaged = || -> Error { self.tiles.corrupt_chunk(chunk) };
        let len = (chunk.edges.end - chunk.edges.start) as usize;
        let mut decoder = ChunkDecoder::new(bytes, len).ok_or_else(damaged)?;
        loop {
            decoder.next(positions).ok_or_else(damaged)?;
            if positions.is_empty() {
                return Ok(decoder.num_bytes());
            }
            look(positions)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use esker_format::io::{Disk, FaultyDisk, MemoryDisk};
    use esker_graph::{Csr, CsrGraph, Direction, Graph, Lists, Select, Visitor, vertex};

    use super::super::testing::{LAYER, ORIGIN, TileGraph, arcs_of, csr, make, make_from, random_edges};
    use super::super::{ConvertOptions, TileShape, write_tiles};
    use super::*;
    use crate::FormFiles;

    const NEW: &str = "new";
    const OPTIONS: ConvertOptions = ConvertOptions { group: 2, memory_bytes: 1 << 20 };
    type Edges = Vec<(VertexId, VertexId, i32)>;

    /// A graph of seven strips, and the same after changes in two of its groups: vertices and strips are
    /// added.
    fn before_and_after(directed: bool) -> (Csr<i32>, Csr<i32>, Edges) {
        let mut edges = random_edges(400_000, 60_000, 3);
        let before = csr(directed, 400_000, &edges);
        let is_first = |&(u, v, _): &(VertexId, VertexId, i32)| u.max(v) < 2 << 16;
        let at = edges.iter().position(is_first).unwrap();
        let mut changed = vec![edges.swap_remove(at), (140_000, 460_000, 9)];
        let weighed = edges.iter().position(is_first).unwrap();
        edges[weighed].2 += 1;
        changed.push(edges[weighed]);
        edges.push(changed[1]);
        (before, csr(directed, 500_000, &edges), changed)
    }

    fn noted(tiles: &Tiles, changed: &Edges) -> ChangedGroups {
        let mut groups = ChangedGroups::none_of(tiles, 500_000);
        changed.iter().for_each(|&(u, v, _)| groups.note(u, v));
        groups
    }

    #[test]
    fn unchanged_groups_are_copied_and_the_others_rebuilt() {
        for directed in [false, true] {
            let (before, after, changed) = before_and_after(directed);
            let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
            let old = make(&disk, Path::new(LAYER), &before.graph(), &OPTIONS).unwrap();
            let run = Run::with_threads(2).unwrap();
            let reuse = OldTiles::new(&old, noted(&old, &changed), &run).unwrap();
            let graph = after.graph();
            let (tiles, report) =
                make_from(&disk, Path::new(NEW), &graph, &OPTIONS, Some(&reuse), 2).unwrap();
            assert_eq!((report.groups_rebuilt, report.groups_copied), (2, if directed { 14 } else { 8 }));
            assert!(report.copied_bytes > 100_000 && report.copied_bytes < report.data_bytes);
            let found = TileGraph::new(&tiles, graph, &run).unwrap();
            for direction in [Direction::Out, Direction::In] {
                assert!(arcs_of(&found, &run, direction) == arcs_of(&graph, &run, direction));
                let degrees = |v| found.degree(direction, v) == graph.degree(direction, v);
                assert!((0..500_000).map(vertex).all(degrees));
            }
            let again = ChangedGroups::none_of(&tiles, 500_000);
            let reuse = OldTiles::new(&tiles, again, &run).unwrap();
            let (copy, report) =
                make_from(&disk, Path::new("copy"), &graph, &OPTIONS, Some(&reuse), 1).unwrap();
            assert_eq!((report.groups_rebuilt, report.copied_bytes), (0, report.data_bytes));
            assert!(copy.data().all(&run).unwrap() == tiles.data().all(&run).unwrap());
        }
    }

    #[test]
    fn in_degrees_of_copied_groups_are_counted() {
        let (before, after, changed) = before_and_after(true);
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let old_rows = *before.graph().rows(Direction::Out).unwrap();
        let old = make(&disk, Path::new(LAYER), &CsrGraph::directed(old_rows, None), &OPTIONS).unwrap();
        let run = Run::with_threads(2).unwrap();
        let reuse = OldTiles::new(&old, noted(&old, &changed), &run).unwrap();
        let graph = CsrGraph::directed(*after.graph().rows(Direction::Out).unwrap(), None);
        let (tiles, report) = make_from(&disk, Path::new(NEW), &graph, &OPTIONS, Some(&reuse), 2).unwrap();
        assert!(report.groups_copied > report.groups_rebuilt);
        let found = TileGraph::new(&tiles, graph, &run).unwrap();
        let both = after.graph();
        let degrees = |v| found.degree(Direction::In, v) == both.degree(Direction::In, v);
        assert!((0..500_000).map(vertex).all(degrees));
    }

    /// Counts the lists that are read.
    struct Counting<'a, G>(&'a G, AtomicUsize);

    impl<G: Graph> Graph for Counting<'_, G> {
        type Weight = G::Weight;
        type Error = G::Error;

        fn num_vertices(&self) -> usize {
            self.0.num_vertices()
        }

        fn num_arcs(&self) -> u64 {
            self.0.num_arcs()
        }

        fn is_directed(&self) -> bool {
            self.0.is_directed()
        }

        fn has(&self, direction: Direction) -> bool {
            self.0.has(direction)
        }

        fn degree(&self, direction: Direction, v: VertexId) -> usize {
            self.0.degree(direction, v)
        }

        fn scan<V: Visitor<G::Weight>>(
            &self,
            run: &Run,
            direction: Direction,
            select: Select<'_>,
            visitor: &V,
        ) -> std::result::Result<Vec<V::State>, G::Error> {
            self.0.scan(run, direction, select, visitor)
        }
    }

    impl<G: Lists> Lists for Counting<'_, G> {
        fn with_list<R>(
            &self,
            direction: Direction,
            v: VertexId,
            f: impl FnOnce(&[VertexId], &[G::Weight]) -> R,
        ) -> std::result::Result<R, G::Error> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.with_list(direction, v, f)
        }
    }

    #[test]
    fn only_lists_of_changed_rows_are_read() {
        let (before, after, changed) = before_and_after(false);
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let old = make(&disk, Path::new(LAYER), &before.graph(), &OPTIONS).unwrap();
        let run = Run::with_threads(2).unwrap();
        let in_first_rows: Edges = changed.into_iter().filter(|&(u, v, _)| u.min(v) < 2 << 16).collect();
        let graph = before.graph();
        let counting = Counting(&graph, AtomicUsize::new(0));
        let reuse = OldTiles::new(&old, noted(&old, &in_first_rows), &run).unwrap();
        let options = ConvertOptions { memory_bytes: 64 << 20, ..OPTIONS };
        disk.create_directory(Path::new(NEW)).unwrap();
        let files = FormFiles { disk: &disk, directory: Path::new(NEW), origin: ORIGIN };
        let report = write_tiles(&counting, &(), &run, &options, Some(&reuse), files).unwrap();
        assert_eq!(report.num_edges, old.shape().num_edges);
        // Once to count the edges, and once to gather them.
        assert_eq!(counting.1.into_inner(), 2 * (2 << 16));
        assert!(after.graph().num_vertices() > graph.num_vertices());
    }

    #[test]
    fn damaged_tiles_are_not_copied() {
        let (before, _, changed) = before_and_after(false);
        let disk = FaultyDisk::new(1);
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let graph = before.graph();
        let good = make(&shared, Path::new(LAYER), &graph, &OPTIONS).unwrap();
        disk.flip(Path::new("layer/tiles.data"), 4096 + 70_000, 3).unwrap();
        let shape = TileShape { ..good.shape() };
        let old = Tiles::open(&shared, Path::new(LAYER), ORIGIN, shape, &[]).unwrap();
        let run = Run::with_threads(2).unwrap();
        let reuse = OldTiles::new(&old, noted(&old, &changed), &run).unwrap();
        let error = make_from(&shared, Path::new(NEW), &graph, &OPTIONS, Some(&reuse), 2).unwrap_err();
        assert!(
            matches!(error, Error::Corrupt { .. }) && error.to_string().contains("tiles.data"),
            "{error}"
        );
    }

    #[test]
    fn neither_memory_nor_threads_change_a_byte() {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let run = Run::with_threads(2).unwrap();
        for directed in [false, true] {
            let (graph, ..) = before_and_after(directed);
            let ways = [(1 << 30, 1), (1, 3), (100_000, 2)].into_iter().enumerate();
            let bytes = ways.map(|(number, (memory_bytes, threads))| {
                let options = ConvertOptions { memory_bytes, ..OPTIONS };
                let layer = format!("{directed} {number}");
                let made = make_from(&disk, Path::new(&layer), &graph.graph(), &options, None, threads);
                let (tiles, report) = made.unwrap();
                assert_eq!(report.groups_copied, 0);
                tiles.data().all(&run).unwrap().concat()
            });
            let bytes: Vec<_> = bytes.collect();
            assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2]);
        }
    }
}
