//! What a step of a live answer costs, by an update and by a recomputation, for batches of several sizes.
//!
//! `cargo bench -p esker --bench follow -- [--scale 18] [--degree 16] [--batches 1,1000,100000] [--versions
//! 200,20,4] [--algorithms wcc,bfs,pagerank] [--behind 5000] [--directory DIR] [--threads 2]`
//!
//! Nine tenths of the edges of a Kronecker graph are imported; the rest comes in batches, with as many
//! removals of edges drawn at random. Three followers take each version: one always computes anew, then, by
//! turns, one that always updates and one that chooses: what the first left in the caches serves both. Times
//! are medians in milliseconds, of the differences between the versions (`diff`) and of the step after them;
//! also the 99th percentile of `diff` and update together, and a computation of the last version without a
//! state (`first`). The last column is the time of all steps of the follower that chooses, differences
//! included, divided by that of the better one of the others.
//!
//! At last `behind` versions of one edge each are committed, and the follower that updates takes them in, one
//! by one, after one refresh: the versions a second, refresh included. Without arguments: once, small.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // A benchmark prints what it measures.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use esker::catalogue::{Params, find};
use esker::follow::{Follow, FollowStep, Method, MethodChoice, updated_names};
use esker::graph::generate::{Generator, Model, RMat, Weighting};
use esker::graph::random::Random;
use esker::graph::{Run, VertexId};
use esker::import::install::import;
use esker::import::open::open_reader;
use esker::import::options::ImportOptions;
use esker::import::read::format::ReadOptions;
use esker::store::io::{Disk, RealDisk};
use esker::store::log::Sync;
use esker::store::manifest::StagingOptions;
use esker::store::{Database, DatabaseOptions, Follower};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

struct Settings {
    scale: u32,
    degree: u64,
    batches: Vec<usize>,
    versions: Vec<usize>,
    algorithms: Vec<String>,
    behind: usize,
    directory: Option<String>,
    threads: usize,
}

impl Settings {
    fn parse() -> Result<Self> {
        let mut settings = Self {
            scale: 9,
            degree: 8,
            batches: vec![1, 20],
            versions: vec![4, 2],
            algorithms: updated_names().map(str::to_owned).collect(),
            behind: 10,
            directory: None,
            threads: 2,
        };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} takes a value"))?;
            let numbers = || value.split(',').map(str::parse).collect::<std::result::Result<Vec<usize>, _>>();
            match name.as_str() {
                "--scale" => settings.scale = value.parse()?,
                "--degree" => settings.degree = value.parse()?,
                "--batches" => settings.batches = numbers()?,
                "--versions" => settings.versions = numbers()?,
                "--algorithms" => settings.algorithms = value.split(',').map(str::to_owned).collect(),
                "--behind" => settings.behind = value.parse()?,
                "--directory" => settings.directory = Some(value),
                "--threads" => settings.threads = value.parse()?,
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        Ok(settings)
    }
}

/// The edges that are there, and those that are still to come.
struct Stream {
    there: Vec<(VertexId, VertexId)>,
    to_come: Vec<(VertexId, VertexId)>,
    noise: Random,
}

impl Stream {
    fn new(scale: u32, degree: u64) -> Result<Self> {
        let generator = Generator::new(&Model::RMat(RMat::kronecker(scale, degree)), Weighting::None, 1)?;
        let mut edges: Vec<_> = generator
            .edges()
            .iter()
            .map(|&(u, v, ())| (u.min(v), u.max(v)))
            .filter(|(u, v)| u != v)
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let mut noise = Random::new(7);
        for last in (1..edges.len()).rev() {
            edges.swap(last, noise.index(last + 1));
        }
        let to_come = edges.split_off(edges.len() / 10 * 9);
        Ok(Self { there: edges, to_come, noise })
    }

    /// Commits a batch: as many removals as additions; of one edge, by turns.
    fn commit(&mut self, database: &Database, size: usize, turn: usize) -> Result<()> {
        let mut batch = database.batch();
        let removals = if size == 1 { turn % 2 } else { size / 2 };
        let mut gone = BTreeSet::new();
        for _ in 0..removals {
            let index = self.noise.index(self.there.len());
            let (u, v) = self.there.swap_remove(index);
            gone.insert((u, v));
            batch.remove_edge(u64::from(u), u64::from(v))?;
        }
        for _ in removals..size {
            let Some((u, v)) = self.to_come.pop() else { break };
            batch.add_edge(u64::from(u), u64::from(v), &[])?;
            self.there.push((u, v));
        }
        database.commit(batch, "a batch")?;
        Ok(())
    }
}

/// The times of the steps of one size, in milliseconds.
#[derive(Default)]
struct Times {
    diff: Vec<f64>,
    update: Vec<f64>,
    step: Vec<f64>,
    recompute: Vec<f64>,
    chosen: Vec<f64>,
    updates_chosen: usize,
    /// The sums of the whole steps, differences included: by updates alone, by recomputations alone, and as
    /// chosen.
    sums: [f64; 3],
}

fn share(times: &[f64], part: f64) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(((times.len() as f64 - 1.0) * part).round() as usize).copied().unwrap_or(0.0)
}

impl Times {
    fn take(&mut self, steps: [&FollowStep; 3]) {
        let [update, recompute, chosen] = steps;
        for (sum, step) in self.sums.iter_mut().zip(steps) {
            *sum += step.diff_seconds + step.seconds;
        }
        self.diff.push(update.diff_seconds * 1e3);
        self.update.push(update.seconds * 1e3);
        self.step.push((update.diff_seconds + update.seconds) * 1e3);
        self.recompute.push(recompute.seconds * 1e3);
        self.chosen.push(chosen.seconds * 1e3);
        self.updates_chosen += usize::from(chosen.method != Method::Recompute);
    }
}

fn params(algorithm: &str, source: VertexId) -> Params {
    match algorithm {
        "bfs" | "sssp" | "widest" => Params::default().with("source", source.to_string()),
        "colouring" => Params::default().with("passes", "1"),
        "matching" => Params::default().with("method", "priorities"),
        _ => Params::default(),
    }
}

/// Follows one algorithm over a history of its own.
fn measure(algorithm: &str, settings: &Settings, place: &Path) -> Result<()> {
    let run = Arc::new(Run::with_threads(settings.threads)?);
    let mut stream = Stream::new(settings.scale, settings.degree)?;
    let (input, path) = (place.join("edges.el"), place.join("follow.esker"));
    let mut file = std::io::BufWriter::new(std::fs::File::create(&input)?);
    for (u, v) in &stream.there {
        writeln!(file, "{u} {v}")?;
    }
    file.into_inner()?;
    let reader = open_reader(&[input.to_string_lossy()], &ReadOptions::default())?;
    let options =
        ImportOptions { directed: Some(false), threads: settings.threads, ..ImportOptions::default() };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    import(&disk, reader, &path, &options, StagingOptions::default())?;
    let options =
        DatabaseOptions { threads: settings.threads, sync: Sync::Never, ..DatabaseOptions::default() };
    let database = Database::open(&path, options)?;
    let mut follower = Follower::open(disk, &path, Arc::clone(&run))?;
    let (entry, params) = (find(algorithm)?, params(algorithm, stream.there[0].0));
    let start = |choice, follower: &Follower| -> Result<Follow> {
        let version = follower.at(follower.newest())?;
        Ok(Follow::start(version.view(), entry, &params, Arc::clone(&run))?.with_choice(choice))
    };
    let choices = [MethodChoice::Recompute, MethodChoice::Update, MethodChoice::Cheaper];
    let mut follows =
        [start(choices[0], &follower)?, start(choices[1], &follower)?, start(choices[2], &follower)?];
    for (&size, &versions) in settings.batches.iter().zip(&settings.versions) {
        let (mut times, mut refresh) = (Times::default(), Vec::new());
        for turn in 0..versions {
            stream.commit(&database, size, turn)?;
            let begin = Instant::now();
            follower.refresh()?;
            refresh.push(begin.elapsed().as_secs_f64() * 1e3);
            let mut step = |i: usize| follows[i].advance(follower.at(follower.newest())?.view());
            let anew = step(0)?;
            let first = step(1 + turn % 2)?;
            let second = step(2 - turn % 2)?;
            let (update, chosen) = if turn % 2 == 0 { (first, second) } else { (second, first) };
            times.take([&update, &anew, &chosen]);
        }
        let begin = Instant::now();
        start(MethodChoice::Recompute, &follower)?;
        let first = begin.elapsed().as_secs_f64() * 1e3;
        let median = |times: &[f64]| share(times, 0.5);
        println!(
            "| {algorithm} | {size} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {first:.3} | {} of {versions} | {:.2} |",
            median(&refresh),
            median(&times.diff),
            median(&times.update),
            share(&times.step, 0.99),
            median(&times.recompute),
            median(&times.chosen),
            times.updates_chosen,
            times.sums[2] / times.sums[0].min(times.sums[1]),
        );
    }
    let [_, mut follow, _] = follows;
    let rate = rate_behind(settings.behind, &mut stream, &database, (&mut follower, &mut follow))?;
    println!("| {algorithm} | {} behind, one by one | {rate:.0} a second |", settings.behind);
    drop(follow);
    database.close()?;
    std::fs::remove_dir_all(&path)?;
    Ok(())
}

/// Versions a second of a follower that takes in some versions of one edge each, one by one.
fn rate_behind(
    versions: usize,
    stream: &mut Stream,
    database: &Database,
    (follower, follow): (&mut Follower, &mut Follow),
) -> Result<f64> {
    for turn in 0..versions {
        stream.commit(database, 1, turn)?;
    }
    let begin = Instant::now();
    follower.refresh()?;
    let refreshed = begin.elapsed().as_secs_f64();
    let numbers = follow.ahead(follower.versions().map(|version| version.number));
    let (mut diff, mut update) = (0.0, 0.0);
    for number in numbers {
        let step = follow.advance(follower.at(number)?.view())?;
        diff += step.diff_seconds;
        update += step.seconds;
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "| seconds: refresh {refreshed:.4}, differences {diff:.4}, updates {update:.4}, all {seconds:.4} |"
    );
    Ok(versions as f64 / seconds)
}

fn main() -> Result<()> {
    let settings = Settings::parse()?;
    let temporary = esker::store::io::TemporaryDirectory::new()?;
    let place = settings.directory.as_deref().map_or(temporary.path(), Path::new);
    println!(
        "| algorithm | edges | refresh | diff | update | p99 of both | anew | chosen | first | updates chosen | to the better |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    settings.algorithms.iter().try_for_each(|algorithm| measure(algorithm, &settings, place))
}
