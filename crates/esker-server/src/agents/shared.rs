//! What all calls of tools share.

use std::sync::Arc;

use crate::computing::runs::Runs;
use crate::served::Served;
use crate::work::Workers;

/// The database, the threads that answer, and the runs that are kept.
pub(super) struct Agents {
    pub(super) served: Arc<Served>,
    pub(super) workers: Workers,
    pub(super) runs: Arc<Runs>,
}
