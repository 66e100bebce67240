//! Verifies shortest and widest paths.

use esker_graph::{NONE, VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};
use crate::lengths::Length;
use crate::widths::Width;

/// Checks that `distances` (and `parents`, if given) are those of shortest paths from `source` along `out`,
/// where no length is negative.
///
/// An edge is *tight* if its length is the difference of the distances of its ends. The source is at distance
/// 0; no edge leads from a reached vertex to one farther away than the edge is long; and a search along tight
/// edges reaches exactly the vertices that have a distance. Together these properties make the distances
/// exact. Each parent must be at the other end of a tight edge, and the parents must form a tree.
///
/// # Errors
/// The first violated property.
pub fn sssp<'a, W: Length>(
    out: impl Into<WatchedRows<'a, W>>,
    source: VertexId,
    distances: &[W::Distance],
    parents: Option<&[VertexId]>,
) -> Result<(), Rejection> {
    let (origin, none) = (W::ORIGIN, W::UNREACHED);
    CheckedPaths { origin, none, over: W::extend, worse: |a, b| a > b }.check(
        out.into(),
        source,
        distances,
        parents,
    )
}

/// As [`sssp`], of a search that ended at the distance of `target`, if one is given and was reached: vertices
/// farther away count as unreached.
///
/// # Errors
/// The first violated property.
pub fn sssp_to<'a, W: Length>(
    out: impl Into<WatchedRows<'a, W>>,
    source: VertexId,
    target: Option<VertexId>,
    distances: &[W::Distance],
    parents: Option<&[VertexId]>,
) -> Result<(), Rejection> {
    let (origin, none) = (W::ORIGIN, W::UNREACHED);
    let farthest = target.and_then(|target| distances.get(target as usize).copied()).unwrap_or(none);
    let over = |distance, edge| W::extend(distance, edge).filter(|&over| over <= farthest);
    CheckedPaths { origin, none, over, worse: |a, b| a > b }.check(out.into(), source, distances, parents)
}

/// As [`sssp`], where lengths may be negative.
///
/// # Errors
/// The first violated property.
pub fn bellman_ford<'a, W: Length>(
    out: impl Into<WatchedRows<'a, W>>,
    source: VertexId,
    distances: &[W::Distance],
    parents: Option<&[VertexId]>,
) -> Result<(), Rejection> {
    let (origin, none) = (W::ORIGIN, W::UNREACHED);
    CheckedPaths { origin, none, over: W::extend_signed, worse: |a, b| a > b }.check(
        out.into(),
        source,
        distances,
        parents,
    )
}

/// Checks that `cycle` is a cycle without repeated vertices, reachable from `source`, whose edges add up to
/// the negative `length`.
///
/// # Errors
/// The first violated property.
pub fn negative_cycle<'a, W: Length>(
    out: impl Into<WatchedRows<'a, W>>,
    source: VertexId,
    cycle: &[VertexId],
    length: W::Distance,
) -> Result<(), Rejection> {
    let out = out.into();
    out.ensure(!cycle.is_empty(), || "the cycle has no vertices".to_owned())?;
    let mut seen = vec![false; out.num_vertices()];
    let mut sum = Some(W::ORIGIN);
    for (&u, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        out.ensure(!std::mem::replace(&mut seen[u as usize], true), || {
            format!("vertex {u} is in the cycle twice")
        })?;
        let (targets, edges) = out.list(u)?;
        let steps = targets.iter().zip(edges).filter(|(v, _)| *v == next).map(|(_, &edge)| edge);
        let edge = steps.min_by(|a, b| a.to_f64().total_cmp(&b.to_f64()));
        let edge = edge.ok_or_else(|| {
            Rejection::Wrong(format!("the cycle has no edge from {u} to its next vertex {next}"))
        })?;
        sum = sum.and_then(|sum| W::extend_signed(sum, edge));
    }
    out.ensure(sum == Some(length) && length < W::ORIGIN, || {
        format!("the cycle has length {sum:?}, not a negative length of {length:?}")
    })?;
    let mut reached = vec![false; out.num_vertices()];
    reached[source as usize] = true;
    let mut stack = vec![source];
    while let Some(u) = stack.pop() {
        for &v in out.list(u)?.0 {
            if !std::mem::replace(&mut reached[v as usize], true) {
                stack.push(v);
            }
        }
    }
    out.ensure(reached[cycle[0] as usize], || "the cycle is not reachable from the source".to_owned())
}

/// Checks that `widths` (and `parents`, if given) are those of widest paths from `source` along `out`, by the
/// same properties as [`sssp`].
///
/// # Errors
/// The first violated property.
pub fn widest<'a, W: Width>(
    out: impl Into<WatchedRows<'a, W>>,
    source: VertexId,
    widths: &[W::Width],
    parents: Option<&[VertexId]>,
) -> Result<(), Rejection> {
    let over = |width, edge: W| edge.width().map(|edge| if edge < width { edge } else { width });
    CheckedPaths { origin: W::SOURCE, none: W::UNREACHED, over, worse: |a, b| a < b }.check(
        out.into(),
        source,
        widths,
        parents,
    )
}

/// How labels spread along paths.
struct CheckedPaths<L, O, B> {
    /// The label of the source.
    origin: L,
    /// The label of unreached vertices.
    none: L,
    /// The label after one more edge.
    over: O,
    /// Whether the first label is worse than the second.
    worse: B,
}

impl<L: Copy + PartialEq + std::fmt::Debug, O, B: Fn(L, L) -> bool> CheckedPaths<L, O, B> {
    fn check<W: Weight>(
        &self,
        out: WatchedRows<'_, W>,
        source: VertexId,
        labels: &[L],
        parents: Option<&[VertexId]>,
    ) -> Result<(), Rejection>
    where
        O: Fn(L, W) -> Option<L>,
    {
        let n = out.num_vertices();
        out.ensure(labels.len() == n, || format!("{} labels for {n} vertices", labels.len()))?;
        let at = |v: VertexId| labels[v as usize];
        out.ensure(at(source) == self.origin, || format!("the source is labelled {:?}", at(source)))?;
        let mut reached = vec![false; n];
        reached[source as usize] = true;
        let mut stack = vec![source];
        while let Some(u) = stack.pop() {
            let (targets, edges) = out.list(u)?;
            for (&v, &edge) in targets.iter().zip(edges) {
                let Some(over) = (self.over)(at(u), edge) else { continue };
                let worse = (self.worse)(at(v), over);
                out.ensure(!worse, || {
                    format!("vertex {v} is labelled {:?} but its edge from {u} gives {over:?}", at(v))
                })?;
                if at(v) == over && !reached[v as usize] {
                    reached[v as usize] = true;
                    stack.push(v);
                }
            }
        }
        for (v, &reached) in reached.iter().enumerate() {
            let given = labels[v];
            out.ensure(reached == (given != self.none), || {
                format!("vertex {v} is labelled {given:?}, but no path gives that label")
            })?;
        }
        parents.map_or(Ok(()), |parents| self.check_parents(out, source, labels, parents))
    }

    fn check_parents<W: Weight>(
        &self,
        out: WatchedRows<'_, W>,
        source: VertexId,
        labels: &[L],
        parents: &[VertexId],
    ) -> Result<(), Rejection>
    where
        O: Fn(L, W) -> Option<L>,
    {
        let n = labels.len();
        out.ensure(parents.len() == n, || format!("{} parents for {n} vertices", parents.len()))?;
        out.ensure(parents[source as usize] == source, || "the source is not its own parent".to_owned())?;
        let mut sound = vec![false; n];
        sound[source as usize] = true;
        for first in 0..n {
            let mut chain = Vec::new();
            let mut v = first;
            while !sound[v] && parents[v] != NONE {
                out.ensure(chain.len() < n, || format!("the parents of vertex {first} form a cycle"))?;
                chain.push(v);
                v = parents[v] as usize;
                out.ensure(v < n, || format!("parent {v} is not one of {n} vertices"))?;
            }
            let reached = labels[first] != self.none;
            out.ensure(reached == sound[v], || {
                format!("the parents of vertex {first} end at {v}, not at the source")
            })?;
            for &below in &chain {
                let parent = parents[below];
                let edges = out.between(parent, vertex(below)).iter();
                let tight = edges
                    .map(|&edge| (self.over)(labels[parent as usize], edge))
                    .any(|over| over == Some(labels[below]));
                out.ensure(tight, || {
                    format!("vertex {below} has parent {parent}, from which no edge is on a best path")
                })?;
                sound[below] = true;
            }
        }
        Ok(())
    }
}
