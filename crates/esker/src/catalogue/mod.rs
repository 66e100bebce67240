//! The algorithms by name: options, needs, answers, and how to run each on a view of a version.
//!
//! The command, Python, the planner, the tests and the checks of documents iterate [`CATALOGUE`]: a new
//! algorithm is one more entry.

mod option;
mod params;
mod work;
mod job;
mod question;
mod entry;
mod refusals;
mod entries;
mod many;

use esker_graph::{Operation, Setting, message};

use crate::error::{Error, Result};

pub(crate) use entries::{Shown, degree_of, rank_options};
pub use entry::{Entry, GraphReads, ListReads, ReadPattern, Resources, WeightReads};
pub use job::Job;
pub(crate) use many::{Many, ManyFailure};
pub use option::{AUTO, Opt, OptDefault, OptKind, OptRange};
pub use params::Params;
pub use question::Question;
pub use refusals::{REFUSED_BY_ALL, Refusal};
pub use work::Workload;

/// All algorithms, in the order in which help lists them: by the question that they answer.
pub static CATALOGUE: &[Entry] = entries::ALL;

/// Bytes of the longest name that similar ones are looked for: the search takes time and memory for each.
const SIMILAR_NAME_BYTES_MAX: usize = 64;

/// The algorithm of that name.
///
/// ```
/// use esker::catalogue::find;
///
/// let entry = find("pagerank")?;
/// assert!(entry.option("damping").is_some());
/// assert_eq!(entry.columns[0], "rank");
/// assert!(find("pagernak").unwrap_err().to_string().contains("did you mean pagerank?"));
/// # Ok::<(), esker::Error>(())
/// ```
///
/// # Errors
/// [`Error::Usage`] that names the most similar one, if the name is not very long.
pub fn find(name: &str) -> Result<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let entries = CATALOGUE.iter().filter(|_| name.len() <= SIMILAR_NAME_BYTES_MAX);
        let similar = entries.map(|entry| (changes(name, entry.name), entry.name)).min();
        let similar = similar.filter(|&(changes, similar)| changes <= (similar.len() / 3).max(1));
        let similar = similar.map_or(String::new(), |(_, similar)| format!("did you mean {similar}? "));
        let list = Operation::Run.with(Setting::List.to(true));
        Error::usage(message![format!("no algorithm is called {name:?}: {similar}"), list, " names all"])
    })
}

/// The least number of letters to add, drop or replace, or of neighbours to swap, that turns one name into
/// another.
fn changes(from: &str, to: &str) -> usize {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}
