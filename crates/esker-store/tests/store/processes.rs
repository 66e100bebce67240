//! One process writes, others read: locks across processes, read-only directories, and speed of opening.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use esker_graph::{Direction, VertexId};
use esker_store::Store;
use esker_store::format::{
    Edit, GraphShape, IdMapKind, IdMapRecord, LayerRecord, VersionRecord, VertexOrder,
};
use esker_store::io::{Disk, RealDisk};
use esker_store::manifest::{Staging, StagingOptions, lock_writer};

const HOLD: &str = "ESKER_TEST_HOLDS_LOCK_OF";

/// Writes a database of a cycle of `n` vertices.
pub(super) fn write_cycle(path: &Path, n: u64, replace: bool) -> esker_store::Result<u64> {
    let options = StagingOptions { replace, ..StagingOptions::default() };
    let staging = Staging::begin(Arc::new(RealDisk), path, options)?;
    let layer = staging.plain_layer();
    let mut offsets = layer.offsets(Direction::Out)?;
    offsets.append(&(0..=n).collect::<Vec<_>>())?;
    offsets.finish()?;
    let mut targets = layer.targets(Direction::Out)?;
    targets.append(&(0..n).map(|v| ((v + 1) % n) as VertexId).collect::<Vec<_>>())?;
    targets.finish()?;
    let record = LayerRecord::first(
        &GraphShape { directed: true, num_vertices: n, num_edges: n, num_arcs: n, ..GraphShape::default() },
        staging.stamp(),
    );
    let stamp = staging.stamp();
    staging.install(&[
        Edit::AddLayer(record.clone()),
        Edit::SetIdMap(IdMapRecord { kind: IdMapKind::Identity, base: 0, order: VertexOrder::Keep, stamp }),
        Edit::AddVersion(VersionRecord::at_end_of(&record, 0, 0, String::new())),
    ])
}

fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn next_of(path: &Path, v: VertexId) -> VertexId {
    Store::open(path).unwrap().latest().unwrap().neighbors(Direction::Out, v).unwrap()[0]
}

/// The tests below run it in a process of its own: holds the lock until its input ends.
#[test]
fn holder() {
    let Some(path) = std::env::var_os(HOLD) else { return };
    let lock = lock_writer(&real(), Path::new(&path)).unwrap();
    std::io::stdout().write_all(b"\nlocked\n").unwrap();
    std::io::stdin().lines().for_each(drop);
    drop(lock);
}

/// Starts the other process. Its output must stay open until it ends.
fn start_holder(path: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::holder", "--nocapture"])
        .env(HOLD, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    assert!(
        output.by_ref().lines().map_while(Result::ok).any(|line| line == "locked"),
        "the other process must get the lock"
    );
    (child, output)
}

#[test]
fn one_process_writes_while_others_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.esker");
    write_cycle(&path, 10, false).unwrap();
    let (mut holder, _output) = start_holder(&path);
    let told = lock_writer(&real(), &path).unwrap_err().to_string();
    assert!(
        told.ends_with("web.esker is being written to by another process: wait until it is done"),
        "{told}"
    );
    assert!(write_cycle(&path, 20, true).unwrap_err().to_string().contains("being written to"));
    assert_eq!(next_of(&path, 9), 0);
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    let own = lock_writer(&real(), &path).unwrap();
    let told = lock_writer(&real(), &path).unwrap_err().to_string();
    assert!(
        told.ends_with(
            "web.esker is being written to by another handle of this process: close that one, or use it"
        ),
        "{told}"
    );
    drop(own);
    lock_writer(&real(), &path).unwrap();
}

#[test]
fn a_killed_writer_leaves_no_lock() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.esker");
    write_cycle(&path, 10, false).unwrap();
    let (mut holder, _output) = start_holder(&path);
    holder.kill().unwrap();
    holder.wait().unwrap();
    lock_writer(&real(), &path).unwrap();
}

#[test]
fn a_replaced_database_stays_readable_where_it_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.esker");
    write_cycle(&path, 10, false).unwrap();
    let old = Store::open(&path).unwrap().latest().unwrap();
    write_cycle(&path, 30_000, true).unwrap();
    assert_eq!(*old.neighbors(Direction::Out, 9).unwrap(), [0]);
    assert_eq!(next_of(&path, 9), 10);
    let names: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["web.esker"]);
}

#[test]
fn readers_need_no_write_permission() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.esker");
    write_cycle(&path, 10, false).unwrap();
    std::fs::remove_file(path.join("LOCK")).unwrap();
    let set = |mode| {
        for directory in [path.join("layers"), path.clone()] {
            std::fs::set_permissions(directory, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o555);
    assert_eq!(next_of(&path, 3), 4);
    assert!(!path.join("LOCK").exists(), "a reader must not create a file");
    set(0o755);
}

#[test]
fn opening_says_why_a_path_is_not_a_database() {
    let directory = tempfile::tempdir().unwrap();
    let told = |name: &str| Store::open(directory.path().join(name)).unwrap_err().to_string();
    std::fs::write(directory.path().join("file"), "1 2\n").unwrap();
    std::fs::create_dir(directory.path().join("empty")).unwrap();
    assert!(told("nothing").contains("nothing does not exist"));
    assert!(told("file").contains("file is a file, not a database"));
    assert!(told("empty").contains("empty is not a database: it has no file MANIFEST"));
    write_cycle(&directory.path().join("db"), 5, false).unwrap();
    let store = Store::open(directory.path().join("db")).unwrap();
    let names: Vec<_> = store
        .files()
        .unwrap()
        .into_iter()
        .map(|(path, _)| path.strip_prefix(store.path()).unwrap().to_owned())
        .collect();
    assert_eq!(names, ["LOCK", "MANIFEST", "layers/1.columns"].map(std::path::PathBuf::from));
}

#[test]
fn a_million_edges_fit_the_promised_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.esker");
    let n = 1_000_000_u64;
    let bytes = write_cycle(&path, n, false).unwrap();
    let (edge, vertex) = if size_of::<VertexId>() == 4 { (4.3, 16.0) } else { (8.6, 16.0) };
    assert!((bytes as f64) < n as f64 * (edge + vertex));
    assert_eq!(bytes, Store::open(&path).unwrap().files().unwrap().iter().map(|file| file.1).sum::<u64>());
}

#[test]
fn a_directory_may_be_listed_while_files_in_it_are_removed() {
    // A reader once got an error when a segment of the log was removed during the listing.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..20_000 {
                let file = path.join(number.to_string());
                std::fs::write(&file, "").unwrap();
                std::fs::remove_file(&file).unwrap();
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            RealDisk.list(&path).unwrap();
        }
    });
}
