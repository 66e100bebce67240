//! The columns of one direction on their way to the sink, in order, whoever finished which part first.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use esker_format::{ElementType, Encoding, Error, Result};
use esker_graph::Direction;

use super::body::Body;
use super::lists::Lists;
use super::scratch::Work;
use super::sink::{ColumnKind, ColumnSink, LayerSink};
use super::spool::Spool;
use super::values::{Layout, Range, wide, words};

/// What was written of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) arcs: u64,
    pub(super) loops: u64,
    pub(super) duplicates: u64,
    pub(super) duplicate_loops: u64,
}

/// The columns of one direction.
pub(super) struct Output<'a> {
    sink: &'a dyn LayerSink,
    direction: Direction,
    body: Body,
    properties: Vec<PropertyOutput<'a>>,
    words: usize,
    num_vertices: u64,
    written: Written,
    bytes: Vec<u8>,
}

/// A property column, or what becomes one when all of its values are known.
struct PropertyOutput<'a> {
    layout: &'a Layout,
    column: Values,
}

enum Values {
    Known(Box<dyn ColumnSink>),
    Sums(Spool<u64>, Range),
}

impl<'a> Output<'a> {
    /// Begins the columns, in an encoding, of the lists of so many vertices. `summed`: the property whose values are sums, so that its type is not known yet.
    pub(super) fn new(
        work: &Work,
        sink: &'a dyn LayerSink,
        direction: Direction,
        (num_vertices, encoding): (u64, Encoding),
        layouts: &'a [Layout],
        summed: Option<usize>,
    ) -> Result<Self> {
        let mut properties = Vec::new();
        for (property, layout) in layouts.iter().enumerate() {
            let column = if summed == Some(property) {
                // Little memory: a block. The rest of the budget is for sorting.
                Values::Sums(Spool::new(work, u64::MAX), Range::default())
            } else {
                Values::Known(sink.column(ColumnKind::Property {
                    property,
                    direction,
                    element: layout.carried,
                })?)
            };
            properties.push(PropertyOutput { layout, column });
        }
        Ok(Self {
            sink,
            direction,
            body: Body::new(sink, direction, encoding)?,
            properties,
            words: layouts.iter().map(|layout| words(layout.carried)).sum(),
            num_vertices,
            written: Written::default(),
            bytes: Vec::new(),
        })
    }

    /// Appends the lists of the next vertices. The list of a vertex may come in several pieces.
    pub(super) fn append(&mut self, lists: &Lists) -> Result<()> {
        self.written.arcs += lists.targets.len() as u64;
        self.written.loops += lists.loops;
        self.written.duplicates += lists.duplicates;
        self.written.duplicate_loops += lists.duplicate_loops;
        self.body.append(&lists.lengths, &lists.targets)?;
        for property in &mut self.properties {
            property.append(&lists.words, self.words, &mut self.bytes)?;
        }
        Ok(())
    }

    /// Ends all columns; also returns the types of the properties.
    pub(super) fn finish(self, work: &Work, names: &[String]) -> Result<(Written, Vec<ElementType>)> {
        self.body.finish(work, self.num_vertices)?;
        let mut types = Vec::new();
        for (property, output) in self.properties.into_iter().enumerate() {
            types.push(match output.column {
                Values::Known(column) => {
                    column.finish()?;
                    output.layout.carried
                }
                Values::Sums(mut sums, range) => {
                    sums.finish()?;
                    let element = range.narrowest(&names[property], 0)?;
                    let kind = ColumnKind::Property { property, direction: self.direction, element };
                    write_sums(work, &sums, output.layout.carried, element, self.sink.column(kind)?)?;
                    element
                }
            });
        }
        Ok((self.written, types))
    }
}

impl PropertyOutput<'_> {
    fn append(&mut self, words: &[u32], stride: usize, bytes: &mut Vec<u8>) -> Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        let carried = self.layout.carried;
        let records = words[self.layout.word..].chunks(stride);
        match &mut self.column {
            Values::Known(column) => {
                bytes.clear();
                match carried {
                    ElementType::I64 | ElementType::U64 | ElementType::F64 => {
                        records.for_each(|record| bytes.extend_from_slice(&wide(record).to_le_bytes()));
                    }
                    ElementType::I32 | ElementType::U32 | ElementType::F32 => {
                        records.for_each(|record| bytes.extend_from_slice(&record[0].to_le_bytes()));
                    }
                    ElementType::U16 => {
                        records.for_each(|record| bytes.extend_from_slice(&(record[0] as u16).to_le_bytes()));
                    }
                    ElementType::U8 => bytes.extend(records.map(|record| record[0] as u8)),
                }
                column.append(bytes)
            }
            Values::Sums(sums, range) => {
                for record in records {
                    let bits = wide(record);
                    range.merge(match carried {
                        ElementType::I64 => Range::of_integers(&[bits as i64]),
                        _ => Range::of_floats(&[f64::from_bits(bits)]),
                    });
                    sums.push(bits)?;
                }
                Ok(())
            }
        }
    }
}

/// Writes sums in the narrowest type that holds all of them.
fn write_sums(
    work: &Work,
    sums: &Spool<u64>,
    carried: ElementType,
    element: ElementType,
    mut column: Box<dyn ColumnSink>,
) -> Result<()> {
    let mut buffer = Vec::new();
    let mut bytes = Vec::new();
    for block in 0..sums.num_blocks() {
        work.check()?;
        bytes.clear();
        for &bits in sums.block(block, &mut buffer)? {
            let integer = if carried == ElementType::I64 { bits as i64 } else { f64::from_bits(bits) as i64 };
            let float = if carried == ElementType::I64 { bits as i64 as f64 } else { f64::from_bits(bits) };
            match element {
                ElementType::I32 => bytes.extend_from_slice(&(integer as i32).to_le_bytes()),
                ElementType::F32 => bytes.extend_from_slice(&(float as f32).to_le_bytes()),
                ElementType::F64 => bytes.extend_from_slice(&float.to_le_bytes()),
                _ => bytes.extend_from_slice(&integer.to_le_bytes()),
            }
        }
        column.append(&bytes)?;
    }
    column.finish()
}

/// Takes parts that are finished in any order and hands them to an output in order.
pub(super) struct Line<'a, 'b> {
    work: &'a Work,
    state: Mutex<LineState<'b>>,
    moved: Condvar,
    /// How many parts ahead of its turn a finished part may be.
    ahead_max: usize,
}

struct LineState<'b> {
    /// Absent while somebody writes.
    output: Option<Output<'b>>,
    next: usize,
    waiting: BTreeMap<usize, Lists>,
    failed: bool,
}

/// How often a waiting thread looks for cancellation.
const PATIENCE: Duration = Duration::from_millis(20);

impl<'a, 'b> Line<'a, 'b> {
    pub(super) fn new(work: &'a Work, output: Output<'b>, ahead_max: usize) -> Self {
        let state = LineState { output: Some(output), next: 0, waiting: BTreeMap::new(), failed: false };
        Self { work, state: Mutex::new(state), moved: Condvar::new(), ahead_max }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LineState<'b>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `ready` or a failure; whether it was the former.
    fn wait(
        &self,
        ready: impl Fn(&LineState<'b>) -> bool,
    ) -> Result<Option<std::sync::MutexGuard<'_, LineState<'b>>>> {
        let mut state = self.lock();
        while !ready(&state) {
            if state.failed {
                return Ok(None);
            }
            self.work.check()?;
            state = self.moved.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(Some(state))
    }

    /// Delivers part `index`; writes it and those that wait for it if its turn has come.
    pub(super) fn deliver(&self, index: usize, lists: Lists) -> Result<()> {
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
    pub(super) fn write_in_turn(
        &self,
        index: usize,
        write: impl FnOnce(&mut Output<'b>) -> Result<()>,
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
    pub(super) fn fail(&self) {
        self.lock().failed = true;
        self.moved.notify_all();
    }

    /// The output, after the last part.
    pub(super) fn into_output(self) -> Result<Output<'b>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.output.ok_or_else(|| Error::Invalid("a part of the layer was not written".to_owned()))
    }
}
