//! A stream into a cluster whose processes, connections and disks fail in any order, from a seed.
//!
//! What runs is the code of the protocol: [`Rounds`] in the workers, [`Publishing`], [`left_behind`] and
//! [`position_of`] in the command, the [`Cluster`] with its manifest on a faulty disk, and [`fence::enter`]
//! and [`expect_own`] where a shard is taken back. In place of sockets and threads there are queues and a
//! scheduler, which does one thing at a time: it lets a process take a step, lets a message arrive, or has
//! something fail. So messages are delayed and those of different connections reordered. Of what was sent on
//! a connection that is cut, any part is lost. Processes are killed, frozen, cut off and started again at any
//! step. The power of the command's machine fails, which loses what was not synced. In place of databases
//! there are lists of versions that keep the promises of one: a commit is durable once it has returned, and
//! one under way when its process is killed is there or not.
//!
//! After each failure and each operation the versions of the whole are compared with a model: [`held`].
//!
//! `ESKER_TEST_RUNS` sets the number of runs.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, Faults, FaultyDisk, Lock};
use esker_format::{DatabaseId, VersionRecord};

use super::Random;
use crate::change::apply::Prepared;
use crate::change::publishing::{Publishing, left_behind, position_of};
use crate::disk::cluster::Cluster;
use crate::disk::fence;
use crate::disk::job::{ChangeJob, StreamJob, stream_position};
use crate::disk::shard::{expect_own, message_of};
use crate::exchange::outbox::ReadBlocks;
use crate::exchange::rounds::{ChangeStep, Rounds};
use crate::model::manifest::{ClusterManifest, WholeVersion};

const PLACE: &str = "/c";
/// A run with more steps makes no progress.
const STEPS_MAX: u32 = 30_000;

/// The edges of a stream that a shard has to hold when a version has the first ones: each once.
fn held(position: u64, shard: usize, shards: usize) -> Vec<u64> {
    (0..position).filter(|edge| owner(*edge, shards) == shard).collect()
}

fn owner(edge: u64, shards: usize) -> usize {
    (edge * 7 / 3) as usize % shards
}

/// One direction of a connection.
struct Channel<T> {
    sent: VecDeque<T>,
    arrived: VecDeque<T>,
    /// Whether nothing more can be sent.
    is_cut: bool,
    /// Whether the receiver knows that.
    is_closed: bool,
}

impl<T> Default for Channel<T> {
    fn default() -> Self {
        Self { sent: VecDeque::new(), arrived: VecDeque::new(), is_cut: false, is_closed: false }
    }
}

impl<T> Channel<T> {
    fn send(&mut self, message: T) {
        if !self.is_cut {
            self.sent.push_back(message);
        }
    }

    /// Cuts the channel; only so many messages on the way still arrive.
    fn cut(&mut self, kept: usize) {
        if !self.is_cut {
            self.is_cut = true;
            self.sent.truncate(kept);
        }
    }

    fn has_news(&self) -> bool {
        !self.sent.is_empty() || self.is_cut && !self.is_closed
    }

    fn deliver(&mut self) {
        match self.sent.pop_front() {
            Some(message) => self.arrived.push_back(message),
            None => self.is_closed = self.is_cut,
        }
    }
}

/// A database as its promises have it.
#[derive(Default)]
struct Shard {
    versions: Vec<(VersionRecord, Vec<u64>)>,
    last_number: u64,
    /// The worker that has it open.
    holder: Option<usize>,
}

impl Shard {
    fn commit(&mut self, message: String, edges: Vec<u64>) -> u64 {
        self.last_number += 1;
        let (number, count) = (self.last_number, edges.len() as u64);
        let (time_ms, committed_ms, num_vertices, num_arcs, num_loops) = (0, 0, 0, count, 0);
        let record = VersionRecord {
            number,
            time_ms,
            committed_ms,
            message,
            commit: 0,
            num_vertices,
            num_edges: count,
            num_arcs,
            num_loops,
        };
        self.versions.push((record, edges));
        number
    }

    fn newest(&self) -> u64 {
        self.versions.last().map_or(0, |(version, _)| version.number)
    }

    fn records(&self) -> Vec<VersionRecord> {
        self.versions.iter().map(|(version, _)| version.clone()).collect()
    }

    /// Takes the shard back, as `open_at_newest` does.
    fn take_back(&mut self, wanted: u64) {
        let records = self.records();
        assert!(records.iter().any(|version| version.number == wanted), "a version of the whole is lost");
        let undone = expect_own(Path::new("shard"), &records, wanted).expect("only the cluster writes here");
        self.versions.retain(|(version, _)| !undone.contains(&version.number));
    }

    /// The edges that it has at a version, in order.
    fn edges_at(&self, number: u64) -> Option<Vec<u64>> {
        self.versions.iter().find(|(version, _)| version.number == number)?;
        let until = self.versions.iter().filter(|(version, _)| version.number <= number);
        let mut edges: Vec<u64> = until.flat_map(|(_, edges)| edges.iter().copied()).collect();
        edges.sort_unstable();
        Some(edges)
    }
}

/// What a worker tells the command.
enum Said {
    Prepared(Prepared),
    Done,
    Failed,
}

/// What the command tells a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Published,
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Starting,
    Working,
    /// It has sent its blocks.
    Exchanging,
    /// Its commit is under way.
    Committing,
    /// It has reported a part.
    Waiting,
}

struct Worker {
    operation: u64,
    epoch: u64,
    shard: usize,
    /// The newest version of the whole when it began, and that of its shard.
    base: (u64, u64),
    doing: Doing,
    is_frozen: bool,
    /// Whether nobody can reach it, so that it learns nothing and is not killed.
    is_cut_off: bool,
    is_stopping: bool,
    rounds: Rounds,
    batch: Vec<u64>,
    commits: u64,
    /// How far the first worker has read the stream.
    position: u64,
    orders: Channel<Told>,
    /// From each worker of the operation.
    blocks: Vec<Channel<Block>>,
}

type Block = (ReadBlocks, Vec<u64>);

/// The command, while it changes the cluster.
struct Operation {
    number: u64,
    cluster: Cluster,
    lock: Box<dyn Lock>,
    publishing: Publishing,
    /// From each worker.
    reports: Vec<Channel<Said>>,
    is_done: Vec<bool>,
    /// Whether it was interrupted.
    is_stopped: bool,
}

struct Simulation {
    random: Random,
    disk: FaultyDisk,
    shards: Vec<Shard>,
    /// All processes that were started; also of operations whose command is gone, some are alive.
    workers: Vec<Option<Worker>>,
    operation: Option<Operation>,
    operations: u64,
    /// Length of the stream.
    edges: u64,
    failures_left: u64,
    /// The versions that a command or a worker was told of, with their messages.
    acknowledged: BTreeSet<(u64, String)>,
    is_over: bool,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Start,
    Command,
    Worker(usize),
    Orders(usize),
    Reports(usize),
    Blocks(usize, usize),
    Return(usize),
    Fail,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let shards = 1 + random.below(4) as usize;
        let disk = FaultyDisk::new(seed);
        let place = Path::new(PLACE);
        disk.create_directory(place).and_then(|()| disk.sync_directory(Path::new("/"))).expect("create");
        let versions = vec![WholeVersion {
            number: 1,
            time_ms: 0,
            edges_given: 0,
            message: "create".to_owned(),
            shards: vec![1; shards],
        }];
        let manifest = ClusterManifest {
            id: DatabaseId([1; 16]),
            seed,
            directed: true,
            text_ids: false,
            shards: vec![DatabaseId([2; 16]); shards],
            versions,
            edges_before: 0,
            hub_degree: 0,
            delegates: Vec::new(),
        };
        manifest.write(&disk, place).expect("write");
        let mut made: Vec<Shard> = (0..shards).map(|_| Shard::default()).collect();
        for shard in &mut made {
            shard.commit("create".to_owned(), Vec::new());
        }
        let (edges, failures_left) = (random.below(40), random.below(8));
        Self {
            random,
            disk,
            shards: made,
            workers: Vec::new(),
            operation: None,
            operations: 0,
            edges,
            failures_left,
            acknowledged: BTreeSet::new(),
            is_over: false,
        }
    }

    fn run(&mut self) {
        let mut steps = 0;
        while !self.is_over {
            steps += 1;
            assert!(steps < STEPS_MAX, "no progress: {:?}", self.events());
            let events = self.events();
            let event = events[self.random.below(events.len() as u64) as usize];
            // Else all would fail before anything is published.
            if !matches!(event, Event::Fail) || self.random.below(4) == 0 {
                self.happen(event);
            }
        }
        let manifest = self.expect_whole();
        assert_eq!(position_of(&manifest, &stream()).0, self.edges, "the stream was read to its end");
        for (shard, wanted) in self.shards.iter().zip(&manifest.newest().shards) {
            assert_eq!(shard.newest(), *wanted, "nothing is left that no version of the whole has");
        }
    }

    /// What may happen next.
    fn events(&self) -> Vec<Event> {
        let mut events = vec![if self.operation.is_some() { Event::Command } else { Event::Start }];
        for (number, worker) in self.workers.iter().enumerate() {
            let Some(worker) = worker else { continue };
            if !worker.is_frozen || worker.orders.is_closed {
                events.push(Event::Worker(number));
            }
            if worker.is_cut_off {
                events.push(Event::Return(number));
                continue;
            }
            events.extend(worker.orders.has_news().then_some(Event::Orders(number)));
            let has_blocks = worker.blocks.iter().enumerate().filter(|(_, line)| line.has_news());
            events.extend(has_blocks.map(|(from, _)| Event::Blocks(number, from)));
        }
        let reports = self.operation.iter().flat_map(|operation| operation.reports.iter().enumerate());
        events.extend(reports.filter(|(_, line)| line.has_news()).map(|(shard, _)| Event::Reports(shard)));
        events.extend((self.failures_left > 0).then_some(Event::Fail));
        events
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Start => self.start(),
            Event::Command => self.step_command(),
            Event::Worker(number) => self.step_worker(number),
            Event::Orders(number) => {
                self.workers[number].iter_mut().for_each(|worker| worker.orders.deliver());
            }
            Event::Blocks(number, from) => {
                self.workers[number].iter_mut().for_each(|worker| worker.blocks[from].deliver());
            }
            Event::Reports(shard) => {
                self.operation.iter_mut().for_each(|operation| operation.reports[shard].deliver());
            }
            Event::Return(number) if self.is_free_for(number) && self.random.below(4) == 0 => {
                let returned = self.workers[number].iter_mut();
                returned.for_each(|worker| (worker.is_frozen, worker.is_cut_off) = (false, false));
                // Before it learns anything.
                self.step_worker(number);
            }
            Event::Return(_) => {}
            Event::Fail => {
                self.failures_left -= 1;
                self.fail();
                self.expect_whole();
            }
        }
    }

    /// Whether no other worker than this one has its shard open.
    fn is_free_for(&self, number: usize) -> bool {
        let shard = self.workers[number].as_ref().map(|worker| &self.shards[worker.shard]);
        shard.and_then(|shard| shard.holder).is_none_or(|holder| holder == number)
    }

    fn start(&mut self) {
        let disk: Arc<dyn Disk> = Arc::new(self.disk.clone());
        let mut cluster = Cluster::open_on(disk, Path::new(PLACE)).expect("open");
        let lock = cluster.lock().expect("no other command is alive");
        self.expect_sealed(&cluster);
        self.acknowledge(cluster.manifest());
        for (number, shard) in self.shards.iter().enumerate() {
            let records = shard.records();
            let versions = records.iter().map(|version| (version.number, &version.message[..]));
            left_behind(&cluster, number, versions).expect("the manifest is no older copy");
        }
        let mut stream = stream();
        (stream.passed, stream.mark) = position_of(cluster.manifest(), &stream);
        let (newest, shards) = (cluster.manifest().newest(), self.shards.len());
        self.operations += 1;
        for shard in 0..shards {
            self.workers.push(Some(Worker {
                operation: self.operations,
                epoch: cluster.epoch(),
                shard,
                base: (newest.number, newest.shards[shard]),
                doing: Doing::Starting,
                is_frozen: false,
                is_cut_off: false,
                is_stopping: false,
                rounds: Rounds::new(0),
                batch: Vec::new(),
                commits: 0,
                position: stream.passed,
                orders: Channel::default(),
                blocks: (0..shards).map(|_| Channel::default()).collect(),
            }));
        }
        let publishing = Publishing::new(&ChangeJob { stream: Some(stream), ..ChangeJob::default() }, shards);
        let reports = (0..shards).map(|_| Channel::default()).collect();
        let (number, is_done) = (self.operations, vec![false; shards]);
        self.operation =
            Some(Operation { number, cluster, lock, publishing, reports, is_done, is_stopped: false });
    }

    /// The workers of the operation that are alive.
    fn own_workers(&self) -> Vec<usize> {
        let current = self.operation.as_ref().map(|operation| operation.number);
        let is_own =
            |worker: &Option<Worker>| worker.as_ref().is_some_and(|worker| Some(worker.operation) == current);
        (0..self.workers.len()).filter(|&number| is_own(&self.workers[number])).collect()
    }

    fn step_command(&mut self) {
        let Some(operation) = &mut self.operation else { return };
        if operation.is_done.iter().all(|is_done| *is_done) {
            let newest = position_of(operation.cluster.manifest(), &stream()).0;
            assert!(operation.is_stopped || newest == self.edges, "what was read is in a version");
            self.is_over = newest == self.edges && self.failures_left == 0;
            self.operation = None;
            return;
        }
        let shard = self.random.below(operation.reports.len() as u64) as usize;
        let line = &mut operation.reports[shard];
        match line.arrived.pop_front() {
            Some(Said::Prepared(part)) => self.publish(shard, part),
            Some(Said::Done) => operation.is_done[shard] = true,
            Some(Said::Failed) => self.end_operation(),
            None if line.is_closed && !operation.is_done[shard] => self.end_operation(),
            None => {
                let own = self.own_workers();
                let is_silent =
                    |number: &usize| self.workers[*number].as_ref().is_some_and(|one| one.is_frozen);
                if own.iter().any(is_silent) && self.random.below(16) == 0 {
                    self.end_operation();
                }
            }
        }
    }

    /// The command takes a part; its disk may fail, or its machine go down meanwhile.
    fn publish(&mut self, shard: usize, part: Prepared) {
        let Some(operation) = &mut self.operation else { return };
        let at = Some(1 + self.random.below(12));
        let fault = self.random.below(8);
        if fault < 2 && self.failures_left > 0 {
            self.failures_left -= 1;
            let faults = Faults::default();
            self.disk.set_faults(match fault {
                0 => Faults { fail_at: at, ..faults },
                _ => Faults { die_at: at, ..faults },
            });
        }
        let mut is_told = false;
        let taken = operation.publishing.take(&mut operation.cluster, shard, part, || is_told = true);
        self.disk.set_faults(Faults::default());
        assert_eq!(is_told, matches!(taken, Ok(Some(_))), "workers are told of what is published");
        match taken {
            Ok(None) => {}
            Ok(Some(_)) => {
                let manifest = operation.cluster.manifest().clone();
                self.acknowledge(&manifest);
                self.tell_all(&Told::Published);
            }
            Err(_) if fault == 1 => self.kill_command(),
            Err(_) => self.end_operation(),
        }
    }

    fn tell_all(&mut self, order: &Told) {
        for number in self.own_workers() {
            self.workers[number].iter_mut().for_each(|worker| worker.orders.send(*order));
        }
    }

    /// The command ends because of a failure: ends its workers as far as it can reach them, and takes the
    /// shards back.
    fn end_operation(&mut self) {
        let own = self.own_workers();
        let Some(Operation { mut cluster, lock, .. }) = self.operation.take() else { return };
        for number in own {
            let is_cut_off = self.workers[number].as_ref().is_some_and(|worker| worker.is_cut_off);
            match self.random.below(4) {
                1.. if !is_cut_off => self.kill(number),
                _ => self.workers[number].iter_mut().for_each(|worker| worker.orders.cut(0)),
            }
        }
        cluster.settle().expect("the disk is well again");
        self.expect_sealed(&cluster);
        self.acknowledge(cluster.manifest());
        for (shard, wanted) in self.shards.iter_mut().zip(&cluster.manifest().newest().shards) {
            // Of one that cannot be reached, the next command takes care.
            if shard.holder.is_none() && self.random.below(8) > 0 {
                shard.take_back(*wanted);
            }
        }
        drop(lock);
        self.expect_whole();
    }

    fn kill_command(&mut self) {
        for number in self.own_workers() {
            let kept = self.random.below(3) as usize;
            self.workers[number].iter_mut().for_each(|worker| worker.orders.cut(kept));
        }
        self.operation = None;
        if self.random.below(2) == 0 {
            self.disk.crash();
        }
        self.expect_whole();
    }

    fn step_worker(&mut self, number: usize) {
        let Some(mut worker) = self.workers[number].take() else { return };
        let is_lost = worker.blocks.iter().any(|line| line.is_closed);
        if worker.orders.is_closed || is_lost || !self.step_of(&mut worker, number) {
            let is_orphan = worker.orders.is_closed;
            self.workers[number] = Some(worker);
            if !is_orphan {
                self.report(number, Said::Failed);
            }
            self.kill(number);
        } else if worker.doing == Doing::Working && worker.rounds.next() == ChangeStep::Close {
            self.shards[worker.shard].holder = None;
            self.workers[number] = Some(worker);
            self.report(number, Said::Done);
            self.workers[number] = None;
        } else {
            self.workers[number] = Some(worker);
        }
    }

    fn report(&mut self, number: usize, said: Said) {
        let (Some(worker), Some(operation)) = (&self.workers[number], &mut self.operation) else { return };
        if worker.operation == operation.number {
            operation.reports[worker.shard].send(said);
        }
    }

    /// Has a worker do one thing; false: it fails.
    fn step_of(&mut self, worker: &mut Worker, number: usize) -> bool {
        match worker.doing {
            Doing::Starting => {
                if self.shards[worker.shard].holder.is_some() {
                    return false;
                }
                let place = Path::new(PLACE).join(format!("shard-{}", worker.shard));
                if fence::enter(&self.disk, &place, worker.epoch).is_err() {
                    return false;
                }
                self.shards[worker.shard].holder = Some(number);
                self.shards[worker.shard].take_back(worker.base.1);
                worker.doing = Doing::Working;
            }
            Doing::Working => match worker.rounds.next() {
                ChangeStep::Promote => self.send_blocks(worker, ReadBlocks::default(), &[]),
                ChangeStep::Exchange => {
                    let (head, edges) = self.read(worker);
                    self.send_blocks(worker, head, &edges);
                }
                ChangeStep::Commit => worker.doing = Doing::Committing,
                ChangeStep::Close => {}
            },
            Doing::Exchanging if worker.blocks.iter().all(|line| !line.arrived.is_empty()) => {
                let blocks: Vec<Block> =
                    worker.blocks.iter_mut().filter_map(|line| line.arrived.pop_front()).collect();
                worker.batch.extend(blocks.iter().flat_map(|(_, edges)| edges));
                let heads: Vec<ReadBlocks> = blocks.iter().map(|(head, _)| *head).collect();
                match worker.rounds.next() {
                    ChangeStep::Promote => worker.rounds.promoted(),
                    _ => worker.rounds.exchanged(&heads),
                }
                worker.doing = Doing::Working;
            }
            Doing::Committing => {
                let shard_version = self.commit(worker);
                let mark = (worker.shard == 0).then_some(worker.position);
                let (edges_given, delegates) = (worker.rounds.pending_edges(), Vec::new());
                let part = Prepared { shard_version, edges_given, mark, delegates };
                let operation = self.operation.as_mut().filter(|one| one.number == worker.operation);
                operation
                    .into_iter()
                    .for_each(|one| one.reports[worker.shard].send(Said::Prepared(part.clone())));
                worker.doing = Doing::Waiting;
            }
            Doing::Waiting => match worker.orders.arrived.pop_front() {
                Some(Told::Published) => {
                    worker.rounds.published();
                    worker.doing = Doing::Working;
                }
                Some(Told::Stop) => worker.is_stopping = true,
                None => {}
            },
            Doing::Exchanging => {}
        }
        true
    }

    /// Commits what a worker has; without edges its shard keeps its version.
    fn commit(&mut self, worker: &mut Worker) -> u64 {
        let shard = &mut self.shards[worker.shard];
        worker.commits += 1;
        if worker.batch.is_empty() {
            return shard.newest();
        }
        let message = message_of(worker.base.0 + worker.commits, "s");
        shard.commit(message, std::mem::take(&mut worker.batch))
    }

    /// What a worker has for a round: the first one reads the stream.
    fn read(&mut self, worker: &mut Worker) -> Block {
        worker.is_stopping |= matches!(worker.orders.arrived.front(), Some(Told::Stop));
        if worker.shard > 0 {
            let has_hub = self.random.below(16) == 0;
            let commits = has_hub || self.random.below(8) == 0;
            return (ReadBlocks { is_done: true, has_hub, commits, ..ReadBlocks::default() }, Vec::new());
        }
        if worker.is_stopping || worker.position == self.edges {
            return (ReadBlocks { is_done: true, commits: true, ..ReadBlocks::default() }, Vec::new());
        }
        let begin = worker.position;
        worker.position = self.edges.min(begin + 1 + self.random.below(3));
        let (edges, commits) = (worker.position - begin, self.random.below(3) == 0);
        (ReadBlocks { edges, commits, ..ReadBlocks::default() }, (begin..worker.position).collect())
    }

    /// Sends each worker of the operation the edges that it owns.
    fn send_blocks(&mut self, worker: &mut Worker, head: ReadBlocks, edges: &[u64]) {
        let (operation, from, shards) = (worker.operation, worker.shard, self.shards.len());
        let block_for = |shard: usize| {
            let own = edges.iter().copied().filter(|edge| owner(*edge, shards) == shard);
            (head, own.collect::<Vec<_>>())
        };
        for other in self.workers.iter_mut().flatten().filter(|other| other.operation == operation) {
            other.blocks[from].send(block_for(other.shard));
        }
        worker.blocks[from].arrived.push_back(block_for(from));
        worker.doing = Doing::Exchanging;
    }

    /// Ends a process; what it has sent may still arrive.
    fn kill(&mut self, number: usize) {
        let Some(mut worker) = self.workers[number].take() else { return };
        if worker.doing == Doing::Committing && self.random.below(2) == 0 {
            self.commit(&mut worker);
        }
        let shard = &mut self.shards[worker.shard];
        shard.holder = shard.holder.filter(|holder| *holder != number);
        let kept = self.random.below(3) as usize;
        for other in self.workers.iter_mut().flatten().filter(|other| other.operation == worker.operation) {
            other.blocks[worker.shard].cut(kept);
        }
        let operation = self.operation.iter_mut().filter(|one| one.number == worker.operation);
        operation.for_each(|one| one.reports[worker.shard].cut(kept));
    }

    fn fail(&mut self) {
        let alive: Vec<usize> = (0..self.workers.len()).filter(|&one| self.workers[one].is_some()).collect();
        let kept = self.random.below(3) as usize;
        let Some(&one) = alive.get(self.random.below(alive.len().max(1) as u64) as usize) else {
            return self.kill_command();
        };
        match self.random.below(12) {
            0 | 1 => self.kill(one),
            2 => self.workers[one].iter_mut().for_each(|worker| worker.is_frozen ^= true),
            3 => {
                // What starts workers on another machine loses the command, or its machine both.
                self.workers[one].iter_mut().for_each(|worker| worker.orders.cut(kept));
            }
            4 => {
                let from = self.random.below(self.shards.len() as u64) as usize;
                let ends = self.workers[one].as_ref().map(|worker| (worker.operation, worker.shard));
                let Some((operation, shard)) = ends.filter(|(_, shard)| *shard != from) else { return };
                for worker in self.workers.iter_mut().flatten().filter(|one| one.operation == operation) {
                    if worker.shard == shard {
                        worker.blocks[from].cut(kept);
                    } else if worker.shard == from {
                        worker.blocks[shard].cut(kept);
                    }
                }
            }
            5 => {
                let shard = self.random.below(self.shards.len() as u64) as usize;
                self.operation.iter_mut().for_each(|operation| operation.reports[shard].cut(kept));
            }
            6 => {
                self.operation.iter_mut().for_each(|operation| operation.is_stopped = true);
                self.tell_all(&Told::Stop);
            }
            7 | 8 => {
                let cut_off = self.workers[one].iter_mut();
                cut_off.for_each(|worker| (worker.is_frozen, worker.is_cut_off) = (true, true));
            }
            _ => self.kill_command(),
        }
    }

    fn acknowledge(&mut self, manifest: &ClusterManifest) {
        let versions = manifest.versions.iter().map(|version| (version.number, version.message.clone()));
        self.acknowledged.extend(versions);
    }

    /// The version that a command has just accepted is sealed.
    fn expect_sealed(&self, cluster: &Cluster) {
        let sealed = ClusterManifest::sealed(&self.disk, Path::new(PLACE)).expect("a seal");
        assert_eq!(sealed, cluster.manifest().newest().number, "the seal is that of the newest version");
    }

    /// Every version of the whole is on every shard, and has exactly what its message says; none that was
    /// acknowledged is gone.
    fn expect_whole(&self) -> ClusterManifest {
        let manifest = ClusterManifest::read(&self.disk, Path::new(PLACE)).expect("a whole manifest");
        let (mut given, mut found) = (0, BTreeSet::new());
        for version in &manifest.versions {
            given += version.edges_given;
            let position = stream_position(&version.message, "s").map_or(0, |(edges, _)| edges);
            assert_eq!(position, given, "the position is that of the edges: {version:?}");
            for (shard, (database, number)) in self.shards.iter().zip(&version.shards).enumerate() {
                let edges = database.edges_at(*number);
                let expected = held(position, shard, self.shards.len());
                assert_eq!(edges, Some(expected), "shard {shard} at {version:?}");
            }
            found.insert((version.number, version.message.clone()));
        }
        let lost: Vec<_> = self.acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "versions that were told are gone: {lost:?}");
        manifest
    }
}

/// The stream as a command is asked for it.
fn stream() -> StreamJob {
    StreamJob { name: Some("s".to_owned()), ..StreamJob::default() }
}

/// Says with which seed a run failed.
struct Seed(u64);

impl Drop for Seed {
    #[allow(clippy::print_stderr)]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the run with seed {} failed", self.0);
        }
    }
}

#[test]
fn streams_are_taken_exactly_once_whatever_fails_in_whatever_order() {
    let runs = std::env::var("ESKER_TEST_RUNS").map_or(300, |runs| runs.parse().expect("a number"));
    for seed in 0..runs {
        let seed = Seed(seed);
        Simulation::new(seed.0).run();
    }
}
