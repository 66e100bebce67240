//! Topological order: the generation of each vertex, and the longest path to it.
//!
//! A vertex without in-edges is of generation 0; any other is of the generation after the last one of the
//! vertices with an edge to it. A vertex on a cycle, or behind one, has none. The longest path to a vertex is
//! that of the greatest sum of weights, of all paths of ordered vertices that end there, wherever they begin;
//! where all are negative, the path of no edge. Without weights each edge counts 1, and the length is the
//! generation. Parallel edges count each, to no effect but that the heaviest counts.
//!
//! Vertices are removed as soon as no edge leads to them from one that is left [1], a generation a round. A
//! length is a maximum of sums in the order of a path, so it never varies.
//!
//! Work O(n + m). Memory: an id of edges left and one of the generation, 8 bytes of the length with weights,
//! an id of the parent if asked for, up to four ids of frontiers. Reads: the list of each ordered vertex
//! once; all out-lists once more where in-lists are not kept, and for parents.
//!
//! [1] A. Kahn, "Topological sorting of large networks", CACM 5(11), 1962.

use esker_graph::{
    Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    EdgeOp, Frontier, Ranked, VertexArray, VertexValues, Way, each_vertex, edge_map_way, vertex_map,
};

/// Options of [`order`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrderOptions {
    /// Whether the previous vertex on each longest path is found.
    pub parents: bool,
}

/// Generations, and longest paths.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The generation of each vertex; [`NONE`] on cycles and behind them.
    pub generations: Vec<VertexId>,
    /// Number of generations.
    pub count: usize,
    /// Vertices without a generation.
    pub unordered: usize,
    /// With weights, the length of the longest path to each vertex; NaN without a generation.
    pub lengths: Option<Vec<f64>>,
    /// The greatest length, by weights or steps.
    pub longest: f64,
    /// The previous vertex on a longest path, the least of several; the vertex itself where a path begins,
    /// [`NONE`] without a generation.
    pub parents: Option<Vec<VertexId>>,
    /// Number of rounds.
    pub rounds: usize,
}

/// Estimates memory, an upper bound, and reads, which are exact for a graph without cycles.
pub fn estimate(shape: Shape, options: &OrderOptions) -> Estimate {
    let id = size_of::<VertexId>() as u64;
    let lengths = if shape.weight_bytes > 0 { 16 } else { 0 };
    let scans = 1 + u64::from(!shape.in_edges) + u64::from(options.parents);
    Estimate {
        memory_bytes: shape.num_vertices * ((6 + u64::from(options.parents)) * id + lengths)
            + shape.num_vertices.div_ceil(64) * 8 * 3,
        read_bytes: shape.weighted_list_bytes() * scans,
    }
}

/// Counts the entries of lists at their targets.
struct CountArriving<'a>(&'a VertexArray);

impl<W: Weight> Visitor<W> for CountArriving<'_> {
    type State = ();

    const BOXED: bool = true;
    const STOPS: bool = false;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), _: VertexId, piece: Piece<'_, W>) -> Flow {
        for &u in piece.targets {
            self.0.add(u, 1);
        }
        Flow::More
    }
}

/// Takes away the edges of a generation.
struct TakeAway<'a> {
    /// Edges that lead to each vertex from one that has no generation yet.
    waiting: &'a VertexArray,
    /// What the longest path to each vertex is less than nothing; empty without weights.
    shortfalls: &'a VertexValues<f64>,
}

impl TakeAway<'_> {
    #[inline(always)]
    fn lengthen<W: Ranked>(&self, src: VertexId, dst: VertexId, weight: W) {
        if size_of::<W>() > 0 {
            self.shortfalls.lower(dst, self.shortfalls.get(src) - weight.as_f64());
        }
    }
}

impl<W: Ranked> EdgeOp<W> for TakeAway<'_> {
    const BOXED: bool = true;

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, weight: W) -> bool {
        self.lengthen(src, dst, weight);
        self.waiting.add(dst, VertexId::MAX) == 1
    }
}

/// Finds the previous vertex on each longest path.
struct FindParents<'a> {
    generations: &'a VertexArray,
    shortfalls: &'a VertexValues<f64>,
    parents: &'a VertexArray,
}

impl<W: Ranked> Visitor<W> for FindParents<'_> {
    type State = ();

    const BOXED: bool = true;
    const STOPS: bool = false;

    fn new_state(&self) {}

    fn wants(&self, u: VertexId) -> bool {
        self.generations.get(u) != NONE
    }

    fn visit(&self, (): &mut (), u: VertexId, piece: Piece<'_, W>) -> Flow {
        let own = self.generations.get(u);
        for (&v, weight) in piece.targets.iter().zip(piece.weights) {
            let generation = self.generations.get(v);
            let is_last = if size_of::<W>() > 0 {
                self.shortfalls.get(u) - weight.as_f64() == self.shortfalls.get(v)
            } else {
                own + 1 == generation
            };
            if generation != NONE && is_last {
                self.parents.lower(v, u);
            }
        }
        Flow::More
    }
}

/// Orders the vertices.
///
/// ```
/// use esker_algo::algorithm::order::topological::{OrderOptions, order};
/// use esker_graph::{Csr, NONE, Run};
///
/// let edges = [(0, 1, 5.0), (1, 2, 1.0), (0, 2, 2.0), (3, 3, 1.0)];
/// let csr = Csr::directed(4, &edges)?;
/// let found = order(&csr.graph(), &Run::with_threads(2)?, OrderOptions::default())?;
/// assert_eq!(found.generations, [0, 1, 2, NONE]); // vertex 3 is a cycle
/// assert_eq!((found.unordered, found.longest), (1, 6.0));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] if the weights along a path add up to no finite number; [`Stop::OverBudget`]; the
/// first list that cannot be read; cancellation.
pub fn order<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    options: OrderOptions,
) -> Result<Order, G::Error> {
    let run = &run.begin("order", estimate(Shape::of(graph), &options).memory_bytes)?;
    run.install(|| {
        let n = graph.num_vertices();
        run.round(n)?;
        let (waiting, generations) = (arriving(graph, run)?, VertexArray::filled(run, n, NONE));
        let is_weighted = size_of::<G::Weight>() > 0;
        let shortfalls = VertexValues::filled(run, if is_weighted { n } else { 0 }, 0.0);
        let (mut count, mut ordered) = (0, 0);
        let first = (0..n).map(vertex).filter(|&v| waiting.get(v) == 0).collect();
        let mut frontier = Frontier::from_list(graph, first);
        let take = TakeAway { waiting: &waiting, shortfalls: &shortfalls };
        while !frontier.is_empty() {
            run.round(frontier.len())?;
            vertex_map(run, &frontier, |v| generations.set(v, vertex(count)))?;
            (count, ordered) = (count + 1, ordered + frontier.len());
            frontier = edge_map_way(graph, run, Way::Push, &frontier, &take)?;
        }
        drop(waiting);
        let parents = if options.parents {
            let parents = VertexArray::from_fn(run, n, |v| {
                if generations.get(vertex(v)) == NONE { NONE } else { VertexId::MAX - 1 }
            });
            let find = FindParents { generations: &generations, shortfalls: &shortfalls, parents: &parents };
            graph.scan(run, Direction::Out, Select::All, &find)?;
            each_vertex(run, n, |v| {
                if parents.get(v) == VertexId::MAX - 1 {
                    parents.set(v, v);
                }
            })?;
            Some(parents.into_vec())
        } else {
            None
        };
        let lengths = is_weighted.then(|| lengths(&generations, shortfalls));
        let longest = match &lengths {
            Some(lengths) => lengths.iter().copied().fold(0.0, f64::max),
            None => count.saturating_sub(1) as f64,
        };
        if lengths.iter().flatten().any(|length| length.is_infinite()) {
            let reason = "the weights along a path add up to more than a number of 64 bits holds";
            return Err(Stop::unsuitable(reason.to_owned()).into());
        }
        let generations = generations.into_vec();
        let unordered = n - ordered;
        Ok(Order { generations, count, unordered, lengths, longest, parents, rounds: run.rounds() })
    })
}

/// The number of edges that lead to each vertex.
fn arriving<G: Graph>(graph: &G, run: &Run) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    if graph.has(Direction::In) {
        return Ok(VertexArray::from_fn(run, n, |v| vertex(graph.degree(Direction::In, vertex(v)))));
    }
    let counts = VertexArray::filled(run, n, 0);
    graph.scan(run, Direction::Out, Select::All, &CountArriving(&counts))?;
    Ok(counts)
}

fn lengths(generations: &VertexArray, shortfalls: VertexValues<f64>) -> Vec<f64> {
    let each = generations.iter().zip(shortfalls.into_vec());
    // The sum turns -0 into 0.
    each.map(|(of, shortfall)| if of == NONE { f64::NAN } else { 0.0 - shortfall }).collect()
}
