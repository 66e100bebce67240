//! A stored graph as the algorithms see it: mapped arrays behind the trait, scanned by the code that scans arrays in
//! memory.

use std::sync::OnceLock;

use esker_graph::{CsrGraph, Direction, Graph, Lists, Rows, Run, Select, Stop, VertexId, Visitor};

use super::weight::StoredWeight;
use crate::error::{Error, Result};
use crate::format::PropertyRecord;
use crate::layer::{PlainLayer, Section};

/// A graph in a database, with weights of type `W`. Memory: none of its own.
///
/// The first scan of a direction verifies all of its lists; [`StoredGraph::prepare`] does the same ahead of time.
#[derive(Debug)]
pub struct StoredGraph<'a, W> {
    num_arcs: u64,
    directed: bool,
    out: Side<'a, W>,
    /// `None`: not kept, or (undirected) the same as `out`.
    incoming: Option<Side<'a, W>>,
}

/// The lists of one direction.
#[derive(Debug)]
struct Side<'a, W> {
    section: &'a Section,
    /// Verified, ascending from 0 to the number of arcs.
    offsets: &'a [u64],
    /// Number of the property that is the weight; nobody looks if `W` is `()`.
    property: u32,
    /// Set once all is verified.
    rows: OnceLock<Rows<'a, W>>,
}

impl<'a, W: StoredWeight> StoredGraph<'a, W> {
    /// With the given property as the weight.
    pub(super) fn new(layer: &'a PlainLayer, weight: Option<&PropertyRecord>, run: &Run) -> Result<Self> {
        let property = weight.map_or(0, |record| record.number);
        if let (Some(record), Some(wanted)) = (weight, W::ELEMENT)
            && (record.texts || record.element != wanted)
        {
            let found = if record.texts { "texts" } else { record.element.name() };
            let message = format!("the edge property {:?} holds {found}, not {}", record.name, wanted.name());
            return Err(Error::Invalid(message));
        }
        let side = |section: &'a Section| -> Result<Side<'a, W>> {
            Ok(Side { section, offsets: section.offsets(run)?, property, rows: OnceLock::new() })
        };
        Ok(Self {
            num_arcs: layer.out().num_arcs() as u64,
            directed: layer.is_directed(),
            out: side(layer.out())?,
            incoming: layer.incoming().map(side).transpose()?,
        })
    }

    /// Verifies all lists of a direction, and the weights beside them, unless that was done before. Scans do it by
    /// themselves; algorithms that begin with [`Lists::with_list`] are faster if it was done.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation; [`Stop::Unsuitable`] if the direction is not kept.
    pub fn prepare(&self, run: &Run, direction: Direction) -> Result<()> {
        self.side(direction)?.rows(run).map(|_| ())
    }

    /// The same graph over plain slices, after verifying all of it.
    ///
    /// # Errors
    /// As [`StoredGraph::prepare`].
    pub fn csr(&self, run: &Run) -> Result<CsrGraph<'a, W>> {
        let out = *self.out.rows(run)?;
        if !self.directed {
            return Ok(CsrGraph::undirected(out));
        }
        let incoming = self.incoming.as_ref().map(|side| side.rows(run).copied()).transpose()?;
        Ok(CsrGraph::directed(out, incoming))
    }

    #[inline(always)]
    fn kept(&self, direction: Direction) -> Option<&Side<'a, W>> {
        match (direction, self.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    #[inline(always)]
    fn side(&self, direction: Direction) -> Result<&Side<'a, W>> {
        self.kept(direction)
            .ok_or_else(|| Stop::Unsuitable("the graph is stored without its in-edges".to_owned()).into())
    }
}

impl<'a, W: StoredWeight> Side<'a, W> {
    fn rows(&self, run: &Run) -> Result<&Rows<'a, W>> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows);
        }
        let targets = self.section.targets(run)?;
        let weights = W::all(self.section, self.property, run)?;
        let rows = Rows::new(self.offsets, targets, weights)?;
        Ok(self.rows.get_or_init(|| rows))
    }

    /// A list before everything was verified.
    #[cold]
    fn list(&self, v: VertexId) -> Result<(&'a [VertexId], &'a [W])> {
        let range = self.section.range(v)?;
        Ok((self.section.list(v)?, W::some(self.section, self.property, range)?))
    }
}

impl<W: StoredWeight> Graph for StoredGraph<'_, W> {
    type Weight = W;
    type Error = Error;

    fn num_vertices(&self) -> usize {
        self.out.offsets.len() - 1
    }

    fn num_arcs(&self) -> u64 {
        self.num_arcs
    }

    fn is_directed(&self) -> bool {
        self.directed
    }

    fn has(&self, direction: Direction) -> bool {
        self.kept(direction).is_some()
    }

    #[inline(always)]
    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        let offsets = self.kept(direction).expect("the direction is kept").offsets;
        (offsets[v as usize + 1] - offsets[v as usize]) as usize
    }

    fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
        Ok(self.side(direction)?.rows(run)?.scan(run, select, visitor)?)
    }
}

impl<W: StoredWeight> Lists for StoredGraph<'_, W> {
    #[inline]
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R> {
        let side = self.side(direction)?;
        let (targets, weights) = match side.rows.get() {
            Some(rows) => rows.list(v),
            None => side.list(v)?,
        };
        Ok(f(targets, weights))
    }
}
