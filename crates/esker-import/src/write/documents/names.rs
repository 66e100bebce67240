//! Lists of names: NCOL, LGL, and SIF of Cytoscape.

use std::io::Write;

use esker_format::{Error, Result};
use esker_graph::{Setting, message};

use crate::attributed::{self, INTERACTION, NO_INTERACTION};
use crate::write::elements::{directed, push_value, utf8, value_at};
use crate::write::format::{EndsWritten, ExportFormat, Guessed, KeptProperties, ReadAs, WriteGraph};
use crate::write::graph::ExportBlock;
use crate::write::sink::OutputFile;
use crate::write::writer::{EdgeWriter, ExportShape, VertexNames};

/// `a b` or `a b weight` a line.
pub(crate) static NCOL: ExportFormat = list(ncol, KeptProperties::Weight, ReadAs::Directed);

/// `# a`, then a line for each neighbour.
pub(crate) static LGL: ExportFormat = list(lgl, KeptProperties::Weight, ReadAs::Undirected);

/// `a interaction b` a line.
pub(crate) static SIF: ExportFormat = list(sif, KeptProperties::Called(INTERACTION), ReadAs::Directed);

const fn list(
    begin: crate::write::format::BeginEdges,
    keeps: KeptProperties,
    read_as: ReadAs,
) -> ExportFormat {
    let format = ExportFormat::new(WriteGraph::Edges(begin), keeps, read_as, EndsWritten::IfAsked);
    ExportFormat { guessed: Guessed::Types, ..format }
}

fn ncol<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Result<Box<dyn EdgeWriter + 'a>> {
    begin(NameList::Ncol, shape.weight, shape, output)
}

fn lgl<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Result<Box<dyn EdgeWriter + 'a>> {
    if shape.directed {
        return Err(directed(attributed::LGL.title, "ncol"));
    }
    begin(NameList::Lgl, shape.weight, shape, output)
}

fn sif<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Result<Box<dyn EdgeWriter + 'a>> {
    let interaction = shape.properties.iter().position(|own| own.name == INTERACTION);
    begin(NameList::Sif, interaction, shape, output)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameList {
    Ncol,
    Lgl,
    Sif,
}

fn begin<'a>(
    list: NameList,
    value: Option<usize>,
    shape: &ExportShape,
    output: &'a mut OutputFile,
) -> Result<Box<dyn EdgeWriter + 'a>> {
    let (shape, buffer) = (shape.clone(), Vec::new());
    Ok(Box::new(NameWriter { list, value, shape, source: None, buffer, output }))
}

struct NameWriter<'a> {
    list: NameList,
    /// The property that is written.
    value: Option<usize>,
    shape: ExportShape,
    /// The vertex whose neighbours are written.
    source: Option<u64>,
    buffer: Vec<u8>,
    output: &'a mut OutputFile,
}

impl EdgeWriter for NameWriter<'_> {
    fn write(&mut self, names: VertexNames<'_>, block: &ExportBlock) -> Result<()> {
        for row in 0..block.len() {
            let source = block.sources[row];
            if self.list != NameList::Lgl {
                self.push_id(names, source)?;
            } else if self.source != Some(source) {
                self.source = Some(source);
                self.buffer.extend_from_slice(b"# ");
                self.push_id(names, source)?;
                self.buffer.push(b'\n');
            }
            match self.list {
                NameList::Sif => {
                    self.buffer.push(b'\t');
                    self.push_interaction(block, row)?;
                    self.buffer.push(b'\t');
                }
                NameList::Ncol => self.buffer.push(b' '),
                NameList::Lgl => {}
            }
            self.push_id(names, block.targets[row])?;
            if self.list != NameList::Sif {
                self.push_weight(block, row);
            }
            self.buffer.push(b'\n');
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

impl NameWriter<'_> {
    fn title(&self) -> &'static str {
        match self.list {
            NameList::Ncol => attributed::NCOL.title,
            NameList::Lgl => attributed::LGL.title,
            NameList::Sif => attributed::SIF.title,
        }
    }

    fn push_id(&mut self, names: VertexNames<'_>, v: u64) -> Result<()> {
        let (start, title) = (self.buffer.len(), self.title());
        names.write(v, &mut self.buffer)?;
        self.check(start, title)
    }

    /// Checks that nothing in a name ends it.
    fn check(&self, start: usize, title: &str) -> Result<()> {
        let name = utf8(&self.buffer[start..], title)?;
        let is_end = |byte: u8| match self.list {
            NameList::Sif => matches!(byte, b'\t' | b'\n' | b'\r'),
            NameList::Ncol | NameList::Lgl => byte.is_ascii_whitespace(),
        };
        let is_mark = name.starts_with('#') && self.list == NameList::Lgl;
        let is_trimmed = name.trim_ascii() == name;
        if !name.is_empty() && is_trimmed && !is_mark && !name.bytes().any(is_end) {
            return Ok(());
        }
        Err(Error::invalid(message![
            format!("the id {name:?} cannot stand in a {title}: write csv or parquet, or numbers with "),
            Setting::VertexNumbers,
        ]))
    }

    fn push_interaction(&mut self, block: &ExportBlock, row: usize) -> Result<()> {
        let Some(index) = self.value else {
            self.buffer.extend_from_slice(NO_INTERACTION.as_bytes());
            return Ok(());
        };
        let (start, title) = (self.buffer.len(), self.title());
        let own = &self.shape;
        push_value(
            &mut self.buffer,
            &value_at(&own.properties[index], block, index, row, &own.dictionaries[index]),
        );
        let written = &self.buffer[start..];
        if written.is_empty() || written == NO_INTERACTION.as_bytes() {
            let shown = String::from_utf8_lossy(written);
            return Err(Error::invalid(format!(
                "the {INTERACTION} {shown:?} cannot stand in a {title}, which has {NO_INTERACTION:?} where an edge has \
                 none: write csv or parquet"
            )));
        }
        self.check(start, title)
    }

    fn push_weight(&mut self, block: &ExportBlock, row: usize) {
        if let Some(index) = self.value {
            self.buffer.push(b' ');
            let own = &self.shape;
            push_value(
                &mut self.buffer,
                &value_at(&own.properties[index], block, index, row, &own.dictionaries[index]),
            );
        }
    }
}
