//! Numbering the ids of an import, writing their map, and looking ids up.
//!
//! `cargo bench -p esker-store --bench ids -- [--scale 20] [--kind int|text] [--memory-mib 256] [--threads 2]`
//!
//! Edges are those of an R-MAT graph, 16 for each of 2^scale vertices, made anew in every worker; the time that this
//! takes is measured by itself and told. Without arguments: once, small.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use esker_graph::{Run, VertexId};
use esker_store::format::DatabaseId;
use esker_store::ids::{ExternalId, IdFiles, IdMap, hash_int};
use esker_store::import::number::PartitionNumberer;
use esker_store::import::numbering::{Keys, Numberer};
use esker_store::import::scratch::Work;
use esker_store::import::source::{IdColumn, TextColumn};
use esker_store::import::spool::Spool;
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
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
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

/// Both ends of an edge of R-MAT with the probabilities of Graph500.
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

/// The external id of a number: texts have 14 bytes.
fn add_text(column: &mut TextColumn, number: u64) {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut text = *b"id:???????????";
    let hash = hash_int(number);
    for (i, byte) in text[3..].iter_mut().enumerate() {
        *byte = DIGITS[(hash >> (5 * i) & 31) as usize];
    }
    column.push(&text);
}

fn column(numbers: impl Iterator<Item = u64>, text: bool) -> IdColumn {
    if !text {
        return IdColumn::Int(numbers.map(hash_int).collect());
    }
    let mut column = TextColumn::default();
    numbers.for_each(|number| add_text(&mut column, number));
    IdColumn::Text(column)
}

fn batch(settings: &Settings, index: u64) -> Keys {
    let edges: Vec<[u64; 2]> =
        (index * BATCH_EDGES..(index + 1) * BATCH_EDGES).map(|i| edge(settings.scale, i)).collect();
    let source = column(edges.iter().map(|ends| ends[0]), settings.text);
    Keys { source, target: column(edges.iter().map(|ends| ends[1]), settings.text), vertices: None }
}

/// Makes all batches on all threads and, with a numberer, pushes them in order.
fn feed(settings: &Settings, numberer: &mut Option<PartitionNumberer>) -> Outcome<Duration> {
    let start = Instant::now();
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
                        let prepared = PartitionNumberer::prepare(keys);
                        let turn = turn.lock().map_err(|e| e.to_string())?;
                        let mut turn =
                            turned.wait_while(turn, |turn| turn.0 != index).map_err(|e| e.to_string())?;
                        turn.0 += 1;
                        if let Some(numberer) = turn.1.as_mut() {
                            numberer.push(prepared).map_err(|e| e.to_string())?;
                        }
                        turned.notify_all();
                    }
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker failed".to_owned())?)
    })?;
    Ok(start.elapsed())
}

fn peak_mib() -> u64 {
    let status = RealDisk.read(Path::new("/proc/self/status")).unwrap_or_default();
    let status = String::from_utf8_lossy(&status).into_owned();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) >> 10
}

fn look_up(settings: &Settings, map: &IdMap, count: u64) -> Outcome<Duration> {
    let start = Instant::now();
    let mut column = TextColumn::default();
    let mut found = 0u64;
    for i in 0..count {
        let number = hash_int(i) >> (64 - settings.scale);
        let vertex = if settings.text {
            column.bytes.clear();
            column.ends.clear();
            add_text(&mut column, number);
            map.vertex_of(ExternalId::Text(&column.bytes))?
        } else {
            map.vertex_of(ExternalId::Int(hash_int(number)))?
        };
        found += u64::from(vertex.is_some());
    }
    assert!(found * 4 > count, "half of all numbers occur");
    Ok(start.elapsed())
}

fn main() -> Outcome<()> {
    let settings = settings()?;
    let directory =
        tempfile::tempdir_in(std::env::var("ESKER_BENCH_DIR").unwrap_or_else(|_| "/tmp".to_owned()))?;
    let work =
        Work::new(Arc::new(Run::with_threads(settings.threads)?), settings.memory_bytes, directory.path());
    let edges = (16u64 << settings.scale) as f64;
    let tell = |what: &str, time: Duration, count: f64, unit: &str| {
        let seconds = time.as_secs_f64();
        println!(
            "{what:24} {seconds:8.3} s {:8.2} M {unit}/s   peak {} MiB",
            count / seconds / 1e6,
            peak_mib()
        );
    };
    tell("make edges and cut", feed(&settings, &mut None)?, edges, "edges");

    let mut numberer = Some(PartitionNumberer::new(&work));
    let fed = feed(&settings, &mut numberer)?;
    tell("... and push", fed, edges, "edges");
    let start = Instant::now();
    let numbered = numberer.take().ok_or("no numberer")?.finish()?;
    tell("finish", start.elapsed(), edges, "edges");
    tell("all of the numbering", fed + start.elapsed(), edges, "edges");
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
    let files = IdFiles { disk: &RealDisk, directory: &ids, database: DatabaseId::random() };
    let kind = numbered.map.kind();
    let start = Instant::now();
    numbered.map.write(&files, Some(&renumbered))?;
    tell("write the map", start.elapsed(), count as f64, "ids");
    let bytes: u64 = RealDisk.list(&ids)?.iter().map(|entry| entry.bytes).sum();
    println!("{count} vertices, {:.2} bytes of map each", bytes as f64 / count as f64);

    let map = IdMap::open(&files, kind, 0, count)?;
    let lookups = 1u64 << settings.scale.min(21);
    tell("look-ups, first", look_up(&settings, &map, lookups)?, lookups as f64, "ids");
    tell("look-ups, again", look_up(&settings, &map, lookups)?, lookups as f64, "ids");
    let start = Instant::now();
    let mut bytes = 0;
    for id in map.externals(0..count) {
        bytes += match id? {
            ExternalId::Int(id) => id & 1,
            ExternalId::Text(text) => text.len() as u64,
        };
    }
    assert!(bytes > 0);
    tell("ids of all vertices", start.elapsed(), count as f64, "ids");
    Ok(())
}
