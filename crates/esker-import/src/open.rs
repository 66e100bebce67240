//! From names of inputs to a reader: the one entry of all formats.

use std::collections::HashSet;
use std::path::Path;

use esker_format::io::{Disk, RealDisk};
use esker_format::{Error, Result, TableRecord};
use esker_graph::{Message, Setting, message};

use super::attributed::vertex_table::{VertexFile, VertexTable};
use super::binary::{TypedVertices, WithVertexFiles, may_be_vertices, open_typed_vertices, typed_title};
use super::columns::expected::EXPORTED_ENDS;
use super::formats::FORMATS;
use super::read::both_ends::BothEnds;
use super::read::defaults::{GivenDefault, WithDefaults};
use super::read::format::{DefaultValue, Format, Pick, PickIds, PickProperties, ReadOptions};
use super::read::head::InputHead;
use super::read::input::{Input, expand};
use super::read::input_format::{Choices, OpenedInput, one};
use super::read::of_kinds::OfKinds;
pub use super::read::of_kinds::{KIND_PROPERTY, OfKind};
use super::read::source::{IdKind, Reader};
use super::sniff::sniff;
use super::text::named::NamedReader;
use super::text::vertices::{WithCount, WithVertices};

/// What is named as vertices, for the error that there are several.
const A_FILE: &str = "a file of vertices";

/// An opened input.
pub struct Opened {
    /// Reads it.
    pub reader: Box<dyn Reader>,
    /// Its format, named or sniffed.
    pub format: Format,
    /// What each input was taken for, in words a user can check.
    pub notes: Vec<Message>,
    /// What may not be as the user expects it, such as columns that are not read.
    pub warnings: Vec<Message>,
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
    if let [folder] = inputs
        && let Some([edges, vertices]) = graph_frame(folder.as_ref())
    {
        let vertices = Some(options.vertices.clone().unwrap_or(vertices));
        // Its files are of Parquet.
        let format = options.format.filter(|&format| format != Format::GraphFrames);
        let options = ReadOptions { vertices, format, ..options.clone() };
        return open_inputs(&expand(&[edges], &options.cancel)?, &options);
    }
    if let Some(vertices) = options.vertices.as_deref().filter(|name| name.parse::<u64>().is_err()) {
        // What is read once is not both.
        let names: Vec<&str> = inputs.iter().map(AsRef::as_ref).chain([vertices]).collect();
        expand(&names, &options.cancel)?;
    }
    open_inputs(&expand(inputs, &options.cancel)?, options)
}

/// The files of the edges and of the vertices of a folder that has a folder of each, as GraphFrames are
/// saved; `None` if it is none.
fn graph_frame(folder: &str) -> Option<[String; 2]> {
    // A name that cannot be looked at is told of where it is read.
    let is_folder = |path: &Path| matches!(RealDisk.look(path), Ok(Some(entry)) if entry.is_directory);
    let parts = ["edges", "vertices"].map(|part| Path::new(folder).join(part));
    let is_frame = folder != "-" && parts.iter().all(|part| is_folder(part));
    is_frame
        .then(|| parts.map(|part| format!("{}/*.parquet", glob::Pattern::escape(&part.to_string_lossy()))))
}

/// The same for inputs of any kind. Several inputs are read one after another, as one; the first tells the
/// format.
///
/// # Errors
/// As [`open_reader`].
pub fn open_inputs(inputs: &[Input], options: &ReadOptions) -> Result<Opened> {
    let Some(first) = inputs.first() else { return Err(Error::invalid("no input is named")) };
    expect_names_once(options)?;
    let head = InputHead::of(first, options)?;
    let format = match options.format {
        Some(format) => format,
        None => format_of(first, &head).map_err(|reason| Error::input(first.path().as_path(), reason))?,
    };
    let input = format.input();
    if options.live.as_ref().is_some_and(|live| live.follow) && input.choices < Choices::Growth {
        return Err(Error::invalid(format!(
            "{} is {}: only tables of edges can be followed while they grow",
            first.path().display(),
            input.title
        )));
    }
    if input.choices < Choices::Lines {
        refuse_lines(input.title, options)?;
    }
    if input.choices < Choices::Columns {
        refuse_columns(input.title, options)?;
    }
    let is_table = input.choices >= Choices::Columns && !input.takes_defaults;
    if options.operation.is_some() && !is_table {
        return Err(Error::usage(message![
            Setting::Op,
            format!(" means nothing for a {}: only rows of a table say what happens to edges", input.title),
        ]));
    }
    if !options.defaults.is_empty() && !input.takes_defaults && !is_table {
        return Err(Error::usage(message![
            Setting::Default,
            format!(" means nothing for a {}, in which every edge has all values; leave it out", input.title),
        ]));
    }
    let OpenedInput { mut reader, mut notes } = (input.open)(inputs, head, options)?;
    let mut warnings = reader.warnings();
    let defaults = if is_table { defaults(options, reader.as_ref()) } else { Vec::new() };
    if !defaults.is_empty() {
        reader = Box::new(WithDefaults::new(reader, &defaults)?);
    }
    if matches!(options.weight, Pick::Column(_)) && reader.schema().weight.is_none() {
        return Err(Error::invalid(format!("{} has no weights to import", first.path().display())));
    }
    if options.operation.is_some() && reader.schema().operation.is_none() {
        return Err(Error::usage(message![
            Setting::Op,
            format!(" means nothing for a {}: only rows of a table say what happens to edges", input.title),
        ]));
    }
    let mut reader = beside_vertices(reader, options, &mut notes, &mut warnings)?;
    let remembered = options.expected.as_ref().is_some_and(|expected| expected.both_ends);
    let is_table = reader.table().is_some() && !reader.schema().both_ends;
    if options.both_ends || remembered && is_table && options.directed != Some(true) {
        reader = Box::new(BothEnds::new(reader)?);
    }
    Ok(Opened { reader, format, notes, warnings })
}

/// Refuses a name that is given two values, of which one would be dropped.
///
/// # Errors
/// [`Error::Usage`].
pub fn expect_names_once(options: &ReadOptions) -> Result<()> {
    let formats = options.notation.formats.iter().filter_map(|format| format.column.as_deref());
    expect_once_each(Setting::Default, options.defaults.iter().map(|one| one.name.as_str()))?;
    expect_once_each(Setting::Schema, options.schema.iter().map(|one| one.name.as_str()))?;
    expect_once_each(Setting::DateFormat, formats)
}

fn expect_once_each<'n>(setting: Setting, names: impl Iterator<Item = &'n str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::usage(message![setting, format!(" names {name:?} twice: leave one out")]));
        }
    }
    Ok(())
}

/// Puts the vertices that are given beside the edges before them.
fn beside_vertices(
    mut reader: Box<dyn Reader>,
    options: &ReadOptions,
    notes: &mut Vec<Message>,
    warnings: &mut Vec<Message>,
) -> Result<Box<dyn Reader>> {
    if let Some(table) = &options.vertex_table {
        let with = WithVertexFiles::open(std::slice::from_ref(table), reader, options)?;
        notes.push(with.note());
        warnings.extend(with.of_vertices());
        reader = Box::new(with);
    }
    match options.vertices.as_ref().map(|name| (name, name.parse())) {
        None => {}
        Some((_, Ok(count))) => reader = Box::new(WithCount::new(reader, count)?),
        Some((name, Err(_))) => {
            let vertices = expand(&[name], &options.cancel)?;
            reader = match reader.schema().ids {
                IdKind::Int | IdKind::Text if may_be_vertices(&vertices)? => {
                    let with = WithVertexFiles::open(&vertices, reader, options)?;
                    notes.push(with.note());
                    warnings.extend(with.of_vertices());
                    Box::new(with)
                }
                IdKind::Numbered { first, num_vertices } => Box::new(NamedReader::open(
                    one(&vertices, A_FILE)?,
                    reader,
                    first,
                    num_vertices,
                    options,
                )?),
                _ => with_vertices(one(&vertices, A_FILE)?, reader, options, notes, warnings)?,
            };
        }
    }
    Ok(reader)
}

/// Puts the vertices of a table in memory before edges, and tells what is not read of it. `of_database`: the
/// edges go to a database, whose integer ids can become texts.
///
/// # Errors
/// If its columns cannot be told, or it has other ids than the edges.
pub fn before_edges(
    table: &Input,
    edges: Box<dyn Reader>,
    of_database: bool,
) -> Result<(Box<dyn Reader>, Vec<Message>)> {
    let options = ReadOptions {
        vertex_table: Some(table.clone()),
        ids_can_become_texts: of_database,
        ..ReadOptions::default()
    };
    let mut warnings = Vec::new();
    let reader = beside_vertices(edges, &options, &mut Vec::new(), &mut warnings)?;
    Ok((reader, warnings))
}

/// The defaults of a table: those that are given, and the remembered ones of other properties that are read.
/// An export has an empty field where an edge has no value, so no remembered default is for it.
fn defaults(options: &ReadOptions, reader: &dyn Reader) -> Vec<GivenDefault> {
    let is_clear = |value: &DefaultValue| GivenDefault { value: value.clone(), is_unclear: false };
    let given: Vec<GivenDefault> = options.defaults.iter().map(is_clear).collect();
    let Some(expected) = options.expected.as_ref().filter(|_| !options.removes) else { return given };
    let like_export = reader.table().is_some_and(|table| has_ends_of_exports(&table));
    if like_export && !has_ends_of_exports(expected) {
        return given;
    }
    let remembered = expected.defaults.iter().filter(|one| {
        let is_given = options.defaults.iter().any(|given| given.name == one.property);
        !is_given && reader.schema().properties.contains(&one.property)
    });
    let remembered = remembered.map(|one| GivenDefault {
        value: DefaultValue { name: one.property.clone(), value: one.value.clone() },
        is_unclear: like_export && options.incomplete.contains(&one.property),
    });
    given.into_iter().chain(remembered).collect()
}

/// Whether the columns of the ends are called as in exports.
fn has_ends_of_exports(table: &TableRecord) -> bool {
    table.named && [&table.source, &table.target].map(|end| end.name.as_str()) == EXPORTED_ENDS
}

/// Puts the vertices of a file before edges.
fn with_vertices(
    vertices: &Input,
    edges: Box<dyn Reader>,
    options: &ReadOptions,
    notes: &mut Vec<Message>,
    warnings: &mut Vec<Message>,
) -> Result<Box<dyn Reader>> {
    match VertexTable::of(vertices, options)? {
        VertexFile::Table(table) => {
            let with = table.before(edges, options);
            notes.push(with.note());
            Ok(Box::new(with))
        }
        VertexFile::Ids(head, unclear) => {
            warnings.extend(unclear);
            let with = WithVertices::open(vertices, head, edges, None, options)?;
            notes.extend(with.header_note());
            Ok(Box::new(with))
        }
    }
}

/// Opens a file of vertices of a format with types, whose ids are to be texts or integers; `None` if the
/// input is of another format. `options` may declare types of properties.
///
/// # Errors
/// If it cannot be read, its columns cannot be told, or an option means nothing for it.
pub fn open_vertices(input: &Input, text_ids: bool, options: &ReadOptions) -> Result<Option<TypedVertices>> {
    let Some(title) = typed_title(input)? else { return Ok(None) };
    refuse_lines(title, options)?;
    open_typed_vertices(input, text_ids, options)
}

/// An input whose edges are of one kind.
#[derive(Debug, Clone)]
pub struct KindInput {
    /// The kind.
    pub kind: String,
    /// A file, a pattern, or `-` for standard input.
    pub input: String,
}

/// Opens inputs that each have the edges of one kind, as one: their property [`KIND_PROPERTY`] holds the
/// kind. They may be of several formats; the format is that of the first.
///
/// # Errors
/// As [`open_reader`]; if the inputs differ in their ids, properties or directions.
pub fn open_kinds(inputs: &[KindInput], options: &ReadOptions) -> Result<Opened> {
    expect_once(inputs, options)?;
    let (mut parts, mut all) = (Vec::new(), None);
    // Vertices have no kind.
    let of_edges = ReadOptions { vertices: None, ..options.clone() };
    for KindInput { kind, input } in inputs {
        let Opened { reader, format, notes, warnings } = open(&[input], &of_edges)?;
        parts.push(OfKind { kind: kind.clone(), name: input.clone(), reader });
        let (_, all_notes, all_warnings) = all.get_or_insert_with(|| (format, Vec::new(), Vec::new()));
        all_notes.extend(notes);
        all_warnings.extend(warnings);
    }
    let Some((format, mut notes, mut warnings)) = all else {
        return Err(Error::invalid("no input is named"));
    };
    let reader = of_kinds(parts, KIND_PROPERTY)?;
    let reader = beside_vertices(reader, options, &mut notes, &mut warnings)?;
    Ok(Opened { reader, format, notes, warnings })
}

/// Refuses a kind that is named twice, and inputs of kinds of which one that is read once is.
///
/// # Errors
/// [`Error::Usage`] for a kind; as [`expand`].
pub fn expect_once(inputs: &[KindInput], options: &ReadOptions) -> Result<()> {
    expect_once_each(Setting::Kind, inputs.iter().map(|one| one.kind.as_str()))?;
    let names: Vec<&str> = inputs.iter().map(|one| one.input.as_str()).collect();
    expand(&names, &options.cancel).map(|_| ())
}

/// Readers of one kind each, as one, whose property `name` holds the kinds.
///
/// # Errors
/// If they differ in their ids, properties or directions.
pub fn of_kinds(parts: Vec<OfKind>, name: &str) -> Result<Box<dyn Reader>> {
    Ok(Box::new(OfKinds::new(parts, name)?))
}

/// The format of an input, by the files beside it, its first bytes and its name.
fn format_of(input: &Input, head: &InputHead) -> std::result::Result<Format, String> {
    match FORMATS.iter().find(|entry| (entry.input.is_part)(input)) {
        Some(entry) => Ok(entry.format),
        None => sniff(&input.name(), &head.bytes),
    }
}

/// Formats without columns have none to choose.
fn refuse_columns(title: &str, options: &ReadOptions) -> Result<()> {
    let chosen = [
        (Setting::SourceColumn.into(), options.source.is_some()),
        (Setting::TargetColumn.into(), options.target.is_some()),
        (Setting::Weight.into(), matches!(options.weight, Pick::Column(_))),
        (Setting::Time.into(), matches!(options.time, Pick::Column(_))),
        (Setting::Property.into(), options.properties != PickProperties::None),
        (Setting::Schema.into(), !options.schema.is_empty()),
        (Setting::Ids.to("text"), options.ids == PickIds::Text && options.vertices.is_none()),
    ];
    match chosen.into_iter().find(|(_, chosen)| *chosen) {
        Some((setting, _)) => Err(Error::invalid(message![
            setting,
            format!(" means nothing for a {title}, whose columns are fixed; leave it out"),
        ])),
        None => Ok(()),
    }
}

/// Formats that are no tables of text have no lines to split.
fn refuse_lines(title: &str, options: &ReadOptions) -> Result<()> {
    let chosen = [
        (Setting::Delimiter.into(), options.delimiter.is_some()),
        (Setting::Header.to(true), options.header == Some(true)),
        // A file of vertices may have a header, quotes, and values in another notation.
        (Setting::DateFormat.into(), !options.notation.formats.is_empty() && options.vertices.is_none()),
        (Setting::DecimalComma.to(true), options.notation.has_decimal_comma() && options.vertices.is_none()),
        (Setting::Timezone.into(), options.notation.zone.is_some() && options.vertices.is_none()),
        (Setting::Null.into(), !options.nulls.is_empty() && options.vertices.is_none()),
        (Setting::Header.to(false), options.header == Some(false) && options.vertices.is_none()),
        (Setting::Quotes.to(false), options.quotes.is_some() && options.vertices.is_none()),
    ];
    match chosen.into_iter().find(|(_, chosen)| *chosen) {
        Some((setting, _)) => {
            let reason = format!(" has no effect on a {title}, which is no table of text");
            Err(Error::usage(message![setting, reason]))
        }
        None => Ok(()),
    }
}
