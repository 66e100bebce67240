//! GAP's serialised graphs, `.sg` and `.wsg`: little-endian and without a magic number. One byte says whether
//! the graph is directed; then i64 edges, i64 vertices, i64 offsets\[n + 1\], and i32 neighbours\[m\]
//! (`.wsg`: pairs of i32, the neighbour and the weight). If directed, the inverse follows, which adds nothing
//! and is skipped. An undirected graph has every edge at both of its ends.

use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{Setting, message};

use super::contain::damaged;
use super::region::Region;
use super::runs::{RUN_ROWS, RowRun};
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Numbers, Reader, Rejected, Schema};

const HEADER_BYTES: u64 = 17;
/// Offsets read at a time while blocks are cut.
const OFFSETS_AT_ONCE: u64 = 1 << 16;

/// Without weights.
pub(crate) static SG: InputFormat = InputFormat {
    endings: &["sg"],
    ..InputFormat::new("sg", "GAP serialised graph", Choices::Nothing, open_sg)
};

/// With integer weights of 32 bits.
pub(crate) static WSG: InputFormat = InputFormat {
    endings: &["wsg"],
    ..InputFormat::new("wsg", "GAP serialised weighted graph", Choices::Nothing, open_wsg)
};

fn open_sg(inputs: &[Input], _head: InputHead, _options: &ReadOptions) -> Result<OpenedInput> {
    Ok(OpenedInput::titled(open_gap(inputs, &SG, false)?, inputs, &SG))
}

fn open_wsg(inputs: &[Input], _head: InputHead, _options: &ReadOptions) -> Result<OpenedInput> {
    Ok(OpenedInput::titled(open_gap(inputs, &WSG, true)?, inputs, &WSG))
}

/// Opens one `.sg` or `.wsg` file.
///
/// # Errors
/// If there are several, or the file cannot be opened, or the lengths that its header states do not fit it.
fn open_gap(inputs: &[Input], format: &InputFormat, weighted: bool) -> Result<Box<dyn Reader>> {
    let [input] = inputs else {
        return Err(Error::invalid(format!(
            "{} files number their vertices, so exactly one can be read at a time; {} are named",
            format.title,
            inputs.len()
        )));
    };
    Ok(reader_of(GapFile::open(Region::open(input, format)?, weighted)?, format))
}

/// Reads lists of neighbours in plain words.
pub(super) fn reader_of(graph: GapFile, format: &InputFormat) -> Box<dyn Reader> {
    let graph = Arc::new(graph);
    let schema = Schema {
        operation: None,
        kind: None,
        format: format.name,
        ids: IdKind::Numbered { first: 0, num_vertices: graph.vertices },
        properties: if graph.weighted { vec!["weight".to_owned()] } else { Vec::new() },
        weight: graph.weighted.then_some(0),
        types: Vec::new(),
        directed: Some(graph.directed),
        time: None,
        both_ends: !graph.directed,
        input_bytes: Some(graph.region.bytes()),
    };
    Box::new(GapReader { schema, graph, vertex: 0, edge: 0, window: Vec::new(), window_start: 0 })
}

/// A file of lists of neighbours in plain words, behind a header that was checked: its lengths fit the file.
#[derive(Debug)]
pub(super) struct GapFile {
    pub(super) region: Region,
    pub(super) header_bytes: u64,
    pub(super) weighted: bool,
    pub(super) directed: bool,
    pub(super) edges: u64,
    pub(super) vertices: u64,
}

impl GapFile {
    fn open(region: Region, weighted: bool) -> Result<Self> {
        let header = region.read_vec(0, HEADER_BYTES as usize)?;
        let word = |at: usize| i64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
        let (edges, vertices) = (word(1), word(9));
        let directed = match header[0] {
            0 => false,
            1 => true,
            other => {
                let reason = format!("its first byte is {other}, but must be 0 (undirected) or 1 (directed)");
                return Err(damaged(region.path(), reason));
            }
        };
        let entry = if weighted { 8 } else { 4 };
        let expected = |edges: u64, vertices: u64| {
            let one = vertices.checked_add(1)?.checked_mul(8)?.checked_add(edges.checked_mul(entry)?)?;
            one.checked_mul(if directed { 2 } else { 1 })?.checked_add(HEADER_BYTES)
        };
        let lengths = u64::try_from(edges).ok().zip(u64::try_from(vertices).ok());
        match lengths.and_then(|(edges, vertices)| Some((edges, vertices, expected(edges, vertices)?))) {
            Some((edges, vertices, bytes)) if bytes == region.bytes() => {
                Ok(Self { region, header_bytes: HEADER_BYTES, weighted, directed, edges, vertices })
            }
            _ => {
                let stated = format!(
                    "its header states {} and {}, which does not fit its {}; is it {} (",
                    esker_graph::counted(edges, "edge", "edges"),
                    esker_graph::counted(vertices, "vertex", "vertices"),
                    esker_graph::counted(region.bytes(), "byte", "bytes"),
                    if weighted { "without weights" } else { "with weights" },
                );
                let other = Setting::Format.to(if weighted { "sg" } else { "wsg" });
                let reason = message![stated, other, ")?"];
                Err(damaged(region.path(), reason))
            }
        }
    }

    /// Offsets of the vertices from `first` on.
    fn offsets(&self, first: u64, count: u64) -> Result<Vec<u64>> {
        let bytes = self.region.read_vec(self.header_bytes + first * 8, count as usize * 8)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    fn entries(&self, first: u64, count: u64) -> Result<Vec<u8>> {
        let entry = if self.weighted { 8 } else { 4 };
        let start = self.header_bytes + (self.vertices + 1) * 8 + first * entry;
        self.region.read_vec(start, (count * entry) as usize)
    }
}

/// Cuts the edges into runs; a run begins at any edge, in the list of the vertex that its section names.
struct GapReader {
    schema: Schema,
    graph: Arc<GapFile>,
    /// The vertex whose list holds `edge`, or one before it.
    vertex: u64,
    edge: u64,
    /// Offsets from `window_start` on.
    window: Vec<u64>,
    window_start: u64,
}

impl GapReader {
    /// The offset at `index`, checked to be within the edges and not below `least`.
    fn offset(&mut self, index: u64, least: u64) -> Result<u64> {
        if index < self.window_start || index >= self.window_start + self.window.len() as u64 {
            self.window_start = index;
            self.window = self.graph.offsets(index, OFFSETS_AT_ONCE.min(self.graph.vertices + 1 - index))?;
        }
        let offset = self.window[(index - self.window_start) as usize];
        let is_end = index == self.graph.vertices;
        if offset < least || offset > self.graph.edges || (is_end && offset != self.graph.edges) {
            let reason = format!("the offset {offset} of vertex {index} does not fit the others");
            return Err(damaged(self.graph.region.path(), reason));
        }
        Ok(offset)
    }
}

impl Reader for GapReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::new(GapParser(Arc::clone(&self.graph)))
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        if self.edge == 0 && self.vertex == 0 && self.offset(0, 0)? != 0 {
            return Err(damaged(self.graph.region.path(), "the first offset is not 0"));
        }
        // The block ends where it is full, or where so many lists have begun that their offsets fill a
        // mebibyte.
        let (first, start) = (self.vertex, self.edge);
        let full = (start + RUN_ROWS).min(self.graph.edges);
        let mut end = start;
        while self.vertex < self.graph.vertices && self.vertex < first + RUN_ROWS {
            let list_end = self.offset(self.vertex + 1, end)?;
            end = list_end.min(full);
            if list_end > full {
                break;
            }
            self.vertex += 1;
        }
        self.edge = end;
        if first == self.graph.vertices {
            return Ok(None);
        }
        let run = RowRun { file: 0, section: first, start, rows: end - start };
        // Lengths without the inverse are not worth the trouble: progress is by the share of the edges.
        let until = |edge: u64, vertex: u64| {
            let (done, all) = (edge + vertex, (self.graph.edges + self.graph.vertices).max(1));
            (u128::from(self.graph.region.bytes()) * u128::from(done) / u128::from(all)) as u64
        };
        let bytes = until(end, self.vertex) - until(start, first);
        Ok(Some(run.into_block(start + 1, bytes)))
    }
}

struct GapParser(Arc<GapFile>);

impl BlockParser for GapParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let graph = &self.0;
        let run = RowRun::of_block(&block);
        let entries = graph.entries(run.start, run.rows)?;
        let mut source = Vec::with_capacity(run.rows as usize);
        // The cutter has checked these offsets; they are read again only to spare the blocks their weight.
        let mut vertex = run.section;
        while source.len() < run.rows as usize {
            let count = OFFSETS_AT_ONCE.min(graph.vertices.saturating_sub(vertex));
            if count == 0 {
                return Err(damaged(graph.region.path(), "its offsets end before its edges"));
            }
            for end in graph.offsets(vertex + 1, count)? {
                let end = end.saturating_sub(run.start).min(run.rows) as usize;
                source.resize(end.max(source.len()), vertex);
                vertex += 1;
            }
        }
        let (mut target, mut weights) = (Vec::with_capacity(source.len()), Vec::new());
        if graph.weighted {
            let (pairs, _) = entries.as_chunks::<8>();
            target.extend(pairs.iter().map(|p| u64::from(u32::from_le_bytes([p[0], p[1], p[2], p[3]]))));
            weights.extend(pairs.iter().map(|p| i64::from(i32::from_le_bytes([p[4], p[5], p[6], p[7]]))));
        } else {
            let (ids, _) = entries.as_chunks::<4>();
            target.extend(ids.iter().map(|bytes| u64::from(u32::from_le_bytes(*bytes))));
        }
        let rejected = self.reject(&block, &mut source, &mut target, &mut weights);
        Ok(EdgeBatch {
            properties: if graph.weighted { vec![Numbers::Int(weights).finish()] } else { Vec::new() },
            rejected,
            ..EdgeBatch::of_integers(source, target, block.input_bytes)
        })
    }
}

impl GapParser {
    /// Takes out the edges whose target does not exist. Negative ones have become large above.
    fn reject(
        &self,
        block: &InputBlock,
        source: &mut Vec<u64>,
        target: &mut Vec<u64>,
        weights: &mut Vec<i64>,
    ) -> Vec<Rejected> {
        let vertices = self.0.vertices;
        let mut rejected = Vec::new();
        if target.iter().copied().max().is_none_or(|most| most < vertices) {
            return rejected;
        }
        let mut kept = 0;
        for row in 0..target.len() {
            if target[row] < vertices {
                (source[kept], target[kept]) = (source[row], target[row]);
                if self.0.weighted {
                    weights[kept] = weights[row];
                }
                kept += 1;
                continue;
            }
            rejected.push(Rejected {
                path: Arc::clone(self.0.region.path()),
                line: block.first_line + row as u64,
                text: format!("{} {}", source[row], target[row] as u32 as i32).into(),
                reason: format!("the neighbour is not among the {vertices} vertices").into(),
                edges_before: kept,
            });
        }
        source.truncate(kept);
        target.truncate(kept);
        weights.truncate(kept);
        rejected
    }
}
