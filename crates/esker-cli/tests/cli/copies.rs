//! Backups, and writers whose files are taken from them.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::place::Place;

/// A database of edges with times.
fn timed() -> Place {
    let place = Place::new();
    place.file("a.csv", "source,target,time\n1,2,100\n2,3,200\n");
    place.ok("import a.csv t.esker --time time");
    place
}

fn newest(place: &Place, name: &str) -> u64 {
    let log = place.json(&format!("log {name} --json"));
    log["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["version"].as_u64().unwrap())
        .max()
        .unwrap()
}

/// Both committed version 3, and everything was lost.
#[test]
fn a_stream_whose_lock_was_removed_commits_nothing_more_and_nobody_else_does_beside_it() {
    let place = timed();
    let mut command = place.command("stream t.esker - --commit-every 1");
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut stream = command.spawn().unwrap();
    let mut input = stream.stdin.take().unwrap();
    input.write_all(b"source,target,time\n3,4,300\n").unwrap();
    let begun = Instant::now();
    while newest(&place, "t.esker") < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the first edge is committed");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::fs::remove_file(place.path().join("t.esker/LOCK")).unwrap();
    place.file("script", "+ 7 8 time=900\n");
    let other = place.run("commit t.esker script");
    // On a slow machine the stream has noticed the loss by now, and ended: then the other one is alone.
    if other.status.code() == Some(0) {
        assert!(stream.wait().unwrap().code() == Some(1), "two wrote at the same time");
    } else {
        let said = String::from_utf8_lossy(&other.stderr);
        assert!(said.contains("t.esker is being written to by another process"), "{said}");
        input.write_all(b"4,5,400\n5,6,500\n").unwrap();
    }
    drop(input);
    let output = stream.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("stopped writing to t.esker"), "{said}");
    // What it had written when it noticed may be there; what it acknowledged is.
    place.ok("check t.esker");
    let before = newest(&place, "t.esker");
    place.ok("commit t.esker script");
    assert_eq!(newest(&place, "t.esker"), before + 1);
}

#[test]
fn a_backup_is_renewed_and_restored() {
    let place = timed();
    let said = place.ok("backup t.esker copy.esker");
    assert!(said.contains("copy.esker: up to version 1"), "{said}");
    place.file("script", "+ 7 8 time=900\n");
    place.ok("commit t.esker script");
    let report = place.json("backup t.esker copy.esker --json");
    assert_eq!(
        (report["version"].as_u64(), report["kept"]["files"].as_u64()),
        (Some(2), Some(1)),
        "{report}"
    );
    place.ok("check copy.esker");
    place.ok("commit t.esker script");
    for inside in
        ["backup t.esker copy.esker/b", "restore copy.esker t.esker/r", "backup copy.esker t.esker/log/b"]
    {
        place.fails(1, inside, "lies in the database");
    }
    place.fails(1, "restore copy.esker t.esker", "t.esker exists");
    place.ok("restore copy.esker t.esker --force");
    assert_eq!(newest(&place, "t.esker"), 2);
    place.ok("commit t.esker script");
    place.ok("commit copy.esker script -m mine");
    place.fails(1, "backup t.esker copy.esker", "was written to since it was made");
    place.fails(1, "backup t.esker t.esker", "is the database itself");
    place.fails(1, "backup nothing.esker copy.esker", "nothing.esker does not exist");
}

#[test]
fn a_copy_of_symbolic_links_is_read_but_not_written_to() {
    let place = timed();
    place.file("more.txt", "+ 40 41 time=300\n");
    place.ok("commit t.esker more.txt");
    let before = place.ok("log t.esker");
    let link = |name: &str, to: &str| {
        std::os::unix::fs::symlink(place.path().join(to), place.path().join(name)).unwrap();
    };
    for part in ["LOCK", "MANIFEST", "log", "layers"] {
        std::fs::create_dir(place.path().join("copy.esker")).unwrap();
        for entry in std::fs::read_dir(place.path().join("t.esker")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name == part {
                link(&format!("copy.esker/{name}"), &format!("t.esker/{name}"));
            } else {
                let copied = std::process::Command::new("cp")
                    .arg("-r")
                    .arg(place.path().join("t.esker").join(&name))
                    .arg(place.path().join("copy.esker"))
                    .status();
                assert!(copied.unwrap().success());
            }
        }
        assert_eq!(place.ok("log copy.esker"), before, "{part}");
        place.fails(1, "commit copy.esker more.txt", "is a symbolic link to");
        assert_eq!(place.ok("log t.esker"), before, "{part}");
        std::fs::remove_dir_all(place.path().join("copy.esker")).unwrap();
    }
    // The database itself may be named by a link.
    link("named.esker", "t.esker");
    place.ok("info named.esker");
}
