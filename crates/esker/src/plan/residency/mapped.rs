//! Mapped files: the system's page cache decides what stays in memory.

use esker_store::{Access, GraphEncoding, Residency};

use crate::catalogue::ReadPattern;
use crate::error::Result;
use crate::plan::access_path::AccessPath;
use crate::plan::candidate::{Candidate, absent};
use crate::plan::common::Common;
use crate::plan::price::{Costs, Price};
use crate::plan::residency_entry::ResidencyEntry;
use crate::plan::windowed::copied_or_not;

pub(super) const ENTRY: ResidencyEntry = ResidencyEntry {
    residency: Residency::Mapped,
    name: "mapped",
    help: "Mapped: the system decides what stays in memory",
    encodings: &[(GraphEncoding::Lists, 0), (GraphEncoding::Tiles, 1)],
    treats_lists: "maps files",
    keeps_heads: false,
    follows_chains: true,
    needs,
    price,
    open: |candidate, _, _, _| Ok(Access::Mapped(candidate.encoding)),
};

fn needs(common: &Common<'_>, encoding: GraphEncoding) -> Result<Candidate> {
    match encoding {
        GraphEncoding::Lists => Ok(copied_or_not(lists(common), common.view, common.entry)),
        GraphEncoding::Tiles => Ok(common.tiles(AccessPath::tiles(Residency::Mapped))),
    }
}

/// Mapped lists. If the database keeps only tiles, each list is decoded from them; a scan of the whole graph
/// reads the tiles themselves in less time.
fn lists(common: &Common<'_>) -> Candidate {
    let path = AccessPath::lists(Residency::Mapped);
    let pattern = common.entry.reads.pattern;
    if let Some(reason) = common.without_in_lists().filter(|_| !common.reads_in_lists_mapped(pattern)) {
        return absent(path, &reason).with_substitute();
    }
    let is_alone = common.view.version().keeps_only_tiles();
    let base = common.base_bytes + common.view.version().decoded_bytes_max();
    let candidate = common.candidate(path, common.list_bytes, base, base + common.list_bytes);
    let reads_points = pattern == ReadPattern::Points || common.unsuited.is_some();
    let unsuited = (is_alone && !reads_points).then(|| "the lists are kept as tiles only".to_owned());
    Candidate { unsuited, ..candidate }
}

fn price(costs: &Costs<'_>, encoding: GraphEncoding, _memory_bytes: u64) -> Price {
    let decoding = costs.decoding(costs.scans().max(1.0), true);
    Price { computing: costs.computing(encoding), ..costs.reading_mapped(encoding, decoding) }
}
