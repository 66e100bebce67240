//! A generated graph as a stream of edges: from the generator to a file without a database between.

use esker_format::{LogicalType, Result};
use esker_graph::generate::{EdgeBlock, Generator, WeightColumn, Weighting};

use super::graph::{EdgeStream, ExportBlock, PropertyInfo, PropertyKind, StreamShape, no_texts};
use crate::read::source::Numbers;

/// The edges of a generator. Memory: one of its blocks.
pub(crate) struct GeneratorExport<'a> {
    generator: &'a Generator,
    next: u64,
    /// Edges from a vertex to itself, if each other edge is given at both of its ends.
    loops: Option<u64>,
}

impl<'a> GeneratorExport<'a> {
    /// Begins at the first edge; each edge is given at both of its ends if that is asked for.
    pub(crate) fn new(generator: &'a Generator, both_ends: bool) -> Self {
        Self { generator, next: 0, loops: both_ends.then(|| count_loops(generator)) }
    }
}

fn count_loops(generator: &Generator) -> u64 {
    let mut made = EdgeBlock::default();
    let loops_of = |block| {
        generator.block(block, &mut made);
        made.sources.iter().zip(&made.targets).filter(|(source, target)| source == target).count() as u64
    };
    (0..generator.num_blocks()).map(loops_of).sum()
}

/// Adds the other direction of each edge, but for those from a vertex to itself.
fn reverse(block: &mut EdgeBlock) {
    let others: Vec<usize> =
        (0..block.sources.len()).filter(|&i| block.sources[i] != block.targets[i]).collect();
    let (sources, targets): (Vec<u64>, Vec<u64>) =
        others.iter().map(|&i| (block.targets[i], block.sources[i])).unzip();
    block.sources.extend(sources);
    block.targets.extend(targets);
    match &mut block.weights {
        WeightColumn::None => {}
        WeightColumn::Int(weights) => repeat(weights, &others),
        WeightColumn::Float(weights) => repeat(weights, &others),
    }
}

fn repeat<T: Copy>(weights: &mut Vec<T>, places: &[usize]) {
    let repeated: Vec<T> = places.iter().map(|&place| weights[place]).collect();
    weights.extend(repeated);
}

impl EdgeStream for GeneratorExport<'_> {
    fn shape(&self) -> StreamShape {
        let kind = match self.generator.weighting() {
            Weighting::None => None,
            // Multiples of 2^-24: an f32 holds them.
            Weighting::Unit => Some(PropertyKind::F32),
            _ => Some(PropertyKind::I32),
        };
        StreamShape {
            vertices: self.generator.num_vertices(),
            edges: match self.loops {
                None => self.generator.num_edges(),
                Some(loops) => 2 * self.generator.num_edges() - loops,
            },
            directed: self.generator.is_directed(),
            properties: kind
                .iter()
                .map(|&kind| PropertyInfo {
                    name: "weight".to_owned(),
                    kind,
                    logical: LogicalType::Number,
                    optional: false,
                })
                .collect(),
            weight: kind.map(|_| 0),
            dictionaries: kind.iter().map(|_| no_texts()).collect(),
        }
    }

    fn next(&mut self) -> Result<Option<ExportBlock>> {
        while self.next < self.generator.num_blocks() {
            let mut made = EdgeBlock::default();
            self.generator.block(self.next, &mut made);
            if self.loops.is_some() {
                reverse(&mut made);
            }
            self.next += 1;
            if !made.targets.is_empty() {
                let properties = match made.weights {
                    WeightColumn::None => Vec::new(),
                    WeightColumn::Int(weights) => vec![Numbers::Int(weights).finish()],
                    WeightColumn::Float(weights) => vec![Numbers::Float(weights).finish()],
                };
                return Ok(Some(ExportBlock { sources: made.sources, targets: made.targets, properties }));
            }
        }
        Ok(None)
    }
}
