//! Weighted breadth-first search: shortest paths over edges of integer length, settled in order of distance.
//!
//! A parallel form of Dial's algorithm, as in Julienne [1] and Sage: one bucket per distance, of which some
//! hundreds are open and the rest wait in an overflow. A vertex leaves its bucket once, unless edges of
//! length 0 lead within the bucket, so each list is read once. Best for small integer lengths; for others,
//! `sssp` uses wider buckets.
//!
//! Lengths of 32-bit integers are added in 32 bits. If that overflows, or 63 bits do, delta-stepping answers
//! instead. Distances do not depend on threads or timing. State: a distance per vertex, which is also its
//! bucket. Work: O(n + m), in one round per distance that occurs. Memory per vertex: 4 to 8 bytes for
//! distances, 8 for the result, 4 ids for buckets, 3 ids for rounds, and one bit. Reads: the list of each
//! reached vertex once.
//!
//! [1] L. Dhulipala, G. Blelloch, J. Shun, "Julienne: A Framework for Parallel Graph Algorithms using
//!     Work-efficient Bucketing", SPAA 2017.

use std::sync::atomic::Ordering;

use esker_graph::{Graph, Run, Stop, VertexId};

use crate::algorithm::paths::relaxation::{BucketRule, LabelRule, Relaxation, tight_tree};
use crate::algorithm::paths::sssp::{Sssp, SsspOptions, sssp};
use crate::estimate::{Estimate, Shape};
use crate::lengths::{Length, Reach};
use crate::primitive::{Buckets, VertexValues, need_source};

/// Options of [`wbfs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WbfsOptions {
    /// Whether to return parents. They take one more pass over the lists.
    pub parents: bool,
}

/// Base-2 logarithm of the number of open buckets.
const BITS: u32 = 8;

/// Estimates memory and reads. Memory is an upper bound; reads are exact, unless edges have length 0.
pub fn estimate(shape: Shape, options: &WbfsOptions) -> Estimate {
    let n = shape.num_vertices;
    let id_bytes = size_of::<VertexId>() as u64;
    Estimate {
        memory_bytes: n * (16 + 3 * id_bytes) + Buckets::<BITS>::bytes_max(n) + n.div_ceil(64) * 8 * 3,
        read_bytes: shape.weighted_list_bytes() * (1 + u64::from(options.parents)),
    }
}

/// Adds lengths, in numbers of type `D`.
struct LengthSum<D>(std::marker::PhantomData<D>);

impl<W: Length, D: Reach<W>> LabelRule<W> for LengthSum<D> {
    type Label = D;

    #[inline(always)]
    fn offer(&self, distance: D, edge: W) -> (D, bool) {
        distance.sum(edge)
    }
}

impl<W: Length, D: Reach<W>> BucketRule<W> for LengthSum<D> {
    #[inline(always)]
    fn bucket(&self, distance: D) -> Option<u64> {
        (distance < D::FAR).then(|| distance.steps_from(D::ZERO, D::near(1.0)) as u64)
    }
}

/// The distances; `None` if a length is negative or a distance overflows.
#[allow(clippy::type_complexity)] // Clearer than a type alias.
fn settle<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    source: VertexId,
) -> Result<Option<Vec<<G::Weight as Length>::Distance>>, G::Error> {
    let distances = VertexValues::filled(run, graph.num_vertices(), Narrow::<G>::FAR);
    distances.set(source, Narrow::<G>::ZERO);
    let rule = LengthSum::<Narrow<G>>(std::marker::PhantomData);
    let relax = Relaxation::new(&rule, &distances);
    relax.by_buckets::<BITS, G>(graph, run)?;
    let failed = relax.fault.load(Ordering::Relaxed);
    drop(relax);
    Ok((!failed).then(|| distances.into_vec().into_iter().map(Reach::give).collect()))
}

/// What distances are computed in.
type Narrow<G> = <<G as Graph>::Weight as Length>::Narrow;

/// Computes the distances from `source`. Without weights, every edge has length 1.
///
/// # Errors
/// [`Stop::Unsuitable`] if lengths are not integers, an edge met has a negative length, a shortest path is of
/// 2^63 - 1 or more, or the source is not a vertex; [`Stop::OverBudget`]; the first list that cannot be read;
/// cancellation.
pub fn wbfs<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &WbfsOptions,
) -> Result<Sssp<G::Weight>, G::Error> {
    let n = graph.num_vertices();
    let run =
        &run.begin("weighted breadth-first search", estimate(Shape::of(graph), options).memory_bytes)?;
    if !<G::Weight as Length>::INTEGRAL {
        let message = "weighted breadth-first search needs integer lengths: use sssp for these weights";
        return Err(Stop::unsuitable(message.to_owned()).into());
    }
    need_source(source, n)?;
    let by_wide_buckets =
        |run| sssp(graph, run, source, &SsspOptions { parents: options.parents, ..SsspOptions::default() });
    if <G::Weight as Length>::UNIT {
        return by_wide_buckets(run);
    }
    run.install(|| {
        let Some(distances) = settle(graph, run, source)? else {
            return by_wide_buckets(run);
        };
        let rounds = run.rounds();
        let tight = |u: VertexId, v: VertexId, edge| {
            <G::Weight as Length>::extend(distances[u as usize], edge) == Some(distances[v as usize])
        };
        let parents = if options.parents { Some(tight_tree(graph, run, source, tight)?) } else { None };
        let reached = distances.iter().filter(|&&d| d != <G::Weight as Length>::UNREACHED).count();
        Ok(Sssp { distances, parents, reached, delta: 1.0, rounds })
    })
}
