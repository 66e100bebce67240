//! Small changes written by hand, one a line, committed together:
//!
//! ```text
//! + u v weight=3 kind="best friend"   an edge is added, or its properties are set
//! - u v                               an edge is removed; values behind it are not looked at
//! ~ u v weight=3 -> 5 kind=rival      as `+`, with the values behind the arrows: so `esker diff` writes what changed
//! + u                                 a vertex is added
//! - u                                 a vertex is removed with its edges
//! u name=value other=value            properties of a vertex are set; `name=` takes a value away
//! # remark
//! ```
//!
//! What has spaces, quotes or `=` in it, is empty, or is a single sign stands in double quotes, with `\"` and `\\` inside.

use std::collections::HashSet;
use std::io::BufRead;
use std::path::Path;

use esker_store::format::ElementType;
use esker_store::property::PropertyValue;
use esker_store::{Batch, Database, Error, Result};

use super::target::Target;
use super::value::{Given, convert, number};
use super::vertices::Definitions;

/// What a script did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptReport {
    /// The version; `None`: the script has no changes.
    pub version: Option<u64>,
    /// Changes.
    pub changes: u64,
    /// Values that were rounded to the precision of their property.
    pub rounded: u64,
}

/// A word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    quoted: bool,
    /// What stands behind `=`.
    value: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Value {
    text: String,
    quoted: bool,
}

static NOTHING: Value = Value { text: String::new(), quoted: false };

/// Commits the changes of a script as one version. `path` is for messages.
///
/// # Errors
/// [`Error::Input`] with the line that is wrong: then nothing is committed; those of [`Database::commit`].
pub fn commit_script(
    database: &Database,
    target: &Target,
    script: &mut dyn BufRead,
    path: &Path,
    message: &str,
) -> Result<ScriptReport> {
    let mut maker = Maker {
        target,
        batch: database.batch(),
        definitions: Definitions::new(target),
        report: ScriptReport::default(),
        added: HashSet::new(),
    };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if script.read_until(b'\n', &mut line).map_err(Error::io("read", path))? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        maker.take(text).map_err(|reason| Error::Input {
            path: path.to_owned(),
            line: Some(number),
            text: text.chars().take(80).collect(),
            reason,
        })?;
    }
    let Maker { batch, mut report, .. } = maker;
    if report.changes > 0 {
        report.version = Some(database.commit(batch, message)?);
    }
    Ok(report)
}

struct Maker<'a> {
    target: &'a Target,
    batch: Batch,
    definitions: Definitions<'a>,
    report: ScriptReport,
    /// Ids that the script adds.
    added: HashSet<String>,
}

type Told<T> = std::result::Result<T, String>;

impl Maker<'_> {
    fn take(&mut self, line: &str) -> Told<()> {
        let words = words(line)?;
        let sign =
            words.first().filter(|word| !word.quoted && word.value.is_none()).map(|word| word.text.as_str());
        let sign = sign.filter(|sign| matches!(*sign, "+" | "-" | "~")).map(str::to_owned);
        let rest = &words[usize::from(sign.is_some())..];
        let ids = rest.iter().take_while(|word| word.value.is_none()).count();
        let (ids, values) = rest.split_at(ids);
        let values = replaced(values)?;
        let told = |error: Error| error.to_string();
        if sign.as_deref() != Some("-") {
            self.added.extend(ids.iter().map(|word| word.text.clone()));
        }
        match (sign.as_deref(), ids) {
            (Some("-"), [u, v]) => {
                let (u, v) = (self.target.id(&u.text).map_err(told)?, self.target.id(&v.text).map_err(told)?);
                self.batch.remove_edge(u, v).map_err(told)?;
            }
            (Some(_), [u, v]) => self.add_edge(&u.text, &v.text, &values)?,
            (Some("+"), [u]) if values.is_empty() => {
                self.batch.add_vertex(self.target.id(&u.text).map_err(told)?).map_err(told)?;
            }
            (Some("-"), [u]) if values.is_empty() => {
                let id = self.target.id(&u.text).map_err(told)?;
                if !self.added.contains(&u.text) {
                    self.target.expect_vertex(&u.text).map_err(told)?;
                }
                self.batch.remove_vertex(id).map_err(told)?;
            }
            (None | Some("~" | "+"), [u]) if !values.is_empty() => {
                self.set_vertex(&u.text, &values, sign.as_deref() == Some("+"))?;
            }
            _ => {
                return Err("a change is '+ u v name=value...', '- u v', '+ u', '- u' or 'u name=value...'; what has \
                            spaces or = in it stands in double quotes"
                    .to_owned());
            }
        }
        self.report.changes += 1;
        Ok(())
    }

    fn add_edge(&mut self, u: &str, v: &str, values: &[(&str, &Value)]) -> Told<()> {
        let told = |error: Error| error.to_string();
        let (source, end) = (self.target.id(u).map_err(told)?, self.target.id(v).map_err(told)?);
        let known = |name: &str| self.target.edge_properties.iter().any(|property| property.name == name);
        if let Some((name, _)) = values.iter().find(|(name, _)| !known(name)) {
            return Err(format!("there is no edge property {name:?}: {}", self.target.describe_edges()));
        }
        let mut converted: Vec<PropertyValue<'_>> = Vec::with_capacity(values.len());
        for property in &self.target.edge_properties {
            let Some((_, value)) = values.iter().rfind(|(name, _)| *name == property.name) else {
                return Err(format!(
                    "the edge has no value for {}: {}, and each needs one, as in {}=1",
                    property.name,
                    self.target.describe_edges(),
                    quoted(property.name.as_bytes())
                ));
            };
            let (value, rounded) = convert(property, Given::Text(value.text.as_bytes())).map_err(told)?;
            self.report.rounded += u64::from(rounded);
            converted.push(value);
        }
        self.batch.add_edge(source, end, &converted).map_err(told)
    }

    fn set_vertex(&mut self, u: &str, values: &[(&str, &Value)], added: bool) -> Told<()> {
        let told = |error: Error| error.to_string();
        let id = self.target.id(u).map_err(told)?;
        if added {
            self.batch.add_vertex(id).map_err(told)?;
        }
        for (name, value) in values {
            if value.text.is_empty() && !value.quoted {
                self.definitions.expect(name).map_err(told)?;
                self.batch.set_vertex(id, name, None).map_err(told)?;
                continue;
            }
            let bytes = value.text.as_bytes();
            let element = match number(bytes) {
                _ if value.quoted => None,
                Some(Given::Int(_)) => Some(ElementType::I64),
                Some(_) => Some(ElementType::F64),
                None => None,
            };
            let property = self.definitions.define(&mut self.batch, name, element);
            let (value, rounded) = convert(&property, Given::Text(bytes)).map_err(told)?;
            self.report.rounded += u64::from(rounded);
            self.batch.set_vertex(id, name, Some(value)).map_err(told)?;
        }
        Ok(())
    }
}

/// Names and values; of `name=old -> new`, the new one.
fn replaced(words: &[Word]) -> Told<Vec<(&str, &Value)>> {
    let mut values: Vec<(&str, &Value)> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(value) = &word.value else {
            return Err(format!("{:?} is no name=value, and ids stand before those", word.text));
        };
        at += 1;
        let arrow =
            words.get(at).is_some_and(|word| !word.quoted && word.value.is_none() && word.text == "->");
        if !arrow {
            values.push((&word.text, value));
            continue;
        }
        // Behind an arrow stands a value without a name; nothing, if the value is taken away.
        let new = words.get(at + 1).and_then(|word| word.value.as_ref());
        values.push((&word.text, new.unwrap_or(&NOTHING)));
        at += 2;
    }
    Ok(values)
}

/// The words of a line. The word behind an arrow is a value without a name.
fn words(line: &str) -> Told<Vec<Word>> {
    let mut words: Vec<Word> = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(words);
        }
        let is_value =
            words.last().is_some_and(|word| !word.quoted && word.value.is_none() && word.text == "->");
        let (text, is_quoted) = part(&mut rest, !is_value)?;
        if is_value {
            words.push(Word {
                text: String::new(),
                quoted: false,
                value: Some(Value { text, quoted: is_quoted }),
            });
            continue;
        }
        let mut value = None;
        if let Some(behind) = rest.strip_prefix('=') {
            rest = behind;
            let (text, quoted) = part(&mut rest, false)?;
            value = Some(Value { text, quoted });
        }
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return Err("a quotation mark ends before its word does".to_owned());
        }
        words.push(Word { text, quoted: is_quoted, value });
    }
}

/// A text in quotes, or up to the next space (or `=`).
fn part(rest: &mut &str, until_equals: bool) -> Told<(String, bool)> {
    let Some(inside) = rest.strip_prefix('"') else {
        let end = rest.find(|c: char| c.is_whitespace() || (until_equals && c == '=')).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(end);
        *rest = behind;
        return Ok((text.to_owned(), false));
    };
    let mut text = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                *rest = &inside[at + 1..];
                return Ok((text, true));
            }
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, 'r')) => text.push('\r'),
                Some((_, other)) => text.push(other),
                None => break,
            },
            c => text.push(c),
        }
    }
    Err("a quotation mark is not closed".to_owned())
}

/// A text as it stands in a script: in quotes if it must.
pub fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let special = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '=' | '\\');
    let plain = !text.is_empty()
        && !text.contains(special)
        && !text.starts_with('#')
        && !matches!(&*text, "+" | "-" | "~" | "->");
    if plain {
        return text.into_owned();
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(line: &str) -> Vec<(String, Option<String>)> {
        let words = words(line).unwrap();
        words.into_iter().map(|word| (word.text, word.value.map(|value| value.text))).collect()
    }

    fn word(text: &str, value: Option<&str>) -> (String, Option<String>) {
        (text.to_owned(), value.map(str::to_owned))
    }

    #[test]
    fn lines_are_split_into_words() {
        let expected = [word("+", None), word("u", None), word("best friend", None), word("w", Some("3"))];
        assert_eq!(shape("+ u  \"best friend\" w=3"), expected);
        assert_eq!(
            shape("u \"a=b\"=\"c d\" e= f=a=b"),
            [word("u", None), word("a=b", Some("c d")), word("e", Some("")), word("f", Some("a=b")),]
        );
        assert_eq!(shape(r#""say \"hi\\\"" "" "#), [word("say \"hi\\\"", None), word("", None)]);
        for line in ["\"open", "\"a\"b", "x=\"a\"b", "\"end\\"] {
            assert!(words(line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_is_quoted_is_read_back() {
        for text in [
            "alice",
            "two words",
            "",
            "+",
            "->",
            "a=b",
            "#1",
            "\"",
            "\\",
            "tab\tnew\nline\r",
            "été",
            "a#b",
            "-1",
        ] {
            let line = format!("{} v", quoted(text.as_bytes()));
            assert_eq!(shape(&line), [word(text, None), word("v", None)], "{line}");
            let line = format!(
                "u {}={} -> {}",
                quoted(text.as_bytes()),
                quoted(text.as_bytes()),
                quoted(text.as_bytes())
            );
            let words = words(&line).unwrap();
            let values = replaced(&words[1..]).unwrap();
            assert_eq!((values[0].0, &*values[0].1.text), (text, text), "{line}");
        }
    }
}
