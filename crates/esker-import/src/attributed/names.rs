//! Lists of names: LGL, NCOL, and SIF of Cytoscape.
//!
//! * NCOL: `a b` or `a b weight` a line.
//! * LGL: `# a`, then a line `b` or `b weight` for each neighbour of `a`.
//! * SIF: `a interaction b c d`, between tabs or blanks.

use esker_format::Result;
use esker_graph::Message;

use super::choose::number_of;
use super::document::{self, DocumentFormat, Edge, NamedValues, Sink, Syntax, lines, whole_lines};
use super::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput};

/// NCOL lists.
pub(crate) static NCOL: InputFormat = InputFormat {
    endings: &["ncol"],
    takes_defaults: true,
    ..InputFormat::new("ncol", "NCOL list", Choices::Columns, |inputs, head, options| {
        open(inputs, head, options, &NCOL_DOCUMENT)
    })
};

/// LGL lists.
pub(crate) static LGL: InputFormat = InputFormat {
    endings: &["lgl"],
    takes_defaults: true,
    ..InputFormat::new("lgl", "LGL list", Choices::Columns, |inputs, head, options| {
        open(inputs, head, options, &LGL_DOCUMENT)
    })
};

/// Cytoscape's simple interactions.
pub(crate) static SIF: InputFormat = InputFormat {
    endings: &["sif"],
    takes_defaults: true,
    ..InputFormat::new("sif", "SIF list", Choices::Columns, |inputs, head, options| {
        open(inputs, head, options, &SIF_DOCUMENT)
    })
};

static NCOL_DOCUMENT: DocumentFormat = document(&NCOL, || Box::new(NcolSyntax), None);
static LGL_DOCUMENT: DocumentFormat = document(&LGL, || Box::new(LglSyntax::default()), Some(false));
static SIF_DOCUMENT: DocumentFormat = document(&SIF, || Box::new(SifSyntax::default()), None);

const fn document(
    input: &'static InputFormat,
    syntax: fn() -> Box<dyn Syntax>,
    directed: Option<bool>,
) -> DocumentFormat {
    DocumentFormat { input, syntax, names: &[], are_values_untyped: false, directed, default_weight: false }
}

/// The property that a SIF has between the ends of an edge, and what stands for none.
pub(crate) const INTERACTION: &str = "interaction";
pub(crate) const NO_INTERACTION: &str = "-";

fn open(
    inputs: &[Input],
    head: InputHead,
    options: &ReadOptions,
    format: &DocumentFormat,
) -> Result<OpenedInput> {
    document::open(inputs, head, options, format)
}

type Taken = Result<std::result::Result<(), Message>>;

struct NcolSyntax;

impl Syntax for NcolSyntax {
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize> {
        let whole = whole_lines(text, is_last);
        for (at, line) in lines(whole) {
            if let Err(reason) = ncol(at, line, sink)? {
                sink.reject(at, reason);
            }
        }
        Ok(whole.len())
    }
}

fn text(text: &str) -> Attribute<'_> {
    Attribute::Text(text.into())
}

/// The weight behind the ends of an edge, if there is one.
fn weight<'a>(words: &[&'a str]) -> std::result::Result<NamedValues<'a>, Message> {
    match words {
        [] => Ok(NamedValues::new()),
        [weight] => Ok(vec![("weight".into(), number_of(weight, false))]),
        _ => Err("a name holds blanks, or the line has more than a weight; names have no blanks".into()),
    }
}

fn ncol(at: usize, line: &str, sink: &mut dyn Sink) -> Taken {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let &[source, target, ref rest @ ..] = words.as_slice() else {
        return Ok(Err("the names of two vertices belong here".into()));
    };
    let fields = match weight(rest) {
        Ok(fields) => fields,
        Err(reason) => return Ok(Err(reason)),
    };
    sink.edge(at, &Edge { source: text(source), target: text(target), directed: None, fields }).map(Ok)
}

/// A tab anywhere in the file says that tabs divide all of its lines, and that names may have blanks.
#[derive(Default)]
struct SifSyntax {
    has_tabs: bool,
    /// Whether a line was divided at blanks.
    has_blanks: bool,
}

impl Syntax for SifSyntax {
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize> {
        let whole = whole_lines(text, is_last);
        if let Some(tab) = text.find('\t').filter(|_| !self.has_tabs) {
            if self.has_blanks {
                let reason = "a tab, which would divide all lines of a SIF, but lines above are divided at blanks: \
                              divide all of them by tabs";
                return Err(sink.broken(tab, reason.into()));
            }
            self.has_tabs = true;
        }
        for (at, line) in lines(whole) {
            self.has_blanks |= !self.has_tabs && line.contains(' ');
            if let Err(reason) = sif(at, line, self.has_tabs, sink)? {
                sink.reject(at, reason);
            }
        }
        Ok(whole.len())
    }
}

fn sif(at: usize, line: &str, has_tabs: bool, sink: &mut dyn Sink) -> Taken {
    let words: Vec<&str> = match has_tabs {
        true => line.split('\t').map(str::trim_ascii).collect(),
        false => line.split_ascii_whitespace().collect(),
    };
    match words.as_slice() {
        [vertex] => sink.vertex(at, &text(vertex), &NamedValues::new()).map(Ok),
        [source, interaction, targets @ ..] if !targets.is_empty() => {
            for target in targets {
                let fields = match *interaction {
                    NO_INTERACTION => NamedValues::new(),
                    other => vec![(INTERACTION.into(), Some(text(other)))],
                };
                let (source, target) = (text(source), text(target));
                sink.edge(at, &Edge { source, target, directed: None, fields })?;
            }
            Ok(Ok(()))
        }
        _ => Ok(Err("a line of a SIF is: source interaction target ...".into())),
    }
}

#[derive(Default)]
struct LglSyntax {
    source: Option<String>,
}

impl Syntax for LglSyntax {
    fn take(&mut self, whole: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize> {
        let whole = whole_lines(whole, is_last);
        for (at, line) in lines(whole) {
            if let Some(name) = line.strip_prefix('#') {
                let name = name.trim_ascii();
                self.source = Some(name.to_owned());
                sink.vertex(at, &text(name), &NamedValues::new())?;
                continue;
            }
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match (&self.source, weight(&words[1..])) {
                (Some(source), Ok(fields)) => {
                    let (source, target) = (text(source), text(words[0]));
                    sink.edge(at, &Edge { source, target, directed: None, fields })?;
                }
                (None, _) => return Err(sink.broken(at, "an LGL list begins with # and a vertex".into())),
                (_, Err(reason)) => sink.reject(at, reason),
            }
        }
        Ok(whole.len())
    }
}
