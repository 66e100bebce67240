//! What no generated graph exceeds.

use crate::id::NONE;
use crate::run::Stop;

/// More edges than any disk holds; numbers of edges stay clear of 64 bits.
const EDGES_MAX: u128 = 1 << 48;

/// The number of vertices, if vertex ids can hold it.
pub(super) fn vertices(count: u128) -> Result<u64, Stop> {
    if count > u128::from(NONE) {
        return Err(Stop::Unsuitable(format!(
            "{count} vertices are too many: this build counts at most {NONE} of them (the feature id64 raises that)"
        )));
    }
    Ok(count as u64)
}

/// The number of edges, if it is sensible.
pub(super) fn edges(count: u128) -> Result<u64, Stop> {
    if count > EDGES_MAX {
        return Err(Stop::Unsuitable(format!(
            "{count} edges are too many: at most {EDGES_MAX} can be generated"
        )));
    }
    Ok(count as u64)
}

/// A probability, named for the message.
pub(super) fn probability(name: &str, value: f64) -> Result<f64, Stop> {
    if !(0.0..=1.0).contains(&value) {
        return Err(Stop::Unsuitable(format!("{name} is {value}; it must lie between 0 and 1")));
    }
    Ok(value)
}
