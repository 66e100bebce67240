//! Vertices of a table before the edges of any format: a column has their ids, the others are properties.

mod vertex_shape;

use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{Array, ArrayRef};
use esker_format::notation::{ColumnNotation, Notation};
use esker_format::{
    ElementType, LogicalType, NotationRecord, PropertyType, Result, TableRecord,
    value::decimal::{self, NotId},
};
use esker_graph::{Message, Setting, message};

use vertex_shape::vertex_shape;

use super::types::typed_value;
use super::vertices::VertexColumns;
use crate::columns::missing::{MissingWords, TextField, says_missing};
use crate::columns::names::vertex_id_column;
use crate::columns::neo4j::{Neo4jColumn, Neo4jRole, vertex_columns};
use crate::columns::notations::NotationFits;
use crate::read::format::ReadOptions;
use crate::read::head::{HEAD_BYTES_MAX, InputHead};
use crate::read::input::Input;
use crate::read::source::{
    BlockParser, EdgeBatch, IdKind, InputBlock, Numbers, Reader, Rejected, RejectedText, Schema,
    VertexPlaces, id_column,
};
use crate::read::typed::sniff_type;
use crate::text::blocks::{LineBlocks, PartialInput, excerpt, input_error, rejected_line};
use crate::text::odd::{OddLine, check_name};
use crate::text::reasons::{check_text, not_id, not_id_of_database};
use crate::text::rows::{FieldPlace, TextRows};
use crate::text::sampled::values;
use crate::text::shape::{SAMPLE_LINES, TableShape};

/// The number of the file of vertices among the files of a reader, which count from 0.
const VERTEX_TABLE: usize = usize::MAX;

/// The type of a column, by the sample.
fn type_of(shape: &TableShape, column: usize, notation: &ColumnNotation) -> PropertyType {
    let given = values(shape, column);
    // Texts would keep the words.
    if shape.columns_with_words.contains(&column) && given.clone().all(<[u8]>::is_empty) {
        return ElementType::I64.into();
    }
    let read = notation.sample(given);
    let found = sniff_type(read.iter().map(AsRef::as_ref));
    if found.logical.is_number() || found.logical.is_text() {
        found
    } else {
        notation.zoned(found.logical).into()
    }
}

/// A column of a table of vertices.
struct VertexTableColumn {
    name: String,
    /// That of the ids is not used.
    property_type: PropertyType,
    /// How its values are written.
    notation: ColumnNotation,
    /// Whether it is a property.
    is_read: bool,
}

impl VertexTableColumn {
    /// The column of this name; `said` is the type that its header gives. Where the database remembers
    /// another notation than is given, the values tell which is theirs.
    fn new(
        shape: &TableShape,
        column: usize,
        name: String,
        said: Option<PropertyType>,
        [given, remembered]: [&Notation; 2],
    ) -> std::result::Result<Self, Message> {
        let values = || values(shape, column);
        let is_own = |own: &str| own == name || own.parse() == Ok(column + 1);
        let [common, own] = [given, remembered].map(|notation| notation.of_column(is_own, values()));
        let types = [&common, &own].map(|notation| type_of(shape, column, notation));
        let is_told = |one: &&PropertyType| !one.logical.is_text() && !one.logical.is_vector();
        let logical =
            said.iter().chain(&types).find(is_told).map_or(LogicalType::Text, |one| one.logical.clone());
        let mut fits = NotationFits::default();
        fits.count(&name, &logical, [&common, &own], values());
        let [of_common, of_own] = types;
        let (found, notation) = match (fits.order(), fits.doubt()) {
            (Ordering::Greater, _) => (of_common, common),
            (_, Some(doubt)) => return Err(doubt),
            (_, None) => (of_own, own),
        };
        Ok(Self { name, property_type: said.unwrap_or(found), notation, is_read: true })
    }
}

/// What a database remembers of the notation of a table of edges, as far as it holds for vertices: formats
/// of dates of edge properties do not.
fn remembered_notation(options: &ReadOptions) -> Result<Notation> {
    let Some(table) = &options.expected else { return Ok(options.notation.clone()) };
    let formats = table.notation.date_formats.iter().filter(|one| one.property.is_empty());
    let record = NotationRecord { date_formats: formats.cloned().collect(), ..table.notation.clone() };
    options.notation.over(&record)
}

/// What a file of vertices with several columns may be.
pub(crate) enum VertexFile {
    /// It has one id a line. If the lines may have several columns, but nothing says so for sure, a warning.
    Ids(InputHead, Option<Message>),
    /// A table.
    Table(Box<VertexTable>),
}

/// A table of vertices: how it is read.
pub(crate) struct VertexTable {
    input: Input,
    head: InputHead,
    shape: TableShape,
    id: usize,
    columns: Vec<VertexTableColumn>,
}

impl VertexTable {
    /// Tells whether `input` is a table: tabs separate its columns, or a header names one as those of ids
    /// are.
    ///
    /// # Errors
    /// If it cannot be read, or two of its columns have one name.
    pub(crate) fn of(input: &Input, options: &ReadOptions) -> Result<VertexFile> {
        let mut head = InputHead::read(input)?;
        if !head.whole {
            head.extend(HEAD_BYTES_MAX)?;
        }
        let Some(shape) = vertex_shape(&head.bytes, head.whole, SAMPLE_LINES, options) else {
            return Ok(VertexFile::Ids(head, None));
        };
        let path = input.path();
        let names = shape.header.as_deref();
        // Tabs may stand in ids, and what is deleted has no properties.
        if names.is_none() && (options.removes || shape.dialect.separator.byte() != b'\t') {
            let row = shape.rows.first().map(|row| row.join(&shape.dialect.separator.byte()));
            let unclear = format!(
                "{}: each line is taken as one id, such as {}; if the lines have columns, name these in the first line, as \
                 in id,name",
                path.display(),
                excerpt(&row.unwrap_or_default())
            );
            return Ok(VertexFile::Ids(head, Some(unclear.into())));
        }
        let marks = names.and_then(vertex_columns).unwrap_or_default();
        let has = |column: usize, role| marks.get(column).is_some_and(|mark| mark.role == role);
        let id = (0..marks.len()).find(|&column| has(column, Neo4jRole::Id));
        let id = id.or_else(|| names.and_then(vertex_id_column)).unwrap_or(0);
        let name = |column: usize| match (marks.get(column), names.and_then(|names| names.get(column))) {
            (Some(mark), _) => mark.name.clone(),
            (None, Some(name)) if !name.trim().is_empty() => name.clone(),
            _ => format!("column{}", column + 1),
        };
        let said =
            |column: usize| marks.get(column).and_then(|mark: &Neo4jColumn| mark.property_type.clone());
        let notations = [&options.notation, &remembered_notation(options)?];
        let own = |column: usize| {
            let found = VertexTableColumn::new(&shape, column, name(column), said(column), notations)?;
            Ok(VertexTableColumn { is_read: column != id && !has(column, Neo4jRole::Ignored), ..found })
        };
        let columns: std::result::Result<Vec<_>, Message> = (0..shape.columns).map(own).collect();
        let columns = columns.map_err(|reason| input_error(&path, None, b"", reason))?;
        let mut known = std::collections::HashSet::new();
        let mut of_properties = columns.iter().filter(|column| column.is_read);
        if let Some(VertexTableColumn { name, .. }) =
            of_properties.find(|column| !known.insert(column.name.as_str()))
        {
            let reason = format!("two columns are called {name:?}: give one of them another name");
            return Err(input_error(&path, Some(shape.skip_lines), b"", reason));
        }
        let mut properties = columns.iter().filter(|column| column.is_read);
        if let Some(reason) = properties.find_map(|column| check_name(&column.name).err()) {
            return Err(input_error(&path, Some(shape.skip_lines), b"", reason));
        }
        let input = input.clone();
        Ok(VertexFile::Table(Box::new(Self { input, head, shape, id, columns })))
    }

    /// Puts the vertices before `edges`.
    pub(crate) fn before(self, edges: Box<dyn Reader>, options: &ReadOptions) -> WithVertexTable {
        let Self { input, head, shape, id, columns } = self;
        let path = input.path();
        let described = |VertexTableColumn { name, property_type: own, .. }: &VertexTableColumn| {
            if own.logical.is_number() { name.clone() } else { format!("{name} as {own}") }
        };
        let listed: Vec<String> = columns.iter().filter(|column| column.is_read).map(described).collect();
        let id_name = match &shape.header {
            Some(_) => columns[id].name.clone(),
            None => format!("column {}", id + 1),
        };
        let note = message![
            format!(
                "Reading {} as vertices: id {id_name}, properties {}; ",
                path.display(),
                listed.join(", ")
            ),
            Setting::Header.to(false),
            " if the first line is a vertex",
        ];
        let note = if shape.header.is_some() {
            note
        } else {
            format!("Reading {} as vertices: id {id_name}, properties {}", path.display(), listed.join(", "))
                .into()
        };
        let part = PartialInput {
            input,
            skip_bytes: shape.skip_bytes,
            skip_lines: shape.skip_lines,
            quoted: shape.dialect.quotes.then_some(shape.dialect),
            opened: Some((head.stream, head.bytes)),
        };
        let schema = Schema { input_bytes: None, ..edges.schema().clone() };
        let parser = TableOfVertices {
            path,
            ids: schema.ids,
            num_properties: schema.properties.len(),
            edges: edges.parser(),
            delimiter: shape.dialect.separator.byte(),
            quotes: shape.dialect.quotes,
            id,
            columns,
            missing: shape.missing,
            odd: OddLine::default(),
            rejected: options.rejected,
            ids_can_become_texts: options.ids_can_become_texts,
        };
        let vertices = Some(LineBlocks::new(vec![part], &ReadOptions { live: None, ..options.clone() }));
        WithVertexTable { schema, vertices, note, edges, parser: Arc::new(parser) }
    }
}

/// First the vertices, then the edges.
pub(crate) struct WithVertexTable {
    schema: Schema,
    vertices: Option<LineBlocks>,
    note: Message,
    edges: Box<dyn Reader>,
    parser: Arc<TableOfVertices>,
}

impl WithVertexTable {
    /// How the file is read.
    pub(crate) fn note(&self) -> Message {
        self.note.clone()
    }
}

impl Reader for WithVertexTable {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        self.edges.limit_memory(bytes, threads)
    }

    fn table(&self) -> Option<TableRecord> {
        self.edges.table()
    }

    fn notes(&self) -> Vec<Message> {
        self.edges.notes().into_iter().chain([self.note()]).collect()
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
                return Ok(Some(InputBlock { file: VERTEX_TABLE, ..block }));
            }
            self.vertices = None;
        }
        self.edges.next_block()
    }
}

struct TableOfVertices {
    path: Arc<PathBuf>,
    ids: IdKind,
    num_properties: usize,
    edges: Arc<dyn BlockParser>,
    delimiter: u8,
    quotes: bool,
    id: usize,
    columns: Vec<VertexTableColumn>,
    missing: MissingWords,
    /// The first line that is not UTF-8, where texts are kept.
    odd: OddLine,
    /// How much is kept of rows that are rejected.
    rejected: RejectedText,
    /// Whether they go to a database whose integer ids can become texts.
    ids_can_become_texts: bool,
}

impl BlockParser for TableOfVertices {
    fn warnings(&self) -> Vec<Message> {
        let odd = self.odd.warning(std::slice::from_ref(&self.path)).map(Message::from);
        odd.into_iter().chain(self.edges.warnings()).collect()
    }

    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        if block.file != VERTEX_TABLE {
            return self.edges.parse(block);
        }
        if self.keeps_texts() {
            self.odd.look(0, &block);
        }
        let mut taken = TakenVertices::default();
        let mut columns = VertexColumns::default();
        let mut place = |column: &VertexTableColumn| {
            columns.place_of_type(&column.name, Some(column.property_type.clone()))
        };
        let places: Vec<Option<usize>> =
            self.columns.iter().map(|column| column.is_read.then(|| place(column))).collect();
        if let Some(reason) = columns.too_many() {
            return Err(input_error(&self.path, None, b"", reason));
        }
        let (mut rows, mut fields) = (TextRows::new(&block.bytes, self.delimiter, self.quotes), Vec::new());
        loop {
            fields.clear();
            let line = match rows.next_row(&mut fields) {
                Ok(None) => break,
                Ok(Some(line)) => line,
                Err(bad) => {
                    taken.rejected.push(self.rejected(
                        block.first_line + bad.line - 1,
                        rows.last_row(),
                        bad.reason.into(),
                    ));
                    continue;
                }
            };
            let row = taken.count;
            match self.id_of(&fields, &block.bytes, &mut taken) {
                Ok(()) => {
                    taken.lines.push(block.first_line + line - 1);
                    self.take(&fields, &block.bytes, row, &places, &mut columns);
                }
                Err(reason) => {
                    let text = match self.rejected {
                        RejectedText::Rows => rows.last_row(),
                        RejectedText::Excerpts => {
                            fields.first().map_or(&[][..], |field| field.raw(&block.bytes))
                        }
                    };
                    taken.rejected.push(self.rejected(block.first_line + line - 1, text, reason));
                }
            }
        }
        let vertices = taken.ids(self.ids);
        Ok(EdgeBatch {
            source: vertices.slice(0, 0),
            target: vertices.slice(0, 0),
            properties: vec![Numbers::Int(Vec::new()).finish(); self.num_properties],
            vertices: Some(vertices),
            vertex_values: columns.finish(),
            vertex_places: Some(VertexPlaces { path: Arc::clone(&self.path), lines: taken.lines }),
            rejected: taken.rejected,
            wide: Vec::new(),
            input_bytes: block.input_bytes,
        })
    }
}

/// The ids of a block.
#[derive(Default)]
struct TakenVertices {
    count: usize,
    ints: Vec<u64>,
    texts: BinaryBuilder,
    /// The line of each.
    lines: Vec<u64>,
    rejected: Vec<Rejected>,
}

impl TakenVertices {
    fn ids(&mut self, kind: IdKind) -> ArrayRef {
        match kind {
            IdKind::Text => Arc::new(self.texts.finish()),
            IdKind::Int | IdKind::Numbered { .. } => id_column(std::mem::take(&mut self.ints)),
        }
    }
}

impl TableOfVertices {
    /// Why an id is none, in words.
    fn not_id(&self, why: NotId) -> Message {
        match self.ids_can_become_texts {
            true => not_id_of_database("vertex", why),
            false => not_id("vertex", why, self.ids == IdKind::Int),
        }
    }

    fn rejected(&self, line: u64, text: &[u8], reason: Message) -> Rejected {
        Rejected {
            path: Arc::clone(&self.path),
            line,
            text: rejected_line(text, self.rejected),
            reason,
            edges_before: 0,
        }
    }

    /// Whether ids or values are texts.
    fn keeps_texts(&self) -> bool {
        let is_text = |column: &VertexTableColumn| column.is_read && column.property_type.logical.is_text();
        self.ids == IdKind::Text || self.columns.iter().any(is_text)
    }

    /// Takes the id of a row.
    ///
    /// # Errors
    /// Why it is none, in words.
    fn id_of(
        &self,
        fields: &[FieldPlace],
        bytes: &[u8],
        taken: &mut TakenVertices,
    ) -> std::result::Result<(), Message> {
        if fields.len() != self.columns.len() {
            let (has, wanted) = (fields.len(), self.columns.len());
            return Err(format!("the row has {has} columns, but the table of vertices has {wanted}").into());
        }
        let id = fields[self.id].text(bytes);
        match self.ids {
            IdKind::Text => {
                check_text(&id, "vertex")?;
                taken.texts.append_value(&id);
            }
            IdKind::Int | IdKind::Numbered { .. } => {
                let id = decimal::id(&id).map_err(|why| self.not_id(why))?;
                taken.ints.push(id);
            }
        }
        taken.count += 1;
        Ok(())
    }

    /// Takes the values of a row. A value that is not of the type that the first rows have makes the property
    /// one of texts.
    fn take(
        &self,
        fields: &[FieldPlace],
        bytes: &[u8],
        row: usize,
        places: &[Option<usize>],
        columns: &mut VertexColumns,
    ) {
        for ((field, place), column) in fields.iter().zip(places).zip(&self.columns) {
            let (Some(place), value) = (*place, field.text(bytes)) else { continue };
            let (own, notation) = (&column.property_type, &column.notation);
            let is_text = own.logical.is_text();
            let is_missing = match is_text {
                true => !field.is_quoted(bytes) && self.missing.text(&value) == TextField::Missing,
                // No quotes make a number of a word.
                false => self.missing.is_named(&value) || says_missing(&value),
            };
            if is_missing {
                continue;
            }
            let read = || notation.read(value.trim_ascii(), &own.logical).ok();
            let typed = if is_text { None } else { read().and_then(|read| typed_value(&read, own)) };
            match typed {
                Some(typed) => columns.push(row, place, &typed),
                None => columns.push_text(row, place, &value),
            }
        }
    }
}
