//! Ids of edges against a model: whatever is added, deleted, merged, forgotten or converted, each copy keeps
//! its id and its values.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use esker::change::{Target, commit_script, give_edge_ids};
use esker::graph::{Direction, Run, vertex};
use esker::import::install::import;
use esker::import::open::open_inputs;
use esker::import::options::{Duplicates, ImportOptions};
use esker::import::read::format::{PickProperties, ReadOptions};
use esker::import::read::input::Input;
use esker::store::database::CompactOptions;
use esker::store::diff::{DiffEdge, Difference, diff};
use esker::store::format::{CopyPolicy, Encoding};
use esker::store::ids::ExternalId;
use esker::store::io::{Disk, MemoryDisk};
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::tiles::ConvertOptions;
use esker::store::{CommitOptions, Database, DatabaseOptions, Version};
use esker_graph::random::Random;

const VERTICES: u64 = 5;
const KINDS: [&str; 2] = ["road", "rail"];

/// A copy of an edge: its id, and its other values as text. A new one has no id before its commit ends.
type EdgeCopy = (Option<String>, Vec<String>);

/// The copies of each edge, in the order in which they were added.
type Edges = BTreeMap<(u64, u64), Vec<EdgeCopy>>;

/// A database, and what its versions hold.
struct World {
    disk: Arc<dyn Disk>,
    options: DatabaseOptions,
    database: Option<Database>,
    directed: bool,
    /// The names of the properties beside the ids.
    names: &'static [&'static str],
    versions: BTreeMap<u64, Edges>,
    /// Whether edges have ids.
    has_ids: bool,
    draws: Random,
    run: Run,
}

const PATH: &str = "/g.esker";

impl World {
    fn new(
        (directed, encoding): (bool, Encoding),
        policy: CopyPolicy,
        names: &'static [&'static str],
        seed: u64,
    ) -> Self {
        let (disk, run): (Arc<dyn Disk>, _) =
            (Arc::new(MemoryDisk::new()), Run::with_threads(2).expect("a run"));
        let mut draws = Random::new(seed);
        let mut text = format!("source,target,{}\n", names.join(","));
        let mut edges = Edges::new();
        for _ in 0..16 {
            let (u, v) = (draws.below(VERTICES), draws.below(VERTICES));
            let values = values(names, &mut draws);
            text += &format!("{u},{v},{}\n", values.join(","));
            edges.entry(ends(directed, u, v)).or_default().push((None, values));
        }
        let columns = names.iter().map(|&name| name.to_owned()).collect();
        let read = ReadOptions { properties: PickProperties::Columns(columns), ..ReadOptions::default() };
        let input = Input::memory("edges.csv", text.into_bytes());
        let reader = open_inputs(&[input], &read).expect("edges").reader;
        let options = ImportOptions {
            directed: Some(directed),
            encoding,
            duplicates: Duplicates::Keep,
            ..ImportOptions::default()
        };
        import(&disk, reader, Path::new(PATH), &options, StagingOptions::default()).expect("an import");
        let options = DatabaseOptions {
            policy: Some(policy),
            auto_merge: Some(false),
            threads: 2,
            ..DatabaseOptions::default()
        };
        let versions = [(1, edges)].into();
        let mut world =
            Self { disk, options, database: None, directed, names, versions, has_ids: false, draws, run };
        world.reopen();
        world
    }

    /// Gives ids to the edges of the import.
    fn give_ids(&mut self) {
        give_edge_ids(self.database(), &self.run).expect("ids");
        self.has_ids = true;
        self.versions.values_mut().for_each(|edges| name_new(edges, 1));
        self.check();
    }

    /// Gives ids to the edges of several versions, and takes those that they got. A copy has one id in all
    /// versions, and stays what it is.
    fn give_ids_late(&mut self) {
        give_edge_ids(self.database(), &self.run).expect("ids");
        self.has_ids = true;
        let mut copies: BTreeMap<_, (Vec<String>, Vec<usize>)> = BTreeMap::new();
        for (at, (number, edges)) in std::mem::take(&mut self.versions).into_iter().enumerate() {
            let version = self.database().at(number).expect("the version");
            let found = self.edges_of(&version, Direction::Out);
            assert_eq!(found, self.edges_of(&version, Direction::In), "version {number}");
            let mut nameless = found.clone();
            for (&pair, named) in &found {
                for (id, values) in named {
                    let id = id.clone().expect("an id");
                    assert!(id.starts_with("v0."), "{id}");
                    let (known, seen) =
                        copies.entry((pair, id)).or_insert_with(|| (values.clone(), Vec::new()));
                    assert_eq!(known, values);
                    assert!(seen.last().is_none_or(|&last| last + 1 == at), "{pair:?} at {seen:?} and {at}");
                    seen.push(at);
                }
            }
            nameless.values_mut().flatten().for_each(|copy| copy.0 = None);
            assert_eq!(sorted(&nameless), sorted(&edges), "version {number}");
            self.versions.insert(number, found);
        }
    }

    fn database(&self) -> &Database {
        self.database.as_ref().expect("an open database")
    }

    fn reopen(&mut self) {
        if let Some(database) = self.database.take() {
            database.close().expect("the end");
        }
        let opened = Database::open_on(Arc::clone(&self.disk), Path::new(PATH), self.options.clone());
        self.database = Some(opened.expect("a database"));
    }

    fn newest(&self) -> &Edges {
        self.versions.values().next_back().expect("a version")
    }

    /// Commits a few changes by a script.
    fn commit(&mut self) {
        let mut edges = self.newest().clone();
        let mut script = String::new();
        for _ in 0..=self.draws.below(4) {
            let (u, v) = (self.draws.below(VERTICES), self.draws.below(VERTICES));
            let copies = edges.entry(ends(self.directed, u, v)).or_default();
            let named: Vec<String> = copies.iter().filter_map(|copy| copy.0.clone()).collect();
            match self.draws.below(9) {
                0 => {
                    copies.clear();
                    script += &format!("- {u} {v}\n");
                }
                1..=4 if !named.is_empty() => {
                    let id = &named[self.draws.below(named.len() as u64) as usize];
                    copies.retain(|copy| copy.0.as_ref() != Some(id));
                    script += &format!("- {u} {v} edge_id={id}\n");
                }
                5 => {
                    edges.retain(|&(a, b), _| a != u && b != u);
                    script += &format!("- {u}\n+ {u}\n");
                }
                _ => {
                    let (count, values) = (1 + self.draws.below(3), values(self.names, &mut self.draws));
                    copies.extend((0..count).map(|_| (None, values.clone())));
                    let given =
                        self.names.iter().zip(&values).map(|(name, value)| format!(" {name}={value}"));
                    script += &format!("+{count} {u} {v}{}\n", given.collect::<String>());
                }
            }
        }
        let target = Target::of(self.database()).expect("a target");
        let (path, options) = (Path::new("script"), CommitOptions::default());
        let report = commit_script(self.database(), &target, &mut script.as_bytes(), path, true, &options);
        let version = report.unwrap_or_else(|error| panic!("{error}\n{script}")).version.expect("a version");
        if self.has_ids {
            name_new(&mut edges, version);
        }
        edges.retain(|_, copies| !copies.is_empty());
        self.versions.insert(version, edges);
    }

    /// Does something that changes no version.
    fn maintain(&mut self) {
        let compact = |lists| CompactOptions { lists: Some(lists), ..CompactOptions::default() };
        match self.draws.below(9) {
            0 | 1 => drop(self.database().freeze(&self.run).expect("a layer")),
            2 => drop(self.database().merge(&self.run).expect("merged layers")),
            3 => drop(self.database().compact(&self.run).expect("one layer")),
            4 => {
                let lists =
                    [Encoding::Plain, Encoding::Compressed, Encoding::Tiles][self.draws.below(3) as usize];
                self.database().compact_with(compact(lists), &self.run).expect("one layer");
            }
            5 if !self.database().latest().expect("a version").keeps_only_tiles() => {
                self.database().freeze(&self.run).expect("a layer");
                self.database().make_tiles(&ConvertOptions::default(), &self.run).expect("tiles");
            }
            6 if self.versions.len() > 2 => {
                let place = self.draws.below(self.versions.len() as u64) as usize;
                let version = *self.versions.keys().nth(place).expect("a version");
                self.database().forget(version).expect("to forget it");
                self.versions.remove(&version);
            }
            _ => self.reopen(),
        }
    }

    /// Commits, merges and so on, and compares now and then.
    fn go_on(&mut self, steps: usize) {
        for step in 1..=steps {
            match step % 3 {
                0 => self.maintain(),
                _ => self.commit(),
            }
            if self.has_ids && step % 4 == 0 {
                self.check();
            }
        }
    }

    /// Compares all versions, and the differences between two of them.
    fn check(&mut self) {
        for (&number, expected) in &self.versions {
            let version = self.database().at(number).expect("the version");
            for direction in [Direction::Out, Direction::In] {
                let found = self.edges_of(&version, direction);
                assert_eq!(found, sorted(expected), "version {number}, {direction:?}");
            }
        }
        let numbers: Vec<u64> = self.versions.keys().copied().collect();
        let mut draw = || numbers[self.draws.below(numbers.len() as u64) as usize];
        let (a, b) = (draw(), draw());
        let [from, to] = [a, b].map(|number| self.database().at(number).expect("the version"));
        let (mut removed, mut added) = (Edges::new(), Edges::new());
        let mut note = |edge: &DiffEdge<'_>, is_added: bool| {
            let ids = (if is_added { &to } else { &from }).ids();
            let id = |v| match ids.external_of(v).expect("an id") {
                ExternalId::Int(id) => id,
                ExternalId::Text(_) => panic!("ids are integers"),
            };
            let values = to.edge_properties().map(|one| edge.value(one).expect("a value").to_string());
            let copy = split(values.collect());
            let edges = if is_added { &mut added } else { &mut removed };
            edges.entry(ends(self.directed, id(edge.source), id(edge.target))).or_default().push(copy);
        };
        let told = diff(&from, &to, &self.run, |difference| {
            match &difference {
                Difference::EdgeAdded(edge) => note(edge, true),
                Difference::EdgeRemoved(edge) => note(edge, false),
                Difference::EdgeChanged(old, new) => {
                    note(old, false);
                    note(new, true);
                }
                _ => {}
            }
            Ok(())
        });
        told.expect("differences");
        let without = |a: u64, b: u64| {
            let mut left = self.versions[&a].clone();
            for (ends, copies) in &mut left {
                copies.retain(|copy| !self.versions[&b].get(ends).is_some_and(|there| there.contains(copy)));
            }
            sorted(&left)
        };
        assert_eq!((sorted(&removed), sorted(&added)), (without(a, b), without(b, a)), "from {a} to {b}");
    }

    /// The edges of a version, as the lists of one direction have them: of an undirected graph, those of the
    /// end that is lower, or higher.
    fn edges_of(&self, version: &Version, direction: Direction) -> Edges {
        let mut found = Edges::new();
        let id = |v| match version.ids().external_of(v).expect("an id") {
            ExternalId::Int(id) => id,
            ExternalId::Text(_) => panic!("ids are integers"),
        };
        for v in (0..version.num_vertices()).map(vertex) {
            let listed = if self.directed { direction } else { Direction::Out };
            let edges = version.edges(listed, v).expect("a list");
            for (index, &other) in edges.targets().iter().enumerate() {
                let (own, other) = (id(v), id(other));
                let is_told = if direction == Direction::Out { own <= other } else { own >= other };
                if !self.directed && !is_told {
                    continue;
                }
                let pair = if direction == Direction::Out { (own, other) } else { (other, own) };
                let values = version.edge_properties().map(|one| {
                    let bits = edges.bits(one.number, index).expect("a value");
                    match version.dictionary(one.number) {
                        Some(texts) => {
                            PropertyValue::Text(texts.text(bits as usize).expect("a text")).to_string()
                        }
                        None => PropertyValue::from_stored(one, bits).to_string(),
                    }
                });
                found.entry(pair).or_default().push(split(values.collect()));
            }
        }
        sorted(&found)
    }
}

/// The ends of an edge, the lower first if it is undirected.
fn ends(directed: bool, u: u64, v: u64) -> (u64, u64) {
    if directed { (u, v) } else { (u.min(v), u.max(v)) }
}

/// Values of few kinds, so that many copies are equal.
fn values(names: &[&str], draws: &mut Random) -> Vec<String> {
    let value = |name: &&str| match *name {
        "kind" => KINDS[draws.below(2) as usize].to_owned(),
        _ => (5 + draws.below(2)).to_string(),
    };
    names.iter().map(value).collect()
}

/// Gives ids to the copies that a version adds.
fn name_new(edges: &mut Edges, version: u64) {
    for copies in edges.values_mut() {
        let new = copies.iter_mut().filter(|copy| copy.0.is_none());
        new.zip(1..).for_each(|(copy, place)| copy.0 = Some(format!("v{version}.{place}")));
    }
}

/// The id, which is the last value, and the others.
fn split(mut values: Vec<String>) -> EdgeCopy {
    (values.pop(), values)
}

fn sorted(edges: &Edges) -> Edges {
    let mut edges = edges.clone();
    edges.values_mut().for_each(|copies| copies.sort());
    edges.retain(|_, copies| !copies.is_empty());
    edges
}

#[test]
fn each_of_several_parallel_edges_keeps_its_id() {
    let properties: [&[&str]; 4] = [&[], &["weight"], &["kind"], &["weight", "time", "kind"]];
    let policies = [CopyPolicy::Mixed, CopyPolicy::Chain, CopyPolicy::Copy];
    let encodings = [Encoding::Plain, Encoding::Compressed, Encoding::Tiles];
    for seed in 0..30_usize {
        let (encoding, names) = (encodings[seed % 3], properties[seed / 3 % 4]);
        let policy = policies[seed / 2 % 3];
        let mut world = World::new((seed % 2 == 0, encoding), policy, names, seed as u64);
        if seed % 5 < 4 {
            world.give_ids();
        } else {
            world.go_on(8);
            world.give_ids_late();
        }
        world.go_on(24);
    }
}
