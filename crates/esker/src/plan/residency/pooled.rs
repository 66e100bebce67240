//! Extents read past the page cache into a pool of fixed size.

use esker_graph::VertexId;
use esker_store::pool::PoolOptions;
use esker_store::{Access, GraphEncoding, Residency, View};

use crate::catalogue::Resources;
use crate::error::Result;
use crate::plan::access_path::AccessPath;
use crate::plan::candidate::{Candidate, Request, absent};
use crate::plan::common::Common;
use crate::plan::price::{Costs, Price};
use crate::plan::residency_entry::ResidencyEntry;
use crate::rates::Rate;

pub(super) const ENTRY: ResidencyEntry = ResidencyEntry {
    residency: Residency::Pooled,
    name: "pooled",
    help: "Parts of the tiles or lists, read past the system into what the memory limit leaves",
    encodings: &[(GraphEncoding::Tiles, 2), (GraphEncoding::Lists, 4)],
    treats_lists: "reads extents",
    keeps_heads: false,
    follows_chains: false,
    needs,
    price,
    open,
};

fn needs(common: &Common<'_>, encoding: GraphEncoding) -> Result<Candidate> {
    match encoding {
        GraphEncoding::Lists => Ok(lists(common)),
        GraphEncoding::Tiles => Ok(common.tiles(AccessPath::tiles(Residency::Pooled))),
    }
}

fn lists(common: &Common<'_>) -> Candidate {
    let path = AccessPath::lists(Residency::Pooled);
    if let Some(hindered) = common.hindered(path) {
        return hindered;
    }
    let needs = match common.view.pooled_needs(common.threads) {
        Ok(needs) => needs,
        Err(reason) => return absent(path, &reason),
    };
    let fixed = common.bounded_bytes
        + needs.fixed_bytes * common.columns
        + needs.mapped_bytes
        + common.weights_beside();
    let whole_bytes = fixed + needs.list_bytes.max(needs.least_bytes) * common.columns;
    common.candidate(path, common.list_bytes, fixed + needs.least_bytes * common.columns, whole_bytes)
}

fn price(costs: &Costs<'_>, encoding: GraphEncoding, memory_bytes: u64) -> Price {
    let stored = costs.stored(encoding);
    let is_twice = encoding == GraphEncoding::Tiles && costs.merges_directions;
    let scans = costs.scans().max(0.0) * if is_twice { 2.0 } else { 1.0 };
    let disk_bytes = read_bytes(costs, stored.bytes - stored.weight_bytes, memory_bytes, scans);
    // The system makes the pages of a pool, as it does for a copy.
    let bytes_copied = costs.rates.of(Rate::Copy) * size_of::<VertexId>() as f64;
    let outside = 1.0 - memory_bytes as f64 / stored.bytes.max(1) as f64;
    Price {
        reading: costs.seconds(disk_bytes, Rate::ReadBytes),
        verifying: costs.verifying(costs.offset_bytes.saturating_add(disk_bytes)),
        gathering: stored.bytes.min(memory_bytes) as f64 / bytes_copied,
        computing: costs.computing(encoding) + costs.points(outside),
        disk_bytes,
        ..Price::default()
    }
}

/// Bytes that a pool reads: each scan those that are not in memory from the one before.
fn read_bytes(costs: &Costs<'_>, bytes: u64, memory_bytes: u64, scans: f64) -> u64 {
    if costs.work.reads_points() {
        // What the pool has no room for is mapped.
        let outside = bytes.saturating_sub(memory_bytes).min(costs.lists.uncached_bytes);
        return bytes.min(memory_bytes) + outside;
    }
    let beyond = bytes.saturating_sub(memory_bytes) as f64;
    (bytes as f64 * scans.min(1.0) + beyond * (scans - 1.0).max(0.0)) as u64
}

fn open(candidate: &Candidate, view: &View, _request: &Request, resources: &Resources) -> Result<Access> {
    let spare = candidate.spare_bytes(resources);
    let pool = match candidate.encoding {
        GraphEncoding::Tiles => {
            let options = PoolOptions::default();
            PoolOptions { bytes: spare + options.bytes_min(), ..options }
        }
        GraphEncoding::Lists => {
            let needs = view.pooled_needs(resources.threads)?;
            PoolOptions { bytes: spare + needs.least_bytes * candidate.columns, ..PoolOptions::of_lists() }
        }
    };
    Ok(Access::Pooled(candidate.encoding, pool))
}
