//! Tiles of graphs of all shapes, for tests.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::testing::sort_arcs;
use esker_format::{DatabaseId, Element, Error, Origin, Result};
use esker_graph::random::Random;
use esker_graph::{
    Csr, CsrGraph, Direction, Flow, Graph, Lists, Piece, Run, Select, VertexId, Visitor, Weight, collect,
};

use super::{
    ConvertOptions, OldTiles, PropertyWalk, TileProperties, TileReport, TileScan, TileShape, TileWeights,
    Tiles, write_tiles,
};
use crate::form_files::FormFiles;

/// A directory in memory.
pub(super) const LAYER: &str = "layer";
pub(super) const ORIGIN: Origin = Origin::of_import(DatabaseId([9; 16]));

/// A graph from edges.
pub(super) fn csr<W: Weight>(directed: bool, n: usize, edges: &[(VertexId, VertexId, W)]) -> Csr<W> {
    if directed { Csr::directed(n, edges) } else { Csr::undirected(n, edges) }.unwrap()
}

/// Edges between random vertices, hubs among them; some loops, some twice.
pub(super) fn random_edges(n: usize, count: usize, seed: u64) -> Vec<(VertexId, VertexId, i32)> {
    let mut random = Random::new(seed);
    let mut edges = Vec::new();
    while edges.len() < count && n > 0 {
        let skewed = random.index(3) > 0;
        let u = if skewed { random.index(n) * random.index(n) / n } else { random.index(n) };
        let v = if random.index(50) == 0 { u } else { random.index(n) };
        let weight = random.index(1000) as i32;
        let copies = 1 + usize::from(random.index(20) == 0);
        edges.extend((0..copies).map(|copy| (u as VertexId, v as VertexId, weight + copy as i32)));
    }
    edges
}

/// Collects source, target and weight of all arcs.
pub(super) struct Collect;

impl Visitor<i32> for Collect {
    type State = Vec<(VertexId, VertexId, i32)>;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn visit(&self, arcs: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        arcs.extend(piece.targets.iter().zip(piece.weights).map(|(&u, &weight)| (v, u, weight)));
        Flow::More
    }
}

/// All arcs of a graph, sorted.
pub(super) fn arcs_of<G: Graph<Weight = i32>>(
    graph: &G,
    run: &Run,
    direction: Direction,
) -> Vec<(VertexId, VertexId, i32)> {
    let mut arcs = graph.scan(run, direction, Select::All, &Collect).unwrap().concat();
    sort_arcs(&mut arcs);
    arcs
}

/// The weights of a graph as property 3.
struct Weighted<'a, G>(&'a G);

impl<G: Lists> TileProperties for Weighted<'_, G>
where
    G::Weight: Element,
    Error: From<G::Error>,
{
    fn write(&self, walk: &PropertyWalk<'_>) -> Result<()> {
        walk.write(3, self.0)
    }
}

/// Makes the tiles of a graph in a new directory of a disk, with its weights as property 3.
pub(super) fn make<W: Weight + Element>(
    disk: &Arc<dyn Disk>,
    layer: &Path,
    graph: &CsrGraph<'_, W>,
    options: &ConvertOptions,
) -> Result<Tiles> {
    make_from(disk, layer, graph, options, None, 1).map(|made| made.0)
}

/// As [`make`], copying from old tiles, on `threads` threads.
pub(super) fn make_from<W: Weight + Element>(
    disk: &Arc<dyn Disk>,
    layer: &Path,
    graph: &CsrGraph<'_, W>,
    options: &ConvertOptions,
    old: Option<&OldTiles<'_>>,
    threads: usize,
) -> Result<(Tiles, TileReport)> {
    disk.create_directory(layer)?;
    let run = Run::with_threads(threads)?;
    let files = FormFiles { disk, directory: layer, origin: ORIGIN };
    let report = write_tiles(graph, &Weighted(graph), &run, options, old, files)?;
    let shape = TileShape {
        num_vertices: graph.num_vertices() as u64,
        num_edges: report.num_edges,
        directed: graph.is_directed(),
    };
    let tiles = Tiles::open(disk, layer, ORIGIN, shape, &report.shared)?;
    let num_chunks = tiles.directory(&run)?.len() as u64;
    assert_eq!((num_chunks, tiles.data_bytes()), (report.num_chunks, report.data_bytes));
    Ok((tiles, report))
}

/// Tiles as a graph, beside the lists that they were made of.
pub(super) struct TileGraph<'a, W> {
    pub(super) scan: TileScan<'a, W>,
    pub(super) lists: CsrGraph<'a, W>,
}

impl<'a, W: Weight + Element> TileGraph<'a, W> {
    pub(super) fn new(tiles: &'a Tiles, lists: CsrGraph<'a, W>, run: &Run) -> Result<Self> {
        let weights: Box<dyn TileWeights<W>> = Box::new(tiles.property::<W>(3)?);
        Ok(Self { scan: TileScan::new(tiles, Some(weights), run)?, lists })
    }
}

impl<W: Weight> Graph for TileGraph<'_, W> {
    type Weight = W;
    type Error = Error;

    fn num_vertices(&self) -> usize {
        self.lists.num_vertices()
    }

    fn is_scattered(&self) -> bool {
        true
    }

    fn num_arcs(&self) -> u64 {
        self.lists.num_arcs()
    }

    fn is_directed(&self) -> bool {
        self.lists.is_directed()
    }

    fn has(&self, _: Direction) -> bool {
        true
    }

    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.scan.degree(direction, v)
    }

    fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
        collect(visitor, |visitor| self.scan.scan(run, direction, select, visitor))
    }
}

impl<W: Weight> Lists for TileGraph<'_, W> {
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R> {
        Ok(self.lists.with_list(direction, v, f)?)
    }
}
