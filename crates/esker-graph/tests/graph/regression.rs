//! Regression tests, each with the story of its bug.

use esker_graph::{Bitmap, Csr, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, vertex};

/// Counts how often each vertex is visited.
struct Visits(Vec<std::sync::atomic::AtomicUsize>);

impl Visitor<()> for Visits {
    type State = ();

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, _: Piece<'_, ()>) -> Flow {
        self.0[v as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Flow::More
    }
}

/// If the first vertices have nearly all edges, several units of a scan are empty and begin at the number of
/// vertices. If that was no multiple of 64, each empty unit repeated the members of the last, partial word of
/// a bitmap: betweenness on three threads was too high. A comparison with igraph found it.
#[test]
fn a_scan_of_a_bitmap_gives_each_member_once_though_its_last_units_are_empty() {
    let n: usize = 1500;
    let edges: Vec<_> = (0..30_000).map(|i| (vertex(i * i % 7 % 40), vertex(i % n), ())).collect();
    let tail = (0..n).map(|v| (vertex(v), 0, ()));
    let csr = Csr::directed(n, &edges.into_iter().chain(tail).collect::<Vec<_>>()).unwrap();
    let all = Bitmap::new(n);
    (0..n).for_each(|v| all.insert_alone(vertex(v)));
    for threads in [1, 2, 3, 8, 31] {
        let run = Run::with_threads(threads).unwrap();
        for direction in [Direction::Out, Direction::In] {
            let visits = Visits((0..n).map(|_| 0.into()).collect());
            csr.graph().scan(&run, direction, Select::Bits(&all), &visits).unwrap();
            let wrong = visits.0.into_iter().position(|count| count.into_inner() != 1);
            assert_eq!(wrong, None, "{threads} threads, {direction:?}");
        }
    }
}

#[test]
fn an_empty_range_has_no_members() {
    let bits = Bitmap::new(100);
    (0..100).for_each(|v| bits.insert_alone(vertex(v)));
    assert_eq!(bits.iter_range(100..100).count(), 0);
    assert_eq!(bits.iter_range(64..64).count(), 0);
    assert_eq!(bits.iter_range(64..100).count(), 36);
}
