//! Every algorithm of the catalogue, by name, on graphs that went through the store, checked by its verifier.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use esker::catalogue::{AUTO, CATALOGUE, Entry, Job, OptDefault, Params, find};
use esker::graph::generate::{Generator, Grid, Model, RMat, Weighting};
use esker::graph::{Run, RunOptions};
use esker::import::install::import;
use esker::import::options::{ImportOptions, NumberingOrder};
use esker::import::read::generated::GeneratorReader;
use esker::store::Store;
use esker::store::format::Encoding;
use esker::store::io::{Disk, RealDisk};
use esker::store::manifest::StagingOptions;

use crate::requests::{Request, requests, required};

fn store(directory: &Path, name: &str, model: &Model, weighting: Weighting, order: NumberingOrder) -> Store {
    encoded(directory, name, model, weighting, (order, Encoding::Plain))
}

fn encoded(
    directory: &Path,
    name: &str,
    model: &Model,
    weighting: Weighting,
    (order, encoding): (NumberingOrder, Encoding),
) -> Store {
    let generator = Generator::new(model, weighting, 7).unwrap();
    let target = directory.join(name);
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let options =
        ImportOptions { order, encoding, threads: 2, memory_bytes: 64 << 20, ..ImportOptions::default() };
    let reader = Box::new(GeneratorReader::new(generator));
    import(&disk, reader, &target, &options, StagingOptions::default()).unwrap();
    Store::open(&target).unwrap()
}

fn models() -> Vec<(&'static str, Model, Weighting)> {
    let directed = RMat { directed: true, ..RMat::kronecker(9, 4) };
    vec![
        ("kron", Model::RMat(RMat::kronecker(9, 8)), Weighting::Int { max: 255 }),
        ("directed", Model::RMat(directed), Weighting::Unit),
        ("grid", Model::Grid(Grid { rows: 20, columns: 30, torus: false }), Weighting::None),
        ("path", Model::Path(300), Weighting::None),
        ("star", Model::Star(300), Weighting::Int { max: 1 }),
        ("complete", Model::Complete(30), Weighting::None),
        ("one", Model::Path(1), Weighting::None),
    ]
}

#[test]
fn every_algorithm_is_verified_on_every_kind_of_graph() {
    let directory = tempfile::tempdir().unwrap();
    let run = Run::with_threads(2).unwrap();
    for (name, model, weighting) in models() {
        for kind in [
            (NumberingOrder::Keep, Encoding::Plain),
            (NumberingOrder::Degree, Encoding::Plain),
            (NumberingOrder::Keep, Encoding::Compressed),
            (NumberingOrder::Degree, Encoding::Compressed),
        ] {
            let database = format!("{name}-{:?}-{:?}.esker", kind.0, kind.1);
            let store = encoded(directory.path(), &database, &model, weighting, kind);
            let version = store.latest().unwrap();
            for entry in CATALOGUE {
                let params = required(entry, "0");
                let job = Job { view: &version.view(), run: &run, params: &params, verify: true };
                let outcome = entry.run(&job);
                if entry.undirected && version.is_directed() {
                    let refused = outcome.unwrap_err().to_string();
                    assert!(refused.contains("undirected"), "{}: {refused}", entry.name);
                    continue;
                }
                if let (Weighting::Unit, "wbfs", Err(error)) = (&weighting, entry.name, &outcome) {
                    assert!(error.to_string().contains("integer"), "{error}");
                    continue;
                }
                let answer = outcome.unwrap_or_else(|error| panic!("{} on {database}: {error}", entry.name));
                let rows = answer.edges.as_ref().map_or(version.num_vertices(), Vec::len);
                for column in &answer.columns {
                    assert_eq!(column.values.len(), rows, "{} on {database}", entry.name);
                }
            }
        }
    }
}

/// What an option does by default is stated twice: in the catalogue, and in the algorithm.
#[test]
fn a_default_given_explicitly_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let model = Model::RMat(RMat::kronecker(8, 6));
    let store = store(directory.path(), "g.esker", &model, Weighting::Int { max: 9 }, NumberingOrder::Keep);
    let version = store.latest().unwrap();
    // With several threads, how many rounds a search in place takes depends on timing.
    let run = Run::new(RunOptions { threads: 1, deterministic: true, ..RunOptions::default() }).unwrap();
    let answer = |entry: &Entry, params: &Params| {
        let answer = entry.run(&Job { view: &version.view(), run: &run, params, verify: false }).unwrap();
        (answer.columns, answer.edges, answer.facts, answer.rounds)
    };
    for entry in CATALOGUE {
        let base = required(entry, "1");
        let expected = answer(entry, &base);
        for option in entry.options {
            let default = match option.default {
                OptDefault::Value(text) => Some(text),
                _ => option.has_auto.then_some(AUTO),
            };
            if let Some(text) = default {
                option.check(text).unwrap();
                // An option of another option's value changes nothing beside that value.
                let value = option.only_with;
                let base = value.map_or(base.clone(), |(name, value)| base.clone().with(name, value));
                let expected = if value.is_some() { &answer(entry, &base) } else { &expected };
                assert_eq!(
                    &answer(entry, &base.clone().with(option.name, text)),
                    expected,
                    "{}",
                    option.name
                );
            }
        }
    }
}

#[test]
fn deterministic_answers_and_figures_do_not_depend_on_timing() {
    let directory = tempfile::tempdir().unwrap();
    let directed = RMat { directed: true, ..RMat::kronecker(9, 6) };
    for (name, model) in [("plain", RMat::kronecker(9, 6)), ("directed", directed)] {
        let model = Model::RMat(model);
        let store = store(directory.path(), name, &model, Weighting::Unit, NumberingOrder::Keep);
        let version = store.latest().unwrap();
        let run = Run::new(RunOptions { threads: 5, deterministic: true, ..RunOptions::default() }).unwrap();
        for entry in CATALOGUE {
            let params = required(entry, "1");
            let answer = || {
                let answer =
                    entry.run(&Job { view: &version.view(), run: &run, params: &params, verify: false });
                answer
                    .map(|answer| (answer.columns, answer.edges, answer.facts))
                    .map_err(|error| error.to_string())
            };
            let first = answer();
            for _ in 0..4 {
                assert_eq!(answer(), first, "{} on {name}", entry.name);
            }
        }
    }
}

#[test]
fn answers_have_the_columns_and_figures_that_the_catalogue_names() {
    let directory = tempfile::tempdir().unwrap();
    let model = Model::RMat(RMat::kronecker(6, 6));
    let store = store(directory.path(), "g.esker", &model, Weighting::Int { max: 9 }, NumberingOrder::Keep);
    let version = store.latest().unwrap();
    let run = Run::with_threads(1).unwrap();
    let mut found: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for Request { entry, params, .. } in &requests("1") {
        let answer = entry.run(&Job { view: &version.view(), run: &run, params, verify: true }).unwrap();
        let (columns, figures) = found.entry(entry.name).or_default();
        columns.extend(answer.columns.iter().map(|column| column.name));
        figures.extend(answer.facts.iter().map(|(name, _)| *name));
    }
    for entry in CATALOGUE {
        let (columns, figures) = &found[entry.name];
        assert_eq!(columns, &entry.columns.iter().copied().collect(), "{}", entry.name);
        // A cycle is told only where there is one, agreement only where there are two properties.
        let is_told = |name: &&str| !["cycle_edges", "nmi", "ari"].contains(name);
        let figures_named: BTreeSet<&str> = entry.figures.iter().copied().filter(is_told).collect();
        let figures: BTreeSet<&str> = figures.iter().copied().filter(is_told).collect();
        assert_eq!(figures, figures_named, "{}", entry.name);
    }
}

#[test]
fn unknown_names_and_options_are_refused_with_what_there_is() {
    let unknown = find("pagerang").unwrap_err().to_string();
    assert!(unknown.contains("did you mean pagerank?"), "{unknown}");
    // The search would take gigabytes.
    let long = find(&"x".repeat(10_000_000)).unwrap_err().to_string();
    assert!(!long.contains("did you mean") && long.ends_with("names all"), "{}", &long[long.len() - 99..]);
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path(), "p.esker", &Model::Path(3), Weighting::None, NumberingOrder::Keep);
    let version = store.latest().unwrap();
    let run = Run::with_threads(1).unwrap();
    let params = Params::default().with("damping", "0.5");
    let job = Job { view: &version.view(), run: &run, params: &params, verify: false };
    let refused = find("scc").unwrap().run(&job).unwrap_err().to_string();
    assert_eq!(refused, "scc has no option `damping`; it takes none");
}

/// Labels may be numbers or texts, some missing; versions and windows have their own.
#[test]
fn groups_are_those_of_a_vertex_property() {
    use esker::store::property::PropertyValue;
    use esker::store::{Database, DatabaseOptions};
    let directory = tempfile::tempdir().unwrap();
    store(directory.path(), "p.esker", &Model::Path(6), Weighting::None, NumberingOrder::Keep);
    let db = Database::open(directory.path().join("p.esker"), DatabaseOptions::default()).unwrap();
    let mut batch = db.batch();
    batch.define_vertex_property("side", None);
    batch.define_vertex_property("half", esker::store::format::ElementType::I32);
    for v in 0..6_u64 {
        if v != 5 {
            let side: &[u8] = if v < 3 { b"left" } else { b"right" };
            batch.set_vertex(v, "side", Some(PropertyValue::Text(side))).unwrap();
        }
        batch.set_vertex(v, "half", Some(i32::from(v >= 3).into())).unwrap();
    }
    db.commit(batch, "labels").unwrap();
    let run = Run::with_threads(2).unwrap();
    let fact = |params: &Params, name: &str| {
        let view = db.latest().unwrap().view();
        let answer =
            find("quality").unwrap().run(&Job { view: &view, run: &run, params, verify: true }).unwrap();
        format!("{:?}", answer.fact(name).unwrap())
    };
    let halves = Params::default().with("labels", "half").with("against", "side");
    // Five edges: two inside each half, and one between them.
    assert_eq!(fact(&halves, "groups"), "Count(2)");
    assert_eq!(fact(&halves, "coverage"), "Float(0.8)");
    assert!(fact(&halves, "modularity").starts_with("Float(0.3"));
    let sides = Params::default().with("labels", "side").with("against", "side");
    assert_eq!(fact(&sides, "groups"), "Count(3)"); // the last vertex is a group of its own
    assert_eq!(fact(&sides, "nmi"), "Float(1.0)");
    assert_eq!(fact(&Params::default(), "groups"), "Count(1)");
    let params = Params::default().with("labels", "none");
    let view = db.latest().unwrap().view();
    let job = Job { view: &view, run: &run, params: &params, verify: false };
    let error = find("quality").unwrap().run(&job).unwrap_err().to_string();
    assert!(error.contains("none"), "{error}");
}

/// A series of windows or versions puts columns of its own before those of the answer.
#[test]
fn no_column_has_the_name_of_one_of_a_series() {
    for entry in CATALOGUE {
        for name in entry.columns {
            let is_own = ["until", "length", "version", "vertex", "source", "target"].contains(name);
            assert!(!is_own, "{}: {name}", entry.name);
        }
    }
}

/// The types of columns, and which are labels of groups, are stated twice: in answers, and for alerts, whose
/// conditions are checked before there is an answer.
#[test]
fn alerts_know_the_types_of_all_columns() {
    use esker::alert::{AlertRule, SeriesAlerts};
    use esker::answer::Values;

    let directory = tempfile::tempdir().unwrap();
    let run = Run::with_threads(2).unwrap();
    for (name, directed) in [("d.esker", true), ("u.esker", false)] {
        let csv = b"source,target,weight\nann,bob,0.5\nbob,cid,1.5\ncid,ann,2.5\ncid,dan,1\n";
        let path = directory.path().join(name);
        let edges = [esker::import::Input::memory("a.csv", *csv)];
        let read = esker::import::ReadOptions { directed: Some(directed), ..Default::default() };
        esker::import::import_inputs(&edges, &path, &read, &Default::default()).unwrap();
        let view = Store::open(&path).unwrap().latest().unwrap().view();
        for entry in CATALOGUE {
            let params = required(entry, "ann");
            let Ok(answer) = entry.run(&Job { view: &view, run: &run, params: &params, verify: false })
            else {
                continue;
            };
            let accepts = |condition: Option<String>, min_change: Option<f64>| {
                let condition = condition.map(|condition| condition.parse().unwrap());
                let rule = AlertRule { condition, new_rows: true, min_change };
                SeriesAlerts::new(&rule, entry, &view).is_ok()
            };
            for column in &answer.columns {
                let is = format!("{} of {}: {:?}", column.name, entry.name, column.values);
                let is_vertex = matches!(column.values, Values::Vertex(_));
                assert_eq!(accepts(Some(format!("{} = 'ann'", column.name)), None), is_vertex, "{is}");
                let is_float = matches!(column.values, Values::Float(_));
                assert!(accepts(Some(format!("{} = 0.5", column.name)), None) || !is_float, "{is}");
            }
            if let Some(column) = answer.columns.first() {
                assert_eq!(accepts(None, Some(1.0)), !column.ranking.is_of_groups(), "{}", entry.name);
            }
        }
    }
}
