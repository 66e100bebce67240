//! Formats of one edge a line, and Graph500's edges of a fixed size.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{Array, ArrayRef, LargeBinaryArray};
use esker_format::value::digits::push_u64;
use esker_format::{Error, LogicalType, Result};
use esker_graph::{Setting, message};

use super::digits::push_typed;
use super::elements::{directed, formats_for};
use super::format::{EndsWritten, ExportFormat, Guessed, KeptProperties, ReadAs, WriteGraph};
use super::graph::{ExportBlock, PropertyKind};
use super::sink::OutputFile;
use super::writer::{EdgeWriter, ExportShape, VertexNames, push_quoted, push_text};
use crate::read::input_format::InputFormat;
use crate::read::typed::logical_value;
use crate::text;

/// The largest id that Graph500's packed edges hold.
const PACKED_MAX: u64 = (1 << 48) - 1;

/// What one line (or record) looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineStyle {
    /// `u v [w]`: external ids between which nothing but this separator stands, and perhaps a weight.
    Plain { separator: u8, weight: Option<usize> },
    /// `u,v,properties` with quotes where needed.
    Csv { delimiter: u8 },
    /// `i j [w]`, numbers from 1; an undirected edge stands below the diagonal.
    Matrix { weight: Option<usize>, below: bool },
    /// `a u v w`, numbers from 1; weight 1 if there is none.
    Arc { weight: Option<usize> },
    /// `e u v`, numbers from 1.
    Edge,
    /// 12 bytes.
    Packed,
    /// 16 bytes.
    Wide,
}

/// `u v` a line.
pub(crate) static EL: ExportFormat = ExportFormat {
    guessed: Guessed::TypesAndHeader,
    ..ExportFormat::new(
        WriteGraph::Edges(el),
        KeptProperties::Nothing,
        ReadAs::Directed,
        EndsWritten::IfAsked,
    )
};

/// `u v w` a line.
pub(crate) static WEL: ExportFormat = ExportFormat {
    guessed: Guessed::Types,
    ..ExportFormat::new(
        WriteGraph::Edges(wel),
        KeptProperties::Weight,
        ReadAs::Directed,
        EndsWritten::IfAsked,
    )
};

/// SNAP: comments that count vertices and edges, then edges with a tab between their ends.
pub(crate) static SNAP: ExportFormat = ExportFormat {
    endings: &["txt"],
    guessed: Guessed::TypesAndHeader,
    ..ExportFormat::new(
        WriteGraph::Edges(snap),
        KeptProperties::Nothing,
        ReadAs::Directed,
        EndsWritten::IfAsked,
    )
};

/// A header, then edges with all properties.
pub(crate) static CSV: ExportFormat = ExportFormat {
    guessed: Guessed::Types,
    ..ExportFormat::new(WriteGraph::Edges(csv), KeptProperties::All, ReadAs::Directed, EndsWritten::IfAsked)
};

/// The same with tabs.
pub(crate) static TSV: ExportFormat = ExportFormat { write: WriteGraph::Edges(tsv), ..CSV };

/// Matrix Market.
pub(crate) static MTX: ExportFormat = ExportFormat {
    states_vertices: true,
    first_number: Some(1),
    ..ExportFormat::new(
        WriteGraph::Edges(mtx),
        KeptProperties::Weight,
        ReadAs::ToldUnlessBothEnds,
        EndsWritten::IfAsked,
    )
};

/// DIMACS-9.
pub(crate) static DIMACS: ExportFormat = ExportFormat {
    states_vertices: true,
    first_number: Some(1),
    invents_weights: true,
    ..ExportFormat::new(
        WriteGraph::Edges(dimacs),
        KeptProperties::Weight,
        ReadAs::Directed,
        EndsWritten::ByDefault,
    )
};

/// DIMACS graphs to be coloured.
pub(crate) static COL: ExportFormat = ExportFormat {
    write: WriteGraph::Edges(col),
    keeps: KeptProperties::Nothing,
    read_as: ReadAs::Undirected,
    ends: EndsWritten::IfAsked,
    invents_weights: false,
    ..DIMACS
};

/// DIMACS networks of a maximum flow.
pub(crate) static MAX: ExportFormat = ExportFormat { write: WriteGraph::Edges(max), ..DIMACS };

/// Graph500's edges of 12 bytes.
pub(crate) static GRAPH500: ExportFormat = ExportFormat {
    has_integer_ids: true,
    ..ExportFormat::new(
        WriteGraph::Edges(packed),
        KeptProperties::Nothing,
        ReadAs::Undirected,
        EndsWritten::IfAsked,
    )
};

/// Graph500's edges of 16 bytes.
pub(crate) static GRAPH500_64: ExportFormat = ExportFormat { write: WriteGraph::Edges(wide), ..GRAPH500 };

/// A writer of edges, or why a graph cannot be written.
type Begun<'a> = Result<Box<dyn EdgeWriter + 'a>>;

fn el<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    begin(LineStyle::Plain { separator: b' ', weight: None }, Vec::new(), shape, output)
}

fn wel<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    let weight = shape.weight.ok_or_else(|| needs(&text::WEL, "weights, but the graph has none"))?;
    begin(LineStyle::Plain { separator: b' ', weight: Some(weight) }, Vec::new(), shape, output)
}

fn snap<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    let (n, m) = (shape.vertices, shape.edges);
    let direction = if shape.directed { "Directed" } else { "Undirected" };
    let head = format!("# {direction} graph\n# Nodes: {n} Edges: {m}\n# FromNodeId\tToNodeId\n");
    begin(LineStyle::Plain { separator: b'\t', weight: None }, head.into_bytes(), shape, output)
}

fn csv<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    table(b',', shape, output)
}

fn tsv<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    table(b'\t', shape, output)
}

fn table<'a>(delimiter: u8, shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    let mut head = b"source".to_vec();
    head.push(delimiter);
    head.extend_from_slice(b"target");
    for property in &shape.properties {
        head.push(delimiter);
        push_quoted(&mut head, property.name.as_bytes(), delimiter);
    }
    head.push(b'\n');
    begin(LineStyle::Csv { delimiter }, head, shape, output)
}

fn mtx<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    let (n, m) = (shape.vertices, shape.edges);
    let field = match shape.weight_kind() {
        None => "pattern",
        Some((_, PropertyKind::I32 | PropertyKind::I64)) => "integer",
        Some(_) => "real",
    };
    // A symmetric matrix is written as one half.
    let below = !shape.directed && !shape.both_ends;
    let symmetry = if below { "symmetric" } else { "general" };
    let head = format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {m}\n");
    begin(LineStyle::Matrix { weight: shape.weight, below }, head.into_bytes(), shape, output)
}

fn dimacs<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    let weight = match shape.weight_kind() {
        Some((_, PropertyKind::F32 | PropertyKind::F64)) => {
            return Err(needs(&text::DIMACS, "integer weights, but the graph has others"));
        }
        other => other.map(|(index, _)| index),
    };
    let head = format!("p sp {} {}\n", shape.vertices, shape.edges);
    begin(LineStyle::Arc { weight }, head.into_bytes(), shape, output)
}

fn col<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    if shape.directed {
        return Err(directed(text::COL.title, "gr"));
    }
    let head = format!("p edge {} {}\n", shape.vertices, shape.edges);
    begin(LineStyle::Edge, head.into_bytes(), shape, output)
}

fn max<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    let head = format!("p max {} {}\n", shape.vertices, shape.edges);
    begin(LineStyle::Arc { weight: shape.weight }, head.into_bytes(), shape, output)
}

fn packed<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    begin(LineStyle::Packed, Vec::new(), shape, output)
}

fn wide<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    begin(LineStyle::Wide, Vec::new(), shape, output)
}

/// The edges of Graphalytics, with weights if there are any.
pub(super) fn graphalytics<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    begin(LineStyle::Plain { separator: b' ', weight: shape.weight }, Vec::new(), shape, output)
}

fn needs(format: &InputFormat, what: &str) -> Error {
    Error::invalid(format!("{} needs {what}; write another format", format.title))
}

/// A writer of lines (or records) below a head.
fn begin<'a>(line: LineStyle, head: Vec<u8>, shape: &ExportShape, output: &'a mut OutputFile) -> Begun<'a> {
    let logical = shape.properties.iter().map(|property| property.logical.clone()).collect();
    let (dictionaries, nulls) = (shape.dictionaries.clone(), shape.nulls.clone());
    Ok(Box::new(LineWriter { line, logical, dictionaries, nulls, buffer: head, output }))
}

struct LineWriter<'a> {
    line: LineStyle,
    /// What the properties of a line of a table are.
    logical: Vec<LogicalType>,
    dictionaries: Vec<LargeBinaryArray>,
    /// The words that stand for no value.
    nulls: Vec<String>,
    buffer: Vec<u8>,
    output: &'a mut OutputFile,
}

impl EdgeWriter for LineWriter<'_> {
    fn write(&mut self, names: VertexNames<'_>, block: &ExportBlock) -> Result<()> {
        for row in 0..block.len() {
            self.write_row(names, block, row)?;
        }
        self.flush()
    }

    fn finish(&mut self) -> Result<()> {
        self.flush()
    }
}

impl LineWriter<'_> {
    fn flush(&mut self) -> Result<()> {
        let error = self.output.error();
        self.output.write_all(&self.buffer).map_err(error)?;
        self.buffer.clear();
        Ok(())
    }

    fn write_row(&mut self, names: VertexNames<'_>, block: &ExportBlock, row: usize) -> Result<()> {
        let (u, v) = (block.sources[row], block.targets[row]);
        match self.line {
            LineStyle::Plain { separator, weight } => {
                self.write_plain_id(names, u)?;
                self.buffer.push(separator);
                self.write_plain_id(names, v)?;
                self.write_weight(separator, weight, block, row);
            }
            LineStyle::Csv { delimiter } => {
                self.write_quoted_id(names, u, delimiter)?;
                self.buffer.push(delimiter);
                self.write_quoted_id(names, v, delimiter)?;
                for index in 0..self.logical.len() {
                    self.buffer.push(delimiter);
                    self.write_value(&block.properties[index], index, row, delimiter);
                }
            }
            LineStyle::Matrix { weight, below } => {
                let (mut i, mut j) = (names.number(u)? + 1, names.number(v)? + 1);
                if below && i < j {
                    (i, j) = (j, i);
                }
                push_u64(&mut self.buffer, i);
                self.buffer.push(b' ');
                push_u64(&mut self.buffer, j);
                self.write_weight(b' ', weight, block, row);
            }
            LineStyle::Arc { weight } => {
                self.buffer.extend_from_slice(b"a ");
                push_u64(&mut self.buffer, names.number(u)? + 1);
                self.buffer.push(b' ');
                push_u64(&mut self.buffer, names.number(v)? + 1);
                match weight {
                    Some(_) => self.write_weight(b' ', weight, block, row),
                    None => self.buffer.extend_from_slice(b" 1"),
                }
            }
            LineStyle::Edge => {
                self.buffer.extend_from_slice(b"e ");
                push_u64(&mut self.buffer, names.number(u)? + 1);
                self.buffer.push(b' ');
                push_u64(&mut self.buffer, names.number(v)? + 1);
            }
            LineStyle::Packed => return self.write_packed(names.int(u)?, names.int(v)?),
            LineStyle::Wide => {
                for id in [names.int(u)?, names.int(v)?] {
                    let id = i64::try_from(id).map_err(|_| self.too_large(id, i64::MAX as u64))?;
                    self.buffer.extend_from_slice(&id.to_le_bytes());
                }
                return Ok(());
            }
        }
        self.buffer.push(b'\n');
        Ok(())
    }

    /// An id that must not hold what would end it, or make its line a comment.
    fn write_plain_id(&mut self, names: VertexNames<'_>, v: u64) -> Result<()> {
        let start = self.buffer.len();
        names.write(v, &mut self.buffer)?;
        let id = &self.buffer[start..];
        if names.are_texts()
            && (id.is_empty()
                || id.iter().any(u8::is_ascii_whitespace)
                || matches!(id[0], b'#' | b'%' | b'"'))
        {
            let (id, formats) = (String::from_utf8_lossy(id), formats_for(id));
            return Err(Error::invalid(message![
                format!("the id {id:?} cannot stand in a plain edge list: write {formats}, or numbers with "),
                Setting::VertexNumbers,
            ]));
        }
        Ok(())
    }

    fn write_quoted_id(&mut self, names: VertexNames<'_>, v: u64, delimiter: u8) -> Result<()> {
        if !names.are_texts() {
            push_u64(&mut self.buffer, names.int(v)?);
            return Ok(());
        }
        let mut id = Vec::new();
        names.write(v, &mut id)?;
        push_text(&mut self.buffer, &id, delimiter, &self.nulls);
        Ok(())
    }

    fn write_weight(&mut self, separator: u8, weight: Option<usize>, block: &ExportBlock, row: usize) {
        if let Some(index) = weight {
            self.buffer.push(separator);
            self.write_value(&block.properties[index], index, row, separator);
        }
    }

    fn write_value(&mut self, values: &ArrayRef, property: usize, row: usize, delimiter: u8) {
        if values.is_null(row) {
            return;
        }
        if let Some(codes) = values.as_primitive_opt::<UInt32Type>() {
            let text = self.dictionaries[property].value(codes.value(row) as usize);
            push_text(&mut self.buffer, text, delimiter, &self.nulls);
            return;
        }
        let number = values.as_primitive_opt::<Int64Type>().map(|numbers| numbers.value(row));
        match (self.logical.get(property), number) {
            (Some(logical), Some(number)) if logical.element().is_some() => {
                self.buffer.extend_from_slice(logical_value(logical, number).to_string().as_bytes());
            }
            _ => push_typed(&mut self.buffer, values, row),
        }
    }

    fn write_packed(&mut self, u: u64, v: u64) -> Result<()> {
        if u.max(v) > PACKED_MAX {
            return Err(self.too_large(u.max(v), PACKED_MAX));
        }
        let high = (u >> 32) as u32 | ((v >> 32) as u32) << 16;
        for word in [u as u32, v as u32, high] {
            self.buffer.extend_from_slice(&word.to_le_bytes());
        }
        Ok(())
    }

    fn too_large(&self, id: u64, most: u64) -> Error {
        Error::invalid(message![
            format!(
                "the id {id} exceeds {most}, the largest of the format: write the vertices' numbers with "
            ),
            Setting::VertexNumbers,
        ])
    }
}
