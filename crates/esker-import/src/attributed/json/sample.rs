//! What the first elements of a JSON document show.

use esker_format::{LogicalType, Result};

use super::blocks::{JsonBlocks, Section, Unpacked, unpack};
use super::element::{Fields, id_name, read, value_of, without_nan};
use super::ends::{Ends, ends_of, is_reserved};
use crate::attributed::choose::{EdgeAttribute, Shown};
use crate::attributed::types::Types;
use crate::attributed::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;

/// Elements that are looked at before the others are read.
const SAMPLE_ELEMENTS: usize = 1000;
/// Bytes of a block of the sample.
const SAMPLE_BYTES: usize = 1 << 16;

/// What the first elements show.
#[derive(Default)]
pub(super) struct JsonSample {
    pub(super) directed: Option<bool>,
    /// The name of the ids of vertices; `None`: they have none, as far as they were looked at.
    pub(super) id: Option<&'static str>,
    /// Whether vertices of an array of their own are objects.
    pub(super) has_objects: bool,
    pub(super) ids: Vec<String>,
    pub(super) are_ids_quoted: bool,
    pub(super) attributes: Vec<EdgeAttribute>,
    pub(super) has_edges: bool,
    pub(super) has_edge_ids: bool,
    pub(super) types: Types,
}

/// Looks at the first vertices and edges. Those of a file may lie behind each other, however far; of an input
/// that can be read only once, the beginning is looked at.
pub(super) fn sample(input: &Input, head: &InputHead, options: &ReadOptions) -> Result<JsonSample> {
    let is_partial = !head.whole && !input.is_repeatable();
    let stream = match head.whole || is_partial {
        true => Input::memory("", head.bytes.clone()).open()?,
        false => input.open()?,
    };
    let block_bytes = SAMPLE_BYTES.min(options.block_bytes.max(1) * 64);
    let mut blocks = JsonBlocks::new(input.path(), stream, Vec::new(), block_bytes, options.line_bytes_max);
    let mut sampled = JsonSample { are_ids_quoted: true, ..JsonSample::default() };
    let (mut vertices, mut edges) = (0, 0);
    loop {
        options.cancel.check()?;
        let block = match blocks.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => break,
            // The beginning is cut short anyway; what is wrong elsewhere is said when it is read.
            Err(_) => break,
        };
        let section = Section::of(block.file);
        let seen = if section == Section::Vertices { &mut vertices } else { &mut edges };
        if *seen < SAMPLE_ELEMENTS {
            *seen += sampled.take(section, &block.bytes, SAMPLE_ELEMENTS - *seen);
        }
        if vertices > 0 && edges > 0 || (section == Section::Mixed && edges >= SAMPLE_ELEMENTS) {
            break;
        }
    }
    sampled.directed = sampled.directed.or(blocks.told().directed);
    sampled.types = Types::of(blocks.types());
    sampled.are_ids_quoted &= !sampled.ids.is_empty();
    Ok(sampled)
}

impl JsonSample {
    /// Looks at so many elements of a block; how many there were.
    fn take(&mut self, section: Section, bytes: &[u8], most: usize) -> usize {
        let Unpacked { spans, text, .. } = unpack(bytes);
        let mut taken = 0;
        for [from, to] in spans.into_iter().take(most) {
            let Ok(text) = std::str::from_utf8(&text[from as usize..to as usize]) else { continue };
            let replaced;
            let mut fields = Fields::new();
            let text = match read(text, &mut fields) {
                Ok(()) => text,
                Err(_) => match without_nan(text) {
                    Some(other) => {
                        replaced = other;
                        replaced.as_str()
                    }
                    None => continue,
                },
            };
            let mut fields = Fields::new();
            if read(text, &mut fields).is_err() {
                continue;
            }
            taken += 1;
            match ends_of(&fields) {
                Some(ends) if section != Section::Vertices => {
                    self.has_edges = true;
                    ends.ids.iter().for_each(|end| self.take_id(end));
                    self.take_edge(&fields, &ends, section);
                }
                _ => self.take_vertex(text, &fields),
            }
        }
        taken
    }

    fn take_id(&mut self, text: &str) {
        self.are_ids_quoted &= text.starts_with('"');
        if let Some(id) = value_of(text) {
            self.ids.push(String::from_utf8_lossy(&id.text()).into_owned());
        }
    }

    fn take_vertex(&mut self, text: &str, fields: &Fields<'_>) {
        if fields.is_empty() && !text.starts_with('{') {
            return self.take_id(text);
        }
        self.has_objects = true;
        self.id = self.id.or_else(|| id_name(fields));
        match fields.iter().find(|(own, _)| Some(own.as_ref()) == self.id) {
            Some((_, id)) => self.take_id(id),
            None => self.are_ids_quoted = false,
        }
    }

    fn take_edge(&mut self, fields: &Fields<'_>, ends: &Ends<'_>, section: Section) {
        for (name, text) in fields {
            if is_reserved(name, ends, section) {
                self.has_edge_ids |= matches!(name.as_ref(), "id" | "key");
                continue;
            }
            let shown = match value_of(text) {
                None => continue,
                Some(Attribute::Boolean(_)) => Shown::Typed(LogicalType::Boolean.into()),
                Some(Attribute::Text(_)) => Shown::Texts,
                Some(_) => Shown::Numbers,
            };
            match self.attributes.iter_mut().find(|known| known.name == *name) {
                None => self.attributes.push(EdgeAttribute {
                    name: name.clone().into_owned(),
                    shown,
                    default: None,
                    is_weight: false,
                }),
                Some(known) if known.shown != shown => known.shown = Shown::Texts,
                Some(_) => {}
            }
        }
    }
}
