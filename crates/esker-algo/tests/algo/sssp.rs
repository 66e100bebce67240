//! Shortest paths on random graphs of many kinds.

use esker_algo::algorithm::paths::sssp::{Sssp, SsspOptions, sssp};
use esker_algo::check;
use esker_algo::lengths::Length;
use esker_graph::{Csr, Direction, Graph, Run, Select, Stop, VertexId, Visitor, vertex};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Graph<Error = Stop>>(
    graph: &G,
    csr: &Csr<G::Weight>,
    run: &Run,
    source: VertexId,
    delta: Option<f64>,
) -> Sssp<G::Weight>
where
    G::Weight: Length,
{
    let found = sssp(graph, run, source, &SsspOptions { delta, parents: true, ..SsspOptions::default() })
        .expect("distances");
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::sssp(out, source, &found.distances, found.parents.as_deref()).expect("a right answer");
    found
}

fn right<W: Length>(sample: &common::Sample, pick: u32, weight: impl Fn(u32) -> W) {
    let csr = sample.csr(weight);
    let graph = csr.graph();
    let source = (pick as usize % sample.num_vertices) as VertexId;
    let mut answers = Vec::new();
    for run in common::runs(false) {
        for delta in [None, Some(1.0), Some(0.3), Some(1e3)] {
            answers.push(checked(&graph, &csr, &run, source, delta));
        }
        each_form!(csr, sample.seed, |form| answers.push(checked(form, &csr, &run, source, None)));
        answers.push(checked(&common::without_in_edges(&graph), &csr, &run, source, None));
    }
    let first = &answers[0];
    assert!(answers.iter().all(|found| found.distances == first.distances && found.parents == first.parents));
}

proptest! {
    #![proptest_config(common::cases(60))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), pick in any::<u32>()) {
        right(&sample, pick, |w| w as i32);
        right(&sample, pick, |w| i64::from(w) << 50);
        right(&sample, pick, |w| w as f32 / 7.0);
        right(&sample, pick, |w| if w % 10 == 0 { f64::INFINITY } else { f64::from(w * w).sqrt() });
        right(&sample, pick, |_| ());
        right(&sample, pick, |w| if w < 90 { i32::MAX } else { 1 });
        right(&sample, pick, |_| 0.0f64);
        // Sums of which the shorter part is lost in rounding, whatever the width of a bucket.
        right(&sample, pick, |w| [1e-300, 1.5, 1e20, 1e303][w as usize % 4] * f64::from(w % 7 + 1));
        right(&sample, pick, |w| if w % 3 == 0 { 1e38 } else { w as f32 });
    }
}

/// The answer up to the distance of a target is that of the whole search, where everything farther counts as
/// unreached.
fn right_up_to_target<W: Length>(
    sample: &common::Sample,
    source: u32,
    target: u32,
    weight: impl Fn(u32) -> W,
) {
    let csr = sample.csr(weight);
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let pick = |pick| (pick as usize % sample.num_vertices) as VertexId;
    let (source, target) = (pick(source), pick(target));
    let run = common::run(2, false);
    let whole = checked(&view, &csr, &run, source, None).distances;
    let farthest = whole[target as usize];
    let expected: Vec<_> = whole.iter().map(|&d| if d <= farthest { d } else { W::UNREACHED }).collect();
    for run in common::runs(false) {
        for delta in [None, Some(0.3), Some(1e3)] {
            let options = SsspOptions { delta, parents: true, target: Some(target) };
            let found = sssp(&view, &run, source, &options).expect("distances");
            assert_eq!(found.distances, expected);
            check::sssp_to(out, source, Some(target), &found.distances, found.parents.as_deref())
                .expect("a right answer");
        }
    }
}

proptest! {
    #![proptest_config(common::cases(40))]
    #[test]
    fn right_up_to_a_target(sample in common::samples(), source in any::<u32>(), target in any::<u32>()) {
        right_up_to_target(&sample, source, target, |w| w as i32);
        right_up_to_target(&sample, source, target, |w| w as f32 / 7.0);
        right_up_to_target(&sample, source, target, |w| if w % 10 == 0 { f64::INFINITY } else { f64::from(w) });
        right_up_to_target(&sample, source, target, |w| if w < 90 { i32::MAX } else { 0 });
        right_up_to_target(&sample, source, target, |_| ());
    }
}

#[test]
fn a_search_ends_in_the_bucket_of_its_target() {
    let edges: Vec<_> = (1..1000).map(|v| (v - 1, v, 2i32)).collect();
    let csr = Csr::undirected(1000, &edges).unwrap();
    let options = SsspOptions { delta: Some(1.0), target: Some(20), ..SsspOptions::default() };
    let found = sssp(&csr.graph(), &common::run(1, false), 0, &options).unwrap();
    assert_eq!((found.reached, found.rounds), (21, 21));
    let missing = SsspOptions { target: Some(1000), ..SsspOptions::default() };
    let error = sssp(&csr.graph(), &common::run(1, false), 0, &missing).unwrap_err();
    assert_eq!(error.to_string(), "target 1000 is not a vertex: the graph has 1000 vertices");
}

#[test]
fn sums_beyond_32_bits_are_exact() {
    let n = 5000;
    let edges: Vec<_> = (1..n).map(|v| (v - 1, v, i32::MAX)).collect();
    let csr = Csr::undirected(n as usize, &edges).unwrap();
    let found = checked(&csr.graph(), &csr, &common::run(2, false), 0, None);
    assert_eq!(found.distances[n as usize - 1], i64::from(i32::MAX) * (n as usize as i64 - 1));
}

#[test]
fn sums_beyond_63_bits_are_an_error() {
    let csr = Csr::directed(3, &[(0, 1, i64::MAX - 1), (1, 2, 1i64)]).unwrap();
    let error = sssp(&csr.graph(), &common::run(2, false), 0, &SsspOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "cannot compute shortest paths: a distance does not fit in 63 bits");
    // A path of that length is no matter where a shorter one leads to the same vertex, or the target is
    // nearer.
    let edges = [(0, 1, i64::MAX - 1), (1, 2, 1), (0, 2, 7)];
    let csr = Csr::directed(3, &edges).unwrap();
    for threads in [1, 2] {
        let found = checked(&csr.graph(), &csr, &common::run(threads, false), 0, None);
        assert_eq!(found.distances, [0, i64::MAX - 1, 7]);
    }
    let far = Csr::directed(4, &[&edges[..], &[(1, 3, 1)]].concat()).unwrap();
    let to = |target| {
        let options = SsspOptions { target: Some(target), ..SsspOptions::default() };
        sssp(&far.graph(), &common::run(2, false), 0, &options)
    };
    assert_eq!(to(2).unwrap().distances[2], 7);
    assert!(to(3).is_err());
    let csr =
        Csr::directed(4, &[(0, 1, f64::MAX), (1, 2, f64::MAX), (0, 2, 0.5), (1, 3, f64::INFINITY)]).unwrap();
    let found = sssp(&csr.graph(), &common::run(2, false), 0, &SsspOptions::default()).unwrap();
    assert_eq!(found.distances, [0.0, f64::MAX, 0.5, f64::INFINITY]);
    let csr = Csr::directed(4, &[(0, 1, 8.9e307), (1, 3, 1.0), (3, 2, 1.8e307)]).unwrap();
    let found = checked(&csr.graph(), &csr, &common::run(2, false), 0, None);
    assert_eq!(found.distances[2], 8.9e307 + 1.8e307);
    assert!(found.delta.is_finite());
    let csr = Csr::directed(4, &[(0, 1, 1e20), (1, 2, 1.0), (2, 3, 1.5)]).unwrap();
    let found = checked(&csr.graph(), &csr, &common::run(2, false), 0, Some(0.01));
    assert_eq!(found.distances, [0.0, 1e20, 1e20, 1e20]);
}

#[test]
fn negative_lengths_and_bad_options_are_errors() {
    let run = common::run(1, false);
    let message = |csr: &Csr<f64>, options| sssp(&csr.graph(), &run, 0, &options).unwrap_err().to_string();
    for bad in [-1.0, f64::NAN] {
        let csr = Csr::directed(3, &[(0, 1, 5.0), (1, 2, bad)]).unwrap();
        assert!(message(&csr, SsspOptions::default()).contains("negative or not a number"));
    }
    let csr = Csr::directed(2, &[(0, 1, 5.0)]).unwrap();
    let delta = SsspOptions { delta: Some(0.0), ..SsspOptions::default() };
    assert_eq!(message(&csr, delta), "delta is 0 but must be positive and finite");
    let none = Csr::directed(0, &[]).unwrap();
    assert_eq!(message(&none, SsspOptions::default()), "source 0 is not a vertex: the graph has 0 vertices");
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::directed(4, &[(0, 1, 2i32), (1, 2, 2), (0, 2, 5)]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let far = i64::MAX;
    let none = VertexId::MAX;
    check::sssp(out, 0, &[0, 2, 4, far], Some(&[0, 0, 1, none])).unwrap();
    check::sssp(out, 0, &[0, 2, 5, far], None).unwrap_err();
    check::sssp(out, 0, &[0, 2, 3, far], None).unwrap_err();
    check::sssp(out, 0, &[0, 2, far, far], None).unwrap_err();
    check::sssp(out, 0, &[0, 2, 4, 9], None).unwrap_err();
    check::sssp(out, 0, &[0, 2, 4, far], Some(&[0, 0, 0, none])).unwrap_err();
    check::sssp_to(out, 0, Some(1), &[0, 2, far, far], None).unwrap();
    check::sssp_to(out, 0, Some(1), &[0, 2, 4, far], None).unwrap_err();
    check::sssp_to(out, 0, Some(3), &[0, 2, far, far], None).unwrap_err();
}

/// Asks before each scan for every vertex, as a pool does to see what the next scan needs.
struct Asking<G>(G);

impl<G: Graph> Graph for Asking<G> {
    type Weight = G::Weight;
    type Error = G::Error;

    fn num_vertices(&self) -> usize {
        self.0.num_vertices()
    }

    fn num_arcs(&self) -> u64 {
        self.0.num_arcs()
    }

    fn is_directed(&self) -> bool {
        self.0.is_directed()
    }

    fn has(&self, direction: Direction) -> bool {
        self.0.has(direction)
    }

    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.0.degree(direction, v)
    }

    fn scan<V: Visitor<G::Weight>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, G::Error> {
        let wanted = (0..self.0.num_vertices()).filter(|&v| visitor.wants(vertex(v))).count();
        std::hint::black_box(wanted);
        self.0.scan(run, direction, select, visitor)
    }
}

#[test]
fn a_pool_may_ask_for_vertices_nearer_than_the_window() {
    // The distance from the window's start to a nearer vertex once overflowed, with pooled lists only.
    let edges: Vec<(VertexId, VertexId, i64)> =
        (1..3000).flat_map(|v| [(v - 1, v, 1 << 30), (v / 2, v, (v as i64) << 31)]).collect();
    let csr = Csr::undirected(3000, &edges).expect("sound edges");
    let run = Run::with_threads(2).expect("threads");
    for delta in [None, Some(1.0), Some(1e9)] {
        checked(&Asking(csr.graph()), &csr, &run, 0, delta);
    }
}

/// The width is told as a figure, and decides the rounds: neither may depend on how threads share the sample.
#[test]
fn the_width_of_a_bucket_does_not_depend_on_timing() {
    let n = 20_000;
    let hubs = (0..n).flat_map(|v| [(0, v), (n / 2, v)]);
    let rest = (0..n).flat_map(|v| (1..6).map(move |step| (v, (v * step + 7) % n)));
    let length = |u: VertexId, v: VertexId| ((v * 7 + u * 13) % 1013) as f64 / 7.0;
    let edges: Vec<(VertexId, VertexId, f64)> = hubs.chain(rest).map(|(u, v)| (u, v, length(u, v))).collect();
    let csr = Csr::directed(n as usize, &edges).unwrap();
    for threads in [2, 5] {
        let run = Run::with_threads(threads).unwrap();
        let width = || sssp(&csr.graph(), &run, 0, &SsspOptions::default()).unwrap().delta;
        let first = width();
        assert!((0..20).all(|_| width().to_bits() == first.to_bits()), "{first} with {threads} threads");
    }
}
