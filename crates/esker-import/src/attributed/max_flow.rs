//! DIMACS networks of a maximum flow: `p max vertices arcs`, `n 1 s`, `n 3 t`, then
//! `a source target capacity` lines, 1-based.
//!
//! D. Johnson, C. McGeoch, "Network Flows and Matching: First DIMACS Implementation Challenge", 1993.

use esker_format::Result;
use esker_graph::Message;

use super::choose::number_of;
use super::document::{self, DocumentFormat, Edge, Numbering, Sink, Syntax, lines, whole_lines};
use super::rows::Notices;
use super::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, without_mark};
use crate::text::headed::begins_with;

/// Networks of a maximum flow.
pub(crate) static MAX: InputFormat = InputFormat {
    aliases: &["dimacs-max"],
    endings: &["max"],
    begins: |head| begins_with(without_mark(head), "max"),
    always_begins_so: true,
    ..InputFormat::new("max", "DIMACS flow network", Choices::Columns, open)
};

static DOCUMENT: DocumentFormat = DocumentFormat {
    input: &MAX,
    syntax: || Box::new(FlowSyntax::default()),
    names: &[],
    are_values_untyped: false,
    directed: Some(true),
    default_weight: false,
};

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    document::open(inputs, head, options, &DOCUMENT)
}

#[derive(Default)]
struct FlowSyntax {
    has_head: bool,
    /// Arcs that are still to come.
    left: u64,
}

impl Syntax for FlowSyntax {
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize> {
        let whole = whole_lines(text, is_last);
        for (at, line) in lines(whole) {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match words.as_slice() {
                ["c", ..] => {}
                ["p", "max", vertices, arcs] if !self.has_head => {
                    let [Ok(vertices), Ok(arcs)] = [vertices, arcs].map(|word| word.parse::<u64>()) else {
                        let reason = "the numbers of vertices and arcs belong behind p max";
                        return Err(sink.broken(at, reason.into()));
                    };
                    (self.has_head, self.left) = (true, arcs);
                    sink.told().numbering = Some(Numbering { first: 1, count: vertices });
                }
                _ if !self.has_head => {
                    let reason = "a DIMACS flow network begins with: p max vertices arcs";
                    return Err(sink.broken(at, reason.into()));
                }
                ["n", ..] => Notices::add(&sink.notices().sections),
                ["a", rest @ ..] => {
                    self.left = self.left.checked_sub(1).ok_or_else(|| {
                        sink.broken(at, "there are more arcs than the header says; correct it".into())
                    })?;
                    match arc(rest) {
                        Ok(edge) => sink.edge(at, &edge)?,
                        Err(reason) => sink.reject(at, reason),
                    }
                }
                _ => sink.reject(at, ARC.into()),
            }
        }
        if is_last && (self.left > 0 || !self.has_head) {
            let reason = format!("the file is cut short: {} more arcs belong here", self.left);
            return Err(sink.broken(text.len(), reason.into()));
        }
        Ok(whole.len())
    }
}

const ARC: &str = "a line is: a source target capacity";

fn arc<'a>(words: &[&'a str]) -> std::result::Result<Edge<'a>, Message> {
    let &[source, target, capacity] = words else { return Err(ARC.into()) };
    let end = |word: &str| {
        word.parse().map(Attribute::Int).map_err(|_| format!("{word:?} is no number of a vertex"))
    };
    let fields = vec![("capacity".into(), number_of(capacity, false))];
    Ok(Edge { source: end(source)?, target: end(target)?, directed: None, fields })
}
