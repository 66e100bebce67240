//! The properties that no edge may be without: its kind, and in a stream its time.

use esker_graph::{Message, Setting, message};

use crate::read::format::ReadOptions;

/// The places of properties that no edge may be without.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RequiredProperties {
    /// The kinds of edges.
    pub(crate) kind: Option<usize>,
    /// The times of a stream.
    pub(crate) time: Option<usize>,
}

impl RequiredProperties {
    /// The same, with the kinds at a place if there are none yet.
    pub(crate) fn or_kind(self, kind: Option<usize>) -> Self {
        Self { kind: self.kind.or(kind), ..self }
    }

    /// Why an edge without a value of a property is refused; `None` if it is not.
    pub(crate) fn refusal(self, index: usize, name: &str) -> Option<Message> {
        match Some(index) {
            index if index == self.kind => Some(no_kind(name)),
            index if index == self.time => Some(no_time(name)),
            _ => None,
        }
    }
}

impl ReadOptions {
    /// The properties among these of which every edge must have a value of its own.
    pub(crate) fn required_of(&self, properties: &[String]) -> RequiredProperties {
        let remembered = self.expected.iter().flat_map(|table| &table.defaults);
        let remembered: Vec<&String> = remembered.map(|one| &one.property).collect();
        let is_given =
            |name: &String| self.defaults.iter().any(|given| given.name == *name && given.text().is_some());
        let of = |name: &Option<String>| {
            let name = name.as_ref().filter(|name| !is_given(name) && !remembered.contains(name))?;
            properties.iter().position(|own| own == name)
        };
        RequiredProperties { kind: of(&self.kind), time: of(&self.timed) }
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
