//! Random commits, freezes, tags and reopenings against a model: every version is what its commits made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use esker_graph::{Direction, Run};
use proptest::prelude::*;

use super::{Database, DatabaseOptions, OwnedValue};
use crate::check::check;
use crate::error::Result;
use crate::format::{ElementType, IdMapKind};
use crate::ids::ExternalId;
use crate::io::{Disk, FaultyDisk};
use crate::property::PropertyValue;
use crate::sample::{KINDS, Sample, kind_of};
use crate::snapshot::Snapshot;

const DB: &str = "web.esker";

/// A change, in the words of a user.
#[derive(Debug, Clone)]
enum Change {
    Add(u64, u64, i32, u8),
    Remove(u64, u64),
    AddVertex(u64),
    RemoveVertex(u64),
    Age(u64, Option<i64>),
    Name(u64, Option<String>),
}

#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<Change>),
    Freeze,
    Merge,
    Compact,
    Reopen,
    Tag,
}

/// Weight and kind of an edge.
type Properties = (i32, Vec<u8>);

/// A version in the words of a user.
#[derive(Debug, Clone, Default, PartialEq)]
struct Version {
    vertices: BTreeSet<u64>,
    edges: BTreeMap<(u64, u64), Vec<Properties>>,
    ages: BTreeMap<u64, i64>,
    names: BTreeMap<u64, String>,
}

struct Model {
    directed: bool,
    versions: Vec<Version>,
}

fn kind_text(kind: u8) -> Vec<u8> {
    match KINDS.get(kind as usize) {
        Some(text) => text.to_vec(),
        None => format!("kind {kind}").into_bytes(),
    }
}

impl Model {
    fn of(sample: &Sample) -> Self {
        let mut first = Version { vertices: (0..sample.num_vertices as u64).collect(), ..Version::default() };
        for &(u, v, weight) in &sample.edges {
            let key = Self::key(sample.directed, u64::from(u), u64::from(v));
            first.edges.entry(key).or_default().push((weight, kind_text(kind_of(weight))));
        }
        Self { directed: sample.directed, versions: vec![first] }
    }

    fn key(directed: bool, u: u64, v: u64) -> (u64, u64) {
        if directed { (u, v) } else { (u.min(v), u.max(v)) }
    }

    /// The sample is a multigraph.
    fn commit(&mut self, changes: &[Change]) {
        let mut version = self.versions.last().unwrap().clone();
        for change in changes {
            match change {
                Change::Add(u, v, weight, kind) => {
                    version.vertices.extend([u, v]);
                    let key = Self::key(self.directed, *u, *v);
                    version.edges.entry(key).or_default().push((*weight, kind_text(*kind)));
                }
                Change::Remove(u, v) => {
                    version.edges.remove(&Self::key(self.directed, *u, *v));
                }
                Change::AddVertex(v) => {
                    version.vertices.insert(*v);
                }
                Change::RemoveVertex(v) => {
                    version.vertices.remove(v);
                    version.edges.retain(|(a, b), _| a != v && b != v);
                }
                Change::Age(v, age) => {
                    version.vertices.insert(*v);
                    match age {
                        Some(age) => version.ages.insert(*v, *age),
                        None => version.ages.remove(v),
                    };
                }
                Change::Name(v, name) => {
                    version.vertices.insert(*v);
                    match name {
                        Some(name) => version.names.insert(*v, name.clone()),
                        None => version.names.remove(v),
                    };
                }
            }
        }
        self.versions.push(version);
    }
}

fn commit(db: &Database, changes: &[Change]) -> Result<u64> {
    let mut batch = db.batch();
    batch.define_vertex_property("age", Some(ElementType::I64));
    batch.define_vertex_property("name", None);
    for change in changes {
        match change {
            Change::Add(u, v, weight, kind) => {
                let text = kind_text(*kind);
                batch.add_edge(*u, *v, &[PropertyValue::I32(*weight), PropertyValue::Text(&text)])?;
            }
            Change::Remove(u, v) => batch.remove_edge(*u, *v)?,
            Change::AddVertex(v) => batch.add_vertex(*v)?,
            Change::RemoveVertex(v) => batch.remove_vertex(*v)?,
            Change::Age(v, age) => batch.set_vertex(*v, "age", age.map(PropertyValue::I64))?,
            Change::Name(v, name) => {
                batch.set_vertex(
                    *v,
                    "name",
                    name.as_ref().map(|name| PropertyValue::Text(name.as_bytes())),
                )?;
            }
        }
    }
    db.commit(batch, &format!("{} changes", changes.len()))
}

/// A stored version in the words of a user.
fn read(snapshot: &Snapshot, run: &Run) -> Result<Version> {
    let mut version = Version::default();
    let removed = snapshot.removed(run)?;
    let id_of = |v| -> Result<u64> {
        match snapshot.ids().external_of(v)? {
            ExternalId::Int(id) => Ok(id),
            ExternalId::Text(_) => panic!("the ids of the sample are integers"),
        }
    };
    let (age, name) = (snapshot.vertex_property("age").ok(), snapshot.vertex_property("name").ok());
    for v in (0..snapshot.num_vertices()).map(esker_graph::vertex) {
        let id = id_of(v)?;
        assert_eq!(snapshot.ids().vertex_of(ExternalId::Int(id))?, Some(v));
        let edges = snapshot.edges(Direction::Out, v)?;
        if !removed.is_removed(v) {
            version.vertices.insert(id);
        }
        for (index, &target) in edges.targets().iter().enumerate() {
            let target = id_of(target)?;
            let weight = (edges.bits(0, index)? as u32).cast_signed();
            let kind = snapshot.dictionary(1).unwrap().text(edges.bits(1, index)? as usize)?.to_vec();
            if snapshot.is_directed() || id <= target {
                version.edges.entry((id, target)).or_default().push((weight, kind));
            }
        }
        match age.as_ref().map(|age| age.get(v)).transpose()?.flatten() {
            Some(PropertyValue::I64(age)) => drop(version.ages.insert(id, age)),
            None => {}
            other => panic!("{other:?}"),
        }
        match name.as_ref().map(|name| name.get(v)).transpose()?.flatten() {
            Some(PropertyValue::Text(name)) => {
                version.names.insert(id, String::from_utf8(name.to_vec()).unwrap());
            }
            None => {}
            other => panic!("{other:?}"),
        }
    }
    Ok(version)
}

fn normal(version: &Version) -> Version {
    let mut version = version.clone();
    version.edges.values_mut().for_each(|copies| copies.sort());
    version.edges.retain(|_, copies| !copies.is_empty());
    version
}

fn verify(db: &Database, model: &Model, disk: &dyn Disk, run: &Run) {
    for (number, expected) in (1..).zip(&model.versions) {
        let snapshot = db.at(number).unwrap();
        let found = read(&snapshot, run).unwrap();
        assert_eq!(normal(&found), normal(expected), "version {number}");
        assert_eq!(
            snapshot.num_edges(),
            expected.edges.values().map(|copies| copies.len() as u64).sum::<u64>()
        );
        let report = check(disk, &snapshot, run).unwrap();
        assert!(report.is_sound(), "version {number}: {:?}", report.problems);
    }
    verify_points(db, model.versions.last().unwrap(), model.directed);
}

/// Point reads of the newest version, without a layer for what is not frozen.
fn verify_points(db: &Database, expected: &Version, directed: bool) {
    let vertex = |id: u64| db.vertex_of(ExternalId::Int(id)).unwrap().unwrap();
    for &id in &expected.vertices {
        let v = vertex(id);
        let mut out: Vec<_> = Vec::new();
        for (&(a, b), copies) in &expected.edges {
            let other = if a == id { Some(b) } else { (b == id && !directed).then_some(a) };
            out.extend(other.into_iter().flat_map(|other| std::iter::repeat_n(vertex(other), copies.len())));
            if a == id {
                assert!(db.has_edge(vertex(a), vertex(b)).unwrap());
                let mut bits: Vec<_> = db
                    .edge_bits(v, vertex(b))
                    .unwrap()
                    .iter()
                    .map(|bits| (bits[0] as u32).cast_signed())
                    .collect();
                bits.sort_unstable();
                let mut weights: Vec<_> = copies.iter().map(|copy| copy.0).collect();
                weights.sort_unstable();
                assert_eq!(bits, weights, "edge {a} {b}");
            }
        }
        out.sort_unstable();
        assert_eq!(db.neighbors(Direction::Out, v).unwrap(), out, "vertex {id}");
        assert_eq!(db.degree(Direction::Out, v).unwrap(), out.len());
        if !expected.ages.is_empty() {
            let age = expected.ages.get(&id).map(|age| OwnedValue::Number(PropertyValue::I64(*age)));
            assert_eq!(db.vertex_value(v, "age").unwrap(), age);
        }
    }
}

fn change(n: u64) -> impl Strategy<Value = Change> {
    let id = move || (0..n * 3 / 2 + 2).prop_map(move |x| x * x / (n * 3 / 2 + 2));
    prop_oneof![
        6 => (id(), id(), 0..4_i32, 0..6_u8).prop_map(|(u, v, weight, kind)| Change::Add(u, v, weight, kind)),
        3 => (id(), id()).prop_map(|(u, v)| Change::Remove(u, v)),
        1 => (0..n * 2).prop_map(Change::AddVertex),
        1 => id().prop_map(Change::RemoveVertex),
        1 => (id(), prop::option::of(-3..3_i64)).prop_map(|(v, age)| Change::Age(v, age)),
        1 => (id(), prop::option::of("[a-c]{0,2}")).prop_map(|(v, name)| Change::Name(v, name)),
    ]
}

fn step(n: u64) -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(change(n), 0..20).prop_map(Step::Commit),
        3 => Just(Step::Freeze),
        1 => Just(Step::Merge),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
        1 => Just(Step::Tag),
    ]
}

fn options() -> DatabaseOptions {
    DatabaseOptions { threads: 2, ..DatabaseOptions::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 300, ..ProptestConfig::default() })]
    #[test]
    fn every_version_is_what_its_commits_made(
        (n, steps) in (2_u64..24).prop_flat_map(|n| (Just(n), prop::collection::vec(step(n), 1..16))),
        edges in 0_usize..60, directed: bool, seed: u32,
    ) {
        let disk = FaultyDisk::new(u64::from(seed));
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut sample = Sample::random(n as usize, edges, directed, seed);
        sample.ids = IdMapKind::Identity;
        sample.write(&shared, Path::new(DB), false).unwrap();
        let run = Run::with_threads(2).unwrap();
        let mut model = Model::of(&sample);
        let mut db = Database::open_on(Arc::clone(&shared), Path::new(DB), options()).unwrap();
        for step in &steps {
            match step {
                Step::Commit(changes) => {
                    model.commit(changes);
                    let version = commit(&db, changes).unwrap();
                    prop_assert_eq!(version, model.versions.len() as u64);
                }
                Step::Freeze => drop(db.freeze(&run).unwrap()),
                Step::Merge => drop(db.merge(&run).unwrap()),
                Step::Compact => drop(db.compact(&run).unwrap()),
                Step::Reopen => {
                    db.close().unwrap();
                    db = Database::open_on(Arc::clone(&shared), Path::new(DB), options()).unwrap();
                }
                Step::Tag => db.tag("here", model.versions.len() as u64).unwrap(),
            }
            verify_points(&db, model.versions.last().unwrap(), directed);
        }
        verify(&db, &model, &disk, &run);
        db.freeze(&run).unwrap();
        verify(&db, &model, &disk, &run);
        let pinned = db.at(1).unwrap();
        db.compact(&run).unwrap();
        prop_assert_eq!(db.manifest().layers.len(), 1);
        prop_assert_eq!(normal(&read(&pinned, &run).unwrap()), normal(&model.versions[0]));
        verify(&db, &model, &disk, &run);
        db.close().unwrap();
        let db = Database::open_on(shared, Path::new(DB), options()).unwrap();
        verify(&db, &model, &disk, &run);
    }
}
