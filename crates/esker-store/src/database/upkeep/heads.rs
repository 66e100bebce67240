//! Heads of the lists of the oldest layer, stored beside them.

use std::path::Path;
use std::sync::Arc;

use esker_format::{Edit, HeadsRecord, KeptForms, Origin, Result};
use esker_graph::Run;
use esker_layers::FormFiles;
use esker_layers::graph::HeadedOptions;
use esker_layers::graph::bounded::headed::{HeadedNeeds, Heads, heads_directory, write_heads};
use esker_layers::known_files::DirectoryKind;

use crate::conversion::{FormReport, expect_layer_directory, heads_again};
use crate::database::handle::{Core, Database};
use crate::database::layers::Maintenance;
use crate::database::upkeep::forms::kept_forms;
use crate::manifest::layer_directory;
use crate::version::{Layer, State};

impl Database {
    /// Stores the heads of the lists of the oldest layer, which is complete: runs with headed lists then read
    /// them instead of all lists. They are as long as the options ask for, or the longest that fit the
    /// memory. Existing ones are replaced. Merging keeps them.
    ///
    /// # Errors
    /// As [`HeadedNeeds::heads`]; [`esker_format::Error::Io`]; [`esker_format::Error::Corrupt`];
    /// cancellation.
    pub fn make_heads(&self, options: HeadedOptions, run: &Run) -> Result<Heads> {
        self.core.make_chosen_heads(&mut self.core.maintenance.lock(), options, run)
    }
}

impl Core {
    /// Stores heads of the lists of the oldest layer in place of those that there are.
    pub(crate) fn make_chosen_heads(
        &self,
        maintenance: &mut Maintenance,
        options: HeadedOptions,
        run: &Run,
    ) -> Result<Heads> {
        let state = self.state();
        let lists = state.layers()[0].lists();
        let heads = HeadedNeeds::for_layer(lists, None, run.threads())?.heads(lists, options, run)?;
        self.make_heads(maintenance, &state, &heads, heads.length as u64, run)?;
        Ok(heads)
    }

    /// Makes the heads that the last merge had no memory for.
    pub(crate) fn make_missing_heads(
        &self,
        maintenance: &mut Maintenance,
        report: &mut FormReport,
        run: &Run,
    ) -> Result<()> {
        let state = self.state();
        let Some(head_len) = state.manifest().missing_heads() else { return Ok(()) };
        match heads_again(state.layers()[0].lists(), head_len, run)? {
            Ok(heads) => {
                self.make_heads(maintenance, &state, &heads, head_len, run)?;
                report.heads = Some(heads);
            }
            Err(left_out) => report.heads_left_out = Some(left_out),
        }
        Ok(())
    }

    /// Stores heads; merges will store heads of the length `kept`.
    fn make_heads(
        &self,
        maintenance: &mut Maintenance,
        state: &Arc<State>,
        heads: &Heads,
        kept: u64,
        run: &Run,
    ) -> Result<()> {
        let layer = &state.layers()[0];
        let number = layer.record().number;
        let directory = layer_directory(&self.path, number);
        self.remove_heads(maintenance, state, number, &directory)?;
        let origin = Origin::random(state.manifest().database);
        self.write_heads(layer, heads, &directory, origin, run).inspect_err(|_| {
            // If the removal fails too, making heads again or removing the layer deletes the files.
            let _ = DirectoryKind::Heads.remove(self.disk.as_ref(), &heads_directory(&directory));
        })?;
        let (stamp, head_len) = (origin.stamp, heads.length as u64);
        let record = HeadsRecord { layer: number, stamp, head_len, order: heads.order };
        let kept = KeptForms { head_len: kept, ..kept_forms(state) };
        self.edit_layers(maintenance, &self.state(), vec![Edit::SetHeads(record), Edit::KeepForms(kept)])
    }

    fn write_heads(
        &self,
        layer: &Layer,
        heads: &Heads,
        directory: &Path,
        origin: Origin,
        run: &Run,
    ) -> Result<()> {
        write_heads(layer.lists(), heads, run, FormFiles { disk: &self.disk, directory, origin })?;
        self.disk.sync_directory(directory)
    }

    /// Removes the heads of a layer from the manifest and the disk.
    fn remove_heads(
        &self,
        maintenance: &mut Maintenance,
        state: &Arc<State>,
        layer: u32,
        directory: &Path,
    ) -> Result<()> {
        if state.manifest().heads.iter().any(|record| record.layer == layer) {
            self.edit_layers(maintenance, state, vec![Edit::RemoveHeads { layer }])?;
        }
        DirectoryKind::Heads.remove(self.disk.as_ref(), &heads_directory(directory))?;
        expect_layer_directory(self.disk.as_ref(), directory)
    }
}

#[cfg(test)]
mod tests {
    use esker_format::Encoding;
    use esker_format::io::{Disk, FaultyDisk};
    use esker_graph::{Direction, Graph};
    use esker_layers::graph::Access;

    use super::*;
    use crate::check::check;
    use crate::database::DatabaseOptions;
    use crate::database::testing::model::DB;
    use crate::sample::Sample;

    fn open(disk: &FaultyDisk) -> Database {
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let options = DatabaseOptions { threads: 2, ..DatabaseOptions::default() };
        Database::open_on(shared, Path::new(DB), options).unwrap()
    }

    const OPTIONS: HeadedOptions = HeadedOptions { head_len: None, memory_bytes: 1 << 30 };

    /// The length of the stored heads of the newest version, after checking the database and reading the
    /// heads.
    fn stored_len(database: &Database, run: &Run) -> Option<usize> {
        let version = database.latest().unwrap();
        let report = check(&version, run).unwrap();
        assert!(report.is_sound(), "{:?}", report.problems);
        let length =
            version.stored_heads().unwrap().map(esker_layers::graph::bounded::headed::StoredHeads::head_len);
        let headed = version.view().resident(Access::Headed(OPTIONS)).unwrap();
        let graph = headed.graph::<i32>(run).unwrap();
        assert_eq!(graph.num_arcs(), version.num_arcs());
        graph.prepare(run, Direction::Out).unwrap();
        length
    }

    #[test]
    fn heads_survive_reopening_and_merging_in_any_encoding() {
        let run = Run::with_threads(2).unwrap();
        for directed in [false, true] {
            let disk = FaultyDisk::new(1);
            let shared: Arc<dyn Disk> = Arc::new(disk.clone());
            let sample = Sample { encoding: Encoding::Plain, ..Sample::random(400, 2500, directed, 7) };
            sample.write(&shared, Path::new(DB), false).unwrap();
            let database = open(&disk);
            assert_eq!(stored_len(&database, &run), None);
            database.make_heads(HeadedOptions { head_len: Some(3), ..OPTIONS }, &run).unwrap();
            database.make_heads(HeadedOptions { head_len: Some(5), ..OPTIONS }, &run).unwrap();
            assert_eq!(stored_len(&database, &run), Some(5));
            database.close().unwrap();
            disk.crash();
            let database = open(&disk);
            assert_eq!(stored_len(&database, &run), Some(5));
            let mut batch = database.batch();
            let (u, v, _) = sample.edges[0];
            batch.remove_edge(u64::from(u), u64::from(v)).unwrap();
            database.commit(batch, "one less").unwrap();
            // Of the oldest layer, below the new one.
            database.freeze(&run).unwrap();
            database.make_heads(HeadedOptions { head_len: Some(4), ..OPTIONS }, &run).unwrap();
            assert_eq!(stored_len(&database, &run), Some(4));
            database.compact(&run).unwrap();
            assert_eq!(stored_len(&database, &run), Some(4));
            database.compact_to(Some(Encoding::Compressed), &run).unwrap();
            assert_eq!(stored_len(&database, &run), Some(4));
            database.make_heads(HeadedOptions { head_len: Some(2), ..OPTIONS }, &run).unwrap();
            assert_eq!(stored_len(&database, &run), Some(2));
        }
    }
}
