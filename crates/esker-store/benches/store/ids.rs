//! Speed of numbering the ids of an import, writing their map, and looking them up.
//!
//! `cargo bench -p esker-store --bench store -- ids [--scale 20] [--kind int|text] [--memory-mib 256] [--threads 2]`
//!
//! The edges are those of an R-MAT graph, 16 for each of 2^scale vertices. Each worker generates them; the time of generation is measured
//! and printed separately. Without arguments: once, small.

use std::error::Error;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use arrow_array::ArrayRef;
use esker_graph::{Run, VertexId};
use esker_import::number::Numberer;
use esker_import::numbering::Keys;
use esker_import::scratch::Work;
use esker_import::source::{id_column, text_column};
use esker_import::spool::Spool;
use esker_store::format::{DatabaseId, IdSecret};
use esker_store::ids::{ExternalId, IdFiles, IdHasher, IdMap, hash_int};
use esker_store::io::{Disk, RealDisk};

type Outcome<T> = Result<T, Box<dyn Error>>;

const BATCH_EDGES: u64 = 1 << 16;

struct Settings {
    scale: u32,
    text: bool,
    memory_bytes: u64,
    threads: usize,
}

fn settings() -> Outcome<Settings> {
    let mut settings = Settings { scale: 12, text: true, memory_bytes: 8 << 30, threads: 2 };
    let mut arguments = crate::arguments();
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or("an option without a value")?;
        match name.as_str() {
            "--scale" => settings.scale = value.parse()?,
            "--kind" => settings.text = value == "text",
            "--memory-mib" => settings.memory_bytes = value.parse::<u64>()? << 20,
            "--threads" => settings.threads = value.parse()?,
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok(settings)
}

/// The two ends of an R-MAT edge, with the probabilities of Graph500.
fn edge(scale: u32, index: u64) -> [u64; 2] {
    let mut ends = [0, 0];
    for level in 0..scale {
        let random = hash_int(index << 6 | u64::from(level / 4)) >> (16 * (level % 4)) & 0xffff;
        let quadrant =
            u64::from(random >= 37_355) + u64::from(random >= 49_807) + u64::from(random >= 62_259);
        ends = [ends[0] << 1 | quadrant >> 1, ends[1] << 1 | quadrant & 1];
    }
    ends
}

/// Appends the external id of a number: a text of 14 bytes.
fn text_of(number: u64) -> [u8; 14] {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut text = *b"id:???????????";
    let hash = hash_int(number);
    for (i, byte) in text[3..].iter_mut().enumerate() {
        *byte = DIGITS[(hash >> (5 * i) & 31) as usize];
    }
    text
}

fn column(numbers: impl Iterator<Item = u64>, text: bool) -> ArrayRef {
    if text { text_column(numbers.map(text_of)) } else { id_column(numbers.map(hash_int).collect()) }
}

fn batch(settings: &Settings, index: u64) -> Keys {
    let edges: Vec<[u64; 2]> =
        (index * BATCH_EDGES..(index + 1) * BATCH_EDGES).map(|i| edge(settings.scale, i)).collect();
    let source = column(edges.iter().map(|ends| ends[0]), settings.text);
    Keys { source, target: column(edges.iter().map(|ends| ends[1]), settings.text), vertices: None }
}

fn hasher() -> IdHasher {
    IdHasher::new(Some(IdSecret([7; 16])))
}

/// Makes all batches on all threads; pushes them in order if there is a numberer.
fn feed(settings: &Settings, numberer: &mut Option<Numberer>) -> Outcome<()> {
    let batches = (16u64 << settings.scale).div_ceil(BATCH_EDGES);
    let next = std::sync::atomic::AtomicU64::new(0);
    let turn = Mutex::new((0u64, numberer));
    let turned = Condvar::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..settings.threads)
            .map(|_| {
                scope.spawn(|| -> Result<(), String> {
                    loop {
                        let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        if index >= batches {
                            return Ok(());
                        }
                        let keys = batch(settings, index);
                        let prepared = Numberer::prepare(&keys, &hasher()).map_err(|e| e.to_string())?;
                        let turn = turn.lock().map_err(|e| e.to_string())?;
                        let mut turn =
                            turned.wait_while(turn, |turn| turn.0 != index).map_err(|e| e.to_string())?;
                        turn.0 += 1;
                        if let Some(numberer) = turn.1.as_mut() {
                            numberer.push(&prepared).map_err(|e| e.to_string())?;
                        }
                        turned.notify_all();
                    }
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker failed".to_owned())?)
    })?;
    Ok(())
}

/// The peak of memory so far, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) >> 10
}

/// Processor time of all threads so far, in seconds; on a busy machine it is more reliable than elapsed time.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Times one step after another and prints the seconds.
struct Clock {
    wall: Instant,
    cpu: f64,
}

impl Clock {
    fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_seconds() }
    }

    fn report(&mut self, what: &str, count: f64, unit: &str) {
        let wall = self.wall.elapsed().as_secs_f64();
        let cpu = cpu_seconds() - self.cpu;
        let rate = count / wall / 1e6;
        println!("{what:22} {wall:8.3} s, cpu {cpu:7.2} s, {rate:7.2} M {unit}/s, peak {} MiB", peak_mib());
        *self = Self::start();
    }
}

fn look_up(settings: &Settings, map: &IdMap, count: u64) -> Outcome<()> {
    let mut found = 0u64;
    for i in 0..count {
        let number = hash_int(i) >> (64 - settings.scale);
        let vertex = if settings.text {
            map.vertex_of(ExternalId::Text(&text_of(number)))?
        } else {
            map.vertex_of(ExternalId::Int(hash_int(number)))?
        };
        found += u64::from(vertex.is_some());
    }
    assert!(found * 4 > count, "fewer ids were found than expected");
    Ok(())
}

pub(crate) fn main() -> Outcome<()> {
    let settings = settings()?;
    let directory =
        tempfile::tempdir_in(std::env::var("ESKER_BENCH_DIR").unwrap_or_else(|_| "/tmp".to_owned()))?;
    let work =
        Work::new(Arc::new(Run::with_threads(settings.threads)?), settings.memory_bytes, directory.path());
    let edges = (16u64 << settings.scale) as f64;
    let mut clock = Clock::start();
    feed(&settings, &mut None)?;
    clock.report("generate and partition", edges, "edges");
    let mut numberer = Some(Numberer::new(&work, hasher()));
    feed(&settings, &mut numberer)?;
    clock.report("generate and push", edges, "edges");
    let numbered = numberer.take().ok_or("no numberer")?.finish()?;
    clock.report("finish", edges, "edges");
    let count = numbered.num_vertices as usize;

    let mut vertices: Vec<VertexId> = (0..count).map(esker_graph::vertex).collect();
    vertices.sort_by_key(|&v| hash_int(v as usize as u64));
    let mut renumbered = Spool::new(&work, 0);
    renumbered.extend(&vertices)?;
    renumbered.finish()?;
    drop(vertices);
    drop(numbered.edges);
    let ids = directory.path().join("ids");
    RealDisk.create_directory(&ids)?;
    let database = DatabaseId::random();
    let files = IdFiles { disk: &RealDisk, directory: &ids, database, hasher: hasher() };
    let kind = numbered.map.kind();
    let mut clock = Clock::start();
    numbered.map.write(&files, Some(&renumbered))?;
    clock.report("write the map", count as f64, "ids");
    let bytes: u64 = RealDisk.list(&ids)?.iter().map(|entry| entry.bytes).sum();
    println!("{count} vertices, {:.2} bytes of map each", bytes as f64 / count as f64);

    let map = IdMap::open(&files, kind, 0, count)?;
    let lookups = 1u64 << settings.scale.min(21);
    let mut clock = Clock::start();
    for what in ["look-ups, first", "look-ups, again"] {
        look_up(&settings, &map, lookups)?;
        clock.report(what, lookups as f64, "ids");
    }
    let mut bytes = 0;
    for id in map.externals(0..count) {
        bytes += match id? {
            ExternalId::Int(id) => id & 1,
            ExternalId::Text(text) => text.len() as u64,
        };
    }
    assert!(bytes > 0);
    clock.report("ids of all vertices", count as f64, "ids");
    Ok(())
}
