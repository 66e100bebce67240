//! Algorithms that read the lists of one direction neither verify those of the other nor keep them in memory.

use std::path::Path;
use std::sync::Arc;

use esker::MemoryLimit;
use esker::catalogue::{CATALOGUE, Entry, Job, ListReads, Params, Resources};
use esker::graph::generate::{Generator, Model, RMat, Weighting};
use esker::graph::{Direction, Graph, Run};
use esker::import::install::import;
use esker::import::options::ImportOptions;
use esker::import::read::generated::GeneratorReader;
use esker::plan::{Candidate, Request as Reading, plan};
use esker::store::ids::ExternalId;
use esker::store::io::{Disk, FaultyDisk, MemoryDisk};
use esker::store::layer::Body;
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::tiles::ConvertOptions;
use esker::store::{Access, Database, DatabaseOptions, GraphEncoding, Residency, Store, View};

use crate::forms::accesses;
use crate::requests::required;

const DB: &str = "g.esker";

/// A directed graph with in-lists.
fn directed() -> FaultyDisk {
    let faulty = FaultyDisk::new(1);
    generate(&(Arc::new(faulty.clone()) as _), RMat::kronecker(8, 8));
    faulty
}

fn generate(disk: &Arc<dyn Disk>, model: RMat) {
    let model = Model::RMat(model);
    let generator = Generator::new(&model, Weighting::Int { max: 20 }, 3).expect("a generator");
    let reader = Box::new(GeneratorReader::new(generator));
    let options = ImportOptions {
        directed: Some(true),
        threads: 1,
        memory_bytes: 16 << 20,
        ..ImportOptions::default()
    };
    import(disk, reader, Path::new(DB), &options, StagingOptions::default()).expect("an import");
}

fn open(disk: &FaultyDisk) -> View {
    let store = Store::open_on(Arc::new(disk.clone()), Path::new(DB)).expect("a store");
    store.latest().expect("a version").view()
}

fn start(entry: &Entry, view: &View) -> Result<(), esker::Error> {
    let run = Run::with_threads(2).expect("threads");
    let params = required(entry, "1");
    entry.run(&Job { view, run: &run, params: &params, verify: false }).map(drop)
}

/// The algorithms for directed graphs that read one direction, with the other.
fn one_sided() -> impl Iterator<Item = (&'static Entry, Direction)> {
    CATALOGUE.iter().filter(|entry| !entry.undirected).filter_map(|entry| match entry.reads.lists {
        ListReads::Out => Some((entry, Direction::In)),
        ListReads::In => Some((entry, Direction::Out)),
        ListReads::Both | ListReads::BothNeeded => None,
    })
}

#[test]
fn damage_in_lists_that_an_algorithm_does_not_read_does_not_matter() {
    let disk = directed();
    let mut cells = 0;
    for (entry, other) in one_sided() {
        let ways = [("mapped lists", Access::default())].into_iter().chain(accesses(&open(&disk)));
        for (how, access) in ways {
            for damaged in [other, other.reverse()] {
                let view = open(&disk);
                let layer = view.version().complete_layer();
                let section = if damaged == Direction::Out { Some(layer.out()) } else { layer.incoming() };
                let Body::Arrays(arrays) = section.expect("lists").main().body() else {
                    panic!("plain lists")
                };
                let targets = arrays.targets_column();
                let byte = targets.first_byte() + 2 * targets.len() as u64;
                disk.flip(targets.path(), byte, 3).expect("a bit");
                let outcome = start(entry, &open(&disk).resident(access).expect("what there is"));
                disk.flip(targets.path(), byte, 3).expect("the bit");
                assert_eq!(outcome.is_ok(), damaged == other, "{} on {how}: {outcome:?}", entry.name);
                cells += 1;
            }
        }
    }
    assert!(cells >= 12, "{cells} cells");
}

#[test]
fn lists_that_an_algorithm_does_not_read_take_no_memory_in_its_plan() {
    let view = open(&directed());
    let memory_bytes = 1 << 30;
    let resources = Resources {
        threads: 2,
        deterministic: false,
        memory: MemoryLimit::of(memory_bytes),
        rates: esker::rates::Rates::default(),
    };
    let find = |name: &str| CATALOGUE.iter().find(|entry| entry.name == name).expect("an algorithm");
    let of = |name: &str, residency| {
        let request =
            Reading { encoding: Some(GraphEncoding::Lists), residency: Some(residency), head_len: None };
        let entry = find(name);
        let planned = plan(&view, entry, &required(entry, "1"), &request, &resources).expect("a plan");
        (planned.chosen().clone(), planned.only)
    };
    for residency in [Residency::Mapped, Residency::Pooled, Residency::Headed] {
        let (one, only) = of("pagerank", residency);
        let (both, none) = of("wcc", residency);
        assert_eq!((only, none), (Some(Direction::In), None));
        assert!(one.graph_bytes * 2 <= both.graph_bytes + 4096, "{residency:?}: {one:?} {both:?}");
        assert!(one.whole_bytes - one.least_bytes <= both.whole_bytes - both.least_bytes, "{residency:?}");
    }
    let weighted = view.clone().weighted_by("weight").expect("weights");
    assert_eq!(find("pagerank").reading(&weighted).reads_only(), None, "it needs sums of out-weights");
    assert_eq!(find("pagerank").reading(&view.as_undirected()).reads_only(), None);
}

/// The lists of a graph with some hundred thousand vertices do not fit one block. The verifiers read single
/// lists, and the algorithms scan.
#[test]
fn a_view_without_directions_of_many_blocks_is_that_of_single_lists() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    generate(&disk, RMat::kronecker(17, 8));
    let run = Run::with_threads(2).expect("threads");
    let options = DatabaseOptions { auto_merge: Some(false), threads: 1, ..DatabaseOptions::default() };
    let database = Database::open_on(disk, Path::new(DB), options).expect("a database");
    database.make_tiles(&ConvertOptions::default(), &run).expect("tiles");
    let mut batch = database.batch();
    for v in (0..3000).step_by(3) {
        batch
            .add_edge(ExternalId::Int(v), ExternalId::Int(70_000 + v), &[PropertyValue::from(3_i64)])
            .expect("an edge");
        batch.remove_edge(ExternalId::Int(v), ExternalId::Int(v + 1)).expect("an edge that may not be there");
    }
    database.commit(batch, "").expect("a version");
    for (version, name) in [(1, "wcc"), (2, "kcore")] {
        let view = database.at(version).expect("a version").view().as_undirected();
        let resources = Resources {
            threads: 2,
            deterministic: false,
            memory: MemoryLimit::of(1 << 30).mapping(1),
            rates: esker::rates::Rates::default(),
        };
        let entry = esker::catalogue::find("wcc").expect("an algorithm");
        let chosen = plan(&view, entry, &Params::default(), &Reading::default(), &resources).expect("a plan");
        assert_ne!(chosen.access.residency(), Residency::Mapped, "no mapped graph fits in a byte");
        // A copy in memory stands in for what an obstacle keeps from being read.
        let may_be_taken = |one: &&Candidate| {
            let is_open = one.obstacle.is_none() || one.has_substitute;
            is_open
                && one.unsuited.is_none()
                && !one.is_mapped()
                && one.least_bytes <= resources.memory.bytes()
        };
        let least = chosen.candidates.iter().filter(may_be_taken).map(|one| one.price.seconds());
        let least = least.reduce(f64::min).expect("a candidate");
        assert_eq!(chosen.chosen().price.seconds(), least, "{:?}", chosen.candidates);
        let mut sums = Vec::new();
        for (how, access) in accesses(&view) {
            let view = view.clone().resident(access).expect("what there is");
            let graph = view.graph::<()>(&run).expect("a graph");
            sums.push((graph.num_arcs(), how));
            let entry = esker::catalogue::find(name).expect("an algorithm");
            let job = Job { view: &view, run: &run, params: &Params::default(), verify: true };
            entry.run(&job).unwrap_or_else(|error| panic!("{name} on {how} of version {version}: {error}"));
        }
        assert!(sums.len() == 5 && sums.iter().all(|sum| sum.0 == sums[0].0 && sum.0 > 1 << 20), "{sums:?}");
    }
}
