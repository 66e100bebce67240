use std::sync::Arc;

use esker_graph::generate::{Generator, Model, RMat, Weighting};
use esker_import::generated::GeneratorReader;
use esker_import::install::import;
use esker_import::options::ImportOptions;
use esker_store::format::Encoding;
use esker_store::io::RealDisk;
use esker_store::tiles::ConvertOptions;
use esker_store::version::StagingOptions;
use esker_store::{Database, DatabaseOptions, Store};

use super::*;
use crate::catalogue::{Job, find};

fn database(scale: u32, encoding: Encoding, tiles: bool) -> (tempfile::TempDir, Snapshot) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.esker");
    let model = Model::RMat(RMat::kronecker(scale, 16));
    let generator = Generator::new(&model, Weighting::Unit, 5).unwrap();
    let options = ImportOptions { encoding, directed: Some(false), ..ImportOptions::default() };
    let (disk, reader) = (Arc::new(RealDisk) as Arc<_>, Box::new(GeneratorReader::new(generator)));
    import(&disk, reader, &path, &options, StagingOptions::default()).unwrap();
    if tiles {
        let database = Database::open(&path, DatabaseOptions::default()).unwrap();
        database.make_tiles(&ConvertOptions::default(), &Run::with_threads(2).unwrap()).unwrap();
        database.close().unwrap();
    }
    let snapshot = Store::open(&path).unwrap().snapshot().unwrap();
    (directory, snapshot)
}

fn means(memory_bytes: u64) -> Means {
    Means { threads: 2, deterministic: false, memory_bytes, mapped_bytes: memory_bytes }
}

fn choose(snapshot: &Snapshot, algorithm: &str, wish: &Wish, memory_bytes: u64) -> Result<Plan> {
    plan(snapshot, find(algorithm).unwrap(), &Params::default(), wish, &means(memory_bytes))
}

fn free(snapshot: &Snapshot, algorithm: &str, memory_bytes: u64) -> Plan {
    choose(snapshot, algorithm, &Wish::default(), memory_bytes).unwrap()
}

fn way(plan: &Plan, form: Form) -> &Way {
    plan.ways.iter().find(|way| way.form == form).unwrap()
}

#[test]
fn less_memory_leads_from_lists_to_tiles_to_a_pool_and_back_to_the_page_cache() {
    let (_directory, snapshot) = database(17, Encoding::Plain, true);
    let ample = free(&snapshot, "pagerank", 1 << 30);
    assert_eq!((ample.form, ample.residency, ample.fits), (Form::Lists, Residency::Lists, true));
    let at_bound = |form| {
        let bound = way(&ample, form).whole_bytes;
        (free(&snapshot, "pagerank", bound).form, free(&snapshot, "pagerank", bound - 1).form)
    };
    assert_eq!(at_bound(Form::Lists), (Form::Lists, Form::Tiles));
    assert_eq!(at_bound(Form::Tiles), (Form::Tiles, Form::PooledTiles));
    let pooled = way(&ample, Form::PooledTiles).least_bytes;
    let little = free(&snapshot, "pagerank", pooled);
    assert!(
        matches!(little.residency, Residency::PooledTiles(options) if options.bytes >= options.bytes_min())
    );
    assert!(!little.fits);
    let least = free(&snapshot, "pagerank", way(&ample, Form::Lists).least_bytes);
    assert_eq!((least.form, least.fits), (Form::Lists, false));
}

#[test]
fn heads_are_kept_where_there_are_no_tiles() {
    let (_directory, snapshot) = database(17, Encoding::Plain, false);
    for algorithm in ["pagerank", "sssp"] {
        let ways = free(&snapshot, algorithm, 1 << 30);
        let memory = way(&ways, Form::Headed).least_bytes + (1 << 20);
        let planned = free(&snapshot, algorithm, memory);
        assert_eq!(planned.form, Form::Headed, "{:?}", planned.ways);
        let heads = planned.heads(&snapshot, &Run::with_threads(2).unwrap()).unwrap().unwrap();
        assert!(heads.length >= 1 && heads.share < 1.0);
        let Residency::Headed(options) = planned.residency else { panic!("{planned:?}") };
        assert!(heads.memory_bytes <= options.memory_bytes);
    }
    let (_directory, snapshot) = database(17, Encoding::Compressed, false);
    let planned = free(&snapshot, "bfs", PROCESS_BYTES + (4 << 20));
    assert_eq!((planned.form, planned.fits), (Form::Lists, false));
    assert!(way(&planned, Form::Headed).obstacle.as_ref().unwrap().contains("--encoding plain"));
    assert!(way(&planned, Form::Tiles).obstacle.as_ref().unwrap().contains("--encoding tiles"));
}

#[test]
fn lists_are_kept_in_parts_where_there_is_nothing_better() {
    let (_directory, snapshot) = database(17, Encoding::Compressed, false);
    let ample = free(&snapshot, "pagerank", 1 << 30);
    let least = way(&ample, Form::PooledLists).least_bytes;
    // The least is less than all lists only of graphs larger than this one.
    let wish = Wish { kept: Some(Kept::Lists), place: Some(Place::Pooled), head_len: None };
    let planned = choose(&snapshot, "pagerank", &wish, least).unwrap();
    assert_eq!(planned.form, Form::PooledLists);
    assert!(
        matches!(planned.residency, Residency::PooledLists(options) if options.bytes == options.bytes_min())
    );
    assert!(matches!(choose(&snapshot, "pagerank", &wish, least - 1), Err(Error::Store(_))));
    // Asked for without tiles, a fixed memory is one of lists.
    let wish = Wish { place: Some(Place::Pooled), ..Wish::default() };
    assert_eq!(choose(&snapshot, "wcc", &wish, 1 << 30).unwrap().form, Form::PooledLists);
    let (_directory, snapshot) = database(12, Encoding::Plain, true);
    assert_eq!(choose(&snapshot, "wcc", &wish, 1 << 30).unwrap().form, Form::PooledTiles);
}

#[test]
fn searches_prefer_heads_to_tiles() {
    let (_directory, snapshot) = database(17, Encoding::Plain, true);
    let ample = free(&snapshot, "bfs", 1 << 30);
    let below = way(&ample, Form::Lists).whole_bytes - 1;
    assert_eq!(free(&snapshot, "bfs", below).form, Form::Headed);
    let too_little = way(&ample, Form::Headed).least_bytes - 1;
    assert!(matches!(free(&snapshot, "bfs", too_little).form, Form::Tiles | Form::PooledTiles));
}

#[test]
fn whoever_reads_single_lists_keeps_to_lists_unless_asked() {
    let (_directory, snapshot) = database(12, Encoding::Plain, true);
    let ways = free(&snapshot, "triangles", 1 << 30);
    let memory = way(&ways, Form::Tiles).whole_bytes;
    assert_eq!(free(&snapshot, "triangles", memory).form, Form::Lists);
    let wish = Wish { kept: Some(Kept::Tiles), ..Wish::default() };
    assert_eq!(choose(&snapshot, "triangles", &wish, memory).unwrap().form, Form::Tiles);
}

#[test]
fn a_memory_that_no_limit_was_set_for_holds_more_mapped_files() {
    let (_directory, snapshot) = database(12, Encoding::Plain, true);
    let ways = free(&snapshot, "wcc", 1 << 30);
    let memory_bytes = way(&ways, Form::PooledTiles).least_bytes;
    let means = Means { mapped_bytes: 1 << 30, ..means(memory_bytes) };
    let planned =
        plan(&snapshot, find("wcc").unwrap(), &Params::default(), &Wish::default(), &means).unwrap();
    assert_eq!((planned.form, planned.fits), (Form::Lists, true));
}

#[test]
fn refusals_name_what_would_suffice() {
    let (_directory, snapshot) = database(12, Encoding::Plain, true);
    let wishes = [
        Wish::default(),
        Wish { place: Some(Place::Pooled), ..Wish::default() },
        Wish { place: Some(Place::Headed), ..Wish::default() },
        Wish { head_len: Some(20), ..Wish::default() },
    ];
    for wish in wishes {
        let mut memory_bytes = 1000;
        // A minimum that is met may show what the heads need beside it.
        let planned = loop {
            match choose(&snapshot, "kcore", &wish, memory_bytes) {
                Ok(planned) => break planned,
                Err(Error::Store(esker_store::Error::Stop(Stop::OverBudget {
                    needed_bytes,
                    budget_bytes,
                    ..
                }))) => {
                    assert_eq!(budget_bytes, memory_bytes);
                    assert!(needed_bytes > memory_bytes);
                    assert!(choose(&snapshot, "kcore", &wish, needed_bytes - 1).is_err());
                    memory_bytes = needed_bytes;
                }
                Err(other) => panic!("{other}"),
            }
        };
        let run = Run::with_threads(2).unwrap();
        let snapshot = planned.apply(&snapshot).unwrap();
        let job = Job { snapshot: &snapshot, run: &run, params: &Params::default(), verify: true };
        find("kcore").unwrap().run(&job).unwrap();
    }
}

#[test]
fn wishes_that_do_not_go_together() {
    let wish = |kept, place, head_len| Wish { kept, place, head_len }.check().unwrap_err().to_string();
    assert!(wish(Some(Kept::Tiles), Some(Place::Headed), None).contains("--encoding lists"));
    assert!(wish(Some(Kept::Tiles), None, Some(3)).contains("--encoding lists"));
    assert!(wish(None, Some(Place::Mapped), Some(3)).contains("--residency headed"));
    let (_directory, snapshot) = database(12, Encoding::Plain, false);
    let wish = Wish { kept: Some(Kept::Tiles), ..Wish::default() };
    let error = choose(&snapshot, "bfs", &wish, 1 << 30).unwrap_err();
    assert!(error.to_string().contains("esker compact --encoding tiles"), "{error}");
}
