//! Which graph of a version is computed on, other than the one that is stored.

use esker_format::ElementType;

/// The types of numbers that weights can have.
pub(super) const WEIGHT_ELEMENTS: [ElementType; 4] =
    [ElementType::I32, ElementType::I64, ElementType::F32, ElementType::F64];

/// What graphs of a version are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct GraphChoice {
    /// Whether a directed graph is read as undirected.
    pub(super) undirected: bool,
    /// The number of the edge property that is the weight; `None`: that of the import.
    pub(super) weight: Option<u32>,
}
