//! Windows over a stream: one answer for each day of timed edges, and the window of the last hours.
//!
//! A window is a range of times, not a copy of the graph. Prints:
//!
//! ```text
//! until 2026-03-01T23:59:59Z: 4 vertices, 3 edges, largest component 3
//! until 2026-03-02T23:59:59Z: 4 vertices, 4 edges, largest component 4
//! last 2 hours: 2 edges
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use esker::computation::Computation;
use esker::import::{Duplicates, ImportOptions, Input, Pick, ReadOptions, import_inputs};
use esker::store::windows::Copies;
use esker::top::top;
use esker::window::{Alignment, Span, Times, WindowJob, WindowSeries};
use esker::{Params, Selection, Session, Value, find};

/// Who wrote to whom, and when: seconds since 1970.
const MESSAGES: &str = "source,target,sent\n1,2,1772352000\n2,3,1772355600\n4,4,1772359200\n\
                        1,2,1772438400\n2,3,1772442000\n3,4,1772445600\n4,1,1772449200\n";

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(directory.path(), &mut stdout())
}

pub(crate) fn run(directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let path = directory.join("messages.esker");
    let read = ReadOptions { time: Pick::Column("sent".to_owned()), ..ReadOptions::default() };
    let options = ImportOptions { duplicates: Duplicates::Keep, ..ImportOptions::default() };
    import_inputs(&[Input::memory("messages.csv", MESSAGES.as_bytes())], &path, &read, &options)?;

    let session = Session::open(&path)?;
    let (view, run) = (session.latest()?, session.run());
    let times = Times::of(&view, None, None, run)?; // the property `sent`, and its unit
    let day: Span = "1d".parse()?;
    let step = times.step(day, &Alignment::Calendar)?;
    let ends = times.ends(&view, step, None, None, run)?;
    let windows = ends.map(|end| times.window_until(day, end, Copies::All)).collect::<Result<Vec<_>, _>>()?;

    let params = Params::default();
    let job = WindowJob {
        computation: Computation::of(find("wcc")?, &params),
        resources: session.resources(),
        all_vertices: false, // vertices without an edge in a window are not in it
    };
    let mut lines = Vec::new();
    WindowSeries::answers::<esker::Error>(&view, &times.property, windows, &job, run, |found| {
        let largest = top(&found.answer, 1, run.cancel())?;
        let Some(Value::Count(size)) = largest.first().map(|group| group.value) else { return Ok(()) };
        let until = times.unit.format(found.window.until);
        let (vertices, edges) = (found.num_vertices, found.num_edges);
        lines.push(format!("until {until}: {vertices} vertices, {edges} edges, largest component {size}"));
        Ok(())
    })?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;

    // A single window is a view like any other: every algorithm runs on it.
    let recent = session.view(&Selection::latest().window("2h")?)?;
    writeln!(out, "last 2 hours: {} edges", recent.num_edges())?;
    Ok(())
}
