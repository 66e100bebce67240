//! Readers of formats in which vertices and edges have attributes.

mod value;
mod edges;
mod vertices;
mod rows;
mod choose;
mod xml;
mod graphml;
mod gexf;
mod json;
mod lists;

pub(crate) use gexf::GEXF;
pub(crate) use graphml::{GRAPHML, IDS as GRAPHML_IDS, TYPE as GRAPHML_TYPE, WEIGHT as GRAPHML_WEIGHT};
pub(crate) use json::{
    CYTOSCAPE, EDGES as JSON_EDGES, ESKER as JSON_ESKER, IDS as JSON_IDS, NODE_LINK,
    VERTICES as JSON_VERTICES, WEIGHT as JSON_WEIGHT,
};
pub(crate) use lists::NETWORKX;
