//! Tests of dictionaries of several layers.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, FaultyDisk};
use esker_format::{DatabaseId, DictionaryRecord, Origin, Result, Stamp};
use esker_graph::Run;

use super::dictionary::{Dictionary, DictionarySegment, merge_dictionaries};
use crate::layer::{DictionaryFiles, PlainWriter};

const ORIGIN: Origin = Origin { database: DatabaseId([1; 16]), stamp: Stamp([7; 16]) };

fn run() -> Run {
    Run::with_threads(1).unwrap()
}

/// Writes what each layer adds; `merge` writes them as one layer too.
struct Layers {
    disk: FaultyDisk,
    segments: Vec<Arc<DictionarySegment>>,
}

impl Layers {
    fn new(parts: &[Vec<Vec<u8>>]) -> Self {
        let mut layers = Self { disk: FaultyDisk::new(1), segments: Vec::new() };
        let mut first = 0;
        for (number, part) in parts.iter().enumerate() {
            let directory = format!("l{number}");
            layers.disk.create_directory(Path::new(&directory)).unwrap();
            let texts: Vec<&[u8]> = part.iter().map(Vec::as_slice).collect();
            let writer = PlainWriter::new(&layers.disk, Path::new(&directory), ORIGIN);
            assert_eq!(writer.dictionary_of(3, &texts).unwrap(), part.len() as u64);
            let segment = layers.open(&directory, first, part.len() as u64).unwrap();
            layers.segments.push(segment);
            first += part.len() as u64;
        }
        layers
    }

    fn open(&self, directory: &str, first: u64, count: u64) -> Result<Arc<DictionarySegment>> {
        let paths = DictionaryFiles::in_layer(Path::new(directory), 3);
        let record = DictionaryRecord { property: 3, first, count };
        DictionarySegment::open(&self.disk, &paths, &record, ORIGIN).map(Arc::new)
    }

    fn merged(&self, from: usize) -> Arc<DictionarySegment> {
        let parts = &self.segments[from..];
        let directory = format!("m{from}");
        self.disk.create_directory(Path::new(&directory)).unwrap();
        let writer = PlainWriter::new(&self.disk, Path::new(&directory), ORIGIN).dictionary(3).unwrap();
        let count = merge_dictionaries(writer, parts, &run()).unwrap();
        self.open(&directory, parts[0].first(), count).unwrap()
    }
}

fn is_as(dictionary: &Dictionary, expected: &[Vec<u8>]) {
    assert_eq!(dictionary.len(), expected.len());
    for (code, text) in expected.iter().enumerate() {
        assert_eq!(dictionary.text(code).unwrap(), text);
        assert_eq!(dictionary.code_of(text).unwrap(), Some(code));
        let longer = [text, &b"\0"[..]].concat();
        assert_eq!(dictionary.code_of(&longer).unwrap(), None);
    }
    dictionary.verify(&run()).unwrap();
}

#[test]
fn a_text_is_found_in_the_layer_that_added_it() {
    let text = |i: usize| format!("text {}", i * 7919 % 1009).into_bytes();
    let mut all: Vec<Vec<u8>> = (1..1000).map(text).collect();
    all[17].clear();
    all[400] = b"\xff".to_vec();
    // The base of an import ascends; one text, none, many.
    all[..500].sort();
    for cuts in [vec![500], vec![0, 500, 501, 900], vec![1, 2, 3], vec![]] {
        let ends = cuts.iter().copied().chain([all.len()]);
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let parts: Vec<Vec<Vec<u8>>> = starts.zip(ends).map(|(a, b)| all[a..b].to_vec()).collect();
        let layers = Layers::new(&parts);
        is_as(&Dictionary::new(layers.segments.clone()).unwrap(), &all);
        for from in 0..parts.len() {
            let mut segments = layers.segments[..from].to_vec();
            segments.push(layers.merged(from));
            is_as(&Dictionary::new(segments).unwrap(), &all);
        }
    }
}

#[test]
fn texts_that_are_there_twice_or_in_another_order_are_damage() {
    let texts = |list: &[&str]| list.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    let refused = |parts: &[Vec<Vec<u8>>]| {
        let dictionary = Dictionary::new(Layers::new(parts).segments).unwrap();
        dictionary.verify(&run()).unwrap_err().to_string()
    };
    for parts in [vec![texts(&["b", "a", "b"])], vec![texts(&["a", "b"]), texts(&["c", "b"])]] {
        assert!(refused(&parts).contains("the texts of the dictionary are not distinct"));
    }
    let layers = Layers::new(&[]);
    for (order, reason) in [(vec![0, 1, 2], "order"), (vec![1, 3, 0], "text 3 of 3"), (vec![1, 2], "2")] {
        let directory = format!("{reason} {}", order.len());
        layers.disk.create_directory(Path::new(&directory)).unwrap();
        let mut writer = PlainWriter::new(&layers.disk, Path::new(&directory), ORIGIN).dictionary(3).unwrap();
        ["b", "a", "c"].iter().try_for_each(|text| writer.push(text.as_bytes())).unwrap();
        writer.finish(|| Ok(order.into_iter().map(Ok))).unwrap();
        let found = layers.open(&directory, 0, 3).and_then(|segment| {
            Dictionary::new(vec![segment]).and_then(|dictionary| dictionary.verify(&run()))
        });
        let found = found.unwrap_err().to_string();
        assert!(found.contains("dictionary.3.order") && found.contains(reason), "{found}");
    }
}
