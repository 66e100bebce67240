//! Graphs made from a seed, the same for any number of threads, streamed in blocks that need none of the others.
//!
//! A [`Model`] says what graph; a [`Generator`] makes its blocks. An edge depends on the seed and on its own number
//! alone, so nothing is ever held but the block that is being made.

mod random;
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
use crate::run::Stop;

use random::{Key, scale};
use stream::Stream;

pub use barabasi_albert::BarabasiAlbert;
pub use grid::{Grid, Road};
pub use rmat::RMat;
pub use uniform::Uniform;
pub use watts_strogatz::WattsStrogatz;

/// Edge numbers in a block: a mebibyte of ids.
const BLOCK_SLOTS: u64 = 1 << 16;

/// What graph to make.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// R-MAT, of which [`RMat::kronecker`] is Graph500's.
    RMat(RMat),
    /// G(n, m).
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
    /// A star of this many vertices, its centre included.
    Star(u64),
    /// All edges between this many vertices.
    Complete(u64),
}

/// What stands beside each generated edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Weighting {
    /// Nothing.
    #[default]
    None,
    /// Uniform integers `1..=max`, as in GAP (255).
    Int {
        /// The largest weight, at least 1.
        max: u32,
    },
    /// Uniform numbers in `[0, 1)`, as in Graph500: multiples of 2^-24, so an f32 holds them exactly.
    Unit,
    /// The lengths that a road-like network has of its own, in whole units.
    Length,
}

/// The weights of a block.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum WeightColumn {
    /// There are none.
    #[default]
    None,
    /// Integers.
    Int(Vec<i64>),
    /// Numbers in `[0, 1)`.
    Float(Vec<f64>),
}

/// Consecutive edges, as columns of equal length. An undirected edge stands once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EdgeBlock {
    /// Where each edge leaves.
    pub sources: Vec<u64>,
    /// Where it arrives.
    pub targets: Vec<u64>,
    /// Its weight.
    pub weights: WeightColumn,
}

/// A graph that is made block by block.
pub struct Generator {
    stream: Box<dyn Stream>,
    weighting: Weighting,
    weights: Key,
}

impl Generator {
    /// Prepares a model: a few kilobytes, whatever its size.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if the parameters make no sense together or ask for more than ids can number.
    pub fn new(model: &Model, weighting: Weighting, seed: u64) -> Result<Self, Stop> {
        let stream: Box<dyn Stream> = match model {
            Model::RMat(model) => Box::new(model.prepare(seed)?),
            Model::Uniform(model) => Box::new(model.prepare(seed)?),
            Model::BarabasiAlbert(model) => Box::new(model.prepare(seed)?),
            Model::WattsStrogatz(model) => Box::new(model.prepare(seed)?),
            Model::Grid(model) => Box::new(model.prepare()?),
            Model::Road(model) => Box::new(model.prepare(seed)?),
            Model::Path(num_vertices) => Box::new(regular::Path::new(*num_vertices)?),
            Model::Star(num_vertices) => Box::new(regular::Star::new(*num_vertices)?),
            Model::Complete(num_vertices) => Box::new(regular::Complete::new(*num_vertices)?),
        };
        match weighting {
            Weighting::Int { max: 0 } => {
                Err(Stop::Unsuitable("the largest weight is 0; it must be at least 1".to_owned()))
            }
            Weighting::Length if !stream.has_lengths() => {
                Err(Stop::Unsuitable("only road-like networks have lengths of their own".to_owned()))
            }
            _ => Ok(Self { stream, weighting, weights: Key::new(seed, 0) }),
        }
    }

    /// Number of vertices; their ids are `0..num_vertices`, with or without edges.
    pub fn num_vertices(&self) -> u64 {
        self.stream.num_vertices()
    }

    /// Number of edges, exactly; an undirected edge counts once, and so does each duplicate.
    pub fn num_edges(&self) -> u64 {
        self.stream.num_edges()
    }

    /// Whether the edges have a direction.
    pub fn is_directed(&self) -> bool {
        self.stream.is_directed()
    }

    /// What stands beside each edge.
    pub fn weighting(&self) -> Weighting {
        self.weighting
    }

    /// Number of blocks. One holds 65 536 edges, fewer where a family leaves some out, and at the end.
    pub fn num_blocks(&self) -> u64 {
        self.stream.num_slots().div_ceil(BLOCK_SLOTS)
    }

    /// Makes block `index` in place of what `block` held, whose memory is used again.
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
                .extend(slots.map(|slot| scale(self.weights.at(slot), u64::from(max)) as i64 + 1)),
            Weighting::Length => ints(&mut block.weights).extend(slots.map(|slot| self.stream.length(slot))),
            Weighting::Unit => floats(&mut block.weights)
                .extend(slots.map(|slot| (self.weights.at(slot) >> 40) as f64 / f64::from(1 << 24))),
        }
    }

    /// All edges at once, for small graphs and tests: memory 8 bytes an edge, 16 with `id64`.
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

/// The empty integer column in place of whatever was there.
fn ints(weights: &mut WeightColumn) -> &mut Vec<i64> {
    if !matches!(weights, WeightColumn::Int(_)) {
        *weights = WeightColumn::Int(Vec::new());
    }
    let WeightColumn::Int(column) = weights else { unreachable!("it was just made so") };
    column.clear();
    column
}

/// The empty float column in place of whatever was there.
fn floats(weights: &mut WeightColumn) -> &mut Vec<f64> {
    if !matches!(weights, WeightColumn::Float(_)) {
        *weights = WeightColumn::Float(Vec::new());
    }
    let WeightColumn::Float(column) = weights else { unreachable!("it was just made so") };
    column.clear();
    column
}
