//! Breadth-first search forests with their levels, and sums and preorder numbers on them.

use esker_graph::{Graph, NONE, Run, Stop, VertexId, Weight};

use super::array::VertexArray;
use super::edge_map::{EdgeOp, Way, edge_map_way};
use super::frontier::Frontier;

/// Smaller levels are processed on the calling thread.
const SERIAL_LEN_MAX: usize = 1 << 11;

/// Breadth-first search trees from given roots to all vertices that they reach. Memory: two ids per vertex,
/// and 8 bytes per level.
pub(crate) struct BfsForest {
    /// The parent of each vertex: itself for a root, [`NONE`] if unreached.
    pub(crate) parents: VertexArray,
    /// The vertices reached, level by level.
    order: Vec<VertexId>,
    /// The start of each level in `order`, and the end of the last one.
    starts: Vec<usize>,
}

impl BfsForest {
    /// Searches along out-edges from `roots`, which must be distinct. Each level is one round.
    pub(crate) fn search<G: Graph>(graph: &G, run: &Run, roots: Vec<VertexId>) -> Result<Self, G::Error> {
        let parents = VertexArray::filled(run, graph.num_vertices(), NONE);
        roots.iter().for_each(|&root| parents.set(root, root));
        let (mut order, mut starts, mut arcs) = (Vec::new(), vec![0], 0);
        let mut frontier = Frontier::from_list(graph, roots);
        while !frontier.is_empty() {
            run.round(frontier.len())?;
            order.extend_from_slice(&frontier.list());
            starts.push(order.len());
            let way = Way::choose(graph, &frontier, graph.num_arcs().saturating_sub(arcs));
            arcs += frontier.arcs();
            frontier = edge_map_way(graph, run, way, &frontier, &ClaimParent(&parents))?;
        }
        Ok(Self { parents, order, starts })
    }

    /// The vertices reached.
    pub(crate) fn order(&self) -> &[VertexId] {
        &self.order
    }

    /// The roots.
    pub(crate) fn roots(&self) -> &[VertexId] {
        self.level(0)
    }

    /// The vertices of a level; empty if there is no such level.
    fn level(&self, level: usize) -> &[VertexId] {
        match self.starts.get(level..level + 2) {
            Some(bounds) => &self.order[bounds[0]..bounds[1]],
            None => &[],
        }
    }

    /// Calls `f` with each vertex except the roots, its parent, and whether this is the only thread calling
    /// `f`. Processes levels from the deepest up, each after all deeper ones.
    pub(crate) fn bottom_up(
        &self,
        run: &Run,
        f: impl Fn(VertexId, VertexId, bool) + Sync,
    ) -> Result<(), Stop> {
        (1..self.starts.len()).rev().try_for_each(|level| self.for_level(run, self.level(level), &f))
    }

    /// As [`BfsForest::bottom_up`], from the roots down.
    pub(crate) fn top_down(
        &self,
        run: &Run,
        f: impl Fn(VertexId, VertexId, bool) + Sync,
    ) -> Result<(), Stop> {
        (1..self.starts.len()).try_for_each(|level| self.for_level(run, self.level(level), &f))
    }

    fn for_level(
        &self,
        run: &Run,
        level: &[VertexId],
        f: &(impl Fn(VertexId, VertexId, bool) + Sync),
    ) -> Result<(), Stop> {
        if level.len() < SERIAL_LEN_MAX || run.threads() == 1 {
            run.check()?;
            level.iter().for_each(|&v| f(v, self.parents.get(v), true));
            return Ok(());
        }
        let work = |(): &mut (), range: std::ops::Range<usize>| {
            level[range].iter().for_each(|&v| f(v, self.parents.get(v), false));
            Ok(())
        };
        run.share_ranges::<(), Stop>(level.len(), SERIAL_LEN_MAX / 2, || (), work).map(drop)
    }

    /// Preorder numbers, in which each subtree has consecutive numbers starting at its root, and subtree
    /// sizes. Memory: three ids per vertex.
    pub(crate) fn preorder(&self, run: &Run) -> Result<(VertexArray, VertexArray), Stop> {
        let n = self.parents.len();
        let sizes = VertexArray::filled(run, n, 1);
        self.bottom_up(run, |v, parent, alone| {
            let size = sizes.get(v);
            if alone {
                sizes.add_exclusive(parent, size);
            } else {
                sizes.add(parent, size);
            }
        })?;
        let numbers = VertexArray::filled(run, n, 0);
        // The number of the next child of each vertex.
        let next = VertexArray::filled(run, n, 0);
        let mut first = 0;
        for &root in self.roots() {
            numbers.set(root, first);
            next.set(root, first + 1);
            first += sizes.get(root);
        }
        self.top_down(run, |v, parent, alone| {
            let size = sizes.get(v);
            let number = if alone {
                let number = next.get(parent);
                next.set(parent, number + size);
                number
            } else {
                next.add(parent, size)
            };
            numbers.set(v, number);
            next.set(v, number + 1);
        })?;
        Ok((numbers, sizes))
    }
}

/// Gives an unreached vertex its parent.
struct ClaimParent<'a>(&'a VertexArray);

impl<W: Weight> EdgeOp<W> for ClaimParent<'_> {
    const BOXED: bool = true;

    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        self.0.get(dst) == NONE
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        self.0.claim(dst, NONE, src)
    }

    #[inline(always)]
    fn push_alone(&self, src: VertexId, dst: VertexId, weight: W) -> bool {
        self.pull(dst, src, weight)
    }

    #[inline(always)]
    fn pull(&self, dst: VertexId, src: VertexId, _: W) -> bool {
        self.0.set(dst, src);
        true
    }
}
