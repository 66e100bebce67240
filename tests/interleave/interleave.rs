//! Readers that pin, and a writer that publishes and retires, in all interleavings of their steps that the memory model allows.
//! The code under test is the store's own file; only what it is synchronised by is loom's.

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, Ordering};
    pub(crate) use loom::sync::{Arc, RwLock};
}
#[path = "../../crates/esker-store/src/version/pins.rs"]
pub mod pins;

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use loom::thread;

    use super::pins::{Pinned, Published, Reclaim, Resource};

    /// Counts how often it was reclaimed. Not one of loom's counters: it is only to be looked at, not to be synchronised by.
    struct Files(Arc<AtomicU32>);

    impl Reclaim for Files {
        fn reclaim(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Files {
        fn reclaimed(&self) -> u32 {
            self.0.load(Ordering::SeqCst)
        }
    }

    type State = Vec<(usize, Resource<Files>)>;

    /// Reads all that a pinned state leads to.
    fn look(pinned: &Pinned<State>) -> usize {
        assert!(pinned.iter().all(|(_, files)| files.reclaimed() == 0), "nobody sees what was reclaimed");
        assert!(pinned.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0), "a state is whole");
        pinned[0].0
    }

    /// Each new state does without the oldest resource of the one before. What was reclaimed at the end.
    fn publish_and_retire(published: &Published<State>, counters: &[Arc<AtomicU32>], states: usize) {
        for k in 0..states {
            let mut state = published.pin().to_vec();
            state.push((k + 2, Resource::new(Files(Arc::clone(&counters[k + 2])))));
            let (_, oldest) = state.remove(0);
            published.publish(state);
            oldest.retire();
        }
    }

    fn explore(readers: usize, pins: usize, states: usize, preemptions: Option<usize>) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = preemptions;
        model.check(move || {
            let counters: Vec<Arc<AtomicU32>> = (0..states + 2).map(|_| Arc::default()).collect();
            let first = |k: usize| (k, Resource::new(Files(Arc::clone(&counters[k]))));
            let published = loom::sync::Arc::new(Published::new(vec![first(0), first(1)]));
            let threads: Vec<_> = (0..readers)
                .map(|_| {
                    let published = loom::sync::Arc::clone(&published);
                    thread::spawn(move || {
                        let mut newest = 0;
                        for _ in 0..pins {
                            let pinned = published.pin();
                            let seen = look(&pinned);
                            assert!(seen >= newest, "states come in order");
                            newest = seen;
                            thread::yield_now();
                            look(&pinned.clone());
                        }
                    })
                })
                .collect();
            publish_and_retire(&published, &counters, states);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            let times = |k: usize| counters[k].load(Ordering::SeqCst);
            assert!((0..states).all(|k| times(k) == 1), "what was retired is gone, once");
            drop(published);
            assert!((states..states + 2).all(|k| times(k) == 0), "what was not is there");
        });
    }

    #[test]
    fn a_reader_and_a_writer() {
        explore(1, 1, 2, None);
    }

    #[test]
    fn a_reader_that_pins_twice() {
        explore(1, 2, 2, None);
    }

    #[test]
    fn two_readers_and_a_writer() {
        explore(2, 1, 2, Some(3));
    }
}
