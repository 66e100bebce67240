//! Vertex ids: dense integers `0..n`, 32 bits wide unless the feature `id64` makes them 64.

/// A vertex: an integer in `0..num_vertices`.
#[cfg(not(feature = "id64"))]
pub type VertexId = u32;
/// A vertex: an integer in `0..num_vertices`.
#[cfg(feature = "id64")]
pub type VertexId = u64;

/// An atomic [`VertexId`].
#[cfg(not(feature = "id64"))]
pub type AtomicVertexId = std::sync::atomic::AtomicU32;
/// An atomic [`VertexId`].
#[cfg(feature = "id64")]
pub type AtomicVertexId = std::sync::atomic::AtomicU64;

/// No vertex: the largest value of the type. So a graph has at most `NONE` vertices.
pub const NONE: VertexId = VertexId::MAX;

/// The vertex at `index` of an array over the vertices.
///
/// The index must be less than [`NONE`], which holds for every index below a graph's `num_vertices`.
#[inline(always)]
pub const fn vertex(index: usize) -> VertexId {
    debug_assert!((index as u64) < NONE as u64);
    index as VertexId
}
