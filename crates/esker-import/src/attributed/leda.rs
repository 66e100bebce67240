//! LEDA graphs: types of labels, then the label of each vertex, then `source target reversal |{label}|`
//! lines.
//!
//! K. Mehlhorn, S. Näher, "LEDA: A platform for combinatorial and geometric computing", CACM 38, 1995.

use esker_format::Result;
use esker_graph::Message;

use super::choose::number_of;
use super::document::{self, DocumentFormat, Edge, NamedValues, Numbering, Sink, Syntax, lines, whole_lines};
use super::types::Types;
use super::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, without_mark};

/// LEDA graphs.
pub(crate) static LEDA: InputFormat = InputFormat {
    endings: &["leda", "lgr"],
    always_begins_so: true,
    begins: |head| {
        let mut lines = without_mark(head).split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.find(|line| !line.is_empty() && line[0] != b'#') == Some(b"LEDA.GRAPH")
    },
    takes_defaults: true,
    ..InputFormat::new("leda", "LEDA graph", Choices::Columns, open)
};

static DOCUMENT: DocumentFormat = DocumentFormat {
    input: &LEDA,
    syntax: || Box::new(LedaSyntax::default()),
    names: &["label"],
    are_values_untyped: false,
    directed: None,
    default_weight: false,
};

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    document::open(inputs, head, options, &DOCUMENT)
}

/// What the next line is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Word,
    VertexType,
    EdgeType,
    Direction,
    NumVertices,
    Vertex,
    NumEdges,
    Edge,
}

#[derive(Default)]
struct LedaSyntax {
    step: Step,
    vertex_type: LabelType,
    edge_type: LabelType,
    vertices: u64,
    /// Vertices or edges that are still to come.
    left: u64,
    /// What the edges' labels are called.
    weight: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LabelType {
    #[default]
    Nothing,
    Number,
    Text,
}

impl LabelType {
    fn of(name: &str) -> Self {
        match name {
            "void" => Self::Nothing,
            "int" | "short" | "long" | "float" | "double" | "unsigned" | "integer" => Self::Number,
            _ => Self::Text,
        }
    }

    fn value(self, label: &str) -> Option<Attribute<'_>> {
        match self {
            Self::Nothing => None,
            Self::Number => number_of(label, false),
            Self::Text => Some(Attribute::Text(label.into())),
        }
    }
}

/// The text in `|{...}|`.
fn label(text: &str) -> Option<&str> {
    text.trim_ascii().strip_prefix("|{")?.strip_suffix("}|")
}

impl Syntax for LedaSyntax {
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize> {
        let whole = whole_lines(text, is_last);
        for (at, line) in lines(whole) {
            if let Some(comment) = line.strip_prefix('#') {
                if let Some(types) = Types::of_comment(comment) {
                    self.weight = types.weight().map(str::to_owned);
                    sink.told().types = Some(types);
                }
                continue;
            }
            self.line(at, line, sink)?;
        }
        let is_end = self.step == Step::Edge && self.left == 0;
        if is_last && !is_end {
            let reason = match self.step {
                Step::Vertex | Step::Edge => format!("{} more lines belong here", self.left),
                _ => "its head is not whole".to_owned(),
            };
            return Err(sink.broken(text.len(), format!("the file is cut short: {reason}").into()));
        }
        Ok(whole.len())
    }
}

impl LedaSyntax {
    fn line(&mut self, at: usize, line: &str, sink: &mut dyn Sink) -> Result<()> {
        let count = |sink: &mut dyn Sink| match line.parse::<u64>() {
            Ok(count) => Ok(count),
            Err(_) => Err(sink.broken(at, "a number belongs here".into())),
        };
        match self.step {
            Step::Word if line == "LEDA.GRAPH" => self.step = Step::VertexType,
            Step::Word => return Err(sink.broken(at, "a LEDA graph begins with LEDA.GRAPH".into())),
            Step::VertexType => (self.vertex_type, self.step) = (LabelType::of(line), Step::EdgeType),
            Step::EdgeType => (self.edge_type, self.step) = (LabelType::of(line), Step::Direction),
            Step::Direction => {
                sink.told().directed = Some(match line {
                    "-1" => true,
                    "-2" => false,
                    _ => return Err(sink.broken(at, "-1 (directed) or -2 (undirected) belongs here".into())),
                });
                self.step = Step::NumVertices;
            }
            Step::NumVertices => {
                self.vertices = count(sink)?;
                self.left = self.vertices;
                self.step = if self.left == 0 { Step::NumEdges } else { Step::Vertex };
                sink.told().numbering = Some(Numbering { first: 1, count: self.vertices });
            }
            Step::Vertex => {
                let number = self.vertices - self.left + 1;
                let Some(label) = label(line) else {
                    return Err(sink.broken(at, "the label of a vertex, as in |{name}|, belongs here".into()));
                };
                let name = if self.vertex_type == LabelType::Text { "label" } else { "value" };
                let fields = self.vertex_type.value(label).map(|value| (name.into(), Some(value)));
                sink.vertex(at, &Attribute::Int(number.cast_signed()), &fields.into_iter().collect())?;
                self.left -= 1;
                self.step = if self.left == 0 { Step::NumEdges } else { Step::Vertex };
            }
            Step::NumEdges => (self.left, self.step) = (count(sink)?, Step::Edge),
            Step::Edge if self.left == 0 => {
                return Err(sink.broken(at, "there are more lines than edges; correct their number".into()));
            }
            Step::Edge => {
                self.left -= 1;
                match self.edge(line) {
                    Ok(edge) => sink.edge(at, &edge)?,
                    Err(reason) => sink.reject(at, reason),
                }
            }
        }
        Ok(())
    }

    fn edge<'a>(&self, line: &'a str) -> std::result::Result<Edge<'a>, Message> {
        let shape = "an edge is written: source target reversal |{label}|";
        let bar = line.find('|').ok_or(shape)?;
        let text = label(&line[bar..]).ok_or(shape)?;
        let mut words = line[..bar].split_ascii_whitespace();
        let mut end = || {
            let number = words.next().and_then(|word| word.parse::<i64>().ok());
            number.map(Attribute::Int).ok_or(shape)
        };
        let (source, target) = (end()?, end()?);
        let name = match (self.edge_type, &self.weight) {
            (_, Some(weight)) => weight.clone(),
            (LabelType::Number, None) => "weight".to_owned(),
            (LabelType::Nothing | LabelType::Text, None) => "label".to_owned(),
        };
        let fields: NamedValues<'a> =
            self.edge_type.value(text).map(|value| (name.into(), Some(value))).into_iter().collect();
        Ok(Edge { source, target, directed: None, fields })
    }
}
