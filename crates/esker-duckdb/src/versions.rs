//! `esker_versions('web.esker')`: a row for each version.

use std::sync::Arc;

use esker::store::format::{TimeUnit, VersionRecord};

use crate::arguments::{open, said};
use crate::columns::{ColumnType, TableColumn};
use crate::table::{Given, NamedArgument, Rows, Table};

/// The versions of a database.
pub(crate) struct VersionsTable {
    versions: Arc<Vec<VersionRecord>>,
}

/// The rows that are left.
pub(crate) struct VersionsPart {
    versions: Arc<Vec<VersionRecord>>,
    next: usize,
}

const TIME: ColumnType = ColumnType::Time(TimeUnit::Milli);

impl Table for VersionsTable {
    type Scan = ();
    type Part = VersionsPart;

    const NAME: &'static str = "esker_versions";
    const POSITIONAL: usize = 1;
    const THREADS: u64 = 1;

    fn named() -> Vec<NamedArgument> {
        Vec::new()
    }

    fn bind(given: &Given) -> Result<Self, String> {
        Ok(Self { versions: Arc::new(open(given)?.versions().map_err(said)?) })
    }

    fn columns(&self) -> Vec<(String, ColumnType)> {
        let columns = [
            ("version", ColumnType::UBigInt),
            ("time", TIME),
            ("committed", TIME),
            ("message", ColumnType::Text),
        ];
        columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec()
    }

    fn rows(&self) -> u64 {
        self.versions.len() as u64
    }

    fn scan(&self) -> Result<(), String> {
        Ok(())
    }

    fn part(&self, _: &Arc<()>) -> VersionsPart {
        VersionsPart { versions: Arc::clone(&self.versions), next: 0 }
    }
}

impl Rows for VersionsPart {
    fn next(
        &mut self,
        room: usize,
        columns: &[usize],
        into: &mut [TableColumn<'_>],
    ) -> Result<usize, String> {
        let rows = self.next..self.versions.len().min(self.next + room);
        for (&column, into) in columns.iter().zip(into) {
            for (row, version) in self.versions[rows.clone()].iter().enumerate() {
                match column {
                    0 => into.put_bits(row, version.number),
                    1 => into.put_bits(row, version.time_ms),
                    2 => into.put_bits(row, version.committed_ms),
                    _ => into.put_text(row, version.message.as_bytes())?,
                }
            }
        }
        self.next = rows.end;
        Ok(rows.len())
    }
}
