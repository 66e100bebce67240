//! What tables of edges have in common: which columns are meant, and how columns of values become a batch.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{Error, Result};

use super::region::unusable;
use crate::format::{Pick, PickIds, PickProperties, ReadOptions};
use crate::source::{Batch, IdColumn, IdKind, Rejected, Schema, TextColumn, ValueColumn};

/// Pairs of names that say where edges leave and arrive, the likeliest first. Compared without regard to case.
const ENDS: [(&str, &str); 12] = [
    ("src", "dst"),
    ("source", "target"),
    ("from", "to"),
    ("u", "v"),
    ("source", "destination"),
    ("src", "dest"),
    ("src_id", "dst_id"),
    ("source_id", "target_id"),
    ("from_id", "to_id"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("start", "end"),
];
const WEIGHTS: [&str; 2] = ["weight", "w"];
const TIMES: [&str; 4] = ["time", "timestamp", "ts", "datetime"];

/// What a column of a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Numbers,
    Texts,
    /// Something that a graph has no place for, such as lists.
    Other,
}

/// The columns that an import takes, as names and as indices in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Source, target, then the properties.
    pub(super) columns: Vec<usize>,
    /// Names of the properties.
    pub(super) properties: Vec<String>,
    /// Which property is the weight.
    pub(super) weight: Option<usize>,
}

/// Chooses columns by the user's options and by the usual names.
///
/// # Errors
/// If a column that was asked for is not there or cannot serve, or the ends cannot be told.
pub(super) fn choose(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    options: &ReadOptions,
) -> Result<Chosen> {
    let (source, target) = choose_ends(path, names, options)?;
    let mut chosen = Chosen { columns: vec![source, target], properties: Vec::new(), weight: None };
    if let Some(weight) = pick(path, names, &options.weight, &WEIGHTS)? {
        if names[weight].1 != Holds::Numbers {
            let reason = format!("the weight column {:?} does not hold numbers", names[weight].0);
            return Err(unusable(path, reason));
        }
        chosen.weight = Some(0);
        chosen.add(names, weight);
    }
    if let Some(time) = pick(path, names, &options.time, &TIMES)? {
        chosen.add(names, time);
    }
    match &options.properties {
        PickProperties::None => {}
        PickProperties::All => {
            for index in (0..names.len()).filter(|&i| names[i].1 != Holds::Other) {
                chosen.add(names, index);
            }
        }
        PickProperties::Columns(wanted) => {
            for name in wanted {
                let name =
                    name.strip_suffix(":text").or_else(|| name.strip_suffix(":number")).unwrap_or(name);
                chosen.add(names, find(path, names, name)?);
            }
        }
    }
    Ok(chosen)
}

impl Chosen {
    fn add(&mut self, names: &[(String, Holds)], index: usize) {
        if !self.columns.contains(&index) {
            self.columns.push(index);
            self.properties.push(names[index].0.clone());
        }
    }

    /// The same columns, by name, in another file of the same import.
    pub(super) fn in_file(
        &self,
        path: &Arc<PathBuf>,
        own: &[(String, Holds)],
        other: &[(String, Holds)],
    ) -> Result<Self> {
        let columns = self.columns.iter().map(|&i| find(path, other, &own[i].0)).collect::<Result<_>>()?;
        Ok(Self { columns, ..self.clone() })
    }
}

fn choose_ends(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    options: &ReadOptions,
) -> Result<(usize, usize)> {
    let named = |name: &Option<String>| name.as_ref().map(|name| find(path, names, name)).transpose();
    let usual = |name: &str| names.iter().position(|(n, _)| n.eq_ignore_ascii_case(name));
    let ends = match (named(&options.source)?, named(&options.target)?) {
        (Some(source), Some(target)) => Some((source, target)),
        (Some(source), None) => {
            let partner = ENDS.iter().find(|(s, t)| usual(s) == Some(source) && usual(t).is_some());
            partner.and_then(|(_, t)| usual(t)).map(|target| (source, target))
        }
        (None, Some(target)) => {
            let partner = ENDS.iter().find(|(s, t)| usual(t) == Some(target) && usual(s).is_some());
            partner.and_then(|(s, _)| usual(s)).map(|source| (source, target))
        }
        // A table of two columns leaves no doubt.
        (None, None) => ENDS
            .iter()
            .find_map(|(s, t)| Some((usual(s)?, usual(t)?)))
            .or_else(|| (names.len() == 2).then_some((0, 1))),
    };
    ends.ok_or_else(|| {
        let reason = format!(
            "cannot tell which columns hold the ends of the edges; name them with --src and --dst (columns: {})",
            list(names)
        );
        unusable(path, reason)
    })
}

fn pick(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    pick: &Pick,
    usual: &[&str],
) -> Result<Option<usize>> {
    match pick {
        Pick::Skip => Ok(None),
        Pick::Column(name) => find(path, names, name).map(Some),
        Pick::Auto => Ok(usual.iter().find_map(|usual| {
            names.iter().position(|(n, holds)| n.eq_ignore_ascii_case(usual) && *holds == Holds::Numbers)
        })),
    }
}

/// A column by its exact name, its name in other letters, or its number from 1.
fn find(path: &Arc<PathBuf>, names: &[(String, Holds)], name: &str) -> Result<usize> {
    let exact = names.iter().position(|(n, _)| n == name);
    let alike = || names.iter().position(|(n, _)| n.eq_ignore_ascii_case(name));
    let numbered = || name.parse::<usize>().ok().filter(|i| (1..=names.len()).contains(i)).map(|i| i - 1);
    let index = exact
        .or_else(alike)
        .or_else(numbered)
        .ok_or_else(|| unusable(path, format!("there is no column {name:?} (columns: {})", list(names))))?;
    if names[index].1 == Holds::Other {
        return Err(unusable(
            path,
            format!("the column {:?} holds neither numbers nor texts and cannot be used", names[index].0),
        ));
    }
    Ok(index)
}

fn list(names: &[(String, Holds)]) -> String {
    names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The kind of the ids when the two ends hold these.
///
/// # Errors
/// If integers are demanded of texts.
pub(super) fn id_kind(path: &Arc<PathBuf>, ends: [Holds; 2], options: &ReadOptions) -> Result<IdKind> {
    match (options.ids, ends.contains(&Holds::Texts)) {
        (PickIds::Int, true) => {
            Err(unusable(path, "integer ids are demanded, but the column of ids holds texts".to_owned()))
        }
        (PickIds::Text, _) | (PickIds::Auto, true) => Ok(IdKind::Text),
        _ => Ok(IdKind::Int),
    }
}

/// The schema of a table.
pub(super) fn schema(format: &'static str, ids: IdKind, chosen: &Chosen, input_bytes: u64) -> Schema {
    Schema {
        format,
        ids,
        properties: chosen.properties.clone(),
        weight: chosen.weight,
        directed: None,
        both_ends: false,
        input_bytes: Some(input_bytes),
    }
}

/// Values of one column over a run of rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Int(Vec<i64>),
    Unsigned(Vec<u64>),
    Float(Vec<f64>),
    Text(TextColumn),
}

/// A column over a run of rows: a value for each row (any value where there is none), and where there is one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    pub(super) data: Data,
    /// `None`: every row has a value.
    pub(super) valid: Option<Vec<bool>>,
}

impl Values {
    pub(super) fn len(&self) -> usize {
        match &self.data {
            Data::Int(values) => values.len(),
            Data::Unsigned(values) => values.len(),
            Data::Float(values) => values.len(),
            Data::Text(values) => values.len(),
        }
    }
}

/// Why rows cannot be taken: the reason and the text that offends, by row.
type Faults = BTreeMap<usize, (String, String)>;

/// Where a batch comes from.
#[derive(Debug)]
pub(super) struct Origin<'a> {
    pub(super) path: &'a Arc<PathBuf>,
    /// Number of the first row, from 1.
    pub(super) first_row: u64,
    pub(super) input_bytes: u64,
}

/// Makes a batch of columns of equal length: source, target, then the properties named `properties`.
///
/// Rows without a value, with a negative or fractional id or with a NaN are rejected.
///
/// # Errors
/// If the columns are not of equal length, which only damage can cause.
pub(super) fn batch(
    origin: &Origin<'_>,
    ids: IdKind,
    properties: &[String],
    mut columns: Vec<Values>,
) -> Result<Batch> {
    let rows = columns.first().map_or(0, Values::len);
    if columns.len() != properties.len() + 2 || columns.iter().any(|column| column.len() != rows) {
        return Err(unusable(origin.path, "its columns differ in length: it is damaged"));
    }
    let mut faults = Faults::new();
    for (index, column) in columns.iter().enumerate() {
        let name = match index {
            0 => "source",
            1 => "target",
            _ => &properties[index - 2],
        };
        find_faults(column, name, index < 2, ids, &mut faults);
    }
    if !faults.is_empty() {
        let keep: Vec<bool> = (0..rows).map(|row| !faults.contains_key(&row)).collect();
        for column in &mut columns {
            column.data.keep(&keep);
        }
    }
    let mut columns = columns.into_iter().map(|column| column.data);
    let mut end = || columns.next().map_or(IdColumn::Int(Vec::new()), |data| data.into_ids(ids));
    let (source, target) = (end(), end());
    let rejected = faults.into_iter().map(|(row, (reason, text))| Rejected {
        path: Arc::clone(origin.path),
        line: origin.first_row + row as u64,
        text,
        reason,
    });
    Ok(Batch {
        source,
        target,
        properties: columns.map(Data::into_values).collect(),
        vertices: None,
        rejected: rejected.collect(),
        input_bytes: origin.input_bytes,
    })
}

fn find_faults(column: &Values, name: &str, is_id: bool, ids: IdKind, faults: &mut Faults) {
    let mut fault = |row: usize, reason: String, text: String| {
        faults.entry(row).or_insert((reason, text));
    };
    if let Some(valid) = &column.valid {
        for row in (0..valid.len()).filter(|&row| !valid[row]) {
            fault(row, format!("the column {name:?} has no value here (null)"), String::new());
        }
    }
    let is_valid = |row: usize| column.valid.as_ref().is_none_or(|valid| valid[row]);
    match &column.data {
        // One pass without branches finds that nothing is wrong, as is usual.
        Data::Int(values) if is_id && ids != IdKind::Text && values.iter().fold(0, |all, v| all | v) < 0 => {
            for (row, &value) in values.iter().enumerate().filter(|(row, v)| **v < 0 && is_valid(*row)) {
                let reason = "ids cannot be negative; take the ids as texts (--ids text)";
                fault(row, reason.to_owned(), value.to_string());
            }
        }
        Data::Unsigned(values) if !is_id && values.iter().fold(0, |all, v| all | v) > i64::MAX as u64 => {
            let above = |v: u64| v > i64::MAX as u64;
            for (row, &value) in values.iter().enumerate().filter(|(row, v)| above(**v) && is_valid(*row)) {
                let reason = format!("the column {name:?} exceeds {}", i64::MAX);
                fault(row, reason, value.to_string());
            }
        }
        Data::Float(values) => {
            let is_bad =
                |v: f64| if is_id { !(0.0..9e15).contains(&v) || v.fract() != 0.0 } else { v.is_nan() };
            for (row, &value) in values.iter().enumerate().filter(|(row, v)| is_bad(**v) && is_valid(*row)) {
                let reason = if is_id { "an id must be an integer or a text" } else { "not a number" };
                fault(row, reason.to_owned(), value.to_string());
            }
        }
        _ => {}
    }
}

impl Data {
    /// Leaves out the values whose row is not kept.
    fn keep(&mut self, keep: &[bool]) {
        fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
            let mut row = 0;
            values.retain(|_| {
                row += 1;
                keep[row - 1]
            });
        }
        match self {
            Self::Int(values) => retain(values, keep),
            Self::Unsigned(values) => retain(values, keep),
            Self::Float(values) => retain(values, keep),
            Self::Text(values) => {
                let mut kept = TextColumn::default();
                for (text, _) in values.iter().zip(keep).filter(|(_, keep)| **keep) {
                    kept.push(text);
                }
                *values = kept;
            }
        }
    }

    /// The values as ids, which they were found fit to be.
    fn into_ids(self, ids: IdKind) -> IdColumn {
        match (self, ids) {
            (Self::Text(texts), _) => IdColumn::Text(texts),
            (Self::Int(values), IdKind::Text) => IdColumn::Text(written(&values)),
            (Self::Unsigned(values), IdKind::Text) => IdColumn::Text(written(&values)),
            (Self::Float(values), IdKind::Text) => IdColumn::Text(written(&values)),
            // The three conversions reuse the memory of the column.
            (Self::Int(values), _) => IdColumn::Int(values.into_iter().map(|v| v as u64).collect()),
            (Self::Unsigned(values), _) => IdColumn::Int(values),
            (Self::Float(values), _) => IdColumn::Int(values.into_iter().map(|v| v as u64).collect()),
        }
    }

    fn into_values(self) -> ValueColumn {
        match self {
            Self::Int(values) => ValueColumn::Int(values),
            Self::Unsigned(values) => ValueColumn::Int(values.into_iter().map(|v| v as i64).collect()),
            Self::Float(values) => ValueColumn::Float(values),
            Self::Text(values) => ValueColumn::Text(values),
        }
    }
}

fn written<T: ToString>(values: &[T]) -> TextColumn {
    let mut texts = TextColumn::default();
    for value in values {
        texts.push(value.to_string().as_bytes());
    }
    texts
}

/// Runs code of other crates that may panic on damaged input, which nothing short of rewriting it can prevent: a
/// panic becomes an error that names the file. The last resort; what can be checked before is.
///
/// # Errors
/// What `f` returns, or that it panicked.
pub(super) fn contain<T>(path: &Arc<PathBuf>, f: impl FnOnce() -> Result<T>) -> Result<T> {
    // What `f` leaves half-done is dropped with the panic: callers put nothing back after an error.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(f))
        .unwrap_or_else(|_| Err(damaged(path, "its contents contradict each other")))
}

/// An error about a damaged input.
pub(super) fn damaged(path: &Arc<PathBuf>, reason: impl std::fmt::Display) -> Error {
    unusable(
        path,
        format!("cannot be decoded: {reason}; it is damaged or of a kind not known: write it again"),
    )
}
