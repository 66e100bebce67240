//! GBBS's byte-coded graphs, which its option `-c` reads: little-endian, n, m and the bytes of all lists as
//! words of 64 bits, u64 offsets\[n + 1\] of bytes, u32 degrees\[n\], the lists. Of a directed graph the
//! in-lists follow, which add nothing: their bytes, offsets, degrees, lists.
//!
//! A list begins with its degree and the places of its blocks but the first, in words of 32 bits. A block of
//! 1,000 neighbours is a word, how many neighbours stand before it, then the first one as its difference to
//! the vertex, with a sign in the seventh bit of the first byte, then differences. Numbers have seven bits
//! a byte, the lowest first, and the eighth bit in all bytes but the last. A weight, an integer with a sign,
//! may stand behind each neighbour: no header says so, but the lengths of the lists do.
//!
//! Memory: a block of lists, or a part of a longer list; 24 bytes an edge of it.

use std::sync::Arc;

use esker_format::Result;

use super::contain::damaged;
use super::region::Region;
use super::runs::RUN_ROWS;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Numbers, Reader, Schema};

const HEADER_BYTES: u64 = 24;
/// Neighbours of a block of a list.
const BLOCK_EDGES: u64 = 1000;
/// Blocks of a long list that are read at a time.
const BLOCKS_AT_ONCE: u64 = 100;
/// Bytes of lists that are read at a time; a longer list is read in parts.
const RUN_BYTES: u64 = 1 << 20;
/// Vertices whose offsets and degrees are read at a time while blocks are cut.
const VERTICES_AT_ONCE: u64 = 1 << 16;
/// Lists, and bytes of them, that tell whether there are weights.
const SAMPLE_LISTS: usize = 64;
const SAMPLE_BYTES: u64 = 1 << 22;

/// Byte-coded lists of neighbours.
pub(crate) static GBBS_BYTES: InputFormat =
    InputFormat::new("gbbs-bytes", "GBBS byte-coded graph", Choices::Nothing, open);

fn open(inputs: &[Input], _head: InputHead, _options: &ReadOptions) -> Result<OpenedInput> {
    let region = Region::open(one(inputs, GBBS_BYTES.title)?, &GBBS_BYTES)?;
    let mut graph = ByteFile::open(region)?;
    graph.weighted = graph.has_weights()?;
    let graph = Arc::new(graph);
    let schema = Schema {
        operation: None,
        kind: None,
        format: GBBS_BYTES.name,
        ids: IdKind::Numbered { first: 0, num_vertices: graph.vertices },
        properties: if graph.weighted { vec!["weight".to_owned()] } else { Vec::new() },
        weight: graph.weighted.then_some(0),
        types: Vec::new(),
        directed: Some(graph.directed),
        time: None,
        both_ends: !graph.directed,
        input_bytes: Some(graph.region.bytes()),
    };
    let reader = ByteReader { schema, graph, window: ListPlaces::default(), vertex: 0, block: 0, edges: 0 };
    Ok(OpenedInput::titled(Box::new(reader), inputs, &GBBS_BYTES))
}

#[derive(Debug)]
struct ByteFile {
    region: Region,
    vertices: u64,
    edges: u64,
    /// Bytes of all lists.
    bytes: u64,
    directed: bool,
    weighted: bool,
}

/// Where the lists of some vertices lie, and how long they are.
#[derive(Default)]
struct ListPlaces {
    first: u64,
    offsets: Vec<u64>,
    degrees: Vec<u32>,
}

/// A list: the bytes of all lists before it, its bytes and its neighbours.
#[derive(Clone, Copy)]
struct List {
    vertex: u64,
    start: u64,
    bytes: u64,
    degree: u64,
}

impl ByteFile {
    fn open(region: Region) -> Result<Self> {
        let header = region.read_vec(0, HEADER_BYTES.min(region.bytes()) as usize)?;
        let (words, _) = header.as_chunks::<8>();
        let word = |place: usize| words.get(place).map_or(0, |word| u64::from_le_bytes(*word));
        let [vertices, edges, bytes] = [word(0), word(1), word(2)];
        let unfit = |region: &Region| {
            damaged(
                region.path(),
                format!(
                    "its header states {vertices} vertices and {bytes} bytes of lists, which does not fit its {} bytes",
                    region.bytes()
                ),
            )
        };
        let tables =
            |vertices: u64| vertices.checked_add(1)?.checked_mul(8)?.checked_add(vertices.checked_mul(4)?);
        let all = |bytes: u64| tables(vertices)?.checked_add(bytes);
        let one = all(bytes).and_then(|all| all.checked_add(HEADER_BYTES)).filter(|_| words.len() == 3);
        let Some(rest) = one.and_then(|one| region.bytes().checked_sub(one)) else {
            return Err(unfit(&region));
        };
        if vertices > u64::from(u32::MAX) {
            return Err(damaged(
                region.path(),
                format!("its ids have 32 bits, but it states {vertices} vertices"),
            ));
        }
        if rest > 0 {
            let in_bytes = region.read_vec(region.bytes() - rest, 8.min(rest) as usize)?;
            let in_bytes = in_bytes.as_chunks::<8>().0.first().map(|word| u64::from_le_bytes(*word));
            if in_bytes.and_then(all).and_then(|all| all.checked_add(8)) != Some(rest) {
                return Err(unfit(&region));
            }
        }
        Ok(Self { region, vertices, edges, bytes, directed: rest > 0, weighted: false })
    }

    fn broken(&self, vertex: u64, what: &str) -> esker_format::Error {
        damaged(self.region.path(), format!("the list of vertex {vertex} {what}"))
    }

    /// The places of the lists of some vertices.
    fn window(&self, first: u64) -> Result<ListPlaces> {
        let count = VERTICES_AT_ONCE.min(self.vertices - first);
        let offsets = self.region.read_vec(HEADER_BYTES + first * 8, (count as usize + 1) * 8)?;
        let degrees = HEADER_BYTES + (self.vertices + 1) * 8 + first * 4;
        let degrees = self.region.read_vec(degrees, count as usize * 4)?;
        Ok(ListPlaces {
            first,
            offsets: offsets.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect(),
            degrees: degrees.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect(),
        })
    }

    /// The list of a vertex.
    fn list(&self, window: &mut ListPlaces, vertex: u64) -> Result<List> {
        if vertex < window.first || vertex - window.first >= window.degrees.len() as u64 {
            *window = self.window(vertex)?;
        }
        let at = (vertex - window.first) as usize;
        let [start, end] = [window.offsets[at], window.offsets[at + 1]];
        let is_last = vertex + 1 == self.vertices;
        if start > end || end > self.bytes || (vertex == 0 && start != 0) || (is_last && end != self.bytes) {
            return Err(self
                .broken(vertex, &format!("has the offsets {start} and {end}, which do not fit the others")));
        }
        let list = List { vertex, start, bytes: end - start, degree: window.degrees[at].into() };
        // Each neighbour has a byte at least.
        if list.degree > list.bytes || (list.degree == 0) != (list.bytes == 0) {
            return Err(
                self.broken(vertex, &format!("has {} neighbours in {} bytes", list.degree, list.bytes))
            );
        }
        Ok(list)
    }

    /// Bytes of lists.
    fn lists(&self, start: u64, bytes: u64) -> Result<Vec<u8>> {
        let first = HEADER_BYTES + (self.vertices + 1) * 8 + self.vertices * 4;
        self.region.read_vec(first + start, bytes as usize)
    }

    /// The head of a list: its degree, and the places of its blocks.
    fn head(&self, list: &List) -> Result<Vec<u8>> {
        self.lists(list.start, list.bytes.min(4 * self.count_blocks(list)?))
    }

    /// How many blocks a list says that it has.
    fn count_blocks(&self, list: &List) -> Result<u64> {
        let word = self.lists(list.start, list.bytes.min(4))?;
        let stated = word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        Ok(u64::from(stated).div_ceil(BLOCK_EDGES).max(1))
    }

    /// Whether neighbours have weights: whether the bytes of the first lists are those of lists without.
    fn has_weights(&self) -> Result<bool> {
        let (mut window, mut sample, mut bytes) = (ListPlaces::default(), Vec::new(), 0);
        for vertex in 0..self.vertices {
            let list = self.list(&mut window, vertex)?;
            if list.bytes > 0 && (sample.is_empty() || bytes + list.bytes <= SAMPLE_BYTES) {
                bytes += list.bytes;
                sample.push((list, self.lists(list.start, list.bytes.min(SAMPLE_BYTES))?));
            }
            if sample.len() == SAMPLE_LISTS || bytes >= SAMPLE_BYTES {
                break;
            }
        }
        let mut refused = None;
        for weighted in [false, true] {
            let read = |(list, bytes): &(List, Vec<u8>)| {
                let mut part = Part::new(self, list.vertex, weighted);
                // Of a list that is longer than the sample, its first blocks.
                let blocks = Blocks::of(self, list, bytes)?;
                let whole = blocks.count_within(bytes.len() as u64);
                part.take_blocks(&blocks, 0..whole, 0, bytes)
            };
            match sample.iter().try_for_each(read) {
                Ok(()) => return Ok(weighted),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| self.broken(0, "is damaged")))
    }
}

/// The blocks of a list.
struct Blocks {
    list: List,
    /// Where they begin, and where the last one ends.
    places: Vec<u64>,
}

impl Blocks {
    /// Those that the head of a list names.
    fn of(graph: &ByteFile, list: &List, head: &[u8]) -> Result<Self> {
        let word = |place: u64| {
            let at = usize::try_from(place * 4).ok()?;
            head.get(at..at + 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        };
        let short = || graph.broken(list.vertex, "ends before its blocks");
        let count = word(0).filter(|count| u64::from(*count) >= list.degree).ok_or_else(short)?;
        let count = u64::from(count).div_ceil(BLOCK_EDGES);
        if count.saturating_mul(8) > list.bytes {
            return Err(short());
        }
        let mut places = vec![count * 4];
        for block in 1..count {
            let place = word(block).map(u64::from).ok_or_else(short)?;
            if places.last().is_some_and(|before| place < before + 4) || place + 4 > list.bytes {
                return Err(graph.broken(list.vertex, "has a block whose place does not fit the others"));
            }
            places.push(place);
        }
        places.push(list.bytes);
        Ok(Self { list: *list, places })
    }

    fn len(&self) -> u64 {
        self.places.len() as u64 - 1
    }

    /// How many blocks end, with the count of the next, within so many bytes.
    fn count_within(&self, bytes: u64) -> u64 {
        let is_within = |end: &u64| *end + 4 <= bytes || *end == self.list.bytes && bytes == self.list.bytes;
        self.places[1..].iter().take_while(|end| is_within(end)).count() as u64
    }
}

/// The edges that were read.
struct Part<'g> {
    graph: &'g ByteFile,
    vertex: u64,
    weighted: bool,
    source: Vec<u64>,
    target: Vec<u64>,
    weights: Vec<i64>,
}

impl<'g> Part<'g> {
    fn new(graph: &'g ByteFile, vertex: u64, weighted: bool) -> Self {
        Self { graph, vertex, weighted, source: Vec::new(), target: Vec::new(), weights: Vec::new() }
    }

    /// Takes some blocks of a list, whose bytes from `first` on are `bytes`.
    fn take_blocks(
        &mut self,
        blocks: &Blocks,
        range: std::ops::Range<u64>,
        first: u64,
        bytes: &[u8],
    ) -> Result<()> {
        let list = &blocks.list;
        self.vertex = list.vertex;
        let short = || self.graph.broken(list.vertex, "is cut short");
        let part = |from: u64, to: u64| bytes.get((from - first) as usize..(to - first) as usize);
        let before = |block: u64| match block == blocks.len() {
            true => Some(list.degree),
            false => {
                let place = blocks.places[block as usize];
                let word = part(place, place + 4)?;
                Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]).into())
            }
        };
        for block in range {
            let (at, end) = (block as usize, block as usize + 1);
            let (from, to) = (before(block).ok_or_else(short)?, before(block + 1).ok_or_else(short)?);
            let Some(count) = to.checked_sub(from).filter(|_| block > 0 || from == 0) else {
                return Err(self.graph.broken(list.vertex, "has blocks whose counts go back"));
            };
            let bytes = part(blocks.places[at] + 4, blocks.places[end]).ok_or_else(short)?;
            if count > bytes.len() as u64 || to > list.degree {
                return Err(self.graph.broken(list.vertex, "has more neighbours than its bytes"));
            }
            self.take_block(count, bytes)?;
        }
        Ok(())
    }

    /// Takes the neighbours of a block, which are all of its bytes.
    fn take_block(&mut self, count: u64, bytes: &[u8]) -> Result<()> {
        let (graph, vertex) = (self.graph, self.vertex);
        let mut bytes = Bytes { bytes, at: 0 };
        let mut neighbour = i64::try_from(vertex).unwrap_or(i64::MAX);
        let cut = || graph.broken(vertex, "has a number that does not end");
        for place in 0..count {
            neighbour += if place == 0 {
                bytes.signed().ok_or_else(cut)?
            } else {
                bytes.unsigned().ok_or_else(cut)?
            };
            if !(0..graph.vertices.cast_signed()).contains(&neighbour) {
                return Err(graph.broken(
                    vertex,
                    &format!("has the neighbour {neighbour}, but there are {} vertices", graph.vertices),
                ));
            }
            self.source.push(vertex);
            self.target.push(neighbour.cast_unsigned());
            if self.weighted {
                self.weights.push(bytes.signed().ok_or_else(cut)?);
            }
        }
        match bytes.bytes.len() - bytes.at {
            0 => Ok(()),
            left => Err(graph.broken(
                vertex,
                &format!("has {left} bytes behind its neighbours; GBBS writes lists so in which a neighbour stands twice"),
            )),
        }
    }
}

/// Bytes of numbers.
struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// What follows the low bits of a number; `None` if it does not end, or has more than 32 bits.
    fn rest(&mut self, low: u64, bits: u32, goes_on: bool) -> Option<i64> {
        let (mut number, mut bits, mut goes_on) = (low, bits, goes_on);
        while goes_on {
            let byte = self.next()?;
            number |= u64::from(byte & 0x7f) << bits;
            bits += 7;
            goes_on = byte & 0x80 != 0;
            if number > u64::from(u32::MAX) || goes_on && bits > 32 {
                return None;
            }
        }
        Some(number.cast_signed())
    }

    fn unsigned(&mut self) -> Option<i64> {
        self.rest(0, 0, true)
    }

    fn signed(&mut self) -> Option<i64> {
        let first = self.next()?;
        let size = self.rest((first & 0x3f).into(), 6, first & 0x80 != 0)?;
        Some(if first & 0x40 != 0 { -size } else { size })
    }
}

/// Cuts lists, and long ones between their blocks. A block notes the first vertex and the one behind the
/// last; or the vertex twice, and the first of its blocks and the one behind the last.
struct ByteReader {
    schema: Schema,
    graph: Arc<ByteFile>,
    window: ListPlaces,
    vertex: u64,
    /// The next block of a long list.
    block: u64,
    edges: u64,
}

impl ByteReader {
    fn note(&self, words: [u64; 4], bytes: u64) -> InputBlock {
        let words = words.into_iter().flat_map(u64::to_le_bytes).collect();
        InputBlock { bytes: words, first_line: self.edges + 1, file: 0, input_bytes: bytes }
    }

    /// The next part of a list that is longer than what is read at a time.
    fn part_of(&mut self, list: &List) -> Result<InputBlock> {
        let last = self.graph.count_blocks(list)?;
        let (first, end) = (self.block, (self.block + BLOCKS_AT_ONCE).min(last));
        let bytes = list.bytes * (end - first) / last;
        let note = self.note([list.vertex, list.vertex, first, end], bytes);
        self.block = end;
        if end == last {
            (self.vertex, self.block) = (self.vertex + 1, 0);
            self.edges += list.degree;
        }
        Ok(note)
    }
}

impl Reader for ByteReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::new(ByteParser(Arc::clone(&self.graph)))
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let (first, mut bytes, mut edges) = (self.vertex, 0, 0);
        while self.vertex < self.graph.vertices && self.vertex - first < RUN_ROWS {
            let list = self.graph.list(&mut self.window, self.vertex)?;
            if list.bytes > RUN_BYTES && self.vertex == first {
                return self.part_of(&list).map(Some);
            }
            if self.vertex > first && (bytes + list.bytes > RUN_BYTES || edges + list.degree > RUN_ROWS) {
                break;
            }
            bytes += list.bytes;
            edges += list.degree;
            self.vertex += 1;
        }
        if self.vertex > first {
            let note = self.note([first, self.vertex, 0, 0], bytes + 12 * (self.vertex - first));
            self.edges += edges;
            return Ok(Some(note));
        }
        if self.edges != self.graph.edges {
            let (stated, found) = (self.graph.edges, self.edges);
            let reason = format!("its header states {stated} edges, but its lists have {found}");
            return Err(damaged(self.graph.region.path(), reason));
        }
        Ok(None)
    }
}

struct ByteParser(Arc<ByteFile>);

impl BlockParser for ByteParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let graph = &*self.0;
        let (words, _) = block.bytes.as_chunks::<8>();
        let word = |place: usize| words.get(place).map_or(0, |word| u64::from_le_bytes(*word));
        let [first, end, from, to] = [word(0), word(1), word(2), word(3)];
        let mut part = Part::new(graph, first, graph.weighted);
        let mut window = ListPlaces::default();
        if first == end {
            let list = graph.list(&mut window, first)?;
            let head = graph.head(&list)?;
            let blocks = Blocks::of(graph, &list, &head)?;
            let [start, last] = [from, to].map(|block| blocks.places[block.min(blocks.len()) as usize]);
            // With the count of the block behind them.
            let last = (last + 4).min(list.bytes);
            let bytes = graph.lists(list.start + start, last - start)?;
            part.take_blocks(&blocks, from..to.min(blocks.len()), start, &bytes)?;
        } else {
            let mut lists = Vec::with_capacity((end - first) as usize);
            for vertex in first..end {
                lists.push(graph.list(&mut window, vertex)?);
            }
            let start = lists.first().map_or(0, |list| list.start);
            let bytes = lists.last().map_or(0, |list| list.start + list.bytes) - start;
            let all = graph.lists(start, bytes)?;
            for list in lists.iter().filter(|list| list.degree > 0) {
                let own = &all[(list.start - start) as usize..][..list.bytes as usize];
                let blocks = Blocks::of(graph, list, own)?;
                part.take_blocks(&blocks, 0..blocks.len(), 0, own)?;
            }
        }
        Ok(EdgeBatch {
            properties: if graph.weighted { vec![Numbers::Int(part.weights).finish()] } else { Vec::new() },
            ..EdgeBatch::of_integers(part.source, part.target, block.input_bytes)
        })
    }
}
