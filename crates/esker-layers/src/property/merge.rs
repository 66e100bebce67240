//! Merges the changes that adjacent layers make to a property.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{Run, VertexId};

use super::column::{PropertyChange, PropertyColumn, UNSET};
use super::files::PropertyFiles;
use super::write::PropertyWriter;

/// Changes between two looks at the cancel token.
const CHECK_EVERY: usize = 1 << 12;

/// Writes the changes of adjacent layers, oldest first, as those of one layer; the number of them.
///
/// `recode` gives the code that a change has in the new layer, from the position of its layer among `columns`
/// and its code there; it must not descend from older changes to newer ones. Without one, the change is
/// undone. Of changes of one vertex that get the same code, the last remains. If no layer is older
/// (`oldest`), there is nothing to take a value from, and such changes do not remain as the first of a
/// vertex. `place` gives the number that a vertex has in the new layer, in the same order; without one, the
/// changes of the vertex are left out.
///
/// Memory: the buffers of a [`PropertyWriter`]. Time: O(changes * log(layers)).
///
/// # Errors
/// [`Error::Corrupt`]; [`Error::Invalid`] if codes descend or columns are not of the type of the property; if
/// files cannot be written; cancellation.
pub fn merge_columns(
    files: &PropertyFiles<'_>,
    columns: &[Arc<PropertyColumn>],
    recode: impl Fn(usize, u32) -> Option<u32>,
    place: impl Fn(VertexId) -> Option<VertexId>,
    oldest: bool,
    run: &Run,
) -> Result<u64> {
    let places = columns.iter().map(|column| column.places(run)).collect::<Result<Vec<_>>>()?;
    let mut output = Output::new(PropertyWriter::create(files)?, oldest);
    let mut next = vec![0; columns.len()];
    let mut heap: BinaryHeap<_> = places
        .iter()
        .enumerate()
        .filter_map(|(layer, (vertices, _))| Some(Reverse((*vertices.first()?, layer))))
        .collect();
    let mut seen = 0_usize;
    while let Some(Reverse((vertex, layer))) = heap.pop() {
        let (vertices, codes) = places[layer];
        let mut at = next[layer];
        let placed = place(vertex);
        while vertices.get(at) == Some(&vertex) {
            if let (Some(vertex), Some(code)) = (placed, recode(layer, codes[at] & !UNSET)) {
                let value = if codes[at] & UNSET == 0 { Some(columns[layer].value(at)?) } else { None };
                output.push(PropertyChange { vertex, code, value })?;
            }
            at += 1;
            seen += 1;
            if seen.is_multiple_of(CHECK_EVERY) {
                run.check()?;
            }
        }
        next[layer] = at;
        match vertices.get(at) {
            Some(&following) if following < vertex => return Err(columns[layer].out_of_order(at)),
            Some(&following) => heap.push(Reverse((following, layer))),
            None => {}
        }
    }
    output.finish()
}

/// Holds each change back until it is known to be the last of its vertex and code.
struct Output<'a> {
    writer: PropertyWriter,
    open: Option<PropertyChange<'a>>,
    oldest: bool,
    /// The vertex of the change that was written last.
    begun: Option<VertexId>,
}

impl<'a> Output<'a> {
    /// `oldest`: a change that takes a value away is not the first of a vertex.
    fn new(writer: PropertyWriter, oldest: bool) -> Self {
        Self { writer, open: None, oldest, begun: None }
    }

    fn push(&mut self, change: PropertyChange<'a>) -> Result<()> {
        match self.open {
            Some(open) if open.vertex == change.vertex && open.code > change.code => {
                return Err(Error::invalid(format!(
                    "codes descend from {} to {} in a merge, at vertex {}",
                    open.code, change.code, change.vertex
                )));
            }
            Some(open) if (open.vertex, open.code) == (change.vertex, change.code) => {}
            _ => self.write()?,
        }
        self.open = Some(change);
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let Some(PropertyChange { vertex, code, value }) = self.open.take() else { return Ok(()) };
        if self.oldest && value.is_none() && self.begun != Some(vertex) {
            return Ok(());
        }
        self.begun = Some(vertex);
        self.writer.push(vertex, code, value)
    }

    fn finish(mut self) -> Result<u64> {
        self.write()?;
        self.writer.finish()
    }
}
