//! The tables of docs/values.md, each of whose values goes through every door. `python/tests/test_values.py`
//! has the doors of Python.

use std::collections::BTreeSet;
use std::fmt::{Display, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use esker::change::{
    FeedOptions, FeedReport, Purpose, SetOptions, StreamOptions, Target, commit_script, feed, open_edges,
    set_from_table, set_vertex, stream,
};
use esker::graph::{Run, vertex};
use esker::import::install::import;
use esker::import::open::open_reader;
use esker::import::options::ImportOptions;
use esker::import::read::format::{Declaration, Format, PickIds, PickProperties, ReadOptions};
use esker::local::{Incidence, edges_of};
use esker::store::format::notation::Notation;
use esker::store::io::RealDisk;
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::{CommitOptions, Database, DatabaseOptions, Store, Version};
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../../docs/values.md");

/// What a cell of a table promises.
#[derive(Debug, Clone, PartialEq)]
enum Promise {
    Refused,
    /// An integer or a number.
    Plain(String),
    Text(String),
}

impl Promise {
    fn of(cell: &str) -> Self {
        match (cell, cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'))) {
            ("refused", _) => Self::Refused,
            (_, Some(text)) => Self::Text(text.replace('␣', " ")),
            (plain, None) => Self::Plain(plain.to_owned()),
        }
    }
}

/// A value as it stands in a table or a script.
struct Given {
    field: String,
    promises: Vec<Promise>,
}

impl Given {
    fn is_quoted(&self) -> bool {
        self.field.starts_with('"')
    }

    /// The value as a shell hands it over.
    fn argument(&self) -> String {
        match self.is_quoted() {
            true => self.field.trim_matches('"').to_owned(),
            false => self.field.trim().to_owned(),
        }
    }
}

/// The rows of the table below a heading.
fn table(heading: &str) -> Vec<Given> {
    let (_, page) = PAGE.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = page.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let field = cells[0].trim_matches('`').replace('␣', " ");
        Given { field, promises: cells[1..].iter().map(|cell| Promise::of(cell)).collect() }
    })
    .collect()
}

/// A directory, and what lies in it.
struct World {
    place: TempDir,
    next: AtomicUsize,
}

type Found<T> = Result<T, String>;

fn told<T, E: Display>(result: Result<T, E>) -> Found<T> {
    result.map_err(|error| error.to_string())
}

impl World {
    fn new() -> Self {
        Self { place: TempDir::new().unwrap(), next: AtomicUsize::new(0) }
    }

    fn path(&self, end: &str) -> PathBuf {
        self.place.path().join(format!("{}{end}", self.next.fetch_add(1, Ordering::Relaxed)))
    }

    fn file(&self, end: &str, content: &str) -> String {
        let path = self.path(end);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    fn import(&self, file: &str, read: &ReadOptions) -> Found<PathBuf> {
        let (target, options) =
            (self.path(".esker"), ImportOptions { threads: 1, ..ImportOptions::default() });
        let reader = told(open_reader(&[file], read))?;
        told(import(&(Arc::new(RealDisk) as _), reader, &target, &options, StagingOptions::default()))?;
        Ok(target)
    }

    fn copy(&self, database: &Path) -> PathBuf {
        let target = self.path(".esker");
        copy(database, &target);
        target
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

fn open(database: &Path) -> (Database, Target) {
    let database = Database::open(database, DatabaseOptions::default()).unwrap();
    let target = Target::of(&database).unwrap();
    (database, target)
}

fn version(database: &Path) -> Version {
    Store::open(database).unwrap().latest().unwrap()
}

/// The ids of the vertices that are there, without those given.
fn ids_beside(version: &Version, others: &[&str]) -> Vec<String> {
    let removed = version.removed(&Run::with_threads(1).unwrap()).unwrap().clone();
    let there = (0..version.num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v));
    let ids = there.map(|v| version.ids().external_of(v).unwrap().to_string());
    ids.filter(|id| !others.contains(&id.as_str())).collect()
}

/// The sources of the edges into the vertex 2, and the values of these.
fn into_two(version: &Version) -> Vec<(String, Vec<PropertyValue<'_>>)> {
    let name = |v| version.ids().external_of(v).unwrap().to_string();
    let mut found = Vec::new();
    for v in (0..version.num_vertices()).map(vertex) {
        let edges = edges_of(version, v, Incidence::Out).unwrap();
        found.extend(
            edges.into_iter().filter(|edge| name(edge.target) == "2").map(|edge| (name(v), edge.values)),
        );
    }
    found
}

fn sources(database: &Path) -> Vec<String> {
    into_two(&version(database)).into_iter().map(|(source, _)| source).collect()
}

/// Adds the edges of a file, or removes them.
fn fed(database: &Path, file: &str, read: &ReadOptions, purpose: Purpose) -> Found<()> {
    let (database, target) = open(database);
    let files = if file.is_empty() { Vec::new() } else { vec![file.to_owned()] };
    let input = told(open_edges(&target, &files, read, purpose))?;
    told(feed(&database, &target, input, &FeedOptions::default(), &mut FeedReport::default()))
}

fn streamed(database: &Path, file: &str) -> Found<()> {
    let (database, target) = open(database);
    let input = told(open_edges(&target, &[file.to_owned()], &ReadOptions::default(), Purpose::Add))?;
    told(stream(&database, &target, input, &StreamOptions::default(), &mut None))
}

fn committed(database: &Path, script: &str) -> Found<()> {
    let (database, target) = open(database);
    let mut lines = script.as_bytes();
    told(commit_script(&database, &target, &mut lines, Path::new("-"), false, &CommitOptions::default()))?;
    Ok(())
}

fn set(database: &Path, file: &str) -> Found<()> {
    let (database, target) = open(database);
    let commit = CommitOptions::default();
    told(set_from_table(&database, &target, file, &ReadOptions::default(), &SetOptions::default(), &commit))?;
    Ok(())
}

fn set_one(database: &Path, id: &str, name: &str, value: &str) -> Found<()> {
    let (database, target) = open(database);
    let values = [(name.to_owned(), value.to_owned())];
    let (notation, commit) = (Notation::default(), CommitOptions::default());
    told(set_vertex(&database, &target, id, &values, &notation, false, &commit))?;
    Ok(())
}

/// The vertices that have a value of the property `p`.
fn with_p(database: &Path) -> Vec<String> {
    let version = version(database);
    let property = version.vertex_property("p").unwrap();
    let has = |v: &usize| property.get(vertex(*v)).unwrap().is_some();
    let found = (0..version.num_vertices()).filter(has);
    found.map(|v| version.ids().external_of(vertex(v)).unwrap().to_string()).collect()
}

/// Compares what every door did with what the page promises.
struct Verdict(Vec<String>);

impl Verdict {
    #[allow(clippy::needless_pass_by_value, reason = "it is made for this call")]
    fn compare(&mut self, door: &str, given: &Given, promise: &Promise, found: Found<Vec<String>>) {
        let agrees = match (promise, &found) {
            (Promise::Refused, found) => found.is_err(),
            (Promise::Plain(one) | Promise::Text(one), Ok(found)) => found.as_slice() == [one.clone()],
            (_, Err(_)) => false,
        };
        if !agrees {
            self.0.push(format!("{door}: {:?} should be {promise:?}, but {found:?}", given.field));
        }
    }

    #[track_caller]
    fn pronounce(self) {
        assert!(self.0.is_empty(), "{} doors disagree:\n{}", self.0.len(), self.0.join("\n"));
    }
}

/// Doors by which an id comes to a new database, or one of the ids 2 and 3.
fn adding(
    world: &World,
    base: &Path,
    given: &Given,
    read: &ReadOptions,
) -> Vec<(&'static str, Found<Vec<String>>)> {
    let field = &given.field;
    let imported =
        |end: &str, content: &str| world.import(&world.file(end, content), read).map(|new| sources(&new));
    let lines = format!("{field}\n");
    let vertices = ReadOptions { vertices: Some(world.file(".txt", &lines)), ..read.clone() };
    let edges = world.file(".csv", "source,target\n2,3\n3,3\n");
    let changed = |change: &dyn Fn(&Path) -> Found<()>| {
        let database = world.copy(base);
        change(&database).map(|()| sources(&database))
    };
    let grown = |change: &dyn Fn(&Path) -> Found<()>| {
        let database = world.copy(base);
        change(&database).map(|()| ids_beside(&version(&database), &["2", "3"]))
    };
    let csv = format!("source,target\n{field},2\n");
    let plain = ReadOptions::default();
    let mut doors = vec![
        ("import csv", imported(".csv", &format!("source,target\n2,3\n{field},2\n"))),
        ("import tsv", imported(".tsv", &format!("source\ttarget\n2\t3\n{field}\t2\n"))),
        (
            "import --vertices",
            world.import(&edges, &vertices).map(|new| ids_beside(&version(&new), &["2", "3"])),
        ),
        ("add csv", changed(&|db| fed(db, &world.file(".csv", &csv), &plain, Purpose::Add))),
        (
            "add --vertices",
            grown(&|db| {
                let vertices = Some(world.file(".txt", &lines));
                fed(db, "", &ReadOptions { vertices, ..ReadOptions::default() }, Purpose::Add)
            }),
        ),
        ("stream csv", changed(&|db| streamed(db, &world.file(".csv", &csv)))),
        ("commit + u v", changed(&|db| committed(db, &format!("+ {field} 2\n")))),
        ("commit + u", grown(&|db| committed(db, &format!("+ {field}\n")))),
    ];
    if !given.is_quoted() {
        doors.push(("import el", imported(".el", &format!("2 3\n{field} 2\n"))));
        doors.push(("import snap", imported(".txt", &format!("# edges\n2\t3\n{field}\t2\n"))));
        doors.push((
            "add el",
            changed(&|db| fed(db, &world.file(".el", &format!("{field} 2\n")), &plain, Purpose::Add)),
        ));
    }
    doors
}

/// Doors that name a vertex which exists.
fn naming(world: &World, base: &Path, given: &Given) -> Vec<(&'static str, Found<Vec<String>>)> {
    let (field, argument) = (&given.field, given.argument());
    let before = version(base);
    let all: BTreeSet<String> = ids_beside(&before, &[]).into_iter().collect();
    let gone = |change: &dyn Fn(&Path) -> Found<()>, left: &dyn Fn(&Path) -> Vec<String>| {
        let database = world.copy(base);
        let had: BTreeSet<String> = left(&database).into_iter().collect();
        change(&database).map(|()| had.difference(&left(&database).into_iter().collect()).cloned().collect())
    };
    let marked = |change: &dyn Fn(&Path) -> Found<()>| {
        let database = world.copy(base);
        change(&database).map(|()| with_p(&database))
    };
    let there = |database: &Path| ids_beside(&version(database), &[]);
    let run = Run::with_threads(1).unwrap();
    let found = told(before.find_vertex(&argument, &run));
    let csv = format!("source,target\n{field},2\n");
    assert!(all.len() > 2);
    vec![
        ("get", found.map(|v| vec![before.ids().external_of(v).unwrap().to_string()])),
        ("set", marked(&|db| set(db, &world.file(".csv", &format!("id,p\n{field},1\n"))))),
        ("set --vertex", marked(&|db| set_one(db, &argument, "p", "1"))),
        ("commit u p=1", marked(&|db| committed(db, &format!("{field} p=1\n")))),
        ("commit - u", gone(&|db| committed(db, &format!("- {field}\n")), &there)),
        ("commit - u v", gone(&|db| committed(db, &format!("- {field} 2\n")), &sources)),
        (
            "delete",
            gone(
                &|db| fed(db, &world.file(".csv", &csv), &ReadOptions::default(), Purpose::Remove),
                &sources,
            ),
        ),
        (
            "delete --vertices",
            gone(
                &|db| {
                    let vertices = Some(world.file(".txt", &format!("{field}\n")));
                    fed(db, "", &ReadOptions { vertices, ..ReadOptions::default() }, Purpose::Remove)
                },
                &there,
            ),
        ),
    ]
}

#[test]
fn an_id_means_the_same_through_every_door() {
    let (world, ids, mut verdict) = (World::new(), table("Ids"), Verdict(Vec::new()));
    assert!(ids.len() > 10);
    for (kind, pick) in [PickIds::Int, PickIds::Text].into_iter().enumerate() {
        let read = ReadOptions { ids: pick, ..ReadOptions::default() };
        let few = world.import(&world.file(".csv", "source,target\n2,3\n"), &read).unwrap();
        // All that any row may mean, so that a value which is taken for another is found.
        let mut known = "source,target\n2,3\n7,2\n0,2\n".to_owned();
        let promised = ids.iter().filter_map(|given| match &given.promises[kind] {
            Promise::Plain(id) | Promise::Text(id) => Some(id),
            Promise::Refused => None,
        });
        promised.for_each(|id| writeln!(known, "\"{id}\",2").unwrap());
        let many = world.import(&world.file(".csv", &known), &read).unwrap();
        for given in &ids {
            let doors = adding(&world, &few, given, &read).into_iter().chain(naming(&world, &many, given));
            doors.for_each(|(door, found)| verdict.compare(door, given, &given.promises[kind], found));
        }
    }
    verdict.pronounce();
}

#[test]
fn a_format_that_numbers_its_vertices_reads_numbers_like_every_other() {
    let (world, mut verdict) = (World::new(), Verdict(Vec::new()));
    let banner = "%%MatrixMarket matrix coordinate pattern general\n2000 2000 2\n";
    for given in table("Ids").iter().filter(|given| !given.is_quoted() && given.field.len() < 20) {
        let field = &given.field;
        let imported = |format: Format, content: String| {
            let read = ReadOptions { format: Some(format), ..ReadOptions::default() };
            world.import(&world.file("", &content), &read).map(|new| sources(&new))
        };
        let promise = &given.promises[0];
        verdict.compare(
            "mtx",
            given,
            promise,
            imported(Format::MatrixMarket, format!("{banner}2 3\n{field} 2\n")),
        );
        let dimacs = format!("p sp 2000 2\na 2 3 1\na {field} 2 1\n");
        verdict.compare("dimacs", given, promise, imported(Format::Dimacs, dimacs));
    }
    verdict.pronounce();
}

#[test]
fn a_sample_of_a_new_input_decides_alike_in_every_format() {
    let (world, mut verdict) = (World::new(), Verdict(Vec::new()));
    for given in &table("Ids") {
        let (field, promise) = (&given.field, &given.promises[2]);
        let imported = |file: &str, read: &ReadOptions| {
            let new = world.import(file, read)?;
            let is_text = version(&new).ids().is_text();
            let mut ids = ids_beside(&version(&new), &["2", "3"]);
            if is_text != matches!(promise, Promise::Text(_)) {
                ids.push(format!("texts: {is_text}"));
            }
            Ok(ids)
        };
        let plain = ReadOptions::default();
        let csv = world.file(".csv", &format!("source,target\n2,3\n{field},2\n"));
        verdict.compare("csv", given, promise, imported(&csv, &plain));
        let tsv = world.file(".tsv", &format!("source\ttarget\n2\t3\n{field}\t2\n"));
        verdict.compare("tsv", given, promise, imported(&tsv, &plain));
        let matrix = "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n";
        let names = Some(world.file(".txt", &format!("2\n3\n{field}\n")));
        let named = ReadOptions { vertices: names, ..ReadOptions::default() };
        verdict.compare("mtx --vertices", given, promise, imported(&world.file(".mtx", matrix), &named));
        if !given.is_quoted() {
            let el = world.file(".el", &format!("2 3\n{field} 2\n"));
            verdict.compare("el", given, promise, imported(&el, &plain));
        }
    }
    verdict.pronounce();
}

/// A value as the page writes it: numbers by their value.
fn shown(value: &PropertyValue<'_>) -> Vec<String> {
    vec![match value {
        PropertyValue::F32(number) => f64::from(*number).to_string(),
        other => other.to_string(),
    }]
}

/// The value at `place` of the edge from 3 to 2.
fn edge_value(database: &Path, name: &str) -> Vec<String> {
    let version = version(database);
    let place = version.edge_properties().position(|property| property.name == name).unwrap();
    let found = into_two(&version);
    let of_three = found.iter().find(|(source, _)| source == "3");
    of_three.map(|(_, values)| shown(&values[place])).unwrap_or_default()
}

/// The value of a property of the vertex 3.
fn vertex_value(database: &Path, name: &str) -> Vec<String> {
    let version = version(database);
    let v = version.find_vertex("3", &Run::with_threads(1).unwrap()).unwrap();
    let property = version.vertex_property(name).unwrap();
    let value = property.get(v).unwrap();
    value.as_ref().map(shown).unwrap_or_default()
}

/// A property that an input of documents adds has a type that holds all of its first values.
#[test]
fn values_of_several_kinds_are_added_as_they_are_imported() {
    let world = World::new();
    let base = world.import(&world.file("", "2 3\n"), &ReadOptions::default()).unwrap();
    for (one, three, expected) in [
        ("1", "1.5", "1.5"),
        ("1.5", "3", "3"),
        ("1", "\"a\"", "a"),
        ("\"a\"", "7", "7"),
        ("1", "true", "true"),
    ] {
        let nodes = format!("{{\"id\": 1, \"x\": {one}}}, {{\"id\": 3, \"x\": {three}}}");
        let json = format!("{{\"nodes\": [{nodes}], \"edges\": [{{\"source\": 3, \"target\": 2}}]}}");
        let database = world.copy(&base);
        fed(&database, &world.file(".json", &json), &ReadOptions::default(), Purpose::Add).unwrap();
        assert_eq!(vertex_value(&database, "x"), [expected], "{one} {three}");
    }
}

#[test]
fn a_value_means_the_same_through_every_door() {
    let (world, values, mut verdict) = (World::new(), table("Numbers"), Verdict(Vec::new()));
    assert!(values.len() > 10);
    let declared = |types: &[&str]| ReadOptions {
        schema: types.iter().map(|one| one.parse::<Declaration>().unwrap()).collect(),
        ..ReadOptions::default()
    };
    let both = world.file(".csv", "source,target,weight,kind\n2,3,0.5,a\n");
    let base = world.import(&both, &declared(&["kind:text"])).unwrap();
    set(&base, &world.file(".csv", "id,size,note\n2,0.5,a\n")).unwrap();
    for given in &values {
        let (field, argument) = (&given.field, given.argument());
        let changed = |change: &dyn Fn(&Path) -> Found<()>, read: &dyn Fn(&Path) -> Vec<String>| {
            let database = world.copy(&base);
            change(&database).map(|()| read(&database))
        };
        let number = &given.promises[0];
        let weighted = world.file(".csv", &format!("source,target,weight\n2,3,0.5\n3,2,{field}\n"));
        let mut numbers = vec![
            ("import weight", world.import(&weighted, &ReadOptions::default())),
            ("import declared", world.import(&weighted, &declared(&["weight:f64"]))),
        ];
        if !given.is_quoted() {
            let read = |format| ReadOptions { format: Some(format), ..ReadOptions::default() };
            let wel = world.file("", &format!("2 3 0.5\n3 2 {field}\n"));
            numbers.push(("import wel", world.import(&wel, &read(Format::WeightedEdgeList))));
            let banner = "%%MatrixMarket matrix coordinate real general\n3 3 2\n";
            let mtx = world.file("", &format!("{banner}2 3 0.5\n3 2 {field}\n"));
            numbers.push(("import mtx", world.import(&mtx, &read(Format::MatrixMarket))));
            let dimacs = world.file("", &format!("p sp 3 2\na 2 3 1\na 3 2 {field}\n"));
            numbers.push(("import dimacs", world.import(&dimacs, &read(Format::Dimacs))));
            let adjacency =
                world.file("", &format!("WeightedAdjacencyGraph\n4\n1\n0\n0\n0\n0\n2\n{field}\n"));
            numbers.push(("import adj", world.import(&adjacency, &read(Format::Adjacency))));
        }
        for (door, imported) in numbers {
            verdict.compare(door, given, number, imported.map(|new| edge_value(&new, "weight")));
        }
        let texts = world.file(".csv", &format!("source,target,kind\n3,2,{field}\n2,3,a\n"));
        let imported = world.import(&texts, &declared(&["kind:text"])).map(|new| edge_value(&new, "kind"));
        verdict.compare("import texts", given, &given.promises[1], imported);
        for (promise, name, row) in [
            (number, "weight", format!("3,2,{field},a")),
            (&given.promises[1], "kind", format!("3,2,1,{field}")),
        ] {
            let csv = world.file(".csv", &format!("source,target,weight,kind\n{row}\n"));
            let read = |db: &Path| edge_value(db, name);
            let plain = ReadOptions::default();
            verdict.compare("add", given, promise, changed(&|db| fed(db, &csv, &plain, Purpose::Add), &read));
            verdict.compare("stream", given, promise, changed(&|db| streamed(db, &csv), &read));
            let script = match name {
                "weight" => format!("+ 3 2 weight={} kind=a\n", field.trim()),
                _ => format!("+ 3 2 weight=1 kind={}\n", field.trim()),
            };
            verdict.compare("commit + u v", given, promise, changed(&|db| committed(db, &script), &read));
        }
        for (promise, name) in [(number, "size"), (&given.promises[1], "note")] {
            let csv = world.file(".csv", &format!("id,{name}\n3,{field}\n"));
            let read = |db: &Path| vertex_value(db, name);
            verdict.compare("set", given, promise, changed(&|db| set(db, &csv), &read));
            let one = changed(&|db| set_one(db, "3", name, &argument), &read);
            verdict.compare("set --vertex", given, promise, one);
            let script = format!("3 {name}={}\n", field.trim());
            verdict.compare("commit u", given, promise, changed(&|db| committed(db, &script), &read));
        }
        let promise = &given.promises[2];
        let csv = world.file(".csv", &format!("source,target,p\n2,3,2\n3,2,{field}\n"));
        let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
        let imported = world.import(&csv, &read).map(|new| edge_value(&new, "p"));
        verdict.compare("import --property", given, promise, imported);
        let csv = world.file(".csv", &format!("id,p\n2,2\n3,{field}\n"));
        verdict.compare("set new", given, promise, changed(&|db| set(db, &csv), &|db| vertex_value(db, "p")));
    }
    verdict.pronounce();
}
