//! The candidates of a plan: encoding and residency, with their needs.

use std::fmt;

use esker_graph::Message;

use esker_store::{GraphEncoding, Residency};

use super::access_path::AccessPath;
use super::price::Price;
use crate::catalogue::Resources;

/// An encoding and residency that a run can read the graph with.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The encoding.
    pub encoding: GraphEncoding,
    /// The residency.
    pub residency: Residency,
    /// Bytes of the graph in this encoding.
    pub graph_bytes: u64,
    /// Bytes of the graph that the whole run reads in this encoding, from memory where they are resident.
    /// Rounds count each.
    pub read_bytes: u64,
    /// The least memory limit that suffices: the algorithm's arrays, and the fixed parts of the residency.
    pub least_bytes: u64,
    /// Memory that also holds the whole graph.
    pub whole_bytes: u64,
    /// Graphs that are open at a time, each with a pool or heads of its own: 2 where a window reads weights
    /// beside times.
    pub columns: u64,
    /// What a run is predicted to take.
    pub price: Price,
    /// Why the database does not allow it.
    pub obstacle: Option<Message>,
    /// Whether a copy in memory stands in for it: what hinders it is not what the database stores.
    pub has_substitute: bool,
    /// Why it is chosen only on request.
    pub unsuited: Option<String>,
}

impl Candidate {
    pub(super) fn path(&self) -> AccessPath {
        AccessPath { encoding: self.encoding, residency: self.residency }
    }

    /// The same, which may be chosen without being asked for.
    pub(super) fn suited(self) -> Self {
        Self { unsuited: None, ..self }
    }

    /// The same, for which a copy in memory stands in.
    pub(super) fn with_substitute(self) -> Self {
        Self { has_substitute: true, ..self }
    }

    /// Whether the page cache decides what stays in memory.
    pub fn is_mapped(&self) -> bool {
        self.residency == Residency::Mapped
    }

    /// Whether it stays within the limits: mapped files do if all of the graph is in memory.
    pub(super) fn is_whole(&self, resources: &Resources) -> bool {
        !self.is_mapped() || self.whole_bytes <= resources.memory.mapped_bytes()
    }

    /// What the memory limit leaves beside the fixed costs.
    pub(super) fn spare_bytes(&self, resources: &Resources) -> u64 {
        resources.memory.bytes().saturating_sub(self.least_bytes)
    }
}

/// The name of an encoding on the command line and in Python.
pub fn encoding_name(encoding: GraphEncoding) -> &'static str {
    match encoding {
        GraphEncoding::Lists => "lists",
        GraphEncoding::Tiles => "tiles",
    }
}

/// The encoding and residency that the user asks for; what is left open is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    /// The encoding.
    pub encoding: Option<GraphEncoding>,
    /// The residency.
    pub residency: Option<Residency>,
    /// Neighbours of each vertex to keep in memory; for headed lists only.
    pub head_len: Option<usize>,
}

/// Why a plan chose its candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The user asked for it.
    Asked,
    /// What the user asked for does not serve the view: a copy in memory stands in.
    Substitute,
    /// The whole graph fits in memory, mapped.
    Fits,
    /// The graph does not fit in memory, and this residency takes a fixed amount of it.
    Bounded,
    /// The whole graph fits in memory in another encoding, but this takes less time.
    Faster,
    /// A copy in memory pays: mapped lists are read slowly, as those of several layers, or do not fit.
    Copied,
    /// In-edges are needed and not kept: a copy in memory has them.
    InEdges,
    /// Neither: the page cache keeps what it can.
    PageCache,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "as requested",
            Self::Substitute => {
                "what was requested does not serve this view: its edges are copied to memory instead"
            }
            Self::Fits => "the whole graph fits in memory in this encoding",
            Self::Bounded => "the whole graph does not fit in memory, and this stays within the limit",
            Self::Faster => "predicted to take the least time, though the whole graph fits in memory, mapped",
            Self::Copied => "predicted to take the least time of all that fits, with the copy",
            Self::InEdges => {
                "the graph is stored without in-edges, which the run needs: the copy in memory has them"
            }
            Self::PageCache => "nothing else fits or suits; the page cache keeps what it can",
        })
    }
}

/// A candidate that the database does not allow.
pub(super) fn absent(path: AccessPath, reason: &esker_store::Error) -> Candidate {
    Candidate {
        encoding: path.encoding,
        residency: path.residency,
        graph_bytes: 0,
        read_bytes: 0,
        least_bytes: 0,
        whole_bytes: 0,
        columns: 1,
        price: Price::default(),
        obstacle: Some(reason.message()),
        has_substitute: false,
        unsuited: None,
    }
}
