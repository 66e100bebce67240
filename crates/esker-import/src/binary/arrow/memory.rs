//! Tables of another program in memory, as inputs.

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use esker_format::{Error, Result};

use crate::read::input::Input;

/// A table as an input in memory, which is read as a file of Arrow is. The name is for messages. Memory: a
/// copy of the table.
///
/// # Errors
/// If the batches have different columns, or are too large for a file of Arrow.
pub fn table_in_memory(name: &str, batches: &[RecordBatch]) -> Result<Input> {
    let Some(first) = batches.first() else { return Err(Error::invalid(format!("{name} has no columns"))) };
    let failed = |error| Error::invalid(format!("{name} cannot be read as a table: {error}"));
    let mut writer = FileWriter::try_new(Vec::new(), &first.schema()).map_err(failed)?;
    batches.iter().try_for_each(|batch| writer.write(batch)).map_err(failed)?;
    Ok(Input::memory(name, writer.into_inner().map_err(failed)?))
}
