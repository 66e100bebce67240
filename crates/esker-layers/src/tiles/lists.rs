//! Decodes neighbour lists from tiles, for layers that store no other lists.
//!
//! The out-lists of a strip are its row of tiles, and its in-lists a column. In a symmetric graph, of which
//! only the upper triangle is kept, the lists are both: the column as far as the diagonal, then the row.
//! Tiles that are read in this order append to each list in ascending order, so nothing is sorted. In a row,
//! only the chunks that hold the wanted vertices are decoded; in a column, all. Work: that of decoding these
//! chunks, about two nanoseconds an edge.

use std::ops::Range;

use esker_format::Result;
use esker_format::memory::filled;
use esker_graph::{Direction, Run, Tile, VertexId, vertex};

use super::codings::codec::ChunkDecoder;
use super::files::{Directory, TileChunk, Tiles};
use super::strip::{STRIP_BITS, STRIP_LEN};

const LOW_BITS: u32 = (1 << STRIP_BITS) - 1;

/// Lists under construction.
struct Filling<'a> {
    tiles: &'a Tiles,
    /// The vertices of the lists, all in one strip.
    vertices: Range<usize>,
    /// Where the next neighbour of each vertex goes, and where its list ends.
    next: Vec<usize>,
    ends: Vec<usize>,
    targets: Vec<VertexId>,
}

impl Tiles {
    /// The targets of the lists of successive vertices of one strip, concatenated. `offsets` are their
    /// offsets among all lists, and the end of the last one: they ascend.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`], also if the lists do not have these lengths.
    pub(crate) fn lists_of(
        &self,
        direction: Direction,
        first: usize,
        offsets: &[u64],
    ) -> Result<Vec<VertexId>> {
        let Some((&begin, rest)) = offsets.split_first() else { return Ok(Vec::new()) };
        let vertices = first..first + rest.len();
        let ends: Vec<usize> = rest.iter().map(|end| (end - begin) as usize).collect();
        let len = ends.last().copied().unwrap_or(0);
        if len == 0 {
            return Ok(Vec::new());
        }
        let next = offsets[..rest.len()].iter().map(|start| (start - begin) as usize).collect();
        // A part is decoded by one thread, which makes threads only to verify the directory for the first
        // time.
        let directory = match self.verified_directory() {
            Some(directory) => directory,
            None => self.directory(&Run::with_threads(1)?)?,
        };
        let strip = (first >> STRIP_BITS) as u32;
        let mut filling = Filling { tiles: self, vertices, next, ends, targets: filled(0, len)? };
        let directed = self.shape().directed;
        if !directed || direction == Direction::In {
            filling.add_columns(directory, strip, directed)?;
        }
        if !directed || direction == Direction::Out {
            filling.add_rows(directory, strip)?;
        }
        if filling.next != filling.ends {
            let reason = format!("the tiles hold fewer neighbours of strip {strip} than its degrees say");
            return Err(self.data().corrupt(0, reason));
        }
        Ok(filling.targets)
    }
}

impl Filling<'_> {
    /// Adds the edges that end in the strip at the lists of their ends. Loops of a symmetric graph are left
    /// to the rows.
    fn add_columns(&mut self, directory: Directory<'_>, strip: u32, directed: bool) -> Result<()> {
        let mut chunks = chunks_where(directory, |tile| tile.column == strip);
        chunks.sort_by_key(|&chunk| directory.tile(chunk).row);
        let first = (strip as usize) << STRIP_BITS;
        for chunk in chunks {
            let chunk = directory.chunk(chunk);
            let first_row = (chunk.tile.row as usize) << STRIP_BITS;
            self.decode(&chunk, |filling, positions| {
                for &position in positions {
                    let source = first_row + (position >> STRIP_BITS) as usize;
                    let target = first + (position & LOW_BITS) as usize;
                    if filling.vertices.contains(&target) && (directed || source != target) {
                        filling.add(target, source).ok_or_else(|| filling.tiles.corrupt_chunk(&chunk))?;
                    }
                }
                Ok(true)
            })?;
        }
        Ok(())
    }

    /// Adds the edges that begin in the strip.
    fn add_rows(&mut self, directory: Directory<'_>, strip: u32) -> Result<()> {
        let mut chunks = chunks_where(directory, |tile| tile.row == strip);
        chunks.sort_by_key(|&chunk| directory.tile(chunk).column);
        for tile in chunks.chunk_by(|&a, &b| directory.tile(a) == directory.tile(b)) {
            self.add_tile(directory, tile)?;
        }
        Ok(())
    }

    /// Adds the edges of a tile, whose chunks ascend. Those before the first vertex and after the last one
    /// are not decoded, but for a part.
    fn add_tile(&mut self, directory: Directory<'_>, chunks: &[usize]) -> Result<()> {
        let rows = [self.vertices.start, self.vertices.end - 1].map(|v| (v % STRIP_LEN) as u32);
        let (mut low, mut high) = (0, chunks.len());
        // The last chunk that begins before the first vertex, or the first chunk.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.first_row(&directory.chunk(chunks[middle]))? < rows[0] {
                low = middle;
            } else {
                high = middle;
            }
        }
        for &chunk in &chunks[low..] {
            let chunk = directory.chunk(chunk);
            let (first_row, first_column) =
                ((chunk.tile.row as usize) << STRIP_BITS, (chunk.tile.column as usize) << STRIP_BITS);
            let goes_on = self.decode(&chunk, |filling, positions| {
                let start = positions.partition_point(|&position| position >> STRIP_BITS < rows[0]);
                let end = positions.partition_point(|&position| position >> STRIP_BITS <= rows[1]);
                for &position in positions.get(start..end).unwrap_or(&[]) {
                    let source = first_row + (position >> STRIP_BITS) as usize;
                    let target = first_column + (position & LOW_BITS) as usize;
                    filling.add(source, target).ok_or_else(|| filling.tiles.corrupt_chunk(&chunk))?;
                }
                Ok(end == positions.len())
            })?;
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Appends to a list; `None` if it is full, or one of the two is not a vertex of it.
    #[inline(always)]
    fn add(&mut self, v: usize, target: usize) -> Option<()> {
        let slot = v.checked_sub(self.vertices.start)?;
        let next = self.next.get_mut(slot)?;
        if *next >= self.ends[slot] || target as u64 >= self.tiles.shape().num_vertices {
            return None;
        }
        self.targets[*next] = vertex(target);
        *next += 1;
        Some(())
    }

    /// The row, within its strip, in which a chunk begins.
    fn first_row(&self, chunk: &TileChunk) -> Result<u32> {
        let mut positions = Vec::new();
        let decoded = decoder_of(self.tiles, chunk)?.next(&mut positions);
        let first = decoded.and_then(|()| positions.first());
        first.map(|position| position >> STRIP_BITS).ok_or_else(|| self.tiles.corrupt_chunk(chunk))
    }

    /// Calls `take` with the positions of a chunk, until it returns false. Returns what it returned last.
    fn decode(
        &mut self,
        chunk: &TileChunk,
        mut take: impl FnMut(&mut Self, &[u32]) -> Result<bool>,
    ) -> Result<bool> {
        let mut decoder = decoder_of(self.tiles, chunk)?;
        let mut positions = Vec::new();
        loop {
            decoder.next(&mut positions).ok_or_else(|| self.tiles.corrupt_chunk(chunk))?;
            if positions.is_empty() {
                return Ok(true);
            }
            if !take(self, &positions)? {
                return Ok(false);
            }
        }
    }
}

fn decoder_of<'a>(tiles: &'a Tiles, chunk: &TileChunk) -> Result<ChunkDecoder<'a>> {
    let bytes = tiles.data().get(chunk.bytes.start as usize..chunk.bytes.end as usize)?;
    let len = (chunk.edges.end - chunk.edges.start) as usize;
    ChunkDecoder::new(bytes, len).ok_or_else(|| tiles.corrupt_chunk(chunk))
}

/// The chunks of some tiles, in the order of the file.
fn chunks_where(directory: Directory<'_>, is_wanted: impl Fn(Tile) -> bool) -> Vec<usize> {
    (0..directory.len()).filter(|&chunk| is_wanted(directory.tile(chunk))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use esker_format::io::{Disk, MemoryDisk};
    use esker_graph::Graph;

    use super::super::ConvertOptions;
    use super::super::testing::{LAYER, csr, make, random_edges};
    use super::*;

    #[test]
    fn lists_are_those_that_the_tiles_were_made_of() {
        let (n, options) = (200_000, ConvertOptions { group: 2, memory_bytes: 1 << 20 });
        for (directed, count) in [(false, 150_000), (true, 150_000), (false, 3)] {
            let graph = csr(directed, n, &random_edges(n, count, 5));
            let graph = graph.graph();
            let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
            let tiles = make(&disk, Path::new(LAYER), &graph, &options).unwrap();
            for direction in [Direction::Out, Direction::In] {
                let rows = graph.rows(direction).unwrap();
                let offsets: Vec<u64> = std::iter::once(0)
                    .chain((0..n).scan(0, |sum, v| {
                        *sum += graph.degree(direction, vertex(v)) as u64;
                        Some(*sum)
                    }))
                    .collect();
                for vertices in [0..65_536, 3..4, 70_000..70_900, 131_000..131_072, 196_608..n, 5..5] {
                    let list_offsets = &offsets[vertices.start..=vertices.end];
                    let found = tiles.lists_of(direction, vertices.start, list_offsets).unwrap();
                    let expected = list_offsets[0] as usize..list_offsets[vertices.len()] as usize;
                    assert!(found == rows.targets()[expected], "{directed} {direction:?} {vertices:?}");
                }
                // Degrees that are not those of the tiles.
                let mut wrong = offsets[..=65_536].to_vec();
                *wrong.last_mut().unwrap() += 1;
                let error = tiles.lists_of(direction, 0, &wrong).unwrap_err();
                assert!(error.to_string().contains("tiles.data"), "{error}");
            }
        }
    }
}
