//! Tiles of the oldest layer, stored beside its lists.

use std::sync::Arc;

use esker_format::{Edit, Encoding, Error, KeptForms, Result, Stamp};
use esker_graph::Run;
use esker_layers::tiles::{ConvertOptions, TileReport};

use crate::conversion::write_tiles_of;
use crate::conversion::{FormReport, expect_layer_directory, tiles_record};
use crate::database::handle::{Core, Database};
use crate::database::layers::Maintenance;
use crate::database::upkeep::forms::kept_forms;
use crate::database::upkeep::maintain::NextState;
use crate::manifest::layer_directory;
use crate::version::State;
#[cfg(doc)]
use crate::version::Version;

/// Whether a database has tiles beside its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tiling {
    /// As before.
    #[default]
    Keep,
    /// It has; they are made anew even if nothing else is to be done, unless there are no lists: then they
    /// stay as they are.
    Make,
    /// It has not.
    Remove,
}

impl Database {
    /// Converts the lists of the oldest layer to tiles: a second form that analyses may read
    /// ([`View::resident`](crate::View::resident)), of any version that has the layer. Existing tiles are
    /// replaced. Merging keeps them, with groups of the same size.
    ///
    /// # Errors
    /// As [`esker_layers::tiles::write_tiles`]; cancellation; [`Error::Invalid`] if the lists are kept as
    /// tiles only.
    pub fn make_tiles(&self, options: &ConvertOptions, run: &Run) -> Result<TileReport> {
        let mut maintenance = self.core.maintenance.lock();
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
        let layer = &state.layers()[0];
        if layer.record().encoding == Encoding::Tiles {
            let message = "the lists are kept as tiles only, which cannot be made again from lists";
            return Err(Error::invalid(message.to_owned()));
        }
        let directory = layer_directory(&self.path, layer.record().number);
        self.remove_tiles(maintenance, &state, Vec::new())?;
        let stamp = Stamp::random();
        let files = self.form_files(&directory, stamp);
        expect_layer_directory(self.disk.as_ref(), &directory)?;
        let properties = &state.manifest().properties;
        let report = write_tiles_of(files, layer.lists(), properties, options, None, run);
        let report = report.and_then(|report| {
            self.disk.sync_directory(&directory)?;
            Ok(report)
        });
        let report = report.inspect_err(|_| {
            // If the removal fails too, the next conversion or the removal of the layer deletes the
            // files.
            let _ = self.remove_tile_files(&directory);
        })?;
        let record = tiles_record(&report, layer.record().number, stamp);
        let kept = KeptForms { tile_group: options.group, ..kept_forms(&state) };
        let edits = vec![Edit::SetTiles(record), Edit::KeepForms(kept)];
        self.edit_layers(maintenance, &self.state(), edits)?;
        Ok(report)
    }

    /// Makes or removes the tiles of a database whose layers stay as they are; `kept` are its forms from now
    /// on.
    pub(crate) fn change_tiles(
        &self,
        maintenance: &mut Maintenance,
        tiles: Tiling,
        kept: KeptForms,
        run: &Run,
    ) -> Result<FormReport> {
        let state = self.state();
        let number = state.layers()[0].record().number;
        let has_tiles = state.manifest().tiles.iter().any(|record| record.layer == number);
        let makes = tiles == Tiling::Make || (kept.tile_group > 0 && !has_tiles);
        if tiles == Tiling::Remove && kept_forms(&state).tile_group > 0 {
            self.remove_tiles(maintenance, &state, vec![Edit::KeepForms(kept)])?;
        }
        let memory_bytes = ConvertOptions::within(run.budget().free_bytes()).memory_bytes;
        let options = ConvertOptions { group: kept.tile_group, memory_bytes };
        let tiles = makes.then(|| self.make_tiles(maintenance, &options, run)).transpose()?;
        Ok(FormReport { tiles, ..FormReport::default() })
    }

    /// Removes the tiles of the oldest layer from the manifest, with other edits in the same record, and from
    /// the disk.
    fn remove_tiles(
        &self,
        maintenance: &mut Maintenance,
        state: &Arc<State>,
        mut edits: Vec<Edit>,
    ) -> Result<()> {
        let layer = state.layers()[0].record().number;
        if state.manifest().tiles.iter().any(|record| record.layer == layer) {
            edits.insert(0, Edit::RemoveTiles { layer });
        }
        if !edits.is_empty() {
            self.edit_layers(maintenance, state, edits)?;
        }
        self.remove_tile_files(&layer_directory(&self.path, layer))
    }

    /// Applies edits that keep the same layers to the manifest.
    pub(crate) fn edit_layers(
        &self,
        maintenance: &mut Maintenance,
        state: &Arc<State>,
        mut edits: Vec<Edit>,
    ) -> Result<()> {
        edits.extend(self.mark_of_log(maintenance.manifest.manifest()));
        let manifest = maintenance.manifest.manifest().with(&edits).map_err(Error::invalid)?;
        let next =
            NextState::with_same_layers(Arc::new(state.with(manifest, state.layers().to_vec())), edits);
        self.record(maintenance, &next)?;
        self.show(&next, &mut self.writer.lock(), None)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use esker_format::io::{Disk, FaultyDisk};
    use esker_graph::{Csr, Direction, Flow, Graph, Lists, Piece, Select, VertexId, Visitor};
    use esker_layers::graph::{Access, GraphEncoding};
    use esker_layers::pool::PoolOptions;

    use super::*;
    use crate::check::check;
    use crate::database::testing::model::DB;
    use crate::database::{CompactOptions, DatabaseOptions};
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
        let version = database.latest().unwrap();
        assert!(check(&version, run).unwrap().is_sound());
        let pool = PoolOptions { bytes: 1 << 20, ..PoolOptions::default() };
        for access in [TILES, Access::Pooled(GraphEncoding::Tiles, pool)] {
            let tiled = version.view().resident(access).unwrap();
            let (graph, lists) = (tiled.graph::<i32>(run).unwrap(), model.graph());
            assert!(graph.is_scattered() && graph.has(Direction::In) && graph.num_arcs() == lists.num_arcs());
            for direction in [Direction::Out, Direction::In] {
                for select in [Select::All, Select::List(&[1, 7]), Select::List(&[])] {
                    assert_eq!(arcs(&graph, run, direction, select), arcs(&lists, run, direction, select));
                }
                if version.has(direction) {
                    graph
                        .with_list(direction, 5, |list, _| assert_eq!(list.len(), lists.degree(direction, 5)))
                        .unwrap();
                }
            }
        }
    }

    fn remove_one(database: &Database, u: VertexId, v: VertexId) {
        let mut batch = database.batch();
        batch.remove_edge(u64::from(u), u64::from(v)).unwrap();
        database.commit(batch, "one less").unwrap();
    }

    #[test]
    fn tiles_survive_reopening_and_merging_until_they_are_removed() {
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
            let without = database.latest().unwrap().view().resident(TILES).unwrap_err();
            assert!(without.to_string().contains("`compact (encoding = tiles)`"), "{without}");
            database.make_tiles(&ConvertOptions::default(), &run).unwrap();
            database.make_tiles(&ConvertOptions::default(), &run).unwrap();
            compare(&database, &sample.model(), &run);
            database.close().unwrap();
            disk.crash();
            let database = open(&disk);
            compare(&database, &sample.model(), &run);
            let (u, v, _) = sample.edges[0];
            remove_one(&database, u, v);
            let changed = database.latest().unwrap();
            let tiled = changed.view().resident(TILES).unwrap();
            let view = changed.view();
            let (graph, lists) = (tiled.graph::<i32>(&run).unwrap(), view.graph::<i32>(&run).unwrap());
            assert!(graph.is_scattered() && graph.num_arcs() < sample.model().graph().num_arcs());
            let all = |graph| arcs(graph, &run, Direction::Out, Select::All);
            assert_eq!(all(&graph), all(&lists));
            drop((graph, lists));
            drop((tiled, changed));
            let report = database.compact(&run).unwrap();
            assert!(report.forms.tiles.is_some() && report.layers == 1);
            let merged = database.latest().unwrap();
            let tiled = merged.view().resident(TILES).unwrap();
            let view = merged.view();
            let (graph, lists) = (tiled.graph::<i32>(&run).unwrap(), view.graph::<i32>(&run).unwrap());
            let all = |graph| arcs(graph, &run, Direction::Out, Select::All);
            assert_eq!(all(&graph), all(&lists));
            assert!(check(&merged, &run).unwrap().is_sound());
            drop((graph, lists));
            let options = CompactOptions { tiles: Tiling::Remove, ..CompactOptions::default() };
            database.compact_with(options, &run).unwrap();
            assert!(database.latest().unwrap().manifest().tiles.is_empty());
            assert!(database.latest().unwrap().view().resident(TILES).is_err());
            let (u, v, _) = sample.edges[1];
            remove_one(&database, u, v);
            let report = database.compact(&run).unwrap();
            assert_eq!(report.forms, FormReport::default());
        }
    }
}
