//! What formats share whose text is read from its beginning to its end by one thread: GML, Pajek, DOT, LEDA
//! and others. A format is a [`Syntax`], which yields elements to a [`Sink`].

mod syntax;
mod names;
mod lines;
mod window;
mod sample;
mod parser;
mod take;

use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{Message, Setting, message};

pub(super) use self::lines::{Word, lines, whole_lines, words};
use self::names::Names;
use self::parser::DocumentParser;
use self::sample::{Sampled, sample};
pub(super) use self::syntax::{DocumentFormat, Edge, NamedValues, Numbering, Sink, Stated, Syntax};
use self::take::RowsSink;
use self::window::Window;
use super::choose::{EdgeAttribute, choose, schema_of, unread_note};
use super::rows::{Elements, Notices};
use super::value::Attribute;
use crate::read::format::{PickIds, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{OpenedInput, one};
use crate::read::prepared::PreparedBatches;
use crate::read::source::{BlockParser, IdKind, InputBlock, Reader, Schema};

struct DocumentReader {
    schema: Schema,
    window: Window,
    parser: Arc<DocumentParser>,
    names: Names,
    told: Stated,
    num_blocks: usize,
}

/// Opens a document of a format.
///
/// # Errors
/// If it cannot be read, or the options ask for what it lacks.
pub(super) fn open(
    inputs: &[Input],
    mut head: InputHead,
    options: &ReadOptions,
    format: &DocumentFormat,
) -> Result<OpenedInput> {
    let (title, name) = (format.input.title, format.input.name);
    let input = one(inputs, title)?;
    let mut sampled = sample(input, &mut head, options, format)?;
    let types = sampled.told.types.take().unwrap_or_default();
    let mut attributes = match sampled.is_cut_before_edges {
        true => types.edge_attributes(),
        false => std::mem::take(&mut sampled.attributes),
    };
    types.apply(&mut attributes);
    give_default(&mut attributes, types.weight().unwrap_or("weight"), format);
    let mut chosen = choose(title, attributes, true, options)?;
    let id = match &types.id {
        Some(id) => Some(id.clone()),
        None => sampled.names.chosen(options.ids == PickIds::Int).map(str::to_owned),
    };
    let ids = match &id {
        Some(id) => sampled.names.of(id),
        None => &sampled.ids,
    };
    let text_ids = chosen.has_text_ids(types.text_ids, ids, options);
    let numbering = sampled.told.numbering.filter(|_| id.is_none() && sampled.vertices == 0);
    if numbering.is_some() && options.ids == PickIds::Text {
        let why =
            format!(" means nothing for a {title} that counts its vertices, which are numbers; leave it out");
        return Err(Error::invalid(message![Setting::Ids.to("text"), why]));
    }
    let numbering = numbering.filter(|_| !text_ids);
    let ids = match (numbering, text_ids) {
        (Some(own), _) => IdKind::Numbered { first: own.first, num_vertices: own.count },
        (None, true) => IdKind::Text,
        (None, false) => IdKind::Int,
    };
    let directed = sampled.told.directed.or(format.directed);
    let schema = schema_of(name, ids, &chosen, directed, input);
    let mut notes: Vec<Message> = unread_note(&chosen.unread).into_iter().collect();
    notes.extend(id.as_ref().filter(|_| types.id.is_none()).map(|id| id_note(id, &sampled)));
    let elements = Elements {
        path: input.path(),
        text_ids,
        directed: directed.unwrap_or(true),
        is_undirected_anyway: options.directed == Some(false),
        properties: chosen.properties,
        rejected: chosen.rejected,
        ids_can_become_texts: chosen.ids_can_become_texts,
        odd_id: chosen.odd_id,
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
    let reader = DocumentReader { schema, window, parser, names, told: Stated::default(), num_blocks: 0 };
    let mut opened = OpenedInput::titled(Box::new(reader), inputs, format.input);
    opened.notes.extend(notes);
    Ok(opened)
}

/// Gives edges without a weight the weight 1, if the format has it so.
fn give_default(attributes: &mut [EdgeAttribute], weight: &str, format: &DocumentFormat) {
    for attribute in attributes.iter_mut().filter(|one| format.default_weight && one.name == weight) {
        attribute.default = Some(Attribute::Int(1));
    }
}

/// What a person should know of ids that are an attribute of vertices.
fn id_note(id: &str, sampled: &Sampled) -> Message {
    let taken = format!("Ids of vertices are their attribute {id:?}");
    // Integers in it are what integer ids are.
    match sampled.names.chosen(true) == Some(id) {
        true => taken.into(),
        false => message![taken, "; their numbers are read with ", Setting::Ids.to("int")],
    }
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
