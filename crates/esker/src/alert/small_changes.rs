//! Changes that are too small to be told.

use std::collections::HashMap;

use esker_graph::{Reservation, Run, VertexId};

use super::columns::is_of_groups;
use super::rule::check_min_change;
use crate::answer::Value;
use crate::catalogue::Entry;
use crate::error::Result;
use crate::follow::Changed;

/// Bytes of a value that differs from the one that was told, in a hash table that is half full.
const ENTRY_BYTES: u64 = 64;

/// Leaves out changes of a live answer by less than a threshold. Small ones add up: a value is told again
/// once it differs by as much from the one that was told last.
#[derive(Debug)]
pub struct SmallChanges {
    least: f64,
    /// The values as they were told last, of vertices with others since.
    told: HashMap<VertexId, Value>,
    memory: Reservation,
}

impl SmallChanges {
    /// Leaves out changes of an answer of `entry` by less than `least`.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] where values are no numbers that move; as [`esker_graph::Budget::reserve`].
    pub fn new(least: f64, entry: &Entry, run: &Run) -> Result<Self> {
        check_min_change(Some(least), !entry.has_rows() || is_of_groups(entry))?;
        let memory = run.budget().reserve("the values that changed by little", 0)?;
        Ok(Self { least, told: HashMap::new(), memory })
    }

    /// The changes from what was told last that are large enough, or come to a value or to none.
    ///
    /// # Errors
    /// The memory limit of `run`.
    pub fn filter(&mut self, changed: Vec<Changed>, run: &Run) -> Result<Vec<Changed>> {
        let more = (self.told.len() + changed.len()) as u64 * ENTRY_BYTES;
        if let Some(more) = more.checked_sub(self.memory.bytes()).filter(|&more| more > 0) {
            self.memory.absorb(run.budget().reserve("the values that changed by little", more)?);
        }
        let mut told = Vec::with_capacity(changed.len());
        for Changed { vertex, old, new } in changed {
            let old = self.told.remove(&vertex).unwrap_or(old);
            if is_small(old, new, self.least) {
                if !old.is_same(new) {
                    self.told.insert(vertex, old);
                }
            } else if !old.is_same(new) {
                told.push(Changed { vertex, old, new });
            }
        }
        Ok(told)
    }
}

/// Whether a value moved by less than `least`.
fn is_small(old: Value, new: Value, least: f64) -> bool {
    match (old.number(), new.number()) {
        (Some(old), Some(new)) => (new - old).abs() < least,
        _ => false,
    }
}
