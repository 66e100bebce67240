//! Properties of every family of generated graphs.

use std::collections::HashSet;

use esker_graph::generate::{
    BarabasiAlbert, EdgeBlock, Generator, Grid, Model, RMat, Road, Uniform, WattsStrogatz, WeightColumn,
    Weighting,
};
use esker_graph::{Run, Stop, VertexId};

/// One model of each family, with several blocks where that is cheap.
fn models() -> Vec<Model> {
    vec![
        Model::RMat(RMat::kronecker(13, 16)),
        Model::RMat(RMat {
            a: 0.45,
            b: 0.2,
            c: 0.1,
            noise: 0.05,
            permute: false,
            directed: true,
            scale: 11,
            degree: 40,
        }),
        Model::Uniform(Uniform { num_vertices: 5000, num_edges: 140_000, directed: false }),
        Model::Uniform(Uniform { num_vertices: 500, num_edges: 70_000, directed: true }),
        Model::BarabasiAlbert(BarabasiAlbert { num_vertices: 20_000, degree: 7 }),
        Model::WattsStrogatz(WattsStrogatz { num_vertices: 30_000, degree: 6, rewire: 0.1 }),
        Model::Grid(Grid { rows: 150, columns: 300, torus: false }),
        Model::Grid(Grid { rows: 150, columns: 300, torus: true }),
        Model::Road(Road::new(150, 300)),
        Model::Path(70_000),
        Model::Star(70_000),
        Model::Complete(400),
    ]
}

fn generator(model: &Model, weighting: Weighting, seed: u64) -> Generator {
    Generator::new(model, weighting, seed).unwrap()
}

fn block(generator: &Generator, index: u64) -> EdgeBlock {
    let mut block = EdgeBlock::default();
    generator.block(index, &mut block);
    block
}

/// Number of vertices reachable from vertex 0 along edges in both directions.
fn reached(generator: &Generator) -> usize {
    let mut parent: Vec<usize> = (0..generator.num_vertices() as usize).collect();
    fn root(parent: &mut [usize], mut v: usize) -> usize {
        while parent[v] != v {
            parent[v] = parent[parent[v]];
            v = parent[v];
        }
        v
    }
    for (u, v, ()) in generator.edges() {
        let (u, v) = (root(&mut parent, u as usize), root(&mut parent, v as usize));
        parent[u] = v;
    }
    let home = root(&mut parent, 0);
    (0..parent.len()).filter(|&v| root(&mut parent, v) == home).count()
}

#[test]
fn a_generator_makes_as_many_edges_as_it_says_between_its_vertices() {
    for model in models() {
        let generator = generator(&model, Weighting::None, 1);
        let edges = generator.edges();
        assert_eq!(edges.len() as u64, generator.num_edges(), "{model:?}");
        assert!(
            edges.iter().all(|&(u, v, ())| (u.max(v) as usize) < generator.num_vertices() as usize),
            "{model:?}"
        );
    }
}

#[test]
fn blocks_are_the_same_in_any_order_and_from_any_thread() {
    for model in models() {
        let generator = generator(&model, Weighting::Unit, 5);
        let count = generator.num_blocks();
        let backwards: Vec<_> = (0..count).rev().map(|i| block(&generator, i)).collect();
        let run = Run::with_threads(2).unwrap();
        let shared = run
            .share(count as usize, Vec::new, |blocks, i| {
                blocks.push((i as u64, block(&generator, i as u64)));
                Ok::<(), Stop>(())
            })
            .unwrap();
        for (i, block) in shared.into_iter().flatten() {
            assert_eq!(block, backwards[(count - 1 - i) as usize], "block {i} of {model:?}");
        }
    }
}

#[test]
fn a_seed_repeats_and_another_differs() {
    for model in models() {
        let edges = |seed| generator(&model, Weighting::None, seed).edges();
        assert_eq!(edges(3), edges(3));
        let regular = matches!(model, Model::Grid(_) | Model::Path(_) | Model::Star(_) | Model::Complete(_));
        assert_eq!(edges(3) == edges(4), regular, "{model:?}");
    }
}

#[test]
fn the_same_edges_come_with_and_without_weights() {
    for model in models() {
        let plain = block(&generator(&model, Weighting::None, 2), 0);
        let WeightColumn::Int(weights) = ({
            let weighted = block(&generator(&model, Weighting::Int { max: 255 }, 2), 0);
            assert_eq!((&weighted.sources, &weighted.targets), (&plain.sources, &plain.targets));
            weighted.weights
        }) else {
            panic!("integers were asked for");
        };
        assert_eq!(weights.len(), plain.sources.len(), "{model:?}");
        assert_eq!((weights.iter().min(), weights.iter().max()), (Some(&1), Some(&255)), "{model:?}");
        let mean = weights.iter().sum::<i64>() as f64 / weights.len() as f64;
        assert!((mean - 128.0).abs() < 2.0, "{model:?}: {mean}");
    }
}

#[test]
fn unit_weights_fit_a_single_float() {
    let WeightColumn::Float(weights) = block(&generator(&Model::Path(10_000), Weighting::Unit, 2), 0).weights
    else {
        panic!("numbers were asked for");
    };
    assert_eq!(weights.len(), 9_999);
    assert!(weights.iter().all(|&w| (0.0..1.0).contains(&w) && f64::from(w as f32) == w));
    assert!((weights.iter().sum::<f64>() / 9_999.0 - 0.5).abs() < 0.02);
}

#[test]
fn a_block_reuses_what_another_left_behind() {
    let road = generator(&Model::Road(Road::new(20, 20)), Weighting::Length, 1);
    let unit = generator(&Model::Path(5), Weighting::Unit, 1);
    let mut reused = block(&road, 0);
    assert_eq!(reused.sources.len() as u64, road.num_edges());
    unit.block(0, &mut reused);
    assert_eq!(reused, block(&unit, 0));
    road.block(0, &mut reused);
    assert_eq!(reused, block(&road, 0));
}

#[test]
fn what_should_hang_together_does() {
    for model in [Model::Path(3000), Model::Star(3000), Model::Complete(50)] {
        let generator = generator(&model, Weighting::None, 1);
        assert_eq!(reached(&generator) as u64, generator.num_vertices(), "{model:?}");
    }
    for torus in [false, true] {
        let grid = generator(&Model::Grid(Grid { rows: 30, columns: 50, torus }), Weighting::None, 1);
        assert_eq!(reached(&grid), 1500);
    }
    let roads = generator(&Model::Road(Road { removed: 0.0, ..Road::new(40, 40) }), Weighting::None, 1);
    assert_eq!(reached(&roads), 1600);
}

#[test]
fn most_of_a_road_network_hangs_together() {
    let roads = generator(&Model::Road(Road::new(200, 200)), Weighting::None, 1);
    let mut sizes =
        (0..4).map(|seed| reached(&generator(&Model::Road(Road::new(200, 200)), Weighting::None, seed)));
    assert!(sizes.any(|size| size > 38_000));
    assert!(roads.num_edges() < 60_000);
}

#[test]
fn kronecker_degrees_are_skewed_and_uniform_ones_are_not() {
    let largest = |model: &Model| {
        let generator = generator(model, Weighting::None, 1);
        let mut degree = vec![0u64; generator.num_vertices() as usize];
        for (u, v, ()) in generator.edges() {
            degree[u as usize] += 1;
            degree[v as usize] += 1;
        }
        let isolated = degree.iter().filter(|&&d| d == 0).count();
        (degree.into_iter().max().unwrap_or(0), isolated)
    };
    // With probability 0.76 at each of 13 levels, the largest expected degree is 0.76^13 * 2 * 131072 = 7400.
    let (hub, isolated) = largest(&Model::RMat(RMat::kronecker(13, 16)));
    assert!((7000..7800).contains(&hub), "{hub}");
    assert!((1000..3000).contains(&isolated), "{isolated}");
    let (hub, isolated) =
        largest(&Model::Uniform(Uniform { num_vertices: 8192, num_edges: 131_072, directed: false }));
    assert!((48..75).contains(&hub), "{hub}");
    assert_eq!(isolated, 0);
}

#[test]
fn the_smallest_graphs_are_empty_not_errors() {
    for model in [
        Model::RMat(RMat::kronecker(0, 0)),
        Model::Uniform(Uniform { num_vertices: 0, num_edges: 0, directed: true }),
        Model::Uniform(Uniform { num_vertices: 1, num_edges: 0, directed: false }),
        Model::BarabasiAlbert(BarabasiAlbert { num_vertices: 0, degree: 1 }),
        Model::WattsStrogatz(WattsStrogatz { num_vertices: 1, degree: 0, rewire: 0.5 }),
        Model::Road(Road::new(0, 7)),
        Model::Road(Road::new(1, 1)),
    ] {
        let generator = generator(&model, Weighting::Unit, 1);
        assert_eq!((generator.num_edges(), generator.edges().len()), (0, 0), "{model:?}");
    }
    let loops = generator(&Model::RMat(RMat::kronecker(0, 3)), Weighting::None, 1).edges();
    assert_eq!(loops, [(0, 0, ()); 3]);
}

#[test]
fn what_ids_cannot_number_is_refused() {
    let error = |model| Generator::new(&model, Weighting::None, 1).err().expect("too large").to_string();
    // What is refused names the scale that fits: 31 with 32-bit ids; with 64-bit ids the number of edges
    // decides.
    let fits = if size_of::<VertexId>() == 4 { 31 } else { 44 };
    for scale in [fits + 1, 64, 99, 128, u32::MAX] {
        let told = error(Model::RMat(RMat::kronecker(scale, 16)));
        let remedy = format!("with 16 edges a vertex the scale can be {fits} at most");
        assert_eq!(told, format!("scale {scale} is too large: {remedy}"));
    }
    assert!(error(Model::RMat(RMat::kronecker(31, 1 << 40))).ends_with("the scale can be 8 at most"));
    assert!(error(Model::RMat(RMat::kronecker(5, u64::MAX))).contains("give a lower degree"));
    assert!(error(Model::Complete(1 << 33)).contains("too many"));
    let message = error(Model::Grid(Grid { rows: u64::MAX, columns: u64::MAX, torus: false }));
    assert!(message.contains("too many"), "{message}");
}

#[test]
fn weights_that_make_no_sense_are_refused() {
    let error = |weighting| Generator::new(&Model::Path(3), weighting, 1).err().expect("refused").to_string();
    assert_eq!(error(Weighting::Int { max: 0 }), "the largest weight is 0 but must be at least 1");
    assert_eq!(
        error(Weighting::Length),
        "cannot use lengths as weights: only road-like networks have lengths"
    );
}

#[test]
fn uniform_edges_are_distinct_across_blocks() {
    let model = Model::Uniform(Uniform { num_vertices: 5000, num_edges: 140_000, directed: false });
    let edges = generator(&model, Weighting::None, 7).edges();
    assert_eq!(edges.iter().collect::<HashSet<_>>().len(), edges.len());
}
