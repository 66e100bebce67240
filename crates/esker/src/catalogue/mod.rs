//! The algorithms by name: options, needs, answers, and how to run each on a snapshot.
//!
//! The command, Python, the planner, the tests and the checks of documents iterate [`CATALOGUE`]: a new algorithm is one more entry.

mod option;
mod params;
mod work;
mod job;
mod entry;
mod entries;
mod many;

use crate::error::{Error, Result};

pub(crate) use entries::Shown;
pub use entry::{Entry, GraphReads, ListReads, ReadPattern, Resources, WeightReads};
pub use job::Job;
pub(crate) use many::{Many, ManyFailure};
pub use option::{Opt, OptDefault, OptKind, OptRange};
pub use params::Params;
pub use work::Workload;

/// All algorithms, in the order in which help lists them.
pub static CATALOGUE: &[Entry] = entries::ALL;

/// The algorithm of that name.
///
/// # Errors
/// [`Error::Usage`] that names the most similar one.
pub fn find(name: &str) -> Result<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let similar = CATALOGUE.iter().map(|entry| (changes(name, entry.name), entry.name)).min();
        let similar = similar.filter(|&(changes, similar)| changes <= similar.len() / 3 + 1);
        let similar = similar.map_or(String::new(), |(_, similar)| format!("did you mean {similar}? "));
        Error::Usage(format!("no algorithm is called {name:?}: {similar}`esker run --list` names all"))
    })
}

/// The least number of letters to add, drop or replace that turns one name into another.
fn changes(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, other) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}
