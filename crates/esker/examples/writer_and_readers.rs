//! Analyses on several threads while a writer commits. Each has a version of its own, which never changes.
//!
//! Prints:
//!
//! ```text
//! 20 commits
//! 10 analyses, and each saw the edges of one version
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;
use std::thread;

use esker::algo::algorithm::components::wcc::{WccOptions, wcc};
use esker::graph::Run;
use esker::import::{ImportOptions, Input, ReadOptions, import_inputs};
use esker::store::{Database, DatabaseOptions, Result};

const COMMITS: u64 = 20;
const READERS: usize = 2;
const ANALYSES: usize = 5;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(directory.path(), &mut stdout())
}

/// Version `n` of the database is a path of `n` edges.
fn write(db: &Database) -> Result<()> {
    for v in 1..=COMMITS {
        let mut batch = db.batch();
        batch.add_edge(v, v + 1, &[])?;
        db.commit(batch, "one more edge")?;
    }
    Ok(())
}

/// Whether some newest versions are each as the writer left it.
fn read(db: &Database) -> Result<bool> {
    let run = Run::with_threads(1)?;
    let mut is_sound = true;
    for _ in 0..ANALYSES {
        let version = db.latest()?; // pinned: readers never wait, and the writer does not wait for them
        let (edges, view) = (version.number(), version.view());
        let graph = view.graph::<()>(&run)?;
        let found = wcc(&graph, &run, &WccOptions::default())?;
        let is_path = found.labels.len() as u64 == edges + 1 && found.components == 1;
        is_sound &= version.num_edges() == edges && is_path;
    }
    Ok(is_sound)
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> std::result::Result<(), Box<dyn Error>> {
    let path = directory.join("path.esker");
    let edge = Input::memory("path.el", *b"0 1\n");
    import_inputs(&[edge], &path, &ReadOptions::default(), &ImportOptions::default())?;
    let db = Database::open(&path, DatabaseOptions::default())?;

    // All methods take `&self`, so threads share the database as it is.
    let sound = thread::scope(|scope| -> Result<bool> {
        let writer = scope.spawn(|| write(&db));
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(|| read(&db))).collect();
        let mut is_sound = true;
        for reader in readers {
            is_sound &= reader.join().map_or(Ok(false), |found| found)?;
        }
        writer.join().map_or(Ok(()), |written| written)?;
        Ok(is_sound)
    })?;
    writeln!(out, "{} commits", db.latest()?.number() - 1)?;
    let saw = if sound { "each saw the edges of one version" } else { "some saw something else" };
    writeln!(out, "{} analyses, and {saw}", READERS * ANALYSES)?;
    Ok(db.close()?)
}
