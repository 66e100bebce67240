//! What formats share whose text is read from its beginning to its end by one thread: GML, Pajek, DOT, LEDA
//! and others. A format is a [`Syntax`], which yields elements to a [`Sink`].

mod names;
mod lines;
mod sample;
mod window;
mod take;

use std::borrow::Cow;
use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{Message, Setting, message};

pub(super) use self::lines::{Word, lines, whole_lines, words};
use self::names::Names;
use self::sample::{Sampled, sample};
pub(super) use self::take::Numbering;
use self::take::RowsSink;
use self::window::Window;
use super::choose::{are_text_ids, choose, schema_of, unread_note};
use super::rows::{Elements, Notices};
use super::types::Types;
use super::value::Attribute;
use crate::read::format::{PickIds, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{InputFormat, OpenedInput, one};
use crate::read::prepared::PreparedBatches;
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema};

/// Names and values of an element; `None` is a missing value.
pub(super) type Fields<'a> = Vec<(Cow<'a, str>, Option<Attribute<'a>>)>;

/// An edge as the text has it.
pub(super) struct Edge<'a> {
    pub(super) source: Attribute<'a>,
    pub(super) target: Attribute<'a>,
    /// Whether it has a direction; `None`: as the graph has it.
    pub(super) directed: Option<bool>,
    pub(super) fields: Fields<'a>,
}

/// What a text says of the whole graph, as far as it was read.
#[derive(Default)]
pub(super) struct Told {
    pub(super) directed: Option<bool>,
    /// What an export of Esker says of types.
    pub(super) types: Option<Types>,
    /// That the vertices are numbers.
    pub(super) numbering: Option<Numbering>,
}

/// Takes the elements of a text; `at` is where one begins.
pub(super) trait Sink {
    fn vertex(&mut self, at: usize, id: &Attribute<'_>, fields: &Fields<'_>) -> Result<()>;

    fn edge(&mut self, at: usize, edge: &Edge<'_>) -> Result<()>;

    /// Leaves out what begins at a place.
    fn reject(&mut self, at: usize, reason: Message);

    /// An error at a place, behind which nothing can be understood.
    fn broken(&mut self, at: usize, reason: Message) -> Error;

    fn told(&mut self) -> &mut Told;

    /// Counters of what is left out.
    fn notices(&self) -> &Notices;
}

/// The syntax of a format, with the state in which the text is so far.
pub(super) trait Syntax: Send {
    /// Takes whole elements from the beginning of `text`, and returns how many bytes they have; 0 if the
    /// first does not end within it. Takes all if `is_last`.
    ///
    /// # Errors
    /// If the text is not of this format.
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize>;
}

/// A format that is read so.
pub(super) struct DocumentFormat {
    pub(super) input: &'static InputFormat,
    pub(super) syntax: fn() -> Box<dyn Syntax>,
    /// The attributes of vertices that may be their ids rather than the numbers that edges name, the best
    /// first.
    pub(super) names: &'static [&'static str],
    /// Whether all values are texts, also numbers.
    pub(super) are_values_untyped: bool,
    /// Whether edges have a direction where nothing says it.
    pub(super) directed: Option<bool>,
}

struct DocumentReader {
    schema: Schema,
    window: Window,
    parser: Arc<DocumentParser>,
    names: Names,
    told: Told,
    num_blocks: usize,
}

/// What is known of all elements, and the batches that were read and not yet asked for.
struct DocumentParser {
    elements: Elements,
    sampled: Sampled,
    /// The attribute of vertices that is their id.
    id: Option<String>,
    numbering: Option<Numbering>,
    /// Names of attributes of edges that are not kept.
    left_out: Vec<String>,
    batches: PreparedBatches,
}

/// Opens a document of a format.
///
/// # Errors
/// If it cannot be read, or the options ask for what it lacks.
pub(super) fn open(
    inputs: &[Input],
    head: InputHead,
    options: &ReadOptions,
    format: &DocumentFormat,
) -> Result<OpenedInput> {
    let (title, name) = (format.input.title, format.input.name);
    let input = one(inputs, title)?;
    let mut sampled = sample(input, &head, options, format)?;
    let types = sampled.told.types.take().unwrap_or_default();
    let mut attributes = std::mem::take(&mut sampled.attributes);
    types.apply(&mut attributes);
    let chosen = choose(title, attributes, true, options)?;
    let id = match &types.id {
        Some(id) => Some(id.clone()),
        None => sampled.names.chosen(options.ids == PickIds::Int).map(str::to_owned),
    };
    let ids = match &id {
        Some(id) => sampled.names.of(id),
        None => &sampled.ids,
    };
    let text_ids = are_text_ids(types.text_ids, ids.iter().map(String::as_bytes), options);
    let are_numbers = id.is_none() && !text_ids && sampled.vertices == 0;
    let numbering = sampled.told.numbering.filter(|_| are_numbers);
    let ids = match (numbering, text_ids) {
        (Some(own), _) => IdKind::Numbered { first: own.first, num_vertices: own.count },
        (None, true) => IdKind::Text,
        (None, false) => IdKind::Int,
    };
    let directed = sampled.told.directed.or(format.directed);
    let schema = schema_of(name, ids, &chosen, directed, input);
    let mut notes: Vec<Message> = unread_note(&chosen.unread).into_iter().collect();
    if let Some(id) = id.as_ref().filter(|_| types.id.is_none()) {
        let taken = format!("Ids of vertices are their attribute {id:?}; their numbers are read with ");
        notes.push(message![taken, Setting::Ids.to("int")]);
    }
    let elements = Elements {
        path: input.path(),
        text_ids,
        directed: directed.unwrap_or(true),
        is_undirected_anyway: options.directed == Some(false),
        properties: chosen.properties,
        notices: Notices::default(),
    };
    let window = Window::new(input.path(), head.stream, head.bytes, options, (format.syntax)());
    sampled.types = types;
    let parser = Arc::new(DocumentParser {
        elements,
        sampled,
        id,
        numbering,
        left_out: chosen.left_out,
        batches: PreparedBatches::default(),
    });
    let names = Names::default();
    let reader = DocumentReader { schema, window, parser, names, told: Told::default(), num_blocks: 0 };
    let mut opened = OpenedInput::titled(Box::new(reader), inputs, format.input);
    opened.notes.extend(notes);
    Ok(opened)
}

impl Reader for DocumentReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn limit_memory(&mut self, bytes: u64, _threads: usize) -> Result<u64> {
        if self.parser.id.is_none() {
            return Ok(0);
        }
        self.names.limit(bytes);
        Ok(bytes.min(Names::expected_bytes(self.schema.input_bytes)))
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let parser = Arc::clone(&self.parser);
        let (names, told) = (&mut self.names, &mut self.told);
        let batch = self.window.next(|text, first_line, is_last, input_bytes, syntax| {
            let mut sink = RowsSink::new(&parser, names, told, text, first_line);
            let used = syntax.take(text, is_last, &mut sink)?;
            Ok((used, sink.finish(input_bytes)?))
        })?;
        let Some(batch) = batch else { return Ok(None) };
        self.num_blocks += 1;
        Ok(Some(self.parser.batches.put(self.num_blocks, batch)))
    }
}

impl BlockParser for DocumentParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        self.batches.take(&block)
    }

    fn warnings(&self) -> Vec<Message> {
        self.elements.notices.sentences().into_iter().map(Message::from).collect()
    }
}
