//! The lists of a graph as the arrays of a sparse matrix.

use std::sync::Arc;

use esker::graph::{Direction, Rows, Run, VertexId};
use esker::store::format::ElementType;
use esker::store::{StoredWeight, View};
use pyo3::prelude::*;

use crate::failure::{PyFailure, PyOutcome};
use crate::graph::{PyGraph, direction};
use crate::input::array::{Array, ArrayItem};
use crate::output::row_order::RowOrder;
use crate::settings::Settings;
use crate::watch::watched_reading;

/// Offsets, targets and weights.
type CsrArrays = (Array, Array, Option<Array>);

/// The lists of all rows in order, with rows as targets: mapped where row `v` is vertex `v`, else copied.
/// `None` unless each list is stored in one piece.
#[pyfunction]
pub(crate) fn csr(
    py: Python<'_>,
    graph: &PyGraph,
    direction_name: &str,
    weighted: bool,
    settings: Settings,
) -> PyOutcome<Option<CsrArrays>> {
    let direction = direction(direction_name)?;
    let (run, cancel, listener) = settings.run("csr")?;
    let lists = MatrixLists { view: Arc::new(graph.view.clone()), direction, run: &run };
    watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        let order = graph.rows.order()?;
        match graph.view.weight_type().filter(|_| weighted) {
            None => lists.unweighted(order),
            Some(ElementType::I32) => lists.weighted::<i32>(order),
            Some(ElementType::I64) => lists.weighted::<i64>(order),
            Some(ElementType::F32) => lists.weighted::<f32>(order),
            Some(_) => lists.weighted::<f64>(order),
        }
    })
}

/// The stored lists of one direction.
struct MatrixLists<'a> {
    view: Arc<View>,
    direction: Direction,
    run: &'a Run,
}

impl MatrixLists<'_> {
    /// Calls `f` with the lists, if each is stored in one piece.
    fn with<W: StoredWeight, R>(&self, f: impl FnOnce(&Rows<'_, W>) -> R) -> PyOutcome<Option<R>> {
        let csr = self.view.graph::<W>(self.run)?.csr(self.run)?;
        Ok(csr.as_ref().and_then(|csr| csr.rows(self.direction)).map(f))
    }

    fn unweighted(&self, order: Option<&RowOrder>) -> PyOutcome<Option<CsrArrays>> {
        match order {
            None => self.mapped::<()>(|| Ok(None)),
            Some(order) => {
                let ordered = self.with::<(), _>(|rows| Ordered::of(rows, order))?;
                Ok(ordered.map(|lists| (Array::of(lists.offsets), Array::of(lists.targets), None)))
            }
        }
    }

    fn weighted<W: StoredWeight + ArrayItem>(
        &self,
        order: Option<&RowOrder>,
    ) -> PyOutcome<Option<CsrArrays>> {
        match order {
            None => self.mapped::<W>(|| self.array::<W, W>(|rows| rows.weights()).map(Some)),
            Some(order) => {
                let ordered = self.with::<W, _>(|rows| Ordered::of(rows, order))?;
                let arrays = |lists: Ordered<W>| {
                    (Array::of(lists.offsets), Array::of(lists.targets), Some(Array::of(lists.weights)))
                };
                Ok(ordered.map(arrays))
            }
        }
    }

    /// The arrays as they are stored.
    fn mapped<W: StoredWeight>(
        &self,
        weights: impl FnOnce() -> PyOutcome<Option<Array>>,
    ) -> PyOutcome<Option<CsrArrays>> {
        if self.with::<W, _>(|_| ())?.is_none() {
            return Ok(None);
        }
        let offsets = self.array::<W, _>(|rows| rows.offsets())?;
        Ok(Some((offsets, self.array::<W, _>(|rows| rows.targets())?, weights()?)))
    }

    fn array<W: StoredWeight, T: ArrayItem>(
        &self,
        of: impl for<'r> FnOnce(&Rows<'r, W>) -> &'r [T],
    ) -> PyOutcome<Array> {
        Array::within(Arc::clone(&self.view), |view: &View| {
            let csr = view.graph::<W>(self.run)?.csr(self.run)?;
            csr.as_ref().and_then(|csr| csr.rows(self.direction)).map(of).ok_or_else(vanished)
        })
    }
}

/// Lists in the order of rows, with rows as targets.
struct Ordered<W> {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W: StoredWeight> Ordered<W> {
    fn of(rows: &Rows<'_, W>, order: &RowOrder) -> Self {
        let count = rows.targets().len();
        let mut found = Self {
            offsets: Vec::with_capacity(order.len() + 1),
            targets: Vec::with_capacity(count),
            weights: Vec::with_capacity(count),
        };
        found.offsets.push(0);
        let mut list = Vec::new();
        for &v in order.vertices() {
            let (targets, weights) = rows.list(v);
            list.clear();
            list.extend(targets.iter().zip(weights).map(|(&target, &weight)| (order.row(target), weight)));
            if !order.ascends() {
                list.sort_by_key(|&(target, _)| target);
            }
            found.targets.extend(list.iter().map(|&(target, _)| target));
            found.weights.extend(list.iter().map(|&(_, weight)| weight));
            found.offsets.push(found.targets.len() as u64);
        }
        found
    }
}

fn vanished() -> PyFailure {
    PyFailure::Named(
        "Error",
        "the stored form of the lists changed; this is a bug, please report it".to_owned(),
    )
}
