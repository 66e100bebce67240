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

use esker::{Params, Session};

const LINKS: &str =
    "source,target\nblog,wiki\nforum,wiki\nwiki,docs\ndocs,wiki\nblog,forum\nforum,docs\nshop,docs\n";

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    match std::env::args().nth(1) {
        Some(file) => rank(file.as_ref(), directory.path(), &mut stdout()),
        None => run(directory.path(), &mut stdout()),
    }
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let file = directory.join("links.csv");
    std::fs::write(&file, LINKS)?;
    rank(&file, directory, out)
}

fn rank(file: &Path, directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let database = directory.join("links.esker");
    let report = esker::import(file, &database)?;
    writeln!(out, "{} vertices, {} edges", report.vertices, report.edges)?;

    let session = Session::open(&database)?; // one thread a processor, half of the memory
    let ranks = session.latest()?.run("pagerank", &Params::default().with("damping", "0.85"))?;
    for (vertex, score) in ranks.top(3)? {
        writeln!(out, "{vertex} {:.3}", score.number().unwrap_or(0.0))?;
    }
    Ok(())
}
