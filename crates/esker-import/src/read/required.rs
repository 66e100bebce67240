//! The properties that no edge may be without: its kind, and in a stream its time.

use esker_graph::{Message, Setting, message};

use crate::read::format::ReadOptions;
use crate::read::known_kinds::KnownKinds;
use crate::read::operation::{OperationPlace, RowOperation};

/// The places of properties that no edge may be without, or that may have some values only.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequiredProperties {
    /// The kinds of edges.
    pub(crate) kind: Option<usize>,
    /// The times of a stream.
    pub(crate) time: Option<usize>,
    /// What happens to the edge.
    pub(crate) operation: Option<OperationPlace>,
    /// The kinds and the times, which removals may have too, also where edges may be without them.
    of_removals: [Option<usize>; 2],
    /// The kinds that rows may name, if they are limited, and their place.
    known: Option<(usize, KnownKinds)>,
}

impl RequiredProperties {
    /// The same, with the kinds at a place if there are none yet.
    pub(crate) fn or_kind(self, kind: Option<usize>) -> Self {
        let [own, time] = self.of_removals;
        Self { kind: self.kind.or(kind), of_removals: [own.or(kind), time], ..self }
    }

    /// The same, with a column that says what happens to each edge.
    pub(crate) fn with_operation(self, property: Option<usize>, options: &ReadOptions) -> Self {
        let may_replace = options.operation.as_ref().is_some_and(|column| column.may_replace);
        Self { operation: property.map(|property| OperationPlace { property, may_replace }), ..self }
    }

    /// Whether the value of a property of a row with this operation is read: that of a removal says nothing,
    /// but for its kind and its time.
    pub(crate) fn reads(&self, operation: RowOperation, index: usize) -> bool {
        operation != RowOperation::Remove || self.of_removals.contains(&Some(index))
    }

    /// Why an edge without a value of a property is refused in a row with this operation; `None` if it is
    /// not.
    pub(crate) fn refusal_of(&self, operation: RowOperation, index: usize, name: &str) -> Option<Message> {
        match operation {
            RowOperation::Remove if self.time == Some(index) => None,
            _ => self.refusal(index, name),
        }
    }

    /// Why an edge without a value of a property is refused; `None` if it is not.
    pub(crate) fn refusal(&self, index: usize, name: &str) -> Option<Message> {
        match Some(index) {
            index if index == self.kind => Some(no_kind(name)),
            index if index == self.time => Some(no_time(name)),
            _ => None,
        }
    }

    /// The kinds that a property may have, if it has kinds and they are limited.
    pub(crate) fn kinds_at(&self, index: usize) -> Option<&KnownKinds> {
        self.known.as_ref().filter(|(place, _)| *place == index).map(|(_, kinds)| kinds)
    }
}

impl ReadOptions {
    /// The properties among these of which every edge must have a value of its own.
    pub(crate) fn required_of(&self, properties: &[String]) -> RequiredProperties {
        let remembered = self.expected.iter().flat_map(|table| &table.defaults);
        let remembered: Vec<&String> = remembered.map(|one| &one.property).collect();
        let is_given =
            |name: &String| self.defaults.iter().any(|given| given.name == *name && given.text().is_some());
        let place = |name: &String| properties.iter().position(|own| own == name);
        let of = |name: &Option<String>| {
            place(name.as_ref().filter(|name| !is_given(name) && !remembered.contains(name))?)
        };
        let of_removals = [&self.kind, &self.timed].map(|name| name.as_ref().and_then(place));
        let known = self.known_kinds.as_ref();
        let known = known.and_then(|kinds| Some((place(&kinds.property)?, kinds.clone())));
        RequiredProperties {
            kind: of(&self.kind),
            time: of(&self.timed),
            operation: None,
            of_removals,
            known,
        }
    }
}

/// Why an edge without a kind is refused, in words.
fn no_kind(name: &str) -> Message {
    message![
        format!("the edge has no kind, as its {name:?} is missing; give such edges one with "),
        Setting::Default.to_type(name, "KIND"),
    ]
}

/// Why an edge of a stream without a time is refused, in words.
fn no_time(name: &str) -> Message {
    message![
        format!("the edge has no time, as its {name:?} is missing; give such edges one with "),
        Setting::Default.to_type(name, "TIME"),
    ]
}
