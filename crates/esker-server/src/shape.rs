//! What answers look like, for the OpenAPI document.

use serde_json::{Map, Value, json};

use crate::failure::{Failure, Outcome};

/// The shape of a value in JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// A text. Ids are texts, also those of numbers.
    Text,
    /// A number without a fraction; a text beyond 2^53.
    Count,
    /// A number.
    Number,
    /// Yes or no.
    Flag,
    /// Any value: that of a property.
    Any,
    /// A value or null.
    Maybe(&'static Self),
    /// A list.
    List(&'static Self),
    /// An object whose names come from the data.
    Named(&'static Self),
    /// An object with these members.
    Object(&'static [(&'static str, Self)]),
    /// An object that may have some members.
    Partial(&'static [(&'static str, Self)], &'static [(&'static str, Self)]),
    /// No body.
    Nothing,
    /// Events: their names, and the shape of the data of each.
    Events(&'static [(&'static str, Self)]),
    /// A file.
    File,
}

/// The greatest integer up to which JavaScript tells all integers apart.
const SAFE_MAX: u64 = 1 << 53;

impl Shape {
    /// The schema in the words of OpenAPI 3.1.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::Count => json!({ "type": ["integer", "string"] }),
            Self::Number => json!({ "type": ["number", "string"] }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Any | Self::Nothing | Self::File => json!({}),
            Self::Maybe(inner) => json!({ "anyOf": [inner.schema(), { "type": "null" }] }),
            Self::List(inner) => json!({ "type": "array", "items": inner.schema() }),
            Self::Named(inner) => json!({ "type": "object", "additionalProperties": inner.schema() }),
            Self::Object(members) => object(members, &[]),
            Self::Partial(members, more) => object(members, more),
            Self::Events(events) => {
                let variants: Vec<Value> = events.iter().map(|(_, data)| data.schema()).collect();
                json!({ "anyOf": variants })
            }
        }
    }

    /// Refuses a body that is no object, or has members that an object of this shape has not.
    pub(crate) fn check_members(self, body: &Value) -> Outcome<()> {
        let (members, more): (&[_], &[_]) = match self {
            Self::Object(members) => (members, &[]),
            Self::Partial(members, more) => (members, more),
            _ => return Ok(()),
        };
        let Value::Object(given) = body else { return Err(Failure::usage("the body is an object")) };
        let names: Vec<&str> = members.iter().chain(more).map(|(name, _)| *name).collect();
        match given.keys().find(|name| !names.contains(&name.as_str())) {
            Some(other) => {
                Err(Failure::usage(format!("the body has no {other:?}, but {}", names.join(", "))))
            }
            None => Ok(()),
        }
    }

    /// The media type of a response with this shape.
    pub(crate) fn media_type(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Events(_) => Some("text/event-stream"),
            Self::File => Some("application/octet-stream"),
            _ => Some("application/json"),
        }
    }
}

fn object(members: &[(&'static str, Shape)], more: &[(&'static str, Shape)]) -> Value {
    let all = members.iter().chain(more);
    let properties: Map<String, Value> =
        all.map(|(name, shape)| ((*name).to_owned(), shape.schema())).collect();
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The same value, with texts in place of integers that JavaScript would round.
pub(crate) fn with_safe_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let is_unsafe = number.as_u64().is_some_and(|whole| whole > SAFE_MAX)
                || number.as_i64().is_some_and(|whole| whole.unsigned_abs() > SAFE_MAX);
            if is_unsafe { Value::String(number.to_string()) } else { Value::Number(number) }
        }
        Value::Array(values) => values.into_iter().map(with_safe_numbers).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, with_safe_numbers(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_would_be_rounded_are_texts() {
        let value = json!({ "a": [SAFE_MAX, SAFE_MAX + 1, -9_007_199_254_740_993_i64, 1e300, "x"] });
        let safe = json!({ "a": [SAFE_MAX, "9007199254740993", "-9007199254740993", 1e300, "x"] });
        assert_eq!(with_safe_numbers(value), safe);
    }
}
