//! The Graph500 benchmark over processes, against components of the generated edges.

use super::*;
use crate::algorithm::graph500;
use crate::disk::job::{Graph500Job, KroneckerGraph};

const GRAPH: KroneckerGraph = KroneckerGraph { scale: 8, edge_factor: 6, seed: 3 };

fn construct(place: &Path, shards: usize, hub_degree: u64) -> Cluster {
    let options =
        CreateOptions { shards, directed: false, text_ids: false, weights: None, seed: 5, hub_degree };
    let name = format!("of-{shards}-{hub_degree}");
    let mut cluster = Cluster::create(&place.join(name), &options).expect("create");
    // The second time, hubs become delegates.
    for _ in 0..2 {
        cluster = change_all(cluster, &ChangeJob { generated: Some(GRAPH), ..ChangeJob::default() });
    }
    cluster
}

/// The roots with the edges of their trees, with so much memory for validation in each process; and messages
/// of failures.
fn search(
    cluster: &Cluster,
    graph: KroneckerGraph,
    roots: usize,
    validation_bytes: u64,
) -> Result<Vec<(u64, u64)>> {
    let memory_bytes = 2 * cluster.num_shards() as u64 * validation_bytes;
    let job = Graph500Job { graph, version: 3, roots, memory_bytes };
    let cluster = cluster.clone();
    let kept = run_threads(cluster.num_shards(), move |engine| {
        let mut kept = Kept::default();
        graph500(&cluster, engine, &job, &mut kept)?;
        Ok(kept.rows)
    })?;
    assert!(kept[1..].iter().all(Vec::is_empty), "one process hands over the rows");
    let row = |(root, cells): &VertexRow| match (root, &cells[..]) {
        (OwnedId::Int(root), [Cell::Float(seconds), Cell::Float(validate), Cell::Count(edges)]) => {
            assert!(*seconds > 0.0 && *validate > 0.0);
            (*root, *edges)
        }
        other => panic!("{other:?}"),
    };
    Ok(kept[0].iter().map(row).collect())
}

/// The number of edges in the component of each vertex.
fn edges_of_components() -> Vec<u64> {
    let generator = GRAPH.generator().expect("generator");
    let (edges, n) = (generator.edges(), generator.num_vertices() as usize);
    let mut least: Vec<usize> = (0..n).collect();
    for _ in 0..n {
        for &(a, b, ()) in &edges {
            let label = least[a as usize].min(least[b as usize]);
            (least[a as usize], least[b as usize]) = (label, label);
        }
    }
    let mut counts = vec![0; n];
    edges.iter().for_each(|&(a, ..)| counts[least[a as usize]] += 1);
    least.into_iter().map(|label| counts[label]).collect()
}

#[test]
fn trees_of_all_numbers_of_processes_are_valid() {
    let (place, edges) = (tempfile::tempdir().expect("directory"), edges_of_components());
    let mut roots = Vec::new();
    for (shards, hub_degree) in [(1, 0), (2, 0), (3, 40), (4, 20)] {
        let cluster = construct(place.path(), shards, hub_degree);
        assert_eq!(cluster.manifest().delegates.is_empty(), hub_degree == 0);
        // Memory for few trees, and for many.
        for validation_bytes in [256 * 16 * 4, 1 << 30] {
            let found = search(&cluster, GRAPH, 40, validation_bytes).expect("valid trees");
            assert_eq!(found.len(), 40);
            assert!(found.iter().all(|&(root, count)| edges[root as usize] == count), "{shards} processes");
            roots.push(found.iter().map(|&(root, _)| root).collect::<Vec<_>>());
        }
    }
    assert!(roots.iter().all(|other| *other == roots[0]), "roots do not depend on the number of processes");
    assert_eq!(roots[0].iter().collect::<BTreeSet<_>>().len(), 40);
}

#[test]
fn trees_that_are_wrong_for_the_edges_are_noticed_by_all_processes() {
    let place = tempfile::tempdir().expect("directory");
    let cluster = construct(place.path(), 3, 0);
    let other = KroneckerGraph { seed: 4, ..GRAPH };
    let message = search(&cluster, other, 5, 1 << 30).expect_err("other edges").to_string();
    assert!(message.contains("is wrong: "), "{message}");
    let message = search(&cluster, GRAPH, 5, 100).expect_err("no memory for a tree").to_string();
    assert!(message.contains("validating a tree"), "{message}");
}
