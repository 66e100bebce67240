//! What tables of edges have in common: which columns are meant, and how columns of values become a batch.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{
    ElementType, LogicalType, NotationRecord, PropertyColumnRecord, PropertyType, Result, TableRecord,
};
use esker_graph::{Setting, message};

use super::ends::{choose_ends, expect_once_each, find, fitted, fitted_ends, usual};
use super::holds::{Holds, SPANS};
use super::reasons::{no_numbers, times_as_ids};
use super::region::unusable;
use crate::columns::expected::{FittedColumns, column_record};
use crate::columns::ids_become_texts;
use crate::columns::names::{TIMES, WEIGHTS, position};
use crate::columns::pairs::EdgeEnds;
use crate::read::format::{Declaration, Pick, PickIds, PickProperties, ReadOptions, Suffix, split_type};
use crate::read::known_vertices::KnownVertices;
use crate::read::required::RequiredProperties;
use crate::read::source::{IdKind, Schema};
use crate::read::typed::{as_time, is_unsigned, weight_fits};

/// The columns that an import takes, as names and as indices in one file.
#[derive(Debug, Clone)]
pub(super) struct Picked {
    /// Source, target, then the properties.
    pub(super) columns: Vec<usize>,
    /// Names of the columns of the ends.
    pub(super) ends: [String; 2],
    /// Names of the properties.
    pub(super) properties: Vec<String>,
    /// For each property, its type if it is declared or more than a number or a text.
    pub(super) types: Vec<Option<PropertyType>>,
    /// Which property is the weight.
    pub(super) weight: Option<usize>,
    /// Which property is the time, if the user named it.
    pub(super) time: Option<usize>,
    /// Which properties no edge may be without.
    pub(super) required: RequiredProperties,
    /// The vertices that rows may name, if they are limited.
    pub(super) nameable: Option<KnownVertices>,
    /// Whether the edges go to a database whose integer ids can become texts.
    pub(super) ids_can_become_texts: bool,
    /// Names of columns that hold nothing that a graph has a place for, although all were asked for.
    pub(super) left_out: Vec<String>,
    /// Names of columns of times of day or lengths of time, although all were asked for.
    pub(super) spans: Vec<String>,
    /// Names of columns that nothing asked for.
    pub(super) unread: Vec<String>,
}

/// Chooses columns by the user's options, by what the file says of the weight, and by the usual names.
///
/// # Errors
/// If a column that was asked for is not there or cannot serve, or the ends cannot be told.
pub(super) fn choose(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    types: &[Option<PropertyType>],
    said_weight: Option<&str>,
    options: &ReadOptions,
) -> Result<Picked> {
    let fitted = fitted(path, names, types, options)?;
    let renamed;
    let (names, EdgeEnds { source, target }) = match fitted {
        None => (names, choose_ends(path, names, types, options)?),
        Some(fitted) => {
            let ends = fitted_ends(path, names, &fitted, options)?;
            renamed = with_names(names, &fitted);
            (renamed.as_slice(), ends)
        }
    };
    let mut chosen = Picked {
        columns: vec![source, target],
        ends: [names[source].0.clone(), names[target].0.clone()],
        properties: Vec::new(),
        types: Vec::new(),
        weight: None,
        time: None,
        required: RequiredProperties::default(),
        nameable: None,
        ids_can_become_texts: options.ids_can_become_texts,
        left_out: Vec::new(),
        spans: Vec::new(),
        unread: Vec::new(),
    };
    let header: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    let said = said_weight.and_then(|said| names.iter().position(|(name, _)| name == said));
    let weight = pick_weight(path, names, &header, said, options)?;
    if let Some(weight) =
        weight.filter(|&weight| weight != source && weight != target || options.weight != Pick::Auto)
    {
        if !names[weight].1.is_numbers() && !names[weight].1.are_spans() {
            return Err(unusable(path, no_numbers(&names[weight].0)));
        }
        chosen.weight = Some(0);
        chosen.add(names, weight);
    }
    let time = pick_time(path, names, &header, options)?;
    time.into_iter().for_each(|time| chosen.add(names, time));
    let named = time.filter(|_| matches!(options.time, Pick::Column(_)));
    chosen.time = named.and_then(|named| chosen.columns[2..].iter().position(|&index| index == named));
    let mut declared = chosen.add_others(path, names, options)?;
    let operation = chosen.add_operation(path, names, &mut declared, options)?;
    chosen.limit(operation, options);
    let own_type = |(property, &index): (usize, &usize)| {
        // A truth value as a weight is 0 or 1. No weight and no time is of `u64`.
        let is_weight = chosen.weight == Some(property);
        let is_plain = |own: &PropertyType| {
            is_weight && own.logical == LogicalType::Boolean
                || (is_weight || time == Some(index)) && is_unsigned(own)
        };
        let own = types[index].clone().filter(|own| !is_plain(own));
        let own = if named == Some(index) { own.map(as_time) } else { own };
        declared[index].clone().or(own)
    };
    chosen.types = chosen.columns[2..].iter().enumerate().map(own_type).collect();
    check_weight_type(path, &chosen)?;
    expect_declared_spans(path, names, &chosen)?;
    if options.tells_unread() {
        let is_skipped = options.weight == Pick::Skip && !options.types_are_fixed;
        chosen.take_unread(names, position(&header, WEIGHTS).filter(|_| is_skipped));
    }
    Ok(chosen)
}

/// The columns, where those of properties that the database remembers are called as these.
fn with_names(names: &[(String, Holds)], fitted: &FittedColumns) -> Vec<(String, Holds)> {
    let own: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    let renamed = fitted.rename(&own, own.len());
    renamed.into_iter().zip(names).map(|(name, (_, holds))| (name, *holds)).collect()
}

/// The column of the weight: the one that is named, else `said` by the file, else one with a usual name.
fn pick_weight(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    header: &[String],
    said: Option<usize>,
    options: &ReadOptions,
) -> Result<Option<usize>> {
    match &options.weight {
        Pick::Auto if said.is_some() => Ok(said),
        // A column that is called so but holds no numbers is an error, as in text files.
        Pick::Auto => usual(path, header, WEIGHTS),
        Pick::Skip => Ok(None),
        Pick::Column(name) => find(path, names, name).map(Some),
    }
}

/// The column of the time: the one that is named, else one of numbers with a usual name.
fn pick_time(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    header: &[String],
    options: &ReadOptions,
) -> Result<Option<usize>> {
    match &options.time {
        Pick::Auto => Ok(usual(path, header, TIMES)?.filter(|&time| names[time].1.is_numbers())),
        Pick::Skip => Ok(None),
        Pick::Column(name) => find(path, names, name).map(Some),
    }
}

fn check_weight_type(path: &Arc<PathBuf>, chosen: &Picked) -> Result<()> {
    let Some(declared) = chosen.weight.and_then(|weight| chosen.types[weight].as_ref()) else {
        return Ok(());
    };
    weight_fits(declared).map_err(|reason| unusable(path, reason))
}

/// An error if a property is a column of times of day or lengths of time, unless the user has declared what
/// its numbers are.
fn expect_declared_spans(path: &Arc<PathBuf>, names: &[(String, Holds)], chosen: &Picked) -> Result<()> {
    let mut properties = chosen.columns[2..].iter().zip(&chosen.types);
    let span = properties.find(|&(&index, own)| names[index].1.are_spans() && own.is_none());
    let Some((&span, _)) = span else { return Ok(()) };
    let name = &names[span].0;
    let declared = Setting::Schema.to_type(name, "i64");
    Err(unusable(path, message![format!("the column {name:?} {SPANS}; "), declared, " takes them"]))
}

impl Picked {
    /// Ids alone.
    pub(super) fn of_ids(id: usize, name: &str, ids_can_become_texts: bool) -> Self {
        Self {
            columns: vec![id],
            ends: [name.to_owned(), name.to_owned()],
            properties: Vec::new(),
            types: Vec::new(),
            weight: None,
            time: None,
            required: RequiredProperties::default(),
            nameable: None,
            ids_can_become_texts,
            left_out: Vec::new(),
            spans: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Takes the names of the columns that nothing asked for; `skipped` is one that is not to be read.
    fn take_unread(&mut self, names: &[(String, Holds)], skipped: Option<usize>) {
        let is_unread = |(index, (name, _)): &(usize, &(String, Holds))| {
            !self.columns.contains(index)
                && !self.left_out.contains(name)
                && !self.spans.contains(name)
                && Some(*index) != skipped
        };
        self.unread = names.iter().enumerate().filter(is_unread).map(|(_, (name, _))| name.clone()).collect();
    }

    /// Adds a property, once. It may be one of the ends too.
    fn add(&mut self, names: &[(String, Holds)], index: usize) {
        if !self.columns[2..].contains(&index) {
            self.columns.push(index);
            self.properties.push(names[index].0.clone());
        }
    }

    /// Adds the properties beside weight and time; returns the type of each column that is declared.
    fn add_others(
        &mut self,
        path: &Arc<PathBuf>,
        names: &[(String, Holds)],
        options: &ReadOptions,
    ) -> Result<Vec<Option<PropertyType>>> {
        let mut declared = vec![None; names.len()];
        match &options.properties {
            PickProperties::None => {}
            PickProperties::All => {
                let ends = [self.columns[0], self.columns[1]];
                for index in (0..names.len()).filter(|index| !ends.contains(index)) {
                    match names[index].1 {
                        Holds::Other => self.left_out.push(names[index].0.clone()),
                        Holds::Spans(_) => self.spans.push(names[index].0.clone()),
                        _ => self.add(names, index),
                    }
                }
            }
            PickProperties::Columns(wanted) => {
                for name in wanted {
                    let (name, suffix) = split_type(name);
                    let index = find(path, names, name)?;
                    self.add(names, index);
                    declared[index] = match suffix {
                        Suffix::Type(property_type) => Some(property_type),
                        // The database that the edges are for has such numbers.
                        Suffix::Number if names[index].1.are_spans() => Some(ElementType::I64.into()),
                        _ => None,
                    };
                }
            }
        }
        for Declaration { name, property_type } in &options.schema {
            let index = find(path, names, name)?;
            self.add(names, index);
            declared[index] = Some(property_type.clone());
        }
        self.spans.retain(|name| !self.properties.contains(name));
        expect_once_each(path, &self.properties)?;
        Ok(declared)
    }

    /// Takes the limits of what rows may lack and name; `operation` is the place of what happens to edges.
    fn limit(&mut self, operation: Option<usize>, options: &ReadOptions) {
        self.required = options.required_of(&self.properties).with_operation(operation, options);
        self.nameable = options.nameable();
    }

    /// Adds the column that says what happens to edges, as texts, if one does; returns its place among the
    /// properties.
    fn add_operation(
        &mut self,
        path: &Arc<PathBuf>,
        names: &[(String, Holds)],
        declared: &mut [Option<PropertyType>],
        options: &ReadOptions,
    ) -> Result<Option<usize>> {
        let Some(operation) = &options.operation else { return Ok(None) };
        let column = find(path, names, &operation.column)?;
        self.add(names, column);
        declared[column] = Some(PropertyType::text());
        Ok(self.columns[2..].iter().position(|&index| index == column))
    }

    /// The same columns, by name, in another file of the same import.
    pub(super) fn in_file(
        &self,
        path: &Arc<PathBuf>,
        own: &[(String, Holds)],
        other: &[(String, Holds)],
    ) -> Result<Self> {
        let columns =
            self.columns.iter().map(|&i| find(path, other, &own[i].0)).collect::<Result<Vec<_>>>()?;
        for (&before, &here) in self.columns.iter().zip(&columns) {
            let (before, here) = (&own[before], &other[here]);
            if before.1 != here.1 && (before.1 == Holds::Vectors || here.1 == Holds::Vectors) {
                let reason = format!("the column {:?} holds vectors in some of the files only", here.0);
                return Err(unusable(path, reason));
            }
            if before.1 != here.1 && (before.1.are_spans() || here.1.are_spans()) {
                let reason = format!(
                    "the column {:?} holds times of day or lengths of time in other units than in the first file: convert them to one unit",
                    here.0
                );
                return Err(unusable(path, reason));
            }
        }
        // What was left out elsewhere may be something else here.
        let are_spans = |name: &String| other.iter().any(|(known, holds)| known == name && holds.are_spans());
        let (spans, others) = self.spans.iter().cloned().partition(are_spans);
        let is_here = |name: &String| other.iter().any(|(known, _)| known == name);
        let others: Vec<String> = others;
        let unread = self.unread.iter().cloned().chain(others.into_iter().filter(is_here)).collect();
        Ok(Self { columns, spans, unread, ..self.clone() })
    }
}

/// The kind of the ids when the two ends hold these.
///
/// # Errors
/// If integers are demanded of texts, or an end holds dates or times and it is not said that their numbers
/// are meant.
pub(super) fn id_kind(path: &Arc<PathBuf>, ends: [Holds; 2], options: &ReadOptions) -> Result<IdKind> {
    let end = ends.into_iter().find(|end| *end == Holds::Times || end.are_spans());
    if let Some(end) = end.filter(|_| options.ids != PickIds::Int) {
        let what = if end.are_spans() { "times of day or lengths of time" } else { "dates or times" };
        return Err(unusable(path, times_as_ids(what)));
    }
    match (options.ids, ends.contains(&Holds::Texts)) {
        (PickIds::Int, true) => {
            let reason = "integer ids are demanded, but the column of ids holds texts";
            Err(unusable(
                path,
                match options.ids_can_become_texts {
                    true => message![reason, "; ", ids_become_texts()],
                    false => reason.into(),
                },
            ))
        }
        (PickIds::Text, _) | (PickIds::Auto, true) => Ok(IdKind::Text),
        _ => Ok(IdKind::Int),
    }
}

/// The schema of a table; `is_undirected`: all of its files say so.
pub(super) fn schema(
    format: &'static str,
    ids: IdKind,
    chosen: &Picked,
    input_bytes: u64,
    is_undirected: bool,
) -> Schema {
    Schema {
        kind: None,
        operation: chosen.required.operation.map(|operation| operation.property),
        format,
        ids,
        properties: chosen.properties.clone(),
        types: chosen.types.clone(),
        weight: chosen.weight,
        directed: is_undirected.then_some(false),
        time: chosen.time,
        both_ends: false,
        input_bytes: Some(input_bytes),
    }
}

/// What a database remembers of the columns of a file with these names.
pub(super) fn record(names: &[(String, Holds)], chosen: &Picked) -> TableRecord {
    let own: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    let column = |place: usize| column_record(place, Some(&own));
    let properties = chosen.properties.iter().zip(&chosen.columns[2..]);
    let property = |(name, &place): (&String, &usize)| PropertyColumnRecord {
        property: name.clone(),
        column: column(place),
    };
    TableRecord {
        source: column(chosen.columns[0]),
        target: column(chosen.columns[1]),
        properties: properties.map(property).collect(),
        columns: names.len() as u32,
        named: true,
        delimiter: None,
        quotes: None,
        both_ends: false,
        nulls: Vec::new(),
        notation: NotationRecord::default(),
        defaults: Vec::new(),
    }
}
