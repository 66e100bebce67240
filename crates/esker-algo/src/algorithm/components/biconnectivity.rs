//! Biconnectivity: the blocks, articulation points and bridges of an undirected graph.
//!
//! Two edges are in the same block if a simple cycle contains both. An articulation point is a vertex in
//! several blocks: removing it disconnects its component. A bridge is a block of one edge. Self-loops are in
//! no block. Parallel edges are in one block, so neither of them is a bridge.
//!
//! Tarjan and Vishkin's algorithm [1] on breadth-first search trees, after GBBS and [2]. The vertices of a
//! tree are numbered in preorder. The edge from `v` up to its parent `p` is a *fence* if no edge leads from
//! the subtree of `v` to a vertex outside the subtree of `p`. The least and the greatest preorder number
//! adjacent to the subtree of `v` decide this. Without the fences, each connected component is a block
//! without its *head*, the block's vertex nearest to the root. (In a breadth-first tree no edge leads from a
//! vertex to an ancestor other than its parent, so no other edges need removal.)
//!
//! Sage removes the fences with a filter; here each vertex stores its own fence, which takes less than a bit
//! per edge. Connectivity starts with the tree edges and a few entries of each list, so only the vertices
//! outside the largest set have their whole lists read.
//!
//! Work: O(n + m). Memory: at most 10 ids per vertex and n/4 bytes. Reads: every list at most twice for
//! components and search, once for the neighbours' numbers, the lists outside the largest set once more, and
//! those of the vertices below bridges again, for edges parallel to them. The result does not depend on
//! threads: each tree is rooted at the least vertex of its component.
//!
//! [1] R. Tarjan, U. Vishkin, "An Efficient Parallel Biconnectivity Algorithm", SIAM J. Computing 14, 1985.
//! [2] X. Dong, L. Wang, Y. Gu, Y. Sun, "Provably Fast and Space-Efficient Parallel Biconnectivity",
//!     PPoPP 2023.

use esker_graph::{
    Bitmap, Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use crate::algorithm::components::wcc::{WccOptions, unite};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{BfsForest, UnionFind, VertexArray, each_vertex, need_undirected};

/// The blocks of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Biconnectivity {
    /// For each vertex, the block that connects it to the least vertex of its component, named by the least
    /// vertex of the block other than its head. [`NONE`] for the least vertex of each component.
    pub blocks: Vec<VertexId>,
    /// At the name of each block, its head: the only vertex of the block that `blocks` does not list.
    /// [`NONE`] elsewhere.
    pub heads: Vec<VertexId>,
    /// Number of blocks.
    pub count: usize,
    /// The articulation points, ascending.
    pub articulation_points: Vec<VertexId>,
    /// The bridges, ascending by their second vertex, which is the one farther from the root.
    pub bridges: Vec<(VertexId, VertexId)>,
    /// Number of connected components.
    pub components: usize,
    /// Number of levels of the deepest search tree.
    pub levels: usize,
}

impl Biconnectivity {
    /// The block of the edge between `u` and `v`, which must be distinct neighbours.
    pub fn block(&self, u: VertexId, v: VertexId) -> VertexId {
        let (of_u, of_v) = (self.blocks[u as usize], self.blocks[v as usize]);
        // Unless both are below the head of the block, one of them is the head.
        if of_u != NONE && (of_u == of_v || self.heads[of_u as usize] == v) { of_u } else { of_v }
    }
}

/// Estimates memory and reads; both are upper bounds.
pub fn estimate(shape: Shape) -> Estimate {
    let n = shape.num_vertices;
    Estimate {
        memory_bytes: n * 10 * size_of::<VertexId>() as u64 + n.div_ceil(64) * 8 * 3,
        read_bytes: shape.list_bytes() * 5,
    }
}

/// For each vertex, its parent if the edge to it is a fence, else [`NONE`].
fn fences<G: Graph>(graph: &G, run: &Run, trees: &BfsForest) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    let (numbers, sizes) = trees.preorder(run)?;
    let own = |v| numbers.get(vertex(v));
    // The greatest number is stored as the least complement.
    let range = NumberRange {
        numbers: &numbers,
        least: VertexArray::from_fn(run, n, own),
        largest: VertexArray::from_fn(run, n, |v| !own(v)),
    };
    graph.scan(run, Direction::Out, Select::All, &range)?;
    let NumberRange { least, largest, .. } = range;
    trees.bottom_up(run, |v, parent, alone| {
        for bound in [&least, &largest] {
            if alone {
                bound.lower_alone(parent, bound.get(v));
            } else {
                bound.lower(parent, bound.get(v));
            }
        }
    })?;
    each_vertex(run, n, |v| {
        let parent = trees.parents.get(v);
        let is_fence = parent != v && parent != NONE && {
            let first = numbers.get(parent);
            least.get(v) >= first && !largest.get(v) < first + sizes.get(parent)
        };
        least.set(v, if is_fence { parent } else { NONE });
    })?;
    Ok(least)
}

/// Finds the least and the greatest number among each vertex and its neighbours.
struct NumberRange<'a> {
    numbers: &'a VertexArray,
    least: VertexArray,
    largest: VertexArray,
}

impl<W: Weight> Visitor<W> for NumberRange<'_> {
    type State = ();

    const BOXED: bool = true;

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let (mut least, mut largest) = (VertexId::MAX, 0);
        for &u in piece.targets {
            let number = self.numbers.get(u);
            least = least.min(number);
            largest = largest.max(number);
        }
        if piece.exclusive {
            self.least.lower_alone(v, least);
            self.largest.lower_alone(v, !largest);
        } else {
            self.least.lower(v, least);
            self.largest.lower(v, !largest);
        }
        Flow::More
    }
}

/// The connected components without fences.
fn below_heads<G: Graph>(
    graph: &G,
    run: &Run,
    trees: &BfsForest,
    fences: &VertexArray,
) -> Result<UnionFind, G::Error> {
    let sets = UnionFind::new(run, graph.num_vertices());
    trees.top_down(run, |v, parent, _| {
        if fences.get(v) == NONE {
            sets.link(v, parent);
        }
    })?;
    sets.flatten(run)?;
    // Children of a root are still separate. A few more edges connect most of them.
    let link = |skip, head| LinkUnfenced { sets: &sets, fences, skip, head };
    graph.scan(run, Direction::Out, Select::All, &link(NONE, WccOptions::default().sampled_neighbours))?;
    sets.flatten(run)?;
    // The scan meets an edge that leaves the largest set from its other end.
    let skip = sets.frequent_root(WccOptions::default().sampled_vertices);
    graph.scan(run, Direction::Out, Select::All, &link(skip, usize::MAX))?;
    sets.flatten(run)?;
    Ok(sets)
}

/// Links the ends of edges that are not fences.
struct LinkUnfenced<'a> {
    sets: &'a UnionFind,
    fences: &'a VertexArray,
    /// The scan skips vertices of this set.
    skip: VertexId,
    /// Neighbours taken from each piece.
    head: usize,
}

impl<W: Weight> Visitor<W> for LinkUnfenced<'_> {
    type State = ();

    const BOXED: bool = true;

    fn new_state(&self) {}

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.sets.above(v) != self.skip
    }

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let (fence, mut left) = (self.fences.get(v), self.head);
        for &u in piece.targets {
            if u != fence && self.fences.get(u) != v {
                self.sets.link(v, u);
                self.sets.shorten(v);
                left -= 1;
                if left == 0 {
                    return Flow::Enough;
                }
            }
        }
        Flow::More
    }
}

/// Derives the result from the connected components without fences.
struct BlockFinder<'a> {
    trees: &'a BfsForest,
    fences: &'a VertexArray,
    sets: &'a UnionFind,
}

impl BlockFinder<'_> {
    /// Computes [`Biconnectivity::blocks`] and [`Biconnectivity::heads`].
    fn blocks(&self, run: &Run) -> Result<(Vec<VertexId>, Vec<VertexId>), Stop> {
        let n = self.trees.parents.len();
        let heads = VertexArray::filled(run, n, NONE);
        let blocks = VertexArray::from_fn(run, n, |v| {
            let (v, parent) = (vertex(v), self.trees.parents.get(vertex(v)));
            if parent == v || parent == NONE { NONE } else { self.sets.above(v) }
        });
        each_vertex(run, n, |v| {
            let (fence, block) = (self.fences.get(v), self.sets.above(v));
            // All fences that lead out of a block lead to its head. Other fences stay within the block.
            if fence != NONE && self.sets.above(fence) != block && heads.get(block) == NONE {
                heads.set(block, fence);
            }
        })?;
        Ok((blocks.into_vec(), heads.into_vec()))
    }

    /// The number of blocks, and the vertices that are in several.
    fn articulation_points(&self, heads: &[VertexId]) -> (usize, Vec<VertexId>) {
        let n = heads.len();
        let (once, several) = (Bitmap::new(n), Bitmap::new(n));
        self.trees
            .order()
            .iter()
            .filter(|&&v| self.trees.parents.get(v) != v)
            .for_each(|&v| once.insert_alone(v));
        let mut count = 0;
        for &head in heads.iter().filter(|&&head| head != NONE) {
            count += 1;
            if once.get(head) { several.insert_alone(head) } else { once.insert_alone(head) }
        }
        (count, several.iter().collect())
    }

    /// The blocks that have a single vertex below their head: bridges, unless parallel edges join the two.
    fn pairs(&self, run: &Run, heads: &[VertexId]) -> Result<Vec<(VertexId, VertexId)>, Stop> {
        let larger = Bitmap::new(heads.len());
        each_vertex(run, heads.len(), |v| {
            let block = self.sets.above(v);
            if block != v {
                larger.insert(block);
            }
        })?;
        let named = heads.iter().enumerate().map(|(v, &head)| (head, vertex(v)));
        Ok(named.filter(|&(head, v)| head != NONE && !larger.get(v)).collect())
    }
}

/// The vertices below some tree edges that further edges join to their parents.
fn parallel_edges<G: Graph>(
    graph: &G,
    run: &Run,
    parents: &VertexArray,
    edges: &[(VertexId, VertexId)],
) -> Result<Bitmap, G::Error> {
    let n = graph.num_vertices();
    let (below, copies) =
        (Bitmap::new(n), ParentEdges { parents, once: Bitmap::new(n), again: Bitmap::new(n) });
    if !edges.is_empty() {
        edges.iter().for_each(|&(_, v)| below.insert_alone(v));
        graph.scan(run, Direction::Out, Select::Bits(&below), &copies)?;
    }
    Ok(copies.again)
}

/// Finds the vertices that have an edge to their parent, and those that have several.
struct ParentEdges<'a> {
    parents: &'a VertexArray,
    once: Bitmap,
    again: Bitmap,
}

impl<W: Weight> Visitor<W> for ParentEdges<'_> {
    type State = ();

    const BOXED: bool = true;

    const STOPS: bool = false;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let parent = self.parents.get(v);
        for _ in piece.targets.iter().filter(|&&u| u == parent) {
            // Pieces of a list may come to several threads.
            if !self.once.insert(v) {
                self.again.insert(v);
            }
        }
        Flow::More
    }
}

/// Finds the blocks of an undirected graph.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph; [`Stop::OverBudget`]; the first list that cannot be read;
/// cancellation.
pub fn biconnectivity<G: Graph>(graph: &G, run: &Run) -> Result<Biconnectivity, G::Error> {
    let run = &run.begin("biconnectivity", estimate(Shape::of(graph)).memory_bytes)?;
    need_undirected(graph, "biconnectivity")?;
    run.install(|| find(graph, run))
}

fn find<G: Graph>(graph: &G, run: &Run) -> Result<Biconnectivity, G::Error> {
    let n = graph.num_vertices();
    let found = unite(graph, run, &WccOptions::default())?;
    let components = found.components;
    let is_root = |v: &VertexId| found.labels[*v as usize] == *v && graph.degree(Direction::Out, *v) > 0;
    let roots: Vec<VertexId> = (0..n).map(vertex).filter(is_root).collect();
    drop(found);
    let before = run.rounds();
    let trees = BfsForest::search(graph, run, roots)?;
    let levels = run.rounds() - before;
    run.round(n)?;
    let fences = fences(graph, run, &trees)?;
    run.round(n)?;
    let sets = below_heads(graph, run, &trees, &fences)?;
    let builder = BlockFinder { trees: &trees, fences: &fences, sets: &sets };
    let (blocks, heads) = builder.blocks(run)?;
    let (count, articulation_points) = builder.articulation_points(&heads);
    let mut bridges = builder.pairs(run, &heads)?;
    let parallel = parallel_edges(graph, run, &trees.parents, &bridges)?;
    bridges.retain(|&(_, v)| !parallel.get(v));
    Ok(Biconnectivity { blocks, heads, count, articulation_points, bridges, components, levels })
}
