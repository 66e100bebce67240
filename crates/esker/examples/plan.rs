//! What a run will need, before it starts: an estimate, a plan within a memory limit, and a refusal.
//!
//! Prints:
//!
//! ```text
//! pagerank needs 32 B for each vertex
//! lists, mapped: fits
//! lists, headed: fits
//! lists, pooled: fits
//! lists, memory: fits
//! chosen: lists, mapped
//! 1000 vertices ranked
//! with 1 MiB it is refused, and 33 MiB would suffice: true
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use esker::graph::Stop;
use esker::import::{ImportOptions, Input, ReadOptions, import_inputs};
use esker::{MemoryLimit, Params, Session, SessionOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(directory.path(), &mut stdout())
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let path = directory.join("ring.esker");
    let ring: String = (0..1000).map(|v| format!("{v} {}\n", (v + 1) % 1000)).collect();
    import_inputs(
        &[Input::memory("ring.el", ring.into_bytes())],
        &path,
        &ReadOptions::default(),
        &ImportOptions::default(),
    )?;
    let within = |bytes| SessionOptions { threads: 1, ..SessionOptions::within(MemoryLimit::of(bytes)) };
    let session = Session::open_with(&path, &within(1 << 30))?;
    let (view, params) = (session.latest()?, Params::default());

    let estimate = view.estimate("pagerank", &params)?;
    writeln!(out, "pagerank needs {} B for each vertex", estimate.memory_bytes / 1000)?;

    let chosen = view.plan("pagerank", &params)?.plan; // nothing is read yet
    for candidate in chosen.candidates.iter().filter(|one| one.obstacle.is_none()) {
        let verdict = if candidate.whole_bytes <= 1 << 30 { "fits" } else { "does not fit" };
        writeln!(out, "{}: {verdict}", candidate.name())?;
    }
    writeln!(out, "chosen: {}", chosen.chosen().name())?;
    let ranks = view.run("pagerank", &params)?;
    writeln!(out, "{} vertices ranked", ranks.columns[0].values.len())?;

    let plan_within = |bytes| -> esker::Result<()> {
        Session::open_with(&path, &within(bytes))?.latest()?.plan("pagerank", &params).map(drop)
    };
    if let Err(esker::Error::Store(esker::store::Error::Stop(Stop::OverBudget { needed_bytes, .. }))) =
        plan_within(1 << 20)
    {
        let mib = needed_bytes.div_ceil(1 << 20);
        let suffices = plan_within(needed_bytes).is_ok();
        writeln!(out, "with 1 MiB it is refused, and {mib} MiB would suffice: {suffices}")?;
    }
    Ok(())
}
