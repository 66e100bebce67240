use std::sync::Arc;

use esker_graph::generate::{Generator, Model, RMat, Uniform, Weighting};
use esker_graph::{Budget, RunOptions};
use esker_import::install::import;
use esker_import::options::ImportOptions;
use esker_import::read::generated::GeneratorReader;
use esker_store::format::Encoding;
use esker_store::io::RealDisk;
use esker_store::manifest::StagingOptions;
use esker_store::pool::PoolOptions;
use esker_store::property::PropertyValue;
use esker_store::tiles::ConvertOptions;
use esker_store::windows::{Copies, TimeWindow};
use esker_store::{Access, Database, DatabaseOptions, Store};

use super::access_path::AccessPath;
use super::*;
use crate::catalogue::{Job, find};
use crate::rates::{Rate, Rates};

fn database(scale: u32, encoding: Encoding, tiles: bool) -> (tempfile::TempDir, View) {
    database_of(scale, &ImportOptions { encoding, directed: Some(false), ..ImportOptions::default() }, tiles)
}

fn database_of(scale: u32, options: &ImportOptions, tiles: bool) -> (tempfile::TempDir, View) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.esker");
    let model = Model::RMat(RMat::kronecker(scale, 16));
    let generator = Generator::new(&model, Weighting::Unit, 5).unwrap();
    let (disk, reader) = (Arc::new(RealDisk) as Arc<_>, Box::new(GeneratorReader::new(generator)));
    import(&disk, reader, &path, options, StagingOptions::default()).unwrap();
    if tiles {
        let database = Database::open(&path, DatabaseOptions::default()).unwrap();
        database.make_tiles(&ConvertOptions::default(), &Run::with_threads(2).unwrap()).unwrap();
        database.close().unwrap();
    }
    let version = Store::open(&path).unwrap().latest().unwrap();
    (directory, version.view())
}

/// An undirected graph of plain lists, imported with the defaults.
fn generated(model: &Model) -> (tempfile::TempDir, View) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.esker");
    let reader = Box::new(GeneratorReader::new(Generator::new(model, Weighting::None, 1).unwrap()));
    let options = ImportOptions { directed: Some(false), ..ImportOptions::default() };
    import(&(Arc::new(RealDisk) as Arc<_>), reader, &path, &options, StagingOptions::default()).unwrap();
    let version = Store::open(&path).unwrap().latest().unwrap();
    (directory, version.view())
}

fn resources(memory_bytes: u64) -> Resources {
    Resources {
        threads: 2,
        deterministic: false,
        memory: MemoryLimit::of(memory_bytes),
        rates: Rates::default(),
    }
}

fn choose(view: &View, algorithm: &str, request: &Request, memory_bytes: u64) -> Result<Plan> {
    plan(view, find(algorithm).unwrap(), &Params::default(), request, &resources(memory_bytes))
}

fn free(view: &View, algorithm: &str, memory_bytes: u64) -> Plan {
    choose(view, algorithm, &Request::default(), memory_bytes).unwrap()
}

const LISTS: AccessPath = AccessPath::lists(Residency::Mapped);
const TILES: AccessPath = AccessPath::tiles(Residency::Mapped);
const POOLED_TILES: AccessPath = AccessPath::tiles(Residency::Pooled);
const POOLED_LISTS: AccessPath = AccessPath::lists(Residency::Pooled);
const HEADED: AccessPath = AccessPath::lists(Residency::Headed);
const MEMORY: AccessPath = AccessPath::lists(Residency::Memory);

fn candidate(plan: &Plan, path: AccessPath) -> &Candidate {
    plan.candidates.iter().find(|one| one.path() == path).unwrap()
}

fn choice(plan: &Plan) -> AccessPath {
    AccessPath { encoding: plan.access.encoding(), residency: plan.access.residency() }
}

/// Whether a candidate may be chosen without being asked for.
fn fits(one: &Candidate, memory_bytes: u64) -> bool {
    let is_free = one.obstacle.is_none() && one.unsuited.is_none();
    is_free && one.least_bytes <= memory_bytes && (!one.is_mapped() || one.whole_bytes <= memory_bytes)
}

/// Checks that of the candidates that fit, the chosen one is predicted to take the least time, if any fits.
fn is_least(plan: &Plan, memory_bytes: u64) {
    let all = plan.candidates.iter().filter(|one| fits(one, memory_bytes));
    let least = all.map(|one| one.price.seconds()).reduce(f64::min);
    let Some(least) = least else { return };
    assert!(fits(plan.chosen(), memory_bytes), "{:?}", plan.chosen());
    assert_eq!(plan.chosen().price.seconds(), least, "{:?}", plan.candidates);
}

#[test]
fn the_choice_is_the_least_predicted_of_all_that_fit() {
    let plain = database(14, Encoding::Plain, true);
    // So many vertices that pools and heads take less than all lists.
    let large = database(17, Encoding::Plain, true);
    let lists_alone = database(14, Encoding::Compressed, false);
    let tiles_alone = database_of(
        14,
        &ImportOptions { encoding: Encoding::Tiles, directed: Some(false), ..ImportOptions::default() },
        false,
    );
    let directed = database_of(13, &ImportOptions { directed: Some(true), ..ImportOptions::default() }, true);
    let layered = database(13, Encoding::Plain, true);
    let database = Database::open(layered.1.version().path(), DatabaseOptions::default()).unwrap();
    let mut batch = database.batch();
    (0..3000_u64).for_each(|v| batch.add_edge(v, 8191 - v, &[PropertyValue::from(1_i64)]).unwrap());
    database.commit(batch, "many more").unwrap();
    let layered_version = database.latest().unwrap();
    let slow_disk = Rates::default().with(Rate::ReadBytes, 1e7);
    let slow_tiles = Rates::default().with(Rate::ScanTiles, 1e7);
    let mut chosen = std::collections::BTreeSet::new();
    for view in [&plain.1, &large.1, &lists_alone.1, &tiles_alone.1, &directed.1, &layered_version.view()] {
        for entry in
            crate::catalogue::CATALOGUE.iter().filter(|one| !(one.undirected && view.version().is_directed()))
        {
            let needs_source = entry.options.iter().any(|option| option.name == "source");
            let params = Params::default();
            let params = if needs_source { params.with("source", "1") } else { params };
            for rates in [Rates::default(), slow_disk, slow_tiles] {
                let with = |memory_bytes| {
                    let resources = Resources { rates, ..resources(memory_bytes) };
                    plan(view, entry, &params, &Request::default(), &resources)
                };
                let all = with(1 << 40).unwrap().candidates;
                // At each limit at which something comes to fit, and one byte before.
                let limits = all.iter().flat_map(|one| [one.least_bytes, one.whole_bytes]);
                for memory_bytes in limits.flat_map(|limit| [limit.saturating_sub(1), limit]) {
                    if let Ok(planned) = with(memory_bytes) {
                        is_least(&planned, memory_bytes);
                        let AccessPath { encoding, residency } = choice(&planned);
                        chosen.insert(name(encoding, residency));
                    }
                }
            }
        }
    }
    assert!(chosen.len() >= 4, "several ways are the best somewhere: {chosen:?}");
}

/// Tiles that fit took a fifth of the time of heads that read their tails from the disk, and were not chosen
/// because searches preferred heads.
#[test]
fn tiles_that_fit_are_chosen_before_heads_on_a_slow_disk() {
    let (_directory, view) = database(17, Encoding::Plain, true);
    let rates = Rates::default().with(Rate::ReadBytes, 1e8);
    for algorithm in ["bfs", "kcore", "colouring", "mis"] {
        let params =
            if algorithm == "bfs" { Params::default().with("source", "1") } else { Params::default() };
        let with = |memory_bytes| {
            let resources = Resources { rates, ..resources(memory_bytes) };
            plan(&view, find(algorithm).unwrap(), &params, &Request::default(), &resources).unwrap()
        };
        let ample = with(1 << 30);
        let below = candidate(&ample, LISTS).whole_bytes.min(candidate(&ample, MEMORY).whole_bytes) - 1;
        let planned = with(below);
        assert_eq!(choice(&planned), TILES, "{algorithm}");
        assert!(candidate(&planned, HEADED).price.seconds() > planned.chosen().price.seconds());
    }
}

#[test]
fn less_memory_leads_from_mapped_lists_to_less_and_back_to_the_page_cache() {
    let (_directory, view) = database(17, Encoding::Plain, true);
    let ample = free(&view, "pagerank", 1 << 30);
    assert_eq!((ample.access, ample.reason, ample.fits), (Access::default(), Reason::Fits, true));
    let bound = candidate(&ample, LISTS).whole_bytes;
    assert_eq!(choice(&free(&view, "pagerank", bound)), LISTS);
    let below = free(&view, "pagerank", bound - 1);
    assert_ne!(choice(&below), LISTS);
    let pooled = candidate(&ample, POOLED_TILES).least_bytes;
    let tiles = Request { encoding: Some(GraphEncoding::Tiles), ..Request::default() };
    let little = choose(&view, "pagerank", &tiles, pooled).unwrap();
    assert!(
        matches!(little.access, Access::Pooled(GraphEncoding::Tiles, options) if options.bytes >= options.bytes_min())
    );
    assert!(!little.fits);
    let least = free(&view, "pagerank", candidate(&ample, LISTS).least_bytes);
    assert_eq!((choice(&least), least.fits), (LISTS, false));
}

#[test]
fn heads_take_the_memory_that_is_left() {
    let (_directory, view) = database(17, Encoding::Plain, false);
    for algorithm in ["pagerank", "sssp"] {
        let all = free(&view, algorithm, 1 << 30);
        let memory = candidate(&all, HEADED).least_bytes + (1 << 20);
        let request = Request { residency: Some(Residency::Headed), ..Request::default() };
        let planned = choose(&view, algorithm, &request, memory).unwrap();
        let heads = planned.heads(&view, &Run::with_threads(2).unwrap()).unwrap().unwrap();
        assert!(heads.length >= 1 && heads.share < 1.0);
        let Access::Headed(options) = planned.access else { panic!("{planned:?}") };
        assert!(heads.memory_bytes <= options.memory_bytes);
    }
    let (_directory, view) = database(17, Encoding::Compressed, false);
    let planned = free(&view, "bfs", PROCESS_BYTES + (4 << 20));
    assert_eq!((choice(&planned), planned.fits), (LISTS, false));
    assert_eq!(candidate(&planned, HEADED).obstacle, None);
    assert!(candidate(&planned, TILES).obstacle.as_ref().unwrap().to_string().contains("encoding = tiles"));
}

#[test]
fn a_database_that_changed_is_read_as_requested() {
    let (directory, view) = database(8, Encoding::Plain, true);
    let one_layer = free(&view, "wcc", 1 << 30);
    let database = Database::open(view.version().path(), DatabaseOptions::default()).unwrap();
    let mut batch = database.batch();
    batch.add_edge(1_u64, 2_u64, &[PropertyValue::from(1_i64)]).unwrap();
    batch.remove_edge(1_u64, 3_u64).unwrap();
    database.commit(batch, "one more").unwrap();
    let version = database.latest().unwrap();
    for path in [
        AccessPath::lists(Residency::Pooled),
        AccessPath::lists(Residency::Headed),
        AccessPath::tiles(Residency::Mapped),
        AccessPath::tiles(Residency::Pooled),
    ] {
        let request =
            Request { encoding: Some(path.encoding), residency: Some(path.residency), head_len: None };
        let planned = choose(&version.view(), "wcc", &request, 1 << 30).unwrap();
        assert_eq!(choice(&planned), path);
        let before = candidate(&one_layer, path).least_bytes;
        assert!(planned.chosen().least_bytes > before, "what changed takes memory");
        let view = planned.apply(&version.view()).unwrap();
        let run = Run::with_threads(2).unwrap();
        let job = Job { view: &view, run: &run, params: &Params::default(), verify: true };
        find("wcc").unwrap().run(&job).unwrap();
    }
    drop(directory);
}

#[test]
fn lists_that_are_spread_over_layers_are_copied_for_runs_that_read_them_often() {
    let (_directory, view) = database(12, Encoding::Plain, false);
    let one_layer = free(&view, "pagerank", 1 << 30);
    assert_eq!(choice(&one_layer), LISTS);
    assert!(candidate(&one_layer, MEMORY).price.seconds() > one_layer.chosen().price.seconds());
    let database = Database::open(view.version().path(), DatabaseOptions::default()).unwrap();
    let mut batch = database.batch();
    batch.add_edge(1_u64, 2_u64, &[PropertyValue::from(1_i64)]).unwrap();
    batch.remove_edge(1_u64, 3_u64).unwrap();
    database.commit(batch, "one more").unwrap();
    let version = database.latest().unwrap();
    // The rounds of PageRank are too few for a copy: the layer on top has one edge.
    assert_eq!(choice(&free(&version.view(), "pagerank", 1 << 30)), LISTS);
    for algorithm in ["lcc", "triangles"] {
        let ample = free(&version.view(), algorithm, 1 << 30);
        assert_eq!((choice(&ample), ample.reason, ample.fits), (MEMORY, Reason::Copied, true));
        let bound = ample.chosen().least_bytes;
        assert_eq!(choice(&free(&version.view(), algorithm, bound)), MEMORY);
        assert_ne!(choice(&free(&version.view(), algorithm, bound - 1)), MEMORY);
        // What is counted for the copy is what it takes.
        let entry = find(algorithm).unwrap();
        let start = |budget_bytes| {
            let budget = Budget::new(budget_bytes);
            let run = Run::new(RunOptions { threads: 2, budget, ..RunOptions::default() }).unwrap();
            let view = &ample.apply(&version.view()).unwrap();
            entry.run(&Job { view, run: &run, params: &Params::default(), verify: true }).map(drop)
        };
        start(bound).unwrap();
        let refused = start(ample.graph_memory_bytes().unwrap() - 1).unwrap_err().to_string();
        assert!(refused.contains("lists in memory"), "{refused}");
    }
    let search = free(&version.view(), "bfs", 1 << 30);
    assert_eq!(choice(&search), LISTS);
    assert!(candidate(&search, MEMORY).price.seconds() > search.chosen().price.seconds());
    assert_eq!(choice(&free(&version.view(), "kcore", 1 << 30)), LISTS, "few lists changed");
    let request = Request { residency: Some(Residency::Memory), ..Request::default() };
    assert_eq!(choice(&choose(&version.view(), "bfs", &request, 1 << 30).unwrap()), MEMORY);
    let mut batch = database.batch();
    for v in 0..1000_u64 {
        batch.add_edge(v, 4095 - v, &[PropertyValue::from(1_i64)]).unwrap();
    }
    database.commit(batch, "many more").unwrap();
    assert_eq!(choice(&free(&database.latest().unwrap().view(), "kcore", 1 << 30)), MEMORY);
}

#[test]
fn lists_among_many_removed_vertices_are_copied_for_runs_that_scan_them_often() {
    let (_directory, view) = database(12, Encoding::Plain, false);
    let database = Database::open(view.version().path(), DatabaseOptions::default()).unwrap();
    for (removed, chosen) in [(0..1_u64, LISTS), (1..1000, MEMORY)] {
        let mut batch = database.batch();
        removed.for_each(|v| batch.remove_vertex(v).unwrap());
        database.commit(batch, "fewer").unwrap();
        database.compact(&Run::with_threads(2).unwrap()).unwrap();
        let version = database.latest().unwrap();
        assert_eq!(version.stack().layers().len(), 1);
        for algorithm in ["pagerank", "kcore"] {
            assert_eq!(choice(&free(&version.view(), algorithm, 1 << 30)), chosen, "{algorithm}");
        }
        // Their single lists are found as fast.
        assert_eq!(choice(&free(&version.view(), "triangles", 1 << 30)), LISTS);
    }
}

#[test]
fn lists_are_kept_in_parts_where_there_is_nothing_better() {
    let (_directory, view) = database(17, Encoding::Compressed, false);
    let ample = free(&view, "pagerank", 1 << 30);
    let least = candidate(&ample, POOLED_LISTS).least_bytes;
    // The least is less than all lists only of graphs larger than this one.
    let request =
        Request { encoding: Some(GraphEncoding::Lists), residency: Some(Residency::Pooled), head_len: None };
    let planned = choose(&view, "pagerank", &request, least).unwrap();
    assert_eq!(choice(&planned), POOLED_LISTS);
    assert!(
        matches!(planned.access, Access::Pooled(GraphEncoding::Lists, options) if options.bytes == options.bytes_min())
    );
    assert!(matches!(choose(&view, "pagerank", &request, least - 1), Err(Error::Store(_))));
    // Asked for without tiles, a fixed memory is one of lists.
    let request = Request { residency: Some(Residency::Pooled), ..Request::default() };
    assert_eq!(choice(&choose(&view, "wcc", &request, 1 << 30).unwrap()), POOLED_LISTS);
    let (_directory, view) = database(12, Encoding::Plain, true);
    assert_eq!(choice(&choose(&view, "wcc", &request, 1 << 30).unwrap()), POOLED_TILES);
}

#[test]
fn searches_take_lists_where_tiles_are_predicted_to_be_slower() {
    let (_directory, view) = database(17, Encoding::Plain, true);
    let slow_tiles = Rates::default().with(Rate::ScanTiles, 1e7);
    let with = |rates, memory_bytes| {
        let (bfs, resources) = (find("bfs").unwrap(), Resources { rates, ..resources(memory_bytes) });
        plan(&view, bfs, &Params::default(), &Request::default(), &resources).unwrap()
    };
    let ample = with(Rates::default(), 1 << 30);
    let below = candidate(&ample, LISTS).whole_bytes - 1;
    assert_eq!(choice(&with(Rates::default(), below)), TILES);
    let planned = with(slow_tiles, below);
    assert!(candidate(&planned, HEADED).price.seconds() < candidate(&planned, TILES).price.seconds());
    assert_eq!(planned.chosen().encoding, GraphEncoding::Lists);
}

#[test]
fn algorithms_that_read_single_lists_take_mapped_ones_and_refuse_tiles() {
    let (_directory, view) = database(12, Encoding::Plain, true);
    // Some of them have larger arrays.
    let memory = candidate(&free(&view, "wcc", 1 << 30), TILES).whole_bytes + (4 << 20);
    // Their scans would read nothing but lists, in silence.
    for algorithm in ["triangles", "lcc", "truss", "cliques", "cdlp", "matching", "scc"] {
        assert_eq!(choice(&free(&view, algorithm, memory)), LISTS);
        for residency in [None, Some(Residency::Mapped), Some(Residency::Pooled)] {
            let request = Request { encoding: Some(GraphEncoding::Tiles), residency, head_len: None };
            let refused = choose(&view, algorithm, &request, 1 << 30).unwrap_err().to_string();
            assert!(refused.contains(algorithm) && refused.contains("encoding = lists"), "{refused}");
        }
        let request = Request { residency: Some(Residency::Pooled), ..Request::default() };
        assert_eq!(choice(&choose(&view, algorithm, &request, 1 << 30).unwrap()), POOLED_LISTS);
    }
}

#[test]
fn weights_beside_heads_and_pools_count_no_more_than_stays_in_memory() {
    let (_directory, view) = database(18, Encoding::Plain, false);
    let memory = |algorithm: &str, path| candidate(&free(&view, algorithm, 1 << 40), path).least_bytes;
    let arrays = |algorithm: &str| memory(algorithm, LISTS);
    for path in [HEADED, POOLED_LISTS] {
        let of_lists = memory("bfs", path) - arrays("bfs");
        let of_weights = memory("sssp", path) - arrays("sssp") - of_lists;
        assert_eq!(of_weights, esker_store::WEIGHTS_MAX.min(view.num_arcs() * 4));
        assert!(of_weights < view.num_arcs() * 4);
    }
}

#[test]
fn a_memory_that_no_limit_was_set_for_holds_more_mapped_files() {
    let (_directory, view) = database(12, Encoding::Plain, true);
    let all = free(&view, "wcc", 1 << 30);
    let memory_bytes = candidate(&all, POOLED_TILES).least_bytes;
    let resources =
        Resources { memory: MemoryLimit::of(memory_bytes).mapping(1 << 30), ..resources(memory_bytes) };
    let planned =
        plan(&view, find("wcc").unwrap(), &Params::default(), &Request::default(), &resources).unwrap();
    assert_eq!((choice(&planned), planned.fits), (LISTS, true));
}

#[test]
fn no_limit_is_named_where_none_suffices() {
    let options = ImportOptions { directed: Some(true), in_edges: false, ..ImportOptions::default() };
    let (_directory, view) = database_of(6, &options, false);
    let request = Request { encoding: Some(GraphEncoding::Tiles), ..Request::default() };
    let refused = choose(&view, "triangles", &request, 1000).unwrap_err().to_string();
    assert!(refused.contains("tiles hold no lists") && !refused.contains("limit"), "{refused}");
    // A pool has no in-edges at any limit, and a copy in memory, which stands in for it, has them at the one
    // that is named.
    let request = Request { residency: Some(Residency::Pooled), ..Request::default() };
    let refused = choose(&view, "triangles", &request, 1000).unwrap_err();
    assert!(refused.to_string().contains("triangles with memory lists needs 33 MiB"), "{refused}");
    let Error::Store(esker_store::Error::Stop(Stop::OverBudget { needed_bytes, .. })) = refused else {
        panic!("{refused}")
    };
    let planned = choose(&view, "triangles", &request, needed_bytes).unwrap();
    assert_eq!((choice(&planned), planned.reason), (MEMORY, Reason::Substitute));
}

#[test]
fn refusals_name_what_would_suffice() {
    let (_directory, view) = database(12, Encoding::Plain, true);
    let requests = [
        Request::default(),
        Request { residency: Some(Residency::Pooled), ..Request::default() },
        Request { residency: Some(Residency::Headed), ..Request::default() },
        Request { head_len: Some(20), ..Request::default() },
    ];
    for request in requests {
        let mut memory_bytes = 1000;
        // A minimum that is met may show what the heads need beside it.
        let planned = loop {
            match choose(&view, "kcore", &request, memory_bytes) {
                Ok(planned) => break planned,
                Err(Error::Store(esker_store::Error::Stop(Stop::OverBudget {
                    needed_bytes,
                    budget_bytes,
                    ..
                }))) => {
                    assert_eq!(budget_bytes, memory_bytes);
                    assert!(needed_bytes > memory_bytes);
                    assert!(choose(&view, "kcore", &request, needed_bytes - 1).is_err());
                    memory_bytes = needed_bytes;
                }
                Err(other) => panic!("{other}"),
            }
        };
        let run = Run::with_threads(2).unwrap();
        let view = planned.apply(&view).unwrap();
        let job = Job { view: &view, run: &run, params: &Params::default(), verify: true };
        find("kcore").unwrap().run(&job).unwrap();
    }
}

#[test]
fn heads_of_any_length_are_at_most_all_lists() {
    // A forged length was an overflow.
    let bytes =
        |head_len| needs::head_bytes_max(head_len, 100, 5000) / size_of::<esker_graph::VertexId>() as u64;
    assert_eq!(
        [bytes(0), bytes(20), bytes(51), bytes(1 << 61), bytes(u64::MAX)],
        [0, 2000, 5000, 5000, 5000]
    );
}

#[test]
fn wishes_that_do_not_go_together() {
    let request = |encoding, residency, head_len| {
        Request { encoding, residency, head_len }.check().unwrap_err().to_string()
    };
    assert!(request(Some(GraphEncoding::Tiles), Some(Residency::Headed), None).contains("encoding = lists"));
    assert!(request(Some(GraphEncoding::Tiles), None, Some(3)).contains("encoding = lists"));
    assert!(request(None, Some(Residency::Mapped), Some(3)).contains("residency = headed"));
    assert!(request(Some(GraphEncoding::Tiles), Some(Residency::Memory), None).contains("encoding = lists"));
    assert!(request(None, Some(Residency::Memory), Some(3)).contains("residency = headed"));
    let (_directory, view) = database(12, Encoding::Plain, false);
    let request = Request { encoding: Some(GraphEncoding::Tiles), ..Request::default() };
    let error = choose(&view, "bfs", &request, 1 << 30).unwrap_err();
    assert!(error.to_string().contains("`compact (encoding = tiles)`"), "{error}");
}

/// All rates times a factor.
fn faster(factor: f64) -> Rates {
    let default = Rates::default();
    Rate::ALL.iter().fold(default, |rates, &rate| rates.with(rate, default.of(rate) * factor))
}

#[test]
fn prices_follow_from_rates_options_and_residency() {
    let (_directory, view) = database(14, Encoding::Plain, true);
    let priced = |rates, threads, rounds: &str, memory_bytes| {
        let params = Params::default().with("rounds", rounds).with("tolerance", "0");
        let resources = Resources { rates, threads, ..resources(memory_bytes) };
        plan(&view, find("pagerank").unwrap(), &params, &Request::default(), &resources).unwrap()
    };
    let usual = priced(Rates::default(), 2, "20", 1 << 30);
    let price = usual.chosen().price;
    assert!(price.opening > 0.0 && price.verifying > 0.0 && price.computing > 0.0 && price.gathering == 0.0);
    assert_eq!(price.seconds(), price.parts().iter().map(|part| part.1).sum::<f64>());
    let same = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
    let fast = priced(faster(2.0), 2, "20", 1 << 30).chosen().price;
    assert!(same(price.seconds(), 2.0 * fast.seconds()), "{price:?} {fast:?}");
    let alone = priced(Rates::default(), 1, "20", 1 << 30).chosen().price;
    assert!(same(alone.computing, 2.0 * price.computing) && same(alone.opening, price.opening));
    let few = priced(Rates::default(), 2, "5", 1 << 30).chosen().price;
    assert!(same(price.computing, 4.0 * few.computing) && same(price.verifying, few.verifying));
    assert!(candidate(&usual, MEMORY).price.gathering > 0.0);
    assert!(candidate(&usual, TILES).price.computing > price.computing, "tiles are decoded");
    // The least pool reads the lists once, and what it does not hold in each of the other rounds.
    let pooled = candidate(&usual, POOLED_LISTS);
    let least = candidate(&priced(Rates::default(), 2, "20", pooled.least_bytes), POOLED_LISTS).price;
    let beyond = pooled.graph_bytes - PoolOptions::default().bytes_min();
    let expected = (pooled.graph_bytes + 19 * beyond) as f64;
    assert!((least.disk_bytes as f64 / expected - 1.0).abs() < 1e-6, "{least:?} {expected}");
    assert!(least.reading > 0.0 && least.reading > pooled.price.reading);
}

#[test]
fn the_price_of_heads_counts_the_lists_that_are_read_for_them() {
    let (_directory, view) = database(14, Encoding::Plain, true);
    let planned = |algorithm, view| {
        let request = Request::default();
        let entry = find(algorithm).unwrap();
        plan(view, entry, &Params::default(), &request, &resources(1 << 30)).unwrap()
    };
    let priced = |algorithm, view| {
        let planned = planned(algorithm, view);
        let headed = candidate(&planned, HEADED);
        (headed.price, headed.graph_bytes)
    };
    // All of the file is in the page cache, but heads are read past it.
    let (price, list_bytes) = priced("wcc", &view);
    assert!(price.disk_bytes > list_bytes / 2 && price.reading > 0.0 && price.gathering > 0.0, "{price:?}");
    // Vertices of this graph are in order of degree; where they are not, heads are chosen.
    assert!(price::DegreeSample::of(&view).unwrap().descend);
    let even =
        generated(&Model::Uniform(Uniform { num_vertices: 1 << 14, num_edges: 1 << 18, directed: false }));
    assert!(!price::DegreeSample::of(&even.1).unwrap().descend);
    let seconds_an_arc = |price: Price, view: &View| price.gathering / view.num_arcs() as f64;
    let chosen = priced("wcc", &even.1).0;
    assert!(seconds_an_arc(chosen, &even.1) > 2.0 * seconds_an_arc(price, &view), "{chosen:?} {price:?}");
    // Where degrees are equal, a search reads many tails.
    assert!(priced("bfs", &even.1).0.disk_bytes >= chosen.disk_bytes);
}

#[test]
fn graphs_with_hubs_are_known_by_their_degrees() {
    let (_directory, skewed) = database(12, Encoding::Plain, false);
    assert!(price::DegreeSample::of(&skewed).unwrap().skew > 0.8);
    assert_eq!(price::DegreeSample::of(&generated(&Model::Path(5000)).1).unwrap().skew, 0.0);
}

#[test]
fn a_window_does_not_change_how_unequal_degrees_are() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.esker");
    let model = Model::RMat(RMat::kronecker(10, 16));
    let reader = GeneratorReader::new(Generator::new(&model, Weighting::Int { max: 100 }, 5).unwrap());
    let options = ImportOptions { directed: Some(false), ..ImportOptions::default() };
    let disk = Arc::new(RealDisk) as Arc<_>;
    import(&disk, Box::new(reader), &path, &options, StagingOptions::default()).unwrap();
    let whole = Store::open(&path).unwrap().latest().unwrap();
    let window = TimeWindow { after: 90, until: 100, copies: Copies::All };
    let few = whole.view().window("weight", window, true, &Run::with_threads(2).unwrap()).unwrap();
    assert!(few.num_arcs() < whole.num_arcs() / 5);
    // Degrees are those of the whole version.
    assert_eq!(price::DegreeSample::of(&few).unwrap(), price::DegreeSample::of(&whole.view()).unwrap());
}

#[test]
fn windows_of_layers_that_are_copied_need_no_vertex_tables() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.esker");
    let model = Model::RMat(RMat::kronecker(10, 1));
    let reader = GeneratorReader::new(Generator::new(&model, Weighting::Int { max: 100 }, 5).unwrap());
    let options = ImportOptions { directed: Some(false), ..ImportOptions::default() };
    let disk = Arc::new(RealDisk) as Arc<_>;
    import(&disk, Box::new(reader), &path, &options, StagingOptions::default()).unwrap();
    let run = Run::with_threads(2).unwrap();
    let database = Database::open(&path, DatabaseOptions::default()).unwrap();
    let mut batch = database.batch();
    batch.add_edge(1_u64, 2_u64, &[PropertyValue::from(95_i64)]).unwrap();
    database.commit(batch, "").unwrap();
    database.freeze(&run).unwrap();
    database.close().unwrap();

    let window = TimeWindow { after: 90, until: 100, copies: Copies::All };
    let open = || Store::open(&path).unwrap().latest().unwrap();
    let shown = open().view().window("weight", window, true, &run).unwrap();
    let tables = shown.version().stack().table_bytes();
    let edges = shown.window_index().unwrap().gathered_bytes(0, None);
    assert!(edges < tables, "{edges} {tables}");
    let least = candidate(&free(&shown, "wcc", 1 << 30), LISTS).least_bytes;
    let planned = choose(&shown, "wcc", &Request::default(), least).unwrap();
    assert!(planned.gathers && choice(&planned) == LISTS);
    assert!(choose(&shown, "wcc", &Request::default(), least - 1).is_err());
    // The window itself stays in memory.
    let budget = Budget::new(planned.estimate.memory_bytes);
    let run = Run::new(RunOptions { threads: 2, budget, ..RunOptions::default() }).unwrap();
    let shown = planned.apply(&shown).unwrap();
    let job = Job { view: &shown, run: &run, params: &Params::default(), verify: false };
    find("wcc").unwrap().run(&job).unwrap();
    assert!(shown.version().stack().table_if_made(Direction::Out).is_none());
}

#[test]
fn a_run_without_rounds_and_a_pool_of_many_scans_have_prices() {
    let (_directory, view) = database(14, Encoding::Plain, false);
    let priced = |algorithm, params: Params, threads, memory_bytes| {
        let resources = Resources { threads, ..resources(memory_bytes) };
        plan(&view, find(algorithm).unwrap(), &params, &Request::default(), &resources).unwrap()
    };
    let none = priced("cdlp", Params::default().with("iterations", "0"), 2, 1 << 30).chosen().price;
    assert_eq!(none.computing, 0.0);
    assert!(none.seconds().is_finite());
    let many = || Params::default().with("rounds", "4000000000000000").with("tolerance", "0");
    let least = candidate(&priced("pagerank", many(), 2, 1 << 30), POOLED_LISTS).least_bytes;
    let price = candidate(&priced("pagerank", many(), 2, least), POOLED_LISTS).price;
    assert_eq!(price.disk_bytes, u64::MAX, "more than can be counted");
    assert!(price.verifying > 1e6 && price.seconds().is_finite(), "{price:?}");
    let [one, two] = [1, 2].map(|threads| {
        let planned = priced("triangles", Params::default(), threads, 1 << 30);
        candidate(&planned, POOLED_LISTS).price.computing
    });
    assert!((one / two - 2.0).abs() < 1e-9, "threads share point reads: {one} {two}");
}

#[test]
fn slow_scans_of_layers_make_a_copy_pay_sooner() {
    let (_directory, view) = database(12, Encoding::Plain, false);
    let database = Database::open(view.version().path(), DatabaseOptions::default()).unwrap();
    let mut batch = database.batch();
    batch.add_edge(1_u64, 2_u64, &[PropertyValue::from(1_i64)]).unwrap();
    database.commit(batch, "one more").unwrap();
    let version = database.latest().unwrap();
    let chosen = |rates, rounds| {
        let params = Params::default().with("rounds", rounds).with("tolerance", "0");
        let resources = Resources { rates, ..resources(1 << 30) };
        choice(
            &plan(&version.view(), find("pagerank").unwrap(), &params, &Request::default(), &resources)
                .unwrap(),
        )
    };
    assert_eq!(chosen(Rates::default(), "32"), LISTS);
    assert_eq!(chosen(Rates::default(), "33"), MEMORY);
    let slow = Rates::default().with(Rate::ScanLayers, 1e8);
    assert_eq!((chosen(slow, "2"), chosen(slow, "3")), (LISTS, MEMORY));
}

#[test]
fn a_refusal_of_heads_of_a_requested_length_names_a_limit_that_holds_them() {
    let (_directory, view) = database(12, Encoding::Plain, false);
    let request = Request { residency: Some(Residency::Headed), head_len: Some(40), ..Request::default() };
    let needed = |memory_bytes| match choose(&view, "bfs", &request, memory_bytes) {
        Err(Error::Store(esker_store::Error::Stop(Stop::OverBudget { needed_bytes, .. }))) => needed_bytes,
        other => panic!("{other:?}"),
    };
    let least = needed(1000);
    assert_eq!(needed(least - 1), least);
    choose(&view, "bfs", &request, least).unwrap();
    let shorter = choose(&view, "bfs", &Request { head_len: Some(1), ..request }, least - 1);
    assert!(shorter.is_ok(), "{shorter:?}");
}

#[test]
fn a_refusal_says_what_later_layers_take_part_in_it() {
    let (_directory, view) = database(12, Encoding::Plain, true);
    let pooled = Request { residency: Some(Residency::Pooled), ..Request::default() };
    let message = |view| choose(view, "wcc", &pooled, 1000).unwrap_err().to_string();
    assert!(!message(&view).contains("later layers"), "{}", message(&view));
    let options = DatabaseOptions { auto_merge: Some(false), ..DatabaseOptions::default() };
    let database = Database::open(view.version().path(), options).unwrap();
    let mut batch = database.batch();
    for edge in 0..200_000_u64 {
        batch.add_edge(edge % 4000, edge * 31 % 3989, &[PropertyValue::from(1_i64)]).unwrap();
    }
    database.commit(batch, "many more").unwrap();
    database.freeze(&Run::with_threads(1).unwrap()).unwrap();
    let refused = message(&database.latest().unwrap().view());
    assert!(
        refused.contains(" MiB of changes in later layers, which a merge would join, needs "),
        "{refused}"
    );
}

#[test]
fn a_direction_that_is_not_read_keeps_its_vertex_table_in_the_plan() {
    let options = ImportOptions { directed: Some(true), in_edges: true, ..ImportOptions::default() };
    let (_directory, view) = database_of(10, &options, true);
    let database = Database::open(view.version().path(), DatabaseOptions::default()).unwrap();
    let mut batch = database.batch();
    batch.add_edge(1_u64, 2_u64, &[PropertyValue::from(1_i64)]).unwrap();
    database.commit(batch, "one more").unwrap();
    let version = database.latest().unwrap();
    let estimated = |algorithm, path| {
        let (entry, params) = (find(algorithm).unwrap(), Params::default());
        needs::estimate_as(path, &version.view(), entry, &params, &resources(1 << 30)).unwrap().memory_bytes
    };
    // A table has eight bytes a vertex more than degrees have.
    let saved = 8 * version.num_vertices() as u64;
    let saves = |algorithm, path| estimated(algorithm, LISTS) - estimated(algorithm, path);
    // PageRank reads in-lists, and asks for out-degrees.
    for path in [POOLED_LISTS, HEADED] {
        assert_eq!([saves("pagerank", path), saves("wcc", path)], [saved, 2 * saved], "{path:?}");
    }
    assert_eq!(saves("wcc", POOLED_TILES), 2 * saved);
}

#[test]
fn a_run_reaches_the_rate_that_is_measured_likewise() {
    let (_large, large) = generated(&Model::Path(1 << 18));
    let (_small, small) = generated(&Model::Path(1000));
    let answer = crate::answer::Answer { rounds: 1, arcs: 100, seconds: 0.5, ..Default::default() };
    let reached = |view, algorithm| {
        let planned = free(view, algorithm, 1 << 30);
        reached::reached(&planned.access, view, find(algorithm).unwrap(), &answer)
    };
    assert_eq!(reached(&large, "pagerank"), Some((Rate::ScanPlain, 200.0)));
    assert_eq!(reached(&large, "wcc"), None, "its arcs a second are others");
    assert_eq!(reached(&small, "pagerank"), None, "it fits the caches");
}
