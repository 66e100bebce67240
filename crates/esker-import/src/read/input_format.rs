//! A format as an input: its names, how it is recognised, what a user can choose, and its reader.

use esker_format::{Error, Result};
use esker_graph::Message;

use super::format::ReadOptions;
use super::head::InputHead;
use super::input::Input;
use super::source::Reader;

/// What a user can choose about reading a format. Each has the choices of those above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Choices {
    /// Nothing: its columns and the type of its ids are fixed.
    Nothing,
    /// Columns, and what ids are.
    Columns,
    /// How lines of text are split: delimiter, header, quotes.
    Lines,
    /// Whether it is followed while it grows: it is a table of text, with an edge a line.
    Growth,
}

/// An opened input of some format.
pub(crate) struct OpenedInput {
    /// Reads it.
    pub(crate) reader: Box<dyn Reader>,
    /// What each input was taken for, in words a user can check.
    pub(crate) notes: Vec<Message>,
}

impl OpenedInput {
    /// With a note that names the format of each input, and the notes of the reader.
    pub(crate) fn titled(reader: Box<dyn Reader>, inputs: &[Input], format: &InputFormat) -> Self {
        let note = |input: &Input| format!("Reading {} as {}", input.path().display(), format.title).into();
        let notes = inputs.iter().map(note).chain(reader.notes()).collect();
        Self { reader, notes }
    }
}

/// Opens inputs of a format; the head is the beginning of the first.
pub(crate) type OpenInputs = fn(&[Input], InputHead, &ReadOptions) -> Result<OpenedInput>;

/// A format as an input.
#[derive(Clone, Copy)]
pub(crate) struct InputFormat {
    /// The name that `--format` takes.
    pub(crate) name: &'static str,
    /// What a person calls it.
    pub(crate) title: &'static str,
    /// What a user can choose.
    pub(crate) choices: Choices,
    /// The reader.
    pub(crate) open: OpenInputs,
    /// Other names that `--format` takes, in lower case.
    pub(crate) aliases: &'static [&'static str],
    /// The endings of names that promise it, in lower case, without those of compression.
    pub(crate) endings: &'static [&'static str],
    /// Whether a file that begins so is of this format, whatever its name.
    pub(crate) begins: fn(&[u8]) -> bool,
    /// Whether all files of this format begin so: one that has its ending, and begins as a list of edges, is
    /// a table.
    pub(crate) always_begins_so: bool,
    /// Why a file that has one of the endings and begins so is of another format, in words.
    pub(crate) mistaken: fn(&[u8]) -> Option<&'static str>,
    /// Whether edges may lack a value, so that defaults mean something.
    pub(crate) takes_defaults: bool,
    /// Whether an input is one of several files of a graph, by the names of the files beside it.
    pub(crate) is_part: fn(&Input) -> bool,
}

impl InputFormat {
    /// A format without other names or endings, which nothing recognises.
    pub(crate) const fn new(
        name: &'static str,
        title: &'static str,
        choices: Choices,
        open: OpenInputs,
    ) -> Self {
        Self {
            name,
            title,
            choices,
            open,
            aliases: &[],
            endings: &[],
            begins: |_| false,
            always_begins_so: false,
            mistaken: |_| None,
            takes_defaults: false,
            is_part: |_| false,
        }
    }
}

/// A beginning without the mark that says in which order the bytes of Unicode stand.
pub(crate) fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head)
}

/// The first word of a text.
pub(crate) fn first_word(text: &[u8]) -> &[u8] {
    text.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or_default()
}

/// Whether a text begins with a word, in any case, behind blanks.
pub(crate) fn starts_with_word(text: &[u8], word: &[u8]) -> bool {
    text.trim_ascii_start().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The only input, for formats in which a file is a whole graph.
///
/// # Errors
/// If there are several.
pub(crate) fn one<'a>(inputs: &'a [Input], what: &str) -> Result<&'a Input> {
    match inputs {
        [input] => Ok(input),
        _ => Err(Error::invalid(format!(
            "{} inputs are named, but {what} stands in one file; name one",
            inputs.len()
        ))),
    }
}
