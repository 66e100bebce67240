//! The options that were given to an algorithm: names and texts, checked against the options that it
//! declares.

use std::collections::BTreeMap;

use esker_graph::{AlgorithmOption, Message, Setting, message};

use super::option::{AUTO, Opt};
use crate::error::{Error, Result};

/// The error for an algorithm that is given both vertices to begin with and a number of them to draw.
pub(super) fn source_or_samples() -> Error {
    let (source, samples) = (Setting::Source, Setting::Samples);
    Error::usage(message!["give either ", source, " or ", samples, ", not both"])
}

/// An option of an algorithm, for a message.
fn named(name: &str) -> AlgorithmOption {
    AlgorithmOption::named(name)
}

/// Values of options by name.
///
/// ```
/// use esker::catalogue::Params;
///
/// let params = Params::default().with("source", "alice").with("source", "bob").with("depth", "3");
/// assert_eq!(params.all("source"), ["alice", "bob"]); // some options are repeatable
/// assert_eq!(params.get::<u32>("depth")?, Some(3));
/// assert_eq!(params.get_or("target", 7)?, 7);
/// # Ok::<(), esker::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Params(BTreeMap<String, Vec<String>>);

impl Params {
    /// Adds a value; an option may be given several times.
    pub fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.entry(name.to_owned()).or_default().push(value.into());
    }

    /// With one more value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.add(name, value);
        self
    }

    /// All values of an option, in the order given.
    pub fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Leaves some of the values of an option.
    pub(crate) fn retain(&mut self, name: &str, mut keep: impl FnMut(&str) -> bool) {
        if let Some(values) = self.0.get_mut(name) {
            values.retain(|value| keep(value));
        }
    }

    /// The value of an option that is not repeatable.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.all(name).last().map(String::as_str)
    }

    /// Whether a flag was given.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| value != "false")
    }

    /// A value read as `T`.
    ///
    /// # Errors
    /// [`Error::Usage`] if the type cannot hold it.
    pub fn get<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>> {
        let read = |text: &str| {
            let reason = || message![named(name), format!(" cannot be {text:?}: it is out of range")];
            text.parse().map_err(|_| Error::usage(reason()))
        };
        self.text(name).map(read).transpose()
    }

    /// As [`Params::get`], of an option that may be [`AUTO`]: then `None`.
    ///
    /// # Errors
    /// As [`Params::get`].
    pub(super) fn get_unless_auto<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>> {
        if self.text(name) == Some(AUTO) { Ok(None) } else { self.get(name) }
    }

    /// As [`Params::get`], with a default.
    ///
    /// # Errors
    /// As [`Params::get`].
    pub fn get_or<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T> {
        Ok(self.get(name)?.unwrap_or(default))
    }

    /// Refuses options that an algorithm does not have, and values of the wrong type.
    ///
    /// # Errors
    /// [`Error::Usage`] that says what the algorithm or the option takes.
    pub(super) fn check(&self, algorithm: &str, options: &[Opt]) -> Result<()> {
        for (name, values) in &self.0 {
            let Some(option) = options.iter().find(|option| option.name == name) else {
                return Err(unknown(algorithm, name, options));
            };
            values.iter().try_for_each(|value| option.check(value)).map_err(Error::usage)?;
            if values.len() > 1 && !option.repeatable {
                let (takes, given) = (format!("{algorithm} takes one "), format!(", not {}", values.len()));
                return Err(Error::usage(message![takes, named(name), given]));
            }
            if let Some((other, value)) = option.only_with
                && self.text(other) != Some(value)
            {
                let needed = named(other).to(value);
                return Err(Error::usage(message![named(name), " has no effect without ", needed]));
            }
        }
        Ok(())
    }

    /// Refuses a run without its required options.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the first one.
    pub(super) fn check_required(&self, algorithm: &str, options: &[Opt]) -> Result<()> {
        match options.iter().find(|option| option.required && self.all(option.name).is_empty()) {
            None => Ok(()),
            Some(option) => {
                let value = option.value_name();
                let needed = named(option.name).to(value);
                Err(Error::usage(message![
                    format!("{algorithm} needs "),
                    needed,
                    format!(": {}", option.help)
                ]))
            }
        }
    }
}

/// The error for an option that the algorithm does not have.
fn unknown(algorithm: &str, name: &str, options: &[Opt]) -> Error {
    let known = Message::join(options.iter().map(|option| named(option.name).into()), ", ");
    let known = if known.is_empty() { "it takes none".into() } else { message!["it takes ", known] };
    Error::usage(message![format!("{algorithm} has no option "), named(name), "; ", known])
}
