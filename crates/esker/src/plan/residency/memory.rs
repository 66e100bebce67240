//! Lists copied to memory as plain rows, whatever the layers of the version are.

use esker_graph::Direction;
use esker_store::{Access, GraphEncoding, Residency, copied_bytes};

use super::mapped;
use crate::error::Result;
use crate::plan::access_path::AccessPath;
use crate::plan::candidate::Candidate;
use crate::plan::common::Common;
use crate::plan::price::{Costs, Price};
use crate::plan::residency_entry::ResidencyEntry;
use crate::plan::windowed::copied_window;
use crate::rates::Rate;

pub(super) const ENTRY: ResidencyEntry = ResidencyEntry {
    residency: Residency::Memory,
    name: "memory",
    help: "All lists, copied to memory: fast though they are compressed, or spread over many commits",
    encodings: &[(GraphEncoding::Lists, 5)],
    treats_lists: "copies lists",
    keeps_heads: false,
    follows_chains: true,
    needs,
    price,
    open: |_, _, _, _| Ok(Access::Memory),
};

fn needs(common: &Common<'_>, _encoding: GraphEncoding) -> Result<Candidate> {
    let lists = (mapped::ENTRY.needs)(common, GraphEncoding::Lists)?;
    let window = copied_window(&lists, common.view, common.entry, common.base_bytes);
    Ok(window.unwrap_or_else(|| copied(common)))
}

fn copied(common: &Common<'_>) -> Candidate {
    let path = AccessPath::lists(Residency::Memory);
    let (view, shape, base) = (common.view, &common.shape, common.base_bytes);
    if view.makes_in_lists() {
        let sides = 2 * copied_bytes(shape.num_vertices, view.num_arcs(), shape.weight_bytes);
        return common.candidate(path, sides, base + sides, base + sides).suited();
    }
    let read = [Direction::Out, Direction::In].map(|direction| view.reads(direction));
    let sides = if shape.directed { read.into_iter().filter(|&reads| reads).count() as u64 } else { 1 };
    let bytes = sides * copied_bytes(shape.num_vertices, shape.num_arcs, shape.weight_bytes);
    let candidate = common.candidate(path, bytes, base + bytes, base + bytes);
    // A copy is for any algorithm.
    Candidate { read_bytes: common.reads.0, unsuited: None, ..candidate }
}

fn price(costs: &Costs<'_>, encoding: GraphEncoding, _memory_bytes: u64) -> Price {
    let rate = if costs.num_layers > 1 { Rate::CopyLayers } else { Rate::Copy };
    let mut seconds_per_arc = 1.0 / costs.rates.of(rate);
    if costs.is_compressed {
        // Rates of copies are of plain lists.
        seconds_per_arc += costs.beyond_plain(Rate::ScanCompressed);
    }
    let mapped = costs.reading_mapped(encoding, costs.decoding(1.0, false));
    let gathering = mapped.gathering + costs.threaded(costs.num_arcs as f64 * seconds_per_arc);
    Price { computing: costs.computing_in_memory(), gathering, ..mapped }
}
