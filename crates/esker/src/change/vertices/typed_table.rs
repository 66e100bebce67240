//! Tables of vertices whose columns have types: Parquet and Arrow, read batch by batch.

use std::borrow::Cow;

use arrow_array::{Array, ArrayRef};
use esker_graph::Reservation;
use esker_import::binary::{TypedVertices, vertex_row};
use esker_import::read::format::ReadOptions;
use esker_import::read::input::Input;
use esker_import::read::source::{EdgeBatch, Rejected, VertexColumn, id_at, limit_decoding};
use esker_import::rejects::RejectsFile;
use esker_store::format::PropertyRecord;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{CommitOptions, Error, Result};

use super::headed_table::{input_error, rejected};
use super::setter::{BYTES_PER_LOOK, ROWS_PER_LOOK, SetOptions, SetReport, Setter, expect_new_columns};
use crate::change::destination::Destination;
use crate::change::given::{GivenValue, type_of};
use crate::change::room::Room;
use crate::change::target::Target;
use crate::change::value::convert_or_widen;

/// Sets the values of a table, as [`super::set_from_table`] does.
pub(super) fn set(
    database: Destination<'_>,
    target: &Target,
    input: &Input,
    table: TypedVertices,
    options: &ReadOptions,
    set: &SetOptions,
    commit: &CommitOptions,
) -> Result<SetReport> {
    if options.header == Some(true) {
        return Err(Error::invalid("a table with types has no first line that names its columns"));
    }
    let TypedVertices { mut reader, properties, warnings } = table;
    if properties.is_empty() {
        return Err(input_error(
            input,
            None,
            "the table has no column beside the ids whose values can be set",
        ));
    }
    let header: Vec<String> = std::iter::once(String::new()).chain(properties).collect();
    expect_new_columns(target, &header, &options.schema)?;
    limit_decoding(reader.as_mut(), database.budget().limit_bytes(), 1)?;
    let parser = reader.parser();
    let mut setter = Setter::new(database, target, set.add_missing)?;
    setter.clears_empty = set.clears_empty;
    setter.report.warnings = warnings;
    let rows =
        TakenRows { taken: Vec::new(), held: database.budget().reserve(WHAT, 0)?, room: Room::default() };
    let mut table = TypedTable { setter, input, rejects: set.rejects.as_deref(), rows };
    while let Some(block) = reader.next_block()? {
        options.cancel.check()?;
        let first_row = block.first_line;
        table.take(&parser.parse(block)?, first_row)?;
    }
    let TypedTable { mut setter, rows, .. } = table;
    rows.room.finish(database, &mut setter.batch, rows.held.bytes())?;
    setter.expect_taken()?;
    setter.report.repeated = repeated(&rows.taken);
    setter.report.vertices -= setter.report.repeated;
    drop((rows.taken, rows.held));
    setter.commit(commit)
}

/// What the memory of [`TakenRows`] is for.
const WHAT: &str = "the ids of a table of vertices";

/// The ids of the rows that were taken.
struct TakenRows {
    taken: Vec<TakenIds>,
    held: Reservation,
    room: Room,
}

/// Rows of one batch that were taken.
struct TakenIds {
    ids: ArrayRef,
    rows: Vec<u32>,
}

/// A table that is being read.
struct TypedTable<'a> {
    setter: Setter<'a>,
    input: &'a Input,
    rejects: Option<&'a RejectsFile>,
    rows: TakenRows,
}

impl TypedTable<'_> {
    /// Takes the rows of a batch, the first of which has this number in the file.
    fn take(&mut self, batch: &EdgeBatch, first_row: u64) -> Result<()> {
        let Some(ids) = &batch.vertices else { return Ok(()) };
        let of = |column: &VertexColumn| self.setter.define(&column.name, type_of(column));
        let properties: Vec<PropertyRecord> = batch.vertex_values.iter().map(of).collect();
        let mut refused = batch.rejected.iter().peekable();
        let (mut row, mut taken, mut unreserved) = (first_row, Vec::new(), 0);
        for index in 0..ids.len() {
            while let Some(bad) = refused.next_if(|bad| bad.line <= row) {
                self.reject(bad.clone())?;
                row += 1;
            }
            match self.set_row(batch, ids, index, &properties) {
                Ok(bytes) => {
                    taken.push(index as u32);
                    unreserved += bytes;
                }
                Err(error) if self.rejects.is_none() => {
                    return Err(input_error(self.input, Some(row), error.message()));
                }
                Err(error) => {
                    let text = vertex_row(ids, &batch.vertex_values, index);
                    self.reject(rejected(self.input, row, &text, error.message()))?;
                }
            }
            row += 1;
            if index % ROWS_PER_LOOK == 0 || unreserved > BYTES_PER_LOOK {
                unreserved = 0;
                self.rows.room.make(self.setter.database, &mut self.setter.batch)?;
            }
        }
        refused.cloned().try_for_each(|bad| self.reject(bad))?;
        let ids = ids.slice(0, ids.len());
        let bytes = ids.get_array_memory_size() + taken.len() * (size_of::<u32>() + size_of::<[u64; 2]>());
        self.rows.held.absorb(self.setter.database.budget().reserve(WHAT, bytes as u64)?);
        self.rows.taken.push(TakenIds { ids, rows: taken });
        Ok(())
    }

    /// Sets the values of a row; returns about how many bytes they have.
    fn set_row(
        &mut self,
        batch: &EdgeBatch,
        ids: &ArrayRef,
        index: usize,
        properties: &[PropertyRecord],
    ) -> Result<usize> {
        let text = match id_at(ids, index) {
            ExternalId::Int(id) => Cow::Owned(id.to_string().into_bytes()),
            ExternalId::Text(text) => Cow::Borrowed(text),
        };
        let vertex = self.setter.vertex(&text)?;
        // Of a row that is not taken no value is set, so all are read first.
        let given = batch.vertex_values.iter().zip(properties).map(|(column, property)| {
            let place = column.rows.binary_search(&(index as u32)).ok();
            place.map(|place| GivenValue::of(column, place, property)).transpose()
        });
        let given = given.collect::<Result<Vec<_>>>()?;
        let converted = given.iter().zip(properties).map(|(value, property)| {
            value.as_ref().map(|value| convert_or_widen(property, value.input())).transpose()
        });
        let mut bytes = text.len();
        for (value, property) in converted.collect::<Result<Vec<_>>>()?.into_iter().zip(properties) {
            if let Some(PropertyValue::Text(text)) = &value {
                bytes += text.len();
            }
            self.setter.set_value(vertex, &property.name, value)?;
        }
        self.setter.report.vertices += 1;
        Ok(bytes)
    }

    /// Keeps a row that is not taken.
    ///
    /// # Errors
    /// That it is not, if such rows are not kept.
    fn reject(&mut self, row: Rejected) -> Result<()> {
        match self.rejects {
            Some(_) => self.setter.reject(row, self.rejects),
            None => Err(Error::Input {
                path: row.path.to_path_buf(),
                line: Some(row.line),
                text: row.text.to_string(),
                reason: row.reason,
            }),
        }
    }
}

/// The number of rows whose id an earlier row has.
fn repeated(taken: &[TakenIds]) -> u64 {
    let places =
        taken.iter().enumerate().flat_map(|(part, ids)| ids.rows.iter().map(move |&row| (part, row)));
    let mut places: Vec<(usize, u32)> = places.collect();
    let id = |&(part, row): &(usize, u32)| id_at(&taken[part].ids, row as usize);
    places.sort_unstable_by(|a, b| id(a).cmp(&id(b)));
    places.windows(2).filter(|pair| id(&pair[0]) == id(&pair[1])).count() as u64
}
