//! The exchange between processes: the one module that knows the dataflow engine.
//!
//! Work goes in rounds. In a round each process gives one block of bytes for each process, and gets the
//! blocks that all others gave it. A round ends when the engine's progress tracking says that nothing of it
//! is under way, so what is in flight is bounded by the blocks of one round. Blocks travel in parcels of a
//! mebibyte. Nothing is sent through the engine to the process itself.
//!
//! If a peer ends, the engine panics in a thread of its own and in the one that calls [`Engine::exchange`]: a
//! process that exchanges has to be a child that may be lost. See `worker.rs`.

use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::rc::Rc;
use std::time::Duration;

use esker_format::{Error, Result};
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Hooks, Push};
use timely::container::NoopBuilder;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message, Stamp};
use timely::dataflow::operators::core::input::Handle as InputHandle;
use timely::dataflow::operators::core::{Input, Probe};
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::probe::Handle as Probed;
use timely::worker::Worker;
use timely::{Accountable, WorkerConfig};

/// Bytes of a parcel, at most.
const PARCEL_BYTES: usize = 1 << 20;
/// The longest sleep while a round is under way; what arrives wakes earlier.
const PARK: Duration = Duration::from_millis(10);

/// A part of a block on its way.
#[derive(Debug, Clone, Default)]
struct Parcel {
    /// Whether it is one: what the engine leaves behind is not.
    is_full: bool,
    from: u32,
    to: u32,
    round: u64,
    bytes: Vec<u8>,
}

impl Accountable for Parcel {
    fn record_count(&self) -> i64 {
        i64::from(self.is_full)
    }
}

/// Bytes before those of the block: sender, receiver, round, length.
const PARCEL_HEAD: usize = 24;

impl ContainerBytes for Parcel {
    fn from_bytes(bytes: timely::bytes::arc::Bytes) -> Self {
        let word = |place: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[place..place + 8]);
            u64::from_le_bytes(word)
        };
        let (ends, round, len) = (word(0), word(8), word(16) as usize);
        let block = bytes[PARCEL_HEAD..PARCEL_HEAD + len].to_vec();
        Self { is_full: true, from: ends as u32, to: (ends >> 32) as u32, round, bytes: block }
    }

    fn length_in_bytes(&self) -> usize {
        PARCEL_HEAD + self.bytes.len().next_multiple_of(8)
    }

    fn into_bytes<W: std::io::Write>(&self, writer: &mut W) {
        let ends = u64::from(self.from) | u64::from(self.to) << 32;
        let padding = self.bytes.len().next_multiple_of(8) - self.bytes.len();
        // The writer is memory that the engine has reserved.
        let written = [ends, self.round, self.bytes.len() as u64]
            .iter()
            .try_for_each(|word| writer.write_all(&word.to_le_bytes()))
            .and_then(|()| writer.write_all(&self.bytes))
            .and_then(|()| writer.write_all(&[0; 8][..padding]));
        debug_assert!(written.is_ok());
    }
}

/// Sends each parcel to its receiver.
struct ToReceiver;

impl Distributor<Parcel> for ToReceiver {
    fn partition<T: Clone, P: Push<Message<T, Parcel>>>(
        &mut self,
        parcel: &mut Parcel,
        stamp: &Stamp<T>,
        pushers: &mut [P],
    ) {
        let to = parcel.to as usize;
        Message::push_at(parcel, stamp.clone(), &mut pushers[to]);
        *parcel = Parcel::default();
    }

    fn flush<T: Clone, P: Push<Message<T, Parcel>>>(&mut self, _: &Stamp<T>, _: &mut [P]) {}
}

/// What has arrived: for each round that is not over, a block from each process.
type Arrived = Rc<RefCell<BTreeMap<u64, Vec<Vec<u8>>>>>;

/// The exchange, as one process sees it.
pub struct Engine<'w> {
    worker: &'w mut Worker,
    input: InputHandle<u64, NoopBuilder<Parcel>>,
    probe: Probed<u64>,
    arrived: Arrived,
    round: u64,
    sent_bytes: u64,
    sent_messages: u64,
}

impl<'w> Engine<'w> {
    fn new(worker: &'w mut Worker) -> Self {
        let arrived = Arrived::default();
        let (taking, peers) = (Rc::clone(&arrived), worker.peers());
        let (input, probe) = worker.dataflow(|scope| {
            let (input, stream) = scope.new_input_with_builder::<NoopBuilder<Parcel>>();
            let pact = DistributorPact(|_| ToReceiver);
            let taken = stream.unary::<NoopBuilder<Parcel>, _, _, _>(pact, "exchange", |_, _| {
                move |input, _| {
                    input.for_each_stamp(|_, parcels| {
                        for parcel in parcels {
                            let Parcel { from, round, mut bytes, .. } = std::mem::take(parcel);
                            let mut arrived = taking.borrow_mut();
                            let blocks = arrived.entry(round).or_insert_with(|| vec![Vec::new(); peers]);
                            match &mut blocks[from as usize] {
                                block if block.is_empty() => *block = bytes,
                                block => block.append(&mut bytes),
                            }
                        }
                    });
                }
            });
            (input, taken.probe().0)
        });
        Self { worker, input, probe, arrived, round: 0, sent_bytes: 0, sent_messages: 0 }
    }

    /// The number of this process.
    pub fn index(&self) -> usize {
        self.worker.index()
    }

    /// The number of processes.
    pub fn peers(&self) -> usize {
        self.worker.peers()
    }

    /// Rounds so far.
    pub fn rounds(&self) -> u64 {
        self.round
    }

    /// Bytes that this process has sent to others.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Blocks that this process has sent to others, empty ones left out.
    pub fn sent_messages(&self) -> u64 {
        self.sent_messages
    }

    /// Gives a block to each process, and returns the block that each gave to this one. All processes call it
    /// equally often.
    pub fn exchange(&mut self, mut blocks: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let (me, peers, round) = (self.index(), self.peers(), self.round);
        blocks.resize(peers, Vec::new());
        let own = std::mem::take(&mut blocks[me]);
        for (to, block) in blocks.into_iter().enumerate() {
            self.sent_bytes += block.len() as u64;
            self.sent_messages += u64::from(!block.is_empty());
            let (from, to) = (me as u32, to as u32);
            let mut send =
                |bytes| self.input.send_batch(&mut Parcel { is_full: true, from, to, round, bytes });
            match block.len() {
                0 => {}
                1..=PARCEL_BYTES => send(block),
                _ => block.chunks(PARCEL_BYTES).for_each(|part| send(part.to_vec())),
            }
        }
        self.round += 1;
        self.input.advance_to(self.round);
        while self.probe.less_than(&self.round) {
            self.worker.step_or_park(Some(PARK));
        }
        let mut arrived = self.arrived.borrow_mut().remove(&round).unwrap_or_else(|| vec![Vec::new(); peers]);
        arrived[me] = own;
        arrived
    }

    /// A number of each process, in order.
    ///
    /// # Errors
    /// [`Error::Invalid`] if one gave none.
    pub fn gather(&mut self, number: u64) -> Result<Vec<u64>> {
        let blocks = self.exchange(vec![number.to_le_bytes().to_vec(); self.peers()]);
        blocks.iter().map(|block| crate::net::wire::Taker(block).u64()).collect()
    }

    /// Adds up numbers of all processes, place by place. All processes give equally many.
    ///
    /// # Errors
    /// [`Error::Invalid`] if they do not.
    pub fn sum<const N: usize>(&mut self, numbers: [u64; N]) -> Result<[u64; N]> {
        let block: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let blocks = self.exchange(vec![block; self.peers()]);
        let mut sums = [0_u64; N];
        for block in blocks {
            let mut block = crate::net::wire::Taker(&block);
            for sum in &mut sums {
                *sum = sum.wrapping_add(block.u64()?);
            }
        }
        Ok(sums)
    }
}

/// Runs `work` as process `index` of those that the sockets lead to; the place of the process itself is
/// empty.
///
/// # Errors
/// That of `work`; [`Error::Invalid`] if the engine fails.
pub fn run_process<T: Send + 'static>(
    sockets: Vec<Option<TcpStream>>,
    index: usize,
    work: impl FnOnce(&mut Engine<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let hooks = Hooks::default();
    let within = ProcessBuilder::new_bytes_vector(1, hooks.refill.clone(), None);
    let (builders, guard) = initialize_networking_from_sockets(within, sockets, index, 1, hooks)
        .map_err(|error| failed(&error.to_string()))?;
    let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
    let work = Mutex::new(Some(work));
    let results =
        timely::execute::execute_from(builders, Box::new(guard), WorkerConfig::default(), move |worker| {
            let work = work.lock().take();
            work.map(|work| work(&mut Engine::new(worker)))
        });
    let results = results.map_err(|error| failed(&error))?;
    let first = results.join().into_iter().next();
    first
        .ok_or_else(|| failed("no worker"))?
        .map_err(|error| failed(&error))?
        .ok_or_else(|| failed("no work"))?
}

/// Runs `work` on several threads that stand for processes. Returns the results in order.
///
/// # Errors
/// The first error of `work`; [`Error::Invalid`] if the engine fails.
pub fn run_threads<T: Send + 'static>(
    threads: usize,
    work: impl Fn(&mut Engine<'_>) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let communication = timely::CommunicationConfig::ProcessBinary(threads);
    let config = timely::Config { communication, worker: WorkerConfig::default() };
    let results = timely::execute(config, move |worker| work(&mut Engine::new(worker)));
    let results = results.map_err(|error| failed(&error))?;
    results.join().into_iter().map(|result| result.map_err(|error| failed(&error))?).collect()
}

fn failed(reason: &str) -> Error {
    Error::invalid(format!("the exchange between processes failed: {reason}; try again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `from` sends `to` in a round: nothing, a few bytes, or several parcels.
    fn block(from: usize, to: usize, round: usize) -> Vec<u8> {
        let len = [0, 3, 100, 2 * PARCEL_BYTES + 5][(from + 2 * to + round) % 4];
        (0..len).map(|place| (place + 7 * from + 3 * to + round) as u8).collect()
    }

    fn exchange_rounds(engine: &mut Engine<'_>, rounds: usize) -> Result<u64> {
        let (me, peers) = (engine.index(), engine.peers());
        for round in 0..rounds {
            let arrived = engine.exchange((0..peers).map(|to| block(me, to, round)).collect());
            for (from, bytes) in arrived.iter().enumerate() {
                assert!(*bytes == block(from, me, round), "{from} to {me} in round {round}");
            }
        }
        let [sum, ones] = engine.sum([me as u64, 1])?;
        assert_eq!(ones as usize, peers);
        Ok(sum)
    }

    #[test]
    fn blocks_arrive_whole_and_in_their_round() {
        for threads in 1..5 {
            let sums = run_threads(threads, |engine| exchange_rounds(engine, 6)).expect("run");
            assert_eq!(sums, vec![(0..threads as u64).sum::<u64>(); threads]);
        }
    }
}
