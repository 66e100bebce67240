//! The algorithms by name: options, needs, answers, and how to run each on a snapshot.
//!
//! The command, Python, the planner, the tests and the checks of documents iterate [`CATALOGUE`]: a new algorithm is one more entry.

mod option;
mod params;
mod job;
mod entry;
mod entries;

use crate::error::{Error, Result};

pub use entry::{Entry, GraphReads, ListReads, ReadPattern, Resources};
pub use job::Job;
pub use option::{Opt, OptDefault, OptKind};
pub use params::Params;

/// All algorithms, in the order in which help lists them.
pub static CATALOGUE: &[Entry] = entries::ALL;

/// The algorithm of that name.
///
/// # Errors
/// [`Error::Usage`] that lists the names.
pub fn find(name: &str) -> Result<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
        Error::Usage(format!("no algorithm is called {name:?}; there are {}", names.join(", ")))
    })
}
