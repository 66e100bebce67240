//! What the blocks of a GraphML document are parsed by.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use esker_format::PropertyType;

use super::keys::{GraphmlHeader, KeyKind, value_of};
use crate::attributed::choose::ChosenProperties;
use crate::attributed::rows::{Elements, Notices};
use crate::attributed::value::Attribute;
use crate::read::format::ReadOptions;

/// A key of vertices, and the place of its property.
pub(super) struct VertexKey {
    pub(super) place: usize,
    pub(super) kind: KeyKind,
}

/// A key of edges, and the place of its property if it is kept.
pub(super) struct EdgeKey {
    pub(super) place: Option<usize>,
    pub(super) kind: KeyKind,
}

/// Parses blocks; see `walk`.
pub(super) struct GraphmlParser {
    pub(super) elements: Elements,
    pub(super) vertex_keys: HashMap<String, VertexKey>,
    pub(super) edge_keys: HashMap<String, EdgeKey>,
    /// The properties of vertices: their names, types and defaults.
    pub(super) vertex_properties: Vec<(String, Option<PropertyType>, Option<Attribute<'static>>)>,
}

impl GraphmlParser {
    pub(super) fn new(
        path: Arc<PathBuf>,
        text_ids: bool,
        header: &GraphmlHeader,
        chosen: ChosenProperties,
        options: &ReadOptions,
    ) -> Self {
        let (mut vertex_keys, mut edge_keys) = (HashMap::new(), HashMap::new());
        let mut vertex_properties: Vec<(String, Option<PropertyType>, Option<Attribute<'static>>)> =
            Vec::new();
        for key in &header.keys {
            if key.of_edges {
                let place = if key.kind == KeyKind::Unread { None } else { chosen.place(&key.name) };
                edge_keys.insert(key.id.clone(), EdgeKey { place, kind: key.kind.clone() });
            }
            if !key.of_vertices {
                continue;
            }
            if key.kind == KeyKind::Unread {
                vertex_keys.insert(key.id.clone(), VertexKey { place: 0, kind: KeyKind::Unread });
                continue;
            }
            let default = key.default.clone().and_then(|text| value_of(text.into(), &key.kind));
            let own = key.kind.property_type();
            let known = vertex_properties.iter().position(|(name, ..)| *name == key.name);
            let place = known.unwrap_or(vertex_properties.len());
            match known {
                None => vertex_properties.push((key.name.clone(), own, default)),
                Some(place) => {
                    let (_, known, known_default) = &mut vertex_properties[place];
                    *known = known.take().filter(|known| Some(known) == own.as_ref());
                    *known_default = known_default.take().or(default);
                }
            }
            vertex_keys.insert(key.id.clone(), VertexKey { place, kind: key.kind.clone() });
        }
        let elements = Elements {
            path,
            text_ids,
            directed: header.directed,
            properties: chosen.properties,
            rejected: chosen.rejected,
            ids_can_become_texts: chosen.ids_can_become_texts,
            odd_id: chosen.odd_id,
            is_undirected_anyway: options.directed == Some(false),
            notices: Notices { of_graph: header.graph_values.into(), ..Notices::default() },
        };
        Self { elements, vertex_keys, edge_keys, vertex_properties }
    }
}
