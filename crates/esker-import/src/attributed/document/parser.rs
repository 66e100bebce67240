//! What turns elements into batches.

use esker_format::Result;
use esker_graph::Message;

use super::sample::Sampled;
use super::syntax::Numbering;
use crate::attributed::rows::Elements;
use crate::read::prepared::PreparedBatches;
use crate::read::source::{BlockParser, EdgeBatch, InputBlock};

/// What is known of all elements, and the batches that were read and not yet asked for.
pub(super) struct DocumentParser {
    pub(super) elements: Elements,
    pub(super) sampled: Sampled,
    /// The attribute of vertices that is their id.
    pub(super) id: Option<String>,
    pub(super) numbering: Option<Numbering>,
    /// Names of attributes of edges that are not kept.
    pub(super) left_out: Vec<String>,
    pub(super) batches: PreparedBatches,
}

impl BlockParser for DocumentParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        self.batches.take(&block)
    }

    fn warnings(&self) -> Vec<Message> {
        self.elements.told()
    }
}
