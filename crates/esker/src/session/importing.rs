//! From files, or from nothing, to a database.

use std::path::Path;
use std::sync::Arc;

use esker_import::install::import as import_from;
use esker_import::read::format::Declaration;
use esker_import::read::source::{IdKind, Schema};
use esker_import::{ImportOptions, ImportReport, ReadOptions, import_files};
use esker_store::io::{Disk, RealDisk};
use esker_store::manifest::StagingOptions;

use super::options::SessionOptions;
use crate::change::NoEdges;
use crate::error::{Error, Result};

/// Imports a file into a new database at `target`, with all edge properties that it has. The format and the
/// compression are recognised; `-` is standard input, and a pattern such as `part-*.parquet` names several
/// files. Threads and memory are those of [`SessionOptions::default`].
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (file, database) = (directory.path().join("follows.csv"), directory.path().join("people.esker"));
/// std::fs::write(&file, "source,target,since\nalice,bob,2019\nbob,carol,2021\n")?;
/// let report = esker::import(&file, &database)?;
/// assert_eq!((report.vertices, report.edges), (3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`import_with`].
pub fn import(file: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<ImportReport> {
    let read = ReadOptions { properties: esker_import::PickProperties::All, ..ReadOptions::default() };
    let options = SessionOptions::default().import_options();
    import_with(&[file.as_ref().to_string_lossy()], target, &read, &options)
}

/// As [`import()`], from several files, with options.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (file, database) = (directory.path().join("calls.txt"), directory.path().join("calls.esker"));
/// use esker::import::{Duplicates, ImportOptions, ReadOptions};
///
/// std::fs::write(&file, "1 2\n1 2\n2 3\n")?;
/// let options = ImportOptions { duplicates: Duplicates::Keep, ..ImportOptions::default() };
/// let report = esker::import_with(&[file.to_string_lossy()], &database, &ReadOptions::default(), &options)?;
/// assert_eq!(report.edges, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`import_files`].
pub fn import_with<S: AsRef<str>>(
    files: &[S],
    target: impl AsRef<Path>,
    read: &ReadOptions,
    options: &ImportOptions,
) -> Result<ImportReport> {
    let read = ReadOptions { memory_bytes: read.memory_bytes.min(options.memory_bytes), ..read.clone() };
    Ok(import_files(files, target, &read, options)?)
}

impl SessionOptions {
    /// Options for an import with the threads, within the limit, of a session.
    pub fn import_options(&self) -> ImportOptions {
        ImportOptions {
            threads: self.threads,
            memory_bytes: self.memory.bytes(),
            cancel: self.cancel.clone(),
            ..ImportOptions::default()
        }
    }
}

/// What a database is before it has edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDatabase {
    /// Whether edges are directed. Default: yes.
    pub directed: bool,
    /// Whether ids of vertices are texts; else they are integers. Default: texts.
    pub text_ids: bool,
    /// The properties of edges. Default: none.
    pub edge_properties: Vec<Declaration>,
    /// The one that is the weight. Default: none.
    pub weight: Option<String>,
}

impl Default for NewDatabase {
    fn default() -> Self {
        Self { directed: true, text_ids: true, edge_properties: Vec::new(), weight: None }
    }
}

impl NewDatabase {
    /// Makes the database at `target`.
    pub(super) fn create(&self, target: &Path, options: &SessionOptions) -> Result<()> {
        let names: Vec<String> = self.edge_properties.iter().map(|one| one.name.clone()).collect();
        let weight = match &self.weight {
            None => None,
            Some(name) => Some(names.iter().position(|one| one == name).ok_or_else(|| {
                Error::usage(format!("the weight {name:?} is none of the edge properties that are declared"))
            })?),
        };
        let schema = Schema {
            operation: None,
            kind: None,
            format: "nothing",
            ids: if self.text_ids { IdKind::Text } else { IdKind::Int },
            types: self.edge_properties.iter().map(|one| Some(one.property_type.clone())).collect(),
            properties: names,
            weight,
            time: None,
            directed: Some(self.directed),
            both_ends: false,
            input_bytes: Some(0),
        };
        let import = ImportOptions {
            directed: Some(self.directed),
            message: Some("create".to_owned()),
            ..options.import_options()
        };
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let reader = Box::new(NoEdges { schema });
        import_from(&disk, reader, target, &import, StagingOptions::default())?;
        Ok(())
    }
}
