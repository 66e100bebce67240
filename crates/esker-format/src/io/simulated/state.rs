//! What a faulty disk holds, and the changes that have not reached it.

use std::path::Path;
use std::sync::Arc;

use esker_graph::random::Random;

use crate::error::Result;
use crate::io::disk::parent;
use crate::io::simulated::faults::Faults;
use crate::io::simulated::inode::FaultyInode;
use crate::io::simulated::names::{Names, is_root, refused};
use crate::io::simulated::pending::{ContentChange, NameChange};

/// The state of a faulty disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct FaultyState {
    pub(crate) faults: Faults,
    pub(crate) random: Random,
    pub(crate) operations: u64,
    pub(crate) nodes: Vec<FaultyInode>,
    /// Names as a process sees them.
    pub(crate) names: Names<usize>,
    /// Names on the disk, and the changes that have not reached it.
    pub(crate) durable_names: Names<usize>,
    pub(crate) pending_names: Vec<NameChange>,
}

impl FaultyState {
    pub(crate) fn is_due(&self) -> bool {
        self.faults.fail_at == Some(self.operations)
            || self.faults.die_at.is_some_and(|first| self.operations >= first)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    pub(crate) fn file(&self, path: &Path, action: &'static str) -> Result<usize> {
        match self.names.get(path) {
            Some(&node) if !self.nodes[node].is_directory => Ok(node),
            Some(_) => Err(refused(action, path, std::io::ErrorKind::IsADirectory)),
            None => Err(refused(action, path, std::io::ErrorKind::NotFound)),
        }
    }

    pub(crate) fn is_directory(&self, path: &Path) -> bool {
        is_root(path) || self.names.get(path).is_some_and(|&node| self.nodes[node].is_directory)
    }

    pub(crate) fn add(&mut self, path: &Path, is_directory: bool) -> Result<usize> {
        if self.names.contains_key(path) {
            return Err(refused("create", path, std::io::ErrorKind::AlreadyExists));
        }
        if !self.is_directory(&parent(path)) {
            return Err(refused("create", path, std::io::ErrorKind::NotFound));
        }
        self.nodes.push(FaultyInode::new(is_directory));
        let node = self.nodes.len() - 1;
        self.change(NameChange::Add(path.to_owned(), node));
        Ok(node)
    }

    pub(crate) fn change(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        let used: u64 = self.names.values().map(|&node| self.nodes[node].content.len() as u64).sum();
        self.faults.space_bytes.map_or(u64::MAX, |room| room.saturating_sub(used))
    }

    pub(crate) fn write(&mut self, node: usize, bytes: &[u8], offset: u64) {
        self.edit(node, ContentChange::Write(offset, bytes.to_vec()));
    }

    pub(crate) fn edit(&mut self, node: usize, edit: ContentChange) {
        edit.apply(Arc::make_mut(&mut self.nodes[node].content));
        self.nodes[node].pending.push(edit);
    }

    /// Decides at random which writes since the last sync reach the disk.
    pub(crate) fn settle(&mut self, node: usize) {
        self.nodes[node].settle(|bound| self.random.below(bound));
    }

    /// Flips a random bit of `data` if this is the operation [`Faults::flip_read_at`].
    pub(crate) fn flip_if_due(&mut self, data: &mut [u8]) {
        if self.faults.flip_read_at == Some(self.operations) && !data.is_empty() {
            let bit = self.below(data.len() as u64 * 8);
            data[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
    }
}
