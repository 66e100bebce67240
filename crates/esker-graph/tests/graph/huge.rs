//! Lists longer than a unit of work.

use std::sync::atomic::{AtomicUsize, Ordering};

use esker_graph::{
    Bitmap, Csr, Direction, Flow, Graph, Piece, Run, RunOptions, Select, VertexId, Visitor, vertex,
};

/// Entries of a piece of a huge list.
const PIECE_LEN: usize = 1 << 16;

/// Counts the entries that each vertex gets; stops a vertex after `enough` entries.
struct Counts {
    entries: Vec<AtomicUsize>,
    shared: Bitmap,
    enough: usize,
}

impl Visitor<()> for Counts {
    type State = usize;

    fn new_state(&self) -> usize {
        0
    }

    fn visit(&self, pieces: &mut usize, v: VertexId, piece: Piece<'_, ()>) -> Flow {
        *pieces += 1;
        if !piece.exclusive {
            self.shared.insert(v);
        }
        let before = self.entries[v as usize].fetch_add(piece.targets.len(), Ordering::Relaxed);
        if before + piece.targets.len() >= self.enough { Flow::Enough } else { Flow::More }
    }
}

fn scan(csr: &Csr, run: &Run, select: Select<'_>, enough: usize) -> (Counts, Vec<usize>) {
    let n = csr.graph().num_vertices();
    let entries = (0..n).map(|_| AtomicUsize::new(0)).collect();
    let counts = Counts { entries, shared: Bitmap::new(n), enough };
    let pieces = csr.graph().scan(run, Direction::Out, select, &counts).expect("not cancelled");
    (counts, pieces)
}

#[test]
fn a_huge_list_is_shared_and_others_are_not() {
    let (n, hub) = (300_000, 70);
    let edges: Vec<_> = (0..n).filter(|&v| v != hub).map(|v| (vertex(hub), vertex(v), ())).collect();
    let csr = Csr::<()>::undirected(n, &edges).expect("ends below the number of vertices");
    let every = Bitmap::new(n);
    (0..n).for_each(|v| every.insert_alone(vertex(v)));
    let list: Vec<_> = (0..n).rev().map(vertex).collect();
    for threads in [1, 2, 7] {
        let run = Run::with_threads(threads).expect("threads start");
        for select in [Select::All, Select::Bits(&every), Select::List(&list)] {
            let (counts, pieces) = scan(&csr, &run, select, usize::MAX);
            for (v, entries) in counts.entries.iter().enumerate() {
                let degree = if v == hub { n - 1 } else { 1 };
                assert_eq!(entries.load(Ordering::Relaxed), degree, "{v}");
            }
            let shared: Vec<_> = counts.shared.iter().collect();
            assert_eq!(shared, if threads == 1 { vec![] } else { vec![vertex(hub)] });
            assert_eq!(pieces.iter().sum::<usize>(), n - 1 + (n - 1).div_ceil(PIECE_LEN));
            assert!(pieces.len() <= threads);
            // No worker gets another piece after the vertex had enough.
            let (counts, _) = scan(&csr, &run, select, 10);
            let entries = counts.entries[hub].load(Ordering::Relaxed);
            assert!((10..=threads * PIECE_LEN).contains(&entries), "{entries}");
        }
    }
    let deterministic = RunOptions { threads: 2, deterministic: true, ..RunOptions::default() };
    let run = Run::new(deterministic).expect("threads start");
    assert_eq!(scan(&csr, &run, Select::All, usize::MAX).0.shared.count(), 0);
}
