//! The options of an algorithm: name, type, default, help.

use esker_graph::{AlgorithmOption, Message, message};

/// The type of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptKind {
    /// The external id of a vertex.
    Vertex,
    /// An integer, not negative.
    Integer,
    /// A number.
    Float,
    /// No value: the option is given or not.
    Flag,
    /// The name of a vertex property.
    Property,
    /// One of these names.
    Choice(&'static [&'static str]),
}

/// What happens when an option is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptDefault {
    /// Nothing special: the option is off.
    Off,
    /// As if this value were given.
    Value(&'static str),
    /// What this sentence says, such as `chosen from the weights`.
    Described(&'static str),
}

/// The numbers that an option takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptRange {
    /// All that its kind allows.
    All,
    /// This one and greater ones.
    From(f64),
    /// Greater ones than this.
    Above(f64),
    /// From the first to the second.
    Between(f64, f64),
}

impl OptRange {
    fn contains(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::All => true,
                Self::From(least) => value >= least,
                Self::Above(limit) => value > limit,
                Self::Between(least, most) => (least..=most).contains(&value),
            }
    }

    /// ` from 0 to 1`, for messages.
    fn describe(self) -> String {
        match self {
            Self::All => String::new(),
            Self::From(least) => format!(" from {least}"),
            Self::Above(limit) => format!(" above {limit}"),
            Self::Between(least, most) => format!(" from {least} to {most}"),
        }
    }
}

/// The value that leaves the choice to the algorithm, of options that have it.
pub const AUTO: &str = "auto";

/// The rates of a decomposition.
pub(super) const RATES: OptRange = OptRange::Between(0.001, 20.0);

/// One option of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Opt {
    /// Its name: `--name` on the command line, a keyword in Python.
    pub name: &'static str,
    /// The type of its value.
    pub kind: OptKind,
    /// What happens without it.
    pub default: OptDefault,
    /// Whether a run needs it.
    pub required: bool,
    /// Whether it may be given several times.
    pub repeatable: bool,
    /// The numbers that it takes, if it takes numbers.
    pub range: OptRange,
    /// Whether it takes [`AUTO`] too, which means the same as leaving the option out.
    pub has_auto: bool,
    /// Another option and its value, without which this one would have no effect.
    pub only_with: Option<(&'static str, &'static str)>,
    /// Those of its values with which the algorithm is defined for undirected graphs only.
    pub undirected: &'static [&'static str],
    /// Those of its values with which the algorithm needs in-lists.
    pub in_lists: &'static [&'static str],
    /// What it does.
    pub help: &'static str,
}

impl Opt {
    const fn new(name: &'static str, kind: OptKind, help: &'static str) -> Self {
        Self {
            name,
            kind,
            default: OptDefault::Off,
            required: false,
            repeatable: false,
            range: OptRange::All,
            has_auto: false,
            only_with: None,
            undirected: &[],
            in_lists: &[],
            help,
        }
    }

    pub(super) const fn vertex(name: &'static str, help: &'static str) -> Self {
        Self::new(name, OptKind::Vertex, help)
    }

    pub(super) const fn integer(name: &'static str, help: &'static str) -> Self {
        Self::new(name, OptKind::Integer, help)
    }

    pub(super) const fn float(name: &'static str, help: &'static str) -> Self {
        Self::new(name, OptKind::Float, help)
    }

    pub(super) const fn property(name: &'static str, help: &'static str) -> Self {
        Self::new(name, OptKind::Property, help)
    }

    pub(super) const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::new(name, OptKind::Flag, help)
    }

    /// The first of the names is the default, unless [`Opt::otherwise`] says more.
    pub(super) const fn choice(
        name: &'static str,
        names: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self::new(name, OptKind::Choice(names), help).or(names[0])
    }

    /// With a default value.
    pub(super) const fn or(self, value: &'static str) -> Self {
        Self { default: OptDefault::Value(value), ..self }
    }

    /// With a default that a sentence describes.
    pub(super) const fn otherwise(self, sentence: &'static str) -> Self {
        Self { default: OptDefault::Described(sentence), ..self }
    }

    /// Some of whose values are for undirected graphs only.
    pub(super) const fn undirected(self, values: &'static [&'static str]) -> Self {
        Self { undirected: values, ..self }
    }

    /// Some of whose values need in-lists.
    pub(super) const fn in_lists(self, values: &'static [&'static str]) -> Self {
        Self { in_lists: values, ..self }
    }

    /// That may be [`AUTO`], which is also the default; a sentence describes what is chosen.
    pub(super) const fn or_auto(self, sentence: &'static str) -> Self {
        Self { has_auto: true, ..self.otherwise(sentence) }
    }

    pub(super) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub(super) const fn repeatable(self) -> Self {
        Self { repeatable: true, ..self }
    }

    /// That takes numbers of this range only.
    pub(super) const fn within(self, range: OptRange) -> Self {
        Self { range, ..self }
    }

    /// That has an effect only if another option has this value.
    pub(super) const fn only_with(self, option: &'static str, value: &'static str) -> Self {
        Self { only_with: Some((option, value)), ..self }
    }

    /// What stands for the value in help: `ID`, `N`, `NUMBER`, `NAME`; empty for a flag.
    pub fn value_name(&self) -> &'static str {
        match self.kind {
            OptKind::Vertex => "ID",
            OptKind::Integer => "N",
            OptKind::Float => "NUMBER",
            OptKind::Choice(_) | OptKind::Property => "NAME",
            OptKind::Flag => "",
        }
    }

    /// The default as text; empty without one.
    pub fn default_text(&self) -> &'static str {
        match self.default {
            OptDefault::Off => "",
            OptDefault::Value(text) | OptDefault::Described(text) => text,
        }
    }

    /// Checks the text of a value.
    ///
    /// # Errors
    /// A sentence that says what the option takes.
    pub fn check(&self, text: &str) -> Result<(), Message> {
        let refuse = |takes: String| Err(message![AlgorithmOption::named(self.name), takes]);
        match self.kind {
            _ if self.has_auto && text == AUTO => Ok(()),
            OptKind::Integer if !text.parse::<u64>().is_ok_and(|value| self.range.contains(value as f64)) => {
                refuse(format!(" takes a whole number{}, not {text:?}", self.range.describe()))
            }
            OptKind::Float if !text.parse().is_ok_and(|value| self.range.contains(value)) => {
                let or_auto = if self.has_auto { ", or auto" } else { "" };
                refuse(format!(" takes a number{}{or_auto}, not {text:?}", self.range.describe()))
            }
            OptKind::Choice(names) if !names.contains(&text) => {
                let (last, others) = names.split_last().unwrap_or((&"", &[]));
                refuse(format!(" is {} or {last}, not {text:?}", others.join(", ")))
            }
            _ => Ok(()),
        }
    }
}
