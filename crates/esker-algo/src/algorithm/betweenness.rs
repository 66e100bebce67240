//! Betweenness centrality: how many of the shortest paths between others lead through each vertex.
//!
//! Brandes' algorithm [1] from some or all sources. Forward, a breadth-first search counts shortest paths, pushing along
//! out-edges or pulling along in-edges as `edge_map` would; backward, level by level from the farthest, each vertex takes
//! up the dependencies of its successors: it pulls them along its out-edges, or they push them along their in-edges,
//! whichever level has fewer arcs. What a level passes on stands in an array that is zero elsewhere, so both
//! sums run over whole lists without a test per edge. Parallel edges count as so many paths; self-loops do nothing.
//!
//! Pulled sums are taken in list order. Pushed counts are integers and exact up to 2^53; pushed dependencies are added
//! in the order in which threads come by, so a `deterministic` run does without them.
//!
//! Work O(n + m) a source. Memory: 32 bytes a vertex (counts, dependencies, what is passed on, scores) and up to four ids for
//! levels. Reads, a source: the lists of reached vertices about once forward, and at most once backward.
//!
//! [1] U. Brandes, "A Faster Algorithm for Betweenness Centrality", Journal of Mathematical Sociology 25(2), 2001.

use esker_graph::{
    Bitmap, Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{EdgeOp, Frontier, VertexValues, Way, each_vertex, edge_map_way, vertex_map};

/// From where shortest paths are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sources {
    /// From every vertex: exact.
    All,
    /// From this many different vertices, drawn by the seed of the run; from all if there are no more.
    Sample(usize),
    /// From these, as often as they stand there.
    These(Vec<VertexId>),
}

/// How the sum of dependencies becomes a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Not at all: the sum over the sources used, in which an undirected pair counts from both ends.
    Sum,
    /// Number of pairs whose paths lead through the vertex: each undirected pair counts once, and sampled sources are
    /// scaled up to all. NetworkX's `normalized=False`.
    Pairs,
    /// That as a fraction of all pairs of other vertices. NetworkX's `normalized=True`.
    Fraction,
}

/// What is computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BetweennessOptions {
    /// From where.
    pub sources: Sources,
    /// How scores are scaled.
    pub scale: Scale,
}

impl Default for BetweennessOptions {
    fn default() -> Self {
        Self { sources: Sources::All, scale: Scale::Fraction }
    }
}

/// The scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Betweenness {
    /// A score for each vertex. Ends of a path do not count as on it.
    pub scores: Vec<f64>,
    /// The sources used.
    pub sources: Vec<VertexId>,
    /// Rounds, forward and backward, over all sources.
    pub rounds: usize,
}

/// What betweenness will take; the reading is an upper bound.
pub fn estimate(shape: Shape, options: &BetweennessOptions) -> Estimate {
    let sources = match &options.sources {
        Sources::All => shape.num_vertices,
        Sources::Sample(count) => shape.num_vertices.min(*count as u64),
        Sources::These(list) => list.len() as u64,
    };
    let id_bytes = size_of::<VertexId>() as u64;
    // Lists may have room for twice as many.
    let levels = shape.num_vertices * 4 * id_bytes + shape.num_vertices.div_ceil(64) * 8 * 3;
    Estimate {
        memory_bytes: shape.num_vertices * 32 + levels + sources * id_bytes,
        read_bytes: shape.list_bytes().saturating_mul(2 * sources),
    }
}

/// Computes the scores.
///
/// # Errors
/// [`Stop::Unsuitable`] if a source is not a vertex or a vertex is the end of more than 10^308 shortest paths;
/// [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn betweenness<G: Graph>(
    graph: &G,
    run: &Run,
    options: &BetweennessOptions,
) -> Result<Betweenness, G::Error> {
    let n = graph.num_vertices();
    run.begin("betweenness", estimate(Shape::of(graph), options).memory_bytes)?;
    let sources = pick(n, run.seed(), &options.sources)?;
    run.install(|| add_up(graph, run, sources, options.scale))
}

fn add_up<G: Graph>(
    graph: &G,
    run: &Run,
    sources: Vec<VertexId>,
    scale: Scale,
) -> Result<Betweenness, G::Error> {
    let n = graph.num_vertices();
    let mut brandes = Brandes {
        paths: VertexValues::filled(run, n, 0.0),
        passed: VertexValues::filled(run, n, 0.0),
        dependency: VertexValues::filled(run, n, 0.0),
        scores: VertexValues::filled(run, n, 0.0),
        visited: Bitmap::new(n),
    };
    for &source in &sources {
        let levels = brandes.forward(graph, run, source)?;
        brandes.backward(graph, run, levels)?;
    }
    let factor = factor(n, graph.is_directed(), sources.len(), scale);
    each_vertex(run, n, |v| brandes.scores.set(v, brandes.scores.get(v) * factor))?;
    Ok(Betweenness { scores: brandes.scores.into_vec(), sources, rounds: run.rounds() })
}

/// The sources meant.
fn pick(n: usize, seed: u64, sources: &Sources) -> Result<Vec<VertexId>, Stop> {
    match sources {
        Sources::Sample(count) if *count < n => Ok(sample(n, *count, seed)),
        Sources::These(list) => match list.iter().find(|&&source| source as usize >= n) {
            Some(source) => Err(Stop::Unsuitable(format!("source {source} is not a vertex: there are {n}"))),
            None => Ok(list.clone()),
        },
        _ => Ok((0..n).map(vertex).collect()),
    }
}

/// `count` different vertices of `0..n`, ascending. Each subset is as likely (R. Floyd; J. Bentley, CACM 30(9), 1987).
fn sample(n: usize, count: usize, seed: u64) -> Vec<VertexId> {
    let mut random = seed;
    let mut picked = std::collections::BTreeSet::new();
    for top in n - count..n {
        let draw = ((u128::from(next_random(&mut random)) * (top as u128 + 1)) >> 64) as usize;
        if !picked.insert(vertex(draw)) {
            picked.insert(vertex(top));
        }
    }
    picked.into_iter().collect()
}

/// The next number of a SplitMix64 sequence (S. Vigna).
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What sums of dependencies over `sources` sources are multiplied with, in a graph of `n` vertices.
pub fn factor(n: usize, directed: bool, sources: usize, scale: Scale) -> f64 {
    let all = n as f64 / sources.max(1) as f64;
    match scale {
        Scale::Sum => 1.0,
        Scale::Pairs => all * if directed { 1.0 } else { 0.5 },
        Scale::Fraction if n > 2 => all / ((n - 1) as f64 * (n - 2) as f64),
        Scale::Fraction => all,
    }
}

struct Brandes {
    /// Number of shortest paths from the source.
    paths: VertexValues<f64>,
    /// What the level at hand passes on; zero at all other vertices.
    passed: VertexValues<f64>,
    /// Dependency of the source on the vertex.
    dependency: VertexValues<f64>,
    /// Sum of dependencies over sources.
    scores: VertexValues<f64>,
    /// Vertices in a level.
    visited: Bitmap,
}

impl Brandes {
    /// Counts shortest paths. Returns the vertices at each distance.
    fn forward<G: Graph>(&self, graph: &G, run: &Run, source: VertexId) -> Result<Levels, G::Error> {
        let mut levels = Levels::default();
        let mut level = Frontier::one(graph, source);
        let mut remaining = graph.num_arcs();
        self.paths.set(source, 1.0);
        while !level.is_empty() {
            run.round(level.len())?;
            let way = Way::choose(graph, &level, remaining);
            remaining -= level.arcs();
            vertex_map(run, &level, |v| {
                self.visited.insert(v);
                self.passed.set(v, self.paths.get(v));
                // Levels that were done with may have been pushed something since.
                self.dependency.set(v, 0.0);
            })?;
            let next = edge_map_way(graph, run, way, &level, &Count(self))?;
            vertex_map(run, &level, |v| self.passed.set(v, 0.0))?;
            levels.push(level);
            level = next;
        }
        Ok(levels)
    }

    /// Adds up dependencies from the last level to the first but one, and undoes what the source left behind. O(vertices and arcs
    /// reached + n/64).
    fn backward<G: Graph>(&mut self, graph: &G, run: &Run, mut levels: Levels) -> Result<(), G::Error> {
        let mut last = levels.pop(graph);
        while let Some(far) = last {
            last = levels.pop(graph);
            if let Some(near) = &last {
                self.pass_on(run, &far)?;
                // The source takes up nothing.
                if !levels.is_empty() {
                    run.round(near.len())?;
                    self.take_up(graph, run, near, &far)?;
                }
            }
            vertex_map(run, &far, |v| {
                self.passed.set(v, 0.0);
                self.paths.set(v, 0.0);
            })?;
        }
        self.visited.clear();
        Ok(())
    }

    /// Adds what the vertices of a level pass on to the dependencies of the level before it.
    fn take_up<G: Graph>(
        &self,
        graph: &G,
        run: &Run,
        near: &Frontier,
        far: &Frontier,
    ) -> Result<(), G::Error> {
        let push = far.arcs().saturating_mul(PUSH_COST) < near.arcs();
        if push && graph.has(Direction::In) && !run.deterministic() {
            graph.scan(run, Direction::In, far.select(), &PushBack(self))?;
        } else {
            graph.scan(run, Direction::Out, near.select(), &PullBack(self))?;
        }
        Ok(())
    }

    /// Ends the sums of a level: of what its vertices took up makes their dependencies, and of those what they pass on.
    fn pass_on(&self, run: &Run, level: &Frontier) -> Result<(), Stop> {
        let failed = std::sync::atomic::AtomicBool::new(false);
        vertex_map(run, level, |v| {
            let paths = self.paths.get(v);
            if !paths.is_finite() {
                failed.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            let dependency = self.dependency.get(v) * paths;
            self.scores.add_alone(v, dependency);
            self.passed.set(v, (1.0 + dependency) / paths);
        })?;
        if failed.into_inner() {
            return Err(Stop::Unsuitable(
                "a vertex is the end of more than 10^308 shortest paths, which betweenness cannot count"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// The vertices at each distance. Levels of few vertices lie side by side: there may be as many levels as vertices.
#[derive(Default)]
struct Levels {
    small: Vec<VertexId>,
    /// For each level the length of `small` after it.
    ends: Vec<VertexId>,
    /// Levels of many vertices, by their distance.
    large: Vec<(usize, Frontier)>,
}

/// Vertices of a level that has a frontier of its own, at least.
const LARGE_LEN_MIN: usize = 1 << 10;

impl Levels {
    fn push(&mut self, level: Frontier) {
        let distance = self.ends.len();
        match level.select() {
            Select::List(list) if list.len() < LARGE_LEN_MIN => self.small.extend_from_slice(list),
            _ => self.large.push((distance, level)),
        }
        self.ends.push(vertex(self.small.len()));
    }

    fn pop<G: Graph>(&mut self, graph: &G) -> Option<Frontier> {
        self.ends.pop()?;
        if self.large.last().is_some_and(|large| large.0 == self.ends.len()) {
            return self.large.pop().map(|large| large.1);
        }
        let start = self.ends.last().map_or(0, |&end| end as usize);
        Some(Frontier::from_list(graph, self.small.split_off(start)))
    }

    fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Arcs that could be pulled in the time of one that is pushed by atomic addition.
const PUSH_COST: u64 = 4;

/// Adds the paths of the frontier to those of the next level.
struct Count<'a>(&'a Brandes);

impl<W: Weight> EdgeOp<W> for Count<'_> {
    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        !self.0.visited.get(dst)
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        self.0.paths.add(dst, self.0.passed.get(src)) == 0.0
    }

    #[inline(always)]
    fn push_alone(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        let before = self.0.paths.get(dst);
        self.0.paths.set(dst, before + self.0.passed.get(src));
        before == 0.0
    }

    #[inline(always)]
    fn pull(&self, dst: VertexId, src: VertexId, _: W) -> bool {
        self.0.paths.add_alone(dst, self.0.passed.get(src));
        true
    }
}

/// Each vertex of a level takes up what its successors pass on.
struct PullBack<'a>(&'a Brandes);

impl<W: Weight> Visitor<W> for PullBack<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let sum = self.0.passed.sum_over(piece.targets);
        if piece.exclusive {
            self.0.dependency.add_alone(v, sum);
        } else {
            self.0.dependency.add(v, sum);
        }
        Flow::More
    }
}

/// Each vertex of a level gives what it passes on to its predecessors. What other reached neighbours receive does no
/// harm: they lie at its own level or beyond, whose dependencies have been taken up.
struct PushBack<'a>(&'a Brandes);

impl<W: Weight> Visitor<W> for PushBack<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let passed = self.0.passed.get(v);
        for &u in piece.targets {
            if self.0.visited.get(u) {
                self.0.dependency.add(u, passed);
            }
        }
        Flow::More
    }
}
