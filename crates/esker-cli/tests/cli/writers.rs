//! Commands that change a database, when something goes wrong after the change: what they say, and how they
//! end.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::place::{Place, limited};

/// A database with parallel edges: what is added twice is there twice.
fn multigraph() -> Place {
    let place = Place::new();
    place.file("a.el", "0 1\n1 2\n");
    place.ok("import a.el m.esker --duplicates keep");
    place
}

fn edges(place: &Place) -> u64 {
    place.json("info m.esker --json")["edges"].as_u64().unwrap()
}

fn versions(place: &Place) -> usize {
    place.json("log m.esker --json")["versions"].as_array().unwrap().len()
}

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_durable_commit_whose_report_cannot_be_printed_has_an_exit_code_of_its_own() {
    let place = multigraph();
    place.file("script", "+ 5 6\n");
    place.file("ages.csv", "id,age\n0,3\n");
    let lines = [
        "add m.esker a.el",
        "add m.esker a.el --json",
        "add m.esker a.el --freeze",
        "commit m.esker script",
        "commit m.esker script --freeze --json",
        "set m.esker ages.csv",
        "delete m.esker a.el",
        "stream m.esker a.el",
        "stream m.esker a.el --from-start --json",
    ];
    for (line, version) in lines.into_iter().zip(2..) {
        let output = place.command(line).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{line}: {}", said(&output));
        let words =
            format!("esker: committed as version {version}, but then: cannot write to standard output");
        assert!(said(&output).contains(&words), "{line}: {}", said(&output));
        assert_eq!(versions(&place), version, "{line}");
    }
    place.ok("tag m.esker 3 here");
    for line in ["tag m.esker 2 there", "forget m.esker 4", "retain m.esker last 4", "compact m.esker"] {
        let output = place.command(line).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{line}: {}", said(&output));
    }
    let import = place.command("import a.el n.esker").stdout(full()).output().unwrap();
    assert_eq!(import.status.code(), Some(3), "{}", said(&import));
    assert!(said(&import).contains("imported to n.esker, but then: cannot write"), "{}", said(&import));
    place.ok("check n.esker");
    // Nothing to commit: the failure is an ordinary one.
    place.file("none", "# nothing\n");
    let none = place.command("commit m.esker none").stdout(full()).output().unwrap();
    assert_eq!(none.status.code(), Some(1), "{}", said(&none));
}

#[test]
fn a_freeze_that_fails_after_the_commit_does_not_hide_the_commit() {
    let place = multigraph();
    // Files may have 16 KiB (in some shells 32): enough for the log, too little for a layer.
    let add = place.command("add m.esker a.el --freeze");
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$0\" \"$@\""])
        .arg(add.get_program())
        .args(add.get_args());
    let output = limited.current_dir(place.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let expected =
        "esker: committed as version 2, but then: cannot write to m.esker/layers/2.columns: File too";
    assert!(said(&output).contains(expected), "{}", said(&output));
    assert_eq!((edges(&place), versions(&place)), (4, 2));
    place.ok("compact m.esker");
    assert_eq!((edges(&place), versions(&place)), (4, 2));
}

#[test]
fn a_commit_is_reported_on_standard_error_as_soon_as_it_is_durable() {
    let place = multigraph();
    let output = place.run("add m.esker a.el --json");
    assert!(output.status.success());
    assert!(said(&output).lines().any(|line| line == "m.esker: committed as version 2"), "{}", said(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["versions"], json!([2]));
}

#[test]
fn a_closed_or_full_standard_error_changes_nothing() {
    let place = multigraph();
    place.file("bad.el", "0 1\nx 1\n");
    let lines = [
        (0, "import a.el g.esker --force"),
        (0, "run wcc m.esker"),
        (0, "add m.esker a.el"),
        (0, "compact m.esker"),
        (1, "import bad.el h.esker --ids int"),
        (1, "info nowhere.esker"),
        (2, "retain m.esker some"),
    ];
    for (code, line) in lines {
        let output = place.command(line).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}, full");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.command(line).stderr(writer).output().unwrap();
        assert_eq!((output.status.code(), output.status.signal()), (Some(code), None), "{line}, closed");
    }
    assert_eq!(edges(&place), 6);
}

fn interrupt(id: u32) {
    assert!(Command::new("kill").args(["-INT", &id.to_string()]).status().unwrap().success());
}

#[test]
fn a_writer_that_waits_for_input_ends_at_once_when_interrupted() {
    let place = multigraph();
    let mut command = place.command("add m.esker -");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = limited(command.spawn().unwrap());
    let stdin = child.stdin.take();
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    // A tenth of a second, and more on a busy machine.
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    drop(stdin);
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert_eq!(versions(&place), 1);
}

#[test]
fn a_reader_of_standard_input_that_stays_silent_ends_when_interrupted() {
    let place = Place::new();
    for line in ["import - g.esker", "import - g.esker --format csv --no-header", "run wcc -"] {
        let mut command = place.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = limited(command.spawn().unwrap());
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"1 2\n").unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        interrupt(child.id());
        let output = child.wait_with_output().unwrap();
        assert!(start.elapsed() < Duration::from_secs(2), "{line}: {:?}", start.elapsed());
        drop(stdin);
        assert_eq!(output.status.code(), Some(130), "{line}: {}", said(&output));
        assert!(!place.path().join("g.esker").exists());
    }
}

/// Interruptions of additions to one database; then a new one begins.
const INTERRUPTS_OF_ONE: u32 = 25;

/// Interrupts additions at random moments. `ESKER_TEST_KILLS` sets their number.
#[test]
fn an_interrupted_addition_says_whether_it_is_committed() {
    let rounds: u32 = std::env::var("ESKER_TEST_KILLS").map_or(12, |kills| kills.parse().unwrap());
    for first in (0..rounds).step_by(INTERRUPTS_OF_ONE as usize) {
        interrupt_additions(rounds.min(first + INTERRUPTS_OF_ONE) - first);
    }
}

fn interrupt_additions(rounds: u32) {
    let place = multigraph();
    let lines: String = (0..60_000).map(|i| format!("{} {}\n", i % 997, i * 7 % 1009)).collect();
    place.file("b.el", &lines);
    let start = Instant::now();
    place.ok("add m.esker b.el --freeze");
    let whole = start.elapsed();
    let mut known = versions(&place);
    for round in 0..rounds {
        let mut command = place.command("add m.esker b.el --freeze");
        let child = limited(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        std::thread::sleep(whole * (round * 7 % rounds) / rounds);
        interrupt(child.id());
        let output = child.wait_with_output().unwrap();
        let (text, now) = (said(&output), versions(&place));
        // Before it catches signals, the signal itself ends the process.
        let is_committed = match (output.status.code(), output.status.signal()) {
            (Some(130), _) | (None, Some(2)) => false,
            (Some(0 | 3), _) => true,
            other => panic!("{other:?}: {text}"),
        };
        assert_eq!(now, known + usize::from(is_committed), "{:?}: {text}", output.status);
        let words = format!("committed as version {}", known + 1);
        assert_eq!(text.contains(&words), is_committed, "{:?}: {text}", output.status);
        known = now;
    }
    assert_eq!(edges(&place) as usize, 2 + 60_000 * (known - 1));
    assert_eq!(place.json("check m.esker --json")["sound"], true);
}

#[test]
fn opening_for_writing_leaves_what_is_not_its_own() {
    let place = multigraph();
    let at = |name: &str| place.path().join(name);
    for directory in
        ["m.esker/layers/notes", "m.esker/layers/07", "m.esker/layers/9", "elsewhere", "elsewhere/5"]
    {
        std::fs::create_dir(at(directory)).unwrap();
    }
    place.file("m.esker/layers/notes/thesis.txt", "years of work");
    place.file("m.esker/layers/9/out.targets", "left by a crash");
    place.file("m.esker/layers/9.columns", "left by a crash");
    place.file("elsewhere/5/data", "mine");
    symlink("../../elsewhere", at("m.esker/layers/8")).unwrap();
    // Also where the next layer would be written.
    symlink("../../elsewhere", at("m.esker/layers/2")).unwrap();
    place.ok("add m.esker a.el --freeze");
    assert!(std::fs::symlink_metadata(at("m.esker/layers/2")).is_ok());
    assert!(at("m.esker/layers/3.columns").exists());
    std::fs::remove_file(at("m.esker/layers/2")).unwrap();
    assert!(!at("m.esker/layers/9").exists() && !at("m.esker/layers/9.columns").exists());
    for kept in
        ["m.esker/layers/notes/thesis.txt", "m.esker/layers/07", "m.esker/layers/8", "elsewhere/5/data"]
    {
        assert!(at(kept).exists(), "{kept} is gone");
    }
    let report = place.json("check m.esker --json");
    assert_eq!(report["sound"], true);
    let foreign = json!(["m.esker/layers/07", "m.esker/layers/8", "m.esker/layers/notes"]);
    assert_eq!(report["foreign"], foreign);
    let text = place.ok("check m.esker");
    assert!(text.contains("note: m.esker/layers/notes is not part of the database"), "{text}");
    // The layers behind a link are somebody's choice, and nothing behind it is removed.
    std::fs::rename(at("m.esker/layers"), at("moved")).unwrap();
    symlink("../moved", at("m.esker/layers")).unwrap();
    std::fs::create_dir(at("moved/11")).unwrap();
    place.ok("add m.esker a.el");
    assert!(at("moved/11").exists());
}

/// The summary compared the bits of values of two types: all edges of a changed vertex seemed to change.
#[test]
fn a_wider_type_changes_no_value() {
    let place = Place::new();
    place.file("a.csv", "source,target,n,w\n1,2,5,1.5\n1,3,-6,2.5\n1,4,7,3.5\n2,3,8,1\n");
    place.ok("import a.csv g.esker --property all");
    place.file("ages.csv", "id,age\n1,5\n2,6\n3,7\n");
    place.ok("set g.esker ages.csv");
    for (version, row, change) in [
        (2, "1,2,5000000000,1.5", "~ 1 2 w=1.5 n=5 -> 5000000000\n"),
        (3, "1,3,6.5,1", "~ 1 3 w=2.5 -> 1 n=-6 -> 6.5\n"),
        (4, "1,4,7,1e300", "~ 1 4 w=3.5 -> 1e300 n=7\n"),
    ] {
        place.file("b.csv", &format!("source,target,n,w\n{row}\n"));
        let said = place.ok("add g.esker b.csv");
        assert!(said.contains(": 1 edge changed\n"), "{said}");
        assert_eq!(place.ok(&format!("diff g.esker {version}")), change);
    }
    place.file("ages.csv", "id,age\n1,5\n2,6.5\n3,7\n");
    assert_eq!(place.json("set g.esker ages.csv --json")["changes"]["values_changed"], 1);
}

/// Removing a layer removed its directory with all that lay in it.
#[test]
fn what_lies_in_the_directory_of_a_layer_and_is_not_its_own_outlives_the_layer() {
    let place = multigraph();
    let at = |name: &str| place.path().join(name);
    for directory in ["m.esker/layers/1", "m.esker/layers/3", "m.esker/layers/9", "m.esker/layers/9/tiles"] {
        std::fs::create_dir(at(directory)).unwrap();
    }
    let foreign = [
        "m.esker/layers/1/thesis.txt",
        "m.esker/layers/3/out.targets.bak",
        "m.esker/layers/9/out.property.01",
        "m.esker/layers/9/tiles/notes",
    ];
    foreign.iter().for_each(|name| place.file(name, "years of work"));
    place.file("m.esker/layers/9/out.targets", "left by a crash");
    let lists_them = || {
        let report = place.json("check m.esker --json");
        assert_eq!((&report["sound"], &report["foreign"]), (&json!(true), &json!(foreign)));
        report["left"].clone()
    };
    assert_eq!(lists_them(), json!([{ "path": "m.esker/layers/9", "bytes": 15 }]));
    for _ in 0..3 {
        place.ok("add m.esker a.el --freeze");
        place.ok("compact m.esker");
        assert_eq!(lists_them(), json!([]));
    }
    assert!(!at("m.esker/layers/1.columns").exists() && !at("m.esker/layers/9/out.targets").exists());
    place.ok("compact m.esker --encoding tiles");
    place.ok("compact m.esker");
    lists_them();
}

/// Every command failed, because such a file passed for a segment.
#[test]
fn a_file_in_the_log_that_is_no_segment_is_left_alone_and_listed() {
    let place = multigraph();
    place.ok("add m.esker a.el");
    let foreign = ["m.esker/log/7777", "m.esker/log/8888", "m.esker/log/notes.txt"];
    place.file(foreign[0], &"years of work\n".repeat(1000));
    place.file(foreign[1], "");
    place.file(foreign[2], "12");
    for line in ["info m.esker", "log m.esker", "add m.esker a.el", "compact m.esker", "add m.esker a.el"] {
        place.ok(line);
    }
    let report = place.json("check m.esker --json");
    assert_eq!((&report["sound"], &report["foreign"]), (&json!(true), &json!(foreign)));
    assert_eq!(std::fs::read_to_string(place.path().join(foreign[2])).unwrap(), "12");
    // A lost segment is not mistaken for such a file.
    let place = multigraph();
    place.ok("add m.esker a.el");
    std::fs::rename(place.path().join("m.esker/log/1"), place.path().join(foreign[0])).unwrap();
    place.fails(1, "log m.esker", "log/7777 is damaged");
    std::fs::remove_file(place.path().join(foreign[0])).unwrap();
    place.file("m.esker/log/1", &"years of work\n".repeat(1000));
    place.fails(
        1,
        "log m.esker",
        "log/1 is damaged at byte 0: it is no segment of the log: if it is not Esker's, move it elsewhere",
    );
}

#[test]
fn check_lists_what_a_writer_that_died_has_left_and_the_next_writer_removes_it() {
    let place = multigraph();
    place.ok("compact m.esker --encoding tiles");
    let report = place.json("check m.esker --json");
    assert_eq!(report["left"], json!([]), "tiles that the manifest names");
    let tiled = std::fs::read_dir(place.path().join("m.esker/layers")).unwrap();
    let tiled =
        tiled.map(|entry| entry.unwrap().path()).find(|path| path.join("tiles.data").exists()).unwrap();
    let tiled = format!("m.esker/layers/{}", tiled.file_name().unwrap().to_str().unwrap());
    // A compaction that was killed while it wrote layer 99, and one that was to give a layer heads.
    for directory in
        ["m.esker/layers/99".to_owned(), "m.esker/layers/99/tiles".to_owned(), format!("{tiled}/heads")]
    {
        std::fs::create_dir(place.path().join(directory)).unwrap();
    }
    place.file("m.esker/layers/99/out.targets", "1234");
    place.file("m.esker/layers/99/tiles/keys", "12345");
    place.file("m.esker/layers/99.columns", "123");
    place.file(&format!("{tiled}/heads/out.heads"), "12");
    let report = place.json("check m.esker --json");
    assert_eq!((&report["sound"], &report["foreign"]), (&json!(true), &json!([])));
    let left = [
        (format!("{tiled}/heads"), 2),
        ("m.esker/layers/99".to_owned(), 9),
        ("m.esker/layers/99.columns".to_owned(), 3),
    ];
    let left = left.map(|(path, bytes)| json!({ "path": path, "bytes": bytes }));
    assert_eq!(report["left"], json!(left));
    let text = place.ok("check m.esker");
    let note = "note: m.esker/layers/99.columns (3 B) is in no version: a writer died, or is writing there; the next writer removes it";
    assert!(text.contains(note), "{text}");
    place.ok("add m.esker a.el");
    let report = place.json("check m.esker --json");
    assert_eq!((&report["sound"], &report["left"]), (&json!(true), &json!([])));
    assert!(place.path().join(&tiled).join("tiles.data").exists());
    assert!(!place.path().join(&tiled).join("heads").exists());
}

#[test]
fn versions_are_forgotten_together_or_not_at_all() {
    let place = multigraph();
    for _ in 0..4 {
        place.ok("add m.esker a.el");
    }
    place.ok("tag m.esker 3 here");
    let refused = place.run("forget m.esker 5 4 3");
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("version 3 has the tag \"here\""), "{}", said(&refused));
    assert_eq!(versions(&place), 5);
    let told = place.ok("forget m.esker 5 4 2");
    assert_eq!(told, "m.esker: forgot 3 versions, 2 left; version 3 is now the newest\n");
    assert_eq!(edges(&place), 6);
}

#[test]
fn a_retention_acts_at_once_on_versions_in_the_log() {
    let place = multigraph();
    for _ in 0..4 {
        place.ok("add m.esker a.el");
    }
    assert_eq!(place.ok("retain m.esker last 2"), "m.esker: retain last 2: 2 versions, 3 forgotten\n");
    assert_eq!(versions(&place), 2);
    place.ok("add m.esker a.el");
    assert_eq!((versions(&place), edges(&place)), (2, 12));
    let gone = place.run("run wcc m.esker --at 4");
    assert!(
        said(&gone).contains("there is no version 4 any more: there are versions 5 to 6"),
        "{}",
        said(&gone)
    );
    assert_eq!(place.json("check m.esker --json")["sound"], true);
    place.ok("tag m.esker 5 here");
    place.ok("compact m.esker");
    assert_eq!(versions(&place), 2);
    assert_eq!(place.json("check m.esker --json")["sound"], true);
}

#[test]
fn messages_name_what_the_user_named_and_what_to_do() {
    let place = multigraph();
    place.file("down.wel", "0 1 -3\n1 2 4\n");
    place.ok("import down.wel down.esker");
    place.file("bad.wel", "1 2 3\n2 3 x\n");
    let cases = [
        ("run wcc m.esker --output out/parts.csv", "cannot write out/parts.csv: there is no directory out"),
        ("export m.esker out/parts.csv", "cannot write out/parts.csv: there is no directory out"),
        ("run sssp down.esker --source 0", "bellman-ford"),
        ("import bad.wel x.esker", "use --bad-lines skip"),
    ];
    for (line, fragment) in cases {
        let output = place.run(line);
        assert_eq!(output.status.code(), Some(1), "{line}: {}", said(&output));
        assert!(
            said(&output).contains(fragment) && !said(&output).contains(".part"),
            "{line}: {}",
            said(&output)
        );
    }
    place.file("empty.csv", "");
    let empty = place.run("import empty.csv e.esker");
    assert!(empty.status.success());
    for words in ["Reading empty.csv: the file is empty (0 bytes)", "warning: e.esker is empty"] {
        assert!(said(&empty).contains(words), "{}", said(&empty));
    }
}

/// The command as a user who may read the place but not write to it.
fn as_a_guest(place: &Place, line: &str) -> Output {
    let mut command = Command::new(place.path().join("esker"));
    command.args(line.split_whitespace()).current_dir(place.path()).stdin(Stdio::null());
    if std::fs::metadata(place.path()).unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
    command.output().unwrap()
}

#[test]
fn a_user_who_may_only_read_reads_and_is_refused_all_else() {
    let place = multigraph();
    place.ok("add m.esker a.el");
    std::fs::copy(env!("CARGO_BIN_EXE_esker"), place.path().join("esker")).unwrap();
    let mode = |bits| std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(bits)).unwrap();
    let is_root = std::fs::metadata(place.path()).unwrap().uid() == 0;
    if !is_root {
        assert!(
            Command::new("chmod")
                .args(["-R", "a-w", "m.esker"])
                .current_dir(place.path())
                .status()
                .unwrap()
                .success()
        );
    }
    mode(if is_root { 0o755 } else { 0o555 });
    for line in ["info m.esker", "run wcc m.esker", "log m.esker", "check m.esker", "run wcc m.esker --at 1"]
    {
        let output = as_a_guest(&place, line);
        assert!(output.status.success(), "{line}: {}", said(&output));
    }
    let refused = [
        "add m.esker a.el",
        "tag m.esker 1 mine",
        "forget m.esker 1",
        "compact m.esker",
        "import a.el m.esker --force",
        "import a.el other.esker",
        "run wcc m.esker --output parts.csv",
    ];
    for line in refused {
        let output = as_a_guest(&place, line);
        assert_eq!(output.status.code(), Some(1), "{line}: {}", said(&output));
        assert!(said(&output).contains("ermission denied"), "{line}: {}", said(&output));
        assert!(!said(&output).contains("panicked"), "{line}: {}", said(&output));
    }
    mode(0o755);
    if !is_root {
        assert!(
            Command::new("chmod")
                .args(["-R", "u+w", "m.esker"])
                .current_dir(place.path())
                .status()
                .unwrap()
                .success()
        );
    }
    assert_eq!((edges(&place), versions(&place)), (4, 2));
}

#[test]
fn an_import_onto_a_symbolic_link_replaces_the_database_behind_it_and_keeps_the_link() {
    let place = Place::new();
    place.file("a.el", "0 1\n1 2\n");
    let at = |name: &str| place.path().join(name);
    std::fs::create_dir(at("disk")).unwrap();
    place.ok("import a.el disk/real.esker");
    symlink("disk/real.esker", at("m.esker")).unwrap();
    place.file("b.el", "0 1\n1 2\n2 3\n");
    place.ok("import b.el m.esker --force");
    assert!(std::fs::symlink_metadata(at("m.esker")).unwrap().is_symlink());
    assert_eq!(edges(&place), 3);
    assert_eq!(place.json("info disk/real.esker --json")["edges"], json!(3));
    // A link that leads nowhere is refused before the work.
    symlink("disk/nothing.esker", at("none.esker")).unwrap();
    for line in ["import a.el none.esker", "import a.el none.esker --force"] {
        let output = place.run(line);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("cannot follow the symbolic link none.esker"), "{}", said(&output));
    }
}

#[test]
fn check_lists_bytes_behind_the_last_record_of_the_log_and_of_the_manifest() {
    let place = multigraph();
    place.ok("add m.esker a.el");
    assert!(!place.ok("check m.esker").contains("note:"));
    for name in ["m.esker/log/1", "m.esker/MANIFEST"] {
        let mut file = OpenOptions::new().append(true).open(place.path().join(name)).unwrap();
        file.write_all(b"ESKr: no record").unwrap();
        let note = format!("note: {name} ends with 15 bytes, which are no complete record");
        let checked = place.run("check m.esker");
        assert_eq!(checked.status.code(), Some(4), "a damaged last record is a finding of its own");
        assert!(String::from_utf8_lossy(&checked.stdout).contains(&note));
    }
    let checked: serde_json::Value =
        serde_json::from_slice(&place.run("check m.esker --json").stdout).unwrap();
    let unfinished = checked["unfinished"].clone();
    let expected = ["m.esker/log/1", "m.esker/MANIFEST"].map(|path| json!({"path": path, "bytes": 15}));
    assert_eq!(unfinished, json!(expected));
    place.ok("add m.esker a.el");
    assert!(!place.ok("check m.esker").contains("note:"));
    assert_eq!(edges(&place), 6);
}

#[test]
fn a_property_that_was_defined_before_a_failure_is_named() {
    let place = Place::new();
    place.file("a.csv", "src,dst\n1,2\n");
    place.file("bad.csv", "src,dst,since\n1,2,soon\n");
    place.file("good.csv", "src,dst,since\n1,2,1999\n");
    place.ok("import a.csv p.esker");
    let words = "p.esker: the edge property since was added before the failure and is kept";
    let output = place.run("add p.esker bad.csv --define since:i64");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains(words), "{}", said(&output));
    let output = place.run("add p.esker bad.csv --define since:i64");
    assert!(!said(&output).contains(words), "{}", said(&output));
    place.ok("add p.esker good.csv --define since:i64");
    assert_eq!(place.ok("export p.esker - --format csv"), "source,target,since\n1,2,1999\n");
}

#[test]
fn changes_that_do_not_fit_into_the_limit_are_refused_while_they_are_read() {
    let place = multigraph();
    let edges: String = (0..300_000).map(|i| format!("{i} {}\n", i + 1)).collect();
    place.file("many.el", &edges);
    for verb in ["add", "delete"] {
        let line = format!("{verb} m.esker many.el --memory 16MiB --no-scratch");
        let output = place.run(&line);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        let refused = said(&output);
        assert!(refused.contains("a commit of 300000 changes needs "), "{line}: {refused}");
        let words = "of memory, but the limit is 16 MiB: raise the limit to at least ";
        assert!(refused.contains(words), "{line}: {refused}");
        assert!(
            refused.contains(" MiB, or commit fewer changes at a time with --batch N\n"),
            "{line}: {refused}"
        );
    }
    assert_eq!(versions(&place), 1);
    place.ok("add m.esker many.el --memory 16MiB --batch 10000");
    assert_eq!(versions(&place), 31);
    place.ok("check m.esker");
}

/// It was refused, whatever the machine had: every part of a commit had to fit.
#[test]
fn a_commit_that_exceeds_the_limit_lies_in_a_scratch_file() {
    let place = multigraph();
    if rustix::fs::statfs(place.path()).unwrap().f_type == 0x0102_1994 {
        return; // tmpfs, where nothing can be paged out.
    }
    let edges: String = (0..300_000).map(|i| format!("{i} {}\n", i + 1)).collect();
    place.file("many.el", &edges);
    place.ok("add m.esker many.el --memory 16MiB");
    place.ok("delete m.esker many.el --memory 16MiB");
    assert_eq!(versions(&place), 3);
    let edges = |at: u64| place.json(&format!("info m.esker --json --at {at}"))["edges"].as_u64().unwrap();
    assert_eq!((edges(2), edges(3)), (edges(1) + 300_000, 0));
    // A commit in the log, as a crash leaves it.
    place.ok("options m.esker --freeze-size 1GiB");
    place.ok("add m.esker many.el");
    place.file("few.el", "1 2\n");
    place.fails(1, "add m.esker few.el --memory 16MiB --no-scratch", "reading version 4 from the log");
    place.ok("add m.esker few.el --memory 16MiB");
    assert_eq!(edges(5), 300_001);
    place.ok("check m.esker");
    let names = std::fs::read_dir(place.path().join("m.esker")).unwrap();
    assert!(!names.into_iter().any(|name| name.unwrap().file_name().to_string_lossy().contains("scratch")));
}

/// Merges in the background left out heads in silence, and `compact` of one layer did not make them.
#[test]
fn a_merge_without_memory_for_heads_is_said_and_made_up_for() {
    let place = Place::new();
    let edges = |step: u64| (0..200).map(|u| format!("{u} {}\n", u + step)).collect::<String>();
    place.file("a.el", &(edges(1) + &edges(2)));
    place.file("b.el", &edges(3));
    // The fixed part of heads grows with the vertices, the memory of a merge with the edges.
    place.ok("import a.el h.esker --vertices 2000000 --heads 2");
    place.ok("options h.esker --freeze-size 4KiB");
    let output = place.run("add h.esker b.el --batch 100 --memory 12MiB");
    assert!(output.status.success(), "{}", said(&output));
    let words =
        "h.esker: a merge had no memory for its heads of 2 neighbours: `esker compact h.esker --memory SIZE`";
    assert!(said(&output).contains(&format!("note: {words}")), "{}", said(&output));
    assert!(place.ok("info h.esker").contains("none: a merge had no memory"));
    assert_eq!(place.json("info h.esker --json")["head_length_missing"], 2);
    assert!(place.ok("compact h.esker --memory 12MiB").contains("heads: no heads were made: they need"));
    let told = place.ok("compact h.esker");
    assert!(told.contains("heads: the first 2 neighbours of each vertex"), "{told}");
    let info = place.json("info h.esker --json");
    assert_eq!((&info["head_length"], &info["head_length_missing"]), (&json!(2), &json!(null)));
    place.ok("check h.esker");
}

/// Truncates all files of a directory.
fn truncate_all(directory: &std::path::Path) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => truncate_all(&entry.path()),
            false => OpenOptions::new().write(true).open(entry.path()).unwrap().set_len(0).unwrap(),
        }
    }
}

/// Pages that were read and compared before fail when they are read again: the files under the maps become
/// empty.
#[test]
fn a_page_that_fails_later_ends_the_command_with_the_name_of_the_file() {
    let place = Place::new();
    place.file("a.csv", "source,target\nalice,bob\nbob,carol\n");
    place.ok("import a.csv t.esker --duplicates keep");
    let mut child = place
        .command("add t.esker - --batch 1000")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than the reader takes at once.
    let edges = "alice carol\n".repeat(100_000);
    stdin.write_all(edges.as_bytes()).unwrap();
    let begin = Instant::now();
    while versions_in_log(&place) < 2 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    for entry in std::fs::read_dir(place.path().join("t.esker")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("ids") {
            match entry.file_type().unwrap().is_dir() {
                true => truncate_all(&entry.path()),
                false => OpenOptions::new().write(true).open(entry.path()).unwrap().set_len(0).unwrap(),
            }
        }
    }
    // The command ends while this is written.
    let _ = stdin.write_all(edges.repeat(20).as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let words = "esker: cannot read t.esker/ids";
    assert!(said(&output).contains(words), "{}", said(&output));
    assert!(said(&output).contains(": the disk failed there"), "{}", said(&output));
}

/// The number of versions, also while another process writes.
fn versions_in_log(place: &Place) -> usize {
    let output = place.run("log t.esker --json");
    let log: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    log["versions"].as_array().map_or(0, Vec::len)
}
