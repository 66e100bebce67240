//! The exact types of properties, which an export of Esker writes among the attributes of the graph.

use std::collections::BTreeMap;

use esker_format::{LogicalType, PropertyType};
use serde_json::Value;

use super::choose::{EdgeAttribute, Shown};
use super::value::Attribute;
use crate::read::typed::{self, Typed};

/// The name of the types among the attributes of the graph.
pub(crate) const ESKER: &str = "esker";
/// Within it, the types of vertex properties by name ...
pub(crate) const VERTICES: &str = "vertices";
/// ... those of edge properties ...
pub(crate) const EDGES: &str = "edges";
/// ... what ids are ...
pub(crate) const IDS: &str = "ids";
/// ... the name of the weight ...
pub(crate) const WEIGHT: &str = "weight";
/// ... and, where edges name numbers, the attribute of vertices that is their id.
pub(crate) const ID: &str = "id";

/// The types of properties by name.
#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) of_vertices: BTreeMap<String, PropertyType>,
    of_edges: BTreeMap<String, PropertyType>,
    weight: Option<String>,
    /// Whether ids are texts.
    pub(super) text_ids: bool,
    /// The attribute of vertices that is their id.
    pub(super) id: Option<String>,
}

impl Types {
    /// From the text of the value of [`ESKER`]; what is not understood is left out.
    pub(super) fn of(text: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(text).unwrap_or_default();
        let types = |name: &str| {
            let pairs = value.get(name).and_then(Value::as_object).into_iter().flatten();
            let typed = pairs.filter_map(|(name, own)| Some((name.clone(), own.as_str()?.parse().ok()?)));
            typed.collect()
        };
        let text_ids = value.get(IDS).and_then(Value::as_str) == Some("text");
        let named = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let (weight, id) = (named(WEIGHT), named(ID));
        Self { of_vertices: types(VERTICES), of_edges: types(EDGES), weight, text_ids, id }
    }

    /// From a comment of a text that begins with [`ESKER`]; `None` if it is another.
    pub(super) fn of_comment(comment: &str) -> Option<Self> {
        let text = comment.trim().strip_prefix(ESKER)?.trim_start();
        text.starts_with('{').then(|| Self::of(text.as_bytes()))
    }

    /// The name of the weight, if the types of edges are stated.
    pub(super) fn weight(&self) -> Option<&str> {
        self.weight.as_deref()
    }

    /// The attributes of edges that are stated.
    pub(super) fn edge_attributes(&self) -> Vec<EdgeAttribute> {
        let stated = |name: &String| EdgeAttribute {
            name: name.clone(),
            shown: Shown::Numbers,
            default: None,
            is_weight: false,
        };
        self.of_edges.keys().map(stated).collect()
    }

    /// Tells attributes of edges their types.
    pub(super) fn apply(&self, attributes: &mut [EdgeAttribute]) {
        for attribute in attributes {
            attribute.is_weight = self.weight.as_ref() == Some(&attribute.name);
            if let Some(own) = self.of_edges.get(&attribute.name) {
                attribute.shown = match own.logical {
                    LogicalType::Text => Shown::Texts,
                    _ => Shown::Typed(own.clone()),
                };
            }
        }
    }
}

/// A text as a value of a type that is not text; `None` if it is none.
pub(super) fn typed_value(text: &[u8], own: &PropertyType) -> Option<Attribute<'static>> {
    Some(match typed::parse(text, own).ok()? {
        Typed::Int(value) if own.logical == LogicalType::Boolean => Attribute::Boolean(value != 0),
        Typed::Int(value) => Attribute::Int(value),
        Typed::Float(value) => Attribute::Float(value),
        Typed::Unsigned(value) => Attribute::Unsigned(value),
    })
}
