//! Rules for duplicate edges: the same in an import as in commits, however the edges are divided among them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_graph::random::Random;
use esker_graph::{Direction, Run};
use esker_import::install::import;
use esker_import::open::open_reader;
use esker_import::options::{Duplicates, ImportOptions};
use esker_import::read::format::ReadOptions;
use esker_store::format::ElementType;
use esker_store::io::{Disk, RealDisk};
use esker_store::manifest::StagingOptions;
use esker_store::property::PropertyValue;
use esker_store::{Database, DatabaseOptions, Result, Store, Version};

type Edge = (u64, u64, i32);
/// Edges with their weights; of a multigraph in any order.
type Edges = BTreeMap<(String, String), Vec<i32>>;

#[derive(Debug, Clone, Copy)]
struct Case {
    rule: Duplicates,
    directed: bool,
    weighted: bool,
    texts: bool,
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        let rules = Duplicates::ALL.into_iter().filter(|&rule| rule != Duplicates::Refuse);
        rules.flat_map(|rule| {
            (0..8).map(move |bits| Self {
                rule,
                directed: bits & 1 > 0,
                weighted: bits & 2 > 0 || rule.needs_weight(),
                texts: bits & 4 > 0,
            })
        })
    }

    fn id(self, v: u64) -> String {
        if self.texts { format!("v{v}") } else { v.to_string() }
    }

    fn import(self, directory: &Path, edges: &[Edge]) -> Result<PathBuf> {
        let mut lines =
            String::from(if self.weighted { "source,target,weight\n" } else { "source,target\n" });
        for &(u, v, w) in edges {
            let weight = if self.weighted { format!(",{w}") } else { String::new() };
            lines += &format!("{},{}{weight}\n", self.id(u), self.id(v));
        }
        self.import_text(directory, &lines)
    }

    fn import_text(self, directory: &Path, lines: &str) -> Result<PathBuf> {
        let (input, target) = (directory.join("in.csv"), directory.join("out.esker"));
        std::fs::write(&input, lines).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let reader = open_reader(&[input.to_str().unwrap()], &ReadOptions::default())?;
        let options = ImportOptions {
            duplicates: self.rule,
            directed: Some(self.directed),
            ..ImportOptions::default()
        };
        import(&disk, reader, &target, &options, StagingOptions { replace: true, ..Default::default() })?;
        Ok(target)
    }

    fn add(self, batch: &mut esker_store::Batch, (u, v, w): Edge) {
        let values = [PropertyValue::I32(w)];
        let values = if self.weighted { &values[..] } else { &[] };
        if self.texts {
            batch.add_edge(&*self.id(u), &*self.id(v), values).unwrap();
        } else {
            batch.add_edge(u, v, values).unwrap();
        }
    }

    fn remove(self, batch: &mut esker_store::Batch, u: u64, v: u64) {
        if self.texts {
            batch.remove_edge(&*self.id(u), &*self.id(v)).unwrap();
        } else {
            batch.remove_edge(u, v).unwrap();
        }
    }

    fn key(self, u: u64, v: u64) -> (String, String) {
        let (u, v) = (self.id(u), self.id(v));
        if self.directed || u <= v { (u, v) } else { (v, u) }
    }

    /// The edges that are left of these.
    fn model(self, edges: &mut Edges, added: &[Edge]) {
        for &(u, v, w) in added {
            let w = if self.weighted { w } else { 0 };
            let known = edges.entry(self.key(u, v)).or_default();
            let last = known.last().copied();
            match (self.rule, last) {
                (Duplicates::Keep, _) | (_, None) => known.push(w),
                (Duplicates::Rows, Some(_)) if known.contains(&w) => {}
                (Duplicates::Rows, Some(_)) => known.push(w),
                (Duplicates::First | Duplicates::Refuse, Some(_)) => {}
                (Duplicates::Last, Some(_)) => known[0] = w,
                (Duplicates::Sum, Some(old)) => known[0] = old + w,
                (Duplicates::Min, Some(old)) => known[0] = old.min(w),
                (Duplicates::Max, Some(old)) => known[0] = old.max(w),
            }
        }
        edges.values_mut().for_each(|weights| weights.sort_unstable());
    }

    fn read(self, version: &Version) -> Edges {
        let mut found = Edges::new();
        let name = |v| match version.ids().external_of(v).unwrap() {
            esker_store::ids::ExternalId::Int(id) => id.to_string(),
            esker_store::ids::ExternalId::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
        };
        for v in (0..version.num_vertices()).map(esker_graph::vertex) {
            let list = version.edges(Direction::Out, v).unwrap();
            for (index, &target) in list.targets().iter().enumerate() {
                let (u, w) = (name(v), name(target));
                if self.directed || u <= w {
                    let weight =
                        if self.weighted { (list.bits(0, index).unwrap() as u32).cast_signed() } else { 0 };
                    found.entry((u, w)).or_default().push(weight);
                }
            }
        }
        found.values_mut().for_each(|weights| weights.sort_unstable());
        found
    }
}

fn options() -> DatabaseOptions {
    DatabaseOptions { threads: 1, auto_merge: Some(false), ..DatabaseOptions::default() }
}

/// Edges among few vertices, so that most are duplicates.
fn edges(seed: u64, count: u64) -> Vec<Edge> {
    let mut random = Random::new(seed);
    let mut next = |bound: u64| random.below(bound);
    (0..count).map(|_| (next(6), next(6), next(9) as i32 - 4)).collect()
}

#[test]
fn a_rule_means_the_same_in_an_import_and_in_commits() {
    let directory = tempfile::tempdir().unwrap();
    let run = Run::with_threads(1).unwrap();
    for (case, seed) in Case::all().zip(1..) {
        let all = edges(seed, 60);
        let mut expected = Edges::new();
        case.model(&mut expected, &all);
        let whole = Store::open(case.import(directory.path(), &all).unwrap()).unwrap().latest().unwrap();
        assert_eq!(case.read(&whole), expected, "{case:?} in an import");

        let target = case.import(directory.path(), &all[..20]).unwrap();
        let mut parts = Edges::new();
        case.model(&mut parts, &all[..20]);
        let mut versions = vec![parts.clone()];
        let db = Database::open(&target, options()).unwrap();
        assert_eq!(db.manifest().duplicates(), case.rule);
        for (number, part) in all[20..].chunks(10).enumerate() {
            let mut batch = db.batch();
            part.iter().for_each(|&edge| case.add(&mut batch, edge));
            let given: usize = part.len();
            let before: usize = parts.values().map(Vec::len).sum();
            let report = db.commit_with(batch, &Default::default()).unwrap();
            case.model(&mut parts, part);
            let added: usize = parts.values().map(Vec::len).sum::<usize>() - before;
            match case.rule {
                Duplicates::Keep => assert_eq!(report.duplicates.unwrap(), 0),
                // An edge of an earlier commit is set anew: that is no duplicate.
                Duplicates::Last => assert!(report.duplicates.unwrap() as usize <= given - added),
                _ => assert_eq!(report.duplicates.unwrap() as usize, given - added, "{case:?}"),
            }
            versions.push(parts.clone());
            match number {
                0 => drop(db.freeze(&run).unwrap()),
                2 => drop(db.compact(&run).unwrap()),
                _ => {}
            }
        }
        assert_eq!(parts, expected);
        db.close().unwrap();
        let store = Store::open(&target).unwrap();
        for (expected, version) in versions.iter().zip(1..) {
            assert_eq!(&case.read(&store.at(version).unwrap()), expected, "{case:?} in version {version}");
        }
    }
}

#[test]
fn a_removed_edge_has_no_duplicate() {
    let directory = tempfile::tempdir().unwrap();
    for case in Case::all().filter(|case| case.rule != Duplicates::Keep) {
        let target = case.import(directory.path(), &[(1, 2, 5), (2, 3, 1)]).unwrap();
        let db = Database::open(&target, options()).unwrap();
        let mut batch = db.batch();
        case.add(&mut batch, (1, 2, 7));
        case.remove(&mut batch, 1, 2);
        case.add(&mut batch, (1, 2, 3));
        db.commit(batch, "").unwrap();
        let mut expected = Edges::new();
        case.model(&mut expected, &[(1, 2, 3), (2, 3, 1)]);
        assert_eq!(case.read(&db.latest().unwrap()), expected, "{case:?}");
    }
}

#[test]
fn a_duplicate_is_refused_on_request_and_nothing_happens() {
    let directory = tempfile::tempdir().unwrap();
    for texts in [false, true] {
        let case = Case { rule: Duplicates::Refuse, directed: false, weighted: true, texts };
        let target = case.import(directory.path(), &[(1, 2, 5), (2, 3, 1)]).unwrap();
        let db = Database::open(&target, options()).unwrap();
        for added in [&[(2, 1, 9)][..], &[(7, 8, 1), (8, 7, 1)]] {
            let mut batch = db.batch();
            added.iter().for_each(|&edge| case.add(&mut batch, edge));
            let error = db.commit(batch, "").unwrap_err().to_string();
            let &(u, v, _) = added.last().unwrap();
            let what = match added.len() {
                1 => "exists already and is added again, as edge 1 of the commit:",
                _ => "is added twice, as edges 1 and 2 of the commit:",
            };
            let told = format!("the edge from {} to {} {what}", case.id(u), case.id(v));
            assert!(error.starts_with(&told), "{error}");
            assert_eq!(db.latest().unwrap().num_vertices(), 3);
        }
        let mut batch = db.batch();
        case.add(&mut batch, (7, 8, 1));
        assert_eq!(db.commit(batch, "").unwrap(), 2);
    }
}

#[test]
fn a_batch_may_follow_another_rule_that_the_database_can_follow() {
    let directory = tempfile::tempdir().unwrap();
    let open =
        |case: Case| Database::open(case.import(directory.path(), &[(1, 2, 5)]).unwrap(), options()).unwrap();
    let case = Case { rule: Duplicates::Last, directed: true, weighted: true, texts: false };
    let db = open(case);
    let mut batch = db.batch();
    assert!(batch.set_duplicates(Duplicates::Keep).unwrap_err().to_string().contains("one edge between"));
    batch.set_duplicates(Duplicates::Sum).unwrap();
    case.add(&mut batch, (1, 2, 8));
    db.commit(batch, "").unwrap();
    assert_eq!(case.read(&db.latest().unwrap())[&("1".to_owned(), "2".to_owned())], [13]);

    drop(db);
    let case = Case { rule: Duplicates::Keep, ..case };
    let db = open(case);
    let refused = db.batch().set_duplicates(Duplicates::First).unwrap_err().to_string();
    assert!(refused.contains("keeps parallel edges"), "{refused}");
    drop(db);
    let case = Case { rule: Duplicates::Last, weighted: false, ..case };
    let db = open(case);
    assert!(db.batch().set_duplicates(Duplicates::Min).unwrap_err().to_string().contains("no weight"));
}

/// The type and the weight of the edge from 1 to 2.
fn weight_of(db: &Database) -> (ElementType, PropertyValue<'static>) {
    let version = db.latest().unwrap();
    let property = version.edge_properties().next().unwrap().clone();
    let source = version.ids().vertex_of(1_u64.into()).unwrap().unwrap();
    let bits = version.edges(Direction::Out, source).unwrap().bits(0, 0).unwrap();
    (property.element, PropertyValue::from_bits(property.element, bits))
}

/// A sum was rounded to the type of the first values, or refused for ever.
#[test]
fn a_sum_of_weights_gives_them_a_wider_type() {
    use ElementType::{F32, F64, I64};
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        let case = Case { rule: Duplicates::Sum, directed, weighted: true, texts: false };
        let add = |db: &Database, weights: &[PropertyValue<'_>]| {
            let mut batch = db.batch();
            for (weight, ends) in weights.iter().zip([(1_u64, 2_u64), (2, 1)].iter().cycle()) {
                let (source, target) = if directed { (1, 2) } else { *ends };
                batch.add_edge(source, target, &[*weight]).unwrap();
            }
            db.commit(batch, "").map_err(|error| error.to_string())
        };
        let target = case.import(directory.path(), &[(1, 2, i32::MAX)]).unwrap();
        let db = Database::open(&target, options()).unwrap();
        assert_eq!(add(&db, &[PropertyValue::I32(1)]), Ok(2));
        assert_eq!(weight_of(&db), (I64, PropertyValue::I64(1 << 31)));
        // Within one commit, too; and no type holds more than 64 bits.
        add(&db, &[PropertyValue::I64(1 << 62), PropertyValue::I64((1 << 62) - (1 << 31) - 1)]).unwrap();
        assert_eq!(weight_of(&db), (I64, PropertyValue::I64(i64::MAX)));
        let error = add(&db, &[PropertyValue::I32(1)]).unwrap_err();
        assert!(error.contains("from 1 to 2 add up to more than 64 bits hold: choose another"), "{error}");
        let before = db.at(1).unwrap();
        let old = before.edge_properties().next().unwrap().element;
        assert_eq!(old, I64, "in all versions");
        db.close().unwrap();

        let lines = "source,target,weight\n1,2,16777216.0\n7,8,0.5\n";
        let target = case.import_text(directory.path(), lines).unwrap();
        let db = Database::open(&target, options()).unwrap();
        assert_eq!(weight_of(&db), (F32, PropertyValue::F32(16_777_216.0)));
        add(&db, &[PropertyValue::F32(1.0)]).unwrap();
        assert_eq!(weight_of(&db), (F64, PropertyValue::F64(16_777_217.0)));
        db.close().unwrap();
        let store = Store::open(&target).unwrap();
        assert!(store.check(&Run::with_threads(1).unwrap()).unwrap().problems.is_empty());
    }
}

#[test]
fn a_large_batch_is_that_of_many_small_ones() {
    let directory = tempfile::tempdir().unwrap();
    let edges: Vec<Edge> = (0..10_000_u64).map(|i| (i * 7919 % 6007, i * 104_729 % 9001, i as i32)).collect();
    for bits in 0..4 {
        let (weighted, texts) = (bits & 1 > 0, bits & 2 > 0);
        let case = Case { rule: Duplicates::Last, directed: true, weighted, texts };
        let read = |parts: usize| {
            let target = case.import(directory.path(), &edges[..50]).unwrap();
            let db = Database::open(&target, options()).unwrap();
            for part in edges.chunks(edges.len() / parts) {
                let mut batch = db.batch();
                if parts == 1 {
                    let weights = part.iter().map(|edge| PropertyValue::I32(edge.2)).collect();
                    let values: &[Vec<_>] = if weighted { &[weights] } else { &[] };
                    if texts {
                        let ids: Vec<_> =
                            part.iter().map(|edge| [edge.0, edge.1].map(|v| case.id(v))).collect();
                        let ends: Vec<_> = ids.iter().map(|[a, b]| [a.as_bytes(), b.as_bytes()]).collect();
                        batch.add_text_edges(&ends, values).unwrap();
                        batch.add_integer_edges(&[1], &[2], &[]).unwrap_err();
                    } else {
                        let (sources, targets): (Vec<u64>, Vec<u64>) =
                            part.iter().map(|edge| (edge.0, edge.1)).unzip();
                        batch.add_integer_edges(&sources, &targets, values).unwrap();
                        batch.add_text_edges(&[[b"a", b"b"]], &[]).unwrap_err();
                    }
                } else {
                    part.iter().for_each(|&edge| case.add(&mut batch, edge));
                }
                db.commit(batch, "edges").unwrap();
            }
            let version = db.latest().unwrap();
            let vertices = (0..version.num_vertices()).map(esker_graph::vertex);
            let names = vertices.map(|v| version.ids().external_of(v).unwrap().to_string());
            (names.collect::<Vec<_>>(), case.read(&version))
        };
        assert_eq!(read(1), read(100), "{case:?}");
    }
}
