//! A disk in memory that injects faults, reproducibly from a seed.
//!
//! # Fault model
//!
//! * **Lost power.** [`FaultyDisk::crash`] leaves the state that a machine finds after a power failure. Each
//!   write since the last sync of its file survives or is lost, independently of the others. A surviving
//!   write may be torn: only a prefix of its 512-byte sectors is stored. A file whose length was not synced
//!   may be shorter, and holds zeros where a lost write preceded a surviving one. [`File::set_length`] counts
//!   as a write that is never torn: if it is lost and a later write survives, the bytes that it had truncated
//!   are back after that write.
//! * **Lost names.** Creations, renames and removals reach the disk in order, as in a journal. A crash keeps
//!   all changes up to the last one whose directory was synced, and any number of those that follow.
//! * **Failing operations.** [`Faults::fail_at`] makes one operation fail with an I/O error.
//!   [`Faults::die_at`] makes that one and all later ones fail, as a process sees while its machine goes
//!   down. A failed write may have written a prefix. A failed sync treats the writes since the last sync as a
//!   power failure would, and no later sync repairs that; but until the crash all processes see these writes,
//!   as they see dirty pages of the page cache.
//! * **No space.** Writes past [`Faults::space_bytes`] fail, after writing the prefix that fits.
//! * **Read-only media.** With [`Faults::read_only`], every operation that changes anything fails, locking
//!   included.
//! * **No exchange of names, no links.** With [`Faults::no_exchange`], [`Disk::exchange`] fails, as on many
//!   file systems; with [`Faults::no_links`], [`Disk::link`] makes none.
//! * **Short reads.** With [`Faults::short_reads`], `read_at` returns any number of bytes from 1 to the
//!   number requested.
//! * **Flipped bits.** [`FaultyDisk::flip`] flips a stored bit; [`Faults::flip_read_at`] flips a bit of one
//!   read.
//! * **Unreadable pages.** [`FaultyDisk::break_page`] makes reads of a page fail, as does
//!   [`FaultyDisk::truncate`] those of the pages that it cuts off. So does [`Map::load`], also of maps made
//!   before. Where the system would send SIGBUS, because a program accesses such a page without loading it,
//!   it finds wrong bytes, unless it mapped the file before.
//!
//! A removed file stays usable where it is open or mapped, and a lock belongs to the file, not to its name.
//!
//! Not modelled: lost syncs that report success, misdirected writes, damage to names.

use parking_lot::{Mutex, MutexGuard};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_graph::random::Random;

use crate::error::{Error, Result};
use crate::io::disk::{DirectoryEntry, Disk, File, Files, Lock, NamedFile};
use crate::io::file_id::FileId;
use crate::io::map::{Map, Pages};
use crate::io::simulated::faults::{Faults, failure};
use crate::io::simulated::inode::id_of;
use crate::io::simulated::names::{
    check_exchange, check_new, check_rename, check_replace, list, named, refused,
};
use crate::io::simulated::pending::{ContentChange, NameChange};
use crate::io::simulated::state::FaultyState;

/// A disk in memory that injects faults. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct FaultyDisk(Arc<Mutex<FaultyState>>);

impl FaultyDisk {
    /// An empty disk whose random choices derive from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(FaultyState { random: Random::new(seed), ..FaultyState::default() })))
    }

    /// A separate disk in the same state. The two share contents until one changes them.
    pub fn fork(&self) -> Self {
        Self(Arc::new(Mutex::new(self.state().clone())))
    }

    /// Replaces the faults, and restarts the count of operations.
    pub fn set_faults(&self, faults: Faults) {
        let mut state = self.state();
        state.faults = faults;
        state.operations = 0;
    }

    /// Operations since [`FaultyDisk::set_faults`].
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Simulates a power failure and clears the faults; see the fault model. Releases all locks; files opened
    /// before must not be used again.
    pub fn crash(&self) {
        let mut state = self.state();
        state.faults = Faults::default();
        let pending = state.pending_names.len() as u64;
        let kept = state.below(pending + 1) as usize;
        let changes: Vec<NameChange> = state.pending_names.drain(..).take(kept).collect();
        for change in &changes {
            change.apply(&mut state.durable_names);
        }
        state.names = state.durable_names.clone();
        for node in 0..state.nodes.len() {
            state.settle(node);
            let node = &mut state.nodes[node];
            node.content = Arc::clone(&node.durable);
            node.locked = false;
        }
    }

    /// Flips a stored bit of a file.
    ///
    /// # Errors
    /// If there is no such file or byte.
    pub fn flip(&self, path: &Path, offset: u64, bit: u8) -> Result<()> {
        self.damage(path, |content| content.get_mut(offset as usize).map(|byte| *byte ^= 1 << bit))
    }

    /// Truncates the stored content of a file to `bytes`.
    ///
    /// # Errors
    /// If there is no such file, or it is shorter.
    pub fn truncate(&self, path: &Path, bytes: u64) -> Result<()> {
        self.damage(path, |content| (bytes <= content.len() as u64).then(|| content.truncate(bytes as usize)))
    }

    /// Makes the page of 4096 bytes unreadable that holds the byte at `offset` of a file.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn break_page(&self, path: &Path, offset: u64) -> Result<()> {
        let mut state = self.state();
        let node = state.file(path, "damage")?;
        state.nodes[node].break_page(offset as usize);
        Ok(())
    }

    fn damage(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Result<()> {
        let mut state = self.state();
        let node = state.file(path, "damage")?;
        change(Arc::make_mut(&mut state.nodes[node].content))
            .ok_or_else(|| Error::invalid(format!("{} is shorter than that", path.display())))?;
        state.nodes[node].durable = Arc::clone(&state.nodes[node].content);
        state.nodes[node].pending.clear();
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, FaultyState> {
        self.0.lock()
    }

    /// Counts an operation; fails if a fault is due.
    fn operate(&self, action: &'static str, path: &Path) -> Result<MutexGuard<'_, FaultyState>> {
        let mut state = self.state();
        state.operations += 1;
        if state.is_due() { Err(failure(action, path)) } else { Ok(state) }
    }

    /// As [`FaultyDisk::operate`], for operations that change the disk.
    fn change(&self, action: &'static str, path: &Path) -> Result<MutexGuard<'_, FaultyState>> {
        let state = self.operate(action, path)?;
        if state.faults.read_only {
            return Err(refused(action, path, std::io::ErrorKind::ReadOnlyFilesystem));
        }
        Ok(state)
    }

    /// The exclusive lock on a file; `None` if it is taken.
    fn lock(&self, state: &mut FaultyState, node: usize) -> Option<Box<dyn Lock>> {
        let is_taken = std::mem::replace(&mut state.nodes[node].locked, true);
        (!is_taken).then(|| Box::new(FaultyLock { disk: self.clone(), node }) as Box<dyn Lock>)
    }

    fn handle(&self, path: &Path, node: usize) -> Arc<dyn File> {
        Arc::new(FaultyFile { disk: self.clone(), path: path.to_owned(), node })
    }
}

impl Files for FaultyDisk {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        let node = self.change("create", path)?.add(path, false)?;
        Ok(self.handle(path, node))
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        let node = self.operate("open", path)?.file(path, "open")?;
        Ok(self.handle(path, node))
    }
}

impl Disk for FaultyDisk {
    fn open_for_writing(&self, path: &Path) -> Result<Arc<dyn File>> {
        let node = self.change("open for writing", path)?.file(path, "open for writing")?;
        Ok(self.handle(path, node))
    }

    fn create_directory(&self, path: &Path) -> Result<()> {
        self.change("create", path)?.add(path, true).map(|_| ())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let mut state = self.change("rename to", to)?;
        check_rename(&state.names, from, to)?;
        state.change(NameChange::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn replace(&self, from: &Path, to: &Path) -> Result<()> {
        let mut state = self.change("replace", to)?;
        check_replace(&state.names, from)?;
        state.change(NameChange::Replace(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn exchange(&self, a: &Path, b: &Path) -> Result<()> {
        let mut state = self.change("replace", b)?;
        if state.faults.no_exchange {
            return Err(refused("replace", b, std::io::ErrorKind::InvalidInput));
        }
        check_exchange(&state.names, a, b)?;
        state.change(NameChange::Exchange(a.to_owned(), b.to_owned()));
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> Result<bool> {
        let mut state = self.change("link", to)?;
        let node = state.file(from, "link")?;
        check_new(&state.names, "link", to)?;
        let links = !state.faults.no_links;
        if links {
            state.change(NameChange::Add(to.to_owned(), node));
        }
        Ok(links)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let mut state = self.change("remove", path)?;
        state.file(path, "remove")?;
        state.change(NameChange::Remove(path.to_owned()));
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        let mut state = self.change("remove", path)?;
        if !state.is_directory(path) {
            return Err(refused("remove", path, std::io::ErrorKind::NotFound));
        }
        state.change(NameChange::Remove(path.to_owned()));
        Ok(())
    }

    fn list(&self, path: &Path) -> Result<Vec<DirectoryEntry>> {
        let state = self.operate("list", path)?;
        if !state.is_directory(path) {
            return Err(refused("list", path, std::io::ErrorKind::NotFound));
        }
        Ok(list(&state.names, path, |name, &node| state.nodes[node].describe(name)))
    }

    fn look(&self, path: &Path) -> Result<Option<DirectoryEntry>> {
        let state = self.operate("look at", path)?;
        Ok(state.names.get(path).map(|&node| state.nodes[node].describe(path)))
    }

    /// Counts as no operation: nothing is read or changed.
    fn identify(&self, path: &Path) -> Result<Option<NamedFile>> {
        let state = self.state();
        Ok(named(&state.names, path, |&node| (!state.nodes[node].is_directory).then(|| id_of(node))))
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        let mut state = self.operate("sync", path)?;
        let end =
            state.pending_names.iter().rposition(|change| change.touches(path)).map_or(0, |last| last + 1);
        let changes: Vec<NameChange> = state.pending_names.drain(..end).collect();
        for change in &changes {
            change.apply(&mut state.durable_names);
        }
        Ok(())
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn Lock>>> {
        let mut state = self.change("lock", path)?;
        let node = match state.names.get(path) {
            Some(&node) => node,
            None => state.add(path, false)?,
        };
        Ok(self.lock(&mut state, node))
    }

    fn free_bytes(&self, path: &Path) -> Result<u64> {
        Ok(self.operate("ask for the free space of", path)?.free_bytes())
    }
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    path: PathBuf,
    node: usize,
}

impl File for FaultyFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn id(&self) -> Result<FileId> {
        Ok(id_of(self.node))
    }

    fn len(&self) -> Result<u64> {
        Ok(self.disk.operate("look at", &self.path)?.nodes[self.node].content.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut state = self.disk.operate("read", &self.path)?;
        let content = &state.nodes[self.node].content;
        let start = (offset as usize).min(content.len());
        let mut bytes = buffer.len().min(content.len() - start);
        if state.faults.short_reads && bytes > 1 {
            bytes = 1 + state.below(bytes as u64) as usize;
        }
        if let Some(error) = state.nodes[self.node].read_error(start..start + bytes) {
            return Err(Error::io("read", &self.path)(error));
        }
        buffer[..bytes].copy_from_slice(&state.nodes[self.node].content[start..start + bytes]);
        state.flip_if_due(&mut buffer[..bytes]);
        Ok(bytes)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let mut state = self.disk.state();
        state.operations += 1;
        if state.faults.read_only {
            return Err(refused("write to", &self.path, std::io::ErrorKind::ReadOnlyFilesystem));
        }
        if state.is_due() {
            let part = state.below(bytes.len() as u64 + 1) as usize;
            state.write(self.node, &bytes[..part], offset);
            return Err(failure("write to", &self.path));
        }
        let old_bytes = state.nodes[self.node].content.len() as u64;
        let room = old_bytes.saturating_add(state.free_bytes());
        if offset.saturating_add(bytes.len() as u64) > room.max(old_bytes) {
            let part = (room.saturating_sub(offset) as usize).min(bytes.len());
            state.write(self.node, &bytes[..part], offset);
            return Err(refused("write to", &self.path, std::io::ErrorKind::StorageFull));
        }
        state.write(self.node, bytes, offset);
        Ok(())
    }

    fn set_length(&self, bytes: u64) -> Result<()> {
        let mut state = self.disk.state();
        state.operations += 1;
        let refused = |kind| Err(refused("set the length of", &self.path, kind));
        if state.faults.read_only {
            return refused(std::io::ErrorKind::ReadOnlyFilesystem);
        }
        if state.is_due() {
            if state.below(2) == 1 {
                state.edit(self.node, ContentChange::Length(bytes));
            }
            return Err(failure("set the length of", &self.path));
        }
        let old_bytes = state.nodes[self.node].content.len() as u64;
        if bytes.saturating_sub(old_bytes) > state.free_bytes() {
            return refused(std::io::ErrorKind::StorageFull);
        }
        state.edit(self.node, ContentChange::Length(bytes));
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        let mut state = self.disk.state();
        state.operations += 1;
        if state.is_due() {
            state.settle(self.node);
            return Err(failure("sync", &self.path));
        }
        let node = &mut state.nodes[self.node];
        for edit in std::mem::take(&mut node.pending) {
            edit.apply(Arc::make_mut(&mut node.durable));
        }
        Ok(())
    }

    /// Counts as no operation.
    fn try_lock(&self) -> Result<Option<Box<dyn Lock>>> {
        Ok(self.disk.lock(&mut self.disk.state(), self.node))
    }

    fn map(&self) -> Result<Map> {
        let mut state = self.disk.operate("map", &self.path)?;
        let mut content = Arc::clone(&state.nodes[self.node].content);
        if state.faults.flip_read_at == Some(state.operations) {
            state.flip_if_due(Arc::<Vec<u8>>::make_mut(&mut content));
        }
        if state.nodes[self.node].is_broken() {
            state.nodes[self.node].spoil(Arc::<Vec<u8>>::make_mut(&mut content));
        }
        drop(state);
        let pages = Arc::new(FaultyPages { disk: self.disk.clone(), node: self.node });
        Ok(Map::of_pages(&content, pages, &self.path, self.id()?))
    }
}

/// The pages of a mapped file.
#[derive(Debug)]
struct FaultyPages {
    disk: FaultyDisk,
    node: usize,
}

impl Pages for FaultyPages {
    fn read(&self, range: Range<usize>) -> std::io::Result<()> {
        let state = self.disk.state();
        let node = &state.nodes[self.node];
        if node.is_cut_off(&range) {
            return Err(std::io::Error::other("the file was cut short (injected)"));
        }
        node.read_error(range).map_or(Ok(()), Err)
    }
}

#[derive(Debug)]
struct FaultyLock {
    disk: FaultyDisk,
    node: usize,
}

impl Lock for FaultyLock {
    fn id(&self) -> FileId {
        id_of(self.node)
    }
}

impl Drop for FaultyLock {
    fn drop(&mut self) {
        self.disk.state().nodes[self.node].locked = false;
    }
}
