//! A generated graph as a stream of edges: from the generator to a file without a database between.

use esker_format::Result;
use esker_graph::generate::{EdgeBlock, Generator, WeightColumn, Weighting};

use super::graph::{EdgeStream, ExportBlock, PropertyInfo, PropertyKind, StreamShape, no_texts};
use crate::source::Numbers;

/// The edges of a generator. Memory: one of its blocks.
pub struct GeneratorExport<'a> {
    generator: &'a Generator,
    next: u64,
}

impl<'a> GeneratorExport<'a> {
    /// Begins at the first edge.
    pub fn new(generator: &'a Generator) -> Self {
        Self { generator, next: 0 }
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
            dictionaries: kind.iter().map(|_| no_texts()).collect(),
        }
    }

    fn next(&mut self) -> Result<Option<ExportBlock>> {
        while self.next < self.generator.num_blocks() {
            let mut made = EdgeBlock::default();
            self.generator.block(self.next, &mut made);
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
