//! Writers of formats in which vertices and edges have attributes, and of lists that have names.

mod xml;
mod graphml;
mod gexf;
mod stated;
mod json;
mod networkx;
mod gml;
mod pajek;
mod dot;
mod leda;
mod names;

pub(crate) use dot::DOT;
pub(crate) use gexf::GEXF;
pub(crate) use gml::GML;
pub(crate) use graphml::GRAPHML;
pub(crate) use json::{CYTOSCAPE, NODE_LINK};
pub(crate) use leda::LEDA;
pub(crate) use names::{LGL, NCOL, SIF};
pub(crate) use networkx::NETWORKX;
pub(crate) use pajek::PAJEK;
