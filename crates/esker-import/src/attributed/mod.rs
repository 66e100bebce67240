//! Readers of formats in which vertices and edges have attributes.

mod value;
mod edges;
mod vertices;
mod element;
mod rows;
mod choose;
mod types;
mod xml;
mod graphml;
mod gexf;
mod json;
mod document;
mod entities;
mod gml;
mod pajek;
mod dot;
mod lists;
mod leda;
mod names;
mod graph6;
mod max_flow;
pub(crate) mod vertex_table;

pub(crate) use dot::DOT;
pub(crate) use gexf::GEXF;
pub(crate) use gml::GML;
pub(crate) use graph6::{DIGRAPH6, GRAPH6, SPARSE6};
pub(crate) use graphml::{GRAPHML, IDS as GRAPHML_IDS, TYPE as GRAPHML_TYPE, WEIGHT as GRAPHML_WEIGHT};
pub(crate) use json::{CYTOSCAPE, NODE_LINK};
pub(crate) use leda::LEDA;
pub(crate) use lists::NETWORKX;
pub(crate) use max_flow::MAX;
pub(crate) use names::{INTERACTION, LGL, NCOL, NO_INTERACTION, SIF};
pub(crate) use pajek::PAJEK;
pub(crate) use types::{
    EDGES as JSON_EDGES, ESKER as JSON_ESKER, ID as JSON_ID, IDS as JSON_IDS, VERTICES as JSON_VERTICES,
    WEIGHT as JSON_WEIGHT,
};
