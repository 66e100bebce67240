//! Properties of edges and vertices, and analyses of the edges that meet conditions.
//!
//! Prints:
//!
//! ```text
//! ann -> ben: since 2019, kind friend
//! ann -> cat: since 2022, kind colleague
//! ben is 31
//! friends since 2020 or earlier: 2 edges, largest component 3
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use esker::import::{ImportOptions, Input, PickProperties, ReadOptions, import_inputs};
use esker::local::{Incidence, edges_of};
use esker::store::format::ElementType;
use esker::store::property::PropertyValue;
use esker::{Params, Selection, Session, SessionOptions, Value};

const EDGES: &str = "source,target,since,kind\nann,ben,2019,friend\nann,cat,2022,colleague\n\
                     ben,dan,2020,friend\ncat,dan,2023,friend\n";

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(directory.path(), &mut stdout())
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let path = directory.join("people.esker");
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    import_inputs(&[Input::memory("people.csv", EDGES.as_bytes())], &path, &read, &ImportOptions::default())?;

    // Properties of vertices are defined and set by commits.
    let session = Session::open_to_write(&path, &SessionOptions::default())?;
    let mut batch = session.batch()?;
    batch.define_vertex_property("age", ElementType::I32);
    batch.set_vertex("ben", "age", Some(31.into()))?;
    batch.set_vertex("cat", "age", Some(27.into()))?;
    session.commit(batch, "ages")?;

    let (newest, run) = (session.latest()?, session.run());
    let version = newest.version();
    let id = |v| version.ids().external_of(v);
    for edge in edges_of(version, version.find_vertex("ann", run)?, Incidence::Out)? {
        let names = version.edge_properties().map(|property| property.name.as_str());
        let values: Vec<_> = names.zip(&edge.values).map(|(name, value)| format!("{name} {value}")).collect();
        writeln!(out, "{} -> {}: {}", id(edge.source)?, id(edge.target)?, values.join(", "))?;
    }
    let ben = version.find_vertex("ben", run)?;
    if let Some(PropertyValue::I32(age)) = version.vertex_property("age")?.get(ben)? {
        writeln!(out, "ben is {age}")?;
    }

    // A view says how a version is read. Every algorithm runs on every view.
    let friends = Selection::latest().filtered("kind=friend")?.filtered("since<=2020")?;
    let friends = session.view(&friends)?;
    let components = friends.verify("wcc", &Params::default())?; // checked by a serial verifier
    if let [(_, Value::Count(size))] = components.top(1)?[..] {
        let edges = friends.num_edges();
        writeln!(out, "friends since 2020 or earlier: {edges} edges, largest component {size}")?;
    }
    Ok(())
}
