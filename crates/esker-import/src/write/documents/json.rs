//! JSON documents of nodes and edges: node-link data, and elements of Cytoscape.

use esker_format::Result;
use esker_layers::property::PropertyValue;

use super::stated::{StatedTypes, push_quoted, push_stated};
use crate::attributed::{self, JSON_ESKER};
use crate::write::elements::{ElementId, ElementShape, ElementStyle, push_float, push_value, unfit_name};
use crate::write::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};

/// Node-link data.
pub(crate) static NODE_LINK: ExportFormat = ExportFormat {
    states_vertices: true,
    keeps_vertex_properties: true,
    ..ExportFormat::new(
        WriteGraph::Elements(|| Box::new(JsonStyle::new(false))),
        KeptProperties::All,
        ReadAs::Told,
        EndsWritten::IfAsked,
    )
};

/// Elements of Cytoscape.
pub(crate) static CYTOSCAPE: ExportFormat =
    ExportFormat { write: WriteGraph::Elements(|| Box::new(JsonStyle::new(true))), ..NODE_LINK };

struct JsonStyle {
    is_cytoscape: bool,
    title: &'static str,
    /// Names in quotes, each with a comma before it and a colon behind it.
    of_vertices: Vec<Vec<u8>>,
    of_edges: Vec<Vec<u8>>,
    /// Whether an element stands before the next in its array.
    follows: bool,
    value: Vec<u8>,
}

impl JsonStyle {
    fn new(is_cytoscape: bool) -> Self {
        let title = if is_cytoscape { attributed::CYTOSCAPE.title } else { attributed::NODE_LINK.title };
        Self {
            is_cytoscape,
            title,
            of_vertices: Vec::new(),
            of_edges: Vec::new(),
            follows: false,
            value: Vec::new(),
        }
    }

    fn names<'a>(&self, names: impl Iterator<Item = &'a str>, reserved: &[&str]) -> Result<Vec<Vec<u8>>> {
        names
            .map(|name| {
                if reserved.contains(&name) {
                    return Err(unfit_name(name, self.title));
                }
                let mut quoted = b", ".to_vec();
                push_quoted(&mut quoted, name.as_bytes(), self.title)?;
                quoted.extend_from_slice(b": ");
                Ok(quoted)
            })
            .collect()
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.follows { b",\n" } else { b"\n" });
        out.extend_from_slice(if self.is_cytoscape { b"{\"data\": {" } else { b"{" });
        self.follows = true;
    }

    fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_cytoscape { b"}}" } else { b"}" });
    }

    fn push_id(&self, out: &mut Vec<u8>, id: ElementId<'_>) -> Result<()> {
        match id.is_text {
            true => push_quoted(out, id.text, self.title),
            false => {
                out.extend_from_slice(id.text);
                Ok(())
            }
        }
    }

    fn push_value(&mut self, out: &mut Vec<u8>, value: &PropertyValue<'_>) -> Result<()> {
        match value {
            PropertyValue::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            PropertyValue::F64(value) => push_float(out, *value),
            PropertyValue::F32(value) => push_float(out, f64::from(*value)),
            // As JSON has it.
            PropertyValue::Vector(_) => push_value(out, value),
            PropertyValue::Text(_)
            | PropertyValue::Date(_)
            | PropertyValue::Timestamp(_)
            | PropertyValue::EdgeId(_) => {
                self.value.clear();
                push_value(&mut self.value, value);
                push_quoted(out, &self.value, self.title)?;
            }
            number => push_value(out, number),
        }
        Ok(())
    }
}

impl ElementStyle for JsonStyle {
    fn head(&mut self, shape: &ElementShape<'_>, out: &mut Vec<u8>) -> Result<()> {
        let of_vertices: &[&str] = if self.is_cytoscape {
            &["id", "value", "data", "attributes"]
        } else {
            &["id", "data", "attributes"]
        };
        let of_edges = ["source", "target", "id", "key", "directed", "undirected", "data", "attributes"];
        self.of_vertices =
            self.names(shape.vertex_properties.iter().map(|own| own.name.as_str()), of_vertices)?;
        self.of_edges = self.names(shape.edge_properties.iter().map(|own| own.name.as_str()), &of_edges)?;
        let (directed, multigraph) = (shape.directed, shape.is_multigraph);
        out.extend_from_slice(
            format!(
                "{{\"directed\": {directed}, \"multigraph\": {multigraph}, \"graph\": {{\"{JSON_ESKER}\": "
            )
            .as_bytes(),
        );
        push_stated(out, shape, StatedTypes::default(), self.title)?;
        out.extend_from_slice(b"}, ");
        out.extend_from_slice(if self.is_cytoscape {
            b"\"data\": [], \"elements\": {\"nodes\": ["
        } else {
            b"\"nodes\": ["
        });
        Ok(())
    }

    fn vertex(
        &mut self,
        id: ElementId<'_>,
        values: &[Option<PropertyValue<'_>>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.begin(out);
        out.extend_from_slice(b"\"id\": ");
        if self.is_cytoscape {
            // There ids are texts; NetworkX reads the other name.
            push_quoted(out, id.text, self.title)?;
            out.extend_from_slice(b", \"value\": ");
        }
        self.push_id(out, id)?;
        for (index, value) in values.iter().enumerate() {
            if let Some(value) = value {
                out.extend_from_slice(&self.of_vertices[index]);
                self.push_value(out, value)?;
            }
        }
        self.end(out);
        Ok(())
    }

    fn between(&mut self, out: &mut Vec<u8>) {
        self.follows = false;
        out.extend_from_slice(b"\n], \"edges\": [");
    }

    fn edge(
        &mut self,
        ends: [ElementId<'_>; 2],
        values: &[PropertyValue<'_>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.begin(out);
        out.extend_from_slice(b"\"source\": ");
        self.push_id(out, ends[0])?;
        out.extend_from_slice(b", \"target\": ");
        self.push_id(out, ends[1])?;
        for (index, value) in values.iter().enumerate().filter(|(_, value)| !value.is_missing()) {
            out.extend_from_slice(&self.of_edges[index]);
            self.push_value(out, value)?;
        }
        self.end(out);
        Ok(())
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_cytoscape { b"\n]}}\n" } else { b"\n]}\n" });
    }
}
