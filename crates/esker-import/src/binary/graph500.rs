//! Graph500's binary edges: 12 bytes (48 bits for each end) or 16 bytes (two 64-bit integers), little-endian,
//! one after another without a header. Undirected, each edge once.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{Message, Setting, message};

use super::region::unusable;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::{Input, InputStream};
use crate::read::input_format::{Choices, InputFormat, OpenedInput};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Rejected, Schema};

/// Both ends in 12 bytes, 48 bits each.
pub(crate) static GRAPH500: InputFormat = InputFormat {
    endings: &["graph500", "packed"],
    ..InputFormat::new("graph500", "Graph500 edges of 12 bytes", Choices::Nothing, open_packed)
};

/// Two integers of 64 bits.
pub(crate) static GRAPH500_64: InputFormat =
    InputFormat::new("graph500-64", "Graph500 edges of 16 bytes", Choices::Nothing, open_wide);

fn open_packed(inputs: &[Input], _head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    Ok(OpenedInput::titled(open_graph500(inputs, &GRAPH500, 12, options), inputs, &GRAPH500))
}

fn open_wide(inputs: &[Input], _head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    Ok(OpenedInput::titled(open_graph500(inputs, &GRAPH500_64, 16, options), inputs, &GRAPH500_64))
}

/// Reads Graph500 edges from files, or standard input, compressed or not.
fn open_graph500(
    inputs: &[Input],
    format: &InputFormat,
    edge_bytes: usize,
    options: &ReadOptions,
) -> Box<dyn Reader> {
    let mut input_bytes = Some(0);
    for input in inputs {
        input_bytes = input_bytes.zip(input.stored_bytes()).map(|(sum, bytes)| sum + bytes);
    }
    let schema = Schema {
        operation: None,
        kind: None,
        format: format.name,
        ids: IdKind::Int,
        properties: Vec::new(),
        weight: None,
        types: Vec::new(),
        directed: Some(false),
        time: None,
        both_ends: false,
        input_bytes,
    };
    let parser = PackedParser { paths: inputs.iter().map(Input::path).collect(), edge_bytes };
    Box::new(PackedReader::new(schema, Arc::new(parser), inputs, edge_bytes, options))
}

/// Cuts edges of so many bytes each, which stand one after another.
pub(super) struct PackedReader {
    schema: Schema,
    parser: Arc<dyn BlockParser>,
    inputs: Vec<Input>,
    edge_bytes: usize,
    block_bytes: usize,
    /// The input that is being read, and how many of its edges were.
    open: Option<(InputStream, u64)>,
    next_file: usize,
}

impl PackedReader {
    pub(super) fn new(
        schema: Schema,
        parser: Arc<dyn BlockParser>,
        inputs: &[Input],
        edge_bytes: usize,
        options: &ReadOptions,
    ) -> Self {
        Self {
            schema,
            parser,
            inputs: inputs.to_vec(),
            edge_bytes,
            block_bytes: (options.block_bytes / edge_bytes).max(1) * edge_bytes,
            open: None,
            next_file: 0,
        }
    }
}

/// What may be wrong with edges that end within one.
fn other_size(format: &str) -> Message {
    match format == GRAPH500.name || format == GRAPH500_64.name {
        true => message![
            "either it is cut short, or its edges are of the other size (",
            Setting::Format.to("graph500"),
            " or graph500-64)",
        ],
        false => "it is cut short, or has another format".into(),
    }
}

impl Reader for PackedReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser)
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        loop {
            let Some((stream, edges)) = &mut self.open else {
                let Some(input) = self.inputs.get(self.next_file) else { return Ok(None) };
                self.open = Some((input.open()?, 0));
                self.next_file += 1;
                continue;
            };
            let mut bytes = vec![0; self.block_bytes];
            let filled = stream.fill(&mut bytes, 0)?;
            if filled % self.edge_bytes != 0 {
                let reason = message![
                    format!(
                        "its length is not a multiple of the {0} bytes of an edge: {1} bytes are left over; ",
                        self.edge_bytes,
                        filled % self.edge_bytes
                    ),
                    other_size(self.schema.format),
                ];
                return Err(unusable(stream.path(), reason));
            }
            if filled == 0 {
                self.open = None;
                continue;
            }
            bytes.truncate(filled);
            let first_line = *edges + 1;
            *edges += (filled / self.edge_bytes) as u64;
            let input_bytes = stream.take_stored_bytes();
            return Ok(Some(InputBlock { bytes, first_line, file: self.next_file - 1, input_bytes }));
        }
    }
}

struct PackedParser {
    paths: Vec<Arc<PathBuf>>,
    edge_bytes: usize,
}

impl BlockParser for PackedParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let edges = block.bytes.len() / self.edge_bytes;
        let (mut source, mut target) = (Vec::with_capacity(edges), Vec::with_capacity(edges));
        let mut rejected = Vec::new();
        if self.edge_bytes == 12 {
            let (packed, _) = block.bytes.as_chunks::<12>();
            source.extend(packed.iter().map(|edge| low(edge, 0) | high(edge, 8)));
            target.extend(packed.iter().map(|edge| low(edge, 4) | high(edge, 10)));
        } else {
            let path = self.paths.get(block.file).ok_or_else(|| Error::invalid("no such file".to_owned()))?;
            let (pairs, _) = block.bytes.as_chunks::<8>();
            for (row, pair) in pairs.chunks_exact(2).enumerate() {
                let (u, v) = (i64::from_le_bytes(pair[0]), i64::from_le_bytes(pair[1]));
                if u | v < 0 {
                    rejected.push(Rejected {
                        path: Arc::clone(path),
                        line: block.first_line + row as u64,
                        text: format!("{u} {v}").into(),
                        reason: message![
                            "ids cannot be negative; are the edges of 12 bytes (",
                            Setting::Format.to("graph500"),
                            ")?",
                        ],
                        edges_before: source.len(),
                    });
                } else {
                    source.push(u.cast_unsigned());
                    target.push(v.cast_unsigned());
                }
            }
        }
        Ok(EdgeBatch { rejected, ..EdgeBatch::of_integers(source, target, block.input_bytes) })
    }
}

#[inline(always)]
fn low(edge: &[u8; 12], at: usize) -> u64 {
    u64::from(u32::from_le_bytes([edge[at], edge[at + 1], edge[at + 2], edge[at + 3]]))
}

#[inline(always)]
fn high(edge: &[u8; 12], at: usize) -> u64 {
    u64::from(u16::from_le_bytes([edge[at], edge[at + 1]])) << 32
}
