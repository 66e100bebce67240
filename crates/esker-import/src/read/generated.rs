//! A generator as an input: no file in between.

use std::sync::Arc;

use esker_format::Result;
use esker_graph::generate::{EdgeBlock, Generator, WeightColumn, Weighting};

use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Numbers, Reader, Schema};

/// The name of the format.
pub(crate) const GENERATOR: &str = "generator";

/// Bytes that stand for an edge in progress: two ids.
const EDGE_BYTES: u64 = 16;

/// Reads the edges of a generator. Blocks carry nothing but their number: the parser makes the edges.
pub struct GeneratorReader {
    schema: Schema,
    generator: Arc<Generator>,
    next: u64,
}

impl GeneratorReader {
    /// From the first block on.
    pub fn new(generator: Generator) -> Self {
        let weighted = generator.weighting() != Weighting::None;
        let schema = Schema {
            operation: None,
            kind: None,
            format: GENERATOR,
            ids: IdKind::Numbered { first: 0, num_vertices: generator.num_vertices() },
            properties: if weighted { vec!["weight".to_owned()] } else { Vec::new() },
            weight: weighted.then_some(0),
            types: Vec::new(),
            directed: Some(generator.is_directed()),
            time: None,
            both_ends: false,
            input_bytes: Some(generator.num_edges() * EDGE_BYTES),
        };
        Self { schema, generator: Arc::new(generator), next: 0 }
    }
}

impl Reader for GeneratorReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::new(GeneratorParser(Arc::clone(&self.generator)))
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let number = self.next;
        if number == self.generator.num_blocks() {
            return Ok(None);
        }
        self.next += 1;
        Ok(Some(InputBlock { bytes: Vec::new(), first_line: number, file: 0, input_bytes: 0 }))
    }
}

struct GeneratorParser(Arc<Generator>);

impl BlockParser for GeneratorParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let mut edges = EdgeBlock::default();
        self.0.block(block.first_line, &mut edges);
        let input_bytes = edges.sources.len() as u64 * EDGE_BYTES;
        Ok(EdgeBatch {
            properties: match edges.weights {
                WeightColumn::None => Vec::new(),
                WeightColumn::Int(weights) => vec![Numbers::Int(weights).finish()],
                WeightColumn::Float(weights) => vec![Numbers::Float(weights).finish()],
            },
            ..EdgeBatch::of_integers(edges.sources, edges.targets, input_bytes)
        })
    }
}
