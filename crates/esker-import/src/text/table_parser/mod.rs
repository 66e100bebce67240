//! Parses blocks of table lines.

mod layout;
mod values;
mod fields;

use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, BinaryBuilder};
use esker_format::value::decimal::{self, Number};
use esker_format::{Error, PropertyType, Result};
use esker_graph::Message;

use fields::LineFields;
pub(crate) use layout::ColumnLayout;
use layout::{push_text, skip_empty, text_of, without_zeros};
use values::{FieldValue, ParsedValues, PropertyColumn, ValueColumn};

use crate::columns::direction::{DirectionRule, is_directed, mixed};
use crate::read::known_vertices::KnownVertices;
use crate::read::operation::RowOperation;
use crate::read::required::RequiredProperties;
use crate::read::source::{
    BlockParser, EdgeBatch, InputBlock, Rejected, RejectedText, WideInteger, id_column,
};
use crate::text::blocks::{count_lines, excerpt, input_error, rejected_line, too_long};
use crate::text::fast::{EdgeParts, Fast};
use crate::text::line::{Comments, Dialect, Field, SplitLine, line_end, split};
use crate::text::odd::OddLine;
use crate::text::reasons::{RefusedColumn, check_text, not_id, not_id_of_database, not_in_range, of_line};

/// The parser of tables. Memory: 24 bytes for each column beside the batch.
pub(crate) struct TableParser {
    paths: Vec<Arc<PathBuf>>,
    layouts: Vec<ColumnLayout>,
    ids_are_texts: bool,
    names: Vec<String>,
    /// What each property holds; `None`: numbers.
    types: Vec<Option<PropertyType>>,
    /// Indexes of the weight and the time among the properties.
    weight: Option<usize>,
    time: Option<usize>,
    /// What becomes of edges by their direction, if a column says it.
    direction: Option<DirectionRule>,
    /// Whether the types are those of a database, which the options cannot change.
    types_are_fixed: bool,
    ids_can_become_texts: bool,
    /// The integers that are ids.
    ids: RangeInclusive<u64>,
    /// A longer line is refused.
    line_bytes_max: usize,
    /// The first line that is not UTF-8, where texts are kept.
    odd: OddLine,
    required: RequiredProperties,
    /// The vertices that lines may name, if they are limited.
    nameable: Option<KnownVertices>,
    /// What is kept of rejected lines.
    rejected: RejectedText,
}

impl TableParser {
    pub(crate) fn new(
        paths: Vec<Arc<PathBuf>>,
        layouts: Vec<ColumnLayout>,
        ids_are_texts: bool,
        names: Vec<String>,
        types: Vec<Option<PropertyType>>,
    ) -> Self {
        Self {
            paths,
            layouts,
            ids_are_texts,
            names,
            types,
            weight: None,
            time: None,
            direction: None,
            types_are_fixed: false,
            ids_can_become_texts: false,
            ids: 0..=u64::MAX,
            line_bytes_max: usize::MAX,
            odd: OddLine::default(),
            required: RequiredProperties::default(),
            nameable: None,
            rejected: RejectedText::Excerpts,
        }
    }

    pub(crate) fn with_weight_and_time(self, weight: Option<usize>, time: Option<usize>) -> Self {
        Self { weight, time, ..self }
    }

    /// The same with a rule for what a column says of the direction of edges.
    pub(crate) fn with_direction(self, direction: Option<DirectionRule>) -> Self {
        Self { direction, ..self }
    }

    /// The same where the types are those of a database, or not.
    pub(crate) fn with_fixed_types(self, types_are_fixed: bool, ids_can_become_texts: bool) -> Self {
        Self { types_are_fixed, ids_can_become_texts, ..self }
    }

    /// The same where no edge may be without some properties, and lines may name some vertices only.
    pub(crate) fn with_limits(self, required: RequiredProperties, nameable: Option<KnownVertices>) -> Self {
        Self { required, nameable, ..self }
    }

    /// The same parser, which keeps this much of rejected lines.
    pub(crate) fn with_rejected(self, rejected: RejectedText) -> Self {
        Self { rejected, ..self }
    }

    /// The same where longer lines are refused.
    pub(crate) fn with_lines_of(self, line_bytes_max: usize) -> Self {
        Self { line_bytes_max, ..self }
    }

    /// A property, for the words of a refusal.
    fn refused(&self, index: usize) -> RefusedColumn<'_> {
        RefusedColumn {
            name: &self.names[index],
            is_weight: self.weight == Some(index),
            is_time: self.time == Some(index),
            type_is_fixed: self.types_are_fixed,
        }
    }

    /// The same for ids that are integers of a range.
    pub(crate) fn with_ids(self, ids: RangeInclusive<u64>) -> Self {
        Self { ids, ..self }
    }
}

impl BlockParser for TableParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let layout = &self.layouts[block.file];
        let lines = count_lines(&block.bytes) as usize + 1;
        let has_texts = |one: &PropertyType| one.logical.is_text();
        if self.ids_are_texts || self.types.iter().flatten().any(has_texts) {
            self.odd.look(block.file, &block);
        }
        let mut sink = PendingBlock::new(self, layout, &block, lines);
        match fast_of(self, layout) {
            Some(fast) => sink.parse_fast(&fast),
            None => sink.parse_from(0),
        }
        sink.finish(block.input_bytes)
    }

    fn warnings(&self) -> Vec<Message> {
        let mut notations = self.layouts.iter().flat_map(|layout| layout.notations.iter().flatten());
        let odd_times = notations.find_map(|notation| notation.odd_times().warning());
        self.odd.warning(&self.paths).into_iter().chain(odd_times).map(Message::from).collect()
    }
}

/// The fast path, for integer ids in the first two columns and nothing else or one number in the third.
fn fast_of(parser: &TableParser, layout: &ColumnLayout) -> Option<Fast> {
    let first = usize::from(layout.mark.is_some());
    let weighted = layout.properties == [first + 2] && parser.types == [None];
    // A line of the common form would be too short.
    let has_more = first + 2 + usize::from(weighted) < layout.least_columns();
    let fits = !has_more
        && layout.missing.as_ref().is_none_or(|words| !words.has_named())
        && layout.source == first
        && layout.target == first + 1
        && layout.direction.is_none()
        && layout.notations.iter().all(Option::is_none)
        && !parser.ids_are_texts
        && parser.nameable.is_none()
        && (weighted || layout.properties.is_empty());
    let ColumnLayout { dialect: Dialect { separator, .. }, mark, .. } = *layout;
    fits.then(|| Fast { separator, mark, weighted, ids: parser.ids.clone() })
}

/// The ids of one end, as they come.
enum Ids {
    Int(Vec<u64>),
    Text(BinaryBuilder),
}

/// A block on its way to a batch.
struct PendingBlock<'a> {
    parser: &'a TableParser,
    layout: &'a ColumnLayout,
    block: &'a InputBlock,
    /// Fields to keep of a line.
    limit: usize,
    fields: Vec<Field>,
    /// What the line has of each property.
    values: Vec<FieldValue>,
    sources: Ids,
    targets: Ids,
    properties: Vec<PropertyColumn>,
    rejected: Vec<Rejected>,
    /// The first integer of each property that no float equals.
    wide: Vec<WideInteger>,
    /// A line that no edges of its table can stand beside: a number that has no type, another direction.
    mixed: Option<Error>,
    /// Lines are counted up to here, for messages.
    counted: (usize, u64),
}

impl<'a> PendingBlock<'a> {
    fn new(parser: &'a TableParser, layout: &'a ColumnLayout, block: &'a InputBlock, lines: usize) -> Self {
        let ids = || match parser.ids_are_texts {
            true => Ids::Text(BinaryBuilder::with_capacity(lines, 0)),
            false => Ids::Int(Vec::with_capacity(lines)),
        };
        let column = |one: &Option<PropertyType>| PropertyColumn::new(one.as_ref(), lines);
        let needed =
            layout.properties.iter().chain(&layout.direction).chain([&layout.source, &layout.target]);
        let needed = needed.max().map_or(0, |last| last + 1);
        Self {
            parser,
            layout,
            block,
            limit: needed,
            fields: Vec::new(),
            values: Vec::new(),
            sources: ids(),
            targets: ids(),
            properties: parser.types.iter().map(column).collect(),
            rejected: Vec::new(),
            wide: Vec::new(),
            mixed: None,
            counted: (0, block.first_line),
        }
    }

    fn finish(self, input_bytes: u64) -> Result<EdgeBatch> {
        self.mixed.map_or(Ok(()), Err)?;
        let ids = |ids: Ids| match ids {
            Ids::Int(ids) => id_column(ids),
            Ids::Text(mut ids) => Arc::new(ids.finish()),
        };
        Ok(EdgeBatch {
            source: ids(self.sources),
            target: ids(self.targets),
            properties: self.properties.into_iter().map(PropertyColumn::finish).collect(),
            vertices: None,
            vertex_values: Vec::new(),
            vertex_places: None,
            rejected: self.rejected,
            wide: self.wide,
            input_bytes,
        })
    }

    /// Every line from `at` on by its fields.
    fn parse_from(&mut self, mut at: usize) {
        loop {
            at = skip_empty(&self.block.bytes, at);
            if at == self.block.bytes.len() {
                return;
            }
            at = self.line(at);
        }
    }

    /// Lines of the common form fast, others one by one.
    fn parse_fast(&mut self, fast: &Fast) {
        let mut at = 0;
        while at < self.block.bytes.len() {
            if let (Ids::Int(sources), Ids::Int(targets)) = (&mut self.sources, &mut self.targets) {
                let weights = match self.properties.first_mut().map(|column| &mut column.values) {
                    Some(ParsedValues::Numbers(weights)) => Some(weights),
                    _ => None,
                };
                at = fast.take(&self.block.bytes, at, EdgeParts { sources, targets, weights });
            }
            at = skip_empty(&self.block.bytes, at);
            if at < self.block.bytes.len() {
                at = self.line(at);
            }
        }
    }

    /// The line at `at`, whatever it is; returns where the next begins.
    fn line(&mut self, at: usize) -> usize {
        let bytes = &self.block.bytes[..];
        let may_be = matches!(bytes[at], b'#' | b'%' | b'c' | b'n' | b'd' | b'v' | b'x');
        if may_be && self.layout.dialect.comments != Comments::None {
            let (end, next) = line_end(bytes, at);
            if self.layout.dialect.is_comment(&bytes[at..end]) {
                return next;
            }
        }
        if let Some(reason) = too_long(bytes, at, self.parser.line_bytes_max) {
            let (end, next) = line_end(bytes, at);
            self.reject(at, end, reason);
            return next;
        }
        match split(bytes, at, &self.layout.dialect, self.limit, &mut self.fields) {
            Ok(line) => {
                if line.columns <= 1 && bytes[at..line.end].trim_ascii().is_empty() {
                    return line.next;
                }
                if let Err(reason) = self.take(at, line) {
                    self.reject(at, line.end, reason);
                }
                line.next
            }
            Err((fault, line)) => {
                self.reject(at, line.end, fault.reason().to_owned());
                line.next
            }
        }
    }

    /// Appends the edge whose fields are split, or says why not.
    fn take(&mut self, at: usize, line: SplitLine) -> std::result::Result<(), Message> {
        self.layout.check_mark(&self.block.bytes, &self.fields)?;
        self.check_columns(at, line)?;
        let bytes = &self.block.bytes[..];
        self.values.clear();
        let line_fields = LineFields { layout: self.layout, bytes, fields: &self.fields };
        let operation = match self.parser.required.operation {
            None => RowOperation::Add,
            Some(place) => {
                let (types, refused) = (&self.parser.types, self.parser.refused(place.property));
                line_fields.operation(place, types[place.property].as_ref(), &refused)?
            }
        };
        for (index, &place) in self.layout.properties.iter().enumerate() {
            if !self.parser.required.reads(operation, index) {
                let is_word = self.parser.required.operation.is_some_and(|place| place.property == index);
                self.values.push(if is_word { FieldValue::Text } else { FieldValue::Missing });
                continue;
            }
            let column = ValueColumn::of(self.layout, self.parser.types[index].as_ref(), index);
            let value = column.value(bytes, self.fields[place], || self.parser.refused(index))?;
            let refusal = || self.parser.required.refusal_of(operation, index, &self.parser.names[index]);
            if let (FieldValue::Missing, Some(reason)) = (&value, refusal()) {
                return Err(reason);
            }
            let kinds = self.parser.required.kinds_at(index).filter(|_| matches!(value, FieldValue::Text));
            kinds.map_or(Ok(()), |kinds| kinds.expect(&text_of(bytes, self.fields[place])))?;
            self.values.push(value);
        }
        let is_both_ways = self.is_both_ways(at, line)?;
        self.push_edge(self.layout.source, self.layout.target, at..line.end)?;
        if is_both_ways && !self.layout.is_loop(&self.block.bytes, &self.fields) {
            self.push_edge(self.layout.target, self.layout.source, at..line.end)?;
        }
        Ok(())
    }

    /// Whether the edge of a line stands for both directions by what its column says.
    fn is_both_ways(&mut self, at: usize, line: SplitLine) -> std::result::Result<bool, Message> {
        let (Some(column), Some(rule)) = (self.layout.direction, self.parser.direction) else {
            return Ok(false);
        };
        let cell = &self.block.bytes[self.fields[column].start..self.fields[column].end];
        match (is_directed(cell), rule) {
            // A cell that says nothing is as the others.
            (None, _) if cell.is_empty() => Ok(false),
            (None, _) => Err(format!("the type is {:?}, not Directed or Undirected", excerpt(cell)).into()),
            (Some(directed), DirectionRule::Same(same)) if directed != same => {
                let (path, text) = (&self.parser.paths[self.block.file], &self.block.bytes[at..line.end]);
                let number = self.line_at(at);
                self.mixed.get_or_insert(input_error(path, Some(number), text, mixed()));
                Err(mixed())
            }
            (Some(false), DirectionRule::BothWays) => Ok(true),
            (Some(_), _) => Ok(false),
        }
    }

    /// Appends the edge between the ids in two columns, with the numbers and texts of the line.
    fn push_edge(&mut self, from: usize, to: usize, line: Range<usize>) -> std::result::Result<(), Message> {
        let bytes = &self.block.bytes[..];
        let (source, target) = (self.fields[from], self.fields[to]);
        LineFields { layout: self.layout, bytes, fields: &self.fields }.expect_ends(source, target)?;
        if let Some(nameable) = &self.parser.nameable {
            [source, target].iter().try_for_each(|&field| nameable.expect(&text_of(bytes, field)))?;
        }
        match (&mut self.sources, &mut self.targets) {
            (Ids::Int(sources), Ids::Int(targets)) => {
                let ids = &self.parser.ids;
                let id = |field: Field, end| match decimal::id(&bytes[field.start..field.end]) {
                    Ok(id) if ids.contains(&id) => Ok(id),
                    Ok(id) => Err(not_in_range(end, id, ids)),
                    Err(why) if self.parser.ids_can_become_texts => Err(not_id_of_database(end, why)),
                    Err(why) => Err(not_id(end, why, *ids == (0..=u64::MAX))),
                };
                let (source, target) = (id(source, "source")?, id(target, "target")?);
                sources.push(source);
                targets.push(target);
            }
            (Ids::Text(sources), Ids::Text(targets)) => {
                let [source, target] = [(source, from), (target, to)].map(|(field, column)| {
                    let is_float = self.layout.float_end == Some(column);
                    if is_float { without_zeros(bytes, field) } else { field }
                });
                check_text(&text_of(bytes, source), "source")?;
                check_text(&text_of(bytes, target), "target")?;
                push_text(sources, bytes, source);
                push_text(targets, bytes, target);
            }
            _ => unreachable!("both ends are made alike"),
        }
        let edge = self.num_edges() - 1;
        for (index, &column) in self.layout.properties.iter().enumerate() {
            let field = self.fields[column];
            if let Some(number) = self.properties[index].push(self.values[index], edge, bytes, field) {
                self.push_number(index, number, line.clone());
            }
        }
        Ok(())
    }

    /// Appends the number of a property, from the line at `line`.
    #[inline]
    fn push_number(&mut self, index: usize, number: Number, line: Range<usize>) {
        let ParsedValues::Numbers(values) = &mut self.properties[index].values else { return };
        let known = values.wide();
        let pushed = values.push(number);
        let wide = values.wide().filter(|_| known.is_none());
        if let (Err(mixed), None) = (pushed, &self.mixed) {
            let (path, name) = (&self.parser.paths[self.block.file], &self.parser.names[index]);
            let (number, text) = (self.line_at(line.start), &self.block.bytes[line.clone()]);
            self.mixed = Some(input_error(path, Some(number), text, mixed.reason(name)));
        }
        if let Some(value) = wide {
            self.note_wide(line.start, index, value);
        }
    }

    /// Keeps the place of an integer of the last edge, which lies in the line at `at`.
    #[cold]
    fn note_wide(&mut self, at: usize, property: usize, value: i64) {
        let edges = self.num_edges();
        let (path, line) = (Arc::clone(&self.parser.paths[self.block.file]), self.line_at(at));
        self.wide.push(WideInteger { property, row: edges - 1, value, path, line });
    }

    fn num_edges(&self) -> usize {
        match &self.sources {
            Ids::Int(ids) => ids.len(),
            Ids::Text(ids) => ids.len(),
        }
    }

    fn check_columns(&self, at: usize, line: SplitLine) -> std::result::Result<(), String> {
        let found = line.columns;
        let expected = self.layout.columns;
        let columns = |found| esker_graph::counted(found, "column", "columns");
        if found < self.limit {
            return Err(format!("the line has {} and needs {}", columns(found), self.limit));
        }
        let where_ = || if self.layout.has_header { "the header has" } else { "the first lines have" };
        if found < self.layout.least_columns() {
            return Err(format!(
                "the line has {} where {} {expected}; complete the line, or correct its separators",
                columns(found),
                where_()
            ));
        }
        if found > expected && expected > 0 {
            // A separator at the end of the line adds an empty column that is not meant.
            let ends_empty = found == expected + 1
                && self.block.bytes[at..line.end]
                    .last()
                    .is_some_and(|&b| self.layout.dialect.separator.is(b));
            if !ends_empty {
                return Err(format!(
                    "the line has {} where {} {expected}; quote fields that hold a separator",
                    columns(found),
                    where_()
                ));
            }
        }
        Ok(())
    }

    /// The number of the line that begins at `at`, behind all that were asked for.
    fn line_at(&mut self, at: usize) -> u64 {
        let (counted, line) = self.counted;
        self.counted = (at, line + count_lines(&self.block.bytes[counted..at]));
        self.counted.1
    }

    fn reject(&mut self, at: usize, end: usize, reason: impl Into<Message>) {
        let line = self.line_at(at);
        let kept = self.parser.rejected;
        let described = kept.describes(self.rejected.len());
        let reason = of_line(reason.into(), self.layout.may_be_header == Some(line));
        let (edges_before, row) = (self.num_edges(), &self.block.bytes[at..end]);
        self.rejected.push(Rejected {
            path: Arc::clone(&self.parser.paths[self.block.file]),
            line,
            text: if described { rejected_line(row, kept) } else { Default::default() },
            reason: if described { reason } else { Message::default() },
            edges_before,
        });
    }
}
