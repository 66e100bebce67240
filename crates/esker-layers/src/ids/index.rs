//! The index of an id map, from the hash of an id to its vertex.
//!
//! The vertices are sorted by the hash of their ids. The leading `b` bits of the hash are the bucket, the
//! next eight bits the tag; `b` is the least number such that a bucket holds fewer than 32 vertices on
//! average. The index has three columns: where each bucket begins (2^b + 1 integers), the tag of each vertex,
//! and the vertex.
//!
//! A look-up reads two entries of the first, 16 to 32 bytes of the second on average, and one vertex and its
//! id for each matching tag (on average an eighth more than necessary). Size: 5.25 to 5.5 bytes a vertex
//! (9.25 to 9.5 with `id64`).

use esker_format::{Column, ColumnWriter, Result};
use esker_graph::{Run, VertexId};
use memchr::memchr;

use super::files::{IdColumnFile, IdFiles};

/// Most ids that are looked up at a time, see [`IdIndex::candidates`].
pub(super) const GROUP_LEN: usize = 32;

/// A bit for each of at most [`GROUP_LEN`] ids: whether it is not found yet.
pub(super) fn bits_of_unknown(found: &[Option<VertexId>]) -> u64 {
    let bit = |(at, found): (usize, &Option<VertexId>)| u64::from(found.is_none()) << at;
    found.iter().enumerate().fold(0, |bits, found| bits | bit(found))
}

/// Upper limit of the average number of vertices in a bucket.
const BUCKET_LEN: u64 = 32;

/// Number of bits of the hash that select the bucket.
fn bucket_bits(count: u64) -> u32 {
    (count / (BUCKET_LEN / 2)).checked_ilog2().unwrap_or(0)
}

#[inline(always)]
fn bucket_of(hash: u64, bits: u32) -> u64 {
    hash.checked_shr(64 - bits).unwrap_or(0)
}

#[inline(always)]
fn tag_of(hash: u64, bits: u32) -> u8 {
    (hash << bits >> 56) as u8
}

/// A mapped index of an id map.
#[derive(Debug)]
pub(super) struct IdIndex {
    buckets: Column<u64>,
    tags: Column<u8>,
    vertices: Column<VertexId>,
    bits: u32,
}

impl IdIndex {
    /// Opens the index of `count` vertices.
    pub(super) fn open(files: &IdFiles<'_>, count: usize) -> Result<Self> {
        let bits = bucket_bits(count as u64);
        let index = Self {
            buckets: files.open(IdColumnFile::Buckets)?,
            tags: files.open(IdColumnFile::Tags)?,
            vertices: files.open(IdColumnFile::Vertices)?,
            bits,
        };
        index.buckets.expect_len((1 << bits) + 1)?;
        index.tags.expect_len(count as u64)?;
        index.vertices.expect_len(count as u64)?;
        Ok(index)
    }

    /// Verifies all of it.
    pub(super) fn verify(&self, run: &Run) -> Result<()> {
        self.buckets.all(run)?;
        self.tags.all(run)?;
        self.vertices.all(run).map(drop)
    }

    /// For each of at most [`GROUP_LEN`] hashes, the first vertex whose id may have it. Goes column by
    /// column, and prefetches what it reads in the next, so that the processor waits for the memory of many
    /// ids at a time.
    pub(super) fn candidates(&self, hashes: &[u64], found: &mut [Option<VertexId>]) -> Result<()> {
        let (buckets, tags, vertices) = (self.buckets.reader(), self.tags.reader(), self.vertices.reader());
        hashes.iter().for_each(|&hash| buckets.prefetch(bucket_of(hash, self.bits) as usize));
        let mut ranges = [(0, 0); GROUP_LEN];
        for (range, &hash) in ranges.iter_mut().zip(hashes) {
            let bucket = bucket_of(hash, self.bits) as usize;
            if let &[start, end] = buckets.get(bucket..bucket + 2)? {
                *range = (start as usize, end as usize);
                tags.prefetch(range.0);
                tags.prefetch(range.1.wrapping_sub(1));
            }
        }
        let mut places = [None; GROUP_LEN];
        for ((place, &(start, end)), &hash) in places.iter_mut().zip(&ranges).zip(hashes) {
            let tag = tag_of(hash, self.bits);
            *place = memchr(tag, tags.get(start..end)?).map(|at| start + at);
            if let Some(at) = *place {
                vertices.prefetch(at);
            }
        }
        for (found, place) in found.iter_mut().zip(places) {
            *found = place.map(|at| vertices.at(at)).transpose()?;
        }
        Ok(())
    }

    /// The first vertex that `is_it` accepts, among those whose ids may have this hash.
    pub(super) fn find(
        &self,
        hash: u64,
        mut is_it: impl FnMut(VertexId) -> Result<bool>,
    ) -> Result<Option<VertexId>> {
        let bucket = bucket_of(hash, self.bits) as usize;
        let tag = tag_of(hash, self.bits);
        let &[start, end] = self.buckets.get(bucket..bucket + 2)? else { return Ok(None) };
        for (at, &other) in (start as usize..).zip(self.tags.get(start as usize..end as usize)?) {
            if other == tag {
                let vertex = self.vertices.at(at)?;
                if is_it(vertex)? {
                    return Ok(Some(vertex));
                }
            }
        }
        Ok(None)
    }
}

/// Writes the index of an id map.
pub struct IndexWriter {
    buckets: ColumnWriter<u64>,
    tags: ColumnWriter<u8>,
    vertices: ColumnWriter<VertexId>,
    bits: u32,
    /// Number of buckets begun.
    begun: u64,
    written: u64,
    buffered_tags: Vec<u8>,
    buffered_vertices: Vec<VertexId>,
}

/// Number of elements buffered before appending them to a column.
const BUFFER_LEN: usize = 1 << 13;

impl IndexWriter {
    /// Creates the index of `count` vertices.
    ///
    /// # Errors
    /// If files cannot be created.
    pub fn create(files: &IdFiles<'_>, count: u64) -> Result<Self> {
        Ok(Self {
            buckets: files.create(IdColumnFile::Buckets)?,
            tags: files.create(IdColumnFile::Tags)?,
            vertices: files.create(IdColumnFile::Vertices)?,
            bits: bucket_bits(count),
            begun: 0,
            written: 0,
            buffered_tags: Vec::with_capacity(BUFFER_LEN),
            buffered_vertices: Vec::with_capacity(BUFFER_LEN),
        })
    }

    /// Adds a vertex. Vertices must come in ascending order of the hash of their ids.
    ///
    /// # Errors
    /// If files cannot be written.
    pub fn push(&mut self, hash: u64, vertex: VertexId) -> Result<()> {
        self.begin_buckets(bucket_of(hash, self.bits) + 1)?;
        self.buffered_tags.push(tag_of(hash, self.bits));
        self.buffered_vertices.push(vertex);
        self.written += 1;
        if self.buffered_tags.len() == BUFFER_LEN {
            self.flush()?;
        }
        Ok(())
    }

    /// Begins empty buckets at the current position until `count` are begun.
    fn begin_buckets(&mut self, count: u64) -> Result<()> {
        while self.begun < count {
            self.buckets.append(&[self.written])?;
            self.begun += 1;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.tags.append(&self.buffered_tags)?;
        self.vertices.append(&self.buffered_vertices)?;
        self.buffered_tags.clear();
        self.buffered_vertices.clear();
        Ok(())
    }

    /// Completes and syncs the files.
    ///
    /// # Errors
    /// As [`IndexWriter::push`].
    pub fn finish(mut self) -> Result<()> {
        self.begin_buckets((1 << self.bits) + 1)?;
        self.flush()?;
        self.buckets.finish()?;
        self.tags.finish()?;
        self.vertices.finish()?;
        Ok(())
    }
}
