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
}

impl Rejects {
    /// Opens the file for appending, or makes it; not within the database.
    pub(super) fn open<'n>(
        path: &Path,
        database: &Path,
        properties: impl Iterator<Item = &'n str>,
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
        let file = File::options().append(true).create(true).open(path).map_err(failed)?;
        let is_new = file.metadata().map_err(failed)?.len() == 0;
        let mut rejects = Self { path: path.to_owned(), writer: csv::Writer::from_writer(file) };
        if is_new {
            let header: Vec<&str> = ["source", "target"].into_iter().chain(properties).collect();
            rejects.writer.write_record(header).map_err(|error| rejects.failed(error.into()))?;
        }
        Ok(rejects)
    }

    pub(super) fn write(&mut self, edge: &FedEdge<'_>) -> Result<()> {
        let ends = [edge.source.to_string(), edge.target.to_string()];
        let row = ends.into_iter().chain(edge.values.iter().map(ToString::to_string));
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
