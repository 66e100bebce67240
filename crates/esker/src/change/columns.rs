//! Finds the columns of an input that hold the edge properties of a database.

use std::collections::HashSet;

use arrow_array::ArrayRef;
use esker_graph::{Assignment, Message, Operation, Setting, message};
use esker_import::open::expect_names_once;
use esker_import::read::format::{Declaration, Format, Pick, PickIds, PickProperties, ReadOptions};
use esker_import::read::known_kinds::KnownKinds;
use esker_import::read::known_vertices::KnownVertices;
use esker_import::read::source::{
    EdgeBatch, Reader, Rejected, RejectedText, Schema, WideInteger, id_at as external_id,
};
use esker_store::format::value::name::{is_called, plain};
use esker_store::format::{Duplicates, PropertyRecord};
use esker_store::ids::ExternalId;
use esker_store::property::Dictionary;
use esker_store::{Error, KINDS_NAMED_MAX, Result, unknown_kind};

pub use super::edge_input::{EdgeInput, Purpose};
use super::edge_input::{Wanted, holds_no_words};
use super::target::Target;

/// Opens inputs of edges to add to a database or remove from it. Columns are those that the database
/// remembers of its import, or have the names of properties, unless `given` names other columns for source,
/// target and weight.
///
/// # Errors
/// Those of [`esker_import::open::open`]; [`Error::Input`] if the columns are not those that the database
/// remembers; [`Error::Invalid`] if the input lacks an edge property of the database;
/// [`Error::Usage`] if `given` names a property that the database does not have.
pub fn open_edges(
    target: &Target,
    inputs: &[String],
    given: &ReadOptions,
    purpose: Purpose,
) -> Result<EdgeInput> {
    let mut input = open_columns(target, inputs, given, purpose)?;
    input.notes.extend(target.chosen_anew(given).filter(|_| input.reader.table().is_some()));
    if input.reader.schema().both_ends && !inputs.iter().any(|name| name == "-") {
        let (target, inputs, given) = (target.clone(), inputs.to_vec(), given.clone());
        input.again = Some(Box::new(move || Ok(open_columns(&target, &inputs, &given, purpose)?.reader)));
    }
    Ok(input)
}

fn open_columns(
    target: &Target,
    inputs: &[String],
    given: &ReadOptions,
    purpose: Purpose,
) -> Result<EdgeInput> {
    let kind = target.edge_properties.iter().find(|property| property.kind && purpose == Purpose::Add);
    let keeps_rejected = matches!(given.rejected, RejectedText::Rows);
    // The database determines the types.
    let base = ReadOptions {
        ids: ids(target, inputs, given)?,
        schema: Vec::new(),
        types_are_fixed: true,
        removes: purpose == Purpose::Remove,
        ids_can_become_texts: true,
        known_vertices: known_vertices(target),
        known_kinds: if keeps_rejected && purpose == Purpose::Remove { known_kinds(target)? } else { None },
        expected: target.expected(given),
        incomplete: target.incomplete(),
        kind: kind.map(|kind| kind.name.clone()),
        directed: Some(target.directed),
        ..given.clone()
    };
    let counted = given.vertices.as_ref().filter(|name| name.parse::<u64>().is_ok());
    expect_names_once(given)?;
    check_schema(target, given, purpose)?;
    if given.both_ends && target.directed {
        return Err(Error::usage(message![
            Setting::BothEnds.to(true),
            format!(
                " has no effect: the edges of {} are directed, so each row is an edge of its own",
                target.name
            ),
        ]));
    }
    if let (Purpose::Remove, Some(count)) = (purpose, counted) {
        let count = Setting::Vertices.to(count.as_str());
        return Err(Error::usage(message![count, " is a number: name a file of ids to delete"]));
    }
    if let Some(operation) = &given.operation
        && let Some(property) = target
            .edge_properties
            .iter()
            .find(|property| is_called(&property.name, &operation.column) && !property.is_text())
    {
        return Err(holds_no_words(property));
    }
    refuse_unknown(target, given, purpose)?;
    check_formats(target, given)?;
    let wanted = Wanted { target, purpose, properties: wanted_properties(target, given, purpose) };
    let kind = target.edge_properties.iter().find(|property| property.kind);
    if let (Purpose::Remove, Some(kind)) = (purpose, kind)
        && !wanted.properties.iter().any(|property| property.kind)
        && !inputs.is_empty()
    {
        return wanted.of_kinds(kind, inputs, given, &base);
    }
    wanted.open(inputs, given, &base)
}

/// The vertices of the database.
fn known_vertices(target: &Target) -> KnownVertices {
    let target = target.clone();
    KnownVertices::of(move |id| target.expect_vertex(id).is_ok())
}

/// The kinds of the edges of the database, if it has some.
fn known_kinds(target: &Target) -> Result<Option<KnownKinds>> {
    let Some(property) = target.edge_properties.iter().find(|property| property.kind) else {
        return Ok(None);
    };
    let texts = target.newest.dictionary(property.number);
    let kinds = (0..texts.map_or(0, Dictionary::len)).map(|code| {
        let text = texts.map_or(Ok(&[][..]), |texts| texts.text(code))?;
        Ok(text.to_vec())
    });
    let listed = kinds.collect::<Result<Vec<Vec<u8>>>>()?;
    let named: Vec<String> =
        listed.iter().take(KINDS_NAMED_MAX).map(|kind| String::from_utf8_lossy(kind).into_owned()).collect();
    let known: HashSet<Vec<u8>> = listed.into_iter().collect();
    let of = target.name.clone();
    Ok(Some(KnownKinds::of(&property.name, move |kind| match known.contains(kind) {
        true => Ok(()),
        false => Err(unknown_kind(&String::from_utf8_lossy(kind), &of, &named, known.len()).into()),
    })))
}

/// Refuses date formats of edge properties that the database does not have, unless there is a table of
/// vertices, whose columns they may be.
fn check_formats(target: &Target, given: &ReadOptions) -> Result<()> {
    if given.vertices.is_some() {
        return Ok(());
    }
    let mut named = given.notation.formats.iter().filter_map(|format| format.column.as_ref());
    let is_known = |name: &String| target.given_properties().any(|property| property.name == *name);
    match named.find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(Error::usage(message![
            Setting::DateFormat,
            format!(" names {name:?}, but {}", target.describe_edges()),
        ])),
    }
}

/// Refuses to remove the edges of a document that names vertices: these would go with them.
pub(super) fn refuse_vertices(schema: &Schema, purpose: Purpose) -> Result<()> {
    let names_vertices = schema.format.parse().is_ok_and(Format::names_vertices);
    if purpose == Purpose::Add || !names_vertices {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{} names vertices besides edges, so it does not say what to delete: give a table of edges, or a file of vertices",
        schema.format
    )))
}

/// The edge properties that are read: to add edges, all but their ids; to remove some, those that options
/// name.
fn wanted_properties(target: &Target, given: &ReadOptions, purpose: Purpose) -> Vec<PropertyRecord> {
    let named = |property: &PropertyRecord| {
        let is_named =
            |column: &String| is_called(&property.name, esker_import::read::format::without_type(column));
        let by_name = match &given.properties {
            PickProperties::None => false,
            PickProperties::All => true,
            PickProperties::Columns(columns) => columns.iter().any(is_named),
        };
        by_name
            || (property.weight && matches!(given.weight, Pick::Column(_)))
            || matches!(&given.time, Pick::Column(column) if is_named(column))
    };
    match purpose {
        Purpose::Add => target.given_properties().cloned().collect(),
        Purpose::Remove => target.edge_properties.iter().filter(|one| named(one)).cloned().collect(),
    }
}

/// The type of ids, which the database determines, not the input.
fn ids(target: &Target, inputs: &[String], given: &ReadOptions) -> Result<PickIds> {
    let known = if target.text_ids { PickIds::Text } else { PickIds::Int };
    if given.ids != PickIds::Auto && given.ids != known {
        let name = &target.name;
        return Err(Error::usage(match target.text_ids {
            true => message![
                format!("{name} has text ids, which do not become integers: leave "),
                Setting::Ids,
                " out, or import all edges again with ",
                Setting::Ids.to("int"),
            ],
            false => message![
                format!("{name} has integer ids: leave "),
                Setting::Ids,
                " out, or make them texts with ",
                Operation::Options.on(name).with(Setting::Ids.to("text")),
            ],
        }));
    }
    let format = given.format.or_else(|| inputs.first().and_then(|name| Format::from_name(name)));
    // Formats with integer ids only: `feed` converts them to text.
    let fixed = format.is_some_and(Format::has_fixed_columns);
    Ok(if fixed { PickIds::Auto } else { known })
}

/// Rejects options that name a column which is not an edge property.
fn refuse_unknown(target: &Target, given: &ReadOptions, purpose: Purpose) -> Result<()> {
    let has_weight = target.edge_properties.iter().any(|property| property.weight);
    let mut unknown: Vec<Assignment> = Vec::new();
    if let Pick::Column(column) = &given.weight
        && !has_weight
    {
        unknown.push(Setting::Weight.to_name(column));
    }
    let known = |name: &str| target.edge_properties.iter().any(|property| is_called(&property.name, name));
    let without_type = |name: &str| esker_import::read::format::without_type(name).to_owned();
    if let Pick::Column(column) = &given.time
        && !known(column)
    {
        unknown.push(Setting::Time.to_name(column));
    }
    if let (Purpose::Add, PickProperties::Columns(columns)) = (purpose, &given.properties) {
        let mut named = columns.iter().map(|column| without_type(column));
        if let Some(name) = named.find(|name| target.gives_ids_as(&plain(name))) {
            let named = Setting::Property.to_name(name);
            return Err(Error::usage(message![named, ": the database gives edges their ids; leave it out"]));
        }
    }
    if let PickProperties::Columns(columns) = &given.properties {
        let others = columns.iter().filter(|column| !known(&without_type(column)));
        unknown.extend(others.map(|column| Setting::Property.to_name(column)));
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let named = Message::join(unknown.into_iter().map(Message::from), ", ");
    let edges = target.describe_edges();
    let of_version = match &given.time {
        Pick::Column(column) if !known(column) => message![
            "; ",
            Setting::Time,
            " names the property with the times of edges, ",
            Setting::EventTime,
            " sets the time of the version",
        ],
        _ => Message::default(),
    };
    let remedy = match purpose {
        Purpose::Add => {
            message!["; use ", Setting::Define.to_some("NAME:TYPE"), " to add a property", of_version]
        }
        Purpose::Remove => Message::default(),
    };
    Err(Error::usage(message!["no edge property for ", named, format!(": {edges}"), remedy]))
}

/// Rejects declarations that the edge properties of the database contradict.
fn check_schema(target: &Target, given: &ReadOptions, purpose: Purpose) -> Result<()> {
    if let (Purpose::Remove, Some(declared)) = (purpose, given.schema.first()) {
        return Err(Error::usage(message![
            Setting::Schema.to_type(&declared.name, &declared.property_type),
            " has no effect: values are read in the types of the database",
        ]));
    }
    for Declaration { name, property_type } in &given.schema {
        let known = target.edge_properties.iter().find(|property| property.name == *name);
        let known = known.ok_or_else(|| {
            Error::usage(message![
                "no edge property for ",
                Setting::Schema.to_type(name, property_type),
                format!(": {}; use ", target.describe_edges()),
                Setting::Define.to_type(name, property_type),
                " to add it",
            ])
        })?;
        if known.logical != property_type.logical {
            return Err(Error::usage(message![
                Setting::Schema.to_type(name, property_type),
                format!(": the edge property {name:?} has the type {}", known.type_name()),
            ]));
        }
    }
    Ok(())
}

/// The error for the first bad line.
pub(super) fn stopped_by(bad: &Rejected) -> Error {
    Error::Input {
        path: bad.path.to_path_buf(),
        line: Some(bad.line),
        text: bad.text.to_string(),
        reason: message![&bad.reason, "; use ", Setting::BadLines.to("skip"), " to skip such lines"],
    }
}

/// An id as one of the kind that the database has; a number becomes a text in `buffer`.
pub(super) fn id_at<'a>(
    ids: &'a ArrayRef,
    index: usize,
    texts: bool,
    buffer: &'a mut String,
) -> ExternalId<'a> {
    match external_id(ids, index) {
        ExternalId::Int(id) if texts => {
            *buffer = id.to_string();
            ExternalId::Text(buffer.as_bytes())
        }
        id => id,
    }
}

/// Returns the size of the input in bytes, and the flags `reverse` and `once` of a feed.
pub(super) fn directions(
    target: &Target,
    reader: &dyn Reader,
    rule: Duplicates,
    purpose: Purpose,
) -> (Option<u64>, bool, bool) {
    let schema = reader.schema();
    let undirected = schema.directed == Some(false);
    let reverse = schema.stands_for_both(target.directed);
    // The other rules give the same result for an edge read once or twice, and so does a removal.
    let counts =
        purpose == Purpose::Add && matches!(rule, Duplicates::Keep | Duplicates::Sum | Duplicates::Refuse);
    let once = undirected && schema.both_ends && !target.directed && counts;
    (schema.input_bytes, reverse, once)
}

/// The error for an edge to add or to remove whose value cannot be taken: that at `place` among the
/// properties of the row `index`.
pub(super) fn not_taken(
    purpose: Purpose,
    rows: &EdgeBatch,
    place: usize,
    index: usize,
    text_ids: bool,
    error: &Error,
) -> Error {
    let (mut from, mut to) = (String::new(), String::new());
    let source = id_at(&rows.source, index, text_ids, &mut from);
    let target = id_at(&rows.target, index, text_ids, &mut to);
    let reason = match purpose {
        Purpose::Add => format!(
            "cannot add the edge from {source} to {target}: {error}; for another type, import all edges into a new database"
        ),
        Purpose::Remove => {
            format!("no edge from {source} to {target} can be the one to remove: {error}")
        }
    };
    match rows.wide.iter().find(|wide| (wide.property, wide.row) == (place, index)) {
        Some(WideInteger { path, line, .. }) => Error::Input {
            path: path.to_path_buf(),
            line: Some(*line),
            text: String::new(),
            reason: reason.into(),
        },
        None => Error::invalid(reason),
    }
}
