//! Contradictions for which a manifest is refused.

use esker_format::{ElementType, LayerRecord, LogicalType, Owner, VECTOR_LEN_MAX};
use esker_graph::NONE;

use super::content::Manifest;
use super::forms::lacks_tiles;

impl Manifest {
    /// An inconsistency other than of tags. Time: O(layers + properties).
    pub(super) fn contradiction(&self) -> Option<&'static str> {
        let wrong = self.wrong_property().or_else(|| self.wrong_layer());
        wrong.or_else(|| self.wrong_version()).or_else(|| self.wrong_stream())
    }

    fn wrong_stream(&self) -> Option<&'static str> {
        let time = &self.stream.as_ref()?.time;
        let is_there = self.properties.iter().any(|one| one.owner == Owner::Edges && one.name == *time);
        (!is_there).then_some("the times of the stream are in an edge property that does not exist")
    }

    fn wrong_property(&self) -> Option<&'static str> {
        use ElementType::{F32, F64, I32, I64, U8, U16, U32};
        for owner in [Owner::Edges, Owner::Vertices] {
            if self.properties.iter().filter(|one| one.owner == owner && one.kind).count() > 1 {
                return Some("several properties are the kind");
            }
        }
        let mut next_numbers = [0; 2];
        for property in &self.properties {
            let next = &mut next_numbers[property.owner as usize - 1];
            if property.number != *next {
                return Some("properties are not numbered from 0");
            }
            *next += 1;
            let fits = match (&property.logical, property.weight) {
                (LogicalType::Text, _) => matches!(property.element, U8 | U16 | U32),
                (LogicalType::Vector { len }, _) => {
                    property.owner == Owner::Vertices
                        && matches!(property.element, F32 | F64)
                        && (1..=VECTOR_LEN_MAX).contains(len)
                }
                (LogicalType::Number, true) => matches!(property.element, I32 | I64 | F32 | F64),
                (logical, _) => logical.element().is_none_or(|element| element == property.element),
            };
            if !fits || (property.kind && !property.is_text()) {
                return Some("the type of a property does not fit its use");
            }
        }
        None
    }

    fn wrong_layer(&self) -> Option<&'static str> {
        let impossible = |layer: &LayerRecord| {
            layer.num_vertices > NONE as usize as u64
                || layer.first_version == 0
                || layer.first_version > layer.last_version
                || layer.last_version == u64::MAX
                || layer.number == 0
                || layer.number >= 1 << 24
                || layer.num_versions == 0
                || u64::from(layer.num_versions) > layer.last_version - layer.first_version + 1
                || (layer.in_edges && !layer.directed)
                || layer.num_edges > layer.num_arcs
                || layer.num_loops > layer.num_edges
        };
        if self.layers.iter().any(impossible) {
            return Some("the numbers of a layer contradict each other");
        }
        if self.layers.windows(2).any(|pair| pair[0].last_version >= pair[1].first_version) {
            return Some("a version is in two layers");
        }
        if self.layers.windows(2).any(|pair| pair[0].last_version + 1 < pair[1].first_version) {
            return Some("there is a gap between the versions of two layers");
        }
        let has_kinds = self.properties.iter().any(|one| one.owner == Owner::Edges && one.kind);
        let keeps = self.duplicates.map(|rule| rule.keeps_parallel() || has_kinds);
        if keeps.is_some_and(|keeps| self.layers.iter().any(|layer| layer.multigraph != keeps)) {
            return Some("the rule for duplicate edges does not fit the layers");
        }
        let lacking = self.layers.iter().any(|layer| lacks_tiles(layer, &self.tiles));
        let lacking = lacking.then_some("a layer that is kept in tiles alone has no tiles");
        lacking.or((!self.layers[0].complete).then_some("the oldest layer is not complete"))
    }

    fn wrong_version(&self) -> Option<&'static str> {
        let covered = self.layers[0].first_version..self.log_start().first_version;
        let ends = self.versions.first().into_iter().chain(self.versions.last());
        if ends.into_iter().any(|version| !covered.contains(&version.number)) {
            return Some("a version is not in any layer");
        }
        None
    }

    /// An inconsistency of tags. Time: O(tags * log versions).
    pub(super) fn wrong_tag(&self) -> Option<&'static str> {
        let is_unknown = |&version: &u64| self.version(version).is_none();
        self.tags.values().any(is_unknown).then_some("a tag names a version that does not exist")
    }
}
