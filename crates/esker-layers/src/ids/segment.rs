//! A segment of the id map: the ids of the vertices that one layer adds, immutable, in the archive of that
//! layer.
//!
//! The ids are stored in order of vertex, as in the map of an import. The index is one column of 64-bit
//! words, so that a freeze syncs few files. For c ids, its first w = max(1, ceil(c / 6)) words are a filter.
//! An id with hash h belongs to word (h mod 2^32) * w / 2^32 and sets four bits of it, whose numbers are bits
//! 32 to 37, 38 to 43, 44 to 49 and 50 to 55 of h. Then one entry for each id follows, ascending: the low k
//! bits are the position of the id, the bits above them the leading 64 - k bits of its hash, where k is the
//! least number such that c <= 2^k.
//!
//! A look-up of an absent id reads one word of the filter, and more in one case of sixty. Hashes are spread
//! evenly, so a look-up guesses the position of an entry from its hash, corrects the guess twice by the entry
//! that it finds there, and searches from there in doubling steps. The first guess is off by the root of the
//! number of ids, each other one by the root of the error before. Size: 9.3 bytes a vertex in addition to its
//! id.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use esker_format::memory::{filled, push};
use esker_format::{Column, ColumnReader, Error, Result, lower_bound};
use esker_graph::{Run, VertexId, ones, vertex};

use super::external::ExternalId;
use super::files::{IdColumnFile, IdFiles};
use super::index::{GROUP_LEN, bits_of_unknown};
use super::list::IdList;
use super::write::{IntegersWriter, TextsWriter};

/// Number of ids per word of the filter: 10.7 bits an id.
const IDS_PER_WORD: usize = 6;

/// How often the guess of a position is corrected.
const GUESSES: usize = 2;

/// Number of words of the filter of `count` ids.
fn filter_len(count: usize) -> usize {
    count.div_ceil(IDS_PER_WORD).max(1)
}

/// The word of a hash in a filter of `words`, and its bits in that word.
#[inline]
fn filter_bits(hash: u64, words: usize) -> (usize, u64) {
    let word = (u128::from(hash as u32) * words as u128) >> 32;
    let bits = [32, 38, 44, 50].iter().fold(0, |bits, shift| bits | 1 << ((hash >> shift) & 63));
    (word as usize, bits)
}

/// Number of bits of an entry that hold a position among `count` ids.
fn position_bits(count: usize) -> u32 {
    count.next_power_of_two().trailing_zeros()
}

/// The index of a segment during look-ups.
type IndexReader<'a> = ColumnReader<'a, u64>;

/// The mapped ids of the vertices `first..first + len`. A look-up verifies the blocks that it touches.
#[derive(Debug)]
pub struct IdSegment {
    first: usize,
    count: usize,
    ids: IdList,
    /// The filter, then the entries.
    index: Column<u64>,
    words: usize,
    bits: u32,
}

impl IdSegment {
    /// Opens the segment of `count` vertices from `first` on.
    ///
    /// # Errors
    /// If a file is missing, has a damaged header, or is for another number of vertices.
    pub fn open(files: &IdFiles<'_>, texts: bool, first: usize, count: usize) -> Result<Self> {
        let ids = if texts {
            IdList::texts(files, IdColumnFile::SegmentTexts, IdColumnFile::SegmentTextEnds, count)?
        } else {
            IdList::integers(files, IdColumnFile::SegmentIntegers, count)?
        };
        let index = files.open(IdColumnFile::SegmentIndex)?;
        let words = filter_len(count);
        index.expect_len((words + count) as u64)?;
        Ok(Self { first, count, ids, index, words, bits: position_bits(count) })
    }

    /// Its first vertex.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Number of vertices.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Whether the segment has no vertices.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether ids are texts; else they are integers.
    pub(crate) fn is_text(&self) -> bool {
        self.ids.is_text()
    }

    /// Verifies all of it.
    pub(super) fn verify(&self, run: &Run) -> Result<()> {
        self.index.all(run)?;
        self.ids.verify(run)
    }

    /// The vertex with an id. The caller passes the id's hash, computed once for all segments.
    #[inline]
    pub(super) fn vertex_of(&self, id: ExternalId<'_>, hash: u64) -> Result<Option<VertexId>> {
        let (word, bits) = filter_bits(hash, self.words);
        if self.index.at(word)? & bits != bits {
            return Ok(None);
        }
        self.find(id, hash)
    }

    /// [`IdSegment::vertex_of`] for at most [`GROUP_LEN`] ids, those that are not found yet: the processor
    /// waits for the memory of several at a time.
    pub(super) fn vertices_of(
        &self,
        ids: &[ExternalId<'_>],
        hashes: &[u64],
        found: &mut [Option<VertexId>],
    ) -> Result<()> {
        const NOWHERE: usize = usize::MAX;
        let mut places = [NOWHERE; GROUP_LEN];
        let unknown = bits_of_unknown(found);
        let index = &self.index.reader();
        ones(unknown).for_each(|at| index.prefetch(filter_bits(hashes[at], self.words).0));
        let mut candidates = 0;
        for at in ones(unknown) {
            let (word, bits) = filter_bits(hashes[at], self.words);
            if index.at(word)? & bits == bits {
                candidates |= 1 << at;
                places[at] = self.guess(hashes[at]);
                index.prefetch(self.words + places[at]);
            }
        }
        for _ in 0..GUESSES {
            for at in ones(candidates) {
                places[at] = self.better(index, places[at], hashes[at])?;
                index.prefetch(self.words + places[at]);
            }
        }
        for at in ones(candidates) {
            places[at] = self.lower_bound(index, hashes[at], places[at])?;
            if let Some(position) = self.position_at(index, places[at], hashes[at])? {
                self.ids.prefetch_place(position);
            }
        }
        for at in ones(candidates) {
            if let Some(position) = self.position_at(index, places[at], hashes[at])? {
                self.ids.prefetch_text(position)?;
            }
        }
        for at in ones(candidates) {
            found[at] = self.find_from(index, places[at], ids[at], hashes[at])?;
        }
        Ok(())
    }

    /// The position of the id of an entry; `None` if its hash begins otherwise.
    fn position_at(&self, index: &IndexReader<'_>, at: usize, hash: u64) -> Result<Option<usize>> {
        if at >= self.count {
            return Ok(None);
        }
        let entry = self.entry(index, at)?;
        if self.prefix(entry) == self.prefix(hash) { self.position(entry, at).map(Some) } else { Ok(None) }
    }

    #[inline(never)]
    fn find(&self, id: ExternalId<'_>, hash: u64) -> Result<Option<VertexId>> {
        let (index, mut place) = (&self.index.reader(), self.guess(hash));
        for _ in 0..GUESSES {
            place = self.better(index, place, hash)?;
        }
        self.find_from(index, self.lower_bound(index, hash, place)?, id, hash)
    }

    /// Looks for an id from the first entry on whose prefix is not less than that of its hash.
    fn find_from(
        &self,
        index: &IndexReader<'_>,
        mut at: usize,
        id: ExternalId<'_>,
        hash: u64,
    ) -> Result<Option<VertexId>> {
        let wanted = self.prefix(hash);
        while at < self.count {
            let entry = self.entry(index, at)?;
            if self.prefix(entry) != wanted {
                break;
            }
            let position = self.position(entry, at)?;
            if self.ids.get(position)? == id {
                return Ok(Some(vertex(self.first + position)));
            }
            at += 1;
        }
        Ok(None)
    }

    /// About where the entry of a hash is.
    fn guess(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.count as u128) >> 64) as usize
    }

    /// A better guess than `place`, by the hash that is there.
    fn better(&self, index: &IndexReader<'_>, place: usize, hash: u64) -> Result<usize> {
        let Some(last) = self.count.checked_sub(1) else { return Ok(0) };
        let place = place.min(last);
        let there = self.entry(index, place)?;
        let off = self.guess(hash.abs_diff(there));
        Ok(if there < hash { (place + off).min(last) } else { place.saturating_sub(off) })
    }

    /// The first entry whose prefix is not less than that of `hash`, which is about at `guess`.
    fn lower_bound(&self, index: &IndexReader<'_>, hash: u64, guess: usize) -> Result<usize> {
        let wanted = self.prefix(hash);
        lower_bound(self.count, guess, |at| Ok(self.prefix(self.entry(index, at)?) < wanted))
    }

    /// The prefix of a hash, as an entry stores it; also extracts it from an entry.
    fn prefix(&self, word: u64) -> u64 {
        word.checked_shr(self.bits).unwrap_or(0)
    }

    #[inline(always)]
    fn entry(&self, index: &IndexReader<'_>, at: usize) -> Result<u64> {
        index.at(self.words + at)
    }

    fn position(&self, entry: u64, at: usize) -> Result<usize> {
        let position = entry & ((1 << self.bits) - 1);
        if position < self.count as u64 {
            return Ok(position as usize);
        }
        Err(self.index.corrupt(
            self.words + at,
            format!("position {position} among {}", esker_graph::counted(self.count, "id", "ids")),
        ))
    }

    /// The id of a vertex of the segment.
    pub(super) fn external_of(&self, v: VertexId) -> Result<ExternalId<'_>> {
        self.ids.get(v as usize - self.first)
    }

    /// Calls `take` with the ids of the vertices of a range that are in the segment, in order.
    pub(super) fn each_external<'a>(
        &'a self,
        range: Range<usize>,
        take: &mut impl FnMut(ExternalId<'a>) -> Result<()>,
    ) -> Result<()> {
        let place = |v: usize| v.saturating_sub(self.first).min(self.count);
        self.ids.each(place(range.start)..place(range.end), take)
    }

    /// The ids, in order of vertex.
    pub(crate) fn externals(&self) -> impl Iterator<Item = Result<ExternalId<'_>>> {
        (0..self.count).map(|at| self.ids.get(at))
    }
}

/// Computes the index of ids with these hashes.
fn index_of(hashes: Vec<u64>) -> Result<Vec<u64>> {
    let (count, words) = (hashes.len(), filter_len(hashes.len()));
    let mut index = filled(0, words + count)?;
    for &hash in &hashes {
        let (word, bits) = filter_bits(hash, words);
        index[word] |= bits;
    }
    let mask = (1_u64 << position_bits(count)) - 1;
    let entries = &mut index[words..];
    for ((position, hash), entry) in (0..).zip(hashes).zip(entries.iter_mut()) {
        *entry = (hash & !mask) | position;
    }
    entries.sort_unstable();
    Ok(index)
}

/// Writes a segment with these ids, in order of vertex.
///
/// Memory: 17.3 bytes a vertex temporarily, for the index.
///
/// # Errors
/// If files cannot be written; an error of `ids`; [`Error::Invalid`] if an id is not of the given kind.
pub fn write_segment<'i>(
    files: &IdFiles<'_>,
    texts: bool,
    ids: impl IntoIterator<Item = Result<ExternalId<'i>>>,
) -> Result<()> {
    let mut hashes = Vec::new();
    let mut hashed = ids.into_iter().map(|id| -> Result<ExternalId<'_>> {
        let id = id?;
        push(&mut hashes, files.hasher.id(id))?;
        Ok(id)
    });
    if texts {
        let (file, ends) = (IdColumnFile::SegmentTexts, IdColumnFile::SegmentTextEnds);
        let mut writer = TextsWriter::create_as(files, file, ends)?;
        hashed.try_for_each(|id| match id? {
            ExternalId::Text(text) => writer.push(text),
            id => Err(wrong_kind(id)),
        })?;
        writer.finish()?;
    } else {
        let mut writer = IntegersWriter::create_as(files, IdColumnFile::SegmentIntegers)?;
        hashed.try_for_each(|id| match id? {
            ExternalId::Int(integer) => writer.push(integer),
            id => Err(wrong_kind(id)),
        })?;
        writer.finish()?;
    }
    write_index(files, hashes)
}

fn write_index(files: &IdFiles<'_>, hashes: Vec<u64>) -> Result<()> {
    let mut index = files.create(IdColumnFile::SegmentIndex)?;
    index.append(&index_of(hashes)?)?;
    index.finish().map(drop)
}

/// Writes a segment whose ids are these as texts, integers by their digits, in order of vertex.
///
/// Memory: 17.3 bytes a vertex temporarily, for the index.
///
/// # Errors
/// If files cannot be written; an error of `ids`.
pub fn write_segment_as_texts<'i>(
    files: &IdFiles<'_>,
    ids: impl IntoIterator<Item = Result<ExternalId<'i>>>,
) -> Result<()> {
    let (file, ends) = (IdColumnFile::SegmentTexts, IdColumnFile::SegmentTextEnds);
    let mut writer = TextsWriter::create_as(files, file, ends)?;
    let (mut hashes, mut text) = (Vec::new(), Vec::new());
    for id in ids {
        text.clear();
        id?.write_to(&mut text).map_err(|error| Error::invalid(error.to_string()))?;
        push(&mut hashes, files.hasher.id(ExternalId::Text(&text)))?;
        writer.push(&text)?;
    }
    writer.finish()?;
    write_index(files, hashes)
}

/// Writes the first `count` ids of adjacent segments, oldest first, as one segment.
///
/// Memory: 17.3 bytes a vertex temporarily, for the index.
///
/// # Errors
/// If files cannot be written; [`Error::Invalid`] if the segments are not adjacent or not of one kind;
/// [`Error::Corrupt`].
pub fn merge_segments(files: &IdFiles<'_>, segments: &[Arc<IdSegment>], count: usize) -> Result<()> {
    let texts = segments.first().is_some_and(|segment| segment.is_text());
    check_adjacent(segments, texts)?;
    write_segment(files, texts, segments.iter().flat_map(|segment| segment.externals()).take(count))
}

/// An error unless each segment begins where the previous one ends, and all are of one kind.
pub(super) fn check_adjacent(segments: &[Arc<IdSegment>], texts: bool) -> Result<()> {
    for pair in segments.windows(2) {
        let end = pair[0].first + pair[0].count;
        if end.cmp(&pair[1].first) != Ordering::Equal {
            return Err(Error::invalid(format!(
                "the ids of vertices {end} to {} are missing",
                pair[1].first
            )));
        }
    }
    if segments.iter().any(|segment| segment.is_text() != texts) {
        return Err(Error::invalid("some ids are integers and others are texts".to_owned()));
    }
    Ok(())
}

/// The error for an id of another kind than the graph's ids.
pub(super) fn wrong_kind(id: ExternalId<'_>) -> Error {
    let other = match id {
        ExternalId::Int(_) => "texts",
        ExternalId::Text(_) => "integers",
    };
    Error::invalid(format!("{:?} is {}, but the ids of this graph are {other}", id.to_string(), id.kind()))
}
