//! Several graphs over the same vertices, kept as one.

use esker_graph::{Rows, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use crate::primitive::VertexValues;

/// Vertices in one unit of work.
const GRAIN: usize = 1 << 12;

/// Up to 64 graphs: the arcs of all of them, and the graphs of each slot, one bit each.
#[derive(Debug, Clone)]
pub struct GraphSeries<'a> {
    out: Rows<'a, u16>,
    incoming: Option<Rows<'a, u16>>,
    directed: bool,
    members: Vec<u64>,
    len: usize,
}

impl<'a> GraphSeries<'a> {
    /// A series of `len` graphs. The weight of an arc is its slot; bit `i` of `members[slot]` says whether
    /// graph `i` has the arc. Without in-lists, those of a directed series are not known.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] for more than 64 graphs.
    pub fn new(
        out: Rows<'a, u16>,
        incoming: Option<Rows<'a, u16>>,
        directed: bool,
        members: Vec<u64>,
        len: usize,
    ) -> Result<Self, Stop> {
        if len > u64::BITS as usize {
            return Err(Stop::unsuitable(format!("{len} graphs are more than 64")));
        }
        Ok(Self { out, incoming, directed, members, len })
    }

    /// Number of graphs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of vertices, those of no graph included.
    pub fn num_vertices(&self) -> usize {
        self.out.num_vertices()
    }

    /// Number of arcs, those of any graph.
    pub fn num_arcs(&self) -> u64 {
        self.out.targets().len() as u64
    }

    /// The bits of all graphs.
    pub(super) fn all(&self) -> u64 {
        if self.len == 64 { u64::MAX } else { (1 << self.len) - 1 }
    }

    /// The graphs that have an arc of this slot.
    #[inline(always)]
    pub(super) fn members(&self, slot: u16) -> u64 {
        self.members[usize::from(slot)]
    }

    /// The graphs of each slot.
    pub(super) fn slots(&self) -> &[u64] {
        &self.members
    }

    /// The out-lists.
    pub(super) fn out(&self) -> &Rows<'a, u16> {
        &self.out
    }

    /// The lists along which vertices receive.
    pub(super) fn received(&self) -> Option<&Rows<'a, u16>> {
        if self.directed { self.incoming.as_ref() } else { Some(&self.out) }
    }

    /// Whether the lists along which vertices receive are known.
    pub fn can_receive(&self) -> bool {
        self.received().is_some()
    }

    /// Whether every edge is in the lists of both its ends.
    pub(super) fn is_undirected(&self) -> bool {
        !self.directed
    }

    /// For each vertex the graphs in which it has an edge; and the number of edges of each graph, of which an
    /// undirected one counts once. Memory: 8 bytes a vertex.
    ///
    /// # Errors
    /// [`Stop::OverBudget`]; cancellation.
    pub fn presence(&self, run: &Run) -> Result<(Vec<u64>, Vec<u64>), Stop> {
        let n = self.num_vertices();
        let run = &run.begin("the vertices of several graphs", 8 * n as u64)?;
        let present = VertexValues::filled(run, n, 0_u64);
        let slots = self.members.len();
        // Arcs of each slot, and loops, which an undirected graph has once.
        let counts = run.share_ranges::<_, Stop>(
            n,
            GRAIN,
            || (vec![0_u64; slots], vec![0_u64; slots]),
            |(arcs, loops), range| {
                for v in range.map(vertex) {
                    let (targets, slots) = self.out.list(v);
                    let mut graphs = 0;
                    for (&target, &slot) in targets.iter().zip(slots) {
                        arcs[usize::from(slot)] += 1;
                        loops[usize::from(slot)] += u64::from(target == v);
                        graphs |= self.members(slot);
                        if self.directed && present.get(target) & self.members(slot) != self.members(slot) {
                            present.unite(target, self.members(slot));
                        }
                    }
                    present.unite(v, graphs);
                }
                Ok(())
            },
        )?;
        let mut edges = vec![0; self.len];
        for (arcs, loops) in counts {
            for (slot, &graphs) in self.members.iter().enumerate() {
                let doubled = if self.directed { 2 * arcs[slot] } else { arcs[slot] + loops[slot] };
                let of_slot = (0..self.len).filter(|i| graphs >> i & 1 == 1);
                of_slot.for_each(|i| edges[i] += doubled);
            }
        }
        edges.iter_mut().for_each(|edges| *edges /= 2);
        Ok((present.into_vec(), edges))
    }

    /// In how many of the graphs an arc is, on average. Reads all slots.
    pub fn overlap(&self, run: &Run) -> f64 {
        let sizes: Vec<u64> = self.members.iter().map(|graphs| u64::from(graphs.count_ones())).collect();
        let slots = self.out.weights();
        let sum =
            || slots.par_chunks(1 << 14).map(|some| some.iter().map(|&s| sizes[usize::from(s)]).sum::<u64>());
        let total: u64 = run.install(|| sum().sum());
        total as f64 / (slots.len().max(1)) as f64
    }
}

/// The vertices that are in a graph, ascending.
pub(super) fn members_of(present: &[u64], graph: usize) -> impl Iterator<Item = VertexId> + '_ {
    (0..present.len()).map(vertex).filter(move |&v| present[v as usize] >> graph & 1 == 1)
}
