//! Structures that grow with the number of versions: ids in many segments, vertex properties in many layers, copy-on-write arrays.
//!
//! `cargo bench -p esker-store --bench store -- growth [--vertices 1000000] [--layers 200]`
//!
//! New vertices and changes of the property are spread evenly over the layers. Without arguments: once, small.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use esker_graph::{Run, VertexId, vertex};
use esker_store::format::{DatabaseId, ElementType, IdSecret, LogicalType, Owner, PropertyRecord};
use esker_store::ids::{ExternalId, IdFiles, IdHasher, IdMap, IdSegment, IdTail, hash_int, merge_segments};
use esker_store::io::{Disk, RealDisk};
use esker_store::lama::Lama;
use esker_store::property::{
    PropertyColumn, PropertyFiles, PropertyLayer, PropertyWriter, VertexProperty, merge_columns,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const DATABASE: DatabaseId = DatabaseId([1; 16]);

struct Settings {
    vertices: usize,
    layers: usize,
}

fn settings() -> Outcome<Settings> {
    let mut settings = Settings { vertices: 1 << 14, layers: 20 };
    let mut arguments = crate::arguments();
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or("an option without a value")?.parse()?;
        match name.as_str() {
            "--vertices" => settings.vertices = value,
            "--layers" => settings.layers = value,
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok(settings)
}

/// Times `step`, which performs `count` operations.
fn time<R>(what: &str, count: usize, step: impl FnOnce() -> Outcome<R>) -> Outcome<R> {
    let start = Instant::now();
    let result = step()?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{what:44} {:9.1} ns each, {seconds:8.3} s", seconds * 1e9 / count as f64);
    Ok(result)
}

fn directory(root: &Path, name: &str) -> Outcome<PathBuf> {
    let directory = root.join(name);
    RealDisk.create_directory(&directory)?;
    Ok(directory)
}

fn look_up(what: &str, map: &IdMap, count: usize, id: impl Fn(u64) -> u64, known: bool) -> Outcome<()> {
    time(what, count, || {
        for i in 0..count as u64 {
            let found = map.vertex_of(ExternalId::Int(id(i)))?;
            assert_eq!(found.is_some(), known);
        }
        Ok(())
    })
}

fn hasher() -> IdHasher {
    IdHasher::new(Some(IdSecret([7; 16])))
}

/// Adds as many ids as imported vertices, in segments.
fn ids(settings: &Settings, root: &Path) -> Outcome<()> {
    let (count, layers) = (settings.vertices, settings.layers);
    let id = |i: u64| hash_int(i % count as u64) | 1 << 63;
    let mut tail = IdTail::new(count, false, hasher());
    time("ids: add to the tail", count, || {
        (0..count as u64).try_for_each(|i| tail.add(ExternalId::Int(id(i))).map(drop))?;
        Ok(())
    })?;
    let mut segments = Vec::new();
    time("ids: add to tails and write segments", count, || {
        for layer in 0..layers {
            let range = count * layer / layers..count * (layer + 1) / layers;
            let (first, size) = (count + range.start, range.len());
            let mut tail = IdTail::new(first, false, hasher());
            range.into_iter().try_for_each(|i| tail.add(ExternalId::Int(id(i as u64))).map(drop))?;
            let directory = directory(root, &format!("ids{layer}"))?;
            let files =
                IdFiles { disk: &RealDisk, directory: &directory, database: DATABASE, hasher: hasher() };
            tail.write_segment(&files, size)?;
            segments.push(Arc::new(IdSegment::open(&files, false, first, size)?));
        }
        Ok(())
    })?;
    let united = directory(root, "ids")?;
    let files = IdFiles { disk: &RealDisk, directory: &united, database: DATABASE, hasher: hasher() };
    time("ids: merge them", count, || Ok(merge_segments(&files, &segments, count)?))?;
    let united = Arc::new(IdSegment::open(&files, false, count, count)?);
    let base = IdMap::identity(0, count, hasher());
    let lookups = count.min(1 << 20);
    let random = |i| hash_int(hash_int(i)) | 1 << 63;
    for (what, segments) in [("segments", segments), ("one segment", vec![united])] {
        let map = base.with_segments(segments, 2 * count)?;
        look_up(&format!("ids: look up in {what}, first"), &map, lookups, |i| id(hash_int(i)), true)?;
        look_up(&format!("ids: look up in {what}, again"), &map, lookups, |i| id(hash_int(i)), true)?;
        look_up(&format!("ids: look up unknown ids in {what}"), &map, lookups, random, false)?;
        time("ids: of all vertices", 2 * count, || {
            for (v, found) in map.externals(0..2 * count).enumerate().skip(count) {
                assert!(found? == ExternalId::Int(id((v - count) as u64)));
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// A property of every vertex, changed once for every vertex; the changes are spread over the layers.
fn properties(settings: &Settings, root: &Path, run: &Run) -> Outcome<()> {
    let (count, layers) = (settings.vertices, settings.layers);
    let (name, element) = ("score".to_owned(), ElementType::F64);
    let record = PropertyRecord {
        number: 0,
        owner: Owner::Vertices,
        name,
        element,
        logical: LogicalType::Number,
        weight: false,
    };
    let mut columns = Vec::new();
    time("property: write layers", 2 * count, || {
        for layer in 0..=layers {
            let directory = directory(root, &format!("property{layer}"))?;
            let files =
                PropertyFiles { disk: &RealDisk, directory: &directory, database: DATABASE, record: &record };
            let mut writer = PropertyWriter::create(&files)?;
            for v in 0..count {
                if layer == 0 || hash_int(v as u64) as usize % layers == layer - 1 {
                    writer.push(vertex(v), 1, Some(((v + layer) as f64).into()))?;
                }
            }
            writer.finish()?;
            columns.push(Arc::new(PropertyColumn::open(&files)?));
        }
        Ok(())
    })?;
    let directory = directory(root, "property")?;
    let files = PropertyFiles { disk: &RealDisk, directory: &directory, database: DATABASE, record: &record };
    time("property: merge them", 2 * count, || {
        Ok(merge_columns(&files, &columns, |layer, _| Some(layer as u32 + 1), true, run)?)
    })?;
    let merged = vec![Arc::new(PropertyColumn::open(&files)?)];
    for (what, columns) in [("layers", columns), ("one layer", merged)] {
        let layers = columns.into_iter().map(|column| PropertyLayer { column, rank: u32::MAX });
        let property = VertexProperty::new(record.clone(), count, layers);
        time(&format!("property: whole column of {what}"), count, || Ok(property.array::<f64>(run)?))?;
        let lookups = count.min(1 << 18);
        time(&format!("property: point reads of {what}"), lookups, || {
            for i in 0..lookups as u64 {
                assert!(property.get(vertex(hash_int(i) as usize % count))?.is_some());
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Runs `step`, and lowers `best` to its time in seconds if that is less.
fn seconds<R>(best: &mut f64, step: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = step();
    *best = best.min(start.elapsed().as_secs_f64());
    result
}

fn arrays(settings: &Settings, run: &Run) -> Outcome<()> {
    let count = 4 * settings.vertices;
    let flat: Vec<u64> = (0..count).map(|v| hash_int(v as u64)).collect();
    let lama: Lama<u64> = time("array: build", count, || {
        let fill = |first: usize, page: &mut [u64]| {
            let len = page.len();
            page.copy_from_slice(&flat[first..first + len]);
            Ok::<(), esker_graph::Stop>(())
        };
        Ok(Lama::build(run, count, fill)?)
    })?;
    let indexes: Vec<VertexId> = (0..count).map(|i| vertex(hash_int(i as u64) as usize % count)).collect();
    let mut best = [f64::MAX; 4];
    for _ in 0..9 {
        let sums = [
            seconds(&mut best[0], || (0..count).fold(0, |sum, v| flat[v].wrapping_add(sum))),
            seconds(&mut best[1], || (0..count).fold(0, |sum, v| lama.get(v).wrapping_add(sum))),
            seconds(&mut best[2], || indexes.iter().fold(0, |sum, &v| flat[v as usize].wrapping_add(sum))),
            seconds(&mut best[3], || {
                indexes.iter().fold(0, |sum, &v| lama.get(v as usize).wrapping_add(sum))
            }),
        ];
        assert!(sums[0] == sums[1] && sums[2] == sums[3]);
    }
    for (what, flat, pages) in [("in order", best[0], best[1]), ("at random", best[2], best[3])] {
        let each = 1e9 / count as f64;
        println!(
            "array: {what:10} flat {:.2} ns, pages {:.2} ns, ratio {:.2}",
            flat * each,
            pages * each,
            pages / flat
        );
    }
    let mut copy = time("array: clone, a page", lama.num_pages(), || Ok(lama.clone()))?;
    time("array: write to shared pages", lama.num_pages(), || {
        (0..lama.num_pages()).for_each(|page| copy.set(page * Lama::<u64>::PAGE_LEN, 0));
        Ok(())
    })
}

pub(crate) fn main() -> Outcome<()> {
    let settings = settings()?;
    let root = tempfile::tempdir_in(std::env::var("ESKER_BENCH_DIR").unwrap_or_else(|_| "/tmp".to_owned()))?;
    let run = Run::with_threads(2)?;
    println!("{} vertices, {} layers", settings.vertices, settings.layers);
    ids(&settings, root.path())?;
    properties(&settings, root.path(), &run)?;
    arrays(&settings, &run)
}
