//! Pins on threads of the system. All their interleavings are tried by `tests/interleave`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::version::{Published, Reclaim, Resource};

/// Counts how often it was reclaimed.
#[derive(Debug, Clone, Default)]
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

#[test]
fn what_is_retired_goes_with_the_last_pin() {
    let files = Files::default();
    let resource = Resource::new(files.clone());
    let published = Published::new(Some(resource.clone()));
    let pinned = published.pin();
    let other = pinned.clone();
    published.publish(Some(resource.clone()));
    published.publish(None);
    resource.retire();
    assert!(published.pin().is_none() && pinned.is_some());
    drop(pinned);
    assert_eq!(files.reclaimed(), 0);
    drop(other);
    assert_eq!(files.reclaimed(), 1);
}

#[test]
fn what_is_not_retired_stays() {
    let files = Files::default();
    let published = Published::new(Resource::new(files.clone()));
    let pinned = published.pin();
    drop(published);
    drop(pinned);
    assert_eq!(files.reclaimed(), 0);
}

#[test]
fn readers_never_meet_what_was_reclaimed() {
    let all: Vec<Files> = (0..3000).map(|_| Files::default()).collect();
    let resource = |k: usize| (k, Resource::new(all[k].clone()));
    let published = Published::new((0..5).map(resource).collect::<Vec<_>>());
    let pins = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut newest = 0;
                while newest < all.len() - 1 {
                    let pinned = published.pin();
                    assert!(pinned[4].0 >= newest, "states come in order");
                    newest = pinned[4].0;
                    assert!(pinned.iter().all(|(_, files)| files.reclaimed() == 0));
                    assert!(pinned.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0), "a state is whole");
                    pins.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for k in 5..all.len() {
            let mut state = published.pin().to_vec();
            state.push(resource(k));
            let (_, oldest) = state.remove(0);
            published.publish(state);
            oldest.retire();
        }
    });
    assert!(pins.into_inner() >= 3);
    let gone: Vec<u32> = all.iter().map(Files::reclaimed).collect();
    assert!(gone[..all.len() - 5].iter().all(|&times| times == 1));
    assert_eq!(gone[all.len() - 5..], [0; 5]);
}
