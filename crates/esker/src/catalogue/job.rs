//! One request to run an algorithm.

use std::collections::HashSet;
use std::time::Instant;

use esker_algo::check::{Rejection, WatchedRows};
use esker_graph::{AlgorithmOption, Csr, Direction, Graph, Remaining, Rows, Run, VertexId, message, vertex};
use esker_store::ids::ExternalId;
use esker_store::{Access, StoredGraph, StoredWeight, View};

use super::params::Params;
use crate::error::{Error, Result};

/// A graph, the means, and the options.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// What the run reads.
    pub view: &'a View,
    /// Threads, seed, budget, cancellation.
    pub run: &'a Run,
    /// Options by name.
    pub params: &'a Params,
    /// Whether the answer is checked by the serial verifier.
    pub verify: bool,
}

impl<'a> Job<'a> {
    /// The graph with weights of type `W`; removed vertices are not in it, or have no edges. All lists that
    /// the algorithm reads are verified here, before any clock runs.
    pub(super) fn graph<W: StoredWeight>(&self) -> Result<StoredGraph<'a, W>> {
        let graph = self.view.present_graph::<W>(self.run)?;
        for direction in [Direction::Out, Direction::In] {
            let only = self.view.reads_only().filter(|_| self.view.version().has(direction));
            let is_read = only.is_none_or(|only| only == direction);
            if graph.has(direction) && is_read {
                graph.prepare(self.run, direction)?;
            }
        }
        Ok(graph)
    }

    /// The vertices that are left, if the graph has them alone, renumbered.
    pub(super) fn remaining(&self) -> Result<Option<&'a Remaining>> {
        Ok(self.view.renumbering(self.run)?)
    }

    /// The removed vertices that are in the graph nevertheless, without edges.
    pub(super) fn kept_removed(&self) -> Result<&'a [VertexId]> {
        let keeps = self.view.keeps_removed(self.run)?;
        Ok(if keeps { self.view.removed(self.run)?.list() } else { &[] })
    }

    /// The vertices that an option names by their external ids, each once, as the algorithm's graph numbers
    /// them.
    pub(super) fn vertices(&self, option: &str) -> Result<Vec<VertexId>> {
        let remaining = self.remaining()?;
        let find = |text: &String| -> Result<VertexId> {
            let v = self.view.find_vertex(text, self.run)?;
            Ok(remaining.map_or(v, |remaining| remaining.rank(v)))
        };
        let mut seen = HashSet::new();
        let vertices = self.params.all(option).iter().map(find);
        vertices.filter(|v| v.as_ref().map_or(true, |&v| seen.insert(v))).collect()
    }

    /// The external ids of all vertices that are there, if they are integers. Memory: 8 bytes a vertex.
    pub(super) fn integer_ids(&self) -> Result<Option<Vec<u64>>> {
        let ids = self.view.version().ids();
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
            None => ids.each_external(0..ids.num_vertices(), |id| {
                push(id);
                Ok(())
            })?,
            Some(remaining) => {
                remaining.origins().iter().try_for_each(|&v| ids.external_of(v).map(&mut push))?;
            }
        }
        Ok(Some(integers))
    }

    /// The rank of each text id that is there in ascending order of bytes, and the vertex of each rank.
    /// Memory: 8 bytes and a vertex id a vertex, and 16 bytes meanwhile.
    pub(super) fn text_ranks(&self, num_vertices: usize) -> Result<(Vec<u64>, Option<Vec<VertexId>>)> {
        let remaining = self.remaining()?;
        let origin = |v: VertexId| remaining.map_or(v, |remaining| remaining.origin(v));
        let text = |v: VertexId| match self.view.version().ids().external_of(origin(v)) {
            Ok(ExternalId::Text(text)) => Ok(text),
            Ok(ExternalId::Int(_)) => Ok(&[][..]),
            Err(error) => Err(error),
        };
        // The first bytes decide most comparisons; the rest is looked up.
        let mut keys = Vec::with_capacity(num_vertices);
        for v in (0..num_vertices).map(vertex) {
            let mut start = [0; 8];
            let bytes = text(v)?;
            let length = bytes.len().min(8);
            start[..length].copy_from_slice(&bytes[..length]);
            keys.push((u64::from_be_bytes(start), v));
        }
        let rest = |v| text(v).unwrap_or_default(); // Every id was read above.
        keys.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| rest(a.1).cmp(rest(b.1))));
        // Not collected in place, which would keep the room of the keys.
        let mut by_rank = Vec::with_capacity(num_vertices);
        by_rank.extend(keys.iter().map(|&(_, v)| v));
        drop(keys);
        let mut ranks = vec![0; num_vertices];
        for (rank, &v) in by_rank.iter().enumerate() {
            ranks[v as usize] = rank as u64;
        }
        Ok((ranks, Some(by_rank)))
    }

    /// The vertex that a required option names, like [`Job::vertices`].
    pub(super) fn vertex(&self, option: &str) -> Result<VertexId> {
        let missing = || Error::usage(message![AlgorithmOption::named(option), " is missing"]);
        self.vertices(option)?.first().copied().ok_or_else(missing)
    }

    /// Whether a view is made of in-lists that only tiles have, where single lists cannot be read.
    fn scans_in_lists(&self) -> bool {
        let is_made_of_them = self.view.is_reversed() || self.view.drops_directions();
        is_made_of_them && !self.view.version().has(Direction::In) && !self.view.makes_in_lists()
    }

    /// Hands the out-lists, and the in-lists if they are kept, to a verifier, if verification is asked for,
    /// and turns what it finds into an error. A version of several layers, or with removed vertices, is
    /// copied to memory for that.
    pub(super) fn verify<W: StoredWeight>(
        &self,
        algorithm: &'static str,
        graph: &StoredGraph<'_, W>,
        check: impl for<'r> FnOnce(
            WatchedRows<'r, W>,
            Option<&'r Rows<'r, W>>,
        ) -> std::result::Result<(), Rejection>,
    ) -> Result<()> {
        if !self.verify {
            return Ok(());
        }
        let copy;
        let csr = match graph.csr(self.run)? {
            Some(csr) => csr,
            None if self.scans_in_lists() => {
                let lists = self.view.clone().resident(Access::Memory)?.making_in_lists(true);
                copy = Csr::copy_with(&lists.present_graph::<W>(self.run)?, true, self.run.cancel())?;
                copy.graph()
            }
            None => {
                copy = Csr::copy_with(graph, graph.has_lists(Direction::In), self.run.cancel())?;
                copy.graph()
            }
        };
        let Some(rows) = csr.rows(Direction::Out) else { return Ok(()) };
        check(WatchedRows::until(rows, self.run.cancel()), csr.rows(Direction::In)).map_err(|failure| {
            match failure {
                Rejection::Wrong(reason) => Error::Wrong { algorithm, reason },
                Rejection::Stopped(stop) => stop.into(),
            }
        })
    }
}

/// What `work` returns, and the seconds it took.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = Instant::now();
    let result = work();
    (result, begin.elapsed().as_secs_f64())
}
