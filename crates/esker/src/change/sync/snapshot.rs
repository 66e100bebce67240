//! An input as a temporary database of the same schema.

use std::path::Path;
use std::sync::Arc;

use esker_graph::Run;
use esker_import::ImportOptions;
use esker_import::install::import;
use esker_import::read::source::{IdKind, Schema};
use esker_store::format::Duplicates;
use esker_store::io::{Disk, RealDisk, TemporaryDirectory};
use esker_store::log::Sync;
use esker_store::manifest::StagingOptions;
use esker_store::{CommitOptions, Database, DatabaseOptions, Result, Version};

use super::super::columns::EdgeInput;
use super::super::feed::feed;
use super::super::feed_options::{FeedOptions, FeedReport};
use super::super::target::Target;
use super::no_edges::NoEdges;

/// The graph of an input. Dropping it deletes the temporary database.
pub(super) struct Snapshot {
    pub(super) version: Version,
    pub(super) report: FeedReport,
    _directory: TemporaryDirectory,
}

impl Snapshot {
    /// Reads an input for a database: what it would have after the input was added to it while it was empty.
    pub(super) fn read(
        database: &Database,
        target: &Target,
        input: EdgeInput,
        options: &FeedOptions,
        run: &Run,
    ) -> Result<Self> {
        let directory = TemporaryDirectory::new()?;
        let path = directory.path().join("snapshot.esker");
        // Never before the first version of the temporary database.
        let time_ms = Some(options.commit.time_ms.unwrap_or(0));
        create(&path, database, target, time_ms, options)?;
        let snapshot = Database::open_under(&path, database_options(database, run), run)?;
        define_vertex_properties(&snapshot, target, time_ms)?;
        let commit = CommitOptions { time_ms, ..CommitOptions::default() };
        let duplicates = input.reader.entries_add_up()?.then_some(Duplicates::Sum);
        let options = FeedOptions { commit, batch_edges: None, duplicates, ..options.clone() };
        let mut report = FeedReport::default();
        feed(&snapshot, target, input, &options, &mut report)?;
        snapshot.freeze(run)?;
        let version = snapshot.latest()?;
        snapshot.close()?;
        Ok(Self { version, report, _directory: directory })
    }
}

/// It need not survive a crash, and is read once.
fn database_options(database: &Database, run: &Run) -> DatabaseOptions {
    DatabaseOptions {
        sync: Sync::Never,
        budget: database.budget().clone(),
        scratch: database.may_scratch(),
        auto_merge: Some(false),
        threads: run.threads(),
        ..DatabaseOptions::default()
    }
}

/// Makes the empty database.
fn create(
    path: &Path,
    database: &Database,
    target: &Target,
    time_ms: Option<u64>,
    options: &FeedOptions,
) -> Result<()> {
    let properties: Vec<_> = target.given_properties().collect();
    let schema = Schema {
        operation: None,
        kind: None,
        format: "nothing",
        ids: if target.text_ids { IdKind::Text } else { IdKind::Int },
        types: properties.iter().map(|one| Some(one.property_type())).collect(),
        weight: properties.iter().position(|one| one.weight),
        time: None,
        directed: Some(target.directed),
        both_ends: false,
        input_bytes: Some(0),
        properties: properties.iter().map(|one| one.name.clone()).collect(),
    };
    let import_options = ImportOptions {
        directed: Some(target.directed),
        in_edges: false,
        duplicates: database.batch().duplicates(),
        kind: properties.iter().find(|one| one.kind).map(|one| one.name.clone()),
        time_ms,
        cancel: options.cancel.clone(),
        ..ImportOptions::default()
    };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    import(&disk, Box::new(NoEdges { schema }), path, &import_options, StagingOptions::default())?;
    Ok(())
}

/// The values of vertices have the types that the database knows.
fn define_vertex_properties(snapshot: &Database, target: &Target, time_ms: Option<u64>) -> Result<()> {
    if target.vertex_properties.is_empty() {
        return Ok(());
    }
    let mut batch = snapshot.batch();
    for property in &target.vertex_properties {
        batch.define_vertex_property(&property.name, property.property_type());
    }
    snapshot.commit_with(batch, &CommitOptions { time_ms, ..CommitOptions::default() })?;
    Ok(())
}
