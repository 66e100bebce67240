//! Values of vertices on their way into a batch.

use std::borrow::Cow;
use std::sync::Arc;

use esker_graph::{Message, Setting, message};
use esker_import::read::format::Declaration;
use esker_import::read::source::Rejected;
use esker_import::rejects::RejectsFile;
use esker_store::format::notation::ColumnNotation;
use esker_store::format::{PropertyRecord, PropertyType, value::decimal};
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{Batch, CommitOptions, Error, Result};

use super::headed_table::HeadedTable;
use crate::change::definitions::Definitions;
use crate::change::destination::Destination;
use crate::change::target::Target;
use crate::change::value::{InputValue, convert_or_widen, describe};

/// Rows, and bytes of their fields, after which the memory of a batch is looked at.
pub(super) const ROWS_PER_LOOK: usize = 1024;
pub(super) const BYTES_PER_LOOK: usize = 1 << 18;

/// Report of [`super::set_from_table`] and [`super::set_vertex`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetReport {
    /// The committed version; `None` if there was nothing to set.
    pub version: Option<u64>,
    /// Number of vertices.
    pub vertices: u64,
    /// Number of rows of vertices that an earlier row names too: the last values count.
    pub repeated: u64,
    /// Number of values set.
    pub set: u64,
    /// Number of values removed.
    pub unset: u64,
    /// Names of new properties, each with a description of its type.
    pub defined: Vec<(String, String)>,
    /// Number of rows that were not taken.
    pub rejected: u64,
    /// What to warn of, if local times were at changes of the clocks.
    pub odd_times: Option<String>,
    /// What of the table is not read.
    pub warnings: Vec<Message>,
}

/// How [`super::set_from_table`] changes vertices.
#[derive(Debug, Clone, Default)]
pub struct SetOptions {
    /// Whether vertices are added that do not exist.
    pub add_missing: bool,
    /// Whether a field without a value removes the one that a vertex has. Else it stays.
    pub clears_empty: bool,
    /// Where rows go that cannot be taken, so that the others are. Else one of them is an error.
    pub rejects: Option<Arc<RejectsFile>>,
}

/// A property that values are set of, and how they are written.
pub(super) struct SetColumn {
    pub(super) property: PropertyRecord,
    pub(super) notation: ColumnNotation,
}

/// Sets values of vertices in a batch.
pub(super) struct Setter<'a> {
    pub(super) database: Destination<'a>,
    pub(super) target: &'a Target,
    add_missing: bool,
    pub(super) clears_empty: bool,
    pub(super) batch: Batch,
    pub(super) definitions: Definitions<'a>,
    pub(super) report: SetReport,
    first_rejected: Option<Rejected>,
}

impl<'a> Setter<'a> {
    pub(super) fn new(database: Destination<'a>, target: &'a Target, add_missing: bool) -> Result<Self> {
        let (definitions, report) = (Definitions::new(target), SetReport::default());
        let batch = database.batch()?;
        Ok(Self {
            database,
            target,
            add_missing,
            clears_empty: false,
            batch,
            definitions,
            report,
            first_rejected: None,
        })
    }

    pub(super) fn define(&mut self, name: &str, property_type: PropertyType) -> PropertyRecord {
        let is_new = self.definitions.find(name).is_none();
        let record = self.definitions.define(&mut self.batch, name, property_type);
        if is_new {
            self.report.defined.push((name.to_owned(), describe(&record.property_type())));
        }
        record
    }

    pub(super) fn set_row<'v>(
        &mut self,
        id: &[u8],
        values: impl Iterator<Item = Option<Cow<'v, [u8]>>>,
        properties: &[SetColumn],
    ) -> Result<()> {
        let vertex = self.vertex(id)?;
        // Of a row that is not taken no value is set, so all are read first.
        let mut read = Vec::with_capacity(properties.len());
        for (SetColumn { property, notation }, value) in properties.iter().zip(values) {
            let Some(value) = value else {
                read.push(None);
                continue;
            };
            let own = notation
                .read(&value, &property.logical)
                .map_err(|reason| not_written(property, &value, &reason))?
                .into_owned();
            convert_or_widen(property, InputValue::Text(&own))?;
            read.push(Some(own));
        }
        for (SetColumn { property, .. }, value) in properties.iter().zip(&read) {
            let value = value.as_ref().map(|value| convert_or_widen(property, InputValue::Text(value)));
            self.set_value(vertex, &property.name, value.transpose()?)?;
        }
        self.report.vertices += 1;
        Ok(())
    }

    /// The vertex with an id, which exists unless missing ones are added.
    pub(super) fn vertex<'t>(&self, id: &'t [u8]) -> Result<ExternalId<'t>> {
        if !self.add_missing {
            self.target.expect_vertex(id).map_err(|error| {
                error.and(message!["; use ", Setting::AddMissing.to(true), " to add missing vertices"])
            })?;
        }
        self.target.id(id)
    }

    /// Sets or removes the value of a vertex.
    pub(super) fn set_value(
        &mut self,
        vertex: ExternalId<'_>,
        name: &str,
        value: Option<PropertyValue<'_>>,
    ) -> Result<()> {
        if value.is_none() && !self.clears_empty {
            return Ok(());
        }
        if let (false, Destination::Queued(_)) = (self.add_missing, self.database) {
            // The process that commits it may have removed the vertex meanwhile.
            self.batch.expect_vertex(vertex)?;
        }
        *(if value.is_some() { &mut self.report.set } else { &mut self.report.unset }) += 1;
        self.batch.set_vertex(vertex, name, value)
    }

    /// Writes a row that is not taken.
    pub(super) fn reject(&mut self, row: Rejected, file: Option<&RejectsFile>) -> Result<()> {
        self.report.rejected += 1;
        file.map_or(Ok(()), |file| file.write([&row]))?;
        self.first_rejected.get_or_insert(row);
        Ok(())
    }

    /// An error if no row was taken, and some were there.
    pub(super) fn expect_taken(&self) -> Result<()> {
        match &self.first_rejected {
            Some(first) if self.report.vertices == 0 => Err(first.of_all(self.report.rejected)),
            _ => Ok(()),
        }
    }

    /// Counts the rows whose vertex an earlier row names.
    pub(super) fn count_repeated(&mut self, table: &HeadedTable, taken: &[usize]) {
        // They were taken, so they are ids: `1` and `1.0` are one.
        let texts: Vec<Cow<'_, [u8]>> =
            taken.iter().map(|&row| table.row(row)[0].text(&table.content)).collect();
        let id = |row: &usize| self.target.id(&texts[*row]).ok();
        let mut rows: Vec<usize> = (0..texts.len()).collect();
        rows.sort_unstable_by_key(&id);
        let repeated = rows.windows(2).filter(|pair| id(&pair[0]) == id(&pair[1])).count() as u64;
        self.report.repeated = repeated;
        self.report.vertices -= repeated;
    }

    pub(super) fn commit(mut self, options: &CommitOptions) -> Result<SetReport> {
        if self.report.vertices > 0 {
            self.report.version = Some(self.database.commit_with(self.batch, options)?.version);
        }
        Ok(self.report)
    }
}

/// The error for a value that is not written as the options say.
fn not_written(property: &PropertyRecord, value: &[u8], reason: &str) -> Error {
    Error::invalid(format!("property {:?}: {:?} {reason}", property.name, decimal::shown(value)))
}

/// Checks that what is declared are columns of properties, which have no other type yet.
pub(super) fn expect_new_columns(target: &Target, header: &[String], schema: &[Declaration]) -> Result<()> {
    for Declaration { name, property_type } in schema {
        if !header[1..].contains(name) {
            let columns = header[1..].join(", ");
            return Err(Error::usage(format!(
                "there is no column {name:?} to declare; the columns are {columns}"
            )));
        }
        let known = target.vertex_property(name).map(PropertyRecord::property_type);
        if let Some(known) = known.filter(|known| known != property_type) {
            return Err(Error::usage(format!(
                "the vertex property {name:?} has the type {known}, not {property_type}"
            )));
        }
    }
    Ok(())
}
