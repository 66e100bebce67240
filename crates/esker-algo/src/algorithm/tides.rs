//! A round of PageRank over a graph whose lists come in parts all over a scan, as tiles: no vertex has its sum before the end, so scores are
//! set afterwards, and what a vertex gives can take the place of what it gave. A score is what its vertex gives, times its degree, so none
//! are kept.
//!
//! All sums are fixed-point, in multiples of 2^-62, which is what scores are off by for each edge. Memory: 16 bytes a vertex (share, sum), and
//! one MiB a thread, where many add to few vertices.

use std::ops::Range;

use esker_graph::{
    Direction, Flow, Graph, Patch, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use super::surfer::{GRAIN, Rule, Surfing, Totals};
use crate::primitive::{Flows, SharedFlows, from_fixed, to_fixed};

pub(super) struct Tides<'a, G> {
    graph: &'a G,
    rule: Rule<'a>,
    flows: Flows,
}

impl<'a, G: Graph> Tides<'a, G> {
    pub(super) fn new(graph: &'a G, run: &Run, rule: Rule<'a>) -> Self {
        Self { graph, rule, flows: Flows::new(run, graph.num_vertices()) }
    }

    /// Does something for each vertex.
    fn each(&self, run: &Run, f: impl Fn(&mut Totals, VertexId) + Sync) -> Result<Totals, Stop> {
        let totals = run.share_ranges::<_, Stop>(
            self.graph.num_vertices(),
            GRAIN,
            Totals::default,
            |totals, range| {
                range.map(vertex).for_each(|v| f(totals, v));
                Ok(())
            },
        )?;
        Ok(totals.into_iter().fold(Totals::default(), Totals::join))
    }

    /// Sets the score of `v`, and so what it gives to each neighbour in the next round.
    #[inline(always)]
    fn set(&self, totals: &mut Totals, v: VertexId, score: f64) {
        let shares = shares(self.graph, v);
        let share = to_fixed(score / shares as f64);
        totals.change += share.abs_diff(self.flows.given(v)) * shares;
        if self.graph.degree(Direction::Out, v) == 0 {
            totals.dangling += share;
        }
        self.flows.give(v, share);
    }
}

/// Into how many shares the score of `v` is divided. Without neighbours, it keeps all of it, which nobody asks for.
#[inline(always)]
fn shares(graph: &impl Graph, v: VertexId) -> u64 {
    graph.degree(Direction::Out, v).max(1) as u64
}

impl<G: Graph> Surfing for Tides<'_, G> {
    type Error = G::Error;

    fn start(&self, run: &Run) -> Result<Totals, Stop> {
        self.each(run, |totals, v| self.set(totals, v, self.rule.teleport.at(v as usize)))
    }

    fn round(&mut self, run: &Run, dangling: f64) -> Result<Totals, G::Error> {
        self.rule.dangling = dangling;
        if self.graph.has(Direction::In) {
            self.graph.scan(run, Direction::In, Select::All, &Flood(&self.flows))?;
        } else {
            self.graph.scan(run, Direction::Out, Select::All, &Ebb(&self.flows))?;
        }
        let totals = self.each(run, |totals, v| {
            self.set(totals, v, self.rule.score(v, from_fixed(self.flows.take(v))));
        })?;
        Ok(totals)
    }

    fn into_scores(self) -> Vec<f64> {
        let Self { graph, flows, .. } = self;
        flows.into_given(|v, share| share * shares(graph, v) as f64)
    }
}

/// Pulls along in-edges.
struct Flood<'a>(&'a Flows);

impl<W: Weight> Visitor<W> for Flood<'_> {
    type State = SharedFlows;

    const STOPS: bool = false;

    fn new_state(&self) -> SharedFlows {
        SharedFlows::default()
    }

    fn visit(&self, _: &mut SharedFlows, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let sum = piece.targets.iter().map(|&u| self.0.given(u)).sum();
        self.0.add(v, sum, piece.exclusive);
        Flow::More
    }

    fn visit_patch(&self, worker: &mut SharedFlows, patch: &Patch<'_, W>) {
        worker.along(self.0, patch);
    }

    fn enter_shared(&self, worker: &mut SharedFlows, vertices: Range<usize>) {
        worker.enter(self.0, vertices);
    }

    fn leave_shared(&self, worker: &mut SharedFlows) {
        worker.leave(self.0);
    }
}

/// Pushes along out-edges, if in-edges are not kept.
struct Ebb<'a>(&'a Flows);

impl<W: Weight> Visitor<W> for Ebb<'_> {
    type State = ();

    const STOPS: bool = false;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), u: VertexId, piece: Piece<'_, W>) -> Flow {
        let given = self.0.given(u);
        piece.targets.iter().for_each(|&v| self.0.add(v, given, false));
        Flow::More
    }
}
