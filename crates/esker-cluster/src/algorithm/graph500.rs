//! The searches of the Graph500 benchmark on all shards: a tree from each root, and its validation against
//! the edges from the generator.
//!
//! A search is that of `bfs`, with parents in place of depths: a ghost tells its owner the number of its
//! parent, 12 bytes. Validation needs each tree whole: all processes tell each other the parents of their
//! vertices, 8 bytes a vertex, and each looks at its part of the edges, which it generates anew. Memory: an
//! id a vertex of the shard, and for validation 16 bytes for each vertex of the whole and tree.

use std::time::Instant;

use esker_algo::graph500::{Findings, Graph500Trees, Tree, draw_roots, expect_met, look_at_edges};
use esker_algo::primitive::VertexArray;
use esker_format::{Error, Result};
use esker_graph::generate::{EdgeBlock, Generator};
use esker_graph::{Direction, Graph, NONE, Run, RunOptions, VertexId, vertex};
use esker_store::ids::ExternalId;

use super::bfs::{Notes, search_levels};
use super::local::Local;
use crate::disk::cluster::Cluster;
use crate::disk::job::Graph500Job;
use crate::disk::shard::threads_each;
use crate::exchange::routes::Routes;
use crate::model::answer::{AnswerSink, Cell, ColumnKind, Outline, put_row};
use crate::net::engine::Engine;

/// The parent of each vertex by its number; [`NONE`] if it is not reached.
struct Parents<'a> {
    parents: VertexArray,
    numbers: &'a [VertexId],
}

impl Notes for Parents<'_> {
    #[inline(always)]
    fn is_new(&self, v: VertexId) -> bool {
        self.parents.get(v) == NONE
    }

    #[inline(always)]
    fn reach(&self, src: VertexId, dst: VertexId, _: VertexId) -> bool {
        self.parents.claim(dst, NONE, self.numbers[src as usize])
    }

    fn told(&self, ghost: VertexId) -> u64 {
        self.parents.get(ghost) as u64
    }

    fn hear(&self, v: VertexId, told: u64, _: VertexId) -> bool {
        self.parents.claim(v, NONE, vertex(told as usize))
    }

    fn follow(&self, ghost: VertexId, _: VertexId) {
        // Its owner knows the parent; here the vertex is only reached.
        self.parents.claim(ghost, NONE, self.numbers[ghost as usize]);
    }
}

/// Runs the searches on the shard of this process, together with all other processes. Process 0 hands over a
/// row for each root, in order: seconds of the search and of its validation, and edges between reached
/// vertices. The fact `generation seconds` says how long the edges take to generate.
///
/// # Errors
/// [`Error::Invalid`] if a tree breaks a rule of the specification; the first error of the shard or of the
/// sink.
pub fn graph500(
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    job: &Graph500Job,
    sink: &mut dyn AnswerSink,
) -> Result<()> {
    let run = Run::new(RunOptions { threads: threads_each(engine.peers()), ..RunOptions::default() })?;
    let version = cluster
        .open_shard(engine.index())?
        .at(cluster.manifest().version(job.version)?.shards[engine.index()])?;
    let view = version.view();
    let graph = view.graph::<()>(&run)?;
    graph.prepare(&run, Direction::Out)?;
    let routes = Routes::new(&version, &cluster.placement(job.version), engine)?;
    let local =
        Local { version: &version, graph: &graph, run: &run, routes: &routes, owners: cluster.owners() };
    let generator = job.graph.generator()?;
    let generation_seconds = generate_part(&generator, engine)?;
    let bench = Bench { local: &local, numbers: numbers_of(&local)?, generator: &generator };
    let roots = bench.roots(engine, job)?;
    let n = generator.num_vertices() as usize;
    let all: Vec<VertexId> = (0..n).map(vertex).collect();
    let mut block = Vec::new();
    for batch in roots.chunks(job.trees_together(engine.peers())?) {
        let (mut trees, mut times) = (Graph500Trees::new(&all, batch.len()), Vec::new());
        for &root in batch {
            run.check()?;
            let (seconds, parents) = bench.search(engine, root)?;
            let begin = Instant::now();
            let tree = Tree { root, parents: bench.whole_tree(engine, &parents)?, distances: None };
            trees.push(tree).map_err(|reason| broken(&[root], &reason))?;
            times.push((seconds, begin.elapsed().as_secs_f64()));
        }
        let begin = Instant::now();
        let edges = bench.validate(engine, &trees).map_err(|error| match error {
            Error::Invalid(reason) => broken(batch, &reason.to_string()),
            other => other,
        })?;
        let share = begin.elapsed().as_secs_f64() / batch.len() as f64;
        for ((&root, &(seconds, own)), edges) in batch.iter().zip(&times).zip(edges) {
            let cells = [Cell::Float(seconds), Cell::Float(own + share), Cell::Count(edges)];
            put_row(&mut block, ExternalId::Int(root.into()), &cells);
        }
    }
    let columns = [
        ("seconds", ColumnKind::Float),
        ("validate_seconds", ColumnKind::Float),
        ("edges", ColumnKind::Count),
    ];
    sink.outline(&Outline::new(&columns, 0).with_fact("generation seconds", generation_seconds))?;
    if engine.index() == 0 { sink.rows(block) } else { Ok(()) }
}

/// An error: the tree of one of some roots breaks a rule.
fn broken(roots: &[VertexId], reason: &str) -> Error {
    match roots {
        [root] => Error::invalid(format!("the tree from {root} is wrong: {reason}")),
        _ => Error::invalid(format!("one of the trees from {roots:?} is wrong: {reason}")),
    }
}

/// Generates the part of the edges of this process; returns the seconds of the slowest one.
fn generate_part(generator: &Generator, engine: &mut Engine<'_>) -> Result<f64> {
    let (begin, mut block) = (Instant::now(), EdgeBlock::default());
    for index in (engine.index() as u64..generator.num_blocks()).step_by(engine.peers()) {
        generator.block(index, &mut block);
    }
    slowest(begin.elapsed().as_secs_f64(), engine)
}

fn slowest(seconds: f64, engine: &mut Engine<'_>) -> Result<f64> {
    // Bits of floats from zero have their order.
    Ok(f64::from_bits(engine.gather(seconds.to_bits())?.into_iter().max().unwrap_or(0)))
}

/// The generator's number of each vertex.
fn numbers_of(local: &Local<'_, '_>) -> Result<Vec<VertexId>> {
    let n = local.graph.num_vertices();
    let mut numbers = Vec::with_capacity(n);
    local.version.ids().each_external(0..n, |id| match id {
        ExternalId::Int(number) => {
            numbers.push(vertex(number as usize));
            Ok(())
        }
        ExternalId::Text(_) => {
            Err(Error::invalid("the cluster holds another graph than that of the benchmark"))
        }
    })?;
    Ok(numbers)
}

/// The benchmark in one process.
struct Bench<'a, 's> {
    local: &'a Local<'a, 's>,
    numbers: Vec<VertexId>,
    generator: &'a Generator,
}

impl Bench<'_, '_> {
    /// Draws distinct roots from the vertices with an edge to another vertex: the same in all processes, and
    /// those of one machine.
    fn roots(&self, engine: &mut Engine<'_>, job: &Graph500Job) -> Result<Vec<VertexId>> {
        let routes = self.local.routes;
        let n = self.generator.num_vertices() as usize;
        let mut bits = vec![0_u8; n.div_ceil(8)];
        // A part of the list of a delegate tells as well.
        for v in (0..self.numbers.len()).map(vertex).filter(|&v| routes.counts_list(v)) {
            let neighbours = self.local.version.neighbors(Direction::Out, v)?;
            if neighbours.iter().any(|&other| other != v) {
                let number = self.numbers[v as usize] as usize;
                bits[number / 8] |= 1 << (number % 8);
            }
        }
        let blocks = engine.exchange(vec![bits.clone(); engine.peers()]);
        for block in blocks {
            bits.iter_mut().zip(block).for_each(|(bits, others)| *bits |= others);
        }
        let is_candidate = |&v: &usize| bits[v / 8] >> (v % 8) & 1 != 0;
        let mut candidates: Vec<VertexId> = (0..n).filter(is_candidate).map(vertex).collect();
        draw_roots(&mut candidates, job.roots, job.graph.seed);
        Ok(candidates)
    }

    /// Searches from a root. Returns the seconds of the slowest process, and the parents of the vertices of
    /// the shard, by number.
    fn search(&self, engine: &mut Engine<'_>, root: VertexId) -> Result<(f64, VertexArray)> {
        let (local, id) = (self.local, ExternalId::Int(root.into()));
        let own = local.version.ids().vertex_of(id)?.filter(|&v| local.routes.is_owned(v));
        let start: Vec<VertexId> = own.into_iter().collect();
        // All begin together.
        engine.sum([0])?;
        let begin = Instant::now();
        let parents = VertexArray::filled(local.run, self.numbers.len(), NONE);
        let notes = Parents { parents, numbers: &self.numbers };
        start.iter().for_each(|&v| notes.parents.set(v, root));
        search_levels(local, engine, start, NONE, &notes)?;
        Ok((slowest(begin.elapsed().as_secs_f64(), engine)?, notes.parents))
    }

    /// The parent of each vertex of the whole.
    fn whole_tree(&self, engine: &mut Engine<'_>, parents: &VertexArray) -> Result<Vec<VertexId>> {
        let mut block = Vec::new();
        for v in self.local.routes.owned() {
            let parent = parents.get(v);
            if parent != NONE {
                block.extend_from_slice(&self.numbers[v as usize].to_le_bytes());
                block.extend_from_slice(&parent.to_le_bytes());
            }
        }
        let mut whole = vec![NONE; self.generator.num_vertices() as usize];
        let other =
            || Error::invalid("the cluster holds another graph than that of the benchmark".to_owned());
        for block in engine.exchange(vec![block; engine.peers()]) {
            let mut words = block.chunks_exact(size_of::<VertexId>());
            let mut next = || {
                let word = words.next()?.try_into().ok()?;
                Some(VertexId::from_le_bytes(word))
            };
            while let (Some(v), Some(parent)) = (next(), next()) {
                *whole.get_mut(v as usize).ok_or_else(other)? = parent;
            }
        }
        Ok(whole)
    }

    /// Looks at the part of the edges of this process, and joins what all found: the number of edges between
    /// the vertices of each tree.
    fn validate(&self, engine: &mut Engine<'_>, trees: &Graph500Trees<'_>) -> Result<Vec<u64>> {
        let (me, peers) = (engine.index(), engine.peers());
        let found = look_at_edges(trees, self.generator, self.local.run, me as u64, peers as u64)?;
        let Findings { edges, met } = agreed(found, engine)?;
        // Each process joins what all met of a range of the vertices.
        let range = |process: usize| met.len() * process / peers..met.len() * (process + 1) / peers;
        let bytes = |part: &[u32]| part.iter().flat_map(|word| word.to_le_bytes()).collect();
        let blocks = (0..peers).map(|process| bytes(&met[range(process)])).collect();
        let mut joined = vec![0_u32; range(me).len()];
        for block in engine.exchange(blocks) {
            let words =
                block.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
            joined.iter_mut().zip(words).for_each(|(all, word)| *all |= word);
        }
        agreed(expect_met(trees, range(me).start, &joined), engine)?;
        let mut sums = vec![0; edges.len()];
        for (sum, part) in sums.iter_mut().zip(edges) {
            *sum = engine.gather(part)?.iter().sum();
        }
        Ok(sums)
    }
}

/// A result, if all processes have one; else the first reason.
fn agreed<T>(result: std::result::Result<T, String>, engine: &mut Engine<'_>) -> Result<T> {
    let reason = result.as_ref().err().cloned().unwrap_or_default().into_bytes();
    let reasons = engine.exchange(vec![reason; engine.peers()]);
    match (result, reasons.into_iter().find(|reason| !reason.is_empty())) {
        (Ok(value), None) => Ok(value),
        (_, reason) => Err(Error::invalid(String::from_utf8_lossy(&reason.unwrap_or_default()).into_owned())),
    }
}
