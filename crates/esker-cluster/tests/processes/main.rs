//! Worker processes: a whole operation, and what is left when one of them is killed or stopped.
//!
//! The test program itself is the worker: started again with variables set, [`worker`] does a worker's work.

#![allow(clippy::disallowed_methods)] // The tests write files of their own.

mod failures;
mod hosts;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use esker_cluster::disk::job::{ChangeJob, FollowJob, RunJob, StreamJob};
use esker_cluster::model::answer::{Cell, OwnedId};
use esker_cluster::model::needs::{PROCESS_BYTES, Sends};
use esker_cluster::process::worker::{Meeting, WorkerPlace, work};
use esker_cluster::{
    ChangeReport, Cluster, CreateOptions, FollowedVersion, SILENCE, Supervisor, check, estimate, export,
    roll_back,
};
use esker_graph::random::Random;
use esker_graph::{Cancel, Run};

const PLACE: &str = "ESKER_TEST_WORKER_PLACE";
/// Shard, milliseconds, and `KILL` or `STOP`: what happens to which worker when.
const FATE: &str = "ESKER_TEST_WORKER_FATE";

/// No test of its own: what the tests below start as worker processes.
#[test]
fn worker() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let mut parts = place.split('\n');
    let mut part = || parts.next().expect("four parts");
    let (secret, directory) = (part().into(), part().into());
    let shard = part().parse().expect("shard");
    let meeting = part().parse().map_or(Meeting::IsCalled, Meeting::Calls);
    let fate = std::env::var(FATE).unwrap_or_default();
    let fate: Vec<&str> = fate.split(' ').collect();
    if let [of, after_ms, signal] = fate[..]
        && of == shard_name(shard)
    {
        let (after_ms, is_kill): (u64, bool) = (after_ms.parse().expect("milliseconds"), signal == "KILL");
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(after_ms));
            let signal = if is_kill { rustix::process::Signal::KILL } else { rustix::process::Signal::STOP };
            let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
        });
    }
    work(&WorkerPlace { secret, directory, shard, meeting, is_encrypting: false })
}

fn shard_name(shard: usize) -> String {
    shard.to_string()
}

/// The command of a worker with a fate.
fn worker_command(place: &WorkerPlace, fate: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["worker", "--exact", "--nocapture"]);
    let meeting = match place.meeting {
        Meeting::Calls(address) => address.to_string(),
        Meeting::IsCalled => "is called".to_owned(),
    };
    let (secret, directory) = (place.secret.display(), place.directory.display());
    command.env(PLACE, format!("{secret}\n{directory}\n{}\n{meeting}", place.shard));
    command.env(FATE, fate);
    command
}

/// Supervises an operation in which a worker has a fate.
fn supervised<T>(fate: &str, operation: impl FnOnce(&Supervisor<'_>) -> T) -> T {
    let command = |place: &WorkerPlace| worker_command(place, fate);
    let silence = SILENCE;
    operation(&Supervisor { command: &command, silence, cancel: Cancel::default(), on_news: &|_| {} })
}

fn cluster_in(place: &Path, shards: usize) -> Cluster {
    let hub_degree = 2;
    let options =
        CreateOptions { shards, directed: true, text_ids: false, weights: None, seed: 4, hub_degree };
    Cluster::create(&place.join("c"), &options).expect("create")
}

/// A ring of so many vertices, and chords, in the order of the file.
fn ring_edges(vertices: u64) -> Vec<(u64, u64)> {
    (0..vertices).flat_map(|v| [(v, (v + 1) % vertices), (v, v * 31 % vertices)]).collect()
}

fn ring(place: &Path, vertices: u64) -> ChangeJob {
    let rows = ring_edges(vertices).into_iter().map(|(source, target)| format!("{source},{target}\n"));
    let text = format!("source,target\n{}", rows.collect::<String>());
    let path = place.join("ring.csv");
    std::fs::write(&path, text).expect("write");
    ChangeJob {
        inputs: vec![path.display().to_string()],
        message: "a ring".to_owned(),
        ..ChangeJob::default()
    }
}

/// The newest version has these edges, each once, and its shards fit together.
fn expect_edges(cluster: &Cluster, edges: &[(u64, u64)]) {
    let (run, mut out) = (Run::with_threads(1).expect("run"), Vec::new());
    let version = cluster.manifest().newest().number;
    export(cluster, version, Path::new("memory"), &mut out, &run).expect("export");
    let text = String::from_utf8(out).expect("text");
    let edge = |row: &str| {
        let (source, target) = row.split_once(',').expect("two columns");
        (source.parse().expect("an id"), target.parse().expect("an id"))
    };
    let mut found: Vec<(u64, u64)> = text.lines().skip(1).map(edge).collect();
    found.sort_unstable();
    let expected: BTreeSet<_> = edges.iter().copied().collect();
    assert!(found.iter().eq(&expected), "{} edges instead of {}", found.len(), expected.len());
    assert_eq!(check(cluster, &run).expect("check").problems, Vec::<String>::new());
}

fn components(cluster: &Cluster) -> (usize, f64) {
    let version = cluster.manifest().newest().number;
    let job =
        RunJob { algorithm: "wcc".to_owned(), params: Vec::new(), version, top: None, memory_bytes: None };
    let answer = supervised("", |supervisor| supervisor.run(cluster, &job)).expect("run");
    let is_of_zero = |cells: &[Cell]| cells == [Cell::Id(OwnedId::Int(0))];
    assert!(answer.rows.iter().all(|(_, cells)| is_of_zero(cells)), "one component, named by its least id");
    let found = answer.outline.facts.iter().find(|(name, _)| name == "components");
    (answer.rows.len(), found.expect("a fact").1)
}

#[test]
fn worker_processes_add_edges_and_run_an_algorithm() {
    let place = tempfile::tempdir().expect("directory");
    let mut cluster = cluster_in(place.path(), 3);
    let (job, mut report) = (ring(place.path(), 5000), ChangeReport::default());
    supervised("", |supervisor| supervisor.change(&mut cluster, &job, &mut report)).expect("add");
    assert_eq!((&report.versions[..], report.edges), (&[2][..], 10_000));
    // Each worker told the two others in every exchange what it read. In one exchange only the first speaks:
    // it says what it remembers.
    assert_eq!(report.workers.len(), 3);
    for (number, worker) in report.workers.iter().enumerate() {
        let spoken = worker.exchanges - u64::from(number > 0);
        assert!(worker.exchanges >= 3 && worker.messages == 2 * spoken, "{worker:?}");
        assert!(worker.peak_memory_bytes > 1 << 20 && !worker.times.commit.is_zero(), "{worker:?}");
    }
    // A source is 16 bytes in the block of one other owner at most, and an announced target 8.
    let sent: u64 = report.workers.iter().map(|worker| worker.sent_bytes).sum();
    assert!((10_000 * 16 / 3..10_000 * 24 + 10_000).contains(&sent), "{sent}");
    assert_eq!(components(&cluster), (5000, 1.0));
    let run = Run::with_threads(1).expect("run");
    assert_eq!(check(&cluster, &run).expect("check").problems, Vec::<String>::new());
}

#[test]
fn a_killed_worker_ends_an_addition_and_the_next_goes_on() {
    let place = tempfile::tempdir().expect("directory");
    let mut cluster = cluster_in(place.path(), 2);
    let job = ring(place.path(), 60_000);
    // Versions have the edges in the order of the file.
    let (mut failures, mut acknowledged, edges) = (0, 0, ring_edges(60_000));
    // One addition is left alone: in those after it all vertices are hubs, and their edges move.
    let kills = [Some(0), Some(20), Some(80), None, Some(20), Some(80), Some(150), Some(250), Some(400)];
    for (round, after_ms) in kills.into_iter().enumerate() {
        let fate =
            after_ms.map_or_else(String::new, |after_ms: u64| format!("{} {after_ms} KILL", round % 2));
        let (before, begin) = (cluster.manifest().newest().number, Instant::now());
        let mut report = ChangeReport::default();
        let added = supervised(&fate, |supervisor| supervisor.change(&mut cluster, &job, &mut report));
        if let Err(error) = added {
            let message = error.to_string();
            assert!(message.contains(&format!("the worker of shard {}", round % 2)), "{message}");
            assert!(message.contains("was killed by SIGKILL (signal 9)"), "{message}");
            assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
            failures += 1;
        }
        let published = report.versions.len() as u64;
        let cluster = Cluster::open(cluster.path()).expect("open");
        assert_eq!(cluster.manifest().newest().number, before + published);
        assert_eq!(roll_back(&cluster).expect("the shards were taken back"), 0);
        let added = &cluster.manifest().versions[before as usize..];
        acknowledged = acknowledged.max(added.iter().map(|version| version.edges_given).sum());
        expect_edges(&cluster, &edges[..acknowledged as usize]);
    }
    assert!(failures > 0, "no worker was killed in time");
    supervised("", |supervisor| supervisor.change(&mut cluster, &job, &mut ChangeReport::default()))
        .expect("go on");
    expect_edges(&cluster, &edges);
    assert!(!cluster.manifest().delegates.is_empty(), "edges moved");
    assert_eq!(components(&cluster), (60_000, 1.0));
}

#[test]
fn a_stopped_worker_is_named_within_five_seconds() {
    let place = tempfile::tempdir().expect("directory");
    let mut cluster = cluster_in(place.path(), 2);
    let (job, begin) = (ring(place.path(), 60_000), Instant::now());
    let added = supervised("1 30 STOP", |supervisor| {
        supervisor.change(&mut cluster, &job, &mut ChangeReport::default())
    });
    let message = added.expect_err("stopped").to_string();
    assert!(
        message.contains("the worker of shard 1") && message.contains("has not answered for 3 s"),
        "{message}"
    );
    assert!(message.contains("all shards are at version 1 of the cluster"), "{message}");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn a_killed_worker_ends_a_run_and_leaves_the_cluster() {
    let place = tempfile::tempdir().expect("directory");
    let mut cluster = cluster_in(place.path(), 3);
    let job = ring(place.path(), 20_000);
    supervised("", |supervisor| supervisor.change(&mut cluster, &job, &mut ChangeReport::default()))
        .expect("add");
    // A tolerance of zero is never reached: the run would go on for long.
    let params = vec![("tolerance".to_owned(), "0".to_owned()), ("rounds".to_owned(), "1000000".to_owned())];
    let endless =
        RunJob { algorithm: "pagerank".to_owned(), params, version: 2, top: None, memory_bytes: None };
    let begin = Instant::now();
    let ran = supervised("2 300 KILL", |supervisor| supervisor.run(&cluster, &endless));
    let message = ran.expect_err("killed").to_string();
    assert!(message.contains("the worker of shard 2") && message.contains("SIGKILL"), "{message}");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(components(&cluster), (20_000, 1.0));
}

#[test]
fn runs_keep_the_estimates_and_are_refused_with_a_limit_that_suffices() {
    let place = tempfile::tempdir().expect("directory");
    let hub_degree = 1000;
    let options =
        CreateOptions { shards: 3, directed: false, text_ids: false, weights: None, seed: 4, hub_degree };
    let mut cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
    let star = place.path().join("star.csv");
    let rows = (1..16_000).map(|v| format!("0,{}\n", 3 * v));
    std::fs::write(&star, format!("source,target\n{}", rows.collect::<String>())).expect("write");
    let star = ChangeJob { inputs: vec![star.display().to_string()], ..ring(place.path(), 50_000) };
    // The hub becomes a delegate in version 4.
    for job in [ring(place.path(), 50_000), star, ring(place.path(), 50_000)] {
        supervised("", |supervisor| supervisor.change(&mut cluster, &job, &mut ChangeReport::default()))
            .expect("add");
    }
    assert_eq!(cluster.manifest().delegates.len(), 1);
    for version in [2, 4] {
        expect_within_estimates(&cluster, version);
    }
}

fn expect_within_estimates(cluster: &Cluster, version: u64) {
    let source = ("source".to_owned(), "0".to_owned());
    for algorithm in ["degrees", "bfs", "wcc", "pagerank", "kcore", "colouring", "sssp", "triangles", "cdlp"]
    {
        let needs = estimate(cluster, version, algorithm, true, &Cancel::default()).expect("estimate");
        let params = [source.clone()].into_iter().filter(|_| ["bfs", "sssp"].contains(&algorithm)).collect();
        let memory_bytes = Some(needs.iter().map(|one| one.memory_bytes).max().expect("a shard"));
        let name = algorithm.to_owned();
        let job = RunJob { algorithm: name, params, version, top: Some(10), memory_bytes };
        let answer = supervised("", |supervisor| supervisor.run(cluster, &job)).expect(algorithm);
        for (needs, worker) in needs.iter().zip(&answer.workers) {
            assert!(worker.peak_memory_bytes <= needs.memory_bytes, "{algorithm}: {needs:?}, {worker:?}");
            let (each, rounds) = match needs.sends {
                Sends::InAll(bytes) => (bytes, 1),
                Sends::ARound(bytes) => (bytes, worker.exchanges),
            };
            // Heads of blocks, and the reports of all processes to each other.
            let sent_max = each * rounds + 64 * worker.exchanges;
            assert!(worker.sent_bytes <= sent_max, "{algorithm}: {needs:?}, {worker:?}");
        }
        let limited = RunJob { memory_bytes: Some(PROCESS_BYTES + (1 << 20)), ..job };
        expect_sufficient_limit(cluster, &limited);
    }
}

/// The limit that a refusal names.
fn named_limit(message: &str) -> u64 {
    let named = message.split("raise the limit to at least ").nth(1).unwrap_or_else(|| panic!("{message}"));
    let (number, unit) = named.split_once(' ').expect("a number and a unit");
    number.parse::<u64>().expect("a number") * if unit.starts_with("MiB") { 1 << 20 } else { 1 }
}

/// A run that is refused succeeds with the limit that the refusal names.
fn expect_sufficient_limit(cluster: &Cluster, job: &RunJob) {
    let refused = supervised("", |supervisor| supervisor.run(cluster, job));
    let message = refused.expect_err("too little").to_string();
    let limit = named_limit(&message);
    let raised = RunJob { memory_bytes: Some(limit), ..job.clone() };
    let answer = supervised("", |supervisor| supervisor.run(cluster, &raised)).expect(&message);
    for worker in &answer.workers {
        assert!(worker.peak_memory_bytes <= limit, "{}: {message}: {worker:?}", job.algorithm);
    }
}

/// A cluster of a ring with chords whose ids are long texts. The ghosts and their ids are as many as the
/// vertices in each shard.
fn text_cluster(place: &Path) -> Cluster {
    let options =
        CreateOptions { shards: 3, directed: false, text_ids: true, weights: None, seed: 4, hub_degree: 0 };
    let mut cluster = Cluster::create(&place.join("c"), &options).expect("create");
    let name = |v: u64| format!("{v:0>300}");
    let edges = (0..15_000_u64).flat_map(|v| [(v, (v + 1) % 15_000), (v, v * 31 % 15_000)]);
    let edges = edges.map(|(v, w)| format!("{},{}\n", name(v), name(w)));
    let path = place.join("texts.csv");
    std::fs::write(&path, format!("source,target\n{}", edges.collect::<String>())).expect("write");
    let job = ChangeJob { inputs: vec![path.display().to_string()], ..ChangeJob::default() };
    supervised("", |supervisor| supervisor.change(&mut cluster, &job, &mut ChangeReport::default()))
        .expect("add");
    cluster
}

/// Their ids were exchanged before the limit counted anything, and estimates took them for 12 bytes.
#[test]
fn long_text_ids_are_within_the_estimates_and_the_limits() {
    let place = tempfile::tempdir().expect("directory");
    let cluster = text_cluster(place.path());
    let first = ("source".to_owned(), format!("{:0>300}", 0));
    for algorithm in ["degrees", "bfs", "wcc", "pagerank", "cdlp"] {
        let needs = estimate(&cluster, 2, algorithm, true, &Cancel::default()).expect("estimate");
        let params = [first.clone()].into_iter().filter(|_| algorithm == "bfs").collect();
        let name = algorithm.to_owned();
        let memory_bytes = Some(PROCESS_BYTES + (1 << 20));
        let job = RunJob { algorithm: name, params, version: 2, top: Some(10), memory_bytes };
        expect_sufficient_limit(&cluster, &job);
        let job = RunJob { memory_bytes: None, ..job };
        let answer = supervised("", |supervisor| supervisor.run(&cluster, &job)).expect(algorithm);
        for (needs, worker) in needs.iter().zip(&answer.workers) {
            let (each, rounds) = match needs.sends {
                Sends::InAll(bytes) => (bytes, 1),
                Sends::ARound(bytes) => (bytes, worker.exchanges),
            };
            let sent_max = each * rounds + 64 * worker.exchanges;
            assert!(worker.sent_bytes <= sent_max, "{algorithm}: {needs:?}, {worker:?}");
        }
    }
}

#[test]
fn followers_keep_a_memory_limit_and_are_refused_with_one_that_suffices() {
    let place = tempfile::tempdir().expect("directory");
    let texts = text_cluster(place.path());
    let other = tempfile::tempdir().expect("directory");
    let mut integers = cluster_in(other.path(), 2);
    let job = ring(other.path(), 150_000);
    supervised("", |supervisor| supervisor.change(&mut integers, &job, &mut ChangeReport::default()))
        .expect("add");
    for (cluster, algorithm) in
        [(&texts, "wcc"), (&texts, "colouring"), (&integers, "wcc"), (&integers, "bfs")]
    {
        // The vertex to begin with is in version 2.
        let (version, params) = match algorithm {
            "bfs" => (2, vec![("source".to_owned(), "0".to_owned())]),
            _ => (1, Vec::new()),
        };
        let memory_bytes = Some(PROCESS_BYTES + (1 << 20));
        let job = FollowJob { algorithm: algorithm.to_owned(), params, version, initial: true, memory_bytes };
        let mut rows = 0;
        let mut take = |followed: FollowedVersion| {
            rows += followed.rows.len();
            Ok(())
        };
        let refused = supervised("", |supervisor| supervisor.follow(cluster, &job, true, &mut take));
        let message = refused.expect_err("too little").to_string();
        let limit = named_limit(&message);
        let raised = FollowJob { memory_bytes: Some(limit), ..job };
        let workers = supervised("", |supervisor| supervisor.follow(cluster, &raised, true, &mut take));
        for worker in workers.expect(&message) {
            assert!(worker.peak_memory_bytes <= limit, "{algorithm}: {message}: {worker:?}");
        }
        assert!(rows >= 15_000);
    }
}

#[test]
fn a_killed_worker_ends_following_and_names_itself() {
    let place = tempfile::tempdir().expect("directory");
    let mut cluster = cluster_in(place.path(), 3);
    let job = ring(place.path(), 2000);
    supervised("", |supervisor| supervisor.change(&mut cluster, &job, &mut ChangeReport::default()))
        .expect("add");
    let (algorithm, params) = ("wcc".to_owned(), Vec::new());
    let follow = FollowJob { algorithm, params, version: 1, initial: false, memory_bytes: None };
    let mut versions = Vec::new();
    let mut take = |followed: FollowedVersion| {
        versions.push((followed.version, followed.rows.len()));
        Ok(())
    };
    let begin = Instant::now();
    let followed =
        supervised("1 900 KILL", |supervisor| supervisor.follow(&cluster, &follow, false, &mut take));
    let message = followed.expect_err("killed").to_string();
    assert!(message.contains("the worker of shard 1") && message.contains("SIGKILL"), "{message}");
    assert!(begin.elapsed() < Duration::from_secs(6), "{:?}", begin.elapsed());
    supervised("", |supervisor| supervisor.follow(&cluster, &follow, true, &mut take)).expect("follow");
    assert_eq!(versions[versions.len() - 2..], [(1, 0), (2, 2000)]);
}

#[test]
fn a_cancelled_operation_ends_all_workers() {
    let place = tempfile::tempdir().expect("directory");
    let mut cluster = cluster_in(place.path(), 2);
    let job = ring(place.path(), 60_000);
    let cancel = Cancel::default();
    let token = cancel.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        token.cancel();
    });
    let command = |place: &WorkerPlace| worker_command(place, "");
    let supervisor = Supervisor { command: &command, silence: SILENCE, cancel, on_news: &|_| {} };
    let failed = supervisor.change(&mut cluster, &job, &mut ChangeReport::default()).expect_err("cancelled");
    assert_eq!(failed.to_string(), "cancelled");
    canceller.join().expect("thread");
    assert_eq!(roll_back(&cluster).expect("the shards were taken back"), 0);
}

#[test]
fn a_stream_with_workers_killed_at_random_goes_on_exactly_once() {
    let place = tempfile::tempdir().expect("directory");
    let mut cluster = cluster_in(place.path(), 3);
    let stream = Some(StreamJob { name: Some("ring".to_owned()), ..StreamJob::default() });
    let job = ChangeJob { stream, batch_edges: 100, ..ring(place.path(), 20_000) };
    let (mut failures, mut random, mut is_over, edges) = (0, Random::new(77), false, ring_edges(20_000));
    for round in 0..60 {
        // 400 versions take longer than the first kills.
        let (shard, after_ms) = (random.below(3), random.below(200));
        let fate = if round < 15 { format!("{shard} {after_ms} KILL") } else { String::new() };
        let (mut report, begin) = (ChangeReport::default(), Instant::now());
        let streamed = supervised(&fate, |supervisor| supervisor.change(&mut cluster, &job, &mut report));
        let versions = &cluster.manifest().versions;
        let given: u64 = versions.iter().map(|version| version.edges_given).sum();
        assert_eq!(given, report.passed + report.edges, "the position is that of the versions");
        match streamed {
            Ok(()) => is_over = true,
            Err(error) => {
                assert!(error.to_string().contains("was killed by SIGKILL"), "{error}");
                assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
                assert_eq!(roll_back(&cluster).expect("the shards were taken back"), 0);
                expect_edges(&cluster, &edges[..given as usize]);
                failures += 1;
            }
        }
        if is_over {
            break;
        }
    }
    assert!(is_over && failures > 2, "{failures} failures");
    let versions = &cluster.manifest().versions;
    assert_eq!(versions.iter().map(|version| version.edges_given).sum::<u64>(), 40_000);
    assert!(versions.len() >= 400 && versions[1..].iter().all(|version| version.edges_given <= 100));
    assert!(!cluster.manifest().delegates.is_empty(), "edges moved");
    expect_edges(&cluster, &edges);
    assert_eq!(components(&cluster), (20_000, 1.0));
}

#[test]
fn a_worker_that_fails_while_a_stream_is_interrupted_is_named() {
    let place = tempfile::tempdir().expect("directory");
    let mut cluster = cluster_in(place.path(), 2);
    let stream = Some(StreamJob { name: Some("ring".to_owned()), follows: true, ..StreamJob::default() });
    let job = ChangeJob { stream, ..ring(place.path(), 100) };
    let cancel = Cancel::default();
    let token = cancel.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1200));
        token.cancel();
    });
    let command = |place: &WorkerPlace| worker_command(place, "1 600 STOP");
    let supervisor = Supervisor { command: &command, silence: SILENCE, cancel, on_news: &|_| {} };
    let failed = supervisor.change(&mut cluster, &job, &mut ChangeReport::default()).expect_err("stopped");
    let message = failed.to_string();
    assert!(message.contains("the worker of shard 1") && message.contains("has not answered"), "{message}");
    canceller.join().expect("thread");
}
