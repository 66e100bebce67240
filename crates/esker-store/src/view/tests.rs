use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, Faults, FaultyDisk, Files};
use esker_format::testing::{read_all_of, rewrite_archive};
use esker_format::{Archive, ElementType, Encoding, Error, IdMapKind, Result};
use esker_graph::{Direction, Flow, Graph, Lists, Piece, Run, Select, VertexId, Visitor, vertex};
use proptest::prelude::*;

use crate::check::check;
use crate::manifest::read_account;
use crate::sample::{KINDS, Sample, kind_of};
use crate::version::Version;

const DB: &str = "web.esker";

fn shared(disk: &FaultyDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn stored(sample: &Sample) -> FaultyDisk {
    let disk = FaultyDisk::new(1);
    sample.write(&shared(&disk), Path::new(DB), false).unwrap();
    disk
}

fn open(disk: &FaultyDisk) -> Result<Version> {
    Version::open(&shared(disk), Path::new(DB))
}

/// Collects every arc that a scan hands over.
pub(super) struct Collect;

impl Visitor<i32> for Collect {
    type State = Vec<(VertexId, VertexId, i32)>;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        state.extend(piece.targets.iter().zip(piece.weights).map(|(&target, &weight)| (v, target, weight)));
        Flow::More
    }
}

/// Reads everything in every way; an answer other than the model's panics.
fn read_all(version: &Version, sample: &Sample, run: &Run) -> Result<()> {
    for v in (0..sample.num_vertices).map(vertex) {
        assert_eq!(version.ids().external_of(v)?.to_string(), sample.name(v));
        assert_eq!(version.ids().find(&sample.name(v))?, v);
    }
    let model = sample.model();
    let model = model.graph();
    for direction in [Direction::Out, Direction::In] {
        if !version.has(direction) {
            continue;
        }
        let rows = model.rows(direction).unwrap();
        for v in (0..sample.num_vertices).map(vertex) {
            let (targets, weights) = rows.list(v);
            assert_eq!(version.neighbors(direction, v)?, targets);
            assert_eq!(version.degree(direction, v)?, targets.len());
            let edges = version.edges(direction, v)?;
            for (index, &weight) in weights.iter().enumerate() {
                let code = edges.bits(1, index)?;
                assert_eq!(code, u64::from(kind_of(weight)));
                let text = version.dictionary(1).unwrap().text(code as usize)?;
                assert_eq!(text, KINDS[usize::from(kind_of(weight))]);
            }
        }
        let view = version.view();
        let graph = view.graph::<i32>(run)?;
        for v in (0..sample.num_vertices).map(vertex) {
            assert_eq!(graph.degree(direction, v), rows.degree(v));
            graph.with_list(direction, v, |targets, weights| assert_eq!((targets, weights), rows.list(v)))?;
        }
        let mut arcs = graph.scan(run, direction, Select::All, &Collect)?.concat();
        arcs.sort_unstable();
        let mut expected = model.scan(run, direction, Select::All, &Collect).unwrap().concat();
        expected.sort_unstable();
        assert_eq!(arcs, expected);
        for v in (0..sample.num_vertices).map(vertex) {
            graph.with_list(direction, v, |targets, weights| assert_eq!((targets, weights), rows.list(v)))?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(esker_format::testing::cases(60))]
    #[test]
    fn a_stored_graph_is_the_graph_in_memory(
        n in 1_usize..60, count in 0_usize..300, directed: bool, in_edges: bool, seed: u32, short_reads: bool,
        ids in prop::sample::select(vec![
            IdMapKind::Identity, IdMapKind::Permuted, IdMapKind::Integers, IdMapKind::Texts,
        ]),
    ) {
        let mut sample = Sample::random(n, count, directed, seed);
        sample.in_edges &= in_edges;
        sample.ids = ids;
        let disk = stored(&sample);
        disk.set_faults(Faults { short_reads, read_only: true, ..Faults::default() });
        let version = open(&disk).unwrap();
        prop_assert_eq!(version.num_vertices(), n);
        prop_assert_eq!(version.num_edges(), count as u64);
        let run = Run::with_threads(2).unwrap();
        read_all(&version, &sample, &run).unwrap();
        let report = check(&version, &run).unwrap();
        prop_assert!(report.is_sound(), "{:?}", report.problems);
        let id_files = [0, 2, 4, 5][ids as usize - 1];
        let lists = if sample.encoding == Encoding::Compressed { 4 } else { 2 };
        let directions = if sample.in_edges { 2 } else { 1 };
        // The texts of the properties, and their order.
        prop_assert_eq!(report.columns, id_files + 3 + (lists + 2) * directions);
    }
}

#[test]
fn graphs_of_no_and_of_one_vertex() {
    let run = Run::with_threads(1).unwrap();
    for (n, edges) in [(0, vec![]), (1, vec![]), (1, vec![(0, 0, 7)])] {
        for directed in [true, false] {
            let (edges, ids, encoding) = (edges.clone(), IdMapKind::Texts, Encoding::Compressed);
            let (in_edges, multigraph) = (directed, true);
            let sample = Sample { num_vertices: n, directed, in_edges, multigraph, edges, ids, encoding };
            let disk = stored(&sample);
            let version = open(&disk).unwrap();
            assert_eq!(version.num_arcs(), sample.edges.len() as u64);
            read_all(&version, &sample, &run).unwrap();
            assert!(check(&version, &run).unwrap().is_sound());
        }
    }
}

#[test]
fn what_is_not_there_is_named() {
    let mut sample = Sample::random(10, 20, true, 3);
    sample.in_edges = false;
    let version = open(&stored(&sample)).unwrap();
    let run = Run::with_threads(1).unwrap();
    assert_eq!(version.view().weight_type(), Some(ElementType::I32));
    let told = |error: Error| error.to_string();
    assert_eq!(
        told(version.view().graph::<f64>(&run).unwrap_err()),
        "the edge property \"weight\" holds i32, not f64"
    );
    assert_eq!(
        told(version.view().weighted_by("kind").unwrap_err()),
        "the edge property \"kind\" holds texts and cannot be a weight; properties that can: weight"
    );
    assert_eq!(
        told(version.view().weighted_by("wait").unwrap_err()),
        "the edges of web.esker have no property \"wait\": they have weight, kind"
    );
    let not_kept = told(version.neighbors(Direction::In, 0).unwrap_err());
    assert!(not_kept.contains("without its in-edges"), "{not_kept}");
    let view = version.view();
    let graph = view.graph::<()>(&run).unwrap();
    assert!(!graph.has(Direction::In));
    assert!(told(graph.prepare(&run, Direction::In).unwrap_err()).contains("without its in-edges"));
    assert_eq!(
        told(version.degree(Direction::Out, 10).unwrap_err()),
        "there is no vertex 10: the graph has 10"
    );
}

#[test]
fn dictionaries_give_texts() {
    let version = open(&stored(&Sample::random(4, 9, true, 1))).unwrap();
    let dictionary = version.dictionary(1).unwrap();
    for (code, text) in KINDS.iter().enumerate() {
        assert_eq!(dictionary.text(code).unwrap(), *text);
    }
    assert!(dictionary.text(3).is_err());
    assert!(version.dictionary(0).is_none());
}

/// What a reader does with a database; and what `check` says of it, if it opens.
fn outcome(disk: &FaultyDisk, sample: &Sample, run: &Run) -> Result<()> {
    let version = open(disk)?;
    let read = read_all(&version, sample, run);
    // Afresh, so that nothing counts as verified already.
    let report = check(&open(disk)?, run)?;
    match read {
        // Nothing but a check and a recovery reads what a layer says of itself.
        Ok(()) if !report.is_sound() => {
            let layer = Path::new(DB).join("layers/1");
            let told = read_account(&Archive::open(&shared(disk), &layer)?, &layer).unwrap_err();
            assert_eq!(format!("{:?}", report.problems), format!("{:?}", [&told]));
            Err(told)
        }
        _ => {
            assert_eq!(
                read.is_ok(),
                report.is_sound(),
                "reading says {read:?}, checking {:?}",
                report.problems
            );
            read
        }
    }
}

fn expect_damage(result: Result<()>, damaged: &Path, bytes: u64) {
    match result {
        Err(Error::Corrupt { path, offset, .. }) => {
            assert_eq!(path, damaged);
            assert!(offset <= bytes, "{offset} is beyond {bytes}");
        }
        other => panic!("{} is damaged, but: {other:?}", damaged.display()),
    }
}

fn files(disk: &FaultyDisk) -> Vec<(std::path::PathBuf, u64)> {
    let mut found = Vec::new();
    for directory in [DB.to_owned(), format!("{DB}/layers")] {
        for entry in disk.list(Path::new(&directory)).unwrap() {
            if !entry.is_directory && entry.name != "LOCK" {
                found.push((Path::new(&directory).join(entry.name), entry.bytes));
            }
        }
    }
    found
}

#[test]
fn every_byte_flipped_in_turn_is_noticed() {
    let of = |ids| Sample { ids, ..Sample::random(9, 20, true, 11) };
    flip_every_byte(&of(IdMapKind::Texts), |_| true);
    flip_every_byte(&of(IdMapKind::Integers), |path| path.to_string_lossy().contains("/ids."));
    flip_every_byte(&of(IdMapKind::Permuted), |path| path.to_string_lossy().contains("/ids."));
}

fn flip_every_byte(sample: &Sample, concerns: impl Fn(&Path) -> bool) {
    let disk = stored(sample);
    let run = Run::with_threads(1).unwrap();
    for (path, bytes) in files(&disk).into_iter().filter(|(path, _)| concerns(path)) {
        for offset in 0..bytes {
            disk.flip(&path, offset, (offset % 8) as u8).unwrap();
            expect_damage(outcome(&disk, sample, &run), &path, bytes);
            disk.flip(&path, offset, (offset % 8) as u8).unwrap();
        }
    }
    outcome(&disk, sample, &run).unwrap();
}

#[test]
fn every_truncation_of_every_file_is_noticed() {
    let sample = Sample { ids: IdMapKind::Texts, ..Sample::random(9, 20, true, 12) };
    let disk = stored(&sample);
    let run = Run::with_threads(1).unwrap();
    for (path, bytes) in files(&disk) {
        let content = disk.read(&path).unwrap();
        for length in (0..bytes).rev() {
            disk.truncate(&path, length).unwrap();
            expect_damage(outcome(&disk, &sample, &run), &path, bytes);
        }
        disk.open(&path).unwrap().write_at(&content, 0).unwrap();
    }
    outcome(&disk, &sample, &run).unwrap();
}

#[test]
fn a_missing_file_is_named() {
    let sample = Sample { ids: IdMapKind::Integers, ..Sample::random(9, 20, true, 13) };
    for (path, _) in files(&stored(&sample)) {
        let disk = stored(&sample);
        disk.remove_file(&path).unwrap();
        let told = open(&disk).unwrap_err().to_string();
        assert!(told.contains(&path.display().to_string()), "{told}");
    }
}

#[test]
fn reads_that_fail_or_are_damaged_on_the_way_are_errors() {
    let sample = Sample::random(9, 20, true, 14);
    let disk = stored(&sample);
    let run = Run::with_threads(1).unwrap();
    disk.set_faults(Faults::default());
    outcome(&disk, &sample, &run).unwrap();
    for k in 1..=disk.operations() {
        disk.set_faults(Faults { fail_at: Some(k), ..Faults::default() });
        assert!(matches!(outcome(&disk, &sample, &run), Err(Error::Io { .. })), "operation {k}");
    }
    disk.set_faults(Faults::default());
    read_all(&open(&disk).unwrap(), &sample, &run).unwrap();
    let mut noticed = 0;
    for k in 1..=disk.operations() {
        disk.set_faults(Faults { flip_read_at: Some(k), ..Faults::default() });
        match open(&disk).and_then(|version| read_all(&version, &sample, &run)) {
            Ok(()) => {}
            Err(Error::Corrupt { .. }) => noticed += 1,
            Err(other) => panic!("operation {k}: {other}"),
        }
    }
    assert!(noticed >= 2, "each file is read or mapped: {noticed}");
}

/// A writer with a mistake: checksums match, but the arrays do not fit together. `check` says what is wrong.
#[test]
fn check_finds_what_checksums_cannot() {
    let run = Run::with_threads(2).unwrap();
    let sound = Sample { encoding: Encoding::Plain, ..Sample::random(30, 100, true, 15) };
    let problems = |sample: &Sample, mixed: &Sample, files: &[&str]| -> Vec<String> {
        let (disk, other) = (stored(sample), stored(mixed));
        let layer = Path::new(DB).join("layers/1");
        let source = Archive::open(&shared(&other), &layer).unwrap();
        rewrite_archive(&shared(&disk), &layer, |name, content| {
            if files.contains(&name) {
                *content = read_all_of(source.open(&layer.join(name)).unwrap().as_ref());
            }
        });
        let report = check(&open(&disk).unwrap(), &run).unwrap();
        report.problems.iter().map(ToString::to_string).collect()
    };
    // The in-lists of a graph with one edge turned round.
    let mut turned = sound.clone();
    let edge = turned.edges.iter_mut().find(|edge| edge.0 != edge.1).unwrap();
    *edge = (edge.1, edge.0, edge.2);
    let told = problems(&sound, &turned, &["in.offsets", "in.targets", "in.property.0", "in.property.1"]);
    assert!(told.len() == 1 && told[0].contains("not the transpose of the out-lists"), "{told:?}");
    // The weights of a graph with one weight changed.
    let mut heavier = sound.clone();
    heavier.edges[7].2 += 3;
    let told = problems(&sound, &heavier, &["in.property.0"]);
    assert!(told.len() == 1 && told[0].contains("not the transpose of the out-lists"), "{told:?}");
    // Offsets of another graph with as many edges: the lists are cut wrongly.
    let told = problems(&sound, &Sample::random(30, 100, true, 16), &["out.offsets"]);
    assert!(!told.is_empty() && told[0].contains("does not ascend"), "{told:?}");
    // Undirected lists that are not symmetric.
    let mut undirected = Sample { encoding: Encoding::Plain, ..Sample::random(30, 100, true, 17) };
    undirected.edges.retain(|edge| edge.0 != edge.1);
    let doubled = Sample {
        directed: false,
        in_edges: false,
        edges: undirected.edges[..40].to_vec(),
        ..undirected.clone()
    };
    let lopsided = Sample { edges: undirected.edges[..80].to_vec(), ..undirected };
    let told =
        problems(&doubled, &lopsided, &["out.offsets", "out.targets", "out.property.0", "out.property.1"]);
    assert!(told.len() == 1 && told[0].contains("not symmetric"), "{told:?}");
}
