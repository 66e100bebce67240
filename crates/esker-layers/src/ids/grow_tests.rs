//! Tests of ids added after the import: tail, segments and merged segments, at any number of vertices.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::io::{Disk, FaultyDisk};
use esker_format::{IdMapKind, PAGE_BYTES};
use esker_graph::{Run, VertexId, vertex};
use proptest::prelude::*;

use super::tests::{
    ORIGIN, all_ids, disk_of_integers, disk_of_permutation, disk_of_texts, expect_damage, files, hasher,
};
use super::*;

const KINDS: [IdMapKind; 4] =
    [IdMapKind::Identity, IdMapKind::Permuted, IdMapKind::Integers, IdMapKind::Texts];

/// An id that owns its text.
#[derive(Debug, Clone, PartialEq)]
enum OwnedId {
    Int(u64),
    Text(Vec<u8>),
}

impl OwnedId {
    fn id(&self) -> ExternalId<'_> {
        match self {
            Self::Int(id) => ExternalId::Int(*id),
            Self::Text(text) => ExternalId::Text(text),
        }
    }

    /// The id of the vertex `v` of a graph of this kind with `imported` imported vertices.
    fn of(kind: IdMapKind, v: usize, imported: usize) -> Self {
        match kind {
            IdMapKind::Permuted if v < imported => Self::Int((imported - 1 - v) as u64),
            // Some ids continue the imported range, others do not.
            IdMapKind::Identity | IdMapKind::Permuted if v % 3 != 1 || v < imported => Self::Int(v as u64),
            IdMapKind::Texts => Self::Text(format!("{}{}", "long ".repeat(v % 7), v).into_bytes()),
            _ => Self::Int(hash_int(v as u64) | 1 << 40),
        }
    }
}

/// A growing map, and its expected ids.
struct Grown {
    kind: IdMapKind,
    disk: FaultyDisk,
    base: IdMap,
    segments: Vec<Arc<IdSegment>>,
    tail: IdTail,
    names: Vec<OwnedId>,
    /// Number of directories created.
    directories: usize,
}

impl Grown {
    fn new(kind: IdMapKind, imported: usize) -> Self {
        let names: Vec<_> = (0..imported).map(|v| OwnedId::of(kind, v, imported)).collect();
        let integers: Vec<u64> =
            names.iter().map(|name| if let OwnedId::Int(id) = name { *id } else { 0 }).collect();
        let disk = match kind {
            IdMapKind::Identity => FaultyDisk::new(0),
            IdMapKind::Permuted => {
                let reversed: Vec<VertexId> = (0..imported).rev().map(vertex).collect();
                disk_of_permutation(&reversed)
            }
            IdMapKind::Integers => disk_of_integers(&integers),
            IdMapKind::Texts => {
                let text =
                    |name: &OwnedId| if let OwnedId::Text(text) = name { text.clone() } else { Vec::new() };
                disk_of_texts(&names.iter().map(text).collect::<Vec<_>>())
            }
            kind => panic!("{kind:?} has no imported ids"),
        };
        let base = IdMap::open(&files(&disk), kind, 0, imported).unwrap();
        let tail = IdTail::new(imported, base.is_text(), hasher());
        Self { kind, disk, base, segments: Vec::new(), tail, names, directories: 0 }
    }

    fn add(&mut self, count: usize) {
        for _ in 0..count {
            let v = self.names.len();
            let name = OwnedId::of(self.kind, v, self.base.num_vertices());
            for _ in 0..2 {
                assert_eq!(
                    self.tail.add(name.id()).unwrap(),
                    vertex(v),
                    "adding an id twice gives the same vertex"
                );
            }
            self.names.push(name);
        }
    }

    /// Adds ids and removes them again, as a failed commit does.
    fn fail(&mut self, count: usize) {
        let (len, known) = (self.tail.len(), self.names.len());
        self.add(count);
        self.tail.truncate(len);
        self.names.truncate(known);
    }

    fn directory(&mut self) -> PathBuf {
        self.directories += 1;
        let directory = PathBuf::from(format!("layer{}", self.directories));
        self.disk.create_directory(&directory).unwrap();
        directory
    }

    fn open(&self, directory: &PathBuf, first: usize, count: usize) -> Arc<IdSegment> {
        let files = IdFiles { disk: &self.disk, directory, origin: ORIGIN, hasher: hasher() };
        Arc::new(IdSegment::open(&files, self.base.is_text(), first, count).unwrap())
    }

    fn freeze(&mut self, count: usize) {
        let (first, count) = (self.tail.first(), count.min(self.tail.len()));
        let directory = self.directory();
        let files = IdFiles { disk: &self.disk, directory: &directory, origin: ORIGIN, hasher: hasher() };
        write_tail(&files, &self.tail, count);
        self.segments.push(self.open(&directory, first, count));
        self.tail.release(count);
    }

    fn merge(&mut self, from: usize, count: usize) {
        let from = from % (self.segments.len() + 1);
        let range = from..(from + count).min(self.segments.len());
        if range.is_empty() {
            return;
        }
        let directory = self.directory();
        let files = IdFiles { disk: &self.disk, directory: &directory, origin: ORIGIN, hasher: hasher() };
        let len = self.segments[range.clone()].iter().map(|segment| segment.len()).sum();
        merge_segments(&files, &self.segments[range.clone()], len).unwrap();
        let united = self.open(&directory, self.segments[from].first(), len);
        self.segments.splice(range, [united]);
    }

    /// Checks every id in both directions, for a version with `seen` vertices.
    fn check(&self, seen: usize) {
        let frozen = self.tail.first();
        let (imported, seen) = (self.base.num_vertices(), seen.clamp(self.base.num_vertices(), frozen));
        let map = self.base.with_segments(self.segments.iter().cloned(), seen).unwrap();
        assert_eq!(map.num_vertices(), seen);
        assert_eq!(map.dense_base().is_some(), seen == imported && self.base.dense_base().is_some());
        let listed = all_ids(&map, 0..seen);
        assert_eq!(all_ids(&map, seen / 2..seen), listed[seen / 2..]);
        assert!(map.each_external(seen..seen + 1, |_| Ok(())).is_err(), "the version has {seen}");
        for (v, name) in self.names.iter().enumerate() {
            let known = (v < seen).then(|| vertex(v));
            assert_eq!(map.vertex_of(name.id()).unwrap(), known, "{name:?} of {seen}");
            assert_eq!(map.external_of(vertex(v)).ok(), known.map(|_| name.id()));
            assert_eq!(listed.get(v).copied(), known.map(|_| name.id()));
            let in_tail = (v >= frozen).then(|| vertex(v));
            assert_eq!(self.tail.vertex_of(name.id()), in_tail);
            assert_eq!(self.tail.external_of(vertex(v)), in_tail.map(|_| name.id()));
        }
        let unknown = OwnedId::of(self.kind, self.names.len() + 1, imported);
        assert_eq!(map.vertex_of(unknown.id()).unwrap(), None);
        let asked: Vec<_> = self.names.iter().chain([&unknown]).map(OwnedId::id).collect();
        let mut found = vec![None; asked.len()];
        map.vertices_of(&asked, &mut found).unwrap();
        let expected = (0..asked.len()).map(|v| (v < seen).then(|| vertex(v)));
        assert!(found.iter().copied().eq(expected.clone()), "{found:?} of {seen}");
        map.expect_lookups(asked.len(), &Run::with_threads(1).unwrap()).unwrap();
        found.fill(None);
        map.vertices_of(&asked, &mut found).unwrap();
        assert!(found.iter().copied().eq(expected), "{found:?} of {seen}, verified");
        self.tail.vertices_of(&asked, &mut found);
        let expected = |v: usize| (v < self.names.len() && (v < seen || v >= frozen)).then(|| vertex(v));
        assert!(
            found.iter().copied().eq((0..asked.len()).map(expected)),
            "{found:?} of {seen}, with the tail"
        );
        assert_eq!(self.tail.vertex_of(unknown.id()), None);
    }
}

#[derive(Debug, Clone)]
enum Growth {
    Add(usize),
    Fail(usize),
    Freeze(usize),
    Merge(usize, usize),
    Check(usize),
}

fn growth() -> impl Strategy<Value = Growth> {
    prop_oneof![
        3 => (0..40_usize).prop_map(Growth::Add),
        1 => (0..400_usize).prop_map(Growth::Add),
        1 => (0..40_usize).prop_map(Growth::Fail),
        3 => (0..60_usize).prop_map(Growth::Freeze),
        2 => (any::<usize>(), 1..5_usize).prop_map(|(from, count)| Growth::Merge(from, count)),
        2 => (0..1000_usize).prop_map(Growth::Check),
    ]
}

proptest! {
    #![proptest_config(esker_format::testing::cases(60))]
    #[test]
    fn a_growing_map_finds_its_ids(kind in 0..4_usize, imported in 0..50_usize, steps in prop::collection::vec(growth(), 0..25)) {
        let mut grown = Grown::new(KINDS[kind], imported);
        for step in steps {
            match step {
                Growth::Add(count) => grown.add(count),
                Growth::Fail(count) => grown.fail(count),
                Growth::Freeze(count) => grown.freeze(count),
                Growth::Merge(from, count) => grown.merge(from, count),
                Growth::Check(seen) => grown.check(seen),
            }
        }
        grown.check(usize::MAX);
        grown.freeze(usize::MAX);
        grown.check(usize::MAX);
    }
}

#[test]
fn a_large_segment_finds_its_ids_only() {
    let count = 100_000;
    let mut tail = IdTail::new(5, false, hasher());
    (0..count).for_each(|i| assert_eq!(tail.add(ExternalId::Int(3 * i)).unwrap() as u64, 5 + i));
    let disk = FaultyDisk::new(0);
    disk.create_directory(std::path::Path::new("ids")).unwrap();
    write_tail(&files(&disk), &tail, tail.len());
    let segment = Arc::new(IdSegment::open(&files(&disk), false, 5, count as usize).unwrap());
    let map = IdMap::identity(u64::MAX - 5, 5, hasher())
        .with_segments([Arc::clone(&segment)], tail.len() + 5)
        .unwrap();
    for i in 0..count {
        assert_eq!(map.vertex_of(ExternalId::Int(3 * i)).unwrap(), Some((5 + i) as VertexId));
        assert_eq!(map.vertex_of(ExternalId::Int(3 * i + 1)).unwrap(), None);
    }
    // 9 1/3 bytes a vertex in addition to its id, two headers, two tables of checksums.
    let bytes: u64 = disk.list(std::path::Path::new("ids")).unwrap().iter().map(|entry| entry.bytes).sum();
    assert!(bytes <= count * 8 + count * 28 / 3 + 8 + 2 * PAGE_BYTES as u64 + 4 * (13 + 15));
}

#[test]
fn an_id_of_the_other_kind_cannot_be_added_or_found() {
    let mut tail = IdTail::new(3, true, hasher());
    let message = tail.add(ExternalId::Int(7)).unwrap_err().to_string();
    assert_eq!(message, r#""7" is an integer, but the ids of this graph are texts"#);
    assert_eq!(tail.vertex_of(ExternalId::Int(7)), None);
    assert_eq!((tail.add("seven".into()).unwrap(), tail.len()), (3, 1));
    let message = IdTail::new(3, false, hasher()).add("seven".into()).unwrap_err().to_string();
    assert_eq!(message, r#""seven" is a text, but the ids of this graph are integers"#);
    let message =
        IdTail::new(VertexId::MAX as usize, false, hasher()).add(ExternalId::Int(1)).unwrap_err().to_string();
    assert!(message.contains("no vertex id is left"), "{message}");
}

#[test]
fn segments_must_be_adjacent_and_of_the_kind_of_the_base() {
    let mut grown = Grown::new(IdMapKind::Identity, 4);
    for count in [2, 3, 4] {
        grown.add(count);
        grown.freeze(count);
    }
    let message = |segments: &[usize], n| {
        let chosen = segments.iter().map(|&segment| Arc::clone(&grown.segments[segment]));
        grown.base.with_segments(chosen, n).unwrap_err().to_string()
    };
    assert_eq!(message(&[0, 2], 10), "the ids of vertices 6 to 9 are missing");
    assert_eq!(
        message(&[1, 2], 13),
        "there are ids for 4 imported vertices and for vertices 6 to 13, but the version has 13 vertices"
    );
    assert_eq!(
        message(&[0], 7),
        "there are ids for 4 imported vertices and for vertices 4 to 6, but the version has 7 vertices"
    );
    let texts = Grown::new(IdMapKind::Texts, 4);
    let message = texts.base.with_segments(grown.segments.iter().cloned(), 10).unwrap_err().to_string();
    assert_eq!(message, "some ids are integers and others are texts");
}

/// Writes the oldest `count` ids of a tail as a segment, as a freeze does.
fn write_tail(files: &IdFiles<'_>, tail: &IdTail, count: usize) {
    let ids = (tail.first()..tail.first() + count).map(|v| Ok(tail.external_of(vertex(v)).unwrap()));
    write_segment(files, tail.is_text(), ids).unwrap();
}

/// Makes every look-up in a segment of `names`; returns the first error.
fn look_up_all(disk: &FaultyDisk, names: &[OwnedId]) -> esker_format::Result<()> {
    let texts = matches!(names[0], OwnedId::Text(_));
    let segment = IdSegment::open(&files(disk), texts, 9, names.len())?;
    for (v, name) in (9..).zip(names) {
        assert_eq!(segment.external_of(v)?, name.id());
        assert_eq!(segment.vertex_of(name.id(), hasher().id(name.id()))?, Some(v));
    }
    IdSegment::open(&files(disk), texts, 9, names.len())?.verify(&Run::with_threads(1).unwrap())
}

#[test]
fn any_damage_of_a_segment_is_an_error_that_names_the_file() {
    for kind in [IdMapKind::Integers, IdMapKind::Texts] {
        let names: Vec<_> = (0..40).map(|v| OwnedId::of(kind, v, 0)).collect();
        let disk = FaultyDisk::new(0);
        let directory = std::path::Path::new("ids");
        disk.create_directory(directory).unwrap();
        let ids = names.iter().map(|name| Ok(name.id()));
        write_segment(&files(&disk), kind == IdMapKind::Texts, ids).unwrap();
        look_up_all(&disk, &names).unwrap();
        for entry in disk.list(directory).unwrap() {
            let path = directory.join(&entry.name);
            for offset in (0..PAGE_BYTES as u64).step_by(61).chain(PAGE_BYTES as u64..entry.bytes) {
                disk.flip(&path, offset, (offset % 8) as u8).unwrap();
                expect_damage(look_up_all(&disk, &names), &path, &format!("flipped at {offset}"));
                disk.flip(&path, offset, (offset % 8) as u8).unwrap();
            }
        }
    }
}
