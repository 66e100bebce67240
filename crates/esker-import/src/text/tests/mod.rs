//! Tests of the readers of texts: each format, tables, round trips through the exports.

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod guessed;
#[cfg(test)]
pub(crate) mod tables;
#[cfg(test)]
mod notations;
#[cfg(test)]
pub(crate) mod formats;
#[cfg(test)]
pub(crate) mod round_trips;
