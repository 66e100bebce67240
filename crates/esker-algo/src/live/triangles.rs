//! The number of triangles, kept up to date: changed edges are intersected against the version, one after
//! another.
//!
//! Edges that went are taken in first, then edges that came. Each changes the number by the common neighbours
//! of its ends in the graph of that moment: the lists of the new version, with the changes that are still to
//! come taken back. So a triangle of several changed edges counts once. Directions, parallel edges and
//! self-loops do not matter, as in [`triangles`](fn@crate::algorithm::cohesion::triangles::triangles).
//!
//! Work: for each pair of vertices that were joined or parted, both lists; those of a batch are read once for
//! each vertex. Memory: none beside the number; during an update, the lists of the ends of changed edges.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use esker_graph::VertexId;

use super::ahead::Ahead;
#[cfg(doc)]
use super::graph::Halt;
use super::graph::{BoundedReader, LiveGraph, UpdateResult};

/// The number of triangles of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveTriangles(pub u64);

/// Two vertices, the lesser first.
type Pair = (VertexId, VertexId);

/// The distinct neighbours of vertices in the new version, ascending.
type NewNeighbours = HashMap<VertexId, Vec<VertexId>>;

impl LiveTriangles {
    /// Brings the number to the version that `reader` reads.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] for a directed graph without in-lists.
    pub fn update<G: LiveGraph>(&mut self, reader: &mut BoundedReader<'_, G>) -> UpdateResult<(), G> {
        let changes = reader.changes();
        // By how many arcs in either direction each pair grew.
        let mut growth: BTreeMap<Pair, i64> = BTreeMap::new();
        for (edges, by) in [(&changes.removed, -1), (&changes.added, 1)] {
            for &(u, v, _) in edges.iter().filter(|(u, v, _)| u != v) {
                *growth.entry((u.min(v), u.max(v))).or_default() += by;
            }
        }
        growth.retain(|_, growth| *growth != 0);
        let mut lists = NewNeighbours::new();
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for (&(u, v), &growth) in &growth {
            let copies = copies(reader, &mut lists, u, v)?;
            if copies == 0 {
                gone.push((u, v));
            } else if copies == growth {
                come.push((u, v));
            }
        }
        let going = gone.iter().map(|&pair| (pair, false));
        let mut ahead = Ahead::of(going.chain(come.iter().map(|&pair| (pair, true))));
        for (pairs, came) in [(&gone, false), (&come, true)] {
            for &(u, v) in pairs {
                ahead.pass(u, v);
                let common = common(&ahead, &lists[&u], &lists[&v], u, v);
                reader.count(lists[&u].len().min(lists[&v].len()))?;
                self.0 = if came { self.0 + common } else { self.0 - common };
            }
        }
        Ok(())
    }
}

/// The number of arcs between two vertices, of an undirected graph edges. Keeps the neighbours of both.
fn copies<G: LiveGraph>(
    reader: &mut BoundedReader<'_, G>,
    lists: &mut NewNeighbours,
    u: VertexId,
    v: VertexId,
) -> UpdateResult<i64, G> {
    for v in [u, v] {
        if let Entry::Vacant(entry) = lists.entry(v) {
            let mut list = Vec::new();
            reader.each_around(v, |w, _| {
                if w != v {
                    list.push(w);
                }
            })?;
            // The parts of a list are in order, and this sort joins them.
            list.sort();
            entry.insert(list);
        }
    }
    let list = &lists[&u];
    Ok((list.partition_point(|&w| w <= v) - list.partition_point(|&w| w < v)) as i64)
}

/// The number of common neighbours of `u` and `v` now; `ahead` says of changes that are still to come whether
/// they join or part.
fn common(ahead: &Ahead<bool>, of_u: &[VertexId], of_v: &[VertexId], u: VertexId, v: VertexId) -> u64 {
    let (short, long, u, v) = if of_u.len() <= of_v.len() { (of_u, of_v, u, v) } else { (of_v, of_u, v, u) };
    let (of_u, of_v) = (ahead.partners(u), ahead.partners(v));
    // Whether a change of theirs is still to come, and they are neighbours until then.
    let is_joined = |partners: Option<&BTreeMap<VertexId, bool>>, w: VertexId| {
        partners.and_then(|partners| partners.get(&w)).map(|comes| !comes)
    };
    let (mut count, mut at, mut last) = (0, 0, None);
    for &w in short {
        let is_new = last.replace(w) != Some(w);
        let is_listed = is_listed_from(long, &mut at, w);
        let is_common = is_new && is_joined(of_u, w) != Some(false);
        count += u64::from(is_common && is_joined(of_v, w).unwrap_or(is_listed));
    }
    // Partners of changes to come that the list no longer has.
    let going = of_u.into_iter().flatten().filter(|(_, comes)| !**comes);
    let going = going.map(|(&w, _)| w).filter(|w| short.binary_search(w).is_err());
    count
        + going.filter(|&w| is_joined(of_v, w).unwrap_or_else(|| long.binary_search(&w).is_ok())).count()
            as u64
}

/// Whether an ascending list has `w`, which is not below those that were asked for before: `at` is where they
/// were found, or would be.
fn is_listed_from(list: &[VertexId], at: &mut usize, w: VertexId) -> bool {
    let rest = &list[*at..];
    let mut end = 1;
    while end < rest.len() && rest[end] < w {
        end *= 2;
    }
    let (low, high) = (end / 2, rest.len().min(end + 1));
    *at += low + rest[low..high].partition_point(|&other| other < w);
    list.get(*at) == Some(&w)
}

#[cfg(test)]
mod tests {
    use esker_graph::Run;

    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::cohesion::triangles::{TrianglesOptions, triangles};

    #[test]
    fn every_version_of_a_random_stream_is_as_counted_anew() {
        let run = Run::with_threads(1).unwrap();
        let mut most = 0;
        for seed in 0..12 {
            let mut stream = EdgeChurn::new(seed, 25, seed % 2 == 0, |_| ());
            let count = |stream: &EdgeChurn<()>| {
                triangles(&stream.graph().graph(), &run, &TrianglesOptions::default()).unwrap().triangles
            };
            stream.grow(75);
            let mut live = LiveTriangles(count(&stream));
            for step in 0..60 {
                let changes = stream.step(1 << (step % 6));
                let csr = stream.graph();
                live.update(&mut BoundedReader::new(&csr.graph(), &changes, u64::MAX)).unwrap();
                assert_eq!(live.0, count(&stream), "seed {seed}, step {step}");
                most = most.max(live.0);
            }
        }
        assert!(most > 20, "{most}");
    }
}
