//! Whether an input fits a cluster, and which vertices it states.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{Message, Operation, Setting, message};
use esker_import::read::source::{IdKind, Schema};

use crate::disk::cluster::Cluster;

/// Vertices without edges that a header may state, whatever the size of the input: 64 bytes each in a commit,
/// 4 GiB in all workers together.
const STATED_VERTICES_MAX: u64 = 1 << 26;

/// A header of a few bytes may state billions of vertices. It is believed as far as the bytes of the input,
/// or the memory for a commit, bear it out.
fn expect_borne_out(stated: u64, input_bytes: u64, input: &str) -> Result<()> {
    if stated <= input_bytes.max(STATED_VERTICES_MAX) {
        return Ok(());
    }
    let bytes = esker_graph::counted(input_bytes, "byte", "bytes");
    Err(of_input(
        input,
        message![
            format!(
                "it has only {bytes}, but states {stated} vertices: correct that number, or import the input"
            ),
            " to a database and make a cluster of it with ",
            Operation::ClusterSplit,
        ],
    ))
}

/// An error about the content of the input as a whole.
pub(crate) fn of_input(input: &str, reason: impl Into<Message>) -> Error {
    Error::input(input, reason)
}

/// The vertices that an input states without naming them, as far as process `index` of `readers` announces
/// them.
///
/// # Errors
/// If the input is too short for so many.
pub(crate) fn stated(schema: &Schema, input: &str, index: usize, readers: usize) -> Result<Range<u64>> {
    let IdKind::Numbered { first, num_vertices } = schema.ids else { return Ok(0..0) };
    expect_borne_out(num_vertices, schema.input_bytes.unwrap_or(0), input)?;
    Ok(share(first..first.saturating_add(num_vertices), index, readers))
}

/// The part of a range that falls to process `index` of `peers`.
fn share(range: Range<u64>, index: usize, peers: usize) -> Range<u64> {
    let len = u128::from(range.end - range.start);
    let cut = |index: usize| range.start + (len * index as u128 / peers as u128) as u64;
    cut(index)..cut(index + 1)
}

/// Checks that an input fits the cluster. Returns which column holds the weights, if they are wanted.
///
/// # Errors
/// If it does not, or weights are wanted and it has none.
pub(crate) fn expect_fit(
    schema: &Schema,
    cluster: &Cluster,
    input: &str,
    is_weighted: bool,
) -> Result<Option<usize>> {
    if cluster.manifest().text_ids && schema.ids != IdKind::Text {
        return Err(of_input(
            input,
            format!(
                "its ids are integers, but those of {} are texts: give files with text ids",
                cluster.path().display()
            ),
        ));
    }
    let weight = schema.weight.filter(|_| is_weighted);
    if is_weighted && weight.is_none() {
        let path = cluster.path().display();
        return Err(Error::usage(message![
            format!(
                "{input} has no column of weights, but the edges of {path} have weights: name the column with "
            ),
            Setting::Weight,
        ]));
    }
    Ok(weight)
}
