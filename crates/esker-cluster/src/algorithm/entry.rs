//! What is known of an algorithm besides its work.

use esker_format::Result;

use super::local::{FoundValues, Local, Options};
use crate::model::needs::{AlgorithmNeeds, ShardShape};
use crate::net::engine::Engine;

/// An algorithm of the cluster.
pub struct ClusterAlgorithm {
    /// Its name.
    pub name: &'static str,
    /// What it computes, in a line.
    pub about: &'static str,
    /// Its options.
    pub options: &'static [RunOption],
    /// Whether it reads the weights of edges.
    pub reads_weights: bool,
    /// What it needs in a shard.
    pub(crate) needs: fn(&ShardShape) -> AlgorithmNeeds,
    pub(crate) run: fn(&Local<'_, '_>, &mut Engine<'_>, &Options<'_>) -> Result<FoundValues>,
}

impl std::fmt::Debug for ClusterAlgorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterAlgorithm").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An option of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOption {
    /// Its name.
    pub name: &'static str,
    /// What its value is, in a word, as in `N`.
    pub value_name: &'static str,
    /// What it means, in a line.
    pub about: &'static str,
    /// Whether it may be given several times.
    pub is_list: bool,
}
