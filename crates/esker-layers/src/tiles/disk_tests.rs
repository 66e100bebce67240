//! Tests pools over files: by the ring of the system and by threads, with weights, and what happens when
//! files go or a run is stopped.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use esker_format::io::{Disk, RealDisk};
#[cfg(target_os = "linux")]
use esker_format::testing::refuse_rings;
use esker_format::testing::sort_arcs;
use esker_format::{Error, Result};
use esker_graph::{Csr, Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor};

use super::testing::{ORIGIN, TileGraph, csr, make, random_edges};
use super::{ConvertOptions, Tiles};
use crate::pool::PoolOptions;

type Arcs = Vec<(VertexId, VertexId, i32)>;

/// Takes down every arc; at the first one, it may stop the run.
struct Record<'a>(Option<&'a Run>);

impl Visitor<i32> for Record<'_> {
    type State = Arcs;

    fn new_state(&self) -> Arcs {
        Vec::new()
    }

    fn visit(&self, arcs: &mut Arcs, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        self.0.into_iter().for_each(|run| run.cancel().cancel());
        arcs.extend(piece.targets.iter().zip(piece.weights).map(|(&u, &weight)| (v, u, weight)));
        Flow::More
    }
}

fn arcs<G: Graph<Weight = i32>>(graph: &G, run: &Run) -> std::result::Result<Arcs, G::Error> {
    let mut arcs = graph.scan(run, Direction::Out, Select::All, &Record(None))?.concat();
    sort_arcs(&mut arcs);
    Ok(arcs)
}

/// Tiles in a directory of its own, which is the current one for nobody: so names are whole.
struct Place {
    directory: tempfile::TempDir,
    graph: Csr<i32>,
    tiles: Tiles,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let graph = csr(false, 200_000, &random_edges(200_000, 400_000, 3));
        let tiles = make_in(&disk, directory.path(), &graph).unwrap();
        Self { directory, graph, tiles }
    }

    fn pooled(&self, run: &Run, by_threads: bool) -> Result<TileGraph<'_, i32>> {
        let lists = self.graph.graph();
        let bytes = 6 << 16;
        let options = PoolOptions {
            bytes,
            segment_bytes: 1 << 17,
            extent_blocks: 1,
            by_threads,
            ..PoolOptions::default()
        };
        let scan = TileGraph::new(&self.tiles, lists, run)?.scan.pooled(&options, run)?;
        Ok(TileGraph { scan, lists })
    }
}

fn make_in(disk: &Arc<dyn Disk>, directory: &Path, graph: &Csr<i32>) -> Result<Tiles> {
    make(disk, &directory.join("layer"), &graph.graph(), &ConvertOptions::default())
}

#[test]
fn weights_come_with_pooled_tiles_however_they_are_read() {
    let place = Place::new();
    let run = Run::with_threads(2).unwrap();
    let expected = arcs(&place.graph.graph(), &run).unwrap();
    for by_threads in [false, true] {
        let graph = place.pooled(&run, by_threads).unwrap();
        for _ in 0..3 {
            assert!(arcs(&graph, &run).unwrap() == expected, "by threads: {by_threads}");
        }
        let least = 2 * (place.tiles.data_bytes() - (6 << 16));
        assert!(graph.scan.read_bytes() > least, "{} bytes", graph.scan.read_bytes());
    }
}

#[test]
fn open_tiles_outlive_their_files() {
    let place = Place::new();
    let run = Run::with_threads(2).unwrap();
    let expected = arcs(&place.graph.graph(), &run).unwrap();
    let graph = place.pooled(&run, false).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let layer = place.directory.path().join("layer");
    disk.remove_directory(&layer).unwrap();
    assert!(arcs(&graph, &run).unwrap() == expected);
    for by_threads in [false, true] {
        assert!(arcs(&place.pooled(&run, by_threads).unwrap(), &run).unwrap() == expected);
    }
    let Err(error) = Tiles::open(&disk, &layer, ORIGIN, place.tiles.shape(), &[]) else {
        panic!("the files are gone")
    };
    assert!(error.is_not_found() && error.to_string().contains("tiles.columns"), "{error}");
}

#[test]
fn a_pool_stops_within_a_second() {
    let place = Place::new();
    for by_threads in [false, true] {
        let run = Run::with_threads(2).unwrap();
        let graph = place.pooled(&run, by_threads).unwrap();
        let begin = Instant::now();
        let stopped = graph.scan(&run, Direction::Out, Select::All, &Record(Some(&run)));
        assert!(matches!(stopped, Err(Error::Stop(Stop::Cancelled))));
        drop(graph);
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn threads_read_where_rings_are_refused() {
    let scan = || {
        let place = Place::new();
        let run = Run::with_threads(2).unwrap();
        let file = RealDisk.open_direct(&place.directory.path().join("layer").join("tiles.data")).unwrap();
        let ring = file.reads(4, &[]).unwrap();
        let found = arcs(&place.pooled(&run, false).unwrap(), &run).unwrap();
        assert!(found == arcs(&place.graph.graph(), &run).unwrap());
        ring.is_some()
    };
    let has_rings = scan();
    // The refusal holds for the thread that asks for it.
    let is_refused = std::thread::spawn(move || {
        refuse_rings();
        !scan()
    });
    assert!(is_refused.join().unwrap(), "a ring in spite of the filter; without it: {has_rings}");
}
