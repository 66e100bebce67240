//! Live answers against recomputation at every version of random streams of changes: edges added, removed and
//! reweighed, vertices added, removed and restored, commits frozen and merged meanwhile, on every kind of
//! graph and base layer.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::algo::algorithm::sets::colouring::{ColouringOptions, colouring};
use esker::algo::algorithm::sets::matching::{MatchingMethod, MatchingOptions, matching};
use esker::algo::algorithm::sets::mis::{MisOptions, mis};
use esker::algo::check;
use esker::answer::{Answer, Fact, Value};
use esker::catalogue::{Job, Params, find};
use esker::follow::{Follow, Method, MethodChoice};
use esker::graph::{Budget, Cancel, Csr, Direction, Graph as _, NONE, Run, RunOptions, VertexId};
use esker::import::install::import;
use esker::import::open::open_reader;
use esker::import::options::ImportOptions;
use esker::import::read::format::ReadOptions;
use esker::store::format::{Duplicates, Encoding};
use esker::store::io::{Disk, RealDisk};
use esker::store::log::Sync;
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::tiles::ConvertOptions;
use esker::store::{Database, DatabaseOptions, Follower, View};
use esker::top::top;
use esker::versions::answers_on_versions;
use esker_graph::random::Random;

/// The kinds of graphs.
#[derive(Debug, Clone, Copy)]
struct Kind {
    directed: bool,
    multigraph: bool,
    in_edges: bool,
    texts: bool,
    /// `None` for no weights; whether they have fractions.
    weights: Option<bool>,
    encoding: Encoding,
    tiled: bool,
}

impl Kind {
    fn of(seed: u64) -> Self {
        let bit = |bit: u64| seed >> bit & 1 == 1;
        Self {
            directed: bit(0),
            multigraph: seed % 3 == 1,
            in_edges: seed % 5 != 3,
            texts: bit(1),
            weights: [None, Some(false), Some(true)][(seed % 3) as usize],
            encoding: if bit(2) { Encoding::Compressed } else { Encoding::Plain },
            tiled: seed % 8 == 3,
        }
    }
}

/// Ids of the imported graph; later ones are new.
const IMPORTED: u64 = 60;

struct Stream {
    kind: Kind,
    noise: Random,
    path: PathBuf,
    database: Database,
    ids: u64,
    _place: tempfile::TempDir,
}

impl Stream {
    fn new(seed: u64, run: &Run) -> Self {
        let (kind, mut noise) = (Kind::of(seed), Random::new(seed));
        let place = tempfile::tempdir().unwrap();
        let mut text = "from,to".to_owned() + if kind.weights.is_some() { ",weight\n" } else { "\n" };
        for v in 0..IMPORTED {
            // Every vertex is named; vertices with small numbers have many edges.
            for target in [noise.below(IMPORTED), noise.below(1 + IMPORTED / 8)] {
                let [from, to] = [v, target].map(|v| name(kind, v));
                let weight = match kind.weights {
                    None => String::new(),
                    Some(false) => format!(",{}", noise.below(9)),
                    Some(true) => format!(",{:?}", noise.below(90) as f64 / 7.0),
                };
                text += &format!("{from},{to}{weight}\n");
            }
        }
        std::fs::write(place.path().join("edges.csv"), text).unwrap();
        let input = place.path().join("edges.csv");
        let reader = open_reader(&[input.to_str().unwrap()], &ReadOptions::default()).unwrap();
        let options = ImportOptions {
            directed: Some(kind.directed),
            in_edges: kind.in_edges,
            encoding: kind.encoding,
            duplicates: if kind.multigraph { Duplicates::Keep } else { Duplicates::Last },
            threads: 2,
            memory_bytes: 64 << 20,
            ..ImportOptions::default()
        };
        let path = place.path().join("g.esker");
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        import(&disk, reader, &path, &options, StagingOptions::default()).unwrap();
        let options = DatabaseOptions { threads: 2, sync: Sync::Never, ..DatabaseOptions::default() };
        let database = Database::open(&path, options).unwrap();
        if kind.tiled {
            database.make_tiles(&ConvertOptions::default(), run).unwrap();
        }
        Self { kind, noise, path, database, ids: IMPORTED, _place: place }
    }

    /// Commits a batch of a random size, and now and then freezes or merges what there is.
    fn step(&mut self, run: &Run) {
        let mut batch = self.database.batch();
        let kind = self.kind;
        let count = 1 << self.noise.below(6);
        for _ in 0..count {
            if self.noise.below(12) == 0 {
                self.ids += 1;
            }
            let noise = &mut self.noise;
            let (u, v) = (noise.below(self.ids), noise.below(self.ids).min(noise.below(self.ids)));
            let [from, to] = [u, v].map(|v| name(kind, v));
            let weight = match kind.weights {
                None => Vec::new(),
                Some(false) => vec![PropertyValue::from(noise.below(9) as i64)],
                Some(true) => vec![PropertyValue::from(noise.below(90) as f64 / 7.0)],
            };
            // Text ids are of letters, integer ids of digits.
            let (a, b) = (u + 100, v + 100);
            match (noise.below(16), kind.texts) {
                // The sources of searches stay; without in-lists nothing can be removed.
                (0, true) if u % 9 != 0 && (kind.in_edges || !kind.directed) => {
                    batch.remove_vertex(from.as_str()).unwrap();
                }
                (0, false) if u % 9 != 0 && (kind.in_edges || !kind.directed) => {
                    batch.remove_vertex(a).unwrap();
                }
                (1, true) => batch.add_vertex(from.as_str()).unwrap(),
                (1, false) => batch.add_vertex(a).unwrap(),
                (2..=8, true) => batch.remove_edge(from.as_str(), to.as_str()).unwrap(),
                (2..=8, false) => batch.remove_edge(a, b).unwrap(),
                (_, true) => batch.add_edge(from.as_str(), to.as_str(), &weight).unwrap(),
                (_, false) => batch.add_edge(a, b, &weight).unwrap(),
            }
        }
        self.database.commit(batch, "a step").unwrap();
        match self.noise.below(12) {
            0 => drop(self.database.freeze(run).unwrap()),
            1 => drop(self.database.merge(run).unwrap()),
            2 => drop(self.database.compact(run).unwrap()),
            _ => {}
        }
    }
}

fn name(kind: Kind, v: u64) -> String {
    if kind.texts { format!("v{v}") } else { (v + 100).to_string() }
}

/// The value of each vertex by a run of an algorithm, and the whole answer.
fn computed(view: &View, run: &Run, algorithm: &str, params: &Params) -> (BTreeMap<VertexId, Value>, Answer) {
    let job = Job { view, run, params, verify: true };
    let answer = find(algorithm).unwrap().run(&job).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
    let mut values = BTreeMap::new();
    for row in 0..answer.columns.first().map_or(0, |column| column.values.len()) {
        let Value::Vertex(v) = answer.key(row) else { panic!("a row of no vertex") };
        values.insert(v, answer.columns[0].values.get(row));
    }
    (values, answer)
}

/// Whether two values are the same; scores, within a bound.
fn is_same(a: Value, b: Value, error: f64) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => (a - b).abs() <= error,
        (a, b) => a == b,
    }
}

/// The error bound of the scores: 0 unless the answer has a certificate.
fn error_of(follow: &Follow) -> f64 {
    let certified = follow.facts().iter().find(|(name, _)| *name == "error");
    certified.map_or(0.0, |(_, error)| if let Fact::Float(error) = error { *error } else { 0.0 })
}

/// The tolerance of scores.
pub(crate) const TOLERANCE: f64 = 1e-7;

/// Whether the certificate of scores holds: one more round by the verifier.
fn certified(follow: &Follow, run: &Run, present: &BTreeMap<VertexId, Value>, at: &str) {
    assert!(error_of(follow) <= TOLERANCE, "{at}");
    let score = |v: VertexId| match follow.answer().columns[0].values.get(v as usize) {
        Value::Float(score) => score,
        other => panic!("{v} has no score: {other:?}, {at}"),
    };
    let scores: Vec<f64> = present.keys().map(|&v| score(v)).collect();
    let total: f64 = scores.iter().sum();
    assert!((total - 1.0).abs() <= TOLERANCE, "{at}");
    let scores: Vec<f64> = scores.iter().map(|score| score / total).collect();
    let graph = follow.view().present_graph::<()>(run).unwrap();
    let copy = Csr::copy_of(&graph).unwrap();
    let copy = copy.graph();
    let rows = copy.rows(Direction::Out).unwrap();
    check::pagerank(rows, 0.85, None, &scores, TOLERANCE).unwrap_or_else(|wrong| panic!("{wrong}: {at}"));
}

pub(crate) fn agree(
    follow: &Follow,
    run: &Run,
    params: &Params,
    given: &BTreeMap<VertexId, Value>,
    at: &str,
) {
    let algorithm = follow.entry().name;
    let (mut expected, answer) = computed(follow.view(), run, algorithm, params);
    if algorithm == "colouring" {
        // Random ties go by the numbers of vertices, which a run counts without the removed ones.
        let graph = follow.view().graph::<()>(run).unwrap();
        let options = ColouringOptions { passes: NonZeroU32::MIN, ..ColouringOptions::default() };
        let found = colouring(&graph, run, &options).unwrap();
        expected.iter_mut().for_each(|(&v, value)| *value = Value::Count(found.colours[v as usize].into()));
        let copy = Csr::copy_of(&graph).unwrap();
        let copy = copy.graph();
        check::colouring(copy.rows(Direction::Out).unwrap(), graph.is_directed(), &found.colours).unwrap();
        assert_eq!(follow.facts(), [("colours", Fact::Count(found.count as u64))], "{at}");
    }
    if algorithm == "mis" && follow.updates() {
        // As above; a vertex without edges is a member.
        let graph = follow.view().graph::<()>(run).unwrap();
        let members = mis(&graph, run, &MisOptions::default()).unwrap().members;
        expected.iter_mut().for_each(|(&v, value)| *value = Value::Count(members[v as usize].into()));
        let copy = Csr::copy_of(&graph).unwrap();
        check::mis(copy.graph().rows(Direction::Out).unwrap(), &members).unwrap();
        let size = expected.values().filter(|value| **value == Value::Count(1)).count();
        assert_eq!(follow.facts(), [("size", Fact::Count(size as u64))], "{at}");
    }
    if algorithm == "matching" && follow.updates() {
        let graph = follow.view().graph::<()>(run).unwrap();
        let options = MatchingOptions { method: MatchingMethod::Priorities };
        let found = matching(&graph, run, &options).unwrap();
        let mate = |v: VertexId| match found.mates[v as usize] {
            NONE => Value::Missing,
            mate => Value::Vertex(mate),
        };
        expected.iter_mut().for_each(|(&v, value)| *value = mate(v));
        let copy = Csr::copy_of(&graph).unwrap();
        check::matching(copy.graph().rows(Direction::Out).unwrap(), &found.mates, found.edges).unwrap();
        assert_eq!(follow.facts(), [("edges", Fact::Count(found.edges as u64))], "{at}");
    }
    if algorithm == "lcc" {
        // Means too are the same, bit for bit.
        assert_eq!(follow.facts(), answer.facts, "{at}");
    }
    let values = follow.answer().columns.first().map(|column| &column.values);
    let error = error_of(follow);
    let is_ranks = algorithm == "pagerank";
    if is_ranks {
        certified(follow, run, &expected, at);
    }
    // What is computed anew is off by no more than this, itself.
    let error = error + 6.0 * TOLERANCE * f64::from(u8::from(is_ranks));
    for (&v, &value) in &expected {
        let live = values.map_or(Value::Missing, |values| values.get(v as usize));
        assert!(is_same(live, value, error), "{algorithm} of {v}: {live:?}, not {value:?}: {at}");
        let handed_on = given.get(&v).copied().unwrap_or(Value::Missing);
        assert_eq!(handed_on, live, "{algorithm} of {v} was handed on otherwise: {at}");
    }
    for v in
        (0..values.map_or(0, esker::answer::Values::len) as VertexId).filter(|v| !expected.contains_key(v))
    {
        assert_eq!(values.unwrap().get(v as usize), Value::Missing, "{algorithm}, {v} was removed: {at}");
        assert_eq!(given.get(&v).copied().unwrap_or(Value::Missing), Value::Missing, "{algorithm}: {at}");
    }
    let exact = |(name, fact): &&(&str, Fact)| {
        !matches!(fact, Fact::Float(_)) && !["colours", "size", "edges"].contains(name)
    };
    for (name, fact) in follow.facts().iter().filter(exact) {
        let expected = answer.facts.iter().find(|(other, _)| other == name);
        assert_eq!(expected.map(|(_, fact)| fact), Some(fact), "{algorithm}, {name}: {at}");
    }
}

/// Follows one algorithm over random streams.
fn holds(algorithm: &str, seeds: std::ops::Range<u64>, suits: fn(Kind) -> bool, params: fn(Kind) -> Params) {
    let updates = updates_of(algorithm, seeds, suits, params);
    assert!(updates > 100, "{updates} updates of {algorithm}");
}

/// Follows one algorithm over random streams. Returns the number of updates.
fn updates_of(
    algorithm: &str,
    seeds: std::ops::Range<u64>,
    suits: fn(Kind) -> bool,
    params: fn(Kind) -> Params,
) -> usize {
    let options = RunOptions { threads: 2, seed: 7, ..RunOptions::default() };
    let run = Arc::new(Run::new(options).unwrap());
    let mut updates = 0;
    for seed in seeds.filter(|&seed| suits(Kind::of(seed))) {
        let mut stream = Stream::new(seed, &run);
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let mut follower = Follower::open(disk, Path::new(&stream.path), Arc::clone(&run)).unwrap();
        let first = follower.at(follower.newest()).unwrap();
        let params = params(stream.kind);
        let choice = if seed % 3 == 0 { MethodChoice::Cheaper } else { MethodChoice::Update };
        let follow =
            Follow::start(first.view(), find(algorithm).unwrap(), &params, Arc::clone(&run)).unwrap();
        let mut follow = follow.with_choice(choice);
        let values = follow.answer().columns.first().map(|column| &column.values);
        let mut given: BTreeMap<VertexId, Value> = values
            .map(|values| (0..).zip((0..values.len()).map(|v| values.get(v))).collect())
            .unwrap_or_default();
        for step in 0..25 {
            stream.step(&run);
            if stream.noise.below(4) == 0 {
                continue; // Several versions come at once.
            }
            follower.refresh().unwrap();
            let known = follow.version();
            let newer = follower.versions().map(|version| version.number).filter(|&number| number > known);
            let skips = stream.noise.below(3) == 0;
            let newer: Vec<u64> = newer.filter(|&number| !skips || number == follower.newest()).collect();
            for number in newer {
                let at = format!("{:?}, seed {seed}, step {step}, version {number}", stream.kind);
                let update = follow.advance(follower.at(number).unwrap().view()).unwrap();
                updates += usize::from(update.method == Method::Update);
                for changed in &update.changed {
                    let before = given.insert(changed.vertex, changed.new).unwrap_or(Value::Missing);
                    assert_eq!(before, changed.old, "{algorithm} of {}: {at}", changed.vertex);
                    assert_ne!(changed.old, changed.new, "{algorithm}: {at}");
                    assert_ne!(changed.vertex, NONE);
                }
                agree(&follow, &run, &params, &given, &at);
                let first = follow.top(5, &Cancel::default()).unwrap();
                assert_eq!(first, top(follow.answer(), 5, &Cancel::default()).unwrap(), "{at}");
                if stream.noise.below(8) == 0 {
                    assert_eq!(follow.keep("").unwrap(), follow.updates(), "{at}");
                    follow =
                        resumed(&follow, &follower, &run, &params, &at).unwrap_or(follow).with_choice(choice);
                    agree(&follow, &run, &params, &given, &at);
                }
            }
            assert_eq!(follow.version(), stream.database.latest().unwrap().number());
        }
    }
    updates
}

/// What goes on from the state that was kept last, at the same version; `None` where none is kept.
fn resumed(
    follow: &Follow,
    follower: &Follower,
    run: &Arc<Run>,
    params: &Params,
    at: &str,
) -> Option<Follow> {
    let newest = follower.at(follower.newest()).unwrap();
    let open = |number| Ok(follower.at(number)?.view());
    let resumed = Follow::resume(&newest.view(), open, follow.entry(), params, "", run).unwrap();
    assert_eq!(resumed.refused, None, "{at}");
    assert_eq!(resumed.follow.is_some(), follow.updates(), "{at}");
    let resumed = resumed.follow?;
    assert_eq!(resumed.version(), follow.version(), "{at}");
    Some(resumed)
}

#[test]
fn components_are_as_computed_anew_at_every_version() {
    holds("wcc", 0..12, |_| true, |_| Params::default());
}

fn from_the_first(kind: Kind) -> Params {
    Params::default().with("source", name(kind, 0))
}

#[test]
fn steps_are_as_searched_anew_at_every_version() {
    holds("bfs", 0..12, |_| true, |kind| from_the_first(kind).with("source", name(kind, 9)));
}

#[test]
fn distances_are_as_searched_anew_at_every_version() {
    holds("sssp", 0..12, |_| true, from_the_first);
}

#[test]
fn widths_are_as_searched_anew_at_every_version() {
    holds("widest", 0..12, |_| true, from_the_first);
}

#[test]
fn ranks_are_within_their_certificate_at_every_version() {
    holds("pagerank", 0..12, |_| true, |_| Params::default().with("tolerance", TOLERANCE.to_string()));
}

#[test]
fn colours_are_as_coloured_anew_at_every_version() {
    holds(
        "colouring",
        0..12,
        |kind| kind.in_edges || !kind.directed,
        |_| Params::default().with("passes", "1"),
    );
}

#[test]
fn coreness_is_as_computed_anew_at_every_version() {
    holds("kcore", 0..12, |kind| kind.in_edges || !kind.directed, |_| Params::default());
}

#[test]
fn triangles_are_as_counted_anew_at_every_version() {
    holds("triangles", 0..12, |kind| kind.in_edges || !kind.directed, |_| Params::default());
}

#[test]
fn clustering_coefficients_are_as_counted_anew_at_every_version() {
    holds("lcc", 0..12, |kind| kind.in_edges || !kind.directed, |_| Params::default());
}

#[test]
fn independent_sets_are_as_chosen_anew_at_every_version() {
    holds("mis", 0..12, |kind| kind.in_edges || !kind.directed, |_| Params::default());
}

#[test]
fn matchings_are_as_found_anew_at_every_version() {
    let by_priorities: fn(Kind) -> Params = |_| Params::default().with("method", "priorities");
    holds("matching", 0..16, |kind| !kind.directed, by_priorities);
}

#[test]
fn degrees_are_as_counted_anew_at_every_version() {
    holds("degrees", 0..12, |_| true, |_| Params::default());
    let both = |_| Params::default().with("direction", "both");
    holds("degrees", 0..12, |kind| kind.in_edges || !kind.directed, both);
}

#[test]
fn distances_go_on_where_weights_get_a_wider_type() {
    let run = Arc::new(Run::with_threads(1).unwrap());
    let stream = Stream::new(4, &run);
    assert_eq!(stream.kind.weights, Some(false));
    let params = from_the_first(stream.kind);
    let entry = find("sssp").unwrap();
    let mut follow =
        Follow::start(stream.database.latest().unwrap().view(), entry, &params, Arc::clone(&run)).unwrap();
    let before = follow.view().weight_type();
    for weight in [PropertyValue::from(1_i64 << 40), PropertyValue::from(0.5)] {
        let mut batch = stream.database.batch();
        batch.add_edge(100, 1000, &[weight]).unwrap();
        stream.database.commit(batch, "wider").unwrap();
        follow.advance(stream.database.latest().unwrap().view()).unwrap();
        let values = &follow.answer().columns[0].values;
        let (expected, _) = computed(follow.view(), &run, "sssp", &params);
        expected.iter().for_each(|(&v, &value)| assert_eq!(values.get(v as usize), value, "{v}"));
    }
    assert_ne!(follow.view().weight_type(), before);
}

#[test]
fn a_source_that_was_removed_is_named() {
    let run = Arc::new(Run::with_threads(1).unwrap());
    let stream = Stream::new(4, &run);
    let params = Params::default().with("source", "101");
    let version = stream.database.latest().unwrap();
    let mut follow = Follow::start(version.view(), find("bfs").unwrap(), &params, Arc::clone(&run)).unwrap();
    let mut batch = stream.database.batch();
    batch.remove_vertex(101).unwrap();
    stream.database.commit(batch, "gone").unwrap();
    let error = follow.advance(stream.database.latest().unwrap().view()).unwrap_err().to_string();
    assert!(error.contains("\"101\" in version 2: it was removed"), "{error}");
}

#[test]
fn algorithms_without_an_update_are_computed_anew_at_every_version() {
    let directed: fn(Kind) -> bool = |kind| kind.directed && kind.in_edges;
    let any: fn(Kind) -> bool = |kind| kind.in_edges || !kind.directed;
    for (algorithm, suits) in [("scc", directed), ("cdlp", any), ("densest", any)] {
        assert_eq!(updates_of(algorithm, 0..6, suits, |_| Params::default()), 0);
    }
    let union_find: fn(Kind) -> Params = |_| Params::default().with("method", "union-find");
    assert_eq!(updates_of("wcc", 0..4, any, union_find), 0);
    let at_random: fn(Kind) -> Params = |_| Params::default().with("first", "random");
    assert_eq!(updates_of("mis", 0..4, any, at_random), 0);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let run = Arc::new(Run::with_threads(1).unwrap());
    let stream = Stream::new(0, &run);
    let start = |algorithm: &str, run: &Arc<Run>| {
        let version = stream.database.latest().unwrap();
        let params = Params::default();
        Follow::start(version.view(), find(algorithm).unwrap(), &params, Arc::clone(run))
            .unwrap_err()
            .to_string()
    };
    assert!(start("forest", &run).contains("forest answers with edges and cannot be followed"));
    let small = RunOptions { budget: esker::graph::Budget::new(1 << 10), ..RunOptions::default() };
    let refused = start("wcc", &Arc::new(Run::new(small).unwrap()));
    assert!(refused.contains("the state of a live wcc"), "{refused}");
}

/// Answers on all versions of a stream, computed together, against those on each.
#[test]
fn answers_on_versions_that_are_computed_together_are_those_on_each() {
    let run = Run::with_threads(2).unwrap();
    let cases = std::env::var("ESKER_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24_u64);
    let mut together = 0;
    for seed in 0..cases.min(48) {
        let mut stream = Stream::new(seed, &run);
        (0..seed % 80).for_each(|_| stream.step(&run));
        let numbers: Vec<u64> = stream.database.versions().iter().map(|version| version.number).collect();
        // Some versions are left out.
        let numbers: Vec<u64> = numbers.into_iter().filter(|number| number % 7 != 3).collect();
        let open = |i: usize| Ok::<_, esker::Error>(stream.database.at(numbers[i])?);
        for algorithm in ["wcc", "pagerank", "triangles", "degrees", "bfs"] {
            let (entry, mut params) = (find(algorithm).unwrap(), Params::default());
            match algorithm {
                "bfs" => params = from_the_first(stream.kind).with("source", name(stream.kind, 9)),
                "degrees" if stream.kind.in_edges => params = params.with("direction", "both"),
                _ => {}
            }
            let mut found = Vec::new();
            let done = answers_on_versions(numbers.len(), open, entry, &params, &run, |answer| {
                found.push(answer);
                Ok::<_, esker::Error>(())
            });
            let done = done.unwrap();
            assert_eq!(done, found.len());
            if ["wcc", "degrees", "bfs"].contains(&algorithm) {
                assert!(done + 1 >= numbers.len(), "{algorithm}");
            }
            together += done;
            for (i, found) in found.iter().enumerate() {
                let told = format!("{algorithm} on version {} of stream {seed}", numbers[i]);
                assert_eq!(found.index, i);
                let version = open(i).unwrap();
                let (expected, answer) = computed(&version.view(), &run, algorithm, &params);
                assert_eq!(
                    (found.num_vertices, found.num_edges),
                    (expected.len(), version.num_edges()),
                    "{told}"
                );
                let values = &found.answer.columns[0].values;
                for row in 0..values.len() {
                    let Value::Vertex(v) = found.answer.key(row) else { panic!("a row of no vertex") };
                    let (found, expected) = (values.get(row), expected[&v]);
                    assert!(is_same(found, expected, 1e-5), "{told}: {found:?}, not {expected:?}, of {v}");
                }
                if algorithm != "pagerank" {
                    assert_eq!(found.answer.facts, answer.facts, "{told}");
                }
            }
        }
    }
    assert!(together > 0);
}

/// Where versions do not fit in memory together, none is visited.
#[test]
fn versions_that_do_not_fit_together_are_left_to_single_runs() {
    let run = Run::with_threads(1).unwrap();
    let mut stream = Stream::new(0, &run);
    (0..5).for_each(|_| stream.step(&run));
    let tight =
        Run::new(RunOptions { threads: 1, budget: Budget::new(100), ..RunOptions::default() }).unwrap();
    let count = stream.database.versions().len();
    let open = |i: usize| Ok::<_, esker::Error>(stream.database.at(i as u64 + 1)?);
    let done = answers_on_versions(count, open, find("wcc").unwrap(), &Params::default(), &tight, |_| {
        panic!("too much")
    });
    assert_eq!(done.unwrap(), 0);
}
