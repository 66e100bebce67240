//! The reader of edges that are handed over.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use esker::change::Target;
use esker::import::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema};
use esker::store::Result;
use parking_lot::Mutex;

/// Edges that were handed over together, in blocks.
pub(super) type HandedEdges = VecDeque<EdgeBatch>;

/// The block that is parsed next: one thread calls both the reader and the parser.
type Current = Arc<Mutex<Option<EdgeBatch>>>;

/// Reads the chunks that are handed over, which are converted and checked already.
pub(super) struct ChunkReader {
    schema: Schema,
    chunks: Receiver<HandedEdges>,
    waiting: HandedEdges,
    current: Current,
}

struct ChunkParser(Current);

impl ChunkReader {
    /// Reads what comes through a channel as edges of a database.
    pub(super) fn new(schema: Schema, chunks: Receiver<HandedEdges>) -> Self {
        Self { schema, chunks, waiting: HandedEdges::new(), current: Arc::default() }
    }
}

impl Reader for ChunkReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::new(ChunkParser(Arc::clone(&self.current)))
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        loop {
            if let Some(block) = self.waiting.pop_front() {
                *self.current.lock() = Some(block);
                return Ok(Some(InputBlock { bytes: Vec::new(), first_line: 0, file: 0, input_bytes: 0 }));
            }
            let Ok(chunk) = self.chunks.recv() else { return Ok(None) };
            self.waiting = chunk;
        }
    }
}

impl BlockParser for ChunkParser {
    fn parse(&self, _block: InputBlock) -> Result<EdgeBatch> {
        let mut current = self.0.lock();
        Ok(current.take().unwrap_or_else(|| EdgeBatch::of_integers(Vec::new(), Vec::new(), 0)))
    }
}

/// The columns of a stream: those of the edges of a database.
pub(super) fn schema_of(target: &Target, says_operation: bool) -> Schema {
    let properties: Vec<_> = target.given_properties().collect();
    let operation = says_operation.then(|| "operation".to_owned());
    Schema {
        operation: operation.as_ref().map(|_| properties.len()),
        kind: None,
        format: "columns",
        ids: if target.text_ids { IdKind::Text } else { IdKind::Int },
        properties: properties.iter().map(|property| property.name.clone()).chain(operation).collect(),
        types: vec![None; properties.len() + usize::from(says_operation)],
        weight: properties.iter().position(|property| property.weight),
        directed: None,
        time: None,
        both_ends: false,
        input_bytes: None,
    }
}
