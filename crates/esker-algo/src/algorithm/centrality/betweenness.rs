//! Betweenness centrality: the number of shortest paths between other vertices that pass through each vertex.
//!
//! Brandes' algorithm [1] from some or all sources. The forward pass is a breadth-first search that counts
//! shortest paths and pushes or pulls as `edge_map` does. The backward pass goes level by level from the
//! farthest, and each vertex adds up the dependencies of its successors: either it pulls along its out-edges,
//! or the successors push along their in-edges, whichever level has fewer arcs. One array has the number of
//! paths of each vertex, with a minus sign, and once its level is finished its contribution, with a plus
//! sign. No edge leads more than one level down, so a sum runs over the positive values of a whole list
//! without a branch per edge. Vertices of a level that is not large, whose lists come whole, need no array
//! for their dependencies: there may be thousands of levels. Parallel edges count as separate paths;
//! self-loops have no effect.
//!
//! Pulled sums follow the order of the list. Pushed path counts are integers, exact up to 2^53. If a
//! `deterministic` run finds a greater one, it counts the paths of that source again on one thread. Pushed
//! dependencies are added in the order in which threads arrive, so a `deterministic` run pulls them.
//!
//! Numbers of paths beyond 10^290 do not fit: on a grid, they double with each step. A level that has one is
//! scaled: all of its numbers, and so those of later levels, are divided by 2^900, which changes no digit.
//! Dependencies need only the ratio of the numbers of two neighbours, and on the way back the factor between
//! their levels is known. That fails where a number of such a level was divided before and is less than 1:
//! levels whose numbers differ by more than 2^900. From the first source for which that happens, the
//! logarithms of these numbers are kept instead, and contributions apart: the ratios are as exact, up to
//! 2^-52 times the logarithm.
//!
//! Work: O(n + m) per source. Memory per vertex: 24 bytes (path counts or contributions, dependencies,
//! scores), 32 with logarithms, and up to four ids for levels. Reads per source: the lists of reached
//! vertices about once forward and at most once backward.
//!
//! [1] U. Brandes, "A Faster Algorithm for Betweenness Centrality", Journal of Mathematical Sociology
//!     25(2), 2001.

use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Stop, VertexId, Visitor, Weight, vertex};

use super::bfs_levels::{BfsLevel, BfsLevels, LARGE_LEN_MIN};
use super::path_numbers::{COUNT_MAX, COUNT_SCALE, Counted, EXACT_MAX, Logarithms, PathCounts, PathNumber};
pub use super::sample::Sources;
use super::sample::resolve;
pub use super::scale::{Scale, factor};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{EdgeOp, Frontier, VertexValues, Way, each_vertex, edge_map_way, vertex_map};

/// Options of [`betweenness`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BetweennessOptions {
    /// The sources.
    pub sources: Sources,
    /// The normalization.
    pub scale: Scale,
}

impl Default for BetweennessOptions {
    fn default() -> Self {
        Self { sources: Sources::All, scale: Scale::Fraction }
    }
}

/// Betweenness scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Betweenness {
    /// The score of each vertex. The ends of a path do not count as on it.
    pub scores: Vec<f64>,
    /// The sources used.
    pub sources: Vec<VertexId>,
    /// Number of rounds, forward and backward, over all sources.
    pub rounds: usize,
}

/// Estimates memory and reads; both are upper bounds.
pub fn estimate(shape: Shape, options: &BetweennessOptions) -> Estimate {
    let sources = options.sources.count(shape.num_vertices);
    let id_bytes = size_of::<VertexId>() as u64;
    // Growing lists may have capacity for twice their length.
    let levels = shape.num_vertices * 4 * id_bytes + shape.num_vertices.div_ceil(64) * 8 * 3;
    // Dependencies of the vertices of a level that is finished whole.
    let whole = (WHOLE_LEN_MAX as u64).min(shape.num_vertices / WHOLE_DIVISOR as u64) * 32;
    Estimate {
        memory_bytes: shape.num_vertices * 32 + levels + whole + sources * id_bytes,
        read_bytes: shape.list_bytes().saturating_mul(2 * sources),
    }
}

/// The arrays of Brandes' algorithm.
struct Brandes<P> {
    /// The value of the number of shortest paths from the source to each vertex.
    paths: VertexValues<f64>,
    /// The contributions of finished levels; none for all other vertices. `None`: they are in `paths`.
    apart: Option<VertexValues<f64>>,
    /// Dependency of the source on each vertex of a level, where it is added up in parts; made when needed.
    dependency: OnceLock<VertexValues<f64>>,
    /// Sum of dependencies over sources.
    scores: VertexValues<f64>,
    /// Vertices that belong to a level already.
    visited: Bitmap,
    numbers: PhantomData<P>,
}

impl<P: PathNumber> Brandes<P> {
    /// Arrays for `n` vertices with these scores.
    fn new(run: &Run, n: usize, scores: VertexValues<f64>) -> Self {
        Self {
            paths: VertexValues::filled(run, n, P::NONE),
            apart: P::APART.then(|| VertexValues::filled(run, n, P::NONE)),
            dependency: OnceLock::new(),
            scores,
            visited: Bitmap::new(n),
            numbers: PhantomData,
        }
    }

    /// The contributions.
    #[inline(always)]
    fn contribution(&self) -> &VertexValues<f64> {
        if P::APART { self.apart.as_ref().unwrap_or(&self.paths) } else { &self.paths }
    }

    /// Counts shortest paths. Leaves the vertices at each distance in the empty `levels`; if it stops, all.
    fn forward<G: Graph>(
        &self,
        graph: &G,
        run: &Run,
        source: VertexId,
        levels: &mut BfsLevels,
    ) -> Result<Counted, G::Error> {
        let in_any_order = !(run.deterministic() && run.threads() > 1) || P::APART;
        let inexact = AtomicBool::new(false);
        let mut level = Frontier::one(graph, source);
        let mut remaining = graph.num_arcs();
        let (too_large, too_small) = (AtomicBool::new(false), AtomicBool::new(false));
        self.paths.set(source, P::ONE);
        while !level.is_empty() {
            run.round(level.len())?;
            let way = Way::choose(graph, &level, remaining);
            remaining -= level.arcs();
            let is_small = level.len() < LARGE_LEN_MIN;
            let level_run = if is_small { run.single_threaded() } else { run };
            vertex_map(level_run, &level, |v| {
                let paths = P::number(self.paths.get(v));
                if paths > EXACT_MAX && !in_any_order {
                    inexact.store(true, Ordering::Relaxed);
                }
                if paths > COUNT_MAX {
                    too_large.store(true, Ordering::Relaxed);
                } else if paths < 1.0 {
                    too_small.store(true, Ordering::Relaxed);
                }
                if is_small {
                    self.visited.insert_alone(v);
                } else {
                    self.visited.insert(v);
                }
                // The backward pass of an earlier source may have pushed to vertices of finished levels.
                if let Some(dependency) = self.dependency.get() {
                    dependency.set(v, 0.0);
                }
            })?;
            if inexact.load(Ordering::Relaxed) {
                levels.push(level);
                return Ok(Counted::Inexact);
            }
            let is_small_somewhere = too_small.swap(false, Ordering::Relaxed);
            if too_large.swap(false, Ordering::Relaxed) {
                if is_small_somewhere {
                    return Ok(Counted::TooDifferent);
                }
                vertex_map(level_run, &level, |v| self.paths.set(v, self.paths.get(v) * COUNT_SCALE))?;
                levels.scaled.push(vertex(levels.len()));
            }
            let is_alone = level.len() as u64 + level.arcs() < ALONE_LOAD_MAX && graph.is_at_hand();
            let level_run = if is_alone && way == Way::Push { run.single_threaded() } else { run };
            let next = edge_map_way(graph, level_run, way, &level, &CountPaths(self))?;
            levels.push(level);
            level = next;
        }
        Ok(Counted::All)
    }

    /// Adds up dependencies from the last level to the second. The source itself needs none.
    fn backward<G: Graph>(&self, graph: &G, run: &Run, levels: &BfsLevels) -> Result<(), G::Error> {
        for distance in (1..levels.len()).rev() {
            let (level, scale) = (levels.get(distance), levels.scale(distance));
            if distance + 1 == levels.len() {
                level.each(run, |v| self.finish(v, 0.0, scale))?;
                continue;
            }
            run.round(level.len())?;
            let far = levels.get(distance + 1);
            let is_small =
                level.len() < LARGE_LEN_MIN && level.len() as u64 + level.arcs(graph) < ALONE_LOAD_MAX;
            let whole_len_max = WHOLE_LEN_MAX.min(graph.num_vertices() / WHOLE_DIVISOR);
            let pulls_whole = || level.len() < whole_len_max && !Self::pushes(graph, run, &level, &far);
            if graph.is_at_hand() && (is_small || pulls_whole()) {
                self.finish_whole(graph, if is_small { run.single_threaded() } else { run }, &level, scale)?;
            } else {
                self.accumulate(graph, run, &level, &far)?;
                level.each(run, |v| self.finish_parts(v, scale))?;
            }
        }
        Ok(())
    }

    /// Prepares the arrays for another source. Takes O(vertices reached + n/64).
    fn reset(&mut self, run: &Run, levels: &BfsLevels) -> Result<(), Stop> {
        for distance in 0..levels.len() {
            levels.get(distance).each(run, |v| {
                self.contribution().set(v, P::NONE);
                self.paths.set(v, P::NONE);
            })?;
        }
        self.visited.clear();
        Ok(())
    }

    /// The dependencies, written by all threads if they are new.
    fn dependency_made(&self, run: &Run) -> &VertexValues<f64> {
        self.dependency.get_or_init(|| VertexValues::filled(run, self.visited.len(), 0.0))
    }

    fn dependency(&self) -> &VertexValues<f64> {
        self.dependency.get_or_init(|| vec![0.0; self.visited.len()].into())
    }

    /// Whether level `far` pushes its contributions to the level before it.
    fn pushes<G: Graph>(graph: &G, run: &Run, near: &BfsLevel<'_>, far: &BfsLevel<'_>) -> bool {
        graph.has(Direction::In)
            && !run.deterministic()
            && far.arcs(graph).saturating_mul(PUSH_COST) < near.arcs(graph)
    }

    /// Adds the contributions of level `far` to the dependencies of the level before it.
    fn accumulate<G: Graph>(
        &self,
        graph: &G,
        run: &Run,
        near: &BfsLevel<'_>,
        far: &BfsLevel<'_>,
    ) -> Result<(), G::Error> {
        self.dependency_made(run);
        if Self::pushes(graph, run, near, far) {
            graph.scan(run, Direction::In, far.select(), &PushDependencies(self))?;
        } else {
            graph.scan(run, Direction::Out, near.select(), &PullDependencies(self))?;
        }
        Ok(())
    }

    /// Finishes a vertex from the sum of the parts of its dependency. `scale`: by which the numbers of its
    /// level were multiplied, and those of the previous level were not.
    #[inline(always)]
    fn finish(&self, v: VertexId, parts: f64, scale: f64) {
        let paths = P::number(self.paths.get(v));
        let dependency = P::dependency(parts, paths);
        self.scores.add_exclusive(v, dependency);
        self.contribution().set(v, P::contribution(dependency, paths) * scale);
    }

    fn finish_parts(&self, v: VertexId, scale: f64) {
        self.finish(v, self.dependency().get(v), scale);
    }

    /// Adds up the dependencies of a level from those of the level after it, and finishes the level.
    /// Contributions of a level must not be seen by the rest of the level, so they wait until all lists are
    /// read.
    fn finish_whole<G: Graph>(
        &self,
        graph: &G,
        run: &Run,
        level: &BfsLevel<'_>,
        scale: f64,
    ) -> Result<(), G::Error> {
        let visitor = WholeDependencies { brandes: self, graph };
        let found = graph.scan(run, Direction::Out, level.select(), &visitor)?;
        let whole: usize = found.iter().map(|found| found.whole.len()).sum();
        let by = if whole < LARGE_LEN_MIN { run.single_threaded() } else { run };
        by.share::<(), Stop>(
            found.len(),
            || (),
            |(), worker| {
                found[worker].whole.iter().for_each(|&(v, parts)| self.finish(v, parts, scale));
                Ok(())
            },
        )?;
        if whole < level.len() {
            let mut in_parts: Vec<_> = found.iter().flat_map(|found| found.parts.iter().copied()).collect();
            in_parts.sort_unstable();
            level.each(run.single_threaded(), |v| {
                if graph.degree(Direction::Out, v) == 0 {
                    self.finish(v, 0.0, scale);
                } else if in_parts.binary_search(&v).is_ok() {
                    self.finish_parts(v, scale);
                }
            })?;
        }
        Ok(())
    }
}

/// Levels with fewer vertices are finished without an array of all dependencies, which saves the first touch
/// of its pages.
const WHOLE_LEN_MAX: usize = 1 << 13;
/// The same for levels of less than this fraction of all vertices: the sums of a level take 16 bytes a
/// vertex, or twice that while a list grows.
const WHOLE_DIVISOR: usize = 8;

/// Levels with fewer vertices and out-arcs stay on the calling thread, forward and backward. What one thread
/// writes of a level another would read of the next, and that takes longer than the work that it saves.
const ALONE_LOAD_MAX: u64 = 1 << 12;

/// Graphs with fewer arcs a vertex may have small levels only.
const SPARSE_DEGREE_MAX: u64 = 6;

/// Arcs that can be pulled in the time of one atomic push.
const PUSH_COST: u64 = 4;

/// Adds the path counts of the frontier to the next level.
struct CountPaths<'a, P>(&'a Brandes<P>);

impl<W: Weight, P: PathNumber> EdgeOp<W> for CountPaths<'_, P> {
    const BOXED: bool = P::BOXED;

    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        !self.0.visited.get(dst)
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        P::add(&self.0.paths, dst, self.0.paths.get(src)) == P::NONE
    }

    #[inline(always)]
    fn push_alone(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        let before = self.0.paths.get(dst);
        self.0.paths.set(dst, P::plus(before, self.0.paths.get(src)));
        before == P::NONE
    }

    #[inline(always)]
    fn pull(&self, dst: VertexId, src: VertexId, weight: W) -> bool {
        self.push_alone(src, dst, weight);
        true
    }
}

/// Each vertex of a level pulls the contributions of its successors.
struct PullDependencies<'a, P>(&'a Brandes<P>);

impl<W: Weight, P: PathNumber> Visitor<W> for PullDependencies<'_, P> {
    type State = ();

    const BOXED: bool = P::BOXED;

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let sum = P::parts(self.0.contribution(), piece.targets, P::number(self.0.paths.get(v)));
        if piece.exclusive {
            self.0.dependency().add_exclusive(v, sum);
        } else {
            self.0.dependency().add(v, sum);
        }
        Flow::More
    }
}

/// As [`PullDependencies`], for levels whose lists come whole but for huge ones.
struct WholeDependencies<'a, P, G> {
    brandes: &'a Brandes<P>,
    graph: &'a G,
}

/// What one worker found.
#[derive(Default)]
struct FoundDependencies {
    /// The sum of the parts of each vertex whose list came whole.
    whole: Vec<(VertexId, f64)>,
    /// The vertices whose lists came in pieces, some repeatedly; their sums are among the dependencies.
    parts: Vec<VertexId>,
}

impl<P: PathNumber, G: Graph> Visitor<G::Weight> for WholeDependencies<'_, P, G> {
    type State = FoundDependencies;

    const BOXED: bool = P::BOXED;

    fn new_state(&self) -> FoundDependencies {
        FoundDependencies::default()
    }

    #[inline(always)]
    fn visit(&self, found: &mut FoundDependencies, v: VertexId, piece: Piece<'_, G::Weight>) -> Flow {
        let paths = P::number(self.brandes.paths.get(v));
        let sum = P::parts(self.brandes.contribution(), piece.targets, paths);
        if piece.targets.len() == self.graph.degree(Direction::Out, v) {
            found.whole.push((v, sum));
        } else {
            self.brandes.dependency().add(v, sum);
            found.parts.push(v);
        }
        Flow::More
    }
}

/// Each vertex of a level pushes its contribution to its predecessors. Other reached neighbours also receive
/// it, which does no harm: they are on the same or a later level, whose dependencies are complete.
struct PushDependencies<'a, P>(&'a Brandes<P>);

impl<W: Weight, P: PathNumber> Visitor<W> for PushDependencies<'_, P> {
    type State = ();

    const BOXED: bool = P::BOXED;

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let (contribution, sums) = (self.0.contribution().get(v), self.0.dependency());
        for &u in piece.targets {
            if self.0.visited.get(u) {
                sums.add(u, P::part(contribution, P::number(self.0.paths.get(u))));
            }
        }
        Flow::More
    }
}

/// Computes the scores.
///
/// # Errors
/// [`Stop::Unsuitable`] if a source is not a vertex; [`Stop::OverBudget`]; the first list that cannot be
/// read; cancellation.
pub fn betweenness<G: Graph>(
    graph: &G,
    run: &Run,
    options: &BetweennessOptions,
) -> Result<Betweenness, G::Error> {
    let n = graph.num_vertices();
    let run = &run.begin("betweenness", estimate(Shape::of(graph), options).memory_bytes)?;
    let sources = resolve(n, run.seed(), &options.sources)?;
    run.install(|| sum_dependencies(graph, run, sources, options.scale))
}

fn sum_dependencies<G: Graph>(
    graph: &G,
    run: &Run,
    sources: Vec<VertexId>,
    scale: Scale,
) -> Result<Betweenness, G::Error> {
    let n = graph.num_vertices();
    let counts = Brandes::<PathCounts>::new(run, n, VertexValues::filled(run, n, 0.0));
    if graph.num_arcs() > SPARSE_DEGREE_MAX * n as u64 {
        // There will be large levels. The first touch of these pages takes longer once threads work at random
        // places.
        counts.dependency_made(run);
    }
    let (mut scores, done) = add_dependencies(graph, run, counts, &sources, 0)?;
    if done < sources.len() {
        // Sums of logarithms depend on their order, and so on the number of threads.
        let run = if run.deterministic() { run.single_threaded() } else { run };
        let logarithms = Brandes::<Logarithms>::new(run, n, scores);
        (scores, _) = add_dependencies(graph, run, logarithms, &sources, done)?;
    }
    let factor = factor(n, graph.is_directed(), sources.len(), scale);
    each_vertex(run, n, |v| scores.set(v, scores.get(v) * factor))?;
    Ok(Betweenness { scores: scores.into_vec(), sources, rounds: run.rounds() })
}

/// Adds the dependencies of the sources from number `first` on to the scores, up to the first source with too
/// many paths. Returns the scores and the number of that source.
fn add_dependencies<G: Graph, P: PathNumber>(
    graph: &G,
    run: &Run,
    mut brandes: Brandes<P>,
    sources: &[VertexId],
    first: usize,
) -> Result<(VertexValues<f64>, usize), G::Error> {
    for (done, &source) in sources.iter().enumerate().skip(first) {
        run.set_done(done as u64, sources.len() as u64);
        let mut levels = BfsLevels::default();
        let mut counted = brandes.forward(graph, run, source, &mut levels)?;
        if counted == Counted::Inexact {
            brandes.reset(run, &levels)?;
            levels = BfsLevels::default();
            counted = brandes.forward(graph, run.single_threaded(), source, &mut levels)?;
        }
        if counted == Counted::TooDifferent {
            return Ok((brandes.scores, done));
        }
        brandes.backward(graph, run, &levels)?;
        if done + 1 < sources.len() {
            brandes.reset(run, &levels)?;
        }
    }
    Ok((brandes.scores, sources.len()))
}

#[cfg(test)]
mod tests {
    use esker_graph::Csr;
    use esker_graph::random::Random;

    use super::*;

    #[test]
    fn logarithms_give_the_scores_of_counts() {
        for (threads, seed) in [(1, 1), (2, 2), (2, 3)] {
            let run = Run::with_threads(threads).unwrap();
            let mut random = Random::new(seed);
            let mut draw = || random.below(300) as VertexId;
            let edges: Vec<_> = (0..900).map(|_| (draw(), draw(), ())).collect();
            let csr = Csr::directed(300, &edges).unwrap();
            let (graph, sources) = (csr.graph(), (0..300).collect::<Vec<_>>());
            let zeros = || VertexValues::filled(&run, 300, 0.0);
            let counts = Brandes::<PathCounts>::new(&run, 300, zeros());
            let counted = add_dependencies(&graph, &run, counts, &sources, 0).unwrap().0.into_vec();
            let logarithms = Brandes::<Logarithms>::new(&run, 300, zeros());
            let found = add_dependencies(&graph, &run, logarithms, &sources, 0).unwrap().0.into_vec();
            assert!(counted.iter().sum::<f64>() > 0.0);
            for (found, counted) in found.iter().zip(counted) {
                assert!((found - counted).abs() <= 1e-9 * counted, "{found}, not {counted}");
            }
        }
    }
}
