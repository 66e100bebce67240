//! Code shared by the tests of pins: on system threads, and in all interleavings (`tests/interleave`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pins::{Published, Reclaim, Resource, Twin};

/// Counts how often it was reclaimed. Tests only read the counter; they must not synchronise through it.
#[derive(Debug, Clone, Default)]
pub(super) struct CountedFiles(Arc<AtomicU32>);

impl Reclaim for CountedFiles {
    fn reclaim(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl CountedFiles {
    pub(super) fn reclaimed(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A state like a database's: layers, whose files may be reclaimed, and two equal numbers that are changed in
/// place together.
pub(super) struct PinnedState {
    pub(super) layers: Vec<(usize, Resource<CountedFiles>)>,
    pub(super) live: Twin<[u64; 2]>,
}

impl PinnedState {
    /// A state with the first `layers` of all layers.
    pub(super) fn first(all: &[CountedFiles], layers: usize) -> Self {
        Self { layers: (0..layers).map(|k| layer(all, k)).collect(), live: Twin::new([0, 0]) }
    }

    /// Checks a pinned state. Returns the number of its newest layer, and of the changes in place.
    pub(super) fn look(&self) -> (usize, u64) {
        assert!(
            self.layers.iter().all(|(_, files)| files.reclaimed() == 0),
            "a pinned state holds reclaimed files"
        );
        assert!(self.layers.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0), "a state lacks a layer");
        assert_eq!(self.live[0], self.live[1], "a pinned state is being changed");
        (self.layers[self.layers.len() - 1].0, self.live[0])
    }
}

fn layer(all: &[CountedFiles], k: usize) -> (usize, Resource<CountedFiles>) {
    (k, Resource::new(all[k].clone()))
}

/// Publishes one state for each layer of `all` that was not in a state yet. Each replaces the oldest layer by
/// the new one, and changes the twin that is not published in place.
pub(super) fn work(published: &Published<PinnedState>, all: &[CountedFiles]) {
    let (first, mut hidden) = {
        let state = published.pin();
        (state.layers[state.layers.len() - 1].0 + 1, Twin::new(*state.live))
    };
    for k in first..all.len() {
        let (mut layers, shown) = {
            let state = published.pin();
            (state.layers.clone(), state.live.clone())
        };
        layers.push(layer(all, k));
        let (_, oldest) = layers.remove(0);
        let next = shown[0] + 1;
        hidden.exclusive().iter_mut().for_each(|number| *number = next);
        published.publish(PinnedState { layers, live: hidden });
        hidden = shown;
        oldest.retire();
    }
}
