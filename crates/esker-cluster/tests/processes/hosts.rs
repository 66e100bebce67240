//! Reading shards that lie on other machines. Workers that listen at addresses of this machine stand for
//! those.

use std::net::SocketAddr;
use std::sync::mpsc::channel;

use esker_cluster::net::handshake::Secret;
use esker_cluster::net::hosts::parse_hosts;
use esker_cluster::process::host::{HostOptions, serve};
use esker_cluster::{WeightKind, create_on, merge, rebalance};
use esker_store::Store;

use super::*;

/// Ends what serves, also if the test fails.
struct EndOnDrop(Cancel);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The rows of an export, sorted.
fn rows(cluster: &Cluster) -> Vec<String> {
    let (run, mut out) = (Run::with_threads(1).expect("run"), Vec::new());
    export(cluster, cluster.manifest().newest().number, Path::new("memory"), &mut out, &run).expect("export");
    let mut rows: Vec<_> = String::from_utf8(out).expect("text").lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

/// They had to be exported and imported.
#[test]
fn a_cluster_on_other_machines_becomes_a_database_and_another_cluster_here() {
    let place = tempfile::tempdir().expect("directory");
    let (path, secret) = (|name: &str| place.path().join(name), place.path().join("secret"));
    esker_format::io::write_private(&secret, &[7; 32]).expect("write");
    let (cancel, run) = (Cancel::default(), Run::with_threads(1).expect("run"));
    let (saying, heard) = channel();
    let command = |place: &WorkerPlace| worker_command(place, "");
    let host = HostOptions {
        directory: path("there"),
        secret,
        is_encrypting: false,
        command: &command,
        on_event: &|event: &str| drop(saying.send(event.to_owned())),
        cancel: cancel.clone(),
    };
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| serve(SocketAddr::from(([127, 0, 0, 1], 0)), &host));
        let end = EndOnDrop(cancel);
        let said = heard.recv_timeout(Duration::from_secs(10)).expect("it listens");
        let address = said.strip_prefix("listening on ").and_then(|rest| rest.split(',').next());
        let address = address.expect("an address");
        for (case, text_ids) in [("ints", false), ("texts", true)] {
            let hosts = parse_hosts("f", &format!("{address}\n{address}\n"), case).expect("hosts");
            let weights = Some(if text_ids { WeightKind::Float } else { WeightKind::Int });
            let options =
                CreateOptions { shards: 2, directed: !text_ids, text_ids, weights, seed: 4, hub_degree: 20 };
            let mut cluster =
                create_on(&path(case), &options, &hosts.list, Secret::new([7; 32])).expect("create");
            let name = |v: u64| if text_ids { format!("v{v}") } else { v.to_string() };
            let weight = if text_ids { ".5" } else { "" };
            let edges = ring_edges(300).into_iter().chain((0..300).map(|v| (7, v)));
            let edges = edges.map(|(a, b)| format!("{},{},{}{weight}\n", name(a), name(b), a + b));
            let input = path("edges.csv");
            std::fs::write(&input, format!("source,target,weight\n{}", edges.collect::<String>()))
                .expect("write");
            let inputs = vec![input.display().to_string()];
            let job = ChangeJob { inputs, message: "add".to_owned(), ..ChangeJob::default() };
            for _ in 0..2 {
                // The second time, what has many edges has become a delegate.
                supervised("", |supervisor| {
                    supervisor.change(&mut cluster, &job, &mut ChangeReport::default())
                })
                .expect("add");
            }
            assert!(!cluster.manifest().delegates.is_empty());
            let version = cluster.manifest().newest().number;
            merge(&cluster, version, &path(&format!("{case}.esker")), &run).expect("merge");
            let merged = Store::open(path(&format!("{case}.esker"))).and_then(|store| store.latest());
            let merged = merged.expect("open");
            let here =
                rebalance(&cluster, version, &path(&format!("{case}-here")), 3, 1, &run).expect("rebalance");
            assert_eq!(rows(&here).len() as u64, merged.num_edges() + 1);
            assert_eq!(rows(&here), rows(&cluster), "{case}");
            assert_eq!(merged.num_vertices(), 300);
            assert_eq!(check(&here, &run).expect("check").problems, Vec::<String>::new());
            let message = merge(&cluster, version + 1, &path("none"), &run).expect_err("no such version");
            assert!(message.to_string().contains("has no version"), "{message}");
        }
        drop(end);
        serving.join().expect("thread").expect("serve");
    });
}
