//! Which columns of an input hold the properties that the edges of a database have.

use esker_store::import::format::{Format, Pick, PickIds, PickProperties, ReadOptions};
use esker_store::import::input::Input;
use esker_store::import::open::{Opened, open, open_inputs};
use esker_store::import::source::{Reader, Schema};
use esker_store::{Error, Result};

use super::target::Target;

/// What the edges of an input are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be added, with all properties.
    Add,
    /// To be removed; then only their ends matter.
    Remove,
}

/// An input of edges for a database.
pub struct EdgeInput {
    /// Reads it.
    pub reader: Box<dyn Reader>,
    /// What each input was taken for.
    pub notes: Vec<String>,
    /// What its edges are for.
    pub purpose: Purpose,
    /// For each edge property of the database, its place in the schema of the reader.
    pub(super) places: Vec<usize>,
}

/// Opens inputs whose edges are to be added to, or removed from, a database. Columns are found by the names of the properties,
/// unless `given` names others for source, target and weight.
///
/// # Errors
/// Those of [`open`]; [`Error::Invalid`] if the input lacks a property that edges have, or was asked for one that they have not.
pub fn open_edges(
    target: &Target,
    inputs: &[String],
    given: &ReadOptions,
    purpose: Purpose,
) -> Result<EdgeInput> {
    let base = ReadOptions { ids: ids(target, inputs, given)?, ..given.clone() };
    if purpose == Purpose::Remove || target.edge_properties.is_empty() {
        if purpose == Purpose::Add {
            refuse_unknown(target, given)?;
        }
        let options = bare(base);
        let Opened { reader, notes, .. } = open_any(inputs, &options)?;
        return Ok(EdgeInput { reader, notes, purpose, places: Vec::new() });
    }
    refuse_unknown(target, given)?;
    let by_name = open_any(inputs, &by_name(target, &base)).and_then(|opened| complete(target, opened));
    let first = match by_name {
        Ok(input) => return Ok(input),
        Err(error) => error,
    };
    // Formats with fixed columns, and those without a header, have a weight but no names.
    let only_weight = matches!(&target.edge_properties[..], [only] if only.weight);
    if !only_weight || inputs.iter().any(|input| input == "-") {
        return Err(first);
    }
    let by_place = ReadOptions { time: Pick::Skip, properties: PickProperties::None, ..base };
    match open_any(inputs, &by_place).and_then(|opened| complete(target, opened)) {
        Ok(input) => Ok(input),
        Err(second) => Err(if matches!(given.weight, Pick::Column(_)) { first } else { second }),
    }
}

/// Without inputs there may still be a file of vertices.
fn open_any(inputs: &[String], options: &ReadOptions) -> Result<Opened> {
    if !inputs.is_empty() {
        return open(inputs, options);
    }
    let options = ReadOptions { format: Some(Format::EdgeList), ..options.clone() };
    let mut opened = open_inputs(&[Input::memory("no edges", Vec::new())], &options)?;
    opened.notes.clear();
    Ok(opened)
}

/// Ends only.
fn bare(options: ReadOptions) -> ReadOptions {
    ReadOptions { weight: Pick::Skip, time: Pick::Skip, properties: PickProperties::None, ..options }
}

fn by_name(target: &Target, base: &ReadOptions) -> ReadOptions {
    let weight = match (&base.weight, target.edge_properties.iter().find(|property| property.weight)) {
        (Pick::Column(column), _) => Pick::Column(column.clone()),
        (_, Some(weight)) => Pick::Column(weight.name.clone()),
        (_, None) => Pick::Skip,
    };
    let others = target.edge_properties.iter().filter(|property| !property.weight);
    // The type is known, so that a text that looks like a number stays one.
    let typed = others
        .map(|property| format!("{}:{}", property.name, if property.texts { "text" } else { "number" }));
    let properties = PickProperties::Columns(typed.collect());
    ReadOptions { weight, time: Pick::Skip, properties, ..base.clone() }
}

/// What ids are: the database knows, not the input.
fn ids(target: &Target, inputs: &[String], given: &ReadOptions) -> Result<PickIds> {
    let known = if target.text_ids { PickIds::Text } else { PickIds::Int };
    if given.ids != PickIds::Auto && given.ids != known {
        let kind = if target.text_ids { "texts" } else { "integers" };
        return Err(Error::Invalid(format!("the ids of {} are {kind}: leave --ids out", target.name)));
    }
    let format = given.format.or_else(|| inputs.first().and_then(|name| Format::from_name(name)));
    // Formats of numbers only: their ids become texts as they are taken.
    let fixed = !matches!(
        format,
        None | Some(Format::EdgeList | Format::WeightedEdgeList | Format::Snap | Format::Csv | Format::Tsv)
            | Some(Format::Graphalytics | Format::Parquet | Format::Arrow)
    );
    Ok(if fixed { PickIds::Auto } else { known })
}

/// Columns that were asked for and are no property of the edges.
fn refuse_unknown(target: &Target, given: &ReadOptions) -> Result<()> {
    let has_weight = target.edge_properties.iter().any(|property| property.weight);
    let mut unknown = Vec::new();
    if let Pick::Column(column) = &given.weight
        && !has_weight
    {
        unknown.push(format!("--weight {column}"));
    }
    let known = |name: &str| target.edge_properties.iter().any(|property| property.name == name);
    let bare = |name: &str| name.trim_end_matches(":text").trim_end_matches(":number").to_owned();
    if let Pick::Column(column) = &given.time
        && !known(column)
    {
        unknown.push(format!("--time {column}"));
    }
    if let PickProperties::Columns(columns) = &given.properties {
        let others = columns.iter().filter(|column| !known(&bare(column)));
        unknown.extend(others.map(|column| format!("--property {column}")));
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let named = unknown.join(", ");
    let edges = target.describe_edges();
    Err(Error::Invalid(format!("{named} names nothing: {edges}; --define NAME:TYPE gives them another")))
}

/// The input, if it has all properties.
fn complete(target: &Target, opened: Opened) -> Result<EdgeInput> {
    let schema = opened.reader.schema();
    let places: Vec<Option<usize>> = target
        .edge_properties
        .iter()
        .map(|property| place(schema, &property.name, property.weight))
        .collect();
    let missing: Vec<&str> = places
        .iter()
        .zip(&target.edge_properties)
        .filter(|(place, _)| place.is_none())
        .map(|(_, property)| property.name.as_str())
        .collect();
    if !missing.is_empty() {
        let weight = target.edge_properties.iter().find(|property| property.weight);
        let remedy = match weight {
            Some(weight) if missing.contains(&weight.name.as_str()) => {
                "; if its column has another name, give that with --weight"
            }
            _ => "",
        };
        return Err(Error::Invalid(format!(
            "{}, and the input lacks {}: every edge needs a value for each, in columns of these names{remedy}",
            target.describe_edges(),
            missing.join(", ")
        )));
    }
    let places = places.into_iter().flatten().collect();
    Ok(EdgeInput { reader: opened.reader, notes: opened.notes, purpose: Purpose::Add, places })
}

fn place(schema: &Schema, name: &str, weight: bool) -> Option<usize> {
    schema
        .weight
        .filter(|_| weight)
        .or_else(|| schema.properties.iter().position(|property| property == name))
}
