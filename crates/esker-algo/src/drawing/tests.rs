use esker_graph::Run;
use esker_graph::random::Random;
use proptest::prelude::*;

use super::forces::{ForceOptions, forces};
use super::layers::{Layered, layered};
use super::quadtree::Quadtree;
use super::{DrawnGraph, Place};

fn run(threads: usize) -> Run {
    Run::with_threads(threads).expect("a run")
}

fn drawn(n: u32, m: usize, random: &mut Random) -> DrawnGraph {
    let mut end = || random.below(n.into()) as u32;
    DrawnGraph { num_vertices: n as usize, edges: (0..m).map(|_| (end(), end())).collect() }
}

fn distance(a: Place, b: Place) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[test]
fn a_tree_of_squares_pushes_as_all_points_do() {
    let mut random = Random::new(3);
    for n in [1, 2, 9, 300, 2000] {
        // Some lie on one another, some far away.
        let mut place =
            || [random.unit() * 10.0, if random.below(9) == 0 { 1e4 } else { 5.0 * random.unit() }];
        let mut places: Vec<Place> = (0..n).map(|_| place()).collect();
        places[n / 2] = places[0];
        let masses: Vec<f64> = (0..n).map(|v| 1.0 + (v % 7) as f64).collect();
        let tree = Quadtree::new(&places, &masses);
        for v in (0..n).step_by(1 + n / 50) {
            let mut expected = [0.0; 2];
            for (place, mass) in places.iter().zip(&masses) {
                let far = distance(places[v], *place);
                if far > 0.0 {
                    for (axis, sum) in expected.iter_mut().enumerate() {
                        *sum += mass * (places[v][axis] - place[axis]) / (far * far);
                    }
                }
            }
            let size = masses.iter().sum::<f64>() / 3.0;
            for (opening, error) in [(0.0, 1e-9), (0.5, 0.02), (1.2, 0.1)] {
                let found = tree.push_on(places[v], opening);
                assert!(
                    distance(found, expected) <= error * size.max(distance(expected, [0.0; 2])),
                    "{n} {v} {opening}: {found:?} {expected:?}"
                );
            }
        }
    }
}

/// What the forces make smaller [Jacomy et al., "Energy model"].
fn energy(graph: &DrawnGraph, places: &[Place], options: &ForceOptions) -> f64 {
    let mut neighbours = vec![std::collections::BTreeSet::new(); graph.num_vertices];
    for &(u, v) in graph.edges.iter().filter(|(u, v)| u != v) {
        neighbours[u as usize].insert(v);
        neighbours[v as usize].insert(u);
    }
    let mass = |v: usize| neighbours[v].len() as f64 + 1.0;
    let mut sum = 0.0;
    for u in 0..graph.num_vertices {
        sum += options.gravity * mass(u) * distance(places[u], [0.0; 2]);
        for v in 0..u {
            let far = distance(places[u], places[v]);
            sum -= options.scaling * mass(u) * mass(v) * far.ln();
            if neighbours[u].contains(&(v as u32)) {
                sum += far * far / 2.0;
            }
        }
    }
    sum
}

#[test]
fn forces_come_to_rest_alike_with_any_number_of_threads() {
    let mut random = Random::new(5);
    for (n, m) in [(1, 0), (2, 1), (30, 20), (100, 250), (500, 900)] {
        let graph = drawn(n, m, &mut random);
        let options = ForceOptions::default();
        let places = forces(&graph, &options, &run(1)).expect("places");
        assert_eq!(forces(&graph, &options, &run(3)).expect("places"), places);
        assert!(places.iter().flatten().all(|coordinate| coordinate.is_finite()), "{n}");
        if n > 1 {
            let energies = [0, 20, 300, 600].map(|rounds| {
                let places = forces(&graph, &ForceOptions { rounds, ..options }, &run(2)).expect("places");
                energy(&graph, &places, &options)
            });
            assert!(energies[0] > energies[1] && energies[1] >= energies[2], "{n}: {energies:?}");
            let gained = energies[0] - energies[2];
            assert!((energies[3] - energies[2]).abs() < 0.05 * gained, "{n}: at rest: {energies:?}");
        }
    }
}

#[test]
fn forces_refuse_what_makes_no_sense() {
    let graph = DrawnGraph { num_vertices: 2, edges: vec![(0, 2)] };
    let error = forces(&graph, &ForceOptions::default(), &run(1)).expect_err("no vertex 2");
    assert!(error.to_string().contains("the edge 0 2 has an end that is none of the 2"), "{error}");
    let graph = DrawnGraph { num_vertices: 2, edges: vec![(0, 1)] };
    let options = ForceOptions { scaling: f64::NAN, ..ForceOptions::default() };
    assert!(forces(&graph, &options, &run(1)).is_err());
    assert!(layered(&DrawnGraph { num_vertices: 0, edges: vec![(0, 0)] }, &run(1)).is_err());
    assert!(forces(&DrawnGraph::default(), &ForceOptions::default(), &run(1)).expect("none").is_empty());
    assert!(layered(&DrawnGraph::default(), &run(1)).expect("none").places.is_empty());
}

/// Checks what any drawing in layers must be.
fn check_layers(graph: &DrawnGraph, found: &Layered, is_acyclic: bool) {
    let Layered { places, layers, bends } = found;
    assert_eq!((places.len(), bends.len()), (graph.num_vertices, graph.edges.len()));
    let mut by_layer: Vec<(u32, f64)> =
        layers.iter().zip(places).map(|(&layer, place)| (layer, place[0])).collect();
    by_layer.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for pair in by_layer.windows(2) {
        assert!(pair[0].0 != pair[1].0 || pair[1].1 - pair[0].1 > 1.0 - 1e-6, "{pair:?}");
    }
    for (&(u, v), bends) in graph.edges.iter().zip(bends) {
        let (from, to) = (layers[u as usize], layers[v as usize]);
        assert!(u == v || from != to, "{u} {v}");
        assert!(!is_acyclic || u == v || from < to, "{u} {v} leads down");
        assert_eq!(bends.len() as u32, from.abs_diff(to).saturating_sub(1));
        let ends = [places[u as usize], places[v as usize]];
        let heights: Vec<f64> =
            std::iter::once(&ends[0]).chain(bends).chain(&ends[1..]).map(|place| place[1]).collect();
        let down = from < to;
        assert!(u == v || heights.windows(2).all(|pair| (pair[0] < pair[1]) == down), "{heights:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn layers_lead_down_and_leave_room(n in 1..40_u32, m in 0..80_usize, seed in any::<u64>()) {
        let mut graph = drawn(n, m, &mut Random::new(seed));
        check_layers(&graph, &layered(&graph, &run(1)).unwrap(), false);
        for edge in &mut graph.edges {
            *edge = (edge.0.min(edge.1), edge.0.max(edge.1));
        }
        check_layers(&graph, &layered(&graph, &run(1)).unwrap(), true);
    }
}

/// A binary tree can be drawn without a crossing, and each parent lies between its children.
#[test]
fn a_tree_is_drawn_without_crossings() {
    let edges: Vec<(u32, u32)> = (1..63).map(|v| ((v - 1) / 2, v)).collect();
    let graph = DrawnGraph { num_vertices: 63, edges };
    let found = layered(&graph, &run(1)).expect("layers");
    check_layers(&graph, &found, true);
    for v in 0..31 {
        let children = [2 * v + 1, 2 * v + 2].map(|child| found.places[child][0]);
        let (left, right) = (children[0].min(children[1]), children[0].max(children[1]));
        assert!((left..=right).contains(&found.places[v][0]), "{v}: {children:?} {:?}", found.places[v]);
    }
}
