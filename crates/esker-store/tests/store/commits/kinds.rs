//! Kinds of edges: duplicates are joined within a kind, in imports as in commits, and edges of different
//! kinds stay beside each other in every version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use esker_graph::random::Random;
use esker_graph::{Direction, Run};
use esker_import::options::{Duplicates, ImportOptions};
use esker_import::read::format::ReadOptions;
use esker_import::{Input, import_inputs};
use esker_store::format::Encoding;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{Batch, Database, DatabaseOptions, EdgeMatch, Result, Store, Version};

const KINDS: [&str; 3] = ["calls", "likes", "sends"];

/// The values of an edge beside its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Values {
    kind: usize,
    weight: i32,
}

/// The values of the edges between two vertices, ascending.
type Model = BTreeMap<(u64, u64), Vec<Values>>;

#[derive(Debug, Clone, Copy)]
enum Change {
    Add(u64, u64, Values),
    Remove(u64, u64),
    RemoveKind(u64, u64, usize),
}

#[derive(Debug, Clone, Copy)]
struct Case {
    rule: Duplicates,
    directed: bool,
    encoding: Encoding,
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        let encodings = [Encoding::Plain, Encoding::Compressed, Encoding::Tiles];
        let rules = Duplicates::ALL.into_iter().filter(|&rule| rule != Duplicates::Refuse);
        let cases = rules.flat_map(|rule| [true, false].map(|directed| (rule, directed)));
        let encodings = encodings.into_iter().cycle();
        cases.zip(encodings).map(|((rule, directed), encoding)| Self { rule, directed, encoding })
    }

    fn import(self, target: &Path, edges: &[Change]) -> Result<PathBuf> {
        let mut lines = String::from("source,target,weight,what\n");
        for change in edges {
            if let Change::Add(u, v, Values { kind, weight }) = change {
                lines += &format!("{u},{v},{weight},{}\n", KINDS[*kind]);
            }
        }
        let options = ImportOptions {
            duplicates: self.rule,
            directed: Some(self.directed),
            encoding: self.encoding,
            kind: Some("what".to_owned()),
            threads: 1,
            ..ImportOptions::default()
        };
        let input = [Input::memory("edges.csv", lines.into_bytes())];
        let report = import_inputs(&input, target, &ReadOptions::default(), &options)?;
        let mut model = Model::new();
        self.apply(&mut model, edges);
        assert_eq!(report.duplicates as usize, edges.len() - num_edges(&model), "{self:?}");
        Ok(target.to_owned())
    }

    fn key(self, u: u64, v: u64) -> (u64, u64) {
        if self.directed || u <= v { (u, v) } else { (v, u) }
    }

    fn apply(self, model: &mut Model, changes: &[Change]) {
        for &change in changes {
            match change {
                Change::Add(u, v, added) => self.add(model.entry(self.key(u, v)).or_default(), added),
                Change::Remove(u, v) => drop(model.remove(&self.key(u, v))),
                Change::RemoveKind(u, v, kind) => {
                    model.entry(self.key(u, v)).or_default().retain(|values| values.kind != kind);
                }
            }
        }
        model.retain(|_, values| !values.is_empty());
        model.values_mut().for_each(|values| values.sort_unstable());
    }

    fn add(self, known: &mut Vec<Values>, added: Values) {
        let is_same = |values: &&mut Values| match self.rule {
            Duplicates::Keep => false,
            Duplicates::Rows => **values == added,
            _ => values.kind == added.kind,
        };
        let Some(same) = known.iter_mut().find(is_same) else { return known.push(added) };
        same.weight = match self.rule {
            Duplicates::Keep | Duplicates::Rows | Duplicates::First | Duplicates::Refuse => same.weight,
            Duplicates::Last => added.weight,
            Duplicates::Sum => same.weight + added.weight,
            Duplicates::Min => same.weight.min(added.weight),
            Duplicates::Max => same.weight.max(added.weight),
        };
    }

    fn read(self, version: &Version) -> Model {
        let mut found = Model::new();
        let id = |v| match version.ids().external_of(v).unwrap() {
            ExternalId::Int(id) => id,
            ExternalId::Text(text) => panic!("{text:?}"),
        };
        let kinds = version.dictionary(1).unwrap();
        let kind_of =
            |code| KINDS.iter().position(|kind| kind.as_bytes() == kinds.text(code).unwrap()).unwrap();
        for v in (0..version.num_vertices()).map(esker_graph::vertex) {
            let list = version.edges(Direction::Out, v).unwrap();
            for (index, &target) in list.targets().iter().enumerate() {
                let (u, w) = (id(v), id(target));
                if self.directed || u <= w {
                    let weight = (list.bits(0, index).unwrap() as u32).cast_signed();
                    let kind = kind_of(list.bits(1, index).unwrap() as usize);
                    found.entry((u, w)).or_default().push(Values { kind, weight });
                }
            }
        }
        found.values_mut().for_each(|values| values.sort_unstable());
        found
    }
}

fn num_edges(model: &Model) -> usize {
    model.values().map(Vec::len).sum()
}

fn push(batch: &mut Batch, change: Change) {
    match change {
        Change::Add(u, v, Values { kind, weight }) => {
            let values = [PropertyValue::I32(weight), PropertyValue::Text(KINDS[kind].as_bytes())];
            batch.add_edge(u, v, &values).unwrap();
        }
        Change::Remove(u, v) => batch.remove_edge(u, v).unwrap(),
        Change::RemoveKind(u, v, kind) => {
            let kind = [(1, PropertyValue::Text(KINDS[kind].as_bytes()))];
            batch.remove_edges(u, v, &EdgeMatch { values: &kind, at_most: None }).unwrap();
        }
    }
}

/// Changes among few vertices, so that most are duplicates; a fifth of them removals if wanted.
fn changes(random: &mut Random, count: u64, removes: bool) -> Vec<Change> {
    (0..count)
        .map(|_| {
            let (u, v, kind) = (random.below(5), random.below(5), random.index(3));
            match random.below(10) {
                0 if removes => Change::Remove(u, v),
                1 if removes => Change::RemoveKind(u, v, kind),
                _ => Change::Add(u, v, Values { kind, weight: random.below(4) as i32 }),
            }
        })
        .collect()
}

/// A part of a batch that removes by kind after it adds is refused by rules that read the edges.
fn in_batches(rule: Duplicates, changes: &[Change]) -> Vec<&[Change]> {
    if matches!(rule, Duplicates::Keep | Duplicates::Last | Duplicates::Rows) {
        return changes.chunks(12).collect();
    }
    changes.chunk_by(|_, next| !matches!(next, Change::RemoveKind(..))).collect()
}

#[test]
fn duplicates_are_joined_within_a_kind() {
    let run = Run::with_threads(1).unwrap();
    for (case, seed) in Case::all().zip(1..) {
        let mut random = Random::new(seed);
        let directory = tempfile::tempdir().unwrap();
        let mut all = changes(&mut random, 40, false);
        let target = case.import(&directory.path().join("kinds.esker"), &all).unwrap();
        let later = changes(&mut random, 48, true);
        let mut model = Model::new();
        case.apply(&mut model, &all);
        let mut versions = vec![model.clone()];
        let options = DatabaseOptions { threads: 1, auto_merge: Some(false), ..DatabaseOptions::default() };
        let db = Database::open(&target, options).unwrap();
        for (number, part) in in_batches(case.rule, &later).into_iter().enumerate() {
            let mut batch = db.batch();
            part.iter().for_each(|&change| push(&mut batch, change));
            db.commit(batch, "").unwrap_or_else(|error| panic!("{case:?} {part:?}: {error}"));
            case.apply(&mut model, part);
            assert_eq!(case.read(&db.latest().unwrap()), model, "{case:?} after {part:?}");
            versions.push(model.clone());
            match number % 4 {
                1 => drop(db.freeze(&run).unwrap()),
                3 if number < 8 => drop(db.compact(&run).unwrap()),
                _ => {}
            }
        }
        db.close().unwrap();
        let store = Store::open(&target).unwrap();
        for (expected, number) in versions.iter().zip(1..) {
            let version = store.at(number).unwrap();
            assert_eq!(&case.read(&version), expected, "{case:?} in version {number}");
            assert_eq!(version.num_edges() as usize, num_edges(expected), "{case:?} in version {number}");
        }
        assert!(store.check(&run).unwrap().problems.is_empty(), "{case:?}");
        // The whole in one import is the same where nothing was removed.
        all.extend(later.into_iter().filter(|change| matches!(change, Change::Add(..))));
        let mut expected = Model::new();
        case.apply(&mut expected, &all);
        let whole = case.import(&directory.path().join("whole.esker"), &all).unwrap();
        assert_eq!(case.read(&Store::open(&whole).unwrap().latest().unwrap()), expected, "{case:?}");
    }
}

/// More edges between two vertices than are compared one by one.
#[test]
fn many_parallel_edges_are_found_by_their_values() {
    for rule in [Duplicates::Rows, Duplicates::Last] {
        let case = Case { rule, directed: true, encoding: Encoding::Plain };
        let directory = tempfile::tempdir().unwrap();
        let edge = |weight: u64| {
            Change::Add(1, 2, Values { kind: weight as usize % 3, weight: (weight % 40) as i32 })
        };
        let all: Vec<_> = (0..300).map(edge).collect();
        let target = case.import(&directory.path().join("many.esker"), &all[..150]).unwrap();
        let db = Database::open(&target, DatabaseOptions::default()).unwrap();
        let mut batch = db.batch();
        all[100..].iter().for_each(|&change| push(&mut batch, change));
        db.commit(batch, "").unwrap();
        let mut expected = Model::new();
        case.apply(&mut expected, &all);
        assert_eq!(case.read(&db.latest().unwrap()), expected, "{rule:?}");
    }
}

#[test]
fn a_repeated_kind_is_refused_on_request() {
    let case = Case { rule: Duplicates::Refuse, directed: true, encoding: Encoding::Plain };
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("refused.esker");
    let edge = |kind| Change::Add(7, 8, Values { kind, weight: 1 });
    let lines = b"source,target,what\n7,8,calls\n7,8,likes\n1,2,likes\n7,8,likes\n".to_vec();
    let options = ImportOptions {
        duplicates: Duplicates::Refuse,
        kind: Some("what".to_owned()),
        ..ImportOptions::default()
    };
    let input = [Input::memory("edges.csv", lines)];
    let error = import_inputs(&input, &target, &ReadOptions::default(), &options).unwrap_err().to_string();
    let told =
        "the edge from 7 to 8 of the kind \"likes\" is in the input more than once, first as edges 2 and 4:";
    assert!(error.starts_with(told), "{error}");

    let db = Database::open(case.import(&target, &[edge(0), edge(1)]).unwrap(), Default::default()).unwrap();
    let mut batch = db.batch();
    push(&mut batch, edge(2));
    assert_eq!(db.commit(batch, "").unwrap(), 2);
    let mut batch = db.batch();
    push(&mut batch, edge(1));
    let error = db.commit(batch, "").unwrap_err().to_string();
    assert!(error.contains("from 7 to 8 exists already"), "{error}");
    let refused = db.batch().set_duplicates(Duplicates::Keep).unwrap_err().to_string();
    assert!(refused.contains("one edge of a kind"), "{refused}");
}

#[test]
fn a_kind_is_a_property_of_texts() {
    let directory = tempfile::tempdir().unwrap();
    let fails = |column: &str| {
        let read = ReadOptions { weight: esker_import::Pick::Skip, ..ReadOptions::default() };
        let options = ImportOptions { kind: Some(column.to_owned()), ..ImportOptions::default() };
        let input = [Input::memory("edges.csv", b"source,target,what\n7,8,1\n".to_vec())];
        import_inputs(&input, directory.path().join("x.esker"), &read, &options)
            .map_err(|error| error.to_string())
    };
    assert!(fails("which").unwrap_err().contains("which"));
    // Numbers are texts where they are kinds.
    assert_eq!(fails("what").unwrap().edges, 1);
}
