//! What an import knows before it reads: the schema, the options that fit it, and the run.

use esker_graph::{Run, RunOptions, Stop};

use crate::binary::{GRAPH500, GRAPH500_64};
use crate::options::{Duplicates, ImportOptions};
use crate::read::source::{Reader, Schema};

/// The schema of the input.
pub(crate) fn schema_of(reader: &dyn Reader, options: &ImportOptions) -> Schema {
    let mut schema = reader.schema().clone();
    if [&GRAPH500, &GRAPH500_64].map(|format| format.name).contains(&schema.format) {
        // By convention its pairs have no direction, but nothing in a file says so: they have one if the user
        // says so.
        schema.directed = options.directed.or(schema.directed);
    }
    schema
}

/// The options, with the rule by which the entries of a matrix for one pair are joined.
pub(crate) fn options_for(reader: &dyn Reader, schema: &Schema, options: &ImportOptions) -> ImportOptions {
    // Two entries of a matrix that is not symmetric are no entries for one pair, though an undirected graph
    // has one edge for them.
    let is_as_given = options.directed != Some(false) || schema.directed == Some(false);
    match options.adds_entries && is_as_given && reader.entries_add_up() {
        true => ImportOptions { duplicates: Duplicates::Sum, ..options.clone() },
        false => options.clone(),
    }
}

/// The run of an import.
///
/// # Errors
/// As [`Run::new`].
pub(crate) fn run_of(options: &ImportOptions) -> Result<Run, Stop> {
    Run::new(RunOptions { threads: options.threads, cancel: options.cancel.clone(), ..RunOptions::default() })
}
