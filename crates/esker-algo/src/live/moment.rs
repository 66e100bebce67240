//! The lists of a graph while some of the changes of a version are taken in and others are still ahead.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use esker_graph::VertexId;

use super::graph::{BoundedReader, ChangedEdges, LiveGraph, UpdateResult};

/// Whether a changed edge is still to come or to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AheadKind {
    Coming,
    Going,
}

/// The changes that are still ahead: by vertex, the other ends of its edges.
#[derive(Debug, Default)]
pub(super) struct ChangesAhead(HashMap<VertexId, Partners>);

#[derive(Debug, Default)]
struct Partners {
    /// In the order in which the edges pass.
    going: VecDeque<VertexId>,
    /// With the number of parallel edges.
    coming: HashMap<VertexId, usize>,
}

impl ChangesAhead {
    /// All changes but those of self-loops.
    pub(super) fn new<W>(changes: &ChangedEdges<W>) -> Self {
        let mut ahead = Self::default();
        for &(u, v, _) in changes.removed.iter().filter(|(u, v, _)| u != v) {
            for (u, v) in [(u, v), (v, u)] {
                ahead.0.entry(u).or_default().going.push_back(v);
            }
        }
        for &(u, v, _) in changes.added.iter().filter(|(u, v, _)| u != v) {
            for (u, v) in [(u, v), (v, u)] {
                *ahead.0.entry(u).or_default().coming.entry(v).or_default() += 1;
            }
        }
        ahead
    }

    /// Takes in the next of the changes.
    pub(super) fn pass(&mut self, u: VertexId, v: VertexId, turn: AheadKind) {
        for (u, v) in [(u, v), (v, u)] {
            let Some(partners) = self.0.get_mut(&u) else { continue };
            match turn {
                AheadKind::Going => {
                    let next = partners.going.pop_front();
                    debug_assert_eq!(next, Some(v), "edges pass in their order");
                }
                AheadKind::Coming => {
                    if let Some(count) = partners.coming.get_mut(&v) {
                        *count -= 1;
                        if *count == 0 {
                            partners.coming.remove(&v);
                        }
                    }
                }
            }
        }
    }
}

/// Lists as they are while some changes are still ahead.
pub(super) struct MomentLists<'r, 'g, G: LiveGraph> {
    pub(super) reader: &'r mut BoundedReader<'g, G>,
    pub(super) ahead: ChangesAhead,
    /// The lists that were read.
    pub(super) arcs: Vec<VertexId>,
}

impl<G: LiveGraph> MomentLists<'_, '_, G> {
    /// Reads the neighbours of `v` but itself, and returns where they lie.
    pub(super) fn read(&mut self, v: VertexId) -> UpdateResult<Range<usize>, G> {
        let (start, arcs) = (self.arcs.len(), &mut self.arcs);
        let Some(Partners { going, coming }) = self.ahead.0.get_mut(&v) else {
            self.reader.each_around(v, |u, _| {
                if u != v {
                    arcs.push(u);
                }
            })?;
            return Ok(start..self.arcs.len());
        };
        let mut met = Vec::new();
        let read = self.reader.each_around(v, |u, _| match coming.get_mut(&u) {
            Some(count) if *count > 0 => {
                *count -= 1;
                met.push(u);
            }
            _ if u == v => {}
            _ => arcs.push(u),
        });
        // They are still to come.
        met.iter().for_each(|u| *coming.entry(*u).or_default() += 1);
        read?;
        self.reader.count(going.len())?;
        arcs.extend(going.iter());
        Ok(start..self.arcs.len())
    }
}
