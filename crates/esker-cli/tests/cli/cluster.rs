//! `esker cluster`: the walk through of its page, and its failures as a person meets them.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::place::{Place, limited};

const PAGE: &str = include_str!("../../../../docs/tutorials/cluster.md");

/// The title of the section whose commands need workers that stay.
const MACHINES: &str = "## On several machines";

/// The page before its section on several machines, the section, and the rest.
fn parts() -> [&'static str; 3] {
    let (before, rest) = PAGE.split_once(MACHINES).unwrap();
    let (section, after) = rest.split_at(rest.find("\n## ").unwrap());
    [before, section, after]
}

/// The commands of a part of the page with what they print.
fn examples(part: &str) -> Vec<(String, String)> {
    let mut examples: Vec<(String, String)> = Vec::new();
    for block in part.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => examples.push((command.to_owned(), String::new())),
                (None, Some((_, output))) => output.push_str(&format!("{line}\n")),
                (None, None) => panic!("output without a command: {line}"),
            }
        }
    }
    examples
}

#[test]
fn the_walk_through_of_the_page_prints_what_it_says() {
    let place = Place::new();
    let programs = Path::new(env!("CARGO_BIN_EXE_esker")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let [before, _, after] = parts();
    let examples = [examples(before), examples(after)].concat();
    assert!(examples.len() >= 12);
    for (line, expected) in examples {
        let mut command = Command::new("bash");
        command.args(["-e", "-o", "pipefail", "-c", &line]).current_dir(place.path()).env("LC_ALL", "C");
        let output = command.env("PATH", &path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{line}");
    }
}

/// Ends processes.
struct Running(Vec<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn the_walk_through_of_several_machines_prints_what_it_says() {
    let place = Place::new();
    place.file("first.csv", "source,target\n1,2\n2,3\n3,1\n3,4\n5,6\n");
    let programs = Path::new(env!("CARGO_BIN_EXE_esker")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    // Addresses of this test alone, for the machines of the page.
    let id = std::process::id();
    let here = |text: &str| text.replace("10.0.0.", &format!("127.{}.{}.", 1 + id / 256 % 250, id % 256));
    let examples = examples(parts()[1]);
    assert!(examples.len() >= 10);
    let mut workers = Running(Vec::new());
    for (line, expected) in examples {
        let (line, expected) = (here(&line), here(&expected));
        let mut command = Command::new("bash");
        command.current_dir(place.path()).env("LC_ALL", "C").env("PATH", &path);
        if let Some(worker) = line.strip_suffix(" &") {
            let mut child =
                command.args(["-c", &format!("exec {worker}")]).stdout(Stdio::piped()).spawn().unwrap();
            let mut said = String::new();
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
            workers.0.push(child);
            assert_eq!(said, expected, "{line}");
            continue;
        }
        let output = command.args(["-e", "-o", "pipefail", "-c", &line]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{line}");
    }
}

#[test]
fn failures_name_the_cause_and_what_to_do() {
    let place = Place::new();
    place.ok("cluster create c --shards 2 --ids text --undirected");
    place.fails(1, "cluster create c --shards 2", "c exists: give another path");
    place.fails(2, "cluster create d --shards 0", "1 to 1024 shards");
    place.fails(
        1,
        "cluster info d",
        "d is no cluster: it has no file CLUSTER; make one with `esker cluster create d`",
    );
    place.fails(
        1,
        "cluster info c/shard-0",
        "c/shard-0 is a database, not a cluster: `esker cluster split` makes",
    );
    for line in ["info c", "add c x.csv", "compact c"] {
        place.fails(1, line, "c is a cluster, not a database: use `esker cluster`");
    }
    place.file("edges.csv", "from,to\nalice,bob\nbob,carol\n");
    place.fails(1, "cluster run wcc edges.csv", "edges.csv is a file, not a cluster");
    place.fails(2, "cluster run bfs c", "bfs needs a vertex to begin with: give its id with --source");
    for verb in ["run", "estimate", "follow"] {
        place.fails(2, &format!("cluster {verb} c wcc"), "the algorithm comes first, then the cluster");
    }
    place.fails(2, "cluster add c -", "standard input cannot be one");
    place.fails(2, "cluster add c /dev/null", "a pipe or a device can be read once");
    let mut command = place.command("cluster add c edges.csv -m");
    let output = command.arg("stream edges.csv: 2 edges").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("would say how far a stream was read"), "{said}");
    place.fails(1, "retain c/shard-1 last 1", "is a shard of a cluster");
    place.ok("retain c/shard-1");
    place.fails(1, "cluster add c missing.csv", "missing.csv");
    place.fails(2, "cluster add c edges.csv --memory 64MiB", "a worker needs at least 160.00 MiB");
    place.fails(2, "cluster stream c edges.csv --memory 64MiB", "a worker needs at least 160.00 MiB");
    place.ok("cluster add c edges.csv --memory 256MiB");
    place.fails(
        2,
        "cluster run scc c",
        "there are degrees, bfs, wcc, pagerank, kcore, colouring, sssp, triangles, cdlp",
    );
    place.fails(
        1,
        "cluster run wcc c --memory 1MiB",
        "but the limit is 1048576 bytes: raise the limit to at least 65 MiB",
    );
    place.ok("cluster run wcc c --memory 65MiB");
    place.fails(2, "cluster estimate scc c", "there are degrees, bfs,");
    place.fails(2, "cluster run bfs c", "bfs needs a vertex to begin with");
    place.fails(1, "cluster run bfs c --source dave", "esker: no vertex of the cluster has the id \"dave\"");
    place.fails(2, "cluster run wcc c --damping 1", "wcc has no option \"damping\"");
    place.fails(1, "cluster run wcc c --at 9", "the cluster has no version 9: it has versions 1 to 2");
    place.fails(2, "cluster run wcc c --top 1 --output x", "cannot be used with");
    assert_eq!(
        place.ok("cluster run bfs c --source alice --output -"),
        "vertex,depth\nalice,0\nbob,1\ncarol,2\n"
    );
    place.fails(
        2,
        "cluster run bfs c --source alice --output x.parquet",
        "a name that ends in .arrow or .csv",
    );
    place.ok("cluster run bfs c --source alice --output x.arrow");
    let file = std::fs::File::open(place.path().join("x.arrow")).unwrap();
    let mut reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
    let names: Vec<String> = reader.schema().fields().iter().map(ToString::to_string).collect();
    assert!(names[0].contains("\"vertex\"") && names[1].contains("UInt64"), "{names:?}");
    let batch = reader.next().unwrap().unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns()), (3, 2));
    for (name, words) in [
        ("CLUSTER", "c/CLUSTER is missing, and with it the versions of the cluster: put it back"),
        (
            "CLUSTER.seal",
            "c/CLUSTER.seal is missing, and with it the proof that no older copy replaced CLUSTER: put",
        ),
        (
            "secret",
            "c/secret is missing, without which the workers do not know each other: put it back, or write 32",
        ),
    ] {
        let (file, away) = (place.path().join("c").join(name), place.path().join("away"));
        std::fs::rename(&file, &away).unwrap();
        place.fails(1, "cluster run wcc c", words);
        std::fs::rename(&away, &file).unwrap();
    }
    std::fs::write(place.path().join("c/CLUSTER"), b"damaged").unwrap();
    place.fails(1, "cluster log c", "c/CLUSTER is damaged");
}

#[test]
fn figures_are_there_as_json() {
    let place = Place::new();
    place.file("edges.csv", "from,to\n1,2\n2,3\n3,3\n");
    place.ok("cluster create c --shards 3 --seed 4");
    let added = place.json("cluster add c edges.csv --json");
    assert_eq!((&added["versions"], &added["edges"]), (&json!([2]), &json!(3)));
    let workers = added["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 3);
    let sums = |name: &str| workers.iter().map(|worker| worker[name].as_u64().unwrap()).sum::<u64>();
    assert!(sums("messages") > 0 && sums("bytes_sent") > 0 && sums("peak_memory_bytes") > 0, "{added}");
    let info = place.json("cluster info c --json");
    assert_eq!((&info["vertices"], &info["edges"], &info["directed"]), (&json!(3), &json!(3), &json!(true)));
    let log = place.json("cluster log c --json");
    assert_eq!(log["versions"][0]["message"], json!("add edges.csv"));
    let ran = place.json("cluster run wcc c --json");
    assert_eq!(ran["top"], json!([{ "component": 1, "vertices": 3 }]));
    assert_eq!(ran["figures"]["components"], json!(1.0));
    assert_eq!(ran["workers"].as_array().unwrap().len(), 3);
    let estimated = place.json("cluster estimate wcc c --json");
    let shards = estimated["shards"].as_array().unwrap();
    let most = |name: &str| shards.iter().map(|shard| shard[name].as_u64().unwrap()).max().unwrap();
    assert!(shards.len() == 3 && most("memory_bytes") > 64 << 20 && most("bytes_sent_a_round") > 0);
    place.ok(&format!("cluster run wcc c --memory {}", most("memory_bytes")));
    assert_eq!(place.json("cluster check c --json")["sound"], json!(true));
}

#[test]
fn weights_are_kept_replaced_and_removed_with_their_edges() {
    let place = Place::new();
    place.file("a.csv", "from,to,cost\n1,2,5\n2,3,0.5\n3,1,7\n");
    place.file("b.csv", "from,to,weight\n1,2,2.25\n2,4,1152921504606846976\n4,5,1e308\n");
    place.file("c.csv", "from,to\n3,1\n9,9\n");
    place.ok("cluster create c --shards 2 --weights float --seed 4");
    place.fails(2, "cluster add c c.csv", "c.csv has no column of weights");
    let added = place.command("cluster add c a.csv --weight cost").output().unwrap();
    let told = String::from_utf8(added.stderr).unwrap();
    let read = "Reading a.csv as CSV: source from, target to, weight cost";
    assert!(added.status.success() && told.contains(read), "{told}");
    place.ok("cluster add c b.csv");
    assert_eq!(place.ok("cluster delete c c.csv"), "c: version 4: 2 edges given\n");
    let mut lines: Vec<String> = place.ok("cluster export c -").lines().map(str::to_owned).collect();
    lines.sort();
    let expected = ["1,2,2.25", "2,3,0.5", "2,4,1.152921504606847e18", "4,5,1e308", "source,target,weight"];
    assert_eq!(lines, expected);
    // Large weights are read again as what they are.
    place.ok("cluster export c back.csv");
    place.ok("cluster add c back.csv");
    lines = place.ok("cluster export c -").lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, expected);
    let info = place.json("cluster info c --json");
    assert_eq!(
        (&info["weights"], &info["vertices"], &info["edges"]),
        (&json!("float"), &json!(5), &json!(4))
    );
    place.ok("cluster create plain --shards 2");
    place.fails(2, "cluster add plain a.csv --weight cost", "the edges of this cluster have no weights");
    place.ok("cluster create d --shards 2 --weights int");
    let message =
        "esker: a.csv: the edge from 2 to 3 has the weight 0.5, but the weights of this cluster are integers";
    place.fails(1, "cluster add d a.csv --weight cost", message);
    assert_eq!(place.json("cluster info d --json")["version"], json!(1));
}

/// Starts a stream into the cluster `c` of a place.
fn stream(place: &Place, arguments: &[&str], stdin: Stdio) -> Child {
    stream_command(place, arguments, stdin).spawn().unwrap()
}

fn stream_command(place: &Place, arguments: &[&str], stdin: Stdio) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
    command.args(["cluster", "stream", "c"]).args(arguments).current_dir(place.path());
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Number of edges given for all versions of the cluster `c`.
fn given(place: &Place) -> u64 {
    let log = place.json("cluster log c --json");
    log["versions"].as_array().unwrap().iter().map(|version| version["edges_given"].as_u64().unwrap()).sum()
}

#[test]
fn a_stream_whose_command_is_killed_goes_on_exactly_once() {
    const EDGES: u64 = 60_000;
    let place = Place::new();
    let lines: String = (0..EDGES).map(|edge| format!("{},{}\n", edge / 7, edge % 1009)).collect();
    place.file("edges.csv", &format!("source,target\n{lines}"));
    place.ok("cluster create c --shards 2 --seed 4");
    let mut kills = 0;
    for round in 0..40 {
        let mut child = stream(&place, &["edges.csv", "--commit-every", "2000"], Stdio::null());
        std::thread::sleep(Duration::from_millis(60 + 45 * (round % 7)));
        let is_killed = child.try_wait().unwrap().is_none();
        kills += u32::from(is_killed);
        if is_killed && round < 12 {
            child.kill().unwrap();
            child.wait().unwrap();
            continue;
        }
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        break;
    }
    assert!(kills > 1, "no command was killed in time");
    assert_eq!(given(&place), EDGES, "no edge is lost or taken twice");
    assert_eq!(place.ok("cluster export c -").lines().count() as u64, EDGES + 1);
    assert_eq!(place.json("cluster check c --json")["sound"], json!(true));
    let again = stream(&place, &["edges.csv"], Stdio::null()).wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&again.stdout),
        "c: the stream has no new edges; no version was made\n"
    );
}

#[test]
fn a_stream_from_a_pipe_commits_as_time_passes_and_what_was_read_when_it_is_interrupted() {
    use rustix::process::Signal;
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        interrupt_a_stream(signal);
    }
}

/// Sends a signal to the command and its workers, as a terminal and `timeout` do.
fn interrupt_a_stream(signal: rustix::process::Signal) {
    let place = Place::new();
    place.ok("cluster create c --shards 2 --seed 4");
    let mut command = stream_command(&place, &["-", "--commit-every", "100ms"], Stdio::piped());
    let mut child =
        limited(std::os::unix::process::CommandExt::process_group(&mut command, 0).spawn().unwrap());
    let mut pipe = child.stdin.take().unwrap();
    let wait_for = |edges: u64| {
        let begin = Instant::now();
        while given(&place) < edges {
            assert!(begin.elapsed() < Duration::from_secs(60), "{edges} edges are not committed");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    pipe.write_all(b"source,target\n1,2\n2,3\n").unwrap();
    wait_for(2);
    pipe.write_all(b"3,4\n").unwrap();
    wait_for(3);
    pipe.write_all(b"4,5\n").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let id = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process_group(id, signal).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(given(&place), 4, "the edge that was read is committed at the end");
    drop(pipe);
}

#[test]
fn a_stream_that_became_shorter_is_refused() {
    let place = Place::new();
    place.ok("cluster create c --shards 2 --seed 4");
    place.file("edges.csv", "source,target\n1,2\n2,3\n");
    place.ok("cluster stream c edges.csv");
    place.file("edges.csv", "source,target\n1,2\n");
    let message = "versions of the cluster have the first 2 edges of edges.csv, but it has 1 now";
    place.fails(1, "cluster stream c edges.csv", message);
    assert_eq!(place.ok("cluster stream c edges.csv --from-start"), "c: version 3: 1 edge given\n");
    place.fails(1, "cluster stream c missing.csv", "cannot find missing.csv");
    place.fails(2, "cluster stream c - --follow", "--follow has no effect on standard input");
}

#[test]
fn a_stream_whose_file_was_replaced_is_refused() {
    let place = Place::new();
    place.ok("cluster create c --shards 2 --seed 4");
    place.file("edges.csv", "source,target\n1,2\n2,3\n");
    place.ok("cluster stream c edges.csv");
    place.file("edges.csv", "source,target\n1,2\n2,4\n5,6\n");
    let message =
        "versions of the cluster have the first 2 edges of edges.csv, but edge 2 of it is another one now";
    place.fails(1, "cluster stream c edges.csv", message);
    assert_eq!(place.ok("cluster stream c edges.csv --from-start"), "c: version 3: 3 edges given\n");
}

#[test]
fn a_stream_that_fails_does_not_report_success() {
    let place = Place::new();
    place.ok("cluster create c --shards 2 --seed 4");
    place.file("edges.csv", "source,target\n1,2\n2,3\nx,y\n");
    let output = place.run("cluster stream c edges.csv --commit-every 1");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(1), &b""[..]), "{message}");
    assert!(message.contains("esker: edges.csv:4: the source is not an integer"), "{message}");
    assert!(message.contains("correct the input, and try again"), "{message}");
}

/// Up to a version's worth of edges was in no version, and could not be read again under the name of the
/// file.
#[test]
fn a_followed_file_that_is_renamed_loses_no_edge() {
    let place = Place::new();
    place.ok("cluster create c --shards 2 --seed 4");
    place.file("edges.csv", "source,target\n1,2\n2,3\n");
    let child = stream(&place, &["edges.csv", "--follow", "--commit-every", "1h"], Stdio::null());
    std::thread::sleep(Duration::from_millis(1500));
    let (file, rotated) = (place.path().join("edges.csv"), place.path().join("edges.csv.1"));
    let mut writer = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    writer.write_all(b"3,4\n").unwrap();
    std::fs::rename(&file, &rotated).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("edges.csv: the file was removed or renamed while it was followed"), "{said}");
    assert!(said.contains("all shards are at version 2 of the cluster\n"), "{said}");
    assert!(said.contains("c: version 2 with 3 edges had been published before the failure"), "{said}");
    assert_eq!(given(&place), 3, "what was read is committed");
    writer.write_all(b"4,5\n").unwrap();
    let rest = format!("cluster stream c edges.csv.1 --source {}", file.display());
    assert_eq!(place.ok(&rest), "c: version 3: 1 edge given\n");
    place.file("edges.csv", "source,target\n5,6\n6,7\n7,8\n");
    place.fails(1, "cluster stream c edges.csv", "--from-start");
    assert_eq!(place.ok("cluster stream c edges.csv --from-start"), "c: version 4: 3 edges given\n");
    assert_eq!(place.ok("cluster export c -").lines().count(), 8, "each edge once");
}

/// Each start said that it undid versions which it then could not undo, and twice why not.
#[test]
fn what_cannot_be_undone_is_not_said_to_be_undone() {
    let place = Place::new();
    place.file("edges.csv", "source,target\n1,2\n2,3\n");
    place.ok("cluster create c --shards 1 --seed 4");
    place.ok("cluster add c edges.csv");
    place.file("more.csv", "source,target\n8,9\n");
    place.ok("add c/shard-0 more.csv");
    for _ in 0..2 {
        let output = place.run("cluster add c edges.csv");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("was changed outside of the cluster") && !said.contains("undid"), "{said}");
        assert!(said.matches("changed outside").count() == 1 && !said.contains("run the command"), "{said}");
    }
    place.ok("forget c/shard-0 3");
    place.ok("cluster add c edges.csv");
}

#[test]
fn a_database_is_split_and_merged_with_equal_exports() {
    let place = Place::new();
    place.file(
        "edges.csv",
        "from,to,weight,kind\nalice,bob,1.5,a\nbob,carol,2,b\ncarol,alice,0.25,a\ndave,dave,3,c\n",
    );
    place.ok("import edges.csv whole.esker --property kind");
    assert_eq!(
        place.ok("cluster split whole.esker c --shards 3 --seed 5"),
        "c: 3 shards, version 1, 4 edges\n"
    );
    place.fails(1, "cluster split whole.esker c --shards 3", "c exists: give another path");
    place.fails(1, "cluster split whole.esker d --shards 3 --at 7", "7");
    assert_eq!(place.ok("cluster merge c again.esker"), "again.esker: 4 vertices, 4 edges\n");
    let lines = |command: &str| {
        let mut lines: Vec<String> = place.ok(command).lines().skip(1).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let expected = ["alice,bob,1.5", "bob,carol,2", "carol,alice,0.25", "dave,dave,3"];
    assert_eq!(lines("cluster export c -"), expected);
    place.ok("tag again.esker 1 first");
    place.ok("cluster split again.esker d --shards 2 --at first");
    assert_eq!(lines("cluster export d -"), expected);
    assert_eq!(place.ok("cluster rebalance d e --shards 5 --seed 1"), "e: 5 shards, version 1, 4 edges\n");
    assert_eq!(lines("cluster export e -"), expected);
    place.fails(1, "cluster rebalance d e --shards 5", "e exists: give another path");
    place.fails(1, "cluster rebalance d f --shards 5 --at 4", "the cluster has no version 4");
    place.fails(2, "cluster rebalance d f --shards 0", "1 to 1024 shards");
}

/// With both files restored, the next addition undid all later versions without a word.
#[test]
fn an_older_manifest_and_seal_are_refused_or_what_is_undone_is_said() {
    let place = Place::new();
    place.file("edges.csv", "from,to\n1,2\n2,3\n3,3\n");
    place.file("more.csv", "from,to\n4,5\n");
    place.ok("cluster create c --shards 2 --seed 4");
    let files = ["CLUSTER", "CLUSTER.seal"].map(|name| place.path().join("c").join(name));
    let copies = || files.each_ref().map(|file| std::fs::read(file).unwrap());
    let restore = |copies: &[Vec<u8>; 2]| {
        files.iter().zip(copies).for_each(|(file, copy)| std::fs::write(file, copy).unwrap());
    };
    place.ok("cluster add c edges.csv");
    let second = copies();
    place.ok("cluster add c more.csv");
    let third = copies();
    place.file("again.csv", "from,to\n5,4\n1,3\n6,7\n7,6\n");
    place.ok("cluster add c again.csv");
    let newest = copies();
    restore(&second);
    place.fails(1, "cluster add c more.csv", "are older copies: they end with version 2, but c/shard-");
    place.fails(1, "cluster check c", "has 1 problem");
    restore(&newest);
    assert_eq!(place.json("cluster info c --json")["edges"], 8, "nothing was undone");
    // One version less is what an interrupted addition leaves, too.
    restore(&third);
    let checked = place.ok("cluster check c");
    assert!(checked.contains("is in no version of the cluster"), "{checked}");
    let output = place.run("cluster add c again.csv");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("that an earlier operation had left"), "{said}");
    assert_eq!(place.json("cluster info c --json")["edges"], 8);
}

#[test]
fn an_answer_follows_versions_as_they_are_published() {
    let place = Place::new();
    place.ok("cluster create c --shards 3 --ids text --seed 4");
    for (number, (verb, edges)) in
        [("add", "b,c\nx,y\n"), ("add", "c,a\n"), ("delete", "b,c\n")].into_iter().enumerate()
    {
        place.file(&format!("{number}.csv"), &format!("from,to\n{edges}"));
        place.ok(&format!("cluster {verb} c {number}.csv"));
    }
    assert_eq!(
        place.ok("cluster follow wcc c --from 2 --once --format csv"),
        "version,vertex,old,new\n3,a,,a\n3,b,b,a\n3,c,b,a\n4,b,a,b\n"
    );
    assert_eq!(
        place.ok("cluster follow bfs c --source b --from 2 --once --initial --format csv"),
        "version,vertex,old,new\n2,b,,0\n2,c,,1\n3,a,,2\n4,a,2,\n4,c,1,\n"
    );
    assert_eq!(
        place.ok("cluster follow wcc c --from 2 --once --top 2 --format csv"),
        "version,component,vertices\n2,b,2\n2,x,2\n3,a,3\n3,x,2\n4,a,2\n4,x,2\n"
    );
    assert_eq!(
        place.ok("cluster follow bfs c --source b --from 2 --once --top 1 --format csv"),
        "version,vertex,depth\n2,c,1\n3,a,2\n4,b,0\n"
    );
    place.fails(2, "cluster follow wcc c --top 3 --initial", "cannot be used with");
    place.fails(1, "cluster follow wcc c --once --memory 1MiB", "raise the limit to at least");
    place.fails(1, "cluster follow colouring c --once", "colouring needs an undirected cluster");
    place.fails(2, "cluster follow pagerank c --once", "those of bfs, wcc, colouring can");
    place.fails(1, "cluster follow bfs c --source z --once", "no vertex of the cluster has the id \"z\"");
    place.fails(1, "cluster follow wcc c --from 9 --once", "the cluster has no version 9");
    place.fails(2, "cluster follow wcc c --format table", "--once prints all of them");
    let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
    command.args(["cluster", "follow", "wcc", "c"]).current_dir(place.path());
    let mut child = limited(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut remarks = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut remarks, &mut line).unwrap();
    assert!(line.contains("following wcc from version 4: components 3"), "{line}");
    place.ok("cluster add c 0.csv");
    let mut rows = std::io::BufReader::new(child.stdout.take().unwrap());
    line.clear();
    std::io::BufRead::read_line(&mut rows, &mut line).unwrap();
    assert_eq!(line, "{\"new\":\"a\",\"old\":\"b\",\"version\":5,\"vertex\":\"b\"}\n");
    let id = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn graph500_over_processes_searches_from_the_same_roots_with_the_same_edges() {
    let place = Place::new();
    let searches = |processes: &str| {
        let command = format!("graph500 --scale 8 --roots 16 --kernels bfs {processes} --json");
        let report = place.json(&command);
        let found = report["searches"]["bfs"].as_array().unwrap();
        let found: Vec<_> = found.iter().map(|one| (one["root"].clone(), one["edges"].clone())).collect();
        assert!(
            report["bfs__median_time"].as_f64().unwrap() > 0.0 && report["construction_time"].is_number()
        );
        (found, report["num_mpi_processes"].clone())
    };
    let (alone, one) = searches("");
    assert_eq!((alone.len(), one), (16, json!(1)));
    for processes in [1, 3] {
        let (found, count) = searches(&format!("--processes {processes}"));
        assert_eq!((found, count), (alone.clone(), json!(processes)));
    }
    place.fails(2, "graph500 --scale 8 --processes 2 --kernels sssp", "breadth-first search only");
    place.fails(2, "graph500 --scale 8 --processes 2 --residency pooled", "cannot be used with");
    place.fails(2, "graph500 --scale 8 --processes 2 --threads 2", "cannot be used with");
    let refused = "but the limit is 1048576 bytes: raise the limit to at least 2097152 bytes";
    place.fails(1, "graph500 --scale 14 --processes 2 --memory 1MiB --database no.cluster", refused);
    assert!(!place.path().join("no.cluster").exists(), "refused before anything is made");
    place.ok("graph500 --scale 14 --processes 2 --memory 2MiB --roots 2");
    place.ok("graph500 --scale 8 --roots 2 --processes 2 --database kept.cluster");
    assert_eq!(place.json("cluster info kept.cluster --json")["vertices"], json!(256));
}

/// Readers leave out blanks around a field, and lines that begin as comments do.
#[test]
fn exported_ids_are_read_again_as_they_are() {
    let place = Place::new();
    place.file("ids.csv", "source,target\n\" a\",b\n\"# d\",\"a\"\"b, \"\n");
    place.ok("cluster create c --shards 2 --ids text --undirected");
    place.ok("cluster add c ids.csv");
    place.ok("cluster export c out.csv");
    let rows = ["ids", "out"].map(|name| {
        place.ok(&format!("import {name}.csv {name}.esker --undirected --ids text"));
        let rows = place.ok(&format!("run degrees {name}.esker --output - -q"));
        let mut rows: Vec<String> = rows.lines().map(str::to_owned).collect();
        rows.sort();
        rows
    });
    assert_eq!(rows[0].len(), 5, "{rows:?}");
    assert_eq!(rows[0], rows[1]);
}
