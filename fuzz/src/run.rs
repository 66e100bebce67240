//! A run: threads share the cases by number, catch panics and hangs, and keep what they find.

use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::mutate::mutate;
use crate::outcome::Outcome;
use crate::random::{of_case, pick};
use crate::target::{Target, WAYS};

/// An input that takes longer is a hang.
pub const HANG_SECONDS: u64 = 10;
/// Different failures after which a run gives up.
const FAILURES_MAX: usize = 20;
/// Inputs of one target in the corpus; messages that vary in more than numbers and quoted text are many
/// kinds.
const KEPT_MAX: usize = 40;
/// Bytes of an input that is worth keeping in the corpus.
const KEPT_BYTES_MAX: usize = 4096;

/// What a run counted.
#[derive(Debug, Clone, Default)]
pub struct CampaignReport {
    /// Inputs tried.
    pub inputs: u64,
    /// Of these, read to the end.
    pub read: u64,
    /// Of those, with lines left out.
    pub with_rejected: u64,
    /// Refused.
    pub refused: u64,
    /// Edges read.
    pub edges: u64,
    /// Kinds of messages (digits and quoted text left aside), with an input that led to each.
    pub kinds: BTreeMap<String, Vec<u8>>,
    /// Failures by their kind: the whole story, and the input.
    pub failures: BTreeMap<String, (String, Vec<u8>)>,
    /// The slowest input, and how long it took.
    pub slowest: Duration,
}

impl CampaignReport {
    fn add(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.read += other.read;
        self.with_rejected += other.with_rejected;
        self.refused += other.refused;
        self.edges += other.edges;
        self.slowest = self.slowest.max(other.slowest);
        for (kind, bytes) in other.kinds {
            self.keep(kind, &bytes);
        }
        self.failures.extend(other.failures);
    }

    /// Keeps the shortest input of each kind.
    fn keep(&mut self, kind: String, bytes: &[u8]) {
        let kept = self.kinds.entry(kind).or_insert_with(|| bytes.to_vec());
        if bytes.len() < kept.len() {
            *kept = bytes.to_vec();
        }
    }

    fn count(&mut self, outcome: Outcome, bytes: &[u8]) {
        match outcome {
            Outcome::Read { edges, rejected } => {
                self.read += 1;
                self.edges += edges;
                self.with_rejected += u64::from(rejected.is_some());
                if let Some(reason) = rejected {
                    self.keep(format!("line: {}", kind_of(&reason)), bytes);
                }
            }
            Outcome::Refused(message) => {
                self.refused += 1;
                self.keep(kind_of(&message), bytes);
            }
        }
    }
}

/// A message without what varies: digits, and text in quotes.
fn kind_of(message: &str) -> String {
    let mut kind = String::new();
    let mut quoted = false;
    for letter in message.chars() {
        match letter {
            '"' => quoted = !quoted,
            '0'..='9' => {}
            other if !quoted => kind.push(other),
            _ => {}
        }
        if kind.len() > 160 {
            break;
        }
    }
    kind
}

/// What a run tries.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// Number of inputs.
    pub inputs: u64,
    /// Seed of the mutations.
    pub seed: u64,
    /// Number of threads.
    pub threads: u64,
}

/// The input of case `number`, and the way to read it. The first cases are the seeds themselves.
pub fn case(target: &Target, seeds: &[Vec<u8>], campaign: &Campaign, number: u64) -> (Vec<u8>, usize) {
    let ways = WAYS as u64;
    if number < seeds.len() as u64 * ways {
        return (seeds[(number / ways) as usize].clone(), (number % ways) as usize);
    }
    let mut random = of_case(campaign.seed, number);
    let mut bytes = pick(&mut random, seeds).clone();
    let mut changed = bytes.split_off(target.fixed_bytes(&bytes));
    mutate(&mut changed, seeds, target.text, &mut random);
    bytes.extend(changed);
    (bytes, random.index(WAYS))
}

thread_local! {
    /// Where the last panic of this thread came from.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what a panic says instead of printing it.
pub fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|info| PANIC.set(info.to_string())));
}

/// Reads `bytes` and catches what must not happen.
///
/// # Errors
/// The kind of failure, and its story.
pub fn attempt(target: &Target, bytes: &Arc<[u8]>, way: usize) -> Result<Outcome, (String, String)> {
    match catch_unwind(AssertUnwindSafe(|| target.examine(bytes, way))) {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(broken)) => Err((kind_of(&broken.chars().take(40).collect::<String>()), broken)),
        Err(_) => {
            let story = PANIC.take();
            Err((story.lines().next().unwrap_or_default().to_owned(), story))
        }
    }
}

/// What a worker is busy with, for the watch: the case and when it began, in milliseconds since the run did.
#[derive(Default)]
struct Busy {
    case: AtomicU64,
    since_ms: AtomicU64,
}

/// Runs a campaign. Calls `on_hang` with the number of a case that does not end, and `on_progress` now and
/// then.
pub fn run(
    target: &Target,
    campaign: &Campaign,
    on_hang: impl Fn(u64) + Sync,
    on_progress: impl Fn(u64) + Sync,
) -> CampaignReport {
    let seeds = (target.seeds)();
    let begun = Instant::now();
    let busy: Vec<Busy> = (0..campaign.threads).map(|_| Busy::default()).collect();
    let (total, done) = (Mutex::new(CampaignReport::default()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let workers: Vec<_> = busy
            .iter()
            .enumerate()
            .map(|(i, busy)| {
                let (seeds, total) = (&seeds, &total);
                scope.spawn(move || {
                    let report = work(target, seeds, campaign, i as u64, busy, begun);
                    total.lock().add(report);
                })
            })
            .collect();
        scope.spawn(|| watch(&busy, begun, &done, &on_hang, &on_progress));
        for worker in workers {
            // A worker catches its panics; were one to escape, the report would lack its inputs.
            let _ = worker.join();
        }
        done.store(true, Ordering::Relaxed);
    });
    total.into_inner()
}

fn work(
    target: &Target,
    seeds: &[Vec<u8>],
    campaign: &Campaign,
    first: u64,
    busy: &Busy,
    begun: Instant,
) -> CampaignReport {
    let mut report = CampaignReport::default();
    for number in (first..campaign.inputs).step_by(campaign.threads as usize) {
        let (bytes, way) = case(target, seeds, campaign, number);
        let bytes: Arc<[u8]> = bytes.into();
        busy.case.store(number, Ordering::Relaxed);
        let before = begun.elapsed();
        busy.since_ms.store(before.as_millis() as u64, Ordering::Relaxed);
        match attempt(target, &bytes, way) {
            Ok(outcome) => report.count(outcome, &bytes),
            Err((kind, story)) => {
                let story = format!("case {number}, way {way}: {story}");
                report.failures.entry(kind).or_insert_with(|| (story, bytes.to_vec()));
            }
        }
        report.inputs += 1;
        report.slowest = report.slowest.max(begun.elapsed() - before);
        if report.failures.len() >= FAILURES_MAX {
            break;
        }
    }
    busy.since_ms.store(u64::MAX, Ordering::Relaxed);
    report
}

fn watch(
    busy: &[Busy],
    begun: Instant,
    done: &AtomicBool,
    on_hang: &impl Fn(u64),
    on_progress: &impl Fn(u64),
) {
    for tick in 1u64.. {
        std::thread::sleep(Duration::from_millis(50));
        if done.load(Ordering::Relaxed) {
            return;
        }
        let now = begun.elapsed().as_millis() as u64;
        for worker in busy {
            if now.saturating_sub(worker.since_ms.load(Ordering::Relaxed)) > HANG_SECONDS * 1000 {
                on_hang(worker.case.load(Ordering::Relaxed));
            }
        }
        if tick % 200 == 0 {
            on_progress(busy.iter().map(|worker| worker.case.load(Ordering::Relaxed)).max().unwrap_or(0));
        }
    }
}

/// The folder of a target's corpus.
pub fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// Adds to the corpus one small input for each kind of message. Returns how many.
///
/// # Errors
/// If it cannot be written.
pub fn collect(target: &Target, report: &CampaignReport) -> std::io::Result<usize> {
    let folder = corpus(target.name);
    std::fs::create_dir_all(&folder)?;
    let small: Vec<_> = report.kinds.values().filter(|bytes| bytes.len() <= KEPT_BYTES_MAX).collect();
    let kept = small.iter().step_by(small.len().div_ceil(KEPT_MAX).max(1));
    for (number, bytes) in kept.clone().enumerate() {
        std::fs::write(folder.join(format!("{number:03}")), bytes)?;
    }
    Ok(kept.len())
}
