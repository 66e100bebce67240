use esker_graph::NONE;
use esker_graph::generate::{Generator, Model, RMat, Weighting};
use esker_store::format::MemoryLimit;
use esker_store::{GraphEncoding, Residency};

use super::*;

fn benchmark(scale: u32) -> (tempfile::TempDir, Benchmark, Run) {
    construct(scale, false)
}

fn construct(scale: u32, tiles: bool) -> (tempfile::TempDir, Benchmark, Run) {
    let directory = tempfile::tempdir().unwrap();
    let run = Run::with_threads(2).unwrap();
    let options = Graph500Options { scale, edge_factor: 8, roots: 40, seed: 3, tiles };
    let path = directory.path().join("g.esker");
    let benchmark = Benchmark::construct(options, &path, ImportOptions::default(), &run).unwrap();
    (directory, benchmark, run)
}

#[test]
fn every_tree_of_both_kernels_is_valid() {
    let (_directory, benchmark, run) = benchmark(9);
    let roots = benchmark.roots(&run).unwrap();
    assert_eq!(roots.len(), 40);
    let mut distinct = roots.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 40);
    // Memory for few trees, and for many.
    for memory_bytes in [512 * 16 * 4, 1 << 30] {
        let searches = benchmark.searches(&run, &roots, memory_bytes, &|_, _, _| {}).unwrap();
        let paths = benchmark.shortest_paths(&run, &roots, memory_bytes, &|_, _, _| {}).unwrap();
        assert_eq!(searches.len(), 40);
        // Most vertices are in one component, with nearly all of the 4096 edges.
        assert!(searches.iter().any(|search| search.edges > 3900));
        for (search, path) in searches.iter().zip(&paths) {
            assert_eq!((search.root, search.edges), (path.root, path.edges));
        }
    }
    assert!(benchmark.searches(&run, &roots, 100, &|_, _, _| {}).is_err());
}

#[test]
fn every_residency_gives_valid_trees() {
    let (_directory, mut benchmark, run) = construct(9, true);
    let roots = &benchmark.roots(&run).unwrap()[..5];
    let resources = Resources {
        threads: 2,
        deterministic: false,
        memory: MemoryLimit::of(400 << 20),
        rates: crate::rates::Rates::default(),
    };
    let requests = [
        Request { encoding: Some(GraphEncoding::Tiles), residency: Some(Residency::Mapped), head_len: None },
        Request { residency: Some(Residency::Pooled), ..Request::default() },
        Request { encoding: Some(GraphEncoding::Lists), residency: Some(Residency::Pooled), head_len: None },
        Request { head_len: Some(3), ..Request::default() },
        Request { residency: Some(Residency::Headed), ..Request::default() },
    ];
    for request in requests {
        benchmark.plan(&request, &resources, true).unwrap();
        let searches = benchmark.searches(&run, roots, 1 << 20, &|_, _, _| {}).unwrap();
        let paths = benchmark.shortest_paths(&run, roots, 1 << 20, &|_, _, _| {}).unwrap();
        assert_eq!((searches.len(), paths.len()), (5, 5));
    }
    let little = Resources { memory: MemoryLimit::of(1 << 20), ..resources };
    assert!(benchmark.plan(&requests[1], &little, true).is_err());
    // Searches alone take less: lengths are not read.
    let headed = Request { residency: Some(Residency::Headed), ..Request::default() };
    let least = |paths: bool, benchmark: &mut Benchmark| {
        let plan = benchmark.plan(&headed, &resources, paths).unwrap();
        plan.chosen().least_bytes
    };
    assert!(least(false, &mut benchmark) < least(true, &mut benchmark));
}

#[test]
fn the_graph_may_have_fewer_vertices_than_roots() {
    let (_directory, benchmark, run) = benchmark(3);
    let roots = benchmark.roots(&run).unwrap();
    assert!(!roots.is_empty() && roots.len() <= 8);
    assert_eq!(benchmark.searches(&run, &roots, 1 << 20, &|_, _, _| {}).unwrap().len(), roots.len());
}

/// A small graph, its vertex numbers, and a breadth-first tree found by a naive search.
fn small() -> (Generator, Vec<VertexId>, Tree) {
    let model = Model::RMat(RMat::kronecker(6, 4));
    let generator = Generator::new(&model, Weighting::Unit, 5).unwrap();
    let edges = generator.edges();
    let n = generator.num_vertices() as usize;
    let root = edges.iter().find(|edge| edge.0 != edge.1).unwrap().0;
    let mut parents = vec![NONE; n];
    parents[root as usize] = root;
    let mut level = vec![root];
    while !level.is_empty() {
        let mut next = Vec::new();
        for &(a, b, ()) in &edges {
            for (from, to) in [(a, b), (b, a)] {
                if level.contains(&from) && parents[to as usize] == NONE {
                    parents[to as usize] = from;
                    next.push(to);
                }
            }
        }
        level = next;
    }
    (generator, (0..n).map(vertex).collect(), Tree { root, parents, distances: None })
}

fn verdict(generator: &Generator, numbers: &[VertexId], tree: Tree) -> std::result::Result<u64, String> {
    let mut trees = Graph500Trees::new(numbers, 1);
    trees.push(tree)?;
    validate(&trees, generator, &Run::with_threads(2).unwrap()).unwrap().map(|edges| edges[0])
}

#[test]
fn each_rule_is_checked() {
    let (generator, numbers, Tree { root, parents, .. }) = small();
    let judge = |parents: &[VertexId], distances: Option<Vec<f64>>| {
        verdict(&generator, &numbers, Tree { root, parents: parents.to_vec(), distances })
    };
    let edges = generator.edges();
    let inside =
        edges.iter().filter(|edge| parents[edge.0 as usize] != NONE && parents[edge.1 as usize] != NONE);
    assert_eq!(judge(&parents, None), Ok(inside.count() as u64));

    // A vertex whose parent is not the root.
    let is_deep = |&v: &usize| parents[v] != NONE && parents[v] != root;
    let below = (0..parents.len()).find(is_deep).unwrap();
    let child = parents[below] as usize;
    // The root has another parent; two vertices are each other's parents; a chain of parents ends before the
    // root.
    let mut wrong = parents.clone();
    wrong[root as usize] = vertex(child);
    assert!(judge(&wrong, None).unwrap_err().contains("its own parent"));
    let mut wrong = parents.clone();
    wrong[child] = vertex(below);
    assert!(judge(&wrong, None).unwrap_err().contains("cycle"));
    let mut wrong = parents.clone();
    wrong[child] = NONE;
    assert!(judge(&wrong, None).unwrap_err().contains("has no parent"));
    // A vertex of the component is missing from the tree.
    let leaf = (0..parents.len()).rev().find(|&v| parents[v] != NONE && !parents.contains(&vertex(v)));
    let mut wrong = parents.clone();
    wrong[leaf.unwrap()] = NONE;
    assert!(judge(&wrong, None).unwrap_err().contains("differ by more"));
    // A parent that is not a neighbour.
    let far = (0..parents.len()).find(|&v| {
        let joined = |&(a, b, ()): &(VertexId, VertexId, ())| {
            (a, b) == (root, vertex(v)) || (b, a) == (root, vertex(v))
        };
        parents[v] != NONE && v != root as usize && !edges.iter().any(joined)
    });
    let mut wrong = parents.clone();
    wrong[far.unwrap()] = root;
    assert!(judge(&wrong, None).is_err());
    // Distances that do not match the tree.
    let mut distances = vec![f64::INFINITY; parents.len()];
    assert!(judge(&parents, Some(distances.clone())).unwrap_err().contains("at distance 0"));
    distances[root as usize] = 0.0;
    assert!(judge(&parents, Some(distances)).unwrap_err().contains("but not both"));
}

#[test]
fn statistics_are_those_of_the_textbook() {
    let found = Statistics::of(&[4.0, 1.0, 3.0, 2.0, 5.0]);
    assert_eq!((found.min, found.first_quartile, found.median), (1.0, 2.0, 3.0));
    assert_eq!((found.third_quartile, found.max, found.mean), (4.0, 5.0, 3.0));
    assert!((found.deviation - 2.5f64.sqrt()).abs() < 1e-12);
    assert_eq!(Statistics::of(&[]), Statistics::default());
    assert_eq!(Statistics::of(&[7.0]).deviation, 0.0);
    let harmonic = Harmonic::of(&[1.0, 2.0, 4.0]);
    assert!((harmonic.mean - 12.0 / 7.0).abs() < 1e-12);
    assert!(harmonic.deviation > 0.0);
}
