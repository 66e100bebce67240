//! Listens to all workers of an operation, and finds out which one failed first.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use esker_format::{Error, ErrorKind, Reported, Result};
use esker_graph::message;

use crate::exchange::counters::WorkerCounters;
use crate::process::children::Workers;
use crate::process::control::WorkerReport;

/// How often the command looks at what is not reported.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// How long the command listens for the first cause of a failure.
const GRACE: Duration = Duration::from_millis(300);
/// Time of one tick that counts as silence, at most: if the command itself was stopped, its workers are not
/// to blame.
const TICK_MAX: Duration = Duration::from_millis(250);
/// If connections between workers are lost, one that said nothing for so long is the cause: it missed several
/// signs of life.
const DOUBTFUL_SILENCE: Duration = Duration::from_millis(1500);

/// Listens to all workers.
pub(crate) struct Watch {
    pub(crate) children: Workers,
    reports: Receiver<(usize, Option<WorkerReport>)>,
    /// What those that are done counted.
    pub(crate) done: Vec<Option<WorkerCounters>>,
    /// Which have said why they end.
    explained: Vec<bool>,
    silent: Vec<Duration>,
    last: Instant,
}

/// Why an operation ends, and how much that explains: the greater the nearer to the cause.
pub(crate) struct EndReason {
    weight: u8,
    reported: Reported,
}

impl EndReason {
    /// A process or a connection was lost.
    fn lost(weight: u8, message: String) -> Self {
        Self { weight, reported: Reported { kind: ErrorKind::ProcessLost, message: message.into() } }
    }
}

impl From<EndReason> for Error {
    fn from(reason: EndReason) -> Self {
        Self::Reported(reason.reported)
    }
}

impl Watch {
    pub(crate) fn new(children: Workers) -> Result<Self> {
        let (sender, reports) = channel();
        for (shard, line) in children.lines().into_iter().enumerate() {
            let failed =
                |error: std::io::Error| Error::invalid(format!("cannot listen to a worker: {error}"));
            let (line, sender) = (line.try_clone().map_err(failed)?, sender.clone());
            let listen = move || {
                while let Ok(report) = WorkerReport::receive(&line) {
                    if sender.send((shard, Some(report))).is_err() {
                        return;
                    }
                }
                let _ = sender.send((shard, None));
            };
            Builder::new().spawn(listen).map_err(failed)?;
        }
        let len = children.lines().len();
        Ok(Self {
            children,
            reports,
            done: vec![None; len],
            explained: vec![false; len],
            silent: vec![Duration::ZERO; len],
            last: Instant::now(),
        })
    }

    /// The next report, if there is one within a tick; a reason if a worker has failed.
    pub(crate) fn next(
        &mut self,
        silence: Duration,
        tick: Duration,
    ) -> std::result::Result<Option<(usize, WorkerReport)>, EndReason> {
        self.expect_signs(silence)?;
        let received = self.reports.recv_timeout(tick);
        let passed = self.last.elapsed().min(TICK_MAX);
        self.last = Instant::now();
        self.silent.iter_mut().for_each(|silent| *silent += passed);
        match received {
            Ok((shard, Some(report))) => {
                self.silent[shard] = Duration::ZERO;
                self.heard(shard, report).map(|report| Some((shard, report)))
            }
            Ok((shard, None)) if self.done[shard].is_none() && !self.explained[shard] => {
                Err(EndReason::lost(1, format!("{} ended without a word", self.children.name(shard))))
            }
            Ok((_, None)) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                // The workers that are done have ended, and no others are left.
                std::thread::sleep(TICK);
                Ok(None)
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }

    /// Takes note of a report; a reason if it is one.
    fn heard(&mut self, shard: usize, report: WorkerReport) -> std::result::Result<WorkerReport, EndReason> {
        let name = self.children.name(shard);
        self.explained[shard] |= matches!(report, WorkerReport::Failed(_) | WorkerReport::PeerLost(_));
        match report {
            WorkerReport::Failed(Reported { kind, message }) => {
                let message = match (kind, &self.children) {
                    // Which worker met a mistake of the user does not matter, but where its files are does.
                    (ErrorKind::Usage | ErrorKind::Unsuitable | ErrorKind::VertexNotFound, _)
                    | (ErrorKind::Input | ErrorKind::InputLine | ErrorKind::FileNotFound, Workers::Here(_)) => {
                        message
                    }
                    (
                        ErrorKind::Input | ErrorKind::InputLine | ErrorKind::FileNotFound,
                        Workers::There(_),
                    ) => {
                        message![format!("{name}: "), message]
                    }
                    _ => message![format!("{name} failed: "), message],
                };
                Err(EndReason { weight: 2, reported: Reported { kind, message } })
            }
            WorkerReport::PeerLost(peer) => {
                Err(EndReason::lost(0, format!("{name} lost the connection to {peer}")))
            }
            WorkerReport::Done(counters) => {
                self.done[shard] = Some(counters);
                Ok(WorkerReport::Done(counters))
            }
            report => Ok(report),
        }
    }

    /// A reason if a worker has not been heard for too long.
    fn expect_signs(&self, silence: Duration) -> std::result::Result<(), EndReason> {
        let is_silent = |shard: &usize| self.done[*shard].is_none() && self.silent[*shard] > silence;
        let Some(shard) = (0..self.silent.len()).find(is_silent) else { return Ok(()) };
        let (name, seconds) = (self.children.name(shard), silence.as_secs_f64());
        let why = match self.children {
            Workers::Here(_) => "it was stopped, or the machine is overloaded",
            Workers::There(_) => "it was stopped, or its machine is down, overloaded or cut off",
        };
        Err(EndReason::lost(3, format!("{name} has not answered for {seconds} s: {why}")))
    }

    /// Listens a moment longer, and returns the best of all reasons.
    pub(crate) fn first_cause(&mut self, mut best: EndReason) -> EndReason {
        let until = Instant::now() + GRACE;
        while best.weight < 3 && Instant::now() < until {
            if let Some(text) = self.children.killed() {
                return EndReason::lost(3, text);
            }
            if let Err(reason) = self.next(Duration::MAX, TICK)
                && reason.weight > best.weight
            {
                best = reason;
            }
        }
        // A worker that is stopped loses its connections too, once the others have sent more than the system
        // keeps. And the end of an encrypted connection does not say that it was cut.
        if best.weight <= 1
            && let Err(reason) = self.expect_signs(DOUBTFUL_SILENCE)
        {
            return reason;
        }
        best
    }
}
