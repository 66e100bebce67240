//! Making a filter and removing edges from it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_graph::{Bitmap, Direction, Lists, Run, Select, Stop, VertexId, vertex};

use super::super::requirements::need_undirected;
use super::blocks::{BLOCK_LEN, FilterBlocks};
use crate::estimate::Shape;

/// Which lists a filter covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilteredDirections {
    /// An undirected graph. The predicate does not depend on which end comes first, so both arcs of an edge
    /// are kept or removed together. The filter is an undirected graph.
    Symmetric,
    /// Only out-lists. The filter is a directed graph without in-lists.
    Out,
    /// Out-lists and in-lists. The filter is a directed graph.
    Both,
}

/// A subset of the edges of a graph.
pub struct Filter<'g, G> {
    pub(super) graph: &'g G,
    pub(super) sides: FilteredDirections,
    out: FilterBlocks,
    incoming: Option<FilterBlocks>,
    pub(super) arcs: AtomicU64,
    /// Vertices that may have an edge that was removed only at its other end.
    dirty: Bitmap,
    /// Vertices whose lists were packed since the last time both ends agreed.
    packed: Bitmap,
}

/// The most bytes that a filter takes.
pub fn memory_bytes(shape: Shape, sides: FilteredDirections) -> u64 {
    let directions = if sides == FilteredDirections::Both { 2 } else { 1 };
    FilterBlocks::memory_bytes(shape.num_vertices, shape.num_arcs) * directions
        + shape.num_vertices.div_ceil(64) * 16
}

impl<'g, G: Lists> Filter<'g, G> {
    /// All edges. Takes O(n + m/64) and reads no list.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if the graph does not have these lists; cancellation.
    pub fn all(graph: &'g G, run: &Run, sides: FilteredDirections) -> Result<Self, G::Error> {
        Self::within(graph, run, sides, |_| true)
    }

    /// The edges of the vertices of `subset` for which `keep(source, target, weight)` is true. A symmetric
    /// filter keeps only edges with both ends in the subset.
    ///
    /// # Errors
    /// As [`Filter::all`], and the first list that cannot be read.
    pub fn new(
        graph: &'g G,
        run: &Run,
        sides: FilteredDirections,
        subset: Select<'_>,
        keep: impl Fn(VertexId, VertexId, G::Weight) -> bool + Sync,
    ) -> Result<Self, G::Error> {
        let listed;
        let members = match subset {
            Select::All => None,
            Select::Bits(bits) => Some(bits),
            Select::List(list) => {
                listed = Bitmap::new(graph.num_vertices());
                list.iter().for_each(|&v| listed.insert_alone(v));
                Some(&listed)
            }
        };
        let inside = |v: VertexId| members.is_none_or(|bits| bits.get(v));
        let mut filter = Self::within(graph, run, sides, inside)?;
        let whole = sides == FilteredDirections::Symmetric;
        filter.retain(run, |u, v, weight| (!whole || inside(v)) && keep(u, v, weight))?;
        Ok(filter)
    }

    fn within(
        graph: &'g G,
        run: &Run,
        sides: FilteredDirections,
        wanted: impl Fn(VertexId) -> bool + Sync,
    ) -> Result<Self, G::Error> {
        if sides == FilteredDirections::Symmetric {
            need_undirected(graph, "a symmetric filter")?;
        }
        if sides == FilteredDirections::Both && !graph.has(Direction::In) {
            let what = "a filter of both directions needs in-edges: import the graph with in-edges";
            return Err(Stop::unsuitable(what.to_owned()).into());
        }
        let out = FilterBlocks::new(graph, run, Direction::Out, &wanted)?;
        let incoming = match sides {
            FilteredDirections::Both => Some(FilterBlocks::new(graph, run, Direction::In, |_| true)?),
            _ => None,
        };
        let arcs = (0..graph.num_vertices()).map(|v| out.degree(vertex(v)) as u64).sum();
        let [dirty, packed] = [(); 2].map(|()| Bitmap::new(graph.num_vertices()));
        let mut filter = Self { graph, sides, out, incoming, arcs: AtomicU64::new(arcs), dirty, packed };
        if filter.incoming.is_some() && arcs < graph.num_arcs() {
            filter.retain(run, |u, _, _| wanted(u))?;
        }
        Ok(filter)
    }

    /// The wrapped graph.
    pub fn graph(&self) -> &'g G {
        self.graph
    }

    /// Which lists the filter covers.
    pub fn sides(&self) -> FilteredDirections {
        self.sides
    }

    /// Removes every active edge for which `keep(source, target, weight)` is false. Returns the number of
    /// remaining arcs. Reads the lists that have active edges.
    ///
    /// # Errors
    /// The first list that cannot be read; cancellation, which leaves some lists filtered and others not.
    pub fn retain(
        &mut self,
        run: &Run,
        keep: impl Fn(VertexId, VertexId, G::Weight) -> bool + Sync,
    ) -> Result<u64, G::Error> {
        let left = self.pack_direction(run, Direction::Out, Select::All, &|_| {}, &keep)?;
        if self.incoming.is_some() {
            self.pack_direction(run, Direction::In, Select::All, &|_| {}, &|v, u, weight| {
                keep(u, v, weight)
            })?;
        }
        self.clean();
        Ok(left)
    }

    /// Removes the active out-edges of the vertices of `subset` for which `keep` is false. Returns the number
    /// of remaining arcs; the degrees change accordingly. The lists at the other ends keep these edges until
    /// [`Filter::settle`], so a symmetric filter is not symmetric until then.
    ///
    /// # Errors
    /// As [`Filter::retain`].
    pub fn pack(
        &mut self,
        run: &Run,
        subset: Select<'_>,
        keep: impl Fn(VertexId, VertexId, G::Weight) -> bool + Sync,
    ) -> Result<u64, G::Error> {
        if self.sides == FilteredDirections::Out {
            return self.pack_direction(run, Direction::Out, subset, &|_| {}, &keep);
        }
        match subset {
            Select::All => (0..self.graph.num_vertices()).for_each(|v| self.packed.insert_alone(vertex(v))),
            Select::List(list) => list.iter().for_each(|&v| self.packed.insert_alone(v)),
            Select::Bits(bits) => bits.iter().for_each(|v| self.packed.insert_alone(v)),
        }
        let mark = |u: VertexId| {
            self.dirty.insert(u);
        };
        self.pack_direction(run, Direction::Out, subset, &mark, &keep)
    }

    fn clean(&mut self) {
        self.dirty.clear();
        self.packed.clear();
    }

    /// Whether `v` may have an edge that was removed only at its other end.
    pub fn is_dirty(&self, v: VertexId) -> bool {
        self.dirty.get(v)
    }

    /// Removes from the lists of dirty vertices the edges that [`Filter::pack`] removed at their other ends.
    /// Called with the same predicate, this makes both ends of all edges agree again. Returns the number of
    /// remaining arcs.
    ///
    /// # Errors
    /// As [`Filter::retain`].
    pub fn settle(
        &mut self,
        run: &Run,
        keep: impl Fn(VertexId, VertexId, G::Weight) -> bool + Sync,
    ) -> Result<u64, G::Error> {
        let dirty = Select::Bits(&self.dirty);
        let stays = |u: VertexId, v: VertexId, weight| !self.packed.get(v) || keep(v, u, weight);
        let direction = if self.incoming.is_some() { Direction::In } else { Direction::Out };
        self.pack_direction(run, direction, dirty, &|_| {}, &stays)?;
        self.clean();
        Ok(self.arcs.load(Relaxed))
    }

    /// Active out-edge number `index` (from 0) of `v`, with its weight; `None` if `v` has fewer. Takes O(log
    /// degree) plus the time to read the list.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn pick(&self, v: VertexId, index: usize) -> Result<Option<(VertexId, G::Weight)>, G::Error> {
        match self.out.position(v, index) {
            Some(at) => {
                self.graph.with_list(Direction::Out, v, |list, weights| Some((list[at], weights[at])))
            }
            None => Ok(None),
        }
    }

    /// Packs the lists of one direction. Calls `removed` with the far end of each edge removed.
    fn pack_direction(
        &self,
        run: &Run,
        direction: Direction,
        subset: Select<'_>,
        removed: &(impl Fn(VertexId) + Sync),
        keep: &(impl Fn(VertexId, VertexId, G::Weight) -> bool + Sync),
    ) -> Result<u64, G::Error> {
        let blocks = self.blocks(direction)?;
        let counts = self.each(
            run,
            direction,
            subset,
            || 0,
            |gone: &mut u64, v| {
                self.graph.with_list(direction, v, |list, weights| {
                    *gone += blocks.retain(v, |at| {
                        let kept = keep(v, list[at], weights[at]);
                        if !kept {
                            removed(list[at]);
                        }
                        kept
                    }) as u64;
                })
            },
        )?;
        let gone: u64 = counts.into_iter().sum();
        if direction == Direction::Out {
            self.arcs.fetch_sub(gone, Relaxed);
        }
        Ok(self.arcs.load(Relaxed))
    }

    /// The blocks of `direction`, if the filter covers it.
    pub(super) fn blocks(&self, direction: Direction) -> Result<&FilterBlocks, Stop> {
        match (direction, self.sides) {
            (Direction::Out, _) | (_, FilteredDirections::Symmetric) => Ok(&self.out),
            _ => self
                .incoming
                .as_ref()
                .ok_or_else(|| Stop::unsuitable("the filter covers out-edges only".to_owned())),
        }
    }
}

/// With less work (blocks plus vertices), everything runs on the calling thread.
const SERIAL_WORK_MAX: usize = 1 << 9;
/// Units per worker, to balance uneven units.
const UNITS_PER_WORKER: usize = 16;
/// The most work in one unit.
const UNIT_WORK: usize = 1 << 13;
impl<G: Lists> Filter<'_, G> {
    /// Calls `f` with each vertex of `subset` that has active edges, and returns the workers' states. Each
    /// vertex is handled by one thread.
    pub(super) fn each<S: Send>(
        &self,
        run: &Run,
        direction: Direction,
        subset: Select<'_>,
        new_state: impl Fn() -> S + Sync,
        f: impl Fn(&mut S, VertexId) -> Result<(), G::Error> + Sync,
    ) -> Result<Vec<S>, G::Error> {
        let blocks = self.blocks(direction)?;
        let one = |state: &mut S, v: VertexId| if blocks.degree(v) > 0 { f(state, v) } else { Ok(()) };
        if let Select::List(list) = subset {
            let work = |v: &VertexId| 1 + blocks.degree(*v) / BLOCK_LEN;
            let few =
                list.len() <= SERIAL_WORK_MAX && list.iter().map(work).sum::<usize>() <= SERIAL_WORK_MAX;
            let run = if few { run.single_threaded() } else { run };
            let unit = (list.len() / (run.threads() * UNITS_PER_WORKER)).clamp(1, 1 << 10);
            return run.share(list.len().div_ceil(unit), new_state, |state, i| {
                list[i * unit..list.len().min((i + 1) * unit)].iter().try_for_each(|&v| one(state, v))
            });
        }
        let n = self.graph.num_vertices();
        let starts = blocks.starts();
        let work = n + starts[n] as usize;
        let run = if work <= SERIAL_WORK_MAX { run.single_threaded() } else { run };
        let units = work.div_ceil(UNIT_WORK).max((run.threads() * UNITS_PER_WORKER).min(n.div_ceil(64)));
        let bound = |unit: usize| {
            let wanted = (work as u128 * unit as u128 / units.max(1) as u128) as usize;
            vertex_at_work(starts, wanted).next_multiple_of(64).min(n)
        };
        run.share(units, new_state, |state, unit| {
            let range = bound(unit)..bound(unit + 1);
            match subset {
                Select::Bits(bits) => bits.iter_range(range).try_for_each(|v| one(state, v)),
                _ => range.map(vertex).try_for_each(|v| one(state, v)),
            }
        })
    }
}

/// The first vertex that has at least `wanted` work before it.
fn vertex_at_work(starts: &[u64], wanted: usize) -> usize {
    let (mut low, mut high) = (0, starts.len() - 1);
    while low < high {
        let middle = low.midpoint(high);
        if starts[middle] as usize + middle < wanted { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use esker_graph::{Csr, Graph};

    #[test]
    fn blocks_are_compacted_once_more_than_half_are_empty() {
        let edges: Vec<_> = (1..1000).map(|v| (0, v, ())).collect();
        let csr = Csr::undirected(1000, &edges).expect("sound edges");
        let run = Run::with_threads(2).expect("threads");
        let graph = csr.graph();
        let mut filter = Filter::all(&graph, &run, FilteredDirections::Out).expect("a filter");
        assert_eq!(filter.out.len(0), 16);
        filter.retain(&run, |_, v, _| v % 128 < 64).expect("filtered");
        assert_eq!(filter.out.len(0), 16, "exactly half are empty, not more");
        filter.retain(&run, |_, v, _| v % 256 == 3).expect("filtered");
        assert_eq!((filter.out.len(0), filter.degree(Direction::Out, 0)), (4, 4));
        assert_eq!(filter.pick(0, 2).expect("in memory"), Some((515, ())));
        assert_eq!(filter.pick(0, 4).expect("in memory"), None);
    }
}
