//! Looks back: versions, tags, times, the differences between two versions, and what retention keeps.
//!
//! Prints:
//!
//! ```text
//! 1: 3 edges, import
//! 2: 4 edges, a detour
//! 3: 3 edges, the detour ends
//! before: version 1
//! at 2026-03-02: version 2
//! - paris lyon km=465
//! + paris dijon km=315
//! + dijon
//! 1 edges added, 1 removed
//! left: 1, 3
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use esker::Session;
use esker::differences::{Differences, Style};
use esker::graph::Run;
use esker::import::{ImportOptions, Input, PickProperties, ReadOptions, import_inputs};
use esker::store::diff::diff;
use esker::store::format::Retention;
use esker::store::{CommitOptions, Database, DatabaseOptions};

/// Milliseconds since 1970 of a day of March 2026.
const fn march(day: u64) -> u64 {
    (20_512 + day) * 86_400_000
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(directory.path(), &mut stdout())
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let path = directory.join("roads.esker");
    let roads = "source,target,km\nparis,lyon,465\nlyon,nice,472\nparis,lille,225\n";
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let options = ImportOptions {
        message: Some("import".to_owned()),
        time_ms: Some(march(1)), // an event time; by default the time of the import
        ..ImportOptions::default()
    };
    import_inputs(&[Input::memory("roads.csv", roads.as_bytes())], &path, &read, &options)?;

    let db = Database::open(&path, DatabaseOptions::default())?;
    db.tag("before", 1)?; // a tagged version stays, whatever the retention
    let mut batch = db.batch();
    batch.add_edge("paris", "dijon", &[315.into()])?;
    let on = |day, message: &str| CommitOptions {
        message: message.to_owned(),
        time_ms: Some(march(day)),
        ..CommitOptions::default()
    };
    db.commit_with(batch, &on(2, "a detour"))?;
    let mut batch = db.batch();
    batch.remove_edge("paris", "lyon")?;
    db.commit_with(batch, &on(3, "the detour ends"))?;

    for version in db.versions() {
        let edges = db.at(version.number)?.num_edges();
        writeln!(out, "{}: {edges} edges, {}", version.number, version.message)?;
    }
    let session = Session::open(&path)?;
    for (text, name) in [("before", "before"), ("2026-03-02", "at 2026-03-02")] {
        let view = session.at(text)?; // a number, a tag, a time, or latest
        writeln!(out, "{name}: version {}", view.version().number())?;
    }

    let (old, new) = (db.at(1)?, db.at(3)?);
    let mut lines = Differences::new(&old, &new, Style::Script, &mut *out);
    let summary = diff(&old, &new, &Run::with_threads(1)?, |difference| lines.write(&difference))?;
    lines.finish()?;
    writeln!(out, "{} edges added, {} removed", summary.edges_added, summary.edges_removed)?;

    db.retain(Retention::Last(1))?; // forgets version 2, which has no tag
    let left: Vec<String> = db.versions().iter().map(|version| version.number.to_string()).collect();
    writeln!(out, "left: {}", left.join(", "))?;
    Ok(db.close()?)
}
