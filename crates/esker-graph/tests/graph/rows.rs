//! Lists that are handed over many at a time.

use esker_graph::{
    Bitmap, Csr, Direction, Flow, Graph, Piece, RowBlock, Run, Select, VertexId, Visitor, vertex,
};

/// Collects lists, and how many came among others.
struct Collect;

#[derive(Default)]
struct Collected {
    lists: Vec<(VertexId, Vec<VertexId>, Vec<i32>)>,
    blocks: usize,
}

impl Visitor<i32> for Collect {
    type State = Collected;

    const STOPS: bool = false;
    const ROWS: bool = true;

    fn new_state(&self) -> Collected {
        Collected::default()
    }

    fn visit_rows(&self, found: &mut Collected, rows: RowBlock<'_, i32>) {
        found.blocks += 1;
        rows.each_row(|v, piece| {
            assert!(piece.exclusive && !piece.targets.is_empty());
            self.visit(found, v, piece);
        });
    }

    fn visit(&self, found: &mut Collected, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        found.lists.push((v, piece.targets.to_vec(), piece.weights.to_vec()));
        Flow::More
    }
}

#[test]
fn rows_and_single_lists_are_the_same() {
    // A block of short lists, one with gaps, one without any list, one with a huge list, and a part of a
    // block.
    let (n, hub) = (300_000, 64 * 3 + 5);
    let mut edges = Vec::new();
    for v in 0..64 {
        edges.extend((0..v % 3 + 1).map(|i| (vertex(v), vertex(7 * v + i), (v + i) as i32)));
    }
    edges.extend((64..128).step_by(3).map(|v| (vertex(v), vertex(v + 1), -1)));
    edges.extend((0..n).map(|v| (vertex(hub), vertex(v), v as i32)));
    edges.push((vertex(hub + 1), vertex(0), 4));
    edges.push((vertex(n - 1), vertex(2), 5));
    let csr = Csr::directed(n, &edges).expect("ends below the number of vertices");
    let every = Bitmap::new(n);
    (0..n).for_each(|v| every.insert_alone(vertex(v)));
    let some: Vec<_> = (0..n).step_by(2).map(vertex).collect();
    for threads in [1, 3] {
        let run = Run::with_threads(threads).expect("threads start");
        let lists_of = |select| {
            let found = csr.graph().scan(&run, Direction::Out, select, &Collect).expect("not cancelled");
            let blocks: usize = found.iter().map(|worker| worker.blocks).sum();
            let mut arcs: Vec<_> = found
                .into_iter()
                .flat_map(|worker| worker.lists)
                .flat_map(|(v, targets, weights)| {
                    targets.into_iter().zip(weights).map(move |(target, weight)| (v, target, weight))
                })
                .collect();
            arcs.sort_unstable();
            (blocks, arcs)
        };
        let mut expected = edges.clone();
        expected.sort_unstable();
        for select in [Select::All, Select::Bits(&every)] {
            let (blocks, arcs) = lists_of(select);
            assert_eq!(blocks, n / 64 - 1, "all whole blocks but that of the hub");
            assert!(arcs == expected, "{select:?}");
        }
        expected.retain(|edge| edge.0 % 2 == 0);
        let (blocks, arcs) = lists_of(Select::List(&some));
        assert_eq!(blocks, 0);
        assert!(arcs == expected);
    }
}
