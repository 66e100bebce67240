//! Vertices of files of types before the edges of any format.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{Error, Result, TableRecord};
use esker_graph::{Message, Stop};

use super::arrow::{self, ARROW};
use super::parquet::{self, PARQUET};
use super::vertices::{OpenedVertices, WantedVertices};
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::InputFormat;
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema, integer_ids};

/// Added to the numbers of files of vertices, which tells them from files of edges.
const VERTEX_FILES: usize = 1 << (usize::BITS - 2);

/// A format with types that may hold a table of vertices.
struct VertexFormat {
    format: &'static InputFormat,
    open: fn(&[Input], &WantedVertices<'_>) -> Result<OpenedVertices>,
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

/// Vertices of a file with types, which no edges follow.
pub struct TypedVertices {
    /// Reads them.
    pub reader: Box<dyn Reader>,
    /// The names of the properties, in the order of the columns of each batch.
    pub properties: Vec<String>,
    /// What is not read.
    pub warnings: Vec<Message>,
}

/// The title of the format with types that an input has; `None` if it has none.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn typed_title(input: &Input) -> Result<Option<&'static str>> {
    Ok(format_of(std::slice::from_ref(input))?.map(|found| found.format.title))
}

/// Opens vertices of a file with types, whose ids are to be texts or integers; `None` if it is of no such
/// format. Properties that `options` declare have these types.
///
/// # Errors
/// If the file cannot be opened or is damaged, or has texts as ids where integers are wanted.
pub(crate) fn open_typed_vertices(
    input: &Input,
    text_ids: bool,
    options: &ReadOptions,
) -> Result<Option<TypedVertices>> {
    let inputs = std::slice::from_ref(input);
    let Some(VertexFormat { open, .. }) = format_of(inputs)? else { return Ok(None) };
    let ids = if text_ids { IdKind::Text } else { IdKind::Int };
    let wanted = WantedVertices {
        ids,
        num_edge_properties: 0,
        declared: &options.schema,
        ids_can_become_texts: options.ids_can_become_texts,
        rejected: options.rejected,
    };
    let opened = open(inputs, &wanted)?;
    opened.expect_ids(ids, "the database")?;
    let warnings = opened.warnings();
    Ok(Some(TypedVertices { reader: opened.reader, properties: opened.chosen.properties, warnings }))
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
        let (ids, num_edge_properties) = (edges.schema().ids, edges.schema().properties.len());
        let Some(VertexFormat { open, .. }) = format_of(inputs)? else {
            return Err(Error::invalid("these are no files of vertices of one format with types".to_owned()));
        };
        let wanted = WantedVertices {
            ids,
            num_edge_properties,
            declared: &[],
            ids_can_become_texts: options.ids_can_become_texts,
            rejected: options.rejected,
        };
        let opened = open(inputs, &wanted)?;
        opened.expect_ids(ids, "the edges")?;
        let numbers = match ids {
            IdKind::Numbered { first, num_vertices } => Some(first..first.saturating_add(num_vertices)),
            IdKind::Int | IdKind::Text => None,
        };
        let (note, warnings, reader) = (opened.note(), opened.warnings(), opened.reader);
        let input_bytes = edges.schema().input_bytes.zip(reader.schema().input_bytes);
        let schema = Schema {
            input_bytes: input_bytes.map(|(edges, vertices)| edges + vertices),
            ..edges.schema().clone()
        };
        let parser = Arc::new(BothParsers { vertices: reader.parser(), edges: edges.parser(), numbers });
        Ok(Self { schema, vertices: Some(reader), edges, parser, note, warnings })
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
    /// The numbers of the vertices, if the format of the edges numbers them.
    numbers: Option<Range<u64>>,
}

impl BothParsers {
    /// Checks that vertices are among those that the format of the edges numbers.
    fn expect_numbers(&self, batch: &EdgeBatch) -> Result<()> {
        let ids = batch.vertices.as_ref().and_then(integer_ids).unwrap_or_default();
        let Some(numbers) = &self.numbers else { return Ok(()) };
        let Some(at) = ids.iter().position(|id| !numbers.contains(id)) else { return Ok(()) };
        let place = batch.vertex_places.as_ref();
        Err(Error::Input {
            path: place.map_or_else(PathBuf::new, |place| place.path.to_path_buf()),
            line: place.and_then(|place| place.lines.get(at).copied()),
            text: String::new(),
            reason: format!(
                "the vertex {} is none of the edges, whose format numbers its vertices from {} to {}",
                ids[at],
                numbers.start,
                numbers.end.saturating_sub(1)
            )
            .into(),
        })
    }
}

impl BlockParser for BothParsers {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        match block.file.checked_sub(VERTEX_FILES) {
            Some(file) => {
                let batch = self.vertices.parse(InputBlock { file, ..block })?;
                self.expect_numbers(&batch)?;
                Ok(batch)
            }
            None => self.edges.parse(block),
        }
    }

    fn warnings(&self) -> Vec<Message> {
        self.edges.warnings()
    }
}
