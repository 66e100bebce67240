//! X-Stream's edges of type 1: 12 bytes each, little-endian, without a header: both ends as words of 32 bits,
//! and a weight, a float of 32 bits. A file of the same name with `.ini` behind it says how many vertices and
//! edges there are, and tells the format. Whether edges have a direction is not said.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::Float64Array;
use esker_format::{Error, Result};

use super::graph500::PackedReader;
use super::region::unusable;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Rejected, Schema};

const EDGE_BYTES: usize = 12;
/// More than a description has.
const DESCRIPTION_BYTES_MAX: u64 = 1 << 16;

/// Edges of 12 bytes with weights.
pub(crate) static X_STREAM: InputFormat = InputFormat {
    aliases: &["xstream"],
    is_part: |input| matches!(description(input), Ok(Some(text)) if value_of(&text, "type") == Some("1")),
    ..InputFormat::new("x-stream", "X-Stream edges", Choices::Nothing, open)
};

fn open(inputs: &[Input], _head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let input = one(inputs, X_STREAM.title)?;
    let described = match description(input)? {
        Some(text) => Some(Described::of(input, &text)?),
        None => None,
    };
    let ids = match &described {
        Some(Described { vertices, .. }) => IdKind::Numbered { first: 0, num_vertices: *vertices },
        None => IdKind::Int,
    };
    let schema = Schema {
        operation: None,
        kind: None,
        format: X_STREAM.name,
        ids,
        properties: vec!["weight".to_owned()],
        weight: Some(0),
        types: Vec::new(),
        directed: None,
        time: None,
        both_ends: false,
        input_bytes: input.stored_bytes(),
    };
    let parser =
        Arc::new(EdgeParser { path: input.path(), vertices: described.map(|described| described.vertices) });
    let reader = PackedReader::new(schema, parser, inputs, EDGE_BYTES, options);
    Ok(OpenedInput::titled(Box::new(reader), inputs, &X_STREAM))
}

/// The text of the file beside an input that describes it, if there is one.
fn description(input: &Input) -> Result<Option<String>> {
    let path = input.path();
    let Some(name) = path.file_name() else { return Ok(None) };
    let mut name = PathBuf::from(name).into_os_string();
    name.push(".ini");
    let Some(beside) = input.sibling(&PathBuf::from(name)) else { return Ok(None) };
    let mut text = Vec::new();
    beside
        .open()?
        .take(DESCRIPTION_BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(Error::io("read", beside.path().as_path()))?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

/// The value of a key of the section `[graph]`.
fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let lines = text.lines().map(str::trim);
    let section =
        lines.skip_while(|line| *line != "[graph]").skip(1).take_while(|line| !line.starts_with('['));
    let mut pairs = section.filter_map(|line| line.split_once('='));
    pairs.find(|(own, _)| own.trim() == key).map(|(_, value)| value.trim())
}

/// What the description says.
struct Described {
    vertices: u64,
}

impl Described {
    fn of(input: &Input, text: &str) -> Result<Self> {
        let path = input.path();
        let beside = Arc::new(PathBuf::from(format!("{}.ini", path.display())));
        if let Some(other) = value_of(text, "type").filter(|kind| *kind != "1") {
            let reason = format!(
                "it says that the edges are of type {other}, but only those of type 1, of 12 bytes, are read"
            );
            return Err(unusable(&beside, reason));
        }
        let number = |key: &str| {
            let value = value_of(text, key).and_then(|value| value.parse::<u64>().ok());
            value.ok_or_else(|| {
                unusable(&beside, format!("it says no number of {key}; write {key}=NUMBER below [graph]"))
            })
        };
        let (vertices, edges) = (number("vertices")?, number("edges")?);
        let stored = input.stored_bytes().unwrap_or(0);
        if edges.checked_mul(EDGE_BYTES as u64) != Some(stored) {
            let reason = format!(
                "it says that there are {edges} edges of {EDGE_BYTES} bytes, but the file has {stored} bytes"
            );
            return Err(unusable(&beside, reason));
        }
        Ok(Self { vertices })
    }
}

struct EdgeParser {
    path: Arc<PathBuf>,
    /// How many vertices there are, if that is said.
    vertices: Option<u64>,
}

impl BlockParser for EdgeParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let (edges, _) = block.bytes.as_chunks::<EDGE_BYTES>();
        let (mut source, mut target) = (Vec::with_capacity(edges.len()), Vec::with_capacity(edges.len()));
        let mut weights: Vec<Option<f64>> = Vec::with_capacity(edges.len());
        let mut rejected = Vec::new();
        for (row, edge) in edges.iter().enumerate() {
            let word = |at: usize| [edge[at], edge[at + 1], edge[at + 2], edge[at + 3]];
            let [u, v] = [0, 4].map(|at| u64::from(u32::from_le_bytes(word(at))));
            let weight = f32::from_le_bytes(word(8));
            let beyond = self.vertices.filter(|&vertices| u.max(v) >= vertices);
            let reason = match beyond {
                Some(vertices) => {
                    format!("an end is not among the {vertices} vertices that the description states")
                }
                None if weight.is_infinite() => {
                    "the weight is infinite; is the file one of edges with weights?".to_owned()
                }
                None => {
                    source.push(u);
                    target.push(v);
                    weights.push((!weight.is_nan()).then_some(weight.into()));
                    continue;
                }
            };
            rejected.push(Rejected {
                path: Arc::clone(&self.path),
                line: block.first_line + row as u64,
                text: format!("{u} {v} {weight}").into(),
                reason: reason.into(),
                edges_before: source.len(),
            });
        }
        Ok(EdgeBatch {
            properties: vec![Arc::new(Float64Array::from(weights))],
            rejected,
            ..EdgeBatch::of_integers(source, target, block.input_bytes)
        })
    }
}
