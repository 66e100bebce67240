//! Selected edges and vertices of databases, as the input of an import, here or from another machine.
//!
//! A cluster of a database, a database of a cluster and a cluster of a cluster are imports of such portions.
//! Where a shard lies on another machine, its worker selects, and sends blocks as they travel in an exchange:
//! the bytes of edges, edges with the bits of their weights, vertices.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use arrow_array::ArrayRef;
use esker_format::{Error, PropertyRecord, Result};
use esker_graph::{Cancel, Direction, Run, vertex};
use esker_import::read::source::{
    BlockParser, EdgeBatch, IdKind, InputBlock, Numbers, Reader, Schema, id_at, id_column, text_column,
};
use esker_store::Version;
use esker_store::ids::ExternalId;
use esker_store::property::{PropertyValue, RemovedVertices};

use crate::disk::cluster::WEIGHT_NAME;
use crate::exchange::outbox::put_edge;
use crate::model::placement::Placement;
use crate::model::weights::WeightKind;
use crate::net::wire::{Taker, put_id, put_u64};

/// Vertices of a block.
const BLOCK_LEN: usize = 1 << 13;
/// Bytes of a block that travels, about.
const BLOCK_BYTES: usize = 1 << 18;

/// A database that is read.
pub(crate) struct DatabasePart {
    /// The number of the shard; 0 if it is no shard.
    shard: usize,
    pub(crate) version: Version,
    pub(crate) removed: RemovedVertices,
    weight: Option<PropertyRecord>,
}

impl DatabasePart {
    pub(crate) fn new(shard: usize, version: Version, run: &Run) -> Result<Self> {
        // Weights of a cluster are never missing.
        version.view().expect_weights(run)?;
        let (removed, weight) = (version.removed(run)?.clone(), version.weight_property().cloned());
        Ok(Self { shard, version, removed, weight })
    }
}

/// Which edges and vertices of the parts are taken.
#[derive(Clone)]
pub(crate) struct Selection {
    /// Which part has an edge. `None`: there is only one part.
    pub(crate) from: Option<Placement>,
    /// The shard that is made, and where edges lie in the new cluster; `None`: everything is taken.
    pub(crate) to: Option<(usize, Placement)>,
    pub(crate) directed: bool,
}

impl Selection {
    fn has_vertex(&self, part: usize, id: ExternalId<'_>) -> bool {
        self.from.as_ref().is_none_or(|from| from.owners().of(id) == part)
            && self.to.as_ref().is_none_or(|(shard, to)| to.owners().of(id) == *shard)
    }

    /// Whether edges in the list of a source can be selected: others repeat edges that are selected
    /// elsewhere.
    fn has_source(&self, part: usize, source: ExternalId<'_>) -> bool {
        let is_counted = self.from.as_ref().is_none_or(|from| from.counts_list(part, source));
        is_counted
            && self.to.as_ref().is_none_or(|(shard, to)| !self.directed || to.counts_list(*shard, source))
    }

    /// Whether an edge is selected, if [`Self::has_source`] holds for its source. An undirected one is in the
    /// lists of both ends.
    fn has_edge(&self, source: ExternalId<'_>, target: ExternalId<'_>) -> bool {
        let is_wanted = |(shard, to): &(usize, Placement)| {
            let place = to.of_edge(source, target);
            place.shard == *shard || place.other == Some(*shard)
        };
        (self.directed || source <= target) && self.to.as_ref().is_none_or(is_wanted)
    }
}

/// The schema of what is selected.
fn schema_of(is_text: bool, directed: bool, weights: Option<WeightKind>) -> Schema {
    Schema {
        operation: None,
        kind: None,
        format: "database",
        ids: if is_text { IdKind::Text } else { IdKind::Int },
        properties: weights.iter().map(|_| WEIGHT_NAME.to_owned()).collect(),
        types: weights.iter().map(|kind| Some(kind.element().into())).collect(),
        weight: weights.map(|_| 0),
        directed: Some(directed),
        time: None,
        both_ends: false,
        input_bytes: None,
    }
}

/// Reads selected edges and vertices. A block is a range of vertices of a part: its `file` is the part, its
/// `first_line` the first vertex.
pub(crate) struct PartsReader {
    schema: Schema,
    parser: Arc<PartsParser>,
    next: (usize, usize),
}

struct PartsParser {
    parts: Arc<Vec<DatabasePart>>,
    selection: Selection,
    weights: Option<WeightKind>,
}

impl PartsReader {
    pub(crate) fn new(
        parts: Arc<Vec<DatabasePart>>,
        selection: Selection,
        weights: Option<WeightKind>,
    ) -> Self {
        let is_text = parts.iter().any(|part| part.version.ids().is_text());
        let schema = schema_of(is_text, selection.directed, weights);
        Self { schema, parser: Arc::new(PartsParser { parts, selection, weights }), next: (0, 0) }
    }

    /// Hands over all blocks as they travel.
    ///
    /// # Errors
    /// Those of the parts and of `give`; cancellation.
    pub(crate) fn send(mut self, cancel: &Cancel, give: &mut dyn FnMut(Vec<u8>) -> Result<()>) -> Result<()> {
        let parser = self.parser();
        while let Some(block) = self.next_block()? {
            cancel.check()?;
            encode(&parser.parse(block)?, self.parser.weights, give)?;
        }
        Ok(())
    }
}

impl Reader for PartsReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as Arc<dyn BlockParser>
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let (mut part, mut first) = self.next;
        while self.parser.parts.get(part).is_some_and(|part| first >= part.version.num_vertices()) {
            (part, first) = (part + 1, 0);
        }
        self.next = (part, first + BLOCK_LEN);
        let block = InputBlock { bytes: Vec::new(), first_line: first as u64, file: part, input_bytes: 0 };
        Ok((part < self.parser.parts.len()).then_some(block))
    }
}

impl BlockParser for PartsParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let first = block.first_line as usize;
        let part = &self.parts[block.file];
        let range = first..(first + BLOCK_LEN).min(part.version.num_vertices());
        match part.version.ids().is_text() {
            true => Ok(self.gather(part, range, text_of)?.finish(text_column::<Vec<u8>>)),
            false => Ok(self.gather(part, range, integer_of)?.finish(id_column)),
        }
    }
}

fn text_of(id: ExternalId<'_>) -> Result<Vec<u8>> {
    match id {
        ExternalId::Text(text) => Ok(text.to_vec()),
        ExternalId::Int(_) => Err(Error::invalid("a shard has integer ids among texts".to_owned())),
    }
}

fn integer_of(id: ExternalId<'_>) -> Result<u64> {
    match id {
        ExternalId::Int(id) => Ok(id),
        ExternalId::Text(_) => Err(Error::invalid("a shard has text ids among integers".to_owned())),
    }
}

impl PartsParser {
    fn gather<T>(
        &self,
        part: &DatabasePart,
        range: Range<usize>,
        own: impl Fn(ExternalId<'_>) -> Result<T>,
    ) -> Result<BatchColumns<T>> {
        let (version, ids) = (&part.version, part.version.ids());
        let mut found = BatchColumns::new(self.weights);
        for v in range.map(vertex).filter(|&v| !part.removed.is_removed(v)) {
            let id = ids.external_of(v)?;
            if self.selection.has_vertex(part.shard, id) {
                found.vertices.push(own(id)?);
            }
            if !self.selection.has_source(part.shard, id) {
                continue;
            }
            let list = version.edges(Direction::Out, v)?;
            for (place, &target) in list.targets().iter().enumerate() {
                let other = ids.external_of(target)?;
                if !self.selection.has_edge(id, other) {
                    continue;
                }
                found.sources.push(own(id)?);
                found.targets.push(own(other)?);
                if let Some(weight) = &part.weight {
                    push(
                        &mut found.weights,
                        PropertyValue::from_stored(weight, list.bits(weight.number, place)?),
                    );
                }
            }
        }
        Ok(found)
    }
}

/// The columns of a batch.
struct BatchColumns<T> {
    sources: Vec<T>,
    targets: Vec<T>,
    vertices: Vec<T>,
    weights: Numbers,
    is_weighted: bool,
}

impl<T> BatchColumns<T> {
    fn new(kind: Option<WeightKind>) -> Self {
        let weights = match kind {
            Some(WeightKind::Float) => Numbers::Float(Vec::new()),
            _ => Numbers::Int(Vec::new()),
        };
        let (sources, targets, vertices) = (Vec::new(), Vec::new(), Vec::new());
        Self { sources, targets, vertices, weights, is_weighted: kind.is_some() }
    }

    fn finish(self, column: impl Fn(Vec<T>) -> ArrayRef) -> EdgeBatch {
        EdgeBatch {
            source: column(self.sources),
            target: column(self.targets),
            properties: self.is_weighted.then(|| self.weights.finish()).into_iter().collect(),
            vertices: Some(column(self.vertices)),
            ..EdgeBatch::of_integers(Vec::new(), Vec::new(), 0)
        }
    }
}

/// Appends a weight to the numbers of its kind.
fn push(numbers: &mut Numbers, weight: PropertyValue<'_>) {
    match (numbers, weight) {
        (Numbers::Int(numbers), PropertyValue::I32(weight)) => numbers.push(weight.into()),
        (Numbers::Int(numbers), PropertyValue::I64(weight)) => numbers.push(weight),
        (Numbers::Float(numbers), PropertyValue::F32(weight)) => numbers.push(weight.into()),
        (Numbers::Float(numbers), PropertyValue::F64(weight)) => numbers.push(weight),
        (_, other) => unreachable!("the weight {other} is of another kind than the weights"),
    }
}

/// Hands over a batch as it travels, in blocks that a message can hold.
fn encode(
    batch: &EdgeBatch,
    weights: Option<WeightKind>,
    give: &mut dyn FnMut(Vec<u8>) -> Result<()>,
) -> Result<()> {
    let bits = match (weights, batch.properties.first()) {
        (Some(kind), Some(column)) => Some(kind.bits_of(column).map_err(|bad| Error::invalid(bad.reason))?),
        _ => None,
    };
    let (mut edges, mut vertices) = (Vec::new(), Vec::new());
    for row in 0..batch.len() {
        let weight = bits.as_ref().map(|bits| bits[row]);
        put_edge(&mut edges, id_at(&batch.source, row), id_at(&batch.target, row), weight);
        if edges.len() >= BLOCK_BYTES {
            give(block_of(&mut edges, &mut vertices))?;
        }
    }
    for row in 0..batch.vertices.as_ref().map_or(0, |column| column.len()) {
        batch.vertices.iter().for_each(|column| put_id(&mut vertices, id_at(column, row)));
        if vertices.len() >= BLOCK_BYTES {
            give(block_of(&mut edges, &mut vertices))?;
        }
    }
    give(block_of(&mut edges, &mut vertices))
}

fn block_of(edges: &mut Vec<u8>, vertices: &mut Vec<u8>) -> Vec<u8> {
    let mut block = Vec::with_capacity(8 + edges.len() + vertices.len());
    put_u64(&mut block, edges.len() as u64);
    block.append(edges);
    block.append(vertices);
    block
}

/// Reads blocks that workers on other machines send, until the thread that asks them sends `None`. A thread
/// that has died sends nothing, which is not the end of the input.
pub(crate) struct SentReader {
    schema: Schema,
    parser: Arc<SentParser>,
    blocks: Receiver<Result<Option<Vec<u8>>>>,
    is_over: bool,
}

struct SentParser {
    is_text: bool,
    weights: Option<WeightKind>,
}

impl SentReader {
    pub(crate) fn new(
        blocks: Receiver<Result<Option<Vec<u8>>>>,
        is_text: bool,
        directed: bool,
        weights: Option<WeightKind>,
    ) -> Self {
        let schema = schema_of(is_text, directed, weights);
        Self { schema, parser: Arc::new(SentParser { is_text, weights }), blocks, is_over: false }
    }
}

impl Reader for SentReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as Arc<dyn BlockParser>
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let block = |bytes| InputBlock { bytes, first_line: 0, file: 0, input_bytes: 0 };
        if self.is_over {
            return Ok(None);
        }
        let sent = self.blocks.recv().map_err(|_| {
            Error::invalid(
                "the thread that asks the machines has died before the end of the input: this is a mistake in Esker; report it"
                    .to_owned(),
            )
        })??;
        self.is_over = sent.is_none();
        Ok(sent.map(block))
    }
}

impl BlockParser for SentParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        match self.is_text {
            true => Ok(self.decode(&block.bytes, text_of)?.finish(text_column::<Vec<u8>>)),
            false => Ok(self.decode(&block.bytes, integer_of)?.finish(id_column)),
        }
    }
}

impl SentParser {
    fn decode<T>(&self, block: &[u8], own: impl Fn(ExternalId<'_>) -> Result<T>) -> Result<BatchColumns<T>> {
        let (mut taker, mut found) = (Taker(block), BatchColumns::new(self.weights));
        let edge_bytes = taker.u64()? as usize;
        let mut edges = Taker(taker.bytes(edge_bytes)?);
        while !edges.is_empty() {
            found.sources.push(own(edges.id(self.is_text)?)?);
            found.targets.push(own(edges.id(self.is_text)?)?);
            match (self.weights, &mut found.weights) {
                (None, _) => {}
                (Some(_), Numbers::Float(weights)) => weights.push(f64::from_bits(edges.u64()?)),
                (Some(_), Numbers::Int(weights)) => weights.push(edges.u64()? as i64),
                (Some(_), Numbers::Unsigned(weights)) => weights.push(edges.u64()?),
            }
        }
        while !taker.is_empty() {
            found.vertices.push(own(taker.id(self.is_text)?)?);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    /// An import succeeded with a part of the graph.
    #[test]
    fn a_thread_that_dies_does_not_end_the_input() {
        let (sender, blocks) = sync_channel(4);
        let mut reader = SentReader::new(blocks, false, true, None);
        let asking = std::thread::spawn(move || {
            sender.send(Ok(Some(vec![0; 8]))).expect("send");
            std::panic::resume_unwind(Box::new("a mistake"));
        });
        assert!(asking.join().is_err());
        assert!(reader.next_block().expect("what came before").is_some());
        let Err(error) = reader.next_block() else { panic!("it took the death for the end") };
        assert!(error.to_string().contains("has died before the end of the input"), "{error}");
    }

    #[test]
    fn the_end_of_the_input_stays_its_end() {
        let (sender, blocks) = sync_channel(4);
        let mut reader = SentReader::new(blocks, false, true, None);
        sender.send(Ok(Some(vec![0; 8]))).and_then(|()| sender.send(Ok(None))).expect("send");
        drop(sender);
        assert!(reader.next_block().expect("a block").is_some());
        for _ in 0..2 {
            assert!(reader.next_block().expect("the end").is_none());
        }
    }
}
