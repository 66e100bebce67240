//! Writes answers to files: CSV, JSON, Parquet, Arrow IPC and NumPy arrays.
//!
//! A row begins with the external id of its vertex, or with the external ids of the two ends of its edge.
//! Removed vertices have no row. Rows are in the order of vertices, or in the order of ids if ids are dense
//! integers, stored in another order, and no vertex is removed. A single column is called `value`; several
//! columns have their own names. Memory: 65 536 rows.
//!
//! A file may have the answers of several steps, such as versions or windows ([`StepsFile`]); then the first
//! columns name the step.

mod rows;
mod csv;
mod json;
mod table;
mod npy;
mod vertices;

use std::path::{Path, PathBuf};

use esker_import::export::{ExportOptions, OutputFile};
use esker_store::ids::IdMap;

use rows::{AnswerRows, RowFile};

use crate::answer::Answer;
use crate::error::{Error, Result};

pub use rows::{StepColumn, StepValue};
pub use vertices::{VertexTable, vertex_properties};

/// A file format for answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Text with a header; a missing value is an empty field.
    Csv,
    /// JSON: an array of objects; a missing value is null.
    Json,
    /// JSON: an object a line; a missing value is null.
    Jsonl,
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
            Some("json") => Ok(Self::Json),
            Some("jsonl" | "ndjson") => Ok(Self::Jsonl),
            Some("parquet" | "pq") => Ok(Self::Parquet),
            Some("arrow" | "feather" | "ipc") => Ok(Self::Arrow),
            Some("npy") => Ok(Self::Npy),
            _ => Err(Error::usage(format!(
                "cannot choose an output format for {name}: use .csv, .json, .jsonl, .parquet, .arrow or .npy, or - for CSV on \
                 standard output"
            ))),
        }
    }
}

/// Writes the columns of an answer to `path`; `-` is CSV on standard output. The file appears under its name
/// only when it is complete; it is compressed if its name ends in `.gz`, `.zst` or `.bz2`.
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
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::catalogue::{Job, Params, find};
/// use esker::export::ExportOptions;
/// use esker::graph::Run;
///
/// let (run, params) = (Run::with_threads(1)?, Params::default().with("direction", "out"));
/// let view = version.view();
/// let job = Job { view: &view, run: &run, params: &params, verify: false };
/// let answer = find("degrees")?.run(&job)?;
/// let file = directory.path().join("degrees.csv"); // or .json, .parquet, .arrow, .npy
/// esker::output::write(&file, version.ids(), &answer, &ExportOptions::default())?;
/// assert_eq!(std::fs::read_to_string(&file)?.lines().count(), 4); // a header and three rows
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there are no columns, the extension is unknown, the file exists (unless `options.overwrite`), the
/// format cannot store the ids, or writing fails.
pub fn write(path: &Path, ids: &IdMap, answer: &Answer, options: &ExportOptions) -> Result<PathBuf> {
    let rows = checked(ids, answer, &[])?;
    let format = format_of(path)?;
    if format == OutputFormat::Npy {
        npy::check(&rows)?;
        return Ok(npy::write(&rows, OutputFile::open(path, options)?)?.finish()?);
    }
    let mut file = begin(format, OutputFile::open(path, options)?, &rows)?;
    file.add(&rows)?;
    Ok(file.finish()?.finish()?)
}

/// A file with the answers of several steps, such as versions or windows: the rows of each answer, after
/// columns that name its step.
pub struct StepsFile {
    format: OutputFormat,
    /// The file, before the first answer tells its columns.
    file: Option<OutputFile>,
    /// The rows, and the columns of the first answer.
    rows: Option<(Box<dyn RowFile>, Vec<&'static str>)>,
}

impl StepsFile {
    /// Begins a file, in the format and under the rules of [`write()`].
    ///
    /// # Errors
    /// As [`write()`]; for an array of NumPy, which has no columns for the step.
    pub fn create(path: &Path, options: &ExportOptions) -> Result<Self> {
        let format = format_of(path)?;
        if format == OutputFormat::Npy {
            return Err(Error::usage(format!(
                "{}: an array of NumPy has no column that says which step a row is of: write .csv, .parquet or .arrow",
                path.display()
            )));
        }
        Ok(Self { format, file: Some(OutputFile::open(path, options)?), rows: None })
    }

    /// Writes the rows of the answer of a step.
    ///
    /// # Errors
    /// As [`write()`]; if its columns are others than those of the first answer.
    pub fn add(&mut self, step: &[StepColumn], ids: &IdMap, answer: &Answer) -> Result<()> {
        let rows = checked(ids, answer, step)?;
        if let Some(file) = self.file.take() {
            self.rows = Some((begin(self.format, file, &rows)?, rows.header()));
        }
        let Some((file, header)) = &mut self.rows else { return Ok(()) };
        if *header != rows.header() {
            let (first, now) = (header.join(", "), rows.header().join(", "));
            return Err(Error::usage(format!(
                "a file has the same columns for all steps: those of the first answer are {first}, of this one {now}"
            )));
        }
        file.add(&rows)
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// As [`write()`]; if there was no answer, which would have told the columns.
    pub fn finish(self) -> Result<PathBuf> {
        match self.rows {
            Some((rows, _)) => Ok(rows.finish()?.finish()?),
            None => Err(Error::usage("there are no steps, so there is nothing to write".to_owned())),
        }
    }
}

impl std::fmt::Debug for StepsFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepsFile").field("format", &self.format).finish_non_exhaustive()
    }
}

fn format_of(path: &Path) -> Result<OutputFormat> {
    let name = path.to_string_lossy();
    if name == "-" { Ok(OutputFormat::Csv) } else { OutputFormat::from_name(&name) }
}

/// Begins the rows of a file in a format other than NumPy's.
fn begin(format: OutputFormat, file: OutputFile, rows: &AnswerRows<'_>) -> Result<Box<dyn RowFile>> {
    Ok(match format {
        OutputFormat::Parquet => table::parquet(file, rows)?,
        OutputFormat::Arrow => table::arrow(file, rows)?,
        OutputFormat::Json => Box::new(json::JsonRows::begin(file, true)),
        OutputFormat::Jsonl => Box::new(json::JsonRows::begin(file, false)),
        OutputFormat::Csv | OutputFormat::Npy => Box::new(csv::CsvRows::begin(file, rows)?),
    })
}

/// The rows of an answer that has some, of the graph with these ids.
fn checked<'a>(ids: &'a IdMap, answer: &'a Answer, steps: &'a [StepColumn]) -> Result<AnswerRows<'a>> {
    if answer.columns.is_empty() && answer.edges.is_none() {
        return Err(Error::usage("the answer has no values per vertex or edge to write".to_owned()));
    }
    let rows = AnswerRows::new(ids, answer, steps);
    let greatest = match (&answer.edges, &answer.vertices) {
        (Some(edges), _) => edges.iter().map(|&(u, v)| u.max(v)).max(),
        (None, vertices) => vertices.as_ref().and_then(|vertices| vertices.iter().copied().max()),
    };
    if answer.columns.iter().any(|column| column.values.len() != rows.len())
        || greatest.is_some_and(|v| v as usize >= ids.num_vertices())
    {
        return Err(Error::usage(
            "the answer belongs to another graph: the numbers of vertices differ".to_owned(),
        ));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
