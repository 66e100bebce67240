//! The exact types of properties, as an object of JSON that only Esker reads.

use esker_format::{PropertyType, Result};

use super::graphml::type_of;
use crate::attributed::{JSON_EDGES, JSON_ESKER, JSON_ID, JSON_IDS, JSON_VERTICES, JSON_WEIGHT};
use crate::write::elements::{ElementShape, unfit_name, utf8};

/// What is stated of a graph.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatedTypes<'a> {
    /// Whether vertices have properties in the format, ...
    pub(super) has_vertices: bool,
    /// ... and edges others than the weight.
    pub(super) has_edges: bool,
    /// The attribute of vertices that is their id, if edges name numbers.
    pub(super) id: Option<&'a str>,
}

impl Default for StatedTypes<'_> {
    fn default() -> Self {
        Self { has_vertices: true, has_edges: true, id: None }
    }
}

/// What the id of a vertex may be called.
const IDS: [&str; 3] = ["label", "name", "esker_id"];

/// The first name for the id of a vertex that no property has.
///
/// # Errors
/// If there is none.
pub(super) fn free_id(shape: &ElementShape<'_>, title: &str) -> Result<&'static str> {
    let is_free = |id: &&str| shape.vertex_properties.iter().all(|own| !own.name.eq_ignore_ascii_case(id));
    IDS.into_iter().find(is_free).ok_or_else(|| unfit_name(IDS[2], title))
}

/// Appends the object.
///
/// # Errors
/// If a name is not UTF-8.
pub(super) fn push_stated(
    out: &mut Vec<u8>,
    shape: &ElementShape<'_>,
    stated: StatedTypes<'_>,
    title: &str,
) -> Result<()> {
    let of_vertices = shape.vertex_properties.iter().filter(|_| stated.has_vertices);
    out.push(b'{');
    push_types(out, JSON_VERTICES, of_vertices.map(|own| (own.name.as_str(), own.property_type())), title)?;
    out.extend_from_slice(b", ");
    let is_kept = |index: &usize| stated.has_edges || shape.weight == Some(*index);
    let of_edges =
        (0..shape.edge_properties.len()).filter(is_kept).map(|index| &shape.edge_properties[index]);
    push_types(out, JSON_EDGES, of_edges.map(|own| (own.name.as_str(), type_of(own))), title)?;
    let weight = shape.weight.map(|weight| shape.edge_properties[weight].name.as_str());
    for (key, value) in
        [(JSON_WEIGHT, weight), (JSON_IDS, shape.text_ids.then_some("text")), (JSON_ID, stated.id)]
    {
        if let Some(value) = value {
            out.extend_from_slice(format!(", \"{key}\": ").as_bytes());
            push_quoted(out, value.as_bytes(), title)?;
        }
    }
    out.push(b'}');
    Ok(())
}

/// Appends a comment with the object, in ASCII on one line, behind the sign of comments of a format.
///
/// # Errors
/// If a name is not UTF-8.
pub(super) fn push_comment(
    out: &mut Vec<u8>,
    sign: &str,
    shape: &ElementShape<'_>,
    stated: StatedTypes<'_>,
    title: &str,
) -> Result<()> {
    let mut object = Vec::new();
    push_stated(&mut object, shape, stated, title)?;
    out.extend_from_slice(format!("{sign} {JSON_ESKER} ").as_bytes());
    for character in String::from_utf8_lossy(&object).chars() {
        if character.is_ascii() {
            out.push(character as u8);
        } else {
            let units = &mut [0; 2];
            for unit in character.encode_utf16(units) {
                out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            }
        }
    }
    out.push(b'\n');
    Ok(())
}

fn push_types<'a>(
    out: &mut Vec<u8>,
    owner: &str,
    types: impl Iterator<Item = (&'a str, PropertyType)>,
    title: &str,
) -> Result<()> {
    out.extend_from_slice(format!("\"{owner}\": {{").as_bytes());
    for (index, (name, own)) in types.enumerate() {
        out.extend_from_slice(if index > 0 { b", " } else { b"" });
        push_quoted(out, name.as_bytes(), title)?;
        out.extend_from_slice(b": ");
        push_quoted(out, own.to_string().as_bytes(), title)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends a text in quotes.
///
/// # Errors
/// If it is not UTF-8.
pub(super) fn push_quoted(out: &mut Vec<u8>, text: &[u8], title: &str) -> Result<()> {
    out.push(b'"');
    if text.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')) {
        out.extend_from_slice(text);
    } else {
        for character in utf8(text, title)?.chars() {
            match character {
                '"' => out.extend_from_slice(b"\\\""),
                '\\' => out.extend_from_slice(b"\\\\"),
                '\n' => out.extend_from_slice(b"\\n"),
                '\0'..='\x1f' => out.extend_from_slice(format!("\\u{:04x}", u32::from(character)).as_bytes()),
                other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }
    out.push(b'"');
    Ok(())
}
