//! Writes differences between versions as text: lines of a change script, or JSON.

use std::io::Write;
use std::path::{Path, PathBuf};

use esker_graph::{Setting, VertexId, message};
use esker_import::export::push_quoted;
use esker_import::read::typed;
use esker_store::diff::{DiffEdge, DiffSummary, Difference};
use esker_store::format::{LogicalType, PropertyRecord, value::decimal};
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{Error, Result, Version};
use serde_json::{Map, Value, json};

use crate::change::{MISSING_WORD, quoted};

/// The output format of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Lines of a change script; see [`crate::change`].
    Script,
    /// Elements of a JSON array.
    Json,
    /// JSON objects, one a line.
    Jsonl,
    /// Rows of a table with a header. An edge of which several properties changed has a row for each.
    Csv,
}

/// The columns of a table of differences before those of the edges.
const COLUMNS: [&str; 7] = ["change", "source", "target", "vertex", "property", "old", "new"];

/// Appends a row of a table. Nothing stands for a missing value.
fn push_row(line: &mut Vec<u8>, row: &[Value]) {
    for (place, value) in row.iter().enumerate() {
        if place > 0 {
            line.push(b',');
        }
        match value {
            Value::Null => {}
            Value::String(text) => push_quoted(line, text.as_bytes(), b','),
            other => push_quoted(line, other.to_string().as_bytes(), b','),
        }
    }
    line.push(b'\n');
}

/// The counts of differences as JSON.
pub fn summary_json(summary: &DiffSummary) -> Value {
    json!({
        "edges_added": summary.edges_added,
        "edges_removed": summary.edges_removed,
        "edges_changed": summary.edges_changed,
        "vertices_added": summary.vertices_added,
        "vertices_removed": summary.vertices_removed,
        "values_changed": summary.values_changed,
    })
}

/// Writes differences.
pub struct Differences<'a, W> {
    a: &'a Version,
    b: &'a Version,
    style: Style,
    out: W,
    /// What is written to, for errors.
    name: PathBuf,
    properties: Vec<PropertyRecord>,
    /// The property with the ids of edges, if lines that remove an edge name it.
    ids: Option<PropertyRecord>,
    begun: bool,
    /// Parallel edges that were added or removed, and are not written yet, since more of the same may follow.
    pending: Option<Pending>,
}

/// Some equal edges.
#[derive(Debug, PartialEq, Eq)]
struct Pending {
    /// `+` or `-`.
    sign: char,
    /// Their ends and values.
    edge: String,
    count: u64,
}

impl<'a, W: Write> Differences<'a, W> {
    /// A writer for the differences from `a` to `b`. Lines of a script leave out the ids of edges, which
    /// differ in other databases: see [`Differences::naming_removed`].
    pub fn new(a: &'a Version, b: &'a Version, style: Style, out: W) -> Self {
        let is_shown = |one: &&PropertyRecord| style != Style::Script || one.logical != LogicalType::EdgeId;
        let properties = a.edge_properties().filter(is_shown).cloned().collect();
        let name = PathBuf::from("-");
        Self { a, b, style, out, name, properties, ids: None, begun: false, pending: None }
    }

    /// This writer, whose errors name a file.
    #[must_use]
    pub fn named(self, file: &Path) -> Self {
        Self { name: file.to_owned(), ..self }
    }

    /// This writer, but lines of a script name the edges that they remove by their ids, if edges have some.
    /// Committed to a copy of the database, such a script removes the same ones of parallel edges.
    #[must_use]
    pub fn naming_removed(mut self) -> Self {
        self.ids = self.a.edge_properties().find(|one| one.logical == LogicalType::EdgeId).cloned();
        self
    }

    /// Writes one difference, perhaps only with a later one: see [`Differences::finish`].
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`].
    pub fn write(&mut self, difference: &Difference<'_>) -> Result<()> {
        if self.style == Style::Script && self.b.layer().multigraph {
            return match difference {
                Difference::EdgeAdded(edge) => self.count('+', edge),
                Difference::EdgeRemoved(edge) => self.count('-', edge),
                // Which of several edges a line means is told by all values alone.
                Difference::EdgeChanged(old, new) => {
                    self.count('-', old)?;
                    self.count('+', new)
                }
                _ => {
                    self.finish()?;
                    self.put(difference)
                }
            };
        }
        self.put(difference)
    }

    /// Counts an edge that was added or removed, until one comes that is not equal.
    fn count(&mut self, sign: char, edge: &DiffEdge<'_>) -> Result<()> {
        let ids = self.ids.as_ref().filter(|_| sign == '-');
        let mut text = self.edge(edge, None)?;
        if let Some(ids) = ids {
            text += &format!(" {}={}", quoted(ids.name.as_bytes()), edge.value(ids)?);
        }
        let edge = text;
        if let Some(pending) = self.pending.as_mut().filter(|p| p.sign == sign && p.edge == edge) {
            pending.count += 1;
            return Ok(());
        }
        self.finish()?;
        self.pending = Some(Pending { sign, edge, count: 1 });
        Ok(())
    }

    /// Writes what is left: of a table without rows, its header.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(&mut self) -> Result<()> {
        if self.style == Style::Csv && !self.begun {
            let header = self.header();
            self.begun = true;
            return self.out.write_all(&header).map_err(Error::io("write", self.name.as_path()));
        }
        let Some(Pending { sign, edge, count }) = self.pending.take() else { return Ok(()) };
        // To remove one of several needs a number; to add one does not.
        let number = if (sign, count) == ('+', 1) { String::new() } else { count.to_string() };
        self.begun = true;
        writeln!(self.out, "{sign}{number} {edge}").map_err(Error::io("write", self.name.as_path()))
    }

    /// Ends a script that lacks differences after an error with a line that no script may have, lest what
    /// stands before it be committed alone.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn break_off(&mut self) -> Result<()> {
        if self.style != Style::Script || !self.begun {
            return Ok(());
        }
        let failed = Error::io("write", self.name.as_path());
        writeln!(self.out, "\"the rest is missing, after an error").map_err(failed)
    }

    fn put(&mut self, difference: &Difference<'_>) -> Result<()> {
        let text = match self.style {
            Style::Script => (self.line(difference)? + "\n").into_bytes(),
            Style::Json if self.begun => format!(",\n{}", self.json(difference)?).into_bytes(),
            Style::Json => format!("\n{}", self.json(difference)?).into_bytes(),
            Style::Jsonl => format!("{}\n", self.json(difference)?).into_bytes(),
            Style::Csv => {
                let mut text = if self.begun { Vec::new() } else { self.header() };
                self.rows(difference)?.iter().for_each(|row| push_row(&mut text, row));
                text
            }
        };
        self.begun = true;
        self.out.write_all(&text).map_err(Error::io("write", self.name.as_path()))
    }

    /// The line with the names of the columns. A property that is called like a column before it becomes
    /// `property.NAME`.
    fn header(&self) -> Vec<u8> {
        let mut names: Vec<String> = COLUMNS.map(str::to_owned).into();
        for property in &self.properties {
            let mut name = property.name.clone();
            while names.contains(&name) {
                name.insert_str(0, "property.");
            }
            names.push(name);
        }
        let mut line = Vec::new();
        push_row(&mut line, &names.into_iter().map(Value::from).collect::<Vec<_>>());
        line
    }

    /// A difference as rows of [`COLUMNS`] and the values of an edge: those after the change, or the last
    /// ones of an edge that was removed.
    fn rows(&self, difference: &Difference<'_>) -> Result<Vec<Vec<Value>>> {
        let id = |v: VertexId| self.id(v).map(|id| id_json(&id));
        let of_vertex = |change: &str, v: VertexId, values: [Value; 3]| -> Result<Vec<Vec<Value>>> {
            let mut row = vec![change.into(), Value::Null, Value::Null, id(v)?];
            row.extend(values);
            row.resize(COLUMNS.len() + self.properties.len(), Value::Null);
            Ok(vec![row])
        };
        let of_edge = |change: &str, edge: &DiffEdge<'_>, values: [Value; 3]| -> Result<Vec<Value>> {
            let mut row = vec![change.into(), id(edge.source)?, id(edge.target)?, Value::Null];
            row.extend(values);
            for property in &self.properties {
                row.push(value_json(&edge.value(property)?));
            }
            Ok(row)
        };
        const NOTHING: [Value; 3] = [Value::Null, Value::Null, Value::Null];
        let shown = |value: &Option<PropertyValue<'_>>| value.as_ref().map_or(Value::Null, value_json);
        match difference {
            Difference::VertexAdded(v) => of_vertex("vertex added", *v, NOTHING),
            Difference::VertexRemoved(v) => of_vertex("vertex removed", *v, NOTHING),
            Difference::ValueChanged(v, property, old, new) => {
                of_vertex("value changed", *v, [property.name.as_str().into(), shown(old), shown(new)])
            }
            Difference::EdgeAdded(edge) => Ok(vec![of_edge("edge added", edge, NOTHING)?]),
            Difference::EdgeRemoved(edge) => Ok(vec![of_edge("edge removed", edge, NOTHING)?]),
            Difference::EdgeChanged(old, new) => {
                let mut rows = Vec::new();
                for property in &self.properties {
                    let (before, after) = (old.value(property)?, new.value(property)?);
                    if before != after {
                        let values = [property.name.as_str().into(), value_json(&before), value_json(&after)];
                        rows.push(of_edge("edge changed", new, values)?);
                    }
                }
                Ok(rows)
            }
        }
    }

    /// The id of a vertex, from the version that has it.
    fn id(&self, v: VertexId) -> Result<ExternalId<'a>> {
        let known = (v as usize) < self.a.num_vertices();
        if known { self.a.ids().external_of(v) } else { self.b.ids().external_of(v) }
    }

    fn name(&self, v: VertexId) -> Result<String> {
        Ok(match self.id(v)? {
            ExternalId::Int(id) => id.to_string(),
            ExternalId::Text(text) => word(text)?,
        })
    }

    fn line(&self, difference: &Difference<'_>) -> Result<String> {
        Ok(match difference {
            Difference::VertexAdded(v) => format!("+ {}", self.name(*v)?),
            Difference::VertexRemoved(v) => format!("- {}", self.name(*v)?),
            Difference::ValueChanged(v, property, old, new) => {
                let show =
                    |value: &Option<PropertyValue<'_>>| value.as_ref().map_or(Ok(String::new()), show_typed);
                let (name, property) = (self.name(*v)?, quoted(property.name.as_bytes()));
                match (old, new) {
                    (None, new) => format!("{name} {property}={}", show(new)?),
                    (old, None) => format!("~ {name} {property}={} -> ", show(old)?).trim_end().to_owned(),
                    (old, new) => format!("~ {name} {property}={} -> {}", show(old)?, show(new)?),
                }
            }
            Difference::EdgeAdded(edge) => format!("+ {}", self.edge(edge, None)?),
            Difference::EdgeRemoved(edge) => format!("- {}", self.edge(edge, None)?),
            Difference::EdgeChanged(old, new) => format!("~ {}", self.edge(old, Some(new))?),
        })
    }

    fn edge(&self, edge: &DiffEdge<'_>, changed: Option<&DiffEdge<'_>>) -> Result<String> {
        let mut text = format!("{} {}", self.name(edge.source)?, self.name(edge.target)?);
        for property in &self.properties {
            let value = edge.value(property)?;
            text += &format!(" {}={}", quoted(property.name.as_bytes()), show(&value)?);
            if let Some(new) = changed.map(|changed| changed.value(property)).transpose()?
                && new != value
            {
                text += &format!(" -> {}", show(&new)?);
            }
        }
        Ok(text)
    }

    fn json(&self, difference: &Difference<'_>) -> Result<Value> {
        let id = |v: VertexId| self.id(v).map(|id| id_json(&id));
        let ends =
            |edge: &DiffEdge<'_>| -> Result<(Value, Value)> { Ok((id(edge.source)?, id(edge.target)?)) };
        Ok(match difference {
            Difference::VertexAdded(v) => json!({ "change": "vertex added", "vertex": id(*v)? }),
            Difference::VertexRemoved(v) => json!({ "change": "vertex removed", "vertex": id(*v)? }),
            Difference::ValueChanged(v, property, old, new) => json!({
                "change": "value changed",
                "vertex": id(*v)?,
                "property": property.name,
                "old": old.as_ref().map(value_json),
                "new": new.as_ref().map(value_json),
            }),
            Difference::EdgeAdded(edge) | Difference::EdgeRemoved(edge) => {
                let change = match difference {
                    Difference::EdgeAdded(_) => "edge added",
                    _ => "edge removed",
                };
                let (source, target) = ends(edge)?;
                json!({ "change": change, "source": source, "target": target, "values": self.values(edge)? })
            }
            Difference::EdgeChanged(old, new) => {
                let (source, target) = ends(old)?;
                json!({
                    "change": "edge changed",
                    "source": source,
                    "target": target,
                    "old": self.values(old)?,
                    "new": self.values(new)?,
                })
            }
        })
    }

    fn values(&self, edge: &DiffEdge<'_>) -> Result<Value> {
        let mut values = Map::new();
        for property in &self.properties {
            values.insert(property.name.clone(), value_json(&edge.value(property)?));
        }
        Ok(Value::Object(values))
    }
}

fn id_json(id: &ExternalId<'_>) -> Value {
    match id {
        ExternalId::Int(id) => json!(id),
        text @ ExternalId::Text(_) => json!(text.to_string()),
    }
}

/// A text as a word of a script, which is UTF-8.
///
/// # Errors
/// [`Error::Invalid`] if the text is not: another one would come out of the script.
fn word(text: &[u8]) -> Result<String> {
    if std::str::from_utf8(text).is_ok() {
        return Ok(quoted(text));
    }
    Err(Error::invalid(message![
        format!("the text {:?} is not UTF-8, so no script can hold it: ", decimal::shown(text)),
        Setting::Json.to(true),
        " shows the differences, with signs for what is no character",
    ]))
}

/// Formats a value for a script; text that looks like another value is quoted.
fn show(value: &PropertyValue<'_>) -> Result<String> {
    Ok(match value {
        PropertyValue::Text(text) => {
            let text = word(text)?;
            let ambiguous =
                decimal::is_numeral(text.as_bytes()) || typed::sniff([text.as_bytes()].into_iter()).is_some();
            if ambiguous { format!("\"{text}\"") } else { text }
        }
        PropertyValue::Missing => MISSING_WORD.to_owned(),
        // All digits that tell it from others of 64 bits: it is read as one, and rounded again.
        PropertyValue::F32(x) => PropertyValue::F64(f64::from(*x)).to_string(),
        number => number.to_string(),
    })
}

/// As [`show`]; a float is told from an integer, for its text may decide the type of a new property.
fn show_typed(value: &PropertyValue<'_>) -> Result<String> {
    match value {
        PropertyValue::F32(x) => Ok(format!("{:?}", f64::from(*x))),
        PropertyValue::F64(x) => Ok(format!("{x:?}")),
        other => show(other),
    }
}

/// Converts a value to JSON; infinities and NaN, which JSON does not have, become strings.
pub fn value_json(value: &PropertyValue<'_>) -> Value {
    match value {
        PropertyValue::U8(x) => json!(x),
        PropertyValue::U16(x) => json!(x),
        PropertyValue::U32(x) => json!(x),
        PropertyValue::U64(x) => json!(x),
        PropertyValue::I32(x) => json!(x),
        PropertyValue::I64(x) => json!(x),
        // The fewest digits that tell it from others of 32 bits, not those of 64.
        PropertyValue::F32(x) if x.is_finite() => serde_json::from_str(&format!("{x:?}")).unwrap_or(json!(x)),
        PropertyValue::F64(x) if x.is_finite() => json!(x),
        PropertyValue::Boolean(value) => json!(value),
        PropertyValue::Missing => Value::Null,
        // Its text is a list in JSON, with the fewest digits that tell its numbers.
        PropertyValue::Vector(vector) => serde_json::from_str(&vector.to_string()).unwrap_or(Value::Null),
        other => json!(other.to_string()),
    }
}
