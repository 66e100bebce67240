//! Damage, cancellation and limits for every algorithm of the catalogue, on versions of several layers whose
//! complete layer is read from tiles, from a pool or with heads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use esker::catalogue::{Job, Resources};
use esker::graph::generate::{Generator, Model, RMat, Weighting};
use esker::graph::{Budget, Cancel, OnProgress, Run, RunOptions, Stop};
use esker::import::install::import;
use esker::import::options::ImportOptions;
use esker::import::read::generated::GeneratorReader;
use esker::plan::{Request as Reading, plan};
use esker::store::io::{Disk, FaultyDisk};
use esker::store::layer::Body;
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::tiles::ConvertOptions;
use esker::store::{Access, Database, DatabaseOptions, GraphEncoding, HeadedOptions, Store, View};
use esker::{Error, MemoryLimit};

use crate::forms::accesses;
use crate::requests::{Request, requests};

const DB: &str = "g.esker";
const LAYERS: usize = 5;

/// A graph of some hundred vertices in a tiled and headed layer, under layers that add and remove edges.
fn layered() -> FaultyDisk {
    let faulty = FaultyDisk::new(1);
    let disk: Arc<dyn Disk> = Arc::new(faulty.clone());
    let model = Model::RMat(RMat::kronecker(8, 8));
    let generator = Generator::new(&model, Weighting::Int { max: 20 }, 3).expect("a generator");
    let reader = Box::new(GeneratorReader::new(generator));
    let options = ImportOptions {
        directed: Some(false),
        threads: 1,
        memory_bytes: 16 << 20,
        ..ImportOptions::default()
    };
    import(&disk, reader, Path::new(DB), &options, StagingOptions::default()).expect("an import");
    let options = DatabaseOptions { auto_merge: Some(false), threads: 1, ..DatabaseOptions::default() };
    let database = Database::open_on(disk, Path::new(DB), options).expect("a database");
    let run = Run::with_threads(1).expect("a thread");
    database.make_tiles(&ConvertOptions::default(), &run).expect("tiles");
    let heads = HeadedOptions { head_len: Some(2), memory_bytes: 64 << 20 };
    database.make_heads(heads, &run).expect("heads");
    for commit in 1..LAYERS as u64 {
        let mut batch = database.batch();
        for k in 0..20 {
            let (u, v) = (commit * 31 + k * 3, 255 - k * 5 - commit);
            batch.add_edge(u % 256, v, &[PropertyValue::from(7_i64)]).expect("an edge");
            batch.remove_edge(k, (u + commit) % 64).expect("an edge");
        }
        database.commit(batch, "more, and less").expect("a commit");
        database.freeze(&run).expect("a layer");
    }
    database.close().expect("an end");
    faulty
}

fn open(disk: &FaultyDisk) -> View {
    let store = Store::open_on(Arc::new(disk.clone()), Path::new(DB)).expect("a store");
    store.latest().expect("a version").view()
}

fn limited(threads: usize, bytes: u64) -> RunOptions {
    RunOptions { threads, budget: Budget::new(bytes), ..RunOptions::default() }
}

fn start(view: &View, request: &Request, options: RunOptions, verify: bool) -> Result<(), Error> {
    let run = Run::new(options).expect("threads");
    let job = Job { view, run: &run, params: &request.params, verify };
    request.entry.run(&job).map(drop)
}

fn stop(error: &Error) -> Option<&Stop> {
    match error {
        Error::Store(esker::store::Error::Stop(stop)) => Some(stop),
        _ => None,
    }
}

/// The file that holds most of what an access reads of the complete layer, and the place of a byte in it.
fn read_by(access: &Access, view: &View) -> (PathBuf, u64) {
    let layer = view.version().complete_layer();
    if access.encoding() == GraphEncoding::Tiles {
        let data = view.version().tiles().expect("tiles").data();
        return (data.path().to_owned(), data.first_byte() + data.len() as u64 / 2);
    }
    let Body::Arrays(arrays) = layer.out().main().body() else { panic!("lists are plain") };
    let targets = arrays.targets_column();
    (targets.path().to_owned(), targets.first_byte() + 2 * targets.len() as u64)
}

#[test]
fn damage_below_later_layers_is_an_error_that_names_the_file_or_does_not_matter() {
    let disk = layered();
    for (how, access) in accesses(&open(&disk)) {
        let (path, byte) = read_by(&access, &open(&disk));
        let (mut found, mut unmet) = (0, 0);
        for request in requests("1") {
            let name = format!("{} {} on {how}", request.entry.name, request.variant);
            let read = || open(&disk).resident(access).expect("what there is");
            start(&read(), &request, limited(2, 1 << 30), true)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            disk.flip(&path, byte, 3).expect("a bit");
            match start(&read(), &request, limited(2, 1 << 30), true) {
                Ok(()) => unmet += 1,
                Err(Error::Store(error @ esker::store::Error::Corrupt { .. })) => {
                    let file = path.file_name().and_then(|name| name.to_str()).expect("a name");
                    assert!(error.to_string().contains(file), "{name}: {error}");
                    found += 1;
                }
                Err(other) => panic!("{name}: {other}"),
            }
            disk.flip(&path, byte, 3).expect("the bit");
        }
        // Few read single lists instead of tiles, or no list with that byte.
        assert!(found > 2 * unmet, "{how}: {found} found, {unmet} did not meet it");
    }
}

#[test]
fn cancelling_stops_every_run_soon() {
    let view = open(&layered());
    for (how, access) in accesses(&view) {
        let view = view.clone().resident(access).expect("what there is");
        for request in requests("1") {
            let cancel = Cancel::default();
            let token = cancel.clone();
            let on_progress: OnProgress = Arc::new(move |_| token.cancel());
            let options =
                RunOptions { threads: 2, cancel, on_progress: Some(on_progress), ..RunOptions::default() };
            let begin = Instant::now();
            let name = format!("{} {} on {how}", request.entry.name, request.variant);
            let error = start(&view, &request, options, false).expect_err(&name);
            assert_eq!(stop(&error), Some(&Stop::Cancelled), "{name}: {error}");
            assert!(begin.elapsed() < Duration::from_secs(10), "{name}");
        }
    }
}

#[test]
#[allow(clippy::print_stdout)] // How many cells ran, and how many were refused.
fn a_run_keeps_to_the_least_limit_that_its_plan_names_and_is_refused_below() {
    let view = open(&layered());
    let (mut planned, mut refused) = (0, 0);
    for (how, access) in accesses(&view) {
        let reading = Reading {
            encoding: Some(access.encoding()),
            residency: Some(access.residency()),
            head_len: None,
        };
        for request in requests("1") {
            let Request { entry, params, variant } = &request;
            let name = format!("{} {variant} on {how}", entry.name);
            let choose = |memory_bytes| {
                let resources = Resources {
                    threads: 2,
                    deterministic: false,
                    memory: MemoryLimit::of(memory_bytes),
                    rates: esker::rates::Rates::default(),
                };
                plan(&view, entry, params, &reading, &resources)
            };
            let needed = match choose(1000) {
                Err(error) if error.to_string().contains("encoding = lists") => {
                    assert_eq!(access.encoding(), GraphEncoding::Tiles, "{name}: {error}");
                    refused += 1;
                    continue;
                }
                Err(error) => match stop(&error) {
                    Some(Stop::OverBudget { needed_bytes, .. }) => *needed_bytes,
                    _ => panic!("{name}: {error}"),
                },
                Ok(_) => panic!("{name} fits 1000 bytes"),
            };
            assert!(choose(needed - 1).is_err(), "{name}");
            let chosen = choose(needed).unwrap_or_else(|error| panic!("{name}: {error}"));
            let read = chosen.apply(&view).expect("what there is");
            start(&read, &request, limited(2, needed), false)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            planned += 1;
        }
    }
    println!("{planned} runs planned, {refused} refused: algorithms that read single lists, on tiles");
    assert!(planned > 8 * refused && refused > 0, "{planned} {refused}");
}
