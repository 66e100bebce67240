//! Looks up the ids of a large batch before they are taken one by one: in parallel, and many at a time.

use esker_format::Result;
use esker_format::memory::{collected, filled};
use esker_graph::{Cancel, NONE, Run, VertexId};
use esker_layers::ids::ExternalId;
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use super::write::{IDS_PER_CHECK, Writer};
use crate::commit::Batch;

impl Writer {
    /// The vertex of each id of a batch, [`NONE`] if it is new; nothing for a small batch. Memory: a vertex id an id.
    pub(super) fn known_vertices(&self, batch: &Batch, run: &Run, cancel: &Cancel) -> Result<Vec<VertexId>> {
        let count = if batch.ids.len() < IDS_PER_CHECK { 0 } else { batch.ids.len() };
        let mut known = filled(NONE, count)?;
        let find = |(number, known): (usize, &mut [VertexId])| -> Result<()> {
            cancel.check()?;
            let first = number * IDS_PER_CHECK;
            let ids: Vec<ExternalId<'_>> =
                collected((first..first + known.len()).map(|at| batch.ids.get(at)))?;
            let mut found = filled(None, ids.len())?;
            self.ids.vertices_of(&ids, &mut found)?;
            for ((known, found), id) in known.iter_mut().zip(found).zip(ids) {
                *known = found.or_else(|| self.tail.vertex_of(id)).unwrap_or(NONE);
            }
            Ok(())
        };
        run.install(|| known.par_chunks_mut(IDS_PER_CHECK).enumerate().try_for_each(find))?;
        Ok(known)
    }
}
