//! Some neighbours of each vertex in memory, the others on disk.

use esker_graph::{Run, Stop, VertexId};
use esker_store::{Access, GraphEncoding, HeadedOptions, Residency, View};

use crate::catalogue::Resources;
use crate::error::Result;
use crate::plan::access_path::AccessPath;
use crate::plan::candidate::{Candidate, Request, absent};
use crate::plan::common::Common;
use crate::plan::price::{Costs, Price};
use crate::plan::residency_entry::ResidencyEntry;
use crate::rates::Rate;

pub(super) const ENTRY: ResidencyEntry = ResidencyEntry {
    residency: Residency::Headed,
    name: "headed",
    help: "Some neighbours of each vertex in what the memory limit leaves, the others on disk",
    encodings: &[(GraphEncoding::Lists, 3)],
    treats_lists: "keeps heads of lists",
    keeps_heads: true,
    follows_chains: false,
    needs,
    price,
    open,
};

/// Bytes read for a byte of tails: reads are of whole pages.
const TAIL_BYTES: f64 = 1.4;
/// The part of the rate of long reads at which tails arrive: their reads are short.
const TAIL_PACE: f64 = 0.7;
/// Nanoseconds an arc of one thread that chooses heads by degree.
const CHOSEN_NS: f64 = 24.0;
/// The time of point reads over heads, by that of the same reads over a pool: on a graph with hubs, and on a
/// graph with equal degrees.
const HEADED_POINTS: (f64, f64) = (0.1, 0.5);

fn needs(common: &Common<'_>, _encoding: GraphEncoding) -> Result<Candidate> {
    let path = AccessPath::lists(Residency::Headed);
    if let Some(hindered) = common.hindered(path) {
        return Ok(hindered);
    }
    let needs = match common.view.headed_needs(common.threads) {
        Ok(needs) => needs,
        Err(reason) => return Ok(absent(path, &reason)),
    };
    let least_bytes = common.bounded_bytes
        + needs.fixed_bytes * common.columns
        + needs.mapped_bytes
        + common.weights_beside();
    let whole_bytes = least_bytes + needs.list_bytes * common.columns;
    Ok(common.candidate(path, common.list_bytes, least_bytes, whole_bytes))
}

/// Heads in memory, and tails on the disk.
fn price(costs: &Costs<'_>, encoding: GraphEncoding, memory_bytes: u64) -> Price {
    let mut price = Price { computing: costs.computing(encoding), ..Price::default() };
    let all = (costs.lists.bytes - costs.lists.weight_bytes).max(1) as f64;
    let ids = costs.num_arcs.saturating_mul(size_of::<VertexId>() as u64).max(1) as f64;
    let share = (memory_bytes as f64 / ids).min(1.0);
    let gathered = costs.head_bytes.map_or(all, |bytes| bytes as f64);
    price.verifying = costs.verifying(costs.offset_bytes.saturating_add(gathered as u64));
    price.gathering = costs.threaded(costs.num_arcs as f64 * share / costs.rates.of(Rate::Copy));
    if costs.head_bytes.is_none() && !costs.degrees.descend {
        price.gathering += costs.threaded(costs.machine() * costs.num_arcs as f64 * CHOSEN_NS * 1e-9);
    }
    // Where all lists are short, each page has some tail, so all pages are read.
    let skew = costs.degrees.skew;
    let read = (1.0 - share) * TAIL_BYTES * skew + (2.0 * (1.0 - share)).min(1.0) * (1.0 - skew);
    let scans = if costs.merges_directions { costs.work.scans_on(skew) } else { costs.work.tails_on(skew) };
    let mut tails = all * read * scans;
    if costs.work.reads_points() {
        // Single lists are mapped.
        let part = HEADED_POINTS.1 + (HEADED_POINTS.0 - HEADED_POINTS.1) * skew;
        price.computing += part * costs.points(1.0 - share);
        tails = costs.lists.uncached_bytes as f64;
    }
    // Heads are read past the page cache, as tails are.
    price.reading = (gathered + tails / TAIL_PACE) / costs.rates.of(Rate::ReadBytes);
    price.disk_bytes = (gathered + tails) as u64;
    price
}

fn open(candidate: &Candidate, view: &View, request: &Request, resources: &Resources) -> Result<Access> {
    let needs = view.headed_needs(resources.threads)?;
    let memory_bytes = candidate.spare_bytes(resources) / candidate.columns + needs.fixed_bytes;
    let options = HeadedOptions { head_len: request.head_len, memory_bytes };
    if request.head_len.is_some() {
        // Refuse heads that are too long now, with the limit of the whole run.
        let found = needs.heads(view.version().complete_layer(), options, &Run::with_threads(1)?);
        found.map_err(|error| with_rest(error, candidate.columns, resources.memory.bytes()))?;
    }
    Ok(Access::Headed(options))
}

/// Turns the refusal of one of some equal parts of the memory into one of the whole.
fn with_rest(error: esker_store::Error, parts: u64, memory_bytes: u64) -> esker_store::Error {
    match error {
        esker_store::Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes }) => {
            let needed_bytes = memory_bytes + needed_bytes.saturating_sub(budget_bytes) * parts;
            Stop::OverBudget { what, needed_bytes, budget_bytes: memory_bytes }.into()
        }
        other => other,
    }
}
