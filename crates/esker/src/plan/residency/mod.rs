//! The catalogue of residencies: one entry for each. Requests, candidates, prices and both interfaces ask its
//! entry for everything that depends on a residency.

mod mapped;
mod pooled;
mod headed;
mod memory;

use esker_graph::{Message, Setting, message};
use esker_store::{GraphEncoding, Residency};

use super::access_path::AccessPath;
use super::candidate::{Candidate, encoding_name};
use super::common::Common;
use super::price::{Costs, Price, graph_memory_bytes};
use super::residency_entry::ResidencyEntry;
use crate::error::Result;

/// All residencies, in the order of [`Residency`], in which help lists them.
pub static RESIDENCIES: [ResidencyEntry; Residency::COUNT] =
    [mapped::ENTRY, pooled::ENTRY, headed::ENTRY, memory::ENTRY];

/// The place of an entry is the number of its residency: checked when this is compiled.
const _: () = {
    let mut place = 0;
    while place < RESIDENCIES.len() {
        let is_in_place = RESIDENCIES[place].residency as usize == place;
        assert!(is_in_place, "an entry stands in another place than its residency");
        place += 1;
    }
};

impl ResidencyEntry {
    /// The entry of a residency.
    pub fn of(residency: Residency) -> &'static Self {
        &RESIDENCIES[residency as usize]
    }

    /// The entry of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        RESIDENCIES.iter().find(|entry| entry.name == name)
    }

    /// Whether a run finds lists along their chains in this encoding: tiles are of the complete layer alone.
    pub(super) fn follows_chains_in(&self, encoding: GraphEncoding) -> bool {
        self.follows_chains && encoding == GraphEncoding::Lists
    }

    /// Why it cannot read an encoding that is asked for, if it cannot.
    pub(super) fn refuses(&self, encoding: GraphEncoding) -> Option<Message> {
        if self.encodings.iter().any(|&(one, _)| one == encoding) {
            return None;
        }
        let (own, lists) = (Setting::Residency.to(self.name), Setting::Encoding.to("lists"));
        Some(message![own, format!(" {}: it needs ", self.treats_lists), lists])
    }
}

impl Candidate {
    /// The entry of its residency.
    pub(super) fn entry(&self) -> &'static ResidencyEntry {
        ResidencyEntry::of(self.residency)
    }

    /// `lists, mapped` and so on.
    pub fn name(&self) -> String {
        name(self.encoding, self.residency)
    }
}

/// `lists, mapped` and so on.
pub fn name(encoding: GraphEncoding, residency: Residency) -> String {
    format!("{}, {}", encoding_name(encoding), ResidencyEntry::of(residency).name)
}

/// The residency that keeps heads.
pub(super) fn with_heads() -> &'static ResidencyEntry {
    RESIDENCIES.iter().find(|entry| entry.keeps_heads).expect("one residency keeps heads")
}

/// All candidates, in the order of preference.
pub(super) fn candidates(common: &Common<'_>) -> Result<Vec<Candidate>> {
    let of_entry = |entry: &'static ResidencyEntry| entry.encodings.iter().map(move |&read| (entry, read));
    let mut paths: Vec<_> = RESIDENCIES.iter().flat_map(of_entry).collect();
    paths.sort_by_key(|(_, (_, place))| *place);
    paths.into_iter().map(|(entry, (encoding, _))| (entry.needs)(common, encoding)).collect()
}

/// The price of a candidate that needs at least `least_bytes`, in `memory_bytes`.
pub(super) fn price(costs: &Costs<'_>, path: AccessPath, least_bytes: u64, memory_bytes: u64) -> Price {
    let entry = ResidencyEntry::of(path.residency);
    let mut price = (entry.price)(costs, path.encoding, graph_memory_bytes(least_bytes, memory_bytes));
    if !entry.follows_chains_in(path.encoding) {
        price.gathering += costs.gathering_later();
    }
    Price { opening: costs.opening(), ..price }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_reads_back() {
        for entry in &RESIDENCIES {
            let found = ResidencyEntry::find(entry.name).expect("its name");
            assert_eq!(found.residency, entry.residency);
        }
        assert!(ResidencyEntry::find("nowhere").is_none());
    }

    #[test]
    fn no_two_candidates_share_a_place() {
        let places: Vec<u8> =
            RESIDENCIES.iter().flat_map(|entry| entry.encodings.iter().map(|&(_, place)| place)).collect();
        assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), places.len(), "{places:?}");
    }
}
