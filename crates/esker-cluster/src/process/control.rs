//! Messages between the command, its worker processes, and those that start workers on other machines: a
//! length, a kind, and what belongs to it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use esker_format::{Error, Result};
use esker_graph::{Message, Stop};

use crate::change::apply::Prepared;
use crate::exchange::counters::WorkerCounters;
use crate::model::owner::OwnedId;
use crate::net::messages::{put_message, take_message};
use crate::net::wire::{Taker, put_bytes, put_id, put_u64, unknown};

/// The most bytes of a message: what a worker is told of a manifest with many versions is the longest.
const RECEIVED_BYTES_MAX: u32 = 1 << 30;

/// What a person has to do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Start again: a process or a connection was lost.
    Repeat,
    /// Correct the input.
    MendInput,
    /// Give other arguments.
    MendUsage,
    /// Raise the memory limit.
    RaiseMemory,
    /// What the message says of an input; the worker that met the mistake does not matter.
    AsSaid,
    /// Ask something that the graph can answer; which worker found out does not matter.
    MendQuestion,
    /// What the message says.
    Other,
}

impl Remedy {
    /// Of an error of the work itself.
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Input { line: Some(_), .. } => Self::MendInput,
            Error::Input { line: None, .. } => Self::AsSaid,
            Error::Usage(_) => Self::MendUsage,
            Error::Stop(Stop::OverBudget { .. }) => Self::RaiseMemory,
            Error::Stop(Stop::Unsuitable(_)) => Self::MendQuestion,
            _ => Self::Other,
        }
    }

    fn of_number(number: u8) -> Self {
        match number {
            0 => Self::Repeat,
            1 => Self::MendInput,
            2 => Self::MendUsage,
            3 => Self::RaiseMemory,
            4 => Self::AsSaid,
            5 => Self::MendQuestion,
            _ => Self::Other,
        }
    }
}

/// What a worker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkerReport {
    /// It listens on this port for the other workers.
    Listening(u16),
    /// It is alive.
    Beat,
    /// So many edges have been read by all workers.
    Progress(u64),
    /// How an input is read.
    Note(String),
    /// The version of its shard is durable.
    Prepared(Prepared),
    /// The outline of an answer.
    Outline(Vec<u8>),
    /// Rows of an answer.
    Rows(Vec<u8>),
    /// It is done, and this is what it counted.
    Done(WorkerCounters),
    /// It has failed, for this reason.
    Failed { remedy: Remedy, reason: Message },
    /// It has lost the connection to another worker.
    PeerLost(String),
    /// It commits, and says nothing else until that is done.
    Committing,
    /// It has reported all that a version of the whole changed.
    Followed(u64),
    /// Of a worker on another machine, from what started it: it has ended, by a signal or not, and how.
    Ended(bool, String),
}

/// What the command says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkerOrder {
    /// Connect to the other workers, which listen at these addresses, take the number of the operation and a
    /// part of the manifest, and do a job.
    Start(Vec<SocketAddr>, u64, Vec<u8>, Vec<u8>),
    /// The version of the whole is published.
    Published,
    /// Commit what was read of a stream, or follow no further, and end.
    Stop,
    /// Follow to this version of the whole, after taking what was published.
    Advance(u64, Vec<u8>),
    /// To what starts workers on another machine: start one for this shard, in this directory.
    Hold(usize, String),
}

impl WorkerReport {
    /// That it has failed with this error.
    pub(crate) fn failed(error: &Error) -> Self {
        Self::Failed { remedy: Remedy::of(error), reason: error.message() }
    }

    pub(crate) fn send(&self, stream: &TcpStream) -> std::io::Result<()> {
        let (kind, content) = match self {
            Self::Listening(port) => (0, u64::from(*port).to_le_bytes().to_vec()),
            Self::Beat => (1, Vec::new()),
            Self::Progress(edges) => (2, edges.to_le_bytes().to_vec()),
            Self::Prepared(prepared) => {
                let mut content = Vec::new();
                put_u64(&mut content, prepared.shard_version);
                put_u64(&mut content, prepared.edges_given);
                put_u64(&mut content, u64::from(prepared.mark.is_some()));
                put_u64(&mut content, prepared.mark.unwrap_or(0));
                for id in &prepared.delegates {
                    content.push(u8::from(matches!(id, OwnedId::Text(_))));
                    put_id(&mut content, id.as_id());
                }
                (3, content)
            }
            Self::Outline(outline) => (4, outline.clone()),
            Self::Rows(rows) => (5, rows.clone()),
            Self::Done(counters) => (6, counters.encode()),
            Self::Failed { remedy, reason } => {
                let mut content = vec![*remedy as u8];
                put_message(&mut content, reason);
                (7, content)
            }
            Self::PeerLost(reason) => (8, reason.clone().into_bytes()),
            Self::Committing => (9, Vec::new()),
            Self::Followed(version) => (10, version.to_le_bytes().to_vec()),
            Self::Note(note) => (12, note.clone().into_bytes()),
            Self::Ended(is_signal, how) => (11, [&[u8::from(*is_signal)], how.as_bytes()].concat()),
        };
        send(stream, kind, &content)
    }

    pub(crate) fn receive(stream: &TcpStream) -> Result<Self> {
        let (kind, content) = receive(stream)?;
        let text = || String::from_utf8_lossy(&content).into_owned();
        let mut taker = Taker(&content);
        Ok(match kind {
            0 => Self::Listening(taker.u64()? as u16),
            1 => Self::Beat,
            2 => Self::Progress(taker.u64()?),
            3 => {
                let (shard_version, edges_given) = (taker.u64()?, taker.u64()?);
                let (has_mark, mark) = (taker.u64()? != 0, taker.u64()?);
                let (mark, mut delegates) = (Some(mark).filter(|_| has_mark), Vec::new());
                while !taker.is_empty() {
                    let is_text = taker.bytes(1)?[0] != 0;
                    delegates.push(taker.id(is_text)?.into());
                }
                Self::Prepared(Prepared { shard_version, edges_given, mark, delegates })
            }
            4 => Self::Outline(content),
            5 => Self::Rows(content),
            6 => Self::Done(WorkerCounters::decode(&content)?),
            7 => {
                let remedy = Remedy::of_number(taker.bytes(1)?[0]);
                Self::Failed { remedy, reason: take_message(&mut taker)? }
            }
            8 => Self::PeerLost(text()),
            9 => Self::Committing,
            10 => Self::Followed(taker.u64()?),
            11 => {
                let is_signal = taker.bytes(1)?[0] != 0;
                Self::Ended(is_signal, String::from_utf8_lossy(taker.0).into_owned())
            }
            12 => Self::Note(text()),
            _ => return Err(unknown(kind)),
        })
    }
}

impl WorkerOrder {
    pub(crate) fn send(&self, stream: &TcpStream) -> std::io::Result<()> {
        match self {
            Self::Start(addresses, epoch, manifest, job) => {
                let mut content = (addresses.len() as u32).to_le_bytes().to_vec();
                for address in addresses {
                    put_bytes(&mut content, address.to_string().as_bytes());
                }
                put_u64(&mut content, *epoch);
                put_bytes(&mut content, manifest);
                content.extend_from_slice(job);
                send(stream, 0, &content)
            }
            Self::Published => send(stream, 1, &[]),
            Self::Stop => send(stream, 2, &[]),
            Self::Advance(whole, news) => send(stream, 3, &[&whole.to_le_bytes()[..], news].concat()),
            Self::Hold(shard, directory) => {
                send(stream, 4, &[&(*shard as u64).to_le_bytes()[..], directory.as_bytes()].concat())
            }
        }
    }

    pub(crate) fn receive(stream: &TcpStream) -> Result<Self> {
        let (kind, content) = receive(stream)?;
        let mut taker = Taker(&content);
        Ok(match kind {
            0 => {
                let count = taker.u32()?;
                let mut address = || {
                    let text = taker.text()?;
                    text.parse().map_err(|_| Error::invalid(format!("{text:?} is no address of a worker")))
                };
                let addresses = (0..count).map(|_| address()).collect::<Result<_>>()?;
                let (epoch, manifest) = (taker.u64()?, taker.counted()?.to_vec());
                Self::Start(addresses, epoch, manifest, taker.0.to_vec())
            }
            1 => Self::Published,
            2 => Self::Stop,
            3 => Self::Advance(taker.u64()?, taker.0.to_vec()),
            4 => Self::Hold(taker.u64()? as usize, String::from_utf8_lossy(taker.0).into_owned()),
            _ => return Err(unknown(kind)),
        })
    }
}

fn send(mut stream: &TcpStream, kind: u8, content: &[u8]) -> std::io::Result<()> {
    if content.len() > RECEIVED_BYTES_MAX as usize {
        return Err(std::io::Error::other("a message between processes is longer than 1 GiB"));
    }
    let mut message = (content.len() as u32).to_le_bytes().to_vec();
    message.push(kind);
    message.extend_from_slice(content);
    stream.write_all(&message)
}

fn receive(mut stream: &TcpStream) -> Result<(u8, Vec<u8>)> {
    let lost = |error: std::io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Error::invalid("it does not answer".to_owned()),
        _ => Error::invalid(format!("the connection ended: {error}")),
    };
    let mut head = [0; 5];
    stream.read_exact(&mut head).map_err(lost)?;
    let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    if len > RECEIVED_BYTES_MAX {
        return Err(Error::invalid(format!(
            "a message between processes states {len} bytes: all must run the same Esker"
        )));
    }
    let mut content = vec![0; len as usize];
    stream.read_exact(&mut content).map_err(lost)?;
    Ok((head[4], content))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

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
            WorkerReport::Note("a.csv: edges as CSV".to_owned()),
            WorkerReport::Prepared(prepared.clone()),
            WorkerReport::Prepared(Prepared { mark: Some(u64::MAX), ..prepared }),
            WorkerReport::Prepared(hubs),
            WorkerReport::Prepared(texts),
            WorkerReport::Committing,
            WorkerReport::Followed(1 << 50),
            WorkerReport::Outline(vec![1, 2]),
            WorkerReport::Rows(Vec::new()),
            WorkerReport::Done(WorkerCounters {
                messages: 3,
                sent_bytes: 1 << 33,
                ..WorkerCounters::default()
            }),
            WorkerReport::Failed { remedy: Remedy::Repeat, reason: "no".to_owned().into() },
            WorkerReport::Failed { remedy: Remedy::MendInput, reason: String::new().into() },
            WorkerReport::Failed { remedy: Remedy::MendUsage, reason: "no".to_owned().into() },
            WorkerReport::Failed { remedy: Remedy::RaiseMemory, reason: "no".to_owned().into() },
            WorkerReport::Failed { remedy: Remedy::AsSaid, reason: "no".to_owned().into() },
            WorkerReport::Failed { remedy: Remedy::MendQuestion, reason: "no".to_owned().into() },
            WorkerReport::Failed { remedy: Remedy::Other, reason: "no".to_owned().into() },
            WorkerReport::PeerLost("gone".to_owned()),
            WorkerReport::Ended(true, "was killed".to_owned()),
            WorkerReport::Ended(false, String::new()),
        ];
        for report in reports {
            report.send(&here).expect("send");
            assert_eq!(WorkerReport::receive(&there).expect("receive"), report);
        }
        let addresses = ["10.0.0.1:1", "[::1]:65535"].map(|address| address.parse().expect("address"));
        let start = WorkerOrder::Start(addresses.to_vec(), u64::MAX, b"manifest".to_vec(), b"job".to_vec());
        let hold = WorkerOrder::Hold(3, "a/b".to_owned());
        for order in
            [start, hold, WorkerOrder::Published, WorkerOrder::Stop, WorkerOrder::Advance(7, vec![1, 2])]
        {
            order.send(&there).expect("send");
            assert_eq!(WorkerOrder::receive(&here).expect("receive"), order);
        }
        (&there).write_all(&[0, 0, 0, 0, 99]).expect("send");
        assert!(WorkerReport::receive(&here).expect_err("unknown").to_string().contains("unknown kind 99"));
        drop(there);
        assert!(WorkerReport::receive(&here).is_err());
    }
}
