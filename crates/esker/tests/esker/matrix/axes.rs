//! The axes of the matrix, and the databases that they span.

use esker::plan::Request as Reading;
use esker::store::format::{CopyPolicy, Encoding};
use esker::store::windows::{Combine, Copies, TimeWindow};
use esker::store::{GraphEncoding, Residency};

use super::covering::Partial;
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
    /// Directed, with out-lists alone, and read as undirected.
    DroppedOutOnly,
}

impl Directions {
    /// Whether a directed graph is read as undirected.
    pub(super) fn are_dropped(self) -> bool {
        matches!(self, Self::Dropped | Self::DroppedOutOnly)
    }

    /// Whether a directed graph has out-lists alone.
    pub(super) fn lack_in_lists(self) -> bool {
        matches!(self, Self::OutOnly | Self::DroppedOutOnly)
    }
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
    /// One edge between two vertices, with the sum of their weights.
    Sum,
    /// With the least of their weights.
    Least,
    /// With the greatest of their weights.
    Greatest,
    /// With the weight of the last one.
    Latest,
}

impl Window {
    const ALL: [Self; 8] = [
        Self::Open,
        Self::All,
        Self::Distinct,
        Self::Count,
        Self::Sum,
        Self::Least,
        Self::Greatest,
        Self::Latest,
    ];

    pub(super) fn range(self) -> Option<TimeWindow> {
        let copies = match self {
            Self::Open => return None,
            Self::All => Copies::All,
            Self::Distinct => Copies::Distinct,
            Self::Count => Copies::Weighted(Combine::Count),
            Self::Sum => Copies::Weighted(Combine::Sum),
            Self::Least => Copies::Weighted(Combine::Min),
            Self::Greatest => Copies::Weighted(Combine::Max),
            Self::Latest => Copies::Weighted(Combine::Last),
        };
        Some(TimeWindow { after: 100, until: 200, copies })
    }

    /// Whether the edges between two vertices become one.
    pub(super) fn joins(self) -> bool {
        !matches!(self, Self::Open | Self::All)
    }

    /// Whether the weights are made of those of several edges.
    pub(super) fn makes_weights(self) -> bool {
        self.joins() && self != Self::Distinct
    }

    /// Whether these are made of the weights of several edges, so there have to be some.
    fn needs_weights(self) -> bool {
        self.makes_weights() && self != Self::Count
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
    pub(super) policy: CopyPolicy,
    pub(super) by_degree: bool,
    pub(super) window: Window,
    /// Whether edges are left out by a condition on a property.
    pub(super) filtered: bool,
    /// Whether the edges of a directed graph are turned round.
    pub(super) reversed: bool,
}

const DIRECTIONS: [Directions; 5] = [
    Directions::Undirected,
    Directions::Both,
    Directions::OutOnly,
    Directions::Dropped,
    Directions::DroppedOutOnly,
];
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

/// The values of each axis, in the order of a row. Those of the graph come first, so that rows of one graph
/// follow each other when they are sorted.
pub(super) const SIZES: [usize; 12] = [
    DIRECTIONS.len(),
    Weights::ALL.len(),
    2,
    REMOVED.len(),
    Window::ALL.len(),
    2,
    2,
    IDS.len(),
    ENCODINGS.len(),
    PLACES.len(),
    CopyPolicy::ALL.len(),
    2,
];
const DIRECTIONS_AXIS: usize = 0;
const WEIGHTS_AXIS: usize = 1;
const REMOVED_AXIS: usize = 3;
const WINDOW_AXIS: usize = 4;
const REVERSED_AXIS: usize = 6;

/// Whether there is such a database: to remove a vertex takes in-lists, a weight is made of weights, and only
/// directed edges turn round. Of a row in the making, whether what it has may stand together.
pub(super) fn allows(row: &Partial) -> bool {
    let value = |axis: usize| row.get(axis).copied().flatten();
    let lacks_in_lists = value(DIRECTIONS_AXIS).is_some_and(|value| DIRECTIONS[value].lack_in_lists());
    let has_removed = value(REMOVED_AXIS).is_some_and(|value| REMOVED[value] != Removed::None);
    let has_no_weights = value(WEIGHTS_AXIS).is_some_and(|value| Weights::ALL[value] == Weights::None);
    let needs_weights = value(WINDOW_AXIS).is_some_and(|value| Window::ALL[value].needs_weights());
    let is_undirected =
        value(DIRECTIONS_AXIS).is_some_and(|value| DIRECTIONS[value] == Directions::Undirected);
    let is_reversed = value(REVERSED_AXIS) == Some(1);
    !(lacks_in_lists && has_removed || has_no_weights && needs_weights || is_undirected && is_reversed)
}

impl Combination {
    /// That of a row of [`SIZES`].
    pub(super) fn of(row: &[usize]) -> Self {
        let row: [usize; SIZES.len()] = row[..SIZES.len()].try_into().expect("a value of each axis");
        let [directions, weights, parallel, removed, window, filtered, reversed, ..] = row;
        let [.., ids, encoding, place, policy, by_degree] = row;
        Self {
            directions: DIRECTIONS[directions],
            weights: Weights::ALL[weights],
            parallel: parallel == 1,
            removed: REMOVED[removed],
            window: Window::ALL[window],
            ids: IDS[ids],
            encoding: ENCODINGS[encoding],
            place: PLACES[place],
            policy: CopyPolicy::ALL[policy],
            by_degree: by_degree == 1,
            filtered: filtered == 1,
            reversed: reversed == 1,
        }
    }

    pub(super) fn is_directed(self) -> bool {
        self.directions != Directions::Undirected
    }

    /// Whether the lists that the view shows are kept, and need not be made in memory.
    pub(super) fn has_lists_of_its_view(self) -> bool {
        !self.directions.lack_in_lists() || !self.directions.are_dropped() && !self.reversed
    }

    /// Whether the view leaves edges out.
    pub(super) fn leaves_out(self) -> bool {
        self.filtered || self.window != Window::Open
    }
}

/// The encodings and residencies that a run may ask for. Heads of two neighbours are stored.
pub(super) const READINGS: [(&str, Reading); 8] = [
    ("mapped lists", of(GraphEncoding::Lists, Residency::Mapped, None)),
    ("lists in memory", of(GraphEncoding::Lists, Residency::Memory, None)),
    ("pooled lists", of(GraphEncoding::Lists, Residency::Pooled, None)),
    ("stored heads", of(GraphEncoding::Lists, Residency::Headed, None)),
    ("gathered heads", of(GraphEncoding::Lists, Residency::Headed, Some(3))),
    ("mapped tiles", of(GraphEncoding::Tiles, Residency::Mapped, None)),
    ("pooled tiles", of(GraphEncoding::Tiles, Residency::Pooled, None)),
    ("what the plan chooses", Reading { encoding: None, residency: None, head_len: None }),
];

/// Memory beyond the least limit that a plan names: pools and heads then hold more, or everything.
pub(super) const SPARE_BYTES: [u64; 3] = [0, 100_000, 1 << 28];

const fn of(encoding: GraphEncoding, residency: Residency, head_len: Option<usize>) -> Reading {
    Reading { encoding: Some(encoding), residency: Some(residency), head_len }
}
