//! The record of stored heads. `esker-layers/src/graph/bounded/headed` explains what heads are for.

use crate::file::field::{codes, layout};
use crate::file::header::Stamp;

/// The most neighbours of a head that is chosen by degree. Choosing longer ones would take much memory, and
/// hubs are among the first neighbours of such a list too.
pub const CHOSEN_HEAD_LEN_MAX: u64 = 1 << 12;

codes! {
    /// Which neighbours the head of a list holds.
    pub enum HeadOrder: u8 {
        /// The first ones of the list, in its order.
        First = 1,
        /// Those of highest degree, by descending degree, then by ascending id. The degree of a vertex is the
        /// number of arcs in its stored lists, out and in. At most 4096 of each list, and not in graphs that
        /// may have several edges between two vertices.
        Degree = 2,
    }
}

layout! {
    /// The stored heads of a layer's lists, in `layers/<number>/` as `heads.columns` and `heads/`.
    #[derive(Copy)]
    pub struct HeadsRecord {
        /// Number of the layer, which must be complete.
        layer: u32,
        /// The number in the headers of their files.
        stamp: Stamp,
        /// Neighbours of each vertex in its head, at most.
        head_len: u64,
        /// Which neighbours these are.
        order: HeadOrder,
    }
}
