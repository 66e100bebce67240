//! Tests of the id map: look-ups in both directions, and damage.

use std::ops::Range;
use std::path::Path;

use esker_format::io::{Disk, FaultyDisk};
use esker_format::{DatabaseId, Error, IdMapKind, IdSecret, Origin, PAGE_BYTES, Result};
use esker_graph::{VertexId, vertex};
use proptest::prelude::*;

use super::*;

pub(super) const ORIGIN: Origin = Origin::of_import(DatabaseId([9; 16]));

/// Keyed.
pub(super) fn hasher() -> IdHasher {
    IdHasher::new(IdSecret([7; 16]))
}

pub(super) fn files(disk: &FaultyDisk) -> IdFiles<'_> {
    IdFiles { disk, directory: Path::new("ids"), origin: ORIGIN, hasher: hasher() }
}

fn write_index(files: &IdFiles<'_>, hashes: impl Iterator<Item = u64>) {
    let mut pairs: Vec<(u64, VertexId)> = hashes.enumerate().map(|(v, hash)| (hash, vertex(v))).collect();
    pairs.sort_unstable();
    let mut writer = IndexWriter::create(files, pairs.len() as u64).unwrap();
    pairs.into_iter().for_each(|(hash, v)| writer.push(hash, v).unwrap());
    writer.finish().unwrap();
}

pub(super) fn disk_of_texts(texts: &[Vec<u8>]) -> FaultyDisk {
    let disk = FaultyDisk::new(0);
    disk.create_directory(Path::new("ids")).unwrap();
    let mut writer = TextsWriter::create(&files(&disk)).unwrap();
    texts.iter().for_each(|text| writer.push(text).unwrap());
    writer.finish().unwrap();
    write_index(&files(&disk), texts.iter().map(|text| hasher().text(text)));
    disk
}

pub(super) fn disk_of_integers(integers: &[u64]) -> FaultyDisk {
    let disk = FaultyDisk::new(0);
    disk.create_directory(Path::new("ids")).unwrap();
    let mut writer = IntegersWriter::create(&files(&disk)).unwrap();
    integers.iter().for_each(|&integer| writer.push(integer).unwrap());
    writer.finish().unwrap();
    write_index(&files(&disk), integers.iter().map(|&integer| hasher().integer(integer)));
    disk
}

/// `vertices[i]` is the vertex of the integer `base + i`.
pub(super) fn disk_of_permutation(vertices: &[VertexId]) -> FaultyDisk {
    let disk = FaultyDisk::new(0);
    disk.create_directory(Path::new("ids")).unwrap();
    let mut integers = vec![0; vertices.len()];
    vertices.iter().enumerate().for_each(|(i, &v)| integers[v as usize] = vertex(i));
    let mut writer = PermutationWriter::create(&files(&disk)).unwrap();
    writer.vertices(vertices).unwrap();
    writer.integers(&integers).unwrap();
    writer.finish().unwrap();
    disk
}

fn text_map(texts: &[&str]) -> IdMap {
    let disk = disk_of_texts(&texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>());
    IdMap::open(&files(&disk), IdMapKind::Texts, 0, texts.len()).unwrap()
}

/// The ids of a range of vertices.
pub(super) fn all_ids(map: &IdMap, range: Range<usize>) -> Vec<ExternalId<'_>> {
    let mut ids = Vec::new();
    map.each_external(range, |id| {
        ids.push(id);
        Ok(())
    })
    .unwrap();
    ids
}

/// Ids looked up together are found as each alone.
fn all_at_once(map: &IdMap, ids: &[ExternalId<'_>]) {
    let mut found = vec![None; ids.len()];
    map.vertices_of(ids, &mut found).unwrap();
    let one_by_one: Vec<_> = ids.iter().map(|&id| map.vertex_of(id).unwrap()).collect();
    assert_eq!(found, one_by_one);
}

proptest! {
    #![proptest_config(esker_format::testing::cases(50))]
    #[test]
    fn texts_are_found_in_both_directions(texts in prop::collection::btree_set(prop::collection::vec(any::<u8>(), 0..20), 0..600)) {
        let texts: Vec<Vec<u8>> = texts.into_iter().collect();
        let disk = disk_of_texts(&texts);
        let map = IdMap::open(&files(&disk), IdMapKind::Texts, 0, texts.len()).unwrap();
        let ids = all_ids(&map, 0..texts.len());
        for (v, text) in texts.iter().enumerate() {
            prop_assert_eq!(ids[v], ExternalId::Text(text));
            prop_assert_eq!(map.vertex_of(ids[v]).unwrap(), Some(vertex(v)));
            let longer = [text, &b"~"[..]].concat();
            prop_assert_eq!(map.vertex_of(ExternalId::Text(&longer)).unwrap().is_some(), texts.contains(&longer));
        }
        let longer: Vec<Vec<u8>> = texts.iter().map(|text| [text, &b"~"[..]].concat()).collect();
        let asked = texts.iter().chain(&longer).map(|text| ExternalId::Text(text)).collect::<Vec<_>>();
        all_at_once(&map, &asked);
    }

    #[test]
    fn integers_are_found_in_both_directions(integers in prop::collection::btree_set(0u64..3000, 0..1000)) {
        let integers: Vec<u64> = integers.into_iter().collect();
        let disk = disk_of_integers(&integers);
        let map = IdMap::open(&files(&disk), IdMapKind::Integers, 0, integers.len()).unwrap();
        for id in 0..3000 {
            let expected = integers.binary_search(&id).ok().map(vertex);
            prop_assert_eq!(map.vertex_of(ExternalId::Int(id)).unwrap(), expected);
        }
        all_at_once(&map, &(0..3000).map(ExternalId::Int).collect::<Vec<_>>());
        for (v, &id) in integers.iter().enumerate() {
            prop_assert_eq!(map.external_of(vertex(v)).unwrap(), ExternalId::Int(id));
        }
    }

    #[test]
    fn permuted_integers_are_found_in_both_directions(len in 0usize..300, base in 0u64..2) {
        let mut vertices: Vec<VertexId> = (0..len).map(vertex).collect();
        vertices.sort_by_key(|&v| hash_int(v as usize as u64));
        let disk = disk_of_permutation(&vertices);
        let map = IdMap::open(&files(&disk), IdMapKind::Permuted, base, len).unwrap();
        for (id, &v) in (base..).zip(&vertices) {
            prop_assert_eq!(map.vertex_of(ExternalId::Int(id)).unwrap(), Some(v));
            prop_assert_eq!(map.external_of(v).unwrap(), ExternalId::Int(id));
        }
        prop_assert_eq!(map.vertex_of(ExternalId::Int(base + len as u64)).unwrap(), None);
        prop_assert_eq!(map.vertex_of(ExternalId::Int(base.wrapping_sub(1))).unwrap(), None);
        all_at_once(&map, &(0..base + len as u64 + 2).map(ExternalId::Int).collect::<Vec<_>>());
    }
}

#[test]
fn identity_needs_no_files() {
    let map = IdMap::identity(1, 3, hasher());
    assert_eq!(map.vertex_of(ExternalId::Int(3)).unwrap(), Some(2));
    assert_eq!(map.vertex_of(ExternalId::Int(0)).unwrap(), None);
    assert_eq!(map.vertex_of(ExternalId::Int(4)).unwrap(), None);
    assert_eq!(map.vertex_of(ExternalId::Int(u64::MAX)).unwrap(), None);
    assert_eq!(map.vertex_of(ExternalId::from("3")).unwrap(), None);
    assert_eq!(map.external_of(0).unwrap(), ExternalId::Int(1));
    assert_eq!(map.external_of(3).unwrap_err().to_string(), "there is no vertex 3: the graph has 3 vertices");
    assert_eq!(map.find("2").unwrap(), 1);
    assert_eq!(map.find("2.0").unwrap(), 1);
    for text in [" 2 ", "02", "+2", "-2", "2.5", ""] {
        assert!(map.find(text).unwrap_err().to_string().contains("is not an id, as it"), "{text}");
    }
}

#[test]
fn an_unknown_id_is_an_error_with_a_suggestion() {
    let message = |map: &IdMap, typed: &str| map.find(typed).unwrap_err().to_string();
    let texts = text_map(&["alice", "bob"]);
    assert_eq!(texts.find("bob").unwrap(), 1);
    assert_eq!(message(&texts, "alcie"), r#"no vertex has the id "alcie": did you mean "alice"?"#);
    assert_eq!(message(&texts, "Bob"), r#"no vertex has the id "Bob": did you mean "bob"?"#);
    assert_eq!(
        message(&texts, "zebra"),
        r#"no vertex has the id "zebra": the ids of this graph are texts such as "alice""#
    );
    let dense = IdMap::identity(1, 5, hasher());
    assert_eq!(
        message(&dense, "0"),
        r#"no vertex has the id "0": the ids of this graph are the integers 1 to 5"#
    );
    assert_eq!(
        message(&dense, "alice"),
        r#""alice" is not an id: the ids of this graph are the integers 1 to 5"#
    );
    assert!(message(&dense, "+1").contains("is not an id"));
    assert!(message(&dense, "18446744073709551616").contains("is not an id"));
    let disk = disk_of_integers(&[77, 5]);
    let sparse = IdMap::open(&files(&disk), IdMapKind::Integers, 0, 2).unwrap();
    assert_eq!(
        message(&sparse, "6"),
        r#"no vertex has the id "6": the ids of this graph are integers such as "77""#
    );
    assert_eq!(
        message(&IdMap::identity(0, 0, hasher()), "6"),
        r#"no vertex has the id "6": this graph has no vertices"#
    );
}

/// Makes every look-up in a map; returns the first error.
fn look_up_all(disk: &FaultyDisk, kind: IdMapKind, ids: &[ExternalId<'_>]) -> Result<()> {
    let map = IdMap::open(&files(disk), kind, 0, ids.len())?;
    for (v, &id) in ids.iter().enumerate() {
        assert_eq!(map.external_of(vertex(v))?, id);
        assert_eq!(map.vertex_of(id)?, Some(vertex(v)));
    }
    Ok(())
}

pub(super) fn expect_damage(result: Result<()>, path: &Path, context: &str) {
    match result.unwrap_err() {
        Error::Corrupt { path: damaged, .. } => assert_eq!(damaged, path, "{context}"),
        other => panic!("{context}: {other}"),
    }
}

fn damage(disk: &FaultyDisk, kind: IdMapKind, ids: &[ExternalId<'_>]) {
    look_up_all(disk, kind, ids).unwrap();
    for entry in disk.list(Path::new("ids")).unwrap() {
        let path = Path::new("ids").join(&entry.name);
        let page = PAGE_BYTES as u64;
        for offset in (0..page).step_by(61).chain(page..entry.bytes) {
            disk.flip(&path, offset, (offset % 8) as u8).unwrap();
            expect_damage(
                look_up_all(disk, kind, ids),
                &path,
                &format!("{} flipped at {offset}", entry.name),
            );
            disk.flip(&path, offset, (offset % 8) as u8).unwrap();
        }
    }
    look_up_all(disk, kind, ids).unwrap();
    for entry in disk.list(Path::new("ids")).unwrap() {
        let path = Path::new("ids").join(&entry.name);
        let whole = disk.read(&path).unwrap();
        for bytes in (0..entry.bytes).rev().step_by(7) {
            disk.truncate(&path, bytes).unwrap();
            expect_damage(
                look_up_all(disk, kind, ids),
                &path,
                &format!("{} truncated to {bytes}", entry.name),
            );
        }
        disk.remove_file(&path).unwrap();
        let missing = look_up_all(disk, kind, ids).unwrap_err().to_string();
        assert!(missing.contains(&entry.name), "{missing}");
        disk.write(&path, &whole).unwrap();
    }
}

#[test]
fn any_damage_is_an_error_that_names_the_file() {
    let texts: Vec<Vec<u8>> = (0..40u32).map(|i| format!("vertex {}", i * i).into_bytes()).collect();
    let ids: Vec<_> = texts.iter().map(|text| ExternalId::Text(text)).collect();
    damage(&disk_of_texts(&texts), IdMapKind::Texts, &ids);

    let integers: Vec<u64> = (0..40).map(hash_int).collect();
    let ids: Vec<_> = integers.iter().map(|&id| ExternalId::Int(id)).collect();
    damage(&disk_of_integers(&integers), IdMapKind::Integers, &ids);

    let vertices: Vec<VertexId> = (0..40).rev().collect();
    let ids: Vec<_> = (0..40).rev().map(ExternalId::Int).collect();
    damage(&disk_of_permutation(&vertices), IdMapKind::Permuted, &ids);
}

#[test]
fn opening_a_map_of_another_size_fails() {
    let disk = disk_of_integers(&[3, 4]);
    for count in [0, 1, 3, 100] {
        expect_damage(
            IdMap::open(&files(&disk), IdMapKind::Integers, 0, count).map(drop),
            Path::new("ids/integers"),
            "size",
        );
    }
}
