//! Graphs generated from a seed, in blocks that are independent of each other and of the number of threads.
//!
//! A [`Model`] describes the graph; a [`Generator`] makes its blocks. An edge depends only on the seed and
//! its own number, so memory holds one block at a time.

mod limits;
mod bijection;
mod stream;
mod rmat;
mod uniform;
mod barabasi_albert;
mod watts_strogatz;
mod grid;
mod regular;

use crate::id::{VertexId, vertex};
use crate::random::RandomKey;
use crate::stop::Stop;

use stream::GeneratedEdges;

pub use barabasi_albert::BarabasiAlbert;
pub use grid::{Grid, Road};
pub use rmat::RMat;
pub use uniform::Uniform;
pub use watts_strogatz::WattsStrogatz;

/// Slots per block: one MiB of ids.
const BLOCK_SLOTS: u64 = 1 << 16;

/// The family and parameters of a graph.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// R-MAT; [`RMat::kronecker`] is the graph of Graph500.
    RMat(RMat),
    /// Uniform random, G(n, m).
    Uniform(Uniform),
    /// Preferential attachment.
    BarabasiAlbert(BarabasiAlbert),
    /// A ring with shortcuts.
    WattsStrogatz(WattsStrogatz),
    /// A grid or torus.
    Grid(Grid),
    /// A grid with gaps, diagonals and lengths.
    Road(Road),
    /// A path of this many vertices.
    Path(u64),
    /// A star of this many vertices, including its centre.
    Star(u64),
    /// A complete graph of this many vertices.
    Complete(u64),
}

/// The kind of weights of generated edges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Weighting {
    /// No weights.
    #[default]
    None,
    /// Uniform integers `1..=max`, as in GAP (255).
    Int {
        /// The largest weight, at least 1.
        max: u32,
    },
    /// Uniform numbers in `[0, 1)`, as in Graph500: multiples of 2^-24, so an f32 holds them exactly.
    Unit,
    /// The lengths of a road-like network, as integers.
    Length,
}

/// The weights of a block.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum WeightColumn {
    /// No weights.
    #[default]
    None,
    /// Integers.
    Int(Vec<i64>),
    /// Numbers in `[0, 1)`.
    Float(Vec<f64>),
}

/// Consecutive edges, as columns of equal length. An undirected edge occurs once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EdgeBlock {
    /// Source of each edge.
    pub sources: Vec<u64>,
    /// Target of each edge.
    pub targets: Vec<u64>,
    /// Weight of each edge.
    pub weights: WeightColumn,
}

/// Generates a graph block by block.
pub struct Generator {
    stream: Box<dyn GeneratedEdges>,
    weighting: Weighting,
    weights: RandomKey,
}

impl Generator {
    /// Prepares a model. Takes a few kilobytes for any size.
    ///
    /// ```
    /// use esker_graph::generate::{Generator, Model, RMat, Weighting};
    ///
    /// let model = Model::RMat(RMat::kronecker(10, 16)); // 2^10 vertices, 16 edges for each
    /// let generator = Generator::new(&model, Weighting::None, 42)?;
    /// assert_eq!((generator.num_vertices(), generator.num_edges()), (1024, 16384));
    /// let edges = generator.edges(); // all at once; `block` makes 65 536 at a time
    /// assert_eq!(edges.len(), 16384);
    /// # Ok::<(), esker_graph::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if the parameters contradict each other or exceed the range of ids.
    pub fn new(model: &Model, weighting: Weighting, seed: u64) -> Result<Self, Stop> {
        let stream: Box<dyn GeneratedEdges> = match model {
            Model::RMat(model) => Box::new(model.prepare(seed)?),
            Model::Uniform(model) => Box::new(model.prepare(seed)?),
            Model::BarabasiAlbert(model) => Box::new(model.prepare(seed)?),
            Model::WattsStrogatz(model) => Box::new(model.prepare(seed)?),
            Model::Grid(model) => Box::new(model.prepare()?),
            Model::Road(model) => Box::new(model.prepare(seed)?),
            Model::Path(num_vertices) => Box::new(regular::PathGraph::new(*num_vertices)?),
            Model::Star(num_vertices) => Box::new(regular::Star::new(*num_vertices)?),
            Model::Complete(num_vertices) => Box::new(regular::Complete::new(*num_vertices)?),
        };
        match weighting {
            Weighting::Int { max: 0 } => {
                Err(Stop::unsuitable("the largest weight is 0 but must be at least 1".to_owned()))
            }
            Weighting::Length if !stream.has_lengths() => Err(Stop::unsuitable(
                "cannot use lengths as weights: only road-like networks have lengths".to_owned(),
            )),
            _ => Ok(Self { stream, weighting, weights: RandomKey::new(seed, 0) }),
        }
    }

    /// Number of vertices; their ids are `0..num_vertices`, including vertices without edges.
    pub fn num_vertices(&self) -> u64 {
        self.stream.num_vertices()
    }

    /// Exact number of edges; an undirected edge counts once, and each duplicate counts.
    pub fn num_edges(&self) -> u64 {
        self.stream.num_edges()
    }

    /// Whether the edges are directed.
    pub fn is_directed(&self) -> bool {
        self.stream.is_directed()
    }

    /// The kind of weights.
    pub fn weighting(&self) -> Weighting {
        self.weighting
    }

    /// Number of blocks. A block has 65 536 edges, or fewer if slots have gaps or it is the last.
    pub fn num_blocks(&self) -> u64 {
        self.stream.num_slots().div_ceil(BLOCK_SLOTS)
    }

    /// Makes block `index` in `block`, reusing its memory.
    pub fn block(&self, index: u64, block: &mut EdgeBlock) {
        let first = index * BLOCK_SLOTS;
        let slots = first..first.saturating_add(BLOCK_SLOTS).min(self.stream.num_slots());
        block.sources.clear();
        block.targets.clear();
        self.stream.fill(slots.clone(), &mut block.sources, &mut block.targets);
        let slots = slots.filter(|&slot| !self.stream.has_gaps() || self.stream.edge(slot).is_some());
        match self.weighting {
            Weighting::None => block.weights = WeightColumn::None,
            Weighting::Int { max } => ints(&mut block.weights)
                .extend(slots.map(|slot| self.weights.sequence(slot).below(u64::from(max)) as i64 + 1)),
            Weighting::Length => ints(&mut block.weights).extend(slots.map(|slot| self.stream.length(slot))),
            Weighting::Unit => floats(&mut block.weights).extend(
                slots.map(|slot| (self.weights.sequence(slot).next_u64() >> 40) as f64 / f64::from(1 << 24)),
            ),
        }
    }

    /// All edges at once, for small graphs and tests. Memory: 8 bytes per edge, 16 with `id64`.
    pub fn edges(&self) -> Vec<(VertexId, VertexId, ())> {
        let mut edges = Vec::new();
        let mut block = EdgeBlock::default();
        for index in 0..self.num_blocks() {
            self.block(index, &mut block);
            let ends = block.sources.iter().zip(&block.targets);
            edges.extend(ends.map(|(&u, &v)| (vertex(u as usize), vertex(v as usize), ())));
        }
        edges
    }
}

/// Makes `weights` an empty integer column and returns it.
fn ints(weights: &mut WeightColumn) -> &mut Vec<i64> {
    if !matches!(weights, WeightColumn::Int(_)) {
        *weights = WeightColumn::Int(Vec::new());
    }
    let WeightColumn::Int(column) = weights else { unreachable!("the column was just created") };
    column.clear();
    column
}

/// Makes `weights` an empty float column and returns it.
fn floats(weights: &mut WeightColumn) -> &mut Vec<f64> {
    if !matches!(weights, WeightColumn::Float(_)) {
        *weights = WeightColumn::Float(Vec::new());
    }
    let WeightColumn::Float(column) = weights else { unreachable!("the column was just created") };
    column.clear();
    column
}
