//! The file of edges that a stream did not take.

use std::fs::File;
use std::path::{Path, PathBuf};

use esker_store::format::io::{RealDisk, expect_outside_databases};
use esker_store::{Error, Result};

use super::feed_policy::FedEdge;

/// A CSV file to which late edges are appended, with the names of the columns in its first line.
pub(super) struct Rejects {
    path: PathBuf,
    writer: csv::Writer<File>,
    /// Whether the last column says what happens to the edge.
    says_operation: bool,
}

impl Rejects {
    /// Opens the file for appending, or makes it; not within the database. `operation` is the name of the
    /// column that says what happens to edges, if one does.
    pub(super) fn open<'n>(
        path: &Path,
        database: &Path,
        properties: impl Iterator<Item = &'n str>,
        operation: Option<&'n str>,
    ) -> Result<Self> {
        let failed = |source| Error::Io { action: "open", path: path.to_owned(), source };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let place = path.canonicalize().or_else(|_| folder.unwrap_or(Path::new(".")).canonicalize());
        // A database in memory has no path, and what has no place yet is an error below.
        if let (Ok(place), Ok(database)) = (place, database.canonicalize())
            && place.starts_with(database)
        {
            return Err(Error::invalid(format!(
                "{} lies in the database itself: append late edges to a file elsewhere",
                path.display()
            )));
        }
        expect_outside_databases(&RealDisk, path)?;
        let header: Vec<&str> = ["source", "target"].into_iter().chain(properties).chain(operation).collect();
        let file = File::options().append(true).create(true).open(path).map_err(failed)?;
        let is_new = file.metadata().map_err(failed)?.len() == 0;
        if !is_new {
            expect_columns(path, &header, operation.is_some())?;
        }
        let (writer, says_operation) = (csv::Writer::from_writer(file), operation.is_some());
        let mut rejects = Self { path: path.to_owned(), writer, says_operation };
        if is_new {
            rejects.writer.write_record(header).map_err(|error| rejects.failed(error.into()))?;
        }
        Ok(rejects)
    }

    pub(super) fn write(&mut self, edge: &FedEdge<'_>) -> Result<()> {
        let ends = [edge.source.to_string(), edge.target.to_string()];
        let operation = self.says_operation.then(|| edge.operation.word().to_owned());
        let row = ends.into_iter().chain(edge.values.iter().map(ToString::to_string)).chain(operation);
        self.writer.write_record(row.collect::<Vec<_>>()).map_err(|error| self.failed(error.into()))
    }

    /// Makes what was written durable.
    pub(super) fn flush(&mut self) -> Result<()> {
        let done = self.writer.flush().and_then(|()| self.writer.get_ref().sync_data());
        done.map_err(|error| self.failed(error))
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { action: "write", path: self.path.clone(), source }
    }
}

/// Refuses a file that has columns already, of which one says what happens to edges where the rows to come do
/// not say it, or the other way round.
fn expect_columns(path: &Path, header: &[&str], says_operation: bool) -> Result<()> {
    let failed =
        |error: csv::Error| Error::Io { action: "read", path: path.to_owned(), source: error.into() };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).map_err(failed)?;
    let known = reader.headers().map_err(failed)?;
    let is_same = known.iter().eq(header.iter().copied());
    // Without a column of operations the file may be any.
    let has_more = known.len() > header.len() && known.iter().take(header.len()).eq(header.iter().copied());
    match is_same || !says_operation && !has_more {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "{} has other columns than {}: append late edges to another file",
            path.display(),
            header.join(", ")
        ))),
    }
}
