//! Opens the graph of a command: a database, or files of edges imported to a temporary one.

use std::path::Path;

use esker::graph::Cancel;
use esker::store::{Snapshot, Store};
use tempfile::TempDir;

use crate::at::AtArgs;
use crate::failure::Failure;
use crate::importing::{PolicyArgs, import_files};
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
        return Ok(Opened { snapshot: at.snapshot(&Store::open(path)?)?, _temporary: None });
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
