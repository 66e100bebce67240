//! Versions of a graph and the state of the database that they belong to: lists and properties of single
//! vertices.

use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use esker_format::io::Disk;
use esker_format::{Archive, Error, LayerRecord, Owner, PropertyRecord, Result, Sought, VersionRecord};
use esker_graph::{Direction, Operation, Remaining, Reservation, Run, message};
use esker_layers::graph::bounded::headed::StoredHeads;
use esker_layers::ids::{IdHasher, IdMap};
use esker_layers::property::{Dictionary, PropertyLayer, REMOVED_NUMBER, RemovedVertices};
use esker_layers::stack::Stack;
use esker_layers::tiles::Tiles;

use super::files::{BaseIds, OpenFiles, lost_file};
use super::forms::Beside;
use super::layer::{Layer, own_tiles};
use crate::manifest::{MANIFEST_NAME, Manifest};

/// One version of the graph in a database: what is stored. A handle of one pointer, cheap to clone; clones,
/// and the views made from them, share maps of files and what has been verified. A version never changes.
///
/// It gives counts, ids, properties, and point reads: methods that take a vertex. A point read verifies the
/// checksums of the blocks that it touches, each once. To compute on the whole graph, make a [`View`] of it
/// with [`Version::view`]. [`diff`](crate::diff::diff) compares two versions.
///
/// ```no_run
/// use esker_graph::Direction;
/// use esker_store::{Result, Store};
///
/// # fn main() -> Result<()> {
/// let version = Store::open("people.esker")?.latest()?;
/// println!("version {}: {} edges", version.number(), version.num_edges());
/// let alice = version.ids().find("alice")?;
/// for &neighbor in version.neighbors(Direction::Out, alice)?.iter() {
///     println!("alice follows {}", version.ids().external_of(neighbor)?);
/// }
/// # Ok(())
/// # }
/// ```
///
/// [`View`]: crate::View
#[derive(Debug, Clone)]
pub struct Version {
    contents: Arc<Contents>,
}

#[derive(Debug)]
struct Contents {
    /// Keeps the layers open.
    state: Arc<State>,
    record: VersionRecord,
    stack: Stack,
    /// For each edge property, its dictionary if it is text.
    dictionaries: Vec<Option<Dictionary>>,
    ids: IdMap,
    removed: OnceLock<RemovedVertices>,
    remaining: OnceLock<(Remaining, Reservation)>,
}

impl Version {
    /// Maps the newest version in the layers of the database at `path`; commits that are only in the log are
    /// not in it. Reads the manifest and the headers of all files, nothing else.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Lost`] if a layer is missing; [`Error::Invalid`] if a
    /// newer Esker, or one with another width of vertex ids, wrote it.
    pub fn open(disk: &Arc<dyn Disk>, path: &Path) -> Result<Self> {
        let state = Arc::new(State::read(Arc::clone(disk), path)?);
        state.version(state.newest())
    }

    /// A version of a state. What was made for `older` is used again where it still holds.
    fn at(state: &Arc<State>, number: u64, older: Option<&Self>) -> Result<Self> {
        let manifest = &state.manifest;
        let record = manifest.version(number).cloned();
        let record = record.ok_or_else(|| {
            let path = state.path.display();
            let reason = message![format!("{path} has no version {number}: "), Operation::Log, " lists them"];
            Error::not_found(Sought::Version, reason)
        })?;
        let lists: Vec<_> = state.layers.iter().map(|layer| Arc::clone(layer.lists())).collect();
        // With the newest version the layers end, also where versions that were forgotten came after it.
        let seen = if number == state.newest() { manifest.log_start().first_version - 1 } else { number };
        let stack = Stack::new(&lists, seen, record.num_vertices)?;
        if let Some(older) = older {
            stack.inherit(&older.contents.stack);
        }
        let layers = &state.layers[..stack.layers().len()];
        let dictionary = |property: &PropertyRecord| {
            let parts =
                layers.iter().filter_map(|layer| layer.dictionary(property.number).cloned()).collect();
            property.is_text().then(|| Dictionary::new(parts)).transpose()
        };
        let edges = manifest.properties.iter().filter(|property| property.owner == Owner::Edges);
        let dictionaries = edges.map(dictionary).collect::<Result<_>>()?;
        let segments = layers.iter().filter_map(|layer| layer.ids().cloned());
        let ids = state.ids.map.with_segments(segments, stack.num_vertices())?;
        let (state, removed, remaining) = (Arc::clone(state), OnceLock::new(), OnceLock::new());
        let contents = Contents { state, record, stack, dictionaries, ids, removed, remaining };
        Ok(Self { contents: Arc::new(contents) })
    }

    fn is_of(&self, state: &State) -> bool {
        Arc::ptr_eq(&self.contents.state.manifest, &state.manifest)
    }

    /// The state of the database that it is a version of.
    pub(crate) fn state(&self) -> &Arc<State> {
        &self.contents.state
    }

    /// The directory of the database.
    pub fn path(&self) -> &Path {
        &self.contents.state.path
    }

    /// What the manifest says.
    pub fn manifest(&self) -> &Manifest {
        &self.contents.state.manifest
    }

    /// Its newest layer.
    pub fn layer(&self) -> &LayerRecord {
        self.contents.stack.layers().last().unwrap_or_else(|| unreachable!("a stack has a layer")).record()
    }

    /// The layers that it reads.
    pub fn stack(&self) -> &Stack {
        &self.contents.stack
    }

    /// Whether its history has another version as it was read: the same database, in which that version is
    /// not newer, and was neither forgotten nor undone, and vertices were not renumbered meanwhile.
    pub fn continues(&self, other: &Self) -> bool {
        let (manifest, version) = (self.manifest(), other.record());
        manifest.database == other.manifest().database
            && manifest.ids == other.manifest().ids
            && version.number <= self.number()
            && manifest
                .version(version.number)
                .is_some_and(|known| known.committed_ms == version.committed_ms)
    }

    /// What the manifest says of it: its number, times, message, and numbers of edges and vertices.
    pub fn record(&self) -> &VersionRecord {
        &self.contents.record
    }

    /// Its number: 1 is the import.
    pub fn number(&self) -> u64 {
        self.contents.record.number
    }

    /// The map between external ids and vertices.
    pub fn ids(&self) -> &IdMap {
        &self.contents.ids
    }

    /// Vertices are numbered from 0 to this, the removed ones included: see [`Version::num_present`].
    pub fn num_vertices(&self) -> usize {
        self.contents.stack.num_vertices()
    }

    /// Number of edges; an undirected one counts once.
    pub fn num_edges(&self) -> u64 {
        self.contents.record.num_edges
    }

    /// Entries of all out-lists; an undirected edge counts twice, a self-loop once.
    pub fn num_arcs(&self) -> u64 {
        self.contents.record.num_arcs
    }

    /// Whether out-lists and in-lists differ.
    pub fn is_directed(&self) -> bool {
        self.layer().directed
    }

    /// Whether lists of this direction are kept.
    pub fn has(&self, direction: Direction) -> bool {
        self.contents.stack.has(direction)
    }

    /// The vertices that are removed in this version. They have no edges, and no number of a later vertex is
    /// theirs.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn removed(&self, run: &Run) -> Result<&RemovedVertices> {
        if let Some(removed) = self.contents.removed.get() {
            return Ok(removed);
        }
        let removed = RemovedVertices::default().with(&self.property_layers(REMOVED_NUMBER), run)?;
        Ok(self.contents.removed.get_or_init(|| removed))
    }

    /// Number of vertices that are there: those that are not removed.
    ///
    /// # Errors
    /// As [`Version::removed`].
    pub fn num_present(&self, run: &Run) -> Result<usize> {
        Ok(self.num_vertices() - self.removed(run)?.count())
    }

    /// The vertices that are there, numbered anew without gaps; `None` if none is removed. Made once, see
    /// [`Remaining`] for its memory, and kept as long as the version is open.
    ///
    /// # Errors
    /// As [`Version::removed`]; [`Error::Stop`] if the memory exceeds that of the run.
    pub fn remaining(&self, run: &Run) -> Result<Option<&Remaining>> {
        let removed = self.removed(run)?;
        if removed.count() == 0 {
            return Ok(None);
        }
        if let Some((remaining, _)) = self.contents.remaining.get() {
            return Ok(Some(remaining));
        }
        let n = self.num_vertices();
        let bytes = Remaining::bytes(n as u64, removed.count() as u64);
        let memory = run.budget().reserve("the numbers of the vertices that are left", bytes)?;
        let remaining = Remaining::new(n, removed.list())?;
        Ok(Some(&self.contents.remaining.get_or_init(|| (remaining, memory)).0))
    }

    /// The dictionaries of the edge properties, by number; `None` for a property that is not text.
    pub(super) fn dictionaries(&self) -> &[Option<Dictionary>] {
        &self.contents.dictionaries
    }

    /// The changes of a vertex property, in each layer that has some.
    pub(super) fn property_layers(&self, number: u32) -> Vec<PropertyLayer> {
        let count = self.contents.stack.layers().len();
        let layers = self.contents.state.layers[..count].iter().enumerate();
        let found = layers.filter_map(|(position, layer)| {
            let column = Arc::clone(layer.vertex_property(number)?);
            let rank = self.contents.stack.rank().filter(|_| position + 1 == count).unwrap_or(u32::MAX);
            Some(PropertyLayer { column, rank })
        });
        found.collect()
    }
}

/// The manifest and the open layers of a database. Immutable; versions share it.
#[derive(Debug)]
pub(crate) struct State {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    manifest: Arc<Manifest>,
    /// Oldest first.
    layers: Vec<Arc<Layer>>,
    /// The ids of the vertices that were imported.
    ids: BaseIds,
    tiles: Beside<Tiles>,
    heads: Beside<StoredHeads>,
    /// The version asked for last, so that what was verified and made for it is not done again.
    last: Mutex<Option<Version>>,
}

impl State {
    /// Reads the manifest and the headers of all files. The files are mapped now: what another process
    /// removes later stays readable.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Lost`] if a layer is missing; [`Error::Invalid`] if a
    /// newer Esker, or one with another width of vertex ids, wrote it.
    pub(crate) fn read(disk: Arc<dyn Disk>, path: &Path) -> Result<Self> {
        let opened = Manifest::read_with(disk.as_ref(), path, |manifest| {
            let files = OpenFiles::open(&disk, path, manifest, &[])?;
            // New tiles or heads of a layer take the names of the old ones, so those opened may be of both.
            let may_be_mixed = || -> Result<bool> {
                let now = Manifest::read(disk.as_ref(), &path.join(MANIFEST_NAME))?;
                Ok(now.head() != manifest.head())
            };
            if !(manifest.tiles.is_empty() && manifest.heads.is_empty()) && may_be_mixed()? {
                let path = path.display();
                return Err(Error::invalid(format!("{path} changed while it was opened: open it again")));
            }
            Ok(files)
        });
        let opened = opened.map_err(|error| lost_file(path, error));
        let (manifest, files) = opened?;
        Ok(Self::of(disk, path, manifest, files))
    }

    /// The state that a manifest describes which is not written yet.
    ///
    /// # Errors
    /// As [`State::read`].
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &Path, manifest: &Manifest) -> Result<Self> {
        let files = OpenFiles::open(disk, path, manifest, &[])?;
        Ok(Self::of(Arc::clone(disk), path, manifest.clone(), files))
    }

    /// The state that a manifest describes, whose files are open.
    pub(super) fn of(disk: Arc<dyn Disk>, path: &Path, manifest: Manifest, files: OpenFiles) -> Self {
        let OpenFiles { layers, ids, tiles, heads } = files;
        let (path, manifest) = (path.to_owned(), Arc::new(manifest));
        Self { disk, path, manifest, layers, ids, tiles, heads, last: Mutex::new(None) }
    }

    /// The same database after a change of its manifest, with the layers that the new one names, oldest
    /// first.
    pub(crate) fn with(&self, manifest: Manifest, layers: Vec<Arc<Layer>>) -> Self {
        let last = self.last.lock().clone();
        let tiles = Beside::open(&self.disk, &self.path, &manifest, &self.tiles);
        let heads = Beside::open(&self.disk, &self.path, &manifest, &self.heads);
        let ids = self.ids.after(&self.manifest, &manifest);
        let (manifest, last) = (Arc::new(manifest), Mutex::new(last));
        Self { manifest, layers, ids, tiles, heads, last, ..self.forgetful() }
    }

    /// The same database after another process changed its manifest. Layers that are still in it stay open.
    ///
    /// # Errors
    /// As [`State::read`].
    pub(crate) fn reopened(&self, manifest: Manifest) -> Result<Self> {
        let files = OpenFiles::open(&self.disk, &self.path, &manifest, &self.layers)?;
        let last = self.last.lock().clone();
        let tiles = Beside::open(&self.disk, &self.path, &manifest, &self.tiles);
        let heads = Beside::open(&self.disk, &self.path, &manifest, &self.heads);
        let opened = Self::of(Arc::clone(&self.disk), &self.path, manifest, files);
        Ok(Self { tiles, heads, last: Mutex::new(last), ..opened })
    }

    /// The same, without a version that was asked for.
    fn forgetful(&self) -> Self {
        Self {
            disk: Arc::clone(&self.disk),
            path: self.path.clone(),
            manifest: Arc::clone(&self.manifest),
            layers: self.layers.clone(),
            ids: self.ids.clone(),
            tiles: self.tiles.clone(),
            heads: self.heads.clone(),
            last: Mutex::new(None),
        }
    }

    /// The disk.
    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// The directory of the database.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the manifest says.
    pub(crate) fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// The layers, oldest first.
    pub(crate) fn layers(&self) -> &[Arc<Layer>] {
        &self.layers
    }

    /// The hash of external ids.
    pub(crate) fn hasher(&self) -> IdHasher {
        self.ids.map.hasher()
    }

    /// The columns of the map of external ids, but those of ids in layers; `None` if it has none.
    pub(crate) fn ids_archive(&self) -> Option<&Archive> {
        self.ids.archive()
    }

    /// Has the files of the map of imported ids removed once no state needs them: a state after a renumbering
    /// is shown.
    pub(crate) fn retire_ids(&self) {
        self.ids.retire();
    }

    /// The tiles of a layer; `None` if it has none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`].
    pub(crate) fn tiles_of(&self, layer: u32) -> Result<Option<&Tiles>> {
        let others = || self.tiles.of(&self.disk, &self.path, &self.manifest, layer);
        own_tiles(&self.layers, layer).map_or_else(others, |tiles| Ok(Some(tiles)))
    }

    /// The stored heads of a layer; `None` if it has none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`].
    pub(crate) fn heads_of(&self, layer: u32) -> Result<Option<&StoredHeads>> {
        self.heads.of(&self.disk, &self.path, &self.manifest, layer)
    }

    /// Whether external ids are texts; else they are integers.
    pub(crate) fn has_text_ids(&self) -> bool {
        self.ids.map.is_text()
    }

    /// The number of the newest version.
    pub(crate) fn newest(&self) -> u64 {
        self.manifest.versions.last().map_or(0, |version| version.number)
    }

    /// The version of a number.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none; [`Error::Corrupt`].
    pub(crate) fn version(self: &Arc<Self>, number: u64) -> Result<Version> {
        let mut last = self.last.lock();
        if let Some(known) = last.as_ref().filter(|last| last.is_of(self) && last.number() == number) {
            return Ok(known.clone());
        }
        // A state that held itself through its last version would never be dropped, nor its layers.
        let version = Version::at(&Arc::new(self.forgetful()), number, last.as_ref())?;
        *last = Some(version.clone());
        Ok(version)
    }
}
