//! Publication of states: readers pin a state of the database and never wait for a writer. Files that no
//! state needs are removed once no reader can see them.
//!
//! A state is immutable. A reader only ever calls [`Published::pin`], which copies a pointer to the newest
//! state; [`Published::publish`] replaces the pointer. Several states can share a [`Resource`], such as a
//! layer and its files. Once no current or future state needs a resource, the writer calls
//! [`Resource::retire`]. Dropping the last state that holds it, which its last pin keeps alive, then reclaims
//! it. A resource that was not retired is not reclaimed.
//!
//! A value that is too large to rebuild for each state is kept twice, as [`Twin`]s. Readers use the one in
//! the newest state. The writer changes the other, which no pinned state holds, in place and puts it into the
//! next state.
//!
//! `tests/interleave` tests all interleavings of readers and a writer.

use std::ops::Deref;
use std::sync::PoisonError;

use super::sync::{Arc, AtomicBool, Ordering, RwLock, pause};

/// The newest of a sequence of states.
#[derive(Debug)]
pub(crate) struct Published<T> {
    current: RwLock<Arc<T>>,
}

/// A pinned state. The state and its resources stay unchanged while this pin or a clone of it exists.
#[derive(Debug)]
pub(crate) struct Pinned<T>(Arc<T>);

impl<T> Published<T> {
    /// Publishes a first state.
    pub(crate) fn new(state: T) -> Self {
        Self { current: RwLock::new(Arc::new(state)) }
    }

    /// Pins the newest state. Waits for a writer at most while it replaces a pointer.
    pub(crate) fn pin(&self) -> Pinned<T> {
        Pinned(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Publishes a state: later pins get it, earlier ones keep theirs. Call it from one thread at a time: if
    /// two threads derived states from the same one, the changes of the first would be lost.
    pub(crate) fn publish(&self, state: T) {
        let state = Arc::new(state);
        let replaced = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, state)
        };
        // Outside of the lock, because reclaiming resources may take time.
        drop(replaced);
    }
}

impl<T> Clone for Pinned<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Pinned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A handle on a value that states share, and that can be changed in place once no state holds it. Clones are
/// handles on the same value.
#[derive(Debug)]
pub(crate) struct Twin<T>(Arc<T>);

impl<T> Twin<T> {
    /// Wraps a value that no state holds yet.
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Waits until this is the only handle, then returns the value for changing. The writer waits for pins on
    /// states that hold the value, so readers must not keep such a pin for longer than a look-up.
    pub(crate) fn exclusive(&mut self) -> &mut T {
        let mut waited = 0;
        loop {
            if Arc::get_mut(&mut self.0).is_some() {
                break;
            }
            pause(waited);
            waited += 1;
        }
        let Some(value) = Arc::get_mut(&mut self.0) else {
            unreachable!("the only handle cannot have been cloned")
        };
        value
    }
}

impl<T> Clone for Twin<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Twin<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A resource that can be reclaimed once no state needs it.
pub(crate) trait Reclaim {
    /// Reclaims the resource. Called at most once, by the thread that drops the last handle, which may be a
    /// reader's: leave long work to another thread. The next opening of the database cleans up after a
    /// failure.
    fn reclaim(&mut self);
}

/// A handle on a resource that several states share. Clones are handles on the same resource.
#[derive(Debug)]
pub(crate) struct Resource<R: Reclaim>(Arc<Holder<R>>);

#[derive(Debug)]
struct Holder<R: Reclaim> {
    value: R,
    is_retired: AtomicBool,
}

impl<R: Reclaim> Resource<R> {
    /// Wraps a resource that is in use.
    pub(crate) fn new(value: R) -> Self {
        Self(Arc::new(Holder { value, is_retired: AtomicBool::new(false) }))
    }

    /// Marks the resource to be reclaimed with its last handle, which may be this one. Call it after the
    /// manifest durably says that the database no longer uses the resource, and after publishing a state
    /// without it; otherwise readers could still pin it.
    pub(crate) fn retire(self) {
        self.0.is_retired.store(true, Ordering::Release);
    }
}

impl<R: Reclaim> Clone for Resource<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R: Reclaim> Deref for Resource<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.0.value
    }
}

impl<R: Reclaim> Drop for Holder<R> {
    fn drop(&mut self) {
        if self.is_retired.load(Ordering::Acquire) {
            self.value.reclaim();
        }
    }
}
