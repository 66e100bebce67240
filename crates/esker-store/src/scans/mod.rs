//! Scans of stored graphs, compared with those of the same graph in memory.

mod headed;
mod pooled;
mod stacked;

use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, FaultyDisk};
use esker_format::testing::sort_arcs;
use esker_format::{Encoding, Error};
use esker_graph::{
    Bitmap, Direction, Flow, Graph, Lists, Piece, Run, Select, VertexId, Visitor, Weight, vertex,
};

use crate::sample::Sample;
use crate::version::Version;

/// Where it is.
pub(crate) const DB: &str = "web.esker";

/// A database of a sample.
pub(crate) fn stored(sample: &Sample) -> (FaultyDisk, Arc<dyn Disk>, Version) {
    let disk = FaultyDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    sample.write(&shared, Path::new(DB), false).unwrap();
    let version = Version::open(&shared, Path::new(DB)).unwrap();
    (disk, shared, version)
}

/// Collects arcs; of each vertex no more than `most`, after which it has enough.
pub(crate) struct CollectArcs {
    pub(crate) most: usize,
}

/// From, to, weight.
pub(crate) type Arc3 = (VertexId, VertexId, i32);

/// A weight as a number.
pub(crate) trait WeightNumber: Weight {
    fn number(self) -> i32;
}

impl WeightNumber for i32 {
    fn number(self) -> i32 {
        self
    }
}

impl WeightNumber for () {
    fn number(self) -> i32 {
        0
    }
}

impl<W: WeightNumber> Visitor<W> for CollectArcs {
    type State = Vec<Arc3>;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        assert_eq!(piece.targets.len(), piece.weights.len());
        let arcs = piece.targets.iter().zip(piece.weights);
        state.extend(arcs.map(|(&target, &weight)| (v, target, weight.number())));
        // From the end, where the arcs of `v` are.
        let of_v = || state.iter().rev().filter(|arc| arc.0 == v);
        let enough = self.most < usize::MAX && of_v().take(self.most).count() == self.most;
        if enough { Flow::Enough } else { Flow::More }
    }
}

/// Takes whole lists.
pub(crate) struct TakeWholeLists;

impl<W: WeightNumber> Visitor<W> for TakeWholeLists {
    type State = Vec<Arc3>;
    const STOPS: bool = false;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn wants(&self, v: VertexId) -> bool {
        !v.is_multiple_of(7)
    }

    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        assert!(piece.exclusive);
        CollectArcs { most: usize::MAX }.visit(state, v, piece)
    }
}

/// All arcs that workers found, in order.
pub(crate) fn sorted(found: &[Vec<Arc3>]) -> Vec<Arc3> {
    let mut arcs = found.concat();
    sort_arcs(&mut arcs);
    arcs
}

/// Compares every scan with that of the model.
pub(crate) fn compare<G>(graph: &G, sample: &Sample, run: &Run)
where
    G: Lists<Weight = i32, Error = Error>,
{
    let n = sample.num_vertices;
    let model = sample.model();
    let model = model.graph();
    compare_scans(graph, &model, true, run);
    for direction in [Direction::Out, Direction::In] {
        for v in (0..n).map(vertex) {
            let expected = model.rows(direction).unwrap().list(v);
            graph
                .with_list(direction, v, |targets, weights| assert_eq!((targets, weights), expected))
                .unwrap();
        }
    }
}

/// Compares every scan and degree with that of another graph. `alone`: whether one thread holds each vertex.
pub(crate) fn compare_scans<G, M>(graph: &G, model: &M, alone: bool, run: &Run)
where
    G: Graph<Weight: WeightNumber, Error = Error>,
    M: Graph<Weight = G::Weight>,
{
    let n = model.num_vertices();
    assert_eq!((graph.num_vertices(), graph.num_arcs()), (n, model.num_arcs()));
    let list: Vec<VertexId> = (0..n).rev().step_by(3).map(vertex).collect();
    let bits = Bitmap::new(n);
    (0..n).step_by(2).for_each(|v| bits.insert_alone(vertex(v)));
    for direction in [Direction::Out, Direction::In] {
        assert_eq!(graph.has(direction), model.has(direction));
        if !model.has(direction) {
            continue;
        }
        for select in [Select::All, Select::List(&list), Select::Bits(&bits)] {
            let all = CollectArcs { most: usize::MAX };
            let expected = sorted(&model.scan(run, direction, select, &all).unwrap());
            assert_eq!(sorted(&graph.scan(run, direction, select, &all).unwrap()), expected);
            if alone {
                let expected = sorted(&model.scan(run, direction, select, &TakeWholeLists).unwrap());
                assert_eq!(sorted(&graph.scan(run, direction, select, &TakeWholeLists).unwrap()), expected);
            }
            // Of those that stop early, as much as they ask for at least, and nothing twice or of others.
            let few = sorted(&graph.scan(run, direction, select, &CollectArcs { most: 3 }).unwrap());
            let every = sorted(&model.scan(run, direction, select, &all).unwrap());
            let mut rest = every.iter();
            assert!(few.iter().all(|arc| rest.any(|other| other == arc)));
            for arcs in every.chunk_by(|a, b| a.0 == b.0) {
                let found = few.iter().filter(|arc| arc.0 == arcs[0].0).count();
                assert!(found >= arcs.len().min(3));
            }
        }
        for v in (0..n).map(vertex) {
            assert_eq!(graph.degree(direction, v), model.degree(direction, v));
        }
    }
}

/// A graph whose lists take many pages and reads, one of them most.
pub(crate) fn large(encoding: Encoding) -> Sample {
    let mut sample = Sample { encoding, ..Sample::random(3000, 120_000, false, 6) };
    sample.edges.extend((0..60_000).map(|k| (7, (k % 3000) as VertexId, k)));
    sample
}
