//! Live answers on windows that move with the versions, against a run on each window.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use esker::answer::{Value, Values};
use esker::catalogue::{Params, find};
use esker::follow::{Follow, Method, MethodChoice};
use esker::graph::{Budget, Direction, Graph, Lists, Remaining, Run, RunOptions, VertexId, vertex};
use esker::import::install::import;
use esker::import::options::{ImportOptions, NumberingOrder};
use esker::import::read::source::{EdgeBatch, IdKind, Numbers, Schema};
use esker::selection::{Condition, Conditions};
use esker::store::format::{CopyPolicy, Duplicates, Encoding, Retention};
use esker::store::io::{Disk, MemoryDisk};
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::windows::{Combine, Copies, TimeWindow};
use esker::store::{Database, DatabaseOptions, Follower, Version, View};
use esker_graph::random::Random;

use crate::follow::{TOLERANCE, agree};
use crate::forms::Listed;

/// Ids of the imported graph; later ones are new.
const IMPORTED: u64 = 40;
/// The length of a window; every step of a stream adds up to six.
const LENGTH: i64 = 24;

/// Streams with seeds from here on have layers by all policies, and some of them times beyond 32 bits.
const ALL_POLICIES: u64 = 100;

struct Stream {
    directed: bool,
    in_edges: bool,
    noise: Random,
    disk: Arc<dyn Disk>,
    database: Database,
    /// Another reader, which shows the same versions in other layers.
    follower: Option<Follower>,
    ids: u64,
    now: i64,
    /// What the edges that are shown meet.
    conditions: Vec<Condition>,
}

impl Stream {
    fn new(seed: u64) -> Self {
        let mut noise = Random::new(seed);
        let (directed, in_edges) = (seed & 1 == 1, seed % 5 != 3);
        let count = 3 * IMPORTED as usize;
        // Every vertex is a source, those with small numbers have many edges.
        let source = (0..IMPORTED).cycle().take(count).collect();
        let targets = (0..count).map(|_| {
            let most = noise.below(IMPORTED);
            noise.below(1 + most)
        });
        let target = targets.collect();
        let start = if seed >= ALL_POLICIES && seed & 8 > 0 { 1 << 40 } else { 0 };
        let mut column = |first: i64, bound: u64| {
            Numbers::Int((0..count).map(|_| first + noise.below(bound) as i64).collect()).finish()
        };
        let batch = EdgeBatch {
            properties: vec![column(start, LENGTH as u64), column(0, 9)],
            ..EdgeBatch::of_integers(source, target, 0)
        };
        let schema = Schema {
            operation: None,
            kind: None,
            format: "list",
            ids: IdKind::Numbered { first: 0, num_vertices: IMPORTED },
            properties: vec!["sent".to_owned(), "weight".to_owned()],
            weight: Some(1),
            time: None,
            types: Vec::new(),
            directed: Some(directed),
            both_ends: false,
            input_bytes: None,
        };
        let options = ImportOptions {
            order: NumberingOrder::Keep,
            in_edges,
            encoding: if seed & 2 > 0 { Encoding::Compressed } else { Encoding::Plain },
            duplicates: if seed.is_multiple_of(3) { Duplicates::Last } else { Duplicates::Keep },
            threads: 1,
            memory_bytes: 16 << 20,
            ..ImportOptions::default()
        };
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let path = Path::new("/g.esker");
        import(&disk, Box::new(Listed::of(schema, batch)), path, &options, StagingOptions::default())
            .unwrap();
        let options = DatabaseOptions {
            threads: 1,
            auto_merge: Some(seed % 4 < 2),
            policy: (seed >= ALL_POLICIES).then(|| CopyPolicy::ALL[seed as usize % CopyPolicy::ALL.len()]),
            ..DatabaseOptions::default()
        };
        let database = Database::open_on(Arc::clone(&disk), path, options).unwrap();
        let follower = (seed & 4 == 0).then(|| {
            let run = Arc::new(Run::with_threads(1).unwrap());
            Follower::open(Arc::clone(&disk), path, run).unwrap()
        });
        let (now, conditions) = (start + LENGTH, Vec::new());
        Self { directed, in_edges, noise, disk, database, follower, ids: IMPORTED, now, conditions }
    }

    /// The newest version.
    fn newest(&self) -> View {
        self.shown(&match &self.follower {
            Some(follower) => follower.at(follower.newest()).unwrap(),
            None => self.database.latest().unwrap(),
        })
    }

    /// A version by its number.
    fn at(&self, number: u64) -> View {
        self.shown(&match &self.follower {
            Some(follower) => follower.at(number).unwrap(),
            None => self.database.at(number).unwrap(),
        })
    }

    /// The edges of a version that meet the conditions.
    fn shown(&self, version: &Version) -> View {
        let run = Run::with_threads(1).unwrap();
        match Conditions::of(&self.conditions, version, &run).unwrap() {
            Some(conditions) => version.view().filtered(conditions, None, false, &run).unwrap(),
            None => version.view(),
        }
    }

    /// Commits edges of about now, and changes of others, and now and then freezes or merges what there is.
    fn step(&mut self, run: &Run) {
        self.now += self.noise.below(7) as i64;
        let mut batch = self.database.batch();
        for _ in 0..1 + self.noise.below(12) {
            self.ids += u64::from(self.noise.below(12) == 0);
            let noise = &mut self.noise;
            let (u, most) = (noise.below(self.ids), noise.below(self.ids));
            let v = noise.below(1 + most);
            match noise.below(16) {
                0 if u % 9 != 0 && (self.in_edges || !self.directed) => batch.remove_vertex(u).unwrap(),
                1..=3 => batch.remove_edge(u, v).unwrap(),
                // Some are late, some already too old, and some change the time of an edge.
                choice => {
                    let late = if choice == 4 { noise.below(2 * LENGTH as u64) } else { noise.below(4) };
                    let values = [self.now - late as i64, noise.below(9) as i64].map(PropertyValue::from);
                    batch.add_edge(u, v, &values).unwrap();
                }
            }
        }
        let values = [self.now, 1].map(PropertyValue::from);
        batch.add_edge(0_u64, 9_u64, &values).unwrap();
        self.database.commit(batch, "a step").unwrap();
        match self.noise.below(12) {
            0 => drop(self.database.freeze(run).unwrap()),
            1 => drop(self.database.merge(run).unwrap()),
            2 => drop(self.database.compact(run).unwrap()),
            _ => {}
        }
        if let Some(follower) = &mut self.follower {
            follower.refresh().unwrap();
        }
    }
}

/// What was handed on for each vertex.
fn values_of(follow: &Follow) -> BTreeMap<VertexId, Value> {
    let values: Option<&Values> = follow.answer().columns.first().map(|column| &column.values);
    values.map(|values| (0..).zip((0..values.len()).map(|v| values.get(v))).collect()).unwrap_or_default()
}

/// Follows an algorithm over windows that move over a random stream. Returns the number of updates, and of
/// windows that were made from the one before.
fn updates_of(algorithm: &str, seed: u64, copies: Copies, params: &Params) -> (usize, usize) {
    updates_where(&[], algorithm, seed, copies, params)
}

/// As [`updates_of`], of the edges that meet some conditions.
fn updates_where(
    conditions: &[&str],
    algorithm: &str,
    seed: u64,
    copies: Copies,
    params: &Params,
) -> (usize, usize) {
    let run = Arc::new(Run::new(RunOptions { threads: 1, seed: 7, ..RunOptions::default() }).unwrap());
    let mut stream = Stream::new(seed);
    stream.conditions = conditions.iter().map(|text| text.parse().unwrap()).collect();
    // Searches begin at vertices that have to be there.
    let all_vertices = params.text("source").is_some() || seed & 4 > 0;
    let window = |stream: &Stream, until: i64| {
        let window = TimeWindow { after: until - LENGTH, until, copies };
        stream.newest().window("sent", window, all_vertices, &run).unwrap()
    };
    // The same, made from the window before; the counts are those of the edges.
    let moved = |stream: &Stream, former: &View, until: i64, at: &str| {
        let (counted, view) = (window(stream, until), stream.newest());
        let range = *counted.window_index().unwrap().window();
        let moved = view.window_after(former, "sent", range, all_vertices, &run).unwrap();
        let (index, other) = (moved.window_index().unwrap(), counted.window_index().unwrap());
        assert_eq!((index.num_edges(), index.num_arcs()), (other.num_edges(), other.num_arcs()), "{at}");
        assert_eq!(index.absent(), other.absent(), "{at}");
        for direction in [Direction::Out, Direction::In].into_iter().filter(|d| counted.version().has(*d)) {
            for v in (0..counted.version().num_vertices()).map(vertex) {
                assert_eq!(index.degree(direction, v), other.degree(direction, v), "{v} {direction:?}: {at}");
            }
        }
        moved
    };
    let mut until = stream.now;
    let choice = if seed.is_multiple_of(3) { MethodChoice::Cheaper } else { MethodChoice::Update };
    let first = window(&stream, until);
    let follow = Follow::start(first, find(algorithm).unwrap(), params, Arc::clone(&run)).unwrap();
    let mut follow = follow.with_choice(choice);
    let (mut given, mut updates, mut moves) = (values_of(&follow), 0, 0);
    for step in 0..30 {
        let steps = if stream.noise.below(15) == 0 { 2 * LENGTH } else { 1 };
        (0..steps).for_each(|_| stream.step(&run));
        // Now and then the window stays where it was while versions come.
        if stream.noise.below(4) > 0 {
            until = stream.now - stream.noise.below(3) as i64;
        }
        let at = format!("{algorithm}, seed {seed}, step {step}, until {until}");
        let next = moved(&stream, follow.view(), until, &at);
        moves += usize::from(next.window_move(follow.view()).is_some());
        let update = follow.advance(next).unwrap_or_else(|error| panic!("{error}: {at}"));
        updates += usize::from(update.method == Method::Update);
        for changed in &update.changed {
            let before = given.insert(changed.vertex, changed.new).unwrap_or(Value::Missing);
            assert_eq!(before, changed.old, "{}: {at}", changed.vertex);
        }
        agree(&follow, &run, params, &given, &at);
        let is_kept = copies == Copies::All && conditions.is_empty();
        // Ranks have a certificate also where a window moved far.
        assert!(algorithm != "pagerank" || !is_kept || follow.updates(), "{at}");
        let keeps = stream.noise.below(5) == 0;
        // Also after a window moved so far that its answer was computed without a state.
        assert!(!keeps || follow.keep("").unwrap() == is_kept, "{at}");
        if keeps && is_kept {
            let newest = window(&stream, until);
            let open = |number| Ok(stream.at(number));
            let resumed = Follow::resume(&newest, open, find(algorithm).unwrap(), params, "", &run).unwrap();
            assert_eq!(resumed.refused, None, "{at}");
            follow = resumed.follow.unwrap().with_choice(choice);
            assert_eq!(follow.version(), newest.version().number(), "{at}");
            // A state that was computed to be kept has the values that were handed on.
            agree(&follow, &run, params, &given, &at);
        }
    }
    (updates, moves)
}

#[test]
fn windows_that_move_are_followed_by_updates() {
    let source = || Params::default().with("source", "0");
    let within = Params::default().with("tolerance", TOLERANCE.to_string());
    for (algorithm, params) in [
        ("wcc", Params::default()),
        ("bfs", source()),
        ("sssp", source()),
        ("widest", source()),
        ("pagerank", within),
        ("kcore", Params::default()),
        ("triangles", Params::default()),
        ("lcc", Params::default()),
        ("degrees", Params::default().with("direction", "both")),
    ] {
        let needs_in = ["kcore", "triangles", "lcc", "degrees"].contains(&algorithm);
        let seeds = (0..6).filter(|seed| !needs_in || seed & 1 == 0 || seed % 5 != 3);
        let (updates, moves) = seeds
            .map(|seed| updates_of(algorithm, seed, Copies::All, &params))
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert!(updates > 40, "{updates} updates of {algorithm}");
        assert!(moves > 40, "{moves} windows of {algorithm} were made from the one before");
    }
}

#[test]
fn windows_that_move_keep_the_conditions() {
    let source = || Params::default().with("source", "0");
    let copies = [Copies::All, Copies::Distinct, Copies::Weighted(Combine::Sum)];
    let algorithms = [
        ("degrees", Params::default()),
        ("kcore", Params::default()),
        ("wcc", Params::default()),
        ("sssp", source()),
        ("leiden", Params::default()),
    ];
    let conditions = ["weight >= 5", "source < 20 and not weight = 3", "vertex != 4"];
    for (case, (algorithm, params)) in algorithms.iter().enumerate() {
        for seed in [0, 2, 4].map(|seed| seed + 6 * case as u64) {
            // In undirected graphs only both ends have names.
            let (condition, copies) =
                (conditions[2 * (seed as usize / 2 % 2)], copies[seed as usize / 2 % 3]);
            let moved = updates_where(&[condition], algorithm, seed, copies, params);
            assert_eq!(moved, (0, 0), "{algorithm}, seed {seed}, {condition}");
        }
    }
    for seed in [1, 5, 7, 9] {
        let moved = updates_where(&conditions[..2], "degrees", seed, Copies::All, &Params::default());
        assert_eq!(moved, (0, 0), "seed {seed}");
    }
}

/// The list of each vertex in a window: those of the version with the times, filtered here.
fn lists_within(view: &View, window: &TimeWindow, direction: Direction, run: &Run) -> Vec<Vec<VertexId>> {
    let timed = view.clone().weighted_by("sent").unwrap();
    let list = |targets: &[VertexId], times: &mut dyn Iterator<Item = i64>| {
        targets.iter().zip(times).filter(|arc| window.contains(arc.1)).map(|arc| *arc.0).collect()
    };
    (0..view.version().num_vertices())
        .map(vertex)
        .map(|v| match timed.graph::<i32>(run) {
            Ok(graph) => graph
                .with_list(direction, v, |targets, times| {
                    list(targets, &mut times.iter().map(|&t| i64::from(t)))
                })
                .unwrap(),
            Err(_) => {
                let graph = timed.graph::<i64>(run).unwrap();
                graph
                    .with_list(direction, v, |targets, times| list(targets, &mut times.iter().copied()))
                    .unwrap()
            }
        })
        .collect()
}

/// Compares what is counted of a window, and its graph in memory, with the edges of the version.
fn assert_window(shown: &View, version: &View, only: Option<Direction>, run: &Run, at: &str) {
    let index = shown.window_index().unwrap();
    let shown = shown.clone().gathered(true).reading(only);
    let graph = shown.present_graph::<()>(run).unwrap();
    let rank = |v: VertexId| index.remaining().map_or(Some(v), |remaining| Remaining::place(remaining, v));
    for direction in [Direction::Out, Direction::In].into_iter().filter(|&one| shown.version().has(one)) {
        let lists = lists_within(version, index.window(), direction, run);
        assert_eq!(lists.iter().map(Vec::len).sum::<usize>() as u64, index.num_arcs(), "{direction:?}: {at}");
        for (v, list) in lists.iter().enumerate() {
            assert_eq!(index.degree(direction, vertex(v)), list.len(), "{v}, {direction:?}: {at}");
            let Some(place) = rank(vertex(v)) else {
                assert!(list.is_empty(), "{v}, {direction:?}: {at}");
                continue;
            };
            let expected: Vec<_> = list.iter().map(|&target| rank(target).unwrap()).collect();
            let found = graph.with_list(direction, place, |targets, _| targets.to_vec()).unwrap();
            assert_eq!(found, expected, "{v}, {direction:?}, {only:?}: {at}");
            assert_eq!(graph.degree(direction, place), expected.len(), "{v}, {direction:?}, {only:?}: {at}");
        }
    }
}

#[test]
fn windows_are_counted_and_gathered_from_any_layers() {
    let run = Run::with_threads(2).unwrap();
    for seed in ALL_POLICIES..ALL_POLICIES + 24 {
        let mut stream = Stream::new(seed);
        let mut shown: Option<View> = None;
        for step in 0..24 {
            (0..1 + stream.noise.below(4)).for_each(|_| stream.step(&run));
            let newest = stream.newest();
            let noise = &mut stream.noise;
            // Some follow the one before, some go back or far ahead, some are of another length or all of the
            // stream.
            let until = match noise.below(8) {
                0 => stream.now - noise.below(3 * LENGTH as u64) as i64,
                1 => i64::MAX,
                _ => stream.now,
            };
            let length = [LENGTH, LENGTH, LENGTH, 3, 3 * LENGTH][noise.below(5) as usize];
            let after = if noise.below(9) == 0 { i64::MIN } else { until.saturating_sub(length) };
            let (window, all_vertices) =
                (TimeWindow { after, until, copies: Copies::All }, noise.below(3) == 0);
            let only = [None, Some(Direction::Out), Some(Direction::In)][noise.below(3) as usize];
            let at = format!("seed {seed}, step {step}, {window:?}");
            let next = match &shown {
                Some(former) => newest.clone().window_after(former, "sent", window, all_vertices, &run),
                None => newest.clone().window("sent", window, all_vertices, &run),
            };
            let next = next.unwrap_or_else(|error| panic!("{error}: {at}"));
            assert_window(&next, &newest, only, &run, &at);
            shown = Some(next);
        }
    }
}

#[test]
fn a_search_goes_on_where_a_window_lacks_its_source() {
    let params = Params::default().with("source", "36");
    let kinds =
        [("bfs", Copies::All), ("sssp", Copies::All), ("widest", Copies::All), ("bfs", Copies::Distinct)];
    for (algorithm, copies) in kinds {
        let (mut with, mut without) = (0, 0);
        for seed in 0..6 {
            let run = Arc::new(Run::with_threads(1).unwrap());
            let mut stream = Stream::new(seed);
            let window = |stream: &Stream| {
                let window = TimeWindow { after: stream.now - LENGTH, until: stream.now, copies };
                stream.newest().window("sent", window, false, &run).unwrap()
            };
            let (first, entry) = (window(&stream), find(algorithm).unwrap());
            let mut follow = Follow::start(first, entry, &params, Arc::clone(&run)).unwrap();
            let mut given = values_of(&follow);
            for step in 0..30 {
                stream.step(&run);
                let (next, at) = (window(&stream), format!("{algorithm}, seed {seed}, step {step}"));
                let lacks = next.removed(&run).unwrap().is_removed(36);
                for changed in follow.advance(next).unwrap().changed {
                    let before = given.insert(changed.vertex, changed.new).unwrap_or(Value::Missing);
                    assert_eq!(before, changed.old, "{}: {at}", changed.vertex);
                }
                if lacks {
                    without += 1;
                    assert!(given.values().all(|&value| value == Value::Missing), "{at}");
                } else {
                    with += 1;
                    agree(&follow, &run, &params, &given, &at);
                }
            }
        }
        assert!(with > 20 && without > 20, "{algorithm}: {with} windows with the source, {without} without");
    }
}

#[test]
fn what_a_window_gained_counts_against_the_budget() {
    let window = TimeWindow { after: 0, until: 4 * LENGTH, copies: Copies::All };
    let edges = 3000_u64;
    // What the budget allows, whether the window was made from the one before, and whether the answer was
    // updated.
    let mut found = Vec::new();
    for budget_bytes in (12..22).map(|power| 1_u64 << power) {
        let mut stream = Stream::new(1);
        let options = RunOptions { threads: 1, budget: Budget::new(budget_bytes), ..RunOptions::default() };
        let (run, wide) = (Arc::new(Run::new(options).unwrap()), Run::with_threads(1).unwrap());
        let former = stream.newest().window("sent", window, false, &wide).unwrap();
        let degrees = find("degrees").unwrap();
        let started = Follow::start(former.clone(), degrees, &Params::default(), Arc::clone(&run));
        let mut batch = stream.database.batch();
        for edge in 0..edges {
            let values = [LENGTH + edge as i64 % LENGTH, 1].map(PropertyValue::from);
            batch.add_edge(edge % IMPORTED, edge / IMPORTED, &values).unwrap();
        }
        stream.database.commit(batch, "many edges").unwrap();
        if let Some(follower) = &mut stream.follower {
            follower.refresh().unwrap();
        }
        let free_bytes = run.budget().free_bytes();
        let Ok(moved) = stream.newest().window_after(&former, "sent", window, false, &run) else { continue };
        let is_moved = moved.window_move(&former).is_some();
        let held_bytes = free_bytes - run.budget().free_bytes();
        assert!(!is_moved || held_bytes >= 8 * edges, "{held_bytes} bytes of {budget_bytes}");
        let Ok(mut follow) = started else { continue };
        follow = follow.with_choice(MethodChoice::Update);
        // A window may fit where its answer does not.
        let method = match follow.advance(moved) {
            Ok(update) => update.method,
            Err(error) => {
                assert!(error.to_string().contains("memory"), "{error}");
                continue;
            }
        };
        assert_eq!(follow.answer().columns.len(), 1);
        found.push((is_moved, method));
    }
    assert!(found.contains(&(false, Method::Recompute)), "{found:?}");
    assert!(found.contains(&(true, Method::Update)), "{found:?}");
}

#[test]
fn windows_that_join_edges_are_computed_anew() {
    for (seed, copies) in [(1, Copies::Distinct), (2, Copies::Weighted(Combine::Count))] {
        assert_eq!(updates_of("wcc", seed, copies, &Params::default()), (0, 0));
    }
    // Colours and independent sets follow from the numbers of the vertices of a window.
    let (run, stream) = (Arc::new(Run::with_threads(1).unwrap()), Stream::new(2));
    let window = TimeWindow { after: 0, until: LENGTH, copies: Copies::All };
    let shown = stream.database.latest().unwrap().view().window("sent", window, false, &run).unwrap();
    let params = Params::default().with("passes", "1");
    let colours = Follow::start(shown.clone(), find("colouring").unwrap(), &params, Arc::clone(&run));
    assert!(!colours.unwrap().updates());
    assert!(!Follow::start(shown, find("mis").unwrap(), &Params::default(), run).unwrap().updates());
}

#[test]
fn a_state_that_was_kept_is_resumed_and_refused_where_it_does_not_belong() {
    let (run, params) = (Arc::new(Run::with_threads(1).unwrap()), Params::default());
    let mut stream = Stream::new(4);
    let disk = Arc::clone(&stream.disk);
    let resume = |stream: &Stream, algorithm: &str| {
        let open = |number| Ok(stream.at(number));
        Follow::resume(&stream.newest(), open, find(algorithm).unwrap(), &params, "", &run).unwrap()
    };
    let nothing = resume(&stream, "wcc");
    assert!(nothing.follow.is_none() && nothing.refused.is_none());
    let follow = Follow::start(stream.newest(), find("wcc").unwrap(), &params, Arc::clone(&run)).unwrap();
    assert!(follow.keep("").unwrap());
    stream.step(&run);
    // It goes on from its version.
    let mut resumed = resume(&stream, "wcc").follow.unwrap();
    assert_eq!((resumed.version(), values_of(&resumed)), (follow.version(), values_of(&follow)));
    resumed.advance(stream.newest()).unwrap();
    assert!(resume(&stream, "kcore").follow.is_none(), "another algorithm has another state");
    // Damage is found, and is no failure.
    let directory = Path::new("/g.esker/live");
    let names: Vec<_> = disk.list(directory).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let file = disk.open_for_writing(&directory.join(&names[0])).unwrap();
    let mut byte = [0];
    file.read_at(&mut byte, 4200).unwrap();
    file.write_at(&[!byte[0]], 4200).unwrap();
    let damaged = resume(&stream, "wcc");
    assert!(damaged.follow.is_none());
    let refused = damaged.refused.unwrap();
    assert!(refused.contains(&names[0]) && refused.contains("checksum"), "{refused}");
    // Its version may be forgotten.
    assert!(resumed.keep("").unwrap());
    let kept = resumed.version();
    stream.step(&run);
    assert_eq!(resume(&stream, "wcc").follow.unwrap().version(), kept);
    stream.database.retain(Retention::Last(1)).unwrap();
    let forgotten = resume(&stream, "wcc");
    assert!(forgotten.follow.is_none());
    let refused = forgotten.refused.unwrap();
    assert!(refused.contains(&format!("version {kept}")) && refused.contains("forgotten"), "{refused}");
}
