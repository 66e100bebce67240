//! Databases that were changed: layers, tiles, properties, tags and a log.

use std::path::Path;
use std::sync::Arc;

use esker_graph::Run;
use esker_import::install::import;
use esker_import::open::open_inputs;
use esker_import::options::{ImportOptions, NumberingOrder};
use esker_import::read::format::{PickProperties, ReadOptions};
use esker_import::read::input::Input;
use esker_store::io::{Disk, FaultyDisk};
use esker_store::manifest::StagingOptions;
use esker_store::property::PropertyValue;
use esker_store::tiles::ConvertOptions;
use esker_store::{Database, DatabaseOptions, Error, HeadedOptions};

/// Changes edges by integers, new ones among them, removes vertices and sets a property of others.
pub(crate) fn commit_integers(db: &Database) -> Result<(), Error> {
    for round in 0..5_u64 {
        let mut batch = db.batch();
        (0..8).try_for_each(|i| batch.add_edge(i, i * round + 3, &[]))?;
        batch.remove_edge(round, round + 1)?;
        batch.remove_vertex(round * 2)?;
        batch.add_vertex(round)?;
        db.commit(batch, "more")?;
    }
    Ok(())
}

/// The same by texts, with weights and kinds of edges.
pub(crate) fn commit_texts(db: &Database) -> Result<(), Error> {
    let values = |weight, kind| [PropertyValue::I32(weight), PropertyValue::Text(kind)];
    let values = |weight, kind: &'static str| values(weight, kind.as_bytes());
    for round in 0..3 {
        let mut batch = db.batch();
        let id = format!("new {round}");
        batch.add_edge("a", id.as_str(), &values(round, "x"))?;
        batch.add_edge("b", "c", &values(7, ["x", "q", "long kind"][round as usize]))?;
        batch.remove_edge("c", "a")?;
        batch.define_vertex_property("age", Some(esker_store::format::ElementType::I64));
        batch.set_vertex("d", "age", Some(PropertyValue::I64(i64::from(round))))?;
        db.commit(batch, &format!("round {round}"))?;
    }
    let mut batch = db.batch();
    batch.remove_vertex("a")?;
    db.commit(batch, "").map(drop)
}

/// Heads of one neighbour, so that there are tails too.
pub(crate) const HEADS: HeadedOptions = HeadedOptions { head_len: Some(1), memory_bytes: 1 << 26 };

/// A database of an import, open for writing.
struct Begun {
    disk: Arc<dyn Disk>,
    db: Database,
}

fn begin(root: &Path, name: &str, text: &str, directed: bool) -> Result<Begun, Error> {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let reader = open_inputs(&[Input::memory(name, text.as_bytes())], &read)?.reader;
    let staging = StagingOptions { created_ms: Some(1), ..StagingOptions::default() };
    let options = ImportOptions {
        order: NumberingOrder::Keep,
        directed: Some(directed),
        threads: 1,
        ..ImportOptions::default()
    };
    import(&disk, reader, root, &options, staging)?;
    let options = DatabaseOptions { threads: 1, auto_merge: Some(false), ..DatabaseOptions::default() };
    let db = Database::open_on(Arc::clone(&disk), root, options)?;
    Ok(Begun { disk, db })
}

/// One layer of several versions with tiles; layers above tiles, with commits in the log; and a layer with
/// heads.
pub(crate) fn disks(root: &Path, run: &Run) -> Result<[Arc<dyn Disk>; 4], Error> {
    let texts = "source,target,weight,kind\na,b,5,x\nb,c,1,y\nc,a,2,x\nd,d,3,z\n";
    let ints = "0 1\n1 2\n2 0\n3 1\n3 3\n4 1\n";
    let sparse = "7 9000000000\n9000000000 12\n12 7\n12 12\n";
    Ok([
        compacted(begin(root, "web.csv", texts, true)?, run)?,
        layered(begin(root, "web.el", ints, false)?, run)?,
        layered(begin(root, "web.el", sparse, true)?, run)?,
        headed(begin(root, "web.csv", texts, true)?, run)?,
    ])
}

fn compacted(begun: Begun, run: &Run) -> Result<Arc<dyn Disk>, Error> {
    let db = begun.db;
    commit_texts(&db)?;
    db.tag("kept", 2)?;
    db.compact(run)?;
    db.make_tiles(&ConvertOptions::default(), run)?;
    db.close()?;
    Ok(begun.disk)
}

fn headed(begun: Begun, run: &Run) -> Result<Arc<dyn Disk>, Error> {
    let db = begun.db;
    commit_texts(&db)?;
    db.compact(run)?;
    db.make_heads(HEADS, run)?;
    db.close()?;
    Ok(begun.disk)
}

fn layered(begun: Begun, run: &Run) -> Result<Arc<dyn Disk>, Error> {
    let db = begun.db;
    db.make_tiles(&ConvertOptions::default(), run)?;
    for _ in 0..2 {
        commit_integers(&db)?;
        db.freeze(run)?;
    }
    db.tag("kept", 3)?;
    commit_integers(&db)?;
    db.close()?;
    Ok(begun.disk)
}
