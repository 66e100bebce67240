//! From names of inputs to a reader: the one entry of all formats.

use super::binary::{open_arrow, open_gap, open_graph500, open_parquet};
use super::format::{Format, ReadOptions};
use super::input::{Input, expand};
use super::sniff::sniff;
use super::source::Reader;
use super::text::table::{Head, TableReader};
use crate::error::{Error, Result};

/// An opened input.
pub struct Opened {
    /// Reads it.
    pub reader: Box<dyn Reader>,
    /// Its format, named or sniffed.
    pub format: Format,
    /// What each input was taken for, in words a user can check.
    pub notes: Vec<String>,
}

/// Opens what the user named: files, patterns, `-` for standard input (see [`expand`]).
///
/// # Errors
/// If an input cannot be read, is of no known format, or lacks what `options` ask for.
pub fn open_reader<S: AsRef<str>>(inputs: &[S], options: &ReadOptions) -> Result<Box<dyn Reader>> {
    Ok(open(inputs, options)?.reader)
}

/// The same, with what the inputs were taken for.
///
/// # Errors
/// As [`open_reader`].
pub fn open<S: AsRef<str>>(inputs: &[S], options: &ReadOptions) -> Result<Opened> {
    open_inputs(&expand(inputs)?, options)
}

/// The same for inputs of any kind. Several inputs are read one after another, as one; the first tells the format.
///
/// # Errors
/// As [`open_reader`].
pub fn open_inputs(inputs: &[Input], options: &ReadOptions) -> Result<Opened> {
    let Some(first) = inputs.first() else { return Err(Error::Invalid("no input is named".into())) };
    let head = Head::read(first)?;
    let format = match options.format {
        Some(format) => format,
        None => sniff(&first.name(), &head.bytes).map_err(|reason| Error::Input {
            path: first.path().to_path_buf(),
            line: None,
            text: String::new(),
            reason,
        })?,
    };
    let (reader, notes): (Box<dyn Reader>, _) = match format {
        Format::EdgeList | Format::WeightedEdgeList | Format::Snap | Format::Csv | Format::Tsv => {
            let (reader, notes) = TableReader::open(inputs, head, format, options)?;
            (Box::new(reader), notes)
        }
        Format::Sg | Format::Wsg => named(open_gap(inputs, format, options)?, inputs, format),
        Format::Graph500 | Format::Graph500Wide => {
            named(open_graph500(inputs, format, options)?, inputs, format)
        }
        Format::Parquet => named(open_parquet(inputs, options)?, inputs, format),
        Format::Arrow => named(open_arrow(inputs, options)?, inputs, format),
        other => return Err(Error::Invalid(format!("{} files cannot be read yet", other.title()))),
    };
    Ok(Opened { reader, format, notes })
}

/// A reader whose inputs have nothing to explain but their format.
fn named(reader: Box<dyn Reader>, inputs: &[Input], format: Format) -> (Box<dyn Reader>, Vec<String>) {
    let note = |input: &Input| format!("{}: taken as {}", input.path().display(), format.title());
    (reader, inputs.iter().map(note).collect())
}
