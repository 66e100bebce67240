//! Opens the graph of a command: a database, or files of edges imported to a temporary one.

use std::path::Path;

use esker::graph::{Cancel, Run, RunOptions};
use esker::store::{Database, DatabaseOptions, Snapshot, Store};
use tempfile::TempDir;

use crate::at::AtArgs;
use crate::failure::Failure;
use crate::importing::{PolicyArgs, import_files};
use crate::interrupt::cancel_on_signals;
use crate::progress::Bar;
use crate::reading::ReadArgs;
use crate::resources::ResourceArgs;

/// An open graph. Dropping it deletes a temporary database.
pub(crate) struct Opened {
    /// The version to read.
    pub(crate) snapshot: Snapshot,
    _temporary: Option<TempDir>,
}

/// Opens a database, or imports files into a temporary one.
pub(crate) fn open_graph(
    inputs: &[String],
    at: &AtArgs,
    read: &ReadArgs,
    policy: &PolicyArgs,
    resources: &ResourceArgs,
    cancel: &Cancel,
) -> Result<Opened, Failure> {
    if let [path] = inputs
        && Path::new(path).is_dir()
    {
        let (store, bar) = open_store(Path::new(path), resources, cancel)?;
        let snapshot = at.snapshot(&store);
        bar.finish();
        return Ok(Opened { snapshot: snapshot?, _temporary: None });
    }
    if let Some(database) = inputs.iter().find(|path| Path::new(path).is_dir()) {
        return Err(Failure::Usage(format!(
            "{database} is a directory; give either one database or files of edges"
        )));
    }
    if at.at.is_some() {
        return Err(Failure::Usage(
            "--at selects a version of a database; files of edges have none".to_owned(),
        ));
    }
    let temporary = TempDir::with_prefix("esker-")?;
    let target = temporary.path().join("graph.esker");
    import_files(inputs, &target, read, policy, resources, cancel, false)?;
    Ok(Opened { snapshot: Store::open(&target)?.snapshot()?, _temporary: Some(temporary) })
}

/// Opens a database for reading without a memory limit. Reading the commits in its log can be interrupted.
pub(crate) fn open_store_with(path: &Path, cancel: &Cancel) -> Result<Store, Failure> {
    let run = Run::new(RunOptions { cancel: cancel.clone(), ..RunOptions::default() })?;
    Ok(Store::open(path)?.under(run))
}

/// Opens a database for reading. Reading the commits in its log shows progress, can be interrupted, and keeps to the memory limit.
pub(crate) fn open_store(
    path: &Path,
    resources: &ResourceArgs,
    cancel: &Cancel,
) -> Result<(Store, Bar), Failure> {
    let bar = Bar::spinner(false);
    let run = resources.run(cancel, 0, false, Some(bar.on_round("reading the log")))?;
    Ok((Store::open(path)?.under(run), bar))
}

/// Opens a database for a small change. Reading the commits in its log shows progress and can be interrupted.
pub(crate) fn open_for_change(path: &Path) -> Result<Database, Failure> {
    let cancel = cancel_on_signals()?;
    let bar = Bar::spinner(false);
    let on_progress = Some(bar.on_round("reading the log"));
    let run = Run::new(RunOptions { cancel, on_progress, ..RunOptions::default() })?;
    let database = Database::open_under(path, DatabaseOptions::default(), &run);
    bar.finish();
    Ok(database?)
}
