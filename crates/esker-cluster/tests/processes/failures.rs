//! Workers killed and stopped at random moments of additions, streams and runs. `ESKER_TEST_KILLS` sets their
//! number; every fourth worker is stopped (`SIGSTOP`), the others are killed. Says how many of them met an
//! operation.

use super::*;

/// The most time between the signal and the end of the operation.
const END_MAX: Duration = Duration::from_secs(5);
const VERTICES: u64 = 8_000;

/// Number of edges of a shard's own vertices, by `esker_cluster::counts`, and what the manifest says of every
/// version.
fn state(cluster: &Cluster) -> (u64, Vec<(u64, u64)>) {
    let newest = cluster.manifest().newest().number;
    let (_, whole) = esker_cluster::counts(cluster, newest).expect("counts");
    let versions = &cluster.manifest().versions;
    (whole.edges, versions.iter().map(|version| (version.number, version.edges_given)).collect())
}

#[test]
#[allow(clippy::print_stdout)] // How many signals met an operation.
fn random_failures_end_operations_and_leave_the_last_version_whole() {
    let rounds: u64 = std::env::var("ESKER_TEST_KILLS").map_or(8, |kills| kills.parse().expect("a number"));
    let place = tempfile::tempdir().expect("directory");
    let mut cluster = cluster_in(place.path(), 3);
    let job = ring(place.path(), VERTICES);
    let begin = Instant::now();
    supervised("", |supervisor| supervisor.change(&mut cluster, &job, &mut ChangeReport::default()))
        .expect("add");
    // So most signals come while an operation goes on, however fast the machine is.
    let usual_ms = begin.elapsed().as_millis() as u64 + 1;
    let stream = Some(StreamJob { name: Some("ring".to_owned()), ..StreamJob::default() });
    let stream = ChangeJob { stream, batch_edges: 1500, ..job.clone() };
    let params = vec![("tolerance".to_owned(), "0".to_owned()), ("rounds".to_owned(), "1000000".to_owned())];
    let mut endless =
        RunJob { algorithm: "pagerank".to_owned(), params, version: 2, top: None, memory_bytes: None };
    // Killed and stopped, and the longest time from the signal to the end.
    let (mut random, mut met, mut slowest) = (Random::new(19), [0_u64; 2], Duration::ZERO);
    for round in 0..rounds {
        let (shard, after_ms) = (random.below(3), random.below(usual_ms));
        let signal = if round % 4 == 3 { "STOP" } else { "KILL" };
        let fate = format!("{shard} {after_ms} {signal}");
        let before = state(&cluster);
        endless.version = cluster.manifest().newest().number;
        let (mut report, begin) = (ChangeReport::default(), Instant::now());
        let done = match round % 3 {
            0 => supervised(&fate, |supervisor| supervisor.run(&cluster, &endless).map(drop)),
            1 => supervised(&fate, |supervisor| supervisor.change(&mut cluster, &stream, &mut report)),
            _ => supervised(&fate, |supervisor| supervisor.change(&mut cluster, &job, &mut report)),
        };
        let taken = begin.elapsed();
        if let Err(error) = done {
            let message = error.to_string();
            assert!(message.contains(&format!("the worker of shard {shard}")), "{fate}: {message}");
            let ended = taken.saturating_sub(Duration::from_millis(after_ms));
            assert!(ended < END_MAX, "{fate}: {taken:?}");
            slowest = slowest.max(ended);
            met[usize::from(signal == "STOP")] += 1;
        }
        // The manifest on the disk has the versions that were reported, no others, and the shards are at the
        // last one.
        cluster = Cluster::open(cluster.path()).expect("open");
        assert_eq!(roll_back(&cluster).expect("the shards were taken back"), 0, "{fate}");
        let after = state(&cluster);
        assert_eq!(after.1[..before.1.len()], before.1[..], "{fate}: earlier versions stay");
        let new: u64 = after.1[before.1.len()..].iter().map(|(_, edges)| edges).sum();
        assert_eq!(new, report.edges, "{fate}");
        assert_eq!(after.0, 2 * VERTICES, "{fate}: all additions give the same edges");
    }
    let [killed, stopped] = met;
    println!(
        "of {rounds} signals {killed} killed and {stopped} stopped an operation, which ended within {slowest:?}"
    );
    assert!(killed + stopped > rounds / 2, "too few operations met their signal: {met:?} of {rounds}");
    supervised("", |supervisor| supervisor.change(&mut cluster, &stream, &mut ChangeReport::default()))
        .expect("the stream goes on");
    let is_of_stream = |message: &str| message.starts_with("stream ring: ");
    let streamed = cluster.manifest().versions.iter().filter(|version| is_of_stream(&version.message));
    assert_eq!(streamed.map(|version| version.edges_given).sum::<u64>(), 2 * VERTICES, "exactly once");
    let run = Run::with_threads(1).expect("run");
    assert_eq!(check(&cluster, &run).expect("check").problems, Vec::<String>::new());
}
