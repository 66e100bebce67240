//! Lists of edges with dictionaries, as NetworkX writes and reads them.

use std::io::Write;

use esker_format::{Error, Result};
use esker_graph::{Setting, message};
use esker_layers::property::PropertyValue;

use crate::attributed;
use crate::write::elements::{formats_for, push_float, push_value, utf8, value_at};
use crate::write::format::{EndsWritten, ExportFormat, Guessed, KeptProperties, ReadAs, WriteGraph};
use crate::write::graph::ExportBlock;
use crate::write::sink::OutputFile;
use crate::write::writer::{EdgeWriter, ExportShape, VertexNames};

/// Lists of NetworkX.
pub(crate) static NETWORKX: ExportFormat = ExportFormat {
    endings: &["edgelist"],
    guessed: Guessed::Types,
    ..ExportFormat::new(WriteGraph::Edges(begin), KeptProperties::All, ReadAs::Directed, EndsWritten::IfAsked)
};

const TITLE: &str = attributed::NETWORKX.title;

fn begin<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Result<Box<dyn EdgeWriter + 'a>> {
    let names = shape.properties.iter().map(|property| {
        let mut name = Vec::new();
        push_literal(&mut name, property.name.as_bytes())?;
        Ok(name)
    });
    let names = names.collect::<Result<Vec<_>>>()?;
    Ok(Box::new(DictionaryWriter {
        shape: shape.clone(),
        names,
        value: Vec::new(),
        buffer: Vec::new(),
        output,
    }))
}

struct DictionaryWriter<'a> {
    shape: ExportShape,
    /// Names of the properties, in quotes.
    names: Vec<Vec<u8>>,
    value: Vec<u8>,
    buffer: Vec<u8>,
    output: &'a mut OutputFile,
}

impl EdgeWriter for DictionaryWriter<'_> {
    fn write(&mut self, names: VertexNames<'_>, block: &ExportBlock) -> Result<()> {
        for row in 0..block.len() {
            for v in [block.sources[row], block.targets[row]] {
                let start = self.buffer.len();
                names.write(v, &mut self.buffer)?;
                check_id(&self.buffer[start..])?;
                self.buffer.push(b' ');
            }
            self.buffer.push(b'{');
            for index in 0..self.names.len() {
                self.buffer.extend_from_slice(if index > 0 { b", " } else { b"" });
                self.buffer.extend_from_slice(&self.names[index]);
                self.buffer.extend_from_slice(b": ");
                self.push(block, index, row)?;
            }
            self.buffer.extend_from_slice(b"}\n");
        }
        self.finish()
    }

    fn finish(&mut self) -> Result<()> {
        let error = self.output.error();
        self.output.write_all(&self.buffer).map_err(error)?;
        self.buffer.clear();
        Ok(())
    }
}

impl DictionaryWriter<'_> {
    fn push(&mut self, block: &ExportBlock, index: usize, row: usize) -> Result<()> {
        let value =
            value_at(&self.shape.properties[index], block, index, row, &self.shape.dictionaries[index]);
        match value {
            PropertyValue::Missing => self.buffer.extend_from_slice(b"None"),
            PropertyValue::Boolean(value) => {
                self.buffer.extend_from_slice(if value { b"True" } else { b"False" });
            }
            PropertyValue::F64(value) => push_float(&mut self.buffer, value),
            PropertyValue::I64(_) | PropertyValue::U64(_) => push_value(&mut self.buffer, &value),
            other => {
                self.value.clear();
                push_value(&mut self.value, &other);
                push_literal(&mut self.buffer, &self.value)?;
            }
        }
        Ok(())
    }
}

/// Appends a text as Python writes it.
fn push_literal(out: &mut Vec<u8>, text: &[u8]) -> Result<()> {
    out.push(b'\'');
    for character in utf8(text, TITLE)?.chars() {
        match character {
            '\'' | '\\' => out.extend_from_slice(&[b'\\', character as u8]),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '#' => out.extend_from_slice(b"\\x23"),
            '\0'..='\x1f' => out.extend_from_slice(format!("\\x{:02x}", u32::from(character)).as_bytes()),
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'\'');
    Ok(())
}

/// Checks that nothing in an id ends it, or makes its line a comment.
fn check_id(id: &[u8]) -> Result<()> {
    if !id.is_empty() && !id.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b'#') {
        utf8(id, TITLE)?;
        return Ok(());
    }
    let (id, formats) = (String::from_utf8_lossy(id), formats_for(id));
    Err(Error::invalid(message![
        format!("the id {id:?} cannot stand in a {TITLE}: write {formats}, or numbers with "),
        Setting::VertexNumbers,
    ]))
}
