//! Compares vertex properties in layers, merged or not, with a history in memory, and damages their files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::Error;
use esker_format::io::{Disk, FaultyDisk};
use esker_format::{DatabaseId, ElementType, LogicalType, Origin, Owner, PAGE_BYTES, PropertyRecord};
use esker_graph::{Run, VertexId, vertex};
use proptest::prelude::*;

use super::*;

const ORIGIN: Origin = Origin::of_import(DatabaseId([3; 16]));
/// Vertices of the last version. More than a page of the widest values.
const NUM_VERTICES: usize = 1500;

/// What a property holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    I32,
    F64,
    U8,
    Texts,
    Vectors,
}

const KINDS: [Kind; 5] = [Kind::I32, Kind::F64, Kind::U8, Kind::Texts, Kind::Vectors];

impl Kind {
    fn record(self) -> PropertyRecord {
        let element = match self {
            Self::I32 => ElementType::I32,
            Self::F64 | Self::Vectors => ElementType::F64,
            Self::U8 | Self::Texts => ElementType::U8,
        };
        let (owner, name) = (Owner::Vertices, "age".to_owned());
        let logical = match self {
            Self::Texts => LogicalType::Text,
            Self::Vectors => LogicalType::Vector { len: 2 },
            _ => LogicalType::Number,
        };
        PropertyRecord {
            number: 7,
            owner,
            name,
            element,
            logical,
            weight: false,
            kind: false,
            optional: false,
        }
    }

    /// Calls `with` with the value that stands for a number.
    fn value<R>(self, seed: u16, with: impl FnOnce(PropertyValue<'_>) -> R) -> R {
        match self {
            Self::I32 => with(PropertyValue::I32(-1000 + i32::from(seed))),
            Self::F64 => with(PropertyValue::F64(f64::from(seed) / 8.0)),
            Self::U8 => with(PropertyValue::U8(seed as u8)),
            Self::Texts => with(text(seed).as_str().into()),
            Self::Vectors => with(PropertyValue::Vector(VectorValue::new(&numbers(seed), true))),
        }
    }

    fn optional<R>(self, seed: Option<u16>, with: impl FnOnce(Option<PropertyValue<'_>>) -> R) -> R {
        match seed {
            Some(seed) => self.value(seed, |value| with(Some(value))),
            None => with(None),
        }
    }
}

/// The numbers of a vector.
fn numbers(seed: u16) -> Vec<u8> {
    [f64::from(seed), -0.5].into_iter().flat_map(f64::to_le_bytes).collect()
}

fn text(seed: u16) -> String {
    if seed.is_multiple_of(5) {
        String::new()
    } else {
        format!("{seed}{}", "-".repeat(usize::from(seed % 7)))
    }
}

/// A layer and the versions that it tells apart.
#[derive(Debug)]
struct Layer {
    column: Arc<PropertyColumn>,
    versions: Vec<u64>,
}

/// Layers of a property, and the history that they tell.
struct Store {
    kind: Kind,
    disk: FaultyDisk,
    run: Run,
    layers: Vec<Layer>,
    /// For each vertex, its changes in the order of versions.
    history: BTreeMap<VertexId, Vec<(u64, Option<u16>)>>,
    directories: usize,
}

/// Number of vertices at a version.
fn num_vertices(version: u64) -> usize {
    NUM_VERTICES.min(40 + 100 * version as usize)
}

impl Store {
    fn new(kind: Kind) -> Self {
        let (disk, run) = (FaultyDisk::new(0), Run::with_threads(2).unwrap());
        Self { kind, disk, run, layers: Vec::new(), history: BTreeMap::new(), directories: 0 }
    }

    fn directory(&mut self) -> PathBuf {
        self.directories += 1;
        let directory = PathBuf::from(format!("layer{}", self.directories));
        self.disk.create_directory(&directory).unwrap();
        directory
    }

    fn last_version(&self) -> u64 {
        self.layers.last().map_or(0, |layer| layer.versions[layer.versions.len() - 1])
    }

    /// Writes a layer of some versions; each is a list of changes.
    fn freeze(&mut self, versions: &[Vec<(usize, Option<u16>)>]) {
        let first = self.last_version() + 1;
        let record = self.kind.record();
        let mut sorted = BTreeMap::new();
        for (version, changes) in (first..).zip(versions) {
            for &(v, value) in changes {
                sorted.insert((vertex(v % num_vertices(version)), version), value);
            }
        }
        let directory = self.directory();
        let files =
            PropertyFiles { disk: &self.disk, directory: &directory, origin: ORIGIN, record: &record };
        let mut writer = PropertyWriter::create(&files).unwrap();
        for (&(v, version), &value) in &sorted {
            let code = (version - first) as u32 + 1;
            self.kind.optional(value, |value| writer.push(v, code, value)).unwrap();
            self.history.entry(v).or_default().push((version, value));
        }
        assert_eq!(writer.finish().unwrap(), sorted.len() as u64);
        let column = Arc::new(PropertyColumn::open(&files).unwrap());
        let versions: Vec<u64> = (first..).take(versions.len()).collect();
        column
            .verify(num_vertices(self.last_version().max(first + 4)), versions.len() as u32, &self.run)
            .unwrap();
        self.layers.push(Layer { column, versions });
    }

    /// Unites adjacent layers; of their versions, `keep` and the last are still told apart.
    fn merge(&mut self, from: usize, count: usize, keep: impl Fn(u64) -> bool) {
        let from = from % (self.layers.len() + 1);
        let range = from..(from + count).min(self.layers.len());
        if range.is_empty() {
            return;
        }
        let (directory, record) = (self.directory(), self.kind.record());
        let files =
            PropertyFiles { disk: &self.disk, directory: &directory, origin: ORIGIN, record: &record };
        let old = &self.layers[range.clone()];
        let all: Vec<u64> = old.iter().flat_map(|layer| layer.versions.iter().copied()).collect();
        let last = all[all.len() - 1];
        let versions: Vec<u64> =
            all.into_iter().filter(|&version| version == last || keep(version)).collect();
        let recode = |layer: usize, code: u32| {
            let version = old[layer].versions[code as usize - 1];
            Some(versions.partition_point(|&kept| kept < version) as u32 + 1)
        };
        let columns: Vec<_> = old.iter().map(|layer| Arc::clone(&layer.column)).collect();
        let changes = merge_columns(&files, &columns, recode, Some, from == 0, &self.run).unwrap();
        let column = Arc::new(PropertyColumn::open(&files).unwrap());
        assert_eq!(column.len() as u64, changes);
        column.verify(NUM_VERTICES, versions.len() as u32, &self.run).unwrap();
        if from == 0 {
            let changes: Vec<_> = (0..column.len()).map(|at| column.change(at).unwrap()).collect();
            let mut first = changes.chunk_by(|a, b| a.vertex == b.vertex).map(|of_one| of_one[0]);
            assert!(first.all(|change| change.value.is_some()), "nothing is taken from nothing");
        }
        self.layers.splice(range, [Layer { column, versions }]);
    }

    fn expected(&self, v: VertexId, version: u64) -> Option<u16> {
        let changes = self.history.get(&v)?;
        let seen = changes.partition_point(|change| change.0 <= version);
        changes[seen.checked_sub(1)?].1
    }

    /// The property at a version, as its newest layer and a rank in it.
    fn view(&self, version: u64, layer: usize, rank: u32) -> VertexProperty {
        let layers = self.layers[..=layer].iter().enumerate().map(|(i, older)| PropertyLayer {
            column: Arc::clone(&older.column),
            rank: if i == layer { rank } else { u32::MAX },
        });
        VertexProperty::new(self.kind.record(), num_vertices(version), layers)
    }

    fn check(&self) {
        let mut before = 0;
        for (i, layer) in self.layers.iter().enumerate() {
            for (rank, version) in (0..).zip([before].into_iter().chain(layer.versions.iter().copied())) {
                self.check_view(&self.view(version, i, rank), version);
            }
            before = layer.versions[layer.versions.len() - 1];
        }
    }

    fn check_view(&self, view: &VertexProperty, version: u64) {
        let all: Vec<Option<u16>> =
            (0..num_vertices(version)).map(|v| self.expected(vertex(v), version)).collect();
        for (v, &expected) in all.iter().enumerate() {
            let found = view.get(vertex(v)).unwrap();
            self.kind.optional(expected, |value| assert_eq!(found, value, "vertex {v}, version {version}"));
        }
        assert!(view.get(vertex(all.len())).is_err());
        let run = &self.run;
        match self.kind {
            Kind::I32 => compare(&view.array::<i32>(run).unwrap(), &all, |seed| -1000 + i32::from(seed)),
            Kind::F64 => compare(&view.array::<f64>(run).unwrap(), &all, |seed| f64::from(seed) / 8.0),
            Kind::U8 => compare(&view.array::<u8>(run).unwrap(), &all, |seed| seed as u8),
            Kind::Texts | Kind::Vectors => {
                let array = view.texts(run).unwrap();
                assert_eq!(array.len(), all.len());
                let is_text = self.kind == Kind::Texts;
                let bytes = |seed| if is_text { text(seed).into_bytes() } else { numbers(seed) };
                for (v, expected) in all.iter().enumerate() {
                    assert_eq!(array.get(vertex(v)).unwrap(), expected.map(bytes).as_deref());
                }
            }
        }
        if self.kind == Kind::U8 {
            let removed = RemovedVertices::default().with(view.layers(), run).unwrap();
            let expected: Vec<VertexId> =
                (0..all.len()).filter(|&v| all[v].is_some_and(|seed| seed as u8 != 0)).map(vertex).collect();
            assert_eq!((removed.list(), removed.count()), (&expected[..], expected.len()));
            assert!((0..all.len()).all(|v| removed.is_removed(vertex(v)) == expected.contains(&vertex(v))));
            let (older, newest) = view.layers().split_at(view.layers().len() - 1);
            let step = RemovedVertices::default().with(older, run).unwrap().with(newest, run).unwrap();
            assert_eq!(step.list(), removed.list());
        }
    }
}

fn value_of<T: esker_format::Element + crate::lama::Paged>(array: &PropertyArray<T>, v: usize) -> Option<T> {
    (array.present().get(v) != 0).then(|| array.values().get(v))
}

fn compare<T: esker_format::Element + crate::lama::Paged + PartialEq + std::fmt::Debug>(
    array: &PropertyArray<T>,
    expected: &[Option<u16>],
    value: impl Fn(u16) -> T,
) {
    assert_eq!(array.values().len(), expected.len());
    assert!((0..expected.len()).all(|v| value_of(array, v) == expected[v].map(&value)));
}

#[derive(Debug, Clone)]
enum Step {
    Freeze(Vec<Vec<(usize, Option<u16>)>>),
    Merge { from: usize, count: usize, keep: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    // Few vertices are changed often, the others seldom.
    let v = prop_oneof![0..8_usize, 0..NUM_VERTICES];
    let change = (v, prop::option::weighted(0.7, any::<u16>()));
    let version = prop::collection::vec(change, 0..20);
    prop_oneof![
        3 => prop::collection::vec(version, 1..5).prop_map(Step::Freeze),
        1 => (any::<usize>(), 1..5_usize, 1..4_u64).prop_map(|(from, count, keep)| Step::Merge { from, count, keep }),
    ]
}

proptest! {
    #![proptest_config(esker_format::testing::cases(60))]
    #[test]
    fn every_version_reads_as_its_history(
        kind in 0..4_usize, dense: bool, steps in prop::collection::vec(step(), 1..12),
    ) {
        let mut store = Store::new(KINDS[kind]);
        if dense {
            let all = (0..num_vertices(1)).map(|v| (v, Some(v as u16))).collect();
            store.freeze(&[all]);
        }
        for step in steps {
            match step {
                Step::Freeze(versions) => store.freeze(&versions),
                Step::Merge { from, count, keep } => {
                    store.merge(from, count, |version| version.is_multiple_of(keep));
                }
            }
        }
        store.check();
        store.merge(0, usize::MAX / 2, |version| version.is_multiple_of(2));
        store.check();
    }
}

#[test]
fn an_array_of_a_version_shares_pages_with_the_one_before() {
    let mut store = Store::new(Kind::F64);
    store.freeze(&[(0..num_vertices(1)).map(|v| (v, Some(1))).collect()]);
    store.freeze(&[vec![(3, Some(2)), (4, None), (200, Some(9))]]);
    let run = &store.run;
    let layer = |at: usize| PropertyLayer { column: Arc::clone(&store.layers[at].column), rank: u32::MAX };
    let mut first = PropertyArray::<f64>::new(3000);
    first.apply(&layer(0), 3000, run).unwrap();
    let mut second = first.clone();
    second.apply(&layer(1), 3001, run).unwrap();
    assert_eq!((value_of(&first, 3), value_of(&second, 3)), (Some(0.125), Some(0.25)));
    assert_eq!((value_of(&first, 4), value_of(&second, 4)), (Some(0.125), None));
    assert_eq!((first.values().len(), second.values().len()), (3000, 3001));
    assert_eq!(value_of(&second, 3000), None);
    let own = second.values().owned_bytes() - second.values().table_bytes();
    assert_eq!(own, 8 << 10, "of three pages, the one that changed");
}

#[test]
fn what_does_not_fit_is_refused() {
    let disk = FaultyDisk::new(0);
    let directory = Path::new("l");
    disk.create_directory(directory).unwrap();
    let record = Kind::I32.record();
    let files = PropertyFiles { disk: &disk, directory, origin: ORIGIN, record: &record };
    let mut writer = PropertyWriter::create(&files).unwrap();
    let mut told = |v, code, value| writer.push(v, code, Some(value)).unwrap_err().to_string();
    assert_eq!(told(0, 1, PropertyValue::F32(1.0)), "values of \"age\" are not f32");
    assert_eq!(told(1, 1, "seven".into()), "values of \"age\" are not texts");
    writer.push(5, 2, Some(7.into())).unwrap();
    for (v, code) in [(5, 2), (5, 1), (4, 9), (6, 1 << 31)] {
        let told = writer.push(v, code, None).unwrap_err().to_string();
        assert_eq!(told, format!("changes of \"age\" are out of order at vertex {v}, code {code}"));
    }
    writer.push(6, 0, None).unwrap();
    writer.finish().unwrap();
    let column = Arc::new(PropertyColumn::open(&files).unwrap());
    let run = Run::with_threads(1).unwrap();
    let view =
        VertexProperty::new(record, 9, [PropertyLayer { column: Arc::clone(&column), rank: u32::MAX }]);
    let told = view.array::<f32>(&run).unwrap_err().to_string();
    assert_eq!(told, "the property holds i32, not f32");
    assert_eq!(
        view.texts(&run).unwrap().get(5).unwrap_err().to_string(),
        "the property holds i32, not texts"
    );
    assert_eq!(view.get(5).unwrap(), Some(PropertyValue::I32(7)));
    let told = |n, last| column.verify(n, last, &run).unwrap_err().to_string();
    assert!(told(6, 2).contains("vertex 6 in a graph of 6 vertices"));
    assert!(told(7, 1).contains("code 2 in a layer of 1 version"));
    column.verify(7, 2, &run).unwrap();
}

#[test]
fn descending_codes_stop_a_merge() {
    let mut store = Store::new(Kind::U8);
    store.freeze(&[vec![(1, Some(1))], vec![(1, Some(2))]]);
    let (directory, record) = (store.directory(), store.kind.record());
    let files = PropertyFiles { disk: &store.disk, directory: &directory, origin: ORIGIN, record: &record };
    let columns = [Arc::clone(&store.layers[0].column)];
    let merged = merge_columns(&files, &columns, |_, code| Some(9 - code), Some, true, &store.run);
    assert_eq!(merged.unwrap_err().to_string(), "codes descend from 8 to 7 in a merge, at vertex 1");
}

#[test]
fn numbers_are_read_as_users_write_them() {
    assert_eq!(PropertyValue::parse(ElementType::I64, " -7 "), Some(PropertyValue::I64(-7)));
    assert_eq!(PropertyValue::parse(ElementType::F32, "1.5"), Some(PropertyValue::F32(1.5)));
    assert_eq!(PropertyValue::parse(ElementType::U8, "256"), None);
    for value in [PropertyValue::U16(65_000), PropertyValue::F64(-0.125), PropertyValue::I32(-3)] {
        assert_eq!(PropertyValue::parse(value.element().unwrap(), &value.to_string()), Some(value));
    }
    assert_eq!(PropertyValue::from("a text").to_string(), "a text");
}

/// Reads everything in every way; the first error ends it.
fn interrogate(disk: &FaultyDisk, kind: Kind) -> esker_format::Result<()> {
    let (record, run) = (kind.record(), Run::with_threads(1)?);
    let files = PropertyFiles { disk, directory: Path::new("l"), origin: ORIGIN, record: &record };
    let points = PropertyLayer { column: Arc::new(PropertyColumn::open(&files)?), rank: 1 };
    let view = VertexProperty::new(kind.record(), 50, [points]);
    for v in 0..50 {
        let found = view.get(v)?;
        let expected = (v % 3 == 0).then_some(v as u16);
        kind.optional(expected, |value| assert_eq!(found, value));
    }
    let whole = PropertyLayer { column: Arc::new(PropertyColumn::open(&files)?), rank: 1 };
    let view = VertexProperty::new(kind.record(), 50, [whole]);
    if kind != Kind::I32 {
        let texts = view.texts(&run)?;
        (0..50).try_for_each(|v| texts.get(v).map(drop))?;
    } else {
        view.array::<i32>(&run)?;
    }
    PropertyColumn::open(&files)?.verify(50, 1, &run)
}

#[test]
fn every_damage_is_an_error_that_names_the_file() {
    for kind in [Kind::I32, Kind::Texts, Kind::Vectors] {
        let (disk, directory, record) = (FaultyDisk::new(0), Path::new("l"), kind.record());
        disk.create_directory(directory).unwrap();
        let files = PropertyFiles { disk: &disk, directory, origin: ORIGIN, record: &record };
        let mut writer = PropertyWriter::create(&files).unwrap();
        for v in 0..50 {
            kind.optional((v % 3 == 0).then_some(v as u16), |value| writer.push(v, 1, value)).unwrap();
        }
        writer.finish().unwrap();
        interrogate(&disk, kind).unwrap();
        for entry in disk.list(directory).unwrap() {
            let path = directory.join(&entry.name);
            for offset in (0..PAGE_BYTES as u64).step_by(61).chain(PAGE_BYTES as u64..entry.bytes) {
                disk.flip(&path, offset, (offset % 8) as u8).unwrap();
                match interrogate(&disk, kind).unwrap_err() {
                    Error::Corrupt { path: named, .. } => assert_eq!(named, path, "flipped at {offset}"),
                    other => panic!("{} flipped at {offset}: {other}", entry.name),
                }
                disk.flip(&path, offset, (offset % 8) as u8).unwrap();
            }
        }
    }
}

#[test]
fn vectors_of_another_length_are_refused_and_damage() {
    let (disk, directory) = (FaultyDisk::new(0), Path::new("l"));
    disk.create_directory(directory).unwrap();
    let [texts, vectors] = [Kind::Texts, Kind::Vectors].map(Kind::record);
    let files = |record| PropertyFiles { disk: &disk, directory, origin: ORIGIN, record };
    let mut writer = PropertyWriter::create(&files(&texts)).unwrap();
    writer.push(3, 1, Some("abc".into())).unwrap();
    writer.push(4, 1, None).unwrap();
    writer.finish().unwrap();
    let column = PropertyColumn::open(&files(&vectors)).unwrap();
    assert_eq!(column.change(1).unwrap().value, None);
    let run = Run::with_threads(1).unwrap();
    for found in [column.change(0).map(drop), column.verify(10, 1, &run)] {
        assert!(found.unwrap_err().to_string().contains("a vector of 3 bytes, not 16"));
    }
    let short = PropertyValue::Vector(VectorValue::new(&[0; 8], true));
    for (directory, wrong) in [("m", short), ("n", "abc".into())] {
        disk.create_directory(Path::new(directory)).unwrap();
        let files = PropertyFiles { directory: Path::new(directory), ..files(&vectors) };
        let told = PropertyWriter::create(&files).unwrap().push(3, 1, Some(wrong)).unwrap_err().to_string();
        assert!(told.contains("values of \"age\" are not"), "{told}");
    }
}

/// Files whose checksums are right, but which do not say what a writer would have written.
#[test]
fn forged_columns_are_errors_not_panics() {
    use esker_format::{ColumnKind, ColumnSpec, ColumnWriter};
    let (disk, directory, record) = (FaultyDisk::new(0), Path::new("l"), Kind::Texts.record());
    disk.create_directory(directory).unwrap();
    let spec = |kind| ColumnSpec { origin: ORIGIN, kind };
    let path = |part: &str| directory.join(format!("property.7.{part}"));
    let vertices: Vec<VertexId> = vec![1, 900_000, 3, 4, 2, 900_001];
    let mut writer =
        ColumnWriter::create(&disk, &path("vertices"), spec(ColumnKind::VertexPropertyVertices)).unwrap();
    writer.append(&vertices).unwrap();
    writer.finish().unwrap();
    let mut writer =
        ColumnWriter::create(&disk, &path("codes"), spec(ColumnKind::VertexPropertyCodes)).unwrap();
    writer.append(&[1_u32; 6]).unwrap();
    writer.finish().unwrap();
    let mut writer =
        ColumnWriter::create(&disk, &path("ends"), spec(ColumnKind::VertexPropertyEnds)).unwrap();
    writer.append(&[3_u64, 2, 900, u64::MAX, 5, 6]).unwrap();
    writer.finish().unwrap();
    let mut writer =
        ColumnWriter::create(&disk, &path("texts"), spec(ColumnKind::VertexPropertyTexts)).unwrap();
    writer.append(b"abcdef").unwrap();
    writer.finish().unwrap();
    let files = PropertyFiles { disk: &disk, directory, origin: ORIGIN, record: &record };
    let column = Arc::new(PropertyColumn::open(&files).unwrap());
    let run = Run::with_threads(1).unwrap();
    let view = VertexProperty::new(
        record.clone(),
        1_000_000,
        [PropertyLayer { column: Arc::clone(&column), rank: u32::MAX }],
    );
    for v in 0..6 {
        let _ = view.get(v);
    }
    assert!((0..6).any(|at| column.change(at).is_err()));
    let told = column.verify(1_000_000, 1, &run).unwrap_err().to_string();
    assert!(told.contains("changes do not ascend"), "{told}");
    if let Ok(texts) = view.texts(&run) {
        let _ = texts.get(1);
    }
    let merged = Path::new("m");
    disk.create_directory(merged).unwrap();
    let output = PropertyFiles { directory: merged, ..files };
    let told =
        merge_columns(&output, &[column], |_, code| Some(code), Some, true, &run).unwrap_err().to_string();
    assert!(told.contains("is damaged"), "{told}");
}
