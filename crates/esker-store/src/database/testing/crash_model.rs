//! The contents that a database may have after requests of which some may have failed; for tests with faults.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use esker_format::{CopyPolicy, ElementType, Error, Result, Retention, WriteOptions};
use esker_graph::Run;
use esker_graph::random::Random;

use crate::database::testing::model::{
    ModelChange, ModelVersion, commit, leave_out_removed, normal, read, verify_version,
};
use crate::database::{CompactOptions, Database, Renumber};
use crate::sample::Sample;

/// The number of vertices of the imported graph.
pub(crate) const NUM_VERTICES: u64 = 8;
/// Selects the newest version.
pub(crate) const NEWEST: usize = usize::MAX;

/// A user's request. Numbers select among the versions or tags that exist then.
#[derive(Debug, Clone)]
pub(crate) enum UserRequest {
    Commit(Vec<ModelChange>),
    Freeze,
    Merge,
    /// Compacts and renumbers.
    Compact,
    /// Compacts as the options say; not with [`Renumber::Auto`].
    CompactTo(CompactOptions),
    Define,
    Tag(usize, usize),
    Untag(usize),
    Forget(usize),
    /// Forgets several versions at once.
    ForgetAll(Vec<usize>),
    Retain(Retention),
    SetOptions(WriteOptions),
    Reopen,
}

/// A request, resolved to existing versions and tags.
#[derive(Debug)]
pub(crate) enum ResolvedRequest<'s> {
    Commit(&'s [ModelChange]),
    Freeze,
    Merge,
    Compact(CompactOptions),
    /// Adds an edge property.
    Define,
    Tag(String, u64),
    Untag(String),
    Forget(BTreeSet<u64>),
    Retain(Retention),
    SetOptions(WriteOptions),
}

/// The content of a database.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DatabaseContent {
    pub(crate) directed: bool,
    /// The newest version that is in a layer.
    pub(crate) frozen: u64,
    /// The versions that no record of the manifest has removed, including those that the retention hides.
    pub(crate) present: BTreeMap<u64, Arc<ModelVersion>>,
    pub(crate) tags: BTreeMap<String, u64>,
    pub(crate) retention: Retention,
    pub(crate) options: WriteOptions,
    /// The number of the next version.
    pub(crate) next: u64,
    /// Whether a commit may become a layer at once.
    pub(crate) freezes_at_once: bool,
}

impl DatabaseContent {
    pub(crate) fn of(sample: &Sample) -> Self {
        Self {
            directed: sample.directed,
            frozen: 1,
            present: [(1, Arc::new(ModelVersion::of(sample)))].into(),
            tags: BTreeMap::new(),
            retention: Retention::All,
            options: WriteOptions::default(),
            next: 2,
            freezes_at_once: false,
        }
    }

    fn newest(&self) -> u64 {
        *self.present.last_key_value().unwrap().0
    }

    /// The versions that the retention does not keep.
    fn hidden(&self) -> BTreeSet<u64> {
        let Retention::Last(count) = self.retention else { return BTreeSet::new() };
        let older = self.present.keys().rev().skip(count as usize);
        older.filter(|version| !self.tags.values().any(|tagged| tagged == *version)).copied().collect()
    }

    /// The versions that a reader sees.
    pub(crate) fn versions(&self) -> BTreeMap<u64, Arc<ModelVersion>> {
        let hidden = self.hidden();
        let shown = self.present.iter().filter(|(version, _)| !hidden.contains(version));
        shown.map(|(version, content)| (*version, Arc::clone(content))).collect()
    }

    /// The version at an index, modulo their number.
    fn pick(&self, index: usize) -> u64 {
        match index {
            NEWEST => self.newest(),
            _ => {
                let versions = self.versions();
                *versions.keys().nth(index % versions.len()).unwrap()
            }
        }
    }

    /// Resolves a request; `None` if there is nothing to apply it to.
    fn resolve<'s>(&self, request: &'s UserRequest) -> Option<ResolvedRequest<'s>> {
        match request {
            UserRequest::Commit(changes) => Some(ResolvedRequest::Commit(changes)),
            UserRequest::Freeze => Some(ResolvedRequest::Freeze),
            UserRequest::Merge => Some(ResolvedRequest::Merge),
            UserRequest::Compact => {
                let renumber = Renumber::Always;
                Some(ResolvedRequest::Compact(CompactOptions { renumber, ..CompactOptions::default() }))
            }
            UserRequest::CompactTo(options) => Some(ResolvedRequest::Compact(*options)),
            UserRequest::Define => Some(ResolvedRequest::Define),
            UserRequest::Tag(name, index) => {
                Some(ResolvedRequest::Tag(format!("tag {name}"), self.pick(*index)))
            }
            UserRequest::Untag(index) => {
                let name = self.tags.keys().nth(index % self.tags.len().max(1))?;
                Some(ResolvedRequest::Untag(name.clone()))
            }
            UserRequest::Forget(index) => self.resolve_forget(&[*index]),
            UserRequest::ForgetAll(indexes) => self.resolve_forget(indexes),
            UserRequest::Retain(retention) => Some(ResolvedRequest::Retain(*retention)),
            UserRequest::SetOptions(options) => Some(ResolvedRequest::SetOptions(*options)),
            UserRequest::Reopen => None,
        }
    }

    fn resolve_forget(&self, indexes: &[usize]) -> Option<ResolvedRequest<'static>> {
        let gone: BTreeSet<u64> = indexes.iter().map(|index| self.pick(*index)).collect();
        let is_free =
            gone.len() < self.versions().len() && !self.tags.values().any(|tagged| gone.contains(tagged));
        is_free.then_some(ResolvedRequest::Forget(gone))
    }

    /// The contents that the database may have while a request is carried out, from that before to that
    /// after.
    fn through(&self, resolved: &ResolvedRequest<'_>) -> Vec<Self> {
        let mut next = self.clone();
        match resolved {
            ResolvedRequest::Commit(changes) => {
                let version = next.present.last_key_value().unwrap().1.with(changes, self.directed);
                next.present.insert(self.next, Arc::new(version));
                next.next += 1;
            }
            ResolvedRequest::Freeze | ResolvedRequest::Define => next.freeze(),
            ResolvedRequest::Compact(options) => {
                next.freeze();
                next.forget(&BTreeSet::new());
                if options.renumber == Renumber::Always {
                    let merged = next.clone();
                    leave_out_removed(next.present.values_mut().map(Arc::make_mut));
                    return vec![self.clone(), merged, next];
                }
            }
            ResolvedRequest::Merge => {}
            ResolvedRequest::Tag(name, version) => {
                // A tagged version must be in a layer.
                let is_in_log = *version > self.frozen;
                next.tags.insert(name.clone(), *version);
                if is_in_log {
                    next.freeze();
                }
            }
            ResolvedRequest::Untag(name) => drop(next.tags.remove(name)),
            ResolvedRequest::Forget(gone) => next.forget(gone),
            ResolvedRequest::SetOptions(options) => next.options = *options,
            ResolvedRequest::Retain(retention) => {
                let hidden = self.hidden();
                next.retention = *retention;
                next.forget(&hidden);
            }
        }
        vec![self.clone(), next]
    }

    /// All versions become part of layers, and the manifest forgets those that are hidden.
    fn freeze(&mut self) {
        if self.frozen < self.newest() {
            self.frozen = self.newest();
            let hidden = self.hidden();
            self.present.retain(|version, _| !hidden.contains(version));
        }
    }

    /// Removes versions, and those that are hidden, from the manifest.
    fn forget(&mut self, gone: &BTreeSet<u64>) {
        let newest = self.newest();
        let gone: BTreeSet<u64> = gone.union(&self.hidden()).copied().collect();
        let in_layers = self.present.range(..=self.frozen).next_back().map(|(newest, _)| *newest);
        self.present.retain(|version, _| !gone.contains(version));
        if gone.contains(&newest) {
            // All commits in the log become a layer, except the forgotten ones.
            self.frozen = self.next - 1;
        } else if gone.last().copied() >= in_layers {
            self.freeze();
        }
    }

    /// Whether an open database reports the same versions, tags, retention and options.
    fn matches(&self, db: &Database) -> bool {
        let manifest = db.manifest();
        let in_layers = manifest.log_start().first_version - 1;
        (in_layers, &*manifest.tags, manifest.retention) == (self.frozen, &self.tags, self.retention)
            && db.write_options() == self.options
            && db.versions().iter().map(|version| version.number).eq(self.versions().keys().copied())
    }

    /// Checks that the database reads every version correctly.
    pub(crate) fn verify(&self, db: &Database, run: &Run) {
        let versions = self.versions();
        for (&number, expected) in &versions {
            verify_version(&db.at(number).unwrap(), expected, run);
        }
        for number in (1..=self.next).filter(|number| !versions.contains_key(number)) {
            let refused = db.at(number).map(drop).unwrap_err();
            assert!(matches!(refused, Error::NotFound { .. }), "version {number}: {refused}");
        }
    }
}

/// The possible contents of a database; several after an operation whose effect is unknown.
#[derive(Debug, Clone)]
pub(crate) struct PossibleContents(pub(crate) Vec<DatabaseContent>);

impl PossibleContents {
    /// Performs a request, which may fail, and updates the possible contents.
    pub(crate) fn advance(&mut self, db: &Database, request: &UserRequest, run: &Run) -> Result<()> {
        let shown = self.find(db, run).clone();
        let Some(resolved) = shown.resolve(request) else { return Ok(()) };
        let stages: Vec<Vec<DatabaseContent>> =
            self.0.iter().map(|content| content.through(&resolved)).collect();
        let outcome = match &resolved {
            ResolvedRequest::Commit(changes) => commit(db, changes).map(drop),
            ResolvedRequest::Freeze => db.freeze(run).map(drop),
            ResolvedRequest::Merge => db.merge(run).map(drop),
            ResolvedRequest::Compact(options) => db.compact_with(*options, run).map(drop),
            ResolvedRequest::Define => define(db, run),
            ResolvedRequest::Tag(name, version) => db.tag(name, *version),
            ResolvedRequest::Untag(name) => db.untag(name),
            ResolvedRequest::Forget(gone) => db.forget_all(&Vec::from_iter(gone.iter().copied())),
            ResolvedRequest::Retain(retention) => db.retain(*retention),
            ResolvedRequest::SetOptions(options) => db.set_write_options(*options),
        };
        // A failed commit may be on the disk, but a freeze does not include it.
        let is_frozen =
            |stages: &[DatabaseContent]| !matches!(resolved, ResolvedRequest::Freeze) || stages[0] == shown;
        self.0 = match outcome {
            Ok(()) => stages
                .into_iter()
                .map(|mut stages| stages.swap_remove(if is_frozen(&stages) { stages.len() - 1 } else { 0 }))
                .collect(),
            Err(_) => stages.into_iter().flatten().collect(),
        };
        if matches!(resolved, ResolvedRequest::Commit(_)) && shown.freezes_at_once {
            for mut frozen in self.0.clone() {
                frozen.freeze();
                if !self.0.contains(&frozen) {
                    self.0.push(frozen);
                }
            }
        }
        outcome
    }

    /// The possible content that an open database reports.
    pub(crate) fn find(&self, db: &Database, run: &Run) -> &DatabaseContent {
        let mut matching = self.0.iter().filter(|content| content.matches(db)).peekable();
        let first = matching.next();
        // Failed commits may share a version number, and renumbering changes no version number; then the
        // versions decide.
        let found = if matching.peek().is_none() {
            first
        } else {
            let is_read = |(&number, expected): (&u64, &Arc<ModelVersion>)| {
                normal(&read(&db.at(number).unwrap(), run).unwrap()) == normal(expected)
            };
            first.into_iter().chain(matching).find(|content| content.versions().iter().all(is_read))
        };
        found.unwrap_or_else(|| {
            let numbers: Vec<u64> = db.versions().iter().map(|version| version.number).collect();
            panic!("versions {numbers:?} and {:?} match none of {:#?}", db.manifest(), self.0)
        })
    }

    /// Checks that an open database has one of the possible contents, which is then the only one.
    pub(crate) fn verify(&mut self, db: &Database, run: &Run) {
        let found = self.find(db, run).clone();
        found.verify(db, run);
        self.0 = vec![found];
    }
}

impl UserRequest {
    pub(crate) fn random(random: &mut Random) -> Self {
        match random.index(24) {
            0..7 => Self::Commit(changes(random)),
            7..10 => Self::Freeze,
            10 => Self::Merge,
            11 if random.index(100) < 30 => {
                Self::CompactTo(CompactOptions { renumber: Renumber::Never, ..CompactOptions::default() })
            }
            11 => Self::Compact,
            12 => Self::Tag(random.index(2), random.index(100)),
            13 => Self::Forget(NEWEST),
            14 => Self::Untag(random.index(100)),
            15 => Self::Forget(random.index(100)),
            16 => Self::ForgetAll(vec![NEWEST, random.index(100), random.index(100)]),
            19 => Self::ForgetAll((0..random.index(5)).map(|_| random.index(100)).collect()),
            20 => Self::ForgetAll((1..=1 + random.index(3)).map(|_| random.index(100)).collect()),
            17 => Self::Retain([Retention::All, Retention::Last(1), Retention::Last(3)][random.index(3)]),
            18 => Self::Define,
            21 => Self::SetOptions(WriteOptions {
                policy: CopyPolicy::ALL[random.index(3)],
                // Large enough that the commits of the model never freeze by themselves.
                freeze_bytes: (32 + random.index(64) as u64) << 20,
                auto_merge: random.index(2) == 0,
            }),
            _ => Self::Reopen,
        }
    }
}

pub(crate) fn changes(random: &mut Random) -> Vec<ModelChange> {
    (0..random.index(8)).map(|_| ModelChange::random(NUM_VERTICES, random)).collect()
}

/// As many changes as there are vertices.
pub(crate) fn many_changes(num_vertices: u64, random: &mut Random) -> Vec<ModelChange> {
    (0..num_vertices).map(|_| ModelChange::random(num_vertices, random)).collect()
}

/// Adds an edge property, of texts and of numbers alternately.
fn define(db: &Database, run: &Run) -> Result<()> {
    let count = db.batch().edge_properties().len();
    let element = count.is_multiple_of(2).then_some(ElementType::U16);
    db.add_edge_property(&format!("property {count}"), element, false, run)
}
