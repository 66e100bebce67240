//! Keeps an answer up to date while the graph changes, and shows what each commit changed in it.
//!
//! Prints the depths of a search from vertex 0 of the path 0 -> 1 -> 2 -> 3:
//!
//! ```text
//! version 1: 4 depths
//! version 2, by an update: 2: 2 -> 1, 3: 3 -> 2
//! version 3, by an update: 4: none -> 3
//! version 4, by an update: 1: 1 -> none
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;
use std::sync::Arc;

use esker::answer::Value;
use esker::catalogue::{Params, find};
use esker::follow::{Follow, MethodChoice};
use esker::graph::Run;
use esker::import::{ImportOptions, Input, ReadOptions, import_inputs};
use esker::store::io::RealDisk;
use esker::store::{Batch, Database, DatabaseOptions, Follower};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(directory.path(), &mut stdout())
}

/// A change of the graph.
type Change = fn(&mut Batch) -> esker::store::Result<()>;

const CHANGES: [Change; 3] = [
    |batch| batch.add_edge(0_u64, 2_u64, &[]),
    |batch| batch.add_edge(3_u64, 4_u64, &[]),
    |batch| batch.remove_edge(0_u64, 1_u64),
];

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let path = directory.join("path.esker");
    let edges = Input::memory("path.el", *b"0 1\n1 2\n2 3\n");
    import_inputs(&[edges], &path, &ReadOptions::default(), &ImportOptions::default())?;

    // The writer; usually another thread or another process.
    let db = Database::open(&path, DatabaseOptions::default())?;

    // A follower reads the database and keeps up with the log of the writer.
    let run = Arc::new(Run::with_threads(1)?);
    let mut follower = Follower::open(Arc::new(RealDisk), &path, Arc::clone(&run))?;
    let newest = follower.at(follower.newest())?.view();
    let params = Params::default().with("source", "0");
    // By default, a step is what should be cheaper: an update or a recomputation.
    let mut follow = Follow::start(newest, find("bfs")?, &params, run)?.with_choice(MethodChoice::Update);
    writeln!(out, "version {}: {} depths", follow.version(), follow.answer().columns[0].values.len())?;

    for change in CHANGES {
        let mut batch = db.batch();
        change(&mut batch)?;
        db.commit(batch, "a change")?;

        follower.refresh()?; // what others committed since the last call
        let step = follow.advance(follower.at(follower.newest())?.view())?;
        let ids = follow.view().version().ids();
        let text = |value: Value| match value {
            Value::Missing => Ok("none".to_owned()),
            value => value.to_text(ids),
        };
        let mut changed = Vec::new();
        for one in &step.changed {
            let vertex = Value::Vertex(one.vertex);
            changed.push(format!("{}: {} -> {}", text(vertex)?, text(one.old)?, text(one.new)?));
        }
        writeln!(out, "version {}, by an update: {}", step.version, changed.join(", "))?;
    }
    Ok(db.close()?)
}
