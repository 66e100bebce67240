//! Which graph of a version is computed on, other than the one that is stored.

use std::sync::Arc;

use esker_format::ElementType;
use esker_graph::Direction;
use esker_layers::graph::window::{ArcFilter, Combine, Copies, SharedLists, WindowIndex};
use esker_layers::property::RemovedVertices;
use esker_layers::stack::Stack;

use super::moved::{AgingEdges, WindowMove};

/// The types of numbers that weights can have.
pub(super) const WEIGHT_ELEMENTS: [ElementType; 4] =
    [ElementType::I32, ElementType::I64, ElementType::F32, ElementType::F64];

/// What graphs of a version are made of.
#[derive(Debug, Clone, Default)]
pub(super) struct GraphChoice {
    /// What keeps edges by their properties; `None`: all are kept.
    pub(super) filter: Option<Arc<dyn ArcFilter>>,
    /// Whether the edges of a directed graph are turned round.
    pub(super) reversed: bool,
    /// Whether a directed graph is read as undirected.
    pub(super) undirected: bool,
    /// The number of the edge property that is the weight; `None`: that of the import.
    pub(super) weight: Option<u32>,
    /// What the window and the filter leave of the edges; `None`: all edges.
    pub(super) window: Option<Arc<WindowPart>>,
    /// Whether graphs of a window are copied to memory.
    pub(super) gathers: bool,
    /// The direction whose lists alone are read; `None`: all.
    pub(super) only: Option<Direction>,
    /// Of a window: the one direction whose lists are copied to memory; `None`: both directions are.
    pub(super) gathers_only: Option<Direction>,
    /// Whether removed vertices may stay, as vertices without edges.
    pub(super) keeps_removed: bool,
    /// Whether in-lists that are not kept are made in memory.
    pub(super) makes_in_lists: bool,
}

/// What a window and a filter leave of a version, counted.
#[derive(Debug)]
pub(super) struct WindowPart {
    /// The number of the property that holds the times; `None`: there is a filter alone.
    time: Option<u32>,
    index: WindowIndex,
    /// The vertices that are not in the window.
    removed: RemovedVertices,
    /// The layers of the version, of which scans leave out those without an edge in the window.
    stack: Stack,
    /// Lists in memory that it shares with other windows.
    shared: Option<Arc<SharedLists>>,
    /// Whether vertices without an edge in the window are kept.
    all_vertices: bool,
    /// How it differs from the window that it was made from.
    moved: Option<WindowMove>,
    /// The edges that leave it next.
    aging: Option<Arc<AgingEdges>>,
}

impl WindowPart {
    pub(super) fn new(time: Option<u32>, index: WindowIndex, stack: Stack, all_vertices: bool) -> Self {
        let removed = RemovedVertices::from_list(index.absent());
        Self { time, index, removed, stack, shared: None, all_vertices, moved: None, aging: None }
    }

    pub(super) fn with_shared(self, shared: &Arc<SharedLists>) -> Self {
        Self { shared: Some(Arc::clone(shared)), ..self }
    }

    pub(super) fn with_move(self, moved: WindowMove, aging: Option<Arc<AgingEdges>>) -> Self {
        Self { moved: Some(moved), aging, ..self }
    }

    pub(super) fn moved(&self) -> Option<&WindowMove> {
        self.moved.as_ref()
    }

    pub(super) fn aging(&self) -> Option<&Arc<AgingEdges>> {
        self.aging.as_ref()
    }

    pub(super) fn all_vertices(&self) -> bool {
        self.all_vertices
    }

    pub(super) fn shared(&self) -> Option<&SharedLists> {
        self.shared.as_deref()
    }

    pub(super) fn stack(&self) -> &Stack {
        &self.stack
    }

    pub(super) fn time(&self) -> Option<u32> {
        self.time
    }

    pub(super) fn index(&self) -> &WindowIndex {
        &self.index
    }

    pub(super) fn removed(&self) -> &RemovedVertices {
        &self.removed
    }

    /// Whether copies of an edge are joined.
    pub(super) fn joins(&self) -> bool {
        self.index.window().copies != Copies::All
    }

    /// Whether the weights of its edges are numbers of edges.
    pub(super) fn counts(&self) -> bool {
        self.index.window().copies == Copies::Weighted(Combine::Count)
    }
}
