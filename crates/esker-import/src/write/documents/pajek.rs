//! Pajek networks.

use esker_format::Result;
use esker_layers::property::PropertyValue;

use super::stated::{StatedTypes, free_id, push_comment};
use crate::attributed;
use crate::write::elements::{ElementId, ElementShape, ElementStyle, push_value, utf8};
use crate::write::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};

/// Pajek networks.
pub(crate) static PAJEK: ExportFormat = ExportFormat {
    states_vertices: true,
    keeps_vertex_properties: true,
    expects_weights: true,
    ..ExportFormat::new(
        WriteGraph::Elements(|| Box::new(PajekStyle::default())),
        KeptProperties::All,
        ReadAs::Told,
        EndsWritten::IfAsked,
    )
};

const TITLE: &str = attributed::PAJEK.title;

#[derive(Default)]
struct PajekStyle {
    directed: bool,
    weight: Option<usize>,
    of_vertices: Vec<String>,
    of_edges: Vec<String>,
    value: Vec<u8>,
}

impl ElementStyle for PajekStyle {
    fn head(&mut self, shape: &ElementShape<'_>, out: &mut Vec<u8>) -> Result<()> {
        (self.directed, self.weight) = (shape.directed, shape.weight);
        self.of_vertices = shape.vertex_properties.iter().map(|own| own.name.clone()).collect();
        self.of_edges = shape.edge_properties.iter().map(|own| own.name.clone()).collect();
        let stated = StatedTypes { id: Some(free_id(shape, TITLE)?), ..StatedTypes::default() };
        push_comment(out, "%", shape, stated, TITLE)?;
        out.extend_from_slice(format!("*Vertices {}\n", shape.vertices).as_bytes());
        Ok(())
    }

    fn vertex(
        &mut self,
        id: ElementId<'_>,
        values: &[Option<PropertyValue<'_>>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.extend_from_slice(format!("{} ", id.number + 1).as_bytes());
        push_quoted(out, id.text)?;
        if values.iter().any(Option::is_some) {
            // NetworkX expects a place and a shape before the others.
            out.extend_from_slice(b" 0.0 0.0 ellipse");
        }
        for (index, value) in values.iter().enumerate() {
            if let Some(value) = value {
                push_pair(out, &self.of_vertices[index], value, &mut self.value)?;
            }
        }
        out.push(b'\n');
        Ok(())
    }

    fn between(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.directed { b"*Arcs\n" } else { b"*Edges\n" });
    }

    fn edge(
        &mut self,
        ends: [ElementId<'_>; 2],
        values: &[PropertyValue<'_>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let [source, target] = ends.map(|end| end.number + 1);
        out.extend_from_slice(format!("{source} {target}").as_bytes());
        match self.weight {
            Some(weight) => {
                out.push(b' ');
                push_value(out, &values[weight]);
            }
            // Names stand behind a weight.
            None if !values.is_empty() => out.extend_from_slice(b" 1"),
            None => {}
        }
        for (index, value) in values.iter().enumerate() {
            if self.weight != Some(index) && !value.is_missing() {
                push_pair(out, &self.of_edges[index], value, &mut self.value)?;
            }
        }
        out.push(b'\n');
        Ok(())
    }

    fn tail(&mut self, _out: &mut Vec<u8>) {}
}

fn push_pair(out: &mut Vec<u8>, name: &str, value: &PropertyValue<'_>, text: &mut Vec<u8>) -> Result<()> {
    out.push(b' ');
    push_quoted(out, name.as_bytes())?;
    out.push(b' ');
    text.clear();
    push_value(text, value);
    push_quoted(out, text)
}

/// Appends a text in quotes, with numbers for what would end it or be taken for a number.
fn push_quoted(out: &mut Vec<u8>, text: &[u8]) -> Result<()> {
    out.push(b'"');
    for character in utf8(text, TITLE)?.chars() {
        match character {
            '"' | '&' | '\0'..='\x1f' => {
                out.extend_from_slice(format!("&#{};", u32::from(character)).as_bytes());
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
    Ok(())
}
