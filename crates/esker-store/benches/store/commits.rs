//! Commits to an open database: their speed, whatever their number and size, and their effect on readers.
//!
//! `cargo bench -p esker-store --bench store -- commits [--scale 22] [--only
//! batches,single,reads,columns,large] [--directory DIR]`
//!
//! * `batches`: R-MAT edges in commits of 100 000, each synced before it is acknowledged, with automatic
//!   freezing and merging; of a graph without in-edges, and of one with them.
//! * `single`: ten thousand commits of one edge, not synced; then lists all versions and opens the first, a
//!   middle and the last one.
//! * `reads`: the median time of a point read in a quiet database, and while another thread commits, freezes
//!   and merges.
//! * `columns`: ten million edges from arrays in one commit, without and with weights. The arrays, the
//!   database before the commit and the seconds stay in the directory for `bench/python.py --columns DIR`,
//!   which does the same from Python.
//! * `large`: one commit of 100 million edges, about 10 GB of memory; runs only if `--only` names it.
//!
//! Without arguments: once, small.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use esker_graph::generate::{Generator, Model, RMat, Weighting};
use esker_graph::random::Random;
use esker_graph::{Direction, Run, VertexId, vertex};
use esker_import::install::import;
use esker_import::options::ImportOptions;
use esker_import::read::generated::GeneratorReader;
use esker_store::io::{Disk, RealDisk};
use esker_store::log::Sync;
use esker_store::manifest::StagingOptions;
use esker_store::property::PropertyValue;
use esker_store::{Database, DatabaseOptions};

const LARGE_EDGES: u64 = 100_000_000;
const COLUMN_EDGES: usize = 10_000_000;

struct Settings {
    scale: u32,
    batch: usize,
    singles: usize,
    reads: usize,
    only: Vec<String>,
    directory: Option<String>,
}

impl Settings {
    fn parse() -> Self {
        let mut settings =
            Self { scale: 8, batch: 500, singles: 50, reads: 200, only: Vec::new(), directory: None };
        let mut args = crate::arguments();
        while let Some(arg) = args.next() {
            let value = args.next().unwrap_or_default();
            match arg.as_str() {
                "--scale" => {
                    settings.scale = value.parse().expect("a number");
                    (settings.batch, settings.singles, settings.reads) = (100_000, 10_000, 200_000);
                }
                "--only" => settings.only = value.split(',').map(str::to_owned).collect(),
                "--directory" => settings.directory = Some(value),
                other => panic!("unknown option {other}"),
            }
        }
        settings
    }

    fn wants(&self, what: &str) -> bool {
        (self.only.is_empty() && what != "large") || self.only.iter().any(|only| only == what)
    }
}

pub(crate) fn main() {
    let settings = Settings::parse();
    let temporary = tempfile::tempdir().expect("a directory");
    let directory = settings.directory.as_ref().map_or(temporary.path(), Path::new).to_owned();
    if settings.wants("batches") {
        for in_edges in [false, true] {
            batches(&settings, in_edges, &directory.join(format!("batches-{in_edges}.esker")));
        }
    }
    if settings.wants("single") {
        single(&settings, &directory.join("single.esker"));
    }
    if settings.wants("reads") {
        reads(&settings, &directory.join("reads.esker"));
    }
    if settings.wants("columns") {
        columns(&settings, &directory);
    }
    if settings.wants("large") {
        large(&directory.join("large.esker"));
    }
}

/// The edges that commits add.
fn edges(scale: u32, seed: u64) -> Vec<(VertexId, VertexId, ())> {
    let model = RMat { directed: true, ..RMat::kronecker(scale, 16) };
    Generator::new(&Model::RMat(model), Weighting::None, seed).expect("a model").edges()
}

/// Creates and opens a database with 2^scale vertices.
fn database(scale: u32, degree: u64, in_edges: bool, path: &Path, options: DatabaseOptions) -> Database {
    make(scale, degree, Weighting::None, in_edges, path);
    Database::open(path, options).expect("opening succeeds")
}

fn make(scale: u32, degree: u64, weighting: Weighting, in_edges: bool, path: &Path) {
    let model = RMat { directed: true, ..RMat::kronecker(scale, degree) };
    let generator = Generator::new(&Model::RMat(model), weighting, 2).expect("a model");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let reader = Box::new(GeneratorReader::new(generator));
    let import_options = ImportOptions { in_edges, ..ImportOptions::default() };
    import(&disk, reader, path, &import_options, StagingOptions::default()).expect("a database");
}

fn add(db: &Database, part: &[(VertexId, VertexId, ())]) {
    let mut batch = db.batch();
    for &(u, v, ()) in part {
        batch.add_edge(u64::from(u), u64::from(v), &[]).expect("an edge");
    }
    db.commit(batch, "").expect("a version");
}

fn batches(settings: &Settings, in_edges: bool, path: &Path) {
    let edges = edges(settings.scale, 1);
    let db = database(settings.scale, 1, in_edges, path, DatabaseOptions::default());
    let begin = Instant::now();
    for part in edges.chunks(settings.batch) {
        add(&db, part);
    }
    let acknowledged = begin.elapsed().as_secs_f64();
    let run = Run::with_threads(2).expect("threads");
    db.freeze(&run).expect("a layer");
    let frozen = begin.elapsed().as_secs_f64();
    println!(
        "{} edges in commits of {}, {} in-lists: {:.2} M/s acknowledged, {:.2} M/s including the last freeze; {} layers",
        edges.len(),
        settings.batch,
        if in_edges { "with" } else { "without" },
        edges.len() as f64 / acknowledged / 1e6,
        edges.len() as f64 / frozen / 1e6,
        db.manifest().layers.len()
    );
    db.close().expect("closing succeeds");
}

fn single(settings: &Settings, path: &Path) {
    let edges = edges(settings.scale.min(16), 3);
    let options = DatabaseOptions { sync: Sync::Never, ..DatabaseOptions::default() };
    let db = database(settings.scale.min(16), 1, true, path, options);
    let tenth = settings.singles / 10;
    let mut parts = Vec::new();
    let begin = Instant::now();
    for part in edges[..settings.singles].chunks(tenth) {
        let begin = Instant::now();
        part.chunks(1).for_each(|edge| add(&db, edge));
        parts.push(begin.elapsed().as_secs_f64() / part.len() as f64 * 1e6);
    }
    println!(
        "{} commits of one edge: {:.0}/s; {:.1} us per commit in the first tenth, {:.1} us in the last",
        settings.singles,
        settings.singles as f64 / begin.elapsed().as_secs_f64(),
        parts[0],
        parts[parts.len() - 1]
    );
    let begin = Instant::now();
    let run = Run::with_threads(2).expect("threads");
    db.freeze(&run).expect("a layer");
    let frozen = begin.elapsed().as_secs_f64();
    let last = settings.singles as u64 + 1;
    for number in [1, last / 2, last] {
        let version = db.at(number).expect("a version");
        version.view().graph::<()>(&run).expect("its graph");
    }
    println!("  freeze: {frozen:.3} s; {} versions listed, three opened", db.versions().len());
    db.close().expect("closing succeeds");
    let begin = Instant::now();
    drop(Database::open(path, DatabaseOptions::default()).expect("reopening succeeds"));
    println!("  reopened in {:.3} s", begin.elapsed().as_secs_f64());
}

fn reads(settings: &Settings, path: &Path) {
    let db = database(
        settings.scale,
        16,
        true,
        path,
        DatabaseOptions { freeze_bytes: Some(16 << 20), ..Default::default() },
    );
    let edges = edges(settings.scale.min(20), 5);
    let quiet = read(&db, settings);
    let stop = AtomicBool::new(false);
    let (busy, commits, layers) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut commits = 0;
            for part in edges.chunks(settings.batch.min(20_000)).cycle().take_while(|_| !stop.load(Relaxed)) {
                add(&db, part);
                commits += 1;
            }
            commits
        });
        let busy = read(&db, settings);
        stop.store(true, Relaxed);
        (busy, writer.join().expect("commits"), db.manifest().layers.len())
    });
    let run = Run::with_threads(1).expect("threads");
    let merging = std::thread::scope(|scope| {
        let merger = scope.spawn(|| db.compact(&run).expect("one layer"));
        let merging = read(&db, settings);
        merger.join().expect("a merge");
        merging
    });
    println!(
        "median point read (neighbours): idle {quiet:.2} us; during {commits} commits with freezes and merges {busy:.2} us, ratio {:.2} \
         ({layers} layers afterwards); during compaction {merging:.2} us, ratio {:.2}",
        busy / quiet,
        merging / quiet
    );
    db.close().expect("closing succeeds");
}

/// The median time of reading the neighbours of a random vertex, in microseconds.
fn read(db: &Database, settings: &Settings) -> f64 {
    let n = 1_u64 << settings.scale;
    let mut random = Random::new(9);
    let mut times: Vec<f64> = (0..settings.reads)
        .map(|_| {
            let v = vertex(random.below(n) as usize);
            let begin = Instant::now();
            std::hint::black_box(db.neighbors(Direction::Out, v).expect("a list"));
            begin.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn columns(settings: &Settings, directory: &Path) {
    let mut edges = edges(settings.scale, 1);
    edges.truncate(COLUMN_EDGES);
    let source: Vec<u64> = edges.iter().map(|edge| u64::from(edge.0)).collect();
    let target: Vec<u64> = edges.iter().map(|edge| u64::from(edge.1)).collect();
    let weight: Vec<f32> = (0..edges.len()).map(|i| (i % 1024) as f32 / 1024.0).collect();
    let bytes = |ids: &[u64]| ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>();
    std::fs::write(directory.join("source.u64"), bytes(&source)).expect("a file");
    std::fs::write(directory.join("target.u64"), bytes(&target)).expect("a file");
    let weights: Vec<u8> = weight.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    std::fs::write(directory.join("weight.f32"), weights).expect("a file");
    let mut seconds = String::new();
    for (name, weighting) in [("plain", Weighting::None), ("weighted", Weighting::Unit)] {
        let path = directory.join(format!("{name}.esker"));
        let (mut least, mut parts) = (f64::INFINITY, (0.0, 0.0));
        for _ in 0..3 {
            make(settings.scale, 1, weighting, true, &path);
            let db = Database::open(&path, DatabaseOptions::default()).expect("opening succeeds");
            let begin = Instant::now();
            let mut batch = db.batch();
            for ((&u, &v), &w) in source.iter().zip(&target).zip(&weight) {
                let values = [PropertyValue::F32(w)];
                batch.add_edge(u, v, if name == "plain" { &[] } else { &values }).expect("an edge");
            }
            let added = begin.elapsed().as_secs_f64();
            db.commit(batch, "columns").expect("a version");
            let total = begin.elapsed().as_secs_f64();
            if total < least {
                (least, parts) = (total, (added, total - added));
            }
            db.close().expect("closing succeeds");
            std::fs::remove_dir_all(&path).expect("removing succeeds");
        }
        make(settings.scale, 1, weighting, true, &path);
        println!(
            "{} edges from arrays, {name}: {:.3} s to fill the batch, {:.3} s to commit it, {:.2} M/s",
            source.len(),
            parts.0,
            parts.1,
            source.len() as f64 / least / 1e6
        );
        seconds += &format!("{name} {least}\n");
    }
    std::fs::write(directory.join("seconds.txt"), seconds).expect("a file");
}

fn large(path: &Path) {
    let db = database(20, 1, true, path, DatabaseOptions::default());
    let begin = Instant::now();
    let mut batch = db.batch();
    let mut random = Random::new(1);
    for _ in 0..LARGE_EDGES {
        batch.add_edge(random.below(1 << 20), random.below(1 << 20), &[]).expect("an edge");
    }
    let version = db.commit(batch, "one hundred million").expect("a version");
    let committed = begin.elapsed().as_secs_f64();
    let run = Run::with_threads(2).expect("threads");
    db.freeze(&run).expect("a layer");
    println!(
        "one commit of {LARGE_EDGES} edges: {committed:.1} s, frozen after {:.1} s; version {version} has {} edges",
        begin.elapsed().as_secs_f64(),
        db.at(version).expect("the version exists").num_edges()
    );
    db.close().expect("closing succeeds");
}
