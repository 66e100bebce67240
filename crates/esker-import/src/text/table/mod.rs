//! Reads tables of edges: `.el`, `.wel`, SNAP, CSV, TSV and the `.e` of Graphalytics, with one parser.
//!
//! The producer cuts blocks at line ends; a worker parses a block. Where ids are integers in the first two
//! columns and nothing, or a weight, follows, a line like `digits separator digits line-end` takes the fast
//! path of `fast`; every other line is split into fields.

mod remembered;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::notation::{ColumnFormat, Notation};
use esker_format::{PropertyColumnRecord, PropertyType, Result, TableRecord};
use esker_graph::Message;

use remembered::{has_quotes, in_notation};

use super::blocks::{LineBlocks, PartialInput, input_error};
use super::columns::{EdgeColumn, TableColumns, columns, float_end, ids_are_texts};
use super::line::Separator;
use super::odd::check_name;
use super::sampled::{self, Unfit, find, values};
use super::shape::{SAMPLE_LINES, SAMPLE_LINES_MAX, TableShape, shape};
use super::table_ends::{MarkedTable, by_marks};
use super::table_parser::{ColumnLayout, TableParser};
use super::unexpected::{TableView, warnings};
use crate::columns::direction::{DirectionRule, mixed};
use crate::columns::expected::column_record;
use crate::columns::header_is_unclear;
use crate::columns::neo4j::different_groups;
use crate::read::format::{Pick, PickIds, ReadOptions};
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
    table: Option<TableRecord>,
    warnings: Vec<Message>,
}

/// What one input of several turned out to be.
struct Sniffed {
    shape: TableShape,
    columns: TableColumns,
    is_text: bool,
    /// How its values are written, for later files.
    notation: Notation,
    /// Whether that is the common notation, and not what the database remembers, as in an export.
    is_exported: bool,
    /// The property of the kinds of edges, if a mark in the header names it.
    kind: Option<String>,
    /// The groups of ids that the marks of both ends name, if they differ.
    groups: Option<[String; 2]>,
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
        let (given, options) = (options, &*options.in_remembered_notation()?);
        let mut tables = Vec::with_capacity(inputs.len());
        let mut parts = Vec::with_capacity(inputs.len());
        let mut first = Some(head);
        for input in inputs {
            let mut head = first.take().map_or_else(|| InputHead::of(input, options), Ok)?;
            let table = sniff(input, &mut head, style, given, options)?;
            let dialect = table.shape.dialect;
            parts.push(PartialInput {
                input: input.clone(),
                skip_bytes: table.shape.skip_bytes,
                skip_lines: table.shape.skip_lines,
                quoted: dialect.quotes.then_some(dialect),
                // A file that is being written may have another name by now.
                opened: (!input.is_repeatable() || options.live.is_some())
                    .then_some((head.stream, head.bytes)),
            });
            tables.push(table);
        }
        let paths: Vec<_> = inputs.iter().map(Input::path).collect();
        let (model, is_text) = (unite(&mut tables, &paths)?, tables.iter().any(|table| table.is_text));
        let notes = paths
            .iter()
            .zip(&tables)
            .map(|(path, table)| describe(path, table, is_text, style.format.title))
            .collect();
        let views = paths.iter().zip(&tables);
        let views =
            views.map(|(path, table)| TableView { path, shape: &table.shape, columns: &table.columns });
        let mut warnings = warnings(&views.collect::<Vec<_>>(), is_text, options);
        warnings.extend(paths.iter().zip(&tables).filter_map(|(path, table)| one_of_two(path, table)));
        let rule = direction_rule(&tables, &paths, options)?;
        let properties = tables[model].columns.properties.clone();
        let schema = Schema {
            format: style.format.name,
            ids: if is_text { IdKind::Text } else { IdKind::Int },
            properties: properties.iter().map(|property| property.name.clone()).collect(),
            weight: tables[model].columns.weight,
            types: properties.iter().map(|property| property.property_type.clone()).collect(),
            directed: match rule {
                Some(DirectionRule::Same(directed)) => Some(directed),
                Some(DirectionRule::BothWays) => Some(true),
                Some(DirectionRule::Ignored) | None => None,
            },
            time: tables[model].columns.time,
            both_ends: false,
            kind: tables[model].kind.as_ref().and_then(|kind| place_of(kind, &properties)),
            operation: tables[model].columns.operation,
            input_bytes: inputs.iter().map(Input::stored_bytes).sum(),
        };
        let layouts = tables.iter().map(|table| layout(table, options)).collect();
        let required = options.required_of(&schema.properties);
        let required = required.or_kind(schema.kind).with_operation(schema.operation, options);
        let parser =
            TableParser::new(paths, layouts, is_text, schema.properties.clone(), schema.types.clone())
                .with_weight_and_time(schema.weight, schema.time)
                .with_direction(rule)
                .with_lines_of(options.line_bytes_max)
                .with_rejected(options.rejected)
                .with_fixed_types(options.types_are_fixed, options.ids_can_become_texts)
                .with_limits(required, options.nameable());
        let (parser, table) = (Arc::new(parser), tables[model].record(options));
        Ok((Self { schema, blocks: LineBlocks::new(parts, options), parser, table, warnings }, notes))
    }
}

impl Sniffed {
    /// What a database remembers of the table; `None` if it is empty.
    fn record(&self, options: &ReadOptions) -> Option<TableRecord> {
        let Self { shape, columns, .. } = self;
        let column = |column: usize| column_record(column, shape.header.as_deref());
        let property = |property: &EdgeColumn| PropertyColumnRecord {
            property: property.name.clone(),
            column: column(property.column),
        };
        let of_column = |name: &str| {
            let found = find(shape, name).ok();
            let own = columns.properties.iter().find(|property| Some(property.column) == found);
            own.map_or(name, |property| &property.name).to_owned()
        };
        (shape.columns > 0).then(|| TableRecord {
            source: column(columns.source),
            target: column(columns.target),
            properties: columns.properties.iter().map(property).collect(),
            columns: shape.columns as u32,
            named: shape.header.is_some(),
            delimiter: Some(shape.dialect.separator.byte()),
            quotes: options.quotes,
            both_ends: false,
            nulls: options.nulls.clone(),
            notation: self.notation.record(of_column),
            defaults: Vec::new(),
        })
    }
}

impl Reader for TableReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn table(&self) -> Option<TableRecord> {
        self.table.clone()
    }

    fn warnings(&self) -> Vec<Message> {
        self.warnings.clone()
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        self.blocks.next_block()
    }
}

/// Tells what the input is from its first 64 KiB, or from its first mebibyte where these leave it open.
/// `given` are the options without what a database remembers of notation, `options` those with it.
fn sniff(
    input: &Input,
    head: &mut InputHead,
    style: TableStyle,
    given: &ReadOptions,
    options: &ReadOptions,
) -> Result<Sniffed> {
    match look(input, head, SAMPLE_LINES, style, given, options)? {
        Ok(found) => return Ok(found),
        // What is still being written may not have a mebibyte yet.
        Err(_) if options.live.is_some() => {}
        Err(_) if head.whole => {}
        Err(_) => head.extend(HEAD_BYTES_MAX)?,
    }
    let found = look(input, head, SAMPLE_LINES_MAX, style, given, options)?;
    found.map_err(|unfit| unfit.error(&input.path()))
}

/// Fractional seconds since 1970, as Zeek and tshark write them, in the words of `strptime`.
const SECONDS_WITH_FRACTION: &str = "%s%.f";

/// These options, with a format for the column of the time if it holds fractional seconds since 1970.
fn with_fractional_seconds<'o>(shape: &TableShape, options: &'o ReadOptions) -> Cow<'o, ReadOptions> {
    let Pick::Column(name) = &options.time else { return Cow::Borrowed(options) };
    let declared = options.schema.iter().any(|declared| declared.name == *name);
    let Some(column) = find(shape, name).ok().filter(|_| !declared) else { return Cow::Borrowed(options) };
    let given = || values(shape, column).map(<[u8]>::trim_ascii).filter(|value| !value.is_empty());
    let is_second = |value: &[u8]| {
        let second = value.split(|&byte| byte == b'.').next().unwrap_or_default();
        // From 1973 to 2286.
        (9..=10).contains(&second.len()) && value.iter().all(|&byte| byte.is_ascii_digit() || byte == b'.')
    };
    let have_fractions = given().any(|value| value.contains(&b'.')) && given().all(is_second);
    let has_format = sampled::notation(shape, column, options).has_format();
    match SECONDS_WITH_FRACTION.parse() {
        Ok(format) if have_fractions && !has_format => {
            let mut options = options.clone();
            options.notation.formats.push(ColumnFormat { column: Some(name.clone()), format });
            Cow::Owned(options)
        }
        _ => Cow::Borrowed(options),
    }
}

/// The same, from a number of lines. The inner error may be mended by more of them.
fn look(
    input: &Input,
    head: &mut InputHead,
    lines_max: usize,
    style: TableStyle,
    given: &ReadOptions,
    options: &ReadOptions,
) -> Result<std::result::Result<Sniffed, Unfit>> {
    let found = seen(input, head, lines_max, style, options)?;
    let shape = match has_quotes(head, &found, given) {
        Ok(false) => found,
        Ok(true) => {
            let quoted = ReadOptions { quotes: Some(true), ..options.clone() };
            seen(input, head, lines_max, style, &quoted)?
        }
        Err(unfit) => return Ok(Err(unfit)),
    };
    let (is_exported, options) = match in_notation(&shape, given, options) {
        Ok(found) => found,
        Err(unfit) => return Ok(Err(unfit)),
    };
    let groups = shape.header.as_deref().and_then(different_groups);
    let MarkedTable { shape, options, kind } = by_marks(shape, options);
    let options: &ReadOptions = &with_fractional_seconds(&shape, &options);
    if let Some(line) = &shape.unclear {
        return Ok(Err(Unfit::Sample(header_is_unclear(line))));
    }
    let weighted = style.is_weighted && options.weight == Pick::Auto && shape.columns >= 3;
    let columns = if weighted && shape.header.is_none() {
        columns(&shape, &ReadOptions { weight: Pick::Column("3".to_owned()), ..options.clone() })
    } else {
        columns(&shape, options)
    };
    let columns = match columns {
        Ok(columns) => columns,
        Err(unfit @ Unfit::Sample(_)) => return Ok(Err(unfit)),
        Err(unfit) => return Err(unfit.error(&input.path())),
    };
    let wrong = columns.properties.iter().find_map(|property| check_name(&property.name).err());
    if let Some(reason) = wrong {
        return Err(input_error(&input.path(), Some(shape.skip_lines), b"", reason));
    }
    let is_text = ids_are_texts(&shape, &columns, options);
    let notation = options.notation.clone();
    Ok(Ok(Sniffed { shape, columns, is_text, notation, is_exported, kind, groups }))
}

/// The shape of an input, of which as much is read as it takes.
fn seen(
    input: &Input,
    head: &mut InputHead,
    lines_max: usize,
    style: TableStyle,
    options: &ReadOptions,
) -> Result<TableShape> {
    let failed = |reason| input_error(&input.path(), None, b"", reason);
    loop {
        match shape(&head.bytes, head.whole, style.separators, lines_max, options).map_err(failed)? {
            // Long ids and texts leave no room for a row below the header.
            Some(shape) if shape.rows.is_empty() && !head.whole && head.bytes.len() < HEAD_BYTES_MAX => {
                head.extend(HEAD_BYTES_MAX)?;
            }
            Some(shape) => return Ok(shape),
            None if head.bytes.len() < HEAD_BYTES_MAX => head.extend(HEAD_BYTES_MAX)?,
            None => return Err(failed(format!("the first {HEAD_BYTES_MAX} bytes hold no line of edges"))),
        }
    }
}

/// The warning that ids of two groups are taken for those of one.
fn one_of_two(path: &Path, table: &Sniffed) -> Option<Message> {
    let [source, target] = table.groups.as_ref()?;
    let reason = format!(
        "{}: ids of {source} and of {target} are not told apart: an id that stands in both is one vertex",
        path.display()
    );
    Some(reason.into())
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

/// The place of a property.
fn place_of(name: &str, properties: &[EdgeColumn]) -> Option<usize> {
    properties.iter().position(|property| property.name == name)
}

/// What becomes of edges by what a column says of their direction; `None` if no table has such a column.
fn direction_rule(
    tables: &[Sniffed],
    paths: &[Arc<PathBuf>],
    options: &ReadOptions,
) -> Result<Option<DirectionRule>> {
    let mut told =
        tables.iter().zip(paths).filter_map(|(table, path)| Some((table.columns.direction?, path)));
    let Some((first, _)) = told.next() else { return Ok(None) };
    match options.directed {
        Some(true) => return Ok(Some(DirectionRule::BothWays)),
        Some(false) => return Ok(Some(DirectionRule::Ignored)),
        None => {}
    }
    match told.find(|(other, _)| other.first != first.first) {
        Some((_, path)) => Err(input_error(path, None, b"", mixed())),
        None => Ok(Some(DirectionRule::Same(first.first))),
    }
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
        notations: table.columns.properties.iter().map(EdgeColumn::own_notation).collect(),
        float_end: (options.ids == PickIds::Auto).then(|| float_end(&table.shape, &table.columns)).flatten(),
        direction: table.columns.direction.map(|direction| direction.column),
        missing: Some(table.shape.missing.clone()),
        mark: None,
    }
}

/// How a table is read, for the user: `Reading deals.csv as CSV: source from, target to, weight (text ids)`.
fn describe(path: &Arc<PathBuf>, table: &Sniffed, is_text: bool, title: &str) -> Message {
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
    let written = match table.is_exported {
        true => "; its values are written as in exports, not as in the import",
        false => "",
    };
    let read = format!("Reading {path} as {title}{header}{separated}: {} ({ids}){written}", parts.join(", "));
    read.into()
}
