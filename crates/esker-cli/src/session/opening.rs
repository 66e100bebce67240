//! Opens the graph of a command: a database, or files of edges imported to a temporary one.

use std::path::Path;

use clap::{Arg, Args, Command};
use esker::Error;
use esker::catalogue::{Entry, Params};
use esker::graph::{Cancel, Run, RunOptions, Stop};
use esker::plan::{Request, least_bytes};
use esker::store::io::TemporaryDirectory;
use esker::store::{self, Database, DatabaseOptions, Store, Version};

use crate::args::at::AtArgs;
use crate::args::importing::{ImportedFiles, PolicyArgs, import_files};
use crate::args::reading::ReadArgs;
use crate::args::resources::ResourceArgs;
use crate::failure::Failure;
use crate::interrupt::cancel_on_signals;
use crate::language::said;
use crate::show::progress::Bar;
use crate::show::text;

/// Bytes a vertex of tables beside those of an algorithm.
const TABLES_BYTES: u64 = 96;

/// What was asked of the graph of a command.
pub(crate) struct GraphArgs<'a> {
    /// A database, or files of edges.
    pub(crate) inputs: &'a [String],
    pub(crate) at: &'a AtArgs,
    pub(crate) read: &'a ReadArgs,
    pub(crate) policy: &'a PolicyArgs,
    pub(crate) resources: &'a ResourceArgs,
    /// The names of the arguments that were given.
    pub(crate) given: &'a [String],
    /// The memory that comes after the opening of a version, about.
    pub(crate) later_bytes: &'a dyn Fn(&Version) -> Result<u64, Failure>,
}

/// The option of `run` for the format of input files; its `--format` is the form of the rows that it prints.
pub(crate) const INPUT_FORMAT: &str = "input-format";

/// Refuses options that say how to read files, where a database is given. The weight and the time are
/// properties there.
pub(crate) fn refuse_reading(database: &str, given: &[String]) -> Result<(), Failure> {
    let command = PolicyArgs::augment_args(ReadArgs::augment_args(Command::new("")));
    let command = command.mut_arg("format", |input| input.long(INPUT_FORMAT));
    let is_given = |argument: &&Arg| given.iter().any(|name| name == argument.get_id().as_str());
    let mut refused =
        command.get_arguments().filter(|argument| !["weight", "time"].contains(&argument.get_id().as_str()));
    let Some(option) = refused.find(is_given) else { return Ok(()) };
    Err(Failure::Usage(format!(
        "--{} has no effect on {database}: it says how to read files of edges, and a database is read as it is",
        option.get_long().unwrap_or_default()
    )))
}

/// An open graph. Dropping it deletes a temporary database.
pub(crate) struct OpenedGraph {
    /// The version to read.
    pub(crate) version: Version,
    /// Whether it was imported from files.
    pub(crate) is_imported: bool,
    _temporary: Option<TemporaryDirectory>,
}

/// Opens a database, or imports files into a temporary one.
pub(crate) fn open_graph(args: &GraphArgs<'_>, cancel: &Cancel) -> Result<OpenedGraph, Failure> {
    let GraphArgs { inputs, at, read, policy, resources, .. } = *args;
    if let [path] = inputs
        && Path::new(path).is_dir()
    {
        refuse_reading(path, args.given)?;
        let (store, bar) = open_store(Path::new(path), resources, cancel)?;
        let version = at.version(&store);
        bar.finish();
        if version.is_err()
            && let Err(error @ store::Error::Stop(Stop::OverBudget { .. })) = store.latest()
        {
            return Err(with_later(error, || (args.later_bytes)(&store.frozen()?)));
        }
        return Ok(OpenedGraph { version: version?, is_imported: false, _temporary: None });
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
    let temporary = TemporaryDirectory::new()?;
    let target = temporary.path().join("graph.esker");
    let imported =
        import_files(&ImportedFiles::All(inputs.to_vec()), &target, read, policy, resources, cancel, false)?;
    imported.notes.iter().for_each(|note| text::remark(&said(note)));
    text::remark_rejected(&imported.report.rejected_sample);
    let version = Store::open(&target)?.latest()?;
    Ok(OpenedGraph { version, is_imported: true, _temporary: Some(temporary) })
}

/// The failure of a first step. If the memory limit was too low for it, it names a limit that suffices for
/// what comes later, too.
pub(crate) fn with_later(
    error: impl Into<Error>,
    later_bytes: impl FnOnce() -> Result<u64, Failure>,
) -> Failure {
    match error.into() {
        Error::Store(store::Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes })) => {
            let needed_bytes = needed_bytes.saturating_add(later_bytes().unwrap_or(0));
            Stop::OverBudget { what, needed_bytes, budget_bytes }.into()
        }
        other => other.into(),
    }
}

/// The memory that an algorithm takes on a version, about: what its plan needs at least, and the tables of
/// vertices that selections, windows and live answers have beside it.
pub(crate) fn later_bytes_on(
    version: &Version,
    entry: &Entry,
    params: &Params,
    request: &Request,
    resources: &ResourceArgs,
) -> Result<u64, Failure> {
    let least = least_bytes(&version.view(), entry, params, request, &resources.of_run(false))?;
    Ok(least + version.num_vertices() as u64 * TABLES_BYTES)
}

/// Opens a database for reading without a memory limit. Reading the commits in its log can be interrupted.
pub(crate) fn open_store_with(path: &Path, cancel: &Cancel) -> Result<Store, Failure> {
    let run = Run::new(RunOptions { cancel: cancel.clone(), ..RunOptions::default() })?;
    Ok(Store::open(path)?.under(run))
}

/// Opens a database for reading. Reading the commits in its log shows progress, can be interrupted, and keeps
/// to the memory limit.
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
