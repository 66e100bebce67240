//! Asks shards, wherever they are: those here directly, those on other machines through a worker there.

use std::thread::Builder;

use esker_format::{Error, Result};
use esker_graph::{Cancel, message};
use serde::de::DeserializeOwned;

use crate::change::publishing::left_behind;
use crate::disk::cluster::Cluster;
use crate::disk::creating::{CreateOptions, NewCluster};
use crate::disk::job::{ClusterJob, ShardTask};
use crate::model::weights::WeightKind;
use crate::net::handshake::Secret;
use crate::net::hosts::Host;
use crate::net::messages::decode;
use crate::net::threads::no_thread;
use crate::process::remote::{Brief, Unanswered, ask_host};
use crate::process::shard_requests::{Give, carry_out};

/// Does a task on a shard, and takes the blocks of the answer.
pub(crate) fn ask(
    cluster: &Cluster,
    shard: usize,
    task: &ShardTask,
    cancel: &Cancel,
    take: &mut Give<'_>,
) -> Result<()> {
    let Some(hosts) = cluster.hosts() else { return carry_out(cluster, shard, task, cancel, take) };
    let brief = Brief::of(cluster, ClusterJob::Shard(task.clone()))?;
    Ok(ask_host(&hosts[shard], shard, &brief, cancel, take)?)
}

/// Does a task on a shard whose answer is one value.
pub(crate) fn ask_one<T: DeserializeOwned>(
    cluster: &Cluster,
    shard: usize,
    task: &ShardTask,
    cancel: &Cancel,
) -> Result<T> {
    let mut answer = Vec::new();
    ask(cluster, shard, task, cancel, &mut gather(&mut answer))?;
    decode(&answer)
}

/// Does a task on each shard and returns the answers in the order of shards. Workers on other machines do it
/// at the same time.
///
/// # Errors
/// The first one.
pub(crate) fn ask_all<T: DeserializeOwned>(
    cluster: &Cluster,
    task: &ShardTask,
    cancel: &Cancel,
) -> Result<Vec<T>> {
    match cluster.hosts() {
        Some(hosts) => {
            let brief = Brief::of(cluster, ClusterJob::Shard(task.clone()))?;
            ask_hosts(hosts, &brief, cancel).into_iter().map(|answer| decode(&answer?)).collect()
        }
        None => (0..cluster.num_shards()).map(|shard| ask_one(cluster, shard, task, cancel)).collect(),
    }
}

/// Asks all machines at the same time.
fn ask_hosts(
    hosts: &[Host],
    brief: &Brief,
    cancel: &Cancel,
) -> Vec<std::result::Result<Vec<u8>, Unanswered>> {
    std::thread::scope(|scope| {
        let one = |(shard, host): (usize, &Host)| {
            let mut answer = Vec::new();
            ask_host(host, shard, brief, cancel, &mut gather(&mut answer))?;
            Ok(answer)
        };
        let start = |place| Builder::new().spawn_scoped(scope, move || one(place));
        let asked: Vec<_> = hosts.iter().enumerate().map(start).collect();
        let panicked = || Unanswered::Lost(Error::invalid("a thread panicked".to_owned()));
        let refused = |error| Unanswered::Refused(no_thread("ask a machine")(error));
        let ended =
            asked.into_iter().map(|one| one.map_err(refused)?.join().unwrap_or_else(|_| Err(panicked())));
        ended.collect()
    })
}

fn gather(answer: &mut Vec<u8>) -> impl FnMut(Vec<u8>) -> Result<()> {
    |mut block| {
        answer.append(&mut block);
        Ok(())
    }
}

/// Makes an empty cluster at `path` whose shards lie on other machines, where workers that know the secret
/// wait. If one cannot make its shard, those that were made are removed, or named.
///
/// # Errors
/// As [`Cluster::create`]; those of the machines; [`Error::Usage`] if there is not a machine for each shard.
pub fn create_on(
    path: &std::path::Path,
    options: &CreateOptions,
    hosts: &[Host],
    secret: Secret,
) -> Result<Cluster> {
    if hosts.len() != options.shards {
        let named = esker_graph::counted(hosts.len() as u64, "host", "hosts");
        return Err(Error::usage(format!(
            "there are {named} for {} shards: write a line for each",
            options.shards
        )));
    }
    let cancel = Cancel::default();
    let create = Brief::without_cluster(secret, ClusterJob::Shard(ShardTask::Create(*options)));
    let answers = Cluster::expect_free(path).map(|()| ask_hosts(hosts, &create, &cancel))?;
    let (mut made, mut left, mut answered) = (Vec::new(), Vec::new(), Ok(()));
    let name = |shard: usize| format!("{} on {}", hosts[shard].directory, hosts[shard]);
    for (shard, answer) in answers.into_iter().enumerate() {
        match answer.and_then(|answer| decode(&answer).map_err(Unanswered::Lost)) {
            Ok(id) => made.push((shard, id)),
            Err(unanswered) => {
                let is_lost = matches!(unanswered, Unanswered::Lost(_));
                left.extend(is_lost.then(|| format!("{} (if it is there)", name(shard))));
                answered = answered.and(Err(Error::from(unanswered)));
            }
        }
    }
    let created = answered.and_then(|()| {
        let new = NewCluster { hosts: Some((hosts.to_vec(), secret)), ..NewCluster::empty(options) };
        Cluster::create_with(path, &new, |_, shard, _| Ok(made[shard].1))
    });
    created.map_err(|error| {
        for (shard, id) in made {
            let discard = Brief::without_cluster(secret, ClusterJob::Shard(ShardTask::Discard(id)));
            if ask_host(&hosts[shard], shard, &discard, &cancel, &mut |_| Ok(())).is_err() {
                left.push(name(shard));
            }
        }
        match left.is_empty() {
            true => error,
            false => Error::reported(
                error.kind(),
                message![error.message(), format!("; remove what was made: {}", left.join(", "))],
            ),
        }
    })
}

/// Finds the versions of shards that are in no version of the whole: what an operation that failed has left.
/// Returns the number of each, with its shard.
///
/// # Errors
/// [`Error::Invalid`] if they are more than one operation can leave, so that the manifest and its seal are
/// older copies; the first shard that cannot be read.
pub fn unpublished(cluster: &Cluster) -> Result<Vec<(usize, u64)>> {
    let answers: Vec<Vec<(u64, String)>> = ask_all(cluster, &ShardTask::Unpublished, &Cancel::default())?;
    // What was published meanwhile is read last.
    let mut cluster = cluster.clone();
    cluster.reload()?;
    let mut found = Vec::new();
    for (shard, answer) in answers.iter().enumerate() {
        let versions = answer.iter().map(|(version, message)| (*version, &message[..]));
        found.extend(left_behind(&cluster, shard, versions)?.into_iter().map(|version| (shard, version)));
    }
    Ok(found)
}

/// Takes every shard back to the newest version of the whole. Returns the number of versions of shards that
/// were undone. The caller holds the lock of the cluster.
///
/// # Errors
/// Those of the disk; the first shard that cannot be opened or taken back. Those on other machines that can
/// be are.
pub fn roll_back(cluster: &Cluster) -> Result<usize> {
    // It has a number of its own, so that workers of the operation that failed leave the shards alone, should
    // they come back later.
    let mut cluster = cluster.clone();
    cluster.begin()?;
    let undone: Vec<usize> = ask_all(&cluster, &ShardTask::RollBack, &Cancel::default())?;
    Ok(undone.iter().sum())
}

/// What the weights of edges are; `None`: edges have none.
///
/// # Errors
/// Those of the first shard.
pub fn weights(cluster: &Cluster) -> Result<Option<WeightKind>> {
    ask_one(cluster, 0, &ShardTask::Weights, &Cancel::default())
}

#[cfg(test)]
mod tests {
    use esker_store::{Database, DatabaseOptions};

    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::disk::shard::message_of;
    use crate::net::handshake::{COMMAND, KEEPER, accept};
    use crate::process::control::{WorkerOrder, WorkerReport};

    /// Has a machine answer so when it is to make a shard. Returns the message of the command.
    fn answered_by(answer: Option<WorkerReport>) -> String {
        let (place, secret) = (tempfile::tempdir().expect("directory"), Secret::new([7; 32]));
        let bind = || TcpListener::bind("127.0.0.1:0").expect("bind");
        let (keeping, working) = (bind(), bind());
        let port = |listener: &TcpListener| listener.local_addr().expect("address").port();
        let (keeper_port, worker_port) = (port(&keeping), port(&working));
        let machine = std::thread::spawn(move || {
            let until = Instant::now() + Duration::from_secs(5);
            let come = |listener, index| {
                accept(listener, &secret, &[index], until, || Ok(())).expect("connected").remove(0)
            };
            let keeper = come(&keeping, KEEPER);
            WorkerOrder::receive(keeper.stream()).expect("to start a worker");
            WorkerReport::Listening(worker_port).send(keeper.stream()).expect("send");
            let line = come(&working, COMMAND);
            WorkerOrder::receive(line.stream()).expect("to make a shard");
            answer.iter().for_each(|answer| answer.send(line.stream()).expect("send"));
        });
        let hosts = crate::net::hosts::parse_hosts("f", &format!("127.0.0.1:{keeper_port} a/b"), "c");
        let options = CreateOptions::plain(1);
        let created = create_on(&place.path().join("c"), &options, &hosts.expect("hosts").list, secret);
        machine.join().expect("thread");
        created.expect_err("no shard").to_string().replace(&keeper_port.to_string(), "PORT")
    }

    /// The shard stayed, and nothing said so.
    #[test]
    fn a_shard_whose_machine_did_not_answer_is_named() {
        let message = answered_by(None);
        assert!(message.contains("the worker of shard 0 on 127.0.0.1:PORT is lost"), "{message}");
        assert!(
            message.ends_with("; remove what was made: a/b on 127.0.0.1:PORT (if it is there)"),
            "{message}"
        );
        let message = answered_by(Some(WorkerReport::failed(&Error::invalid("no room"))));
        assert!(message.ends_with("the worker of shard 0 on 127.0.0.1:PORT: no room"), "{message}");
    }

    #[test]
    fn versions_that_are_not_of_the_whole_are_undone_and_foreign_ones_refused() {
        let place = tempfile::tempdir().expect("directory");
        let options = CreateOptions::plain(2);
        let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
        let commit = |message: &str| {
            let database = Database::open(cluster.shard_path(1), DatabaseOptions::default()).expect("open");
            let mut batch = database.batch();
            batch.add_edge(1_u64, 2_u64, &[]).expect("edge");
            database.commit(batch, message).expect("commit");
            database.close().expect("close");
        };
        commit(&message_of(2, "add x"));
        assert_eq!(unpublished(&cluster).expect("of one operation"), [(1, 2)]);
        commit(&message_of(3, "add y"));
        let message = unpublished(&cluster).expect_err("of two operations").to_string();
        assert!(
            message.contains("they end with version 1") && message.contains("cluster version 3"),
            "{message}"
        );
        assert_eq!(roll_back(&cluster).expect("roll back"), 2);
        assert_eq!(unpublished(&cluster).expect("nothing left"), []);
        let version = cluster.open_shard(1).and_then(|store| store.latest()).expect("open");
        assert_eq!((version.num_vertices(), version.num_edges(), version.number()), (0, 0, 1));
        assert_eq!(roll_back(&cluster).expect("nothing left to undo"), 0);
        commit("by hand");
        let message = roll_back(&cluster).expect_err("foreign").to_string();
        assert!(
            message.contains("changed outside of the cluster") && message.contains("undo it with `forget "),
            "{message}"
        );
    }
}
