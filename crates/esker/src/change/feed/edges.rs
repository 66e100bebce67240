//! The edges of a block on their way to a batch, one by one or many at once.

use std::ops::Range;
use std::time::Duration;

use arrow_array::cast::AsArray;
use esker_import::read::operation::RowOperation;
use esker_import::read::source::{EdgeBatch, id_at as external_id, integer_ids};
use esker_store::format::PropertyRecord;
use esker_store::property::PropertyValue;
use esker_store::{EdgeMatch, Result};

use super::feeder::Feeder;
use super::left_out::is_loop;
use crate::change::columns::{Purpose, id_at, not_taken};
use crate::change::feed_policy::{FedEdge, FedEdges};
use crate::change::value::{InputValue, convert_or_widen};

/// The longest sleep before an edge whose time has not come.
const WAIT_AT_MOST: Duration = Duration::from_millis(10);

impl Feeder<'_> {
    /// Whether edges of a block may be taken many at a time: added as read, none of them reversed or skipped.
    pub(super) fn takes_columns(&self, rows: &EdgeBatch) -> bool {
        let are_texts = [&rows.source, &rows.target].map(|ids| integer_ids(ids).is_none());
        let as_read = self.purpose == Purpose::Add && !self.reverse && self.once.is_none();
        let has_loop = || (0..rows.len()).any(|row| is_loop(rows, row));
        as_read && !(self.drops_self_loops && has_loop()) && are_texts == [self.target.text_ids; 2]
    }

    /// Takes a range of edges at once. Returns false, having taken none, if they must be taken one by one.
    pub(super) fn take_many(&mut self, rows: &EdgeBatch, indexes: Range<usize>) -> Result<bool> {
        // A value cannot be converted. Taken one by one, the edges before it are not lost.
        let Ok(values) = self.values_of(rows, indexes.clone()) else { return Ok(false) };
        let last = indexes.end - 1;
        let of_last: Vec<_> = values.iter().map(|values| values[values.len() - 1]).collect();
        let (source, target) = (external_id(&rows.source, last), external_id(&rows.target, last));
        let operation = self.operation_of(last);
        let last = FedEdge { source, target, values: &of_last, operation };
        if !self.policy.admits_together(&FedEdges { count: indexes.len(), values: &values, last })? {
            return Ok(false);
        }
        match (integer_ids(&rows.source), integer_ids(&rows.target)) {
            (Some(from), Some(to)) => {
                self.batch.add_integer_edges(&from[indexes.clone()], &to[indexes.clone()], &values)?;
            }
            _ => {
                let (from, to) = (rows.source.as_binary::<i32>(), rows.target.as_binary::<i32>());
                let ends = indexes.clone().map(|index| [from.value(index), to.value(index)]);
                self.batch.add_text_edges(&ends.collect::<Vec<_>>(), &values)?;
            }
        }
        self.pending.edges += indexes.len() as u64;
        Ok(true)
    }

    /// The values of a range of edges, for each property.
    pub(super) fn values_of<'r>(
        &self,
        rows: &'r EdgeBatch,
        edges: Range<usize>,
    ) -> Result<Vec<Vec<PropertyValue<'r>>>> {
        let text_ids = self.target.text_ids;
        let columns = self.properties.iter().zip(&self.places);
        let column = |(property, &place): (&PropertyRecord, &usize)| {
            InputValue::all(&rows.properties[place], edges.clone())
                .zip(edges.clone())
                .map(|(given, index)| {
                    convert_or_widen(property, given)
                        .map_err(|error| not_taken(self.purpose, rows, place, index, text_ids, &error))
                })
                .collect()
        };
        columns.map(column).collect()
    }

    /// Waits until the policy wants the edge, and takes it. False if the policy ended the input before.
    pub(super) fn take_edge(&mut self, rows: &EdgeBatch, index: usize) -> Result<bool> {
        let operation = self.operation_of(index);
        let is_left_out = self.drops_self_loops && operation != RowOperation::Remove && is_loop(rows, index);
        let (mut from, mut to) = (String::new(), String::new());
        let source = id_at(&rows.source, index, self.target.text_ids, &mut from);
        let target = id_at(&rows.target, index, self.target.text_ids, &mut to);
        let (text_ids, mut values) = (self.target.text_ids, Vec::with_capacity(self.places.len()));
        let time = self.policy.time_place();
        for (number, (property, &place)) in self.properties.iter().zip(&self.places).enumerate() {
            let is_read = self.purpose == Purpose::Remove || property.kind || time == Some(number);
            if operation == RowOperation::Remove && !is_read {
                values.push(PropertyValue::Missing);
                continue;
            }
            let given = InputValue::of(&rows.properties[place], index);
            let value = convert_or_widen(property, given)
                .map_err(|error| not_taken(self.purpose, rows, place, index, text_ids, &error))?;
            values.push(value);
        }
        if self.once.as_mut().is_some_and(|copies| copies.skips(source, target, &values)) {
            return Ok(true);
        }
        let edge = FedEdge { source, target, values: &values, operation };
        loop {
            let wait = self.policy.wait(&edge);
            if wait.is_zero() {
                break;
            }
            std::thread::sleep(wait.min(WAIT_AT_MOST));
            if !self.commit_if_due(true)? {
                return Ok(false);
            }
        }
        // Also of an edge that is left out, the position in the input counts.
        let is_admitted = self.purpose == Purpose::Remove || self.policy.admits(&edge)?;
        if is_left_out {
            self.report.self_loops += 1;
            // As an import does, which names the vertex all the same.
            if is_admitted {
                self.batch.add_vertex(source)?;
            }
        } else if is_admitted {
            self.change(&edge)?;
            self.pending.edges += 1;
        }
        Ok(true)
    }

    /// Adds or removes an edge.
    pub(super) fn change(&mut self, edge: &FedEdge<'_>) -> Result<()> {
        let &FedEdge { source, target, values, operation } = edge;
        let directions = [(source, target), (target, source)];
        let count = if self.reverse && source != target { 2 } else { 1 };
        directions[..count].iter().try_for_each(|&(source, target)| match operation {
            RowOperation::Remove => self.remove(&FedEdge { source, target, values, operation }),
            RowOperation::Add | RowOperation::Replace => self.batch.add_edge(source, target, values),
        })
    }

    /// Removes the edges between two vertices that have the values of the properties that an input of
    /// removals names; of a stream, those of the kind.
    fn remove(&mut self, edge: &FedEdge<'_>) -> Result<()> {
        let &FedEdge { source, target, values, .. } = edge;
        let is_stream = self.purpose == Purpose::Add;
        if is_stream {
            self.batch.count_not_found();
        }
        let named = self.properties.iter().zip(values.iter().copied());
        let values: Vec<(u32, PropertyValue<'_>)> = named
            .filter(|(property, _)| !is_stream || property.kind)
            .map(|(property, value)| (property.number, value))
            .collect();
        if values.is_empty() {
            return self.batch.remove_edge(source, target);
        }
        let wanted = EdgeMatch { values: &values, ..EdgeMatch::default() };
        self.batch.remove_edges(source, target, &wanted)
    }
}
