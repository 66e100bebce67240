//! An element of a JSON document: its names, and their values as they stand.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::attributed::value::Attribute;
use crate::attributed::xml::truth;

/// Objects whose names are taken as those of the element.
const WRAPPERS: [&str; 2] = ["data", "attributes"];

/// Names and values.
pub(super) type Fields<'a> = Vec<(Cow<'a, str>, &'a str)>;

/// Reads an element into `fields`, which is emptied first. A scalar has no names.
///
/// # Errors
/// If it is no JSON.
pub(super) fn read<'a>(text: &'a str, fields: &mut Fields<'a>) -> Result<(), serde_json::Error> {
    fields.clear();
    if !text.starts_with('{') {
        return serde_json::from_str::<&RawValue>(text).map(|_| ());
    }
    read_object(text, fields)?;
    let mut index = 0;
    while index < fields.len() {
        let (name, value) = &fields[index];
        if WRAPPERS.contains(&name.as_ref()) && value.starts_with('{') {
            let (_, value) = fields.swap_remove(index);
            let mut inner = Vec::new();
            read_object(value, &mut inner)?;
            fields.extend(inner.into_iter().filter(|(name, _)| !WRAPPERS.contains(&name.as_ref())));
            continue;
        }
        if value.starts_with('"') && value.contains('\\') {
            // What is escaped wrongly is found here.
            serde_json::from_str::<String>(value)?;
        }
        index += 1;
    }
    Ok(())
}

fn read_object<'a>(text: &'a str, fields: &mut Fields<'a>) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_map(IntoFields(fields))?;
    reader.end()
}

struct IntoFields<'f, 'a>(&'f mut Fields<'a>);

impl<'a> Visitor<'a> for IntoFields<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(Name)? {
            let value: &'a RawValue = map.next_value()?;
            self.0.push((name, value.get()));
        }
        Ok(())
    }
}

/// A name, which is borrowed if nothing in it is escaped.
struct Name;

impl<'a> DeserializeSeed<'a> for Name {
    type Value = Cow<'a, str>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for Name {
    type Value = Cow<'a, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'a str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

/// What a value is. `None`: null. Arrays and objects are texts.
pub(super) fn value_of(text: &str) -> Option<Attribute<'_>> {
    Some(match text.as_bytes() {
        b"null" | b"" => return None,
        b"true" => Attribute::Boolean(true),
        b"false" => Attribute::Boolean(false),
        [b'"', inside @ .., b'"'] if !inside.contains(&b'\\') => {
            Attribute::Text(Cow::Borrowed(&text[1..text.len() - 1]))
        }
        [b'"', ..] => Attribute::Text(Cow::Owned(serde_json::from_str(text).unwrap_or_default())),
        [b'{' | b'[', ..] => Attribute::Text(Cow::Borrowed(text)),
        digits => Attribute::of_number(digits).unwrap_or(Attribute::Text(Cow::Borrowed(text))),
    })
}

/// A text in which `NaN`, which Python writes for a missing number, is `null`; `None` if there is none.
pub(super) fn without_nan(text: &str) -> Option<String> {
    let (mut out, mut from, mut in_string, mut at) = (String::new(), 0, false, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'N' if !in_string && bytes[at..].starts_with(b"NaN") => {
                out.push_str(&text[from..at]);
                out.push_str("null");
                at += 3;
                from = at;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    (from > 0).then(|| out + &text[from..])
}

/// The name of the id of a vertex, if it has one.
pub(super) fn id_name(fields: &Fields<'_>) -> Option<&'static str> {
    ["id", "key"].into_iter().find(|name| fields.iter().any(|(own, _)| own == name))
}

/// What a value says that says yes or no.
pub(super) fn truth_of(name: &str, text: &str) -> std::result::Result<Option<bool>, String> {
    if text == "null" { Ok(None) } else { truth(name, text.trim_matches('"')) }
}
