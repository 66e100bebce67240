//! The parameters of a request.

use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};

/// A parameter that a route takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) form: Form,
    pub(crate) required: bool,
    pub(crate) repeatable: bool,
}

/// What a parameter may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// Any text.
    Text,
    /// A whole number: the value without the parameter, the least and the greatest.
    Count {
        /// The value without the parameter.
        default: usize,
        /// The least value.
        least: usize,
        /// The greatest value.
        max: usize,
    },
    /// `true` or `false`.
    Flag,
    /// One of these words; the first without the parameter.
    Choice(&'static [&'static str]),
}

impl Parameter {
    /// A text.
    pub(crate) const fn text(name: &'static str, about: &'static str) -> Self {
        Self { name, about, form: Form::Text, required: false, repeatable: false }
    }

    /// A whole number.
    pub(crate) const fn count(name: &'static str, default: usize, max: usize, about: &'static str) -> Self {
        Self { form: Form::Count { default, least: 0, max }, ..Self::text(name, about) }
    }

    /// A whole number that is not zero.
    pub(crate) const fn some(name: &'static str, default: usize, max: usize, about: &'static str) -> Self {
        Self { form: Form::Count { default, least: 1, max }, ..Self::text(name, about) }
    }

    /// `true` or `false`.
    pub(crate) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self { form: Form::Flag, ..Self::text(name, about) }
    }

    /// One of some words.
    pub(crate) const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        Self { form: Form::Choice(words), ..Self::text(name, about) }
    }

    /// The same, without which the request is refused.
    pub(crate) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// The same, which may be given several times.
    pub(crate) const fn repeatable(self) -> Self {
        Self { repeatable: true, ..self }
    }

    /// What the OpenAPI document says of it.
    pub(crate) fn described(&self) -> Value {
        let schema = match self.form {
            Form::Text => json!({ "type": "string" }),
            Form::Count { default, least, max } => {
                json!({ "type": "integer", "minimum": least, "maximum": max, "default": default })
            }
            Form::Flag => json!({ "type": "boolean", "default": false }),
            Form::Choice(words) => json!({ "type": "string", "enum": words, "default": words[0] }),
        };
        let schema = if self.repeatable { json!({ "type": "array", "items": schema }) } else { schema };
        json!({
            "name": self.name,
            "in": "query",
            "required": self.required,
            "description": self.about,
            "schema": schema,
        })
    }

    /// Refuses a value that it may not be.
    fn check(&self, value: &str) -> Outcome<()> {
        let name = self.name;
        match self.form {
            Form::Text => Ok(()),
            Form::Count { least, max, .. }
                if value.parse::<usize>().is_ok_and(|number| (least..=max).contains(&number)) =>
            {
                Ok(())
            }
            Form::Count { least, max, .. } => {
                Err(Failure::usage(format!("{name} is a whole number from {least} to {max}, not {value:?}")))
            }
            Form::Flag if matches!(value, "true" | "false") => Ok(()),
            Form::Flag => Err(Failure::usage(format!("{name} is true or false, not {value:?}"))),
            Form::Choice(words) if words.contains(&value) => Ok(()),
            Form::Choice(words) => {
                Err(Failure::usage(format!("{name} is one of {}, not {value:?}", words.join(", "))))
            }
        }
    }
}

/// The parameters of one request, checked against those of its route.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    known: &'static [&'static [Parameter]],
    given: Vec<(String, String)>,
}

impl Query {
    /// Reads what stands behind the `?` of an address.
    pub(crate) fn parse(text: &str, known: &'static [&'static [Parameter]]) -> Outcome<Self> {
        Self::of(form_urlencoded::parse(text.as_bytes()).into_owned().collect(), known)
    }

    /// The same of names and values.
    pub(crate) fn of(given: Vec<(String, String)>, known: &'static [&'static [Parameter]]) -> Outcome<Self> {
        let query = Self { known, given };
        for (place, (name, value)) in query.given.iter().enumerate() {
            let Some(parameter) = query.parameters().find(|parameter| parameter.name == name) else {
                let names: Vec<&str> = query.parameters().map(|parameter| parameter.name).collect();
                let takes = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(Failure::usage(format!(
                    "there is no parameter {name:?}; the request takes {takes}"
                )));
            };
            // Only for those that are given once: the others may be thousands.
            let is_repeated = || query.given[..place].iter().any(|(before, _)| before == name);
            if !parameter.repeatable && is_repeated() {
                return Err(Failure::usage(format!("{name} is given twice")));
            }
            parameter.check(value)?;
        }
        match query.parameters().find(|parameter| parameter.required && query.text(parameter.name).is_none())
        {
            Some(missing) => {
                Err(Failure::usage(format!("the request needs {}: {}", missing.name, missing.about)))
            }
            None => Ok(query),
        }
    }

    fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        self.known.iter().flat_map(|parameters| parameters.iter())
    }

    /// The value of a parameter, if it is given.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All values of a parameter.
    pub(crate) fn all<'q>(&'q self, name: &str) -> impl Iterator<Item = &'q str> {
        self.given.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter that is required.
    pub(crate) fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// A whole number, or what it is without the parameter.
    pub(crate) fn count(&self, name: &str) -> usize {
        let default = self.parameters().find(|parameter| parameter.name == name).map(|one| one.form);
        let default = if let Some(Form::Count { default, .. }) = default { default } else { 0 };
        self.text(name).and_then(|value| value.parse().ok()).unwrap_or(default)
    }

    /// Whether a flag is `true`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// Refuses a parameter that says nothing without another one.
    pub(crate) fn needs(&self, name: &str, other: &str) -> Outcome<()> {
        match self.text(name).is_none() || self.text(other).is_some() {
            true => Ok(()),
            false => {
                Err(Failure::usage(format!("{name} says nothing without {other}: give both, or neither")))
            }
        }
    }

    /// The word that is chosen.
    pub(crate) fn choice(&self, name: &str) -> &str {
        let form = self.parameters().find(|parameter| parameter.name == name).map(|one| one.form);
        let default = if let Some(Form::Choice(words)) = form { words[0] } else { "" };
        self.text(name).unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static KNOWN: &[&[Parameter]] = &[
        &[Parameter::text("id", "The id").required(), Parameter::text("ego", "").repeatable()],
        &[
            Parameter::count("limit", 20, 100, ""),
            Parameter::flag("reverse", ""),
            Parameter::choice("direction", &["out", "in"], ""),
        ],
    ];

    #[test]
    fn parameters_are_decoded_and_have_defaults() {
        let query = Query::parse("id=a%26b+c&ego=1&ego=2&limit=7", KNOWN).expect("a query");
        assert_eq!((query.required("id"), query.count("limit")), ("a&b c", 7));
        assert_eq!(query.all("ego").collect::<Vec<_>>(), ["1", "2"]);
        let query = Query::parse("id=", KNOWN).expect("a query");
        assert_eq!(
            (query.count("limit"), query.flag("reverse"), query.choice("direction")),
            (20, false, "out")
        );
    }

    #[test]
    fn what_is_unknown_missing_repeated_or_out_of_range_is_refused() {
        let refused = |text: &str| match Query::parse(text, KNOWN) {
            Err(Failure::Refused { message, .. }) => message,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(refused("limit=1"), "the request needs id: The id");
        assert_eq!(refused("id=1&id=2"), "id is given twice");
        assert_eq!(refused("id=1&limit=101"), "limit is a whole number from 0 to 100, not \"101\"");
        assert_eq!(refused("id=1&reverse=1"), "reverse is true or false, not \"1\"");
        assert_eq!(refused("id=1&direction=up"), "direction is one of out, in, not \"up\"");
        assert!(refused("id=1&x=2").starts_with("there is no parameter \"x\"; the request takes id, ego"));
    }
}
