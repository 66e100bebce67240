//! The ids behind the numbers, in the two orders in which the files of the id map are written: by vertex, and by hash.

use std::path::Path;

use esker_graph::VertexId;

use super::key::Kind;
use super::lane::Lane;
use super::resolve::Context;
use crate::error::Result;
use crate::import::numbering::IdMap;
use crate::import::scratch::Work;
use crate::import::spool::Spool;

/// All distinct ids of an import.
pub(super) struct Names<K> {
    pub(super) context: Context,
    /// The partition of each number.
    pub(super) route: Lane<u8>,
    /// The ids of each partition, by ascending number.
    pub(super) keys: Vec<Lane<u8>>,
    pub(super) kind: std::marker::PhantomData<fn() -> K>,
}

impl<K: Kind> IdMap for Names<K> {
    fn write(
        self: Box<Self>,
        work: &Work,
        directory: &Path,
        renumbered: Option<&Spool<VertexId>>,
    ) -> Result<()> {
        Ok(())
    }
}
