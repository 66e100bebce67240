//! `esker cluster` over several machines: workers at addresses of the loopback interface, or in network
//! namespaces, whose directories share nothing.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use esker::graph::random::Random;
use esker::store::io::{Disk, RealDisk};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::place::Place;

/// Within this all ends, whatever fails.
const END: Duration = Duration::from_secs(5);

/// Whether all tests encrypt connections.
fn encrypts() -> bool {
    std::env::var_os("ESKER_TEST_TLS").is_some()
}

/// A machine with shards.
struct Machine {
    worker: Child,
    address: String,
    directory: PathBuf,
}

impl Machine {
    /// Starts the worker of a machine, whose directory is named after it.
    fn start(place: &Place, name: &str, address: &str, secret: &str) -> Self {
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_esker")), place, name, address, secret, encrypts())
    }

    fn start_by(
        mut command: Command,
        place: &Place,
        name: &str,
        address: &str,
        secret: &str,
        encrypts: bool,
    ) -> Self {
        let directory = place.path().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        command.args(["cluster", "worker", "--listen", address, "--secret", secret, "--directory"]);
        command
            .arg(&directory)
            .args(encrypts.then_some("--tls"))
            .current_dir(place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut worker = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(worker.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on ").and_then(|rest| rest.split(',').next());
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Self { worker, address, directory }
    }

    /// The process that holds a shard now, if there is one.
    fn holder_now(&self) -> Option<Pid> {
        let parent = format!("PPid:\t{}", self.worker.id());
        let is_child = |entry: &std::fs::DirEntry| {
            let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            status.lines().any(|line| line == parent)
        };
        let found = std::fs::read_dir("/proc").unwrap().flatten().find(is_child)?;
        found.file_name().to_string_lossy().parse().ok().and_then(Pid::from_raw)
    }

    /// Waits until a process holds a shard.
    fn holder(&self) -> Pid {
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            if let Some(pid) = self.holder_now() {
                return pid;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("no process holds a shard of {}", self.address);
    }

    fn end(&mut self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.worker), signal);
        self.worker.wait().unwrap();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.end(Signal::KILL);
    }
}

fn secret(place: &Place, name: &str, byte: u8) {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(place.path().join(name));
    file.unwrap().write_all(&[byte; 32]).unwrap();
}

/// So many machines, and a list of them.
fn machines(place: &Place, count: usize) -> Vec<Machine> {
    secret(place, "secret", 7);
    let start = |number: usize| {
        Machine::start(place, &format!("m{number}"), &format!("127.0.0.{}:0", number + 2), "secret")
    };
    let machines: Vec<_> = (0..count).map(start).collect();
    list(place, &machines);
    machines
}

fn list(place: &Place, machines: &[Machine]) {
    let lines: String = machines.iter().map(|machine| format!("{} # one\n", machine.address)).collect();
    place.file("hosts.txt", &format!("{}{lines}", tls_line()));
}

fn tls_line() -> &'static str {
    if encrypts() { "tls\n" } else { "" }
}

/// A ring with chords.
fn ring(place: &Place, vertices: u64) {
    let edges: String =
        (0..vertices).map(|v| format!("{v},{}\n{v},{}\n", (v + 1) % vertices, v * 31 % vertices)).collect();
    place.file("ring.csv", &format!("source,target\n{edges}"));
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_cluster_over_machines_answers_as_one_on_this_machine() {
    let place = Place::new();
    let mut machines = machines(&place, 3);
    ring(&place, 3000);
    place.file("more.csv", "source,target\n5000,1\n5001,5002\n");
    place.file("gone.csv", "source,target\n0,1\n5001,5002\n");
    let said = place.ok("cluster create c --hosts hosts.txt --secret secret --seed 4 --hub-degree 50");
    assert_eq!(said, "c: 3 shards, version 1, empty\n");
    place.ok("cluster create d --shards 3 --seed 4 --hub-degree 50");
    place.file("hub.csv", &(0..200).map(|v| format!("7,{v}\n")).collect::<String>());
    for line in ["add X ring.csv --batch 2000", "add X hub.csv", "add X more.csv", "delete X gone.csv"] {
        place.ok(&format!("cluster {}", line.replace('X', "c")));
        place.ok(&format!("cluster {}", line.replace('X', "d")));
    }
    // Nothing of the shards is here, and each machine has one.
    assert!(!place.path().join("c/shard-0").exists());
    for (shard, machine) in machines.iter().enumerate() {
        let directories = std::fs::read_dir(machine.directory.join("c")).unwrap();
        let mut names: Vec<_> = directories.map(|entry| entry.unwrap().file_name()).collect();
        names.sort_unstable();
        let expected = ["", ".cluster", ".epoch"].map(|end| OsString::from(format!("shard-{shard}{end}")));
        assert_eq!(names, expected);
    }
    let shard = machines[0].directory.join("c/shard-0").display().to_string();
    place.fails(1, &format!("retain {shard} last 1"), "is a shard of a cluster");
    for line in [
        "run wcc X --output -",
        "run bfs X --source 0 --output -",
        "run degrees X --output -",
        "run cdlp X --top 5",
        "run pagerank X --output - --at 2",
        "follow bfs X --source 0 --from 2 --once --format csv",
        "estimate bfs X",
        "export X -",
    ] {
        let [there, here] = ["c", "d"].map(|name| place.ok(&format!("cluster {}", line.replace('X', name))));
        assert_eq!(there, here, "{line}");
        assert!(here.lines().count() > 3, "{line}: {here}");
    }
    let [there, here] = ["c", "d"].map(|name| place.json(&format!("cluster info {name} --json")));
    for field in ["vertices", "edges", "version", "delegates", "weights", "ids"] {
        assert_eq!(there[field], here[field], "{field}");
    }
    assert!(there["delegates"].as_u64().unwrap() > 0);
    assert_eq!(place.ok("cluster log c").lines().count(), place.ok("cluster log d").lines().count());
    let found = place.json("cluster check c --json");
    assert_eq!((&found["sound"], found["checks"].as_array().unwrap().len()), (&json!(true), 3));
    assert!(place.ok("cluster info c").contains(&format!("on {}", machines[1].address)));
    // A shard is a database like any other.
    place.ok(&format!("check {}", machines[2].directory.join("c/shard-2").display()));
    // A worker ends by SIGTERM; one that is started again serves the next command, also at another address.
    machines[1].end(Signal::TERM);
    machines[1] = Machine::start(&place, "m1", "127.0.0.9:0", "secret");
    place.fails(1, "cluster run wcc c", "is `esker cluster worker` running there");
    list(&place, &machines);
    place.ok("cluster run wcc c --hosts hosts.txt");
    // What lies on other machines comes here.
    let sizes = place.ok("cluster merge c e.esker --hosts hosts.txt").replace("e.esker", "");
    assert_eq!(sizes, place.ok("cluster merge d f.esker").replace("f.esker", ""));
    place.ok("cluster rebalance c e --shards 2 --seed 1 --hosts hosts.txt");
    assert_eq!(sorted(&place.ok("cluster export e -")), sorted(&place.ok("cluster export d -")));
    assert_eq!(place.json("cluster check e --json")["problems"], json!([]));
    machines[2].end(Signal::KILL);
    place.fails(1, "cluster merge c g.esker --hosts hosts.txt", "shard 2 on");
    assert!(!place.path().join("g.esker").exists());
    let output = place.run("cluster export c - --hosts hosts.txt");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("shard 2 on"), "{said}");
    assert_eq!(output.stdout, b"", "no part of the edges");
}

#[test]
fn streams_are_read_where_they_are_and_go_on_exactly_once() {
    let place = Place::new();
    let machines = machines(&place, 2);
    // A machine that is named twice has two shards.
    let [first, second] = [0, 1].map(|number: usize| machines[number].address.clone());
    place.file("hosts.txt", &format!("{}{first}\n{second} a/b\n{first}\n", tls_line()));
    place.ok("cluster create c --hosts hosts.txt --secret secret");
    assert!(machines[0].directory.join("c/shard-2").exists() && machines[1].directory.join("a/b").exists());
    place.file("log.csv", "source,target\n1,2\n2,3\n");
    let first = place.ok("cluster stream c log.csv");
    assert_eq!(first, "c: version 2: 2 edges given\n");
    place.file("log.csv", "source,target\n1,2\n2,3\n3,4\n");
    assert_eq!(place.ok("cluster stream c log.csv"), "c: version 3: 1 edge given\n");
    // Standard input is that of the command. An interrupt commits the whole lines that came.
    let mut command = place.command("cluster stream c - --source pipe --commit-every 1000");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut stream = command.spawn().unwrap();
    let mut input = stream.stdin.take().unwrap();
    input.write_all(b"source,target\n10,11\n11,12\n12,13").unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    kill_process(Pid::from_child(&stream), Signal::INT).unwrap();
    let output = stream.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "c: version 4: 2 edges given\n");
    drop(input);
    let edges = place.ok("cluster export c -");
    assert_eq!(sorted(&edges), ["1,2", "10,11", "11,12", "2,3", "3,4", "source,target"]);
    drop(machines);
}

#[test]
fn what_is_wrong_is_said_with_the_machine() {
    let place = Place::new();
    let machines = machines(&place, 2);
    secret(&place, "other", 8);
    let name = &machines[1].address;
    place.fails(1, "cluster create c --hosts hosts.txt --secret other", "the secret of the cluster");
    assert!(!place.path().join("c").exists());
    place.fails(2, "cluster create c --hosts hosts.txt --secret secret --shards 3", "2 hosts for 3 shards");
    let to_file = "cluster worker --listen 127.0.0.1:0 --directory secret --secret secret";
    place.fails(1, to_file, "secret is a file: name the directory");
    place.fails(2, "cluster create c --hosts hosts.txt", "--secret");
    place.file("away.txt", &format!("{}{}\n127.0.0.77:9\n", tls_line(), machines[0].address));
    place.fails(1, "cluster create c --hosts away.txt --secret secret", "shard 1 on 127.0.0.77:9");
    // What was made on the other machine is gone again.
    place.ok("cluster create c --hosts hosts.txt --secret secret");
    place.fails(1, "cluster create c --hosts hosts.txt --secret secret", "c exists: give another path");
    std::fs::rename(place.path().join("c"), place.path().join("kept")).unwrap();
    place.fails(1, "cluster create c --hosts hosts.txt --secret secret", "c/shard-");
    std::fs::rename(place.path().join("kept"), place.path().join("c")).unwrap();
    place.file("outside.txt", &format!("{}{}\n{name} ../x\n", tls_line(), machines[0].address));
    place.fails(1, "cluster run wcc c --hosts outside.txt", "is not below");
    place.file("few.txt", name);
    place.fails(2, "cluster run wcc c --hosts few.txt", "write a line for each shard");
    // A file that only this machine has, as it were.
    place.fails(1, "cluster add c missing.csv", "esker: the worker of shard ");
    place.fails(1, "cluster add c missing.csv", "missing.csv");
    place.fails(2, "cluster add c -", "standard input cannot be one");
    std::fs::set_permissions(
        place.path().join("c/secret"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    place.fails(1, "cluster run wcc c", "chmod 600");
}

#[test]
fn a_shard_that_an_earlier_or_a_later_command_has_is_left_alone_and_its_machine_named() {
    let place = Place::new();
    let machines = machines(&place, 2);
    ring(&place, 9);
    place.ok("cluster create c --hosts hosts.txt --secret secret");
    let shard = machines[1].directory.join("c/shard-1");
    let failed = format!("the worker of shard 1 on {} failed: {}", machines[1].address, shard.display());
    // As a worker that was stopped does, of a command that died.
    let held = RealDisk.try_lock(&shard.join("LOCK")).unwrap().expect("no other has it");
    place.fails(1, "cluster add c ring.csv", &format!("{failed} is being written to by another process"));
    drop(held);
    let number = place.path().join("m1/c/shard-1.epoch");
    std::fs::write(&number, "9999999999999\n").unwrap();
    place.fails(1, "cluster add c ring.csv", &format!("{failed} was opened by operation 9999999999999"));
    std::fs::remove_file(number).unwrap();
    place.ok("cluster add c ring.csv");
    assert_eq!(place.json("cluster check c --json")["sound"], true);
}

#[test]
fn encrypted_machines_answer_as_others_and_refuse_what_is_not_encrypted() {
    let place = Place::new();
    secret(&place, "secret", 7);
    secret(&place, "other", 8);
    secret(&place, "zero", 0);
    let start = |number: usize| {
        let (name, address) = (format!("m{number}"), format!("127.0.0.{}:0", number + 2));
        let program = Command::new(env!("CARGO_BIN_EXE_esker"));
        Machine::start_by(program, &place, &name, &address, "secret", true)
    };
    let machines = [start(0), start(1)];
    let [first, second] = [0, 1].map(|number: usize| machines[number].address.clone());
    place.file("plain.txt", &format!("{first}\n{second}\n"));
    place.file("hosts.txt", &format!("tls\n{first}\n{second}\n"));
    place.fails(1, "cluster create c --hosts plain.txt --secret secret", "write the line `tls`");
    place.fails(1, "cluster create c --hosts hosts.txt --secret other", "does not know the secret");
    place.fails(1, "cluster create c --hosts hosts.txt --secret zero", "does not hold 32 random bytes");
    let said = place.ok("cluster create c --hosts hosts.txt --secret secret --seed 4 --hub-degree 50");
    assert_eq!(said, "c: 2 shards, version 1, empty\n");
    place.ok("cluster create d --shards 2 --seed 4 --hub-degree 50");
    ring(&place, 3000);
    for name in ["c", "d"] {
        place.ok(&format!("cluster add {name} ring.csv"));
    }
    for line in [
        "run wcc X --output -",
        "run pagerank X --output -",
        "follow bfs X --source 0 --once --initial",
        "export X -",
    ] {
        let [there, here] = ["c", "d"].map(|name| place.ok(&format!("cluster {}", line.replace('X', name))));
        assert!(there == here && here.lines().count() > 3, "{line}: {there}");
    }
    // Standard input too.
    let mut command = place.command("cluster stream c - --source pipe");
    let mut stream = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    stream.stdin.take().unwrap().write_all(b"source,target\n10,9999\n").unwrap();
    let output = stream.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "c: version 3: 1 edge given\n");
    assert_eq!(place.json("cluster check c --json")["problems"], json!([]));
    // Without an end of its input, a stream that is killed has not ended.
    let mut command = place.command("cluster stream c - --source cut --commit-every 1000000");
    let mut stream = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    stream.stdin.as_ref().unwrap().write_all(b"source,target\n11,9999\n").unwrap();
    for machine in &machines {
        machine.holder();
    }
    std::thread::sleep(Duration::from_millis(300));
    let begin = Instant::now();
    stream.kill().unwrap();
    stream.wait().unwrap();
    while machines.iter().any(|machine| machine.holder_now().is_some()) {
        assert!(begin.elapsed() < END, "the workers go on");
        std::thread::sleep(Duration::from_millis(20));
    }
    let log = place.json("cluster log c --json");
    assert_eq!(log["versions"].as_array().unwrap().len(), 3);
}

/// A run that does not end, and the time at which a failure of it is over.
struct Endless(Child, Instant);

impl Endless {
    fn start(place: &Place) -> Self {
        let mut command = place.command("cluster run pagerank c --tolerance 0 --rounds 100000000");
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap(), Instant::now())
    }

    /// Waits until it works.
    fn works(mut self, machines: &[Machine]) -> Self {
        for machine in machines {
            machine.holder();
        }
        std::thread::sleep(Duration::from_millis(700));
        assert!(self.0.try_wait().unwrap().is_none(), "it ended early");
        self.1 = Instant::now();
        self
    }

    /// What it said when it failed.
    fn failed(self) -> String {
        let output = self.0.wait_with_output().unwrap();
        let (said, took) = (String::from_utf8_lossy(&output.stderr).into_owned(), self.1.elapsed());
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(took < END, "{took:?}: {said}");
        said
    }
}

/// Whether a process has ended. One whose parent has too may wait in vain for somebody to take note.
fn is_gone(pid: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero()));
    status.map_or(true, |status| status.lines().any(|line| line.starts_with("State:\tZ")))
}

#[test]
fn killed_and_frozen_workers_end_what_they_do_everywhere_and_are_named() {
    let place = Place::new();
    let mut machines = machines(&place, 3);
    ring(&place, 2000);
    place.ok("cluster create c --hosts hosts.txt --secret secret");
    place.ok("cluster add c ring.csv");
    for (signal, how) in
        [(Signal::KILL, "was killed by SIGKILL (signal 9)"), (Signal::STOP, "has not answered for")]
    {
        let run = Endless::start(&place).works(&machines);
        let holders: Vec<Pid> = machines.iter().map(Machine::holder).collect();
        kill_process(holders[1], signal).unwrap();
        let said = run.failed();
        assert!(said.contains(&format!("the worker of shard 1 on {} {how}", machines[1].address)), "{said}");
        assert!(holders.into_iter().all(is_gone), "all have ended: {said}");
    }
    // The command itself: its workers end, also one that is stopped.
    let mut run = Endless::start(&place).works(&machines);
    let holders: Vec<Pid> = machines.iter().map(Machine::holder).collect();
    kill_process(holders[2], Signal::STOP).unwrap();
    run.0.kill().unwrap();
    run.0.wait().unwrap();
    while !holders.iter().copied().all(is_gone) {
        assert!(run.1.elapsed() < END, "the workers have not ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    // What starts workers: they end with it.
    let run = Endless::start(&place).works(&machines);
    let holder = machines[0].holder();
    machines[0].end(Signal::KILL);
    let said = run.failed();
    assert!(said.contains(&format!("the worker of shard 0 on {}", machines[0].address)), "{said}");
    assert!(is_gone(holder));
}

/// Workers killed and frozen at random moments of additions, streams and runs. `ESKER_TEST_KILLS` sets their
/// number.
#[test]
fn random_failures_leave_all_machines_at_the_last_version() {
    const LINES: [&str; 3] = [
        "cluster add c ring.csv --batch 20000",
        "cluster stream c ring.csv --source ring --commit-every 7000",
        "cluster run pagerank c --tolerance 0 --rounds 2000",
    ];
    let rounds: u64 = std::env::var("ESKER_TEST_KILLS").map_or(8, |kills| kills.parse().unwrap());
    let place = Place::new();
    let machines = machines(&place, 2);
    ring(&place, 40_000);
    place.ok("cluster create c --hosts hosts.txt --secret secret --hub-degree 30");
    let newest = || place.json("cluster log c --json")["versions"][0]["version"].as_u64().unwrap();
    let (mut random, mut failures) = (Random::new(3), 0);
    for round in 0..rounds {
        let before = newest();
        let line = LINES[round as usize % 3];
        let mut command = place.command(line);
        let working = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let machine = &machines[random.below(2) as usize];
        machine.holder();
        std::thread::sleep(Duration::from_millis(random.below(600)));
        let signal = if round % 4 == 3 { Signal::STOP } else { Signal::KILL };
        let holder = machine.holder_now();
        let is_hit = holder.is_some_and(|holder| kill_process(holder, signal).is_ok());
        let begin = Instant::now();
        let output = working.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            assert!(begin.elapsed() < END, "{line}: {:?}: {said}", begin.elapsed());
            assert!(is_hit && said.contains(&machine.address), "{line}: {said}");
            failures += 1;
        }
        let after = newest();
        assert!(after >= before);
        if said.contains("all shards are at version") {
            assert!(said.contains(&format!("all shards are at version {after} of the cluster")), "{said}");
            let found = place.json("cluster check c --json");
            assert_eq!((&found["sound"], &found["notes"]), (&json!(true), &json!([])), "{line}: {said}");
        }
    }
    assert!(failures > 1, "no worker was killed in time");
    place.ok("cluster stream c ring.csv --source ring");
    let log = place.json("cluster log c --json");
    let of_stream = log["versions"].as_array().unwrap().iter();
    let of_stream = of_stream.filter(|one| one["message"].as_str().unwrap().starts_with("stream ring: "));
    let given: u64 = of_stream.map(|one| one["edges_given"].as_u64().unwrap()).sum();
    assert_eq!(given, 80_000, "the stream was taken exactly once");
    place.ok("cluster add c ring.csv");
    let edges = place.ok("cluster export c -");
    let given = std::fs::read_to_string(place.path().join("ring.csv")).unwrap();
    let mut given = sorted(&given);
    given.dedup();
    assert_eq!(sorted(&edges), given);
    assert_eq!(place.json("cluster check c --json")["problems"], json!([]));
}

/// Network namespaces that a switch connects: two machines with shards, and one where commands run.
struct Network(String);

impl Network {
    /// `None` where this user may not make namespaces.
    fn new() -> Option<Self> {
        let network = Self(format!("esker{}", std::process::id()));
        ip(&format!("netns add {}", network.switch())).then_some(())?;
        let switch = network.switch();
        assert!(ip(&format!("-n {switch} link add bridge type bridge")));
        assert!(ip(&format!("-n {switch} link set bridge up")));
        for number in 0..3 {
            let name = network.machine(number);
            assert!(ip(&format!("netns add {name}")));
            assert!(ip(&format!("-n {switch} link add p{number} type veth peer name eth netns {name}")));
            assert!(ip(&format!("-n {switch} link set p{number} master bridge up")));
            assert!(ip(&format!("-n {name} addr add 10.77.0.{}/24 dev eth", number + 1)));
            assert!(ip(&format!("-n {name} link set eth up")) && ip(&format!("-n {name} link set lo up")));
        }
        Some(network)
    }

    fn switch(&self) -> String {
        format!("{}s", self.0)
    }

    fn machine(&self, number: usize) -> String {
        format!("{}m{number}", self.0)
    }

    /// The program on a machine.
    fn program(&self, number: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.machine(number), env!("CARGO_BIN_EXE_esker")]);
        command
    }

    /// Cuts the two machines with shards from each other, not from the third; or joins them again.
    fn isolate(&self, is_cut: bool) {
        let state = if is_cut { "on" } else { "off" };
        for port in 0..2 {
            let set = format!("link set p{port} type bridge_slave isolated {state}");
            assert!(ip(&format!("-n {} {set}", self.switch())));
        }
    }

    /// Takes the link of a machine down or up.
    fn link(&self, number: usize, state: &str) {
        assert!(ip(&format!("-n {} link set p{number} {state}", self.switch())));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in (0..3).map(|number| self.machine(number)).chain([self.switch()]) {
            ip(&format!("netns del {name}"));
        }
    }
}

fn ip(line: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(line.split(' ')).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Nothing is refused or reset where a network is cut: packets are dropped.
#[test]
fn a_network_that_is_cut_ends_what_runs_within_five_seconds_on_both_sides() {
    // Only root may make networks.
    let Some(network) = Network::new() else { return };
    let place = Place::new();
    secret(&place, "secret", 7);
    ring(&place, 2000);
    let start = |number: usize| {
        let (name, address) = (format!("m{number}"), format!("10.77.0.{}:7411", number + 1));
        Machine::start_by(network.program(number), &place, &name, &address, "secret", encrypts())
    };
    let machines = [start(0), start(1)];
    list(&place, &machines);
    let esker = |line: &str| {
        let mut command = network.program(2);
        command.args(line.split(' ')).current_dir(place.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let succeeds = |line: &str| {
        let output = esker(line).wait_with_output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    succeeds("cluster create c --hosts hosts.txt --secret secret");
    succeeds("cluster add c ring.csv");
    let endless = || {
        let run = esker("cluster run pagerank c --tolerance 0 --rounds 100000000");
        Endless(run, Instant::now()).works(&machines)
    };
    let all_gone = |holders: &[Pid], since: Instant| {
        while !holders.iter().copied().all(is_gone) {
            assert!(since.elapsed() < END, "workers go on");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    // The workers lose each other, and the command none of them.
    let (run, holders) = (endless(), [machines[0].holder(), machines[1].holder()]);
    network.isolate(true);
    let since = run.1;
    let said = run.failed();
    assert!(said.contains("lost the connection to that of shard"), "{said}");
    assert!(said.contains("10.77.0."), "{said}");
    all_gone(&holders, since);
    network.isolate(false);
    succeeds("cluster run wcc c");
    // A machine is unreachable for all.
    let (run, holders) = (endless(), [machines[0].holder(), machines[1].holder()]);
    network.link(1, "down");
    let since = run.1;
    let said = run.failed();
    assert!(said.contains("the worker of shard 1 on 10.77.0.2:7411 has not answered"), "{said}");
    all_gone(&holders, since);
    let begin = Instant::now();
    let output = esker("cluster add c ring.csv").wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("shard 1 on 10.77.0.2:7411"), "{said}");
    assert!(begin.elapsed() < END, "{:?}", begin.elapsed());
    network.link(1, "up");
    // So it is in the middle of a change; what was begun is undone by the next one.
    place.file("long.csv", &(0..400_000).map(|v| format!("{v},{}\n", v * 7 % 4001)).collect::<String>());
    let adding = esker("cluster add c long.csv --batch 20000");
    let holders = [machines[0].holder(), machines[1].holder()];
    std::thread::sleep(Duration::from_millis(500));
    network.link(1, "down");
    let run = Endless(adding, Instant::now());
    let since = run.1;
    let said = run.failed();
    assert!(said.contains("shard 1 on 10.77.0.2:7411"), "{said}");
    all_gone(&holders, since);
    network.link(1, "up");
    succeeds("cluster add c ring.csv");
    succeeds("cluster check c");
}
