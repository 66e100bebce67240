//! Makes the newest version of a database equal to an input, in one commit.
//!
//! The input becomes a temporary database of the same schema, by the code that adds edges: the same columns,
//! types, words and rule for duplicates. Its lists are then compared with those of the newest version, vertex
//! by vertex, and the differences are committed.
//!
//! Time: that of adding the input to an empty database, and of reading all lists of both. Memory: a commit of
//! the input first, then a number for each vertex of both, two lists, and the batch of the differences.

mod no_edges;
mod comparable;
mod snapshot;
mod compare;

use esker_graph::{Direction, Run, Setting, message};
use esker_store::diff::DiffSummary;
use esker_store::{Database, Error, Result};

use super::columns::{EdgeInput, Purpose};
use super::feed_options::{FeedOptions, FeedReport};
use super::remembered::remember;
use super::room::Room;
use super::target::Target;
use compare::SnapshotComparison;
pub(crate) use no_edges::NoEdges;
use snapshot::Snapshot;

/// Options of [`sync`](fn@sync).
#[derive(Debug, Clone, Default)]
pub struct SyncOptions {
    /// How the input is read, and the commit. It is always one, under the rule of the database for
    /// duplicates.
    pub feed: FeedOptions,
    /// Whether vertices stay that the input does not name. Else they are removed.
    pub keep_vertices: bool,
    /// Whether an input without edges may remove all edges.
    pub allow_empty: bool,
    /// Whether to count the changes only.
    pub dry_run: bool,
}

/// Report of [`sync`](fn@sync).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SyncReport {
    /// The committed version; `None` if nothing was to change, or nothing was to be committed.
    pub version: Option<u64>,
    /// The changes.
    pub changes: DiffSummary,
    /// What was read, without versions: those of the temporary database mean nothing here.
    pub input: FeedReport,
}

/// Makes the newest version equal to an input of edges to add, in one commit: edges that the input lacks are
/// removed, those that it has with other values get them, others are added. Vertices that it does not name
/// are removed with their properties, unless [`SyncOptions::keep_vertices`] is set. A property of vertices of
/// which the input has a column or attribute becomes what the input says: a vertex of the input without a
/// value there has none afterwards. Other properties stay, and so do those of vertices that are kept.
///
/// # Errors
/// As [`fn@super::feed`]; [`Error::Usage`] if the input has no edges although the database has some, and that
/// is not allowed.
pub fn sync(
    database: &Database,
    target: &Target,
    input: EdgeInput,
    options: &SyncOptions,
    run: &Run,
) -> Result<SyncReport> {
    target.expect_event_time(&options.feed.commit)?;
    if input.purpose != Purpose::Add {
        return Err(Error::invalid("an input of edges to remove is no graph".to_owned()));
    }
    let reading = target.to_remember(input.reader.as_ref());
    let snapshot = Snapshot::read(database, target, input, &options.feed, run)?;
    let (old, new) = (&target.newest, &snapshot.version);
    if new.num_edges() == 0 && old.num_edges() > 0 && !options.allow_empty {
        return Err(Error::usage(message![
            format!(
                "the input has no edges, so the sync would remove {} of {}; to remove them, give ",
                esker_graph::counted(old.num_edges(), "edge", "edges"),
                target.name
            ),
            Setting::AllowEmpty.to(true),
        ]));
    }
    let (mut batch, mut room) = (database.batch(), Room::default());
    let columns = &snapshot.report.vertex_columns;
    let comparison = SnapshotComparison::new(database, old, new, options.keep_vertices, columns, run)?;
    if !old.has(Direction::In) && old.is_directed() && comparison.removes_vertices()? {
        return Err(Error::usage(message![
            "vertices that the input does not name are removed with their edges, which takes in-edges, and the database \
             stores none; keep vertices that the input does not name, or import all edges anew without ",
            Setting::InEdges.to(false),
        ]));
    }
    let changes = comparison.changes(&mut batch, &mut room)?;
    let warned = |name: &str| {
        snapshot.report.warnings.iter().any(|one| one.to_string().contains(&format!("{name:?}")))
    };
    let cleared = comparison.cleared().filter(|name| !warned(name));
    let cleared: Vec<_> = cleared
        .map(|name| format!("no edge of the input has a value of {name:?}: those that edges had go").into())
        .collect();
    let mut report = SyncReport { version: None, changes, input: snapshot.report.clone() };
    report.input.warnings.extend(cleared);
    report.input.versions.clear();
    if options.dry_run {
        return Ok(report);
    }
    room.finish(database.into(), &mut batch, 0)?;
    if batch.is_empty() {
        return Ok(report);
    }
    let mut commit = options.feed.commit.clone();
    commit.follows = Some(old.number());
    let version = database.commit_with(batch, &commit)?.version;
    remember(database.into(), reading, &[version])?;
    report.version = Some(version);
    Ok(report)
}
