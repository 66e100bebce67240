//! A small graph whose versions follow from their numbers, and sums to compare versions with.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use esker_graph::Direction;
use esker_graph::random::{Random, hash};
use esker_import::install::import;
use esker_import::open::open_reader;
use esker_import::options::ImportOptions;
use esker_import::read::format::ReadOptions;
use esker_store::ids::ExternalId;
use esker_store::io::Disk;
use esker_store::manifest::StagingOptions;
use esker_store::property::PropertyValue;
use esker_store::{Batch, Result, Version};

/// Vertices have ids from 0 to here.
pub(crate) const NUM_IDS: u64 = 200;

/// Edges and their weights.
#[derive(Debug, Clone, Default)]
pub(crate) struct Edges(BTreeMap<(u64, u64), i32>);

/// An edge is set, or removed.
pub(crate) type Change = (u64, u64, Option<i32>);

impl Edges {
    /// The imported edges: a ring.
    pub(crate) fn imported() -> Self {
        Self((0..NUM_IDS).map(|u| ((u, (u + 1) % NUM_IDS), 7)).collect())
    }

    pub(crate) fn change(&mut self, changes: &[Change]) {
        for &(u, v, weight) in changes {
            match weight {
                Some(weight) => drop(self.0.insert((u, v), weight)),
                None => drop(self.0.remove(&(u, v))),
            }
        }
    }

    /// A sum over all edges whose source leaves `part` when divided by `parts`.
    pub(crate) fn sum(&self, part: u64, parts: u64) -> u64 {
        let own = self.0.iter().filter(|((u, _), _)| u % parts == part);
        own.fold(0, |sum, (&(u, v), &weight)| sum.wrapping_add(of_edge(u, v, weight)))
    }

    pub(crate) fn get(&self, u: u64, v: u64) -> Option<i32> {
        self.0.get(&(u, v)).copied()
    }

    /// Writes them as a database on a disk.
    pub(crate) fn import(&self, disk: &Arc<dyn Disk>, target: &Path) {
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join("in.wel");
        let mut file = std::fs::File::create(&input).unwrap();
        for (&(u, v), weight) in &self.0 {
            writeln!(file, "{u} {v} {weight}").unwrap();
        }
        let reader = open_reader(&[input.to_str().unwrap()], &ReadOptions::default()).unwrap();
        let options = ImportOptions { threads: 1, memory_bytes: 16 << 20, ..ImportOptions::default() };
        import(disk, reader, target, &options, StagingOptions::default()).unwrap();
    }
}

fn of_edge(u: u64, v: u64, weight: i32) -> u64 {
    hash(hash(hash(u) ^ v) ^ u64::from(weight.cast_unsigned()))
}

/// The changes of the commit that makes a version: 1 to 12 edges.
pub(crate) fn changes_of(version: u64) -> Vec<Change> {
    let mut noise = Random::new(version * 1000);
    let count = 1 + noise.below(12);
    (0..count).map(|_| random_change(&mut noise, 0, 1)).collect()
}

/// A change of an edge whose source leaves `part` when divided by `parts`.
pub(crate) fn random_change(noise: &mut Random, part: u64, parts: u64) -> Change {
    // Some vertices have many edges, and some are new.
    let u = noise.below(NUM_IDS / parts) * parts + part;
    let v = noise.below(NUM_IDS + 40) * noise.below(NUM_IDS) / NUM_IDS;
    (u, v, (noise.below(3) > 0).then(|| noise.below(100) as i32))
}

/// Puts changes into a batch.
pub(crate) fn fill(batch: &mut Batch, changes: &[Change]) -> Result<()> {
    changes.iter().try_for_each(|&(u, v, weight)| match weight {
        Some(weight) => batch.add_edge(u, v, &[PropertyValue::I32(weight)]),
        None => batch.remove_edge(u, v),
    })
}

/// As [`Edges::sum`], for all parts, of a version that is stored.
pub(crate) fn sums_of(version: &Version, parts: u64) -> Result<Vec<u64>> {
    let mut sums = vec![0_u64; parts as usize];
    let id = |v| -> Result<u64> {
        match version.ids().external_of(v)? {
            ExternalId::Int(id) => Ok(id),
            ExternalId::Text(text) => panic!("{text:?} is no integer"),
        }
    };
    let mut arcs = 0;
    for v in (0..version.num_vertices()).map(esker_graph::vertex) {
        let u = id(v)?;
        let edges = version.edges(Direction::Out, v)?;
        let sum = &mut sums[(u % parts) as usize];
        for (index, &target) in edges.targets().iter().enumerate() {
            let weight = (edges.bits(0, index)? as u32).cast_signed();
            *sum = sum.wrapping_add(of_edge(u, id(target)?, weight));
        }
        arcs += edges.targets().len() as u64;
    }
    assert_eq!(arcs, version.num_edges(), "version {}", version.number());
    Ok(sums)
}
