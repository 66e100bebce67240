//! Writes answers to files: CSV, Parquet, Arrow IPC and NumPy arrays.
//!
//! A row begins with the external id of its vertex, or with the external ids of the two ends of its edge. Removed vertices have no row. Rows are in
//! the order of vertices, or in the order of ids if ids are dense integers, stored in another order, and no vertex is removed. A single
//! column is called `value`; several columns have their own names. Memory: 65 536 rows.

mod rows;
mod csv;
mod table;
mod npy;
mod vertices;

use std::path::{Path, PathBuf};

use esker_import::export::{ExportOptions, OutputFile};
use esker_store::ids::IdMap;

use crate::answer::Answer;
use crate::error::{Error, Result};

pub use vertices::vertex_properties;

/// A file format for answers.
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
    /// The format selected by the extension of a file name, before an extension of compression.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown extension.
    pub fn from_name(name: &str) -> Result<Self> {
        let plain = [".gz", ".zst", ".bz2"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        match plain.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("parquet" | "pq") => Ok(Self::Parquet),
            Some("arrow" | "feather" | "ipc") => Ok(Self::Arrow),
            Some("npy") => Ok(Self::Npy),
            _ => Err(Error::Usage(format!(
                "cannot choose an output format for {name}: use .csv, .parquet, .arrow or .npy, or - for CSV on \
                 standard output"
            ))),
        }
    }
}

/// Writes the columns of an answer to `path`; `-` is CSV on standard output. The file appears under its name only when it is complete;
/// it is compressed if its name ends in `.gz`, `.zst` or `.bz2`.
///
/// # Errors
/// If there are no columns, the extension is unknown, the file exists (unless `options.overwrite`), the format cannot store the ids, or
/// writing fails.
pub fn write(path: &Path, ids: &IdMap, answer: &Answer, options: &ExportOptions) -> Result<PathBuf> {
    if answer.columns.is_empty() && answer.edges.is_none() {
        return Err(Error::Usage("the answer has no values per vertex or edge to write".to_owned()));
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
            "the answer belongs to another graph: the numbers of vertices differ".to_owned(),
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
