//! GEXF 1.3.

use esker_format::{ElementType, LogicalType, PropertyType, Result};
use esker_layers::property::PropertyValue;

use super::graphml::{ids_attribute, type_of};
use super::xml::push_escaped;
use crate::attributed::{self, GRAPHML_TYPE, GRAPHML_WEIGHT};
use crate::write::elements::{ElementId, ElementShape, ElementStyle, push_value};
use crate::write::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};

/// GEXF documents.
pub(crate) static GEXF: ExportFormat = ExportFormat {
    states_vertices: true,
    keeps_vertex_properties: true,
    expects_weights: true,
    ..ExportFormat::new(
        WriteGraph::Elements(|| Box::new(GexfStyle::default())),
        KeptProperties::All,
        ReadAs::Told,
        EndsWritten::IfAsked,
    )
};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">
";

#[derive(Default)]
struct GexfStyle {
    weight: Option<usize>,
    /// The property of vertices that is their label.
    label: Option<usize>,
    edges: u64,
    value: Vec<u8>,
}

impl ElementStyle for GexfStyle {
    fn head(&mut self, shape: &ElementShape<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.weight = shape.weight;
        let named =
            |is_label: fn(&str) -> bool| shape.vertex_properties.iter().position(|own| is_label(&own.name));
        self.label =
            named(|name| name == "label").or_else(|| named(|name| name.eq_ignore_ascii_case("label")));
        let direction = if shape.directed { "directed" } else { "undirected" };
        out.extend_from_slice(HEAD.as_bytes());
        let ids = ids_attribute(shape.text_ids);
        let graph = format!("  <graph mode=\"static\" defaultedgetype=\"{direction}\"{ids}>\n");
        out.extend_from_slice(graph.as_bytes());
        out.extend_from_slice(b"    <attributes class=\"node\">\n");
        for (index, own) in shape.vertex_properties.iter().enumerate() {
            push_attribute(out, index, &own.name, &own.property_type(), false)?;
        }
        out.extend_from_slice(b"    </attributes>\n    <attributes class=\"edge\">\n");
        for (index, own) in shape.edge_properties.iter().enumerate() {
            let is_weight = shape.weight == Some(index);
            if !is_weight || own.name != "weight" {
                push_attribute(out, index, &own.name, &type_of(own), is_weight)?;
            }
        }
        out.extend_from_slice(b"    </attributes>\n    <nodes>\n");
        Ok(())
    }

    fn vertex(
        &mut self,
        id: ElementId<'_>,
        values: &[Option<PropertyValue<'_>>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.extend_from_slice(b"      <node id=\"");
        push_escaped(out, id.text, TITLE)?;
        out.extend_from_slice(b"\" label=\"");
        match self.label.and_then(|label| values[label].as_ref()) {
            Some(label) => self.push_value(out, label)?,
            None => push_escaped(out, id.text, TITLE)?,
        }
        if values.iter().all(Option::is_none) {
            out.extend_from_slice(b"\"/>\n");
            return Ok(());
        }
        out.extend_from_slice(b"\"><attvalues>");
        for (index, value) in values.iter().enumerate() {
            if let Some(value) = value {
                self.push_attvalue(out, index, value)?;
            }
        }
        out.extend_from_slice(b"</attvalues></node>\n");
        Ok(())
    }

    fn between(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"    </nodes>\n    <edges>\n");
    }

    fn edge(
        &mut self,
        ends: [ElementId<'_>; 2],
        values: &[PropertyValue<'_>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.extend_from_slice(format!("      <edge id=\"{}\" source=\"", self.edges).as_bytes());
        self.edges += 1;
        push_escaped(out, ends[0].text, TITLE)?;
        out.extend_from_slice(b"\" target=\"");
        push_escaped(out, ends[1].text, TITLE)?;
        if let Some(weight) = self.weight {
            out.extend_from_slice(b"\" weight=\"");
            self.push_value(out, &values[weight])?;
        }
        let weight = self.weight;
        let is_listed =
            |(index, value): &(usize, &PropertyValue<'_>)| weight != Some(*index) && !value.is_missing();
        let mut listed = values.iter().enumerate().filter(is_listed).peekable();
        if listed.peek().is_none() {
            out.extend_from_slice(b"\"/>\n");
            return Ok(());
        }
        out.extend_from_slice(b"\"><attvalues>");
        for (index, value) in listed {
            self.push_attvalue(out, index, value)?;
        }
        out.extend_from_slice(b"</attvalues></edge>\n");
        Ok(())
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"    </edges>\n  </graph>\n</gexf>\n");
    }
}

const TITLE: &str = attributed::GEXF.title;

impl GexfStyle {
    fn push_value(&mut self, out: &mut Vec<u8>, value: &PropertyValue<'_>) -> Result<()> {
        self.value.clear();
        push_value(&mut self.value, value);
        let is_float = matches!(value, PropertyValue::F32(_) | PropertyValue::F64(_));
        if is_float && self.value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
            self.value.extend_from_slice(b".0");
        }
        push_escaped(out, &self.value, TITLE)
    }

    fn push_attvalue(&mut self, out: &mut Vec<u8>, index: usize, value: &PropertyValue<'_>) -> Result<()> {
        out.extend_from_slice(format!("<attvalue for=\"{index}\" value=\"").as_bytes());
        self.push_value(out, value)?;
        out.extend_from_slice(b"\"/>");
        Ok(())
    }
}

fn push_attribute(
    out: &mut Vec<u8>,
    index: usize,
    name: &str,
    own: &PropertyType,
    is_weight: bool,
) -> Result<()> {
    out.extend_from_slice(format!("      <attribute id=\"{index}\" title=\"").as_bytes());
    push_escaped(out, name.as_bytes(), TITLE)?;
    out.extend_from_slice(format!("\" type=\"{}\" {GRAPHML_TYPE}=\"", common_type(own)).as_bytes());
    push_escaped(out, own.to_string().as_bytes(), TITLE)?;
    out.push(b'"');
    if is_weight {
        out.extend_from_slice(format!(" {GRAPHML_WEIGHT}=\"true\"").as_bytes());
    }
    out.extend_from_slice(b"/>\n");
    Ok(())
}

/// The type that GEXF has for a property.
fn common_type(own: &PropertyType) -> &'static str {
    match (&own.logical, own.element) {
        (LogicalType::Boolean, _) => "boolean",
        (LogicalType::Number, ElementType::F32) => "float",
        (LogicalType::Number, ElementType::F64) => "double",
        (LogicalType::Number, ElementType::U8 | ElementType::U16 | ElementType::I32) => "integer",
        (LogicalType::Number, _) => "long",
        _ => "string",
    }
}
