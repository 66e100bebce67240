//! Every algorithm of the catalogue, by name, on graphs that went through the store, checked by its verifier.

use std::path::Path;
use std::sync::Arc;

use esker::algo::Shape;
use esker::catalogue::{CATALOGUE, Job, Params, Resources, find};
use esker::graph::generate::{Generator, Grid, Model, RMat, Weighting};
use esker::graph::{Direction, Run};
use esker::store::format::Encoding;
use esker::store::import::generated::GeneratorReader;
use esker::store::import::install::import;
use esker::store::import::options::{ImportOptions, VertexOrder};
use esker::store::io::{Disk, RealDisk};
use esker::store::version::StagingOptions;
use esker::store::{Snapshot, Store};

fn store(directory: &Path, name: &str, model: &Model, weighting: Weighting, order: VertexOrder) -> Store {
    encoded(directory, name, model, weighting, (order, Encoding::Plain))
}

fn encoded(
    directory: &Path,
    name: &str,
    model: &Model,
    weighting: Weighting,
    (order, encoding): (VertexOrder, Encoding),
) -> Store {
    let generator = Generator::new(model, weighting, 7).unwrap();
    let target = directory.join(name);
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let options =
        ImportOptions { order, encoding, threads: 2, memory_bytes: 64 << 20, ..ImportOptions::default() };
    let reader = Box::new(GeneratorReader::new(generator));
    import(&disk, reader, &target, &options, StagingOptions::default()).unwrap();
    Store::open(&target).unwrap()
}

fn models() -> Vec<(&'static str, Model, Weighting)> {
    let directed = RMat { directed: true, ..RMat::kronecker(9, 4) };
    vec![
        ("kron", Model::RMat(RMat::kronecker(9, 8)), Weighting::Int { max: 255 }),
        ("directed", Model::RMat(directed), Weighting::Unit),
        ("grid", Model::Grid(Grid { rows: 20, columns: 30, torus: false }), Weighting::None),
        ("path", Model::Path(300), Weighting::None),
        ("star", Model::Star(300), Weighting::Int { max: 1 }),
        ("complete", Model::Complete(30), Weighting::None),
        ("one", Model::Path(1), Weighting::None),
    ]
}

#[test]
fn every_algorithm_is_verified_on_every_kind_of_graph() {
    let directory = tempfile::tempdir().unwrap();
    let run = Run::with_threads(2).unwrap();
    for (name, model, weighting) in models() {
        for kind in [
            (VertexOrder::Keep, Encoding::Plain),
            (VertexOrder::Degree, Encoding::Plain),
            (VertexOrder::Keep, Encoding::Compressed),
            (VertexOrder::Degree, Encoding::Compressed),
        ] {
            let database = format!("{name}-{:?}-{:?}.esker", kind.0, kind.1);
            let store = encoded(directory.path(), &database, &model, weighting, kind);
            let snapshot = store.snapshot().unwrap();
            for entry in CATALOGUE {
                let takes_source = entry.options.iter().any(|option| option.name == "source");
                let params =
                    if takes_source { Params::default().with("source", "0") } else { Params::default() };
                let job = Job { snapshot: &snapshot, run: &run, params: &params, verify: true };
                let outcome = entry.run(&job);
                if entry.undirected && snapshot.is_directed() {
                    let refused = outcome.unwrap_err().to_string();
                    assert!(refused.contains("undirected"), "{}: {refused}", entry.name);
                    continue;
                }
                if let (Weighting::Unit, "wbfs", Err(error)) = (&weighting, entry.name, &outcome) {
                    assert!(error.to_string().contains("integer"), "{error}");
                    continue;
                }
                let answer = outcome.unwrap_or_else(|error| panic!("{} on {database}: {error}", entry.name));
                let rows = answer.edges.as_ref().map_or(snapshot.num_vertices(), Vec::len);
                for column in &answer.columns {
                    assert_eq!(column.values.len(), rows, "{} on {database}", entry.name);
                }
            }
        }
    }
}

#[test]
fn a_run_that_is_given_its_estimate_fits() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [false, true] {
        let model = Model::RMat(RMat { directed, ..RMat::kronecker(9, 4) });
        let name = format!("g-{directed}.esker");
        let store = store(directory.path(), &name, &model, Weighting::None, VertexOrder::Auto);
        fits_its_estimates(&store.snapshot().unwrap());
    }
}

fn fits_its_estimates(snapshot: &Snapshot) {
    let shape = Shape {
        num_vertices: snapshot.num_vertices() as u64,
        num_arcs: snapshot.num_arcs(),
        directed: snapshot.is_directed(),
        in_edges: snapshot.has(Direction::In),
        weight_bytes: 0,
        scattered: false,
    };
    for entry in CATALOGUE.iter().filter(|entry| !(entry.undirected && snapshot.is_directed())) {
        let takes_source = entry.options.iter().any(|option| option.name == "source");
        let params = if takes_source { Params::default().with("source", "0") } else { Params::default() };
        let resources =
            Resources { threads: 2, deterministic: false, memory_bytes: u64::MAX, mapped_bytes: u64::MAX };
        let needed = entry.estimate(shape, &params, &resources).unwrap().memory_bytes;
        for (memory_bytes, fits) in [(needed, true), (needed / 2, false)] {
            let options = esker::graph::RunOptions {
                threads: 2,
                memory_bytes: Some(memory_bytes),
                ..esker::graph::RunOptions::default()
            };
            let run = Run::new(options).unwrap();
            let job = Job { snapshot, run: &run, params: &params, verify: false };
            let outcome = entry.run(&job);
            // What may choose a smaller way, such as counting in place, may fit less than its estimate.
            assert!(outcome.is_ok() || !fits, "{} does not fit its own estimate", entry.name);
            if let Err(error) = outcome {
                let message = error.to_string();
                assert!(message.contains("raise the limit"), "{}: {message}", entry.name);
            }
        }
    }
}

#[test]
fn unknown_names_and_options_are_refused_with_what_there_is() {
    let unknown = find("pagerang").unwrap_err().to_string();
    assert!(unknown.contains("pagerank") && unknown.contains("wcc"), "{unknown}");
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path(), "p.esker", &Model::Path(3), Weighting::None, VertexOrder::Keep);
    let snapshot = store.snapshot().unwrap();
    let run = Run::with_threads(1).unwrap();
    let params = Params::default().with("damping", "0.5");
    let job = Job { snapshot: &snapshot, run: &run, params: &params, verify: false };
    let refused = find("scc").unwrap().run(&job).unwrap_err().to_string();
    assert_eq!(refused, "scc has no option --damping; it takes none");
}
