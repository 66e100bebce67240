//! A graph to work on: a database, or a file of edges imported for this one command.

use std::path::Path;

use esker::graph::Cancel;
use esker::store::{Snapshot, Store};
use tempfile::TempDir;

use crate::at::AtArgs;
use crate::failure::Failure;
use crate::importing::{PolicyArgs, import_files};
use crate::reading::ReadArgs;
use crate::resources::ResourceArgs;

/// An opened graph. A temporary database vanishes with it.
pub(crate) struct Opened {
    /// The version that is looked at.
    pub(crate) snapshot: Snapshot,
    _temporary: Option<TempDir>,
}

/// Opens a database as it is, and anything else by importing it to a temporary one.
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
            "{database} is a directory: give one database, or files of edges"
        )));
    }
    if at.at.is_some() {
        return Err(Failure::Usage(
            "--at names a version of a database, and files of edges have none".to_owned(),
        ));
    }
    let temporary = TempDir::with_prefix("esker-")?;
    let target = temporary.path().join("graph.esker");
    import_files(inputs, &target, read, policy, resources, cancel, false)?;
    Ok(Opened { snapshot: Store::open(&target)?.snapshot()?, _temporary: Some(temporary) })
}
