//! What is refused, and where the documents say so.

use esker::catalogue::Entry;
use esker::plan::Request as Reading;
use esker::store::format::Encoding;
use esker::store::{GraphEncoding, Residency};

use super::axes::{Combination, Window};
use crate::forms::Weights;
use crate::requests::Request;

/// Where no two edges with large weights are joined, no sum is too large.
const SUMS: &str = "sums of weights that their type does not hold";

/// One cell of the matrix.
pub(super) struct Cell<'a> {
    pub(super) combination: Combination,
    pub(super) reading: &'a Reading,
    pub(super) request: &'a Request,
    /// Whether some weight of the version is less than 0, and whether some is no integer.
    pub(super) has_negative: bool,
    pub(super) has_fractions: bool,
    /// Whether the same is refused on plain lists of the same graph. A search may not meet a negative length.
    pub(super) is_refused_on_plain: bool,
    /// Whether the weights are read.
    pub(super) reads_weights: bool,
}

/// A reason to refuse cells.
pub(super) struct Refusal {
    pub(super) reason: &'static str,
    /// A part of the message.
    pub(super) message: &'static str,
    /// The page that says so, and how it does.
    pub(super) page: &'static str,
    pub(super) sentence: &'static str,
    pub(super) applies: fn(&Cell<'_>) -> bool,
}

impl Cell<'_> {
    fn entry(&self) -> &Entry {
        self.request.entry
    }

    fn reads(&self, encoding: GraphEncoding) -> bool {
        self.reading.encoding == Some(encoding)
    }

    fn is_directed(&self) -> bool {
        self.combination.is_directed() && !self.combination.directions.are_dropped()
    }

    /// Whether the catalogue says that the algorithm, with these options, refuses what is called so.
    fn refuses(&self, what: &str) -> bool {
        let is_given = |(option, values): (&str, &[&str])| {
            self.request.params.text(option).is_some_and(|value| values.contains(&value))
        };
        let refusals = self.entry().refusals();
        refusals.iter().any(|refusal| refusal.what == what && refusal.with.is_none_or(is_given))
    }

    /// Whether the search may end before it meets what is refused: one for a single target need not meet a
    /// negative length.
    pub(super) fn may_miss(&self, refusal: &Refusal) -> bool {
        refusal.message == "negative" && self.request.variant == "target" || refusal.reason == SUMS
    }

    /// Whether weights stand beside the neighbours that are read.
    fn reads_weights_stored(&self) -> bool {
        self.reads_weights && self.combination.weights != Weights::None
    }

    /// Whether a copy in memory stands in for a pool, heads or tiles, which do not read conditions on edges.
    fn has_copy(&self) -> bool {
        self.combination.filtered
    }

    /// Whether lengths or weights have to be zero or more.
    fn needs_no_negative(&self) -> bool {
        let name = self.entry().name;
        self.reads_weights
            && (matches!(name, "sssp" | "wbfs" | "pagerank" | "leiden" | "louvain" | "quality" | "flow")
                || matches!(name, "closeness" | "harmonic" | "eigenvector" | "katz" | "hits"))
    }
}

pub(super) const REFUSALS: &[Refusal] = &[
    Refusal {
        reason: "an algorithm for undirected graphs on a directed one",
        message: "undirected",
        page: "docs/algorithms.md",
        sentence: "the algorithms that need undirected graphs run",
        applies: |cell| cell.refuses("directed graphs") && cell.is_directed(),
    },
    Refusal {
        reason: "an algorithm that reads single lists, on tiles",
        message: "tiles hold no lists",
        page: "docs/concepts/residency.md",
        sentence: "they read single lists at random, and tiles hold no lists",
        applies: |cell| cell.reads(GraphEncoding::Tiles) && cell.refuses("tiles"),
    },
    Refusal {
        reason: "a window whose edges are joined or weighted, on tiles",
        message: "tiles hold no lists",
        page: "docs/memory.md",
        sentence: "is refused, and so is one on a window whose edges are joined or weighted",
        applies: |cell| {
            let window = cell.combination.window;
            cell.reads(GraphEncoding::Tiles)
                && !cell.has_copy()
                && (window.joins() || window == Window::All && cell.reads_weights_stored())
        },
    },
    Refusal {
        reason: "pooled or headed lists, which a database with tiles alone does not have",
        message: "the lists are kept as tiles only",
        page: "docs/concepts/tiles.md",
        sentence: "there are no lists that a pool could cache, and none that heads could be of",
        applies: |cell| {
            cell.combination.encoding == Encoding::Tiles
                && !cell.has_copy()
                && cell.reads(GraphEncoding::Lists)
                && matches!(cell.reading.residency, Some(Residency::Pooled | Residency::Headed))
        },
    },
    Refusal {
        reason: "negative lengths or weights",
        message: "negative",
        page: "docs/algorithms/sssp.md",
        sentence: "over edges with lengths that are not negative",
        applies: |cell| cell.needs_no_negative() && cell.has_negative && cell.is_refused_on_plain,
    },
    Refusal {
        reason: SUMS,
        message: "a sum that their type does not hold",
        page: "docs/tutorials/windows.md",
        sentence: "one that this type does not hold is refused",
        applies: |cell| {
            let Combination { window, weights, .. } = cell.combination;
            window == Window::Sum && weights == Weights::Large && cell.reads_weights
        },
    },
    Refusal {
        reason: "weights that are no integers, where small integers are lengths",
        message: "integer",
        page: "docs/algorithms/wbfs.md",
        sentence: "Weights must be integers and not negative.",
        applies: |cell| cell.entry().name == "wbfs" && cell.has_fractions,
    },
];

/// Whether a page contains a sentence, wherever its lines break.
pub(super) fn is_on_page(refusal: &Refusal) -> bool {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(refusal.page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", refusal.page));
    text.split_whitespace().collect::<Vec<_>>().join(" ").contains(refusal.sentence)
}

/// Whether weights of this kind may be no integers.
pub(super) fn has_fractions(weights: Weights) -> bool {
    matches!(weights, Weights::Halves | Weights::Extreme)
}
