//! The lists that heads are kept of: those of a complete plain layer.

use esker_format::{Error, Result};
use esker_graph::Direction;

use crate::layer::{Arrays, Body, ListColumns, PlainLayer, Section};

/// The stored directions of a layer.
pub(super) fn directions(layer: &PlainLayer) -> impl Iterator<Item = (Direction, &Section)> {
    let incoming = layer.incoming().map(|section| (Direction::In, section));
    std::iter::once((Direction::Out, layer.out())).chain(incoming)
}

/// The arrays of plain lists.
pub(super) fn arrays(lists: &ListColumns) -> Result<&Arrays> {
    match lists.body() {
        Body::Arrays(arrays) if lists.is_dense() => Ok(arrays),
        Body::Arrays(_) => Err(Error::Invalid("heads are kept of complete layers".to_owned())),
        Body::Coded(_) => Err(Error::Invalid(
            "heads are kept of plain lists, and these are compressed: make them plain with `esker compact --encoding plain`"
                .to_owned(),
        )),
    }
}
