//! Tiles of the newest version, stored beside its lists.

use std::path::Path;
use std::sync::Arc;

use esker_format::{Edit, ElementType, Error, Result, TilesRecord, remove_archive};
use esker_graph::{Direction, Run};
use esker_layers::graph::StoredWeight;
use esker_layers::tiles::{ConvertOptions, PropertyWalk, TileFiles, TileProperties, TileReport, write_tiles};

use super::handle::{Core, Database, locked};
use super::layers::Maintenance;
use super::maintain::NextState;
use crate::snapshot::{Snapshot, State};
use crate::version::layer_directory;

impl Database {
    /// Converts the only layer, which [`Database::compact`] leaves behind, to tiles: a second form of the
    /// newest version that analyses may read ([`Snapshot::resident`]). Existing tiles are replaced.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are several layers or unfrozen commits; as [`write_tiles`]; cancellation.
    pub fn make_tiles(&self, options: &ConvertOptions, run: &Run) -> Result<TileReport> {
        let mut maintenance = locked(&self.core.maintenance);
        self.core.make_tiles(&mut maintenance, options, run)
    }
}

impl Core {
    fn make_tiles(
        &self,
        maintenance: &mut Maintenance,
        options: &ConvertOptions,
        run: &Run,
    ) -> Result<TileReport> {
        let state = self.state();
        let [layer] = state.layers() else {
            return Err(Error::Invalid(
                "cannot make tiles: the database has several layers; compact it first".to_owned(),
            ));
        };
        let number = layer.record().number;
        let directory = layer_directory(&self.path, number);
        self.remove_tiles(maintenance, &state, &directory)?;
        let report = self.write_tiles(&state, &directory, options, run).inspect_err(|_| {
            // If the removal fails too, the next conversion or the removal of the layer deletes the
            // files.
            let _ = remove_tile_files(self, &directory);
        })?;
        let record = TilesRecord { layer: number, num_edges: report.num_edges };
        self.edit_layers(maintenance, &self.state(), vec![Edit::SetTiles(record)])?;
        Ok(report)
    }

    fn write_tiles(
        &self,
        state: &Arc<State>,
        directory: &Path,
        options: &ConvertOptions,
        run: &Run,
    ) -> Result<TileReport> {
        let snapshot = state.snapshot(state.newest())?;
        let graph = snapshot.graph::<()>(run)?;
        graph.prepare(run, Direction::Out)?;
        let database = state.manifest().database;
        let properties = WeightProperties { snapshot: &snapshot, run };
        let report = write_tiles(&graph, &properties, run, options, None, (&self.disk, directory, database))?;
        self.disk.sync_directory(directory)?;
        Ok(report)
    }

    /// Removes the tiles of the only layer from the manifest and the disk.
    fn remove_tiles(
        &self,
        maintenance: &mut Maintenance,
        state: &Arc<State>,
        directory: &Path,
    ) -> Result<()> {
        let mut tiles = state.manifest().tiles.iter();
        if let [layer] = state.layers()
            && tiles.any(|record| record.layer == layer.record().number)
        {
            self.edit_layers(maintenance, state, vec![Edit::RemoveTiles { layer: layer.record().number }])?;
        }
        remove_tile_files(self, directory)?;
        self.expect_directory(directory)
    }

    /// Creates the directory of a layer if all its columns lie in its archive.
    pub(super) fn expect_directory(&self, directory: &Path) -> Result<()> {
        if self.disk.look(directory)?.is_none() {
            self.disk.create_directory(directory)?;
            self.disk.sync_directory(&self.path.join("layers"))?;
        }
        Ok(())
    }

    /// Applies edits that keep the same layers to the manifest.
    pub(super) fn edit_layers(
        &self,
        maintenance: &mut Maintenance,
        state: &Arc<State>,
        mut edits: Vec<Edit>,
    ) -> Result<()> {
        edits.extend(self.mark_of_log(maintenance.manifest.manifest()));
        let manifest = maintenance.manifest.manifest().with(&edits).map_err(Error::Invalid)?;
        let next =
            NextState::with_same_layers(Arc::new(state.with(manifest, state.layers().to_vec())), edits);
        self.record(maintenance, &next)?;
        self.show(&next, &mut locked(&self.writer), None)
    }
}

fn remove_tile_files(core: &Core, directory: &Path) -> Result<()> {
    let files = TileFiles::of(directory);
    remove_archive(core.disk.as_ref(), &files.directory)?;
    if core.disk.look(&files.data)?.is_some() {
        core.disk.remove_file(&files.data)?;
    }
    Ok(())
}

/// Writes the edge properties that can be weights.
struct WeightProperties<'a> {
    snapshot: &'a Snapshot,
    run: &'a Run,
}

impl WeightProperties<'_> {
    fn write_as<W: StoredWeight + esker_format::Element>(
        &self,
        number: u32,
        name: &str,
        walk: &PropertyWalk<'_>,
    ) -> Result<()> {
        let graph = self.snapshot.graph_by::<W>(name, self.run)?;
        graph.prepare(self.run, Direction::Out)?;
        walk.write(number, &graph)
    }
}

impl TileProperties for WeightProperties<'_> {
    fn write(&self, walk: &PropertyWalk<'_>) -> Result<()> {
        for property in self.snapshot.edge_properties().filter(|property| property.is_number()) {
            let (number, name) = (property.number, &property.name);
            match property.element {
                ElementType::I32 => self.write_as::<i32>(number, name, walk)?,
                ElementType::I64 => self.write_as::<i64>(number, name, walk)?,
                ElementType::F32 => self.write_as::<f32>(number, name, walk)?,
                ElementType::F64 => self.write_as::<f64>(number, name, walk)?,
                ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use esker_format::io::{Disk, FaultyDisk};
    use esker_graph::{Csr, Flow, Graph, Lists, Piece, Select, VertexId, Visitor};
    use esker_layers::graph::{Access, GraphEncoding};
    use esker_layers::pool::PoolOptions;

    use super::*;
    use crate::check::check;
    use crate::database::DatabaseOptions;
    use crate::database::model::DB;
    use crate::sample::Sample;

    /// Collects source, target and weight of all arcs.
    struct Collect;

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

    fn arcs<G: Graph<Weight = i32>>(
        graph: &G,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
    ) -> Vec<(VertexId, VertexId, i32)> {
        let mut arcs = graph.scan(run, direction, select, &Collect).unwrap().concat();
        arcs.sort_unstable();
        arcs
    }

    fn open(disk: &FaultyDisk) -> Database {
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let options = DatabaseOptions { threads: 2, ..DatabaseOptions::default() };
        Database::open_on(shared, Path::new(DB), options).unwrap()
    }

    const TILES: Access = Access::Mapped(GraphEncoding::Tiles);

    /// Compares the tiles of the newest version, in each residency, with its lists.
    fn compare(database: &Database, model: &Csr<i32>, run: &Run) {
        let snapshot = database.snapshot().unwrap();
        assert!(check(&snapshot, run).unwrap().is_sound());
        let pool = PoolOptions { bytes: 1 << 20, ..PoolOptions::default() };
        for access in [TILES, Access::Pooled(GraphEncoding::Tiles, pool)] {
            let tiled = snapshot.clone().resident(access).unwrap();
            let (graph, lists) = (tiled.graph::<i32>(run).unwrap(), model.graph());
            assert!(graph.is_scattered() && graph.has(Direction::In) && graph.num_arcs() == lists.num_arcs());
            for direction in [Direction::Out, Direction::In] {
                for select in [Select::All, Select::List(&[1, 7]), Select::List(&[])] {
                    assert_eq!(arcs(&graph, run, direction, select), arcs(&lists, run, direction, select));
                }
                if snapshot.has(direction) {
                    graph
                        .with_list(direction, 5, |list, _| assert_eq!(list.len(), lists.degree(direction, 5)))
                        .unwrap();
                }
            }
        }
    }

    #[test]
    fn tiles_survive_reopening_and_are_removed_with_their_layer() {
        let run = Run::with_threads(2).unwrap();
        for (seed, directed, in_edges) in
            [(1, false, false), (2, true, true), (3, true, false), (4, false, false)]
        {
            let mut sample = Sample::random(400, 2500, directed, seed);
            sample.in_edges = in_edges;
            let disk = FaultyDisk::new(1);
            let shared: Arc<dyn Disk> = Arc::new(disk.clone());
            sample.write(&shared, Path::new(DB), false).unwrap();
            let database = open(&disk);
            let without = database.snapshot().unwrap().resident(TILES).unwrap_err();
            assert!(without.to_string().contains("esker compact --encoding tiles"), "{without}");
            database.make_tiles(&ConvertOptions::default(), &run).unwrap();
            database.make_tiles(&ConvertOptions::default(), &run).unwrap();
            compare(&database, &sample.model(), &run);
            database.close().unwrap();
            disk.crash();
            let database = open(&disk);
            compare(&database, &sample.model(), &run);
            let mut batch = database.batch();
            let (u, v, _) = sample.edges[0];
            batch.remove_edge(u64::from(u), u64::from(v)).unwrap();
            database.commit(batch, "one less").unwrap();
            let changed = database.snapshot().unwrap();
            let tiled = changed.clone().resident(TILES).unwrap();
            let (graph, lists) = (tiled.graph::<i32>(&run).unwrap(), changed.graph::<i32>(&run).unwrap());
            assert!(graph.is_scattered() && graph.num_arcs() < sample.model().graph().num_arcs());
            let all = |graph| arcs(graph, &run, Direction::Out, Select::All);
            assert_eq!(all(&graph), all(&lists));
            drop((graph, lists));
            drop((tiled, changed));
            database.compact(&run).unwrap();
            assert!(database.snapshot().unwrap().manifest().tiles.is_empty());
            assert!(database.snapshot().unwrap().resident(TILES).is_err());
        }
    }
}
