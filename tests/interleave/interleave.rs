//! Tries readers that pin, and a writer that publishes, retires and changes in place, in all interleavings of
//! their steps that the memory model allows. The code under test is the store's own file, through which
//! `Database` publishes its state; only the primitives of synchronisation are loom's.

#[cfg(test)]
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, Ordering};
    pub(crate) use loom::sync::{Arc, RwLock};

    pub(crate) fn pause(_waited: u32) {
        loom::thread::yield_now();
    }
}
#[cfg(test)]
#[path = "../../crates/esker-store/src/manifest/pins.rs"]
mod pins;
#[cfg(test)]
#[path = "../../crates/esker-store/src/manifest/pins_testing.rs"]
mod pins_testing;

#[cfg(test)]
mod tests {
    use loom::thread;

    use super::pins::Published;
    use super::pins_testing::{CountedFiles, PinnedState, work};

    fn explore(readers: usize, pins: usize, states: usize, preemptions: Option<usize>) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = preemptions;
        model.check(move || {
            let all: Vec<CountedFiles> = (0..states + 2).map(|_| CountedFiles::default()).collect();
            let published = loom::sync::Arc::new(Published::new(PinnedState::first(&all, 2)));
            let threads: Vec<_> = (0..readers)
                .map(|_| {
                    let published = loom::sync::Arc::clone(&published);
                    thread::spawn(move || {
                        let mut newest = (0, 0);
                        for _ in 0..pins {
                            let pinned = published.pin();
                            let seen = pinned.look();
                            assert!(seen >= newest, "states come in order");
                            newest = seen;
                            thread::yield_now();
                            assert_eq!(pinned.clone().look(), seen, "what is pinned stays as it is");
                        }
                    })
                })
                .collect();
            work(&published, &all);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert!(
                all[..states].iter().all(|files| files.reclaimed() == 1),
                "what was retired is gone, once"
            );
            drop(published);
            assert!(all[states..].iter().all(|files| files.reclaimed() == 0), "what was not is there");
        });
    }

    #[test]
    fn a_reader_and_a_writer() {
        explore(1, 1, 3, None);
    }

    #[test]
    fn a_reader_that_pins_twice() {
        explore(1, 2, 2, Some(4));
    }

    #[test]
    fn two_readers_and_a_writer() {
        explore(2, 1, 2, Some(3));
    }
}
