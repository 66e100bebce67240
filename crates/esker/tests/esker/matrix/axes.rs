//! The axes of the matrix, and the databases that they span.

use esker::plan::Request as Reading;
use esker::store::format::{CopyPolicy, Encoding};
use esker::store::windows::{Combine, Copies, TimeWindow};
use esker::store::{GraphEncoding, Residency};

use crate::forms::Weights;

/// Which lists of a graph there are, and how they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directions {
    Undirected,
    /// Directed, with out-lists and in-lists.
    Both,
    /// Directed, with out-lists alone.
    OutOnly,
    /// Directed, and read as undirected.
    Dropped,
}

/// How many vertices were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Removed {
    None,
    /// So few that graphs may keep them as vertices without edges.
    Few,
    /// More than half.
    Many,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    /// Integers without gaps.
    Dense,
    /// Integers with gaps.
    Sparse,
    Text,
}

/// Where the version lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// One layer.
    Whole,
    /// The newest of a few layers.
    Layers,
    /// The newest of two hundred layers.
    ManyLayers,
    /// Its last commit is in the log alone.
    Log,
    /// Over a merged layer that spans versions.
    OverMerged,
    /// Below newer layers.
    Below,
    /// In the middle of a merged layer.
    Buried,
    /// In the middle of a merged layer below newer ones.
    BuriedBelow,
}

/// Which edges of the version are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Window {
    /// All.
    Open,
    /// Those of a window, each of them.
    All,
    /// The last one of those of a window between two vertices.
    Distinct,
    /// One edge between two vertices, whose weight is their number.
    Count,
    /// One edge between two vertices, with the greatest of their weights.
    Greatest,
}

impl Window {
    /// Half of the combinations have a window.
    const ALL: [Self; 8] = [
        Self::Open,
        Self::All,
        Self::Open,
        Self::Distinct,
        Self::Open,
        Self::Count,
        Self::Open,
        Self::Greatest,
    ];

    pub(super) fn range(self) -> Option<TimeWindow> {
        let copies = match self {
            Self::Open => return None,
            Self::All => Copies::All,
            Self::Distinct => Copies::Distinct,
            Self::Count => Copies::Weighted(Combine::Count),
            Self::Greatest => Copies::Weighted(Combine::Max),
        };
        Some(TimeWindow { after: 100, until: 200, copies })
    }

    /// Whether the edges between two vertices become one.
    pub(super) fn joins(self) -> bool {
        !matches!(self, Self::Open | Self::All)
    }

    /// Whether the weights are made of those of several edges.
    pub(super) fn makes_weights(self) -> bool {
        matches!(self, Self::Count | Self::Greatest)
    }
}

/// Times in the window, and outside it.
pub(super) const INSIDE: [i64; 5] = [200, 101, 150, 199, 102];
pub(super) const OUTSIDE: [i64; 5] = [100, 201, -7, 1 << 40, 0];

/// One database, and the version of it that is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Combination {
    pub(super) directions: Directions,
    pub(super) weights: Weights,
    /// Whether several edges may lead from one vertex to another.
    pub(super) parallel: bool,
    pub(super) removed: Removed,
    pub(super) ids: Ids,
    pub(super) encoding: Encoding,
    pub(super) place: Place,
    /// What is no axis of its own, but varies from one combination to the next.
    pub(super) policy: CopyPolicy,
    pub(super) by_degree: bool,
    /// The same for all combinations of one graph.
    pub(super) window: Window,
}

const DIRECTIONS: [Directions; 4] =
    [Directions::Undirected, Directions::Both, Directions::OutOnly, Directions::Dropped];
const REMOVED: [Removed; 3] = [Removed::None, Removed::Few, Removed::Many];
const IDS: [Ids; 3] = [Ids::Dense, Ids::Sparse, Ids::Text];
const ENCODINGS: [Encoding; 3] = [Encoding::Plain, Encoding::Compressed, Encoding::Tiles];
const PLACES: [Place; 8] = [
    Place::Whole,
    Place::Layers,
    Place::ManyLayers,
    Place::Log,
    Place::OverMerged,
    Place::Below,
    Place::Buried,
    Place::BuriedBelow,
];

/// The number of combinations.
pub(super) const COMBINATIONS: usize =
    2 * DIRECTIONS.len() * Weights::ALL.len() * REMOVED.len() * IDS.len() * ENCODINGS.len() * PLACES.len();

impl Combination {
    pub(super) fn of(number: usize) -> Self {
        let mut rest = number;
        let mut digit = |base: usize| {
            let digit = rest % base;
            rest /= base;
            digit
        };
        // Combinations of one graph follow each other, so that its reference is made once.
        let (place, encoding) = (PLACES[digit(PLACES.len())], ENCODINGS[digit(ENCODINGS.len())]);
        let graph = number / (PLACES.len() * ENCODINGS.len());
        let window = Window::ALL[(graph as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 40 & 7];
        let seed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        Self {
            ids: IDS[digit(IDS.len())],
            removed: REMOVED[digit(REMOVED.len())],
            directions: DIRECTIONS[digit(DIRECTIONS.len())],
            weights: Weights::ALL[digit(Weights::ALL.len())],
            parallel: digit(2) == 1,
            encoding,
            place,
            policy: CopyPolicy::ALL[seed as usize % 3],
            by_degree: seed & 8 == 0,
            window,
        }
        .without_missing_weights()
    }

    /// Where there are no weights, none is the greatest.
    fn without_missing_weights(self) -> Self {
        let is_missing = self.weights == Weights::None && self.window == Window::Greatest;
        Self { window: if is_missing { Window::Count } else { self.window }, ..self }
    }

    /// Whether there is such a database: to remove a vertex takes in-lists.
    pub(super) fn is_possible(self) -> bool {
        self.directions != Directions::OutOnly || self.removed == Removed::None
    }

    pub(super) fn is_directed(self) -> bool {
        self.directions != Directions::Undirected
    }
}

/// The encodings and residencies that a run may ask for. Heads of two neighbours are stored.
pub(super) const READINGS: [(&str, Reading); 7] = [
    ("mapped lists", of(GraphEncoding::Lists, Residency::Mapped, None)),
    ("lists in memory", of(GraphEncoding::Lists, Residency::Memory, None)),
    ("pooled lists", of(GraphEncoding::Lists, Residency::Pooled, None)),
    ("stored heads", of(GraphEncoding::Lists, Residency::Headed, None)),
    ("gathered heads", of(GraphEncoding::Lists, Residency::Headed, Some(3))),
    ("mapped tiles", of(GraphEncoding::Tiles, Residency::Mapped, None)),
    ("pooled tiles", of(GraphEncoding::Tiles, Residency::Pooled, None)),
];

const fn of(encoding: GraphEncoding, residency: Residency, head_len: Option<usize>) -> Reading {
    Reading { encoding: Some(encoding), residency: Some(residency), head_len }
}
