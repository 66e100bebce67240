//! Millions of edges per second that a merge moves: a complete layer and later ones, or later ones alone;
//! retaining all versions or the last alone.
//!
//! `cargo bench -p esker-store --bench store -- merge` merges a random graph of 2^20 vertices and 16 edges
//! for each, with weights and in-edges, with 10 layers of 1 % each, where one change in 20 deletes; on a disk
//! in memory, on two threads. `--scale 22` takes more vertices; `--disk` uses the directory ESKER_BENCH_DIR
//! (default: /tmp) with all syncs. `cargo test` runs it on a small graph. An edge counts once, although both
//! of its arcs are moved. The bound, `copy`: writing the bytes of the merged layer once more, with checksums.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use esker_graph::random::Random;
use esker_graph::{Direction, Run, VertexId};
use esker_store::Result;
use esker_store::format::CopyPolicy;
use esker_store::format::{
    DatabaseId, ElementType, Encoding, GraphShape, LayerRecord, LogicalType, Origin, Owner, PropertyRecord,
    SectionRecord,
};
use esker_store::freeze::{Changes, EdgeChange, REMOVAL, freeze};
use esker_store::io::{Disk, MemoryDisk, RealDisk};
use esker_store::layer::{PlainLayer, PlainWriter, SectionColumn, SectionWriter};
use esker_store::layer::{SectionChunk, SectionShape};
use esker_store::merge::{MergeOptions, merge_layers};
use esker_store::stack::Stack;

const ORIGIN: Origin = Origin::of_import(DatabaseId([1; 16]));
const DEGREE: usize = 16;
const LAYERS: usize = 10;
const REPEATS: usize = 3;

struct BenchDirectory<'a> {
    disk: &'a dyn Disk,
    root: &'a Path,
    run: Run,
}

impl BenchDirectory<'_> {
    fn writer(&self, name: u32) -> Result<PlainWriter<'_>> {
        let directory = self.root.join(name.to_string());
        self.disk.create_directory(&directory)?;
        Ok(PlainWriter::new(self.disk, &directory, ORIGIN))
    }

    fn open(&self, record: &LayerRecord) -> Result<Arc<PlainLayer>> {
        let weight = PropertyRecord {
            number: 0,
            owner: Owner::Edges,
            name: "weight".to_owned(),
            element: ElementType::I32,
            logical: LogicalType::Number,
            weight: true,
            kind: false,
            optional: false,
        };
        let directory = self.root.join(record.number.to_string());
        PlainLayer::open(self.disk, &directory, ORIGIN, record, &[weight]).map(Arc::new)
    }

    /// Writes the complete layer: sorted lists of random targets.
    fn complete(&self, n: usize, edges: &[(VertexId, VertexId)]) -> Result<Arc<PlainLayer>> {
        let writer = self.writer(1)?;
        let section = |direction| -> Result<SectionRecord> {
            let mut arcs: Vec<(VertexId, VertexId)> = match direction {
                Direction::Out => edges.to_vec(),
                Direction::In => edges.iter().map(|edge| (edge.1, edge.0)).collect(),
            };
            arcs.sort_unstable();
            let shape = SectionShape {
                without_targets: false,
                complete: true,
                encoding: Encoding::Plain,
                codes: None,
                properties: vec![ElementType::I32],
            };
            let mut section = SectionWriter::create(&writer, direction, shape)?;
            let mut rest = arcs.as_slice();
            for first in (0..n).step_by(1 << 14) {
                let mut chunk = SectionChunk::default();
                chunk.main.properties = vec![Vec::new()];
                for v in first..n.min(first + (1 << 14)) {
                    let (list, later) = rest.split_at(rest.partition_point(|arc| arc.0 as usize <= v));
                    chunk.main.targets.extend(list.iter().map(|arc| arc.1));
                    chunk.main.properties[0].resize(chunk.main.targets.len(), 7);
                    chunk.main.end_list();
                    rest = later;
                }
                section.append(&chunk)?;
            }
            section.finish()
        };
        let shape = GraphShape {
            directed: true,
            multigraph: false,
            in_edges: true,
            num_vertices: n as u64,
            num_edges: edges.len() as u64,
            num_arcs: edges.len() as u64,
            num_loops: edges.iter().filter(|edge| edge.0 == edge.1).count() as u64,
        };
        let mut record = LayerRecord::first(&shape, ORIGIN.stamp);
        (record.out, record.incoming) = (section(Direction::Out)?, section(Direction::In)?);
        self.open(&record)
    }

    /// Adds a version.
    fn grow(
        &self,
        layers: &mut Vec<Arc<PlainLayer>>,
        edges: &[(VertexId, VertexId)],
        random: &mut Random,
    ) -> Result<()> {
        let newest = layers[layers.len() - 1].record().clone();
        let n = newest.num_vertices as usize;
        let count = edges.len() / 100;
        let changes: Vec<EdgeChange> = (0..count)
            .map(|_| {
                let deleted = random.index(20) == 0;
                let (source, target) = match deleted {
                    true => edges[random.index(edges.len())],
                    false => (random.index(n) as VertexId, random.index(n) as VertexId),
                };
                EdgeChange { source, target, code: 1, row: if deleted { REMOVAL } else { 0 } }
            })
            .collect();
        let stack = Stack::new(layers, newest.last_version, newest.num_vertices)?;
        let number = newest.number + 1;
        let changes = Changes {
            stack: &stack,
            edges: &changes,
            rows: &[vec![8]],
            elements: &[ElementType::I32],
            counted_from: 0,
            versions: (newest.last_version + 1, newest.last_version + 1),
            num_vertices: newest.num_vertices,
            policy: CopyPolicy::Mixed,
            known: None,
        };
        let start = Instant::now();
        let frozen = freeze(&changes, number, &self.writer(number)?, &self.run)?;
        if number == 2 {
            let rate = count as f64 / 1e6 / start.elapsed().as_secs_f64();
            println!("freezing {count} changes: {rate:.1} M changes/s");
        }
        layers.push(self.open(&frozen.record)?);
        Ok(())
    }

    /// Merges, and prints the speed.
    fn measure(
        &self,
        what: &str,
        layers: &[Arc<PlainLayer>],
        which: Range<usize>,
        retained: &[u64],
        number: &mut u32,
    ) -> Result<Arc<PlainLayer>> {
        let moved: u64 = layers[which.clone()].iter().map(|layer| layer.record().out.arcs).sum();
        let mut best = f64::INFINITY;
        let mut merged = None;
        for _ in 0..REPEATS {
            *number += 1;
            let writer = self.writer(*number)?;
            let options = MergeOptions {
                rebuild: None,
                number: *number,
                retained,
                encoding: None,
                added: &[],
                given_ids: None,
                widened: None,
                remaining: None,
                end: None,
            };
            let start = Instant::now();
            let (record, _) = merge_layers(layers, which.clone(), &options, &writer, &self.run)?;
            best = best.min(start.elapsed().as_secs_f64());
            merged = Some(self.open(&record)?);
        }
        let merged = merged.unwrap_or_else(|| unreachable!("the loop runs at least once"));
        let copy = self.copy(&merged, number)?;
        let rate = |seconds: f64| moved as f64 / 1e6 / seconds;
        println!("{what:44} {moved:>10} edges  {:>7.1} M/s, copy {:>7.1} M/s", rate(best), rate(copy));
        Ok(merged)
    }

    /// The time for writing the targets and weights of a layer again, on one thread, in seconds.
    fn copy(&self, layer: &PlainLayer, number: &mut u32) -> Result<f64> {
        *number += 1;
        let writer = self.writer(*number)?;
        let start = Instant::now();
        for direction in [Direction::Out, Direction::In] {
            let Some(section) = layer.section(direction) else { continue };
            let mut targets = writer.targets(direction)?;
            targets.append(section.main().all(&self.run)?.arrays().map_or(&[], |(_, targets)| targets))?;
            targets.finish()?;
            let weights = section.main().property(0).and_then(|values| values.typed::<i32>());
            if let Some(weights) = weights {
                let mut column = writer.section::<i32>(direction, SectionColumn::Property(0))?;
                column.append(weights.all(&self.run)?)?;
                column.finish()?;
            }
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

fn measure_all(directory: &BenchDirectory<'_>, n: usize) -> Result<()> {
    let mut random = Random::new(1);
    let mut edges: Vec<(VertexId, VertexId)> =
        (0..n * DEGREE).map(|_| (random.index(n) as VertexId, random.index(n) as VertexId)).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut layers = vec![directory.complete(n, &edges)?];
    for _ in 0..LAYERS {
        directory.grow(&mut layers, &edges, &mut random)?;
    }
    let count = layers.len();
    let all: Vec<u64> = (1..=count as u64).collect();
    let number = &mut 1000;
    let kept = directory.measure("all layers, all versions retained", &layers, 0..count, &all, number)?;
    let plain = directory.measure("all layers, only the last version", &layers, 0..count, &[], number)?;
    directory.measure("complete and one more, all versions", &layers, 0..2, &all, number)?;
    directory.measure("only later layers, all versions", &layers, 1..count, &all, number)?;
    directory.measure("only later layers, only the last version", &layers, 1..count, &[], number)?;
    let last = directory.measure("one layer, versions forgotten", &[Arc::clone(&kept)], 0..1, &[], number)?;
    assert_eq!(plain.record().out, last.record().out);
    assert_eq!(kept.record().out.arcs, plain.record().out.arcs);
    Ok(())
}

pub(crate) fn main() -> Result<()> {
    let arguments: Vec<String> = crate::arguments().collect();
    let is_bench = crate::is_bench();
    let scale = arguments.iter().position(|argument| argument == "--scale");
    let scale = scale.and_then(|at| arguments.get(at + 1)).and_then(|scale| scale.parse().ok());
    let n = 1_usize << scale.unwrap_or(if is_bench { 20 } else { 10 });
    let run = Run::with_threads(2)?;
    if arguments.iter().any(|argument| argument == "--disk") {
        let root = std::env::var("ESKER_BENCH_DIR").unwrap_or_else(|_| "/tmp".to_owned());
        let root = Path::new(&root).join(format!("esker-merge-{}", std::process::id()));
        RealDisk.create_directory(&root)?;
        measure_all(&BenchDirectory { disk: &RealDisk, root: &root, run }, n)?;
        return RealDisk.remove_directory(&root);
    }
    let disk = MemoryDisk::new();
    let root = Path::new("bench");
    disk.create_directory(root)?;
    measure_all(&BenchDirectory { disk: &disk, root, run }, n)
}
