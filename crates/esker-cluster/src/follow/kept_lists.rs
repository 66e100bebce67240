//! Neighbour lists that a worker reads again and again while versions come: kept in memory, and changed with each version.

use esker_format::Result;
use esker_graph::{Direction, VertexId};
use esker_store::Snapshot;

use super::live::Step;

/// The lists that were read, of one version. Memory: 24 bytes a vertex, and an id for each entry.
pub(super) struct KeptLists {
    /// Empty: the list is not kept, or it has no entries.
    lists: Vec<Vec<VertexId>>,
    /// Entries that there is room for still.
    room: usize,
}

impl KeptLists {
    /// Keeps lists with so many entries in all.
    pub(super) fn new(room: usize) -> Self {
        Self { lists: Vec::new(), room }
    }

    /// Brings the lists to the version of a step.
    pub(super) fn advance(&mut self, step: &Step<'_>) {
        if self.room == 0 && self.lists.is_empty() {
            return;
        }
        self.lists.resize_with(step.snapshot.num_vertices(), Vec::new);
        let ends =
            |&(u, v): &(VertexId, VertexId)| [(u, v), (v, u)].into_iter().take(1 + usize::from(u != v));
        for (v, other) in step.removed.iter().flat_map(ends) {
            let list = &mut self.lists[v as usize];
            if let Some(place) = list.iter().position(|&known| known == other) {
                list.swap_remove(place);
                self.room += 1;
            }
        }
        for (v, other) in step.added.iter().flat_map(ends) {
            let list = &mut self.lists[v as usize];
            // One that has lost all entries is read again.
            if !list.is_empty() {
                list.push(other);
                self.room = self.room.saturating_sub(1);
            }
        }
    }

    /// Takes out the list of a vertex, in no order; [`KeptLists::put_back`] is to follow.
    ///
    /// # Errors
    /// Those of the snapshot, which is that of the last step.
    pub(super) fn take(&mut self, snapshot: &Snapshot, v: VertexId) -> Result<Vec<VertexId>> {
        match self.lists.get_mut(v as usize).map(std::mem::take) {
            Some(list) if !list.is_empty() => {
                self.room += list.len();
                Ok(list)
            }
            _ => Ok(snapshot.neighbors(Direction::Out, v)?.into_owned()),
        }
    }

    /// Keeps a list that was taken out, if there is room.
    pub(super) fn put_back(&mut self, v: VertexId, list: Vec<VertexId>) {
        if let Some(place) = self.lists.get_mut(v as usize)
            && list.len() <= self.room
        {
            self.room -= list.len();
            *place = list;
        }
    }
}
