//! Vertices of files of types before the edges of any format.

use std::sync::Arc;

use esker_format::{Error, PropertyType, Result, TableRecord};
use esker_graph::{Message, Setting, Stop, message};

use super::arrow::{self, ARROW};
use super::holds::Holds;
use super::parquet::{self, PARQUET};
use super::region::unusable;
use super::vertices::OpenedVertices;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::InputFormat;
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema};

/// Added to the numbers of files of vertices, which tells them from files of edges.
const VERTEX_FILES: usize = 1 << (usize::BITS - 2);

/// A format with types that may hold a table of vertices.
struct VertexFormat {
    format: &'static InputFormat,
    open: fn(&[Input], IdKind, usize, &ReadOptions) -> Result<OpenedVertices>,
}

static VERTEX_FORMATS: [VertexFormat; 2] = [
    VertexFormat { format: &PARQUET, open: parquet::open_vertices },
    VertexFormat { format: &ARROW, open: arrow::open_vertices },
];

/// Whether inputs are all of one format with types that may hold a table of vertices.
///
/// # Errors
/// If one cannot be read.
pub(crate) fn may_be_vertices(inputs: &[Input]) -> Result<bool> {
    Ok(format_of(inputs)?.is_some())
}

/// The one format of all inputs; `None` if they have none of [`VERTEX_FORMATS`], or several. An input that
/// can be read only once is of none.
fn format_of(inputs: &[Input]) -> Result<Option<&'static VertexFormat>> {
    let mut found = None;
    for input in inputs {
        if !input.is_repeatable() {
            return Ok(None);
        }
        let head = InputHead::read(input)?.bytes;
        let place = VERTEX_FORMATS.iter().position(|one| (one.format.begins)(&head));
        if place.is_none() || found.is_some_and(|first| Some(first) != place) {
            return Ok(None);
        }
        found = place;
    }
    Ok(found.map(|place| &VERTEX_FORMATS[place]))
}

/// First the vertices of files, then the edges.
pub(crate) struct WithVertexFiles {
    schema: Schema,
    vertices: Option<Box<dyn Reader>>,
    edges: Box<dyn Reader>,
    parser: Arc<BothParsers>,
    note: Message,
    warnings: Vec<Message>,
}

impl WithVertexFiles {
    /// Puts the vertices of files before `edges`.
    ///
    /// # Errors
    /// If a file cannot be opened or is damaged, or has other ids than the edges.
    pub(crate) fn open(inputs: &[Input], edges: Box<dyn Reader>, options: &ReadOptions) -> Result<Self> {
        let (ids, num_properties) = (edges.schema().ids, edges.schema().properties.len());
        let Some(VertexFormat { open, .. }) = format_of(inputs)? else {
            return Err(Error::invalid("these are no files of vertices of one format with types".to_owned()));
        };
        let OpenedVertices { reader, chosen, holds, path } = open(inputs, ids, num_properties, options)?;
        if ids != IdKind::Text && holds == Holds::Texts {
            return Err(unusable(
                &path,
                message![
                    format!(
                        "the ids of the column {:?} are texts, but those of the edges are integers; take all as texts with ",
                        chosen.ends[0]
                    ),
                    Setting::Ids.to("text"),
                ],
            ));
        }
        let of = |(name, own): (&String, &Option<PropertyType>)| match own {
            Some(own) if !own.logical.is_number() => format!("{name} as {own}"),
            _ => name.clone(),
        };
        let properties: Vec<String> = chosen.properties.iter().zip(&chosen.types).map(of).collect();
        let listed = if properties.is_empty() { "none".to_owned() } else { properties.join(", ") };
        let note =
            format!("Reading {} as vertices: id {}, properties {listed}", path.display(), chosen.ends[0]);
        let unread = chosen.left_out.iter().map(|name| (name, "holds lists or records"));
        let spans = chosen.spans.iter().map(|name| (name, "holds times of day or lengths of time"));
        let warnings = unread.chain(spans).map(|(name, what)| {
            format!("{}: the column {name:?} {what}, so it is not read", path.display()).into()
        });
        let input_bytes = edges.schema().input_bytes.zip(reader.schema().input_bytes);
        let schema = Schema {
            input_bytes: input_bytes.map(|(edges, vertices)| edges + vertices),
            ..edges.schema().clone()
        };
        let parser = Arc::new(BothParsers { vertices: reader.parser(), edges: edges.parser() });
        let warnings = warnings.collect();
        Ok(Self { schema, vertices: Some(reader), edges, parser, note: note.into(), warnings })
    }

    /// How the files are read.
    pub(crate) fn note(&self) -> Message {
        self.note.clone()
    }

    /// What is not read of them.
    pub(crate) fn of_vertices(&self) -> Vec<Message> {
        self.warnings.clone()
    }
}

impl Reader for WithVertexFiles {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The two take their memory at the same time; twice what one of them needs is enough for it.
    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        let twice = |error| match error {
            Error::Stop(Stop::OverBudget { what, needed_bytes, .. }) => {
                let needed_bytes = needed_bytes.saturating_mul(2);
                Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes: bytes })
            }
            other => other,
        };
        let of_vertices = match &mut self.vertices {
            Some(vertices) => vertices.limit_memory(bytes / 2, threads).map_err(twice)?,
            None => 0,
        };
        let of_edges = self.edges.limit_memory(bytes - bytes / 2, threads).map_err(twice)?;
        Ok(of_vertices + of_edges)
    }

    fn table(&self) -> Option<TableRecord> {
        self.edges.table()
    }

    fn notes(&self) -> Vec<Message> {
        self.edges.notes().into_iter().chain([self.note()]).collect()
    }

    fn warnings(&self) -> Vec<Message> {
        self.edges.warnings()
    }

    fn entries_add_up(&self) -> Result<bool> {
        self.edges.entries_add_up()
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        if let Some(vertices) = &mut self.vertices {
            if let Some(block) = vertices.next_block()? {
                return Ok(Some(InputBlock { file: block.file + VERTEX_FILES, ..block }));
            }
            self.vertices = None;
        }
        self.edges.next_block()
    }
}

struct BothParsers {
    vertices: Arc<dyn BlockParser>,
    edges: Arc<dyn BlockParser>,
}

impl BlockParser for BothParsers {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        match block.file.checked_sub(VERTEX_FILES) {
            Some(file) => self.vertices.parse(InputBlock { file, ..block }),
            None => self.edges.parse(block),
        }
    }

    fn warnings(&self) -> Vec<Message> {
        self.edges.warnings()
    }
}
