//! One request to run an algorithm.

use std::time::Instant;

use esker_algo::check::Wrong;
use esker_graph::{Csr, CsrGraph, Direction, Erased, Graph, Induced, Lists, Remaining, Rows, Run, VertexId};
use esker_store::headed::HeadedGraph;
use esker_store::ids::ExternalId;
use esker_store::pooled::PooledGraph;
use esker_store::{HeadedOptions, Residency, Snapshot, StoredGraph, StoredWeight};

use super::params::Params;
use crate::answer::Answer;
use crate::error::{Error, Result};

/// A graph, the means, and the options.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The version of the graph.
    pub snapshot: &'a Snapshot,
    /// Threads, seed, budget, cancellation.
    pub run: &'a Run,
    /// Options by name.
    pub params: &'a Params,
    /// Whether the answer is checked by the serial verifier.
    pub verify: bool,
}

impl<'a> Job<'a> {
    /// The graph with weights of type `W`. All of its lists are verified here, before any clock runs.
    pub(super) fn graph<W: StoredWeight>(&self) -> Result<StoredGraph<'a, W>> {
        let graph = self.snapshot.graph::<W>(self.run)?;
        for direction in [Direction::Out, Direction::In] {
            if graph.has(direction) {
                graph.prepare(self.run, direction)?;
            }
        }
        Ok(graph)
    }

    /// The graph with heads of its lists in memory.
    fn headed<W: StoredWeight>(&self, options: HeadedOptions) -> Result<HeadedGraph<'a, W>> {
        Ok(HeadedGraph::of(self.snapshot, options, self.run)?)
    }

    /// The graph with heads of its lists in memory, if it is to be read so and no vertex is removed.
    pub(super) fn headed_alone<W: StoredWeight>(&self) -> Result<Option<HeadedGraph<'a, W>>> {
        match (self.snapshot.residency(), self.remaining()?) {
            (Residency::Headed(options), None) => self.headed(options).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether the graph is of a kind that has its type forgotten.
    pub(super) fn is_rare(&self) -> Result<bool> {
        let residency = self.snapshot.residency();
        Ok(matches!(residency, Residency::Headed(_) | Residency::PooledLists(_))
            || self.remaining()?.is_some())
    }

    /// What `work` answers on a graph of such a kind.
    pub(super) fn on_rare<W: StoredWeight>(
        &self,
        work: impl FnOnce(&Erased<'_, W, esker_store::Error>) -> Result<Answer>,
    ) -> Result<Answer> {
        match self.snapshot.residency() {
            Residency::Headed(options) => self.on_left(self.headed::<W>(options)?, work),
            Residency::PooledLists(options) => {
                self.on_left(PooledGraph::<W>::of(self.snapshot, &options, self.run)?, work)
            }
            _ => self.on_left(self.graph::<W>()?, work),
        }
    }

    /// What `work` answers on what is left of a graph, its type forgotten.
    fn on_left<G: Lists<Error = esker_store::Error>>(
        &self,
        graph: G,
        work: impl FnOnce(&Erased<'_, G::Weight, esker_store::Error>) -> Result<Answer>,
    ) -> Result<Answer> {
        match self.remaining()? {
            None => work(&Erased::new(graph)),
            Some(remaining) => {
                work(&Erased::new(Induced::new(&graph, remaining))).map(|answer| answer.put_back(remaining))
            }
        }
    }

    /// The vertices that are left, if some are removed.
    pub(super) fn remaining(&self) -> Result<Option<&'a Remaining>> {
        Ok(self.snapshot.remaining(self.run)?)
    }

    /// The vertices that an option names by their external ids, as the algorithm's graph numbers them.
    pub(super) fn vertices(&self, option: &str) -> Result<Vec<VertexId>> {
        let remaining = self.remaining()?;
        let find = |text: &String| -> Result<VertexId> {
            let v = self.snapshot.find_vertex(text, self.run)?;
            Ok(remaining.map_or(v, |remaining| remaining.rank(v)))
        };
        self.params.all(option).iter().map(find).collect()
    }

    /// The external ids of all vertices that are there, if they are integers. Memory: 8 bytes a vertex.
    pub(super) fn integer_ids(&self) -> Result<Option<Vec<u64>>> {
        let ids = self.snapshot.ids();
        if ids.is_text() {
            return Ok(None);
        }
        let mut integers = Vec::new();
        let mut push = |id| {
            if let ExternalId::Int(id) = id {
                integers.push(id);
            }
        };
        match self.remaining()? {
            None => ids.externals(0..ids.num_vertices()).try_for_each(|id| id.map(&mut push))?,
            Some(remaining) => {
                remaining.origins().iter().try_for_each(|&v| ids.external_of(v).map(&mut push))?;
            }
        }
        Ok(Some(integers))
    }

    /// As [`Job::vertices`], of which there must be at least one.
    pub(super) fn some_vertices(&self, algorithm: &str, option: &str) -> Result<Vec<VertexId>> {
        let vertices = self.vertices(option)?;
        if vertices.is_empty() {
            return Err(Error::Usage(format!("{algorithm} needs --{option} ID, the id of a vertex")));
        }
        Ok(vertices)
    }

    /// Hands the out-lists, and the in-lists if they are kept, to a verifier, if verification is asked for, and turns what
    /// it finds into an error. A version of several layers, or with removed vertices, is copied to memory for that.
    pub(super) fn verify<G: JobGraph>(
        &self,
        algorithm: &'static str,
        graph: &G,
        check: impl for<'r> FnOnce(
            &Rows<'r, G::Weight>,
            Option<&Rows<'r, G::Weight>>,
        ) -> std::result::Result<(), Wrong>,
    ) -> Result<()> {
        if !self.verify {
            return Ok(());
        }
        let copy;
        let csr = match graph.plain(self.run)? {
            Some(csr) => csr,
            None => {
                copy = Csr::copy_of(graph)?;
                copy.graph()
            }
        };
        let Some(rows) = csr.rows(Direction::Out) else { return Ok(()) };
        check(rows, csr.rows(Direction::In))
            .map_err(|wrong| Error::Wrong { algorithm, reason: wrong.to_string() })
    }
}

/// A graph that entries of the catalogue run on.
pub(super) trait JobGraph: Lists<Error = esker_store::Error> {
    /// The same graph over plain slices, if its lists lie in one piece each.
    fn plain(&self, run: &Run) -> Result<Option<CsrGraph<'_, Self::Weight>>>;
}

impl<W: StoredWeight> JobGraph for StoredGraph<'_, W> {
    fn plain(&self, run: &Run) -> Result<Option<CsrGraph<'_, W>>> {
        Ok(self.csr(run)?)
    }
}

impl<W: StoredWeight> JobGraph for HeadedGraph<'_, W> {
    fn plain(&self, _: &Run) -> Result<Option<CsrGraph<'_, W>>> {
        Ok(None)
    }
}

impl<W: StoredWeight> JobGraph for Erased<'_, W, esker_store::Error> {
    fn plain(&self, _: &Run) -> Result<Option<CsrGraph<'_, W>>> {
        Ok(None)
    }
}

/// The answer that an expression computes on the graph of a job with weights of the given type. The expression is compiled
/// twice: for a snapshot as it is, and for what is rare or waits for the disk anyway: one with removed vertices, of which an algorithm sees and
/// answers nothing, or with parts of lists in memory. The type of the graph is forgotten there: no algorithm needs the scans of
/// every encoding a second time.
macro_rules! on_graph {
    ($job:expr, $weight:ty, $graph:ident => $answer:expr) => {
        if $job.is_rare()? {
            $job.on_rare::<$weight>(|$graph| $answer)
        } else {
            let $graph = &$job.graph::<$weight>()?;
            $answer
        }
    };
}
pub(super) use on_graph;

/// What `work` returns, and the seconds it took.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = Instant::now();
    let result = work();
    (result, begin.elapsed().as_secs_f64())
}
