//! What a step of a stream costs: a durable commit, the windows of a reader, and PageRank on them.
//!
//! `cargo bench -p esker --bench stream -- [--scale 20] [--degree 16] [--step 1000000] [--window 10] [--steps
//! 16] [--rounds 10] [--threads 2] [--edges FILE]`
//!
//! The directed edges of an R-MAT graph come in a random order, which is their time. Each step commits so
//! many, synced; a reader that follows the log takes them in, moves its window of so many steps, and runs
//! PageRank on the window. Then: the same edges, imported as one layer; and three windows at once, of all,
//! half and a fifth of the steps. `--edges` writes the edges to a file, for other programs.
//!
//! Then the edges of a CSV file are streamed into a new database, without a reader and with one that follows
//! three windows, with in-edges and without. Without arguments: once, small.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // A benchmark prints what it measures.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use esker::MemoryLimit;
use esker::catalogue::{Entry, Params, Resources, find};
use esker::change::{CommitEvery, Purpose, StreamOptions, Target, open_edges, stream};
use esker::computation::Computation;
use esker::follow::Follow;
use esker::graph::Run;
use esker::graph::generate::{Generator, Model, RMat, Weighting};
use esker::graph::random::Random;
use esker::import::install::import;
use esker::import::open::open_reader;
use esker::import::options::ImportOptions;
use esker::import::read::format::ReadOptions;
use esker::rates::Known;
use esker::store::format::Duplicates;
use esker::store::io::{Disk, RealDisk};
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::windows::{Copies, TimeWindow};
use esker::store::{Database, DatabaseOptions, Follower, View};
use esker::window::{WindowJob, WindowSeries};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Edges that are handed to the store at a time.
const BLOCK_EDGES: usize = 4096;

struct Settings {
    scale: u32,
    degree: u64,
    step: usize,
    window: usize,
    steps: usize,
    rounds: u32,
    threads: usize,
    edges: Option<PathBuf>,
}

impl Settings {
    fn parse() -> Result<Self> {
        let mut settings =
            Self { scale: 8, degree: 8, step: 200, window: 5, steps: 8, rounds: 3, threads: 2, edges: None };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} takes a value"))?;
            match name.as_str() {
                "--scale" => settings.scale = value.parse()?,
                "--degree" => settings.degree = value.parse()?,
                "--step" => settings.step = value.parse()?,
                "--window" => settings.window = value.parse()?,
                "--steps" => settings.steps = value.parse()?,
                "--rounds" => settings.rounds = value.parse()?,
                "--threads" => settings.threads = value.parse()?,
                "--edges" => settings.edges = Some(value.into()),
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        Ok(settings)
    }

    fn resources(&self, run: &Run) -> Resources {
        Resources {
            threads: self.threads,
            deterministic: false,
            memory: MemoryLimit::of(run.budget().free_bytes()).mapping(u64::MAX),
            rates: Known::of_user().rates,
        }
    }
}

/// The edges in a random order.
fn edges(settings: &Settings) -> Result<Vec<(u64, u64)>> {
    let model = Model::RMat(RMat::kronecker(settings.scale, settings.degree));
    let generator = Generator::new(&model, Weighting::None, 1)?;
    let mut edges: Vec<_> =
        generator.edges().iter().map(|&(u, v, ())| (u64::from(u), u64::from(v))).collect();
    Random::new(7).shuffle(&mut edges);
    Ok(edges)
}

/// Writes edges with their times.
fn write(path: &Path, edges: &[(u64, u64)], first: usize) -> Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "from,to,time")?;
    for (time, (u, v)) in (first..).zip(edges) {
        writeln!(file, "{u},{v},{time}")?;
    }
    file.into_inner()?;
    Ok(())
}

/// Imports edges into a new database.
fn database_of(
    edges: &[(u64, u64)],
    place: &Path,
    (in_edges, threads): (bool, usize),
) -> Result<(PathBuf, Arc<dyn Disk>)> {
    let (input, path) = (place.join("first.csv"), place.join("stream.esker"));
    if path.exists() {
        std::fs::remove_dir_all(&path)?;
    }
    write(&input, edges, 0)?;
    let reader = open_reader(&[input.to_string_lossy()], &ReadOptions::default())?;
    let options = ImportOptions {
        directed: Some(true),
        duplicates: Duplicates::Keep,
        in_edges,
        threads,
        ..ImportOptions::default()
    };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    import(&disk, reader, &path, &options, StagingOptions::default())?;
    Ok((path, disk))
}

/// The window of some last steps.
fn window(end: usize, length: usize) -> TimeWindow {
    let until = end as i64 - 1;
    TimeWindow { after: until - length as i64, until, copies: Copies::All }
}

/// Runs an algorithm as `esker run` does; returns the seconds of all of it, and of the kernel.
fn run_on(view: &View, job: (&'static Entry, &Params), run: &Run, settings: &Settings) -> Result<[f64; 2]> {
    let begin = Instant::now();
    let answer = Computation::of(job.0, job.1).plan(view, &settings.resources(run))?.run(run)?;
    Ok([begin.elapsed().as_secs_f64(), answer.seconds])
}

/// Steps of commits and windows.
fn steps(edges: &[(u64, u64)], settings: &Settings, place: &Path) -> Result<()> {
    let run = Arc::new(Run::with_threads(settings.threads)?);
    let (path, disk) = database_of(&edges[..settings.step], place, (true, settings.threads))?;
    let options = DatabaseOptions { threads: settings.threads, ..DatabaseOptions::default() };
    let database = Database::open(&path, options)?;
    let mut follower = Follower::open(Arc::clone(&disk), &path, Arc::clone(&run))?;
    let params = Params::default().with("tolerance", "0").with("rounds", settings.rounds.to_string());
    let pagerank = (find("pagerank")?, &params);
    let length = settings.window * settings.step;
    println!("| step | committed | taken in | window | PageRank | its kernel | all |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut shown: Option<View> = None;
    let mut end = settings.step;
    for step in 2..=settings.steps.min(edges.len() / settings.step) {
        let begin = Instant::now();
        let mut batch = database.batch();
        for block in edges[end..end + settings.step].chunks(BLOCK_EDGES) {
            let (sources, targets): (Vec<u64>, Vec<u64>) = block.iter().copied().unzip();
            let times = (end..end + block.len()).map(|time| PropertyValue::from(time as i64)).collect();
            batch.add_integer_edges(&sources, &targets, &[times])?;
            end += block.len();
        }
        database.commit(batch, "a step")?;
        let committed = begin.elapsed().as_secs_f64();
        follower.refresh()?;
        let taken_in = begin.elapsed().as_secs_f64();
        let newest = follower.at(follower.newest())?;
        let next = window(end, length);
        let windowed = match &shown {
            Some(former) => newest.view().window_after(former, "time", next, false, &run)?,
            None => newest.view().window("time", next, false, &run)?,
        };
        let moved = begin.elapsed().as_secs_f64();
        let [answered, kernel] = run_on(&windowed, pagerank, &run, settings)?;
        shown = Some(windowed);
        println!(
            "| {step} | {committed:.3} | {:.3} | {:.3} | {answered:.3} | {kernel:.3} | {:.3} |",
            taken_in - committed,
            moved - taken_in,
            begin.elapsed().as_secs_f64(),
        );
    }
    let Some(shown) = shown else { return Ok(()) };
    together(&follower.at(follower.newest())?.view(), (end, length), pagerank, &run, settings)?;
    let start = end.saturating_sub(length);
    let apart = place.join("apart");
    std::fs::create_dir_all(&apart)?;
    let (path, _) = database_of(&edges[start..end], &apart, (true, settings.threads))?;
    let whole = Database::open(&path, DatabaseOptions::default())?;
    let alone = whole.latest()?;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..5 {
        for (view, best) in [&shown, &alone.view()].into_iter().zip(&mut best) {
            *best = best.min(run_on(view, pagerank, &run, settings)?[1]);
        }
    }
    println!(
        "\nPageRank's kernel, best of 5: on the window {:.4}, on its edges as one layer {:.4}: {:.2}",
        best[0],
        best[1],
        best[0] / best[1]
    );
    Ok(())
}

/// PageRank on three windows at once and on the longest alone.
fn together(
    newest: &View,
    (end, length): (usize, usize),
    (entry, params): (&'static Entry, &Params),
    run: &Run,
    settings: &Settings,
) -> Result<()> {
    let resources = settings.resources(run);
    let job =
        WindowJob { computation: Computation::of(entry, params), resources: &resources, all_vertices: false };
    let mut best = [f64::INFINITY; 2];
    for _ in 0..3 {
        for (lengths, best) in [&[length, length / 2, length / 5][..], &[length]].into_iter().zip(&mut best) {
            let windows = lengths.iter().map(|&length| window(end, length)).collect();
            let begin = Instant::now();
            WindowSeries::answers(newest, "time", windows, &job, run, |_| Ok::<_, esker::Error>(()))?;
            *best = best.min(begin.elapsed().as_secs_f64());
        }
    }
    println!(
        "\nPageRank, best of 3: three windows at once {:.3}, the longest alone {:.3}: {:.2}",
        best[0],
        best[1],
        best[0] / best[1]
    );
    Ok(())
}

/// Streams a file into a new database, while a reader follows the components of three windows or nothing.
fn ingest(
    edges: &[(u64, u64)],
    settings: &Settings,
    place: &Path,
    in_edges: bool,
    follows: bool,
) -> Result<()> {
    let first = settings.step.min(1000);
    let (path, disk) = database_of(&edges[..first], place, (in_edges, settings.threads))?;
    let input = place.join("stream.csv");
    write(&input, &edges[first..], first)?;
    let options = DatabaseOptions { threads: settings.threads, ..DatabaseOptions::default() };
    let database = Database::open(&path, options)?;
    let (done, mut steps, mut longest) = (AtomicBool::new(false), 0, 0.0_f64);
    let mut seconds = 0.0;
    std::thread::scope(|scope| -> Result<()> {
        let feeding = scope.spawn(|| -> std::result::Result<f64, esker::store::Error> {
            let fed = || {
                let target = Target::of(&database)?;
                let inputs = [input.to_string_lossy().into_owned()];
                let input = open_edges(&target, &inputs, &ReadOptions::default(), Purpose::Add)?;
                let options = StreamOptions {
                    every: CommitEvery::Edges(settings.step as u64),
                    ..StreamOptions::default()
                };
                let begin = Instant::now();
                stream(&database, &target, input, &options, &mut None)?;
                Ok(begin.elapsed().as_secs_f64())
            };
            let fed = fed();
            done.store(true, Ordering::Release);
            fed
        });
        if follows {
            (steps, longest) = follow_windows(&path, disk, settings, &done)?;
        }
        seconds = feeding.join().map_err(|_| "the stream panicked")??;
        Ok(())
    })?;
    let count = edges.len() - first;
    println!(
        "| {} | {} | {:.2} | {steps} | {:.1} |",
        if in_edges { "with" } else { "without" },
        if follows { "three windows" } else { "none" },
        count as f64 / seconds / 1e6,
        longest * 1e3,
    );
    database.close()?;
    Ok(())
}

/// Follows the components of three windows until the stream has ended; returns the number of steps and the
/// seconds of the longest.
fn follow_windows(
    path: &Path,
    disk: Arc<dyn Disk>,
    settings: &Settings,
    done: &AtomicBool,
) -> Result<(usize, f64)> {
    let run = Arc::new(Run::with_threads(1)?);
    let mut follower = Follower::open(disk, path, Arc::clone(&run))?;
    let (entry, params) = (find("wcc")?, Params::default());
    let parts = [1, 2, 5].map(|part| settings.window * settings.step / part);
    let mut follows: Vec<Follow> = Vec::new();
    let (mut steps, mut longest) = (0, 0.0_f64);
    loop {
        let is_last = done.load(Ordering::Acquire);
        let begin = Instant::now();
        if follower.refresh()? || follows.is_empty() {
            let newest = follower.at(follower.newest())?;
            let end = newest.latest_time("time", &run)?.unwrap_or(0) as usize + 1;
            for (i, &length) in parts.iter().enumerate() {
                let next = window(end, length);
                match follows.get_mut(i) {
                    Some(follow) => {
                        let windowed = newest.view().window_after(follow.view(), "time", next, true, &run)?;
                        follow.advance(windowed)?;
                    }
                    None => {
                        let windowed = newest.view().window("time", next, true, &run)?;
                        follows.push(Follow::start(windowed, entry, &params, Arc::clone(&run))?);
                    }
                }
            }
            steps += 1;
            longest = longest.max(begin.elapsed().as_secs_f64());
        }
        if is_last {
            return Ok((steps, longest));
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn main() -> Result<()> {
    let settings = Settings::parse()?;
    let place = esker::store::io::TemporaryDirectory::new()?;
    let edges = edges(&settings)?;
    if let Some(path) = &settings.edges {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        edges.iter().try_for_each(|(u, v)| writeln!(file, "{u} {v}"))?;
        file.into_inner()?;
    }
    steps(&edges, &settings, place.path())?;
    println!("\n| in-edges | reader | M edges/s | steps of the reader | longest, ms |");
    println!("|---|---|---:|---:|---:|");
    for (in_edges, follows) in [(true, false), (true, true), (false, false), (false, true)] {
        ingest(&edges, &settings, place.path(), in_edges, follows)?;
    }
    Ok(())
}
