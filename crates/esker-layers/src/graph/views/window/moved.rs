//! Moves windows: makes the next index from the one before, and finds the edges of a range of times.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use esker_format::Result;
use esker_format::memory::with_room;
use esker_graph::{Budget, Direction, Flow, Piece, Reservation, Run, Select, VertexId, Visitor};
use rayon::slice::ParallelSliceMut;

use super::copies::{Copies, TimeWindow};
use super::count::ArcCounts;
use super::index::WindowIndex;
use crate::graph::side::GraphSide;

/// An edge with its time, its source and its target.
pub type TimedEdge = (i64, VertexId, VertexId);

/// Edges for which memory is reserved at a time.
const RESERVED_EDGES: usize = 1 << 12;
/// The most ends of an edge whose degrees change in one direction.
const ENDS: usize = 2;
/// The copies of an edge while those of the threads are put together.
const COPIES: usize = 2;

impl WindowIndex {
    /// Bytes that [`WindowIndex::moved`] takes while `num_edges` edges are removed and added, without those
    /// of the index.
    pub fn change_bytes(num_edges: usize) -> u64 {
        (num_edges * ENDS * size_of::<(VertexId, i64)>()) as u64
    }

    /// The index of a window of the same kind that has the edges of this one, without those `removed` and
    /// with those `added`. Undirected edges are given once. `absent`: see [`StoredGraph::window`]. `None` if
    /// edges are to be removed that are not in the window.
    ///
    /// Takes time linear in the number of vertices and of these edges, and memory of
    /// [`WindowIndex::change_bytes`] while it does.
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] for vertices beyond `num_vertices`.
    ///
    /// [`StoredGraph::window`]: crate::StoredGraph::window
    pub fn moved(
        &self,
        window: TimeWindow,
        removed: &[(VertexId, VertexId)],
        added: &[(VertexId, VertexId)],
        num_vertices: usize,
        directed: bool,
        absent: Option<&[VertexId]>,
    ) -> Result<Option<Self>> {
        if (self.window().copies, window.copies) != (Copies::All, Copies::All) {
            return Ok(None);
        }
        let num_edges = self.num_edges() + added.len() as u64;
        let Some(num_edges) = num_edges.checked_sub(removed.len() as u64) else { return Ok(None) };
        let changes = |arcs: fn(&(VertexId, VertexId)) -> [Option<VertexId>; ENDS]| {
            let gone = removed.iter().flat_map(arcs).flatten().map(|v| (v, -1));
            let mut changes: Vec<(VertexId, i64)> = with_room(ENDS * (removed.len() + added.len()))?;
            changes.extend(gone.chain(added.iter().flat_map(arcs).flatten().map(|v| (v, 1))));
            Ok::<_, esker_format::Error>(changes)
        };
        let out = match directed {
            true => changes(|&(source, _)| [Some(source), None])?,
            // A loop stands once in the list of its vertex.
            false => changes(|&(source, target)| [Some(source), Some(target).filter(|_| source != target)])?,
        };
        let Some(out) = shifted(self.sums(Direction::Out), num_vertices, out) else { return Ok(None) };
        let mut incoming = None;
        if directed {
            let changes = changes(|&(_, target)| [Some(target), None])?;
            let Some(sums) = shifted(self.sums(Direction::In), num_vertices, changes) else {
                return Ok(None);
            };
            incoming = Some(ArcCounts { sums, loops: 0 });
        }
        let arcs = out.last().copied().unwrap_or(0);
        let loops = if directed { 0 } else { (2 * num_edges).saturating_sub(arcs) };
        let counted = ArcCounts { sums: out, loops };
        Self::of_counted(counted, incoming, self.keeps_incoming(), directed, window, absent).map(Some)
    }
}

/// Sums of degrees after some of these changed: each change is a vertex and what its degree grows by. There
/// may be new vertices. `None` if a degree would be negative, or a vertex is beyond the last.
fn shifted(sums: &[u64], num_vertices: usize, mut changes: Vec<(VertexId, i64)>) -> Option<Vec<u64>> {
    changes.sort_unstable();
    let (known, last) = (sums.len(), sums.last().copied().unwrap_or(0));
    let mut found = Vec::with_capacity(num_vertices + 1);
    let copy = |found: &mut Vec<u64>, end: usize, shift: i64| {
        let range = found.len().min(known)..end.min(known);
        found.extend(sums[range].iter().map(|&sum| sum.wrapping_add_signed(shift)));
        found.resize(end, last.wrapping_add_signed(shift));
    };
    let mut shift = 0;
    for of_vertex in changes.chunk_by(|a, b| a.0 == b.0) {
        let v = of_vertex[0].0 as usize;
        let degree = if v + 1 < known { sums[v + 1] - sums[v] } else { 0 };
        let grows_by: i64 = of_vertex.iter().map(|change| change.1).sum();
        if v >= num_vertices || degree.checked_add_signed(grows_by).is_none() {
            return None;
        }
        copy(&mut found, v + 1, shift);
        shift += grows_by;
        copy(&mut found, v + 2, shift);
    }
    copy(&mut found, num_vertices + 1, shift);
    Some(found)
}

/// The edges of a range of times, ascending by time, and their memory; an undirected edge from its end with
/// the smaller number. `None` if the budget has no room for them.
pub(crate) fn timed_edges(
    side: &GraphSide<'_, i64>,
    range: &TimeWindow,
    directed: bool,
    run: &Run,
) -> Result<Option<(Vec<TimedEdge>, Reservation)>> {
    let gathering =
        GatheringEdges { range, directed, budget: run.budget(), is_refused: AtomicBool::new(false) };
    let parts = side.scan(run, Select::All, &gathering)?;
    let Some(mut memory) = run.budget().try_reserve(0).filter(|_| !gathering.is_refused.into_inner()) else {
        return Ok(None);
    };
    let mut edges = Vec::with_capacity(parts.iter().map(|part| part.edges.len()).sum());
    for part in parts {
        edges.extend_from_slice(&part.edges);
        part.memory.into_iter().for_each(|of_part| memory.absorb(of_part));
    }
    memory.shrink_to((edges.len() * size_of::<TimedEdge>()) as u64);
    run.install(|| edges.par_sort_unstable());
    Ok(Some((edges, memory)))
}

/// Gathers the edges of a range of times, until the budget refuses.
struct GatheringEdges<'g> {
    range: &'g TimeWindow,
    directed: bool,
    budget: &'g Budget,
    is_refused: AtomicBool,
}

/// The edges that a thread has found, and their memory.
#[derive(Default)]
struct FoundEdges {
    edges: Vec<TimedEdge>,
    memory: Option<Reservation>,
}

impl GatheringEdges<'_> {
    /// Reserves memory for more edges; returns whether there was any.
    fn grow(&self, found: &mut FoundEdges) -> bool {
        let more = found.edges.len().max(RESERVED_EDGES);
        let reserved = self.budget.try_reserve((more * COPIES * size_of::<TimedEdge>()) as u64);
        match (reserved, &mut found.memory) {
            (None, _) => {
                self.is_refused.store(true, Relaxed);
                return false;
            }
            (Some(reserved), Some(memory)) => memory.absorb(reserved),
            (reserved, none) => *none = reserved,
        }
        found.edges.reserve_exact(more);
        true
    }
}

impl Visitor<i64> for GatheringEdges<'_> {
    type State = FoundEdges;

    const STOPS: bool = false;
    const BOXED: bool = true;

    fn new_state(&self) -> FoundEdges {
        FoundEdges::default()
    }

    fn visit(&self, found: &mut FoundEdges, v: VertexId, piece: Piece<'_, i64>) -> Flow {
        if self.range.count(piece.weights) == 0 || self.is_refused.load(Relaxed) {
            return Flow::More;
        }
        for (&target, &time) in piece.targets.iter().zip(piece.weights) {
            if !self.range.contains(time) || !(self.directed || target >= v) {
                continue;
            }
            if found.edges.len() == found.edges.capacity() && !self.grow(found) {
                return Flow::More;
            }
            found.edges.push((time, v, target));
        }
        Flow::More
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn sums_of_changed_degrees_are_shifted(
            degrees in prop::collection::vec(0_u64..4, 0..12), more in 0_usize..4,
            changes in prop::collection::vec((0_usize..16, -2_i64..3), 0..8),
        ) {
            let n = degrees.len() + more;
            let sums = |degrees: &[i64]| -> Vec<u64> {
                let mut sum = 0;
                std::iter::once(0).chain(degrees.iter().map(|&degree| { sum += degree; sum as u64 })).collect()
            };
            let before: Vec<i64> = degrees.iter().map(|&degree| degree as i64).collect();
            let mut after = before.clone();
            after.resize(n, 0);
            let is_known = changes.iter().all(|change| change.0 < n);
            changes.iter().filter(|change| change.0 < n).for_each(|change| after[change.0] += change.1);
            let is_possible = is_known && after.iter().all(|&degree| degree >= 0);
            let changes = changes.into_iter().map(|(v, by)| (esker_graph::vertex(v), by)).collect();
            prop_assert_eq!(shifted(&sums(&before), n, changes), is_possible.then(|| sums(&after)));
        }
    }
}
