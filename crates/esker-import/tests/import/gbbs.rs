//! Graphs of GBBS and X-Stream: random ones, written here as those programs write them, and hostile files.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use esker_graph::random::hash;
use esker_import::open::open_inputs;
use esker_import::read::format::{Format, ReadOptions};
use esker_import::read::input::{Input, expand};
use esker_import::read::source::{IdKind, integer_ids};

/// A graph as lists of neighbours with weights, in ascending order.
#[derive(Clone)]
struct Lists(Vec<Vec<(u32, i32)>>);

impl Lists {
    /// `most`: the length of the longest list.
    fn random(seed: u64, n: u32, most: u64) -> Self {
        let list = |v: u32| {
            let len = if v == 1 { most } else { hash(seed ^ u64::from(v)) % 9 };
            let mut list: Vec<(u32, i32)> = (0..len)
                .map(|at| hash(seed.wrapping_mul(31) ^ u64::from(v) << 32 ^ at))
                .map(|random| ((random % u64::from(n)) as u32, (random >> 40) as i32 % 300_000 - 150_000))
                .collect();
            list.sort_unstable();
            list.dedup_by_key(|(target, _)| *target);
            list
        };
        Self((0..n).map(list).collect())
    }

    fn edges(&self) -> u64 {
        self.0.iter().map(|list| list.len() as u64).sum()
    }

    /// All edges with their weights, if they are written.
    fn expected(&self, weighted: bool) -> Vec<(u64, u64, Option<f64>)> {
        let weight = |weight: i32| weighted.then_some(f64::from(weight));
        let of = |(v, list): (usize, &Vec<(u32, i32)>)| {
            list.iter().map(|&(u, w)| (v as u64, u64::from(u), weight(w))).collect::<Vec<_>>()
        };
        self.0.iter().enumerate().flat_map(of).collect()
    }

    fn plain(&self, weighted: bool) -> Vec<u8> {
        let (n, m) = (self.0.len() as u64, self.edges());
        let bytes = 24 + 8 * (n + 1) + m * if weighted { 8 } else { 4 };
        let mut out: Vec<u8> = [n, m, bytes].into_iter().flat_map(u64::to_le_bytes).collect();
        let mut offset = 0_u64;
        out.extend(offset.to_le_bytes());
        for list in &self.0 {
            offset += list.len() as u64;
            out.extend(offset.to_le_bytes());
        }
        for (target, weight) in self.0.iter().flatten() {
            out.extend(target.to_le_bytes());
            if weighted {
                out.extend(weight.to_le_bytes());
            }
        }
        out
    }

    /// Offsets, degrees and byte-coded lists, with their bytes before them if they are in-lists.
    fn coded(&self, weighted: bool, are_in: bool) -> Vec<u8> {
        let lists: Vec<Vec<u8>> =
            self.0.iter().enumerate().map(|(v, list)| coded_list(v as u32, list, weighted)).collect();
        let total: u64 = lists.iter().map(|list| list.len() as u64).sum();
        let head = if are_in { vec![total] } else { vec![self.0.len() as u64, self.edges(), total] };
        let mut out: Vec<u8> = head.into_iter().flat_map(u64::to_le_bytes).collect();
        let mut offset = 0_u64;
        out.extend(offset.to_le_bytes());
        for list in &lists {
            offset += list.len() as u64;
            out.extend(offset.to_le_bytes());
        }
        self.0.iter().for_each(|list| out.extend((list.len() as u32).to_le_bytes()));
        lists.iter().for_each(|list| out.extend(list));
        out
    }
}

fn unsigned(out: &mut Vec<u8>, mut number: u32) {
    while number > 0 {
        let more = if number > 0x7f { 0x80 } else { 0 };
        out.push((number & 0x7f) as u8 | more);
        number >>= 7;
    }
}

fn signed(out: &mut Vec<u8>, number: i64) {
    let (size, sign) = (number.unsigned_abs() as u32, if number < 0 { 0x40 } else { 0 });
    out.push((size & 0x3f) as u8 | sign | if size > 0x3f { 0x80 } else { 0 });
    unsigned(out, size >> 6);
}

fn coded_list(v: u32, list: &[(u32, i32)], weighted: bool) -> Vec<u8> {
    if list.is_empty() {
        return Vec::new();
    }
    let blocks: Vec<&[(u32, i32)]> = list.chunks(1000).collect();
    let mut out = (list.len() as u32).to_le_bytes().to_vec();
    out.resize(4 * blocks.len(), 0);
    for (place, block) in blocks.iter().enumerate() {
        if place > 0 {
            let at = (out.len() as u32).to_le_bytes();
            out[4 * place..4 * place + 4].copy_from_slice(&at);
        }
        out.extend((1000 * place as u32).to_le_bytes());
        for (at, &(target, weight)) in block.iter().enumerate() {
            match at {
                0 => signed(&mut out, i64::from(target) - i64::from(v)),
                _ => unsigned(&mut out, target - block[at - 1].0),
            }
            if weighted {
                signed(&mut out, weight.into());
            }
        }
    }
    out
}

/// What a reader gives of a graph.
#[derive(Debug, PartialEq)]
struct Found {
    edges: Vec<(u64, u64, Option<f64>)>,
    directed: Option<bool>,
    both_ends: bool,
    vertices: Option<u64>,
    rejected: usize,
}

fn number(values: &ArrayRef, row: usize) -> Option<f64> {
    match values.as_primitive_opt::<Int64Type>() {
        Some(whole) => values.is_valid(row).then(|| whole.value(row) as f64),
        None => values.is_valid(row).then(|| values.as_primitive::<Float64Type>().value(row)),
    }
}

fn read(inputs: &[Input], format: Option<Format>) -> Result<Found, String> {
    let options = ReadOptions { format, ..ReadOptions::default() };
    let mut reader = open_inputs(inputs, &options).map_err(|error| error.to_string())?.reader;
    let (schema, parser) = (reader.schema().clone(), reader.parser());
    let (mut edges, mut rejected) = (Vec::new(), 0);
    while let Some(block) = reader.next_block().map_err(|error| error.to_string())? {
        let batch = parser.parse(block).map_err(|error| error.to_string())?;
        let [source, target] = [&batch.source, &batch.target].map(|ids| integer_ids(ids).unwrap());
        rejected += batch.rejected.len();
        for row in 0..batch.len() {
            let weight = batch.properties.first().and_then(|values| number(values, row));
            edges.push((source[row], target[row], weight));
        }
    }
    let vertices = match schema.ids {
        IdKind::Numbered { first: 0, num_vertices } => Some(num_vertices),
        _ => None,
    };
    Ok(Found { edges, directed: schema.directed, both_ends: schema.both_ends, vertices, rejected })
}

fn of_bytes(bytes: Vec<u8>, format: Option<Format>) -> Result<Found, String> {
    read(&[Input::memory("graph.bin", bytes)], format)
}

#[test]
fn binary_and_byte_coded_graphs_are_read_whatever_their_direction_weights_and_lengths() {
    for (seed, n, most) in [
        (1, 0, 0),
        (2, 1, 0),
        (3, 2, 1),
        (4, 300, 40),
        (5, 5000, 999),
        (6, 5000, 1001),
        (7, 4000, 3100),
        (8, 500_000, 700_000),
    ] {
        let lists = Lists::random(seed, n, most);
        for (weighted, directed) in [(false, false), (false, true), (true, false), (true, true)] {
            let has_weights = weighted && lists.edges() > 0;
            let expected = Found {
                edges: lists.expected(weighted),
                directed: Some(directed),
                both_ends: !directed,
                vertices: Some(n.into()),
                rejected: 0,
            };
            let mut plain = lists.plain(weighted);
            let mut coded = lists.coded(weighted, false);
            if directed {
                // In-lists are not looked at.
                plain.extend_from_within(..);
                coded.extend(lists.coded(weighted, true));
            }
            let what = format!("{n} {most} {weighted} {directed} {has_weights}");
            assert!(of_bytes(plain, None).unwrap() == expected, "{what}");
            assert!(of_bytes(coded, Some(Format::GbbsBytes)).unwrap() == expected, "{what}");
        }
    }
}

#[test]
fn hostile_files_are_refused_or_read_as_what_they_say() {
    let lists = Lists::random(11, 40, 2300);
    for (format, files) in [
        (Format::Gbbs, vec![lists.plain(false), lists.plain(true)]),
        (
            Format::GbbsBytes,
            vec![
                lists.coded(false, false),
                lists.coded(true, false),
                [lists.coded(true, false), lists.coded(true, true)].concat(),
            ],
        ),
    ] {
        for (kind, file) in files.iter().enumerate() {
            for end in (0..file.len()).step_by(1 + file.len() / 97).chain([file.len() - 1]) {
                of_bytes(file[..end].to_vec(), Some(format)).unwrap_err();
            }
            let mut long = file.clone();
            long.extend([0; 5]);
            of_bytes(long, Some(format)).unwrap_err();
            // Words of the head, offsets and degrees, and bytes anywhere.
            for at in 0..400_u64 {
                let random = hash(at ^ (kind as u64) << 20);
                let mut changed = file.clone();
                let place =
                    if at < 200 { (at as usize % 90) * 8 } else { (random as usize) % (file.len() - 8) };
                let values = [u64::MAX, 1 << 63, 1 << 32, random, 0, 0xff80_8080_8080_8080];
                changed[place..place + 8].copy_from_slice(&values[at as usize % values.len()].to_le_bytes());
                // Neither a panic nor an edge beyond the vertices.
                if let Ok(found) = of_bytes(changed, Some(format)) {
                    let n = found.vertices.unwrap();
                    assert!(found.edges.iter().all(|&(u, v, _)| u < n && v < n), "{place}");
                }
            }
        }
    }
    let told = |bytes: Vec<u8>, format| of_bytes(bytes, Some(format)).unwrap_err();
    let words = |words: &[u64]| words.iter().copied().flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
    for (bytes, format, reason) in [
        (words(&[u64::MAX, 1, 2]), Format::Gbbs, "first three words"),
        (words(&[1, u64::MAX / 4, 40]), Format::Gbbs, "first three words"),
        (words(&[1, 0, 40, 0]), Format::Gbbs, "states 40 bytes"),
        (words(&[u64::MAX, 1, 2]), Format::GbbsBytes, "does not fit its 24 bytes"),
        (words(&[1, 1, u64::MAX - 3, 0, 0]), Format::GbbsBytes, "does not fit"),
        (Vec::new(), Format::GbbsBytes, "does not fit its 0 bytes"),
        (Vec::new(), Format::Gbbs, "first three words"),
    ] {
        let told = told(bytes, format);
        assert!(told.contains(reason), "{told}");
    }
    // Offsets that go back, an end beyond the vertices, a number of edges that is wrong, a neighbour twice.
    let small = Lists(vec![vec![(1, 5), (2, 5)], vec![(0, 5)], vec![]]);
    let mut back = small.plain(false);
    back[32..40].copy_from_slice(&3_u64.to_le_bytes());
    back[40..48].copy_from_slice(&2_u64.to_le_bytes());
    assert!(told(back, Format::Gbbs).contains("the offset 2 of vertex 2 does not fit the others"));
    let mut beyond = small.plain(false);
    let last = beyond.len() - 4;
    beyond[last..].copy_from_slice(&3_u32.to_le_bytes());
    assert_eq!(of_bytes(beyond, None).unwrap().rejected, 1);
    let mut back = small.coded(false, false);
    back[32..40].copy_from_slice(&400_u64.to_le_bytes());
    assert!(told(back, Format::GbbsBytes).contains("has the offsets 0 and 400"));
    let wide = Lists(vec![vec![(1, 5), (9, 5)], vec![(0, 5)], vec![]]);
    assert!(
        told(wide.coded(false, false), Format::GbbsBytes)
            .contains("has the neighbour 9, but there are 3 vertices")
    );
    let mut fewer = small.coded(false, false);
    fewer[8] = 2;
    assert!(told(fewer, Format::GbbsBytes).contains("states 2 edges, but its lists have 3"));
    let mut many = small.coded(false, false);
    many[24 + 32..24 + 36].copy_from_slice(&200_u32.to_le_bytes());
    assert!(told(many, Format::GbbsBytes).contains("the list of vertex 0 has 200 neighbours in"));
    let twice = Lists(vec![vec![(1, 5), (1, 5), (2, 5)], vec![], vec![]]);
    of_bytes(twice.coded(false, false), Some(Format::GbbsBytes)).unwrap_err();
}

fn x_stream(edges: &[(u32, u32, f32)]) -> Vec<u8> {
    let bytes = |&(u, v, w): &(u32, u32, f32)| [u.to_le_bytes(), v.to_le_bytes(), w.to_le_bytes()].concat();
    edges.iter().flat_map(bytes).collect()
}

#[test]
fn edges_of_x_stream_are_read_with_and_without_their_description() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rmat");
    let edges = [(0, 1, 0.5), (7, 2, -1.0), (4_000_000_000, 3, f32::NAN), (1, 1, f32::INFINITY)];
    std::fs::write(&file, x_stream(&edges)).unwrap();
    let name = |path: &Path| expand(&[path.to_str().unwrap()], &esker_graph::Cancel::default()).unwrap();
    let found = read(&name(&file), Some(Format::XStream)).unwrap();
    let expected = vec![(0, 1, Some(0.5)), (7, 2, Some(-1.0)), (4_000_000_000, 3, None)];
    assert_eq!((&found.edges, found.directed, found.vertices, found.rejected), (&expected, None, None, 1));
    let describe = |text: &str| std::fs::write(directory.path().join("rmat.ini"), text).unwrap();
    describe("[graph]\ntype=1\nname=rmat\nvertices=8\nedges=4\n");
    // The description tells the format.
    let found = read(&name(&file), None).unwrap();
    assert_eq!((&found.edges[..], found.vertices, found.rejected), (&expected[..2], Some(8), 2));
    for (text, reason) in [
        ("[graph]\ntype=2\nvertices=8\nedges=4\n", "only those of type 1"),
        (
            "[graph]\ntype=1\nvertices=8\nedges=5\n",
            "there are 5 edges of 12 bytes, but the file has 48 bytes",
        ),
        ("[graph]\ntype=1\nvertices=8\nedges=18446744073709551615\n", "but the file has 48 bytes"),
        ("[graph]\ntype=1\nedges=4\n", "says no number of vertices"),
        ("[graph]\ntype=1\nvertices=-8\nedges=4\n", "says no number of vertices"),
        ("[other]\nvertices=8\nedges=4\n", "says no number of vertices"),
    ] {
        describe(text);
        let told = read(&name(&file), Some(Format::XStream)).unwrap_err();
        assert!(told.contains(reason), "{told}");
    }
    let told = of_bytes(vec![0; 25], Some(Format::XStream)).unwrap_err();
    assert!(told.contains("1 bytes are left over; it is cut short, or has another format"), "{told}");
}

#[test]
fn what_is_only_read_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let arc: Arc<dyn esker_store::io::Disk> = Arc::new(esker_store::io::RealDisk);
    let input = Input::memory("e.csv", "source,target\n1,2\n".as_bytes());
    let reader = open_inputs(&[input], &ReadOptions::default()).unwrap().reader;
    let target = directory.path().join("g.esker");
    let options = esker_import::options::ImportOptions::default();
    esker_import::install::import(
        &arc,
        reader,
        &target,
        &options,
        esker_store::manifest::StagingOptions::default(),
    )
    .unwrap();
    let store = esker_store::Store::open(&target).unwrap();
    let run = esker_graph::Run::with_threads(1).unwrap();
    let view = store.latest().unwrap().view();
    let graph = esker_import::export::StoredExport::new(&view, &run).unwrap();
    for format in [Format::Gbbs, Format::GbbsBytes, Format::XStream] {
        let options = esker_import::export::ExportOptions { format: Some(format), ..Default::default() };
        let told = esker_import::export::export(&graph, &directory.path().join("out"), &options)
            .unwrap_err()
            .to_string();
        assert!(told.contains("is read and not written; write adj"), "{told}");
        assert!(!directory.path().join("out").exists());
    }
}

/// The bits of 1.0 would become the integer 1065353216.
#[test]
fn float_weights_of_a_binary_graph_are_refused() {
    let graph = |weights: [i32; 2]| {
        let mut bytes: Vec<u8> =
            [2_u64, 2, 24 + 24 + 16, 0, 1, 2].iter().flat_map(|word| word.to_le_bytes()).collect();
        for (target, weight) in [1_u32, 0].into_iter().zip(weights) {
            bytes.extend(target.to_le_bytes());
            bytes.extend(weight.to_le_bytes());
        }
        of_bytes(bytes, None)
    };
    let floats = |weights: [f32; 2]| graph(weights.map(|weight| weight.to_bits().cast_signed()));
    for weights in [[1.0, 1.0], [0.5, -3.25], [0.0, 1e9]] {
        let refused = floats(weights).err().unwrap();
        assert!(refused.contains("look like floats"), "{weights:?}: {refused}");
    }
    for weights in [[1, 1], [0, 0], [-5, 1_065_353_216], [8_000_000, 7]] {
        assert!(graph(weights).is_ok(), "{weights:?}");
    }
}
