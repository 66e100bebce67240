//! Pajek networks: vertices from 1 on, then sections of arcs (directed) and edges (undirected).
//!
//! A. Mrvar, V. Batagelj, "Pajek: Reference Manual", University of Ljubljana, 2018.

use esker_format::Result;
use esker_graph::Message;

use super::choose::number_of;
use super::document::{
    self, DocumentFormat, Edge, NamedValues, Numbering, Sink, Syntax, Word, lines, whole_lines, words,
};
use super::entities::decoded;
use super::rows::Notices;
use super::types::Types;
use super::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, without_mark};

/// Pajek networks.
pub(crate) static PAJEK: InputFormat = InputFormat {
    endings: &["net", "paj", "pajek"],
    begins: |head| begins(without_mark(head)),
    always_begins_so: true,
    takes_defaults: true,
    ..InputFormat::new("pajek", "Pajek network", Choices::Columns, open)
};

static DOCUMENT: DocumentFormat = DocumentFormat {
    input: &PAJEK,
    syntax: || Box::new(PajekSyntax::default()),
    names: &["label"],
    are_values_untyped: true,
    directed: None,
    default_weight: true,
};

/// Vertices without a line that are taken at a time.
const ABSENT_MAX: u64 = 1 << 16;

/// What NetworkX and Esker write for a vertex that has no place.
const NO_PLACE: [&str; 3] = ["0.0", "0.0", "ellipse"];

fn begins(text: &[u8]) -> bool {
    let is_content = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"%") && !line.starts_with(b"/*");
    let first = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(is_content);
    first.is_some_and(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with(b"*vertices") || line.starts_with(b"*network")
    })
}

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    document::open(inputs, head, options, &DOCUMENT)
}

/// What the lines of a part of the file are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum PajekSection {
    #[default]
    Start,
    Vertices,
    /// Two ends and a weight a line.
    Edges,
    /// A vertex and its neighbours a line.
    Lists,
    /// Something else, which is not read.
    Other,
}

#[derive(Default)]
struct PajekSyntax {
    section: PajekSection,
    /// Whether the edges of the section have a direction.
    directed: bool,
    /// The relation that the edges of the section have.
    relation: Option<String>,
    num_vertices: u64,
    /// The number of the last vertex that had a line.
    last: u64,
    /// Whether a vertex had a line.
    has_lines: bool,
    /// Whether an export of Esker says that there are no weights.
    is_unweighted: bool,
    /// What an export of Esker calls the labels.
    label: Option<String>,
    weight: Option<String>,
}

impl Syntax for PajekSyntax {
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize> {
        let whole = whole_lines(text, is_last);
        for (at, line) in lines(whole) {
            if let Some(comment) = line.strip_prefix('%').or_else(|| line.strip_prefix("/*")) {
                if let Some(types) = Types::of_comment(comment) {
                    self.weight = types.weight().map(str::to_owned);
                    self.label = types.id.clone();
                    self.is_unweighted = self.weight.is_none();
                    sink.told().types = Some(types);
                }
                continue;
            }
            let taken = match line.strip_prefix('*') {
                Some(head) => self.begin_section(at, head, sink)?,
                None => self.line(at, line, sink)?,
            };
            if let Err(reason) = taken {
                sink.reject(at, reason);
            }
        }
        if is_last {
            self.end_vertices(text.len(), sink)?;
        }
        Ok(whole.len())
    }
}

impl PajekSyntax {
    fn begin_section(
        &mut self,
        at: usize,
        head: &str,
        sink: &mut dyn Sink,
    ) -> Result<std::result::Result<(), Message>> {
        self.end_vertices(at, sink)?;
        let Some(words) = words(head) else { return Ok(Err("the quotes of a text do not end".into())) };
        let name = words.first().map_or("", |word| word.text);
        let (name, number) = name.split_once(':').map_or((name, None), |(name, rest)| (name, Some(rest)));
        let arcs = match name.to_ascii_lowercase().as_str() {
            "network" => {
                self.section = PajekSection::Start;
                return Ok(Ok(()));
            }
            "vertices" => return self.begin_vertices(at, &words, sink),
            "arcs" => Some((PajekSection::Edges, true)),
            "edges" => Some((PajekSection::Edges, false)),
            "arcslist" => Some((PajekSection::Lists, true)),
            "edgeslist" => Some((PajekSection::Lists, false)),
            "matrix" => {
                let reason = "a matrix of a Pajek network is not read; save the network with arcs or edges";
                return Err(sink.broken(at, reason.into()));
            }
            _ => None,
        };
        let Some((section, directed)) = arcs else {
            Notices::add(&sink.notices().sections);
            self.section = PajekSection::Other;
            return Ok(Ok(()));
        };
        if self.section == PajekSection::Start && self.num_vertices == 0 {
            return Err(sink.broken(at, "*Vertices with their number belongs before".into()));
        }
        (self.section, self.directed) = (section, directed);
        if !directed {
            let told = sink.told();
            told.directed = Some(told.directed.unwrap_or(false));
        }
        // `*Arcs :2 "likes"` begins the arcs of the second relation.
        let number = number.or_else(|| words.get(1).and_then(|word| word.text.strip_prefix(':')));
        let name = words[1..].iter().find(|word| word.is_quoted).map(|word| decoded(word.text).into_owned());
        self.relation = name.or_else(|| number.map(str::to_owned));
        Ok(Ok(()))
    }

    fn begin_vertices(
        &mut self,
        at: usize,
        words: &[Word<'_>],
        sink: &mut dyn Sink,
    ) -> Result<std::result::Result<(), Message>> {
        if self.num_vertices > 0 {
            let reason = "the file has another network; save one network in a file of its own";
            return Err(sink.broken(at, reason.into()));
        }
        let count = words.get(1).and_then(|word| word.text.parse().ok());
        let Some(count) = count else {
            return Err(sink.broken(at, "the number of vertices belongs behind *Vertices".into()));
        };
        self.num_vertices = count;
        self.section = PajekSection::Vertices;
        sink.told().numbering = Some(Numbering { first: 1, count });
        Ok(Ok(()))
    }

    /// Takes the vertices that have no line, if others have one.
    fn end_vertices(&mut self, at: usize, sink: &mut dyn Sink) -> Result<()> {
        if std::mem::take(&mut self.has_lines) && self.last < self.num_vertices {
            self.absent(at, self.num_vertices, sink)?;
        }
        Ok(())
    }

    /// Takes the vertices up to a number, with it, that have no line. They are called by their numbers.
    fn absent(&mut self, at: usize, up_to: u64, sink: &mut dyn Sink) -> Result<()> {
        let absent = up_to - self.last;
        if absent > ABSENT_MAX {
            let of = self.num_vertices;
            let reason =
                format!("{absent} of {of} vertices have no line; correct the number behind *Vertices");
            return Err(sink.broken(at, reason.into()));
        }
        for absent in self.last + 1..=up_to {
            let label = Attribute::Text(absent.to_string().into());
            sink.vertex(at, &Attribute::Int(absent.cast_signed()), &vec![("label".into(), Some(label))])?;
        }
        Ok(())
    }

    fn line(
        &mut self,
        at: usize,
        line: &str,
        sink: &mut dyn Sink,
    ) -> Result<std::result::Result<(), Message>> {
        let words = match self.section {
            PajekSection::Other => return Ok(Ok(())),
            PajekSection::Start => {
                return Err(sink.broken(at, "*Vertices with their number belongs before".into()));
            }
            PajekSection::Vertices | PajekSection::Edges | PajekSection::Lists => match words(line) {
                Some(words) => words,
                None => return Ok(Err("the quotes of a text do not end".into())),
            },
        };
        match self.section {
            PajekSection::Vertices => self.vertex(at, &words, sink),
            PajekSection::Lists => self.list(at, &words, sink),
            _ => self.edge(at, words, sink),
        }
    }

    /// `number label x y z shape key value ...`, of which all but the number may be missing.
    fn vertex(
        &mut self,
        at: usize,
        words: &[Word<'_>],
        sink: &mut dyn Sink,
    ) -> Result<std::result::Result<(), Message>> {
        let number = words[0].text.parse::<u64>().ok().filter(|own| (1..=self.num_vertices).contains(own));
        let Some(number) = number else {
            let reason = format!("a number from 1 to {} belongs before the vertex", self.num_vertices);
            return Ok(Err(reason.into()));
        };
        if number > self.last {
            self.absent(at, number - 1, sink)?;
        }
        self.has_lines = true;
        self.last = self.last.max(number);
        let label = words.get(1).map_or_else(|| words[0].text.into(), |word| decoded(word.text));
        let name = self.label.clone().unwrap_or_else(|| "label".to_owned());
        let mut fields: NamedValues<'_> = vec![(name.into(), Some(Attribute::Text(label)))];
        let mut rest = words.get(2..).unwrap_or_default();
        if let Some([x, y, shape, pairs @ ..]) = words.get(2..)
            && [x, y, shape].map(|word| word.text) == NO_PLACE
        {
            rest = pairs;
        }
        for name in ["x", "y", "z"] {
            let Some(value) = rest.first().filter(|word| !word.is_quoted && is_number(word.text)) else {
                break;
            };
            fields.push((name.into(), number_of(value.text, true)));
            rest = &rest[1..];
        }
        if let Some(shape) = rest.first().filter(|word| is_shape(word.text)) {
            fields.push(("shape".into(), Some(Attribute::Text(shape.text.into()))));
            rest = &rest[1..];
        }
        if let Err(reason) = take_pairs(rest, &mut fields, sink) {
            return Ok(Err(reason));
        }
        sink.vertex(at, &Attribute::Int(number.cast_signed()), &fields)?;
        Ok(Ok(()))
    }

    /// `source target weight key value ...`, or `relation: source target ...`.
    fn edge(
        &mut self,
        at: usize,
        mut words: Vec<Word<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<std::result::Result<(), Message>> {
        let mut relation = self.relation.clone();
        if let Some(number) = words[0].text.strip_suffix(':') {
            relation = Some(number.to_owned());
            words.remove(0);
        }
        let ends = [words.first(), words.get(1)].map(|word| word.and_then(|word| vertex(word.text)));
        let [Some(source), Some(target)] = ends else {
            return Ok(Err("the numbers of two vertices belong here".into()));
        };
        let mut fields = NamedValues::new();
        let mut rest = &words[2..];
        if let Some(weight) = rest.first().filter(|word| is_number(word.text)) {
            if !self.is_unweighted {
                let name = self.weight.clone().unwrap_or_else(|| "weight".to_owned());
                fields.push((name.into(), number_of(weight.text, false)));
            }
            rest = &rest[1..];
        }
        if let Some(relation) = relation {
            fields.push(("relation".into(), Some(Attribute::Text(relation.into()))));
        }
        if let Err(reason) = take_pairs(rest, &mut fields, sink) {
            return Ok(Err(reason));
        }
        self.count_direction(sink);
        sink.edge(at, &Edge { source, target, directed: Some(self.directed), fields })?;
        Ok(Ok(()))
    }

    /// `vertex neighbour neighbour ...`
    fn list(
        &self,
        at: usize,
        words: &[Word<'_>],
        sink: &mut dyn Sink,
    ) -> Result<std::result::Result<(), Message>> {
        let Some(source) = vertex(words[0].text) else {
            return Ok(Err("the numbers of vertices belong here".into()));
        };
        for word in &words[1..] {
            let Some(target) = vertex(word.text) else {
                return Ok(Err("the numbers of vertices belong here".into()));
            };
            self.count_direction(sink);
            let fields = self.relation.iter().map(|own| ("relation".into(), Some(text_of(own)))).collect();
            let source = source.clone();
            sink.edge(at, &Edge { source, target, directed: Some(self.directed), fields })?;
        }
        Ok(Ok(()))
    }

    fn count_direction(&self, sink: &mut dyn Sink) {
        let told = sink.told();
        // An edge in a file that has arcs too is read in both directions.
        told.directed = Some(told.directed.unwrap_or(false) | self.directed);
    }
}

fn text_of(text: &str) -> Attribute<'static> {
    Attribute::Text(text.to_owned().into())
}

fn vertex(text: &str) -> Option<Attribute<'static>> {
    text.parse().ok().map(Attribute::Int)
}

fn is_number(text: &str) -> bool {
    text.eq_ignore_ascii_case("nan")
        || (text.starts_with(|sign: char| sign.is_ascii_digit() || matches!(sign, '-' | '+' | '.'))
            && text.parse::<f64>().is_ok())
}

fn is_shape(text: &str) -> bool {
    ["ellipse", "box", "diamond", "triangle", "cross", "empty", "circle", "house", "man", "woman"]
        .iter()
        .any(|shape| text.eq_ignore_ascii_case(shape))
}

/// Takes names and values in turn. A time in brackets is not read.
fn take_pairs<'a>(
    words: &[Word<'a>],
    fields: &mut NamedValues<'a>,
    sink: &dyn Sink,
) -> std::result::Result<(), Message> {
    let mut words = words.iter();
    while let Some(name) = words.next() {
        if name.text.starts_with('[') && !name.is_quoted {
            Notices::add(&sink.notices().dynamic);
            continue;
        }
        let Some(value) = words.next() else {
            return Err(format!("the attribute {:?} has no value", name.text).into());
        };
        fields.push((decoded(name.text), Some(Attribute::Text(decoded(value.text)))));
    }
    Ok(())
}
