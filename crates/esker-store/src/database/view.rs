//! What readers see of the newest version.

use std::sync::Arc;

use esker_graph::{Direction, VertexId};

use super::live::{Live, OpRef};
use crate::error::{Error, Result};
use crate::snapshot::State;

/// What readers see: layers, and durable commits over them.
#[derive(Debug)]
pub(super) struct View {
    pub(super) state: Arc<State>,
    pub(super) live: Live,
    /// The newest version with the commits that are in no layer, if somebody asked for it.
    pub(super) newest: Option<(u64, Arc<State>)>,
}

/// The list of a vertex, each neighbour with the change that set it.
pub(super) fn list(view: &View, direction: Direction, v: VertexId) -> Result<Vec<(VertexId, Option<OpRef>)>> {
    let below = view.state.snapshot(view.state.newest())?;
    if !below.has(direction) {
        return Err(Error::Invalid(format!(
            "{} is stored without its in-edges: import it again with them",
            below.path().display()
        )));
    }
    let targets = match (v as usize) < below.num_vertices() {
        true => below.neighbors(direction, v)?.into_owned(),
        false => Vec::new(),
    };
    Ok(view.live.list(direction, v, &targets))
}
