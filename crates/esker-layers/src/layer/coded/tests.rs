//! Encodes and decodes lists of all shapes with every decoder, and opens forged columns with valid checksums.

use std::path::Path;

use esker_format::io::MemoryDisk;
use esker_format::{
    Column, ColumnKind, ColumnSpec, ColumnWriter, DatabaseId, Element, Error, Origin, Result,
};
use esker_graph::random::Random;
use esker_graph::{Run, VertexId, vertex};
use proptest::prelude::*;

use super::block::{BLOCK_LEN, ROOM, decode, encode, end_of};
use super::coder::EncodedLists;
use super::vector::Decoder;
use super::{Coded, CodedColumns, Coder};
use crate::layer::offsets::ListCounts;

const ORIGIN: Origin = Origin::of_import(DatabaseId([3; 16]));

fn parts_of(lists: &[Vec<VertexId>], piece_len: usize) -> EncodedLists {
    let mut coder = Coder::default();
    let mut all = EncodedLists::default();
    let mut take = |coder: &mut Coder| {
        let EncodedLists { groups, sizes, lists, blocks } = coder.parts();
        all.groups.extend(groups);
        all.sizes.extend(sizes);
        all.lists.extend(lists);
        all.blocks.extend(blocks);
        coder.clear();
    };
    for list in lists {
        for piece in list.chunks(piece_len) {
            coder.append(piece);
            take(&mut coder);
        }
        coder.end_list();
    }
    coder.finish();
    take(&mut coder);
    all
}

fn column<T: Element>(disk: &MemoryDisk, name: &str, kind: ColumnKind, values: &[T]) -> Result<Column<T>> {
    let spec = ColumnSpec { origin: ORIGIN, kind };
    let mut writer = ColumnWriter::create(disk, Path::new(name), spec)?;
    writer.append(values)?;
    writer.finish()?;
    Column::open(disk, Path::new(name), spec)
}

fn open(parts: &EncodedLists, num_vertices: u64, num_arcs: u64) -> Result<Coded> {
    let disk = MemoryDisk::default();
    let columns = CodedColumns {
        groups: column(&disk, "groups", ColumnKind::OutGroups, &parts.groups)?,
        sizes: column(&disk, "sizes", ColumnKind::OutSizes, &parts.sizes)?,
        lists: column(&disk, "lists", ColumnKind::OutLists, &parts.lists)?,
        blocks: column(&disk, "blocks", ColumnKind::OutBlocks, &parts.blocks)?,
    };
    Coded::new(columns, num_vertices, ListCounts { lists: num_vertices, arcs: num_arcs })
}

fn arcs_of(lists: &[Vec<VertexId>]) -> usize {
    lists.iter().map(Vec::len).sum()
}

/// Lists of a few arcs, of some blocks, and of many, with repeated neighbours.
fn lists_of(n: usize) -> impl Strategy<Value = Vec<Vec<VertexId>>> {
    let list = prop_oneof![
        4 => prop::collection::vec(0..n, 0..6),
        2 => prop::collection::vec(0..n, 0..300),
        1 => prop::collection::vec(0..n.min(3), 0..9000),
    ];
    prop::collection::vec(list, n).prop_map(|lists| {
        let sorted = lists.into_iter().map(|list| {
            let mut list: Vec<VertexId> = list.into_iter().map(vertex).collect();
            list.sort_unstable();
            list
        });
        sorted.collect()
    })
}

proptest! {
    #![proptest_config(esker_format::testing::cases(200))]
    #[test]
    fn every_decoder_restores_the_encoded_block(
        source: VertexId, width in 0..=VertexId::BITS.min(56), len in 1..=BLOCK_LEN, seed: u64, at_end: bool,
    ) {
        let mut random = Random::new(seed);
        let source = source >> (VertexId::BITS - VertexId::BITS.min(56));
        // Covers all widths while the sums stay within the ids.
        let share = (1_u64 << width) / len as u64;
        let mut target = if at_end { source } else { source / 2 };
        let room = (1_u64 << VertexId::BITS.min(56)) - 1 - u64::from(target);
        let mut targets = vec![target];
        for _ in 1..len {
            target += random.below(share.min(room / len as u64).max(1)) as VertexId;
            targets.push(target);
        }
        let mut bytes = vec![0xAA; 3];
        encode(source, &targets, &mut bytes);
        let end = bytes.len();
        prop_assert_eq!(end_of(&bytes, 3, len), Some(end));
        prop_assert_eq!(end_of(&bytes[..end - 1], 3, len), None);
        bytes.extend([0xFF; 64]);
        for decoder in Decoder::possible() {
            let mut out = vec![7; len + ROOM];
            prop_assert_eq!(decoder.decode(&bytes, 3, source, len, &mut out), end);
            prop_assert_eq!(&out[..len], &targets[..], "{:?}", decoder);
        }
    }

    #[test]
    fn reading_returns_the_encoded_lists(
        lists in (1_usize..150).prop_flat_map(lists_of), piece_len in 1_usize..100, cuts: [prop::sample::Index; 4],
    ) {
        let n = lists.len();
        let coded = open(&parts_of(&lists, piece_len), n as u64, arcs_of(&lists) as u64).unwrap();
        let run = Run::with_threads(2).unwrap();
        let check_each = || {
            let mut start = 0;
            for (v, list) in lists.iter().enumerate() {
                assert_eq!(coded.range(v).unwrap(), start..start + list.len());
                assert_eq!(coded.list(v).unwrap(), (start, list.clone()));
                start += list.len();
            }
            assert!(coded.list(n).is_err() && coded.range(usize::MAX).is_err());
        };
        check_each();
        let all = coded.all(&run).unwrap();
        check_each();
        let (index, mut walk) = (all.index(), all.index().walk());
        let (mut start, mut buffer) = (0, Vec::new());
        for (v, list) in lists.iter().enumerate() {
            prop_assert_eq!(index.degree(v), list.len());
            prop_assert_eq!(index.before(v), start);
            prop_assert_eq!(index.range(v), start..start + list.len());
            prop_assert_eq!(index.place(v), walk.place(v));
            start += list.len();
            let mut ends = [cuts[0].index(list.len() + 1), cuts[1].index(list.len() + 1)];
            ends.sort_unstable();
            let part = ends[0]..ends[1];
            prop_assert_eq!(all.piece(vertex(v), index.place(v), part.clone(), &mut buffer), &list[part]);
        }
        prop_assert_eq!(index.before(n), start);
        prop_assert_eq!(index.entries(), n + start);
        let mut ends = [cuts[2].index(n + 1), cuts[3].index(n + 1)];
        ends.sort_unstable();
        let mut decoded = vec![5];
        all.decode_all(ends[0]..ends[1], &mut decoded);
        prop_assert_eq!(&decoded[1..], &lists[ends[0]..ends[1]].concat()[..]);
    }

    /// Whatever the columns contain, reads give lists of vertices, or an error that says where.
    #[test]
    fn forged_columns_give_errors_or_lists(
        lists in (1_usize..80).prop_flat_map(lists_of),
        changes in prop::collection::vec((0..4, any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let n = lists.len();
        let mut parts = parts_of(&lists, 64);
        for (which, place, value) in changes {
            let bytes: &mut [u8] = match which {
                0 => bytemuck::cast_slice_mut(&mut parts.groups),
                1 => &mut parts.sizes,
                2 => &mut parts.lists,
                _ => bytemuck::cast_slice_mut(&mut parts.blocks),
            };
            if !bytes.is_empty() {
                bytes[place.index(bytes.len())] = value;
            }
        }
        let coded = open(&parts, n as u64, arcs_of(&lists) as u64).unwrap();
        let expect_corrupt = |error: Error| assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        let expect_list = |list: &[VertexId]| {
            assert!(list.is_sorted() && list.iter().all(|&target| (target as usize) < n));
        };
        for v in 0..n {
            match coded.list(v) {
                Ok((_, list)) => expect_list(&list),
                Err(error) => expect_corrupt(error),
            }
        }
        match coded.all(&Run::with_threads(1).unwrap()) {
            Ok(all) => {
                for v in 0..n {
                    let mut decoded = Vec::new();
                    all.decode_all(v..v + 1, &mut decoded);
                    expect_list(&decoded);
                }
            }
            Err(error) => expect_corrupt(error),
        }
    }
}

#[test]
fn a_graph_without_lists_can_be_read() {
    let coded = open(&parts_of(&[], 1), 0, 0).unwrap();
    let all = coded.all(&Run::with_threads(1).unwrap()).unwrap();
    assert_eq!((all.index().len(), all.index().entries()), (0, 0));
    assert!(coded.list(0).is_err());
}

#[test]
fn an_empty_range_behind_a_full_block_is_an_empty_piece() {
    for degree in [64, 128, 192] {
        let lists: Vec<Vec<VertexId>> = vec![vec![0; degree]];
        let coded = open(&parts_of(&lists, 100), 1, degree as u64).unwrap();
        let all = coded.all(&Run::with_threads(1).unwrap()).unwrap();
        let piece = |arcs| all.piece(0, all.index().place(0), arcs, &mut Vec::new()).to_vec();
        assert_eq!(piece(degree..degree), []);
        assert_eq!(piece(degree - 1..degree), [0]);
    }
}

#[test]
fn truncated_columns_and_columns_of_another_graph_are_errors() {
    let lists: Vec<Vec<VertexId>> = (0..200).map(|v| (0..v as VertexId).collect()).collect();
    let arcs = arcs_of(&lists) as u64;
    let run = Run::with_threads(1).unwrap();
    let error_of = |change: &dyn Fn(&mut EncodedLists)| {
        let mut parts = parts_of(&lists, 1000);
        change(&mut parts);
        open(&parts, 200, arcs).and_then(|coded| coded.all(&run).map(|_| ())).unwrap_err().to_string()
    };
    assert!(error_of(&|parts| parts.groups.truncate(3)).contains("has 3 elements, not 15"));
    assert!(error_of(&|parts| parts.sizes.truncate(100)).contains("contradicts the other columns"));
    assert!(error_of(&|parts| parts.lists.truncate(100)).contains("contradicts the other columns"));
    assert!(error_of(&|parts| parts.lists.truncate(10)).contains("contradicts the other columns"));
    assert!(error_of(&|parts| parts.blocks.truncate(1)).contains("requested, but it has 1"));
    assert!(error_of(&|parts| parts.blocks[0] += 1).contains("the index of blocks does not point to"));
    let error = open(&parts_of(&lists, 9), 200, arcs + 1).unwrap().all(&run).unwrap_err().to_string();
    assert!(error.contains("contradicts the other columns"), "{error}");
    // With targets beyond the number of vertices, decoding finds a target that is not a vertex.
    let lists = vec![vec![5], vec![], vec![0, 2]];
    let error = open(&parts_of(&lists, 9), 3, 3).unwrap().list(0).unwrap_err().to_string();
    assert!(error.contains("list of vertex 0 holds a target that is not a vertex"), "{error}");
}

#[test]
fn the_bytes_of_a_block_follow_the_format() {
    // Vertex 10: targets 7, 7, 12. One byte for the first (zigzag of -3: 5), 3 bits each for the differences
    // 0 and 5.
    let mut bytes = Vec::new();
    encode(10, &[7, 7, 12], &mut bytes);
    assert_eq!(bytes, [3, 5, 0b10_1000]);
    bytes.extend([0; 64]);
    let mut out = [0; 3];
    assert_eq!((decode(&bytes, 0, 10, 3, &mut out), out), (3, [7, 7, 12]));
}
