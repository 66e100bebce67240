//! The directions of a complete layer whose lists have heads.

use esker_graph::Direction;

use crate::layer::{PlainLayer, Section};

/// The stored directions of a layer.
pub(super) fn directions(layer: &PlainLayer) -> impl Iterator<Item = (Direction, &Section)> {
    let incoming = layer.incoming().map(|section| (Direction::In, section));
    std::iter::once((Direction::Out, layer.out())).chain(incoming)
}
