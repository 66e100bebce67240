//! Facts that all candidates of a plan share, and obstacles to some of them.

use esker_algo::Shape;
use esker_graph::{Direction, Operation, STRIP_LEN, Setting, message};
use esker_store::layer::{PlainLayer, Section};
use esker_store::pool::PoolOptions;
use esker_store::tiles::MAPPED_WEIGHTS_MAX;
use esker_store::{Residency, View, WEIGHTS_MAX};

use super::access_path::AccessPath;
use super::candidate::{Candidate, absent};
use super::price::Price;
use crate::catalogue::{Entry, ReadPattern};

/// What a thread gathers for each vertex of a strip of tiles that others write to as well, at most.
const SHARED_VERTEX_BYTES: u64 = 16;

/// What all candidates depend on.
pub(super) struct Common<'a> {
    pub(super) view: &'a View,
    /// The algorithm.
    pub(super) entry: &'a Entry,
    /// The graph as the algorithm sees it.
    pub(super) shape: Shape,
    pub(super) threads: usize,
    /// Bytes of a weight; 0 if the algorithm does not read weights.
    pub(super) weight_bytes: u64,
    /// See [`Candidate::columns`].
    pub(super) columns: u64,
    /// Bytes of all lists and weights.
    pub(super) list_bytes: u64,
    /// Bytes that the run reads of uncompressed lists, and the bytes of these.
    pub(super) reads: (u64, u64),
    /// Memory beside lists that are found along their chains: the arrays of the algorithm, and the process.
    pub(super) base_bytes: u64,
    /// The same beside other lists, with what later layers change.
    pub(super) bounded_bytes: u64,
    /// The same beside tiles.
    pub(super) tiles_bytes: u64,
    /// Why the algorithm is for mapped lists only.
    pub(super) unsuited: Option<String>,
}

impl Common<'_> {
    /// Lists in a pool or headed, if these cannot serve.
    pub(super) fn hindered(&self, path: AccessPath) -> Option<Candidate> {
        // Missing in-lists are no obstacle of the view where the database keeps tiles only.
        let in_lists = || self.without_in_lists().filter(|_| !self.view.version().keeps_only_tiles());
        if let Some(reason) = self.filtered().or_else(in_lists) {
            return Some(absent(path, &reason).with_substitute());
        }
        let reason = self.unsuited.as_ref().filter(|_| self.view.version().keeps_only_tiles())?;
        let reason = esker_store::Error::invalid(message![
            format!("{reason}, and the lists are kept as tiles only: run it with "),
            Setting::Residency.to("mapped"),
            ", which decodes the lists that are read, or make lists with ",
            Operation::Compact.with(Setting::Encoding.to("plain")),
        ]);
        Some(absent(path, &reason))
    }

    /// Why lists are read from mapped files alone, or copied from these: edges are filtered by their
    /// properties.
    pub(super) fn filtered(&self) -> Option<esker_store::Error> {
        let message = "edges are filtered list by list as they lie in mapped files, or copied to memory";
        self.view.is_filtered().then(|| esker_store::Error::invalid(message.to_owned()))
    }

    /// Why lists are read with a copy in memory alone: in-lists are needed, and not kept.
    pub(super) fn without_in_lists(&self) -> Option<esker_store::Error> {
        if !self.view.makes_in_lists() {
            return None;
        }
        Some(esker_store::Error::invalid(message![
            format!("{} needs in-edges, and the graph is stored without them: run it with ", self.entry.name),
            Setting::Encoding.to("lists"),
            " ",
            Setting::Residency.to("memory"),
            ", which makes them there, or import the graph with in-edges",
        ]))
    }

    /// Whether mapped lists suffice although in-lists are needed and not stored: those of a window are made
    /// in memory; scans read tiles.
    pub(super) fn reads_in_lists_mapped(&self, pattern: ReadPattern) -> bool {
        let scans_tiles = self.view.version().keeps_only_tiles() && self.view.version().stack().is_plain();
        self.view.window_index().is_some() || scans_tiles && pattern != ReadPattern::Points
    }

    /// Tiles, mapped or pooled.
    pub(super) fn tiles(&self, path: AccessPath) -> Candidate {
        let filtered = self.filtered().filter(|_| self.entry.reads.pattern != ReadPattern::Points);
        if let Some(reason) = self.unsuited.as_ref().filter(|_| filtered.is_none()) {
            let lists = Setting::Encoding.to("lists");
            let reason = message![format!("{reason}, and tiles hold no lists: run it with "), lists];
            let reason = match self.view.version().keeps_only_tiles() {
                true => message![reason, " ", Setting::Residency.to("mapped")],
                false => reason,
            };
            return absent(path, &esker_store::Error::invalid(reason));
        }
        let time = self.view.window_lists().map(|lists| lists.time);
        let tiles = match self.view.version().tiles_with(time) {
            Ok(tiles) => tiles,
            Err(reason) => return absent(path, &reason),
        };
        // Tiles of one layer have in-edges; what later layers changed has not.
        let without_in_lists = || self.without_in_lists().filter(|_| !self.view.version().stack().is_plain());
        if let Some(reason) = filtered.or_else(without_in_lists) {
            return absent(path, &reason).with_substitute();
        }
        let weights = tiles.shape().num_edges * self.weight_bytes;
        let graph_bytes = tiles.file_bytes() + weights;
        let mapped = weights.min(MAPPED_WEIGHTS_MAX);
        let shared = (STRIP_LEN as u64).min(tiles.shape().num_vertices) * SHARED_VERTEX_BYTES;
        let base = self.tiles_bytes + shared * self.threads as u64;
        let least_bytes = match path == AccessPath::tiles(Residency::Mapped) {
            true => self.tiles_bytes,
            false => base + tiles.resident_bytes() + mapped + PoolOptions::default().bytes_min(),
        };
        self.candidate(path, graph_bytes, least_bytes, base + graph_bytes)
    }

    /// The reads of a run from an encoding of this size.
    pub(super) fn read_bytes(&self, graph_bytes: u64) -> u64 {
        let (read_bytes, uncompressed) = self.reads;
        let bytes = u128::from(read_bytes) * u128::from(graph_bytes) / u128::from(uncompressed.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Memory of the weights beside pooled or headed lists.
    pub(super) fn weights_beside(&self) -> u64 {
        let layer = self.view.version().complete_layer();
        // The times of a window are a column of their own.
        let times = self.view.window_index().map_or(0, |_| size_of::<i64>() as u64);
        let of_side = |section: &Section| {
            let arcs = section.main().num_arcs() as u64;
            [times, self.weight_bytes - times]
                .map(|bytes| (arcs * bytes).min(WEIGHTS_MAX))
                .iter()
                .sum::<u64>()
        };
        read_sections(self.view, layer).map(of_side).sum()
    }

    /// A candidate with the needs of an encoding of `graph_bytes`.
    pub(super) fn candidate(
        &self,
        path: AccessPath,
        graph_bytes: u64,
        least_bytes: u64,
        whole_bytes: u64,
    ) -> Candidate {
        let only_mapped_lists = path != AccessPath::lists(Residency::Mapped);
        Candidate {
            encoding: path.encoding,
            residency: path.residency,
            graph_bytes,
            read_bytes: self.read_bytes(graph_bytes),
            least_bytes,
            whole_bytes,
            columns: self.columns,
            price: Price::default(),
            obstacle: None,
            has_substitute: false,
            unsuited: self.unsuited.clone().filter(|_| only_mapped_lists),
        }
    }
}

/// The lists of a layer in the directions that a run reads.
pub(super) fn read_sections<'a>(view: &View, layer: &'a PlainLayer) -> impl Iterator<Item = &'a Section> {
    let out = Some(layer.out()).filter(|_| view.reads(Direction::Out));
    let incoming = layer.incoming().filter(|_| view.reads(Direction::In));
    out.into_iter().chain(incoming)
}
