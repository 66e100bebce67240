//! The ids of vertices that a format numbers: a file with the id of each, in the order of the numbers, as an export writes it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Read;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_select::take::take;
use esker_format::{Error, Result, decimal};
use esker_graph::Stop;

use super::blocks::{count_lines, input_error};
use super::names::names_ids;
use super::reasons::{check_text, not_id};
use super::shape::check_encoding;
use super::table::HEAD_BYTES;
use super::vertices::{VERTEX_FILE, one_id_a_line, take_id_line};
use crate::format::{PickIds, ReadOptions};
use crate::input::Input;
use crate::source::{
    Block, BlockParser, EdgeBatch, IdKind, Numbers, Reader, Schema, id_column, integer_ids, text_column,
};

/// Vertices that are handed on at a time.
const BLOCK_VERTICES: u64 = 1 << 16;

/// First the ids of all vertices, in the order of their numbers, then the edges with these ids instead of numbers.
pub(crate) struct Named {
    schema: Schema,
    edges: Box<dyn Reader>,
    parser: Arc<NamedParser>,
    /// The next vertex to hand on.
    next: u64,
}

struct NamedParser {
    names: ArrayRef,
    first: u64,
    num_properties: usize,
    edges: Arc<dyn BlockParser>,
}

impl Named {
    /// Takes the ids of `input` for the numbers of the vertices of `edges`, which are `num_vertices` from `first` on.
    ///
    /// # Errors
    /// If the file cannot be read, has fewer or more ids, or has one twice.
    pub(crate) fn open(
        input: &Input,
        edges: Box<dyn Reader>,
        (first, num_vertices): (u64, u64),
        options: &ReadOptions,
    ) -> Result<Self> {
        let names = read_names(input, num_vertices, options)?;
        let mut schema = edges.schema().clone();
        schema.ids = if integer_ids(&names).is_some() { IdKind::Int } else { IdKind::Text };
        let num_properties = schema.properties.len();
        let parser = Arc::new(NamedParser { names, first, num_properties, edges: edges.parser() });
        Ok(Self { schema, edges, parser, next: 0 })
    }
}

impl Reader for Named {
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
        Ok(needed_bytes)
    }

    fn notes(&self) -> Vec<String> {
        self.edges.notes()
    }

    fn entries_add_up(&self) -> bool {
        self.edges.entries_add_up()
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.next >= self.parser.names.len() as u64 {
            return self.edges.next_block();
        }
        let first_line = self.next + 1;
        self.next += BLOCK_VERTICES;
        Ok(Some(Block { bytes: Vec::new(), first_line, file: VERTEX_FILE, input_bytes: 0 }))
    }
}

impl BlockParser for NamedParser {
    fn parse(&self, block: Block) -> Result<EdgeBatch> {
        if block.file != VERTEX_FILE {
            let batch = self.edges.parse(block)?;
            let vertices = batch.vertices.as_ref().map(|ids| self.named(ids)).transpose()?;
            let (source, target) = (self.named(&batch.source)?, self.named(&batch.target)?);
            return Ok(EdgeBatch { source, target, vertices, ..batch });
        }
        let from = (block.first_line - 1) as usize;
        let vertices = self.names.slice(from, (self.names.len() - from).min(BLOCK_VERTICES as usize));
        Ok(EdgeBatch {
            source: vertices.slice(0, 0),
            target: vertices.slice(0, 0),
            properties: vec![Numbers::Int(Vec::new()).finish(); self.num_properties],
            vertices: Some(vertices),
            rejected: Vec::new(),
            wide: Vec::new(),
            input_bytes: 0,
        })
    }

    fn warnings(&self) -> Vec<String> {
        self.edges.warnings()
    }
}

impl NamedParser {
    /// The ids of numbers. Not every format has checked that they are in the range that it promised.
    fn named(&self, numbers: &ArrayRef) -> Result<ArrayRef> {
        let place = |&number: &u64| {
            let place = number.checked_sub(self.first).filter(|&place| place < self.names.len() as u64);
            place.ok_or_else(|| {
                let last = (self.first + self.names.len() as u64).saturating_sub(1);
                Error::Invalid(format!(
                    "the edges name vertex {number}, but the file of vertices has the ids of {} to {last}",
                    self.first
                ))
            })
        };
        let numbers = integer_ids(numbers).unwrap_or_default();
        let places = UInt64Array::from(numbers.iter().map(place).collect::<Result<Vec<u64>>>()?);
        take(&self.names, &places, None)
            .map_err(|error| Error::Invalid(format!("the ids of the vertices: {error}")))
    }
}

/// The ids of a file, as integers if all are, else as texts. Memory: the file, and its ids.
fn read_names(input: &Input, num_vertices: u64, options: &ReadOptions) -> Result<ArrayRef> {
    let path = input.path();
    let mut bytes = Vec::new();
    input.open()?.read_to_end(&mut bytes).map_err(Error::io("read", path.to_path_buf()))?;
    options.cancel.check()?;
    check_encoding(&bytes[..bytes.len().min(HEAD_BYTES)])
        .map_err(|reason| input_error(&path, None, b"", reason))?;
    let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut names: Vec<Cow<'_, [u8]>> = Vec::new();
    let (mut at, mut fields, dialect) = (0, Vec::new(), one_id_a_line(options));
    let mut starts = Vec::new();
    while at < content.len() {
        let Some(line) = take_id_line(content, &mut at, &dialect, &mut fields) else { continue };
        let number = || Some(count_lines(&content[..line.start]) + 1);
        let id = line.id.map_err(str::to_owned);
        let id = id.and_then(|id| check_text(&id, "vertex").map(|()| id));
        names.push(id.map_err(|reason| input_error(&path, number(), line.text, reason))?);
        starts.push(line.start);
    }
    let is_headed = options.header != Some(false) && names.first().is_some_and(|name| names_ids(name));
    if is_headed && names.len() as u64 == num_vertices.saturating_add(1) {
        names.remove(0);
        starts.remove(0);
    }
    if names.len() as u64 != num_vertices {
        let found = esker_graph::counted(names.len(), "id", "ids");
        let promised = esker_graph::counted(num_vertices, "vertex", "vertices");
        let reason = format!(
            "the file has {found}, but the edges are between {promised}: it must have the id of each, in the order of their numbers"
        );
        return Err(input_error(&path, None, b"", reason));
    }
    let refused = |place: usize, reason: String| {
        let line = count_lines(&content[..starts[place]]) + 1;
        input_error(&path, Some(line), &names[place], reason)
    };
    let mut seen = HashSet::with_capacity(names.len());
    if let Some(place) = (0..names.len()).find(|&place| !seen.insert(&names[place])) {
        return Err(refused(place, "the id stands in the file twice".to_owned()));
    }
    drop(seen);
    let mut ints = Vec::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        match (decimal::id(name), options.ids) {
            (Ok(id), PickIds::Auto | PickIds::Int) => ints.push(id),
            // A number that is no id makes no texts of the others.
            (Err(why), PickIds::Auto) if why.is_number() => {
                return Err(refused(place, not_id("vertex", why, true)));
            }
            (Err(_), PickIds::Int) => {
                let reason =
                    "the file has ids that are no integers: leave --ids int out, to take them as texts";
                return Err(refused(place, reason.to_owned()));
            }
            (_, PickIds::Auto | PickIds::Text) => return Ok(text_column(names)),
        }
    }
    let mut seen = HashSet::with_capacity(ints.len());
    match (0..ints.len()).find(|&place| !seen.insert(ints[place])) {
        Some(place) => Err(refused(place, "the id stands in the file twice".to_owned())),
        None => Ok(id_column(ints)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoEdges;

    impl BlockParser for NoEdges {
        fn parse(&self, _: Block) -> Result<EdgeBatch> {
            Ok(EdgeBatch::of_integers(Vec::new(), Vec::new(), 0))
        }
    }

    #[test]
    fn numbers_without_an_id_are_an_error() {
        let names = text_column(["a", "b"]);
        let parser = NamedParser { names, first: 1, num_properties: 0, edges: Arc::new(NoEdges) };
        let named = parser.named(&id_column(vec![2, 1, 2])).unwrap();
        assert!(crate::source::texts(&named).unwrap().eq([b"b", b"a", b"b"]));
        for number in [0, 3, u64::MAX] {
            let error = parser.named(&id_column(vec![1, number])).unwrap_err().to_string();
            assert!(
                error.contains(&format!("vertex {number}, but the file of vertices has the ids of 1 to 2"))
            );
        }
    }
}
