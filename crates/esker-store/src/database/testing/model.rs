//! A model of a database's content in terms of external ids, and comparisons of a database with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use esker_format::{ElementType, Result};
use esker_graph::random::Random;
use esker_graph::{Direction, Run};
use esker_layers::ids::ExternalId;
use esker_layers::property::{PropertyValue, REMOVED_NUMBER, removed_by_version};

use crate::check::check;
use crate::commit::EdgeMatch;
use crate::database::{Database, OwnedValue};
use crate::sample::{KINDS, Sample, kind_of};
use crate::version::Version;

/// The path of the database in tests.
pub(crate) const DB: &str = "web.esker";

/// An upper bound of the ids in tests.
const IDS_MAX: u64 = 64;

/// The external id that stands for an id of the model: that integer, or a text as in a [`Sample`].
enum ModelId {
    Int(u64),
    Text(String),
}

impl<'a> From<&'a ModelId> for ExternalId<'a> {
    fn from(id: &'a ModelId) -> Self {
        match id {
            ModelId::Int(id) => Self::Int(*id),
            ModelId::Text(text) => Self::Text(text.as_bytes()),
        }
    }
}

fn model_id(texts: bool, id: u64) -> ModelId {
    if texts { ModelId::Text(format!("vertex number {id}")) } else { ModelId::Int(id) }
}

/// The id of the model behind an external id.
fn id_behind(external: ExternalId<'_>) -> u64 {
    match external {
        ExternalId::Int(id) => id,
        ExternalId::Text(text) => {
            let digits = text.strip_prefix(b"vertex number ").unwrap();
            std::str::from_utf8(digits).unwrap().parse().unwrap()
        }
    }
}

/// The weight of an edge that has none, in the model.
pub(crate) const NO_WEIGHT: i32 = i32::MAX;

/// The number of the kind of an edge that has none, in the model.
pub(crate) const NO_KIND: u8 = 5;

/// A weight, or none.
fn random_weight(random: &mut Random) -> i32 {
    match random.index(5) {
        4 => NO_WEIGHT,
        weight => weight as i32,
    }
}

/// A weight as a batch takes it.
fn weight_value(weight: i32) -> PropertyValue<'static> {
    if weight == NO_WEIGHT { PropertyValue::Missing } else { PropertyValue::I32(weight) }
}

/// A kind as a batch takes it, by its text in the model.
fn kind_value(text: &[u8]) -> PropertyValue<'_> {
    if *text == *kind_text(NO_KIND) { PropertyValue::Missing } else { PropertyValue::Text(text) }
}

/// A weight of the model, by what the database has.
fn weight_of(value: PropertyValue<'_>) -> i32 {
    match value {
        PropertyValue::Missing => NO_WEIGHT,
        PropertyValue::I32(weight) => weight,
        PropertyValue::I64(weight) => weight as i32,
        other => panic!("{other:?}"),
    }
}

/// A change, in terms of external ids.
#[derive(Debug, Clone)]
pub(crate) enum ModelChange {
    Add(u64, u64, i32, u8),
    Remove(u64, u64),
    /// Removes the edges between two vertices with a weight, a kind, or both; of those with both a number, if
    /// one is given.
    RemoveSome(u64, u64, (Option<i32>, Option<u8>), Option<u64>),
    AddVertex(u64),
    RemoveVertex(u64),
    Age(u64, Option<i64>),
    Name(u64, Option<String>),
}

/// The weight and kind of an edge.
pub(crate) type Properties = (i32, Vec<u8>);

/// The content of a version, in terms of external ids.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ModelVersion {
    pub(crate) vertices: BTreeSet<u64>,
    pub(crate) edges: BTreeMap<(u64, u64), Vec<Properties>>,
    pub(crate) ages: BTreeMap<u64, i64>,
    pub(crate) names: BTreeMap<u64, String>,
}

/// All versions of a database.
pub(crate) struct DatabaseModel {
    pub(crate) directed: bool,
    pub(crate) versions: BTreeMap<u64, ModelVersion>,
    /// The number of the next version.
    pub(crate) next: u64,
}

pub(crate) fn kind_text(kind: u8) -> Vec<u8> {
    match KINDS.get(kind as usize) {
        Some(text) => text.to_vec(),
        None => format!("kind {kind}").into_bytes(),
    }
}

impl ModelVersion {
    /// The version that importing a sample makes.
    pub(crate) fn of(sample: &Sample) -> Self {
        let mut first = Self { vertices: (0..sample.num_vertices as u64).collect(), ..Self::default() };
        for &(u, v, weight) in &sample.edges {
            let key = key(sample.directed, u64::from(u), u64::from(v));
            first.edges.entry(key).or_default().push((weight, kind_text(kind_of(weight))));
        }
        first
    }

    /// This version with changes applied. The sample is a multigraph.
    pub(crate) fn with(&self, changes: &[ModelChange], directed: bool) -> Self {
        let mut version = self.clone();
        changes.iter().for_each(|change| version.change(change, directed));
        version
    }

    /// Adds a vertex. One that was removed begins without properties.
    fn add_vertex(&mut self, v: u64) {
        if self.vertices.insert(v) {
            self.ages.remove(&v);
            self.names.remove(&v);
        }
    }

    fn change(&mut self, change: &ModelChange, directed: bool) {
        match change {
            ModelChange::Add(u, v, weight, kind) => {
                self.add_vertex(*u);
                self.add_vertex(*v);
                let key = key(directed, *u, *v);
                self.edges.entry(key).or_default().push((*weight, kind_text(*kind)));
            }
            ModelChange::Remove(u, v) => {
                self.edges.remove(&key(directed, *u, *v));
            }
            ModelChange::RemoveSome(u, v, (weight, kind), at_most) => {
                let mut left = at_most.unwrap_or(u64::MAX);
                let kind = kind.map(kind_text);
                if let Some(copies) = self.edges.get_mut(&key(directed, *u, *v)) {
                    copies.retain(|(own_weight, own_kind)| {
                        let is_wanted = weight.is_none_or(|weight| weight == *own_weight)
                            && kind.as_ref().is_none_or(|kind| kind == own_kind);
                        let goes = is_wanted && left > 0;
                        left -= u64::from(goes);
                        !goes
                    });
                }
                self.edges.retain(|_, copies| !copies.is_empty());
            }
            ModelChange::AddVertex(v) => self.add_vertex(*v),
            ModelChange::RemoveVertex(v) => {
                self.vertices.remove(v);
                self.edges.retain(|(a, b), _| a != v && b != v);
            }
            ModelChange::Age(v, age) => {
                self.add_vertex(*v);
                match age {
                    Some(age) => self.ages.insert(*v, *age),
                    None => self.ages.remove(v),
                };
            }
            ModelChange::Name(v, name) => {
                self.add_vertex(*v);
                match name {
                    Some(name) => self.names.insert(*v, name.clone()),
                    None => self.names.remove(v),
                };
            }
        }
    }
}

/// Takes the properties of vertices that no version has: a compaction that renumbers leaves these vertices
/// out.
pub(crate) fn leave_out_removed<'v>(versions: impl IntoIterator<Item = &'v mut ModelVersion>) {
    let mut versions: Vec<_> = versions.into_iter().collect();
    let left: BTreeSet<u64> = versions.iter().flat_map(|version| version.vertices.iter().copied()).collect();
    for version in &mut versions {
        version.ages.retain(|v, _| left.contains(v));
        version.names.retain(|v, _| left.contains(v));
    }
}

fn key(directed: bool, u: u64, v: u64) -> (u64, u64) {
    if directed { (u, v) } else { (u.min(v), u.max(v)) }
}

impl ModelChange {
    /// A random change of a graph of about `n` vertices. Small ids are frequent, and so are conflicts.
    pub(crate) fn random(n: u64, random: &mut Random) -> Self {
        let mut id =
            |bound: u64| random.index(bound as usize) as u64 * random.index(bound as usize) as u64 / bound;
        let (u, v) = (id(n * 3 / 2 + 2), id(n * 3 / 2 + 2));
        match random.index(16) {
            0..6 => Self::Add(u, v, random_weight(random), random.index(6) as u8),
            6..9 => Self::Remove(u, v),
            9 => Self::AddVertex(random.index(2 * n as usize) as u64),
            10 => Self::RemoveVertex(u),
            13..16 => {
                let mut wanted = ((random.index(100) < 70).then(|| random_weight(random)), None);
                wanted.1 = (random.index(100) < 50).then(|| random.index(6) as u8);
                let is_exact = wanted.0.is_some() && wanted.1.is_some();
                let at_most = (is_exact && (random.index(100) < 50)).then(|| 1 + random.index(2) as u64);
                Self::RemoveSome(u, v, wanted, at_most)
            }
            11 => Self::Age(u, (random.index(100) < 60).then(|| random.index(6) as i64 - 3)),
            _ => Self::Name(u, (random.index(100) < 60).then(|| "abc"[..random.index(3)].to_owned())),
        }
    }
}

impl DatabaseModel {
    pub(crate) fn of(sample: &Sample) -> Self {
        Self { directed: sample.directed, versions: [(1, ModelVersion::of(sample))].into(), next: 2 }
    }

    pub(crate) fn newest(&self) -> (u64, &ModelVersion) {
        let (&number, version) = self.versions.last_key_value().unwrap();
        (number, version)
    }

    pub(crate) fn commit(&mut self, changes: &[ModelChange]) {
        let next = self.newest().1.with(changes, self.directed);
        self.versions.insert(self.next, next);
        self.next += 1;
    }
}

pub(crate) fn commit(db: &Database, changes: &[ModelChange]) -> Result<u64> {
    let mut batch = db.batch();
    batch.define_vertex_property("age", Some(ElementType::I64));
    batch.define_vertex_property("name", None);
    let later: Vec<PropertyValue<'_>> = batch.edge_properties()[2..]
        .iter()
        .map(|property| match property.is_text() {
            true => PropertyValue::Text(b"later"),
            false => PropertyValue::from_bits(property.element, 7),
        })
        .collect();
    let texts = db.core.state().has_text_ids();
    let id = |id: &u64| model_id(texts, *id);
    for change in changes {
        match change {
            ModelChange::Add(u, v, weight, kind) => {
                let text = kind_text(*kind);
                let own = [weight_value(*weight), kind_value(&text)];
                batch.add_edge(&id(u), &id(v), &[&own, &later[..]].concat())?;
            }
            ModelChange::Remove(u, v) => batch.remove_edge(&id(u), &id(v))?,
            ModelChange::RemoveSome(u, v, (weight, kind), at_most) => {
                let text = kind.map(kind_text);
                let weight = weight.map(|weight| (0, weight_value(weight)));
                let kind = text.as_ref().map(|text| (1, kind_value(text)));
                let values: Vec<_> = weight.into_iter().chain(kind).collect();
                batch.remove_edges(&id(u), &id(v), &EdgeMatch { values: &values, at_most: *at_most })?;
            }
            ModelChange::AddVertex(v) => batch.add_vertex(&id(v))?,
            ModelChange::RemoveVertex(v) => batch.remove_vertex(&id(v))?,
            ModelChange::Age(v, age) => batch.set_vertex(&id(v), "age", age.map(PropertyValue::I64))?,
            ModelChange::Name(v, name) => {
                batch.set_vertex(
                    &id(v),
                    "name",
                    name.as_ref().map(|name| PropertyValue::Text(name.as_bytes())),
                )?;
            }
        }
    }
    db.commit(batch, &format!("{} changes", changes.len()))
}

/// Reads the content of a stored version.
pub(crate) fn read(version: &Version, run: &Run) -> Result<ModelVersion> {
    let mut model = ModelVersion::default();
    let removed = version.removed(run)?;
    let id_of = |v| -> Result<u64> { Ok(id_behind(version.ids().external_of(v)?)) };
    let (age, name) = (version.vertex_property("age").ok(), version.vertex_property("name").ok());
    // All pairs of a small graph, some of a large one.
    let step = if version.num_vertices() <= IDS_MAX as usize { 1 } else { version.num_vertices() / 16 };
    for v in (0..version.num_vertices()).map(esker_graph::vertex) {
        let id = id_of(v)?;
        let external = model_id(version.ids().is_text(), id);
        assert_eq!(version.ids().vertex_of((&external).into())?, Some(v));
        let edges = version.edges(Direction::Out, v)?;
        for w in (0..version.num_vertices()).step_by(step).map(esker_graph::vertex) {
            assert_eq!(version.has_edge(v, w)?, edges.targets().binary_search(&w).is_ok(), "edge {v} {w}");
        }
        if !removed.is_removed(v) {
            model.vertices.insert(id);
        }
        for (index, &target) in edges.targets().iter().enumerate() {
            let target = id_of(target)?;
            let own: Vec<_> = version.edge_properties().take(2).collect();
            let weight = weight_of(version.edge_value(own[0], edges.bits(0, index)?)?);
            let kind = match version.edge_value(own[1], edges.bits(1, index)?)? {
                PropertyValue::Missing => kind_text(NO_KIND),
                PropertyValue::Text(text) => text.to_vec(),
                other => panic!("{other:?}"),
            };
            // Edges that are older than a property have its default value.
            for property in version.edge_properties().skip(2) {
                let bits = edges.bits(property.number, index)?;
                match version.dictionary(property.number) {
                    Some(texts) => assert!([&b""[..], b"later"].contains(&texts.text(bits as usize)?)),
                    None => assert!([0, 7].contains(&bits)),
                }
            }
            if version.is_directed() || id <= target {
                model.edges.entry((id, target)).or_default().push((weight, kind));
            }
        }
        match age.as_ref().map(|age| age.get(v)).transpose()?.flatten() {
            Some(PropertyValue::I64(age)) => drop(model.ages.insert(id, age)),
            None => {}
            other => panic!("{other:?}"),
        }
        match name.as_ref().map(|name| name.get(v)).transpose()?.flatten() {
            Some(PropertyValue::Text(name)) => {
                model.names.insert(id, String::from_utf8(name.to_vec()).unwrap());
            }
            None => {}
            other => panic!("{other:?}"),
        }
    }
    Ok(model)
}

pub(crate) fn normal(version: &ModelVersion) -> ModelVersion {
    let mut version = version.clone();
    version.edges.values_mut().for_each(|copies| copies.sort());
    version.edges.retain(|_, copies| !copies.is_empty());
    version
}

pub(crate) fn verify(db: &Database, model: &DatabaseModel, run: &Run) {
    for (&number, expected) in &model.versions {
        let version = db.at(number).unwrap();
        verify_version(&version, expected, run);
        let report = check(&version, run).unwrap();
        assert!(report.is_sound(), "version {number}: {:?}", report.problems);
    }
    assert!(db.versions().iter().map(|version| version.number).eq(model.versions.keys().copied()));
    let newest = db.latest().unwrap();
    let columns = newest.state().layers().iter().filter_map(|layer| {
        Some((Arc::clone(layer.vertex_property(REMOVED_NUMBER)?), layer.lists().versions().unwrap()))
    });
    let removed = removed_by_version(&columns.collect::<Vec<_>>(), run).unwrap();
    for (&number, expected) in &model.versions {
        let position = removed.partition_point(|&(since, _)| since <= number);
        let count = position.checked_sub(1).map_or(0, |last| removed[last].1) as usize;
        assert_eq!(db.at(number).unwrap().num_vertices() - count, expected.vertices.len());
    }
    for number in (1..=model.next).filter(|number| !model.versions.contains_key(number)) {
        assert!(db.at(number).is_err(), "version {number} must be forgotten");
    }
    verify_points(db, model.newest().1, model.directed);
}

pub(crate) fn verify_version(version: &Version, expected: &ModelVersion, run: &Run) {
    let found = read(version, run).unwrap();
    assert_eq!(normal(&found), normal(expected), "version {}", version.number());
    let num_edges = expected.edges.values().map(|copies| copies.len() as u64).sum::<u64>();
    assert_eq!(version.num_edges(), num_edges);
}

/// Compares point reads of the newest version, including unfrozen commits, with the model.
pub(crate) fn verify_points(db: &Database, expected: &ModelVersion, directed: bool) {
    let texts = db.core.state().has_text_ids();
    let own = db.schema().edge_properties[0].clone();
    let find = |id: u64| db.vertex_of((&model_id(texts, id)).into()).unwrap();
    for id in (0..IDS_MAX).filter(|id| !expected.vertices.contains(id)) {
        assert_eq!(find(id), None, "vertex {id} must not exist");
    }
    let vertex = |id: u64| find(id).unwrap();
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
                    .map(|bits| weight_of(PropertyValue::from_stored(&own, bits[0])))
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
        assert_eq!(db.degree(Direction::In, v).unwrap(), db.neighbors(Direction::In, v).unwrap().len());
        for w in expected.vertices.iter().map(|&id| vertex(id)) {
            assert_eq!(db.has_edge(v, w).unwrap(), out.binary_search(&w).is_ok(), "edge {v} {w}");
        }
        if !expected.ages.is_empty() {
            let age = expected.ages.get(&id).map(|age| OwnedValue::Number(PropertyValue::I64(*age)));
            assert_eq!(db.vertex_value(v, "age").unwrap(), age);
            let name = expected.names.get(&id).map(|name| OwnedValue::Text(name.clone().into_bytes()));
            assert_eq!(db.vertex_value(v, "name").unwrap(), name);
        }
    }
}
