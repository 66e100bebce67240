//! Where all maps lie, and the files that they are of: a table that the handler of a signal can read.
#![allow(unsafe_code)] // A table without locks, whose pieces are reached by pointers.

use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Maps of one piece of the table.
const PIECE: usize = 256;
/// The start of a place that is being filled.
const CLAIMED: usize = 1;

/// Where one map lies, and the path of its file.
#[derive(Debug)]
struct MapPlace {
    /// 0: the place is free.
    start: AtomicUsize,
    end: AtomicUsize,
    path: AtomicPtr<u8>,
    path_bytes: AtomicUsize,
    /// Set once a page of the file could not be read.
    failed: AtomicPtr<AtomicBool>,
}

/// A map that the handler of a signal found. Its pointers are valid as long as the map exists.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(super) struct FoundMap {
    pub(super) end: usize,
    pub(super) path: *const u8,
    pub(super) path_bytes: usize,
    pub(super) failed: *const AtomicBool,
}

/// A piece of the table of all maps. Pieces are never removed, so the handler of a signal can walk them.
#[derive(Debug)]
struct TablePiece {
    places: [MapPlace; PIECE],
    next: AtomicPtr<TablePiece>,
}

impl MapPlace {
    const fn free() -> Self {
        let [start, end, path_bytes] = [const { AtomicUsize::new(0) }; 3];
        let (path, failed) = (AtomicPtr::new(null_mut()), AtomicPtr::new(null_mut()));
        Self { start, end, path, path_bytes, failed }
    }
}

impl TablePiece {
    const fn new() -> Self {
        Self { places: [const { MapPlace::free() }; PIECE], next: AtomicPtr::new(null_mut()) }
    }
}

static MAPS: TablePiece = TablePiece::new();

/// The entry of a map in the table, until it is dropped. Drop it before the map and the path.
#[derive(Debug)]
pub(super) struct MapEntry(&'static MapPlace);

impl MapEntry {
    /// Enters a map of a file at `path`. `failed` is set when a page cannot be read. The bytes of all three
    /// stay where they are as long as the entry lives.
    pub(super) fn new(map: &[u8], path: &Path, failed: &AtomicBool) -> Self {
        let place = claim();
        let path = path.as_os_str().as_encoded_bytes();
        place.path.store(path.as_ptr().cast_mut(), Ordering::Relaxed);
        place.path_bytes.store(path.len(), Ordering::Relaxed);
        place.failed.store(std::ptr::from_ref(failed).cast_mut(), Ordering::Relaxed);
        let start = map.as_ptr() as usize;
        place.end.store(start + map.len(), Ordering::Relaxed);
        place.start.store(start, Ordering::Release);
        Self(place)
    }
}

impl Drop for MapEntry {
    fn drop(&mut self) {
        self.0.start.store(0, Ordering::Release);
    }
}

/// A free place, now claimed.
fn claim() -> &'static MapPlace {
    let mut piece = &MAPS;
    loop {
        let is_claimed = |place: &&MapPlace| {
            place.start.compare_exchange(0, CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        if let Some(place) = piece.places.iter().find(is_claimed) {
            return place;
        }
        piece = next(piece).unwrap_or_else(|| {
            let new = Box::into_raw(Box::new(TablePiece::new()));
            match piece.next.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: `new` comes from a box and is in the table now, which never removes it.
                Ok(_) => unsafe { &*new },
                Err(other) => {
                    // SAFETY: another thread was faster; nobody else knows `new`. `other` is in the table,
                    // which never removes it.
                    unsafe {
                        drop(Box::from_raw(new));
                        &*other
                    }
                }
            }
        });
    }
}

fn next(piece: &TablePiece) -> Option<&'static TablePiece> {
    let next = piece.next.load(Ordering::Acquire);
    // SAFETY: null, or a piece in the table, which never removes it.
    unsafe { next.as_ref() }
}

/// The map that has `address`.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(super) fn map_at(address: usize) -> Option<FoundMap> {
    let mut piece = Some(&MAPS);
    while let Some(current) = piece {
        for place in &current.places {
            let start = place.start.load(Ordering::Acquire);
            let end = place.end.load(Ordering::Relaxed);
            if start > CLAIMED && (start..end).contains(&address) {
                return Some(FoundMap {
                    end,
                    path: place.path.load(Ordering::Relaxed).cast_const(),
                    path_bytes: place.path_bytes.load(Ordering::Relaxed),
                    failed: place.failed.load(Ordering::Relaxed).cast_const(),
                });
            }
        }
        piece = next(current);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_the_maps_that_exist() {
        let maps: Vec<Vec<u8>> = (0..600).map(|i| vec![i as u8; 8]).collect();
        let (path, failed) = (Path::new("a file"), AtomicBool::new(false));
        let entries: Vec<MapEntry> = maps.iter().map(|map| MapEntry::new(map, path, &failed)).collect();
        let is_known =
            |map: &[u8]| map_at(map.as_ptr() as usize + 7).is_some_and(|found| found.path_bytes == 6);
        assert!(maps.iter().all(|map| is_known(map)));
        drop(entries);
        assert!(!maps.iter().any(|map| is_known(map)));
    }
}
