//! How much an algorithm does, for the prediction of its time.

use esker_algo::Shape;

use super::params::Params;
use crate::error::Result;

/// Growth is counted from a graph of this number of vertices.
const GROWTH_VERTICES: f64 = (1_u64 << 18) as f64;
/// From there on random reads miss all caches.
const GROWTH_ENDS_AT: f64 = (1_u64 << 21) as f64;
/// The growth of most algorithms, on even and on skewed graphs.
const GROWTH: (f64, f64) = (0.5, 0.2);
/// The arcs that take as long as a vertex.
const VERTEX_ARCS: f64 = 4.0;

/// What an algorithm does in a whole run. The times were measured over plain lists in memory, with two
/// threads, on the machine that docs/performance.md names (see `docs/decisions/predicted-times.md`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload {
    /// How often it reads all lists of the directions that its entry names, each arc counted: 2.5 means five
    /// halves of them. On a graph with hubs, which searches reach after few arcs.
    pub scans: f64,
    /// How often it reads the tails of lists whose heads are in memory, with heads of half of all arcs, on a
    /// graph with hubs.
    pub tails: f64,
    /// Scans, and tails, on a graph whose degrees are nearly equal.
    pub even_scans: f64,
    /// See [`Workload::even_scans`].
    pub even_tails: f64,
    /// What it takes longer over tiles than over plain lists, in scans: of few vertices, whole tiles are
    /// decoded.
    pub tiles: f64,
    /// What it takes longer over several layers than over one, in scans: single lists are found along their
    /// chains.
    pub layers: f64,
    /// What reading single lists from a pool costs, on a graph whose degrees are nearly equal. It is the
    /// nanoseconds of a thread for each arc of the graph, more than the same run takes with mapped lists, if
    /// the pool holds half of all lists. 0: the algorithm reads by scans.
    pub even_point_ns: f64,
    /// The same, on a graph with hubs: their lists, which are in the pool, are read most.
    pub skewed_point_ns: f64,
    /// Nanoseconds for each arc of these directions, in all rounds together, on a graph of 2^18 vertices
    /// whose degrees are nearly equal. A vertex counts as 4 arcs.
    pub even_ns: f64,
    /// The same, on a graph with hubs: searches end sooner, and what depends on the longest lists takes
    /// longer.
    pub skewed_ns: f64,
    /// By which power of the number of vertices the times grow beyond linearly on an even graph, up to 2^21
    /// vertices: random reads miss more caches.
    pub even_growth: f64,
    /// The same, on a graph with hubs: most reads are of hubs, but the longest lists become longer.
    pub skewed_growth: f64,
}

impl Workload {
    /// So many scans, and nanoseconds an arc: on an even graph, on a skewed one.
    pub(super) const fn new(scans: f64, even_ns: f64, skewed_ns: f64) -> Self {
        let (tails, tiles, layers, (even_growth, skewed_growth)) = (scans, scans, scans, GROWTH);
        let (even_scans, even_tails) = (scans, scans);
        Self {
            scans,
            tails,
            even_scans,
            even_tails,
            tiles,
            layers,
            even_point_ns: 0.0,
            skewed_point_ns: 0.0,
            even_ns,
            skewed_ns,
            even_growth,
            skewed_growth,
        }
    }

    /// The same, with other numbers of scans and of tails on a graph whose degrees are nearly equal.
    pub(super) const fn evenly(self, even_scans: f64, even_tails: f64) -> Self {
        Self { even_scans, even_tails, ..self }
    }

    /// And other numbers of tails than of scans, and of what it takes longer over tiles and over layers.
    pub(super) const fn over(self, tails: f64, tiles: f64, layers: f64) -> Self {
        Self { tails, even_tails: tails, tiles, layers, ..self }
    }

    /// The same for an algorithm that reads single lists: see [`Workload::even_point_ns`] and
    /// [`Workload::skewed_point_ns`].
    pub(super) const fn points(self, even_point_ns: f64, skewed_point_ns: f64) -> Self {
        Self { even_point_ns, skewed_point_ns, ..self }
    }

    /// And growth beyond linear, on even and on skewed graphs.
    pub(super) const fn growing(self, even_growth: f64, skewed_growth: f64) -> Self {
        Self { even_growth, skewed_growth, ..self }
    }

    /// The same again and again, as for rounds or sources.
    pub(super) fn times(self, count: f64) -> Self {
        let [scans, tails, tiles, layers] =
            [self.scans, self.tails, self.tiles, self.layers].map(|one| one * count);
        let [even_scans, even_tails, even_ns, skewed_ns] =
            [self.even_scans, self.even_tails, self.even_ns, self.skewed_ns].map(|one| one * count);
        let [even_point_ns, skewed_point_ns] =
            [self.even_point_ns, self.skewed_point_ns].map(|one| one * count);
        let times = Self { scans, tails, even_scans, even_tails, tiles, layers, even_ns, skewed_ns, ..self };
        Self { even_point_ns, skewed_point_ns, ..times }
    }

    /// How often it reads all lists of a graph of this skew, which [`Workload::nanoseconds`] explains.
    pub fn scans_on(&self, skew: f64) -> f64 {
        between(self.even_scans, self.scans, skew)
    }

    /// How often it reads all tails of a graph of this skew.
    pub fn tails_on(&self, skew: f64) -> f64 {
        between(self.even_tails, self.tails, skew)
    }

    /// Whether it reads single lists at random from a pool, and not by scans.
    pub fn reads_points(&self) -> bool {
        self.even_point_ns > 0.0
    }

    /// Nanoseconds an arc of point reads on a graph of this skew.
    pub fn point_ns_on(&self, skew: f64) -> f64 {
        between(self.even_point_ns, self.skewed_point_ns, skew)
    }

    /// Nanoseconds on a graph with these numbers of vertices and arcs. `skew` is 0 where degrees are nearly
    /// equal, 1 where most arcs are those of hubs.
    pub fn nanoseconds(&self, num_vertices: u64, num_arcs: u64, skew: f64) -> f64 {
        // A run of no rounds: both figures are 0, and their ratio is no number.
        if self.even_ns == 0.0 {
            return 0.0;
        }
        let skew = skew.clamp(0.0, 1.0);
        let arc_ns = between(self.even_ns, self.skewed_ns, skew);
        let growth = self.even_growth + (self.skewed_growth - self.even_growth) * skew;
        let vertices = (num_vertices.max(1) as f64).min(GROWTH_ENDS_AT);
        let linear = arc_ns * (num_arcs as f64 + VERTEX_ARCS * num_vertices as f64);
        linear * (vertices / GROWTH_VERTICES).powf(growth)
    }
}

/// From `even` at a skew of 0 to `skewed` at 1: by equal factors, or where one of them is 0, by equal steps.
fn between(even: f64, skewed: f64, skew: f64) -> f64 {
    let skew = skew.clamp(0.0, 1.0);
    match even > 0.0 && skewed > 0.0 {
        true => even * (skewed / even).powf(skew),
        false => even + (skewed - even) * skew,
    }
}

/// What paths by weight take of both directions of a graph: where these differ, they read little but
/// out-lists.
pub(super) fn one_way(shape: &Shape) -> f64 {
    if shape.directed { 0.5 } else { 1.0 }
}

/// The sources of an algorithm with `--source` and `--samples`, which has as many as there are vertices
/// without either.
pub(super) fn num_sources(params: &Params, shape: &Shape) -> Result<f64> {
    let named = params.all("source").len() as u64;
    let all = if named > 0 { named } else { shape.num_vertices };
    Ok(params.get_or("samples", all)?.min(shape.num_vertices.max(1)) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{CATALOGUE, find};

    #[test]
    fn work_grows_with_the_graph_and_with_what_is_repeated() {
        let work = Workload::new(2.0, 2.0, 8.0).growing(0.5, 0.0);
        let (n, m) = (1 << 18, 1 << 22);
        let once = work.nanoseconds(n, m, 0.0);
        assert_eq!(once, 2.0 * (m + 4 * n) as f64);
        assert_eq!(work.nanoseconds(n, m, 0.5), 2.0 * once);
        assert_eq!(work.nanoseconds(n, m, 1.0), 4.0 * once);
        assert_eq!(work.times(5.0).nanoseconds(n, m, 0.0), 5.0 * once);
        assert_eq!(work.times(5.0).scans, 10.0);
        let searched = work.over(0.0, 1.0, 1.0).evenly(8.0, 4.0).times(2.0);
        assert_eq!([0.0, 0.5, 1.0].map(|skew| searched.scans_on(skew)), [16.0, 8.0, 4.0]);
        assert_eq!([0.0, 0.5, 1.0].map(|skew| searched.tails_on(skew)), [8.0, 4.0, 0.0]);
        assert_eq!(work.times(0.0).nanoseconds(n, m, 0.5), 0.0);
        // Four times the vertices and arcs: four times, and twice for the growth.
        assert_eq!(work.nanoseconds(4 * n, 4 * m, 0.0), 8.0 * once);
        assert_eq!(work.nanoseconds(4 * n, 4 * m, 1.0), 16.0 * once);
    }

    #[test]
    fn every_algorithm_has_work_that_follows_its_options() {
        let shape = Shape {
            num_vertices: 1 << 18,
            num_arcs: 1 << 22,
            directed: false,
            in_edges: true,
            weight_bytes: 0,
            scattered: false,
        };
        let seconds = |name: &str, params: &Params| {
            find(name).unwrap().work(&shape, params).unwrap().nanoseconds(1 << 18, 1 << 22, 0.5) * 1e-9
        };
        for entry in CATALOGUE {
            let (work, once) =
                (entry.work(&shape, &Params::default()).unwrap(), seconds(entry.name, &Params::default()));
            assert!(work.scans > 0.0 && once > 1e-4, "{}: {work:?}", entry.name);
        }
        let with = |name, option, value: &str| seconds(name, &Params::default().with(option, value));
        let rounds =
            |count| seconds("pagerank", &Params::default().with("rounds", count).with("tolerance", "0"));
        assert!((rounds("40") / rounds("10") - 4.0).abs() < 1e-9);
        assert!(with("pagerank", "rounds", "3") < seconds("pagerank", &Params::default()));
        assert!(with("pagerank", "tolerance", "1e-12") > 1.9 * with("pagerank", "tolerance", "1e-6"));
        assert!((with("cdlp", "iterations", "20") / with("cdlp", "iterations", "5") - 4.0).abs() < 1e-9);
        assert!((with("closeness", "samples", "64") / with("closeness", "samples", "16") - 4.0).abs() < 1e-9);
        assert!(seconds("closeness", &Params::default()) > 1e3 * with("closeness", "samples", "16"));
    }
}
