//! The ids of vertices that a format numbers: a file with the id of each, in the order of the numbers, as an
//! export writes it.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_select::take::take;
use esker_format::{Error, Result, value::decimal};
use esker_graph::{Message, Setting, Stop, message};

use super::blocks::{LineBlocks, PartialInput, check_encoding, count_lines, input_error, too_long};
use super::odd::OddLine;
use super::reasons::{check_text, not_id};
use super::vertices::{VERTEX_FILE, one_id_a_line, take_id_line};
use crate::columns::names::names_ids;
use crate::read::format::{PickIds, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::source::{
    BlockParser, DECODING_SHARE, EdgeBatch, IdKind, InputBlock, Numbers, Reader, Schema, id_column,
    integer_ids, texts,
};

/// Vertices, and bytes of their ids, that are handed on at a time.
const BLOCK_VERTICES: u64 = 1 << 16;
const BLOCK_BYTES: usize = 1 << 21;
/// The ids of the edges of a block may take this much, whatever the limit.
const EDGE_BYTES_MIN: u64 = 1 << 24;

/// First the ids of all vertices, in the order of their numbers, then the edges with these ids instead of
/// numbers.
pub(crate) struct NamedReader {
    schema: Schema,
    edges: Box<dyn Reader>,
    parser: Arc<NamedParser>,
    /// The next vertex to hand on.
    next: u64,
}

struct NamedParser {
    names: ArrayRef,
    /// The warning for the first line of the ids that is not UTF-8.
    odd: Option<String>,
    first: u64,
    num_properties: usize,
    edges: Arc<dyn BlockParser>,
    /// What the ids of the edges of a block may take.
    edge_bytes_max: AtomicU64,
}

impl NamedReader {
    /// Takes the ids of `input` for the numbers of the vertices of `edges`, which are `num_vertices` from
    /// `first` on.
    ///
    /// # Errors
    /// If the file cannot be read, has fewer or more ids, or has one twice.
    pub(crate) fn open(
        input: &Input,
        edges: Box<dyn Reader>,
        first: u64,
        num_vertices: u64,
        options: &ReadOptions,
    ) -> Result<Self> {
        let odd = OddLine::default();
        let names = read_names(input, num_vertices, options, &odd)?;
        let mut schema = edges.schema().clone();
        schema.ids = if integer_ids(&names).is_some() { IdKind::Int } else { IdKind::Text };
        let num_properties = schema.properties.len();
        let parser = Arc::new(NamedParser {
            names,
            odd: odd.warning(&[input.path()]),
            first,
            num_properties,
            edges: edges.parser(),
            edge_bytes_max: AtomicU64::new(u64::MAX),
        });
        Ok(Self { schema, edges, parser, next: 0 })
    }
}

impl Reader for NamedReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        let names_bytes = self.parser.names.get_buffer_memory_size() as u64;
        let edges_bytes = self.edges.limit_memory(bytes.saturating_sub(names_bytes), threads)?;
        let needed_bytes = names_bytes + edges_bytes;
        if needed_bytes > bytes {
            let what = "the ids of the vertices".to_owned();
            return Err(Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes: bytes }));
        }
        let edge_bytes = (bytes - needed_bytes) / (2 * threads.max(1) as u64);
        self.parser.edge_bytes_max.store(edge_bytes.max(EDGE_BYTES_MIN), Ordering::Relaxed);
        Ok(needed_bytes)
    }

    fn notes(&self) -> Vec<Message> {
        self.edges.notes()
    }

    fn entries_add_up(&self) -> Result<bool> {
        self.edges.entries_add_up()
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        if self.next >= self.parser.names.len() as u64 {
            return self.edges.next_block();
        }
        let (first_line, rest) = (self.next + 1, {
            let names = &self.parser.names;
            names.slice(self.next as usize, names.len() - self.next as usize)
        });
        let count = block_of(&rest);
        self.next += count;
        // The parser needs to know how many, too.
        let bytes = count.to_le_bytes().to_vec();
        Ok(Some(InputBlock { bytes, first_line, file: VERTEX_FILE, input_bytes: 0 }))
    }
}

/// How many of some ids, at least one, make a block.
fn block_of(names: &ArrayRef) -> u64 {
    let mut bytes = 0;
    let fits = |text: &&[u8]| {
        bytes += text.len();
        bytes <= BLOCK_BYTES
    };
    let fitting = match texts(names) {
        Some(texts) => texts.take(BLOCK_VERTICES as usize).take_while(fits).count() as u64,
        None => BLOCK_VERTICES.min(names.len() as u64),
    };
    fitting.max(1)
}

impl BlockParser for NamedParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        if block.file != VERTEX_FILE {
            let batch = self.edges.parse(block)?;
            let vertices = batch.vertices.as_ref().map(|ids| self.named(ids)).transpose()?;
            let (source, target) = (self.named(&batch.source)?, self.named(&batch.target)?);
            return Ok(EdgeBatch { source, target, vertices, ..batch });
        }
        let count = block.bytes.first_chunk().map_or(0, |count| u64::from_le_bytes(*count));
        let vertices = self.names.slice((block.first_line - 1) as usize, count as usize);
        Ok(EdgeBatch {
            source: vertices.slice(0, 0),
            target: vertices.slice(0, 0),
            properties: vec![Numbers::Int(Vec::new()).finish(); self.num_properties],
            vertices: Some(vertices),
            vertex_values: Vec::new(),
            vertex_places: None,
            rejected: Vec::new(),
            wide: Vec::new(),
            input_bytes: 0,
        })
    }

    fn warnings(&self) -> Vec<Message> {
        self.odd.iter().cloned().map(Message::from).chain(self.edges.warnings()).collect()
    }
}

impl NamedParser {
    /// An error if the ids at some places, one for each end of an edge, take too much together.
    fn expect_room(&self, places: &[u64]) -> Result<()> {
        let Some(names) = self.names.as_binary_opt::<i32>() else { return Ok(()) };
        let bytes: u64 = places.iter().map(|&place| names.value_length(place as usize) as u64).sum();
        let bytes_max = self.edge_bytes_max.load(Ordering::Relaxed);
        match bytes <= bytes_max {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "the ids of {} of the edges that are read at a time take {bytes} bytes, but reading may take {bytes_max}: raise the \
                 memory limit, or give shorter ids",
                esker_graph::counted(places.len(), "end", "ends")
            ))),
        }
    }

    /// The ids of numbers. Not every format has checked that they are in the range that it promised.
    fn named(&self, numbers: &ArrayRef) -> Result<ArrayRef> {
        let place = |&number: &u64| {
            let place = number.checked_sub(self.first).filter(|&place| place < self.names.len() as u64);
            place.ok_or_else(|| {
                let last = (self.first + self.names.len() as u64).saturating_sub(1);
                Error::invalid(format!(
                    "the edges name vertex {number}, but the file of vertices has the ids of {} to {last}",
                    self.first
                ))
            })
        };
        let numbers = integer_ids(numbers).unwrap_or_default();
        let places = UInt64Array::from(numbers.iter().map(place).collect::<Result<Vec<u64>>>()?);
        self.expect_room(places.values())?;
        take(&self.names, &places, None)
            .map_err(|error| Error::invalid(format!("the ids of the vertices: {error}")))
    }
}

/// What an id takes while a file of ids is read, beside its text: its end, its line, and an entry of a table
/// to find ids that come twice.
const NAME_BYTES: u64 = 80;

/// Ids of a file, as they are read.
#[derive(Default)]
struct ListedIds {
    texts: Vec<u8>,
    ends: Vec<usize>,
    /// The line of each.
    lines: Vec<u64>,
    /// Bytes of the texts, also of those that were not kept.
    bytes: u64,
    count: u64,
    /// Whether ids were left out because they exceed the limit.
    is_partial: bool,
}

impl ListedIds {
    /// Memory of all ids of the file so far, kept or not: a vector doubles as it grows.
    fn needed_bytes(&self) -> u64 {
        2 * self.bytes + NAME_BYTES * self.count
    }

    /// Adds an id. Once they exceed `bytes_max`, they are only counted.
    fn push(&mut self, id: &[u8], line: u64, bytes_max: u64) {
        self.count += 1;
        self.bytes += id.len() as u64;
        if self.is_partial || self.needed_bytes() > bytes_max {
            *self = Self { is_partial: true, bytes: self.bytes, count: self.count, ..Self::default() };
            return;
        }
        self.texts.extend_from_slice(id);
        self.ends.push(self.texts.len());
        self.lines.push(line);
    }

    fn get(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[place]]
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|place| self.get(place))
    }

    /// Leaves the first out: it names the column.
    fn remove_first(&mut self) {
        self.lines.remove(0);
        let first = self.ends.remove(0);
        self.texts.drain(..first);
        self.ends.iter_mut().for_each(|end| *end -= first);
        self.count -= 1;
    }
}

/// The ids of a file, as integers if all are, else as texts. Memory: the ids.
fn read_names(input: &Input, num_vertices: u64, options: &ReadOptions, odd: &OddLine) -> Result<ArrayRef> {
    let path = input.path();
    let mut names = read_lines(input, options, odd)?;
    // One of them may be a header.
    if names.is_partial && [0, 1].contains(&names.count.saturating_sub(num_vertices)) {
        let what = "the ids of the vertices".to_owned();
        let needed_bytes = names.needed_bytes().saturating_mul(DECODING_SHARE);
        return Err(Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes: options.memory_bytes }));
    }
    let is_headed = options.header != Some(false)
        && names.count == num_vertices.saturating_add(1)
        && names.iter().next().is_some_and(names_ids);
    if is_headed {
        names.remove_first();
    }
    if names.count != num_vertices {
        let found = esker_graph::counted(names.count, "id", "ids");
        let promised = esker_graph::counted(num_vertices, "vertex", "vertices");
        let reason = format!(
            "the file has {found}, but the edges are between {promised}: it must have the id of each, in the order of their numbers"
        );
        return Err(input_error(&path, None, b"", reason));
    }
    let refused = |place: usize, reason: Message| {
        input_error(&path, Some(names.lines[place]), names.get(place), reason)
    };
    if let Some(place) = twice(names.iter()) {
        return Err(refused(place, "the id stands in the file twice".into()));
    }
    let ints = integers_of(&names, options.ids).map_err(|(place, reason)| refused(place, reason))?;
    let Some(ints) = ints else { return texts_of(names) };
    match twice(ints.iter()) {
        Some(place) => Err(refused(place, "the id stands in the file twice".into())),
        None => Ok(id_column(ints)),
    }
}

/// The ids as integers; `None` if they are texts. The error is the place of an id that is refused, and why.
fn integers_of(names: &ListedIds, pick: PickIds) -> std::result::Result<Option<Vec<u64>>, (usize, Message)> {
    let mut ints = Vec::with_capacity(names.ends.len());
    for (place, name) in names.iter().enumerate() {
        match (decimal::id(name), pick) {
            (Ok(id), PickIds::Auto | PickIds::Int) => ints.push(id),
            // A number that is no id makes no texts of the others.
            (Err(why), PickIds::Auto) if why.is_number() => {
                return Err((place, not_id("vertex", why, true)));
            }
            (Err(_), PickIds::Int) => {
                let int = Setting::Ids.to("int");
                let found = "the file has ids that are no integers: leave ";
                return Err((place, message![found, int, " out, to take them as texts"]));
            }
            (_, PickIds::Auto | PickIds::Text) => return Ok(None),
        }
    }
    Ok(Some(ints))
}

/// The ids of the lines of a file.
fn read_lines(input: &Input, options: &ReadOptions, odd: &OddLine) -> Result<ListedIds> {
    let (path, head) = (input.path(), InputHead::read(input)?);
    check_encoding(&head.bytes).map_err(|reason| input_error(&path, None, b"", reason))?;
    let dialect = one_id_a_line(options);
    let part = PartialInput {
        input: input.clone(),
        skip_bytes: if head.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 },
        skip_lines: 0,
        quoted: dialect.quotes.then_some(dialect),
        opened: Some((head.stream, head.bytes)),
    };
    let mut blocks = LineBlocks::new(vec![part], &ReadOptions { live: None, ..options.clone() });
    let (mut names, mut fields, bytes_max) =
        (ListedIds::default(), Vec::new(), options.memory_bytes / DECODING_SHARE);
    while let Some(block) = blocks.next_block()? {
        options.cancel.check()?;
        odd.look(0, &block);
        let (bytes, mut at) = (&block.bytes[..], 0);
        let (mut counted, mut number) = (0, block.first_line);
        while at < bytes.len() {
            let start = at;
            let Some(line) = take_id_line(bytes, &mut at, &dialect, &mut fields) else { continue };
            number += count_lines(&bytes[counted..line.start]);
            counted = line.start;
            let id = match too_long(bytes, start, options.line_bytes_max) {
                Some(reason) => Err(Message::from(reason)),
                None => line.id.map_err(Message::from),
            };
            let id = id.and_then(|id| check_text(&id, "vertex").map(|()| id));
            let id = id.map_err(|reason| input_error(&path, Some(number), line.text, reason))?;
            names.push(&id, number, bytes_max);
        }
    }
    Ok(names)
}

/// The place of the first element that an earlier one equals.
fn twice<T: Hash + Eq>(mut elements: impl Iterator<Item = T>) -> Option<usize> {
    let mut seen = HashSet::with_capacity(elements.size_hint().0);
    elements.position(|element| !seen.insert(element))
}

/// Texts as a column, without a copy.
fn texts_of(names: ListedIds) -> Result<ArrayRef> {
    let too_many = |_| Error::invalid("the ids of the vertices take more than 2 GiB".to_owned());
    let ends = std::iter::once(Ok(0)).chain(names.ends.iter().map(|&end| i32::try_from(end)));
    let ends = ends.collect::<std::result::Result<Vec<i32>, _>>().map_err(too_many)?;
    let column = BinaryArray::try_new(OffsetBuffer::new(ends.into()), names.texts.into(), None);
    let column = column.map_err(|error| Error::invalid(format!("the ids of the vertices: {error}")))?;
    Ok(Arc::new(column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::source::text_column;

    struct NoEdges;

    impl BlockParser for NoEdges {
        fn parse(&self, _: InputBlock) -> Result<EdgeBatch> {
            Ok(EdgeBatch::of_integers(Vec::new(), Vec::new(), 0))
        }
    }

    #[test]
    fn numbers_without_an_id_are_an_error() {
        let names = text_column(["a", "b"]);
        let parser = NamedParser {
            names,
            odd: None,
            first: 1,
            num_properties: 0,
            edges: Arc::new(NoEdges),
            edge_bytes_max: AtomicU64::new(u64::MAX),
        };
        let named = parser.named(&id_column(vec![2, 1, 2])).unwrap();
        assert!(crate::read::source::texts(&named).unwrap().eq([b"b", b"a", b"b"]));
        for number in [0, 3, u64::MAX] {
            let error = parser.named(&id_column(vec![1, number])).unwrap_err().to_string();
            assert!(
                error.contains(&format!("vertex {number}, but the file of vertices has the ids of 1 to 2"))
            );
        }
    }
}
