//! Reads tables of edges: `.el`, `.wel`, SNAP, CSV, TSV and the `.e` of Graphalytics, with one parser.
//!
//! The producer cuts blocks at line ends; a worker parses a block. Where ids are integers in the first two
//! columns and nothing, or a weight, follows, a line like `digits separator digits line-end` takes the fast
//! path of `fast`; every other line is split into fields.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{PropertyType, Result};
use esker_graph::{Message, Setting, message};

use super::blocks::{LineBlocks, PartialInput, excerpt, input_error};
use super::columns::{TableColumns, columns, ids_are_texts};
use super::line::Separator;
use super::shape::{TableShape, shape};
use super::table_parser::{ColumnLayout, TableParser};
use crate::read::format::{Pick, ReadOptions};
use crate::read::head::{HEAD_BYTES_MAX, InputHead};
use crate::read::input::Input;
use crate::read::input_format::InputFormat;
use crate::read::source::{BlockParser, IdKind, InputBlock, Reader, Schema};

/// How a format of tables is read.
#[derive(Clone, Copy)]
pub(crate) struct TableStyle {
    /// The format.
    pub(crate) format: &'static InputFormat,
    /// What may separate columns, the likeliest first.
    pub(crate) separators: &'static [Separator],
    /// Whether the format itself says that the third column is a weight, whatever stands there.
    pub(crate) is_weighted: bool,
}

/// Tables of edges, one after another.
pub(crate) struct TableReader {
    schema: Schema,
    blocks: LineBlocks,
    parser: Arc<TableParser>,
}

/// What one input of several turned out to be.
struct Sniffed {
    shape: TableShape,
    columns: TableColumns,
    is_text: bool,
}

impl TableReader {
    /// Sniffs all `inputs`; `head` is the beginning of the first. Also returns what they are taken for, in
    /// words.
    ///
    /// # Errors
    /// If an input cannot be read, is no text, or lacks a column that was asked for, or has others than the
    /// first.
    pub(crate) fn open(
        inputs: &[Input],
        head: InputHead,
        style: TableStyle,
        options: &ReadOptions,
    ) -> Result<(Self, Vec<Message>)> {
        let mut tables = Vec::with_capacity(inputs.len());
        let mut parts = Vec::with_capacity(inputs.len());
        let mut first = Some(head);
        for input in inputs {
            let mut head = first.take().map_or_else(|| InputHead::of(input, options), Ok)?;
            let table = sniff(input, &mut head, style, options)?;
            let dialect = table.shape.dialect;
            parts.push(PartialInput {
                input: input.clone(),
                skip_bytes: table.shape.skip_bytes,
                skip_lines: table.shape.skip_lines,
                quoted: dialect.quotes.then_some(dialect),
                opened: (!input.is_repeatable()).then_some((head.stream, head.bytes)),
            });
            tables.push(table);
        }
        let paths: Vec<_> = inputs.iter().map(Input::path).collect();
        let model = unite(&mut tables, &paths)?;
        let is_text = tables.iter().any(|table| table.is_text);
        let notes = paths
            .iter()
            .zip(&tables)
            .map(|(path, table)| describe(path, table, is_text, style.format.title, options))
            .collect();
        let properties = tables[model].columns.properties.clone();
        let schema = Schema {
            format: style.format.name,
            ids: if is_text { IdKind::Text } else { IdKind::Int },
            properties: properties.iter().map(|property| property.name.clone()).collect(),
            weight: tables[model].columns.weight,
            types: properties.iter().map(|property| property.property_type.clone()).collect(),
            directed: None,
            time: tables[model].columns.time,
            both_ends: false,
            input_bytes: inputs.iter().map(Input::stored_bytes).sum(),
        };
        let layouts = tables.iter().map(|table| layout(table, options)).collect();
        let (names, types) = (schema.properties.clone(), schema.types.clone());
        let parser = TableParser::new(paths, layouts, is_text, names, types)
            .with_weight_and_time(schema.weight, schema.time)
            .with_lines_of(options.line_bytes_max)
            .with_fixed_types(options.types_are_fixed);
        let parser = Arc::new(parser);
        Ok((Self { schema, blocks: LineBlocks::new(parts, options), parser }, notes))
    }
}

impl Reader for TableReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        self.blocks.next_block()
    }
}

fn sniff(input: &Input, head: &mut InputHead, style: TableStyle, options: &ReadOptions) -> Result<Sniffed> {
    let failed = |reason| input_error(&input.path(), None, b"", reason);
    let shape = loop {
        match shape(&head.bytes, head.whole, style.separators, options).map_err(failed)? {
            // Long ids and texts leave no room for a row below the header.
            Some(shape) if shape.rows.is_empty() && !head.whole && head.bytes.len() < HEAD_BYTES_MAX => {
                head.extend(HEAD_BYTES_MAX)?;
            }
            Some(shape) => break shape,
            None if head.bytes.len() < HEAD_BYTES_MAX => head.extend(HEAD_BYTES_MAX)?,
            None => return Err(failed(format!("the first {HEAD_BYTES_MAX} bytes hold no line of edges"))),
        }
    };
    let weighted = style.is_weighted && options.weight == Pick::Auto && shape.columns >= 3;
    let columns = if weighted && shape.header.is_none() {
        columns(&shape, &ReadOptions { weight: Pick::Column("3".to_owned()), ..options.clone() })
    } else {
        columns(&shape, options)
    };
    let columns = columns.map_err(|unfit| unfit.error(&input.path()))?;
    let is_text = ids_are_texts(&shape, &columns, options);
    Ok(Sniffed { shape, columns, is_text })
}

/// Makes all tables agree on their properties, and returns which of them is the model. Tables without rows
/// agree with anything.
fn unite(tables: &mut [Sniffed], paths: &[Arc<PathBuf>]) -> Result<usize> {
    let model = tables.iter().position(|table| table.shape.columns > 0).unwrap_or(0);
    let names = |table: &Sniffed| -> Vec<String> {
        table.columns.properties.iter().map(|property| property.name.clone()).collect()
    };
    let expected = names(&tables[model]);
    for (table, path) in tables.iter().zip(paths) {
        if table.shape.columns > 0 && names(table) != expected {
            let list = |names: &[String]| if names.is_empty() { "none".into() } else { names.join(", ") };
            let reason = format!(
                "its edge properties are {}, but those of {} are {}; import files of one kind together",
                list(&names(table)),
                paths[model].display(),
                list(&expected)
            );
            return Err(input_error(path, None, b"", reason));
        }
    }
    for index in 0..expected.len() {
        let has_rows = |table: &&Sniffed| table.shape.columns > 0 || tables[model].shape.columns == 0;
        let found = tables.iter().filter(has_rows).filter_map(|table| table.columns.properties.get(index));
        let mut types = found.map(|property| &property.property_type);
        let first = types.next().cloned().unwrap_or_default();
        // What is a date in one file and a category in another is a category.
        let united = if types.all(|one| *one == first) { first } else { Some(PropertyType::text()) };
        for table in &mut *tables {
            if let Some(property) = table.columns.properties.get_mut(index) {
                property.property_type = united.clone();
            }
        }
    }
    Ok(model)
}

fn layout(table: &Sniffed, options: &ReadOptions) -> ColumnLayout {
    let is_open = table.shape.header.is_none() && options.header.is_none();
    ColumnLayout {
        dialect: table.shape.dialect,
        columns: table.shape.columns,
        has_header: table.shape.header.is_some(),
        may_be_header: is_open.then_some(table.shape.skip_lines + 1),
        source: table.columns.source,
        target: table.columns.target,
        properties: table.columns.properties.iter().map(|property| property.column).collect(),
        mark: None,
    }
}

/// How a table is read, for the user: `Reading deals.csv as CSV: source from, target to, weight (text ids)`.
fn describe(
    path: &Arc<PathBuf>,
    table: &Sniffed,
    is_text: bool,
    title: &str,
    options: &ReadOptions,
) -> Message {
    let Sniffed { shape, columns, .. } = table;
    let path = path.display();
    if shape.columns == 0 && shape.skip_bytes == 0 {
        return format!("Reading {path}: the file is empty (0 bytes)").into();
    }
    if shape.columns == 0 {
        return format!("Reading {path} as {title}: it has no edges").into();
    }
    let separator = shape.dialect.separator.describe();
    let usual = matches!((title, separator.as_str()), ("CSV", "','") | ("TSV", "tabs"));
    let separated = if usual { String::new() } else { format!(" separated by {separator}") };
    let header = match (shape.header.is_some(), title) {
        (false, "CSV" | "TSV") => " without header",
        (true, title) if !matches!(title, "CSV" | "TSV") => " with header",
        _ => "",
    };
    let column = |role: &str, column: usize| match &shape.header {
        Some(header) => match header.get(column).map_or("", String::as_str) {
            name if name == role || role.is_empty() => name.to_owned(),
            name => format!("{role} {name}"),
        },
        None => format!("{role} column {}", column + 1).trim_start().to_owned(),
    };
    let mut parts = vec![column("source", columns.source), column("target", columns.target)];
    for (index, property) in columns.properties.iter().enumerate() {
        let is_weight = columns.weight == Some(index);
        let role = if is_weight { "weight" } else { "" };
        let kind = property.property_type.as_ref().map(|kind| format!(" as {kind}")).unwrap_or_default();
        parts.push(column(role, property.column) + &kind);
    }
    let ids = if is_text { "text ids" } else { "integer ids" };
    let assumed = assumptions(table, is_text, title, options);
    let read = format!("Reading {path} as {title}{header}{separated}: {} ({ids})", parts.join(", "));
    message![read, assumed]
}

/// What a reader of the note may not expect: columns that are left out, and a first line that may be a
/// header.
fn assumptions(table: &Sniffed, is_text: bool, title: &str, options: &ReadOptions) -> Message {
    let Sniffed { shape, columns, .. } = table;
    let is_used = |column: &usize| {
        let is_property = columns.properties.iter().any(|property| property.column == *column);
        *column == columns.source || *column == columns.target || is_property
    };
    let name = |column: usize| match &shape.header {
        Some(header) => header.get(column).cloned().unwrap_or_default(),
        None => format!("column {}", column + 1),
    };
    let unused: Vec<String> = (0..shape.columns).filter(|column| !is_used(column)).map(name).collect();
    let mut text = Message::default();
    if !unused.is_empty() {
        text = text.and(format!("; not read: {}", excerpt(unused.join(", ").as_bytes())));
    }
    let may_have_header = is_text && options.header.is_none() && matches!(title, "CSV" | "TSV");
    if let (None, true, Some(first)) = (&shape.header, may_have_header, shape.rows.first()) {
        let first = excerpt(&first.join(&b','));
        let is_edge = format!("; its first line, {first}, is an edge: ");
        text = message![text, is_edge, Setting::Header.to(true), " if it names the columns"];
    }
    text
}
