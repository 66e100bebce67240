//! Change scripts: one change per line, all committed as one version.
//!
//! ```text
//! + u v weight=3 kind="best friend"   adds an edge, or sets the properties of an existing one
//! - u v                               removes an edge, of parallel edges all; other values are ignored
//! - u v kind=x                        where edges are parallel: removes those that have these values
//! -2 u v kind=x                       where edges are parallel: removes two of these
//! +2 u v weight=3 kind=x              where edges are parallel: adds two edges, at most a million in a line
//! - u v edge_id=v7.2                  where edges have ids: removes the one with this id, which must exist
//! ~ u v weight=3 -> 5 kind=rival      sets the properties of an edge to the values after the arrows,
//!                                     whatever the rule for duplicates says; `esker diff` writes changed
//!                                     edges so; where edges are parallel, the values have to name a kind
//! + u                                 adds a vertex
//! - u                                 removes a vertex with its edges
//! u name=value other=value            sets properties of a vertex, which must exist; `name=` removes a value
//! + u v weight=~ kind=x               adds an edge without a weight
//! # comment
//! ```
//!
//! Where edges are parallel, `esker diff` writes how many it means.
//!
//! A word that contains spaces, quotes or `=`, is empty, or is one of `+ - ~ ->` is put in double quotes,
//! with `\"` for a quote and `\\` for a backslash.

use std::io::{BufRead, Read};
use std::path::Path;

use esker_graph::{Message, Setting, message};
use esker_import::read::format::LINE_BYTES_MAX;
use esker_import::read::typed::sniff_type;
use esker_store::format::{PropertyRecord, PropertyType};
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{Batch, CommitOptions, Error, Result};

use super::definitions::Definitions;
use super::destination::Destination;
use super::named::ScriptVertices;
use super::room::Room;
use super::target::Target;
use super::value::{InputValue, convert_or_widen};

/// Lines, and bytes of lines, between two reservations of the memory of the batch.
const ROOM_EVERY_LINES: u64 = 1 << 10;
const ROOM_EVERY_BYTES: usize = 1 << 18;

/// Report of [`commit_script`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptReport {
    /// The committed version; `None` if the script has no changes.
    pub version: Option<u64>,
    /// Number of changes.
    pub changes: u64,
}

/// A word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    quoted: bool,
    /// The value after `=`.
    value: Option<RawValue>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawValue {
    pub(super) text: String,
    quoted: bool,
}

/// What a line begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sign {
    /// `+`, `-` or `~`.
    kind: char,
    /// The number after it, of `+` and `-` only.
    count: Option<u64>,
}

impl Sign {
    fn of(word: &str) -> Option<Self> {
        let kind = word.chars().next().filter(|kind| matches!(kind, '+' | '-' | '~'))?;
        let digits = &word[1..];
        match digits.bytes().all(|byte| byte.is_ascii_digit()) && kind != '~' {
            true if !digits.is_empty() => Some(Self { kind, count: Some(digits.parse().ok()?) }),
            _ if digits.is_empty() => Some(Self { kind, count: None }),
            _ => None,
        }
    }
}

impl Word {
    pub(super) fn is_arrow(&self) -> bool {
        !self.quoted && self.value.is_none() && self.text == "->"
    }
}

impl RawValue {
    /// Whether this is the word for no value.
    fn is_missing(&self) -> bool {
        self.text == MISSING_WORD && !self.quoted
    }

    /// The value of an edge.
    pub(super) fn given(&self, property: &PropertyRecord) -> LineResult<InputValue<'_>> {
        if self.is_missing() {
            return Ok(InputValue::Missing);
        }
        if self.text.is_empty() && !self.quoted && !property.is_text() {
            let name = quoted(property.name.as_bytes());
            return refuse(format!(
                "nothing stands for {}: give a value, or {name}={MISSING_WORD} for an edge without one",
                property.name
            ));
        }
        Ok(InputValue::Text(self.text.as_bytes()))
    }
}

/// Stands for a missing value. As a text it is quoted.
pub(crate) const MISSING_WORD: &str = "~";

static NO_VALUE: RawValue = RawValue { text: String::new(), quoted: false };

/// Commits the changes of a script as one version. `path` appears in error messages.
///
/// Unless `allow_unknown` is set, all but the lines that add name vertices that exist, or that an earlier
/// line adds. If it is, there is nothing to remove of unknown vertices, and properties of them add them.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let read = esker::import::ReadOptions {
/// #     properties: esker::import::PickProperties::All,
/// #     ..Default::default()
/// # };
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
/// use esker::change::{Target, commit_script};
/// use esker::store::{CommitOptions, Database, DatabaseOptions};
///
/// let db = Database::open(&path, DatabaseOptions::default())?;
/// let mut script: &[u8] = b"+ carol alice\n- alice bob\n";
/// let (target, options) = (Target::of(&db)?, CommitOptions::default());
/// commit_script(&db, &target, &mut script, "script".as_ref(), false, &options)?;
/// assert_eq!(db.latest()?.num_edges(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Input`] with the number of the invalid line, and nothing is committed; those of
/// [`esker_store::Database::commit`].
pub fn commit_script<'a>(
    database: impl Into<Destination<'a>>,
    target: &Target,
    script: &mut dyn BufRead,
    path: &Path,
    allow_unknown: bool,
    options: &CommitOptions,
) -> Result<ScriptReport> {
    let database = database.into();
    target.expect_event_time(options)?;
    let (batch, definitions, report) = (database.batch()?, Definitions::new(target), ScriptReport::default());
    let named = ScriptVertices::default();
    let mut parser = ScriptParser { target, batch, definitions, report, allow_unknown, named };
    let mut line = Vec::new();
    let (mut room, mut unreserved) = (Room::default(), 0);
    for number in 1.. {
        line.clear();
        let mut bounded = script.take(LINE_BYTES_MAX as u64 + 1);
        if bounded.read_until(b'\n', &mut line).map_err(Error::io("read", path))? == 0 {
            break;
        }
        // Also of a comment: what is not read of it would be taken for another line.
        let is_too_long = line.len() > LINE_BYTES_MAX && line.last() != Some(&b'\n');
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if !is_too_long && (text.is_empty() || text.starts_with('#')) {
            continue;
        }
        let taken = match std::str::from_utf8(&line) {
            _ if is_too_long => {
                refuse(format!("the line is longer than {LINE_BYTES_MAX} bytes: put fewer values into it"))
            }
            Ok(_) => parser.take_line(text),
            Err(_) => refuse("the line is not UTF-8, so its ids would become others; convert the script"),
        };
        taken.map_err(|reason| Error::Input {
            path: path.to_owned(),
            line: Some(number),
            text: text.chars().take(80).collect(),
            reason,
        })?;
        unreserved += line.len();
        if number % ROOM_EVERY_LINES == 0 || unreserved > ROOM_EVERY_BYTES {
            unreserved = 0;
            room.make(database, &mut parser.batch)?;
        }
    }
    room.finish(database, &mut parser.batch, 0)?;
    let ScriptParser { batch, mut report, .. } = parser;
    if report.changes > 0 {
        report.version = Some(database.commit_with(batch, options)?.version);
    }
    Ok(report)
}

/// Collects the changes of a script in a batch.
pub(super) struct ScriptParser<'a> {
    pub(super) target: &'a Target,
    pub(super) batch: Batch,
    definitions: Definitions<'a>,
    report: ScriptReport,
    /// Whether lines that do not add may name vertices that do not exist.
    allow_unknown: bool,
    named: ScriptVertices,
}

/// The error is the reason why a line is invalid.
pub(super) type LineResult<T> = std::result::Result<T, Message>;

pub(super) fn refuse<T>(reason: impl Into<Message>) -> LineResult<T> {
    Err(reason.into())
}

impl ScriptParser<'_> {
    fn take_line(&mut self, line: &str) -> LineResult<()> {
        let words = words(line)?;
        let sign =
            words.first().filter(|word| !word.quoted && word.value.is_none()).map(|word| word.text.as_str());
        let sign = sign.and_then(Sign::of);
        // Without a sign there is one id, which may look like a sign with a number.
        let ids_of = |words: &[Word]| words.iter().take_while(|word| word.value.is_none()).count();
        let sign = sign.filter(|sign| sign.count.is_none() || ids_of(&words) == 3);
        let rest = &words[usize::from(sign.is_some())..];
        let (ids, given) = rest.split_at(ids_of(rest));
        if let (Some(Sign { kind, count: Some(count) }), [u, v]) = (&sign, ids) {
            self.change_some(*kind, *count, [u, v], given)?;
            self.report.changes += 1;
            return Ok(());
        }
        let sign = sign.map(|sign| sign.kind);
        let values = new_values(given)?;
        // Report a malformed line before an unknown vertex.
        let is_change = match (sign, ids.len()) {
            (Some(_), 2) | (Some('+'), 1) => true,
            (Some('-'), 1) => values.is_empty(),
            (None | Some('~'), 1) => !values.is_empty(),
            _ => false,
        };
        if !is_change {
            return refuse(no_change());
        }
        match ids {
            [u, v] => {
                self.expect_same_kind(given)?;
                let ends = [self.name_vertex(u, sign, 2)?, self.name_vertex(v, sign, 2)?];
                self.change_edge(sign, ends, &values)?;
            }
            [u] => {
                let id = self.name_vertex(u, sign, 1)?;
                match (sign, values.is_empty()) {
                    (Some('+'), true) => self.batch.add_vertex(id).map_err(|error| error.message())?,
                    (Some('-'), true) => self.batch.remove_vertex(id).map_err(|error| error.message())?,
                    (None | Some('~' | '+'), false) => {
                        self.set_vertex(&u.text, &values, sign == Some('+'))?;
                    }
                    _ => return refuse(no_change()),
                }
            }
            _ => return refuse(no_change()),
        }
        self.report.changes += 1;
        Ok(())
    }

    /// Adds, removes or changes the edges between two vertices that have some values, or all.
    fn change_edge(
        &mut self,
        sign: Option<char>,
        [u, v]: [ExternalId<'_>; 2],
        values: &[(&str, &RawValue)],
    ) -> LineResult<()> {
        let rule = self.batch.duplicates();
        match sign {
            Some('-') if !values.is_empty() && self.target.multigraph => {
                self.remove_edges([u, v], values, None)
            }
            Some('-') => self.batch.remove_edge(u, v).map_err(|error| error.message()),
            Some('~') if self.target.multigraph => {
                if !rule.keeps_parallel() && values.iter().any(|(name, _)| self.is_kind(name)) {
                    return self.replace_edge([u, v], values);
                }
                refuse("`~` does not say how many of several parallel edges change: remove them with `-1`, and add them with \
                            their new values with `+`"
                    .to_owned())
            }
            Some('~') => self.replace_edge([u, v], values),
            _ => self.add_edge([u, v], values),
        }
    }

    /// The id of a vertex. Notes one that a line adds or removes; expects it to exist if the line does not
    /// add it.
    pub(super) fn name_vertex<'w>(
        &mut self,
        word: &'w Word,
        sign: Option<char>,
        num_ids: usize,
    ) -> LineResult<ExternalId<'w>> {
        let id = self.target.id(word.text.as_bytes()).map_err(|error| error.message())?;
        let hash = self.named.hash(id);
        let adds = sign == Some('+');
        if !adds && !self.allow_unknown {
            match self.named.get(hash) {
                // A vertex that is removed has no edges to remove.
                Some(true) => {}
                Some(false) if sign == Some('-') => {}
                Some(false) => return refuse(format!("an earlier line removes the vertex {id}")),
                None => {
                    let known = self.target.expect_vertex(word.text.as_bytes());
                    let add = message!["; use ", Setting::AddMissing.to(true), " if it may be missing"];
                    known.map_err(|error| error.message().and(add))?;
                }
            }
        }
        let removes = sign == Some('-') && num_ids == 1;
        if adds || removes {
            self.named.insert(hash, adds);
        }
        Ok(id)
    }

    pub(super) fn add_edge(
        &mut self,
        [source, end]: [ExternalId<'_>; 2],
        values: &[(&str, &RawValue)],
    ) -> LineResult<()> {
        let values = self.values_of_edge(values)?;
        self.batch.add_edge(source, end, &values).map_err(|error| error.message())
    }

    /// Gives an edge these values, whatever the rule for duplicates says.
    fn replace_edge(
        &mut self,
        [source, end]: [ExternalId<'_>; 2],
        values: &[(&str, &RawValue)],
    ) -> LineResult<()> {
        let values = self.values_of_edge(values)?;
        self.batch.replace_edge(source, end, &values).map_err(|error| error.message())
    }

    /// The values of an edge, for each property that it is given.
    fn values_of_edge<'v>(&self, values: &[(&str, &'v RawValue)]) -> LineResult<Vec<PropertyValue<'v>>> {
        let known = |name: &str| self.target.edge_properties.iter().any(|property| property.name == name);
        if let Some((name, _)) = values.iter().find(|(name, _)| !known(name)) {
            return refuse(format!("no edge property {name:?}: {}", self.target.describe_edges()));
        }
        if let Some((name, _)) = values.iter().find(|(name, _)| self.target.gives_ids_as(name)) {
            return refuse(format!("the database gives edges their ids: leave {name} out"));
        }
        let mut converted: Vec<PropertyValue<'_>> = Vec::with_capacity(values.len());
        for property in self.target.given_properties() {
            let Some((_, value)) = values.iter().rfind(|(name, _)| *name == property.name) else {
                let name = quoted(property.name.as_bytes());
                let missing = if property.kind { String::new() } else { format!(", or {name}=~ for none") };
                return refuse(format!(
                    "the edge has no value for {}: {}, and every edge needs a value for each, as in {name}=1{missing}",
                    property.name,
                    self.target.describe_edges()
                ));
            };
            let given = value.given(property)?;
            converted.push(convert_or_widen(property, given).map_err(|error| error.message())?);
        }
        Ok(converted)
    }

    fn set_vertex(&mut self, u: &str, values: &[(&str, &RawValue)], added: bool) -> LineResult<()> {
        let id = self.target.id(u.as_bytes()).map_err(|error| error.message())?;
        if added {
            self.batch.add_vertex(id).map_err(|error| error.message())?;
        }
        for (name, value) in values {
            if value.is_missing() || (value.text.is_empty() && !value.quoted) {
                self.definitions.expect(name).map_err(|error| error.message())?;
                self.batch.set_vertex(id, name, None).map_err(|error| error.message())?;
                continue;
            }
            let bytes = value.text.as_bytes();
            let property_type =
                if value.quoted { PropertyType::text() } else { sniff_type([bytes].into_iter()) };
            let property = self.definitions.define(&mut self.batch, name, property_type);
            let value =
                convert_or_widen(&property, InputValue::Text(bytes)).map_err(|error| error.message())?;
            self.batch.set_vertex(id, name, Some(value)).map_err(|error| error.message())?;
        }
        Ok(())
    }
}

/// Why a line is no change.
fn no_change() -> String {
    "expected '+ u v name=value...', '- u v', '+ u', '- u' or 'u name=value...'; put text with spaces or = in double quotes".to_owned()
}

/// Names and values; the new value for `name=old -> new`.
pub(super) fn new_values(words: &[Word]) -> LineResult<Vec<(&str, &RawValue)>> {
    let mut values: Vec<(&str, &RawValue)> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(value) = &word.value else {
            return refuse(format!("{:?} is not name=value; put ids before the values", word.text));
        };
        if values.iter().any(|(known, _)| *known == word.text) {
            return refuse(format!("{:?} has two values in this line: leave one out", word.text));
        }
        at += 1;
        if !words.get(at).is_some_and(Word::is_arrow) {
            values.push((&word.text, value));
            continue;
        }
        // After an arrow comes a value without a name, or nothing if the value is removed.
        let new = words.get(at + 1).and_then(|word| word.value.as_ref());
        values.push((&word.text, new.unwrap_or(&NO_VALUE)));
        at += 2;
    }
    Ok(values)
}

/// Splits a line into words. The word after an arrow is a value without a name.
fn words(line: &str) -> LineResult<Vec<Word>> {
    let mut words: Vec<Word> = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(words);
        }
        let is_value = words.last().is_some_and(Word::is_arrow);
        let (text, is_quoted) = part(&mut rest, !is_value)?;
        if is_value {
            words.push(Word {
                text: String::new(),
                quoted: false,
                value: Some(RawValue { text, quoted: is_quoted }),
            });
            continue;
        }
        let mut value = None;
        if let Some(after) = rest.strip_prefix('=') {
            rest = after;
            let (text, quoted) = part(&mut rest, false)?;
            value = Some(RawValue { text, quoted });
        }
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return refuse("expected a space after the closing quote");
        }
        words.push(Word { text, quoted: is_quoted, value });
    }
}

/// Takes quoted text, or text up to the next space (or `=`), from the front of `rest`; returns the text and
/// whether it was quoted.
fn part(rest: &mut &str, until_equals: bool) -> LineResult<(String, bool)> {
    let Some(inside) = rest.strip_prefix('"') else {
        let end = rest.find(|c: char| c.is_whitespace() || (until_equals && c == '=')).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        *rest = after;
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
    refuse("missing closing quote")
}

/// Formats text as a word of a script, quoted if necessary.
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
    fn a_name_has_one_value_in_a_line() {
        for line in ["+ u v w=1 w=2", "u \"w\"=1 w=", "u w=1 -> 2 w=3"] {
            let words = words(line).unwrap();
            let first = words.iter().position(|word| word.value.is_some()).unwrap();
            assert!(
                new_values(&words[first..]).unwrap_err().to_string().contains("\"w\" has two values"),
                "{line}"
            );
        }
        let given = words("u w=1 -> 2 v=3").unwrap();
        assert_eq!(new_values(&given[1..]).unwrap().len(), 2);
    }

    #[test]
    fn quoted_text_is_read_back() {
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
            let values = new_values(&words[1..]).unwrap();
            assert_eq!((values[0].0, &*values[0].1.text), (text, text), "{line}");
        }
    }
}
