//! Options for reading edges, shared by all verbs that read files of edges.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use esker::import::read::format::{
    Declaration, DefaultValue, Format, Pick, PickIds, PickProperties, ReadOptions, parse_schema,
};
use esker::store::Error;

use crate::args::notation_args::NotationArgs;
use crate::interrupt;

/// `--ids`: the type of external ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum IdsArg {
    /// Integers if a sample of the ids are integers, else text.
    #[default]
    Auto,
    /// Integers.
    Int,
    /// Text.
    Text,
}

/// `--schema`: declared properties.
#[derive(Debug, Clone)]
pub(crate) struct SchemaArg(pub(crate) Vec<Declaration>);

impl FromStr for SchemaArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_schema(text).map(Self)
    }
}

fn format_help() -> String {
    let names: Vec<&str> = Format::all().map(Format::name).collect();
    format!("Format of the input: {} [default: detected]", names.join(", "))
}

/// How to read input files; the default is to detect everything.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArgs {
    /// Format of the input
    #[arg(long, value_name = "NAME", help = format_help())]
    pub(crate) format: Option<String>,
    /// Column of the source: a name, or a number from 1
    #[arg(long, visible_alias = "source-column", value_name = "COLUMN")]
    pub(crate) src: Option<String>,
    /// Column of the target
    #[arg(long, visible_alias = "target-column", value_name = "COLUMN")]
    pub(crate) dst: Option<String>,
    /// Column of the weight [default: a column called weight or w, or the weight of the format]
    #[arg(long, value_name = "COLUMN", conflicts_with = "no_weight")]
    pub(crate) weight: Option<String>,
    /// Ignore weights
    #[arg(long)]
    pub(crate) no_weight: bool,
    /// Column of the time, stored as an edge property: whole numbers, timestamps, or dates, which become the
    /// beginnings of their days. A new database remembers it for windows and streams; `esker options --time`
    /// sets it later
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: Option<String>,
    /// Column to store as an edge property, or `all` for all columns; may be repeated
    #[arg(long = "property", value_name = "COLUMN")]
    pub(crate) properties: Vec<String>,
    /// Types of edge properties, which their values must have; a column that is declared becomes a property.
    /// TYPE is text, bool, date, timestamp, timestamp[UNIT] or timestamp[UNIT, ZONE] with the unit s, ms, us
    /// or ns, or a number type as shown by `esker info`; may be repeated [default: as the input says, or as
    /// its first lines show]
    #[arg(long, value_name = "NAME:TYPE,...")]
    pub(crate) schema: Vec<SchemaArg>,
    /// Value of a property for edges that have none, nothing to give none; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) default: Vec<DefaultValue>,
    /// Word that stands for no value in every column of a table of text, as an empty field does; may be
    /// repeated. In columns of numbers, dates and truth values NA, NaN, null, none, - and \N always do
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pub(crate) null: Vec<String>,
    /// Type of the vertex ids
    #[arg(long, value_enum, default_value_t)]
    pub(crate) ids: IdsArg,
    #[command(flatten)]
    pub(crate) notation: NotationArgs,
    /// Character between CSV columns; `\t` or `tab` for a tab, `space` for a space
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,
    /// The first line of a CSV contains the column names
    #[arg(long, overrides_with = "no_header")]
    pub(crate) header: bool,
    /// The first line of a CSV is an edge
    #[arg(long, overrides_with = "header")]
    pub(crate) no_header: bool,
    /// Treat `"` as an ordinary character. --no-quotes=false where a database remembers it and a file has
    /// quotes
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) no_quotes: Option<bool>,
    /// File of vertex ids, one per line, or a table of vertices with a header or tabs, or in Parquet or
    /// Arrow, whose other columns become properties; or a number N: the vertices 0 to N - 1. Else only ids
    /// that stand in an edge are vertices
    #[arg(long, value_name = "FILE|N")]
    pub(crate) vertices: Option<String>,
    /// The input has each undirected edge twice, in both directions, as `esker export --both-ends` writes it
    #[arg(long)]
    pub(crate) both_ends: bool,
}

impl ReadArgs {
    /// Converts to the options of the store.
    ///
    /// # Errors
    /// An unknown format, or a delimiter of more than one byte.
    pub(crate) fn options(&self) -> Result<ReadOptions, Error> {
        Ok(ReadOptions {
            cancel: interrupt::token().clone(),
            format: self.format.as_deref().map(parse_format).transpose()?,
            source: self.src.clone(),
            target: self.dst.clone(),
            weight: match &self.weight {
                Some(column) => Pick::Column(column.clone()),
                None if self.no_weight => Pick::Skip,
                None => Pick::Auto,
            },
            time: self.time.clone().map_or(Pick::Auto, Pick::Column),
            properties: match self.properties.as_slice() {
                [] => PickProperties::None,
                [all] if all == "all" => PickProperties::All,
                columns => PickProperties::Columns(columns.to_vec()),
            },
            schema: self.schema.iter().flat_map(|schema| schema.0.iter().cloned()).collect(),
            defaults: self.default.clone(),
            nulls: self.null.clone(),
            ids: match self.ids {
                IdsArg::Auto => PickIds::Auto,
                IdsArg::Int => PickIds::Int,
                IdsArg::Text => PickIds::Text,
            },
            notation: self.notation.notation(),
            delimiter: self.delimiter.as_deref().map(delimiter).transpose()?,
            header: match (self.header, self.no_header) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            quotes: self.no_quotes.map(|are_none| !are_none),
            vertices: self.vertices.clone(),
            both_ends: self.both_ends,
            ..ReadOptions::default()
        })
    }
}

impl ReadArgs {
    /// Options for reading a table with the given delimiter.
    ///
    /// # Errors
    /// A delimiter of more than one byte.
    pub(crate) fn of_table(character: Option<&str>) -> Result<ReadOptions, Error> {
        Ok(ReadOptions { delimiter: character.map(delimiter).transpose()?, ..ReadOptions::default() })
    }
}

/// The format of this name.
///
/// # Errors
/// [`Error::Usage`] that names all formats.
pub(crate) fn parse_format(name: &str) -> Result<Format, Error> {
    name.parse().map_err(|error: Error| Error::usage(error.message()))
}

fn delimiter(text: &str) -> Result<u8, Error> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ if text.len() == 1 => Ok(text.as_bytes()[0]),
        _ => Err(Error::usage(format!("{text:?} is not a delimiter; give one character, tab or space"))),
    }
}
