//! The matrix: every algorithm of the catalogue, with each of its options, on every kind of database and
//! version that the store can hold, in every encoding and residency, within the least memory limit that its
//! plan names. Answers are checked by the serial verifiers, and compared with those on plain lists of the
//! same graph without a history. What is refused is refused for a reason that the documents give.
//!
//! The databases are a covering array: the values of any two axes meet in one of them in every way that is
//! possible, and with `ESKER_STRENGTH=3` those of any three. So do, on one of them, each request and the
//! values of any axis, or of any two; how the graph is read and the limit are axes too. `ESKER_SEED` makes
//! another array, `ESKER_ARRAYS` several. `cargo xtask prove properties` has all triples.

pub(crate) mod covering;
mod axes;
mod world;
mod answers;
mod refusals;

use std::collections::BTreeMap;

use esker::catalogue::{Entry, Job, Resources, WeightReads};
use esker::graph::{Budget, Cancel, Csr, Direction, Graph, Run, RunOptions, Stop, VertexId, vertex};
use esker::plan::{Request as Reading, plan};
use esker::store::View;
use esker::{Error, MemoryLimit};

use self::answers::{Found, places};
use self::axes::{Combination, Directions, READINGS, SIZES, SPARE_BYTES, allows};
use self::covering::{Row, covering, selection};
use self::refusals::{Cell, REFUSALS, has_fractions, is_on_page};
use self::world::World;
use crate::encodings::{OF_MANY, requests_from};
use crate::forms::Weights;
use crate::requests::Request;

/// Answers that depend on the numbers of vertices, of which different numberings find different ones.
const BY_NUMBER: &[&str] = &[
    "biconnectivity",
    "colouring",
    "cycle",
    "densest",
    "forest",
    "ldd",
    "leiden",
    "louvain",
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

fn job_on(view: &View, request: &Request, run: &Run) -> Result<esker::answer::Answer, Error> {
    request.entry.run(&Job { view, run, params: &request.params, verify: true })
}

/// Runs a request within the least limit that its plan names.
fn run_planned(
    view: &View,
    reading: &Reading,
    request: &Request,
    more: u64,
) -> Result<esker::answer::Answer, Error> {
    let choose = |memory_bytes| {
        let resources = Resources {
            threads: 2,
            deterministic: true,
            memory: MemoryLimit::of(memory_bytes),
            rates: esker::rates::Rates::default(),
        };
        plan(view, request.entry, &request.params, reading, &resources)
    };
    let needed = match choose(0) {
        Err(Error::Store(esker::store::Error::Stop(Stop::OverBudget { needed_bytes, .. }))) => needed_bytes,
        Err(error) => return Err(error),
        Ok(_) => panic!("nothing fits no memory"),
    };
    let limit = needed + more;
    let read = choose(limit)?.apply(view)?;
    job_on(&read, request, &run_within(limit))
}

#[derive(Default)]
struct Counts {
    run: usize,
    compared: usize,
    refused: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

/// The graph of one combination without a history, and its answers.
struct Reference {
    world: World,
    view: View,
    found: BTreeMap<usize, Option<Found>>,
}

impl Reference {
    fn of(combination: Combination) -> Self {
        let world = World::of(combination);
        Self { view: world.reference(), world, found: BTreeMap::new() }
    }

    /// Whether two combinations have the same reference.
    fn serves(&self, combination: Combination) -> bool {
        self.world.is_of(combination)
    }

    /// The answer to a request; `None` if it is right to refuse it.
    fn answer(&mut self, number: usize, by_weight: bool) -> Option<&Found> {
        let source = (self.world.num_vertices() / 3).to_string();
        let view = &self.view;
        let found = self.found.entry(number).or_insert_with(|| {
            let (request, _) = &all_requests(&source)[number];
            let read = if by_weight { view.clone().weighted_by("weight").ok()? } else { view.clone() };
            let answer = job_on(&read, request, &run_within(1 << 30)).ok()?;
            Some(Found::of(&answer, |v| v as usize))
        });
        found.as_ref()
    }
}

/// All arcs of a version without weights, by the vertices of the world, must be those of the reference.
fn has_the_lists_of(read: &View, reference: &Reference, is_directed: bool, name: &str) {
    let run = run_within(1 << 30);
    let arcs = |view: &View, place: &dyn Fn(VertexId) -> usize| {
        let graph = view.present_graph::<()>(&run).expect("a graph");
        // Tiles of a database without in-lists have in-edges, but no in-lists.
        let csr = Csr::copy_with(&graph, is_directed, &Cancel::default()).expect("lists");
        let numbers = view.renumbering(&run).expect("numbers");
        let origin = |v: VertexId| place(numbers.map_or(v, |numbers| numbers.origin(v)));
        let csr = csr.graph();
        [Direction::Out, Direction::In].map(|direction| {
            let Some(rows) = csr.rows(direction).filter(|_| is_directed || direction == Direction::Out)
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
    let [expected_out, expected_in] = arcs(&reference.view, &|v| v as usize);
    assert_eq!(out, expected_out, "{name}: out-lists");
    assert!(incoming.is_empty() || incoming == expected_in, "{name}: in-lists");
}

/// Whether the vertices of a version are numbered in the order of those of the world.
fn is_in_order(world: &World, version: &View) -> bool {
    let run = run_within(1 << 30);
    let place = places(world, version);
    match version.remaining(&run).expect("numbers") {
        Some(remaining) => remaining.origins().iter().map(|&v| place(v)).is_sorted(),
        None => (0..version.version().num_vertices()).map(|v| place(vertex(v))).is_sorted(),
    }
}

/// One version with what its answers are compared with.
struct Checker<'a> {
    combination: Combination,
    version: &'a View,
    reference: &'a mut Reference,
    /// Whether vertices are numbered in the order of those of the reference.
    in_order: bool,
    counts: &'a mut Counts,
}

/// What is asked of a version.
#[derive(Debug, Clone, Copy)]
struct Ask {
    /// A number of [`READINGS`].
    reading: usize,
    spare_bytes: u64,
    /// A number of [`all_requests`].
    request: usize,
}

impl Checker<'_> {
    fn check(&mut self, asks: &[Ask]) {
        let source = self.reference.world.id_of(self.reference.world.num_vertices() / 3);
        let requests = all_requests(&source);
        for &ask in asks {
            let (request, by_weight) = &requests[ask.request];
            if !by_weight || self.combination.weights != Weights::None {
                self.cell(ask, request, *by_weight);
            }
        }
    }

    fn cell(&mut self, ask: Ask, request: &Request, by_weight: bool) {
        let (number, (how, reading)) = (ask.request, &READINGS[ask.reading]);
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
        let wrong = match run_planned(&version, reading, request, ask.spare_bytes) {
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
        let name = format!("{} {} from {how} of {:?}", request.entry.name, request.variant, self.combination);
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

/// How often all requests are spread over the databases, each time with other cells: more of larger tuples
/// meet.
const ROUNDS: usize = 3;

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The databases of a covering array, those of one graph after each other, with what is asked of each.
fn databases(strength: usize, seed: u64) -> Vec<(Row, Vec<Ask>)> {
    let mut rows = covering(&SIZES, strength, &allows, seed);
    rows.sort_unstable();
    let asks = [READINGS.len(), SPARE_BYTES.len()];
    let with_asks = |row: &Row| -> Vec<Row> {
        let each = (0..asks[0]).flat_map(|reading| (0..asks[1]).map(move |spare| [reading, spare]));
        each.map(|ask| [&row[..], &ask].concat()).collect()
    };
    let cells: Vec<Row> = rows.iter().flat_map(with_asks).collect();
    let sizes = [&SIZES[..], &asks].concat();
    let mut databases: Vec<(Row, Vec<Ask>)> = rows.into_iter().map(|row| (row, Vec::new())).collect();
    let num_requests = all_requests("0").len();
    for number in 0..ROUNDS * num_requests {
        let request = number % num_requests;
        for cell in selection(&cells, &sizes, strength - 1, seed + number as u64) {
            let [reading, spare] = [cells[cell][SIZES.len()], cells[cell][SIZES.len() + 1]];
            let ask = Ask { reading, spare_bytes: SPARE_BYTES[spare], request };
            databases[cell / (asks[0] * asks[1])].1.push(ask);
        }
    }
    databases
}

/// Asks everything of the databases of one array.
fn check_all(databases: &[(Row, Vec<Ask>)], counts: &mut Counts) {
    let mut reference: Option<Reference> = None;
    let run = run_within(1 << 30);
    for (row, asks) in databases {
        let combination = Combination::of(row);
        if !reference.as_ref().is_some_and(|reference| reference.serves(combination)) {
            reference = Some(Reference::of(combination));
        }
        let reference = reference.as_mut().expect("just made");
        reference.world = World::of(combination);
        let version = reference.world.version(&run);
        let name = format!("{combination:?}");
        if combination.has_lists_of_its_view() {
            has_the_lists_of(&version, reference, combination.directions == Directions::Both, &name);
        }
        let in_order = is_in_order(&reference.world, &version);
        Checker { combination, version: &version, reference, in_order, counts: &mut *counts }.check(asks);
    }
}

#[test]
#[allow(clippy::print_stdout)] // How many cells ran, and how many were refused.
fn every_cell_of_the_matrix_is_right_or_refused_for_a_reason_that_the_documents_give() {
    let (strength, first) = (setting("ESKER_STRENGTH", 2) as usize, setting("ESKER_SEED", 1));
    let mut counts = Counts::default();
    let mut num_databases = 0;
    for seed in first..first + setting("ESKER_ARRAYS", 1) {
        let databases = databases(strength, seed);
        num_databases += databases.len();
        check_all(&databases, &mut counts);
    }
    let refused: usize = counts.refused.values().sum();
    println!(
        "{num_databases} databases, seed {first}: {} cells run, {} of them compared with the reference, {refused} refused",
        counts.run, counts.compared
    );
    for (reason, count) in &counts.refused {
        println!("{count} refused: {reason}");
    }
    assert!(counts.wrong.is_empty(), "{} wrong cells:\n{}", counts.wrong.len(), counts.wrong.join("\n"));
    assert!(2 * counts.run > refused && 2 * counts.compared > counts.run, "cells of little worth were drawn");
}

#[test]
fn the_documents_give_the_reason_of_each_refusal() {
    for refusal in REFUSALS {
        assert!(is_on_page(refusal), "{} does not say: {}", refusal.page, refusal.sentence);
    }
}
