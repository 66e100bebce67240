//! Pictures of a part of a graph: which vertices are shown, where they lie, how they look.
//!
//! A [`Scene`] has the vertices and edges that are drawn: those around some vertices, or the most connected
//! ones of the graph. [`Picture`] places them ([`Arrangement`]), gives them colours and sizes ([`Look`]) and
//! writes SVG, which every browser and notebook shows. A [`Chart`] shows numbers instead: how degrees are
//! distributed, or how a graph grew.
//!
//! Memory: about 300 bytes a vertex and 100 an edge of the scene. What is not drawn costs none, but a byte a
//! vertex for a scene of the whole graph.

mod scene;
mod look;
mod svg;
mod chart;
mod picture;
#[cfg(test)]
mod tests;

pub use chart::{Chart, ChartLine};
pub use look::{Look, Paint, PictureValues};
pub use picture::{Arrangement, Picture};
pub use scene::{Scene, SceneEdge};
