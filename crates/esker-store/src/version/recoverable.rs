//! The recoverable part of a database whose files are lost or damaged.
//!
//! Every file of each layer is read. A layer of a directed graph whose lists are whole in one direction alone
//! is kept: those of the other direction can be made again. If MANIFEST is lost, damaged or older than the
//! rest, the layers themselves say what they are (`manifest/account.rs`), and the longest sequence of whole
//! layers that follow one another is kept.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{
    Archive, Encoding, Error, LayerRecord, Origin, Result, SharedTiles, TilesRecord, Values, archived_name,
    stamp_of,
};
use esker_graph::{Direction, Run};
use esker_layers::tiles::{TileFiles, Tiles};

use super::files::{BaseIds, OpenFiles, lost_file};
use super::forms::tile_shape;
use super::layer::Layer;
use super::state::State;
use crate::manifest::{
    Account, MANIFEST_NAME, Manifest, Versions, account_path, expect_database, layer_directory, read_account,
    read_left,
};

/// Codes of Linux for what the disk cannot read (EIO), and for damage that the file system finds (EBADMSG,
/// EUCLEAN).
const DAMAGE_CODES: [i32; 3] = [5, 74, 117];

/// What can be kept.
#[derive(Debug)]
pub(crate) struct RecoverableState {
    /// What MANIFEST is to say. Its layers are whole but for `lacks`.
    pub(crate) manifest: Manifest,
    /// What is wrong with MANIFEST or with the layers; `None`: nothing.
    pub(crate) problem: Option<Error>,
    /// The last version that is known to have been in layers.
    pub(crate) last_version: u64,
    /// The direction whose lists a layer has lost, and that can be made of the others.
    pub(crate) lacks: Option<Direction>,
    /// The number of records of MANIFEST whose content is known.
    pub(crate) records: u64,
}

/// What can be read of MANIFEST.
#[derive(Debug)]
pub(crate) struct ManifestLeft {
    /// The state after its last good record; `None`: nothing can be read.
    pub(crate) manifest: Option<Manifest>,
    /// What is wrong.
    pub(crate) problem: Option<Error>,
}

impl ManifestLeft {
    /// Reads MANIFEST of the database at a path as far as it can be trusted.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Invalid`] if there is no database, or for an unsupported format version.
    pub(crate) fn read(disk: &dyn Disk, path: &Path) -> Result<Self> {
        let file = path.join(MANIFEST_NAME);
        let (contents, problem) = match read_left(disk, &file) {
            Ok(left) => left,
            Err(problem @ Error::Corrupt { .. }) => {
                return Ok(Self { manifest: None, problem: Some(problem) });
            }
            Err(error) if error.is_not_found() => {
                if disk.look(&path.join("layers"))?.is_none() {
                    expect_database(disk, path)?;
                }
                let (database, reason) = (path.to_owned(), "is missing".to_owned());
                let problem = Some(Error::Lost { database, path: file, reason });
                return Ok(Self { manifest: None, problem });
            }
            Err(error) => return Err(error),
        };
        match Manifest::assemble(&file, contents) {
            Ok(manifest) => Ok(Self { manifest: Some(manifest), problem }),
            Err(wrong @ Error::Corrupt { .. }) => {
                Ok(Self { manifest: None, problem: problem.or(Some(wrong)) })
            }
            Err(error) => Err(error),
        }
    }
}

/// A layer that may be kept.
#[derive(Debug)]
struct LayerCandidate {
    record: LayerRecord,
    /// Its tiles, if nothing else holds its lists.
    tiles: Option<TilesRecord>,
    account: Option<Account>,
    /// Whether MANIFEST lists it.
    is_listed: bool,
    lacks: Option<Direction>,
}

/// The outcome of reading all files of a layer.
#[derive(Debug)]
struct Examined {
    lacks: Option<Direction>,
    problem: Option<Error>,
}

/// What reads the layers of a database.
struct Examiner<'a> {
    disk: &'a Arc<dyn Disk>,
    path: &'a Path,
    run: &'a Run,
}

impl RecoverableState {
    /// Reads everything but the log. `known_records` is the number of MANIFEST's records that the log knows
    /// of.
    ///
    /// # Errors
    /// [`Error::Io`]; cancellation; the problem, if no version can be kept.
    pub(crate) fn of(
        disk: &Arc<dyn Disk>,
        path: &Path,
        ManifestLeft { manifest, problem }: ManifestLeft,
        known_records: u64,
        run: &Run,
    ) -> Result<Self> {
        let examiner = Examiner { disk, path, run };
        let (mut problem, mut candidates) = (problem, Vec::new());
        // A MANIFEST that is whole, and newer than all else, names all layers that count.
        let is_stale = manifest.as_ref().is_none_or(|manifest| manifest.records < known_records);
        let mut lists_all = problem.is_none() && !is_stale;
        for record in manifest.iter().flat_map(|manifest| &manifest.layers) {
            let Some(manifest) = &manifest else { continue };
            let (candidate, wrong) = examiner.listed(manifest, record)?;
            candidates.extend(candidate);
            lists_all &= !matches!(wrong, Some(Error::Lost { .. }));
            problem = problem.or(wrong);
        }
        if !lists_all {
            candidates.extend(examiner.unlisted(manifest.as_ref())?);
        }
        let stack = longest(&candidates);
        if stack.is_empty() {
            return Err(
                problem.unwrap_or_else(|| Error::invalid(format!("{}: no layer is whole", path.display())))
            );
        }
        let known = candidates.iter().map(|candidate| candidate.record.last_version);
        let listed =
            manifest.iter().flat_map(|manifest| manifest.layers.iter().map(|layer| layer.last_version));
        let last_version = known.chain(listed).max().unwrap_or(0);
        let mut left = manifest_of(stack.clone(), manifest.as_ref(), path)?;
        let lacks = stack.iter().find_map(|candidate| candidate.lacks);
        let records = left.records;
        left.records = records.max(known_records) + 1;
        examiner.expect_ids(&left)?;
        Ok(Self { manifest: left, problem, last_version, lacks, records })
    }
}

impl Examiner<'_> {
    /// Reads a layer that MANIFEST lists; `None` if it cannot be kept. Also returns what is wrong.
    fn listed(
        &self,
        manifest: &Manifest,
        record: &LayerRecord,
    ) -> Result<(Option<LayerCandidate>, Option<Error>)> {
        let tiles = manifest.tiles.iter().find(|tiles| tiles.layer == record.number);
        let tiles = tiles.filter(|_| record.encoding == Encoding::Tiles).cloned();
        let directory = layer_directory(self.path, record.number);
        let account = Archive::open_left(self.disk, &directory)
            .and_then(|(archive, _)| read_account(&archive, &directory));
        let account = match account {
            Err(error) if is_refusal(&error) => return Err(error),
            read => read.ok().filter(|account| account.layer.stamp == record.stamp),
        };
        match self.examine(manifest, record, tiles.as_ref())? {
            Ok(Examined { lacks, problem }) => {
                let record = record.clone();
                Ok((Some(LayerCandidate { record, tiles, account, is_listed: true, lacks }), problem))
            }
            Err(problem) => Ok((None, Some(problem))),
        }
    }

    /// Reads the layers that MANIFEST does not list. A layer with the number of one that it lists is of
    /// another copy of the database.
    fn unlisted(&self, manifest: Option<&Manifest>) -> Result<Vec<LayerCandidate>> {
        let layers = self.path.join("layers");
        if self.disk.look(&layers)?.is_none() {
            return Ok(Vec::new());
        }
        let mut accounts = Vec::new();
        for entry in self.disk.list(&layers)? {
            let name = archived_name(&entry.name);
            let Some(number) = name.parse::<u32>().ok().filter(|_| name != entry.name && !entry.is_directory)
            else {
                continue;
            };
            if manifest.is_some_and(|manifest| manifest.layers.iter().any(|layer| layer.number == number)) {
                continue;
            }
            let directory = layer_directory(self.path, number);
            match Archive::open_left(self.disk, &directory)
                .and_then(|(archive, _)| read_account(&archive, &directory))
            {
                Ok(account) if account.layer.number == number => {
                    if manifest.is_none_or(|manifest| has_same_versions(&account, manifest)) {
                        accounts.push(account);
                    }
                }
                Err(error) if is_refusal(&error) => return Err(error),
                Ok(_) | Err(Error::Corrupt { .. } | Error::Io { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        // Files of other databases may lie there.
        let newest = accounts.iter().max_by_key(|account| account.header.first_record);
        let database =
            manifest.map(|manifest| manifest.database).or(newest.map(|newest| newest.header.database));
        let mut candidates = Vec::new();
        for account in accounts {
            if Some(account.header.database) != database {
                continue;
            }
            let (record, directory) =
                (account.layer.clone(), layer_directory(self.path, account.layer.number));
            let tiles =
                (record.encoding == Encoding::Tiles).then(|| self.tiles_of(&record, &directory)).transpose();
            let tiles = match tiles {
                Ok(tiles) => tiles,
                Err(error) if is_refusal(&error) => return Err(error),
                Err(_) => continue,
            };
            let Some(alone) = account.manifest(tiles.as_ref()) else { continue };
            if let Ok(Examined { lacks, .. }) = self.examine(&alone, &record, tiles.as_ref())? {
                candidates.push(LayerCandidate {
                    record,
                    tiles,
                    account: Some(account),
                    is_listed: false,
                    lacks,
                });
            }
        }
        Ok(candidates)
    }

    /// The record of the tiles of a layer that are written with it.
    fn tiles_of(&self, record: &LayerRecord, directory: &Path) -> Result<TilesRecord> {
        let mut shared = Vec::new();
        for entry in self.disk.list(directory)? {
            let number = entry.name.strip_prefix("tiles.data.").and_then(|number| number.parse().ok());
            if let Some(layer) = number {
                let stamp = stamp_of(self.disk.as_ref(), &TileFiles::shared(directory, layer))?;
                shared.push(SharedTiles { layer, stamp });
            }
        }
        Ok(TilesRecord { layer: record.number, stamp: record.stamp, num_edges: record.num_edges, shared })
    }

    /// Reads all files of a layer. The inner error says why it cannot be kept.
    fn examine(
        &self,
        manifest: &Manifest,
        record: &LayerRecord,
        tiles: Option<&TilesRecord>,
    ) -> Result<std::result::Result<Examined, Error>> {
        match self.read_layer(manifest, record, tiles) {
            Ok(examined) => Ok(Ok(examined)),
            Err(Error::Stop(stop)) => Err(stop.into()),
            Err(error) if is_refusal(&error) => Err(error),
            Err(problem) => Ok(Err(lost_file(self.path, problem))),
        }
    }

    fn read_layer(
        &self,
        manifest: &Manifest,
        record: &LayerRecord,
        tiles: Option<&TilesRecord>,
    ) -> Result<Examined> {
        let directory = layer_directory(self.path, record.number);
        let origin = Origin { database: manifest.database, stamp: record.stamp };
        let (archive, mut damaged) = Archive::open_left(self.disk, &directory)?;
        let optional = [account_path(&directory), directory.join("added")];
        for path in archive.paths().filter(|path| !optional.contains(path)) {
            let verified =
                Values::open_any(&archive, &path, origin).and_then(|values| values.verify(self.run));
            match verified {
                Ok(()) => {}
                Err(Error::Stop(stop)) => return Err(stop.into()),
                Err(problem) => damaged.push((path, problem)),
            }
        }
        if let Some(refused) = damaged.iter().position(|(_, problem)| is_refusal(problem)) {
            return Err(damaged.swap_remove(refused).1);
        }
        if let Some(record_of_tiles) = tiles {
            let origin = Origin { stamp: record_of_tiles.stamp, ..origin };
            let shape = tile_shape(record, record_of_tiles);
            let tiles = Tiles::open(self.disk, &directory, origin, shape, &record_of_tiles.shared)?;
            for path in tiles.archive().paths() {
                Values::open_any(tiles.archive(), &path, origin)?.verify(self.run)?;
            }
            tiles.data().all(self.run)?;
        }
        let is_of = |prefix: &str| {
            damaged.iter().all(|(path, _)| {
                path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
            })
        };
        let lacks = match () {
            () if damaged.is_empty() => None,
            () if !record.in_edges || record.encoding == Encoding::Tiles => None,
            () if is_of("in.") => Some(Direction::In),
            () if is_of("out.") => Some(Direction::Out),
            () => None,
        };
        let problem = damaged.into_iter().next().map(|(_, problem)| problem);
        match (lacks, problem) {
            (None, Some(problem)) => Err(problem),
            (Some(lacks), problem) => {
                let kept = lacks.reverse();
                Layer::open_only(self.disk, &directory, manifest, record, kept)?;
                Ok(Examined {
                    lacks: Some(lacks),
                    problem: problem.map(|problem| lost_file(self.path, problem)),
                })
            }
            (None, None) => {
                Layer::open(self.disk, &directory, manifest, record)?;
                Ok(Examined { lacks: None, problem: None })
            }
        }
    }

    /// Reads the map of the ids that were imported, without which no version can be read.
    fn expect_ids(&self, manifest: &Manifest) -> Result<()> {
        let imported =
            manifest.layers.first().map_or(0, |layer| layer.num_vertices.saturating_sub(layer.num_new_ids));
        let ids = BaseIds::open(self.disk, self.path, manifest, imported)?;
        let Some(archive) = ids.archive() else { return Ok(()) };
        for path in archive.paths() {
            Values::open_any(archive, &path, manifest.ids_origin())?.verify(self.run)?;
        }
        Ok(())
    }
}

/// Whether the system refused to read, for example for want of rights, memory or open files: the file may be
/// whole. It is not if it is missing or too short, or if the disk cannot read it.
fn is_refusal(error: &Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound, Other, UnexpectedEof};
    let Error::Io { source, .. } = error else { return false };
    // A page of a map that cannot be read is `Other`.
    let is_lost = matches!(source.kind(), NotADirectory | NotFound | Other | UnexpectedEof);
    !is_lost && !source.raw_os_error().is_some_and(|code| DAMAGE_CODES.contains(&code))
}

/// Whether a layer has no version that MANIFEST knows as another one: then it would be of a copy that took
/// another course.
fn has_same_versions(account: &Account, manifest: &Manifest) -> bool {
    account.versions().all(|version| {
        let listed = manifest.version(version.number).map(|listed| listed.commit);
        let marked = manifest.log.filter(|mark| mark.version == version.number).map(|mark| mark.checksum);
        listed.or(marked).is_none_or(|known| known == version.commit)
    })
}

/// The sequence of layers that follow one another from a complete one on and reach the latest version; of
/// several, the one of later layers.
fn longest(candidates: &[LayerCandidate]) -> Vec<&LayerCandidate> {
    let mut order: Vec<&LayerCandidate> = candidates.iter().collect();
    // What MANIFEST lists comes first.
    order.sort_by_key(|candidate| (!candidate.is_listed, std::cmp::Reverse(candidate.record.number)));
    let mut best: Vec<&LayerCandidate> = Vec::new();
    let mut open: Vec<Vec<&LayerCandidate>> = order
        .iter()
        .rev()
        .filter(|candidate| candidate.record.complete)
        .map(|&candidate| vec![candidate])
        .collect();
    let end = |stack: &[&LayerCandidate]| stack.last().map_or(0, |top| top.record.last_version);
    while let Some(stack) = open.pop() {
        let Some(top) = stack.last() else { continue };
        let follows = |next: &&&LayerCandidate| {
            let (below, above) = (&top.record, &next.record);
            !above.complete
                && below.last_version + 1 == above.first_version
                && below.last_commit == above.previous_commit
        };
        let is_compatible =
            |next: &&&LayerCandidate| match (next.lacks, stack.iter().find_map(|one| one.lacks)) {
                (Some(one), Some(other)) => one == other,
                _ => true,
            };
        for next in order.iter().rev().filter(follows).filter(is_compatible) {
            open.push([&stack[..], &[*next]].concat());
        }
        if end(&stack) > end(&best) {
            best = stack;
        }
    }
    best
}

/// The manifest of the layers that are kept: what MANIFEST says of those that it lists, and the account of
/// the last layer says of the rest.
fn manifest_of(mut stack: Vec<&LayerCandidate>, listed: Option<&Manifest>, path: &Path) -> Result<Manifest> {
    let same = |listed: &&Manifest| {
        let mut pairs = stack.iter().zip(&listed.layers);
        stack.len() <= listed.layers.len() && pairs.all(|(kept, layer)| kept.record == *layer)
    };
    let prefix_of = listed.filter(same);
    if let Some(listed) = prefix_of {
        if stack.len() == listed.layers.len() {
            return Ok(listed.clone());
        }
        // The layers must end with the newest version: where a later one was forgotten, they hold its changes
        // too.
        while stack.last().is_some_and(|last| listed.version(last.record.last_version).is_none()) {
            stack.pop();
        }
    }
    let no_version = || Error::invalid(format!("{}: no version can be kept", path.display()));
    let top = *stack.last().ok_or_else(no_version)?;
    let of_account = top.account.as_ref().and_then(|account| account.manifest(top.tiles.as_ref()));
    let mut manifest = match (prefix_of, of_account) {
        (Some(listed), Some(account)) => Manifest { properties: account.properties, ..listed.clone() },
        (Some(listed), None) => listed.clone(),
        (None, Some(account)) => account,
        (None, None) => return Err(no_version()),
    };
    let listed_numbers: Vec<u32> =
        stack.iter().filter(|one| one.is_listed).map(|one| one.record.number).collect();
    let is_kept = |number: u32| listed_numbers.contains(&number);
    manifest.layers = stack.iter().map(|one| one.record.clone()).collect();
    manifest.tiles =
        listed.iter().flat_map(|listed| &listed.tiles).filter(|one| is_kept(one.layer)).cloned().collect();
    manifest.heads =
        listed.iter().flat_map(|listed| &listed.heads).filter(|one| is_kept(one.layer)).copied().collect();
    manifest.tiles.extend(stack.iter().filter(|one| !one.is_listed).filter_map(|one| one.tiles.clone()));
    manifest.versions = Versions::default();
    for candidate in &stack {
        let range = candidate.record.first_version..=candidate.record.last_version;
        let of_manifest = listed.filter(|_| candidate.is_listed).map(|listed| listed.versions.iter());
        let of_account = candidate.account.as_ref().filter(|_| !candidate.is_listed).map(Account::versions);
        let versions = of_manifest.into_iter().flatten().chain(of_account.into_iter().flatten());
        for version in versions.filter(|version| range.contains(&version.number)) {
            manifest.versions.insert(version.clone());
        }
    }
    if manifest.versions.is_empty() {
        return Err(no_version());
    }
    let mut tags = BTreeMap::clone(&manifest.tags);
    tags.extend(
        listed.iter().flat_map(|listed| listed.tags.iter().map(|(name, &version)| (name.clone(), version))),
    );
    tags.retain(|_, version| manifest.versions.get(*version).is_some());
    manifest.tags = Arc::new(tags);
    manifest.log = listed.and_then(|listed| listed.log);
    let records = listed.map_or(0, |listed| listed.records);
    manifest.records = manifest.records.max(records);
    Ok(manifest)
}

/// Opens the lists of one direction alone of all layers, as out-lists.
///
/// # Errors
/// [`Error::Io`]; [`Error::Corrupt`].
pub(crate) fn open_only(
    disk: &Arc<dyn Disk>,
    path: &Path,
    manifest: &Manifest,
    direction: Direction,
) -> Result<State> {
    let layers = manifest.layers.iter().map(|record| {
        let directory = layer_directory(path, record.number);
        Layer::open_only(disk, &directory, manifest, record, direction).map(Arc::new)
    });
    let layers = layers.collect::<Result<Vec<_>>>()?;
    let records = layers.iter().map(|layer| layer.record().clone()).collect();
    let alone =
        Manifest { layers: records, tiles: Vec::new(), heads: Vec::new(), kept: None, ..manifest.clone() };
    let files = OpenFiles::of_layers(disk, path, &alone, layers)?;
    Ok(State::of(Arc::clone(disk), path, alone, files))
}
