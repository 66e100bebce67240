//! The algorithms by name: what each takes, what it will need, and how to run it on a snapshot.
//!
//! The command line and every other language offer what stands in [`CATALOGUE`]; a new algorithm is one more entry.

mod params;
mod job;
mod entry;
mod entries;

use crate::error::{Error, Result};

pub use entry::{Entry, Resources};
pub use job::Job;
pub use params::{OptionSpec, Params};

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
