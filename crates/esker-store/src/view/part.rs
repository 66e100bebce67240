//! The part of a version that a window and a filter select.

use std::sync::Arc;

use esker_layers::graph::views::window::{Combine, Copies, SharedLists, WindowIndex};
use esker_layers::property::RemovedVertices;
use esker_layers::stack::Stack;

use super::moved::{AgingEdges, WindowMove};

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
