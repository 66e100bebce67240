//! Writing heads to their files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{ArchiveWriter, ColumnSpec, ColumnWriter, Element, Origin, Result};
use esker_graph::Run;

use super::degrees::{ListDegrees, WantedHeads};
use super::lists::directions;
use super::needs::Heads;
use super::side::HeadedSide;
use super::stored::{columns, heads_directory};
use crate::graph::dense::DenseLists;
use crate::layer::PlainLayer;

/// Gathers the heads of a complete layer and writes them to its directory; [`super::HeadedNeeds::heads`] says
/// which heads are possible. The files must not exist. Memory: the heads of one direction.
///
/// # Errors
/// [`esker_format::Error::Io`]; [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if the
/// layer is not complete; [`esker_graph::Stop::OverBudget`]; cancellation.
pub fn write_heads(
    layer: &PlainLayer,
    heads: &Heads,
    run: &Run,
    (disk, directory, origin): (&Arc<dyn Disk>, &Path, Origin),
) -> Result<()> {
    let _memory = run.budget().reserve("heads of lists", heads.memory_bytes)?;
    let directory = heads_directory(directory);
    let archive = ArchiveWriter::new(disk, &directory);
    let wanted =
        WantedHeads { head_len: heads.length, order: heads.order, degrees: ListDegrees::of(layer, run)? };
    for (direction, section) in directions(layer) {
        let side = HeadedSide::gather(disk, DenseLists::new(section.main(), run)?, &wanted, run)?;
        let [heads, sums] =
            columns(direction).map(|(name, kind)| (directory.join(name), ColumnSpec { origin, kind }));
        write(&archive, &heads, &side.heads)?;
        write(&archive, &sums, side.file.checksums())?;
    }
    archive.finish()
}

fn write<T: Element>(
    archive: &ArchiveWriter,
    (path, spec): &(PathBuf, ColumnSpec),
    values: &[T],
) -> Result<()> {
    let mut column = ColumnWriter::create(archive, path, *spec)?;
    column.append(values)?;
    column.finish().map(drop)
}
