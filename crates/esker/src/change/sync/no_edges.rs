//! An input without edges.

use std::sync::Arc;

use esker_import::read::source::{BlockParser, EdgeBatch, InputBlock, Reader, Schema};
use esker_store::Result;

/// An input without edges, for databases that get theirs later.
pub(crate) struct NoEdges {
    pub(crate) schema: Schema,
}

impl Reader for NoEdges {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::new(NoBlocks)
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        Ok(None)
    }
}

struct NoBlocks;

impl BlockParser for NoBlocks {
    fn parse(&self, _: InputBlock) -> Result<EdgeBatch> {
        Ok(EdgeBatch::of_integers(Vec::new(), Vec::new(), 0))
    }
}
