//! The matrix: every algorithm of the catalogue, with each of its options, on every kind of database and version that the store can hold, in every
//! encoding and residency, within the least memory limit that its plan names. Answers are checked by the serial verifiers, and compared with
//! those on plain lists of the same graph without a history. What is refused is refused for a reason that the documents give.
//!
//! `ESKER_CASES` is the number of databases; with all of them, all requests run on each. `cargo xtask prove` does that.

mod axes;
mod world;
mod answers;
mod refusals;

use std::collections::{BTreeMap, BTreeSet};

use esker::Error;
use esker::catalogue::{Entry, Job, Resources, WeightReads};
use esker::graph::{Budget, Csr, Direction, Graph, Run, RunOptions, Stop, VertexId, vertex};
use esker::plan::{Request as Reading, plan};
use esker::store::Snapshot;

use self::answers::{Found, places};
use self::axes::{COMBINATIONS, Combination, Directions, READINGS, Window};
use self::refusals::{Cell, REFUSALS, has_fractions, is_on_page};
use self::world::World;
use crate::encodings::{OF_MANY, requests_from};
use crate::forms::Weights;
use crate::requests::Request;

/// Databases without `ESKER_CASES`.
const DATABASES: usize = 64;
/// The part of the requests that then runs on each, in each encoding and residency.
const PART: usize = 6;

/// Answers that depend on the numbers of vertices, of which different numberings find different ones.
const BY_NUMBER: &[&str] = &[
    "biconnectivity",
    "colouring",
    "densest",
    "forest",
    "ldd",
    "matching",
    "mis",
    "msf",
    "setcover",
    "spanner",
    "truss",
];

fn run_within(bytes: u64) -> Run {
    let options = RunOptions {
        threads: 2,
        seed: 3,
        deterministic: true,
        budget: Budget::new(bytes),
        ..RunOptions::default()
    };
    Run::new(options).expect("threads")
}

/// All requests from one source, PageRank by weights among them.
fn all_requests(source: &str) -> Vec<(Request, bool)> {
    let mut all: Vec<(Request, bool)> =
        requests_from(source).into_iter().map(|request| (request, false)).collect();
    let by_choice = |entry: &Entry| entry.reads.weights == WeightReads::IfChosen;
    let chosen = requests_from(source).into_iter().filter(|request| by_choice(request.entry));
    all.extend(chosen.map(|request| (request, true)));
    all
}

fn job_on(snapshot: &Snapshot, request: &Request, run: &Run) -> Result<esker::answer::Answer, Error> {
    request.entry.run(&Job { snapshot, run, params: &request.params, verify: true })
}

/// Runs a request within the least limit that its plan names.
fn run_planned(
    snapshot: &Snapshot,
    reading: &Reading,
    request: &Request,
    more: u64,
) -> Result<esker::answer::Answer, Error> {
    let choose = |memory_bytes| {
        let resources = Resources {
            threads: 2,
            deterministic: true,
            memory_bytes,
            mapped_bytes: memory_bytes,
            rates: esker::rates::Rates::default(),
        };
        plan(snapshot, request.entry, &request.params, reading, &resources)
    };
    let needed = match choose(0) {
        Err(Error::Store(esker::store::Error::Stop(Stop::OverBudget { needed_bytes, .. }))) => needed_bytes,
        Err(error) => return Err(error),
        Ok(_) => panic!("nothing fits no memory"),
    };
    let limit = needed + more;
    let read = choose(limit)?.apply(snapshot)?;
    job_on(&read, request, &run_within(limit))
}

#[derive(Default)]
struct Counts {
    run: usize,
    compared: usize,
    refused: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
    /// Kinds of windows, encodings, and ways of reading of which a cell ran or was refused.
    windows: BTreeSet<(Window, u8, usize)>,
}

/// The graph of one combination without a history, and its answers.
struct Reference {
    world: World,
    snapshot: Snapshot,
    found: BTreeMap<usize, Option<Found>>,
}

impl Reference {
    fn of(combination: Combination) -> Self {
        let world = World::of(combination);
        Self { snapshot: world.reference(), world, found: BTreeMap::new() }
    }

    /// Whether two combinations have the same reference.
    fn serves(&self, combination: Combination) -> bool {
        self.world.is_of(combination)
    }

    /// The answer to a request; `None` if it is right to refuse it.
    fn answer(&mut self, number: usize, by_weight: bool) -> Option<&Found> {
        let source = (self.world.num_vertices() / 3).to_string();
        let snapshot = &self.snapshot;
        let found = self.found.entry(number).or_insert_with(|| {
            let (request, _) = &all_requests(&source)[number];
            let read =
                if by_weight { snapshot.clone().weighted_by("weight").ok()? } else { snapshot.clone() };
            let answer = job_on(&read, request, &run_within(1 << 30)).ok()?;
            Some(Found::of(&answer, |v| v as usize))
        });
        found.as_ref()
    }
}

/// All arcs of a version without weights, by the vertices of the world, must be those of the reference.
fn has_the_lists_of(read: &Snapshot, reference: &Reference, is_directed: bool, name: &str) {
    let run = run_within(1 << 30);
    let arcs = |snapshot: &Snapshot, place: &dyn Fn(VertexId) -> usize| {
        let graph = snapshot.present_graph::<()>(&run).expect("a graph");
        // Tiles of a database without in-lists have in-edges, but no in-lists.
        let csr = Csr::copy_with(&graph, is_directed).expect("lists");
        let numbers = snapshot.renumbering(&run).expect("numbers");
        let origin = |v: VertexId| place(numbers.map_or(v, |numbers| numbers.origin(v)));
        let view = csr.graph();
        [Direction::Out, Direction::In].map(|direction| {
            let Some(rows) = view.rows(direction).filter(|_| is_directed || direction == Direction::Out)
            else {
                return Vec::new();
            };
            let row = |v: usize| rows.list(vertex(v)).0.iter().map(move |&u| (origin(vertex(v)), origin(u)));
            let mut arcs: Vec<(usize, usize)> = (0..graph.num_vertices()).flat_map(row).collect();
            arcs.sort_unstable();
            arcs
        })
    };
    let [out, incoming] = arcs(read, &places(&reference.world, read));
    let [expected_out, expected_in] = arcs(&reference.snapshot, &|v| v as usize);
    assert_eq!(out, expected_out, "{name}: out-lists");
    assert!(incoming.is_empty() || incoming == expected_in, "{name}: in-lists");
}

/// Whether the vertices of a version are numbered in the order of those of the world.
fn is_in_order(world: &World, version: &Snapshot) -> bool {
    let run = run_within(1 << 30);
    let place = places(world, version);
    match version.remaining(&run).expect("numbers") {
        Some(remaining) => remaining.origins().iter().map(|&v| place(v)).is_sorted(),
        None => (0..version.num_vertices()).map(|v| place(vertex(v))).is_sorted(),
    }
}

/// One version with what its answers are compared with.
struct Checker<'a> {
    combination: Combination,
    version: &'a Snapshot,
    reference: &'a mut Reference,
    /// Whether vertices are numbered in the order of those of the reference.
    in_order: bool,
    counts: &'a mut Counts,
}

impl Checker<'_> {
    /// All requests, or a part of them, in each encoding and residency.
    fn check(&mut self, wants: impl Fn(usize) -> bool) {
        let source = self.reference.world.id_of(self.reference.world.num_vertices() / 3);
        let requests = all_requests(&source);
        for (place, (how, reading)) in READINGS.iter().enumerate() {
            for (number, (request, by_weight)) in requests.iter().enumerate() {
                let is_there = !by_weight || self.combination.weights != Weights::None;
                if is_there && wants(place + number) {
                    let Combination { window, encoding, .. } = self.combination;
                    self.counts.windows.insert((window, encoding as u8, place));
                    let name = format!(
                        "{} {} from {how} of {:?}",
                        request.entry.name, request.variant, self.combination
                    );
                    self.cell(&name, reading, (number, request, *by_weight));
                }
            }
        }
    }

    fn cell(&mut self, name: &str, reading: &Reading, (number, request, by_weight): (usize, &Request, bool)) {
        let version = self.version.clone();
        let version = if by_weight { version.weighted_by("weight").expect("a weight") } else { version };
        let (weights, kind) = (self.reference.world.weights(), self.reference.world.seen_weights());
        // The weights of joined edges are asked for with the window.
        let is_asked = by_weight
            || self.combination.window.makes_weights()
                && request.entry.reads.weights == WeightReads::IfChosen;
        let expected = self.reference.answer(number, is_asked);
        let cell = Cell {
            combination: self.combination,
            reading,
            request,
            has_negative: weights.iter().any(|&weight| weight < 0.0),
            has_fractions: has_fractions(kind) && !weights.is_empty(),
            is_refused_on_plain: expected.is_none(),
            reads_weights: request.entry.reads_weights(&version),
        };
        let mut reasons = REFUSALS.iter().filter(|refusal| (refusal.applies)(&cell));
        // The least limit, and a little more: then pools and heads hold more.
        let more = if number % 2 == 0 { 0 } else { 100_000 };
        let wrong = match run_planned(&version, reading, request, more) {
            Ok(answer) => {
                self.counts.run += 1;
                let found = Found::of(&answer, places(&self.reference.world, self.version));
                let refusal = reasons.next();
                if refusal.is_some_and(|refusal| cell.may_miss(refusal)) {
                    None
                } else if let Some(refusal) = refusal {
                    Some(format!("ran, in spite of {}", refusal.reason))
                } else if self.varies(request) {
                    None
                } else {
                    self.counts.compared += 1;
                    let expected = self.reference.answer(number, is_asked);
                    let is_right = expected.is_some_and(|expected| found.is_like(expected));
                    (!is_right).then(|| format!("{found:?}, not {expected:?}"))
                }
            }
            Err(error) => {
                let text = error.to_string();
                let refusal = reasons.find(|refusal| text.contains(refusal.message));
                if let Some(refusal) = refusal {
                    *self.counts.refused.entry(refusal.reason).or_default() += 1;
                }
                refusal.is_none().then_some(text)
            }
        };
        self.counts.wrong.extend(wrong.map(|wrong| format!("{name}: {wrong}")));
    }

    /// Whether there are several right answers, and which one is found may depend on how the graph is stored.
    fn varies(&self, request: &Request) -> bool {
        let name = request.entry.name;
        let by_number = request.variant == "sample" || BY_NUMBER.contains(&name);
        OF_MANY.contains(&request.variant)
            || name == "setcover"
            || !self.in_order && by_number
            || name == "bellman-ford" && self.combination.weights == Weights::Negative
    }
}

/// The combinations to try: all, or some that are spread evenly.
fn numbers(databases: usize) -> Vec<usize> {
    /// Has no factor in common with the number of combinations, so that each comes once.
    const STRIDE: usize = 1949;
    let mut numbers: Vec<usize> =
        (0..databases.min(COMBINATIONS)).map(|i| (i * STRIDE + 5) % COMBINATIONS).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
#[allow(clippy::print_stdout)] // How many cells ran, and how many were refused.
fn every_cell_of_the_matrix_is_right_or_refused_for_a_reason_that_the_documents_give() {
    let databases = std::env::var("ESKER_CASES").map_or(DATABASES, |cases| cases.parse().expect("a number"));
    let part = if databases >= COMBINATIONS { 1 } else { PART };
    let mut counts = Counts::default();
    let mut reference: Option<Reference> = None;
    let run = run_within(1 << 30);
    for number in numbers(databases) {
        let combination = Combination::of(number);
        if !combination.is_possible() {
            continue;
        }
        if !reference.as_ref().is_some_and(|reference| reference.serves(combination)) {
            reference = Some(Reference::of(combination));
        }
        let reference = reference.as_mut().expect("just made");
        reference.world = World::of(combination);
        let version = reference.world.version(&run);
        let name = format!("{combination:?}");
        has_the_lists_of(&version, reference, combination.directions == Directions::Both, &name);
        let in_order = is_in_order(&reference.world, &version);
        let mut checker =
            Checker { combination, version: &version, reference, in_order, counts: &mut counts };
        checker.check(|request| (number + request) % part == 0);
    }
    let refused: usize = counts.refused.values().sum();
    println!(
        "{} cells run, {} of them compared with the reference, {refused} refused",
        counts.run, counts.compared
    );
    for (reason, count) in &counts.refused {
        println!("{count} refused: {reason}");
    }
    assert!(counts.wrong.is_empty(), "{} wrong cells:\n{}", counts.wrong.len(), counts.wrong.join("\n"));
    // Every kind of window, in each encoding, read in each way.
    let has_all = counts.windows.len() == 5 * 3 * READINGS.len();
    assert!(has_all || databases < DATABASES, "{:?}", counts.windows);
    assert!(2 * counts.run > refused && 2 * counts.compared > counts.run, "cells of little worth were drawn");
}

#[test]
fn the_documents_give_the_reason_of_each_refusal() {
    for refusal in REFUSALS {
        assert!(is_on_page(refusal), "{} does not say: {}", refusal.page, refusal.sentence);
    }
}
