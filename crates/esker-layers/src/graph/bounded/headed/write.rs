//! Writes heads to their files.

use std::path::Path;

use esker_format::{ArchiveWriter, ColumnSpec, ColumnWriter, Element, Result};
use esker_graph::Run;

use super::degrees::{ListDegrees, WantedHeads};
use super::lists::directions;
use super::needs::Heads;
use super::side::HeadedSide;
use super::stored::{columns, heads_directory};
use crate::form_files::FormFiles;
use crate::graph::mapped::dense::DenseLists;
use crate::layer::PlainLayer;

/// Gathers the heads of a complete layer and writes them to its directory; [`super::HeadedNeeds::heads`] says
/// which heads are possible. The files must not exist. Memory: the heads of one direction.
///
/// # Errors
/// [`esker_format::Error::Io`]; [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if the
/// layer is not complete; [`esker_graph::Stop::OverBudget`]; cancellation.
pub fn write_heads(layer: &PlainLayer, heads: &Heads, run: &Run, files: FormFiles<'_>) -> Result<()> {
    let FormFiles { disk, directory, origin } = files;
    let _memory = run.budget().reserve("heads of lists", heads.memory_bytes)?;
    let directory = heads_directory(directory);
    let archive = ArchiveWriter::new(disk, &directory);
    let wanted = WantedHeads {
        head_len: heads.length,
        order: heads.order,
        degrees: ListDegrees::for_layer(layer, run)?,
    };
    for (direction, section) in directions(layer) {
        let side = HeadedSide::gather(disk, DenseLists::new(section.main(), run)?, &wanted, run)?;
        let [heads, sums] = columns(direction);
        let spec = |kind| ColumnSpec { origin, kind };
        write(&archive, &directory.join(heads.0), spec(heads.1), &side.heads)?;
        write(&archive, &directory.join(sums.0), spec(sums.1), side.file.checksums())?;
    }
    archive.finish()
}

fn write<T: Element>(archive: &ArchiveWriter, path: &Path, spec: ColumnSpec, values: &[T]) -> Result<()> {
    let mut column = ColumnWriter::create(archive, path, spec)?;
    column.append(values)?;
    column.finish().map(drop)
}
