//! One iteration: communities are found, become the nodes of a smaller graph, and so on.

use std::marker::PhantomData;
use std::sync::Arc;

use esker_graph::{NONE, Run, Stop, VertexId, vertex};

use super::adjacency::Adjacency;
use super::contracted::{Coarse, CoarseLists, NodeGroups, Regrouped};
use super::moving::{Deciders, Mover, VisitOrder};
use super::partition::{Cost, Partition};
use super::refining::Refiner;
use crate::primitive::VertexArray;

/// The most sweeps over one level.
const SWEEPS_MAX: usize = 100;
/// The most levels.
const LEVELS_MAX: usize = 64;

/// The lists of a level.
enum LevelLists {
    /// Those of the vertices.
    Vertices,
    /// In memory.
    Coarse(Coarse),
    /// Those of the vertices of each node.
    Regrouped(NodeGroups),
}

/// A level that was made of the one below.
struct LevelAbove {
    /// The node of each node below.
    above: Vec<VertexId>,
    partition: Partition,
}

/// Finds communities level by level.
pub(super) struct Levels<'a, E> {
    pub(super) run: &'a Run,
    /// The lists of the vertices.
    pub(super) lists: &'a dyn Adjacency<Error = E>,
    pub(super) mass: &'a Arc<[u64]>,
    pub(super) cost: Cost,
    /// Entries in the list of a vertex, on average.
    pub(super) entries_each: u64,
    /// Whether communities are refined before they become nodes: Leiden, and not Louvain.
    pub(super) refines: bool,
}

impl<E: From<Stop> + Send> Levels<'_, E> {
    /// Finds communities, beginning with given ones or with single vertices. Returns the community of each
    /// vertex, and the number of moves.
    pub(super) fn iterate(&self, given: Option<VertexArray>) -> Result<(VertexArray, u64), E> {
        let mut partition = match given {
            Some(of) => Partition::new(self.run, Arc::clone(self.mass), of)?,
            None => Partition::single(self.run, Arc::clone(self.mass)),
        };
        let (mut stored, mut top, mut moves) = (LevelLists::Vertices, Vec::new(), 0);
        for _ in 0..LEVELS_MAX {
            let deciders = Deciders::new(partition.num_nodes());
            let order = VisitOrder::new(partition.num_nodes(), self.run.seed());
            let rise = self.with(&stored, &top, |lists| {
                let mover = Mover {
                    run: self.run,
                    lists,
                    partition: &partition,
                    cost: self.cost,
                    entries_each: self.entries_each,
                    deciders: &deciders,
                };
                moves += mover.run(&order, SWEEPS_MAX, false)?.moves;
                self.rise(lists, &partition, &order, &deciders)
            })?;
            let Some(rise) = rise else { break };
            drop((order, deciders));
            partition = rise.partition;
            stored = self.store(&stored, &mut top, rise.above, partition.num_nodes())?;
        }
        if top.is_empty() {
            return Ok((partition.of, moves));
        }
        Ok((VertexArray::from_fn(self.run, top.len(), |v| partition.of.get(top[v])), moves))
    }

    /// Calls `f` with the lists of a level, which `top` gives the node of each vertex for.
    fn with<R>(
        &self,
        stored: &LevelLists,
        top: &[VertexId],
        f: impl FnOnce(&dyn Adjacency<Error = E>) -> R,
    ) -> R {
        match stored {
            LevelLists::Vertices => f(self.lists),
            LevelLists::Coarse(coarse) => f(&CoarseLists { run: self.run, coarse, error: PhantomData }),
            LevelLists::Regrouped(members) => f(&Regrouped { lists: self.lists, above: top, members }),
        }
    }

    /// The level above, or `None` if it would be the same.
    fn rise(
        &self,
        lists: &dyn Adjacency<Error = E>,
        partition: &Partition,
        order: &VisitOrder,
        deciders: &Deciders,
    ) -> Result<Option<LevelAbove>, E> {
        let refined;
        let parts = if self.refines {
            let refiner = Refiner {
                run: self.run,
                lists,
                bounds: partition,
                cost: self.cost,
                entries_each: self.entries_each,
                deciders,
            };
            refined = refiner.run(order)?;
            &refined
        } else {
            partition
        };
        let n = partition.num_nodes();
        let named: Vec<VertexId> = (0..n).map(vertex).filter(|&part| parts.len.get(part) > 0).collect();
        if named.len() == n {
            return Ok(None);
        }
        let mut numbers = vec![NONE; n];
        named.iter().enumerate().for_each(|(above, &part)| numbers[part as usize] = vertex(above));
        let above =
            VertexArray::from_fn(self.run, n, |v| numbers[parts.of.get(vertex(v)) as usize]).into_vec();
        let mass: Arc<[u64]> = named.iter().map(|&part| parts.total.get(part)).collect();
        let partition = if self.refines {
            // A community is called by the first of its parts. The node that a part is called by is in it.
            numbers.fill(NONE);
            let of = named.iter().enumerate().map(|(above, &part)| {
                let first = &mut numbers[partition.of.get(part) as usize];
                *first = (*first).min(vertex(above));
                *first
            });
            let of: Vec<VertexId> = of.collect();
            Partition::new(self.run, mass, VertexArray::from(of))?
        } else {
            Partition::single(self.run, mass)
        };
        Ok(Some(LevelAbove { above, partition }))
    }

    /// The lists of a level of `num_nodes` nodes, which `above` gives for the nodes of the level below.
    fn store(
        &self,
        below: &LevelLists,
        top: &mut Vec<VertexId>,
        above: Vec<VertexId>,
        num_nodes: usize,
    ) -> Result<LevelLists, E> {
        let members = NodeGroups::new(self.run, &above, num_nodes)?;
        let coarse = self.with(below, top, |lists| Coarse::new(self.run, lists, &above, &members))?;
        drop(members);
        if top.is_empty() {
            *top = above;
        } else {
            *top = VertexArray::from_fn(self.run, top.len(), |v| above[top[v] as usize]).into_vec();
        }
        Ok(match coarse {
            Some(coarse) => LevelLists::Coarse(coarse),
            None => LevelLists::Regrouped(NodeGroups::new(self.run, top, num_nodes)?),
        })
    }
}
