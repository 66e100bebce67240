//! Changes a database: batches, commits, what a commit reports, and a commit that comes too late.
//!
//! Prints:
//!
//! ```text
//! version 2: 4 edges, 1 removed
//! carol is followed by 2
//! refused: the newest version is 2, not 1
//! version 3: 3 edges
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use esker::graph::Direction;
use esker::import::{ImportOptions, Input, ReadOptions, import_inputs};
use esker::store::{CommitOptions, Database, DatabaseOptions, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(directory.path(), &mut stdout())
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let path = directory.join("people.esker");
    let edges = Input::memory("follows.csv", *b"source,target\nalice,bob\nbob,carol\ncarol,alice\n");
    import_inputs(&[edges], &path, &ReadOptions::default(), &ImportOptions::default())?; // version 1

    // One process at a time writes. A commit is on the disk before `commit_with` returns.
    let db = Database::open(&path, DatabaseOptions::default())?;
    let mut batch = db.batch();
    batch.add_edge("dave", "carol", &[])?; // unknown ends become vertices
    batch.add_edge("dave", "alice", &[])?;
    batch.remove_edge("alice", "bob")?;
    batch.count_removed();
    let options =
        CommitOptions { message: "dave joins".to_owned(), follows: Some(1), ..CommitOptions::default() };
    let committed = db.commit_with(batch, &options)?;
    let (version, removed) = (committed.version, committed.removed.unwrap_or(0));
    writeln!(out, "version {version}: {} edges, {removed} removed", db.at(version)?.num_edges())?;

    // Point reads see every commit at once.
    if let Some(carol) = db.vertex_of("carol".into())? {
        writeln!(out, "carol is followed by {}", db.degree(Direction::In, carol)?)?;
    }

    // `follows` refuses a batch that was made for an older version.
    let mut late = db.batch();
    late.add_edge("erin", "alice", &[])?;
    if db.commit_with(late, &options).is_err() {
        writeln!(out, "refused: the newest version is {version}, not 1")?;
    }

    // Removing a vertex removes its edges.
    let mut batch = db.batch();
    batch.remove_vertex("bob")?;
    let version = db.commit(batch, "bob leaves")?;
    db.close()?; // optional: it reports errors of the work in the background

    // Any number of processes read, also while one writes.
    writeln!(out, "version {version}: {} edges", Store::open(&path)?.at(version)?.num_edges())?;
    Ok(())
}
