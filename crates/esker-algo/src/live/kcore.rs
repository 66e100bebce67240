//! Coreness, kept up to date by local searches around the changed edges.
//!
//! Edges that came are taken in first, while those that went are still there. A vertex of coreness k can rise only with vertices of coreness
//! k that are joined to a changed edge through such vertices [1]. A search collects those with more than k neighbours of coreness k or more,
//! for all changed edges at once, and lets go of those that would have k or fewer among the higher and the collected ones. The rest rise by
//! one, and are searched around again until none rises. Then edges that went are taken away: a vertex with too few neighbours as high as itself
//! falls to what its neighbours support [2], and those that counted on it are looked at, until all are supported.
//!
//! The first part ends at the coreness of the union: take the least k at which some vertex of the (k+1)-core is still too low; all of that
//! core is at k or higher, so each of its vertices is collected. The second ends at the largest supported values below, which is coreness.
//!
//! Work: the lists of the collected vertices and of those that fall. A vertex of a large dense core may be joined to all of it; the bound of
//! the reader ends such a search. Memory: one id a vertex, and a few words for each vertex that is collected.
//!
//! [1] A. Sarıyüce et al., "Streaming Algorithms for k-core Decomposition", PVLDB 6(6), 2013.
//! [2] L. Lü et al., "The H-index of a network node and its relation to degree and coreness", Nature Communications 7, 2016.

use std::collections::{HashMap, HashSet};

use esker_graph::{VertexId, vertex};

#[cfg(doc)]
use super::version::Halt;
use super::version::{BoundedReader, Step, Version};

/// The coreness of the vertices of a version.
#[derive(Debug, Clone)]
pub struct LiveCores {
    cores: Vec<VertexId>,
    /// The number of vertices of each coreness.
    sizes: Vec<usize>,
}

/// The other ends of edges that went, for each of their ends.
type Extra = HashMap<VertexId, Vec<VertexId>>;

impl LiveCores {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        (n * size_of::<VertexId>()) as u64
    }

    /// The state of a version, from the coreness of each vertex.
    pub fn new(cores: Vec<VertexId>) -> Self {
        let mut sizes = vec![0; 1 + cores.iter().copied().max().unwrap_or(0) as usize];
        cores.iter().for_each(|&core| sizes[core as usize] += 1);
        Self { cores, sizes }
    }

    /// The coreness of each vertex.
    pub fn cores(&self) -> &[VertexId] {
        &self.cores
    }

    /// The largest coreness.
    pub fn largest(&self) -> usize {
        self.sizes.iter().rposition(|&size| size > 0).unwrap_or(0)
    }

    fn set(&mut self, v: VertexId, core: VertexId) {
        let before = std::mem::replace(&mut self.cores[v as usize], core);
        self.sizes[before as usize] -= 1;
        if self.sizes.len() <= core as usize {
            self.sizes.resize(core as usize + 1, 0);
        }
        self.sizes[core as usize] += 1;
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose coreness may have changed, each at least once.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] for a directed graph without in-lists.
    pub fn update<G: Version>(&mut self, reader: &mut BoundedReader<'_, G>) -> Step<Vec<VertexId>, G> {
        let changes = reader.changes();
        let (n, mut changed) = reader.new_vertices(self.cores.len());
        self.cores.resize(n, 0);
        self.sizes[0] += changed.len();
        let mut extra = Extra::new();
        for &(u, v, _) in changes.removed.iter().filter(|(u, v, _)| u != v) {
            extra.entry(u).or_default().push(v);
            extra.entry(v).or_default().push(u);
        }
        let added = changes.added.iter().filter(|(u, v, _)| u != v);
        let mut seeds: Vec<VertexId> = added.flat_map(|&(u, v, _)| [u, v]).collect();
        while !seeds.is_empty() {
            seeds = self.rise(reader, &extra, &seeds)?;
            changed.extend_from_slice(&seeds);
        }
        self.fall(reader, extra.into_keys().collect(), &mut changed)?;
        Ok(changed)
    }

    /// Raises by one what can rise around some vertices, and returns it.
    fn rise<G: Version>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
        extra: &Extra,
        seeds: &[VertexId],
    ) -> Step<Vec<VertexId>, G> {
        // Seeds of another coreness than their neighbours' matter to the lower end, which is a seed too, or has a raised neighbour.
        let mut waiting: Vec<VertexId> = seeds.to_vec();
        let mut seen: HashSet<VertexId> = waiting.iter().copied().collect();
        // Of each collected vertex: neighbours that are higher or collected, and those of its own coreness.
        let mut support: HashMap<VertexId, usize> = HashMap::new();
        let mut peers: HashMap<VertexId, Vec<VertexId>> = HashMap::new();
        while let Some(v) = waiting.pop() {
            let core = self.cores[v as usize];
            let (mut count, mut own) = (0, Vec::new());
            self.each(reader, extra, v, |u, other| {
                count += usize::from(other >= core);
                if other == core {
                    own.push(u);
                }
            })?;
            if count <= core as usize {
                continue;
            }
            own.iter().for_each(|&u| {
                if seen.insert(u) {
                    waiting.push(u);
                }
            });
            support.insert(v, count);
            peers.insert(v, own);
        }
        // What was seen and not collected supports nobody.
        let mut let_go: Vec<VertexId> = Vec::new();
        for (v, own) in &peers {
            let lost = own.iter().filter(|u| !peers.contains_key(u)).count();
            let left = support.entry(*v).or_default();
            *left -= lost;
            if *left <= self.cores[*v as usize] as usize {
                let_go.push(*v);
            }
        }
        while let Some(v) = let_go.pop() {
            let Some(own) = peers.remove(&v) else { continue };
            reader.count(own.len())?;
            for u in own.iter().filter(|u| peers.contains_key(u)) {
                if let Some(left) = support.get_mut(u) {
                    *left -= 1;
                    if *left == self.cores[*u as usize] as usize {
                        let_go.push(*u);
                    }
                }
            }
        }
        let raised: Vec<VertexId> = peers.into_keys().collect();
        raised.iter().for_each(|&v| self.set(v, self.cores[v as usize] + 1));
        // Neighbours that were higher by one have one more neighbour as high as themselves.
        let mut next = raised.clone();
        for &v in &raised {
            let core = self.cores[v as usize];
            self.each(reader, extra, v, |u, other| {
                if other == core {
                    next.push(u);
                }
            })?;
        }
        next.sort_unstable();
        next.dedup();
        Ok(next)
    }

    /// Lowers what is not supported, from some vertices on.
    fn fall<G: Version>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
        mut waiting: Vec<VertexId>,
        changed: &mut Vec<VertexId>,
    ) -> Step<(), G> {
        let mut counts = Vec::new();
        while let Some(v) = waiting.pop() {
            let core = self.cores[v as usize];
            // How many neighbours have each coreness, those above that of `v` as that.
            counts.clear();
            counts.resize(core as usize + 1, 0_usize);
            let mut neighbours = Vec::new();
            self.each(reader, &Extra::new(), v, |u, other| {
                counts[other.min(core) as usize] += 1;
                if other <= core {
                    neighbours.push(u);
                }
            })?;
            let (mut fits, mut above) = (core as usize, counts[core as usize]);
            while above < fits {
                fits -= 1;
                above += counts[fits];
            }
            let fits = vertex(fits);
            if fits == core {
                continue;
            }
            self.set(v, fits);
            changed.push(v);
            // These counted on it.
            waiting.extend(neighbours.into_iter().filter(|&u| self.cores[u as usize] > fits));
        }
        Ok(())
    }

    /// Each neighbour of `v` but itself, with its coreness.
    fn each<G: Version>(
        &self,
        reader: &mut BoundedReader<'_, G>,
        extra: &Extra,
        v: VertexId,
        mut take: impl FnMut(VertexId, VertexId),
    ) -> Step<(), G> {
        reader.each_around(v, |u, _| {
            if u != v {
                take(u, self.cores[u as usize]);
            }
        })?;
        extra.get(&v).into_iter().flatten().for_each(|&u| take(u, self.cores[u as usize]));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::Run;

    use super::super::testing::Stream;
    use super::super::version::ChangedEdges;
    use super::*;
    use crate::algorithm::kcore::kcore;

    #[test]
    fn every_version_of_a_random_stream_is_as_computed_anew() {
        let run = Run::with_threads(1).unwrap();
        let mut most = 0;
        for seed in 0..30 {
            let mut stream = Stream::new(seed, 30, seed % 2 == 0, |_| ());
            stream.grow(20 * (seed as usize % 5));
            let compute = |stream: &Stream<()>| kcore(&stream.graph().graph(), &run).unwrap();
            let mut given = compute(&stream).coreness;
            let mut live = LiveCores::new(given.clone());
            for step in 0..60 {
                let changes = stream.step(1 << (step % 6));
                let csr = stream.graph();
                let changed = live.update(&mut BoundedReader::new(&csr.graph(), &changes, u64::MAX)).unwrap();
                let expected = compute(&stream);
                assert_eq!(live.cores(), expected.coreness, "seed {seed}, step {step}");
                assert_eq!(live.largest(), expected.k_max as usize);
                given.resize(stream.num_vertices, 0);
                changed.iter().for_each(|&v| given[v as usize] = live.cores()[v as usize]);
                assert_eq!(given, expected.coreness, "seed {seed}, step {step}: what changed");
                most = most.max(live.largest());
            }
        }
        assert!(most >= 6, "{most}");
    }

    #[test]
    fn an_edge_between_leaves_of_a_hub_reads_their_lists_alone() {
        let n = 1000;
        let mut edges: Vec<(VertexId, VertexId, ())> = (1..n).map(|v| (0, v, ())).collect();
        let mut live = LiveCores::new(vec![1; n as usize]);
        edges.extend([(1, 2, ()), (2, 3, ())]);
        live.set(0, 2);
        live.set(1, 2);
        live.set(2, 2);
        let csr = esker_graph::Csr::undirected(n as usize, &edges).unwrap();
        let changes = ChangedEdges { added: vec![(2, 3, ())], ..ChangedEdges::default() };
        let graph = csr.graph();
        let changed = live.update(&mut BoundedReader::new(&graph, &changes, 1100)).unwrap();
        assert!(changed.contains(&3) && live.cores()[3] == 2 && live.cores()[4] == 1);
    }
}
