//! Algorithms that read the lists of one direction neither verify those of the other nor keep them in memory.

use std::path::Path;
use std::sync::Arc;

use esker::catalogue::{CATALOGUE, Entry, Job, ListReads, Resources};
use esker::graph::generate::{Generator, Model, RMat, Weighting};
use esker::graph::{Direction, Run};
use esker::import::generated::GeneratorReader;
use esker::import::install::import;
use esker::import::options::ImportOptions;
use esker::plan::{Request as Reading, plan};
use esker::store::io::{Disk, FaultyDisk};
use esker::store::layer::Body;
use esker::store::version::StagingOptions;
use esker::store::{Access, GraphEncoding, Residency, Snapshot, Store};

use crate::forms::accesses;
use crate::requests::required;

const DB: &str = "g.esker";

/// A directed graph with in-lists.
fn directed() -> FaultyDisk {
    let faulty = FaultyDisk::new(1);
    let disk: Arc<dyn Disk> = Arc::new(faulty.clone());
    let model = Model::RMat(RMat::kronecker(8, 8));
    let generator = Generator::new(&model, Weighting::Int { max: 20 }, 3).expect("a generator");
    let reader = Box::new(GeneratorReader::new(generator));
    let options = ImportOptions {
        directed: Some(true),
        threads: 1,
        memory_bytes: 16 << 20,
        ..ImportOptions::default()
    };
    import(&disk, reader, Path::new(DB), &options, StagingOptions::default()).expect("an import");
    faulty
}

fn open(disk: &FaultyDisk) -> Snapshot {
    let store = Store::open_on(Arc::new(disk.clone()), Path::new(DB)).expect("a store");
    store.snapshot().expect("a version")
}

fn start(entry: &Entry, snapshot: &Snapshot) -> Result<(), esker::Error> {
    let run = Run::with_threads(2).expect("threads");
    let params = required(entry, "1");
    entry.run(&Job { snapshot, run: &run, params: &params, verify: false }).map(drop)
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
                let snapshot = open(&disk);
                let layer = snapshot.complete_layer();
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
    let snapshot = open(&directed());
    let memory_bytes = 1 << 30;
    let resources = Resources {
        threads: 2,
        deterministic: false,
        memory_bytes,
        mapped_bytes: memory_bytes,
        rates: esker::rates::Rates::default(),
    };
    let find = |name: &str| CATALOGUE.iter().find(|entry| entry.name == name).expect("an algorithm");
    let of = |name: &str, residency| {
        let request =
            Reading { encoding: Some(GraphEncoding::Lists), residency: Some(residency), head_len: None };
        let entry = find(name);
        let planned = plan(&snapshot, entry, &required(entry, "1"), &request, &resources).expect("a plan");
        (planned.chosen().clone(), planned.only)
    };
    for residency in [Residency::Mapped, Residency::Pooled, Residency::Headed] {
        let (one, only) = of("pagerank", residency);
        let (both, none) = of("wcc", residency);
        assert_eq!((only, none), (Some(Direction::In), None));
        assert!(one.graph_bytes * 2 <= both.graph_bytes + 4096, "{residency:?}: {one:?} {both:?}");
        assert!(one.whole_bytes - one.least_bytes <= both.whole_bytes - both.least_bytes, "{residency:?}");
    }
    let weighted = snapshot.clone().weighted_by("weight").expect("weights");
    assert_eq!(find("pagerank").reading(&weighted).reads_only(), None, "it needs sums of out-weights");
    assert_eq!(find("pagerank").reading(&snapshot.as_undirected()).reads_only(), None);
}
