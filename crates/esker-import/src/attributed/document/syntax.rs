//! The elements that a text yields, and what reads and what takes them.

use std::borrow::Cow;

use esker_format::{Error, Result};
use esker_graph::Message;

use crate::attributed::rows::Notices;
use crate::attributed::types::Types;
use crate::attributed::value::Attribute;
use crate::read::input_format::InputFormat;

/// Names and values of an element; `None` is a missing value.
pub(crate) type NamedValues<'a> = Vec<(Cow<'a, str>, Option<Attribute<'a>>)>;

/// An edge as the text has it.
pub(crate) struct Edge<'a> {
    pub(crate) source: Attribute<'a>,
    pub(crate) target: Attribute<'a>,
    /// Whether it has a direction; `None`: as the graph has it.
    pub(crate) directed: Option<bool>,
    pub(crate) fields: NamedValues<'a>,
}

/// What a text says of the whole graph, as far as it was read.
#[derive(Default)]
pub(crate) struct Stated {
    pub(crate) directed: Option<bool>,
    /// What an export of Esker says of types.
    pub(crate) types: Option<Types>,
    /// That the vertices are numbers.
    pub(crate) numbering: Option<Numbering>,
}

/// Takes the elements of a text; `at` is where one begins.
pub(crate) trait Sink {
    fn vertex(&mut self, at: usize, id: &Attribute<'_>, fields: &NamedValues<'_>) -> Result<()>;

    fn edge(&mut self, at: usize, edge: &Edge<'_>) -> Result<()>;

    /// Leaves out what begins at a place.
    fn reject(&mut self, at: usize, reason: Message);

    /// An error at a place, behind which nothing can be understood.
    fn broken(&mut self, at: usize, reason: Message) -> Error;

    fn told(&mut self) -> &mut Stated;

    /// Counters of what is left out.
    fn notices(&self) -> &Notices;
}

/// The syntax of a format, with the state in which the text is so far.
pub(crate) trait Syntax: Send {
    /// Takes whole elements from the beginning of `text`, and returns how many bytes they have; 0 if the
    /// first does not end within it. Takes all if `is_last`.
    ///
    /// # Errors
    /// If the text is not of this format.
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize>;
}

/// A format that is read so.
pub(crate) struct DocumentFormat {
    pub(crate) input: &'static InputFormat,
    pub(crate) syntax: fn() -> Box<dyn Syntax>,
    /// The attributes of vertices that may be their ids rather than the numbers that edges name, the best
    /// first.
    pub(crate) names: &'static [&'static str],
    /// Whether all values are texts, also numbers.
    pub(crate) are_values_untyped: bool,
    /// Whether edges have a direction where nothing says it.
    pub(crate) directed: Option<bool>,
    /// Whether the weight of an edge without one is 1, if others have weights.
    pub(crate) default_weight: bool,
}

/// The numbers of vertices that a header states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbering {
    pub(crate) first: u64,
    pub(crate) count: u64,
}

/// The number by which edges name a vertex, if it is one.
pub(crate) fn number(id: &Attribute<'_>) -> Option<i64> {
    match id {
        Attribute::Int(value) => Some(*value),
        Attribute::Text(text) => text.parse().ok(),
        Attribute::Unsigned(_) | Attribute::Float(_) | Attribute::Boolean(_) => None,
    }
}
