//! LEDA graphs: the labels of vertices are their ids, those of edges their weights.

use esker_format::Result;
use esker_layers::property::PropertyValue;

use super::stated::{StatedTypes, push_comment};
use crate::attributed;
use crate::write::elements::{ElementId, ElementShape, ElementStyle, push_value, unfit, utf8};
use crate::write::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};
use crate::write::graph::PropertyKind;

/// LEDA graphs.
pub(crate) static LEDA: ExportFormat = ExportFormat {
    states_vertices: true,
    ..ExportFormat::new(
        WriteGraph::Elements(|| Box::new(LedaStyle::default())),
        KeptProperties::Weight,
        ReadAs::Told,
        EndsWritten::IfAsked,
    )
};

const TITLE: &str = attributed::LEDA.title;

#[derive(Default)]
struct LedaStyle {
    weight: Option<usize>,
    edges: u64,
}

impl ElementStyle for LedaStyle {
    fn head(&mut self, shape: &ElementShape<'_>, out: &mut Vec<u8>) -> Result<()> {
        (self.weight, self.edges) = (shape.weight, shape.edges);
        let label = match shape.weight.map(|weight| shape.edge_properties[weight].kind) {
            None => "void",
            Some(PropertyKind::I32) => "int",
            Some(PropertyKind::I64 | PropertyKind::U64) => "long",
            Some(PropertyKind::F32 | PropertyKind::F64) => "double",
            Some(PropertyKind::Text) => "string",
        };
        let direction = if shape.directed { -1 } else { -2 };
        out.extend_from_slice(format!("LEDA.GRAPH\nstring\n{label}\n{direction}\n").as_bytes());
        let stated = StatedTypes { has_vertices: false, has_edges: false, id: Some("label") };
        push_comment(out, "#", shape, stated, TITLE)?;
        out.extend_from_slice(format!("{}\n", shape.vertices).as_bytes());
        Ok(())
    }

    fn vertex(
        &mut self,
        id: ElementId<'_>,
        _values: &[Option<PropertyValue<'_>>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if utf8(id.text, TITLE)?.contains(['\n', '\r']) {
            return Err(unfit(id.text, "has a line end", TITLE));
        }
        out.extend_from_slice(b"|{");
        out.extend_from_slice(id.text);
        out.extend_from_slice(b"}|\n");
        Ok(())
    }

    fn between(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{}\n", self.edges).as_bytes());
    }

    fn edge(
        &mut self,
        ends: [ElementId<'_>; 2],
        values: &[PropertyValue<'_>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let [source, target] = ends.map(|end| end.number + 1);
        out.extend_from_slice(format!("{source} {target} 0 |{{").as_bytes());
        if let Some(weight) = self.weight {
            push_value(out, &values[weight]);
        }
        out.extend_from_slice(b"}|\n");
        Ok(())
    }

    fn tail(&mut self, _out: &mut Vec<u8>) {}
}
