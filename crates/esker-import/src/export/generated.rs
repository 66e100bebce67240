//! A generated graph as a stream of edges: from the generator to a file without a database between.

use esker_format::Result;
use esker_graph::generate::{EdgeBlock as Made, Generator, WeightColumn, Weighting};

use super::graph::{EdgeBlock, EdgeStream, EdgeValues, PropertyInfo, PropertyKind, StreamShape};
use crate::source::TextColumn;

/// The edges of a generator. Memory: one of its blocks.
pub struct GeneratorExport<'a> {
    generator: &'a Generator,
    next: u64,
    made: Made,
}

impl<'a> GeneratorExport<'a> {
    /// Begins at the first edge.
    pub fn new(generator: &'a Generator) -> Self {
        Self { generator, next: 0, made: Made::default() }
    }
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
            edges: self.generator.num_edges(),
            directed: self.generator.is_directed(),
            properties: kind.iter().map(|&kind| PropertyInfo { name: "weight".to_owned(), kind }).collect(),
            weight: kind.map(|_| 0),
            dictionaries: kind.iter().map(|_| TextColumn::default()).collect(),
        }
    }

    fn next(&mut self, block: &mut EdgeBlock) -> Result<()> {
        while block.is_empty() && self.next < self.generator.num_blocks() {
            self.generator.block(self.next, &mut self.made);
            self.next += 1;
            block.sources.extend_from_slice(&self.made.sources);
            block.targets.extend_from_slice(&self.made.targets);
            match (&self.made.weights, block.properties.first_mut()) {
                (WeightColumn::Int(made), Some(EdgeValues::Int(values))) => values.extend_from_slice(made),
                (WeightColumn::Float(made), Some(EdgeValues::Float(values))) => {
                    values.extend_from_slice(made);
                }
                _ => {}
            }
        }
        Ok(())
    }
}
