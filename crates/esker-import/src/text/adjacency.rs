//! Reads the adjacency graphs of Ligra and GBBS: the word `AdjacencyGraph` or `WeightedAdjacencyGraph`, then
//! n, m, n offsets, m targets, and m weights if weighted; 0-based, one number a line.
//!
//! J. Shun, G. Blelloch, "Ligra: A Lightweight Graph Processing Framework for Shared Memory", PPoPP 2013, and
//! the readme of its code. Memory: 8 bytes a vertex for the offsets. The weights lie behind all targets, so a
//! weighted file is read at two places at once, and cannot come through a pipe.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{Result, value::decimal};
use esker_graph::Message;

use super::blocks::{excerpt, input_error};
use super::column::NumberColumn;
use super::reasons::{not_id, not_in_range};
use super::words::InputWords;
use crate::read::format::{Pick, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, first_word, one, without_mark};
use crate::read::source::{
    BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Rejected, Schema, WideInteger,
};

/// Bytes before the text of a block: the number of its first edge, and the length of its targets.
const PREFIX_BYTES: usize = 16;

/// Ligra and GBBS: `AdjacencyGraph` or `WeightedAdjacencyGraph`, then one number a line.
pub(crate) static ADJ: InputFormat = InputFormat {
    aliases: &["adjacency", "ligra", "gbbs"],
    endings: &["adj"],
    begins: |head| matches!(first_word(without_mark(head)), b"AdjacencyGraph" | b"WeightedAdjacencyGraph"),
    ..InputFormat::new("adj", "Ligra adjacency graph", Choices::Nothing, open)
};

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let reader = AdjacencyReader::open(one(inputs, ADJ.title)?, head, options)?;
    Ok(OpenedInput::titled(Box::new(reader), inputs, &ADJ))
}

/// The reader.
struct AdjacencyReader {
    schema: Schema,
    targets: InputWords,
    /// A second look at the same file, at its weights.
    weights: Option<InputWords>,
    next_edge: u64,
    num_edges: u64,
    block_words: u64,
    parser: Arc<AdjacencyParser>,
}

struct AdjacencyParser {
    path: Arc<PathBuf>,
    /// Where the list of each vertex begins.
    offsets: Vec<u64>,
    weighted: bool,
}

impl AdjacencyReader {
    /// Opens one file that begins with `head`, and reads its offsets.
    ///
    /// # Errors
    /// If it is cut short, its offsets do not ascend, or it is weighted and cannot be opened twice.
    fn open(input: &Input, head: InputHead, options: &ReadOptions) -> Result<Self> {
        let path = input.path();
        let mut words = InputWords::new(head);
        let is_weighted = match words.next_word()? {
            b"AdjacencyGraph" => false,
            b"WeightedAdjacencyGraph" => true,
            other => {
                let reason = "the first word is neither AdjacencyGraph nor WeightedAdjacencyGraph";
                return Err(input_error(&path, None, other, reason));
            }
        };
        let num_vertices = words.next_count("the number of vertices")?;
        let num_edges = words.next_count("the number of edges")?;
        let offsets = read_offsets(&mut words, num_vertices, num_edges)?;
        let weighted = is_weighted && options.weight != Pick::Skip;
        let weights = if weighted {
            if !input.is_repeatable() {
                let reason = "a weighted adjacency graph is read at two places at once, which a pipe does not allow; save it as a file";
                return Err(input_error(&path, None, b"", reason));
            }
            let mut weights = InputWords::new(InputHead::read(input)?);
            weights.skip(num_vertices.saturating_add(num_edges).saturating_add(3), "targets")?;
            Some(weights)
        } else {
            None
        };
        let schema = Schema {
            operation: None,
            kind: None,
            format: ADJ.name,
            ids: IdKind::Numbered { first: 0, num_vertices },
            properties: if weighted { vec!["weight".into()] } else { Vec::new() },
            weight: weighted.then_some(0),
            types: Vec::new(),
            directed: None,
            time: None,
            both_ends: false,
            input_bytes: input.stored_bytes(),
        };
        // A file that has weights goes on behind its targets.
        words.set_last(!is_weighted);
        let block_words = (options.block_bytes as u64 / 8).max(1);
        let parser = Arc::new(AdjacencyParser { path, offsets, weighted });
        Ok(Self { schema, targets: words, weights, next_edge: 0, num_edges, block_words, parser })
    }
}

fn read_offsets(words: &mut InputWords, num_vertices: u64, num_edges: u64) -> Result<Vec<u64>> {
    // Grows as offsets come: the header may promise more than there is.
    let mut offsets: Vec<u64> = Vec::new();
    for vertex in 0..num_vertices {
        let offset = words.next_count("an offset")?;
        let least = offsets.last().copied().unwrap_or(0);
        if offset < least || offset > num_edges || vertex == 0 && offset != 0 {
            let reason = match vertex {
                0 => format!("the first offset is {offset}, not 0"),
                _ => {
                    format!("the offset of vertex {vertex} is {offset}, not between {least} and {num_edges}")
                }
            };
            return Err(input_error(words.path(), None, b"", format!("{reason}; the file is damaged")));
        }
        offsets.push(offset);
    }
    if num_vertices == 0 && num_edges > 0 {
        return Err(input_error(words.path(), None, b"", "the header promises edges but no vertices"));
    }
    Ok(offsets)
}

impl Reader for AdjacencyReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let count = self.block_words.min(self.num_edges - self.next_edge);
        if count == 0 {
            self.targets.check_end(self.num_edges)?;
            if let Some(weights) = &mut self.weights {
                weights.set_last(true);
                weights.check_end(self.num_edges)?;
            }
            return Ok(None);
        }
        let mut bytes = vec![0; PREFIX_BYTES];
        let later = self.num_edges - self.next_edge - count;
        self.targets.take(count, later, "targets", &mut bytes)?;
        bytes[..8].copy_from_slice(&self.next_edge.to_le_bytes());
        let length = (bytes.len() - PREFIX_BYTES) as u64;
        bytes[8..PREFIX_BYTES].copy_from_slice(&length.to_le_bytes());
        let mut input_bytes = self.targets.take_stored_bytes();
        if let Some(weights) = &mut self.weights {
            weights.take(count, later, "weights", &mut bytes)?;
            // What the second look reads beyond the first counts; what both read counts once.
            input_bytes = input_bytes.max(weights.take_stored_bytes());
        }
        let first_line = self.next_edge + self.parser.offsets.len() as u64 + 4;
        self.next_edge += count;
        Ok(Some(InputBlock { bytes, first_line, file: 0, input_bytes }))
    }
}

impl BlockParser for AdjacencyParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| block.bytes[at + i]));
        let (first_edge, length) = (word(0), word(8) as usize);
        let (targets, weights) = block.bytes[PREFIX_BYTES..].split_at(length);
        let mut vertex = self.offsets.partition_point(|&offset| offset <= first_edge) as u64;
        let mut weights = super::words::split(weights);
        let (mut sources, mut ends, mut values) = (Vec::new(), Vec::new(), NumberColumn::with_capacity(0));
        let (mut rejected, mut wide) = (Vec::new(), None);
        for (edge, target) in (first_edge..).zip(super::words::split(targets)) {
            while self.offsets.get(vertex as usize).is_some_and(|&offset| offset <= edge) {
                vertex += 1;
            }
            let weight = weights.next();
            match self.edge(target, weight) {
                Ok((target, weight)) => {
                    sources.push(vertex - 1);
                    ends.push(target);
                    if let Some(weight) = weight {
                        let line = block.first_line + (edge - first_edge);
                        values.push(weight).map_err(|mixed| {
                            input_error(&self.path, Some(line), b"", mixed.reason("weight"))
                        })?;
                        if let (None, Some(value)) = (&wide, values.wide()) {
                            let (path, row) = (Arc::clone(&self.path), ends.len() - 1);
                            wide = Some(WideInteger { property: 0, row, value, path, line });
                        }
                    }
                }
                Err(reason) => {
                    let (path, line) = (Arc::clone(&self.path), block.first_line + (edge - first_edge));
                    let edges_before = sources.len();
                    rejected.push(Rejected {
                        path,
                        line,
                        text: excerpt(target).into(),
                        reason,
                        edges_before,
                    });
                }
            }
        }
        Ok(EdgeBatch {
            properties: if self.weighted { vec![values.numbers.finish()] } else { Vec::new() },
            rejected,
            wide: wide.into_iter().collect(),
            ..EdgeBatch::of_integers(sources, ends, block.input_bytes)
        })
    }
}

impl AdjacencyParser {
    fn edge(
        &self,
        target: &[u8],
        weight: Option<&[u8]>,
    ) -> std::result::Result<(u64, Option<decimal::Number>), Message> {
        let id = decimal::id(target).map_err(|why| not_id("target", why, false))?;
        // There is an edge, so there is a vertex.
        let ids = 0..=self.offsets.len() as u64 - 1;
        if !ids.contains(&id) {
            return Err(not_in_range("target", id, &ids));
        }
        let weight = weight.map(|word| {
            decimal::number(word).map_err(|why| format!("its weight {:?} {}", excerpt(word), why.reason()))
        });
        Ok((id, weight.transpose()?))
    }
}
