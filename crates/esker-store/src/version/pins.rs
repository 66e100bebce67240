//! Publication: readers pin the state of the database and never wait for the one who changes it; what no state needs
//! any more goes when nobody can see it.
//!
//! A state is immutable. [`Published::pin`] copies a pointer to the newest one, and that is all that a reader ever does;
//! [`Published::publish`] replaces the pointer. What several states share (a layer with its files, say) is a [`Resource`]
//! that each of them holds. Once it is in no state that will be published, its writer calls [`Resource::retire`]; the last state
//! that holds it then reclaims it as it goes, with the last pin on it. A resource that nobody retired is left alone when the
//! process ends.
//!
//! ```
//! use esker_store::version::{Published, Reclaim, Resource};
//! struct Files(u32);
//! impl Reclaim for Files {
//!     fn reclaim(&mut self) { /* remove them */ }
//! }
//! let (one, two) = (Resource::new(Files(1)), Resource::new(Files(2)));
//! let published = Published::new(vec![one.clone(), two.clone()]);
//! let pinned = published.pin();
//! // Layer 3 replaces both; the manifest says so, durably. Then:
//! published.publish(vec![Resource::new(Files(3))]);
//! one.retire();
//! two.retire();
//! assert_eq!(pinned.len(), 2); // Still readable, until `pinned` is dropped: then both are reclaimed.
//! ```
//!
//! What is too large to be made anew for each state is kept twice, as [`Twin`]s: readers look at the one in the newest state, while the
//! other, which nobody sees any more, is changed in place and goes into the next state.
//!
//! All interleavings of readers and a writer are tried by `tests/interleave`.

use std::ops::Deref;
use std::sync::PoisonError;

use super::sync::{Arc, AtomicBool, Ordering, RwLock, pause};

/// The newest of a sequence of states.
#[derive(Debug)]
pub struct Published<T> {
    current: RwLock<Arc<T>>,
}

/// A state that stays as it is, and whose resources stay where they are, as long as this or a clone of it lives.
#[derive(Debug)]
pub struct Pinned<T>(Arc<T>);

impl<T> Published<T> {
    /// Begins with a state.
    pub fn new(state: T) -> Self {
        Self { current: RwLock::new(Arc::new(state)) }
    }

    /// The newest state. Takes as long as copying a pointer, at most twice, whatever a writer does.
    pub fn pin(&self) -> Pinned<T> {
        Pinned(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Makes a state the newest one. Whoever pins from now on gets it; pins from before keep what they have. To be called
    /// by one thread at a time: of two states that were made from the same one, the first would be lost.
    pub fn publish(&self, state: T) {
        let state = Arc::new(state);
        let replaced = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, state)
        };
        // Outside of the lock: what goes with it may take time.
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

/// A handle on a value that states hold, and that can be changed in place when none of them does any more. Clones are handles on
/// the same value.
#[derive(Debug)]
pub struct Twin<T>(Arc<T>);

impl<T> Twin<T> {
    /// A value that no state holds yet.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// The value, to be changed, once this is the only handle: a writer waits for those who pinned a state that has it, and so
    /// nobody may keep such a pin for longer than it takes to look something up.
    pub fn alone(&mut self) -> &mut T {
        let mut waited = 0;
        loop {
            if Arc::get_mut(&mut self.0).is_some() {
                break;
            }
            pause(waited);
            waited += 1;
        }
        let Some(value) = Arc::get_mut(&mut self.0) else { unreachable!("nobody can clone the only handle") };
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

/// What can be given back once nobody needs it.
pub trait Reclaim {
    /// Gives it back. Called at most once, by the thread that drops the last handle, which may be a reader's: what takes
    /// long is better handed to another thread. What fails is left to the next opening of the database.
    fn reclaim(&mut self);
}

/// A handle on what several states share. Clones are handles on the same thing.
#[derive(Debug)]
pub struct Resource<R: Reclaim>(Arc<Holder<R>>);

#[derive(Debug)]
struct Holder<R: Reclaim> {
    value: R,
    is_retired: AtomicBool,
}

impl<R: Reclaim> Resource<R> {
    /// A resource that is in use.
    pub fn new(value: R) -> Self {
        Self(Arc::new(Holder { value, is_retired: AtomicBool::new(false) }))
    }

    /// Says that it is to be reclaimed with its last handle, this one perhaps. Once the manifest says, durably, that the database does
    /// without it; and once a state without it is published, or readers could still pin it.
    pub fn retire(self) {
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
