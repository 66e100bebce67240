//! Large arrays, for which there may be no memory: then there is an error, not an end of the process.

use std::collections::TryReserveError;

use esker_graph::Run;
use rayon::iter::{ParallelExtend, repeat_n};

use crate::error::{Error, Result};

/// An allocation of the heap that failed.
#[allow(clippy::needless_pass_by_value)] // For `map_err`.
pub(crate) fn no_memory(reason: TryReserveError) -> Error {
    Error::Invalid(format!("there is no memory left ({reason}): free some, or do less at once"))
}

/// Whether a run may take so much memory for something that it can do without.
pub(crate) fn has_room(run: &Run, what: &str, bytes: usize) -> bool {
    run.begin(what, bytes as u64).is_ok()
}

/// Makes room for more elements; when asked again and again, in all for a constant time each.
#[inline]
pub(crate) fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    vec.try_reserve(more).map_err(no_memory)
}

/// Adds an element.
#[inline]
pub(crate) fn push<T>(vec: &mut Vec<T>, element: T) -> Result<()> {
    reserve(vec, 1)?;
    vec.push(element);
    Ok(())
}

/// An empty array with room for so many elements.
pub(crate) fn with_room<T>(elements: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(elements).map_err(no_memory)?;
    Ok(vec)
}

/// An array of so many equal elements.
pub(crate) fn filled<T: Clone>(element: T, elements: usize) -> Result<Vec<T>> {
    let mut vec = with_room(elements)?;
    vec.resize(elements, element);
    Ok(vec)
}

/// An array of so many equal elements, for which all threads of a run touch the memory.
pub(crate) fn filled_by_all<T: Copy + Send + Sync>(element: T, elements: usize, run: &Run) -> Result<Vec<T>> {
    let mut vec = with_room(elements)?;
    run.install(|| vec.par_extend(repeat_n(element, elements)));
    Ok(vec)
}

/// What an iterator of known length gives.
pub(crate) fn collected<T>(elements: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut vec = with_room(elements.len())?;
    vec.extend(elements);
    Ok(vec)
}
