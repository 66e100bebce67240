//! Codes edges in the order of the file, each segment on one thread, and copies chunks of older tiles between
//! them.

use parking_lot::Mutex;
use std::ops::Range;
use std::path::Path;

use esker_format::{Error, Result, SharedTiles};
use esker_graph::{Run, Tile};

use super::codings::segment::TileSegment;
use super::gather::TilePart;
use super::reuse::OldTiles;
use super::strip::STRIP_BITS;
use super::write::TileWriter;

/// The coding of edges, and what is counted meanwhile.
pub(super) struct Coding<'a> {
    writer: TileWriter,
    run: &'a Run,
    layer: &'a Path,
    /// The last segment, to which edges may be added.
    open: TileSegment,
    /// The number of edges that end at each vertex, if they are counted.
    in_degrees: Option<Vec<u32>>,
    num_loops: u64,
    copied_bytes: u64,
    groups_shared: u64,
    shared_bytes: u64,
}

/// The files after all edges, and what was counted.
#[derive(Debug)]
pub(super) struct CodedTiles {
    pub(super) writer: TileWriter,
    pub(super) in_degrees: Option<Vec<u32>>,
    pub(super) num_loops: u64,
    pub(super) copied_bytes: u64,
    pub(super) groups_shared: u64,
    pub(super) shared_bytes: u64,
}

/// The result of a conversion or a merge.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TileReport {
    /// Number of edges; an undirected edge counts once.
    pub num_edges: u64,
    /// Number of chunks.
    pub num_chunks: u64,
    /// Bytes of the chunks.
    pub data_bytes: u64,
    /// Groups with edges that were coded from lists.
    pub groups_rebuilt: u64,
    /// Groups with edges that did not change: copied from older tiles, or shared with these.
    pub groups_copied: u64,
    /// Those among them that were not written again, because the file that holds them got a second name.
    pub groups_shared: u64,
    /// Bytes of the copied chunks.
    pub copied_bytes: u64,
    /// Bytes of the blocks with the shared chunks.
    pub shared_bytes: u64,
    /// The files of earlier layers that hold these blocks.
    pub shared: Vec<SharedTiles>,
}

impl TileReport {
    /// Bytes of the groups that were coded from lists.
    pub fn rebuilt_bytes(&self) -> u64 {
        self.data_bytes.saturating_sub(self.copied_bytes + self.shared_bytes)
    }
}

impl CodedTiles {
    /// Writes the directory of the chunks, in groups of this size.
    pub(super) fn report(self, group: u32, groups_rebuilt: u64, groups_copied: u64) -> Result<TileReport> {
        let Self { writer, copied_bytes, groups_shared, shared_bytes, .. } = self;
        let (num_edges, num_chunks, shared) = (writer.num_edges(), writer.num_chunks(), writer.shared());
        let data_bytes = writer.finish(group)?;
        Ok(TileReport {
            num_edges,
            num_chunks,
            data_bytes,
            groups_rebuilt,
            groups_copied,
            groups_shared,
            copied_bytes,
            shared_bytes,
            shared,
        })
    }
}

/// A segment, and parts of tiles to append to it.
type Job<'a> = (TileSegment, Vec<(Tile, &'a [u32])>);

impl<'a> Coding<'a> {
    /// Counts the edges at their targets if `in_degrees` has a zero for each vertex.
    pub(super) fn new(
        writer: TileWriter,
        run: &'a Run,
        layer: &'a Path,
        in_degrees: Option<Vec<u32>>,
    ) -> Self {
        Self {
            writer,
            run,
            layer,
            open: TileSegment::default(),
            in_degrees,
            num_loops: 0,
            copied_bytes: 0,
            groups_shared: 0,
            shared_bytes: 0,
        }
    }

    /// Codes edges, each segment on one thread.
    pub(super) fn code<W>(&mut self, parts: &[TilePart<'_, W>]) -> Result<()> {
        if let Some(in_degrees) = &mut self.in_degrees {
            for part in parts {
                count_in(in_degrees, part.tile.column, part.positions, self.layer)?;
            }
        }
        let mut jobs: Vec<Job<'_>> = Vec::new();
        let mut room = self.open.room();
        jobs.push((std::mem::take(&mut self.open), Vec::new()));
        for part in parts {
            let mut rest = part.positions;
            while !rest.is_empty() {
                if room == 0 {
                    jobs.push(Job::default());
                    room = TileSegment::default().room();
                }
                let (own, others) = rest.split_at(rest.len().min(room));
                if let Some((_, appended)) = jobs.last_mut() {
                    appended.push((part.tile, own));
                }
                (room, rest) = (room - own.len(), others);
            }
        }
        let jobs: Vec<_> = jobs.into_iter().map(Mutex::new).collect();
        self.run.share(
            jobs.len(),
            || (),
            |(), job| {
                let mut job = jobs[job].lock();
                let (segment, appended) = &mut *job;
                appended.iter().try_for_each(|(tile, positions)| segment.append(*tile, positions))?;
                if segment.room() == 0 { segment.end_tile() } else { Ok(()) }
            },
        )?;
        for job in jobs {
            let (segment, _) = job.into_inner();
            if segment.room() == 0 {
                self.append(&segment)?;
            } else {
                self.open = segment;
            }
        }
        Ok(())
    }

    fn append(&mut self, segment: &TileSegment) -> Result<()> {
        self.num_loops += segment.num_loops();
        self.writer.append_segment(segment)
    }

    /// Ends the open segment.
    fn close_segment(&mut self) -> Result<()> {
        let mut segment = std::mem::take(&mut self.open);
        segment.end_tile()?;
        if segment.is_empty() { Ok(()) } else { self.append(&segment) }
    }

    /// Takes over chunks of old tiles, counts their edges, and compares them with their checksums.
    pub(super) fn copy(&mut self, old: &OldTiles<'_>, chunks: Range<usize>) -> Result<()> {
        let layer = self.layer;
        let counts_in = self.in_degrees.is_some();
        let is_shared = self.share(old, chunks.clone())?;
        let before = self.writer.data_bytes();
        let (in_degrees, num_loops) = (&mut self.in_degrees, &mut self.num_loops);
        let wants = |tile: Tile| counts_in || tile.row == tile.column;
        let look = |tile: Tile, positions: &[u32]| {
            if tile.row == tile.column {
                *num_loops += positions.iter().filter(|&&at| at >> 16 == at & 0xFFFF).count() as u64;
            }
            in_degrees.as_mut().map_or(Ok(()), |counts| count_in(counts, tile.column, positions, layer))
        };
        match is_shared {
            true => old.look(chunks, wants, look),
            false => old.copy(chunks, &mut self.writer, wants, look),
        }?;
        self.copied_bytes += self.writer.data_bytes() - before;
        Ok(())
    }

    /// Takes over chunks of old tiles without a look at their edges.
    pub(super) fn copy_uncounted(&mut self, old: &OldTiles<'_>, chunks: Range<usize>) -> Result<()> {
        if self.share(old, chunks.clone())? {
            return Ok(());
        }
        let before = self.writer.data_bytes();
        old.copy(chunks, &mut self.writer, |_| false, |_, _| Ok(()))?;
        self.copied_bytes += self.writer.data_bytes() - before;
        Ok(())
    }

    /// Shares the blocks of chunks, if that is possible.
    fn share(&mut self, old: &OldTiles<'_>, chunks: Range<usize>) -> Result<bool> {
        self.run.check()?;
        self.close_segment()?;
        let before = self.writer.data_bytes();
        let is_shared = old.share(chunks, &mut self.writer)?;
        if is_shared {
            self.groups_shared += 1;
            self.shared_bytes += self.writer.data_bytes() - before;
        }
        Ok(is_shared)
    }

    /// Ends the last segment.
    pub(super) fn finish(mut self) -> Result<CodedTiles> {
        self.close_segment()?;
        let Self { writer, in_degrees, num_loops, copied_bytes, groups_shared, shared_bytes, .. } = self;
        Ok(CodedTiles { writer, in_degrees, num_loops, copied_bytes, groups_shared, shared_bytes })
    }
}

/// Counts edges at their targets.
fn count_in(in_degrees: &mut [u32], column: u32, positions: &[u32], layer: &Path) -> Result<()> {
    let first = (column as usize) << STRIP_BITS;
    for &position in positions {
        let degree = in_degrees.get_mut(first + (position & 0xFFFF) as usize);
        let degree = degree.ok_or_else(|| foreign(layer))?;
        *degree = degree.checked_add(1).ok_or_else(|| too_many(first))?;
    }
    Ok(())
}

/// In-degrees are counted in 32 bits where in-lists are not stored.
pub(super) fn too_many(v: usize) -> Error {
    Error::invalid(format!("a vertex from {v} on has more than {} in-edges: import with in-lists", u32::MAX))
}

/// Lists that are not those of a graph.
pub(super) fn foreign(layer: &Path) -> Error {
    Error::corrupt(layer, 0, "lists do not ascend, or are not the same from both ends of edges")
}
