//! The rates of opening, verifying, copying and scanning a graph that is made for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use esker_graph::generate::{Generator, Model, RMat, Weighting};
use esker_graph::random::Random;
use esker_graph::{Direction, Run};
use esker_import::install::import;
use esker_import::options::{ImportOptions, NumberingOrder};
use esker_import::read::generated::GeneratorReader;
use esker_store::format::{Encoding, WriteOptions};
use esker_store::io::RealDisk;
use esker_store::manifest::StagingOptions;
use esker_store::tiles::ConvertOptions;
use esker_store::{Access, Database, DatabaseOptions, GraphEncoding, Store, View};

use super::effort::{Effort, best};
use crate::catalogue::{Job, Params, find};
use crate::error::Result;
use crate::rates::{Rate, Rates};

/// Edges of the graph a vertex.
const DEGREE: u64 = 16;
/// Layers on top of the complete one, each of a hundredth of its edges.
const LATER_LAYERS: u64 = 10;
/// Rounds of PageRank: the first brings pages in.
const ROUNDS: u64 = 5;
/// Memory of an import.
const IMPORT_BYTES: u64 = 192 << 20;

/// Of graphs in `directory`.
pub(super) fn measure(rates: Rates, directory: &Path, effort: &Effort, run: &Run) -> Result<Rates> {
    let seconds = effort.seconds / 4.0;
    let plain = make(directory, Encoding::Plain, "plain lists", effort, run)?;
    let open = || open(&plain).map(|view| view.1);
    let one_layer = 1.0 / best(1.0, 0.0, open)?;
    let rates = rates.with(Rate::VerifyBytes, verified_bytes(&plain, seconds, run)?);
    let rates = rates.with(Rate::ScanPlain, scan(&plain, Access::default(), seconds, run)?);
    let rates = rates.with(Rate::Copy, copy(&plain, seconds, run)?);
    let stage = run.begin("tiles", 0)?;
    stage.round(0)?;
    let database =
        Database::open(&plain, DatabaseOptions { threads: run.threads(), ..DatabaseOptions::default() })?;
    database.make_tiles(&ConvertOptions::default(), &stage)?;
    let rates =
        rates.with(Rate::ScanTiles, scan(&plain, Access::Mapped(GraphEncoding::Tiles), seconds, run)?);
    add_layers(&database, effort, run)?;
    database.close()?;
    let many = 1.0 / best(1.0, 0.0, open)?;
    // What opening costs beyond the layers is too little to tell.
    let layer = ((many - one_layer) / LATER_LAYERS as f64).max(1e-6);
    let rates = rates.with(Rate::OpenLayers, 1.0 / layer);
    let rates = rates.with(Rate::ScanLayers, scan(&plain, Access::default(), seconds, run)?);
    let rates = rates.with(Rate::CopyLayers, copy(&plain, seconds, run)?);
    let compressed = make(directory, Encoding::Compressed, "compressed lists", effort, run)?;
    Ok(rates.with(Rate::ScanCompressed, scan(&compressed, Access::default(), seconds, run)?))
}

/// Imports the graph.
fn make(
    directory: &Path,
    encoding: Encoding,
    what: &'static str,
    effort: &Effort,
    run: &Run,
) -> Result<PathBuf> {
    let run = run.begin(what, IMPORT_BYTES)?;
    run.round(0)?;
    let path = directory.join(format!("{encoding:?}.esker"));
    let model = Model::RMat(RMat::kronecker(effort.scale, DEGREE));
    let generator = Generator::new(&model, Weighting::None, 1)?;
    let options = ImportOptions {
        encoding,
        directed: Some(false),
        order: NumberingOrder::Degree,
        threads: run.threads(),
        memory_bytes: IMPORT_BYTES,
        cancel: run.cancel().clone(),
        // Layers are to stay as they are added.
        writes: Some(WriteOptions { auto_merge: false, ..WriteOptions::default() }),
        ..ImportOptions::default()
    };
    let reader = Box::new(GeneratorReader::new(generator));
    import(&(Arc::new(RealDisk) as Arc<_>), reader, &path, &options, StagingOptions::default())?;
    Ok(path)
}

/// Adds edges between random vertices, in layers.
fn add_layers(database: &Database, effort: &Effort, run: &Run) -> Result<()> {
    let run = run.begin("layers", 0)?;
    run.round(0)?;
    let (num_vertices, mut random) = (1_u64 << effort.scale, Random::new(1));
    let mut draw = || random.below(num_vertices);
    for layer in 0..LATER_LAYERS {
        let mut batch = database.batch();
        for _ in 0..(num_vertices * DEGREE / 100).max(1) {
            batch.add_edge(draw(), draw(), &[])?;
        }
        database.commit(batch, "more")?;
        database.freeze(&run)?;
        run.set_done(layer + 1, LATER_LAYERS);
    }
    Ok(())
}

/// The newest version, nothing of it verified yet, and the seconds that opening took.
fn open(path: &Path) -> Result<(View, f64)> {
    let begin = Instant::now();
    let version = Store::open(path)?.latest()?;
    Ok((version.view(), begin.elapsed().as_secs_f64()))
}

/// Bytes of lists verified in a second.
fn verified_bytes(path: &Path, seconds: f64, run: &Run) -> Result<f64> {
    let layer = &open(path)?.0;
    let lists = layer.version().complete_layer().out().main();
    let bytes = lists.list_bytes() + lists.num_lists() as u64 * 8;
    best(bytes as f64, seconds, || {
        let (view, _) = open(path)?;
        let begin = Instant::now();
        view.graph::<()>(run)?.prepare(run, Direction::Out)?;
        Ok(begin.elapsed().as_secs_f64())
    })
}

/// Arcs copied to memory in a second, of lists that were verified before.
fn copy(path: &Path, seconds: f64, run: &Run) -> Result<f64> {
    let view = open(path)?.0;
    view.graph::<()>(run)?.prepare(run, Direction::Out)?;
    let copied = view.clone().resident(Access::Memory)?;
    best(view.num_arcs() as f64, seconds, || {
        let begin = Instant::now();
        let graph = copied.graph::<()>(run)?;
        let taken = begin.elapsed().as_secs_f64();
        drop(graph);
        Ok(taken)
    })
}

/// Arcs that rounds of PageRank sum over in a second.
fn scan(path: &Path, access: Access, seconds: f64, run: &Run) -> Result<f64> {
    let view = open(path)?.0.resident(access)?;
    let params = Params::default().with("rounds", ROUNDS.to_string()).with("tolerance", "0");
    let job = Job { view: &view, run, params: &params, verify: false };
    let pagerank = find("pagerank")?;
    best((view.num_arcs() * ROUNDS) as f64, seconds, || Ok(pagerank.run(&job)?.seconds))
}
