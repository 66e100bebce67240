//! What an import knows before it reads: the schema, the options that fit it, and the run.

use esker_format::{Error, Result};
use esker_graph::{Run, RunOptions, Setting, Stop, message};

use crate::binary::{GRAPH500, GRAPH500_64};
use crate::build::edges::{Edges, check_types, check_weight};
use crate::options::{Duplicates, ImportOptions};
use crate::read::source::{Reader, Schema};

/// What an import knows before it reads.
pub(crate) struct Prepared {
    pub(crate) schema: Schema,
    /// The options that fit it.
    pub(crate) options: ImportOptions,
    /// The property that holds the kinds of edges.
    pub(crate) kind: Option<usize>,
}

/// Checks what is known of the input against the options.
///
/// # Errors
/// If they do not fit.
pub(crate) fn prepare(reader: &dyn Reader, options: &ImportOptions) -> Result<Prepared> {
    let schema = schema_of(reader, options);
    expect_no_vectors(&schema)?;
    let options = options_for(reader, &schema, options)?;
    check_weight(&schema, options.duplicates).and_then(|()| check_types(&schema))?;
    // What the input says of kinds counts where nothing else is chosen.
    let kind = kind_of(&schema, options.kind.as_deref())?.or(schema.kind);
    Ok(Prepared { schema, options, kind })
}

/// Refuses vectors as properties of edges.
fn expect_no_vectors(schema: &Schema) -> Result<()> {
    let is_vector = |place: &usize| schema.declared(*place).is_some_and(|own| own.logical.is_vector());
    let Some(found) = (0..schema.properties.len()).find(is_vector) else { return Ok(()) };
    let name = &schema.properties[found];
    Err(Error::usage(format!(
        "the edge property {name:?} cannot hold vectors, which vertices have: keep it as text"
    )))
}

/// The schema of the input.
fn schema_of(reader: &dyn Reader, options: &ImportOptions) -> Schema {
    let mut schema = reader.schema().clone();
    if [&GRAPH500, &GRAPH500_64].map(|format| format.name).contains(&schema.format) {
        // By convention its pairs have no direction, but nothing in a file says so: they have one if the user
        // says so.
        schema.directed = options.directed.or(schema.directed);
    }
    schema
}

/// The options, with the rule by which the entries of a matrix for one pair are joined.
///
/// # Errors
/// As [`Reader::entries_add_up`].
fn options_for(reader: &dyn Reader, schema: &Schema, options: &ImportOptions) -> Result<ImportOptions> {
    // Two entries of a matrix that is not symmetric are no entries for one pair, though an undirected graph
    // has one edge for them.
    let is_as_given = options.directed != Some(false) || schema.directed == Some(false);
    Ok(match options.adds_entries && is_as_given && reader.entries_add_up()? {
        true => ImportOptions { duplicates: Duplicates::Sum, ..options.clone() },
        false => options.clone(),
    })
}

/// The run of an import.
///
/// # Errors
/// As [`Run::new`].
pub(crate) fn run_of(options: &ImportOptions) -> std::result::Result<Run, Stop> {
    Run::new(RunOptions { threads: options.threads, cancel: options.cancel.clone(), ..RunOptions::default() })
}

/// The property that holds the kinds of edges, which the options name; a column that is given by its number
/// may have no other name.
///
/// # Errors
/// If there is none, or it holds something else than texts.
fn kind_of(schema: &Schema, name: Option<&str>) -> Result<Option<usize>> {
    let Some(name) = name else { return Ok(None) };
    let unnamed = name.parse::<usize>().map(|number| format!("column{number}"));
    let is_wanted = |known: &String| known == name || unnamed.as_ref().is_ok_and(|unnamed| known == unnamed);
    let Some(place) = schema.properties.iter().position(is_wanted) else {
        let known = match schema.properties.join(", ") {
            none if none.is_empty() => "none".to_owned(),
            known => known,
        };
        return Err(Error::usage(format!(
            "edges have no property {name:?} for their kind; they have {known}"
        )));
    };
    match schema.declared(place) {
        Some(own) if own.logical.is_text() => Ok(Some(place)),
        _ => {
            Err(Error::usage(format!("the kind of edges must be a text, and the property {name:?} is none")))
        }
    }
}

/// Refuses edges without a kind, which the property at `kind` holds.
pub(crate) fn expect_kinds(name: &str, edges: &Edges, kind: usize) -> Result<()> {
    // The empty text is the first.
    if !edges.layouts[kind].optional && edges.dictionaries[kind].text(0)?.is_none_or(|text| !text.is_empty())
    {
        return Ok(());
    }
    Err(Error::invalid(message![
        format!("some edges have no {name:?}, which is their kind: give them one with "),
        Setting::Default.to_type(name, "other"),
        ", or in the file",
    ]))
}
