//! The formats of tables: what each may have between its columns, and which are weighted.

use esker_format::Result;

use super::line::Separator;
use super::shape::LIST;
use super::table::{TableReader, TableStyle};
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput};

/// `u v` a line.
pub(crate) static EL: InputFormat = InputFormat {
    aliases: &["edgelist", "edge-list"],
    endings: &["el"],
    ..InputFormat::new("el", "edge list", Choices::Growth, open_el)
};

/// `u v w` a line.
pub(crate) static WEL: InputFormat = InputFormat {
    endings: &["wel"],
    ..InputFormat::new("wel", "weighted edge list", Choices::Growth, open_wel)
};

/// Tabs or spaces between columns, `#` comments, sparse ids.
pub(crate) static SNAP: InputFormat = InputFormat {
    aliases: &["txt"],
    ..InputFormat::new("snap", "SNAP edge list", Choices::Growth, open_snap)
};

/// Columns with any delimiter, with or without a header, with quotes.
pub(crate) static CSV: InputFormat =
    InputFormat { endings: &["csv"], ..InputFormat::new("csv", "CSV", Choices::Growth, open_csv) };

/// Columns separated by tabs.
pub(crate) static TSV: InputFormat =
    InputFormat { endings: &["tsv", "tab"], ..InputFormat::new("tsv", "TSV", Choices::Growth, open_tsv) };

/// What separates the columns of a CSV if no option names the delimiter.
const ANY: &[Separator] = &[
    Separator::Byte(b','),
    Separator::Byte(b'\t'),
    Separator::Byte(b';'),
    Separator::Byte(b'|'),
    Separator::Blank,
];

fn open_el(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    open(inputs, head, TableStyle { format: &EL, separators: LIST, is_weighted: false }, options)
}

fn open_wel(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    open(inputs, head, TableStyle { format: &WEL, separators: LIST, is_weighted: true }, options)
}

fn open_snap(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    open(inputs, head, TableStyle { format: &SNAP, separators: LIST, is_weighted: false }, options)
}

fn open_csv(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    open(inputs, head, TableStyle { format: &CSV, separators: ANY, is_weighted: false }, options)
}

fn open_tsv(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let separators = &[Separator::Byte(b'\t')];
    open(inputs, head, TableStyle { format: &TSV, separators, is_weighted: false }, options)
}

fn open(inputs: &[Input], head: InputHead, style: TableStyle, options: &ReadOptions) -> Result<OpenedInput> {
    let (reader, notes) = TableReader::open(inputs, head, style, options)?;
    Ok(OpenedInput { reader: Box::new(reader), notes })
}
