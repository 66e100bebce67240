//! Best paths from some sources, kept up to date: fewest steps, shortest, or widest.
//!
//! The vertices that are reached form a tree of parents, each of which gave its child the label it has. A
//! removed edge matters only if it is in the tree [1, 2]. Then its child looks for another neighbour that
//! gives it the same label, among those with a better label, which do not depend on it. Children that find
//! none lose their labels, and their children are next, the best labels first. What lost its label gets the
//! best that the rest of the graph offers, added edges offer what they can, and a search from there settles
//! what improved. Labels equal those of a search anew: both are the best over all paths, and each path adds
//! up in the same order.
//!
//! Work: the lists of the vertices whose labels change and of those that look for another parent; of a
//! directed graph also in-lists, which removals need. Memory: a label and an id a vertex, and a few words for
//! each vertex that loses its label.
//!
//! [1] K. Vora, R. Gupta, G. Xu, "KickStarter: Fast and Accurate Computations on Streaming Graphs via Trimmed
//!     Approximations", ASPLOS 2017.
//! [2] G. Feng et al., "RisGraph: A Real-Time Streaming System for Evolving Graphs", SIGMOD 2021.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::fmt::Debug;

use esker_graph::{Direction, NONE, VertexId, Weight};

use super::graph::{BoundedReader, Halt, LiveGraph, UpdateResult};
use crate::lengths::Length;
use crate::widths::Width;

/// What makes one path better than another.
pub trait PathRule<W> {
    /// The label of a vertex; the less, the better.
    type Label: Copy + PartialOrd + Debug + Send;
    /// The label of a vertex that is not reached.
    fn unreached() -> Self::Label;
    /// The label after one more edge, which is no better; `None` if they do not add up.
    fn after(label: Self::Label, edge: W) -> Option<Self::Label>;
}

/// The fewest edges.
#[derive(Debug, Clone, Copy)]
pub struct FewestRule;

impl<W> PathRule<W> for FewestRule {
    type Label = VertexId;

    fn unreached() -> VertexId {
        NONE
    }

    fn after(label: VertexId, _: W) -> Option<VertexId> {
        Some(label + 1)
    }
}

/// The least sum of lengths.
#[derive(Debug, Clone, Copy)]
pub struct ShortestRule;

impl<W: Length> PathRule<W> for ShortestRule {
    type Label = W::Distance;

    fn unreached() -> W::Distance {
        W::UNREACHED
    }

    fn after(label: W::Distance, edge: W) -> Option<W::Distance> {
        W::extend(label, edge)
    }
}

/// The widest narrowest edge. Labels are widths in reversed order: see [`Width::reverse`].
#[derive(Debug, Clone, Copy)]
pub struct WidestRule;

impl<W: Width> PathRule<W> for WidestRule {
    type Label = W::Width;

    fn unreached() -> W::Width {
        W::reverse(W::UNREACHED)
    }

    fn after(label: W::Width, edge: W) -> Option<W::Width> {
        let edge = W::reverse(edge.width()?);
        Some(if label < edge { edge } else { label })
    }
}

/// The best paths of a version.
#[derive(Debug, Clone)]
pub struct LivePaths<W: Weight, R: PathRule<W>> {
    labels: Vec<R::Label>,
    /// The vertex that gave each its label: itself for a source, [`NONE`] if it is not reached.
    parents: Vec<VertexId>,
    reached: usize,
}

/// A vertex in the order of labels, the best first.
struct QueuedVertex<L> {
    label: L,
    v: VertexId,
}

impl<L: PartialOrd> PartialEq for QueuedVertex<L> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<L: PartialOrd> Eq for QueuedVertex<L> {}

impl<L: PartialOrd> PartialOrd for QueuedVertex<L> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<L: PartialOrd> Ord for QueuedVertex<L> {
    fn cmp(&self, other: &Self) -> Ordering {
        // No label is NaN.
        other.label.partial_cmp(&self.label).unwrap_or(Ordering::Equal)
    }
}

impl<W: Weight, R: PathRule<W>> LivePaths<W, R> {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        (n * (size_of::<R::Label>() + size_of::<VertexId>())) as u64
    }

    /// The state of a version, from the label of each vertex, and the vertex before it on such a path: a
    /// source itself.
    pub fn new(labels: Vec<R::Label>, parents: Vec<VertexId>) -> Self {
        let reached = parents.iter().filter(|&&parent| parent != NONE).count();
        Self { labels, parents, reached }
    }

    /// The label of a vertex.
    pub fn label(&self, v: VertexId) -> R::Label {
        self.labels[v as usize]
    }

    /// The vertex before each on its path: a source itself, [`NONE`] where there is no path.
    pub fn parents(&self) -> &[VertexId] {
        &self.parents
    }

    /// The labels.
    pub fn labels(&self) -> &[R::Label] {
        &self.labels
    }

    /// The number of vertices that are reached, sources included.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose labels may have
    /// changed, each at least once.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] if edges were removed and in-lists are not kept, and where an
    /// edge cannot be added to a path, which a search anew explains.
    pub fn update<G: LiveGraph<Weight = W>>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        let changes = reader.changes();
        let (n, mut changed) = reader.new_vertices(self.labels.len());
        self.labels.resize(n, R::unreached());
        self.parents.resize(n, NONE);
        let is_directed = reader.graph().is_directed();
        let mut queue = BinaryHeap::new();
        let lost = self.cut(reader)?;
        for &v in &lost {
            self.set(v, R::unreached(), NONE);
        }
        for &v in &lost {
            let mut best = (R::unreached(), NONE);
            let (labels, mut fails) = (&self.labels, false);
            reader.each(Direction::In, v, |u, weight| {
                if labels[u as usize] < R::unreached() {
                    match R::after(labels[u as usize], weight) {
                        Some(label) if label < best.0 => best = (label, u),
                        Some(_) => {}
                        None => fails = true,
                    }
                }
            })?;
            if fails {
                return Err(Halt::Unsuitable);
            }
            if best.1 != NONE {
                self.set(v, best.0, best.1);
                queue.push(QueuedVertex { label: best.0, v });
            }
        }
        changed.extend(lost);
        for &(u, v, weight) in &changes.added {
            self.offer::<G>(u, v, weight, &mut queue, &mut changed)?;
            if !is_directed {
                self.offer::<G>(v, u, weight, &mut queue, &mut changed)?;
            }
        }
        self.settle(reader, queue, &mut changed)?;
        Ok(changed)
    }

    fn set(&mut self, v: VertexId, label: R::Label, parent: VertexId) {
        let before = std::mem::replace(&mut self.parents[v as usize], parent);
        self.labels[v as usize] = label;
        self.reached += usize::from(before == NONE && parent != NONE);
        self.reached -= usize::from(before != NONE && parent == NONE);
    }

    /// Offers an edge to its target.
    fn offer<G: LiveGraph>(
        &mut self,
        u: VertexId,
        v: VertexId,
        weight: W,
        queue: &mut BinaryHeap<QueuedVertex<R::Label>>,
        changed: &mut Vec<VertexId>,
    ) -> UpdateResult<(), G> {
        let before = self.labels[u as usize];
        if self.parents[u as usize] == NONE {
            return Ok(());
        }
        let label = R::after(before, weight).ok_or(Halt::Unsuitable)?;
        if label < self.labels[v as usize] {
            self.set(v, label, u);
            queue.push(QueuedVertex { label, v });
            changed.push(v);
        }
        Ok(())
    }

    /// Settles what may improve, the best first.
    fn settle<G: LiveGraph<Weight = W>>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
        mut queue: BinaryHeap<QueuedVertex<R::Label>>,
        changed: &mut Vec<VertexId>,
    ) -> UpdateResult<(), G> {
        let mut offers = Vec::new();
        while let Some(QueuedVertex { label, v: u }) = queue.pop() {
            if self.labels[u as usize] < label {
                continue;
            }
            let (labels, mut fails) = (&self.labels, false);
            reader.each(Direction::Out, u, |v, weight| match R::after(label, weight) {
                Some(after) if after < labels[v as usize] => offers.push((v, after)),
                Some(_) => {}
                None => fails = true,
            })?;
            if fails {
                return Err(Halt::Unsuitable);
            }
            for (v, after) in offers.drain(..) {
                if after < self.labels[v as usize] {
                    self.set(v, after, u);
                    queue.push(QueuedVertex { label: after, v });
                    changed.push(v);
                }
            }
        }
        Ok(())
    }

    /// Gives the vertices that lost their parents other ones with the same labels, and returns those that
    /// find none, with all below them.
    fn cut<G: LiveGraph<Weight = W>>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        let is_directed = reader.graph().is_directed();
        let mut queue = BinaryHeap::new();
        for &(u, v, _) in reader.changes().removed.iter().filter(|(u, v, _)| u != v) {
            if self.parents[v as usize] == u {
                queue.push(QueuedVertex { label: self.labels[v as usize], v });
            }
            if !is_directed && self.parents[u as usize] == v {
                queue.push(QueuedVertex { label: self.labels[u as usize], v: u });
            }
        }
        let (mut lost, mut order) = (HashSet::new(), Vec::new());
        while let Some(QueuedVertex { label, v }) = queue.pop() {
            if lost.contains(&v) {
                continue;
            }
            let (labels, mut parent) = (&self.labels, NONE);
            // All vertices with better labels have had their turn: what is not lost stays as it is.
            reader.each(Direction::In, v, |u, weight| {
                let offered =
                    labels[u as usize] < label && R::after(labels[u as usize], weight) == Some(label);
                if parent == NONE && offered && !lost.contains(&u) {
                    parent = u;
                }
            })?;
            if parent != NONE {
                self.parents[v as usize] = parent;
                continue;
            }
            lost.insert(v);
            order.push(v);
            let parents = &self.parents;
            reader.each(Direction::Out, v, |x, _| {
                if parents[x as usize] == v && x != v {
                    queue.push(QueuedVertex { label: labels[x as usize], v: x });
                }
            })?;
        }
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::Run;

    use super::super::graph::ChangedEdges;
    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::paths::sssp::{SsspOptions, sssp};
    use crate::algorithm::paths::widest::{WidestOptions, widest};

    /// Follows labels that an algorithm computes anew.
    fn holds<W: Weight, R: PathRule<W>>(
        weight: fn(u64) -> W,
        compute: impl Fn(&EdgeChurn<W>) -> (Vec<R::Label>, Vec<VertexId>),
    ) {
        for seed in 0..30 {
            let mut stream = EdgeChurn::new(seed, 30, seed % 2 == 0, weight);
            let (labels, parents) = compute(&stream);
            let mut given = labels.clone();
            let mut live = LivePaths::<W, R>::new(labels, parents);
            for step in 0..60 {
                let changes = stream.step(1 << (step % 5));
                let csr = stream.graph();
                let changed = live.update(&mut BoundedReader::new(&csr.graph(), &changes, u64::MAX)).unwrap();
                let (labels, parents) = compute(&stream);
                assert_eq!(live.labels(), labels, "seed {seed}, step {step}");
                assert_eq!(live.reached(), parents.iter().filter(|&&parent| parent != NONE).count());
                given.resize(labels.len(), R::unreached());
                changed.iter().for_each(|&v| given[v as usize] = live.label(v));
                assert_eq!(given, labels, "seed {seed}, step {step}: what changed");
            }
        }
    }

    fn distances<W: Length>(stream: &EdgeChurn<W>) -> (Vec<W::Distance>, Vec<VertexId>) {
        let run = Run::with_threads(1).unwrap();
        let options = SsspOptions { parents: true, ..SsspOptions::default() };
        let found = sssp(&stream.graph().graph(), &run, 0, &options).unwrap();
        (found.distances, found.parents.unwrap())
    }

    #[test]
    fn every_version_of_a_random_stream_is_as_searched_anew() {
        holds::<i32, ShortestRule>(|noise| (noise % 5) as i32, distances);
        holds::<f64, ShortestRule>(|noise| (noise % 50) as f64 / 7.0, distances);
        holds::<f32, ShortestRule>(|noise| (noise % 50) as f32 / 7.0, distances);
        holds::<(), FewestRule>(
            |_| (),
            |stream| {
                let (distances, parents) = distances(stream);
                let steps = |distance: i64| if distance == i64::MAX { NONE } else { distance as VertexId };
                (distances.into_iter().map(steps).collect(), parents)
            },
        );
        holds::<i32, WidestRule>(
            |noise| (noise % 9) as i32 - 2,
            |stream| {
                let run = Run::with_threads(1).unwrap();
                let options = WidestOptions { parents: true, ..WidestOptions::default() };
                let found = widest(&stream.graph().graph(), &run, 0, &options).unwrap();
                (found.widths.into_iter().map(<i32 as Width>::reverse).collect(), found.parents.unwrap())
            },
        );
    }

    #[test]
    fn an_edge_that_is_not_in_the_tree_costs_nothing() {
        let csr = esker_graph::Csr::undirected(4, &[(0, 1, ()), (0, 2, ()), (1, 3, ())]).unwrap();
        let mut live = LivePaths::<(), FewestRule>::new(vec![0, 1, 1, 2], vec![0, 0, 0, 1]);
        let changes = ChangedEdges { removed: vec![(1, 2, ())], ..ChangedEdges::default() };
        assert_eq!(live.update(&mut BoundedReader::new(&csr.graph(), &changes, 0)), Ok(Vec::new()));
    }

    #[test]
    fn a_length_that_is_negative_stops_the_update() {
        let csr = esker_graph::Csr::directed(2, &[(0, 1, -1)]).unwrap();
        let mut live = LivePaths::<i32, ShortestRule>::new(vec![0, i64::MAX], vec![0, NONE]);
        let changes = ChangedEdges { added: vec![(0, 1, -1)], ..ChangedEdges::default() };
        assert_eq!(live.update(&mut BoundedReader::new(&csr.graph(), &changes, 9)), Err(Halt::Unsuitable));
    }
}
