//! Rows as a test knows them, and a database of them.

use std::path::{Path, PathBuf};

use esker::graph::Run;
use esker::graph::random::Random;
use esker::import::{ImportOptions, Input, PickProperties, ReadOptions, import_inputs};
use esker::store::format::{Duplicates, ElementType, Encoding, LogicalType, PropertyType};
use esker::store::property::PropertyValue;
use esker::store::{Database, DatabaseOptions};

pub(super) const NUM_VERTICES: u64 = 9;
pub(super) const KINDS: [&str; 4] = ["fee", "wire", "it's", "a b"];
pub(super) const LANDS: [&str; 3] = ["DE", "CH", "D_"];

/// An edge as the test knows it.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) ends: [u64; 2],
    pub(super) amount: Option<i64>,
    pub(super) rate: Option<f64>,
    pub(super) kind: Option<&'static str>,
    pub(super) day: i32,
}

/// What the test knows of a vertex: its `group` and its `land`.
pub(super) type Facts = (Option<i64>, Option<&'static str>);

/// A database of three versions: a layer of the import, one of commits, and the log. Vertices get their
/// properties in the second version, and others in the third.
pub(super) struct World {
    pub(super) path: PathBuf,
    pub(super) directed: bool,
    pub(super) rows: Vec<Row>,
    /// Of the second and the third version.
    pub(super) facts: [Vec<Facts>; 2],
}

fn some<T>(random: &mut Random, value: T) -> Option<T> {
    (random.below(4) > 0).then_some(value)
}

fn row(random: &mut Random, whole: bool) -> Row {
    let mut end = || random.below(NUM_VERTICES);
    let ends = [end(), end()];
    let amount = random.below(9) as i64 - 3;
    let rate = random.below(8) as f64 / 4.0;
    let kind = KINDS[random.below(4) as usize];
    let day = random.below(5) as i32;
    match whole {
        true => Row { ends, amount: Some(amount), rate: Some(rate), kind: Some(kind), day },
        false => Row {
            ends,
            amount: some(random, amount),
            rate: some(random, rate),
            kind: some(random, kind),
            day,
        },
    }
}

fn facts(random: &mut Random) -> Vec<Facts> {
    let mut of_one = || {
        let (group, land) = (random.below(4) as i64, LANDS[random.below(3) as usize]);
        (some(random, group), some(random, land))
    };
    (0..NUM_VERTICES).map(|_| of_one()).collect()
}

impl World {
    pub(super) fn new(directory: &Path, directed: bool, encoding: Encoding, random: &mut Random) -> Self {
        let path = directory.join("world.esker");
        let rows: Vec<Row> = (0..40).map(|i| row(random, i < 15)).collect();
        let mut csv = "source,target,amount,rate,kind,day\n".to_owned();
        for Row { ends: [u, v], amount, rate, kind, day } in &rows[..15] {
            let (amount, rate, kind) = (amount.unwrap(), rate.unwrap(), kind.unwrap());
            csv += &format!("{u},{v},{amount},{rate:.2},{kind},1970-01-0{}\n", day + 1);
        }
        let read = ReadOptions {
            properties: PickProperties::All,
            vertices: Some(NUM_VERTICES.to_string()),
            schema: vec!["rate:f64".parse().unwrap()],
            ..ReadOptions::default()
        };
        let input = Input::memory("edges.csv", csv.into_bytes());
        let import = ImportOptions {
            directed: Some(directed),
            duplicates: Duplicates::Keep,
            encoding,
            ..ImportOptions::default()
        };
        import_inputs(&[input], &path, &read, &import).unwrap();
        let database =
            Database::open(&path, DatabaseOptions { threads: 1, ..DatabaseOptions::default() }).unwrap();
        let run = Run::with_threads(1).unwrap();
        for name in ["amount", "rate", "kind"] {
            database.allow_missing(name, &run).unwrap();
        }
        let world = Self { path, directed, rows, facts: [facts(random), facts(random)] };
        for (rows, facts) in [(15..30, &world.facts[0]), (30..40, &world.facts[1])] {
            world.commit(&database, &world.rows[rows], facts);
        }
        database.close().unwrap();
        world
    }

    fn commit(&self, database: &Database, rows: &[Row], facts: &[Facts]) {
        let mut batch = database.batch();
        batch.define_vertex_property("group", ElementType::I64);
        batch.define_vertex_property(
            "land",
            PropertyType { element: ElementType::U8, logical: LogicalType::Text },
        );
        for (v, (group, land)) in (0_u64..).zip(facts) {
            batch.set_vertex(v, "group", group.map(PropertyValue::from)).unwrap();
            batch.set_vertex(v, "land", land.map(PropertyValue::from)).unwrap();
        }
        let names: Vec<_> =
            database.latest().unwrap().edge_properties().map(|one| one.name.clone()).collect();
        for Row { ends: [u, v], amount, rate, kind, day } in rows {
            let value = |name: &String| match &**name {
                "amount" => (*amount).into(),
                "rate" => (*rate).into(),
                "kind" => (*kind).into(),
                _ => PropertyValue::Date(*day),
            };
            batch.add_edge(*u, *v, &names.iter().map(value).collect::<Vec<_>>()).unwrap();
        }
        database.commit(batch, "more").unwrap();
        if rows.len() > 10 {
            database.freeze(&Run::with_threads(1).unwrap()).unwrap();
        }
    }
}
