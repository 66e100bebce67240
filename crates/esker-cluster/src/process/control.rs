//! Messages between the command, its worker processes, and those that start workers on other machines.

use std::net::{SocketAddr, TcpStream};

use esker_format::{Error, Reported, Result};
use esker_graph::Message;
use serde::{Deserialize, Serialize};

use crate::change::apply::Prepared;
use crate::disk::job::ClusterJob;
use crate::exchange::counters::WorkerCounters;
use crate::model::answer::Outline;
use crate::model::excerpt::{Excerpt, ManifestNews};
use crate::net::messages;

/// What a worker says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum WorkerReport {
    /// It listens on this port for the other workers.
    Listening(u16),
    /// It is alive.
    Beat,
    /// So many edges have been read by all workers.
    Progress(u64),
    /// How an input is read.
    Note(Message),
    /// The version of its shard is durable.
    Prepared(Prepared),
    /// The outline of an answer.
    Outline(Outline),
    /// Rows of an answer, or an answer of one shard: the block after the message.
    Rows(#[serde(skip)] Vec<u8>),
    /// What a check has found.
    Problem(String),
    /// It is done, and this is what it counted.
    Done(WorkerCounters),
    /// It has failed, for this reason.
    Failed(Reported),
    /// It has lost the connection to another worker.
    PeerLost(String),
    /// It commits, and says nothing else until that is done.
    Committing,
    /// It has reported all that a version of the whole changed.
    Followed(u64),
    /// Of a worker on another machine, from what started it: it has ended, by a signal or not, and how.
    Ended { is_signal: bool, how: String },
}

/// What the command says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum WorkerOrder {
    /// Do a job.
    Start(Box<StartOrder>),
    /// The version of the whole is published.
    Published,
    /// Commit what was read of a stream, or follow no further, and end.
    Stop,
    /// Follow to this version of the whole, after taking what was published.
    Advance(u64, ManifestNews),
    /// To what starts workers on another machine: start one for this shard, in this directory.
    Hold { shard: usize, directory: String },
}

/// What a worker needs to start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StartOrder {
    /// Where the other workers listen.
    pub(crate) addresses: Vec<SocketAddr>,
    /// The number of the operation; 0: it changes nothing.
    pub(crate) epoch: u64,
    /// A part of the manifest; `None`: there is no cluster yet, or will be none.
    pub(crate) manifest: Option<Excerpt>,
    pub(crate) job: ClusterJob,
}

impl WorkerReport {
    /// That it has failed with this error.
    pub(crate) fn failed(error: &Error) -> Self {
        Self::Failed(error.into())
    }

    pub(crate) fn send(&self, stream: &TcpStream) -> std::io::Result<()> {
        let block = if let Self::Rows(block) = self { block } else { &[][..] };
        messages::send(stream, self, block)
    }

    pub(crate) fn receive(stream: &TcpStream) -> Result<Self> {
        match messages::receive(stream)? {
            (Self::Rows(_), block) => Ok(Self::Rows(block)),
            (report, block) => without_block(report, &block),
        }
    }
}

impl WorkerOrder {
    pub(crate) fn send(&self, stream: &TcpStream) -> std::io::Result<()> {
        messages::send(stream, self, &[])
    }

    pub(crate) fn receive(stream: &TcpStream) -> Result<Self> {
        let (order, block) = messages::receive(stream)?;
        without_block(order, &block)
    }
}

/// A message that no block may follow.
fn without_block<T>(message: T, block: &[u8]) -> Result<T> {
    match block {
        [] => Ok(message),
        _ => Err(messages::too_long(block.len())),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::disk::creating::CreateOptions;
    use crate::disk::job::ShardTask;
    use crate::model::answer::ColumnKind;
    use crate::model::owner::OwnedId;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let here = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
        let (there, _) = listener.accept().expect("accept");
        let prepared =
            Prepared { shard_version: 4, edges_given: u64::MAX, mark: None, delegates: Vec::new() };
        let delegates = vec![OwnedId::Int(7), OwnedId::Int(u64::MAX)];
        let hubs = Prepared { delegates, ..prepared.clone() };
        let texts = Prepared { delegates: vec![OwnedId::Text(b"a".into())], ..prepared.clone() };
        let reports = [
            WorkerReport::Listening(65535),
            WorkerReport::Beat,
            WorkerReport::Progress(1 << 40),
            WorkerReport::Note("a.csv: edges as CSV".into()),
            WorkerReport::Prepared(prepared.clone()),
            WorkerReport::Prepared(Prepared { mark: Some(u64::MAX), ..prepared }),
            WorkerReport::Prepared(hubs),
            WorkerReport::Prepared(texts),
            WorkerReport::Committing,
            WorkerReport::Followed(1 << 50),
            WorkerReport::Outline(
                Outline::new(&[("depth", ColumnKind::Count)], 7).with_fact("reached", 12.5),
            ),
            WorkerReport::Rows(Vec::new()),
            WorkerReport::Rows(vec![7; 1 << 16]),
            WorkerReport::Problem("a ghost".to_owned()),
            WorkerReport::Done(WorkerCounters {
                messages: 3,
                sent_bytes: 1 << 33,
                ..WorkerCounters::default()
            }),
            WorkerReport::failed(&Error::usage("no")),
            WorkerReport::failed(&Error::invalid(String::new())),
            WorkerReport::PeerLost("gone".to_owned()),
            WorkerReport::Ended { is_signal: true, how: "was killed".to_owned() },
            WorkerReport::Ended { is_signal: false, how: String::new() },
        ];
        for report in reports {
            report.send(&here).expect("send");
            assert_eq!(WorkerReport::receive(&there).expect("receive"), report);
        }
        let addresses = ["10.0.0.1:1", "[::1]:65535"].map(|address| address.parse().expect("address"));
        let job = ClusterJob::Shard(ShardTask::Create(CreateOptions::plain(1)));
        let start = StartOrder { addresses: addresses.to_vec(), epoch: u64::MAX, manifest: None, job };
        for order in [
            WorkerOrder::Start(Box::new(start)),
            WorkerOrder::Hold { shard: 3, directory: "a/b".to_owned() },
            WorkerOrder::Published,
            WorkerOrder::Stop,
            WorkerOrder::Advance(7, ManifestNews::default()),
        ] {
            order.send(&there).expect("send");
            assert_eq!(WorkerOrder::receive(&here).expect("receive"), order);
        }
        let refused = |block: &[u8]| {
            messages::send(&there, &WorkerReport::Beat, block).expect("send");
            WorkerReport::receive(&here).expect_err("rows without a message").to_string()
        };
        assert!(refused(&[1, 2]).contains("goes on for 2 bytes after its end"));
        messages::send(&there, &99_u8, &[]).expect("send");
        assert!(WorkerReport::receive(&here).expect_err("unknown").to_string().contains("an unknown kind"));
        drop(there);
        assert!(WorkerReport::receive(&here).is_err());
    }
}
