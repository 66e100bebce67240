//! Graphviz DOT.

use esker_format::Result;
use esker_layers::property::PropertyValue;

use super::stated::{StatedTypes, push_comment};
use crate::attributed;
use crate::write::elements::{ElementId, ElementShape, ElementStyle, push_value, unfit, utf8};
use crate::write::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};

/// Graphviz DOT.
pub(crate) static DOT: ExportFormat = ExportFormat {
    states_vertices: true,
    keeps_vertex_properties: true,
    ..ExportFormat::new(
        WriteGraph::Elements(|| Box::new(DotStyle::default())),
        KeptProperties::All,
        ReadAs::Told,
        EndsWritten::IfAsked,
    )
};

const TITLE: &str = attributed::DOT.title;

#[derive(Default)]
struct DotStyle {
    edge: &'static [u8],
    /// Names, in quotes where needed.
    of_vertices: Vec<Vec<u8>>,
    of_edges: Vec<Vec<u8>>,
    value: Vec<u8>,
}

impl ElementStyle for DotStyle {
    fn head(&mut self, shape: &ElementShape<'_>, out: &mut Vec<u8>) -> Result<()> {
        let quoted = |name: &str| {
            let mut quoted = Vec::new();
            if is_bare(name) {
                quoted.extend_from_slice(name.as_bytes());
            } else {
                push_quoted(&mut quoted, name.as_bytes())?;
            }
            Ok(quoted)
        };
        self.of_vertices =
            shape.vertex_properties.iter().map(|own| quoted(&own.name)).collect::<Result<_>>()?;
        self.of_edges = shape.edge_properties.iter().map(|own| quoted(&own.name)).collect::<Result<_>>()?;
        self.edge = if shape.directed { b" -> " } else { b" -- " };
        push_comment(out, "//", shape, StatedTypes::default(), TITLE)?;
        out.extend_from_slice(if shape.directed { b"digraph {\n" } else { b"graph {\n" });
        Ok(())
    }

    fn vertex(
        &mut self,
        id: ElementId<'_>,
        values: &[Option<PropertyValue<'_>>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        push_id(out, id)?;
        let given = values.iter().zip(&self.of_vertices);
        let given = given.filter_map(|(value, name)| Some((name.as_slice(), value.as_ref()?)));
        push_list(out, given, &mut self.value)
    }

    fn between(&mut self, _out: &mut Vec<u8>) {}

    fn edge(
        &mut self,
        ends: [ElementId<'_>; 2],
        values: &[PropertyValue<'_>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        push_id(out, ends[0])?;
        out.extend_from_slice(self.edge);
        push_id(out, ends[1])?;
        push_list(out, self.of_edges.iter().map(Vec::as_slice).zip(values), &mut self.value)
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"}\n");
    }
}

/// Whether a name needs no quotes.
fn is_bare(name: &str) -> bool {
    const KEYWORDS: [&str; 6] = ["strict", "graph", "digraph", "subgraph", "node", "edge"];
    name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !KEYWORDS.iter().any(|word| name.eq_ignore_ascii_case(word))
}

fn push_id(out: &mut Vec<u8>, id: ElementId<'_>) -> Result<()> {
    if id.is_text {
        return push_quoted(out, id.text);
    }
    out.extend_from_slice(id.text);
    Ok(())
}

/// Appends values in brackets, if there are any, and a line end.
fn push_list<'a, 'v: 'a>(
    out: &mut Vec<u8>,
    values: impl Iterator<Item = (&'a [u8], &'a PropertyValue<'v>)>,
    text: &mut Vec<u8>,
) -> Result<()> {
    let mut before: &[u8] = b" [";
    for (name, value) in values.filter(|(_, value)| !value.is_missing()) {
        out.extend_from_slice(before);
        out.extend_from_slice(name);
        out.push(b'=');
        text.clear();
        push_value(text, value);
        push_quoted(out, text)?;
        before = b", ";
    }
    out.extend_from_slice(if before == b", " { b"];\n" } else { b";\n" });
    Ok(())
}

/// Appends a text in quotes. Only a quote has a backslash before it.
fn push_quoted(out: &mut Vec<u8>, text: &[u8]) -> Result<()> {
    let text = utf8(text, TITLE)?;
    let mut backslashes = 0;
    out.push(b'"');
    for byte in text.bytes().chain([b'"']) {
        if matches!(byte, b'"' | b'\n' | b'\r') && backslashes % 2 == 1 {
            let why = "has a backslash before a quote, a line end or its own end";
            return Err(unfit(text.as_bytes(), why, TITLE));
        }
        backslashes = if byte == b'\\' { backslashes + 1 } else { 0 };
        if byte == b'"' {
            out.push(b'\\');
        }
        out.push(byte);
    }
    // The last quote is the end.
    out.truncate(out.len() - 2);
    out.push(b'"');
    Ok(())
}
