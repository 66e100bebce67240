//! What a slide of a window costs a live answer, by an update and by a recomputation.
//!
//! `cargo bench -p esker --bench slides -- [--scale 18] [--degree 16] [--parts 4096,256,32] [--slides 60]
//! [--algorithms wcc,kcore] [--threads 2]`
//!
//! The edges of a Kronecker graph, in a random order, are a stream. The first half is imported; the window
//! has the last quarter of all edges. Each commit adds one of so many parts of a window, and the window moves
//! with it. Three followers take each slide: one always computes anew, then, by turns, one that always
//! updates and one that chooses. Milliseconds are means of all slides, differences included: of taking in the
//! commit, of counting the edges of its window, of making that window from the one before instead, and of the
//! followers. Without arguments: once, small.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // A benchmark prints what it measures.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use esker::catalogue::{Params, find};
use esker::follow::{Follow, Method, MethodChoice};
use esker::graph::Run;
use esker::graph::generate::{Generator, Model, RMat, Weighting};
use esker::graph::random::Random;
use esker::import::install::import;
use esker::import::open::open_reader;
use esker::import::options::ImportOptions;
use esker::import::read::format::ReadOptions;
use esker::store::format::Duplicates;
use esker::store::io::{Disk, RealDisk};
use esker::store::log::Sync;
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::windows::{Copies, TimeWindow};
use esker::store::{Database, DatabaseOptions, Follower, View};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

struct Settings {
    scale: u32,
    degree: u64,
    parts: Vec<usize>,
    slides: usize,
    algorithms: Vec<String>,
    threads: usize,
}

impl Settings {
    fn parse() -> Result<Self> {
        let algorithms = ["wcc", "bfs", "kcore", "triangles", "degrees"].map(str::to_owned).to_vec();
        let mut settings =
            Self { scale: 8, degree: 8, parts: vec![64, 8], slides: 3, algorithms, threads: 2 };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} takes a value"))?;
            match name.as_str() {
                "--scale" => settings.scale = value.parse()?,
                "--degree" => settings.degree = value.parse()?,
                "--parts" => {
                    settings.parts =
                        value.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?;
                }
                "--slides" => settings.slides = value.parse()?,
                "--algorithms" => settings.algorithms = value.split(',').map(str::to_owned).collect(),
                "--threads" => settings.threads = value.parse()?,
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        Ok(settings)
    }
}

/// The edges of a Kronecker graph in a random order.
fn edges(settings: &Settings) -> Result<Vec<(u64, u64)>> {
    let model = Model::RMat(RMat::kronecker(settings.scale, settings.degree));
    let generator = Generator::new(&model, Weighting::None, 1)?;
    let mut edges: Vec<_> =
        generator.edges().iter().map(|&(u, v, ())| (u64::from(u), u64::from(v))).collect();
    Random::new(7).shuffle(&mut edges);
    Ok(edges)
}

/// Follows one algorithm over slides of one size.
fn measure(algorithm: &str, part: usize, settings: &Settings, place: &Path) -> Result<()> {
    let run = Arc::new(Run::with_threads(settings.threads)?);
    let edges = edges(settings)?;
    let (input, path) = (place.join("edges.csv"), place.join("slides.esker"));
    let mut file = std::io::BufWriter::new(std::fs::File::create(&input)?);
    writeln!(file, "from,to,time")?;
    let mut end = edges.len() / 2;
    for (time, (u, v)) in edges[..end].iter().enumerate() {
        writeln!(file, "{u},{v},{time}")?;
    }
    file.into_inner()?;
    let reader = open_reader(&[input.to_string_lossy()], &ReadOptions::default())?;
    let options = ImportOptions {
        directed: Some(false),
        duplicates: Duplicates::Keep,
        threads: settings.threads,
        ..ImportOptions::default()
    };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    import(&disk, reader, &path, &options, StagingOptions::default())?;
    let options =
        DatabaseOptions { threads: settings.threads, sync: Sync::Never, ..DatabaseOptions::default() };
    let database = Database::open(&path, options)?;
    let mut follower = Follower::open(disk, &path, Arc::clone(&run))?;
    let length = edges.len() / 4;
    let range = |end: usize| {
        let until = end as i64 - 1;
        TimeWindow { after: until - length as i64, until, copies: Copies::All }
    };
    let window = |view: View, end: usize| view.window("time", range(end), true, &run);
    let mut params = Params::default();
    if algorithm == "bfs" {
        params = params.with("source", edges[0].0.to_string());
    }
    let entry = find(algorithm)?;
    let choices = [MethodChoice::Update, MethodChoice::Recompute, MethodChoice::Cheaper];
    let mut follows = Vec::new();
    for choice in choices {
        follows.push(
            Follow::start(
                window(follower.at(follower.newest())?.view(), end)?,
                entry,
                &params,
                Arc::clone(&run),
            )?
            .with_choice(choice),
        );
    }
    let (mut seconds, mut updates, mut turn) = ([0.0; 3], 0, 0);
    let [mut opening, mut counting, mut moving] = [0.0; 3];
    for _ in 0..settings.slides {
        let mut batch = database.batch();
        for _ in 0..(length / part).max(1) {
            let (u, v) = edges[end % edges.len()];
            batch.add_edge(u, v, &[PropertyValue::from(end as i64)])?;
            end += 1;
        }
        database.commit(batch, "a slide")?;
        let begin = Instant::now();
        follower.refresh()?;
        let newest = follower.at(follower.newest())?;
        opening += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        window(newest.view(), end)?;
        counting += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let shown = newest.view().window_after(follows[0].view(), "time", range(end), true, &run)?;
        moving += begin.elapsed().as_secs_f64();
        turn += 1;
        for i in [1, 2 * (turn % 2), 2 - 2 * (turn % 2)] {
            let begin = Instant::now();
            let step = follows[i].advance(shown.clone())?;
            seconds[i] += begin.elapsed().as_secs_f64();
            updates += usize::from(step.method != Method::Recompute);
        }
    }
    updates -= settings.slides.min(updates);
    let [update, anew, chosen] = seconds.map(|seconds| seconds * 1e3 / settings.slides as f64);
    let [opening, counting, moving] =
        [opening, counting, moving].map(|seconds| seconds * 1e3 / settings.slides as f64);
    println!(
        "| {algorithm} | 1/{part} | {opening:.2} | {counting:.2} | {moving:.2} | {update:.2} | {anew:.2} | {chosen:.2} | {:.2} | {updates} of {} |",
        chosen / update.min(anew),
        settings.slides,
    );
    drop((follows, follower));
    database.close()?;
    std::fs::remove_dir_all(&path)?;
    Ok(())
}

fn main() -> Result<()> {
    let settings = Settings::parse()?;
    let place = esker::store::io::TemporaryDirectory::new()?;
    println!(
        "| algorithm | slide | taken in | counted | moved | update | anew | chosen | to the better | updates chosen |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for algorithm in &settings.algorithms {
        settings.parts.iter().try_for_each(|&part| measure(algorithm, part, &settings, place.path()))?;
    }
    Ok(())
}
