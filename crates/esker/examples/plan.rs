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

use esker::MemoryLimit;
use esker::catalogue::{Job, Params, Resources, find};
use esker::graph::{Run, Stop};
use esker::import::{ImportOptions, Input, ReadOptions, import_inputs};
use esker::plan::{Request, estimate_on, plan};
use esker::store::Store;

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
    let (view, run) = (Store::open(&path)?.latest()?.view(), Run::with_threads(1)?);
    let (entry, params) = (find("pagerank")?, Params::default());

    // Threads and limit of the run; the memory that is free, if the run has no limit.
    let resources = Resources::of(&run);
    let estimate = estimate_on(&view, entry, &params, &resources)?;
    writeln!(out, "pagerank needs {} B for each vertex", estimate.memory_bytes / 1000)?;

    let plan_of = |resources| plan(&view, entry, &params, &Request::default(), &resources);
    let chosen = plan_of(resources)?;
    for candidate in chosen.candidates.iter().filter(|one| one.obstacle.is_none()) {
        let verdict = if candidate.whole_bytes <= resources.memory.bytes() { "fits" } else { "does not fit" };
        writeln!(out, "{}: {verdict}", candidate.name())?;
    }
    writeln!(out, "chosen: {}", chosen.chosen().name())?;
    let planned = chosen.apply(&view)?;
    let answer = entry.run(&Job { view: &planned, run: &run, params: &params, verify: false })?;
    writeln!(out, "{} vertices ranked", answer.columns[0].values.len())?;

    let refused = plan_of(Resources { memory: MemoryLimit::of(1 << 20), ..resources });
    if let Err(esker::Error::Store(esker::store::Error::Stop(Stop::OverBudget { needed_bytes, .. }))) =
        refused
    {
        let mib = needed_bytes.div_ceil(1 << 20);
        let suffices = plan_of(Resources { memory: MemoryLimit::of(needed_bytes), ..resources }).is_ok();
        writeln!(out, "with 1 MiB it is refused, and {mib} MiB would suffice: {suffices}")?;
    }
    Ok(())
}
