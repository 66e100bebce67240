//! Algorithms on a dynamic graph: the same answers as on plain rows of the same edges, while edges come and
//! go.

use esker::algo::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
use esker::algo::algorithm::cohesion::triangles::{TrianglesOptions, triangles};
use esker::algo::algorithm::components::cdlp::{CdlpOptions, cdlp};
use esker::algo::algorithm::components::scc::scc;
use esker::algo::algorithm::components::wcc::{WccOptions, wcc};
use esker::algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker::algo::algorithm::paths::sssp::{SsspOptions, sssp};
use esker::algo::check;
use esker::graph::generate::{Generator, Model, RMat, Weighting};
use esker::graph::{Csr, Direction, Graph, Run, VertexId, vertex};
use esker::store::DynamicGraph;
use esker::store::delta::{DynamicEdges, DynamicGraphOptions, Update};
use esker::store::io::{Disk, RealDisk, Scratch};

/// The weight of an edge, from its ends.
fn weight(u: VertexId, v: VertexId) -> f64 {
    1.0 + ((u as usize * 31 + v as usize * 17) % 255) as f64
}

/// Inserts a skewed graph in batches with removals between, and gives the edges that are left too.
fn grow(graph: &mut DynamicGraph<f64>, run: &Run, scale: u32) -> Vec<(VertexId, VertexId, f64)> {
    let model = Model::RMat(RMat { permute: false, ..RMat::kronecker(scale, 12) });
    let edges = Generator::new(&model, Weighting::None, 5).expect("a graph").edges();
    let undirected = graph.options().edges == DynamicEdges::Undirected;
    let mut held = std::collections::BTreeMap::new();
    for batch in edges.chunks(5000) {
        let mut updates = Vec::new();
        for (i, &(u, v, ())) in batch.iter().enumerate() {
            let (u, v) = if undirected { (u.min(v), u.max(v)) } else { (u, v) };
            updates.push(Update::Insert { source: u, target: v, payload: weight(u, v) });
            held.insert((u, v), weight(u, v));
            if i % 7 == 0 {
                let (source, target, ()) = batch[i / 2];
                let (source, target) =
                    if undirected { (source.min(target), source.max(target)) } else { (source, target) };
                updates.push(Update::Remove { source, target });
                held.remove(&(source, target));
            }
        }
        graph.apply(&updates, run).expect("memory");
    }
    held.into_iter().map(|((u, v), weight)| (u, v, weight)).collect()
}

fn graph(edges: DynamicEdges, scratch: Scratch) -> DynamicGraph<f64> {
    let options = DynamicGraphOptions { edges, shards: 8, scratch, ..DynamicGraphOptions::default() };
    DynamicGraph::new(options).expect("a graph")
}

fn agrees(graph: &DynamicGraph<f64>, csr: &Csr<f64>, run: &Run) {
    let plain = csr.graph();
    let out = plain.rows(Direction::Out).expect("out-lists");
    let incoming = plain.rows(Direction::In).filter(|_| plain.is_directed());
    assert_eq!((graph.num_vertices(), graph.num_arcs()), (plain.num_vertices(), plain.num_arcs()));
    for source in [0, 3, 100] {
        let found = bfs(graph, run, &[source], &BfsOptions::default()).expect("a search");
        check::bfs(out, &[source], &found.parents, found.depths.as_deref()).expect("a tree");
        let found = sssp(graph, run, source, &SsspOptions { parents: true, ..SsspOptions::default() })
            .expect("distances");
        check::sssp(out, source, &found.distances, found.parents.as_deref()).expect("least distances");
    }
    let options = PageRankOptions { tolerance: 1e-9, ..PageRankOptions::default() };
    let ranks = pagerank(graph, run, &options).expect("scores");
    check::pagerank(out, 0.85, None, &ranks.scores, 1e-9).expect("right scores");
    let labels = wcc(&graph.unweighted(), run, &WccOptions::default()).expect("components").labels;
    check::wcc(out, &labels).expect("components");
    check::scc(out, &scc(graph, run).expect("components").components).expect("strong components");
    let numbers: Vec<u64> = (0..graph.num_vertices() as u64).collect();
    let found = cdlp(graph, run, None, &CdlpOptions { iterations: 3 }).expect("labels");
    check::cdlp(out, incoming, &numbers, 3, &found.labels).expect("right labels");
}

#[test]
fn algorithms_answer_as_on_plain_rows() {
    let file = RealDisk.scratch(&std::env::temp_dir()).expect("a scratch file");
    for (edges, scratch) in [
        (DynamicEdges::Undirected, Scratch::heap()),
        (DynamicEdges::OutAndIn, Scratch::heap()),
        (DynamicEdges::Undirected, file),
    ] {
        for threads in [1, 3] {
            let run = Run::with_threads(threads).expect("threads");
            let mut graph = graph(edges, scratch.clone());
            let held = grow(&mut graph, &run, 11);
            graph.extend_vertices(2100);
            let csr = if edges == DynamicEdges::Undirected { Csr::undirected } else { Csr::directed };
            let csr = csr(2100, &held).expect("edges");
            agrees(&graph, &csr, &run);
        }
    }
}

#[test]
fn intersections_use_sorted_lists() {
    let run = Run::with_threads(2).expect("threads");
    let mut graph = graph(DynamicEdges::Undirected, Scratch::heap());
    let held = grow(&mut graph, &run, 9);
    graph.extend_vertices(512);
    let csr = Csr::undirected(512, &held).expect("edges");
    let options = TrianglesOptions::default();
    let found = triangles(&graph, &run, &options).expect("triangles");
    assert_eq!(found, triangles(&csr.graph(), &run, &options).expect("triangles"));
    assert!(found.triangles > 1000);
    assert!(graph.neighbours(vertex(0)).is_sorted_by_key(|&(target, _)| target));
}

/// Without in-lists, ranks are pushed and give the same.
#[test]
fn out_lists_alone_suffice_for_ranks() {
    let run = Run::with_threads(2).expect("threads");
    let mut graph = graph(DynamicEdges::Out, Scratch::heap());
    let held = grow(&mut graph, &run, 10);
    graph.extend_vertices(1024);
    let csr = Csr::directed(1024, &held).expect("edges");
    let ranks = pagerank(&graph, &run, &PageRankOptions::default()).expect("scores");
    let plain = csr.graph();
    let out = plain.rows(Direction::Out).expect("out-lists");
    check::pagerank(out, 0.85, None, &ranks.scores, ranks.error).expect("right scores");
}
