//! The file that a stream reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::change::{EdgeInput, Purpose, StreamOptions, Target, open_edges, reading_of_rows};
use esker::import::options::BadLines;
use esker::import::read::live::GrowingInput;
use esker::import::rejects::RejectsFile;
use esker::store::Result;
use pyo3::prelude::*;

use crate::failure::PyOutcome;
use crate::language::said;
use crate::settings::{BAD_LINES, ReadSettings, one_of};

/// The file that a stream reads.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FileSettings {
    pub(crate) path: String,
    pub(crate) follow: bool,
    pub(crate) from_start: bool,
    bad_lines: String,
    /// The file of rejected rows.
    rejects: Option<PathBuf>,
    read: ReadSettings,
}

/// Opens the input of a stream, on the thread that commits it.
pub(crate) type OpenInput = Box<dyn FnOnce(&Target) -> Result<EdgeInput> + Send>;

/// Opens a file, unless it is followed: then it may have to grow first.
pub(crate) fn open_file(
    py: Python<'_>,
    file: FileSettings,
    target: &Target,
    database: &Path,
    options: &mut StreamOptions,
) -> PyOutcome<OpenInput> {
    options.source = Some(file.path.clone());
    options.from_start = file.from_start;
    options.bad_lines = one_of("bad_lines", &file.bad_lines, &BAD_LINES)?;
    let mut read = file.read.options()?;
    if let Some(path) = &file.rejects {
        let inputs = std::slice::from_ref(&file.path);
        options.rejects = Some(Arc::new(RejectsFile::append(path, said, database, inputs)?));
        (options.bad_lines, read) = (BadLines::Skip, read.keeping_rejected());
    }
    read = reading_of_rows(target, options, read);
    read.live =
        Some(GrowingInput { follow: file.follow, stop: options.stop.clone(), ..GrowingInput::default() });
    let inputs = [file.path];
    if file.follow {
        return Ok(Box::new(move |target| open_edges(target, &inputs, &read, Purpose::Add)));
    }
    let input = py.detach(|| open_edges(target, &inputs, &read, Purpose::Add))?;
    Ok(Box::new(|_| Ok(input)))
}
