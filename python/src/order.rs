//! Serial searches that visit vertices in the order of NetworkX, for graphs converted from it.
//!
//! NetworkX returns dictionaries in the order of discovery, which follows the order of its adjacency lists.
//! Parallel algorithms have no such order, and a database sorts its lists; so these searches run on the lists
//! as NetworkX has them. Work O(n + m), with weights O(m log m).

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, Int64Array};
use pyo3::prelude::*;

use crate::failure::{PyFailure, PyOutcome, invalid};
use crate::input::array::Array;
use crate::input::column::{ColumnType, InputColumn};

/// The row of a vertex that has no parent.
const NO_ROW: i64 = -1;

/// Adjacency lists in the order of NetworkX; vertices are rows from 0.
#[pyclass(frozen, module = "esker._esker")]
pub(crate) struct OrderedLists {
    /// List `v` is `targets[offsets[v]..offsets[v + 1]]`.
    offsets: Vec<usize>,
    targets: Int64Array,
}

/// Rows in the order of discovery, and the value, the parent and the index of the arc from the parent of
/// each.
type DiscoveryOrder = (Array, Array, Array, Array);

#[pymethods]
impl OrderedLists {
    /// Lists from the length of each and the targets of all.
    #[new]
    fn new(lengths: &InputColumn, targets: &InputColumn) -> PyOutcome<Self> {
        let lengths = integers(lengths)?;
        let targets = integers(targets)?;
        let mut offsets = vec![0];
        for &length in lengths.values() {
            let end = usize::try_from(length)
                .ok()
                .and_then(|length| length.checked_add(offsets[offsets.len() - 1]));
            offsets.push(end.unwrap_or(usize::MAX));
        }
        let n = lengths.len() as i64;
        if offsets[offsets.len() - 1] != targets.len()
            || targets.values().iter().any(|&row| row < 0 || row >= n)
        {
            return invalid("the lengths of the lists do not fit the targets");
        }
        Ok(Self { offsets, targets })
    }

    fn __len__(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The targets of one row.
    fn list(&self, row: usize) -> PyOutcome<Vec<i64>> {
        self.expect(row)?;
        Ok(self.targets.values()[self.arcs(row)].to_vec())
    }

    /// Breadth-first search from `source`, at most `steps_max` steps far. Values are steps.
    #[pyo3(signature = (source, steps_max=None))]
    fn breadth_first(
        &self,
        py: Python<'_>,
        source: usize,
        steps_max: Option<u64>,
    ) -> PyOutcome<DiscoveryOrder> {
        self.expect(source)?;
        Ok(py.detach(|| self.in_breadth(source, steps_max.unwrap_or(u64::MAX))))
    }

    /// Dijkstra's algorithm from `source` with a weight for each arc, until `target` is reached or all
    /// distances up to `cutoff` are known.
    #[pyo3(signature = (weights, source, target=None, cutoff=None))]
    fn dijkstra(
        &self,
        py: Python<'_>,
        weights: &InputColumn,
        source: usize,
        target: Option<usize>,
        cutoff: Option<f64>,
    ) -> PyOutcome<DiscoveryOrder> {
        let values = self.weights(weights, source)?;
        let cutoff = cutoff.unwrap_or(f64::INFINITY);
        py.detach(|| match weights.column_type() {
            ColumnType::Floats => {
                let weights = values.as_primitive::<Float64Type>().values();
                let add = |a: Float, at: usize| Some(Float(a.0 + weights[at]));
                let (rows, lengths, parents, arcs) =
                    self.by_length(source, target, Float(0.0), add, |a| a.0 > cutoff)?;
                Ok((rows, Array::of(lengths.into_iter().map(|a| a.0).collect()), parents, arcs))
            }
            _ => {
                let weights = values.as_primitive::<Int64Type>().values();
                let add = |a: i64, at: usize| a.checked_add(weights[at]);
                let (rows, lengths, parents, arcs) =
                    self.by_length(source, target, 0, add, |a| a as f64 > cutoff)?;
                Ok((rows, Array::of(lengths), parents, arcs))
            }
        })
    }

    /// Bellman-Ford's algorithm from `source` with a weight for each arc. ``None`` if a negative cycle is
    /// reached.
    fn bellman_ford(
        &self,
        py: Python<'_>,
        weights: &InputColumn,
        source: usize,
    ) -> PyOutcome<Option<DiscoveryOrder>> {
        let values = self.weights(weights, source)?;
        py.detach(|| match weights.column_type() {
            ColumnType::Floats => {
                let weights = values.as_primitive::<Float64Type>().values();
                let add = |a: Float, at: usize| Some(Float(a.0 + weights[at]));
                let found = self.by_relaxing(source, Float(0.0), add)?;
                let plain = |lengths: Vec<Float>| Array::of(lengths.into_iter().map(|a| a.0).collect());
                Ok(found.map(|(rows, lengths, parents, arcs)| (rows, plain(lengths), parents, arcs)))
            }
            _ => {
                let weights = values.as_primitive::<Int64Type>().values();
                let found = self.by_relaxing(source, 0, |a: i64, at| a.checked_add(weights[at]))?;
                Ok(found.map(|(rows, lengths, parents, arcs)| (rows, Array::of(lengths), parents, arcs)))
            }
        })
    }

    /// The strong component of each row, numbered in the order in which a depth-first search finishes them.
    fn strong(&self, py: Python<'_>) -> Array {
        py.detach(|| Array::of(self.finished()))
    }

    /// The blocks of an undirected graph as the sources and targets of their edges and the end of each block,
    /// and the articulation points, each as often as it separates blocks.
    fn blocks(&self, py: Python<'_>) -> DiscoveryOrder {
        py.detach(|| self.in_depth())
    }
}

impl OrderedLists {
    fn arcs(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    fn expect(&self, row: usize) -> PyOutcome<()> {
        if row + 1 < self.offsets.len() { Ok(()) } else { invalid(format!("no row {row}")) }
    }

    /// The weights of the arcs, for a search from `source`.
    fn weights(&self, weights: &InputColumn, source: usize) -> PyOutcome<ArrayRef> {
        self.expect(source)?;
        if weights.len() != self.targets.len() {
            return invalid("there must be one weight for each arc");
        }
        weights.all_values(0..weights.len())
    }

    fn in_breadth(&self, source: usize, steps_max: u64) -> DiscoveryOrder {
        let mut seen = vec![false; self.offsets.len()];
        seen[source] = true;
        let (mut rows, mut steps) = (vec![source as i64], vec![0_i64]);
        let (mut parents, mut arcs) = (vec![NO_ROW], vec![NO_ROW]);
        let mut next = 0;
        while next < rows.len() {
            let (row, step) = (rows[next] as usize, steps[next]);
            next += 1;
            if step as u64 >= steps_max {
                break;
            }
            for at in self.arcs(row) {
                let to = self.targets.values()[at];
                if !std::mem::replace(&mut seen[to as usize], true) {
                    rows.push(to);
                    steps.push(step + 1);
                    parents.push(row as i64);
                    arcs.push(at as i64);
                }
            }
        }
        (Array::of(rows), Array::of(steps), Array::of(parents), Array::of(arcs))
    }

    /// Like NetworkX, breaks ties between equal lengths by the time of their discovery.
    fn by_length<L: Copy + Ord>(
        &self,
        source: usize,
        target: Option<usize>,
        zero: L,
        add: impl Fn(L, usize) -> Option<L>,
        is_beyond: impl Fn(L) -> bool,
    ) -> PyOutcome<(Array, Vec<L>, Array, Array)> {
        let mut best: Vec<Option<L>> = vec![None; self.offsets.len()];
        let mut reached: Vec<(i64, i64)> = vec![(NO_ROW, NO_ROW); self.offsets.len()];
        let mut is_final = vec![false; self.offsets.len()];
        let (mut rows, mut lengths, mut parents, mut arcs) = (vec![], vec![], vec![], vec![]);
        let mut discovered = 0_u64;
        let mut fringe = BinaryHeap::from([Reverse((zero, discovered, source))]);
        best[source] = Some(zero);
        while let Some(Reverse((length, _, row))) = fringe.pop() {
            if std::mem::replace(&mut is_final[row], true) {
                continue;
            }
            rows.push(row as i64);
            lengths.push(length);
            parents.push(reached[row].0);
            arcs.push(reached[row].1);
            if Some(row) == target {
                break;
            }
            for at in self.arcs(row) {
                let to = self.targets.values()[at] as usize;
                let Some(sum) = add(length, at) else {
                    return Err(too_long());
                };
                if is_final[to] || is_beyond(sum) || best[to].is_some_and(|known| sum >= known) {
                    continue;
                }
                best[to] = Some(sum);
                reached[to] = (row as i64, at as i64);
                discovered += 1;
                fringe.push(Reverse((sum, discovered, to)));
            }
        }
        Ok((Array::of(rows), lengths, Array::of(parents), Array::of(arcs)))
    }

    /// Relaxes the arcs of rows in a queue, as NetworkX does: a row waits while one of its parents is in the
    /// queue. `None` if a row enters the queue as often as there are rows, because of a negative cycle.
    #[allow(clippy::type_complexity, reason = "the columns of `Found`, one of them not yet an array")]
    fn by_relaxing<L: Copy + Ord>(
        &self,
        source: usize,
        zero: L,
        add: impl Fn(L, usize) -> Option<L>,
    ) -> PyOutcome<Option<(Array, Vec<L>, Array, Array)>> {
        let n = self.offsets.len() - 1;
        let mut best: Vec<Option<L>> = vec![None; n];
        // All parents on shortest paths found so far; the first is the one of the path.
        let mut above: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n];
        let (mut times, mut waits) = (vec![0_usize; n], vec![false; n]);
        let mut rows = vec![source];
        let mut queue = VecDeque::from([source]);
        best[source] = Some(zero);
        waits[source] = true;
        while let Some(row) = queue.pop_front() {
            waits[row] = false;
            let Some(length) = best[row] else { continue };
            if above[row].iter().any(|&(parent, _)| waits[parent]) {
                continue;
            }
            for at in self.arcs(row) {
                let to = self.targets.values()[at] as usize;
                let Some(sum) = add(length, at) else { return Err(too_long()) };
                // The length of `row` stays the one before the loop, even if a self-loop changes it.
                match best[to] {
                    Some(known) if sum > known => {}
                    Some(known) if sum == known => above[to].push((row, at)),
                    known => {
                        if !std::mem::replace(&mut waits[to], true) {
                            queue.push_back(to);
                            times[to] += 1;
                            if times[to] == n {
                                return Ok(None);
                            }
                        }
                        if known.is_none() {
                            rows.push(to);
                        }
                        best[to] = Some(sum);
                        above[to] = vec![(row, at)];
                    }
                }
            }
        }
        let lengths = rows.iter().map(|&row| best[row].unwrap_or(zero)).collect();
        let first = |row: &usize| above[*row].first().filter(|_| *row != source).copied();
        let parents = rows.iter().map(|row| first(row).map_or(NO_ROW, |(parent, _)| parent as i64)).collect();
        let arcs = rows.iter().map(|row| first(row).map_or(NO_ROW, |(_, at)| at as i64)).collect();
        let rows = rows.into_iter().map(|row| row as i64).collect();
        Ok(Some((Array::of(rows), lengths, Array::of(parents), Array::of(arcs))))
    }

    /// Tarjan's algorithm.
    fn finished(&self) -> Vec<i64> {
        let n = self.offsets.len() - 1;
        let (mut component, mut count) = (vec![NO_ROW; n], 0);
        let (mut discovery, mut low, mut time) = (vec![usize::MAX; n], vec![usize::MAX; n], 0);
        let (mut waiting, mut stack): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        for start in 0..n {
            if discovery[start] == usize::MAX {
                stack.push((start, self.offsets[start]));
            }
            while let Some((row, next)) = stack.pop() {
                if discovery[row] == usize::MAX {
                    (discovery[row], low[row]) = (time, time);
                    time += 1;
                    waiting.push(row);
                }
                if next < self.offsets[row + 1] {
                    let to = self.targets.values()[next] as usize;
                    stack.push((row, next + 1));
                    if discovery[to] == usize::MAX {
                        stack.push((to, self.offsets[to]));
                    } else if component[to] == NO_ROW {
                        low[row] = low[row].min(discovery[to]);
                    }
                    continue;
                }
                if let Some(&(parent, _)) = stack.last() {
                    low[parent] = low[parent].min(low[row]);
                }
                if low[row] == discovery[row] {
                    while let Some(member) = waiting.pop() {
                        component[member] = count;
                        if member == row {
                            break;
                        }
                    }
                    count += 1;
                }
            }
        }
        component
    }

    fn in_depth(&self) -> DiscoveryOrder {
        struct Frame {
            grandparent: usize,
            row: usize,
            next: usize,
            /// The index of the edge to `row` in the stack of edges.
            edge: usize,
        }
        let n = self.offsets.len() - 1;
        let (mut discovery, mut low) = (vec![usize::MAX; n], vec![usize::MAX; n]);
        let (mut sources, mut targets, mut ends, mut cuts) = (vec![], vec![], vec![], vec![]);
        let mut stack: Vec<Frame> = Vec::new();
        let mut edges: Vec<(i64, i64)> = Vec::new();
        let mut time = 0;
        for start in 0..n {
            if discovery[start] != usize::MAX {
                continue;
            }
            (discovery[start], low[start]) = (time, time);
            time += 1;
            edges.clear();
            let mut root_children = 0;
            stack.push(Frame { grandparent: start, row: start, next: self.offsets[start], edge: 0 });
            while let Some(frame) = stack.last_mut() {
                let (grandparent, row) = (frame.grandparent, frame.row);
                if frame.next < self.offsets[row + 1] {
                    let child = self.targets.values()[frame.next] as usize;
                    frame.next += 1;
                    if child == grandparent {
                        continue;
                    }
                    if discovery[child] == usize::MAX {
                        (discovery[child], low[child]) = (time, time);
                        time += 1;
                        let next = self.offsets[child];
                        stack.push(Frame { grandparent: row, row: child, next, edge: edges.len() });
                        edges.push((row as i64, child as i64));
                    } else if discovery[child] <= discovery[row] {
                        low[row] = low[row].min(discovery[child]);
                        edges.push((row as i64, child as i64));
                    }
                    continue;
                }
                let edge = frame.edge;
                stack.pop();
                if stack.is_empty() {
                    continue;
                }
                let is_below_root = stack.len() == 1;
                root_children += usize::from(is_below_root);
                if is_below_root || low[row] >= discovery[grandparent] {
                    for (source, target) in edges.drain(edge..) {
                        sources.push(source);
                        targets.push(target);
                    }
                    ends.push(sources.len() as u64);
                    if !is_below_root {
                        cuts.push(grandparent as i64);
                    }
                }
                low[grandparent] = low[grandparent].min(low[row]);
            }
            if root_children > 1 {
                cuts.push(start as i64);
            }
        }
        (Array::of(sources), Array::of(targets), Array::of(ends), Array::of(cuts))
    }
}

fn too_long() -> PyFailure {
    PyFailure::Named("UnsuitableError", "a distance exceeds 2^63 - 1".to_owned())
}

fn integers(column: &InputColumn) -> PyOutcome<Int64Array> {
    Ok(column.all_values(0..column.len())?.as_primitive::<Int64Type>().clone())
}

/// A length in the order of floats. It is never NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Float(f64);

impl Eq for Float {}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
