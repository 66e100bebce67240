//! An Arrow stream in, an Arrow file out.
//!
//! The stream could come from a socket or another library; here it is made in memory. Prints:
//!
//! ```text
//! 3 vertices, 3 edges, weight amount
//! ann 0
//! ben 2.5
//! cat 3.5
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{Write, stdout};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::StreamWriter;
use esker::catalogue::{Job, Params, find};
use esker::export::ExportOptions;
use esker::graph::Run;
use esker::import::{ImportOptions, Input, Pick, ReadOptions, import_inputs};
use esker::output;
use esker::store::Store;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(directory.path(), &mut stdout())
}

/// Payments as an Arrow IPC stream.
fn payments() -> Result<Vec<u8>, Box<dyn Error>> {
    let from: ArrayRef = Arc::new(StringArray::from(vec!["ann", "ben", "ann"]));
    let to: ArrayRef = Arc::new(StringArray::from(vec!["ben", "cat", "cat"]));
    let amount: ArrayRef = Arc::new(Float64Array::from(vec![2.5, 1.0, 4.0]));
    let batch = RecordBatch::try_from_iter([("from", from), ("to", to), ("amount", amount)])?;
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(&batch)?;
    Ok(writer.into_inner()?)
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let path = directory.join("payments.esker");
    let read = ReadOptions {
        source: Some("from".to_owned()),
        target: Some("to".to_owned()),
        weight: Pick::Column("amount".to_owned()),
        ..ReadOptions::default()
    };
    let stream = Input::memory("payments.arrows", payments()?);
    let report = import_inputs(&[stream], &path, &read, &ImportOptions::default())?;
    let version = Store::open(&path)?.latest()?;
    let weight = version.weight_property().map_or("none", |property| &property.name);
    writeln!(out, "{} vertices, {} edges, weight {weight}", report.vertices, report.edges)?;

    // The answer as a file; `.parquet`, `.csv` and `.npy` work as well.
    let run = Run::with_threads(1)?;
    let params = Params::default().with("source", "ann");
    let answer =
        find("sssp")?.run(&Job { view: &version.view(), run: &run, params: &params, verify: true })?;
    let file = directory.join("distances.arrow");
    output::write(&file, version.ids(), &answer, &ExportOptions::default())?;

    for batch in FileReader::try_new(File::open(&file)?, None)? {
        let batch = batch?;
        let (vertices, distances) =
            (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Float64Type>());
        for (vertex, distance) in vertices.iter().zip(distances) {
            writeln!(out, "{} {}", vertex.unwrap_or("?"), distance.unwrap_or(f64::NAN))?;
        }
    }
    Ok(())
}
