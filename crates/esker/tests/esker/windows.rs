//! Windows over a stream of timed edges, against a list of edges that is filtered here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use esker::MemoryLimit;
use esker::answer::{Answer, Values};
use esker::catalogue::{CATALOGUE, Job, Params, Resources, WeightReads, find};
use esker::change::expire;
use esker::computation::Computation;
use esker::graph::{
    Budget, Direction, Flow, Graph, Lists, Piece, Run, RunOptions, Select, VertexId, Visitor, vertex,
};
use esker::import::install::import;
use esker::import::options::{Duplicates, ImportOptions, NumberingOrder};
use esker::import::read::source::{EdgeBatch, IdKind, Numbers, Schema};
use esker::rates::Known;
use esker::store::format::CopyPolicy;
use esker::store::format::Encoding;
use esker::store::format::LayerRecord;
use esker::store::format::Retention;
use esker::store::io::{Disk, MemoryDisk, RealDisk};
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::tiles::ConvertOptions;
use esker::store::windows::{Combine, Copies, TimeWindow};
use esker::store::{CommitOptions, Database, DatabaseOptions, StoredWeight, View};
use esker::window::{WindowJob, WindowSeries};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::common::cases;
use crate::encodings::{agree_on, requests_from};
use crate::forms::{Form, Listed, Model, Weights, accesses};

/// Times begin at one of these: within 32 bits, and beyond.
const STARTS: [i64; 2] = [1000, 1 << 40];

/// `u -> v` at a time, with a weight.
type Timed = (u64, u64, i64, i64);

/// Edges in the order in which they come.
#[derive(Debug, Clone)]
struct Stream {
    num_vertices: u64,
    directed: bool,
    start: i64,
    edges: Vec<Timed>,
    /// The commit of each edge; 0 is the import.
    commits: Vec<usize>,
}

const COMMITS: usize = 4;

/// Whether lists are copied to memory, and those of which direction alone. The others are read nevertheless.
const GATHERED: [(bool, Option<Direction>); 4] =
    [(false, None), (true, None), (true, Some(Direction::Out)), (true, Some(Direction::In))];

fn streams() -> impl Strategy<Value = Stream> {
    // Where each commit is later than the one before, windows leave layers out.
    let later = prop_oneof![Just(0), Just(500)];
    (2..30_u64, any::<bool>(), 0..2_usize, later).prop_flat_map(|(num_vertices, directed, start, later)| {
        let start = STARTS[start];
        let time = prop_oneof![start..start + 20, start..start + 1000];
        let edge = (0..num_vertices, 0..num_vertices, time, (1_i64 << 33)..(1 << 33) + 50);
        prop::collection::vec((edge, 0..COMMITS), 1..200).prop_map(move |mut edges| {
            // The first settles the types of the columns.
            edges[0].1 = 0;
            edges.sort_by_key(|(_, commit)| *commit);
            edges.iter_mut().for_each(|(edge, commit)| edge.2 += *commit as i64 * later);
            let commits = edges.iter().map(|(_, commit)| *commit).collect();
            let edges = edges.into_iter().map(|(edge, _)| edge).collect();
            Stream { num_vertices, directed, start, edges, commits }
        })
    })
}

fn windows() -> impl Strategy<Value = TimeWindow> {
    let copies = prop_oneof![
        Just(Copies::All),
        Just(Copies::Distinct),
        prop_oneof![
            Just(Combine::Count),
            Just(Combine::Sum),
            Just(Combine::Min),
            Just(Combine::Max),
            Just(Combine::Last)
        ]
        .prop_map(Copies::Weighted),
    ];
    let range = (prop_oneof![-2..30_i64, 300..1800_i64], 0..1200_i64);
    (range, copies).prop_map(|((after, length), copies)| TimeWindow { after, until: after + length, copies })
}

impl Stream {
    /// A window that counts from the start of the stream.
    fn at_start(&self, window: TimeWindow) -> TimeWindow {
        let TimeWindow { after, until, copies } = window;
        TimeWindow { after: after + self.start, until: until + self.start, copies }
    }

    fn imported(&self, disk: Arc<dyn Disk>, path: &Path, encoding: Encoding, policy: CopyPolicy) -> Database {
        let first: Vec<Timed> = self.of_commit(0).collect();
        let column = |take: fn(&Timed) -> i64| Numbers::Int(first.iter().map(take).collect()).finish();
        let batch = EdgeBatch {
            properties: vec![column(|edge| edge.2), column(|edge| edge.3)],
            ..EdgeBatch::of_integers(
                first.iter().map(|edge| edge.0).collect(),
                first.iter().map(|edge| edge.1).collect(),
                0,
            )
        };
        let schema = Schema {
            operation: None,
            kind: None,
            format: "list",
            ids: IdKind::Numbered { first: 0, num_vertices: self.num_vertices },
            properties: vec!["time".to_owned(), "weight".to_owned()],
            weight: Some(1),
            types: Vec::new(),
            directed: Some(self.directed),
            time: None,
            both_ends: false,
            input_bytes: None,
        };
        let options = ImportOptions {
            order: NumberingOrder::Keep,
            duplicates: Duplicates::Keep,
            encoding,
            threads: 1,
            memory_bytes: 16 << 20,
            ..ImportOptions::default()
        };
        import(&disk, Box::new(Listed::of(schema, batch)), path, &options, StagingOptions::default())
            .expect("an import");
        let options = DatabaseOptions {
            policy: Some(policy),
            auto_merge: Some(false),
            threads: 1,
            ..DatabaseOptions::default()
        };
        Database::open_on(disk, path, options).expect("a database")
    }

    fn of_commit(&self, commit: usize) -> impl Iterator<Item = Timed> {
        self.edges.iter().zip(&self.commits).filter(move |edge| *edge.1 == commit).map(|edge| *edge.0)
    }

    /// The database after the commits from `first` on.
    fn database(&self, encoding: Encoding, policy: CopyPolicy, run: &Run) -> Database {
        self.database_on(Arc::new(MemoryDisk::new()), Path::new("/g.esker"), encoding, policy, run)
    }

    fn database_on(
        &self,
        disk: Arc<dyn Disk>,
        path: &Path,
        encoding: Encoding,
        policy: CopyPolicy,
        run: &Run,
    ) -> Database {
        let database = self.imported(disk, path, encoding, policy);
        for commit in 1..COMMITS {
            let mut batch = database.batch();
            for (u, v, time, weight) in self.of_commit(commit) {
                let values = [PropertyValue::from(time), PropertyValue::from(weight)];
                batch.add_edge(u, v, &values).expect("an edge");
            }
            database.commit(batch, "").expect("a commit");
            // The last commit stays in the log.
            if commit + 1 < COMMITS {
                database.freeze(run).expect("a layer");
            }
        }
        database
    }

    /// The newest version, and that after the first commit, in every form.
    fn forms(&self, run: &Run) -> Vec<(String, View, usize)> {
        let mut forms = Vec::new();
        for (name, encoding, policy) in [
            ("plain", Encoding::Plain, CopyPolicy::Mixed),
            ("compressed", Encoding::Compressed, CopyPolicy::Copy),
            ("chained", Encoding::Plain, CopyPolicy::Chain),
        ] {
            let database = self.database(encoding, policy, run);
            let mut add = |name: String, view: View, last| {
                for (how, access) in accesses(&view) {
                    let view = view.clone().resident(access).expect("what there is");
                    forms.push((format!("{name}, {how}"), view, last));
                }
                forms.push((name, view, last));
            };
            let second = database.latest().expect("a version").number() - COMMITS as u64 + 2;
            add(format!("{name} layers"), database.latest().expect("a version").view(), COMMITS);
            add(format!("{name} older"), database.at(second).expect("a version").view(), 2);
            database.compact(run).expect("one layer");
            database.make_tiles(&ConvertOptions::default(), run).expect("tiles");
            add(format!("{name} compacted"), database.latest().expect("a version").view(), COMMITS);
            add(format!("{name} within a layer"), database.at(second).expect("a version").view(), 2);
        }
        forms
    }

    /// The least and the greatest time of the version before a commit.
    fn time_range(&self, commits: usize) -> Option<(i64, i64)> {
        let edges = self.edges.iter().zip(&self.commits).filter(|edge| *edge.1 < commits);
        let times = edges.map(|(edge, _)| edge.2);
        times.clone().min().zip(times.max())
    }

    /// The lists of a window of the version before a commit, by vertex, sorted.
    fn lists(&self, window: &TimeWindow, commits: usize, direction: Direction) -> Vec<Vec<(u64, i64)>> {
        let mut copies: BTreeMap<(u64, u64), Vec<(i64, i64)>> = BTreeMap::new();
        let mut add = |u, v, time, weight| copies.entry((u, v)).or_default().push((time, weight));
        let edges = self.edges.iter().zip(&self.commits).filter(|edge| *edge.1 < commits);
        for (&(u, v, time, weight), _) in edges {
            if time <= window.after || time > window.until {
                continue;
            }
            match direction {
                Direction::In if self.directed => add(v, u, time, weight),
                _ => add(u, v, time, weight),
            }
            if !self.directed && u != v {
                add(v, u, time, weight);
            }
        }
        let mut lists = vec![Vec::new(); self.num_vertices as usize];
        for ((u, v), copies) in copies {
            let weights = || copies.iter().map(|copy| copy.1);
            let last = copies.iter().map(|copy| (-copy.0, copy.1)).min().map_or(0, |copy| copy.1);
            let joined = match window.copies {
                Copies::All => {
                    let mut weights: Vec<_> = weights().collect();
                    weights.sort_unstable();
                    lists[u as usize].extend(weights.into_iter().map(|weight| (v, weight)));
                    continue;
                }
                Copies::Distinct | Copies::Weighted(Combine::Last) => last,
                Copies::Weighted(Combine::Count) => copies.len() as i64,
                Copies::Weighted(Combine::Sum) => weights().sum(),
                Copies::Weighted(Combine::Min) => weights().min().unwrap_or(0),
                Copies::Weighted(Combine::Max) => weights().max().unwrap_or(0),
            };
            lists[u as usize].push((v, joined));
        }
        lists
    }
}

/// Collects all arcs.
struct Collecting(Mutex<Vec<(VertexId, VertexId, i64)>>);

impl<W: Number> Visitor<W> for Collecting {
    type State = ();

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let arcs = piece.targets.iter().zip(piece.weights).map(|(&u, weight)| (v, u, weight.number()));
        self.0.lock().expect("no panic").extend(arcs);
        Flow::More
    }
}

/// A weight as a number.
trait Number: StoredWeight {
    fn number(self) -> i64;
}

impl Number for () {
    fn number(self) -> i64 {
        0
    }
}

impl Number for i64 {
    fn number(self) -> i64 {
        self
    }
}

/// Compares all lists of a window with those that are expected, read one by one and in a scan.
fn check<W: Number>(
    view: &View,
    expected: [&[Vec<(u64, i64)>]; 2],
    run: &Run,
) -> std::result::Result<(), TestCaseError> {
    let graph = view.present_graph::<W>(run).expect("a graph");
    let remaining = view.remaining(run).expect("the vertices");
    let place = |v: u64| remaining.map_or(Some(vertex(v as usize)), |left| left.place(vertex(v as usize)));
    let present = (0..expected[0].len() as u64).filter(|&v| place(v).is_some()).count();
    prop_assert_eq!(graph.num_vertices(), present);
    for (direction, lists) in [Direction::Out, Direction::In].into_iter().zip(expected) {
        if !graph.has(direction) {
            continue;
        }
        let weight = |weight: i64| if W::ELEMENT.is_none() { 0 } else { weight };
        let mut arcs = Vec::new();
        for (v, list) in lists.iter().enumerate() {
            let Some(at) = place(v as u64) else {
                prop_assert!(list.is_empty());
                continue;
            };
            let list: Vec<_> = list.iter().map(|&(u, w)| (place(u).expect("an end"), weight(w))).collect();
            prop_assert_eq!(graph.degree(direction, at), list.len());
            let found = graph.with_list(direction, at, |targets, weights| {
                prop_assert!(targets.is_sorted());
                let mut found: Vec<_> =
                    targets.iter().copied().zip(weights.iter().map(|w| w.number())).collect();
                found.sort_unstable();
                prop_assert_eq!(&found, &list);
                Ok(())
            });
            found.expect("a list")?;
            arcs.extend(list.into_iter().map(|(u, w)| (at, u, w)));
        }
        let collecting = Collecting(Mutex::default());
        graph.scan(run, direction, Select::All, &collecting).expect("a scan");
        let mut found = collecting.0.into_inner().expect("no panic");
        found.sort_unstable();
        prop_assert_eq!(&found, &arcs);
        if direction == Direction::Out {
            prop_assert_eq!(graph.num_arcs(), arcs.len() as u64);
            let loops = arcs.iter().filter(|arc| arc.0 == arc.1).count();
            let edges = if graph.is_directed() { arcs.len() } else { (arcs.len() + loops) / 2 };
            prop_assert_eq!(view.num_edges(), edges as u64);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn every_form_shows_the_edges_of_a_window(
        stream in streams(), windows in prop::collection::vec((windows(), any::<bool>()), 4),
    ) {
        let run = Run::new(RunOptions { threads: 2, ..RunOptions::default() }).expect("threads");
        for (name, view, commits) in stream.forms(&run) {
            prop_assert_eq!(view.version().time_range("time", &run).expect("times"), stream.time_range(commits), "{}", name);
            for (window, all_vertices) in &windows {
                let window = &stream.at_start(*window);
                let lists = [Direction::Out, Direction::In].map(|one| stream.lists(window, commits, one));
                let expected = [&lists[0][..], &lists[1][..]];
                let shown = view.clone().window("time", *window, *all_vertices, &run).expect("a window");
                for (gathers, only) in GATHERED {
                    let shown = shown.clone().gathered(gathers).reading(only);
                    let checked = check::<()>(&shown, expected, &run).and_then(|()| check::<i64>(&shown, expected, &run));
                    checked.map_err(|error| TestCaseError::fail(format!("{name}, {gathers}, {only:?}, {window:?}: {error}")))?;
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn windows_that_share_lists_show_the_same_edges(
        stream in streams(),
        windows in prop::collection::vec(windows(), 1..80),
        all_vertices in any::<bool>(),
        memory in prop_oneof![Just(u64::MAX), 500..20_000_u64],
    ) {
        let run = Run::new(RunOptions { threads: 2, ..RunOptions::default() }).expect("threads");
        // Where memory is short, fewer windows share lists, or none.
        let budget = Budget::new(memory);
        let tight = Run::new(RunOptions { threads: 2, budget, ..RunOptions::default() }).expect("threads");
        let windows: Vec<_> = windows.into_iter().map(|window| stream.at_start(window)).collect();
        for (name, view, commits) in stream.forms(&run).iter().step_by(3) {
            let mut series = WindowSeries::new(view, "time", windows.clone(), true, &tight);
            for window in &windows {
                let shown = match series.next(all_vertices) {
                    Ok(shown) => shown.expect("a window of each"),
                    // What a window takes by itself was too much.
                    Err(error) if memory < u64::MAX => {
                        prop_assert!(error.to_string().contains("memory"), "{error}");
                        break;
                    }
                    Err(error) => panic!("{error}"),
                };
                prop_assert_eq!(&shown.0, window);
                let lists = [Direction::Out, Direction::In].map(|one| stream.lists(window, *commits, one));
                for (gathers, only) in GATHERED {
                    let shown = shown.1.clone().gathered(gathers).reading(only);
                    let checked = check::<()>(&shown, [&lists[0][..], &lists[1][..]], &run)
                        .and_then(|()| check::<i64>(&shown, [&lists[0][..], &lists[1][..]], &run));
                    checked.map_err(|error| TestCaseError::fail(format!("{name}, {gathers}, {only:?}, {window:?}: {error}")))?;
                }
            }
        }
    }
}

/// Windows that overlap, all of one length, and some others.
fn rolling() -> impl Strategy<Value = Vec<TimeWindow>> {
    let window = |after: i64, length: i64| TimeWindow { after, until: after + length, copies: Copies::All };
    let rolling =
        (-40..10_i64, 1..60_i64, 20..900_i64, 1..70_i64).prop_map(move |(first, step, length, count)| {
            (0..count).map(|i| window(first + i * step, length)).collect::<Vec<_>>()
        });
    (rolling, prop::collection::vec(windows(), 0..3)).prop_map(|(mut all, others)| {
        all.extend(others.into_iter().map(|one| TimeWindow { copies: Copies::All, ..one }));
        all
    })
}

proptest! {
    #![proptest_config(cases(16))]

    /// Components, degrees, searches and PageRank are computed on several windows at once, others on each
    /// from shared lists.
    #[test]
    fn answers_on_windows_that_follow_each_other_are_those_on_each(
        stream in streams(), windows in rolling(), all_vertices in any::<bool>(), form in 0..100_usize,
        copies in prop_oneof![3 => Just(Copies::All), 1 => Just(Copies::Distinct), 1 => Just(Copies::Weighted(Combine::Count))],
    ) {
        let run = Run::new(RunOptions { threads: 2, ..RunOptions::default() }).expect("threads");
        let windows: Vec<_> =
            windows.into_iter().map(|window| TimeWindow { copies, ..stream.at_start(window) }).collect();
        let forms = stream.forms(&run);
        let (name, view, _) = &forms[form % forms.len()];
        let resources = Resources {
            threads: 2,
            deterministic: false,
            memory: MemoryLimit::of(1 << 30),
            rates: Known::of_user().rates,
        };
        for algorithm in ["wcc", "pagerank", "scc", "sssp", "bfs", "degrees"] {
            let (entry, mut params) = (find(algorithm).expect("an algorithm"), Params::default());
            if algorithm == "degrees" {
                params = params.with("direction", ["out", "in", "both"][form % 3]);
            }
            if ["sssp", "bfs"].contains(&algorithm) {
                params = params.with("source", "0");
                if !all_vertices {
                    continue;
                }
            }
            let job = WindowJob { computation: Computation::of(entry, &params), resources: &resources, all_vertices };
            let mut found = Vec::new();
            WindowSeries::answers(view, "time", windows.clone(), &job, &run, |answer| {
                found.push(answer);
                Ok::<_, esker::Error>(())
            }).expect("answers");
            prop_assert_eq!(found.len(), windows.len());
            for (found, window) in found.iter().zip(&windows) {
                let told = format!("{algorithm} on {name}, {window:?}");
                prop_assert_eq!(found.window, *window);
                let alone = view.clone().window("time", *window, all_vertices, &run).expect("a window").gathered(true);
                let expected = entry.run(&Job { view: &alone, run: &run, params: &params, verify: false }).expect("an answer");
                let size = expected.vertices.as_ref().map_or(alone.version().num_vertices(), |left| left.len());
                prop_assert_eq!((found.num_vertices, found.num_edges), (size, alone.num_edges()), "{}", told);
                prop_assert_eq!(&found.answer.vertices, &expected.vertices, "{}", told);
                if algorithm != "pagerank" {
                    prop_assert_eq!(&found.answer.columns, &expected.columns, "{}", told);
                    prop_assert_eq!(&found.answer.facts, &expected.facts, "{}", told);
                    continue;
                }
                let ranks = |answer: &Answer| match &answer.columns[0].values {
                    Values::Float(ranks) => ranks.clone(),
                    other => panic!("{other:?}"),
                };
                let (found, expected) = (ranks(&found.answer), ranks(&expected));
                let difference: f64 = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).sum();
                prop_assert!(found.len() == expected.len() && difference < 1.3e-5, "{}: {}", told, difference);
            }
        }
    }
}

/// The whole catalogue on windows, in every form by turns, against an import of the edges of the window
/// alone.
#[test]
fn every_algorithm_answers_on_a_window_as_on_its_edges() {
    let mut drawing = TestRunner::deterministic();
    let options = RunOptions { threads: 2, seed: 3, deterministic: true, ..RunOptions::default() };
    let run = Run::new(options).expect("threads");
    for i in 0..6 {
        let stream = streams().new_tree(&mut drawing).expect("a stream").current();
        let window = windows().new_tree(&mut drawing).expect("a window").current();
        let copies =
            [Copies::Distinct, Copies::Weighted(Combine::Sum), Copies::Weighted(Combine::Count)][i % 3];
        let window = stream.at_start(TimeWindow { copies, ..window });
        let forms = stream.forms(&run);
        let some = forms.iter().skip(i).step_by(9);
        for (at, (name, view, commits)) in some.enumerate() {
            let lists = stream.lists(&window, *commits, Direction::Out);
            let arcs = lists.iter().zip(0..).flat_map(|(list, u)| list.iter().map(move |&(v, w)| (u, v, w)));
            let edges =
                arcs.filter(|&(u, v, _)| stream.directed || u <= v).map(|(u, v, w)| ((u, v), w as f64));
            let name = format!("{name}, {window:?} of stream {i}");
            let model = Model::of(name, stream.num_vertices, stream.directed, Weights::Wide, edges.collect());
            let plain = Form { name: "imported".to_owned(), view: model.plain(), step: 1, first: 0 };
            if model.weights == Weights::None {
                continue;
            }
            let shown = view.clone().window("time", window, true, &run).expect("a window");
            let view = shown.gathered(at % 2 == 1);
            let form = Form { name: "window".to_owned(), view, step: 1, first: 0 };
            // Where edges are joined to weighted ones, PageRank reads their weights, which it does not of an
            // import.
            let reads_alike = |weights| copies == Copies::Distinct || weights != WeightReads::IfChosen;
            agree_on(&plain, &[form], &model, &run, |_, _, request| reads_alike(request.entry.reads.weights));
        }
    }
}

/// What the catalogue says of copies: where they do not count, the answer on a window that joins them is that
/// on all its edges; where they do, it is another on some graph.
#[test]
fn copies_count_where_the_catalogue_says_so() {
    let mut drawing = TestRunner::deterministic();
    let run = Run::new(RunOptions { threads: 1, seed: 3, deterministic: true, ..RunOptions::default() })
        .expect("a thread");
    let mut counting = BTreeSet::new();
    for _ in 0..24 {
        let stream = streams().new_tree(&mut drawing).expect("a stream").current();
        let database = stream.database(Encoding::Plain, CopyPolicy::Mixed, &run);
        let version = database.latest().expect("a version");
        let [all, joined] = [Copies::All, Copies::Distinct].map(|copies| {
            let window = TimeWindow { after: i64::MIN, until: i64::MAX, copies };
            version.view().window("time", window, true, &run).expect("a window")
        });
        // A sample draws from the lists as they are.
        for request in requests_from("0").iter().filter(|request| request.variant != "sample") {
            let (entry, params) = (request.entry, &request.params);
            let on = |view| entry.run(&Job { view, run: &run, params, verify: false }).ok();
            let (Some(all), Some(joined)) = (on(&all), on(&joined)) else { continue };
            let told =
                |answer: &Answer| format!("{:?} {:?} {:?}", answer.columns, answer.edges, answer.facts);
            if told(&all) != told(&joined) {
                counting.insert(entry.name);
            }
        }
    }
    // Most graphs have one component, which is the only group if no property has others, and cycles; and the
    // requests name one vertex.
    let hidden = ["quality", "order", "flow"];
    let said = CATALOGUE.iter().filter(|entry| entry.reads.counts_copies && !hidden.contains(&entry.name));
    assert_eq!(counting, said.map(|entry| entry.name).collect());
}

proptest! {
    #![proptest_config(cases(24))]

    /// What stays is the window of that length; older versions keep their edges; copies that are young stay
    /// with their weights.
    #[test]
    fn edges_expire_as_a_version_and_leave_at_the_next_merge(
        stream in streams(), length in prop_oneof![1..40_i64, 1..2500_i64], merges in any::<bool>(),
    ) {
        let run = Run::new(RunOptions { threads: 2, ..RunOptions::default() }).expect("threads");
        let database = stream.database(Encoding::Plain, CopyPolicy::Mixed, &run);
        let before = database.latest().expect("a version");
        let (_, latest) = stream.time_range(COMMITS).expect("edges");
        let window = TimeWindow { after: latest - length, until: i64::MAX, copies: Copies::All };
        let all = TimeWindow { after: i64::MIN, ..window };
        let length = length.to_string().parse().expect("a length");
        let options = CommitOptions::default();
        let report = expire(&database, Some("time"), None, length, &options, &run).expect("an expiry");
        let old = stream.edges.iter().filter(|edge| edge.2 <= window.after).count();
        prop_assert_eq!(report.edges, old as u64);
        prop_assert_eq!(report.version.is_some(), old > 0);
        prop_assert_eq!(report.until.expect("edges").0, window.after);
        let told = |error| TestCaseError::fail(format!("{window:?}: {error}"));
        let checked = |view: &View, window: &TimeWindow| {
            let lists = [Direction::Out, Direction::In].map(|one| stream.lists(window, COMMITS, one));
            // Vertices without an edge stay, as a window of all times shows.
            let shown = view.clone().window("time", all, true, &run).expect("a window");
            let expected = [&lists[0][..], &lists[1][..]];
            check::<()>(&shown, expected, &run).and_then(|()| check::<i64>(&shown, expected, &run)).map_err(told)
        };
        if merges {
            database.merge(&run).expect("a merge");
        }
        checked(&database.latest().expect("a version").view(), &window)?;
        checked(&before.view(), &all)?;
        checked(&database.at(before.number()).expect("a version").view(), &all)?;
        let again = expire(&database, Some("time"), None, length, &options, &run).expect("an expiry");
        prop_assert_eq!((again.version, again.edges), (None, 0));
        // Once older versions are forgotten, no file has the old edges.
        database.retain(Retention::Last(1)).expect("a retention");
        database.compact(&run).expect("one layer");
        checked(&database.latest().expect("a version").view(), &window)?;
        let layers = database.manifest().layers.len();
        prop_assert_eq!(layers, 1);
        prop_assert_eq!(database.latest().expect("a version").num_edges(), (stream.edges.len() - old) as u64);
    }
}

/// What came and went counts for the policy of merges, so layers of edges that no window wants any longer are
/// rewritten by themselves: always more than a third of the arcs in files are wanted.
#[test]
fn files_keep_few_edges_that_have_expired() {
    let run = Run::with_threads(1).expect("a run");
    let stream = path_of_edges(true);
    let database = stream.database(Encoding::Plain, CopyPolicy::Mixed, &run);
    database.retain(Retention::Last(1)).expect("a retention");
    let (length, options) = ("1000".parse().expect("a length"), CommitOptions::default());
    let mut merges = 0;
    for step in 0..30_u64 {
        let mut batch = database.batch();
        for i in 0..100 {
            let time = stream.start + 100 * step.cast_signed() + i;
            let values = [time, 1_i64 << 33].map(PropertyValue::from);
            let i = i.cast_unsigned();
            batch.add_edge((step * 7 + i * i) % 50, (step + i * 3) % 50, &values).expect("an edge");
        }
        database.commit(batch, "more").expect("a commit");
        expire(&database, Some("time"), None, length, &options, &run).expect("an expiry");
        database.freeze(&run).expect("a layer");
        merges += database.merge(&run).expect("merges");
        let arcs = |layer: &LayerRecord| layer.out.arcs + layer.out.dead_arcs + layer.out.past_arcs;
        let stored: u64 = database.manifest().layers.iter().map(arcs).sum();
        let wanted = database.latest().expect("a version").num_edges();
        assert!(step < 10 || wanted >= 1000, "the last ten steps: {wanted}");
        assert!(stored < 3 * wanted, "step {step}: {wanted} of {stored} arcs in files are wanted");
    }
    assert!(merges > 2, "{merges}");
}

#[test]
fn changes_that_were_made_for_an_older_version_are_refused() {
    let run = Run::with_threads(1).expect("a run");
    let database = path_of_edges(false).database(Encoding::Plain, CopyPolicy::Chain, &run);
    let newest = database.latest().expect("a version").number();
    let commit = |follows| {
        let mut batch = database.batch();
        batch.remove_edge(0_u64, 1_u64).expect("a removal");
        database.commit_with(batch, &CommitOptions { follows: Some(follows), ..CommitOptions::default() })
    };
    assert_eq!(commit(newest).expect("a commit").version, newest + 1);
    let refused = commit(newest).expect_err("a later version is there").to_string();
    assert!(refused.contains(&format!("version {}", newest + 1)), "{refused}");
    assert_eq!(database.latest().expect("a version").number(), newest + 1);
}

/// Edges expire although another thread commits all the time: those that came in between are looked at too.
#[test]
fn expiry_goes_on_from_what_another_thread_commits_meanwhile() {
    let run = Run::with_threads(1).expect("a run");
    let stream = path_of_edges(true);
    let database = stream.database(Encoding::Plain, CopyPolicy::Chain, &run);
    let (_, latest) = stream.time_range(COMMITS).expect("edges");
    let length = 300.to_string().parse().expect("a length");
    let options = CommitOptions::default();
    let expired = std::thread::scope(|scope| {
        let committing = scope.spawn(|| {
            for i in 0..60 {
                let mut batch = database.batch();
                // Half of them are old when they come.
                let time = if i % 2 == 0 { latest } else { stream.start };
                let values = [time, 1_i64 << 33].map(PropertyValue::from);
                batch.add_edge(i % 20, (i + 7) % 20, &values).expect("an edge");
                database.commit(batch, "meanwhile").expect("a commit");
                std::thread::sleep(std::time::Duration::from_micros(200 * (i % 8)));
            }
        });
        let mut expired = 0;
        while !committing.is_finished() {
            let report = expire(&database, Some("time"), None, length, &options, &run);
            expired += report.expect("an expiry").edges;
        }
        expired
    });
    assert!(expired > 0, "edges of the stream are old");
    expire(&database, Some("time"), None, length, &options, &run).expect("an expiry");
    let old = TimeWindow { after: i64::MIN, until: latest - 300, copies: Copies::All };
    let old =
        database.latest().expect("a version").view().window("time", old, false, &run).expect("a window");
    assert_eq!(old.num_edges(), 0);
}

/// A path of edges, of which each commit has three, later than those before.
fn path_of_edges(directed: bool) -> Stream {
    let start = STARTS[1];
    let edge = |i: i64| (i as u64, i as u64 + 1, start + 100 * (i / 3) + i, 1 << 33);
    let commits = (0..3 * COMMITS).map(|i| i / 3).collect();
    Stream { num_vertices: 20, directed, start, edges: (0..3 * COMMITS as i64).map(edge).collect(), commits }
}

#[test]
fn layers_without_an_edge_in_a_window_are_not_read() {
    let run = Run::with_threads(1).expect("a run");
    for (encoding, policy) in [(Encoding::Plain, CopyPolicy::Chain), (Encoding::Compressed, CopyPolicy::Copy)]
    {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("g.esker");
        let stream = path_of_edges(true);
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        stream.database_on(Arc::clone(&disk), &path, encoding, policy, &run).close().expect("closed");
        // Damages the times of the oldest layer.
        let columns = path.join("layers/1.columns");
        let mut bytes = std::fs::read(&columns).expect("the columns of the layer");
        // Two times, for the bytes of one may stand in a header too.
        let times = [stream.edges[1].2, stream.edges[2].2].map(i64::to_le_bytes).concat();
        let found: Vec<_> = (0..bytes.len() - 16).filter(|&at| bytes[at..at + 16] == times).collect();
        assert!(!found.is_empty());
        found.into_iter().for_each(|at| bytes[at] ^= 1);
        std::fs::write(&columns, bytes).expect("a damaged layer");
        let database = Database::open_on(disk, &path, DatabaseOptions::default()).expect("a database");
        let newest = database.latest().expect("a version");
        assert_eq!(newest.latest_time("time", &run).expect("a time"), Some(stream.edges[11].2));
        let window = |after: i64| {
            let window = TimeWindow { after: stream.start + after, until: i64::MAX, copies: Copies::All };
            newest.view().window("time", window, false, &run)
        };
        for gathers in [false, true] {
            let shown = window(150).expect("the newer layers").gathered(gathers);
            assert_eq!(
                (shown.num_edges(), shown.present_graph::<()>(&run).expect("a graph").num_arcs()),
                (6, 6)
            );
            let graph = shown.present_graph::<i64>(&run).expect("a graph");
            graph.scan(&run, Direction::Out, Select::All, &Collecting(Mutex::default())).expect("a scan");
        }
        assert!(window(0).expect_err("damaged").to_string().contains("checksum"));
    }
}

#[test]
fn times_of_edges_that_are_gone_do_not_count() {
    let run = Run::with_threads(1).expect("a run");
    for (encoding, policy) in [(Encoding::Plain, CopyPolicy::Chain), (Encoding::Compressed, CopyPolicy::Copy)]
    {
        let stream = path_of_edges(false);
        let database = stream.database(encoding, policy, &run);
        let mut batch = database.batch();
        for at in [0, 11] {
            batch.remove_edge(stream.edges[at].0, stream.edges[at].1).expect("an edge");
        }
        database.commit(batch, "").expect("a commit");
        for _ in 0..2 {
            let newest = database.latest().expect("a version");
            let range = newest.time_range("time", &run).expect("times");
            assert_eq!(range, Some((stream.edges[1].2, stream.edges[10].2)));
            database.compact(&run).expect("one layer");
        }
    }
}

#[test]
fn a_layer_whose_copied_lists_have_older_edges_is_read() {
    let run = Run::with_threads(1).expect("a run");
    let start = STARTS[1];
    let weight = 1 << 33;
    let edges = [(1, 0, 0, weight), (1, 0, 9, weight), (1, 1, 214, weight), (0, 0, 500, weight)];
    let edges = edges.map(|(u, v, time, weight)| (u, v, start + time, weight)).to_vec();
    let stream = Stream { num_vertices: 3, directed: true, start, edges, commits: vec![0, 0, 0, 1] };
    let window = TimeWindow { after: start + 4, until: start + 313, copies: Copies::All };
    let lists = [Direction::Out, Direction::In].map(|one| stream.lists(&window, COMMITS, one));
    for (name, view, commits) in stream.forms(&run) {
        if commits == COMMITS {
            let shown = view.window("time", window, true, &run).expect("a window");
            let checked = check::<i64>(&shown, [&lists[0], &lists[1]], &run);
            checked.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn a_window_in_memory_is_not_scattered_whatever_holds_the_lists_of_the_other_direction() {
    let run = Run::with_threads(1).expect("a run");
    let stream = path_of_edges(true);
    let disk = Arc::new(MemoryDisk::new());
    let database = stream.imported(disk, Path::new("/g.esker"), Encoding::Tiles, CopyPolicy::Chain);
    let window = TimeWindow { after: i64::MIN, until: i64::MAX, copies: Copies::All };
    let newest = database.latest().expect("a version");
    let shown = newest.view().window("time", window, false, &run).expect("a window");
    let is_scattered = |gathers, only| {
        let shown = shown.clone().gathered(gathers).reading(only);
        shown.present_graph::<()>(&run).expect("a graph").is_scattered()
    };
    assert!(is_scattered(false, None), "lists in tiles alone");
    for only in [Some(Direction::Out), Some(Direction::In)] {
        assert!(!is_scattered(true, only), "{only:?}");
    }
}

#[test]
fn single_lists_of_layers_make_no_vertex_table() {
    let run = Run::with_threads(1).expect("a run");
    let stream = path_of_edges(true);
    let database = stream.database(Encoding::Plain, CopyPolicy::Chain, &run);
    let window = TimeWindow { after: i64::MIN, until: i64::MAX, copies: Copies::All };
    let newest = database.latest().expect("a version");
    let shown = newest.view().window("time", window, true, &run).expect("a window");
    let graph = shown.present_graph::<()>(&run).expect("a graph");
    for v in 0..stream.num_vertices {
        let expected: Vec<_> =
            stream.edges.iter().filter(|edge| edge.0 == v).map(|edge| vertex(edge.1 as usize)).collect();
        let found = graph.with_list(Direction::Out, vertex(v as usize), |targets, _| targets.to_vec());
        assert_eq!(found.expect("a list"), expected);
    }
    assert!(
        shown.version().stack().table_if_made(Direction::Out).is_none(),
        "nobody reserved the memory of a table"
    );
}
