//! Graphs that an algorithm refuses, with the reasons.

use std::fmt::{Display, Formatter};

use super::entry::{Entry, ListReads, ReadPattern, WeightReads};

/// A graph, an encoding, a residency or a version that is refused, and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// What is refused.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
    /// The option, and those of its values, with which it is; `None`: always.
    pub with: Option<(&'static str, &'static [&'static str])>,
}

impl Refusal {
    const fn of(what: &'static str, why: &'static str) -> Self {
        Self { what, why, with: None }
    }
}

/// `directed graphs, with method filter or sample (it is defined for undirected ones; ...)`.
impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.what)?;
        if let Some((option, values)) = self.with {
            write!(f, ", with {option} {}", values.join(" or "))?;
        }
        write!(f, " ({})", self.why)
    }
}

const DIRECTED: Refusal =
    Refusal::of("directed graphs", "it is defined for undirected ones; a directed graph can be read as one");
const WITHOUT_IN_LISTS: Refusal = Refusal::of(
    "directed graphs without in-lists, unless they are copied to memory",
    "it follows edges in both directions; a copy, and tiles of a version in one layer, have both",
);
const TILES: Refusal = Refusal::of("tiles", "it reads single lists at random, and tiles hold no lists");
const JOINED: Refusal =
    Refusal::of("tiles, for a window whose edges are joined", "edges are joined list by list");
const WEIGHED: Refusal = Refusal::of(
    "tiles, for a window whose edges are joined, or have weights that it reads",
    "edges are joined, and weights found beside times, list by list",
);

/// What is refused whichever the algorithm is.
pub const REFUSED_BY_ALL: [Refusal; 1] = [Refusal::of(
    "pooled and headed lists of a database that keeps tiles only",
    "there are no lists that a pool could cache or heads could be of",
)];

impl Entry {
    /// What this algorithm refuses, besides [`REFUSED_BY_ALL`].
    pub fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let values = |of: &dyn Fn(&super::option::Opt) -> &'static [&'static str]| {
            let options = self.options.iter().map(|option| (option.name, of(option)));
            options.filter(|(_, values)| !values.is_empty()).collect::<Vec<_>>()
        };
        let with = |refusal: Refusal, options: Vec<_>| {
            options.into_iter().map(move |with| Refusal { with: Some(with), ..refusal })
        };
        if self.undirected {
            refusals.push(DIRECTED);
        }
        refusals.extend(with(DIRECTED, values(&|option| option.undirected)));
        if self.reads.lists == ListReads::BothNeeded {
            refusals.push(WITHOUT_IN_LISTS);
        }
        refusals.extend(with(WITHOUT_IN_LISTS, values(&|option| option.in_lists)));
        refusals.push(match (self.reads.pattern, self.reads.weights) {
            (ReadPattern::Points, _) => TILES,
            (_, WeightReads::Never) => JOINED,
            (_, WeightReads::IfChosen | WeightReads::Always) => WEIGHED,
        });
        refusals
    }
}
