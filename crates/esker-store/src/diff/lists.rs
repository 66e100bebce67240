//! Compares the list of one vertex in two versions.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use esker_format::{Error, Result, Widening};
use esker_graph::{Direction, Flow, VertexId};
use esker_layers::layer::PlainLayer;

use super::kinds::{DiffEdge, Difference};
use crate::version::{Version, VertexEdges};

/// A list is compared as a whole if it has fewer arcs for each target that may differ: finding a target takes
/// searches. Tests have only short lists.
const WHOLE_PER_TARGET: usize = if cfg!(test) { 1 } else { 8 };

/// The conversions of values of edge properties to the wider of the types that they have in two versions:
/// one of them may have been opened before a type became a wider one.
pub(super) struct CommonTypes {
    of_a: Vec<Option<Widening>>,
    of_b: Vec<Option<Widening>>,
}

impl CommonTypes {
    pub(super) fn of(a: &Version, b: &Version) -> Self {
        let conversions = |from: &Version, to: &Version| {
            let pairs = from.edge_properties().zip(to.edge_properties());
            pairs
                .map(|(from, to)| Widening::between(from.number, from.element, to.element, to.optional))
                .collect()
        };
        Self { of_a: conversions(a, b), of_b: conversions(b, a) }
    }
}

/// The list of a vertex in one version.
struct VersionList<'s> {
    version: &'s Version,
    /// For each edge property, how to convert its values before they are compared.
    conversions: &'s [Option<Widening>],
    source: VertexId,
    edges: VertexEdges<'s>,
    /// The index of the first edge to report; in an undirected graph, earlier edges are reported at their
    /// other end.
    start: usize,
    num_properties: u32,
}

impl<'s> VersionList<'s> {
    /// Reads a list, or its edges to some vertices; `None` if the version does not have the vertex.
    fn read(
        version: &'s Version,
        conversions: &'s [Option<Widening>],
        source: VertexId,
        to: Option<&[VertexId]>,
    ) -> Result<Option<Self>> {
        if source as usize >= version.num_vertices() {
            return Ok(None);
        }
        let edges = match to {
            Some(to) => VertexEdges::to(version.stack(), source, to)?,
            None => version.edges(Direction::Out, source)?,
        };
        let start = match version.is_directed() {
            true => 0,
            false => edges.targets().partition_point(|&target| target < source),
        };
        let num_properties = version.edge_properties().count() as u32;
        Ok(Some(Self { version, conversions, source, edges, start, num_properties }))
    }

    fn edge(&self, index: usize) -> DiffEdge<'_> {
        let target = self.edges.targets()[index];
        DiffEdge { source: self.source, target, version: self.version, edges: &self.edges, index }
    }

    /// The copies of an edge, of which the first is at `start`.
    fn copies(&self, start: usize) -> Range<usize> {
        let targets = &self.edges.targets()[start..];
        let count = targets.iter().take_while(|&target| target == &targets[0]).count();
        start..start + count
    }

    /// The bits of a value, in the type that it is compared in.
    fn bits(&self, index: usize, property: u32) -> Result<u64> {
        let (lists, at) = self.edges.place(index);
        let missing = || Error::invalid(format!("there is no edge property number {property}"));
        let bits = lists.property(property as usize).ok_or_else(missing)?.bits_at(at)?;
        let conversion = self.conversions.get(property as usize).copied().flatten();
        Ok(conversion.and_then(|conversion| conversion.bits(bits)).unwrap_or(bits))
    }

    /// The property values of some copies, each with the index of the copy, in ascending order.
    fn sorted_values(&self, copies: Range<usize>) -> Result<Vec<(Vec<u64>, usize)>> {
        let values = |index| {
            (0..self.num_properties).map(|property| self.bits(index, property)).collect::<Result<Vec<u64>>>()
        };
        let mut rows =
            copies.map(|index| Ok((values(index)?, index))).collect::<Result<Vec<(Vec<u64>, usize)>>>()?;
        rows.sort_unstable();
        Ok(rows)
    }
}

/// The layers that two versions have in common and read as a whole: the lists there are the same.
pub(super) struct CommonLayers(usize);

impl CommonLayers {
    pub(super) fn of(a: &Version, b: &Version) -> Self {
        // Layers in memory may have the number of an earlier one.
        let pairs = Self::read_whole(a).iter().zip(Self::read_whole(b));
        Self(pairs.take_while(|(in_a, in_b)| Arc::ptr_eq(in_a, in_b)).count())
    }

    /// The layers whose edges a version reads all.
    fn read_whole(version: &Version) -> &[Arc<PlainLayer>] {
        let (layers, is_partial) = (version.stack().layers(), version.stack().rank().is_some());
        &layers[..layers.len() - usize::from(is_partial)]
    }

    /// The vertices to which the edges of `v` may differ, ascending and distinct: its targets in the other
    /// layers, and those whose edges in the common layers were removed. In an undirected graph, without those
    /// below `v`, at which their edges are reported. `None` if the targets are not known, or comparing whole
    /// lists is as fast.
    fn targets(&self, a: &Version, b: &Version, v: VertexId) -> Result<Option<Vec<VertexId>>> {
        let mut targets = Vec::new();
        for version in [a, b] {
            if self.0 == 0 || v as usize >= version.num_vertices() {
                return Ok(None);
            }
            let stack = version.stack();
            let fragment = stack.newest_fragment(Direction::Out, v)?;
            let dead = stack.visit_above(self.0, fragment, Direction::Out, v, &mut |stretch| {
                targets.extend_from_slice(&stretch.targets);
                Ok(Flow::More)
            })?;
            let Some(dead) = dead else { return Ok(None) };
            targets.extend(dead);
        }
        if !b.is_directed() {
            targets.retain(|&target| target >= v);
        }
        if targets.is_empty() {
            return Ok(Some(targets));
        }
        targets.sort_unstable();
        targets.dedup();
        let is_short = |version: &Version| {
            Ok::<_, Error>(version.degree(Direction::Out, v)? < WHOLE_PER_TARGET * targets.len())
        };
        Ok(if is_short(b)? { None } else { Some(targets) })
    }
}

/// Calls `visit` with the differences between the out-lists of `v` in `a` and `b`. Memory: both lists, or
/// what the layers that the versions do not share have of them.
pub(super) fn compare<F>(
    a: &Version,
    b: &Version,
    types: &CommonTypes,
    common: &CommonLayers,
    v: VertexId,
    visit: &mut F,
) -> Result<()>
where
    F: FnMut(Difference<'_>) -> Result<()>,
{
    let to = common.targets(a, b, v)?;
    let to = to.as_deref();
    match (VersionList::read(a, &types.of_a, v, to)?, VersionList::read(b, &types.of_b, v, to)?) {
        (Some(a), Some(b)) => compare_lists(&a, &b, visit),
        (Some(a), None) => {
            (a.start..a.edges.len()).try_for_each(|at| visit(Difference::EdgeRemoved(a.edge(at))))
        }
        (None, Some(b)) => {
            (b.start..b.edges.len()).try_for_each(|at| visit(Difference::EdgeAdded(b.edge(at))))
        }
        (None, None) => Ok(()),
    }
}

fn compare_lists<F>(a: &VersionList<'_>, b: &VersionList<'_>, visit: &mut F) -> Result<()>
where
    F: FnMut(Difference<'_>) -> Result<()>,
{
    let (old, new) = (a.edges.targets(), b.edges.targets());
    let (mut i, mut j) = (a.start, b.start);
    loop {
        let order = match (old.get(i), new.get(j)) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.cmp(new),
        };
        match order {
            Ordering::Less => {
                visit(Difference::EdgeRemoved(a.edge(i)))?;
                i += 1;
            }
            Ordering::Greater => {
                visit(Difference::EdgeAdded(b.edge(j)))?;
                j += 1;
            }
            Ordering::Equal => {
                let (copies, others) = (a.copies(i), b.copies(j));
                (i, j) = (copies.end, others.end);
                if copies.len() == 1 && others.len() == 1 {
                    if !is_same(a, copies.start, b, others.start)? {
                        visit(Difference::EdgeChanged(a.edge(copies.start), b.edge(others.start)))?;
                    }
                } else {
                    compare_copies(a, copies, b, others, visit)?;
                }
            }
        }
    }
}

fn is_same(a: &VersionList<'_>, i: usize, b: &VersionList<'_>, j: usize) -> Result<bool> {
    let ((lists, at), (other_lists, other_at)) = (a.edges.place(i), b.edges.place(j));
    if std::ptr::eq(lists, other_lists) && at == other_at {
        return Ok(true);
    }
    for property in 0..a.num_properties {
        if a.bits(i, property)? != b.bits(j, property)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares parallel edges, which have no identity: counts the copies with equal values, and reports the
/// surplus of either version as added or removed. What was removed comes first, for a commit that repeats the
/// differences may have room for one edge of a kind only.
fn compare_copies<F>(
    a: &VersionList<'_>,
    copies: Range<usize>,
    b: &VersionList<'_>,
    others: Range<usize>,
    visit: &mut F,
) -> Result<()>
where
    F: FnMut(Difference<'_>) -> Result<()>,
{
    let (old, new) = (a.sorted_values(copies)?, b.sorted_values(others)?);
    let (mut i, mut j) = (0, 0);
    let mut added = Vec::new();
    while i < old.len() || j < new.len() {
        let order = match (old.get(i), new.get(j)) {
            (Some(old), Some(new)) => old.0.cmp(&new.0),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        if order == Ordering::Less {
            visit(Difference::EdgeRemoved(a.edge(old[i].1)))?;
        } else if order == Ordering::Greater {
            added.push(new[j].1);
        }
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
    }
    added.into_iter().try_for_each(|index| visit(Difference::EdgeAdded(b.edge(index))))
}
