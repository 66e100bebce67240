//! The options of an algorithm as names and texts, checked against what the algorithm declares.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// One option of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionSpec {
    /// Its name: `--name` on the command line.
    pub name: &'static str,
    /// What its value is: `ID`, `NUMBER`, `COUNT` ...; empty for a flag.
    pub value: &'static str,
    /// What it does, and its default.
    pub help: &'static str,
}

/// Values of options by name.
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

    /// The last value of an option, which overrides those before.
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
    /// [`Error::Usage`] if the text is not one.
    pub fn get<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>> {
        self.text(name)
            .map(|text| {
                text.parse().map_err(|_| {
                    let kind = if std::any::type_name::<T>().starts_with('f') {
                        "a number"
                    } else {
                        "a whole number"
                    };
                    Error::Usage(format!("--{name} takes {kind}, not {text:?}"))
                })
            })
            .transpose()
    }

    /// As [`Params::get`], with a default.
    ///
    /// # Errors
    /// As [`Params::get`].
    pub fn get_or<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T> {
        Ok(self.get(name)?.unwrap_or(default))
    }

    /// Refuses options that an algorithm does not have.
    ///
    /// # Errors
    /// [`Error::Usage`] that lists those it has.
    pub(crate) fn check(&self, algorithm: &str, specs: &[OptionSpec]) -> Result<()> {
        let unknown = self.0.keys().find(|name| !specs.iter().any(|spec| spec.name == **name));
        let Some(name) = unknown else { return Ok(()) };
        let known: Vec<String> = specs.iter().map(|spec| format!("--{}", spec.name)).collect();
        let known = if known.is_empty() {
            "it takes none".to_owned()
        } else {
            format!("it takes {}", known.join(", "))
        };
        Err(Error::Usage(format!("{algorithm} has no option --{name}; {known}")))
    }
}
