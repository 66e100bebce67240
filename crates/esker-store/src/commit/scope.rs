//! Which edges between two vertices are duplicates of each other.

use esker_format::{Duplicates, LogicalType, PropertyRecord};

/// Which edges between two vertices are duplicates of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleScope {
    /// All.
    Ends,
    /// Those of one kind: the codes of this property.
    Kind(usize),
    /// Those with the same values.
    Row {
        /// The property that has ids of edges, which differ.
        ids: Option<usize>,
    },
}

impl RuleScope {
    /// The scope of a rule for edges with these properties, by number.
    pub(crate) fn of(rule: Duplicates, properties: &[PropertyRecord]) -> Self {
        if rule == Duplicates::Rows {
            let ids = properties.iter().position(|property| property.logical == LogicalType::EdgeId);
            return Self::Row { ids };
        }
        match properties.iter().position(|property| property.kind) {
            Some(kind) => Self::Kind(kind),
            None => Self::Ends,
        }
    }

    /// What tells an edge with these property bits from others between the same vertices.
    pub(super) fn key(self, bits: &[u64]) -> Vec<u64> {
        match self {
            Self::Ends => Vec::new(),
            Self::Kind(kind) => vec![bits[kind]],
            Self::Row { ids } => bits
                .iter()
                .enumerate()
                .filter(|(number, _)| Some(*number) != ids)
                .map(|(_, &bits)| bits)
                .collect(),
        }
    }

    /// Whether two edges between the same vertices, by their property bits, are duplicates.
    pub(crate) fn is_same(self, a: &[u64], b: &[u64]) -> bool {
        match self {
            Self::Ends => true,
            Self::Kind(kind) => a[kind] == b[kind],
            Self::Row { ids } => {
                a.iter().zip(b).enumerate().all(|(number, (a, b))| a == b || Some(number) == ids)
            }
        }
    }
}

/// Whether a rule depends on the edges of earlier commits.
pub(crate) fn reads_edges(rule: Duplicates, properties: &[PropertyRecord]) -> bool {
    match rule {
        Duplicates::Keep => false,
        // The graph itself replaces the one edge between two vertices.
        Duplicates::Last => RuleScope::of(rule, properties) != RuleScope::Ends,
        Duplicates::First
        | Duplicates::Sum
        | Duplicates::Min
        | Duplicates::Max
        | Duplicates::Refuse
        | Duplicates::Rows => true,
    }
}
