//! The HTTP interface of Esker and its web page: what `esker serve` starts. With the feature `mcp`, the same
//! questions as tools of the Model Context Protocol (`AgentServer`).
//!
//! A [`Server`] reads one database, while others may write it, and answers questions as JSON. One table of
//! routes (`routes`) routes requests and makes the OpenAPI document. Before a request is routed, the guard
//! (`guard`) looks where it comes from. Questions are answered on threads of their own (`work`), within
//! limits of time, number and size (`limits`), and cancelled when the client goes away. Algorithms run apart
//! from requests.

#![forbid(unsafe_code)]

mod limits;
mod failure;
mod shape;
mod query;
mod served;
mod guard;
mod page;
mod ask;
mod work;
mod selecting;
mod events;
mod questions;
mod computing;
mod routes;
mod document;
mod patience;
mod strangers;
mod streams;
mod responding;
mod server;
#[cfg(feature = "mcp")]
mod agents;

#[cfg(feature = "mcp")]
pub use agents::AgentServer;
pub use server::{ServeError, ServeOptions, Server};
