//! Answers as files: CSV, Parquet, Arrow IPC and NumPy arrays.
//!
//! One row for each vertex that is there, with its external id first, or for each edge of the answer, with those of its ends. Rows are in the order of the vertices, or of their ids
//! where none is removed and ids are dense integers that the store keeps in another order. A single column is called `value`, several have
//! their own names. Memory: that of 65 536 rows.

mod rows;
mod csv;
mod table;
mod npy;

use std::path::{Path, PathBuf};

use esker_store::export::{ExportOptions, OutputFile};
use esker_store::ids::IdMap;

use crate::answer::Answer;
use crate::error::{Error, Result};

/// A format of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Text with a header; a missing value is an empty field.
    Csv,
    /// Apache Parquet; a missing value is null.
    Parquet,
    /// An Arrow IPC file; a missing value is null.
    Arrow,
    /// A NumPy array, see the module `npy`: a missing integer is -1, a missing number NaN.
    Npy,
}

impl OutputFormat {
    /// The format that the ending of a name asks for, compression left aside.
    ///
    /// # Errors
    /// [`Error::Usage`] if it asks for none.
    pub fn from_name(name: &str) -> Result<Self> {
        let plain = [".gz", ".zst", ".bz2"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        match plain.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("parquet" | "pq") => Ok(Self::Parquet),
            Some("arrow" | "feather" | "ipc") => Ok(Self::Arrow),
            Some("npy") => Ok(Self::Npy),
            _ => Err(Error::Usage(format!(
                "the ending of {name} names no format for answers: use .csv, .parquet, .arrow or .npy, or - for CSV \
                 on standard output"
            ))),
        }
    }
}

/// Writes the columns of an answer to `path`; `-` is CSV on standard output. The file gets its name when it is complete,
/// and is compressed if its name ends in `.gz`, `.zst` or `.bz2`.
///
/// # Errors
/// If there are no columns, the name asks for no format, the file exists (unless `options.overwrite`), the format cannot
/// hold the ids, or writing fails.
pub fn write(path: &Path, ids: &IdMap, answer: &Answer, options: &ExportOptions) -> Result<PathBuf> {
    if answer.columns.is_empty() && answer.edges.is_none() {
        return Err(Error::Usage("the answer has no value for each vertex that could be written".to_owned()));
    }
    let rows = rows::Rows::new(ids, answer);
    let greatest = match (&answer.edges, &answer.vertices) {
        (Some(edges), _) => edges.iter().map(|&(u, v)| u.max(v)).max(),
        (None, vertices) => vertices.as_ref().and_then(|vertices| vertices.last().copied()),
    };
    if answer.columns.iter().any(|column| column.values.len() != rows.len())
        || greatest.is_some_and(|v| v as usize >= ids.num_vertices())
    {
        return Err(Error::Usage(
            "the answer is not of this graph: the numbers of vertices differ".to_owned(),
        ));
    }
    let name = path.to_string_lossy();
    let format = if name == "-" { OutputFormat::Csv } else { OutputFormat::from_name(&name)? };
    if format == OutputFormat::Npy {
        npy::check(&rows)?;
    }
    let mut file = OutputFile::open(path, options)?;
    match format {
        OutputFormat::Csv => csv::write(&rows, &mut file)?,
        OutputFormat::Parquet => table::parquet(&rows, &mut file)?,
        OutputFormat::Arrow => table::arrow(&rows, &mut file)?,
        OutputFormat::Npy => npy::write(&rows, &mut file)?,
    }
    Ok(file.finish()?)
}

#[cfg(test)]
mod tests;
