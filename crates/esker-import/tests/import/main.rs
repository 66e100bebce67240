//! Imports as a user sees them: from a file to a whole database, or to none.
// The tests read and write files of their own.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod gbbs;
mod missing;
mod round_trips;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use esker_format::PAGE_BYTES;
use esker_format::testing::rewrite_archive;
use esker_graph::random::hash;
use esker_graph::{Direction, Graph, Run};
use esker_import::export::{ExportOptions, StoredExport, export};
use esker_import::install::import;
use esker_import::open::{open_inputs, open_reader};
use esker_import::options::{ImportOptions, ImportReport, NumberingOrder};
use esker_import::read::format::{PickProperties, ReadOptions};
use esker_import::read::input::Input;
use esker_store::Version;
use esker_store::check::check;
use esker_store::database::{CompactOptions, Tiling};
use esker_store::format::Encoding;
use esker_store::io::{Disk, Faults, FaultyDisk, RealDisk};
use esker_store::manifest::StagingOptions;
use esker_store::{Access, Database, DatabaseOptions, GraphEncoding, Result, Store};

fn write_edges(path: &Path, count: u64, n: u64) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for i in 0..count {
        writeln!(file, "{} {} {}", hash(2 * i) % n, hash(2 * i + 1) % n, i % 100).unwrap();
    }
}

fn import_file(input: &Path, target: &Path, options: &ImportOptions) -> Result<ImportReport> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let reader = open_reader(&[input.to_str().unwrap()], &ReadOptions::default())?;
    let staging = StagingOptions { replace: true, ..StagingOptions::default() };
    import(&disk, reader, target, options, staging)
}

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn an_imported_graph_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let (input, target) = (dir.path().join("in.wel"), dir.path().join("out.esker"));
    std::fs::write(&input, "0 1 5\n1 2 7\n2 0 -1\n0 1 9\n3 3 2\n").unwrap();
    for order in [NumberingOrder::Keep, NumberingOrder::Degree] {
        let report =
            import_file(&input, &target, &ImportOptions { order, ..ImportOptions::default() }).unwrap();
        assert_eq!((report.rows, report.edges, report.duplicates, report.vertices), (5, 4, 1, 4));
        let version = Store::open(&target).unwrap().latest().unwrap();
        assert_eq!((version.num_vertices(), version.num_edges(), version.num_arcs()), (4, 4, 4));
        assert!(version.weight_property().is_some());
        // By degree: 0 and 1 have three ends each, 2 and 3 two.
        assert_eq!(*version.neighbors(Direction::Out, 0).unwrap(), [1]);
        assert_eq!(*version.neighbors(Direction::Out, 3).unwrap(), [3]);
        assert_eq!(*version.neighbors(Direction::In, 0).unwrap(), [2]);
        assert_eq!(names(dir.path()).len(), 2, "{:?}", names(dir.path()));
        assert!(!target.join("scratch").exists());
    }
}

/// Lists were written, read back, written anew, made into tiles, and removed.
#[test]
fn an_import_to_tiles_makes_those_that_compacting_makes() {
    let dir = tempfile::tempdir().unwrap();
    let (input, target) = (dir.path().join("in.wel"), dir.path().join("out.esker"));
    write_edges(&input, 3000, 70_000);
    let run = Run::with_threads(2).unwrap();
    for (directed, in_edges) in [(true, true), (true, false), (false, true)] {
        let plain =
            ImportOptions { directed: Some(directed), in_edges, threads: 2, ..ImportOptions::default() };
        let compacted = |lists| {
            import_file(&input, &target, &plain).unwrap();
            let database = Database::open(&target, DatabaseOptions::default()).unwrap();
            let options = CompactOptions { lists, tiles: Tiling::Make, ..CompactOptions::default() };
            let forms = database.compact_with(options, &run).unwrap().forms;
            database.close().unwrap();
            (forms.tiles, read_all(&target))
        };
        for (encoding, lists) in [(Encoding::Tiles, Some(Encoding::Tiles)), (Encoding::Plain, None)] {
            let expected = compacted(lists);
            let report =
                import_file(&input, &target, &ImportOptions { encoding, tiles: true, ..plain.clone() })
                    .unwrap();
            assert_eq!((report.tiles, read_all(&target)), expected, "{directed} {in_edges} {encoding:?}");
            let version = Store::open(&target).unwrap().latest().unwrap();
            assert!(check(&version, &run).unwrap().is_sound());
            assert_eq!(version.manifest().layers[0].encoding, encoding);
            let layer = names(&target.join("layers/1"));
            let has_lists = layer.iter().any(|name| name.contains("targets"));
            assert!(!has_lists || encoding == Encoding::Plain, "{layer:?}");
            let tiles = version.view().resident(Access::Mapped(GraphEncoding::Tiles)).unwrap();
            assert_eq!(tiles.graph::<i32>(&run).unwrap().num_arcs(), report.arcs);
        }
        std::fs::write(&input, "").unwrap();
        let empty =
            import_file(&input, &target, &ImportOptions { encoding: Encoding::Tiles, ..plain }).unwrap();
        assert_eq!(empty.tiles.unwrap().num_edges, 0);
        write_edges(&input, 3000, 70_000);
    }
}

/// The out-lists and in-lists of all vertices of a database.
fn read_all(database: &Path) -> Vec<Vec<esker_graph::VertexId>> {
    let version = Store::open(database).unwrap().latest().unwrap();
    let directions = [Direction::Out, Direction::In].into_iter().filter(|&direction| version.has(direction));
    let lists = directions.flat_map(|direction| {
        let read = |v| version.neighbors(direction, v).unwrap().to_vec();
        (0..version.num_vertices()).map(esker_graph::vertex).map(read).collect::<Vec<_>>()
    });
    lists.collect()
}

#[test]
fn a_header_of_few_bytes_does_not_make_billions_of_vertices() {
    let dir = tempfile::tempdir().unwrap();
    let (input, target) = (dir.path().join("in.mtx"), dir.path().join("out.esker"));
    let matrix = |n: u64| format!("%%MatrixMarket matrix coordinate pattern general\n{n} {n} 1\n1 2\n");
    std::fs::write(&input, matrix(4_000_000_000)).unwrap();
    let error = import_file(&input, &target, &ImportOptions::default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "the input has only 1 edge, but 4000000000 vertices are stated for it: correct that number; or, if there are so \
         many vertices, allow 60 GiB of memory"
    );
    assert_eq!(names(dir.path()), ["in.mtx"]);
    std::fs::write(&input, matrix(100_000)).unwrap();
    let report = import_file(&input, &target, &ImportOptions::default()).unwrap();
    assert_eq!(report.vertices, 100_000);
}

#[test]
fn empty_lines_are_no_edges() {
    let dir = tempfile::tempdir().unwrap();
    let (input, target) = (dir.path().join("in.el"), dir.path().join("out.esker"));
    for empty in ["\n", "\r\n", " \n"] {
        let many = empty.repeat(3_000_000);
        std::fs::write(&input, format!("0 1\n{many}1 2\n{many}")).unwrap();
        assert_eq!(import_file(&input, &target, &ImportOptions::default()).unwrap().edges, 2);
    }
    std::fs::write(&input, "0 1\n".to_owned() + &"\n".repeat(1_000_000) + "0\n").unwrap();
    let error = import_file(&input, &target, &ImportOptions::default()).unwrap_err().to_string();
    assert!(error.contains("in.el:1000002"), "{error}");
}

/// Writes one byte of a column again, with its checksum.
fn forge(disk: &Arc<dyn Disk>, layer: &Path, name: &str, element: usize, value: u8) {
    rewrite_archive(disk, layer, |other, content| {
        if other == name {
            content[PAGE_BYTES + element] = value;
            let end = content.len() - 4;
            let sum = crc32c::crc32c(&content[PAGE_BYTES..end]);
            content[end..].copy_from_slice(&sum.to_le_bytes());
        }
    });
}

#[test]
fn a_forged_code_ends_an_export_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(0));
    let target = Path::new("/out.esker");
    let input = Input::memory("in.csv", &b"source,target,kind\na,b,red\nb,c,green\nc,a,red\n"[..]);
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let reader = open_inputs(&[input], &read).unwrap().reader;
    import(&disk, reader, target, &ImportOptions::default(), StagingOptions::default()).unwrap();
    forge(&disk, &target.join("layers/1"), "out.property.0", 1, 200);
    let view = Version::open(&disk, target).unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    for name in ["out.csv", "out.parquet", "out.arrow"] {
        let error =
            export(&graph, &dir.path().join(name), &ExportOptions::default()).unwrap_err().to_string();
        assert!(error.contains("is the code 200, but the dictionary has 2 texts"), "{error}");
        assert!(names(dir.path()).is_empty());
    }
}

#[test]
fn failing_and_cancelled_imports_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (input, target) = (dir.path().join("in.el"), dir.path().join("out.esker"));
    std::fs::write(&input, "0 1\n".repeat(100) + "7\n").unwrap();
    let error = import_file(&input, &target, &ImportOptions::default()).unwrap_err().to_string();
    assert!(error.contains("in.el:101"), "{error}");
    assert_eq!(names(dir.path()), ["in.el"]);

    write_edges(&input, 300_000, 10_000);
    for stage in ["read", "order", "sort out-edges", "divide in-edges"] {
        let options = ImportOptions { threads: 2, ..ImportOptions::default() };
        let cancel = options.cancel.clone();
        let on_progress = Arc::new(move |progress: esker_import::options::ImportProgress| {
            if progress.stage == stage {
                cancel.cancel();
            }
        });
        let start = Instant::now();
        let options = ImportOptions { on_progress: Some(on_progress), ..options };
        let error = import_file(&input, &target, &options).unwrap_err();
        assert_eq!(error.to_string(), "cancelled");
        assert!(start.elapsed() < Duration::from_secs(60));
        assert_eq!(names(dir.path()), ["in.el"]);
    }
}

#[test]
fn a_power_loss_at_any_operation_leaves_a_complete_database_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("in.wel");
    write_edges(&input, 3000, 500);
    let target = PathBuf::from("/out.esker");
    let run = |faults: Faults| {
        let disk = FaultyDisk::new(7);
        disk.set_faults(faults);
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let reader = open_reader(&[input.to_str().unwrap()], &ReadOptions::default()).unwrap();
        let options = ImportOptions { threads: 1, ..ImportOptions::default() };
        let done = import(&shared, reader, &target, &options, StagingOptions::default());
        (disk, done.is_ok())
    };
    let (disk, done) = run(Faults::default());
    assert!(done);
    let operations = disk.operations();
    let mut whole = 0;
    for at in (1..=operations).step_by(1 + operations as usize / 60) {
        let (disk, done) = run(Faults { die_at: Some(at), ..Faults::default() });
        disk.crash();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        if shared.look(&target).unwrap().is_some() {
            let version = Store::open_on(shared, &target).unwrap().latest().unwrap();
            assert!(version.num_arcs() > 2900);
            whole += 1;
        } else {
            // Only the final removal of temporary files may fail unnoticed.
            assert!(!done, "operation {at}");
        }
    }
    assert!(whole <= 2, "{whole} faults left a database; only one after the last step may");
}

const KILLED: &str = "ESKER_TEST_IMPORTS_IN";

/// The test below runs it in a process of its own: imports until it is killed.
#[test]
fn importer() {
    let Some(dir) = std::env::var_os(KILLED) else { return };
    let dir = Path::new(&dir);
    let options = ImportOptions { threads: 2, memory_bytes: 16 << 20, ..ImportOptions::default() };
    import_file(&dir.join("in.wel"), &dir.join("out.esker"), &options).unwrap();
}

#[test]
fn an_import_killed_at_any_moment_leaves_a_complete_database_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let (input, target) = (dir.path().join("in.wel"), dir.path().join("out.esker"));
    write_edges(&input, 100_000, 5000);
    let expected = import_file(&input, &target, &ImportOptions::default()).unwrap();
    std::fs::remove_dir_all(&target).unwrap();
    let spawn = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["importer", "--exact", "--nocapture"]).env(KILLED, dir.path());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let start = Instant::now();
    assert!(spawn().wait().unwrap().success());
    let whole_ms = start.elapsed().as_millis() as u64 + 1;
    std::fs::remove_dir_all(&target).unwrap();

    let rounds = std::env::var("ESKER_TEST_KILLS").map_or(12, |rounds| rounds.parse().unwrap());
    for round in 0..rounds {
        let mut child = spawn();
        std::thread::sleep(Duration::from_millis(hash(round) % whole_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        if target.exists() {
            let version = Store::open(&target).unwrap().latest().unwrap();
            assert_eq!(version.num_arcs(), expected.arcs, "round {round}");
            std::fs::remove_dir_all(&target).unwrap();
        }
    }
    // The next import removes the remains of the killed ones.
    import_file(&input, &target, &ImportOptions::default()).unwrap();
    let mut left = names(dir.path());
    left.sort();
    assert_eq!(left, ["in.wel", "out.esker"]);
}
