//! The Graph500 benchmark [1]: construction, breadth-first searches, shortest paths, and the validation of
//! every tree.
//!
//! Kernel 1 imports the generated edges, kernel 2 searches from random roots, kernel 3 finds shortest paths
//! from the same roots. Every tree is validated against the edges from the generator, which generates them
//! again, not against the stored edges.
//!
//! [1] Graph500 benchmark specification, version 2.0 (3.0 for shortest paths), <https://graph500.org>.

mod statistics;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker_algo::algorithm::paths::sssp::{SsspOptions, sssp};
use esker_algo::graph500::{Graph500Trees, Tree, draw_roots, validate};
use esker_graph::generate::{EdgeBlock, Generator, Model, RMat, Weighting};
use esker_graph::{Direction, Graph, Run, Stop, VertexId, vertex};
use esker_import::install::import;
use esker_import::options::{Duplicates, ImportOptions, ImportReport, SelfLoops};
use esker_import::read::generated::GeneratorReader;
use esker_store::ids::ExternalId;
use esker_store::io::RealDisk;
use esker_store::manifest::StagingOptions;
use esker_store::{Access, Store, StoredGraph, Version, View};

use crate::catalogue::{Params, Resources, find};
use crate::computation::Computation;
use crate::error::{Error, Result};
use crate::plan::{Plan, Request};

pub use statistics::{Harmonic, Statistics};

/// The benchmark's graph and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graph500Options {
    /// Binary logarithm of the number of vertices.
    pub scale: u32,
    /// Edges per vertex; the specification says 16.
    pub edge_factor: u64,
    /// Roots to search from; the specification says 64. Fewer are used if fewer vertices have edges.
    pub roots: usize,
    /// Seed of the graph and the roots.
    pub seed: u64,
    /// Whether kernel 1 also builds tiles.
    pub tiles: bool,
}

impl Default for Graph500Options {
    fn default() -> Self {
        Self { scale: 20, edge_factor: 16, roots: 64, seed: 1, tiles: false }
    }
}

/// Measurements of one search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// The root, in the numbering of the generator.
    pub root: u64,
    /// Seconds of the search.
    pub seconds: f64,
    /// Seconds of its validation: an equal share of the time of all searches validated together.
    pub validate_seconds: f64,
    /// Edges of the input, duplicates and self-loops included, between vertices that the search reached.
    pub edges: u64,
}

/// Called with the name of the stage, the number of roots done, and the number of all roots.
pub type OnStage<'a> = &'a (dyn Fn(&'static str, usize, usize) + Sync);

/// A constructed benchmark graph.
pub struct Benchmark {
    options: Graph500Options,
    generator: Generator,
    view: View,
    /// The generator's number of each vertex.
    numbers: Vec<VertexId>,
    /// The import report of kernel 1.
    pub construction: ImportReport,
    /// Seconds to generate the edges once, without storing them.
    pub generation_seconds: f64,
    /// Seconds of kernel 1, which generates the edges again while importing them.
    pub construction_seconds: f64,
}

impl std::fmt::Debug for Benchmark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Benchmark").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Benchmark {
    /// Generates the graph and imports it into a database at `path` (kernel 1). The direction, duplicates and
    /// self-loops of `import_options` are overridden. Memory: that of the import, and one id per vertex.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if such a graph is impossible; those of [`import`].
    pub fn construct(
        options: Graph500Options,
        path: &Path,
        import_options: ImportOptions,
        run: &Run,
    ) -> Result<Self> {
        let make = || {
            let model = Model::RMat(RMat::kronecker(options.scale, options.edge_factor));
            Generator::new(&model, Weighting::Unit, options.seed)
        };
        let generator = make()?;
        let begin = Instant::now();
        run.share(generator.num_blocks() as usize, EdgeBlock::default, |block, index| {
            generator.block(index as u64, block);
            Ok::<_, Stop>(())
        })?;
        let generation_seconds = begin.elapsed().as_secs_f64();
        // Shortest paths use the lightest of parallel edges.
        let import_options = ImportOptions {
            directed: Some(false),
            duplicates: Duplicates::Min,
            self_loops: SelfLoops::Drop,
            tiles: options.tiles,
            ..import_options
        };
        let (disk, reader) = (Arc::new(RealDisk) as Arc<_>, Box::new(GeneratorReader::new(make()?)));
        let begin = Instant::now();
        let construction = import(&disk, reader, path, &import_options, StagingOptions::default())?;
        let construction_seconds = begin.elapsed().as_secs_f64();
        let view = Store::open(path)?.latest()?.view();
        let numbers = numbers_of(view.version())?;
        Ok(Self { options, generator, view, numbers, construction, generation_seconds, construction_seconds })
    }

    /// The constructed graph.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Chooses encoding and residency for the searches, within the memory that validation leaves: see
    /// [`validation_bytes`]. The default is mapped lists. `paths` says whether shortest paths, which read
    /// lengths, follow.
    ///
    /// # Errors
    /// Those of [`Computation::plan`].
    pub fn plan(&mut self, request: &Request, resources: &Resources, paths: bool) -> Result<Plan> {
        let limit = resources.memory.bytes();
        let memory = resources.memory.at_most(limit - validation_bytes(limit));
        let resources = Resources { memory, ..*resources };
        let kernel = find(if paths { "sssp" } else { "bfs" })?;
        let params = Params::default();
        let planned = Computation::of(kernel, &params).reading(*request).plan(&self.view, &resources)?;
        self.view = planned.view;
        Ok(planned.plan)
    }

    /// Draws distinct roots from the vertices with an edge to another vertex.
    ///
    /// # Errors
    /// Those of [`View::graph`].
    pub fn roots(&self, run: &Run) -> Result<Vec<VertexId>> {
        let lists = self.view.clone().resident(Access::default())?;
        let graph: StoredGraph<'_, ()> = lists.graph(run)?;
        let mut candidates: Vec<VertexId> =
            (0..graph.num_vertices()).map(vertex).filter(|&v| graph.degree(Direction::Out, v) > 0).collect();
        // Sorted by the generator's numbers, so that the roots do not depend on the vertex order of the
        // database.
        candidates.sort_unstable_by_key(|&v| self.numbers[v as usize]);
        draw_roots(&mut candidates, self.options.roots, self.options.seed);
        Ok(candidates)
    }

    /// Kernel 2: runs and validates a breadth-first search from each root. Validates as many trees together
    /// as fit in `memory_bytes`, at 12 bytes per vertex and tree.
    ///
    /// # Errors
    /// [`Error::Wrong`] if a tree breaks a rule of the specification; those of the search.
    pub fn searches(
        &self,
        run: &Run,
        roots: &[VertexId],
        memory_bytes: u64,
        tell: OnStage<'_>,
    ) -> Result<Vec<Search>> {
        let graph: StoredGraph<'_, ()> = self.view.graph(run)?;
        graph.prepare(run, Direction::Out)?;
        self.each_root("bfs", run, roots, memory_bytes, tell, |root| search(&graph, run, root))
    }

    /// Kernel 3: computes and validates shortest paths from each root. The time includes finding the tree.
    ///
    /// # Errors
    /// Those of [`Benchmark::searches`].
    pub fn shortest_paths(
        &self,
        run: &Run,
        roots: &[VertexId],
        memory_bytes: u64,
        tell: OnStage<'_>,
    ) -> Result<Vec<Search>> {
        let graph: StoredGraph<'_, f32> = self.view.graph(run)?;
        graph.prepare(run, Direction::Out)?;
        self.each_root("sssp", run, roots, memory_bytes, tell, |root| paths(&graph, run, root))
    }

    fn each_root(
        &self,
        kernel: &'static str,
        run: &Run,
        roots: &[VertexId],
        memory_bytes: u64,
        tell: OnStage<'_>,
        search: impl Fn(VertexId) -> Result<(f64, Tree)>,
    ) -> Result<Vec<Search>> {
        let mut searches = Vec::new();
        let together = Graph500Trees::max_together(self.numbers.len(), memory_bytes)?;
        for batch in roots.chunks(together) {
            let mut trees = Graph500Trees::new(&self.numbers, batch.len());
            let first = searches.len();
            for &root in batch {
                tell(kernel, searches.len(), roots.len());
                run.check()?;
                let (seconds, tree) = search(root)?;
                let root = u64::from(self.numbers[root as usize]);
                searches.push(Search { root, seconds, validate_seconds: 0.0, edges: 0 });
                let begin = Instant::now();
                trees.push(tree).map_err(|reason| Error::Wrong { algorithm: kernel, reason })?;
                searches[first..].last_mut().into_iter().for_each(|search| {
                    search.validate_seconds = begin.elapsed().as_secs_f64();
                });
            }
            tell("validating", searches.len(), roots.len());
            let begin = Instant::now();
            let counts = validate(&trees, &self.generator, run)?
                .map_err(|reason| Error::Wrong { algorithm: kernel, reason })?;
            let share = begin.elapsed().as_secs_f64() / batch.len() as f64;
            for (search, edges) in searches[first..].iter_mut().zip(counts) {
                search.edges = edges;
                search.validate_seconds += share;
            }
        }
        Ok(searches)
    }
}

/// The part of a memory limit reserved for validating trees: half.
pub fn validation_bytes(memory_bytes: u64) -> u64 {
    memory_bytes / 2
}

/// Runs a search; returns its seconds and its tree.
fn search(graph: &StoredGraph<'_, ()>, run: &Run, root: VertexId) -> Result<(f64, Tree)> {
    let begin = Instant::now();
    let found = bfs(graph, run, &[root], &BfsOptions { depths: false, ..BfsOptions::default() })?;
    Ok((begin.elapsed().as_secs_f64(), Tree { root, parents: found.parents, distances: None }))
}

/// Computes shortest paths; returns the seconds and the tree.
fn paths(graph: &StoredGraph<'_, f32>, run: &Run, root: VertexId) -> Result<(f64, Tree)> {
    let options = SsspOptions { parents: true, ..SsspOptions::default() };
    let begin = Instant::now();
    let found = sssp(graph, run, root, &options)?;
    let seconds = begin.elapsed().as_secs_f64();
    let parents = found.parents.unwrap_or_default();
    Ok((seconds, Tree { root, parents, distances: Some(found.distances) }))
}

/// The generator's number of each vertex.
fn numbers_of(version: &Version) -> Result<Vec<VertexId>> {
    let ids = version.ids();
    let mut numbers = Vec::with_capacity(ids.num_vertices());
    ids.each_external(0..ids.num_vertices(), |id| match id {
        ExternalId::Int(number) => {
            numbers.push(vertex(number as usize));
            Ok(())
        }
        ExternalId::Text(_) => unreachable!("a generator numbers vertices"),
    })?;
    Ok(numbers)
}
