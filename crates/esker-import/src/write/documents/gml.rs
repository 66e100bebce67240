//! GML.

use esker_format::Result;
use esker_layers::property::PropertyValue;

use super::stated::{StatedTypes, free_id, push_comment};
use crate::attributed;
use crate::write::elements::{
    ElementId, ElementShape, ElementStyle, check_names, push_float, push_value, utf8,
};
use crate::write::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};

/// GML documents.
pub(crate) static GML: ExportFormat = ExportFormat {
    states_vertices: true,
    keeps_vertex_properties: true,
    ..ExportFormat::new(
        WriteGraph::Elements(|| Box::new(GmlStyle::default())),
        KeptProperties::All,
        ReadAs::Told,
        EndsWritten::IfAsked,
    )
};

const TITLE: &str = attributed::GML.title;

#[derive(Default)]
struct GmlStyle {
    id: &'static str,
    of_vertices: Vec<String>,
    of_edges: Vec<String>,
    value: Vec<u8>,
}

/// Whether a key of GML may be called so, as igraph and NetworkX have it.
fn is_key(name: &str) -> bool {
    name.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl ElementStyle for GmlStyle {
    fn head(&mut self, shape: &ElementShape<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.of_vertices = shape.vertex_properties.iter().map(|own| own.name.clone()).collect();
        self.of_edges = shape.edge_properties.iter().map(|own| own.name.clone()).collect();
        self.id = free_id(shape, TITLE)?;
        check_names(self.of_vertices.iter().map(String::as_str), |name| is_key(name) && name != "id", TITLE)?;
        let is_free = |name: &str| is_key(name) && !matches!(name, "source" | "target" | "key");
        check_names(self.of_edges.iter().map(String::as_str), is_free, TITLE)?;
        let stated = StatedTypes { id: Some(self.id), ..StatedTypes::default() };
        push_comment(out, "#", shape, stated, TITLE)?;
        out.extend_from_slice(b"Creator \"Esker\"\ngraph [\n");
        out.extend_from_slice(format!("  directed {}\n", u8::from(shape.directed)).as_bytes());
        if shape.is_multigraph {
            out.extend_from_slice(b"  multigraph 1\n");
        }
        Ok(())
    }

    fn vertex(
        &mut self,
        id: ElementId<'_>,
        values: &[Option<PropertyValue<'_>>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.extend_from_slice(format!("  node [\n    id {}\n    {} ", id.number, self.id).as_bytes());
        push_quoted(out, id.text)?;
        out.push(b'\n');
        for (index, value) in values.iter().enumerate() {
            if let Some(value) = value {
                push_key(out, &self.of_vertices[index]);
                push(out, value, &mut self.value)?;
            }
        }
        out.extend_from_slice(b"  ]\n");
        Ok(())
    }

    fn between(&mut self, _out: &mut Vec<u8>) {}

    fn edge(
        &mut self,
        ends: [ElementId<'_>; 2],
        values: &[PropertyValue<'_>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let [source, target] = ends.map(|end| end.number);
        out.extend_from_slice(format!("  edge [\n    source {source}\n    target {target}\n").as_bytes());
        for (index, value) in values.iter().enumerate().filter(|(_, value)| !value.is_missing()) {
            push_key(out, &self.of_edges[index]);
            push(out, value, &mut self.value)?;
        }
        out.extend_from_slice(b"  ]\n");
        Ok(())
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"]\n");
    }
}

fn push_key(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b"    ");
    out.extend_from_slice(name.as_bytes());
    out.push(b' ');
}

/// Appends a value and a line end. Integers have 32 bits, so larger ones stand in quotes.
fn push(out: &mut Vec<u8>, value: &PropertyValue<'_>, text: &mut Vec<u8>) -> Result<()> {
    text.clear();
    let is_number = match value {
        PropertyValue::F64(value) => {
            push_real(text, *value);
            true
        }
        PropertyValue::F32(value) => {
            push_real(text, f64::from(*value));
            true
        }
        PropertyValue::I64(value) => {
            push_value(text, &PropertyValue::I64(*value));
            i32::try_from(*value).is_ok()
        }
        PropertyValue::I32(value) => {
            push_value(text, &PropertyValue::I32(*value));
            true
        }
        other => {
            push_value(text, other);
            false
        }
    };
    match is_number {
        true => out.extend_from_slice(text),
        false => push_quoted(out, text)?,
    }
    out.push(b'\n');
    Ok(())
}

/// Appends a real number, which has a point also before an exponent.
fn push_real(out: &mut Vec<u8>, value: f64) {
    let start = out.len();
    push_float(out, value);
    if let Some(exponent) = out[start..].iter().position(|byte| matches!(byte, b'e' | b'E'))
        && !out[start..].contains(&b'.')
    {
        out.splice(start + exponent..start + exponent, *b".0");
    }
}

/// Appends a text in quotes, in ASCII, with numbers for other characters.
fn push_quoted(out: &mut Vec<u8>, text: &[u8]) -> Result<()> {
    out.push(b'"');
    for character in utf8(text, TITLE)?.chars() {
        match character {
            '&' => out.extend_from_slice(b"&amp;"),
            '"' => out.extend_from_slice(b"&quot;"),
            ' '..='~' => out.push(character as u8),
            other => out.extend_from_slice(format!("&#{};", u32::from(other)).as_bytes()),
        }
    }
    out.push(b'"');
    Ok(())
}
