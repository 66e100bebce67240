//! The properties of vertices as a CSV that [`crate::change`] reads as a table.

use std::io::Write;
use std::path::{Path, PathBuf};

use esker_graph::{Run, VertexId, vertex};
use esker_import::export::{ExportOptions, OutputFile, nulls, push_text};
use esker_import::missing::says_missing;
use esker_import::read::typed::{is_unsigned, sniff_type};
use esker_store::View;
use esker_store::format::PropertyRecord;
use esker_store::format::value::digits::push_u64;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;

use super::csv::quote;
use crate::error::{Error, Result};

/// Bytes gathered before they are written.
const CHUNK_BYTES: usize = 1 << 16;

/// Values of a property at which [`VertexTable::lost_types`] looks.
const SAMPLE_VALUES: usize = 1000;

/// A table of vertex properties that was written.
#[derive(Debug)]
pub struct VertexTable {
    /// The file.
    pub file: PathBuf,
    /// The properties, as `NAME:TYPE`, whose values a reader of the table takes for another kind. The widths
    /// of numbers are not kept.
    pub lost_types: Vec<String>,
}

/// Writes a row for each vertex that has a value of some property: its id, then its values; a missing one is
/// an empty field. The file appears under its name only when it is complete.
///
/// # Errors
/// [`Error::Usage`] if there are no properties, or a text is empty and would read as missing; if the file
/// exists (unless `options.overwrite`) or writing fails; cancellation.
pub fn vertex_properties(
    view: &View,
    path: &Path,
    options: &ExportOptions,
    run: &Run,
) -> Result<VertexTable> {
    let records: Vec<PropertyRecord> = view.version().vertex_properties().cloned().collect();
    let names: Vec<&String> = records.iter().map(|property| &property.name).collect();
    if names.is_empty() {
        return Err(Error::usage("the vertices have no properties to write".to_owned()));
    }
    let properties =
        names.iter().map(|name| Ok(view.version().vertex_property(name)?)).collect::<Result<Vec<_>>>()?;
    let removed = view.removed(run)?;
    let mut samples = vec![Vec::new(); names.len()];
    let mut file = OutputFile::open(path, options)?;
    let mut out = b"vertex".to_vec();
    for name in &names {
        out.push(b',');
        quote(name.as_bytes(), &mut out);
    }
    out.push(b'\n');
    for v in (0..view.version().num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v)) {
        let mut values = Vec::with_capacity(properties.len());
        for property in &properties {
            values.push(property.get(v)?);
        }
        if values.iter().any(Option::is_some) {
            write_row(view, v, &values, &mut out)?;
            add_to_samples(&values, &mut samples);
        }
        if out.len() >= CHUNK_BYTES {
            options.cancel.check()?;
            file.write_all(&out).map_err(file.error())?;
            out.clear();
        }
    }
    file.write_all(&out).map_err(file.error())?;
    let columns = records.iter().zip(&samples);
    let lost_types = columns.filter_map(|(property, sample)| lost_type(property, sample)).collect();
    Ok(VertexTable { file: file.finish()?, lost_types })
}

fn add_to_samples(values: &[Option<PropertyValue<'_>>], samples: &mut [Vec<Vec<u8>>]) {
    for (value, sample) in values.iter().zip(samples) {
        if let Some(value) = value.filter(|_| sample.len() < SAMPLE_VALUES) {
            sample.push(text_of(value));
        }
    }
}

/// A property and its type if a reader takes its values for those of another kind. Of numbers, only those to
/// 2^64 - 1 are one of their own.
fn lost_type(property: &PropertyRecord, sample: &[Vec<u8>]) -> Option<String> {
    let own = property.property_type();
    // No quotes make a text of a word for no value where numbers stand.
    let values = sample.iter().map(Vec::as_slice).filter(|value| !says_missing(value));
    let is_told = sniff_type(values).logical == own.logical && !is_unsigned(&own);
    (!is_told).then(|| format!("{}:{own}", property.name).replace(", ", ","))
}

/// A value as it stands in a field, without quotes.
fn text_of(value: PropertyValue<'_>) -> Vec<u8> {
    match value {
        PropertyValue::Text(text) => text.to_vec(),
        // What the type rounded is kept as it is, also where the reader's type is wider. A float is told by
        // its point or exponent.
        PropertyValue::F32(float) => text_of(PropertyValue::F64(float.into())),
        PropertyValue::F64(float) => format!("{float:?}").into_bytes(),
        other => other.to_string().into_bytes(),
    }
}

fn write_row(
    view: &View,
    v: VertexId,
    values: &[Option<PropertyValue<'_>>],
    out: &mut Vec<u8>,
) -> Result<()> {
    let id = view.version().ids().external_of(v)?;
    match id {
        ExternalId::Int(id) => push_u64(out, id),
        ExternalId::Text(text) => push_text(out, text, b',', nulls(view.version())),
    }
    for value in values {
        out.push(b',');
        match value {
            None => {}
            Some(PropertyValue::Text([])) => {
                return Err(Error::usage(format!(
                    "vertex {:?} has an empty text, which a table cannot tell from a missing value",
                    id.to_string()
                )));
            }
            Some(PropertyValue::Text(text)) => push_text(out, text, b',', nulls(view.version())),
            Some(vector @ PropertyValue::Vector(_)) => quote(vector.to_string().as_bytes(), out),
            Some(number) => out.extend_from_slice(&text_of(*number)),
        }
    }
    out.push(b'\n');
    Ok(())
}
