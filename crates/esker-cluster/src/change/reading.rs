//! How files are read: as the first one was. The first shard remembers it for all, so that every process
//! reads its part of a file alike.

use std::path::Path;

use esker_format::{FieldInput, FieldValue, ReadingRecord, Result, TableRecord};
use esker_import::read::format::ReadOptions;
use esker_store::Database;

use crate::disk::cluster::WEIGHT_NAME;
use crate::disk::job::ChangeJob;
use crate::net::engine::Engine;

/// The table that the first shard remembers. All processes call it.
///
/// # Errors
/// If the first process sent something else.
pub(crate) fn remembered(engine: &mut Engine<'_>, database: &Database) -> Result<Option<TableRecord>> {
    let mut block = Vec::new();
    if engine.index() == 0 {
        database.manifest().reading.as_ref().and_then(|reading| reading.table.clone()).put(&mut block);
    }
    let blocks = engine.exchange(vec![block; engine.peers()]);
    let mut input = FieldInput::new(Path::new("what the first shard remembers"), &blocks[0], 0);
    let table = FieldValue::take(&mut input)?;
    input.finish()?;
    Ok(table)
}

/// Remembers the table that was added first.
///
/// # Errors
/// As [`Database::set_reading`].
pub(crate) fn remember(database: &Database, table: Option<TableRecord>) -> Result<()> {
    let Some(mut table) = table else { return Ok(()) };
    // However the column is called, the shards call the property so.
    table.properties.iter_mut().for_each(|weight| WEIGHT_NAME.clone_into(&mut weight.property));
    database.set_reading(Some(ReadingRecord {
        format: "table".to_owned(),
        table: Some(table),
        drops_self_loops: false,
    }))
}

/// Options that read what is remembered, where the job says nothing else.
pub(crate) fn as_remembered(
    expected: Option<TableRecord>,
    job: &ChangeJob,
    options: ReadOptions,
) -> ReadOptions {
    let Some(mut table) = expected else { return options };
    if job.weight.is_some() {
        table.properties.clear();
    }
    ReadOptions { expected: Some(table), ..options }
}
