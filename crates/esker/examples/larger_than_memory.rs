//! Computes on a graph that is larger than the memory that it is given.
//!
//! The lists stay on the disk. They pass through a pool of fixed size, past the page cache; what is in the
//! pool at the end of a round is used first in the next. Prints:
//!
//! ```text
//! the lists are larger than the pool: true
//! the same components as with all of the graph in memory: true
//! all that was reserved stayed within the budget: true
//! a budget that is too small is refused: true
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;
use std::sync::Arc;

use esker::algo::algorithm::components::wcc::{WccOptions, wcc};
use esker::graph::generate::{Generator, Model, RMat, Weighting};
use esker::graph::{Budget, Run, RunOptions, Stop};
use esker::import::ImportOptions;
use esker::import::install::import;
use esker::import::read::generated::GeneratorReader;
use esker::store::io::{Disk, RealDisk};
use esker::store::manifest::StagingOptions;
use esker::store::pool::PoolOptions;
use esker::store::{Access, GraphEncoding, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(directory.path(), &mut stdout())
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    // 2^16 vertices and 16 edges for each, from a seed. The import takes at most `memory_bytes` and 64 MiB.
    let path = directory.join("kronecker.esker");
    let generator = Generator::new(&Model::RMat(RMat::kronecker(16, 16)), Weighting::None, 1)?;
    let options = ImportOptions { memory_bytes: 64 << 20, ..ImportOptions::default() };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    import(&disk, Box::new(GeneratorReader::new(generator)), &path, &options, StagingOptions::default())?;
    let version = Store::open(&path)?.latest()?;

    let needs = version.view().pooled_needs(1)?;
    let pool = PoolOptions { bytes: needs.least_bytes, ..PoolOptions::of_lists() };
    writeln!(out, "the lists are larger than the pool: {}", needs.list_bytes > pool.bytes)?;
    let pooled = version.view().resident(Access::Pooled(GraphEncoding::Lists, pool))?;

    // Everything large is reserved from the budget of the run before it is allocated.
    let budget = Budget::new(pool.bytes + needs.fixed_bytes + (1 << 20));
    let limited = Run::new(RunOptions { threads: 1, budget: budget.clone(), ..RunOptions::default() })?;
    let found = wcc(&pooled.graph::<()>(&limited)?, &limited, &WccOptions::default())?;

    let unlimited = Run::with_threads(1)?;
    let whole = version.view().resident(Access::Memory)?;
    let expected = wcc(&whole.graph::<()>(&unlimited)?, &unlimited, &WccOptions::default())?;
    let is_same = found.labels == expected.labels;
    writeln!(out, "the same components as with all of the graph in memory: {is_same}")?;
    let is_within = budget.peak_bytes() <= budget.limit_bytes();
    writeln!(out, "all that was reserved stayed within the budget: {is_within}")?;

    let tiny = Run::new(RunOptions { threads: 1, budget: Budget::new(1 << 10), ..RunOptions::default() })?;
    let refused = pooled.graph::<()>(&tiny).err();
    let is_refused = matches!(refused, Some(esker::store::Error::Stop(Stop::OverBudget { .. })));
    writeln!(out, "a budget that is too small is refused: {is_refused}")?;
    Ok(())
}
