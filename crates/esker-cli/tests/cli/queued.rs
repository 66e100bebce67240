//! Commands that change a database which another process has open to write.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use esker::store::QueuedDatabase;
use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;

const STREAM: &str = "stream s.esker a.csv --follow --commit-every 20ms";

/// An empty database that keeps parallel edges, so that what is committed twice is there twice.
fn place() -> Place {
    let place = Place::new();
    place.file("none.csv", "from,to,sent\n");
    place.ok("import none.csv s.esker --duplicates keep --schema sent:i64 --ids text");
    place.file("a.csv", "from,to,sent\n");
    place
}

/// Starts the stream, and waits until it takes over commits.
fn stream(place: &Place) -> Child {
    let child = place.command(STREAM).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    let path = place.path().join("s.esker");
    let is_served = || QueuedDatabase::open(&path, Default::default(), Default::default()).unwrap().is_some();
    while !is_served() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the stream does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn append(place: &Place, row: &str) {
    let mut file = std::fs::File::options().append(true).open(place.path().join("a.csv")).unwrap();
    file.write_all(row.as_bytes()).unwrap();
}

/// How often each edge is there, by its time.
fn edges(place: &Place) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for row in place.ok("export s.esker - --format csv").lines().skip(1) {
        *counts.entry(row.rsplit(',').next().unwrap().parse().unwrap()).or_insert(0) += 1;
    }
    counts
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn changes_beside_a_stream_are_committed_by_it_and_reported_by_their_command() {
    let place = place();
    let child = stream(&place);
    append(&place, "x,y,1\nx,z,2\n");
    until("the rows are committed", || edges(&place).len() == 2);
    place.file("more.csv", "from,to,sent\ny,z,3\nz,z,4\n");
    let added = place.json("add s.esker more.csv --json");
    assert_eq!(added["changes"]["edges_added"], 2, "of its own version alone: {added}");
    place.file("gone.csv", "from,to\nx,y\nx,q\n");
    let deleted = place.run("delete s.esker gone.csv --new");
    let said = String::from_utf8_lossy(&deleted.stderr);
    assert!(said.contains("another process has s.esker open to write, and takes over the commit"), "{said}");
    assert!(said.contains("committed as version"), "{said}");
    assert!(String::from_utf8_lossy(&deleted.stdout).contains("Deleted 1 edge for 2 rows"));
    place.fails(1, "delete s.esker gone.csv", "q");
    place.ok("set s.esker --vertex x colour=red");
    place.file("script.txt", "+ x w sent=5\nx colour=blue\n");
    place.ok("commit s.esker script.txt -m changed");
    place.ok("run degrees s.esker --store degree");
    assert_eq!(edges(&place).into_keys().collect::<Vec<_>>(), [2, 3, 4, 5]);
    // What is more than a commit needs the database for itself.
    place.fails(2, "add s.esker more.csv --freeze", "freezes as it is set");
    place.file("wide.csv", "from,to,sent,kind\ny,z,3,a\n");
    place.fails(1, "add s.esker wide.csv --define kind:text", "no new properties of edges");
    for line in ["sync s.esker more.csv", "expire s.esker 1h", "compact s.esker", "stream s.esker more.csv"] {
        place.fails(1, line, "is being written to by another process");
    }
    append(&place, "z,x,6\n");
    until("the stream goes on", || edges(&place).contains_key(&6));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let messages = place.ok("log s.esker");
    assert!(messages.contains("  changed\n"), "{messages}");
    assert_eq!(place.ok("get s.esker x --json").matches("blue").count(), 1);
    place.ok("check s.esker");
}

#[test]
fn nothing_is_lost_or_done_twice_when_the_stream_and_its_neighbours_are_killed() {
    let place = place();
    let (mut next, mut streamed, mut committed, mut open) = (0_u64, Vec::new(), Vec::new(), Vec::new());
    let mut child = stream(&place);
    for round in 0..12_u64 {
        let mut writers = Vec::new();
        for _ in 0..3 {
            next += 1;
            streamed.push(next);
            append(&place, &format!("s,t,{next}\n"));
            next += 1;
            let line = format!("commit s.esker {next}.txt");
            place.file(&format!("{next}.txt"), &format!("+ u v sent={next}\n"));
            let writer = place.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            writers.push((next, writer));
        }
        std::thread::sleep(Duration::from_millis(round * 13 % 60));
        if round % 3 == 1 {
            kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
            child.wait().unwrap();
        }
        if round % 4 == 2 {
            let (edge, mut writer) = writers.pop().unwrap();
            let signal = if round % 8 == 2 { Signal::KILL } else { Signal::INT };
            kill_process(Pid::from_child(&writer), signal).unwrap();
            match writer.wait().unwrap().code() {
                Some(0 | 3) => committed.push(edge),
                _ => open.push(edge),
            }
        }
        for (edge, mut writer) in writers {
            // Without the stream, one of the writers has the database for a moment, and serves no queue.
            match writer.wait().unwrap().code() {
                Some(0) => committed.push(edge),
                code => assert_eq!((code, round % 3), (Some(1), 1), "{edge}"),
            }
        }
        if round % 3 == 1 {
            child = stream(&place);
        }
    }
    until("the stream has taken its rows", || {
        let found = edges(&place);
        streamed.iter().all(|edge| found.contains_key(edge))
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait().unwrap();
    let found = edges(&place);
    assert!(committed.len() > 20, "{}", committed.len());
    for edge in streamed.iter().chain(&committed) {
        assert_eq!(found.get(edge), Some(&1), "{edge}");
    }
    for edge in open {
        assert!(found.get(&edge).is_none_or(|&count| count == 1), "{edge}");
    }
    place.ok("check s.esker");
}

#[test]
fn a_copy_made_of_hard_links_is_not_taken_for_the_database_that_is_served() {
    let place = place();
    let child = stream(&place);
    let mut copying = std::process::Command::new("cp");
    copying.args(["-al", "s.esker", "c.esker"]).current_dir(place.path());
    assert!(copying.status().unwrap().success());
    place.file("script.txt", "+ x w sent=5\n");
    place.fails(1, "commit c.esker script.txt", "is being written to by another process");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait_with_output().unwrap();
}

#[test]
fn a_script_may_remove_an_edge_of_the_kind_that_it_begins() {
    let place = Place::new();
    place.file("a.csv", "source,target,kind\na,b,road\n");
    place.ok("import a.csv k.esker --kind kind");
    place.file("script.txt", "+ a c kind=rail\n+ a d kind=rail\n");
    place.ok("commit k.esker script.txt");
    place.file("script.txt", "+ a c kind=air\n- a c kind=air\n- a d kind=rail\n");
    place.ok("commit k.esker script.txt");
    assert_eq!(place.json("info k.esker --json")["edges"], 2);
    place.file("script.txt", "- a c kind=sea\n");
    place.fails(1, "commit k.esker script.txt", "sea");
}
