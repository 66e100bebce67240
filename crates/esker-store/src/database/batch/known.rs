//! Large batches: their ids are looked up in parallel before the changes are made. If the batch only adds
//! edges and vertices, and the graph has no removed vertices, all threads make the changes.

use esker_format::Result;
use esker_format::memory::{collected, filled, filled_by_all, with_room};
use esker_graph::{Cancel, NONE, Run, VertexId};
use esker_layers::ids::ExternalId;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use crate::commit::{Batch, BatchOp, CommitEdge};
use crate::database::batch::resolve::{BatchId, CommitBuilder, IDS_PER_CHECK, Writer};

/// Ids that are looked up together among those that commits have added.
const IDS_AT_ONCE: usize = 1 << 8;

impl Writer {
    /// The vertex of each id of a batch, [`NONE`] if it is new; nothing for a small batch. Memory: a vertex
    /// id an id.
    pub(crate) fn known_vertices(&self, batch: &Batch, run: &Run, cancel: &Cancel) -> Result<Vec<VertexId>> {
        let count = if batch.ids.len() < IDS_PER_CHECK { 0 } else { batch.ids.len() };
        let mut known = filled(NONE, count)?;
        if count == 0 || self.num_vertices() == 0 {
            return Ok(known);
        }
        self.ids.expect_lookups(count, &run.stopped_by(cancel))?;
        let find = |(number, known): (usize, &mut [VertexId])| -> Result<()> {
            cancel.check()?;
            let first = number * IDS_PER_CHECK;
            let ids: Vec<ExternalId<'_>> =
                collected((first..first + known.len()).map(|at| batch.ids.get(at)))?;
            let mut found = filled(None, ids.len())?;
            self.ids.vertices_of(&ids, &mut found)?;
            if !self.tail.is_empty() {
                self.tail.vertices_of(&ids, &mut found);
            }
            known.iter_mut().zip(found).for_each(|(known, found)| *known = found.unwrap_or(NONE));
            Ok(())
        };
        run.install(|| known.par_chunks_mut(IDS_PER_CHECK).enumerate().try_for_each(find))?;
        Ok(known)
    }
}

impl CommitBuilder<'_> {
    /// Whether a batch whose ids were looked up only adds edges and vertices, to a graph without removed
    /// vertices.
    pub(crate) fn only_adds(&self, batch: &Batch, known: &[VertexId]) -> bool {
        !known.is_empty() && batch.only_adds() && self.writer.removed.is_empty()
    }

    /// As [`CommitBuilder::take`] for a batch that only adds edges and vertices: one thread gives new ids
    /// their vertices, in order; all make the changes. `vertices` are the known ones.
    pub(crate) fn take_additions(
        &mut self,
        batch: &Batch,
        mut vertices: Vec<VertexId>,
        run: &Run,
    ) -> Result<()> {
        self.take_rows(batch)?;
        let mut unknown = Vec::with_capacity(IDS_AT_ONCE);
        for (part, vertices) in vertices.chunks_mut(IDS_AT_ONCE).enumerate() {
            if part % (IDS_PER_CHECK / IDS_AT_ONCE) == 0 {
                self.cancel.check()?;
            }
            let first = part * IDS_AT_ONCE;
            let places = vertices.iter_mut().enumerate().filter(|(_, v)| **v == NONE);
            unknown.extend(places.map(|(index, v)| (batch.ids.get(first + index), v)));
            self.take_unknown(&mut unknown)?;
        }
        self.commit.edges = Vec::new();
        let mut edges =
            filled_by_all(CommitEdge { source: 0, target: 0, row: 0 }, batch.num_rows as usize, run)?;
        let (mut ends, mut left) = (&vertices[..], &mut edges[..]);
        let mut parts = with_room(batch.ops.len().div_ceil(IDS_PER_CHECK))?;
        for ops in batch.ops.chunks(IDS_PER_CHECK) {
            let added = ops.iter().filter(|op| matches!(op, BatchOp::Edge(_))).count();
            let (own_ends, later_ends) = ends.split_at(ops.len() + added);
            let (own, later) = std::mem::take(&mut left).split_at_mut(added);
            (ends, left) = (later_ends, later);
            parts.push((ops, own_ends, own));
        }
        let cancel = self.cancel;
        run.install(|| {
            parts.par_iter_mut().try_for_each(|(ops, ends, edges)| {
                cancel.check()?;
                let (mut ends, mut edges) = (ends.iter(), edges.iter_mut());
                for op in *ops {
                    let source = ends.next();
                    if let BatchOp::Edge(row) = *op
                        && let (Some(edge), Some(&source), Some(&target)) =
                            (edges.next(), source, ends.next())
                    {
                        *edge = CommitEdge { source, target, row };
                    }
                }
                Result::Ok(())
            })
        })?;
        drop(parts);
        self.commit.edges = edges;
        Ok(())
    }

    /// Sets the vertices of ids that no earlier commit has, and which stand in the order of the batch: at
    /// most [`IDS_AT_ONCE`]. Empties the list.
    fn take_unknown(&mut self, unknown: &mut Vec<(ExternalId<'_>, &mut VertexId)>) -> Result<()> {
        let mut ids = [ExternalId::Int(0); IDS_AT_ONCE];
        let mut found = [None; IDS_AT_ONCE];
        ids.iter_mut().zip(&*unknown).for_each(|(id, unknown)| *id = unknown.0);
        self.writer.tail.vertices_of(&ids[..unknown.len()], &mut found[..unknown.len()]);
        for ((id, v), found) in unknown.drain(..).zip(found) {
            // A new id may occur twice in the list: `vertex` adds it once.
            *v = found.map_or_else(|| self.vertex(BatchId { id, known: Some(NONE) }), Ok)?;
        }
        Ok(())
    }
}
