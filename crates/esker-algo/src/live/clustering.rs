//! Local clustering coefficients, kept up to date: each pair of vertices that was joined or parted changes
//! the counts of its ends and of their common neighbours.
//!
//! The numerator of a coefficient is the number of edges between the neighbours of the vertex, its
//! denominator follows from the number of neighbours; both are integers, so a coefficient equals that of
//! [`lcc`](fn@crate::algorithm::cohesion::lcc::lcc) bit for bit. As in [`super::LiveTriangles`], pairs are
//! taken in one after another, in the graph of that moment: the lists of the new version, with the changes
//! that are still to come taken back. In a directed graph a pair has one or two links, and their number
//! matters to common neighbours, too.
//!
//! Work: for each pair whose links changed, both lists, and a look into the longer for each entry of the
//! shorter; the mean is a sum over all vertices. Memory: 8 bytes and an id a vertex; during an update, the
//! lists of the ends of changed edges.

use std::collections::{BTreeMap, HashMap};

use esker_graph::{Direction, Lists, Run, VertexId, vertex};

use super::ahead::Ahead;
#[cfg(doc)]
use super::graph::Halt;
use super::graph::{BoundedReader, LiveGraph, UpdateResult};
use crate::algorithm::cohesion::lcc::{Lcc, coefficient, linked_of, numbers_of_neighbours};

/// The counts behind the coefficients of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveClustering {
    directed: bool,
    /// For each vertex, the edges between its neighbours.
    linked: Vec<u64>,
    /// The number of its neighbours.
    neighbours: Vec<VertexId>,
    triangles: u64,
}

/// Two vertices, the lesser first.
type LinkPair = (VertexId, VertexId);

/// The distinct neighbours of a vertex, ascending, each with a bit for an edge to it and one for an edge from
/// it.
type Links = Vec<(VertexId, u8)>;

const TO: u8 = 1;
const FROM: u8 = 2;

impl LiveClustering {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        (n * (size_of::<u64>() + size_of::<VertexId>())) as u64
    }

    /// The state of a version, from its coefficients. Reads all lists.
    ///
    /// # Errors
    /// The first list that cannot be read; cancellation.
    pub fn new<G: Lists>(graph: &G, run: &Run, found: &Lcc) -> Result<Self, G::Error> {
        let (directed, neighbours) = (graph.is_directed(), numbers_of_neighbours(graph, run)?);
        let coefficients = found.coefficients.iter().zip(&neighbours);
        let linked = coefficients.map(|(&one, &neighbours)| linked_of(one, neighbours, directed)).collect();
        Ok(Self { directed, linked, neighbours, triangles: found.triangles })
    }

    /// The state of a graph with `n` vertices from what [`LiveClustering::counts`] gives; `None` if that does
    /// not fit.
    pub fn of_counts(
        directed: bool,
        n: usize,
        linked: Vec<u64>,
        neighbours: Vec<VertexId>,
        triangles: u64,
    ) -> Option<Self> {
        let fits = linked.len() == n && neighbours.len() == n;
        fits.then_some(Self { directed, linked, neighbours, triangles })
    }

    /// For each vertex the edges between its neighbours, and their number; the number of triangles.
    pub fn counts(&self) -> (&[u64], &[VertexId], u64) {
        (&self.linked, &self.neighbours, self.triangles)
    }

    /// Whether edges have directions.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.linked.len()
    }

    /// Number of triangles of the undirected simple graph.
    pub fn triangles(&self) -> u64 {
        self.triangles
    }

    /// The coefficient of a vertex.
    pub fn coefficient(&self, v: VertexId) -> f64 {
        let v = v as usize;
        coefficient(self.linked[v], self.neighbours[v] as usize, self.directed)
    }

    /// The mean coefficient of all vertices but `removed` ones, which have none.
    pub fn average(&self, removed: usize) -> f64 {
        let n = self.linked.len();
        let sum: f64 = (0..n).map(|v| self.coefficient(vertex(v))).fold(0.0, |sum, one| sum + one);
        sum / (n - removed).max(1) as f64
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose coefficients may have
    /// changed.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] for a directed graph without in-lists.
    pub fn update<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        let (n, mut touched) = reader.new_vertices(self.linked.len());
        self.linked.resize(n, 0);
        self.neighbours.resize(n, 0);
        let (pairs, lists) = changed_links(reader)?;
        // The links that two vertices have until their change comes.
        let mut ahead = Ahead::of(pairs.iter().map(|(&pair, &(before, _))| (pair, before)));
        for (&(u, v), &(before, after)) in &pairs {
            ahead.pass(u, v);
            let (mut of_u, mut of_v, mut common) = (0, 0, 0);
            let few = each_common(&ahead, &lists, u, v, |w, links_u, links_v| {
                // Both ends are neighbours of `w`.
                self.linked[w as usize] += after;
                self.linked[w as usize] -= before;
                of_u += links_v;
                of_v += links_u;
                common += 1;
                touched.push(w);
            });
            reader.count(few)?;
            touched.extend([u, v]);
            let ends = [(u, of_u), (v, of_v)].map(|(end, linked)| (end as usize, linked));
            match (before, after) {
                (0, _) => {
                    ends.iter().for_each(|&(end, linked)| self.linked[end] += linked);
                    ends.iter().for_each(|&(end, _)| self.neighbours[end] += 1);
                    self.triangles += common;
                }
                (_, 0) => {
                    ends.iter().for_each(|&(end, linked)| self.linked[end] -= linked);
                    ends.iter().for_each(|&(end, _)| self.neighbours[end] -= 1);
                    self.triangles -= common;
                }
                _ => {}
            }
        }
        touched.sort_unstable();
        touched.dedup();
        Ok(touched)
    }
}

/// The pairs whose links changed, with the numbers of links before and after; and the lists of all ends of
/// changed edges.
#[allow(clippy::type_complexity)]
fn changed_links<G: LiveGraph>(
    reader: &mut BoundedReader<'_, G>,
) -> UpdateResult<(BTreeMap<LinkPair, (u64, u64)>, HashMap<VertexId, Links>), G> {
    let (changes, directed) = (reader.changes(), reader.graph().is_directed());
    // By how many copies each edge grew, from the lesser end if it has no direction.
    let mut growth: BTreeMap<LinkPair, i64> = BTreeMap::new();
    for (edges, by) in [(&changes.removed, -1), (&changes.added, 1)] {
        for &(u, v, _) in edges.iter().filter(|(u, v, _)| u != v) {
            let edge = if directed { (u, v) } else { (u.min(v), u.max(v)) };
            *growth.entry(edge).or_default() += by;
        }
    }
    growth.retain(|_, growth| *growth != 0);
    let mut lists: HashMap<VertexId, Links> = HashMap::new();
    // The edges that were there before and are gone, or are there now and were not.
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let mut ends: Vec<VertexId> = growth.keys().flat_map(|&(u, v)| [u, v]).collect();
    ends.sort_unstable();
    ends.dedup();
    for u in ends {
        let mut list = Links::new();
        reader.each(Direction::Out, u, |w, _| list.push((w, TO)))?;
        if directed {
            reader.each(Direction::In, u, |w, _| list.push((w, FROM)))?;
        }
        list.retain(|&(w, _)| w != u);
        // Two ascending runs, which the stable sort merges.
        list.sort();
        for (&edge, &growth) in growth.range((u, 0)..=(u, VertexId::MAX)) {
            let found = (edge.1, TO);
            let first = list.partition_point(|&entry| entry < found);
            let copies = list[first..].iter().take_while(|&&entry| entry == found).count() as i64;
            if copies == 0 {
                gone.push(edge);
            } else if copies == growth {
                come.push(edge);
            }
        }
        list.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.1 |= if is_same { later.1 } else { 0 };
            is_same
        });
        lists.insert(u, list);
    }
    let mut pairs: BTreeMap<LinkPair, (u64, u64)> = BTreeMap::new();
    for (edges, was) in [(&gone, true), (&come, false)] {
        for &(u, v) in edges {
            let pair = (u.min(v), u.max(v));
            let links = links_in(&lists[&pair.0], pair.1);
            let (before, _) = pairs.entry(pair).or_insert((links, links));
            *before = if was { *before + 1 } else { *before - 1 };
        }
    }
    pairs.retain(|_, (before, after)| before != after);
    Ok((pairs, lists))
}

/// The number of links with `w`: 0, 1, or 2 if there are edges in both directions.
fn links_in(list: &Links, w: VertexId) -> u64 {
    let found = list.binary_search_by_key(&w, |entry| entry.0);
    found.map_or(0, |at| u64::from(list[at].1.count_ones()))
}

/// Calls `take` with each common neighbour of `u` and `v` now, and its links with both. Returns the number of
/// vertices that were looked at.
fn each_common(
    ahead: &Ahead<u64>,
    lists: &HashMap<VertexId, Links>,
    u: VertexId,
    v: VertexId,
    mut take: impl FnMut(VertexId, u64, u64),
) -> usize {
    let is_first = lists[&u].len() <= lists[&v].len();
    let (short, long) = if is_first { (u, v) } else { (v, u) };
    let (of_short, of_long) = (ahead.partners(short), ahead.partners(long));
    let (short, long) = (&lists[&short], &lists[&long]);
    let until = |partners: Option<&BTreeMap<VertexId, u64>>, w: VertexId| {
        partners.and_then(|partners| partners.get(&w)).copied()
    };
    let mut found = |w: VertexId, links: u64| {
        let others = until(of_long, w).unwrap_or_else(|| links_in(long, w));
        if links > 0 && others > 0 {
            let (links_u, links_v) = if is_first { (links, others) } else { (others, links) };
            take(w, links_u, links_v);
        }
    };
    for &(w, bits) in short {
        found(w, until(of_short, w).unwrap_or_else(|| u64::from(bits.count_ones())));
    }
    // Partners of changes to come that the list no longer has.
    let going = of_short.into_iter().flatten().filter(|(w, _)| links_in(short, **w) == 0);
    let mut looked = short.len();
    for (&w, &links) in going {
        looked += 1;
        found(w, links);
    }
    looked
}

#[cfg(test)]
mod tests {
    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::cohesion::lcc::{LccOptions, lcc};

    #[test]
    fn every_version_of_a_random_stream_is_as_counted_anew() {
        let run = Run::with_threads(1).unwrap();
        let mut most = 0;
        for seed in 0..16 {
            let mut stream = EdgeChurn::new(seed, 25, seed % 2 == 0, |_| ());
            stream.grow(75);
            let csr = stream.graph();
            let found = lcc(&csr.graph(), &run, &LccOptions::default()).unwrap();
            let mut live = LiveClustering::new(&csr.graph(), &run, &found).unwrap();
            let mut given = found.coefficients;
            for step in 0..60 {
                let changes = stream.step(1 << (step % 6));
                let csr = stream.graph();
                let changed = live.update(&mut BoundedReader::new(&csr.graph(), &changes, u64::MAX)).unwrap();
                let expected = lcc(&csr.graph(), &run, &LccOptions::default()).unwrap();
                given.resize(stream.num_vertices, f64::NAN);
                changed.iter().for_each(|&v| given[v as usize] = live.coefficient(v));
                assert_eq!(given, expected.coefficients, "seed {seed}, step {step}");
                assert_eq!(live.triangles(), expected.triangles, "seed {seed}, step {step}");
                assert_eq!(live.average(0), expected.average, "seed {seed}, step {step}");
                assert_eq!(live, LiveClustering::new(&csr.graph(), &run, &expected).unwrap());
                most = most.max(live.triangles());
            }
        }
        assert!(most > 20, "{most}");
    }
}
