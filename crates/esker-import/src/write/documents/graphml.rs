//! GraphML.

use esker_format::{ElementType, LogicalType, PropertyType, Result};
use esker_layers::property::PropertyValue;

use super::xml::push_escaped;
use crate::attributed::{self, GRAPHML_IDS, GRAPHML_TYPE, GRAPHML_WEIGHT};
use crate::write::elements::{ElementId, ElementShape, ElementStyle, push_value};
use crate::write::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};
use crate::write::graph::{PropertyInfo, PropertyKind};

/// GraphML documents.
pub(crate) static GRAPHML: ExportFormat = ExportFormat {
    states_vertices: true,
    keeps_vertex_properties: true,
    ..ExportFormat::new(
        WriteGraph::Elements(|| Box::new(GraphmlStyle::default())),
        KeptProperties::All,
        ReadAs::Told,
        EndsWritten::IfAsked,
    )
};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">
";

#[derive(Default)]
struct GraphmlStyle {
    value: Vec<u8>,
}

impl ElementStyle for GraphmlStyle {
    fn head(&mut self, shape: &ElementShape<'_>, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(HEAD.as_bytes());
        for (index, property) in shape.vertex_properties.iter().enumerate() {
            push_key(out, "v", index, &property.name, &property.property_type(), false)?;
        }
        for (index, property) in shape.edge_properties.iter().enumerate() {
            let is_weight = shape.weight == Some(index);
            push_key(out, "e", index, &property.name, &type_of(property), is_weight)?;
        }
        let direction = if shape.directed { "directed" } else { "undirected" };
        let ids = ids_attribute(shape.text_ids);
        out.extend_from_slice(format!("  <graph edgedefault=\"{direction}\"{ids}>\n").as_bytes());
        Ok(())
    }

    fn vertex(
        &mut self,
        id: ElementId<'_>,
        values: &[Option<PropertyValue<'_>>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.extend_from_slice(b"    <node id=\"");
        push_escaped(out, id.text, TITLE)?;
        if values.iter().all(Option::is_none) {
            out.extend_from_slice(b"\"/>\n");
            return Ok(());
        }
        out.extend_from_slice(b"\">");
        for (index, value) in values.iter().enumerate() {
            if let Some(value) = value {
                self.push_data(out, "v", index, value)?;
            }
        }
        out.extend_from_slice(b"</node>\n");
        Ok(())
    }

    fn between(&mut self, _out: &mut Vec<u8>) {}

    fn edge(
        &mut self,
        ends: [ElementId<'_>; 2],
        values: &[PropertyValue<'_>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.extend_from_slice(b"    <edge source=\"");
        push_escaped(out, ends[0].text, TITLE)?;
        out.extend_from_slice(b"\" target=\"");
        push_escaped(out, ends[1].text, TITLE)?;
        if values.iter().all(PropertyValue::is_missing) {
            out.extend_from_slice(b"\"/>\n");
            return Ok(());
        }
        out.extend_from_slice(b"\">");
        for (index, value) in values.iter().enumerate().filter(|(_, value)| !value.is_missing()) {
            self.push_data(out, "e", index, value)?;
        }
        out.extend_from_slice(b"</edge>\n");
        Ok(())
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"  </graph>\n</graphml>\n");
    }
}

const TITLE: &str = attributed::GRAPHML.title;

impl GraphmlStyle {
    fn push_data(
        &mut self,
        out: &mut Vec<u8>,
        owner: &str,
        index: usize,
        value: &PropertyValue<'_>,
    ) -> Result<()> {
        out.extend_from_slice(b"<data key=\"");
        out.extend_from_slice(owner.as_bytes());
        out.extend_from_slice(index.to_string().as_bytes());
        out.extend_from_slice(b"\">");
        self.value.clear();
        push_value(&mut self.value, value);
        push_escaped(out, &self.value, TITLE)?;
        out.extend_from_slice(b"</data>");
        Ok(())
    }
}

fn push_key(
    out: &mut Vec<u8>,
    owner: &str,
    index: usize,
    name: &str,
    own: &PropertyType,
    is_weight: bool,
) -> Result<()> {
    let of = if owner == "v" { "node" } else { "edge" };
    out.extend_from_slice(format!("  <key id=\"{owner}{index}\" for=\"{of}\" attr.name=\"").as_bytes());
    push_escaped(out, name.as_bytes(), TITLE)?;
    out.extend_from_slice(format!("\" attr.type=\"{}\" {GRAPHML_TYPE}=\"", common_type(own)).as_bytes());
    push_escaped(out, own.to_string().as_bytes(), TITLE)?;
    out.push(b'"');
    if is_weight {
        out.extend_from_slice(format!(" {GRAPHML_WEIGHT}=\"true\"").as_bytes());
    }
    out.extend_from_slice(b"/>\n");
    Ok(())
}

/// What a graph says of its ids if they are texts, which may look like integers.
pub(super) fn ids_attribute(text_ids: bool) -> String {
    if text_ids { format!(" {GRAPHML_IDS}=\"text\"") } else { String::new() }
}

/// The type that GraphML has for a property.
fn common_type(own: &PropertyType) -> &'static str {
    match (&own.logical, own.element) {
        (LogicalType::Boolean, _) => "boolean",
        (LogicalType::Number, ElementType::F32) => "float",
        (LogicalType::Number, ElementType::F64) => "double",
        (LogicalType::Number, ElementType::U8 | ElementType::U16 | ElementType::I32) => "int",
        (LogicalType::Number, _) => "long",
        _ => "string",
    }
}

/// The type of an edge property.
pub(super) fn type_of(property: &PropertyInfo) -> PropertyType {
    let element = match property.kind {
        PropertyKind::I32 => ElementType::I32,
        PropertyKind::I64 => ElementType::I64,
        PropertyKind::U64 => ElementType::U64,
        PropertyKind::F32 => ElementType::F32,
        PropertyKind::F64 => ElementType::F64,
        PropertyKind::Text => return PropertyType::text(),
    };
    match property.logical.is_number() {
        true => element.into(),
        false => property.logical.clone().into(),
    }
}
