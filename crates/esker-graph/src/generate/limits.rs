//! Limits of generated graphs.

use crate::id::NONE;
use crate::stop::Stop;

/// More edges than any disk holds, and far below the range of 64 bits.
const EDGES_MAX: u128 = 1 << 48;

/// Checks that vertex ids can hold this number of vertices.
pub(super) fn vertices(count: u128) -> Result<u64, Stop> {
    if count > u128::from(NONE) {
        return Err(Stop::unsuitable(format!(
            "{count} vertices are too many: this build counts at most {NONE} of them (the feature id64 raises that)"
        )));
    }
    Ok(count as u64)
}

/// Checks that the number of edges is within the limit.
pub(super) fn edges(count: u128) -> Result<u64, Stop> {
    if count > EDGES_MAX {
        return Err(Stop::unsuitable(format!(
            "{count} edges are too many: at most {EDGES_MAX} can be generated"
        )));
    }
    Ok(count as u64)
}

/// Checks that a probability is between 0 and 1. `name` is for the message.
pub(super) fn probability(name: &str, value: f64) -> Result<f64, Stop> {
    if !(0.0..=1.0).contains(&value) {
        return Err(Stop::unsuitable(format!("{name} is {value} but must be between 0 and 1")));
    }
    Ok(value)
}
