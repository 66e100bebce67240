//! Writes the columns of one direction in order, in whatever order their parts are finished.

use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::time::Duration;

use esker_format::{ElementType, Encoding, Error, LogicalType, Result, ValuesWriter, Widening, missing_bits};
use esker_graph::{Direction, VertexId};
use esker_layers::layer::{BodyWriter, PlainWriter, SectionColumn};

use crate::build::lists::{BuiltLists, Duplicate};
use crate::build::values::{Range, ValueLayout, wide, words};
use crate::read::source::Schema;
use crate::sort::scratch::Workspace;
use crate::sort::spool::Spool;

/// Lists and arcs that are handed on at once.
const LISTS_AT_ONCE: usize = 1 << 13;
const ARCS_AT_ONCE: usize = 1 << 17;

/// What was written of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WrittenLists {
    pub(crate) arcs: u64,
    pub(crate) loops: u64,
    pub(crate) duplicates: u64,
    pub(crate) duplicate_loops: u64,
    pub(crate) first_duplicate: Option<Duplicate>,
}

/// The columns of one direction.
pub(crate) struct DirectionOutput<'a> {
    writer: &'a PlainWriter<'a>,
    direction: Direction,
    body: BodyWriter,
    /// Vertices whose lists are complete.
    ended: u64,
    properties: Vec<PropertyOutput<'a>>,
    words: usize,
    num_vertices: u64,
    written: WrittenLists,
}

/// A property column, or what becomes one when all of its values are known.
struct PropertyOutput<'a> {
    layout: &'a ValueLayout,
    column: WeightOutput,
}

enum WeightOutput {
    Known(ValuesWriter),
    Sums(Spool<u64>, Range),
}

impl<'a> DirectionOutput<'a> {
    /// Begins the columns, in an encoding, of the lists of so many vertices. `summed`: the property whose
    /// values are sums, so that its type is not known yet.
    pub(crate) fn new(
        work: &Workspace,
        writer: &'a PlainWriter<'a>,
        direction: Direction,
        num_vertices: u64,
        encoding: Encoding,
        layouts: &'a [ValueLayout],
        summed: Option<usize>,
    ) -> Result<Self> {
        let mut properties = Vec::new();
        for (property, layout) in layouts.iter().enumerate() {
            let column = if summed == Some(property) {
                // Little memory: a block. The rest of the budget is for sorting.
                let range = Range { missing: layout.optional, ..Range::default() };
                WeightOutput::Sums(Spool::new(work, u64::MAX), range)
            } else {
                let column = SectionColumn::Property(property as u32);
                WeightOutput::Known(writer.values(direction, column, layout.carried)?)
            };
            properties.push(PropertyOutput { layout, column });
        }
        Ok(Self {
            writer,
            direction,
            body: match encoding {
                // Tiles are made of plain lists.
                Encoding::Plain | Encoding::Tiles => {
                    BodyWriter::arrays(writer, direction, SectionColumn::Offsets, SectionColumn::Targets)?
                }
                Encoding::Compressed => BodyWriter::coded(writer, direction)?,
            },
            ended: 0,
            properties,
            words: layouts.iter().map(|layout| words(layout.carried)).sum(),
            num_vertices,
            written: WrittenLists::default(),
        })
    }

    /// Appends the lists of the next vertices. The list of a vertex may come in several pieces.
    pub(crate) fn append(&mut self, lists: &BuiltLists) -> Result<()> {
        self.written.arcs += lists.targets.len() as u64;
        self.written.loops += lists.loops;
        self.written.duplicates += lists.duplicates;
        self.written.duplicate_loops += lists.duplicate_loops;
        self.written.first_duplicate = self.written.first_duplicate.or(lists.first_duplicate);
        self.append_lists(&lists.lengths, &lists.targets)?;
        for property in &mut self.properties {
            property.append(&lists.words, self.words)?;
        }
        Ok(())
    }

    /// Appends vertices and the lengths of their lists, or of pieces of them, and all targets.
    fn append_lists(&mut self, lengths: &[(VertexId, u32)], targets: &[VertexId]) -> Result<()> {
        let mut ends = Vec::new();
        let (mut from, mut at) = (0, 0);
        for &(vertex, length) in lengths {
            while self.ended < u64::from(vertex) {
                ends.push((at - from) as u64);
                self.ended += 1;
                if ends.len() == LISTS_AT_ONCE {
                    self.body.append(&ends, &targets[from..at])?;
                    ends.clear();
                    from = at;
                }
            }
            at += length as usize;
            if at - from >= ARCS_AT_ONCE {
                self.body.append(&ends, &targets[from..at])?;
                ends.clear();
                from = at;
            }
        }
        self.body.append(&ends, &targets[from..])
    }

    /// Ends all columns; also returns the types of the properties.
    pub(crate) fn finish(
        mut self,
        work: &Workspace,
        schema: &Schema,
    ) -> Result<(WrittenLists, Vec<ElementType>)> {
        while self.ended < self.num_vertices {
            work.check()?;
            let ends = [0; LISTS_AT_ONCE];
            let left = (self.num_vertices - self.ended).min(LISTS_AT_ONCE as u64);
            self.body.append(&ends[..left as usize], &[])?;
            self.ended += left;
        }
        self.body.finish()?;
        let mut types = Vec::new();
        for (property, output) in self.properties.into_iter().enumerate() {
            types.push(match output.column {
                WeightOutput::Known(column) => {
                    column.finish()?;
                    output.layout.carried
                }
                WeightOutput::Sums(mut sums, range) => {
                    sums.finish()?;
                    let mut element = range.element(&schema.properties[property], None, 0)?;
                    if let Some(declared) = schema.declared(property)
                        && Widening::is_possible(element, declared.element)
                    {
                        element = declared.element;
                    }
                    let column = SectionColumn::Property(property as u32);
                    let column = self.writer.values(self.direction, column, element)?;
                    write_sums(work, &sums, output.layout, element, column)?;
                    element
                }
            });
        }
        Ok((self.written, types))
    }
}

impl PropertyOutput<'_> {
    fn append(&mut self, words: &[u32], stride: usize) -> Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        let carried = self.layout.carried;
        let records = words[self.layout.word..].chunks(stride);
        match &mut self.column {
            WeightOutput::Known(column) if crate::build::values::words(carried) == 2 => {
                column.append(records.map(wide))
            }
            WeightOutput::Known(column) => column.append(records.map(|record| u64::from(record[0]))),
            WeightOutput::Sums(sums, range) => {
                for record in records {
                    let bits = wide(record);
                    sums.push(bits)?;
                    if self.layout.is_missing(record) {
                        continue;
                    }
                    range.merge(match carried {
                        ElementType::I64 => Range::of_integers(&[bits as i64]),
                        _ => Range::of_floats(&[f64::from_bits(bits)]),
                    });
                }
                Ok(())
            }
        }
    }
}

/// Writes sums in the narrowest type that holds all of them.
fn write_sums(
    work: &Workspace,
    sums: &Spool<u64>,
    layout: &ValueLayout,
    element: ElementType,
    mut column: ValuesWriter,
) -> Result<()> {
    let carried = layout.carried;
    let missing = missing_bits(element, &LogicalType::Number).unwrap_or(0);
    let mut buffer = Vec::new();
    for block in 0..sums.num_blocks() {
        work.check()?;
        column.append(sums.block(block, &mut buffer)?.iter().map(|&bits| {
            if layout.optional && layout.missing == Some(bits) {
                return missing;
            }
            let integer = if carried == ElementType::I64 { bits as i64 } else { f64::from_bits(bits) as i64 };
            let float = if carried == ElementType::I64 { bits as i64 as f64 } else { f64::from_bits(bits) };
            match element {
                ElementType::F32 => u64::from((float as f32).to_bits()),
                ElementType::F64 => float.to_bits(),
                // The low bits of a narrower integer are those of the wide one.
                _ => integer as u64,
            }
        }))?;
    }
    column.finish()
}

/// Takes parts that are finished in any order and hands them to an output in order.
pub(crate) struct PartQueue<'a, 'b> {
    work: &'a Workspace,
    state: Mutex<LineState<'b>>,
    moved: Condvar,
    /// How many parts ahead of its turn a finished part may be.
    ahead_max: usize,
}

struct LineState<'b> {
    /// Absent while somebody writes.
    output: Option<DirectionOutput<'b>>,
    next: usize,
    waiting: BTreeMap<usize, BuiltLists>,
    failed: bool,
}

/// How often a waiting thread looks for cancellation.
const PATIENCE: Duration = Duration::from_millis(20);

impl<'a, 'b> PartQueue<'a, 'b> {
    pub(crate) fn new(work: &'a Workspace, output: DirectionOutput<'b>, ahead_max: usize) -> Self {
        let state = LineState { output: Some(output), next: 0, waiting: BTreeMap::new(), failed: false };
        Self { work, state: Mutex::new(state), moved: Condvar::new(), ahead_max }
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, LineState<'b>> {
        self.state.lock()
    }

    /// Waits until `ready` or a failure; whether it was the former.
    fn wait(
        &self,
        ready: impl Fn(&LineState<'b>) -> bool,
    ) -> Result<Option<parking_lot::MutexGuard<'_, LineState<'b>>>> {
        let mut state = self.lock();
        while !ready(&state) {
            if state.failed {
                return Ok(None);
            }
            self.work.check()?;
            self.moved.wait_for(&mut state, PATIENCE);
        }
        Ok(Some(state))
    }

    /// Delivers part `index`; writes it and those that wait for it if its turn has come.
    pub(crate) fn deliver(&self, index: usize, lists: BuiltLists) -> Result<()> {
        let Some(mut state) = self.wait(|state| index <= state.next + self.ahead_max)? else { return Ok(()) };
        state.waiting.insert(index, lists);
        loop {
            let next = state.next;
            if state.output.is_none() || !state.waiting.contains_key(&next) {
                return Ok(());
            }
            let (Some(mut output), Some(lists)) = (state.output.take(), state.waiting.remove(&next)) else {
                return Ok(());
            };
            drop(state);
            let appended = output.append(&lists);
            drop(lists);
            state = self.lock();
            state.output = Some(output);
            state.failed |= appended.is_err();
            appended?;
            state.next += 1;
            self.moved.notify_all();
        }
    }

    /// Waits for the turn of part `index`, and lets `write` hand it over piece by piece.
    pub(crate) fn write_in_turn(
        &self,
        index: usize,
        write: impl FnOnce(&mut DirectionOutput<'b>) -> Result<()>,
    ) -> Result<()> {
        let turn = self.wait(|state| state.next == index && state.output.is_some())?;
        let Some(mut output) = turn.and_then(|mut state| state.output.take()) else { return Ok(()) };
        let written = write(&mut output);
        let mut state = self.lock();
        state.output = Some(output);
        state.failed |= written.is_err();
        state.next += 1;
        self.moved.notify_all();
        drop(state);
        written?;
        // Parts may have arrived meanwhile, whose bringers are gone.
        self.drain()
    }

    fn drain(&self) -> Result<()> {
        let mut state = self.lock();
        let next = state.next;
        match state.waiting.remove(&next) {
            Some(lists) => {
                drop(state);
                self.deliver(next, lists)
            }
            None => Ok(()),
        }
    }

    /// Makes those that wait give up.
    pub(crate) fn fail(&self) {
        self.lock().failed = true;
        self.moved.notify_all();
    }

    /// The output, after the last part.
    pub(crate) fn into_output(self) -> Result<DirectionOutput<'b>> {
        let state = self.state.into_inner();
        state.output.ok_or_else(|| Error::invalid("a part of the layer was not written".to_owned()))
    }
}
