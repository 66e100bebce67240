//! Point reads of a graph without copies of edges, against a map, while commits come, are frozen and merged.

use std::path::Path;
use std::sync::Arc;

use esker_graph::random::Random;
use esker_graph::{Direction, Run, VertexId};
use esker_store::io::{Disk, FaultyDisk};
use esker_store::{Database, DatabaseOptions};

use super::model::{Change, Edges, NUM_IDS, changes_of, fill};

/// Neighbours of vertex 0: a list so long that its degree is not found by reading it.
const HUB_DEGREE: u64 = 2000;

#[test]
fn degrees_and_single_edges_are_what_the_lists_say() {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    let path = Path::new("web.esker");
    let mut edges = Edges::imported();
    edges.import(&disk, path);
    let db = Database::open_on(disk, path, DatabaseOptions::default()).unwrap();
    let run = Run::with_threads(1).unwrap();
    let mut noise = Random::new(5);
    for version in 2..40 {
        let mut changes: Vec<Change> = match version {
            2 => (0..HUB_DEGREE).map(|v| (0, v, Some(1))).collect(),
            _ => changes_of(version),
        };
        changes.extend((0..version % 5).map(|_| {
            let weight = (noise.below(2) > 0).then_some(version as i32);
            (0, noise.below(HUB_DEGREE + 20), weight)
        }));
        edges.change(&changes);
        let mut batch = db.batch();
        fill(&mut batch, &changes).unwrap();
        db.commit(batch, "").unwrap();
        match version {
            30 => drop(db.compact(&run).unwrap()),
            2 | 8 | 12 | 20 | 35 => drop(db.freeze(&run).unwrap()),
            _ => {}
        }
        expect(&db, &edges);
    }
}

fn expect(db: &Database, edges: &Edges) {
    let vertex = |id: u64| -> Option<VertexId> { db.vertex_of(id.into()).unwrap() };
    for u in (0..NUM_IDS).step_by(13) {
        let source = vertex(u).unwrap();
        let ids = || (0..HUB_DEGREE + 20).filter_map(|v| Some((v, vertex(v)?)));
        let there = ids().filter(|&(v, target)| {
            let found = edges.get(u, v);
            assert_eq!(db.has_edge(source, target).unwrap(), found.is_some(), "edge {u} {v}");
            let bits = db.edge_bits(source, target).unwrap();
            let expected: Vec<Vec<u64>> =
                found.iter().map(|weight| vec![u64::from(weight.cast_unsigned())]).collect();
            assert_eq!(bits, expected, "edge {u} {v}");
            found.is_some()
        });
        let count = there.count();
        assert_eq!(db.degree(Direction::Out, source).unwrap(), count, "vertex {u}");
        assert_eq!(db.neighbors(Direction::Out, source).unwrap().len(), count, "vertex {u}");
        let in_degree = (0..NUM_IDS).filter(|&v| edges.get(v, u).is_some()).count();
        assert_eq!(db.degree(Direction::In, source).unwrap(), in_degree, "vertex {u}");
    }
}
