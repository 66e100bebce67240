//! Tests of pins on system threads. `tests/interleave` tests all interleavings.

use std::sync::atomic::{AtomicU64, Ordering};

use super::pins::{Published, Resource};
use super::pins_testing::{CountedFiles, PinnedState, work};

#[test]
fn a_retired_resource_is_reclaimed_with_the_last_pin() {
    let files = CountedFiles::default();
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
fn a_resource_that_was_not_retired_is_not_reclaimed() {
    let files = CountedFiles::default();
    let published = Published::new(Resource::new(files.clone()));
    let pinned = published.pin();
    drop(published);
    drop(pinned);
    assert_eq!(files.reclaimed(), 0);
}

#[test]
fn readers_never_see_reclaimed_files_or_partial_changes() {
    let all: Vec<CountedFiles> = (0..3000).map(|_| CountedFiles::default()).collect();
    let published = Published::new(PinnedState::first(&all, 5));
    let pins = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut newest = (0, 0);
                while newest.0 < all.len() - 1 {
                    let seen = published.pin().look();
                    assert!(seen >= newest, "a later pin returned an older state");
                    newest = seen;
                    pins.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        work(&published, &all);
    });
    assert!(pins.into_inner() >= 3);
    let reclaimed: Vec<u32> = all.iter().map(CountedFiles::reclaimed).collect();
    assert!(reclaimed[..all.len() - 5].iter().all(|&times| times == 1));
    assert_eq!(reclaimed[all.len() - 5..], [0; 5]);
}
