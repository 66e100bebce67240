//! Imports a file of edges and ranks its vertices.
//!
//! Takes the name of a file in any format that Esker reads, and imports it to a directory that is removed at
//! the end. Without a name it writes a small CSV file first, and prints:
//!
//! ```text
//! 5 vertices, 7 edges
//! docs 0.452
//! wiki 0.445
//! forum 0.043
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use esker::catalogue::{Job, Params, find};
use esker::graph::Run;
use esker::import::{ImportOptions, ReadOptions, import_files};
use esker::store::Store;
use esker::top::top;

const LINKS: &str =
    "source,target\nblog,wiki\nforum,wiki\nwiki,docs\ndocs,wiki\nblog,forum\nforum,docs\nshop,docs\n";

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    match std::env::args().nth(1) {
        Some(file) => rank(&file, directory.path(), &mut stdout()),
        None => run(directory.path(), &mut stdout()),
    }
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let file = directory.join("links.csv");
    std::fs::write(&file, LINKS)?;
    rank(&file.to_string_lossy(), directory, out)
}

fn rank(file: &str, directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let database = directory.join("links.esker");
    let report = import_files(&[file], &database, &ReadOptions::default(), &ImportOptions::default())?;
    writeln!(out, "{} vertices, {} edges", report.vertices, report.edges)?;

    let version = Store::open(&database)?.latest()?;
    let run = Run::with_threads(0)?; // one thread a processor
    let params = Params::default().with("damping", "0.85");
    let answer =
        find("pagerank")?.run(&Job { view: &version.view(), run: &run, params: &params, verify: false })?;
    for ranked in top(&answer, 3, run.cancel())? {
        let (vertex, score) = (ranked.key.to_text(version.ids())?, ranked.value.number().unwrap_or(0.0));
        writeln!(out, "{vertex} {score:.3}")?;
    }
    Ok(())
}
