//! The record of stored heads. `esker-layers/src/graph/headed` explains what heads are for.

use super::field::layout;

layout! {
    /// The stored heads of a layer's lists, in `layers/<number>/` as `heads.columns` and `heads/`.
    #[derive(Copy)]
    pub struct HeadsRecord {
        /// Number of the layer, which must be complete and plain.
        layer: u32,
        /// Neighbours of each vertex in its head, at most.
        head_len: u64,
    }
}
