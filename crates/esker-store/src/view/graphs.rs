//! Whole graphs of a version, to compute on.

use esker_format::{Error, PropertyRecord, Result};
use esker_graph::{Remaining, Run, Setting, message};
use esker_layers::graph::{
    Access, ArcWeights, CompleteLists, GraphEncoding, StoredGraph, StoredWeight, check_weight,
};
use esker_layers::stack::Stack;

use super::choice::View;

impl View {
    /// The graph to compute on, with the weights that it was imported with, or without weights (`W = ()`).
    ///
    /// The offsets of all lists are verified now, on the threads of `run`, so that degrees are at hand; the
    /// rest of a direction when an analysis first uses it. What was verified once stays so for all clones.
    /// The lists are read as [`View::resident`] chose; heads are gathered and lists copied to memory now,
    /// which reads all lists once. Removed vertices keep their numbers; see [`View::present_graph`].
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if there are no weights, or of another type (see
    /// [`View::weight_type`]), or an edge has none ([`View::expect_weights`]); cancellation.
    pub fn graph<W: StoredWeight>(&self, run: &Run) -> Result<StoredGraph<'_, W>> {
        self.expect_weights_of::<W>(run)?;
        self.chosen(None, run)
    }

    /// The graph that was chosen, over the remaining vertices alone if they are given. What a choice means is
    /// independent of the others: first the window and the filter leave edges out, then they are turned
    /// round, then directions are dropped and copies joined.
    fn chosen<'a, W: StoredWeight>(
        &'a self,
        mut remaining: Option<&'a Remaining>,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        let mut graph = match &self.window {
            None => self.lists(self.version.stack(), self.weight_of::<W>()?, &self.access, run)?,
            Some(part) => self.windowed(part, run)?,
        };
        if self.makes_in_lists {
            // What is made in memory is not renumbered in each scan.
            graph = remaining.take().into_iter().fold(graph, W::induced);
        }
        graph = self.turned(graph, run)?;
        graph = remaining.into_iter().fold(graph, W::induced);
        if self.access == Access::Memory && !(self.makes_in_lists && self.undirected) {
            return W::copied(graph, self.only.map(|only| self.as_kept(only)), run);
        }
        Ok(graph)
    }

    /// A graph with its edges turned round, or without their directions.
    fn turned<'a, W: StoredWeight>(
        &self,
        mut graph: StoredGraph<'a, W>,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        if self.makes_in_lists {
            graph = W::with_in_lists(graph, self.access == Access::Memory, run)?;
        }
        if self.undirected {
            // Copies that a window joins are one edge whichever way they lead.
            let joins = self.window.as_ref().is_some_and(|part| part.joins());
            return W::undirected(graph, self.may_have_parallel() && !joins, run);
        }
        if self.reversed { W::reversed(graph) } else { Ok(graph) }
    }

    /// Whether the copies of an edge in both directions are joined by the rule of a window, which needs both
    /// lists of a vertex at once.
    pub(super) fn joins_directions<W: StoredWeight>(&self) -> bool {
        let joins = self.window.as_ref().is_some_and(|part| part.joins());
        joins && self.undirected && W::ELEMENT.is_some()
    }

    /// As [`View::graph`], without the removed vertices, renumbered: see [`View::remaining`]; unless
    /// [`View::keeps_removed`].
    ///
    /// # Errors
    /// As [`View::graph`] and [`View::remaining`].
    pub fn present_graph<W: StoredWeight>(&self, run: &Run) -> Result<StoredGraph<'_, W>> {
        self.expect_weights_of::<W>(run)?;
        match self.window.as_ref().filter(|_| self.gathers) {
            Some(_) if self.joins_directions::<W>() => {
                W::copied(self.chosen(self.renumbering(run)?, run)?, None, run)
            }
            Some(part) => self.turned(self.gathered_window(part, run)?, run),
            None => self.chosen(self.renumbering(run)?, run),
        }
    }

    /// The property that stands beside the neighbours of a graph with weights of type `W`; `None` without
    /// weights.
    pub(super) fn weight_of<W: StoredWeight>(&self) -> Result<Option<&PropertyRecord>> {
        if W::ELEMENT.is_none() {
            return Ok(None);
        }
        let found = self.weight_property().ok_or_else(|| {
            Error::invalid(message![
                format!(
                    "the edges of {} have no weights: name a numeric property, ",
                    self.version.path().display()
                ),
                "or import it with ",
                Setting::Weight,
            ])
        })?;
        Ok(Some(found))
    }

    /// The lists of the version, read as `access` says, with a property beside the neighbours. `stack` is
    /// that of the version, or one that leaves out layers of it.
    pub(super) fn lists<'a, W: StoredWeight>(
        &'a self,
        stack: &'a Stack,
        property: Option<&PropertyRecord>,
        access: &Access,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        self.lists_from(stack, property, access, CompleteLists::Mapped, run)
    }

    /// As [`View::lists`]; `mapped` says what mapped lists are for.
    pub(super) fn lists_from<'a, W: StoredWeight>(
        &'a self,
        stack: &'a Stack,
        property: Option<&PropertyRecord>,
        access: &Access,
        mapped: CompleteLists<'a, '_>,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        let disk = self.version.state().disk();
        let weight = ArcWeights { property: check_weight::<W>(property)?, num_arcs: self.version.num_arcs() };
        let lists = match access {
            _ if stack.leaves_out_oldest() => mapped,
            Access::Mapped(GraphEncoding::Lists) | Access::Memory => mapped,
            Access::Mapped(GraphEncoding::Tiles) => {
                CompleteLists::Tiled(self.version.tiles_with(property)?, None)
            }
            Access::Pooled(GraphEncoding::Tiles, pool) => {
                CompleteLists::Tiled(self.version.tiles_with(property)?, Some(pool))
            }
            Access::Pooled(GraphEncoding::Lists, pool) => CompleteLists::Pooled(disk, pool),
            Access::Headed(heads) => CompleteLists::Headed(disk, self.version.stored_heads()?, *heads),
        };
        W::open(stack, weight, lists, self.only, run)
    }
}
